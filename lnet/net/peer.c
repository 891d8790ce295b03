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

#include "lnet/net/net.h"

static struct lni_peer *make_peer(unsigned cap)
{
	struct lni_peer *p = calloc(1, sizeof(*p) + cap * sizeof(p->nids[0]));

	return p;
}

struct lni_peer *lni_peer_single(const struct lnet_nid *nid)
{
	struct lni_peer *p = make_peer(1);

	if (!p)
		return NULL;
	atomic_init(&p->refs, 1);
	p->primary = *nid;
	p->nnids = 1;
	p->nids[0] = *nid;
	return p;
}

void lni_peer_put(struct lni_peer *peer)
{
	if (atomic_fetch_sub_explicit(&peer->refs, 1, memory_order_acq_rel) == 1)
		free(peer);
}

static void put_late(void *arg)
{
	lni_peer_put(arg);
}

static bool has_nid(const struct lni_peer *p, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < p->nnids; i++)
		if (lnet_nid_eq(&p->nids[i], nid))
			return true;
	return false;
}

static void add_nid(struct lni_peer *p, const struct lnet_nid *nid)
{
	if (!has_nid(p, nid))
		p->nids[p->nnids++] = *nid;
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
	same = (pa && has_nid(atomic_load(&pa->peer), b)) ||
	       (pb && has_nid(atomic_load(&pb->peer), a));
	pthread_mutex_unlock(&n->net->lock);
	return same;
}

struct lnet_nid lni_primary(const struct lni_pni *p)
{
	return atomic_load_explicit(&p->peer, memory_order_acquire)->primary;
}

/* A change in preparation: the new peer, the peer NIs it takes, spare snapshots for NIDs that
 * leave. */
struct change {
	struct lnet *n;
	struct lni_peer *fresh;
	struct lni_pni **pni; /* of fresh->nids, each with a reference */
	struct lni_peer **spare;
	unsigned nspare;
	struct lni_peer *old[4 * LNET_PEER_NIDS_MAX]; /* to be let go */
	unsigned nold;
};

static void change_fini(struct change *c)
{
	for (unsigned i = 0; c->pni && i < c->fresh->nnids; i++)
		if (c->pni[i])
			lni_pni_put(c->pni[i]);
	for (unsigned i = 0; c->spare && i < c->nspare; i++)
		free(c->spare[i]);
	free(c->spare);
	free(c->pni);
	if (c->fresh && !atomic_load(&c->fresh->refs))
		free(c->fresh);
	for (unsigned i = 0; i < c->nold; i++)
		if (lni_grace(c->n, put_late, c->old[i]))
			lni_logf(c->n, LNET_LOG_ERR, "NOMEM", "a peer record of %u NIDs is lost",
			        c->old[i]->nnids);
}

static int change_init(struct change *c)
{
	c->pni = calloc(c->fresh->nnids, sizeof(c->pni[0]));
	c->nspare = LNET_PEER_NIDS_MAX + 1;
	c->spare = calloc(c->nspare, sizeof(c->spare[0]));
	if (!c->pni || !c->spare)
		return -ENOMEM;
	for (unsigned i = 0; i < c->fresh->nnids; i++) {
		int rc = lni_pni_get(c->n, &c->fresh->nids[i], LNET_PID_LUSTRE, true, &c->pni[i]);

		if (rc)
			return rc;
	}
	return 0;
}

static void point(struct change *c, struct lni_pni *p, struct lni_peer *to)
{
	struct lni_peer *old = atomic_load(&p->peer);

	atomic_fetch_add(&to->refs, 1);
	atomic_store_explicit(&p->peer, to, memory_order_release);
	if (c->nold < sizeof(c->old) / sizeof(c->old[0]))
		c->old[c->nold++] = old;
	free(p->claim);
	p->claim = NULL;
}

/* The rest of a peer that loses NIDs to c->fresh gets a snapshot without them. Lock held. */
static int shrink(struct change *c, const struct lni_peer *old, bool split)
{
	struct lni_peer *rest = NULL;

	for (unsigned i = 0; i < old->nnids; i++) {
		struct lni_pni *p;

		if (has_nid(c->fresh, &old->nids[i]))
			continue;
		p = lni_pni_lookup(c->n->net, &old->nids[i], LNET_PID_LUSTRE);
		if (!p)
			continue;
		if (!rest || split) {
			rest = make_peer(old->nnids);
			if (!rest)
				return -ENOMEM;
			rest->primary = old->nids[i];
			rest->state = split ? 0 : old->state;
		}
		add_nid(rest, &old->nids[i]);
		point(c, p, rest);
	}
	return 0;
}

/* Lock held. `was`: the record that c->fresh replaces; its other NIDs stand alone from now on. */
static int commit(struct change *c, const struct lni_peer *was)
{
	int rc = was ? shrink(c, was, true) : 0;

	for (unsigned i = 0; !rc && i < c->fresh->nnids; i++) {
		struct lni_peer *old = atomic_load(&c->pni[i]->peer);

		if (old != was && old != c->fresh && old->nnids > 1)
			rc = shrink(c, old, false);
	}
	if (rc)
		return rc;
	for (unsigned i = 0; i < c->fresh->nnids; i++)
		point(c, c->pni[i], c->fresh);
	return 0;
}

static int check_add(struct lnet *n, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid) || lnet_nid_is_lo(nid))
		return -EINVAL;
	return lni_ni_by_nid(n, nid) ? -EINVAL : 0;
}

/* Lock held. A NID may come from a discovered peer, not from another configured one. */
static int check_conf(const struct change *c, const struct lnet_nid *primary, struct lnet_nid *bad)
{
	for (unsigned i = 0; i < c->fresh->nnids; i++) {
		struct lni_peer *old = atomic_load(&c->pni[i]->peer);

		*bad = c->fresh->nids[i];
		if (check_add(c->n, bad))
			return -EINVAL;
		if ((old->state & LNET_PEER_CONFIGURED) && !lnet_nid_eq(&old->primary, primary))
			return -EEXIST;
	}
	return 0;
}

int lnet_peer_add(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool multi_rail, bool lock, struct lnet_nid *bad)
{
	struct change c = {.n = n};
	struct lni_peer *old;
	struct lni_pni *p;
	struct lnet_nid none;
	int rc;

	bad = bad ? bad : &none;
	*bad = *primary;
	if (nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	if (lnet_nid_is_any(primary) || lnet_nid_is_lo(primary))
		return -EINVAL;
	for (unsigned i = 0; i < nnids; i++) {
		*bad = nids[i];
		if (lnet_nid_is_any(&nids[i]) || lnet_nid_is_lo(&nids[i]))
			return -EINVAL;
	}
	if (!lni_enter(n))
		return -ESHUTDOWN;
	c.fresh = make_peer(2 * LNET_PEER_NIDS_MAX + 2);
	rc = c.fresh ? 0 : -ENOMEM;
	if (rc)
		goto out;
	c.fresh->primary = *primary;
	add_nid(c.fresh, primary);
	/* a configured peer of that primary keeps what it has */
	pthread_mutex_lock(&n->net->lock);
	p = lni_pni_lookup(n->net, primary, LNET_PID_LUSTRE);
	old = p ? atomic_load(&p->peer) : NULL;
	if (old && (old->state & LNET_PEER_CONFIGURED) && lnet_nid_eq(&old->primary, primary))
		for (unsigned i = 0; i < old->nnids; i++)
			add_nid(c.fresh, &old->nids[i]);
	pthread_mutex_unlock(&n->net->lock);
	for (unsigned i = 0; i < nnids; i++)
		add_nid(c.fresh, &nids[i]);
	if (c.fresh->nnids > LNET_PEER_NIDS_MAX + 1) {
		rc = -E2BIG;
		goto out;
	}
	c.fresh->state = LNET_PEER_CONFIGURED | (multi_rail ? LNET_PEER_MULTI_RAIL : 0) |
	                 (lock ? LNET_PEER_LOCK_PRIMARY : 0);
	rc = change_init(&c);
	if (rc)
		goto out;
	pthread_mutex_lock(&n->net->lock);
	rc = check_conf(&c, primary, bad);
	if (!rc)
		rc = commit(&c, NULL);
	pthread_mutex_unlock(&n->net->lock);
out:
	change_fini(&c);
	lni_exit(n);
	return rc;
}

/* Lock held. */
static bool connected(const struct lni_pni *p)
{
	for (const struct lni_rail *r = p->rails; r; r = r->next)
		if (atomic_load(&r->refs) > 1)
			return true;
	return false;
}

/* May the peer that owns c->pni[0] take pni over? Lock held. */
static int may_take(const struct change *c, struct lni_pni *pni, const struct lni_peer *was)
{
	struct lni_peer *old = atomic_load(&pni->peer);

	if (old == was)
		return 0;
	if (lni_ni_by_nid(c->n, &pni->nid))
		return -EINVAL;
	if (old->state & LNET_PEER_CONFIGURED)
		return -EEXIST;
	if (!connected(pni) && old->nnids == 1)
		return 0;
	if (pni->claim && has_nid(pni->claim, &c->pni[0]->nid))
		return 0;
	return has_nid(old, &c->pni[0]->nid) ? 0 : -EEXIST;
}

static int learn_locked(struct change *c, struct lnet_nid *bad)
{
	struct lni_peer *was = atomic_load(&c->pni[0]->peer);
	int rc;

	for (unsigned i = 1; i < c->fresh->nnids; i++) {
		rc = may_take(c, c->pni[i], was);
		if (!rc)
			continue;
		*bad = c->fresh->nids[i];
		free(c->pni[0]->claim);
		c->pni[0]->claim = make_peer(c->fresh->nnids);
		if (c->pni[0]->claim)
			for (unsigned k = 0; k < c->fresh->nnids; k++)
				add_nid(c->pni[0]->claim, &c->fresh->nids[k]);
		return rc;
	}
	return commit(c, was);
}

static bool unchanged(const struct lni_peer *old, const struct lni_peer *fresh)
{
	if (old->nnids != fresh->nnids || old->state != fresh->state ||
	        old->features != fresh->features || !lnet_nid_eq(&old->primary, &fresh->primary))
		return false;
	for (unsigned i = 0; i < fresh->nnids; i++)
		if (!has_nid(old, &fresh->nids[i]))
			return false;
	return true;
}

int lni_peer_learn(struct lnet *n, const struct lnet_nid *from, const struct lnet_nid *nids,
        unsigned nnids, uint32_t features, bool discovered, struct lnet_nid *bad)
{
	struct change c = {.n = n};
	struct lni_peer *was;
	struct lni_pni *p;
	int rc = 0;

	if (nnids == 0 || nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	c.fresh = make_peer(nnids + 1);
	if (!c.fresh)
		return -ENOMEM;
	c.fresh->primary = nids[0];
	add_nid(c.fresh, from); /* c.pni[0] is the one that spoke */
	for (unsigned i = 0; i < nnids; i++)
		if (!lnet_nid_is_lo(&nids[i]) && !lnet_nid_is_any(&nids[i]))
			add_nid(c.fresh, &nids[i]);
	c.fresh->features = features;
	c.fresh->state = (discovered ? LNET_PEER_DISCOVERED | LNET_PEER_NIDS_UPTODATE : 0) |
	                 ((features & 8u) ? LNET_PEER_MULTI_RAIL : 0);
	pthread_mutex_lock(&n->net->lock);
	p = lni_pni_lookup(n->net, from, LNET_PID_LUSTRE);
	was = p ? atomic_load(&p->peer) : NULL;
	if (!was || (was->state & LNET_PEER_CONFIGURED) || unchanged(was, c.fresh))
		rc = 1; /* unknown peers are not made by what they say; the administrator's stay */
	pthread_mutex_unlock(&n->net->lock);
	if (!rc)
		rc = change_init(&c);
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		rc = learn_locked(&c, bad);
		pthread_mutex_unlock(&n->net->lock);
	}
	change_fini(&c);
	return rc > 0 ? 0 : rc;
}

/* Lock held: what of the peer goes. Fills in v (table references are the caller's to drop). */
static int del_locked(struct change *c, struct lni_peer *old, const struct lnet_nid *nids,
        unsigned nnids, struct lni_pni **v, unsigned *k)
{
	bool whole = nnids == 0;

	for (unsigned i = 0; i < nnids; i++)
		whole |= lnet_nid_eq(&nids[i], &old->primary);
	if (!whole) {
		c->fresh = make_peer(old->nnids);
		if (!c->fresh)
			return -ENOMEM;
		c->fresh->primary = old->primary;
		c->fresh->state = old->state;
		c->fresh->features = old->features;
	}
	for (unsigned i = 0; i < old->nnids; i++) {
		struct lni_pni *p = lni_pni_lookup(c->n->net, &old->nids[i], LNET_PID_LUSTRE);
		bool goes = whole;

		for (unsigned m = 0; m < nnids; m++)
			goes |= lnet_nid_eq(&nids[m], &old->nids[i]);
		if (!p)
			continue;
		if (goes) {
			lni_pni_unhash(p);
			v[(*k)++] = p;
		} else {
			add_nid(c->fresh, &old->nids[i]);
			point(c, p, c->fresh);
		}
	}
	return 0;
}

int lnet_peer_del(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool force, struct lnet_nid *bad)
{
	struct lni_pni *v[2 * LNET_PEER_NIDS_MAX + 2], *p;
	struct change c = {.n = n};
	struct lni_peer *old = NULL;
	struct lnet_nid none;
	unsigned k = 0;
	int rc = -ENOENT;

	bad = bad ? bad : &none;
	*bad = *primary;
	if (nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	pthread_mutex_lock(&n->net->lock);
	p = lni_pni_lookup(n->net, primary, LNET_PID_LUSTRE);
	if (p)
		old = atomic_load(&p->peer);
	if (old && lnet_nid_eq(&old->primary, primary) && !lni_ni_by_nid(n, primary)) {
		rc = 0;
		for (unsigned i = 0; i < nnids && !rc; i++) {
			if (!has_nid(old, &nids[i])) {
				*bad = nids[i];
				rc = -ENOENT;
			}
		}
		if (!rc && (old->state & LNET_PEER_LOCK_PRIMARY) && !force)
			rc = -EBUSY;
		if (!rc)
			rc = del_locked(&c, old, nids, nnids, v, &k);
	}
	pthread_mutex_unlock(&n->net->lock);
	for (unsigned i = 0; i < k; i++)
		lni_pni_post_kill(v[i]);
	change_fini(&c);
	lni_exit(n);
	return rc;
}

int lnet_peer_set_state(struct lnet *n, const struct lnet_nid *nid, uint32_t state)
{
	struct change c = {.n = n};
	struct lni_peer *old;
	struct lni_pni *p;
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	c.fresh = make_peer(2 * LNET_PEER_NIDS_MAX + 2);
	rc = c.fresh ? lni_pni_get(n, nid, LNET_PID_LUSTRE, false, &p) : -ENOMEM;
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		old = atomic_load(&p->peer);
		c.fresh->primary = old->primary;
		c.fresh->features = old->features;
		for (unsigned i = 0; i < old->nnids; i++)
			add_nid(c.fresh, &old->nids[i]);
		pthread_mutex_unlock(&n->net->lock);
		lni_pni_put(p);
		c.fresh->state = state;
		rc = change_init(&c);
	}
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		rc = commit(&c, NULL);
		pthread_mutex_unlock(&n->net->lock);
	}
	change_fini(&c);
	lni_exit(n);
	return rc;
}
