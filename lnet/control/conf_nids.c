/* SPDX-License-Identifier: BSD-2-Clause */
/* NIDs, ranges of NIDs and address ranges in the configuration. */
#include "lnet/control/conf_priv.h"
#include "lnet/control/resolve.h"

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

int lnc_rd_nids(struct lnc_rd *r, const struct lnc_node *v, unsigned max, struct lnet_nid **out, unsigned *n)
{
	struct lnet_nid nid;
	int rc = lnc_rd_nid(r, v, &nid);

	(void)max;
	if (rc)
		return rc;
	*out = lnc_arena_alloc(&r->c->mem, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	**out = nid;
	*n = 1;
	return 0;
}

void lnc_rd_addr_range(struct lnc_rd *r, const struct lnc_node *v)
{
	struct lnet_cidr c;
	struct lnc_err err;

	if (lnc_cidr_parse(v->text, &c, &err))
		lnc_rd_errof(r, v, &err);
}

void lnc_rd_udsp_match(struct lnc_rd *r, const struct lnc_node *v, const char **out)
{
	struct lnet_nid nid;
	lnet_net_t net;

	if (lnet_net_parse(v->text, v->len, &net, NULL) && lnc_rd_nid(r, v, &nid))
		return;
	*out = v->text;
}
