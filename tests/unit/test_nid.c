/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <lnet/hdr.h>
#include <lnet/nid.h>
#include "lib/prng.h"

static int parse(const char *s, struct lnet_nid *nid, struct lnet_parse_err *err)
{
	return lnet_nid_parse(s, strlen(s), nid, err);
}

/* text, canonical text (NULL: the same), type, number, address bytes, 4 or 16 of them */
static const struct good {
	const char *text, *canon;
	unsigned type, num, len;
	uint8_t addr[16];
} good[] = {
        {"10.0.0.1@tcp", NULL, LNET_LND_TCP, 0, 4, {10, 0, 0, 1}},
        {"10.0.0.1@tcp0", "10.0.0.1@tcp", LNET_LND_TCP, 0, 4, {10, 0, 0, 1}},
        {"192.0.2.5", "192.0.2.5@tcp", LNET_LND_TCP, 0, 4, {192, 0, 2, 5}},
        {"192.0.2.5@tcp65534", NULL, LNET_LND_TCP, 65534, 4, {192, 0, 2, 5}},
        {"192.0.2.5@tcp65535", NULL, LNET_LND_TCP, 65535, 4, {192, 0, 2, 5}},
        {"255.255.255.255@o2ib7", NULL, LNET_LND_O2IB, 7, 4, {255, 255, 255, 255}},
        {"0.0.0.0@gip", NULL, LNET_LND_GIP, 0, 4, {0}},
        {"127.0.0.2@tcp", NULL, LNET_LND_TCP, 0, 4, {127, 0, 0, 2}},
        {"10.0.0.1@efa3", NULL, LNET_LND_EFA, 3, 4, {10, 0, 0, 1}},
        {"10.0.0.1@ofi", NULL, LNET_LND_OFI, 0, 4, {10, 0, 0, 1}},
        {"fd00:7::2@tcp", NULL, LNET_LND_TCP, 0, 16,
                {0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
        {"FD00:0007:0:0:0:0:0:2@tcp4", "fd00:7::2@tcp4", LNET_LND_TCP, 4, 16,
                {0xfd, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
        {"::@o2ib", NULL, LNET_LND_O2IB, 0, 16, {0}},
        {"::1", "::1@tcp", LNET_LND_TCP, 0, 16, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
        {"fe80::1@ofi2", NULL, LNET_LND_OFI, 2, 16,
                {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
        {"5@kfi", NULL, LNET_LND_KFI, 0, 4, {0, 0, 0, 5}},
        {"0x1F@gni1", "31@gni1", LNET_LND_GNI, 1, 4, {0, 0, 0, 31}},
        {"4294967295@ptlf", NULL, LNET_LND_PTLF, 0, 4, {255, 255, 255, 255}},
        {"0xffffffff@bxi3f2", "4294967295@bxi3f2", LNET_LND_BXI3F, 2, 4, {255, 255, 255, 255}},
        {"0@lo", NULL, LNET_LND_LO, 0, 4, {0}},
        {"200@<0:25354>", NULL, 0, 25354, 4, {0, 0, 2, 0}},
        {"ab@<17:1>", NULL, LNET_LND_TOFU, 1, 4, {0, 0, 0, 0xab}},
        {"0@<254:65535>", NULL, 254, 65535, 4, {0}},
        {"000102030405060708090a0b0c0d0e0f@<17:0>", NULL, LNET_LND_TOFU, 0, 16,
                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"000102030405060708090a0b0c0d0e0f@<16:3>", NULL, LNET_LND_KFI, 3, 16,
                {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
        {"5@<9:0>", NULL, LNET_LND_LO, 0, 4, {0, 0, 0, 5}},
        {"0@<9:1>", NULL, LNET_LND_LO, 1, 4, {0}},
};

static void parses_and_prints(void **state)
{
	char buf[LNET_NIDSTR_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct good *g = &good[i];
		struct lnet_nid nid, again, want = {.size = (uint8_t)(g->len - 4)};

		want.type = (uint8_t)g->type;
		want.num = (uint16_t)g->num;
		memcpy(want.addr, g->addr, 16);
		assert_int_equal(parse(g->text, &nid, NULL), 0);
		assert_memory_equal(&nid, &want, sizeof(nid));
		lnet_nid_str(&nid, buf, sizeof(buf));
		assert_string_equal(buf, g->canon ? g->canon : g->text);
		assert_int_equal(parse(buf, &again, NULL), 0);
		assert_true(lnet_nid_eq(&nid, &again));
	}
}

static const struct bad {
	const char *text;
	size_t pos;
} bad[] = {
        /* net number */
        {"192.0.2.5@tcp65536", 13},
        {"192.0.2.5@tcp-1", 13},
        {"192.0.2.5@tcp+1", 13},
        {"192.0.2.5@tcp 1", 13},
        {"192.0.2.5@tcp4294967296", 13},
        {"192.0.2.5@tcp0x1", 14},
        {"192.0.2.5@tcp01", 13},
        {"192.0.2.5@tcp00", 13},
        {"192.0.2.5@tcp99999999999999999999999999", 13},
        {"192.0.2.5@", 10},
        {"192.0.2.5@tc", 10},
        {"192.0.2.5@TCP", 10},
        {"192.0.2.5@tcp@tcp", 13},
        {"c0000205@<2:0>", 9},
        {"192.0.2.5@<255:0>", 11},
        /* address */
        {"10.0.0.010@tcp", 7},
        {"10.0.0.0x0a@tcp", 8},
        {"10.0.0.+1@tcp", 7},
        {"10.0.0.-1@tcp", 7},
        {"10. 0.0.1@tcp", 3},
        {"10.0.0.1 @tcp", 8},
        {"10.0.0.1@ tcp", 9},
        {"10.0.0.1@tcp\n", 12},
        {" 10.0.0.1@tcp", 0},
        {"192.0.2@tcp", 7},
        {"192.0.2.1.5@tcp", 9},
        {"256.0.2.1@tcp", 0},
        {"1.1.1.256@tcp", 6},
        {"192.0.2.*@tcp", 8},
        {"192.0.2.*.@tcp", 8},
        {"192.0.2.[1-4]@tcp", 8},
        {"192.0.2..1@tcp", 8},
        {"*@tcp", 0},
        {"*", 0},
        {"", 0},
        {"@tcp", 0},
        {"1@tcp", 1},
        {"256.256.256.256@tcp", 0},
        {"1.1.1.1@gni", 1},
        {"4294967296@gni", 0},
        {"0x100000000@gni", 0},
        {"0x@gni", 2},
        {"05@kfi", 0},
        {"-5@kfi", 0},
        {"5@lo", 0},
        {"00@lo", 0},
        {"0@lo0", 4},
        {"10.0.0.1@lo", 0},
        {"fd00::1::2@tcp", 0},
        {"fd00::g@tcp", 6},
        {"[fd00::1]@tcp", 0},
        {"fe80::1%eth0@tcp", 7},
        {"1:2:3:4:5:6:7:8:9@tcp", 0},
        {"fd00::1@gip", 0},
        {"fd00::1@gni", 0},
        {"node17@tcp", 0},
        {"0200@<0:25354>", 0},
        {"200@<0:65536>", 7},
        {"200@<0:2", 8},
        {"200@<0>", 6},
        {"123456789@<0:1>", 0},
        {"0@<9:0>", 2},
        {"<?>x", 0},
};

static void refuses_with_position(void **state)
{
	struct lnet_nid before, nid;

	(void)state;
	memset(&nid, 0x5a, sizeof(nid));
	before = nid;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lnet_parse_err err = {.pos = 9999};

		assert_int_equal(parse(bad[i].text, &nid, &err), -EINVAL);
		if (err.pos != bad[i].pos)
			fail_msg("\"%s\": position %zu, not %zu (%s)", bad[i].text, err.pos,
			        bad[i].pos, err.msg);
		assert_true(strlen(err.msg) > 5);
		assert_memory_equal(&nid, &before, sizeof(nid));
		assert_int_equal(parse(bad[i].text, &nid, NULL), -EINVAL);
	}
}

static void embedded_nul_is_refused(void **state)
{
	struct lnet_nid nid;
	struct lnet_parse_err err;

	(void)state;
	assert_int_equal(lnet_nid_parse("10.0.0.1@tcp\0", 13, &nid, &err), -EINVAL);
	assert_int_equal(err.pos, 12);
	assert_int_equal(lnet_nid_parse("10.0.0.1\0@tcp", 13, &nid, &err), -EINVAL);
	assert_int_equal(err.pos, 8);
}

static void nets(void **state)
{
	static const struct {
		const char *text, *canon;
		lnet_net_t net;
	} ok[] = {
	        {"tcp", "tcp", LNET_NET(2, 0)},
	        {"tcp0", "tcp", LNET_NET(2, 0)},
	        {"tcp65535", "tcp65535", LNET_NET(2, 65535)},
	        {"o2ib1", "o2ib1", LNET_NET(5, 1)},
	        {"lo", "lo", LNET_NET(9, 0)},
	        {"gni", "gni", LNET_NET(13, 0)},
	        {"gip9", "gip9", LNET_NET(14, 9)},
	        {"ptlf", "ptlf", LNET_NET(15, 0)},
	        {"kfi", "kfi", LNET_NET(16, 0)},
	        {"efa", "efa", LNET_NET(18, 0)},
	        {"bxi3f", "bxi3f", LNET_NET(19, 0)},
	        {"bxi3f3", "bxi3f3", LNET_NET(19, 3)},
	        {"ofi", "ofi", LNET_NET(64, 0)},
	        {"<17:5>", "<17:5>", LNET_NET(17, 5)},
	        {"<?>", "<?>", LNET_NET_ANY},
	};
	static const struct bad no[] = {{"tcp65536", 3}, {"tcp01", 3}, {"tcp ", 3}, {" tcp", 0},
	        {"", 0}, {"lo1", 2}, {"bxi", 0}, {"tcp-1", 3}, {"<2:0>", 0}, {"<300:0>", 1},
	        {"<17:5", 5}, {"*", 0}, {"tcp\n", 3}};
	char buf[LNET_NIDSTR_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		lnet_net_t net = 1;

		assert_int_equal(lnet_net_parse(ok[i].text, strlen(ok[i].text), &net, NULL), 0);
		assert_int_equal(net, ok[i].net);
		assert_string_equal(lnet_net_str(net, buf, sizeof(buf)), ok[i].canon);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		struct lnet_parse_err err;
		lnet_net_t net = 1;

		assert_int_equal(
		        lnet_net_parse(no[i].text, strlen(no[i].text), &net, &err), -EINVAL);
		assert_int_equal(err.pos, no[i].pos);
		assert_int_equal(net, 1);
	}
}

static void any(void **state)
{
	struct lnet_nid any = lnet_nid_any(), nid;
	uint8_t wire[LNET_NID16_SIZE] = {0, 0xff, 1, 2, 3}, ones[LNET_NID16_SIZE];
	char buf[LNET_NIDSTR_MAX];

	(void)state;
	assert_true(lnet_nid_is_any(&any));
	assert_int_equal(lnet_nid_net(&any), LNET_NET_ANY);
	assert_true(lnet_nid_to4(&any) == LNET_NID4_ANY);
	nid = lnet_nid_from4(LNET_NID4_ANY);
	assert_true(lnet_nid_eq(&nid, &any));
	assert_false(lnet_nid_is4(&any));
	assert_string_equal(lnet_nid_str(&any, buf, sizeof(buf)), "<?>");
	assert_int_equal(parse("<?>", &nid, NULL), 0);
	assert_true(lnet_nid_eq(&nid, &any));
	/* the type byte alone decides, and the value is made canonical */
	assert_int_equal(lnet_nid_decode16(wire, &nid), 0);
	assert_memory_equal(&nid, &any, sizeof(nid));
	memset(ones, 0xff, sizeof(ones));
	lnet_nid_encode16(&any, wire);
	assert_memory_equal(wire, ones, sizeof(ones));
}

static void wire_form_refuses(void **state)
{
	struct lnet_nid nid;
	uint8_t w[LNET_NID16_SIZE] = {0, 2, 0, 1, 10, 0, 0, 1};

	(void)state;
	assert_int_equal(lnet_nid_decode16(w, &nid), 0);
	assert_true(lnet_nid_to4(&nid) == 0x000200010a000001ull);
	for (int i = 8; i < 20; i++) {
		w[i] = 1;
		assert_int_equal(lnet_nid_decode16(w, &nid), -EPROTO);
		w[i] = 0;
	}
	for (int size = 1; size < 256; size++) {
		w[0] = (uint8_t)size;
		assert_int_equal(lnet_nid_decode16(w, &nid), size == 12 ? 0 : -EPROTO);
	}
}

static struct lnet_nid random_nid(struct prng *r)
{
	static const uint8_t types[] = {0, 2, 5, 9, 13, 14, 15, 16, 17, 18, 19, 64, 200, 254};
	struct lnet_nid nid = {.size = prng_below(r, 2) ? 12 : 0};

	nid.type = types[prng_below(r, sizeof(types))];
	nid.num = prng_below(r, 3) ? 0 : (uint16_t)prng_next(r);
	prng_fill(r, nid.addr, nid.size + 4u);
	for (int i = 0; i < nid.size + 4; i++)
		if (prng_below(r, 3) == 0)
			nid.addr[i] = 0;
	return nid;
}

/* Every NID: text and wire forms lead back to it; order and equality agree with the wire form. */
static void round_trips(void **state)
{
	struct prng r = {.s = 20240607};
	struct lnet_nid last = lnet_nid_any();

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct lnet_nid nid = random_nid(&r), back;
		uint8_t wa[LNET_NID16_SIZE], wb[LNET_NID16_SIZE];
		char buf[LNET_NIDSTR_MAX];
		int cmp = lnet_nid_cmp(&nid, &last), wcmp;

		lnet_nid_str(&nid, buf, sizeof(buf));
		if (parse(buf, &back, NULL) || !lnet_nid_eq(&nid, &back))
			fail_msg("%s does not parse to itself", buf);
		assert_true(lnet_nid_hash(&nid) == lnet_nid_hash(&back));
		lnet_nid_encode16(&nid, wa);
		assert_int_equal(lnet_nid_decode16(wa, &back), 0);
		assert_memory_equal(&nid, &back, sizeof(nid));
		if (lnet_nid_is4(&nid)) {
			back = lnet_nid_from4(lnet_nid_to4(&nid));
			assert_memory_equal(&nid, &back, sizeof(nid));
		}
		lnet_nid_encode16(&last, wb);
		wcmp = memcmp(wa, wb, sizeof(wa));
		assert_true((cmp < 0) == (wcmp < 0) && (cmp > 0) == (wcmp > 0));
		assert_int_equal(lnet_nid_eq(&nid, &last), wcmp == 0);
		last = nid;
	}
}

/* Neighbouring addresses must not share buckets: hash tables take the low bits. */
static void hash_spreads(void **state)
{
	unsigned bucket[256] = {0};

	(void)state;
	for (uint32_t i = 0; i < 256 * 64; i++) {
		struct lnet_nid nid = lnet_nid_from4(0x000200000a000000ull + i);

		bucket[lnet_nid_hash(&nid) & 255]++;
	}
	for (int i = 0; i < 256; i++)
		assert_in_range(bucket[i], 20, 120);
}

static void small_things(void **state)
{
	struct lnet_nid lo = lnet_nid_from4(0x0009000000000000ull), nid;
	uint8_t ip6[16] = {0xfd, [15] = 1};

	(void)state;
	assert_true(lnet_nid_is_lo(&lo));
	nid = lnet_nid_from4(0x0009000000000001ull);
	assert_false(lnet_nid_is_lo(&nid));
	nid = lnet_nid_from4(0x0009000100000000ull);
	assert_false(lnet_nid_is_lo(&nid));
	nid = lnet_nid_from_ip(LNET_NET(LNET_LND_TCP, 3), ip6, 16);
	assert_int_equal(nid.size, 12);
	assert_int_equal(nid.num, 3);
	assert_memory_equal(nid.addr, ip6, 16);
	assert_false(lnet_nid_is4(&nid));
	assert_int_equal(lnet_nid_net(&nid), LNET_NET(LNET_LND_TCP, 3));
	nid = lnet_nid_from_ip(LNET_NET(LNET_LND_O2IB, 0), ip6, 4);
	assert_true(lnet_nid_to4(&nid) == 0x00050000fd000000ull);
	for (unsigned t = 0; t < 256; t++)
		assert_int_equal(lnet_net_is_ip(LNET_NET(t, 1)),
		        t == 2 || t == 5 || t == 14 || t == 18 || t == 64);
	assert_false(lnet_net_is_ip(LNET_NET_ANY));
	assert_false(lnet_net_is_ip(0x01020000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parses_and_prints),
	        cmocka_unit_test(refuses_with_position),
	        cmocka_unit_test(embedded_nul_is_refused),
	        cmocka_unit_test(nets),
	        cmocka_unit_test(any),
	        cmocka_unit_test(wire_form_refuses),
	        cmocka_unit_test(round_trips),
	        cmocka_unit_test(hash_spreads),
	        cmocka_unit_test(small_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
