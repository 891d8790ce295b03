/* SPDX-License-Identifier: BSD-2-Clause */
/* From a text, or a change, to steps that are carried out. */
#include "lnet/control/control_priv.h"
#include "lnet/control/origin.h"
#include "lnet/control/resolve.h"
#include "lnet/control/runtime.h"
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what must hold before the first step -------------------------------------------------- */

/* Steps of parts that this node does not have. */
static int supported(const struct lnc_step *st, struct lnc_errs *errs)
{
	struct lnc_pos pos = {0};
	const char *what;

	switch (st->kind) {
	case LNC_STEP_ROUTE_ADD:
		what = "routes";
		pos = st->to.route->pos;
		break;
	case LNC_STEP_UDSP_ADD:
		what = "selection policies (udsp)";
		pos = st->to.udsp->pos;
		break;
	case LNC_STEP_ROUTING:
		if (!st->to.value)
			return 0;
		what = "routing";
		break;
	default:
		return 0;
	}
	return lnc_errs_at(
	        errs, pos.line, pos.column, -EOPNOTSUPP, "%s: not supported by this version", what);
}

static int ni_possible(struct lnet_control *c, const struct lnc_step *st,
        const struct lnc_iface *ifs, unsigned nifs, struct lnc_errs *errs)
{
	const struct lnc_ni *ni = st->to.ni;
	struct lnc_err err;
	char owner[16], text[LNET_NIDSTR_MAX];
	int rc;

	if (!lnet_lnd_find(c->n, (uint8_t)LNET_NET_TYPE(st->to.net->net)))
		return lnc_errs_at(errs, ni->pos.line, ni->pos.column, -ENOENT,
		        "network '%s': there is no driver for it",
		        lnet_net_str(st->to.net->net, text, sizeof(text)));
	if (lnet_nid_is_any(&ni->nid)) {
		if (!ni->ifname)
			return 0;
		for (unsigned i = 0; i < nifs; i++)
			if (!strcmp(ifs[i].name, ni->ifname))
				return 0;
		return lnc_errs_at(errs, ni->pos.line, ni->pos.column, -ENODEV,
		        "no interface is called '%s'", ni->ifname);
	}
	rc = lnc_iface_owns(ifs, nifs, ni->ifname, &ni->nid, owner, &err);
	return rc ? lnc_errs_at(errs, ni->pos.line, ni->pos.column, rc, "%s", err.msg) : 0;
}

static int validate(struct lnet_control *c, const struct lnc_steps *st, struct lnc_errs *errs)
{
	struct lnc_iface *ifs = NULL;
	unsigned nifs = 0;
	int rc = lnc_ifaces_read(&ifs, &nifs), first = 0;

	if (rc)
		return lnc_errs_add(errs, NULL, rc,
		        "the interfaces of this host cannot be read: %s", strerror(-rc));
	for (unsigned i = 0; i < st->n; i++) {
		rc = supported(&st->v[i], errs);
		if (!rc && st->v[i].kind == LNC_STEP_NI_ADD)
			rc = ni_possible(c, &st->v[i], ifs, nifs, errs);
		if (rc && !first)
			first = rc;
	}
	free(ifs);
	return first;
}

/* ---- changes ------------------------------------------------------------------------------- */

static struct lnc_peer *find_peer(const struct lnc_conf *c, const struct lnet_nid *primary)
{
	for (unsigned i = 0; i < c->npeer; i++)
		if (lnet_nid_eq(&c->peer[i].primary, primary))
			return &c->peer[i];
	return NULL;
}

static bool lists(const struct lnc_peer *p, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < p->nnids; i++)
		if (lnet_nid_eq(&p->nids[i], nid))
			return true;
	return lnet_nid_eq(&p->primary, nid);
}

/* What a peer has told of itself is not for a file to take away: a discovered peer (collect.c marks
 * it) is compared by what both have. */
static void forgive_discovered(struct lnc_conf *base, const struct lnc_conf *want)
{
	for (unsigned i = 0; i < base->npeer; i++) {
		struct lnc_peer *b = &base->peer[i];
		const struct lnc_peer *w = b->pos.column ? find_peer(want, &b->primary) : NULL;
		unsigned n = 0;
		if (!w)
			continue;
		for (unsigned k = 0; k < b->nnids; k++)
			if (lists(w, &b->nids[k]))
				b->nids[n++] = b->nids[k];
		b->nnids = n;
		b->multi_rail = w->multi_rail;
	}
}

static int target(const struct lnc_conf *base, const struct lnc_conf *change, unsigned flags,
        const struct lnc_schema *s, struct lnc_conf **to, struct lnc_errs *errs)
{
	struct lnc_conf *none;
	int rc;

	if (flags & LNET_CONFIG_DELETE)
		return lnc_conf_del(base, change, s, to, errs);
	if (!(flags & LNET_CONFIG_REPLACE))
		return lnc_conf_add(base, change, s, to, errs);
	none = lnc_conf_new();
	if (!none)
		return -ENOMEM;
	rc = lnc_conf_add(none, change, s, to, errs);
	lnc_conf_free(none);
	return rc;
}

/* An NI of the change that the base has already. */
static bool is_there(const struct lnc_conf *base, lnet_net_t net, const struct lnc_ni *ni)
{
	for (unsigned n = 0; n < base->nnet; n++)
		for (unsigned i = 0; base->net[n].net == net && i < base->net[n].nni; i++) {
			const struct lnc_ni *b = &base->net[n].ni[i];
			if (lnet_nid_is_any(&ni->nid)
			                ? ni->ifname && b->ifname && !strcmp(ni->ifname, b->ifname)
			                : lnet_nid_eq(&ni->nid, &b->nid))
				return true;
		}
	return false;
}

static int all_new(
        const struct lnc_conf *base, const struct lnc_conf *change, struct lnc_errs *errs)
{
	char text[LNET_NIDSTR_MAX];
	int rc = 0;

	for (unsigned n = 0; n < change->nnet; n++)
		for (unsigned i = 0; i < change->net[n].nni; i++) {
			const struct lnc_ni *ni = &change->net[n].ni[i];
			if (!is_there(base, change->net[n].net, ni))
				continue;
			if (lnet_nid_is_any(&ni->nid))
				rc = lnc_errs_add(errs, NULL, -EEXIST,
				        "interface %s is on network %s already", ni->ifname,
				        lnet_net_str(change->net[n].net, text, sizeof(text)));
			else
				rc = lnc_errs_add(errs, NULL, -EEXIST, "%s is configured already",
				        lnet_nid_str(&ni->nid, text, sizeof(text)));
		}
	return rc;
}

static int carry_out(struct lnet_control *c, const struct lnc_conf *from, const struct lnc_conf *to,
        const struct lnc_steps *st, unsigned flags, const char *who, struct lnc_errs *errs)
{
	struct lnc_plan p = {.c = c,
	        .from = from,
	        .to = to,
	        .st = st,
	        .errs = errs,
	        .force = flags & (LNC_CHANGE_FORCE | LNET_CONFIG_REPLACE)};
	int rc;

	p.added = calloc(st->n + 1, sizeof(*p.added));
	if (!p.added)
		return lnc_errs_add(errs, NULL, -ENOMEM, "no memory");
	rc = lnc_plan_apply(&p);
	if (!rc)
		lnc_origin_note(c, st, p.added, who);
	free(p.added);
	return rc;
}

int lnc_change(struct lnet_control *c, const struct lnc_conf *change, unsigned flags,
        const char *who, struct lnc_errs *errs, lnc_step_fn step, void *arg)
{
	struct lnc_conf *base, *to = NULL;
	struct lnc_steps st = {0};
	struct lnc_here h;
	char line[256];
	int rc = lnc_collect(c, 0, &base);

	if (rc)
		return lnc_errs_add(errs, NULL, rc, "%s", strerror(-rc));
	lnc_schema_of(c, NULL, &h);
	if (flags & LNC_CHANGE_NEW)
		rc = all_new(base, change, errs);
	if (!rc)
		rc = target(base, change, flags, &h.s, &to, errs);
	if (!rc) {
		forgive_discovered(base, to);
		rc = lnc_conf_diff(base, to, &h.s, &st);
	}
	if (!rc)
		rc = validate(c, &st, errs);
	for (unsigned i = 0; !rc && step && i < st.n; i++)
		step(arg, lnc_step_str(&st.v[i], line, sizeof(line)));
	if (!rc && !(flags & LNET_CONFIG_CHECK))
		rc = carry_out(c, base, to, &st, flags, who, errs);
	lnc_steps_free(&st);
	lnc_conf_free(to);
	lnc_conf_free(base);
	return rc;
}

/* ---- texts --------------------------------------------------------------------------------- */

/* The nets of ip2nets rules are added to what the text names itself. */
static int with_rules(struct lnc_conf **change, const struct lnc_schema *s, struct lnc_errs *errs)
{
	struct lnc_conf *rules = NULL, *both = NULL;
	struct lnc_iface *ifs = NULL;
	unsigned nifs = 0;
	int rc;

	if (!(*change)->nrule)
		return 0;
	rc = lnc_ifaces_read(&ifs, &nifs);
	if (rc)
		return lnc_errs_add(errs, NULL, rc, "the interfaces of this host cannot be read");
	rc = lnc_ip2nets_apply((*change)->rule, (*change)->nrule, ifs, nifs, s, &rules, errs);
	free(ifs);
	(*change)->nrule = 0;
	if (!rc)
		rc = lnc_conf_add(*change, rules, s, &both, errs);
	lnc_conf_free(rules);
	if (rc)
		return rc;
	lnc_conf_free(*change);
	*change = both;
	return 0;
}

/* Blocks of the interfaces that our NIs are on: a host name's address is taken from them first. */
struct prefer {
	const struct lnc_iface *ifs;
	unsigned nifs, n;
	struct lnet_cidr v[64];
};

static int one_block(void *arg, const struct lnet_ni_info *i)
{
	struct prefer *p = arg;

	for (unsigned k = 0; k < p->nifs && p->n < 64; k++) {
		const struct lnc_iface *f = &p->ifs[k];
		if (!f->len || strcmp(f->name, i->ifname))
			continue;
		struct lnet_cidr *c = &p->v[p->n++];
		memset(c, 0, sizeof(*c));
		memcpy(c->addr, f->addr, f->len);
		c->len = f->len;
		c->prefix = f->prefix;
		for (unsigned bit = f->prefix; bit < f->len * 8u; bit++)
			c->addr[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	}
	return 0;
}

int lnc_configure(struct lnet_control *c, const char *text, size_t len, unsigned flags,
        const char *who, struct lnc_errs *errs, lnc_step_fn step, void *arg)
{
	struct lnc_iface *ifs = NULL;
	struct prefer pref = {0};
	struct lnc_resolver r;
	struct lnc_conf *change;
	struct lnc_here h;
	int rc;

	lnc_resolver_init(&r);
	if (!lnc_ifaces_read(&ifs, &pref.nifs)) {
		pref.ifs = ifs;
		lnet_ni_each(c->n, one_block, &pref);
		free(ifs);
	}
	r.prefer = pref.v;
	r.nprefer = pref.n;
	lnc_schema_of(c, &r, &h);
	rc = lnc_conf_read(
	        text, len, &h.s, flags & LNET_CONFIG_DELETE ? LNC_PARSE_DEL : 0, &change, errs);
	if (rc)
		return rc;
	if (flags & LNET_CONFIG_DELETE)
		change->nrule = 0;
	rc = with_rules(&change, &h.s, errs);
	if (!rc) {
		lnc_lock(c);
		rc = lnc_change(c, change, flags, who, errs, step, arg);
		lnc_unlock(c);
	}
	lnc_conf_free(change);
	return rc;
}

/* ---- accept -------------------------------------------------------------------------------- */

int lnc_set_accept(struct lnet_control *c, lnet_net_t net, const enum lnet_accept *accept,
        const struct lnet_cidr *allow, unsigned nallow)
{
	struct lnc_conf *base;
	int rc;

	lnc_lock(c);
	rc = lnc_collect(c, 0, &base);
	if (!rc) {
		const struct lnc_net *n = NULL;
		for (unsigned i = 0; i < base->nnet && !n; i++)
			if (base->net[i].net == net)
				n = &base->net[i];
		rc = n ? lnet_net_set_accept(c->n, net, accept ? *accept : n->accept,
		                 allow ? allow : n->allow, allow ? nallow : n->nallow)
		       : -ENOENT;
		lnc_conf_free(base);
	}
	lnc_unlock(c);
	return rc;
}
