/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be changed of an interface that is up. With lni_net_lock(), so that readers of the whole
 * configuration see one state; on the NI's home loop, where its driver looks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/net.h"

struct set_arg {
	struct lnet *n;
	const struct lnet_nid *nid;
	lnet_net_t net;
	const char *name;
	int64_t value;
	enum lnet_accept accept;
	const struct lnet_cidr *allow;
	unsigned nallow;
};

static int call_locked(struct lnet *n, int (*fn)(void *arg), struct set_arg *a)
{
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	lni_net_lock(n);
	rc = lni_loop_call(n->loops[0], fn, a);
	lni_net_unlock(n);
	lni_exit(n);
	return rc;
}

static void change_tun(struct lni_ni *ni, int k, int64_t value)
{
	const struct lnet_lnd *l = ni->d.node->lnd;
	bool unset = value == LNET_UNSET;

	__atomic_store_n(&ni->d.tunables[k], unset ? l->tunables[k].def : value, __ATOMIC_RELAXED);
	ni->tun_set[k] = !unset;
	l->ni_changed(&ni->d);
}

static int set_tunable(void *arg)
{
	struct set_arg *a = arg;
	const struct lni_ni_set *s = atomic_load(&a->n->net->nis);
	struct lni_ni *ni = lni_ni_by_nid(a->n, a->nid);
	const struct lnet_tunable *t;
	int k, rc;

	if (!ni)
		return -ENOENT;
	k = lni_tun_index(ni->d.node->lnd, a->name);
	if (k < 0)
		return -ENOENT;
	t = &ni->d.node->lnd->tunables[k];
	rc = lni_tun_check(t, a->value == LNET_UNSET ? t->def : a->value, NULL, 0);
	if (rc)
		return rc;
	if (!(t->flags & LNET_TUN_RUNTIME))
		return -EPERM;
	/* what is the net's is changed for all its interfaces */
	for (unsigned i = 0; i < s->count; i++) {
		struct lni_ni *o = s->ni[i];

		if (o == ni || ((t->flags & LNET_TUN_NET) &&
		                       lnet_nid_net(&o->d.nid) == lnet_nid_net(&ni->d.nid)))
			change_tun(o, k, a->value);
	}
	return 0;
}

int lnet_ni_set_tunable(struct lnet *n, const struct lnet_nid *nid, const char *name, int64_t value)
{
	struct set_arg a = {.n = n, .nid = nid, .name = name, .value = value};

	return call_locked(n, set_tunable, &a);
}

int lni_allow_copy(const struct lnet_cidr *from, unsigned count, struct lnet_cidr **out)
{
	*out = NULL;
	if (!count)
		return 0;
	*out = calloc(count, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	memcpy(*out, from, count * sizeof(**out));
	return 0;
}

static void change_accept(struct lni_ni *ni, const struct set_arg *a, struct lnet_cidr *allow)
{
	struct lnet_cidr *old = ni->allow;

	ni->allow = allow;
	ni->d.allow = allow;
	ni->d.nallow = a->nallow;
	ni->d.accept = a->accept;
	ni->d.node->lnd->ni_changed(&ni->d);
	free(old);
}

/* All of the net's interfaces, or none. */
static int set_accept(void *arg)
{
	struct set_arg *a = arg;
	const struct lni_ni_set *s = atomic_load(&a->n->net->nis);
	struct lnet_cidr *copy[LNI_MAX_NIS];
	unsigned i;
	int rc = -ENOENT;

	for (i = 0; i < s->count; i++) {
		copy[i] = NULL;
		if (lnet_nid_net(&s->ni[i]->d.nid) != a->net)
			continue;
		rc = lni_allow_copy(a->allow, a->nallow, &copy[i]);
		if (rc)
			break;
	}
	if (rc) {
		while (i-- > 0)
			free(copy[i]);
		return rc;
	}
	for (i = 0; i < s->count; i++)
		if (lnet_nid_net(&s->ni[i]->d.nid) == a->net)
			change_accept(s->ni[i], a, copy[i]);
	return 0;
}

int lnet_net_set_accept(struct lnet *n, lnet_net_t net, enum lnet_accept accept,
        const struct lnet_cidr *allow, unsigned nallow)
{
	struct set_arg a = {.n = n, .net = net, .accept = accept, .allow = allow, .nallow = nallow};

	return call_locked(n, set_accept, &a);
}

static int set_health(void *arg)
{
	struct set_arg *a = arg;
	struct lni_ni *ni = lni_ni_by_nid(a->n, a->nid);

	if (!ni)
		return -ENOENT;
	atomic_store(&ni->health, (int)a->value);
	atomic_store(&ni->health_reason, "set by hand");
	atomic_store(&ni->health_changed, lnet_now(a->n));
	/* 0 and 1000 force the status, as with lnetctl */
	if (a->value == 0 || a->value == LNI_HEALTH_MAX)
		lni_ni_event(&ni->d, a->value ? LNET_NI_UP : LNET_NI_DOWN, "set by hand");
	return 0;
}

int lnet_ni_set_health(struct lnet *n, const struct lnet_nid *nid, int health)
{
	struct set_arg a = {.n = n, .nid = nid, .value = health};

	if (health < 0 || health > LNI_HEALTH_MAX)
		return -EINVAL;
	return call_locked(n, set_health, &a);
}
