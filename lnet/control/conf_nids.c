/* SPDX-License-Identifier: BSD-2-Clause */
/* NIDs, ranges of NIDs and address ranges in the configuration. */
#include "lnet/control/conf_priv.h"
#include "lnet/control/resolve.h"
#include "lnet/wire/range.h"

#include <errno.h>
#include <string.h>

/* "host@net" whose first part is no address, and a way to look it up. */
static const char *host_of(const struct lnc_rd *r, const struct lnc_node *v, lnet_net_t *net)
{
	const char *at = strrchr(v->text, '@');
	size_t n = at ? (size_t)(at - v->text) : v->len;

	*net = LNET_NET(LNET_LND_TCP, 0);
	if (!lnc_is_hostname(v->text, n) || n > LNC_HOST_MAX)
		return NULL;
	if (at && lnet_net_parse(at + 1, v->len - n - 1, net, NULL))
		return NULL;
	return lnet_net_is_ip(*net) ? lnc_arena_strndup(&r->c->mem, v->text, n) : NULL;
}

int lnc_rd_nid(struct lnc_rd *r, const struct lnc_node *v, struct lnet_nid *out)
{
	struct lnet_parse_err pe;
	struct lnc_err err;
	const char *host;
	lnet_net_t net;

	if (!lnet_nid_parse(v->text, v->len, out, &pe)) {
		if (!lnet_nid_is_any(out))
			return 0;
		return lnc_rd_err(r, v, -EINVAL, "Invalid NID '%.80s': one NID is needed", v->text);
	}
	host = host_of(r, v, &net);
	if (!host)
		return lnc_rd_err(r, v, -EINVAL, "Invalid NID '%.80s': %s at character %zu",
		        v->text, pe.msg, pe.pos + 1);
	if (!r->s->resolve)
		return lnc_rd_err(r, v, -EINVAL,
		        "Invalid NID '%.80s': host names are not resolved here", v->text);
	if (r->s->resolve(r->s->arg, host, net, out, &err))
		return lnc_rd_errof(r, v, &err);
	return 0;
}

int lnc_rd_nids(struct lnc_rd *r, const struct lnc_node *v, unsigned max, struct lnet_nid **out,
        unsigned *n)
{
	struct lni_ranges *ranges = NULL;
	struct lnet_parse_err pe;
	struct lnet_nid one;
	size_t count = 1;
	int rc = 0;

	*n = 0;
	*out = NULL;
	if (!strpbrk(v->text, "[*")) {
		rc = lnc_rd_nid(r, v, &one);
		if (rc)
			return rc;
	} else {
		rc = lni_range_parse(v->text, v->len, 0, &ranges, &pe);
		if (!rc)
			rc = lni_range_expand(ranges, NULL, max, &count, &pe);
		if (rc)
			lnc_rd_range_err(r, v, rc, &pe);
	}
	if (!rc) {
		*out = lnc_arena_alloc(&r->c->mem, count * sizeof(**out));
		rc = *out ? 0 : -ENOMEM;
	}
	if (!rc && ranges)
		rc = lni_range_expand(ranges, *out, max, &count, &pe);
	else if (!rc)
		**out = one;
	if (!rc)
		*n = (unsigned)count;
	lni_range_free(ranges);
	return rc;
}

/* -ENOMEM becomes the arena's, so that it is reported once. */
void lnc_rd_range_err(
        struct lnc_rd *r, const struct lnc_node *v, int rc, const struct lnet_parse_err *pe)
{
	if (rc == -ENOMEM)
		r->c->mem.failed = true;
	else
		lnc_rd_err(r, v, rc, "Invalid range '%.80s': %s at character %zu", v->text, pe->msg,
		        pe->pos + 1);
}

/* Canonical text of a range, or NULL after an error. */
static const char *canonical(struct lnc_rd *r, const struct lnc_node *v, unsigned flags)
{
	struct lni_ranges *ranges;
	struct lnet_parse_err pe;
	size_t len;
	char *text;
	int rc = lni_range_parse(v->text, v->len, flags, &ranges, &pe);

	if (rc) {
		lnc_rd_range_err(r, v, rc, &pe);
		return NULL;
	}
	len = lni_range_print(ranges, ' ', NULL, 0);
	text = lnc_arena_alloc(&r->c->mem, len + 1);
	if (text)
		lni_range_print(ranges, ' ', text, len + 1);
	lni_range_free(ranges);
	return text;
}

const char *lnc_rd_addr_range(struct lnc_rd *r, const struct lnc_node *v)
{
	return canonical(r, v, LNC_ADDR_RANGE);
}

void lnc_rd_udsp_match(struct lnc_rd *r, const struct lnc_node *v, const char **out)
{
	*out = canonical(r, v, LNI_RANGE_STAR | LNI_RANGE_NET);
}
