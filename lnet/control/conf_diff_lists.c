/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of peers, routes and rules; undoing and naming steps. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static struct lnc_step *push(struct lnc_diff_lists *d, enum lnc_step_kind kind)
{
	struct lnc_step *st = LNC_PUSH(&d->out->mem, d->out->v, d->out->n, *d->cap);

	if (st)
		st->kind = kind;
	return st;
}

/* ---- peers: what x has and y has not is deleted (from x) or added (to x) ------------------------
 */

static void peer_step(struct lnc_diff_lists *d, bool add, bool whole, const struct lnc_peer *p,
        const struct lnet_nid *nid)
{
	struct lnc_step *st = push(d, add ? (whole ? LNC_STEP_PEER_ADD : LNC_STEP_PEER_NID_ADD)
	                                  : (whole ? LNC_STEP_PEER_DEL : LNC_STEP_PEER_NID_DEL));
	struct lnc_step_side side = {.peer = p};

	if (!st)
		return;
	st->nid = *nid;
	if (add)
		st->to = side;
	else
		st->from = side;
}

static bool has_nid(const struct lnc_peer *p, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < p->nnids; i++) {
		if (lnet_nid_eq(&p->nids[i], nid))
			return true;
	}
	return false;
}

static void peers(struct lnc_diff_lists *d, bool add)
{
	const struct lnc_conf *x = add ? d->to : d->from, *y = add ? d->from : d->to;
	struct lnc_nidmap map = {0};
	unsigned at;

	for (unsigned i = 0; i < y->npeer; i++)
		lnc_nidmap_add(d->mem, &map, 0, &y->peer[i].primary, i, NULL);
	for (unsigned i = 0; i < x->npeer; i++) {
		const struct lnc_peer *p = &x->peer[i], *q = NULL;

		if (lnc_nidmap_get(&map, 0, &p->primary, &at))
			q = &y->peer[at];
		if (!q || p->multi_rail != q->multi_rail || p->lock != q->lock) {
			peer_step(d, add, true, p, &p->primary);
			continue;
		}
		for (unsigned j = 0; j < p->nnids; j++) {
			if (!has_nid(q, &p->nids[j]))
				peer_step(d, add, false, p, &p->nids[j]);
		}
	}
}

/* ---- routes, rules ------------------------------------------------------------------------------
 */

static void routes(struct lnc_diff_lists *d, bool add)
{
	const struct lnc_conf *x = add ? d->to : d->from, *y = add ? d->from : d->to;
	struct lnc_nidmap map = {0};
	unsigned at;

	for (unsigned i = 0; i < y->nroute; i++)
		lnc_nidmap_add(d->mem, &map, y->route[i].net, &y->route[i].gateway, i, NULL);
	for (unsigned i = 0; i < x->nroute; i++) {
		const struct lnc_route *r = &x->route[i], *o = NULL;
		struct lnc_step *st;

		if (lnc_nidmap_get(&map, r->net, &r->gateway, &at))
			o = &y->route[at];
		if (o && o->hop == r->hop && o->priority == r->priority)
			continue;
		st = push(d, add ? LNC_STEP_ROUTE_ADD : LNC_STEP_ROUTE_DEL);
		if (!st)
			return;
		st->nid = r->gateway;
		if (add)
			st->to.route = r;
		else
			st->from.route = r;
	}
}

/* Rules that both lists begin with. */
static unsigned common_rules(const struct lnc_conf *a, const struct lnc_conf *b)
{
	unsigned n = 0;

	while (n < a->nudsp && n < b->nudsp && lnc_udsp_same(&a->udsp[n], &b->udsp[n]) &&
	        a->udsp[n].priority == b->udsp[n].priority)
		n++;
	return n;
}

static void udsp_del(struct lnc_diff_lists *d)
{
	unsigned keep = common_rules(d->from, d->to);

	for (unsigned i = d->from->nudsp; i-- > keep;) {
		struct lnc_step *st = push(d, LNC_STEP_UDSP_DEL);

		if (!st)
			return;
		st->n = i;
		st->from.udsp = &d->from->udsp[i];
	}
}

void lnc_diff_udsp_add(struct lnc_diff_lists *d)
{
	for (unsigned i = common_rules(d->from, d->to); i < d->to->nudsp; i++) {
		struct lnc_step *st = push(d, LNC_STEP_UDSP_ADD);

		if (!st)
			return;
		st->n = i;
		st->to.udsp = &d->to->udsp[i];
	}
}

void lnc_diff_lists(struct lnc_diff_lists *d, bool add)
{
	if (!add) {
		udsp_del(d);
		routes(d, false);
		peers(d, false);
	} else {
		peers(d, true);
		routes(d, true);
	}
}

/* ---- one step -----------------------------------------------------------------------------------
 */

struct lnc_step lnc_step_undo(const struct lnc_step *st)
{
	static const enum lnc_step_kind undo[] = {
	        [LNC_STEP_UDSP_DEL] = LNC_STEP_UDSP_ADD,
	        [LNC_STEP_ROUTE_DEL] = LNC_STEP_ROUTE_ADD,
	        [LNC_STEP_PEER_DEL] = LNC_STEP_PEER_ADD,
	        [LNC_STEP_PEER_NID_DEL] = LNC_STEP_PEER_NID_ADD,
	        [LNC_STEP_NI_DEL] = LNC_STEP_NI_ADD,
	        [LNC_STEP_GLOBAL] = LNC_STEP_GLOBAL,
	        [LNC_STEP_ACCEPT] = LNC_STEP_ACCEPT,
	        [LNC_STEP_NI_ADD] = LNC_STEP_NI_DEL,
	        [LNC_STEP_NI_TUN] = LNC_STEP_NI_TUN,
	        [LNC_STEP_PEER_ADD] = LNC_STEP_PEER_DEL,
	        [LNC_STEP_PEER_NID_ADD] = LNC_STEP_PEER_NID_DEL,
	        [LNC_STEP_ROUTE_ADD] = LNC_STEP_ROUTE_DEL,
	        [LNC_STEP_BUFFERS] = LNC_STEP_BUFFERS,
	        [LNC_STEP_ROUTING] = LNC_STEP_ROUTING,
	        [LNC_STEP_UDSP_ADD] = LNC_STEP_UDSP_DEL,
	        [LNC_STEP_SELFTEST] = LNC_STEP_SELFTEST,
	        [LNC_STEP_CONTROL] = LNC_STEP_CONTROL,
	        [LNC_STEP_LOG] = LNC_STEP_LOG,
	};
	struct lnc_step u = *st;

	u.kind = undo[st->kind];
	u.from = st->to;
	u.to = st->from;
	return u;
}

static void value_str(const char *name, const struct lnc_step_side *to, char *buf, size_t size)
{
	if (to->set)
		snprintf(buf, size, "set %s %" PRId64, name, to->value);
	else
		snprintf(buf, size, "unset %s", name);
}

static void route_str(const char *verb, const struct lnc_route *r, char *buf, size_t size)
{
	char net[LNET_NIDSTR_MAX], gw[LNET_NIDSTR_MAX];

	snprintf(buf, size, "%s route to %s by %s", verb, lnet_net_str(r->net, net, sizeof(net)),
	        lnet_nid_str(&r->gateway, gw, sizeof(gw)));
}

static void ni_str(const char *verb, const struct lnc_step_side *s, char *buf, size_t size)
{
	char name[LNC_NI_NAME_MAX];

	snprintf(buf, size, "%s %s", verb, lnc_ni_name(s->net, s->ni, name));
}

static void peer_str(const char *verb, const struct lnc_step *st, const struct lnc_peer *p,
        bool whole, char *buf, size_t size)
{
	char prim[LNET_NIDSTR_MAX], nid[LNET_NIDSTR_MAX];

	lnet_nid_str(&p->primary, prim, sizeof(prim));
	if (whole)
		snprintf(buf, size, "%s peer %s", verb, prim);
	else
		snprintf(buf, size, "%s NID %s of peer %s", verb,
		        lnet_nid_str(&st->nid, nid, sizeof(nid)), prim);
}

char *lnc_step_str(const struct lnc_step *st, char *buf, size_t size)
{
	char name[LNC_NI_NAME_MAX], value[128];

	switch (st->kind) {
	case LNC_STEP_UDSP_DEL:
	case LNC_STEP_UDSP_ADD:
		snprintf(buf, size, "%s rule %u", st->kind == LNC_STEP_UDSP_ADD ? "add" : "delete",
		        st->n);
		break;
	case LNC_STEP_ROUTE_DEL:
		route_str("delete", st->from.route, buf, size);
		break;
	case LNC_STEP_ROUTE_ADD:
		route_str("add", st->to.route, buf, size);
		break;
	case LNC_STEP_PEER_DEL:
	case LNC_STEP_PEER_NID_DEL:
		peer_str("delete", st, st->from.peer, st->kind == LNC_STEP_PEER_DEL, buf, size);
		break;
	case LNC_STEP_PEER_ADD:
	case LNC_STEP_PEER_NID_ADD:
		peer_str("add", st, st->to.peer, st->kind == LNC_STEP_PEER_ADD, buf, size);
		break;
	case LNC_STEP_NI_DEL:
		ni_str("delete", &st->from, buf, size);
		break;
	case LNC_STEP_NI_ADD:
		ni_str("add", &st->to, buf, size);
		break;
	case LNC_STEP_NI_TUN:
		value_str(st->name, &st->to, value, sizeof(value));
		snprintf(buf, size, "%s of %s", value, lnc_ni_name(st->to.net, st->to.ni, name));
		break;
	case LNC_STEP_ACCEPT:
		snprintf(buf, size, "change who may connect on net %s",
		        lnet_net_str(st->to.net->net, name, sizeof(name)));
		break;
	case LNC_STEP_GLOBAL:
		value_str(st->name, &st->to, buf, size);
		break;
	case LNC_STEP_BUFFERS:
		snprintf(name, sizeof(name), "%s_buffers", st->name);
		value_str(name, &st->to, buf, size);
		break;
	case LNC_STEP_ROUTING:
		value_str("routing", &st->to, buf, size);
		break;
	case LNC_STEP_SELFTEST:
		value_str("selftest", &st->to, buf, size);
		break;
	case LNC_STEP_CONTROL:
		snprintf(buf, size, "change the control socket");
		break;
	case LNC_STEP_LOG:
		snprintf(buf, size, "change the log");
		break;
	}
	return buf;
}

int lnc_ni_to_api(const struct lnc_net *net, const struct lnc_ni *ni, struct lnet_ni_conf *out,
        struct lnet_tun_val *tun, struct lnc_err *err)
{
	char name[LNC_NI_NAME_MAX];

	for (unsigned i = 0; i < ni->nlnd; i++) {
		if (!ni->lnd[i].known)
			return lnc_err_set(err, -EOPNOTSUPP,
			        "%s: there is no driver here that knows '%s'",
			        lnc_ni_name(net, ni, name), ni->lnd[i].name);
		tun[i] = (struct lnet_tun_val){ni->lnd[i].name, ni->lnd[i].value};
	}
	*out = (struct lnet_ni_conf){
	        .size = sizeof(*out),
	        .net = net->net,
	        .nid = ni->nid,
	        .ifname = ni->ifname,
	        .cpts = ni->cpts,
	        .peer_timeout = ni->tun[LNC_PEER_TIMEOUT],
	        .peer_credits = ni->tun[LNC_PEER_CREDITS],
	        .peer_buffer_credits = ni->tun[LNC_PEER_BUFFER_CREDITS],
	        .credits = ni->tun[LNC_CREDITS],
	        .tun = tun,
	        .ntun = ni->nlnd,
	        .accept = net->accept,
	        .allow = net->allow,
	        .nallow = net->nallow,
	};
	return 0;
}
