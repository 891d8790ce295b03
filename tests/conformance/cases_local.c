/* SPDX-License-Identifier: BSD-2-Clause */
/* A rail to the node's own NID: sender and receiver are one. */
#include "conformance/world.h"

static enum fc_act hold_put(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_PUT ? FC_HOLD : FC_ANSWER;
}

static void self_put(void **state)
{
	struct world *w = *state;
	static const uint32_t lens[] = {0, 1, 4096, 65537, LNET_MTU};

	w_start(w, 0);
	for (unsigned i = 0; i < 5; i++) {
		w_put_ok(w, 0, 0, lens[i], 1 + i * 60);
		w_get_ok(w, 0, 0, lens[i], 1 + i * 60);
	}
}

static void self_hold(struct world *w, struct fc_tx **tx, struct fc_rx **rx, uint64_t deadline)
{
	w->n[0]->on_parse = hold_put;
	*tx = w_put(w, w_rail(w, 0, 0), 200000, deadline);
	W_UNTIL(w, fc_rx_in_state(w->n[0], FC_RX_HELD) == 1);
	*rx = fc_rx_find(w->n[0], (*tx)->id);
	w->n[0]->on_parse = NULL;
}

/* The sender's memory is read when the receiver takes the message: not before. */
static void self_delay(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;
	struct fc_rx *rx;

	w_start(w, 0);
	self_hold(w, &tx, &rx, W_LONG);
	assert_false(tx->done);
	assert_true(fc_recv(rx) >= 0);
	W_UNTIL(w, tx->over && rx->state == FC_RX_OVER);
	assert_int_equal(tx->status, 0);
}

/* The sender leaves first: the receiver gets the right bytes, from a copy. */
static void self_cancel(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;
	struct fc_rx *rx;

	w_start(w, 0);
	self_hold(w, &tx, &rx, W_LONG);
	assert_int_equal(fc_cancel(tx), 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, -ECANCELED);
	assert_true(tx->sent);
	assert_true(fc_recv(rx) >= 0);
	W_UNTIL(w, rx->state == FC_RX_OVER);
	assert_int_equal(rx->status, 0);
}

static void self_deadline(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx, *behind;
	struct fc_rx *rx;

	w_start(w, 0);
	self_hold(w, &tx, &rx, 50 * TL_MS);
	behind = w_put(w, w_rail(w, 0, 0), 100, 80 * TL_MS);
	W_UNTIL(w, tx->over && behind->over);
	assert_int_equal(tx->status, -ETIMEDOUT);
	assert_true(tx->sent);
	assert_int_equal(behind->status, -ETIMEDOUT);
	assert_false(behind->sent);
	fc_discard(rx);
	w_put_ok(w, 0, 0, 100, 1);
}

static void self_stop(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;
	struct fc_rx *rx;

	for (int how = 0; how < 2; how++) {
		w_start(w, 0);
		self_hold(w, &tx, &rx, W_LONG);
		for (int i = 0; i < 20; i++)
			w_put(w, w_rail(w, 0, 0), 1000, W_LONG);
		w_begin_stop(w, 0, how);
		w_end_stop(w, 0);
	}
}

/* Cancelled at any moment: each ends once. */
static void self_many(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(2000, 300);

	w_start(w, 0);
	for (unsigned i = 0; i < total; i++) {
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 0), prng_below(&w->rnd, 3000), W_LONG);
		if (!tx->over && prng_below(&w->rnd, 2))
			fc_cancel(tx);
	}
	W_UNTIL(w, w_idle(w));
	w_put_ok(w, 0, 0, 100, 1);
}

const struct cf_case cf_local[] = {
        {"self_put", self_put, 0, CF_LOCAL},
        {"self_delay", self_delay, 0, CF_LOCAL},
        {"self_cancel", self_cancel, 0, CF_LOCAL},
        {"self_deadline", self_deadline, 0, CF_LOCAL},
        {"self_stop", self_stop, 0, CF_LOCAL},
        {"self_many", self_many, 0, CF_LOCAL},
};
const unsigned cf_local_count = sizeof(cf_local) / sizeof(*cf_local);
