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

#define LOOK_NS 20000000ull

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

void lni_peer_hold(struct lni_peer *peer)
{
	atomic_fetch_add_explicit(&peer->refs, 1, memory_order_relaxed);
}

void lni_peer_put(struct lni_peer *peer)
{
	if (atomic_fetch_sub_explicit(&peer->refs, 1, memory_order_acq_rel) == 1)
		free(peer);
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

/* One peer NI gets another record. */
struct move {
	struct lni_pni *p;
	struct lni_peer *to, *old;
};

/* A change in preparation: the new peer, the peer NIs that it takes, and what else has to move. It
 * is planned whole before anything is done, so that nothing is half done when memory runs out. */
struct change {
	struct lnet *n;
	struct lni_peer *fresh;
	struct lni_pni **pni; /* of fresh->nids, each with a reference */
	struct move *move;
	unsigned nmove, room;
	struct lni_grace_mem *grace; /* for the old records */
	bool done;
};

/* What was replaced goes when nobody can still look at it. */
static void put_late(void *arg)
{
	struct move *m = arg;

	for (unsigned i = 0; m[i].old; i++)
		lni_peer_put(m[i].old);
	free(m);
}

static void change_fini(struct change *c)
{
	for (unsigned i = 0; c->pni && i < c->fresh->nnids; i++)
		if (c->pni[i])
			lni_pni_put(c->pni[i]);
	for (unsigned i = 0; !c->done && i < c->nmove; i++) {
		struct lni_peer *to = c->move[i].to;

		/* several moves to one record stand together */
		if (to != c->fresh && (i == 0 || c->move[i - 1].to != to))
			free(to);
	}
	if (c->done && c->nmove) {
		lni_grace_start(c->n, c->grace, put_late, c->move);
	} else {
		free(c->grace);
		free(c->move);
	}
	free(c->pni);
	if (c->fresh && !atomic_load(&c->fresh->refs))
		free(c->fresh);
}

static int change_init(struct change *c)
{
	c->pni = calloc(c->fresh->nnids, sizeof(c->pni[0]));
	if (!c->pni)
		return -ENOMEM;
	for (unsigned i = 0; i < c->fresh->nnids; i++) {
		int rc = lni_pni_get(c->n, &c->fresh->nids[i], LNET_PID_LUSTRE, true, &c->pni[i]);

		if (rc)
			return rc;
	}
	return 0;
}

static int plan(struct change *c, struct lni_pni *p, struct lni_peer *to)
{
	if (!c->grace)
		c->grace = lni_grace_new();
	if (!c->grace)
		return -ENOMEM;
	if (c->nmove + 1 >= c->room) { /* one more ends the list */
		unsigned room = c->room ? 2 * c->room : 64;
		struct move *m = realloc(c->move, room * sizeof(*m));

		if (!m)
			return -ENOMEM;
		c->move = m;
		c->room = room;
	}
	c->move[c->nmove++] = (struct move){.p = p, .to = to};
	return 0;
}

/* The rest of a peer that loses NIDs to c->fresh gets a record without them. Lock held. */
static int shrink(struct change *c, const struct lni_peer *old, bool split)
{
	struct lni_peer *rest = NULL;

	for (unsigned i = 0; i < old->nnids; i++) {
		struct lni_pni *p;

		if (has_nid(c->fresh, &old->nids[i]))
			continue;
		p = lni_pni_lookup(c->n->net, &old->nids[i], LNET_PID_LUSTRE);
		if (!p || atomic_load(&p->peer) != old)
			continue;
		if (!rest || split) {
			rest = make_peer(split ? 1 : old->nnids);
			if (!rest)
				return -ENOMEM;
			rest->primary = old->nids[i];
			rest->state = split ? 0 : old->state;
			rest->features = split ? 0 : old->features;
		}
		add_nid(rest, &old->nids[i]);
		if (plan(c, p, rest)) {
			if (split || rest->nnids == 1)
				free(rest); /* no move names it */
			return -ENOMEM;
		}
	}
	return 0;
}

/* Lock held. `was`: the record that c->fresh replaces; its other NIDs stand alone from now on. */
static int plan_all(struct change *c, const struct lni_peer *was)
{
	int rc = was ? shrink(c, was, true) : 0;

	for (unsigned i = 0; !rc && i < c->fresh->nnids; i++) {
		const struct lni_peer *old = atomic_load(&c->pni[i]->peer);
		bool seen = old == was || old->nnids == 1;

		for (unsigned k = 0; k < i && !seen; k++)
			seen = atomic_load(&c->pni[k]->peer) == old;
		if (!seen)
			rc = shrink(c, old, false);
	}
	for (unsigned i = 0; !rc && i < c->fresh->nnids; i++)
		rc = plan(c, c->pni[i], c->fresh);
	return rc;
}

/* Lock held. */
static void carry_out(struct change *c)
{
	for (unsigned i = 0; i < c->nmove; i++) {
		struct move *m = &c->move[i];

		atomic_fetch_add(&m->to->refs, 1);
		m->old = atomic_exchange(&m->p->peer, m->to);
		free(m->p->claim);
		m->p->claim = NULL;
	}
	if (c->nmove)
		c->move[c->nmove].old = NULL;
	c->done = true;
}

/* Lock held. All of it, or -ENOMEM and nothing. */
static int commit(struct change *c, const struct lni_peer *was)
{
	int rc = plan_all(c, was);

	if (!rc)
		carry_out(c);
	return rc;
}

static int check_add(struct lnet *n, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid) || lnet_nid_is_lo(nid))
		return -EINVAL;
	return lni_ni_by_nid(n, nid) ? -EINVAL : 0;
}

/* Lock held. A NID may come from a discovered peer, not from another configured one. */
static int check_conf(const struct change *c, struct lnet_nid *bad)
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
static void keep_conf(struct change *c)
{
	const struct lni_pni *p = lni_pni_lookup(c->n->net, &c->fresh->primary, LNET_PID_LUSTRE);
	const struct lni_peer *old = p ? atomic_load(&p->peer) : NULL;

	if (!old || !lnet_nid_eq(&old->primary, &c->fresh->primary))
		return;
	c->fresh->features = old->features;
	if (old->state & LNET_PEER_CONFIGURED)
		for (unsigned i = 0; i < old->nnids; i++)
			add_nid(c->fresh, &old->nids[i]);
}

static int add_peer(
        struct change *c, const struct lnet_nid *nids, unsigned nnids, struct lnet_nid *bad)
{
	struct lni_net *net = c->n->net;
	int rc;

	add_nid(c->fresh, &c->fresh->primary);
	pthread_mutex_lock(&net->lock);
	keep_conf(c);
	for (unsigned i = 0; i < nnids; i++)
		add_nid(c->fresh, &nids[i]);
	rc = c->fresh->nnids > LNET_PEER_NIDS_MAX ? -E2BIG : check_conf(c, bad);
	pthread_mutex_unlock(&net->lock);
	if (!rc)
		rc = change_init(c);
	if (rc)
		return rc;
	pthread_mutex_lock(&net->lock);
	rc = check_conf(c, bad);
	if (!rc)
		rc = commit(c, NULL);
	pthread_mutex_unlock(&net->lock);
	return rc;
}

int lnet_peer_add(struct lnet *n, const struct lnet_nid *primary, const struct lnet_nid *nids,
        unsigned nnids, bool multi_rail, bool lock, struct lnet_nid *bad)
{
	struct change c = {.n = n};
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
	c.fresh = make_peer(2 * LNET_PEER_NIDS_MAX + 2);
	rc = c.fresh ? 0 : -ENOMEM;
	if (!rc) {
		c.fresh->primary = *primary;
		c.fresh->state = LNET_PEER_CONFIGURED | (multi_rail ? LNET_PEER_MULTI_RAIL : 0) |
		                 (lock ? LNET_PEER_LOCK_PRIMARY : 0);
		rc = add_peer(&c, nids, nnids, bad);
	}
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
	if (p->claim && has_nid(p->claim, &from->nid))
		return 0;
	return has_nid(old, &from->nid) ? 0 : -EEXIST;
}

/* All of c->fresh? What is not believed is noted, for when the other one says the same. Lock held.
 */
static int check_learn(struct change *c, struct lni_pni *from, struct lnet_nid *bad)
{
	for (unsigned i = 1; i < c->fresh->nnids; i++) {
		int rc = may_take(c->n, &c->fresh->nids[i], from);

		if (!rc)
			continue;
		*bad = c->fresh->nids[i];
		free(from->claim);
		from->claim = make_peer(c->fresh->nnids);
		if (from->claim)
			for (unsigned k = 0; k < c->fresh->nnids; k++)
				add_nid(from->claim, &c->fresh->nids[k]);
		return rc;
	}
	return 0;
}

static int learn_locked(struct change *c, struct lnet_nid *bad)
{
	int rc = check_learn(c, c->pni[0], bad);

	/* the administrator may have been faster */
	if (!rc && (atomic_load(&c->pni[0]->peer)->state & LNET_PEER_CONFIGURED))
		return 0;
	return rc ? rc : commit(c, atomic_load(&c->pni[0]->peer));
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
	else
		rc = check_learn(&c, p, bad); /* before a peer NI is made for each of them */
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

/* Lock held: what of the peer goes; the rest gets a record without it. Fills in v. */
static int del_locked(struct change *c, struct lni_peer *old, const struct lnet_nid *nids,
        unsigned nnids, struct lni_pni **v, unsigned *count)
{
	bool whole = nnids == 0;
	unsigned k = 0;
	int rc = 0;

	for (unsigned i = 0; i < nnids; i++)
		whole |= lnet_nid_eq(&nids[i], &old->primary);
	c->fresh = make_peer(old->nnids);
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
			add_nid(c->fresh, &old->nids[i]);
			rc = plan(c, p, c->fresh);
		}
	}
	if (rc)
		return rc;
	carry_out(c);
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
	struct change c = {.n = n};
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
	change_fini(&c);
	kill_all(n, v, k);
	lni_exit(n);
	return rc;
}

/* As it is now, with another state. false: it changed meanwhile. */
static bool same_members(const struct change *c)
{
	const struct lni_peer *now = atomic_load(&c->pni[0]->peer);

	if (now->nnids != c->fresh->nnids)
		return false;
	for (unsigned i = 0; i < now->nnids; i++)
		if (!has_nid(c->fresh, &now->nids[i]))
			return false;
	return true;
}

static int set_state(struct lnet *n, const struct lnet_nid *nid, uint32_t state)
{
	struct change c = {.n = n};
	struct lni_peer *old;
	struct lni_pni *p;
	int rc;

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
		rc = same_members(&c) ? commit(&c, NULL) : -EAGAIN;
		pthread_mutex_unlock(&n->net->lock);
	}
	change_fini(&c);
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
