/* SPDX-License-Identifier: BSD-2-Clause */
/* A loop without a thread: watches, poll hooks, spinning, the poll descriptor, making and ending.
 */
#include "unit/loop_fixture.h"

struct eye {
	struct lnet_watch w;
	struct fixture *f;
	unsigned n;
	int events;
	int next; /* set this from the callback; -1 = leave */
	bool read;
};

static void on_eye(struct lnet_watch *w, int events)
{
	struct eye *e = w->arg;

	assert_true(lni_loop_in_turn(e->f->l));
	e->n++;
	e->events = events;
	if (e->read)
		hear(e->f);
	if (e->next >= 0)
		lnet_watch_set(w, e->next);
}

static void eye_init(struct fixture *f, struct eye *e, int fd)
{
	*e = (struct eye){.f = f, .next = -1};
	lnet_watch_init(&e->w, f->l, fd, on_eye, e);
}

static void eye_set(struct fixture *f, struct eye *e, int events)
{
	take(f);
	lnet_watch_set(&e->w, events);
	lni_loop_leave(f->l);
}

static void test_watch(void **state)
{
	struct fixture *f = *state;
	struct eye e;

	eye_init(f, &e, f->sv[0]);
	eye_set(f, &e, LNET_WATCH_READ);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	say(f);
	assert_int_equal(lni_loop_turn(f->l, 60 * TL_S), 1);
	assert_int_equal(e.events, LNET_WATCH_READ);
	/* Level: again. */
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	/* Only the events that were asked for, all that hold. */
	eye_set(f, &e, LNET_WATCH_WRITE);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(e.events, LNET_WATCH_WRITE);
	eye_set(f, &e, LNET_WATCH_READ | LNET_WATCH_WRITE);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(e.events, LNET_WATCH_READ | LNET_WATCH_WRITE);
	eye_set(f, &e, 0);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	eye_set(f, &e, LNET_WATCH_READ);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	e.next = 0; /* stops itself */
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
}

static void test_watch_unchanged(void **state)
{
	struct fixture *f = *state;
	struct eye e;

	eye_init(f, &e, f->sv[0]);
	take(f);
	lnet_watch_set(&e.w, LNET_WATCH_READ);
	assert_true(f->l->fd_new);
	lni_loop_leave(f->l);
	lni_loop_turn(f->l, 0);
	take(f);
	lnet_watch_set(&e.w, LNET_WATCH_READ);
	assert_false(f->l->fd_new);
	lnet_watch_set(&e.w, 0);
	lnet_watch_set(&e.w, 0);
	lni_loop_leave(f->l);
}

static void on_free(struct lnet_watch *w, int events)
{
	struct fixture *f = w->arg;

	(void)events;
	lnet_watch_set(w, 0);
	free(w);
	f->n++;
}

static void test_watch_freed_by_its_function(void **state)
{
	struct fixture *f = *state;
	struct lnet_watch *w = malloc(sizeof(*w));

	assert_non_null(w);
	lnet_watch_init(w, f->l, f->sv[0], on_free, f);
	take(f);
	lnet_watch_set(w, LNET_WATCH_READ | LNET_WATCH_WRITE);
	lni_loop_leave(f->l);
	say(f);
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
	assert_int_equal(f->n, 1);
}

/* A new descriptor under an old number is watched like any other. */
static void test_watch_number_reused(void **state)
{
	struct fixture *f = *state;
	struct eye e;
	int fd = dup(f->sv[0]);

	eye_init(f, &e, fd);
	eye_set(f, &e, LNET_WATCH_READ);
	lni_loop_turn(f->l, 0);
	take(f);
	lnet_watch_set(&e.w, 0);
	close(fd);
	assert_int_equal(dup2(f->sv[0], fd), fd);
	eye_init(f, &e, fd);
	lnet_watch_set(&e.w, LNET_WATCH_READ);
	lni_loop_leave(f->l);
	say(f);
	assert_int_equal(lni_loop_turn(f->l, 10 * TL_S), 1);
	assert_int_equal(e.n, 1);
	eye_set(f, &e, 0);
	close(fd);
}

/* ---- poll hooks ---- */

struct probe {
	struct lnet_poll_hook h;
	struct fixture *f;
	unsigned n, found;
	struct probe *kill;
};

static unsigned on_probe(struct lnet_poll_hook *h)
{
	struct probe *p = h->arg;

	assert_true(lni_loop_in_turn(p->f->l));
	p->n++;
	if (p->kill)
		lnet_loop_poll_del(&p->kill->h);
	return p->found;
}

static void probe_add(struct fixture *f, struct probe *p)
{
	*p = (struct probe){.h = {.fn = on_probe, .arg = p}, .f = f};
	take(f);
	lnet_loop_poll_add(f->l, &p->h);
	lni_loop_leave(f->l);
}

static void test_poll_hooks(void **state)
{
	struct fixture *f = *state;
	struct probe a, b, c;

	probe_add(f, &a);
	probe_add(f, &b);
	probe_add(f, &c);
	a.found = 2;
	b.found = 1;
	assert_int_equal(lni_loop_turn(f->l, 0), 3);
	assert_int_equal(a.n + b.n + c.n, 3);
	/* c runs first: it removes the one after it, then the first itself. */
	c.kill = &b;
	assert_int_equal(lni_loop_turn(f->l, 0), 2);
	c.kill = &c;
	assert_int_equal(lni_loop_turn(f->l, 0), 2);
	assert_int_equal(lni_loop_turn(f->l, 0), 2);
	assert_int_equal(a.n, 4);
	assert_int_equal(b.n, 1);
	assert_int_equal(c.n, 3);
	lnet_loop_poll_del(&b.h); /* twice does no harm */
	a.kill = &a;
	lni_loop_turn(f->l, 0);
	assert_null(f->l->hooks);
	assert_int_equal(lni_loop_turn(f->l, 0), 0);
}

/* While hooks find work the kernel is asked less often, but it is asked. */
static void test_hot_hooks(void **state)
{
	struct fixture *f = *state;
	struct probe a;
	struct eye e;
	unsigned turns = 0;

	eye_init(f, &e, f->sv[0]);
	eye_set(f, &e, LNET_WATCH_READ);
	probe_add(f, &a);
	a.found = 1;
	for (unsigned i = 0; i < 100; i++)
		lni_loop_turn(f->l, 0);
	e.read = true;
	for (unsigned i = 0; i < 50; i++) {
		unsigned before = e.n;

		say(f);
		for (turns = 0; e.n == before && turns < 129; turns++)
			lni_loop_turn(f->l, 0);
		assert_int_equal(e.n, before + 1);
	}
	/* Cold hooks: every turn. */
	a.found = 0;
	f->l->hot = 0;
	say(f);
	lni_loop_turn(f->l, 0);
	assert_int_equal(e.n, 51);
	eye_set(f, &e, 0);
	lnet_loop_poll_del(&a.h);
}

/* ---- spinning ---- */

static void test_spin_finds(void **state)
{
	struct fixture *f = *state;
	struct lni_loop_stats s;
	struct eye e;
	struct probe p;

	eye_init(f, &e, f->sv[0]);
	eye_set(f, &e, LNET_WATCH_READ);
	say(f);
	assert_int_equal(lni_loop_turn(f->l, 60 * TL_S), 1);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.sleeps, 0);
	hear(f);
	probe_add(f, &p);
	p.found = 1;
	assert_int_equal(lni_loop_turn(f->l, 60 * TL_S), 1);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.sleeps, 0);
	lnet_loop_poll_del(&p.h);
	eye_set(f, &e, 0);
}

/* Spins that never pay are given up, and tried again after a while. */
static void test_spin_gives_up(void **state)
{
	struct fixture *f = *state;
	struct probe p;
	unsigned n, turns = 0;

	probe_add(f, &p);
	while (!f->l->spin_pause && turns++ < 100)
		lni_loop_turn(f->l, TL_MS);
	assert_true(f->l->spin_pause > 0);
	n = p.n;
	lni_loop_turn(f->l, TL_MS);
	assert_int_equal(p.n, n);
	f->l->spin_pause = 0;
	lni_loop_turn(f->l, TL_MS);
	assert_true(p.n > n);
	lnet_loop_poll_del(&p.h);
}

/* spin_us = 0: never, whatever the hooks would find. */
static void test_no_spin(void **state)
{
	struct fixture *f = *state;
	struct lni_loop_stats s;
	struct probe p;

	probe_add(f, &p);
	lni_loop_turn(f->l, TL_MS);
	assert_int_equal(p.n, 0);
	lni_loop_stats(f->l, &s);
	assert_int_equal(s.sleeps, 1);
	lnet_loop_poll_del(&p.h);
}

/* ---- poll descriptor ---- */

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void settle(struct fixture *f, uint64_t *ns)
{
	unsigned n = 0;

	while (lni_loop_arm(f->l, ns) == -EBUSY && n++ < 100)
		lni_loop_turn(f->l, 0);
	assert_true(n < 100);
}

static void test_pollfd_watches(void **state)
{
	struct fixture *f = *state;
	struct eye e, late;
	uint64_t ns = 0;
	int fd;

	eye_init(f, &e, f->sv[0]);
	eye_init(f, &late, f->sv[1]);
	eye_set(f, &e, LNET_WATCH_READ);
	fd = lni_loop_pollfd(f->l);
	assert_true(fd >= 0);
	assert_int_equal(lni_loop_pollfd(f->l), fd);
	settle(f, &ns);
	assert_true(ns == UINT64_MAX);
	assert_false(readable(fd));
	say(f);
	assert_true(readable(fd));
	e.read = true;
	assert_int_equal(lni_loop_turn(f->l, 0), 1);
	assert_false(readable(fd));
	/* Kept in step from then on. */
	eye_set(f, &late, LNET_WATCH_WRITE);
	assert_true(readable(fd));
	eye_set(f, &late, LNET_WATCH_READ);
	assert_false(readable(fd));
	eye_set(f, &late, 0);
	say(f);
	assert_true(readable(fd));
	eye_set(f, &e, 0);
	assert_false(readable(fd));
}

static void test_pollfd_shared_descriptor(void **state)
{
	struct fixture *f = *state;
	struct eye r, w;
	int fd = lni_loop_pollfd(f->l);

	eye_init(f, &r, f->sv[0]);
	eye_init(f, &w, f->sv[0]);
	eye_set(f, &r, LNET_WATCH_READ);
	assert_false(readable(fd));
	eye_set(f, &w, LNET_WATCH_WRITE);
	assert_true(readable(fd));
	eye_set(f, &w, 0);
	assert_false(readable(fd));
	say(f);
	assert_true(readable(fd));
	eye_set(f, &r, 0);
	assert_false(readable(fd));
	eye_set(f, &w, LNET_WATCH_WRITE);
	assert_true(readable(fd));
	eye_set(f, &w, 0);
}

static void test_arm(void **state)
{
	struct fixture *f = *state;
	int fd = lni_loop_pollfd(f->l);
	struct alarm a;
	struct job r;
	uint64_t ns = 77, now;

	job_init(f, &r, 'r');
	take(f);
	assert_int_equal(lni_loop_arm(f->l, &ns), -EBUSY);
	lni_loop_ready(f->l, &r.w);
	lni_loop_leave(f->l);
	assert_int_equal(lni_loop_arm(f->l, &ns), -EBUSY);
	assert_int_equal(ns, 77);
	lni_loop_turn(f->l, 0);
	assert_int_equal(lni_loop_arm(f->l, &ns), 0);
	assert_true(ns == UINT64_MAX);
	alarm_init(f, &a);
	now = lnet_loop_clock(f->l);
	alarm_arm(f, &a, now + 100 * TL_S);
	/* The sleeper has been told another time. */
	assert_true(readable(fd));
	settle(f, &ns);
	assert_true(ns <= 100 * TL_S && ns > 10 * TL_S);
	lni_loop_turn(f->l, 0);
	settle(f, &ns);
	assert_false(readable(fd));
	alarm_arm(f, &a, 1);
	assert_true(readable(fd));
	assert_int_equal(lni_loop_arm(f->l, &ns), -EBUSY);
	assert_int_equal(lni_loop_wait(f->l, rang, &a, UINT64_MAX), 0);
}

/* What a post leaves behind wakes a foreign epoll. */
static int make_ready(struct job *j)
{
	lni_loop_ready(j->f->l, &j->other->w);
	return 0;
}

static void test_arm_then_post(void **state)
{
	struct fixture *f = *state;
	int fd = lni_loop_pollfd(f->l);
	struct job p, r;
	uint64_t ns;

	job_init(f, &p, 'p');
	job_init(f, &r, 'r');
	p.also = make_ready;
	p.other = &r;
	settle(f, &ns);
	assert_false(readable(fd));
	lnet_loop_post(f->l, &p.w);
	assert_string_equal(f->order, "p");
	assert_true(readable(fd));
	assert_int_equal(lni_loop_arm(f->l, &ns), -EBUSY);
	assert_in_range(lni_loop_turn(f->l, 0), 1, 2);
	assert_string_equal(f->order, "pr");
	settle(f, &ns);
	assert_false(readable(fd));
}

/* ---- making and ending ---- */

static void test_rxbuf(void **state)
{
	struct fixture *f = *state;
	size_t size = 0;
	char *p;

	take(f);
	p = lnet_loop_rxbuf(f->l, &size);
	assert_non_null(p);
	assert_true(size >= 64 * 1024);
	memset(p, 1, size);
	assert_ptr_equal(lnet_loop_rxbuf(f->l, &size), p);
	lni_loop_leave(f->l);
}

static void test_no_descriptors(void **state)
{
	struct lni_loop_conf c = {.poll = true};
	struct rlimit old, few;
	struct lnet_loop *l = NULL;
	unsigned n = tl_count_fds();

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	for (unsigned left = 0; left < 2; left++) {
		int probe = dup(0);

		assert_true(probe >= 0);
		close(probe);
		few.rlim_cur = (rlim_t)probe + left;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(lni_loop_new(&c, &l), -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_null(l);
	}
	assert_int_equal(tl_count_fds(), n);
}

static int flags_of(int fd)
{
	return fcntl(fd, F_GETFD);
}

static void test_descriptors_end(void **state)
{
	struct lni_loop_conf c = {.poll = true};
	unsigned n = tl_count_fds();
	struct lnet_loop *l;
	int was[64];

	(void)state;
	for (int fd = 0; fd < 64; fd++)
		was[fd] = flags_of(fd);
	assert_int_equal(lni_loop_new(&c, &l), 0);
	assert_true(lni_loop_pollfd(l) >= 0);
	assert_int_equal(tl_count_fds(), n + 3);
	for (int fd = 0; fd < 64; fd++)
		assert_true(was[fd] >= 0 || flags_of(fd) < 0 || (flags_of(fd) & FD_CLOEXEC));
	lni_loop_free(l);
	lni_loop_free(NULL);
	assert_int_equal(tl_count_fds(), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CASE(test_watch),
	        CASE(test_watch_unchanged),
	        CASE(test_watch_freed_by_its_function),
	        CASE(test_watch_number_reused),
	        CASE(test_poll_hooks),
	        CASE(test_hot_hooks),
	        CASE2(test_spin_finds, setup_spin),
	        CASE2(test_spin_gives_up, setup_spin),
	        CASE(test_no_spin),
	        CASE(test_pollfd_watches),
	        CASE(test_pollfd_shared_descriptor),
	        CASE(test_arm),
	        CASE(test_arm_then_post),
	        CASE(test_rxbuf),
	        cmocka_unit_test(test_no_descriptors),
	        cmocka_unit_test(test_descriptors_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
