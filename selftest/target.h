/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One target of a run: its session and its operations.
 *
 * Lanes are driven by handlers; sessions are opened and closed by the thread inside lst_run(), and
 * only while the target has no operation under way.
 */
#ifndef LST_TARGET_H
#define LST_TARGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "selftest/proto.h"
#include "selftest/run.h"

struct lst_target;

struct lst_active {
	struct lnet *n;
	const struct lst_run_conf *conf;
	struct lst_run_result *res;
	pthread_mutex_t lock; /* of res and the targets' counts */
	uint64_t seed, end;   /* end: no new operation after it */
	_Atomic bool stopping;
	_Atomic unsigned busy;   /* operations under way */
	_Atomic unsigned broken; /* targets in LST_BROKEN */
	_Atomic bool attention;  /* a broken target has come to rest */
	bool lost;               /* memory that an event may still reach: not to be freed */
	struct lst_target *target;
};

enum lst_state {
	LST_CLOSED,  /* no session; will not get one again */
	LST_RUNNING, /* lanes begin operations */
	LST_BROKEN,  /* an operation failed; a new session when all have ended */
};

/* One operation at a time; its number tells its pattern. */
struct lst_lane {
	struct lst_target *t;
	uint16_t slot;
	uint64_t op, started;
	uint8_t *mem;
	struct iovec iov;
	_Atomic lnet_handle_t handle; /* of the operation under way, to cancel it */
};

struct lst_target {
	struct lst_active *a;
	struct lst_node_result *res;
	struct lnet_nid nid;
	uint16_t source;
	_Atomic enum lst_state state;
	_Atomic unsigned flight; /* operations under way */
	uint64_t issued;         /* operations begun in the run; under the run's lock */
	uint8_t *mem;
	struct lst_lane *lane;
	/* the session */
	bool open;
	uint32_t session;
	uint64_t seed;
	unsigned generation;
	uint64_t began, acked; /* operations of this session; under the run's lock */
	unsigned attempts;     /* to open it again, one after the other */
	uint64_t again;        /* time of the next attempt */
	/* the request under way */
	_Atomic bool answered;
	int status;
	struct lst_reply reply;
	uint8_t request[LST_REQUEST_SIZE], answer[LST_REPLY_SIZE];
	struct iovec req_iov;
	lnet_handle_t reply_md;
	_Atomic bool reply_live;
};

int lst_target_init(struct lst_target *t, struct lst_active *a, unsigned index);
void lst_target_fini(struct lst_target *t);
/* Waits: one request and its answer. 0, the answer's status, or what went wrong on the way. */
int lst_target_ask(struct lst_target *t, uint16_t kind, uint64_t ns);
/* Wait: open a session and begin an operation on every lane; close it and judge what it counted. */
int lst_target_open(struct lst_target *t, uint64_t ns);
void lst_target_close(struct lst_target *t, uint64_t ns);
/* A broken target at rest: a new session, or give it up. */
void lst_target_mend(struct lst_target *t);
/* Cancel what is under way. */
void lst_target_cancel(struct lst_target *t);

/* Operations (op.c). */
void lst_lanes_start(struct lst_target *t);
bool lst_run_over(struct lst_active *a);

/* Causes (cause.c); they must be constant text. The first error of a run is kept in words. t may be
 * NULL. */
void lst_note_errors(struct lst_active *a, struct lst_target *t, uint64_t count, const char *cause,
        const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* count wrong operations; b is the first of them. */
void lst_note_bad(
        struct lst_active *a, struct lst_target *t, uint64_t count, const struct lst_bad *b);
const char *lst_errname(int err); /* of a negative errno */

#endif
