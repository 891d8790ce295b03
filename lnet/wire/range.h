/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of NID ranges: the one grammar behind every place where several NIDs, addresses or networks
 * can be written at once.
 *
 *   list    := range { separator range }
 *   range   := address '@' net | net (LNI_RANGE_NET) | address (LNI_RANGE_NO_NET) | '*' | '<?>'
 *   address := '*' | set '.' set '.' set '.' set | IPv4 '/' 0..32 | IPv6 | IPv6 '/' 0..128
 *            | IPv6 with a bracket list of hexadecimal numbers as its last group | set
 *   net     := name [ set ] | '<' type ':' number '>'
 *
 * set is that of numset.h; which address a network takes depends on its type. Without '@' the
 * network is tcp, as in a NID. '*' and '<?>' need LNI_RANGE_STAR.
 */
#ifndef LNI_WIRE_RANGE_H
#define LNI_WIRE_RANGE_H

#include <lnet/nid.h>

enum lni_range_flags {
	LNI_RANGE_COMMA = 1,  /* ',' separates */
	LNI_RANGE_BLANK = 2,  /* blanks and tabs separate, or stand around a ',' */
	LNI_RANGE_STAR = 4,   /* '*' as octet, address or whole, '<?>' */
	LNI_RANGE_NET = 8,    /* a bare network name: all its NIDs */
	LNI_RANGE_NO_NET = 16 /* IP addresses without '@net': for lni_range_match_addr() */
};

struct lni_ranges;

/*
 * Without a separator flag exactly one range is expected. 0, -EINVAL with *err filled in (may be
 * NULL), or -ENOMEM. *out is the caller's, to be freed.
 */
int lni_range_parse(const char *s, size_t len, unsigned flags, struct lni_ranges **out,
        struct lnet_parse_err *err);
void lni_range_free(struct lni_ranges *r); /* NULL is fine */

size_t lni_range_items(const struct lni_ranges *r); /* ranges in the list */
bool lni_range_match(const struct lni_ranges *r, const struct lnet_nid *nid);
/* Compares addresses alone, whatever the networks. */
bool lni_range_match_addr(const struct lni_ranges *r, const struct lnet_nid *nid);

/*
 * All NIDs of the list, in the order written; a number that one bracket list names twice counts
 * once. out may be NULL to count. *count is set on success alone. -E2BIG: more than limit; -EINVAL:
 * '*' cannot be listed. Both fill in *err: its position is 0, the message names the limit.
 */
int lni_range_expand(const struct lni_ranges *r, struct lnet_nid *out, size_t limit, size_t *count,
        struct lnet_parse_err *err);

/*
 * Canonical text, as snprintf(): returns its length. sep stands between two ranges. With the flags
 * that the list was parsed with it parses to an equal list.
 */
size_t lni_range_print(const struct lni_ranges *r, char sep, char *buf, size_t size);

/*
 * Networks: name [ set ] or '[' name {',' name} ']', as "tcp[1,3-5]" or "[tcp1,o2ib]". Fills out[]
 * and *count. 0; -EINVAL, and -E2BIG above limit, with *err filled in.
 */
int lni_netlist_parse(const char *s, size_t len, lnet_net_t *out, size_t limit, size_t *count,
        struct lnet_parse_err *err);

#endif
