/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays and maps of the configuration, tunables in normal form. */
#include "lnet/control/conf_priv.h"

#include <stdio.h>
#include <string.h>

void *lnc_push(struct lnc_arena *mem, void *v, unsigned *n, unsigned *cap, size_t elem)
{
	void *p = lnc_arena_grow(mem, v, *n, cap, elem);

	if (!p) {
		mem->failed = true;
		return v;
	}
	memset((char *)p + *n * elem, 0, elem);
	(*n)++;
	return p;
}

/* ---- (net, NID) -> number -------------------------------------------------------------------- */

static struct lnc_nidkey *lookup(
        const struct lnc_nidmap *m, lnet_net_t net, const struct lnet_nid *nid)
{
	uint64_t h = lnet_nid_hash(nid) ^ (net * UINT64_C(0x9e3779b97f4a7c15));

	for (unsigned i = (unsigned)(h ^ h >> 32) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct lnc_nidkey *k = &m->slot[i];

		if (!k->used || (k->net == net && lnet_nid_eq(&k->nid, nid)))
			return k;
	}
}

static void grow(struct lnc_arena *mem, struct lnc_nidmap *m)
{
	struct lnc_nidmap big = {NULL, m->cap ? m->cap * 2 : 64, m->n};

	big.slot = lnc_arena_alloc(mem, big.cap * sizeof(*big.slot));
	if (!big.slot)
		return;
	for (unsigned i = 0; i < m->cap; i++) {
		if (m->slot[i].used)
			*lookup(&big, m->slot[i].net, &m->slot[i].nid) = m->slot[i];
	}
	*m = big;
}

bool lnc_nidmap_add(struct lnc_arena *mem, struct lnc_nidmap *m, lnet_net_t net,
        const struct lnet_nid *nid, unsigned value, unsigned *old)
{
	struct lnc_nidkey *k;

	if (m->n * 2 >= m->cap)
		grow(mem, m);
	if (mem->failed)
		return true;
	k = lookup(m, net, nid);
	if (k->used) {
		if (old)
			*old = k->value;
		return false;
	}
	*k = (struct lnc_nidkey){net, *nid, value, true};
	m->n++;
	return true;
}

bool lnc_nidmap_get(
        const struct lnc_nidmap *m, lnet_net_t net, const struct lnet_nid *nid, unsigned *value)
{
	const struct lnc_nidkey *k = m->cap ? lookup(m, net, nid) : NULL;

	if (!k || !k->used)
		return false;
	*value = k->value;
	return true;
}

/* ---- tunables -------------------------------------------------------------------------------- */

void lnc_tun_unset(int32_t tun[LNC_NI_TUNABLES])
{
	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++)
		tun[i] = LNET_UNSET;
}

void lnc_tun_inherit(int32_t tun[LNC_NI_TUNABLES], const int32_t from[LNC_NI_TUNABLES])
{
	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++) {
		if (tun[i] == LNET_UNSET)
			tun[i] = from[i];
	}
}

const struct lnet_tunable *lnc_schema_lnd(const struct lnc_schema *s, lnet_net_t net, unsigned *n)
{
	*n = 0;
	return s && s->tunables ? s->tunables(s->arg, (uint8_t)LNET_NET_TYPE(net), n) : NULL;
}

struct lnc_tun *lnc_tun_find(struct lnc_tun *v, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(v[i].name, name) == 0)
			return &v[i];
	}
	return NULL;
}

/* Place in the table, or behind it by name. */
static bool before(
        const struct lnet_tunable *t, unsigned nt, const struct lnc_tun *a, const struct lnc_tun *b)
{
	const struct lnet_tunable *x = lnc_tunable_find(t, nt, a->name);
	const struct lnet_tunable *y = lnc_tunable_find(t, nt, b->name);

	if (x && y)
		return x < y;
	return x || y ? x != NULL : strcmp(a->name, b->name) < 0;
}

static void insert(const struct lnet_tunable *t, unsigned nt, struct lnc_tun *v, unsigned n,
        const struct lnc_tun *x)
{
	unsigned i = n;

	for (; i > 0 && before(t, nt, x, &v[i - 1]); i--)
		v[i] = v[i - 1];
	v[i] = *x;
}

struct lnc_tun *lnc_tun_merge(struct lnc_arena *mem, const struct lnet_tunable *t, unsigned nt,
        const struct lnc_tun *v, unsigned n, const struct lnc_tun *add, unsigned nadd,
        unsigned *nout)
{
	struct lnc_tun *out = n + nadd ? lnc_arena_alloc(mem, (n + nadd) * sizeof(*out)) : NULL;

	*nout = 0;
	if (!out)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		insert(t, nt, out, (*nout)++, &v[i]);
	for (unsigned i = 0; i < nadd; i++) {
		if (!lnc_tun_find(out, *nout, add[i].name))
			insert(t, nt, out, (*nout)++, &add[i]);
	}
	return out;
}

void lnc_net_level(struct lnc_arena *mem, const struct lnc_schema *s, struct lnc_net *net)
{
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(s, net->net, &nt);

	for (unsigned k = 0; k < nt; k++) {
		struct lnc_tun *has = NULL;

		if (!(t[k].flags & LNET_TUN_NET))
			continue;
		for (unsigned i = 0; i < net->nni && !has; i++)
			has = lnc_tun_find(net->ni[i].lnd, net->ni[i].nlnd, t[k].name);
		for (unsigned i = 0; has && i < net->nni; i++) {
			struct lnc_ni *ni = &net->ni[i];

			if (!lnc_tun_find(ni->lnd, ni->nlnd, t[k].name))
				ni->lnd = lnc_tun_merge(
				        mem, t, nt, ni->lnd, ni->nlnd, has, 1, &ni->nlnd);
		}
	}
}

struct lnc_net *lnc_net_find(struct lnc_conf *c, lnet_net_t net)
{
	for (unsigned i = 0; i < c->nnet; i++) {
		if (c->net[i].net == net)
			return &c->net[i];
	}
	return NULL;
}
