/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues that are full, messages that are cancelled or late, peers that do not read, fences. */
#include "conformance/world.h"

#define MANY 200000u

/* ---- exhausted queue ------------------------------------------------------------------------ */

static void full(struct world *w, uint32_t len)
{
	unsigned sent, total = 0, readies;
	struct fc_tx *tx;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	/* until the peer's buffers, too, take no more */
	for (int i = 0;; i++) {
		assert_true(i < 100);
		assert_true(w_fill(w, r, len, MANY, W_LONG, &sent)); /* every queue is bounded */
		total += sent;
		readies = atomic_load(&r->readies);
		w_turn_only(w, 0, 20);
		tl_sleep(TL_MS);
		w_turn_only(w, 0, 20);
		if (atomic_load(&r->readies) == readies)
			break;
	}
	assert_true(total > 0);
	/* -EAGAIN once more is no second promise */
	assert_true(w_fill(w, r, len, MANY, W_LONG, &sent));
	total += sent;
	tx = fc_put(r, w_id(w), len, 1, W_LONG);
	assert_int_equal(fc_send(tx), -EAGAIN);
	fc_resume(w->n[1]);
	W_UNTIL(w, atomic_load(&r->readies) == readies + 1);
	assert_true(fc_send(tx) >= 0);
	W_UNTIL(w, w_idle(w) && atomic_load(&w->n[1]->rx_ok) == total + 2);
	assert_int_equal(tx->status, 0);
	tl_run_for(&w->pump, 10 * TL_MS);
	assert_int_equal(atomic_load(&r->readies), readies + 1);
	w_no_faults(w);
}

static void full_small(void **state)
{
	full(*state, 64);
}

static void full_large(void **state)
{
	full(*state, 100000);
}

/* No connection yet: that queue is bounded too. */
static void full_connecting(void **state)
{
	struct world *w = *state;
	unsigned sent;

	w_start(w, 0);
	w->drv->silent(w, 1, true);
	struct fc_rail *r = w_rail(w, 0, 1);
	assert_true(w_fill(w, r, 2000, MANY, W_LONG, &sent));
	assert_true(sent > 0);
	w->drv->silent(w, 1, false);
}

/* ---- cancel --------------------------------------------------------------------------------- */

static void cancel_queued(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx;
	int cancelled;

	w_start(w, 0);
	w->drv->silent(w, 1, true);
	struct fc_rail *r = w_rail(w, 0, 1);
	tx = fc_put(r, w_id(w), 5000, 2, W_LONG);
	assert_int_equal(fc_send_cancel(tx, &cancelled), 0);
	assert_int_equal(cancelled, 1);
	for (int i = 0; i < 5; i++) {
		tx = fc_put(r, w_id(w), 5000, 2, W_LONG);
		assert_int_equal(fc_send(tx), 0);
		tl_run_for(&w->pump, 5 * TL_MS);
		assert_int_equal(fc_cancel(tx), 1);
	}
	tl_run_for(&w->pump, 20 * TL_MS);
	assert_true(w_idle(w));
	w->drv->silent(w, 1, false);
}

static void cancel_connected(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(200, 50), ended = 0;
	int cancelled;

	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	for (unsigned i = 0; i < total; i++) {
		uint64_t id = w_id(w);
		struct fc_tx *tx = fc_put(r, id, prng_below(&w->rnd, 60000), 3, W_LONG);
		int rc = fc_send_cancel(tx, &cancelled);
		if (rc == -EAGAIN) {
			W_UNTIL(w, w_idle(w));
			continue;
		}
		assert_true(rc >= 0);
		if (rc == 0 && cancelled == 1)
			ended++;
		if (prng_below(&w->rnd, 2))
			w_turn_only(w, 0, 1);
	}
	assert_true(ended > 0);
	W_UNTIL(w, w_idle(w));
	w_put_ok(w, 0, 1, 1000, 1);
}

static struct fc_tx *oldest_open(struct fc_tx **tx, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!tx[i]->over)
			return tx[i];
	return NULL;
}

/* A peer that does not read: the first open message may be partly written. It ends within a turn of
 * our loop, its memory is free at once, and the peer sees a whole message or a dead connection. */
static void cancel_written(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[12], *victim;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	for (int i = 0; i < 12; i++) {
		tx[i] = fc_put(r, w_id(w), LNET_MTU, 3, W_LONG);
		assert_true(fc_send(tx[i]) >= 0);
	}
	w_turn_only(w, 0, 10);
	victim = oldest_open(tx, 12);
	assert_non_null(victim);
	int rc = fc_cancel(victim);
	assert_true(rc == 0 || rc == 1);
	w_turn_only(w, 0, 2);
	assert_true(victim->over);
	/* one in the middle was not started */
	if (!tx[10]->over)
		assert_true(fc_cancel(tx[10]) >= 0);
	fc_resume(w->n[1]);
	W_UNTIL(w, w_idle(w));
	w_no_faults(w);
	w_put_ok(w, 0, 1, 50000, 1);
}

/* ---- deadlines ------------------------------------------------------------------------------ */

static void late_tx(struct world *w, struct fc_tx *tx, uint64_t begin, uint64_t limit)
{
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, -ETIMEDOUT);
	assert_true(tx->hs != LNET_HS_OK);
	assert_true(tx->done_at >= begin + limit);
	assert_true(tx->done_at < begin + limit + tl_patience(3 * TL_S));
}

static void deadline_connecting(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[4];
	uint64_t begin;

	w_start(w, 0);
	w->drv->silent(w, 1, true);
	struct fc_rail *r = w_rail(w, 0, 1);
	begin = tl_now();
	for (int i = 0; i < 4; i++) {
		tx[i] = fc_put(r, w_id(w), 1000, 1, (uint64_t)(i + 1) * 60 * TL_MS);
		assert_int_equal(fc_send(tx[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		late_tx(w, tx[i], begin, (uint64_t)(i + 1) * 60 * TL_MS);
		assert_false(tx[i]->sent);
	}
	w->drv->silent(w, 1, false);
	w_start(w, 1);
	w_put_ok(w, 0, 1, 1000, 1);
}

/* The peer does not read; a small deadline among large ones. */
static void deadline_queued(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[12], *late;
	uint64_t begin;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	for (int i = 0; i < 12; i++) {
		tx[i] = fc_put(r, w_id(w), LNET_MTU, 1, W_LONG);
		assert_true(fc_send(tx[i]) >= 0);
	}
	begin = tl_now();
	late = fc_put(r, w_id(w), LNET_MTU, 1, 80 * TL_MS);
	assert_true(fc_send(late) >= 0);
	late_tx(w, late, begin, 80 * TL_MS);
	assert_false(late->sent);
	fc_resume(w->n[1]);
	W_UNTIL(w, w_idle(w));
	for (int i = 0; i < 12; i++)
		assert_int_equal(tx[i]->status, 0);
	assert_int_equal(fc_seen(w->n[1], late->id << 2 | LNET_MSG_PUT), 0);
}

/* All of them late, the partly written one too: it may have arrived. */
static void deadline_written(void **state)
{
	struct world *w = *state;
	struct fc_tx *tx[12];
	unsigned late = 0;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	for (int i = 0; i < 12; i++) {
		tx[i] = fc_put(r, w_id(w), LNET_MTU, 2, 100 * TL_MS);
		assert_true(fc_send(tx[i]) >= 0);
	}
	W_UNTIL(w, w_idle(w));
	fc_resume(w->n[1]);
	for (int i = 0; i < 12; i++)
		late += tx[i]->status == -ETIMEDOUT;
	assert_true(late > 0);
	w_put_ok(w, 0, 1, 30000, 1);
	/* not sent means not delivered */
	for (int i = 0; i < 12; i++)
		if (tx[i]->status && !tx[i]->sent)
			assert_int_equal(fc_seen(w->n[1], tx[i]->id << 2 | LNET_MSG_PUT), 0);
}

/* ---- a slow peer ---------------------------------------------------------------------------- */

static void slow_peer(void **state)
{
	struct world *w = *state;
	unsigned sent;

	w_small_buffers(w);
	w_pair(w);
	w_start(w, 2);
	fc_pause(w->n[1]);
	w_fill(w, w_rail(w, 0, 1), 50000, MANY, W_LONG, &sent);
	for (int i = 0; i < 20; i++) {
		w_put_ok(w, 0, 2, 20000, 2);
		w_get_ok(w, 2, 0, 20000, 2);
	}
	fc_resume(w->n[1]);
	W_UNTIL(w, w_idle(w));
	assert_int_equal(atomic_load(&w->n[0]->tx_failed), 0);
}

/* ---- fences --------------------------------------------------------------------------------- */

static void fence_idle(void **state)
{
	struct world *w = *state;
	struct fc_fence f;

	w_start(w, 0);
	w_start(w, 1);
	assert_true(fc_fence(w_rail(w, 0, 1), &f, W_LONG) >= 0);
	W_UNTIL(w, f.done);
	w_put_ok(w, 0, 1, 10, 1);
	W_UNTIL(w, w_idle(w));
	assert_true(fc_fence(w_rail(w, 0, 1), &f, W_LONG) >= 0);
	W_UNTIL(w, f.done);
}

/* What was accepted before the fence has ended when it is done, on both sides. */
static void fence_busy(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(20, 5);

	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1), *back = fc_rail_find(w->n[1], &w->nid[0]);
	for (unsigned k = 0; k < rounds; k++) {
		struct fc_fence f, g;
		struct fc_tx *tx[4];
		for (int i = 0; i < 4; i++)
			tx[i] = w_put(w, r, prng_below(&w->rnd, LNET_MTU), W_LONG);
		w_turn_only(w, 1, prng_below(&w->rnd, 4));
		fc_fence(back, &g, W_LONG);
		unsigned active = fc_rx_in_state(w->n[1], FC_RX_ACTIVE);
		if (g.done)
			assert_int_equal(active, 0);
		fc_fence(r, &f, W_LONG);
		W_UNTIL(w, f.done && g.done);
		for (int i = 0; i < 4; i++)
			assert_true(tx[i]->done);
	}
	W_UNTIL(w, w_idle(w));
	w_put_ok(w, 0, 1, 10, 1);
}

/* The peer does not read: the fence's deadline cuts off what is left. */
static void fence_deadline(void **state)
{
	struct world *w = *state;
	struct fc_fence f;
	struct fc_tx *tx[8];

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *r = w_rail(w, 0, 1);
	fc_pause(w->n[1]);
	for (int i = 0; i < 8; i++) {
		tx[i] = fc_put(r, w_id(w), LNET_MTU, 2, W_LONG);
		assert_true(fc_send(tx[i]) >= 0);
	}
	assert_int_equal(fc_fence(r, &f, 100 * TL_MS), 0);
	W_UNTIL(w, f.done);
	for (int i = 0; i < 8; i++)
		assert_true(tx[i]->done);
	fc_resume(w->n[1]);
	w_put_ok(w, 0, 1, 30000, 1);
}

/* A receive that does not go on because its sender stopped: the fence ends it, and no byte comes to
 * its memory when the sender wakes up. (The memory is watched by the fake core.) */
static void fence_receive(void **state)
{
	struct world *w = *state;
	struct fc_fence f;

	w_small_buffers(w);
	w_pair(w);
	struct fc_rail *back = fc_rail_find(w->n[1], &w->nid[0]);
	struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), LNET_MTU, W_LONG);
	W_UNTIL(w, fc_rx_find(w->n[1], tx->id));
	struct fc_rx *rx = fc_rx_find(w->n[1], tx->id);
	fc_pause(w->n[0]);
	w_turn_only(w, 1, 50);
	bool was_open = rx->state == FC_RX_ACTIVE;
	assert_true(fc_fence(back, &f, 80 * TL_MS) >= 0);
	W_UNTIL(w, f.done);
	if (was_open && rx->mem) {
		uint8_t *copy = malloc(rx->mem->size);
		memcpy(copy, rx->mem->arena, rx->mem->size);
		fc_resume(w->n[0]);
		tl_run_for(&w->pump, 50 * TL_MS);
		if (rx->mem)
			assert_memory_equal(copy, rx->mem->arena, rx->mem->size);
		free(copy);
	} else {
		fc_resume(w->n[0]);
	}
	W_UNTIL(w, w_idle(w));
	w_put_ok(w, 0, 1, 100, 1);
}

const struct cf_case cf_send[] = {
        {"full_small", full_small, 0, 0},
        {"full_large", full_large, 0, 0},
        {"full_connecting", full_connecting, 0, 0},
        {"cancel_queued", cancel_queued, 0, 0},
        {"cancel_connected", cancel_connected, 0, 0},
        {"cancel_written", cancel_written, 0, 0},
        {"deadline_connecting", deadline_connecting, 0, 0},
        {"deadline_queued", deadline_queued, 0, 0},
        {"deadline_written", deadline_written, 0, 0},
        {"slow_peer", slow_peer, 0, 0},
        {"fence_idle", fence_idle, 0, 0},
        {"fence_busy", fence_busy, 0, 0},
        {"fence_deadline", fence_deadline, 0, 0},
        {"fence_receive", fence_receive, 0, 0},
};
const unsigned cf_send_count = sizeof(cf_send) / sizeof(*cf_send);
