/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/net/lo_int.h"

static void tx_queue(struct lo_rail *r, struct lo_tx *t, struct lo_txq *q, enum lo_tx_state s)
{
	t->state = (uint8_t)s;
	TAILQ_INSERT_TAIL(q, t, link);
	if (s == LO_TX_WAIT || s == LO_TX_REPLY) {
		r->ntx++;
		r->tx_bytes += lo_tx_pub(t)->len;
	}
	r->ngets += s == LO_TX_GET;
}

/* Out of whichever queue it is in. */
static void tx_unqueue(struct lo_rail *r, struct lo_tx *t)
{
	switch ((enum lo_tx_state)t->state) {
	case LO_TX_WAIT:
		TAILQ_REMOVE(&r->txq, t, link);
		break;
	case LO_TX_REPLY:
		TAILQ_REMOVE(&r->replies, t, link);
		break;
	case LO_TX_RX:
		TAILQ_REMOVE(&r->reading, t, link);
		break;
	case LO_TX_GET:
		TAILQ_REMOVE(&r->gets, t, link);
		r->ngets--;
		break;
	case LO_TX_DONE:
		TAILQ_REMOVE(&r->doneq, t, link);
		break;
	case LO_TX_NONE:
		break;
	}
	if (t->state == LO_TX_WAIT || t->state == LO_TX_REPLY) {
		r->ntx--;
		r->tx_bytes -= lo_tx_pub(t)->len;
	}
	t->state = LO_TX_NONE;
}

static bool is_opt_get(const struct lo_rail *r, const struct lnet_tx *tx)
{
	return r->ni->node->rdma && tx->hdr.type == LNET_MSG_GET &&
	       (int64_t)tx->sink_len > lo_tun(r, LO_T_RDMA_MIN);
}

static int check_tx(const struct lo_rail *r, const struct lnet_tx *tx)
{
	uint32_t need = tx->hdr.type == LNET_MSG_REPLY ? LNET_MD_OP_GET : 0;
	int rc;

	if (tx->hdr.type > LNET_MSG_REPLY || tx->len != tx->hdr.payload_length)
		return -EINVAL;
	if (tx->len > LNET_MTU)
		return -EMSGSIZE;
	if (tx->len && (tx->hdr.type == LNET_MSG_ACK || tx->hdr.type == LNET_MSG_GET))
		return -EINVAL;
	if (!lo_iov_holds(tx->iov, tx->niov, tx->offset, tx->len))
		return -EINVAL;
	if (!r->ni->node->rdma)
		return tx->get_rx ? -EINVAL : 0;
	rc = lo_mem_check(tx->mr, tx->iov, tx->niov, tx->offset, tx->len, need);
	if (rc || !is_opt_get(r, tx))
		return rc;
	if (tx->sink_len > LNET_MTU)
		return -EMSGSIZE;
	if (!lo_iov_holds(tx->sink, tx->nsink, tx->sink_offset, tx->sink_len))
		return -EINVAL;
	return lo_mem_check(
	        tx->sink_mr, tx->sink, tx->nsink, tx->sink_offset, tx->sink_len, LNET_MD_OP_PUT);
}

int lo_send(struct lnet_rail *rail, struct lnet_tx *tx)
{
	struct lo_rail *r = rail->drv;
	struct lo_tx *t = lo_tx_of(tx);
	int rc;

	if (lo_stopping(r))
		return -ESHUTDOWN;
	rc = check_tx(r, tx);
	if (rc)
		return rc;
	if ((int64_t)r->ntx >= lo_tun(r, LO_T_TX_DEPTH)) {
		r->want_ready = true;
		return -EAGAIN;
	}
	t->seq = r->seq++;
	if (tx->get_rx)
		tx_queue(r, t, &r->replies, LO_TX_REPLY);
	else
		tx_queue(r, t, &r->txq, LO_TX_WAIT);
	lo_rail_kick(r);
	return 0;
}

static void drop_get_rx(struct lo_tx *t, int status)
{
	struct lnet_tx *tx = lo_tx_pub(t);

	if (tx->get_rx)
		lo_rx_refuse_get((struct lo_rx *)(void *)tx->get_rx, status);
	tx->get_rx = NULL;
}

void lo_tx_finish(struct lo_rail *r, struct lo_tx *t, int status, enum lnet_hstatus hs, bool sent)
{
	if (t->state == LO_TX_REPLY)
		drop_get_rx(t, -EIO);
	if (t->state == LO_TX_GET && !t->get_due) {
		t->get_due = true;
		t->get_status = status ? status : -EIO;
		t->get_nob = 0;
	}
	if (t->rx)
		lo_rx_detach(t->rx);
	t->rx = NULL;
	tx_unqueue(r, t);
	t->status = status;
	t->hs = (uint8_t)hs;
	t->sent = sent;
	tx_queue(r, t, &r->doneq, LO_TX_DONE);
	if (status)
		lo_count(r, LO_S_TX_FAILED, 1);
	lo_rail_kick(r);
}

int lo_cancel(struct lnet_rail *rail, struct lnet_tx *tx)
{
	struct lo_rail *r = rail->drv;
	struct lo_tx *t = lo_tx_of(tx);

	switch ((enum lo_tx_state)t->state) {
	case LO_TX_WAIT:
	case LO_TX_REPLY:
		drop_get_rx(t, -EIO);
		tx_unqueue(r, t);
		lo_rail_kick(r);
		return 1;
	case LO_TX_RX:
	case LO_TX_GET:
		lo_tx_finish(r, t, -ECANCELED, LNET_HS_OK, true);
		return 0;
	case LO_TX_DONE:
		return 0;
	case LO_TX_NONE:
		break;
	}
	return -EINVAL;
}

/* To another rail's receive, or to the connection: it was in txq. */
static void tx_left(struct lo_rail *r, struct lo_tx *t)
{
	tx_unqueue(r, t);
	lo_count(r, LO_S_TX_MSGS, 1);
	lo_count(r, LO_S_TX_BYTES, lo_tx_pub(t)->len);
}

struct lo_tx *lo_tx_take(struct lo_rail *r)
{
	struct lo_tx *t = TAILQ_FIRST(&r->txq);

	if (!t)
		return NULL;
	bool get = is_opt_get(r, lo_tx_pub(t));
	if (get && (int64_t)r->ngets >= lo_tun(r, LO_T_TX_DEPTH))
		return NULL;
	tx_left(r, t);
	if (get) {
		t->get_id = ++r->next_get;
		tx_queue(r, t, &r->gets, LO_TX_GET);
	} else {
		tx_queue(r, t, &r->reading, LO_TX_RX);
	}
	return t;
}

static struct lo_msg *msg_of(const struct lnet_tx *tx, enum lo_msg_kind kind)
{
	struct lo_msg *m = malloc(sizeof(*m) + tx->len);

	if (!m)
		return NULL;
	m->hdr = tx->hdr;
	m->kind = (uint8_t)kind;
	m->get_id = 0;
	m->status = 0;
	m->len = tx->len;
	lo_iov_read(m->data, tx->iov, tx->niov, tx->offset, tx->len);
	return m;
}

static bool transmit_one(struct lo_rail *r)
{
	struct lo_tx *t = TAILQ_FIRST(&r->txq);

	if (!t || !lo_conn_room(r, lo_tx_pub(t)->len))
		return false;
	struct lo_msg *m = msg_of(lo_tx_pub(t), LO_MSG_LNET);
	if (!m) {
		lo_tx_finish(r, t, -ENOMEM, LNET_HS_LOCAL_ERROR, false);
		return true;
	}
	t = lo_tx_take(r);
	if (!t) {
		free(m);
		return false;
	}
	if (t->state == LO_TX_GET) {
		m->kind = LO_MSG_GET;
		m->get_id = t->get_id;
	}
	lo_conn_put(r, m);
	if (t->state == LO_TX_RX)
		lo_tx_finish(r, t, 0, LNET_HS_OK, true);
	return true;
}

void lo_tx_transmit(struct lo_rail *r)
{
	for (unsigned i = 0; i < LO_BATCH; i++)
		if (!transmit_one(r))
			return;
	lo_rail_kick(r);
}

/* The GET waits on this rail: its sink is written here. */
static void answer_here(struct lo_rail *r, struct lo_tx *t, struct lo_rx *rx)
{
	struct lnet_tx *tx = lo_tx_pub(t), *get;

	if (!rx->tx) {
		lo_count(r, LO_S_LATE, 1);
		return;
	}
	get = lo_tx_pub(rx->tx);
	uint32_t n = tx->len < get->sink_len ? tx->len : get->sink_len;
	lo_iov_copy(get->sink, get->nsink, get->sink_offset, tx->iov, tx->niov, tx->offset, n);
	rx->tx->get_due = true;
	rx->tx->get_status = 0;
	rx->tx->get_nob = n;
	rx->tx->rx = NULL;
	lo_tx_finish(r, rx->tx, 0, LNET_HS_OK, true);
	rx->tx = NULL;
}

static bool reply_one(struct lo_rail *r)
{
	struct lo_tx *t = TAILQ_FIRST(&r->replies);
	struct lo_rx *rx;

	if (!t)
		return false;
	struct lnet_tx *tx = lo_tx_pub(t);
	rx = (struct lo_rx *)(void *)tx->get_rx;
	if (rx->err) {
		lo_tx_finish(r, t, rx->err, LNET_HS_REMOTE_ERROR, false);
		return true;
	}
	if (r->local) {
		answer_here(r, t, rx);
	} else {
		if (!lo_conn_room(r, tx->len))
			return false;
		struct lo_msg *m = msg_of(tx, LO_MSG_GET_DONE);
		if (!m) {
			lo_tx_finish(r, t, -ENOMEM, LNET_HS_LOCAL_ERROR, false);
			return true;
		}
		m->get_id = rx->get_id;
		lo_conn_put(r, m);
	}
	tx->get_rx = NULL;
	lo_rx_free(rx);
	tx_left(r, t);
	lo_tx_finish(r, t, 0, LNET_HS_OK, true);
	return true;
}

void lo_tx_replies(struct lo_rail *r)
{
	while (reply_one(r))
		;
}

void lo_get_answer(struct lo_rail *r, uint64_t id, int status, const struct lo_msg *m)
{
	struct lo_tx *t;

	TAILQ_FOREACH(t, &r->gets, link)
	if (t->get_id == id)
		break;
	if (!t) {
		lo_count(r, LO_S_LATE, 1);
		return;
	}
	struct lnet_tx *tx = lo_tx_pub(t);
	t->get_due = true;
	t->get_status = status;
	t->get_nob = 0;
	t->rx = NULL;
	if (!status && m) {
		t->get_nob = m->len < tx->sink_len ? m->len : tx->sink_len;
		lo_iov_write(tx->sink, tx->nsink, tx->sink_offset, m->data, t->get_nob);
	}
	lo_tx_finish(r, t, 0, LNET_HS_OK, true);
}

static void expire(struct lo_rail *r, struct lo_txq *q, uint64_t now, bool sent)
{
	struct lo_tx *t, *next;

	for (t = TAILQ_FIRST(q); t; t = next) {
		next = TAILQ_NEXT(t, link);
		if (lo_tx_pub(t)->deadline <= now)
			lo_tx_finish(r, t, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT, sent);
	}
}

void lo_tx_expire(struct lo_rail *r, uint64_t now)
{
	expire(r, &r->txq, now, false);
	expire(r, &r->replies, now, false);
	expire(r, &r->reading, now, true);
	expire(r, &r->gets, now, true);
}

static uint64_t nearest(const struct lo_txq *q, uint64_t best)
{
	struct lo_tx *t;

	TAILQ_FOREACH(t, q, link)
	if (lo_tx_pub(t)->deadline < best)
		best = lo_tx_pub(t)->deadline;
	return best;
}

uint64_t lo_tx_next_deadline(const struct lo_rail *r)
{
	struct lo_fence *f;
	uint64_t best = nearest(&r->txq, UINT64_MAX);

	best = nearest(&r->replies, best);
	best = nearest(&r->reading, best);
	best = nearest(&r->gets, best);
	TAILQ_FOREACH(f, &r->fences, link)
	if (f->f->deadline < best)
		best = f->f->deadline;
	return best;
}

void lo_tx_dones(struct lo_rail *r)
{
	struct lo_tx *t;

	for (unsigned i = 0; i < LO_BATCH && (t = TAILQ_FIRST(&r->doneq)); i++) {
		struct lnet_tx *tx = lo_tx_pub(t);
		if (t->get_due) {
			t->get_due = false;
			lo_up(r)->get_done(tx, t->get_status, t->get_nob);
			continue;
		}
		tx_unqueue(r, t);
		lo_up(r)->tx_done(tx, t->status, (enum lnet_hstatus)t->hs, t->sent);
	}
	if (!TAILQ_EMPTY(&r->doneq))
		lo_rail_kick(r);
	if (r->want_ready && !lo_stopping(r) && (int64_t)r->ntx < lo_tun(r, LO_T_TX_DEPTH)) {
		r->want_ready = false;
		lo_up(r)->tx_ready(r->rail);
	}
}

/* ---- fences --------------------------------------------------------------------------------- */

static bool older(const struct lo_txq *q, uint64_t seq)
{
	struct lo_tx *t;

	TAILQ_FOREACH(t, q, link)
	if (t->seq < seq)
		return true;
	return false;
}

static bool fence_open(const struct lo_rail *r, uint64_t seq)
{
	struct lo_rx *rx;

	TAILQ_FOREACH(rx, &r->active, link)
	if (rx->seq < seq)
		return true;
	return older(&r->txq, seq) || older(&r->replies, seq) || older(&r->reading, seq) ||
	       older(&r->gets, seq) || older(&r->doneq, seq);
}

int lo_fence(struct lnet_rail *rail, struct lnet_fence *f)
{
	struct lo_rail *r = rail->drv;
	struct lo_fence *lf = (struct lo_fence *)(void *)f->drv;

	if (!fence_open(r, r->seq) && (!r->ni->node->rdma || lo_stopping(r)))
		return 1;
	lf->seq = r->seq;
	lf->f = f;
	TAILQ_INSERT_TAIL(&r->fences, lf, link);
	lo_rail_kick(r);
	return 0;
}

void lo_tx_fences(struct lo_rail *r, uint64_t now)
{
	struct lo_fence *f;

	while ((f = TAILQ_FIRST(&r->fences))) {
		if (fence_open(r, f->seq)) {
			if (f->f->deadline > now)
				return;
			lo_conn_drop(r, -ETIMEDOUT);
			lo_rail_abort(r, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
			return;
		}
		TAILQ_REMOVE(&r->fences, f, link);
		lo_up(r)->fence_done(f->f);
	}
}
