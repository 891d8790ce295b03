/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/target.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_cause(struct lst_run_result *r, const char *cause, uint64_t count)
{
	unsigned i;

	r->errors += count;
	for (i = 0; i < r->ncauses && strcmp(r->cause[i].name, cause); i++)
		;
	if (i == r->ncauses) {
		if (i == LST_CAUSES)
			i = LST_CAUSES - 1; /* more kinds than rows: the last row takes the rest */
		else
			r->cause[r->ncauses++].name = cause;
	}
	r->cause[i].count += count;
}

void lst_note_errors(struct lst_active *a, uint64_t count, const char *cause, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&a->lock);
	if (!a->res->errors) {
		va_start(ap, fmt);
		vsnprintf(a->res->first, sizeof(a->res->first), fmt, ap);
		va_end(ap);
	}
	add_cause(a->res, cause, count);
	pthread_mutex_unlock(&a->lock);
}

int lst_target_init(struct lst_target *t, struct lst_active *a, unsigned index)
{
	const struct lst_run_conf *c = a->conf;

	t->a = a;
	t->nid = c->target[index];
	t->source = (uint16_t)(index & LST_SOURCE_MAX);
	t->mem = calloc(c->concurrency, c->bytes);
	t->lane = calloc(c->concurrency, sizeof(t->lane[0]));
	if (!t->mem || !t->lane)
		return -ENOMEM;
	for (unsigned i = 0; i < c->concurrency; i++) {
		struct lst_lane *l = &t->lane[i];

		l->t = t;
		l->slot = (uint16_t)i;
		l->op = i;
		l->mem = t->mem + (size_t)i * c->bytes;
		l->iov = (struct iovec){l->mem, c->bytes};
	}
	return 0;
}

void lst_target_fini(struct lst_target *t)
{
	free(t->mem);
	free(t->lane);
}

static struct lst_pattern pattern_of(const struct lst_lane *l)
{
	return (struct lst_pattern){.seed = l->t->a->seed, .op = l->op, .source = l->t->source};
}

static void data_error(struct lst_lane *l, uint32_t len, uint64_t at)
{
	struct lst_pattern want = pattern_of(l);
	struct lst_suspect self = {.seed = want.seed};
	struct lst_found f;
	char nid[LNET_NIDSTR_MAX];

	lst_pattern_find(&want, &self, 1, l->mem, len, at, &f);
	lnet_nid_str(&l->t->nid, nid, sizeof(nid));
	if (f.known)
		lst_note_errors(l->t->a, 1, "data",
		        "%s: byte %llu of operation %llu is byte %llu of operation %llu of source "
		        "%u",
		        nid, (unsigned long long)at, (unsigned long long)l->op,
		        (unsigned long long)f.owner.offset, (unsigned long long)f.owner.op,
		        f.owner.source);
	else
		lst_note_errors(l->t->a, 1, "data",
		        "%s: byte %llu of operation %llu is foreign (%016llx)", nid,
		        (unsigned long long)at, (unsigned long long)l->op,
		        (unsigned long long)f.word);
}

static void check_get(struct lst_lane *l, const struct lnet_event *ev)
{
	const struct lst_run_conf *c = l->t->a->conf;
	struct lst_pattern want = pattern_of(l);
	uint64_t at = 0;

	if (ev->mlength != c->bytes)
		data_error(l, ev->mlength, ev->mlength);
	else if (lst_pattern_verify(&want, c->check, 0, l->mem, c->bytes, &at))
		data_error(l, c->bytes, at);
}

/* May this lane begin another one? Counts it if so. */
static bool next(struct lst_lane *l)
{
	struct lst_active *a = l->t->a;
	const struct lst_run_conf *c = a->conf;
	bool go = !atomic_load(&a->stopping) && !l->t->dead;

	if (go && c->time_ns && lnet_now(a->n) >= a->end)
		go = false;
	if (!go)
		return false;
	pthread_mutex_lock(&a->lock);
	if (c->count && l->t->issued >= c->count)
		go = false;
	else
		l->t->issued++;
	pthread_mutex_unlock(&a->lock);
	return go;
}

static void issue(struct lst_lane *l);

static void on_op(const struct lnet_event *ev)
{
	struct lst_lane *l = ev->user;
	struct lst_target *t = l->t;
	struct lst_active *a = t->a;
	uint64_t took = lnet_now(a->n) - l->started;

	if (!ev->final)
		return;
	if (ev->status) {
		char nid[LNET_NIDSTR_MAX];

		lst_note_errors(a, 1, strerrorname_np(-ev->status), "%s: operation %llu: %s",
		        lnet_nid_str(&t->nid, nid, sizeof(nid)), (unsigned long long)l->op,
		        strerror(-ev->status));
		/* the responder may or may not have counted it: this target's numbers are out of
		 * step, and a second error would say nothing new */
		t->dead = true;
	} else {
		pthread_mutex_lock(&a->lock);
		a->res->ops++;
		a->res->bytes += a->conf->bytes;
		lst_hist_add(&a->res->lat, took);
		pthread_mutex_unlock(&a->lock);
		if (a->conf->get)
			check_get(l, ev);
		l->op += a->conf->concurrency;
		if (next(l))
			issue(l);
	}
	atomic_fetch_sub(&a->busy, 1);
}

static void issue(struct lst_lane *l)
{
	struct lst_target *t = l->t;
	struct lst_active *a = t->a;
	const struct lst_run_conf *c = a->conf;
	struct lst_pattern p = pattern_of(l);
	struct lnet_op_args args;
	int rc;

	lnet_op_args_init(&args, sizeof(args));
	args.target = t->nid;
	args.portal = LST_PORTAL;
	args.match_bits = lst_slot_bits(t->session, l->slot);
	args.hdr_data = l->op;
	args.flags = (c->get ? 0 : LNET_OP_ACK) | (c->bytes >= 4096 ? LNET_OP_BULK : 0);
	args.mem = (struct lnet_mem){.iov = &l->iov, .niov = 1};
	args.handler = on_op;
	args.user = l;
	l->started = lnet_now(a->n);
	args.deadline = l->started + c->op_timeout_ns;
	if (!c->get)
		lst_pattern_fill(&p, c->check, 0, l->mem, c->bytes);
	atomic_fetch_add(&a->busy, 1);
	rc = c->get ? lnet_get(a->n, &args, NULL) : lnet_put(a->n, &args, NULL);
	if (rc) {
		char nid[LNET_NIDSTR_MAX];

		lst_note_errors(a, 1, strerrorname_np(-rc), "%s: operation %llu does not start: %s",
		        lnet_nid_str(&t->nid, nid, sizeof(nid)), (unsigned long long)l->op,
		        strerror(-rc));
		t->dead = true;
		atomic_fetch_sub(&a->busy, 1);
	}
}

void lst_target_start(struct lst_target *t)
{
	for (unsigned i = 0; i < t->a->conf->concurrency; i++)
		if (next(&t->lane[i]))
			issue(&t->lane[i]);
}
