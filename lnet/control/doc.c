/* SPDX-License-Identifier: BSD-2-Clause */
/* The document tree: building and looking. */
#include "lnet/control/doc.h"
#include "lnet/control/scalar.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lnc_doc *lnc_doc_new(void)
{
	struct lnc_doc *d = calloc(1, sizeof(*d));

	if (d)
		lnc_arena_init(&d->mem, LNC_DOC_MEM_MAX);
	return d;
}

void lnc_doc_free(struct lnc_doc *d)
{
	if (!d)
		return;
	lnc_arena_free(&d->mem);
	free(d);
}

bool lnc_doc_ok(const struct lnc_doc *d)
{
	return !d->misuse && !d->mem.failed;
}

static struct lnc_node *node_new(struct lnc_doc *d, enum lnc_kind kind)
{
	struct lnc_node *n = lnc_arena_alloc(&d->mem, sizeof(*n));

	if (n) {
		n->doc = d;
		n->kind = kind;
	}
	return n;
}

static void link_last(struct lnc_node *parent, struct lnc_node *n)
{
	n->parent = parent;
	n->index = parent->count++;
	if (parent->last)
		parent->last->next = n;
	else
		parent->first = n;
	parent->last = n;
}

static struct lnc_node *root_of(struct lnc_doc *d, enum lnc_kind kind, enum lnc_style style)
{
	if (!d)
		return NULL;
	if (!d->root) {
		d->root = node_new(d, kind);
		if (d->root)
			d->root->style = (uint8_t)style;
		return d->root;
	}
	if (d->root->kind == kind)
		return d->root;
	d->misuse = true;
	return NULL;
}

struct lnc_node *lnc_doc_map(struct lnc_doc *d, enum lnc_style style)
{
	return root_of(d, LNC_MAP, style);
}

struct lnc_node *lnc_doc_seq(struct lnc_doc *d, enum lnc_style style)
{
	return root_of(d, LNC_SEQ, style);
}

/* A new last child; key NULL for a sequence. */
static struct lnc_node *child(struct lnc_node *to, const char *key, enum lnc_kind kind)
{
	struct lnc_node *n;

	if (!to)
		return NULL;
	if (to->kind != (key ? LNC_MAP : LNC_SEQ) || (key && lnc_map_get(to, key))) {
		to->doc->misuse = true;
		return NULL;
	}
	n = node_new(to->doc, kind);
	if (!n)
		return NULL;
	if (key) {
		n->key = lnc_arena_strdup(&to->doc->mem, key);
		if (!n->key)
			return NULL;
	}
	link_last(to, n);
	return n;
}

static struct lnc_node *scalar(struct lnc_node *to, const char *key, const char *text, size_t len)
{
	struct lnc_node *n = child(to, key, LNC_SCALAR);

	if (!n)
		return NULL;
	n->text = lnc_arena_strndup(&to->doc->mem, text, len);
	n->len = n->text ? len : 0;
	return n->text ? n : NULL;
}

static struct lnc_node *string(struct lnc_node *to, const char *key, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct lnc_node *n = scalar(to, key, text ? text : "", len);

	if (n)
		n->quoted =
		        !lnc_plain_safe(n->text, len) || lnc_plain_type(n->text, len) != LNC_STRING;
	return n;
}

struct lnc_node *lnc_map_add_map(struct lnc_node *map, const char *key)
{
	return child(map, key, LNC_MAP);
}

struct lnc_node *lnc_map_add_seq(struct lnc_node *map, const char *key)
{
	return child(map, key, LNC_SEQ);
}

struct lnc_node *lnc_map_add_str(struct lnc_node *map, const char *key, const char *text)
{
	return string(map, key, text);
}

struct lnc_node *lnc_map_add_quoted(struct lnc_node *map, const char *key, const char *text)
{
	struct lnc_node *n = string(map, key, text);

	if (n)
		n->quoted = true;
	return n;
}

struct lnc_node *lnc_map_add_fmt(struct lnc_node *map, const char *key, const char *fmt, ...)
{
	struct lnc_node *n;
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0) {
		if (map)
			map->doc->mem.failed = true;
		return NULL;
	}
	n = string(map, key, text);
	free(text);
	return n;
}

struct lnc_node *lnc_map_add_u64(struct lnc_node *map, const char *key, uint64_t v)
{
	char buf[24];

	return scalar(map, key, buf, (size_t)snprintf(buf, sizeof(buf), "%" PRIu64, v));
}

struct lnc_node *lnc_map_add_i64(struct lnc_node *map, const char *key, int64_t v)
{
	char buf[24];

	return scalar(map, key, buf, (size_t)snprintf(buf, sizeof(buf), "%" PRId64, v));
}

struct lnc_node *lnc_map_add_bool(struct lnc_node *map, const char *key, bool v)
{
	return scalar(map, key, v ? "true" : "false", v ? 4 : 5);
}

struct lnc_node *lnc_map_add_null(struct lnc_node *map, const char *key)
{
	return scalar(map, key, "", 0);
}

struct lnc_node *lnc_seq_add_map(struct lnc_node *seq)
{
	return child(seq, NULL, LNC_MAP);
}

struct lnc_node *lnc_seq_add_seq(struct lnc_node *seq)
{
	return child(seq, NULL, LNC_SEQ);
}

struct lnc_node *lnc_seq_add_str(struct lnc_node *seq, const char *text)
{
	return string(seq, NULL, text);
}

struct lnc_node *lnc_seq_add_u64(struct lnc_node *seq, uint64_t v)
{
	return lnc_map_add_u64(seq, NULL, v);
}

struct lnc_node *lnc_seq_add_i64(struct lnc_node *seq, int64_t v)
{
	return lnc_map_add_i64(seq, NULL, v);
}

struct lnc_node *lnc_node_copy(struct lnc_node *to, const char *key, const struct lnc_node *src)
{
	struct lnc_node *n;

	if (!to || !src)
		return NULL;
	if (src->kind == LNC_SCALAR)
		n = scalar(to, key, src->text, src->len);
	else
		n = child(to, key, src->kind);
	if (!n)
		return NULL;
	n->quoted = src->quoted;
	n->style = src->style;
	for (const struct lnc_node *c = src->first; c; c = c->next) {
		if (!lnc_node_copy(n, c->key, c))
			return NULL;
	}
	return n;
}

struct lnc_node *lnc_node_style(struct lnc_node *n, enum lnc_style style)
{
	if (n)
		n->style = (uint8_t)style;
	return n;
}

struct lnc_node *lnc_map_get(const struct lnc_node *map, const char *key)
{
	if (!map || map->kind != LNC_MAP)
		return NULL;
	for (struct lnc_node *c = map->first; c; c = c->next) {
		if (strcmp(c->key, key) == 0)
			return c;
	}
	return NULL;
}

const char *lnc_map_text(const struct lnc_node *map, const char *key)
{
	const struct lnc_node *n = lnc_map_get(map, key);

	return n && n->kind == LNC_SCALAR ? n->text : NULL;
}

bool lnc_node_is_null(const struct lnc_node *n)
{
	return n->kind == LNC_SCALAR && lnc_node_type(n) == LNC_NULL;
}

enum lnc_type lnc_node_type(const struct lnc_node *n)
{
	return n->quoted || n->kind != LNC_SCALAR ? LNC_STRING : lnc_plain_type(n->text, n->len);
}

/* Null is null however it is written. */
static bool scalar_equal(const struct lnc_node *a, const struct lnc_node *b)
{
	enum lnc_type t = lnc_node_type(a);

	if (t != lnc_node_type(b))
		return false;
	return t == LNC_NULL || (a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

bool lnc_node_equal(const struct lnc_node *a, const struct lnc_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->count != b->count)
		return false;
	if (a->kind == LNC_SCALAR)
		return scalar_equal(a, b);
	for (a = a->first, b = b->first; a; a = a->next, b = b->next) {
		if (a->key && strcmp(a->key, b->key) != 0)
			return false;
		if (!lnc_node_equal(a, b))
			return false;
	}
	return true;
}

char *lnc_node_path(const struct lnc_node *n, char *buf, size_t size)
{
	const struct lnc_node *up[LNC_DOC_DEPTH_MAX + 1] = {NULL};
	unsigned depth = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (; n && n->parent && depth < LNC_DOC_DEPTH_MAX + 1; n = n->parent)
		up[depth++] = n;
	while (depth-- > 0 && at < size) {
		const struct lnc_node *x = up[depth];
		int w = x->key ? snprintf(buf + at, size - at, "%s%s", at ? "." : "", x->key)
		               : snprintf(buf + at, size - at, "[%u]", x->index);

		at += (size_t)w;
	}
	if (at >= size && size > 4)
		memcpy(buf + size - 4, "...", 4);
	return buf;
}

const char *lnc_node_kind_str(const struct lnc_node *n)
{
	if (!n || lnc_node_is_null(n))
		return "nothing";
	return n->kind == LNC_MAP ? "a mapping" : n->kind == LNC_SEQ ? "a list" : "a value";
}
