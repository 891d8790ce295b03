/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peer NIs and rails: the table, references, making and ending them.
 *
 * References of a peer NI: one for the table while it is hashed, one for each rail, one for each
 * user. References of a rail: one while the peer NI is alive (the list's), the driver's, one for
 * each message under way. A peer NI that leaves the table closes its rails; each is freed when the
 * driver has closed it and the last reference is gone.
 */
#include <errno.h>
#include <stdlib.h>

#include "lnet/net/net.h"

#define NBUCKETS_MIN 64u
#define EVICT_SCAN   256u

static unsigned bucket(const struct lni_net *net, const struct lnet_nid *nid, uint32_t pid)
{
	uint64_t h = lnet_nid_hash(nid);

	if (pid & LNET_PID_USERFLAG)
		h ^= (uint64_t)pid * 0x9e3779b97f4a7c15ull;
	return (unsigned)((h ^ h >> 32) & (net->nbuckets - 1));
}

/* A plain pid names the node; a user pid is a node of its own behind the same NID. */
static bool same_key(const struct lni_pni *p, const struct lnet_nid *nid, uint32_t pid)
{
	if (!lnet_nid_eq(&p->nid, nid))
		return false;
	return ((p->pid | pid) & LNET_PID_USERFLAG) == 0 || p->pid == pid;
}

struct lni_pni *lni_pni_lookup(struct lni_net *net, const struct lnet_nid *nid, uint32_t pid)
{
	struct lni_pni *p = net->table[bucket(net, nid, pid)];

	while (p && !same_key(p, nid, pid))
		p = p->hnext;
	return p;
}

static void grow(struct lni_net *net)
{
	unsigned old = net->nbuckets;
	struct lni_pni **t, **ot = net->table;

	if (net->npnis < old || old > (1u << 24))
		return;
	t = calloc(old * 2, sizeof(*t));
	if (!t)
		return; /* a full table is slow, not wrong */
	net->table = t;
	net->nbuckets = old * 2;
	for (unsigned i = 0; i < old; i++) {
		while (ot[i]) {
			struct lni_pni *p = ot[i];
			unsigned b = bucket(net, &p->nid, p->pid);

			ot[i] = p->hnext;
			p->hnext = t[b];
			t[b] = p;
		}
	}
	free(ot);
}

static void unhash(struct lni_net *net, struct lni_pni *p)
{
	struct lni_pni **pp = &net->table[bucket(net, &p->nid, p->pid)];

	while (*pp != p)
		pp = &(*pp)->hnext;
	*pp = p->hnext;
	net->npnis--;
}

void lni_pni_hold(struct lni_pni *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
}

static void free_pni(void *arg)
{
	struct lni_pni *p = arg;
	struct lni_net *net = p->n->net;

	lni_peer_put(atomic_load(&p->peer));
	free(p->claim);
	free(p);
	atomic_fetch_sub(&net->pnis_live, 1);
}

void lni_pni_put(struct lni_pni *p)
{
	if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (lni_grace(p->n, free_pni, p))
		free_pni(p); /* out of memory: nobody has a reference, and readers hold one */
}

static void forget_rail(struct lni_rail *r)
{
	struct lni_pni *p = r->pni;
	struct lni_net *net = p->n->net;

	atomic_fetch_sub(&r->ni->nrails, 1);
	free(r);
	atomic_fetch_sub(&net->rails_live, 1);
	lni_pni_put(p);
}

static void free_rail(struct lni_rail *r)
{
	struct lni_pni *p = r->pni;
	struct lni_net *net = p->n->net;

	pthread_mutex_lock(&net->lock);
	for (struct lni_rail **rr = &p->rails; *rr; rr = &(*rr)->next) {
		if (*rr == r) {
			*rr = r->next;
			break;
		}
	}
	pthread_mutex_unlock(&net->lock);
	forget_rail(r);
}

void lni_rail_hold(struct lni_rail *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
}

void lni_rail_put(struct lni_rail *r)
{
	if (atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) == 1 && r->closed)
		free_rail(r);
}

static struct lni_pni *make_pni(struct lnet *n, const struct lnet_nid *nid, uint32_t pid)
{
	struct lni_pni *p = calloc(1, sizeof(*p));
	struct lni_peer *peer = lni_peer_single(nid);

	if (!p || !peer) {
		free(p);
		free(peer);
		return NULL;
	}
	p->n = n;
	p->nid = *nid;
	p->pid = pid;
	p->loop = lni_home(n, nid);
	atomic_init(&p->peer, peer);
	atomic_init(&p->refs, 1);
	lni_list_init(&p->queue);
	p->health.value = LNI_HEALTH_MAX;
	p->health.reason = "";
	return p;
}

static void reap(struct lnet_work *w)
{
	struct lni_pni *p = w->arg;

	lni_pni_kill(p);
	lni_pni_put(p); /* the table's */
}

/* Take the longest idle of a few out of the full table. With the lock held. */
static struct lni_pni *pick_victim(struct lni_net *net, const struct lnet_nid *nid)
{
	struct lni_pni *best = NULL;
	unsigned b = bucket(net, nid, 0), seen = 0;

	for (unsigned i = 0; i < net->nbuckets && seen < EVICT_SCAN; i++) {
		for (struct lni_pni *p = net->table[(b + i) & (net->nbuckets - 1)]; p;
		        p = p->hnext) {
			seen++;
			/* the table's and its rails' references alone: nobody uses it now */
			int idle = 1;

			for (struct lni_rail *r = p->rails; r; r = r->next)
				idle += 1 + 1000 * (atomic_load(&r->refs) > 1);
			if (atomic_load(&p->refs) != idle ||
			        (atomic_load(&p->peer)->state & LNET_PEER_CONFIGURED))
				continue;
			if (!best || atomic_load(&p->last_use) < atomic_load(&best->last_use))
				best = p;
		}
	}
	return best;
}

static int insert(struct lnet *n, struct lni_pni *p, struct lni_pni **victim)
{
	struct lni_net *net = n->net;
	unsigned b;

	*victim = NULL;
	if (net->npnis >= n->opts.max_peers) {
		*victim = pick_victim(net, &p->nid);
		if (!*victim) {
			net->refused_peers++;
			return -ENOSPC;
		}
		unhash(net, *victim);
		atomic_store(&(*victim)->dead, true);
		net->evicted++;
	}
	grow(net);
	b = bucket(net, &p->nid, p->pid);
	p->hnext = net->table[b];
	net->table[b] = p;
	net->npnis++;
	atomic_fetch_add(&net->pnis_live, 1);
	return 0;
}

int lni_pni_get(
        struct lnet *n, const struct lnet_nid *nid, uint32_t pid, bool create, struct lni_pni **out)
{
	struct lni_net *net = n->net;
	struct lni_pni *p, *fresh = NULL, *victim = NULL;
	int rc = 0;

	pthread_mutex_lock(&net->lock);
	p = lni_pni_lookup(net, nid, pid);
	if (!p && create && !atomic_load(&n->aborting)) {
		pthread_mutex_unlock(&net->lock);
		fresh = make_pni(n, nid, pid);
		if (!fresh)
			return -ENOMEM;
		pthread_mutex_lock(&net->lock);
		p = lni_pni_lookup(net, nid, pid);
		if (!p) {
			rc = insert(n, fresh, &victim);
			if (!rc) {
				p = fresh;
				fresh = NULL;
			}
		}
	}
	if (p) {
		lni_pni_hold(p);
		atomic_store_explicit(
		        &p->last_use, (uint32_t)(lnet_now(n) / 1000000000u), memory_order_relaxed);
	}
	pthread_mutex_unlock(&net->lock);
	if (fresh) {
		lni_peer_put(atomic_load(&fresh->peer));
		free(fresh);
	}
	if (victim)
		lni_pni_post_kill(victim);
	if (!p)
		return rc ? rc : create ? -ESHUTDOWN : -ENOENT;
	*out = p;
	return 0;
}

/* With the lock held. */
static struct lni_rail *find_rail(struct lni_pni *p, const struct lni_ni *ni)
{
	struct lni_rail *r = p->rails;

	while (r && (r->ni != ni || r->closing))
		r = r->next;
	if (r)
		lni_rail_hold(r);
	return r;
}

static void close_unused(struct lnet_work *w)
{
	struct lni_rail *r = w->arg;

	r->ni->d.node->lnd->rail_close(&r->d);
}

/* Publish unless another thread was faster. With the lock held. */
static int publish(struct lni_pni *p, struct lni_rail *fresh, struct lni_rail **out)
{
	struct lni_ni *ni = fresh->ni;

	if (atomic_load(&p->dead) || atomic_load(&ni->life) != LNI_NI_ACTIVE)
		return -ESHUTDOWN;
	*out = find_rail(p, ni);
	if (*out)
		return 0;
	fresh->published = true;
	fresh->next = p->rails;
	p->rails = fresh;
	*out = fresh;
	return 0;
}

int lni_rail_get(struct lni_pni *p, struct lni_ni *ni, struct lni_rail **out)
{
	struct lni_net *net = p->n->net;
	struct lni_rail *r, *fresh;
	int rc;

	pthread_mutex_lock(&net->lock);
	r = find_rail(p, ni);
	pthread_mutex_unlock(&net->lock);
	if (r) {
		*out = r;
		return 0;
	}
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	fresh->d = (struct lnet_rail){
	        .ni = &ni->d, .nid = p->nid, .pid = p->pid, .loop = p->loop, .core = fresh};
	fresh->pni = p;
	fresh->ni = ni;
	lni_list_init(&fresh->blocked);
	atomic_init(&fresh->refs, 2); /* the list's and the caller's */
	/* counted before the driver knows it: the NI must outlive it */
	lni_pni_hold(p);
	atomic_fetch_add(&net->rails_live, 1);
	atomic_fetch_add(&ni->nrails, 1);
	rc = ni->d.node->lnd->rail_open(&fresh->d);
	if (rc) {
		forget_rail(fresh);
		return rc;
	}
	pthread_mutex_lock(&net->lock);
	rc = publish(p, fresh, &r);
	pthread_mutex_unlock(&net->lock);
	if (rc || r != fresh) {
		lnet_work_init(&fresh->work, close_unused, fresh);
		lnet_loop_post(p->loop, &fresh->work);
	}
	if (!rc)
		*out = r;
	return rc;
}

/* End everything that waits in a queue of ours for this rail. */
static void fail_waiting(struct lni_rail *r)
{
	struct lni_list *queues[3] = {&r->pni->queue, &lni_share_of(r)->waiters, &r->blocked};

	for (int q = 0; q < 3; q++) {
		for (struct lni_list *i = queues[q]->next; i != queues[q];) {
			struct lni_tx *t = lni_container(i, struct lni_tx, node);
			struct lnet *n = r->pni->n;

			i = i->next;
			if (t->rail != r)
				continue;
			if (lni_tx_cancel(t) == 1) {
				n->up.tx_done(n, &t->d, -ESHUTDOWN, LNET_HS_LOCAL_ABORTED, false);
				i = queues[q]->next; /* the list may have changed under us */
			}
		}
	}
}

void lni_rail_shut(struct lni_rail *r)
{
	if (r->closing)
		return;
	r->closing = true;
	lni_rail_hold(r);
	fail_waiting(r);
	r->pni->n->up.rail_lost(r->pni->n, &r->d, -ESHUTDOWN);
	r->ni->d.node->lnd->rail_close(&r->d);
	lni_rail_put(r);
}

void lni_up_rail_closed(struct lnet_rail *d)
{
	struct lni_rail *r = lni_rail_of(d);

	if (!r->published) {
		forget_rail(r);
		return;
	}
	r->closing = r->closed = true;
	if (r->up) {
		r->up = false;
		if (--r->pni->nup == 0)
			lni_watch_fire(r, LNET_PEER_DOWN, -ESHUTDOWN);
		lni_rail_put(r); /* that of a connected rail */
	}
	lni_rail_put(r); /* the list's */
}

/* Up to max rails that match, each with a reference. ni NULL: all. */
unsigned lni_pni_rails(
        struct lni_pni *p, const struct lni_ni *ni, struct lni_rail **v, unsigned max)
{
	unsigned k = 0;

	pthread_mutex_lock(&p->n->net->lock);
	for (struct lni_rail *r = p->rails; r && k < max; r = r->next) {
		if (r->closing || (ni && r->ni != ni))
			continue;
		lni_rail_hold(r);
		v[k++] = r;
	}
	pthread_mutex_unlock(&p->n->net->lock);
	return k;
}

void lni_pni_shut(struct lni_pni *p, const struct lni_ni *ni)
{
	struct lni_rail *v[16];
	unsigned k;

	do {
		k = lni_pni_rails(p, ni, v, 16);
		for (unsigned i = 0; i < k; i++) {
			lni_rail_shut(v[i]);
			lni_rail_put(v[i]);
		}
	} while (k == 16);
}

void lni_pni_kill(struct lni_pni *p)
{
	lni_pni_shut(p, NULL);
}

/* Take p out of the table: no new user. The caller then kills it on its loop and gives the table's
 * reference back (lni_pni_post_kill). With the lock held. */
void lni_pni_unhash(struct lni_pni *p)
{
	unhash(p->n->net, p);
	atomic_store(&p->dead, true);
}

void lni_pni_post_kill(struct lni_pni *p)
{
	lnet_work_init(&p->reap, reap, p);
	lnet_loop_post(p->loop, &p->reap);
}

void lni_pni_set_health(struct lni_pni *p, int value, const char *reason, uint64_t now)
{
	if (value < 0)
		value = 0;
	if (value > LNI_HEALTH_MAX)
		value = LNI_HEALTH_MAX;
	if (p->health.value == value)
		return;
	p->health.value = value;
	p->health.reason = reason;
	p->health.changed = now;
}

void lni_pni_each_on(struct lnet *n, struct lnet_loop *l,
        void (*fn)(struct lni_pni *p, const struct lni_ni *ni), const struct lni_ni *ni)
{
	struct lni_net *net = n->net;

	for (unsigned b = 0;; b++) {
		struct lni_pni *v[32];
		unsigned k = 0, skip = 0;

		do {
			unsigned seen = 0;

			k = 0;
			pthread_mutex_lock(&net->lock);
			if (b >= net->nbuckets) {
				pthread_mutex_unlock(&net->lock);
				return;
			}
			for (struct lni_pni *p = net->table[b]; p && k < 32; p = p->hnext) {
				if (p->loop != l || seen++ < skip)
					continue;
				lni_pni_hold(p);
				v[k++] = p;
			}
			pthread_mutex_unlock(&net->lock);
			for (unsigned i = 0; i < k; i++) {
				fn(v[i], ni);
				lni_pni_put(v[i]);
			}
			skip += k;
		} while (k == 32);
	}
}
