/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of networks, CPTs and interfaces; process ids. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lnet/wire/cptlist.h"
#include "lnet/wire/process.h"
#include "lnet/wire/range.h"

struct bad {
	const char *text;
	size_t pos;
};

static void net_lists(void **state)
{
	static const struct {
		const char *text, *nets;
	} ok[] = {{"tcp", "tcp"}, {"tcp[1,3-5/2]", "tcp1 tcp3 tcp5"}, {"[tcp1,tcp2]", "tcp1 tcp2"},
	        {"[tcp1,o2ib[2-3]]", "tcp1 o2ib2 o2ib3"}, {"lo", "lo"}, {"<17:4>", "<17:4>"}};
	static const struct bad no[] = {{"", 0}, {"[]", 1}, {"[tcp", 4}, {"tcp]", 3},
	        {"tcp,tcp1", 3}, {"[tcp,]", 5}, {"tcp0[1]", 4}, {"tcp[1-2", 7}, {"tcp[2-1]", 4},
	        {"tcp[1-2]3", 8}, {"lo[1]", 2}, {"tcp01", 3}, {"tcp[65536]", 4}};
	char text[128], one[LNET_NIDSTR_MAX];
	struct lnet_parse_err err;
	lnet_net_t nets[8];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		assert_int_equal(
		        lni_netlist_parse(ok[i].text, strlen(ok[i].text), nets, 8, &n, &err), 0);
		text[0] = '\0';
		for (size_t j = 0; j < n; j++)
			sprintf(text + strlen(text), "%s%s", j ? " " : "",
			        lnet_net_str(nets[j], one, sizeof(one)));
		assert_string_equal(text, ok[i].nets);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(
		        lni_netlist_parse(no[i].text, strlen(no[i].text), nets, 8, &n, &err),
		        -EINVAL);
		if (err.pos != no[i].pos)
			fail_msg("\"%s\": position %zu (%s)", no[i].text, err.pos, err.msg);
	}
	assert_int_equal(lni_netlist_parse("tcp[1-9]", 8, nets, 8, &n, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "8"));
}

static void cpt_lists(void **state)
{
	static const struct {
		const char *text, *canon;
	} ok[] = {{"[0,1]", "[0,1]"}, {"[0-3]", "[0-3]"}, {"[0-6/2]", "[0,2,4,6]"}, {"[7]", "[7]"},
	        {"[3,1,2,0]", "[0-3]"}, {"[255]", "[255]"}, {"[0,254-255]", "[0,254,255]"},
	        {"[63-64]", "[63,64]"}};
	static const struct bad no[] = {{"[]", 1}, {"[3-1]", 1}, {"[256]", 1},
	        {"[0-99999999999]", 3}, {"0", 0}, {"", 0}, {"[0", 2}, {"[0]x", 3}, {"[-1]", 1},
	        {"[*]", 1}, {"*", 0}, {"[01]", 1}, {"[0-3/0]", 5}};
	struct lni_cpts c, item = {.bits = {0}};
	struct lnet_parse_err err;
	char buf[64];

	(void)state;
	for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		assert_int_equal(lni_cpts_parse(ok[i].text, strlen(ok[i].text), &c, &err), 0);
		assert_int_equal(lni_cpts_print(&c, buf, sizeof(buf)), strlen(ok[i].canon));
		assert_string_equal(buf, ok[i].canon);
		assert_false(lni_cpts_empty(&c));
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(lni_cpts_parse(no[i].text, strlen(no[i].text), &c, &err), -EINVAL);
		if (err.pos != no[i].pos)
			fail_msg("\"%s\": position %zu (%s)", no[i].text, err.pos, err.msg);
	}
	assert_true(lni_cpts_empty(&item));
	assert_int_equal(lni_cpts_print(&item, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(lni_cpts_parse_item("4", 1, &item, &err), 0);
	assert_int_equal(lni_cpts_parse_item("0-2", 3, &item, &err), 0);
	assert_int_equal(lni_cpts_parse_item("2-1", 3, &item, &err), -EINVAL);
	assert_int_equal(lni_cpts_parse_item("1,2", 3, &item, &err), -EINVAL);
	assert_true(lni_cpts_has(&item, 4) && lni_cpts_has(&item, 1) && !lni_cpts_has(&item, 3));
	assert_false(lni_cpts_has(&item, 256));
	lni_cpts_print(&item, buf, sizeof(buf));
	assert_string_equal(buf, "[0-2,4]");
}

static void interface_lists(void **state)
{
	static const struct bad no[] = {{"", 0}, {"eth0,", 5}, {",eth0", 0}, {"eth0,,eth1", 5},
	        {"eth0[", 5}, {"eth0[]", 5}, {"eth0[0]x", 7}, {"eth0 ,eth1", 4}, {"eth0,eth0", 5},
	        {"abcdefghijklmnop", 0}, {"eth0[1-0]", 5}, {"eth0(1)", 4}, {"eth/0", 3}};
	struct lni_ifspec specs[2];
	struct lnet_parse_err err;
	size_t n;

	(void)state;
	assert_int_equal(lni_iflist_parse("eth0[0,1],ib0.8001", 18, specs, 2, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(specs[0].name, "eth0");
	assert_true(lni_cpts_has(&specs[0].cpts, 0) && lni_cpts_has(&specs[0].cpts, 1));
	assert_false(lni_cpts_has(&specs[0].cpts, 2));
	assert_string_equal(specs[1].name, "ib0.8001");
	assert_int_equal(specs[1].pos, 10);
	assert_true(lni_cpts_empty(&specs[1].cpts));
	assert_int_equal(lni_iflist_parse("abcdefghijklmno", 15, specs, 2, &n, &err), 0);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(
		        lni_iflist_parse(no[i].text, strlen(no[i].text), specs, 2, &n, &err),
		        -EINVAL);
		if (err.pos != no[i].pos)
			fail_msg("\"%s\": position %zu (%s)", no[i].text, err.pos, err.msg);
	}
	assert_int_equal(lni_iflist_parse("a,b,c", 5, specs, 2, &n, &err), -E2BIG);
	assert_int_equal(err.pos, 4);
}

static void processes(void **state)
{
	static const struct {
		const char *text, *canon;
		uint32_t pid;
	} ok[] = {
	        {"10.0.0.1@tcp", "12345-10.0.0.1@tcp", 12345},
	        {"12345-10.0.0.1@tcp", "12345-10.0.0.1@tcp", 12345},
	        {"0-10.0.0.1", "0-10.0.0.1@tcp", 0},
	        {"U7-fd00::1@tcp1", "U7-fd00::1@tcp1", 0x80000007},
	        {"U2147483646-5@kfi", "U2147483646-5@kfi", 0xfffffffe},
	        {"2147483647-5@kfi", "2147483647-5@kfi", 0x7fffffff},
	        {"LNET_PID_ANY-10.0.0.1@tcp", "LNET_PID_ANY-10.0.0.1@tcp", 0xffffffff},
	        {"LNET_PID_ANY-<?>", "LNET_PID_ANY-<?>", 0xffffffff},
	};
	static const struct bad no[] = {{"-10.0.0.1@tcp", 0}, {"U-10.0.0.1@tcp", 1},
	        {"01-10.0.0.1@tcp", 0}, {"2147483648-10.0.0.1@tcp", 0}, {"U2147483647-5@kfi", 0},
	        {"1x-10.0.0.1@tcp", 1}, {"1-", 2}, {"1-10.0.0@tcp", 8}, {"1-2-10.0.0.1@tcp", 3},
	        {"", 0}, {"lnet_pid_any-10.0.0.1@tcp", 0}, {"U U1-10.0.0.1@tcp", 1}};
	char buf[LNI_PROCSTR_MAX];
	struct lnet_parse_err err;
	struct lnet_nid nid;
	uint32_t pid;

	(void)state;
	for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		assert_int_equal(
		        lni_process_parse(ok[i].text, strlen(ok[i].text), &pid, &nid, &err), 0);
		assert_int_equal(pid, ok[i].pid);
		assert_string_equal(lni_process_str(pid, &nid, buf, sizeof(buf)), ok[i].canon);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(
		        lni_process_parse(no[i].text, strlen(no[i].text), &pid, &nid, &err),
		        -EINVAL);
		if (err.pos != no[i].pos)
			fail_msg("\"%s\": position %zu (%s)", no[i].text, err.pos, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(net_lists),
	        cmocka_unit_test(cpt_lists),
	        cmocka_unit_test(interface_lists),
	        cmocka_unit_test(processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
