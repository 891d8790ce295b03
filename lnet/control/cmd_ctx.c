/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer of a command while it is being made. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/request.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lnc_ctx_init(struct lnc_ctx *x, struct lnet *n, struct lnet_control *c)
{
	memset(x, 0, sizeof(*x));
	x->n = n;
	x->c = c;
	x->client_fd = x->stop_fd = -1;
	x->doc = lnc_doc_new();
	if (!x->doc)
		return -ENOMEM;
	struct lnc_node *root = lnc_doc_map(x->doc, LNC_STYLE_PING);
	lnc_map_add_i64(root, "ulnet", LNC_PROTOCOL);
	x->result = lnc_map_add_map(root, "result");
	x->errors = lnc_node_style(lnc_map_add_map(root, "errors"), LNC_STYLE_NET);
	if (!x->result || !x->errors) {
		lnc_doc_free(x->doc);
		return -ENOMEM;
	}
	return 0;
}

void lnc_ctx_free(struct lnc_ctx *x)
{
	lnc_doc_free(x->doc);
	x->doc = NULL;
}

void lnc_cmd_run(struct lnc_ctx *x, const struct lnc_req *r)
{
	int rc = r->cmd->run(x, r);

	if (rc && !x->exit)
		lnc_fail(x, "show", "answer", rc, "%s: %s", r->cmd->path, strerror(-rc));
	if (!lnc_doc_ok(x->doc))
		x->exit = LNC_EXIT_FAILED;
}

struct lnc_node *lnc_out_seq(struct lnc_ctx *x, const char *key, enum lnc_style style)
{
	struct lnc_node *n = lnc_map_get(x->result, key);

	if (!n)
		n = lnc_map_add_seq(x->result, key);
	if (n)
		n->style = (uint8_t)style;
	return n;
}

struct lnc_node *lnc_out_map(struct lnc_ctx *x, const char *key, enum lnc_style style)
{
	struct lnc_node *n = lnc_map_get(x->result, key);

	if (!n)
		n = lnc_map_add_map(x->result, key);
	if (n)
		n->style = (uint8_t)style;
	return n;
}

static void block(struct lnc_ctx *x, const char *op, const char *object, int code, const char *text)
{
	struct lnc_node *list = lnc_map_get(x->errors, op);

	if (!list)
		list = lnc_map_add_seq(x->errors, op);
	struct lnc_node *item = lnc_seq_add_map(list);
	lnc_map_add_null(item, object);
	lnc_map_add_i64(item, "errno", code);
	lnc_map_add_quoted(item, "descr", text);
}

static void vblock(struct lnc_ctx *x, int exit_code, const char *op, const char *object, int code,
        const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	block(x, op, object, code, text);
	if (!x->exit)
		x->exit = exit_code;
}

int lnc_fail(struct lnc_ctx *x, const char *op, const char *object, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vblock(x, LNC_EXIT_FAILED, op, object, code, fmt, ap);
	va_end(ap);
	return code;
}

int lnc_misuse(
        struct lnc_ctx *x, const char *op, const char *object, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vblock(x, LNC_EXIT_USAGE, op, object, code, fmt, ap);
	va_end(ap);
	return code;
}

int lnc_fail_errs(struct lnc_ctx *x, const char *op, const char *object, const struct lnc_errs *e)
{
	char text[LNC_PATH_MAX + LNC_MSG_MAX + 300];

	for (unsigned i = 0; i < e->n; i++)
		block(x, op, object, e->v[i].notice ? 0 : e->v[i].code,
		        lnc_err_str(e, &e->v[i], text, sizeof(text)));
	if (e->errors > LNC_ERRS_MAX) {
		snprintf(text, sizeof(text), "%u more errors", e->errors - LNC_ERRS_MAX);
		block(x, op, object, -EINVAL, text);
	}
	if ((e->errors || e->nomem) && !x->exit)
		x->exit = LNC_EXIT_FAILED;
	return lnc_errs_code(e);
}
