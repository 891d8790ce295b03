/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop under many threads: nothing is lost, nothing is done twice. For ThreadSanitizer above all.
 */
#include "unit/loop_threads.h"

struct poster {
	pthread_t th;
	struct fixture *f;
	unsigned n;
	uint64_t seed;
	atomic_uint *total;
	int bad;
};

struct parcel {
	struct lnet_work w;
	atomic_uint *total;
};

static void on_parcel(struct lnet_work *w)
{
	struct parcel *p = w->arg;

	atomic_fetch_add(p->total, 1);
	free(p);
}

static void *post_main(void *arg)
{
	struct poster *p = arg;

	for (unsigned i = 0; i < p->n; i++) {
		struct parcel *q = malloc(sizeof(*q));

		if (!q)
			abort();
		q->total = p->total;
		lnet_work_init(&q->w, on_parcel, q);
		lnet_loop_post(p->f->l, &q->w);
		/* Let the loop fall asleep now and then. */
		if (i % 512 == 511)
			tl_sleep(100 * TL_US);
	}
	return NULL;
}

/* Posts from four threads: each one runs, with nobody else to push the loop. */
static void test_no_post_is_lost(void **state)
{
	struct fixture *f = *state;
	unsigned n = tl_scaled(25000, 5000);
	atomic_uint total = 0;
	struct poster p[4];

	for (unsigned i = 0; i < 4; i++) {
		p[i] = (struct poster){.f = f, .n = n, .total = &total};
		assert_int_equal(pthread_create(&p[i].th, NULL, post_main, &p[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(p[i].th, NULL);
	assert_true(TL_UNTIL(NULL, atomic_load(&total) == 4 * n, PATIENCE));
	assert_int_equal(stats(f).posts, 4 * n);
}

/* One post at a time, each waited for without helping: a lost wake-up would hang. */
static void *lone_main(void *arg)
{
	struct poster *p = arg;

	for (unsigned i = 0; i < p->n && !p->bad; i++) {
		uint64_t end = tl_now() + tl_patience(PATIENCE);
		atomic_uint one = 0;
		struct parcel *q = malloc(sizeof(*q));

		if (!q)
			abort();
		q->total = &one;
		lnet_work_init(&q->w, on_parcel, q);
		lnet_loop_post(p->f->l, &q->w);
		for (unsigned k = 0; !atomic_load(&one); k++) {
			if (k > 50)
				sched_yield();
			if (k % 65536 == 65535 && tl_now() > end)
				p->bad = 1;
			if (p->bad)
				abort();
		}
	}
	return NULL;
}

static void test_no_wakeup_is_lost(void **state)
{
	struct fixture *f = *state;
	unsigned n = tl_scaled(8000, 1000);
	struct poster p[2];

	for (unsigned i = 0; i < 2; i++) {
		p[i] = (struct poster){.f = f, .n = n};
		assert_int_equal(pthread_create(&p[i].th, NULL, lone_main, &p[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(p[i].th, NULL);
	assert_int_equal(stats(f).posts, 2 * n);
}

static int bump(void *arg)
{
	((struct fixture *)arg)->counter++;
	return 7;
}

static bool mix_one(struct poster *p)
{
	struct fixture *f = p->f;
	struct spot s;

	switch (lni_rand_next(&p->seed) % 6) {
	case 0:
	case 1:
		if (lni_loop_try(f->l)) {
			bump(f);
			lni_loop_leave(f->l);
			return true;
		}
		return false;
	case 2:
		p->bad |= lni_loop_call(f->l, bump, f) != 7;
		return true;
	case 3:
		spot_init(f, &s);
		lnet_loop_post(f->l, &s.w);
		p->bad |= lni_loop_wait(f->l, spot_done, &s, UINT64_MAX) != 0;
		return false;
	case 4:
		spot_init(f, &s);
		lni_loop_call(f->l, set_ready, &s);
		p->bad |= lni_loop_wait(f->l, spot_done, &s, UINT64_MAX) != 0;
		return false;
	default:
		spot_init(f, &s);
		s.delay = lni_rand_next(&p->seed) % (300 * TL_US);
		lni_loop_call(f->l, arm, &s);
		if (lni_rand_next(&p->seed) % 4)
			p->bad |= lni_loop_wait(f->l, spot_done, &s, UINT64_MAX) != 0;
		else
			lni_loop_wait(f->l, spot_done, &s, after(f, 50 * TL_US));
		lni_loop_call(f->l, disarm, &s);
		return false;
	}
}

static void *mix_main(void *arg)
{
	struct poster *p = arg;
	unsigned bumps = 0;

	for (unsigned i = 0; i < p->n; i++)
		bumps += mix_one(p);
	p->n = bumps;
	return NULL;
}

/* Everything at once, from four threads; the counter has no other guard than the token. */
static void test_mix(void **state)
{
	struct fixture *f = *state;
	unsigned n = tl_scaled(4000, 500);
	uint64_t seed = tl_seed(), sum = 0;
	struct poster p[4];

	for (unsigned i = 0; i < 4; i++) {
		p[i] = (struct poster){.f = f, .n = n, .seed = seed + i * 77};
		assert_int_equal(pthread_create(&p[i].th, NULL, mix_main, &p[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(p[i].th, NULL);
		assert_int_equal(p[i].bad, 0);
		sum += p[i].n;
	}
	until_asleep(f);
	lni_loop_stop(f->l);
	assert_int_equal(f->counter, sum);
	assert_int_equal(atomic_load(&f->l->want), 0);
	assert_int_equal(atomic_load(&f->l->nwait), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CASE(test_no_post_is_lost),
	        CASE(test_no_wakeup_is_lost),
	        CASE(test_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
