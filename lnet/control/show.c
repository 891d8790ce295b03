/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces that several answers share. */
#include "lnet/control/cmd_priv.h"
#include "lnet/rt/node.h"

#include <stdio.h>

static void latency(struct lnc_node *map, const char *op, const struct lnet_lat *l)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_samples", op);
	lnc_map_add_u64(map, key, l->samples);
	snprintf(key, sizeof(key), "%s_min_nsec", op);
	lnc_map_add_u64(map, key, l->samples ? l->min : 0);
	snprintf(key, sizeof(key), "%s_max_nsec", op);
	lnc_map_add_u64(map, key, l->max);
	snprintf(key, sizeof(key), "%s_avg_nsec", op);
	lnc_map_add_u64(map, key, l->samples ? l->sum / l->samples : 0);
}

void lnc_show_statistics(struct lnc_node *map, const struct lnet_traffic *t)
{
	struct lnc_node *s = lnc_map_add_map(map, "statistics");

	lnc_map_add_u64(s, "send_count", t->send_count);
	lnc_map_add_u64(s, "recv_count", t->recv_count);
	lnc_map_add_u64(s, "drop_count", t->drop_count);
	latency(s, "put_egress", &t->put_egress);
	latency(s, "get_rtt", &t->get_rtt);
	latency(s, "put_ack", &t->put_ack);
}

static void counts(struct lnc_node *map, const char *key, const struct lnet_msg_counts *c)
{
	struct lnc_node *m = lnc_map_add_map(map, key);

	lnc_map_add_u64(m, "put", c->put);
	lnc_map_add_u64(m, "get", c->get);
	lnc_map_add_u64(m, "reply", c->reply);
	lnc_map_add_u64(m, "ack", c->ack);
	lnc_map_add_u64(m, "hello", c->hello);
}

void lnc_show_messages(struct lnc_node *map, const struct lnet_traffic *t)
{
	counts(map, "sent_stats", &t->sent);
	counts(map, "received_stats", &t->received);
	counts(map, "dropped_stats", &t->dropped);
}

void lnc_show_age(struct lnc_node *map, const char *key, uint64_t now, uint64_t then)
{
	if (then)
		lnc_map_add_u64(map, key, now > then ? (now - then) / 1000000000u : 0);
}

char *lnc_all_cpts(const struct lnet *n, char *buf, size_t size)
{
	if (n->nloops == 1)
		snprintf(buf, size, "[0]");
	else
		snprintf(buf, size, "[0-%u]", n->nloops - 1);
	return buf;
}
