/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The passive side of a connection: acceptor request, HELLO, who is it, answer. Up to the HELLO a
 * handshake lives on the NI's home loop; the decision is made on the loop of the rail. One deadline
 * holds from accept to answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

#define DRAIN_MAX 4096

enum { REQUEST, HELLO, DECIDE, DRAIN };

struct passive {
	struct lnet_watch watch;
	struct lnet_timer timer;
	struct lnet_work work;
	struct tcp_link link; /* ni->pending */
	struct tcp_ni *ni;
	struct lnet_rail *rail;
	union tcp_addr from;
	struct tcp_hello hello;
	uint8_t state;
	size_t have;
	uint8_t in[TCP_HELLO_MAX];
};

/* The handshake is over; fd stays open if it became a connection. */
static void end(struct passive *h, bool keep_fd)
{
	struct tcp_ni *ni = h->ni;

	if (h->state != DECIDE) {
		lnet_watch_set(&h->watch, 0);
		lnet_timer_stop(ni->loop, &h->timer);
		tcp_list_del(&h->link);
	}
	if (!keep_fd)
		close(h->watch.fd);
	__atomic_fetch_sub(&ni->node->pending, 1, __ATOMIC_RELAXED);
	free(h);
	tcp_ni_idle(ni);
	tcp_ni_put(ni);
}

static void reject(struct passive *h, enum tcp_stat s, const char *why)
{
	struct lnet_nid from = tcp_addr_to_nid(&h->from, lnet_nid_net(&h->ni->lni->nid));
	char nid[LNET_NIDSTR_MAX];

	tcp_stat(h->ni->lni, s);
	tcp_log(h->ni->node, LNET_LOG_WARN, "tcp-refuse", "connection from %s port %u refused: %s",
	        lnet_nid_str(&from, nid, sizeof(nid)), tcp_addr_port(&h->from), why);
	end(h, false);
}

/* Answer and let the peer read it: bytes left unread would turn the close into a reset. */
static void reject_with(struct passive *h, enum tcp_stat s, const void *answer, size_t len)
{
	tcp_stat(h->ni->lni, s);
	if (send(h->watch.fd, answer, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len ||
	        shutdown(h->watch.fd, SHUT_WR) < 0) {
		end(h, false);
		return;
	}
	h->state = DRAIN;
	h->have = 0;
	lnet_timer_arm(h->ni->loop, &h->timer, lnet_loop_now(h->ni->loop) + TCP_S);
}

static void drain(struct passive *h)
{
	ssize_t n = recv(h->watch.fd, h->in, sizeof(h->in), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	h->have += n > 0 ? (size_t)n : 0;
	if (n <= 0 || h->have > DRAIN_MAX)
		end(h, false);
}

/* ---- the decision, on the rail's loop ---------------------------------------------------------
 */

static bool send_hello(const struct passive *h, const struct tcp_hello *ans)
{
	uint8_t buf[TCP_HELLO_V4_SIZE];
	int n = tcp_hello_encode(ans, buf);

	/* The socket is fresh: its buffer takes a HELLO. */
	return n > 0 && send(h->watch.fd, buf, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n;
}

/* Why not, or -1. */
static int objection(struct tcp_peer *p, const struct passive *h, uint32_t type)
{
	struct lnet_lnd_ni *lni = h->ni->lni;

	if (p->nconns && p->version != h->hello.version) {
		tcp_peer_drop(p, -EPROTO, LNET_HS_REMOTE_ERROR, false);
		return TCP_S_BAD_VERSION;
	}
	if (tcp_peer_restarted(p, h->hello.src_incarnation))
		return TCP_S_DUPLICATE_CONN;
	if (p->hs && lnet_nid_cmp(&h->hello.src_nid, &lni->nid) < 0)
		return TCP_S_RACE_REFUSED;
	if (p->count[type] >= tcp_peer_wanted(p))
		return TCP_S_DUPLICATE_CONN;
	return -1;
}

/* True if the socket became a connection. */
static bool take(struct tcp_peer *p, struct passive *h)
{
	struct lnet_lnd_ni *lni = h->ni->lni;
	struct tcp_hello ans = {
	        .version = h->hello.version,
	        .src_nid = lni->nid,
	        .dst_nid = h->hello.src_nid,
	        .src_pid = lni->node->pid,
	        .dst_pid = h->hello.dst_pid,
	        .src_incarnation = lni->node->incarnation,
	        .dst_incarnation = h->hello.dst_incarnation,
	        .ctype = TCP_CTYPE_NONE,
	};
	struct tcp_conn *c;
	uint32_t type = 0;
	int no;

	if (tcp_ctype_mirror(h->hello.ctype, &type) < 0)
		return false;
	no = objection(p, h, type);
	if (no >= 0) {
		tcp_stat(lni, (enum tcp_stat)no);
		send_hello(h, &ans);
		return false;
	}
	ans.ctype = type;
	if (!send_hello(h, &ans))
		return false;
	c = tcp_conn_new(p, h->watch.fd, type, h->hello.version, h->hello.be);
	if (!c)
		return false;
	tcp_stat(lni, TCP_S_ACCEPTS);
	tcp_peer_connected(p, c, h->hello.src_incarnation);
	return true;
}

static void decide(struct lnet_work *w)
{
	struct passive *h = w->arg;
	struct lnet_rail *r = h->rail;
	const struct lnet_lnd_up *up = h->ni->node->n->up;
	struct tcp_ni *ni = h->ni;
	struct tcp_lane *lane = tcp_lane_of(ni, r->loop);
	struct tcp_peer *p;
	bool taken = false;

	tcp_ni_get(ni);
	if (!tcp_ni_stopping(ni) && tcp_rail_open(r) == 0) {
		p = tcp_peer_of(r);
		taken = take(p, h);
	} else if (!tcp_ni_stopping(ni)) {
		tcp_stat(ni->lni, TCP_S_REFUSED_PEER);
	}
	up->rail_put(r);
	if (lane)
		tcp_lane_deliver(lane);
	end(h, taken);
	tcp_ni_put(ni);
}

/* ---- who is it ------------------------------------------------------------------------------- */

static void identify(struct passive *h)
{
	struct lnet_lnd_ni *lni = h->ni->lni;
	const struct lnet_lnd_up *up = lni->node->up;
	struct lnet_nid addr = tcp_addr_to_nid(&h->from, lnet_nid_net(&lni->nid));
	const struct lnet_nid *claimed = &h->hello.src_nid;
	uint32_t mirror;
	int rc;

	if (tcp_ctype_mirror(h->hello.ctype, &mirror) < 0) {
		reject(h, TCP_S_BAD_HELLO, "bad connection type");
		return;
	}
	if (h->hello.src_pid == LNET_PID_ANY) {
		reject(h, TCP_S_BAD_HELLO, "bad pid");
		return;
	}
	if (!lnet_nid_eq(claimed, &addr) && !up->nid_owns(lni, claimed, &addr)) {
		reject(h, TCP_S_REFUSED_NID, "claims a NID that does not fit its address");
		return;
	}
	rc = up->rail_get(lni, claimed, h->hello.src_pid, &h->rail);
	if (rc < 0) {
		reject(h, TCP_S_REFUSED_PEER,
		        rc == -EINVAL   ? "claims our own NID"
		        : rc == -ENOSPC ? "too many peers"
		                        : "peer record cannot be made");
		return;
	}
	lnet_watch_set(&h->watch, 0);
	lnet_timer_stop(h->ni->loop, &h->timer);
	tcp_list_del(&h->link);
	h->state = DECIDE;
	if (h->rail->loop == h->ni->loop)
		decide(&h->work);
	else
		lnet_loop_post(h->rail->loop, &h->work);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void unknown_version(struct passive *h)
{
	const struct lnet_lnd_ni *lni = h->ni->lni;
	struct tcp_hello ans = {
	        .version = tcp_hello_version(&lni->nid),
	        .src_nid = lni->nid,
	        .dst_nid = lni->nid,
	        .src_pid = lni->node->pid,
	        .src_incarnation = lni->node->incarnation,
	        .ctype = TCP_CTYPE_NONE,
	};
	uint8_t buf[TCP_HELLO_V4_SIZE];
	int n = tcp_hello_encode(&ans, buf);

	if (n > 0)
		reject_with(h, TCP_S_BAD_VERSION, buf, (size_t)n);
	else
		reject(h, TCP_S_BAD_VERSION, "unknown version");
}

/* 1: read `need` bytes in all; 0: the state changed or h is gone. */
static int parse_request(struct passive *h, size_t *need)
{
	uint8_t ans[TCP_ACCEPT_ANS_SIZE];
	struct lnet_nid nid;
	const char *why = "";

	switch (tcp_accept_parse(h->in, h->have, &nid, need, &why)) {
	case TCP_PARSE_MORE:
		return 1;
	case TCP_PARSE_OK:
		if (!lnet_nid_eq(&nid, &h->ni->lni->nid)) {
			reject(h, TCP_S_BAD_TARGET, "asks for a NID that is not ours");
			return 0;
		}
		h->state = HELLO;
		h->have = 0;
		return tcp_hello_parse(h->in, 0, &h->hello, need, &why) == TCP_PARSE_MORE;
	case TCP_PARSE_VERSION:
	case TCP_PARSE_QUERY:
		tcp_accept_encode_answer(ans);
		reject_with(h, TCP_S_BAD_VERSION, ans, sizeof(ans));
		return 0;
	default:
		reject(h, h->have > 8 ? TCP_S_BAD_TARGET : TCP_S_BAD_MAGIC, why);
		return 0;
	}
}

static int parse_hello(struct passive *h, size_t *need)
{
	const char *why = "";

	switch (tcp_hello_parse(h->in, h->have, &h->hello, need, &why)) {
	case TCP_PARSE_MORE:
		return 1;
	case TCP_PARSE_OK:
		identify(h);
		return 0;
	case TCP_PARSE_VERSION:
		unknown_version(h);
		return 0;
	default:
		reject(h, h->have > 8 ? TCP_S_BAD_HELLO : TCP_S_BAD_MAGIC, why);
		return 0;
	}
}

static void passive_event(struct lnet_watch *w, int events)
{
	struct passive *h = w->arg;
	size_t need = 0;
	ssize_t n;

	(void)events;
	if (h->state == DRAIN) {
		drain(h);
		return;
	}
	while ((h->state == REQUEST ? parse_request : parse_hello)(h, &need)) {
		n = recv(w->fd, h->in + h->have, need - h->have, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return;
		if (n <= 0) {
			reject(h, TCP_S_HANDSHAKE_EOF, "closed in the handshake");
			return;
		}
		h->have += (size_t)n;
	}
}

static void passive_late(struct lnet_timer *t)
{
	struct passive *h = t->arg;

	if (h->state == DRAIN)
		end(h, false);
	else
		reject(h, TCP_S_HANDSHAKE_TIMEOUT, "too slow");
}

/* ---- begin, end ------------------------------------------------------------------------------ */

static bool too_many(struct tcp_ni *ni, const union tcp_addr *from)
{
	unsigned n = 0;

	for (struct tcp_link *l = ni->pending.next; l != &ni->pending; l = l->next)
		n += tcp_addr_same_host(&tcp_entry(l, struct passive, link)->from, from);
	return n >= TCP_MAX_PENDING_ADDR;
}

void tcp_passive_start(struct tcp_ni *ni, int fd, const union tcp_addr *from)
{
	struct passive *h;

	if (__atomic_add_fetch(&ni->node->pending, 1, __ATOMIC_RELAXED) > TCP_MAX_PENDING ||
	        too_many(ni, from)) {
		tcp_stat(ni->lni, TCP_S_REFUSED_LIMIT);
		goto out_close;
	}
	h = calloc(1, sizeof(*h));
	if (!h) {
		tcp_stat(ni->lni, TCP_S_REFUSED_LIMIT);
		goto out_close;
	}
	h->ni = ni;
	h->from = *from;
	tcp_list_add(&ni->pending, &h->link);
	tcp_ni_get(ni);
	__atomic_fetch_add(&ni->busy, 1, __ATOMIC_RELAXED);
	tcp_sock_tune(ni, fd, from->sa.sa_family);
	lnet_work_init(&h->work, decide, h);
	lnet_watch_init(&h->watch, ni->loop, fd, passive_event, h);
	lnet_timer_init(&h->timer, passive_late, h);
	lnet_watch_set(&h->watch, LNET_WATCH_READ);
	lnet_timer_arm(ni->loop, &h->timer,
	        lnet_loop_now(ni->loop) + tcp_tun_s(ni->lni, TCP_T_ACCEPT_TIMEOUT));
	return;
out_close:
	__atomic_fetch_sub(&ni->node->pending, 1, __ATOMIC_RELAXED);
	close(fd);
}

void tcp_passive_kill_all(struct tcp_ni *ni)
{
	while (!tcp_list_empty(&ni->pending))
		end(tcp_entry(ni->pending.next, struct passive, link), false);
}
