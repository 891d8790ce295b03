/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Match entries: attaching, inserting, unlinking; giving them their MD.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "lnet/ptl/ptl.h"

static void me_hold(void *obj)
{
	struct lni_me *me = obj;

	atomic_fetch_add_explicit(&me->refs, 1, memory_order_relaxed);
}

void lni_me_put(struct lnet *n, struct lni_me *me)
{
	if (atomic_fetch_sub_explicit(&me->refs, 1, memory_order_acq_rel) != 1)
		return;
	atomic_fetch_sub(&n->ptl->mes, 1);
	free(me);
}

/* The MD becomes the ME's, and gets what was parked for it. 0, -ENOENT, -EBUSY. */
static int join(struct lnet *n, struct lni_me *me, struct lni_md *md)
{
	struct lni_portal *p = &n->ptl->portal[me->portal];
	struct lni_list parked;
	int rc = 0;

	lni_list_init(&parked);
	pthread_mutex_lock(&p->lock);
	if (!me->linked) {
		rc = -ENOENT;
	} else if (me->md) {
		rc = -EBUSY;
	} else {
		md->state = LNI_MD_ACTIVE;
		md->me = me;
		me->md = md;
		lni_park_scan(p, &parked);
	}
	pthread_mutex_unlock(&p->lock);
	lni_park_send(n, &parked);
	return rc;
}

int lnet_md_attach(
        struct lnet *n, lnet_handle_t h, const struct lnet_md_desc *d, lnet_handle_t *out)
{
	lnet_handle_t before = *out;
	struct lni_me *me;
	struct lni_md *md;
	unsigned loop;
	int rc;

	if (!lni_id_is(n, h, LNI_ID_ME, &loop))
		return -ENOENT;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	me = lni_id_find(n->ptl, h, me_hold);
	rc = me ? lni_md_make(n, d, &md) : -ENOENT;
	if (rc)
		goto out;
	md->lock = &n->ptl->portal[me->portal].lock;
	*out = md->id; /* before the first event can come */
	rc = lni_id_add(n->ptl, md->id, md);
	if (!rc) {
		rc = join(n, me, md);
		if (rc)
			lni_id_del(n->ptl, md->id);
	}
	if (rc) {
		*out = before;
		lni_md_put(md);
	}
	lni_md_put(md);
out:
	if (me)
		lni_me_put(n, me);
	lni_exit(n);
	return rc;
}

static int attach(struct lnet *n, uint32_t portal, const struct lnet_match *m, int unlink, int pos,
        struct lni_me *near, lnet_handle_t *out)
{
	struct lni_portal *p = &n->ptl->portal[portal];
	uint8_t kind =
	        m->ignore == 0 && !lnet_nid_is_any(&m->nid) && m->pid != LNET_PID_ANY ? 1 : 2;
	struct lni_me *me = calloc(1, sizeof(*me));
	struct lni_list *list;
	lnet_handle_t id;
	int rc;

	if (!me)
		return -ENOMEM;
	me->portal = portal;
	me->m = *m;
	me->unlink = unlink;
	me->id = id = lni_new_id(n, LNI_ID_ME, 0);
	atomic_init(&me->refs, 1);
	atomic_fetch_add(&n->ptl->mes, 1);
	rc = lni_id_add(n->ptl, id, me);
	if (rc) {
		lni_me_put(n, me);
		return rc;
	}
	pthread_mutex_lock(&p->lock);
	if (near && !near->linked)
		rc = -ENOENT;
	else if (p->kind && p->kind != kind)
		rc = -EINVAL;
	list = rc ? NULL : lni_portal_list(p, &me->m);
	if (!rc && !list)
		rc = -ENOMEM;
	if (!rc) {
		p->kind = kind;
		me->linked = true;
		if (near && lni_portal_list(p, &near->m) == list) {
			if (pos == LNET_INS_BEFORE)
				lni_list_add_tail(&near->node, &me->node);
			else
				lni_list_add(&near->node, &me->node);
		} else if (pos == LNET_INS_BEFORE) {
			lni_list_add(list, &me->node);
		} else {
			lni_list_add_tail(list, &me->node);
		}
	}
	pthread_mutex_unlock(&p->lock);
	if (rc) {
		lni_id_del(n->ptl, id);
		lni_me_put(n, me);
	} else {
		*out = id;
	}
	return rc;
}

static bool bad_args(int unlink, enum lnet_ins_pos pos)
{
	return (unlink != LNET_UNLINK && unlink != LNET_RETAIN) || (unsigned)pos > LNET_INS_LOCAL;
}

int lnet_me_attach(struct lnet *n, uint32_t portal, const struct lnet_match *m, int unlink,
        enum lnet_ins_pos pos, lnet_handle_t *me)
{
	int rc;

	if (portal >= LNET_MAX_PORTALS || bad_args(unlink, pos))
		return -EINVAL;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = attach(n, portal, m, unlink, (int)pos, NULL, me);
	lni_exit(n);
	return rc;
}

int lnet_me_insert(struct lnet *n, lnet_handle_t where, const struct lnet_match *m, int unlink,
        enum lnet_ins_pos pos, lnet_handle_t *out)
{
	struct lni_me *near;
	unsigned loop;
	int rc;

	if (bad_args(unlink, pos))
		return -EINVAL;
	if (!lni_id_is(n, where, LNI_ID_ME, &loop))
		return -ENOENT;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	near = lni_id_find(n->ptl, where, me_hold);
	rc = near ? attach(n, near->portal, m, unlink, (int)pos, near, out) : -ENOENT;
	if (near)
		lni_me_put(n, near);
	lni_exit(n);
	return rc;
}

static int unlink_me(struct lnet *n, struct lni_me *me)
{
	struct lni_portal *p = &n->ptl->portal[me->portal];
	struct lni_md *md;
	bool out;

	pthread_mutex_lock(&p->lock);
	out = lni_me_out(me);
	md = out ? me->md : NULL;
	if (md)
		lni_md_hold(md);
	pthread_mutex_unlock(&p->lock);
	if (!out)
		return -ENOENT;
	if (md) {
		lni_md_unlink_live(n, md, true);
		lni_md_put(md);
	}
	lni_id_del(n->ptl, me->id);
	lni_me_put(n, me);
	return 0;
}

int lnet_me_unlink(struct lnet *n, lnet_handle_t h)
{
	struct lni_me *me = NULL;
	unsigned loop;
	int rc = -ENOENT;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	if (lni_id_is(n, h, LNI_ID_ME, &loop))
		me = lni_id_find(n->ptl, h, me_hold);
	if (me) {
		rc = unlink_me(n, me);
		lni_me_put(n, me);
	}
	lni_exit(n);
	return rc;
}

void lni_ptl_stop(struct lnet *n)
{
	struct lni_me *me;
	struct lni_md *md;
	unsigned at = 0;

	if (!n->ptl)
		return;
	lni_id_stop(n->ptl);
	/* what is not unlinked at once is in the hands of another call, which does not wait */
	while ((me = lni_id_any(n, LNI_ID_ME, &at, me_hold))) {
		if (unlink_me(n, me))
			sched_yield();
		lni_me_put(n, me);
	}
	at = 0;
	while ((md = lni_id_any(n, LNI_ID_MD, &at, lni_md_hold))) {
		if (lni_md_unlink_live(n, md, true))
			sched_yield();
		lni_md_put(md);
	}
}
