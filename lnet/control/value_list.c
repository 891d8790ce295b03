/* SPDX-License-Identifier: BSD-2-Clause */
/* Values with a grammar of their own: CPT lists, address blocks, interface names. */
#include "lnet/control/value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- CPT lists ------------------------------------------------------------------------------ */

struct scan {
	const char *s;
	size_t len, pos;
};

static bool eat(struct scan *c, char ch)
{
	if (c->pos == c->len || c->s[c->pos] != ch)
		return false;
	c->pos++;
	return true;
}

/* 0, -EINVAL no number there, -ERANGE above LNC_CPT_MAX. */
static int number(struct scan *c, unsigned *out)
{
	size_t start = c->pos;
	unsigned v = 0;

	for (; c->pos < c->len && c->s[c->pos] >= '0' && c->s[c->pos] <= '9'; c->pos++) {
		v = v * 10 + (unsigned)(c->s[c->pos] - '0');
		if (v > LNC_CPT_MAX)
			return -ERANGE;
	}
	if (c->pos == start || (c->s[start] == '0' && c->pos - start > 1))
		return -EINVAL;
	*out = v;
	return 0;
}

static const char *cpt_item(struct scan *c, struct lnc_cpts *set, int *rc)
{
	unsigned lo, hi, step = 1;

	*rc = number(c, &lo);
	hi = lo;
	if (!*rc && eat(c, '-')) {
		*rc = number(c, &hi);
		if (!*rc && eat(c, '/'))
			*rc = number(c, &step);
	}
	if (*rc == -ERANGE)
		return "a number above the highest CPT";
	if (*rc)
		return "a number is expected";
	*rc = -EINVAL;
	if (hi < lo)
		return "a reversed range";
	if (!step)
		return "a stride of 0";
	*rc = 0;
	for (; lo <= hi; lo += step)
		set->bit[lo / 64] |= UINT64_C(1) << (lo % 64);
	return NULL;
}

static bool has(const struct lnc_cpts *c, unsigned i)
{
	return i <= LNC_CPT_MAX && (c->bit[i / 64] >> (i % 64) & 1);
}

/* "[0,1,4-6]": runs of three and more as ranges. */
static int cpts_str(const struct lnc_cpts *c, char *out, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i <= LNC_CPT_MAX; i++) {
		unsigned last = i;
		int w;

		if (!has(c, i))
			continue;
		while (has(c, last + 1))
			last++;
		if (last - i >= 2)
			w = snprintf(out + at, size - at, "%c%u-%u", at ? ',' : '[', i, last);
		else
			w = snprintf(out + at, size - at, "%c%u", at ? ',' : '[', last = i);
		if (w < 0 || (size_t)w >= size - at)
			return -E2BIG;
		at += (size_t)w;
		i = last;
	}
	if (size - at < 2)
		return -E2BIG;
	memcpy(out + at, "]", 2);
	return 0;
}

int lnc_cpts_parse(const char *text, size_t len, struct lnc_cpts *cpts, char *out, size_t size,
        struct lnc_err *err)
{
	struct scan c = {text, len, 0};
	bool bracket = eat(&c, '[');
	struct lnc_cpts set = {{0}};
	const char *why = NULL;
	int rc = 0;

	do {
		why = cpt_item(&c, &set, &rc);
	} while (!why && eat(&c, ','));
	if (!why && ((bracket && !eat(&c, ']')) || c.pos != len)) {
		why = bracket ? "',' or ']' is expected" : "',' is expected";
		rc = -EINVAL;
	}
	if (why)
		return lnc_err_set(err, rc,
		        "Unable to parse CPT '%.*s': %s at character %zu (CPTs are 0..%u)",
		        len > 60 ? 60 : (int)len, text, why, c.pos + 1, LNC_CPT_MAX);
	if (size && cpts_str(&set, out, size))
		return lnc_err_set(err, -E2BIG, "CPT list longer than %zu characters", size - 1);
	if (cpts)
		*cpts = set;
	return 0;
}

/* ---- address blocks ------------------------------------------------------------------------- */

static bool bits_behind(const uint8_t *addr, unsigned len, unsigned prefix)
{
	for (unsigned i = prefix; i < len * 8; i++) {
		if (addr[i / 8] & (0x80u >> (i % 8)))
			return true;
	}
	return false;
}

int lnc_cidr_parse(const char *text, struct lnet_cidr *out, struct lnc_err *err)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	struct lnet_cidr c = {{0}, 0, 0};
	char addr[INET6_ADDRSTRLEN];
	int64_t prefix;
	int rc;

	if (n < sizeof(addr)) {
		memcpy(addr, text, n);
		addr[n] = '\0';
		if (inet_pton(AF_INET, addr, c.addr) == 1)
			c.len = 4;
		else if (inet_pton(AF_INET6, addr, c.addr) == 1)
			c.len = 16;
	}
	if (!c.len)
		return lnc_err_set(err, -EINVAL,
		        "invalid address block '%.60s': expected ADDRESS or ADDRESS/PREFIX", text);
	prefix = c.len * 8;
	if (slash) {
		rc = lnc_int_check("prefix", "", 0, c.len * 8, slash + 1, &prefix, err);
		if (rc)
			return rc;
	}
	if (bits_behind(c.addr, c.len, (unsigned)prefix))
		return lnc_err_set(err, -EINVAL,
		        "invalid address block '%.60s': bits are set behind the prefix", text);
	c.prefix = (uint8_t)prefix;
	*out = c;
	return 0;
}

char *lnc_cidr_str(const struct lnet_cidr *c, char *buf, size_t size)
{
	char addr[INET6_ADDRSTRLEN] = "";

	inet_ntop(c->len == 16 ? AF_INET6 : AF_INET, c->addr, addr, sizeof(addr));
	if (c->prefix == c->len * 8)
		snprintf(buf, size, "%s", addr);
	else
		snprintf(buf, size, "%s/%u", addr, c->prefix);
	return buf;
}

bool lnc_cidr_has(const struct lnet_cidr *c, const void *addr, size_t len)
{
	const uint8_t *a = addr;
	unsigned full = c->prefix / 8, rest = c->prefix % 8;

	if (len != c->len || memcmp(a, c->addr, full) != 0)
		return false;
	return !rest || ((a[full] ^ c->addr[full]) >> (8 - rest)) == 0;
}

/* ---- interface names ------------------------------------------------------------------------ */

static const char *bad_name(const char *s, size_t n)
{
	if (!n)
		return "no name";
	if (n > 15)
		return "longer than 15 characters";
	if ((n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
		return "not a name";
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || strchr("/,()", s[i]))
			return "a character that no interface name has";
	}
	return NULL;
}

int lnc_ifname_parse(const char *text, char name[16], char *cpts, size_t size, struct lnc_err *err)
{
	size_t n = strcspn(text, "["), len = strlen(text);
	const char *why = bad_name(text, n);
	int rc;

	if (why)
		return lnc_err_set(err, -EINVAL, "invalid interface '%.40s': %s", text, why);
	if (n < len) {
		rc = lnc_cpts_parse(text + n, len - n, NULL, cpts, size, err);
		if (rc)
			return rc;
	} else if (size) {
		cpts[0] = '\0';
	}
	memcpy(name, text, n);
	name[n] = '\0';
	return 0;
}
