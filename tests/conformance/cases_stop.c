/* SPDX-License-Identifier: BSD-2-Clause */
/* Closing rails and NIs in each state. What is outstanding is accounted for at the end of each
 * world. */
#include "conformance/world.h"

static enum fc_act hold_put(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_PUT ? FC_HOLD : FC_RECV;
}

/* Bring node 0 and its rail to node 1 into a state. */
enum state { IDLE, CONNECTING, UP, BACKLOG, HOLDING, RECEIVING, FENCING, NSTATES };

static void enter_state(struct world *w, enum state s, struct fc_fence *f)
{
	unsigned sent;

	w_start(w, 0);
	if (s == CONNECTING) {
		w->drv->silent(w, 1, true);
		for (int i = 0; i < 5; i++)
			w_put(w, w_rail(w, 0, 1), 1000, W_LONG);
		tl_run_for(&w->pump, 10 * TL_MS);
		return;
	}
	w_start(w, 1);
	struct fc_rail *r = w_rail(w, 0, 1);
	if (s == IDLE)
		return;
	w_put_ok(w, 0, 1, 100, 1);
	switch (s) {
	case BACKLOG:
	case FENCING:
		fc_pause(w->n[1]);
		w_fill(w, r, 60000, 60, W_LONG, &sent);
		if (s == FENCING)
			fc_fence(r, f, W_LONG);
		break;
	case HOLDING:
		w->n[0]->on_parse = hold_put;
		w_put(w, w_rail(w, 1, 0), 70000, W_LONG);
		W_UNTIL(w, fc_rx_in_state(w->n[0], FC_RX_HELD) == 1);
		break;
	case RECEIVING:
		w_put(w, w_rail(w, 1, 0), LNET_MTU, W_LONG);
		for (unsigned i = 0; i < 1000 && !fc_rx_in_state(w->n[0], FC_RX_ACTIVE); i++)
			w_turn_only(w, 0, 1);
		break;
	default:
		break;
	}
}

static void leave_state(struct world *w, enum state s)
{
	if (w->n[1] && w->n[1]->paused)
		fc_resume(w->n[1]);
	if (s == CONNECTING)
		w->drv->silent(w, 1, false);
	if (w->n[1])
		w_stop(w, 1);
}

static void stop_in(struct world *w, enum state s, bool rails_first)
{
	struct fc_fence f = {.done = false};
	uint64_t begin;

	enter_state(w, s, &f);
	begin = tl_now();
	w_begin_stop(w, 0, rails_first);
	if (s == HOLDING) {
		/* it waits for the core, and then ends */
		tl_run_for(&w->pump, 10 * TL_MS);
		fc_discard_held(w->n[0]);
	}
	W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
	assert_true(tl_now() - begin < tl_patience(3 * TL_S));
	w_end_stop(w, 0);
	leave_state(w, s);
}

static void stop_each_state(void **state)
{
	struct world *w = *state;

	w_small_buffers(w);
	for (int s = IDLE; s < NSTATES; s++) {
		stop_in(w, (enum state)s, false);
		stop_in(w, (enum state)s, true);
	}
}

/* One rail ends, the NI and its other rails live; and a new rail to the same peer works. */
static void close_rail_each_state(void **state)
{
	struct world *w = *state;

	w_small_buffers(w);
	for (int s = IDLE; s < NSTATES; s++) {
		struct fc_fence f = {.done = false};
		enter_state(w, (enum state)s, &f);
		w_start(w, 2);
		w_put_ok(w, 0, 2, 500, 1);
		struct fc_rail *r = w_rail(w, 0, 1);
		fc_rail_close(r);
		if (s == HOLDING)
			fc_discard_held(w->n[0]);
		W_UNTIL(w, atomic_load(&r->closed));
		w->n[0]->on_parse = NULL;
		w_put_ok(w, 0, 2, 500, 1);
		if (s == CONNECTING) {
			w->drv->silent(w, 1, false);
			w_start(w, 1);
		} else if (w->n[1]->paused) {
			fc_resume(w->n[1]);
		}
		w_put_again(w, 0, 1, 500);
		w_stop(w, 2);
		w_stop(w, 0);
		w_stop(w, 1);
	}
}

/* Everything at once: many sends to a peer that does not read, receives in progress and undecided,
 * connections that do not come. */
static void loaded(struct world *w, bool rails_first)
{
	unsigned sent;

	w_small_buffers(w);
	for (unsigned i = 0; i < 3; i++)
		w_start(w, i);
	w->drv->silent(w, 3, true);
	w_put_ok(w, 0, 1, 10, 1);
	w_put_ok(w, 2, 0, 10, 1);
	w->n[0]->on_parse = hold_put;
	for (int i = 0; i < 10; i++) {
		w_put(w, w_rail(w, 1, 0), LNET_MTU, W_LONG);
		w_put(w, w_rail(w, 2, 0), LNET_MTU, W_LONG);
	}
	W_UNTIL(w, fc_rx_in_state(w->n[0], FC_RX_HELD) == 2);
	w->n[0]->on_parse = NULL;
	struct fc_rx *rx = NULL;
	for (rx = w->n[0]->rxs; rx && rx->state != FC_RX_HELD; rx = rx->next)
		;
	assert_non_null(rx);
	fc_recv(rx);
	fc_pause(w->n[1]);
	w_fill(w, w_rail(w, 0, 1), 4000, 256, W_LONG, &sent);
	for (int i = 0; i < 20; i++)
		w_put(w, w_rail(w, 0, 3), 1000, W_LONG);
	uint64_t begin = tl_now();
	w_begin_stop(w, 0, rails_first);
	fc_discard_held(w->n[0]);
	W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
	assert_true(tl_now() - begin < tl_patience(3 * TL_S));
	fc_resume(w->n[1]);
	w_end_stop(w, 0);
	w->drv->silent(w, 3, false);
	/* and again from the start */
	w_start(w, 0);
	w_put_again(w, 0, 1, 1000);
	w_put_again(w, 2, 0, 1000);
}

static void stop_loaded(void **state)
{
	loaded(*state, false);
}

static void stop_loaded_rails_first(void **state)
{
	loaded(*state, true);
}

static void send_after_stop(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	struct fc_tx *tx = fc_put(r, w_id(w), 100, 1, W_LONG);
	fc_ni_stop(w->n[0]);
	assert_int_equal(fc_send(tx), -ESHUTDOWN);
	W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
	assert_int_equal(fc_send(tx), -ESHUTDOWN);
}

/* Messages that end by the stop say so, and whether they may have arrived. */
static void stop_status(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[40];
	unsigned n = 0, ended = 0;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	while (n < 40) {
		tx[n] = fc_put(r, w_id(w), 200000, 1, W_LONG);
		if (fc_send(tx[n]) < 0)
			break;
		n++;
	}
	w_turn_only(w, 0, 3);
	w_begin_stop(w, 0, false);
	W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
	for (unsigned i = 0; i < n; i++) {
		assert_true(tx[i]->done);
		assert_true(!tx[i]->status || tx[i]->status == -ESHUTDOWN);
		ended += tx[i]->status != 0;
	}
	assert_true(ended > 0);
	fc_resume(w->n[1]);
	tl_run_for(&w->pump, 20 * TL_MS);
	for (unsigned i = 0; i < n; i++)
		if (tx[i]->status && !tx[i]->sent)
			assert_int_equal(fc_seen(w->n[1], tx[i]->id << 2 | LNET_MSG_PUT), 0);
}

/* An upcall may call every entry: close the rail, the NI, cancel others, send more. */
static void from_tx_done(struct fc_node *n, struct fc_tx *tx)
{
	struct fc_tx *victim = n->user;

	if (tx->id % 3 == 0 && victim && victim != tx && victim->accepted && !victim->done) {
		n->user = NULL;
		fc_cancel_here(victim);
	}
	if (tx->id % 16 == 7 && !tx->rail->closing && !n->ni.stopping)
		fc_rail_close(tx->rail);
}

static void entries_in_upcalls(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(30, 10);

	w_pair(w);
	for (unsigned k = 0; k < rounds; k++) {
		struct fc_rail *r = w_rail(w, 0, 1);
		struct fc_tx *tx = NULL;
		for (int i = 0; i < 8; i++) {
			tx = fc_put(r, w_id(w), prng_below(&w->rnd, 100000), 2, W_LONG);
			int rc = fc_send(tx);
			if (rc < 0) {
				fc_tx_free(tx);
				break;
			}
		}
		w->n[0]->user = tx;
		w->n[0]->on_tx_done = from_tx_done;
		W_UNTIL(w, w_idle(w));
		w->n[0]->on_tx_done = NULL;
		w->n[0]->user = NULL;
		w_put_again(w, 0, 1, 100);
	}
}

static void ni_stop_in_upcall(struct fc_node *n, struct fc_tx *tx)
{
	(void)tx;
	if (!n->ni.stopping)
		fc_ni_stop(n);
}

static void stop_inside_upcall(void **state)
{
	struct world *w = *state;

	for (int k = 0; k < 5; k++) {
		w_pair(w);
		w->n[0]->on_tx_done = ni_stop_in_upcall;
		for (int i = 0; i < 10; i++) {
			struct fc_tx *tx = fc_put(w_rail(w, 0, 1), w_id(w), 3000, 1, W_LONG);
			if (fc_send(tx) < 0)
				break;
		}
		W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
		w_stop(w, 0);
		w_stop(w, 1);
	}
}

const struct cf_case cf_stop[] = {
        {"stop_each_state", stop_each_state, 0, 0},
        {"close_rail_each_state", close_rail_each_state, 0, 0},
        {"stop_loaded", stop_loaded, 0, 0},
        {"stop_loaded_rails_first", stop_loaded_rails_first, 0, 0},
        {"send_after_stop", send_after_stop, 0, 0},
        {"stop_status", stop_status, 0, 0},
        {"entries_in_upcalls", entries_in_upcalls, 0, 0},
        {"stop_inside_upcall", stop_inside_upcall, 0, 0},
};
const unsigned cf_stop_count = sizeof(cf_stop) / sizeof(*cf_stop);
