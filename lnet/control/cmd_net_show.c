/* SPDX-License-Identifier: BSD-2-Clause */
/* net show: keys and order are those of lnetctl; what is ours stands behind them. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/origin.h"
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct show {
	struct lnc_ctx *x;
	struct lnc_node *list;
	lnet_net_t net;
	const struct lnet_nid *nid; /* NULL: all */
	unsigned level;
	bool given; /* of a driver's own tunables those that were given alone */
	uint64_t now;
	bool any;
};

/* LNet's own keys of `lnd tunables`, in its order; a driver's other tunables follow. */
static const char *const lnet_keys[] = {"conns_per_peer", "timeout", "tos"};

static void health(struct lnc_node *ni, const struct lnet_ni_info *i)
{
	const struct lnet_health *h = &i->health;
	struct lnc_node *m = lnc_map_add_map(ni, "health stats");

	lnc_map_add_i64(m, "fatal_error", i->fatal);
	lnc_map_add_i64(m, "health value", h->value);
	lnc_map_add_u64(m, "interrupts", h->by[LNET_HS_LOCAL_INTERRUPT]);
	lnc_map_add_u64(m, "dropped", h->by[LNET_HS_LOCAL_DROPPED]);
	lnc_map_add_u64(m, "aborted", h->by[LNET_HS_LOCAL_ABORTED]);
	lnc_map_add_u64(m, "no route", h->by[LNET_HS_LOCAL_NO_ROUTE]);
	lnc_map_add_u64(m, "timeouts", h->by[LNET_HS_LOCAL_TIMEOUT]);
	lnc_map_add_u64(m, "error", h->by[LNET_HS_LOCAL_ERROR]);
	lnc_map_add_u64(m, "ping_count", h->ping_count);
	lnc_map_add_u64(m, "next_ping", h->next_ping / 1000000000u);
}

static bool is_lnet_key(const char *name)
{
	for (size_t k = 0; k < LNC_LEN(lnet_keys); k++)
		if (!strcmp(lnet_keys[k], name))
			return true;
	return false;
}

static void lnd_tunables(struct lnc_node *ni, const struct lnet_ni_info *i, bool all)
{
	const struct lnet_lnd *lnd = i->lnd;

	if (!lnd || !lnd->ntunables)
		return;
	struct lnc_node *m = lnc_map_add_map(ni, "lnd tunables");
	for (size_t k = 0; k < LNC_LEN(lnet_keys); k++)
		for (unsigned t = 0; t < lnd->ntunables; t++)
			if (!strcmp(lnd->tunables[t].name, lnet_keys[k]))
				lnc_map_add_i64(m, lnet_keys[k], i->tun[t]);
	/* beyond LNet's: what was given, or everything */
	for (unsigned t = 0; t < lnd->ntunables; t++)
		if (!is_lnet_key(lnd->tunables[t].name) && (all || i->tun_set[t]))
			lnc_map_add_i64(m, lnd->tunables[t].name, i->tun[t]);
}

static void tunables(struct lnc_node *ni, const struct lnet_ni_info *i)
{
	struct lnc_node *m = lnc_map_add_map(ni, "tunables");

	lnc_map_add_i64(m, "peer_timeout", i->peer_timeout);
	lnc_map_add_i64(m, "peer_credits", i->peer_credits);
	lnc_map_add_i64(m, "peer_buffer_credits", i->peer_buffer_credits);
	lnc_map_add_i64(m, "credits", i->credits);
}

static void cpts(struct lnc_node *ni, const struct lnet *n, const struct lnet_ni_info *i)
{
	char all[32];

	lnc_map_add_i64(ni, "dev cpt", -1);
	lnc_map_add_quoted(
	        ni, "CPT", i->cpts && *i->cpts ? i->cpts : lnc_all_cpts(n, all, sizeof(all)));
}

/* Ours, level 4: where each value in force comes from. */
static void origins(struct show *s, struct lnc_node *map, const struct lnet_ni_info *i)
{
	const struct lnet_tunable *t = lnc_ni_tunables();
	const int32_t conf[LNC_NI_TUNABLES] = {[LNC_PEER_TIMEOUT] = i->conf_peer_timeout,
	        [LNC_PEER_CREDITS] = i->conf_peer_credits,
	        [LNC_PEER_BUFFER_CREDITS] = i->conf_peer_buffer_credits,
	        [LNC_CREDITS] = i->conf_credits};
	struct lnc_node *m = lnc_map_add_map(map, "origin");

	for (unsigned k = 0; k < LNC_NI_TUNABLES; k++)
		lnc_map_add_str(m, t[k].name,
		        lnc_origin_ni(s->x->c, &i->nid, t[k].name, conf[k] != LNET_UNSET));
	for (unsigned k = 0; i->lnd && k < i->lnd->ntunables; k++)
		lnc_map_add_str(m, i->lnd->tunables[k].name,
		        i->lnd->tunables[k].flags & LNET_TUN_READONLY
		                ? "driver"
		                : lnc_origin_ni(s->x->c, &i->nid, i->lnd->tunables[k].name,
		                          i->tun_set[k]));
}

static void lnd_statistics(struct lnc_node *map, const struct lnet_ni_info *i)
{
	if (!i->lnd || !i->lnd->nstats || !i->stats)
		return;
	struct lnc_node *m = lnc_map_add_map(map, "lnd statistics");
	for (unsigned k = 0; k < i->lnd->nstats; k++)
		lnc_map_add_u64(
		        m, i->lnd->stats[k].name, __atomic_load_n(&i->stats[k], __ATOMIC_RELAXED));
}

/* Ours, from level 2: each state with its last reason and age in seconds, and what LNet has no key
 * for. */
static void details(struct show *s, struct lnc_node *ni, const struct lnet_ni_info *i)
{
	struct lnc_node *m = lnc_map_add_map(ni, "details");

	lnc_show_age(m, "status age", s->now, i->status_since);
	if (i->health.reason && *i->health.reason)
		lnc_map_add_str(m, "health reason", i->health.reason);
	lnc_show_age(m, "health age", s->now, i->health.changed);
	lnc_map_add_i64(m, "available_tx_credits", i->credits_free);
	lnc_map_add_i64(m, "min_tx_credits", i->credits_min);
	lnc_map_add_u64(m, "send_bytes", i->traffic.send_bytes);
	lnc_map_add_u64(m, "recv_bytes", i->traffic.recv_bytes);
	lnc_map_add_u64(m, "drop_bytes", i->traffic.drop_bytes);
	if (i->speed_mbps)
		lnc_map_add_u64(m, "speed_mbps", i->speed_mbps);
	if (i->mtu)
		lnc_map_add_u64(m, "mtu", i->mtu);
	lnd_statistics(m, i);
	if (s->level >= 4)
		origins(s, m, i);
}

static struct lnc_node *net_item(struct show *s, const struct lnet_ni_info *i)
{
	char type[LNET_NIDSTR_MAX];

	lnet_net_str(lnet_nid_net(&i->nid), type, sizeof(type));
	if (!s->list)
		s->list = lnc_out_seq(s->x, "net", LNC_STYLE_NET);
	for (struct lnc_node *n = s->list ? s->list->first : NULL; n; n = n->next) {
		const char *t = lnc_map_text(n, "net type");
		if (t && !strcmp(t, type))
			return lnc_map_get(n, "local NI(s)");
	}
	struct lnc_node *item = lnc_seq_add_map(s->list);
	lnc_map_add_str(item, "net type", type);
	struct lnc_node *nis = lnc_map_add_seq(item, "local NI(s)");
	if (s->level >= 1)
		lnc_export_accept(item, i->accept, i->allow, i->nallow, i->nallow > 0);
	return nis;
}

static int one_ni(void *arg, const struct lnet_ni_info *i)
{
	struct show *s = arg;
	char text[LNET_NIDSTR_MAX];
	lnet_net_t net = lnet_nid_net(&i->nid);
	bool lo = lnet_nid_is_lo(&i->nid);

	if ((s->net != LNET_NET_ANY && s->net != net) || (s->nid && !lnet_nid_eq(s->nid, &i->nid)))
		return 0;
	s->any = true;
	struct lnc_node *ni = lnc_seq_add_map(net_item(s, i));
	lnc_map_add_str(ni, "nid", lnet_nid_str(&i->nid, text, sizeof(text)));
	lnc_map_add_str(ni, "status", i->up ? "up" : "down");
	if (i->ifname[0] && !lo)
		lnc_map_add_str(lnc_map_add_map(ni, "interfaces"), "0", i->ifname);
	if (s->level >= 1)
		lnc_show_statistics(ni, &i->traffic);
	if (s->level >= 4) { /* no selection policy: -1 is "none" */
		struct lnc_node *udsp = lnc_map_add_map(ni, "udsp info");
		lnc_map_add_i64(udsp, "net priority", -1);
		lnc_map_add_i64(udsp, "nid priority", -1);
	}
	if (s->level >= 2) {
		lnc_show_messages(ni, &i->traffic);
		health(ni, i);
	}
	if (s->level >= 1) {
		tunables(ni, i);
		if (!lo) /* LNet's has none */
			lnd_tunables(ni, i, s->level >= 2 && !s->given);
		cpts(ni, s->x->n, i);
	}
	if (i->why[0])
		lnc_map_add_str(ni, "status reason", i->why);
	if (s->level >= 2)
		details(s, ni, i);
	return 0;
}

bool lnc_show_nets(
        struct lnc_ctx *x, lnet_net_t net, const struct lnet_nid *nid, unsigned level, bool given)
{
	struct show s = {.x = x,
	        .net = net,
	        .nid = nid,
	        .level = level,
	        .given = given,
	        .now = lnet_now(x->n)};

	lnet_ni_each(x->n, one_ni, &s);
	return s.any;
}

static int net_show(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *net_text = lnc_req_text(r, "net"), *nid_text = lnc_req_text(r, "nid");
	lnet_net_t net = LNET_NET_ANY;
	struct lnet_nid nid;

	if (net_text)
		lnet_net_parse(net_text, strlen(net_text), &net, NULL);
	if (nid_text && lnet_nid_parse(nid_text, strlen(nid_text), &nid, NULL))
		return lnc_misuse(x, "show", "net", -EINVAL, "'%s' is not a NID", nid_text);
	if (!lnc_show_nets(x, net, nid_text ? &nid : NULL, lnc_req_level(r), false))
		return lnc_fail(x, "show", "net", -ENOENT, "%s '%s' is not configured",
		        nid_text ? "NID" : "network", nid_text ? nid_text : net_text);
	return 0;
}

static const struct lnc_opt show_opts[] = {
        {.name = "net", .letter = 'n', .kind = LNC_A_NET, .help = "show this network alone"},
        {.name = "nid", .letter = 0, .kind = LNC_A_NID, .help = "show this interface alone"},
        LNC_OPT_VERBOSE,
};

const struct lnc_cmd lnc_cmds_net_show[] = {
        {.path = "net show",
                .help = "show networks and their interfaces",
                .more = "Level 1 adds statistics and tunables, level 2 messages by type, health, "
                        "and the "
                        "reason and age of each state, level 4 the origin of each value in force.",
                .flags = LNC_C_READ,
                .opts = show_opts,
                .nopts = LNC_LEN(show_opts),
                .run = net_show},
        {0},
};
