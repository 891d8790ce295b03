/* SPDX-License-Identifier: BSD-2-Clause */
/* Bad bytes and bad manners: each costs its connection and moves one named counter. */
#include "tcp_fixture.h"
#include "tcp_script.h"

#include "lnd-tcp/proto.h"

static int node_setup(void **state)
{
	const char *ips[] = {NODE_IP, SCRIPT_IP};
	struct pair *p = calloc(1, sizeof(*p));
	struct fc_conf c = {.incarnation = 77, .threads = true};
	struct fc_tun t[] = {{"port", 0}, {"conns_per_peer", 1}, {"accept_timeout", 1}};

	p->pump = (struct tl_pump){pair_turn, p};
	p->port = tl_free_port(ips, 2);
	t[0].value = p->port;
	p->a = tcp_node_conf(&c, NODE_IP, t, 3);
	*state = p;
	return 0;
}

static void wait_stat(struct pair *p, const char *name, uint64_t v)
{
	if (!TL_UNTIL(NULL, stat_of(p->a, name) == v, 5 * TL_S))
		fail_msg("%s is %llu, not %llu", name, (unsigned long long)stat_of(p->a, name),
		        (unsigned long long)v);
}

static struct tcp_hello hello_of(const char *ip, uint32_t version, uint32_t ctype, uint64_t inc)
{
	return (struct tcp_hello){.version = version,
	        .src_nid = nid_of(ip),
	        .dst_nid = nid_of(NODE_IP),
	        .src_pid = LNET_PID_LUSTRE,
	        .src_incarnation = inc,
	        .ctype = ctype};
}

static size_t request(uint8_t *b, bool be)
{
	struct lnet_nid nid = nid_of(NODE_IP);

	return tcp_accept_encode(&nid, be, b);
}

/* Request and HELLO; the answer's type, or 1000 if there is none. */
static int shake(struct pair *p, struct tcp_hello h, uint32_t *answer)
{
	uint8_t b[256];
	size_t n = request(b, h.be), need;
	struct tcp_hello got;
	const char *why;
	int fd = script_dial(p->port), k;

	k = tcp_hello_encode(&h, b + n);
	assert_true(k > 0);
	script_send(fd, b, n + (size_t)k);
	*answer = 1000;
	if (recv(fd, b, (size_t)k, MSG_WAITALL) == k) {
		assert_int_equal(tcp_hello_parse(b, (size_t)k, &got, &need, &why), TCP_PARSE_OK);
		assert_int_equal(got.version, h.version);
		*answer = got.ctype;
	}
	return fd;
}

static int connected(struct pair *p, uint32_t version, uint32_t ctype)
{
	uint32_t answer;
	int fd = shake(p, hello_of(SCRIPT_IP, version, ctype, 5), &answer);

	assert_true(answer <= TCP_CTYPE_BULK_OUT);
	return fd;
}

static void expect_refused(struct pair *p, const void *b, size_t n, const char *stat)
{
	uint64_t before = stat_of(p->a, stat);
	int fd = script_dial(p->port);

	script_send(fd, b, n);
	assert_true(script_closed(fd));
	close(fd);
	wait_stat(p, stat, before + 1);
}

static void bad_requests(void **state)
{
	struct pair *p = *state;
	uint8_t b[64];
	size_t n = request(b, false);

	expect_refused(p, "GET / HTTP/1.0\r\n\r\n", 18, "bad_magic");
	b[0] ^= 1;
	expect_refused(p, b, n, "bad_magic");
	request(b, false);
	b[4] = 9;
	expect_refused(p, b, n, "bad_version");
	request(b, false);
	b[8] ^= 1; /* another address */
	expect_refused(p, b, n, "bad_target");
	assert_true(p->a->rx_parsed == 0);
}

static void bad_hellos(void **state)
{
	struct pair *p = *state;
	struct tcp_hello h = hello_of(SCRIPT_IP, 3, TCP_CTYPE_CONTROL, 5);
	uint8_t b[256];
	size_t n = request(b, false), k;

	k = (size_t)tcp_hello_encode(&h, b + n);
	b[n] ^= 0x80;
	expect_refused(p, b, n + k, "bad_magic");
	tcp_hello_encode(&h, b + n);
	b[n + 4] = 77;
	expect_refused(p, b, n + k, "bad_version");
	tcp_hello_encode(&h, b + n);
	b[n + 52] = 17; /* addresses */
	expect_refused(p, b, n + k, "bad_hello");
	tcp_hello_encode(&h, b + n);
	b[n + 48] = 7;
	expect_refused(p, b, n + k, "bad_hello");
	h.ctype = TCP_CTYPE_NONE;
	tcp_hello_encode(&h, b + n);
	expect_refused(p, b, n + k, "bad_hello");
	h = hello_of("127.0.0.77", 3, TCP_CTYPE_CONTROL, 5);
	tcp_hello_encode(&h, b + n);
	expect_refused(p, b, n + k, "refused_nid");
	h = hello_of(SCRIPT_IP, 3, TCP_CTYPE_CONTROL, 5);
	h.src_pid = LNET_PID_ANY;
	tcp_hello_encode(&h, b + n);
	expect_refused(p, b, n + k, "bad_hello");
}

/* Cut after every byte; a byte at a time is as good as all at once; silence ends at the deadline.
 */
static void cut_and_slow(void **state)
{
	struct pair *p = *state;
	struct tcp_hello h = hello_of(SCRIPT_IP, 3, TCP_CTYPE_CONTROL, 5);
	uint8_t b[256];
	size_t n = request(b, false);
	int fd;

	n += (size_t)tcp_hello_encode(&h, b + n);
	for (size_t i = 0; i < n; i++) {
		fd = script_dial(p->port);
		if (i)
			script_send(fd, b, i);
		close(fd);
		wait_stat(p, "handshake_eof", i + 1);
	}
	fd = script_dial(p->port);
	for (size_t i = 0; i < n; i++)
		script_send(fd, b + i, 1);
	script_recv(fd, b, 56);
	close(fd);
	fd = script_dial(p->port);
	script_send(fd, b, 1);
	assert_true(script_closed(fd));
	close(fd);
	wait_stat(p, "handshake_timeout", 1);
}

static void versions_and_orders(void **state)
{
	struct pair *p = *state;
	uint32_t answer;

	for (uint32_t v = 1; v <= 4; v++)
		for (int be = 0; be < 2; be++) {
			struct tcp_hello h = hello_of(SCRIPT_IP, v, TCP_CTYPE_BULK_IN, 5);
			uint64_t before = stat_of(p->a, "closes");
			int fd;

			h.be = be;
			fd = shake(p, h, &answer);
			assert_int_equal(answer, TCP_CTYPE_BULK_OUT);
			close(fd);
			wait_stat(p, "closes", before + 1);
		}
}

static void limits(void **state)
{
	struct pair *p = *state;
	struct tcp_hello h = hello_of(SCRIPT_IP, 3, TCP_CTYPE_CONTROL, 5);
	uint32_t answer;
	int fd[20], c, d;

	c = shake(p, h, &answer);
	assert_int_equal(answer, TCP_CTYPE_CONTROL);
	d = shake(p, h, &answer);
	assert_int_equal(answer, TCP_CTYPE_NONE);
	wait_stat(p, "duplicate_conn", 1);
	close(d);
	for (int i = 0; i < 20; i++)
		fd[i] = script_dial(p->port);
	wait_stat(p, "refused_limit", 4);
	for (int i = 0; i < 20; i++)
		close(fd[i]);
	close(c);
}

static void new_incarnation(void **state)
{
	struct pair *p = *state;
	struct tcp_hello h = hello_of(SCRIPT_IP, 3, TCP_CTYPE_CONTROL, 5);
	struct fc_rail *r;
	uint32_t answer;
	int c = shake(p, h, &answer), d;

	assert_int_equal(answer, TCP_CTYPE_CONTROL);
	h.src_incarnation = 6;
	d = shake(p, h, &answer);
	assert_int_equal(answer, TCP_CTYPE_NONE);
	assert_true(script_closed(c));
	close(d);
	d = shake(p, h, &answer);
	assert_int_equal(answer, TCP_CTYPE_CONTROL);
	r = fc_rail_find(p->a, &h.src_nid);
	assert_non_null(r);
	assert_true(TL_UNTIL(NULL, r->restarts == 1 && r->ups == 2 && r->downs == 1, 5 * TL_S));
	close(c);
	close(d);
}

/* ---- the stream ------------------------------------------------------------------------------ */

static size_t put_message(
        uint8_t *b, uint32_t version, uint64_t id, uint32_t len, uint64_t zc, uint64_t ack)
{
	struct tcp_frame f = {.type = TCP_FRAME_LNET, .cookie = {zc, ack}};
	struct lnet_hdr h = {.dest_nid = nid_of(NODE_IP),
	        .src_nid = nid_of(SCRIPT_IP),
	        .dest_pid = LNET_PID_LUSTRE,
	        .src_pid = LNET_PID_LUSTRE,
	        .type = LNET_MSG_PUT,
	        .payload_length = len};
	int n;

	h.msg.put.ack_wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
	h.msg.put.match_bits = id;
	h.msg.put.hdr_data = ~id;
	h.msg.put.ptl_index = (uint32_t)(id % LNET_MAX_PORTALS);
	h.msg.put.offset = (uint32_t)(id * 7);
	n = tcp_msg_encode(&f, &h, version, false, b);
	assert_true(n > 0);
	tl_fill(id, 0, b + n, len);
	return (size_t)n + len;
}

static void expect_closed(struct pair *p, int fd, const void *b, size_t n, const char *stat)
{
	uint64_t before = stat_of(p->a, stat);

	script_send(fd, b, n);
	assert_true(script_closed(fd));
	close(fd);
	wait_stat(p, stat, before + 1);
}

static void bad_frames(void **state)
{
	struct pair *p = *state;
	uint8_t b[512];
	size_t n;
	int fd;

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 1, 8, 0, 0);
	b[0] = 0xc2;
	expect_closed(p, fd, b, n, "bad_type");

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 1, 8, 0, 1234); /* nobody asked for that */
	expect_closed(p, fd, b, n, "bad_cookie");

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 1, 8, 1, 0);
	expect_closed(p, fd, b, n, "bad_cookie");

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 1, 8, 0, 0);
	b[24 + 24] = 9; /* message type */
	expect_closed(p, fd, b, n, "bad_header");

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	put_message(b, 3, 1, 8, 0, 0);
	memset(b + 24 + 28, 0xff, 4); /* payload length */
	expect_closed(p, fd, b, 96, "bad_header");

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 2, 100, 0, 0);
	script_send(fd, b, n - 1);
	shutdown(fd, SHUT_WR);
	assert_true(script_closed(fd));
	close(fd);
	wait_stat(p, "eof_in_message", 1);
	assert_true(TL_UNTIL(NULL, p->a->rx_failed == 1, 5 * TL_S));
}

static void checksums(void **state)
{
	struct pair *p = *state;
	uint8_t b[512];
	uint32_t crc;
	size_t n;
	int fd;

	fd = connected(p, 2, TCP_CTYPE_ANY);
	n = put_message(b, 2, 1, 100, 0, 0);
	crc = tcp_csum(TCP_CSUM_INIT, b, n);
	memcpy(b + 4, &crc, 4);
	script_send(fd, b, n);
	assert_true(TL_UNTIL(NULL, p->a->rx_ok == 1, 5 * TL_S));
	b[4] ^= 1;
	expect_closed(p, fd, b, n, "bad_checksum");
	p->a->allow_twice = true;
	assert_int_equal(p->a->rx_failed, 1);

	fd = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 3, 100, 0, 0);
	crc = tcp_csum(TCP_CSUM_INIT, b + 96, 100);
	memcpy(b + 4, &crc, 4);
	script_send(fd, b, n);
	assert_true(TL_UNTIL(NULL, p->a->rx_ok == 2, 5 * TL_S));
	memset(b, 0, 24); /* a NOOP with a checksum */
	b[0] = 0xc0;
	b[4] = 1;
	expect_closed(p, fd, b, 24, "bad_checksum");
}

static void expect_noop(int fd, uint64_t c0, uint64_t c1)
{
	uint8_t b[24];
	struct tcp_frame f;

	script_recv(fd, b, 24);
	tcp_frame_decode(b, false, &f);
	assert_int_equal(f.type, TCP_FRAME_NOOP);
	assert_int_equal(f.csum, 0);
	assert_int_equal(f.cookie[0], c0);
	assert_int_equal(f.cookie[1], c1);
}

static enum fc_act throw_away(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	(void)rx;
	return FC_DISCARD;
}

/* A ZC-ACK comes for each cookie, on the connection that the peer holds as bulk out, also for
 * messages that nobody wanted. */
static void zero_copy_acks(void **state)
{
	struct pair *p = *state;
	uint8_t *b = malloc(1 << 18);
	int c = connected(p, 3, TCP_CTYPE_CONTROL), o = connected(p, 3, TCP_CTYPE_BULK_OUT);
	size_t n;

	n = put_message(b, 3, 1, 100000, 2, 0);
	script_send(c, b, n);
	expect_noop(o, 0, 2);
	n = put_message(b, 3, 2, 50, 3, 0);
	n += put_message(b + n, 3, 3, 60, 4, 0);
	n += put_message(b + n, 3, 4, 0, 5, 0);
	script_send(o, b, n);
	expect_noop(o, 3, 5);
	p->a->on_parse = throw_away;
	n = put_message(b, 3, 5, 100000, 6, 0);
	script_send(o, b, n);
	expect_noop(o, 0, 6);
	assert_true(script_quiet(c, 30) && script_quiet(o, 1));
	wait_stat(p, "zc_requests", 5);
	wait_stat(p, "zc_acks", 5);
	close(o);
	assert_true(script_closed(c));
	close(c);
	/* alone, on control; in v2 one at a time */
	p->a->on_parse = NULL;
	c = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 6, 20000, 2, 0);
	script_send(c, b, n);
	expect_noop(c, 0, 2);
	close(c);
	assert_true(TL_UNTIL(NULL, stat_of(p->a, "closes") == 3, 5 * TL_S));
	c = connected(p, 2, TCP_CTYPE_ANY);
	n = put_message(b, 2, 7, 20, 2, 0);
	n += put_message(b + n, 2, 8, 20, 3, 0);
	script_send(c, b, n);
	expect_noop(c, 0, 2);
	expect_noop(c, 0, 3);
	close(c);
	free(b);
}

/* Messages cut into pieces of every size arrive whole. */
static void dribble(void **state)
{
	struct pair *p = *state;
	uint8_t b[4096];
	size_t n = 0, at, step;
	int fd = connected(p, 3, TCP_CTYPE_CONTROL), one = 1;

	setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof(one));
	for (uint64_t id = 1; id <= 8; id++)
		n += put_message(b + n, 3, id, (uint32_t)(id * 37 % 300), 0, 0);
	for (at = 0, step = 1; at < n; at += step, step = step % 97 + 1) {
		step = step < n - at ? step : n - at;
		script_send(fd, b + at, step);
		tl_sleep(50 * TL_US);
	}
	assert_true(TL_UNTIL(NULL, p->a->rx_ok == 8, 5 * TL_S));
	close(fd);
}

static _Atomic(struct fc_rx *) held;

static enum fc_act hold_first(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	if (rx->id != 1)
		return FC_RECV;
	held = rx;
	return FC_HOLD;
}

/* A message that the core keeps waiting stops its connection and no other. */
static void parked(void **state)
{
	struct pair *p = *state;
	uint8_t b[4096];
	size_t n = 0;
	int c = connected(p, 3, TCP_CTYPE_CONTROL), o = connected(p, 3, TCP_CTYPE_BULK_OUT);

	p->a->on_parse = hold_first;
	n += put_message(b + n, 3, 1, 500, 0, 0);
	n += put_message(b + n, 3, 2, 100, 0, 0);
	script_send(c, b, n);
	n = put_message(b, 3, 3, 100, 0, 0);
	script_send(o, b, n);
	assert_true(TL_UNTIL(NULL, p->a->rx_ok == 1, 5 * TL_S));
	tl_sleep(20 * TL_MS);
	assert_int_equal(p->a->rx_parsed, 2);
	assert_true(fc_recv(held) >= 0);
	assert_true(TL_UNTIL(NULL, p->a->rx_ok == 3, 5 * TL_S));
	/* one that is held while its connection dies */
	held = NULL;
	p->a->allow_twice = true;
	n = put_message(b, 3, 1, 500, 0, 0);
	script_send(c, b, n);
	assert_true(TL_UNTIL(NULL, held, 5 * TL_S));
	close(o);
	assert_true(TL_UNTIL(NULL, stat_of(p->a, "closes") == 2, 5 * TL_S));
	assert_int_equal(p->a->rx_failed, 0);
	assert_int_equal(fc_recv(held), 0);
	assert_true(TL_UNTIL(NULL, p->a->rx_failed == 1, 5 * TL_S));
	close(c);
}

/* A second of silence: a NOOP on the connection that is our bulk in. */
static void keepalive(void **state)
{
	struct pair *p = *state;
	int c = connected(p, 3, TCP_CTYPE_CONTROL), o;

	fc_set_tunable(p->a, "keepalive", 1);
	o = connected(p, 3, TCP_CTYPE_BULK_OUT);
	expect_noop(o, 0, 1);
	wait_stat(p, "keepalives", 1);
	assert_true(script_quiet(c, 10));
	close(o);
	close(c);
}

/* Half a message and then nothing. */
static void rx_stall(void **state)
{
	struct pair *p = *state;
	uint8_t b[1000];
	size_t n;
	int c;

	fc_set_tunable(p->a, "timeout", 1);
	c = connected(p, 3, TCP_CTYPE_CONTROL);
	n = put_message(b, 3, 1, 500, 0, 0);
	script_send(c, b, n - 100);
	assert_true(script_closed(c));
	close(c);
	wait_stat(p, "rx_stall", 1);
	assert_true(TL_UNTIL(NULL, p->a->rx_failed == 1, 5 * TL_S));
}

/* A peer that does not read: the messages end when nothing has moved for the timeout. */
static void tx_stall(void **state)
{
	struct pair *p = *state;
	struct fc_tx *tx[12];
	struct fc_rail *r;
	int c, o;

	fc_set_tunable(p->a, "timeout", 4); /* longer than handing over takes on a slow machine */
	c = connected(p, 3, TCP_CTYPE_CONTROL);
	o = connected(p, 3, TCP_CTYPE_BULK_IN);
	r = rail_to(p->a, SCRIPT_IP);
	for (unsigned i = 0; i < 12; i++) {
		tx[i] = fc_put(r, i + 1, LNET_MTU, 2, 20 * TL_S);
		assert_int_equal(fc_send(tx[i]), 0);
	}
	for (unsigned i = 0; i < 12; i++)
		assert_true(TL_UNTIL(NULL, tx[i]->over, 30 * TL_S));
	assert_int_equal(tx[11]->status, -ETIMEDOUT);
	assert_false(tx[11]->sent);
	close(o);
	close(c);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, node_setup, pair_teardown)
	const struct CMUnitTest tests[] = {
	        T(bad_requests),
	        T(bad_hellos),
	        T(cut_and_slow),
	        T(versions_and_orders),
	        T(limits),
	        T(new_incarnation),
	        T(bad_frames),
	        T(checksums),
	        T(zero_copy_acks),
	        T(dribble),
	        T(parked),
	        T(keepalive),
	        T(rx_stall),
	        T(tx_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
