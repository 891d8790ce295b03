/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration to document. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <stdio.h>

void lnc_export_tun(struct lnc_node *map, const int32_t tun[LNC_NI_TUNABLES])
{
	const struct lnet_tunable *t = lnc_ni_tunables();
	struct lnc_node *m = NULL;

	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++) {
		if (tun[i] == LNET_UNSET)
			continue;
		if (!m)
			m = lnc_map_add_map(map, "tunables");
		lnc_map_add_i64(m, t[i].name, tun[i]);
	}
}

static void export_lnd(struct lnc_node *map, const struct lnc_tun *v, unsigned n)
{
	struct lnc_node *m = n ? lnc_map_add_map(map, "lnd tunables") : NULL;

	for (unsigned i = 0; i < n; i++) {
		if (v[i].known)
			lnc_map_add_i64(m, v[i].name, v[i].value);
		else
			lnc_map_add_str(m, v[i].name, v[i].text);
	}
}

void lnc_export_accept(struct lnc_node *map, enum lnet_accept accept, const struct lnet_cidr *allow,
        unsigned nallow, bool allow_set)
{
	char text[LNC_CIDR_STR_MAX];
	struct lnc_node *m, *seq;

	if (accept == LNET_ACCEPT_DEFAULT && !allow_set)
		return;
	m = lnc_map_add_map(map, "accept");
	if (accept != LNET_ACCEPT_DEFAULT)
		lnc_map_add_str(m, "policy", lnc_accept_str(accept));
	if (!allow_set)
		return;
	seq = lnc_map_add_seq(m, "allow");
	for (unsigned i = 0; i < nallow; i++)
		lnc_seq_add_str(seq, lnc_cidr_str(&allow[i], text, sizeof(text)));
}

static void export_list(struct lnc_node *map, const char *key, const char *const *v, unsigned n)
{
	struct lnc_node *m = n ? lnc_map_add_map(map, key) : NULL;
	char num[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(num, sizeof(num), "%u", i);
		lnc_map_add_str(m, num, v[i]);
	}
}

static void export_ni(struct lnc_node *seq, const struct lnc_ni *ni)
{
	struct lnc_node *m = lnc_seq_add_map(seq);
	char nid[LNET_NIDSTR_MAX];

	if (!lnet_nid_is_any(&ni->nid))
		lnc_map_add_str(m, "nid", lnet_nid_str(&ni->nid, nid, sizeof(nid)));
	export_list(m, "interfaces", &ni->ifname, ni->ifname != NULL);
	lnc_export_tun(m, ni->tun);
	export_lnd(m, ni->lnd, ni->nlnd);
	if (ni->cpts)
		lnc_map_add_quoted(m, "CPT", ni->cpts);
}

static void export_nets(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *seq =
	        c->nnet ? lnc_node_style(lnc_map_add_seq(root, "net"), LNC_STYLE_NET) : NULL;
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < c->nnet; i++) {
		const struct lnc_net *net = &c->net[i];
		struct lnc_node *m = lnc_seq_add_map(seq), *nis;

		lnc_map_add_str(m, "net type", lnet_net_str(net->net, name, sizeof(name)));
		lnc_export_accept(m, net->accept, net->allow, net->nallow, net->allow_set);
		nis = net->nni ? lnc_map_add_seq(m, "local NI(s)") : NULL;
		for (unsigned j = 0; j < net->nni; j++)
			export_ni(nis, &net->ni[j]);
	}
}

static void export_rules(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *seq =
	        c->nrule ? lnc_node_style(lnc_map_add_seq(root, "ip2nets"), LNC_STYLE_NET) : NULL;
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < c->nrule; i++) {
		const struct lnc_rule *x = &c->rule[i];
		struct lnc_node *m = lnc_seq_add_map(seq);

		lnc_map_add_str(m, "net-spec", lnet_net_str(x->net, name, sizeof(name)));
		export_list(m, "interfaces", (const char *const *)x->ifs, x->nifs);
		export_list(m, "ip-range", (const char *const *)x->ranges, x->nranges);
		lnc_export_tun(m, x->tun);
		export_lnd(m, x->lnd, x->nlnd);
		if (x->cpts)
			lnc_map_add_quoted(m, "CPT", x->cpts);
	}
}

static void export_routes(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *seq =
	        c->nroute ? lnc_node_style(lnc_map_add_seq(root, "route"), LNC_STYLE_NET) : NULL;
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < c->nroute; i++) {
		const struct lnc_route *x = &c->route[i];
		struct lnc_node *m = lnc_seq_add_map(seq);

		lnc_map_add_str(m, "net", lnet_net_str(x->net, name, sizeof(name)));
		lnc_map_add_str(m, "gateway", lnet_nid_str(&x->gateway, name, sizeof(name)));
		lnc_map_add_i64(m, "hop", x->hop == LNET_UNSET ? -1 : x->hop);
		if (x->priority != LNET_UNSET)
			lnc_map_add_i64(m, "priority", x->priority);
	}
}

static void export_routing(struct lnc_node *root, const struct lnc_conf *c)
{
	const struct lnet_tunable *t = lnc_buffer_tunables();
	struct lnc_node *m = NULL;

	if (c->routing != LNET_UNSET)
		lnc_map_add_i64(lnc_node_style(lnc_map_add_map(root, "routing"), LNC_STYLE_CYAML),
		        "enable", c->routing);
	for (unsigned i = 0; i < LNC_BUFFERS; i++) {
		if (c->buffers[i] == LNET_UNSET)
			continue;
		if (!m)
			m = lnc_node_style(lnc_map_add_map(root, "buffers"), LNC_STYLE_CYAML);
		lnc_map_add_i64(m, t[i].name, c->buffers[i]);
	}
}

static void export_peers(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *seq =
	        c->npeer ? lnc_node_style(lnc_map_add_seq(root, "peer"), LNC_STYLE_NET) : NULL;
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < c->npeer; i++) {
		const struct lnc_peer *p = &c->peer[i];
		struct lnc_node *m = lnc_seq_add_map(seq), *nis;

		lnc_map_add_str(m, "primary nid", lnet_nid_str(&p->primary, name, sizeof(name)));
		lnc_map_add_bool(m, "Multi-Rail", p->multi_rail);
		if (p->lock)
			lnc_map_add_bool(m, "lock primary", true);
		nis = lnc_map_add_seq(m, "peer ni");
		lnc_map_add_str(lnc_seq_add_map(nis), "nid", name);
		for (unsigned j = 0; j < p->nnids; j++)
			lnc_map_add_str(lnc_seq_add_map(nis), "nid",
			        lnet_nid_str(&p->nids[j], name, sizeof(name)));
	}
}

static void export_udsps(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *seq =
	        c->nudsp ? lnc_node_style(lnc_map_add_seq(root, "udsp"), LNC_STYLE_CYAML) : NULL;

	for (unsigned i = 0; i < c->nudsp; i++) {
		const struct lnc_udsp *u = &c->udsp[i];
		struct lnc_node *m = lnc_seq_add_map(seq);

		if (u->idx != LNET_UNSET)
			lnc_map_add_i64(m, "idx", u->idx);
		if (u->src)
			lnc_map_add_str(m, "src", u->src);
		if (u->dst)
			lnc_map_add_str(m, "dst", u->dst);
		if (u->rte)
			lnc_map_add_str(m, "rte", u->rte);
		if (u->priority != LNET_UNSET)
			lnc_map_add_i64(lnc_map_add_map(m, "action"), "priority", u->priority);
	}
}

static void export_global(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *m = NULL;

	if (c->nglobal)
		m = lnc_node_style(lnc_map_add_map(root, "global"), LNC_STYLE_CYAML);
	for (unsigned i = 0; i < c->nglobal; i++)
		lnc_map_add_i64(m, c->global[i].name, c->global[i].value);
}

static void export_ours(struct lnc_node *root, const struct lnc_conf *c)
{
	struct lnc_node *m;

	if (c->selftest != LNET_UNSET)
		lnc_map_add_bool(root, "selftest", c->selftest);
	if (c->control.socket || c->control.mode != LNET_UNSET || c->control.group) {
		m = lnc_node_style(lnc_map_add_map(root, "control"), LNC_STYLE_CYAML);
		if (c->control.socket)
			lnc_map_add_str(m, "socket", c->control.socket);
		if (c->control.mode != LNET_UNSET)
			lnc_map_add_fmt(m, "mode", "0%03o", (unsigned)c->control.mode);
		if (c->control.group)
			lnc_map_add_str(m, "group", c->control.group);
	}
	if (c->log.level != LNET_UNSET || c->log.to) {
		m = lnc_node_style(lnc_map_add_map(root, "log"), LNC_STYLE_CYAML);
		if (c->log.level != LNET_UNSET)
			lnc_map_add_str(
			        m, "level", lnc_log_level_str((enum lnet_log_level)c->log.level));
		if (c->log.to)
			lnc_map_add_str(m, "to", c->log.to);
	}
}

int lnc_conf_export(const struct lnc_conf *c, struct lnc_doc *d)
{
	struct lnc_node *root;

	if (lnc_conf_is_empty(c))
		return 0;
	root = lnc_doc_map(d, LNC_STYLE_NET);
	export_nets(root, c);
	export_rules(root, c);
	export_routes(root, c);
	export_routing(root, c);
	export_peers(root, c);
	export_global(root, c);
	export_udsps(root, c);
	export_ours(root, c);
	return lnc_doc_ok(d) ? 0 : -ENOMEM;
}
