/* SPDX-License-Identifier: BSD-2-Clause */
/* The upcalls of the fake core. */
#include "lib/fc_int.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fc_upcall(struct fc_node *n, struct lnet_loop *l, const char *what)
{
	if (l && !lni_loop_held(l)) {
		fc_fail(n, "%s() off its loop", what);
		return;
	}
	for (unsigned i = 0; i < n->nloops; i++)
		if (lni_loop_held(n->loops[i]) && n->in_entry[i])
			fc_fail(n, "%s() inside an entry", what);
}

static struct fc_rail *rail_of(struct lnet_rail *r)
{
	return r->core;
}

/* ---- receiving ------------------------------------------------------------------------------ */

static uint64_t id_of(const struct lnet_hdr *h)
{
	switch (h->type) {
	case LNET_MSG_ACK:
		return h->msg.ack.match_bits;
	case LNET_MSG_PUT:
		return h->msg.put.match_bits;
	case LNET_MSG_GET:
		return h->msg.get.match_bits;
	default:
		return h->msg.reply.dst_wmd.object;
	}
}

/* The header as the other fake core made it. */
static bool header_right(struct fc_rail *r, const struct lnet_hdr *h, uint64_t id)
{
	if (!lnet_nid_eq(&h->src_nid, &r->d.nid) || !lnet_nid_eq(&h->dest_nid, &r->node->ni.d.nid))
		return false;
	switch (h->type) {
	case LNET_MSG_PUT:
		return h->msg.put.hdr_data == ~id && h->msg.put.offset == (uint32_t)(id * 7) &&
		       h->msg.put.ptl_index == id % LNET_MAX_PORTALS;
	case LNET_MSG_GET:
		return h->msg.get.src_offset == (uint32_t)(id * 5) && !h->payload_length &&
		       h->msg.get.ptl_index == id % LNET_MAX_PORTALS;
	case LNET_MSG_ACK:
		return h->msg.ack.mlength == (uint32_t)(id & 0xfffff) && !h->payload_length;
	case LNET_MSG_REPLY:
		return h->msg.reply.dst_wmd.iface == 0x1234;
	default:
		return false;
	}
}

static struct fc_rx *rx_new(struct fc_rail *r, const struct lnet_hdr *h, struct lnet_rx *d)
{
	struct fc_node *n = r->node;
	struct fc_rx *rx = calloc(1, sizeof(*rx));

	if (!rx)
		return NULL;
	rx->d = d;
	rx->rail = r;
	rx->h = *h;
	rx->id = id_of(h);
	rx->mlen = h->payload_length;
	rx->pieces = 1 + prng_below(&n->rnd, 5);
	d->core = rx;
	pthread_mutex_lock(&n->lock);
	rx->next = n->rxs;
	n->rxs = rx;
	pthread_mutex_unlock(&n->lock);
	return rx;
}

static void note_seen(struct fc_node *n, const struct fc_rx *rx)
{
	pthread_mutex_lock(&n->lock);
	if (n->nseen == n->seen_room) {
		size_t room = n->seen_room ? n->seen_room * 2 : 256;
		uint64_t *more = realloc(n->seen, room * sizeof(*more));
		if (more) {
			n->seen = more;
			n->seen_room = room;
		}
	}
	if (n->nseen < n->seen_room)
		n->seen[n->nseen++] = rx->id << 2 | rx->h.type;
	pthread_mutex_unlock(&n->lock);
}

/* A REPLY goes into the sink of its GET; nobody waits for it: late. */
static void find_op(struct fc_rx *rx)
{
	struct fc_node *n = rx->rail->node;
	struct fc_tx *op = fc_tx_find(n, rx->id, LNET_MSG_GET);

	if (!op || op->answered || atomic_load(&op->over)) {
		atomic_fetch_add(&n->rx_late, 1);
		return;
	}
	if (op->got || rx->mlen > op->d.sink_len) {
		fc_fail(n, "REPLY %llx: not expected", (unsigned long long)rx->id);
		return;
	}
	rx->op = op;
	rx->mem = op->mem;
}

static enum fc_act decide(struct fc_node *n, struct fc_rx *rx)
{
	if (rx->h.type == LNET_MSG_REPLY)
		find_op(rx);
	if (n->on_parse)
		return n->on_parse(n, rx);
	if (rx->h.type == LNET_MSG_GET)
		return FC_ANSWER;
	return rx->h.type == LNET_MSG_REPLY && !rx->op ? FC_DISCARD : FC_RECV;
}

static void recv_or_discard(struct fc_rx *rx)
{
	if (fc_recv_here(rx) < 0)
		fc_discard_here(rx);
}

static int act(struct fc_rx *rx, enum fc_act a)
{
	struct fc_node *n = rx->rail->node;

	switch (a) {
	case FC_RECV:
		recv_or_discard(rx);
		return 0;
	case FC_DISCARD:
		fc_discard_here(rx);
		return 0;
	case FC_HOLD:
		rx->state = FC_RX_HELD;
		return 0;
	case FC_DECIDED:
		return 0;
	case FC_REFUSE:
		rx->state = FC_RX_OVER;
		rx->d = NULL;
		atomic_fetch_add(&n->rx_refused, 1);
		return -EPROTO;
	case FC_ANSWER:
		if (rx->d->want_reply) {
			rx->state = FC_RX_HELD;
			fc_answer(rx);
			return 0;
		}
		fc_answer(rx);
		fc_discard_here(rx);
		return 0;
	}
	return 0;
}

static int up_parse(struct lnet_rail *rail, const struct lnet_hdr *h, struct lnet_rx *d)
{
	struct fc_rail *r = rail_of(rail);
	struct fc_node *n = r->node;

	fc_upcall(n, rail->loop, "parse");
	if (d->rail != rail)
		fc_fail(n, "parse(): the rx has another rail");
	if (r->closed || atomic_load(&n->ni.stopped))
		fc_fail(n, "parse() after the end");
	atomic_fetch_add(&n->rx_parsed, 1);
	struct fc_rx *rx = rx_new(r, h, d);
	if (!rx) {
		fc_fail(n, "no memory");
		return -EPROTO;
	}
	if (!header_right(r, h, rx->id))
		fc_fail(n, "message %llx (type %u) has a wrong header", (unsigned long long)rx->id,
		        h->type);
	note_seen(n, rx);
	if (rx->id < r->last_id)
		atomic_fetch_add(&r->disorder, 1);
	r->last_id = rx->id;
	atomic_fetch_add(&r->rx_msgs, 1);
	return act(rx, decide(n, rx));
}

static void check_payload(struct fc_rx *rx)
{
	struct fc_node *n = rx->rail->node;
	struct fc_mem *m = rx->mem;

	if (!m)
		return;
	ssize_t bad = tl_check_iov(rx->id, m->iov, m->niov, m->skip, rx->mlen);
	if (bad >= 0)
		fc_fail(n, "message %llx, %u bytes: byte %zd is wrong", (unsigned long long)rx->id,
		        rx->mlen, bad);
	if (!fc_mem_clean(m, rx->mlen))
		fc_fail(n, "message %llx: bytes outside of its %u were written",
		        (unsigned long long)rx->id, rx->mlen);
}

static void answered(struct fc_tx *op, int status, uint32_t nob)
{
	op->answered = true;
	op->get_status = status;
	op->get_nob = nob;
	if (op->done)
		fc_tx_over(op);
}

static void rx_follow_up(struct fc_rx *rx, int status)
{
	struct fc_node *n = rx->rail->node;
	struct fc_tx *op;

	if (rx->op) {
		rx->mem = NULL; /* it is the GET's */
		answered(rx->op, status, rx->mlen);
	} else if (rx->mem) {
		struct fc_mem *m = rx->mem;
		rx->mem = NULL;
		fc_mem_watch(n, m);
	}
	rx->op = NULL;
	if (rx->h.type == LNET_MSG_ACK && (op = fc_tx_find(n, rx->id, LNET_MSG_PUT)))
		op->answered = true;
	if (status || rx->h.type != LNET_MSG_PUT)
		return;
	if (rx->h.msg.put.ack_wmd.object == rx->id && !rx->rail->closing)
		fc_answer(rx);
}

void fc_rx_end(struct fc_rx *rx, int status)
{
	struct fc_node *n = rx->rail->node;

	rx->d = NULL;
	rx->state = FC_RX_OVER;
	rx->status = status;
	if (!status && !rx->redirected)
		check_payload(rx);
	else if (rx->mem && !fc_mem_clean(rx->mem, rx->mlen))
		fc_fail(n, "message %llx failed, and bytes outside of its %u were written",
		        (unsigned long long)rx->id, rx->mlen);
	atomic_fetch_add(status ? &n->rx_failed : &n->rx_ok, 1);
	if (!status)
		atomic_fetch_add(&n->rx_bytes, rx->mlen);
	if (n->on_rx_done)
		n->on_rx_done(n, rx);
	rx_follow_up(rx, status);
}

static bool status_named(int status, enum lnet_hstatus hs)
{
	if (!status)
		return hs == LNET_HS_OK;
	return status < 0 && (unsigned)hs < LNET_HS_COUNT &&
	       (hs != LNET_HS_OK || status == -ECANCELED || status == -ESHUTDOWN);
}

static void up_rx_done(struct lnet_rx *d, int status, enum lnet_hstatus hs)
{
	struct fc_rx *rx = d->core;
	struct fc_node *n = rx->rail->node;

	fc_upcall(n, rx->rail->d.loop, "rx_done");
	if (rx->state != FC_RX_ACTIVE || rx->d != d) {
		fc_fail(n, "rx_done() for an rx in state %d", (int)rx->state);
		return;
	}
	if (!status_named(status, hs))
		fc_fail(n, "rx_done(): status %d with health status %d", status, (int)hs);
	atomic_fetch_sub(&rx->rail->open, 1);
	atomic_fetch_add(&n->rx_done, 1);
	fc_rx_end(rx, status);
}

/* ---- sending -------------------------------------------------------------------------------- */

void fc_tx_over(struct fc_tx *tx)
{
	struct fc_node *n = tx->rail->node;
	bool get = tx->d.hdr.type == LNET_MSG_GET;

	if (get && !tx->status && !tx->answered)
		return; /* its REPLY is to come */
	if (get && !tx->get_status && tx->answered) {
		ssize_t bad = tl_check_iov(
		        tx->id, tx->mem->iov, tx->mem->niov, tx->mem->skip, tx->get_nob);
		if (bad >= 0)
			fc_fail(n, "GET %llx: byte %zd is wrong", (unsigned long long)tx->id, bad);
		if (!fc_mem_clean(tx->mem, tx->get_nob))
			fc_fail(n, "GET %llx: bytes outside of the sink were written",
			        (unsigned long long)tx->id);
	}
	/* The memory is the caller's again: what is still to be read from it would be wrong now. */
	if (tx->mem && !get)
		memset(tx->mem->arena, 0xdd, tx->mem->size);
	if (tx->mem) {
		struct fc_mem *m = tx->mem;
		tx->mem = NULL;
		fc_mem_watch(n, m);
	}
	tx->done_at = tl_now();
	bool drop = tx->freed_when_over;
	if (n->on_tx_done)
		n->on_tx_done(n, tx);
	if (drop)
		fc_tx_free(tx);
	else
		atomic_store(&tx->over, true);
}

static void up_tx_done(struct lnet_tx *d, int status, enum lnet_hstatus hs, bool sent)
{
	struct fc_tx *tx = d->core;
	struct fc_node *n = tx->rail->node;

	fc_upcall(n, tx->rail->d.loop, "tx_done");
	if (!tx->accepted || tx->done) {
		fc_fail(n, "tx_done() for %llx, which %s", (unsigned long long)tx->id,
		        tx->done ? "had ended" : "was not accepted");
		return;
	}
	if (!status_named(status, hs))
		fc_fail(n, "tx_done(): status %d with health status %d", status, (int)hs);
	if (!status && !sent)
		fc_fail(n, "tx_done(): success, and not sent");
	tx->done = true;
	tx->status = status;
	tx->hs = hs;
	tx->sent = sent;
	atomic_fetch_sub(&tx->rail->open, 1);
	atomic_fetch_add(&n->tx_done, 1);
	atomic_fetch_add(status ? &n->tx_failed : &n->tx_ok, 1);
	fc_tx_over(tx);
}

static void up_get_done(struct lnet_tx *d, int status, uint32_t nob)
{
	struct fc_tx *tx = d->core;
	struct fc_node *n = tx->rail->node;

	fc_upcall(n, tx->rail->d.loop, "get_done");
	if (!(fc_lnd(n)->caps & LNET_LND_OPT_GET) || d->hdr.type != LNET_MSG_GET)
		fc_fail(n, "get_done() for what is no optimised GET");
	if (tx->done || tx->got)
		fc_fail(n, "get_done() for %llx: %s", (unsigned long long)tx->id,
		        tx->got ? "twice" : "after tx_done()");
	if (nob > d->sink_len)
		fc_fail(n, "get_done(): %u bytes in a sink of %u", nob, d->sink_len);
	tx->got = true;
	atomic_fetch_add(&n->gets_done, 1);
	answered(tx, status, nob);
}

static void up_tx_ready(struct lnet_rail *rail)
{
	struct fc_rail *r = rail_of(rail);
	struct fc_node *n = r->node;

	fc_upcall(n, rail->loop, "tx_ready");
	if (!r->ready_due)
		fc_fail(n, "tx_ready() that nobody waits for");
	r->ready_due = false;
	atomic_fetch_add(&r->readies, 1);
	fc_send_pending(r);
	if (n->on_ready)
		n->on_ready(n, r);
}

static void up_fence_done(struct lnet_fence *d)
{
	struct fc_fence *f = d->core;

	fc_upcall(f->node, d->rail->loop, "fence_done");
	if (atomic_exchange(&f->done, true))
		fc_fail(f->node, "fence_done() twice");
	atomic_fetch_sub(&rail_of(d->rail)->open, 1);
	atomic_fetch_add(&f->node->fences_done, 1);
}

/* ---- rails and NIs -------------------------------------------------------------------------- */

static int up_rail_get(
        struct lnet_lnd_ni *ni, const struct lnet_nid *nid, uint32_t pid, struct lnet_rail **out)
{
	struct fc_node *n = ni->core;
	struct fc_rail *r;
	int rc = n->refuse_peers;

	fc_upcall(n, NULL, "rail_get");
	if (rc)
		return rc;
	if (lnet_nid_eq(nid, &ni->nid))
		return -EINVAL;
	pthread_mutex_lock(&n->lock);
	for (r = n->rails; r; r = r->next)
		if (!r->closing && lnet_nid_eq(&r->d.nid, nid) && r->d.pid == pid)
			break;
	if (!r)
		r = fc_rail_new(n, nid, pid, &rc);
	if (r)
		atomic_fetch_add(&r->refs, 1);
	pthread_mutex_unlock(&n->lock);
	if (r)
		*out = &r->d;
	return rc;
}

static void up_rail_put(struct lnet_rail *rail)
{
	struct fc_rail *r = rail_of(rail);

	fc_upcall(r->node, rail->loop, "rail_put");
	if (atomic_fetch_sub(&r->refs, 1) <= 0)
		fc_fail(r->node, "rail_put() without rail_get()");
}

static bool up_nid_owns(
        struct lnet_lnd_ni *ni, const struct lnet_nid *nid, const struct lnet_nid *addr)
{
	struct fc_node *n = ni->core;

	fc_upcall(n, NULL, "nid_owns");
	return n->owns ? n->owns(n, nid, addr) : lnet_nid_eq(nid, addr);
}

static void up_rail_event(struct lnet_rail *rail, enum lnet_rail_event ev, int err)
{
	struct fc_rail *r = rail_of(rail);
	struct fc_node *n = r->node;

	fc_upcall(n, rail->loop, "rail_event");
	if (r->closed)
		fc_fail(n, "rail_event() after rail_closed()");
	switch (ev) {
	case LNET_RAIL_UP:
		atomic_fetch_add(&r->ups, 1);
		break;
	case LNET_RAIL_DOWN:
		atomic_fetch_add(&r->downs, 1);
		break;
	case LNET_RAIL_RESTARTED:
		atomic_fetch_add(&r->restarts, 1);
		break;
	case LNET_RAIL_FAILED:
		atomic_fetch_add(&r->fails, 1);
		if (err >= 0)
			fc_fail(n, "rail_event(FAILED) with error %d", err);
		break;
	}
	if (err)
		atomic_store(&r->last_err, err);
	if (n->on_event)
		n->on_event(n, r, ev, err);
}

static void up_rail_closed(struct lnet_rail *rail)
{
	struct fc_rail *r = rail_of(rail);
	struct fc_node *n = r->node;

	fc_upcall(n, rail->loop, "rail_closed");
	if (!r->closing || r->closed)
		fc_fail(n, "rail_closed() %s", r->closed ? "twice" : "without rail_close()");
	if (atomic_load(&r->refs))
		fc_fail(n, "rail_closed() with %d references", atomic_load(&r->refs));
	if (atomic_load(&r->open))
		fc_fail(n, "rail_closed() with %d operations outstanding", atomic_load(&r->open));
	while (r->pend) {
		struct fc_tx *tx = r->pend;
		r->pend = tx->pnext;
		fc_tx_free(tx);
	}
	r->pend_tail = &r->pend;
	r->ready_due = false;
	r->closed = true;
	atomic_fetch_add(&n->rails_closed, 1);
}

static void up_ni_event(struct lnet_lnd_ni *ni, enum lnet_ni_state st, const char *why)
{
	struct fc_node *n = ni->core;

	fc_upcall(n, ni->loop, "ni_event");
	atomic_store(&n->ni.state, (int)st);
	snprintf(n->ni.why, sizeof(n->ni.why), "%s", why ? why : "");
}

static void up_ni_stopped(struct lnet_lnd_ni *ni)
{
	struct fc_node *n = ni->core;

	fc_upcall(n, ni->loop, "ni_stopped");
	if (!n->ni.stopping)
		fc_fail(n, "ni_stopped() without ni_stop()");
	pthread_mutex_lock(&n->lock);
	for (struct fc_rail *r = n->rails; r; r = r->next)
		if (atomic_load(&r->open))
			fc_fail(n, "ni_stopped() with %d operations outstanding on a rail",
			        atomic_load(&r->open));
	pthread_mutex_unlock(&n->lock);
	if (atomic_exchange(&n->ni.stopped, true))
		fc_fail(n, "ni_stopped() twice");
}

static void __attribute__((format(printf, 4, 5)))
up_log(struct lnet_lnd_node *d, enum lnet_log_level lv, const char *id, const char *fmt, ...)
{
	struct fc_node *n = d->core;
	va_list ap;
	int at;

	pthread_mutex_lock(&n->fault_lock);
	atomic_fetch_add(&n->logs[lv], 1);
	at = snprintf(n->last_log, sizeof(n->last_log), "%s: ", id);
	va_start(ap, fmt);
	if (at > 0 && (size_t)at < sizeof(n->last_log))
		vsnprintf(n->last_log + at, sizeof(n->last_log) - (size_t)at, fmt, ap);
	va_end(ap);
	if (getenv("ULNET_TEST_LOG"))
		fprintf(stderr, "# %s: %s\n", n->name ? n->name : "?", n->last_log);
	pthread_mutex_unlock(&n->fault_lock);
}

const struct lnet_lnd_up fc_up = {
        .parse = up_parse,
        .rx_done = up_rx_done,
        .tx_done = up_tx_done,
        .get_done = up_get_done,
        .tx_ready = up_tx_ready,
        .fence_done = up_fence_done,
        .rail_get = up_rail_get,
        .rail_put = up_rail_put,
        .nid_owns = up_nid_owns,
        .rail_event = up_rail_event,
        .rail_closed = up_rail_closed,
        .ni_event = up_ni_event,
        .ni_stopped = up_ni_stopped,
        .log = up_log,
};
