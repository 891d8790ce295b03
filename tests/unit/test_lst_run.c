/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generator: against real responders (everything right, every size and check), and against a
 * false one that serves wrong data and counts wrongly, which must be found and told.
 */
#include "lst_fixture.h"

struct world {
	struct lnet *gen, *res[2];
	struct lst_responder *r[2];
	struct lnet_nid to[2];
	struct lst_run_conf conf;
	struct lst_run_result result;
};

static void open_world(struct world **out, unsigned loops, bool responders)
{
	const char *const ips[] = {IP_A, IP_B, IP_C};
	struct world *w = calloc(1, sizeof(*w));
	int port = tl_free_port(ips, 3);

	assert_non_null(w);
	assert_true(port > 0);
	w->gen = node_new(IP_A, port, loops);
	for (int i = 0; i < 2; i++) {
		w->res[i] = node_new(ips[i + 1], port, loops);
		w->to[i] = nid_of(ips[i + 1]);
		if (responders)
			assert_int_equal(lst_responder_start(w->res[i], NULL, &w->r[i]), 0);
	}
	lst_run_conf_init(&w->conf, sizeof(w->conf));
	w->conf.target = w->to;
	w->conf.ntargets = 2;
	w->conf.check = LST_CHECK_FULL;
	*out = w;
}

static int setup(void **state)
{
	open_world((struct world **)state, 1, true);
	return 0;
}

static int setup_loops(void **state)
{
	open_world((struct world **)state, 4, true);
	return 0;
}

static int setup_bare(void **state)
{
	open_world((struct world **)state, 1, false);
	((struct world *)*state)->conf.ntargets = 1;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 2; i++)
		if (w->r[i])
			lst_responder_stop(w->r[i]);
	node_free(w->gen);
	for (int i = 0; i < 2; i++)
		node_free(w->res[i]);
	lst_run_result_fini(&w->result);
	free(w);
	return 0;
}

static void run(struct world *w)
{
	lst_run_result_fini(&w->result);
	assert_int_equal(lst_run(w->gen, &w->conf, &w->result), 0);
}

/* Everything that both ends counted fits. */
static void expect_right(struct world *w, uint64_t ops)
{
	const struct lst_run_result *r = &w->result;
	uint64_t sum = 0;

	if (r->errors)
		fail_msg("%llu errors, first: %s", (unsigned long long)r->errors, r->first);
	assert_int_equal(r->failed, 0);
	assert_int_equal(r->started, r->ops);
	if (ops)
		assert_int_equal(r->ops, ops);
	assert_true(r->ops > 0);
	assert_int_equal(r->bytes, r->ops * w->conf.bytes);
	assert_int_equal(r->lat.n, r->ops);
	assert_true(r->lat.max < r->ns);
	for (unsigned i = 0; i < r->nnodes; i++) {
		assert_true(r->node[i].told);
		assert_int_equal(r->node[i].sessions, 1);
		assert_int_equal(r->node[i].remote_ops, r->node[i].ops);
		sum += r->node[i].ops;
	}
	assert_int_equal(sum, r->ops);
}

static void expect_clean(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		struct lst_responder_stats s;

		lst_responder_stats(w->r[i], &s);
		assert_int_equal(s.sessions, 0);
		assert_int_equal(s.data_errors + s.order_errors + s.refused + s.bad_requests, 0);
	}
}

static void test_all_sizes(void **state)
{
	struct world *w = *state;
	const uint32_t sizes[] = {1, 2, 7, 8, 9, 4095, 4096, 4097, 65537, 1048575, 1048576};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int get = 0; get < 2; get++)
			for (int c = LST_CHECK_NONE; c <= LST_CHECK_FULL; c++) {
				w->conf.bytes = sizes[i];
				w->conf.get = get;
				w->conf.check = (enum lst_check)c;
				w->conf.concurrency = 3;
				w->conf.count = 10;
				run(w);
				expect_right(w, 20);
			}
	expect_clean(w);
}

static void test_count_below_lanes(void **state)
{
	struct world *w = *state;

	w->conf.concurrency = 64;
	w->conf.count = 5;
	run(w);
	expect_right(w, 10);
	w->conf.concurrency = 1024;
	w->conf.bytes = 16;
	w->conf.count = 3000;
	w->conf.get = true;
	run(w);
	expect_right(w, 6000);
	expect_clean(w);
}

static void test_time(void **state)
{
	struct world *w = *state;

	w->conf.time_ns = 300 * TL_MS;
	w->conf.concurrency = 32;
	for (int get = 0; get < 2; get++) {
		w->conf.get = get;
		run(w);
		expect_right(w, 0);
		assert_true(w->result.ns >= w->conf.time_ns);
	}
	expect_clean(w);
}

static void test_bad_conf(void **state)
{
	struct world *w = *state;
	struct lst_run_conf c = w->conf;

	c.count = 1;
#define REFUSED(change)                                                           \
	do {                                                                      \
		w->conf = c;                                                      \
		change;                                                           \
		assert_int_equal(lst_run(w->gen, &w->conf, &w->result), -EINVAL); \
	} while (0)
	REFUSED(w->conf.size = 8);
	REFUSED(w->conf.target = NULL);
	REFUSED(w->conf.ntargets = 0);
	REFUSED(w->conf.ntargets = LST_TARGETS_MAX + 1);
	REFUSED(w->conf.bytes = 0);
	REFUSED(w->conf.bytes = (1u << 20) + 1);
	REFUSED(w->conf.concurrency = 0);
	REFUSED(w->conf.concurrency = 1025);
	REFUSED(w->conf.count = 0);
	REFUSED(w->conf.op_timeout_ns = 0);
	w->conf = c;
	run(w);
	expect_right(w, 2);
}

/* More memory than the responder gives: no traffic, an error that names the limit. */
static void test_refused(void **state)
{
	struct world *w = *state;

	w->conf.bytes = 1u << 20;
	w->conf.concurrency = 65;
	w->conf.count = 10;
	run(w);
	assert_int_equal(w->result.ops, 0);
	assert_int_equal(w->result.errors, 2);
	assert_int_equal(w->result.ncauses, 1);
	assert_string_equal(w->result.cause[0].name, "E2BIG");
}

static void stop_at_once(void *arg, const struct lst_progress *p)
{
	if (p->ops > 0)
		atomic_store((_Atomic bool *)arg, true);
}

static void test_stop(void **state)
{
	struct world *w = *state;
	_Atomic bool stop = false;

	w->conf.time_ns = 1000 * TL_S;
	w->conf.stop = &stop;
	w->conf.progress = stop_at_once;
	w->conf.arg = &stop;
	run(w);
	expect_right(w, 0);
	assert_true(w->result.stopped);
	assert_true(w->result.ns < 60 * TL_S);
	w->conf.stop = NULL;
	w->conf.arg = NULL;
}

/* One target has nobody who answers: its error, and the other's traffic. */
static void test_half(void **state)
{
	struct world *w = *state;

	lst_responder_stop(w->r[1]);
	w->r[1] = NULL;
	node_free(w->res[1]);
	w->conf.count = 100;
	run(w);
	assert_int_equal(w->result.ops, 100);
	assert_int_equal(w->result.errors, 1);
	assert_int_equal(w->result.node[0].ops, 100);
	assert_int_equal(w->result.node[1].errors, 1);
	assert_non_null(strstr(w->result.first, IP_C));
	w->res[1] = node_new(IP_C, tl_free_port((const char *const[]){IP_C}, 1), 1);
}

struct restart {
	struct world *w;
	bool done;
};

static void restart_responder(void *arg, const struct lst_progress *p)
{
	struct restart *x = arg;

	if (x->done || p->ops == 0)
		return;
	x->done = true;
	lst_responder_stop(x->w->r[0]);
	assert_int_equal(lst_responder_start(x->w->res[0], NULL, &x->w->r[0]), 0);
}

/* The responder loses its sessions in the middle: errors, a new session, and traffic again. */
static void test_responder_restarts(void **state)
{
	struct world *w = *state;
	struct restart x = {.w = w};

	w->conf.time_ns = tl_patience(3 * TL_S);
	w->conf.op_timeout_ns = 300 * TL_MS;
	w->conf.progress = restart_responder;
	w->conf.arg = &x;
	for (int get = 0; get < 2; get++) {
		uint64_t sum = 0;

		x.done = false;
		w->conf.get = get;
		run(w);
		assert_true(x.done);
		assert_true(w->result.node[0].sessions >= 2); /* more on a slow machine */
		assert_false(w->result.node[0].told);
		assert_int_equal(w->result.node[1].errors, 0);
		assert_int_equal(w->result.node[1].remote_ops, w->result.node[1].ops);
		assert_int_equal(w->result.started, w->result.ops + w->result.failed);
		for (unsigned i = 0; i < w->result.ncauses; i++) {
			sum += w->result.cause[i].count;
			/* what was lost is not taken for wrong data */
			assert_string_not_equal(w->result.cause[i].name, "data");
			assert_string_not_equal(w->result.cause[i].name, "order");
		}
		assert_int_equal(sum, w->result.errors);
		assert_in_range(w->result.failed, 1, w->conf.concurrency);
	}
	w->conf.arg = NULL;
}

/* ---- a false responder
 * ----------------------------------------------------------------------------- */

#define SIZE (1u << 20)

struct liar {
	struct lnet *n;
	uint8_t control[LST_REQUEST_SIZE], answer[LST_REPLY_SIZE];
	struct lst_request open; /* as it came */
	uint8_t *mem;
	uint32_t len;                  /* of the memory that it serves */
	void (*serve)(struct liar *l); /* fills mem once the session is known */
	struct lst_reply close;        /* what it will say */
	_Atomic unsigned live;
};

static void on_liar_slot(const struct lnet_event *ev)
{
	struct liar *l = ev->user;

	if (ev->unlinked)
		atomic_fetch_sub(&l->live, 1);
}

static void attach(struct liar *l, uint64_t bits, void *mem, size_t len, uint32_t options,
        int threshold, lnet_handler_fn fn)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = bits};
	struct iovec iov = {mem, len};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = options,
	        .threshold = threshold,
	        .handler = fn,
	        .user = l};
	lnet_handle_t me, md;

	atomic_fetch_add(&l->live, 1);
	assert_int_equal(lnet_me_attach(l->n, LST_PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me), 0);
	assert_int_equal(lnet_md_attach(l->n, me, &d, &md), 0);
}

static void on_liar_answered(const struct lnet_event *ev)
{
	struct liar *l = ev->user;

	if (ev->final)
		atomic_fetch_sub(&l->live, 1);
}

static void on_liar_control(const struct lnet_event *ev)
{
	struct liar *l = ev->user;
	struct lst_reply reply = {.kind = LST_OPEN, .session = 4711};
	struct lst_request q;
	struct lnet_op_args a;
	struct iovec iov = {l->answer, sizeof(l->answer)};

	if (ev->unlinked)
		atomic_fetch_sub(&l->live, 1);
	if (ev->type != LNET_EV_PUT)
		return;
	assert_int_equal(lst_request_decode(l->control, ev->mlength, &q), 0);
	if (q.kind == LST_OPEN) {
		l->open = q;
		l->serve(l);
		attach(l, lst_slot_bits(4711, 0), l->mem, l->len,
		        LNET_MD_OP_GET | LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE,
		        1, on_liar_slot);
		attach(l, LST_CONTROL_BITS, l->control, sizeof(l->control), LNET_MD_OP_PUT, 1,
		        on_liar_control);
	} else {
		reply = l->close;
		reply.kind = q.kind;
	}
	lst_reply_encode(&reply, l->answer);
	lnet_op_args_init(&a, sizeof(a));
	a.target = ev->source;
	a.target_pid = ev->initiator_pid;
	a.portal = LST_PORTAL;
	a.match_bits = q.reply_bits;
	a.mem = (struct lnet_mem){.iov = &iov, .niov = 1};
	a.handler = on_liar_answered;
	a.user = l;
	atomic_fetch_add(&l->live, 1);
	assert_int_equal(lnet_put(l->n, &a, NULL), 0);
}

static struct liar *liar_new(struct world *w, void (*serve)(struct liar *l))
{
	struct liar *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->n = w->res[0];
	l->mem = malloc(SIZE);
	assert_non_null(l->mem);
	l->len = SIZE;
	l->serve = serve;
	l->close.ops = 1;
	attach(l, LST_CONTROL_BITS, l->control, sizeof(l->control), LNET_MD_OP_PUT, 1,
	        on_liar_control);
	w->conf.get = true;
	w->conf.bytes = SIZE;
	w->conf.count = 1;
	w->conf.concurrency = 1;
	return l;
}

static bool liar_rests(void *arg)
{
	return atomic_load(&((struct liar *)arg)->live) == 0;
}

static void liar_free(struct liar *l)
{
	assert_true(tl_wait(NULL, liar_rests, l, tl_patience(10 * TL_S)));
	free(l->mem);
	free(l);
}

static struct lst_pattern right(struct liar *l)
{
	struct lst_pattern p = {.seed = l->open.seed, .source = l->open.source, .op = 0};

	lst_pattern_fill(&p, LST_CHECK_FULL, 0, l->mem, SIZE);
	return p;
}

static void serve_right(struct liar *l)
{
	right(l);
}

static void serve_swapped(struct liar *l)
{
	uint8_t *tmp = malloc(4096);

	right(l);
	assert_non_null(tmp);
	memcpy(tmp, l->mem + 8192, 4096);
	memcpy(l->mem + 8192, l->mem + 40960, 4096);
	memcpy(l->mem + 40960, tmp, 4096);
	free(tmp);
}

static void serve_previous(struct liar *l)
{
	struct lst_pattern p = right(l);

	p.op = LST_OP_MASK; /* the number before 0 */
	lst_pattern_fill(&p, LST_CHECK_FULL, 0, l->mem, SIZE);
}

static void serve_hole(struct liar *l)
{
	right(l);
	memset(l->mem + 500000, 0, 12345);
}

static void serve_shifted(struct liar *l)
{
	right(l);
	memmove(l->mem, l->mem + 8, SIZE - 8);
}

static void serve_short(struct liar *l)
{
	right(l);
	l->len = SIZE - 100;
}

static void expect_bad(struct world *w, uint64_t at, bool known, uint64_t op, uint64_t off)
{
	const struct lst_run_result *r = &w->result;

	run(w);
	assert_int_equal(r->errors, 1);
	assert_int_equal(r->ops, 0);
	assert_int_equal(r->failed, 1);
	assert_string_equal(r->cause[0].name, "data");
	assert_int_equal(r->nbad, 1);
	assert_false(r->bad[0].remote);
	assert_int_equal(r->bad[0].session, 4711);
	assert_int_equal(r->bad[0].op, 0);
	assert_int_equal(r->bad[0].at, at);
	assert_int_equal(r->bad[0].known, known);
	if (known) {
		assert_int_equal(r->bad[0].found_session, 4711);
		assert_int_equal(r->bad[0].found_op, op);
		assert_int_equal(r->bad[0].found_at, off);
	}
}

static void test_liar_right(void **state)
{
	struct world *w = *state;
	struct liar *l = liar_new(w, serve_right);

	run(w);
	expect_right(w, 1);
	liar_free(l);
}

static void test_liar_data(void **state)
{
	struct world *w = *state;
	static const struct {
		void (*serve)(struct liar *l);
		uint64_t at;
		bool known;
		uint64_t op, off;
	} c[] = {
	        {serve_swapped, 8192, true, 0, 40960},
	        {serve_previous, 0, true, LST_OP_MASK, 0},
	        {serve_hole, 500000, false, 0, 0},
	        {serve_shifted, 0, true, 0, 8},
	        {serve_short, SIZE - 100, false, 0, 0},
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct liar *l = liar_new(w, c[i].serve);

		expect_bad(w, c[i].at, c[i].known, c[i].op, c[i].off);
		liar_free(l);
	}
}

/* The other end's counts: fewer than it answered, more than were begun, damage, disorder. */
static void test_liar_counts(void **state)
{
	struct world *w = *state;
	struct liar *l = liar_new(w, serve_right);

	l->close.ops = 0;
	run(w);
	assert_string_equal(w->result.cause[0].name, "lost");
	assert_int_equal(w->result.errors, 1);
	liar_free(l);

	l = liar_new(w, serve_right);
	l->close.ops = 3;
	run(w);
	assert_string_equal(w->result.cause[0].name, "repeated");
	assert_int_equal(w->result.errors, 2);
	liar_free(l);

	l = liar_new(w, serve_right);
	l->close.data_errors = 4;
	l->close.order_errors = 2;
	l->close.at = 99;
	l->close.want_op = 12;
	l->close.word = 0xabc;
	w->conf.get = false;
	run(w);
	assert_int_equal(w->result.errors, 6);
	assert_string_equal(w->result.cause[0].name, "data");
	assert_int_equal(w->result.cause[0].count, 4);
	assert_string_equal(w->result.cause[1].name, "order");
	assert_int_equal(w->result.nbad, 1);
	assert_true(w->result.bad[0].remote);
	assert_int_equal(w->result.bad[0].at, 99);
	assert_int_equal(w->result.bad[0].op, 12);
	assert_int_equal(w->result.bad[0].word, 0xabc);
	assert_non_null(strstr(w->result.first, "byte 99 of operation 12"));
	liar_free(l);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define T4(f)                                                   \
	{                                                       \
#f " (4 loops)", f, setup_loops, teardown, NULL \
	}
#define TB(f) cmocka_unit_test_setup_teardown(f, setup_bare, teardown)
	const struct CMUnitTest tests[] = {
	        T(test_all_sizes),
	        T(test_count_below_lanes),
	        T(test_time),
	        T4(test_count_below_lanes),
	        T4(test_time),
	        T(test_bad_conf),
	        T(test_refused),
	        T(test_stop),
	        T(test_half),
	        T(test_responder_restarts),
	        TB(test_liar_right),
	        TB(test_liar_data),
	        TB(test_liar_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
