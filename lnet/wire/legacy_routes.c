/* SPDX-License-Identifier: BSD-2-Clause */
/* routes=. See legacy.h for the grammar. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/wire/legacy_int.h"
#include "lnet/wire/perr.h"

#define MAX_NETS 1024u /* of one route */

void lni_legacy_routes_free(struct lni_legacy_routes *routes)
{
	free(routes->v);
	lni_notices_free(&routes->notices);
	*routes = (struct lni_legacy_routes){.n = 0};
}

/* One route while it is read */
struct line {
	const char *s;
	size_t pos, end;
	lnet_net_t nets[MAX_NETS];
	size_t n_nets;
	uint32_t hops;
	uint32_t priority; /* of the gateway before */
	bool told;         /* that priorities differ */
	unsigned gateways;
	struct lni_legacy_routes *routes;
	struct lnet_parse_err *err;
};

static size_t word_end(const struct line *l, size_t pos)
{
	while (pos < l->end && !is_blank(l->s[pos]))
		pos++;
	return pos;
}

static bool is_number(const struct line *l, size_t pos, size_t end)
{
	while (pos < end && is_dec(l->s[pos]))
		pos++;
	return pos == end;
}

static bool is_known(const struct lni_legacy_routes *rs, const struct lni_legacy_route *r)
{
	for (size_t i = 0; i < rs->n; i++)
		if (rs->v[i].net == r->net && lnet_nid_eq(&rs->v[i].gateway, &r->gateway))
			return true;
	return false;
}

static int add_route(struct line *l, const struct lni_legacy_route *r)
{
	char net[LNET_NIDSTR_MAX], gateway[LNET_NIDSTR_MAX];
	struct lni_legacy_routes *rs = l->routes;
	struct lni_legacy_route *v;

	lnet_net_str(r->net, net, sizeof(net));
	lnet_nid_str(&r->gateway, gateway, sizeof(gateway));
	if (lnet_nid_net(&r->gateway) == r->net)
		return lni_perr(l->err, r->pos, "gateway %s is on the network %s that it leads to",
		        gateway, net);
	if (r->gateway.type == LNET_LND_LO)
		return lni_perr(l->err, r->pos, "a gateway cannot be on network lo");
	if (is_known(rs, r))
		return lni_notice_add(&rs->notices, r->pos,
		        "network %s through %s comes again: ignored", net, gateway);
	if (rs->n == LNI_LEGACY_MAX_ROUTES) {
		lni_perr(l->err, r->pos, "more than %u routes", LNI_LEGACY_MAX_ROUTES);
		return -E2BIG;
	}
	v = realloc(rs->v, (rs->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	rs->v = v;
	v[rs->n++] = *r;
	return 0;
}

/* Every network of the line through every NID of the range */
static int add_routes(struct line *l, const struct lni_ranges *range, size_t pos, uint32_t priority)
{
	struct lni_legacy_route r = {.hops = l->hops, .priority = priority, .pos = pos};
	struct lnet_nid *nids;
	size_t n;
	int rc = lni_range_expand(range, NULL, LNI_LEGACY_MAX_ROUTES, &n, l->err);

	if (rc) {
		if (l->err)
			l->err->pos = pos;
		return rc;
	}
	nids = calloc(n, sizeof(*nids));
	if (!nids)
		return -ENOMEM;
	rc = lni_range_expand(range, nids, n, &n, l->err);
	for (size_t i = 0; i < l->n_nets && rc == 0; i++) {
		for (size_t j = 0; j < n && rc == 0; j++) {
			r.net = l->nets[i];
			r.gateway = nids[j];
			rc = add_route(l, &r);
		}
	}
	free(nids);
	return rc;
}

/* ":N" behind a gateway, *end being the end of the word: moves *end to the ':' */
static int parse_priority(struct line *l, const char *sign, size_t *end, uint32_t *priority)
{
	const char *colon = memchr(sign, ':', (size_t)(l->s + *end - sign));
	size_t pos;
	int rc;

	*priority = 0;
	/* "<TYPE:NUMBER>" has a ':' of its own */
	if (colon && sign[1] == '<') {
		const char *close = memchr(sign, '>', (size_t)(l->s + *end - sign));

		colon = close ? memchr(close, ':', (size_t)(l->s + *end - close)) : NULL;
	}
	if (!colon)
		return 0;
	pos = (size_t)(colon - l->s) + 1;
	rc = lni_parse_dec(l->s, *end, &pos, INT32_MAX, "priority", priority, l->err);
	if (rc == 0 && pos < *end)
		rc = lni_perr_found(l->err, l->s, *end, pos, "the priority must end here");
	*end = (size_t)(colon - l->s);
	return rc;
}

static int note_priority(struct line *l, size_t pos, uint32_t priority)
{
	uint32_t before = l->priority;

	l->priority = priority;
	if (l->gateways++ == 0 || before == priority || l->told)
		return 0;
	l->told = true;
	return lni_notice_add(&l->routes->notices, pos,
	        "gateways of one route with different priorities: each keeps its own");
}

static int parse_gateway(struct line *l)
{
	size_t start = l->pos, end = word_end(l, start);
	const char *sign = memchr(l->s + start, '@', end - start);
	struct lni_ranges *range;
	uint32_t priority;
	int rc;

	l->pos = end;
	if (!sign)
		return lni_perr(l->err, start,
		        is_number(l, start, end) ? "hop count must stand before the gateways"
		                                 : "gateway must be address@network");
	rc = parse_priority(l, sign, &end, &priority);
	if (rc)
		return rc;
	rc = lni_range_parse(l->s + start, end - start, 0, &range, l->err);
	if (rc) {
		if (rc == -EINVAL && l->err)
			l->err->pos += start;
		return rc;
	}
	rc = note_priority(l, start, priority);
	if (rc == 0)
		rc = add_routes(l, range, start, priority);
	lni_range_free(range);
	return rc;
}

static int parse_nets(struct line *l)
{
	size_t start = l->pos, end = word_end(l, start);
	int rc =
	        lni_netlist_parse(l->s + start, end - start, l->nets, MAX_NETS, &l->n_nets, l->err);

	l->pos = end;
	if (rc) {
		if (l->err)
			l->err->pos += start;
		return rc;
	}
	for (size_t i = 0; i < l->n_nets; i++)
		if (LNET_NET_TYPE(l->nets[i]) == LNET_LND_LO)
			return lni_perr(l->err, start, "there is no route to network lo");
	return 0;
}

static int parse_hops(struct line *l)
{
	size_t pos = l->pos, end = word_end(l, pos);
	int rc;

	l->hops = 0;
	if (pos == end || !is_number(l, pos, end))
		return 0;
	rc = lni_parse_dec(l->s, end, &pos, 255, "hop count", &l->hops, l->err);
	if (rc == 0 && l->hops == 0)
		return lni_perr(l->err, l->pos, "hop count is 0: 1 to 255, or none");
	l->pos = end;
	return rc;
}

static int parse_line(struct line *l)
{
	int rc = parse_nets(l);

	if (rc)
		return rc;
	lni_skip_blanks(l->s, l->end, &l->pos);
	rc = parse_hops(l);
	if (rc)
		return rc;
	lni_skip_blanks(l->s, l->end, &l->pos);
	if (l->pos == l->end)
		return lni_perr_found(l->err, l->s, l->end, l->end, "gateway expected");
	while (l->pos < l->end && rc == 0) {
		rc = parse_gateway(l);
		lni_skip_blanks(l->s, l->end, &l->pos);
	}
	return rc;
}

int lni_legacy_routes_parse(
        const char *s, size_t len, struct lni_legacy_routes *out, struct lnet_parse_err *err)
{
	struct lni_legacy_routes routes = {.n = 0};
	struct line l = {.s = s, .routes = &routes, .err = err};
	size_t pos = 0;
	int rc;

	while ((rc = lni_statement_next(s, len, &pos, &l.pos, &l.end, &routes.notices)) > 0) {
		l.gateways = 0;
		l.told = false;
		rc = parse_line(&l);
		if (rc)
			break;
	}
	if (rc) {
		lni_legacy_routes_free(&routes);
		return rc;
	}
	*out = routes;
	return 0;
}
