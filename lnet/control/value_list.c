/* SPDX-License-Identifier: BSD-2-Clause */
/* Values with a grammar of their own: CPT lists, address blocks, interface names. */
#include "lnet/control/value.h"
#include "lnet/wire/cptlist.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LNC_CPT_MAX + 1 == LNI_CPT_MAX && sizeof(struct lnc_cpts) == sizeof(struct lni_cpts),
        "one kind of CPT list");

/* ---- CPT lists ------------------------------------------------------------------------------ */

static int bad_cpts(
        const char *text, size_t len, int rc, const struct lnet_parse_err *pe, struct lnc_err *err)
{
	if (rc == -ENOMEM)
		return lnc_err_set(err, rc, "out of memory");
	return lnc_err_set(err, rc,
	        "Unable to parse CPT '%.*s': %s at character %zu (CPTs are 0..%u)",
	        len > 60 ? 60 : (int)len, text, pe->msg, pe->pos + 1, LNC_CPT_MAX);
}

/* Without brackets: "0,1", as in a command line. */
static int bare_cpts(const char *text, size_t len, struct lni_cpts *out, struct lnet_parse_err *pe)
{
	char *p = malloc(len + 3);
	int rc;

	if (!p)
		return -ENOMEM;
	snprintf(p, len + 3, "[%.*s]", (int)len, text);
	rc = lni_cpts_parse(p, len + 2, out, pe);
	free(p);
	if (rc == -EINVAL && pe->pos)
		pe->pos--;
	return rc;
}

int lnc_cpts_parse(const char *text, size_t len, struct lnc_cpts *cpts, char *out, size_t size,
        struct lnc_err *err)
{
	struct lnet_parse_err pe = {0, ""};
	struct lni_cpts set;
	int rc;

	if (len > LNC_CPT_STR_MAX)
		return lnc_err_set(
		        err, -E2BIG, "CPT list longer than %u characters", LNC_CPT_STR_MAX);
	if (len && text[0] == '[')
		rc = lni_cpts_parse(text, len, &set, &pe);
	else
		rc = bare_cpts(text, len, &set, &pe);
	if (rc)
		return bad_cpts(text, len, rc, &pe, err);
	if (size && lni_cpts_print(&set, out, size) >= size)
		return lnc_err_set(err, -E2BIG, "CPT list longer than %zu characters", size - 1);
	if (cpts)
		memcpy(cpts->bit, set.bits, sizeof(cpts->bit));
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

int lnc_ifname_parse(const char *text, char name[16], char *cpts, size_t size, struct lnc_err *err)
{
	size_t len = strlen(text), pos = 0;
	struct lnet_parse_err pe = {0, ""};
	struct lni_ifspec spec;
	int rc = lni_ifspec_parse_at(text, len, &pos, &spec, &pe);

	if (!rc && (strcmp(spec.name, ".") == 0 || strcmp(spec.name, "..") == 0))
		return lnc_err_set(err, -EINVAL, "invalid interface '%.40s': not a name", text);
	if (!rc && pos < len)
		return lnc_err_set(err, -EINVAL,
		        "invalid interface '%.40s': the end is expected at character %zu", text,
		        pos + 1);
	if (rc == -ENOMEM)
		return lnc_err_set(err, rc, "out of memory");
	if (rc)
		return lnc_err_set(err, rc, "invalid interface '%.40s': %s at character %zu", text,
		        pe.msg, pe.pos + 1);
	if (size && lni_cpts_print(&spec.cpts, cpts, size) >= size)
		return lnc_err_set(err, -E2BIG, "CPT list longer than %zu characters", size - 1);
	memcpy(name, spec.name, 16);
	return 0;
}
