/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lazy portals: PUTs that came before their MD wait here, whole, in bounded memory. Reading never
 * stops for them (unlike the kernel, whose parked message blocks its connection).
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/ptl/ptl.h"

bool lni_park(struct lnet *n, uint32_t portal, struct lni_parked *p, unsigned max)
{
	struct lni_portal *t = &n->ptl->portal[portal];
	struct lni_list *i;
	unsigned of_peer = 0;
	bool ok;

	pthread_mutex_lock(&t->lock);
	lni_list_each(i, &t->parked) of_peer +=
	        lni_container(i, struct lni_parked, node)->rail->pni == p->rail->pni;
	ok = t->lazy && of_peer < max;
	if (ok) {
		lni_list_add_tail(&t->parked, &p->node);
		t->nparked++;
	}
	pthread_mutex_unlock(&t->lock);
	return ok;
}

static void run_deliver(struct lnet_work *w)
{
	struct lni_parked *p = w->arg;

	p->deliver(p);
}

static void send_home(struct lni_list *out)
{
	struct lni_list *i;

	while ((i = lni_list_pop(out))) {
		struct lni_parked *p = lni_container(i, struct lni_parked, node);

		lnet_work_init(&p->work, run_deliver, p);
		lnet_loop_post(p->rail->d.loop, &p->work);
	}
}

/* All of them go to their loops and are matched anew there; those that still fit nothing come back,
 * in order, since each loop runs its inbox in order. */
void lni_park_retry(struct lnet *n, uint32_t portal)
{
	struct lni_portal *t = &n->ptl->portal[portal];
	struct lni_list out;

	lni_list_init(&out);
	pthread_mutex_lock(&t->lock);
	lni_list_splice(&out, &t->parked);
	t->nparked = 0;
	pthread_mutex_unlock(&t->lock);
	send_home(&out);
}

int lnet_portal_lazy(struct lnet *n, uint32_t portal, bool lazy)
{
	struct lni_portal *t;

	if (portal >= LNET_MAX_PORTALS)
		return -EINVAL;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	t = &n->ptl->portal[portal];
	pthread_mutex_lock(&t->lock);
	t->lazy = lazy;
	pthread_mutex_unlock(&t->lock);
	if (!lazy)
		lni_park_retry(
		        n, portal); /* nothing parks any more: what fits nothing is dropped */
	lni_exit(n);
	return 0;
}
