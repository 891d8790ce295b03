/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What concerns all loops of a node: waiting, grace periods, calls on each of them.
 */
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdlib.h>

/* Two loops wake each other through here; in between a waiter looks for itself this often. */
#define SLICE_NS 10000000ull

struct lnet_loop *lni_cur_loop(const struct lnet *n)
{
	for (unsigned i = 0; i < n->nloops; i++)
		if (lni_loop_held(n->loops[i]))
			return n->loops[i];
	return NULL;
}

bool lni_in_handler(const struct lnet *n)
{
	for (unsigned i = 0; i < n->nloops; i++)
		if (lni_loop_held(n->loops[i]))
			return true;
	return false;
}

struct each {
	int (*fn)(void *arg, struct lnet_loop *l);
	void *arg;
	struct lnet_loop *loop;
};

static int each_one(void *arg)
{
	struct each *e = arg;

	return e->fn(e->arg, e->loop);
}

int lni_each_loop(struct lnet *n, int (*fn)(void *arg, struct lnet_loop *l), void *arg)
{
	for (unsigned i = 0; i < n->nloops; i++) {
		struct each e = {fn, arg, n->loops[i]};
		int rc = lni_loop_call(n->loops[i], each_one, &e);

		if (rc)
			return rc;
	}
	return 0;
}

struct lni_grace_mem {
	struct lnet_work work;
	struct lnet *n;
	unsigned next;
	void (*fn)(void *arg);
	void *arg;
};

static void grace_step(struct lnet_work *w)
{
	struct lni_grace_mem *g = w->arg;

	if (g->next < g->n->nloops) {
		lnet_work_init(w, grace_step, g);
		lnet_loop_post(g->n->loops[g->next++], w);
		return;
	}
	g->fn(g->arg);
	atomic_fetch_sub(&g->n->graces, 1);
	free(g);
}

bool lni_grace_idle(void *arg)
{
	struct lnet *n = arg;

	return atomic_load(&n->graces) == 0 && !atomic_load(&n->kicked);
}

struct lni_grace_mem *lni_grace_new(void)
{
	return malloc(sizeof(struct lni_grace_mem));
}

void lni_grace_start(struct lnet *n, struct lni_grace_mem *g, void (*fn)(void *arg), void *arg)
{
	atomic_fetch_add(&n->graces, 1);
	*g = (struct lni_grace_mem){.n = n, .next = 1, .fn = fn, .arg = arg};
	lnet_work_init(&g->work, grace_step, g);
	lnet_loop_post(n->loops[0], &g->work);
}

int lni_grace(struct lnet *n, void (*fn)(void *arg), void *arg)
{
	struct lni_grace_mem *g = lni_grace_new();

	if (!g)
		return -ENOMEM;
	lni_grace_start(n, g, fn, arg);
	return 0;
}

static void kicked(struct lnet_work *w)
{
	struct lnet *n = w->arg;

	atomic_store(&n->kicked, false);
}

void lni_kick(struct lnet *n, const struct lnet_loop *l)
{
	if (l == n->loops[0] || atomic_load(&n->waiters) == 0 || atomic_exchange(&n->kicked, true))
		return;
	lnet_work_init(&n->kick, kicked, n);
	lnet_loop_post(n->loops[0], &n->kick);
}

static int turn_all(struct lnet *n, uint64_t sleep_ns)
{
	for (unsigned i = 1; i < n->nloops; i++)
		if (lni_loop_turn(n->loops[i], 0) > 0)
			sleep_ns = 0;
	return lni_loop_turn(n->loops[0], sleep_ns);
}

static int wait_many(struct lnet *n, bool (*done)(void *), void *arg, uint64_t deadline)
{
	bool poll = n->opts.flags & LNET_NODE_POLL;
	int rc = 0;

	while (!done(arg)) {
		uint64_t now = lnet_now(n), until = now + (poll ? SLICE_NS / 10 : SLICE_NS);

		if (now >= deadline)
			return -ETIMEDOUT;
		until = until < deadline ? until : deadline;
		if (poll)
			rc = turn_all(n, until - now);
		else
			rc = lni_loop_wait(n->loops[0], done, arg, until);
		if (rc == -EDEADLK)
			return rc;
	}
	return 0;
}

int lni_wait(struct lnet *n, bool (*done)(void *), void *arg, uint64_t deadline)
{
	int rc;

	if (n->nloops == 1)
		return lni_loop_wait(n->loops[0], done, arg, deadline);
	if (lni_in_handler(n))
		return -EDEADLK;
	atomic_fetch_add(&n->waiters, 1);
	rc = wait_many(n, done, arg, deadline);
	atomic_fetch_sub(&n->waiters, 1);
	return rc;
}

bool lni_mem_take(struct lnet *n, uint64_t bytes)
{
	if (atomic_fetch_add(&n->mem_used, bytes) + bytes <= n->opts.mem_max)
		return true;
	atomic_fetch_sub(&n->mem_used, bytes);
	return false;
}

void lni_mem_give(struct lnet *n, uint64_t bytes)
{
	atomic_fetch_sub(&n->mem_used, bytes);
}

#define ID_KIND_BITS 3
#define ID_LOOP_BITS 6

uint64_t lni_new_id(struct lnet *n, enum lni_id_kind kind, unsigned loop)
{
	uint64_t id;

	/* 0 is "no handle" and all ones "no wire handle": both may come out once in 2^64 */
	do {
		uint64_t seq = atomic_fetch_add_explicit(&n->next_id, 1, memory_order_relaxed);

		id = lni_perm_apply(
		        &n->perm, (seq << ID_LOOP_BITS | loop) << ID_KIND_BITS | (uint64_t)kind);
	} while (id == 0 || id == LNET_COOKIE_NONE);
	return id;
}

bool lni_id_is(const struct lnet *n, uint64_t id, enum lni_id_kind kind, unsigned *loop)
{
	uint64_t v = lni_perm_undo(&n->perm, id);

	*loop = (unsigned)(v >> ID_KIND_BITS) & ((1u << ID_LOOP_BITS) - 1);
	return (v & ((1u << ID_KIND_BITS) - 1)) == (uint64_t)kind && *loop < n->nloops;
}
