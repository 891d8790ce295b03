/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory descriptors: unlinked in every state, one `unlinked` and one final event each. */
#include "core_fixture.h"

/* `unlinked` was said once, and last. */
static void check_unlinked(const struct seen *s, unsigned events)
{
	assert_int_equal(s->n, events);
	assert_int_equal(s->unlinks, 1);
	assert_true(s->ev[events - 1].unlinked);
}

static lnet_handle_t bind_md(struct core *c, size_t len, int32_t threshold, int unlink)
{
	struct iovec iov = {c->src, len};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .threshold = threshold,
	        .unlink = unlink,
	        .handler = see,
	        .user = &c->s};
	lnet_handle_t md;

	assert_int_equal(lnet_md_bind(c->n, &d, &md), 0);
	return md;
}

static int put_md(struct core *c, lnet_handle_t md, uint32_t flags)
{
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.md = md;
	a.flags = flags;
	a.mem = (struct lnet_mem){.iov = NULL};
	return lnet_put(c->n, &a, NULL);
}

static int get_md(struct core *c, lnet_handle_t md)
{
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.md = md;
	return lnet_get(c->n, &a, NULL);
}

static void unlink_md(struct core *c, lnet_handle_t md)
{
	c->s.inside = true;
	assert_int_equal(lnet_md_unlink(c->n, md), 0);
	assert_int_equal(lnet_md_unlink(c->n, md), -ENOENT);
	c->s.inside = false;
}

static void idle(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	struct target t = {.portal = 3, .buf = c->buf, .len = 10, .user = &c->s};

	unlink_md(c, md);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_UNLINK);
	assert_false(c->s.ev[0].final);
	assert_int_equal(c->s.ev[0].md, md);
	assert_int_equal(put_md(c, md, 0), -ENOENT);
	memset(&c->s, 0, sizeof(c->s));
	/* and by its match entry */
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_int_equal(lnet_me_unlink(c->n, t.me), 0);
	assert_int_equal(lnet_me_unlink(c->n, t.me), -ENOENT);
	assert_int_equal(lnet_md_unlink(c->n, t.md), -ENOENT);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
}

static void send_outstanding(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);

	c->f.cancel_rc = 0;
	assert_int_equal(put_md(c, md, 0), 0);
	unlink_md(c, md);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0); /* the driver may still read it */
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_true(c->s.ev[0].final);
	assert_int_equal(c->s.ev[0].status, -ECANCELED);
	assert_int_equal(c->s.ev[0].type, LNET_EV_SEND);
}

static void reply_outstanding(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	struct lnet_hdr h;
	struct fl_rx rx;

	assert_int_equal(get_md(c, md), 0);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	unlink_md(c, md);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_int_equal(c->s.ev[0].status, -ECANCELED);
	assert_int_equal(fl_parse(c->n, c->r, &h, c->buf, &rx), 0);
	assert_true(rx.discarded);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
}

static void reply_landing(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	struct lnet_hdr h;
	struct fl_rx rx;

	assert_int_equal(get_md(c, md), 0);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	fl_all_done(c->n, &c->f);
	c->f.recv_later = true;
	c->f.redirect_rc = 0;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->buf, &rx), 0);
	unlink_md(c, md);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0);
	fl_landed(c->n, &c->f, &rx, 0);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_int_equal(c->s.ev[0].status, -ECANCELED);
}

static void put_landing(void **state)
{
	struct core *c = *state;
	struct target t = {.portal = 3,
	        .buf = c->buf,
	        .len = 100,
	        .user = &c->s,
	        .threshold = LNET_MD_THRESH_INF};
	struct lnet_hdr h = fl_put_hdr(c->r, 3, 0, 50);
	struct fl_rx rx[2];

	for (unsigned k = 0; k < 2; k++) {
		memset(&c->s, 0, sizeof(c->s));
		c->f.recv_later = true;
		c->f.redirect_rc = (int)k;
		h.msg.put.ack_wmd = (struct lnet_wmd){1, 2};
		assert_int_equal(core_attach(c->n, &t), 0);
		assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx[k]), 0);
		unlink_md(c, t.md);
		fl_turns(c->n);
		assert_int_equal(c->s.n, k);
		fl_landed(c->n, &c->f, &rx[k], 0);
		fl_turns(c->n);
		check_unlinked(&c->s, 1);
		assert_int_equal(c->s.ev[0].type, LNET_EV_PUT);
		assert_int_equal(c->s.ev[0].status, -ECANCELED);
		assert_int_equal(c->s.ev[0].mlength, 0);
		assert_int_equal(c->f.ntx, 0); /* what was not taken is not acknowledged */
	}
}

static void reply_going_out(void **state)
{
	struct core *c = *state;
	struct target t = {.portal = 3,
	        .options = LNET_MD_OP_GET,
	        .buf = c->src,
	        .len = 1000,
	        .user = &c->s,
	        .threshold = LNET_MD_THRESH_INF};
	struct lnet_hdr h = fl_get_hdr(c->r, 3, 0, 50);
	struct fl_rx rx[3];

	assert_int_equal(core_attach(c->n, &t), 0);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx[k]), 0);
	assert_int_equal(c->f.ntx, 3);
	assert_int_equal(fl_tx(&c->f, 2)->hdr.type, LNET_MSG_REPLY);
	fl_done(c->n, &c->f, fl_tx(&c->f, 1), 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_GET);
	c->f.cancel_rc = 0;
	unlink_md(c, t.md);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	check_unlinked(&c->s, 3);
	assert_int_equal(c->s.ev[2].status, 0); /* it had left after all */
}

/* AP-05: the response is over time, then the MD is unlinked, then the send completes, then the
 * reply. */
static void unlink_after_timeout(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	struct lnet_hdr h;
	struct fl_rx rx;

	c->f.cancel_rc = 0;
	a.md = md;
	a.deadline = c->clk.now + TL_S;
	assert_int_equal(lnet_get(c->n, &a, NULL), 0);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	core_pass(c, TL_S);
	assert_int_equal(c->s.n, 0);
	unlink_md(c, md);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_int_equal(c->s.ev[0].status, -ETIMEDOUT);
	assert_true(c->s.ev[0].final);
	assert_int_equal(fl_parse(c->n, c->r, &h, c->buf, &rx), 0);
	assert_true(rx.discarded);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 0);
	assert_int_equal(fl_stat(c->n, "drop_late"), 1);
}

/* Unlinked between the end of the last message and its event: the cancel finds it told. */
static void unlink_in_between(void **state)
{
	struct core *c = *state;

	for (unsigned k = 0; k < 3; k++) {
		lnet_handle_t md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);

		memset(&c->s, 0, sizeof(c->s));
		c->f.send_rc = k == 2 ? 1 : 0;
		fl_hold(c->n);
		if (k == 2) {
			assert_int_equal(put_md(c, md, 0), 0);
		} else {
			struct lnet_tx *tx;

			assert_int_equal(put_md(c, md, k ? LNET_OP_ACK | LNET_OP_EV_SEND : 0), 0);
			tx = fl_tx(&c->f, 0);
			c->f.ntx = 0;
			tx->rail->ni->node->up->tx_done(tx, 0, LNET_HS_OK, true);
		}
		assert_int_equal(lnet_md_unlink(c->n, md), 0);
		fl_drop(c->n);
		fl_turns(c->n);
		check_unlinked(&c->s, k == 1 ? 2 : 1);
		assert_int_equal(c->s.finals, 1);
	}
}

/* Several operations on one bound MD; it is used up by the last one. */
static void several_operations(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, 3, LNET_UNLINK);

	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(put_md(c, md, LNET_OP_ACK), 0);
	assert_int_equal(put_md(c, md, LNET_OP_ACK), -ENOENT); /* used up, and gone */
	assert_int_equal(lnet_md_unlink(c->n, md), -ENOENT);
	assert_int_equal(c->f.ntx, 3);
	/* in any order */
	core_answer(c, fl_tx(&c->f, 2), 100);
	core_answer(c, fl_tx(&c->f, 0), 100);
	core_answer(c, fl_tx(&c->f, 1), 100);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	check_unlinked(&c->s, 3);
	assert_int_equal(c->s.finals, 3);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(c->s.ev[k].status, 0);
}

static void retained(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, 1, LNET_RETAIN);

	assert_int_equal(put_md(c, md, 0), 0);
	assert_int_equal(put_md(c, md, 0), -EINVAL); /* used up, and still there */
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.unlinks, 0);
	unlink_md(c, md);
	fl_turns(c->n);
	check_unlinked(&c->s, 2);
}

/* An MD of a match entry sends nothing, and is not harmed by the attempt. */
static void wrong_md(void **state)
{
	struct core *c = *state;
	struct target t = {.portal = 3, .buf = c->buf, .len = 100, .user = &c->s};
	lnet_handle_t md;

	assert_int_equal(core_attach(c->n, &t), 0);
	assert_int_equal(put_md(c, t.md, 0), -EINVAL);
	assert_int_equal(put_md(c, t.me, 0), -ENOENT);
	md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	assert_int_equal(lnet_me_unlink(c->n, md), -ENOENT);
	assert_int_equal(lnet_op_cancel(c->n, md), -ENOENT);
	assert_int_equal(put_md(c, md, 0), 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
}

/* What fails at once is not told, and the MD still says `unlinked` once. */
static void failed_start(void **state)
{
	struct core *c = *state;
	lnet_handle_t md = bind_md(c, 100, 1, LNET_UNLINK);

	c->f.send_rc = -EHOSTUNREACH;
	assert_int_equal(put_md(c, md, 0), -EHOSTUNREACH);
	fl_turns(c->n);
	check_unlinked(&c->s, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_UNLINK);
	assert_int_equal(c->s.finals, 0);
}

static void bad_descriptors(void **state)
{
	struct core *c = *state;
	struct iovec v[LNET_MAX_IOV + 1] = {{c->buf, 1}};
	struct lnet_md_desc good = {.mem = {.iov = v, .niov = 1}, .threshold = 1}, d;
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY};
	lnet_handle_t h = 4711, me;

	assert_int_equal(lnet_me_attach(c->n, 5, &m, LNET_RETAIN, LNET_INS_AFTER, &me), 0);
#define REFUSED(change)                                                      \
	do {                                                                 \
		d = good;                                                    \
		change;                                                      \
		assert_int_equal(lnet_md_bind(c->n, &d, &h), -EINVAL);       \
		assert_int_equal(lnet_md_attach(c->n, me, &d, &h), -EINVAL); \
		assert_int_equal(h, 4711);                                   \
	} while (0)
	REFUSED(d.mem.niov = LNET_MAX_IOV + 1);
	REFUSED(d.mem.iov = NULL);
	REFUSED(d.threshold = 0);
	REFUSED(d.threshold = -2);
	REFUSED(d.unlink = 2);
	REFUSED(d.options = LNET_MD_MAX_SIZE);
	v[0].iov_len = v[1].iov_len = SIZE_MAX / 2 + 2;
	REFUSED(d.mem.niov = 2);
#undef REFUSED
	v[0].iov_len = 1;
	assert_int_equal(lnet_md_attach(c->n, me, &good, &h), 0);
	assert_int_equal(lnet_md_attach(c->n, me, &good, &h), -EBUSY);
	assert_int_equal(lnet_md_attach(c->n, h, &good, &h), -ENOENT);
	assert_int_equal(atomic_load(&c->n->ptl->mds), 1 + 9); /* and the ping portal's */
}

/* 256 pieces, some of them empty, each way. */
static void many_pieces(void **state)
{
	struct core *c = *state;
	struct iovec to[LNET_MAX_IOV], from[LNET_MAX_IOV];
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY};
	struct lnet_md_desc d = {.mem = {.iov = to, .niov = LNET_MAX_IOV},
	        .options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = see,
	        .user = &c->s};
	struct lnet_nid lo = fl_nid("0@lo");
	struct lnet_op_args a;
	struct iovec iov;
	lnet_handle_t me, md;
	size_t at = 0;

	for (unsigned i = 0; i < LNET_MAX_IOV; i++) {
		size_t len = i % 13;

		to[i] = (struct iovec){c->buf + at, len};
		from[i] = (struct iovec){c->src + at, len};
		at += len;
	}
	assert_int_equal(lnet_me_attach(c->n, 5, &m, LNET_UNLINK, LNET_INS_AFTER, &me), 0);
	assert_int_equal(lnet_md_attach(c->n, me, &d, &md), 0);
	memset(to, 0xff, sizeof(to)); /* the array was copied */
	a = core_args(c, &iov, 0);
	a.target = lo;
	a.portal = 5;
	a.mem = (struct lnet_mem){.iov = from, .niov = LNET_MAX_IOV};
	a.flags = LNET_OP_ACK;
	a.offset = 3;
	a.md_whole = false;
	a.md_offset = 5;
	a.length = (uint32_t)at - 10;
	a.match_bits = 0;
	assert_int_equal(lnet_put_wait(c->n, &a, NULL), 0);
	assert_memory_equal(c->buf + 3, c->src + 5, at - 10);
	assert_int_equal(tl_not_byte(0, c->buf, 3), -1);
	assert_int_equal(tl_not_byte(0, c->buf + at - 7, sizeof(c->buf) - at + 7), -1);
	/* and back */
	memset(c->src, 0, sizeof(c->src));
	assert_int_equal(lnet_get_wait(c->n, &a, NULL), 0);
	assert_memory_equal(c->buf + 3, c->src + 5, at - 10);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[0].type, LNET_EV_PUT);
	assert_int_equal(c->s.ev[1].type, LNET_EV_GET);
	assert_int_equal(c->s.ev[1].offset, 3);
}

/* Unlink while one operation is queued for a credit, one is with the driver and one waits for its
 * ACK. */
static void unlink_everything(void **state)
{
	struct core *c;
	struct lnet_ni_conf conf;
	lnet_handle_t md;

	(void)state;
	lnet_ni_conf_init(&conf, sizeof(conf));
	conf.peer_credits = 2;
	conf.credits = 2;
	c = core_with(&conf, NULL);
	md = bind_md(c, 100, LNET_MD_THRESH_INF, LNET_RETAIN);
	assert_int_equal(put_md(c, md, LNET_OP_ACK), 0);
	fl_all_done(c->n, &c->f);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(put_md(c, md, LNET_OP_ACK), 0);
	assert_int_equal(c->f.ntx, 2);
	unlink_md(c, md);
	fl_turns(c->n);
	check_unlinked(&c->s, 4);
	assert_int_equal(c->s.finals, 4);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(c->s.ev[k].status, -ECANCELED);
	assert_true(fl_credits_ok(c->n));
	core_free(c, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(idle),
	        CORE_TEST(send_outstanding),
	        CORE_TEST(reply_outstanding),
	        CORE_TEST(reply_landing),
	        CORE_TEST(put_landing),
	        CORE_TEST(reply_going_out),
	        CORE_TEST(unlink_after_timeout),
	        CORE_TEST(unlink_in_between),
	        CORE_TEST(several_operations),
	        CORE_TEST(retained),
	        CORE_TEST(wrong_md),
	        CORE_TEST(failed_start),
	        CORE_TEST(bad_descriptors),
	        CORE_TEST(many_pieces),
	        cmocka_unit_test(unlink_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
