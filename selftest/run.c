/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "selftest/target.h"

#define DEF_OP_TIMEOUT 30000000000ull
#define LOOK_NS        200000000ull

void lst_run_conf_init(struct lst_run_conf *c, size_t size)
{
	memset(c, 0, size);
	c->size = size;
	c->bytes = 4096;
	c->concurrency = 8;
	c->op_timeout_ns = DEF_OP_TIMEOUT;
}

static int check(const struct lst_run_conf *c)
{
	if (c->size < sizeof(*c) || !c->target || c->ntargets < 1 || c->ntargets > LST_TARGETS_MAX)
		return -EINVAL;
	if (c->bytes < 1 || c->bytes > LST_SIZE_MAX || c->concurrency < 1 ||
	        c->concurrency > LST_SLOTS_MAX || c->check > LST_CHECK_FULL)
		return -EINVAL;
	if ((!c->time_ns && !c->count) || !c->op_timeout_ns)
		return -EINVAL;
	return 0;
}

static void open_all(struct lst_active *a)
{
	for (unsigned i = 0; i < a->conf->ntargets; i++) {
		struct lst_target *t = &a->target[i];
		char nid[LNET_NIDSTR_MAX];
		int rc = lst_target_ask(t, LST_OPEN);

		if (rc) {
			lst_note_errors(a, 1, strerrorname_np(-rc), "%s: no session: %s",
			        lnet_nid_str(&t->nid, nid, sizeof(nid)), strerror(-rc));
			continue;
		}
		t->open = true;
		t->session = t->reply.session;
	}
}

/* What the other end saw wrong. */
static void report(struct lst_target *t)
{
	const struct lst_reply *r = &t->reply;
	char nid[LNET_NIDSTR_MAX];

	lnet_nid_str(&t->nid, nid, sizeof(nid));
	if (r->data_errors && r->found_known)
		lst_note_errors(t->a, r->data_errors, "data",
		        "%s got byte %llu of operation %llu wrong: byte %llu of operation %llu of "
		        "source %u",
		        nid, (unsigned long long)r->at, (unsigned long long)r->want_op,
		        (unsigned long long)r->found_offset, (unsigned long long)r->found_op,
		        r->found_source);
	else if (r->data_errors)
		lst_note_errors(t->a, r->data_errors, "data",
		        "%s got byte %llu of operation %llu wrong", nid, (unsigned long long)r->at,
		        (unsigned long long)r->want_op);
	if (r->order_errors)
		lst_note_errors(t->a, r->order_errors, "order",
		        "%s got an operation twice or on the wrong slot", nid);
}

static void close_all(struct lst_active *a)
{
	for (unsigned i = 0; i < a->conf->ntargets; i++) {
		struct lst_target *t = &a->target[i];
		char nid[LNET_NIDSTR_MAX];
		int rc;

		if (!t->open)
			continue;
		rc = lst_target_ask(t, LST_CLOSE);
		if (!rc)
			report(t);
		else if (!t->dead) /* a target that died is an error already */
			lst_note_errors(a, 1, strerrorname_np(-rc), "%s: no result: %s",
			        lnet_nid_str(&t->nid, nid, sizeof(nid)), strerror(-rc));
	}
}

static bool is_idle(void *arg)
{
	struct lst_active *a = arg;

	return atomic_load(&a->busy) == 0;
}

static void watch(struct lst_active *a, uint64_t t0)
{
	const struct lst_run_conf *c = a->conf;

	while (lnet_wait(a->n, is_idle, a, lnet_now(a->n) + LOOK_NS) == -ETIMEDOUT) {
		struct lst_progress p;

		if (c->stop && *c->stop) {
			a->res->stopped = true;
			atomic_store(&a->stopping, true);
		}
		if (!c->progress)
			continue;
		pthread_mutex_lock(&a->lock);
		p = (struct lst_progress){
		        .ops = a->res->ops, .bytes = a->res->bytes, .errors = a->res->errors};
		pthread_mutex_unlock(&a->lock);
		p.ns = lnet_now(a->n) - t0;
		c->progress(c->arg, &p);
	}
}

int lst_run(struct lnet *n, const struct lst_run_conf *c, struct lst_run_result *res)
{
	struct lst_active a = {.n = n, .conf = c, .res = res};
	uint64_t t0;
	int rc = check(c);

	if (rc)
		return rc;
	memset(res, 0, sizeof(*res));
	lst_hist_init(&res->lat);
	if (getrandom(&a.seed, sizeof(a.seed), 0) != sizeof(a.seed))
		return -errno;
	a.target = calloc(c->ntargets, sizeof(a.target[0]));
	if (!a.target)
		return -ENOMEM;
	pthread_mutex_init(&a.lock, NULL);
	for (unsigned i = 0; i < c->ntargets && !rc; i++)
		rc = lst_target_init(&a.target[i], &a, i);
	if (!rc) {
		open_all(&a);
		t0 = lnet_now(n);
		a.end = t0 + c->time_ns;
		for (unsigned i = 0; i < c->ntargets; i++)
			if (a.target[i].open)
				lst_target_start(&a.target[i]);
		watch(&a, t0);
		res->ns = lnet_now(n) - t0;
		close_all(&a);
	}
	for (unsigned i = 0; i < c->ntargets; i++)
		lst_target_fini(&a.target[i]);
	pthread_mutex_destroy(&a.lock);
	free(a.target);
	return rc;
}
