/* SPDX-License-Identifier: BSD-2-Clause */
/* Shapes of drivers for RDMA: registered memory, receives that end later, GETs that carry their
 * sink. */
#include "conformance/world.h"

#define OPT   LNET_LND_OPT_GET
#define ASYNC LNET_LND_ASYNC_RECV
#define REG   LNET_LND_REG
#define BIG   200000u /* above every threshold */

/* ---- registration --------------------------------------------------------------------------- */

static void mem_handles(void **state)
{
	struct world *w = *state;
	struct fc_node *n = w_start(w, 0);
	const struct lnet_lnd *l = w->drv->lnd;
	char buf[100];
	struct iovec iov = {buf, sizeof(buf)};
	struct lnet_mr *mr = NULL;

	assert_int_equal(l->mem_reg(&n->d, &iov, 1, LNET_MD_OP_PUT | LNET_MD_OP_GET, &mr), 0);
	assert_non_null(mr);
	l->mem_dereg(&n->d, mr);
	mr = NULL;
	assert_true(l->mem_reg(&n->d, &iov, 0, LNET_MD_OP_PUT, &mr) < 0);
	assert_true(l->mem_reg(&n->d, &iov, LNET_MAX_IOV + 1, LNET_MD_OP_PUT, &mr) < 0);
	assert_true(l->mem_reg(&n->d, &iov, 1, 0x1000, &mr) < 0);
	assert_null(mr);
}

static void mem_send(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = fc_put(w_rail(w, 0, 1), w_id(w), BIG, 3, W_LONG);
	struct lnet_mr *mr = tx->d.mr;
	tx->d.mr = NULL;
	int rc = fc_send(tx);
	assert_true(rc < 0 && rc != -EAGAIN);
	/* a handle of other memory */
	struct fc_mem *other = fc_mem_new(w->n[0], BIG, 3, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	tx->d.mr = other->mr;
	rc = fc_send(tx);
	assert_true(rc < 0 && rc != -EAGAIN);
	tx->d.mr = mr;
	assert_true(fc_send(tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, 0);
	fc_mem_free(other);
}

static void mem_sink(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = fc_get(w_rail(w, 0, 1), w_id(w), BIG, 3, W_LONG);
	struct lnet_mr *mr = tx->d.sink_mr, *weak;
	tx->d.sink_mr = NULL;
	assert_true(fc_send(tx) < 0);
	/* the right to be read is not the right to be written */
	assert_int_equal(w->drv->lnd->mem_reg(
	                         &w->n[0]->d, tx->mem->iov, tx->mem->niov, LNET_MD_OP_GET, &weak),
	        0);
	tx->d.sink_mr = weak;
	assert_true(fc_send(tx) < 0);
	tx->d.sink_mr = mr;
	assert_true(fc_send(tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->get_status, 0);
	w->drv->lnd->mem_dereg(&w->n[0]->d, weak);
}

static enum fc_act hold_put(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_PUT ? FC_HOLD : FC_ANSWER;
}

static void mem_recv(void **state)
{
	struct world *w = *state;

	w_pair(w);
	w->n[1]->on_parse = hold_put;
	struct fc_tx *tx = w_put(w, w_rail(w, 0, 1), BIG, W_LONG);
	W_UNTIL(w, fc_rx_in_state(w->n[1], FC_RX_HELD) == 1);
	struct fc_rx *rx = fc_rx_find(w->n[1], tx->id);
	rx->mem = fc_mem_new(w->n[1], rx->mlen, 2, LNET_MD_OP_PUT);
	struct lnet_mr *mr = rx->mem->mr;
	rx->mem->mr = NULL;
	assert_true(fc_recv(rx) < 0);
	struct lnet_mr *weak;
	assert_int_equal(
	        w->drv->lnd->mem_reg(&w->n[1]->d, rx->mem->iov, 2, LNET_MD_OP_GET, &weak), 0);
	rx->mem->mr = weak;
	assert_true(fc_recv(rx) < 0);
	w->drv->lnd->mem_dereg(&w->n[1]->d, weak);
	/* it was as before each time */
	rx->mem->mr = mr;
	assert_true(fc_recv(rx) >= 0);
	W_UNTIL(w, tx->over && rx->state == FC_RX_OVER);
	assert_int_equal(rx->status, 0);
}

/* ---- receives that end later, and may be refused -------------------------------------------- */

static void recv_refused(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(200, 80);

	w_pair(w);
	for (unsigned i = 0; i < total; i++)
		w_put(w, w_rail(w, 0, 1), BIG, W_LONG);
	W_UNTIL(w, w_idle(w) && atomic_load(&w->n[1]->rx_parsed) == total + 1);
	/* what was refused was discarded, and the rest arrived whole */
	assert_true(atomic_load(&w->n[1]->rx_nomem) > 0);
	assert_int_equal(atomic_load(&w->n[0]->tx_failed), 0);
	w_put_ok(w, 0, 1, 5000, 1);
}

/* ---- optimised GET -------------------------------------------------------------------------- */

static void get_completes(void **state)
{
	struct world *w = *state;

	w_pair(w);
	unsigned before = atomic_load(&w->n[0]->rx_parsed);
	w_get_ok(w, 0, 1, BIG, 7);
	/* no REPLY message came */
	assert_int_equal(atomic_load(&w->n[0]->gets_done), 1);
	assert_int_equal(atomic_load(&w->n[0]->rx_parsed), before);
	/* a small one is an ordinary GET: the answer fits into a message */
	w_get_ok(w, 0, 1, 8, 1);
	assert_int_equal(atomic_load(&w->n[0]->gets_done), 1);
	assert_int_equal(atomic_load(&w->n[0]->rx_parsed), before + 1);
}

static void get_shorter(void **state)
{
	struct world *w = *state;

	w_pair(w);
	w->n[1]->answer_max = 777;
	struct fc_tx *tx = fc_get(w_rail(w, 0, 1), w_id(w), BIG, 7, W_LONG);
	assert_true(w_send(w, tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->get_status, 0);
	assert_int_equal(tx->get_nob, 777);
}

static enum fc_act no_match(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_GET ? FC_DISCARD : FC_RECV;
}

static void get_no_match(void **state)
{
	struct world *w = *state;

	w_pair(w);
	w->n[1]->on_parse = no_match;
	struct fc_tx *tx = fc_get(w_rail(w, 0, 1), w_id(w), BIG, 1, W_LONG);
	assert_true(w_send(w, tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_true(tx->got);
	assert_true(tx->get_status < 0);
	w->n[1]->on_parse = NULL;
	w_get_ok(w, 0, 1, BIG, 1);
}

static enum fc_act hold_get(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	return rx->h.type == LNET_MSG_GET ? FC_HOLD : FC_RECV;
}

/* The target takes its time; GETs do not stop what is behind them. */
static struct fc_tx *get_held(struct world *w, uint64_t deadline_ns)
{
	w->n[1]->on_parse = hold_get;
	struct fc_tx *tx = fc_get(w_rail(w, 0, 1), w_id(w), BIG, 4, deadline_ns);
	assert_true(w_send(w, tx) >= 0);
	W_UNTIL(w, fc_rx_in_state(w->n[1], FC_RX_HELD) == 1);
	w->n[1]->on_parse = NULL;
	w_put_ok(w, 0, 1, 100, 1);
	return tx;
}

static int call_answer(void *arg)
{
	fc_answer(arg);
	return 0;
}

static void answer(struct world *w, struct fc_tx *tx)
{
	struct fc_rx *rx = fc_rx_find(w->n[1], tx->id);

	fc_do(rx->rail->d.loop, call_answer, rx);
}

static void get_late(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = get_held(w, 50 * TL_MS);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, -ETIMEDOUT);
	assert_true(tx->got && tx->get_status < 0);
	/* the sink is the caller's again: the answer finds nobody (the memory is watched) */
	answer(w, tx);
	W_UNTIL(w, w_idle(w));
	w_get_ok(w, 0, 1, BIG, 1);
}

static void get_cancel(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = get_held(w, W_LONG);
	assert_int_equal(fc_cancel(tx), 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, -ECANCELED);
	answer(w, tx);
	W_UNTIL(w, w_idle(w));
	w_get_ok(w, 0, 1, BIG, 1);
}

static void get_death(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = get_held(w, W_LONG);
	w->drv->cut(w, 1);
	W_UNTIL(w, tx->over);
	assert_true(tx->status < 0 && tx->sent);
	/* the target's rx lives until the core decides */
	assert_int_equal(fc_rx_in_state(w->n[1], FC_RX_HELD), 1);
	answer(w, tx);
	W_UNTIL(w, w_idle(w));
	w_put_again(w, 0, 1, 100);
	w_get_ok(w, 0, 1, BIG, 1);
}

static void get_stop(void **state)
{
	struct world *w = *state;

	w_pair(w);
	struct fc_tx *tx = get_held(w, W_LONG);
	w_begin_stop(w, 0, false);
	W_UNTIL(w, atomic_load(&w->n[0]->ni.stopped));
	assert_int_equal(tx->status, -ESHUTDOWN);
	w_end_stop(w, 0);
}

static void get_fence(void **state)
{
	struct world *w = *state;
	struct fc_fence f;

	w_pair(w);
	struct fc_tx *tx = get_held(w, W_LONG);
	assert_int_equal(fc_fence(w_rail(w, 0, 1), &f, 80 * TL_MS), 0);
	W_UNTIL(w, f.done);
	assert_true(tx->done);
	answer(w, tx);
	W_UNTIL(w, w_idle(w));
}

static void get_many(void **state)
{
	struct world *w = *state;
	unsigned total = tl_scaled(200, 50);
	struct fc_tx *tx;

	w_pair(w);
	for (unsigned i = 0; i < total; i++) {
		unsigned from = i & 1;
		tx = fc_get(w_rail(w, from, !from), w_id(w), prng_below(&w->rnd, 30000), 3, W_LONG);
		assert_true(w_send(w, tx) >= 0);
		tx->freed_when_over = !atomic_load(&tx->over);
	}
	W_UNTIL(w, w_idle(w));
	assert_int_equal(atomic_load(&w->n[0]->tx_failed) + atomic_load(&w->n[1]->tx_failed), 0);
	assert_true(atomic_load(&w->n[0]->gets_done) > 0);
}

const struct cf_case cf_rdma[] = {
        {"mem_handles", mem_handles, REG, 0},
        {"mem_send", mem_send, REG, 0},
        {"mem_sink", mem_sink, REG | OPT, 0},
        {"mem_recv", mem_recv, REG, 0},
        {"recv_refused", recv_refused, ASYNC, 0},
        {"get_completes", get_completes, OPT, 0},
        {"get_shorter", get_shorter, OPT, 0},
        {"get_no_match", get_no_match, OPT, 0},
        {"get_late", get_late, OPT, 0},
        {"get_cancel", get_cancel, OPT, 0},
        {"get_death", get_death, OPT, 0},
        {"get_stop", get_stop, OPT, 0},
        {"get_fence", get_fence, OPT, 0},
        {"get_many", get_many, OPT, 0},
};
const unsigned cf_rdma_count = sizeof(cf_rdma) / sizeof(*cf_rdma);
