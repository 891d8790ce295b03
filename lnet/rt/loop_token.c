/* SPDX-License-Identifier: BSD-2-Clause */
/* The token: taking it, giving it back, and the calls that wait. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>
#include <errno.h>

enum {
	LEAVE_ROUNDS = 16, /* of deferred work and inbox before the rest is left to the thread */
	NEAR_NS = 2 * LNI_NS_PER_MS, /* a timer nearer than the thread's next look */
	FOREIGN_NAP_NS = 5 * LNI_NS_PER_MS,
};

bool lni_token_take(struct lnet_loop *l)
{
	uintptr_t none = 0;

	if (!atomic_compare_exchange_strong(&l->owner, &none, lni_self()))
		return false;
	l->stale = true;
	return true;
}

bool lni_loop_try(struct lnet_loop *l)
{
	/* The load keeps the cache line shared when another thread holds the token. */
	return !atomic_load_explicit(&l->owner, memory_order_relaxed) && lni_token_take(l);
}

bool lni_loop_held(const struct lnet_loop *l)
{
	return atomic_load_explicit(&l->owner, memory_order_relaxed) == lni_self();
}

bool lni_loop_in_turn(const struct lnet_loop *l)
{
	return lni_loop_held(l) && l->in_turn;
}

void lni_waiters_wake(struct lnet_loop *l)
{
	/* A read-modify-write, so that a waiter which adds itself after it sees what was done
	 * before. */
	if (!atomic_fetch_add(&l->nwait, 0))
		return;
	atomic_fetch_add(&l->wseq, 1);
	lni_futex_wake(&l->wseq, INT_MAX);
}

/* The token is free: see that somebody takes it who should. */
static void pass_on(struct lnet_loop *l)
{
	if (atomic_load(&l->nwait)) {
		atomic_fetch_add(&l->wseq, 1);
		lni_futex_wake(&l->wseq, 1);
	} else if (atomic_load(&l->left)) {
		if (l->poll)
			lni_loop_kick(l);
		else
			lni_thread_unpark(l);
	} else if (atomic_load(&l->park) == PARK_AWAIT) {
		lni_thread_unpark(l);
	}
}

static bool timer_near(struct lnet_loop *l)
{
	uint64_t top = lni_timers_top(&l->timers);

	return top != UINT64_MAX && top <= lnet_loop_now(l) + NEAR_NS;
}

/* Finish what must not be left behind; true = something is left all the same. */
static bool finish(struct lnet_loop *l)
{
	unsigned rounds = 0;

	while ((l->deferred.head || !lni_inbox_empty(l)) && rounds++ < LEAVE_ROUNDS) {
		lni_inbox_run(l);
		lni_deferred_run(l);
	}
	if (lni_loop_pending(l))
		return true;
	if (l->poll)
		return lni_timers_top(&l->timers) < l->armed_until;
	return l->fd_new || l->check || timer_near(l);
}

void lni_token_release(struct lnet_loop *l)
{
	atomic_store(&l->owner, 0);
	pass_on(l);
}

static void leave(struct lnet_loop *l)
{
	bool left;

	do {
		left = finish(l);
		if (left != (atomic_load_explicit(&l->left, memory_order_relaxed) != 0))
			atomic_store(&l->left, left);
		l->by_thread = false;
		atomic_store(&l->owner, 0);
		/* Posted after finish() by one who saw the token held, and nobody asleep. When
		 * something is left anyhow, whoever sees to that sees to this too. */
	} while (!left && !lni_inbox_empty(l) && lni_token_take(l));
}

void lni_loop_leave(struct lnet_loop *l)
{
	assert(lni_loop_held(l));
	leave(l);
	/* What this thread did may be what one of several waiters sleeps for. */
	lni_waiters_wake(l);
	pass_on(l);
}

/* ---- waiting ------------------------------------------------------------------------------------
 */

static bool late(const struct lnet_loop *l, uint64_t deadline)
{
	return deadline != UINT64_MAX && lnet_loop_clock(l) >= deadline;
}

/* Run turns with the token held. */
static int drive(struct lnet_loop *l, bool (*done)(void *), void *arg, uint64_t deadline)
{
	unsigned n = 0;

	for (bool polled = false;; polled = true) {
		n += lni_loop_work(l);
		if (n)
			lni_waiters_wake(l);
		if (done(arg))
			return 0;
		if (polled && deadline != UINT64_MAX && lnet_loop_now(l) >= deadline)
			return -ETIMEDOUT;
		n = lni_loop_poll(l, deadline, UINT64_MAX);
	}
}

static uint64_t nap_ns(const struct lnet_loop *l, uint64_t deadline)
{
	uint64_t now, ns;

	if (deadline == UINT64_MAX)
		return l->clock.now ? FOREIGN_NAP_NS : UINT64_MAX;
	now = lnet_loop_clock(l);
	ns = deadline > now ? deadline - now : 0;
	return l->clock.now && ns > FOREIGN_NAP_NS ? FOREIGN_NAP_NS : ns;
}

/*
 * Another thread holds the token. Sleep until it gives it back or has done some work. 0: look
 * again; 1: done(arg); -ETIMEDOUT.
 */
static int watch_owner(struct lnet_loop *l, bool (*done)(void *), void *arg, uint64_t deadline)
{
	uintptr_t owner;
	uint32_t seq;
	int rc = 0;

	atomic_fetch_add(&l->nwait, 1);
	seq = atomic_load(&l->wseq);
	owner = atomic_load(&l->owner);
	if (done && done(arg)) {
		rc = 1;
	} else if (owner) {
		/* The loop's thread gives the token to whoever waits; a waiter keeps it. */
		if (owner == atomic_load(&l->tid))
			lni_loop_kick(l);
		if (late(l, deadline))
			rc = -ETIMEDOUT;
		else
			lni_futex_wait(&l->wseq, seq, nap_ns(l, deadline));
	}
	atomic_fetch_sub(&l->nwait, 1);
	return rc;
}

static void waiter_gone(struct lnet_loop *l, bool drove)
{
	atomic_fetch_sub(&l->want, 1);
	if (drove) {
		atomic_fetch_add_explicit(&l->activity, 1, memory_order_relaxed);
		leave(l);
	}
	/* Also when it did not drive: it may have been the one that was woken to do it. */
	if (!atomic_load(&l->owner))
		pass_on(l);
}

int lni_loop_wait(struct lnet_loop *l, bool (*done)(void *), void *arg, uint64_t deadline)
{
	bool drove = false;
	int rc;

	if (lni_loop_held(l))
		return -EDEADLK;
	if (done(arg))
		return 0;
	atomic_fetch_add(&l->want, 1);
	do {
		drove = lni_loop_try(l);
		rc = drove ? drive(l, done, arg, deadline) : watch_owner(l, done, arg, deadline);
	} while (!drove && rc == 0);
	waiter_gone(l, drove);
	return rc > 0 ? 0 : rc;
}

/* Take the token from the loop's thread; not from another waiter. */
static int take_over(struct lnet_loop *l, uint64_t timeout_ns)
{
	uint64_t end = UINT64_MAX;

	if (timeout_ns < LNI_NS_PER_MS)
		timeout_ns = LNI_NS_PER_MS;
	for (;;) {
		uintptr_t tid = atomic_load(&l->tid), owner;

		if (lni_loop_try(l))
			return 0;
		owner = atomic_load(&l->owner);
		if (owner && owner != tid)
			return -EBUSY;
		if (end == UINT64_MAX && timeout_ns < UINT64_MAX / 2)
			end = lnet_loop_clock(l) + timeout_ns;
		if (watch_owner(l, NULL, NULL, end) < 0)
			return -EBUSY;
	}
}

static unsigned turn(struct lnet_loop *l, uint64_t timeout_ns)
{
	unsigned n = lni_loop_work(l);

	n += lni_loop_poll(l, UINT64_MAX, n ? 0 : timeout_ns);
	n += lni_loop_work(l);
	if (n)
		lni_waiters_wake(l);
	return n < INT_MAX ? n : INT_MAX;
}

int lni_loop_turn(struct lnet_loop *l, uint64_t timeout_ns)
{
	int rc;

	if (lni_loop_held(l))
		return -EDEADLK;
	if (l->poll) {
		/* No thread to take it from. */
		if (!lni_loop_try(l))
			return -EBUSY;
		rc = (int)turn(l, timeout_ns);
		leave(l);
		pass_on(l);
		return rc;
	}
	atomic_fetch_add(&l->want, 1);
	rc = take_over(l, timeout_ns);
	if (rc < 0) {
		waiter_gone(l, false);
		return rc;
	}
	rc = (int)turn(l, timeout_ns);
	waiter_gone(l, true);
	return rc;
}

/* ---- calling ------------------------------------------------------------------------------------
 */

struct call {
	struct lnet_work work;
	int (*fn)(void *arg);
	void *arg;
	int rc;
	atomic_bool done;
};

static void call_run(struct lnet_work *w)
{
	struct call *c = w->arg;

	c->rc = c->fn(c->arg);
	atomic_store(&c->done, true);
}

static bool call_done(void *arg)
{
	struct call *c = arg;

	return atomic_load(&c->done);
}

int lni_loop_call(struct lnet_loop *l, int (*fn)(void *arg), void *arg)
{
	struct call c = {.fn = fn, .arg = arg};
	int rc;

	if (lni_loop_held(l))
		return fn(arg);
	if (lni_loop_try(l)) {
		rc = fn(arg);
		lni_loop_leave(l);
		return rc;
	}
	lnet_work_init(&c.work, call_run, &c);
	lnet_loop_post(l, &c.work);
	/* Neither -EDEADLK, since the token is not held, nor -ETIMEDOUT. */
	lni_loop_wait(l, call_done, &c, UINT64_MAX);
	return c.rc;
}
