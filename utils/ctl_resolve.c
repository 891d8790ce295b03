/* SPDX-License-Identifier: BSD-2-Clause */
/* Host names on the command line. The node itself is asked which of several addresses it can reach.
 */
#include "lnet/control/conf.h"
#include "lnet/control/nids.h"
#include "lnet/control/resolve.h"
#include "utils/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 64u

struct names {
	const struct ctl *c;
	struct lnc_req *r;
	struct lnc_resolver res;
	struct lnet_cidr block[BLOCKS_MAX];
	bool asked;
};

static void add_block(struct names *n, const struct lnc_iface *f)
{
	struct lnet_cidr *b = &n->block[n->res.nprefer];

	if (n->res.nprefer == BLOCKS_MAX)
		return;
	memset(b, 0, sizeof(*b));
	memcpy(b->addr, f->addr, f->len);
	for (unsigned bit = f->prefix; bit < f->len * 8u; bit++)
		b->addr[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	b->len = f->len;
	b->prefix = f->prefix;
	n->res.nprefer++;
}

/* Blocks of the interfaces that the answer to `net show` names on this net. */
static void blocks_of(
        struct names *n, const struct lnc_answer *a, const struct lnc_iface *ifs, unsigned nifs)
{
	const struct lnc_node *nets = lnc_map_get(a->result, "net");

	for (const struct lnc_node *net = nets ? nets->first : NULL; net; net = net->next) {
		const struct lnc_node *nis = lnc_map_get(net, "local NI(s)");
		for (const struct lnc_node *ni = nis ? nis->first : NULL; ni; ni = ni->next) {
			const char *name = lnc_map_text(lnc_map_get(ni, "interfaces"), "0");
			for (unsigned i = 0; name && i < nifs; i++)
				if (ifs[i].len && !strcmp(ifs[i].name, name))
					add_block(n, &ifs[i]);
		}
	}
}

/* No daemon, no preference: the command itself will say that there is none. */
static void ask_blocks(struct names *n)
{
	static const char *const argv[] = {"net", "show"};
	const char *node = n->r->node ? n->r->node : n->c->node;
	struct lnc_iface *ifs = NULL;
	struct lnc_answer a;
	struct lnc_req r;
	struct lnc_err err;
	unsigned nifs = 0;

	n->asked = true;
	n->res.prefer = n->block;
	lnc_req_init(&r);
	if (!lnc_ifaces_read(&ifs, &nifs) && !lnc_cmd_parse(&r, 2, argv, NULL, &err) &&
	        !ctl_ask(node ? node : "ulnet", &r, &a, &err)) {
		blocks_of(n, &a, ifs, nifs);
		lnc_answer_free(&a);
	}
	free(ifs);
	lnc_req_free(&r);
}

static int one_name(struct names *n, const char *text, char *out, size_t size, struct lnc_err *err)
{
	const char *at = lnc_host_at(text);
	struct lnet_nid nid;
	char host[LNC_HOST_MAX + 1], str[LNET_NIDSTR_MAX];
	lnet_net_t net;
	int rc;

	if (!at) {
		snprintf(out, size, "%s", text);
		return 0;
	}
	if ((size_t)(at - text) >= sizeof(host))
		return lnc_err_set(err, -EINVAL, "a host name has at most %u bytes", LNC_HOST_MAX);
	memcpy(host, text, (size_t)(at - text));
	host[at - text] = 0;
	rc = lnet_net_parse(at + 1, strlen(at + 1), &net, NULL);
	if (rc)
		return lnc_err_set(err, rc, "'%s' is not a network", at + 1);
	if (!n->asked)
		ask_blocks(n);
	rc = lnc_resolve(&n->res, host, net, &nid, err);
	if (!rc)
		snprintf(out, size, "%s", lnet_nid_str(&nid, str, sizeof(str)));
	return rc;
}

/* A list is put together again from its parts. */
static int resolve_text(struct names *n, const char **slot, struct lnc_err *err)
{
	const char *part[LNC_ARGS_MAX];
	size_t cap = strlen(*slot) + 1, len = 0;
	int parts, rc = 0;

	if (!strchr(*slot, '@'))
		return 0;
	parts = lnc_list_split(&n->r->mem, *slot, part, LNC_ARGS_MAX, err);
	if (parts < 0)
		return parts;
	cap += (size_t)parts * LNET_NIDSTR_MAX;
	char *text = malloc(cap);
	if (!text)
		return lnc_err_set(err, -ENOMEM, "no memory");
	for (int i = 0; !rc && i < parts; i++) {
		if (i)
			text[len++] = ',';
		rc = one_name(n, part[i], text + len, cap - len, err);
		len += rc ? 0 : strlen(text + len);
	}
	if (!rc && lnc_req_replace(n->r, slot, text))
		rc = lnc_err_set(err, -ENOMEM, "no memory");
	free(text);
	return rc;
}

static bool may_name_hosts(unsigned kind)
{
	return kind == LNC_A_NID || kind == LNC_A_NIDS;
}

int ctl_resolve(const struct ctl *c, struct lnc_req *r)
{
	struct names *n = calloc(1, sizeof(*n));
	struct lnc_err err = {.msg = "no memory"};
	int rc = n ? 0 : -ENOMEM;

	if (n) {
		n->c = c;
		n->r = r;
		lnc_resolver_init(&n->res);
	}
	for (unsigned i = 0; !rc && i < r->cmd->nopts; i++)
		if (r->val[i].given && may_name_hosts(r->cmd->opts[i].kind))
			rc = resolve_text(n, &r->val[i].text, &err);
	for (unsigned i = 0; !rc && i < r->nargs && may_name_hosts(r->cmd->arg_kind); i++)
		rc = resolve_text(n, &r->arg[i], &err);
	free(n);
	if (!rc)
		return 0;
	fprintf(stderr, "ulnetctl: %s: %s\n", r->cmd->path, err.msg);
	return LNC_EXIT_FAILED;
}
