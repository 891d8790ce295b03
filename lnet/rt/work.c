/* SPDX-License-Identifier: BSD-2-Clause */
/* Deferred and ready work, and the part of a turn that runs them. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>

void lni_workq_init(struct lni_workq *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void push(struct lni_workq *q, struct lnet_work *w, uint32_t kind)
{
	w->queued = kind;
	w->next = NULL;
	*q->tail = w;
	q->tail = &w->next;
}

static struct lnet_work *pop(struct lni_workq *q)
{
	struct lnet_work *w = q->head;

	q->head = w->next;
	if (!q->head)
		q->tail = &q->head;
	w->queued = WORK_IDLE;
	return w;
}

/* Run what is queued now; what these queue themselves waits for the next call. */
static unsigned run(struct lni_workq *q)
{
	struct lnet_work mark = {.queued = WORK_READY};
	struct lnet_work *w;
	unsigned n = 0;

	if (!q->head)
		return 0;
	push(q, &mark, WORK_READY);
	while ((w = pop(q)) != &mark) {
		w->fn(w);
		n++;
	}
	return n;
}

void lnet_work_init(struct lnet_work *w, lnet_work_fn fn, void *arg)
{
	*w = (struct lnet_work){.fn = fn, .arg = arg};
}

void lnet_loop_defer(struct lnet_loop *l, struct lnet_work *w)
{
	assert(lni_loop_held(l));
	if (w->queued == WORK_DEFERRED)
		return;
	assert(w->queued == WORK_IDLE);
	push(&l->deferred, w, WORK_DEFERRED);
}

void lnet_loop_undefer(struct lnet_loop *l, struct lnet_work *w)
{
	struct lnet_work **p = &l->deferred.head;

	assert(lni_loop_held(l));
	if (w->queued != WORK_DEFERRED)
		return;
	while (*p != w)
		p = &(*p)->next;
	*p = w->next;
	if (!*p)
		l->deferred.tail = p;
	w->queued = WORK_IDLE;
}

void lni_loop_ready(struct lnet_loop *l, struct lnet_work *w)
{
	assert(lni_loop_held(l));
	if (w->queued == WORK_READY)
		return;
	assert(w->queued == WORK_IDLE);
	push(&l->ready, w, WORK_READY);
}

unsigned lni_deferred_run(struct lnet_loop *l)
{
	return run(&l->deferred);
}

static unsigned fire(struct lnet_loop *l)
{
	unsigned n;

	/* Without a foreign clock it is libev's timer that says when to look. */
	if (!l->check && !l->clock.now)
		return 0;
	l->check = false;
	if (lni_timers_top(&l->timers) == UINT64_MAX)
		return 0;
	n = lni_timers_fire(&l->timers, lnet_loop_now(l));
	l->check = lni_timers_top(&l->timers) <= lnet_loop_now(l);
	return n;
}

unsigned lni_loop_work(struct lnet_loop *l)
{
	unsigned n;

	l->in_turn = true;
	l->armed_until = 0;
	n = lni_inbox_run(l);
	n += fire(l);
	n += run(&l->ready);
	n += lni_deferred_run(l);
	l->in_turn = false;
	return n;
}
