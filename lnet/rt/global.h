/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Global numbers of a node (lnetctl's `set`). Read by any thread with lni_global(); written under
 * the lock, checked against each other.
 */
#ifndef LNI_RT_GLOBAL_H
#define LNI_RT_GLOBAL_H

#include <lnet/lnet.h>
#include <pthread.h>
#include <stdatomic.h>

enum lni_global_id {
	LNI_G_NUMA_RANGE,
	LNI_G_MAX_INTERFACES,
	LNI_G_DISCOVERY,
	LNI_G_DROP_ASYM_ROUTE,
	LNI_G_RETRY_COUNT,
	LNI_G_TRANSACTION_TIMEOUT,
	LNI_G_HEALTH_SENSITIVITY,
	LNI_G_RECOVERY_INTERVAL,
	LNI_G_ROUTER_SENSITIVITY,
	LNI_G_LND_TIMEOUT,
	LNI_G_RESPONSE_TRACKING,
	LNI_G_RECOVERY_LIMIT,
	LNI_G_MAX_RECOVERY_PING_INTERVAL,
	LNI_G_COUNT
};

struct lni_globals {
	pthread_mutex_t lock;
	_Atomic int64_t value[LNI_G_COUNT];
	_Atomic bool set[LNI_G_COUNT];
};

void lni_globals_init(struct lni_globals *g);
void lni_globals_fini(struct lni_globals *g);
int64_t lni_global(const struct lni_globals *g, enum lni_global_id id);
int lni_global_set(
        struct lni_globals *g, const char *name, int64_t value, char *why, size_t whylen);
int lni_global_find(const char *name); /* index, or -ENOENT */

#endif
