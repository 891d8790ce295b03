/* SPDX-License-Identifier: BSD-2-Clause */
/* A document tree to text: YAML in lnetctl's shapes, and JSON. */
#include "lnet/control/doc.h"
#include "lnet/control/scalar.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
	unsigned seq;  /* column of a dash relative to its key */
	unsigned item; /* of an item's text relative to its dash */
	unsigned map;  /* of a mapping relative to its key */
};

static const struct shape *shape_of(const struct lnc_node *n)
{
	static const struct shape shapes[] = {
	        [LNC_STYLE_INHERIT] = {0, 6, 6},
	        [LNC_STYLE_NET] = {0, 6, 6},
	        [LNC_STYLE_PING] = {0, 2, 2},
	        [LNC_STYLE_CYAML] = {4, 2, 4},
	};

	while (n && n->style == LNC_STYLE_INHERIT)
		n = n->parent;
	return &shapes[n ? n->style : LNC_STYLE_NET];
}

static void blanks(FILE *f, unsigned n)
{
	fprintf(f, "%*s", (int)n, "");
}

static void quoted(FILE *f, const char *s, size_t len, bool json)
{
	uint32_t cp;
	unsigned n;

	fputc('"', f);
	for (size_t i = 0; i < len; i += n) {
		n = lnc_utf8(s + i, len - i, &cp);
		if (!n) { /* a builder's text that is no UTF-8: say so rather than write an invalid
			     file */
			n = 1;
			cp = 0xfffd;
			fputs("\\ufffd", f);
		} else if (cp == '"' || cp == '\\') {
			fprintf(f, "\\%c", (char)cp);
		} else if (cp == '\n') {
			fputs("\\n", f);
		} else if (cp == '\t') {
			fputs("\\t", f);
		} else if (cp < 0x20 || (cp >= 0x7f && cp < 0x10000)) {
			fprintf(f, "\\u%04" PRIx32, cp);
		} else if (cp >= 0x10000 && json) {
			fprintf(f, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((cp - 0x10000) >> 10),
			        0xdc00 + ((cp - 0x10000) & 0x3ff));
		} else if (cp >= 0x10000) {
			fprintf(f, "\\U%08" PRIx32, cp);
		} else {
			fputc((char)cp, f);
		}
	}
	fputc('"', f);
}

static void text(FILE *f, const char *s, size_t len, bool force)
{
	if (force || !lnc_plain_safe(s, len))
		quoted(f, s, len, false);
	else
		fwrite(s, 1, len, f);
}

static void key_text(FILE *f, const char *key)
{
	/* libyaml takes a simple key of up to 1024 characters; a longer one needs the "?" form. */
	size_t len = strlen(key);

	if (len > 128) {
		fputs("? ", f);
		quoted(f, key, len, false);
		return;
	}
	text(f, key, len, lnc_plain_type(key, len) == LNC_NULL);
}

static void write_block(FILE *f, const struct lnc_node *n, unsigned column);

/* A scalar or an empty mapping or sequence, to the end of the line. */
static void write_inline(FILE *f, const struct lnc_node *n, bool null_shown)
{
	if (n->kind != LNC_SCALAR) {
		fputs(n->kind == LNC_MAP ? " {}\n" : " []\n", f);
		return;
	}
	if (lnc_node_is_null(n)) {
		fputs(null_shown ? " ~\n" : "\n", f);
		return;
	}
	fputc(' ', f);
	text(f, n->text, n->len, n->quoted);
	fputc('\n', f);
}

static void write_entry(FILE *f, const struct lnc_node *c, unsigned column)
{
	key_text(f, c->key);
	if (strlen(c->key) > 128) {
		fputc('\n', f);
		blanks(f, column);
	}
	fputc(':', f);
	if (!c->count) {
		write_inline(f, c, false);
		return;
	}
	fputc('\n', f);
	column += c->kind == LNC_MAP ? shape_of(c)->map : shape_of(c)->seq;
	blanks(f, column);
	write_block(f, c, column);
}

static void write_item(FILE *f, const struct lnc_node *c, unsigned column)
{
	unsigned step = shape_of(c)->item;

	fputc('-', f);
	if (!c->count) {
		write_inline(f, c, true);
		return;
	}
	blanks(f, step - 1);
	write_block(f, c, column + step);
}

/* A mapping or sequence with something in it. The cursor stands at its column. */
static void write_block(FILE *f, const struct lnc_node *n, unsigned column)
{
	for (const struct lnc_node *c = n->first; c; c = c->next) {
		if (c != n->first)
			blanks(f, column);
		if (n->kind == LNC_MAP)
			write_entry(f, c, column);
		else
			write_item(f, c, column);
	}
}

static void write_yaml(FILE *f, const struct lnc_node *root)
{
	if (root->count) {
		write_block(f, root, 0);
	} else if (root->kind != LNC_SCALAR) {
		fputs(root->kind == LNC_MAP ? "{}\n" : "[]\n", f);
	} else if (lnc_node_is_null(root)) {
		fputs("~\n", f);
	} else {
		text(f, root->text, root->len, root->quoted);
		fputc('\n', f);
	}
}

static void json_scalar(FILE *f, const struct lnc_node *n)
{
	switch (lnc_node_type(n)) {
	case LNC_NULL:
		fputs("null", f);
		break;
	case LNC_BOOL:
		fputs(n->text[0] == 't' || n->text[0] == 'T' ? "true" : "false", f);
		break;
	case LNC_NUMBER:
		fwrite(n->text, 1, n->len, f);
		break;
	case LNC_STRING:
		quoted(f, n->text, n->len, true);
		break;
	}
}

static void newline(FILE *f, bool pretty, unsigned depth)
{
	if (pretty) {
		fputc('\n', f);
		blanks(f, depth * 2);
	}
}

static void write_json(FILE *f, const struct lnc_node *n, bool pretty, unsigned depth)
{
	if (n->kind == LNC_SCALAR) {
		json_scalar(f, n);
		return;
	}
	fputc(n->kind == LNC_MAP ? '{' : '[', f);
	for (const struct lnc_node *c = n->first; c; c = c->next) {
		if (c != n->first)
			fputc(',', f);
		newline(f, pretty, depth + 1);
		if (c->key) {
			quoted(f, c->key, strlen(c->key), true);
			fputs(pretty ? ": " : ":", f);
		}
		write_json(f, c, pretty, depth + 1);
	}
	if (n->count)
		newline(f, pretty, depth);
	fputc(n->kind == LNC_MAP ? '}' : ']', f);
}

static char *finish(FILE *f, char **buf, const size_t *size, size_t *len)
{
	bool bad = ferror(f) != 0;

	if (fclose(f) || bad) {
		free(*buf);
		return NULL;
	}
	if (len)
		*len = *size;
	return *buf;
}

char *lnc_doc_yaml(const struct lnc_doc *d, size_t *len)
{
	char *buf = NULL;
	size_t size = 0;
	FILE *f = lnc_doc_ok(d) ? open_memstream(&buf, &size) : NULL;

	if (!f)
		return NULL;
	if (d->root)
		write_yaml(f, d->root);
	return finish(f, &buf, &size, len);
}

char *lnc_doc_json(const struct lnc_doc *d, bool pretty, size_t *len)
{
	char *buf = NULL;
	size_t size = 0;
	FILE *f = lnc_doc_ok(d) ? open_memstream(&buf, &size) : NULL;

	if (!f)
		return NULL;
	if (d->root)
		write_json(f, d->root, pretty, 0);
	else
		fputs("null", f);
	fputc('\n', f);
	return finish(f, &buf, &size, len);
}
