/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: refused, silent, broken, made by both ends at once, peers that die and come back. */
#include "conformance/world.h"

/* ---- nobody there --------------------------------------------------------------------------- */

static void refused(void **state)
{
	struct world *w = *state;
	uint64_t begin = tl_now();

	w_start(w, 0);
	struct fc_rail *r = w_rail(w, 0, 1);
	struct fc_tx *tx = w_put(w, r, 1000, W_LONG);
	W_UNTIL(w, tx->over);
	assert_true(tl_now() - begin < tl_patience(5 * TL_S)); /* at once, not at the deadline */
	assert_true(tx->status < 0 && tx->status != -ETIMEDOUT);
	assert_true(tx->hs != LNET_HS_OK);
	assert_false(tx->sent);
	W_UNTIL(w, atomic_load(&r->fails) >= 1);
	assert_int_equal(atomic_load(&r->ups), 0);
	struct lnet_rail_info i;
	fc_query(r, &i);
	assert_true(i.last_errno < 0);
	/* once it is there it is found */
	w_start(w, 1);
	w_put_ok(w, 0, 1, 1000, 1);
	w_put_ok(w, 1, 0, 1000, 1);
	assert_true(atomic_load(&r->ups) >= 1);
}

/* Messages to a dead peer make no storm: a failed attempt is followed by a pause, or by one attempt
 * a message, and every message ends. */
static void refused_often(void **state)
{
	struct world *w = *state;
	unsigned refused_at_once = 0, total = tl_scaled(200, 50);

	w_start(w, 0);
	struct fc_rail *r = w_rail(w, 0, 1);
	for (unsigned i = 0; i < total; i++) {
		struct fc_tx *tx = fc_put(r, w_id(w), 100, 1, W_LONG);
		int rc = fc_send(tx);
		if (rc < 0) {
			assert_int_equal(rc, -EHOSTUNREACH);
			refused_at_once++;
		}
		tl_turn(&w->pump);
	}
	W_UNTIL(w, w_idle(w));
	assert_int_equal(atomic_load(&w->n[0]->tx_ok), 0);
	assert_true(atomic_load(&r->fails) <= total - refused_at_once);
}

static void silent_then_there(void **state)
{
	struct world *w = *state;

	w_start(w, 0);
	w->drv->silent(w, 1, true);
	struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), 500, 100 * TL_MS);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, -ETIMEDOUT);
	assert_false(tx->sent);
	w->drv->silent(w, 1, false);
	w_start(w, 1);
	w_put_ok(w, 0, 1, 500, 1);
}

static void silent_stop(void **state)
{
	struct world *w = *state;

	for (int how = 0; how < 2; how++) {
		w_start(w, 0);
		w->drv->silent(w, 1, true);
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), 500, W_LONG);
		tl_run_for(&w->pump, 20 * TL_MS);
		uint64_t begin = tl_now();
		w_begin_stop(w, 0, how);
		W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
		assert_true(tl_now() - begin < tl_patience(2 * TL_S));
		assert_int_equal(tx->status, -ESHUTDOWN);
		assert_false(tx->sent);
		w_end_stop(w, 0);
		w->drv->silent(w, 1, false);
	}
}

/* The peer's core wants no further peers. */
static void peer_refuses(void **state)
{
	struct world *w = *state;
	static const int why[] = {-ENOSPC, -ENOMEM, -ESHUTDOWN};

	w_start(w, 0);
	struct fc_node *b = w_start(w, 1);
	for (unsigned i = 0; i < 3; i++) {
		b->refuse_peers = why[i];
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), 100, 2 * TL_S);
		W_UNTIL(w, tx->over);
		assert_true(tx->status < 0);
		assert_int_equal(fc_seen(b, tx->id << 2 | LNET_MSG_PUT), 0);
	}
	b->refuse_peers = 0;
	w_put_ok(w, 0, 1, 100, 1);
}

/* ---- broken --------------------------------------------------------------------------------- */

static void cut_between(void **state)
{
	struct world *w = *state;

	w_pair(w);
	for (int i = 0; i < 10; i++) {
		struct fc_rail *r = w_rail(w, 0, 1), *back = fc_rail_find(w->n[1], &w->nid[0]);
		unsigned downs = atomic_load(&r->downs), theirs = atomic_load(&back->downs);
		w->drv->cut(w, i & 1);
		W_UNTIL(w, atomic_load(&r->downs) > downs && atomic_load(&back->downs) > theirs);
		w_put_again(w, 0, 1, 3000);
		w_put_again(w, 1, 0, 3000);
	}
}

/* In the middle of payloads, both directions, either end. Every operation ends once, the memory is
 * right, and the next connection works. */
static void cut_middle(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(60, 15);

	w_small_buffers(w);
	w_pair(w);
	for (unsigned k = 0; k < rounds; k++) {
		for (int i = 0; i < 3; i++) {
			uint32_t len = i ? prng_below(&w->rnd, 5000) : LNET_MTU;
			w_put(w, w_rail(w, 0, 1), len, W_LONG);
			w_put(w, w_rail(w, 1, 0), len, W_LONG);
		}
		for (unsigned t = prng_below(&w->rnd, 12); t; t--) {
			w_turn_only(w, 0, 1);
			w_turn_only(w, 1, 1);
		}
		if (k & 1) { /* one end does not read for a while */
			fc_pause(w->n[0]);
			w_put(w, w_rail(w, 1, 0), LNET_MTU, W_LONG);
			w_turn_only(w, 1, 2);
		}
		w->drv->cut(w, prng_below(&w->rnd, 2));
		if (k & 1)
			fc_resume(w->n[0]);
		W_UNTIL(w, w_idle(w));
		w_put_again(w, 0, 1, 3000);
		w_put_again(w, 1, 0, 3000);
	}
	/* some were lost */
	assert_true(atomic_load(&w->n[0]->rx_ok) + atomic_load(&w->n[1]->rx_ok) <
	            atomic_load(&w->n[0]->tx_accepted) + atomic_load(&w->n[1]->tx_accepted));
}

/* Many messages, connections that break all the time: what failed as not sent was not delivered. */
static void sent_is_true(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(40, 10);

	w_small_buffers(w);
	w_pair(w);
	for (unsigned k = 0; k < rounds; k++) {
		struct fc_tx *tx[16];
		for (int i = 0; i < 16; i++)
			tx[i] = w_put(w, w_rail(w, 0, 1), prng_below(&w->rnd, 100000), W_LONG);
		for (unsigned t = prng_below(&w->rnd, 6); t; t--)
			tl_turn(&w->pump);
		w->drv->cut(w, prng_below(&w->rnd, 2));
		W_UNTIL(w, w_idle(w));
		tl_run_for(&w->pump, 2 * TL_MS);
		for (int i = 0; i < 16; i++) {
			unsigned seen = fc_seen(w->n[1], tx[i]->id << 2 | LNET_MSG_PUT);
			if (tx[i]->status && !tx[i]->sent)
				assert_int_equal(seen, 0);
			assert_true(seen <= 1);
			fc_tx_free(tx[i]);
		}
		w_put_again(w, 0, 1, 100);
	}
}

/* ---- the peer goes, and comes back ---------------------------------------------------------- */

static void peer_stops(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	for (unsigned i = 1; i <= 5; i++) {
		w_begin_stop(w, 1, i & 1);
		w_end_stop(w, 1);
		W_UNTIL(w, atomic_load(&r->downs) == i);
		w_start(w, 1);
		w_put_again(w, i & 1, !(i & 1), 2000);
		w_put_ok(w, 0, 1, 2000, 1);
		struct lnet_rail_info info;
		fc_query(r, &info);
		assert_true(info.peer_incarnation == w->n[1]->d.incarnation);
		assert_int_equal(atomic_load(&r->restarts), i);
	}
}

/* It died without a word and is there again: the old connections are dead at once, not at a
 * timeout, and what was under way ends. */
static void restart_unseen(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[8];

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	for (int i = 0; i < 8; i++) {
		tx[i] = fc_put(r, w_id(w), LNET_MTU, 2, W_LONG);
		assert_true(fc_send(tx[i]) >= 0);
	}
	w_turn_only(w, 0, 5);
	bool can = w->drv->vanish(w, 1);
	fc_resume(w->n[1]);
	if (!can) {
		print_message("%s\n", w->why);
		skip();
	}
	w_stop(w, 1);
	w_start(w, 1);
	/* the new one speaks first */
	unsigned open = 0;
	for (int i = 0; i < 8; i++)
		open += !tx[i]->over;
	struct fc_tx *hello = w_put(w, w_rail(w, 1, 0), 100, W_LONG);
	W_UNTIL(w, hello->over && atomic_load(&r->restarts) == 1);
	W_UNTIL(w, w_idle(w));
	if (hello->status) /* it may be the one that pays for finding out */
		w_put_ok(w, 1, 0, 100, 1);
	unsigned failed = 0;
	for (int i = 0; i < 8; i++)
		failed += tx[i]->status != 0;
	if (open)
		assert_true(failed > 0);
	w_put_ok(w, 0, 1, 5000, 1);
	assert_int_equal(atomic_load(&r->restarts), 1);
}

/* ---- both at once --------------------------------------------------------------------------- */

static void race_round(struct world *w, unsigned jitter)
{
	struct fc_tx *tx[2], *third;

	for (int i = 0; i < 2; i++)
		tx[i] = fc_put(w_rail(w, (unsigned)i, !i), w_id(w), 100, 1, W_LONG);
	int first = (int)prng_below(&w->rnd, 2);
	assert_true(w_send(w, tx[first]) >= 0);
	for (unsigned t = prng_below(&w->rnd, jitter); t; t--)
		w_turn_only(w, prng_below(&w->rnd, 2), 1);
	assert_true(w_send(w, tx[!first]) >= 0);
	/* at the moment when one end believes that it is connected, another message */
	W_UNTIL(w, atomic_load(&w_rail(w, 0, 1)->ups) > 0);
	third = fc_put(w_rail(w, 0, 1), w_id(w), 5000, 1, W_LONG);
	assert_true(w_send(w, third) >= 0);
	W_UNTIL(w, tx[0]->over && tx[1]->over && third->over && w_idle(w));
	assert_int_equal(tx[0]->status, 0);
	assert_int_equal(tx[1]->status, 0);
	assert_int_equal(third->status, 0);
	W_UNTIL(w, fc_seen(w->n[1], tx[0]->id << 2 | LNET_MSG_PUT) == 1 &&
	                   fc_seen(w->n[0], tx[1]->id << 2 | LNET_MSG_PUT) == 1 &&
	                   fc_seen(w->n[1], third->id << 2 | LNET_MSG_PUT) == 1);
}

static bool complete(struct world *w, unsigned *conns)
{
	struct lnet_rail_info a, b;

	fc_query(w_rail(w, 0, 1), &a);
	fc_query(w_rail(w, 1, 0), &b);
	*conns = a.nconns;
	return a.nconns == b.nconns && a.nconns == a.conns_wanted;
}

static void race(struct world *w, unsigned rounds, unsigned conns)
{
	unsigned n = 0;

	w->conns[0] = w->conns[1] = conns;
	for (unsigned k = 0; k < rounds; k++) {
		w_start(w, 0);
		w_start(w, 1);
		race_round(w, 12);
		if (k % 10 == 0 && w->drv->has & CF_SOCKETS) {
			/* exactly the negotiated number of connections */
			W_UNTIL(w, complete(w, &n));
			tl_run_for(&w->pump, 5 * TL_MS);
			assert_true(complete(w, &n));
		}
		w_begin_stop(w, 0, k & 1);
		w_begin_stop(w, 1, k & 2);
		w_end_stop(w, 0);
		w_end_stop(w, 1);
	}
}

static void race_one(void **state)
{
	struct world *w = *state;

	race(w, tl_scaled(w->drv->has & CF_SOCKETS ? 300 : 2000, 60), 1);
}

static void race_two(void **state)
{
	struct world *w = *state;

	race(w, tl_scaled(w->drv->has & CF_SOCKETS ? 100 : 200, 30), 2);
}

/* Connections that break while both ends make new ones. */
static void race_and_cut(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(100, 30);

	w_pair(w);
	for (unsigned k = 0; k < rounds; k++) {
		w->drv->cut(w, k & 1);
		for (unsigned t = prng_below(&w->rnd, 4); t; t--)
			w_turn_only(w, prng_below(&w->rnd, 2), 1);
		for (unsigned i = 0; i < 2; i++) {
			struct fc_tx *tx = fc_put(w_rail(w, i, !i), w_id(w), 300, 1, W_LONG);
			assert_true(w_send(w, tx) >= 0);
		}
		if (k & 1)
			w->drv->cut(w, 0);
		W_UNTIL(w, w_idle(w));
	}
	w_put_again(w, 0, 1, 100);
	w_put_again(w, 1, 0, 100);
}

/* Every pair of four nodes, all at once. */
static void all_pairs(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(10, 3);

	for (unsigned i = 0; i < W_NODES; i++)
		w_start(w, i);
	for (unsigned k = 0; k < rounds; k++)
		for (unsigned i = 0; i < W_NODES; i++)
			for (unsigned j = 0; j < W_NODES; j++)
				if (i != j)
					w_put(w, w_rail(w, i, j), prng_below(&w->rnd, 30000),
					        W_LONG);
	W_UNTIL(w, w_idle(w));
	for (unsigned i = 0; i < W_NODES; i++) {
		assert_int_equal(atomic_load(&w->n[i]->tx_failed), 0);
		W_UNTIL(w, atomic_load(&w->n[i]->rx_ok) == rounds * (W_NODES - 1));
	}
}

const struct cf_case cf_connect[] = {
        {"refused", refused, 0, 0},
        {"refused_often", refused_often, 0, 0},
        {"silent_then_there", silent_then_there, 0, 0},
        {"silent_stop", silent_stop, 0, 0},
        {"peer_refuses", peer_refuses, 0, 0},
        {"cut_between", cut_between, 0, 0},
        {"cut_middle", cut_middle, 0, 0},
        {"sent_is_true", sent_is_true, 0, 0},
        {"peer_stops", peer_stops, 0, 0},
        {"restart_unseen", restart_unseen, 0, 0},
        {"race_one", race_one, 0, 0},
        {"race_two", race_two, 0, 0},
        {"race_and_cut", race_and_cut, 0, 0},
        {"all_pairs", all_pairs, 0, 0},
};
const unsigned cf_connect_count = sizeof(cf_connect) / sizeof(*cf_connect);
