/* SPDX-License-Identifier: BSD-2-Clause */
/* The inbox: a stack that any thread pushes to and the owner takes whole and turns round. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

void lni_inbox_push(struct lnet_loop *l, struct lnet_work *w)
{
	struct lnet_work *head = atomic_load_explicit(&l->inbox, memory_order_relaxed);

	assert(w->queued == WORK_IDLE);
	w->queued = WORK_POSTED;
	do {
		w->next = head;
	} while (!atomic_compare_exchange_weak(&l->inbox, &head, w));
}

static struct lnet_work *reverse(struct lnet_work *w)
{
	struct lnet_work *out = NULL;

	while (w) {
		struct lnet_work *next = w->next;

		w->next = out;
		out = w;
		w = next;
	}
	return out;
}

unsigned lni_inbox_run(struct lnet_loop *l)
{
	struct lnet_work *w;
	unsigned n = 0;

	if (lni_inbox_empty(l))
		return 0;
	w = reverse(atomic_exchange(&l->inbox, NULL));
	while (w) {
		struct lnet_work *next = w->next;

		w->queued = WORK_IDLE;
		w->fn(w);
		n++;
		w = next;
	}
	lni_count(&l->posts, n);
	return n;
}

void lni_loop_kick(struct lnet_loop *l)
{
	uint64_t one = 1;

	/* Only the first of several wakers writes. */
	if (!atomic_load(&l->sleeping) || !atomic_exchange(&l->sleeping, 0))
		return;
	atomic_fetch_add_explicit(&l->wakes, 1, memory_order_relaxed);
	/* It can fail only when the counter is full, that is, when it is readable anyway. */
	while (write(l->evfd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void lnet_loop_post(struct lnet_loop *l, struct lnet_work *w)
{
	lni_inbox_push(l, w);
	/* A free token: nobody would look for a while, so this thread does it. */
	if (!atomic_load(&l->owner) && lni_token_take(l))
		lni_loop_leave(l);
	else
		lni_loop_kick(l);
}
