/* SPDX-License-Identifier: BSD-2-Clause */
/* export: everything, or with --backup what is configuration. */
#include "lnet/control/cmd_priv.h"

#include <errno.h>
#include <string.h>

static int copy_root(struct lnc_ctx *x, const struct lnc_doc *d)
{
	for (const struct lnc_node *n = d->root ? d->root->first : NULL; n; n = n->next) {
		struct lnc_node *copy = lnc_node_copy(x->result, n->key, n);
		if (!copy)
			return -ENOMEM;
		copy->style = n->style ? n->style : d->root->style;
	}
	return 0;
}

/* conf_only: all of it; else what the full form does not show by itself. */
static int add_conf(struct lnc_ctx *x, struct lnc_conf *c, bool conf_only)
{
	struct lnc_doc *d = lnc_doc_new();
	int rc = d ? 0 : -ENOMEM;

	if (!conf_only) {
		c->nnet = c->npeer = c->nglobal = 0;
	}
	if (!rc)
		rc = lnc_conf_export(c, d);
	if (!rc)
		rc = copy_root(x, d);
	lnc_doc_free(d);
	return rc;
}

static int export(struct lnc_ctx *x, const struct lnc_req *r)
{
	bool backup = lnc_req_flag(r, "backup");
	struct lnc_conf *c;
	int rc;

	lnc_lock(x->c);
	rc = lnc_collect(x->c, LNC_COLLECT_EFFECTIVE, &c);
	lnc_unlock(x->c);
	if (rc)
		return lnc_fail(x, "show", "export", rc, "%s", strerror(-rc));
	if (!backup) {
		lnc_show_nets(x, LNET_NET_ANY, NULL, 2, true);
		lnc_show_peers(x, NULL, 3);
		lnc_show_global(x, false);
	}
	rc = add_conf(x, c, backup);
	lnc_conf_free(c);
	return rc ? lnc_fail(x, "show", "export", rc, "%s", strerror(-rc)) : 0;
}

static const struct lnc_opt export_opts[] = {
        {.name = "backup",
                .letter = 'b',
                .kind = LNC_A_FLAG,
                .help = "configuration alone: no states, counters or values that cannot be set"},
};

const struct lnc_cmd lnc_cmds_export[] = {
        {.path = "export",
                .help = "print the configuration in YAML",
                .more = "What it prints can be imported. A file is replaced as a whole, or left as "
                        "it was "
                        "when it cannot be written.",
                .flags = LNC_C_READ | LNC_C_OUTPUT,
                .opts = export_opts,
                .nopts = LNC_LEN(export_opts),
                .arg = "[FILE]",
                .arg_kind = LNC_A_FILE,
                .arg_max = 1,
                .run = export},
        {0},
};
