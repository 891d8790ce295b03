/* SPDX-License-Identifier: BSD-2-Clause */
/* The first byte chooses the string, the rest is its text. */
#include <errno.h>
#include <string.h>

#include "fuzz/must.h"
#include "lnet/wire/legacy.h"

static void check_end(int rc, size_t size, const struct lnet_parse_err *err)
{
	MUST(rc == -EINVAL || rc == -E2BIG);
	MUST(err->pos <= size && err->msg[0]);
}

static void check_notices(const struct lni_notices *n, size_t size)
{
	MUST(n->n <= LNI_LEGACY_MAX_NOTICES);
	for (size_t i = 0; i < n->n; i++)
		MUST(n->v[i].pos < size && n->v[i].msg[0]);
}

/* No net twice, no interface twice in a net, never lo. */
static void check_nets(const struct lni_legacy_nets *nets)
{
	for (size_t i = 0; i < nets->n; i++) {
		const struct lni_legacy_net *v = &nets->v[i];

		MUST(v->n_ifs > 0 && LNET_NET_TYPE(v->net) != LNET_LND_LO);
		for (size_t j = 0; j < i; j++)
			MUST(nets->v[j].net != v->net);
		for (size_t j = 1; j < v->n_ifs; j++)
			MUST(strcmp(v->ifs[j].name, v->ifs[j - 1].name) != 0);
	}
}

static void networks(const char *s, size_t size, struct lnet_parse_err *err)
{
	struct lni_legacy_nets nets;
	int rc = lni_legacy_nets_parse(s, size, &nets, err);

	if (rc) {
		check_end(rc, size, err);
		return;
	}
	check_nets(&nets);
	check_notices(&nets.notices, size);
	lni_legacy_nets_free(&nets);
}

static void ip2nets(const char *s, size_t size, struct lnet_parse_err *err)
{
	struct lni_legacy_rules rules;
	int rc = lni_legacy_rules_parse(s, size, &rules, err);

	if (rc) {
		check_end(rc, size, err);
		return;
	}
	for (size_t i = 0; i < rules.n; i++) {
		check_nets(&rules.v[i].nets);
		MUST(lni_range_items(rules.v[i].patterns) > 0);
	}
	check_notices(&rules.notices, size);
	lni_legacy_rules_free(&rules);
}

static void routes(const char *s, size_t size, struct lnet_parse_err *err)
{
	struct lni_legacy_routes rs;
	int rc = lni_legacy_routes_parse(s, size, &rs, err);

	if (rc) {
		check_end(rc, size, err);
		return;
	}
	MUST(rs.n <= LNI_LEGACY_MAX_ROUTES);
	for (size_t i = 0; i < rs.n; i++) {
		const struct lni_legacy_route *r = &rs.v[i];

		MUST(r->hops <= 255 && r->pos < size);
		MUST(r->net != lnet_nid_net(&r->gateway));
		MUST(!lnet_nid_is_any(&r->gateway));
	}
	check_notices(&rs.notices, size);
	lni_legacy_routes_free(&rs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lnet_parse_err err = {.pos = 0};
	const char *s = (const char *)data + 1;

	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		networks(s, size - 1, &err);
		break;
	case 1:
		ip2nets(s, size - 1, &err);
		break;
	default:
		routes(s, size - 1, &err);
		break;
	}
	return 0;
}
