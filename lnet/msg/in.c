/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PUT for one of our MDs: match, receive straight into the MD, event, ACK.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/base/iov.h"
#include "lnet/msg/msg.h"

void lni_fill_query(
        struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lni_query *q)
{
	q->put = h->type == LNET_MSG_PUT;
	if (q->put) {
		q->portal = h->msg.put.ptl_index;
		q->bits = h->msg.put.match_bits;
		q->rlength = h->payload_length;
		q->offset = h->msg.put.offset;
	} else {
		q->portal = h->msg.get.ptl_index;
		q->bits = h->msg.get.match_bits;
		q->rlength = h->msg.get.sink_length;
		q->offset = h->msg.get.src_offset;
	}
	q->src = &h->src_nid;
	q->src_pid = h->src_pid;
	q->peer = NULL;
	/* the rail is the sender's only if the sender speaks for itself */
	if (r->ni != n->net->lo && lni_src_own(n, r, h))
		q->peer = atomic_load_explicit(&r->pni->peer, memory_order_acquire);
}

bool lni_src_own(const struct lnet *n, const struct lni_rail *r, const struct lnet_hdr *h)
{
	const struct lni_peer *peer;

	if (r->ni == n->net->lo || lnet_nid_eq(&h->src_nid, &r->d.nid))
		return true;
	peer = atomic_load_explicit(&r->pni->peer, memory_order_acquire);
	for (unsigned i = 0; i < peer->nnids; i++)
		if (lnet_nid_eq(&peer->nids[i], &h->src_nid))
			return true;
	return false;
}

void lni_fill_target_event(struct lnet_event *ev, enum lnet_event_type t, const struct lni_rail *r,
        const struct lnet_hdr *h, const struct lni_hit *hit)
{
	bool put = t == LNET_EV_PUT;

	*ev = (struct lnet_event){.size = sizeof(*ev),
	        .type = t,
	        .md = hit->md->id,
	        .user = hit->md->user,
	        .source = h->src_nid,
	        .target = h->dest_nid,
	        .initiator = lnet_nid_eq(&h->src_nid, &r->d.nid) ? lni_primary(r->pni) : h->src_nid,
	        .initiator_pid = h->src_pid,
	        .portal = put ? h->msg.put.ptl_index : h->msg.get.ptl_index,
	        .match_bits = put ? h->msg.put.match_bits : h->msg.get.match_bits,
	        .hdr_data = put ? h->msg.put.hdr_data : 0,
	        .rlength = put ? h->payload_length : h->msg.get.sink_length,
	        .mlength = hit->mlength,
	        .offset = hit->offset};
}

static void free_in(struct lni_use *u)
{
	struct lni_in *in = lni_container(u, struct lni_in, use);
	struct lnet *n = in->rail->pni->n;

	lni_rail_put(in->rail);
	free(in);
	atomic_fetch_sub(&n->msgs->ins, 1);
}

static void run_event(struct lnet_work *w)
{
	struct lni_in *in = w->arg;
	struct lni_md *md = in->hit.md;

	in->ev.unlinked = lni_use_tell(&in->use);
	if (!(md->options & LNET_MD_EV_QUIET) || in->ev.unlinked || in->ev.status)
		lni_call_handler(in->rail->pni->n, in->rail->d.loop, md->handler, &in->ev);
	lni_use_release(&in->use);
}

/* The payload is in its place, or will never be. */
static void finish(struct lni_in *in, int status, enum lnet_hstatus hs)
{
	struct lni_md *md = in->hit.md;
	struct lnet *n = in->rail->pni->n;
	bool want_ack = in->hdr.msg.put.ack_wmd.iface != LNET_COOKIE_NONE ||
	                in->hdr.msg.put.ack_wmd.object != LNET_COOKIE_NONE;

	if (in->recalled)
		status = -ECANCELED;
	if (!status && want_ack && !(md->options & LNET_MD_ACK_DISABLE))
		lni_ack_out(in->rail, &in->hdr, in->hit.mlength);
	lni_fill_target_event(&in->ev, LNET_EV_PUT, in->rail, &in->hdr, &in->hit);
	in->ev.status = status;
	in->ev.hstatus = hs;
	if (status) {
		in->ev.mlength = 0;
		lni_ctr(n, in->rail->d.loop)->errors++;
	}
	lni_deliver(n, in->rail->d.loop, &in->ev_work, run_event, in);
}

void lni_in_landed(struct lni_in *in, int status, enum lnet_hstatus hs)
{
	in->land.rx = NULL;
	finish(in, status, hs);
}

/* Unlink by the owner of the MD: what is still to come goes nowhere. */
static void cancel(struct lni_use *u)
{
	struct lni_in *in = lni_container(u, struct lni_in, use);
	struct lnet_rx *rx = in->land.rx;

	if (!rx)
		return;
	in->recalled = true;
	lni_ctr(in->rail->pni->n, in->rail->d.loop)->redirects++;
	if (rx->rail->ni->node->lnd->redirect(rx) == 1) {
		rx->core = NULL;
		lni_in_landed(in, -ECANCELED, LNET_HS_OK);
	}
}

static struct lni_in *make(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h)
{
	struct lni_in *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	atomic_fetch_add(&n->msgs->ins, 1);
	lni_rail_hold(r);
	in->rail = r;
	in->hdr = *h;
	in->use.loop = r->d.loop;
	in->use.cancel = cancel;
	in->use.release = free_in;
	return in;
}

static void receive(struct lni_in *in, struct lnet_rx *rx)
{
	const struct lnet_lnd *lnd = in->rail->ni->d.node->lnd;
	struct lni_md *md = in->hit.md;
	struct lnet_dst dst = {.iov = md->iov,
	        .niov = md->niov,
	        .offset = in->hit.offset,
	        .mlen = in->hit.mlength};
	int rc;

	in->land = (struct lni_land){LNI_LAND_IN, rx, NULL};
	rx->core = &in->land;
	rc = lnd->recv(rx, &dst);
	if (rc == 0)
		return;
	if (rc < 0) {
		rx->core = NULL;
		lnd->discard(rx);
	}
	lni_in_landed(in, rc < 0 ? rc : 0, rc < 0 ? LNET_HS_LOCAL_ERROR : LNET_HS_OK);
}

/* ---- parking ------------------------------------------------------------------------------- */

/* A PUT that waits for its MD; with its struct lni_in. */
struct lni_keep {
	struct lni_parked p;
	struct lni_in *in;
	uint8_t data[];
};

static void free_keep(struct lni_in *in)
{
	struct lni_keep *k = in->keep;
	struct lnet *n = in->rail->pni->n;

	in->keep = NULL;
	lni_mem_give(n, in->hdr.payload_length);
	if (k->p.q.peer)
		lni_peer_put((struct lni_peer *)(uintptr_t)k->p.q.peer);
	free(k);
}

static void drop_kept(struct lni_in *in, uint64_t *why)
{
	(*why)++;
	lni_drop(in->rail, &in->hdr);
	free_keep(in);
	free_in(&in->use);
}

/* It was matched, now or later. On the loop. */
static void kept_result(struct lni_in *in, enum lni_match_result res)
{
	struct lni_counters *c = lni_ctr(in->rail->pni->n, in->rail->d.loop);

	if (res != LNI_MATCH_HIT) {
		drop_kept(in, res == LNI_MATCH_TOO_LONG ? &c->drop_too_long : &c->drop_no_match);
		return;
	}
	lni_iov_put(
	        in->hit.md->iov, in->hit.md->niov, in->hit.offset, in->keep->data, in->hit.mlength);
	free_keep(in);
	finish(in, 0, LNET_HS_OK);
}

static void deliver_kept(struct lni_parked *p)
{
	kept_result(lni_container(p, struct lni_keep, p)->in, p->res);
}

void lni_keep_landed(struct lni_in *in, int status)
{
	struct lnet *n = in->rail->pni->n;
	struct lni_parked *p = &in->keep->p;
	enum lni_match_result res;
	bool full;

	if (status) {
		lni_ctr(n, in->rail->d.loop)->errors++;
		free_keep(in);
		free_in(&in->use);
		return;
	}
	lni_fill_query(n, in->rail, &in->hdr, &p->q);
	if (p->q.peer)
		lni_peer_hold((struct lni_peer *)(uintptr_t)p->q.peer);
	res = lni_park(n, p, (unsigned)in->rail->ni->d.peer_credits, &full);
	if (full)
		drop_kept(in, &lni_ctr(n, in->rail->d.loop)->drop_park_full);
	else if (res == LNI_MATCH_LAZY)
		lni_ctr(n, in->rail->d.loop)->parked++;
	else
		kept_result(in, res);
}

/* false: no memory for it. */
static bool keep(struct lnet *n, struct lni_in *in, struct lnet_rx *rx)
{
	const struct lnet_lnd *lnd = in->rail->ni->d.node->lnd;
	uint32_t len = in->hdr.payload_length;
	struct lnet_dst dst = {.iov = &in->keep_iov, .niov = 1, .mlen = len};
	struct lni_keep *k;
	int rc;

	if (!lni_mem_take(n, len))
		return false;
	k = calloc(1, sizeof(*k) + len);
	if (!k) {
		lni_mem_give(n, len);
		return false;
	}
	k->in = in;
	k->p.rail = in->rail;
	k->p.use = &in->use;
	k->p.hit = &in->hit;
	k->p.deliver = deliver_kept;
	in->keep = k;
	in->keep_iov = (struct iovec){k->data, len};
	in->land = (struct lni_land){LNI_LAND_KEEP, rx, NULL};
	rx->core = &in->land;
	rc = lnd->recv(rx, &dst);
	if (rc < 0) {
		rx->core = NULL;
		lnd->discard(rx);
	}
	if (rc)
		lni_keep_landed(in, rc < 0 ? rc : 0);
	return true;
}

void lni_put_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_counters *c = lni_ctr(n, r->d.loop);
	uint64_t *why = &c->drop_no_match;
	struct lni_query q;
	struct lni_in *in;

	/* what a node says of itself is heard from itself alone */
	if (h->msg.put.ptl_index == 0 && !lni_src_own(n, r, h)) {
		lni_msg_drop(r, h, rx, &c->drop_forged);
		return;
	}
	in = make(n, r, h);
	if (!in) {
		lni_msg_drop(r, h, rx, &c->drop_nomem);
		return;
	}
	lni_fill_query(n, r, h, &q);
	switch (lni_match(n, &q, &in->use, &in->hit)) {
	case LNI_MATCH_HIT:
		receive(in, rx);
		return;
	case LNI_MATCH_LAZY:
		if (keep(n, in, rx))
			return;
		why = &c->drop_park_full;
		break;
	case LNI_MATCH_TOO_LONG:
		why = &c->drop_too_long;
		break;
	case LNI_MATCH_BAD_PORTAL:
		why = &c->drop_bad_portal;
		break;
	case LNI_MATCH_NONE:
		break;
	}
	free_in(&in->use);
	lni_msg_drop(r, h, rx, why);
}
