/* SPDX-License-Identifier: BSD-2-Clause */
/* import: a configuration is added, removed, shown, tried, or its requests are executed. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"
#include "lnet/control/value.h"
#include <lnet/hdr.h>

#include <errno.h>
#include <string.h>

static void one_step(void *arg, const char *line)
{
	lnc_seq_add_str(arg, line);
}

static int change(struct lnc_ctx *x, const struct lnc_req *r, unsigned flags, const char *op)
{
	bool dry = flags & LNET_CONFIG_CHECK;
	struct lnc_node *steps = dry ? lnc_out_seq(x, "steps", LNC_STYLE_PING) : NULL;
	struct lnc_errs errs;
	int rc;

	lnc_errs_init(&errs, NULL);
	rc = lnc_configure(
	        x->c, r->input, r->input_len, flags, "import", &errs, dry ? one_step : NULL, steps);
	if (errs.n)
		lnc_fail_errs(x, op, "import", &errs);
	else if (rc)
		lnc_fail(x, op, "import", rc, "%s", strerror(-rc));
	lnc_errs_free(&errs);
	return rc;
}

/* ---- --show -------------------------------------------------------------------------------- */

static int show_conf(struct lnc_ctx *x, const struct lnc_conf *c)
{
	int rc = 0;

	for (unsigned i = 0; i < c->nnet; i++) {
		char text[LNET_NIDSTR_MAX];
		if (!lnc_show_nets(x, c->net[i].net, NULL, 2, false))
			rc = lnc_fail(x, "show", "net", -ENOENT, "network '%s' is not configured",
			        lnet_net_str(c->net[i].net, text, sizeof(text)));
	}
	for (unsigned i = 0; i < c->npeer; i++) {
		char text[LNET_NIDSTR_MAX];
		if (lnc_show_peers(x, &c->peer[i].primary, 2))
			rc = lnc_fail(x, "show", "peer", -ENOENT, "cannot find peer '%s'",
			        lnet_nid_str(&c->peer[i].primary, text, sizeof(text)));
	}
	if (c->nglobal)
		lnc_show_global(x, false);
	return rc;
}

static int show(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lnc_here h;
	struct lnc_errs errs;
	struct lnc_conf *c = NULL;
	struct lnc_doc *d = NULL;
	int rc;

	lnc_errs_init(&errs, NULL);
	lnc_schema_of(x->c, NULL, &h);
	rc = lnc_doc_parse(r->input, r->input_len, &d, &errs);
	if (!rc)
		rc = lnc_conf_parse(d, &h.s, LNC_PARSE_DEL, &c, &errs);
	if (rc)
		lnc_fail_errs(x, "show", "import", &errs);
	else
		rc = show_conf(x, c);
	if (!rc && lnc_map_get(d->root, "statistics"))
		rc = lnc_show_statistics_all(x);
	lnc_conf_free(c);
	lnc_doc_free(d);
	lnc_errs_free(&errs);
	return rc;
}

/* ---- --exec -------------------------------------------------------------------------------- */

#define EXEC_NIDS_MAX 1024u

struct exec {
	struct lnc_ping_target t[EXEC_NIDS_MAX];
	struct lnet_nid v[EXEC_NIDS_MAX];
	unsigned n;
	struct lnet_nid source;
	bool has_source;
	int64_t timeout_ms;
};

static int exec_nids(struct exec *e, const struct lnc_node *nids, struct lnc_errs *errs)
{
	struct lnc_err err;

	if (nids->kind == LNC_SCALAR)
		return lnc_errs_add(errs, nids, -EINVAL, "a list of NIDs is needed");
	for (const struct lnc_node *n = nids->first; n; n = n->next) {
		if (n->kind != LNC_SCALAR)
			return lnc_errs_add(errs, n, -EINVAL, "a NID is needed");
		int count = lnc_nids_expand(n->text, e->v, EXEC_NIDS_MAX - e->n, &err);
		if (count < 0)
			return lnc_errs_add(errs, n, count, "%s", err.msg);
		for (int i = 0; i < count; i++)
			e->t[e->n++] = (struct lnc_ping_target){
			        .nid = e->v[i], .pid = LNET_PID_LUSTRE, .text = n->text};
	}
	return 0;
}

static int exec_ping(struct exec *e, const struct lnc_node *ping, struct lnc_errs *errs)
{
	struct lnc_err err;
	int rc = 0;

	if (ping->kind != LNC_MAP)
		return lnc_errs_add(errs, ping, -EINVAL, "'ping' needs a mapping");
	for (const struct lnc_node *n = ping->first; n && !rc; n = n->next) {
		if (!strcmp(n->key, "timeout") && n->kind == LNC_SCALAR) {
			rc = lnc_int_check(
			        "timeout", "ms", 1, 3600000, n->text, &e->timeout_ms, &err);
		} else if (!strcmp(n->key, "source") && n->kind == LNC_SCALAR) {
			struct lnet_parse_err pe;
			e->has_source = true;
			rc = lnet_nid_parse(n->text, n->len, &e->source, &pe);
			if (rc)
				lnc_err_set(&err, rc, "source: %s", pe.msg);
		} else if (!strcmp(n->key, "nids")) {
			rc = exec_nids(e, n, errs);
			if (rc)
				return rc;
		} else {
			return lnc_errs_key(errs, n, -EINVAL, "invalid key '%.60s'", n->key);
		}
		if (rc)
			return lnc_errs_add(errs, n, rc, "%s", err.msg);
	}
	if (!e->n)
		return lnc_errs_add(errs, ping, -EINVAL, "'ping' has no nids");
	return 0;
}

static int exec_doc(struct exec *e, const struct lnc_node *root, struct lnc_errs *errs)
{
	const struct lnc_node *ping = lnc_map_get(root, "ping"),
	                      *disc = lnc_map_get(root, "discover");

	if (disc)
		return lnc_errs_key(errs, disc, -EOPNOTSUPP, "'discover' cannot be executed yet");
	if (!ping)
		return lnc_errs_add(errs, root, -EINVAL, "nothing to execute: there is no 'ping'");
	return exec_ping(e, ping, errs);
}

static int exec(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lnc_arena mem;
	struct lnc_doc *d = NULL;
	struct lnc_errs errs;
	int rc;

	lnc_arena_init(&mem, 0);
	lnc_errs_init(&errs, NULL);
	struct exec *e = lnc_arena_alloc(&mem, sizeof(*e));
	rc = e ? lnc_doc_parse(r->input, r->input_len, &d, &errs) : -ENOMEM;
	if (!rc)
		rc = exec_doc(e, d->root, &errs);
	if (rc)
		lnc_fail_errs(x, "manage", "import", &errs);
	else
		rc = lnc_ping_run(x, e->t, e->n, e->has_source ? &e->source : NULL,
		        (uint64_t)e->timeout_ms * 1000000u, 0);
	lnc_doc_free(d);
	lnc_errs_free(&errs);
	lnc_arena_free(&mem);
	return rc;
}

/* ---- the command --------------------------------------------------------------------------- */

static int import(struct lnc_ctx *x, const struct lnc_req *r)
{
	unsigned dry = lnc_req_flag(r, "dry-run") ? LNET_CONFIG_CHECK : 0;

	if (!r->input)
		return lnc_misuse(x, "add", "import", -EINVAL, "nothing to import");
	if (lnc_req_flag(r, "show"))
		return show(x, r);
	if (lnc_req_flag(r, "exec"))
		return exec(x, r);
	if (lnc_req_flag(r, "del"))
		return change(x, r, LNET_CONFIG_DELETE | dry, "del");
	if (lnc_req_flag(r, "replace"))
		return change(x, r, LNET_CONFIG_REPLACE | dry, "add");
	return change(x, r, dry, "add");
}

static int import_check(const struct lnc_req *r, struct lnc_err *err)
{
	static const char *const ways[] = {"add", "del", "show", "exec", "replace"};
	const char *first = NULL;

	for (size_t i = 0; i < LNC_LEN(ways); i++) {
		if (!lnc_req_flag(r, ways[i]))
			continue;
		if (first)
			return lnc_err_set(err, -EINVAL, "import: --%s and --%s exclude each other",
			        first, ways[i]);
		first = ways[i];
	}
	if (lnc_req_flag(r, "dry-run") && (lnc_req_flag(r, "show") || lnc_req_flag(r, "exec")))
		return lnc_err_set(
		        err, -EINVAL, "import: --dry-run and --%s exclude each other", first);
	return 0;
}

static const struct lnc_opt import_opts[] = {
        {.name = "add",
                .letter = 'a',
                .kind = LNC_A_FLAG,
                .help = "add what it names (the default)"},
        {.name = "del", .letter = 'd', .kind = LNC_A_FLAG, .help = "remove what it names"},
        {.name = "show",
                .letter = 's',
                .kind = LNC_A_FLAG,
                .help = "show what it names as it runs"},
        {.name = "exec", .letter = 'e', .kind = LNC_A_FLAG, .help = "execute its ping block"},
        {.name = "replace",
                .letter = 'r',
                .kind = LNC_A_FLAG,
                .help = "add what it names and remove everything else"},
        {.name = "dry-run",
                .letter = 'n',
                .kind = LNC_A_FLAG,
                .help = "check it, print the steps, change nothing"},
        {.name = "old-api",
                .letter = 'o',
                .kind = LNC_A_FLAG,
                .flags = LNC_O_REFUSED,
                .help = "there is one interface alone"},
};

const struct lnc_cmd lnc_cmds_import[] = {
        {.path = "import",
                .help = "apply a configuration in YAML",
                .more = "The file, or standard input, is read whole, checked whole, and applied as "
                        "one "
                        "transaction: an error anywhere leaves the node as it was.",
                .flags = LNC_C_INPUT,
                .opts = import_opts,
                .nopts = LNC_LEN(import_opts),
                .arg = "[FILE]",
                .arg_kind = LNC_A_FILE,
                .arg_max = 1,
                .check = import_check,
                .run = import},
        {0},
};
