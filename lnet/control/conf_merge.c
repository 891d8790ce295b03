/* SPDX-License-Identifier: BSD-2-Clause */
/* What is configured, and something more: import --add. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lnc_mg_err(struct lnc_mg *m, const struct lnc_pos *pos, int code, const char *fmt, ...)
{
	char msg[LNC_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (code && !m->rc)
		m->rc = code;
	return lnc_errs_at(m->errs, pos->line, pos->column, code, "%s", msg);
}

/* ---- nets -------------------------------------------------------------------------------------
 */

/* By NID where both have one, else by interface. */
bool lnc_ni_same(const struct lnc_ni *a, const struct lnc_ni *b)
{
	if (!lnet_nid_is_any(&a->nid) && !lnet_nid_is_any(&b->nid))
		return lnet_nid_eq(&a->nid, &b->nid);
	return a->ifname && lnc_str_equal(a->ifname, b->ifname);
}

const char *lnc_ni_name(
        const struct lnc_net *net, const struct lnc_ni *ni, char buf[LNC_NI_NAME_MAX])
{
	char name[LNET_NIDSTR_MAX];

	if (!lnet_nid_is_any(&ni->nid))
		return lnet_nid_str(&ni->nid, buf, LNC_NI_NAME_MAX);
	snprintf(buf, LNC_NI_NAME_MAX, "%s(%s)", lnet_net_str(net->net, name, sizeof(name)),
	        ni->ifname ? ni->ifname : "?");
	return buf;
}

/* The NI is there already: what is asked for must be what it has, or a tunable that may change. */
static void update_ni(
        struct lnc_mg *m, const struct lnc_net *net, struct lnc_ni *ni, const struct lnc_ni *ask)
{
	const struct lnet_tunable *common = lnc_ni_tunables();
	char name[LNC_NI_NAME_MAX];
	bool changed = false;
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(m->s, net->net, &nt);

	lnc_ni_name(net, ask, name);
	if (ask->ifname && ni->ifname && !lnc_str_equal(ask->ifname, ni->ifname))
		lnc_mg_err(m, &ask->pos, -EEXIST, "%s is configured on interface '%s'", name,
		        ni->ifname);
	if (ask->cpts && !lnc_str_equal(ask->cpts, ni->cpts))
		lnc_mg_err(m, &ask->pos, -EEXIST, "%s is configured with CPT %s", name,
		        ni->cpts ? ni->cpts : "unset");
	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++) {
		if (ask->tun[i] != LNET_UNSET && ask->tun[i] != ni->tun[i])
			lnc_mg_err(m, &ask->pos, -EEXIST,
			        "%s is configured with another %s; delete it first to change that",
			        name, common[i].name);
	}
	for (unsigned i = 0; i < ask->nlnd; i++) {
		const struct lnc_tun *x = &ask->lnd[i];
		const struct lnet_tunable *row = lnc_tunable_find(t, nt, x->name);
		struct lnc_tun *old = lnc_tun_find(ni->lnd, ni->nlnd, x->name), mine;

		if (old && strcmp(old->text, x->text) == 0)
			continue;
		if (!row || !(row->flags & LNET_TUN_RUNTIME)) {
			lnc_mg_err(m, &x->pos, -EEXIST,
			        "%s is configured with %s %s; delete it first to change that", name,
			        x->name, old ? old->text : "unset");
			continue;
		}
		changed = true;
		lnc_copy_tun(&m->c->mem, &mine, x);
		if (old)
			*old = mine;
		else if (!m->c->mem.failed)
			ni->lnd = lnc_tun_merge(
			        &m->c->mem, t, nt, ni->lnd, ni->nlnd, &mine, 1, &ni->nlnd);
	}
	if (!m->rc && !changed)
		lnc_mg_err(m, &ask->pos, 0, "%s is configured already", name);
}

static void update_accept(struct lnc_mg *m, struct lnc_net *net, const struct lnc_net *ask)
{
	if (ask->accept != LNET_ACCEPT_DEFAULT)
		net->accept = ask->accept;
	if (!ask->allow_set)
		return;
	net->allow_set = true;
	net->nallow = ask->nallow;
	net->allow =
	        ask->nallow ? lnc_arena_alloc(&m->c->mem, ask->nallow * sizeof(*net->allow)) : NULL;
	if (net->allow)
		memcpy(net->allow, ask->allow, ask->nallow * sizeof(*net->allow));
}

static void add_nis(struct lnc_mg *m, struct lnc_net *net, const struct lnc_net *ask)
{
	unsigned before = net->nni, cap = before;

	for (unsigned i = 0; i < ask->nni && !m->c->mem.failed; i++) {
		struct lnc_ni *ni = NULL;

		for (unsigned j = 0; j < before && !ni; j++) {
			if (lnc_ni_same(&net->ni[j], &ask->ni[i]))
				ni = &net->ni[j];
		}
		if (ni) {
			update_ni(m, net, ni, &ask->ni[i]);
			continue;
		}
		ni = LNC_PUSH(&m->c->mem, net->ni, net->nni, cap);
		if (ni)
			lnc_copy_ni(&m->c->mem, ni, &ask->ni[i]);
	}
}

static void add_nets(struct lnc_mg *m, const struct lnc_conf *ask)
{
	unsigned cap = m->c->nnet;

	for (unsigned i = 0; i < ask->nnet && !m->c->mem.failed; i++) {
		struct lnc_net *net = lnc_net_find(m->c, ask->net[i].net);

		if (!net) {
			net = LNC_PUSH(&m->c->mem, m->c->net, m->c->nnet, cap);
			if (net)
				lnc_copy_net(&m->c->mem, net, &ask->net[i]);
			continue;
		}
		add_nis(m, net, &ask->net[i]);
		update_accept(m, net, &ask->net[i]);
		lnc_net_level(&m->c->mem, m->s, net);
	}
}

/* ---- peers ------------------------------------------------------------------------------------
 */

static void update_peer(struct lnc_mg *m, struct lnc_peer *p, const struct lnc_peer *ask)
{
	unsigned cap = p->nnids;

	if (ask->mr_set)
		p->multi_rail = ask->multi_rail;
	p->lock |= ask->lock;
	for (unsigned i = 0; i < ask->nnids; i++) {
		bool known = false;

		for (unsigned j = 0; j < p->nnids && !known; j++)
			known = lnet_nid_eq(&p->nids[j], &ask->nids[i]);
		if (!known) {
			struct lnet_nid *nid = LNC_PUSH(&m->c->mem, p->nids, p->nnids, cap);

			if (!nid)
				return;
			*nid = ask->nids[i];
		}
	}
}

static void add_peers(struct lnc_mg *m, const struct lnc_conf *ask)
{
	struct lnc_nidmap map = {0};
	unsigned cap = m->c->npeer, at;

	for (unsigned i = 0; i < m->c->npeer; i++)
		lnc_nidmap_add(&m->c->mem, &map, 0, &m->c->peer[i].primary, i, NULL);
	for (unsigned i = 0; i < ask->npeer && !m->c->mem.failed; i++) {
		struct lnc_peer *p;

		if (lnc_nidmap_get(&map, 0, &ask->peer[i].primary, &at)) {
			m->c->peer[at].pos = ask->peer[i].pos;
			update_peer(m, &m->c->peer[at], &ask->peer[i]);
			continue;
		}
		p = LNC_PUSH(&m->c->mem, m->c->peer, m->c->npeer, cap);
		if (p)
			lnc_copy_peer(&m->c->mem, p, &ask->peer[i]);
	}
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static int32_t or_zero(int32_t v)
{
	return v == LNET_UNSET ? 0 : v;
}

static void add_route(
        struct lnc_mg *m, const struct lnc_nidmap *map, const struct lnc_route *x, unsigned *cap)
{
	char net[LNET_NIDSTR_MAX], gw[LNET_NIDSTR_MAX];
	struct lnc_route *old;
	unsigned at;

	if (!lnc_nidmap_get(map, x->net, &x->gateway, &at)) {
		struct lnc_route *to = LNC_PUSH(&m->c->mem, m->c->route, m->c->nroute, *cap);

		if (to)
			*to = *x;
		return;
	}
	old = &m->c->route[at];
	lnet_net_str(x->net, net, sizeof(net));
	lnet_nid_str(&x->gateway, gw, sizeof(gw));
	if ((x->hop == LNET_UNSET || x->hop == old->hop) &&
	        (x->priority == LNET_UNSET || x->priority == or_zero(old->priority)))
		lnc_mg_err(m, &x->pos, 0, "the route to %s by %s is configured already", net, gw);
	else
		lnc_mg_err(m, &x->pos, -EEXIST,
		        "the route to %s by %s is there with another hop or priority", net, gw);
}

static void add_routes(struct lnc_mg *m, const struct lnc_conf *ask)
{
	struct lnc_nidmap map = {0};
	unsigned cap = m->c->nroute;

	for (unsigned i = 0; i < m->c->nroute; i++)
		lnc_nidmap_add(
		        &m->c->mem, &map, m->c->route[i].net, &m->c->route[i].gateway, i, NULL);
	for (unsigned i = 0; i < ask->nroute && !m->c->mem.failed; i++)
		add_route(m, &map, &ask->route[i], &cap);
	if (m->c->nroute > LNC_ROUTES_MAX)
		lnc_mg_err(m, &(struct lnc_pos){0}, -E2BIG, "%u routes, at most %u are allowed",
		        m->c->nroute, LNC_ROUTES_MAX);
}

/* A rule with idx goes to that place, another to the end; the places are then counted afresh. */
static void add_udsps(struct lnc_mg *m, const struct lnc_conf *ask)
{
	unsigned cap = m->c->nudsp;

	for (unsigned i = 0; i < ask->nudsp && !m->c->mem.failed; i++) {
		const struct lnc_udsp *x = &ask->udsp[i];
		struct lnc_udsp *u = NULL;
		unsigned at, n = m->c->nudsp;

		for (unsigned j = 0; j < n && !u; j++) {
			if (lnc_udsp_same(&m->c->udsp[j], x))
				u = &m->c->udsp[j];
		}
		if (u) {
			if (x->priority != LNET_UNSET)
				u->priority = x->priority;
			continue;
		}
		if (!LNC_PUSH(&m->c->mem, m->c->udsp, m->c->nudsp, cap))
			return;
		at = x->idx != LNET_UNSET && (unsigned)x->idx < n ? (unsigned)x->idx : n;
		memmove(&m->c->udsp[at + 1], &m->c->udsp[at], (n - at) * sizeof(*u));
		lnc_copy_udsp(&m->c->mem, &m->c->udsp[at], x);
	}
	if (m->c->nudsp > LNC_UDSPS_MAX)
		lnc_mg_err(m, &(struct lnc_pos){0}, -E2BIG, "%u rules, at most %u are allowed",
		        m->c->nudsp, LNC_UDSPS_MAX);
	if (ask->nudsp)
		lnc_udsp_number(m->c);
}

void lnc_udsp_number(struct lnc_conf *c)
{
	for (unsigned i = 0; i < c->nudsp; i++)
		c->udsp[i].idx = (int32_t)i;
}

static void add_rules(struct lnc_mg *m, const struct lnc_conf *ask)
{
	unsigned cap = m->c->nrule;

	for (unsigned i = 0; i < ask->nrule; i++) {
		struct lnc_rule *x = LNC_PUSH(&m->c->mem, m->c->rule, m->c->nrule, cap);

		if (x)
			lnc_copy_rule(&m->c->mem, x, &ask->rule[i]);
	}
	if (m->c->nrule > LNC_RULES_MAX)
		lnc_mg_err(m, &(struct lnc_pos){0}, -E2BIG,
		        "%u ip2nets rules, at most %u are allowed", m->c->nrule, LNC_RULES_MAX);
}

static void add_globals(struct lnc_mg *m, const struct lnc_conf *ask)
{
	struct lnc_conf *c = m->c;

	for (unsigned i = 0; i < ask->nglobal; i++) {
		struct lnc_tun *old = lnc_tun_find(c->global, c->nglobal, ask->global[i].name),
		               x = {0};

		if (old) {
			lnc_copy_tun(&c->mem, old, &ask->global[i]);
			continue;
		}
		lnc_copy_tun(&c->mem, &x, &ask->global[i]);
		if (!c->mem.failed)
			c->global = lnc_tun_merge(&c->mem, m->s->globals, m->s->nglobals, c->global,
			        c->nglobal, &x, 1, &c->nglobal);
	}
}

static void set(int32_t *to, int32_t v)
{
	if (v != LNET_UNSET)
		*to = v;
}

static void add_singles(struct lnc_conf *c, const struct lnc_conf *ask)
{
	set(&c->routing, ask->routing);
	for (unsigned i = 0; i < LNC_BUFFERS; i++)
		set(&c->buffers[i], ask->buffers[i]);
	set(&c->selftest, ask->selftest);
	set(&c->control.mode, ask->control.mode);
	set(&c->log.level, ask->log.level);
	if (ask->control.socket)
		c->control.socket = lnc_arena_strdup(&c->mem, ask->control.socket);
	if (ask->control.group)
		c->control.group = lnc_arena_strdup(&c->mem, ask->control.group);
	if (ask->log.to)
		c->log.to = lnc_arena_strdup(&c->mem, ask->log.to);
}

/* Check and hand over, or drop. */
int lnc_mg_end(struct lnc_mg *m, struct lnc_conf **out)
{
	if (!m->rc && !m->c->mem.failed)
		m->rc = lnc_conf_check(m->c, m->s, m->errs);
	if (m->c->mem.failed)
		m->rc = lnc_errs_add(m->errs, NULL, -ENOMEM, "out of memory");
	if (m->rc)
		lnc_conf_free(m->c);
	else
		*out = m->c;
	return m->rc;
}

int lnc_conf_add(const struct lnc_conf *base, const struct lnc_conf *change,
        const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs)
{
	struct lnc_mg m = {lnc_conf_dup(base), s, errs, 0};

	if (!m.c)
		return lnc_errs_add(errs, NULL, -ENOMEM, "out of memory");
	lnc_forget_pos(m.c);
	add_nets(&m, change);
	add_rules(&m, change);
	add_peers(&m, change);
	add_routes(&m, change);
	add_udsps(&m, change);
	add_globals(&m, change);
	add_singles(m.c, change);
	return lnc_mg_end(&m, out);
}
