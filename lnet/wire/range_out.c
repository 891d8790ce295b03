/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of NID ranges: listing their members, printing; lists of networks. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lnet/wire/bytes.h"
#include "lnet/wire/nid_str.h"
#include "lnet/wire/perr.h"
#include "lnet/wire/range_int.h"
#include "lnet/wire/text.h"

/* ---- listing ----------------------------------------------------------------------------- */

struct lister {
	const struct lni_range *r;
	struct lnet_nid nid; /* filled in level by level */
	int level;
	struct lnet_nid *out;
	size_t limit, count;
};

static bool emit_net(void *arg, uint32_t num)
{
	struct lister *l = arg;

	if (l->count == l->limit)
		return false;
	l->nid.num = (uint16_t)num;
	if (l->out)
		l->out[l->count] = l->nid;
	l->count++;
	return true;
}

static bool emit_addr(struct lister *l)
{
	return lni_numset_each(&l->r->nets, emit_net, l);
}

static bool emit_octet(void *arg, uint32_t v)
{
	struct lister *l = arg;
	bool go;

	l->nid.addr[l->level] = (uint8_t)v;
	if (l->level == 3)
		return emit_addr(l);
	l->level++;
	go = lni_numset_each(&l->r->part[l->level], emit_octet, l);
	l->level--;
	return go;
}

static bool emit_group(void *arg, uint32_t v)
{
	struct lister *l = arg;

	put_be16(l->nid.addr + 14, (uint16_t)v);
	return emit_addr(l);
}

static bool emit_num(void *arg, uint32_t v)
{
	struct lister *l = arg;

	put_be32(l->nid.addr, v);
	return emit_addr(l);
}

/* Add one to a number of bytes bytes in network order; false when it wraps. */
static bool increment(uint8_t *addr, unsigned bytes)
{
	while (bytes-- > 0)
		if (++addr[bytes])
			return true;
	return false;
}

static bool emit_cidr(struct lister *l, unsigned bytes)
{
	uint8_t last[16];

	memcpy(last, l->r->addr, sizeof(last));
	for (unsigned i = l->r->prefix; i < 8 * bytes; i++)
		last[i / 8] |= (uint8_t)(0x80u >> i % 8);
	memcpy(l->nid.addr, l->r->addr, bytes);
	do {
		if (!emit_addr(l))
			return false;
		if (memcmp(l->nid.addr, last, bytes) == 0)
			break;
	} while (increment(l->nid.addr, bytes));
	return true;
}

/* true: all of them are listed */
static bool emit_range(struct lister *l)
{
	const struct lni_range *r = l->r;

	l->nid = (struct lnet_nid){.type = r->type};
	switch (r->kind) {
	case LNI_RANGE_ONE:
		l->nid.size = r->prefix;
		memcpy(l->nid.addr, r->addr, sizeof(l->nid.addr));
		return emit_addr(l);
	case LNI_RANGE_CIDR4:
		return emit_cidr(l, 4);
	case LNI_RANGE_CIDR6:
		l->nid.size = 12;
		return emit_cidr(l, 16);
	case LNI_RANGE_IP6:
		l->nid.size = 12;
		memcpy(l->nid.addr, r->addr, sizeof(l->nid.addr));
		return lni_numset_each(&r->part[0], emit_group, l);
	case LNI_RANGE_NUM:
		return lni_numset_each(&r->part[0], emit_num, l);
	default:
		l->level = 0;
		return lni_numset_each(&r->part[0], emit_octet, l);
	}
}

int lni_range_expand(const struct lni_ranges *r, struct lnet_nid *out, size_t limit, size_t *count,
        struct lnet_parse_err *err)
{
	struct lister l = {.out = out, .limit = limit};

	for (size_t i = 0; i < r->n; i++) {
		l.r = &r->v[i];
		if (l.r->kind == LNI_RANGE_EVERY || l.r->kind == LNI_RANGE_ALL)
			return lni_perr(err, 0, "a wildcard cannot be listed NID by NID");
		if (!emit_range(&l)) {
			lni_perr(err, 0, "more than %zu NIDs", limit);
			return -E2BIG;
		}
	}
	*count = l.count;
	return 0;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void print_set(struct lni_out *o, const struct lni_numset *set, bool hex)
{
	size_t room;
	char *at = lni_out_at(o, &room);

	o->len += lni_numset_print(set, hex, at, room);
}

static void print_ip6(struct lni_out *o, const struct lni_range *r)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t addr[16];

	if (r->part[0].n == 1 && r->part[0].first.lo == r->part[0].first.hi) {
		memcpy(addr, r->addr, sizeof(addr));
		put_be16(addr + 14, (uint16_t)r->part[0].first.lo);
		lni_out_add(o, "%s", inet_ntop(AF_INET6, addr, text, sizeof(text)));
		return;
	}
	/* all eight groups: a compressed address may swallow the last one */
	for (int i = 0; i < 7; i++)
		lni_out_add(o, "%x:", get_be16(r->addr + 2 * (size_t)i));
	print_set(o, &r->part[0], true);
}

static void print_addr(struct lni_out *o, const struct lni_range *r)
{
	char text[INET6_ADDRSTRLEN];

	switch (r->kind) {
	case LNI_RANGE_CIDR4:
		inet_ntop(AF_INET, r->addr, text, sizeof(text));
		lni_out_add(o, "%s/%u", text, r->prefix);
		break;
	case LNI_RANGE_CIDR6:
		inet_ntop(AF_INET6, r->addr, text, sizeof(text));
		lni_out_add(o, "%s/%u", text, r->prefix);
		break;
	case LNI_RANGE_IP6:
		print_ip6(o, r);
		break;
	case LNI_RANGE_NUM:
		print_set(o, &r->part[0], false);
		break;
	case LNI_RANGE_IP4:
		for (int i = 0; i < 4; i++) {
			lni_out_add(o, "%s", i ? "." : "");
			print_set(o, &r->part[i], false);
		}
		break;
	default:
		lni_out_add(o, "*");
		break;
	}
}

static bool is_one(const struct lni_numset *set)
{
	return set->n == 1 && set->first.lo == set->first.hi;
}

static void print_net(struct lni_out *o, const struct lni_range *r)
{
	char text[LNET_NIDSTR_MAX];
	uint32_t num = is_one(&r->nets) ? r->nets.first.lo : 0;

	lni_out_add(o, "%s", lnet_net_str(LNET_NET(r->type, num), text, sizeof(text)));
	if (!is_one(&r->nets))
		print_set(o, &r->nets, false);
}

static void print_range(struct lni_out *o, const struct lni_range *r)
{
	char text[LNET_NIDSTR_MAX];
	struct lnet_nid nid = {.type = r->type, .size = r->prefix};

	if (r->kind == LNI_RANGE_EVERY) {
		lni_out_add(o, "*");
		return;
	}
	if (r->kind == LNI_RANGE_ONE) {
		nid.num = (uint16_t)r->nets.first.lo;
		memcpy(nid.addr, r->addr, sizeof(nid.addr));
		lni_out_add(o, "%s", lnet_nid_str(&nid, text, sizeof(text)));
		return;
	}
	if (!r->bare) {
		print_addr(o, r);
		if (r->no_net)
			return;
		lni_out_add(o, "@");
	}
	print_net(o, r);
}

size_t lni_range_print(const struct lni_ranges *r, char sep, char *buf, size_t size)
{
	struct lni_out o = {.buf = buf, .size = size};

	for (size_t i = 0; i < r->n; i++) {
		if (i)
			lni_out_add(&o, "%c", sep);
		print_range(&o, &r->v[i]);
	}
	return o.len;
}

/* ---- lists of networks ------------------------------------------------------------------- */

int lni_netset_parse_at(const char *s, size_t len, size_t *pos, uint8_t *type,
        struct lni_numset *nums, struct lnet_parse_err *err)
{
	static const struct lni_num_rule rule = {.max = 65535, .what = "net number"};
	lnet_net_t net;
	int rc = lni_net_parse_at(s, len, pos, &net, err);

	if (rc)
		return rc;
	*type = (uint8_t)LNET_NET_TYPE(net);
	if (*pos >= len || s[*pos] != '[') {
		lni_numset_init_one(nums, LNET_NET_NUM(net));
		return 0;
	}
	if (*type == LNET_LND_LO)
		return lni_perr(err, *pos, "network lo takes no number");
	/* no name ends in a digit */
	if (is_dec(s[*pos - 1]) || s[*pos - 1] == '>')
		return lni_perr_found(err, s, len, *pos, "the network must end here");
	return lni_numset_parse_at(s, len, pos, &rule, nums, err);
}

struct netlist {
	uint32_t type;
	lnet_net_t *out;
	size_t limit, count;
};

static bool add_net(void *arg, uint32_t num)
{
	struct netlist *l = arg;

	if (l->count == l->limit)
		return false;
	l->out[l->count++] = LNET_NET(l->type, num);
	return true;
}

static int parse_nets(
        const char *s, size_t len, size_t *pos, struct netlist *l, struct lnet_parse_err *err)
{
	struct lni_numset set;
	size_t start = *pos;
	uint8_t type;
	bool all;
	int rc = lni_netset_parse_at(s, len, pos, &type, &set, err);

	if (rc)
		return rc;
	l->type = type;
	all = lni_numset_each(&set, add_net, l);
	lni_numset_fini(&set);
	if (all)
		return 0;
	lni_perr(err, start, "more than %zu networks", l->limit);
	return -E2BIG;
}

int lni_netlist_parse(const char *s, size_t len, lnet_net_t *out, size_t limit, size_t *count,
        struct lnet_parse_err *err)
{
	struct netlist l = {.out = out, .limit = limit};
	bool list = len && s[0] == '[';
	size_t pos = list;
	int rc;

	for (;;) {
		rc = parse_nets(s, len, &pos, &l, err);
		if (rc)
			return rc;
		if (!list || pos >= len || s[pos] != ',')
			break;
		pos++;
	}
	if (list) {
		if (pos >= len || s[pos] != ']')
			return lni_perr_found(err, s, len, pos, "',' or ']' expected");
		pos++;
	}
	if (pos != len)
		return lni_perr_found(err, s, len, pos,
		        "the net number must be decimal and end "
		        "here");
	*count = l.count;
	return 0;
}
