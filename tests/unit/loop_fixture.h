/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of a loop share: one loop in poll mode with a socket pair, and jobs, alarms on it.
 */
#ifndef TEST_LOOP_FIXTURE_H
#define TEST_LOOP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/tlib.h"
#include "lnet/rt/loop_priv.h"

struct fixture {
	struct lnet_loop *l;
	uint64_t fake; /* the foreign clock */
	int sv[2];
	unsigned n;
	char order[16];
};

static inline uint64_t fake_now(void *arg)
{
	return ((struct fixture *)arg)->fake;
}

static inline struct fixture *make(bool foreign, unsigned spin_us)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct lni_loop_conf c = {.poll = true, .spin_us = spin_us, .index = 3, .name = "test"};

	assert_non_null(f);
	f->fake = 1000;
	if (foreign)
		c.clock = (struct lnet_clock){fake_now, f};
	assert_int_equal(lni_loop_new(&c, &f->l), 0);
	assert_int_equal(lni_loop_start(f->l), 0);
	assert_int_equal(
	        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f->sv), 0);
	return f;
}

static inline int setup(void **state)
{
	*state = make(false, 0);
	return 0;
}

static inline int setup_foreign(void **state)
{
	*state = make(true, 0);
	return 0;
}

static inline int setup_spin(void **state)
{
	*state = make(false, 300);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	lni_loop_stop(f->l);
	lni_loop_free(f->l);
	close(f->sv[0]);
	close(f->sv[1]);
	free(f);
	return 0;
}

static inline void take(struct fixture *f)
{
	assert_true(lni_loop_try(f->l));
}

static inline void say(struct fixture *f)
{
	assert_int_equal(write(f->sv[1], "x", 1), 1);
}

static inline void hear(struct fixture *f)
{
	char c;

	assert_int_equal(read(f->sv[0], &c, 1), 1);
}

static inline bool yes(void *arg)
{
	(void)arg;
	return true;
}

static inline bool no(void *arg)
{
	(void)arg;
	return false;
}

struct job {
	struct lnet_work w;
	struct fixture *f;
	char tag;
	bool in_turn;
	int (*also)(struct job *j);
	int rc;
	struct job *other;
};

static inline void on_job(struct lnet_work *w)
{
	struct job *j = w->arg;

	assert_true(lni_loop_held(j->f->l));
	j->in_turn = lni_loop_in_turn(j->f->l);
	j->f->order[j->f->n++ % sizeof(j->f->order)] = j->tag;
	if (j->also)
		j->rc = j->also(j);
}

static inline void job_init(struct fixture *f, struct job *j, char tag)
{
	*j = (struct job){.f = f, .tag = tag};
	lnet_work_init(&j->w, on_job, j);
}

struct alarm {
	struct lnet_timer t;
	struct fixture *f;
	unsigned fired;
	bool early, in_turn;
};

static inline void on_alarm(struct lnet_timer *t)
{
	struct alarm *a = t->arg;

	a->fired++;
	a->early |= lnet_loop_now(a->f->l) < t->when;
	a->in_turn = lni_loop_in_turn(a->f->l);
}

static inline void alarm_init(struct fixture *f, struct alarm *a)
{
	*a = (struct alarm){.f = f};
	lnet_timer_init(&a->t, on_alarm, a);
}

static inline void alarm_arm(struct fixture *f, struct alarm *a, uint64_t when)
{
	take(f);
	lnet_timer_arm(f->l, &a->t, when);
	lni_loop_leave(f->l);
}

static inline bool rang(void *arg)
{
	return ((struct alarm *)arg)->fired != 0;
}

#define CASE(fn)       cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define CASE2(fn, set) cmocka_unit_test_setup_teardown(fn, set, teardown)

#endif
