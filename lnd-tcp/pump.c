/* SPDX-License-Identifier: BSD-2-Clause */
/* Which connection a peer needs next and when; back-off; everything of a peer that has a time. */
#include <errno.h>
#include <stdlib.h>

#include "tcp.h"

#define NOOP_RETRY (10 * TCP_S)

/* Within a quarter of t, so that many peers do not call at the same moment. */
static uint64_t jitter(const struct tcp_peer *p, uint64_t t)
{
	uint64_t x = lnet_loop_now(p->lane->loop) ^ (uint64_t)(uintptr_t)p;

	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 32;
	return t - t / 4 + x % (t / 2 + 1);
}

uint32_t tcp_peer_wanted(const struct tcp_peer *p)
{
	const struct lnet_lnd_ni *l = tcp_lni(p);
	int64_t n = tcp_tun(l, TCP_T_CONNS_PER_PEER);

	return n ? (uint32_t)n : tcp_conns_for_speed((long)l->speed_mbps);
}

void tcp_peer_arm(struct tcp_peer *p, uint64_t when)
{
	if (p->closing || (p->timer.slot && p->timer.when <= when))
		return;
	lnet_timer_arm(p->lane->loop, &p->timer, when);
}

unsigned tcp_first_type(const struct tcp_peer *p)
{
	bool typed = tcp_tun(tcp_lni(p), TCP_T_TYPED_CONNS) || !lnet_nid_is4(&p->rail->nid);

	return typed ? TCP_CTYPE_CONTROL : TCP_CTYPE_ANY;
}

/* The own type of the connection to open now, or -1. */
static int next_type(const struct tcp_peer *p)
{
	const uint32_t *n = p->count;
	uint32_t wanted = tcp_peer_wanted(p);
	uint32_t type;

	if (!tcp_list_empty(&p->txq))
		return (int)tcp_first_type(p);
	if (!p->nconns || !p->dialled || p->settled || p->lone)
		return -1;
	if (n[TCP_CTYPE_ANY])
		return n[TCP_CTYPE_ANY] < wanted ? TCP_CTYPE_ANY : -1;
	type = tcp_next_ctype(n, wanted);
	return type == TCP_CTYPE_NONE ? -1 : (int)type;
}

int tcp_peer_pump(struct tcp_peer *p)
{
	struct tcp_ni *ni = p->lane->ni;
	int type, rc;

	if (p->closing || p->hs || tcp_ni_stopping(ni) || tcp_ni_down(ni) || tcp_peer_is_client(p))
		return 0;
	type = next_type(p);
	if (type < 0)
		return 0;
	if (p->next_try > lnet_loop_now(p->lane->loop)) {
		tcp_peer_arm(p, p->next_try);
		return 0;
	}
	rc = tcp_active_start(p, (unsigned)type);
	if (rc < 0)
		tcp_peer_attempt_failed(p, rc, tcp_hs_of(rc));
	return rc;
}

void tcp_peer_attempt_failed(struct tcp_peer *p, int err, enum lnet_hstatus hs)
{
	const struct lnet_lnd_ni *l = tcp_lni(p);
	uint64_t max = tcp_tun_ms(l, TCP_T_MAX_RECONNECTMS);
	uint64_t next = p->backoff ? p->backoff * 2 : tcp_tun_ms(l, TCP_T_MIN_RECONNECTMS);

	tcp_stat(tcp_lni(p), TCP_S_CONNECT_FAILED);
	p->backoff = next > max ? max : next;
	p->next_try = lnet_loop_now(p->lane->loop) + jitter(p, p->backoff);
	p->refusals = 0;
	p->fallbacks = 0;
	p->last_errno = err;
	if (!p->nconns) {
		p->version = 0;
		p->fail_err = err;
		tcp_peer_note(p, TCP_EV_FAILED);
	}
	tcp_peer_fail_waiting(p, err, hs, false);
	if (p->nconns && p->dialled)
		tcp_peer_arm(p, p->next_try);
}

void tcp_peer_refused(struct tcp_peer *p)
{
	uint64_t pause = tcp_tun_ms(tcp_lni(p), TCP_T_MIN_RECONNECTMS) << p->refusals;

	if (++p->refusals < TCP_MAX_REFUSALS) {
		p->waiting = !tcp_list_empty(&p->txq);
		p->next_try = lnet_loop_now(p->lane->loop) + jitter(p, pause);
		tcp_peer_arm(p, p->next_try);
		return;
	}
	p->refusals = 0;
	if (!p->nconns) {
		tcp_peer_attempt_failed(p, -ECONNREFUSED, LNET_HS_REMOTE_ERROR);
		return;
	}
	p->settled = true;
	tcp_peer_fail_waiting(p, -ECONNREFUSED, LNET_HS_REMOTE_ERROR, false);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When something must have moved on this connection; TCP_NEVER when nothing is under way. */
static uint64_t conn_due(const struct tcp_conn *c, uint64_t timeout, bool *rx)
{
	uint64_t tx = c->ntx || c->rest_len ? c->tx_moved + timeout : TCP_NEVER;
	uint64_t in = tcp_rx_due(c);

	*rx = in < tx;
	return sooner(in, tx);
}

/* False when the peer's connections are gone. */
static bool check_conns(struct tcp_peer *p, uint64_t now, uint64_t *due)
{
	uint64_t timeout = tcp_tun_s(tcp_lni(p), TCP_T_TIMEOUT);
	bool rx;

	for (struct tcp_link *l = p->conns.next; l != &p->conns; l = l->next) {
		struct tcp_conn *c = tcp_entry(l, struct tcp_conn, link);
		uint64_t d = conn_due(c, timeout, &rx);

		if (d > now) {
			*due = sooner(*due, d);
			continue;
		}
		tcp_stat(tcp_lni(p), rx ? TCP_S_RX_STALL : TCP_S_TX_STALL);
		tcp_conn_fail(c, -ETIMEDOUT, rx ? LNET_HS_REMOTE_ERROR : LNET_HS_NETWORK_TIMEOUT,
		        rx ? "half a message and no progress" : "no progress in sending");
		return false;
	}
	return true;
}

static uint64_t keepalive(struct tcp_peer *p, uint64_t now)
{
	uint64_t every = tcp_tun_s(tcp_lni(p), TCP_T_KEEPALIVE), when;

	if (!every || p->version < 3 || !p->count[TCP_CTYPE_BULK_IN])
		return TCP_NEVER;
	when = p->last_rx + every;
	if (p->last_noop && when < p->last_noop + NOOP_RETRY)
		when = p->last_noop + NOOP_RETRY;
	if (when > now)
		return when;
	p->last_noop = now;
	if (!p->owed.n) {
		p->noop_due = true;
		if (tcp_list_empty(&p->ack))
			tcp_list_add(&p->lane->ackers, &p->ack);
		tcp_lane_kick(p->lane);
	}
	return now + NOOP_RETRY;
}

void tcp_peer_timer(struct lnet_timer *t)
{
	struct tcp_peer *p = t->arg;
	struct tcp_lane *lane = p->lane;
	uint64_t now = lnet_loop_now(lane->loop), due;
	uint32_t waited = p->txq_n;

	due = sooner(tcp_tx_expire(p, now), tcp_fence_expire(p, now));
	if (p->hs && !p->nconns && waited && !p->txq_n) {
		/* The attempt has no more time than the last message that waited for it. */
		tcp_active_kill(p);
		tcp_peer_attempt_failed(p, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
	}
	if (check_conns(p, now, &due) && p->nconns)
		due = sooner(due, keepalive(p, now));
	tcp_peer_pump(p);
	if (p->next_try > now && !p->hs && (p->nconns || !tcp_list_empty(&p->txq)))
		due = sooner(due, p->next_try);
	if (due != TCP_NEVER)
		tcp_peer_arm(p, due);
	tcp_lane_deliver(lane);
}
