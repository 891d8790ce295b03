/* SPDX-License-Identifier: BSD-2-Clause */
/* Single values: numbers, lists, addresses; one verdict by every door. */
#include "unit/conf_table.h"

#include <errno.h>

static void refused(const char *text, unsigned errors, const char *want)
{
	unsigned n = t_refused(text, strlen(text), want);

	if (n != errors) {
		print_error("%u errors, wanted %u, in:\n%s\n", n, errors, text);
		fail();
	}
}

/* The text of a door with a value in place of its '$'. */
static void put(char *buf, size_t size, const char *door, const char *value)
{
	int at = (int)strcspn(door, "$");

	snprintf(buf, size, "%.*s%s%s", at, door, value, door + at + 1);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t v;
	} rows[] = {
	        {"0", 0, 0},
	        {"127", 0, 127},
	        {"-128", 0, -128},
	        {"128", -ERANGE, 0},
	        {"-129", -ERANGE, 0},
	        {"65537", -ERANGE, 0},
	        {"4294967297", -ERANGE, 0},
	        {"18446744073709551617", -ERANGE, 0},
	        {"1000000000000000000000000", -ERANGE, 0},
	        {"-1000000000000000000000000", -ERANGE, 0},
	        {"", -EINVAL, 0},
	        {"-", -EINVAL, 0},
	        {"-0", -EINVAL, 0},
	        {"+1", -EINVAL, 0},
	        {"01", -EINVAL, 0},
	        {"0x10", -EINVAL, 0},
	        {"4.5", -EINVAL, 0},
	        {"1e1", -EINVAL, 0},
	        {" 1", -EINVAL, 0},
	        {"1 ", -EINVAL, 0},
	        {"1k", -EINVAL, 0},
	        {"abc", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lnc_err err = {0};
		int64_t v = 4711;

		assert_int_equal(
		        lnc_int_check("k", "s", -128, 127, rows[i].text, &v, &err), rows[i].rc);
		assert_int_equal(v, rows[i].rc ? 4711 : rows[i].v);
		assert_int_equal(err.code, rows[i].rc);
		if (rows[i].rc == -ERANGE)
			assert_non_null(strstr(err.msg, "-128..127 s"));
	}
	int64_t v;
	assert_int_equal(
	        lnc_int_check("k", "", INT64_MIN, INT64_MAX, "-9223372036854775808", &v, NULL), 0);
	assert_true(v == INT64_MIN);
	assert_int_equal(
	        lnc_int_check("k", "", INT64_MIN, INT64_MAX, "9223372036854775807", &v, NULL), 0);
	assert_true(v == INT64_MAX);
	assert_int_equal(
	        lnc_int_check("k", "", INT64_MIN, INT64_MAX, "9223372036854775808", &v, NULL),
	        -ERANGE);
}

static void tables(void **state)
{
	const struct lnet_tunable *t;
	struct lnc_err err;
	int64_t v;

	(void)state;
	assert_int_equal(lnc_tunable_lookup(t_tcp, 5, "tos", &t, &err), 0);
	assert_int_equal(lnc_value_check(t, "-1", &v, &err), 0);
	assert_int_equal(v, -1);
	assert_int_equal(lnc_tunable_lookup(t_tcp, 5, "conn_per_peer", &t, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "did you mean 'conns_per_peer'?"));
	assert_int_equal(lnc_tunable_lookup(t_tcp, 5, "xyzzy", &t, &err), -ENOENT);
	assert_null(strstr(err.msg, "mean"));
	assert_int_equal(lnc_value_check(&t_tcp[2], "5", &v, &err), -EPERM);
	assert_int_equal(lnc_value_check(&t_tcp[4], "Yes", &v, &err), 0);
	assert_int_equal(v, 1);
	assert_int_equal(lnc_value_check(&t_tcp[4], "off", &v, &err), 0);
	assert_int_equal(v, 0);
	assert_int_equal(lnc_value_check(&t_tcp[4], "2", &v, &err), -EINVAL);
	t = lnc_ni_tunables();
	assert_int_equal(lnc_value_check(&t[LNC_PEER_TIMEOUT], "-1", &v, NULL), 0);
	assert_int_equal(lnc_value_check(&t[LNC_PEER_TIMEOUT], "0", &v, NULL), 0);
	assert_int_equal(lnc_value_check(&t[LNC_PEER_TIMEOUT], "-2", &v, NULL), -ERANGE);
	assert_int_equal(lnc_value_check(&t[LNC_PEER_BUFFER_CREDITS], "0", &v, NULL), 0);
	assert_int_equal(lnc_value_check(&t[LNC_PEER_CREDITS], "0", &v, NULL), -ERANGE);
	assert_int_equal(lnc_value_check(&t[LNC_CREDITS], "0", &v, NULL), -ERANGE);
	assert_int_equal(lnc_value_check(&t[LNC_CREDITS], "-1", &v, NULL), -ERANGE);
}

/* The same verdict as an option, under `net` and under `ip2nets`. */
static void one_verdict_by_every_door(void **state)
{
	static const char *const bad[] = {
	        "128", "-1", "1000000000000000000000000", "abc", "\"\"", "0x10", "4.5", "65537"};
	static const char *const doors[] = {
	        "net: [{net type: tcp1, local NI(s): [{interfaces: {0: eth0}, "
	        "lnd tunables: {conns_per_peer: $}}]}]\n",
	        "net: [{net type: tcp1, lnd tunables: {conns_per_peer: $}, "
	        "local NI(s): [{interfaces: {0: eth0}}]}]\n",
	        "ip2nets: [{net-spec: tcp1, lnd tunables: {conns_per_peer: $}}]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = strcmp(bad[i], "\"\"") == 0 ? "" : bad[i];
		struct lnc_err err;
		char yaml[400];
		int64_t v;

		assert_true(lnc_value_check(&t_tcp[1], text, &v, &err) < 0);
		for (size_t k = 0; k < 3; k++) {
			put(yaml, sizeof(yaml), doors[k], bad[i]);
			refused(yaml, 1, err.msg);
		}
	}
}

/* One answer wherever an address may stand. */
static void odd_addresses(void **state)
{
	static const char *const bad[] = {"10.0.0.010@tcp", "10.0.0.[010-012]@tcp",
	        "10.0.0.0x0a@tcp", "10.0.0.+1@tcp", "10. 0.0.1@tcp", "10.0.0.1 @tcp",
	        "10.0.0.1@ tcp", "10.0.0.1@tcp\\n", "192.0.2.5@tcp65536", "192.0.2.5@tcp-1",
	        "192.0.2.5@tcp+1", "192.0.2.5@tcp 1", "192.0.2.5@tcp4294967296", "192.0.2.5@tcp0x1",
	        "192.0.2.5@tcp01", "192.0.2.[8-1]@tcp", "192.0.2.[1-8/0]@tcp",
	        "192.0.2.[1-300]@tcp", "192.0.2.[1-8/]@tcp", "192.0.2.[,5]@tcp", "192.0.2.[5,]@tcp",
	        "192.0.2.[]@tcp", "192.0.2.[1-4@tcp", "192.0.2.1-4]@tcp", "192.0.2.[1-[2-3]]@tcp",
	        "192.0.2.[a-f]@tcp", "192.0.2@tcp", "192.0.2.1.5@tcp", "256.0.2.1@tcp",
	        "192.0.2.*.@tcp", "*@tcp", "", "@tcp", "10.0.0.1@"};
	static const char *const doors[] = {
	        "net: [{net type: tcp, local NI(s): [{nid: \"$\"}]}]\n",
	        "peer: [{primary nid: \"$\"}]\n",
	        "peer: [{primary nid: 10.9.9.9@tcp, peer ni: [{nid: \"$\"}]}]\n",
	        "route: [{net: o2ib, gateway: \"$\"}]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (size_t k = 0; k < sizeof(doors) / sizeof(doors[0]); k++) {
			char yaml[300];

			put(yaml, sizeof(yaml), doors[k], bad[i]);
			refused(yaml, 1, "Invalid ");
		}
	}
	/* the part before '@' alone, as a range of addresses */
	static const char *const ranges[] = {"10.0.0.010", "10.0.0.[010-012]", "10.0.0.0x0a",
	        "10.0.0.+1", "10. 0.0.1", "192.0.2.[8-1]", "192.0.2.[1-8/0]", "192.0.2",
	        "192.0.2.*.", "10.0.0.0/33"};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		char yaml[300];

		snprintf(yaml, sizeof(yaml), "ip2nets: [{net-spec: tcp, ip-range: {0: \"%s\"}}]\n",
		        ranges[i]);
		refused(yaml, 1, "Invalid range");
	}
}

static void cpts(void **state)
{
	static const char *const bad[] = {"[2-1]", "[]", "[", "]", "[0", "0]", "[0,]", "[,0]",
	        "[a]", "[0-]", "[-1]", "[0-4/0]", "[01]", "[256]", "[0] ", ""};
	static const char *const good[][2] = {{"[0]", "[0]"}, {"[0,1]", "[0,1]"}, {"0,1", "[0,1]"},
	        {"[1,0,1]", "[0,1]"}, {"[0-3]", "[0-3]"}, {"[0-6/2]", "[0,2,4,6]"},
	        {"[255]", "[255]"}};
	struct lnc_schema s = t_schema;
	struct lnc_conf *c;
	struct lnc_errs e;
	char out[LNC_CPT_STR_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lnc_err err = {0};

		assert_int_equal(
		        lnc_cpts_parse(bad[i], strlen(bad[i]), NULL, out, sizeof(out), &err),
		        -EINVAL);
		assert_non_null(strstr(err.msg, "0..255"));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lnc_cpts_parse(good[i][0], strlen(good[i][0]), NULL, out,
		                         sizeof(out), NULL),
		        0);
		assert_string_equal(out, good[i][1]);
	}
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, CPT: \"[2-1]\"}]}]\n", 1,
	        "Unable to parse CPT '[2-1]'");
	refused("net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, CPT: []}]}]\n", 1,
	        "CPT '[]'");
	/* more than this host has */
	static const char text[] =
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, CPT: [0,99]}]}]\n";
	s.ncpts = 4;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_conf_read(text, strlen(text), &s, 0, &c, &e), -EINVAL);
	assert_string_equal(e.v[0].msg, "CPT 99: this host has CPTs 0..3");
	lnc_errs_free(&e);
}

static void cidrs(void **state)
{
	static const char *const good[][2] = {{"10.0.0.0/8", "10.0.0.0/8"},
	        {"10.0.0.1", "10.0.0.1"}, {"10.0.0.1/32", "10.0.0.1"}, {"0.0.0.0/0", "0.0.0.0/0"},
	        {"FD00::/8", "fd00::/8"}, {"::1", "::1"}, {"192.168.1.128/25", "192.168.1.128/25"}};
	static const char *const bad[] = {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
	        "10.0.0.0/08", "10.0.0/8", "10.0.0.01", "fd00::/129", "fd00::1/64", "a",
	        "10.0.0.0 /8", "10.0.0.0/8 "};
	struct lnet_cidr c;
	char s[LNC_CIDR_STR_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(lnc_cidr_parse(good[i][0], &c, NULL), 0);
		assert_string_equal(lnc_cidr_str(&c, s, sizeof(s)), good[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lnc_err err = {0};

		assert_true(lnc_cidr_parse(bad[i], &c, &err) < 0);
		assert_true(err.code < 0);
	}
	assert_int_equal(lnc_cidr_parse("192.168.1.128/25", &c, NULL), 0);
	assert_true(lnc_cidr_has(&c, "\xc0\xa8\x01\x80", 4));
	assert_true(lnc_cidr_has(&c, "\xc0\xa8\x01\xff", 4));
	assert_false(lnc_cidr_has(&c, "\xc0\xa8\x01\x7f", 4));
	assert_int_equal(lnc_cidr_parse("0.0.0.0/0", &c, NULL), 0);
	assert_true(lnc_cidr_has(&c, "\xff\xff\xff\xff", 4));
	assert_false(lnc_cidr_has(&c, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(numbers),
	        cmocka_unit_test(tables),
	        cmocka_unit_test(one_verdict_by_every_door),
	        cmocka_unit_test(odd_addresses),
	        cmocka_unit_test(cpts),
	        cmocka_unit_test(cidrs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
