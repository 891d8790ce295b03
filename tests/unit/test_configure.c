/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration of a running node as a transaction: it holds as a whole, or the node is as it was;
 * and what is exported can be imported.
 */
#include <lnet/control.h>

#include "lnd-tcp/driver.h"
#include "lnet/control/runtime.h"
#include "tests/lib/prng.h"
#include "tests/lib/tlib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

/* Addresses of this test alone: programs of one suite run side by side. */
#define IP(n) "127.0.91." #n

struct world {
	struct lnet *n;
	struct lnet_control *c;
	int port;
	bool fail_selftest;
	int selftest_calls;
	enum lnet_log_level lv;
	char errors[4096];
	unsigned nerrors, line;
};

static const struct lnet_lnd *const drivers[] = {&lnet_lnd_tcp, NULL};

static int hook_selftest(void *arg, bool on, char *why, size_t whylen)
{
	struct world *w = arg;

	(void)on;
	w->selftest_calls++;
	if (!w->fail_selftest)
		return 0;
	snprintf(why, whylen, "told to fail");
	return -EIO;
}

static int hook_log(void *arg, enum lnet_log_level lv, const char *to, char *why, size_t whylen)
{
	struct world *w = arg;

	(void)to;
	(void)why;
	(void)whylen;
	w->lv = lv;
	return 0;
}

static struct world *open_world(void)
{
	static const char *const ips[] = {IP(2), IP(3), IP(4), IP(5)};
	struct world *w = calloc(1, sizeof(*w));
	struct lnet_control_opts co;
	struct lnet_opts o;

	lnet_opts_init(&o, sizeof(o));
	o.lnds = drivers;
	assert_int_equal(lnet_open(&o, &w->n), 0);
	lnet_control_opts_init(&co, sizeof(co));
	co.hooks.arg = w;
	co.hooks.selftest = hook_selftest;
	co.hooks.log = hook_log;
	assert_int_equal(lnet_control_open(w->n, &co, &w->c), 0);
	w->port = tl_free_port(ips, 4);
	assert_true(w->port > 0);
	return w;
}

static void close_world(struct world *w)
{
	lnet_control_close(w->c);
	lnet_close(w->n, lnet_now(w->n) + 2 * TL_S);
	free(w);
}

static void note(void *arg, const struct lnet_config_err *e)
{
	struct world *w = arg;
	size_t len = strlen(w->errors);

	if (!e->err)
		return;
	if (!w->nerrors++)
		w->line = e->line;
	snprintf(w->errors + len, sizeof(w->errors) - len, "%u:%u: %s\n", e->line, e->col, e->text);
}

/* %d in the text is the port. */
static int apply(struct world *w, unsigned flags, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static int apply(struct world *w, unsigned flags, const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->errors[0] = 0;
	w->nerrors = w->line = 0;
	return lnet_control_config(w->c, text, strlen(text), flags, note, w);
}

/* The configuration as text; free() it. */
static char *state_of(struct world *w, unsigned flags)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_conf *c;
	char *text;

	lnc_lock(w->c);
	assert_int_equal(lnc_collect(w->c, flags, &c), 0);
	lnc_unlock(w->c);
	assert_int_equal(lnc_conf_export(c, d), 0);
	text = lnc_doc_yaml(d, NULL);
	assert_non_null(text);
	lnc_conf_free(c);
	lnc_doc_free(d);
	return text;
}

/* Nothing would have to be done to get from one to the other. (An NI that was removed and came back
 * stands behind the others.) */
static void same_state(struct world *w, const char *before)
{
	struct lnc_conf *a, *b;
	struct lnc_steps st;
	struct lnc_here h;
	char line[256], *now;

	lnc_schema_of(w->c, NULL, &h);
	assert_int_equal(lnc_conf_read(before, strlen(before), &h.s, 0, &a, NULL), 0);
	now = state_of(w, 0);
	assert_int_equal(lnc_conf_read(now, strlen(now), &h.s, 0, &b, NULL), 0);
	assert_int_equal(lnc_conf_diff(a, b, &h.s, &st), 0);
	if (st.n || strlen(now) != strlen(before))
		fail_msg("%s\n%s\n%s", st.n ? lnc_step_str(&st.v[0], line, sizeof(line)) : "",
		        before, now);
	lnc_steps_free(&st);
	lnc_conf_free(a);
	lnc_conf_free(b);
	free(now);
}

static const char base[] =
        "net:\n"
        "  - net type: tcp\n"
        "    accept: {policy: all, allow: [127.0.0.0/8]}\n"
        "    local NI(s):\n"
        "      - nid: " IP(2) "@tcp\n"
                              "        tunables: {peer_credits: 16}\n"
                              "        lnd tunables: {port: %d, conns_per_peer: 2}\n"
                              "      - nid: " IP(3) "@tcp\n"
                                                    "peer:\n"
                                                    "  - primary nid: 10.0.0.1@tcp\n"
                                                    "    peer ni: [{nid: 10.0.0.2@tcp}]\n"
                                                    "global: {retry_count: 3}\n"
                                                    "selftest: true\n"
                                                    "log: {level: info}\n";

static void test_applies(void **state)
{
	struct world *w = open_world();
	int64_t v;

	(void)state;
	if (apply(w, 0, base, w->port))
		fail_msg("%s", w->errors);
	assert_int_equal(lnet_global_get(w->n, "retry_count", &v), 0);
	assert_int_equal(v, 3);
	assert_int_equal(w->selftest_calls, 1);
	assert_int_equal(w->lv, LNET_LOG_INFO);
	char *a = state_of(w, 0);
	assert_non_null(strstr(a, IP(3)));
	assert_non_null(strstr(a, "10.0.0.2@tcp"));
	assert_non_null(strstr(a, "peer_credits: 16"));
	/* the same again changes nothing */
	assert_int_equal(apply(w, 0, base, w->port), 0);
	assert_int_equal(apply(w, LNET_CONFIG_REPLACE, base, w->port), 0);
	same_state(w, a);
	assert_int_equal(w->selftest_calls, 1);
	free(a);
	/* and away with it */
	assert_int_equal(apply(w, LNET_CONFIG_REPLACE, "# nothing\n"), 0);
	a = state_of(w, 0);
	assert_string_equal(a, "");
	free(a);
	close_world(w);
}

/* PORT in the text becomes the port. */
static void with_port(const struct world *w, const char *from, char *to, size_t size)
{
	const char *at = strstr(from, "PORT");

	assert_non_null(at);
	snprintf(to, size, "%.*s%d%s", (int)(at - from), from, w->port, at + 4);
}

/* Whatever the last step fails at, nothing of the others is left. */
static void test_rollback(void **state)
{
	static const char *const changes[] = {
	        /* more of everything */
	        "net: [{net type: tcp7, local NI(s): [{nid: " IP(
	                4) "@tcp7, lnd tunables: {port: PORT}}]}]\n"
	                   "peer: [{primary nid: 10.0.0.9@tcp}, {primary nid: 10.0.0.1@tcp, peer "
	                   "ni: [{nid: "
	                   "10.0.0.7@tcp}]}]\n"
	                   "global: {retry_count: 1, transaction_timeout: 20, numa_range: 5}\n"
	                   "selftest: false\n",
	        /* a tunable at run time, of an NI that stays */
	        "net: [{net type: tcp, local NI(s): [{nid: " IP(
	                2) "@tcp, lnd tunables: {port: PORT, "
	                   "conns_per_peer: 5, tos: 8}}]}]\nselftest: false\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world *w = open_world();
		char change[2048];
		with_port(w, changes[i], change, sizeof(change));
		assert_int_equal(apply(w, 0, base, w->port), 0);
		char *before = state_of(w, 0);
		w->fail_selftest = true;
		assert_int_equal(apply(w, 0, "%s", change), -EIO);
		assert_non_null(strstr(w->errors, "told to fail"));
		same_state(w, before);
		/* what the text leaves out is removed, and comes back */
		assert_int_equal(apply(w, LNET_CONFIG_REPLACE, "%s", change), -EIO);
		same_state(w, before);
		assert_int_equal(apply(w, LNET_CONFIG_REPLACE, "{}"), -EIO);
		same_state(w, before);
		w->fail_selftest = false;
		assert_int_equal(apply(w, 0, "%s", change), 0);
		free(before);
		close_world(w);
	}
}

/* An NI that cannot start: the port is taken. */
static void test_ni_fails(void **state)
{
	struct world *w = open_world();
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	inet_pton(AF_INET, IP(5), &a.sin_addr);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	char *before = state_of(w, 0);
	assert_int_equal(
	        apply(w, 0,
	                "global: {retry_count: 1}\n"
	                "net:\n - net type: tcp\n   local NI(s):\n"
	                "    - {nid: " IP(2) "@tcp, lnd tunables: {port: %d}}\n"
	                                     "    - {nid: " IP(
	                                             5) "@tcp}\n"
	                                                "peer: [{primary nid: 10.0.0.1@tcp}]\n",
	                w->port),
	        -EADDRINUSE);
	assert_non_null(strstr(w->errors, IP(5)));
	assert_int_equal(w->line, 6);
	same_state(w, before);
	free(before);
	close(fd);
	close_world(w);
}

/* Faults that are found before anything is touched. */
static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
		unsigned errors, line;
		const char *word;
	} t[] = {
	        {"foobar:\n", -EINVAL, 1, 1, "foobar"},
	        {"global: { discovery: , retry_count: two, transaction_timeout: -5 }\n", -EINVAL, 3,
	                1, "discovery"},
	        {"peer: [ { primary nid: 192.0.2.9@tcp, Multi-Rail: maybe } ]\n", -EINVAL, 1, 1,
	                "maybe"},
	        {"net: { net type: tcp }\n", -EINVAL, 1, 1, "list"},
	        {"net: [{net type: tcp, local NI(s): [{nid: 203.0.113.77@tcp}]}]", -EADDRNOTAVAIL,
	                1, 1, "203.0.113.77"},
	        {"net: [{net type: tcp, local NI(s): [{interfaces: {0: nosuchif0}}]}]", -ENODEV, 1,
	                1, "nosuchif0"},
	        {"net: [{net type: o2ib, local NI(s): [{interfaces: {0: lo}}]}]", -ENOENT, 1, 1,
	                "o2ib"},
	        {"route: [{net: tcp9, gateway: 10.0.0.1@tcp}]", -EOPNOTSUPP, 1, 1, "routes"},
	        {"routing: {enable: 1}", -EOPNOTSUPP, 1, 0, "routing"},
	        {"udsp: [{idx: 0, src: tcp, priority: 1}]", -EOPNOTSUPP, 1, 1, "udsp"},
	        {"global: {retry_count: 200}", -EINVAL, 1, 0, "transaction_timeout"},
	        {"net:\n - net type: tcp\n   local NI(s):\n    - nid: " IP(
	                 2) "@tcp\n      lnd tunables: {conns_per_peer: 128}\n",
	                -ERANGE, 1, 5, "128"},
	        {"net:\n - net type: tcp\n   local NI(s):\n    - nid: " IP(
	                 2) "@tcp\n      lnd tunables: {nosuch: 1}\n",
	                -EINVAL, 1, 5, "nosuch"},
	        {"ip2nets: [{net-spec: tcp, ip-range: {0: 203.0.113.1}}]", -ENOENT, 1, 0,
	                "No ip2nets rules applied"},
	        {"a: b: c", -EINVAL, 1, 1, ""},
	};
	struct world *w = open_world();
	char *before = state_of(w, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		for (unsigned flags = 0; flags <= LNET_CONFIG_REPLACE;
		        flags += LNET_CONFIG_REPLACE) {
			int rc = apply(w, flags, "%s", t[i].text);
			if (rc >= 0 || w->nerrors != t[i].errors || !strstr(w->errors, t[i].word) ||
			        (t[i].line && w->line != t[i].line))
				fail_msg("%s: %d, %u errors, line %u: %s", t[i].text, rc,
				        w->nerrors, w->line, w->errors);
			assert_int_equal(rc, t[i].rc);
			same_state(w, before);
		}
	}
	free(before);
	close_world(w);
}

static void test_check_changes_nothing(void **state)
{
	struct world *w = open_world();
	char *before = state_of(w, 0);

	(void)state;
	assert_int_equal(apply(w, LNET_CONFIG_CHECK, base, w->port), 0);
	assert_int_equal(apply(w, LNET_CONFIG_CHECK | LNET_CONFIG_REPLACE, base, w->port), 0);
	same_state(w, before);
	assert_int_equal(
	        apply(w, LNET_CONFIG_DELETE | LNET_CONFIG_REPLACE, base, w->port), -EINVAL);
	assert_int_equal(apply(w, 0x80, base, w->port), -EINVAL);
	free(before);
	close_world(w);
}

static void test_delete(void **state)
{
	struct world *w = open_world();

	(void)state;
	assert_int_equal(apply(w, 0, base, w->port), 0);
	assert_int_equal(apply(w, LNET_CONFIG_DELETE,
	                         "net: [{net type: tcp, local NI(s): [{nid: " IP(
	                                 3) "@tcp}]}]\n"
	                                    "peer: [{primary nid: 10.0.0.1@tcp, peer ni: [{nid: "
	                                    "10.0.0.2@tcp}]}]\n"
	                                    "global: {retry_count: }\n"),
	        0);
	char *now = state_of(w, 0);
	assert_null(strstr(now, IP(3)));
	assert_non_null(strstr(now, IP(2)));
	assert_non_null(strstr(now, "10.0.0.1@tcp"));
	assert_null(strstr(now, "10.0.0.2@tcp"));
	assert_null(strstr(now, "retry_count"));
	free(now);
	now = state_of(w, 0);
	assert_int_equal(apply(w, LNET_CONFIG_DELETE, "net: [{net type: tcp9}]\n"), -ENOENT);
	assert_int_equal(apply(w, LNET_CONFIG_DELETE,
	                         "peer: [{primary nid: 10.0.0.77@tcp}]\nnet: [{net type: tcp}]\n"),
	        -ENOENT);
	same_state(w, now);
	free(now);
	close_world(w);
}

struct since {
	struct lnet_nid nid;
	uint64_t at;
	unsigned found;
};

static int since_one(void *arg, const struct lnet_ni_info *i)
{
	struct since *s = arg;

	if (lnet_nid_eq(&s->nid, &i->nid)) {
		s->at = i->stats[0];
		s->found++;
	}
	return 0;
}

/* A locked peer: a plain deletion is refused, a replacement goes through. */
static void test_locked(void **state)
{
	struct world *w = open_world();
	static const char text[] = "peer: [{primary nid: 10.0.0.1@tcp, lock primary: true}]\n";

	(void)state;
	assert_int_equal(apply(w, 0, text), 0);
	assert_int_equal(apply(w, LNET_CONFIG_DELETE, text), -EBUSY);
	char *now = state_of(w, 0);
	assert_non_null(strstr(now, "lock primary"));
	free(now);
	assert_int_equal(apply(w, LNET_CONFIG_REPLACE, "{}"), 0);
	now = state_of(w, 0);
	assert_string_equal(now, "");
	free(now);
	close_world(w);
}

/* Without a control object. */
static void test_apply_alone(void **state)
{
	struct world *w = open_world();
	char text[1024];
	struct since s = {.found = 0};

	(void)state;
	snprintf(text, sizeof(text), base, w->port);
	assert_int_equal(lnet_config_apply(w->n, text, strlen(text), 0, note, w), 0);
	lnet_nid_parse(IP(2) "@tcp", strlen(IP(2) "@tcp"), &s.nid, NULL);
	lnet_ni_each(w->n, since_one, &s);
	assert_int_equal(s.found, 1);
	assert_int_equal(w->selftest_calls, 0);
	assert_int_equal(lnet_config_apply(w->n, "net: 5", 6, 0, note, w), -EINVAL);
	close_world(w);
}

/* ---- export and import --------------------------------------------------------------------- */

static unsigned pick(struct prng *p, unsigned n)
{
	return prng_below(p, n);
}

static void add(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + len, size - len, fmt, ap);
	va_end(ap);
}

/* Any configuration that this host can have. */
static void generate(struct prng *p, int port, char *t, size_t size)
{
	unsigned nets = pick(p, 3), peers = pick(p, 4), ni = 2;

	*t = 0;
	if (nets)
		add(t, size, "net:\n");
	for (unsigned n = 0; n < nets; n++) {
		unsigned nis = 1 + pick(p, 2);
		add(t, size, "  - net type: tcp%u\n", n * 7);
		if (pick(p, 2))
			add(t, size, "    accept: {policy: %s%s}\n", pick(p, 2) ? "all" : "none",
			        pick(p, 2) ? ", allow: [127.0.0.0/8, 10.0.0.1]" : "");
		add(t, size, "    local NI(s):\n");
		for (unsigned i = 0; i < nis; i++, ni++) {
			add(t, size, "      - nid: 127.0.91.%u@tcp%u\n", ni, n * 7);
			if (pick(p, 2))
				add(t, size, "        interfaces: {0: lo}\n");
			add(t, size, "        lnd tunables: {port: %d", port);
			if (pick(p, 2))
				add(t, size, ", conns_per_peer: %u", pick(p, 128));
			if (pick(p, 2))
				add(t, size, ", tos: %d", (int)pick(p, 257) - 1);
			if (pick(p, 2))
				add(t, size, ", nagle: %s", pick(p, 2) ? "true" : "0");
			add(t, size, "}\n");
			if (pick(p, 2))
				add(t, size, "        tunables: {peer_timeout: %d, credits: %u}\n",
				        (int)pick(p, 300) - 1, 1 + pick(p, 1000));
			if (pick(p, 3) == 0)
				add(t, size, "        CPT: \"[0]\"\n");
		}
	}
	if (peers)
		add(t, size, "peer:\n");
	for (unsigned i = 0; i < peers; i++) {
		add(t, size, "  - primary nid: 10.1.%u.1@tcp\n", i);
		if (pick(p, 2))
			add(t, size, "    Multi-Rail: %s\n", pick(p, 2) ? "True" : "false");
		if (pick(p, 4) == 0)
			add(t, size, "    lock primary: true\n");
		if (pick(p, 2))
			add(t, size, "    peer ni: [{nid: \"10.2.%u.[1-%u]@tcp%u\"}]\n", i,
			        1 + pick(p, 9), pick(p, 3));
	}
	if (pick(p, 2))
		add(t, size, "global: {retry_count: %u, discovery: %u, health_sensitivity: %u}\n",
		        pick(p, 5), pick(p, 2), 1 + pick(p, 1000));
	if (pick(p, 2))
		add(t, size, "selftest: %s\n", pick(p, 2) ? "true" : "false");
	if (pick(p, 2))
		add(t, size, "log: {level: %s}\n", pick(p, 2) ? "debug" : "warn");
}

static char *empty_state(void)
{
	struct world *w = open_world();
	char *text = state_of(w, LNC_COLLECT_EFFECTIVE);

	close_world(w);
	return text;
}

/* export > A; a new node; import A; export > B: A = B. Then import --del A leaves nothing. */
static void test_round_trip(void **state)
{
	uint64_t seed = tl_seed();
	unsigned rounds = tl_scaled(40, 8);
	char text[16384], *empty = empty_state();
	struct prng p;

	(void)state;
	print_message("# ULNET_SEED=%llu\n", (unsigned long long)seed);
	p.s = seed;
	for (unsigned i = 0; i < rounds; i++) {
		struct world *w = open_world();
		generate(&p, w->port, text, sizeof(text));
		if (apply(w, 0, "%s", text))
			fail_msg("%s\n%s", text, w->errors);
		char *a = state_of(w, LNC_COLLECT_EFFECTIVE), *set = state_of(w, 0);
		close_world(w);
		for (int form = 0; form < 2; form++) {
			char *from = form ? a : set;
			w = open_world();
			if (apply(w, 0, "%s", from))
				fail_msg("%s\n%s", from, w->errors);
			char *b = state_of(w, form ? LNC_COLLECT_EFFECTIVE : 0);
			assert_string_equal(from, b);
			free(b);
			/* twice makes no difference, nor does a replacement */
			assert_int_equal(apply(w, 0, "%s", from), 0);
			assert_int_equal(apply(w, LNET_CONFIG_REPLACE, "%s", from), 0);
			b = state_of(w, form ? LNC_COLLECT_EFFECTIVE : 0);
			assert_string_equal(from, b);
			free(b);
			if (!strstr(from, "lock primary")) {
				if (apply(w, LNET_CONFIG_DELETE, "%s", from))
					fail_msg("%s\n%s", from, w->errors);
				b = state_of(w, LNC_COLLECT_EFFECTIVE);
				assert_string_equal(empty, b);
				free(b);
			}
			close_world(w);
		}
		free(a);
		free(set);
	}
	free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_applies),
	        cmocka_unit_test(test_rollback), cmocka_unit_test(test_ni_fails),
	        cmocka_unit_test(test_refused), cmocka_unit_test(test_check_changes_nothing),
	        cmocka_unit_test(test_delete), cmocka_unit_test(test_locked),
	        cmocka_unit_test(test_apply_alone), cmocka_unit_test(test_round_trip)};

	return cmocka_run_group_tests_name("configure", tests, NULL, NULL);
}
