/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/rt/global.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Order, names and defaults are those of lnetctl's `global show`. */
static const struct lnet_tunable globals[LNI_G_COUNT] = {
        [LNI_G_NUMA_RANGE] = {"numa_range", "distances below it count as equal", "", 0, INT32_MAX,
                0, LNET_TUN_RUNTIME},
        [LNI_G_MAX_INTERFACES] = {"max_interfaces", "largest number of interfaces in a ping", "",
                16, 65536, 4096, LNET_TUN_RUNTIME},
        [LNI_G_DISCOVERY] = {"discovery", "learn the peers' interfaces", "", 0, 1, 1,
                LNET_TUN_RUNTIME},
        [LNI_G_DROP_ASYM_ROUTE] = {"drop_asym_route",
                "drop what comes by a router we would not use", "", 0, 1, 0, LNET_TUN_RUNTIME},
        [LNI_G_RETRY_COUNT] = {"retry_count", "resends of a message", "", 0, 255, 2,
                LNET_TUN_RUNTIME},
        [LNI_G_TRANSACTION_TIMEOUT] = {"transaction_timeout",
                "time for an operation with its answer", "s", 1, 86400, 150, LNET_TUN_RUNTIME},
        [LNI_G_HEALTH_SENSITIVITY] = {"health_sensitivity", "health lost by one failure", "", 0,
                1000, 100, LNET_TUN_RUNTIME},
        [LNI_G_RECOVERY_INTERVAL] = {"recovery_interval",
                "accepted for compatibility; the interval "
                "doubles by itself",
                "s", 1, 86400, 1, LNET_TUN_RUNTIME},
        [LNI_G_ROUTER_SENSITIVITY] = {"router_sensitivity", "accepted for compatibility", "%", 0,
                100, 100, LNET_TUN_RUNTIME},
        [LNI_G_LND_TIMEOUT] = {"lnd_timeout",
                "derived: (transaction_timeout - 1) / (retry_count + 1)", "s", 1, 86400, 49,
                LNET_TUN_READONLY},
        [LNI_G_RESPONSE_TRACKING] = {"response_tracking", "0 internal, 1 +GET, 2 +PUT, 3 all", "",
                0, 3, 3, LNET_TUN_RUNTIME},
        [LNI_G_RECOVERY_LIMIT] = {"recovery_limit", "time of trying to recover a peer; 0 = forever",
                "s", 0, INT32_MAX, 0, LNET_TUN_RUNTIME},
        [LNI_G_MAX_RECOVERY_PING_INTERVAL] = {"max_recovery_ping_interval",
                "cap of the recovery interval", "s", 1, 86400, 900, LNET_TUN_RUNTIME},
};

const struct lnet_tunable *lnet_globals(unsigned *count)
{
	*count = LNI_G_COUNT;
	return globals;
}

void lni_globals_init(struct lni_globals *g)
{
	pthread_mutex_init(&g->lock, NULL);
	for (int i = 0; i < LNI_G_COUNT; i++) {
		atomic_init(&g->value[i], globals[i].def);
		atomic_init(&g->set[i], false);
	}
}

void lni_globals_fini(struct lni_globals *g)
{
	pthread_mutex_destroy(&g->lock);
}

int64_t lni_global(const struct lni_globals *g, enum lni_global_id id)
{
	return atomic_load_explicit(&g->value[id], memory_order_relaxed);
}

int lni_global_find(const char *name)
{
	for (int i = 0; i < LNI_G_COUNT; i++)
		if (!strcmp(globals[i].name, name))
			return i;
	return -ENOENT;
}

/* The kernel checks these three against each other one at a time, so that the order of a file
 * decides; here a contradiction is refused with both numbers. */
static int contradicts(const struct lni_globals *g, int id, int64_t v, char *why, size_t len)
{
	int64_t retry = id == LNI_G_RETRY_COUNT ? v : lni_global(g, LNI_G_RETRY_COUNT);
	int64_t tt = id == LNI_G_TRANSACTION_TIMEOUT ? v : lni_global(g, LNI_G_TRANSACTION_TIMEOUT);
	int64_t sens = id == LNI_G_HEALTH_SENSITIVITY ? v : lni_global(g, LNI_G_HEALTH_SENSITIVITY);

	if ((id == LNI_G_RETRY_COUNT || id == LNI_G_TRANSACTION_TIMEOUT) && tt <= retry) {
		snprintf(why, len,
		        "transaction_timeout (%lld s) must be greater than retry_count (%lld)",
		        (long long)tt, (long long)retry);
		return -EINVAL;
	}
	if (id == LNI_G_RETRY_COUNT && retry > 0 && sens == 0) {
		snprintf(why, len, "retry_count %lld needs health_sensitivity > 0",
		        (long long)retry);
		return -EINVAL;
	}
	return 0;
}

static void derive(struct lni_globals *g, int id, int64_t v)
{
	if (id == LNI_G_HEALTH_SENSITIVITY && v == 0)
		atomic_store(&g->value[LNI_G_RETRY_COUNT], 0);
	int64_t t = (lni_global(g, LNI_G_TRANSACTION_TIMEOUT) - 1) /
	            (lni_global(g, LNI_G_RETRY_COUNT) + 1);
	atomic_store(&g->value[LNI_G_LND_TIMEOUT], t < 1 ? 1 : t);
}

int lni_global_set(struct lni_globals *g, const char *name, int64_t value, char *why, size_t whylen)
{
	char none[1];
	int id = lni_global_find(name), rc;

	if (!why) {
		why = none;
		whylen = 0;
	}
	if (id < 0) {
		snprintf(why, whylen, "no global number is called '%s'", name);
		return -ENOENT;
	}
	const struct lnet_tunable *t = &globals[id];
	if (t->flags & LNET_TUN_READONLY) {
		snprintf(why, whylen, "%s is derived and cannot be set", name);
		return -EPERM;
	}
	if (value < t->min || value > t->max) {
		snprintf(why, whylen, "%s: %lld is not in %lld..%lld", name, (long long)value,
		        (long long)t->min, (long long)t->max);
		return -EINVAL;
	}
	pthread_mutex_lock(&g->lock);
	rc = contradicts(g, id, value, why, whylen);
	if (!rc) {
		atomic_store(&g->value[id], value);
		atomic_store(&g->set[id], true);
		derive(g, id, value);
	}
	pthread_mutex_unlock(&g->lock);
	return rc;
}
