/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node object. Each layer keeps its own state behind a pointer of its own and touches no
 * other's.
 */
#ifndef LNI_RT_NODE_H
#define LNI_RT_NODE_H

#include <lnet/lnet.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lnet/base/hash64.h"
#include "lnet/base/log.h"
#include "lnet/rt/global.h"
#include "lnet/rt/loop.h"
#include "lnet/rt/up.h"

struct lni_net;
struct lni_ptl;
struct lni_msgs;
struct lni_pinger;

/* Node-wide counters, one set a loop, touched by its owner alone; summed for show. */
struct lni_counters {
	uint64_t msgs_alloc, msgs_max, errors;
	uint64_t send_count, resend_count, response_timeout_count;
	uint64_t by_hstatus[LNET_HS_COUNT];
	uint64_t recv_count, drop_count;
	uint64_t send_length, recv_length, drop_length;
	/* ours: why messages were dropped, and how operations ended */
	uint64_t drop_no_match, drop_too_long, drop_bad_portal, drop_not_mine, drop_late,
	        drop_forged;
	uint64_t drop_park_full, drop_filter, drop_nomem, drop_closing, no_route;
	uint64_t proto_errors, foreign_src;
	uint64_t ops_started, ops_ok, ops_failed, ops_cancelled, ops_timed_out;
	uint64_t parked;
	uint64_t redirects;
};

struct lnet {
	struct lnet_opts opts;
	const struct lnet_lnd **lnds; /* opts.lnds */
	char *lnd_path;
	char name[64];
	unsigned nloops;
	struct lnet_loop **loops;
	struct lni_counters *counters; /* [nloops] */
	unsigned *depth;               /* [nloops] handlers on the stack; the loop's owner's */
	struct lnet_clock clock;
	struct lni_perm perm; /* makes cookies that cannot be guessed */
	_Atomic uint64_t next_id;
	uint64_t iface_cookie;
	uint64_t incarnation;
	uint32_t pid;
	bool client;
	struct lni_log log;
	struct lni_globals globals;

	_Atomic uint32_t waiters; /* threads in lni_wait() */
	struct lnet_work kick;    /* posted to the first loop */
	_Atomic bool kicked;
	_Atomic unsigned graces; /* lni_grace() calls that have not run */

	_Atomic uint32_t users;    /* calls under way */
	_Atomic bool closing;      /* no new call; what was accepted goes on */
	_Atomic bool aborting;     /* nothing new at all */
	_Atomic uint64_t mem_used; /* parked and copied payload */

	struct lni_up up;
	struct lni_filter filter;

	struct lni_net *net;
	struct lni_ptl *ptl;
	struct lni_msgs *msgs;
	struct lni_pinger *ping;
};

/* Every public call that may meet a closing node is bracketed by these. false: -ESHUTDOWN. */
static inline bool lni_enter(struct lnet *n)
{
	atomic_fetch_add_explicit(&n->users, 1, memory_order_acquire);
	if (!atomic_load_explicit(&n->closing, memory_order_acquire))
		return true;
	atomic_fetch_sub_explicit(&n->users, 1, memory_order_release);
	return false;
}

static inline void lni_exit(struct lnet *n)
{
	atomic_fetch_sub_explicit(&n->users, 1, memory_order_release);
}

static inline struct lni_counters *lni_ctr(struct lnet *n, const struct lnet_loop *l)
{
	return &n->counters[lni_loop_index(l)];
}

/* The home loop of a peer NI. */
static inline struct lnet_loop *lni_home(struct lnet *n, const struct lnet_nid *nid)
{
	return n->nloops == 1 ? n->loops[0] : n->loops[lnet_nid_hash(nid) % n->nloops];
}

/* Is the calling thread inside a turn of one of the node's loops (so that it must not wait)? */
bool lni_in_handler(const struct lnet *n);
/* On the thread that holds it: the loop; NULL otherwise. */
struct lnet_loop *lni_cur_loop(const struct lnet *n);

/*
 * deliver.c; on the loop. lni_deliver(): run fn(work) as a handler: now if that is allowed here,
 * else as ready work. What calls code of the user is between _begin() and _end(), or
 * lni_call_handler().
 */
void lni_deliver(
        struct lnet *n, struct lnet_loop *l, struct lnet_work *w, lnet_work_fn fn, void *arg);
void lni_handler_begin(struct lnet *n, const struct lnet_loop *l);
void lni_handler_end(struct lnet *n, const struct lnet_loop *l);
void lni_call_handler(
        struct lnet *n, struct lnet_loop *l, lnet_handler_fn fn, const struct lnet_event *ev);

/*
 * Handles and wire cookies: a kind, a loop and a serial number through a keyed permutation, so that
 * they are never reused and cannot be guessed. lni_id_kind() is meaningful for ids of this node
 * alone.
 */
enum lni_id_kind { LNI_ID_ME = 1, LNI_ID_MD, LNI_ID_OP, LNI_ID_WATCH };
uint64_t lni_new_id(struct lnet *n, enum lni_id_kind kind, unsigned loop);
/* Undo: false when the kind differs or the loop does not exist. */
bool lni_id_is(const struct lnet *n, uint64_t id, enum lni_id_kind kind, unsigned *loop);

/* Run fn(arg, loop) on each loop in turn and wait; stops at the first non-zero value and returns
 * it. */
int lni_each_loop(struct lnet *n, int (*fn)(void *arg, struct lnet_loop *l), void *arg);

/*
 * Call fn(arg) when every loop has passed between two turns since now: nobody can still look at
 * what was unpublished before. Any thread; never waits; fn runs on the last loop. -ENOMEM: fn was
 * not accepted (the caller keeps the memory).
 */
int lni_grace(struct lnet *n, void (*fn)(void *arg), void *arg);
/* The same in two steps, the second of which cannot fail. What is not started is given to free().
 */
struct lni_grace_mem *lni_grace_new(void);
void lni_grace_start(struct lnet *n, struct lni_grace_mem *g, void (*fn)(void *arg), void *arg);
bool lni_grace_idle(void *n); /* none is under way */

/* Wait until done(arg); every loop makes progress meanwhile, in poll mode too. 0, -ETIMEDOUT,
 * -EDEADLK. */
int lni_wait(struct lnet *n, bool (*done)(void *), void *arg, uint64_t deadline);
/* Something that a waiter may be waiting for happened on `l`: let those who sleep on another loop
 * look. */
void lni_kick(struct lnet *n, const struct lnet_loop *l);

/* Take or give back bytes of the node's memory cap. false: over the cap. */
bool lni_mem_take(struct lnet *n, uint64_t bytes);
void lni_mem_give(struct lnet *n, uint64_t bytes);

#define lni_logf(n, lv, id, ...) lni_log_at(&(n)->log, lnet_now(n), lv, id, __VA_ARGS__)

#endif
