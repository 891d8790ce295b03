/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the generator: a PUT with the question, and memory for the answer.
 */
#include <errno.h>

#include "selftest/target.h"

#define ASK_NS 10000000000ull

static void on_reply(const struct lnet_event *ev)
{
	struct lst_target *t = ev->user;

	if (ev->type == LNET_EV_PUT && ev->status == 0) {
		t->status = lst_reply_decode(t->answer, ev->mlength, &t->reply);
		atomic_store(&t->answered, true);
	}
	if (ev->unlinked)
		atomic_store(&t->reply_live, false);
}

static int offer_reply(struct lst_target *t, uint64_t bits)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = bits};
	struct iovec iov = {t->answer, sizeof(t->answer)};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE,
	        .threshold = 1,
	        .handler = on_reply,
	        .user = t};
	lnet_handle_t me;
	int rc = lnet_me_attach(t->a->n, LST_PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me);

	if (rc)
		return rc;
	atomic_store(&t->answered, false);
	atomic_store(&t->reply_live, true);
	rc = lnet_md_attach(t->a->n, me, &d, &t->reply_md);
	if (rc) {
		atomic_store(&t->reply_live, false);
		lnet_me_unlink(t->a->n, me);
	}
	return rc;
}

static bool is_answered(void *arg)
{
	struct lst_target *t = arg;

	return atomic_load(&t->answered);
}

static bool is_unlinked(void *arg)
{
	struct lst_target *t = arg;

	return !atomic_load(&t->reply_live);
}

int lst_target_ask(struct lst_target *t, uint16_t kind)
{
	const struct lst_run_conf *c = t->a->conf;
	struct lst_request q = {.kind = kind,
	        .reply_bits = 1ull << 63 | ((uint64_t)(t - t->a->target) << 32) | kind,
	        .session = t->session,
	        .get = c->get,
	        .check = (uint8_t)c->check,
	        .slots = (uint16_t)c->concurrency,
	        .source = t->source,
	        .size = c->bytes,
	        .seed = t->a->seed};
	struct lnet *n = t->a->n;
	struct lnet_op_args args;
	int rc;

	/* several runs of one node ask at the same time: the seed keeps their answers apart */
	q.reply_bits ^= t->a->seed & 0x00ffffff00000000ull;
	rc = offer_reply(t, q.reply_bits);
	if (rc)
		return rc;
	lst_request_encode(&q, t->request);
	t->req_iov = (struct iovec){t->request, sizeof(t->request)};
	lnet_op_args_init(&args, sizeof(args));
	args.target = t->nid;
	args.portal = LST_PORTAL;
	args.match_bits = LST_CONTROL_BITS;
	args.flags = LNET_OP_ACK;
	args.mem = (struct lnet_mem){.iov = &t->req_iov, .niov = 1};
	args.deadline = lnet_now(n) + ASK_NS;
	rc = lnet_put_wait(n, &args, NULL);
	if (!rc)
		rc = lnet_wait(n, is_answered, t, lnet_now(n) + ASK_NS);
	if (atomic_load(&t->reply_live))
		lnet_md_unlink(n, t->reply_md);
	lnet_wait(n, is_unlinked, t, 0);
	if (rc)
		return rc;
	if (t->status)
		return t->status;
	if (t->reply.kind != kind)
		return -EPROTO;
	return t->reply.status;
}
