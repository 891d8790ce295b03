/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers made of plain sockets, for drivers that speak socklnd's protocol: what dies at each byte of
 * a handshake or of a message. (spec: wire-socklnd.md sections 2, 4 and 6) */
#include "conformance/world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUEST 16u
#define HELLO   56u
#define RAW     3u /* the node whose NID the raw peer uses */

/* ---- raw peers ------------------------------------------------------------------------------ */

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static void request(uint8_t b[REQUEST], const struct lnet_nid *to)
{
	put32(b, 0xacce7100);
	put32(b + 4, 1);
	put64(b + 8, lnet_nid_to4(to));
}

static void hello(uint8_t b[HELLO], const struct lnet_nid *from, const struct lnet_nid *to,
        uint64_t incarnation, uint32_t ctype)
{
	memset(b, 0, HELLO);
	put32(b, 0x45726963);
	put32(b + 4, 3);
	put64(b + 8, lnet_nid_to4(from));
	put64(b + 16, lnet_nid_to4(to));
	put32(b + 24, LNET_PID_LUSTRE);
	put64(b + 32, incarnation);
	put32(b + 48, ctype);
}

static struct sockaddr_in address(struct world *w, unsigned i, int port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	(void)w;
	sa.sin_addr.s_addr = htonl(0x7f000002u + i);
	return sa;
}

static int raw_connect(struct world *w, unsigned from, unsigned to)
{
	struct sockaddr_in me = address(w, from, 0), peer = address(w, to, w->port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&me, sizeof(me)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&peer, sizeof(peer)), 0);
	return fd;
}

static int raw_listen(struct world *w, unsigned i)
{
	struct sockaddr_in me = address(w, i, w->port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&me, sizeof(me)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static void end_socket(int fd, bool reset)
{
	struct linger l = {1, 0};

	if (reset)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Reads n bytes while the world turns. What came until the end of file or an error; -1 nothing new
 * for 10 s. */
static ssize_t raw_read(struct world *w, int fd, uint8_t *buf, size_t n)
{
	size_t got = 0;

	while (got < n) {
		if (!TL_UNTIL(&w->pump, readable(fd), 10 * TL_S))
			return -1;
		ssize_t k = recv(fd, buf + got, n - got, 0);
		if (k <= 0)
			break;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

static int raw_accept(struct world *w, int lfd)
{
	if (!TL_UNTIL(&w->pump, readable(lfd), 10 * TL_S))
		fail_msg("nobody connects");
	int fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void raw_write(int fd, const void *buf, size_t n)
{
	assert_int_equal(send(fd, buf, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* A whole connection from the raw peer to node 0; the type that the answer bears. */
static int raw_join(struct world *w, uint64_t incarnation, uint32_t ctype, uint32_t *answer)
{
	uint8_t b[REQUEST + HELLO], a[HELLO];
	int fd = raw_connect(w, RAW, 0);

	request(b, &w->nid[0]);
	hello(b + REQUEST, &w->nid[RAW], &w->nid[0], incarnation, ctype);
	raw_write(fd, b, sizeof(b));
	assert_int_equal(raw_read(w, fd, a, sizeof(a)), HELLO);
	memcpy(answer, a + 48, 4);
	*answer = le32toh(*answer);
	return fd;
}

static size_t raw_put(uint8_t *b, struct world *w, uint64_t id, uint32_t len)
{
	struct lnet_hdr h = {
	        .dest_nid = w->nid[0],
	        .src_nid = w->nid[RAW],
	        .dest_pid = LNET_PID_LUSTRE,
	        .src_pid = LNET_PID_LUSTRE,
	        .type = LNET_MSG_PUT,
	        .payload_length = len,
	};

	h.msg.put.ack_wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
	h.msg.put.match_bits = id;
	h.msg.put.hdr_data = ~id;
	h.msg.put.ptl_index = (uint32_t)(id % LNET_MAX_PORTALS);
	h.msg.put.offset = (uint32_t)(id * 7);
	memset(b, 0, 24);
	put32(b, 0xc1);
	assert_int_equal(lnet_hdr_encode4(&h, b + 24), 0);
	tl_fill(id, 0, b + 96, len);
	return 96 + len;
}

/* ---- death in the handshake ----------------------------------------------------------------- */

static void world_is_well(struct world *w)
{
	w_no_faults(w);
	w_put_ok(w, 1, 0, 2000, 1);
	w_put_ok(w, 0, 1, 2000, 1);
}

/* The peer that connects dies after each byte. */
static void passive_cut(void **state)
{
	struct world *w = *state;
	uint8_t b[REQUEST + HELLO];
	unsigned step = tl_scale() < 1 ? 5 : 1;

	w_pair(w);
	request(b, &w->nid[0]);
	hello(b + REQUEST, &w->nid[RAW], &w->nid[0], 77, 1);
	for (size_t k = 0; k <= sizeof(b); k += step) {
		int fd = raw_connect(w, RAW, 0);
		if (k)
			raw_write(fd, b, k);
		if (k & 1)
			tl_run_for(&w->pump, TL_MS);
		end_socket(fd, k & 2);
		for (int i = 0; i < 5; i++)
			w_turn_only(w, 0, 1);
	}
	world_is_well(w);
	assert_true(*fc_stat(w->n[0], "handshake_eof") > 0);
}

/* The peer that accepts dies after each byte of its answer. */
static void active_cut(void **state)
{
	struct world *w = *state;
	uint8_t in[REQUEST + HELLO], b[HELLO];
	unsigned step = tl_scale() < 1 ? 11 : 3;

	w->extra[w->nextra++] = (struct fc_tun){"max_reconnectms", 20};
	w_start(w, 0);
	w_start(w, 1);
	int lfd = raw_listen(w, RAW);
	struct fc_rail *r = w_rail(w, 0, RAW);
	for (size_t k = 0; k < HELLO; k += step) {
		struct fc_tx *tx = w_put(w, r, 300, W_LONG);
		int fd = raw_accept(w, lfd);
		assert_int_equal(raw_read(w, fd, in, sizeof(in)), sizeof(in));
		hello(b, &w->nid[RAW], &w->nid[0], 78, 1);
		if (k)
			raw_write(fd, b, k);
		tl_run_for(&w->pump, TL_MS);
		end_socket(fd, k & 1);
		W_UNTIL(w, tx->over);
		assert_true(tx->status < 0 && tx->status != -ETIMEDOUT);
		assert_false(tx->sent);
	}
	close(lfd);
	assert_int_equal(atomic_load(&r->ups), 0);
	assert_true(atomic_load(&r->fails) > 0);
	world_is_well(w);
}

/* It says nothing, or stops in the middle: the handshake has its own end. */
static void passive_silent(void **state)
{
	struct world *w = *state;
	uint8_t b[REQUEST + HELLO];
	static const size_t lens[] = {0, 7, REQUEST, REQUEST + 30};
	int fd[4];

	w->extra[w->nextra++] = (struct fc_tun){"accept_timeout", 1};
	w_pair(w);
	request(b, &w->nid[0]);
	hello(b + REQUEST, &w->nid[RAW], &w->nid[0], 77, 1);
	for (int i = 0; i < 4; i++) {
		fd[i] = raw_connect(w, RAW, 0);
		if (lens[i])
			raw_write(fd[i], b, lens[i]);
	}
	for (int i = 0; i < 4; i++) {
		uint8_t c;
		assert_int_equal(raw_read(w, fd[i], &c, 1), 0);
		close(fd[i]);
	}
	assert_int_equal(*fc_stat(w->n[0], "handshake_timeout"), 4);
	world_is_well(w);
}

/* ---- death in a message --------------------------------------------------------------------- */

static void message_cut(void **state)
{
	struct world *w = *state;
	static const size_t at[] = {0, 1, 23, 24, 25, 60, 95, 96, 97, 4000, 30000, 70095, 70096};
	uint8_t *b = malloc(100000);
	uint64_t incarnation = 500;

	assert_non_null(b);
	w_pair(w);
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		uint32_t answer;
		/* the same incarnation each time: it is the same node, which reconnects */
		int fd = raw_join(w, incarnation, 1, &answer);
		assert_int_equal(answer, 1);
		uint64_t id = w_id(w);
		raw_put(b, w, id, 70000);
		unsigned parsed = atomic_load(&w->n[0]->rx_parsed);
		if (at[i])
			raw_write(fd, b, at[i]);
		if (i & 1)
			tl_run_for(&w->pump, TL_MS);
		end_socket(fd, i & 1);
		struct fc_rail *r = w_rail(w, 0, RAW);
		W_UNTIL(w, atomic_load(&r->downs) == i + 1 && w_idle(w));
		if (at[i] < 96)
			assert_int_equal(atomic_load(&w->n[0]->rx_parsed), parsed);
		struct fc_rx *rx = fc_rx_find(w->n[0], id);
		if (rx)
			assert_true((rx->status == 0) == (at[i] >= 70096));
		w_no_faults(w);
	}
	free(b);
	world_is_well(w);
	assert_int_equal(atomic_load(&w_rail(w, 0, RAW)->restarts), 0);
}

static enum fc_act by_id(struct fc_node *n, struct fc_rx *rx)
{
	(void)n;
	if (rx->id % 3 == 0)
		return FC_DISCARD;
	if (rx->id % 3 == 1)
		rx->mlen /= 2;
	return FC_RECV;
}

/* What is owed for a payload is sent for one that was cut short or thrown away too. */
static void zc_ack_owed(void **state)
{
	struct world *w = *state;
	uint8_t *b = malloc(100000), ack[24];
	uint32_t answer, type;
	uint64_t cookie[2];

	assert_non_null(b);
	w_pair(w);
	int fd = raw_join(w, 900, 1, &answer);
	assert_int_equal(answer, 1);
	w->n[0]->on_parse = by_id;
	for (uint64_t k = 2; k < 8; k++) {
		size_t n = raw_put(b, w, w_id(w), 20000);
		put64(b + 8, k); /* a zero-copy request */
		raw_write(fd, b, n);
		assert_int_equal(raw_read(w, fd, ack, sizeof(ack)), sizeof(ack));
		memcpy(&type, ack, 4);
		memcpy(cookie, ack + 8, 16);
		assert_int_equal(le32toh(type), 0xc0);
		assert_int_equal(le64toh(cookie[0]), 0);
		assert_true(le64toh(cookie[1]) == k);
	}
	w->n[0]->on_parse = NULL;
	close(fd);
	free(b);
	world_is_well(w);
}

static bool closed_by_peer(int fd)
{
	char c;

	return readable(fd) && recv(fd, &c, 1, MSG_DONTWAIT) <= 0;
}

/* A new incarnation while the connection of the old one stands. */
static void new_incarnation(void **state)
{
	struct world *w = *state;
	uint32_t answer;
	uint8_t *b = malloc(200000);

	assert_non_null(b);
	w_pair(w);
	int old = raw_join(w, 1000, 1, &answer);
	assert_int_equal(answer, 1);
	struct fc_rail *r = w_rail(w, 0, RAW);
	W_UNTIL(w, atomic_load(&r->ups) == 1);
	/* half a message is under way */
	uint64_t id = w_id(w);
	raw_put(b, w, id, 100000);
	raw_write(old, b, 50000);
	W_UNTIL(w, fc_rx_find(w->n[0], id));
	int fd = raw_join(w, 2000, 1, &answer);
	/* the old one goes at once, and what was under way with it; the new one may be refused once
	 */
	W_UNTIL(w, closed_by_peer(old));
	W_UNTIL(w, fc_rx_find(w->n[0], id)->state == FC_RX_OVER);
	assert_true(fc_rx_find(w->n[0], id)->status < 0);
	if (answer != 1) {
		close(fd);
		fd = raw_join(w, 2000, 1, &answer);
	}
	assert_int_equal(answer, 1);
	W_UNTIL(w, atomic_load(&r->restarts) == 1);
	id = w_id(w);
	raw_write(fd, b, raw_put(b, w, id, 1000));
	W_UNTIL(w, fc_seen(w->n[0], id << 2 | LNET_MSG_PUT) == 1);
	assert_int_equal(atomic_load(&r->restarts), 1);
	close(old);
	close(fd);
	free(b);
	world_is_well(w);
}

/* A claim to be another node than the socket's address. */
static void claims_other_nid(void **state)
{
	struct world *w = *state;
	uint8_t b[REQUEST + HELLO], c;

	w_pair(w);
	unsigned parsed = atomic_load(&w->n[0]->rx_parsed);
	request(b, &w->nid[0]);
	hello(b + REQUEST, &w->nid[1], &w->nid[0], 5, 1); /* B's NID from D's address */
	int fd = raw_connect(w, RAW, 0);
	raw_write(fd, b, sizeof(b));
	assert_int_equal(raw_read(w, fd, &c, 1), 0);
	close(fd);
	/* its own NID */
	hello(b + REQUEST, &w->nid[0], &w->nid[0], 5, 1);
	fd = raw_connect(w, RAW, 0);
	raw_write(fd, b, sizeof(b));
	assert_int_equal(raw_read(w, fd, &c, 1), 0);
	close(fd);
	assert_int_equal(atomic_load(&w->n[0]->rx_parsed), parsed);
	world_is_well(w);
}

/* ---- numbers of connections, and of descriptors --------------------------------------------- */

static bool has_conns(struct world *w, unsigned from, unsigned to, unsigned n)
{
	struct lnet_rail_info i;

	fc_query(w_rail(w, from, to), &i);
	return i.nconns == n;
}

static void conns(struct world *w, unsigned a, unsigned b)
{
	unsigned least = a < b ? a : b;
	uint64_t attempts;

	w->conns[0] = a;
	w->conns[1] = b;
	w_start(w, 0);
	w_start(w, 1);
	for (int i = 0; i < 10; i++) {
		w_put_ok(w, 0, 1, 30000, 1);
		w_put_ok(w, 1, 0, 30000, 1);
	}
	/* one control, and so many bulk connections in each direction */
	W_UNTIL(w, has_conns(w, 0, 1, 1 + 2 * least) && has_conns(w, 1, 0, 1 + 2 * least));
	tl_run_for(&w->pump, 300 * TL_MS);
	attempts = *fc_stat(w->n[1], "duplicate_conn") + *fc_stat(w->n[0], "duplicate_conn");
	tl_run_for(&w->pump, 300 * TL_MS);
	assert_true(has_conns(w, 0, 1, 1 + 2 * least));
	/* the side that wants more has stopped asking */
	assert_true(*fc_stat(w->n[1], "duplicate_conn") + *fc_stat(w->n[0], "duplicate_conn") ==
	            attempts);
	assert_true(attempts <= 10);
	w_stop(w, 0);
	w_stop(w, 1);
}

static void conns_differ(void **state)
{
	conns(*state, 8, 1);
	conns(*state, 1, 8);
	conns(*state, 3, 2);
}

static void no_descriptors(void **state)
{
	struct world *w = *state;
	struct rlimit was, few;
	int fd[8];

	w_pair(w);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	for (int i = 0; i < 8; i++)
		fd[i] = raw_connect(w, RAW, 0);
	few = was;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	tl_run_for(&w->pump, 50 * TL_MS);
	uint64_t turns = 0, end = tl_now() + 100 * TL_MS;
	/* the accept path does not spin */
	for (; tl_now() < end; turns++)
		if (fc_node_turn(w->n[0]) <= 0)
			tl_sleep(TL_MS);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(turns < 2000);
	assert_true(*fc_stat(w->n[0], "refused_nofile") > 0);
	/* connected peers are not touched, and all recovers */
	w_put_ok(w, 0, 1, 20000, 1);
	for (int i = 0; i < 8; i++)
		close(fd[i]);
	w_start(w, 2);
	w_put_again(w, 2, 0, 1000);
	world_is_well(w);
}

const struct cf_case cf_tcp[] = {
        {"passive_cut", passive_cut, 0, CF_SOCKETS},
        {"active_cut", active_cut, 0, CF_SOCKETS},
        {"passive_silent", passive_silent, 0, CF_SOCKETS},
        {"message_cut", message_cut, 0, CF_SOCKETS},
        {"zc_ack_owed", zc_ack_owed, 0, CF_SOCKETS},
        {"new_incarnation", new_incarnation, 0, CF_SOCKETS},
        {"claims_other_nid", claims_other_nid, 0, CF_SOCKETS},
        {"conns_differ", conns_differ, 0, CF_SOCKETS},
        {"no_descriptors", no_descriptors, 0, CF_SOCKETS},
};
const unsigned cf_tcp_count = sizeof(cf_tcp) / sizeof(*cf_tcp);
