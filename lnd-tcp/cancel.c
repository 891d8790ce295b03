/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that end before their time: cancelled, or their deadline passed in a queue. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp.h"

/* The unwritten bytes of a started message, from `skip` on. */
static void copy_tail(
        uint8_t *to, const uint8_t *head, size_t head_len, const struct lnet_tx *tx, size_t skip)
{
	size_t off = tx->offset, left = tx->len;

	if (skip < head_len) {
		memcpy(to, head + skip, head_len - skip);
		to += head_len - skip;
	} else {
		off += skip - head_len;
		left -= skip - head_len;
	}
	for (uint32_t i = 0; left && i < tx->niov; i++) {
		size_t n = tx->iov[i].iov_len;

		if (off >= n) {
			off -= n;
			continue;
		}
		n = n - off < left ? n - off : left;
		memcpy(to, (char *)tx->iov[i].iov_base + off, n);
		to += n;
		left -= n;
		off = 0;
	}
}

static int copy_rest(struct tcp_conn *c, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);
	struct tcp_frame f = {.type = TCP_FRAME_LNET, .csum = d->csum, .cookie = {0, d->cookie}};
	uint8_t head[TCP_MSG_HEAD_MAX];
	size_t size = tcp_tx_size(c, tx) - c->head_off;
	int n = tcp_msg_encode(&f, &tx->hdr, c->version, false, head);

	/* A started message is the first, and what goes before the queue has been written. */
	if (n < 0 || c->rest_len || c->lane->copied + size > TCP_MAX_COPIES)
		return -ENOMEM;
	c->rest = malloc(size);
	if (!c->rest)
		return -ENOMEM;
	copy_tail(c->rest, head, (size_t)n, tx, c->head_off);
	c->rest_off = 0;
	c->rest_len = size;
	c->rest_cap = size;
	c->lane->copied += size;
	tcp_stat(tcp_lni(c->peer), TCP_S_TX_COPIED);
	return 0;
}

/* Take a message that is queued or started out of the stream; a connection that cannot do without
 * its memory is closed. */
void tcp_tx_end_early(struct tcp_peer *p, struct lnet_tx *tx, int status, enum lnet_hstatus hs)
{
	struct tcp_conn *c = tcp_txd(tx)->conn;
	bool started = tcp_txd(tx)->state == TCP_TX_STARTED;

	if (started && copy_rest(c, tx) < 0)
		tcp_conn_doom(c, -ENOBUFS, LNET_HS_LOCAL_ERROR);
	tcp_tx_unqueue(p, tx);
	tcp_tx_end(p, tx, status, hs, started);
	tcp_peer_ready(p);
}

int tcp_cancel(struct lnet_rail *r, struct lnet_tx *tx)
{
	struct tcp_txd *d = tcp_txd(tx);
	struct tcp_peer *p = tcp_peer_of(r);

	if (d->state == TCP_TX_DONE)
		return 0;
	if (!p || d->state == TCP_TX_NONE)
		return -ENOENT;
	if (d->state == TCP_TX_QUEUED) {
		tcp_tx_unqueue(p, tx);
		tcp_peer_op_end(p, d->stamp);
		tcp_peer_ready(p);
		return 1;
	}
	tcp_tx_end_early(p, tx, -ECANCELED, LNET_HS_LOCAL_ABORTED);
	tcp_lane_kick(p->lane);
	return 0;
}

static uint64_t expire_list(struct tcp_peer *p, struct tcp_link *list, uint64_t now)
{
	uint64_t due = TCP_NEVER;
	struct tcp_link *l, *t;

	tcp_list_each(l, t, list)
	{
		struct lnet_tx *tx = tcp_tx(l);

		if (tx->deadline > now) {
			due = tx->deadline < due ? tx->deadline : due;
			continue;
		}
		tcp_stat(tcp_lni(p), TCP_S_TX_EXPIRED);
		tcp_tx_end_early(p, tx, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
	}
	return due;
}

/* End what is overdue; when the next one is. */
uint64_t tcp_tx_expire(struct tcp_peer *p, uint64_t now)
{
	uint64_t due = expire_list(p, &p->txq, now), d;

	for (struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next) {
		d = expire_list(p, &tcp_entry(l, struct tcp_conn, link)->txq, now);
		due = d < due ? d : due;
	}
	return due;
}
