/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/control/request.h"
#include "lnet/control/cmd_priv.h"
#include "lnet/control/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *lnc_req_encode(const struct lnc_req *r, size_t *len)
{
	struct lnc_doc *d = lnc_doc_new();
	char *text;

	if (!d)
		return NULL;
	struct lnc_node *root = lnc_doc_map(d, LNC_STYLE_PING);
	lnc_map_add_i64(root, "ulnet", LNC_PROTOCOL);
	lnc_map_add_str(root, "command", r->cmd->path);
	struct lnc_node *options = lnc_map_add_map(root, "options");
	for (unsigned i = 0; i < r->cmd->nopts; i++) {
		if (!r->val[i].given)
			continue;
		if (r->val[i].text)
			lnc_map_add_quoted(options, r->cmd->opts[i].name, r->val[i].text);
		else
			lnc_map_add_null(options, r->cmd->opts[i].name);
	}
	struct lnc_node *args = lnc_map_add_seq(root, "args");
	/* files are the caller's: the node has no use for their names */
	for (unsigned i = 0; i < r->nargs && r->cmd->arg_kind != LNC_A_FILE; i++)
		lnc_seq_add_str(args, r->arg[i]);
	if (r->input)
		lnc_map_add_quoted(root, "input", r->input);
	text = lnc_doc_yaml(d, len);
	lnc_doc_free(d);
	return text;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static int decode_options(struct lnc_req *r, const struct lnc_node *map, struct lnc_err *err)
{
	if (map->kind != LNC_MAP)
		return lnc_err_set(err, -EINVAL, "request: options is no mapping");
	for (const struct lnc_node *n = map->first; n; n = n->next) {
		unsigned i = 0;
		while (i < r->cmd->nopts && strcmp(r->cmd->opts[i].name, n->key))
			i++;
		if (i == r->cmd->nopts)
			return lnc_err_set(
			        err, -EINVAL, "%s: unknown option '--%.80s'", r->cmd->path, n->key);
		if (n->kind != LNC_SCALAR)
			return lnc_err_set(
			        err, -EINVAL, "%s: --%s is no single value", r->cmd->path, n->key);
		r->val[i].given = true;
		if (lnc_node_is_null(n))
			continue;
		r->val[i].text = lnc_arena_strndup(&r->mem, n->text, n->len);
		if (!r->val[i].text)
			return lnc_err_set(err, -ENOMEM, "no memory");
	}
	return 0;
}

static int decode_args(struct lnc_req *r, const struct lnc_node *seq, struct lnc_err *err)
{
	if (seq->kind != LNC_SEQ)
		return lnc_err_set(err, -EINVAL, "request: args is no list");
	for (const struct lnc_node *n = seq->first; n; n = n->next) {
		if (n->kind != LNC_SCALAR)
			return lnc_err_set(err, -EINVAL, "request: an argument is no single value");
		int rc = lnc_req_add_arg(r, n->text, err);
		if (rc)
			return rc;
	}
	return 0;
}

static int decode_root(struct lnc_req *r, const struct lnc_node *root, struct lnc_err *err)
{
	const struct lnc_node *n;
	int64_t version;
	int rc = 0;

	if (!root || root->kind != LNC_MAP)
		return lnc_err_set(err, -EINVAL, "request: a mapping was expected");
	for (n = root->first; n; n = n->next)
		if (strcmp(n->key, "ulnet") && strcmp(n->key, "command") &&
		        strcmp(n->key, "options") && strcmp(n->key, "args") &&
		        strcmp(n->key, "input"))
			return lnc_err_set(err, -EINVAL, "request: unknown key '%.80s'", n->key);
	const char *v = lnc_map_text(root, "ulnet"), *path = lnc_map_text(root, "command");
	if (!v || lnc_int_check("ulnet", "", 1, INT32_MAX, v, &version, NULL))
		return lnc_err_set(err, -EINVAL, "request: 'ulnet: %d' is missing", LNC_PROTOCOL);
	if (version != LNC_PROTOCOL)
		return lnc_err_set(err, -EPROTONOSUPPORT,
		        "request: version %lld, this node speaks version %d", (long long)version,
		        LNC_PROTOCOL);
	if (!path)
		return lnc_err_set(err, -EINVAL, "request: 'command' is missing");
	const struct lnc_cmd *c = lnc_cmd_find(path);
	if (!c)
		return lnc_err_set(err, -EINVAL, "'%.80s' is not a command", path);
	if (c->flags & LNC_C_LOCAL)
		return lnc_err_set(err, -EINVAL, "%s does not run in the node", c->path);
	if (lnc_req_alloc(r, c))
		return lnc_err_set(err, -ENOMEM, "no memory");
	n = lnc_map_get(root, "options");
	if (n && !lnc_node_is_null(n))
		rc = decode_options(r, n, err);
	n = lnc_map_get(root, "args");
	if (!rc && n && !lnc_node_is_null(n))
		rc = decode_args(r, n, err);
	n = lnc_map_get(root, "input");
	if (!rc && n) {
		if (n->kind != LNC_SCALAR)
			return lnc_err_set(err, -EINVAL, "request: input is no text");
		r->input = lnc_arena_strndup(&r->mem, n->text, n->len);
		r->input_len = n->len;
		if (!r->input)
			rc = lnc_err_set(err, -ENOMEM, "no memory");
	}
	return rc;
}

int lnc_req_decode(struct lnc_req *r, const char *text, size_t len, struct lnc_err *err)
{
	struct lnc_doc *d;
	struct lnc_errs errs;
	int rc;

	lnc_errs_init(&errs, NULL);
	rc = lnc_doc_parse(text, len, &d, &errs);
	if (rc) {
		lnc_err_set(err, rc, "request, line %u column %u: %s", errs.n ? errs.v[0].line : 0,
		        errs.n ? errs.v[0].column : 0, errs.n ? errs.v[0].msg : "not readable");
		lnc_errs_free(&errs);
		return rc;
	}
	lnc_errs_free(&errs);
	rc = decode_root(r, d->root, err);
	lnc_doc_free(d);
	return rc ? rc : lnc_req_check(r, err);
}

/* ---- answers ------------------------------------------------------------------------------- */

char *lnc_answer_encode(struct lnc_ctx *x, size_t *len)
{
	struct lnc_node *root = lnc_doc_map(x->doc, LNC_STYLE_PING);

	lnc_map_add_i64(root, "exit", x->exit);
	struct lnc_node *style = lnc_map_add_map(root, "style");
	for (const struct lnc_node *n = x->result->first; n; n = n->next)
		if (n->style)
			lnc_map_add_u64(style, n->key, n->style);
	if (x->text)
		lnc_map_add_quoted(root, "text", x->text);
	return lnc_doc_yaml(x->doc, len);
}

static void decode_styles(struct lnc_node *result, const struct lnc_node *style)
{
	for (struct lnc_node *n = result->first; n; n = n->next) {
		const char *t = lnc_map_text(style, n->key);
		if (t && t[0] >= '1' && t[0] <= '3' && !t[1])
			lnc_node_style(n, (enum lnc_style)(t[0] - '0'));
	}
}

int lnc_answer_decode(struct lnc_answer *a, const char *text, size_t len, struct lnc_err *err)
{
	struct lnc_errs errs;
	int64_t code = 0;
	int rc;

	memset(a, 0, sizeof(*a));
	lnc_errs_init(&errs, NULL);
	rc = lnc_doc_parse_large(text, len, &a->doc, &errs);
	if (rc)
		lnc_err_set(err, -EPROTO, "the node's answer cannot be read: %s",
		        errs.n ? errs.v[0].msg : "no memory");
	lnc_errs_free(&errs);
	if (rc)
		return -EPROTO;
	const char *t = lnc_map_text(a->doc->root, "exit");
	if (!t || lnc_int_check("exit", "", 0, 255, t, &code, NULL)) {
		lnc_answer_free(a);
		return lnc_err_set(err, -EPROTO, "what answered is no node of ulnet");
	}
	a->exit = (int)code;
	a->result = lnc_map_get(a->doc->root, "result");
	a->errors = lnc_map_get(a->doc->root, "errors");
	a->text = lnc_map_text(a->doc->root, "text");
	if (a->result && a->result->kind == LNC_MAP)
		decode_styles(a->result, lnc_map_get(a->doc->root, "style"));
	return 0;
}

void lnc_answer_free(struct lnc_answer *a)
{
	lnc_doc_free(a->doc);
	memset(a, 0, sizeof(*a));
}

char *lnc_answer_text(const struct lnc_node *map, bool json, size_t *len)
{
	struct lnc_doc view = {.root = (struct lnc_node *)map};

	return json ? lnc_doc_json(&view, false, len) : lnc_doc_yaml(&view, len);
}
