/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that fail, race, restart and run out of time; policies; client mode. */
#include "tcp_fixture.h"
#include "tcp_script.h"

#include "lnd-tcp/proto.h"

static int lone_setup(void **state)
{
	*state = pair_new(1, 0);
	return 0;
}

static struct fc_tx *put(
        struct pair *p, struct fc_rail *r, uint64_t id, uint32_t len, uint64_t deadline)
{
	struct fc_tx *tx = fc_put(r, id, len, 1, deadline);

	(void)p;
	assert_non_null(tx);
	return tx;
}

/* Nobody listens: an error at once, then a pause in which sends are refused, then it works. */
static void refused_and_back(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct lnet_rail_info info;
	struct fc_tx *tx = put(p, r, 1, 10, 10 * TL_S), *again;
	uint64_t start = tl_now();
	int rc;

	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done, 2 * TL_S));
	assert_int_equal(tx->status, -ECONNREFUSED);
	assert_int_equal(tx->hs, LNET_HS_REMOTE_DROPPED);
	assert_false(tx->sent);
	assert_true(TL_UNTIL(&p->pump, r->fails == 1, TL_S));
	again = put(p, r, 2, 10, 10 * TL_S);
	rc = fc_send(again);
	if (tl_now() - start < 30 * TL_MS) {
		assert_int_equal(rc, -EHOSTUNREACH);
		assert_int_equal(stat_of(p->a, "backoff"), 1);
	}
	fc_query(r, &info);
	assert_int_equal(info.last_errno, -ECONNREFUSED);
	assert_string_equal(info.state, "backoff");
	p->b = tcp_node("127.0.0.3", p->port, 1002, 1);
	tl_run_for(&p->pump, 100 * TL_MS);
	if (rc)
		assert_int_equal(fc_send(again), 0);
	assert_true(TL_UNTIL(&p->pump, again->done && p->b->rx_ok == 1, 2 * TL_S));
	assert_int_equal(again->status, 0);
	fc_query(r, &info);
	assert_string_equal(info.state, "up");
	fc_tx_free(tx);
	fc_tx_free(again);
}

/* The peer accepts and says nothing: the message ends at its own deadline; then the rail works
 * again. */
static void silent_peer(void **state)
{
	struct pair *p = *state;
	int lfd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in a = in_addr("127.0.0.3", p->port);
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct fc_tx *tx;

	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(lfd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(lfd, 5), 0);
	tx = put(p, r, 1, 10, 200 * TL_MS);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done, 2 * TL_S));
	assert_int_equal(tx->status, -ETIMEDOUT);
	assert_int_equal(tx->hs, LNET_HS_NETWORK_TIMEOUT);
	assert_false(tx->sent);
	assert_true(TL_UNTIL(&p->pump, r->fails == 1, 2 * TL_S));
	close(lfd);
	fc_tx_free(tx);
	p->b = tcp_node("127.0.0.3", p->port, 1002, 1);
	tl_run_for(&p->pump, 100 * TL_MS);
	tx = put(p, r, 2, 10, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->b->rx_ok == 1, 2 * TL_S));
	fc_tx_free(tx);
}

/* Both send their first message at the same moment, again and again. */
static void races(void **state)
{
	struct pair *p = *state;
	unsigned rounds = tl_scaled(100, 20);

	for (unsigned i = 0; i < rounds; i++) {
		struct fc_rail *ra, *rb;
		struct fc_tx *ta, *tb;

		p->a = tcp_node("127.0.0.2", p->port, 10 + i, 2);
		p->b = tcp_node("127.0.0.3", p->port, 5000 + i, 2);
		ra = rail_to(p->a, "127.0.0.3");
		rb = rail_to(p->b, "127.0.0.2");
		ta = put(p, ra, 1, 100 * i, 10 * TL_S);
		tb = put(p, rb, 2, 100 * i, 10 * TL_S);
		assert_int_equal(fc_send(ta), 0);
		for (unsigned k = 0; k < i % 7; k++)
			fc_node_turn(i & 1 ? p->a : p->b);
		assert_int_equal(fc_send(tb), 0);
		assert_true(TL_UNTIL(&p->pump,
		        ta->done && tb->done && p->a->rx_ok == 1 && p->b->rx_ok == 1, 2 * TL_S));
		assert_int_equal(ta->status, 0);
		assert_int_equal(tb->status, 0);
		/* 1 control, 2 bulk in, 2 bulk out */
		assert_true(TL_UNTIL(&p->pump,
		        stat_of(p->a, "connects") + stat_of(p->a, "accepts") == 5, 2 * TL_S));
		tl_run_for(&p->pump, TL_MS);
		assert_int_equal(stat_of(p->b, "connects") + stat_of(p->b, "accepts"), 5);
		assert_int_equal(stat_of(p->a, "closes") + stat_of(p->b, "closes"), 0);
		fc_tx_free(ta);
		fc_tx_free(tb);
		tcp_node_end(p, &p->a);
		tcp_node_end(p, &p->b);
	}
}

static int empty_setup(void **state)
{
	*state = pair_new(0, 0);
	return 0;
}

/* The peer goes and comes back at the same address with a new incarnation. */
static void restarted(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct fc_tx *tx = put(p, r, 1, 10, 5 * TL_S);

	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->b->rx_ok == 1, 2 * TL_S));
	tcp_node_end(p, &p->b);
	assert_true(TL_UNTIL(&p->pump, r->downs == 1, 2 * TL_S));
	p->b = tcp_node("127.0.0.3", p->port, 900, 1); /* it may be lower, too */
	tl_run_for(&p->pump, 100 * TL_MS); /* a bulk connection may have been under way */
	fc_tx_free(tx);
	tx = put(p, r, 2, 10, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->b->rx_ok == 1, 2 * TL_S));
	assert_int_equal(tx->status, 0);
	assert_int_equal(r->restarts, 1);
	assert_int_equal(stat_of(p->a, "restarts"), 1);
	assert_int_equal(stat_of(p->a, "reconnects"), 1);
	fc_tx_free(tx);
}

/* A message that nobody reads: cancelled when it is half written, the stream stays whole. */
static void cancel_half_written(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct fc_tx *tx[24];
	unsigned sent = 0;
	int rc;

	tx[0] = put(p, r, 1, 10, 5 * TL_S);
	assert_int_equal(fc_send(tx[0]), 0);
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "connects") == 3, 2 * TL_S));
	tl_run_for(&p->pump, 20 * TL_MS);
	for (unsigned i = 1; i < 24; i++) {
		tx[i] = put(p, r, 1 + i, LNET_MTU, 5 * TL_S);
		rc = fc_send(tx[i]);
		assert_true(rc == 0);
	}
	for (int i = 0; i < 50; i++) /* the other node does not run */
		fc_node_turn(p->a);
	for (unsigned i = 1; i < 24; i++) {
		if (!tx[i]->done) {
			rc = fc_cancel(tx[i]);
			assert_true(rc == 0 || rc == 1);
		}
	}
	for (int i = 0; i < 5; i++)
		fc_node_turn(p->a);
	assert_int_equal(stat_of(p->a, "tx_copied"), 1);
	for (unsigned i = 0; i < 24; i++)
		sent += tx[i]->done && tx[i]->sent;
	assert_true(TL_UNTIL(&p->pump, p->b->rx_ok == sent, 5 * TL_S));
	assert_int_equal(stat_of(p->b, "closes"), 0);
}

/* The same when the deadline passes in the queue. */
static void deadline_half_written(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct fc_tx *tx[24];
	unsigned late = 0, sent = 0;
	uint64_t end;

	for (unsigned i = 0; i < 24; i++) {
		tx[i] = put(p, r, 1 + i, i ? LNET_MTU : 1, i ? 300 * TL_MS : 5 * TL_S);
		assert_int_equal(fc_send(tx[i]), 0);
		if (!i) {
			assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "connects") == 3, 2 * TL_S));
			tl_run_for(&p->pump, 20 * TL_MS);
		}
	}
	for (end = tl_now() + 500 * TL_MS; tl_now() < end; tl_sleep(TL_MS))
		fc_node_turn(p->a);
	for (unsigned i = 0; i < 24; i++) {
		assert_true(tx[i]->done);
		late += tx[i]->status == -ETIMEDOUT;
		sent += tx[i]->sent;
		assert_true(tx[i]->status == 0 || tx[i]->hs == LNET_HS_NETWORK_TIMEOUT);
	}
	assert_true(late > 0);
	assert_int_equal(stat_of(p->a, "tx_expired"), late);
	assert_int_equal(stat_of(p->a, "tx_copied"), 1);
	assert_true(TL_UNTIL(&p->pump, p->b->rx_ok == sent, 5 * TL_S));
}

/* More than the queue holds: -EAGAIN, and tx_ready() when there is room. */
static void full_queue(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	unsigned n = 0;
	int rc;

	do
		rc = fc_send(put(p, r, ++n, 8, 20 * TL_S));
	while (!rc && n < 5000);
	assert_int_equal(rc, -EAGAIN);
	assert_int_equal(n, 1025);
	assert_true(TL_UNTIL(&p->pump, r->readies == 1 && p->b->rx_ok == n - 1, 5 * TL_S));
}

static void policies(void **state)
{
	struct pair *p = *state;
	struct lnet_cidr allow = {.addr = {127, 0, 0, 8}, .len = 4, .prefix = 30};
	struct lnet_lnd_ni *ni = &p->a->ni.d;
	int fd;

	fc_pause(p->a);
	ni->accept = LNET_ACCEPT_SECURE; /* the script's port is not privileged */
	fc_resume(p->a);
	fd = script_dial(p->port);
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "refused_policy") == 1, 2 * TL_S));
	close(fd);
	fc_pause(p->a);
	ni->accept = LNET_ACCEPT_ALL;
	ni->allow = &allow;
	ni->nallow = 1;
	fc_resume(p->a);
	fd = script_dial_from("127.0.0.12", NODE_IP, p->port);
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "refused_policy") == 2, 2 * TL_S));
	close(fd);
	fd = script_dial_from("127.0.0.11", NODE_IP, p->port);
	script_send(fd, "x", 1);
	close(fd);
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "handshake_eof") == 1, 2 * TL_S));
	ni->accept = LNET_ACCEPT_NONE;
	fc_set_tunable(p->a, "tos", -1); /* tells the driver */
	fd = socket(AF_INET, SOCK_STREAM, 0);
	{
		struct sockaddr_in a = in_addr(NODE_IP, p->port);

		assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), -1);
	}
	close(fd);
	ni->accept = LNET_ACCEPT_ALL;
	fc_set_tunable(p->a, "tos", -1);
	fd = script_dial(p->port);
	close(fd);
	ni->nallow = 0;
}

/* A client has no listener, keeps its pid over all its connections, and is never called back. */
static void client_mode(void **state)
{
	struct pair *p = *state;
	struct fc_conf c = {.incarnation = 4, .client = true, .pid = LNET_PID_USERFLAG | 0x1234567};
	struct fc_tun t[] = {{"port", p->port}, {"conns_per_peer", 2}};
	struct lnet_nid nid = nid_of("127.0.0.3");
	struct fc_rail *r, *back;
	struct fc_tx *tx;
	int rc = 0;

	p->a = tcp_node("127.0.0.2", p->port, 3, 2);
	p->b = tcp_node_conf(&c, "127.0.0.3", t, 2);
	r = rail_to(p->b, "127.0.0.2");
	tx = fc_put(r, 1, 50000, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->a->rx_ok == 1, 2 * TL_S));
	assert_true(TL_UNTIL(&p->pump, stat_of(p->a, "accepts") == 5, 2 * TL_S));
	back = fc_rail(p->a, &nid, c.pid, &rc);
	assert_non_null(back);
	assert_int_equal(back->d.pid, c.pid);
	tx = fc_put(back, 2, 50000, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), 0);
	assert_true(TL_UNTIL(&p->pump, tx->done && p->b->rx_ok == 1, 2 * TL_S));
	assert_int_equal(stat_of(p->a, "connects"), 0);
	tcp_node_end(p, &p->b);
	assert_true(TL_UNTIL(&p->pump, back->downs == 1, 2 * TL_S));
	tx = fc_put(back, 3, 10, 1, 5 * TL_S);
	assert_int_equal(fc_send(tx), -ENOTCONN);
}

/* Messages in flight in a rail that closes, and what waits for a connection, end once. */
static void close_busy(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct fc_tx *tx[40];

	for (unsigned i = 0; i < 40; i++) {
		tx[i] = put(p, r, i + 1, 300000, 5 * TL_S);
		assert_int_equal(fc_send(tx[i]), 0);
	}
	for (int i = 0; i < 8; i++)
		pair_turn(p);
	fc_rail_close(r);
	assert_true(TL_UNTIL(&p->pump, r->closed, 2 * TL_S));
	for (unsigned i = 0; i < 40; i++) {
		assert_true(tx[i]->done);
		assert_true(!tx[i]->status || tx[i]->status == -ESHUTDOWN);
	}
}

static void dump_and_query(void **state)
{
	struct pair *p = *state;
	struct fc_rail *r = rail_to(p->a, "127.0.0.3");
	struct lnet_rail_info info;
	unsigned lines;
	char *text;

	fc_query(r, &info);
	assert_string_equal(info.state, "idle");
	for (unsigned i = 0; i < 24; i++)
		assert_int_equal(fc_send(put(p, r, i + 1, LNET_MTU, 5 * TL_S)), 0);
	fc_query(r, &info);
	assert_string_equal(info.state, "connecting");
	assert_int_equal(info.tx_queued, 24 * LNET_MTU);
	text = fc_dump(r, &lines);
	assert_int_equal(lines, 25);
	assert_non_null(strstr(text, "waits for a connection"));
	free(text);
	assert_true(TL_UNTIL(&p->pump, p->b->rx_ok == 24, 5 * TL_S));
	tl_run_for(&p->pump, 20 * TL_MS);
	fc_query(r, &info);
	assert_int_equal(info.nconns, 3);
	assert_int_equal(info.conns_wanted, 3);
	assert_int_equal(info.tx_queued, 0);
	assert_int_equal(info.oldest_unacked, 0);
	assert_int_equal(info.peer_incarnation, 1002);
	assert_true(info.last_alive > 0 && info.rate > 0);
	text = fc_dump(r, &lines);
	assert_int_equal(lines, 4);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(refused_and_back, lone_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(silent_peer, lone_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(races, empty_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(restarted, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(cancel_half_written, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(deadline_half_written, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(full_queue, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(policies, lone_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(client_mode, empty_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(close_busy, pair_setup, pair_teardown),
	        cmocka_unit_test_setup_teardown(dump_and_query, pair_setup, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
