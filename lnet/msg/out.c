/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What we owe: the REPLY to a GET, the ACK to a PUT. Both go back by the rail that the request came
 * by.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/msg/msg.h"

static void free_out(struct lni_use *u)
{
	struct lni_out *o = lni_container(u, struct lni_out, use);
	struct lnet *n = o->rail->pni->n;

	lni_rail_put(o->rail);
	free(o);
	atomic_fetch_sub(&n->msgs->outs, 1);
}

static struct lni_out *make(struct lni_rail *r, const struct lnet_hdr *h, uint8_t kind)
{
	struct lni_out *o = calloc(1, sizeof(*o));
	struct lnet *n = r->pni->n;
	struct lnet_hdr *a;

	if (!o)
		return NULL;
	atomic_fetch_add(&n->msgs->outs, 1);
	lni_rail_hold(r);
	o->rail = r;
	o->hdr = *h;
	o->tx.kind = kind;
	o->tx.started = lnet_loop_now(r->d.loop);
	o->tx.d.deadline =
	        o->tx.started +
	        (uint64_t)lni_global(&n->globals, LNI_G_TRANSACTION_TIMEOUT) * 1000000000ull;
	a = &o->tx.d.hdr;
	a->dest_nid = h->src_nid;
	a->src_nid = h->dest_nid;
	a->dest_pid = h->src_pid;
	a->src_pid = n->pid;
	return o;
}

static void run_event(struct lnet_work *w)
{
	struct lni_out *o = w->arg;
	struct lni_md *md = o->hit.md;

	o->ev.unlinked = lni_use_tell(&o->use);
	if (!(md->options & LNET_MD_EV_QUIET) || o->ev.unlinked || o->ev.status)
		lni_call_handler(o->rail->pni->n, o->rail->d.loop, md->handler, &o->ev);
	lni_use_release(&o->use);
}

void lni_out_done(struct lni_out *o, int status, enum lnet_hstatus hs)
{
	struct lnet *n = o->rail->pni->n;

	o->done = true;
	/* the GET that a driver keeps for its REPLY is over when it accepts that; it never did */
	if (o->tx.d.get_rx && !o->tx.accepted)
		o->rail->ni->d.node->lnd->discard(o->tx.d.get_rx);
	if (status)
		lni_ctr(n, o->rail->d.loop)->errors++;
	if (o->tx.kind == LNI_TX_ACK) {
		free_out(&o->use);
		return;
	}
	lni_fill_target_event(&o->ev, LNET_EV_GET, o->rail, &o->hdr, &o->hit);
	o->ev.status = o->recalled && status ? -ECANCELED : status;
	o->ev.hstatus = hs;
	lni_deliver(n, o->rail->d.loop, &o->ev_work, run_event, o);
}

static void submit(struct lni_out *o)
{
	int rc = lni_tx_submit(&o->tx, o->rail);

	if (rc)
		lni_out_done(o, rc < 0 ? rc : 0, rc < 0 ? LNET_HS_LOCAL_ERROR : LNET_HS_OK);
}

void lni_ack_out(struct lni_rail *r, const struct lnet_hdr *h, uint32_t mlength)
{
	struct lni_out *o = make(r, h, LNI_TX_ACK);

	if (!o) {
		lni_ctr(r->pni->n, r->d.loop)->errors++;
		return; /* the sender learns it by its timeout */
	}
	o->tx.d.flags = LNET_TX_SMALL;
	o->tx.d.hdr.type = LNET_MSG_ACK;
	o->tx.d.hdr.msg.ack.dst_wmd = h->msg.put.ack_wmd;
	o->tx.d.hdr.msg.ack.match_bits = h->msg.put.match_bits;
	o->tx.d.hdr.msg.ack.mlength = mlength;
	submit(o);
}

static void cancel(struct lni_use *u)
{
	struct lni_out *o = lni_container(u, struct lni_out, use);

	if (o->done)
		return;
	o->recalled = true;
	if (lni_tx_cancel(&o->tx) == 1)
		lni_out_done(o, -ECANCELED, LNET_HS_OK);
}

static void reply(struct lni_out *o, struct lnet_rx *rx)
{
	struct lni_md *md = o->hit.md;
	struct lnet_tx *tx = &o->tx.d;

	tx->hdr.type = LNET_MSG_REPLY;
	tx->hdr.payload_length = o->hit.mlength;
	tx->hdr.msg.reply.dst_wmd = o->hdr.msg.get.return_wmd;
	tx->iov = md->iov;
	tx->niov = md->niov;
	tx->offset = o->hit.offset;
	tx->len = o->hit.mlength;
	if (rx->want_reply) {
		rx->core = NULL;
		tx->get_rx = rx;
	} else {
		rx->core = NULL;
		o->rail->ni->d.node->lnd->discard(rx);
	}
	submit(o);
}

void lni_get_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_counters *c = lni_ctr(n, r->d.loop);
	struct lni_out *o = make(r, h, LNI_TX_REPLY);
	uint64_t *why = &c->drop_no_match;
	struct lni_query q;

	if (!o) {
		lni_msg_drop(r, h, rx, &c->drop_nomem);
		return;
	}
	o->use.loop = r->d.loop;
	o->use.cancel = cancel;
	o->use.release = free_out;
	lni_fill_query(n, r, h, &q);
	switch (lni_match(n, &q, &o->use, &o->hit)) {
	case LNI_MATCH_HIT:
		reply(o, rx);
		return;
	case LNI_MATCH_TOO_LONG:
		why = &c->drop_too_long;
		break;
	case LNI_MATCH_BAD_PORTAL:
		why = &c->drop_bad_portal;
		break;
	default:
		break;
	}
	free_out(&o->use);
	lni_msg_drop(r, h, rx, why);
}
