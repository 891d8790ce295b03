/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes are killed: FT-01, a client in the middle of a bulk; FT-04, a server that comes again.
 */
/* test-timeout: 240 */
#include "node_fixture.h"

#define CHUNK  1048576u
#define CHUNKS 16u

/* Chunks of the client's own memory; and it pulls from the server and pushes to it without end. */
static void be_client(unsigned host, int p, int ready)
{
	static uint8_t mine[CHUNK], sink[CHUNK];
	struct lnet *n = open_node(host, p, 1, 0);
	struct iovec iov = {sink, CHUNK};
	struct lnet_op_args a = args(0, &iov, NULL);
	char c = 0;

	open_portal(n, 22, mine, CHUNK, NULL);
	a.portal = 20;
	if (lnet_get_wait(n, &a, NULL) || write(ready, &c, 1) != 1)
		_exit(1);
	for (;;) {
		a.flags = LNET_OP_ACK;
		a.portal = 21;
		if (lnet_put_wait(n, &a, NULL))
			_exit(2);
		a.portal = 20;
		if (lnet_get_wait(n, &a, NULL))
			_exit(3);
	}
}

static pid_t client(unsigned host, int p)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ready[0]);
		be_client(host, p, ready[1]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/* The server is a process of its own, too: forking beside threads is not done. */
struct report {
	unsigned started, ended, bad_b, rounds;
	unsigned left; /* messages that were never ended */
	int status;
};

static int busy_peers(void *arg, const struct lnet_peer_info *i)
{
	for (unsigned k = 0; k < i->nni; k++)
		*(unsigned *)arg += i->ni[k].credits_free != i->ni[k].max_credits;
	return 0;
}

static void say(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s\n", text);
}

static int one_stat(void *arg, const char *name, uint64_t value)
{
	if (!strcmp(name, "msgs_alloc"))
		*(uint64_t *)arg = value;
	return 0;
}

/* Commands on `in`: a byte a round; the answer is a struct report. */
static void be_server(int p, int in, int out)
{
	static uint8_t src[CHUNK], pushed[CHUNK], sink[CHUNKS][CHUNK];
	struct lnet *n = open_node(0, p, 2, 0);
	struct report r = {0};
	struct counts c = {0}, b = {0};
	struct iovec iov = {src, CHUNK};
	char cmd;

	open_portal(n, 20, src, CHUNK, NULL);
	open_portal(n, 21, pushed, CHUNK, NULL);
	while (read(in, &cmd, 1) == 1 && cmd == 'r') {
		struct lnet_op_args a = args(1, &iov, &c);

		/* push and pull, to the one that will die and to the one that stays */
		a.portal = 22;
		for (unsigned i = 0; i < CHUNKS; i++) {
			a.flags = LNET_OP_ACK;
			a.target = nid_of(1);
			a.user = &c;
			r.started += lnet_put(n, &a, NULL) == 0;
			a.mem.iov = &(struct iovec){sink[i], CHUNK};
			r.started += lnet_get(n, &a, NULL) == 0;
			a.mem.iov = &iov;
			a.target = nid_of(2);
			a.user = &b;
			if (lnet_put(n, &a, NULL))
				r.bad_b++;
		}
		if (write(out, &cmd, 1) != 1)
			_exit(1);
		r.rounds++;
		if (!TL_UNTIL(NULL, atomic_load(&c.finals) == r.started, 20 * TL_S) ||
		        !TL_UNTIL(NULL, atomic_load(&b.finals) == r.rounds * CHUNKS, 20 * TL_S)) {
			lnet_dump(n, say, NULL);
			_exit(2);
		}
		r.bad_b += atomic_load(&b.ok) != r.rounds * CHUNKS;
		if (write(out, &cmd, 1) != 1)
			_exit(1);
	}
	r.ended = atomic_load(&c.finals);
	{
		struct lnet_nid any = lnet_nid_any();
		uint64_t alloc = 1;
		unsigned held = 1;

		for (unsigned i = 0; i < 200 && (held || alloc); i++) {
			held = 0;
			lnet_peer_each(n, &any, busy_peers, &held);
			lnet_stats_each(n, one_stat, &alloc);
			tl_sleep(10 * TL_MS);
		}
		r.left = held + (unsigned)alloc;
	}
	r.status = lnet_close(n, lnet_now(n) + tl_patience(5 * TL_S));
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

static void killed_in_the_middle(void **state)
{
	unsigned rounds = tl_scaled(25, 5), seed = (unsigned)tl_seed();
	int p = port(), to[2], from[2];
	struct report r;
	pid_t server, a, b;
	char cmd = 'r';
	int status;

	(void)state;
	print_message("seed %u\n", seed);
	assert_int_equal(pipe(to) | pipe(from), 0);
	server = fork();
	assert_true(server >= 0);
	if (server == 0) {
		close(to[1]);
		close(from[0]);
		be_server(p, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	tl_sleep(tl_patience(200 * TL_MS));
	b = client(2, p);
	for (unsigned i = 0; i < rounds; i++) {
		a = client(1, p);
		assert_int_equal(write(to[1], &cmd, 1), 1);
		assert_int_equal(read(from[0], &cmd, 1), 1);
		seed = seed * 1103515245u + 12345u;
		tl_sleep((seed >> 16) % 20 * TL_MS);
		kill(a, SIGKILL);
		waitpid(a, NULL, 0);
		if (read(from[0], &cmd, 1) != 1) {
			waitpid(server, &status, 0);
			fail_msg("the server ended with %#x in round %u", (unsigned)status, i);
		}
	}
	cmd = 'q';
	assert_int_equal(write(to[1], &cmd, 1), 1);
	kill(b, SIGKILL);
	waitpid(b, NULL, 0);
	assert_int_equal(read(from[0], &r, sizeof(r)), sizeof(r));
	waitpid(server, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(r.rounds, rounds);
	assert_int_equal(r.ended, r.started); /* each ended, once */
	assert_int_equal(r.bad_b, 0);         /* the other one did not notice */
	assert_int_equal(r.left, 0);          /* and everything is back */
	assert_int_equal(r.status, 0);
	close(to[1]);
	close(from[0]);
}

/* ---- a server that comes again --------------------------------------------------------------- */

/* A server that takes PUTs on portal 20 and answers nothing on portal 30. */
static pid_t serve(unsigned host, int p)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		static uint8_t buf[4096];
		struct lnet *n = open_node(host, p, 1, 0);

		open_portal(n, 20, buf, sizeof(buf), NULL);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/* Starts and kills servers on command: this process has threads, and does not fork beside them. */
struct nursery {
	pid_t pid;
	int to, from;
};

static void be_nursery(int in, int out, int p)
{
	pid_t server = 0;
	char c;

	while (read(in, &c, 1) == 1) {
		if (server) {
			kill(server, SIGKILL);
			waitpid(server, NULL, 0);
			server = 0;
		}
		if (c == 's')
			server = serve(1, p);
		if (write(out, &c, 1) != 1)
			break;
	}
	if (server)
		kill(server, SIGKILL);
	_exit(0);
}

static struct nursery nursery(int p)
{
	int to[2], from[2];
	struct nursery n;

	assert_int_equal(pipe(to) | pipe(from), 0);
	n = (struct nursery){.pid = fork(), .to = to[1], .from = from[0]};
	assert_true(n.pid >= 0);
	if (n.pid == 0) {
		close(to[1]);
		close(from[0]);
		be_nursery(to[0], from[1], p);
	}
	close(to[0]);
	close(from[1]);
	return n;
}

/* 's': kill what runs and start a new one; 'k': kill. */
static void order(const struct nursery *n, char c)
{
	assert_int_equal(write(n->to, &c, 1), 1);
	assert_int_equal(read(n->from, &c, 1), 1);
}

struct noted {
	_Atomic unsigned finals, stale;
	_Atomic int other;
};

static void note(const struct lnet_event *ev)
{
	struct noted *c = ev->user;

	if (!ev->final)
		return;
	if (ev->status == -ESTALE)
		atomic_fetch_add(&c->stale, 1);
	else
		atomic_store(&c->other, ev->status);
	atomic_fetch_add(&c->finals, 1);
}

static void in_flight(struct lnet *a, struct lnet_op_args *x, struct noted *c, unsigned many)
{
	memset(c, 0, sizeof(*c));
	x->portal = 30;
	x->handler = note;
	x->user = c;
	for (unsigned i = 0; i < many; i++)
		assert_int_equal((i % 2 ? lnet_put : lnet_get)(a, x, NULL), 0);
	tl_sleep(50 * TL_MS);
}

static void server_restarts(void **state)
{
	static uint8_t src[64];
	int p = port();
	struct nursery n = nursery(p);
	struct lnet *a = open_node(0, p, 1, 0);
	struct iovec iov = {src, sizeof(src)};
	struct lnet_op_args x = args(1, &iov, NULL);
	struct noted c;
	bool quick = false;

	(void)state;
	x.flags = LNET_OP_ACK;
	order(&n, 's');
	/* a machine that is too busy to start it again within the time of grace gets another chance
	 */
	for (unsigned i = 0; i < 20 && !quick; i++) {
		uint64_t start;

		x.portal = 20;
		assert_int_equal(lnet_put_wait(a, &x, NULL), 0);
		in_flight(a, &x, &c, 100);
		start = tl_now();
		order(&n, 's');
		quick = tl_now() - start < 200 * TL_MS;
		assert_true(TL_UNTIL(NULL, atomic_load(&c.finals) == 100, 10 * TL_S));
		if (quick && atomic_load(&c.stale) != 100)
			fail_msg("%u of 100 ended with -ESTALE; another one with %d",
			        atomic_load(&c.stale), atomic_load(&c.other));
		if (!quick)
			tl_sleep(TL_S);
	}
	if (!quick)
		print_message("the machine is too slow for this\n");
	x.portal = 20;
	assert_int_equal(lnet_put_wait(a, &x, NULL), 0);
	/* and killed for good */
	in_flight(a, &x, &c, 10);
	order(&n, 'k');
	assert_true(TL_UNTIL(NULL, atomic_load(&c.finals) == 10, 10 * TL_S));
	assert_int_equal(atomic_load(&c.stale), 0);
	assert_int_equal(atomic_load(&c.other), -ECONNRESET);
	close_node(a);
	close(n.to);
	waitpid(n.pid, NULL, 0);
	close(n.from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(killed_in_the_middle),
	        cmocka_unit_test(server_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
