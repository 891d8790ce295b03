/* SPDX-License-Identifier: BSD-2-Clause */
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

static struct lnet_nid nid_of(const char *s)
{
	struct lnet_nid nid;

	assert_int_equal(lnet_nid_parse(s, strlen(s), &nid, NULL), 0);
	return nid;
}

/* Store v in n bytes of either order: the tests' own idea of it. */
static void poke(uint8_t *p, uint64_t v, unsigned n, bool be)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * (be ? n - 1 - i : i));
}

/* Parsers run on a heap copy of the exact length, so that reading beyond it is seen. */
static enum tcp_parse accept_parse(const uint8_t *b, size_t n, struct lnet_nid *nid, size_t *need)
{
	uint8_t *copy = malloc(n + (n == 0));
	const char *why = NULL;
	enum tcp_parse rc;

	assert_non_null(copy);
	memcpy(copy, b, n);
	rc = tcp_accept_parse(copy, n, nid, need, &why);
	free(copy);
	if (rc > TCP_PARSE_MORE)
		assert_non_null(why);
	return rc;
}

static enum tcp_parse hello_parse(const uint8_t *b, size_t n, struct tcp_hello *h, size_t *need)
{
	uint8_t *copy = malloc(n + (n == 0));
	const char *why = NULL;
	enum tcp_parse rc;

	assert_non_null(copy);
	memcpy(copy, b, n);
	rc = tcp_hello_parse(copy, n, h, need, &why);
	free(copy);
	if (rc > TCP_PARSE_MORE)
		assert_non_null(why);
	return rc;
}

/* ---- acceptor ---------------------------------------------------------------------------- */

static void accept_both_versions_and_orders(void **state)
{
	static const char *const nids[] = {"10.7.0.2@tcp", "10.7.0.2@tcp7", "fd00:7::2@tcp"};

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct lnet_nid nid = nid_of(nids[i / 2]), got;
		uint8_t b[TCP_ACCEPT_MAX + 8] = {0};
		bool be = i % 2;
		size_t need = 0, n = tcp_accept_encode(&nid, be, b);

		assert_int_equal(n, i < 4 ? 16 : 28);
		assert_memory_equal(b, be ? "\xac\xce\x71\x00\0\0\0" : "\x00\x71\xce\xac", 4);
		assert_int_equal(b[be ? 7 : 4], i < 4 ? 1 : 2);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(accept_parse(b, k, &got, &need), TCP_PARSE_MORE);
			assert_int_equal(need, k < 8 ? 8 : n);
		}
		/* what follows, the HELLO, is not looked at */
		assert_int_equal(accept_parse(b, n, &got, &need), TCP_PARSE_OK);
		assert_int_equal(need, n);
		assert_int_equal(accept_parse(b, sizeof(b), &got, &need), TCP_PARSE_OK);
		assert_int_equal(need, n);
		assert_true(lnet_nid_eq(&nid, &got));
	}
}

/* A large NID for a 4-byte address is allowed in a version 2 request. */
static void accept_v2_with_small_nid(void **state)
{
	static const uint8_t b[28] = {0x00, 0x71, 0xce, 0xac, 2, 0, 0, 0, 0, 2, 0, 1, 10, 7, 0, 2};
	struct lnet_nid got, want = nid_of("10.7.0.2@tcp1");
	size_t need;

	(void)state;
	assert_int_equal(accept_parse(b, 28, &got, &need), TCP_PARSE_OK);
	assert_true(lnet_nid_eq(&got, &want));
}

static void accept_outcomes(void **state)
{
	static const struct {
		uint32_t magic, version;
		size_t len; /* as little as decides */
		enum tcp_parse rc;
	} rows[] = {
	        {TCP_MAGIC_LNET, 0, 4, TCP_PARSE_QUERY},
	        {TCP_MAGIC_LNET, 3, 4, TCP_PARSE_QUERY},
	        {TCP_MAGIC_V1, 0, 4, TCP_PARSE_ANCIENT},
	        {TCP_MAGIC_ACCEPTOR, 0, 8, TCP_PARSE_VERSION},
	        {TCP_MAGIC_ACCEPTOR, 3, 8, TCP_PARSE_VERSION},
	        {TCP_MAGIC_ACCEPTOR, 0xffffffff, 8, TCP_PARSE_VERSION},
	        {0, 1, 4, TCP_PARSE_BAD},
	        {0x20544547, 0, 4, TCP_PARSE_BAD}, /* "GET " */
	        {0x0be91b91, 1, 4, TCP_PARSE_BAD},
	};

	(void)state;
	for (int i = 0; i < 2 * (int)(sizeof(rows) / sizeof(rows[0])); i++) {
		uint8_t b[8];
		struct lnet_nid nid;
		size_t need;
		bool be = i % 2;

		poke(b, rows[i / 2].magic, 4, be);
		poke(b + 4, rows[i / 2].version, 4, be);
		assert_int_equal(accept_parse(b, rows[i / 2].len - 1, &nid, &need), TCP_PARSE_MORE);
		assert_int_equal(accept_parse(b, rows[i / 2].len, &nid, &need), rows[i / 2].rc);
	}
}

static void accept_bad_nids(void **state)
{
	uint8_t b[28];
	struct lnet_nid v4 = nid_of("10.7.0.2@tcp"), v6 = nid_of("fd00::1@tcp"), nid;
	size_t need;

	(void)state;
	tcp_accept_encode(&v4, false, b);
	memset(b + 8, 0xff, 8);
	assert_int_equal(accept_parse(b, 16, &nid, &need), TCP_PARSE_BAD);
	tcp_accept_encode(&v4, false, b);
	b[15] = 1;
	assert_int_equal(accept_parse(b, 16, &nid, &need), TCP_PARSE_BAD);
	tcp_accept_encode(&v6, false, b);
	b[8] = 8;
	assert_int_equal(accept_parse(b, 28, &nid, &need), TCP_PARSE_BAD);
	b[8] = 0; /* a 4-byte address with bytes behind it */
	assert_int_equal(accept_parse(b, 28, &nid, &need), TCP_PARSE_BAD);
	b[8] = 12;
	b[9] = 0xff;
	assert_int_equal(accept_parse(b, 28, &nid, &need), TCP_PARSE_BAD);
}

static void accept_answer(void **state)
{
	uint8_t b[TCP_ACCEPT_ANS_SIZE];

	(void)state;
	tcp_accept_encode_answer(b);
	assert_memory_equal(b, "\x00\x71\xce\xac\1\0\0\0\0\0\0\0\0\0\0\0", 16);
}

/* ---- HELLO ------------------------------------------------------------------------------- */

static struct tcp_hello hello_of(uint32_t version, bool be)
{
	return (struct tcp_hello){
	        .version = version,
	        .be = be,
	        .src_nid = nid_of(version == 4 ? "fd00:7::1@tcp" : "10.7.0.1@tcp3"),
	        .dst_nid = nid_of(version == 4 ? "fd00:7::2@tcp" : "10.7.0.2@tcp3"),
	        .src_pid = 12345,
	        .dst_pid = 0x01020304,
	        .src_incarnation = 0x18ecf588797a4a7cull,
	        .dst_incarnation = 0x1112131415161718ull,
	        .ctype = TCP_CTYPE_BULK_IN,
	};
}

static const size_t hello_sizes[5] = {0, 72, 56, 56, 80};

static void hello_all_versions_and_orders(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		struct tcp_hello h = hello_of(i / 2 + 1, i % 2), got;
		uint8_t b[TCP_HELLO_V4_SIZE + 8] = {0};
		size_t n = hello_sizes[h.version], need;

		assert_int_equal(tcp_hello_encode(&h, b), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(hello_parse(b, k, &got, &need), TCP_PARSE_MORE);
			assert_int_equal(need, k < 8 ? 8 : n);
		}
		assert_int_equal(hello_parse(b, sizeof(b), &got, &need), TCP_PARSE_OK);
		assert_int_equal(need, n);
		if (h.version == 1) {
			h.dst_nid = lnet_nid_any();
			h.dst_incarnation = 0;
		}
		assert_int_equal(got.version, h.version);
		assert_int_equal(got.be, h.be);
		assert_true(lnet_nid_eq(&got.src_nid, &h.src_nid));
		assert_true(lnet_nid_eq(&got.dst_nid, &h.dst_nid));
		assert_int_equal(got.src_pid, h.src_pid);
		assert_int_equal(got.dst_pid, h.dst_pid);
		assert_true(got.src_incarnation == h.src_incarnation);
		assert_true(got.dst_incarnation == h.dst_incarnation);
		assert_int_equal(got.ctype, h.ctype);
		assert_int_equal(got.nips, 0);
	}
}

/* A swapped v3 by hand, NIDs swapped too. */
static void hello_v3_big_endian_layout(void **state)
{
	struct tcp_hello h = hello_of(3, true);
	uint8_t want[56] = {0}, b[TCP_HELLO_V4_SIZE];

	(void)state;
	poke(want, 0x45726963, 4, true);
	poke(want + 4, 3, 4, true);
	poke(want + 8, 0x000200030a070001ull, 8, true);
	poke(want + 16, 0x000200030a070002ull, 8, true);
	poke(want + 24, 12345, 4, true);
	poke(want + 28, 0x01020304, 4, true);
	poke(want + 32, h.src_incarnation, 8, true);
	poke(want + 40, h.dst_incarnation, 8, true);
	poke(want + 48, 2, 4, true);
	assert_int_equal(tcp_hello_encode(&h, b), 56);
	assert_memory_equal(b, want, 56);
}

static void hello_v1_layout(void **state)
{
	struct tcp_hello h = hello_of(1, false);
	uint8_t want[72] = {0}, b[TCP_HELLO_V4_SIZE];

	(void)state;
	poke(want, 0xeebc0ded, 4, false);
	poke(want + 4, 1, 2, false);
	poke(want + 8, 0x000200030a070001ull, 8, false);
	poke(want + 16, 0x01020304, 4, false);
	poke(want + 20, 12345, 4, false);
	poke(want + 24, 4, 4, false);
	poke(want + 32, h.src_incarnation, 8, false);
	poke(want + 40, 2, 4, false);
	memset(b, 0xee, sizeof(b));
	assert_int_equal(tcp_hello_encode(&h, b), 72);
	assert_memory_equal(b, want, 72);
}

/* Address lists: where the count lies, and that the list is waited for and checked. */
static void hello_address_lists(void **state)
{
	static const size_t count_at[5] = {0, 28, 52, 52, 76};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		unsigned version = i / 2 + 1;
		struct tcp_hello h = hello_of(version, i % 2), got;
		uint8_t b[TCP_HELLO_MAX + 4];
		size_t fixed = hello_sizes[version], need;
		unsigned unit = version == 1 ? 4 : 1;

		memset(b, 1, sizeof(b));
		tcp_hello_encode(&h, b);
		poke(b + count_at[version], 16 * unit, 4, h.be);
		assert_int_equal(hello_parse(b, fixed, &got, &need), TCP_PARSE_MORE);
		assert_int_equal(need, fixed + 64);
		assert_int_equal(hello_parse(b, fixed + 63, &got, &need), TCP_PARSE_MORE);
		assert_int_equal(hello_parse(b, sizeof(b), &got, &need), TCP_PARSE_OK);
		assert_int_equal(need, fixed + 64);
		assert_int_equal(got.nips, 16);
		memset(b + fixed + 60, 0, 4);
		assert_int_equal(hello_parse(b, fixed + 64, &got, &need), TCP_PARSE_BAD);
		poke(b + count_at[version], 17 * unit, 4, h.be);
		assert_int_equal(hello_parse(b, fixed, &got, &need), TCP_PARSE_BAD);
		poke(b + count_at[version], 0xfffffffcu, 4, h.be);
		assert_int_equal(hello_parse(b, fixed, &got, &need), TCP_PARSE_BAD);
	}
}

static void hello_refuses(void **state)
{
	struct tcp_hello h = hello_of(4, false), got;
	uint8_t b[TCP_HELLO_V4_SIZE];
	size_t need;

	(void)state;
	tcp_hello_encode(&h, b);
	b[76] = 1;
	assert_int_equal(hello_parse(b, 80, &got, &need), TCP_PARSE_BAD); /* list in v4 */
	tcp_hello_encode(&h, b);
	b[8] = 7;
	assert_int_equal(hello_parse(b, 80, &got, &need), TCP_PARSE_BAD); /* size of source */
	tcp_hello_encode(&h, b);
	b[28] = 0;
	assert_int_equal(hello_parse(b, 80, &got, &need), TCP_PARSE_BAD); /* bytes behind 4 */
	tcp_hello_encode(&h, b);
	b[9] = 0xff;
	assert_int_equal(hello_parse(b, 80, &got, &need), TCP_PARSE_BAD); /* source ANY */
	h = hello_of(3, false);
	tcp_hello_encode(&h, b);
	memset(b + 8, 0xff, 8);
	assert_int_equal(hello_parse(b, 56, &got, &need), TCP_PARSE_BAD);
	tcp_hello_encode(&h, b);
	b[15] = 0x80;
	assert_int_equal(hello_parse(b, 56, &got, &need), TCP_PARSE_BAD);
	h = hello_of(1, false);
	tcp_hello_encode(&h, b);
	b[24] = 1;
	assert_int_equal(hello_parse(b, 72, &got, &need), TCP_PARSE_BAD); /* no HELLO */
	tcp_hello_encode(&h, b);
	b[28] = 2;
	assert_int_equal(hello_parse(b, 72, &got, &need), TCP_PARSE_BAD); /* half an address */
	memcpy(b, "GET / HTTP/1.1\r\n", 16);
	assert_int_equal(hello_parse(b, 4, &got, &need), TCP_PARSE_BAD);
	poke(b, TCP_MAGIC_ACCEPTOR, 4, false);
	assert_int_equal(hello_parse(b, 4, &got, &need), TCP_PARSE_BAD);
}

static void hello_unknown_versions(void **state)
{
	static const uint32_t versions[] = {0, 1, 5, 0xffffffff, 0x03000000};
	struct tcp_hello got;
	uint8_t b[8];
	size_t need;

	(void)state;
	for (int i = 0; i < 10; i++) {
		poke(b, TCP_MAGIC_LNET, 4, i % 2);
		poke(b + 4, versions[i / 2], 4, i % 2);
		assert_int_equal(hello_parse(b, 7, &got, &need), TCP_PARSE_MORE);
		assert_int_equal(hello_parse(b, 8, &got, &need), TCP_PARSE_VERSION);
		assert_int_equal(got.be, i % 2);
	}
	for (int i = 0; i < 2; i++) {
		poke(b, TCP_MAGIC_V1, 4, i);
		poke(b + 4, 1, 2, i);
		poke(b + 6, 1, 2, i); /* 1.1 */
		assert_int_equal(hello_parse(b, 8, &got, &need), TCP_PARSE_VERSION);
		poke(b + 4, 2, 2, i); /* 2.0 */
		poke(b + 6, 0, 2, i);
		assert_int_equal(hello_parse(b, 8, &got, &need), TCP_PARSE_VERSION);
	}
}

static void hello_encode_refuses(void **state)
{
	uint8_t b[TCP_HELLO_V4_SIZE];
	struct tcp_hello h;

	(void)state;
	for (uint32_t v = 1; v < 4; v++) {
		h = hello_of(4, false);
		h.version = v;
		assert_int_equal(tcp_hello_encode(&h, b), -EAFNOSUPPORT);
		h.src_nid = nid_of("10.0.0.1@tcp");
		assert_int_equal(tcp_hello_encode(&h, b), v == 1 ? 72 : -EAFNOSUPPORT);
	}
	h.version = 0;
	assert_int_equal(tcp_hello_encode(&h, b), -EINVAL);
	h.version = 5;
	assert_int_equal(tcp_hello_encode(&h, b), -EINVAL);
	/* the opposite is allowed: v4 with 4-byte addresses */
	h = hello_of(3, false);
	h.version = 4;
	assert_int_equal(tcp_hello_encode(&h, b), 80);
}

static void connection_types(void **state)
{
	static const uint32_t mirrors[4] = {0, 1, 3, 2};
	uint32_t m = 77;

	(void)state;
	for (uint32_t t = 0; t < 4; t++) {
		assert_int_equal(tcp_ctype_mirror(t, &m), 0);
		assert_int_equal(m, mirrors[t]);
	}
	m = 77;
	assert_int_equal(tcp_ctype_mirror(4, &m), -EPROTO);
	assert_int_equal(tcp_ctype_mirror(7, &m), -EPROTO);
	assert_int_equal(tcp_ctype_mirror(TCP_CTYPE_NONE, &m), -EPROTO);
	assert_int_equal(m, 77);
	assert_string_equal(tcp_ctype_name(2), "bulk in");
	assert_string_equal(tcp_ctype_name(TCP_CTYPE_NONE), "none");
	assert_string_equal(tcp_ctype_name(9), "unknown");
}

static void answers(void **state)
{
	struct tcp_hello sent = hello_of(3, false), got = sent;
	const char *why = "";

	(void)state;
	got.src_nid = sent.dst_nid;
	got.dst_nid = sent.src_nid;
	got.ctype = TCP_CTYPE_BULK_OUT;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_OK);
	got.be = true; /* each side has its own order */
	got.version = 2;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_OK);
	got.ctype = TCP_CTYPE_BULK_IN;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_BAD);
	got.ctype = TCP_CTYPE_NONE;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_VERSION);
	got.version = 3;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_RETRY);
	assert_int_equal(tcp_hello_answer(&sent, &got, 1, &why), TCP_ANSWER_BAD);
	assert_string_equal(why, "answered by another pid");
	got.src_nid = sent.src_nid;
	assert_int_equal(tcp_hello_answer(&sent, &got, 12345, &why), TCP_ANSWER_BAD);
	assert_string_equal(why, "answered by another nid");
	assert_int_equal(tcp_hello_version(&sent.src_nid), 3);
	sent = hello_of(4, false);
	assert_int_equal(tcp_hello_version(&sent.src_nid), 4);
}

static void hello_round_trips(void **state)
{
	struct prng r = {.s = 5};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct tcp_hello h = hello_of(1 + prng_below(&r, 4), prng_below(&r, 2)), got;
		uint8_t a[TCP_HELLO_V4_SIZE], b[TCP_HELLO_V4_SIZE];
		size_t need;
		int n;

		h.src_pid = (uint32_t)prng_next(&r);
		h.dst_pid = (uint32_t)prng_next(&r);
		h.src_incarnation = prng_next(&r);
		h.dst_incarnation = prng_next(&r);
		h.ctype = (uint32_t)prng_next(&r);
		h.src_nid = lnet_nid_from4(prng_next(&r) & 0x003fffffffffffffull);
		if (h.version == 4 && prng_below(&r, 2)) {
			h.src_nid.size = 12;
			prng_fill(&r, h.src_nid.addr, 16);
		}
		n = tcp_hello_encode(&h, a);
		assert_true(n > 0);
		assert_int_equal(hello_parse(a, (size_t)n, &got, &need), TCP_PARSE_OK);
		assert_int_equal(tcp_hello_encode(&got, b), n);
		assert_memory_equal(a, b, (size_t)n);
		assert_true(got.src_incarnation == h.src_incarnation);
		assert_int_equal(got.ctype, h.ctype);
		assert_true(lnet_nid_eq(&got.src_nid, &h.src_nid));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(accept_both_versions_and_orders),
	        cmocka_unit_test(accept_v2_with_small_nid),
	        cmocka_unit_test(accept_outcomes),
	        cmocka_unit_test(accept_bad_nids),
	        cmocka_unit_test(accept_answer),
	        cmocka_unit_test(hello_all_versions_and_orders),
	        cmocka_unit_test(hello_v3_big_endian_layout),
	        cmocka_unit_test(hello_v1_layout),
	        cmocka_unit_test(hello_address_lists),
	        cmocka_unit_test(hello_refuses),
	        cmocka_unit_test(hello_unknown_versions),
	        cmocka_unit_test(hello_encode_refuses),
	        cmocka_unit_test(connection_types),
	        cmocka_unit_test(answers),
	        cmocka_unit_test(hello_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
