/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding, deleting, and the steps between two configurations. */
#include "unit/conf_model.h"

#include <errno.h>

#define CASES 300

/* retry_count below transaction_timeout, and 0 without health, after each step */
static void m_globals_legal(const struct model *m)
{
	long long retry = 2, timeout = 150, health = 100;

	for (unsigned i = 0; i < m->n; i++) {
		sscanf(m->line[i], "set retry_count %lld", &retry);
		sscanf(m->line[i], "set transaction_timeout %lld", &timeout);
		sscanf(m->line[i], "set health_sensitivity %lld", &health);
	}
	assert_true(timeout > retry);
	assert_true(health > 0 || retry == 0);
}

/* The steps lead from a to b, and undone from b to a. */
static unsigned walk(const struct lnc_conf *a, const struct lnc_conf *b, unsigned seed)
{
	struct model now, want;
	struct lnc_steps st;
	unsigned n;

	assert_int_equal(lnc_conf_diff(a, b, &t_schema, &st), 0);
	n = st.n;
	m_build(&now, a);
	for (unsigned i = 0; i < st.n; i++) {
		m_step(&now, &st.v[i]);
		m_globals_legal(&now);
	}
	m_build(&want, b);
	m_same(&now, &want, seed);
	m_free(&want);
	for (unsigned i = st.n; i-- > 0;) {
		struct lnc_step u = lnc_step_undo(&st.v[i]);

		m_step(&now, &u);
	}
	m_build(&want, a);
	m_same(&now, &want, seed);
	m_free(&want);
	m_free(&now);
	lnc_steps_free(&st);
	return n;
}

static void steps_by_chance(void **state)
{
	unsigned steps = 0;

	(void)state;
	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct lnc_conf *a = g_conf(seed, false), *b = g_conf(seed + 7, false);
		struct lnc_conf *none = lnc_conf_new();

		assert_int_equal(walk(a, a, seed), 0);
		steps += walk(a, b, seed);
		walk(none, a, seed);
		walk(a, none, seed);
		lnc_conf_free(none);
		lnc_conf_free(a);
		lnc_conf_free(b);
	}
	assert_true(steps > 10 * CASES);
}

/* ---- single differences -------------------------------------------------------------------------
 */

static void steps_are(const char *from, const char *to, const char *const *want)
{
	struct lnc_conf *a = t_read(from), *b = t_read(to);
	struct lnc_steps st;
	char text[256];
	unsigned n = 0;

	assert_int_equal(lnc_conf_diff(a, b, &t_schema, &st), 0);
	for (; want[n]; n++) {
		assert_true(n < st.n);
		assert_string_equal(lnc_step_str(&st.v[n], text, sizeof(text)), want[n]);
	}
	assert_int_equal(st.n, n);
	lnc_steps_free(&st);
	lnc_conf_free(a);
	lnc_conf_free(b);
}

#define NI(rest)   "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp" rest "}]}]\n"
#define STEPS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void single_steps(void **state)
{
	(void)state;
	steps_are(NI(""), NI(""), (const char *const[]){NULL});
	/* the running node knows both names, the file one */
	steps_are(NI(", interfaces: {0: e}"), NI(""), (const char *const[]){NULL});
	steps_are(NI(", lnd tunables: {tos: 1}"), NI(", lnd tunables: {tos: 2}"),
	        STEPS("set tos 2 of 10.0.0.1@tcp"));
	steps_are(NI(", lnd tunables: {tos: 1}"), NI(""), STEPS("unset tos of 10.0.0.1@tcp"));
	steps_are(NI(", lnd tunables: {port: 1}"), NI(", lnd tunables: {port: 2}"),
	        STEPS("delete 10.0.0.1@tcp", "add 10.0.0.1@tcp"));
	steps_are(NI(", tunables: {credits: 1}"), NI(""),
	        STEPS("delete 10.0.0.1@tcp", "add 10.0.0.1@tcp"));
	steps_are(NI(", CPT: [0]"), NI(""), STEPS("delete 10.0.0.1@tcp", "add 10.0.0.1@tcp"));
	steps_are("net: [{net type: tcp, accept: {policy: all}, local NI(s): [{interfaces: {0: "
	          "e}}]}]\n",
	        "net: [{net type: tcp, accept: {policy: none}, local NI(s): [{interfaces: {0: "
	        "e}}]}]\n",
	        STEPS("change who may connect on net tcp"));
	steps_are("global: {retry_count: 140}\n",
	        "global: {retry_count: 4, transaction_timeout: 5}\n",
	        STEPS("set retry_count 4", "set transaction_timeout 5"));
	steps_are("global: {retry_count: 4, transaction_timeout: 5}\n",
	        "global: {retry_count: 140}\n",
	        STEPS("unset transaction_timeout", "set retry_count 140"));
	steps_are("peer: [{primary nid: 1.1.1.1@tcp, peer ni: [{nid: 1.1.1.2@tcp}]},"
	          " {primary nid: 1.1.2.1@tcp}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp},"
	        " {primary nid: 1.1.2.1@tcp, peer ni: [{nid: 1.1.1.2@tcp}]}]\n",
	        STEPS("delete NID 1.1.1.2@tcp of peer 1.1.1.1@tcp",
	                "add NID 1.1.1.2@tcp of peer 1.1.2.1@tcp"));
	steps_are("peer: [{primary nid: 1.1.1.1@tcp}]\n",
	        "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: false}]\n",
	        STEPS("delete peer 1.1.1.1@tcp", "add peer 1.1.1.1@tcp"));
	steps_are("route: [{net: tcp1, gateway: 1.1.1.1@tcp}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 2}]\n",
	        STEPS("delete route to tcp1 by 1.1.1.1@tcp", "add route to tcp1 by 1.1.1.1@tcp"));
	steps_are("udsp: [{src: tcp}, {src: tcp1}]\n",
	        "udsp: [{src: tcp}, {src: tcp2}, {src: tcp1}]\n",
	        STEPS("delete rule 1", "add rule 1", "add rule 2"));
	steps_are("",
	        "control: {mode: 600}\nlog: {level: err}\nselftest: true\nrouting: {enable: 1}\n"
	        "buffers: {tiny: 5}\n",
	        STEPS("set tiny_buffers 5", "set routing 1", "set selftest 1",
	                "change the control socket", "change the log"));
}

/* ---- add ----------------------------------------------------------------------------------------
 */

typedef int merge_fn(const struct lnc_conf *, const struct lnc_conf *, const struct lnc_schema *,
        struct lnc_conf **, struct lnc_errs *);

static struct lnc_conf *merged(
        merge_fn *fn, unsigned flags, const char *base, const char *change, unsigned notices)
{
	struct lnc_conf *a = t_read(base), *b = t_read_flags(change, flags), *out = NULL;
	struct lnc_errs e;

	lnc_errs_init(&e, NULL);
	if (fn(a, b, &t_schema, &out, &e)) {
		t_fail_errs(&e, change);
		fail();
	}
	assert_int_equal(e.notices, notices);
	lnc_errs_free(&e);
	lnc_conf_free(a);
	lnc_conf_free(b);
	return out;
}

static void merge_is(merge_fn *fn, unsigned flags, const char *base, const char *change,
        unsigned notices, const char *want)
{
	struct lnc_conf *out = merged(fn, flags, base, change, notices), *w = t_read(want);

	if (!lnc_conf_equal(out, w)) {
		char *text = t_yaml(out);

		print_error("%s+ %s= %s\n", base, change, text);
		fail();
	}
	lnc_conf_free(out);
	lnc_conf_free(w);
}

static void merge_refused(merge_fn *fn, unsigned flags, const char *base, const char *change,
        int code, const char *want)
{
	struct lnc_conf *a = t_read(base), *b = t_read_flags(change, flags), *out = a;
	struct lnc_errs e;
	int rc;

	lnc_errs_init(&e, NULL);
	rc = fn(a, b, &t_schema, &out, &e);
	if (rc != code || !e.n || !strstr(e.v[0].msg, want)) {
		t_fail_errs(&e, change);
		print_error("rc %d, wanted %d with '%s'\n", rc, code, want);
		fail();
	}
	assert_ptr_equal(out, a);
	assert_true(e.v[0].line > 0 || code == -E2BIG);
	lnc_errs_free(&e);
	lnc_conf_free(a);
	lnc_conf_free(b);
}

static void adding(void **state)
{
	static const char two[] =
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp}, {nid: 10.0.0.2@tcp}]}]\n";

	(void)state;
	merge_is(lnc_conf_add, 0, "", two, 0, two);
	merge_is(lnc_conf_add, 0, two, "", 0, two);
	merge_is(lnc_conf_add, 0, NI(""),
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.2@tcp}]}]\n", 0, two);
	/* the same again is no error */
	merge_is(lnc_conf_add, 0, two, two, 2, two);
	merge_is(lnc_conf_add, 0, NI(", interfaces: {0: e}, tunables: {credits: 3}"), NI(""), 1,
	        NI(", interfaces: {0: e}, tunables: {credits: 3}"));
	merge_is(lnc_conf_add, 0, NI(", lnd tunables: {tos: 1}"),
	        NI(", lnd tunables: {tos: 2, conns_per_peer: 3}"), 0,
	        NI(", lnd tunables: {tos: 2, conns_per_peer: 3}"));
	merge_refused(lnc_conf_add, 0, NI(", tunables: {credits: 3}"),
	        NI(", tunables: {credits: 4}"), -EEXIST,
	        "10.0.0.1@tcp is configured with another credits");
	merge_refused(lnc_conf_add, 0, NI(", interfaces: {0: e}"), NI(", interfaces: {0: f}"),
	        -EEXIST, "on interface 'e'");
	merge_refused(lnc_conf_add, 0, NI(", CPT: [0]"), NI(", CPT: [1]"), -EEXIST, "with CPT [0]");
	merge_refused(lnc_conf_add, 0, NI(", lnd tunables: {port: 9}"),
	        NI(", lnd tunables: {port: 8}"), -EEXIST, "with port 9");
	/* a further NI takes the net's port, or must agree */
	merge_is(lnc_conf_add, 0, NI(", lnd tunables: {port: 9}"),
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.2@tcp}]}]\n", 0,
	        "net: [{net type: tcp, lnd tunables: {port: 9}, local NI(s): [{nid: 10.0.0.1@tcp}, "
	        "{nid: 10.0.0.2@tcp}]}]\n");
	merge_refused(lnc_conf_add, 0, NI(", lnd tunables: {port: 9}"),
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.2@tcp, lnd tunables: {port: "
	        "8}}]}]\n",
	        -EINVAL, "one value for the whole net");
	merge_is(lnc_conf_add, 0, "global: {retry_count: 5}\n",
	        "global: {transaction_timeout: 6, retry_count: 3}\n", 0,
	        "global: {retry_count: 3, transaction_timeout: 6}\n");
	merge_refused(lnc_conf_add, 0, "global: {transaction_timeout: 5, retry_count: 2}\n",
	        "global: {retry_count: 7}\n", -EINVAL, "must be greater");
	merge_is(lnc_conf_add, 0, "udsp: [{idx: 0, src: tcp}, {idx: 1, src: tcp1}]\n",
	        "udsp: [{idx: 1, src: tcp2}, {src: tcp3}]\n", 0,
	        "udsp: [{idx: 0, src: tcp}, {idx: 1, src: tcp2}, {idx: 2, src: tcp1}, {idx: 3, "
	        "src: tcp3}]\n");
	merge_is(lnc_conf_add, 0,
	        "selftest: true\ncontrol: {mode: 600}\nlog: {to: stderr}\nbuffers: {tiny: 1}\n",
	        "control: {group: g}\nlog: {level: err}\nbuffers: {large: 2}\n", 0,
	        "selftest: true\ncontrol: {mode: 600, group: g}\nlog: {to: stderr, level: err}\n"
	        "buffers: {tiny: 1, large: 2}\n");
	merge_is(lnc_conf_add, 0, "ip2nets: [{net-spec: tcp}]\n", "ip2nets: [{net-spec: tcp1}]\n",
	        0, "ip2nets: [{net-spec: tcp}, {net-spec: tcp1}]\n");
}

#define PEER(nids) "peer: [{primary nid: 1.1.1.1@tcp, peer ni: [" nids "]}]\n"

static void adding_peers_and_routes(void **state)
{
	(void)state;
	merge_is(lnc_conf_add, 0, PEER("{nid: 1.1.1.2@tcp}"),
	        PEER("{nid: 1.1.1.2@tcp}, {nid: 1.1.1.3@tcp}"), 0,
	        PEER("{nid: 1.1.1.2@tcp}, {nid: 1.1.1.3@tcp}"));
	merge_is(lnc_conf_add, 0, "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: false}]\n",
	        PEER("{nid: 1.1.1.2@tcp}"), 0,
	        "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: false, peer ni: [{nid: "
	        "1.1.1.2@tcp}]}]\n");
	merge_is(lnc_conf_add, 0, PEER(""),
	        "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: False}]\n", 0,
	        "peer: [{primary nid: 1.1.1.1@tcp, Multi-Rail: false}]\n");
	/* the secondary belongs to another, our own NID, too many */
	merge_refused(lnc_conf_add, 0, PEER("{nid: 1.1.1.2@tcp}"),
	        "peer: [{primary nid: 2.2.2.2@tcp, peer ni: [{nid: 1.1.1.2@tcp}]}]\n", -EEXIST,
	        "belongs to two peers");
	merge_refused(lnc_conf_add, 0, NI(""), "peer: [{primary nid: 10.0.0.1@tcp}]\n", -EINVAL,
	        "our own NID");
	merge_refused(lnc_conf_add, 0, PEER("{nid: '1.1.2.[1-100]@tcp'}"),
	        PEER("{nid: '1.1.3.[1-100]@tcp'}"), -E2BIG, "201 NIDs, at most 128");
	merge_is(lnc_conf_add, 0, "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 2}]\n",
	        "route: [{net: tcp1, gateway: '1.1.1.[1-2]@tcp'}]\n", 1,
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 2}, {net: tcp1, gateway: "
	        "1.1.1.2@tcp}]\n");
	merge_refused(lnc_conf_add, 0, "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 2}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.1@tcp, hop: 3}]\n", -EEXIST,
	        "with another hop");
}

/* ---- delete -------------------------------------------------------------------------------------
 */

static void del_is(const char *base, const char *change, const char *want)
{
	merge_is(lnc_conf_del, LNC_PARSE_DEL, base, change, 0, want);
}

static void del_refused(const char *base, const char *change, int code, const char *want)
{
	merge_refused(lnc_conf_del, LNC_PARSE_DEL, base, change, code, want);
}

static void deleting(void **state)
{
	static const char two[] =
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp, interfaces: {0: e}}, "
	        "{nid: 10.0.0.2@tcp, interfaces: {0: f}}]}, "
	        "{net type: tcp1, local NI(s): [{interfaces: {0: e}}]}]\n";

	(void)state;
	del_is(two, "net: [{net type: tcp}]\n",
	        "net: [{net type: tcp1, local NI(s): [{interfaces: {0: e}}]}]\n");
	del_is(two,
	        "net: [{net type: tcp}, {net type: tcp1, local NI(s): [{interfaces: {0: e}}]}]\n",
	        "");
	del_is(two,
	        "net: [{net type: tcp, local NI(s): [{interfaces: {0: e}}]}, {net type: tcp1}]\n",
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.2@tcp, interfaces: {0: f}}]}]\n");
	del_is(NI(""), NI(""), "");
	del_refused(two, "net: [{net type: tcp9}]\n", -ENOENT, "there is no net tcp9");
	del_refused(two, "net: [{net type: tcp, local NI(s): [{interfaces: {0: g}}]}]\n", -ENOENT,
	        "there is no local NI tcp(g)");
	del_refused(two,
	        "net: [{net type: tcp, local NI(s): [{nid: 10.0.0.1@tcp, interfaces: {0: f}}]}]\n",
	        -ENOENT, "there is no local NI 10.0.0.1@tcp");
	del_is("global: {retry_count: 3, discovery: 0, numa_range: 4}\nselftest: true\nrouting: "
	       "{enable: 1}\n"
	       "buffers: {tiny: 4}\ncontrol: {mode: 600, group: g}\nlog: {level: err, to: "
	       "stderr}\n",
	        "global: {discovery: , recovery_limit: }\nselftest:\nrouting: {enable: 1}\nnuma: "
	        "{range: }\n"
	        "control: {group: }\nlog: {level: }\n",
	        "global: {retry_count: 3}\nbuffers: {tiny: 4}\ncontrol: {mode: 600}\nlog: {to: "
	        "stderr}\n");
	del_is("udsp: [{src: tcp}, {src: tcp1}, {dst: tcp2}]\n", "udsp: [{idx: 0}, {dst: tcp2}]\n",
	        "udsp: [{idx: 0, src: tcp1}]\n");
	del_refused("udsp: [{src: tcp}]\n", "udsp: [{idx: 1}]\n", -ENOENT, "no such rule");
	del_is("route: [{net: tcp1, gateway: '1.1.1.[1-3]@tcp'}]\n",
	        "route: [{net: tcp1, gateway: '1.1.1.[1-2]@tcp'}]\n",
	        "route: [{net: tcp1, gateway: 1.1.1.3@tcp}]\n");
	del_refused("route: [{net: tcp1, gateway: 1.1.1.1@tcp}]\n",
	        "route: [{net: tcp2, gateway: 1.1.1.1@tcp}]\n", -ENOENT,
	        "there is no route to tcp2 by 1.1.1.1@tcp");
}

static void deleting_peers(void **state)
{
	static const char base[] = PEER("{nid: 1.1.1.2@tcp}, {nid: 1.1.1.3@tcp}");
	static const char gw[] =
	        PEER("{nid: 1.1.1.2@tcp}") "route: [{net: tcp1, gateway: 1.1.1.2@tcp}]\n";

	(void)state;
	del_is(base, PEER("{nid: 1.1.1.2@tcp}"), PEER("{nid: 1.1.1.3@tcp}"));
	del_is(base, PEER(""), "");
	del_is(base, PEER("{nid: 1.1.1.2@tcp}, {nid: 1.1.1.1@tcp}"), "");
	del_refused(base, PEER("{nid: 1.1.1.9@tcp}"), -ENOENT, "has no NID 1.1.1.9@tcp");
	del_refused(base, "peer: [{primary nid: 1.1.1.2@tcp}]\n", -ENOENT,
	        "no peer with the primary nid 1.1.1.2@tcp");
	del_refused(gw, PEER(""), -EBUSY, "1.1.1.2@tcp is the gateway of a route");
	del_refused(gw, PEER("{nid: 1.1.1.2@tcp}"), -EBUSY, "gateway");
	del_is(gw, gw, PEER("")); /* routes go first */
}

/* Export, then delete what was exported: nothing is left. Add it to nothing: all is there. */
static void delete_everything(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct lnc_conf *a = g_conf(seed, false), *b, *none = lnc_conf_new(), *out;
		char *text = t_yaml(a);
		struct lnc_errs e;

		lnc_errs_init(&e, NULL);
		b = t_read_flags(text, LNC_PARSE_DEL);
		if (lnc_conf_del(a, b, &t_schema, &out, &e)) {
			t_fail_errs(&e, text);
			fail();
		}
		if (!lnc_conf_is_empty(out)) {
			print_error("seed %u:\n%s\nleaves\n%s\n", seed, text, t_yaml(out));
			fail();
		}
		lnc_conf_free(out);
		lnc_conf_free(b);
		b = t_read(text);
		assert_int_equal(lnc_conf_add(none, b, &t_schema, &out, &e), 0);
		for (unsigned i = 0; i < a->nudsp; i++)
			assert_int_equal(out->udsp[i].idx, (int)i);
		assert_true(lnc_conf_equal(out, a));
		lnc_conf_free(out);
		lnc_conf_free(b);
		lnc_conf_free(none);
		lnc_conf_free(a);
		lnc_errs_free(&e);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(steps_by_chance),
	        cmocka_unit_test(single_steps),
	        cmocka_unit_test(adding),
	        cmocka_unit_test(adding_peers_and_routes),
	        cmocka_unit_test(deleting),
	        cmocka_unit_test(deleting_peers),
	        cmocka_unit_test(delete_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
