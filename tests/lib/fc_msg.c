/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of the fake core: making them, and the entries that take them. */
#include "lib/fc_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lnet/lnet.h>

/* ---- making --------------------------------------------------------------------------------- */

static void link_tx(struct fc_tx *tx)
{
	struct fc_node *n = tx->rail->node;

	pthread_mutex_lock(&n->lock);
	tx->next = n->txs;
	tx->pprev = &n->txs;
	if (tx->next)
		tx->next->pprev = &tx->next;
	n->txs = tx;
	pthread_mutex_unlock(&n->lock);
}

void fc_tx_free(struct fc_tx *tx)
{
	struct fc_node *n = tx->rail->node;

	pthread_mutex_lock(&n->lock);
	*tx->pprev = tx->next;
	if (tx->next)
		tx->next->pprev = tx->pprev;
	pthread_mutex_unlock(&n->lock);
	fc_mem_free(tx->mem);
	free(tx);
}

static struct fc_tx *tx_new(struct fc_rail *r, uint32_t type, uint64_t id, uint64_t deadline_ns)
{
	struct fc_tx *tx = calloc(1, sizeof(*tx));
	struct lnet_hdr *h;

	if (!tx)
		return NULL;
	tx->rail = r;
	tx->id = id;
	tx->d.rail = &r->d;
	tx->d.core = tx;
	tx->d.deadline = lnet_loop_clock(r->d.loop) + deadline_ns;
	h = &tx->d.hdr;
	h->dest_nid = r->d.nid;
	h->src_nid = r->node->ni.d.nid;
	h->dest_pid = r->d.pid;
	h->src_pid = r->node->d.pid;
	h->type = type;
	link_tx(tx);
	return tx;
}

static bool give_payload(struct fc_tx *tx, uint32_t len, uint32_t pieces, uint32_t access)
{
	tx->d.len = len;
	tx->d.hdr.payload_length = len;
	if (!len)
		return true;
	tx->mem = fc_mem_new(tx->rail->node, len, pieces, access);
	if (!tx->mem)
		return false;
	tl_fill_iov(tx->id, tx->mem->iov, tx->mem->niov, tx->mem->skip, len);
	tx->d.iov = tx->mem->iov;
	tx->d.niov = tx->mem->niov;
	tx->d.offset = tx->mem->skip;
	tx->d.mr = tx->mem->mr;
	return true;
}

struct fc_tx *fc_put(
        struct fc_rail *r, uint64_t id, uint32_t len, uint32_t pieces, uint64_t deadline_ns)
{
	struct fc_tx *tx = tx_new(r, LNET_MSG_PUT, id, deadline_ns);

	if (!tx)
		return NULL;
	tx->d.hdr.msg.put.ack_wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
	tx->d.hdr.msg.put.match_bits = id;
	tx->d.hdr.msg.put.hdr_data = ~id;
	tx->d.hdr.msg.put.ptl_index = (uint32_t)(id % LNET_MAX_PORTALS);
	tx->d.hdr.msg.put.offset = (uint32_t)(id * 7);
	if (!give_payload(tx, len, pieces, LNET_MD_OP_GET)) {
		fc_tx_free(tx);
		return NULL;
	}
	return tx;
}

void fc_want_ack(struct fc_tx *tx)
{
	tx->d.hdr.msg.put.ack_wmd = (struct lnet_wmd){0x1234, tx->id};
}

struct fc_tx *fc_get(
        struct fc_rail *r, uint64_t id, uint32_t len, uint32_t pieces, uint64_t deadline_ns)
{
	struct fc_tx *tx = tx_new(r, LNET_MSG_GET, id, deadline_ns);

	if (!tx)
		return NULL;
	tx->mem = fc_mem_new(r->node, len, pieces, LNET_MD_OP_PUT);
	if (!tx->mem) {
		fc_tx_free(tx);
		return NULL;
	}
	tx->d.hdr.msg.get.return_wmd = (struct lnet_wmd){0x1234, id};
	tx->d.hdr.msg.get.match_bits = id;
	tx->d.hdr.msg.get.ptl_index = (uint32_t)(id % LNET_MAX_PORTALS);
	tx->d.hdr.msg.get.src_offset = (uint32_t)(id * 5);
	tx->d.hdr.msg.get.sink_length = len;
	tx->d.sink = tx->mem->iov;
	tx->d.nsink = tx->mem->niov;
	tx->d.sink_offset = tx->mem->skip;
	tx->d.sink_len = len;
	tx->d.sink_mr = tx->mem->mr;
	return tx;
}

struct fc_tx *fc_ack(struct fc_rail *r, uint64_t id, uint64_t deadline_ns)
{
	struct fc_tx *tx = tx_new(r, LNET_MSG_ACK, id, deadline_ns);

	if (!tx)
		return NULL;
	tx->d.flags = LNET_TX_SMALL;
	tx->d.hdr.msg.ack.dst_wmd = (struct lnet_wmd){0x1234, id};
	tx->d.hdr.msg.ack.match_bits = id;
	tx->d.hdr.msg.ack.mlength = (uint32_t)(id & 0xfffff);
	return tx;
}

struct fc_tx *fc_tx_find(struct fc_node *n, uint64_t id, uint32_t type)
{
	struct fc_tx *tx;

	pthread_mutex_lock(&n->lock);
	for (tx = n->txs; tx; tx = tx->next)
		if (tx->id == id && tx->d.hdr.type == type)
			break;
	pthread_mutex_unlock(&n->lock);
	return tx;
}

/* ---- sending -------------------------------------------------------------------------------- */

static bool same_tx(const struct lnet_tx *a, const struct lnet_tx *b)
{
	return lnet_nid_eq(&a->hdr.dest_nid, &b->hdr.dest_nid) && a->hdr.type == b->hdr.type &&
	       a->iov == b->iov && a->niov == b->niov && a->offset == b->offset &&
	       a->len == b->len && a->mr == b->mr && a->sink == b->sink && a->get_rx == b->get_rx &&
	       a->deadline == b->deadline && a->rail == b->rail && a->core == b->core;
}

static void untouched(struct fc_tx *tx, const struct lnet_tx *before, int rc)
{
	struct fc_node *n = tx->rail->node;

	tx->accepted = false;
	atomic_fetch_sub(&tx->rail->open, 1);
	atomic_fetch_sub(&n->tx_accepted, 1);
	if (!same_tx(before, &tx->d))
		fc_fail(n, "send() returned %d and changed the tx", rc);
	if (rc == -EAGAIN) {
		atomic_fetch_add(&n->tx_again, 1);
		tx->rail->ready_due = true;
	} else {
		atomic_fetch_add(&n->tx_refused, 1);
	}
}

int fc_send_here(struct fc_tx *tx)
{
	struct fc_rail *r = tx->rail;
	struct fc_node *n = r->node;
	struct lnet_tx before = tx->d;

	if (!lni_loop_held(r->d.loop))
		fc_fail(n, "the test sends off the loop");
	memset(tx->d.drv, 0, sizeof(tx->d.drv));
	tx->accepted = true;
	atomic_fetch_add(&r->open, 1);
	atomic_fetch_add(&n->tx_accepted, 1);
	fc_enter(n, r->d.loop);
	int rc = fc_lnd(n)->send(&r->d, &tx->d);
	fc_leave(n, r->d.loop);
	if (rc < 0) {
		untouched(tx, &before, rc);
	} else if (rc == 1) {
		tx->hs = LNET_HS_OK;
		tx->sent = true;
		tx->done = true;
		atomic_fetch_sub(&r->open, 1);
		atomic_fetch_add(&n->tx_done, 1);
		atomic_fetch_add(&n->tx_ok, 1);
		fc_tx_over(tx);
	} else if (rc) {
		fc_fail(n, "send() returned %d", rc);
	}
	return rc;
}

static int call_send(void *arg)
{
	return fc_send_here(arg);
}

int fc_send(struct fc_tx *tx)
{
	return fc_do(tx->rail->d.loop, call_send, tx);
}

int fc_cancel_here(struct fc_tx *tx)
{
	struct fc_rail *r = tx->rail;
	struct fc_node *n = r->node;

	fc_enter(n, r->d.loop);
	int rc = fc_lnd(n)->cancel(&r->d, &tx->d);
	fc_leave(n, r->d.loop);
	if (rc != 1) {
		if (rc)
			fc_fail(n, "cancel() of a live tx returned %d", rc);
		return rc;
	}
	tx->status = -ECANCELED;
	tx->sent = false;
	tx->done = true;
	atomic_fetch_sub(&r->open, 1);
	atomic_fetch_add(&n->tx_done, 1);
	atomic_fetch_add(&n->tx_failed, 1);
	fc_tx_over(tx);
	return rc;
}

static int call_cancel(void *arg)
{
	return fc_cancel_here(arg);
}

int fc_cancel(struct fc_tx *tx)
{
	return fc_do(tx->rail->d.loop, call_cancel, tx);
}

struct send_cancel {
	struct fc_tx *tx;
	int cancelled;
};

static int call_send_cancel(void *arg)
{
	struct send_cancel *a = arg;
	int rc = fc_send_here(a->tx);

	a->cancelled = rc == 0 ? fc_cancel_here(a->tx) : -ENOENT;
	return rc;
}

int fc_send_cancel(struct fc_tx *tx, int *cancelled)
{
	struct send_cancel a = {tx, 0};
	int rc = fc_do(tx->rail->d.loop, call_send_cancel, &a);

	*cancelled = a.cancelled;
	return rc;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* The driver has the rx again, with the REPLY. */
static void rx_given(struct fc_rx *rx)
{
	rx->state = FC_RX_OVER;
	rx->d = NULL;
	atomic_fetch_add(&rx->rail->node->rx_decided, 1);
	atomic_fetch_add(&rx->rail->node->rx_ok, 1);
}

static void answer_send(struct fc_tx *tx)
{
	struct fc_rail *r = tx->rail;
	struct fc_rx *rx = tx->for_rx;

	if (rx && rx->state != FC_RX_HELD) { /* discarded meanwhile */
		fc_tx_free(tx);
		return;
	}
	int rc = fc_send_here(tx);
	if (rc >= 0) {
		if (rx)
			rx_given(rx);
		return;
	}
	if (rc == -EAGAIN) {
		tx->pnext = NULL;
		*r->pend_tail = tx;
		r->pend_tail = &tx->pnext;
		return;
	}
	if (rx)
		fc_discard_here(rx);
	fc_tx_free(tx);
}

void fc_send_pending(struct fc_rail *r)
{
	struct fc_tx *tx = r->pend, *next;

	r->pend = NULL;
	r->pend_tail = &r->pend;
	for (; tx; tx = next) {
		next = tx->pnext;
		answer_send(tx);
	}
}

void fc_answer(struct fc_rx *rx)
{
	struct fc_rail *r = rx->rail;
	struct fc_node *n = r->node;
	bool get = rx->h.type == LNET_MSG_GET;
	struct fc_tx *tx;

	if (!get) {
		tx = fc_ack(r, rx->id, 20 * TL_S);
	} else {
		uint32_t len = rx->h.msg.get.sink_length;
		tx = tx_new(r, LNET_MSG_REPLY, rx->id, 20 * TL_S);
		if (len > n->answer_max)
			len = n->answer_max;
		if (tx && !give_payload(tx, len, 1 + prng_below(&n->rnd, 7), LNET_MD_OP_GET)) {
			fc_tx_free(tx);
			tx = NULL;
		}
		if (tx)
			tx->d.hdr.msg.reply.dst_wmd = rx->h.msg.get.return_wmd;
	}
	if (!tx) {
		fc_fail(n, "no memory for an answer");
		return;
	}
	if (rx->d && rx->d->want_reply) {
		tx->d.get_rx = rx->d;
		tx->for_rx = rx;
	}
	tx->freed_when_over = true;
	atomic_fetch_add(&n->answers, 1);
	answer_send(tx);
}

/* ---- deciding ------------------------------------------------------------------------------- */

static bool claim(struct fc_rx *rx, const char *what)
{
	struct fc_node *n = rx->rail->node;

	if (rx->state == FC_RX_NEW || rx->state == FC_RX_HELD)
		return true;
	fc_fail(n, "the test calls %s() for an rx in state %d", what, (int)rx->state);
	return false;
}

int fc_recv_here(struct fc_rx *rx)
{
	struct fc_node *n = rx->rail->node;
	struct lnet_loop *l = rx->rail->d.loop;
	struct lnet_dst dst = {.mlen = rx->mlen};
	enum fc_rx_state old = rx->state;

	if (!claim(rx, "recv"))
		return -EINVAL;
	if (rx->mlen && !rx->mem)
		rx->mem = fc_mem_new(n, rx->mlen, rx->pieces, LNET_MD_OP_PUT);
	if (rx->mlen && !rx->mem) {
		fc_fail(n, "no memory for a receive");
		return fc_discard_here(rx);
	}
	if (rx->mem) {
		dst.iov = rx->mem->iov;
		dst.niov = rx->mem->niov;
		dst.offset = rx->mem->skip;
		dst.mr = rx->mem->mr;
	}
	rx->state = FC_RX_ACTIVE;
	fc_enter(n, l);
	int rc = fc_lnd(n)->recv(rx->d, &dst);
	fc_leave(n, l);
	if (rc < 0) {
		rx->state = old;
		if (rc == -ENOMEM)
			atomic_fetch_add(&n->rx_nomem, 1);
		if (rx->mem && !fc_mem_clean(rx->mem, 0))
			fc_fail(n, "recv() failed with %d and wrote", rc);
		return rc;
	}
	atomic_fetch_add(&n->rx_decided, 1);
	if (rc == 1) {
		fc_rx_end(rx, 0);
	} else {
		atomic_fetch_add(&rx->rail->open, 1);
		atomic_fetch_add(&n->rx_async, 1);
		if (rc)
			fc_fail(n, "recv() returned %d", rc);
	}
	return rc;
}

static int call_recv(void *arg)
{
	return fc_recv_here(arg);
}

int fc_recv(struct fc_rx *rx)
{
	return fc_do(rx->rail->d.loop, call_recv, rx);
}

int fc_discard_here(struct fc_rx *rx)
{
	struct fc_node *n = rx->rail->node;
	struct lnet_loop *l = rx->rail->d.loop;

	if (!claim(rx, "discard"))
		return -EINVAL;
	rx->state = FC_RX_ACTIVE;
	rx->discarded = true;
	rx->mlen = 0;
	fc_enter(n, l);
	int rc = fc_lnd(n)->discard(rx->d);
	fc_leave(n, l);
	atomic_fetch_add(&n->rx_decided, 1);
	if (rc == 1) {
		fc_rx_end(rx, 0);
	} else {
		atomic_fetch_add(&rx->rail->open, 1);
		atomic_fetch_add(&n->rx_async, 1);
		if (rc)
			fc_fail(n, "discard() returned %d", rc);
	}
	return rc;
}

static int call_discard(void *arg)
{
	return fc_discard_here(arg);
}

int fc_discard(struct fc_rx *rx)
{
	return fc_do(rx->rail->d.loop, call_discard, rx);
}

int fc_redirect_here(struct fc_rx *rx)
{
	struct fc_node *n = rx->rail->node;

	rx->redirected = true;
	fc_enter(n, rx->rail->d.loop);
	int rc = fc_lnd(n)->redirect(rx->d);
	fc_leave(n, rx->rail->d.loop);
	if (rc == 1 && rx->mem && !rx->op) {
		struct fc_mem *m = rx->mem;
		rx->mem = NULL;
		fc_mem_watch(n, m);
	} else if (rc < 0 || rc > 1) {
		fc_fail(n, "redirect() returned %d", rc);
	}
	return rc;
}

static int call_redirect(void *arg)
{
	return fc_redirect_here(arg);
}

int fc_redirect(struct fc_rx *rx)
{
	return fc_do(rx->rail->d.loop, call_redirect, rx);
}

static struct fc_rx *next_held(struct fc_node *n)
{
	struct fc_rx *rx;

	pthread_mutex_lock(&n->lock);
	for (rx = n->rxs; rx; rx = rx->next)
		if (rx->state == FC_RX_HELD)
			break;
	pthread_mutex_unlock(&n->lock);
	return rx;
}

void fc_discard_held(struct fc_node *n)
{
	struct fc_rx *rx;

	while ((rx = next_held(n)))
		fc_discard(rx);
}

struct fc_rx *fc_rx_find(struct fc_node *n, uint64_t id)
{
	struct fc_rx *rx;

	pthread_mutex_lock(&n->lock);
	for (rx = n->rxs; rx; rx = rx->next)
		if (rx->id == id)
			break;
	pthread_mutex_unlock(&n->lock);
	return rx;
}

unsigned fc_rx_in_state(struct fc_node *n, enum fc_rx_state s)
{
	unsigned k = 0;

	pthread_mutex_lock(&n->lock);
	for (struct fc_rx *rx = n->rxs; rx; rx = rx->next)
		k += rx->state == s;
	pthread_mutex_unlock(&n->lock);
	return k;
}

void fc_forget_over(struct fc_node *n)
{
	struct fc_rx **p = &n->rxs, *rx;

	pthread_mutex_lock(&n->lock);
	while ((rx = *p)) {
		if (rx->state != FC_RX_OVER) {
			p = &rx->next;
			continue;
		}
		*p = rx->next;
		fc_mem_free(rx->mem);
		free(rx);
	}
	pthread_mutex_unlock(&n->lock);
}

static int call_fence(void *arg)
{
	struct fc_fence *f = arg;
	struct fc_node *n = f->node;
	struct lnet_rail *r = f->d.rail;

	atomic_fetch_add(&n->fences, 1);
	atomic_fetch_add(&((struct fc_rail *)r->core)->open, 1);
	fc_enter(n, r->loop);
	int rc = fc_lnd(n)->fence(r, &f->d);
	fc_leave(n, r->loop);
	if (rc) {
		atomic_fetch_sub(&n->fences, 1);
		atomic_fetch_sub(&((struct fc_rail *)r->core)->open, 1);
		if (rc != 1)
			fc_fail(n, "fence() returned %d", rc);
		atomic_store(&f->done, rc == 1);
	}
	return rc;
}

int fc_fence(struct fc_rail *r, struct fc_fence *f, uint64_t deadline_ns)
{
	*f = (struct fc_fence){.node = r->node};
	f->d.rail = &r->d;
	f->d.core = f;
	f->d.deadline = lnet_loop_clock(r->d.loop) + deadline_ns;
	return fc_do(r->d.loop, call_fence, f);
}
