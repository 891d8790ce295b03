/* SPDX-License-Identifier: BSD-2-Clause */
/* What went wrong, by cause. */
#include "selftest/target.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define U(x) ((unsigned long long)(x))

const char *lst_errname(int err)
{
	const char *name = strerrorname_np(-err);

	return name ? name : "error";
}

/* Under the lock. */
static void add_cause(struct lst_run_result *r, const char *cause, uint64_t count)
{
	unsigned i;

	r->errors += count;
	for (i = 0; i < r->ncauses && strcmp(r->cause[i].name, cause); i++)
		;
	if (i == LST_CAUSES) {
		i = LST_CAUSES - 1; /* more kinds than rows: the last row takes the rest */
		r->cause[i].name = "other";
	} else if (i == r->ncauses) {
		r->cause[r->ncauses++].name = cause;
	}
	r->cause[i].count += count;
}

void lst_note_errors(struct lst_active *a, struct lst_target *t, uint64_t count, const char *cause,
        const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&a->lock);
	if (!a->res->errors) {
		va_start(ap, fmt);
		vsnprintf(a->res->first, sizeof(a->res->first), fmt, ap);
		va_end(ap);
	}
	add_cause(a->res, cause, count);
	if (t)
		t->res->errors += count;
	pthread_mutex_unlock(&a->lock);
}

char *lst_bad_str(const struct lst_bad *b, char *buf, size_t size)
{
	char nid[LNET_NIDSTR_MAX], other[40] = "";

	lnet_nid_str(&b->nid, nid, sizeof(nid));
	if (b->known && b->found_session != b->session)
		snprintf(other, sizeof(other), " of session %u", b->found_session);
	if (b->known)
		snprintf(buf, size,
		        "%s %s: byte %llu of operation %llu of source %u holds byte %llu of "
		        "operation "
		        "%llu of source %u%s",
		        b->remote ? "put to" : "get from", nid, U(b->at), U(b->op), b->source,
		        U(b->found_at), U(b->found_op), b->found_source, other);
	else
		snprintf(buf, size,
		        "%s %s: byte %llu of operation %llu of source %u holds nobody's data "
		        "(0x%016llx)",
		        b->remote ? "put to" : "get from", nid, U(b->at), U(b->op), b->source,
		        U(b->word));
	return buf;
}

void lst_note_bad(
        struct lst_active *a, struct lst_target *t, uint64_t count, const struct lst_bad *b)
{
	char text[sizeof(a->res->first)];

	pthread_mutex_lock(&a->lock);
	if (a->res->nbad < LST_BAD_MAX)
		a->res->bad[a->res->nbad++] = *b;
	pthread_mutex_unlock(&a->lock);
	lst_note_errors(a, t, count, "data", "%s", lst_bad_str(b, text, sizeof(text)));
}
