/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One target of a run: its session and its operations. The state is guarded by the run's lock,
 * since targets may live on different loops.
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
	_Atomic unsigned busy; /* operations and requests under way */
	struct lst_target *target;
};

/* One operation at a time; its number tells its pattern. */
struct lst_lane {
	struct lst_target *t;
	uint16_t slot;
	uint64_t op, started;
	uint8_t *mem;
	struct iovec iov;
};

struct lst_target {
	struct lst_active *a;
	struct lnet_nid nid;
	uint16_t source;
	uint32_t session;
	bool open, dead;
	uint64_t issued; /* operations begun; under the run's lock */
	uint8_t *mem;
	struct lst_lane *lane;
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
int lst_target_ask(struct lst_target *t, uint16_t kind);
/* Begin one operation on every lane. */
void lst_target_start(struct lst_target *t);
/* cause must be constant text; the first error of a run is kept in words. */
void lst_note_errors(struct lst_active *a, uint64_t count, const char *cause, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

#endif
