/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, zero-copy acknowledgements, checksums, and the choice of connections. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/prng.h"
#include "lnd-tcp/proto.h"

static struct lnet_hdr hdr_of(bool large)
{
	struct lnet_hdr h;

	memset(&h, 0, sizeof(h));
	h.dest_nid = lnet_nid_from4(0x000200000a070002ull);
	h.src_nid = lnet_nid_from4(0x000200000a070001ull);
	if (large) {
		h.src_nid.size = 12;
		memset(h.src_nid.addr, 0xfd, 16);
	}
	h.type = LNET_MSG_PUT;
	h.payload_length = 4096;
	h.msg.put.match_bits = 77;
	return h;
}

static enum tcp_parse msg_parse(const uint8_t *b, size_t n, uint32_t version, bool be,
        struct tcp_frame *f, struct lnet_hdr *h, size_t *need)
{
	uint8_t *copy = malloc(n + (n == 0));
	const char *why = NULL;
	enum tcp_parse rc;

	assert_non_null(copy);
	memcpy(copy, b, n);
	rc = tcp_msg_parse(copy, n, version, be, f, h, need, &why);
	free(copy);
	if (rc == TCP_PARSE_BAD)
		assert_non_null(why);
	return rc;
}

static void frame_layout(void **state)
{
	static const uint8_t le[24] = {0xc1, 0, 0, 0, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14,
	        0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21};
	static const uint8_t be[24] = {0, 0, 0, 0xc1, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15,
	        0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28};
	struct tcp_frame f = {
	        TCP_FRAME_LNET, 0x01020304, {0x1112131415161718ull, 0x2122232425262728ull}};
	struct tcp_frame got;
	uint8_t b[24];

	(void)state;
	tcp_frame_encode(&f, false, b);
	assert_memory_equal(b, le, 24);
	tcp_frame_encode(&f, true, b);
	assert_memory_equal(b, be, 24);
	tcp_frame_decode(le, false, &got);
	assert_memory_equal(&f, &got, sizeof(f));
	tcp_frame_decode(be, true, &got);
	assert_memory_equal(&f, &got, sizeof(f));
}

static void messages_of_each_version(void **state)
{
	static const size_t sizes[5] = {0, 72, 96, 96, 120};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		uint32_t version = i / 2 + 1;
		bool be = i % 2;
		struct lnet_hdr h = hdr_of(version == 4), got;
		struct tcp_frame f = {TCP_FRAME_LNET, 5, {6, 7}}, gf;
		uint8_t b[TCP_MSG_HEAD_MAX + 8] = {0};
		size_t n = sizes[version], need;

		assert_int_equal(tcp_msg_head_size(version), n);
		assert_int_equal(tcp_msg_encode(&f, &h, version, be, b), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(
			        msg_parse(b, k, version, be, &gf, &got, &need), TCP_PARSE_MORE);
			assert_int_equal(need, version > 1 && k < 24 ? 24 : n);
		}
		assert_int_equal(
		        msg_parse(b, sizeof(b), version, be, &gf, &got, &need), TCP_PARSE_OK);
		assert_int_equal(need, n);
		assert_int_equal(gf.type, TCP_FRAME_LNET);
		assert_true(gf.cookie[0] == (version == 1 ? 0 : 6));
		assert_true(gf.cookie[1] == (version == 1 ? 0 : 7));
		assert_int_equal(gf.csum, version == 1 ? 0 : 5);
		assert_true(lnet_nid_eq(&got.src_nid, &h.src_nid));
		assert_int_equal(got.payload_length, 4096);
		/* the LNet header keeps its order whatever the sender's is */
		assert_memory_equal(b + n - 56 + 12, "\0\x10\0\0", 4);
	}
}

static void messages_refused(void **state)
{
	struct lnet_hdr h = hdr_of(true), got;
	struct tcp_frame f = {TCP_FRAME_LNET, 0, {0, 0}}, gf;
	uint8_t b[TCP_MSG_HEAD_MAX];
	size_t need;

	(void)state;
	assert_int_equal(tcp_msg_encode(&f, &h, 3, false, b), -EAFNOSUPPORT);
	h = hdr_of(false);
	h.type = LNET_MSG_HELLO;
	assert_int_equal(tcp_msg_encode(&f, &h, 4, false, b), -EINVAL);
	h = hdr_of(false);
	assert_int_equal(tcp_msg_encode(&f, &h, 3, false, b), 96);
	b[0] = 0xc2;
	assert_int_equal(msg_parse(b, 24, 3, false, &gf, &got, &need), TCP_PARSE_BAD);
	b[0] = 0xc1;
	assert_int_equal(msg_parse(b, 24, 3, true, &gf, &got, &need), TCP_PARSE_BAD);
	b[24 + 24] = 9;
	assert_int_equal(msg_parse(b, 96, 3, false, &gf, &got, &need), TCP_PARSE_BAD);
	/* a NOOP is a frame and nothing else */
	b[0] = 0xc0;
	assert_int_equal(msg_parse(b, 96, 3, false, &gf, &got, &need), TCP_PARSE_OK);
	assert_int_equal(need, 24);
	assert_int_equal(gf.type, TCP_FRAME_NOOP);
}

static void acknowledgements(void **state)
{
	static const struct {
		uint32_t type, version;
		uint64_t c0, c1;
		enum tcp_zc zc;
		uint64_t first, last, count;
	} rows[] = {
	        {TCP_FRAME_NOOP, 3, 0, 0, TCP_ZC_NONE, 0, 0, 0},
	        {TCP_FRAME_NOOP, 3, 5, 0, TCP_ZC_NONE, 0, 0, 0},
	        {TCP_FRAME_NOOP, 3, 0, 2, TCP_ZC_RANGE, 2, 2, 1},
	        {TCP_FRAME_NOOP, 3, 5, 10, TCP_ZC_RANGE, 5, 10, 6},
	        {TCP_FRAME_NOOP, 3, 12, 11, TCP_ZC_PAIR, 12, 11, 2},
	        {TCP_FRAME_NOOP, 3, 14, 3, TCP_ZC_PAIR, 14, 3, 2},
	        {TCP_FRAME_NOOP, 3, 7, 7, TCP_ZC_RANGE, 7, 7, 1},
	        {TCP_FRAME_NOOP, 3, 1, UINT64_MAX, TCP_ZC_RANGE, 1, UINT64_MAX, UINT64_MAX},
	        {TCP_FRAME_NOOP, 3, 0, 1, TCP_ZC_KEEPALIVE, 0, 0, 0},
	        {TCP_FRAME_NOOP, 4, 1, 1, TCP_ZC_KEEPALIVE, 0, 0, 0},
	        {TCP_FRAME_NOOP, 3, 2, 1, TCP_ZC_BAD, 0, 0, 0},
	        {TCP_FRAME_NOOP, 4, UINT64_MAX, 1, TCP_ZC_BAD, 0, 0, 0},
	        {TCP_FRAME_NOOP, 2, 0, 1, TCP_ZC_RANGE, 1, 1, 1},
	        /* in a message cookie[0] is a request */
	        {TCP_FRAME_LNET, 3, 9, 0, TCP_ZC_NONE, 0, 0, 0},
	        {TCP_FRAME_LNET, 3, 9, 4, TCP_ZC_RANGE, 4, 4, 1},
	        {TCP_FRAME_LNET, 3, 2, 4, TCP_ZC_RANGE, 4, 4, 1},
	        {TCP_FRAME_LNET, 3, 9, 1, TCP_ZC_KEEPALIVE, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_frame f = {rows[i].type, 0, {rows[i].c0, rows[i].c1}};
		struct tcp_zc_ack ack;

		assert_int_equal(tcp_zc_parse(&f, rows[i].version, &ack), rows[i].zc);
		assert_true(ack.first == rows[i].first && ack.last == rows[i].last);
		assert_true(ack.count == rows[i].count);
	}
}

static void merging(void **state)
{
	static const struct {
		uint64_t c0, c1, cookie;
		bool merged;
		uint64_t w0, w1;
	} rows[] = {
	        {0, 0, 5, true, 0, 5},
	        {0, 1, 5, true, 0, 5}, /* a keepalive is replaced */
	        {1, 1, 5, true, 0, 5},
	        {0, 5, 6, true, 5, 6},
	        {0, 5, 4, true, 4, 5},
	        {0, 5, 9, true, 9, 5},
	        {0, 5, 2, true, 5, 2},
	        {0, 5, 5, false, 0, 5},
	        {5, 5, 6, true, 5, 6},
	        {5, 6, 7, true, 5, 7},
	        {5, 6, 4, true, 4, 6},
	        {5, 7, 6, false, 5, 7},
	        {5, 7, 9, false, 5, 7},
	        {5, 7, 3, false, 5, 7},
	        {7, 5, 6, true, 5, 7},
	        {8, 5, 6, false, 8, 5},
	        {8, 5, 9, false, 8, 5},
	        {0, 5, 0, false, 0, 5},
	        {0, 5, 1, false, 0, 5},
	        {0, UINT64_MAX, UINT64_MAX - 1, true, UINT64_MAX - 1, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_frame f = {TCP_FRAME_NOOP, 0, {rows[i].c0, rows[i].c1}};

		assert_int_equal(tcp_zc_merge(&f, 3, rows[i].cookie), rows[i].merged);
		assert_true(f.cookie[0] == rows[i].w0 && f.cookie[1] == rows[i].w1);
		f = (struct tcp_frame){TCP_FRAME_NOOP, 0, {rows[i].c0, rows[i].c1}};
		assert_false(tcp_zc_merge(&f, 2, rows[i].cookie));
		assert_true(f.cookie[0] == rows[i].c0 && f.cookie[1] == rows[i].c1);
	}
}

/* Whatever is merged and sent, the receiver sees each cookie once and no other. */
static void merging_loses_nothing(void **state)
{
	struct prng r = {.s = 31};

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint64_t order[40];
		unsigned seen[42] = {0};
		struct tcp_frame f = {TCP_FRAME_NOOP, 0, {0, 0}};

		for (unsigned i = 0; i < 40; i++)
			order[i] = i + 2;
		for (unsigned i = 0; i < 40; i++) {
			unsigned j = i + prng_below(&r, round % 2 ? 40 - i : i < 36 ? 4 : 40 - i);
			uint64_t t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		for (unsigned i = 0; i <= 40; i++) {
			struct tcp_zc_ack ack;
			enum tcp_zc zc;

			if (i < 40 && tcp_zc_merge(&f, 3, order[i]))
				continue;
			zc = tcp_zc_parse(&f, 3, &ack);
			assert_true(zc == TCP_ZC_RANGE || zc == TCP_ZC_PAIR);
			if (zc == TCP_ZC_PAIR) {
				seen[ack.first]++;
				seen[ack.last]++;
			}
			for (uint64_t c = ack.first; zc == TCP_ZC_RANGE && c <= ack.last; c++)
				seen[c]++;
			f = (struct tcp_frame){TCP_FRAME_NOOP, 0, {0, 0}};
			if (i < 40)
				assert_true(tcp_zc_merge(&f, 3, order[i]));
		}
		for (unsigned c = 2; c < 42; c++)
			assert_int_equal(seen[c], 1);
	}
}

static void checksum(void **state)
{
	/* CRC-32 of "123456789" is 0xcbf43926 with the final inversion */
	uint32_t c = tcp_csum(TCP_CSUM_INIT, "123456789", 9);

	(void)state;
	assert_int_equal(c, ~0xcbf43926u);
	assert_int_equal(tcp_csum(TCP_CSUM_INIT, NULL, 0), TCP_CSUM_INIT);
	c = tcp_csum(TCP_CSUM_INIT, "1234", 4);
	c = tcp_csum(c, NULL, 0);
	assert_int_equal(tcp_csum(c, "56789", 5), ~0xcbf43926u);
}

static void choice_of_connection(void **state)
{
	enum { NO = TCP_FIT_NO, MAY = TCP_FIT_MAYBE, YES = TCP_FIT_YES };
	/* by type: any, control, bulk in, bulk out */
	static const struct {
		bool noop, nonblk, large;
		int v2[4], v3[4];
	} rows[] = {
	        {false, false, false, {YES, YES, MAY, MAY}, {NO, YES, NO, MAY}},
	        {false, false, true, {YES, MAY, MAY, YES}, {NO, MAY, NO, YES}},
	        {true, false, false, {YES, YES, MAY, MAY}, {NO, YES, MAY, MAY}},
	        {true, true, false, {YES, YES, MAY, MAY}, {NO, NO, YES, NO}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (uint32_t t = 0; t < 4; t++) {
			for (uint32_t v = 1; v <= 4; v++) {
				size_t size = rows[i].noop ? 24 : rows[i].large ? 1024 : 1023;
				int want = v <= 2 ? rows[i].v2[t] : rows[i].v3[t];

				assert_int_equal(
				        tcp_msg_fit(v, t, rows[i].noop, rows[i].nonblk, size, 1024),
				        want);
			}
		}
	}
	assert_int_equal(tcp_msg_fit(3, TCP_CTYPE_NONE, false, false, 96, 1024), TCP_FIT_NO);
	assert_int_equal(tcp_msg_fit(2, 4, false, false, 96, 1024), TCP_FIT_NO);
}

static void connections_for_speed(void **state)
{
	static const struct {
		long mbits;
		unsigned n;
	} rows[] = {{-1, 1}, {0, 1}, {100, 1}, {999, 1}, {1000, 1}, {2500, 1}, {4000, 2},
	        {10000, 2}, {25000, 3}, {40000, 3}, {100000, 4}, {200000, 4}, {400000, 5},
	        {800000, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(tcp_conns_for_speed(rows[i].mbits), rows[i].n);
}

static void order_of_opening(void **state)
{
	static const uint32_t want[] = {1, 2, 3, 2, 3, TCP_CTYPE_NONE};
	unsigned count[4] = {0};
	uint32_t t;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		t = tcp_next_ctype(count, 2);
		assert_int_equal(t, want[i]);
		if (t < 4)
			count[t]++;
	}
	/* the peer opened some of them */
	assert_int_equal(tcp_next_ctype((unsigned[4]){0, 2, 2, 0}, 2), TCP_CTYPE_BULK_OUT);
	assert_int_equal(tcp_next_ctype((unsigned[4]){0, 1, 0, 2}, 2), TCP_CTYPE_BULK_IN);
	assert_int_equal(tcp_next_ctype((unsigned[4]){0, 0, 2, 2}, 2), TCP_CTYPE_CONTROL);
	assert_int_equal(tcp_next_ctype((unsigned[4]){0, 1, 3, 5}, 2), TCP_CTYPE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(frame_layout),
	        cmocka_unit_test(messages_of_each_version),
	        cmocka_unit_test(messages_refused),
	        cmocka_unit_test(acknowledgements),
	        cmocka_unit_test(merging),
	        cmocka_unit_test(merging_loses_nothing),
	        cmocka_unit_test(checksum),
	        cmocka_unit_test(choice_of_connection),
	        cmocka_unit_test(connections_for_speed),
	        cmocka_unit_test(order_of_opening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
