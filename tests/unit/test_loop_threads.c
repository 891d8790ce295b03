/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop with its thread: serving, waiting beside it, taking over, parking. */
#include "unit/loop_threads.h"

/* ---- the thread alone ---- */

static void test_thread_serves(void **state)
{
	struct fixture *f = *state;
	struct spot p, t, io, r;

	spot_init(f, &p);
	spot_init(f, &t);
	spot_init(f, &io);
	spot_init(f, &r);
	until_asleep(f);
	lnet_loop_post(f->l, &p.w);
	assert_true(TL_UNTIL(NULL, spot_done(&p), PATIENCE));
	assert_true(by_thread(&p));
	t.delay = 5 * TL_MS;
	lni_loop_call(f->l, arm, &t);
	assert_true(TL_UNTIL(NULL, spot_done(&t), PATIENCE));
	assert_true(by_thread(&t));
	lni_loop_call(f->l, look, &io);
	assert_int_equal(write(f->sv[1], "x", 1), 1);
	assert_true(TL_UNTIL(NULL, spot_done(&io), PATIENCE));
	assert_true(by_thread(&io));
	lni_loop_call(f->l, look_away, &io);
	/* Ready work left behind, with the token free or not, is run without another call. */
	for (unsigned i = 1; i <= 100; i++) {
		lni_loop_call(f->l, set_ready, &r);
		assert_true(TL_UNTIL(NULL, atomic_load(&r.done) == i, PATIENCE));
	}
}

struct seen {
	sigset_t mask;
	char name[32];
};

static void on_seen(struct lnet_work *w)
{
	struct spot *s = w->arg;
	struct seen *seen = (struct seen *)(uintptr_t)s->delay;

	pthread_sigmask(SIG_BLOCK, NULL, &seen->mask);
	pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
	spot_hit(s);
}

static void test_thread_is_tame(void **state)
{
	struct fixture *f = *state;
	struct seen seen;
	struct spot s;

	spot_init(f, &s);
	s.delay = (uintptr_t)&seen;
	s.w.fn = on_seen;
	until_asleep(f);
	lnet_loop_post(f->l, &s.w);
	assert_true(TL_UNTIL(NULL, spot_done(&s), PATIENCE));
	assert_string_equal(seen.name, "a name that is ");
	assert_true(sigismember(&seen.mask, SIGTERM) && sigismember(&seen.mask, SIGUSR1));
	pthread_sigmask(SIG_BLOCK, NULL, &seen.mask);
	assert_false(sigismember(&seen.mask, SIGTERM));
}

/* Nothing to do: no turns at all. */
static void test_idle(void **state)
{
	struct fixture *f = *state;
	struct lni_loop_stats a, b;
	struct spot s;

	spot_init(f, &s);
	s.delay = 3600 * TL_S;
	lni_loop_call(f->l, arm, &s);
	assert_int_equal(lni_loop_wait(f->l, never, NULL, after(f, TL_MS)), -ETIMEDOUT);
	until_asleep(f);
	a = stats(f);
	tl_sleep(500 * TL_MS);
	b = stats(f);
	assert_true(b.turns - a.turns <= 1);
	lni_loop_call(f->l, disarm, &s);
}

static void test_stop_and_go(void **state)
{
	struct fixture *f = *state;
	struct spot s;

	for (unsigned i = 0; i < 50; i++) {
		if (i % 3 == 1)
			until_asleep(f);
		if (i % 3 == 2)
			lni_loop_wait(f->l, never, NULL, 0);
		lni_loop_stop(f->l);
		/* The caller is the loop now. */
		spot_init(f, &s);
		lni_loop_call(f->l, set_ready, &s);
		assert_int_equal(lni_loop_wait(f->l, spot_done, &s, after(f, PATIENCE)), 0);
		assert_int_equal(lni_loop_start(f->l), 0);
	}
	lni_loop_stop(f->l);
	lni_loop_stop(f->l);
}

/* ---- waiting ---- */

/* A waiter takes the token from the sleeping thread and runs the handlers itself. */
static void test_waiter_drives(void **state)
{
	struct fixture *f = *state;
	struct spot s;

	until_asleep(f);
	spot_init(f, &s);
	s.delay = 20 * TL_MS;
	lni_loop_call(f->l, arm, &s);
	assert_int_equal(lni_loop_wait(f->l, spot_done, &s, after(f, PATIENCE)), 0);
	assert_true(pthread_equal(s.by, pthread_self()));
	/* And the thread comes back by itself. */
	until_asleep(f);
}

static void test_turn_takes_over(void **state)
{
	struct fixture *f = *state;
	uint64_t end = tl_now() + tl_patience(PATIENCE);
	int rc;

	until_asleep(f);
	do {
		rc = lni_loop_turn(f->l, 10 * TL_MS);
	} while (rc == -EBUSY && tl_now() < end);
	assert_true(rc >= 0);
	until_asleep(f);
}

static void ping(struct fixture *f, struct spot *s)
{
	/* The way of a synchronous caller: send under the token, then wait. */
	if (lni_loop_try(f->l)) {
		assert_int_equal(write(f->sv[1], "x", 1), 1);
		lni_loop_leave(f->l);
	} else {
		assert_int_equal(write(f->sv[1], "x", 1), 1);
	}
	assert_int_equal(lni_loop_wait(f->l, spot_done, s, after(f, PATIENCE)), 0);
}

static void test_request_response(void **state)
{
	struct fixture *f = *state;
	unsigned n = tl_scaled(3000, 500), by_us = 0;
	struct spot s;
	uint64_t wakes;

	spot_init(f, &s);
	lni_loop_call(f->l, look, &s);
	ping(f, &s);
	wakes = stats(f).wakes;
	for (unsigned i = 0; i < n; i++) {
		atomic_store(&s.done, 0);
		ping(f, &s);
		by_us += pthread_equal(s.by, pthread_self());
	}
	/* The thread may get in when this one is not run for a while. */
	assert_true(by_us > n / 2);
	assert_true(stats(f).wakes - wakes < n / 2);
	lni_loop_call(f->l, look_away, &s);
}

static void test_deadlines(void **state)
{
	struct fixture *f = *state;
	uint64_t t0;

	assert_int_equal(lni_loop_wait(f->l, never, NULL, 0), -ETIMEDOUT);
	until_asleep(f);
	assert_int_equal(lni_loop_wait(f->l, never, NULL, 0), -ETIMEDOUT);
	until_asleep(f);
	t0 = lnet_loop_clock(f->l);
	assert_int_equal(lni_loop_wait(f->l, never, NULL, t0 + TL_MS), -ETIMEDOUT);
	assert_true(lnet_loop_clock(f->l) >= t0 + TL_MS);
	until_asleep(f);
}

/* The waiter that stayed long wakes the thread when it leaves: what comes then is served. */
static void test_thread_back_after_long_wait(void **state)
{
	struct fixture *f = *state;
	struct spot s;

	spot_init(f, &s);
	lni_loop_call(f->l, look, &s);
	for (unsigned i = 1; i <= 5; i++) {
		lni_loop_wait(f->l, never, NULL, after(f, 10 * TL_MS));
		assert_int_equal(write(f->sv[1], "x", 1), 1);
		assert_true(TL_UNTIL(NULL, atomic_load(&s.done) == i, PATIENCE));
		assert_true(by_thread(&s));
	}
	lni_loop_call(f->l, look_away, &s);
}

/* While the thread is parked: what a sender leaves behind is not forgotten. */
static void test_left_behind(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 30; i++) {
		struct spot t, io;

		spot_init(f, &t);
		spot_init(f, &io);
		t.delay = 100 * TL_US;
		lni_loop_wait(f->l, never, NULL, after(f, 50 * TL_US));
		lni_loop_call(f->l, arm, &t);
		lni_loop_call(f->l, look, &io);
		assert_int_equal(write(f->sv[1], "x", 1), 1);
		assert_true(TL_UNTIL(NULL, spot_done(&t) && spot_done(&io), PATIENCE));
		lni_loop_call(f->l, look_away, &io);
	}
}

/* ---- several threads ---- */

struct waiter {
	pthread_t th;
	struct fixture *f;
	struct spot s;
	uint64_t deadline;
	unsigned rounds;
	int rc;
	atomic_bool in;
};

static void *wait_main(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->in, true);
	w->rc = lni_loop_wait(w->f->l, spot_done, &w->s, w->deadline);
	return NULL;
}

static void waiter_start(struct fixture *f, struct waiter *w, uint64_t deadline)
{
	spot_init(f, &w->s);
	w->f = f;
	w->deadline = deadline;
	atomic_store(&w->in, false);
	assert_int_equal(pthread_create(&w->th, NULL, wait_main, w), 0);
}

/* Thread B completes what thread A waits for, while a third drives the loop. */
static void test_completed_by_another(void **state)
{
	struct fixture *f = *state;
	struct waiter driver, v[4];

	waiter_start(f, &driver, UINT64_MAX);
	for (unsigned i = 0; i < 4; i++)
		waiter_start(f, &v[i], UINT64_MAX);
	assert_true(TL_UNTIL(NULL, atomic_load(&f->l->want) == 5, PATIENCE));
	for (unsigned i = 0; i < 4; i++) {
		lnet_loop_post(f->l, &v[i].s.w);
		pthread_join(v[i].th, NULL);
		assert_int_equal(v[i].rc, 0);
		assert_false(spot_done(&driver.s));
	}
	lnet_loop_post(f->l, &driver.s.w);
	pthread_join(driver.th, NULL);
	until_asleep(f);
}

/* Whoever of the waiters ends, another takes over: timers of all are served in time. */
static void test_driver_changes(void **state)
{
	struct fixture *f = *state;
	struct waiter v[6];

	for (unsigned i = 0; i < 6; i++)
		waiter_start(f, &v[i], UINT64_MAX);
	assert_true(TL_UNTIL(NULL, atomic_load(&f->l->want) == 6, PATIENCE));
	for (unsigned i = 0; i < 6; i++) {
		v[i].s.delay = (i + 1) * 3 * TL_MS;
		lni_loop_call(f->l, arm, &v[i].s);
	}
	for (unsigned i = 0; i < 6; i++) {
		pthread_join(v[i].th, NULL);
		assert_int_equal(v[i].rc, 0);
	}
	until_asleep(f);
}

static void test_timeouts_beside_a_driver(void **state)
{
	struct fixture *f = *state;
	struct waiter driver, v[3];

	waiter_start(f, &driver, UINT64_MAX);
	assert_true(TL_UNTIL(NULL, atomic_load(&f->l->owner) == (uintptr_t)driver.th, PATIENCE));
	waiter_start(f, &v[0], 0);
	waiter_start(f, &v[1], after(f, TL_MS));
	waiter_start(f, &v[2], after(f, 30 * TL_MS));
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(v[i].th, NULL);
		assert_int_equal(v[i].rc, -ETIMEDOUT);
		assert_true(lnet_loop_clock(f->l) >= v[i].deadline);
	}
	/* A turn is refused: the driver is no thread of the loop. */
	assert_int_equal(lni_loop_turn(f->l, 0), -EBUSY);
	lnet_loop_post(f->l, &driver.s.w);
	pthread_join(driver.th, NULL);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A storm of signals ends no wait, early or late. */
static void test_eintr(void **state)
{
	struct fixture *f = *state;
	struct sigaction sa = {.sa_handler = on_signal}, old;
	struct waiter v[2];
	uint64_t end = after(f, 60 * TL_MS);

	assert_int_equal(sigaction(SIGUSR1, &sa, &old), 0);
	waiter_start(f, &v[0], UINT64_MAX);
	waiter_start(f, &v[1], UINT64_MAX);
	assert_true(TL_UNTIL(NULL, atomic_load(&f->l->want) == 2, PATIENCE));
	while (lnet_loop_clock(f->l) < end) {
		pthread_kill(v[0].th, SIGUSR1);
		pthread_kill(v[1].th, SIGUSR1);
		tl_sleep(200 * TL_US);
	}
	assert_int_equal(atomic_load(&f->l->want), 2);
	for (unsigned i = 0; i < 2; i++)
		lnet_loop_post(f->l, &v[i].s.w);
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(v[i].th, NULL);
		assert_int_equal(v[i].rc, 0);
	}
	sigaction(SIGUSR1, &old, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CASE(test_thread_serves),
	        CASE(test_thread_is_tame),
	        CASE(test_idle),
	        CASE(test_stop_and_go),
	        CASE(test_waiter_drives),
	        CASE(test_turn_takes_over),
	        CASE(test_request_response),
	        CASE(test_deadlines),
	        CASE(test_thread_back_after_long_wait),
	        CASE(test_left_behind),
	        CASE(test_completed_by_another),
	        CASE(test_driver_changes),
	        CASE(test_timeouts_beside_a_driver),
	        CASE(test_eintr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
