/* SPDX-License-Identifier: BSD-2-Clause */
/* Global numbers: ranges, contradictions, what is derived. */
#include "core_fixture.h"

static int64_t get(struct lnet *n, const char *name)
{
	int64_t v;

	assert_int_equal(lnet_global_get(n, name, &v), 0);
	return v;
}

static void table(void **state)
{
	static const char *const names[] = {"numa_range", "max_interfaces", "discovery",
	        "drop_asym_route", "retry_count", "transaction_timeout", "health_sensitivity",
	        "recovery_interval", "router_sensitivity", "lnd_timeout", "response_tracking",
	        "recovery_limit", "max_recovery_ping_interval"};
	static const int64_t def[] = {0, 4096, 1, 0, 2, 150, 100, 1, 100, 49, 3, 0, 900};
	struct core *c = *state;
	unsigned count;
	const struct lnet_tunable *t = lnet_globals(&count);

	assert_int_equal(count, 13);
	for (unsigned i = 0; i < count; i++) {
		assert_string_equal(t[i].name, names[i]);
		assert_int_equal(t[i].def, def[i]);
		assert_int_equal(get(c->n, names[i]), def[i]);
		assert_false(lnet_global_is_set(c->n, names[i]));
		assert_true(t[i].min <= t[i].def && t[i].def <= t[i].max);
	}
}

static void ranges(void **state)
{
	struct core *c = *state;
	unsigned count;
	const struct lnet_tunable *t = lnet_globals(&count);
	char why[200];

	for (unsigned i = 0; i < count; i++) {
		int want = t[i].flags & LNET_TUN_READONLY ? -EPERM : -EINVAL;
		int64_t before = get(c->n, t[i].name);

		*why = 0;
		assert_int_equal(
		        lnet_global_set(c->n, t[i].name, t[i].min - 1, why, sizeof(why)), want);
		assert_non_null(strstr(why, t[i].name));
		assert_int_equal(lnet_global_set(c->n, t[i].name, t[i].max + 1, NULL, 0), want);
		assert_int_equal(lnet_global_set(c->n, t[i].name, INT64_MIN, why, 3), want);
		assert_int_equal(strlen(why), 2);
		assert_int_equal(get(c->n, t[i].name), before);
		assert_false(lnet_global_is_set(c->n, t[i].name));
	}
	assert_int_equal(lnet_global_set(c->n, "nonsense", 1, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "nonsense"));
	assert_int_equal(lnet_global_get(c->n, "nonsense", &(int64_t){0}), -ENOENT);
	assert_false(lnet_global_is_set(c->n, "nonsense"));
	assert_int_equal(lnet_global_set(c->n, "", 1, NULL, 0), -ENOENT);
}

static void derived(void **state)
{
	struct core *c = *state;

	assert_int_equal(lnet_global_set(c->n, "transaction_timeout", 100, NULL, 0), 0);
	assert_true(lnet_global_is_set(c->n, "transaction_timeout"));
	assert_int_equal(get(c->n, "lnd_timeout"), 33);
	assert_int_equal(lnet_global_set(c->n, "retry_count", 0, NULL, 0), 0);
	assert_int_equal(get(c->n, "lnd_timeout"), 99);
	assert_int_equal(lnet_global_set(c->n, "transaction_timeout", 1, NULL, 0), 0);
	assert_int_equal(get(c->n, "lnd_timeout"), 1);
	assert_int_equal(lnet_global_set(c->n, "lnd_timeout", 5, NULL, 0), -EPERM);
}

static void contradictions(void **state)
{
	struct core *c = *state;
	char why[200];

	assert_int_equal(
	        lnet_global_set(c->n, "transaction_timeout", 2, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "retry_count"));
	assert_int_equal(get(c->n, "transaction_timeout"), 150);
	assert_int_equal(lnet_global_set(c->n, "transaction_timeout", 3, NULL, 0), 0);
	assert_int_equal(lnet_global_set(c->n, "retry_count", 3, NULL, 0), -EINVAL);
	/* no sensitivity, no retries */
	assert_int_equal(lnet_global_set(c->n, "health_sensitivity", 0, NULL, 0), 0);
	assert_int_equal(get(c->n, "retry_count"), 0);
	assert_int_equal(get(c->n, "lnd_timeout"), 2);
	assert_int_equal(lnet_global_set(c->n, "retry_count", 1, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "health_sensitivity"));
	assert_int_equal(lnet_global_set(c->n, "health_sensitivity", 50, NULL, 0), 0);
	assert_int_equal(lnet_global_set(c->n, "retry_count", 1, NULL, 0), 0);
}

/* It holds for what starts afterwards. */
static void timeout_in_use(void **state)
{
	struct core *c = *state;

	assert_int_equal(lnet_global_set(c->n, "transaction_timeout", 10, NULL, 0), 0);
	core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	core_pass(c, 10 * TL_S - 1);
	assert_int_equal(c->s.n, 0);
	core_pass(c, 1);
	assert_int_equal(c->s.n, 1);
}

static void of_each_node(void **state)
{
	struct core *c = *state, *d = core_with(NULL, NULL);

	assert_int_equal(lnet_global_set(c->n, "numa_range", 7, NULL, 0), 0);
	assert_int_equal(get(c->n, "numa_range"), 7);
	assert_int_equal(get(d->n, "numa_range"), 0);
	core_free(d, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(table),
	        CORE_TEST(ranges),
	        CORE_TEST(derived),
	        CORE_TEST(contradictions),
	        CORE_TEST(timeout_in_use),
	        CORE_TEST(of_each_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
