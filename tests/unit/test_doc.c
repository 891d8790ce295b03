/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents: reading, limits, awkward files, shapes. */
#include "unit/conf_table.h"

#include <errno.h>

static struct lnc_doc *parse_n(const char *text, size_t len)
{
	struct lnc_doc *d = NULL;
	struct lnc_errs e;

	lnc_errs_init(&e, "doc");
	if (lnc_doc_parse(text, len, &d, &e)) {
		t_fail_errs(&e, len < 4096 ? text : "(long)");
		fail();
	}
	assert_int_equal(e.n, 0);
	return d;
}

static struct lnc_doc *parse(const char *text)
{
	return parse_n(text, strlen(text));
}

static void refused_n(
        const char *text, size_t len, int code, unsigned line, unsigned column, const char *want)
{
	struct lnc_doc *d = (struct lnc_doc *)&d;
	struct lnc_errs e;
	int rc;

	lnc_errs_init(&e, "doc");
	rc = lnc_doc_parse(text, len, &d, &e);
	if (rc != code || e.n == 0 || !strstr(e.v[0].msg, want) || e.v[0].line != line ||
	        e.v[0].column != column) {
		t_fail_errs(&e, len < 4096 ? text : "(long)");
		print_error("rc %d, wanted %d at %u:%u with '%s'\n", rc, code, line, column, want);
		fail();
	}
	assert_ptr_equal(d, &d);
	lnc_errs_free(&e);
}

static void refused(const char *text, int code, unsigned line, unsigned column, const char *want)
{
	refused_n(text, strlen(text), code, line, column, want);
}

static void tree_and_places(void **state)
{
	struct lnc_doc *d = parse("a: 1\n'b c':\n  - x\n  - {k: \"q\", n: }\nz: ~\n");
	const struct lnc_node *r = d->root, *b, *m;
	char path[LNC_PATH_MAX];

	(void)state;
	assert_int_equal(r->kind, LNC_MAP);
	assert_int_equal(r->count, 3);
	assert_string_equal(lnc_map_text(r, "a"), "1");
	assert_int_equal(lnc_node_type(lnc_map_get(r, "a")), LNC_NUMBER);
	b = lnc_map_get(r, "b c");
	assert_int_equal(b->kind, LNC_SEQ);
	assert_int_equal(b->key_line, 2);
	assert_int_equal(b->key_column, 1);
	m = b->last;
	assert_int_equal(m->line, 4);
	assert_int_equal(m->column, 5);
	assert_string_equal(lnc_node_path(lnc_map_get(m, "k"), path, sizeof(path)), "b c[1].k");
	assert_true(lnc_map_get(m, "k")->quoted);
	assert_true(lnc_node_is_null(lnc_map_get(m, "n")));
	assert_true(lnc_node_is_null(lnc_map_get(r, "z")));
	assert_null(lnc_map_get(r, "nope"));
	assert_null(lnc_map_text(r, "b c"));
	lnc_doc_free(d);
}

static void empty_texts(void **state)
{
	static const char *const rows[] = {"", "\n", "# only a comment\n", "---\n...\n"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct lnc_doc *d = parse(rows[i]);

		assert_null(d->root);
		lnc_doc_free(d);
	}
	struct lnc_doc *d = parse(rows[3]);
	assert_true(lnc_node_is_null(d->root));
	lnc_doc_free(d);
}

static void awkward_files_load(void **state)
{
	static const char *const rows[] = {
	        "a:\r\n  - b\r\n", /* CRLF */
	        "a:\n  - b",       /* no final newline */
	        "\xef\xbb\xbf"
	        "a:\n  - b\n",  /* byte order mark */
	        "a: [\tb\t]\n", /* tabs, but not as indentation */
	        "--- \na: ! \nb: 1\n...\n",
	};
	struct lnc_doc *d;
	char *big = malloc(200001 + 16);

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		d = parse(rows[i]);
		assert_string_equal(lnc_map_get(d->root, "a")->first->text, "b");
		lnc_doc_free(d);
	}
	lnc_doc_free(parse(rows[4]));
	memcpy(big, "key: ", 5);
	memset(big + 5, 'x', 200000);
	d = parse_n(big, 200005);
	assert_int_equal(lnc_map_get(d->root, "key")->len, 200000);
	lnc_doc_free(d);
	free(big);
}

static void awkward_files_refused(void **state)
{
	(void)state;
	refused("a:\n\t- b\n", -EINVAL, 2, 1, "tab");
	refused("a:\r\n\t- b\r\n", -EINVAL, 2, 1, "tab");
	refused("a: 1\nb: 2\na: 3\n", -EINVAL, 3, 1,
	        "key 'a' stands twice in one mapping (first at 1:1)");
	refused("x: {a: 1, 'a': 2}\n", -EINVAL, 1, 11, "first at 1:5");
	refused_n("a: b\0c\n", 7, -EINVAL, 1, 5, "NUL");
	refused("a: \"b\\0c\"\n", -EINVAL, 1, 4, "NUL");
	refused("a: \xff\n", -EINVAL, 1, 4, "UTF-8");
	refused("a: \xc0\xaf\n", -EINVAL, 1, 4, "UTF-8");
	refused("a: \xed\xa0\x80\n", -EINVAL, 1, 4, "UTF-8");
	refused("a: 1\nb: \x07\n", -EINVAL, 2, 4, "control character U+0007");
	refused("a: \xc2\x9b\n", -EINVAL, 1, 4, "control character U+009B");
	refused("\xff\xfe"
	        "a",
	        -EINVAL, 1, 1, "UTF-8"); /* UTF-16 */
	refused("a: 1\n---\nb: 2\n", -EINVAL, 2, 1, "second document");
	refused("{a: 1}: 2\n", -EINVAL, 1, 1, "where a key is expected");
	refused("? [a]\n: 2\n", -EINVAL, 1, 3, "where a key is expected");
	refused("a: !!binary AAAA\n", -EINVAL, 1, 4, "tag");
	refused("a: !mine x\n", -EINVAL, 1, 4, "tag");
	refused("a: *b\n", -EINVAL, 1, 4, "not set");
	refused("a: &b [1, *b]\n", -EINVAL, 1, 11, "inside its own anchor");
	refused("a: &b x\n*b : 2\n", -EINVAL, 2, 1, "alias as a key");
	refused("a: [1, 2\n", -EINVAL, 2, 1, "expect");
	refused("a: b: c\n", -EINVAL, 1, 5, "not allowed");
}

static void every_duplicate_is_told(void **state)
{
	static const char text[] = "a: 1\nb: 1\na: 2\nc: {x: 1, x: 2}\nb: 3\n";
	struct lnc_doc *d;
	struct lnc_errs e;

	(void)state;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_doc_parse(text, sizeof(text) - 1, &d, &e), -EINVAL);
	assert_int_equal(e.errors, 3);
	lnc_errs_free(&e);
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static void aliases(void **state)
{
	char text[4096];
	size_t at = 0;
	struct lnc_doc *d;

	(void)state;
	/* twenty levels, one use each: fine */
	at += (size_t)snprintf(text + at, sizeof(text) - at, "l0: &l0 {v: end}\n");
	for (int i = 1; i <= 20; i++)
		at += (size_t)snprintf(
		        text + at, sizeof(text) - at, "l%d: &l%d {in: *l%d}\n", i, i, i - 1);
	d = parse(text);
	const struct lnc_node *n = lnc_map_get(d->root, "l20");
	for (int i = 0; i < 20; i++)
		n = lnc_map_get(n, "in");
	assert_string_equal(lnc_map_text(n, "v"), "end");
	lnc_doc_free(d);
	/* ten uses each: refused before the memory is gone */
	at = (size_t)snprintf(text, sizeof(text), "l0: &l0 [x]\n");
	for (int i = 1; i <= 20; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "l%d: &l%d [", i, i);
		for (int k = 0; k < 10; k++)
			at += (size_t)snprintf(
			        text + at, sizeof(text) - at, "%s*l%d", k ? "," : "", i - 1);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "]\n");
	}
	struct lnc_errs e;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_doc_parse(text, at, &d, &e), -E2BIG);
	assert_non_null(strstr(e.v[0].msg, "100000"));
	assert_true(e.v[0].line > 1);
	lnc_errs_free(&e);
	/* a redefined anchor: the nearest one above counts */
	d = parse("a: &x 1\nb: &x 2\nc: *x\n");
	assert_string_equal(lnc_map_text(d->root, "c"), "2");
	lnc_doc_free(d);
}

static void depth_limit(void **state)
{
	char text[400];

	(void)state;
	memset(text, '[', 200);
	memset(text + 200, ']', 200);
	lnc_doc_free(parse_n(text + 200 - LNC_DOC_DEPTH_MAX, 2 * LNC_DOC_DEPTH_MAX));
	refused_n(text + 200 - LNC_DOC_DEPTH_MAX - 1, 2 * LNC_DOC_DEPTH_MAX + 2, -E2BIG, 1,
	        LNC_DOC_DEPTH_MAX + 1, "more than 64");
	/* by an alias */
	char deep[600];
	int at = snprintf(deep, sizeof(deep), "a: &a ");

	for (int i = 0; i < 40; i++)
		at += snprintf(deep + at, sizeof(deep) - (size_t)at, "[");
	for (int i = 0; i < 40; i++)
		at += snprintf(deep + at, sizeof(deep) - (size_t)at, "]");
	at += snprintf(deep + at, sizeof(deep) - (size_t)at, "\nb: ");
	for (int i = 0; i < 40; i++)
		at += snprintf(deep + at, sizeof(deep) - (size_t)at, "[");
	at += snprintf(deep + at, sizeof(deep) - (size_t)at, "*a");
	for (int i = 0; i < 40; i++)
		at += snprintf(deep + at, sizeof(deep) - (size_t)at, "]");
	refused_n(deep, (size_t)at, -E2BIG, 2, 44, "more than 64 levels");
}

static void size_limits(void **state)
{
	size_t len = LNC_DOC_BYTES_MAX + 1;
	char *text = malloc(len), *p;

	(void)state;
	memset(text, ' ', len);
	refused_n(text, len, -E2BIG, 0, 0, "16777216");
	lnc_doc_free(parse_n(text, len - 1));
	/* one value too many */
	p = text;
	*p++ = '[';
	for (unsigned i = 0; i < LNC_DOC_NODES_MAX; i++) {
		*p++ = '1';
		*p++ = i % 64 ? ',' : '\n';
		if (!(i % 64))
			*p++ = ',';
	}
	*p++ = ']';
	struct lnc_doc *d;
	struct lnc_errs e;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_doc_parse(text, (size_t)(p - text), &d, &e), -E2BIG);
	assert_non_null(strstr(e.v[0].msg, "more than 1000000 values"));
	lnc_errs_free(&e);
	free(text);
}

static void anchors_limit(void **state)
{
	char *text = malloc(LNC_DOC_ANCHORS_MAX * 16u + 64u);
	size_t at = 0;

	(void)state;
	for (unsigned i = 0; i < LNC_DOC_ANCHORS_MAX; i++)
		at += (size_t)sprintf(text + at, "- &a%u x\n", i);
	lnc_doc_free(parse_n(text, at));
	at += (size_t)sprintf(text + at, "- &b x\n");
	refused_n(text, at, -E2BIG, LNC_DOC_ANCHORS_MAX + 1, 3, "more than 1024 anchors");
	free(text);
}

static void many_keys_are_no_trap(void **state)
{
	char *text = malloc(200000u * 12u);
	size_t at = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++)
		at += (size_t)sprintf(text + at, "k%u: 1\n", i);
	struct lnc_doc *d = parse_n(text, at);
	assert_int_equal(d->root->count, 200000);
	lnc_doc_free(d);
	free(text);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void yaml_is(struct lnc_doc *d, const char *want)
{
	size_t len;
	char *text = lnc_doc_yaml(d, &len);

	assert_non_null(text);
	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
	free(text);
}

static void shape_net(void **state)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *seq = lnc_map_add_seq(lnc_doc_map(d, LNC_STYLE_NET), "net"), *net, *nis,
	                *ni;

	(void)state;
	net = lnc_seq_add_map(seq);
	lnc_map_add_str(net, "net type", "lo");
	nis = lnc_map_add_seq(net, "local NI(s)");
	ni = lnc_seq_add_map(nis);
	lnc_map_add_str(ni, "nid", "0@lo");
	lnc_map_add_str(ni, "status", "up");
	net = lnc_seq_add_map(seq);
	lnc_map_add_str(net, "net type", "tcp");
	nis = lnc_map_add_seq(net, "local NI(s)");
	ni = lnc_seq_add_map(nis);
	lnc_map_add_str(ni, "nid", "192.168.1.10@tcp");
	lnc_map_add_str(lnc_map_add_map(ni, "interfaces"), "0", "eth0");
	lnc_map_add_i64(ni, "dev cpt", -1);
	lnc_map_add_quoted(ni, "CPT", "[0,1]");
	yaml_is(d, "net:\n"
	           "-     net type: lo\n"
	           "      local NI(s):\n"
	           "      -     nid: 0@lo\n"
	           "            status: up\n"
	           "-     net type: tcp\n"
	           "      local NI(s):\n"
	           "      -     nid: 192.168.1.10@tcp\n"
	           "            interfaces:\n"
	           "                  0: eth0\n"
	           "            dev cpt: -1\n"
	           "            CPT: \"[0,1]\"\n");
	lnc_doc_free(d);
}

static void shape_ping(void **state)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *root = lnc_doc_map(d, LNC_STYLE_PING), *x, *nis;

	(void)state;
	x = lnc_seq_add_map(lnc_map_add_seq(root, "ping"));
	lnc_map_add_str(x, "primary nid", "192.168.1.20@tcp");
	lnc_map_add_bool(x, "Multi-Rail", true);
	nis = lnc_map_add_seq(x, "peer_ni");
	lnc_map_add_str(lnc_seq_add_map(nis), "nid", "fe80::1@tcp");
	x = lnc_seq_add_map(lnc_map_add_seq(root, "manage"));
	lnc_map_add_null(x, "ping");
	lnc_map_add_i64(x, "errno", -110);
	lnc_map_add_str(x, "descr", "failed to ping 10.0.0.9@tcp: Connection timed out");
	yaml_is(d, "ping:\n"
	           "- primary nid: 192.168.1.20@tcp\n"
	           "  Multi-Rail: true\n"
	           "  peer_ni:\n"
	           "  - nid: fe80::1@tcp\n"
	           "manage:\n"
	           "- ping:\n"
	           "  errno: -110\n"
	           "  descr: \"failed to ping 10.0.0.9@tcp: Connection timed out\"\n");
	lnc_doc_free(d);
}

static void shape_cyaml(void **state)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *root = lnc_doc_map(d, LNC_STYLE_CYAML), *seq, *x;

	(void)state;
	seq = lnc_map_add_seq(root, "routing");
	x = lnc_map_add_map(lnc_seq_add_map(seq), "cpt[0]");
	lnc_map_add_u64(lnc_map_add_map(x, "tiny"), "npages", 0);
	lnc_map_add_u64(lnc_seq_add_map(seq), "enable", 1);
	lnc_map_add_u64(lnc_map_add_map(root, "buffers"), "tiny", UINT64_MAX);
	seq = lnc_map_add_seq(root, "udsp");
	x = lnc_seq_add_map(seq);
	lnc_map_add_u64(x, "idx", 0);
	lnc_map_add_u64(lnc_map_add_map(x, "action"), "priority", 1);
	yaml_is(d, "routing:\n"
	           "    - cpt[0]:\n"
	           "          tiny:\n"
	           "              npages: 0\n"
	           "    - enable: 1\n"
	           "buffers:\n"
	           "    tiny: 18446744073709551615\n"
	           "udsp:\n"
	           "    - idx: 0\n"
	           "      action:\n"
	           "          priority: 1\n");
	lnc_doc_free(d);
}

static void quotes_where_needed(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
	        {"eth0", "eth0"},
	        {"10.0.0.1@tcp", "10.0.0.1@tcp"},
	        {"10.0.0.1", "10.0.0.1"},
	        {"fe80::1@tcp", "fe80::1@tcp"},
	        {"::1@tcp", "::1@tcp"},
	        {"<?>", "\"<?>\""},
	        {"10", "\"10\""},
	        {"0600", "\"0600\""},
	        {"0x10", "\"0x10\""},
	        {"1e5", "\"1e5\""},
	        {"1_000", "\"1_000\""},
	        {"12:30", "\"12:30\""},
	        {".5", "\".5\""},
	        {".inf", "\".inf\""},
	        {"true", "\"true\""},
	        {"No", "\"No\""},
	        {"y", "\"y\""},
	        {"null", "\"null\""},
	        {"~", "\"~\""},
	        {"", "\"\""},
	        {"-", "\"-\""},
	        {"- a", "\"- a\""},
	        {"-a", "-a"},
	        {"a: b", "\"a: b\""},
	        {"a:", "\"a:\""},
	        {"a #b", "\"a #b\""},
	        {"a#b", "a#b"},
	        {"*@tcp", "\"*@tcp\""},
	        {"&a", "\"&a\""},
	        {"[0,1]", "\"[0,1]\""},
	        {"{a}", "\"{a}\""},
	        {"%a", "\"%a\""},
	        {"@a", "\"@a\""},
	        {"--- a", "\"--- a\""},
	        {" a", "\" a\""},
	        {"a ", "\"a \""},
	        {"a\nb\tc", "\"a\\nb\\tc\""},
	        {"q\"\\", "q\"\\"},
	        {"\"q", "\"\\\"q\""},
	        {"\x01", "\"\\u0001\""},
	        {"\xc3\xa9", "\"\\u00e9\""},
	        {"\xf0\x9f\x98\x80", "\"\\U0001f600\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lnc_doc *d = lnc_doc_new(), *back;
		char *text, want[128];

		lnc_map_add_str(lnc_doc_map(d, LNC_STYLE_NET), "k", rows[i].text);
		text = lnc_doc_yaml(d, NULL);
		snprintf(want, sizeof(want), "k: %s\n", rows[i].want);
		assert_string_equal(text, want);
		back = parse(text);
		assert_string_equal(lnc_map_text(back->root, "k"), rows[i].text);
		assert_true(lnc_node_equal(d->root, back->root));
		lnc_doc_free(back);
		lnc_doc_free(d);
		free(text);
	}
}

static void json_forms(void **state)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *m = lnc_doc_map(d, LNC_STYLE_NET), *s;
	char *text;

	(void)state;
	text = lnc_doc_json(d, false, NULL);
	assert_string_equal(text, "{}\n");
	free(text);
	lnc_map_add_i64(m, "n", -5);
	lnc_map_add_bool(m, "b", false);
	lnc_map_add_null(m, "z");
	lnc_map_add_str(m, "s", "12");
	lnc_map_add_str(m, "e", "a\"\\\n\x01\xc3\xa9\xf0\x9f\x98\x80");
	s = lnc_map_add_seq(m, "l");
	lnc_seq_add_u64(s, 7);
	lnc_seq_add_seq(s);
	text = lnc_doc_json(d, false, NULL);
	assert_string_equal(text,
	        "{\"n\":-5,\"b\":false,\"z\":null,\"s\":\"12\","
	        "\"e\":\"a\\\"\\\\\\n\\u0001\\u00e9\\ud83d\\ude00\",\"l\":[7,[]]}\n");
	free(text);
	text = lnc_doc_json(d, true, NULL);
	assert_non_null(strstr(text, "\n  \"l\": [\n    7,\n    []\n  ]\n}\n"));
	free(text);
	lnc_doc_free(d);
	d = lnc_doc_new();
	text = lnc_doc_json(d, false, NULL);
	assert_string_equal(text, "null\n");
	free(text);
	text = lnc_doc_yaml(d, NULL);
	assert_string_equal(text, "");
	free(text);
	lnc_doc_free(d);
}

static void builder_errors(void **state)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_node *m = lnc_doc_map(d, LNC_STYLE_NET);

	(void)state;
	assert_null(lnc_map_add_u64(NULL, "a", 1)); /* silently nothing */
	assert_true(lnc_doc_ok(d));
	lnc_map_add_u64(m, "a", 1);
	assert_null(lnc_map_add_u64(m, "a", 2));
	assert_false(lnc_doc_ok(d));
	assert_null(lnc_doc_yaml(d, NULL));
	assert_null(lnc_doc_json(d, true, NULL));
	lnc_doc_free(d);
	d = lnc_doc_new();
	assert_null(lnc_seq_add_map(lnc_doc_map(d, LNC_STYLE_NET)));
	assert_false(lnc_doc_ok(d));
	lnc_doc_free(d);
	/* no memory: every call after it is harmless */
	d = lnc_doc_new();
	d->mem.limit = 2000;
	m = lnc_doc_map(d, LNC_STYLE_NET);
	for (int i = 0; i < 1000; i++)
		lnc_map_add_fmt(lnc_map_add_map(m, "x"), "k", "%d", i);
	assert_false(lnc_doc_ok(d));
	lnc_doc_free(d);
}

static void copies(void **state)
{
	struct lnc_doc *a = parse("x: [1, {y: '2', z: }]\n"), *b = lnc_doc_new();
	struct lnc_node *m = lnc_doc_map(b, LNC_STYLE_NET);

	(void)state;
	lnc_node_copy(m, "x", lnc_map_get(a->root, "x"));
	assert_true(lnc_node_equal(a->root, b->root));
	lnc_map_add_u64(m, "w", 1);
	assert_false(lnc_node_equal(a->root, b->root));
	lnc_doc_free(a);
	lnc_doc_free(b);
	/* '2' is a text and 2 a number */
	a = parse("x: '2'\n");
	b = parse("x: 2\n");
	assert_false(lnc_node_equal(a->root, b->root));
	lnc_doc_free(a);
	lnc_doc_free(b);
}

static void error_text(void **state)
{
	struct lnc_errs e;
	char buf[256], *all;

	(void)state;
	lnc_errs_init(&e, "f.yaml");
	assert_int_equal(lnc_errs_code(&e), 0);
	lnc_errs_at(&e, 3, 7, 0, "by the way");
	assert_int_equal(lnc_errs_code(&e), 0);
	lnc_errs_at(&e, 4, 1, -EEXIST, "twice \x1b[31m");
	assert_int_equal(lnc_errs_code(&e), -EEXIST);
	assert_string_equal(
	        lnc_err_str(&e, &e.v[0], buf, sizeof(buf)), "f.yaml:3:7: note: by the way");
	assert_string_equal(lnc_err_str(&e, &e.v[1], buf, sizeof(buf)), "f.yaml:4:1: twice ?[31m");
	for (unsigned i = 0; i < 2 * LNC_ERRS_MAX; i++)
		lnc_errs_at(&e, i, 1, -EINVAL, "x");
	assert_int_equal(e.n, LNC_ERRS_MAX);
	assert_int_equal(e.errors, 2 * LNC_ERRS_MAX + 1);
	all = lnc_errs_text(&e);
	assert_non_null(strstr(all, "\n102 more"));
	free(all);
	lnc_errs_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(tree_and_places),
	        cmocka_unit_test(empty_texts),
	        cmocka_unit_test(awkward_files_load),
	        cmocka_unit_test(awkward_files_refused),
	        cmocka_unit_test(every_duplicate_is_told),
	        cmocka_unit_test(aliases),
	        cmocka_unit_test(depth_limit),
	        cmocka_unit_test(size_limits),
	        cmocka_unit_test(anchors_limit),
	        cmocka_unit_test(many_keys_are_no_trap),
	        cmocka_unit_test(shape_net),
	        cmocka_unit_test(shape_ping),
	        cmocka_unit_test(shape_cyaml),
	        cmocka_unit_test(quotes_where_needed),
	        cmocka_unit_test(json_forms),
	        cmocka_unit_test(builder_errors),
	        cmocka_unit_test(copies),
	        cmocka_unit_test(error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
