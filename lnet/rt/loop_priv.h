/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a loop. Only the files lnet/rt/ that make up the loop include this. */
#ifndef LNI_RT_LOOP_PRIV_H
#define LNI_RT_LOOP_PRIV_H

#include "lnet/base/list.h"
#include "lnet/rt/futex.h"
#include "lnet/rt/loop.h"
#include "lnet/rt/timer.h"

#include <ev.h>
#include <pthread.h>
#include <stdatomic.h>

#define LNI_NS_PER_MS 1000000u

/* struct lnet_work.queued */
enum { WORK_IDLE, WORK_DEFERRED, WORK_READY, WORK_POSTED };

/* What the loop's thread is doing on l->park. */
enum {
	PARK_NOT,   /* it runs */
	PARK_LOOK,  /* asleep for a millisecond, then it looks whether waiters still come */
	PARK_AWAIT, /* asleep until somebody gives the token back */
};

struct lni_workq {
	struct lnet_work *head, **tail;
};

struct lnet_loop {
	/* Shared by all threads. Every access is sequentially consistent unless it says otherwise:
	 * each pair (inbox, owner), (inbox, sleeping), (want, sleeping), (nwait, owner) and
	 * (park, owner) is a Dekker pair: one side writes the first and reads the second, the other
	 * side the reverse, so that one of them sees the other. */
	_Atomic uintptr_t owner;           /* thread that holds the token; 0 = free */
	_Atomic(struct lnet_work *) inbox; /* last posted first */
	_Atomic uint32_t sleeping;         /* the owner is, or is about to be, asleep in libev; or a
	                                    * foreign epoll is, on the poll descriptor */
	_Atomic uint32_t want;             /* threads inside a waiting call */
	_Atomic uint32_t nwait;            /* of these, asleep on wseq or about to be */
	_Atomic uint32_t wseq;             /* changes when they must look again */
	_Atomic uint32_t left;             /* work was left behind for the loop's thread */
	_Atomic uint32_t park;
	_Atomic uint32_t activity; /* times that a waiter drove the loop */
	_Atomic uint32_t stop;
	_Atomic uintptr_t tid; /* the loop's thread; 0 = none */
	_Atomic uint64_t wakes;

	/* The owner's alone. */
	_Alignas(64) struct ev_loop *ev;
	uint64_t now;
	bool stale; /* now must be read afresh */
	bool in_turn;
	bool by_thread; /* the owner is the loop's thread */
	bool fd_new;    /* watches that libev has not told the kernel yet */
	bool check;     /* timers may be due */
	struct lni_workq ready, deferred;
	struct lni_timers timers;
	uint64_t ev_at; /* the ev_timer is armed for this time; UINT64_MAX = not armed */
	unsigned nev;   /* events handled in the current libev iteration */
	struct lnet_poll_hook *hooks;
	unsigned hot;     /* the hooks found something in one of the last turns: turns left */
	unsigned skipped; /* turns without libev */
	uint64_t last_ev; /* when libev ran last, kept while there are hooks */
	uint64_t skip_ns; /* how long it may be left out while the hooks are hot */
	unsigned spin_miss;
	unsigned spin_pause;
	_Atomic uint64_t turns, sleeps, posts;
	ev_timer tick;
	ev_io wake_io;

	struct lni_list watches; /* active ones */
	int mirror;              /* epoll descriptor for a foreign epoll; -1 = none */
	bool mirror_shared;      /* some descriptor has two watches */
	uint64_t armed_until;    /* a foreign epoll sleeps so long at most; 0 = none does */

	/* Constant. */
	int evfd;
	struct lnet_clock clock;
	bool poll;
	uint64_t spin_ns;
	unsigned index;
	void *rxbuf;
	char name[16];
	bool started;
	pthread_t thread;
};

/* What lives in struct lnet_watch.rsv. */
struct lni_watch_priv {
	ev_io io;
	struct lni_list link;
};
_Static_assert(sizeof(struct lni_watch_priv) <= sizeof(((struct lnet_watch *)0)->rsv), "rsv");
_Static_assert(_Alignof(struct lni_watch_priv) <= _Alignof(uint64_t), "rsv");

static inline struct lni_watch_priv *lni_watch_priv(struct lnet_watch *w)
{
	return (struct lni_watch_priv *)(void *)w->rsv;
}

static inline uintptr_t lni_self(void)
{
	return (uintptr_t)pthread_self();
}

/* A counter that the owner alone writes. */
static inline void lni_count(_Atomic uint64_t *c, uint64_t n)
{
	atomic_store_explicit(
	        c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}

/* CLOCK_MONOTONIC, for the spinning alone. */
static inline uint64_t lni_mono(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* inbox.c */
void lni_inbox_push(struct lnet_loop *l, struct lnet_work *w);
unsigned lni_inbox_run(struct lnet_loop *l);
static inline bool lni_inbox_empty(struct lnet_loop *l)
{
	return !atomic_load(&l->inbox);
}
/* Write the eventfd if the owner sleeps. */
void lni_loop_kick(struct lnet_loop *l);

/* work.c */
void lni_workq_init(struct lni_workq *q);
unsigned lni_deferred_run(struct lnet_loop *l);
/* The part of a turn before libev: inbox, timers, ready, deferred. Pieces of work done. */
unsigned lni_loop_work(struct lnet_loop *l);
/* Is there anything that forbids sleeping? */
static inline bool lni_loop_pending(struct lnet_loop *l)
{
	return l->ready.head || l->deferred.head || !lni_inbox_empty(l);
}

/* loop_poll.c */
/* One libev iteration, which sleeps until an event, the next timer, the deadline, or max_ns; not at
 * all when something is pending. Events handled. */
unsigned lni_loop_poll(struct lnet_loop *l, uint64_t deadline, uint64_t max_ns);
void lni_poll_init(struct lnet_loop *l);

/* loop_token.c */
bool lni_token_take(struct lnet_loop *l);
void lni_token_release(struct lnet_loop *l);
/* Make the waiters that sleep look again. */
void lni_waiters_wake(struct lnet_loop *l);

/* loop_thread.c */
void lni_thread_unpark(struct lnet_loop *l);

/* loop_mirror.c */
void lni_mirror_sync(struct lnet_loop *l, struct lnet_watch *w, int before);

#endif
