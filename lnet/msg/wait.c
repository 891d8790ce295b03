/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting calls: the thread that waits drives the loop.
 */
#include <errno.h>

#include "lnet/msg/msg.h"

#define SLICE_NS 1000000ull

struct outer {
	struct lnet *n;
	bool (*done)(void *arg);
	void *arg;
	bool met;
};

/* A node that closes waits for nobody. */
static bool done_or_closing(void *arg)
{
	struct outer *o = arg;

	o->met = o->done(o->arg);
	return o->met || atomic_load(&o->n->closing);
}

int lnet_wait(struct lnet *n, bool (*done)(void *arg), void *arg, uint64_t deadline)
{
	struct outer o = {n, done, arg, false};
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_wait(n, done_or_closing, &o, deadline ? deadline : UINT64_MAX);
	if (!rc && !o.met)
		rc = -ESHUTDOWN;
	lni_exit(n);
	return rc;
}

/* One turn of every loop; the first one comes last: it alone sleeps, and only if the others had
 * nothing. */
static int turn_all(struct lnet *n, uint64_t timeout_ns)
{
	int sum = 0;

	for (unsigned i = n->nloops; i-- > 0;) {
		int rc = lni_loop_turn(n->loops[i], i || sum ? 0 : timeout_ns);

		if (rc < 0)
			return sum ? sum : rc;
		sum += rc;
	}
	return sum;
}

int lnet_progress(struct lnet *n, uint64_t timeout_ns)
{
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	/* several loops: the others are looked at while the first one sleeps */
	do {
		uint64_t part = n->nloops > 1 && timeout_ns > SLICE_NS ? SLICE_NS : timeout_ns;

		rc = turn_all(n, part);
		timeout_ns -= part;
	} while (rc == 0 && timeout_ns && !atomic_load(&n->closing));
	lni_exit(n);
	return rc;
}

int lnet_pollfd(struct lnet *n)
{
	return n->nloops == 1 ? lni_loop_pollfd(n->loops[0]) : -EOPNOTSUPP;
}

int lnet_arm(struct lnet *n, uint64_t *sleep_ns)
{
	return n->nloops == 1 ? lni_loop_arm(n->loops[0], sleep_ns) : -EOPNOTSUPP;
}

struct sync {
	_Atomic bool done;
	struct lnet_event ev;
};

static void on_event(const struct lnet_event *ev)
{
	struct sync *s = ev->user;

	if (!ev->final)
		return;
	s->ev = *ev;
	atomic_store_explicit(&s->done, true, memory_order_release);
}

static bool is_done(void *arg)
{
	struct sync *s = arg;

	return atomic_load_explicit(&s->done, memory_order_acquire);
}

static int sync_op(struct lnet *n, bool put, const struct lnet_op_args *args, struct lnet_event *ev)
{
	struct lnet_op_args a = *args;
	struct lnet_loop *l;
	struct lni_op *op;
	struct sync s;
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (a.md)
		return -EINVAL; /* its handler is the MD's */
	if (!lni_enter(n))
		return -ESHUTDOWN;
	atomic_init(&s.done, false);
	a.handler = on_event;
	a.user = &s;
	rc = lni_op_make(n, put, &a, &op);
	if (!rc) {
		l = op->loop;
		rc = lni_op_go(op);
		if (!rc) {
			/* the operation has a deadline of its own: this ends */
			if (n->nloops == 1 || !(n->opts.flags & LNET_NODE_POLL))
				lni_loop_wait(l, is_done, &s, UINT64_MAX);
			else
				lni_wait(n, is_done, &s, UINT64_MAX);
			rc = s.ev.status;
			if (ev)
				*ev = s.ev;
		}
	}
	lni_exit(n);
	return rc;
}

int lnet_put_wait(struct lnet *n, const struct lnet_op_args *a, struct lnet_event *ev)
{
	return sync_op(n, true, a, ev);
}

int lnet_get_wait(struct lnet *n, const struct lnet_op_args *a, struct lnet_event *ev)
{
	return sync_op(n, false, a, ev);
}
