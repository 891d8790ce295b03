/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration value: life, comparison, copies. */
#include "lnet/control/conf_priv.h"

#include <stdlib.h>
#include <string.h>

struct lnc_conf *lnc_conf_new(void)
{
	struct lnc_conf *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	lnc_arena_init(&c->mem, 0);
	c->routing = c->selftest = c->control.mode = c->log.level = LNET_UNSET;
	for (unsigned i = 0; i < LNC_BUFFERS; i++)
		c->buffers[i] = LNET_UNSET;
	return c;
}

void lnc_conf_free(struct lnc_conf *c)
{
	if (!c)
		return;
	lnc_arena_free(&c->mem);
	free(c);
}

/* ---- comparison ----------------------------------------------------------------------------- */

bool lnc_str_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool lnc_tuns_equal(const struct lnc_tun *a, unsigned na, const struct lnc_tun *b, unsigned nb)
{
	if (na != nb)
		return false;
	for (unsigned i = 0; i < na; i++) {
		if (strcmp(a[i].name, b[i].name) != 0 || strcmp(a[i].text, b[i].text) != 0)
			return false;
	}
	return true;
}

bool lnc_cidrs_equal(const struct lnet_cidr *a, unsigned na, const struct lnet_cidr *b, unsigned nb)
{
	return na == nb && (!na || memcmp(a, b, na * sizeof(*a)) == 0);
}

bool lnc_ni_equal(const struct lnc_ni *a, const struct lnc_ni *b)
{
	return lnet_nid_eq(&a->nid, &b->nid) && lnc_str_equal(a->ifname, b->ifname) &&
	       lnc_str_equal(a->cpts, b->cpts) && memcmp(a->tun, b->tun, sizeof(a->tun)) == 0 &&
	       lnc_tuns_equal(a->lnd, a->nlnd, b->lnd, b->nlnd);
}

static bool net_equal(const struct lnc_net *a, const struct lnc_net *b)
{
	if (a->net != b->net || a->accept != b->accept || a->allow_set != b->allow_set ||
	        a->nni != b->nni || !lnc_cidrs_equal(a->allow, a->nallow, b->allow, b->nallow))
		return false;
	for (unsigned i = 0; i < a->nni; i++) {
		if (!lnc_ni_equal(&a->ni[i], &b->ni[i]))
			return false;
	}
	return true;
}

static bool texts_equal(const char *const *a, unsigned na, const char *const *b, unsigned nb)
{
	if (na != nb)
		return false;
	for (unsigned i = 0; i < na; i++) {
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

static bool rule_equal(const struct lnc_rule *a, const struct lnc_rule *b)
{
	return a->net == b->net &&
	       texts_equal((const char *const *)a->ifs, a->nifs, (const char *const *)b->ifs,
	               b->nifs) &&
	       texts_equal((const char *const *)a->ranges, a->nranges,
	               (const char *const *)b->ranges, b->nranges) &&
	       lnc_str_equal(a->cpts, b->cpts) && memcmp(a->tun, b->tun, sizeof(a->tun)) == 0 &&
	       lnc_tuns_equal(a->lnd, a->nlnd, b->lnd, b->nlnd);
}

static bool peer_equal(const struct lnc_peer *a, const struct lnc_peer *b)
{
	if (!lnet_nid_eq(&a->primary, &b->primary) || a->multi_rail != b->multi_rail ||
	        a->lock != b->lock || a->nnids != b->nnids)
		return false;
	for (unsigned i = 0; i < a->nnids; i++) {
		if (!lnet_nid_eq(&a->nids[i], &b->nids[i]))
			return false;
	}
	return true;
}

static bool route_equal(const struct lnc_route *a, const struct lnc_route *b)
{
	return a->net == b->net && lnet_nid_eq(&a->gateway, &b->gateway) && a->hop == b->hop &&
	       a->priority == b->priority;
}

bool lnc_udsp_same(const struct lnc_udsp *a, const struct lnc_udsp *b)
{
	return lnc_str_equal(a->src, b->src) && lnc_str_equal(a->dst, b->dst) &&
	       lnc_str_equal(a->rte, b->rte);
}

static bool lists_equal(const struct lnc_conf *a, const struct lnc_conf *b)
{
	for (unsigned i = 0; i < a->nnet; i++) {
		if (!net_equal(&a->net[i], &b->net[i]))
			return false;
	}
	for (unsigned i = 0; i < a->nrule; i++) {
		if (!rule_equal(&a->rule[i], &b->rule[i]))
			return false;
	}
	for (unsigned i = 0; i < a->npeer; i++) {
		if (!peer_equal(&a->peer[i], &b->peer[i]))
			return false;
	}
	for (unsigned i = 0; i < a->nroute; i++) {
		if (!route_equal(&a->route[i], &b->route[i]))
			return false;
	}
	for (unsigned i = 0; i < a->nudsp; i++) {
		if (a->udsp[i].idx != b->udsp[i].idx ||
		        a->udsp[i].priority != b->udsp[i].priority ||
		        !lnc_udsp_same(&a->udsp[i], &b->udsp[i]))
			return false;
	}
	return true;
}

bool lnc_conf_equal(const struct lnc_conf *a, const struct lnc_conf *b)
{
	return a->nnet == b->nnet && a->nrule == b->nrule && a->npeer == b->npeer &&
	       a->nroute == b->nroute && a->nudsp == b->nudsp && a->routing == b->routing &&
	       memcmp(a->buffers, b->buffers, sizeof(a->buffers)) == 0 &&
	       a->selftest == b->selftest && a->control.mode == b->control.mode &&
	       lnc_str_equal(a->control.socket, b->control.socket) &&
	       lnc_str_equal(a->control.group, b->control.group) && a->log.level == b->log.level &&
	       lnc_str_equal(a->log.to, b->log.to) &&
	       lnc_tuns_equal(a->global, a->nglobal, b->global, b->nglobal) && lists_equal(a, b);
}

bool lnc_conf_is_empty(const struct lnc_conf *c)
{
	struct lnc_conf *empty = lnc_conf_new();
	bool same = empty && lnc_conf_equal(c, empty);

	lnc_conf_free(empty);
	return same;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* n elements; NULL for none. */
static void *copy(struct lnc_arena *mem, const void *from, size_t n, size_t elem)
{
	void *p = n ? lnc_arena_alloc(mem, n * elem) : NULL;

	if (p)
		memcpy(p, from, n * elem);
	return p;
}

void lnc_copy_tun(struct lnc_arena *mem, struct lnc_tun *to, const struct lnc_tun *from)
{
	*to = *from;
	to->name = lnc_arena_strdup(mem, from->name);
	to->text = lnc_arena_strdup(mem, from->text);
}

static struct lnc_tun *copy_tuns(struct lnc_arena *mem, const struct lnc_tun *from, unsigned n)
{
	struct lnc_tun *v = copy(mem, from, n, sizeof(*v));

	for (unsigned i = 0; v && i < n; i++)
		lnc_copy_tun(mem, &v[i], &from[i]);
	return v;
}

void lnc_copy_ni(struct lnc_arena *mem, struct lnc_ni *to, const struct lnc_ni *from)
{
	*to = *from;
	to->ifname = lnc_arena_strdup(mem, from->ifname);
	to->cpts = lnc_arena_strdup(mem, from->cpts);
	to->lnd = copy_tuns(mem, from->lnd, from->nlnd);
}

void lnc_copy_net(struct lnc_arena *mem, struct lnc_net *to, const struct lnc_net *from)
{
	*to = *from;
	to->allow = copy(mem, from->allow, from->nallow, sizeof(*to->allow));
	to->ni = copy(mem, from->ni, from->nni, sizeof(*to->ni));
	for (unsigned i = 0; to->ni && i < from->nni; i++)
		lnc_copy_ni(mem, &to->ni[i], &from->ni[i]);
}

static const char **copy_texts(struct lnc_arena *mem, const char **from, unsigned n)
{
	const char **v = copy(mem, from, n, sizeof(*v));

	for (unsigned i = 0; v && i < n; i++)
		v[i] = lnc_arena_strdup(mem, from[i]);
	return v;
}

void lnc_copy_rule(struct lnc_arena *mem, struct lnc_rule *to, const struct lnc_rule *from)
{
	*to = *from;
	to->ifs = copy_texts(mem, from->ifs, from->nifs);
	to->ranges = copy_texts(mem, from->ranges, from->nranges);
	to->cpts = lnc_arena_strdup(mem, from->cpts);
	to->lnd = copy_tuns(mem, from->lnd, from->nlnd);
}

void lnc_copy_peer(struct lnc_arena *mem, struct lnc_peer *to, const struct lnc_peer *from)
{
	*to = *from;
	to->nids = copy(mem, from->nids, from->nnids, sizeof(*to->nids));
}

void lnc_copy_udsp(struct lnc_arena *mem, struct lnc_udsp *to, const struct lnc_udsp *from)
{
	*to = *from;
	to->src = lnc_arena_strdup(mem, from->src);
	to->dst = lnc_arena_strdup(mem, from->dst);
	to->rte = lnc_arena_strdup(mem, from->rte);
}

static void dup_lists(struct lnc_conf *d, const struct lnc_conf *c)
{
	struct lnc_arena *mem = &d->mem;

	d->net = copy(mem, c->net, c->nnet, sizeof(*d->net));
	for (unsigned i = 0; d->net && i < c->nnet; i++)
		lnc_copy_net(mem, &d->net[i], &c->net[i]);
	d->rule = copy(mem, c->rule, c->nrule, sizeof(*d->rule));
	for (unsigned i = 0; d->rule && i < c->nrule; i++)
		lnc_copy_rule(mem, &d->rule[i], &c->rule[i]);
	d->peer = copy(mem, c->peer, c->npeer, sizeof(*d->peer));
	for (unsigned i = 0; d->peer && i < c->npeer; i++)
		lnc_copy_peer(mem, &d->peer[i], &c->peer[i]);
	d->route = copy(mem, c->route, c->nroute, sizeof(*d->route));
	d->udsp = copy(mem, c->udsp, c->nudsp, sizeof(*d->udsp));
	for (unsigned i = 0; d->udsp && i < c->nudsp; i++)
		lnc_copy_udsp(mem, &d->udsp[i], &c->udsp[i]);
	d->global = copy_tuns(mem, c->global, c->nglobal);
}

struct lnc_conf *lnc_conf_dup(const struct lnc_conf *c)
{
	struct lnc_conf *d = lnc_conf_new();
	struct lnc_arena mem;

	if (!d)
		return NULL;
	mem = d->mem;
	*d = *c;
	d->mem = mem;
	dup_lists(d, c);
	d->control.socket = lnc_arena_strdup(&d->mem, c->control.socket);
	d->control.group = lnc_arena_strdup(&d->mem, c->control.group);
	d->log.to = lnc_arena_strdup(&d->mem, c->log.to);
	if (!d->mem.failed)
		return d;
	lnc_conf_free(d);
	return NULL;
}
