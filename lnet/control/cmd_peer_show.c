/* SPDX-License-Identifier: BSD-2-Clause */
/* peer show, peer list. */
#include "lnet/control/cmd_priv.h"
#include <lnet/hdr.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct show {
	struct lnc_ctx *x;
	struct lnc_node *list;
	unsigned level;
	uint64_t now;
};

static void credits(struct lnc_node *m, const struct lnet_peer_ni_info *p)
{
	lnc_map_add_i64(m, "max_ni_tx_credits", p->max_credits);
	lnc_map_add_i64(m, "available_tx_credits", p->credits_free);
	lnc_map_add_i64(m, "min_tx_credits", p->credits_min);
	lnc_map_add_u64(m, "tx_q_num_of_buf", p->tx_queued);
	lnc_map_add_i64(m, "available_rtr_credits", p->rtr_credits);
	lnc_map_add_i64(m, "min_rtr_credits", p->rtr_credits_min);
	lnc_map_add_u64(m, "refcount", p->refs);
}

static void health(struct lnc_node *ni, const struct lnet_health *h)
{
	struct lnc_node *m = lnc_map_add_map(ni, "health stats");

	lnc_map_add_i64(m, "health value", h->value);
	lnc_map_add_u64(m, "dropped", h->by[LNET_HS_REMOTE_DROPPED]);
	lnc_map_add_u64(m, "timeout", h->by[LNET_HS_REMOTE_TIMEOUT]);
	lnc_map_add_u64(m, "error", h->by[LNET_HS_REMOTE_ERROR]);
	lnc_map_add_u64(m, "network timeout", h->by[LNET_HS_NETWORK_TIMEOUT]);
	lnc_map_add_u64(m, "ping_count", h->ping_count);
	lnc_map_add_u64(m, "next_ping", h->next_ping / 1000000000u);
}

/* Ours, from level 2. */
static void details(struct show *s, struct lnc_node *ni, const struct lnet_peer_ni_info *p)
{
	struct lnc_node *m = lnc_map_add_map(ni, "details");

	if (p->pid & LNET_PID_USERFLAG)
		lnc_map_add_u64(m, "pid", p->pid);
	lnc_map_add_str(m, "connection", p->conn ? p->conn : "idle");
	lnc_map_add_u64(m, "connections", p->nconns);
	lnc_map_add_u64(m, "connections wanted", p->conns_wanted);
	lnc_map_add_i64(m, "last errno", p->last_errno);
	lnc_show_age(m, "alive age", s->now, p->last_alive);
	lnc_map_add_u64(m, "incarnation", p->incarnation);
	if (p->health.reason && *p->health.reason)
		lnc_map_add_str(m, "health reason", p->health.reason);
	lnc_show_age(m, "health age", s->now, p->health.changed);
	lnc_map_add_u64(m, "send_bytes", p->traffic.send_bytes);
	lnc_map_add_u64(m, "recv_bytes", p->traffic.recv_bytes);
	lnc_map_add_u64(m, "drop_bytes", p->traffic.drop_bytes);
}

static void one_peer_ni(struct show *s, struct lnc_node *list, const struct lnet_peer_ni_info *p)
{
	char text[LNET_NIDSTR_MAX];
	struct lnc_node *ni = lnc_seq_add_map(list);

	lnc_map_add_str(ni, "nid", lnet_nid_str(&p->nid, text, sizeof(text)));
	if (s->level >= 4) {
		struct lnc_node *udsp = lnc_map_add_map(ni, "udsp info");
		lnc_map_add_i64(udsp, "net priority", -1);
		lnc_map_add_i64(udsp, "nid priority", -1);
	}
	lnc_map_add_str(ni, "state", p->state);
	if (s->level >= 1) {
		credits(ni, p);
		lnc_show_statistics(ni, &p->traffic);
	}
	if (s->level >= 2) {
		lnc_show_messages(ni, &p->traffic);
		health(ni, &p->health);
		details(s, ni, p);
	}
}

static int one_peer(void *arg, const struct lnet_peer_info *i)
{
	struct show *s = arg;
	char text[LNET_NIDSTR_MAX];

	if (!s->list)
		s->list = lnc_out_seq(s->x, "peer", LNC_STYLE_NET);
	struct lnc_node *peer = lnc_seq_add_map(s->list);
	lnc_map_add_str(peer, "primary nid", lnet_nid_str(&i->primary, text, sizeof(text)));
	lnc_map_add_bool(peer, "Multi-Rail", i->multi_rail);
	if (s->level >= 3)
		lnc_map_add_u64(peer, "peer state", i->state);
	struct lnc_node *list = lnc_map_add_seq(peer, "peer ni");
	for (unsigned k = 0; k < i->nni; k++)
		one_peer_ni(s, list, &i->ni[k]);
	return 0;
}

int lnc_show_peers(struct lnc_ctx *x, const struct lnet_nid *nid, unsigned level)
{
	struct show s = {.x = x, .level = level, .now = lnet_now(x->n)};
	struct lnet_nid any = lnet_nid_any();

	return lnet_peer_each(x->n, nid ? nid : &any, one_peer, &s);
}

static int peer_show(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *text = lnc_req_text(r, "nid");
	struct lnet_nid nid;
	int rc;

	if (text && lnet_nid_parse(text, strlen(text), &nid, NULL))
		return lnc_misuse(x, "show", "peer", -EINVAL, "'%s' is not a NID", text);
	rc = lnc_show_peers(x, text ? &nid : NULL, lnc_req_level(r));
	if (rc == -ENOENT && text)
		return lnc_fail(x, "show", "peer", rc, "cannot find peer '%s'", text);
	return rc ? lnc_fail(x, "show", "peer", rc, "%s", strerror(-rc)) : 0;
}

static int one_line(void *arg, const struct lnet_peer_info *i)
{
	struct show *s = arg;
	char text[LNET_NIDSTR_MAX];

	if (!s->list)
		s->list = lnc_out_seq(s->x, "peer list", LNC_STYLE_NET);
	lnc_map_add_str(
	        lnc_seq_add_map(s->list), "nid", lnet_nid_str(&i->primary, text, sizeof(text)));
	return 0;
}

static int peer_list(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct show s = {.x = x};
	struct lnet_nid any = lnet_nid_any();
	int rc = lnet_peer_each(x->n, &any, one_line, &s);

	(void)r;
	return rc ? lnc_fail(x, "show", "peer list", rc, "%s", strerror(-rc)) : 0;
}

static const struct lnc_opt show_opts[] = {
        {.name = "nid",
                .letter = 'n',
                .kind = LNC_A_NID,
                .help = "the peer that has this NID alone"},
        LNC_OPT_VERBOSE,
};

const struct lnc_cmd lnc_cmds_peer_show[] = {
        {.path = "peer show",
                .help = "show peers and their interfaces",
                .more = "Level 1 adds credits and statistics, level 2 messages by type, health and "
                        "connections, level 3 the state word.",
                .flags = LNC_C_READ,
                .opts = show_opts,
                .nopts = LNC_LEN(show_opts),
                .run = peer_show},
        {.path = "peer list",
                .help = "list the primary NID of each peer",
                .flags = LNC_C_READ,
                .run = peer_list},
        {0},
};
