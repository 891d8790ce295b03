/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML text to a document tree, by libyaml's events. */
#include "lnet/control/doc.h"
#include "lnet/control/scalar.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct anchor {
	char *name;
	struct lnc_node *node;
};

struct reader {
	yaml_parser_t yaml;
	struct lnc_doc *doc;
	struct lnc_errs *errs;
	const char *text;
	size_t len;
	struct lnc_node *open[LNC_DOC_DEPTH_MAX]; /* mappings and sequences not yet closed */
	unsigned depth;
	char *key; /* read, its value is still to come (innermost mapping) */
	uint32_t key_line, key_column;
	struct anchor anchor[LNC_DOC_ANCHORS_MAX];
	unsigned nanchors;
	unsigned nodes, max_nodes, alias_nodes;
	bool ended;
};

static int refuse(struct reader *r, const yaml_mark_t *m, int code, const char *what)
{
	return lnc_errs_at(
	        r->errs, (uint32_t)m->line + 1, (uint32_t)m->column + 1, code, "%s", what);
}

static int nomem(struct reader *r)
{
	if (r->doc->mem.limited)
		return lnc_errs_at(r->errs, 0, 0, -E2BIG,
		        "the document needs more than %u bytes of memory", LNC_DOC_MEM_MAX);
	return lnc_errs_at(r->errs, 0, 0, -ENOMEM, "out of memory");
}

/* ---- before libyaml: bytes --------------------------------------------------------------- */

static bool printable(uint32_t c)
{
	return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
	       (c >= 0xa0 && c != 0xfeff && c != 0xfffe && c != 0xffff);
}

/* NUL, invalid UTF-8 and control characters, each with its place. */
static int check_bytes(struct lnc_errs *errs, const char *s, size_t len)
{
	uint32_t line = 1, column = 1, cp;

	for (size_t i = 0; i < len;) {
		unsigned n = lnc_utf8(s + i, len - i, &cp);

		if (!n)
			return lnc_errs_at(errs, line, column, -EINVAL,
			        "byte 0x%02x is not valid UTF-8", (unsigned char)s[i]);
		if (!cp)
			return lnc_errs_at(
			        errs, line, column, -EINVAL, "a NUL byte inside the text");
		if (!printable(cp))
			return lnc_errs_at(
			        errs, line, column, -EINVAL, "control character U+%04" PRIX32, cp);
		column++;
		if (cp == '\n' || (cp == '\r' && (i + 1 == len || s[i + 1] != '\n'))) {
			line++;
			column = 1;
		}
		i += n;
	}
	return 0;
}

/* ---- building the tree -------------------------------------------------------------------- */

static struct lnc_node *attach(struct reader *r, enum lnc_kind kind, const yaml_mark_t *m)
{
	struct lnc_node *n = lnc_arena_alloc(&r->doc->mem, sizeof(*n));
	struct lnc_node *up = r->depth ? r->open[r->depth - 1] : NULL;

	if (!n)
		return NULL;
	n->doc = r->doc;
	n->kind = kind;
	n->line = (uint32_t)m->line + 1;
	n->column = (uint32_t)m->column + 1;
	if (!up) {
		r->doc->root = n;
		return n;
	}
	if (up->kind == LNC_MAP) {
		n->key = r->key;
		n->key_line = r->key_line;
		n->key_column = r->key_column;
		r->key = NULL;
	}
	n->parent = up;
	n->index = up->count++;
	if (up->last)
		up->last->next = n;
	else
		up->first = n;
	up->last = n;
	return n;
}

static bool want_key(const struct reader *r)
{
	return r->depth && r->open[r->depth - 1]->kind == LNC_MAP && !r->key;
}

static int count_node(struct reader *r, const yaml_mark_t *m)
{
	char msg[80];

	if (++r->nodes <= r->max_nodes)
		return 0;
	snprintf(msg, sizeof(msg), "more than %u values in one document", r->max_nodes);
	return refuse(r, m, -E2BIG, msg);
}

static int check_tag(struct reader *r, const yaml_mark_t *m, const yaml_char_t *tag)
{
	static const char core[] = "tag:yaml.org,2002:";
	static const char *const known[] = {"str", "int", "bool", "null", "float", "map", "seq"};
	const char *t = (const char *)tag;
	char msg[120];

	if (!t || strcmp(t, "!") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strncmp(t, core, sizeof(core) - 1) == 0 &&
		        strcmp(t + sizeof(core) - 1, known[i]) == 0)
			return 0;
	}
	snprintf(msg, sizeof(msg), "tag '%.60s' is not known", t);
	return refuse(r, m, -EINVAL, msg);
}

static int set_anchor(
        struct reader *r, const yaml_mark_t *m, const yaml_char_t *name, struct lnc_node *n)
{
	char msg[80];

	if (!name)
		return 0;
	if (r->nanchors == LNC_DOC_ANCHORS_MAX) {
		snprintf(msg, sizeof(msg), "more than %u anchors", LNC_DOC_ANCHORS_MAX);
		return refuse(r, m, -E2BIG, msg);
	}
	r->anchor[r->nanchors].name = lnc_arena_strdup(&r->doc->mem, (const char *)name);
	if (!r->anchor[r->nanchors].name)
		return nomem(r);
	r->anchor[r->nanchors++].node = n;
	return 0;
}

static int on_scalar(struct reader *r, const yaml_event_t *e)
{
	const char *v = (const char *)e->data.scalar.value;
	size_t len = e->data.scalar.length;
	bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	             (e->data.scalar.plain_implicit || !e->data.scalar.tag);
	struct lnc_node *n;
	char *text;
	int rc;

	rc = count_node(r, &e->start_mark);
	if (!rc)
		rc = check_tag(r, &e->start_mark, e->data.scalar.tag);
	if (rc)
		return rc;
	if (memchr(v, '\0', len))
		return refuse(r, &e->start_mark, -EINVAL, "a NUL character inside a value");
	text = lnc_arena_strndup(&r->doc->mem, v, len);
	if (!text)
		return nomem(r);
	if (want_key(r)) {
		if (e->data.scalar.anchor)
			return refuse(r, &e->start_mark, -EINVAL, "an anchor on a key");
		r->key = text;
		r->key_line = (uint32_t)e->start_mark.line + 1;
		r->key_column = (uint32_t)e->start_mark.column + 1;
		return 0;
	}
	n = attach(r, LNC_SCALAR, &e->start_mark);
	if (!n)
		return nomem(r);
	n->text = text;
	n->len = len;
	n->quoted = !plain;
	return set_anchor(r, &e->start_mark, e->data.scalar.anchor, n);
}

static int on_open(struct reader *r, const yaml_event_t *e, enum lnc_kind kind,
        const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct lnc_node *n;
	char msg[80];
	int rc;

	if (want_key(r))
		return refuse(r, &e->start_mark, -EINVAL,
		        "a mapping or list stands where a key is expected");
	rc = count_node(r, &e->start_mark);
	if (!rc)
		rc = check_tag(r, &e->start_mark, tag);
	if (rc)
		return rc;
	if (r->depth == LNC_DOC_DEPTH_MAX) {
		snprintf(msg, sizeof(msg), "more than %u mappings and lists inside one another",
		        LNC_DOC_DEPTH_MAX);
		return refuse(r, &e->start_mark, -E2BIG, msg);
	}
	n = attach(r, kind, &e->start_mark);
	if (!n)
		return nomem(r);
	r->open[r->depth++] = n;
	return set_anchor(r, &e->start_mark, anchor, n);
}

static int by_key(const void *a, const void *b)
{
	const struct lnc_node *x = *(const struct lnc_node *const *)a;
	const struct lnc_node *y = *(const struct lnc_node *const *)b;
	int c = strcmp(x->key, y->key);

	return c ? c : (x->index > y->index) - (x->index < y->index);
}

/* By sorting: a hostile mapping of many keys costs n log n. All duplicates are reported. */
static int check_duplicates(struct reader *r, const struct lnc_node *map)
{
	const struct lnc_node **v;
	unsigned n = 0;
	int rc = 0;

	if (map->count < 2)
		return 0;
	v = malloc(map->count * sizeof(*v));
	if (!v)
		return nomem(r);
	for (const struct lnc_node *c = map->first; c; c = c->next)
		v[n++] = c;
	qsort(v, n, sizeof(*v), by_key);
	for (unsigned i = 1; i < n; i++) {
		if (strcmp(v[i - 1]->key, v[i]->key) == 0)
			rc = lnc_errs_key(r->errs, v[i], -EINVAL,
			        "key '%s' stands twice in one mapping (first at %u:%u)", v[i]->key,
			        v[i - 1]->key_line, v[i - 1]->key_column);
	}
	free(v);
	return rc;
}

static int on_close(struct reader *r, int *bad)
{
	const struct lnc_node *n = r->open[--r->depth];

	if (n->kind == LNC_MAP) {
		int rc = check_duplicates(r, n);

		if (rc == -ENOMEM)
			return rc;
		if (rc)
			*bad = rc;
	}
	return 0;
}

/* Fill n with what src has. Depth is that of n. */
static int expand(struct reader *r, const yaml_mark_t *m, struct lnc_node *n,
        const struct lnc_node *src, unsigned depth)
{
	char msg[96];

	if (++r->alias_nodes > LNC_DOC_ALIAS_NODES_MAX) {
		snprintf(msg, sizeof(msg), "aliases expand to more than %u values",
		        LNC_DOC_ALIAS_NODES_MAX);
		return refuse(r, m, -E2BIG, msg);
	}
	if (src->kind != LNC_SCALAR && depth >= LNC_DOC_DEPTH_MAX) {
		snprintf(msg, sizeof(msg), "aliases expand to more than %u levels",
		        LNC_DOC_DEPTH_MAX);
		return refuse(r, m, -E2BIG, msg);
	}
	n->quoted = src->quoted;
	n->text = src->text;
	n->len = src->len;
	for (const struct lnc_node *c = src->first; c; c = c->next) {
		struct lnc_node *x = lnc_arena_alloc(&r->doc->mem, sizeof(*x));
		int rc;

		if (!x)
			return nomem(r);
		*x = *c;
		x->parent = n;
		x->next = x->first = x->last = NULL;
		x->count = 0;
		if (n->last)
			n->last->next = x;
		else
			n->first = x;
		n->last = x;
		n->count++;
		rc = expand(r, m, x, c, depth + 1);
		if (rc)
			return rc;
	}
	return 0;
}

static int on_alias(struct reader *r, const yaml_event_t *e)
{
	const char *name = (const char *)e->data.alias.anchor;
	const struct lnc_node *src = NULL;
	struct lnc_node *n;
	int rc = count_node(r, &e->start_mark);

	if (rc)
		return rc;
	if (want_key(r))
		return refuse(r, &e->start_mark, -EINVAL, "an alias as a key");
	for (unsigned i = r->nanchors; i-- > 0 && !src;) {
		if (strcmp(r->anchor[i].name, name) == 0)
			src = r->anchor[i].node;
	}
	if (!src)
		return refuse(r, &e->start_mark, -EINVAL, "an alias to an anchor that was not set");
	for (unsigned i = 0; i < r->depth; i++) {
		if (r->open[i] == src)
			return refuse(r, &e->start_mark, -EINVAL, "an alias inside its own anchor");
	}
	n = attach(r, src->kind, &e->start_mark);
	if (!n)
		return nomem(r);
	return expand(r, &e->start_mark, n, src, r->depth);
}

/* ---- events -------------------------------------------------------------------------------- */

static int on_event(struct reader *r, const yaml_event_t *e, int *bad)
{
	switch (e->type) {
	case YAML_STREAM_END_EVENT:
		r->ended = true;
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		if (r->doc->root)
			return refuse(r, &e->start_mark, -EINVAL, "a second document in one text");
		return 0;
	case YAML_SCALAR_EVENT:
		return on_scalar(r, e);
	case YAML_MAPPING_START_EVENT:
		return on_open(
		        r, e, LNC_MAP, e->data.mapping_start.anchor, e->data.mapping_start.tag);
	case YAML_SEQUENCE_START_EVENT:
		return on_open(
		        r, e, LNC_SEQ, e->data.sequence_start.anchor, e->data.sequence_start.tag);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return on_close(r, bad);
	case YAML_ALIAS_EVENT:
		return on_alias(r, e);
	default:
		return 0;
	}
}

/* Is there a tab among the blanks that line n (from 0) starts with? */
static bool tab_indent(const struct reader *r, size_t n)
{
	const char *p = r->text, *end = r->text + r->len;

	while (n > 0 && (p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		n--;
	}
	for (; p && p < end && (*p == ' ' || *p == '\t'); p++) {
		if (*p == '\t')
			return true;
	}
	return false;
}

static int syntax_error(struct reader *r)
{
	const yaml_parser_t *y = &r->yaml;
	char msg[240];

	if (y->error == YAML_MEMORY_ERROR)
		return nomem(r);
	if (tab_indent(r, y->problem_mark.line))
		return refuse(r, &y->problem_mark, -EINVAL,
		        "a tab as indentation: YAML allows spaces alone");
	snprintf(msg, sizeof(msg), "%s%s%s", y->problem ? y->problem : "not YAML",
	        y->context ? ", " : "", y->context ? y->context : "");
	return refuse(r, &y->problem_mark, -EINVAL, msg);
}

static int read_events(struct reader *r)
{
	int bad = 0, rc = 0;

	yaml_parser_set_input_string(&r->yaml, (const unsigned char *)r->text, r->len);
	yaml_parser_set_encoding(&r->yaml, YAML_UTF8_ENCODING);
	while (!r->ended && !rc) {
		yaml_event_t e;

		if (!yaml_parser_parse(&r->yaml, &e))
			return syntax_error(r);
		rc = on_event(r, &e, &bad);
		yaml_event_delete(&e);
	}
	return rc ? rc : bad;
}

static int parse(const char *text, size_t len, size_t max_bytes, unsigned max_nodes,
        struct lnc_doc **out, struct lnc_errs *errs)
{
	struct reader *r;
	int rc;

	if (len > max_bytes)
		return lnc_errs_at(
		        errs, 0, 0, -E2BIG, "%zu bytes are more than %zu", len, max_bytes);
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	rc = check_bytes(errs, text, len);
	if (rc)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return lnc_errs_at(errs, 0, 0, -ENOMEM, "out of memory");
	r->doc = lnc_doc_new();
	r->errs = errs;
	r->text = text;
	r->len = len;
	r->max_nodes = max_nodes;
	if (r->doc && yaml_parser_initialize(&r->yaml)) {
		rc = read_events(r);
		yaml_parser_delete(&r->yaml);
	} else {
		rc = lnc_errs_at(errs, 0, 0, -ENOMEM, "out of memory");
	}
	if (rc)
		lnc_doc_free(r->doc);
	else
		*out = r->doc;
	free(r);
	return rc;
}

int lnc_doc_parse(const char *text, size_t len, struct lnc_doc **out, struct lnc_errs *errs)
{
	return parse(text, len, LNC_DOC_BYTES_MAX, LNC_DOC_NODES_MAX, out, errs);
}

int lnc_doc_parse_large(const char *text, size_t len, struct lnc_doc **out, struct lnc_errs *errs)
{
	return parse(text, len, LNC_DOC_BYTES_LARGE, LNC_DOC_NODES_LARGE, out, errs);
}
