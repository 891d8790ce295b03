/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole nodes over tcp on loopback addresses: many, opened and closed, busy, threaded, killed. */
/* test-timeout: 240 */
#include "node_fixture.h"

/* ---- many ------------------------------------------------------------------------------------ */

static void hundred_nodes(void **state)
{
	unsigned nodes = tl_scaled(100, 20), fds = tl_count_fds();
	struct lnet **n = calloc(nodes, sizeof(*n));
	struct counts *got = calloc(nodes, sizeof(*got)), sent = {0};
	uint8_t(*buf)[64] = calloc(nodes, 64), src[64];
	struct iovec iov = {src, sizeof(src)};
	uint64_t end;
	int p = port();

	(void)state;
	tl_fill(1, 0, src, sizeof(src));
	for (unsigned i = 0; i < nodes; i++) {
		n[i] = open_node(i, p, 1, LNET_NODE_POLL);
		open_portal(n[i], 20, buf[i], 64, &got[i]);
	}
	for (unsigned i = 0; i < nodes; i++) {
		struct lnet_op_args a = args((i + 1) % nodes, &iov, &sent);

		a.flags = LNET_OP_ACK;
		assert_int_equal(lnet_put(n[i], &a, NULL), 0);
	}
	end = tl_now() + tl_patience(20 * TL_S);
	while (atomic_load(&sent.finals) < nodes && tl_now() < end)
		for (unsigned i = 0; i < nodes; i++)
			lnet_progress(n[i], 0);
	assert_int_equal(atomic_load(&sent.ok), nodes);
	for (unsigned i = 0; i < nodes; i++) {
		assert_int_equal(atomic_load(&got[i].events), 1);
		assert_memory_equal(buf[i], src, 64);
	}
	for (unsigned i = 0; i < nodes; i++)
		close_node(n[i]);
	assert_int_equal(tl_count_fds(), fds);
	free(n);
	free(got);
	free(buf);
}

static void again_and_again(void **state)
{
	unsigned rounds = tl_scaled(1000, 50), fds = tl_count_fds();
	int p = port();

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		struct lnet *n = open_node(0, p, 1 + i % 3, i % 2 ? LNET_NODE_POLL : 0);
		struct lnet_nid me = nid_of(0), any = lnet_nid_any();
		struct lnet_ping_result r = {.size = sizeof(r)};

		if (i % 5 == 0) {
			assert_int_equal(lnet_ping(n, &me, LNET_PID_LUSTRE, &any, 0, &r), 0);
			lnet_ping_free(&r);
		}
		assert_int_equal(lnet_close(n, lnet_now(n) + TL_S), 0);
	}
	assert_int_equal(tl_count_fds(), fds);
}

/* ---- closing --------------------------------------------------------------------------------- */

struct worker {
	struct lnet *n;
	struct counts *c;
	pthread_t t;
	unsigned host;
	_Atomic bool stop;
	_Atomic unsigned accepted;
	int last;
	_Atomic bool inside;
};

static void *keep_sending(void *arg)
{
	static uint8_t src[4096];
	struct worker *w = arg;
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args a = args(w->host, &iov, w->c);

	for (unsigned i = 0; !atomic_load(&w->stop); i++) {
		a.flags = i % 2 ? LNET_OP_ACK : 0;
		w->last = lnet_put(w->n, &a, NULL);
		if (w->last == -ESHUTDOWN)
			break;
		atomic_fetch_add(&w->accepted, w->last == 0);
		if (i % 64 == 0)
			tl_sleep(TL_MS);
	}
	return NULL;
}

static bool never(void *arg)
{
	atomic_store(&((struct worker *)arg)->inside, true);
	return false;
}

static void *keep_waiting(void *arg)
{
	struct worker *w = arg;

	w->last = lnet_wait(w->n, never, w, 0);
	return NULL;
}

static void *put_and_wait(void *arg)
{
	static uint8_t src[64];
	struct worker *w = arg;
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args a = args(w->host, &iov, NULL);

	a.flags = LNET_OP_ACK;
	atomic_store(&w->inside, true);
	w->last = lnet_put_wait(w->n, &a, NULL);
	return NULL;
}

/* Accepts and says nothing. */
static int black_hole(unsigned host, int p)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)p)};
	struct lnet_nid nid = nid_of(host);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	memcpy(&a.sin_addr, nid.addr, 4);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* AP-02: everything there is, and the node closes. */
static void close_busy(unsigned loops)
{
	static uint8_t buf[65536], src[256];
	int p = port(), hole = black_hole(2, p);
	struct lnet *a = open_node(0, p, loops, 0), *b = open_node(1, p, 1, 0);
	struct counts ops = {0}, threads[2] = {{0}}, posted = {0}, dead = {0};
	struct worker to_a = {.n = b, .c = &threads[0], .host = 0};
	struct worker from_a = {.n = a, .c = &threads[1], .host = 1};
	struct worker waits = {.n = a}, asks = {.n = a, .host = 2};
	struct iovec iov = {src, sizeof(src)};
	unsigned accepted = 0;
	uint64_t start;
	int rc;

	open_portal(b, 20, buf, 0, NULL); /* written by many: nothing is kept */
	for (unsigned i = 0; i < 256; i++)
		open_portal(a, 21, buf, 256, &posted);
	open_portal(a, 20, buf, 0, NULL);
	pthread_create(&to_a.t, NULL, keep_sending, &to_a);
	pthread_create(&from_a.t, NULL, keep_sending, &from_a);
	pthread_create(&waits.t, NULL, keep_waiting, &waits);
	pthread_create(&asks.t, NULL, put_and_wait, &asks);
	for (unsigned i = 0; i < 40; i++) {
		struct lnet_op_args x = args(i % 4 == 3 ? 2 : 1, &iov, &ops);

		x.portal = i % 3 ? 20 : 30; /* nobody answers there */
		x.flags = LNET_OP_ACK;
		accepted += (i % 2 ? lnet_put(a, &x, NULL) : lnet_get(a, &x, NULL)) == 0;
	}
	while (!atomic_load(&waits.inside) || !atomic_load(&asks.inside))
		tl_sleep(TL_MS);
	tl_sleep(20 * TL_MS);
	start = tl_now();
	rc = lnet_close(a, lnet_now(a) + 300 * TL_MS);
	if (rc != -ETIMEDOUT)
		fail_msg("%d: of %u accepted, %u ended well, the last failure was %d", rc, accepted,
		        atomic_load(&ops.ok), atomic_load(&ops.bad));
	assert_true(tl_now() - start < tl_patience(3 * TL_S));
	pthread_join(waits.t, NULL);
	pthread_join(asks.t, NULL);
	pthread_join(from_a.t, NULL);
	assert_int_equal(waits.last, -ESHUTDOWN);
	assert_true(asks.last < 0);
	assert_int_equal(from_a.last, -ESHUTDOWN);
	assert_int_equal(atomic_load(&ops.finals), accepted);
	assert_int_equal(atomic_load(&posted.unlinks), 256);
	assert_int_equal(atomic_load(&threads[1].finals), atomic_load(&from_a.accepted));
	atomic_store(&to_a.stop, true);
	pthread_join(to_a.t, NULL);
	rc = lnet_close(b, lnet_now(b) + 300 * TL_MS);
	assert_true(rc == 0 || rc == -ETIMEDOUT);
	assert_int_equal(atomic_load(&threads[0].finals), atomic_load(&to_a.accepted));
	close(hole);
	(void)dead;
}

static void closing_with_everything(void **state)
{
	unsigned fds = tl_count_fds();

	(void)state;
	for (unsigned i = 0; i < tl_scaled(3, 1); i++) {
		close_busy(1);
		close_busy(3);
	}
	assert_int_equal(tl_count_fds(), fds);
}

/* ---- the caller's epoll ---------------------------------------------------------------------- */

static void own_epoll(void **state)
{
	static uint8_t buf[64], src[64];
	int p = port(), ep = epoll_create1(EPOLL_CLOEXEC);
	struct lnet *a = open_node(0, p, 1, LNET_NODE_POLL), *b = open_node(1, p, 1, 0);
	struct epoll_event e = {.events = EPOLLIN};
	struct counts c = {0};
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args x = args(1, &iov, &c);
	unsigned turns = 0, slept = 0;
	uint64_t sleep_ns;

	(void)state;
	open_portal(b, 20, buf, sizeof(buf), NULL);
	assert_true(lnet_pollfd(a) >= 0);
	assert_int_equal(lnet_pollfd(b), -EOPNOTSUPP);
	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, lnet_pollfd(a), &e), 0);
	x.flags = LNET_OP_ACK;
	for (unsigned i = 0; i < 50; i++) {
		assert_int_equal(lnet_put(a, &x, NULL), 0);
		while (atomic_load(&c.finals) <= i && turns++ < 100000) {
			if (lnet_arm(a, &sleep_ns) == 0) {
				int ms = sleep_ns > 1000000000ull ? 1000
				                                  : (int)(sleep_ns / 1000000) + 1;

				slept += epoll_wait(ep, &e, 1, ms) > 0;
			}
			lnet_progress(a, 0);
		}
	}
	assert_int_equal(atomic_load(&c.ok), 50);
	assert_true(slept > 0);
	/* nothing to do: nearly no turns in a while */
	turns = 0;
	for (uint64_t end = tl_now() + 200 * TL_MS; tl_now() < end; turns++) {
		if (lnet_arm(a, &sleep_ns) == 0)
			epoll_wait(ep, &e, 1, 50);
		lnet_progress(a, 0);
	}
	assert_true(turns < 60);
	close_node(a);
	close_node(b);
	close(ep);
}

/* Another thread sends while the owner sleeps in its epoll: the descriptor says so. */
static void woken_by_another_thread(void **state)
{
	static uint8_t src[64];
	int p = port();
	struct lnet *a = open_node(0, p, 1, LNET_NODE_POLL);
	struct counts c = {0};
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args x = args(0, &iov, &c); /* to itself */
	uint64_t sleep_ns;

	(void)state;
	open_portal(a, 20, src, sizeof(src), NULL);
	assert_int_equal(lnet_put(a, &x, NULL), 0);
	for (unsigned i = 0; i < 1000 && !atomic_load(&c.finals); i++)
		if (lnet_arm(a, &sleep_ns))
			lnet_progress(a, 0);
		else
			lnet_progress(a, 1000000);
	assert_int_equal(atomic_load(&c.ok), 1);
	close_node(a);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct chaos {
	struct lnet *n;
	unsigned me, hosts, seed;
	struct counts *c;
	_Atomic bool *stop;
	_Atomic unsigned accepted;
	pthread_t t;
};

static int look_ni(void *arg, const struct lnet_ni_info *i)
{
	*(uint64_t *)arg += i->traffic.send_count;
	return 0;
}

static int look_peer(void *arg, const struct lnet_peer_info *i)
{
	*(uint64_t *)arg += i->nni;
	return 0;
}

static int look_stat(void *arg, const char *name, uint64_t value)
{
	(void)name;
	*(uint64_t *)arg += value;
	return 0;
}

static void look_line(void *arg, const char *text)
{
	*(uint64_t *)arg += strlen(text);
}

static void on_watch(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	(void)nid;
	(void)pid;
	(void)ev;
	(void)err;
	atomic_fetch_add((_Atomic unsigned *)user, 1);
}

static void ask_all(struct chaos *x, unsigned what)
{
	struct lnet_nid any = lnet_nid_any(), other = nid_of(50 + x->me), mine = nid_of(x->me);
	struct lnet_ping_result r = {.size = sizeof(r)};
	static _Atomic unsigned watched;
	lnet_handle_t w;
	uint64_t sum = 0;

	switch (what % 10) {
	case 0:
		assert_int_equal(lnet_ni_each(x->n, look_ni, &sum), 0);
		break;
	case 1:
		assert_int_equal(lnet_peer_each(x->n, &any, look_peer, &sum), 0);
		break;
	case 2:
		assert_int_equal(lnet_stats_each(x->n, look_stat, &sum), 0);
		break;
	case 3:
		assert_int_equal(lnet_dump(x->n, look_line, &sum), 0);
		break;
	case 4:
		assert_int_equal(lnet_peer_watch(x->n, &any, on_watch, &watched, &w), 0);
		assert_int_equal(lnet_peer_unwatch(x->n, w), 0);
		break;
	case 5:
		lnet_peer_add(x->n, &other, NULL, 0, true, false, NULL);
		lnet_peer_del(x->n, &other, NULL, 0, true, NULL);
		break;
	case 6:
		if (lnet_ping(x->n, &mine, LNET_PID_LUSTRE, &any, 0, &r) == 0)
			lnet_ping_free(&r);
		break;
	case 7:
		assert_int_equal(lnet_ni_set_health(x->n, &mine, 500 + (int)what % 500), 0);
		break;
	case 8:
		lnet_global_set(x->n, "discovery", what & 1, NULL, 0);
		break;
	default:
		lnet_stats_reset(x->n);
		break;
	}
}

/* A GET with memory of its own: nobody else may write there. */
struct sink {
	struct chaos *x;
	uint8_t buf[1000];
};

static void on_sink(const struct lnet_event *ev)
{
	struct sink *s = ev->user;
	struct lnet_event e = *ev;

	e.user = s->x->c;
	count(&e);
	if (ev->final)
		free(s);
}

static int get_here(struct chaos *x, struct lnet_op_args *a, lnet_handle_t *op)
{
	struct sink *s = calloc(1, sizeof(*s));
	struct iovec v = {s->buf, sizeof(s->buf)};
	int rc;

	s->x = x;
	a->portal = 21;
	a->mem.iov = &v;
	a->handler = on_sink;
	a->user = s;
	rc = lnet_get(x->n, a, op);
	if (rc)
		free(s);
	return rc;
}

static void *chaos(void *arg)
{
	static uint8_t junk[4096];
	struct chaos *x = arg;
	struct iovec iov = {junk, 1000};
	uint8_t mine[1000];

	for (unsigned i = x->seed; !atomic_load(x->stop); i++) {
		struct lnet_op_args a = args(i % x->hosts, &iov, x->c);
		struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = i};
		struct iovec v = {mine, sizeof(mine)};
		struct lnet_md_desc d = {
		        .mem = {.iov = &v, .niov = 1}, .options = LNET_MD_OP_PUT, .threshold = 1};
		lnet_handle_t op = 0, me, md;
		int rc;

		a.flags = i % 2 ? LNET_OP_ACK : LNET_OP_ACK | LNET_OP_EV_SEND;
		rc = i % 3 ? lnet_put(x->n, &a, &op) : get_here(x, &a, &op);
		atomic_fetch_add(&x->accepted, rc == 0);
		if (rc == 0 && i % 7 == 0)
			lnet_op_cancel(x->n, op);
		if (i % 4 == 0 &&
		        lnet_me_attach(x->n, 33, &m, LNET_UNLINK, LNET_INS_AFTER, &me) == 0) {
			assert_int_equal(lnet_md_attach(x->n, me, &d, &md), 0);
			assert_int_equal(
			        i % 8 ? lnet_md_unlink(x->n, md) : lnet_me_unlink(x->n, me), 0);
		}
		if (i % 16 == 0)
			ask_all(x, i / 16);
		if (i % 32 == 0)
			tl_sleep(TL_MS);
	}
	return NULL;
}

/* Every call by two threads on each of two nodes, loops by the number, all at once. */
static void everything_at_once(unsigned loops)
{
	static uint8_t buf[2][4096];
	int p = port();
	struct lnet *n[2] = {open_node(0, p, loops, 0), open_node(1, p, loops, 0)};
	struct counts c[4] = {{0}};
	struct chaos x[4];
	_Atomic bool stop = false;

	for (unsigned i = 0; i < 2; i++) {
		open_portal(n[i], 20, buf[i], 0, NULL); /* written by many: nothing is kept */
		open_portal(n[i], 21, buf[i], 4096, NULL);
	}
	for (unsigned i = 0; i < 4; i++) {
		x[i] = (struct chaos){.n = n[i / 2],
		        .me = i / 2,
		        .hosts = 2,
		        .seed = i * 1000,
		        .c = &c[i],
		        .stop = &stop};
		pthread_create(&x[i].t, NULL, chaos, &x[i]);
	}
	tl_sleep((uint64_t)(tl_scale() * 2 * TL_S));
	atomic_store(&stop, true);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(x[i].t, NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_true(TL_UNTIL(
		        NULL, atomic_load(&c[i].finals) == atomic_load(&x[i].accepted), 20 * TL_S));
	for (unsigned i = 0; i < 2; i++)
		close_node(n[i]);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(atomic_load(&x[i].accepted) > 10);
		assert_int_equal(atomic_load(&c[i].finals), atomic_load(&x[i].accepted));
	}
}

static void one_loop_many_threads(void **state)
{
	(void)state;
	everything_at_once(1);
}

static void many_loops_many_threads(void **state)
{
	(void)state;
	everything_at_once(4);
}

/* AP-10: one waits for its request while another one drives and ends it. */
struct asker {
	struct lnet *n;
	pthread_t t;
	unsigned failed, rounds;
};

static void *ask(void *arg)
{
	static uint8_t src[64];
	struct asker *x = arg;
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args a = args(1, &iov, NULL);

	a.flags = LNET_OP_ACK;
	for (unsigned i = 0; i < x->rounds; i++) {
		a.deadline = lnet_now(x->n) + tl_patience(5 * TL_S);
		x->failed += lnet_put_wait(x->n, &a, NULL) != 0;
	}
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
}

static void waiting_side_by_side(void **state)
{
	static uint8_t buf[64];
	int p = port();
	struct lnet *a = open_node(0, p, 1, 0), *b = open_node(1, p, 1, 0);
	struct sigaction sa = {.sa_handler = on_signal};
	struct asker x[4];
	uint64_t start = tl_now();

	(void)state;
	open_portal(b, 20, buf, sizeof(buf), NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (unsigned i = 0; i < 4; i++) {
		x[i] = (struct asker){.n = a, .rounds = tl_scaled(2000, 200)};
		pthread_create(&x[i].t, NULL, ask, &x[i]);
	}
	for (unsigned i = 0; i < 200; i++) { /* EINTR */
		pthread_kill(x[i % 4].t, SIGUSR1);
		tl_sleep(TL_MS / 4);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(x[i].t, NULL);
		assert_int_equal(x[i].failed, 0);
	}
	assert_true(tl_now() - start < tl_patience(30 * TL_S));
	close_node(a);
	close_node(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(hundred_nodes),
	        cmocka_unit_test(again_and_again),
	        cmocka_unit_test(closing_with_everything),
	        cmocka_unit_test(own_epoll),
	        cmocka_unit_test(woken_by_another_thread),
	        cmocka_unit_test(one_loop_many_threads),
	        cmocka_unit_test(many_loops_many_threads),
	        cmocka_unit_test(waiting_side_by_side),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
