/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the generator: a PUT with the question, and memory for the answer.
 */
#include <errno.h>
#include <sys/random.h>

#include "selftest/target.h"

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
	struct lnet_match m = {.nid = t->nid, .pid = LNET_PID_ANY, .bits = bits};
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

/* The answer's memory is ours again after this, however long the event takes. */
static int wait_unlinked(struct lst_target *t)
{
	int rc;

	do
		rc = lnet_wait(t->a->n, is_unlinked, t, 0);
	while (rc == -ETIMEDOUT);
	return rc;
}

int lst_target_ask(struct lst_target *t, uint16_t kind, uint64_t ns)
{
	const struct lst_run_conf *c = t->a->conf;
	struct lst_request q = {.kind = kind,
	        .session = t->session,
	        .get = c->get,
	        .check = (uint8_t)c->check,
	        .slots = (uint16_t)c->concurrency,
	        .source = t->source,
	        .size = c->bytes,
	        .seed = t->seed};
	struct lnet *n = t->a->n;
	struct lnet_op_args args;
	int rc;

	/* a late answer to an earlier request must not be taken for this one's */
	if (getrandom(&q.reply_bits, sizeof(q.reply_bits), 0) != sizeof(q.reply_bits))
		return -EIO;
	q.reply_bits |= 1ull << 63;
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
	args.deadline = lnet_now(n) + ns;
	rc = lnet_put_wait(n, &args, NULL);
	if (!rc)
		rc = lnet_wait(n, is_answered, t, args.deadline);
	if (atomic_load(&t->reply_live))
		lnet_md_unlink(n, t->reply_md);
	t->a->lost = t->a->lost || wait_unlinked(t) != 0;
	if (rc)
		return rc;
	if (t->status)
		return t->status;
	if (t->reply.kind != kind)
		return -EPROTO;
	return t->reply.status;
}
