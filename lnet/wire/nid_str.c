/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text forms of networks and NIDs (spec: wire-lnet.md section 2.5).
 *
 * A value that its network has no text for (unknown type, 16-byte address where there is no such
 * form, lo other than 0@lo) is printed as HEX@<TYPE:NUMBER>, 8 digits at most for a 4-byte address
 * and 32 digits for a 16-byte one. That form is parsed too, but only for such values, so that every
 * NID has exactly one canonical text.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include <lnet/nid.h>
#include "lnet/wire/bytes.h"
#include "lnet/wire/nid_str.h"
#include "lnet/wire/perr.h"
#include "lnet/wire/text.h"

#define ANY_TEXT "<?>"

static const struct net_name {
	uint8_t type;
	char name[6];
} net_names[] = {
        {LNET_LND_LO, "lo"},
        {LNET_LND_TCP, "tcp"},
        {LNET_LND_O2IB, "o2ib"},
        {LNET_LND_GNI, "gni"},
        {LNET_LND_GIP, "gip"},
        {LNET_LND_PTLF, "ptlf"},
        {LNET_LND_KFI, "kfi"},
        {LNET_LND_EFA, "efa"},
        {LNET_LND_BXI3F, "bxi3f"},
        {LNET_LND_OFI, "ofi"},
};

#define N_NAMES (sizeof(net_names) / sizeof(net_names[0]))

static const char *name_of(uint32_t type)
{
	for (size_t i = 0; i < N_NAMES; i++)
		if (net_names[i].type == type)
			return net_names[i].name;
	return NULL;
}

static bool is_text(const char *s, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(s, text, len) == 0;
}

/* ---- printing ---------------------------------------------------------------------------- */

char *lnet_net_str(lnet_net_t net, char *buf, size_t size)
{
	uint32_t num = LNET_NET_NUM(net);
	const char *name = name_of(net >> 16);

	if (net == LNET_NET_ANY)
		snprintf(buf, size, ANY_TEXT);
	else if (!name || (net >> 16 == LNET_LND_LO && num))
		snprintf(buf, size, "<%u:%u>", net >> 16, num);
	else if (num)
		snprintf(buf, size, "%s%u", name, num);
	else
		snprintf(buf, size, "%s", name);
	return buf;
}

/* Has the address of this NID a text of its network's kind? */
static bool has_text(const struct lnet_nid *nid)
{
	if (nid->type == LNET_LND_LO)
		return lnet_nid_is_lo(nid);
	if (!name_of(nid->type))
		return false;
	return nid->size == 0 || lni_net_addr_kind(nid->type) == LNI_ADDR_IP46;
}

static void print_hex(const struct lnet_nid *nid, char *buf, size_t size)
{
	if (nid->size == 0) {
		snprintf(buf, size, "%x", get_be32(nid->addr));
		return;
	}
	for (size_t i = 0; i < sizeof(nid->addr) && 2 * i + 2 < size; i++)
		snprintf(buf + 2 * i, size - 2 * i, "%02x", nid->addr[i]);
}

char *lnet_nid_str(const struct lnet_nid *nid, char *buf, size_t size)
{
	char addr[INET6_ADDRSTRLEN], net[LNET_NIDSTR_MAX - INET6_ADDRSTRLEN];

	if (lnet_nid_is_any(nid)) {
		snprintf(buf, size, ANY_TEXT);
		return buf;
	}
	if (!has_text(nid)) {
		print_hex(nid, addr, sizeof(addr));
		snprintf(buf, size, "%s@<%u:%u>", addr, nid->type, nid->num);
		return buf;
	}
	if (!lnet_net_is_ip(lnet_nid_net(nid)))
		snprintf(addr, sizeof(addr), "%u", get_be32(nid->addr));
	else
		inet_ntop(nid->size ? AF_INET6 : AF_INET, nid->addr, addr, sizeof(addr));
	lnet_net_str(lnet_nid_net(nid), net, sizeof(net));
	snprintf(buf, size, "%s@%s", addr, net);
	return buf;
}

enum lni_addr_kind lni_net_addr_kind(uint32_t type)
{
	switch (type) {
	case LNET_LND_TCP:
	case LNET_LND_O2IB:
	case LNET_LND_EFA:
	case LNET_LND_OFI:
		return LNI_ADDR_IP46;
	case LNET_LND_GIP:
		return LNI_ADDR_IP4;
	case LNET_LND_LO:
		return LNI_ADDR_ZERO;
	default:
		return name_of(type) ? LNI_ADDR_NUM : LNI_ADDR_HEX;
	}
}

/* ---- parsing ----------------------------------------------------------------------------- */

/* "<TYPE:NUMBER>" at s[*pos] */
static int parse_generic_net(
        const char *s, size_t len, size_t *pos, lnet_net_t *out, struct lnet_parse_err *err)
{
	size_t p = *pos + 1;
	uint32_t type, num;
	int rc = lni_parse_dec(s, len, &p, 254, "net type", &type, err);

	if (rc)
		return rc;
	if (p >= len || s[p] != ':')
		return lni_perr_found(err, s, len, p, "':' expected");
	p++;
	rc = lni_parse_dec(s, len, &p, 65535, "net number", &num, err);
	if (rc)
		return rc;
	if (p >= len || s[p] != '>')
		return lni_perr_found(err, s, len, p, "'>' expected");
	*out = LNET_NET(type, num);
	*pos = p + 1;
	return 0;
}

/* The name whose text starts at s; names are no prefixes of one another. */
static const struct net_name *find_name(const char *s, size_t len)
{
	for (size_t i = 0; i < N_NAMES; i++) {
		size_t n = strlen(net_names[i].name);

		if (len >= n && memcmp(s, net_names[i].name, n) == 0)
			return &net_names[i];
	}
	return NULL;
}

int lni_net_parse_at(
        const char *s, size_t len, size_t *pos, lnet_net_t *out, struct lnet_parse_err *err)
{
	const struct net_name *n;
	size_t p = *pos;
	uint32_t num = 0;
	int rc;

	if (p < len && s[p] == '<')
		return parse_generic_net(s, len, pos, out, err);
	n = find_name(s + p, len - p);
	if (!n)
		return lni_perr(err, p,
		        "unknown network: use one of lo, tcp, o2ib, gni, gip, "
		        "ptlf, kfi, efa, bxi3f, ofi");
	p += strlen(n->name);
	if (p < len && is_dec(s[p])) {
		if (n->type == LNET_LND_LO)
			return lni_perr(err, p, "network lo takes no number");
		rc = lni_parse_dec(s, len, &p, 65535, "net number", &num, err);
		if (rc)
			return rc;
	}
	*out = LNET_NET(n->type, num);
	*pos = p;
	return 0;
}

int lnet_net_parse(const char *s, size_t len, lnet_net_t *out, struct lnet_parse_err *err)
{
	size_t pos = 0;
	lnet_net_t net = LNET_NET_ANY;
	int rc;

	if (!is_text(s, len, ANY_TEXT)) {
		rc = lni_net_parse_at(s, len, &pos, &net, err);
		if (rc)
			return rc;
		if (pos != len)
			return lni_perr_found(err, s, len, pos, "net number must be decimal");
		if (s[0] == '<' && name_of(LNET_NET_TYPE(net)) &&
		        !(LNET_NET_TYPE(net) == LNET_LND_LO && LNET_NET_NUM(net)))
			return lni_perr(err, 0, "this network has a name: write %s",
			        name_of(LNET_NET_TYPE(net)));
	}
	*out = net;
	return 0;
}

int lni_ip4_parse_at(
        const char *s, size_t len, size_t *pos, uint8_t addr[4], struct lnet_parse_err *err)
{
	size_t p = *pos;

	for (int i = 0; i < 4; i++) {
		uint32_t v;
		int rc;

		if (i && (p >= len || s[p] != '.'))
			return lni_perr_found(err, s, len, p,
			        "IPv4 address needs four numbers with '.' between them");
		p += i ? 1 : 0;
		rc = lni_parse_dec(s, len, &p, 255, "part of the IPv4 address", &v, err);
		if (rc)
			return rc;
		addr[i] = (uint8_t)v;
	}
	*pos = p;
	return 0;
}

static bool is_ip6_byte(char c)
{
	return is_dec(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' ||
	       c == '.';
}

int lni_ip6_parse_at(
        const char *s, size_t len, size_t *pos, uint8_t addr[16], struct lnet_parse_err *err)
{
	char text[INET6_ADDRSTRLEN];
	size_t n = 0;

	while (*pos + n < len && is_ip6_byte(s[*pos + n]))
		n++;
	if (n < sizeof(text)) {
		memcpy(text, s + *pos, n);
		text[n] = '\0';
	}
	if (n >= sizeof(text) || inet_pton(AF_INET6, text, addr) != 1)
		return lni_perr(err, *pos, "not an IPv6 address");
	*pos += n;
	return 0;
}

/* 1 to 8 digits without a leading zero: 4-byte address; exactly 32: 16-byte address. */
static int parse_hex_addr(
        const char *s, size_t len, struct lnet_nid *nid, struct lnet_parse_err *err)
{
	uint32_t v = 0;

	for (size_t i = 0; i < len; i++)
		if (lni_hex_value(s[i]) < 0)
			return lni_perr_found(err, s, len, i, "address must be hexadecimal");
	if (len == 32) {
		nid->size = 12;
		for (size_t i = 0; i < 16; i++)
			nid->addr[i] = (uint8_t)(lni_hex_value(s[2 * i]) << 4 |
			                         lni_hex_value(s[2 * i + 1]));
		return 0;
	}
	if (len == 0 || len > 8)
		return lni_perr(err, 0, "address must have 1 to 8 or 32 hexadecimal digits");
	if (len > 1 && s[0] == '0')
		return lni_perr(err, 0, "address has a leading zero");
	for (size_t i = 0; i < len; i++)
		v = v << 4 | (uint32_t)lni_hex_value(s[i]);
	put_be32(nid->addr, v);
	return 0;
}

int lni_num_parse_at(
        const char *s, size_t len, size_t *pos, uint32_t *out, struct lnet_parse_err *err)
{
	size_t p = *pos, start = p + 2;
	uint32_t v = 0;

	if (len - p < 2 || s[p] != '0' || (s[p + 1] != 'x' && s[p + 1] != 'X'))
		return lni_parse_dec(s, len, pos, UINT32_MAX, "address", out, err);
	for (p = start; p < len && lni_hex_value(s[p]) >= 0; p++) {
		if (p - start >= 8)
			return lni_perr(err, *pos, "address is above 0xffffffff");
		v = v << 4 | (uint32_t)lni_hex_value(s[p]);
	}
	if (p == start)
		return lni_perr_found(err, s, len, p, "hexadecimal digits expected");
	*out = v;
	*pos = p;
	return 0;
}

int lni_addr_parse(const char *s, size_t len, struct lnet_nid *nid, struct lnet_parse_err *err)
{
	enum lni_addr_kind kind = lni_net_addr_kind(nid->type);
	size_t pos = 0;
	uint32_t v;
	int rc;

	switch (kind) {
	case LNI_ADDR_HEX:
		return parse_hex_addr(s, len, nid, err);
	case LNI_ADDR_IP46:
		if (memchr(s, ':', len)) {
			nid->size = 12;
			rc = lni_ip6_parse_at(s, len, &pos, nid->addr, err);
			break;
		}
		/* fallthrough */
	case LNI_ADDR_IP4:
		rc = lni_ip4_parse_at(s, len, &pos, nid->addr, err);
		break;
	case LNI_ADDR_ZERO:
		rc = lni_parse_dec(s, len, &pos, 0, "address on network lo", &v, err);
		break;
	default:
		rc = lni_num_parse_at(s, len, &pos, &v, err);
		if (rc == 0)
			put_be32(nid->addr, v);
		break;
	}
	if (rc)
		return rc;
	return pos == len ? 0 : lni_perr_found(err, s, len, pos, "'@' or the end expected");
}

/* The network behind the '@' at s[at]; type and num of nid are set. */
static int parse_nid_net(const char *s, size_t len, size_t at, struct lnet_nid *nid, bool *generic,
        struct lnet_parse_err *err)
{
	lnet_net_t net = LNET_NET(LNET_LND_TCP, 0);
	size_t pos = at + 1;
	int rc;

	*generic = false;
	if (at < len) {
		*generic = pos < len && s[pos] == '<';
		rc = lni_net_parse_at(s, len, &pos, &net, err);
		if (rc)
			return rc;
		if (pos != len)
			return lni_perr_found(
			        err, s, len, pos, "the net number must be decimal and end the NID");
	}
	nid->type = (uint8_t)LNET_NET_TYPE(net);
	nid->num = (uint16_t)LNET_NET_NUM(net);
	return 0;
}

int lnet_nid_parse(const char *s, size_t len, struct lnet_nid *out, struct lnet_parse_err *err)
{
	struct lnet_nid nid = {.size = 0};
	const char *at = memchr(s, '@', len);
	size_t addr_len = at ? (size_t)(at - s) : len;
	bool generic;
	int rc;

	if (is_text(s, len, ANY_TEXT)) {
		*out = lnet_nid_any();
		return 0;
	}
	if (addr_len == 0)
		return lni_perr(err, 0, "address missing");
	rc = parse_nid_net(s, len, addr_len, &nid, &generic, err);
	if (rc)
		return rc;
	rc = generic ? parse_hex_addr(s, addr_len, &nid, err)
	             : lni_addr_parse(s, addr_len, &nid, err);
	if (rc)
		return rc;
	if (generic && has_text(&nid))
		return lni_perr(err, addr_len + 1, "this network has a name: use it");
	*out = nid;
	return 0;
}
