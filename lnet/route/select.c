/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/route/select.h"

#include <errno.h>

#define MAX_CANDS 64u

#define BY(x, y)                                   \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

int lni_cand_cmp(const struct lni_cand *a, const struct lni_cand *b)
{
	BY(b->up, a->up);
	BY(b->health, a->health);
	BY(a->priority, b->priority);
	BY(a->distance, b->distance);
	BY(a->finish, b->finish);
	BY(b->credits, a->credits);
	BY(a->seq, b->seq);
	return 0;
}

unsigned lni_cand_best(const struct lni_cand *c, unsigned count)
{
	unsigned best = 0;

	for (unsigned i = 1; i < count; i++)
		if (lni_cand_cmp(&c[i], &c[best]) < 0)
			best = i;
	return best;
}

static struct lni_cand describe(const struct lni_ni *ni, const struct lni_pni *p)
{
	const struct lni_share *s = &ni->share[lni_loop_index(p->loop)];
	int mine = atomic_load_explicit(&ni->health, memory_order_relaxed);

	return (struct lni_cand){.up = atomic_load_explicit(&ni->up, memory_order_relaxed),
	        .health = mine < p->health.value ? mine : p->health.value,
	        .credits = s->cr.free - s->cr.waiting,
	        .seq = s->seq};
}

/* The best NI on p's net. */
static struct lni_ni *best_ni(
        struct lnet *n, const struct lni_pni *p, const struct lnet_nid *source)
{
	const struct lni_ni_set *s = atomic_load_explicit(&n->net->nis, memory_order_acquire);
	struct lni_cand cand[MAX_CANDS];
	struct lni_ni *ni[MAX_CANDS];
	unsigned k = 0;

	for (unsigned i = 0; i < s->count && k < MAX_CANDS; i++) {
		if (!lni_ni_reaches(s->ni[i], &p->nid))
			continue;
		if (!lnet_nid_is_any(source) && !lnet_nid_eq(&s->ni[i]->d.nid, source))
			continue;
		ni[k] = s->ni[i];
		cand[k++] = describe(s->ni[i], p);
	}
	return k == 0 ? NULL : k == 1 ? ni[0] : ni[lni_cand_best(cand, k)];
}

/* A NID of the same node on a net of ours: the first that fits. false: there is none. */
static bool near_nid(struct lnet *n, const struct lni_peer *peer, struct lnet_nid *near)
{
	for (unsigned i = 0; i < peer->nnids; i++) {
		if (lni_nid_is_near(n, &peer->nids[i])) {
			*near = peer->nids[i];
			return true;
		}
	}
	return false;
}

struct lnet_loop *lni_route_home(struct lnet *n, const struct lnet_nid *nid)
{
	struct lnet_nid near = *nid;
	struct lni_pni *p;

	if (n->nloops == 1)
		return n->loops[0];
	pthread_mutex_lock(&n->net->lock);
	if (!lni_nid_is_near(n, nid)) {
		p = lni_pni_lookup(n->net, nid, LNET_PID_LUSTRE);
		if (p)
			near_nid(n, atomic_load(&p->peer), &near);
	}
	pthread_mutex_unlock(&n->net->lock);
	return lni_home(n, &near);
}

/* *p becomes the peer NI of another NID of the same node on a net of ours. */
static int other_nid(struct lnet *n, struct lni_pni **p, const struct lnet_loop *here)
{
	struct lnet_nid near;
	struct lni_pni *o;

	/* it must be at home here: what changed since lni_route_home() is seen the next time */
	if (!near_nid(n, atomic_load_explicit(&(*p)->peer, memory_order_acquire), &near) ||
	        lni_home(n, &near) != here || lni_pni_get(n, &near, LNET_PID_LUSTRE, true, &o))
		return -EHOSTUNREACH;
	lni_pni_put(*p);
	*p = o;
	return 0;
}

/* A client shares its address with the node that listens there; the pid tells them apart. */
static bool is_mine(struct lnet *n, const struct lnet_nid *nid, uint32_t pid)
{
	if (!lni_ni_by_nid(n, nid))
		return false;
	return lnet_nid_is_lo(nid) || (n->client ? pid == n->pid : !(pid & LNET_PID_USERFLAG));
}

static int pick(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, struct lni_rail **rail)
{
	struct lni_ni *ni = NULL;
	struct lni_pni *p;
	bool mine = is_mine(n, nid, pid);
	bool near = lni_nid_is_near(n, nid);
	int rc = lni_pni_get(n, nid, pid, mine || near, &p);

	if (rc)
		return rc == -ENOENT ? -EHOSTUNREACH : rc;
	if (mine) {
		ni = n->net->lo;
	} else if (near) {
		ni = best_ni(n, p, source);
	} else if (!other_nid(n, &p, lni_cur_loop(n))) {
		ni = best_ni(n, p, source);
	}
	rc = ni ? lni_rail_get(p, ni, rail) : -EHOSTUNREACH;
	lni_pni_put(p);
	return rc;
}

int lni_route_pick(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, struct lni_rail **rail)
{
	int rc;

	if (!lnet_nid_is_any(source) && !lni_ni_by_nid(n, source))
		return -EHOSTUNREACH;
	rc = pick(n, nid, pid, source, rail);
	/* it was deleted between two steps: it may come again, and a node that closes never gets
	 * here */
	if (rc == -ESHUTDOWN && !atomic_load(&n->aborting)) {
		rc = pick(n, nid, pid, source, rail);
		rc = rc == -ESHUTDOWN ? -EHOSTUNREACH : rc;
	}
	if (!rc)
		lni_share_of(*rail)->seq++;
	return rc;
}
