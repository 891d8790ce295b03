/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of generator and responder: encoded, decoded, and whatever else may come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "lib/prng.h"
#include "selftest/proto.h"

static const struct lst_request open_request = {.kind = LST_OPEN,
        .reply_bits = 0x8877665544332211ull,
        .session = 0x01020304,
        .get = true,
        .check = LST_CHECK_SIMPLE,
        .slots = 0x0203,
        .source = 0x0405,
        .size = 0x00060708,
        .seed = 0x1020304050607080ull};

/* Version 1 on the wire, byte by byte. */
static void test_request_golden(void **state)
{
	static const uint8_t want[LST_REQUEST_SIZE] = {0x55, 0x4c, 0x53, 0x54, 1, 0, 1, 0, 0x11,
	        0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 4, 3, 2, 1, 1, 1, 3, 2, 5, 4, 0, 0, 8, 7,
	        6, 0, 0x80, 0x70, 0x60, 0x50, 0x40, 0x30, 0x20, 0x10};
	uint8_t buf[LST_REQUEST_SIZE];
	struct lst_request r;

	(void)state;
	lst_request_encode(&open_request, buf);
	assert_memory_equal(buf, want, sizeof(buf));
	assert_int_equal(lst_request_decode(buf, sizeof(buf), &r), 0);
	assert_int_equal(r.kind, LST_OPEN);
	assert_int_equal(r.reply_bits, open_request.reply_bits);
	assert_int_equal(r.session, open_request.session);
	assert_true(r.get);
	assert_int_equal(r.check, LST_CHECK_SIMPLE);
	assert_int_equal(r.slots, 0x0203);
	assert_int_equal(r.source, 0x0405);
	assert_int_equal(r.size, 0x00060708);
	assert_int_equal(r.seed, open_request.seed);
}

static int decode_with(unsigned at, uint64_t v, unsigned bytes)
{
	uint8_t buf[LST_REQUEST_SIZE];
	struct lst_request r;

	lst_request_encode(&open_request, buf);
	for (unsigned i = 0; i < bytes; i++)
		buf[at + i] = (uint8_t)(v >> 8 * i);
	return lst_request_decode(buf, sizeof(buf), &r);
}

static void test_request_refused(void **state)
{
	uint8_t buf[LST_REQUEST_SIZE + 1] = {0};
	struct lst_request r;

	(void)state;
	assert_int_equal(decode_with(0, 0x54, 1), -EPROTO); /* magic */
	assert_int_equal(decode_with(4, 2, 2), -EPROTO);    /* version */
	assert_int_equal(decode_with(6, 0, 2), -EPROTO);    /* kind */
	assert_int_equal(decode_with(6, 4, 2), -EPROTO);
	assert_int_equal(decode_with(15, 0x7f, 1), -EINVAL); /* reply bits that a slot may have */
	assert_int_equal(decode_with(20, 2, 1), -EINVAL);    /* get */
	assert_int_equal(decode_with(21, 3, 1), -EINVAL);    /* check */
	assert_int_equal(decode_with(22, 0, 2), -EINVAL);    /* slots */
	assert_int_equal(decode_with(22, LST_SLOTS_MAX, 2), 0);
	assert_int_equal(decode_with(22, LST_SLOTS_MAX + 1, 2), -EINVAL);
	assert_int_equal(decode_with(24, LST_SOURCE_MAX, 2), 0);
	assert_int_equal(decode_with(24, LST_SOURCE_MAX + 1, 2), -EINVAL);
	assert_int_equal(decode_with(28, 0, 4), -EINVAL); /* size */
	assert_int_equal(decode_with(28, LST_SIZE_MAX, 4), 0);
	assert_int_equal(decode_with(28, LST_SIZE_MAX + 1, 4), -EINVAL);
	lst_request_encode(&open_request, buf);
	for (size_t len = 0; len <= sizeof(buf); len++)
		assert_int_equal(
		        lst_request_decode(buf, len, &r), len == LST_REQUEST_SIZE ? 0 : -EPROTO);
}

static void test_reply(void **state)
{
	const struct lst_reply in = {.kind = LST_CLOSE,
	        .status = -ESRCH,
	        .session = 77,
	        .ops = 1,
	        .data_errors = 2,
	        .order_errors = 3,
	        .at = 4,
	        .want_op = 5,
	        .found_op = 6,
	        .found_offset = 7,
	        .want_source = 8,
	        .found_source = 9,
	        .found_known = true,
	        .found_session = 10,
	        .word = 11};
	struct lst_reply r;
	uint8_t buf[LST_REPLY_SIZE];

	(void)state;
	memset(&r, 0, sizeof(r));
	lst_reply_encode(&in, buf);
	assert_int_equal(lst_reply_decode(buf, sizeof(buf), &r), 0);
	assert_int_equal(r.status, -ESRCH);
	assert_int_equal(r.session, 77);
	assert_int_equal(r.ops + r.data_errors * 10 + r.order_errors * 100, 321);
	assert_int_equal(
	        r.at * 1 + r.want_op * 10 + r.found_op * 100 + r.found_offset * 1000, 7654);
	assert_int_equal(r.want_source * 10 + r.found_source, 89);
	assert_true(r.found_known);
	assert_int_equal(r.found_session, 10);
	assert_int_equal(r.word, 11);
	for (size_t len = 0; len < sizeof(buf); len++)
		assert_int_equal(lst_reply_decode(buf, len, &r), -EPROTO);
	buf[11] = 0; /* the status becomes positive */
	assert_int_equal(lst_reply_decode(buf, sizeof(buf), &r), -EPROTO);
}

/* Random bytes with a right head: never more than the limits come out. */
static void test_random(void **state)
{
	struct prng p = {2718};
	uint8_t buf[LST_REQUEST_SIZE];
	struct lst_request r;
	unsigned good = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		lst_request_encode(&open_request, buf);
		for (int k = 0; k < 3; k++)
			buf[6 + prng_below(&p, LST_REQUEST_SIZE - 6)] = (uint8_t)prng_next(&p);
		if (lst_request_decode(buf, sizeof(buf), &r))
			continue;
		good++;
		assert_in_range(r.kind, LST_OPEN, LST_RESULT);
		assert_true(r.reply_bits >> 63);
		if (r.kind != LST_OPEN)
			continue;
		assert_in_range(r.size, 1, LST_SIZE_MAX);
		assert_in_range(r.slots, 1, LST_SLOTS_MAX);
		assert_in_range(r.source, 0, LST_SOURCE_MAX);
		assert_in_range(r.check, LST_CHECK_NONE, LST_CHECK_FULL);
	}
	assert_true(good > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_request_golden),
	        cmocka_unit_test(test_request_refused),
	        cmocka_unit_test(test_reply),
	        cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
