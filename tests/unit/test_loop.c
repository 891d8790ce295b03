/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop without a thread: token, work, timers, waiting. */
#include "unit/loop_fixture.h"

static void test_token(void **state)
{
	struct fixture *f = *state;

	assert_false(lni_loop_held(f->l));
	assert_false(lni_loop_in_turn(f->l));
	take(f);
	assert_true(lni_loop_held(f->l));
	assert_false(lni_loop_in_turn(f->l));
	assert_false(lni_loop_try(f->l));
	lni_loop_leave(f->l);
	assert_false(lni_loop_held(f->l));
	take(f);
	lni_loop_leave(f->l);
	assert_int_equal(lni_loop_index(f->l), 3);
}

static void test_leave_runs_deferred_and_inbox_alone(void **state)
{
	struct fixture *f = *state;
	struct job d, p, r;

	job_init(f, &d, 'd');
	job_init(f, &p, 'p');
	job_init(f, &r, 'r');
	take(f);
	lni_loop_ready(f->l, &r.w);
	lnet_loop_defer(f->l, &d.w);
	lnet_loop_post(f->l, &p.w);
	assert_int_equal(f->n, 0);
	lni_loop_leave(f->l);
	assert_int_equal(f->n, 2);
	assert_null(strchr(f->order, 'r'));
	assert_false(d.in_turn || p.in_turn);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(f->order[2], 'r');
	assert_true(r.in_turn);
}

static void test_turn_order(void **state)
{
	struct fixture *f = *state;
	struct job d, e, r, s;

	job_init(f, &d, 'd');
	job_init(f, &e, 'e');
	job_init(f, &r, 'r');
	job_init(f, &s, 's');
	take(f);
	lni_loop_ready(f->l, &r.w);
	lni_loop_ready(f->l, &s.w);
	lni_loop_ready(f->l, &r.w); /* once */
	lni_loop_leave(f->l);
	take(f);
	lnet_loop_defer(f->l, &d.w);
	lnet_loop_defer(f->l, &e.w);
	lnet_loop_defer(f->l, &d.w); /* once */
	lni_token_release(f->l);
	assert_int_equal(lni_loop_turn(f->l, 0), 4);
	assert_string_equal(f->order, "rsde");
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
}

static void test_undefer(void **state)
{
	struct fixture *f = *state;
	struct job a, b, c;

	job_init(f, &a, 'a');
	job_init(f, &b, 'b');
	job_init(f, &c, 'c');
	take(f);
	lnet_loop_defer(f->l, &a.w);
	lnet_loop_defer(f->l, &b.w);
	lnet_loop_defer(f->l, &c.w);
	lnet_loop_undefer(f->l, &c.w);
	lnet_loop_undefer(f->l, &a.w);
	lnet_loop_undefer(f->l, &a.w);
	lnet_loop_defer(f->l, &c.w);
	lni_loop_leave(f->l);
	assert_string_equal(f->order, "bc");
}

static int undefer_other(struct job *j)
{
	lnet_loop_undefer(j->f->l, &j->other->w);
	return 0;
}

static void test_undefer_while_running(void **state)
{
	struct fixture *f = *state;
	struct job a, b;

	job_init(f, &a, 'a');
	job_init(f, &b, 'b');
	a.also = undefer_other;
	a.other = &b;
	take(f);
	lnet_loop_defer(f->l, &a.w);
	lnet_loop_defer(f->l, &b.w);
	lni_loop_leave(f->l);
	assert_string_equal(f->order, "a");
	take(f);
	lnet_loop_defer(f->l, &b.w);
	lni_loop_leave(f->l);
	assert_string_equal(f->order, "ab");
}

static int again(struct job *j)
{
	lnet_loop_defer(j->f->l, &j->w);
	return 0;
}

/* Work that queues itself for ever holds up neither the token nor a turn. */
static void test_deferred_again(void **state)
{
	struct fixture *f = *state;
	struct job a;

	job_init(f, &a, 'a');
	a.also = again;
	take(f);
	lnet_loop_defer(f->l, &a.w);
	lni_loop_leave(f->l);
	assert_in_range(f->n, 1, 100);
	assert_in_range(lni_loop_turn(f->l, UINT64_MAX), 1, 10);
	take(f);
	lnet_loop_undefer(f->l, &a.w);
	lni_loop_leave(f->l);
}

static int post_again(struct job *j)
{
	lnet_loop_post(j->f->l, &j->w);
	return 0;
}

static void test_posted_again(void **state)
{
	struct fixture *f = *state;
	struct job a;
	unsigned n;

	job_init(f, &a, 'a');
	a.also = post_again;
	lnet_loop_post(f->l, &a.w);
	assert_in_range(f->n, 1, 100);
	n = f->n;
	assert_in_range(lni_loop_turn(f->l, UINT64_MAX), 1, 10);
	assert_true(f->n > n);
	a.also = NULL;
	n = f->n;
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(f->n, n + 1);
}

static void test_post(void **state)
{
	struct fixture *f = *state;
	struct job v[5];
	struct lni_loop_stats s;

	for (unsigned i = 0; i < 5; i++)
		job_init(f, &v[i], (char)('a' + i));
	/* Free token: at once, on this thread. */
	lnet_loop_post(f->l, &v[0].w);
	assert_string_equal(f->order, "a");
	/* Held: in order, when it is given back. */
	take(f);
	for (unsigned i = 1; i < 5; i++)
		lnet_loop_post(f->l, &v[i].w);
	assert_string_equal(f->order, "a");
	lni_loop_leave(f->l);
	assert_string_equal(f->order, "abcde");
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.posts, 5);
	/* Nobody slept, so nobody was woken. */
	assert_int_equal(s.wakes, 0);
}

static int call_fn(void *arg)
{
	struct fixture *f = arg;

	assert_true(lni_loop_held(f->l));
	f->n++;
	return -42;
}

static int call_nested(void *arg)
{
	struct fixture *f = arg;

	return lni_loop_call(f->l, call_fn, f) - 1;
}

static void test_call(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(lni_loop_call(f->l, call_fn, f), -42);
	assert_int_equal(lni_loop_call(f->l, call_nested, f), -43);
	assert_int_equal(f->n, 2);
	assert_false(lni_loop_held(f->l));
}

static int wait_inside(struct job *j)
{
	assert_int_equal(lni_loop_turn(j->f->l, 0), -EDEADLK);
	return lni_loop_wait(j->f->l, yes, NULL, UINT64_MAX);
}

static void test_no_waiting_inside(void **state)
{
	struct fixture *f = *state;
	struct job r;

	job_init(f, &r, 'r');
	r.also = wait_inside;
	take(f);
	lni_loop_ready(f->l, &r.w);
	lni_loop_leave(f->l);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(r.rc, -EDEADLK);
	take(f);
	assert_int_equal(lni_loop_wait(f->l, yes, NULL, UINT64_MAX), -EDEADLK);
	assert_int_equal(lni_loop_turn(f->l, 0), -EDEADLK);
	lni_loop_leave(f->l);
}

/* ---- timers and time ---- */

static void test_timer(void **state)
{
	struct fixture *f = *state;
	struct alarm a, b;
	uint64_t now = lnet_loop_clock(f->l);
	struct lni_loop_stats s;

	alarm_init(f, &a);
	alarm_init(f, &b);
	alarm_arm(f, &b, now + 3600 * TL_S);
	alarm_arm(f, &a, now + 20 * TL_MS);
	assert_int_equal(lni_loop_wait(f->l, rang, &a, now + 60 * TL_S), 0);
	assert_true(lnet_loop_clock(f->l) >= now + 20 * TL_MS);
	assert_int_equal(a.fired, 1);
	assert_false(a.early);
	assert_true(a.in_turn);
	/* It slept, rather than turned. */
	lni_loop_stats(f->l, &s);
	assert_in_range(s.turns, 1, 6);
	take(f);
	lnet_timer_stop(f->l, &b.t);
	lni_loop_leave(f->l);
	assert_int_equal(b.fired, 0);
}

static void test_timer_due_at_once(void **state)
{
	struct fixture *f = *state;
	struct alarm a;

	alarm_init(f, &a);
	alarm_arm(f, &a, 1);
	assert_int_equal(lni_loop_wait(f->l, rang, &a, UINT64_MAX), 0);
	assert_int_equal(a.fired, 1);
}

/* A far timer that comes and goes never reaches libev. */
static void test_far_timer_costs_nothing(void **state)
{
	struct fixture *f = *state;
	struct alarm a, far;
	uint64_t at;

	alarm_init(f, &a);
	alarm_init(f, &far);
	alarm_arm(f, &a, lnet_loop_clock(f->l) + 100 * TL_S);
	lni_loop_turn(f->l, 0);
	at = f->l->ev_at;
	assert_true(at == a.t.when);
	for (unsigned i = 0; i < 10; i++) {
		alarm_arm(f, &far, lnet_loop_clock(f->l) + 200 * TL_S);
		lni_loop_turn(f->l, 0);
		take(f);
		lnet_timer_stop(f->l, &far.t);
		lni_loop_leave(f->l);
		lni_loop_turn(f->l, 0);
		assert_true(f->l->ev_at == at);
	}
	take(f);
	lnet_timer_stop(f->l, &a.t);
	lni_loop_leave(f->l);
}

static void test_foreign_clock(void **state)
{
	struct fixture *f = *state;
	struct alarm a, b;

	alarm_init(f, &a);
	alarm_init(f, &b);
	assert_true(lnet_loop_clock(f->l) == 1000);
	alarm_arm(f, &a, 1000 + 3600 * TL_S);
	alarm_arm(f, &b, 1000 + 7200 * TL_S);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	f->fake = 1000 + 3600 * TL_S - 1;
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	f->fake++;
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(a.fired, 1);
	assert_false(a.early);
	f->fake += 3600 * TL_S;
	assert_int_equal(lni_loop_turn(f->l, TL_S), 1);
	assert_int_equal(b.fired, 1);
	/* The deadline of a wait is on the same clock. */
	assert_int_equal(lni_loop_wait(f->l, no, NULL, f->fake), -ETIMEDOUT);
}

static bool tick(void *arg)
{
	struct fixture *f = arg;

	f->fake += TL_S;
	return false;
}

static void test_foreign_clock_runs_fast(void **state)
{
	struct fixture *f = *state;
	struct alarm a;
	uint64_t end = f->fake + 60 * TL_S, t0 = tl_now();

	alarm_init(f, &a);
	alarm_arm(f, &a, end - 10 * TL_S);
	assert_int_equal(lni_loop_wait(f->l, tick, f, end), -ETIMEDOUT);
	assert_int_equal(a.fired, 1);
	assert_true(tl_now() - t0 < 60 * TL_S);
}

static void test_wait(void **state)
{
	struct fixture *f = *state;
	uint64_t t0;
	struct lni_loop_stats s;

	assert_int_equal(lni_loop_wait(f->l, yes, NULL, 0), 0);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.turns, 0);
	assert_int_equal(lni_loop_wait(f->l, no, NULL, 0), -ETIMEDOUT);
	t0 = lnet_loop_clock(f->l);
	assert_int_equal(lni_loop_wait(f->l, no, NULL, t0 + TL_MS), -ETIMEDOUT);
	assert_true(lnet_loop_clock(f->l) >= t0 + TL_MS);
	assert_false(lni_loop_held(f->l));
	lni_loop_stats(f->l, &s);
	assert_in_range(s.turns, 1, 10);
}

/* A deadline that is over still gives one turn. */
static void test_wait_late_turns_once(void **state)
{
	struct fixture *f = *state;
	struct job r;

	job_init(f, &r, 'r');
	take(f);
	lni_loop_ready(f->l, &r.w);
	lni_loop_leave(f->l);
	assert_int_equal(lni_loop_wait(f->l, no, NULL, 0), -ETIMEDOUT);
	assert_int_equal(f->n, 1);
}

static void test_turn_sleeps(void **state)
{
	struct fixture *f = *state;
	uint64_t t0 = tl_now();
	struct lni_loop_stats s;

	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.sleeps, 0);
	assert_int_equal(lni_loop_turn(f->l, 20 * TL_MS), 0);
	assert_true(tl_now() - t0 >= 20 * TL_MS);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.sleeps, 1);
	assert_int_equal(s.turns, 2);
}

/* now() stands still within a turn. */
static int now_twice(struct job *j)
{
	uint64_t a = lnet_loop_now(j->f->l);

	while (lnet_loop_clock(j->f->l) == a)
		;
	return lnet_loop_now(j->f->l) == a;
}

static void test_now_once_a_turn(void **state)
{
	struct fixture *f = *state;
	struct job r;
	uint64_t before;

	job_init(f, &r, 'r');
	r.also = now_twice;
	take(f);
	before = lnet_loop_now(f->l);
	lni_loop_ready(f->l, &r.w);
	lni_loop_leave(f->l);
	lni_loop_turn(f->l, 0);
	assert_true(r.rc);
	take(f);
	assert_true(lnet_loop_now(f->l) > before);
	lni_loop_leave(f->l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CASE(test_token),
	        CASE(test_leave_runs_deferred_and_inbox_alone),
	        CASE(test_turn_order),
	        CASE(test_undefer),
	        CASE(test_undefer_while_running),
	        CASE(test_deferred_again),
	        CASE(test_posted_again),
	        CASE(test_post),
	        CASE(test_call),
	        CASE(test_no_waiting_inside),
	        CASE(test_timer),
	        CASE(test_timer_due_at_once),
	        CASE(test_far_timer_costs_nothing),
	        CASE2(test_foreign_clock, setup_foreign),
	        CASE2(test_foreign_clock_runs_fast, setup_foreign),
	        CASE(test_wait),
	        CASE(test_wait_late_turns_once),
	        CASE(test_turn_sleeps),
	        CASE(test_now_once_a_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
