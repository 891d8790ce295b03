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
	if (r->ni != n->net->lo)
		q->peer = atomic_load_explicit(&r->pni->peer, memory_order_acquire);
	/* the rail is the sender's only if the sender speaks for itself */
	if (q->peer && !lnet_nid_eq(&h->src_nid, &r->d.nid)) {
		bool own = false;

		for (unsigned i = 0; i < q->peer->nnids; i++)
			own |= lnet_nid_eq(&q->peer->nids[i], &h->src_nid);
		if (!own)
			q->peer = NULL;
	}
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
	lni_md_unuse(&in->use, &in->ev.unlinked);
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

static void free_parked(struct lni_parked *p)
{
	struct lnet *n = p->rail->pni->n;

	lni_mem_give(n, p->hdr.payload_length);
	lni_rail_put(p->rail);
	free(p->data);
	free(p);
	atomic_fetch_sub(&n->msgs->ins, 1);
}

/* On the loop, with the payload in p->data: match again; deliver, park or drop. */
static void deliver_parked(struct lni_parked *p)
{
	struct lni_rail *r = p->rail;
	struct lnet *n = r->pni->n;
	struct lni_counters *c = lni_ctr(n, r->d.loop);
	struct lni_in *in = make(n, r, &p->hdr);
	enum lni_match_result res = LNI_MATCH_NONE;
	struct lni_query q;
	struct iovec src = {p->data, p->hdr.payload_length};

	if (in) {
		lni_fill_query(n, r, &p->hdr, &q);
		res = lni_match(n, &q, &in->use, &in->hit);
	}
	if (res == LNI_MATCH_HIT) {
		lni_iov_copy(in->hit.md->iov, in->hit.md->niov, in->hit.offset, &src, 1, 0,
		        in->hit.mlength);
		free_parked(p);
		finish(in, 0, LNET_HS_OK);
		return;
	}
	if (in)
		free_in(&in->use);
	if (res == LNI_MATCH_LAZY && lni_park(n, q.portal, p, (unsigned)r->ni->d.peer_credits))
		return;
	c->drop_park_full += res == LNI_MATCH_LAZY;
	c->drop_no_match += res != LNI_MATCH_LAZY;
	lni_drop(r, &p->hdr);
	free_parked(p);
}

void lni_park_landed(struct lni_in *in, int status)
{
	struct lni_parked *p = in->parked;

	free_in(&in->use);
	if (status)
		free_parked(p);
	else
		deliver_parked(p);
}

/* false: no memory for it. */
static bool park(struct lnet *n, struct lni_in *in, struct lnet_rx *rx)
{
	const struct lnet_lnd *lnd = in->rail->ni->d.node->lnd;
	uint32_t len = in->hdr.payload_length;
	struct lni_parked *p;
	struct lnet_dst dst = {.niov = 1, .mlen = len};
	int rc;

	if (!lni_mem_take(n, len))
		return false;
	p = calloc(1, sizeof(*p));
	if (p)
		p->data = malloc(len + 1);
	if (!p || !p->data) {
		free(p);
		lni_mem_give(n, len);
		return false;
	}
	atomic_fetch_add(&n->msgs->ins, 1);
	lni_rail_hold(in->rail);
	p->rail = in->rail;
	p->hdr = in->hdr;
	p->deliver = deliver_parked;
	in->parked = p;
	in->park_iov = (struct iovec){p->data, len};
	dst.iov = &in->park_iov;
	in->land = (struct lni_land){LNI_LAND_PARK, rx, NULL};
	rx->core = &in->land;
	lni_ctr(n, in->rail->d.loop)->parked++;
	rc = lnd->recv(rx, &dst);
	if (rc < 0) {
		rx->core = NULL;
		lnd->discard(rx);
	}
	if (rc)
		lni_park_landed(in, rc < 0 ? rc : 0);
	return true;
}

void lni_put_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_counters *c = lni_ctr(n, r->d.loop);
	struct lni_in *in = make(n, r, h);
	uint64_t *why = &c->drop_no_match;
	struct lni_query q;

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
		if (park(n, in, rx))
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
