/* SPDX-License-Identifier: BSD-2-Clause */
/* Fault rules at the driver's boundary, drivers that answer GETs themselves, a node that closes,
 * long times. */
#include "core_fixture.h"

struct rule {
	bool drop;
	int status;
	unsigned asked;
};

static bool tx_rule(void *arg, struct lnet_rail *r, const struct lnet_tx *tx, struct lni_verdict *v)
{
	struct rule *k = arg;

	(void)r;
	(void)tx;
	k->asked++;
	v->drop = k->drop;
	v->status = k->status;
	return true;
}

static bool rx_rule(void *arg, struct lnet_rail *r, const struct lnet_hdr *h, struct lni_verdict *v)
{
	struct rule *k = arg;

	(void)r;
	(void)h;
	k->asked++;
	v->drop = k->drop;
	return true;
}

static void sent_into_nothing(void **state)
{
	struct core *c = *state;
	struct rule k = {.drop = true};
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	c->n->filter = (struct lni_filter){.tx = tx_rule, .arg = &k};
	core_put(c, 10, LNET_OP_ACK); /* it vanishes: the ACK never comes */
	core_put(c, 10, 0);
	fl_turns(c->n);
	assert_int_equal(c->f.sends, 0);
	assert_int_equal(c->s.finals, 1);
	assert_int_equal(c->s.ev[0].status, 0);
	k.status = -EHOSTUNREACH;
	assert_int_equal(lnet_put(c->n, &a, NULL), -EHOSTUNREACH);
	assert_int_equal(fl_stat(c->n, "drop_filter"), 3);
	core_pass(c, 150 * TL_S);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.ev[1].status, -ETIMEDOUT);
	k.drop = false;
	core_put(c, 10, 0);
	assert_int_equal(c->f.sends, 1);
	assert_int_equal(k.asked, 4);
	assert_true(fl_credits_ok(c->n));
	fl_all_done(c->n, &c->f);
}

static void lost_on_the_way_in(void **state)
{
	struct core *c = *state;
	struct rule k = {.drop = true};
	struct target t = {.portal = 10, .threshold = 1, .len = 100};
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 0, 10);
	struct fl_rx rx;

	t.buf = c->buf;
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	c->n->filter = (struct lni_filter){.rx = rx_rule, .arg = &k};
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(fl_stat(c->n, "drop_filter"), 1);
	assert_int_equal(fl_stat(c->n, "drop_count"), 1);
	k.drop = false;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
}

/* ---- optimised GETs -------------------------------------------------------------------------- */

static void get_done(struct core *c, struct lnet_tx *tx, int status, uint32_t nob)
{
	fl_hold(c->n);
	tx->rail->ni->node->up->get_done(tx, status, nob);
	fl_drop(c->n);
	fl_turns(c->n);
}

static void driver_fills_the_sink(void **state)
{
	struct core *c = *state;
	struct lnet_tx *tx;

	core_get(c, 100);
	tx = fl_tx(&c->f, 0);
	assert_int_equal(tx->sink_len, 100);
	assert_int_equal(tx->nsink, 1);
	assert_ptr_equal(tx->sink[0].iov_base, c->buf);
	get_done(c, tx, 0, 60);
	assert_int_equal(c->s.n, 0); /* the sink is the driver's until tx_done() */
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_REPLY);
	assert_int_equal(c->s.ev[0].mlength, 60);
	/* it failed */
	core_get(c, 100);
	c->f.cancel_rc = 0;
	tx = fl_tx(&c->f, 0);
	get_done(c, tx, -ENODATA, 0);
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[1].status, -ENODATA);
	/* it comes after the deadline */
	core_get(c, 100);
	tx = fl_tx(&c->f, 0);
	core_pass(c, 150 * TL_S);
	get_done(c, tx, 0, 100);
	assert_int_equal(c->s.n, 2);
	fl_done(c->n, &c->f, tx, -ECANCELED, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 3);
	assert_int_equal(c->s.ev[2].status, -ETIMEDOUT);
	assert_int_equal(c->s.ev[2].mlength, 0);
}

static int parse_kept(struct core *c, const struct lnet_hdr *h, struct fl_rx *rx)
{
	int rc;

	memset(rx, 0, sizeof(*rx));
	rx->rx.rail = c->r;
	rx->rx.want_reply = true;
	rx->h = *h;
	fl_hold(c->n);
	rc = c->r->ni->node->up->parse(c->r, h, &rx->rx);
	fl_drop(c->n);
	return rc;
}

/* The GET that a driver keeps for its REPLY: over when the REPLY is accepted, thrown away when it
 * never is. */
static void kept_for_the_reply(void **state)
{
	struct core *c = *state;
	struct target t = {.portal = 10, .threshold = LNET_MD_THRESH_INF, .len = 100};
	struct lnet_hdr h = fl_get_hdr(c->r, 10, 0, 10);
	struct fl_rx rx[3];

	t.options = LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE;
	t.buf = c->src;
	t.user = &c->s;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_int_equal(parse_kept(c, &h, &rx[0]), 0);
	assert_false(rx[0].over);
	assert_ptr_equal(fl_tx(&c->f, 0)->get_rx, &rx[0].rx);
	fl_all_done(c->n, &c->f);
	assert_false(rx[0].over); /* the driver ended it with the REPLY */
	/* refused by the driver */
	c->f.send_rc = -ENOTCONN;
	assert_int_equal(parse_kept(c, &h, &rx[1]), 0);
	assert_true(rx[1].discarded);
	/* waiting in our queue until its MD is unlinked */
	c->f.send_rc = FL_AGAIN;
	assert_int_equal(parse_kept(c, &h, &rx[2]), 0);
	assert_false(rx[2].over);
	assert_int_equal(lnet_md_unlink(c->n, t.md), 0);
	fl_turns(c->n);
	assert_true(rx[2].discarded);
	assert_int_equal(c->s.n, 3);
	assert_int_equal(c->s.unlinks, 1);
	assert_int_equal(c->s.ev[2].status, -ECANCELED);
	/* nothing matched */
	assert_int_equal(parse_kept(c, &h, &rx[0]), 0);
	assert_true(rx[0].discarded);
	c->f.send_rc = 0;
}

/* ---- closing, and long times ----------------------------------------------------------------- */

struct closing {
	struct core *c;
	bool done;
};

static void while_closing(const struct lnet_event *ev)
{
	struct closing *k = ev->user;
	struct core *c = k->c;
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 0, 10);
	static struct fl_rx rx;

	if (!ev->unlinked || k->done)
		return;
	k->done = true;
	/* in a turn of the closing node: a request comes, and a call is made */
	memset(&rx, 0, sizeof(rx));
	rx.rx.rail = c->r;
	rx.h = h;
	assert_int_equal(c->r->ni->node->up->parse(c->r, &h, &rx.rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(c->n->counters[0].drop_closing, 1);
	assert_int_equal(lnet_portal_lazy(c->n, 3, true), -ESHUTDOWN);
	assert_int_equal(lnet_put(c->n, NULL, NULL), -ESHUTDOWN);
}

static void nothing_new_while_closing(void **state)
{
	struct core *c = core_with(NULL, NULL);
	struct closing k = {.c = c};
	struct iovec iov = {c->buf, 10};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .threshold = 1,
	        .handler = while_closing,
	        .user = &k};
	lnet_handle_t md;

	(void)state;
	assert_int_equal(lnet_md_bind(c->n, &d, &md), 0);
	core_free(c, 0);
	assert_true(k.done);
}

/* What was accepted before goes on until the deadline. */
static void what_was_accepted(void **state)
{
	struct core *c = core_with(NULL, NULL);
	struct seen s;

	(void)state;
	core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	core_put(c, 10, 0);
	c->f.send_rc = 1;
	c->clk.step = TL_MS;
	s = c->s;
	assert_int_equal(s.finals, 0);
	/* the second is with the driver, which is asked to let go when the time is over */
	assert_int_equal(lnet_close(c->n, lnet_now(c->n) + TL_S), -ETIMEDOUT);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.ev[0].status, -ESHUTDOWN);
	assert_int_equal(c->s.ev[1].status, -ESHUTDOWN);
	fl_fini(&c->f);
	free(c);
}

static void hours(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	const uint64_t hour = 3600 * TL_S;

	a.flags = LNET_OP_ACK;
	a.deadline = c->clk.now + 1000 * hour;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	a.deadline = UINT64_MAX;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	a.deadline = 1; /* over long ago */
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 1);
	assert_int_equal(c->s.ev[0].status, -ETIMEDOUT);
	for (unsigned i = 0; i < 999; i++)
		core_pass(c, hour);
	assert_int_equal(c->s.finals, 1);
	core_pass(c, hour);
	assert_int_equal(c->s.finals, 2);
	core_pass(c, UINT64_MAX / 4);
	assert_int_equal(c->s.finals, 2);
	core_put(c, 10, 0);
	assert_int_equal(lnet_op_cancel(c->n, c->s.ev[1].op), -ENOENT);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 3);
	core_free(c, -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(sent_into_nothing),
	        CORE_TEST(lost_on_the_way_in),
	        CORE_TEST(driver_fills_the_sink),
	        CORE_TEST(kept_for_the_reply),
	        cmocka_unit_test(nothing_new_while_closing),
	        cmocka_unit_test(what_was_accepted),
	        cmocka_unit_test_setup(hours, core_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
