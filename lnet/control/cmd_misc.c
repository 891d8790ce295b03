/* SPDX-License-Identifier: BSD-2-Clause */
/* lnet, stats, global, set, version, list-commands. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/origin.h"
#include "lnet/control/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- lnet ---------------------------------------------------------------------------------- */

static int nothing(struct lnc_ctx *x, const struct lnc_req *r)
{
	(void)x;
	(void)r;
	return 0;
}

static const struct lnc_opt configure_opts[] = {
        {.name = "all", .letter = 'a', .kind = LNC_A_FLAG, .help = "accepted"},
        {.name = "large", .letter = 'l', .kind = LNC_A_FLAG, .help = "accepted"},
};

const struct lnc_cmd lnc_cmds_lnet[] = {
        {.path = "lnet configure",
                .help = "accepted for scripts: a node is configured when it runs",
                .flags = LNC_C_READ,
                .opts = configure_opts,
                .nopts = LNC_LEN(configure_opts),
                .run = nothing},
        {.path = "lnet unconfigure",
                .help = "accepted for scripts: stop ulnetd instead",
                .flags = LNC_C_READ,
                .run = nothing},
        {0},
};

/* ---- stats --------------------------------------------------------------------------------- */

/* lnetctl's keys, in its order. `as`: the node's own name of it. */
static const struct {
	const char *key, *as;
} lnet_stats[] = {{"msgs_alloc", NULL}, {"msgs_max", NULL},
        {"rst_alloc", "msgs_alloc"}, /* one table: an operation is what waits for a response */
        {"errors", NULL}, {"send_count", NULL}, {"resend_count", NULL},
        {"response_timeout_count", NULL}, {"local_interrupt_count", NULL},
        {"local_dropped_count", NULL}, {"local_aborted_count", NULL},
        {"local_no_route_count", NULL}, {"local_timeout_count", NULL}, {"local_error_count", NULL},
        {"remote_dropped_count", NULL}, {"remote_error_count", NULL},
        {"remote_timeout_count", NULL}, {"network_timeout_count", NULL}, {"failed_resends", NULL},
        {"successful_resends", NULL}, {"recv_count", NULL}, {"route_count", NULL},
        {"drop_count", NULL}, {"send_length", NULL}, {"recv_length", NULL}, {"route_length", NULL},
        {"drop_length", NULL}};

#define COUNTERS_MAX 128u

struct counters {
	struct {
		const char *name;
		uint64_t value;
		bool shown;
	} v[COUNTERS_MAX];
	unsigned n;
};

static int one_counter(void *arg, const char *name, uint64_t value)
{
	struct counters *c = arg;

	if (c->n == COUNTERS_MAX)
		return -E2BIG;
	c->v[c->n].name = name;
	c->v[c->n].shown = false;
	c->v[c->n++].value = value;
	return 0;
}

static int find_counter(const struct counters *c, const char *name)
{
	for (unsigned i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return (int)i;
	return -1;
}

int lnc_show_statistics_all(struct lnc_ctx *x)
{
	struct lnc_node *m = lnc_out_map(x, "statistics", LNC_STYLE_CYAML);
	struct counters c = {.n = 0};
	int rc = lnet_stats_each(x->n, one_counter, &c);

	for (size_t k = 0; k < LNC_LEN(lnet_stats); k++) {
		const char *key = lnet_stats[k].key, *as = lnet_stats[k].as;
		int i = find_counter(&c, key);
		if (i < 0 && as)
			i = find_counter(&c, as);
		/* what a node cannot do (route, resend) it does not count: it did it zero times */
		lnc_map_add_u64(m, key, i < 0 ? 0 : c.v[i].value);
		if (i >= 0 && !strcmp(c.v[i].name, key))
			c.v[i].shown = true;
	}
	for (unsigned i = 0; i < c.n; i++)
		if (!c.v[i].shown)
			lnc_map_add_u64(m, c.v[i].name, c.v[i].value);
	return rc ? lnc_fail(x, "show", "statistics", rc, "%s", strerror(-rc)) : 0;
}

static int stats_show(struct lnc_ctx *x, const struct lnc_req *r)
{
	(void)r;
	return lnc_show_statistics_all(x);
}

static int stats_reset(struct lnc_ctx *x, const struct lnc_req *r)
{
	(void)r;
	lnet_stats_reset(x->n);
	return 0;
}

const struct lnc_cmd lnc_cmds_stats[] = {
        {.path = "stats show",
                .help = "show the counters of the node",
                .more = "Counters have 64 bits and do not wrap. Those of lnetctl come first.",
                .flags = LNC_C_READ,
                .run = stats_show},
        {.path = "stats reset",
                .help = "set the counters of the node, its NIs and peers to zero",
                .run = stats_reset},
        {0},
};

/* ---- global -------------------------------------------------------------------------------- */

void lnc_show_global(struct lnc_ctx *x, bool origins)
{
	unsigned n;
	const struct lnet_tunable *t = lnet_globals(&n);
	struct lnc_node *m = lnc_out_map(x, "global", LNC_STYLE_CYAML), *o;
	int64_t v;

	for (unsigned i = 0; i < n; i++)
		if (!lnet_global_get(x->n, t[i].name, &v))
			lnc_map_add_i64(m, t[i].name, v);
	if (!origins)
		return;
	o = lnc_map_add_map(m, "origin");
	for (unsigned i = 0; i < n; i++)
		lnc_map_add_str(o, t[i].name,
		        t[i].flags & LNET_TUN_READONLY
		                ? "derived"
		                : lnc_origin_global(
		                          x->c, t[i].name, lnet_global_is_set(x->n, t[i].name)));
}

static int global_show(struct lnc_ctx *x, const struct lnc_req *r)
{
	lnc_show_global(x, lnc_req_level(r) > 0);
	return 0;
}

static const struct lnc_opt global_opts[] = {LNC_OPT_VERBOSE};

/* ---- set ----------------------------------------------------------------------------------- */

/* The names that are no global numbers. */
static const char *const other_names[] = {"log", "log_to", "selftest"};

static int unknown_name(const char *name, struct lnc_err *err)
{
	const char *list[64], *near;
	unsigned n, k = 0;
	const struct lnet_tunable *t = lnet_globals(&n);

	for (unsigned i = 0; i < n && k < 60; i++)
		list[k++] = t[i].name;
	for (size_t i = 0; i < LNC_LEN(other_names); i++)
		list[k++] = other_names[i];
	near = lnc_nearest(name, list, k);
	if (near)
		return lnc_err_set(err, -EINVAL,
		        "set: '%.80s' cannot be set; did you mean '%s'? See set --help", name,
		        near);
	return lnc_err_set(err, -EINVAL, "set: '%.80s' cannot be set; see set --help", name);
}

static int set_check(const struct lnc_req *r, struct lnc_err *err)
{
	const char *name = r->arg[0], *value = r->arg[1];
	unsigned n;
	const struct lnet_tunable *t = lnet_globals(&n);
	struct lnc_err one;
	enum lnet_log_level lv;
	int64_t num;
	bool on;
	int rc;

	t = lnc_tunable_find(t, n, name);
	if (t)
		rc = lnc_value_check(t, value, &num, &one);
	else if (!strcmp(name, "log"))
		rc = lnc_log_level_parse(value, &lv, &one);
	else if (!strcmp(name, "selftest"))
		rc = lnc_bool_check("selftest", value, &on, &one);
	else if (!strcmp(name, "log_to"))
		return 0;
	else
		return unknown_name(name, err);
	return rc ? lnc_err_set(err, rc, "set %s '%.80s': %s", name, value, one.msg) : 0;
}

int lnc_apply_doc(struct lnc_ctx *x, const struct lnc_doc *d, const char *op, const char *object)
{
	struct lnc_conf *change;
	struct lnc_here h;
	struct lnc_errs errs;
	int rc;

	lnc_errs_init(&errs, NULL);
	lnc_schema_of(x->c, NULL, &h);
	rc = lnc_conf_parse(d, &h.s, 0, &change, &errs);
	if (rc) {
		x->exit = LNC_EXIT_USAGE;
	} else {
		lnc_lock(x->c);
		rc = lnc_change(x->c, change, 0, "command", &errs, NULL, NULL);
		lnc_unlock(x->c);
		lnc_conf_free(change);
	}
	if (rc)
		lnc_fail_errs(x, op, object, &errs);
	lnc_errs_free(&errs);
	return rc;
}

static int set(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *name = r->arg[0], *value = r->arg[1];
	struct lnc_doc *d = lnc_doc_new();
	int rc;

	if (!d)
		return -ENOMEM;
	struct lnc_node *root = lnc_doc_map(d, LNC_STYLE_CYAML);
	if (!strcmp(name, "log"))
		lnc_map_add_str(lnc_map_add_map(root, "log"), "level", value);
	else if (!strcmp(name, "log_to"))
		lnc_map_add_str(lnc_map_add_map(root, "log"), "to", value);
	else if (!strcmp(name, "selftest"))
		lnc_map_add_str(root, "selftest", value);
	else
		lnc_map_add_str(lnc_map_add_map(root, "global"), name, value);
	rc = lnc_apply_doc(x, d, "set", name);
	lnc_doc_free(d);
	return rc;
}

const struct lnc_cmd lnc_cmds_global[] = {
        {.path = "global show",
                .help = "show the numbers of the node as a whole",
                .more = "Level 1 adds the origin of each value.",
                .flags = LNC_C_READ,
                .opts = global_opts,
                .nopts = LNC_LEN(global_opts),
                .run = global_show},
        {.path = "set",
                .help = "set a number of the node as a whole",
                .more = "Beside the numbers: log LEVEL (err, warn, info, debug, trace), log_to "
                        "TARGET "
                        "(stderr, syslog, or the path of a file), selftest true|false.",
                .arg = "NAME VALUE",
                .arg_kind = LNC_A_TEXT,
                .arg_min = 2,
                .arg_max = 2,
                .check = set_check,
                .run = set},
        {0},
};

/* ---- version, list-commands ---------------------------------------------------------------- */

static int version(struct lnc_ctx *x, const struct lnc_req *r)
{
	struct lnc_node *m = lnc_out_map(x, "version", LNC_STYLE_CYAML);

	(void)r;
	if (x->n) {
		lnc_map_add_str(m, "node", lnet_node_name(x->n));
		lnc_map_add_str(m, "ulnetd", lnet_version());
	} else {
		lnc_map_add_str(m, "ulnetctl", lnet_version());
	}
	return 0;
}

static int list_commands(struct lnc_ctx *x, const struct lnc_req *r)
{
	char *text = lnc_help_index();

	(void)r;
	if (!text)
		return -ENOMEM;
	x->text = lnc_arena_strdup(&x->doc->mem, text);
	free(text);
	return x->text ? 0 : -ENOMEM;
}

const struct lnc_cmd lnc_cmds_misc[] = {
        {.path = "version",
                .help = "show the versions of ulnetctl and, if one answers, of the node",
                .flags = LNC_C_READ | LNC_C_MAYBE,
                .run = version},
        {.path = "list-commands",
                .help = "list the commands",
                .flags = LNC_C_READ | LNC_C_LOCAL,
                .run = list_commands},
        {0},
};
