/* SPDX-License-Identifier: BSD-2-Clause */
/* File watches: libev's ev_io inside struct lnet_watch. */
#include "lnet/rt/loop_priv.h"

#include <assert.h>

static void on_io(struct ev_loop *ev, ev_io *io, int revents)
{
	struct lni_watch_priv *p = lni_container(io, struct lni_watch_priv, io);
	struct lnet_watch *w = lni_container(p, struct lnet_watch, rsv);
	struct lnet_loop *l = ev_userdata(ev);
	int events = w->events;

	l->nev++;
	if (revents & EV_ERROR) {
		/* libev has stopped it: the descriptor is unusable, which its owner finds out by
		 * using it. */
		w->events = 0;
		lni_list_del(&p->link);
		lni_mirror_sync(l, w, events);
	} else {
		events &= ((revents & EV_READ) ? LNET_WATCH_READ : 0) |
		          ((revents & EV_WRITE) ? LNET_WATCH_WRITE : 0);
	}
	if (events)
		w->fn(w, events);
}

void lnet_watch_init(struct lnet_watch *w, struct lnet_loop *l, int fd, lnet_watch_fn fn, void *arg)
{
	struct lni_watch_priv *p = lni_watch_priv(w);

	*w = (struct lnet_watch){.fn = fn, .arg = arg, .loop = l, .fd = fd};
	/* The flag that this sets makes libev tell the kernel at the first start, whatever it
	 * believes about the descriptor's number; later starts go by its own record. */
	ev_io_init(&p->io, on_io, fd, 0);
	lni_list_init(&p->link);
}

static int ev_events(int events)
{
	return ((events & LNET_WATCH_READ) ? EV_READ : 0) |
	       ((events & LNET_WATCH_WRITE) ? EV_WRITE : 0);
}

void lnet_watch_set(struct lnet_watch *w, int events)
{
	struct lni_watch_priv *p = lni_watch_priv(w);
	struct lnet_loop *l = w->loop;
	int before = w->events;

	if (events == before)
		return;
	assert(lni_loop_held(l));
	w->events = events;
	if (before)
		ev_io_stop(l->ev, &p->io);
	else
		lni_list_add_tail(&l->watches, &p->link);
	if (events) {
		ev_io_modify(&p->io, ev_events(events));
		ev_io_start(l->ev, &p->io);
		if (events & ~before)
			l->fd_new = true;
	} else {
		lni_list_del(&p->link);
	}
	lni_mirror_sync(l, w, before);
}
