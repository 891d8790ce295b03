/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of NID ranges: parsing, matching, printing. See range.h for the grammar. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/wire/bytes.h"
#include "lnet/wire/nid_str.h"
#include "lnet/wire/perr.h"
#include "lnet/wire/range_int.h"
#include "lnet/wire/text.h"

static const struct lni_num_rule num_rule = {.max = UINT32_MAX, .what = "address"};
static const struct lni_num_rule group_rule = {.max = 0xffff, .what = "group", .hex = true};

static void range_fini(struct lni_range *r)
{
	lni_numset_fini(&r->nets);
	for (int i = 0; i < 4; i++)
		lni_numset_fini(&r->part[i]);
}

void lni_range_free(struct lni_ranges *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		range_fini(&r->v[i]);
	free(r->v);
	free(r);
}

size_t lni_range_items(const struct lni_ranges *r)
{
	return r->n;
}

/* ---- parsing ----------------------------------------------------------------------------- */

/* One range is s[start..end); positions in errors count from s. */
struct piece {
	const char *s;
	size_t start, end;
	unsigned flags;
	struct lnet_parse_err *err;
};

static int found(const struct piece *p, size_t pos, const char *what)
{
	return lni_perr_found(p->err, p->s, p->end, pos, what);
}

static int parse_prefix(const struct piece *p, size_t *pos, size_t end, uint32_t max, uint8_t *out)
{
	uint32_t v;
	int rc;

	++*pos;
	rc = lni_parse_dec(p->s, end, pos, max, "prefix length", &v, p->err);
	*out = (uint8_t)v;
	return rc;
}

/* The bits behind the prefix do not count; they are cleared, so that the text is canonical. */
static void mask_addr(struct lni_range *r, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		unsigned keep = r->prefix > 8 * i ? r->prefix - 8 * i : 0;

		if (keep < 8)
			r->addr[i] &= (uint8_t)(0xff00u >> keep);
	}
}

static int parse_ip4(const struct piece *p, size_t end, struct lni_range *r)
{
	struct lni_num_rule rule = {
	        .max = 255,
	        .what = "part of the IPv4 address",
	        .star = p->flags & LNI_RANGE_STAR,
	};
	size_t pos = p->start;
	int rc;

	if (memchr(p->s + pos, '/', end - pos) && !memchr(p->s + pos, '[', end - pos)) {
		r->kind = LNI_RANGE_CIDR4;
		rc = lni_ip4_parse_at(p->s, end, &pos, r->addr, p->err);
		if (rc)
			return rc;
		if (p->s[pos] != '/')
			return found(p, pos, "'/' expected");
		rc = parse_prefix(p, &pos, end, 32, &r->prefix);
		if (rc == 0 && pos < end)
			rc = found(p, pos, "the prefix length must end the address");
		mask_addr(r, 4);
		return rc;
	}
	r->kind = LNI_RANGE_IP4;
	for (int i = 0; i < 4; i++) {
		if (i && (pos >= end || p->s[pos] != '.'))
			return found(p, pos, "IPv4 address needs four parts with '.' between them");
		pos += i ? 1 : 0;
		rc = lni_numset_parse_at(p->s, end, &pos, &rule, &r->part[i], p->err);
		if (rc)
			return rc;
	}
	return pos == end ? 0 : found(p, pos, "'@' or the end expected");
}

/* "...:[1-a,f]": the bracket stands for the last group */
static int parse_ip6_list(const struct piece *p, size_t bracket, size_t end, struct lni_range *r)
{
	char text[INET6_ADDRSTRLEN];
	size_t n = bracket - p->start, pos = bracket;
	int rc;

	if (n + 2 > sizeof(text) || n == 0 || p->s[bracket - 1] != ':')
		return lni_perr(p->err, bracket,
		        "a list may only be the last group of an IPv6 "
		        "address");
	memcpy(text, p->s + p->start, n);
	text[n] = '0';
	text[n + 1] = '\0';
	if (inet_pton(AF_INET6, text, r->addr) != 1)
		return lni_perr(p->err, p->start, "not an IPv6 address");
	r->kind = LNI_RANGE_IP6;
	rc = lni_numset_parse_at(p->s, end, &pos, &group_rule, &r->part[0], p->err);
	if (rc)
		return rc;
	return pos == end ? 0 : found(p, pos, "'@' or the end expected");
}

static int parse_ip6(const struct piece *p, size_t end, struct lni_range *r)
{
	const char *bracket = memchr(p->s + p->start, '[', end - p->start);
	size_t pos = p->start;
	int rc;

	if (bracket)
		return parse_ip6_list(p, (size_t)(bracket - p->s), end, r);
	rc = lni_ip6_parse_at(p->s, end, &pos, r->addr, p->err);
	if (rc)
		return rc;
	r->kind = LNI_RANGE_IP6;
	lni_numset_init_one(&r->part[0], get_be16(r->addr + 14));
	if (pos < end && p->s[pos] == '/') {
		r->kind = LNI_RANGE_CIDR6;
		rc = parse_prefix(p, &pos, end, 128, &r->prefix);
		if (rc)
			return rc;
		mask_addr(r, 16);
	}
	return pos == end ? 0 : found(p, pos, "'@', '/' or the end expected");
}

/* A set of numbers, or one number that may be hexadecimal as in a NID */
static int parse_num(const struct piece *p, size_t end, struct lni_range *r)
{
	size_t pos = p->start;
	uint32_t v;
	int rc;

	r->kind = LNI_RANGE_NUM;
	if (p->s[pos] == '[') {
		rc = lni_numset_parse_at(p->s, end, &pos, &num_rule, &r->part[0], p->err);
	} else {
		rc = lni_num_parse_at(p->s, end, &pos, &v, p->err);
		if (rc == 0)
			lni_numset_init_one(&r->part[0], v);
	}
	if (rc == 0 && pos < end)
		rc = found(p, pos, "'@' or the end expected");
	return rc;
}

/* Networks whose addresses have no sets: the text is one NID. */
static int parse_one(const struct piece *p, struct lni_range *r)
{
	struct lnet_nid nid;
	int rc = lnet_nid_parse(p->s + p->start, p->end - p->start, &nid, p->err);

	if (rc) {
		if (p->err)
			p->err->pos += p->start;
		return rc;
	}
	r->kind = LNI_RANGE_ONE;
	memcpy(r->addr, nid.addr, sizeof(r->addr));
	r->prefix = nid.size;
	return 0;
}

static int parse_addr(const struct piece *p, size_t end, bool generic, struct lni_range *r)
{
	size_t n = end - p->start;

	if (n == 0)
		return lni_perr(p->err, p->start, "address missing");
	if (n == 1 && p->s[p->start] == '*') {
		if (!(p->flags & LNI_RANGE_STAR))
			return lni_perr(p->err, p->start, "'*' is not allowed here");
		r->kind = LNI_RANGE_ALL;
		return 0;
	}
	if (generic)
		return parse_one(p, r);
	switch (lni_net_addr_kind(r->type)) {
	case LNI_ADDR_IP46:
		if (memchr(p->s + p->start, ':', n))
			return parse_ip6(p, end, r);
		return parse_ip4(p, end, r);
	case LNI_ADDR_IP4:
		return parse_ip4(p, end, r);
	case LNI_ADDR_NUM:
		return parse_num(p, end, r);
	default:
		return parse_one(p, r);
	}
}

static bool is_any_text(const struct piece *p)
{
	size_t n = p->end - p->start;
	const char *s = p->s + p->start;

	return (n == 1 && s[0] == '*') || (n == 3 && memcmp(s, "<?>", 3) == 0);
}

/* A bare network: "tcp", "o2ib[1-3]", "<17:0>"; an IPv6 address has a ':' */
static bool is_net_text(const struct piece *p)
{
	const char *s = p->s + p->start;

	if (!(p->flags & LNI_RANGE_NET))
		return false;
	return s[0] == '<' || (s[0] >= 'a' && s[0] <= 'z' && !memchr(s, ':', p->end - p->start));
}

static int parse_range(const struct piece *p, struct lni_range *r)
{
	const char *at = memchr(p->s + p->start, '@', p->end - p->start);
	size_t addr_end = at ? (size_t)(at - p->s) : p->end, pos = addr_end + 1;
	bool generic = false;
	int rc;

	if (is_any_text(p)) {
		if (!(p->flags & LNI_RANGE_STAR))
			return lni_perr(p->err, p->start, "a wildcard is not allowed here");
		r->kind = LNI_RANGE_EVERY;
		return 0;
	}
	if (at && (p->flags & LNI_RANGE_NO_NET))
		return lni_perr(p->err, addr_end, "an address without '@' expected");
	if (!at && is_net_text(p)) {
		pos = p->start;
		r->kind = LNI_RANGE_ALL;
		r->bare = true;
		rc = lni_netset_parse_at(p->s, p->end, &pos, &r->type, &r->nets, p->err);
		return rc || pos == p->end ? rc : found(p, pos, "'[' or the end expected");
	}
	r->type = LNET_LND_TCP;
	lni_numset_init_one(&r->nets, 0);
	if (at) {
		generic = pos < p->end && p->s[pos] == '<';
		rc = lni_netset_parse_at(p->s, p->end, &pos, &r->type, &r->nets, p->err);
		if (rc)
			return rc;
		if (pos < p->end)
			return found(p, pos, "the net number must be decimal and end the NID");
	}
	return parse_addr(p, addr_end, generic, r);
}

static int add_range(struct lni_ranges *rs, const struct piece *p)
{
	struct lni_range *v;
	int rc;

	if (rs->n == rs->cap) {
		size_t cap = rs->cap ? 2 * rs->cap : 1;

		v = realloc(rs->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		rs->v = v;
		rs->cap = cap;
	}
	v = &rs->v[rs->n];
	*v = (struct lni_range){.kind = LNI_RANGE_EVERY};
	rs->no_net = p->flags & LNI_RANGE_NO_NET;
	v->no_net = rs->no_net;
	rc = parse_range(p, v);
	if (rc) {
		range_fini(v);
		return rc;
	}
	rs->n++;
	return 0;
}

static void skip_blanks(const char *s, size_t len, size_t *pos)
{
	while (*pos < len && is_blank(s[*pos]))
		++*pos;
}

/* A separator outside brackets ends a range. */
static size_t range_end(const char *s, size_t len, size_t pos, unsigned flags)
{
	bool inside = false;

	for (; pos < len; pos++) {
		if (s[pos] == '[')
			inside = true;
		else if (s[pos] == ']')
			inside = false;
		else if (!inside && s[pos] == ',' && (flags & LNI_RANGE_COMMA))
			break;
		else if (!inside && is_blank(s[pos]) && (flags & LNI_RANGE_BLANK))
			break;
	}
	return pos;
}

static int parse_list(const char *s, size_t len, unsigned flags, struct lni_ranges *rs,
        struct lnet_parse_err *err)
{
	struct piece p = {.s = s, .flags = flags, .err = err};
	size_t pos = 0;
	int rc;

	for (;;) {
		if (flags & LNI_RANGE_BLANK)
			skip_blanks(s, len, &pos);
		p.start = pos;
		p.end = range_end(s, len, pos, flags);
		if (p.start == p.end)
			return lni_perr_found(err, s, len, pos, "NID or range expected");
		rc = add_range(rs, &p);
		if (rc)
			return rc;
		pos = p.end;
		if (flags & LNI_RANGE_BLANK)
			skip_blanks(s, len, &pos);
		if (pos == len)
			return 0;
		if (s[pos] == ',' && (flags & LNI_RANGE_COMMA))
			pos++;
	}
}

int lni_range_parse(const char *s, size_t len, unsigned flags, struct lni_ranges **out,
        struct lnet_parse_err *err)
{
	struct lni_ranges *rs = calloc(1, sizeof(*rs));
	int rc;

	if (!rs)
		return -ENOMEM;
	rc = parse_list(s, len, flags, rs, err);
	if (rc) {
		lni_range_free(rs);
		return rc;
	}
	*out = rs;
	return 0;
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool prefix_equal(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return rest == 0 || ((a[bytes] ^ b[bytes]) & (0xff00u >> rest) & 0xffu) == 0;
}

static bool addr_in(const struct lni_range *r, const struct lnet_nid *nid)
{
	switch (r->kind) {
	case LNI_RANGE_EVERY:
	case LNI_RANGE_ALL:
		return true;
	case LNI_RANGE_ONE:
		return nid->size == r->prefix && memcmp(nid->addr, r->addr, 16) == 0;
	case LNI_RANGE_CIDR4:
		return nid->size == 0 && prefix_equal(nid->addr, r->addr, r->prefix);
	case LNI_RANGE_CIDR6:
		return nid->size == 12 && prefix_equal(nid->addr, r->addr, r->prefix);
	case LNI_RANGE_IP6:
		return nid->size == 12 && memcmp(nid->addr, r->addr, 14) == 0 &&
		       lni_numset_has(&r->part[0], get_be16(nid->addr + 14));
	case LNI_RANGE_NUM:
		return nid->size == 0 && lni_numset_has(&r->part[0], get_be32(nid->addr));
	default:
		for (int i = 0; i < 4; i++)
			if (!lni_numset_has(&r->part[i], nid->addr[i]))
				return false;
		return nid->size == 0;
	}
}

bool lni_range_match(const struct lni_ranges *r, const struct lnet_nid *nid)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct lni_range *v = &r->v[i];

		if (v->kind == LNI_RANGE_EVERY)
			return true;
		if (!lnet_nid_is_any(nid) && nid->type == v->type &&
		        lni_numset_has(&v->nets, nid->num) && addr_in(v, nid))
			return true;
	}
	return false;
}

bool lni_range_match_addr(const struct lni_ranges *r, const struct lnet_nid *nid)
{
	for (size_t i = 0; i < r->n; i++)
		if (addr_in(&r->v[i], nid))
			return true;
	return false;
}
