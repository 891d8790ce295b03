/* SPDX-License-Identifier: BSD-2-Clause */
/* Random operations from a seed, and loops with threads. */
#include "conformance/world.h"

/* ---- one thread, everything at random ------------------------------------------------------- */

static enum fc_act any(struct fc_node *n, struct fc_rx *rx)
{
	uint32_t dice = prng_below(&n->rnd, 100);

	if (dice < 2 && rx->h.type == LNET_MSG_PUT)
		return FC_REFUSE;
	if (rx->h.type == LNET_MSG_REPLY)
		return rx->op ? FC_RECV : FC_DISCARD;
	if (dice < 10)
		return FC_DISCARD;
	if (dice < 20)
		return FC_HOLD;
	if (rx->h.type == LNET_MSG_GET)
		return FC_ANSWER;
	if (dice < 40)
		rx->mlen = prng_below(&n->rnd, rx->h.payload_length + 1);
	return FC_RECV;
}

static struct fc_rx *random_rx(struct world *w, struct fc_node *n, enum fc_rx_state s)
{
	struct fc_rx *found = NULL;
	unsigned k = 0;

	for (struct fc_rx *rx = n->rxs; rx; rx = rx->next)
		if (rx->state == s && !rx->redirected && !prng_below(&w->rnd, ++k))
			found = rx;
	return found;
}

static struct fc_tx *random_tx(struct world *w, struct fc_node *n)
{
	struct fc_tx *found = NULL;
	unsigned k = 0;

	for (struct fc_tx *tx = n->txs; tx; tx = tx->next)
		if (tx->accepted && !tx->done && !prng_below(&w->rnd, ++k))
			found = tx;
	return found;
}

static void some_message(struct world *w, unsigned from, unsigned to)
{
	struct fc_rail *r = w_rail(w, from, to);
	uint64_t wait = prng_below(&w->rnd, 8) ? W_LONG : prng_below(&w->rnd, 20) * TL_MS;
	uint32_t len = prng_below(&w->rnd, prng_below(&w->rnd, 4) ? 3000 : LNET_MTU);
	uint32_t pieces = 1 + prng_below(&w->rnd, prng_below(&w->rnd, 8) ? 6 : 256);
	struct fc_tx *tx;
	int rc, cancelled = -1;

	tx = prng_below(&w->rnd, 3) ? fc_put(r, w_id(w), len, pieces, wait)
	                            : fc_get(r, w_id(w), len, pieces, wait);
	assert_non_null(tx);
	if (tx->d.hdr.type == LNET_MSG_PUT && !prng_below(&w->rnd, 4))
		fc_want_ack(tx);
	tx->freed_when_over = true;
	if (prng_below(&w->rnd, 10)) {
		rc = fc_send(tx);
	} else {
		rc = fc_send_cancel(tx, &cancelled);
	}
	if (rc < 0)
		fc_tx_free(tx);
}

static void some_decision(struct world *w, struct fc_node *n)
{
	struct fc_rx *rx = random_rx(w, n, FC_RX_HELD);

	if (!rx || rx->rail->closing)
		return;
	if (!rx->d->want_reply && prng_below(&w->rnd, 2)) {
		if (fc_recv(rx) < 0)
			fc_discard(rx);
	} else {
		fc_discard(rx);
	}
}

static void some_event(struct world *w, unsigned i)
{
	struct fc_node *n = w->n[i];
	struct fc_rx *rx;
	struct fc_tx *tx;

	switch (prng_below(&w->rnd, 12)) {
	case 0:
		w->drv->cut(w, i);
		break;
	case 1: {
		struct fc_rail *r = w_rail(w, i, (i + 1) % 3);
		fc_rail_close(r);
		break;
	}
	case 2:
		w_begin_stop(w, i, prng_below(&w->rnd, 2));
		w_end_stop(w, i);
		w_start(w, i)->on_parse = any;
		break;
	case 3:
	case 4:
		if ((rx = random_rx(w, n, FC_RX_ACTIVE)))
			fc_redirect(rx);
		break;
	case 5:
		fc_pause(n);
		w_turn_only(w, (i + 1) % 3, 5);
		w_turn_only(w, (i + 2) % 3, 5);
		fc_resume(n);
		break;
	default:
		if ((tx = random_tx(w, n)))
			fc_cancel(tx);
		break;
	}
}

static void some_fence(struct world *w, unsigned i, struct fc_fence *f, bool *used)
{
	struct fc_rail *r = w_rail(w, i, (i + 1) % 3);

	if (*used && !atomic_load(&f->done))
		return;
	*used = true;
	fc_fence(r, f, prng_below(&w->rnd, 2) ? W_LONG : 5 * TL_MS);
}

static void random_ops(void **state)
{
	struct world *w = *state;
	struct fc_fence f[3];
	bool used[3] = {false, false, false};
	unsigned ops = 0;
	uint64_t end = tl_now() + (uint64_t)(4e9 * tl_scale());

	print_message("seed %llu\n", (unsigned long long)w->seed);
	w_small_buffers(w);
	for (unsigned i = 0; i < 3; i++)
		w_start(w, i)->on_parse = any;
	for (; ops < 500 || tl_now() < end; ops++) {
		unsigned i = prng_below(&w->rnd, 3), dice = prng_below(&w->rnd, 100);
		if (dice < 50)
			some_message(w, i, (i + 1 + prng_below(&w->rnd, 2)) % 3);
		else if (dice < 60)
			some_decision(w, w->n[i]);
		else if (dice < 62)
			some_event(w, i);
		else if (dice < 63)
			some_fence(w, i, &f[i], &used[i]);
		else
			tl_turn(&w->pump);
		if (ops % 64 == 0)
			for (unsigned k = 0; k < 3; k++)
				fc_forget_over(w->n[k]);
		w_no_faults(w);
	}
	for (unsigned i = 0; i < 3; i++)
		w->n[i]->on_parse = NULL;
	for (unsigned i = 0; i < 3; i++)
		fc_discard_held(w->n[i]);
	W_UNTIL(w, w_idle(w));
	assert_true(ops >= 500);
	w_put_again(w, 0, 1, 1000);
	w_put_again(w, 1, 2, 1000);
}

/* ---- threads -------------------------------------------------------------------------------- */

struct sender {
	pthread_t thread;
	struct world *w;
	unsigned from, to, count, max_len;
	struct fc_rail *rail;
	struct prng rnd;
	_Atomic bool *stop;
	unsigned sent, refused;
	int last;
};

struct one_put {
	struct sender *s;
	uint64_t id;
	uint32_t len;
};

static int call_put(void *arg)
{
	struct one_put *a = arg;
	struct fc_tx *tx = fc_put(a->s->rail, a->id, a->len, 2, W_LONG);

	if (!tx)
		return -ENOMEM;
	tx->freed_when_over = true;
	int rc = fc_send_here(tx);
	if (rc < 0)
		fc_tx_free(tx);
	return rc;
}

static void *send_thread(void *arg)
{
	struct sender *s = arg;

	while (s->sent < s->count && !atomic_load(s->stop)) {
		struct one_put a = {s, w_id(s->w), prng_below(&s->rnd, s->max_len)};
		s->last = fc_do(s->rail->d.loop, call_put, &a);
		if (s->last == -ESHUTDOWN)
			break;
		s->sent += s->last >= 0;
		s->refused += s->last < 0;
		if (s->last < 0)
			tl_sleep(100 * TL_US);
	}
	return NULL;
}

#define SENDERS 4

static void start_senders(
        struct world *w, struct sender *s, unsigned count, unsigned max_len, _Atomic bool *stop)
{
	for (unsigned i = 0; i < SENDERS; i++) {
		s[i] = (struct sender){.w = w,
		        .from = i & 1,
		        .to = !(i & 1),
		        .count = count,
		        .max_len = max_len,
		        .rail = w_rail(w, i & 1, !(i & 1)),
		        .rnd = {w->seed + i},
		        .stop = stop};
		assert_int_equal(pthread_create(&s[i].thread, NULL, send_thread, &s[i]), 0);
	}
}

static unsigned join_senders(struct sender *s)
{
	unsigned sent = 0;

	for (unsigned i = 0; i < SENDERS; i++) {
		pthread_join(s[i].thread, NULL);
		sent += s[i].sent;
	}
	return sent;
}

static void threads_traffic(void **state)
{
	struct world *w = *state;
	struct sender s[SENDERS];
	_Atomic bool stop = false;

	w->threads = true;
	w_start(w, 0);
	w_start(w, 1);
	start_senders(w, s, tl_scaled(1500, 200), 20000, &stop);
	unsigned sent = join_senders(s);
	W_UNTIL(w,
	        w_idle(w) && atomic_load(&w->n[0]->rx_ok) + atomic_load(&w->n[1]->rx_ok) == sent);
	assert_int_equal(atomic_load(&w->n[0]->tx_failed) + atomic_load(&w->n[1]->tx_failed), 0);
	w_no_faults(w);
}

static void threads_loops(void **state)
{
	struct world *w = *state;
	struct sender s[SENDERS];
	_Atomic bool stop = false;

	w->nloops = 3;
	w->threads = true;
	for (unsigned i = 0; i < W_NODES; i++)
		w_start(w, i);
	start_senders(w, s, tl_scaled(300, 60), 20000, &stop);
	unsigned sent = join_senders(s);
	W_UNTIL(w,
	        w_idle(w) && atomic_load(&w->n[0]->rx_ok) + atomic_load(&w->n[1]->rx_ok) == sent);
	w_no_faults(w);
}

/* The NI stops while other threads send: each message ends, the threads get -ESHUTDOWN. */
static void threads_stop(void **state)
{
	struct world *w = *state;
	unsigned rounds = tl_scaled(10, 3);
	struct sender s[SENDERS];

	w->threads = true;
	for (unsigned k = 0; k < rounds; k++) {
		_Atomic bool stop = false;
		w_start(w, 0);
		w_start(w, 1);
		start_senders(w, s, 1u << 30, 30000, &stop);
		tl_sleep((5 + prng_below(&w->rnd, 20)) * TL_MS);
		uint64_t begin = tl_now();
		fc_ni_stop(w->n[k & 1]);
		W_UNTIL(w, atomic_load(&w->n[k & 1]->ni.stopped));
		assert_true(tl_now() - begin < tl_patience(3 * TL_S));
		atomic_store(&stop, true);
		join_senders(s);
		w_begin_stop(w, 0, false);
		w_begin_stop(w, 1, false);
		w_end_stop(w, 0);
		w_end_stop(w, 1);
	}
}

static void threads_cut(void **state)
{
	struct world *w = *state;
	struct sender s[SENDERS];
	_Atomic bool stop = false;
	unsigned rounds = tl_scaled(50, 10);

	w->threads = true;
	w_start(w, 0);
	w_start(w, 1);
	start_senders(w, s, 1u << 30, 60000, &stop);
	for (unsigned k = 0; k < rounds; k++) {
		tl_sleep((1 + prng_below(&w->rnd, 10)) * TL_MS);
		w->drv->cut(w, k & 1);
	}
	atomic_store(&stop, true);
	assert_true(join_senders(s) > 0);
	W_UNTIL(w, w_idle(w));
	w_no_faults(w);
}

const struct cf_case cf_soak[] = {
        {"random_ops", random_ops, 0, 0},
        {"threads_traffic", threads_traffic, 0, 0},
        {"threads_loops", threads_loops, 0, 0},
        {"threads_stop", threads_stop, 0, 0},
        {"threads_cut", threads_cut, 0, 0},
};
const unsigned cf_soak_count = sizeof(cf_soak) / sizeof(*cf_soak);
