/* SPDX-License-Identifier: BSD-2-Clause */
/* The poll descriptor: a second epoll set with the same watches, for a caller with its own epoll.
 */
#include "lnet/rt/loop_priv.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

static uint32_t ep_events(int events)
{
	return ((events & LNET_WATCH_READ) ? EPOLLIN : 0u) |
	       ((events & LNET_WATCH_WRITE) ? EPOLLOUT : 0u);
}

static int ep_put(struct lnet_loop *l, int op, int fd, int events)
{
	struct epoll_event e = {.events = ep_events(events), .data.fd = fd};

	return epoll_ctl(l->mirror, op, fd, &e) < 0 ? -errno : 0;
}

static int union_of(const struct lnet_loop *l, int fd)
{
	struct lni_list *i;
	int events = 0;

	lni_list_each(i, &l->watches)
	{
		struct lni_watch_priv *p = lni_list_entry(i, struct lni_watch_priv, link);

		if (p->io.fd == fd)
			events |= lni_container(p, struct lnet_watch, rsv)->events;
	}
	return events;
}

/* A descriptor that has, or had, two watches: what is in the set is not known. */
static void sync_shared(struct lnet_loop *l, int fd)
{
	int events = union_of(l, fd);

	if (!events)
		ep_put(l, EPOLL_CTL_DEL, fd, 0);
	else if (ep_put(l, EPOLL_CTL_MOD, fd, events) == -ENOENT)
		ep_put(l, EPOLL_CTL_ADD, fd, events);
}

void lni_mirror_sync(struct lnet_loop *l, struct lnet_watch *w, int before)
{
	if (l->mirror < 0)
		return;
	if (l->mirror_shared)
		sync_shared(l, w->fd);
	else if (!w->events)
		ep_put(l, EPOLL_CTL_DEL, w->fd, 0);
	else if (before)
		ep_put(l, EPOLL_CTL_MOD, w->fd, w->events);
	else if (ep_put(l, EPOLL_CTL_ADD, w->fd, w->events) == -EEXIST) {
		l->mirror_shared = true;
		sync_shared(l, w->fd);
	}
}

static int mirror_open(struct lnet_loop *l)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = l->evfd};
	struct lni_list *i;

	l->mirror = epoll_create1(EPOLL_CLOEXEC);
	if (l->mirror < 0)
		return -errno;
	if (epoll_ctl(l->mirror, EPOLL_CTL_ADD, l->evfd, &e) < 0) {
		int rc = -errno;

		close(l->mirror);
		l->mirror = -1;
		return rc;
	}
	lni_list_each(i, &l->watches)
	{
		struct lni_watch_priv *p = lni_list_entry(i, struct lni_watch_priv, link);

		lni_mirror_sync(l, lni_container(p, struct lnet_watch, rsv), 0);
	}
	return 0;
}

int lni_loop_pollfd(struct lnet_loop *l)
{
	bool held = lni_loop_held(l);
	int rc = 0;

	if (!l->poll)
		return -EOPNOTSUPP;
	if (!held && !lni_loop_try(l))
		return -EBUSY;
	if (l->mirror < 0)
		rc = mirror_open(l);
	if (rc == 0)
		rc = l->mirror;
	if (!held)
		lni_loop_leave(l);
	return rc;
}

static bool busy(struct lnet_loop *l, uint64_t now)
{
	return lni_loop_pending(l) || lni_timers_top(&l->timers) <= now;
}

int lni_loop_arm(struct lnet_loop *l, uint64_t *sleep_ns)
{
	uint64_t top, now;
	bool no;

	if (!l->poll)
		return -EOPNOTSUPP;
	if (!lni_loop_try(l))
		return -EBUSY;
	now = lnet_loop_now(l);
	top = lni_timers_top(&l->timers);
	no = busy(l, now);
	if (!no) {
		l->armed_until = top;
		atomic_store(&l->left, 0);
		atomic_store(&l->sleeping, 1);
	}
	lni_token_release(l);
	/* Posted before it was known that somebody sleeps: nobody wrote the eventfd. */
	if (no || !lni_inbox_empty(l))
		return -EBUSY;
	*sleep_ns = top == UINT64_MAX ? UINT64_MAX : top - now;
	return 0;
}
