/* SPDX-License-Identifier: BSD-2-Clause */
/* Credits: free + used = max whatever happens; who waits goes on, in order. */
#include "core_fixture.h"

#include "lib/prng.h"

struct look {
	struct lnet_ni_info ni;
	struct lnet_peer_ni_info peer;
	struct lnet_nid want;
};

static int look_ni(void *arg, const struct lnet_ni_info *i)
{
	struct look *l = arg;

	if (i->nid.type == LNET_LND_TCP)
		l->ni = *i;
	return 0;
}

static int look_peer(void *arg, const struct lnet_peer_info *i)
{
	struct look *l = arg;

	for (unsigned k = 0; k < i->nni; k++)
		if (lnet_nid_eq(&i->ni[k].nid, &l->want))
			l->peer = i->ni[k];
	return 0;
}

static struct look look(struct core *c, const char *peer)
{
	struct look l = {.want = fl_nid(peer)};

	assert_int_equal(lnet_ni_each(c->n, look_ni, &l), 0);
	assert_int_equal(lnet_peer_each(c->n, &l.want, look_peer, &l), 0);
	assert_true(fl_credits_ok(c->n));
	return l;
}

static struct core *make(int32_t peer_credits, int32_t credits, uint32_t caps)
{
	struct lnet_ni_conf conf;
	struct core *c;

	lnet_ni_conf_init(&conf, sizeof(conf));
	conf.peer_credits = peer_credits;
	conf.credits = credits;
	c = core_with(&conf, NULL);
	c->f.lnd.caps = caps;
	return c;
}

static void put_to(struct core *c, const char *nid, uint64_t bits)
{
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.target = fl_nid(nid);
	a.match_bits = bits;
	c->s.inside = true;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	c->s.inside = false;
}

static void peer_credits(void **state)
{
	struct core *c = make(4, 100, 0);
	struct look l;

	(void)state;
	l = look(c, PEER_NID);
	assert_int_equal(l.peer.max_credits, 4);
	assert_int_equal(l.ni.peer_credits, 4);
	assert_int_equal(l.ni.credits, 100);
	for (unsigned i = 0; i < 7; i++)
		put_to(c, PEER_NID, i);
	assert_int_equal(c->f.ntx, 4);
	l = look(c, PEER_NID);
	assert_int_equal(l.peer.credits_free, -3); /* 3 wait */
	assert_int_equal(l.peer.credits_min, -3);
	assert_int_equal(l.ni.credits_free, 96);
	/* one comes back: the oldest waiter goes */
	fl_done(c->n, &c->f, fl_tx(&c->f, 2), 0, LNET_HS_OK);
	assert_int_equal(c->f.ntx, 4);
	assert_int_equal(fl_tx(&c->f, 3)->hdr.msg.put.match_bits, 4);
	assert_int_equal(look(c, PEER_NID).peer.credits_free, -2);
	fl_all_done(c->n, &c->f);
	l = look(c, PEER_NID);
	assert_int_equal(l.peer.credits_free, 4);
	assert_int_equal(l.peer.credits_min, -3);
	assert_int_equal(l.ni.credits_free, 100);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 7);
	core_free(c, 0);
}

/* Few of the interface, shared by the peers; each gets its turn. */
static void ni_credits(void **state)
{
	struct core *c = make(4, 5, 0);
	unsigned first = 0;
	struct look l;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		put_to(c, PEER_NID, i);
	for (unsigned i = 0; i < 4; i++)
		put_to(c, "10.0.0.3@tcp", 100 + i);
	assert_int_equal(c->f.ntx, 5);
	l = look(c, PEER_NID);
	assert_int_equal(l.ni.credits_free, -3);
	assert_int_equal(l.ni.credits_min, -3);
	put_to(c, PEER_NID, 4); /* waits for the peer, not for the interface */
	assert_int_equal(look(c, PEER_NID).ni.credits_free, -3);
	assert_int_equal(look(c, PEER_NID).peer.credits_free, -1);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
	/* its credit went to the oldest that waits for the interface: the other peer's */
	assert_int_equal(fl_tx(&c->f, 4)->hdr.msg.put.match_bits, 101);
	while (c->f.ntx) {
		first += fl_tx(&c->f, 0)->hdr.msg.put.match_bits < 100;
		fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
		assert_true(fl_credits_ok(c->n));
	}
	assert_int_equal(first, 4);
	l = look(c, PEER_NID);
	assert_int_equal(l.ni.credits_free, 5);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 9);
	core_free(c, 0);
}

static void driver_full(void **state)
{
	static const int script[] = {0, FL_AGAIN, FL_AGAIN, 0, FL_AGAIN, 1, -EIO};
	struct core *c = make(8, 100, LNET_LND_CREDIT_ON_SEND);

	(void)state;
	c->f.script = script;
	c->f.nscript = 7;
	for (unsigned i = 0; i < 6; i++)
		put_to(c, PEER_NID, i);
	assert_int_equal(c->f.ntx, 1);
	assert_int_equal(c->f.sends, 2); /* who comes later does not try past the first */
	assert_int_equal(look(c, PEER_NID).peer.credits_free, 3); /* those that wait hold theirs */
	fl_ready(c->n, c->r);                                     /* again not */
	assert_int_equal(c->f.sends, 3);
	fl_ready(c->n, c->r); /* one */
	assert_int_equal(c->f.ntx, 2);
	assert_int_equal(fl_tx(&c->f, 1)->hdr.msg.put.match_bits, 1);
	fl_ready(c->n, c->r); /* one at once, one fails, the last one goes */
	assert_int_equal(c->f.ntx, 4);
	assert_int_equal(look(c, PEER_NID).peer.credits_free, 8);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 6);
	assert_int_equal(fl_stat(c->n, "ops_failed"), 1);
	core_free(c, 0);
}

/* Deadlines hold in each queue, and what gives up gives back. */
static void deadlines_in_queues(void **state)
{
	static const int script[] = {0, 0, FL_AGAIN};
	struct core *c = make(3, 3, 0);
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	(void)state;
	c->f.script = script;
	c->f.nscript = 3;
	put_to(c, PEER_NID, 0);
	put_to(c, PEER_NID, 1);
	a.deadline = c->clk.now + TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0); /* the driver is full */
	a.deadline = c->clk.now + 2 * TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0); /* a credit of the peer */
	a.target = fl_nid("10.0.0.3@tcp");
	a.deadline = c->clk.now + 3 * TL_S;
	assert_int_equal(lnet_put(c->n, &a, NULL), 0); /* a credit of the interface */
	assert_int_equal(c->f.ntx, 2);
	core_pass(c, TL_S);
	assert_int_equal(c->s.finals, 1);
	assert_int_equal(c->s.ev[0].status, -ETIMEDOUT);
	/* its credits went on: the one that waited for the interface had waited longest for that */
	assert_true(fl_credits_ok(c->n));
	core_pass(c, TL_S);
	core_pass(c, TL_S);
	assert_int_equal(c->s.finals, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(c->s.ev[i].status, -ETIMEDOUT);
	assert_int_equal(fl_stat(c->n, "response_timeout_count"), 0);
	assert_int_equal(fl_stat(c->n, "ops_timed_out"), 3);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(look(c, PEER_NID).peer.credits_free, 3);
	assert_int_equal(look(c, PEER_NID).ni.credits_free, 3);
	core_free(c, 0);
}

/* Thousands wait; the driver frees them one by one, from inside their own ends. */
static void no_deep_recursion(void **state)
{
	struct core *c = make(5000, 1, LNET_LND_CREDIT_ON_SEND);
	unsigned count = 4000;
	static const int script[] = {FL_AGAIN};

	(void)state;
	c->f.script = script;
	c->f.nscript = 1;
	for (unsigned i = 0; i < count; i++)
		put_to(c, i % 2 ? PEER_NID : "10.0.0.3@tcp", i);
	assert_int_equal(c->f.sends, 1);
	c->f.send_rc = 1;
	for (unsigned i = 0; i < c->f.nrails; i++)
		fl_ready(c->n, c->f.rail[i]);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, count);
	assert_int_equal(c->s.intruders, 0);
	core_free(c, 0);
}

/* Loopback needs none. */
static void loopback(void **state)
{
	struct core *c = make(1, 1, 0);
	struct lnet_nid lo = fl_nid("0@lo");

	(void)state;
	fl_hold(c->n);
	for (unsigned i = 0; i < 50; i++) {
		struct iovec iov;
		struct lnet_op_args a = core_args(c, &iov, 10);

		a.target = lo;
		assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	}
	fl_drop(c->n);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 50);
	core_free(c, 0);
}

/* The numbers of an interface that was deleted and comes with others. */
static void other_numbers(void **state)
{
	struct core *c = make(4, 100, 0);
	struct lnet_nid me = fl_nid(ME_NID);
	struct lnet_ni_conf conf;

	(void)state;
	put_to(c, PEER_NID, 1);
	fl_all_done(c->n, &c->f);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_del(c->n, &me), 0);
	lnet_ni_conf_init(&conf, sizeof(conf));
	conf.peer_credits = 16;
	fl_ni(c->n, ME_NID, &conf);
	put_to(c, PEER_NID, 1);
	assert_int_equal(look(c, PEER_NID).peer.max_credits, 16);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	core_free(c, 0);
}

/* Anything at all, in any order: the law holds after each step, and all is back at the end. */
static void law(void **state)
{
	uint64_t seed = tl_seed();
	struct prng rnd;
	unsigned steps = tl_scaled(4000, 500), started = 0;
	static const char *const peers[] = {PEER_NID, "10.0.0.3@tcp", "10.0.0.4@tcp"};
	struct core *c = make(3, 6, 0);
	lnet_handle_t op[64] = {0};

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	rnd.s = seed;
	for (unsigned i = 0; i < steps; i++) {
		struct iovec iov;
		struct lnet_op_args a = core_args(c, &iov, 10);

		switch (prng_below(&rnd, 8)) {
		case 0:
		case 1:
		case 2:
			a.target = fl_nid(peers[prng_below(&rnd, 3)]);
			a.flags = prng_below(&rnd, 2) ? LNET_OP_ACK : 0;
			a.deadline = c->clk.now + prng_below(&rnd, 50) * TL_MS + 1;
			c->f.send_rc = prng_below(&rnd, 10) ? 0 : FL_AGAIN;
			started += lnet_put(c->n, &a, &op[prng_below(&rnd, 64)]) == 0;
			break;
		case 3:
			if (c->f.ntx)
				fl_done(c->n, &c->f, c->f.tx[prng_below(&rnd, c->f.ntx)],
				        prng_below(&rnd, 3) ? 0 : -EIO, LNET_HS_OK);
			break;
		case 4:
			c->f.send_rc = (int)prng_below(&rnd, 3) - 1;
			fl_ready(c->n, c->f.rail[prng_below(&rnd, c->f.nrails)]);
			break;
		case 5:
			lnet_op_cancel(c->n, op[prng_below(&rnd, 64)]);
			break;
		case 6:
			c->f.cancel_rc = 1;
			core_pass(c, prng_below(&rnd, 20) * TL_MS);
			break;
		default:
			c->s.n = 0;
			fl_turns(c->n);
			break;
		}
		assert_true(fl_credits_ok(c->n));
	}
	c->f.send_rc = 0;
	for (unsigned i = 0; i < c->f.nrails; i++)
		fl_ready(c->n, c->f.rail[i]);
	core_pass(c, TL_S);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, started);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(look(c, peers[i]).peer.credits_free, 3);
	assert_int_equal(look(c, PEER_NID).ni.credits_free, 6);
	core_free(c, 0);
}

/* FT-15: one peer takes nothing; the others do not notice. */
static void slow_receiver(void **state)
{
	struct core *c = make(8, 64, 0);
	char nid[32];

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		put_to(c, PEER_NID, 0);
	assert_int_equal(c->f.ntx, 8);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned p = 0; p < 10; p++) {
			snprintf(nid, sizeof(nid), "10.0.1.%u@tcp", p);
			put_to(c, nid, 1);
			fl_done(c->n, &c->f, fl_tx(&c->f, 8), 0, LNET_HS_OK);
		}
	}
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 200);
	assert_int_equal(look(c, PEER_NID).peer.credits_free, -492);
	fl_all_done(c->n, &c->f); /* and it goes on by itself */
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 700);
	core_free(c, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(peer_credits),
	        cmocka_unit_test(ni_credits),
	        cmocka_unit_test(driver_full),
	        cmocka_unit_test(deadlines_in_queues),
	        cmocka_unit_test(no_deep_recursion),
	        cmocka_unit_test(loopback),
	        cmocka_unit_test(other_numbers),
	        cmocka_unit_test(law),
	        cmocka_unit_test(slow_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
