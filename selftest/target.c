/* SPDX-License-Identifier: BSD-2-Clause */
/* The sessions of a target, one after the other. */
#include "selftest/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MEND_NS      2000000000ull /* a request of a target that failed */
#define PAUSE_NS     100000000ull  /* before the first attempt to begin again; doubles */
#define PAUSE_MAX    1000000000ull
#define ATTEMPTS_MAX 5u /* in a run without a time */

int lst_target_init(struct lst_target *t, struct lst_active *a, unsigned index)
{
	const struct lst_run_conf *c = a->conf;

	t->a = a;
	t->nid = c->target[index];
	t->res = &a->res->node[index];
	t->res->nid = t->nid;
	t->res->told = true;
	t->source = (uint16_t)(index & LST_SOURCE_MAX);
	t->mem = calloc(c->concurrency, c->bytes);
	t->lane = calloc(c->concurrency, sizeof(t->lane[0]));
	if (!t->mem || !t->lane)
		return -ENOMEM;
	for (unsigned i = 0; i < c->concurrency; i++) {
		struct lst_lane *l = &t->lane[i];

		l->t = t;
		l->slot = (uint16_t)i;
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

int lst_target_open(struct lst_target *t, uint64_t ns)
{
	char nid[LNET_NIDSTR_MAX];
	int rc;

	/* each session has its own seed: what is left of the one before is not taken for right */
	t->seed = t->a->seed + t->generation;
	rc = lst_target_ask(t, LST_OPEN, ns);
	if (rc) {
		lst_note_errors(t->a, t, 1, lst_errname(rc), "%s: no session: %s",
		        lnet_nid_str(&t->nid, nid, sizeof(nid)), strerror(-rc));
		return rc;
	}
	t->open = true;
	t->session = t->reply.session;
	t->began = t->acked = 0;
	t->res->sessions++;
	atomic_store(&t->state, LST_RUNNING);
	return 0;
}

/* What the other end saw wrong. */
static void judge(struct lst_target *t)
{
	const struct lst_reply *r = &t->reply;
	char nid[LNET_NIDSTR_MAX];

	lnet_nid_str(&t->nid, nid, sizeof(nid));
	t->res->remote_ops += r->ops;
	if (r->data_errors)
		lst_note_bad(t->a, t, r->data_errors,
		        &(struct lst_bad){.nid = t->nid,
		                .remote = true,
		                .session = t->session,
		                .source = r->want_source,
		                .op = r->want_op,
		                .at = r->at,
		                .known = r->found_known,
		                .found_session = r->found_session,
		                .found_source = r->found_source,
		                .found_op = r->found_op,
		                .found_at = r->found_offset,
		                .word = r->word});
	if (r->order_errors)
		lst_note_errors(t->a, t, r->order_errors, "order",
		        "%s got an operation twice or on the wrong slot", nid);
	if (r->ops < t->acked)
		lst_note_errors(t->a, t, t->acked - r->ops, "lost",
		        "%s saw %llu operations, but answered %llu", nid,
		        (unsigned long long)r->ops, (unsigned long long)t->acked);
	if (r->ops > t->began)
		lst_note_errors(t->a, t, r->ops - t->began, "repeated",
		        "%s saw %llu operations, but %llu were begun", nid,
		        (unsigned long long)r->ops, (unsigned long long)t->began);
}

void lst_target_close(struct lst_target *t, uint64_t ns)
{
	char nid[LNET_NIDSTR_MAX];
	int rc;

	if (!t->open)
		return;
	t->open = false;
	t->generation++;
	rc = lst_target_ask(t, LST_CLOSE, ns);
	if (!rc) {
		judge(t);
		return;
	}
	t->res->told = false;
	if (!t->res->errors) /* else its silence says nothing new */
		lst_note_errors(t->a, t, 1, lst_errname(rc), "%s: no result: %s",
		        lnet_nid_str(&t->nid, nid, sizeof(nid)), strerror(-rc));
}

static void unbreak(struct lst_target *t, enum lst_state to)
{
	atomic_store(&t->state, to);
	atomic_fetch_sub(&t->a->broken, 1);
}

void lst_target_mend(struct lst_target *t)
{
	struct lst_active *a = t->a;
	uint64_t now = lnet_now(a->n), pause;

	if (lst_run_over(a) || (!a->conf->time_ns && t->attempts >= ATTEMPTS_MAX)) {
		unbreak(t, LST_CLOSED);
		return;
	}
	if (t->again == 0)
		t->again = now + PAUSE_NS;
	if (now < t->again)
		return;
	lst_target_close(t, MEND_NS);
	if (lst_target_open(t, MEND_NS) == 0) {
		atomic_fetch_sub(&a->broken, 1);
		t->attempts = 0;
		t->again = 0;
		lst_lanes_start(t);
		return;
	}
	t->attempts++;
	pause = PAUSE_NS << (t->attempts < 8 ? t->attempts : 8);
	t->again = lnet_now(a->n) + (pause < PAUSE_MAX ? pause : PAUSE_MAX);
}
