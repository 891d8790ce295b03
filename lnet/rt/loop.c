/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and ending a loop; its clock, buffer and poll hooks. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { RXBUF_SIZE = 256 * 1024 };

static void fill(struct lnet_loop *l, const struct lni_loop_conf *c)
{
	memset(l, 0, sizeof(*l));
	l->stale = true;
	l->ev_at = UINT64_MAX;
	l->mirror = -1;
	l->clock = c->clock;
	l->poll = c->poll;
	l->spin_ns = (uint64_t)c->spin_us * 1000;
	l->index = c->index;
	strncpy(l->name, c->name ? c->name : "ulnet", sizeof(l->name) - 1);
	lni_list_init(&l->watches);
	lni_workq_init(&l->ready);
	lni_workq_init(&l->deferred);
}

int lni_loop_new(const struct lni_loop_conf *c, struct lnet_loop **out)
{
	struct lnet_loop *l = aligned_alloc(64, (sizeof(*l) + 63) & ~(size_t)63);
	int rc = -ENOMEM;

	if (!l)
		return -ENOMEM;
	fill(l, c);
	l->rxbuf = aligned_alloc(4096, RXBUF_SIZE);
	if (!l->rxbuf || lni_timers_init(&l->timers) < 0)
		goto out_rxbuf;
	l->evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->evfd < 0) {
		rc = -errno;
		goto out_timers;
	}
	errno = ENOMEM;
	l->ev = ev_loop_new(
	        EVBACKEND_EPOLL | EVFLAG_NOENV | EVFLAG_NOSIGMASK | (unsigned)EVFLAG_NOTIMERFD);
	if (!l->ev) {
		rc = errno == EMFILE || errno == ENFILE ? -EMFILE : -ENOMEM;
		goto out_evfd;
	}
	lni_poll_init(l);
	*out = l;
	return 0;
out_evfd:
	close(l->evfd);
out_timers:
	lni_timers_fini(&l->timers);
out_rxbuf:
	free(l->rxbuf);
	free(l);
	return rc == -ENFILE ? -EMFILE : rc;
}

void lni_loop_free(struct lnet_loop *l)
{
	if (!l)
		return;
	assert(!l->started && !atomic_load(&l->owner));
	assert(!l->timers.n && lni_list_empty(&l->watches) && !lni_loop_pending(l));
	ev_loop_destroy(l->ev);
	close(l->evfd);
	if (l->mirror >= 0)
		close(l->mirror);
	lni_timers_fini(&l->timers);
	free(l->rxbuf);
	free(l);
}

uint64_t lnet_loop_clock(const struct lnet_loop *l)
{
	return l->clock.now ? l->clock.now(l->clock.arg) : lni_mono();
}

uint64_t lnet_loop_now(const struct lnet_loop *l)
{
	/* Read when first asked for in a turn: many turns never ask. */
	if (l->stale) {
		struct lnet_loop *m = (struct lnet_loop *)l;

		m->now = lnet_loop_clock(l);
		m->stale = false;
	}
	return l->now;
}

void lnet_timer_arm(struct lnet_loop *l, struct lnet_timer *t, uint64_t when)
{
	assert(lni_loop_held(l));
	lni_timers_arm(&l->timers, t, when);
}

void lnet_timer_stop(struct lnet_loop *l, struct lnet_timer *t)
{
	assert(!t->slot || lni_loop_held(l));
	lni_timers_stop(&l->timers, t);
}

void *lnet_loop_rxbuf(struct lnet_loop *l, size_t *size)
{
	*size = RXBUF_SIZE;
	return l->rxbuf;
}

void lnet_loop_poll_add(struct lnet_loop *l, struct lnet_poll_hook *h)
{
	assert(lni_loop_held(l));
	h->next = l->hooks;
	h->pprev = &l->hooks;
	if (h->next)
		h->next->pprev = &h->next;
	l->hooks = h;
}

void lnet_loop_poll_del(struct lnet_poll_hook *h)
{
	if (!h->pprev)
		return;
	*h->pprev = h->next;
	if (h->next)
		h->next->pprev = h->pprev;
	h->next = NULL;
	h->pprev = NULL;
}

unsigned lni_loop_index(const struct lnet_loop *l)
{
	return l->index;
}

void lni_loop_stats(const struct lnet_loop *l, struct lni_loop_stats *s)
{
	s->turns = atomic_load_explicit(&l->turns, memory_order_relaxed);
	s->sleeps = atomic_load_explicit(&l->sleeps, memory_order_relaxed);
	s->wakes = atomic_load_explicit(&l->wakes, memory_order_relaxed);
	s->posts = atomic_load_explicit(&l->posts, memory_order_relaxed);
}
