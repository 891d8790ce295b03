/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading `net` and `ip2nets`. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an item of `net`, of `local NI(s)` or of `ip2nets` says, in whatever order it says it. */
struct item {
	const struct lnc_node *node, *net_at, *nid_at, *lnd_at, *nis, *tun_at;
	lnet_net_t net;
	struct lnet_nid nid;
	const char **ifs, **ranges, *cpts;
	const struct lnc_node **if_at, **range_at;
	unsigned nifs, nranges;
	int32_t tun[LNC_NI_TUNABLES];
	struct lnc_tun *lnd;
	unsigned nlnd;
	enum lnet_accept accept;
	struct lnet_cidr *allow;
	unsigned nallow;
	bool allow_set, accept_bad;
};

static void item_init(struct item *it, const struct lnc_node *node)
{
	memset(it, 0, sizeof(*it));
	it->node = node;
	it->nid = lnet_nid_any();
	lnc_tun_unset(it->tun);
}

/* ---- parts that several items share ---------------------------------------------------------- */

static void tun_value(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	const struct lnet_tunable *t = lnc_ni_tunables();
	int32_t *tun = obj;

	for (unsigned i = 0; i < LNC_NI_TUNABLES; i++) {
		if (strcmp(t[i].name, v->key) == 0)
			lnc_rd_int(r, v, &t[i], &tun[i]);
	}
}

void lnc_rd_tun(struct lnc_rd *r, const struct lnc_node *map, int32_t tun[LNC_NI_TUNABLES])
{
	static const struct lnc_key keys[] = {
	        {"peer_timeout", tun_value, LNC_K_SCALAR},
	        {"peer_credits", tun_value, LNC_K_SCALAR},
	        {"peer_buffer_credits", tun_value, LNC_K_SCALAR},
	        {"credits", tun_value, LNC_K_SCALAR},
	        LNC_IGNORED("dev cpt"),
	};

	lnc_rd_map(r, map, keys, sizeof(keys) / sizeof(keys[0]), tun);
}

/* One driver tunable to *x; false when there is nothing to keep. */
static bool lnd_value(struct lnc_rd *r, const struct lnc_node *v, const struct lnet_tunable *t,
        unsigned nt, struct lnc_tun *x)
{
	const struct lnet_tunable *row = NULL;
	struct lnc_err err;
	char text[24];

	if (t && lnc_tunable_lookup(t, nt, v->key, &row, &err)) {
		r->rc = r->rc ? r->rc : -EINVAL;
		lnc_errs_key(r->errs, v, -EINVAL, "%s", err.msg);
		return false;
	}
	if (row && (row->flags & LNET_TUN_READONLY))
		return false;
	if (v->kind != LNC_SCALAR || lnc_node_is_null(v)) {
		lnc_rd_err(r, v, -EINVAL,
		        v->kind == LNC_SCALAR ? "no value specified for key '%s'"
		                              : "key '%s' needs a value",
		        v->key);
		return false;
	}
	*x = (struct lnc_tun){.name = v->key, .text = v->text, .pos = lnc_rd_pos(v)};
	if (!row)
		return true;
	if (lnc_value_check(row, v->text, &x->value, &err)) {
		lnc_rd_errof(r, v, &err);
		return false;
	}
	snprintf(text, sizeof(text), "%lld", (long long)x->value);
	x->name = row->name;
	x->known = true;
	x->text = lnc_arena_strdup(&r->c->mem, text);
	return x->text != NULL;
}

void lnc_rd_lnd(struct lnc_rd *r, const struct lnc_node *map, lnet_net_t net, struct lnc_tun **out,
        unsigned *n)
{
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(r->s, net, &nt);
	struct lnc_tun x;

	if (map->count > LNC_TUNS_MAX) {
		lnc_rd_err(r, map, -E2BIG, "%u tunables, at most %u are allowed", map->count,
		        LNC_TUNS_MAX);
		return;
	}
	for (const struct lnc_node *v = map->first; v; v = v->next) {
		if (lnd_value(r, v, t, nt, &x))
			*out = lnc_tun_merge(&r->c->mem, t, nt, *out, *n, &x, 1, n);
	}
}

/* "[0,1]" in quotes, or a flow sequence. */
void lnc_rd_cpts(struct lnc_rd *r, const struct lnc_node *v, const char **out)
{
	char *text = NULL, canon[LNC_CPT_STR_MAX];
	struct lnc_cpts set;
	struct lnc_err err;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f) {
		r->c->mem.failed = true;
		return;
	}
	if (v->kind == LNC_SCALAR)
		fputs(v->text, f);
	for (const struct lnc_node *i = v->first; i; i = i->next)
		fprintf(f, "%c%s", i == v->first ? '[' : ',',
		        i->kind == LNC_SCALAR ? i->text : "?");
	if (v->kind == LNC_SEQ)
		fputs(v->count ? "]" : "[]", f);
	if (fclose(f)) {
		r->c->mem.failed = true;
	} else if (lnc_cpts_parse(text, len, &set, canon, sizeof(canon), &err)) {
		lnc_rd_errof(r, v, &err);
	} else {
		for (unsigned i = r->s->ncpts; r->s->ncpts && i <= LNC_CPT_MAX; i++) {
			if (set.bit[i / 64] >> (i % 64) & 1) {
				lnc_rd_err(r, v, -EINVAL, "CPT %u: this host has CPTs 0..%u", i,
				        r->s->ncpts - 1);
				break;
			}
		}
		*out = lnc_arena_strdup(&r->c->mem, canon);
	}
	free(text);
}

void lnc_rd_list(struct lnc_rd *r, const struct lnc_node *map, unsigned max, const char ***out,
        const struct lnc_node ***at, unsigned *n)
{
	unsigned i = 0;

	if (map->count > max) {
		lnc_rd_err(r, map, -E2BIG, "%u entries, at most %u are allowed", map->count, max);
		return;
	}
	*out = lnc_arena_alloc(&r->c->mem, map->count * sizeof(**out));
	*at = lnc_arena_alloc(&r->c->mem, map->count * sizeof(**at));
	if (!*out || !*at)
		return;
	for (const struct lnc_node *v = map->first; v; v = v->next) {
		if (strspn(v->key, "0123456789") != strlen(v->key) || !v->key[0]) {
			lnc_errs_key(r->errs, v, -EINVAL,
			        "invalid key '%.60s': entries are numbered 0, 1, ...", v->key);
			r->rc = r->rc ? r->rc : -EINVAL;
		} else if (v->kind != LNC_SCALAR || lnc_node_is_null(v)) {
			lnc_rd_err(r, v, -EINVAL, "no value specified for key '%s'", v->key);
		} else {
			(*at)[i] = v;
			(*out)[i++] = v->text;
		}
	}
	*n = i;
}

static void k_tun(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_tun(r, v, ((struct item *)obj)->tun);
}

static void k_lnd(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)r;
	((struct item *)obj)->lnd_at = v;
}

static void k_cpts(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	lnc_rd_cpts(r, v, &((struct item *)obj)->cpts);
}

static void k_ifs(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct item *it = obj;

	lnc_rd_list(r, v, LNC_IFS_MAX, &it->ifs, &it->if_at, &it->nifs);
	if (!v->count)
		lnc_rd_err(r, v, -EINVAL, "an empty list of interfaces");
}

/* ---- local NI(s) ----------------------------------------------------------------------------- */

static void k_nid(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct item *it = obj;

	if (!lnc_rd_nid(r, v, &it->nid))
		it->nid_at = v;
}

static void read_ni_keys(struct lnc_rd *r, const struct lnc_node *node, struct item *it)
{
	static const struct lnc_key keys[] = {
	        {"nid", k_nid, LNC_K_SCALAR},
	        {"interfaces", k_ifs, LNC_K_MAP},
	        {"tunables", k_tun, LNC_K_MAP},
	        {"lnd tunables", k_lnd, LNC_K_MAP},
	        {"CPT", k_cpts, LNC_K_SCALAR | LNC_K_SEQ},
	        LNC_IGNORED("status"),
	        LNC_IGNORED("statistics"),
	        LNC_IGNORED("udsp info"),
	        LNC_IGNORED("sent_stats"),
	        LNC_IGNORED("received_stats"),
	        LNC_IGNORED("dropped_stats"),
	        LNC_IGNORED("health stats"),
	        LNC_IGNORED("status reason"),
	        LNC_IGNORED("details"),
	        LNC_IGNORED("dev cpt"),
	        LNC_IGNORED("seq_no"),
	};

	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), it);
}

/* One interface of an item, or none: an NI. */
static void add_ni(struct lnc_rd *r, struct lnc_net *net, unsigned *cap, const struct item *it,
        const struct lnc_node *if_at)
{
	char name[16], cpts[LNC_CPT_STR_MAX] = "";
	struct lnc_err err;
	struct lnc_ni *ni;

	if (if_at && lnc_ifname_parse(if_at->text, name, cpts, sizeof(cpts), &err)) {
		lnc_rd_errof(r, if_at, &err);
		return;
	}
	if (r->nnis++ == LNC_NIS_MAX)
		lnc_rd_err(r, it->node, -E2BIG, "more than %u local NIs", LNC_NIS_MAX);
	if (r->nnis > LNC_NIS_MAX)
		return;
	ni = LNC_PUSH(&r->c->mem, net->ni, net->nni, *cap);
	if (!ni)
		return;
	ni->nid = it->nid;
	ni->ifname = if_at ? lnc_arena_strdup(&r->c->mem, name) : NULL;
	ni->cpts = cpts[0] ? lnc_arena_strdup(&r->c->mem, cpts) : it->cpts;
	ni->lnd = it->lnd;
	ni->nlnd = it->nlnd;
	ni->pos = lnc_rd_pos(if_at ? if_at : it->nid_at ? it->nid_at : it->node);
	memcpy(ni->tun, it->tun, sizeof(ni->tun));
}

static void read_ni(struct lnc_rd *r, const struct lnc_node *node, struct lnc_net *net,
        unsigned *cap, const struct item *up)
{
	char want[LNET_NIDSTR_MAX];
	struct item it;
	int before = r->rc;
	unsigned nt;

	item_init(&it, node);
	r->rc = 0;
	read_ni_keys(r, node, &it);
	if (it.lnd_at)
		lnc_rd_lnd(r, it.lnd_at, net->net, &it.lnd, &it.nlnd);
	if (it.nid_at && lnet_nid_net(&it.nid) != net->net)
		lnc_rd_err(r, it.nid_at, -EINVAL, "'%.60s' is not on net %s", it.nid_at->text,
		        lnet_net_str(net->net, want, sizeof(want)));
	else if (it.nid_at && it.nifs > 1)
		lnc_rd_err(r, it.nid_at, -EINVAL, "one nid for %u interfaces", it.nifs);
	else if (!r->rc && !it.nid_at && !it.nifs)
		lnc_rd_err(r, node, -EINVAL, "a local NI needs 'interfaces' or 'nid'");
	if (!r->rc) {
		const struct lnet_tunable *t = lnc_schema_lnd(r->s, net->net, &nt);

		lnc_tun_inherit(it.tun, up->tun);
		it.lnd = lnc_tun_merge(
		        &r->c->mem, t, nt, it.lnd, it.nlnd, up->lnd, up->nlnd, &it.nlnd);
		for (unsigned i = 0; i < it.nifs; i++)
			add_ni(r, net, cap, &it, it.if_at[i]);
		if (!it.nifs)
			add_ni(r, net, cap, &it, NULL);
	}
	r->rc = before ? before : r->rc;
}

/* ---- net ------------------------------------------------------------------------------------- */

static void k_net(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct item *it = obj;

	if (!lnc_rd_net(r, v, &it->net))
		it->net_at = v;
}

static void k_nis(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)r;
	((struct item *)obj)->nis = v;
}

static void k_policy(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct lnc_err err;

	if (lnc_accept_parse(v->text, &((struct item *)obj)->accept, &err))
		lnc_rd_errof(r, v, &err);
}

static void k_allow(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct item *it = obj;
	struct lnc_err err;

	if (v->count > LNC_ALLOW_MAX) {
		lnc_rd_err(r, v, -E2BIG, "%u entries, at most %u are allowed", v->count,
		        LNC_ALLOW_MAX);
		return;
	}
	it->allow_set = true;
	it->allow = v->count ? lnc_arena_alloc(&r->c->mem, v->count * sizeof(*it->allow)) : NULL;
	for (const struct lnc_node *i = v->first; i && it->allow; i = i->next) {
		if (i->kind != LNC_SCALAR)
			lnc_rd_err(r, i, -EINVAL, "an address block is expected, found %s",
			        lnc_node_kind_str(i));
		else if (lnc_cidr_parse(i->text, &it->allow[it->nallow], &err))
			lnc_rd_errof(r, i, &err);
		else
			it->nallow++;
	}
}

static void k_accept(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	static const struct lnc_key keys[] = {
	        {"policy", k_policy, LNC_K_SCALAR}, {"allow", k_allow, LNC_K_SEQ}};

	lnc_rd_map(r, v, keys, 2, obj);
}

/* 0@lo is there without being asked for; export writes it. */
static bool is_lo(struct lnc_rd *r, const struct item *it)
{
	if (LNET_NET_TYPE(it->net) != LNET_LND_LO)
		return false;
	for (const struct lnc_node *i = it->nis ? it->nis->first : NULL; i; i = i->next) {
		const char *nid = lnc_map_text(i, "nid");

		if (!nid || strcmp(nid, "0@lo") != 0 || lnc_map_get(i, "interfaces")) {
			lnc_rd_err(r, it->net_at, -EINVAL, "net 'lo' cannot be configured");
			return true;
		}
	}
	lnc_errs_add(r->errs, it->net_at, 0, "net 'lo' is always there; ignored");
	return true;
}

static void set_accept(struct lnc_rd *r, struct lnc_net *net, const struct item *it)
{
	if (it->accept != LNET_ACCEPT_DEFAULT) {
		if (net->accept != LNET_ACCEPT_DEFAULT && net->accept != it->accept)
			lnc_rd_err(r, it->node, -EINVAL,
			        "two accept policies for one net: %s and %s",
			        lnc_accept_str(net->accept), lnc_accept_str(it->accept));
		net->accept = it->accept;
	}
	if (it->allow_set) {
		if (net->allow_set &&
		        !lnc_cidrs_equal(net->allow, net->nallow, it->allow, it->nallow))
			lnc_rd_err(r, it->node, -EINVAL, "two different allow lists for one net");
		net->allow = it->allow;
		net->nallow = it->nallow;
		net->allow_set = true;
	}
}

static struct lnc_net *net_of(struct lnc_rd *r, const struct item *it)
{
	struct lnc_net *net = lnc_net_find(r->c, it->net);

	if (net)
		return net;
	if (r->c->nnet == LNC_NETS_MAX) {
		lnc_rd_err(r, it->node, -E2BIG, "more than %u nets", LNC_NETS_MAX);
		return NULL;
	}
	net = LNC_PUSH(&r->c->mem, r->c->net, r->c->nnet, r->net_cap);
	if (net) {
		net->net = it->net;
		net->pos = lnc_rd_pos(it->net_at);
	}
	return net;
}

static void read_nis(struct lnc_rd *r, struct lnc_net *net, const struct item *it)
{
	unsigned cap = net->nni; /* a net that is mentioned again starts a new array */

	for (const struct lnc_node *i = it->nis->first; i; i = i->next) {
		if (i->kind == LNC_MAP)
			read_ni(r, i, net, &cap, it);
		else
			lnc_rd_err(r, i, -EINVAL,
			        "an item of 'local NI(s)' needs a mapping, found %s",
			        lnc_node_kind_str(i));
	}
}

static void read_net(struct lnc_rd *r, const struct lnc_node *node)
{
	static const struct lnc_key keys[] = {
	        {"net type", k_net, LNC_K_SCALAR},
	        {"accept", k_accept, LNC_K_MAP},
	        {"tunables", k_tun, LNC_K_MAP},
	        {"lnd tunables", k_lnd, LNC_K_MAP},
	        {"local NI(s)", k_nis, LNC_K_SEQ},
	        LNC_IGNORED("seq_no"),
	        LNC_IGNORED("udsp info"),
	};
	struct lnc_net *net;
	struct item it;
	int before = r->rc;

	item_init(&it, node);
	r->rc = 0;
	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), &it);
	if (!it.net_at && !lnc_map_get(node, "net type"))
		lnc_rd_err(r, node, -EINVAL, "Malformed input. Expect 'net type' found '%.60s'",
		        node->first ? node->first->key : "");
	if (it.net_at && !is_lo(r, &it)) {
		if (it.lnd_at)
			lnc_rd_lnd(r, it.lnd_at, it.net, &it.lnd, &it.nlnd);
		net = net_of(r, &it);
		if (net && it.nis && it.nis->count)
			read_nis(r, net, &it);
		else if (net && !lnc_rd_del(r))
			lnc_rd_err(r, it.nis ? it.nis : node, -EINVAL,
			        "a net needs at least one item in 'local NI(s)'");
		if (net)
			set_accept(r, net, &it);
	}
	r->rc = before ? before : r->rc;
}

void lnc_rd_nets(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_items(r, v, read_net);
}

/* ---- ip2nets --------------------------------------------------------------------------------- */

static void k_ranges(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	struct item *it = obj;

	lnc_rd_list(r, v, LNC_RULE_LIST_MAX, &it->ranges, &it->range_at, &it->nranges);
	if (!v->count)
		lnc_rd_err(r, v, -EINVAL, "an empty list of ranges");
}

static void check_rule(struct lnc_rd *r, struct item *it)
{
	char name[16], cpts[LNC_CPT_STR_MAX];
	struct lnc_err err;

	for (unsigned i = 0; i < it->nifs; i++) {
		if (lnc_ifname_parse(it->ifs[i], name, cpts, sizeof(cpts), &err))
			lnc_rd_errof(r, it->if_at[i], &err);
	}
	for (unsigned i = 0; i < it->nranges; i++)
		it->ranges[i] = lnc_rd_addr_range(r, it->range_at[i]);
	if (!lnet_net_is_ip(it->net) && it->nranges)
		lnc_rd_err(r, it->net_at, -EINVAL,
		        "net '%.40s' has no IP addresses that a range could match",
		        it->net_at->text);
}

static void read_rule(struct lnc_rd *r, const struct lnc_node *node)
{
	static const struct lnc_key keys[] = {
	        {"net-spec", k_net, LNC_K_SCALAR},
	        {"interfaces", k_ifs, LNC_K_MAP},
	        {"ip-range", k_ranges, LNC_K_MAP},
	        {"tunables", k_tun, LNC_K_MAP},
	        {"lnd tunables", k_lnd, LNC_K_MAP},
	        {"CPT", k_cpts, LNC_K_SCALAR | LNC_K_SEQ},
	        LNC_IGNORED("seq_no"),
	};
	struct lnc_rule *rule;
	struct item it;

	item_init(&it, node);
	lnc_rd_map(r, node, keys, sizeof(keys) / sizeof(keys[0]), &it);
	if (!it.net_at && !lnc_map_get(node, "net-spec"))
		lnc_rd_err(r, node, -EINVAL, "Malformed input. Expect 'net-spec' found '%.60s'",
		        node->first ? node->first->key : "");
	if (!it.net_at)
		return;
	if (LNET_NET_TYPE(it.net) == LNET_LND_LO)
		lnc_rd_err(r, it.net_at, -EINVAL, "net 'lo' cannot be configured");
	if (it.lnd_at)
		lnc_rd_lnd(r, it.lnd_at, it.net, &it.lnd, &it.nlnd);
	check_rule(r, &it);
	if (r->c->nrule == LNC_RULES_MAX) {
		lnc_rd_err(r, node, -E2BIG, "more than %u ip2nets rules", LNC_RULES_MAX);
		return;
	}
	rule = LNC_PUSH(&r->c->mem, r->c->rule, r->c->nrule, r->rule_cap);
	if (!rule)
		return;
	*rule = (struct lnc_rule){it.net, it.ifs, it.nifs, it.ranges, it.nranges, it.cpts, {0},
	        it.lnd, it.nlnd, lnc_rd_pos(node)};
	memcpy(rule->tun, it.tun, sizeof(rule->tun));
}

void lnc_rd_rules(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_items(r, v, read_rule);
}
