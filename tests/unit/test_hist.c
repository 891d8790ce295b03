/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/prng.h"
#include "selftest/hist.h"
#include <stdlib.h>

static struct lst_hist *fresh(void)
{
	struct lst_hist *h = malloc(sizeof(*h));

	assert_non_null(h);
	lst_hist_init(h);
	return h;
}

static void test_empty(void **state)
{
	struct lst_hist *h = fresh();

	(void)state;
	assert_int_equal(lst_hist_permille(h, 500), 0);
	assert_int_equal(lst_hist_permille(h, 1000), 0);
	free(h);
}

/* Each value alone: reported exactly, since min and max bound the step. */
static void test_one_value(void **state)
{
	struct lst_hist *h = fresh();

	(void)state;
	for (int bit = 0; bit < 64; bit++)
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (1ull << bit) + (uint64_t)d;

			lst_hist_init(h);
			lst_hist_add(h, v);
			assert_int_equal(lst_hist_permille(h, 0), v);
			assert_int_equal(lst_hist_permille(h, 500), v);
			assert_int_equal(lst_hist_permille(h, 1000), v);
		}
	free(h);
}

/* A value among larger ones is never reported too small, and at most 1/64 too large. */
static void test_resolution(void **state)
{
	struct lst_hist *h = fresh();
	struct prng r = {11};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t v = prng_next(&r) >> (24 + prng_below(&r, 40)), got;

		lst_hist_init(h);
		lst_hist_add(h, v);
		lst_hist_add(h, UINT64_MAX);
		got = lst_hist_permille(h, 500);
		assert_true(got >= v);
		assert_true(got - v <= v / 64);
	}
	free(h);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_quantiles(void **state)
{
	enum { N = 12345 };
	struct lst_hist *h = fresh(), *parts[2] = {fresh(), fresh()}, *sum = fresh();
	uint64_t *v = malloc(N * sizeof(*v));
	const unsigned q[] = {1, 500, 900, 990, 999, 1000};
	struct prng r = {4};

	(void)state;
	assert_non_null(v);
	for (unsigned i = 0; i < N; i++) {
		v[i] = 1000 + prng_below(&r, 1u << prng_below(&r, 30));
		lst_hist_add(h, v[i]);
		lst_hist_add(parts[i % 2], v[i]);
	}
	qsort(v, N, sizeof(*v), by_value);
	for (unsigned i = 0; i < sizeof(q) / sizeof(*q); i++) {
		uint64_t exact = v[(N * q[i] + 999) / 1000 - 1], got = lst_hist_permille(h, q[i]);

		assert_true(got >= exact && got - exact <= exact / 64);
	}
	lst_hist_merge(sum, parts[0]);
	lst_hist_merge(sum, parts[1]);
	assert_memory_equal(sum, h, sizeof(*h));
	free(v);
	free(h);
	free(parts[0]);
	free(parts[1]);
	free(sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_one_value),
	        cmocka_unit_test(test_resolution),
	        cmocka_unit_test(test_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
