/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic generator: moves data to or from the responders of other nodes, checks every byte
 * that it is told to check, and measures.
 */
#ifndef LST_RUN_H
#define LST_RUN_H

#include <lnet/lnet.h>
#include <stdatomic.h>

#include "selftest/hist.h"
#include "selftest/pattern.h"

#define LST_TARGETS_MAX 1024u
#define LST_CAUSES      24u
#define LST_BAD_MAX     16u

struct lst_progress {
	uint64_t ns, ops, bytes, errors;
};

struct lst_run_conf {
	size_t size;
	const struct lnet_nid *target;
	unsigned ntargets; /* 1..LST_TARGETS_MAX */
	bool get;          /* else put */
	uint32_t bytes;    /* of one message: 1..1 MiB */
	enum lst_check check;
	unsigned concurrency;   /* operations under way to each target: 1..1024 */
	uint64_t time_ns;       /* 0 = until count */
	uint64_t count;         /* operations to each target; 0 = until time */
	uint64_t op_timeout_ns; /* deadline of one operation; default 30 s */
	uint64_t drain_ns; /* after the end, operations under way may go on so long, then they are
	                    * cancelled and count as errors; default 5 s */
	void (*progress)(void *arg,
	        const struct lst_progress *p); /* about five times a second; may be NULL */
	void *arg;
	const _Atomic bool *stop; /* ends the run when it becomes true; may be NULL */
};
void lst_run_conf_init(struct lst_run_conf *c, size_t size);

struct lst_cause {
	const char *name; /* "ETIMEDOUT"; "data", "order", "lost", "repeated" */
	uint64_t count;
};

/* One piece of wrong data. Offsets are bytes into the message. */
struct lst_bad {
	struct lnet_nid nid; /* the target of the operation */
	bool remote;         /* found by the target (put), else by us (get) */
	uint32_t session; /* where it should have come from: session, source, operation, offset */
	uint16_t source;
	uint64_t op, at;
	bool known; /* and where it did come from; else it is nobody's */
	uint32_t found_session;
	uint16_t found_source;
	uint64_t found_op, found_at;
	uint64_t word; /* the bytes, little-endian */
};
/* In words. Returns buf. */
char *lst_bad_str(const struct lst_bad *b, char *buf, size_t size);

struct lst_node_result {
	struct lnet_nid nid;
	uint64_t ops, errors; /* as in lst_run_result */
	uint64_t
	        remote_ops; /* operations that the target saw, of the sessions that it told about */
	unsigned sessions;  /* above 1: begun again after an error */
	bool told;          /* each session's end was told: remote_ops is whole */
};

struct lst_run_result {
	uint64_t ns, ops, bytes; /* of the operations that succeeded, data and all */
	uint64_t started;        /* == ops + failed at the end */
	uint64_t failed;         /* operations that did not succeed */
	uint64_t errors;         /* the sum of the causes */
	struct lst_hist lat;     /* ns, of the operations that succeeded */
	unsigned ncauses;
	struct lst_cause cause[LST_CAUSES];
	char first[400]; /* the first error, in words; "" = none */
	unsigned nbad;
	struct lst_bad bad[LST_BAD_MAX]; /* the first ones */
	struct lst_node_result *node;    /* one a target, in order; lst_run_result_fini() */
	unsigned nnodes;
	bool stopped; /* by conf->stop */
};
void lst_run_result_fini(struct lst_run_result *res);

/*
 * Waits. 0: the run took place, res says how (errors included). -EINVAL conf; -ENOMEM; -ESHUTDOWN;
 * -EDEADLK. A target whose session cannot be opened counts as an error of the run. A target that
 * fails an operation gets a new session when the others of it have ended, and goes on, until the
 * run's time is over; without a time it is given up after some attempts.
 */
int lst_run(struct lnet *n, const struct lst_run_conf *conf, struct lst_run_result *res);

#endif
