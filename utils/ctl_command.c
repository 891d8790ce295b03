/* SPDX-License-Identifier: BSD-2-Clause */
/* One command of ulnetctl: parse, run here or in the node, print. */
#include "lnet/control/file.h"
#include "utils/ctl.h"
#include <lnet/control.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ctl_print(const char *text)
{
	if (fputs(text, stdout) >= 0 && !fflush(stdout) && !ferror(stdout))
		return true;
	fprintf(stderr, "ulnetctl: standard output: %s\n", strerror(errno));
	return false;
}

static int print_made(char *text, int status)
{
	if (!text) {
		fputs("ulnetctl: no memory\n", stderr);
		return LNC_EXIT_FAILED;
	}
	if (!ctl_print(text))
		status = LNC_EXIT_FAILED;
	free(text);
	return status;
}

/* ---- help ---------------------------------------------------------------------------------- */

static int help(const struct lnc_req *r, int words, const char *const *argv)
{
	char prefix[128] = "";

	if (r->cmd)
		return print_made(lnc_help_cmd(r->cmd), LNC_EXIT_OK);
	for (int i = 0; i < words; i++) {
		size_t len = strlen(prefix);
		snprintf(prefix + len, sizeof(prefix) - len, "%s%s", i ? " " : "", argv[i]);
	}
	return print_made(words ? lnc_help_group(prefix) : lnc_help_all(), LNC_EXIT_OK);
}

/* ---- printing an answer -------------------------------------------------------------------- */

static void print_errors(const struct lnc_node *errors, bool json)
{
	char *text = errors && errors->count ? lnc_answer_text(errors, json, NULL) : NULL;

	if (!text)
		return;
	fputs(text, stderr);
	free(text);
}

/* The text of a result; "" when there is nothing to say. */
static char *result_text(const struct lnc_req *r, const struct lnc_node *result, bool json)
{
	bool empty = !result || !result->count;

	if (empty && !(json && (r->cmd->flags & LNC_C_READ)))
		return strdup("");
	return empty ? strdup("{}\n") : lnc_answer_text(result, json, NULL);
}

static int output(const struct lnc_req *r, char *text, int status)
{
	const char *path = r->cmd->flags & LNC_C_OUTPUT && r->nargs ? r->arg[r->nargs - 1] : NULL;
	struct lnc_err err;

	if (!path || !strcmp(path, "-"))
		return print_made(text, status);
	if (!text) {
		fputs("ulnetctl: no memory\n", stderr);
		return LNC_EXIT_FAILED;
	}
	if (!status && lnc_write_file_atomic(path, text, strlen(text), &err)) {
		fprintf(stderr, "ulnetctl: %s\n", err.msg);
		status = LNC_EXIT_FAILED;
	}
	free(text);
	return status;
}

static int finish(const struct lnc_req *r, bool json, const struct lnc_node *result,
        const struct lnc_node *errors, const char *text, int status)
{
	print_errors(errors, json);
	if (text && !json)
		return print_made(strdup(text), status);
	if (text) {
		struct lnc_doc *d = lnc_doc_new();
		char *line = NULL;
		if (d) {
			lnc_map_add_quoted(lnc_doc_map(d, LNC_STYLE_PING), "text", text);
			line = result_text(r, d->root, true);
		}
		lnc_doc_free(d);
		return print_made(line, status);
	}
	return output(r, result_text(r, result, json), status);
}

/* ---- running ------------------------------------------------------------------------------- */

static int read_input(struct lnc_req *r)
{
	const char *path = r->nargs ? r->arg[r->nargs - 1] : NULL;
	struct lnc_err err;
	char *text;
	size_t len;

	if (!path && (r->cmd->flags & LNC_C_NAMED))
		return 0;
	if (lnc_read_file(path, LNET_CONTROL_REQ_MAX, &text, &len, &err)) {
		fprintf(stderr, "ulnetctl: %s\n", err.msg);
		return LNC_EXIT_FAILED;
	}
	r->input = lnc_arena_strndup(&r->mem, text, len);
	r->input_len = len;
	free(text);
	if (r->input)
		return 0;
	fputs("ulnetctl: no memory\n", stderr);
	return LNC_EXIT_FAILED;
}

/* What cannot be carried in a request (NUL, invalid UTF-8, a broken document) is refused here, with
 * the words the node would use. */
static int check_input(struct lnc_req *r, bool json)
{
	const char *path = r->nargs ? r->arg[r->nargs - 1] : NULL;
	struct lnc_doc *d;
	struct lnc_errs errs;
	struct lnc_ctx x;
	int rc;

	lnc_errs_init(&errs, path && strcmp(path, "-") ? path : "standard input");
	rc = lnc_doc_parse(r->input, r->input_len, &d, &errs);
	if (!rc) {
		lnc_doc_free(d);
	} else if (!lnc_ctx_init(&x, NULL, NULL)) {
		lnc_fail_errs(&x, lnc_req_flag(r, "del") ? "del" : "add", r->cmd->path, &errs);
		print_errors(x.errors, json);
		lnc_ctx_free(&x);
	}
	lnc_errs_free(&errs);
	return rc ? LNC_EXIT_FAILED : 0;
}

static int no_daemon(const struct lnc_err *err)
{
	fprintf(stderr, "ulnetctl: %s\n", err->msg);
	return LNC_EXIT_NO_DAEMON;
}

static int run_remote(const struct ctl *c, struct lnc_req *r, bool json)
{
	const char *node = r->node ? r->node : c->node ? c->node : "ulnet";
	struct lnc_answer a;
	struct lnc_err err;
	int status;

	if (r->input && (status = check_input(r, json)))
		return status;
	if (ctl_ask(node, r, &a, &err))
		return no_daemon(&err);
	status = finish(r, json, a.result, a.errors, a.text, a.exit);
	lnc_answer_free(&a);
	return status;
}

/* What the node has to add to a local answer, if one runs. */
static void ask_more(const struct ctl *c, const struct lnc_req *r, struct lnc_ctx *x)
{
	const char *node = r->node ? r->node : c->node ? c->node : "ulnet";
	struct lnc_answer a;
	struct lnc_err err;

	if (ctl_ask(node, r, &a, &err))
		return;
	for (const struct lnc_node *m = a.result ? a.result->first : NULL; m; m = m->next) {
		struct lnc_node *to = lnc_map_get(x->result, m->key);
		for (const struct lnc_node *n = m->first; to && n; n = n->next)
			if (!lnc_map_get(to, n->key))
				lnc_node_copy(to, n->key, n);
	}
	lnc_answer_free(&a);
}

static int run_local(const struct ctl *c, struct lnc_req *r, bool json)
{
	struct lnc_ctx x;
	int status;

	if (lnc_ctx_init(&x, NULL, NULL)) {
		fputs("ulnetctl: no memory\n", stderr);
		return LNC_EXIT_FAILED;
	}
	lnc_cmd_run(&x, r);
	if (r->cmd->flags & LNC_C_MAYBE)
		ask_more(c, r, &x);
	status = finish(r, json, x.result, x.errors, x.text, x.exit);
	lnc_ctx_free(&x);
	return status;
}

static int run(const struct ctl *c, struct lnc_req *r)
{
	bool json = c->json || r->json;
	int status = ctl_resolve(c, r);

	if (!status && (r->cmd->flags & LNC_C_INPUT))
		status = read_input(r);
	if (status)
		return status;
	if (r->cmd->flags & (LNC_C_LOCAL | LNC_C_MAYBE))
		return run_local(c, r, json);
	return run_remote(c, r, json);
}

int ctl_command(const struct ctl *c, int argc, const char *const *argv)
{
	struct lnc_req r;
	struct lnc_err err;
	int words = 0, status;

	lnc_req_init(&r);
	if (lnc_cmd_parse(&r, argc, argv, &words, &err)) {
		fprintf(stderr, "ulnetctl: %s\n", err.msg);
		status = LNC_EXIT_USAGE;
	} else if (r.help) {
		status = help(&r, words, argv);
	} else {
		status = run(c, &r);
	}
	lnc_req_free(&r);
	return status;
}
