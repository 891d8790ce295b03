/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver's side of a rail: its life, what it loses when connections go, its incarnation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tcp.h"

enum lnet_hstatus tcp_hs_of(int err)
{
	switch (-err) {
	case 0:
		return LNET_HS_OK;
	case ETIMEDOUT:
		return LNET_HS_NETWORK_TIMEOUT;
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTUNREACH:
	case EHOSTDOWN:
	case ECONNREFUSED:
	case ECONNRESET:
	case ENOTCONN:
	case EPIPE:
		return LNET_HS_REMOTE_DROPPED;
	case EPROTO:
	case EALREADY:
	case ESTALE:
	case EIO:
		return LNET_HS_REMOTE_ERROR;
	case ESHUTDOWN:
	case ECANCELED:
		return LNET_HS_LOCAL_ABORTED;
	default:
		return LNET_HS_LOCAL_ERROR;
	}
}

bool tcp_peer_is_client(const struct tcp_peer *p)
{
	return p->rail->pid != LNET_PID_ANY && (p->rail->pid & LNET_PID_USERFLAG);
}

const char tcp_rail_gone = 0;

int tcp_rail_open(struct lnet_rail *r)
{
	struct tcp_ni *ni = r->ni->drv;
	struct tcp_lane *lane;
	struct tcp_peer *p;

	if (tcp_peer_of(r))
		return 0;
	if (r->drv || !ni || tcp_ni_stopping(ni))
		return -ESHUTDOWN;
	lane = tcp_lane_of(ni, r->loop);
	p = calloc(1, sizeof(*p));
	if (!p || !lane) {
		free(p);
		return -ENOMEM;
	}
	p->rail = r;
	p->lane = lane;
	tcp_list_init(&p->note);
	tcp_list_init(&p->ack);
	tcp_list_init(&p->conns);
	tcp_list_init(&p->txq);
	tcp_list_init(&p->fences);
	lnet_timer_init(&p->timer, tcp_peer_timer, p);
	tcp_list_add(&lane->peers, &p->link);
	tcp_ni_get(ni);
	r->drv = p;
	return 0;
}

void tcp_rail_close(struct lnet_rail *r)
{
	struct tcp_peer *p = tcp_peer_of(r);

	if (!p)
		return;
	p->closing = true;
	tcp_peer_shut(p, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED);
	r->drv = (void *)(uintptr_t)&tcp_rail_gone;
	tcp_peer_note(p, TCP_EV_CLOSE);
}

/* rail_closed() was called: p->rail is gone. */
void tcp_peer_free(struct tcp_peer *p)
{
	struct tcp_ni *ni = p->lane->ni;

	lnet_timer_stop(p->lane->loop, &p->timer);
	tcp_list_del(&p->link);
	tcp_list_del(&p->note);
	tcp_list_del(&p->ack);
	tcp_owed_clear(&p->owed);
	free(p);
	tcp_ni_put(ni);
}

void tcp_peer_note(struct tcp_peer *p, uint32_t ev)
{
	if (ev & TCP_EV_DOWN && p->events & TCP_EV_UP) {
		/* Nobody heard that it was up. */
		p->events &= ~(uint32_t)TCP_EV_UP;
		ev &= ~(uint32_t)TCP_EV_DOWN;
	}
	p->events |= ev;
	if (p->events && tcp_list_empty(&p->note))
		tcp_list_add(&p->lane->notify, &p->note);
	tcp_lane_kick(p->lane);
}

void tcp_peer_ready(struct tcp_peer *p)
{
	if (!p->want_ready)
		return;
	p->want_ready = false;
	tcp_peer_note(p, TCP_EV_READY);
}

/* ---- fences count what is under way ---------------------------------------------------------- */

void tcp_peer_op_begin(struct tcp_peer *p, uint32_t *stamp)
{
	*stamp = p->stamp;
	p->outstanding++;
}

void tcp_peer_op_end(struct tcp_peer *p, uint32_t stamp)
{
	struct tcp_link *l, *t;

	p->outstanding--;
	tcp_list_each(l, t, &p->fences)
	{
		struct tcp_fenced *f = tcp_entry(l, struct tcp_fenced, link);

		/* Signed distance: the stamp may wrap. */
		if ((int32_t)(stamp - f->stamp) > 0 || --f->left)
			continue;
		tcp_list_del(l);
		tcp_list_add(&p->lane->fdone, l);
		tcp_lane_kick(p->lane);
	}
}

/* ---- losing connections ---------------------------------------------------------------------- */

void tcp_peer_fail_waiting(struct tcp_peer *p, int err, enum lnet_hstatus hs, bool requeued_only)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &p->txq)
	{
		struct lnet_tx *tx = tcp_tx(l);

		if (requeued_only && !tcp_txd(tx)->requeued)
			continue;
		tcp_tx_unqueue(p, tx);
		tcp_tx_end(p, tx, err, hs, false);
	}
	if (tcp_list_empty(&p->txq))
		p->waiting = false;
	tcp_peer_ready(p);
}

void tcp_peer_drop(struct tcp_peer *p, int err, enum lnet_hstatus hs, bool again)
{
	uint64_t now = lnet_loop_now(p->lane->loop);

	if (tcp_list_empty(&p->conns))
		return;
	/* One that dies young is counted, so that a peer that accepts and closes is not dialled for
	 * ever. */
	if (!p->dialled || now - p->last_up >= TCP_S)
		p->flaps = 0;
	else if (p->flaps < UINT8_MAX)
		p->flaps++;
	again = again && p->flaps < TCP_MAX_REFUSALS && !p->closing && !tcp_peer_is_client(p);
	while (!tcp_list_empty(&p->conns))
		tcp_conn_detach(tcp_entry(p->conns.next, struct tcp_conn, link), err, hs, again);
	tcp_owed_clear(&p->owed);
	p->noop_due = false;
	p->version = 0;
	p->refusals = 0;
	p->fallbacks = 0;
	p->settled = false;
	p->lone = false;
	p->dialled = false;
	p->last_errno = err;
	p->down_err = err;
	tcp_peer_note(p, TCP_EV_DOWN);
	tcp_peer_ready(p);
	if (p->flaps >= TCP_MAX_REFUSALS && !p->closing && !tcp_peer_is_client(p))
		tcp_peer_attempt_failed(p, err, hs);
	else if (!tcp_list_empty(&p->txq))
		tcp_peer_pump(p);
}

void tcp_peer_shut(struct tcp_peer *p, int err, enum lnet_hstatus hs)
{
	struct tcp_link *l, *t;
	bool closing = p->closing;

	p->closing = true; /* nothing is dialled meanwhile */
	tcp_active_kill(p);
	tcp_peer_drop(p, err, hs, false);
	tcp_peer_fail_waiting(p, err, hs, false);
	tcp_list_each(l, t, &p->fences)
	{
		tcp_list_del(l);
		tcp_list_add(&p->lane->fdone, l);
	}
	lnet_timer_stop(p->lane->loop, &p->timer);
	tcp_lane_kick(p->lane);
	p->closing = closing;
}

/* ---- incarnation ----------------------------------------------------------------------------- */

bool tcp_peer_restarted(struct tcp_peer *p, uint64_t incarnation)
{
	if (!p->incarnation || p->incarnation == incarnation)
		return false;
	tcp_stat(tcp_lni(p), TCP_S_RESTARTS);
	tcp_peer_note(p, TCP_EV_RESTARTED);
	if (!tcp_list_empty(&p->conns)) {
		tcp_peer_drop(p, -ESTALE, LNET_HS_REMOTE_ERROR, false);
		p->incarnation = incarnation; /* told: its next connection is taken */
		return true;
	}
	/* What was meant for the old one. */
	tcp_peer_fail_waiting(p, -ESTALE, LNET_HS_REMOTE_ERROR, true);
	return false;
}

void tcp_peer_connected(struct tcp_peer *p, struct tcp_conn *c, uint64_t incarnation)
{
	uint64_t now = lnet_loop_now(p->lane->loop);
	bool first = p->nconns == 1;

	p->version = c->version;
	p->backoff = 0;
	p->next_try = 0;
	p->refusals = 0;
	p->fallbacks = 0;
	p->waiting = false;
	p->last_rx = now;
	if (first) {
		if (p->incarnation)
			tcp_stat(tcp_lni(p), TCP_S_RECONNECTS);
		p->last_up = now;
		p->last_noop = 0;
		tcp_peer_note(p, TCP_EV_UP);
	}
	p->incarnation = incarnation;
	tcp_tx_dispatch(p);
	tcp_peer_pump(p);
	tcp_peer_arm(p, now + TCP_S);
}
