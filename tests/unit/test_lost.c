/* SPDX-License-Identifier: BSD-2-Clause */
/* FT-04: the connection dies under operations. Did the peer restart? */
#include "core_fixture.h"

static void outstanding(struct core *c, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		i % 2 ? core_get(c, 10) : core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 0);
}

static void all_ended(struct core *c, unsigned count, int status)
{
	fl_turns(c->n);
	assert_int_equal(c->s.finals, count);
	for (unsigned i = 0; i < count && i < 256; i++)
		assert_int_equal(c->s.ev[i].status, status);
}

static const struct lnet_tx *probe(struct core *c)
{
	const struct lnet_tx *tx = fl_tx(&c->f, 0);

	assert_int_equal(c->f.ntx, 1);
	assert_int_equal(tx->hdr.type, LNET_MSG_GET);
	assert_int_equal(tx->hdr.msg.get.ptl_index, 0);
	assert_int_equal(tx->hdr.msg.get.match_bits, 1ull << 63);
	assert_int_equal(tx->hdr.msg.get.sink_length, 0);
	return tx;
}

static void restarted(void **state)
{
	struct core *c = *state;
	struct fl_rx rx;
	struct lnet_hdr late;

	core_put(c, 10, LNET_OP_ACK);
	late = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	outstanding(c, 99);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, 1);
	assert_int_equal(c->s.finals, 0); /* held */
	probe(c);
	core_pass(c, 200 * TL_MS);
	fl_event(c->n, c->r, LNET_RAIL_RESTARTED, -ESTALE);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	all_ended(c, 100, -ESTALE);
	/* the reply of the old life */
	assert_int_equal(fl_parse(c->n, c->r, &late, NULL, &rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(fl_stat(c->n, "drop_late"), 1);
	/* the probe ends as any message, and nobody hears of it */
	core_answer(c, fl_tx(&c->f, 0), 0);
	fl_all_done(c->n, &c->f);
	core_pass(c, TL_S);
	assert_int_equal(c->f.ntx, 0);
	assert_int_equal(c->s.finals, 100);
	core_put(c, 10, 0);
	fl_all_done(c->n, &c->f);
}

static void same_as_before(void **state)
{
	struct core *c = *state;

	outstanding(c, 10);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, 1);
	assert_int_equal(c->s.finals, 0);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	all_ended(c, 10, -ECONNRESET);
	fl_all_done(c->n, &c->f);
}

/* Nothing comes back: the probes are tried again while the driver refuses them, and then it is
 * over. */
static void never_back(void **state)
{
	struct core *c = *state;
	unsigned sends;

	outstanding(c, 10);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	sends = c->f.sends;
	c->f.send_rc = -EHOSTUNREACH;
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	for (unsigned i = 0; i < 49; i++)
		core_pass(c, 10 * TL_MS);
	assert_int_equal(c->s.finals, 0);
	assert_in_range(c->f.sends - sends, 20, 30);
	core_pass(c, 10 * TL_MS);
	all_ended(c, 10, -ECONNRESET);
	sends = c->f.sends;
	core_pass(c, TL_S);
	assert_int_equal(c->f.sends, sends);
}

/* A probe that fails on the way is made anew; one that is answered settles it. */
static void probe_settles(void **state)
{
	struct core *c = *state;

	outstanding(c, 4);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, 1);
	probe(c);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECONNREFUSED, LNET_HS_REMOTE_ERROR);
	fl_turns(c->n);
	core_pass(c, 30 * TL_MS);
	probe(c);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECONNRESET, LNET_HS_REMOTE_ERROR);
	fl_turns(c->n);
	core_pass(c, 30 * TL_MS);
	assert_int_equal(c->s.finals, 0);
	core_answer(c, probe(c), 0);
	fl_all_done(c->n, &c->f);
	all_ended(c, 4, -ECONNRESET);
}

/* What the driver still had when the connection died is held, too; a PUT without ACK has ended. */
static void inside_the_driver(void **state)
{
	struct core *c = *state;

	core_put(c, 10, LNET_OP_ACK);
	core_put(c, 10, 0);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECONNRESET, LNET_HS_REMOTE_ERROR);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECONNRESET, LNET_HS_REMOTE_ERROR);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, 1);
	assert_int_equal(c->s.finals, 1);
	assert_int_equal(c->s.ev[0].status, -ECONNRESET);
	fl_event(c->n, c->r, LNET_RAIL_RESTARTED, -ESTALE);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.ev[1].status, -ESTALE);
	fl_all_done(c->n, &c->f);
}

/* Their own deadlines, cancelling and unlinking hold while they are held. */
static void held_but_not_deaf(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	lnet_handle_t op;

	a.flags = LNET_OP_ACK;
	a.deadline = c->clk.now + 100 * TL_MS;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	op = core_put(c, 10, LNET_OP_ACK);
	core_get(c, 10);
	fl_all_done(c->n, &c->f);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, 1);
	assert_int_equal(lnet_op_cancel(c->n, op), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 1);
	assert_int_equal(c->s.ev[0].status, -ECANCELED);
	core_pass(c, 100 * TL_MS);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.ev[1].status, -ETIMEDOUT);
	core_pass(c, 400 * TL_MS);
	assert_int_equal(c->s.finals, 3);
	assert_int_equal(c->s.ev[2].status, -ECONNRESET);
	fl_all_done(c->n, &c->f);
}

/* A client comes back by itself or not at all: nobody calls it. */
static void client_peer(void **state)
{
	struct core *c = *state;
	struct lnet_rail *r = fl_rail(&c->f, "10.0.0.9@tcp", LNET_PID_USERFLAG | 5);
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.target = fl_nid("10.0.0.9@tcp");
	a.target_pid = LNET_PID_USERFLAG | 5;
	a.flags = LNET_OP_ACK;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	assert_ptr_equal(fl_tx(&c->f, 0)->rail, r);
	fl_all_done(c->n, &c->f);
	fl_event(c->n, r, LNET_RAIL_UP, 0);
	fl_event(c->n, r, LNET_RAIL_DOWN, -ECONNRESET);
	all_ended(c, 1, -ECONNRESET);
	assert_int_equal(c->f.sends, 1);
}

/* The peer, the interface or the node goes while operations are held and a probe is under way. */
static void taken_away(void **state)
{
	struct lnet_nid me = fl_nid(ME_NID), peer = fl_nid(PEER_NID);

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct core *c = core_with(NULL, NULL);

		outstanding(c, 5);
		fl_event(c->n, c->r, LNET_RAIL_UP, 0);
		fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
		core_pass(c, 1);
		probe(c);
		c->clk.step = TL_MS;
		if (k == 0)
			assert_int_equal(lnet_peer_del(c->n, &peer, NULL, 0, true, NULL), 0);
		if (k == 1)
			assert_int_equal(lnet_ni_del(c->n, &me), 0);
		if (k < 2)
			all_ended(c, 5, -ESHUTDOWN);
		core_free(c, 0); /* closing waits for the half second */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(restarted),
	        CORE_TEST(same_as_before),
	        CORE_TEST(never_back),
	        CORE_TEST(probe_settles),
	        CORE_TEST(inside_the_driver),
	        CORE_TEST(held_but_not_deaf),
	        CORE_TEST(client_peer),
	        cmocka_unit_test(taken_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
