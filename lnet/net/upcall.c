/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a driver calls. Checks that need the configuration are made here; messages go up to msg/.
 */
#include <errno.h>
#include <stdarg.h>

#include "lnet/net/net.h"

static void count_received(struct lni_rail *r, const struct lnet_hdr *h)
{
	struct lnet_traffic *tr[2] = {&lni_share_of(r)->traffic, &r->pni->traffic};
	struct lni_counters *c = lni_ctr(r->pni->n, r->d.loop);

	for (int i = 0; i < 2; i++) {
		tr[i]->recv_count++;
		tr[i]->recv_bytes += h->payload_length;
		(*lni_msg_count(&tr[i]->received, h->type))++;
	}
	c->recv_count++;
	c->recv_length += h->payload_length;
}

static int refuse(struct lni_rail *r, const struct lnet_hdr *h, const char *why)
{
	char d[LNET_NIDSTR_MAX], s[LNET_NIDSTR_MAX];

	lni_ctr(r->pni->n, r->d.loop)->proto_errors++;
	lni_logf(r->pni->n, LNET_LOG_WARN, "PROTO", "message for %s from %s: %s",
	        lnet_nid_str(&h->dest_nid, d, sizeof(d)), lnet_nid_str(&r->d.nid, s, sizeof(s)),
	        why);
	return -EPROTO;
}

/* Spec: errors.md section 4, rows 1 to 3. */
static bool sound(const struct lnet_hdr *h)
{
	switch (h->type) {
	case LNET_MSG_ACK:
	case LNET_MSG_GET:
		return h->payload_length == 0;
	case LNET_MSG_PUT:
	case LNET_MSG_REPLY:
		return h->payload_length <= LNET_MTU;
	default:
		return false;
	}
}

/* Is it for us? Spec: errors.md section 4, rows 4 to 7. 1 yes, 0 to be dropped, -EPROTO. */
static int for_me(struct lni_rail *r, const struct lnet_hdr *h)
{
	struct lnet *n = r->pni->n;

	if (lnet_nid_eq(&h->dest_nid, &r->ni->d.nid))
		return 1;
	if (r->ni == n->net->lo)
		return lni_ni_by_nid(n, &h->dest_nid) ? 1 : 0;
	if (lnet_nid_net(&h->dest_nid) == lnet_nid_net(&r->ni->d.nid))
		return refuse(r, h, "should have been sent direct");
	if (lni_ni_by_nid(n, &h->dest_nid))
		return refuse(r, h, "came by the wrong network");
	return 0;
}

void lni_drop(struct lni_rail *r, const struct lnet_hdr *h)
{
	struct lnet_traffic *tr[2] = {&lni_share_of(r)->traffic, &r->pni->traffic};
	struct lni_counters *c = lni_ctr(r->pni->n, r->d.loop);

	for (int i = 0; i < 2; i++) {
		tr[i]->drop_count++;
		tr[i]->drop_bytes += h->payload_length;
		(*lni_msg_count(&tr[i]->dropped, h->type))++;
	}
	c->drop_count++;
	c->drop_length += h->payload_length;
}

/* A user pid is the connection's identity; a plain node may speak for other NIDs of its own. */
static struct lnet_hdr claim(struct lni_rail *r, const struct lnet_hdr *h)
{
	struct lnet_hdr v = *h;

	if (r->d.pid & LNET_PID_USERFLAG) {
		v.src_nid = r->d.nid;
		v.src_pid = r->d.pid;
	}
	return v;
}

static int up_parse(struct lnet_rail *d, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_rail *r = lni_rail_of(d);
	struct lnet *n = r->pni->n;
	struct lni_verdict v = {0};
	struct lnet_hdr c;
	int rc;

	lni_health_alive(r->pni);
	if (!sound(h))
		return refuse(r, h, "its type or length is impossible");
	rc = for_me(r, h);
	if (rc < 0)
		return rc;
	count_received(r, h);
	if (rc && n->filter.rx && n->filter.rx(n->filter.arg, d, h, &v) && v.drop) {
		lni_ctr(n, d->loop)->drop_filter++;
		rc = 0;
	} else if (!rc) {
		lni_ctr(n, d->loop)->drop_not_mine++;
	}
	if (!rc) {
		lni_drop(r, h);
		rx->core = NULL;
		d->ni->node->lnd->discard(rx);
		return 0;
	}
	if (lnet_nid_eq(&h->src_nid, &d->nid) && !(d->pid & LNET_PID_USERFLAG))
		return n->up.msg_in(n, d, h, rx);
	if (r->ni != n->net->lo && !lnet_nid_eq(&h->src_nid, &d->nid))
		lni_ctr(n, d->loop)->foreign_src++;
	c = claim(r, h);
	return n->up.msg_in(n, d, &c, rx);
}

static void up_rx_done(struct lnet_rx *rx, int status, enum lnet_hstatus hs)
{
	struct lni_rail *r = lni_rail_of(rx->rail);

	if (hs != LNET_HS_OK)
		lni_health_note(r, hs);
	if (rx->core)
		r->pni->n->up.rx_done(r->pni->n, rx, status, hs);
}

static void up_get_done(struct lnet_tx *tx, int status, uint32_t nob)
{
	struct lni_rail *r = lni_rail_of(tx->rail);

	r->pni->n->up.get_done(r->pni->n, tx, status, nob);
}

static void up_fence_done(struct lnet_fence *f)
{
	void (*fn)(struct lnet_fence *) = (void (*)(struct lnet_fence *))(uintptr_t)f->core;

	if (fn)
		fn(f);
}

/* Its own NID also while it starts, before the set has it. */
static bool is_ours(const struct lni_ni *ni, const struct lnet_nid *nid)
{
	return lnet_nid_eq(nid, &ni->d.nid) || lni_ni_by_nid(ni->n, nid);
}

static int up_rail_get(
        struct lnet_lnd_ni *d, const struct lnet_nid *nid, uint32_t pid, struct lnet_rail **out)
{
	struct lni_ni *ni = lni_ni_of(d);
	struct lni_pni *p;
	struct lni_rail *r;
	int rc;

	if (ni != ni->n->net->lo && !(pid & LNET_PID_USERFLAG) && is_ours(ni, nid))
		return -EINVAL;
	rc = lni_pni_get(ni->n, nid, pid, true, &p);
	if (rc)
		return rc;
	rc = lni_rail_get(p, ni, &r);
	lni_pni_put(p);
	if (!rc)
		*out = &r->d;
	return rc;
}

static void up_rail_put(struct lnet_rail *d)
{
	lni_rail_put(lni_rail_of(d));
}

static bool up_nid_owns(
        struct lnet_lnd_ni *d, const struct lnet_nid *nid, const struct lnet_nid *addr)
{
	return lni_same_peer(lni_ni_of(d)->n, nid, addr);
}

static void up_rail_event(struct lnet_rail *d, enum lnet_rail_event ev, int err)
{
	struct lni_rail *r = lni_rail_of(d);
	struct lnet *n = r->pni->n;

	if (err)
		r->last_err = err;
	switch (ev) {
	case LNET_RAIL_UP:
		if (!r->up) {
			r->up = true;
			lni_rail_hold(r); /* a connected peer is not evicted */
			if (r->pni->nup++ == 0)
				lni_watch_fire(r, LNET_PEER_UP, 0);
		}
		n->up.rail_lost(n, d, 0);
		break;
	case LNET_RAIL_DOWN:
		if (r->up) {
			r->up = false;
			n->up.rail_lost(n, d, -ECONNRESET);
			if (--r->pni->nup == 0)
				lni_watch_fire(r, LNET_PEER_DOWN, err);
			lni_rail_put(r);
		}
		break;
	case LNET_RAIL_RESTARTED:
		n->up.rail_lost(n, d, -ESTALE);
		lni_watch_fire(r, LNET_PEER_RESTARTED, err);
		break;
	case LNET_RAIL_FAILED:
		break;
	}
}

static void up_ni_stopped(struct lnet_lnd_ni *d)
{
	atomic_store(&lni_ni_of(d)->life, LNI_NI_STOPPED);
}

static void up_log(
        struct lnet_lnd_node *d, enum lnet_log_level lv, const char *id, const char *fmt, ...)
{
	struct lnet *n = d->core;
	va_list ap;

	va_start(ap, fmt);
	lni_log_vat(&n->log, lnet_now(n), lv, id, fmt, ap);
	va_end(ap);
}

const struct lnet_lnd_up lni_lnd_up = {
        .parse = up_parse,
        .rx_done = up_rx_done,
        .tx_done = lni_up_tx_done,
        .get_done = up_get_done,
        .tx_ready = lni_up_tx_ready,
        .fence_done = up_fence_done,
        .rail_get = up_rail_get,
        .rail_put = up_rail_put,
        .nid_owns = up_nid_owns,
        .rail_event = up_rail_event,
        .rail_closed = lni_up_rail_closed,
        .ni_event = lni_ni_event,
        .ni_stopped = up_ni_stopped,
        .log = up_log,
};
