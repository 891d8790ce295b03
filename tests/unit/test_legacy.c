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

#include "lnet/wire/legacy.h"

/* ---- what was parsed, as text ------------------------------------------------------------ */

struct text {
	size_t len;
	char s[2048];
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += (size_t)vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	assert_true(t->len < sizeof(t->s));
}

/* net(if[cpts] if) net(...): '-' is the first interface found */
static void describe_nets(struct text *t, const struct lni_legacy_nets *nets)
{
	char net[LNET_NIDSTR_MAX], cpts[256];

	for (size_t i = 0; i < nets->n; i++) {
		const struct lni_legacy_net *v = &nets->v[i];

		add(t, "%s%s(", i ? " " : "", lnet_net_str(v->net, net, sizeof(net)));
		for (size_t j = 0; j < v->n_ifs; j++) {
			lni_cpts_print(&v->ifs[j].cpts, cpts, sizeof(cpts));
			add(t, "%s%s%s", j ? " " : "", v->ifs[j].name[0] ? v->ifs[j].name : "-",
			        cpts);
		}
		add(t, ")");
	}
}

static void describe_rules(struct text *t, const struct lni_legacy_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		add(t, "%s", i ? "; " : "");
		describe_nets(t, &rules->v[i].nets);
		add(t, " ");
		t->len += lni_range_print(
		        rules->v[i].patterns, ' ', t->s + t->len, sizeof(t->s) - t->len);
	}
}

/* net gateway hops:priority */
static void describe_routes(struct text *t, const struct lni_legacy_routes *routes)
{
	char net[LNET_NIDSTR_MAX], nid[LNET_NIDSTR_MAX];

	for (size_t i = 0; i < routes->n; i++) {
		const struct lni_legacy_route *r = &routes->v[i];

		add(t, "%s%s %s %u:%u", i ? "; " : "", lnet_net_str(r->net, net, sizeof(net)),
		        lnet_nid_str(&r->gateway, nid, sizeof(nid)), r->hops, r->priority);
	}
}

/* ---- tables ------------------------------------------------------------------------------ */

#define NO_NOTICE 9999u

struct row {
	const char *text, *want;
	size_t notice;    /* position of the only notice, or NO_NOTICE */
	const char *word; /* that the notice holds */
};

struct bad {
	const char *text;
	size_t pos;
};

static void check_notice(const struct row *row, const struct lni_notices *n)
{
	if (row->notice == NO_NOTICE) {
		if (n->n)
			fail_msg("\"%s\": notice %s", row->text, n->v[0].msg);
		return;
	}
	assert_int_equal(n->n, 1);
	if (n->v[0].pos != row->notice || !strstr(n->v[0].msg, row->word))
		fail_msg("\"%s\": notice at %zu: %s", row->text, n->v[0].pos, n->v[0].msg);
}

static void check_bad(const struct bad *b, int rc, const struct lnet_parse_err *err)
{
	if (rc != -EINVAL)
		fail_msg("\"%s\" gave %d", b->text, rc);
	if (err->pos != b->pos)
		fail_msg("\"%s\": position %zu, not %zu (%s)", b->text, err->pos, b->pos, err->msg);
	assert_true(strlen(err->msg) > 5);
}

#define N_ROWS(t) (sizeof(t) / sizeof((t)[0]))

static void networks(void **state)
{
	static const struct row rows[] = {
	        {"", "", NO_NOTICE, NULL},
	        {"  ", "", NO_NOTICE, NULL},
	        {"tcp", "tcp(-)", NO_NOTICE, NULL},
	        {"tcp0", "tcp(-)", NO_NOTICE, NULL},
	        {"tcp0(eth0[0,1],eth1)[2-3],o2ib(ib0)", "tcp(eth0[0,1] eth1[2,3]) o2ib(ib0)",
	                NO_NOTICE, NULL},
	        {"tcp[0]", "tcp(-[0])", NO_NOTICE, NULL},
	        {"lo,tcp0(eth0)", "tcp(eth0)", 0, "lo"},
	        {"tcp(eth0),lo", "tcp(eth0)", 10, "lo"},
	        {"tcp0(eth0[0-1],eth1[2])", "tcp(eth0[0,1] eth1[2])", NO_NOTICE, NULL},
	        {"tcp0 (eth0)", "tcp(eth0)", NO_NOTICE, NULL},
	        {" tcp0 ( eth0 , eth1 ) [1] , o2ib ", "tcp(eth0[1] eth1[1]) o2ib(-)", NO_NOTICE,
	                NULL},
	        {"tcp0(eth0),tcp0(eth1)", "tcp(eth0 eth1)", NO_NOTICE, NULL},
	        {"tcp0(eth0)[1],o2ib,tcp(eth1)[2]", "tcp(eth0[1] eth1[2]) o2ib(-)", NO_NOTICE,
	                NULL},
	        {"tcp0(eth0),tcp0(eth0)", "tcp(eth0)", 16, "eth0 is named again"},
	        {"tcp(eth0,eth0)", "tcp(eth0)", 9, "eth0 is named again"},
	        {"tcp,tcp", "tcp(-)", 4, "first interface is named again"},
	        {"tcp65535(ib0.8001),kfi(cxi0)", "tcp65535(ib0.8001) kfi(cxi0)", NO_NOTICE, NULL},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct text t = {.len = 0};
		struct lni_legacy_nets nets;
		struct lnet_parse_err err;

		if (lni_legacy_nets_parse(rows[i].text, strlen(rows[i].text), &nets, &err))
			fail_msg("\"%s\": %zu: %s", rows[i].text, err.pos, err.msg);
		describe_nets(&t, &nets);
		assert_string_equal(t.s, rows[i].want);
		check_notice(&rows[i], &nets.notices);
		lni_legacy_nets_free(&nets);
	}
}

static void networks_refused(void **state)
{
	static const struct bad rows[] = {
	        {"tcp0(eth0) junk,o2ib0(ib0)", 11},
	        {"tcp0(eth0", 9},
	        {"tcp0()", 5},
	        {"tcp0(eth0,)", 10},
	        {"tcp0(eth0)(eth1)", 10},
	        {",tcp0(eth0)", 0},
	        {"tcp0(eth0),", 11},
	        {"tcp0(eth0),,o2ib", 11},
	        {"tcp0[0](eth0)", 7},
	        {"tcp0(eth0)[]", 11},
	        {"tcp0(eth0)[3-1]", 11},
	        {"tcp0(eth0[1)", 11},
	        {"tcp0(eth0[1]x)", 12},
	        {"tcp0 tcp1", 5},
	        {"tcp0;tcp1", 4},
	        {"tcp01(eth0)", 3},
	        {"tcp65536(eth0)", 3},
	        {"tcp-1(eth0)", 3},
	        {"ftp(eth0)", 0},
	        {"lo(eth0)", 2},
	        {"tcp(abcdefghijklmnop)", 4},
	        {"tcp(eth0)\n", 9},
	        {"(eth0)", 0},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct lni_legacy_nets nets;
		struct lnet_parse_err err;
		const char *s = rows[i].text;

		check_bad(&rows[i], lni_legacy_nets_parse(s, strlen(s), &nets, &err), &err);
		assert_int_equal(lni_legacy_nets_parse(s, strlen(s), &nets, NULL), -EINVAL);
	}
}

static void networks_limits(void **state)
{
	char *text = malloc(LNI_LEGACY_MAX_NETWORKS + 2);
	struct lni_legacy_nets nets;
	struct lnet_parse_err err;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', LNI_LEGACY_MAX_NETWORKS + 1);
	memcpy(text, "tcp", 3);
	assert_int_equal(lni_legacy_nets_parse(text, LNI_LEGACY_MAX_NETWORKS, &nets, &err), 0);
	lni_legacy_nets_free(&nets);
	assert_int_equal(
	        lni_legacy_nets_parse(text, LNI_LEGACY_MAX_NETWORKS + 1, &nets, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "4096"));
	/* 64 interfaces in one mention, and one more */
	strcpy(text, "tcp(e0");
	for (int i = 1; i < 64; i++)
		sprintf(text + strlen(text), ",e%d", i);
	strcat(text, ")");
	assert_int_equal(lni_legacy_nets_parse(text, strlen(text), &nets, &err), 0);
	assert_int_equal(nets.v[0].n_ifs, 64);
	lni_legacy_nets_free(&nets);
	strcpy(text + strlen(text) - 1, ",e64)");
	assert_int_equal(lni_legacy_nets_parse(text, strlen(text), &nets, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "64"));
	free(text);
}

static void ip2nets(void **state)
{
	static const struct row rows[] = {
	        {"", "", NO_NOTICE, NULL},
	        {"# nothing", "", NO_NOTICE, NULL},
	        {";;\n;", "", NO_NOTICE, NULL},
	        {"tcp(eth2) 10.9.[0-3].*; tcp1 172.20.0.[8-14/2]",
	                "tcp(eth2) 10.9.[0-3].*; tcp1(-) 172.20.0.[8-14/2]", NO_NOTICE, NULL},
	        {"tcp 10.0.0.[1-10/4]", "tcp(-) 10.0.0.[1-9/4]", NO_NOTICE, NULL},
	        {"tcp0 10.0.0.*   # spare: ; o2ib0 10.0.0.*", "tcp(-) 10.0.0.*", 25,
	                "inside a comment"},
	        {"tcp0 10.0.0.* # one\no2ib0 10.0.0.*", "tcp(-) 10.0.0.*; o2ib(-) 10.0.0.*",
	                NO_NOTICE, NULL},
	        {"# a;b;c\r\ntcp 1.1.1.1\r\n", "tcp(-) 1.1.1.1", 3, "inside a comment"},
	        {"tcp0(eth0) 10.0.0.*; tcp0(eth1) 10.0.1.*",
	                "tcp(eth0) 10.0.0.*; tcp(eth1) 10.0.1.*", NO_NOTICE, NULL},
	        {"tcp0(eth0) 10.0.0.*; tcp0(eth0) 10.*.*.*",
	                "tcp(eth0) 10.0.0.*; tcp(eth0) 10.*.*.*", NO_NOTICE, NULL},
	        {"tcp0(eth0),tcp0(eth1) 10.0.0.*", "tcp(eth0 eth1) 10.0.0.*", NO_NOTICE, NULL},
	        {"tcp0(eth0),tcp0(eth0) 10.0.0.*", "tcp(eth0) 10.0.0.*", 16, "named again"},
	        {"tcp(eth0)[0-1] , o2ib(ib0) 10.1.2.3\t10.1.2.4",
	                "tcp(eth0[0,1]) o2ib(ib0) 10.1.2.3 10.1.2.4", NO_NOTICE, NULL},
	        {"lo,tcp 10.1.2.3", "tcp(-) 10.1.2.3", 0, "lo"},
	        {"tcp 10.0.0.0/8 fd00::/8 2001:db8::1", "tcp(-) 10.0.0.0/8 fd00::/8 2001:db8::1",
	                NO_NOTICE, NULL},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct text t = {.len = 0};
		struct lni_legacy_rules rules;
		struct lnet_parse_err err;

		if (lni_legacy_rules_parse(rows[i].text, strlen(rows[i].text), &rules, &err))
			fail_msg("\"%s\": %zu: %s", rows[i].text, err.pos, err.msg);
		describe_rules(&t, &rules);
		assert_string_equal(t.s, rows[i].want);
		check_notice(&rows[i], &rules.notices);
		lni_legacy_rules_free(&rules);
	}
}

static void ip2nets_refused(void **state)
{
	static const struct bad rows[] = {
	        {"tcp", 3},
	        {"tcp ;", 3},
	        {"tcp(eth0)10.0.0.*", 9},
	        {"tcp(eth0", 8},
	        {"tcp 10.0.0.* junk", 13},
	        {"tcp 10.0.0", 10},
	        {"tcp 10.0.0.010", 11},
	        {"tcp 10.0.0.[010-012]", 12},
	        {"tcp 10.0.0.0x0a", 12},
	        {"tcp 10.0.0.+1", 11},
	        {"tcp 10. 0.0.1", 7},
	        {"tcp 10.0.0.[8-1]", 12},
	        {"tcp 10.0.0.[1-8/0]", 16},
	        {"tcp 10.0.0.1@tcp", 12},
	        {"tcp 10.0.0.1,10.0.0.2", 12},
	        {"10.0.0.*", 0},
	        {"tcp, 10.0.0.*", 5},
	        {"tcp 10.0.0.1; tcp1", 18},
	        {"tcp 10.0.0.1 # x\n tcp2 300.0.0.1", 23},
	        {"tcp01 10.0.0.1", 3},
	        {"tcp 10.0.0.1\r", 12},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct lni_legacy_rules rules;
		struct lnet_parse_err err;
		const char *s = rows[i].text;

		check_bad(&rows[i], lni_legacy_rules_parse(s, strlen(s), &rules, &err), &err);
		assert_int_equal(lni_legacy_rules_parse(s, strlen(s), &rules, NULL), -EINVAL);
	}
}

static void rules_match_addresses(void **state)
{
	static const char text[] = "tcp0 192.168.[1-3].*; tcp1 172.20.0.[8-14/2] fd00::/8";
	struct lni_legacy_rules rules;
	struct lnet_nid nid;

	(void)state;
	assert_int_equal(lni_legacy_rules_parse(text, strlen(text), &rules, NULL), 0);
	assert_int_equal(lnet_nid_parse("192.168.2.77", 12, &nid, NULL), 0);
	assert_true(lni_range_match_addr(rules.v[0].patterns, &nid));
	assert_false(lni_range_match_addr(rules.v[1].patterns, &nid));
	assert_int_equal(lnet_nid_parse("172.20.0.10", 11, &nid, NULL), 0);
	assert_true(lni_range_match_addr(rules.v[1].patterns, &nid));
	assert_int_equal(lnet_nid_parse("172.20.0.11", 11, &nid, NULL), 0);
	assert_false(lni_range_match_addr(rules.v[1].patterns, &nid));
	assert_int_equal(lnet_nid_parse("fd12::1", 7, &nid, NULL), 0);
	assert_true(lni_range_match_addr(rules.v[1].patterns, &nid));
	assert_int_equal(rules.v[1].pos, 22);
	lni_legacy_rules_free(&rules);
}

static void routes(void **state)
{
	static const struct row rows[] = {
	        {"", "", NO_NOTICE, NULL},
	        {"tcp1 255 192.0.2.1@tcp", "tcp1 192.0.2.1@tcp 255:0", NO_NOTICE, NULL},
	        {"tcp1 1 192.0.2.1@tcp", "tcp1 192.0.2.1@tcp 1:0", NO_NOTICE, NULL},
	        {"tcp1 192.0.2.1@tcp", "tcp1 192.0.2.1@tcp 0:0", NO_NOTICE, NULL},
	        {"tcp1 1 192.0.2.1@tcp 192.0.2.2@tcp",
	                "tcp1 192.0.2.1@tcp 1:0; tcp1 192.0.2.2@tcp 1:0", NO_NOTICE, NULL},
	        {"[tcp1,tcp2] 192.0.2.[1-2]@tcp",
	                "tcp1 192.0.2.1@tcp 0:0; tcp1 192.0.2.2@tcp 0:0; "
	                "tcp2 192.0.2.1@tcp 0:0; tcp2 192.0.2.2@tcp 0:0",
	                NO_NOTICE, NULL},
	        {"tcp1 1 10.0.0.[1-2]@o2ib0:5; tcp2 10.0.0.9@o2ib",
	                "tcp1 10.0.0.1@o2ib 1:5; tcp1 10.0.0.2@o2ib 1:5; tcp2 10.0.0.9@o2ib 0:0",
	                NO_NOTICE, NULL},
	        {"tcp1 10.0.0.[1-10/4]@tcp",
	                "tcp1 10.0.0.1@tcp 0:0; tcp1 10.0.0.5@tcp 0:0; tcp1 10.0.0.9@tcp 0:0",
	                NO_NOTICE, NULL},
	        {"tcp[1,3-5/2] 10.0.0.1@tcp",
	                "tcp1 10.0.0.1@tcp 0:0; tcp3 10.0.0.1@tcp 0:0; tcp5 10.0.0.1@tcp 0:0",
	                NO_NOTICE, NULL},
	        {"tcp1 fd00::1@tcp:7", "tcp1 fd00::1@tcp 0:7", NO_NOTICE, NULL},
	        {"tcp1 fd00::1@tcp", "tcp1 fd00::1@tcp 0:0", NO_NOTICE, NULL},
	        {"tcp1 a@<17:2>:7 b@<17:2>:7", "tcp1 a@<17:2> 0:7; tcp1 b@<17:2> 0:7", NO_NOTICE,
	                NULL},
	        {"<17:5> 10.0.0.1@tcp", "<17:5> 10.0.0.1@tcp 0:0", NO_NOTICE, NULL},
	        {"tcp1\t2\t10.0.0.1@tcp # via ; other\ntcp2 10.0.0.1@tcp",
	                "tcp1 10.0.0.1@tcp 2:0; tcp2 10.0.0.1@tcp 0:0", 26, "inside a comment"},
	        {"tcp1 10.0.0.1@tcp; tcp1 2 10.0.0.1@tcp", "tcp1 10.0.0.1@tcp 0:0", 26,
	                "comes again"},
	        {"tcp1 10.0.0.1@tcp:1 10.0.0.2@tcp:2",
	                "tcp1 10.0.0.1@tcp 0:1; tcp1 10.0.0.2@tcp 0:2", 20, "different priorities"},
	        {"tcp1 10.0.0.1@tcp:1; tcp2 10.0.0.2@tcp:2",
	                "tcp1 10.0.0.1@tcp 0:1; tcp2 10.0.0.2@tcp 0:2", NO_NOTICE, NULL},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct text t = {.len = 0};
		struct lni_legacy_routes rs;
		struct lnet_parse_err err;

		if (lni_legacy_routes_parse(rows[i].text, strlen(rows[i].text), &rs, &err))
			fail_msg("\"%s\": %zu: %s", rows[i].text, err.pos, err.msg);
		describe_routes(&t, &rs);
		assert_string_equal(t.s, rows[i].want);
		check_notice(&rows[i], &rs.notices);
		lni_legacy_routes_free(&rs);
	}
}

static void routes_refused(void **state)
{
	static const struct bad rows[] = {
	        {"tcp1 0 192.0.2.1@tcp", 5},
	        {"tcp1 256 192.0.2.1@tcp", 5},
	        {"tcp1 01 192.0.2.1@tcp", 5},
	        {"tcp1 -1 192.0.2.1@tcp", 5},
	        {"tcp1 2", 6},
	        {"tcp1", 4},
	        {"lo 192.0.2.1@tcp", 0},
	        {"tcp1 192.0.2.1@tcp 2", 19},
	        {"tcp1 1 2 192.0.2.1@tcp", 7},
	        {"tcp1 192.0.2.1", 5},
	        {"tcp1 192.0.2.1@tcp1", 5},
	        {"tcp[0-1] 192.0.2.1@tcp", 9},
	        {"tcp1 0@lo", 5},
	        {"tcp1 *@tcp", 5},
	        {"tcp1 192.0.2.*@tcp", 13},
	        {"tcp1 192.0.2.[2-1]@tcp", 14},
	        {"tcp1 192.0.2.[1-8/0]@tcp", 18},
	        {"tcp1 192.0.2.010@tcp", 13},
	        {"tcp1 192.0.2.[010-012]@tcp", 14},
	        {"tcp1 192.0.2.0x0a@tcp", 14},
	        {"tcp1 192.0.2.1@tcp:", 19},
	        {"tcp1 192.0.2.1@tcp:-1", 19},
	        {"tcp1 192.0.2.1@tcp:x", 19},
	        {"tcp1 192.0.2.1@tcp:5x", 20},
	        {"tcp1 192.0.2.1@tcp:2147483648", 19},
	        {"tcp1 192.0.2.1@tcp:5:6", 20},
	        {"tcp1 192.0.2.1@tcp,192.0.2.2@tcp", 18},
	        {"tcp1,tcp2 192.0.2.1@tcp", 4},
	        {"tcp[1 192.0.2.1@tcp", 5},
	        {"tcp01 192.0.2.1@tcp", 3},
	        {"tcp1 192.0.2.1@tcp; tcp2 9.9@tcp", 28},
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct lni_legacy_routes rs;
		struct lnet_parse_err err;
		const char *s = rows[i].text;

		check_bad(&rows[i], lni_legacy_routes_parse(s, strlen(s), &rs, &err), &err);
		assert_int_equal(lni_legacy_routes_parse(s, strlen(s), &rs, NULL), -EINVAL);
	}
}

static void routes_limits(void **state)
{
	static const char most[] = "tcp[1-64] 10.0.0.[0-63]@tcp";
	static const char more[] = "tcp[1-64] 10.0.0.[0-63]@tcp; tcp99 10.0.0.1@tcp";
	static const char wide[] = "tcp1 10.0.0.0/8@tcp";
	struct lni_legacy_routes rs;
	struct lnet_parse_err err;

	(void)state;
	assert_int_equal(lni_legacy_routes_parse(most, strlen(most), &rs, &err), 0);
	assert_int_equal(rs.n, LNI_LEGACY_MAX_ROUTES);
	lni_legacy_routes_free(&rs);
	assert_int_equal(lni_legacy_routes_parse(more, strlen(more), &rs, &err), -E2BIG);
	assert_int_equal(err.pos, 35);
	assert_non_null(strstr(err.msg, "4096"));
	assert_int_equal(lni_legacy_routes_parse(wide, strlen(wide), &rs, &err), -E2BIG);
	assert_int_equal(err.pos, 5);
	assert_non_null(strstr(err.msg, "4096"));
	assert_int_equal(lni_legacy_routes_parse(wide, strlen(wide), &rs, NULL), -E2BIG);
}

static void notices_are_bounded(void **state)
{
	struct lni_legacy_rules rules;
	char text[1024] = "";

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(text, "#;\n");
	assert_int_equal(lni_legacy_rules_parse(text, strlen(text), &rules, NULL), 0);
	assert_int_equal(rules.notices.n, LNI_LEGACY_MAX_NOTICES);
	lni_legacy_rules_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(networks),
	        cmocka_unit_test(networks_refused),
	        cmocka_unit_test(networks_limits),
	        cmocka_unit_test(ip2nets),
	        cmocka_unit_test(ip2nets_refused),
	        cmocka_unit_test(rules_match_addresses),
	        cmocka_unit_test(routes),
	        cmocka_unit_test(routes_refused),
	        cmocka_unit_test(routes_limits),
	        cmocka_unit_test(notices_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
