/* SPDX-License-Identifier: BSD-2-Clause */
/* What is configured, less something: import --del. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <string.h>

/* Positions of an older text would mislead in messages about a new one. */
void lnc_forget_pos(struct lnc_conf *c)
{
	static const struct lnc_pos none = {0, 0};

	for (unsigned i = 0; i < c->nnet; i++) {
		c->net[i].pos = none;
		for (unsigned j = 0; j < c->net[i].nni; j++) {
			c->net[i].ni[j].pos = none;
			for (unsigned k = 0; k < c->net[i].ni[j].nlnd; k++)
				c->net[i].ni[j].lnd[k].pos = none;
		}
	}
	for (unsigned i = 0; i < c->nrule; i++)
		c->rule[i].pos = none;
	for (unsigned i = 0; i < c->npeer; i++)
		c->peer[i].pos = none;
	for (unsigned i = 0; i < c->nroute; i++)
		c->route[i].pos = none;
	for (unsigned i = 0; i < c->nudsp; i++)
		c->udsp[i].pos = none;
	for (unsigned i = 0; i < c->nglobal; i++)
		c->global[i].pos = none;
}

/* Take element i out of an array. */
static void take(void *v, unsigned *n, unsigned i, size_t elem)
{
	char *p = v;

	(*n)--;
	memmove(p + i * elem, p + (i + 1) * elem, (*n - i) * elem);
}

/* ---- nets -------------------------------------------------------------------------------------
 */

static void del_nis(struct lnc_mg *m, struct lnc_net *net, const struct lnc_net *ask)
{
	char name[LNC_NI_NAME_MAX];

	for (unsigned i = 0; i < ask->nni; i++) {
		const struct lnc_ni *x = &ask->ni[i];
		unsigned found = 0;

		for (unsigned j = net->nni; j-- > 0;) {
			bool if_ok = !x->ifname || !net->ni[j].ifname ||
			             lnc_str_equal(x->ifname, net->ni[j].ifname);

			if (lnc_ni_same(&net->ni[j], x) && if_ok) {
				take(net->ni, &net->nni, j, sizeof(*net->ni));
				found++;
			}
		}
		if (!found)
			lnc_mg_err(m, &x->pos, -ENOENT, "there is no local NI %s",
			        lnc_ni_name(net, x, name));
	}
}

static void del_nets(struct lnc_mg *m, const struct lnc_conf *ask)
{
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < ask->nnet; i++) {
		struct lnc_net *net = lnc_net_find(m->c, ask->net[i].net);

		if (!net) {
			lnc_mg_err(m, &ask->net[i].pos, -ENOENT, "there is no net %s",
			        lnet_net_str(ask->net[i].net, name, sizeof(name)));
			continue;
		}
		if (ask->net[i].nni)
			del_nis(m, net, &ask->net[i]);
		else
			net->nni = 0;
		if (!net->nni)
			take(m->c->net, &m->c->nnet, (unsigned)(net - m->c->net), sizeof(*net));
	}
}

/* ---- routes -----------------------------------------------------------------------------------
 */

static void del_routes(struct lnc_mg *m, const struct lnc_conf *ask)
{
	char net[LNET_NIDSTR_MAX], gw[LNET_NIDSTR_MAX];
	struct lnc_conf *c = m->c;
	struct lnc_nidmap map = {0};
	unsigned at, kept = 0;

	for (unsigned i = 0; i < c->nroute; i++)
		lnc_nidmap_add(&c->mem, &map, c->route[i].net, &c->route[i].gateway, i, NULL);
	for (unsigned i = 0; i < ask->nroute; i++) {
		const struct lnc_route *x = &ask->route[i];

		if (!lnc_nidmap_get(&map, x->net, &x->gateway, &at))
			lnc_mg_err(m, &x->pos, -ENOENT, "there is no route to %s by %s",
			        lnet_net_str(x->net, net, sizeof(net)),
			        lnet_nid_str(&x->gateway, gw, sizeof(gw)));
		else
			c->route[at].net = LNET_NET_ANY; /* marked */
	}
	for (unsigned i = 0; i < c->nroute; i++) {
		if (c->route[i].net != LNET_NET_ANY)
			c->route[kept++] = c->route[i];
	}
	c->nroute = kept;
}

/* ---- peers ------------------------------------------------------------------------------------
 */

/* The gateway of a route that stays. */
static bool is_gateway(const struct lnc_conf *c, const struct lnet_nid *nid)
{
	for (unsigned i = 0; i < c->nroute; i++) {
		if (lnet_nid_eq(&c->route[i].gateway, nid))
			return true;
	}
	return false;
}

static void refuse_gateway(struct lnc_mg *m, const struct lnc_peer *ask, const struct lnet_nid *nid)
{
	char name[LNET_NIDSTR_MAX];

	if (is_gateway(m->c, nid))
		lnc_mg_err(m, &ask->pos, -EBUSY,
		        "%s is the gateway of a route: delete the route first",
		        lnet_nid_str(nid, name, sizeof(name)));
}

static void del_peer_nids(struct lnc_mg *m, struct lnc_peer *p, const struct lnc_peer *ask)
{
	char name[LNET_NIDSTR_MAX], prim[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < ask->nnids; i++) {
		unsigned j = 0;

		while (j < p->nnids && !lnet_nid_eq(&p->nids[j], &ask->nids[i]))
			j++;
		refuse_gateway(m, ask, &ask->nids[i]);
		if (j < p->nnids)
			take(p->nids, &p->nnids, j, sizeof(*p->nids));
		else
			lnc_mg_err(m, &ask->pos, -ENOENT, "peer %s has no NID %s",
			        lnet_nid_str(&p->primary, prim, sizeof(prim)),
			        lnet_nid_str(&ask->nids[i], name, sizeof(name)));
	}
}

static void del_peers(struct lnc_mg *m, const struct lnc_conf *ask)
{
	static const struct lnet_nid none;
	char name[LNET_NIDSTR_MAX];
	struct lnc_conf *c = m->c;
	struct lnc_nidmap map = {0};
	unsigned at, kept = 0;

	for (unsigned i = 0; i < c->npeer; i++)
		lnc_nidmap_add(&c->mem, &map, 0, &c->peer[i].primary, i, NULL);
	for (unsigned i = 0; i < ask->npeer; i++) {
		const struct lnc_peer *x = &ask->peer[i];

		if (!lnc_nidmap_get(&map, 0, &x->primary, &at)) {
			lnc_mg_err(m, &x->pos, -ENOENT, "there is no peer with the primary nid %s",
			        lnet_nid_str(&x->primary, name, sizeof(name)));
		} else if (x->nnids && !x->primary_listed) {
			del_peer_nids(m, &c->peer[at], x);
		} else {
			refuse_gateway(m, x, &c->peer[at].primary);
			for (unsigned j = 0; j < c->peer[at].nnids; j++)
				refuse_gateway(m, x, &c->peer[at].nids[j]);
			c->peer[at].primary = none; /* marked: no peer has this NID */
		}
	}
	for (unsigned i = 0; i < c->npeer; i++) {
		if (!lnet_nid_eq(&c->peer[i].primary, &none))
			c->peer[kept++] = c->peer[i];
	}
	c->npeer = kept;
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static bool udsp_meant(const struct lnc_udsp *x, const struct lnc_udsp *u, unsigned at)
{
	if (x->src || x->dst || x->rte)
		return lnc_udsp_same(x, u);
	return x->idx == (int32_t)at;
}

/* An idx means the place before anything is taken out. */
static void del_udsps(struct lnc_mg *m, const struct lnc_conf *ask)
{
	struct lnc_conf *c = m->c;
	unsigned kept = 0;
	bool gone[LNC_UDSPS_MAX] = {false};

	for (unsigned i = 0; i < ask->nudsp; i++) {
		unsigned j = 0;

		while (j < c->nudsp && !udsp_meant(&ask->udsp[i], &c->udsp[j], j))
			j++;
		if (j == c->nudsp)
			lnc_mg_err(m, &ask->udsp[i].pos, -ENOENT, "there is no such rule");
		else
			gone[j] = true;
	}
	for (unsigned i = 0; i < c->nudsp; i++) {
		if (!gone[i])
			c->udsp[kept++] = c->udsp[i];
	}
	c->nudsp = kept;
	if (ask->nudsp)
		lnc_udsp_number(c);
}

static void del_globals(struct lnc_conf *c, const struct lnc_conf *ask)
{
	for (unsigned i = 0; i < ask->nglobal; i++) {
		struct lnc_tun *x = lnc_tun_find(c->global, c->nglobal, ask->global[i].name);

		if (x)
			take(c->global, &c->nglobal, (unsigned)(x - c->global), sizeof(*x));
	}
}

static void unset(int32_t *v, int32_t asked)
{
	if (asked != LNET_UNSET)
		*v = LNET_UNSET;
}

static void del_singles(struct lnc_conf *c, const struct lnc_conf *ask)
{
	unset(&c->routing, ask->routing);
	unset(&c->selftest, ask->selftest);
	unset(&c->control.mode, ask->control.mode);
	unset(&c->log.level, ask->log.level);
	for (unsigned i = 0; i < LNC_BUFFERS; i++)
		unset(&c->buffers[i], ask->buffers[i]);
	if (ask->control.socket)
		c->control.socket = NULL;
	if (ask->control.group)
		c->control.group = NULL;
	if (ask->log.to)
		c->log.to = NULL;
}

int lnc_conf_del(const struct lnc_conf *base, const struct lnc_conf *change,
        const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs)
{
	struct lnc_mg m = {lnc_conf_dup(base), s, errs, 0};

	if (!m.c)
		return lnc_errs_add(errs, NULL, -ENOMEM, "out of memory");
	lnc_forget_pos(m.c);
	del_udsps(&m, change);
	del_routes(&m, change);
	del_peers(&m, change);
	del_nets(&m, change);
	del_globals(m.c, change);
	del_singles(m.c, change);
	return lnc_mg_end(&m, out);
}
