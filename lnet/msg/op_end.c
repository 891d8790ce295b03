/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ending an operation: once, with the memory out of reach before anybody is told.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/msg/msg.h"

static void free_now(struct lni_op *op)
{
	struct lni_msgs_loop *t = &op->n->msgs->pl[lni_loop_index(op->loop)];

	if (op->rail)
		lni_rail_put(op->rail);
	if (!op->use.md && op->iov != &op->one)
		free(op->iov);
	free(op);
	atomic_fetch_sub(&t->nops, 1);
}

void lni_op_release_use(struct lni_use *u)
{
	free_now(lni_container(u, struct lni_op, use));
}

void lni_op_free(struct lni_op *op)
{
	if (op->use.md)
		lni_use_release(&op->use); /* a cancel may still be on its way to it */
	else
		free_now(op);
}

static void fill_event(struct lni_op *op, enum lnet_event_type type)
{
	op->ev = (struct lnet_event){.size = sizeof(op->ev),
	        .type = type,
	        .status = op->status,
	        .md = op->use.md ? op->use.md->id : 0,
	        .op = op->id,
	        .user = op->user,
	        .initiator = op->tx.d.hdr.src_nid,
	        .source = op->tx.d.hdr.src_nid,
	        .target = op->target,
	        .initiator_pid = op->n->pid,
	        .portal = op->portal,
	        .match_bits = op->match_bits,
	        .hdr_data = op->hdr_data,
	        .rlength = op->length,
	        .mlength = op->mlength,
	        .offset = op->offset,
	        .hstatus = op->hs};
}

static void run_final(struct lnet_work *w)
{
	struct lni_op *op = w->arg;

	op->ev.unlinked = !op->use.md || lni_use_tell(&op->use);
	lni_call_handler(op->n, op->loop, op->handler, &op->ev);
	lni_op_unpin(op);
}

/* Nothing of ours can touch the memory any more, and the caller has not been told: tell. */
static void try_final(struct lni_op *op)
{
	if (!op->ended || op->tx_out || op->landing.rx || op->told)
		return;
	if (op->ev_state) {
		op->ev_state = 2; /* SEND is still queued: it goes first */
		return;
	}
	op->told = true;
	fill_event(op, !op->put ? LNET_EV_REPLY : op->want_ack ? LNET_EV_ACK : LNET_EV_SEND);
	op->ev.final = true;
	lni_deliver(op->n, op->loop, &op->ev_work, run_final, op);
}

static void run_send(struct lnet_work *w)
{
	struct lni_op *op = w->arg;
	bool due = op->ev_state == 2;

	op->ev_state = 0;
	lni_call_handler(op->n, op->loop, op->handler, &op->ev);
	if (due)
		try_final(op);
	lni_op_unpin(op);
}

static void count_end(struct lni_op *op)
{
	struct lni_counters *c = lni_ctr(op->n, op->loop);

	switch (op->status) {
	case 0:
		c->ops_ok++;
		break;
	case -ECANCELED:
		c->ops_cancelled++;
		break;
	case -ETIMEDOUT:
		c->ops_timed_out++;
		if (op->sent) {
			c->response_timeout_count++;
			lni_health_silent(op->rail);
		}
		break;
	default:
		c->ops_failed++;
		break;
	}
}

/* The payload stopped touching our memory. */
static void landing_over(struct lni_op *op)
{
	struct lni_rail *r = op->landing.rail;

	op->landing.rx = NULL;
	op->landing.rail = NULL;
	lni_rail_put(r);
}

static void count_rtt(struct lni_op *op)
{
	uint64_t took = lnet_loop_now(op->loop) - op->tx.started;

	lni_lat_add(&lni_share_of(op->rail)->traffic.get_rtt, took);
	lni_lat_add(&op->rail->pni->traffic.get_rtt, took);
}

static void landed_here(struct lni_op *op, int status, enum lnet_hstatus hs)
{
	landing_over(op);
	if (op->ended) {
		try_final(op);
		return;
	}
	if (!status) {
		op->mlength = op->land_len;
		count_rtt(op);
	}
	lni_op_end(op, status, hs);
}

static void landed_there(struct lnet_work *w)
{
	struct lni_op *op = w->arg;

	landed_here(op, op->land_status, op->land_hs);
	lni_op_unpin(op);
}

/* On the loop of the landing, once. */
static void post_landed(struct lni_op *op, int status, enum lnet_hstatus hs)
{
	op->land_over = true;
	op->land_status = status;
	op->land_hs = hs;
	lni_op_pin(op);
	lnet_work_init(&op->land_work, landed_there, op);
	lnet_loop_post(op->loop, &op->land_work);
}

static void unpin_here(struct lnet_work *w)
{
	lni_op_unpin(w->arg);
}

static void recall_there(struct lnet_work *w)
{
	struct lni_op *op = w->arg;

	if (!op->land_over) {
		struct lnet_rx *rx = op->landing.rx;

		if (rx->rail->ni->node->lnd->redirect(rx) == 1) {
			rx->core = NULL;
			post_landed(op, -ECANCELED, LNET_HS_OK);
		}
	}
	lnet_work_init(&op->work, unpin_here, op);
	lnet_loop_post(op->loop, &op->work);
}

/* The payload under way goes nowhere from now on. */
static void recall(struct lni_op *op)
{
	struct lnet_rx *rx = op->landing.rx;

	lni_ctr(op->n, op->loop)->redirects++;
	if (op->landing.rail->d.loop != op->loop) {
		lni_op_pin(op);
		lnet_work_init(&op->work, recall_there, op);
		lnet_loop_post(op->landing.rail->d.loop, &op->work);
		return;
	}
	if (rx->rail->ni->node->lnd->redirect(rx) == 1) {
		rx->core = NULL; /* its rx_done() concerns nobody */
		landing_over(op);
	}
}

void lni_op_end(struct lni_op *op, int status, enum lnet_hstatus hs)
{
	if (op->ended)
		return;
	op->ended = true;
	op->status = status;
	op->hs = hs;
	if (op->timer.slot)
		lnet_timer_stop(op->loop, &op->timer);
	lni_op_unhash(op);
	count_end(op);
	if (status && op->tx_out && lni_tx_cancel(&op->tx) == 1)
		op->tx_out = false;
	if (op->landing.rx && status)
		recall(op);
	try_final(op);
}

void lni_op_timer(struct lnet_timer *t)
{
	lni_op_end(t->arg, -ETIMEDOUT, LNET_HS_NETWORK_TIMEOUT);
}

void lni_op_tx_done(struct lni_op *op, int status, enum lnet_hstatus hs)
{
	uint64_t took = lnet_loop_now(op->loop) - op->tx.started;

	op->tx_out = false;
	if (op->ended) {
		try_final(op);
		return;
	}
	if (status) {
		if (status != -ECONNRESET || !lni_lost_hold(op))
			lni_op_end(op, status, hs);
		return;
	}
	op->sent = true;
	lni_lat_add(&lni_share_of(op->rail)->traffic.put_egress, took);
	lni_lat_add(&op->rail->pni->traffic.put_egress, took);
	if (op->put && !op->want_ack) {
		op->mlength = op->length;
		lni_op_end(op, 0, LNET_HS_OK);
		return;
	}
	if (op->ev_send && op->handler) {
		fill_event(op, LNET_EV_SEND);
		op->ev_state = 1;
		lni_op_pin(op);
		lni_deliver(op->n, op->loop, &op->ev_work, run_send, op);
	}
}

void lni_op_landed(struct lni_op *op, int status, enum lnet_hstatus hs)
{
	if (op->landing.rail->d.loop == op->loop)
		landed_here(op, status, hs);
	else if (!op->land_over)
		post_landed(op, status, hs);
}

/* The driver put the answer in its place itself; the sink stays the message's own until tx_done().
 */
void lni_op_got(struct lni_op *op, int status, uint32_t nob)
{
	if (op->ended)
		return;
	if (!status) {
		op->mlength = nob < op->length ? nob : op->length;
		count_rtt(op);
	}
	lni_op_end(op, status, status ? LNET_HS_REMOTE_ERROR : LNET_HS_OK);
}

void lni_op_cancel_use(struct lni_use *u)
{
	struct lni_op *op = lni_container(u, struct lni_op, use);

	lni_op_end(op, -ECANCELED, LNET_HS_OK);
}

static void cancel_there(struct lnet_work *w)
{
	struct lni_op *op = w->arg;

	lni_op_end(op, -ECANCELED, LNET_HS_OK);
	lni_op_unpin(op);
}

int lnet_op_cancel(struct lnet *n, lnet_handle_t h)
{
	struct lni_op *op;
	int rc = 0;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	op = lni_op_find(n, h, false);
	if (!op) {
		rc = -ENOENT;
	} else if (lni_op_cancel_first(op)) {
		lnet_work_init(&op->cancel_work, cancel_there, op);
		lnet_loop_post(op->loop, &op->cancel_work);
	} else {
		lni_op_unpin(op);
	}
	lni_exit(n);
	return rc;
}
