/* SPDX-License-Identifier: BSD-2-Clause */
/* What is written reads back: trees and configurations by chance. */
#include "unit/conf_gen.h"

#include <ctype.h>

#define CASES 400

/* ---- trees --------------------------------------------------------------------------------------
 */

static const char *any_text(struct gen *g, char *buf)
{
	static const char marks[] = "abz019 :#-?,[]{}&*!|>'\"%@`\n\t\x01.~=\\/x_+\xc3\xa9";
	unsigned n = g_below(g, 14), at = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned k = g_below(g, sizeof(marks) - 2);

		buf[at++] = marks[k];
		if (marks[k] == '\xc3')
			buf[at++] = '\xa9';
		else if (marks[k] == '\xa9')
			at--;
	}
	buf[at] = '\0';
	return buf;
}

static void any_value(struct gen *g, struct lnc_node *to, const char *key, unsigned depth);

static void fill(struct gen *g, struct lnc_node *n, unsigned depth)
{
	char key[40], text[40];

	for (unsigned i = 0, k = g_below(g, 5); i < k; i++) {
		snprintf(key, sizeof(key), "%s%u", any_text(g, text), i);
		any_value(g, n, n->kind == LNC_MAP ? key : NULL, depth + 1);
	}
}

static void any_value(struct gen *g, struct lnc_node *to, const char *key, unsigned depth)
{
	char text[40];
	struct lnc_node *n;

	switch (g_below(g, depth > 5 ? 5 : 8)) {
	case 0:
		if (key)
			lnc_map_add_i64(to, key, (int64_t)g->x);
		else
			lnc_seq_add_u64(to, g->x);
		return;
	case 1:
		if (key)
			lnc_map_add_bool(to, key, g_one_in(g, 2));
		else
			lnc_seq_add_str(to, "true");
		return;
	case 2:
		if (key)
			lnc_map_add_null(to, key);
		else
			lnc_seq_add_str(to, "");
		return;
	case 3:
	case 4:
		if (key)
			lnc_map_add_str(to, key, any_text(g, text));
		else
			lnc_seq_add_str(to, any_text(g, text));
		return;
	case 5:
		n = key ? lnc_map_add_seq(to, key) : lnc_seq_add_seq(to);
		break;
	default:
		n = key ? lnc_map_add_map(to, key) : lnc_seq_add_map(to);
		break;
	}
	if (g_one_in(g, 4))
		lnc_node_style(n, (enum lnc_style)(1 + g_below(g, 3)));
	fill(g, n, depth);
}

/* A strict reader of JSON. */
static const char *json(const char *p);

static const char *blank(const char *p)
{
	return p ? p + strspn(p, " \n") : NULL;
}

static const char *json_string(const char *p)
{
	if (!p || *p++ != '"')
		return NULL;
	while (*p != '"') {
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			return NULL;
		if (*p == '\\' && p[1] == 'u') {
			for (int i = 2; i < 6; i++) {
				if (!isxdigit((unsigned char)p[i]))
					return NULL;
			}
			p += 6;
		} else if (*p == '\\') {
			if (!p[1] || !strchr("\"\\/bfnrt", p[1]))
				return NULL;
			p += 2;
		} else {
			p++;
		}
	}
	return p + 1;
}

static const char *json_list(const char *p, bool map)
{
	char end = map ? '}' : ']';

	p = blank(p + 1);
	if (*p == end)
		return p + 1;
	for (;;) {
		if (map) {
			p = blank(json_string(p));
			if (!p || *p++ != ':')
				return NULL;
			p = blank(p);
		}
		p = blank(json(p));
		if (!p || (*p != ',' && *p != end))
			return NULL;
		if (*p++ == end)
			return p;
		p = blank(p);
	}
}

static const char *json(const char *p)
{
	static const char *const words[] = {"true", "false", "null"};

	if (!p)
		return NULL;
	if (*p == '{' || *p == '[')
		return json_list(p, *p == '{');
	if (*p == '"')
		return json_string(p);
	for (int i = 0; i < 3; i++) {
		if (strncmp(p, words[i], strlen(words[i])) == 0)
			return p + strlen(words[i]);
	}
	if (*p == '-')
		p++;
	if (!isdigit((unsigned char)*p) || (*p == '0' && isdigit((unsigned char)p[1])))
		return NULL;
	return p + strspn(p, "0123456789");
}

static void check_json(const struct lnc_doc *d)
{
	for (int pretty = 0; pretty < 2; pretty++) {
		char *text = lnc_doc_json(d, pretty, NULL);
		const char *end = blank(json(text));

		if (!end || *end) {
			print_error("no JSON: %s\n", text);
			fail();
		}
		free(text);
	}
}

static void trees(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct gen g = {seed * UINT64_C(0x9e3779b97f4a7c15), 0, false};
		struct lnc_doc *d = lnc_doc_new(), *back = NULL;
		struct lnc_errs e;
		size_t len;
		char *text, *again;

		fill(&g,
		        seed % 2 ? lnc_doc_map(d, (enum lnc_style)(1 + seed % 3))
		                 : lnc_doc_seq(d, (enum lnc_style)(1 + seed % 3)),
		        0);
		text = lnc_doc_yaml(d, &len);
		assert_non_null(text);
		lnc_errs_init(&e, NULL);
		if (lnc_doc_parse(text, len, &back, &e) || !lnc_node_equal(d->root, back->root)) {
			print_error("seed %u\n", seed);
			t_fail_errs(&e, text);
			fail();
		}
		again = lnc_doc_yaml(back, NULL);
		assert_non_null(again);
		check_json(d);
		free(again);
		free(text);
		lnc_doc_free(d);
		lnc_doc_free(back);
	}
}

static void the_json_reader_is_strict(void **state)
{
	static const char *const bad[] = {
	        "{a:1}", "[1,]", "[01]", "{\"a\" 1}", "\"\n\"", "[1 2]", "nil", "\"\\x\""};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *end = blank(json(bad[i]));

		assert_true(!end || *end);
	}
}

/* ---- configurations -----------------------------------------------------------------------------
 */

static void configurations(void **state)
{
	unsigned nets = 0, v6 = 0;

	(void)state;
	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct lnc_conf *a = g_conf(seed, true), *b;
		char *x = t_yaml(a), *y;

		b = t_read(x);
		if (!lnc_conf_equal(a, b)) {
			print_error("seed %u:\n%s\n", seed, x);
			fail();
		}
		y = t_yaml(b);
		assert_string_equal(x, y);
		nets += a->nnet;
		for (unsigned i = 0; i < a->nnet; i++)
			v6 += a->net[i].ni[0].nid.size == 12;
		free(x);
		free(y);
		lnc_conf_free(a);
		lnc_conf_free(b);
	}
	assert_true(nets > CASES && v6 > 20); /* the generator does its work */
}

static void differences_are_seen(void **state)
{
	/* each line changes one thing of the first */
	static const char *const rows[] = {
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}}]}]\n",
	        "net: [{net type: tcp1, local NI(s): [{interfaces: {0: e}}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: f}}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, CPT: [0]}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, nid: 10.0.0.1@tcp}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, tunables: {peer_timeout: "
	        "-1}}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}, lnd tunables: {tos: "
	        "-1}}]}]\n",
	        "net: [{net type: tcp, accept: {policy: all}, local NI(s): [{interfaces: {0: "
	        "e}}]}]\n",
	        "net: [{net type: tcp, accept: {allow: []}, local NI(s): [{interfaces: {0: "
	        "e}}]}]\n",
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e, 1: f}}]}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: false}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp, lock primary: true}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp, peer ni: [{nid: 1.1.1.2@tcp}]}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 1}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp, priority: 0}]\n",
	        "routing: {enable: 0}\n",
	        "routing: {enable: 1}\n",
	        "buffers: {tiny: 5}\n",
	        "buffers: {small: 5}\n",
	        "global: {retry_count: 2}\n",
	        "global: {retry_count: 3}\n",
	        "numa: {range: 3}\n",
	        "udsp: [{idx: 0, src: tcp}]\n",
	        "udsp: [{src: tcp}]\n",
	        "udsp: [{idx: 0, src: tcp, priority: 0}]\n",
	        "udsp: [{idx: 0, dst: tcp}]\n",
	        "ip2nets: [{net-spec: tcp}]\n",
	        "ip2nets: [{net-spec: tcp, ip-range: {0: 10.0.0.1}}]\n",
	        "selftest: true\n",
	        "selftest: false\n",
	        "control: {mode: 600}\n",
	        "control: {socket: /x}\n",
	        "log: {level: err}\n",
	        "log: {to: stderr}\n",
	        "",
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	struct lnc_conf *c[sizeof(rows) / sizeof(rows[0])];

	(void)state;
	for (size_t i = 0; i < n; i++)
		c[i] = t_read(rows[i]);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			if (lnc_conf_equal(c[i], c[k]) != (i == k)) {
				print_error("%s%s", rows[i], rows[k]);
				fail();
			}
		}
	}
	for (size_t i = 0; i < n; i++)
		lnc_conf_free(c[i]);
}

static void empty(void **state)
{
	struct lnc_conf *c = lnc_conf_new();
	char *text = t_yaml(c);

	(void)state;
	assert_string_equal(text, "");
	free(text);
	lnc_conf_free(c);
}

static void backup_shape(void **state)
{
	struct lnc_conf *c =
	        t_read("routing: {enable: 1}\n"
	               "peer: [{primary nid: 10.9.1.50@tcp, peer ni: [{nid: 10.9.2.50@tcp1}]}]\n"
	               "global: {discovery: 1, numa_range: 0}\n"
	               "net: [{net type: tcp0, local NI(s): [{interfaces: {0: d0}, nid: 10.0.0.1, "
	               "CPT: [0],"
	               " tunables: {credits: 256}, lnd tunables: {tos: -1}}]}]\n"
	               "udsp: [{idx: 0, src: tcp, priority: 0}]\n");
	char *text = t_yaml(c);

	(void)state;
	assert_string_equal(text, "net:\n"
	                          "-     net type: tcp\n"
	                          "      local NI(s):\n"
	                          "      -     nid: 10.0.0.1@tcp\n"
	                          "            interfaces:\n"
	                          "                  0: d0\n"
	                          "            tunables:\n"
	                          "                  credits: 256\n"
	                          "            lnd tunables:\n"
	                          "                  tos: -1\n"
	                          "            CPT: \"[0]\"\n"
	                          "routing:\n"
	                          "    enable: 1\n"
	                          "peer:\n"
	                          "-     primary nid: 10.9.1.50@tcp\n"
	                          "      Multi-Rail: true\n"
	                          "      peer ni:\n"
	                          "      -     nid: 10.9.1.50@tcp\n"
	                          "      -     nid: 10.9.2.50@tcp1\n"
	                          "global:\n"
	                          "    numa_range: 0\n"
	                          "    discovery: 1\n"
	                          "udsp:\n"
	                          "    - idx: 0\n"
	                          "      src: tcp\n"
	                          "      action:\n"
	                          "          priority: 0\n");
	free(text);
	lnc_conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(trees),
	        cmocka_unit_test(the_json_reader_is_strict),
	        cmocka_unit_test(configurations),
	        cmocka_unit_test(differences_are_seen),
	        cmocka_unit_test(empty),
	        cmocka_unit_test(backup_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
