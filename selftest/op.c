/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations of a target: each lane begins its next one when the last has ended. */
#include "selftest/target.h"

#include <errno.h>
#include <string.h>

#define SUSPECTS 8u

static struct lst_pattern pattern_of(const struct lst_lane *l)
{
	return (struct lst_pattern){.seed = l->t->seed, .op = l->op, .source = l->t->source};
}

/* The bytes at `at` of the lane's memory are wrong, or missing from there on. */
static void data_error(struct lst_lane *l, uint32_t len, uint64_t at)
{
	struct lst_target *t = l->t;
	struct lst_pattern want = pattern_of(l);
	struct lst_suspect v[SUSPECTS];
	struct lst_found f;
	unsigned n = 0;

	/* this session, the ones before it */
	for (unsigned g = t->generation; n < SUSPECTS; g--) {
		v[n++] = (struct lst_suspect){
		        .seed = t->a->seed + g, .session = g == t->generation ? t->session : 0};
		if (g == 0)
			break;
	}
	lst_pattern_find(&want, v, n, l->mem, len, at, &f);
	lst_note_bad(t->a, t, 1,
	        &(struct lst_bad){.nid = t->nid,
	                .session = t->session,
	                .source = t->source,
	                .op = l->op,
	                .at = at,
	                .known = f.known,
	                .found_session = f.session,
	                .found_source = f.owner.source,
	                .found_op = f.owner.op,
	                .found_at = f.owner.offset,
	                .word = f.word});
}

/* Is what came right? */
static bool check_get(struct lst_lane *l, const struct lnet_event *ev)
{
	const struct lst_run_conf *c = l->t->a->conf;
	struct lst_pattern want = pattern_of(l);
	uint64_t at = 0;

	if (ev->mlength != c->bytes) {
		data_error(l, ev->mlength, ev->mlength);
		return false;
	}
	if (lst_pattern_verify(&want, c->check, 0, l->mem, c->bytes, &at)) {
		data_error(l, c->bytes, at);
		return false;
	}
	return true;
}

bool lst_run_over(struct lst_active *a)
{
	return atomic_load(&a->stopping) || (a->conf->time_ns && lnet_now(a->n) >= a->end);
}

/* May this lane begin another one? Counts it if so. */
static bool next(struct lst_lane *l)
{
	struct lst_target *t = l->t;
	struct lst_active *a = t->a;
	const struct lst_run_conf *c = a->conf;
	bool go = true;

	if (atomic_load(&t->state) != LST_RUNNING || lst_run_over(a))
		return false;
	pthread_mutex_lock(&a->lock);
	if (c->count && t->issued >= c->count) {
		go = false;
	} else {
		t->issued++;
		t->began++;
		a->res->started++;
	}
	pthread_mutex_unlock(&a->lock);
	return go;
}

static void break_target(struct lst_target *t)
{
	enum lst_state running = LST_RUNNING;

	if (atomic_compare_exchange_strong(&t->state, &running, LST_BROKEN))
		atomic_fetch_add(&t->a->broken, 1);
}

/* The responder may or may not have counted it: the session is out of step. */
static void op_failed(struct lst_lane *l, int status, const char *how)
{
	struct lst_target *t = l->t;
	char nid[LNET_NIDSTR_MAX];

	pthread_mutex_lock(&t->a->lock);
	t->a->res->failed++;
	pthread_mutex_unlock(&t->a->lock);
	lst_note_errors(t->a, t, 1, lst_errname(status), "%s: operation %llu%s: %s",
	        lnet_nid_str(&t->nid, nid, sizeof(nid)), (unsigned long long)l->op, how,
	        strerror(-status));
	break_target(t);
}

static void op_done(struct lst_lane *l, const struct lnet_event *ev, uint64_t took)
{
	struct lst_target *t = l->t;
	struct lst_active *a = t->a;
	bool right = !a->conf->get || check_get(l, ev);

	pthread_mutex_lock(&a->lock);
	t->acked++;
	if (right) {
		a->res->ops++;
		a->res->bytes += a->conf->bytes;
		t->res->ops++;
		lst_hist_add(&a->res->lat, took);
	} else {
		a->res->failed++;
	}
	pthread_mutex_unlock(&a->lock);
	l->op += a->conf->concurrency;
}

static void lane_rests(struct lst_target *t)
{
	struct lst_active *a = t->a;

	if (atomic_fetch_sub(&t->flight, 1) == 1 && atomic_load(&t->state) == LST_BROKEN)
		atomic_store(&a->attention, true);
	atomic_fetch_sub(&a->busy, 1); /* lst_run() may return after this */
}

static void issue(struct lst_lane *l, bool first);

static void on_op(const struct lnet_event *ev)
{
	struct lst_lane *l = ev->user;
	uint64_t took = lnet_now(l->t->a->n) - l->started;

	if (!ev->final)
		return;
	if (ev->status)
		op_failed(l, ev->status, "");
	else
		op_done(l, ev, took);
	if (!ev->status && next(l))
		issue(l, false);
	else
		lane_rests(l->t);
}

/* The lane counts in flight and busy already. first: not in a handler, so that the operation may be
 * over, and the next one begun by its handler, before its handle is known here. */
static void issue(struct lst_lane *l, bool first)
{
	struct lst_target *t = l->t;
	struct lst_active *a = t->a;
	const struct lst_run_conf *c = a->conf;
	struct lst_pattern p = pattern_of(l);
	struct lnet_op_args args;
	lnet_handle_t h = 0, none = 0;
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
	if (!c->get)
		lst_pattern_fill(&p, c->check, 0, l->mem, c->bytes);
	l->started = lnet_now(a->n);
	args.deadline = l->started + c->op_timeout_ns;
	atomic_store(&l->handle, 0);
	rc = c->get ? lnet_get(a->n, &args, &h) : lnet_put(a->n, &args, &h);
	if (rc) {
		op_failed(l, rc, " does not start");
		lane_rests(t);
		return;
	}
	if (first)
		atomic_compare_exchange_strong(&l->handle, &none, h);
	else
		atomic_store(&l->handle, h);
}

void lst_lanes_start(struct lst_target *t)
{
	const struct lst_run_conf *c = t->a->conf;

	/* none comes to rest before all have begun */
	atomic_fetch_add(&t->flight, c->concurrency + 1);
	atomic_fetch_add(&t->a->busy, c->concurrency + 1);
	for (unsigned i = 0; i < c->concurrency; i++) {
		struct lst_lane *l = &t->lane[i];

		l->op = i;
		if (next(l))
			issue(l, true);
		else
			lane_rests(t);
	}
	lane_rests(t);
}

void lst_target_cancel(struct lst_target *t)
{
	for (unsigned i = 0; i < t->a->conf->concurrency; i++)
		lnet_op_cancel(t->a->n, atomic_load(&t->lane[i].handle));
}
