/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening, starting, and messages that arrive. */
#include "conformance/world.h"

static void open_close(void **state)
{
	struct world *w = *state;
	struct fc_conf c = {.lnd = w->drv->lnd, .drv = w->drv->drv(w), .incarnation = 1, .seed = 1};
	struct fc_node *n;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(fc_node_new(&c, &n), 0);
		fc_check_over(n);
		fc_node_free(n);
	}
}

static void table_is_sane(void **state)
{
	struct world *w = *state;
	const struct lnet_lnd *l = w->drv->lnd;

	assert_int_equal(l->size, sizeof(*l));
	assert_int_equal(l->abi, LNET_LND_ABI);
	assert_true(l->name[0] && l->type);
	assert_true(l->max_payload >= LNET_MTU && l->max_iov >= LNET_MAX_IOV);
	assert_true(l->def_peer_credits >= 1 && l->def_credits >= l->def_peer_credits);
	for (unsigned i = 0; i < l->ntunables; i++) {
		const struct lnet_tunable *t = &l->tunables[i];
		assert_true(t->name[0] && t->help[0] && t->unit);
		assert_true(t->min <= t->def && t->def <= t->max);
	}
	for (unsigned i = 0; i < l->nstats; i++)
		assert_true(l->stats[i].name[0] && l->stats[i].help[0] && l->stats[i].unit);
	assert_int_equal(!!(l->caps & LNET_LND_REG), l->mem_reg && l->mem_dereg);
}

static void ni_start_stop(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 5; i++) {
		struct fc_node *n = w_start(w, 0);
		assert_true(lnet_nid_eq(&n->ni.d.nid, &w->nid[0]));
		assert_true(n->ni.d.ifname[0]);
		w_stop(w, 0);
	}
}

/* An address that is in use cannot be started twice, and the first keeps working. */
static void ni_in_use(void **state)
{
	struct world *w = *state;
	struct fc_node *first = w_start(w, 0);

	w->n[0] = NULL;
	assert_int_equal(w_try_start(w, 0), -EADDRINUSE);
	w->n[0] = first;
	w_start(w, 1);
	w_put_ok(w, 1, 0, 64, 1);
}

static void both_ways(struct world *w, uint32_t len, uint32_t pieces)
{
	w_put_ok(w, 0, 1, len, pieces);
	w_put_ok(w, 1, 0, len, pieces);
}

static void put_zero(void **state)
{
	w_pair(*state);
	both_ways(*state, 0, 1);
}

static void put_one(void **state)
{
	w_pair(*state);
	both_ways(*state, 1, 1);
}

static void put_4k(void **state)
{
	w_pair(*state);
	both_ways(*state, 4096, 1);
}

static void put_64k(void **state)
{
	w_pair(*state);
	both_ways(*state, 65536, 3);
}

static void put_max(void **state)
{
	w_pair(*state);
	both_ways(*state, LNET_MTU, 1);
	both_ways(*state, LNET_MTU, 256);
}

/* Sizes around every border that a driver may have. */
static void put_odd_sizes(void **state)
{
	struct world *w = *state;
	static const uint32_t around[] = {
	        8, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288};

	w_pair(w);
	for (unsigned i = 0; i < sizeof(around) / sizeof(*around); i++)
		for (int d = -1; d <= 1; d++)
			both_ways(w, around[i] + (uint32_t)d, 1 + prng_below(&w->rnd, 9));
	both_ways(w, LNET_MTU - 1, 11);
}

static void iov_256(void **state)
{
	struct world *w = *state;
	static const uint32_t lens[] = {1, 255, 256, 257, 4095, 30011, 65537, 1000003};

	w_pair(w);
	for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		both_ways(w, lens[i], 256);
}

static enum fc_act many_pieces(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	rx->pieces = 256;
	return FC_RECV;
}

static void recv_iov_256(void **state)
{
	struct world *w = *state;

	w_pair(w);
	w->n[1]->on_parse = many_pieces;
	w_put_ok(w, 0, 1, 300, 1);
	w_put_ok(w, 0, 1, 70001, 5);
	w_put_ok(w, 0, 1, LNET_MTU, 256);
}

static void get_sizes(void **state)
{
	struct world *w = *state;
	static const uint32_t lens[] = {0, 1, 8, 4095, 4096, 4097, 65536, 65537, LNET_MTU};

	w_pair(w);
	for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		w_get_ok(w, 0, 1, lens[i], 1 + prng_below(&w->rnd, 255));
		w_get_ok(w, 1, 0, lens[i], 1);
	}
}

static void put_ack(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;

	w_pair(w);
	for (int i = 0; i < 20; i++) {
		tx = fc_put(w_rail(w, 0, 1), w_id(w), (uint32_t)i * 997, 2, W_LONG);
		fc_want_ack(tx);
		assert_true(w_send(w, tx) >= 0);
		W_UNTIL(w, tx->over && tx->answered);
		assert_int_equal(tx->status, 0);
	}
}

/* What one connection carries arrives in the order of sending; small control messages have theirs.
 */
static void order(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(500, 100), sent = 0, base;
	struct fc_rail *r, *back;

	w_pair(w);
	r = w_rail(w, 0, 1);
	back = fc_rail_find(w->n[1], &w->nid[0]);
	assert_non_null(back);
	base = atomic_load(&back->rx_msgs);
	while (sent < total) {
		struct fc_tx *tx = fc_put(r, w_id(w), 16, 1, W_LONG);
		int rc = fc_send(tx);
		if (rc >= 0)
			sent++;
		else
			assert_int_equal(rc, -EAGAIN);
		tl_turn(&w->pump);
	}
	W_UNTIL(w, atomic_load(&back->rx_msgs) == base + total);
	assert_int_equal(atomic_load(&back->disorder), 0);
	W_UNTIL(w, atomic_load(&w->n[0]->tx_done) == atomic_load(&w->n[0]->tx_accepted));
}

static uint64_t sum_stats(const struct fc_node *n)
{
	uint64_t s = 0;

	for (unsigned i = 0; i < n->d.lnd->nstats; i++)
		s += __atomic_load_n(&n->ni.d.stats[i], __ATOMIC_RELAXED);
	return s;
}

static void statistics_move(void **state)
{
	struct world *w = *state;
	uint64_t a, b;

	w_pair(w);
	a = sum_stats(w->n[0]);
	b = sum_stats(w->n[1]);
	w_put_ok(w, 0, 1, 5000, 1);
	assert_true(sum_stats(w->n[0]) > a);
	assert_true(sum_stats(w->n[1]) > b);
}

static void sane(const struct lnet_rail_info *i)
{
	assert_non_null(i->state);
	assert_true(!strcmp(i->state, "idle") || !strcmp(i->state, "connecting") ||
	            !strcmp(i->state, "up") || !strcmp(i->state, "backoff"));
	assert_true(i->nconns < 1000 && i->conns_wanted < 1000);
	assert_true((i->nconns > 0) >= !strcmp(i->state, "up"));
	assert_true(i->last_errno <= 0);
}

static void query_and_dump(void **state)
{
	struct world *w = *state;
	struct lnet_rail_info i;
	unsigned lines;
	char *text;

	w_start(w, 0);
	w_start(w, 1);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_query(r, &i);
	sane(&i);
	assert_string_equal(i.state, "idle");
	assert_int_equal(i.nconns, 0);
	assert_int_equal(i.tx_queued, 0);
	free(fc_dump(r, &lines));
	w_put_ok(w, 0, 1, 10, 1);
	fc_query(r, &i);
	sane(&i);
	assert_string_equal(i.state, "up");
	assert_true(i.nconns >= 1);
	assert_true(i.peer_incarnation == w->n[1]->d.incarnation);
	text = fc_dump(r, &lines);
	assert_true(lines >= 1 && strlen(text) > 10);
	free(text);
	struct fc_rail *back = fc_rail_find(w->n[1], &w->nid[0]);
	assert_non_null(back);
	fc_query(back, &i);
	sane(&i);
	assert_true(i.last_alive > 0);
}

/* A message that waits is counted by query() and named by dump(). */
static void query_queued(void **state)
{
	struct world *w = *state;
	struct lnet_rail_info i;
	unsigned lines, idle;
	char *text;

	w_start(w, 0);
	w->drv->silent(w, 1, true);
	struct fc_rail *r = w_rail(w, 0, 1);
	free(fc_dump(r, &idle));
	struct fc_tx *tx = fc_put(r, w_id(w), 3000, 1, W_LONG);
	assert_int_equal(fc_send(tx), 0);
	tl_run_for(&w->pump, 20 * TL_MS);
	fc_query(r, &i);
	sane(&i);
	assert_string_equal(i.state, "connecting");
	assert_true(i.tx_queued >= 3000);
	text = fc_dump(r, &lines);
	assert_true(lines > idle);
	free(text);
	fc_cancel(tx);
	W_UNTIL(w, tx->over);
	fc_query(r, &i);
	assert_int_equal(i.tx_queued, 0);
	w->drv->silent(w, 1, false);
}

/* Many loops: a rail lives on its own. */
static void two_loops(void **state)
{
	struct world *w = *state;

	w->nloops = 2;
	for (unsigned i = 0; i < W_NODES; i++)
		w_start(w, i);
	for (unsigned i = 0; i < W_NODES; i++)
		for (unsigned k = 0; k < W_NODES; k++)
			if (i != k)
				w_put_ok(w, i, k, 40000, 4);
	w_get_ok(w, 0, 1, 100000, 3);
}

/* The header is carried bit for bit: each field is checked on arrival by the fake core; here the
 * addressed NID is not the rail's, as a router's messages are. */
static void max_fields(void **state)
{
	struct world *w = *state;

	w_pair(w);
	atomic_store(&w->next_id, 0x7fffffffffff0000ull);
	w_put_ok(w, 0, 1, 77, 1);
	w_get_ok(w, 0, 1, 77, 1);
}

/* send() refuses what can never be sent, and changes nothing. */
static void send_bad(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;
	int rc;

	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	tx = fc_put(r, w_id(w), 100, 1, W_LONG);
	tx->d.hdr.type = 77;
	rc = fc_send(tx);
	assert_true(rc < 0 && rc != -EAGAIN);
	tx->d.hdr.type = LNET_MSG_PUT;
	tx->d.len = tx->d.hdr.payload_length = LNET_MTU + 1;
	rc = fc_send(tx);
	assert_true(rc < 0 && rc != -EAGAIN);
	tx->d.len = tx->d.hdr.payload_length = 100;
	assert_true(fc_send(tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, 0);
}

const struct cf_case cf_basic[] = {
        {"open_close", open_close, 0, 0},
        {"table_is_sane", table_is_sane, 0, 0},
        {"ni_start_stop", ni_start_stop, 0, 0},
        {"ni_in_use", ni_in_use, 0, 0},
        {"put_zero", put_zero, 0, 0},
        {"put_one", put_one, 0, 0},
        {"put_4k", put_4k, 0, 0},
        {"put_64k", put_64k, 0, 0},
        {"put_max", put_max, 0, 0},
        {"put_odd_sizes", put_odd_sizes, 0, 0},
        {"iov_256", iov_256, 0, 0},
        {"recv_iov_256", recv_iov_256, 0, 0},
        {"get_sizes", get_sizes, 0, 0},
        {"put_ack", put_ack, 0, 0},
        {"order", order, 0, 0},
        {"statistics_move", statistics_move, 0, 0},
        {"query_and_dump", query_and_dump, 0, 0},
        {"query_queued", query_queued, 0, 0},
        {"two_loops", two_loops, 0, 0},
        {"max_fields", max_fields, 0, 0},
        {"send_bad", send_bad, 0, 0},
};
const unsigned cf_basic_count = sizeof(cf_basic) / sizeof(*cf_basic);
