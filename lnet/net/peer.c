/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers: which NIDs belong to one node. A peer is an immutable snapshot shared by its peer NIs;
 * every change builds a new one, points the peer NIs at it under the lock and lets the old one go
 * after a grace period.
 *
 * Who may say what: the administrator wins. A node may speak for itself (push, ping reply), but
 * takes a NID over from another peer only if nobody is connected under it, or if that one, too,
 * said that they are the same node (spec: errors.md section 8, row 11).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/peer_change.h"

struct lni_peer *lni_peer_single(const struct lnet_nid *nid)
{
	struct lni_peer *p = lni_peer_make(1);

	if (!p)
		return NULL;
	atomic_init(&p->refs, 1);
	p->primary = *nid;
	p->nnids = 1;
	p->nids[0] = *nid;
	return p;
}

void lni_peer_hold(struct lni_peer *peer)
{
	atomic_fetch_add_explicit(&peer->refs, 1, memory_order_relaxed);
}

void lni_peer_put(struct lni_peer *peer)
{
	if (atomic_fetch_sub_explicit(&peer->refs, 1, memory_order_acq_rel) == 1)
		free(peer);
}

bool lni_same_peer(struct lnet *n, const struct lnet_nid *a, const struct lnet_nid *b)
{
	struct lni_pni *pa, *pb;
	bool same;

	if (lnet_nid_eq(a, b))
		return true;
	pthread_mutex_lock(&n->net->lock);
	pa = lni_pni_lookup(n->net, a, LNET_PID_LUSTRE);
	pb = lni_pni_lookup(n->net, b, LNET_PID_LUSTRE);
	same = (pa && lni_peer_has(atomic_load(&pa->peer), b)) ||
	       (pb && lni_peer_has(atomic_load(&pb->peer), a));
	pthread_mutex_unlock(&n->net->lock);
	return same;
}

struct lnet_nid lni_primary(const struct lni_pni *p)
{
	return atomic_load_explicit(&p->peer, memory_order_acquire)->primary;
}

/* Lock held. */
static bool connected(const struct lni_pni *p)
{
	for (const struct lni_rail *r = p->rails; r; r = r->next)
		if (atomic_load(&r->refs) > 1)
			return true;
	return false;
}

/* May the peer NI that spoke, `from`, take this NID over? Lock held. */
static int may_take(struct lnet *n, const struct lnet_nid *nid, const struct lni_pni *from)
{
	const struct lni_peer *was = atomic_load(&from->peer), *old;
	const struct lni_pni *p;

	if (lni_ni_by_nid(n, nid))
		return -EINVAL;
	p = lni_pni_lookup(n->net, nid, LNET_PID_LUSTRE);
	old = p ? atomic_load(&p->peer) : NULL;
	if (!p || old == was)
		return 0;
	if (old->state & LNET_PEER_CONFIGURED)
		return -EEXIST;
	if (!connected(p) && old->nnids == 1)
		return 0;
	if (p->claim && lni_peer_has(p->claim, &from->nid))
		return 0;
	return lni_peer_has(old, &from->nid) ? 0 : -EEXIST;
}

/* All of c->fresh? What is not believed is noted, for when the other one says the same. Lock held.
 */
static int check_learn(struct lni_change *c, struct lni_pni *from, struct lnet_nid *bad)
{
	for (unsigned i = 1; i < c->fresh->nnids; i++) {
		int rc = may_take(c->n, &c->fresh->nids[i], from);

		if (!rc)
			continue;
		*bad = c->fresh->nids[i];
		free(from->claim);
		from->claim = lni_peer_make(c->fresh->nnids);
		if (from->claim)
			for (unsigned k = 0; k < c->fresh->nnids; k++)
				lni_peer_take_nid(from->claim, &c->fresh->nids[k]);
		return rc;
	}
	return 0;
}

static int learn_locked(struct lni_change *c, struct lnet_nid *bad)
{
	int rc = check_learn(c, c->pni[0], bad);

	/* the administrator may have been faster */
	if (!rc && (atomic_load(&c->pni[0]->peer)->state & LNET_PEER_CONFIGURED))
		return 0;
	return rc ? rc : lni_change_commit(c, atomic_load(&c->pni[0]->peer));
}

static bool unchanged(const struct lni_peer *old, const struct lni_peer *fresh)
{
	if (old->nnids != fresh->nnids || old->state != fresh->state ||
	        old->features != fresh->features || !lnet_nid_eq(&old->primary, &fresh->primary))
		return false;
	for (unsigned i = 0; i < fresh->nnids; i++)
		if (!lni_peer_has(old, &fresh->nids[i]))
			return false;
	return true;
}

int lni_peer_learn(struct lnet *n, const struct lnet_nid *from, const struct lnet_nid *nids,
        unsigned nnids, uint32_t features, bool discovered, struct lnet_nid *bad)
{
	struct lni_change c = {.n = n};
	struct lni_peer *was;
	struct lni_pni *p;
	int rc = 0;

	if (nnids == 0 || nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	c.fresh = lni_peer_make(nnids + 1);
	if (!c.fresh)
		return -ENOMEM;
	c.fresh->primary = nids[0];
	lni_peer_take_nid(c.fresh, from); /* c.pni[0] is the one that spoke */
	for (unsigned i = 0; i < nnids; i++)
		if (!lnet_nid_is_lo(&nids[i]) && !lnet_nid_is_any(&nids[i]))
			lni_peer_take_nid(c.fresh, &nids[i]);
	c.fresh->features = features;
	c.fresh->state = (discovered ? LNET_PEER_DISCOVERED | LNET_PEER_NIDS_UPTODATE : 0) |
	                 ((features & 8u) ? LNET_PEER_MULTI_RAIL : 0);
	pthread_mutex_lock(&n->net->lock);
	p = lni_pni_lookup(n->net, from, LNET_PID_LUSTRE);
	was = p ? atomic_load(&p->peer) : NULL;
	if (!was || (was->state & LNET_PEER_CONFIGURED) || unchanged(was, c.fresh))
		rc = 1; /* unknown peers are not made by what they say; the administrator's stay */
	else
		rc = check_learn(&c, p, bad); /* before a peer NI is made for each of them */
	pthread_mutex_unlock(&n->net->lock);
	if (!rc)
		rc = lni_change_init(&c);
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		rc = learn_locked(&c, bad);
		pthread_mutex_unlock(&n->net->lock);
	}
	lni_change_fini(&c);
	return rc > 0 ? 0 : rc;
}
