/* SPDX-License-Identifier: BSD-2-Clause */
/* Which way is better: each criterion decides alone, in its order; and the order is total. */
#include "core_fixture.h"

#include "lib/prng.h"
#include "lnet/route/select.h"

static const struct lni_cand base = {.up = true,
        .health = 500,
        .priority = 5,
        .distance = 5,
        .finish = 500,
        .credits = 5,
        .seq = 5};

static void better(struct lni_cand a, struct lni_cand b)
{
	assert_true(lni_cand_cmp(&a, &b) < 0);
	assert_true(lni_cand_cmp(&b, &a) > 0);
}

/* Better in one thing, worse in all that come after it. */
static void each_criterion(void **state)
{
	struct lni_cand a = base, b = base;

	(void)state;
	assert_int_equal(lni_cand_cmp(&a, &b), 0);
	a.seq = 4;
	better(a, b);
	a.seq = 6;
	a.credits = 6;
	better(a, b);
	a.credits = 4;
	a.finish = 499;
	better(a, b);
	a.finish = 501;
	a.distance = 4;
	better(a, b);
	a.distance = 6;
	a.priority = 4;
	better(a, b);
	a.priority = 6;
	a.health = 501;
	better(a, b);
	a.health = 499;
	b.up = false;
	better(a, b);
}

static void extremes(void **state)
{
	struct lni_cand a = base, b = base;

	(void)state;
	a.credits = INT32_MAX;
	b.credits = INT32_MIN;
	better(a, b);
	a = b = base;
	b.seq = UINT64_MAX;
	a.seq = 0;
	better(a, b);
	a = b = base;
	b.finish = UINT64_MAX;
	better(a, b);
	a = b = base;
	b.priority = UINT32_MAX;
	a.priority = 0;
	better(a, b);
	/* a score of 0 still is a path: better than one that is down */
	a = b = base;
	a.health = 0;
	b.health = 1000;
	b.up = false;
	better(a, b);
}

static struct lni_cand any(struct prng *r)
{
	return (struct lni_cand){.up = prng_below(r, 2),
	        .health = (int)prng_below(r, 3) * 500,
	        .priority = prng_below(r, 2),
	        .distance = prng_below(r, 2),
	        .finish = prng_below(r, 3),
	        .credits = (int32_t)prng_below(r, 3) - 1,
	        .seq = prng_below(r, 3)};
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void total_order(void **state)
{
	struct prng r = {tl_seed()};
	unsigned rounds = tl_scaled(200000, 20000);

	(void)state;
	print_message("seed %llu\n", (unsigned long long)r.s);
	for (unsigned i = 0; i < rounds; i++) {
		struct lni_cand a = any(&r), b = any(&r), c = any(&r);
		int ab = lni_cand_cmp(&a, &b), bc = lni_cand_cmp(&b, &c);

		assert_int_equal(lni_cand_cmp(&a, &a), 0);
		assert_int_equal(sign(ab), -sign(lni_cand_cmp(&b, &a)));
		if (ab <= 0 && bc <= 0)
			assert_true(lni_cand_cmp(&a, &c) <= 0);
		if (ab == 0)
			assert_int_equal(sign(bc), sign(lni_cand_cmp(&a, &c)));
	}
}

static void best_of_many(void **state)
{
	struct prng r = {tl_seed()};

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		struct lni_cand c[16];
		unsigned n = prng_below(&r, 16) + 1, best;

		for (unsigned k = 0; k < n; k++)
			c[k] = any(&r);
		best = lni_cand_best(c, n);
		for (unsigned k = 0; k < n; k++) {
			assert_true(lni_cand_cmp(&c[best], &c[k]) <= 0);
			if (k < best) /* the first among equals */
				assert_true(lni_cand_cmp(&c[best], &c[k]) < 0);
		}
	}
}

/* ---- the gathering of candidates ------------------------------------------------------------- */

static const char *source_of(struct core *c, unsigned i)
{
	static char text[LNET_NIDSTR_MAX];

	return lnet_nid_str(&fl_tx(&c->f, i)->hdr.src_nid, text, sizeof(text));
}

static void interfaces_in_turn(void **state)
{
	struct core *c = *state;
	struct lnet_nid second = fl_nid("10.0.0.11@tcp"), first = fl_nid(ME_NID);
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	unsigned mine = 0;

	fl_ni(c->n, "10.0.0.11@tcp", NULL);
	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
	for (unsigned i = 0; i < 6; i++)
		core_put(c, 10, 0);
	for (unsigned i = 0; i < 6; i++)
		mine += !strcmp(source_of(c, i), ME_NID);
	assert_int_equal(mine, 3);
	fl_all_done(c->n, &c->f);
	/* named */
	a.source = second;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(source_of(c, i), "10.0.0.11@tcp");
	fl_all_done(c->n, &c->f);
	/* a lower score is not used while there is a better one */
	assert_int_equal(lnet_ni_set_health(c->n, &second, 900), 0);
	for (unsigned i = 0; i < 3; i++)
		core_put(c, 10, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_string_equal(source_of(c, i), ME_NID);
	fl_all_done(c->n, &c->f);
	/* down comes after any score, and the last path is used whatever it is */
	assert_int_equal(lnet_ni_set_health(c->n, &first, 0), 0);
	core_put(c, 10, 0);
	assert_string_equal(source_of(c, 0), "10.0.0.11@tcp");
	fl_all_done(c->n, &c->f);
	assert_int_equal(lnet_ni_set_health(c->n, &second, 0), 0);
	core_put(c, 10, 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 14);
}

/* Known by a NID of a net that we are not on, and by one of a net that we are on. */
static void by_another_nid(void **state)
{
	static const unsigned loops[] = {1, 4};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct lnet_nid nids[] = {fl_nid("1.2.3.4@o2ib"), fl_nid(PEER_NID)};
		struct lnet_opts o;
		struct iovec iov;
		struct lnet_op_args a;
		struct core *c;

		lnet_opts_init(&o, sizeof(o));
		o.loops = loops[k];
		c = core_with(NULL, &o);
		a = core_args(c, &iov, 10);
		a.target = nids[0];
		assert_int_equal(lnet_put(c->n, &a, NULL), -EHOSTUNREACH);
		assert_int_equal(lnet_peer_add(c->n, nids, nids, 2, true, false, NULL), 0);
		assert_int_equal(lnet_put(c->n, &a, NULL), 0);
		assert_true(lnet_nid_eq(&fl_tx(&c->f, 0)->hdr.dest_nid, &nids[1]));
		fl_all_done(c->n, &c->f);
		fl_turns(c->n);
		assert_int_equal(c->s.finals, 1);
		assert_true(lnet_nid_eq(&c->s.ev[0].target, &nids[0]));
		core_free(c, 0);
	}
}

/* Local NIDs go through lo, with source and destination kept. */
static void local_nids(void **state)
{
	struct core *c = *state;
	struct target t = {.portal = 20, .ignore = UINT64_MAX, .threshold = LNET_MD_THRESH_INF};
	struct lnet_nid me = fl_nid(ME_NID), second = fl_nid("10.1.0.1@tcp1");
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
	t.buf = c->buf;
	t.len = sizeof(c->buf);
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	a.target = second;
	a.source = me;
	assert_int_equal(lnet_put_wait(c->n, &a, NULL), 0);
	fl_turns(c->n);
	assert_int_equal(c->f.sends, 0);
	assert_int_equal(c->s.n, 1);
	assert_true(lnet_nid_eq(&c->s.ev[0].source, &me));
	assert_true(lnet_nid_eq(&c->s.ev[0].target, &second));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_criterion),
	        cmocka_unit_test(extremes),
	        cmocka_unit_test(total_order),
	        cmocka_unit_test(best_of_many),
	        CORE_TEST(interfaces_in_turn),
	        cmocka_unit_test(by_another_nid),
	        CORE_TEST(local_nids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
