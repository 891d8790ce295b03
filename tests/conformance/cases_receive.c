/* SPDX-License-Identifier: BSD-2-Clause */
/* What the receiving core may do with a message: shorten, throw away, delay, redirect, refuse. */
#include "conformance/world.h"

/* ---- truncate and discard ------------------------------------------------------------------- */

static enum fc_act third(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	rx->mlen = rx->h.payload_length / 3;
	return FC_RECV;
}

static enum fc_act nothing(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	rx->mlen = 0;
	return FC_RECV;
}

static enum fc_act thrown(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	(void)rx;
	return FC_DISCARD;
}

static void shortened(struct world *w, enum fc_act (*how)(struct fc_node *, struct fc_rx *))
{
	static const uint32_t lens[] = {0, 1, 3, 500, 4096, 65536, 300001, LNET_MTU};

	w_pair(w);
	for (unsigned i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		w->n[1]->on_parse = how;
		w_put_ok(w, 0, 1, lens[i], 5);
		/* the stream is in step */
		w->n[1]->on_parse = NULL;
		w_put_ok(w, 0, 1, 1000 + lens[i] / 2, 3);
	}
}

static void truncate_third(void **state)
{
	shortened(*state, third);
}

static void truncate_all(void **state)
{
	shortened(*state, nothing);
}

static void discard(void **state)
{
	shortened(*state, thrown);
}

/* Many at once, each another way. */
static enum fc_act mixed(struct fc_node *n, struct fc_rx *rx)
{
	if (rx->h.type != LNET_MSG_PUT)
		return FC_RECV;
	switch (rx->id % 4) {
	case 0:
		return FC_DISCARD;
	case 1:
		rx->mlen = prng_below(&n->rnd, rx->h.payload_length + 1);
		return FC_RECV;
	case 2:
		rx->pieces = 1 + prng_below(&n->rnd, 255);
		return FC_RECV;
	default:
		return FC_RECV;
	}
}

static void mixed_stream(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(300, 60);
	struct fc_tx *tx;

	w_pair(w);
	w->n[1]->on_parse = mixed;
	for (unsigned i = 0; i < total; i++) {
		tx = w_put(w, w_rail(w, 0, 1), prng_below(&w->rnd, i % 10 ? 3000 : 400000), W_LONG);
		tx->freed_when_over = true;
	}
	W_UNTIL(w, w_idle(w) && atomic_load(&w->n[1]->rx_ok) == total + 1);
	assert_int_equal(atomic_load(&w->n[0]->tx_failed), 0);
	w_no_faults(w);
}

/* ---- delay ---------------------------------------------------------------------------------- */

static enum fc_act hold_put(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_PUT ? FC_HOLD : FC_RECV;
}

static void delayed(struct world *w, uint32_t len, bool take)
{
	struct fc_rx *rx;
	uint64_t first;

	w_pair(w);
	struct fc_node *b = w->n[1];
	struct fc_rail *back = fc_rail_find(b, &w->nid[0]);
	unsigned base = atomic_load(&back->rx_msgs);
	b->on_parse = hold_put;
	first = w->next_id;
	for (int i = 0; i < 5; i++)
		w_put(w, w_rail(w, 0, 1), len, W_LONG);
	W_UNTIL(w, atomic_load(&back->rx_msgs) == base + 1);
	tl_run_for(&w->pump, 30 * TL_MS);
	/* nothing was read on in that stream */
	if (!(w_caps(w) & LNET_LND_STOP_READ))
		assert_int_equal(atomic_load(&back->rx_msgs), base + 1);
	rx = fc_rx_find(b, first);
	assert_non_null(rx);
	assert_int_equal(rx->state, FC_RX_HELD);
	b->on_parse = NULL;
	if (take)
		assert_true(fc_recv(rx) >= 0);
	else
		assert_true(fc_discard(rx) >= 0);
	W_UNTIL(w, atomic_load(&back->rx_msgs) == base + 5 && w_idle(w));
	assert_int_equal(rx->state, FC_RX_OVER);
	assert_int_equal(rx->status, 0);
	assert_int_equal(atomic_load(&back->disorder), 0);
	w_put_ok(w, 0, 1, len, 1);
}

static void delay_small(void **state)
{
	delayed(*state, 100, true);
}

static void delay_large(void **state)
{
	delayed(*state, 200000, true);
}

static void delay_empty(void **state)
{
	delayed(*state, 0, true);
}

static void delay_discard(void **state)
{
	delayed(*state, 70000, false);
}

/* A stream that stops stops no other: neither another peer's, nor what this node sends. */
static void delay_is_alone(void **state)
{
	struct world *w = *state;

	w_pair(w);
	w_start(w, 2);
	w->n[1]->on_parse = hold_put;
	struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), 50000, W_LONG);
	W_UNTIL(w, fc_rx_in_state(w->n[1], FC_RX_HELD) == 1);
	w->n[1]->on_parse = NULL;
	for (int i = 0; i < 10; i++) {
		w_put_ok(w, 2, 1, 5000, 1);
		w_put_ok(w, 1, 2, 5000, 1);
		w_put_ok(w, 1, 0, 5000, 1);
	}
	assert_int_equal(fc_rx_in_state(w->n[1], FC_RX_HELD), 1);
	fc_recv(fc_rx_find(w->n[1], tx->id));
	W_UNTIL(w, tx->over && w_idle(w));
	assert_int_equal(tx->status, 0);
}

/* The sender dies while the core thinks: the rx stays valid, and ends as the core decides. */
static void delay_and_death(void **state)
{
	struct world *w = *state;

	w->n[0] = NULL;
	for (int how = 0; how < 3; how++) {
		w_pair(w);
		w->n[1]->on_parse = hold_put;
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), 200000, W_LONG);
		uint64_t id = tx->id;
		W_UNTIL(w, fc_rx_in_state(w->n[1], FC_RX_HELD) == 1);
		if (how == 2)
			w_stop(w, 0);
		else
			w->drv->cut(w, 0);
		tl_run_for(&w->pump, 20 * TL_MS);
		struct fc_rx *rx = fc_rx_find(w->n[1], id);
		assert_int_equal(rx->state, FC_RX_HELD);
		w->n[1]->on_parse = NULL;
		int rc = how == 1 ? fc_discard(rx) : fc_recv(rx);
		if (rc < 0) /* as before: to be discarded */
			assert_true(fc_discard(rx) >= 0);
		W_UNTIL(w, rx->state == FC_RX_OVER && w_idle(w));
		w_stop(w, 1);
		if (w->n[0])
			w_stop(w, 0);
	}
}

/* ---- redirect ------------------------------------------------------------------------------- */

static enum fc_act recv_redirect(struct fc_node *n, struct fc_rx *rx)
{
	if (rx->h.type != LNET_MSG_PUT || !(rx->id & 1))
		return FC_RECV;
	(void)n;
	int rc = fc_recv_here(rx);
	if (rc == 0)
		fc_redirect_here(rx);
	else if (rc < 0)
		fc_discard_here(rx);
	return FC_DECIDED;
}

/* As soon as the receive is in progress. */
static void redirect_at_once(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(40, 20);

	w_pair(w);
	w->n[1]->on_parse = recv_redirect;
	for (unsigned i = 0; i < total; i++)
		w_put(w, w_rail(w, 0, 1), i % 3 ? LNET_MTU : 3000, W_LONG);
	W_UNTIL(w, w_idle(w) && atomic_load(&w->n[1]->rx_parsed) == total + 1);
	w_no_faults(w);
	w->n[1]->on_parse = NULL;
	w_put_ok(w, 0, 1, 10000, 1);
}

/* After any part of the payload: so many turns of the receiver. */
static void redirect_later(void **state)
{
	struct world *w = *state;
	unsigned cut_short = 0;

	w_small_buffers(w);
	w_pair(w);
	for (unsigned turns = 1; turns < 24; turns++) {
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), LNET_MTU, W_LONG);
		struct fc_rx *rx = NULL;
		for (unsigned i = 0; i < turns || !rx; i++) {
			w_turn_only(w, 0, 1);
			w_turn_only(w, 1, 1);
			rx = fc_rx_find(w->n[1], tx->id);
			assert_true(i < 100000);
		}
		if (rx->state == FC_RX_ACTIVE) {
			cut_short++;
			fc_redirect(rx);
		}
		W_UNTIL(w, tx->over && rx->state == FC_RX_OVER && w_idle(w));
		assert_int_equal(tx->status, 0);
		w_put_ok(w, 0, 1, 100, 1);
	}
	if (w->drv->has & CF_STREAMS || w_caps(w) & LNET_LND_ASYNC_RECV)
		assert_true(cut_short > 0);
}

/* And then the sender dies: rx_done() still comes. */
static void redirect_and_death(void **state)
{
	struct world *w = *state;

	w_small_buffers(w);
	for (unsigned turns = 1; turns < 6; turns++) {
		w_pair(w);
		struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), LNET_MTU, W_LONG);
		struct fc_rx *rx = NULL;
		for (unsigned i = 0; i < turns || !rx; i++) {
			w_turn_only(w, 0, 1);
			w_turn_only(w, 1, 1);
			rx = fc_rx_find(w->n[1], tx->id);
		}
		if (rx->state == FC_RX_ACTIVE)
			fc_redirect(rx);
		w->drv->cut(w, turns & 1);
		W_UNTIL(w, tx->over && rx->state == FC_RX_OVER && w_idle(w));
		w_stop(w, 0);
		w_stop(w, 1);
	}
}

/* ---- refuse --------------------------------------------------------------------------------- */

static enum fc_act refuse(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_PUT ? FC_REFUSE : FC_RECV;
}

/* parse() says -EPROTO: the connection goes, for both; a new one works. */
static void refuse_message(void **state)
{
	struct world *w = *state;
	static const uint32_t lens[] = {0, 100, 100000};

	w_pair(w);
	for (unsigned i = 0; i < 3; i++) {
		struct fc_rail *r = w_rail(w, 0, 1), *back = fc_rail_find(w->n[1], &w->nid[0]);
		unsigned downs = atomic_load(&r->downs), theirs = atomic_load(&back->downs);
		w->n[1]->on_parse = refuse;
		struct fc_tx *tx = w_put(w, r, lens[i], W_LONG);
		W_UNTIL(w, tx->over && atomic_load(&r->downs) > downs &&
		                   atomic_load(&back->downs) > theirs);
		assert_true(!tx->status || tx->sent);
		w->n[1]->on_parse = NULL;
		w_put_again(w, 0, 1, lens[i]);
		w_put_again(w, 1, 0, lens[i]);
	}
	assert_int_equal(atomic_load(&w->n[1]->rx_refused), 3);
}

const struct cf_case cf_receive[] = {
        {"truncate_third", truncate_third, 0, 0},
        {"truncate_all", truncate_all, 0, 0},
        {"discard", discard, 0, 0},
        {"mixed_stream", mixed_stream, 0, 0},
        {"delay_small", delay_small, 0, 0},
        {"delay_large", delay_large, 0, 0},
        {"delay_empty", delay_empty, 0, 0},
        {"delay_discard", delay_discard, 0, 0},
        {"delay_is_alone", delay_is_alone, 0, 0},
        {"delay_and_death", delay_and_death, 0, 0},
        {"redirect_at_once", redirect_at_once, 0, 0},
        {"redirect_later", redirect_later, 0, 0},
        {"redirect_and_death", redirect_and_death, 0, 0},
        {"refuse_message", refuse_message, 0, 0},
};
const unsigned cf_receive_count = sizeof(cf_receive) / sizeof(*cf_receive);
