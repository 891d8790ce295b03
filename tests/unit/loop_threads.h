/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of a loop with a thread share. */
#ifndef TEST_LOOP_THREADS_H
#define TEST_LOOP_THREADS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <pthread.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/tlib.h"
#include "lnet/base/rand.h"
#include "lnet/rt/loop_priv.h"

#define PATIENCE (60 * TL_S)

struct fixture {
	struct lnet_loop *l;
	int sv[2];
	uint64_t counter; /* not atomic: the token guards it */
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct lni_loop_conf c = {.name = "a name that is too long"};

	assert_non_null(f);
	assert_int_equal(lni_loop_new(&c, &f->l), 0);
	assert_int_equal(lni_loop_start(f->l), 0);
	assert_int_equal(
	        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, f->sv), 0);
	*state = f;
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

static inline uint64_t after(struct fixture *f, uint64_t ns)
{
	return lnet_loop_clock(f->l) + ns;
}

static inline struct lni_loop_stats stats(struct fixture *f)
{
	struct lni_loop_stats s;

	lni_loop_stats(f->l, &s);
	return s;
}

/* The thread sleeps in libev, with the token. */
static inline void until_asleep(struct fixture *f)
{
	assert_true(TL_UNTIL(NULL,
	        atomic_load(&f->l->sleeping) &&
	                atomic_load(&f->l->owner) == atomic_load(&f->l->tid),
	        PATIENCE));
}

/* ---- something that happens on the loop ---- */

struct spot {
	struct lnet_work w, r;
	struct lnet_timer t;
	struct lnet_watch io;
	struct fixture *f;
	uint64_t delay;
	int rc;
	pthread_t by;
	atomic_uint done;
};

static inline void spot_hit(struct spot *s)
{
	assert_true(lni_loop_held(s->f->l));
	s->by = pthread_self();
	atomic_fetch_add(&s->done, 1);
}

static inline void on_work(struct lnet_work *w)
{
	spot_hit(w->arg);
}

static inline void on_timer(struct lnet_timer *t)
{
	spot_hit(t->arg);
}

static inline void on_io(struct lnet_watch *w, int events)
{
	char c;

	(void)events;
	if (read(w->fd, &c, 1) == 1)
		spot_hit(w->arg);
}

static inline void spot_init(struct fixture *f, struct spot *s)
{
	memset(s, 0, sizeof(*s));
	s->f = f;
	lnet_work_init(&s->w, on_work, s);
	lnet_work_init(&s->r, on_work, s);
	lnet_timer_init(&s->t, on_timer, s);
	lnet_watch_init(&s->io, f->l, f->sv[0], on_io, s);
}

static inline bool spot_done(void *arg)
{
	return atomic_load(&((struct spot *)arg)->done) != 0;
}

static inline bool never(void *arg)
{
	(void)arg;
	return false;
}

static inline int arm(void *arg)
{
	struct spot *s = arg;

	lnet_timer_arm(s->f->l, &s->t, lnet_loop_now(s->f->l) + s->delay);
	return 0;
}

static inline int disarm(void *arg)
{
	struct spot *s = arg;

	lnet_timer_stop(s->f->l, &s->t);
	return 0;
}

static inline int look(void *arg)
{
	lnet_watch_set(&((struct spot *)arg)->io, LNET_WATCH_READ);
	return 0;
}

static inline int look_away(void *arg)
{
	lnet_watch_set(&((struct spot *)arg)->io, 0);
	return 0;
}

static inline int set_ready(void *arg)
{
	struct spot *s = arg;

	lni_loop_ready(s->f->l, &s->r);
	return 0;
}

static inline bool by_thread(const struct spot *s)
{
	return pthread_equal(s->by, s->f->l->thread);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
