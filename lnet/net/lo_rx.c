/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/net/lo_int.h"

static struct lo_rx *rx_of(struct lnet_rx *rx)
{
	return (struct lo_rx *)(void *)rx;
}

static struct lo_rx *rx_new(struct lo_rail *r, const struct lnet_hdr *h)
{
	struct lo_rx *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->rx.rail = r->rail;
	x->r = r;
	x->type = h->type;
	x->len = h->payload_length;
	x->seq = r->seq++;
	TAILQ_INSERT_TAIL(&r->held, x, link);
	return x;
}

void lo_rx_free(struct lo_rx *x)
{
	struct lo_rail *r = x->r;

	TAILQ_REMOVE(x->state == LO_RX_HELD ? &r->held : &r->active, x, link);
	r->nactive -= x->state == LO_RX_ACTIVE;
	if (r->cur == x)
		r->cur = NULL;
	free(x->msg);
	free(x);
	lo_rail_kick(r);
}

void lo_rx_detach(struct lo_rx *x)
{
	struct lnet_tx *tx = x->tx ? lo_tx_pub(x->tx) : NULL;

	x->tx = NULL;
	if (!tx || x->rx.want_reply || x->err)
		return;
	x->msg = malloc(sizeof(*x->msg) + x->len);
	if (!x->msg) {
		x->err = -ENOMEM;
		return;
	}
	lo_iov_read(x->msg->data, tx->iov, tx->niov, tx->offset, x->len);
}

/* The payload is consumed, or lost: the sender's part ends. */
static void end_sender(struct lo_rx *x, int err)
{
	struct lo_tx *t = x->tx;

	x->tx = NULL;
	if (!t)
		return;
	t->rx = NULL;
	lo_tx_finish(x->r, t, err, err ? LNET_HS_REMOTE_ERROR : LNET_HS_OK, true);
}

void lo_rx_refuse_get(struct lo_rx *x, int status)
{
	struct lo_rail *r = x->r;

	if (x->tx) {
		x->tx->get_due = true;
		x->tx->get_status = status;
		x->tx->get_nob = 0;
		end_sender(x, 0);
	} else if (!x->err && !r->local) {
		struct lo_msg *m = calloc(1, sizeof(*m));
		if (m) {
			m->kind = LO_MSG_GET_DONE;
			m->get_id = x->get_id;
			m->status = status;
			lo_conn_put(r, m);
		}
	}
	lo_rx_free(x);
}

static void move(struct lo_rx *x, uint32_t most)
{
	uint32_t n = x->dst.mlen - x->moved;

	if (n > most)
		n = most;
	if (x->tx) {
		struct lnet_tx *tx = lo_tx_pub(x->tx);
		lo_iov_copy(x->dst.iov, x->dst.niov, x->dst.offset + x->moved, tx->iov, tx->niov,
		        tx->offset + x->moved, n);
	} else if (x->msg) {
		lo_iov_write(x->dst.iov, x->dst.niov, x->dst.offset + x->moved,
		        x->msg->data + x->moved, n);
	}
	x->moved += n;
}

static int check_dst(const struct lo_rx *x, const struct lnet_dst *d)
{
	if (d->mlen > x->len || !lo_iov_holds(d->iov, d->niov, d->offset, d->mlen))
		return -EINVAL;
	if (!x->r->ni->node->rdma)
		return 0;
	if ((int64_t)x->r->nactive >= lo_tun(x->r, LO_T_RDMA_DEPTH)) {
		lo_count(x->r, LO_S_RX_REFUSED, 1);
		return -ENOMEM;
	}
	return lo_mem_check(d->mr, d->iov, d->niov, d->offset, d->mlen, LNET_MD_OP_PUT);
}

/* HELD and decided: the stream goes on. */
static void decided(struct lo_rx *x)
{
	struct lo_rail *r = x->r;

	x->finished = true;
	if (r->cur == x)
		r->cur = NULL;
	lo_rail_kick(r);
}

int lo_recv(struct lnet_rx *rx, const struct lnet_dst *dst)
{
	struct lo_rx *x = rx_of(rx);
	struct lo_rail *r = x->r;
	int rc = rx->want_reply || x->finished ? -EINVAL : check_dst(x, dst);

	if (rc)
		return rc;
	x->dst = *dst;
	decided(x);
	if (!x->err && !r->ni->node->rdma) {
		move(x, x->len);
		lo_count(r, LO_S_RX_BYTES, x->moved);
		end_sender(x, 0);
		lo_rx_free(x);
		return 1;
	}
	TAILQ_REMOVE(&r->held, x, link);
	TAILQ_INSERT_TAIL(&r->active, x, link);
	r->nactive++;
	x->state = LO_RX_ACTIVE;
	return 0;
}

int lo_discard(struct lnet_rx *rx)
{
	struct lo_rx *x = rx_of(rx);

	lo_count(x->r, LO_S_RX_DISCARDED, 1);
	decided(x);
	if (rx->want_reply) {
		lo_rx_refuse_get(x, -ENODATA);
		return 1;
	}
	end_sender(x, 0);
	lo_rx_free(x);
	return 1;
}

int lo_redirect(struct lnet_rx *rx)
{
	struct lo_rx *x = rx_of(rx);

	x->redirected = true;
	lo_rail_kick(x->r);
	if (x->r->ni->node->rdma)
		return 0;
	x->dst.mlen = x->moved;
	return 1;
}

void lo_rx_move(struct lo_rail *r)
{
	struct lo_rx *x, *next;
	bool step = r->step;

	r->step = false;
	for (x = TAILQ_FIRST(&r->active); x; x = next) {
		next = TAILQ_NEXT(x, link);
		int err = x->err;
		if (!err && step)
			move(x, LO_STEP);
		if (!err && !(x->redirected && step) && x->moved < x->dst.mlen)
			continue;
		lo_count(r, err ? LO_S_RX_FAILED : LO_S_RX_BYTES, err ? 1 : x->moved);
		end_sender(x, err);
		lo_up(r)->rx_done(&x->rx, err, err ? LNET_HS_REMOTE_ERROR : LNET_HS_OK);
		/* an upcall may have changed the list, but frees no active rx */
		next = TAILQ_NEXT(x, link);
		lo_rx_free(x);
	}
}

/* parse() refused: the sender broke the protocol. */
static void refused(struct lo_rail *r, struct lo_rx *x)
{
	lo_count(r, LO_S_PROTO, 1);
	end_sender(x, -ECONNRESET);
	lo_rx_free(x);
	if (!r->local)
		lo_conn_drop(r, -EPROTO);
}

static bool parse(struct lo_rail *r, struct lo_rx *x, const struct lnet_hdr *h)
{
	lo_count(r, LO_S_RX_MSGS, 1);
	r->last_alive = lnet_loop_now(r->rail->loop);
	if (!x->rx.want_reply)
		r->cur = x;
	/* x may be gone after it, unless it was refused */
	if (lo_up(r)->parse(r->rail, h, &x->rx) >= 0)
		return true;
	refused(r, x);
	return false;
}

static bool deliver_local(struct lo_rail *r)
{
	struct lo_tx *t = TAILQ_FIRST(&r->txq);
	struct lo_rx *x;

	if (!t)
		return false;
	x = rx_new(r, &lo_tx_pub(t)->hdr);
	if (!x) {
		lo_tx_finish(r, t, -ENOMEM, LNET_HS_LOCAL_ERROR, false);
		return true;
	}
	if (!lo_tx_take(r)) {
		lo_rx_free(x);
		return false;
	}
	x->tx = t;
	t->rx = x;
	x->rx.want_reply = t->state == LO_TX_GET;
	struct lnet_hdr h = lo_tx_pub(t)->hdr;
	return parse(r, x, &h);
}

static bool deliver_remote(struct lo_rail *r)
{
	struct lo_msg *m = lo_conn_get(r);
	struct lo_rx *x;

	if (!m)
		return false;
	if (m->kind == LO_MSG_GET_DONE) {
		lo_get_answer(r, m->get_id, m->status, m);
		free(m);
		return true;
	}
	x = rx_new(r, &m->hdr);
	if (!x) {
		free(m);
		lo_conn_drop(r, -ENOMEM);
		return false;
	}
	x->msg = m;
	x->rx.want_reply = m->kind == LO_MSG_GET;
	x->get_id = m->get_id;
	struct lnet_hdr h = m->hdr;
	return parse(r, x, &h);
}

void lo_rx_deliver(struct lo_rail *r)
{
	for (unsigned i = 0; i < LO_BATCH; i++)
		if (r->cur || !(r->local ? deliver_local(r) : deliver_remote(r)))
			return;
	lo_rail_kick(r);
}
