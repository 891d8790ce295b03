/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A YAML document as a tree: mappings (in order, no key twice), sequences, scalars. Every node
 * knows where it stood in the text.
 *
 * Reading: one UTF-8 document of at most LNC_DOC_BYTES_MAX bytes. A byte order mark is skipped,
 * CRLF is a line end. Aliases are resolved by copying. Refused, each with its position: NUL and
 * invalid UTF-8, tabs as indentation, duplicate keys, keys that are no scalars, merge of two
 * documents, tags other than
 * "!" and those of YAML's core, and whatever passes one of the limits below.
 *
 * Writing: three shapes of YAML (those of lnetctl) and JSON. What is written as YAML reads back to
 * an equal tree (lnc_node_equal).
 *
 * Building: every builder function takes NULL for a node and then does nothing; lnc_doc_ok() tells
 * at the end whether memory sufficed. A key that is added twice is the caller's error: the first
 * one wins and lnc_doc_ok() is false.
 *
 * Thread: a document belongs to one thread at a time; a finished one may be read by many.
 */
#ifndef LNC_DOC_H
#define LNC_DOC_H

#include "lnet/control/arena.h"
#include "lnet/control/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LNC_DOC_BYTES_MAX       (16u << 20) /* text of one document */
#define LNC_DOC_NODES_MAX       1000000u    /* nodes, those from aliases included */
#define LNC_DOC_ALIAS_NODES_MAX 100000u     /* nodes that came from aliases */
#define LNC_DOC_DEPTH_MAX       64u         /* mappings and sequences inside one another */
#define LNC_DOC_ANCHORS_MAX     1024u
#define LNC_DOC_MEM_MAX         (512u << 20) /* memory of one tree */

enum lnc_kind { LNC_SCALAR, LNC_MAP, LNC_SEQ };

/* Shape of a block; a node without one has its parent's. */
enum lnc_style {
	LNC_STYLE_INHERIT = 0,
	LNC_STYLE_NET,   /* indent 6, dash under the key: net, peer, route, fault, error blocks */
	LNC_STYLE_PING,  /* indent 2, dash under the key: ping, discover, cpt-of-nid */
	LNC_STYLE_CYAML, /* indent 4, dash indented: global, statistics, routing, buffers, udsp */
};

struct lnc_doc;
struct lnc_node {
	enum lnc_kind kind;
	bool quoted;           /* scalar: stood in quotes, or is to be written so */
	uint8_t style;         /* enum lnc_style */
	uint32_t line, column; /* of the value, from 1; 0 = built, not read */
	uint32_t key_line, key_column;
	struct lnc_doc *doc;
	struct lnc_node *parent; /* NULL: the root */
	struct lnc_node *next;   /* brother */
	unsigned index;          /* place among the brothers, from 0 */
	const char *key;         /* inside a mapping; NULL elsewhere */
	const char *text;        /* scalar: without NUL inside */
	size_t len;
	struct lnc_node *first, *last; /* mapping, sequence */
	unsigned count;
};

struct lnc_doc {
	struct lnc_arena mem;
	struct lnc_node *root; /* NULL: empty document */
	bool misuse;
};

/* ---- life ---------------------------------------------------------------------------------- */

/* An empty document. NULL: no memory. */
struct lnc_doc *lnc_doc_new(void);
void lnc_doc_free(struct lnc_doc *d);
/* False: memory ran out, or a key was added twice. */
bool lnc_doc_ok(const struct lnc_doc *d);

/* Read. 0; -EINVAL, -E2BIG (a limit), -ENOMEM with the reason in errs (may be NULL); *out
 * untouched. */
int lnc_doc_parse(const char *text, size_t len, struct lnc_doc **out, struct lnc_errs *errs);
/* The same with limits that a node's own answer fits in, whatever it shows. */
#define LNC_DOC_BYTES_LARGE (1u << 30)
#define LNC_DOC_NODES_LARGE 16000000u
int lnc_doc_parse_large(const char *text, size_t len, struct lnc_doc **out, struct lnc_errs *errs);

/* Write. malloc()ed and NUL-terminated, *len (may be NULL) without the NUL. An empty document gives
 * "". NULL: no memory, or !lnc_doc_ok(). */
char *lnc_doc_yaml(const struct lnc_doc *d, size_t *len);
/* One line of JSON per document ("null" for an empty one), or indented by two when pretty. Numbers
 * and booleans bare, everything else as strings. */
char *lnc_doc_json(const struct lnc_doc *d, bool pretty, size_t *len);

/* ---- building ------------------------------------------------------------------------------ */

/* The root becomes a mapping or a sequence; returns it (the old one if there is one of that kind).
 */
struct lnc_node *lnc_doc_map(struct lnc_doc *d, enum lnc_style style);
struct lnc_node *lnc_doc_seq(struct lnc_doc *d, enum lnc_style style);

/* Add to a mapping. Keys and texts are copied. Return the new node, or NULL. */
struct lnc_node *lnc_map_add_map(struct lnc_node *map, const char *key);
struct lnc_node *lnc_map_add_seq(struct lnc_node *map, const char *key);
/* Quoted only when it has to be: it would read as a number, boolean or null, or is no plain text.
 */
struct lnc_node *lnc_map_add_str(struct lnc_node *map, const char *key, const char *text);
/* Always in double quotes: CPT, descr. */
struct lnc_node *lnc_map_add_quoted(struct lnc_node *map, const char *key, const char *text);
struct lnc_node *lnc_map_add_fmt(struct lnc_node *map, const char *key, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
struct lnc_node *lnc_map_add_u64(struct lnc_node *map, const char *key, uint64_t v);
struct lnc_node *lnc_map_add_i64(struct lnc_node *map, const char *key, int64_t v);
struct lnc_node *lnc_map_add_bool(struct lnc_node *map, const char *key, bool v);
struct lnc_node *lnc_map_add_null(struct lnc_node *map, const char *key);

struct lnc_node *lnc_seq_add_map(struct lnc_node *seq);
struct lnc_node *lnc_seq_add_seq(struct lnc_node *seq);
struct lnc_node *lnc_seq_add_str(struct lnc_node *seq, const char *text);
struct lnc_node *lnc_seq_add_u64(struct lnc_node *seq, uint64_t v);
struct lnc_node *lnc_seq_add_i64(struct lnc_node *seq, int64_t v);

/* A deep copy of src (of any document) under a mapping (key given) or a sequence (key NULL). */
struct lnc_node *lnc_node_copy(struct lnc_node *to, const char *key, const struct lnc_node *src);
/* Set the shape of a node and what is below it. Returns n. */
struct lnc_node *lnc_node_style(struct lnc_node *n, enum lnc_style style);

/* ---- looking ------------------------------------------------------------------------------- */

/* NULL: no such key, or map is no mapping (NULL allowed). */
struct lnc_node *lnc_map_get(const struct lnc_node *map, const char *key);
/* Text of a scalar entry; NULL: no such key, or no scalar. */
const char *lnc_map_text(const struct lnc_node *map, const char *key);
/* A plain scalar that is empty, "~" or "null". */
bool lnc_node_is_null(const struct lnc_node *n);
/* What an unquoted scalar reads as. */
enum lnc_type { LNC_STRING, LNC_NULL, LNC_BOOL, LNC_NUMBER };
enum lnc_type lnc_node_type(const struct lnc_node *n);
/* Same kinds, keys in the same order, texts and types. Positions, quotes and shapes do not matter.
 */
bool lnc_node_equal(const struct lnc_node *a, const struct lnc_node *b);
/* "net[0].local NI(s)[1].nid" of a node; "" for the root. Returns buf. */
char *lnc_node_path(const struct lnc_node *n, char *buf, size_t size);
/* "mapping", "list", "value" or "nothing" for messages. */
const char *lnc_node_kind_str(const struct lnc_node *n);

#ifdef __cplusplus
}
#endif
#endif
