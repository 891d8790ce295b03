/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer watches: a file system evicts on what they say. An event is queued as ready work of the
 * peer's home loop, so that the callback runs as a handler.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/net/net.h"

struct lni_watcher {
	struct lni_watcher *next; /* under net->lock */
	lnet_handle_t handle;
	struct lnet_nid nid; /* ANY = all */
	lnet_peer_watch_fn fn;
	void *user;
	_Atomic bool dead;
	_Atomic int refs; /* list, events under way */
};

struct fire {
	struct lnet_work work;
	struct lni_watcher *w;
	struct lnet *n;
	struct lnet_loop *loop;
	struct lnet_nid nid;
	uint32_t pid;
	enum lnet_peer_event ev;
	int err;
};

static void put(struct lni_watcher *w)
{
	if (atomic_fetch_sub(&w->refs, 1) == 1)
		free(w);
}

static void run(struct lnet_work *work)
{
	struct fire *f = work->arg;

	if (!atomic_load(&f->w->dead)) {
		lni_handler_begin(f->n, f->loop);
		f->w->fn(f->w->user, &f->nid, f->pid, f->ev, f->err);
		lni_handler_end(f->n, f->loop);
	}
	put(f->w);
	free(f);
}

void lni_watch_fire(struct lni_rail *r, enum lnet_peer_event ev, int err)
{
	struct lnet *n = r->pni->n;
	struct lni_list todo;
	unsigned lost = 0;

	lni_list_init(&todo);
	if (r->ni == n->net->lo)
		return;
	pthread_mutex_lock(&n->net->lock);
	for (struct lni_watcher *w = n->net->watchers; w; w = w->next) {
		struct fire *f;

		if (!lnet_nid_is_any(&w->nid) && !lnet_nid_eq(&w->nid, &r->d.nid))
			continue;
		f = malloc(sizeof(*f));
		if (!f) {
			lost++;
			continue;
		}
		atomic_fetch_add(&w->refs, 1);
		*f = (struct fire){.w = w,
		        .n = n,
		        .loop = r->d.loop,
		        .nid = r->d.nid,
		        .pid = r->d.pid,
		        .ev = ev,
		        .err = err};
		lnet_work_init(&f->work, run, f);
		lni_loop_ready(r->d.loop, &f->work);
	}
	pthread_mutex_unlock(&n->net->lock);
	if (lost)
		lni_logf(n, LNET_LOG_ERR, "NOMEM", "%u peer events are lost", lost);
}

int lnet_peer_watch(struct lnet *n, const struct lnet_nid *nid, lnet_peer_watch_fn fn, void *user,
        lnet_handle_t *watch)
{
	struct lni_watcher *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	if (!lni_enter(n)) {
		free(w);
		return -ESHUTDOWN;
	}
	w->nid = *nid;
	w->fn = fn;
	w->user = user;
	atomic_init(&w->refs, 1);
	w->handle = lni_new_id(n, LNI_ID_WATCH, 0);
	*watch = w->handle;
	pthread_mutex_lock(&n->net->lock);
	w->next = n->net->watchers;
	n->net->watchers = w;
	pthread_mutex_unlock(&n->net->lock);
	lni_exit(n);
	return 0;
}

static int nothing(void *arg, struct lnet_loop *l)
{
	(void)arg;
	(void)l;
	return 0;
}

int lnet_peer_unwatch(struct lnet *n, lnet_handle_t watch)
{
	struct lni_watcher *w = NULL;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	pthread_mutex_lock(&n->net->lock);
	for (struct lni_watcher **ww = &n->net->watchers; *ww; ww = &(*ww)->next) {
		if ((*ww)->handle == watch) {
			w = *ww;
			*ww = w->next;
			break;
		}
	}
	pthread_mutex_unlock(&n->net->lock);
	if (w) {
		atomic_store(&w->dead, true);
		put(w);
		/* a callback under way ends with the turn that runs it */
		if (!lni_in_handler(n))
			lni_each_loop(n, nothing, NULL);
	}
	lni_exit(n);
	return w ? 0 : -ENOENT;
}

void lni_watch_close(struct lnet *n)
{
	struct lni_watcher *w;

	pthread_mutex_lock(&n->net->lock);
	while ((w = n->net->watchers)) {
		n->net->watchers = w->next;
		atomic_store(&w->dead, true);
		put(w);
	}
	pthread_mutex_unlock(&n->net->lock);
}
