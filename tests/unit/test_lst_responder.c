/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder, asked by hand over tcp: what it refuses, what it forgets, and that damaged PUTs of
 * each kind are found and told with the offset, the owner expected and the owner found.
 */
#include "lst_fixture.h"

#define SIZE (1u << 20)

struct world {
	struct lnet *gen, *res;
	struct lst_responder *r;
	struct lnet_nid to;
	int port;
	uint8_t *buf, *before;
};

static int setup_conf(void **state, const struct lst_responder_conf *conf)
{
	const char *const ips[] = {IP_A, IP_B, IP_C};
	struct world *w = calloc(1, sizeof(*w));
	int port = tl_free_port(ips, 3);

	assert_non_null(w);
	assert_true(port > 0);
	w->gen = node_new(IP_A, port, 1);
	w->res = node_new(IP_B, port, 1);
	w->to = nid_of(IP_B);
	w->port = port;
	assert_int_equal(lst_responder_start(w->res, conf, &w->r), 0);
	w->buf = malloc(SIZE);
	w->before = malloc(SIZE);
	assert_true(w->buf && w->before);
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_conf(state, NULL);
}

static int setup_small(void **state)
{
	const struct lst_responder_conf c = {
	        .max_sessions = 3, .max_bytes = 100000, .max_each = 60000, .idle_ns = 300 * TL_MS};

	return setup_conf(state, &c);
}

static int teardown(void **state)
{
	struct world *w = *state;

	lst_responder_stop(w->r);
	node_free(w->gen);
	node_free(w->res);
	free(w->buf);
	free(w->before);
	free(w);
	return 0;
}

static struct lst_responder_stats stats(struct world *w)
{
	struct lst_responder_stats s;

	lst_responder_stats(w->r, &s);
	return s;
}

static uint32_t open_session(struct world *w, const struct lst_request *q)
{
	struct lst_reply r;

	ask(w->gen, w->to, q, &r);
	assert_int_equal(r.status, 0);
	return r.session;
}

static struct lst_reply ask_about(struct world *w, uint16_t kind, uint32_t session)
{
	struct lst_request q = request_of(kind, 1, 1);
	struct lst_reply r;

	q.session = session;
	ask(w->gen, w->to, &q, &r);
	return r;
}

/* ---- refusals
 * ------------------------------------------------------------------------------------ */

static void test_not_a_request(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 4096, 1);
	struct lst_reply r;
	uint8_t buf[4096];
	struct prng p = {9};
	unsigned n = 0;

	lst_request_encode(&q, buf);
	buf[0] ^= 1;
	assert_false(ask_raw(w->gen, w->to, buf, LST_REQUEST_SIZE, q.reply_bits, &r, 50 * TL_MS));
	n++;
	for (int i = 0; i < 100; i++, n++) {
		prng_fill(&p, buf, sizeof(buf));
		assert_int_equal(put_to(w->gen, w->to, LST_CONTROL_BITS, 0, buf,
		                         prng_below(&p, LST_REQUEST_SIZE + 1)),
		        0);
	}
	/* longer than any request: cut, and refused for its bytes */
	assert_int_equal(put_to(w->gen, w->to, LST_CONTROL_BITS, 0, buf, sizeof(buf)), 0);
	n++;
	q = request_of(LST_OPEN, 0, 1);
	lst_request_encode(&q, buf);
	assert_false(ask_raw(w->gen, w->to, buf, LST_REQUEST_SIZE, q.reply_bits, &r, 50 * TL_MS));
	n++;
	/* it still works; this also waits for the last refusal to be counted */
	q = request_of(LST_OPEN, 4096, 1);
	open_session(w, &q);
	assert_int_equal(stats(w).bad_requests, n);
	assert_int_equal(stats(w).sessions, 1);
	assert_int_equal(stats(w).opened, 1);
}

static void test_limits(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 60001, 1);
	struct lst_reply r;
	uint32_t id[3];

	ask(w->gen, w->to, &q, &r);
	assert_int_equal(r.status, -E2BIG);
	q.size = 60000;
	id[0] = open_session(w, &q);
	q.size = 40001;
	ask(w->gen, w->to, &q, &r);
	assert_int_equal(r.status, -EBUSY); /* all the memory */
	q.size = 1;
	id[1] = open_session(w, &q);
	id[2] = open_session(w, &q);
	assert_true(id[0] != id[1] && id[1] != id[2]);
	ask(w->gen, w->to, &q, &r);
	assert_int_equal(r.status, -EBUSY); /* all the sessions */
	assert_int_equal(stats(w).refused, 3);
	assert_int_equal(stats(w).opened, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ask_about(w, LST_CLOSE, id[i]).status, 0);
	assert_int_equal(ask_about(w, LST_CLOSE, id[0]).status, -ESRCH);
	/* all of it came back */
	q.size = 60000;
	open_session(w, &q);
	assert_int_equal(stats(w).sessions, 1);
}

static bool none_left(void *arg)
{
	return stats(arg).sessions == 0;
}

static void test_silent_session_ends(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 60000, 1);
	uint32_t id = open_session(w, &q);

	/* nobody asks: the memory comes back all the same */
	assert_true(tl_wait(NULL, none_left, w, tl_patience(10 * TL_S)));
	assert_int_equal(stats(w).expired, 1);
	assert_int_equal(ask_about(w, LST_RESULT, id).status, -ESRCH);
	/* its memory takes no more */
	assert_int_equal(put_within(w->gen, w->to, lst_slot_bits(id, 0), 0, w->buf, 0, 300 * TL_MS),
	        -ETIMEDOUT);
}

static void test_dead_peer_frees(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, SIZE, 4);

	open_session(w, &q);
	assert_int_equal(stats(w).sessions, 1);
	node_free(w->gen);
	assert_true(tl_wait(NULL, none_left, w, tl_patience(10 * TL_S)));
	assert_int_equal(stats(w).expired, 1);
	w->gen = node_new(IP_A, w->port, 1);
}

/* A session belongs to the peer that opened it: nobody else asks about it, or writes to it. */
static void test_foreign_session(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 4096, 1);
	struct lst_reply r;
	uint32_t id = open_session(w, &q);
	struct lnet *other = node_new(IP_C, w->port, 1);

	q = request_of(LST_CLOSE, 1, 1);
	q.session = id;
	ask(other, w->to, &q, &r);
	assert_int_equal(r.status, -ESRCH);
	assert_int_equal(
	        put_within(other, w->to, lst_slot_bits(id, 0), 0, w->buf, 4096, 300 * TL_MS),
	        -ETIMEDOUT);
	node_free(other);
	r = ask_about(w, LST_CLOSE, id);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.ops, 0);
}

/* ---- damaged PUTs
 * ---------------------------------------------------------------------------------- */

struct damage {
	struct lst_request q;
	uint32_t session;
	struct lst_pattern p;
};

/* Operation 0 of slot 0 arrives whole; then the buffers of operations 2 and 0 are made, for damage.
 */
static struct damage begin(struct world *w, uint32_t size)
{
	struct damage d = {.q = request_of(LST_OPEN, size, 2)};

	d.session = open_session(w, &d.q);
	d.p = (struct lst_pattern){.seed = d.q.seed, .source = d.q.source, .op = 0};
	lst_pattern_fill(&d.p, LST_CHECK_FULL, 0, w->before, size);
	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(d.session, 0), 0, w->before, size), 0);
	d.p.op = 2;
	lst_pattern_fill(&d.p, LST_CHECK_FULL, 0, w->buf, size);
	return d;
}

/* Operation 2 of slot 0 with these bytes: found at `at`, as (op, off) of the session. */
static void expect(struct world *w, struct damage *d, const void *bytes, size_t len, uint64_t at,
        bool known, uint64_t op, uint64_t off)
{
	struct lst_reply r;

	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(d->session, 0), 2, bytes, len), 0);
	r = ask_about(w, LST_CLOSE, d->session);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.ops, 2);
	assert_int_equal(r.data_errors, 1);
	assert_int_equal(r.order_errors, 0);
	assert_int_equal(r.at, at);
	assert_int_equal(r.want_op, 2);
	assert_int_equal(r.want_source, 5);
	assert_int_equal(r.found_known, known);
	if (!known)
		return;
	assert_int_equal(r.found_session, d->session);
	assert_int_equal(r.found_source, 5);
	assert_int_equal(r.found_op, op);
	assert_int_equal(r.found_offset, off);
}

static void test_whole(void **state)
{
	struct world *w = *state;
	const uint32_t sizes[] = {1, 7, 8, 9, 4095, 65537, SIZE};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct damage d = begin(w, sizes[i]);
		struct lst_reply r;

		assert_int_equal(
		        put_to(w->gen, w->to, lst_slot_bits(d.session, 0), 2, w->buf, sizes[i]), 0);
		r = ask_about(w, LST_RESULT, d.session);
		assert_int_equal(r.ops, 2);
		assert_int_equal(r.data_errors + r.order_errors, 0);
		r = ask_about(w, LST_CLOSE, d.session);
		assert_int_equal(r.ops, 2);
	}
	assert_int_equal(stats(w).ops, 14);
	assert_int_equal(stats(w).data_errors, 0);
}

static void test_swapped_chunks(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	memcpy(w->before, w->buf + 65536, 65536);
	memcpy(w->buf + 65536, w->buf + 131072, 65536);
	memcpy(w->buf + 131072, w->before, 65536);
	expect(w, &d, w->buf, SIZE, 65536, true, 2, 131072);
}

static void test_previous_buffer(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	expect(w, &d, w->before, SIZE, 0, true, 0, 0);
}

static void test_dropped_middle(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	memcpy(w->buf + 400000, w->before + 400000, 8192);
	expect(w, &d, w->buf, SIZE, 400000, true, 0, 400000);
}

static void test_shift(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	memmove(w->buf + 8, w->buf, SIZE - 8);
	expect(w, &d, w->buf, SIZE, 8, true, 2, 0);
}

static void test_short(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	/* the last fragment did not come, and the length says so */
	expect(w, &d, w->buf, SIZE - 1000, SIZE - 1000, false, 0, 0);
}

static void test_short_full_length(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, SIZE);

	/* the last fragment did not come, and the length says it did */
	memcpy(w->buf + SIZE - 1000, w->before + SIZE - 1000, 1000);
	expect(w, &d, w->buf, SIZE, SIZE - 1000, true, 0, SIZE - 1000);
}

static void test_other_sessions_data(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 4096, 1);
	struct lst_pattern alien;
	struct damage d = begin(w, 4096);
	struct lst_reply r;
	uint32_t other;

	q.seed = 0x5555;
	q.source = 9;
	other = open_session(w, &q);
	alien = (struct lst_pattern){.seed = q.seed, .source = 9, .op = 77};
	lst_pattern_fill(&alien, LST_CHECK_FULL, 1024, w->buf + 1024, 512);
	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(d.session, 0), 2, w->buf, 4096), 0);
	r = ask_about(w, LST_CLOSE, d.session);
	assert_int_equal(r.data_errors, 1);
	assert_int_equal(r.at, 1024);
	assert_true(r.found_known);
	assert_int_equal(r.found_session, other);
	assert_int_equal(r.found_source, 9);
	assert_int_equal(r.found_op, 77);
	assert_int_equal(r.found_offset, 1024);
}

/* Right bytes at the wrong time: the same operation again, and one of the other slot. */
static void test_order(void **state)
{
	struct world *w = *state;
	struct damage d = begin(w, 4096);
	struct lst_reply r;

	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(d.session, 0), 0, w->before, 4096), 0);
	r = ask_about(w, LST_RESULT, d.session);
	assert_int_equal(r.order_errors, 1);
	assert_int_equal(r.data_errors, 0);
	d.p.op = 3;
	lst_pattern_fill(&d.p, LST_CHECK_FULL, 0, w->buf, 4096);
	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(d.session, 0), 3, w->buf, 4096), 0);
	r = ask_about(w, LST_CLOSE, d.session);
	assert_int_equal(r.order_errors, 2);
	assert_int_equal(r.data_errors, 0);
	assert_int_equal(r.ops, 3);
	assert_int_equal(stats(w).order_errors, 2);
}

/* check=simple finds what it looks at, and nothing else. */
static void test_simple(void **state)
{
	struct world *w = *state;
	struct lst_request q = request_of(LST_OPEN, 8192, 1);
	struct lst_pattern p = {.seed = q.seed, .source = q.source, .op = 0};
	uint32_t id;

	q.check = LST_CHECK_SIMPLE;
	id = open_session(w, &q);
	memset(w->buf, 0, 8192);
	lst_pattern_fill(&p, LST_CHECK_SIMPLE, 0, w->buf, 8192);
	w->buf[100] = 1;
	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(id, 0), 0, w->buf, 8192), 0);
	assert_int_equal(ask_about(w, LST_RESULT, id).data_errors, 0);
	p.op = 1;
	lst_pattern_fill(&p, LST_CHECK_SIMPLE, 0, w->buf, 8192);
	w->buf[4090] ^= 1;
	assert_int_equal(put_to(w->gen, w->to, lst_slot_bits(id, 0), 1, w->buf, 8192), 0);
	assert_int_equal(ask_about(w, LST_RESULT, id).at, 4090);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	        T(test_not_a_request),
	        cmocka_unit_test_setup_teardown(test_limits, setup_small, teardown),
	        cmocka_unit_test_setup_teardown(test_silent_session_ends, setup_small, teardown),
	        T(test_dead_peer_frees),
	        T(test_foreign_session),
	        T(test_whole),
	        T(test_swapped_chunks),
	        T(test_previous_buffer),
	        T(test_dropped_middle),
	        T(test_shift),
	        T(test_short),
	        T(test_short_full_length),
	        T(test_other_sessions_data),
	        T(test_order),
	        T(test_simple),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
