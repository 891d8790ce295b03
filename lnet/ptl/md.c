/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory descriptors: life, uses, unlinking.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/ptl/ptl.h"

void lni_md_hold(void *obj)
{
	struct lni_md *md = obj;

	atomic_fetch_add_explicit(&md->refs, 1, memory_order_relaxed);
}

int lni_md_get(struct lnet *n, lnet_handle_t id, struct lni_md **out)
{
	unsigned loop;

	if (!lni_id_is(n, id, LNI_ID_MD, &loop))
		return -ENOENT;
	*out = lni_id_find(n->ptl, id, lni_md_hold);
	return *out ? 0 : -ENOENT;
}

void lni_md_put(struct lni_md *md)
{
	if (atomic_fetch_sub_explicit(&md->refs, 1, memory_order_acq_rel) != 1)
		return;
	atomic_fetch_sub(&md->n->ptl->mds, 1);
	if (md->iov != &md->one)
		free(md->iov);
	free(md);
}

static int check(const struct lnet_md_desc *d)
{
	if (d->mem.niov > LNET_MAX_IOV || (d->mem.niov && !d->mem.iov))
		return -EINVAL;
	if (d->threshold != LNET_MD_THRESH_INF && d->threshold < 1)
		return -EINVAL;
	if (d->unlink != LNET_UNLINK && d->unlink != LNET_RETAIN)
		return -EINVAL;
	if ((d->options & LNET_MD_MAX_SIZE) && d->max_size == 0)
		return -EINVAL;
	return 0;
}

int lni_md_make(struct lnet *n, const struct lnet_md_desc *d, struct lni_md **out)
{
	struct lni_md *md;
	int rc = check(d);

	if (rc)
		return rc;
	md = calloc(1, sizeof(*md));
	if (!md)
		return -ENOMEM;
	md->iov = &md->one;
	if (d->mem.niov > 1) {
		md->iov = malloc(d->mem.niov * sizeof(struct iovec));
		if (!md->iov) {
			free(md);
			return -ENOMEM;
		}
	}
	for (uint32_t i = 0; i < d->mem.niov; i++) {
		md->iov[i] = d->mem.iov[i];
		if (__builtin_add_overflow(md->length, md->iov[i].iov_len, &md->length)) {
			if (md->iov != &md->one)
				free(md->iov);
			free(md);
			return -EINVAL;
		}
	}
	md->niov = d->mem.niov;
	md->n = n;
	md->options = d->options;
	md->threshold = d->threshold;
	md->unlink = d->unlink;
	md->max_size = d->max_size;
	md->handler = d->handler;
	md->user = d->user;
	lni_list_init(&md->uses);
	md->id = lni_new_id(n, LNI_ID_MD, 0);
	atomic_init(&md->refs, 2); /* the table's or the ME's, and the maker's */
	atomic_fetch_add(&n->ptl->mds, 1);
	*out = md;
	return 0;
}

int lnet_md_bind(struct lnet *n, const struct lnet_md_desc *d, lnet_handle_t *h)
{
	struct lni_md *md;
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_md_make(n, d, &md);
	if (!rc) {
		lnet_handle_t id = md->id;

		md->lock = &n->ptl->free_lock;
		md->state = LNI_MD_ACTIVE;
		rc = lni_id_add(n->ptl, id, md);
		if (rc)
			lni_md_put(md);
		else
			*h = id;
		lni_md_put(md);
	}
	lni_exit(n);
	return rc;
}

/* Take the ME out of its portal. Lock held. The list's reference is the caller's to drop. */
bool lni_me_out(struct lni_me *me)
{
	if (!me->linked)
		return false;
	me->linked = false;
	lni_list_del(&me->node);
	return true;
}

/* CLOSING: the MD leaves its ME. Lock held. Returns the ME when it went, too. */
static struct lni_me *close_md(struct lni_md *md)
{
	struct lni_me *me = md->me;

	md->state = LNI_MD_CLOSING;
	if (!me)
		return NULL;
	me->md = NULL;
	md->me = NULL;
	return me->unlink == LNET_UNLINK && lni_me_out(me) ? me : NULL;
}

/* Ids and references after close_md(). No lock held. */
static void closed(struct lnet *n, struct lni_md *md, struct lni_me *me)
{
	lni_id_del(n->ptl, md->id);
	lni_md_put(md); /* the table's */
	if (me) {
		lni_id_del(n->ptl, me->id);
		lni_me_put(n, me);
	}
}

void lni_md_spend(struct lni_md *md, struct lni_use *u)
{
	u->md = md;
	u->cancelling = u->gone = u->let_go = false;
	atomic_fetch_add_explicit(&md->refs, 1, memory_order_relaxed);
	lni_list_add_tail(&md->uses, &u->node);
	md->nuses++;
	if (md->threshold != LNET_MD_THRESH_INF)
		md->threshold--;
}

bool lni_md_used_up(const struct lni_md *md)
{
	if (md->threshold == 0)
		return true;
	return (md->options & LNET_MD_MAX_SIZE) && !(md->options & LNET_MD_MANAGE_REMOTE) &&
	       md->offset + md->max_size > md->length;
}

struct lni_me *lni_md_auto(struct lni_md *md, bool *closes)
{
	*closes = md->unlink == LNET_UNLINK && lni_md_used_up(md);
	return *closes ? close_md(md) : NULL;
}

void lni_md_auto_done(struct lnet *n, struct lni_md *md, struct lni_me *me)
{
	closed(n, md, me);
}

int lni_md_use(struct lni_md *md, struct lni_use *u)
{
	struct lni_me *me = NULL;
	bool closes = false;
	int rc = 0;

	pthread_mutex_lock(md->lock);
	if (md->state != LNI_MD_ACTIVE)
		rc = -ENOENT;
	else if (md->threshold == 0)
		rc = -EINVAL;
	if (!rc) {
		lni_md_spend(md, u);
		me = lni_md_auto(md, &closes);
	}
	pthread_mutex_unlock(md->lock);
	if (closes)
		closed(md->n, md, me);
	return rc;
}

static void tell_unlinked(struct lnet_work *w)
{
	struct lni_md *md = w->arg;

	lni_call_handler(md->n, md->n->loops[0], md->handler, &md->ev);
	lni_md_put(md);
}

static void unlinked_there(struct lnet_work *w)
{
	struct lni_md *md = w->arg;

	lni_deliver(md->n, md->n->loops[0], w, tell_unlinked, md);
}

/* No event of a use says it, and md->told is set. No lock held. */
static void post_unlinked(struct lni_md *md)
{
	if (!md->handler)
		return;
	md->ev = (struct lnet_event){.size = sizeof(md->ev),
	        .type = LNET_EV_UNLINK,
	        .unlinked = true,
	        .md = md->id,
	        .user = md->user};
	lni_md_hold(md);
	lnet_work_init(&md->work, unlinked_there, md);
	lnet_loop_post(md->n->loops[0], &md->work);
}

bool lni_use_tell(struct lni_use *u)
{
	struct lni_md *md = u->md;
	bool last;

	pthread_mutex_lock(md->lock);
	u->gone = true;
	last = md->state == LNI_MD_CLOSING && md->nuses == 1 && !md->told;
	md->told |= last;
	pthread_mutex_unlock(md->lock);
	return last;
}

static void run_cancel(struct lnet_work *w)
{
	struct lni_use *u = w->arg;
	struct lni_md *md = u->md;
	bool gone, let_go;

	pthread_mutex_lock(md->lock);
	u->cancelling = false;
	gone = u->gone;
	let_go = u->let_go;
	pthread_mutex_unlock(md->lock);
	if (let_go) {
		u->release(u);
		lni_md_put(md);
	} else if (!gone) {
		u->cancel(u);
	}
}

void lni_use_release(struct lni_use *u)
{
	struct lni_md *md = u->md;
	bool last;

	pthread_mutex_lock(md->lock);
	lni_list_del(&u->node);
	md->nuses--;
	u->gone = true;
	u->let_go = u->cancelling;
	last = md->state == LNI_MD_CLOSING && md->nuses == 0 && !md->told;
	md->told |= last;
	if (u->let_go)
		u = NULL; /* run_cancel() frees it */
	pthread_mutex_unlock(md->lock);
	if (last)
		post_unlinked(md);
	if (u) {
		u->release(u);
		lni_md_put(md);
	}
}

/* Close a live MD. cancel: end what is under way with it. */
int lni_md_unlink_live(struct lnet *n, struct lni_md *md, bool cancel)
{
	struct lni_me *me;
	struct lni_list *i;
	struct lni_use *todo = NULL;
	bool idle;

	pthread_mutex_lock(md->lock);
	if (md->state != LNI_MD_ACTIVE) {
		pthread_mutex_unlock(md->lock);
		return -ENOENT;
	}
	me = close_md(md);
	idle = md->nuses == 0;
	md->told |= idle;
	lni_list_each(i, &md->uses)
	{
		struct lni_use *u = lni_container(i, struct lni_use, node);

		if (!cancel)
			break;
		u->cancelling = true;
		u->next = todo;
		todo = u;
	}
	pthread_mutex_unlock(md->lock);
	while (todo) {
		struct lni_use *u = todo;

		todo = u->next;
		lnet_work_init(&u->work, run_cancel, u);
		lnet_loop_post(u->loop, &u->work);
	}
	if (idle)
		post_unlinked(md);
	closed(n, md, me);
	return 0;
}

int lnet_md_unlink(struct lnet *n, lnet_handle_t h)
{
	struct lni_md *md;
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_md_get(n, h, &md);
	if (!rc) {
		rc = lni_md_unlink_live(n, md, true);
		lni_md_put(md);
	}
	lni_exit(n);
	return rc;
}

void lni_md_retire(struct lnet *n, lnet_handle_t h)
{
	struct lni_md *md;

	if (lni_md_get(n, h, &md))
		return;
	lni_md_unlink_live(n, md, false);
	lni_md_put(md);
}
