/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing of the message layer, and its upcalls.
 */
#include "lnet/msg/msg.h"

#include <errno.h>
#include <stdlib.h>

int lni_msgs_open(struct lnet *n)
{
	struct lni_msgs *m = calloc(1, sizeof(*m) + n->nloops * sizeof(m->pl[0]));

	if (!m)
		return -ENOMEM;
	for (unsigned i = 0; i < n->nloops; i++)
		pthread_mutex_init(&m->pl[i].lock, NULL);
	n->msgs = m;
	return 0;
}

void lni_msgs_close(struct lnet *n)
{
	if (!n->msgs)
		return;
	for (unsigned i = 0; i < n->nloops; i++)
		pthread_mutex_destroy(&n->msgs->pl[i].lock);
	free(n->msgs);
	n->msgs = NULL;
}

bool lni_msgs_idle(void *arg)
{
	struct lnet *n = arg;

	for (unsigned i = 0; i < n->nloops; i++)
		if (atomic_load(&n->msgs->pl[i].nops))
			return false;
	return atomic_load(&n->msgs->ins) == 0 && atomic_load(&n->msgs->outs) == 0;
}

static int stop_loop(void *arg, struct lnet_loop *l)
{
	struct lnet *n = arg;
	struct lni_op *op = lni_op_gather(n, l, NULL), *next;

	for (; op; op = next) {
		next = op->gather;
		lni_op_end(op, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED);
		lni_op_unpin(op);
	}
	return 0;
}

void lni_msgs_stop(struct lnet *n)
{
	lni_each_loop(n, stop_loop, n);
}

int lni_msg_in(struct lnet *n, struct lnet_rail *d, const struct lnet_hdr *h, struct lnet_rx *rx)
{
	struct lni_rail *r = lni_rail_of(d);

	/* answers are still wanted while the node closes; requests are not */
	if (atomic_load_explicit(&n->closing, memory_order_relaxed) &&
	        (h->type == LNET_MSG_PUT || h->type == LNET_MSG_GET) && r->ni != n->net->lo) {
		lni_msg_drop(r, h, rx, &lni_ctr(n, d->loop)->drop_closing);
		return 0;
	}
	switch (h->type) {
	case LNET_MSG_PUT:
		lni_put_in(n, r, h, rx);
		return 0;
	case LNET_MSG_GET:
		lni_get_in(n, r, h, rx);
		return 0;
	case LNET_MSG_REPLY:
		lni_reply_in(n, r, h, rx);
		return 0;
	case LNET_MSG_ACK:
		lni_ack_in(n, r, h, rx);
		return 0;
	default:
		return -EPROTO;
	}
}

void lni_msg_rx_done(struct lnet *n, struct lnet_rx *rx, int status, enum lnet_hstatus hs)
{
	struct lni_land *land = rx->core;

	(void)n;
	switch (land->kind) {
	case LNI_LAND_OP:
		lni_op_landed(lni_container(land, struct lni_op, landing), status, hs);
		break;
	case LNI_LAND_IN:
		lni_in_landed(lni_container(land, struct lni_in, land), status, hs);
		break;
	case LNI_LAND_KEEP:
		lni_keep_landed(lni_container(land, struct lni_in, land), status);
		break;
	}
}

void lni_msg_tx_done(struct lnet *n, struct lnet_tx *d, int status, enum lnet_hstatus hs, bool sent)
{
	struct lni_tx *t = lni_container(d, struct lni_tx, d);

	(void)n;
	(void)sent;
	if (t->kind == LNI_TX_OP)
		lni_op_tx_done(lni_container(t, struct lni_op, tx), status, hs);
	else
		lni_out_done(lni_container(t, struct lni_out, tx), status, hs);
}

void lni_msg_get_done(struct lnet *n, struct lnet_tx *d, int status, uint32_t nob)
{
	struct lni_op *op = lni_container(lni_container(d, struct lni_tx, d), struct lni_op, tx);

	(void)n;
	lni_op_got(op, status, nob);
}
