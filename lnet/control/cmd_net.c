/* SPDX-License-Identifier: BSD-2-Clause */
/* net add, net del, net set. What is added or removed goes the way of a configuration file. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"
#include "lnet/control/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from options to a document ------------------------------------------------------------ */

static const char *const ni_names[] = {
        "peer_timeout", "peer_credits", "peer_buffer_credits", "credits"};

/* "peer-credits" for "peer_credits" */
static const char *option_of(const char *key, char *buf, size_t size)
{
	snprintf(buf, size, "%s", key);
	for (char *p = buf; *p; p++)
		if (*p == '_')
			*p = '-';
	return buf;
}

/* NAME=VALUE[,NAME=VALUE...] */
static int free_tunables(
        struct lnc_node *map, const char *text, struct lnc_req *r, struct lnc_err *err)
{
	const char *part[64];
	int n = lnc_list_split(&r->mem, text, part, LNC_LEN(part), err);

	for (int i = 0; i < n; i++) {
		const char *eq = strchr(part[i], '=');
		char name[64];
		if (!eq || eq == part[i] || !eq[1] || (size_t)(eq - part[i]) >= sizeof(name))
			return lnc_err_set(err, -EINVAL,
			        "--tunable: NAME=VALUE was expected, not '%.80s'", part[i]);
		memcpy(name, part[i], (size_t)(eq - part[i]));
		name[eq - part[i]] = 0;
		if (lnc_map_get(map, name))
			return lnc_err_set(err, -EINVAL, "--tunable: '%s' is given twice", name);
		lnc_map_add_str(map, name, eq + 1);
	}
	return n < 0 ? n : 0;
}

static int lnd_values(struct lnc_node *ni, struct lnc_req *r, struct lnc_err *err)
{
	static const char *const opts[] = {"conns-per-peer", "tos", "port"};
	static const char *const keys[] = {"conns_per_peer", "tos", "port"};
	struct lnc_node *map = NULL;
	const char *more = lnc_req_text(r, "tunable");

	for (size_t i = 0; i < LNC_LEN(opts); i++) {
		const struct lnc_val *v = lnc_req_val(r, opts[i]);
		if (!v)
			continue;
		if (!map)
			map = lnc_map_add_map(ni, "lnd tunables");
		lnc_map_add_i64(map, keys[i], v->num);
	}
	if (!more)
		return 0;
	if (!map)
		map = lnc_map_add_map(ni, "lnd tunables");
	return free_tunables(map, more, r, err);
}

static int ni_values(struct lnc_node *ni, struct lnc_req *r, struct lnc_err *err)
{
	struct lnc_node *map = NULL;
	const char *cpt = lnc_req_text(r, "cpt");

	for (size_t i = 0; i < LNC_LEN(ni_names); i++) {
		char opt[32];
		const struct lnc_val *v = lnc_req_val(r, option_of(ni_names[i], opt, sizeof(opt)));
		if (!v)
			continue;
		if (!map)
			map = lnc_map_add_map(ni, "tunables");
		lnc_map_add_i64(map, ni_names[i], v->num);
	}
	int rc = lnd_values(ni, r, err);
	if (!rc && cpt)
		lnc_map_add_quoted(ni, "CPT", cpt);
	return rc;
}

static int add_ifs(struct lnc_node *ni, const char *ifs, struct lnc_req *r, struct lnc_err *err)
{
	const char *part[LNC_IFS_MAX];
	char key[16];
	int n = lnc_list_split(&r->mem, ifs, part, LNC_LEN(part), err);

	if (n < 0)
		return n;
	struct lnc_node *map = lnc_map_add_map(ni, "interfaces");
	for (int i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "%d", i);
		lnc_map_add_str(map, key, part[i]);
	}
	return 0;
}

/* The net's item, made at its first mention. */
static struct lnc_node *net_map(struct lnc_node *nets, const char *net)
{
	for (struct lnc_node *n = nets ? nets->first : NULL; n; n = n->next)
		if (!strcmp(lnc_map_text(n, "net type"), net))
			return n;
	struct lnc_node *n = lnc_seq_add_map(nets);
	lnc_map_add_str(n, "net type", net);
	return n;
}

static void add_accept(struct lnc_node *net, struct lnc_req *r, struct lnc_err *err)
{
	const char *policy = lnc_req_text(r, "accept"), *allow = lnc_req_text(r, "allow"),
	           *part[256];

	if ((!policy && !allow) || lnc_map_get(net, "accept"))
		return;
	struct lnc_node *m = lnc_map_add_map(net, "accept");
	if (policy)
		lnc_map_add_str(m, "policy", policy);
	int n = allow ? lnc_list_split(&r->mem, allow, part, LNC_LEN(part), err) : 0;
	struct lnc_node *list = allow ? lnc_map_add_seq(m, "allow") : NULL;
	for (int i = 0; i < n; i++)
		lnc_seq_add_str(list, part[i]);
}

/* One NI item. */
static struct lnc_node *ni_item(
        struct lnc_node *nets, const char *net, struct lnc_req *r, struct lnc_err *err)
{
	struct lnc_node *n = net_map(nets, net), *list = lnc_map_get(n, "local NI(s)");

	add_accept(n, r, err);
	if (!list)
		list = lnc_map_add_seq(n, "local NI(s)");
	return lnc_seq_add_map(list);
}

static int by_nids(struct lnc_node *nets, const char *nids, struct lnc_req *r, struct lnc_err *err)
{
	struct lnet_nid *v = lnc_arena_alloc(&r->mem, LNET_PEER_NIDS_MAX * sizeof(*v));
	const char *ifs = lnc_req_text(r, "if");
	int n = v ? lnc_nids_expand(nids, v, LNET_PEER_NIDS_MAX, err) : -ENOMEM, rc = 0;

	for (int i = 0; !rc && i < n; i++) {
		char net[LNET_NIDSTR_MAX], nid[LNET_NIDSTR_MAX];
		lnet_net_str(lnet_nid_net(&v[i]), net, sizeof(net));
		struct lnc_node *ni = ni_item(nets, net, r, err);
		lnc_map_add_str(ni, "nid", lnet_nid_str(&v[i], nid, sizeof(nid)));
		if (ifs)
			rc = add_ifs(ni, ifs, r, err);
		if (!rc)
			rc = ni_values(ni, r, err);
	}
	return n < 0 ? n : rc;
}

/* The document that a configuration file would say the same with. */
static int net_doc(struct lnc_req *r, struct lnc_doc *d, struct lnc_err *err)
{
	const char *net = lnc_req_text(r, "net"), *ifs = lnc_req_text(r, "if"),
	           *nids = lnc_req_text(r, "nid");
	struct lnc_node *nets = lnc_map_add_seq(lnc_doc_map(d, LNC_STYLE_NET), "net");

	if (nids)
		return by_nids(nets, nids, r, err);
	if (!ifs) {
		net_map(nets, net);
		return 0;
	}
	struct lnc_node *ni = ni_item(nets, net, r, err);
	int rc = add_ifs(ni, ifs, r, err);
	return rc ? rc : ni_values(ni, r, err);
}

/* Parse what the options say and hand it to apply(). */
static int change_nets(struct lnc_ctx *x, const struct lnc_req *r, const char *op, unsigned flags)
{
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_conf *change = NULL;
	struct lnc_here h;
	struct lnc_errs errs;
	struct lnc_err err;
	int rc;

	if (!d)
		return -ENOMEM;
	lnc_errs_init(&errs, NULL);
	rc = net_doc((struct lnc_req *)r, d, &err);
	if (rc) {
		lnc_misuse(x, op, "net", rc, "%s", err.msg);
		goto out;
	}
	lnc_schema_of(x->c, NULL, &h);
	rc = lnc_conf_parse(
	        d, &h.s, flags & LNET_CONFIG_DELETE ? LNC_PARSE_DEL : 0, &change, &errs);
	if (rc) {
		x->exit = LNC_EXIT_USAGE;
		lnc_fail_errs(x, op, "net", &errs);
		goto out;
	}
	lnc_lock(x->c);
	rc = lnc_change(x->c, change, flags, "command", &errs, NULL, NULL);
	lnc_unlock(x->c);
	if (rc)
		lnc_fail_errs(x, op, "net", &errs);
out:
	lnc_conf_free(change);
	lnc_errs_free(&errs);
	lnc_doc_free(d);
	return rc;
}

static bool names_lo(const struct lnc_req *r)
{
	const char *net = lnc_req_text(r, "net"), *nids = lnc_req_text(r, "nid");
	struct lnet_nid v[LNET_PEER_NIDS_MAX];
	int n = nids ? lnc_nids_expand(nids, v, LNET_PEER_NIDS_MAX, NULL) : 0;
	lnet_net_t t = 0;
	bool hit = net && !lnet_net_parse(net, strlen(net), &t, NULL) &&
	           LNET_NET_TYPE(t) == LNET_LND_LO;

	for (int i = 0; i < n; i++)
		hit |= v[i].type == LNET_LND_LO;
	return hit;
}

static int net_add(struct lnc_ctx *x, const struct lnc_req *r)
{
	if (names_lo(r))
		return lnc_fail(x, "add", "net", -EINVAL, "setting @lo not allowed");
	return change_nets(x, r, "add", LNC_CHANGE_NEW);
}

static int net_del(struct lnc_ctx *x, const struct lnc_req *r)
{
	if (names_lo(r))
		return lnc_fail(x, "del", "net", -EINVAL, "setting @lo not allowed");
	return change_nets(x, r, "del", LNET_CONFIG_DELETE);
}

static int add_check(const struct lnc_req *r, struct lnc_err *err)
{
	bool net = lnc_req_flag(r, "net"), ifs = lnc_req_flag(r, "if"),
	     nid = lnc_req_flag(r, "nid");

	if (net && nid)
		return lnc_err_set(err, -EINVAL, "net add: --net and --nid exclude each other");
	if (!net && !nid)
		return lnc_err_set(err, -EINVAL, "net add: --net or --nid is missing");
	if (net && !ifs)
		return lnc_err_set(err, -EINVAL, "net add: --if is missing");
	return 0;
}

static int del_check(const struct lnc_req *r, struct lnc_err *err)
{
	bool net = lnc_req_flag(r, "net"), nid = lnc_req_flag(r, "nid");

	if (net && nid)
		return lnc_err_set(err, -EINVAL, "net del: --net and --nid exclude each other");
	if (!net && !nid)
		return lnc_err_set(err, -EINVAL, "net del: --net or --nid is missing");
	if (nid && lnc_req_flag(r, "if"))
		return lnc_err_set(err, -EINVAL, "net del: --if needs --net");
	return 0;
}

/* ---- net set ------------------------------------------------------------------------------- */

struct pick {
	const struct lnet_nid *nid; /* NULL: not asked for */
	lnet_net_t net;             /* LNET_NET_ANY: not asked for */
	int type;                   /* -1: not asked for */
	struct lnet_nid *v;
	unsigned n, cap;
	bool nomem;
};

static int pick_one(void *arg, const struct lnet_ni_info *i)
{
	struct pick *p = arg;
	lnet_net_t net = lnet_nid_net(&i->nid);

	if (lnet_nid_is_lo(&i->nid) || (p->nid && !lnet_nid_eq(p->nid, &i->nid)) ||
	        (p->net != LNET_NET_ANY && p->net != net) ||
	        (p->type >= 0 && (unsigned)p->type != LNET_NET_TYPE(net)))
		return 0;
	if (p->n == p->cap) {
		unsigned cap = p->cap ? p->cap * 2 : 16;
		struct lnet_nid *v = realloc(p->v, cap * sizeof(*v));
		if (!v) {
			p->nomem = true;
			return 1;
		}
		p->v = v;
		p->cap = cap;
	}
	p->v[p->n++] = i->nid;
	return 0;
}

/* A change of driver tunables of the chosen NIs; all of them or none. */
static int set_tunables(struct lnc_ctx *x, const struct lnc_req *r, const struct pick *p)
{
	const char *more = lnc_req_text(r, "tunable");
	const struct lnc_val *cpp = lnc_req_val(r, "conns-per-peer"),
	                     *timeout = lnc_req_val(r, "lnd-timeout");
	struct lnc_doc *d = lnc_doc_new();
	struct lnc_err err = {0};
	int rc = 0;

	if (!d)
		return -ENOMEM;
	struct lnc_node *nets = lnc_map_add_seq(lnc_doc_map(d, LNC_STYLE_NET), "net");
	for (unsigned i = 0; !rc && i < p->n; i++) {
		char net[LNET_NIDSTR_MAX], nid[LNET_NIDSTR_MAX];
		struct lnc_node *n =
		        net_map(nets, lnet_net_str(lnet_nid_net(&p->v[i]), net, sizeof(net)));
		struct lnc_node *list = lnc_map_get(n, "local NI(s)");
		struct lnc_node *ni =
		        lnc_seq_add_map(list ? list : lnc_map_add_seq(n, "local NI(s)"));
		lnc_map_add_str(ni, "nid", lnet_nid_str(&p->v[i], nid, sizeof(nid)));
		struct lnc_node *map = lnc_map_add_map(ni, "lnd tunables");
		if (cpp)
			lnc_map_add_i64(map, "conns_per_peer", cpp->num);
		if (timeout)
			lnc_map_add_i64(map, "timeout", timeout->num);
		if (more)
			rc = free_tunables(map, more, (struct lnc_req *)r, &err);
	}
	if (rc)
		lnc_misuse(x, "set", "net", rc, "%s", err.msg);
	else
		rc = lnc_apply_doc(x, d, "set", "net");
	lnc_doc_free(d);
	return rc;
}

static int set_accept(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *policy = lnc_req_text(r, "accept"), *allow = lnc_req_text(r, "allow"),
	           *part[256], *net_text = lnc_req_text(r, "net");
	struct lnet_cidr list[LNC_LEN(part)];
	enum lnet_accept accept = LNET_ACCEPT_DEFAULT;
	struct lnc_err err;
	lnet_net_t net;
	int n = 0, rc = 0;

	lnet_net_parse(net_text, strlen(net_text), &net, NULL);
	if (policy)
		rc = lnc_accept_parse(policy, &accept, &err);
	if (!rc && allow && strcmp(allow, "any"))
		n = lnc_list_split((struct lnc_arena *)&r->mem, allow, part, LNC_LEN(part), &err);
	for (int i = 0; !rc && i < n; i++)
		rc = lnc_cidr_parse(part[i], &list[i], &err);
	if (rc || n < 0)
		return lnc_misuse(x, "set", "net", rc ? rc : n, "%s", err.msg);
	rc = lnc_set_accept(x->c, net, policy ? &accept : NULL, allow ? list : NULL, (unsigned)n);
	return rc ? lnc_fail(x, "set", "net", rc, "network '%s': %s", net_text, strerror(-rc)) : 0;
}

static int set_health(struct lnc_ctx *x, const struct pick *p, int value)
{
	for (unsigned i = 0; i < p->n; i++) {
		char nid[LNET_NIDSTR_MAX];
		int rc = lnet_ni_set_health(x->n, &p->v[i], value);
		if (rc)
			return lnc_fail(x, "set", "net", rc, "%s: health %d: %s",
			        lnet_nid_str(&p->v[i], nid, sizeof(nid)), value, strerror(-rc));
	}
	return 0;
}

static int net_set(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *nid_text = lnc_req_text(r, "nid"), *net_text = lnc_req_text(r, "net");
	const struct lnc_val *health = lnc_req_val(r, "health");
	struct pick p = {.net = LNET_NET_ANY, .type = -1};
	struct lnet_nid nid;
	int rc = 0;

	if (nid_text) {
		if (lnet_nid_parse(nid_text, strlen(nid_text), &nid, NULL))
			return lnc_misuse(x, "set", "net", -EINVAL, "'%s' is not a NID", nid_text);
		p.nid = &nid;
	}
	if (net_text) {
		lnet_net_parse(net_text, strlen(net_text), &p.net, NULL);
		if (lnc_req_flag(r, "lnd-timeout")) { /* of the driver: all of its nets */
			p.type = (int)LNET_NET_TYPE(p.net);
			p.net = LNET_NET_ANY;
		}
	}
	lnet_ni_each(x->n, pick_one, &p);
	if (p.nomem)
		rc = -ENOMEM;
	else if (!p.n)
		rc = lnc_fail(x, "set", "net", -ENOENT, "no interface of %s%s is configured",
		        nid_text   ? "NID "
		        : net_text ? "network "
		                   : "any network",
		        nid_text   ? nid_text
		        : net_text ? net_text
		                   : "");
	if (!rc && (lnc_req_flag(r, "conns-per-peer") || lnc_req_flag(r, "lnd-timeout") ||
	                   lnc_req_flag(r, "tunable")))
		rc = set_tunables(x, r, &p);
	if (!rc && (lnc_req_flag(r, "accept") || lnc_req_flag(r, "allow")))
		rc = set_accept(x, r);
	if (!rc && health)
		rc = set_health(x, &p, (int)health->num);
	free(p.v);
	return rc;
}

static int set_check(const struct lnc_req *r, struct lnc_err *err)
{
	static const char *const what[] = {
	        "health", "conns-per-peer", "lnd-timeout", "tunable", "accept", "allow"};
	int which = lnc_req_flag(r, "nid") + lnc_req_flag(r, "all") + lnc_req_flag(r, "net");
	bool any = false;

	for (size_t i = 0; i < LNC_LEN(what); i++)
		any |= lnc_req_flag(r, what[i]);
	if (!any)
		return lnc_err_set(err, -EINVAL, "net set: nothing to set; see net set --help");
	if (which != 1)
		return lnc_err_set(err, -EINVAL,
		        which ? "net set: only one of --nid, --all, --net"
		              : "net set: --nid, --all or --net is missing");
	if (lnc_req_flag(r, "lnd-timeout") && !lnc_req_flag(r, "net"))
		return lnc_err_set(err, -EINVAL, "net set: --lnd-timeout needs --net");
	if ((lnc_req_flag(r, "accept") || lnc_req_flag(r, "allow")) && !lnc_req_flag(r, "net"))
		return lnc_err_set(err, -EINVAL, "net set: --accept and --allow need --net");
	return 0;
}

/* ---- table --------------------------------------------------------------------------------- */

#define OPT_TUNABLE                                                              \
	{                                                                        \
		.name = "tunable", .kind = LNC_A_TEXT, .min = 1, .max = 4096,    \
		.meta = "NAME=VALUE,...", .help = "other tunables of the driver" \
	}
#define OPT_ACCEPT                                                                  \
	{                                                                           \
		.name = "accept", .kind = LNC_A_TEXT, .min = 1, .max = 16,          \
		.meta = "secure|all|none", .help = "whose connections are accepted" \
	}
#define OPT_ALLOW(text)                                                                          \
	{                                                                                        \
		.name = "allow", .kind = LNC_A_TEXT, .min = 1, .max = 16384, .meta = "CIDR,...", \
		.help = text                                                                     \
	}
#define OPT_CPP                                                                                   \
	{                                                                                         \
		.name = "conns-per-peer", .letter = 'm', .kind = LNC_A_INT, .min = 0, .max = 127, \
		.help = "connections of each kind to a peer; 0 = by the speed of the link"        \
	}

static const struct lnc_opt add_opts[] = {
        {.name = "net", .letter = 'n', .kind = LNC_A_NET, .help = "the network"},
        {.name = "if", .letter = 'i', .kind = LNC_A_IFS, .help = "interfaces, one NI each"},
        {.name = "nid", .kind = LNC_A_NIDS, .help = "addresses of this host instead of --net"},
        {.name = "peer-timeout",
                .letter = 't',
                .kind = LNC_A_INT,
                .min = -1,
                .max = 1000000,
                .help = "seconds without a sign of life; 0 = never asked, -1 = the driver's"},
        {.name = "peer-credits",
                .letter = 'c',
                .kind = LNC_A_INT,
                .min = 1,
                .max = 65535,
                .help = "messages in flight to one peer NI"},
        {.name = "peer-buffer-credits",
                .letter = 'b',
                .kind = LNC_A_INT,
                .min = 0,
                .max = 65535,
                .help = "router buffers of one peer NI; 0 = as --peer-credits"},
        {.name = "credits",
                .letter = 'r',
                .kind = LNC_A_INT,
                .min = 1,
                .max = 1048576,
                .help = "messages in flight of the NI"},
        {.name = "cpt", .letter = 's', .kind = LNC_A_CPTS, .help = "CPU partitions"},
        OPT_CPP,
        {.name = "tos",
                .kind = LNC_A_INT,
                .min = -1,
                .max = 255,
                .help = "type of service of the packets; -1 = the system's"},
        {.name = "port",
                .kind = LNC_A_INT,
                .min = 1,
                .max = 65535,
                .help = "port of the network, here and at the peers"},
        OPT_TUNABLE,
        OPT_ACCEPT,
        OPT_ALLOW("addresses that may connect"),
        {.name = "skip-mr-route-setup",
                .letter = 'k',
                .kind = LNC_A_FLAG,
                .help = "accepted: connections are bound to their interface, no routes are set up"},
        {.name = "ip2net",
                .letter = 'p',
                .kind = LNC_A_TEXT,
                .min = 1,
                .max = 127,
                .flags = LNC_O_REFUSED,
                .help = "import a configuration with an ip2nets block"},
        {.name = "auth-key",
                .letter = 'a',
                .kind = LNC_A_TEXT,
                .min = 0,
                .max = 255,
                .flags = LNC_O_REFUSED,
                .help = "it is of kfi networks"},
        {.name = "traffic-class",
                .letter = 'T',
                .kind = LNC_A_TEXT,
                .min = 0,
                .max = 255,
                .flags = LNC_O_REFUSED,
                .help = "it is of kfi networks"},
};

static const struct lnc_opt del_opts[] = {
        {.name = "net", .letter = 'n', .kind = LNC_A_NET, .help = "the network"},
        {.name = "if", .letter = 'i', .kind = LNC_A_IFS, .help = "these interfaces alone"},
        {.name = "nid", .kind = LNC_A_NIDS, .help = "NIs by their NIDs"},
};

static const struct lnc_opt set_opts[] = {
        {.name = "nid", .letter = 'n', .kind = LNC_A_NID, .help = "one NI"},
        {.name = "all", .letter = 'a', .kind = LNC_A_FLAG, .help = "every NI"},
        {.name = "net",
                .letter = 'i',
                .kind = LNC_A_NET,
                .help = "every NI of a network; with --lnd-timeout of its driver"},
        {.name = "health",
                .letter = 't',
                .kind = LNC_A_INT,
                .min = 0,
                .max = 1000,
                .help = "health value"},
        OPT_CPP,
        {.name = "lnd-timeout",
                .letter = 'l',
                .kind = LNC_A_INT,
                .min = 0,
                .max = 86400,
                .help = "seconds; needs --net"},
        OPT_TUNABLE,
        OPT_ACCEPT,
        OPT_ALLOW("addresses that may connect; any = no list"),
};

const struct lnc_cmd lnc_cmds_net[] = {
        {.path = "net add",
                .help = "add interfaces to a network",
                .more = "All named interfaces are added or none.",
                .opts = add_opts,
                .nopts = LNC_LEN(add_opts),
                .check = add_check,
                .run = net_add},
        {.path = "net del",
                .help = "remove a network, or interfaces of it",
                .opts = del_opts,
                .nopts = LNC_LEN(del_opts),
                .check = del_check,
                .run = net_del},
        {.path = "net set",
                .help = "change interfaces that are up",
                .opts = set_opts,
                .nopts = LNC_LEN(set_opts),
                .check = set_check,
                .run = net_set},
        {0},
};
