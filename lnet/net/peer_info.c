/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What there is to know of peers, and the commands that set their numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/net.h"

void lni_pni_clear(struct lni_pni *p, const struct lni_ni *ni)
{
	(void)ni;
	memset(&p->traffic, 0, sizeof(p->traffic));
	memset(p->health.by, 0, sizeof(p->health.by));
}

struct fill {
	struct lni_pni *p;
	struct lnet_peer_ni_info *i;
};

static int fill_pni(void *arg)
{
	struct fill *f = arg;
	struct lni_pni *p = f->p;
	struct lnet_peer_ni_info *i = f->i;
	struct lni_rail *v[16];
	unsigned k;

	k = lni_pni_rails(p, NULL, v, 16);
	if (k)
		lni_pni_credits(p, v[0]->ni);
	*i = (struct lnet_peer_ni_info){.nid = p->nid,
	        .pid = p->pid,
	        .state = "NA",
	        .conn = "idle",
	        .max_credits = p->cr.max,
	        .credits_free = p->cr.free - p->cr.waiting,
	        .credits_min = p->cr.low,
	        .rtr_credits = p->cr.max,
	        .rtr_credits_min = p->cr.max,
	        .refs = (uint32_t)atomic_load(&p->refs),
	        .last_alive = p->last_alive,
	        .health = p->health,
	        .traffic = p->traffic};
	for (unsigned r = 0; r < k; r++) {
		struct lnet_rail_info ri = {0};

		if (!v[r]->ni->d.node->lnd->query(&v[r]->d, &ri)) {
			i->nconns += ri.nconns;
			i->conns_wanted += ri.conns_wanted;
			i->tx_queued += ri.tx_queued;
			if (ri.last_errno)
				i->last_errno = ri.last_errno;
			if (ri.state && strcmp(ri.state, "idle"))
				i->conn = ri.state;
			if (ri.peer_incarnation)
				i->incarnation = ri.peer_incarnation;
		}
		lni_rail_put(v[r]);
	}
	return 0;
}

struct key {
	struct lnet_nid nid;
	uint32_t pid;
};

static int by_nid(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int c = lnet_nid_cmp(&x->nid, &y->nid);

	return c ? c : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Does p stand for its peer in the table? The first of its NIDs that is there does: the primary's
 * own peer NI may have been evicted. Lock held. */
static bool stands_for(struct lni_net *net, const struct lni_pni *p, const struct lni_peer *peer)
{
	if (p->pid & LNET_PID_USERFLAG)
		return true;
	for (unsigned i = 0; i < peer->nnids; i++) {
		const struct lni_pni *o = lni_pni_lookup(net, &peer->nids[i], LNET_PID_LUSTRE);

		if (o)
			return o == p;
	}
	return false;
}

/* One key a peer. */
static int list_peers(struct lnet *n, const struct lnet_nid *nid, struct key **out, unsigned *count)
{
	struct lni_net *net = n->net;
	struct key *k;
	unsigned c = 0;

	pthread_mutex_lock(&net->lock);
	k = calloc(net->npnis + 1, sizeof(*k));
	for (unsigned b = 0; k && b < net->nbuckets; b++) {
		for (struct lni_pni *p = net->table[b]; p; p = p->hnext) {
			const struct lni_peer *peer = atomic_load(&p->peer);
			bool hit = lnet_nid_is_any(nid);

			for (unsigned i = 0; !hit && i < peer->nnids; i++)
				hit = lnet_nid_eq(nid, &peer->nids[i]);
			if (!hit || !stands_for(net, p, peer) || lni_ni_by_nid(n, &p->nid))
				continue;
			k[c++] = (struct key){p->nid, p->pid};
		}
	}
	pthread_mutex_unlock(&net->lock);
	if (!k)
		return -ENOMEM;
	qsort(k, c, sizeof(*k), by_nid);
	*out = k;
	*count = c;
	return 0;
}

/* Its peer NIs, each with a reference. */
static unsigned hold_members(struct lnet *n, const struct key *k, struct lnet_peer_info *info,
        struct lni_pni **v, unsigned max)
{
	struct lni_net *net = n->net;
	struct lni_pni *p;
	unsigned c = 0;

	pthread_mutex_lock(&net->lock);
	p = lni_pni_lookup(net, &k->nid, k->pid);
	if (p) {
		const struct lni_peer *peer = atomic_load(&p->peer);

		info->primary = peer->primary;
		info->state = peer->state;
		info->multi_rail = peer->state & LNET_PEER_MULTI_RAIL;
		lni_pni_hold(p);
		v[c++] = p;
		for (unsigned i = 0; i < peer->nnids && c < max; i++) {
			struct lni_pni *o = lni_pni_lookup(net, &peer->nids[i], LNET_PID_LUSTRE);

			if (!o || o == p || lnet_nid_eq(&peer->nids[i], &p->nid))
				continue;
			lni_pni_hold(o);
			v[c++] = o;
		}
	}
	pthread_mutex_unlock(&net->lock);
	return c;
}

int lnet_peer_each(struct lnet *n, const struct lnet_nid *nid,
        int (*fn)(void *arg, const struct lnet_peer_info *i), void *arg)
{
	struct lnet_peer_ni_info *ni = NULL;
	struct lni_pni *v[LNET_PEER_NIDS_MAX + 2];
	unsigned count;
	struct key *k;
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = list_peers(n, nid, &k, &count);
	if (rc)
		goto out;
	ni = calloc(LNET_PEER_NIDS_MAX + 2, sizeof(*ni));
	if (!ni)
		rc = -ENOMEM;
	if (!rc && count == 0 && !lnet_nid_is_any(nid))
		rc = -ENOENT;
	for (unsigned i = 0; i < count && !rc; i++) {
		struct lnet_peer_info info = {.size = sizeof(info), .ni = ni};
		unsigned m = hold_members(n, &k[i], &info, v, LNET_PEER_NIDS_MAX + 2);

		for (unsigned x = 0; x < m; x++) {
			struct fill f = {v[x], &ni[x]};

			lni_loop_call(v[x]->loop, fill_pni, &f);
			lni_pni_put(v[x]);
		}
		info.nni = m;
		if (m)
			rc = fn(arg, &info);
	}
	free(ni);
	free(k);
out:
	lni_exit(n);
	return rc;
}

struct set_health {
	struct lni_pni *p;
	int value;
};

static int set_health(void *arg)
{
	const struct set_health *h = arg;

	lni_pni_set_health(h->p, h->value, "set by hand", lnet_loop_now(h->p->loop));
	return 0;
}

int lnet_peer_set_health(struct lnet *n, const struct lnet_nid *nid, int health)
{
	struct key *k;
	unsigned count, hits = 0;
	int rc;

	if (health < 0 || health > LNI_HEALTH_MAX)
		return -EINVAL;
	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = list_peers(n, nid, &k, &count);
	for (unsigned i = 0; !rc && i < count; i++) {
		struct lni_pni *v[LNET_PEER_NIDS_MAX + 2];
		struct lnet_peer_info info;
		unsigned m = hold_members(n, &k[i], &info, v, LNET_PEER_NIDS_MAX + 2);

		for (unsigned x = 0; x < m; x++) {
			struct set_health f = {v[x], health};

			if (lnet_nid_is_any(nid) || lnet_nid_eq(nid, &v[x]->nid)) {
				lni_loop_call(v[x]->loop, set_health, &f);
				hits++;
			}
			lni_pni_put(v[x]);
		}
	}
	if (!rc)
		free(k);
	lni_exit(n);
	return rc ? rc : hits || lnet_nid_is_any(nid) ? 0 : -ENOENT;
}
