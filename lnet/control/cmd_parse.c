/* SPDX-License-Identifier: BSD-2-Clause */
/* A command line becomes a request. */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"
#include "lnet/control/scalar.h"
#include "lnet/control/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Options that every command has. */
enum { COMMON_JSON, COMMON_HELP, COMMON_NODE, COMMON_COUNT };
static const struct lnc_opt common[COMMON_COUNT] = {
        [COMMON_JSON] = {.name = "json", .letter = 'j', .kind = LNC_A_FLAG, .help = "print JSON"},
        [COMMON_HELP] = {.name = "help", .letter = 'h', .kind = LNC_A_FLAG, .help = "print help"},
        [COMMON_NODE] = {.name = "node",
                .letter = 'N',
                .kind = LNC_A_TEXT,
                .min = 1,
                .max = 255,
                .meta = "NAME|SOCKET",
                .help = "the node to speak to"},
};

const struct lnc_opt *lnc_common_opts(unsigned *n)
{
	*n = COMMON_COUNT;
	return common;
}

void lnc_req_init(struct lnc_req *r)
{
	memset(r, 0, sizeof(*r));
	lnc_arena_init(&r->mem, 64u << 20);
}

void lnc_req_free(struct lnc_req *r)
{
	lnc_arena_free(&r->mem);
	memset(r, 0, sizeof(*r));
}

int lnc_req_alloc(struct lnc_req *r, const struct lnc_cmd *c)
{
	r->cmd = c;
	r->val = lnc_arena_alloc(&r->mem, (c->nopts + 1) * sizeof(*r->val));
	return r->val ? 0 : -ENOMEM;
}

const struct lnc_val *lnc_req_val(const struct lnc_req *r, const char *name)
{
	for (unsigned i = 0; i < r->cmd->nopts; i++)
		if (!strcmp(r->cmd->opts[i].name, name))
			return r->val[i].given ? &r->val[i] : NULL;
	return NULL;
}

const char *lnc_req_text(const struct lnc_req *r, const char *name)
{
	const struct lnc_val *v = lnc_req_val(r, name);

	return v ? v->text : NULL;
}

bool lnc_req_flag(const struct lnc_req *r, const char *name)
{
	return lnc_req_val(r, name) != NULL;
}

unsigned lnc_req_level(const struct lnc_req *r)
{
	const struct lnc_val *v = lnc_req_val(r, "verbose");

	return v ? (unsigned)v->num : 0;
}

int lnc_req_replace(struct lnc_req *r, const char **slot, const char *text)
{
	const char *copy = lnc_arena_strdup(&r->mem, text);

	if (!copy)
		return -ENOMEM;
	*slot = copy;
	return 0;
}

int lnc_req_add_arg(struct lnc_req *r, const char *text, struct lnc_err *err)
{
	if (r->nargs >= LNC_ARGS_MAX)
		return lnc_err_set(err, -EINVAL, "more than %u arguments", LNC_ARGS_MAX);
	if (!r->arg)
		r->arg = lnc_arena_alloc(&r->mem, LNC_ARGS_MAX * sizeof(*r->arg));
	const char *copy = r->arg ? lnc_arena_strdup(&r->mem, text) : NULL;
	if (!copy)
		return lnc_err_set(err, -ENOMEM, "no memory");
	r->arg[r->nargs++] = copy;
	return 0;
}

/* ---- values -------------------------------------------------------------------------------- */

static int text_check(const struct lnc_opt *o, const char *s, struct lnc_err *err)
{
	uint32_t c;
	unsigned n;
	size_t len = strlen(s), max = o->max ? (size_t)o->max : LNC_LINE_MAX;

	if (o->kind == LNC_A_FILE) /* a name of this host, whatever its bytes are */
		return 0;
	for (size_t i = 0; i < len; i += n) {
		n = lnc_utf8(s + i, len - i, &c);
		if (!n)
			return lnc_err_set(err, -EINVAL, "--%s: byte %zu is no UTF-8", o->name, i);
		if (c < 0x20 || c == 0x7f)
			return lnc_err_set(
			        err, -EINVAL, "--%s: control character at byte %zu", o->name, i);
	}
	if (len > max)
		return lnc_err_set(err, -EINVAL, "--%s: %zu bytes, at most %zu are allowed",
		        o->name, len, max);
	return 0;
}

static int prefix_err(const struct lnc_opt *o, int rc, const char *value, struct lnc_err *err)
{
	char why[LNC_MSG_MAX];

	if (!err)
		return rc;
	memcpy(why, err->msg, sizeof(why));
	return lnc_err_set(err, rc, "--%s '%.80s': %s", o->name, value, why);
}

static int net_check(const struct lnc_opt *o, const char *s, struct lnc_err *err)
{
	struct lnet_parse_err pe;
	lnet_net_t net;

	if (lnet_net_parse(s, strlen(s), &net, &pe) < 0)
		return lnc_err_set(
		        err, -EINVAL, "--%s '%.80s': %s (at byte %zu)", o->name, s, pe.msg, pe.pos);
	return 0;
}

static int cpts_check(const struct lnc_opt *o, const char *s, struct lnc_err *err)
{
	char canon[LNC_CPT_STR_MAX];
	int rc = lnc_cpts_parse(s, strlen(s), NULL, canon, sizeof(canon), err);

	return rc ? prefix_err(o, rc, s, err) : 0;
}

int lnc_arg_check(const struct lnc_opt *o, struct lnc_val *v, struct lnc_err *err)
{
	int rc = 0;

	if (o->kind == LNC_A_FLAG || (o->kind == LNC_A_LEVEL && !v->text)) {
		v->num = 1;
		return 0;
	}
	if (!v->text || !*v->text)
		return lnc_err_set(err, -EINVAL, "--%s: a value is needed", o->name);
	rc = text_check(o, v->text, err);
	if (rc)
		return rc;
	switch ((enum lnc_arg)o->kind) {
	case LNC_A_INT:
	case LNC_A_LEVEL:
		return lnc_int_check(o->name, "", o->min, o->max, v->text, &v->num, err);
	case LNC_A_NET:
		return net_check(o, v->text, err);
	case LNC_A_NID:
	case LNC_A_NIDS:
	case LNC_A_NIDMATCH:
		rc = lnc_nids_check(o->kind, v->text, err);
		return rc ? prefix_err(o, rc, v->text, err) : 0;
	case LNC_A_IFS:
		rc = lnc_ifs_check(v->text, err);
		return rc ? prefix_err(o, rc, v->text, err) : 0;
	case LNC_A_CPTS:
		return cpts_check(o, v->text, err);
	case LNC_A_FLAG:
	case LNC_A_TEXT:
	case LNC_A_FILE:
		break;
	}
	return 0;
}

static int positional_check(struct lnc_req *r, struct lnc_err *err)
{
	const struct lnc_cmd *c = r->cmd;
	const struct lnc_opt as = {.name = c->arg, .kind = c->arg_kind};

	if (r->nargs > c->arg_max)
		return lnc_err_set(err, -EINVAL, "%s: unexpected argument '%.80s'", c->path,
		        r->arg[c->arg_max]);
	if (r->nargs < c->arg_min)
		return lnc_err_set(err, -EINVAL, "%s: %s is missing", c->path, c->arg);
	for (unsigned i = 0; i < r->nargs; i++) {
		struct lnc_val v = {.given = true, .text = r->arg[i]};
		struct lnc_err one;
		int rc = lnc_arg_check(&as, &v, &one);
		/* the check speaks of options: "--NID ..." */
		if (rc)
			return lnc_err_set(err, rc, "%s: %s", c->path,
			        one.msg[0] == '-' && one.msg[1] == '-' ? one.msg + 2 : one.msg);
	}
	return 0;
}

int lnc_req_check(struct lnc_req *r, struct lnc_err *err)
{
	const struct lnc_cmd *c = r->cmd;
	int rc;

	for (unsigned i = 0; i < c->nopts; i++) {
		const struct lnc_opt *o = &c->opts[i];
		struct lnc_err one;
		if (!r->val[i].given) {
			if (o->flags & LNC_O_REQUIRED)
				return lnc_err_set(
				        err, -EINVAL, "%s: --%s is missing", c->path, o->name);
			continue;
		}
		if (o->flags & LNC_O_REFUSED)
			return lnc_err_set(
			        err, -EINVAL, "%s: --%s is refused: %s", c->path, o->name, o->help);
		rc = lnc_arg_check(o, &r->val[i], &one);
		if (rc)
			return lnc_err_set(err, rc, "%s: %s", c->path, one.msg);
	}
	rc = positional_check(r, err);
	if (!rc && c->check)
		rc = c->check(r, err);
	return rc;
}

/* ---- words --------------------------------------------------------------------------------- */

/* Number of words of path that argv begins with, when all of them are there; else 0. */
static int path_matches(const char *path, int argc, const char *const *argv)
{
	int n = 0;

	while (*path) {
		size_t len = strcspn(path, " ");
		if (n >= argc || strlen(argv[n]) != len || memcmp(argv[n], path, len))
			return 0;
		n++;
		path += len;
		if (*path == ' ')
			path++;
	}
	return n;
}

/* How many words of argv begin some command; for messages and the help of a group. */
static int known_words(int argc, const char *const *argv)
{
	int best = 0;
	const struct lnc_cmd *c;

	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		const char *p = c->path;
		int n = 0;
		while (*p && n < argc) {
			size_t len = strcspn(p, " ");
			if (strlen(argv[n]) != len || memcmp(argv[n], p, len))
				break;
			n++;
			p += len;
			if (*p == ' ')
				p++;
		}
		if (n > best)
			best = n;
	}
	return best;
}

static int unknown_word(int argc, const char *const *argv, int known, struct lnc_err *err)
{
	const char *list[64];
	char words[64][24];
	unsigned n = 0;
	const struct lnc_cmd *c;

	for (unsigned i = 0; (c = lnc_cmd_at(i)) && n < 64; i++) {
		const char *p = c->path;
		int k = 0;
		if (c->flags & LNC_C_HIDDEN)
			continue;
		while (k < known && *p) {
			size_t len = strcspn(p, " ");
			if (strlen(argv[k]) != len || memcmp(argv[k], p, len))
				break;
			p += len + (p[len] == ' ');
			k++;
		}
		size_t len = strcspn(p, " ");
		if (k != known || !len || len >= sizeof(words[0]))
			continue;
		memcpy(words[n], p, len);
		words[n][len] = 0;
		list[n] = words[n];
		n++;
	}
	const char *near = known < argc ? lnc_nearest(argv[known], list, n) : NULL;
	const char *before = known ? argv[known - 1] : "";
	const char *gap = known ? ": " : "";
	if (known >= argc)
		return lnc_err_set(
		        err, -EINVAL, "%s%sa command is missing; see 'list-commands'", before, gap);
	if (near)
		return lnc_err_set(err, -EINVAL, "%s%s'%.80s' is not a command; did you mean '%s'?",
		        before, gap, argv[known], near);
	return lnc_err_set(err, -EINVAL, "%s%s'%.80s' is not a command; see 'list-commands'",
	        before, gap, argv[known]);
}

static const struct lnc_cmd *find_cmd(int argc, const char *const *argv, int *used)
{
	const struct lnc_cmd *c, *best = NULL;

	*used = 0;
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		int n = path_matches(c->path, argc, argv);
		if (n > *used) {
			*used = n;
			best = c;
		}
	}
	return best;
}

/* ---- options ------------------------------------------------------------------------------- */

struct scan {
	struct lnc_req *r;
	const struct lnc_cmd *c; /* NULL: before a command was found */
	int argc;
	const char *const *argv;
	int i;
	struct lnc_err *err;
};

static const char *where(const struct scan *s)
{
	return s->c ? s->c->path : "ulnetctl";
}

/* The option called name[0..len): exact, or the only one that begins so. */
static const struct lnc_opt *long_opt(
        const struct scan *s, const char *name, size_t len, struct lnc_err *err, const char *word)
{
	const struct lnc_opt *hit = NULL;
	const char *names[96];
	unsigned n = 0, own = s->c ? s->c->nopts : 0;

	for (unsigned i = 0; i < own + COMMON_COUNT; i++) {
		const struct lnc_opt *o = i < own ? &s->c->opts[i] : &common[i - own];
		if (n < 96)
			names[n++] = o->name;
		if (strncmp(o->name, name, len))
			continue;
		if (!o->name[len])
			return o;
		if (hit && len) {
			lnc_err_set(err, -EINVAL, "%s: '%.80s' may be --%s or --%s", where(s), word,
			        hit->name, o->name);
			return NULL;
		}
		hit = o;
	}
	if (hit && len)
		return hit;
	char copy[64];
	size_t keep = len < sizeof(copy) ? len : sizeof(copy) - 1;
	memcpy(copy, name, keep);
	copy[keep] = 0;
	const char *near = lnc_nearest(copy, names, n);
	lnc_err_set(err, -EINVAL,
	        near ? "%s: unknown option '%.80s'; did you mean '--%s'?"
	             : "%s: unknown option '%.80s'",
	        where(s), word, near);
	return NULL;
}

static const struct lnc_opt *short_opt(const struct scan *s, char letter)
{
	if (s->c)
		for (unsigned i = 0; i < s->c->nopts; i++)
			if (s->c->opts[i].letter == letter)
				return &s->c->opts[i];
	for (unsigned i = 0; i < COMMON_COUNT; i++)
		if (common[i].letter == letter)
			return &common[i];
	return NULL;
}

static int take_common(struct scan *s, const struct lnc_opt *o, const char *value)
{
	struct lnc_req *r = s->r;

	if (o == &common[COMMON_JSON]) {
		r->json = true;
	} else if (o == &common[COMMON_HELP]) {
		r->help = true;
	} else {
		struct lnc_val v = {.text = value};
		int rc = lnc_arg_check(o, &v, s->err);
		if (rc)
			return rc;
		r->node = lnc_arena_strdup(&r->mem, value);
		if (!r->node)
			return lnc_err_set(s->err, -ENOMEM, "no memory");
	}
	return 0;
}

static int take(struct scan *s, const struct lnc_opt *o, const char *value)
{
	if (o >= common && o < common + COMMON_COUNT)
		return take_common(s, o, value);
	struct lnc_val *v = &s->r->val[o - s->c->opts];
	if (v->given)
		return lnc_err_set(s->err, -EINVAL, "%s: --%s is given twice", where(s), o->name);
	v->given = true;
	if (value) {
		v->text = lnc_arena_strdup(&s->r->mem, value);
		if (!v->text)
			return lnc_err_set(s->err, -ENOMEM, "no memory");
	}
	return 0;
}

static bool is_number(const char *s)
{
	return s && *s && !s[strspn(s, "0123456789")];
}

/* The value of o, which is `rest` when the word had one. */
static int value_of(struct scan *s, const struct lnc_opt *o, const char *rest, const char **value)
{
	*value = rest;
	if (rest || o->kind == LNC_A_FLAG)
		return 0;
	const char *next = s->i + 1 < s->argc ? s->argv[s->i + 1] : NULL;
	if (o->kind == LNC_A_LEVEL) {
		if (is_number(next)) {
			*value = next;
			s->i++;
		}
		return 0;
	}
	if (!next)
		return lnc_err_set(
		        s->err, -EINVAL, "%s: --%s: a value is needed", where(s), o->name);
	*value = next;
	s->i++;
	return 0;
}

static int long_word(struct scan *s, const char *word)
{
	const char *name = word + 2, *eq = strchr(name, '='), *value;
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct lnc_opt *o = long_opt(s, name, len, s->err, word);
	int rc;

	if (!o)
		return -EINVAL;
	if (eq && o->kind == LNC_A_FLAG)
		return lnc_err_set(s->err, -EINVAL, "%s: --%s takes no value ('%.80s')", where(s),
		        o->name, word);
	rc = value_of(s, o, eq ? eq + 1 : NULL, &value);
	return rc ? rc : take(s, o, value);
}

static int short_word(struct scan *s, const char *word)
{
	for (const char *p = word + 1; *p; p++) {
		const struct lnc_opt *o = short_opt(s, *p);
		const char *value;
		int rc;
		if (!o)
			return lnc_err_set(s->err, -EINVAL, "%s: unknown option '-%c' in '%.80s'",
			        where(s), *p, word);
		bool joined = p[1] && o->kind != LNC_A_FLAG &&
		              (o->kind != LNC_A_LEVEL || is_number(p + 1));
		rc = value_of(s, o, joined ? p + 1 : NULL, &value);
		if (!rc)
			rc = take(s, o, value);
		if (rc || joined)
			return rc;
	}
	return 0;
}

/* Options of a command and its arguments, in any order. */
static int scan_rest(struct scan *s)
{
	bool only_args = false;
	int rc = 0;

	for (; !rc && s->i < s->argc; s->i++) {
		const char *w = s->argv[s->i];
		if (only_args || w[0] != '-' || !w[1])
			rc = s->c->arg ? lnc_req_add_arg(s->r, w, s->err)
			               : lnc_err_set(s->err, -EINVAL,
			                         "%s: unexpected argument '%.80s'", s->c->path, w);
		else if (!strcmp(w, "--"))
			only_args = true;
		else
			rc = w[1] == '-' ? long_word(s, w) : short_word(s, w);
	}
	return rc;
}

/* Common options before the first word of the command. */
static int scan_front(struct scan *s)
{
	int rc = 0;

	while (!rc && s->i < s->argc && s->argv[s->i][0] == '-' && s->argv[s->i][1]) {
		const char *w = s->argv[s->i];
		rc = w[1] == '-' ? long_word(s, w) : short_word(s, w);
		s->i++;
	}
	return rc;
}

static bool asks_help(int argc, const char *const *argv)
{
	return argc > 0 &&
	       (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") || !strcmp(argv[0], "help"));
}

int lnc_cmd_parse(
        struct lnc_req *r, int argc, const char *const *argv, int *words, struct lnc_err *err)
{
	struct scan s = {.r = r, .argc = argc, .argv = argv, .err = err};
	int rc = scan_front(&s), used;

	if (rc)
		return rc;
	argc -= s.i;
	argv += s.i;
	int known = known_words(argc, argv);
	if (words)
		*words = known;
	const struct lnc_cmd *c = find_cmd(argc, argv, &used);
	if (r->help && !c)
		return known < argc ? unknown_word(argc, argv, known, err) : 0;
	if (!c) {
		if (!asks_help(argc - known, argv + known))
			return unknown_word(argc, argv, known, err);
		r->help = true;
		return 0;
	}
	if (lnc_req_alloc(r, c))
		return lnc_err_set(err, -ENOMEM, "no memory");
	s = (struct scan){.r = r, .c = c, .argc = argc, .argv = argv, .i = used, .err = err};
	rc = scan_rest(&s);
	if (rc || r->help)
		return rc;
	return lnc_req_check(r, err);
}
