/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of commands: what is accepted, what is refused and with which word, and what is made of
 * it. */
#include "lnet/control/cmd.h"
#include "lnet/control/request.h"
#include "tests/lib/tlib.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int parse(struct lnc_req *r, const char *line, struct lnc_err *err)
{
	static const char *no_words[1] = {NULL};
	const char *words[64];
	struct lnc_arena mem;
	int n, rc;

	lnc_arena_init(&mem, 0);
	lnc_req_init(r);
	n = lnc_line_split(&mem, line, words, 64, err);
	rc = n < 0 ? n : lnc_cmd_parse(r, n, n ? words : no_words, NULL, err);
	lnc_arena_free(&mem);
	return rc;
}

/* ---- lines that are right ------------------------------------------------------------------ */

static const char *const good[] = {
        "lnet configure",
        "lnet configure --all -l",
        "lnet unconfigure",
        "net add --net tcp --if eth0",
        "net add -n tcp3 -i eth0,eth1",
        "net add --net=tcp --if=eth0[0,1]",
        "net add --nid 127.0.0.2@tcp",
        "net add --nid 10.0.0.[1-4]@tcp1 --port 7988",
        "net add --net tcp --if eth0 --peer-timeout -1 --peer-credits 1 --peer-buffer-credits 0",
        "net add --net tcp --if eth0 --credits 256 --cpt [0,1] --conns-per-peer 127 --tos -1",
        "net add -n tcp -i eth0 -t 0 -c 8 -b 0 -r 256 -s [0-3/2] -m 0 --tos 255 -k",
        "net add -ntcp -ieth0",
        "net add --ne tcp --if eth0",
        "net add --net tcp --if eth0 --json",
        "net add --net tcp --if eth0 --tunable nagle=1,timeout=10 --accept all --allow 10.0.0.0/8",
        "net del --net tcp",
        "net del -n tcp -i eth0,eth1",
        "net del --nid 10.0.0.1@tcp,10.0.0.2@tcp1",
        "net set --nid 10.0.0.1@tcp --health 0",
        "net set --all --health 1000",
        "net set -a -m 4",
        "net set --net tcp --lnd-timeout 60",
        "net set --net tcp --accept none",
        "net set --net tcp --allow any",
        "net show",
        "net show -v",
        "net show --verbose",
        "net show -v 2",
        "net show -v2",
        "net show --verbose=4",
        "net show --verbose 0",
        "net show --net tcp1 -v 3",
        "net show -n tcp -v",
        "net show -v --net tcp",
        "net show --nid ::1@tcp",
        "-j net show",
        "--json net show",
        "--node a net show",
        "--node=/run/x.sock net show -j",
        "net show --node a",
        "net show -N a",
        "net show --verb 1",
        "peer add --prim_nid 10.0.0.1@tcp",
        "peer add --prim 10.0.0.1@tcp --nid 10.0.1.[1-3]@tcp,1.1.1.1@o2ib",
        "peer add -k 10.0.0.1@tcp -n [6-12/4]@gni -m -l",
        "peer add -k node17@tcp",
        "peer add -k 1.1.1.1@tcp --non",
        "peer add -k 5@gni -ml",
        "peer del --prim_nid 10.0.0.1@tcp",
        "peer del -k 10.0.0.1@tcp -n 10.0.0.2@tcp -f",
        "peer set --nid 10.0.0.1@tcp --health 500",
        "peer set --all --state 4294967295",
        "peer show",
        "peer show --nid 10.0.0.1@tcp -v 4",
        "peer show --ni 10.0.0.1@tcp",
        "peer list",
        "ping 10.0.0.1@tcp",
        "ping 10.0.0.1@tcp,10.0.0.2@tcp 10.0.0.3@tcp1",
        "ping 0@lo",
        "ping --timeout 1 -s 10.0.0.1@tcp 10.0.0.[1-9]@tcp",
        "ping 12345-10.0.0.1@tcp",
        "ping host1@tcp",
        "ping -- 10.0.0.1@tcp",
        "ping 10.0.0.1@tcp -t 3600",
        "ping fe80::1@tcp",
        "stats show",
        "stats reset",
        "global show",
        "global show -v",
        "set retry_count 3",
        "set discovery 0",
        "set transaction_timeout 86400",
        "set log debug",
        "set log_to /var/log/x",
        "set selftest true",
        "set numa_range 0",
        "set recovery_limit 0",
        "debug peer --nid 10.0.0.1@tcp",
        "debug peer -k 10.0.0.1@tcp",
        "debug recovery -l",
        "debug recovery --peer",
        "debug nidlist '10.0.0.[1-3]@tcp *@o2ib'",
        "debug dump",
        "debug nidlist '*@tcp' 10.0.0.1@tcp",
        "import",
        "import file.yaml",
        "import -",
        "import --add x",
        "import -d x",
        "import --show",
        "import --exec x",
        "import --dry-run x",
        "import --del --dry-run x",
        "import --replace x",
        "export",
        "export --backup",
        "export -b x.yaml",
        "check",
        "check --peers 10000 x.yaml",
        "version",
        "list-commands",
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lnc_req r;
		struct lnc_err err = {.msg = ""};
		int rc = parse(&r, good[i], &err);
		if (rc || !r.cmd)
			fail_msg("'%s': %s", good[i], err.msg);
		lnc_req_free(&r);
	}
}

/* ---- lines that are wrong, and the word that the message must have ------------------------- */

static const struct {
	const char *line, *word;
} bad[] = {
        {"", "command"},
        {"foo", "'foo'"},
        {"net", "missing"},
        {"net shw", "show"},
        {"nett show", "net"},
        {"net show extra", "'extra'"},
        {"show", "'show'"},
        {"ne show", "'ne'"},
        {"net sho", "'sho'"},
        {"net show --backup", "--backup"},
        {"net show --detail 2", "--detail"},
        {"net show -x", "-x"},
        {"net show -vx", "-x"},
        {"net show -v 10", "10"},
        {"net show --verbose=", "verbose"},
        {"net show --verbose=two", "two"},
        {"net show -v two", "'two'"},
        {"net show -v -v", "twice"},
        {"net show --net tcp --net tcp1", "twice"},
        {"net show --net", "--net"},
        {"net show --net=", "--net"},
        {"net show --net tcp65536", "tcp65536"},
        {"net show --net xyz", "xyz"},
        {"net show --json=1", "--json"},
        {"net show --n tcp", "--n"},
        {"net add", "--net"},
        {"net add --net tcp", "--if"},
        {"net add --if eth0", "--net"},
        {"net add --net tcp --nid 1.1.1.1@tcp --if eth0", "exclude"},
        {"net add --net tcp --if eth0 --conns-per-peer 128", "128"},
        {"net add --net tcp --if eth0 --conns-per-peer -1", "-1"},
        {"net add --net tcp --if eth0 --conns-per-peer 1000000000000000000000000", "1000000000000"},
        {"net add --net tcp --if eth0 --conns-per-peer 65537", "65537"},
        {"net add --net tcp --if eth0 --conns-per-peer abc", "abc"},
        {"net add --net tcp --if eth0 --conns-per-peer ''", "conns-per-peer"},
        {"net add --net tcp --if eth0 --conns-per-peer 0x10", "0x10"},
        {"net add --net tcp --if eth0 --conns-per-peer 4.5", "4.5"},
        {"net add --net tcp --if eth0 --conns-per-peer +4", "+4"},
        {"net add --net tcp --if eth0 --conns-per-peer ' 4'", "' 4'"},
        {"net add --net tcp --if eth0 --credits 0", "credits"},
        {"net add --net tcp --if eth0 --credits -5", "-5"},
        {"net add --net tcp --if eth0 --peer-credits 0", "peer-credits"},
        {"net add --net tcp --if eth0 --peer-timeout -2", "-2"},
        {"net add --net tcp --if eth0 --tos 300", "300"},
        {"net add --net tcp --if eth0 --port 0", "port"},
        {"net add --net tcp --if eth0 --port 65536", "65536"},
        {"net add --net tcp --if eth0 --cpt [1-0]", "[1-0]"},
        {"net add --net tcp --if eth0 --cpt []", "[]"},
        {"net add --net tcp --if eth0,", "eth0,"},
        {"net add --net tcp --if ,", "--if"},
        {"net add --net tcp --if abcdefghijklmnop", "--if"},
        {"net add --net tcp --if ../x", "--if"},
        {"net add --net tcp --if eth0 --auth-key 5", "kfi"},
        {"net add --net tcp --if eth0 --traffic-class x", "kfi"},
        {"net add --ip2net 'tcp 1.*'", "ip2nets"},
        {"net del", "--net"},
        {"net del --nid 1.1.1.1@tcp --if eth0", "--if"},
        {"net del --nid 1.1.1.1@tcp --net tcp", "exclude"},
        {"net del --nid 1.1.1.1.1@tcp", "1.1.1.1.1"},
        {"net set", "nothing"},
        {"net set --all", "nothing"},
        {"net set --health 1", "--nid"},
        {"net set --all --nid 1.1.1.1@tcp --health 1", "only one"},
        {"net set --all --health 1001", "1001"},
        {"net set --all --health -1", "-1"},
        {"net set --all --lnd-timeout 5", "--net"},
        {"net set --nid 1.1.1.1@tcp --accept all", "--net"},
        {"peer add", "--prim_nid"},
        {"peer add --nid 1.1.1.1@tcp", "--prim_nid"},
        {"peer add --prim_nid 1@tcp", "1@tcp"},
        {"peer add --prim_nid 1.1.1.1@gni", "1.1.1.1"},
        {"peer add --prim_nid 10.0.0.[1-2]@tcp", "--prim_nid"},
        {"peer add -k 1.1.1.1@tcp -n [2-1]@gni", "[2-1]"},
        {"peer add -k 1.1.1.1@tcp -n [a-f/x]@gni", "a"},
        {"peer add -k 1.1.1.1@tcp -n 256.2.2.2@tcp", "256"},
        {"peer add -k 1.1.1.1@tcp -n 1.]2[.3.4@o2ib", "1.]2["},
        {"peer add -k 1.1.1.1@tcp -n 1.1.1.[1-[2-3]]@tcp", "--nid"},
        {"peer add -k 1.1.1.1@tcp -n 1.1.1.[1-8/0]@tcp", "--nid"},
        {"peer add -k 1.1.1.1@tcp -n '*@tcp'", "--nid"},
        {"peer add -k 1.1.1.1@tcp -n ,", "--nid"},
        {"peer add -k 1.1.1.1@foo", "foo"},
        {"peer add -k 192.0.2.5@tcp01", "tcp01"},
        {"peer add -k 10.0.0.010@tcp", "010"},
        {"peer add -k ''", "prim_nid"},
        {"peer del", "--prim_nid"},
        {"peer del -k 1.1.1.1@tcp --non_mr", "--non_mr"},
        {"peer set --all", "--health"},
        {"peer set --health 1", "--nid"},
        {"peer set --all --state 4294967296", "4294967296"},
        {"peer show --primary", "--primary"},
        {"peer list x", "'x'"},
        {"ping", "NID"},
        {"ping \xe6ml@tcp", "UTF-8"},
        {"set log \"\x01\"", "control"},
        {"ping garbage", "garbage"},
        {"ping --timeout 0 1.1.1.1@tcp", "0"},
        {"ping --timeout -1 1.1.1.1@tcp", "-1"},
        {"ping --timeout x 1.1.1.1@tcp", "x"},
        {"ping --timeout 3601 1.1.1.1@tcp", "3601"},
        {"ping 1.1.1.1@tcp,", "1.1.1.1@tcp,"},
        {"stats", "missing"},
        {"stats show -v", "-v"},
        {"global", "missing"},
        {"global set", "'set'"},
        {"set", "NAME"},
        {"set retry_count", "NAME"},
        {"set retry_count x", "x"},
        {"set retry_count -1", "-1"},
        {"set discovery 7", "7"},
        {"set discovry 1", "discovery"},
        {"set lnd_timeout 3", "lnd_timeout"},
        {"set retry_count 1 2", "'2'"},
        {"set log loud", "loud"},
        {"set response_tracking 4", "4"},
        {"set response_tracking -10", "-10"},
        {"set selftest maybe", "maybe"},
        {"debug", "missing"},
        {"debug peer", "--nid"},
        {"debug recovery", "--local"},
        {"debug recovery -l -p", "--local"},
        {"debug nidlist", "LIST"},
        {"debug nidlist '1.2.3@tcp'", "LIST"},
        {"import --add --del x", "exclude"},
        {"import --dry-run --show", "exclude"},
        {"import a b", "'b'"},
        {"import --old-api x", "--old-api"},
        {"export a b", "'b'"},
        {"check --peers 0", "0"},
        {"route show", "'route'"},
        {"discover 1.1.1.1@tcp", "'discover'"},
        {"--foo net show", "--foo"},
        {"--node", "--node"},
        {"--node '' net show", "--node"},
};

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lnc_req r;
		struct lnc_err err = {.msg = ""};
		int rc = parse(&r, bad[i].line, &err);
		lnc_req_free(&r);
		if (!rc)
			fail_msg("'%s' is accepted", bad[i].line);
		if (!strstr(err.msg, bad[i].word))
			fail_msg("'%s': '%s' is not in: %s", bad[i].line, bad[i].word, err.msg);
	}
}

/* ---- values -------------------------------------------------------------------------------- */

static void test_levels(void **state)
{
	static const struct {
		const char *line;
		unsigned level;
	} t[] = {{"net show", 0}, {"net show -v", 1}, {"net show -v 0", 0}, {"net show -v 4", 4},
	        {"net show -v4", 4}, {"net show --verbose=2", 2}, {"net show --verbose 3", 3},
	        {"net show -v --net tcp", 1}, {"net show -jv", 1}, {"net show -vj", 1},
	        {"net show -v2 -j", 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct lnc_req r;
		struct lnc_err err;
		assert_int_equal(parse(&r, t[i].line, &err), 0);
		assert_int_equal(lnc_req_level(&r), t[i].level);
		lnc_req_free(&r);
	}
}

static void test_values(void **state)
{
	struct lnc_req r;
	struct lnc_err err;

	(void)state;
	assert_int_equal(
	        parse(&r, "--node x net add -i eth0 --net tcp7 --tos -1 -m 12 -j", &err), 0);
	assert_string_equal(r.cmd->path, "net add");
	assert_string_equal(lnc_req_text(&r, "if"), "eth0");
	assert_string_equal(lnc_req_text(&r, "net"), "tcp7");
	assert_int_equal(lnc_req_val(&r, "tos")->num, -1);
	assert_int_equal(lnc_req_val(&r, "conns-per-peer")->num, 12);
	assert_null(lnc_req_val(&r, "credits"));
	assert_false(lnc_req_flag(&r, "skip-mr-route-setup"));
	assert_true(r.json);
	assert_string_equal(r.node, "x");
	lnc_req_free(&r);
	assert_int_equal(parse(&r, "ping -t 5 a@tcp -- 1.1.1.1@tcp", &err), 0);
	assert_int_equal(r.nargs, 2);
	assert_string_equal(r.arg[0], "a@tcp");
	assert_string_equal(r.arg[1], "1.1.1.1@tcp");
	lnc_req_free(&r);
}

/* What is encoded decodes to the same, for every good line that goes to a node. */
static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lnc_req a, b;
		struct lnc_err err = {.msg = ""};
		size_t len;
		assert_int_equal(parse(&a, good[i], &err), 0);
		char *text = lnc_req_encode(&a, &len);
		assert_non_null(text);
		lnc_req_init(&b);
		int rc = lnc_req_decode(&b, text, len, &err);
		if (a.cmd->flags & LNC_C_LOCAL) {
			assert_int_equal(rc, -EINVAL);
		} else {
			if (rc)
				fail_msg("'%s': %s\n%s", good[i], err.msg, text);
			assert_ptr_equal(a.cmd, b.cmd);
			/* names of files stay on the caller's side */
			assert_int_equal(a.cmd->arg_kind == LNC_A_FILE ? 0 : a.nargs, b.nargs);
			for (unsigned k = 0; k < b.nargs; k++)
				assert_string_equal(a.arg[k], b.arg[k]);
			for (unsigned k = 0; k < a.cmd->nopts; k++) {
				assert_int_equal(a.val[k].given, b.val[k].given);
				assert_int_equal(a.val[k].num, b.val[k].num);
				assert_int_equal(!a.val[k].text, !b.val[k].text);
				if (a.val[k].text)
					assert_string_equal(a.val[k].text, b.val[k].text);
			}
		}
		free(text);
		lnc_req_free(&a);
		lnc_req_free(&b);
	}
}

static void test_bad_requests(void **state)
{
	static const char *const t[] = {"", "[]", "x", "{}", "ulnet: 1",
	        "ulnet: 2\ncommand: net show", "ulnet: 0\ncommand: net show", "command: net show",
	        "ulnet: 1\ncommand: foo", "ulnet: 1\ncommand: check", "ulnet: 1\ncommand: {a: b}",
	        "ulnet: 1\ncommand: net show\noptions: [a]",
	        "ulnet: 1\ncommand: net show\noptions: {foo: 1}",
	        "ulnet: 1\ncommand: net show\noptions: {net: [tcp]}",
	        "ulnet: 1\ncommand: net show\noptions: {net: xyz}",
	        "ulnet: 1\ncommand: net show\noptions: {net: ''}",
	        "ulnet: 1\ncommand: net show\noptions: {verbose: 99}",
	        "ulnet: 1\ncommand: net show\nargs: [x]", "ulnet: 1\ncommand: ping",
	        "ulnet: 1\ncommand: ping\nargs: {a: b}", "ulnet: 1\ncommand: ping\nargs: [[a]]",
	        "ulnet: 1\ncommand: ping\nargs: [garbage]", "ulnet: 1\ncommand: peer add",
	        "ulnet: 1\ncommand: import\ninput: {a: b}", "ulnet: 1\ncommand: net show\nfoo: bar",
	        "ulnet: 1\ncommand: net show\ncommand: stats reset",
	        "ulnet: 1\ncommand: net show\n--- x",
	        "ulnet: 1\ncommand: net set\noptions: {all: , health: 1001}", "\x80", "a: \"\\0\"",
	        "ulnet: 1\ncommand: net add\noptions: {auth-key: 1, net: tcp, if: eth0}"};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct lnc_req r;
		struct lnc_err err = {.msg = ""};
		lnc_req_init(&r);
		int rc = lnc_req_decode(&r, t[i], strlen(t[i]), &err);
		if (!rc)
			fail_msg("accepted: %s", t[i]);
		assert_int_not_equal(err.msg[0], 0);
		lnc_req_free(&r);
	}
}

/* ---- lines of a script --------------------------------------------------------------------- */

static void test_split(void **state)
{
	static const struct {
		const char *line;
		int n;
		const char *w[4];
	} t[] = {{"", 0, {0}}, {"  \t \r\n", 0, {0}}, {"# all of it", 0, {0}},
	        {"a b", 2, {"a", "b"}}, {" a\tb # c", 2, {"a", "b"}}, {"a#b", 1, {"a#b"}},
	        {"'a b' \"c d\"", 2, {"a b", "c d"}}, {"'' x", 2, {"", "x"}}, {"a'b'c", 1, {"abc"}},
	        {"\"a\\\"b\"", 1, {"a\"b"}}, {"'a\\b'", 1, {"a\\b"}}, {"a\\ b", 1, {"a b"}},
	        {"\\#", 1, {"#"}}, {"\"\\n\"", 1, {"\\n"}}, {"'a", -1, {0}}, {"\"a", -1, {0}},
	        {"a\\", -1, {0}}, {"1 2 3 4 5", -1, {0}}};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *w[4];
		struct lnc_arena mem;
		struct lnc_err err;
		lnc_arena_init(&mem, 0);
		int n = lnc_line_split(&mem, t[i].line, w, 4, &err);
		if (t[i].n < 0)
			assert_true(n < 0);
		else
			assert_int_equal(n, t[i].n);
		for (int k = 0; k < n; k++)
			assert_string_equal(w[k], t[i].w[k]);
		lnc_arena_free(&mem);
	}
}

/* ---- texts made from the table ------------------------------------------------------------- */

static void test_help(void **state)
{
	static const char *const asks[] = {"--help", "-h", "help", "net --help", "net help",
	        "net add --help", "net add -h", "ping --help", "set --help", "--json net --help",
	        "peer add --prim_nid x --help"};
	const struct lnc_cmd *c;
	struct lnc_req r;
	struct lnc_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		if (parse(&r, asks[i], &err))
			fail_msg("%s: %s", asks[i], err.msg);
		assert_true(r.help);
		lnc_req_free(&r);
	}
	assert_int_not_equal(parse(&r, "foo --help", &err), 0);
	lnc_req_free(&r);
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		char *text = lnc_help_cmd(c);
		assert_non_null(text);
		assert_non_null(strstr(text, c->path));
		for (unsigned k = 0; k < c->nopts; k++) {
			char word[64];
			snprintf(word, sizeof(word), "--%s", c->opts[k].name);
			assert_non_null(strstr(text, word));
			assert_non_null(strstr(text, c->opts[k].help));
		}
		free(text);
		assert_ptr_equal(lnc_cmd_find(c->path), c);
	}
	char *all = lnc_help_all(), *index = lnc_help_index(), *net = lnc_help_group("net");
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		assert_non_null(strstr(all, c->path));
		assert_non_null(strstr(index, c->path));
	}
	assert_non_null(strstr(net, "net add"));
	assert_null(strstr(net, "peer add"));
	assert_null(lnc_help_group("foo"));
	free(all);
	free(index);
	free(net);
}

/* No letter and no name twice in one command, nor those that all commands have. */
static void test_table(void **state)
{
	const struct lnc_cmd *c;

	(void)state;
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++)
		for (unsigned a = 0; a < c->nopts; a++) {
			const struct lnc_opt *o = &c->opts[a];
			assert_non_null(o->help);
			assert_false(o->letter && strchr("jhN", o->letter));
			assert_false(!strcmp(o->name, "json") || !strcmp(o->name, "help") ||
			             !strcmp(o->name, "node"));
			for (unsigned b = 0; b < a; b++) {
				assert_string_not_equal(o->name, c->opts[b].name);
				assert_false(o->letter && o->letter == c->opts[b].letter);
			}
		}
}

static void same_as_file(char *made, const char *name)
{
	char path[512];
	const char *src = getenv("ULNET_SRC");

	snprintf(path, sizeof(path), "%s/%s", src ? src : ".", name);
	char *there = tl_read_file(path, NULL);
	if (!there)
		fail_msg("%s: %s", path, strerror(errno));
	if (strcmp(made, there))
		fail_msg("%s is not what ulnetctl makes: make it again", name);
	free(there);
	free(made);
}

static void test_man(void **state)
{
	(void)state;
	same_as_file(lnc_man_page(lnet_version()), "docs/man/ulnetctl.8");
	same_as_file(lnc_completion(), "utils/ulnetctl.bash-completion");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad),
	        cmocka_unit_test(test_levels), cmocka_unit_test(test_values),
	        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad_requests),
	        cmocka_unit_test(test_split), cmocka_unit_test(test_help),
	        cmocka_unit_test(test_table), cmocka_unit_test(test_man)};

	return cmocka_run_group_tests_name("cmd", tests, NULL, NULL);
}
