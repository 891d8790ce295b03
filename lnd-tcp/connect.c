/* SPDX-License-Identifier: BSD-2-Clause */
/* The active side of a connection: call, acceptor request and HELLO in one write, the answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

#define MAX_FALLBACKS 3

enum { CONNECTING, SENDING, READING };

struct tcp_hs {
	struct lnet_watch watch;
	struct lnet_timer timer;
	struct tcp_peer *peer;
	struct tcp_hello sent;
	uint8_t state;
	bool lone;
	size_t have, out_len, out_off;
	uint8_t out[TCP_ACCEPT_MAX + TCP_HELLO_V4_SIZE];
	uint8_t in[TCP_HELLO_MAX];
};

static const char *const state_names[] = {"connecting", "sending hello", "waiting for hello"};

static void hs_free(struct tcp_hs *hs, bool keep_fd)
{
	struct lnet_loop *loop = hs->peer->lane->loop;

	lnet_watch_set(&hs->watch, 0);
	lnet_timer_stop(loop, &hs->timer);
	if (!keep_fd)
		close(hs->watch.fd);
	hs->peer->hs = NULL;
	free(hs);
}

static void failed(struct tcp_hs *hs, int err, const char *why)
{
	struct tcp_peer *p = hs->peer;
	char nid[LNET_NIDSTR_MAX];

	tcp_log(p->lane->ni->node, LNET_LOG_WARN, "tcp-connect", "%s: %s: %s",
	        lnet_nid_str(&p->rail->nid, nid, sizeof(nid)), state_names[hs->state], why);
	hs_free(hs, false);
	tcp_peer_attempt_failed(p, err, tcp_hs_of(err));
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void refused(struct tcp_hs *hs)
{
	struct tcp_peer *p = hs->peer;

	tcp_stat(tcp_lni(p), p->nconns ? TCP_S_PEER_REFUSED : TCP_S_RACE_LOST);
	hs_free(hs, false);
	tcp_peer_refused(p);
}

static void other_version(struct tcp_hs *hs, const struct tcp_hello *got)
{
	struct tcp_peer *p = hs->peer;
	unsigned type = hs->sent.ctype;
	int rc;

	if (++p->fallbacks > MAX_FALLBACKS || (hs->lone && got->version > 2)) {
		tcp_stat(tcp_lni(p), TCP_S_BAD_VERSION);
		failed(hs, -EPROTO, "no common protocol version");
		return;
	}
	hs_free(hs, false);
	p->version = (uint8_t)got->version;
	rc = tcp_active_start(p, type);
	if (rc < 0)
		tcp_peer_attempt_failed(p, rc, tcp_hs_of(rc));
}

static void connected(struct tcp_hs *hs, const struct tcp_hello *got)
{
	struct tcp_peer *p = hs->peer;
	unsigned type = hs->sent.ctype;
	bool lone = hs->lone;
	int fd = hs->watch.fd;
	struct tcp_conn *c;

	if (p->nconns && got->version != p->version) {
		hs_free(hs, false);
		tcp_peer_drop(p, -EPROTO, LNET_HS_REMOTE_ERROR, false);
		return;
	}
	if (tcp_peer_restarted(p, got->src_incarnation)) {
		hs_free(hs, false);
		return;
	}
	hs_free(hs, true);
	c = tcp_conn_new(p, fd, type, got->version, got->be);
	if (!c) {
		close(fd);
		tcp_peer_attempt_failed(p, -ENOMEM, LNET_HS_LOCAL_ERROR);
		return;
	}
	tcp_stat(tcp_lni(p), TCP_S_CONNECTS);
	p->dialled = true;
	p->lone = lone;
	tcp_peer_connected(p, c, got->src_incarnation);
}

static void answer(struct tcp_hs *hs, const struct tcp_hello *got)
{
	uint32_t pid = hs->peer->rail->pid;
	const char *why = "";

	switch (tcp_hello_answer(&hs->sent, got, pid == LNET_PID_ANY ? got->src_pid : pid, &why)) {
	case TCP_ANSWER_OK:
		connected(hs, got);
		break;
	case TCP_ANSWER_RETRY:
		refused(hs);
		break;
	case TCP_ANSWER_VERSION:
		other_version(hs, got);
		break;
	default:
		tcp_stat(tcp_lni(hs->peer), TCP_S_BAD_HELLO);
		failed(hs, -EPROTO, why);
	}
}

static void read_answer(struct tcp_hs *hs)
{
	struct lnet_lnd_ni *lni = tcp_lni(hs->peer);
	const char *why = "";
	struct tcp_hello got;
	size_t need = 0;
	ssize_t n;

	for (;;) {
		enum tcp_parse rc = tcp_hello_parse(hs->in, hs->have, &got, &need, &why);

		if (rc == TCP_PARSE_OK) {
			answer(hs, &got);
			return;
		}
		if (rc != TCP_PARSE_MORE) {
			tcp_stat(lni, rc == TCP_PARSE_VERSION ? TCP_S_BAD_VERSION
			              : hs->have <= 8         ? TCP_S_BAD_MAGIC
			                                      : TCP_S_BAD_HELLO);
			failed(hs, -EPROTO, why);
			return;
		}
		n = recv(hs->watch.fd, hs->in + hs->have, need - hs->have, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return;
		if (n <= 0) {
			tcp_stat(lni, TCP_S_HANDSHAKE_EOF);
			failed(hs, n < 0 ? -errno : -ECONNRESET,
			        "closed by the peer; does it accept our address, is its NID "
			        "right?");
			return;
		}
		hs->have += (size_t)n;
	}
}

/* ---- the call -------------------------------------------------------------------------------- */

static void write_hello(struct tcp_hs *hs)
{
	ssize_t n = send(hs->watch.fd, hs->out + hs->out_off, hs->out_len - hs->out_off,
	        MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
		failed(hs, -errno, strerrordesc_np(errno));
		return;
	}
	hs->out_off += n > 0 ? (size_t)n : 0;
	if (hs->out_off < hs->out_len)
		return;
	hs->state = READING;
	lnet_watch_set(&hs->watch, LNET_WATCH_READ);
}

static void hs_event(struct lnet_watch *w, int events)
{
	struct tcp_hs *hs = w->arg;
	struct tcp_lane *lane = hs->peer->lane;
	int err;

	(void)events;
	err = hs->state == CONNECTING ? tcp_sock_error(w->fd) : 0;
	if (err < 0) {
		failed(hs, err, strerrordesc_np(-err));
	} else if (hs->state == READING) {
		read_answer(hs);
	} else {
		hs->state = SENDING;
		write_hello(hs);
	}
	tcp_lane_deliver(lane);
}

static void hs_late(struct lnet_timer *t)
{
	struct tcp_hs *hs = t->arg;
	struct tcp_lane *lane = hs->peer->lane;

	tcp_stat(tcp_lni(hs->peer), TCP_S_HANDSHAKE_TIMEOUT);
	failed(hs, -ETIMEDOUT, "no answer");
	tcp_lane_deliver(lane);
}

/* What will be written: acceptor request and HELLO. */
static int prepare(struct tcp_hs *hs, unsigned type, uint32_t version)
{
	const struct tcp_peer *p = hs->peer;
	const struct lnet_lnd_ni *lni = tcp_lni(p);
	size_t n = tcp_accept_encode(&p->rail->nid, false, hs->out);
	int rc;

	hs->sent = (struct tcp_hello){
	        .version = version,
	        .src_nid = lni->nid,
	        .dst_nid = p->rail->nid,
	        .src_pid = lni->node->pid,
	        .src_incarnation = lni->node->incarnation,
	        .ctype = type,
	};
	rc = tcp_hello_encode(&hs->sent, hs->out + n);
	if (rc < 0)
		return rc;
	hs->out_len = n + (size_t)rc;
	return 0;
}

int tcp_active_start(struct tcp_peer *p, unsigned type)
{
	struct tcp_ni *ni = p->lane->ni;
	unsigned port = tcp_addr_port(&ni->addr);
	struct tcp_hs *hs = calloc(1, sizeof(*hs));
	uint32_t version = p->version;
	bool privileged;
	union tcp_addr to;
	int fd, rc;

	if (!hs)
		return -ENOMEM;
	tcp_addr_from_nid(&to, &p->rail->nid, port);
	rc = to.sa.sa_family == ni->addr.sa.sa_family ? 0 : -EAFNOSUPPORT;
	if (rc < 0)
		goto out_free;
	fd = rc = tcp_sock_dial(ni, &to, port <= TCP_PRIV_MAX, &privileged);
	if (rc < 0)
		goto out_free;
	hs->peer = p;
	/* A kernel takes each unprivileged socket for another peer: one that carries everything. */
	hs->lone = port <= TCP_PRIV_MAX && !privileged;
	if (hs->lone)
		type = TCP_CTYPE_ANY;
	/* An untyped connection cannot carry large NIDs. */
	rc = hs->lone && to.sa.sa_family == AF_INET6 ? -EACCES : 0;
	if (rc < 0)
		goto out_close;
	if (!version || (hs->lone && version > 2))
		version = type == TCP_CTYPE_ANY ? 2 : tcp_hello_version(&p->rail->nid);
	rc = prepare(hs, type, version);
	if (rc < 0)
		goto out_close;
	lnet_watch_init(&hs->watch, p->lane->loop, fd, hs_event, hs);
	lnet_timer_init(&hs->timer, hs_late, hs);
	lnet_watch_set(&hs->watch, LNET_WATCH_WRITE);
	lnet_timer_arm(p->lane->loop, &hs->timer,
	        lnet_loop_now(p->lane->loop) + tcp_tun_s(tcp_lni(p), TCP_T_TIMEOUT));
	p->hs = hs;
	return 0;
out_close:
	close(fd);
out_free:
	free(hs);
	return rc;
}

void tcp_active_kill(struct tcp_peer *p)
{
	if (p->hs)
		hs_free(p->hs, false);
}

const char *tcp_active_what(const struct tcp_peer *p)
{
	return p->hs ? state_names[p->hs->state] : NULL;
}
