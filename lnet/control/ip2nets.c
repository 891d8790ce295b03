/* SPDX-License-Identifier: BSD-2-Clause */
/* Address rules applied to the interfaces of this host. */
#include "lnet/control/conf_priv.h"
#include "lnet/wire/range.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HITS_MAX 512u /* interfaces that one rule can give */

struct apply {
	const struct lnc_iface *ifs;
	unsigned nifs;
	const struct lnc_schema *s;
	struct lnc_conf *c;
	struct lnc_errs *errs;
	struct lni_ranges *ranges[LNC_RULE_LIST_MAX]; /* of the rule in hand */
	unsigned nranges;
	unsigned net_cap, total;
	char why[LNC_MSG_MAX - 120]; /* why rules did not apply */
};

struct hit {
	const struct lnc_iface *ifc;
	const char *spec; /* "eth0[0]" as written, or NULL */
};

static bool note(struct apply *a, const struct lnc_rule *r, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Why a rule does not apply. Always false. */
static bool note(struct apply *a, const struct lnc_rule *r, const char *fmt, ...)
{
	char msg[160], net[LNET_NIDSTR_MAX];
	size_t at = strlen(a->why);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	lnet_net_str(r->net, net, sizeof(net));
	lnc_errs_at(
	        a->errs, r->pos.line, r->pos.column, 0, "rule for %s does not apply: %s", net, msg);
	snprintf(a->why + at, sizeof(a->why) - at, "; %s: %s", net, msg);
	return false;
}

static bool in_range(const struct lni_ranges *r, const uint8_t *addr, unsigned len)
{
	struct lnet_nid nid = lnet_nid_from_ip(LNET_NET(LNET_LND_TCP, 0), addr, len);

	return lni_range_match_addr(r, &nid);
}

/* A loopback address must be meant: a range that has the neighbours of its first byte too is a
 * choice by chance. */
static bool meant(const struct lni_ranges *r, const struct lnc_iface *i)
{
	uint8_t other[16];

	if (!i->loopback)
		return true;
	memcpy(other, i->addr, sizeof(other));
	other[0] ^= 1;
	return !in_range(r, other, i->len);
}

static bool matches(const struct apply *a, const struct lnc_iface *i)
{
	if (!i->len)
		return false;
	if (!a->nranges)
		return true;
	for (unsigned k = 0; k < a->nranges; k++) {
		if (in_range(a->ranges[k], i->addr, i->len) && meant(a->ranges[k], i))
			return true;
	}
	return false;
}

/* An interface that the rule names. */
static bool named(struct apply *a, const struct lnc_rule *r, const char *spec, struct hit *hit)
{
	char name[16], cpts[LNC_CPT_STR_MAX];
	bool known = false, up = false;

	if (lnc_ifname_parse(spec, name, cpts, sizeof(cpts), NULL))
		return note(a, r, "'%.60s' is no interface", spec);
	for (unsigned i = 0; i < a->nifs; i++) {
		const struct lnc_iface *x = &a->ifs[i];

		if (strcmp(x->name, name) != 0)
			continue;
		known = true;
		up |= x->up;
		if (x->up && matches(a, x)) {
			*hit = (struct hit){x, spec};
			return true;
		}
	}
	if (!known)
		return note(a, r, "interface '%s' does not exist", name);
	if (!up)
		return note(a, r, "interface '%s' is down", name);
	return note(a, r, "no address of interface '%s' matches", name);
}

/* Is an interface of that name among the hits? One NI an interface, however many addresses match.
 */
static bool have(const struct hit *hit, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(hit[i].ifc->name, name) == 0)
			return true;
	}
	return false;
}

/* The interfaces that the rule gives; 0 = it does not apply. */
static unsigned find_hits(struct apply *a, const struct lnc_rule *r, struct hit *hit, unsigned max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->nifs; i++) {
		if (!named(a, r, r->ifs[i], &hit[n]))
			return 0;
		n += !have(hit, n, hit[n].ifc->name);
	}
	if (r->nifs)
		return n;
	for (unsigned i = 0; i < a->nifs && n < max; i++) {
		const struct lnc_iface *x = &a->ifs[i];

		if (!x->up || !matches(a, x) || have(hit, n, x->name))
			continue;
		if (!r->nranges && (x->loopback || x->len != 4))
			continue;
		hit[n++] = (struct hit){x, NULL};
		if (!r->nranges)
			break;
	}
	if (!n && !r->nranges)
		note(a, r, "no IPv4 interface is up");
	return n;
}

static void add_ni(struct apply *a, struct lnc_net *net, unsigned *cap, const struct lnc_rule *r,
        const struct hit *hit)
{
	char name[16], cpts[LNC_CPT_STR_MAX] = "";
	struct lnc_ni *ni = LNC_PUSH(&a->c->mem, net->ni, net->nni, *cap);
	struct lnc_ni from = {
	        .ifname = hit->ifc->name, .cpts = r->cpts, .lnd = r->lnd, .nlnd = r->nlnd};

	if (!ni)
		return;
	if (hit->spec && !lnc_ifname_parse(hit->spec, name, cpts, sizeof(cpts), NULL) && cpts[0])
		from.cpts = cpts;
	from.nid = lnet_nid_from_ip(net->net, hit->ifc->addr, hit->ifc->len);
	from.pos = r->pos;
	memcpy(from.tun, r->tun, sizeof(from.tun));
	lnc_copy_ni(&a->c->mem, ni, &from);
	if (++a->total > LNC_NIS_MAX)
		net->nni--;
}

static void first_match(
        struct apply *a, const struct lnc_rule *r, const struct hit *hit, unsigned n)
{
	struct lnc_net *net;
	unsigned cap = 0;

	if (a->c->nnet == LNC_NETS_MAX)
		return;
	net = LNC_PUSH(&a->c->mem, a->c->net, a->c->nnet, a->net_cap);
	if (!net)
		return;
	net->net = r->net;
	net->pos = r->pos;
	for (unsigned i = 0; i < n && !a->c->mem.failed; i++)
		add_ni(a, net, &cap, r, &hit[i]);
}

/* The net has a rule already: interfaces that this one names and the net lacks are added. */
static void later_match(struct apply *a, struct lnc_net *net, const struct lnc_rule *r,
        const struct hit *hit, unsigned n)
{
	unsigned cap = net->nni, added = 0;
	char name[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < n && !a->c->mem.failed; i++) {
		bool known = !hit[i].spec;

		for (unsigned j = 0; j < net->nni && !known; j++)
			known = strcmp(net->ni[j].ifname, hit[i].ifc->name) == 0;
		if (!known) {
			add_ni(a, net, &cap, r, &hit[i]);
			added++;
		}
	}
	if (added < n)
		lnc_errs_at(a->errs, r->pos.line, r->pos.column, 0,
		        "an earlier rule configured net %s; this one %s",
		        lnet_net_str(r->net, name, sizeof(name)),
		        added ? "is ignored in part" : "is ignored");
}

static void free_ranges(struct apply *a)
{
	while (a->nranges)
		lni_range_free(a->ranges[--a->nranges]);
}

static int apply_rule(struct apply *a, const struct lnc_rule *r)
{
	struct hit hit[HITS_MAX];
	struct lnet_parse_err pe;
	struct lnc_net *net;
	unsigned n;
	int rc;

	for (unsigned i = 0; i < r->nranges; i++) {
		rc = lni_range_parse(
		        r->ranges[i], strlen(r->ranges[i]), LNC_ADDR_RANGE, &a->ranges[i], &pe);
		if (rc) {
			free_ranges(a);
			return lnc_errs_at(a->errs, r->pos.line, r->pos.column, rc,
			        "Invalid range '%.80s': %s", r->ranges[i],
			        rc == -ENOMEM ? "no memory" : pe.msg);
		}
		a->nranges++;
	}
	n = find_hits(a, r, hit, sizeof(hit) / sizeof(hit[0]));
	free_ranges(a);
	net = lnc_net_find(a->c, r->net);
	if (n && net)
		later_match(a, net, r, hit, n);
	else if (n)
		first_match(a, r, hit, n);
	return 0;
}

static int nothing_matched(struct apply *a, const struct lnc_rule *rule, unsigned nrule)
{
	char list[400] = "", addr[INET6_ADDRSTRLEN];
	size_t at = 0;

	for (unsigned i = 0; i < a->nifs && at < sizeof(list); i++) {
		const struct lnc_iface *x = &a->ifs[i];

		if (!x->len || !x->up || x->loopback)
			continue;
		inet_ntop(x->len == 4 ? AF_INET : AF_INET6, x->addr, addr, sizeof(addr));
		at += (size_t)snprintf(
		        list + at, sizeof(list) - at, "%s%s (%s)", at ? ", " : "", addr, x->name);
	}
	return lnc_errs_at(a->errs, nrule ? rule[0].pos.line : 0, nrule ? rule[0].pos.column : 0,
	        -ENOENT, "No ip2nets rules applied: no rule matched%s; local addresses were %s",
	        a->why, at ? list : "none");
}

int lnc_ip2nets_apply(const struct lnc_rule *rule, unsigned nrule, const struct lnc_iface *ifs,
        unsigned nifs, const struct lnc_schema *s, struct lnc_conf **out, struct lnc_errs *errs)
{
	struct apply a = {.ifs = ifs, .nifs = nifs, .s = s, .errs = errs, .c = lnc_conf_new()};
	int rc = 0;

	if (!a.c)
		return lnc_errs_at(errs, 0, 0, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < nrule && !rc && !a.c->mem.failed; i++)
		rc = apply_rule(&a, &rule[i]);
	for (unsigned i = 0; i < a.c->nnet; i++)
		lnc_net_level(&a.c->mem, s, &a.c->net[i]);
	if (!rc && a.c->mem.failed)
		rc = lnc_errs_at(errs, 0, 0, -ENOMEM, "out of memory");
	else if (!rc && a.total > LNC_NIS_MAX)
		rc = lnc_errs_at(errs, 0, 0, -E2BIG, "more than %u local NIs", LNC_NIS_MAX);
	else if (!rc && !a.c->nnet)
		rc = nothing_matched(&a, rule, nrule);
	if (!rc)
		rc = lnc_check(a.c, s, true, errs);
	if (rc)
		lnc_conf_free(a.c);
	else
		*out = a.c;
	return rc;
}
