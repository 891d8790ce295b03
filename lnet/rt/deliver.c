/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handlers: where and when they run. Directly from an upcall of a driver inside a turn; otherwise
 * (a sender flushes, or another handler is on the stack) as ready work of the loop, so that no
 * handler ever runs inside lnet_put() or an unlink.
 */
#include "lnet/rt/node.h"

void lni_deliver(
        struct lnet *n, struct lnet_loop *l, struct lnet_work *w, lnet_work_fn fn, void *arg)
{
	lnet_work_init(w, fn, arg);
	if (n->depth[lni_loop_index(l)] == 0 && lni_loop_in_turn(l))
		fn(w);
	else
		lni_loop_ready(l, w);
}

void lni_handler_begin(struct lnet *n, const struct lnet_loop *l)
{
	n->depth[lni_loop_index(l)]++;
}

void lni_handler_end(struct lnet *n, const struct lnet_loop *l)
{
	n->depth[lni_loop_index(l)]--;
	lni_kick(n, l);
}

void lni_call_handler(
        struct lnet *n, struct lnet_loop *l, lnet_handler_fn fn, const struct lnet_event *ev)
{
	if (!fn)
		return;
	lni_handler_begin(n, l);
	fn(ev);
	lni_handler_end(n, l);
}
