/* SPDX-License-Identifier: BSD-2-Clause */
/* Document to configuration: the machinery, and the top level. */
#include "lnet/control/conf_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lnc_rd_err(struct lnc_rd *r, const struct lnc_node *at, int code, const char *fmt, ...)
{
	char msg[LNC_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (code && !r->rc)
		r->rc = code;
	return lnc_errs_add(r->errs, at, code, "%s", msg);
}

int lnc_rd_errof(struct lnc_rd *r, const struct lnc_node *at, const struct lnc_err *err)
{
	return lnc_rd_err(r, at, err->code, "%s", err->msg);
}

struct lnc_pos lnc_rd_pos(const struct lnc_node *n)
{
	return (struct lnc_pos){n->line, n->column};
}

bool lnc_rd_del(const struct lnc_rd *r)
{
	return r->flags & LNC_PARSE_DEL;
}

void lnc_rd_unknown(
        struct lnc_rd *r, const struct lnc_node *at, const char *const *names, unsigned n)
{
	const char *near = lnc_nearest(at->key, names, n);

	if (!r->rc)
		r->rc = -EINVAL;
	if (near)
		lnc_errs_key(r->errs, at, -EINVAL, "invalid key '%.60s'; did you mean '%s'?",
		        at->key, near);
	else
		lnc_errs_key(r->errs, at, -EINVAL, "invalid key '%.60s'", at->key);
}

static const char *kinds_str(unsigned kinds)
{
	switch (kinds & (LNC_K_SCALAR | LNC_K_MAP | LNC_K_SEQ)) {
	case LNC_K_SCALAR:
		return "a value";
	case LNC_K_MAP:
		return "a mapping";
	case LNC_K_SEQ:
		return "a list";
	case LNC_K_MAP | LNC_K_SEQ:
		return "a mapping or a list";
	default:
		return "a value or a list";
	}
}

static void rd_entry(struct lnc_rd *r, const struct lnc_node *v, const struct lnc_key *k, void *obj)
{
	if (!k->fn)
		return;
	if (lnc_node_is_null(v)) {
		if ((k->kinds & LNC_K_NULL) || ((k->kinds & LNC_K_NULL_DEL) && lnc_rd_del(r)))
			k->fn(r, v, obj);
		else
			lnc_rd_err(r, v, -EINVAL, "no value specified for key '%s'", k->name);
		return;
	}
	if (!(k->kinds >> v->kind & 1)) {
		lnc_rd_err(r, v, -EINVAL, "key '%s' needs %s, found %s", k->name,
		        kinds_str(k->kinds), lnc_node_kind_str(v));
		return;
	}
	k->fn(r, v, obj);
}

void lnc_rd_map(struct lnc_rd *r, const struct lnc_node *map, const struct lnc_key *keys,
        unsigned nkeys, void *obj)
{
	const char *names[80];
	unsigned n = 0;

	for (; n < nkeys && n < sizeof(names) / sizeof(names[0]); n++)
		names[n] = keys[n].name;
	for (const struct lnc_node *v = map->first; v; v = v->next) {
		const struct lnc_key *k = NULL;

		for (unsigned i = 0; i < nkeys && !k; i++) {
			if (strcmp(keys[i].name, v->key) == 0)
				k = &keys[i];
		}
		if (k)
			rd_entry(r, v, k, obj);
		else
			lnc_rd_unknown(r, v, names, n);
	}
}

void lnc_rd_items(struct lnc_rd *r, const struct lnc_node *seq,
        void (*fn)(struct lnc_rd *r, const struct lnc_node *item))
{
	for (const struct lnc_node *v = seq->first; v; v = v->next) {
		if (v->kind == LNC_MAP)
			fn(r, v);
		else
			lnc_rd_err(r, v, -EINVAL, "an item of '%s' needs a mapping, found %s",
			        seq->key ? seq->key : "the list", lnc_node_kind_str(v));
	}
}

/* ---- scalars -------------------------------------------------------------------------------- */

int lnc_rd_int(
        struct lnc_rd *r, const struct lnc_node *v, const struct lnet_tunable *t, int32_t *out)
{
	struct lnc_err err;
	int64_t x;
	int rc = lnc_value_check(t, v->text, &x, &err);

	if (rc)
		return lnc_rd_errof(r, v, &err);
	*out = (int32_t)x;
	return 0;
}

int lnc_rd_bool(struct lnc_rd *r, const struct lnc_node *v, int32_t *out)
{
	struct lnc_err err;
	bool b;
	int rc = lnc_bool_check(v->key, v->text, &b, &err);

	if (rc)
		return lnc_rd_errof(r, v, &err);
	*out = b;
	return 0;
}

int lnc_rd_net(struct lnc_rd *r, const struct lnc_node *v, lnet_net_t *out)
{
	struct lnet_parse_err pe;

	if (!lnet_net_parse(v->text, v->len, out, &pe))
		return 0;
	return lnc_rd_err(r, v, -EINVAL, "Invalid network ID '%.60s': %s at character %zu", v->text,
	        pe.msg, pe.pos + 1);
}

/* ---- global, numa, routing, buffers, ours --------------------------------------------------- */

static void add_global(struct lnc_rd *r, const struct lnc_node *v, const struct lnet_tunable *t)
{
	struct lnc_tun *old = lnc_tun_find(r->c->global, r->c->nglobal, t->name), x = {0};
	struct lnc_err err;
	char text[24];

	if (!lnc_node_is_null(v)) {
		if (lnc_value_check(t, v->text, &x.value, &err)) {
			lnc_rd_errof(r, v, &err);
			return;
		}
		snprintf(text, sizeof(text), "%lld", (long long)x.value);
		x.text = lnc_arena_strdup(&r->c->mem, text);
	} else {
		x.text = ""; /* --del: the key alone counts */
	}
	if (old) {
		if (strcmp(old->text, x.text ? x.text : "") != 0)
			lnc_rd_err(r, v, -EINVAL, "'%s' is given twice, as %s (at %u:%u) and as %s",
			        t->name, old->text, old->pos.line, old->pos.column, x.text);
		return;
	}
	x.name = t->name;
	x.known = true;
	x.pos = lnc_rd_pos(v);
	r->c->global = lnc_tun_merge(&r->c->mem, r->s->globals, r->s->nglobals, r->c->global,
	        r->c->nglobal, &x, 1, &r->c->nglobal);
}

void lnc_rd_global(struct lnc_rd *r, const struct lnc_node *map, void *obj)
{
	(void)obj;
	for (const struct lnc_node *v = map->first; v; v = v->next) {
		const char *name = strcmp(v->key, "max_intf") == 0 ? "max_interfaces" : v->key;
		const struct lnet_tunable *t;
		struct lnc_err err;

		if (lnc_tunable_lookup(r->s->globals, r->s->nglobals, name, &t, &err)) {
			r->rc = r->rc ? r->rc : -EINVAL;
			lnc_errs_key(r->errs, v, -EINVAL, "%s", err.msg);
		} else if (t->flags & LNET_TUN_READONLY) {
			continue; /* written by export */
		} else if (v->kind != LNC_SCALAR) {
			lnc_rd_err(r, v, -EINVAL, "key '%s' needs a value, found %s", t->name,
			        lnc_node_kind_str(v));
		} else if (lnc_node_is_null(v) && !lnc_rd_del(r)) {
			lnc_rd_err(r, v, -EINVAL, "no value specified for key '%s'", t->name);
		} else {
			add_global(r, v, t);
		}
	}
}

static void numa_range(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	const struct lnet_tunable *t =
	        lnc_tunable_find(r->s->globals, r->s->nglobals, "numa_range");

	(void)obj;
	if (t)
		add_global(r, v, t);
	else
		lnc_rd_err(r, v, -EINVAL, "numa_range is not known here");
}

void lnc_rd_numa(struct lnc_rd *r, const struct lnc_node *map, void *obj)
{
	static const struct lnc_key keys[] = {{"range", numa_range, LNC_K_SCALAR | LNC_K_NULL_DEL}};

	lnc_rd_map(r, map, keys, 1, obj);
}

/* lnetctl's export writes 2 and 3 for a router that is on. */
static void routing_enable(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	if (strcmp(v->text, "2") == 0 || strcmp(v->text, "3") == 0)
		r->c->routing = 1;
	else
		lnc_rd_bool(r, v, &r->c->routing);
}

static bool is_cpt_key(const char *s)
{
	size_t n;

	if (strncmp(s, "cpt[", 4) != 0)
		return false;
	n = strspn(s + 4, "0123456789");
	return n && strcmp(s + 4 + n, "]") == 0;
}

void lnc_rd_routing(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	static const struct lnc_key keys[] = {
	        {"enable", routing_enable, LNC_K_SCALAR}, LNC_IGNORED("seq_no")};

	if (v->kind == LNC_MAP) {
		lnc_rd_map(r, v, keys, 2, obj);
		return;
	}
	for (const struct lnc_node *i = v->first; i; i = i->next) {
		if (i->kind != LNC_MAP)
			lnc_rd_err(r, i, -EINVAL, "an item of 'routing' needs a mapping, found %s",
			        lnc_node_kind_str(i));
		else if (!i->first || !is_cpt_key(i->first->key))
			lnc_rd_map(r, i, keys, 2, obj);
	}
}

static void buffer(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	const struct lnet_tunable *t = lnc_tunable_find(lnc_buffer_tunables(), LNC_BUFFERS, v->key);

	(void)obj;
	lnc_rd_int(r, v, t, &r->c->buffers[t - lnc_buffer_tunables()]);
}

void lnc_rd_buffers(struct lnc_rd *r, const struct lnc_node *map, void *obj)
{
	static const struct lnc_key keys[] = {{"tiny", buffer, LNC_K_SCALAR},
	        {"small", buffer, LNC_K_SCALAR}, {"large", buffer, LNC_K_SCALAR},
	        LNC_IGNORED("seq_no")};

	lnc_rd_map(r, map, keys, 4, obj);
}

static void selftest(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	if (lnc_node_is_null(v))
		r->c->selftest = 1;
	else
		lnc_rd_bool(r, v, &r->c->selftest);
}

static void control_socket(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	if (!lnc_node_is_null(v) && v->text[0] != '/')
		lnc_rd_err(r, v, -EINVAL,
		        "invalid value '%.60s' for key 'socket': an absolute path is needed",
		        v->text);
	else if (v->len > LNC_SOCKET_MAX)
		lnc_rd_err(r, v, -EINVAL, "path of %zu bytes: a socket's path has at most %u",
		        v->len, LNC_SOCKET_MAX);
	else
		r->c->control.socket = v->text;
}

static void control_mode(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	const char *p = v->text;
	int32_t mode = 0;

	(void)obj;
	if (lnc_node_is_null(v)) {
		r->c->control.mode = 0;
		return;
	}
	if (v->len == 4 && *p == '0')
		p++;
	if (strlen(p) != 3 || strspn(p, "01234567") != 3) {
		lnc_rd_err(r, v, -EINVAL,
		        "invalid value '%.20s' for key 'mode': expected octal 000..777", v->text);
		return;
	}
	for (; *p; p++)
		mode = mode * 8 + (*p - '0');
	r->c->control.mode = mode;
}

static void control_group(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	if (v->len > 32 || (!lnc_node_is_null(v) && (!v->len || strpbrk(v->text, " \t\n:/,"))))
		lnc_rd_err(r, v, -EINVAL, "invalid value '%.60s' for key 'group': not a group name",
		        v->text);
	else
		r->c->control.group = v->text;
}

static void control(struct lnc_rd *r, const struct lnc_node *map, void *obj)
{
	static const struct lnc_key keys[] = {
	        {"socket", control_socket, LNC_K_SCALAR | LNC_K_NULL_DEL},
	        {"mode", control_mode, LNC_K_SCALAR | LNC_K_NULL_DEL},
	        {"group", control_group, LNC_K_SCALAR | LNC_K_NULL_DEL}};

	lnc_rd_map(r, map, keys, 3, obj);
}

static void log_level(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	enum lnet_log_level lv = LNET_LOG_ERR;
	struct lnc_err err;

	(void)obj;
	if (!lnc_node_is_null(v) && lnc_log_level_parse(v->text, &lv, &err))
		lnc_rd_errof(r, v, &err);
	else
		r->c->log.level = lv;
}

static void log_to(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	if (lnc_node_is_null(v) || v->text[0] == '/' || strcmp(v->text, "stderr") == 0 ||
	        strcmp(v->text, "syslog") == 0)
		r->c->log.to = v->text;
	else
		lnc_rd_err(r, v, -EINVAL,
		        "invalid value '%.60s' for key 'to': expected stderr, syslog or an "
		        "absolute path",
		        v->text);
}

static void logging(struct lnc_rd *r, const struct lnc_node *map, void *obj)
{
	static const struct lnc_key keys[] = {{"level", log_level, LNC_K_SCALAR | LNC_K_NULL_DEL},
	        {"to", log_to, LNC_K_SCALAR | LNC_K_NULL_DEL}};

	lnc_rd_map(r, map, keys, 2, obj);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void action(struct lnc_rd *r, const struct lnc_node *v, void *obj)
{
	(void)obj;
	lnc_rd_err(r, v, -EINVAL, "'%s' is a request, not configuration", v->key);
}

static void rd_top(struct lnc_rd *r, const struct lnc_node *root)
{
	static const struct lnc_key keys[] = {
	        {"net", lnc_rd_nets, LNC_K_SEQ},
	        {"ip2nets", lnc_rd_rules, LNC_K_SEQ},
	        {"route", lnc_rd_routes, LNC_K_SEQ},
	        {"routing", lnc_rd_routing, LNC_K_MAP | LNC_K_SEQ},
	        {"buffers", lnc_rd_buffers, LNC_K_MAP},
	        {"peer", lnc_rd_peers, LNC_K_SEQ},
	        {"global", lnc_rd_global, LNC_K_MAP},
	        {"numa", lnc_rd_numa, LNC_K_MAP},
	        {"udsp", lnc_rd_udsps, LNC_K_SEQ},
	        LNC_IGNORED("statistics"),
	        {"selftest", selftest, LNC_K_SCALAR | LNC_K_NULL_DEL},
	        {"control", control, LNC_K_MAP},
	        {"log", logging, LNC_K_MAP},
	        {"ping", action, LNC_K_MAP},
	        {"discover", action, LNC_K_MAP},
	};

	lnc_rd_map(r, root, keys, sizeof(keys) / sizeof(keys[0]), NULL);
	for (unsigned i = 0; i < r->c->nnet; i++)
		lnc_net_level(&r->c->mem, r->s, &r->c->net[i]);
}

int lnc_conf_parse(const struct lnc_doc *d, const struct lnc_schema *s, unsigned flags,
        struct lnc_conf **out, struct lnc_errs *errs)
{
	struct lnc_rd r = {.s = s, .flags = flags, .errs = errs, .c = lnc_conf_new()};
	struct lnc_conf *copy = NULL;

	if (!r.c)
		return lnc_errs_add(errs, NULL, -ENOMEM, "out of memory");
	if (d->root && d->root->kind == LNC_MAP)
		rd_top(&r, d->root);
	else if (d->root && !lnc_node_is_null(d->root))
		lnc_rd_err(&r, d->root, -EINVAL, "a mapping of keys is expected, found %s",
		        lnc_node_kind_str(d->root));
	if (!r.rc && !r.c->mem.failed && !lnc_rd_del(&r))
		r.rc = lnc_check(r.c, s, true, errs);
	/* texts point into the document until here */
	if (!r.rc && !r.c->mem.failed)
		copy = lnc_conf_dup(r.c);
	/* what was found after memory ran out may be an error of ours */
	if (r.c->mem.failed || (!r.rc && !copy))
		r.rc = lnc_errs_add(errs, NULL, -ENOMEM, "out of memory");
	lnc_conf_free(r.c);
	if (!r.rc)
		*out = copy;
	return r.rc;
}

int lnc_conf_read(const char *text, size_t len, const struct lnc_schema *s, unsigned flags,
        struct lnc_conf **out, struct lnc_errs *errs)
{
	struct lnc_doc *d;
	int rc = lnc_doc_parse(text, len, &d, errs);

	if (rc)
		return rc;
	rc = lnc_conf_parse(d, s, flags, out, errs);
	lnc_doc_free(d);
	return rc;
}
