/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receiving. Small messages are read many at a time into the loop's buffer; the payload of a large
 * one is read straight to its place, with a short tail into the buffer for what follows. A read
 * that brings less than was asked for is the last one of the turn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp.h"

#define READ_SMALL  (64u << 10)  /* into the loop's buffer */
#define READ_HEAD   4096u        /* the same, behind a large payload: heads alone are likely */
#define READ_DIRECT (256u << 10) /* to its place, one call */
#define READ_TURN   (1u << 20)   /* a connection, a turn */
#define BIG         (16u << 10)
#define READ_IOV    64

static inline struct tcp_conn *conn_of(struct lnet_rx *rx)
{
	return tcp_entry(tcp_entry(rx, struct tcp_rx, rx), struct tcp_conn, rx);
}

/* ---- payload --------------------------------------------------------------------------------- */

/* n bytes reached the destination. */
static void advance(struct tcp_rx *rx, size_t n)
{
	rx->left -= (uint32_t)n;
	rx->want -= (uint32_t)n;
	rx->off += n;
	while (rx->niov && rx->off >= rx->iov->iov_len) {
		rx->off -= rx->iov->iov_len;
		rx->iov++;
		rx->niov--;
	}
	if (!rx->niov)
		rx->want = 0; /* a vector shorter than it said: the rest goes nowhere */
}

static void skip(struct tcp_conn *c, size_t n)
{
	c->in += n;
	c->in_len -= n;
}

/* Use up what was read already. */
static void take(struct tcp_conn *c)
{
	struct tcp_rx *rx = &c->rx;
	size_t n;

	while (rx->want && c->in_len) {
		n = rx->iov->iov_len - rx->off;
		n = n < rx->want ? n : rx->want;
		n = n < c->in_len ? n : c->in_len;
		memcpy((char *)rx->iov->iov_base + rx->off, c->in, n);
		advance(rx, n);
		skip(c, n);
	}
	if (rx->want)
		return;
	n = rx->left < c->in_len ? rx->left : c->in_len;
	rx->left -= (uint32_t)n;
	skip(c, n);
}

static bool checksum_ok(const struct tcp_rx *rx)
{
	size_t off = rx->off0, left = rx->mlen;
	uint32_t crc = rx->crc;

	/* What was cut short or thrown away cannot be checked. */
	if (!rx->csum || rx->aside || rx->mlen != rx->len)
		return true;
	for (const struct iovec *v = rx->iov0; left; v++) {
		size_t n;

		if (off >= v->iov_len) {
			off -= v->iov_len;
			continue;
		}
		n = v->iov_len - off < left ? v->iov_len - off : left;
		crc = tcp_csum(crc, (char *)v->iov_base + off, n);
		left -= n;
		off = 0;
	}
	return crc == rx->csum;
}

/* The payload is in: its status. */
static int finish(struct tcp_conn *c)
{
	struct tcp_rx *rx = &c->rx;

	rx->state = TCP_RX_HEADER;
	if (!checksum_ok(rx)) {
		tcp_stat(tcp_lni(c->peer), TCP_S_BAD_CHECKSUM);
		tcp_conn_doom(c, -EIO, LNET_HS_REMOTE_ERROR);
		return -EIO;
	}
	if (rx->cookie && tcp_owe(c->peer, rx->cookie) < 0)
		tcp_conn_doom(c, -ENOBUFS, LNET_HS_REMOTE_ERROR);
	return rx->aside ? -ECANCELED : 0;
}

/* ---- entries --------------------------------------------------------------------------------- */

static int accept_payload(struct tcp_conn *c)
{
	struct tcp_rx *rx = &c->rx;
	bool parked = rx->parked;
	int rc;

	rx->state = TCP_RX_PAYLOAD;
	rx->parked = false;
	take(c);
	/* A wrong checksum is told by rx_done(): the destination has been written. */
	if (rx->left || !checksum_ok(rx)) {
		rx->pending = true;
		tcp_peer_op_begin(c->peer, &rx->stamp);
		rc = 0;
	} else {
		finish(c);
		rc = 1;
	}
	if (parked) {
		tcp_list_add(&c->lane->resume, &c->rlink);
		tcp_lane_kick(c->lane);
	}
	return rc;
}

int tcp_recv(struct lnet_rx *r, const struct lnet_dst *dst)
{
	struct tcp_conn *c = conn_of(r);
	struct tcp_rx *rx = &c->rx;

	if (!c->peer) {
		/* The connection died while the core took its time. */
		tcp_list_add(&c->lane->rxdone, &c->rlink);
		tcp_lane_kick(c->lane);
		return 0;
	}
	rx->iov0 = rx->iov = dst->iov;
	rx->off0 = rx->off = dst->offset;
	rx->niov = dst->niov;
	rx->mlen = dst->mlen < rx->len ? dst->mlen : rx->len;
	rx->want = rx->mlen;
	advance(rx, 0);
	return accept_payload(c);
}

int tcp_discard(struct lnet_rx *r)
{
	struct tcp_conn *c = conn_of(r);
	struct tcp_rx *rx = &c->rx;

	if (!c->peer) {
		tcp_conn_free(c);
		return 1;
	}
	rx->niov = 0;
	rx->mlen = 0;
	rx->want = 0;
	return accept_payload(c);
}

int tcp_redirect(struct lnet_rx *r)
{
	struct tcp_rx *rx = &conn_of(r)->rx;

	rx->aside = true;
	rx->niov = 0;
	rx->want = 0;
	return 1;
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool bad(struct tcp_conn *c, enum tcp_stat s, const char *why)
{
	tcp_stat(tcp_lni(c->peer), s);
	tcp_conn_fail(c, -EPROTO, LNET_HS_REMOTE_ERROR, why);
	return false;
}

static uint32_t head_csum(const struct tcp_conn *c, const uint8_t *head, size_t len)
{
	static const uint8_t zero[4];
	uint32_t crc;

	if (c->version != 2)
		return TCP_CSUM_INIT; /* later versions cover the payload alone */
	crc = tcp_csum(TCP_CSUM_INIT, head, 4);
	crc = tcp_csum(crc, zero, 4);
	return tcp_csum(crc, head + 8, len - 8);
}

static bool noop(struct tcp_conn *c, const struct tcp_frame *f, const uint8_t *head)
{
	tcp_stat(tcp_lni(c->peer), TCP_S_NOOPS_RECEIVED);
	if (f->csum && (c->version != 2 || head_csum(c, head, TCP_FRAME_SIZE) != f->csum))
		return bad(c, TCP_S_BAD_CHECKSUM, "wrong checksum of a noop");
	return true;
}

/* Offer a message to the core. False: the connection is gone. */
static bool offer(struct tcp_conn *c, const struct tcp_frame *f, struct lnet_hdr *hdr, uint32_t crc)
{
	struct lnet_rail *r = c->peer->rail;
	struct tcp_rx *rx = &c->rx;

	if (f->cookie[0] == TCP_KEEPALIVE)
		return bad(c, TCP_S_BAD_COOKIE, "zero-copy cookie out of range");
	if (f->cookie[0])
		tcp_stat(tcp_lni(c->peer), TCP_S_ZC_REQUESTS);
	if (tcp_peer_is_client(c->peer)) {
		/* It speaks for itself alone. */
		hdr->src_nid = r->nid;
		hdr->src_pid = r->pid;
	}
	*rx = (struct tcp_rx){
	        .rx = {.rail = r},
	        .left = hdr->payload_length,
	        .len = hdr->payload_length,
	        .csum = f->csum,
	        .crc = crc,
	        .cookie = f->cookie[0],
	        .state = TCP_RX_DECIDE,
	};
	c->big = hdr->payload_length >= BIG;
	if (tcp_up(c->lane)->parse(r, hdr, &rx->rx) < 0) {
		rx->state = TCP_RX_HEADER;
		return bad(c, TCP_S_BAD_HEADER, "message refused");
	}
	if (c->doom) {
		tcp_conn_fail(c, c->doom, c->doom_hs, "given up");
		return false;
	}
	return true;
}

static bool message(struct tcp_conn *c, const struct tcp_frame *f, struct lnet_hdr *hdr,
        const uint8_t *head, size_t len)
{
	struct tcp_zc_ack ack;
	enum tcp_zc zc = tcp_zc_parse(f, c->version, &ack);

	/* We ask for no ZC-ACK, so none can come. */
	if (zc != TCP_ZC_NONE && zc != TCP_ZC_KEEPALIVE)
		return bad(c, TCP_S_BAD_COOKIE, "acknowledgement that nobody waits for");
	if (f->type == TCP_FRAME_NOOP)
		return noop(c, f, head);
	return offer(c, f, hdr, f->csum ? head_csum(c, head, len) : 0);
}

/* Parse at the head of what was read, or at what was kept of an earlier read. */
static bool header(struct tcp_conn *c)
{
	const char *why = "bad frame";
	struct tcp_frame f;
	struct lnet_hdr hdr;
	size_t need, n;
	enum tcp_parse rc;

	if (!c->have) {
		const uint8_t *head = c->in;

		rc = tcp_msg_parse(head, c->in_len, c->version, c->swap, &f, &hdr, &need, &why);
		if (rc == TCP_PARSE_OK) {
			skip(c, need);
			return message(c, &f, &hdr, head, need);
		}
	} else {
		rc = tcp_msg_parse(c->head, c->have, c->version, c->swap, &f, &hdr, &need, &why);
		if (rc == TCP_PARSE_OK) {
			c->have = 0;
			return message(c, &f, &hdr, c->head, need);
		}
	}
	if (rc != TCP_PARSE_MORE)
		return bad(c, f.type == TCP_FRAME_LNET ? TCP_S_BAD_HEADER : TCP_S_BAD_TYPE, why);
	n = need - c->have < c->in_len ? need - c->have : c->in_len;
	memcpy(c->head + c->have, c->in, n);
	c->have += (uint32_t)n;
	skip(c, n);
	return true;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static bool payload_done(struct tcp_conn *c)
{
	struct tcp_rx *rx = &c->rx;
	int status = finish(c);

	rx->pending = false;
	tcp_peer_op_end(c->peer, rx->stamp);
	tcp_up(c->lane)->rx_done(
	        &rx->rx, status, status == -EIO ? LNET_HS_REMOTE_ERROR : LNET_HS_OK);
	if (c->doom) {
		tcp_conn_fail(c, c->doom, c->doom_hs, "bad payload, or given up");
		return false;
	}
	return true;
}

/* The core wants time: keep what was read, read no more. */
static bool park(struct tcp_conn *c)
{
	c->rx.parked = true;
	if (!c->in_len || c->save)
		return true;
	c->save = malloc(c->in_len);
	if (!c->save) {
		tcp_conn_fail(c, -ENOMEM, LNET_HS_LOCAL_ERROR, "no memory");
		return false;
	}
	memcpy(c->save, c->in, c->in_len);
	c->in = c->save;
	return true;
}

/* False: the connection is gone. */
static bool feed(struct tcp_conn *c)
{
	for (;;) {
		bool alive = true;

		switch (c->rx.state) {
		case TCP_RX_HEADER:
			if (!c->in_len)
				return true;
			alive = header(c);
			break;
		case TCP_RX_PAYLOAD:
			take(c);
			if (c->rx.left)
				return true;
			alive = payload_done(c);
			break;
		default:
			return park(c);
		}
		if (!alive)
			return false;
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

static ssize_t read_small(struct tcp_conn *c, size_t *asked)
{
	size_t size;
	uint8_t *buf = lnet_loop_rxbuf(c->lane->loop, &size);
	size_t want = c->big && c->rx.state == TCP_RX_HEADER ? READ_HEAD : READ_SMALL;
	ssize_t n;

	*asked = want < size ? want : size;
	n = recv(c->watch.fd, buf, *asked, MSG_DONTWAIT);
	c->in = buf;
	c->in_len = n > 0 ? (size_t)n : 0;
	return n;
}

static ssize_t read_direct(struct tcp_conn *c, size_t *asked)
{
	struct iovec iov[READ_IOV + 1];
	struct msghdr m = {.msg_iov = iov};
	struct tcp_rx *rx = &c->rx;
	size_t max = rx->want < READ_DIRECT ? rx->want : READ_DIRECT, direct = 0, size;
	size_t off = rx->off;
	uint8_t *buf = lnet_loop_rxbuf(c->lane->loop, &size);
	ssize_t n;

	for (uint32_t i = 0; i < rx->niov && direct < max && m.msg_iovlen < READ_IOV;
	        i++, off = 0) {
		size_t k = rx->iov[i].iov_len - off;

		k = k < max - direct ? k : max - direct;
		iov[m.msg_iovlen].iov_base = (char *)rx->iov[i].iov_base + off;
		iov[m.msg_iovlen].iov_len = k;
		m.msg_iovlen += k > 0;
		direct += k;
	}
	*asked = direct;
	if (direct == rx->want) {
		size_t tail = rx->left - rx->want + READ_HEAD;

		tail = tail < size ? tail : size;
		iov[m.msg_iovlen].iov_base = buf;
		iov[m.msg_iovlen++].iov_len = tail;
		*asked += tail;
	}
	n = recvmsg(c->watch.fd, &m, MSG_DONTWAIT);
	c->in = buf;
	c->in_len = n > 0 && (size_t)n > direct ? (size_t)n - direct : 0;
	if (n > 0)
		advance(rx, (size_t)n < direct ? (size_t)n : direct);
	return n;
}

static void read_failed(struct tcp_conn *c, int err)
{
	bool between = c->rx.state == TCP_RX_HEADER && !c->have;

	if (!err && between) {
		tcp_conn_fail(c, 0, LNET_HS_REMOTE_DROPPED, "closed by the peer");
	} else if (!err) {
		tcp_stat(tcp_lni(c->peer), TCP_S_EOF_IN_MESSAGE);
		tcp_conn_fail(c, -ECONNRESET, LNET_HS_REMOTE_ERROR, "closed inside a message");
	} else {
		tcp_conn_fail(c, err, err == -ETIMEDOUT ? LNET_HS_REMOTE_TIMEOUT : tcp_hs_of(err),
		        strerrordesc_np(-err));
	}
}

/* The number of reads that brought something. */
static unsigned read_some(struct tcp_conn *c)
{
	size_t total = 0, asked;
	struct tcp_lane *lane = c->lane;
	unsigned reads = 0;
	ssize_t n;

	while (total < READ_TURN && c->rx.state != TCP_RX_DECIDE && !c->save) {
		bool direct = c->rx.state == TCP_RX_PAYLOAD && c->rx.left > READ_HEAD;

		tcp_stat(tcp_lni(c->peer), TCP_S_RECV_CALLS);
		n = direct ? read_direct(c, &asked) : read_small(c, &asked);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n <= 0) {
			read_failed(c, n < 0 ? -errno : 0);
			return reads + 1;
		}
		reads++;
		total += (size_t)n;
		c->rx_moved = c->peer->last_rx = lnet_loop_now(lane->loop);
		if (!feed(c))
			return reads;
		if ((size_t)n < asked)
			break;
	}
	if (c->rx.state == TCP_RX_DECIDE)
		tcp_conn_watch(c);
	if (tcp_rx_due(c) != TCP_NEVER)
		tcp_peer_arm(c->peer, tcp_rx_due(c));
	if (reads)
		tcp_lane_recent(lane, c);
	return reads;
}

void tcp_rx_ready(struct tcp_conn *c)
{
	if (c->doom)
		tcp_conn_fail(c, c->doom, c->doom_hs, "given up");
	else
		read_some(c);
}

unsigned tcp_rx_poll(struct tcp_conn *c)
{
	return c->doom ? 0 : read_some(c);
}

/* A parked message was taken: go on with what was kept, then with the socket. */
void tcp_rx_resume(struct tcp_conn *c)
{
	if (c->doom) {
		tcp_conn_fail(c, c->doom, c->doom_hs, "given up");
		return;
	}
	if (!feed(c))
		return;
	if (!c->in_len) {
		free(c->save);
		c->save = NULL;
	}
	tcp_conn_watch(c);
}

/* When half a message must have moved on; TCP_NEVER between messages. */
uint64_t tcp_rx_due(const struct tcp_conn *c)
{
	if (c->rx.state == TCP_RX_DECIDE || (c->rx.state == TCP_RX_HEADER && !c->have))
		return TCP_NEVER;
	return c->rx_moved + tcp_tun_s(tcp_lni(c->peer), TCP_T_TIMEOUT);
}
