/* SPDX-License-Identifier: BSD-2-Clause */
/* The timer heap against a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lnet/base/rand.h"
#include "lnet/rt/timer.h"

struct fixture {
	struct lni_timers h;
	uint64_t now;
	uint64_t last; /* `when` of the timer that fired last */
	unsigned fired;
	unsigned early, disorder;
};

struct one {
	struct lnet_timer t;
	struct fixture *f;
	bool armed;
	unsigned fired;
};

static void on_fire(struct lnet_timer *t)
{
	struct one *o = t->arg;
	struct fixture *f = o->f;

	assert_true(o->armed);
	assert_int_equal(t->slot, 0);
	o->armed = false;
	o->fired++;
	f->fired++;
	if (t->when > f->now)
		f->early++;
	if (t->when < f->last)
		f->disorder++;
	f->last = t->when;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(lni_timers_init(&f->h), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	lni_timers_fini(&f->h);
	free(f);
	return 0;
}

static void arm(struct fixture *f, struct one *o, uint64_t when)
{
	lni_timers_arm(&f->h, &o->t, when);
	o->armed = true;
}

static void one_init(struct fixture *f, struct one *o)
{
	*o = (struct one){.f = f};
	lnet_timer_init(&o->t, on_fire, o);
}

static uint64_t model_top(const struct one *v, unsigned n)
{
	uint64_t top = UINT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		if (v[i].armed && v[i].t.when < top)
			top = v[i].t.when;
	}
	return top;
}

/* Arm, move, stop and let time pass at random: the heap always knows the nearest one, fires in
 * order, never early, and leaves nothing behind that is due. */
static void test_property(void **state)
{
	enum { N = 300, STEPS = 30000 };
	struct fixture *f = *state;
	struct one *v = calloc(N, sizeof(*v));
	uint64_t seed = 20260801;

	assert_non_null(v);
	for (unsigned i = 0; i < N; i++)
		one_init(f, &v[i]);
	for (unsigned s = 0; s < STEPS; s++) {
		struct one *o = &v[lni_rand_next(&seed) % N];
		unsigned what = lni_rand_next(&seed) % 16;

		if (what < 9) {
			arm(f, o, f->now + lni_rand_next(&seed) % 1000);
		} else if (what < 14) {
			lni_timers_stop(&f->h, &o->t);
			o->armed = false;
			assert_int_equal(o->t.slot, 0);
		} else {
			f->now += lni_rand_next(&seed) % 60;
			f->last = 0;
			lni_timers_fire(&f->h, f->now);
			assert_true(model_top(v, N) > f->now);
		}
		if (s % 8 == 0)
			assert_true(lni_timers_top(&f->h) == model_top(v, N));
	}
	assert_true(f->fired > 1000);
	assert_int_equal(f->early, 0);
	assert_int_equal(f->disorder, 0);
	for (unsigned i = 0; i < N; i++)
		assert_true(v[i].armed == (v[i].t.slot != 0));
	free(v);
}

static void test_equal_times_keep_order(void **state)
{
	enum { N = 50 };
	struct fixture *f = *state;
	struct one v[N];
	unsigned n = 0;

	for (unsigned i = 0; i < N; i++) {
		one_init(f, &v[i]);
		arm(f, &v[i], 7);
	}
	f->now = 7;
	/* One at a time: the heap's first is always the one armed first. */
	while (f->h.n) {
		assert_ptr_equal(f->h.v[0].t, &v[n].t);
		lni_timers_stop(&f->h, &v[n++].t);
	}
	assert_int_equal(n, N);
}

static void test_grows(void **state)
{
	enum { N = 20000 };
	struct fixture *f = *state;
	struct one *v = calloc(N, sizeof(*v));

	assert_non_null(v);
	for (unsigned i = 0; i < N; i++) {
		one_init(f, &v[i]);
		arm(f, &v[i], N - i);
	}
	assert_true(lni_timers_top(&f->h) == 1);
	f->now = N / 2;
	assert_int_equal(lni_timers_fire(&f->h, f->now), N / 2);
	assert_true(lni_timers_top(&f->h) == N / 2 + 1);
	f->now = N;
	assert_int_equal(lni_timers_fire(&f->h, f->now), N / 2);
	assert_int_equal(f->disorder, 0);
	assert_true(lni_timers_top(&f->h) == UINT64_MAX);
	free(v);
}

static void test_boundary(void **state)
{
	struct fixture *f = *state;
	struct one o;

	one_init(f, &o);
	arm(f, &o, 1000);
	f->now = 999;
	assert_int_equal(lni_timers_fire(&f->h, 999), 0);
	f->now = 1000;
	assert_int_equal(lni_timers_fire(&f->h, 1000), 1);
	/* It fires once. */
	f->now = 5000;
	assert_int_equal(lni_timers_fire(&f->h, 5000), 0);
	assert_int_equal(o.fired, 1);
	arm(f, &o, UINT64_MAX);
	assert_int_equal(lni_timers_fire(&f->h, UINT64_MAX - 1), 0);
	lni_timers_stop(&f->h, &o.t);
	lni_timers_stop(&f->h, &o.t);
	assert_int_equal(f->h.n, 0);
}

static void test_move(void **state)
{
	struct fixture *f = *state;
	struct one a, b;

	one_init(f, &a);
	one_init(f, &b);
	arm(f, &a, 100);
	arm(f, &b, 200);
	arm(f, &a, 300); /* later */
	assert_int_equal(f->h.n, 2);
	f->now = 250;
	assert_int_equal(lni_timers_fire(&f->h, 250), 1);
	assert_int_equal(b.fired, 1);
	arm(f, &a, 260); /* nearer */
	f->now = 260;
	assert_int_equal(lni_timers_fire(&f->h, 260), 1);
	assert_int_equal(a.fired, 1);
}

struct again {
	struct lnet_timer t;
	struct lni_timers *h;
	struct lnet_timer *victim;
	uint64_t when;
	unsigned fired;
};

static void on_again(struct lnet_timer *t)
{
	struct again *a = t->arg;

	a->fired++;
	if (a->victim)
		lni_timers_stop(a->h, a->victim);
	if (a->when != UINT64_MAX)
		lni_timers_arm(a->h, t, a->when);
}

/* A timer that arms itself for the past neither holds the call nor starves those that are due. */
static void test_rearm_in_function(void **state)
{
	struct fixture *f = *state;
	struct again a = {.h = &f->h, .when = 0};
	struct one o, p;

	lnet_timer_init(&a.t, on_again, &a);
	one_init(f, &o);
	one_init(f, &p);
	lni_timers_arm(&f->h, &a.t, 10);
	arm(f, &o, 20);
	arm(f, &p, 30);
	f->now = 30;
	assert_int_equal(lni_timers_fire(&f->h, 30), 3);
	assert_int_equal(a.fired, 1);
	assert_int_equal(o.fired + p.fired, 2);
	assert_true(lni_timers_top(&f->h) <= 30);
	assert_int_equal(lni_timers_fire(&f->h, 30), 1);
	assert_int_equal(a.fired, 2);
	lni_timers_stop(&f->h, &a.t);
}

static void test_stop_in_function(void **state)
{
	struct fixture *f = *state;
	struct one o;
	struct again a = {.h = &f->h, .when = UINT64_MAX, .victim = &o.t};

	lnet_timer_init(&a.t, on_again, &a);
	one_init(f, &o);
	lni_timers_arm(&f->h, &a.t, 10);
	arm(f, &o, 10);
	f->now = 10;
	assert_int_equal(lni_timers_fire(&f->h, 10), 1);
	assert_int_equal(o.fired, 0);
	assert_int_equal(f->h.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(test_property, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_equal_times_keep_order, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_grows, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_boundary, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_move, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_rearm_in_function, setup, teardown),
	        cmocka_unit_test_setup_teardown(test_stop_in_function, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
