/* SPDX-License-Identifier: BSD-2-Clause */
/* What a handler may do, and where it runs. */
#include "core_fixture.h"

/* ---- what a handler may do ------------------------------------------------------------------- */

struct busybody {
	struct core *c;
	unsigned calls, depth, deepest;
	struct seen other;
};

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static int no_ni(void *arg, const struct lnet_ni_info *i)
{
	(void)arg;
	(void)i;
	return 0;
}

static int no_peer(void *arg, const struct lnet_peer_info *i)
{
	(void)arg;
	(void)i;
	return 0;
}

static int no_stat(void *arg, const char *name, uint64_t value)
{
	(void)arg;
	(void)name;
	(void)value;
	return 0;
}

static void no_line(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static void no_ping(void *user, int status, const struct lnet_ping_result *r)
{
	struct busybody *b = user;

	(void)status;
	(void)r;
	b->other.finals++;
}

static void no_watch(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	(void)user;
	(void)nid;
	(void)pid;
	(void)ev;
	(void)err;
}

static void refuse_waiting(struct busybody *b)
{
	struct lnet *n = b->c->n;
	struct lnet_nid any = lnet_nid_any(), me = fl_nid(ME_NID), peer = fl_nid(PEER_NID);
	struct lnet_ping_result r = {.size = sizeof(r)};
	struct lnet_ni_conf conf;
	struct iovec iov;
	struct lnet_op_args a = core_args(b->c, &iov, 10);

	lnet_ni_conf_init(&conf, sizeof(conf));
	conf.net = LNET_NET(LNET_LND_TCP, 3);
	conf.ifname = "x";
	assert_int_equal(lnet_wait(n, never, NULL, 0), -EDEADLK);
	assert_int_equal(lnet_progress(n, 0), -EDEADLK);
	assert_int_equal(lnet_put_wait(n, &a, NULL), -EDEADLK);
	assert_int_equal(lnet_get_wait(n, &a, NULL), -EDEADLK);
	assert_int_equal(lnet_ping(n, &me, LNET_PID_LUSTRE, &any, 0, &r), -EDEADLK);
	assert_int_equal(lnet_ni_add(n, &conf, NULL, NULL, 0), -EDEADLK);
	assert_int_equal(lnet_ni_del(n, &me), -EDEADLK);
	assert_int_equal(lnet_ni_set_tunable(n, &me, "depth", 3), -EDEADLK);
	assert_int_equal(lnet_ni_set_health(n, &me, 1000), -EDEADLK);
	assert_int_equal(
	        lnet_net_set_accept(n, lnet_nid_net(&me), LNET_ACCEPT_ALL, NULL, 0), -EDEADLK);
	assert_int_equal(lnet_ni_each(n, no_ni, NULL), -EDEADLK);
	assert_int_equal(lnet_peer_each(n, &any, no_peer, NULL), -EDEADLK);
	assert_int_equal(lnet_peer_set_health(n, &peer, 900), -EDEADLK);
	assert_int_equal(lnet_peer_del(n, &peer, NULL, 0, true, NULL), -EDEADLK);
	assert_int_equal(lnet_stats_each(n, no_stat, NULL), -EDEADLK);
	assert_int_equal(lnet_dump(n, no_line, NULL), -EDEADLK);
	assert_int_equal(lnet_close(n, 0), -EDEADLK);
}

static void busy_handler(const struct lnet_event *ev)
{
	struct busybody *b = ev->user;
	struct core *c = b->c;
	struct lnet_nid any = lnet_nid_any(), peer = fl_nid(PEER_NID), p3 = fl_nid("10.0.0.33@tcp");
	struct target t = {.portal = 30, .bits = 9, .buf = c->buf, .len = 10, .user = &b->other};
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	lnet_handle_t op, watch;

	if (!ev->final)
		return;
	b->depth++;
	b->deepest = b->depth > b->deepest ? b->depth : b->deepest;
	b->calls++;
	refuse_waiting(b);
	a.user = &b->other;
	b->other.inside = true;
	assert_int_equal(lnet_put(c->n, &a, &op), 0);
	assert_int_equal(lnet_op_cancel(c->n, op), -ENOENT); /* it ended, and will be told */
	assert_int_equal(lnet_get(c->n, &a, NULL), 0);
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_int_equal(lnet_md_unlink(c->n, t.md), 0);
	assert_int_equal(lnet_ping_start(c->n, &peer, LNET_PID_LUSTRE, &any, 0, no_ping, b), 0);
	assert_int_equal(lnet_peer_watch(c->n, &any, no_watch, b, &watch), 0);
	assert_int_equal(lnet_peer_unwatch(c->n, watch), 0);
	assert_int_equal(lnet_peer_add(c->n, &p3, NULL, 0, true, false, NULL), 0);
	assert_int_equal(lnet_portal_lazy(c->n, 40, true), 0);
	assert_int_equal(lnet_portal_lazy(c->n, 40, false), 0);
	assert_int_equal(lnet_global_set(c->n, "discovery", 0, NULL, 0), 0);
	assert_int_equal(lnet_global_set(c->n, "discovery", 1, NULL, 0), 0);
	b->other.inside = false;
	b->depth--;
}

static void handler_calls(void **state)
{
	struct core *c = *state;
	struct busybody b = {.c = c};
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	a.handler = busy_handler;
	a.user = &b;
	/* inside the handler the driver ends messages at once: still no handler inside lnet_put()
	 */
	assert_int_equal(lnet_put(c->n, &a, NULL), 0);
	fl_done(c->n, &c->f, fl_tx(&c->f, 0), 0, LNET_HS_OK);
	c->f.send_rc = 1;
	fl_turns(c->n);
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.deepest, 1);
	assert_int_equal(b.other.intruders, 0);
	assert_int_equal(b.other.unlinks >= 2, 1);
	c->f.send_rc = 0;
	core_pass(c, 151 * TL_S);
	assert_int_equal(b.other.finals, 3);
}

static void watch_handler(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	struct core *c = user;

	(void)nid;
	(void)pid;
	(void)ev;
	(void)err;
	/* no handler runs inside this one's calls either */
	core_put(c, 10, 0);
	core_put(c, 10, 0);
}

static void no_handler_inside_a_watch(void **state)
{
	struct core *c = *state;
	struct lnet_nid any = lnet_nid_any();
	lnet_handle_t w;

	assert_int_equal(lnet_peer_watch(c->n, &any, watch_handler, c, &w), 0);
	c->f.send_rc = 1;
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	fl_turns(c->n);
	assert_int_equal(c->s.finals, 2);
	assert_int_equal(c->s.intruders, 0);
	assert_int_equal(lnet_peer_unwatch(c->n, w), 0);
	assert_int_equal(lnet_peer_unwatch(c->n, w), -ENOENT);
}

static bool try_in_done(void *arg)
{
	struct core *c = arg;
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);

	/* the waiting thread holds the token here */
	if (lni_loop_held(c->n->loops[0])) {
		assert_int_equal(lnet_put_wait(c->n, &a, NULL), -EDEADLK);
		return true;
	}
	return false;
}

static void waiting_inside_done(void **state)
{
	struct core *c = *state;

	assert_int_equal(lnet_wait(c->n, try_in_done, c, 0), 0);
	assert_int_equal(c->s.n, 0);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void started_is_ended_plus_outstanding(void **state)
{
	struct core *c = *state;
	uint64_t sum;

	core_put(c, 10, LNET_OP_ACK);
	core_put(c, 10, LNET_OP_ACK);
	core_put(c, 10, 0);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 3);
	assert_int_equal(fl_stat(c->n, "msgs_max"), 3);
	fl_done(c->n, &c->f, fl_tx(&c->f, 2), 0, LNET_HS_OK);
	fl_turns(c->n);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 2);
	assert_int_equal(fl_stat(c->n, "msgs_max"), 3);
	lnet_stats_reset(c->n);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 2);
	assert_int_equal(fl_stat(c->n, "msgs_max"), 2);
	assert_int_equal(fl_stat(c->n, "send_count"), 0);
	core_answer(c, fl_tx(&c->f, 0), 10);
	core_answer(c, fl_tx(&c->f, 1), 10);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	sum = fl_stat(c->n, "ops_ok") + fl_stat(c->n, "ops_failed") +
	      fl_stat(c->n, "ops_cancelled") + fl_stat(c->n, "ops_timed_out");
	assert_int_equal(fl_stat(c->n, "ops_started"), sum);
	assert_int_equal(fl_stat(c->n, "msgs_alloc"), 0);
	assert_int_equal(atomic_load(&c->n->msgs->pl[0].nops), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(handler_calls),
	        CORE_TEST(no_handler_inside_a_watch),
	        CORE_TEST(waiting_inside_done),
	        CORE_TEST(started_is_ended_plus_outstanding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
