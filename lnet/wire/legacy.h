/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration strings of kernel LNet's module parameters: networks=, ip2nets= and routes=.
 * They are parsed into plain values; nothing is configured here.
 *
 * Each parser returns 0, -EINVAL with *err filled in (may be NULL), -E2BIG above a limit (*err
 * names it), or -ENOMEM. On success the caller frees the result; on error there is none. Notices
 * tell what was accepted but is probably not what the author meant.
 */
#ifndef LNI_WIRE_LEGACY_H
#define LNI_WIRE_LEGACY_H

#include "lnet/wire/cptlist.h"
#include "lnet/wire/range.h"

#define LNI_LEGACY_MAX_NETWORKS 4096u /* bytes of a networks= string */
#define LNI_LEGACY_MAX_ROUTES   4096u /* routes that one string may make */
#define LNI_LEGACY_MAX_NOTICES  64u   /* later ones are dropped */

struct lni_notices {
	size_t n;
	struct lnet_parse_err *v;
};

/* ---- networks ---------------------------------------------------------------------------- */

/*
 *   networks := net {',' net}
 *   net      := type[num] ['(' if {',' if} ')'] [cpts]
 *   if       := name [cpts]
 */
struct lni_legacy_net {
	lnet_net_t net;
	size_t pos;
	size_t n_ifs; /* at least 1 */
	/* One NI each. An empty name is the first interface found; cpts are the interface's own,
	 * else those of the net. */
	struct lni_ifspec *ifs;
};

struct lni_legacy_nets {
	size_t n;
	struct lni_legacy_net *v;
	struct lni_notices notices;
};

/* Several mentions of a net are one net. An empty string is no net. lo is left out, with a notice.
 */
int lni_legacy_nets_parse(
        const char *s, size_t len, struct lni_legacy_nets *out, struct lnet_parse_err *err);
void lni_legacy_nets_free(struct lni_legacy_nets *nets);

/* ---- ip2nets ----------------------------------------------------------------------------- */

/*
 *   ip2nets := rule {(';' | newline) rule}      '#' begins a comment up to the end of the line
 *   rule    := net {',' net} pattern {pattern}
 *
 * A pattern is an address range without network (LNI_RANGE_NO_NET): 10.9.[0-3].*, a prefix, IPv6.
 */
struct lni_legacy_rule {
	size_t pos;
	struct lni_legacy_nets nets; /* its notices are empty */
	struct lni_ranges *patterns; /* for lni_range_match_addr() */
};

struct lni_legacy_rules {
	size_t n;
	struct lni_legacy_rule *v;
	struct lni_notices notices;
};

int lni_legacy_rules_parse(
        const char *s, size_t len, struct lni_legacy_rules *out, struct lnet_parse_err *err);
void lni_legacy_rules_free(struct lni_legacy_rules *rules);

/* ---- routes ------------------------------------------------------------------------------ */

/*
 *   routes  := route {(';' | newline) route}    comments as above
 *   route   := nets [hops] gateway {gateway}
 *   nets    := net with bracket list, "tcp[1,3-5/2]", or a list in brackets, "[tcp1,tcp2]"
 *   gateway := NID with bracket lists, "@net" included, [':' priority]
 */
struct lni_legacy_route {
	lnet_net_t net;
	struct lnet_nid gateway;
	uint32_t hops; /* 1 to 255; 0: not given */
	uint32_t priority;
	size_t pos; /* of the gateway */
};

/* One route for each network and gateway; a repeated one is left out, with a notice. */
struct lni_legacy_routes {
	size_t n;
	struct lni_legacy_route *v;
	struct lni_notices notices;
};

int lni_legacy_routes_parse(
        const char *s, size_t len, struct lni_legacy_routes *out, struct lnet_parse_err *err);
void lni_legacy_routes_free(struct lni_legacy_routes *routes);

#endif
