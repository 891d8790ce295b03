/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending: choice of a connection, queueing, and the flush, which gathers many messages, their
 * ZC-ACKs and NOOPs into one sendmsg().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp.h"

#define BATCH_MSGS  64
#define BATCH_BYTES (256u << 10) /* beyond the first message */
#define BATCH_IOV   384
#define BATCH_NOOPS 4
#define TURN_BYTES  (4u << 20) /* written by one flush, then others have their turn */

struct batch {
	struct iovec iov[BATCH_IOV];
	unsigned niov;
	size_t bytes;
	struct lnet_tx *tx[BATCH_MSGS];
	struct tcp_frame frame[BATCH_MSGS];
	unsigned ntx;
	unsigned nnoop;
	uint64_t noop_acks[BATCH_NOOPS]; /* cookies in it; 0 = keepalive */
	struct tcp_owed_cursor owed;
	uint8_t head[BATCH_MSGS][TCP_MSG_HEAD_MAX];
	uint8_t noop[BATCH_NOOPS][TCP_FRAME_SIZE];
};

/* ---- choice ---------------------------------------------------------------------------------- */

static struct tcp_conn *choose(struct tcp_peer *p, bool noop, bool nonblk, size_t payload)
{
	size_t min_bulk = (size_t)tcp_tun(tcp_lni(p), TCP_T_MIN_BULK);
	enum tcp_fit best_fit = TCP_FIT_NO;
	struct tcp_conn *best = NULL;

	for (struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next) {
		struct tcp_conn *c = tcp_entry(l, struct tcp_conn, link);
		size_t size = noop ? TCP_FRAME_SIZE : tcp_msg_head_size(c->version) + payload;
		enum tcp_fit fit = tcp_msg_fit(c->version, c->type, noop, nonblk, size, min_bulk);

		if (fit == TCP_FIT_NO || c->doom || fit < best_fit)
			continue;
		if (fit > best_fit || c->tx_bytes < best->tx_bytes ||
		        (c->tx_bytes == best->tx_bytes && (int32_t)(c->used - best->used) < 0)) {
			best = c;
			best_fit = fit;
		}
	}
	if (best && !noop)
		best->used = ++p->turn;
	return best;
}

/* By size alone, as a kernel does it: LNET_TX_SMALL says nothing new of a message below min_bulk,
 * and a large one in front of control traffic would undo what the flag is for. */
struct tcp_conn *tcp_choose(struct tcp_peer *p, uint32_t payload)
{
	return choose(p, false, false, payload);
}

/* A NOOP must not wait behind bulk; where that cannot be had, any connection that takes one. */
struct tcp_conn *tcp_choose_noop(struct tcp_peer *p)
{
	struct tcp_conn *c;

	if (p->version < 2)
		return NULL;
	c = choose(p, true, true, 0);
	return c ? c : choose(p, true, false, 0);
}

/* ---- queues ---------------------------------------------------------------------------------- */

size_t tcp_tx_size(const struct tcp_conn *c, const struct lnet_tx *tx)
{
	return tcp_msg_head_size(c->version) + tx->len;
}

static bool carries(const struct tcp_conn *c, const struct lnet_tx *tx)
{
	return c->version == 4 ||
	       (lnet_nid_is4(&tx->hdr.src_nid) && lnet_nid_is4(&tx->hdr.dest_nid));
}

static void enqueue(struct tcp_conn *c, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);

	if (!c->ntx && !c->rest_len)
		c->tx_moved = lnet_loop_now(c->lane->loop);
	d->state = TCP_TX_QUEUED;
	d->conn = c;
	tcp_list_add(&c->txq, &d->link);
	c->ntx++;
	c->tx_bytes += tcp_tx_size(c, tx);
	/* A connection that waits for room is flushed when there is some. */
	if (!(c->watch.events & LNET_WATCH_WRITE) && tcp_list_empty(&c->dirty)) {
		tcp_list_add(&c->lane->dirty, &c->dirty);
		tcp_lane_kick(c->lane);
	}
}

void tcp_tx_wait(struct tcp_peer *p, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);

	d->state = TCP_TX_QUEUED;
	d->conn = NULL;
	tcp_list_add(&p->txq, &d->link);
	p->txq_n++;
	p->txq_bytes += tx->len;
}

void tcp_tx_unqueue(struct tcp_peer *p, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);

	tcp_list_del(&d->link);
	if (d->conn) {
		if (d->state == TCP_TX_STARTED)
			d->conn->head_off = 0;
		d->conn->ntx--;
		d->conn->tx_bytes -= tcp_tx_size(d->conn, tx);
		d->conn = NULL;
	} else {
		p->txq_n--;
		p->txq_bytes -= tx->len;
	}
	d->state = TCP_TX_DONE;
}

void tcp_tx_end(struct tcp_peer *p, struct lnet_tx *tx, int status, enum lnet_hstatus hs, bool sent)
{
	struct tcp_txd *d = tcp_txd(tx);

	d->state = TCP_TX_DONE;
	d->status = status;
	d->hs = (uint8_t)hs;
	d->sent = sent;
	tcp_list_add(&p->lane->txdone, &d->link);
	tcp_peer_op_end(p, d->stamp);
}

void tcp_tx_dispatch(struct tcp_peer *p)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &p->txq)
	{
		struct lnet_tx *tx = tcp_tx(l);
		struct tcp_conn *c = tcp_choose(p, tx->len);

		if (!c)
			continue;
		tcp_tx_unqueue(p, tx);
		if (carries(c, tx))
			enqueue(c, tx);
		else
			tcp_tx_end(p, tx, -EAFNOSUPPORT, LNET_HS_LOCAL_ERROR, false);
	}
}

static bool full(uint32_t n, uint64_t bytes, uint32_t len)
{
	return n >= TCP_MAX_TXQ || (n && bytes + len > TCP_MAX_TXQ_BYTES);
}

/* No connection can carry it: start one, or say why not. */
static int send_unconnected(struct tcp_peer *p, struct lnet_tx *tx)
{
	int rc;

	if (tcp_peer_is_client(p))
		return -ENOTCONN;
	if (!p->hs && !p->waiting && p->next_try > lnet_loop_now(p->lane->loop)) {
		tcp_stat(tcp_lni(p), TCP_S_BACKOFF);
		return -EHOSTUNREACH;
	}
	if (full(p->txq_n, p->txq_bytes, tx->len)) {
		p->want_ready = true;
		return -EAGAIN;
	}
	tcp_tx_wait(p, tx);
	if (p->hs || p->waiting)
		return 0;
	rc = tcp_active_start(p, tcp_first_type(p));
	if (!rc)
		return 0;
	tcp_tx_unqueue(p, tx);
	tcp_peer_attempt_failed(p, rc, tcp_hs_of(rc));
	tcp_lane_kick(p->lane);
	return rc;
}

int tcp_send(struct lnet_rail *r, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);
	struct tcp_peer *p = tcp_peer_of(r);
	struct tcp_conn *c;
	int rc = 0;

	if (!p || p->closing || tcp_ni_stopping(p->lane->ni))
		return -ESHUTDOWN;
	if (tx->len > LNET_MTU)
		return -EMSGSIZE;
	if (tx->hdr.type > LNET_MSG_REPLY)
		return -EINVAL;
	if (tcp_ni_down(p->lane->ni))
		return -ENETDOWN;
	c = tcp_choose(p, tx->len);
	if (!c) {
		rc = send_unconnected(p, tx);
	} else if (!carries(c, tx)) {
		return -EAFNOSUPPORT;
	} else if (full(c->ntx, c->tx_bytes, tx->len)) {
		p->want_ready = true;
		return -EAGAIN;
	} else {
		enqueue(c, tx);
	}
	if (rc)
		return rc;
	tcp_peer_op_begin(p, &d->stamp);
	tcp_peer_arm(p, tx->deadline);
	return 0;
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* Append the bytes from `skip` on of a payload; false when the vector is full before its end. */
static bool add_payload(struct batch *b, const struct lnet_tx *tx, size_t skip)
{
	size_t off = tx->offset + skip, left = tx->len - skip;

	for (uint32_t i = 0; left && i < tx->niov; i++) {
		size_t n = tx->iov[i].iov_len;

		if (off >= n) {
			off -= n;
			continue;
		}
		if (b->niov == BATCH_IOV)
			return false;
		n -= off;
		if (n > left)
			n = left;
		b->iov[b->niov].iov_base = (char *)tx->iov[i].iov_base + off;
		b->iov[b->niov++].iov_len = n;
		b->bytes += n;
		left -= n;
		off = 0;
	}
	return true;
}

static void add_bytes(struct batch *b, void *base, size_t len)
{
	b->iov[b->niov].iov_base = base;
	b->iov[b->niov++].iov_len = len;
	b->bytes += len;
}

static uint32_t payload_csum(uint32_t csum, const struct lnet_tx *tx)
{
	size_t off = tx->offset, left = tx->len;

	for (uint32_t i = 0; left && i < tx->niov; i++) {
		size_t n = tx->iov[i].iov_len;

		if (off >= n) {
			off -= n;
			continue;
		}
		n = n - off < left ? n - off : left;
		csum = tcp_csum(csum, (char *)tx->iov[i].iov_base + off, n);
		left -= n;
		off = 0;
	}
	return csum;
}

/* The head of a message that has not been started: it may carry an ACK, and in v2 a checksum. */
static int new_head(
        struct tcp_conn *c, struct batch *b, struct lnet_tx *tx, struct tcp_frame *f, uint8_t *h)
{
	uint64_t none;
	int n;

	*f = (struct tcp_frame){.type = TCP_FRAME_LNET};
	if (c->version > 1)
		tcp_owed_next(&c->peer->owed, &b->owed, false, &none, &f->cookie[1]);
	n = tcp_msg_encode(f, &tx->hdr, c->version, false, h);
	if (n < 0 || c->version != 2 || !tcp_tun(tcp_lni(c->peer), TCP_T_ENABLE_CSUM))
		return n;
	f->csum = payload_csum(tcp_csum(TCP_CSUM_INIT, h, (size_t)n), tx);
	return tcp_msg_encode(f, &tx->hdr, c->version, false, h);
}

static int old_head(struct tcp_conn *c, const struct lnet_tx *tx, uint8_t *h)
{
	const struct tcp_txd *d = (const void *)tx->drv;
	struct tcp_frame f = {.type = TCP_FRAME_LNET, .csum = d->csum, .cookie = {0, d->cookie}};

	return tcp_msg_encode(&f, &tx->hdr, c->version, false, h);
}

/* False when no further message fits. */
static bool add_tx(struct tcp_conn *c, struct batch *b, struct lnet_tx *tx)
{
	bool started = tcp_txd(tx)->state == TCP_TX_STARTED;
	size_t skip = started ? c->head_off : 0;
	uint8_t *h = b->head[b->ntx];
	int n;

	if (b->ntx && b->niov + 1 + tx->niov > BATCH_IOV)
		return false;
	n = started ? old_head(c, tx, h) : new_head(c, b, tx, &b->frame[b->ntx], h);
	if (n < 0) /* carries() and the core's checks leave nothing for this */
		return false;
	b->tx[b->ntx++] = tx;
	if (skip < (size_t)n) {
		add_bytes(b, h + skip, (size_t)n - skip);
		skip = (size_t)n;
	}
	return add_payload(b, tx, skip - (size_t)n) && b->ntx < BATCH_MSGS;
}

static void add_noops(struct tcp_conn *c, struct batch *b)
{
	struct tcp_peer *p = c->peer;

	while (b->nnoop < BATCH_NOOPS && b->niov < BATCH_IOV) {
		struct tcp_frame f = {.type = TCP_FRAME_NOOP};
		uint64_t n = tcp_owed_next(
		        &p->owed, &b->owed, c->version >= 3, &f.cookie[0], &f.cookie[1]);

		if (!n && (!p->noop_due || b->nnoop))
			return;
		if (!n)
			f.cookie[1] = TCP_KEEPALIVE;
		tcp_frame_encode(&f, false, b->noop[b->nnoop]);
		add_bytes(b, b->noop[b->nnoop], TCP_FRAME_SIZE);
		b->noop_acks[b->nnoop++] = n;
		if (!n)
			return;
	}
}

static void gather(struct tcp_conn *c, struct batch *b, bool noops)
{
	bool room = true;
	struct tcp_link *l;
	size_t first = 0;

	b->niov = 0;
	b->bytes = 0;
	b->ntx = 0;
	b->nnoop = 0;
	b->owed = (struct tcp_owed_cursor){0};
	if (c->rest_len)
		add_bytes(b, c->rest + c->rest_off, c->rest_len);
	for (l = c->txq.next; room && l != &c->txq; l = l->next) {
		room = add_tx(c, b, tcp_tx(l));
		if (b->ntx == 1)
			first = b->bytes;
		room = room && b->bytes < first + BATCH_BYTES;
	}
	if (noops && l == &c->txq && room)
		add_noops(c, b);
}

/* ---- accounting ------------------------------------------------------------------------------ */

static size_t commit_txs(struct tcp_conn *c, struct batch *b, size_t n, uint64_t *acks)
{
	struct tcp_peer *p = c->peer;

	for (unsigned i = 0; i < b->ntx && n; i++) {
		struct lnet_tx *tx = b->tx[i];
		struct tcp_txd *d = tcp_txd(tx);
		size_t left;

		if (d->state == TCP_TX_QUEUED) {
			d->state = TCP_TX_STARTED;
			d->cookie = b->frame[i].cookie[1];
			d->csum = b->frame[i].csum;
			*acks += d->cookie != 0;
		}
		left = tcp_tx_size(c, tx) - c->head_off;
		if (n < left) {
			c->head_off += n;
			return 0;
		}
		n -= left;
		tcp_tx_unqueue(p, tx);
		tcp_tx_end(p, tx, 0, LNET_HS_OK, true);
	}
	return n;
}

/* What is left of a NOOP goes before everything else. -ENOMEM. */
static int keep_noop(struct tcp_conn *c, const uint8_t *p, size_t len)
{
	c->rest = malloc(len);
	if (!c->rest)
		return -ENOMEM;
	memcpy(c->rest, p, len);
	c->rest_off = 0;
	c->rest_len = len;
	c->rest_cap = len;
	c->lane->copied += len;
	return 0;
}

static int commit(struct tcp_conn *c, struct batch *b, size_t n)
{
	struct lnet_lnd_ni *lni = tcp_lni(c->peer);
	struct tcp_peer *p = c->peer;
	uint64_t acks = 0;
	size_t k = n < c->rest_len ? n : c->rest_len;
	int rc = 0;

	c->tx_moved = lnet_loop_now(c->lane->loop);
	if (!c->tx_first)
		c->tx_first = c->tx_moved;
	c->rest_off += k;
	c->rest_len -= k;
	n -= k;
	if (c->rest && !c->rest_len) {
		c->lane->copied -= c->rest_cap;
		c->rest_cap = 0;
		free(c->rest);
		c->rest = NULL;
	}
	n = commit_txs(c, b, n, &acks);
	for (unsigned i = 0; i < b->nnoop && n; i++) {
		k = n < TCP_FRAME_SIZE ? n : TCP_FRAME_SIZE;
		if (k < TCP_FRAME_SIZE)
			rc = keep_noop(c, b->noop[i] + k, TCP_FRAME_SIZE - k);
		n -= k;
		acks += b->noop_acks[i];
		p->noop_due = false;
		tcp_stat(lni, TCP_S_NOOPS_SENT);
		if (!b->noop_acks[i])
			tcp_stat(lni, TCP_S_KEEPALIVES);
	}
	if (acks) {
		lnet_stat_add(&lni->stats[TCP_S_ZC_ACKS], acks);
		tcp_owed_consume(&p->owed, acks);
	}
	return rc;
}

static ssize_t write_batch(struct tcp_conn *c, struct batch *b)
{
	struct msghdr m = {.msg_iov = b->iov, .msg_iovlen = b->niov};
	ssize_t n;

	tcp_stat(tcp_lni(c->peer), TCP_S_SEND_CALLS);
	do
		n = sendmsg(c->watch.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static void write_failed(struct tcp_conn *c, int err)
{
	bool between = !c->head_off && !c->rest_len && c->rx.state == TCP_RX_HEADER && !c->have;

	if (between && (err == -EPIPE || err == -ECONNRESET))
		tcp_conn_fail(c, 0, LNET_HS_REMOTE_DROPPED, "closed by the peer");
	else if (err == -ETIMEDOUT)
		tcp_conn_fail(c, err, LNET_HS_REMOTE_TIMEOUT, "peer does not answer");
	else
		tcp_conn_fail(c, err, tcp_hs_of(err), strerrordesc_np(-err));
}

bool tcp_tx_flush(struct tcp_conn *c, bool noops)
{
	struct tcp_peer *p = c->peer;
	size_t total = 0;
	struct batch b;
	ssize_t n;

	if (c->doom) {
		tcp_conn_fail(c, c->doom, c->doom_hs, "given up");
		return false;
	}
	while (total < TURN_BYTES) {
		gather(c, &b, noops);
		if (!b.bytes)
			break;
		n = write_batch(c, &b);
		if (n == -EAGAIN || n == -EWOULDBLOCK)
			break;
		if (n >= 0 && commit(c, &b, (size_t)n) < 0)
			n = -ENOMEM;
		if (n < 0) {
			write_failed(c, (int)n);
			return false;
		}
		total += (size_t)n;
		if ((size_t)n < b.bytes)
			break;
	}
	if (c->ntx < TCP_MAX_TXQ / 2 && c->tx_bytes < TCP_MAX_TXQ_BYTES / 2)
		tcp_peer_ready(p);
	tcp_conn_watch(c);
	if (c->ntx || c->rest_len)
		tcp_peer_arm(p, c->tx_moved + tcp_tun_s(tcp_lni(p), TCP_T_TIMEOUT));
	return true;
}
