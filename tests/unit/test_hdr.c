/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <lnet/hdr.h>
#include "lib/prng.h"

/* A PUT whose every field has its own bytes, laid down by hand from the tables of the specification
 */
static const uint8_t put4[LNET_HDR4_SIZE] = {
        0x02, 0x00, 0x07, 0x0a, 0x01, 0x00, 0x02, 0x00, /* 10.7.0.2@tcp1 */
        0x01, 0x00, 0x07, 0x0a, 0x00, 0x00, 0x05, 0x00, /* 10.7.0.1@o2ib */
        0x39, 0x30, 0x00, 0x00, 0x78, 0x56, 0x34, 0x12, /* pids */
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, /* PUT, 1 MiB */
        0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* ack_wmd */
        0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* */
        0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, /* match bits */
        0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, /* hdr_data */
        0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51, /* portal, offset */
};

static struct lnet_hdr put_value(void)
{
	struct lnet_hdr h = {
	        .dest_nid = lnet_nid_from4(0x000200010a070002ull),
	        .src_nid = lnet_nid_from4(0x000500000a070001ull),
	        .dest_pid = 12345,
	        .src_pid = 0x12345678,
	        .type = LNET_MSG_PUT,
	        .payload_length = LNET_MTU,
	};

	h.msg.put.ack_wmd = (struct lnet_wmd){0x0102030405060708ull, 0x1112131415161718ull};
	h.msg.put.match_bits = 0x2122232425262728ull;
	h.msg.put.hdr_data = 0x3132333435363738ull;
	h.msg.put.ptl_index = 0x41424344;
	h.msg.put.offset = 0x51525354;
	return h;
}

static void assert_same(const struct lnet_hdr *a, const struct lnet_hdr *b)
{
	assert_true(lnet_nid_eq(&a->dest_nid, &b->dest_nid));
	assert_true(lnet_nid_eq(&a->src_nid, &b->src_nid));
	assert_int_equal(a->dest_pid, b->dest_pid);
	assert_int_equal(a->src_pid, b->src_pid);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->payload_length, b->payload_length);
	assert_memory_equal(&a->msg, &b->msg, sizeof(a->msg));
}

static void put_has_its_layout(void **state)
{
	struct lnet_hdr h = put_value(), back;
	uint8_t buf[LNET_HDR16_SIZE];
	static const uint8_t nids[40] = {0, 2, 0, 1, 10, 7, 0, 2, [20] = 0, 5, 0, 0, 10, 7, 0, 1};

	(void)state;
	assert_int_equal(lnet_hdr_encode4(&h, buf), 0);
	assert_memory_equal(buf, put4, sizeof(put4));
	assert_int_equal(lnet_hdr_decode4(put4, &back, NULL), 0);
	assert_same(&h, &back);
	/* the large form: big-endian NIDs, then the same bytes */
	assert_int_equal(lnet_hdr_encode16(&h, buf), 0);
	assert_memory_equal(buf, nids, sizeof(nids));
	assert_memory_equal(buf + 40, put4 + 16, 56);
	assert_int_equal(lnet_hdr_decode16(buf, &back, NULL), 0);
	assert_same(&h, &back);
}

/* Where the fields of the other bodies lie, by offset in the body. */
static void other_bodies_have_their_layout(void **state)
{
	struct lnet_hdr h = put_value();
	uint8_t buf[LNET_HDR4_SIZE];
	static const uint8_t zero[24] = {0};

	(void)state;
	h.payload_length = 0;
	memset(&h.msg, 0, sizeof(h.msg));
	h.type = LNET_MSG_ACK;
	h.msg.ack.dst_wmd = (struct lnet_wmd){0x0102030405060708ull, 0x1112131415161718ull};
	h.msg.ack.match_bits = 0x2122232425262728ull;
	h.msg.ack.mlength = 0x31323334;
	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(lnet_hdr_encode4(&h, buf), 0);
	assert_int_equal(buf[24], 0);
	assert_memory_equal(buf + 32, put4 + 32, 24);
	assert_memory_equal(buf + 56, "\x34\x33\x32\x31", 4);
	assert_memory_equal(buf + 60, zero, 12);

	memset(&h.msg, 0, sizeof(h.msg));
	h.type = LNET_MSG_GET;
	h.msg.get.return_wmd = (struct lnet_wmd){0x0102030405060708ull, 0x1112131415161718ull};
	h.msg.get.match_bits = 0x2122232425262728ull;
	h.msg.get.ptl_index = 0x31323334;
	h.msg.get.src_offset = 0x41424344;
	h.msg.get.sink_length = 0x51525354;
	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(lnet_hdr_encode4(&h, buf), 0);
	assert_int_equal(buf[24], 2);
	assert_memory_equal(buf + 32, put4 + 32, 24);
	assert_memory_equal(buf + 56, "\x34\x33\x32\x31\x44\x43\x42\x41\x54\x53\x52\x51", 12);
	assert_memory_equal(buf + 68, zero, 4);

	memset(&h.msg, 0, sizeof(h.msg));
	h.type = LNET_MSG_REPLY;
	h.msg.reply.dst_wmd = (struct lnet_wmd){0x0102030405060708ull, 0x1112131415161718ull};
	memset(buf, 0xee, sizeof(buf));
	assert_int_equal(lnet_hdr_encode4(&h, buf), 0);
	assert_int_equal(buf[24], 3);
	assert_memory_equal(buf + 32, put4 + 32, 16);
	assert_memory_equal(buf + 48, zero, 24);
}

static void encode_refuses(void **state)
{
	struct lnet_hdr h = put_value();
	uint8_t buf[LNET_HDR16_SIZE];

	(void)state;
	h.type = LNET_MSG_HELLO;
	assert_int_equal(lnet_hdr_encode4(&h, buf), -EINVAL);
	assert_int_equal(lnet_hdr_encode16(&h, buf), -EINVAL);
	h.type = LNET_MSG_PUT;
	h.src_nid.size = 12;
	assert_int_equal(lnet_hdr_encode4(&h, buf), -EAFNOSUPPORT);
	assert_int_equal(lnet_hdr_encode16(&h, buf), 0);
	h = put_value();
	h.dest_nid.size = 12;
	assert_int_equal(lnet_hdr_encode4(&h, buf), -EAFNOSUPPORT);
	h.dest_nid = lnet_nid_any();
	assert_int_equal(lnet_hdr_encode4(&h, buf), -EAFNOSUPPORT);
}

/* Change bytes of a sound header; the reason must name what is wrong. */
static void decode_refuses(void **state)
{
	static const struct {
		size_t off;
		size_t len;
		uint8_t bytes[8];
		const char *why;
	} rows[] = {
	        {24, 4, {4, 0, 0, 0}, "unknown message type"}, /* HELLO */
	        {24, 4, {5, 0, 0, 0}, "unknown message type"},
	        {24, 4, {0, 0, 0, 2}, "unknown message type"}, /* other byte order */
	        {24, 4, {255, 255, 255, 255}, "unknown message type"},
	        {24, 8, {0, 0, 0, 0, 1, 0, 0, 0}, "ack with a payload"},
	        {24, 8, {2, 0, 0, 0, 1, 0, 0, 0}, "get with a payload"},
	        {24, 8, {1, 0, 0, 0, 1, 0, 16, 0}, "put payload above 1048576 bytes"},
	        {24, 8, {1, 0, 0, 0, 255, 255, 255, 255}, "put payload above 1048576 bytes"},
	        {24, 8, {3, 0, 0, 0, 1, 0, 16, 0}, "reply payload above 1048576 bytes"},
	        {7, 1, {1}, "bad destination nid"},
	        {15, 1, {1}, "bad source nid"},
	        {14, 2, {0xff, 0}, "source nid is any"},
	        {8, 8, {255, 255, 255, 255, 255, 255, 255, 255}, "source nid is any"},
	};
	struct lnet_hdr h, before;
	uint8_t buf[LNET_HDR4_SIZE];

	(void)state;
	memset(&h, 0x77, sizeof(h));
	before = h;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *why = "";

		memcpy(buf, put4, sizeof(buf));
		memcpy(buf + rows[i].off, rows[i].bytes, rows[i].len);
		assert_int_equal(lnet_hdr_decode4(buf, &h, &why), -EPROTO);
		assert_string_equal(why, rows[i].why);
		assert_memory_equal(&h, &before, sizeof(h));
		assert_int_equal(lnet_hdr_decode4(buf, &h, NULL), -EPROTO);
	}
	/* a destination of ANY is for the core to refuse */
	memcpy(buf, put4, sizeof(buf));
	memset(buf, 0xff, 8);
	assert_int_equal(lnet_hdr_decode4(buf, &h, NULL), 0);
	assert_true(lnet_nid_is_any(&h.dest_nid));
}

static void decode16_refuses(void **state)
{
	struct lnet_hdr h = put_value();
	uint8_t good[LNET_HDR16_SIZE], buf[LNET_HDR16_SIZE];
	const char *why = "";

	(void)state;
	assert_int_equal(lnet_hdr_encode16(&h, good), 0);
	for (int size = 0; size < 256; size++) {
		memcpy(buf, good, sizeof(buf));
		buf[0] = (uint8_t)size;
		assert_int_equal(
		        lnet_hdr_decode16(buf, &h, &why), size == 0 || size == 12 ? 0 : -EPROTO);
		memcpy(buf, good, sizeof(buf));
		buf[20] = (uint8_t)size;
		assert_int_equal(
		        lnet_hdr_decode16(buf, &h, &why), size == 0 || size == 12 ? 0 : -EPROTO);
	}
	for (size_t i = 8; i < 20; i++) {
		memcpy(buf, good, sizeof(buf));
		buf[i] = 1;
		assert_int_equal(lnet_hdr_decode16(buf, &h, &why), -EPROTO);
		assert_string_equal(why, "bad destination nid");
		buf[i] = 0;
		buf[20 + i] = 1;
		assert_int_equal(lnet_hdr_decode16(buf, &h, &why), -EPROTO);
		assert_string_equal(why, "bad source nid");
	}
	memcpy(buf, good, sizeof(buf));
	buf[21] = 0xff;
	assert_int_equal(lnet_hdr_decode16(buf, &h, &why), -EPROTO);
	assert_string_equal(why, "source nid is any");
	memcpy(buf, good, sizeof(buf));
	buf[48] = 9;
	assert_int_equal(lnet_hdr_decode16(buf, &h, &why), -EPROTO);
	assert_string_equal(why, "unknown message type");
}

static void limits_are_accepted(void **state)
{
	struct lnet_hdr h = put_value(), back;
	uint8_t buf[LNET_HDR4_SIZE];

	(void)state;
	for (uint32_t type = 0; type < 4; type++) {
		bool with_payload = type == LNET_MSG_PUT || type == LNET_MSG_REPLY;

		h.type = type;
		h.payload_length = with_payload ? LNET_MTU : 0;
		assert_int_equal(lnet_hdr_encode4(&h, buf), 0);
		assert_int_equal(lnet_hdr_decode4(buf, &back, NULL), 0);
		assert_int_equal(back.payload_length, h.payload_length);
	}
}

static struct lnet_hdr random_hdr(struct prng *r, bool large)
{
	struct lnet_hdr h;

	memset(&h, 0, sizeof(h));
	h.dest_nid = lnet_nid_from4(prng_next(r) & 0x003fffffffffffffull);
	h.src_nid = lnet_nid_from4(prng_next(r) & 0x003fffffffffffffull);
	if (large && prng_below(r, 2)) {
		h.src_nid.size = 12;
		prng_fill(r, h.src_nid.addr, 16);
	}
	h.dest_pid = (uint32_t)prng_next(r);
	h.src_pid = (uint32_t)prng_next(r);
	h.type = prng_below(r, 4);
	if (h.type == LNET_MSG_PUT || h.type == LNET_MSG_REPLY)
		h.payload_length = prng_below(r, LNET_MTU + 1);
	prng_fill(r, &h.msg, sizeof(h.msg));
	return h;
}

/* value -> bytes -> value -> bytes: the bytes stay, and so do all the fields that the type has */
static void round_trips(void **state)
{
	struct prng r = {.s = 4711};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		bool large = i % 2;
		struct lnet_hdr h = random_hdr(&r, large), back, again;
		uint8_t a[LNET_HDR16_SIZE] = {0}, b[LNET_HDR16_SIZE] = {0};

		if (large) {
			assert_int_equal(lnet_hdr_encode16(&h, a), 0);
			assert_int_equal(lnet_hdr_decode16(a, &back, NULL), 0);
			assert_int_equal(lnet_hdr_encode16(&back, b), 0);
			assert_int_equal(lnet_hdr_decode16(b, &again, NULL), 0);
		} else {
			assert_int_equal(lnet_hdr_encode4(&h, a), 0);
			assert_int_equal(lnet_hdr_decode4(a, &back, NULL), 0);
			assert_int_equal(lnet_hdr_encode4(&back, b), 0);
			assert_int_equal(lnet_hdr_decode4(b, &again, NULL), 0);
		}
		assert_memory_equal(a, b, sizeof(a));
		assert_same(&back, &again);
		assert_true(lnet_nid_eq(&h.src_nid, &back.src_nid));
		assert_true(lnet_nid_eq(&h.dest_nid, &back.dest_nid));
		assert_int_equal(h.type, back.type);
		assert_true(h.msg.put.ack_wmd.object == back.msg.put.ack_wmd.object);
		if (h.type == LNET_MSG_PUT)
			assert_int_equal(h.msg.put.offset, back.msg.put.offset);
		if (h.type == LNET_MSG_GET)
			assert_int_equal(h.msg.get.sink_length, back.msg.get.sink_length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(put_has_its_layout),
	        cmocka_unit_test(other_bodies_have_their_layout),
	        cmocka_unit_test(encode_refuses),
	        cmocka_unit_test(decode_refuses),
	        cmocka_unit_test(decode16_refuses),
	        cmocka_unit_test(limits_are_accepted),
	        cmocka_unit_test(round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
