/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of a running node, read back as a value. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/conf_priv.h"
#include "lnet/control/control_priv.h"
#include "lnet/control/resolve.h"
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct collect {
	struct lnet_control *c;
	struct lnc_conf *conf;
	unsigned flags;
	unsigned net_cap, peer_cap;
};

/* What is exported although nobody gave it: LNet's own tunables of a driver. */
static bool always_shown(const char *name)
{
	return !strcmp(name, "conns_per_peer") || !strcmp(name, "tos");
}

static void add_tun(struct lnc_arena *mem, struct lnc_tun **v, unsigned *n, unsigned *cap,
        const char *name, int64_t value)
{
	struct lnc_tun *t = LNC_PUSH(mem, *v, *n, *cap);
	char text[24];

	if (!t)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)value);
	t->name = lnc_arena_strdup(mem, name);
	t->text = lnc_arena_strdup(mem, text);
	t->value = value;
	t->known = true;
}

static void ni_values(struct collect *k, struct lnc_ni *ni, const struct lnet_ni_info *i)
{
	bool eff = k->flags & LNC_COLLECT_EFFECTIVE;
	unsigned cap = 0;

	ni->tun[LNC_PEER_TIMEOUT] = eff ? i->peer_timeout : i->conf_peer_timeout;
	ni->tun[LNC_PEER_CREDITS] = eff ? i->peer_credits : i->conf_peer_credits;
	ni->tun[LNC_PEER_BUFFER_CREDITS] =
	        eff ? i->peer_buffer_credits : i->conf_peer_buffer_credits;
	ni->tun[LNC_CREDITS] = eff ? i->credits : i->conf_credits;
	for (unsigned t = 0; i->lnd && t < i->lnd->ntunables; t++) {
		const struct lnet_tunable *d = &i->lnd->tunables[t];
		if (d->flags & LNET_TUN_READONLY)
			continue;
		if (i->tun_set[t] || (eff && always_shown(d->name)))
			add_tun(&k->conf->mem, &ni->lnd, &ni->nlnd, &cap, d->name, i->tun[t]);
	}
}

static struct lnc_net *net_of(struct collect *k, const struct lnet_ni_info *i)
{
	struct lnc_arena *mem = &k->conf->mem;
	lnet_net_t net = lnet_nid_net(&i->nid);
	struct lnc_net *n = lnc_net_find(k->conf, net);

	if (n)
		return n;
	n = LNC_PUSH(mem, k->conf->net, k->conf->nnet, k->net_cap);
	if (!n)
		return NULL;
	n->net = net;
	n->accept = i->accept;
	n->nallow = i->nallow;
	n->allow_set = i->nallow > 0;
	n->allow = lnc_arena_alloc(mem, (i->nallow + 1) * sizeof(*n->allow));
	if (n->allow && i->nallow)
		memcpy(n->allow, i->allow, i->nallow * sizeof(*n->allow));
	return n;
}

static int one_ni(void *arg, const struct lnet_ni_info *i)
{
	struct collect *k = arg;
	struct lnc_arena *mem = &k->conf->mem;
	char all[32];

	if (lnet_nid_is_lo(&i->nid))
		return 0;
	struct lnc_net *net = net_of(k, i);
	if (!net)
		return -ENOMEM;
	/* few NIs a net: the array is copied when one is added */
	struct lnc_ni *v = lnc_arena_alloc(mem, (net->nni + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (net->nni)
		memcpy(v, net->ni, net->nni * sizeof(*v));
	net->ni = v;
	struct lnc_ni *ni = &v[net->nni++];
	ni->nid = i->nid;
	ni->ifname = i->ifname[0] ? lnc_arena_strdup(mem, i->ifname) : NULL;
	if (i->cpts && *i->cpts)
		ni->cpts = lnc_arena_strdup(mem, i->cpts);
	else if (k->flags & LNC_COLLECT_EFFECTIVE)
		ni->cpts = lnc_arena_strdup(mem, lnc_all_cpts(k->c->n, all, sizeof(all)));
	ni_values(k, ni, i);
	return mem->failed ? -ENOMEM : 0;
}

static int one_peer(void *arg, const struct lnet_peer_info *i)
{
	struct collect *k = arg;
	struct lnc_arena *mem = &k->conf->mem;

	if (!(i->state & LNET_PEER_CONFIGURED))
		return 0;
	struct lnc_peer *p = LNC_PUSH(mem, k->conf->peer, k->conf->npeer, k->peer_cap);
	if (!p)
		return -ENOMEM;
	p->primary = i->primary;
	p->multi_rail = i->multi_rail;
	p->mr_set = true;
	p->lock = i->state & LNET_PEER_LOCK_PRIMARY;
	/* not the configuration's business, but what may be removed depends on it */
	p->pos.column = i->state & LNET_PEER_DISCOVERED ? 1 : 0;
	p->nids = lnc_arena_alloc(mem, (i->nni + 1) * sizeof(*p->nids));
	if (!p->nids)
		return -ENOMEM;
	for (unsigned n = 0; n < i->nni; n++)
		if (!lnet_nid_eq(&i->ni[n].nid, &i->primary))
			p->nids[p->nnids++] = i->ni[n].nid;
	return 0;
}

static void globals(struct collect *k)
{
	unsigned n, cap = 0;
	const struct lnet_tunable *t = lnet_globals(&n);
	struct lnet *node = k->c->n;
	int64_t v;

	for (unsigned i = 0; i < n; i++) {
		if ((t[i].flags & LNET_TUN_READONLY) || lnet_global_get(node, t[i].name, &v))
			continue;
		if ((k->flags & LNC_COLLECT_EFFECTIVE) || lnet_global_is_set(node, t[i].name))
			add_tun(&k->conf->mem, &k->conf->global, &k->conf->nglobal, &cap, t[i].name,
			        v);
	}
}

static void extras(struct collect *k)
{
	const struct lnc_extras *e = &k->c->extras;
	struct lnc_conf *c = k->conf;

	c->selftest = e->selftest;
	c->control.socket = lnc_arena_strdup(&c->mem, e->socket);
	c->control.group = lnc_arena_strdup(&c->mem, e->group);
	c->control.mode = e->mode;
	c->log.level = e->level;
	c->log.to = lnc_arena_strdup(&c->mem, e->to);
}

int lnc_collect(struct lnet_control *c, unsigned flags, struct lnc_conf **out)
{
	struct collect k = {.c = c, .flags = flags, .conf = lnc_conf_new()};
	struct lnet_nid any = lnet_nid_any();
	struct lnc_here h;
	int rc;

	if (!k.conf)
		return -ENOMEM;
	rc = lnet_ni_each(c->n, one_ni, &k);
	if (!rc)
		rc = lnet_peer_each(c->n, &any, one_peer, &k);
	if (!rc) {
		globals(&k);
		extras(&k);
		lnc_schema_of(c, NULL, &h);
		for (unsigned i = 0; i < k.conf->nnet; i++)
			lnc_net_level(&k.conf->mem, &h.s, &k.conf->net[i]);
	}
	if (!rc && k.conf->mem.failed)
		rc = -ENOMEM;
	if (rc) {
		lnc_conf_free(k.conf);
		return rc;
	}
	*out = k.conf;
	return 0;
}

static const struct lnet_tunable *driver_tunables(void *arg, uint8_t type, unsigned *n)
{
	struct lnc_here *h = arg;
	const struct lnet_lnd *l = lnet_lnd_find(h->n, type);

	if (!l)
		return NULL;
	*n = l->ntunables;
	return l->tunables;
}

static int resolve(
        void *arg, const char *host, lnet_net_t net, struct lnet_nid *out, struct lnc_err *err)
{
	struct lnc_here *h = arg;

	return lnc_resolve(h->resolver, host, net, out, err);
}

void lnc_schema_of(struct lnet_control *c, struct lnc_resolver *resolver, struct lnc_here *h)
{
	memset(h, 0, sizeof(*h));
	h->n = c->n;
	h->resolver = resolver;
	h->s.arg = h;
	h->s.tunables = driver_tunables;
	h->s.resolve = resolver ? resolve : NULL;
	h->s.globals = lnet_globals(&h->s.nglobals);
}
