/* SPDX-License-Identifier: BSD-2-Clause */
#include "conformance/world.h"

#include <unistd.h>

static int turn(void *arg)
{
	struct world *w = arg;
	int events = 0;

	if (w->threads)
		return 0;
	for (unsigned i = 0; i < W_NODES; i++)
		if (w->n[i] && !w->n[i]->paused)
			events += fc_node_turn(w->n[i]);
	return events;
}

int w_setup(void **state)
{
	const struct cf_driver *drv = *state;
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->fds = tl_count_fds();
	w->drv = drv;
	w->pump = (struct tl_pump){turn, w};
	w->nloops = 1;
	w->seed = tl_seed();
	w->rnd.s = w->seed;
	w->next_incarnation = tl_now();
	atomic_init(&w->next_id, 1);
	for (unsigned i = 0; i < W_NODES; i++)
		w->silent_fd[i] = -1, w->conns[i] = 1;
	if (drv->begin(w)) {
		free(w);
		return -1;
	}
	for (unsigned i = 0; i < W_NODES; i++)
		w->nid[i] = drv->nid(w, i);
	*state = w;
	return 0;
}

int w_teardown(void **state)
{
	struct world *w = *state;
	int rc = 0;

	for (unsigned i = 0; i < W_NODES; i++)
		if (w->n[i] && w->n[i]->paused)
			fc_resume(w->n[i]);
	for (unsigned i = 0; i < W_NODES; i++)
		if (w->n[i])
			w_begin_stop(w, i, true);
	for (unsigned i = 0; i < W_NODES; i++)
		if (w->n[i])
			w_end_stop(w, i);
	for (unsigned i = 0; i < w->ndead; i++)
		fc_node_free(w->dead[i]);
	w->drv->end(w);
	unsigned now = tl_count_fds();
	if (now != w->fds) {
		print_error("descriptors: %u before the case, %u after it\n", w->fds, now);
		rc = -1;
	}
	free(w);
	return rc;
}

int w_try_start(struct world *w, unsigned i)
{
	struct fc_tun tun[16];
	struct fc_conf c = {
	        .lnd = w->drv->lnd,
	        .drv = w->drv->drv(w),
	        .nloops = w->nloops,
	        .threads = w->threads,
	        .incarnation = ++w->next_incarnation,
	        .seed = prng_next(&w->rnd),
	};
	static const char *const names[W_NODES] = {"A", "B", "C", "D"};
	unsigned ntun = w->drv->tunables(w, i, tun, 8);
	int rc;

	for (unsigned k = 0; k < w->nextra; k++)
		tun[ntun++] = w->extra[k];
	rc = fc_node_new(&c, &w->n[i]);
	if (rc)
		return rc;
	w->n[i]->name = names[i];
	rc = fc_ni_start(w->n[i], &w->nid[i], tun, ntun);
	if (rc) {
		fc_node_free(w->n[i]);
		w->n[i] = NULL;
	}
	return rc;
}

struct fc_node *w_start(struct world *w, unsigned i)
{
	int rc = w_try_start(w, i);

	if (rc)
		fail_msg("node %u does not start: %d", i, rc);
	return w->n[i];
}

static struct fc_rail *next_open(struct fc_node *n)
{
	struct fc_rail *r;

	pthread_mutex_lock(&n->lock);
	for (r = n->rails; r && r->closing; r = r->next)
		;
	pthread_mutex_unlock(&n->lock);
	return r;
}

static void close_rails(struct fc_node *n)
{
	struct fc_rail *r;

	while ((r = next_open(n)))
		fc_rail_close(r);
}

static bool rails_closed(struct fc_node *n)
{
	bool all = true;

	pthread_mutex_lock(&n->lock);
	for (struct fc_rail *r = n->rails; r; r = r->next)
		all = all && r->closed;
	pthread_mutex_unlock(&n->lock);
	return all;
}

void w_begin_stop(struct world *w, unsigned i, bool rails_first)
{
	struct fc_node *n = w->n[i];

	if (rails_first && n->ni.started)
		close_rails(n);
	if (n->ni.started && !n->ni.stopping)
		fc_ni_stop(n);
}

/* The core decides about what it still holds; a driver waits for that. */
static bool ended(struct fc_node *n)
{
	if (!atomic_load(&n->ni.stopped))
		return false;
	close_rails(n);
	return rails_closed(n);
}

void w_end_stop(struct world *w, unsigned i)
{
	struct fc_node *n = w->n[i];
	const char *text;

	if (n->ni.started) {
		if (!w->threads)
			fc_discard_held(n);
		W_UNTIL(w, ended(n));
	}
	w->n[i] = NULL;
	fc_check_over(n);
	unsigned faults = fc_faults(n, &text);
	char copy[sizeof(n->fault)];
	snprintf(copy, sizeof(copy), "%s", text);
	fc_node_end(n);
	if (w->threads && w->ndead < sizeof(w->dead) / sizeof(*w->dead))
		w->dead[w->ndead++] = n;
	else
		fc_node_free(n);
	if (faults)
		fail_msg("%u faults; the first: %s", faults, copy);
}

void w_stop(struct world *w, unsigned i)
{
	w_begin_stop(w, i, false);
	w_end_stop(w, i);
}

struct fc_rail *w_rail(struct world *w, unsigned from, unsigned to)
{
	int rc;
	struct fc_rail *r = fc_rail(w->n[from], &w->nid[to], 0, &rc);

	if (!r)
		fail_msg("rail_open(): %d", rc);
	return r;
}

uint64_t w_id(struct world *w)
{
	return atomic_fetch_add(&w->next_id, 1);
}

uint32_t w_caps(const struct world *w)
{
	return w->drv->lnd->caps;
}

void w_no_faults(struct world *w)
{
	const char *text;

	for (unsigned i = 0; i < W_NODES; i++)
		if (w->n[i] && fc_faults(w->n[i], &text))
			fail_msg("%s", text);
}

void w_dump(struct world *w)
{
	for (unsigned i = 0; i < W_NODES; i++) {
		if (!w->n[i])
			continue;
		print_error("node %s: last log: %s\n", w->n[i]->name, w->n[i]->last_log);
		for (struct fc_rail *r = w->n[i]->rails; r; r = r->next) {
			if (r->closed)
				continue;
			char *text = fc_dump(r, NULL);
			print_error("%s", text);
			free(text);
		}
	}
}

struct try_send {
	struct fc_tx *tx;
	int rc;
};

static bool try_send(void *arg)
{
	struct try_send *t = arg;

	t->rc = fc_send(t->tx);
	return t->rc != -EHOSTUNREACH && t->rc != -EAGAIN;
}

int w_send(struct world *w, struct fc_tx *tx)
{
	struct try_send t = {tx, 0};

	assert_non_null(tx);
	if (!tl_wait(&w->pump, try_send, &t, 10 * TL_S))
		return t.rc;
	return t.rc;
}

static bool arrived(struct fc_node *n, uint64_t id)
{
	struct fc_rx *rx = fc_rx_find(n, id);

	return rx && rx->h.type == LNET_MSG_PUT && rx->state == FC_RX_OVER;
}

void w_put_ok(struct world *w, unsigned from, unsigned to, uint32_t len, uint32_t pieces)
{
	uint64_t id = w_id(w);
	struct fc_tx *tx = fc_put(w_rail(w, from, to), id, len, pieces, W_LONG);

	assert_true(w_send(w, tx) >= 0);
	W_UNTIL(w, tx->over && (tx->status || arrived(w->n[to], id)));
	assert_int_equal(tx->status, 0);
	assert_int_equal(fc_seen(w->n[to], id << 2 | LNET_MSG_PUT), 1);
	w_no_faults(w);
	fc_tx_free(tx);
}

void w_put_again(struct world *w, unsigned from, unsigned to, uint32_t len)
{
	for (int i = 0; i < 20; i++) {
		uint64_t key;
		struct fc_tx *tx = fc_put(w_rail(w, from, to), w_id(w), len, 2, W_LONG);
		assert_true(w_send(w, tx) >= 0);
		W_UNTIL(w, tx->over);
		key = tx->id << 2 | LNET_MSG_PUT;
		if (!tx->status && TL_UNTIL(&w->pump, fc_seen(w->n[to], key), 100 * TL_MS)) {
			W_UNTIL(w, w_idle(w));
			w_no_faults(w);
			return;
		}
	}
	w_dump(w);
	fail_msg("20 messages after a connection broke, and none arrived");
}

void w_get_ok(struct world *w, unsigned from, unsigned to, uint32_t len, uint32_t pieces)
{
	uint64_t id = w_id(w);
	struct fc_tx *tx = fc_get(w_rail(w, from, to), id, len, pieces, W_LONG);

	assert_true(w_send(w, tx) >= 0);
	W_UNTIL(w, tx->over);
	assert_int_equal(tx->status, 0);
	assert_true(tx->answered);
	assert_int_equal(tx->get_status, 0);
	assert_int_equal(tx->get_nob, len);
	assert_int_equal(fc_seen(w->n[to], id << 2 | LNET_MSG_GET), 1);
	w_no_faults(w);
	fc_tx_free(tx);
}

void w_pair(struct world *w)
{
	w_start(w, 0);
	w_start(w, 1);
	w_put_ok(w, 0, 1, 100, 1);
}

void w_small_buffers(struct world *w)
{
	if (!(w->drv->has & CF_SOCKETS))
		return;
	w->extra[w->nextra++] = (struct fc_tun){"tx_buffer_size", 65536};
	w->extra[w->nextra++] = (struct fc_tun){"rx_buffer_size", 65536};
}

void w_turn_only(struct world *w, unsigned i, unsigned turns)
{
	while (turns--)
		fc_node_turn(w->n[i]);
}

bool w_idle(struct world *w)
{
	for (unsigned i = 0; i < W_NODES; i++) {
		struct fc_node *n = w->n[i];
		if (!n)
			continue;
		if (atomic_load(&n->tx_accepted) != atomic_load(&n->tx_done) ||
		        atomic_load(&n->rx_async) != atomic_load(&n->rx_done) ||
		        atomic_load(&n->fences) != atomic_load(&n->fences_done))
			return false;
	}
	return true;
}

struct fc_tx *w_put(struct world *w, struct fc_rail *r, uint32_t len, uint64_t deadline_ns)
{
	struct fc_tx *tx = fc_put(r, w_id(w), len, 1 + prng_below(&w->rnd, 4), deadline_ns);

	assert_non_null(tx);
	int rc = w_send(w, tx);
	if (rc < 0)
		fail_msg("send(): %d", rc);
	return tx;
}

bool w_fill(struct world *w, struct fc_rail *r, uint32_t len, unsigned max, uint64_t deadline_ns,
        unsigned *sent)
{
	for (*sent = 0; *sent < max; ++*sent) {
		struct fc_tx *tx = fc_put(r, w_id(w), len, 1, deadline_ns);
		assert_non_null(tx);
		tx->freed_when_over = true;
		int rc = fc_send(tx);
		if (rc >= 0)
			continue;
		fc_tx_free(tx);
		assert_int_equal(rc, -EAGAIN);
		return true;
	}
	return false;
}
