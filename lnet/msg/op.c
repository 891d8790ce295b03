/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting a PUT or a GET.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/msg/msg.h"
#include "lnet/route/select.h"

void lnet_op_args_init(struct lnet_op_args *a, size_t size)
{
	memset(a, 0, size);
	a->size = size;
	a->target_pid = LNET_PID_LUSTRE;
	a->source = lnet_nid_any();
	a->md_whole = true;
}

static int use_md(struct lni_op *op, lnet_handle_t h)
{
	struct lni_md *md;
	int rc = lni_md_get(op->n, h, &md);

	if (rc)
		return rc;
	op->use.loop = op->loop;
	op->use.cancel = lni_op_cancel_use;
	op->use.release = lni_op_release_use;
	rc = md->lock == &op->n->ptl->free_lock ? lni_md_use(md, &op->use) : -EINVAL;
	if (!rc) {
		op->iov = md->iov;
		op->niov = md->niov;
		op->handler = md->handler;
		op->user = md->user;
	}
	lni_md_put(md);
	return rc;
}

static int bind_memory(struct lni_op *op, const struct lnet_op_args *a)
{
	if (a->md)
		return use_md(op, a->md);
	if (a->mem.niov > LNET_MAX_IOV || (a->mem.niov && !a->mem.iov))
		return -EINVAL;
	if (a->mem.niov > 1) {
		struct iovec *v = malloc(a->mem.niov * sizeof(struct iovec));

		if (!v)
			return -ENOMEM;
		op->iov = v;
	}
	for (uint32_t i = 0; i < a->mem.niov; i++)
		op->iov[i] = a->mem.iov[i];
	op->niov = a->mem.niov;
	op->handler = a->handler;
	op->user = a->user;
	return 0;
}

/* Which bytes of the memory. */
static int choose_part(struct lni_op *op, const struct lnet_op_args *a)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < op->niov; i++)
		if (__builtin_add_overflow(total, op->iov[i].iov_len, &total))
			return -EINVAL;
	if (a->md_offset > total)
		return -EINVAL;
	op->offset = a->md_offset;
	total -= a->md_offset;
	if (!a->md_whole) {
		if (a->length > total)
			return -EINVAL;
		total = a->length;
	}
	if (total > LNET_MTU)
		return -E2BIG;
	op->length = (uint32_t)total;
	return 0;
}

static int check(const struct lnet_op_args *a)
{
	if (a->size < sizeof(*a) || a->portal >= LNET_MAX_PORTALS || lnet_nid_is_any(&a->target))
		return -EINVAL;
	if (a->offset > UINT32_MAX || (a->flags & ~(LNET_OP_ACK | LNET_OP_EV_SEND | LNET_OP_BULK)))
		return -EINVAL;
	return 0;
}

/* An operation that was never started goes without a word. On the loop. */
static void unmake(struct lni_op *op)
{
	op->ended = op->told = true;
	lni_op_unhash(op);
	lni_op_unpin(op);
}

int lni_op_make(struct lnet *n, bool put, const struct lnet_op_args *a, struct lni_op **out)
{
	struct lni_op *op;
	int rc = check(a);

	if (rc)
		return rc;
	op = calloc(1, sizeof(*op));
	if (!op)
		return -ENOMEM;
	op->n = n;
	op->put = put;
	op->pins = 1;
	op->iov = &op->one;
	op->want_ack = put && (a->flags & LNET_OP_ACK);
	op->ev_send = (a->flags & LNET_OP_EV_SEND) && (!put || op->want_ack);
	op->loop = lni_route_home(n, &a->target);
	op->id = lni_new_id(n, LNI_ID_OP, lni_loop_index(op->loop));
	op->target = a->target;
	op->source = a->source;
	op->target_pid = a->target_pid;
	op->portal = a->portal;
	op->match_bits = a->match_bits;
	op->roffset = a->offset;
	op->hdr_data = a->hdr_data;
	op->deadline = a->deadline;
	op->landing.kind = LNI_LAND_OP;
	op->tx.kind = LNI_TX_OP;
	if (!(a->flags & LNET_OP_BULK) && put)
		op->tx.d.flags = LNET_TX_SMALL;
	atomic_fetch_add(&n->msgs->pl[lni_loop_index(op->loop)].nops, 1);
	rc = bind_memory(op, a);
	if (!rc)
		rc = choose_part(op, a);
	if (rc) {
		lni_op_free(op);
		return rc;
	}
	*out = op;
	return 0;
}

static void fill_header(struct lni_op *op)
{
	struct lnet_hdr *h = &op->tx.d.hdr;
	struct lnet_wmd wmd = {op->n->iface_cookie, op->id};

	h->dest_nid = op->rail->ni == op->n->net->lo ? op->target : op->rail->d.nid;
	h->src_nid = op->rail->ni == op->n->net->lo
	                     ? (lnet_nid_is_any(&op->source) ? op->target : op->source)
	                     : op->rail->ni->d.nid;
	h->dest_pid = op->target_pid;
	h->src_pid = op->n->pid;
	if (op->put) {
		h->type = LNET_MSG_PUT;
		h->payload_length = op->length;
		if (!op->want_ack)
			wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
		h->msg.put.ack_wmd = wmd;
		h->msg.put.match_bits = op->match_bits;
		h->msg.put.hdr_data = op->hdr_data;
		h->msg.put.ptl_index = op->portal;
		h->msg.put.offset = (uint32_t)op->roffset;
		return;
	}
	h->type = LNET_MSG_GET;
	h->msg.get.return_wmd = wmd;
	h->msg.get.match_bits = op->match_bits;
	h->msg.get.ptl_index = op->portal;
	h->msg.get.src_offset = (uint32_t)op->roffset;
	h->msg.get.sink_length = op->length;
}

static void fill_tx(struct lni_op *op)
{
	struct lnet_tx *tx = &op->tx.d;

	tx->deadline = op->deadline;
	if (op->put) {
		tx->iov = op->iov;
		tx->niov = op->niov;
		tx->offset = op->offset;
		tx->len = op->length;
	} else {
		tx->sink = op->iov;
		tx->nsink = op->niov;
		tx->sink_offset = op->offset;
		tx->sink_len = op->length;
		tx->flags = LNET_TX_SMALL;
	}
}

static void count_start(struct lnet *n, const struct lnet_loop *l)
{
	struct lni_counters *c = lni_ctr(n, l);
	uint64_t now;

	c->ops_started++;
	now = c->ops_started - c->ops_ok - c->ops_failed - c->ops_cancelled - c->ops_timed_out;
	if (now > c->msgs_max)
		c->msgs_max = now;
}

/* On the loop; op is in the table. */
static int start(struct lni_op *op)
{
	struct lnet *n = op->n;
	uint64_t now = lnet_loop_now(op->loop);
	int rc;

	if (atomic_load_explicit(&n->aborting, memory_order_relaxed))
		return -ESHUTDOWN;
	if (op->deadline == 0)
		op->deadline = now + (uint64_t)lni_global(&n->globals, LNI_G_TRANSACTION_TIMEOUT) *
		                             1000000000ull;
	rc = lni_route_pick(n, &op->target, op->target_pid, &op->source, &op->rail);
	if (rc) {
		lni_ctr(n, op->loop)->no_route += rc == -EHOSTUNREACH;
		return rc;
	}
	fill_header(op);
	fill_tx(op);
	op->tx.started = now;
	op->tx_out = true;
	atomic_store_explicit(&op->open, true, memory_order_release);
	rc = lni_tx_submit(&op->tx, op->rail);
	if (rc < 0) {
		op->tx_out = false;
		return rc;
	}
	count_start(n, op->loop);
	lnet_timer_init(&op->timer, lni_op_timer, op);
	lnet_timer_arm(op->loop, &op->timer, op->deadline);
	if (rc == 1)
		lni_op_tx_done(op, 0, LNET_HS_OK);
	return 0;
}

static void start_posted(struct lnet_work *w)
{
	struct lni_op *op = w->arg;
	int rc = op->ended ? 0 : start(op);

	if (rc) {
		/* accepted when it was posted: it ends by an event */
		count_start(op->n, op->loop);
		lni_op_end(op, rc, LNET_HS_LOCAL_ERROR);
	}
	lni_op_unpin(op);
}

int lni_op_go(struct lni_op *op)
{
	struct lnet_loop *l = op->loop;
	bool held = lni_loop_held(l);
	int rc;

	lni_op_hash(op);
	if (!held && !lni_loop_try(l)) {
		lni_op_pin(op);
		lnet_work_init(&op->work, start_posted, op);
		lnet_loop_post(l, &op->work);
		return 0;
	}
	rc = start(op);
	if (rc)
		unmake(op);
	if (!held)
		lni_loop_leave(l);
	return rc;
}

static int go(struct lnet *n, bool put, const struct lnet_op_args *a, lnet_handle_t *h)
{
	struct lni_op *op;
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_op_make(n, put, a, &op);
	if (!rc) {
		lnet_handle_t before = h ? *h : 0;

		if (h)
			*h = op->id; /* before the first event can come */
		rc = lni_op_go(op);
		if (rc && h)
			*h = before;
	}
	lni_exit(n);
	return rc;
}

int lnet_put(struct lnet *n, const struct lnet_op_args *a, lnet_handle_t *op)
{
	return go(n, true, a, op);
}

int lnet_get(struct lnet *n, const struct lnet_op_args *a, lnet_handle_t *op)
{
	return go(n, false, a, op);
}
