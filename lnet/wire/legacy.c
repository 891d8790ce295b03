/* SPDX-License-Identifier: BSD-2-Clause */
/* networks=, and what the other strings share with it. See legacy.h for the grammar. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/wire/legacy_int.h"
#include "lnet/wire/nid_str.h"
#include "lnet/wire/perr.h"

int lni_notice_add(struct lni_notices *list, size_t pos, const char *fmt, ...)
{
	struct lnet_parse_err *v;
	va_list ap;

	if (list->n == LNI_LEGACY_MAX_NOTICES)
		return 0;
	v = realloc(list->v, (list->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list->v = v;
	v += list->n++;
	v->pos = pos;
	va_start(ap, fmt);
	vsnprintf(v->msg, sizeof(v->msg), fmt, ap);
	va_end(ap);
	return 0;
}

void lni_notices_free(struct lni_notices *list)
{
	free(list->v);
	*list = (struct lni_notices){.n = 0};
}

void lni_skip_blanks(const char *s, size_t len, size_t *pos)
{
	while (*pos < len && is_blank(s[*pos]))
		++*pos;
}

/* ---- statements -------------------------------------------------------------------------- */

static bool is_newline(const char *s, size_t len, size_t pos)
{
	return s[pos] == '\n' || (s[pos] == '\r' && pos + 1 < len && s[pos + 1] == '\n');
}

/* A comment at s[*pos]. A ';' in it did end it for the kernel, so that text behind it was live. */
static int skip_comment(const char *s, size_t len, size_t *pos, struct lni_notices *notices)
{
	bool told = false;
	int rc = 0;

	for (; *pos < len && !is_newline(s, len, *pos) && rc == 0; ++*pos) {
		if (s[*pos] != ';' || told)
			continue;
		rc = lni_notice_add(notices, *pos,
		        "';' inside a comment: the comment runs to the end of the line");
		told = true;
	}
	return rc;
}

int lni_statement_next(const char *s, size_t len, size_t *pos, size_t *start, size_t *end,
        struct lni_notices *notices)
{
	size_t p = *pos;

	while (p < len && (is_blank(s[p]) || s[p] == ';' || s[p] == '#' || is_newline(s, len, p))) {
		if (s[p] != '#')
			p++;
		else if (skip_comment(s, len, &p, notices))
			return -ENOMEM;
	}
	*start = p;
	while (p < len && s[p] != ';' && s[p] != '#' && !is_newline(s, len, p))
		p++;
	*pos = p;
	while (p > *start && is_blank(s[p - 1]))
		p--;
	*end = p;
	return p > *start;
}

/* ---- networks ---------------------------------------------------------------------------- */

void lni_legacy_nets_free(struct lni_legacy_nets *nets)
{
	for (size_t i = 0; i < nets->n; i++)
		free(nets->v[i].ifs);
	free(nets->v);
	lni_notices_free(&nets->notices);
	*nets = (struct lni_legacy_nets){.n = 0};
}

struct parser {
	const char *s;
	size_t len, pos;
	struct lni_notices *notices;
	struct lnet_parse_err *err;
};

static int found(const struct parser *p, const char *what)
{
	return lni_perr_found(p->err, p->s, p->len, p->pos, what);
}

static bool at(const struct parser *p, char c)
{
	return p->pos < p->len && p->s[p->pos] == c;
}

static void skip(struct parser *p)
{
	lni_skip_blanks(p->s, p->len, &p->pos);
}

/* The net's entry, made if there is none. NULL: no memory. */
static struct lni_legacy_net *get_net(struct lni_legacy_nets *nets, lnet_net_t net, size_t pos)
{
	struct lni_legacy_net *v;

	for (size_t i = 0; i < nets->n; i++)
		if (nets->v[i].net == net)
			return &nets->v[i];
	v = realloc(nets->v, (nets->n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	nets->v = v;
	v += nets->n++;
	*v = (struct lni_legacy_net){.net = net, .pos = pos};
	return v;
}

static int add_if(struct parser *p, struct lni_legacy_net *net, const struct lni_ifspec *spec)
{
	char text[LNET_NIDSTR_MAX];
	struct lni_ifspec *v;

	for (size_t i = 0; i < net->n_ifs; i++)
		if (strcmp(net->ifs[i].name, spec->name) == 0)
			return lni_notice_add(p->notices, spec->pos,
			        "%s is named again for network %s: ignored",
			        spec->name[0] ? spec->name : "the first interface",
			        lnet_net_str(net->net, text, sizeof(text)));
	v = realloc(net->ifs, (net->n_ifs + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	net->ifs = v;
	v[net->n_ifs++] = *spec;
	return 0;
}

#define MAX_IFS 64u /* of one mention of a net */

/* "(if,if...)" at p->pos */
static int parse_ifs(struct parser *p, struct lni_ifspec *ifs, size_t *n)
{
	int rc;

	*n = 0;
	do {
		p->pos++;
		skip(p);
		if (*n == MAX_IFS)
			return lni_perr(p->err, p->pos, "more than %u interfaces", MAX_IFS);
		rc = lni_ifspec_parse_at(p->s, p->len, &p->pos, &ifs[*n], p->err);
		if (rc)
			return rc;
		++*n;
		skip(p);
	} while (at(p, ','));
	if (!at(p, ')'))
		return found(p, "',' or ')' expected");
	p->pos++;
	return 0;
}

/* Blanks belong to the net only if a part of it follows. */
static bool next_is(struct parser *p, char c)
{
	size_t pos = p->pos;

	lni_skip_blanks(p->s, p->len, &pos);
	if (pos >= p->len || p->s[pos] != c)
		return false;
	p->pos = pos;
	return true;
}

static int add_ifs(struct parser *p, struct lni_legacy_nets *nets, lnet_net_t net, size_t pos,
        struct lni_ifspec *ifs, size_t n, const struct lni_cpts *cpts)
{
	struct lni_legacy_net *entry;
	int rc = 0;

	if (LNET_NET_TYPE(net) == LNET_LND_LO)
		return lni_notice_add(p->notices, pos, "network lo is always there: ignored");
	entry = get_net(nets, net, pos);
	if (!entry)
		return -ENOMEM;
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (lni_cpts_empty(&ifs[i].cpts))
			ifs[i].cpts = *cpts;
		rc = add_if(p, entry, &ifs[i]);
	}
	return rc;
}

static int parse_net(struct parser *p, struct lni_legacy_nets *nets)
{
	struct lni_ifspec ifs[MAX_IFS] = {{.pos = p->pos}};
	struct lni_cpts cpts = {.bits = {0}};
	size_t pos = p->pos, n = 1;
	lnet_net_t net;
	int rc = lni_net_parse_at(p->s, p->len, &p->pos, &net, p->err);

	if (rc)
		return rc;
	if (next_is(p, '(')) {
		if (LNET_NET_TYPE(net) == LNET_LND_LO)
			return lni_perr(p->err, p->pos, "network lo takes no interface");
		rc = parse_ifs(p, ifs, &n);
	}
	if (rc == 0 && next_is(p, '['))
		rc = lni_cpts_parse_at(p->s, p->len, &p->pos, &cpts, p->err);
	if (rc)
		return rc;
	return add_ifs(p, nets, net, pos, ifs, n, &cpts);
}

int lni_legacy_netlist_at(const char *s, size_t len, size_t *pos, struct lni_legacy_nets *nets,
        struct lni_notices *notices, struct lnet_parse_err *err)
{
	struct parser p = {.s = s, .len = len, .pos = *pos, .notices = notices, .err = err};
	int rc;

	for (;;) {
		rc = parse_net(&p, nets);
		if (rc)
			return rc;
		if (!next_is(&p, ','))
			break;
		p.pos++;
		skip(&p);
	}
	*pos = p.pos;
	return 0;
}

int lni_legacy_nets_parse(
        const char *s, size_t len, struct lni_legacy_nets *out, struct lnet_parse_err *err)
{
	struct lni_legacy_nets nets = {.n = 0};
	size_t pos = 0;
	int rc = 0;

	if (len > LNI_LEGACY_MAX_NETWORKS) {
		lni_perr(err, LNI_LEGACY_MAX_NETWORKS, "text is longer than %u bytes",
		        LNI_LEGACY_MAX_NETWORKS);
		return -E2BIG;
	}
	lni_skip_blanks(s, len, &pos);
	if (pos < len)
		rc = lni_legacy_netlist_at(s, len, &pos, &nets, &nets.notices, err);
	lni_skip_blanks(s, len, &pos);
	if (rc == 0 && pos < len)
		rc = lni_perr_found(err, s, len, pos, "',' or the end expected");
	if (rc) {
		lni_legacy_nets_free(&nets);
		return rc;
	}
	*out = nets;
	return 0;
}
