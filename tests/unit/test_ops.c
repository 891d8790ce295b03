/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations: their events and the order of these, deadlines, cancelling, answers that are wrong.
 */
#include "core_fixture.h"

#define IGNORED ((struct lnet_nid *)NULL)

static void put_without_ack(void **state)
{
	struct core *c = *state;
	struct lnet_tx *tx;

	core_put(c, 100, 0);
	tx = fl_tx(&c->f, 0);
	assert_int_equal(tx->hdr.type, LNET_MSG_PUT);
	assert_int_equal(tx->hdr.msg.put.ack_wmd.iface, LNET_COOKIE_NONE);
	assert_int_equal(tx->hdr.msg.put.ack_wmd.object, LNET_COOKIE_NONE);
	assert_int_equal(tx->hdr.payload_length, 100);
	assert_int_equal(c->s.n, 0);
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_SEND);
	assert_true(c->s.ev[0].final && c->s.ev[0].unlinked);
	assert_int_equal(c->s.ev[0].status, 0);
	assert_int_equal(c->s.ev[0].mlength, 100);
	assert_int_equal(fl_stat(c->n, "ops_ok"), 1);
}

static void put_with_ack(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 100);
	struct lnet_tx *tx;
	struct fl_rx rx;
	struct lnet_hdr h;

	a.flags = LNET_OP_ACK | LNET_OP_EV_SEND;
	a.hdr_data = 0x1122334455667788ull;
	a.offset = UINT32_MAX;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	tx = fl_tx(&c->f, 0);
	assert_int_equal(tx->hdr.msg.put.hdr_data, 0x1122334455667788ull);
	assert_int_equal(tx->hdr.msg.put.offset, UINT32_MAX);
	assert_int_equal(tx->hdr.msg.put.ptl_index, 20);
	assert_int_equal(tx->hdr.msg.put.match_bits, 77);
	h = fl_answer_hdr(tx, 60);
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_SEND);
	assert_false(c->s.ev[0].final || c->s.ev[0].unlinked);
	assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[1].type, LNET_EV_ACK);
	assert_true(c->s.ev[1].final);
	assert_int_equal(c->s.ev[1].mlength, 60);
	assert_int_equal(c->s.ev[1].rlength, 100);
	assert_int_equal(c->s.ev[1].hdr_data, 0x1122334455667788ull);
}

/* The ACK overtakes the completion of the message: one event, when the memory is free. */
static void ack_before_sent(void **state)
{
	struct core *c = *state;
	struct lnet_tx *tx;

	core_put(c, 100, LNET_OP_ACK | LNET_OP_EV_SEND);
	tx = fl_tx(&c->f, 0);
	core_answer(c, tx, 100);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0);
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_ACK);
	assert_int_equal(c->s.ev[0].status, 0);
}

static void get_and_reply(void **state)
{
	struct core *c = *state;
	struct lnet_hdr h;
	struct lnet_tx *tx;
	struct fl_rx rx;

	core_get(c, 1000);
	tx = fl_tx(&c->f, 0);
	assert_int_equal(tx->hdr.type, LNET_MSG_GET);
	assert_int_equal(tx->hdr.msg.get.sink_length, 1000);
	assert_int_equal(tx->hdr.payload_length, 0);
	h = fl_answer_hdr(tx, 700);
	fl_done(c->n, &c->f, tx, 0, LNET_HS_OK);
	c->f.recv_later = true;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 0);
	fl_landed(c->n, &c->f, &rx, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].type, LNET_EV_REPLY);
	assert_int_equal(c->s.ev[0].mlength, 700);
	assert_memory_equal(c->buf, c->src, 700);
	assert_int_equal(c->buf[700], 0);
}

static void empty_messages(void **state)
{
	struct core *c = *state;

	core_put(c, 0, LNET_OP_ACK);
	core_get(c, 0);
	core_answer(c, fl_tx(&c->f, 0), 0);
	core_answer(c, fl_tx(&c->f, 1), 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.ev[0].status | c->s.ev[1].status, 0);
}

static void bad_arguments(void **state)
{
	static uint8_t big[LNET_MTU + 1];
	struct core *c = *state;
	struct iovec iov, many[LNET_MAX_IOV + 1];
	struct lnet_op_args a = core_args(c, &iov, 100), b;
	lnet_handle_t op = 4711;

#define REFUSED(change, rc)                                          \
	do {                                                         \
		b = a;                                               \
		change;                                              \
		assert_int_equal(lnet_put(c->n, &b, &op), rc);       \
		assert_int_equal(lnet_get(c->n, &b, NULL), rc);      \
		assert_int_equal(lnet_put_wait(c->n, &b, NULL), rc); \
		assert_int_equal(op, 4711);                          \
	} while (0)
	REFUSED(b.size = 8, -EINVAL);
	REFUSED(b.portal = LNET_MAX_PORTALS, -EINVAL);
	REFUSED(b.target = lnet_nid_any(), -EINVAL);
	REFUSED(b.offset = 1ull << 32, -EINVAL);
	REFUSED(b.flags = 0x80, -EINVAL);
	REFUSED(b.md_offset = 101, -EINVAL);
	REFUSED((b.md_whole = false, b.length = 101), -EINVAL);
	REFUSED(b.mem.iov = NULL, -EINVAL);
	memset(many, 0, sizeof(many));
	REFUSED((b.mem.iov = many, b.mem.niov = LNET_MAX_IOV + 1), -EINVAL);
	many[0].iov_len = many[1].iov_len = SIZE_MAX / 2 + 2;
	REFUSED((b.mem.iov = many, b.mem.niov = 2), -EINVAL);
	iov = (struct iovec){big, sizeof(big)};
	REFUSED((void)0, -E2BIG);
	iov = (struct iovec){c->src, 100};
	REFUSED(b.target = fl_nid("10.0.0.2@tcp7"), -EHOSTUNREACH);
	REFUSED(b.target = fl_nid("1.2.3.4@o2ib"), -EHOSTUNREACH);
	REFUSED(b.source = fl_nid("10.0.0.77@tcp"), -EHOSTUNREACH);
	REFUSED(b.source = fl_nid("0@lo"), -EHOSTUNREACH);
#undef REFUSED
	b = a;
	b.md = 12345;
	assert_int_equal(lnet_put(c->n, &b, NULL), -ENOENT);
	assert_int_equal(lnet_op_cancel(c->n, 4711), -ENOENT);
	assert_int_equal(lnet_op_cancel(c->n, 0), -ENOENT);
	assert_int_equal(fl_stat(c->n, "no_route"), 4 * 3);
	assert_int_equal(fl_stat(c->n, "ops_started"), 0);
	assert_int_equal(c->s.n, 0);
}

/* The driver's word at once: the caller has it at once, or the event, never both. */
static void driver_answers(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	c->f.send_rc = -EHOSTUNREACH;
	assert_int_equal(lnet_put(c->n, &a, NULL), -EHOSTUNREACH);
	c->f.send_rc = 1;
	core_put(c, 10, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].status, 0);
	c->f.send_rc = 0;
	core_put(c, 10, 0);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -EIO, LNET_HS_LOCAL_ERROR);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[1].status, -EIO);
	assert_int_equal(c->s.ev[1].hstatus, LNET_HS_LOCAL_ERROR);
	assert_true(c->s.ev[1].final);
	assert_int_equal(fl_stat(c->n, "local_error_count"), 1);
	assert_int_equal(fl_stat(c->n, "ops_failed"), 1);
}

static void deadline_of_an_answer(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	struct fl_rx rx;
	struct lnet_hdr h;

	a.flags = LNET_OP_ACK;
	a.deadline = c->clk.now + 5 * TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	fl_all_done(c->n, &c->f);
	core_pass(c, 5 * TL_S - 1);
	assert_int_equal(c->s.n, 0);
	core_pass(c, 1);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].status, -ETIMEDOUT);
	assert_int_equal(fl_stat(c->n, "response_timeout_count"), 1);
	assert_int_equal(fl_stat(c->n, "ops_timed_out"), 1);
	/* the ACK that comes too late is dropped and counted */
	assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(fl_stat(c->n, "drop_late"), 1);
	assert_int_equal(c->s.n, 1);
}

/* 0 is now + the transaction timeout. */
static void default_deadline(void **state)
{
	struct core *c = *state;

	core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	core_pass(c, 150 * TL_S - 1);
	assert_int_equal(c->s.n, 0);
	core_pass(c, 1);
	assert_int_equal(c->s.n, 1);
}

/* With the driver: it is told to let go; when it has, the event comes. */
static void deadline_inside_the_driver(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.deadline = c->clk.now + TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	core_pass(c, TL_S);
	assert_int_equal(c->f.cancels, 1);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(fl_stat(c->n, "response_timeout_count"), 0);
	c->f.cancel_rc = 0;
	a.deadline = c->clk.now + TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	core_pass(c, TL_S);
	assert_int_equal(c->f.cancels, 2);
	assert_int_equal(c->s.n, 1); /* its memory may still be read */
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECANCELED, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	assert_int_equal(c->s.ev[1].status, -ETIMEDOUT);
}

/* In the middle of a REPLY's payload: no event before no byte can come. */
static void deadline_while_landing(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	struct fl_rx rx[2];
	struct lnet_hdr h;

	for (int redirect = 1; redirect >= 0; redirect--) {
		unsigned k = 1 - (unsigned)redirect;

		a.deadline = c->clk.now + TL_S;
		assert_int_equal(lnet_get(c->n, &a, NULL), 0);
		h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
		fl_all_done(c->n, &c->f);
		c->f.recv_later = true;
		c->f.redirect_rc = redirect;
		assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx[k]), 0);
		core_pass(c, TL_S);
		assert_int_equal(c->f.redirects, k + 1);
		assert_int_equal(c->s.n, 1); /* the second time: not yet */
		fl_landed(c->n, &c->f, &rx[k], 0);
		fl_turns(c->n);
		assert_int_equal(c->s.n, k + 1);
		assert_int_equal(c->s.ev[k].status, -ETIMEDOUT);
	}
	assert_int_equal(fl_stat(c->n, "redirects"), 2);
}

static void cancel_in_each_state(void **state)
{
	struct core *c = *state;
	struct lnet_hdr h;
	struct fl_rx rx;
	lnet_handle_t op;

	/* with the driver, which lets go at once */
	op = core_put(c, 10, 0);
	assert_int_equal(lnet_op_cancel(c->n, op), 0);
	assert_int_equal(lnet_op_cancel(c->n, op) & ~-ENOENT, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	/* with the driver, which needs a turn */
	c->f.cancel_rc = 0;
	op = core_put(c, 10, 0);
	assert_int_equal(lnet_op_cancel(c->n, op), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), -ECANCELED, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 2);
	c->f.cancel_rc = 1;
	/* waiting for its ACK */
	op = core_put(c, 10, LNET_OP_ACK);
	fl_all_done(c->n, &c->f);
	assert_int_equal(lnet_op_cancel(c->n, op), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 3);
	/* its REPLY is landing */
	op = core_get(c, 10);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	fl_all_done(c->n, &c->f);
	c->f.recv_later = true;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(lnet_op_cancel(c->n, op), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 4);
	assert_true(rx.redirected);
	fl_landed(c->n, &c->f, &rx, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(c->s.ev[i].status, -ECANCELED);
	assert_int_equal(c->s.finals, 4);
	assert_int_equal(lnet_op_cancel(c->n, op), -ENOENT);
	assert_int_equal(fl_stat(c->n, "ops_cancelled"), 4);
}

/* Accepted while another thread has the token: it can be cancelled before it starts. */
static void cancel_before_start(void **state)
{
	struct core *c = *state;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	struct lni_op *op;

	assert_int_equal(lni_op_make(c->n, true, &a, &op), 0);
	lni_op_hash(op);
	assert_int_equal(lnet_op_cancel(c->n, op->id), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].status, -ECANCELED);
	assert_int_equal(c->f.sends, 0);
}

/* Every way of being wrong: dropped and counted, nothing ends, the connection stays. */
static void wrong_answers(void **state)
{
	struct core *c = *state;
	struct lnet_rail *stranger = fl_rail(&c->f, "10.0.0.3@tcp", LNET_PID_LUSTRE);
	struct lnet_rail *user = fl_rail(&c->f, PEER_NID, LNET_PID_USERFLAG | 5);
	struct lnet_hdr ack, reply, h;
	struct fl_rx rx;
	uint64_t late, forged;

	core_put(c, 100, LNET_OP_ACK);
	core_get(c, 100);
	core_put(c, 100, 0);
	ack = fl_answer_hdr(fl_tx(&c->f, 0), 100);
	reply = fl_answer_hdr(fl_tx(&c->f, 1), 100);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1); /* the PUT that wants none */

#define DROPPED(rail, from, counter, change)                                \
	do {                                                                \
		uint64_t was = fl_stat(c->n, counter);                      \
		h = from;                                                   \
		change;                                                     \
		assert_int_equal(fl_parse(c->n, rail, &h, c->src, &rx), 0); \
		assert_true(rx.discarded);                                  \
		assert_int_equal(fl_stat(c->n, counter), was + 1);          \
		fl_turns(c->n);                                             \
		assert_int_equal(c->s.n, 1);                                \
	} while (0)
	DROPPED(c->r, ack, "drop_late", h.msg.ack.dst_wmd.object ^= 1);
	DROPPED(c->r, ack, "drop_late", h.msg.ack.dst_wmd.iface ^= 1);
	DROPPED(c->r, reply, "drop_late", h.msg.reply.dst_wmd.object++);
	DROPPED(c->r, reply, "drop_late", h.msg.reply.dst_wmd.iface = 0);
	DROPPED(c->r, ack, "drop_late", h.msg.ack.dst_wmd.object = LNET_COOKIE_NONE);
	DROPPED(c->r, ack, "drop_forged", h.msg.ack.mlength = 101);
	/* the other's type */
	DROPPED(c->r, ack, "drop_forged", (h = reply, h.msg.reply.dst_wmd = ack.msg.ack.dst_wmd));
	DROPPED(c->r, reply, "drop_forged", (h = ack, h.msg.ack.dst_wmd = reply.msg.reply.dst_wmd));
	/* too long */
	DROPPED(c->r, reply, "drop_forged", h.payload_length = 101);
	/* another node; the right name by another's mouth; another process of the same host */
	DROPPED(stranger, ack, "drop_forged", h.src_nid = stranger->nid);
	DROPPED(stranger, ack, "drop_forged", (void)0);
	DROPPED(stranger, reply, "drop_forged", (void)0);
	DROPPED(user, ack, "drop_forged", (void)0);
	DROPPED(c->r, ack, "drop_forged", h.src_nid = stranger->nid);
#undef DROPPED
	/* and then the right ones, once */
	late = fl_stat(c->n, "drop_late");
	forged = fl_stat(c->n, "drop_forged");
	assert_int_equal(fl_parse(c->n, c->r, &ack, NULL, &rx), 0);
	assert_int_equal(fl_parse(c->n, c->r, &reply, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 3);
	assert_int_equal(c->s.ev[1].status | c->s.ev[2].status, 0);
	assert_int_equal(fl_parse(c->n, c->r, &ack, NULL, &rx), 0);
	assert_int_equal(fl_parse(c->n, c->r, &reply, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 3);
	assert_int_equal(fl_stat(c->n, "drop_late"), late + 2);
	assert_int_equal(fl_stat(c->n, "drop_forged"), forged);
}

/* While the first REPLY is landing, the same again. */
static void reply_twice_at_once(void **state)
{
	struct core *c = *state;
	struct lnet_hdr h;
	struct fl_rx a, b;

	core_get(c, 100);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 100);
	fl_all_done(c->n, &c->f);
	c->f.recv_later = true;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &a), 0);
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src + 100, &b), 0);
	assert_true(b.discarded);
	assert_int_equal(fl_stat(c->n, "drop_forged"), 1);
	fl_landed(c->n, &c->f, &a, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 1);
	assert_memory_equal(c->buf, c->src, 100);
}

/* The peer's other NID speaks for it, once they are known to be one node. */
static void answer_by_another_nid(void **state)
{
	struct core *c = *state;
	struct lnet_nid nids[] = {fl_nid(PEER_NID), fl_nid("10.0.0.3@tcp")};
	struct lnet_rail *other = fl_rail(&c->f, "10.0.0.3@tcp", LNET_PID_LUSTRE);
	struct lnet_hdr h;
	struct fl_rx rx;

	core_put(c, 100, LNET_OP_ACK);
	h = fl_answer_hdr(fl_tx(&c->f, 0), 100);
	h.src_nid = other->nid;
	fl_all_done(c->n, &c->f);
	assert_int_equal(fl_parse(c->n, other, &h, NULL, &rx), 0);
	assert_int_equal(fl_stat(c->n, "drop_forged"), 1);
	assert_int_equal(lnet_peer_add(c->n, &nids[0], nids, 2, true, false, IGNORED), 0);
	assert_int_equal(fl_parse(c->n, other, &h, NULL, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->s.n, 1);
	assert_int_equal(c->s.ev[0].status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(put_without_ack),
	        CORE_TEST(put_with_ack),
	        CORE_TEST(ack_before_sent),
	        CORE_TEST(get_and_reply),
	        CORE_TEST(empty_messages),
	        CORE_TEST(bad_arguments),
	        CORE_TEST(driver_answers),
	        CORE_TEST(deadline_of_an_answer),
	        CORE_TEST(default_deadline),
	        CORE_TEST(deadline_inside_the_driver),
	        CORE_TEST(deadline_while_landing),
	        CORE_TEST(cancel_in_each_state),
	        CORE_TEST(cancel_before_start),
	        CORE_TEST(wrong_answers),
	        CORE_TEST(reply_twice_at_once),
	        CORE_TEST(answer_by_another_nid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
