/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/rt/timer.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMERS_FIRST = 64, ARITY = 4 };

int lni_timers_init(struct lni_timers *h)
{
	h->v = malloc(TIMERS_FIRST * sizeof(*h->v));
	if (!h->v)
		return -ENOMEM;
	h->n = 0;
	h->cap = TIMERS_FIRST;
	h->seq = 0;
	h->floor = 0;
	return 0;
}

void lni_timers_fini(struct lni_timers *h)
{
	free(h->v);
	h->v = NULL;
	h->n = h->cap = 0;
}

/* Arming cannot fail, so room is made long before it is needed: an attempt that fails is repeated
 * with each timer from half full on, and only a heap that stayed without memory all that while
 * gives up. */
static void make_room(struct lni_timers *h)
{
	struct lni_timer_slot *v;

	if (h->n < h->cap / 2)
		return;
	v = realloc(h->v, (size_t)h->cap * 2 * sizeof(*v));
	if (v) {
		h->v = v;
		h->cap *= 2;
	} else if (h->n == h->cap) {
		fputs("ulnet: out of memory for timers\n", stderr);
		abort();
	}
}

static bool before(const struct lni_timer_slot *a, const struct lni_timer_slot *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void put(struct lni_timers *h, uint32_t i, struct lni_timer_slot s)
{
	h->v[i] = s;
	s.t->slot = i + 1;
}

static void sift_up(struct lni_timers *h, uint32_t i, struct lni_timer_slot s)
{
	while (i) {
		uint32_t up = (i - 1) / ARITY;

		if (!before(&s, &h->v[up]))
			break;
		put(h, i, h->v[up]);
		i = up;
	}
	put(h, i, s);
}

static uint32_t least_child(const struct lni_timers *h, uint32_t first)
{
	uint32_t end = first + ARITY < h->n ? first + ARITY : h->n;
	uint32_t best = first;

	for (uint32_t c = first + 1; c < end; c++) {
		if (before(&h->v[c], &h->v[best]))
			best = c;
	}
	return best;
}

static void sift_down(struct lni_timers *h, uint32_t i, struct lni_timer_slot s)
{
	for (;;) {
		uint32_t c = i * ARITY + 1;

		if (c >= h->n)
			break;
		c = least_child(h, c);
		if (!before(&h->v[c], &s))
			break;
		put(h, i, h->v[c]);
		i = c;
	}
	put(h, i, s);
}

static void settle(struct lni_timers *h, uint32_t i, struct lni_timer_slot s)
{
	if (i && before(&s, &h->v[(i - 1) / ARITY]))
		sift_up(h, i, s);
	else
		sift_down(h, i, s);
}

void lni_timers_arm(struct lni_timers *h, struct lnet_timer *t, uint64_t when)
{
	/* Armed by a timer's function for a time that is over: after everything that is due now. */
	struct lni_timer_slot s = {
	        .when = when < h->floor ? h->floor : when, .seq = h->seq++, .t = t};

	t->when = when;
	if (t->slot) {
		assert(t->slot <= h->n && h->v[t->slot - 1].t == t);
		settle(h, t->slot - 1, s);
		return;
	}
	make_room(h);
	sift_up(h, h->n++, s);
}

void lni_timers_stop(struct lni_timers *h, struct lnet_timer *t)
{
	uint32_t i = t->slot;

	if (!i)
		return;
	i--;
	assert(i < h->n && h->v[i].t == t);
	t->slot = 0;
	h->n--;
	if (i != h->n)
		settle(h, i, h->v[h->n]);
}

unsigned lni_timers_fire(struct lni_timers *h, uint64_t now)
{
	uint64_t end = h->seq;
	unsigned fired = 0;

	/* What a timer's function arms and is due at once waits for the next call. */
	h->floor = now;
	while (h->n && h->v[0].when <= now && h->v[0].seq < end) {
		struct lnet_timer *t = h->v[0].t;

		lni_timers_stop(h, t);
		fired++;
		t->fn(t);
	}
	h->floor = 0;
	return fired;
}

void lnet_timer_init(struct lnet_timer *t, lnet_timer_fn fn, void *arg)
{
	*t = (struct lnet_timer){.fn = fn, .arg = arg};
}
