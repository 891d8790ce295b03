/* SPDX-License-Identifier: BSD-2-Clause */
/* The libev part of a turn: poll hooks, spinning, sleeping, and the one ev_timer. */
#include "lnet/rt/loop_priv.h"

#include <unistd.h>

enum {
	HOT_TURNS = 64,      /* the hooks stay preferred so long after their last find */
	SKIP_TURNS = 128,    /* turns without libev at most while they are */
	SKIP_MIN_NS = 20000, /* the time without it; doubles as long as libev finds nothing */
	SKIP_MAX_NS = 160000,
	FOREIGN_NAP_MS = 10, /* a foreign clock may jump: look at it so often */
	SPIN_MISSES = 16,    /* spins in vain before spinning is given up for a while */
	SPIN_PAUSE = 256,    /* sleeps without spinning then */
};

static void on_wake(struct ev_loop *ev, ev_io *io, int revents)
{
	uint64_t n;

	(void)ev;
	(void)revents;
	/* The count does not matter; what was posted is in the inbox. */
	if (read(io->fd, &n, sizeof(n)) < 0)
		return;
}

static void on_tick(struct ev_loop *ev, ev_timer *t, int revents)
{
	struct lnet_loop *l = ev_userdata(ev);

	(void)t;
	(void)revents;
	l->ev_at = UINT64_MAX;
	l->check = true;
}

static void before_sleep(struct ev_loop *ev)
{
	(void)ev;
}

/* libev calls this when epoll_wait has returned and nothing was handled yet. */
static void after_sleep(struct ev_loop *ev)
{
	struct lnet_loop *l = ev_userdata(ev);

	/* From here on nobody needs to write the eventfd: the inbox is read before the next sleep.
	 */
	atomic_store_explicit(&l->sleeping, 0, memory_order_relaxed);
	l->stale = true;
}

void lni_poll_init(struct lnet_loop *l)
{
	l->skip_ns = SKIP_MIN_NS;
	ev_set_userdata(l->ev, l);
	ev_set_loop_release_cb(l->ev, before_sleep, after_sleep);
	ev_io_init(&l->wake_io, on_wake, l->evfd, EV_READ);
	ev_io_start(l->ev, &l->wake_io);
	ev_timer_init(&l->tick, on_tick, 0., 0.);
}

static void tick_arm(struct lnet_loop *l, uint64_t at, uint64_t after_ns)
{
	ev_timer_stop(l->ev, &l->tick);
	ev_now_update(l->ev);
	/* A microsecond more, so that rounding does not wake us for a timer that is not due. */
	ev_timer_set(&l->tick, (ev_tstamp)after_ns * 1e-9 + 1e-6, 0.);
	ev_timer_start(l->ev, &l->tick);
	l->ev_at = at;
}

/*
 * See that libev wakes up at `at` (or earlier: an ev_timer that is too early is left alone, so that
 * timers that come and go cost nothing here). false: it is that late already.
 */
static bool tick_plan(struct lnet_loop *l, uint64_t at)
{
	uint64_t now;

	if (at >= l->ev_at)
		return true;
	now = lnet_loop_clock(l);
	if (at <= now)
		return false;
	tick_arm(l, at, at - now);
	return true;
}

/* The same with a clock that is not libev's: never trust what was armed before. */
static bool tick_plan_foreign(struct lnet_loop *l, uint64_t at, uint64_t max_ns)
{
	uint64_t now = lnet_loop_clock(l), after = (uint64_t)FOREIGN_NAP_MS * LNI_NS_PER_MS;

	if (at <= now)
		return false;
	if (at - now < after)
		after = at - now;
	if (max_ns < after)
		after = max_ns;
	tick_arm(l, UINT64_MAX - 1, after);
	return true;
}

static unsigned run_ev(struct lnet_loop *l, int flags)
{
	l->nev = 0;
	l->skipped = 0;
	l->fd_new = false;
	ev_run(l->ev, flags);
	if (l->hooks) {
		l->last_ev = lnet_loop_now(l);
		if (l->nev)
			l->skip_ns = SKIP_MIN_NS;
		else if (l->skip_ns < SKIP_MAX_NS)
			l->skip_ns *= 2;
	}
	return l->nev;
}

static unsigned run_hooks(struct lnet_loop *l)
{
	struct lnet_poll_hook cursor = {0};
	struct lnet_poll_hook *h = l->hooks;
	unsigned n = 0;

	/* A hook may remove any hook: our place in the list is kept by a member of it. */
	while (h) {
		lnet_loop_poll_del(&cursor);
		cursor.next = h->next;
		cursor.pprev = &h->next;
		if (h->next)
			h->next->pprev = &cursor.next;
		h->next = &cursor;
		if (h->fn)
			n += h->fn(h);
		h = cursor.next;
	}
	lnet_loop_poll_del(&cursor);
	return n;
}

/* While the hooks find work, asking the kernel as well is mostly in vain. */
static bool skip_ev(struct lnet_loop *l, unsigned found)
{
	if (found)
		l->hot = HOT_TURNS;
	else if (!l->hot)
		return false;
	else
		l->hot--;
	if (++l->skipped >= SKIP_TURNS)
		return false;
	l->stale = true;
	return lnet_loop_now(l) - l->last_ev < l->skip_ns;
}

static unsigned poll_once(struct lnet_loop *l)
{
	unsigned n = 0;

	if (l->hooks) {
		l->stale = true;
		n = run_hooks(l);
		if (skip_ev(l, n))
			return n;
	}
	return n + run_ev(l, EVRUN_NOWAIT);
}

/* Must the owner stay awake? The other side of each of these writes first and looks at `sleeping`
 * then. */
static bool called(struct lnet_loop *l)
{
	return !lni_inbox_empty(l) ||
	       (l->by_thread && (atomic_load(&l->want) || atomic_load(&l->stop)));
}

static bool spin_pays(struct lnet_loop *l)
{
	if (!l->spin_ns)
		return false;
	if (l->spin_pause) {
		l->spin_pause--;
		return false;
	}
	return true;
}

static unsigned spin(struct lnet_loop *l)
{
	uint64_t end;

	if (!spin_pays(l))
		return 0;
	end = lni_mono() + l->spin_ns;
	do {
		unsigned n = poll_once(l);

		if (n || l->check || called(l)) {
			l->spin_miss = 0;
			return n;
		}
	} while (lni_mono() < end);
	if (++l->spin_miss >= SPIN_MISSES) {
		l->spin_miss = SPIN_MISSES - 1;
		l->spin_pause = SPIN_PAUSE;
	}
	return 0;
}

static unsigned nap(struct lnet_loop *l)
{
	unsigned n;

	atomic_store(&l->sleeping, 1);
	if (called(l)) {
		atomic_store_explicit(&l->sleeping, 0, memory_order_relaxed);
		return 0;
	}
	lni_count(&l->sleeps, 1);
	n = run_ev(l, EVRUN_ONCE);
	atomic_store_explicit(&l->sleeping, 0, memory_order_relaxed);
	return n;
}

unsigned lni_loop_poll(struct lnet_loop *l, uint64_t deadline, uint64_t max_ns)
{
	uint64_t top = lni_timers_top(&l->timers);
	bool sleep = max_ns && !lni_loop_pending(l) && !l->check;
	unsigned n = 0;

	lni_count(&l->turns, 1);
	if (sleep && max_ns != UINT64_MAX && !l->clock.now) {
		uint64_t now = lnet_loop_clock(l);

		if (max_ns < UINT64_MAX - now && now + max_ns < deadline)
			deadline = now + max_ns;
	}
	if (l->clock.now) {
		if (sleep)
			sleep = tick_plan_foreign(l, top < deadline ? top : deadline, max_ns);
	} else {
		if (!tick_plan(l, top)) {
			l->check = true;
			sleep = false;
		}
		if (sleep)
			sleep = tick_plan(l, deadline);
	}
	l->in_turn = true;
	if (sleep)
		n = spin(l);
	if (!sleep)
		n = poll_once(l);
	else if (!n && !l->check)
		n = nap(l);
	l->in_turn = false;
	l->stale = true;
	return n;
}
