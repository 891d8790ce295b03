/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data check must be able to fail: each kind of damage is made here, in memory, and has to be
 * found with its offset, the owner expected and the owner found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/prng.h"
#include "selftest/pattern.h"
#include <stdlib.h>
#include <string.h>

#define SIZE (1u << 20)
#define SEED 0x1234567890abcdefull

static const struct lst_suspect suspects[] = {{SEED, 7}, {0xfeedfacecafebeefull, 9}};

struct buf {
	uint8_t now[SIZE], before[SIZE];
	struct lst_pattern p, q; /* operation now in place, and the one before it */
};

static int setup(void **state)
{
	struct buf *b = malloc(sizeof(*b));

	assert_non_null(b);
	b->p = (struct lst_pattern){.seed = SEED, .op = 1000, .source = 5};
	b->q = (struct lst_pattern){.seed = SEED, .op = 992, .source = 5};
	lst_pattern_fill(&b->p, LST_CHECK_FULL, 0, b->now, SIZE);
	lst_pattern_fill(&b->q, LST_CHECK_FULL, 0, b->before, SIZE);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

/* Verify, find, and compare with what the damage is. */
static void expect_at(const struct lst_pattern *p, const uint8_t *buf, size_t len, uint64_t at,
        uint32_t session, uint64_t op, uint64_t off)
{
	struct lst_found f;
	uint64_t where = UINT64_MAX;

	assert_true(lst_pattern_verify(p, LST_CHECK_FULL, 0, buf, len, &where) > 0);
	assert_int_equal(where, at);
	lst_pattern_find(p, suspects, 2, buf, len, where, &f);
	assert_true(f.known);
	assert_int_equal(f.session, session);
	assert_int_equal(f.owner.source, p->source);
	assert_int_equal(f.owner.op, op);
	assert_int_equal(f.owner.offset, off);
}

static void expect(const struct buf *b, size_t len, uint64_t at, uint64_t op, uint64_t off)
{
	expect_at(&b->p, b->now, len, at, 7, op, off);
}

static void test_right(void **state)
{
	struct buf *b = *state;
	uint64_t at = 42;

	assert_int_equal(lst_pattern_verify(&b->p, LST_CHECK_FULL, 0, b->now, SIZE, &at), 0);
	assert_int_equal(lst_pattern_verify(&b->p, LST_CHECK_SIMPLE, 0, b->now, SIZE, &at), 0);
	assert_int_equal(at, 42);
	/* the other operation differs in every word */
	assert_int_equal(lst_pattern_verify(&b->q, LST_CHECK_FULL, 0, b->now, SIZE, &at), SIZE / 8);
	assert_int_equal(at, 0);
}

static void test_decode(void **state)
{
	struct prng r = {77};

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct lst_pattern p = {prng_next(&r), prng_next(&r) & LST_OP_MASK,
		        (uint16_t)prng_below(&r, LST_SOURCE_MAX + 1)};
		uint64_t index = prng_below(&r, SIZE / 8);
		struct lst_owner o = lst_word_owner(p.seed, lst_word(&p, index));

		assert_int_equal(o.source, p.source);
		assert_int_equal(o.op, p.op);
		assert_int_equal(o.offset, index * 8);
	}
}

/* Golden: the pattern is part of the protocol between two versions. */
static void test_golden(void **state)
{
	const struct lst_pattern p = {SEED, 1000, 5};
	uint8_t b[8];

	(void)state;
	lst_pattern_fill(&p, LST_CHECK_FULL, 16, b, 8);
	for (int i = 0; i < 8; i++)
		assert_int_equal(b[i], (uint8_t)(lst_word(&p, 2) >> 8 * i));
	assert_int_equal(lst_word(&p, 0), 0x8ebc60c80b139411ull);
	assert_int_equal(lst_word(&p, 131071), 0x68e2ee08afa95b41ull);
}

static void test_swapped_chunks(void **state)
{
	struct buf *b = *state;
	uint8_t tmp[65536];

	memcpy(tmp, b->now + 65536, 65536);
	memcpy(b->now + 65536, b->now + 5 * 65536, 65536);
	memcpy(b->now + 5 * 65536, tmp, 65536);
	expect(b, SIZE, 65536, 1000, 5 * 65536);
}

static void test_previous_buffer(void **state)
{
	struct buf *b = *state;

	memcpy(b->now, b->before, SIZE);
	expect(b, SIZE, 0, 992, 0);
}

static void test_dropped_middle(void **state)
{
	struct buf *b = *state;

	/* a fragment never came, its length was reported: the operation before shows through */
	memcpy(b->now + 300000, b->before + 300000, 17000);
	expect(b, SIZE, 300000, 992, 300000);
	lst_pattern_fill(&b->p, LST_CHECK_FULL, 0, b->now, SIZE);
	/* odd bounds: the first word is half right, and its rest cannot be told; the next ones can
	 */
	memcpy(b->now + 300003, b->before + 300003, 17001);
	expect(b, SIZE, 300003, 992, 300003);
}

static void test_dropped_middle_moves_up(void **state)
{
	struct buf *b = *state;

	memmove(b->now + 40960, b->now + 45056, SIZE - 45056);
	expect(b, SIZE, 40960, 1000, 45056);
}

static void test_shift_by_8(void **state)
{
	struct buf *b = *state;

	memmove(b->now + 8, b->now, SIZE - 8);
	expect(b, SIZE, 8, 1000, 0);
	lst_pattern_fill(&b->p, LST_CHECK_FULL, 0, b->now, SIZE);
	memmove(b->now, b->now + 8, SIZE - 8);
	expect(b, SIZE, 0, 1000, 8);
}

static void test_shift_by_bytes(void **state)
{
	struct buf *b = *state;

	for (size_t d = 1; d < 20; d++) {
		lst_pattern_fill(&b->p, LST_CHECK_FULL, 0, b->now, SIZE);
		memmove(b->now + 4096, b->now + 4096 + d, SIZE - 4096 - d);
		/* a byte that fits by chance moves the place, and the owner with it */
		uint64_t at = 4096;

		while (b->now[at] == b->before[at])
			at++;
		assert_true(lst_pattern_verify(&b->p, LST_CHECK_FULL, 0, b->now, SIZE, &at) > 0);
		assert_in_range(at, 4096, 4100);
		expect(b, SIZE, at, 1000, at + d);
	}
}

static void test_short_last_fragment(void **state)
{
	struct buf *b = *state;

	/* the last 1000, 12, 7, 5 bytes are of the operation before */
	const size_t tail[] = {1000, 12, 7, 5};

	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++) {
		size_t len = SIZE - 1; /* ends inside a word: 7 bytes of it */

		lst_pattern_fill(&b->p, LST_CHECK_FULL, 0, b->now, SIZE);
		memcpy(b->now + len - tail[i], b->before + len - tail[i], tail[i]);
		uint64_t at;
		struct lst_found f;

		assert_true(lst_pattern_verify(&b->p, LST_CHECK_FULL, 0, b->now, len, &at) > 0);
		assert_in_range(at, len - tail[i], len - tail[i] + 2);
		lst_pattern_find(&b->p, suspects, 2, b->now, len, at, &f);
		if (tail[i] == 5)
			continue; /* a word half right, half wrong: the place is told, the owner is
			             not */
		assert_true(f.known);
		assert_int_equal(f.owner.op, 992);
		assert_int_equal(f.owner.offset, at);
	}
}

static void test_other_session(void **state)
{
	struct buf *b = *state;
	const struct lst_pattern alien = {suspects[1].seed, 3, 5};

	lst_pattern_fill(&alien, LST_CHECK_FULL, 8192, b->now + 8192, 4096);
	expect_at(&b->p, b->now, SIZE, 8192, 9, 3, 8192);
}

static void test_garbage(void **state)
{
	struct buf *b = *state;
	struct prng r = {3};
	struct lst_found f;
	uint64_t at;

	memset(b->now + 512, 0, 512);
	assert_int_equal(lst_pattern_verify(&b->p, LST_CHECK_FULL, 0, b->now, SIZE, &at), 64);
	lst_pattern_find(&b->p, suspects, 2, b->now, SIZE, at, &f);
	assert_false(f.known);
	assert_int_equal(f.word, 0);
	/* random bytes are never taken for somebody's */
	for (int i = 0; i < 200; i++) {
		prng_fill(&r, b->now, 4096);
		assert_true(lst_pattern_verify(&b->p, LST_CHECK_FULL, 0, b->now, 4096, &at) > 0);
		lst_pattern_find(&b->p, suspects, 2, b->now, 4096, at, &f);
		assert_false(f.known);
	}
}

static void test_one_bit(void **state)
{
	struct buf *b = *state;
	struct prng r = {99};
	uint64_t at;

	for (int i = 0; i < 2000; i++) {
		uint32_t pos = prng_below(&r, SIZE);

		b->now[pos] ^= (uint8_t)(1u << prng_below(&r, 8));
		uint64_t lo = pos - pos % 64;

		assert_int_equal(
		        lst_pattern_verify(&b->p, LST_CHECK_FULL, lo, b->now + lo, 64, &at), 1);
		assert_int_equal(at, pos);
		lst_pattern_fill(&b->p, LST_CHECK_FULL, lo, b->now + lo, 64);
	}
}

/* Any piece of a message, at any alignment, is the same bytes; nothing outside it is written. */
static void test_any_range(void **state)
{
	struct buf *b = *state;
	struct prng r = {5};
	uint8_t out[300];
	uint64_t at;

	for (int i = 0; i < 20000; i++) {
		uint32_t off = prng_below(&r, 4096), len = prng_below(&r, 260);

		memset(out, 0xa5, sizeof(out));
		lst_pattern_fill(&b->p, LST_CHECK_FULL, off, out + 16, len);
		assert_memory_equal(out + 16, b->now + off, len);
		assert_int_equal(out[15], 0xa5);
		assert_int_equal(out[16 + len], 0xa5);
		assert_int_equal(
		        lst_pattern_verify(&b->p, LST_CHECK_FULL, off, out + 16, len, &at), 0);
		if (len == 0)
			continue;
		uint32_t bad = prng_below(&r, len);

		out[16 + bad] ^= 0x10;
		assert_int_equal(
		        lst_pattern_verify(&b->p, LST_CHECK_FULL, off, out + 16, len, &at), 1);
		assert_int_equal(at, off + bad);
	}
}

/* check=simple looks at 8 bytes at both ends of each page, and at nothing else. */
static void test_simple(void **state)
{
	struct buf *b = *state;
	const size_t sizes[] = {1, 7, 8, 15, 16, 17, 100, 4096, 4097, 4104, 4112, 10000, SIZE};
	uint64_t at;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t len = sizes[i], seen = 0;

		memset(b->now, 0, SIZE);
		lst_pattern_fill(&b->p, LST_CHECK_SIMPLE, 0, b->now, len);
		assert_int_equal(
		        lst_pattern_verify(&b->p, LST_CHECK_SIMPLE, 0, b->now, len, &at), 0);
		for (size_t k = 0; k < len; k++) {
			size_t page = k - k % LST_PAGE,
			       end = page + LST_PAGE < len ? page + LST_PAGE : len;
			bool looked = k < page + 8 || k >= end - 8 || end - page <= 16;

			b->now[k] ^= 1;
			assert_int_equal(lst_pattern_verify(&b->p, LST_CHECK_SIMPLE, page,
			                         b->now + page, len - page, &at) > 0,
			        looked);
			if (looked)
				assert_int_equal(at, k);
			b->now[k] ^= 1;
			seen += looked;
			if (len == SIZE && k % LST_PAGE == 40)
				k += LST_PAGE - 80;
		}
		assert_true(seen > 0);
	}
}

static void test_none(void **state)
{
	struct buf *b = *state;
	uint64_t at = 1;

	memset(b->now, 0, 64);
	lst_pattern_fill(&b->p, LST_CHECK_NONE, 0, b->now, 64);
	assert_int_equal(b->now[0], 0);
	assert_int_equal(lst_pattern_verify(&b->p, LST_CHECK_NONE, 0, b->now, 64, &at), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_right, setup, teardown),
	        cmocka_unit_test(test_decode),
	        cmocka_unit_test(test_golden),
	        cmocka_unit_test_setup_teardown(test_swapped_chunks, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_previous_buffer, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_dropped_middle, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_dropped_middle_moves_up, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_shift_by_8, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_shift_by_bytes, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_short_last_fragment, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_other_session, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_garbage, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_one_bit, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_any_range, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_simple, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
