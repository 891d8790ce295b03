/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ACK and REPLY: accepted only if the cookie is live, the sender belongs to the addressed peer and
 * the type fits (fence F1); everything else is dropped and counted, and the connection stays.
 */
#include <errno.h>

#include "lnet/msg/msg.h"

void lni_msg_drop(
        struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx, uint64_t *counter)
{
	(*counter)++;
	lni_drop(r, h);
	rx->core = NULL;
	r->ni->d.node->lnd->discard(rx);
}

/* Does this message come from the peer that was asked, by the mouth of its own connection? */
static bool right_sender(
        struct lnet *n, const struct lni_rail *r, const struct lnet_hdr *h, const struct lni_op *op)
{
	if (r->pni == op->rail->pni)
		return lnet_nid_eq(&h->src_nid, &r->d.nid) || lni_src_own(n, r, h);
	/* another NID of the same node; a process of its own (a user pid) has but one */
	if (r->ni == n->net->lo || ((r->d.pid | op->rail->d.pid) & LNET_PID_USERFLAG))
		return false;
	return lni_src_own(n, r, h) && lni_same_peer(n, &r->d.nid, &op->rail->d.nid);
}

/* Pinned, or NULL: the message was dropped. */
static struct lni_op *claim(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h,
        struct lnet_rx *rx, const struct lnet_wmd *wmd)
{
	struct lni_counters *c = lni_ctr(n, r->d.loop);
	struct lni_op *op =
	        wmd->iface == n->iface_cookie ? lni_op_find(n, wmd->object, true) : NULL;

	if (!op) {
		lni_msg_drop(r, h, rx, &c->drop_late);
		return NULL;
	}
	if (right_sender(n, r, h, op))
		return op;
	lni_op_unpin(op);
	lni_msg_drop(r, h, rx, &c->drop_forged);
	return NULL;
}

static void acked(struct lni_op *op)
{
	uint64_t took = lnet_loop_now(op->loop) - op->tx.started;

	if (!op->ended) {
		op->mlength = op->land_len;
		lni_lat_add(&lni_share_of(op->rail)->traffic.put_ack, took);
		lni_lat_add(&op->rail->pni->traffic.put_ack, took);
	}
	lni_op_end(op, 0, LNET_HS_OK);
	lni_op_unpin(op);
}

static void acked_there(struct lnet_work *w)
{
	acked(w->arg);
}

/* Of an answer that nobody waits for: it came too late, or a second time. */
static uint64_t *stray(struct lnet *n, const struct lni_rail *r, int why)
{
	struct lni_counters *c = lni_ctr(n, r->d.loop);

	return why == -ENOENT ? &c->drop_late : &c->drop_forged;
}

void lni_ack_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_op *op = claim(n, r, h, rx, &h->msg.ack.dst_wmd);
	int rc;

	if (!op)
		return;
	rc = !op->put || !op->want_ack || h->msg.ack.mlength > op->length
	             ? -EINVAL
	             : lni_op_land(op, NULL, NULL);
	if (rc) {
		lni_op_unpin(op);
		lni_msg_drop(r, h, rx, stray(n, r, rc));
		return;
	}
	op->land_len = h->msg.ack.mlength;
	rx->core = NULL;
	r->ni->d.node->lnd->discard(rx);
	if (op->loop == r->d.loop) {
		acked(op);
		return;
	}
	lnet_work_init(&op->land_work, acked_there, op);
	lnet_loop_post(op->loop, &op->land_work);
}

void lni_reply_in(struct lnet *n, struct lni_rail *r, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_op *op = claim(n, r, h, rx, &h->msg.reply.dst_wmd);
	struct lnet_dst dst;
	int rc;

	if (!op)
		return;
	rc = op->put || h->payload_length > op->length ? -EINVAL : lni_op_land(op, rx, r);
	if (rc) {
		lni_op_unpin(op);
		lni_msg_drop(r, h, rx, stray(n, r, rc));
		return;
	}
	dst = (struct lnet_dst){
	        .iov = op->iov, .niov = op->niov, .offset = op->offset, .mlen = h->payload_length};
	op->land_len = h->payload_length;
	rx->core = &op->landing;
	rc = r->ni->d.node->lnd->recv(rx, &dst);
	if (rc < 0) {
		rx->core = NULL;
		r->ni->d.node->lnd->discard(rx);
	}
	if (rc)
		lni_op_landed(op, rc < 0 ? rc : 0, rc < 0 ? LNET_HS_LOCAL_ERROR : LNET_HS_OK);
	lni_op_unpin(op);
}
