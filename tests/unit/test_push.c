/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node tells of itself, and what it believes of others. */
#include "core_fixture.h"

#include "lnet/wire/ping.h"

/* What a ping of ours says, as bytes that left. */
static struct lni_ping_info ask(struct core *c, struct lni_ping_entry *e, unsigned max)
{
	struct lni_ping_info info = {.entries = e};
	struct lni_ping_result res;
	struct lnet_hdr h = fl_get_hdr(c->r, 0, 1ull << 63, 3960);
	struct lnet_tx *tx;
	struct fl_rx rx;

	assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
	tx = fl_tx(&c->f, 0);
	assert_int_equal(tx->hdr.type, LNET_MSG_REPLY);
	assert_int_equal(tx->niov, 1);
	assert_int_equal(lni_ping_decode(tx->iov[0].iov_base, tx->len, &info, max, &res), 0);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	return info;
}

static void told(void **state)
{
	struct core *c = *state;
	struct lni_ping_entry e[16];
	struct lnet_nid me = fl_nid(ME_NID), second = fl_nid("10.1.0.1@tcp1");
	struct lni_ping_info i = ask(c, e, 16);
	uint32_t seq = i.seq;

	assert_int_equal(i.features, 0x1e);
	assert_int_equal(i.pid, LNET_PID_LUSTRE);
	assert_int_equal(i.count, 1);
	assert_true(lnet_nid_eq(&e[0].nid, &me));
	assert_int_equal(e[0].status, LNI_NI_STATUS_UP);
	assert_int_equal(ask(c, e, 16).seq, seq);
	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
	i = ask(c, e, 16);
	assert_int_equal(i.count, 2);
	assert_true(i.seq > seq);
	assert_true(lnet_nid_eq(&e[1].nid, &second));
	seq = i.seq;
	/* status */
	fl_hold(c->n);
	c->f.ni[1]->node->up->ni_event(c->f.ni[1], LNET_NI_DOWN, "no carrier");
	fl_drop(c->n);
	i = ask(c, e, 16);
	assert_true(i.seq > seq);
	assert_int_equal(e[0].status, LNI_NI_STATUS_UP);
	assert_int_equal(e[1].status, LNI_NI_STATUS_DOWN);
	seq = i.seq;
	assert_int_equal(lnet_global_set(c->n, "numa_range", 3, NULL, 0), 0);
	assert_int_equal(ask(c, e, 16).seq, seq); /* nothing of it is told */
	assert_int_equal(lnet_global_set(c->n, "discovery", 0, NULL, 0), 0);
	i = ask(c, e, 16);
	assert_int_equal(i.features, 0x0e);
	assert_true(i.seq > seq);
	c->clk.step = TL_MS;
	assert_int_equal(lnet_ni_del(c->n, &second), 0);
	assert_int_equal(ask(c, e, 16).count, 1);
}

static void of_a_client(void **state)
{
	struct lni_ping_entry e[16];
	struct lnet_opts o;
	struct core *c;
	struct lni_ping_info i;

	(void)state;
	lnet_opts_init(&o, sizeof(o));
	o.flags = LNET_NODE_CLIENT;
	c = core_with(NULL, &o);
	i = ask(c, e, 16);
	assert_int_equal(i.features, 0x06);
	assert_int_equal(i.pid, lnet_pid(c->n));
	assert_true(i.pid & LNET_PID_USERFLAG);
	core_free(c, 0);
}

/* Every size of buffer that the other side may offer. */
static void any_size(void **state)
{
	struct core *c = *state;
	struct fl_rx rx;

	for (uint32_t len = 0; len < 60; len++) {
		struct lnet_hdr h = fl_get_hdr(c->r, 0, 1ull << 63, len);

		assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
		assert_int_equal(fl_tx(&c->f, 0)->len, len < 48 ? len : 48);
		fl_all_done(c->n, &c->f);
		fl_turns(c->n);
		h.msg.get.src_offset = 49 + len; /* behind the end: nothing */
		assert_int_equal(fl_parse(c->n, c->r, &h, NULL, &rx), 0);
		assert_true(rx.discarded);
		assert_int_equal(c->f.ntx, 0);
	}
}

static uint8_t bytes[16384];

static uint32_t push_bytes(uint32_t features, const struct lnet_nid *nids, unsigned count)
{
	struct lni_ping_entry e[600];
	struct lni_ping_info i = {.features = features,
	        .pid = LNET_PID_LUSTRE,
	        .seq = 7,
	        .count = count,
	        .entries = e};
	long len;

	for (unsigned k = 0; k < count; k++)
		e[k] = (struct lni_ping_entry){nids[k], LNI_NI_STATUS_UP};
	len = lni_ping_encode(&i, bytes, sizeof(bytes));
	assert_true(len > 0);
	return (uint32_t)len;
}

/* As a kernel sends it; true: acknowledged, with that many bytes taken. */
static bool push(struct core *c, struct lnet_rail *r, uint32_t len, uint32_t taken)
{
	struct lnet_hdr h = fl_put_hdr(r, 0, 1ull << 63, len);
	bool acked;
	struct fl_rx rx;

	h.msg.put.ack_wmd = (struct lnet_wmd){0xaa, 0xbb};
	assert_int_equal(fl_parse(c->n, r, &h, bytes, &rx), 0);
	fl_turns(c->n);
	acked = c->f.ntx == 1;
	if (acked) {
		assert_int_equal(fl_tx(&c->f, 0)->hdr.type, LNET_MSG_ACK);
		assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.dst_wmd.object, 0xbb);
		assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.mlength, taken);
	}
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	return acked;
}

static int count_nids(void *arg, const struct lnet_peer_info *i)
{
	*(unsigned *)arg = i->nni;
	return 0;
}

static unsigned known(struct core *c, const char *text)
{
	struct lnet_nid nid = fl_nid(text);
	unsigned n = 0;

	if (lnet_peer_each(c->n, &nid, count_nids, &n) == -ENOENT)
		return 0;
	return n;
}

static void believed(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {fl_nid(PEER_NID), fl_nid("10.0.0.20@tcp"), fl_nid("10.9.0.1@tcp9")};
	uint32_t len = push_bytes(0x1e, n, 3);

	assert_int_equal(known(c, PEER_NID), 1);
	assert_true(push(c, c->r, len, len));
	assert_int_equal(known(c, PEER_NID), 3);
	assert_int_equal(known(c, "10.9.0.1@tcp9"), 3);
	/* more often than there are buffers */
	for (unsigned i = 0; i < 40; i++) {
		len = push_bytes(0x1e, n, 1 + i % 3);
		assert_true(push(c, c->r, len, len));
		assert_int_equal(known(c, PEER_NID), 1 + i % 3);
	}
}

static void not_believed(void **state)
{
	struct core *c = *state;
	struct lnet_rail *other = fl_rail(&c->f, "10.0.0.20@tcp", LNET_PID_LUSTRE);
	struct lnet_rail *user = fl_rail(&c->f, "10.0.0.30@tcp", LNET_PID_USERFLAG | 3);
	struct lnet_nid n[] = {fl_nid(PEER_NID), fl_nid("10.0.0.20@tcp")};
	struct lnet_nid self[] = {fl_nid(PEER_NID), fl_nid(ME_NID)};
	struct lnet_nid many[500];
	struct lnet_hdr h;
	struct fl_rx rx;
	uint32_t len;

	fl_event(c->n, other, LNET_RAIL_UP, 0);
	/* others' NIDs, and ours: acknowledged, ignored */
	len = push_bytes(0x1e, n, 2);
	assert_true(push(c, c->r, len, len));
	assert_int_equal(known(c, "10.0.0.20@tcp"), 1);
	len = push_bytes(0x1e, self, 2);
	assert_true(push(c, c->r, len, len));
	assert_int_equal(known(c, PEER_NID), 1);
	/* no multi-rail */
	len = push_bytes(0x16, (struct lnet_nid[]){n[0], fl_nid("10.0.0.50@tcp")}, 2);
	assert_true(push(c, c->r, len, len));
	assert_int_equal(known(c, "10.0.0.50@tcp"), 0);
	/* a user process speaks for itself alone */
	len = push_bytes(
	        0x1e, (struct lnet_nid[]){fl_nid("10.0.0.30@tcp"), fl_nid("10.0.0.51@tcp")}, 2);
	assert_true(push(c, user, len, len));
	assert_int_equal(known(c, "10.0.0.51@tcp"), 0);
	/* in another's name */
	len = push_bytes(0x1e, (struct lnet_nid[]){n[1], fl_nid("10.0.0.52@tcp")}, 2);
	h = fl_put_hdr(c->r, 0, 1ull << 63, len);
	h.src_nid = n[1];
	assert_int_equal(fl_parse(c->n, c->r, &h, bytes, &rx), 0);
	fl_turns(c->n);
	assert_true(rx.discarded);
	assert_int_equal(known(c, "10.0.0.52@tcp"), 0);
	assert_int_equal(fl_stat(c->n, "drop_forged"), 1);
	/* longer than the buffer: cut, acknowledged so, not believed */
	for (unsigned i = 0; i < 500; i++) {
		uint8_t ip6[16] = {0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

		ip6[14] = (uint8_t)(i >> 8);
		ip6[15] = (uint8_t)i;
		many[i] = lnet_nid_from_ip(LNET_NET(LNET_LND_TCP, 0), ip6, 16);
	}
	len = push_bytes(0x1e, many, 500);
	assert_true(len > 8192);
	assert_true(push(c, c->r, len, 8192));
	assert_int_equal(known(c, PEER_NID), 1);
	fl_event(c->n, other, LNET_RAIL_DOWN, 0);
}

static void corrupt(void **state)
{
	struct core *c = *state;
	struct lnet_nid n[] = {fl_nid(PEER_NID), fl_nid("10.0.0.20@tcp")};
	uint32_t len = push_bytes(0x1e, n, 2);

	/* cut anywhere */
	for (uint32_t k = 0; k < len; k++) {
		assert_true(push(c, c->r, k, k));
		assert_int_equal(known(c, "10.0.0.20@tcp"), 0);
	}
	/* magic; no NI_STATUS; too many; the first one not lo */
	for (unsigned k = 0; k < 4; k++) {
		push_bytes(0x1e, n, 2);
		bytes[k == 0 ? 0 : k == 1 ? 4 : k == 2 ? 15 : 22] ^= k == 1 ? 2 : 0x40;
		assert_true(push(c, c->r, len, len));
		assert_int_equal(known(c, "10.0.0.20@tcp"), 0);
	}
	push_bytes(0x1e, n, 2);
	assert_true(push(c, c->r, len, len));
	assert_int_equal(known(c, "10.0.0.20@tcp"), 2);
}

/* ---- pinging --------------------------------------------------------------------------------- */

struct pinged {
	unsigned n;
	int status;
	struct lnet_ping_result r;
	struct lnet_nid nid[600];
};

static void on_ping(void *user, int status, const struct lnet_ping_result *r)
{
	struct pinged *p = user;

	p->n++;
	p->status = status;
	if (status)
		return;
	p->r = *r;
	memcpy(p->nid, r->nids, r->nnids * sizeof(*r->nids));
}

static void start(struct core *c, struct pinged *p)
{
	struct lnet_nid peer = fl_nid(PEER_NID), any = lnet_nid_any();

	memset(p, 0, sizeof(*p));
	assert_int_equal(lnet_ping_start(c->n, &peer, LNET_PID_LUSTRE, &any, 0, on_ping, p), 0);
	assert_int_equal(p->n, 0);
}

static void answer_ping(struct core *c, uint32_t len)
{
	struct lnet_hdr h = fl_answer_hdr(fl_tx(&c->f, 0), len);
	struct fl_rx rx;

	fl_all_done(c->n, &c->f);
	assert_int_equal(fl_parse(c->n, c->r, &h, bytes, &rx), 0);
	fl_turns(c->n);
}

static void pinging(void **state)
{
	struct core *c = *state;
	static struct pinged p;
	struct lnet_nid n[500] = {fl_nid(PEER_NID), fl_nid("10.0.0.20@tcp")};
	uint32_t len = push_bytes(0x1e, n, 2);

	start(c, &p);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.get.match_bits, 1ull << 63);
	c->clk.now += 5000;
	answer_ping(c, len);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.status, 0);
	assert_int_equal(p.r.nnids, 2);
	assert_int_equal(p.r.seq, 7);
	assert_int_equal(p.r.rtt, 5000);
	assert_true(lnet_nid_eq(&p.r.primary, &n[0]));
	assert_int_equal(known(c, PEER_NID), 2); /* and learnt */
	/* nonsense */
	start(c, &p);
	memset(bytes, 0x55, sizeof(bytes));
	answer_ping(c, 100);
	assert_int_equal(p.status, -EPROTO);
	start(c, &p);
	answer_ping(c, 0);
	assert_int_equal(p.status, -EPROTO);
	/* more than was asked for: asked again, once as large */
	for (unsigned i = 1; i < 500; i++) {
		n[i] = fl_nid("10.3.0.0@tcp");
		n[i].addr[2] = (uint8_t)(i >> 8);
		n[i].addr[3] = (uint8_t)i;
	}
	len = push_bytes(0x1e, n, 500);
	start(c, &p);
	answer_ping(c, fl_tx(&c->f, 0)->hdr.msg.get.sink_length);
	assert_int_equal(p.n, 0);
	assert_true(fl_tx(&c->f, 0)->hdr.msg.get.sink_length >= len);
	answer_ping(c, len);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.status, 0);
	assert_int_equal(p.r.nnids, 500);
	/* no answer */
	start(c, &p);
	fl_all_done(c->n, &c->f);
	core_pass(c, 151 * TL_S);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.status, -ETIMEDOUT);
}

static void pinging_ourselves(void **state)
{
	struct core *c = *state;
	struct lnet_nid me = fl_nid(ME_NID), any = lnet_nid_any(), far = fl_nid("1.2.3.4@tcp8");
	struct lnet_ping_result r = {.size = sizeof(r)};

	assert_int_equal(lnet_ping(c->n, &me, LNET_PID_LUSTRE, &any, 0, &r), 0);
	assert_int_equal(r.nnids, 1);
	assert_true(r.multi_rail);
	assert_true(r.up[0]);
	lnet_ping_free(&r);
	assert_int_equal(lnet_ping(c->n, &far, LNET_PID_LUSTRE, &any, 0, &r), -EHOSTUNREACH);
	r.size = 1;
	assert_int_equal(lnet_ping(c->n, &me, LNET_PID_LUSTRE, &any, 0, &r), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(told),
	        cmocka_unit_test(of_a_client),
	        CORE_TEST(any_size),
	        CORE_TEST(believed),
	        CORE_TEST(not_believed),
	        CORE_TEST(corrupt),
	        CORE_TEST(pinging),
	        CORE_TEST(pinging_ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
