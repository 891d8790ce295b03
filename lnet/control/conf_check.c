/* SPDX-License-Identifier: BSD-2-Clause */
/* Contradictions inside one configuration. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct check {
	const struct lnc_conf *c;
	const struct lnc_schema *s;
	struct lnc_errs *errs;
	struct lnc_arena mem; /* of the maps */
	bool given;
	int rc;
};

/* " (first at 3:7)" or nothing. */
struct where {
	char text[40];
};

static struct where where(const struct lnc_pos *p)
{
	struct where w = {""};

	if (p->line)
		snprintf(w.text, sizeof(w.text), " (first at %u:%u)", p->line, p->column);
	return w;
}

#define BAD(k, pos, code, ...)                                                         \
	do {                                                                           \
		lnc_errs_at((k)->errs, (pos).line, (pos).column, (code), __VA_ARGS__); \
		if (!(k)->rc)                                                          \
			(k)->rc = (code);                                              \
	} while (0)

/* ---- nets and NIs -----------------------------------------------------------------------------
 */

static void check_net_tunables(struct check *k, const struct lnc_net *net)
{
	char name[LNET_NIDSTR_MAX];
	unsigned nt;
	const struct lnet_tunable *t = lnc_schema_lnd(k->s, net->net, &nt);

	for (unsigned i = 0; i < nt; i++) {
		const struct lnc_tun *first = NULL;

		for (unsigned j = 0; (t[i].flags & LNET_TUN_NET) && j < net->nni; j++) {
			struct lnc_tun *x =
			        lnc_tun_find(net->ni[j].lnd, net->ni[j].nlnd, t[i].name);

			if (first && x && x->value != first->value)
				BAD(k, net->ni[j].pos, -EINVAL,
				        "net %s: '%s' is one value for the whole net, but NIs say "
				        "%s and %s",
				        lnet_net_str(net->net, name, sizeof(name)), t[i].name,
				        first->text, x->text);
			if (!first)
				first = x;
		}
	}
}

/* A second NI on an interface must say its address, and so must the first. */
static void check_interfaces(struct check *k, const struct lnc_net *net)
{
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < net->nni; i++) {
		const struct lnc_ni *a = &net->ni[i];

		for (unsigned j = 0; a->ifname && j < i; j++) {
			const struct lnc_ni *b = &net->ni[j];

			if (!lnc_str_equal(a->ifname, b->ifname))
				continue;
			if (lnet_nid_is_any(&a->nid) || lnet_nid_is_any(&b->nid)) {
				BAD(k, a->pos, -EEXIST, "interface '%s' is twice on net %s%s",
				        a->ifname, lnet_net_str(net->net, name, sizeof(name)),
				        where(&b->pos).text);
				break;
			}
		}
	}
}

static void check_nets(struct check *k, struct lnc_nidmap *ours)
{
	char name[LNET_NIDSTR_MAX];
	unsigned total = 0;

	for (unsigned i = 0; i < k->c->nnet; i++) {
		const struct lnc_net *net = &k->c->net[i];

		if (!net->nni)
			BAD(k, net->pos, -EINVAL, "net %s has no local NI",
			        lnet_net_str(net->net, name, sizeof(name)));
		total += net->nni;
		check_net_tunables(k, net);
		check_interfaces(k, net);
		for (unsigned j = 0; j < net->nni; j++) {
			const struct lnc_ni *ni = &net->ni[j];
			unsigned old;

			if (!lnet_nid_is_any(&ni->nid) &&
			        !lnc_nidmap_add(&k->mem, ours, 0, &ni->nid, j, &old))
				BAD(k, ni->pos, -EEXIST, "NID %s is given twice%s",
				        lnet_nid_str(&ni->nid, name, sizeof(name)),
				        where(&net->ni[old].pos).text);
		}
	}
	if (total > LNC_NIS_MAX)
		BAD(k, (struct lnc_pos){0}, -E2BIG, "%u local NIs, at most %u are allowed", total,
		        LNC_NIS_MAX);
}

/* ---- peers ------------------------------------------------------------------------------------
 */

static void check_peer_nid(struct check *k, struct lnc_nidmap *peers, const struct lnc_nidmap *ours,
        unsigned at, const struct lnet_nid *nid)
{
	const struct lnc_peer *p = &k->c->peer[at];
	char name[LNET_NIDSTR_MAX], other[LNET_NIDSTR_MAX];
	unsigned old;

	lnet_nid_str(nid, name, sizeof(name));
	if (lnet_nid_is_any(nid) || lnet_nid_is_lo(nid))
		BAD(k, p->pos, -EINVAL, "%s cannot be a peer's NID", name);
	else if (lnc_nidmap_get(ours, 0, nid, &old))
		BAD(k, p->pos, -EINVAL, "our own NID %s cannot be a peer's", name);
	else if (!lnc_nidmap_add(&k->mem, peers, 0, nid, at, &old) && old != at)
		BAD(k, p->pos, -EEXIST, "NID %s belongs to two peers, %s and this one%s", name,
		        lnet_nid_str(&k->c->peer[old].primary, other, sizeof(other)),
		        where(&k->c->peer[old].pos).text);
}

static void check_peers(struct check *k, const struct lnc_nidmap *ours)
{
	struct lnc_nidmap peers = {0};
	char name[LNET_NIDSTR_MAX];

	if (k->c->npeer > LNC_PEERS_MAX)
		BAD(k, (struct lnc_pos){0}, -E2BIG, "%u peers, at most %u are allowed", k->c->npeer,
		        LNC_PEERS_MAX);
	for (unsigned i = 0; i < k->c->npeer && !k->mem.failed; i++) {
		const struct lnc_peer *p = &k->c->peer[i];

		if (p->nnids + 1 > LNET_PEER_NIDS_MAX)
			BAD(k, p->pos, -E2BIG, "peer %s: %u NIDs, at most %u are allowed",
			        lnet_nid_str(&p->primary, name, sizeof(name)), p->nnids + 1,
			        LNET_PEER_NIDS_MAX);
		check_peer_nid(k, &peers, ours, i, &p->primary);
		for (unsigned j = 0; j < p->nnids && !k->mem.failed; j++)
			check_peer_nid(k, &peers, ours, i, &p->nids[j]);
	}
}

/* ---- routes ------------------------------------------------------------------------------------
 */

static void check_routes(struct check *k, const struct lnc_nidmap *ours)
{
	char net[LNET_NIDSTR_MAX], gw[LNET_NIDSTR_MAX];
	unsigned old;

	for (unsigned i = 0; i < k->c->nroute; i++) {
		const struct lnc_route *x = &k->c->route[i];

		lnet_net_str(x->net, net, sizeof(net));
		lnet_nid_str(&x->gateway, gw, sizeof(gw));
		if (lnc_net_find((struct lnc_conf *)k->c, x->net))
			BAD(k, x->pos, -EINVAL, "route to %s: this node is on that net", net);
		if (lnc_nidmap_get(ours, 0, &x->gateway, &old))
			BAD(k, x->pos, -EINVAL, "route to %s: the gateway %s is this node", net,
			        gw);
	}
}

/* ---- globals -----------------------------------------------------------------------------------
 */

/* False: not given, and defaults do not count. */
static bool global(const struct check *k, const char *name, int64_t *v, struct lnc_pos *pos)
{
	const struct lnc_tun *x = lnc_tun_find(k->c->global, k->c->nglobal, name);
	const struct lnet_tunable *t =
	        k->s ? lnc_tunable_find(k->s->globals, k->s->nglobals, name) : NULL;

	if (x) {
		*v = x->value;
		if (x->pos.line)
			*pos = x->pos;
		return true;
	}
	if (k->given || !t)
		return false;
	*v = t->def;
	return true;
}

static void check_globals(struct check *k)
{
	int64_t retry, timeout, health;
	struct lnc_pos pos = {0};

	if (!global(k, "retry_count", &retry, &pos))
		return;
	if (global(k, "transaction_timeout", &timeout, &pos) && timeout <= retry)
		BAD(k, pos, -EINVAL,
		        "transaction_timeout (%" PRId64
		        " s) must be greater than retry_count (%" PRId64 ")",
		        timeout, retry);
	if (global(k, "health_sensitivity", &health, &pos) && health == 0 && retry > 0)
		BAD(k, pos, -EINVAL,
		        "retry_count (%" PRId64 ") must be 0 while health_sensitivity is 0", retry);
}

int lnc_check(
        const struct lnc_conf *c, const struct lnc_schema *s, bool given, struct lnc_errs *errs)
{
	struct check k = {.c = c, .s = s, .errs = errs, .given = given};
	struct lnc_nidmap ours = {0};

	lnc_arena_init(&k.mem, 0);
	check_nets(&k, &ours);
	check_peers(&k, &ours);
	check_routes(&k, &ours);
	check_globals(&k);
	if (k.mem.failed && !k.rc)
		k.rc = lnc_errs_add(errs, NULL, -ENOMEM, "out of memory");
	lnc_arena_free(&k.mem);
	return k.rc;
}

int lnc_conf_check(const struct lnc_conf *c, const struct lnc_schema *s, struct lnc_errs *errs)
{
	return lnc_check(c, s, false, errs);
}
