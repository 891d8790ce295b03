/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What there is to know of local interfaces, gathered on the loops that own it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/net.h"

static void add_counts(struct lnet_msg_counts *a, const struct lnet_msg_counts *b)
{
	a->put += b->put;
	a->get += b->get;
	a->reply += b->reply;
	a->ack += b->ack;
	a->hello += b->hello;
}

static void add_lat(struct lnet_lat *a, const struct lnet_lat *b)
{
	if (!b->samples)
		return;
	if (!a->samples || b->min < a->min)
		a->min = b->min;
	if (b->max > a->max)
		a->max = b->max;
	a->samples += b->samples;
	a->sum += b->sum;
}

static void add_traffic(struct lnet_traffic *a, const struct lnet_traffic *b)
{
	add_counts(&a->sent, &b->sent);
	add_counts(&a->received, &b->received);
	add_counts(&a->dropped, &b->dropped);
	a->send_count += b->send_count;
	a->recv_count += b->recv_count;
	a->drop_count += b->drop_count;
	a->send_bytes += b->send_bytes;
	a->recv_bytes += b->recv_bytes;
	a->drop_bytes += b->drop_bytes;
	add_lat(&a->put_egress, &b->put_egress);
	add_lat(&a->get_rtt, &b->get_rtt);
	add_lat(&a->put_ack, &b->put_ack);
}

struct gather {
	struct lni_ni *ni;
	struct lnet_ni_info *i;
};

static int gather_share(void *arg, struct lnet_loop *l)
{
	struct gather *g = arg;
	const struct lni_share *s = &g->ni->share[lni_loop_index(l)];

	add_traffic(&g->i->traffic, &s->traffic);
	for (int h = 0; h < LNET_HS_COUNT; h++)
		g->i->health.by[h] += s->hs[h];
	g->i->credits_free += s->cr.free - s->cr.waiting;
	g->i->credits_min += s->cr.low;
	return 0;
}

static void fill(struct lni_ni *ni, struct lnet_ni_info *i)
{
	struct gather g = {ni, i};

	*i = (struct lnet_ni_info){.size = sizeof(*i),
	        .nid = ni->d.nid,
	        .up = atomic_load(&ni->up),
	        .fatal = atomic_load(&ni->fatal),
	        .peer_timeout = ni->eff[0],
	        .peer_credits = ni->eff[1],
	        .peer_buffer_credits = ni->eff[2],
	        .credits = ni->eff[3],
	        .conf_peer_timeout = ni->conf[0],
	        .conf_peer_credits = ni->conf[1],
	        .conf_peer_buffer_credits = ni->conf[2],
	        .conf_credits = ni->conf[3],
	        .lnd = ni->d.node->lnd,
	        .tun = ni->d.tunables,
	        .tun_set = ni->tun_set,
	        .stats = ni->d.stats,
	        .cpts = ni->cpts,
	        .accept = ni->d.accept,
	        .allow = ni->d.allow,
	        .nallow = ni->d.nallow,
	        .speed_mbps = ni->d.speed_mbps,
	        .mtu = ni->d.mtu};
	memcpy(i->ifname, ni->d.ifname, sizeof(i->ifname));
	i->health.value = atomic_load(&ni->health);
	i->health.reason = atomic_load(&ni->health_reason);
	i->health.changed = atomic_load(&ni->health_changed);
	pthread_mutex_lock(&ni->why_lock);
	memcpy(i->why, ni->why, sizeof(i->why));
	i->status_since = ni->status_since;
	pthread_mutex_unlock(&ni->why_lock);
	lni_each_loop(ni->n, gather_share, &g);
}

int lnet_ni_each(struct lnet *n, int (*fn)(void *arg, const struct lnet_ni_info *i), void *arg)
{
	const struct lni_ni_set *s;
	struct lnet_ni_info info;
	int rc = 0;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	lni_net_lock(n); /* the set stays as it is */
	s = atomic_load(&n->net->nis);
	for (unsigned i = 0; i < s->count && !rc; i++) {
		fill(s->ni[i], &info);
		rc = fn(arg, &info);
	}
	lni_net_unlock(n);
	lni_exit(n);
	return rc;
}

/* ---- node-wide counters -------------------------------------------------------------------- */

static int sum_counters(void *arg, struct lnet_loop *l)
{
	void **v = arg;
	struct lnet *n = v[0];
	const uint64_t *from = (const uint64_t *)lni_ctr(n, l);
	uint64_t *to = v[1];

	for (size_t i = 0; i < sizeof(struct lni_counters) / sizeof(uint64_t); i++)
		to[i] += from[i];
	return 0;
}

static int clear_loop(void *arg, struct lnet_loop *l)
{
	struct lnet *n = arg;
	const struct lni_ni_set *s = atomic_load(&n->net->nis);
	struct lni_counters *c = lni_ctr(n, l);
	unsigned k = lni_loop_index(l);
	uint64_t out;

	/* what is under way stays under way: started = ended + outstanding holds after it, too */
	out = c->ops_started - c->ops_ok - c->ops_failed - c->ops_cancelled - c->ops_timed_out;
	memset(c, 0, sizeof(*c));
	c->ops_started = c->msgs_max = out;
	for (unsigned i = 0; i < s->count; i++) {
		memset(&s->ni[i]->share[k].traffic, 0, sizeof(s->ni[i]->share[k].traffic));
		memset(s->ni[i]->share[k].hs, 0, sizeof(s->ni[i]->share[k].hs));
	}
	lni_pni_each_on(n, l, lni_pni_clear, NULL);
	return 0;
}

void lnet_stats_reset(struct lnet *n)
{
	if (lni_in_handler(n) || !lni_enter(n))
		return;
	lni_each_loop(n, clear_loop, n);
	pthread_mutex_lock(&n->net->lock);
	n->net->evicted = n->net->refused_peers = 0;
	pthread_mutex_unlock(&n->net->lock);
	lni_exit(n);
}

#define C(name, field)                                     \
	{                                                  \
		name, offsetof(struct lni_counters, field) \
	}
#define H(name, hs) C(name, by_hstatus[hs])

/* lnetctl's order first, then ours. */
static const struct {
	const char *name;
	size_t off;
} counter_names[] = {
        C("msgs_max", msgs_max),
        C("errors", errors),
        C("send_count", send_count),
        C("resend_count", resend_count),
        C("response_timeout_count", response_timeout_count),
        H("local_interrupt_count", LNET_HS_LOCAL_INTERRUPT),
        H("local_dropped_count", LNET_HS_LOCAL_DROPPED),
        H("local_aborted_count", LNET_HS_LOCAL_ABORTED),
        H("local_no_route_count", LNET_HS_LOCAL_NO_ROUTE),
        H("local_timeout_count", LNET_HS_LOCAL_TIMEOUT),
        H("local_error_count", LNET_HS_LOCAL_ERROR),
        H("remote_dropped_count", LNET_HS_REMOTE_DROPPED),
        H("remote_error_count", LNET_HS_REMOTE_ERROR),
        H("remote_timeout_count", LNET_HS_REMOTE_TIMEOUT),
        H("network_timeout_count", LNET_HS_NETWORK_TIMEOUT),
        C("recv_count", recv_count),
        C("drop_count", drop_count),
        C("send_length", send_length),
        C("recv_length", recv_length),
        C("drop_length", drop_length),
        C("ops_started", ops_started),
        C("ops_ok", ops_ok),
        C("ops_failed", ops_failed),
        C("ops_cancelled", ops_cancelled),
        C("ops_timed_out", ops_timed_out),
        C("drop_no_match", drop_no_match),
        C("drop_too_long", drop_too_long),
        C("drop_bad_portal", drop_bad_portal),
        C("drop_not_mine", drop_not_mine),
        C("drop_late", drop_late),
        C("drop_forged", drop_forged),
        C("drop_park_full", drop_park_full),
        C("drop_filter", drop_filter),
        C("drop_nomem", drop_nomem),
        C("drop_closing", drop_closing),
        C("no_route", no_route),
        C("proto_errors", proto_errors),
        C("foreign_src", foreign_src),
        C("parked", parked),
        C("redirects", redirects),
};

int lnet_stats_each(
        struct lnet *n, int (*fn)(void *arg, const char *name, uint64_t value), void *arg)
{
	struct lni_counters sum;
	void *v[2] = {n, &sum};
	uint64_t started, evicted, refused;
	int rc = 0;

	memset(&sum, 0, sizeof(sum));
	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	lni_each_loop(n, sum_counters, v);
	started = sum.ops_started - sum.ops_ok - sum.ops_failed - sum.ops_cancelled -
	          sum.ops_timed_out;
	rc = fn(arg, "msgs_alloc", started);
	pthread_mutex_lock(&n->net->lock);
	evicted = n->net->evicted;
	refused = n->net->refused_peers;
	pthread_mutex_unlock(&n->net->lock);
	for (size_t i = 0; !rc && i < sizeof(counter_names) / sizeof(counter_names[0]); i++)
		rc = fn(arg, counter_names[i].name,
		        *(const uint64_t *)((const char *)&sum + counter_names[i].off));
	if (!rc)
		rc = fn(arg, "peers_evicted", evicted);
	if (!rc)
		rc = fn(arg, "peers_refused", refused);
	lni_exit(n);
	return rc;
}
