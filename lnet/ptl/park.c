/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lazy portals: PUTs that came before their MD wait here, whole, in bounded memory. Reading never
 * stops for them (unlike the kernel, whose parked message blocks its connection).
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/ptl/ptl.h"

static unsigned share_of(const struct lni_portal *t, const struct lni_pni *peer)
{
	struct lni_list *i;
	unsigned k = 0;

	lni_list_each(i, &t->parked) k +=
	        lni_container(i, struct lni_parked, node)->rail->pni == peer;
	return k;
}

enum lni_match_result lni_park(struct lnet *n, struct lni_parked *p, unsigned max, bool *full)
{
	struct lni_portal *t = &n->ptl->portal[p->q.portal];
	enum lni_match_result res;
	struct lni_me *me;
	bool closes;

	*full = false;
	pthread_mutex_lock(&t->lock);
	res = lni_match_in(t, &p->q, p->use, p->hit, &closes, &me);
	if (res == LNI_MATCH_LAZY) {
		*full = share_of(t, p->rail->pni) >= max;
		if (*full || p->rail->closing) {
			res = LNI_MATCH_NONE;
		} else {
			lni_list_add_tail(&t->parked, &p->node);
			atomic_fetch_add(&n->ptl->nparked, 1);
		}
	}
	pthread_mutex_unlock(&t->lock);
	if (closes)
		lni_md_auto_done(n, p->hit->md, me);
	return res;
}

static void take(struct lni_parked *p, struct lni_list *out, enum lni_match_result res)
{
	p->res = res;
	lni_list_del(&p->node);
	lni_list_add_tail(out, &p->node);
}

void lni_park_scan(struct lni_portal *t, struct lni_list *out)
{
	struct lni_list *i, *tmp;

	lni_list_each_safe(i, tmp, &t->parked)
	{
		struct lni_parked *p = lni_container(i, struct lni_parked, node);
		enum lni_match_result res =
		        lni_match_in(t, &p->q, p->use, p->hit, &p->closes, &p->me);

		if (res != LNI_MATCH_LAZY)
			take(p, out, res);
	}
}

static void run_deliver(struct lnet_work *w)
{
	struct lni_parked *p = w->arg;

	p->deliver(p);
}

void lni_park_send(struct lnet *n, struct lni_list *out)
{
	struct lni_list *i;

	while ((i = lni_list_pop(out))) {
		struct lni_parked *p = lni_container(i, struct lni_parked, node);

		atomic_fetch_sub(&n->ptl->nparked, 1);
		if (p->res == LNI_MATCH_HIT && p->closes)
			lni_md_auto_done(n, p->hit->md, p->me);
		lnet_work_init(&p->work, run_deliver, p);
		lnet_loop_post(p->rail->d.loop, &p->work);
	}
}

void lni_park_drop(struct lnet *n, const struct lni_rail *r)
{
	struct lni_list out, *i, *tmp;

	if (atomic_load(&n->ptl->nparked) == 0)
		return;
	lni_list_init(&out);
	for (unsigned k = 0; k < LNET_MAX_PORTALS; k++) {
		struct lni_portal *t = &n->ptl->portal[k];

		pthread_mutex_lock(&t->lock);
		lni_list_each_safe(i, tmp, &t->parked)
		{
			struct lni_parked *p = lni_container(i, struct lni_parked, node);

			if (p->rail == r)
				take(p, &out, LNI_MATCH_NONE);
		}
		pthread_mutex_unlock(&t->lock);
	}
	lni_park_send(n, &out);
}

/* Nothing parks any more: what is there fits nothing and is dropped. */
static void clear(struct lnet *n, struct lni_portal *t)
{
	struct lni_list out;

	lni_list_init(&out);
	pthread_mutex_lock(&t->lock);
	t->lazy = false;
	lni_park_scan(t, &out);
	pthread_mutex_unlock(&t->lock);
	lni_park_send(n, &out);
}

void lni_park_stop(struct lnet *n)
{
	for (unsigned k = 0; n->ptl && k < LNET_MAX_PORTALS; k++)
		clear(n, &n->ptl->portal[k]);
}

int lnet_portal_lazy(struct lnet *n, uint32_t portal, bool lazy)
{
	struct lni_portal *t;
	int rc = 0;

	if (portal >= LNET_MAX_PORTALS)
		return -EINVAL;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	t = &n->ptl->portal[portal];
	if (lazy) {
		pthread_mutex_lock(&t->lock);
		/* lni_park_stop() takes this lock after it was set */
		t->lazy = !atomic_load(&n->closing);
		rc = t->lazy ? 0 : -ESHUTDOWN;
		pthread_mutex_unlock(&t->lock);
	} else {
		clear(n, t);
	}
	lni_exit(n);
	return rc;
}
