/* SPDX-License-Identifier: BSD-2-Clause */
/* A lane: what one NI has on one loop. Flushing, upcalls, stopping. */
#include <errno.h>
#include <stdlib.h>

#include "tcp.h"

#define RECENT_FOR (200 * TCP_US)

static unsigned poll_recent(struct lnet_poll_hook *h)
{
	struct tcp_lane *lane = h->arg;
	struct tcp_conn *c = lane->recent[0];
	unsigned n = c ? tcp_rx_poll(c) : 0;

	/* The second one only while both are busy: each look costs a system call. */
	c = lane->recent[1];
	if (c && lnet_loop_now(lane->loop) - c->rx_moved < RECENT_FOR)
		n += tcp_rx_poll(c);
	if (n)
		tcp_lane_deliver(lane);
	return n;
}

void tcp_lane_recent(struct tcp_lane *lane, struct tcp_conn *c)
{
	if (lane->recent[0] == c)
		return;
	lane->recent[1] = lane->recent[0];
	lane->recent[0] = c;
}

void tcp_lane_forget(struct tcp_lane *lane, struct tcp_conn *c)
{
	if (lane->recent[1] == c)
		lane->recent[1] = NULL;
	if (lane->recent[0] == c) {
		lane->recent[0] = lane->recent[1];
		lane->recent[1] = NULL;
	}
}

struct tcp_lane *tcp_lane_of(struct tcp_ni *ni, const struct lnet_loop *loop)
{
	for (unsigned i = 0; i < ni->nlanes; i++)
		if (ni->lanes[i].loop == loop)
			return &ni->lanes[i];
	return NULL;
}

void tcp_lane_kick(struct tcp_lane *lane)
{
	lnet_loop_defer(lane->loop, &lane->flush);
}

/* ---- upcalls ------------------------------------------------------------------------------- */

static void tell(struct tcp_peer *p)
{
	const struct lnet_lnd_up *up = tcp_up(p->lane);
	uint32_t ev = p->events & ~(uint32_t)TCP_EV_CLOSE;

	p->events &= TCP_EV_CLOSE;
	if (ev & TCP_EV_RESTARTED)
		up->rail_event(p->rail, LNET_RAIL_RESTARTED, -ESTALE);
	if (ev & TCP_EV_DOWN)
		up->rail_event(p->rail, LNET_RAIL_DOWN, p->down_err);
	if (ev & TCP_EV_FAILED)
		up->rail_event(p->rail, LNET_RAIL_FAILED, p->fail_err);
	if (ev & TCP_EV_UP)
		up->rail_event(p->rail, LNET_RAIL_UP, 0);
	if (ev & TCP_EV_READY)
		up->tx_ready(p->rail);
}

static void end_rx(struct tcp_conn *c)
{
	const struct lnet_lnd_up *up = tcp_up(c->lane);
	struct lnet_rx *rx = &c->rx.rx;

	c->rx.pending = false;
	/* Lost in the middle: the sender's fault, unless we stopped or our link went. */
	up->rx_done(rx, c->rx.status,
	        c->rx.status == -ESHUTDOWN || c->rx.status == -ENETDOWN ? tcp_hs_of(c->rx.status)
	                                                                : LNET_HS_REMOTE_ERROR);
	tcp_conn_free(c);
}

static bool end_tx(struct tcp_lane *lane)
{
	struct tcp_link *l = tcp_list_pop(&lane->txdone);
	struct lnet_tx *tx;
	struct tcp_txd *d;

	if (!l)
		return false;
	tx = tcp_tx(l);
	d = tcp_txd(tx);
	tcp_up(lane)->tx_done(tx, d->status, d->hs, d->sent);
	return true;
}

static bool deliver_one(struct tcp_lane *lane)
{
	struct tcp_link *l;

	l = tcp_list_pop(&lane->rxdone);
	if (l) {
		end_rx(tcp_entry(l, struct tcp_conn, rlink));
		return true;
	}
	l = tcp_list_pop(&lane->fdone);
	if (l) {
		struct tcp_fenced *d = tcp_entry(l, struct tcp_fenced, link);

		tcp_up(lane)->fence_done(tcp_entry(d, struct lnet_fence, drv));
		return true;
	}
	l = tcp_list_pop(&lane->resume);
	if (l) {
		tcp_rx_resume(tcp_entry(l, struct tcp_conn, rlink));
		return true;
	}
	return false;
}

/* Peers last: rail_closed() comes after everything of that rail. */
static bool close_one(struct tcp_lane *lane)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &lane->notify)
	{
		struct tcp_peer *p = tcp_entry(l, struct tcp_peer, note);
		struct lnet_rail *r = p->rail;

		if (!(p->events & TCP_EV_CLOSE))
			continue;
		tcp_list_del(l);
		tcp_up(lane)->rail_closed(r);
		tcp_peer_free(p);
		return true;
	}
	return false;
}

/* bad: also that connections are gone. That comes after the completions of what they carried, since
 * the core takes stock then of what will get no answer. */
static bool tell_one(struct tcp_lane *lane, bool bad)
{
	const uint32_t gone = TCP_EV_DOWN | TCP_EV_RESTARTED;
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &lane->notify)
	{
		struct tcp_peer *p = tcp_entry(l, struct tcp_peer, note);

		if (!bad && (p->events & gone))
			continue;
		if (!(p->events & ~(uint32_t)TCP_EV_CLOSE)) {
			if (p->events)
				continue;
			tcp_list_del(l);
			return true;
		}
		if (!(p->events & TCP_EV_CLOSE))
			tcp_list_del(l);
		tell(p);
		return true;
	}
	return false;
}

void tcp_lane_deliver(struct tcp_lane *lane)
{
	struct tcp_ni *ni = lane->ni;

	if (lane->delivering)
		return;
	lane->delivering = true;
	tcp_ni_get(ni);
	while (tell_one(lane, false) || end_tx(lane) || tell_one(lane, true) || deliver_one(lane) ||
	        close_one(lane))
		;
	lane->delivering = false;
	tcp_ni_put(ni);
}

/* ---- work ---------------------------------------------------------------------------------- */

static void flush_owed(struct tcp_lane *lane)
{
	struct tcp_link *l;

	while ((l = tcp_list_pop(&lane->ackers))) {
		struct tcp_peer *p = tcp_entry(l, struct tcp_peer, ack);
		struct tcp_conn *c = p->owed.n || p->noop_due ? tcp_choose_noop(p) : NULL;

		if (c)
			tcp_tx_flush(c, true);
	}
}

static void run_flush(struct lnet_work *w)
{
	struct tcp_lane *lane = w->arg;
	struct tcp_ni *ni = lane->ni;
	struct tcp_link *l;

	tcp_ni_get(ni);
	/* Messages first: they may carry the ACKs. */
	while ((l = tcp_list_pop(&lane->dirty))) {
		struct tcp_conn *c = tcp_entry(l, struct tcp_conn, dirty);

		tcp_tx_flush(c, false);
	}
	flush_owed(lane);
	tcp_lane_deliver(lane);
	tcp_ni_put(ni);
}

static void stop(struct tcp_lane *lane)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &lane->peers) tcp_peer_shut(
	        tcp_entry(l, struct tcp_peer, link), -ESHUTDOWN, LNET_HS_LOCAL_ABORTED);
	if (lane->hooked)
		lnet_loop_poll_del(&lane->hook);
	lane->hooked = false;
	lane->stopped = true;
	tcp_lane_deliver(lane);
	if (tcp_list_empty(&lane->notify))
		lnet_loop_undefer(lane->loop, &lane->flush);
}

/* The link or the address is gone: what has not left goes back at once. */
static void purge(struct tcp_lane *lane, bool reset)
{
	struct tcp_link *l, *t, *m, *u;

	tcp_list_each(l, t, &lane->peers)
	{
		struct tcp_peer *p = tcp_entry(l, struct tcp_peer, link);

		tcp_active_kill(p);
		tcp_peer_fail_waiting(p, -ENETDOWN, LNET_HS_LOCAL_ERROR, false);
		if (reset) {
			tcp_peer_drop(p, -ENETDOWN, LNET_HS_LOCAL_ERROR, false);
			continue;
		}
		for (struct tcp_link *k = p->conns.next; k != &p->conns; k = k->next) {
			struct tcp_conn *c = tcp_entry(k, struct tcp_conn, link);

			tcp_list_each(m, u, &c->txq)
			{
				struct lnet_tx *tx = tcp_tx(m);

				if (tcp_txd(tx)->state != TCP_TX_QUEUED)
					continue;
				tcp_tx_unqueue(p, tx);
				tcp_tx_end(p, tx, -ENETDOWN, LNET_HS_LOCAL_ERROR, false);
			}
		}
	}
	tcp_lane_deliver(lane);
}

/* More connections may be wanted now. */
static void changed(struct tcp_lane *lane)
{
	struct tcp_link *l, *t;

	tcp_list_each(l, t, &lane->peers)
	{
		struct tcp_peer *p = tcp_entry(l, struct tcp_peer, link);

		p->settled = false;
		tcp_peer_pump(p);
	}
	tcp_lane_deliver(lane);
}

static void run_post(struct lnet_work *w)
{
	struct tcp_lane *lane = w->arg;
	struct tcp_ni *ni = lane->ni;
	uint32_t bits = __atomic_exchange_n(&lane->ctl, 0, __ATOMIC_ACQ_REL);

	if (lane->stopped)
		return;
	tcp_ni_get(ni);
	if (bits & (TCP_CTL_PURGE | TCP_CTL_RESET))
		purge(lane, bits & TCP_CTL_RESET);
	if (bits & TCP_CTL_CHANGED)
		changed(lane);
	if (bits & TCP_CTL_STOP) {
		stop(lane);
		tcp_ni_idle(ni);
	}
	tcp_ni_put(ni);
}

void tcp_lane_post(struct tcp_lane *lane, uint32_t bits)
{
	if (!__atomic_fetch_or(&lane->ctl, bits, __ATOMIC_ACQ_REL))
		lnet_loop_post(lane->loop, &lane->post);
}

void tcp_lane_init(struct tcp_lane *lane, struct tcp_ni *ni, struct lnet_loop *loop)
{
	lane->ni = ni;
	lane->loop = loop;
	tcp_list_init(&lane->peers);
	tcp_list_init(&lane->dirty);
	tcp_list_init(&lane->ackers);
	tcp_list_init(&lane->notify);
	tcp_list_init(&lane->txdone);
	tcp_list_init(&lane->rxdone);
	tcp_list_init(&lane->resume);
	tcp_list_init(&lane->fdone);
	lnet_work_init(&lane->flush, run_flush, lane);
	lnet_work_init(&lane->post, run_post, lane);
	lane->hook.fn = poll_recent;
	lane->hook.arg = lane;
}
