/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection died under operations that wait for an answer. Did the peer restart? Nobody knows
 * until it is called again, so they are held for a short while in which that is done, by GETs for
 * nothing of the ping portal, as soon as the driver's back-off lets them through.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/msg/msg.h"

#define GRACE_NS     500000000ull
#define RETRY_NS     20000000ull
#define PROBE_PORTAL 0u
#define PROBE_BITS   0x8000000000000000ull

struct lni_lost {
	struct lnet *n;
	struct lni_rail *rail; /* reference */
	struct lnet_timer timer;
	uint64_t until;
	bool probing; /* a probe is under way and frees what is over */
	bool over;
};

static void let_go(struct lni_lost *k)
{
	lni_rail_put(k->rail);
	if (k->probing)
		k->over = true;
	else
		free(k);
}

/* End all that were held. On the loop. */
static void finish(struct lni_lost *k, int status)
{
	struct lni_rail *r = k->rail;
	struct lni_op *op = lni_op_gather(k->n, r->d.loop, r), *next;

	r->lost = NULL;
	lnet_timer_stop(r->d.loop, &k->timer);
	for (; op; op = next) {
		next = op->gather;
		if (op->lost)
			lni_op_end(op, status, LNET_HS_REMOTE_ERROR);
		lni_op_unpin(op);
	}
	let_go(k);
}

static void arm(struct lni_lost *k, uint64_t after)
{
	uint64_t when = lnet_loop_now(k->rail->d.loop) + after;

	lnet_timer_arm(k->rail->d.loop, &k->timer, when < k->until ? when : k->until);
}

static void on_probe(const struct lnet_event *ev)
{
	struct lni_lost *k = ev->user;

	if (!ev->final)
		return;
	k->probing = false;
	if (k->over)
		free(k);
	else if (ev->status == 0)
		finish(k, -ECONNRESET); /* it answers, and nobody said that it restarted */
	else
		arm(k, RETRY_NS);
}

static int probe(struct lni_lost *k)
{
	struct lnet_op_args a;
	struct lni_op *op;
	int rc;

	lnet_op_args_init(&a, sizeof(a));
	a.target = k->rail->d.nid;
	a.target_pid = k->rail->d.pid;
	a.source = k->rail->ni->d.nid;
	a.portal = PROBE_PORTAL;
	a.match_bits = PROBE_BITS;
	a.handler = on_probe;
	a.user = k;
	a.deadline = k->until;
	rc = lni_op_make(k->n, false, &a, &op);
	if (rc)
		return rc;
	op->probe = true;
	k->probing = true;
	rc = lni_op_go(op);
	if (rc)
		k->probing = false;
	return rc;
}

static void on_timer(struct lnet_timer *t)
{
	struct lni_lost *k = t->arg;

	if (lnet_loop_now(k->rail->d.loop) >= k->until)
		finish(k, -ECONNRESET);
	else if (k->probing)
		arm(k, GRACE_NS);
	else if (probe(k))
		arm(k, RETRY_NS);
	else
		arm(k, GRACE_NS);
}

/* NULL: nothing of this rail is held. */
static struct lni_lost *lost_of(struct lnet *n, struct lni_rail *r)
{
	struct lni_lost *k = r->lost;

	/* a client comes back by itself, and as another one; loopback does not come back */
	if (k || r->closing || atomic_load(&n->aborting) || (r->d.pid & LNET_PID_USERFLAG) ||
	        (r->ni->d.node->lnd->caps & LNET_LND_VIRTUAL))
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->n = n;
	k->rail = r;
	lni_rail_hold(r);
	k->until = lnet_loop_now(r->d.loop) + GRACE_NS;
	lnet_timer_init(&k->timer, on_timer, k);
	arm(k, 0);
	r->lost = k;
	return k;
}

bool lni_lost_hold(struct lni_op *op)
{
	if (op->probe || (op->put && !op->want_ack) || !lost_of(op->n, op->rail))
		return false;
	op->lost = true;
	return true;
}

void lni_rail_lost(struct lnet *n, struct lnet_rail *d, int status)
{
	struct lni_rail *r = lni_rail_of(d);
	struct lni_op *op, *next;

	if (status == 0) {
		if (r->lost)
			finish(r->lost, -ECONNRESET); /* back, and the same as before */
		return;
	}
	if (r->lost && status != -ECONNRESET)
		finish(r->lost, status);
	if (status == -ESHUTDOWN)
		lni_park_drop(n, r);
	for (op = lni_op_gather(n, d->loop, r); op; op = next) {
		next = op->gather;
		/* what the driver still has ends by its tx_done() */
		if (!op->tx_out || status == -ESHUTDOWN) {
			if (status != -ECONNRESET || !lni_lost_hold(op))
				lni_op_end(op, status, LNET_HS_REMOTE_ERROR);
		}
		lni_op_unpin(op);
	}
}
