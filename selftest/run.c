/* SPDX-License-Identifier: BSD-2-Clause */
#include "selftest/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "selftest/target.h"

#define DEF_OP_TIMEOUT 30000000000ull
#define DEF_DRAIN      5000000000ull
#define ASK_NS         10000000000ull
#define LAST_ASK_NS    2000000000ull /* of a target that failed */
#define LOOK_NS        200000000ull

void lst_run_conf_init(struct lst_run_conf *c, size_t size)
{
	memset(c, 0, size);
	c->size = size;
	c->bytes = 4096;
	c->concurrency = 8;
	c->op_timeout_ns = DEF_OP_TIMEOUT;
	c->drain_ns = DEF_DRAIN;
}

void lst_run_result_fini(struct lst_run_result *res)
{
	free(res->node);
	res->node = NULL;
	res->nnodes = 0;
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

/* Nothing is under way and nothing is to be mended, or something needs this thread now. */
static bool needs_us(void *arg)
{
	struct lst_active *a = arg;

	return atomic_load(&a->attention) ||
	       (atomic_load(&a->busy) == 0 && atomic_load(&a->broken) == 0);
}

static void show_progress(struct lst_active *a, uint64_t t0)
{
	struct lst_progress p;

	pthread_mutex_lock(&a->lock);
	p = (struct lst_progress){
	        .ops = a->res->ops, .bytes = a->res->bytes, .errors = a->res->errors};
	pthread_mutex_unlock(&a->lock);
	p.ns = lnet_now(a->n) - t0;
	a->conf->progress(a->conf->arg, &p);
}

static void mend_all(struct lst_active *a)
{
	atomic_store(&a->attention, false);
	for (unsigned i = 0; i < a->conf->ntargets; i++) {
		struct lst_target *t = &a->target[i];

		if (atomic_load(&t->state) == LST_BROKEN && atomic_load(&t->flight) == 0)
			lst_target_mend(t);
	}
}

/* Until every operation has ended. 0, or why the node cannot be waited for. */
static int watch(struct lst_active *a, uint64_t t0)
{
	const struct lst_run_conf *c = a->conf;
	uint64_t over = 0; /* since when no new operation begins */

	for (;;) {
		int rc = lnet_wait(a->n, needs_us, a, lnet_now(a->n) + LOOK_NS);

		if (rc && rc != -ETIMEDOUT)
			return rc;
		if (c->stop && atomic_load(c->stop) && !a->res->stopped) {
			a->res->stopped = true;
			atomic_store(&a->stopping, true);
		}
		mend_all(a);
		if (a->lost)
			return -ESHUTDOWN;
		if (atomic_load(&a->busy) == 0 && atomic_load(&a->broken) == 0)
			return 0;
		if (over == 0 && lst_run_over(a))
			over = lnet_now(a->n);
		if (over && lnet_now(a->n) - over >= c->drain_ns)
			for (unsigned i = 0; i < c->ntargets; i++)
				lst_target_cancel(&a->target[i]);
		if (c->progress)
			show_progress(a, t0);
	}
}

static int traffic(struct lst_active *a)
{
	const struct lst_run_conf *c = a->conf;
	uint64_t t0;
	int rc;

	for (unsigned i = 0; i < c->ntargets && !a->lost; i++)
		lst_target_open(&a->target[i], ASK_NS);
	t0 = lnet_now(a->n);
	a->end = t0 + c->time_ns;
	for (unsigned i = 0; i < c->ntargets; i++)
		if (a->target[i].open)
			lst_lanes_start(&a->target[i]);
	rc = watch(a, t0);
	a->res->ns = lnet_now(a->n) - t0;
	for (unsigned i = 0; i < c->ntargets && !rc; i++)
		lst_target_close(&a->target[i], a->target[i].res->errors ? LAST_ASK_NS : ASK_NS);
	return rc;
}

int lst_run(struct lnet *n, const struct lst_run_conf *c, struct lst_run_result *res)
{
	struct lst_active *a;
	int rc = check(c);

	if (rc)
		return rc;
	memset(res, 0, sizeof(*res));
	lst_hist_init(&res->lat);
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->n = n;
	a->conf = c;
	a->res = res;
	pthread_mutex_init(&a->lock, NULL);
	a->target = calloc(c->ntargets, sizeof(a->target[0]));
	res->node = calloc(c->ntargets, sizeof(res->node[0]));
	if (!a->target || !res->node)
		rc = -ENOMEM;
	else if (getrandom(&a->seed, sizeof(a->seed), 0) != sizeof(a->seed))
		rc = -EIO;
	res->nnodes = rc ? 0 : c->ntargets;
	for (unsigned i = 0; i < c->ntargets && !rc; i++)
		rc = lst_target_init(&a->target[i], a, i);
	if (!rc)
		rc = traffic(a);
	/* a node that closes under the run may still deliver events: their memory stays */
	if (rc == -ESHUTDOWN || a->lost)
		return -ESHUTDOWN;
	for (unsigned i = 0; a->target && i < c->ntargets; i++)
		lst_target_fini(&a->target[i]);
	pthread_mutex_destroy(&a->lock);
	free(a->target);
	free(a);
	return rc;
}
