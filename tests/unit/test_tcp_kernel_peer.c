/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captured bytes of kernel nodes, replayed against a whole node: what a kernel sends when it
 * connects and pings is answered as a kernel answers it, and a node that calls a kernel sends what
 * a kernel sends.
 */
#include "tcp_script.h"

#include <lnet/lnet.h>

#include "lnd-tcp/driver.h"

#define INC_AT     32 /* incarnation in a HELLO v2 or v3 */
#define DST_INC_AT 40

struct world {
	struct lnet *n;
	int port;
};

static int setup(void **state)
{
	static const struct lnet_lnd *const lnds[] = {&lnet_lnd_tcp, NULL};
	const char *ips[] = {NODE_IP, SCRIPT_IP};
	struct world *w = calloc(1, sizeof(*w));
	struct lnet_tun_val tun[2] = {{"port", 0}, {"conns_per_peer", 1}};
	struct lnet_ni_conf c;
	struct lnet_opts o;
	char why[200] = "";

	w->port = tl_free_port(ips, 2);
	assert_true(w->port > 1024);
	tun[0].value = w->port;
	lnet_opts_init(&o, sizeof(o));
	o.lnds = lnds;
	assert_int_equal(lnet_open(&o, &w->n), 0);
	lnet_ni_conf_init(&c, sizeof(c));
	c.net = LNET_NET(LNET_LND_TCP, 0);
	assert_int_equal(lnet_nid_parse(NODE_IP "@tcp", strlen(NODE_IP "@tcp"), &c.nid, NULL), 0);
	c.tun = tun;
	c.ntun = 2;
	if (lnet_ni_add(w->n, &c, NULL, why, sizeof(why)))
		fail_msg("%s", why);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	lnet_close(w->n, lnet_now(w->n) + 5 * TL_S);
	free(w);
	return 0;
}

static struct bytes from_kernel(const char *name)
{
	return vector(name, SCRIPT_IP, NODE_IP);
}

/* Captures in which our node is 10.7.0.1, the one that calls. */
static struct bytes to_kernel(const char *name)
{
	return vector(name, NODE_IP, SCRIPT_IP);
}

/* The node's HELLO is the captured one but for the incarnation, which is its own and always the
 * same. */
static void expect_hello(int fd, struct bytes v, uint64_t *inc)
{
	struct bytes got = {.n = v.n};
	uint64_t own;

	script_recv(fd, got.b, v.n);
	memcpy(&own, got.b + INC_AT, 8);
	if (*inc)
		assert_int_equal(own, *inc);
	*inc = own;
	assert_true(own != 0);
	memcpy(v.b + INC_AT, &own, 8);
	assert_memory_equal(got.b, v.b, v.n);
}

static void send_vector(int fd, struct bytes v)
{
	script_send(fd, v.b, v.n);
}

static void kernel_connects_and_pings(void **state)
{
	struct world *w = *state;
	uint64_t inc = 0;
	struct bytes want = from_kernel("01_ping_006_REPLY_PINGINFO"), got = {.n = want.n};
	int c, i, o;

	c = script_dial(w->port);
	send_vector(c, from_kernel("01_ping_001_CONNREQ"));
	send_vector(c, from_kernel("01_ping_002_HELLO"));
	expect_hello(c, from_kernel("01_ping_003_HELLO"), &inc);
	send_vector(c, from_kernel("01_ping_004_GET"));
	script_recv(c, got.b, got.n);
	/* the sequence number counts changes of the node's own configuration */
	memcpy(want.b + 24 + 72 + 16 + 8, got.b + 24 + 72 + 16 + 8, 4);
	assert_memory_equal(got.b, want.b, want.n);

	i = script_dial(w->port);
	send_vector(i, from_kernel("01_ping_005_CONNREQ"));
	send_vector(i, from_kernel("01_ping_007_HELLO"));
	expect_hello(i, from_kernel("01_ping_008_HELLO"), &inc);
	o = script_dial(w->port);
	send_vector(o, from_kernel("01_ping_009_CONNREQ"));
	send_vector(o, from_kernel("01_ping_010_HELLO"));
	expect_hello(o, from_kernel("01_ping_011_HELLO"), &inc);

	/* the next ping goes the same way; the replies echo its handle */
	send_vector(c, from_kernel("02_ping_again_001_GET"));
	want = from_kernel("02_ping_again_002_REPLY_PINGINFO");
	script_recv(c, got.b, got.n);
	memcpy(want.b + 24 + 72 + 16 + 8, got.b + 24 + 72 + 16 + 8, 4);
	assert_memory_equal(got.b, want.b, want.n);
	assert_true(script_quiet(c, 50) && script_quiet(i, 1) && script_quiet(o, 1));

	/* a keepalive needs no answer */
	send_vector(o, vector("50_keepalive_001_NOOP", SCRIPT_IP, NODE_IP));
	assert_true(script_quiet(o, 50));

	/* one connection of a peer closes: all do */
	close(i);
	assert_true(script_closed(c));
	assert_true(script_closed(o));
	close(c);
	close(o);
}

static void kernel_pushes(void **state)
{
	struct world *w = *state;
	struct bytes want = from_kernel("03_discover_005_ACK");
	uint64_t inc = 0;
	int c = script_dial(w->port);

	send_vector(c, from_kernel("01_ping_001_CONNREQ"));
	send_vector(c, from_kernel("01_ping_002_HELLO"));
	expect_hello(c, from_kernel("01_ping_003_HELLO"), &inc);
	send_vector(c, from_kernel("03_discover_003_PUT_PINGINFO"));
	script_expect(c, &want);
	close(c);
}

/* A refused or unknown request is answered as the kernel answers it. */
static void kernel_refuses(void **state)
{
	static const uint8_t query_answer[16] = {0x00, 0x71, 0xce, 0xac, 1};
	struct world *w = *state;
	struct bytes v = from_kernel("01_ping_001_CONNREQ"), h = from_kernel("01_ping_002_HELLO");
	uint8_t got[56];
	int fd;

	v.b[4] = 3; /* version */
	fd = script_dial(w->port);
	send_vector(fd, v);
	send_vector(fd, h);
	script_recv(fd, got, 16);
	assert_memory_equal(got, query_answer, 16);
	assert_true(script_closed(fd));
	close(fd);

	h.b[4] = 5;
	fd = script_dial(w->port);
	send_vector(fd, from_kernel("01_ping_001_CONNREQ"));
	send_vector(fd, h);
	script_recv(fd, got, 56);
	assert_int_equal(got[4], 3);
	assert_memory_equal(got + 8, got + 16, 8); /* source = destination = its own NID */
	assert_memory_equal(got + 48, "\xff\xff\xff\xff\0\0\0\0", 8);
	assert_true(script_closed(fd));
	close(fd);
}

struct ping {
	struct lnet *n;
	bool over;
	int status;
	uint32_t features;
};

static void pinged(void *user, int status, const struct lnet_ping_result *r)
{
	struct ping *p = user;

	p->status = status;
	p->features = r ? r->features : 0;
	__atomic_store_n(&p->over, true, __ATOMIC_RELEASE);
}

static bool over(void *arg)
{
	return __atomic_load_n(&((struct ping *)arg)->over, __ATOMIC_ACQUIRE);
}

static void start_ping(struct world *w, struct ping *p)
{
	struct lnet_nid nid, any = lnet_nid_any();

	*p = (struct ping){.n = w->n};
	assert_int_equal(lnet_nid_parse(SCRIPT_IP "@tcp", strlen(SCRIPT_IP "@tcp"), &nid, NULL), 0);
	assert_int_equal(lnet_ping_start(w->n, &nid, LNET_PID_LUSTRE, &any,
	                         lnet_now(w->n) + 10 * TL_S, pinged, p),
	        0);
}

/* Take the node's call: request and HELLO are the captured ones; answer. */
static int take_call(int lfd, const char *req, const char *hello, const char *answer, uint64_t *inc)
{
	struct bytes v = to_kernel(req);
	int fd = script_accept(lfd);

	script_expect(fd, &v);
	expect_hello(fd, to_kernel(hello), inc);
	send_vector(fd, to_kernel(answer));
	return fd;
}

/* The captured GET but for the handle and the sizes that are the core's choice. */
static void answer_ping(int fd)
{
	struct bytes want = to_kernel("01_ping_004_GET"), got = {.n = want.n};
	struct bytes reply = to_kernel("01_ping_006_REPLY_PINGINFO");

	script_recv(fd, got.b, got.n);
	memcpy(want.b + 24 + 32, got.b + 24 + 32, 16); /* the handle */
	memcpy(want.b + 24 + 64, got.b + 24 + 64, 4);  /* the sink's length */
	assert_memory_equal(got.b, want.b, want.n);
	memcpy(reply.b + 24 + 32, got.b + 24 + 32, 16);
	send_vector(fd, reply);
}

static void we_call_a_kernel(void **state)
{
	struct world *w = *state;
	int lfd = script_listen(w->port), c, i, o;
	uint64_t inc = 0;
	struct ping p;

	start_ping(w, &p);
	c = take_call(lfd, "01_ping_001_CONNREQ", "01_ping_002_HELLO", "01_ping_003_HELLO", &inc);
	answer_ping(c);
	assert_true(TL_UNTIL(NULL, over(&p), 5 * TL_S));
	assert_int_equal(p.status, 0);
	assert_int_equal(p.features, 0x1e);
	i = take_call(lfd, "01_ping_005_CONNREQ", "01_ping_007_HELLO", "01_ping_008_HELLO", &inc);
	o = take_call(lfd, "01_ping_009_CONNREQ", "01_ping_010_HELLO", "01_ping_011_HELLO", &inc);
	assert_true(script_quiet(lfd, 100)); /* that was all */
	start_ping(w, &p);
	answer_ping(c);
	assert_true(TL_UNTIL(NULL, over(&p), 5 * TL_S));
	assert_int_equal(p.status, 0);
	close(c);
	close(i);
	close(o);
	close(lfd);
}

/* A peer that knows v2 alone answers NONE in v2; the next call is made in v2 at once. */
static void we_fall_back(void **state)
{
	struct world *w = *state;
	struct bytes v = to_kernel("01_ping_001_CONNREQ"), h = to_kernel("01_ping_003_HELLO");
	struct bytes want = to_kernel("01_ping_002_HELLO");
	int lfd = script_listen(w->port), fd;
	uint64_t inc = 0;
	struct ping p;

	start_ping(w, &p);
	fd = script_accept(lfd);
	script_expect(fd, &v);
	expect_hello(fd, want, &inc);
	h.b[4] = 2;
	memset(h.b + 48, 0xff, 4);
	send_vector(fd, h);
	assert_true(script_closed(fd));
	close(fd);
	fd = script_accept(lfd);
	script_expect(fd, &v);
	want.b[4] = 2;
	expect_hello(fd, want, &inc);
	memset(h.b + 48, 0, 4);
	h.b[48] = 1;
	send_vector(fd, h);
	answer_ping(fd);
	assert_true(TL_UNTIL(NULL, over(&p), 5 * TL_S));
	assert_int_equal(p.status, 0);
	close(fd);
	close(lfd);
}

/* Three refusals without any connection: the ping ends with an error, long before its deadline. */
static void we_are_refused(void **state)
{
	struct world *w = *state;
	struct bytes h = to_kernel("01_ping_003_HELLO");
	int lfd = script_listen(w->port);
	struct ping p;

	memset(h.b + 48, 0xff, 4);
	start_ping(w, &p);
	for (int i = 0; i < 3; i++) {
		uint8_t b[72];
		int fd = script_accept(lfd);

		script_recv(fd, b, sizeof(b));
		send_vector(fd, h);
		assert_true(script_closed(fd));
		close(fd);
	}
	assert_true(TL_UNTIL(NULL, over(&p), 5 * TL_S));
	assert_true(p.status < 0);
	close(lfd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(kernel_connects_and_pings, setup, teardown),
	        cmocka_unit_test_setup_teardown(kernel_pushes, setup, teardown),
	        cmocka_unit_test_setup_teardown(kernel_refuses, setup, teardown),
	        cmocka_unit_test_setup_teardown(we_call_a_kernel, setup, teardown),
	        cmocka_unit_test_setup_teardown(we_fall_back, setup, teardown),
	        cmocka_unit_test_setup_teardown(we_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
