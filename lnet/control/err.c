/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors of the configuration, collected and printed. */
#include "lnet/control/doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lnc_errs_init(struct lnc_errs *e, const char *file)
{
	memset(e, 0, sizeof(*e));
	e->file = file;
}

void lnc_errs_free(struct lnc_errs *e)
{
	free(e->v);
	lnc_errs_init(e, e->file);
}

/* Messages quote what a user wrote; a terminal must not obey it. */
static void defuse(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
	}
}

static struct lnc_err *slot(struct lnc_errs *e, int code)
{
	if (code)
		e->errors++;
	else
		e->notices++;
	if (e->n == LNC_ERRS_MAX)
		return NULL;
	if (e->n == e->cap) {
		unsigned cap = e->cap ? e->cap * 2 : 4;
		void *p = realloc(e->v, cap * sizeof(*e->v));

		if (!p) {
			e->nomem = true;
			return NULL;
		}
		e->v = p;
		e->cap = cap;
	}
	memset(&e->v[e->n], 0, sizeof(*e->v));
	return &e->v[e->n++];
}

__attribute__((format(printf, 5, 0))) static int add(struct lnc_errs *e, const struct lnc_node *at,
        bool key, int code, const char *fmt, va_list ap)
{
	struct lnc_err *x = e ? slot(e, code) : NULL;

	if (!x)
		return code;
	x->code = code;
	x->notice = !code;
	if (at) {
		x->line = key ? at->key_line : at->line;
		x->column = key ? at->key_column : at->column;
		lnc_node_path(at, x->path, sizeof(x->path));
		defuse(x->path);
	}
	vsnprintf(x->msg, sizeof(x->msg), fmt, ap);
	defuse(x->msg);
	return code;
}

int lnc_errs_add(struct lnc_errs *e, const struct lnc_node *at, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(e, at, false, code, fmt, ap);
	va_end(ap);
	return code;
}

int lnc_errs_key(struct lnc_errs *e, const struct lnc_node *at, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(e, at, true, code, fmt, ap);
	va_end(ap);
	return code;
}

int lnc_errs_at(struct lnc_errs *e, uint32_t line, uint32_t column, int code, const char *fmt, ...)
{
	unsigned before = e ? e->n : 0;
	va_list ap;

	va_start(ap, fmt);
	add(e, NULL, false, code, fmt, ap);
	va_end(ap);
	if (e && e->n > before) {
		e->v[before].line = line;
		e->v[before].column = column;
	}
	return code;
}

int lnc_err_set(struct lnc_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	defuse(err->msg);
	return code;
}

int lnc_errs_code(const struct lnc_errs *e)
{
	int code = 0;

	for (unsigned i = 0; i < e->n; i++) {
		if (e->v[i].code == -ENOMEM)
			return -ENOMEM;
		if (!code)
			code = e->v[i].code;
	}
	if (!code && e->errors)
		return e->nomem ? -ENOMEM : -EINVAL;
	return code;
}

char *lnc_err_str(const struct lnc_errs *e, const struct lnc_err *err, char *buf, size_t size)
{
	char where[48] = "";

	if (err->line)
		snprintf(where, sizeof(where), "%u:%u: ", err->line, err->column);
	snprintf(buf, size, "%s%s%s%s%s%s%s", e && e->file ? e->file : "",
	        e && e->file ? (err->line ? ":" : ": ") : "", where, err->notice ? "note: " : "",
	        err->path, err->path[0] ? ": " : "", err->msg);
	return buf;
}

char *lnc_errs_text(const struct lnc_errs *e)
{
	char line[1024], *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	unsigned lost = e->errors + e->notices - e->n;

	if (!f)
		return NULL;
	for (unsigned i = 0; i < e->n; i++)
		fprintf(f, "%s\n", lnc_err_str(e, &e->v[i], line, sizeof(line)));
	if (lost)
		fprintf(f, "%u more (at most %u are shown)\n", lost, LNC_ERRS_MAX);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
