/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading `peer`, `route` and `udsp`. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- peer ------------------------------------------------------------------------------------ */

struct peer_item {
	const struct lnc_node *primary_at;
	struct lnet_nid primary;
	struct lnet_nid nid[LNET_PEER_NIDS_MAX];
	unsigned n;
	bool multi_rail, mr_set, full;
	int32_t lock;
};

static void k_primary(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct peer_item *it = obj;

	if (!lnc_rd_nid(r, v, &it->primary))
		it->primary_at = v;
}

/* True and false alone, as lnetctl has it. */
static void k_multi_rail(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct peer_item *it = obj;

	it->mr_set = true;
	it->multi_rail = strcasecmp(v->text, "true") == 0;
	if (!it->multi_rail && strcasecmp(v->text, "false") != 0)
		lnc_rd_err(r, v, -EINVAL,
		        "invalid value '%.40s' for key 'Multi-Rail': expected True or False",
		        v->text);
}

static void k_lock(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_bool(r, v, &((struct peer_item *)obj)->lock);
}

static void k_peer_nid(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct peer_item *it = obj;
	struct lnet_nid *nids;
	unsigned n;

	if (it->full || lnc_rd_nids(r, v, LNET_PEER_NIDS_MAX, &nids, &n))
		return;
	for (unsigned i = 0; i < n; i++) {
		bool known = false;

		for (unsigned k = 0; k < it->n && !known; k++)
			known = lnet_nid_eq(&it->nid[k], &nids[i]);
		if (!known && it->n == LNET_PEER_NIDS_MAX) {
			it->full = true;
			lnc_rd_err(
			        r, v, -E2BIG, "more than %u NIDs for one peer", LNET_PEER_NIDS_MAX);
			return;
		}
		if (!known)
			it->nid[it->n++] = nids[i];
	}
}

static void k_peer_ni(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	static const struct lnc_key keys[] = {
	        {"nid", k_peer_nid, LNC_K_SCALAR},
	        LNC_IGNORED("state"),
	        LNC_IGNORED("details"),
	        LNC_IGNORED("udsp info"),
	        LNC_IGNORED("max_ni_tx_credits"),
	        LNC_IGNORED("available_tx_credits"),
	        LNC_IGNORED("min_tx_credits"),
	        LNC_IGNORED("tx_q_num_of_buf"),
	        LNC_IGNORED("available_rtr_credits"),
	        LNC_IGNORED("min_rtr_credits"),
	        LNC_IGNORED("refcount"),
	        LNC_IGNORED("statistics"),
	        LNC_IGNORED("sent_stats"),
	        LNC_IGNORED("received_stats"),
	        LNC_IGNORED("dropped_stats"),
	        LNC_IGNORED("health stats"),
	};

	for (const struct lnc_node *i = v->first; i; i = i->next) {
		if (i->kind != LNC_MAP)
			lnc_rd_err(r, i, -EINVAL, "an item of 'peer ni' needs a mapping, found %s",
			        lnc_node_kind_str(i));
		else if (!lnc_map_get(i, "nid"))
			lnc_rd_err(r, i, -EINVAL, "an item of 'peer ni' needs 'nid'");
		else
			lnc_rd_map(r, i, keys, sizeof(keys) / sizeof(keys[0]), obj);
	}
}

/* A new peer, or one whose primary was named before: its NIDs go together. */
static void add_peer(struct lnc_rd *r, const struct lnc_node *node, const struct peer_item *it)
{
	struct lnc_arena *mem = &r->c->mem;
	unsigned at = r->c->npeer, cap;
	struct lnc_peer *p;

	if (at == LNC_PEERS_MAX) {
		lnc_rd_err(r, node, -E2BIG, "more than %u peers", LNC_PEERS_MAX);
		return;
	}
	if (lnc_nidmap_add(mem, &r->peers, 0, &it->primary, at, &at)) {
		p = LNC_PUSH(mem, r->c->peer, r->c->npeer, r->peer_cap);
		if (!p)
			return;
		*p = (struct lnc_peer){.primary = it->primary,
		        .multi_rail = it->mr_set ? it->multi_rail : true,
		        .mr_set = it->mr_set,
		        .lock = it->lock == 1,
		        .pos = lnc_rd_pos(it->primary_at)};
	}
	p = &r->c->peer[at];
	if (it->mr_set && p->multi_rail != it->multi_rail)
		lnc_rd_err(r, it->primary_at, -EINVAL,
		        "this peer is Multi-Rail in one place and not in another (%u:%u)",
		        p->pos.line, p->pos.column);
	p->mr_set |= it->mr_set;
	p->lock |= it->lock == 1;
	cap = p->nnids;
	for (unsigned i = 0; i < it->n && !mem->failed; i++) {
		bool known = lnet_nid_eq(&it->nid[i], &p->primary);

		p->primary_listed |= known;
		for (unsigned k = 0; k < p->nnids && !known; k++)
			known = lnet_nid_eq(&it->nid[i], &p->nids[k]);
		if (!known && p->nnids + 1 == LNET_PEER_NIDS_MAX) {
			lnc_rd_err(r, node, -E2BIG, "more than %u NIDs for one peer",
			        LNET_PEER_NIDS_MAX);
			return;
		}
		if (!known) {
			struct lnet_nid *nid = LNC_PUSH(mem, p->nids, p->nnids, cap);

			if (nid)
				*nid = it->nid[i];
		}
	}
}

static void read_peer(struct lnc_rd *r, const struct lnc_node *node)
{
	static const struct lnc_key keys[] = {
	        {"primary nid", k_primary, LNC_K_SCALAR},
	        {"Multi-Rail", k_multi_rail, LNC_K_SCALAR},
	        {"lock primary", k_lock, LNC_K_SCALAR},
	        {"peer ni", k_peer_ni, LNC_K_SEQ},
	        LNC_IGNORED("peer state"),
	        LNC_IGNORED("state"),
	        LNC_IGNORED("seq_no"),
	};
	struct peer_item it = {.lock = LNET_UNSET};
	int before = r->rc;

	r->rc = 0;
	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), &it);
	if (!lnc_map_get(node, "primary nid"))
		lnc_rd_err(r, node, -EINVAL, "a peer needs 'primary nid'");
	if (!r->rc)
		add_peer(r, node, &it);
	r->rc = before ? before : r->rc;
}

void lnc_rd_peers(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_items(r, v, read_peer);
}

/* ---- route ----------------------------------------------------------------------------------- */

struct route_item {
	const struct lnc_node *net_at, *gw_at;
	lnet_net_t net;
	struct lnet_nid *gw;
	unsigned ngw;
	int32_t hop, priority;
};

static void k_net(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct route_item *it = obj;

	if (!lnc_rd_net(r, v, &it->net))
		it->net_at = v;
}

static void k_gateway(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct route_item *it = obj;

	if (!lnc_rd_nids(r, v, LNC_ROUTES_MAX, &it->gw, &it->ngw))
		it->gw_at = v;
}

/* -1 is how lnetctl writes "undefined". */
static void k_hop(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	if (strcmp(v->text, "-1") != 0)
		lnc_rd_int(r, v, lnc_hop_tunable(), &((struct route_item *)obj)->hop);
}

static void k_priority(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_int(r, v, lnc_priority_tunable(), &((struct route_item *)obj)->priority);
}

static void add_routes(struct lnc_rd *r, const struct lnc_node *node, const struct route_item *it)
{
	for (unsigned i = 0; i < it->ngw; i++) {
		unsigned old = 0;
		struct lnc_route *x;

		if (r->c->nroute == LNC_ROUTES_MAX) {
			lnc_rd_err(r, node, -E2BIG, "more than %u routes", LNC_ROUTES_MAX);
			return;
		}
		if (!lnc_nidmap_add(
		            &r->c->mem, &r->routes, it->net, &it->gw[i], r->c->nroute, &old)) {
			const struct lnc_route *o = &r->c->route[old];
			char nid[LNET_NIDSTR_MAX];

			lnc_rd_err(r, it->gw_at, -EINVAL,
			        "this route by %s is given twice (first at %u:%u)",
			        lnet_nid_str(&it->gw[i], nid, sizeof(nid)), o->pos.line,
			        o->pos.column);
			return;
		}
		x = LNC_PUSH(&r->c->mem, r->c->route, r->c->nroute, r->route_cap);
		if (!x)
			return;
		*x = (struct lnc_route){
		        it->net, it->gw[i], it->hop, it->priority, lnc_rd_pos(it->gw_at)};
	}
}

static void read_route(struct lnc_rd *r, const struct lnc_node *node)
{
	static const struct lnc_key keys[] = {
	        {"net", k_net, LNC_K_SCALAR},
	        {"gateway", k_gateway, LNC_K_SCALAR},
	        {"hop", k_hop, LNC_K_SCALAR},
	        {"priority", k_priority, LNC_K_SCALAR},
	        LNC_IGNORED("state"),
	        LNC_IGNORED("type"),
	        LNC_IGNORED("health_sensitivity"),
	        LNC_IGNORED("seq_no"),
	};
	struct route_item it = {.hop = LNET_UNSET, .priority = LNET_UNSET};
	int before = r->rc;

	r->rc = 0;
	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), &it);
	if (!lnc_map_get(node, "net") || !lnc_map_get(node, "gateway"))
		lnc_rd_err(r, node, -EINVAL, "missing mandatory parameter: %s",
		        lnc_map_get(node, "net") ? "gateway" : "network");
	if (it.net_at && LNET_NET_TYPE(it.net) == LNET_LND_LO)
		lnc_rd_err(r, it.net_at, -EINVAL, "net 'lo' cannot be routed to");
	for (unsigned i = 0; !r->rc && i < it.ngw; i++) {
		if (lnet_nid_net(&it.gw[i]) == it.net || lnet_nid_is_lo(&it.gw[i]))
			lnc_rd_err(r, it.gw_at, -EINVAL,
			        lnet_nid_is_lo(&it.gw[i]) ? "0@lo is no gateway"
			                                  : "the gateway is on the net itself");
	}
	if (!r->rc)
		add_routes(r, node, &it);
	r->rc = before ? before : r->rc;
}

void lnc_rd_routes(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_items(r, v, read_route);
}

/* ---- udsp ------------------------------------------------------------------------------------ */

static void k_idx(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	static const struct lnet_tunable t = {"idx", "", "", 0, LNC_UDSPS_MAX - 1, 0, 0};

	lnc_rd_int(r, v, &t, &((struct lnc_udsp *)obj)->idx);
}

static void k_udsp_priority(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_int(r, v, lnc_priority_tunable(), &((struct lnc_udsp *)obj)->priority);
}

static void k_action(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	static const struct lnc_key keys[] = {{"priority", k_udsp_priority, LNC_K_SCALAR}};

	lnc_rd_map(r, v, keys, 1, obj);
}

static void k_src(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_udsp_match(r, v, &((struct lnc_udsp *)obj)->src);
}

static void k_dst(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_udsp_match(r, v, &((struct lnc_udsp *)obj)->dst);
}

static void k_rte(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_udsp_match(r, v, &((struct lnc_udsp *)obj)->rte);
}

/* src, dst (with a priority), dst + src, dst + rte. */
static const char *bad_shape(const struct lnc_udsp *u)
{
	if (!u->src && !u->dst && !u->rte)
		return "a rule needs 'src', 'dst' or both 'dst' and 'rte'";
	if (u->rte && u->src)
		return "'src' and 'rte' exclude one another";
	if (u->rte && !u->dst)
		return "'rte' needs 'dst'";
	if (u->priority != LNET_UNSET && u->dst && (u->src || u->rte))
		return "'priority' goes with 'src' or 'dst' alone";
	return NULL;
}

static void read_udsp(struct lnc_rd *r, const struct lnc_node *node)
{
	static const struct lnc_key keys[] = {
	        {"idx", k_idx, LNC_K_SCALAR},
	        {"src", k_src, LNC_K_SCALAR},
	        {"dst", k_dst, LNC_K_SCALAR},
	        {"rte", k_rte, LNC_K_SCALAR},
	        {"priority", k_udsp_priority, LNC_K_SCALAR},
	        {"action", k_action, LNC_K_MAP},
	        LNC_IGNORED("seq_no"),
	};
	struct lnc_udsp u = {.idx = LNET_UNSET, .priority = LNET_UNSET, .pos = lnc_rd_pos(node)},
	                *to;
	int before = r->rc;
	const char *why;

	r->rc = 0;
	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), &u);
	why = bad_shape(&u);
	if (!r->rc && why && !(lnc_rd_del(r) && u.idx != LNET_UNSET))
		lnc_rd_err(r, node, -EINVAL, "%s", why);
	if (!r->rc && r->c->nudsp == LNC_UDSPS_MAX)
		lnc_rd_err(r, node, -E2BIG, "more than %u rules", LNC_UDSPS_MAX);
	if (!r->rc) {
		to = LNC_PUSH(&r->c->mem, r->c->udsp, r->c->nudsp, r->udsp_cap);
		if (to)
			*to = u;
	}
	r->rc = before ? before : r->rc;
}

void lnc_rd_udsps(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_items(r, v, read_udsp);
}
