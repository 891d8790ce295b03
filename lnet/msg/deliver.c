/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handlers: where and when they run. Directly from an upcall of a driver inside a turn; otherwise
 * (a sender flushes, or another handler is on the stack) as ready work of the loop, so that no
 * handler ever runs inside lnet_put() or an unlink.
 */
#include "lnet/msg/msg.h"

void lni_deliver(
        struct lnet *n, struct lnet_loop *l, struct lnet_work *w, lnet_work_fn fn, void *arg)
{
	lnet_work_init(w, fn, arg);
	if (n->msgs->pl[lni_loop_index(l)].depth == 0 && lni_loop_in_turn(l))
		fn(w);
	else
		lni_loop_ready(l, w);
}

void lni_call_handler(
        struct lnet *n, struct lnet_loop *l, lnet_handler_fn fn, const struct lnet_event *ev)
{
	unsigned *depth = &n->msgs->pl[lni_loop_index(l)].depth;

	if (!fn)
		return;
	(*depth)++;
	fn(ev);
	(*depth)--;
	lni_kick(n, l);
}
