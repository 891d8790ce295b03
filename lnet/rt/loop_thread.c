/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop's thread: it drives the loop while nobody waits, and parks while somebody does. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>

void lni_thread_unpark(struct lnet_loop *l)
{
	if (atomic_load(&l->park) == PARK_NOT || atomic_exchange(&l->park, PARK_NOT) == PARK_NOT)
		return;
	atomic_fetch_add_explicit(&l->wakes, 1, memory_order_relaxed);
	lni_futex_wake(&l->park, 1);
}

static bool stopped(struct lnet_loop *l)
{
	return atomic_load(&l->stop) != 0;
}

/* Is there a reason not to go to sleep in this manner? */
static bool must_look(struct lnet_loop *l, uint32_t how)
{
	if (stopped(l))
		return true;
	if (atomic_load(&l->owner) || atomic_load(&l->want))
		return false;
	return how == PARK_AWAIT || atomic_load(&l->left);
}

/*
 * Wait for the token: until a millisecond has passed in which no waiter came, or somebody left work
 * behind. While waiters come and go the thread looks once a millisecond, so that none of them has
 * to wake it; while one of them stays, it sleeps until that one leaves. false = stop.
 */
static bool park(struct lnet_loop *l, bool quiet)
{
	uint32_t seen = atomic_load(&l->activity);

	for (;;) {
		uint32_t how = quiet ? PARK_AWAIT : PARK_LOOK, act;

		if (stopped(l))
			return false;
		if ((quiet || atomic_load(&l->left)) && !atomic_load(&l->want) && lni_token_take(l))
			return true;
		atomic_store(&l->park, how);
		if (!must_look(l, how))
			lni_futex_wait(
			        &l->park, how, how == PARK_LOOK ? LNI_NS_PER_MS : UINT64_MAX);
		atomic_store(&l->park, PARK_NOT);
		act = atomic_load(&l->activity);
		quiet = act == seen;
		seen = act;
	}
}

static void drive(struct lnet_loop *l)
{
	unsigned n = 0;

	l->by_thread = true;
	for (;;) {
		n += lni_loop_work(l);
		if (n)
			lni_waiters_wake(l);
		if (atomic_load(&l->want) || stopped(l))
			return;
		n = lni_loop_poll(l, UINT64_MAX, UINT64_MAX);
	}
}

static void *thread_main(void *arg)
{
	struct lnet_loop *l = arg;

	atomic_store(&l->tid, lni_self());
	for (bool quiet = true; park(l, quiet); quiet = false) {
		drive(l);
		lni_loop_leave(l);
	}
	atomic_store(&l->tid, 0);
	return NULL;
}

int lni_loop_start(struct lnet_loop *l)
{
	sigset_t all, old;
	int rc;

	if (l->poll)
		return 0;
	assert(!l->started);
	atomic_store(&l->stop, 0);
	/* Signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->thread, NULL, thread_main, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return rc == ENOMEM ? -ENOMEM : -EAGAIN;
	pthread_setname_np(l->thread, l->name);
	l->started = true;
	return 0;
}

void lni_loop_stop(struct lnet_loop *l)
{
	if (!l->started)
		return;
	assert(!pthread_equal(pthread_self(), l->thread));
	atomic_store(&l->stop, 1);
	lni_loop_kick(l);
	lni_thread_unpark(l);
	pthread_join(l->thread, NULL);
	l->started = false;
}
