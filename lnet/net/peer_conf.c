/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers by command: added, deleted, marked. The administrator wins over what peers say of
 * themselves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/peer_change.h"

#define LOOK_NS 20000000ull

static int check_add(struct lnet *n, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid) || lnet_nid_is_lo(nid))
		return -EINVAL;
	return lni_ni_by_nid(n, nid) ? -EINVAL : 0;
}

/* Lock held. A NID may come from a discovered peer, not from another configured one. */
static int check_conf(const struct lni_change *c, struct lnet_nid *bad)
{
	for (unsigned i = 0; i < c->fresh->nnids; i++) {
		const struct lni_pni *p =
		        lni_pni_lookup(c->n->net, &c->fresh->nids[i], LNET_PID_LUSTRE);
		const struct lni_peer *old = p ? atomic_load(&p->peer) : NULL;
		int rc = check_add(c->n, &c->fresh->nids[i]);

		if (!rc && old && (old->state & LNET_PEER_CONFIGURED) &&
		        !lnet_nid_eq(&old->primary, &c->fresh->primary))
			rc = -EEXIST;
		if (rc) {
			*bad = c->fresh->nids[i];
			return rc;
		}
	}
	return 0;
}

/* A configured peer of that primary keeps what it has. Lock held. */
static void keep_conf(struct lni_change *c)
{
	const struct lni_pni *p = lni_pni_lookup(c->n->net, &c->fresh->primary, LNET_PID_LUSTRE);
	const struct lni_peer *old = p ? atomic_load(&p->peer) : NULL;

	if (!old || !lnet_nid_eq(&old->primary, &c->fresh->primary))
		return;
	c->fresh->features = old->features;
	if (old->state & LNET_PEER_CONFIGURED)
		for (unsigned i = 0; i < old->nnids; i++)
			lni_peer_take_nid(c->fresh, &old->nids[i]);
}

static int add_peer(
        struct lni_change *c, const struct lnet_nid *nids, unsigned nnids, struct lnet_nid *bad)
{
	struct lni_net *net = c->n->net;
	int rc;

	lni_peer_take_nid(c->fresh, &c->fresh->primary);
	pthread_mutex_lock(&net->lock);
	keep_conf(c);
	for (unsigned i = 0; i < nnids; i++)
		lni_peer_take_nid(c->fresh, &nids[i]);
	rc = c->fresh->nnids > LNET_PEER_NIDS_MAX ? -E2BIG : check_conf(c, bad);
	pthread_mutex_unlock(&net->lock);
	if (!rc)
		rc = lni_change_init(c);
	if (rc)
		return rc;
	pthread_mutex_lock(&net->lock);
	rc = check_conf(c, bad);
	if (!rc)
		rc = lni_change_commit(c, NULL);
	pthread_mutex_unlock(&net->lock);
	return rc;
}

int lnet_peer_add(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool multi_rail, bool lock, struct lnet_nid *bad)
{
	struct lni_change c = {.n = n};
	struct lnet_nid none = {0};
	int rc;

	bad = bad ? bad : &none;
	if (nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	for (unsigned i = 0; i <= nnids; i++) {
		const struct lnet_nid *nid = i ? &nids[i - 1] : primary;

		if (lnet_nid_is_any(nid) || lnet_nid_is_lo(nid)) {
			*bad = *nid;
			return -EINVAL;
		}
	}
	if (!lni_enter(n))
		return -ESHUTDOWN;
	c.fresh = lni_peer_make(2 * LNET_PEER_NIDS_MAX + 2);
	rc = c.fresh ? 0 : -ENOMEM;
	if (!rc) {
		c.fresh->primary = *primary;
		c.fresh->state = LNET_PEER_CONFIGURED | (multi_rail ? LNET_PEER_MULTI_RAIL : 0) |
		                 (lock ? LNET_PEER_LOCK_PRIMARY : 0);
		rc = add_peer(&c, nids, nnids, bad);
	}
	lni_change_fini(&c);
	lni_exit(n);
	return rc;
}

/* Lock held: what of the peer goes; the rest gets a record without it. Fills in v. */
static int del_locked(struct lni_change *c, struct lni_peer *old, const struct lnet_nid *nids,
        unsigned nnids, struct lni_pni **v, unsigned *count)
{
	bool whole = nnids == 0;
	unsigned k = 0;
	int rc = 0;

	for (unsigned i = 0; i < nnids; i++)
		whole |= lnet_nid_eq(&nids[i], &old->primary);
	c->fresh = lni_peer_make(old->nnids);
	if (!c->fresh)
		return -ENOMEM;
	c->fresh->primary = old->primary;
	c->fresh->state = old->state;
	c->fresh->features = old->features;
	for (unsigned i = 0; i < old->nnids && !rc; i++) {
		struct lni_pni *p = lni_pni_lookup(c->n->net, &old->nids[i], LNET_PID_LUSTRE);
		bool goes = whole;

		for (unsigned m = 0; m < nnids; m++)
			goes |= lnet_nid_eq(&nids[m], &old->nids[i]);
		if (!p || atomic_load(&p->peer) != old)
			continue;
		if (goes) {
			v[k++] = p;
		} else {
			lni_peer_take_nid(c->fresh, &old->nids[i]);
			rc = lni_change_plan(c, p, c->fresh);
		}
	}
	if (rc)
		return rc;
	lni_change_do(c);
	for (unsigned i = 0; i < k; i++) {
		lni_pni_unhash(v[i]);
		lni_pni_hold(v[i]); /* for the wait */
	}
	*count = k;
	return 0;
}

struct gone {
	struct lni_pni **v;
	unsigned k;
};

/* Every message of it has ended and every rail is closed. */
static bool all_gone(void *arg)
{
	const struct gone *g = arg;

	for (unsigned i = 0; i < g->k; i++)
		if (atomic_load(&g->v[i]->refs) > 1)
			return false;
	return true;
}

static void kill_all(struct lnet *n, struct lni_pni **v, unsigned k)
{
	struct gone g = {v, k};

	for (unsigned i = 0; i < k; i++)
		lni_pni_post_kill(v[i]);
	/* others may drop references without a word to the loop: look again now and then */
	while (lni_wait(n, all_gone, &g, lnet_now(n) + LOOK_NS) == -ETIMEDOUT)
		;
	for (unsigned i = 0; i < k; i++)
		lni_pni_put(v[i]);
}

int lnet_peer_del(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool force, struct lnet_nid *bad)
{
	struct lni_pni *v[2 * LNET_PEER_NIDS_MAX + 2], *p;
	struct lni_change c = {.n = n};
	struct lni_peer *old = NULL;
	struct lnet_nid none = {0};
	unsigned k = 0;
	int rc = -ENOENT;

	bad = bad ? bad : &none;
	*bad = *primary;
	if (nnids > LNET_PEER_NIDS_MAX)
		return -E2BIG;
	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	pthread_mutex_lock(&n->net->lock);
	p = lni_pni_lookup(n->net, primary, LNET_PID_LUSTRE);
	if (p)
		old = atomic_load(&p->peer);
	if (old && lnet_nid_eq(&old->primary, primary) && !lni_ni_by_nid(n, primary)) {
		rc = 0;
		for (unsigned i = 0; i < nnids && !rc; i++) {
			if (!lni_peer_has(old, &nids[i])) {
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
	lni_change_fini(&c);
	kill_all(n, v, k);
	lni_exit(n);
	return rc;
}

/* As it is now, with another state. false: it changed meanwhile. */
static bool same_members(const struct lni_change *c)
{
	const struct lni_peer *now = atomic_load(&c->pni[0]->peer);

	if (now->nnids != c->fresh->nnids)
		return false;
	for (unsigned i = 0; i < now->nnids; i++)
		if (!lni_peer_has(c->fresh, &now->nids[i]))
			return false;
	return true;
}

static int set_state(struct lnet *n, const struct lnet_nid *nid, uint32_t state)
{
	struct lni_change c = {.n = n};
	struct lni_peer *old;
	struct lni_pni *p;
	int rc;

	c.fresh = lni_peer_make(2 * LNET_PEER_NIDS_MAX + 2);
	rc = c.fresh ? lni_pni_get(n, nid, LNET_PID_LUSTRE, false, &p) : -ENOMEM;
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		old = atomic_load(&p->peer);
		c.fresh->primary = old->primary;
		c.fresh->features = old->features;
		for (unsigned i = 0; i < old->nnids; i++)
			lni_peer_take_nid(c.fresh, &old->nids[i]);
		pthread_mutex_unlock(&n->net->lock);
		lni_pni_put(p);
		c.fresh->state = state;
		rc = lni_change_init(&c);
	}
	if (!rc) {
		pthread_mutex_lock(&n->net->lock);
		rc = same_members(&c) ? lni_change_commit(&c, NULL) : -EAGAIN;
		pthread_mutex_unlock(&n->net->lock);
	}
	lni_change_fini(&c);
	return rc;
}

int lnet_peer_set_state(struct lnet *n, const struct lnet_nid *nid, uint32_t state)
{
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	do
		rc = set_state(n, nid, state);
	while (rc == -EAGAIN);
	lni_exit(n);
	return rc;
}
