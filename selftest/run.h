/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traffic generator: moves data to or from the responders of other nodes, checks every byte
 * that it is told to check, and measures.
 */
#ifndef LST_RUN_H
#define LST_RUN_H

#include <lnet/lnet.h>
#include <signal.h>

#include "selftest/hist.h"
#include "selftest/pattern.h"

#define LST_TARGETS_MAX 1024u
#define LST_CAUSES      24u

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
	void (*progress)(void *arg,
	        const struct lst_progress *p); /* about five times a second; may be NULL */
	void *arg;
	const volatile sig_atomic_t *stop; /* ends the run when it becomes non-zero; may be NULL */
};
void lst_run_conf_init(struct lst_run_conf *c, size_t size);

struct lst_cause {
	const char *name; /* "ETIMEDOUT", "data", "order" */
	uint64_t count;
};

struct lst_run_result {
	uint64_t ns, ops, bytes; /* of the operations that succeeded */
	uint64_t errors;         /* the sum of the causes */
	struct lst_hist lat;     /* ns, of the operations that succeeded */
	unsigned ncauses;
	struct lst_cause cause[LST_CAUSES];
	char first[400]; /* the first error, in words; "" = none */
	bool stopped;    /* by conf->stop */
};

/*
 * Waits. 0: the run took place, res says how (errors included). -EINVAL conf; -ENOMEM; -ESHUTDOWN;
 * -EDEADLK. A target whose session cannot be opened counts as an error of the run.
 */
int lst_run(struct lnet *n, const struct lst_run_conf *conf, struct lst_run_result *res);

#endif
