/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop: a libev loop, its objects, and one owner token. Whoever holds the token is the loop.
 *
 * Who may hold it:
 *   - the loop's own thread (not in poll mode), normally asleep in libev with the token held;
 *   - a sender that found it free (lni_loop_try .. lni_loop_leave): it may queue and flush, and
 * runs neither libev nor handlers;
 *   - a waiter (lni_loop_wait, lni_loop_turn): it runs whole turns, handlers included. The loop's
 * thread parks meanwhile and takes the token back about a millisecond after the last waiter left,
 * or at once when work was left behind. Only one thread is ever inside libev.
 *
 * A turn: inbox, timers that are due, ready work (handlers), deferred work (flushes), then one
 * libev iteration, which sleeps only if nothing of those is pending and, before that, spins for
 * spin_us while the poll hooks and a non-blocking libev iteration find nothing.
 */
#ifndef LNI_RT_LOOP_H
#define LNI_RT_LOOP_H

#include <lnet/lnd.h>
#include <lnet/lnet.h>

struct lni_loop_conf {
	/* now == NULL: CLOCK_MONOTONIC. Another clock may jump, so no sleep on it is longer than 10
	 * ms. */
	struct lnet_clock clock;
	unsigned spin_us;
	bool poll; /* no thread */
	unsigned index;
	const char *name; /* thread name, copied */
};

/* -ENOMEM, -EMFILE. */
int lni_loop_new(const struct lni_loop_conf *c, struct lnet_loop **out);
/* Starts the thread (nothing in poll mode). -EAGAIN, -ENOMEM. */
int lni_loop_start(struct lnet_loop *l);
/* Ends and joins the thread; afterwards the caller may take the token and run turns itself. */
void lni_loop_stop(struct lnet_loop *l);
/* Every watch, timer and work must be gone. */
void lni_loop_free(struct lnet_loop *l);

/* Take the token if it is free: one compare-and-swap. Fails when the caller holds it already. */
bool lni_loop_try(struct lnet_loop *l);
/* Run deferred work, drain the inbox, give the token back; wake the loop's thread if ready work, a
 * nearer timer or new watches were left behind. */
void lni_loop_leave(struct lnet_loop *l);
/* Does the calling thread hold the token? */
bool lni_loop_held(const struct lnet_loop *l);
/* Is the calling thread inside a turn, that is, in a handler or an upcall? Waiting calls then
 * return -EDEADLK. */
bool lni_loop_in_turn(const struct lnet_loop *l);

/* Ready work: run in a turn alone (handlers), in order. On the loop (token held). */
void lni_loop_ready(struct lnet_loop *l, struct lnet_work *w);

/* Run turns until done(arg), 0; -ETIMEDOUT at the deadline (ns of the loop's clock; UINT64_MAX =
 * none); -EDEADLK. Takes the token from the loop's thread if need be. If another waiter holds the
 * token this one sleeps and is woken when that one leaves or after each turn in which work was
 * done: done() is called by the waiting thread, with the token or without it. A deadline that is
 * over still gives one turn if the token is free. */
int lni_loop_wait(struct lnet_loop *l, bool (*done)(void *), void *arg, uint64_t deadline);
/* One turn, sleeping at most timeout_ns. Events handled, -EBUSY, -EDEADLK. */
int lni_loop_turn(struct lnet_loop *l, uint64_t timeout_ns);

/* Run fn(arg) on the loop and return its value; waits. Token free: at once on this thread. Already
 * on the loop: a plain call. Not from a turn of another loop. */
int lni_loop_call(struct lnet_loop *l, int (*fn)(void *arg), void *arg);

/* Poll mode in a foreign epoll: see lnet_pollfd(), lnet_arm(). -EOPNOTSUPP with a thread, -EBUSY
 * another thread is inside, or the errno of epoll_create1(). */
int lni_loop_pollfd(struct lnet_loop *l);
int lni_loop_arm(struct lnet_loop *l, uint64_t *sleep_ns);

unsigned lni_loop_index(const struct lnet_loop *l);

/* For statistics: turns, sleeps, wake-ups of the owner or the parked thread, inbox items. Relaxed
 * reads. */
struct lni_loop_stats {
	uint64_t turns, sleeps, wakes, posts;
};
void lni_loop_stats(const struct lnet_loop *l, struct lni_loop_stats *s);

#endif
