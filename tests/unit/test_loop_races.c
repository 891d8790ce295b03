/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The narrow places where a wake-up could be lost, each hit on purpose: the loop asks its clock in
 * the middle of them, and the clock of these tests does there what another thread might do.
 */
#include "unit/loop_threads.h"

struct race {
	struct fixture *f;
	struct spot s;
	bool on_thread; /* act when the loop's thread asks, else when anybody does */
	atomic_bool armed;
	void (*act)(struct race *r);
};

static uint64_t race_now(void *arg)
{
	struct race *r = arg;
	struct lnet_loop *l = r->f->l;

	if (l && (!r->on_thread || lni_self() == atomic_load(&l->tid)) &&
	        atomic_exchange(&r->armed, false))
		r->act(r);
	return tl_now();
}

static void act_post(struct race *r)
{
	lnet_loop_post(r->f->l, &r->s.w);
}

static void act_want(struct race *r)
{
	atomic_fetch_add(&r->f->l->want, 1);
	lni_loop_kick(r->f->l);
}

static void act_stop(struct race *r)
{
	atomic_store(&r->f->l->stop, 1);
	lni_loop_kick(r->f->l);
}

static void race_open(struct race *r, struct fixture *f, bool poll)
{
	struct lni_loop_conf c = {.name = "race", .poll = poll, .clock = {race_now, r}};

	memset(r, 0, sizeof(*r));
	memset(f, 0, sizeof(*f));
	r->f = f;
	assert_int_equal(lni_loop_new(&c, &f->l), 0);
	spot_init(f, &r->s);
}

/* Posted when the inbox was looked at and the owner is not yet known to sleep. */
static void test_post_before_sleep(void **state)
{
	struct fixture f;
	struct race r;

	(void)state;
	race_open(&r, &f, true);
	r.act = act_post;
	atomic_store(&r.armed, true);
	assert_int_equal(lni_loop_turn(f.l, TL_S), 1);
	assert_false(atomic_load(&r.armed));
	assert_true(spot_done(&r.s));
	assert_int_equal(stats(&f).sleeps, 0);
	lni_loop_free(f.l);
}

/* Posted between the last look at the inbox and giving the token back. */
static void test_post_before_leave(void **state)
{
	struct fixture f;
	struct race r;
	struct spot t;

	(void)state;
	race_open(&r, &f, false);
	spot_init(&f, &t);
	r.act = act_post;
	assert_true(lni_loop_try(f.l));
	lnet_timer_arm(f.l, &t.t, UINT64_MAX - 1);
	atomic_store(&r.armed, true);
	lni_loop_leave(f.l);
	assert_false(atomic_load(&r.armed));
	assert_true(spot_done(&r.s));
	lni_loop_call(f.l, disarm, &t);
	lni_loop_free(f.l);
}

/* A waiter comes when the thread is about to sleep. */
static void test_want_before_sleep(void **state)
{
	struct fixture f;
	struct race r;

	(void)state;
	race_open(&r, &f, false);
	r.on_thread = true;
	r.act = act_want;
	atomic_store(&r.armed, true);
	assert_int_equal(lni_loop_start(f.l), 0);
	assert_true(TL_UNTIL(NULL,
	        !atomic_load(&r.armed) && !atomic_load(&f.l->owner) &&
	                atomic_load(&f.l->park) != PARK_NOT,
	        PATIENCE));
	assert_int_equal(stats(&f).sleeps, 0);
	/* It leaves the token to the waiter for as long as that one takes. */
	assert_true(TL_UNTIL(NULL, atomic_load(&f.l->park) == PARK_AWAIT, PATIENCE));
	assert_int_equal(atomic_load(&f.l->owner), 0);
	atomic_fetch_sub(&f.l->want, 1);
	lni_loop_wait(f.l, never, NULL, 0);
	until_asleep(&f);
	lni_loop_stop(f.l);
	lni_loop_free(f.l);
}

static void test_stop_before_sleep(void **state)
{
	struct fixture f;
	struct race r;

	(void)state;
	race_open(&r, &f, false);
	r.on_thread = true;
	r.act = act_stop;
	atomic_store(&r.armed, true);
	assert_int_equal(lni_loop_start(f.l), 0);
	assert_true(TL_UNTIL(NULL, !atomic_load(&r.armed) && !atomic_load(&f.l->tid), PATIENCE));
	assert_int_equal(stats(&f).sleeps, 0);
	lni_loop_stop(f.l);
	lni_loop_free(f.l);
}

/* What counts as left behind for the loop's thread. */
static void test_left(void **state)
{
	struct lni_loop_conf c = {.name = "left"};
	struct fixture f = {0};
	struct spot s;

	(void)state;
	assert_int_equal(lni_loop_new(&c, &f.l), 0);
	assert_int_equal(
	        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f.sv), 0);
	spot_init(&f, &s);
	assert_int_equal(lni_loop_wait(f.l, never, NULL, 0), -ETIMEDOUT);
	assert_int_equal(atomic_load(&f.l->left), 0);
	lni_loop_call(f.l, look, &s);
	assert_int_equal(atomic_load(&f.l->left), 1);
	assert_int_equal(lni_loop_wait(f.l, never, NULL, 0), -ETIMEDOUT);
	assert_int_equal(atomic_load(&f.l->left), 0);
	lni_loop_call(f.l, look_away, &s);
	s.delay = 3600 * TL_S;
	lni_loop_call(f.l, arm, &s);
	assert_int_equal(atomic_load(&f.l->left), 0);
	s.delay = 500 * TL_US;
	lni_loop_call(f.l, arm, &s);
	assert_int_equal(atomic_load(&f.l->left), 1);
	lni_loop_call(f.l, disarm, &s);
	assert_int_equal(atomic_load(&f.l->left), 0);
	lni_loop_call(f.l, set_ready, &s);
	assert_int_equal(atomic_load(&f.l->left), 1);
	assert_int_equal(lni_loop_wait(f.l, spot_done, &s, UINT64_MAX), 0);
	assert_int_equal(atomic_load(&f.l->left), 0);
	lni_loop_free(f.l);
	close(f.sv[0]);
	close(f.sv[1]);
}

/* Waits in close order for 20 ms; true: the thread never came in between. */
static bool calm(struct fixture *f)
{
	uint64_t end, wakes;

	/* A wake-up is due when a waiter finds the thread asleep with the token, or asleep until it
	 * leaves. */
	lni_loop_wait(f->l, never, NULL, after(f, TL_MS));
	wakes = stats(f).wakes;
	end = tl_now() + 20 * TL_MS;
	while (tl_now() < end)
		lni_loop_wait(f->l, never, NULL, 0);
	return stats(f).wakes == wakes && atomic_load(&f->l->owner) == 0;
}

/* Short waits, one after another, keep the thread out: it looks once a millisecond and stays
 * parked. (One quiet stretch is enough: the machine may not run this thread for a while, and then
 * it may come.) */
static void test_short_waits_keep_the_thread_out(void **state)
{
	struct fixture *f = *state;

	assert_true(TL_UNTIL(NULL, calm(f), PATIENCE));
	until_asleep(f);
}

static void *long_wait(void *arg)
{
	struct spot *s = arg;

	lni_loop_wait(s->f->l, spot_done, s, UINT64_MAX);
	return NULL;
}

/* While one waiter stays, the thread does not even look; when it leaves, the thread is woken. */
static void test_long_wait_lets_the_thread_sleep(void **state)
{
	struct fixture *f = *state;
	struct spot s;
	pthread_t th;

	spot_init(f, &s);
	assert_int_equal(pthread_create(&th, NULL, long_wait, &s), 0);
	assert_true(TL_UNTIL(NULL, atomic_load(&f->l->park) == PARK_AWAIT, PATIENCE));
	lnet_loop_post(f->l, &s.w);
	pthread_join(th, NULL);
	until_asleep(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_post_before_sleep),
	        cmocka_unit_test(test_post_before_leave),
	        cmocka_unit_test(test_want_before_sleep),
	        cmocka_unit_test(test_stop_before_sleep),
	        cmocka_unit_test(test_left),
	        CASE(test_short_waits_keep_the_thread_out),
	        CASE(test_long_wait_lets_the_thread_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
