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

	lni_call_handler(op->n, op->loop, op->handler, &op->ev);
	lni_op_unpin(op);
}

/* Nothing of ours can touch the memory any more, and the caller has not been told: tell. */
static void try_final(struct lni_op *op)
{
	bool unlinked = false;

	if (!op->ended || op->tx_out || op->landing.rx || op->told)
		return;
	if (op->ev_state) {
		op->ev_state = 2; /* SEND is still queued: it goes first */
		return;
	}
	op->told = true;
	fill_event(op, !op->put ? LNET_EV_REPLY : op->want_ack ? LNET_EV_ACK : LNET_EV_SEND);
	if (op->use.md)
		lni_md_unuse(&op->use, &unlinked);
	op->ev.final = true;
	op->ev.unlinked = unlinked || !op->use.md;
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
		if (!op->tx_out)
			c->response_timeout_count++;
		break;
	default:
		c->ops_failed++;
		break;
	}
}

/* The payload stopped touching our memory; told on the operation's loop. */
static void landing_over(struct lni_op *op)
{
	struct lni_rail *r = op->landing.rail;

	op->landing.rx = NULL;
	op->landing.rail = NULL;
	lni_rail_put(r);
}

static void landed_there(struct lnet_work *w)
{
	struct lni_op *op = w->arg;

	landing_over(op);
	if (!op->ended && !op->land_status)
		op->mlength = op->land_len;
	if (op->ended)
		try_final(op);
	else
		lni_op_end(
		        op, op->land_status, op->land_status ? LNET_HS_REMOTE_ERROR : LNET_HS_OK);
	lni_op_unpin(op);
}

/* On the loop of the landing, once. */
static void post_landed(struct lni_op *op, int status)
{
	op->land_over = true;
	op->land_status = status;
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
	struct lnet_rx *rx = op->landing.rx;

	if (!op->land_over && rx->rail->ni->node->lnd->redirect(rx) == 1) {
		rx->core = NULL;
		post_landed(op, -ECANCELED);
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
	if (op->rail)
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
		lni_op_end(op, status, hs);
		return;
	}
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
	struct lnet_loop *here =
	        op->landing.rail->d.loop; /* the rx is gone when recv() ended at once */
	uint64_t took = lnet_loop_now(here) - op->tx.started;

	if (here != op->loop) {
		if (!op->land_over)
			post_landed(op, status);
		return;
	}
	landing_over(op);
	if (op->ended) {
		try_final(op);
		return;
	}
	if (!status) {
		op->mlength = op->land_len;
		lni_lat_add(&lni_share_of(op->rail)->traffic.get_rtt, took);
		lni_lat_add(&op->rail->pni->traffic.get_rtt, took);
	}
	lni_op_end(op, status, hs);
}

void lni_op_cancel_use(struct lni_use *u)
{
	struct lni_op *op = lni_container(u, struct lni_op, use);

	lni_op_end(op, -ECANCELED, LNET_HS_OK);
}

struct cancel {
	struct lnet_work work;
	struct lni_op *op;
};

static void cancel_there(struct lnet_work *w)
{
	struct cancel *c = w->arg;

	lni_op_end(c->op, -ECANCELED, LNET_HS_OK);
	lni_op_unpin(c->op);
	free(c);
}

int lnet_op_cancel(struct lnet *n, lnet_handle_t h)
{
	struct lni_op *op;
	struct cancel *c;
	int rc = 0;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	op = lni_op_find(n, h);
	c = op ? malloc(sizeof(*c)) : NULL;
	if (!op) {
		rc = -ENOENT;
	} else if (c) {
		c->op = op;
		lnet_work_init(&c->work, cancel_there, c);
		lnet_loop_post(op->loop, &c->work);
	} else {
		rc = -ENOMEM;
	}
	lni_exit(n);
	return rc;
}

void lni_rail_lost(struct lnet *n, struct lnet_rail *d, int status)
{
	struct lni_op *op = lni_op_gather(n, d->loop, lni_rail_of(d)), *next;

	for (; op; op = next) {
		next = op->gather;
		/* what the driver still has ends by its tx_done() */
		if (!op->tx_out || status == -ESHUTDOWN)
			lni_op_end(op, status, LNET_HS_REMOTE_ERROR);
		lni_op_unpin(op);
	}
}
