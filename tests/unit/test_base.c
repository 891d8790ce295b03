/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, hashing, random bytes, fault points, text, iovecs, pools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "lib/tlib.h"
#include "lnet/base/fault.h"
#include "lnet/base/hash64.h"
#include "lnet/base/iov.h"
#include "lnet/base/list.h"
#include "lnet/base/pool.h"
#include "lnet/base/rand.h"
#include "lnet/base/str.h"

/* ---- lists ---- */

struct item {
	int v;
	struct lni_list node;
};

static void check_list(const struct lni_list *h, const char *want)
{
	const struct lni_list *i;
	char got[32];
	unsigned n = 0;

	lni_list_each(i, h)
	{
		assert_ptr_equal(i->next->prev, i);
		got[n++] = (char)lni_list_entry(i, struct item, node)->v;
	}
	got[n] = '\0';
	assert_string_equal(got, want);
}

static void test_list(void **state)
{
	struct lni_list h, g, *i, *tmp;
	struct item v[5];

	(void)state;
	lni_list_init(&h);
	lni_list_init(&g);
	assert_true(lni_list_empty(&h));
	assert_null(lni_list_first(&h));
	assert_null(lni_list_last(&h));
	assert_null(lni_list_pop(&h));
	for (int k = 0; k < 5; k++) {
		v[k].v = 'a' + k;
		lni_list_init(&v[k].node);
		assert_false(lni_list_linked(&v[k].node));
	}
	lni_list_add_tail(&h, &v[1].node);
	lni_list_add(&h, &v[0].node);
	lni_list_add_tail(&h, &v[2].node);
	check_list(&h, "abc");
	assert_true(lni_list_linked(&v[1].node));
	lni_list_splice(&g, &h); /* both empty and not */
	lni_list_splice(&g, &h);
	check_list(&h, "");
	lni_list_add_tail(&h, &v[3].node);
	lni_list_add_tail(&h, &v[4].node);
	lni_list_splice(&g, &h);
	check_list(&g, "abcde");
	assert_ptr_equal(lni_list_first(&g), &v[0].node);
	assert_ptr_equal(lni_list_last(&g), &v[4].node);
	lni_list_del(&v[2].node);
	lni_list_del(&v[2].node);
	assert_false(lni_list_linked(&v[2].node));
	check_list(&g, "abde");
	assert_ptr_equal(lni_list_pop(&g), &v[0].node);
	lni_list_each_safe(i, tmp, &g)
	{
		lni_list_del(i);
	}
	assert_true(lni_list_empty(&g));
}

/* ---- hashing ---- */

/* The published vector of Speck64/128. */
static void test_perm_vector(void **state)
{
	const uint32_t key[4] = {0x03020100, 0x0b0a0908, 0x13121110, 0x1b1a1918};
	struct lni_perm p;

	(void)state;
	lni_perm_init(&p, key);
	assert_true(lni_perm_apply(&p, 0x3b7265747475432du) == 0x8c6fa548454e028bu);
	assert_true(lni_perm_undo(&p, 0x8c6fa548454e028bu) == 0x3b7265747475432du);
}

static void test_perm_undo(void **state)
{
	uint64_t seed = tl_seed();
	uint32_t key[4];
	struct lni_perm p;

	(void)state;
	assert_int_equal(lni_random(key, sizeof(key)), 0);
	lni_perm_init(&p, key);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t x = i < 100 ? i : lni_rand_next(&seed);

		assert_true(lni_perm_undo(&p, lni_perm_apply(&p, x)) == x);
	}
}

/* Each bit of the input moves about half of the bits of the result. */
static void check_spread(uint64_t (*f)(uint64_t))
{
	uint64_t seed = tl_seed();

	for (unsigned bit = 0; bit < 64; bit++) {
		unsigned moved = 0;

		for (unsigned i = 0; i < 200; i++) {
			uint64_t x = lni_rand_next(&seed);

			moved += (unsigned)__builtin_popcountll(f(x) ^ f(x ^ (1ull << bit)));
		}
		assert_in_range(moved, 200 * 28, 200 * 36);
	}
}

static uint64_t mix_x(uint64_t x)
{
	return lni_mix64(x, 0x1234567890abcdefu);
}

static uint64_t mix_key(uint64_t key)
{
	return lni_mix64(77, key);
}

static uint64_t mix_bytes(uint64_t x)
{
	unsigned char b[11] = {0};

	memcpy(b + 3, &x, sizeof(x));
	return lni_hash_bytes(b, sizeof(b), 5);
}

static void test_mix(void **state)
{
	char text[24] = "0123456789abcdefghijklm";

	(void)state;
	check_spread(mix_x);
	check_spread(mix_key);
	check_spread(mix_bytes);
	/* Every prefix hashes differently, zeros at the end count too; bytes behind do not. */
	for (size_t a = 0; a < sizeof(text); a++) {
		for (size_t b = 0; b < a; b++)
			assert_true(lni_hash_bytes(text, a, 1) != lni_hash_bytes(text, b, 1));
	}
	memset(text, 0, sizeof(text));
	assert_true(lni_hash_bytes(text, 3, 1) != lni_hash_bytes(text, 4, 1));
	text[4] = 'x';
	assert_true(lni_hash_bytes(text, 4, 1) == lni_hash_bytes(text + 5, 4, 1));
	assert_true(lni_hash_bytes(text, 5, 1) != lni_hash_bytes(text, 5, 2));
}

static void test_random(void **state)
{
	unsigned char a[1000] = {0}, b[1000] = {0};
	unsigned zero = 0;
	uint64_t s = 1, t = 1;

	(void)state;
	assert_int_equal(lni_random(a, sizeof(a)), 0);
	assert_int_equal(lni_random(b, sizeof(b)), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	for (unsigned i = 0; i < sizeof(a); i++)
		zero += a[i] == 0;
	assert_in_range(zero, 0, 60);
	assert_int_equal(lni_random(NULL, 0), 0);
	for (unsigned i = 0; i < 100; i++)
		assert_true(lni_rand_next(&s) == lni_rand_next(&t) && s);
}

/* ---- fault points ---- */

static void test_fault(void **state)
{
	struct lni_faults f, g;
	char name[40];

	(void)state;
	lni_faults_init(&f);
	lni_faults_init(&g);
	assert_false(lni_fault_hit(&f, "send"));
	assert_int_equal(lni_fault_set(&f, "send", 3, 2), 0);
	for (unsigned i = 1; i <= 6; i++)
		assert_true(lni_fault_hit(&f, "send") == (i == 3 || i == 4));
	assert_int_equal(lni_fault_count(&f, "send"), 2);
	assert_int_equal(lni_fault_count(&f, "recv"), 0);
	assert_false(lni_fault_hit(&f, "recv"));
	assert_int_equal(lni_fault_set(&f, "send", 1, UINT64_MAX), 0);
	assert_int_equal(lni_fault_count(&f, "send"), 0);
	for (unsigned i = 0; i < 5; i++)
		assert_true(lni_fault_hit(&f, "send"));
	/* Another node knows nothing of it. */
	assert_false(lni_fault_hit(&g, "send"));
	assert_int_equal(lni_fault_set(&f, "recv", 1, 1), 0);
	lni_fault_clear(&f, "send");
	assert_false(lni_fault_hit(&f, "send"));
	assert_true(lni_fault_hit(&f, "recv"));
	lni_fault_clear(&f, "send");
	assert_int_equal(lni_fault_set(&f, "x", 0, 1), -EINVAL);
	assert_int_equal(lni_fault_set(&f, "x", 1, 0), -EINVAL);
	assert_int_equal(lni_fault_set(&f, "", 1, 1), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[32] = '\0';
	assert_int_equal(lni_fault_set(&f, name, 1, 1), -EINVAL);
	name[31] = '\0';
	assert_int_equal(lni_fault_set(&f, name, 1, 1), 0);
	assert_true(lni_fault_hit(&f, name));
	lni_fault_clear(&f, NULL);
	for (unsigned i = 0; i < LNI_FAULTS_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(lni_fault_set(&f, name, 1, 1), 0);
	}
	assert_int_equal(lni_fault_set(&f, "more", 1, 1), -ENOSPC);
	assert_int_equal(lni_fault_set(&f, "p3", 1, 1), 0);
	lni_faults_fini(&f);
	lni_faults_fini(&g);
}

static void *fault_main(void *arg)
{
	uintptr_t n = 0;

	for (unsigned i = 0; i < 5000; i++)
		n += lni_fault_hit(arg, "p");
	return (void *)n;
}

static void test_fault_threads(void **state)
{
	struct lni_faults f;
	uintptr_t sum = 0;
	pthread_t th[3];
	void *n;

	(void)state;
	lni_faults_init(&f);
	assert_int_equal(lni_fault_set(&f, "p", 100, 777), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&th[i], NULL, fault_main, &f), 0);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(th[i], &n);
		sum += (uintptr_t)n;
	}
	assert_int_equal(sum, 777);
	lni_faults_fini(&f);
}

/* ---- text ---- */

static void test_str(void **state)
{
	struct lni_strbuf s;
	char buf[8], one[1];

	(void)state;
	memset(buf, 'z', sizeof(buf));
	lni_str_init(&s, buf, sizeof(buf));
	assert_string_equal(buf, "");
	lni_str_add(&s, "ab");
	lni_str_addc(&s, 'c');
	lni_str_addf(&s, "%d", 45);
	assert_string_equal(buf, "abc45");
	assert_int_equal(s.len, 5);
	lni_str_addf(&s, "%s", "67");
	assert_false(s.cut);
	assert_string_equal(buf, "abc4567");
	lni_str_addc(&s, 'x');
	assert_true(s.cut);
	assert_string_equal(buf, "abc4567");
	lni_str_init(&s, buf, sizeof(buf));
	lni_str_addf(&s, "%s", "0123456789");
	assert_true(s.cut);
	assert_int_equal(s.len, 7);
	assert_string_equal(buf, "0123456");
	lni_str_addf(&s, "more");
	lni_str_add(&s, "more");
	assert_string_equal(buf, "0123456");
	lni_str_init(&s, buf, sizeof(buf));
	lni_str_addn(&s, "0123456789", 10);
	assert_true(s.cut);
	assert_string_equal(buf, "0123456");
	lni_str_init(&s, one, 1);
	lni_str_add(&s, "");
	assert_false(s.cut);
	lni_str_add(&s, "a");
	assert_true(s.cut);
	assert_int_equal(one[0], 0);
}

/* ---- iovecs ---- */

static void test_iov_len(void **state)
{
	struct iovec v[2] = {{NULL, SSIZE_MAX}, {NULL, 1}};
	size_t n = 5;

	(void)state;
	assert_int_equal(lni_iov_len(v, 2, &n), -EOVERFLOW);
	assert_int_equal(n, 5);
	assert_int_equal(lni_iov_len(v, 1, &n), 0);
	assert_int_equal(n, SSIZE_MAX);
	v[0].iov_len = SIZE_MAX;
	assert_int_equal(lni_iov_len(v, 2, &n), -EOVERFLOW);
	assert_int_equal(lni_iov_len(v, 0, &n), 0);
	assert_int_equal(n, 0);
}

enum { FLAT = 64, PIECES = 9 };

/* FLAT bytes in random pieces, empty ones among them, over one array. */
static void cut_up(uint64_t *seed, char *mem, struct iovec *v)
{
	size_t at = 0;

	for (unsigned i = 0; i < PIECES; i++) {
		size_t n = i == PIECES - 1 ? FLAT - at : lni_rand_next(seed) % 16;

		if (n > FLAT - at)
			n = FLAT - at;
		v[i] = (struct iovec){mem + at, n};
		at += n;
	}
}

/* Every copy does what memcpy does on the flat memory, and nothing beside it. */
static void test_iov_copy_model(void **state)
{
	uint64_t seed = tl_seed();

	(void)state;
	for (unsigned round = 0; round < 5000; round++) {
		char src[FLAT], dst[FLAT], want[FLAT], out[FLAT + 20];
		struct iovec s[PIECES], d[PIECES];
		size_t so = lni_rand_next(&seed) % (FLAT + 4),
		       d_o = lni_rand_next(&seed) % (FLAT + 4);
		size_t len = lni_rand_next(&seed) % (FLAT + 10), fit = len;

		tl_fill(round, 0, src, FLAT);
		memset(dst, '.', FLAT);
		memset(want, '.', FLAT);
		cut_up(&seed, src, s);
		cut_up(&seed, dst, d);
		fit = so >= FLAT ? 0 : fit < FLAT - so ? fit : FLAT - so;
		memset(out, 0, sizeof(out));
		assert_int_equal(lni_iov_get(s, PIECES, so, out, len), fit);
		assert_memory_equal(out, src + (fit ? so : 0), fit);
		assert_int_equal(out[fit], 0);
		fit = d_o >= FLAT ? 0 : fit < FLAT - d_o ? fit : FLAT - d_o;
		if (fit)
			memcpy(want + d_o, src + so, fit);
		assert_int_equal(lni_iov_copy(d, PIECES, d_o, s, PIECES, so, len), fit);
		assert_memory_equal(dst, want, FLAT);
		if (d_o < FLAT)
			assert_int_equal(lni_iov_put(d, PIECES, d_o, out, FLAT + 20), FLAT - d_o);
	}
}

static void test_iov_slice(void **state)
{
	char mem[10] = "abcdefghij";
	struct iovec v[5] = {{mem, 3}, {NULL, 0}, {mem + 3, 3}, {mem + 6, 0}, {mem + 6, 4}}, o[4];

	(void)state;
	assert_int_equal(lni_iov_slice(v, 5, 0, 10, o, 4), 3);
	assert_int_equal(lni_iov_slice(v, 5, 2, 5, o, 4), 3);
	assert_ptr_equal(o[0].iov_base, mem + 2);
	assert_int_equal(o[0].iov_len, 1);
	assert_int_equal(o[1].iov_len, 3);
	assert_ptr_equal(o[2].iov_base, mem + 6);
	assert_int_equal(o[2].iov_len, 1);
	assert_int_equal(lni_iov_slice(v, 5, 3, 3, o, 1), 1);
	assert_ptr_equal(o[0].iov_base, mem + 3);
	assert_int_equal(lni_iov_slice(v, 5, 2, 5, o, 2), -E2BIG);
	assert_int_equal(lni_iov_slice(v, 5, 4, 7, o, 4), -EINVAL);
	assert_int_equal(lni_iov_slice(v, 5, 11, 1, o, 4), -EINVAL);
	assert_int_equal(lni_iov_slice(v, 5, SIZE_MAX, SIZE_MAX, o, 4), -EINVAL);
	assert_int_equal(lni_iov_slice(v, 5, 99, 0, o, 0), 0);
	assert_int_equal(lni_iov_slice(NULL, 0, 0, 0, NULL, 0), 0);
	assert_int_equal(lni_iov_slice(NULL, 0, 0, 1, o, 4), -EINVAL);
}

/* ---- pools ---- */

static void test_pool(void **state)
{
	struct lni_pool p;
	char *v[10], *again;

	(void)state;
	lni_pool_init(&p, 33, 4, 10);
	for (unsigned i = 0; i < 10; i++) {
		v[i] = lni_pool_get(&p);
		assert_non_null(v[i]);
		assert_int_equal((uintptr_t)v[i] % 16, 0);
		memset(v[i], (int)i, 33);
	}
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(tl_not_byte((uint8_t)i, v[i], 33), -1);
	assert_int_equal(p.used, 10);
	assert_int_equal(p.total, 10);
	assert_null(lni_pool_get(&p));
	lni_pool_put(&p, v[7]);
	again = lni_pool_get(&p); /* last in, first out */
	assert_ptr_equal(again, v[7]);
	for (unsigned i = 0; i < 10; i++)
		lni_pool_put(&p, v[i]);
	assert_int_equal(p.used, 0);
	lni_pool_fini(&p);
	assert_int_equal(p.total, 0);
	/* No limit; an object smaller than a pointer. */
	lni_pool_init(&p, 1, 1, 0);
	for (unsigned i = 0; i < 10; i++) {
		v[i] = lni_pool_get(&p);
		assert_non_null(v[i]);
	}
	for (unsigned i = 0; i < 10; i++)
		lni_pool_put(&p, v[i]);
	lni_pool_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_list),
	        cmocka_unit_test(test_perm_vector),
	        cmocka_unit_test(test_perm_undo),
	        cmocka_unit_test(test_mix),
	        cmocka_unit_test(test_random),
	        cmocka_unit_test(test_fault),
	        cmocka_unit_test(test_fault_threads),
	        cmocka_unit_test(test_str),
	        cmocka_unit_test(test_iov_len),
	        cmocka_unit_test(test_iov_copy_model),
	        cmocka_unit_test(test_iov_slice),
	        cmocka_unit_test(test_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
