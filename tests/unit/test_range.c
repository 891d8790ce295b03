/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/prng.h"
#include "lnet/wire/range.h"

#define C LNI_RANGE_COMMA
#define B LNI_RANGE_BLANK
#define S LNI_RANGE_STAR
#define N LNI_RANGE_NET
#define A LNI_RANGE_NO_NET

static struct lni_ranges *parse(const char *s, unsigned flags)
{
	struct lnet_parse_err err;
	struct lni_ranges *r = NULL;

	if (lni_range_parse(s, strlen(s), flags, &r, &err))
		fail_msg("\"%s\": %zu: %s", s, err.pos, err.msg);
	return r;
}

static struct lnet_nid nid_of(const char *s)
{
	struct lnet_parse_err err;
	struct lnet_nid nid;

	if (lnet_nid_parse(s, strlen(s), &nid, &err))
		fail_msg("\"%s\": %zu: %s", s, err.pos, err.msg);
	return nid;
}

/* text, flags, canonical text, members with blanks between them (NULL: cannot be listed) */
static const struct good {
	const char *text;
	unsigned flags;
	const char *canon, *members;
} good[] = {
        {"10.0.0.1@tcp", 0, "10.0.0.1@tcp", "10.0.0.1@tcp"},
        {"10.0.0.1", 0, "10.0.0.1@tcp", "10.0.0.1@tcp"},
        {"10.0.0.1@tcp0", 0, "10.0.0.1@tcp", "10.0.0.1@tcp"},
        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.[1-9/4]@tcp", "10.0.0.1@tcp 10.0.0.5@tcp 10.0.0.9@tcp"},
        {"10.0.0.[1-2,7]@o2ib1", 0, "10.0.0.[1-2,7]@o2ib1",
                "10.0.0.1@o2ib1 10.0.0.2@o2ib1 10.0.0.7@o2ib1"},
        {"10.0.[1-2].[3-4]@tcp", 0, "10.0.[1-2].[3-4]@tcp",
                "10.0.1.3@tcp 10.0.1.4@tcp 10.0.2.3@tcp 10.0.2.4@tcp"},
        {"10.0.0.[1-3,2,3,1]@tcp", 0, "10.0.0.[1-3,2,3,1]@tcp",
                "10.0.0.1@tcp 10.0.0.2@tcp 10.0.0.3@tcp"},
        {"10.0.0.[5]@tcp", 0, "10.0.0.5@tcp", "10.0.0.5@tcp"},
        {"10.0.0.[5-5/9]@tcp", 0, "10.0.0.5@tcp", "10.0.0.5@tcp"},
        {"10.0.0.[1-3/4294967295]@tcp", 0, "10.0.0.1@tcp", "10.0.0.1@tcp"},
        {"10.0.0.[254-255]@tcp", 0, "10.0.0.[254-255]@tcp", "10.0.0.254@tcp 10.0.0.255@tcp"},
        {"[6-12/4]@gni", 0, "[6-10/4]@gni", "6@gni 10@gni"},
        {"0x1f@kfi2", 0, "31@kfi2", "31@kfi2"},
        {"[4294967294-4294967295]@ptlf", 0, "[4294967294-4294967295]@ptlf",
                "4294967294@ptlf 4294967295@ptlf"},
        {"10.0.0.1@tcp[1,3-5/2]", 0, "10.0.0.1@tcp[1,3-5/2]",
                "10.0.0.1@tcp1 10.0.0.1@tcp3 10.0.0.1@tcp5"},
        {"10.0.0.[1-2]@tcp[0-1]", 0, "10.0.0.[1-2]@tcp[0-1]",
                "10.0.0.1@tcp 10.0.0.1@tcp1 10.0.0.2@tcp 10.0.0.2@tcp1"},
        {"1@bxi3f[1-2]", 0, "1@bxi3f[1-2]", "1@bxi3f1 1@bxi3f2"},
        {"10.0.0.0/30@tcp", 0, "10.0.0.0/30@tcp",
                "10.0.0.0@tcp 10.0.0.1@tcp 10.0.0.2@tcp 10.0.0.3@tcp"},
        {"10.0.0.7/31@tcp", 0, "10.0.0.6/31@tcp", "10.0.0.6@tcp 10.0.0.7@tcp"},
        {"255.255.255.255/32@tcp", 0, "255.255.255.255/32@tcp", "255.255.255.255@tcp"},
        {"255.255.255.254/31@tcp", 0, "255.255.255.254/31@tcp",
                "255.255.255.254@tcp 255.255.255.255@tcp"},
        {"fd00::1@tcp", 0, "fd00::1@tcp", "fd00::1@tcp"},
        {"fd00::1", 0, "fd00::1@tcp", "fd00::1@tcp"},
        {"fd00::ff/127@tcp", 0, "fd00::fe/127@tcp", "fd00::fe@tcp fd00::ff@tcp"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128@o2ib", 0,
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128@o2ib",
                "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff@o2ib"},
        {"fd00::[9-b,1F]@tcp", 0, "fd00:0:0:0:0:0:0:[9-b,1f]@tcp",
                "fd00::9@tcp fd00::a@tcp fd00::b@tcp fd00::1f@tcp"},
        {"1:2:3:4:5:6:7:[fffe-ffff]@tcp", 0, "1:2:3:4:5:6:7:[fffe-ffff]@tcp",
                "1:2:3:4:5:6:7:fffe@tcp 1:2:3:4:5:6:7:ffff@tcp"},
        {"0@lo", 0, "0@lo", "0@lo"},
        {"200@<0:25354>", 0, "200@<0:25354>", "200@<0:25354>"},
        {"000102030405060708090a0b0c0d0e0f@<17:0>", 0, "000102030405060708090a0b0c0d0e0f@<17:0>",
                "000102030405060708090a0b0c0d0e0f@<17:0>"},
        {"10.0.0.1@tcp,5@kfi", C, "10.0.0.1@tcp,5@kfi", "10.0.0.1@tcp 5@kfi"},
        {"10.0.0.[1,3]@tcp,10.0.0.2@tcp", C, "10.0.0.[1,3]@tcp,10.0.0.2@tcp",
                "10.0.0.1@tcp 10.0.0.3@tcp 10.0.0.2@tcp"},
        {"10.0.0.1@tcp 10.0.0.2@tcp", B, "10.0.0.1@tcp 10.0.0.2@tcp", "10.0.0.1@tcp 10.0.0.2@tcp"},
        {" 10.0.0.1@tcp \t 10.0.0.2@tcp ", B, "10.0.0.1@tcp 10.0.0.2@tcp",
                "10.0.0.1@tcp 10.0.0.2@tcp"},
        {"10.0.0.1@tcp , 10.0.0.2@tcp 10.0.0.3@tcp", C | B,
                "10.0.0.1@tcp 10.0.0.2@tcp 10.0.0.3@tcp", "10.0.0.1@tcp 10.0.0.2@tcp 10.0.0.3@tcp"},
        {"*", S, "*", NULL},
        {"<?>", S, "*", NULL},
        {"*@tcp", S, "*@tcp", NULL},
        {"*@o2ib[1-3]", S, "*@o2ib[1-3]", NULL},
        {"*@<17:4>", S, "*@<17:4>", NULL},
        {"10.0.*.1@tcp", S, "10.0.*.1@tcp", "..256"},
        {"tcp", N, "tcp", NULL},
        {"tcp0", N, "tcp", NULL},
        {"efa3", N, "efa3", NULL},
        {"bxi3f", N, "bxi3f", NULL},
        {"o2ib[1,2]", N, "o2ib[1,2]", NULL},
        {"<17:3>", N, "<17:3>", NULL},
        {"10.0.0.1@tcp", N, "10.0.0.1@tcp", "10.0.0.1@tcp"},
        {"efa::1", N, "efa::1@tcp", "efa::1@tcp"},
        {"192.168.[1-3].*", A | S, "192.168.[1-3].*", "..768"},
        {"2001:db8:0:f101::/64", A, "2001:db8:0:f101::/64", NULL},
        {"10.1.2.[2-8/2,11]", A, "10.1.2.[2-8/2,11]",
                "10.1.2.2@tcp 10.1.2.4@tcp 10.1.2.6@tcp 10.1.2.8@tcp 10.1.2.11@tcp"},
        {"10.0.0.0/8,192.168.1.1 fd00::/8", A | C | B, "10.0.0.0/8 192.168.1.1 fd00::/8", NULL},
        {"0.0.0.0/0", A, "0.0.0.0/0", NULL},
        {"::/0", A, "::/0", NULL},
};

static void print(const struct lni_ranges *r, unsigned flags, char *buf, size_t size)
{
	size_t n = lni_range_print(r, flags & B ? ' ' : ',', buf, size);

	assert_true(n < size);
	assert_int_equal(n, strlen(buf));
}

static void check_members(const struct good *g, const struct lni_ranges *r)
{
	struct lnet_nid nids[1024];
	char text[512] = "", one[LNET_NIDSTR_MAX];
	size_t n = 999;

	if (!g->members) {
		assert_true(lni_range_expand(r, nids, 1024, &n, NULL) != 0);
		assert_int_equal(n, 999);
		return;
	}
	assert_int_equal(lni_range_expand(r, nids, 1024, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(lni_range_match(r, &nids[i]));
	if (g->members[0] == '.') {
		assert_int_equal(n, atoi(g->members + 2));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		lnet_nid_str(&nids[i], one, sizeof(one));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
		        one);
	}
	assert_string_equal(text, g->members);
	/* exactly as many as there are, and one less */
	assert_int_equal(lni_range_expand(r, nids, n, &n, NULL), 0);
	assert_int_equal(lni_range_expand(r, NULL, n, &n, NULL), 0);
	assert_int_equal(lni_range_expand(r, nids, n - 1, &n, NULL), -E2BIG);
}

static void parses_prints_lists(void **state)
{
	char buf[256], again[256];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct good *g = &good[i];
		struct lni_ranges *r = parse(g->text, g->flags), *r2;

		print(r, g->flags, buf, sizeof(buf));
		assert_string_equal(buf, g->canon);
		r2 = parse(buf, g->flags);
		print(r2, g->flags, again, sizeof(again));
		assert_string_equal(buf, again);
		check_members(g, r);
		check_members(g, r2);
		lni_range_free(r);
		lni_range_free(r2);
	}
}

static const struct bad {
	const char *text;
	unsigned flags;
	size_t pos;
} bad[] = {
        /* the same answers as for a NID */
        {"192.0.2.5@tcp65536", S | C, 13},
        {"192.0.2.5@tcp-1", S | C, 13},
        {"192.0.2.5@tcp+1", S | C, 13},
        {"192.0.2.5@tcp 1", S | C, 13},
        {"192.0.2.5@tcp 1", S | B, 15},
        {"192.0.2.5@tcp4294967296", S | C, 13},
        {"192.0.2.5@tcp0x1", S | C, 14},
        {"192.0.2.5@tcp01", S | C, 13},
        {"10.0.0.010@tcp", S | C, 7},
        {"10.0.0.[010-012]@tcp", S | C, 8},
        {"10.0.0.[1-012]@tcp", S | C, 10},
        {"10.0.0.0x0a@tcp", S | C, 8},
        {"10.0.0.+1@tcp", S | C, 7},
        {"10. 0.0.1@tcp", S | C, 3},
        {"10.0.0.1 @tcp", S | C, 8},
        {"10.0.0.1 @tcp", S | B, 9},
        {"10.0.0.1@ tcp", S | C, 9},
        {"10.0.0.1@ tcp", S | B, 9},
        {"10.0.0.1@tcp\n", S | C, 12},
        {"10.0.0.1@tcp\n", S | B, 12},
        /* brackets */
        {"192.0.2.[8-1]@tcp", S | C, 9},
        {"192.0.2.[1-8/0]@tcp", S | C, 13},
        {"192.0.2.[1-300]@tcp", S | C, 11},
        {"192.0.2.[1-8/]@tcp", S | C, 13},
        {"192.0.2.[1-8/-1]@tcp", S | C, 13},
        {"192.0.2.[1-8/4294967296]@tcp", S | C, 13},
        {"192.0.2.[,5]@tcp", S | C, 9},
        {"192.0.2.[5,]@tcp", S | C, 11},
        {"192.0.2.[]@tcp", S | C, 9},
        {"192.0.2.[1-4@tcp", S | C, 12},
        {"192.0.2.1-4]@tcp", S | C, 9},
        {"192.0.2.[1-[2-3]]@tcp", S | C, 11},
        {"192.0.2.[a-f]@tcp", S | C, 9},
        {"192.0.2.[1 -2]@tcp", S | C, 10},
        {"192.0.2.[1, 2]@tcp", S | C | B, 11},
        {"192.0.2.[*]@tcp", S | C, 9},
        {"192.0.2.[1/2]@tcp", S | C, 10},
        {"192.0.2.[1-2-3]@tcp", S | C, 12},
        {"192.0.2@tcp", S | C, 7},
        {"192.0.2.1.5@tcp", S | C, 9},
        {"256.0.2.1@tcp", S | C, 0},
        {"192.0.2.*.@tcp", S | C, 9},
        {"192.0.2.*1@tcp", S | C, 9},
        {"*@tcp", C, 0},
        {"*", C, 0},
        {"<?>", C, 0},
        {"192.0.2.*@tcp", C, 8},
        {"**@tcp", S | C, 1},
        {"1@tcp", S | C, 1},
        {"1.1.1.1@gni", S | C, 1},
        {"256.256.256.256@tcp", S | C, 0},
        {"[2-1]@gni", S | C, 1},
        {"[a-f/x]@gni", S | C, 1},
        {"1.]2[.3.4@o2ib", S | C, 2},
        {"[1-4294967296]@gni", S | C, 3},
        /* CIDR */
        {"10.0.0.0/33@tcp", S | C, 9},
        {"10.0.0.0/@tcp", S | C, 9},
        {"10.0.0.0/08@tcp", S | C, 9},
        {"10.0.0/8@tcp", S | C, 6},
        {"10.0.0.*/8@tcp", S | C, 7},
        {"10.0.0.0/8/8@tcp", S | C, 10},
        {"10.0.0.[0-1]/8@tcp", S | C, 12},
        {"fd00::/129@tcp", S | C, 7},
        {"fd00::/-1@tcp", S | C, 7},
        {"fd00::/64x@tcp", S | C, 9},
        /* IPv6 */
        {"fd00::[1-10000]@tcp", S | C, 9},
        {"fd00::[2-1]@tcp", S | C, 7},
        {"fd00:[1-2]@tcp", S | C, 0},
        {"fd00::[1-2]:1@tcp", S | C, 11},
        {"fd0[1-2]::1@tcp", S | C, 3},
        {"fd00::1[1-2]@tcp", S | C, 7},
        {"fd00::*@tcp", S | C, 6},
        {"fd00::1@gip", S | C, 0},
        /* networks */
        {"10.0.0.1@tcp1[1-2]", S | C, 13},
        {"10.0.0.1@tcp0[1-2]", S | C, 13},
        {"10.0.0.1@tcp[1-65536]", S | C, 15},
        {"10.0.0.1@tcp[2-1]", S | C, 13},
        {"10.0.0.1@tcp[1]2", S | C, 15},
        {"10.0.0.1@", S | C, 9},
        {"@tcp", S | C, 0},
        {"0@lo[1]", S | C, 4},
        {"1@<17:0>[1]", S | C, 8},
        {"[1-2]@<17:0>", S | C, 0},
        {"0@lo1", S | C, 4},
        {"1@lo", S | C, 0},
        {"tcp", S | C, 0},
        {"tcp:1", N, 0},
        {"tcp1x", N, 4},
        {"ftp", N, 0},
        {"10.0.0.1@tcp", A, 8},
        {"tcp", A, 0},
        /* separators */
        {"", C | B, 0},
        {"  ", C | B, 2},
        {",10.0.0.1@tcp", C, 0},
        {"10.0.0.1@tcp,", C, 13},
        {"10.0.0.1@tcp,,10.0.0.2@tcp", C, 13},
        {"10.0.0.1@tcp , , 10.0.0.2@tcp", C | B, 15},
        {"10.0.0.1@tcp,10.0.0.2@tcp", B, 12},
        {"10.0.0.1@tcp,10.0.0.2@tcp", 0, 12},
        {"10.0.0.1@tcp,10.0.0.[2@tcp", C, 22},
};

static void refuses_with_position(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lnet_parse_err err = {.pos = 9999};
		struct lni_ranges *r = NULL;
		int rc = lni_range_parse(bad[i].text, strlen(bad[i].text), bad[i].flags, &r, &err);

		if (rc != -EINVAL)
			fail_msg("\"%s\" gave %d", bad[i].text, rc);
		if (err.pos != bad[i].pos)
			fail_msg("\"%s\": position %zu, not %zu (%s)", bad[i].text, err.pos,
			        bad[i].pos, err.msg);
		assert_null(r);
		assert_true(strlen(err.msg) > 5);
		assert_int_equal(
		        lni_range_parse(bad[i].text, strlen(bad[i].text), bad[i].flags, &r, NULL),
		        -EINVAL);
	}
}

static void matches(void **state)
{
	static const struct {
		const char *range;
		unsigned flags;
		const char *nid;
		bool yes;
	} rows[] = {
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.5@tcp", true},
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.10@tcp", false},
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.2@tcp", false},
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.5@tcp1", false},
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.0.5@o2ib", false},
	        {"10.0.0.[1-10/4]@tcp", 0, "10.0.1.5@tcp", false},
	        {"*@tcp", S, "fd00::1@tcp", true},
	        {"*@tcp", S, "10.0.0.1@tcp", true},
	        {"*@tcp", S, "10.0.0.1@tcp1", false},
	        {"*@tcp", S, "<?>", false},
	        {"*", S, "5@kfi7", true},
	        {"*", S, "<?>", true},
	        {"*.*.*.*@tcp", S, "10.0.0.1@tcp", true},
	        {"*.*.*.*@tcp", S, "fd00::1@tcp", false},
	        {"10.0.0.0/9@tcp", 0, "10.127.255.255@tcp", true},
	        {"10.0.0.0/9@tcp", 0, "10.128.0.0@tcp", false},
	        {"10.0.0.0/9@tcp", 0, "11.0.0.0@tcp", false},
	        {"0.0.0.0/0@tcp", 0, "255.1.2.3@tcp", true},
	        {"0.0.0.0/0@tcp", 0, "::@tcp", false},
	        {"fd00::/13@tcp", 0, "fd07:ffff::1@tcp", true},
	        {"fd00::/13@tcp", 0, "fd08::1@tcp", false},
	        {"fd00::/13@tcp", 0, "253.0.0.0@tcp", false},
	        {"fd00::[1-4]@tcp", 0, "fd00::4@tcp", true},
	        {"fd00::[1-4]@tcp", 0, "fd00::5@tcp", false},
	        {"fd00::[1-4]@tcp", 0, "fd00::1:4@tcp", false},
	        {"[6-12/4]@gni", 0, "10@gni", true},
	        {"[6-12/4]@gni", 0, "12@gni", false},
	        {"tcp", N, "10.9.8.7@tcp", true},
	        {"tcp", N, "10.9.8.7@tcp1", false},
	        {"o2ib[1-3]", N, "10.9.8.7@o2ib3", true},
	        {"o2ib[1-3]", N, "10.9.8.7@o2ib4", false},
	        {"200@<0:25354>", 0, "200@<0:25354>", true},
	        {"200@<0:25354>", 0, "201@<0:25354>", false},
	        {"10.0.0.1@tcp 10.0.0.3@tcp", B, "10.0.0.3@tcp", true},
	        {"10.0.0.1@tcp 10.0.0.3@tcp", B, "10.0.0.2@tcp", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lni_ranges *r = parse(rows[i].range, rows[i].flags);
		struct lnet_nid nid = nid_of(rows[i].nid);

		if (lni_range_match(r, &nid) != rows[i].yes)
			fail_msg("%s and %s", rows[i].range, rows[i].nid);
		lni_range_free(r);
	}
}

static void matches_addresses(void **state)
{
	struct lni_ranges *r = parse("10.0.0.0/8 fd00::/8", A | B);
	struct lnet_nid nid = nid_of("10.1.2.3@o2ib5");

	(void)state;
	assert_int_equal(lni_range_items(r), 2);
	assert_true(lni_range_match_addr(r, &nid));
	nid = nid_of("fd12::1@tcp");
	assert_true(lni_range_match_addr(r, &nid));
	nid = nid_of("11.1.2.3@tcp");
	assert_false(lni_range_match_addr(r, &nid));
	lni_range_free(r);
}

static void limits_are_named(void **state)
{
	struct lni_ranges *r = parse("10.0.0.0/8@tcp", 0), *huge;
	struct lnet_parse_err err;
	struct lnet_nid nids[128];
	char text[2048] = "10.0.0.[0";
	size_t n = 7;

	(void)state;
	assert_int_equal(lni_range_expand(r, nids, 128, &n, &err), -E2BIG);
	assert_string_equal(err.msg, "more than 128 NIDs");
	assert_int_equal(n, 7);
	lni_range_free(r);
	/* four billion members cost no more than the limit */
	r = parse("[0-4294967295]@gni[0-65535]", 0);
	assert_int_equal(lni_range_expand(r, nids, 128, &n, &err), -E2BIG);
	lni_range_free(r);
	r = parse("::/0@tcp", 0);
	assert_int_equal(lni_range_expand(r, nids, 128, &n, &err), -E2BIG);
	lni_range_free(r);
	/* items of a list: 256 are fine, 257 are not */
	for (int i = 1; i < 256; i++)
		sprintf(text + strlen(text), ",%d", i);
	n = strlen(text);
	strcpy(text + n, "]@tcp");
	r = parse(text, 0);
	lni_range_free(r);
	strcpy(text + n, ",7]@tcp");
	assert_int_equal(lni_range_parse(text, strlen(text), 0, &huge, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "256"));
}

static void print_is_cut_like_snprintf(void **state)
{
	struct lni_ranges *r = parse("10.0.0.[1-3]@tcp,fd00::1@o2ib", C);
	char buf[10];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(lni_range_print(r, ',', NULL, 0), 29);
	assert_int_equal(lni_range_print(r, ',', buf, 5), 29);
	assert_string_equal(buf, "10.0");
	assert_int_equal(buf[5], 'x');
	lni_range_free(r);
}

/* ---- generated ranges: parse, print and list agree with what was generated ---------------- */

static size_t gen_set(struct prng *p, char *s, uint32_t max, bool hex)
{
	size_t n = 0;
	uint32_t items = 1 + prng_below(p, 3);

	if (prng_below(p, 2))
		return (size_t)sprintf(s, hex ? "[%x]" : "%u", prng_below(p, max));
	for (uint32_t i = 0; i < items; i++) {
		uint32_t lo = prng_below(p, max), hi = lo + prng_below(p, max - lo + 1);

		n += (size_t)sprintf(s + n, hex ? "%c%x" : "%c%u", i ? ',' : '[', lo);
		if (prng_below(p, 2))
			n += (size_t)sprintf(s + n, hex ? "-%x" : "-%u", hi);
		if (s[n - 1] != ']' && strrchr(s, '-') > strrchr(s, ',') && prng_below(p, 2))
			n += (size_t)sprintf(s + n, "/%u", 1 + prng_below(p, max));
	}
	return n + (size_t)sprintf(s + n, "]");
}

static void gen_range(struct prng *p, char *s)
{
	switch (prng_below(p, 4)) {
	case 0:
		s += gen_set(p, s, 1000, false);
		s += sprintf(s, "@kfi");
		break;
	case 1:
		s += sprintf(s, "fd00:%x::", prng_below(p, 65536));
		s += gen_set(p, s, 65535, true);
		s += sprintf(s, "@tcp");
		break;
	case 2:
		s += sprintf(s, "10.%u.%u.%u/%u@o2ib", prng_below(p, 256), prng_below(p, 256),
		        prng_below(p, 256), 24 + prng_below(p, 9));
		break;
	default:
		for (int i = 0; i < 4; i++) {
			s += gen_set(p, s, 255, false);
			s += sprintf(s, "%s", i < 3 ? "." : "@tcp");
		}
		break;
	}
	if (prng_below(p, 3) == 0)
		gen_set(p, s, 65535, false);
}

static void generated_ranges_agree(void **state)
{
	static struct lnet_nid a[2000], b[2000];
	struct prng p = {.s = 7};
	char text[512], canon[512], again[512];
	unsigned listed = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct lni_ranges *r, *r2;
		size_t n = 0, n2 = 0;
		int rc;

		gen_range(&p, text);
		r = parse(text, C);
		print(r, C, canon, sizeof(canon));
		r2 = parse(canon, C);
		print(r2, C, again, sizeof(again));
		assert_string_equal(canon, again);
		rc = lni_range_expand(r, a, 2000, &n, NULL);
		assert_int_equal(lni_range_expand(r2, b, 2000, &n2, NULL), rc);
		assert_int_equal(n, n2);
		if (rc == 0)
			assert_memory_equal(a, b, n * sizeof(a[0]));
		for (size_t j = 0; j < n; j++) {
			assert_true(lni_range_match(r, &a[j]));
			if (j)
				assert_false(lnet_nid_eq(&a[j], &a[j - 1]));
		}
		listed += rc == 0;
		lni_range_free(r);
		lni_range_free(r2);
	}
	assert_in_range(listed, 500, 2999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parses_prints_lists),
	        cmocka_unit_test(refuses_with_position),
	        cmocka_unit_test(matches),
	        cmocka_unit_test(matches_addresses),
	        cmocka_unit_test(limits_are_named),
	        cmocka_unit_test(print_is_cut_like_snprintf),
	        cmocka_unit_test(generated_ranges_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
