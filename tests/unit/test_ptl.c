/* SPDX-License-Identifier: BSD-2-Clause */
/* Matching: what fits which entry, in which order, and with which room. */
#include "core_fixture.h"

struct msg {
	bool get;
	uint64_t bits;
	uint32_t len, offset;
	uint32_t pid;
	struct lnet_rail *from;
};

/* Sends it to portal 10 from outside; true: it matched. */
static bool arrive(struct core *c, struct msg m)
{
	struct lnet_rail *r = m.from ? m.from : c->r;
	struct lnet_hdr h =
	        m.get ? fl_get_hdr(r, 10, m.bits, m.len) : fl_put_hdr(r, 10, m.bits, m.len);
	uint64_t drops = fl_stat(c->n, "drop_count");
	struct fl_rx rx;

	if (m.get)
		h.msg.get.src_offset = m.offset;
	else
		h.msg.put.offset = m.offset;
	if (m.pid)
		h.src_pid = m.pid;
	assert_int_equal(fl_parse(c->n, r, &h, c->src, &rx), 0);
	assert_true(rx.over);
	fl_turns(c->n);
	fl_all_done(c->n, &c->f);
	fl_turns(c->n);
	return fl_stat(c->n, "drop_count") == drops;
}

/* Which of the entries was hit by the last message? */
static const struct lnet_event *last(const struct core *c)
{
	assert_true(c->s.n > 0);
	return &c->s.ev[c->s.n - 1];
}

#define TARGET(...)                              \
	((struct target){.portal = 10,           \
	        .buf = c->buf,                   \
	        .len = sizeof(c->buf),           \
	        .user = &c->s,                   \
	        .threshold = LNET_MD_THRESH_INF, \
	        ##__VA_ARGS__})

static void order_of_entries(void **state)
{
	struct core *c = *state;
	struct target a = TARGET(.bits = 5), b = TARGET(.bits = 5),
	              first = TARGET(.bits = 5, .pos = LNET_INS_BEFORE),
	              local = TARGET(.bits = 5, .pos = LNET_INS_LOCAL);

	a.pos = b.pos = LNET_INS_AFTER;
	assert_int_equal(core_attach(c->n, &a), 0);
	assert_int_equal(core_attach(c->n, &b), 0);
	assert_int_equal(core_attach(c->n, &local), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, a.md);
	assert_int_equal(core_attach(c->n, &first), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, first.md);
	assert_int_equal(lnet_md_unlink(c->n, first.md), 0);
	assert_int_equal(lnet_md_unlink(c->n, a.md), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, b.md);
	assert_int_equal(lnet_me_unlink(c->n, b.me), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, local.md);
}

static void insert_beside(void **state)
{
	struct core *c = *state;
	struct target mid = TARGET(.bits = 5);
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = 5};
	struct iovec iov = {c->buf, 100};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT,
	        .threshold = 1,
	        .handler = see,
	        .user = &c->s};
	lnet_handle_t me[4], md[4], gone = 4711;

	assert_int_equal(core_attach(c->n, &mid), 0);
	/* before-2, before-1, mid, after-1, after-2 */
	assert_int_equal(lnet_me_insert(c->n, mid.me, &m, 0, LNET_INS_BEFORE, &me[0]), 0);
	assert_int_equal(lnet_me_insert(c->n, me[0], &m, 0, LNET_INS_BEFORE, &me[1]), 0);
	assert_int_equal(lnet_me_insert(c->n, mid.me, &m, 0, LNET_INS_AFTER, &me[2]), 0);
	assert_int_equal(lnet_me_insert(c->n, me[2], &m, 0, LNET_INS_AFTER, &me[3]), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(lnet_md_attach(c->n, me[i], &d, &md[i]), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, md[1]);
	assert_true(last(c)->unlinked);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, md[0]);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, mid.md);
	assert_int_equal(lnet_me_unlink(c->n, mid.me), 0);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, md[2]);
	assert_true(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(last(c)->md, md[3]);
	assert_false(arrive(c, (struct msg){.bits = 5, .len = 1}));
	assert_int_equal(lnet_me_insert(c->n, mid.me, &m, 0, LNET_INS_AFTER, &gone), -ENOENT);
	assert_int_equal(lnet_me_insert(c->n, 77, &m, 0, LNET_INS_AFTER, &gone), -ENOENT);
	assert_int_equal(gone, 4711);
	assert_int_equal(fl_stat(c->n, "drop_no_match"), 1);
}

static void ignore_bits(void **state)
{
	struct core *c = *state;
	struct target exact = TARGET(.bits = 0xf0), any = TARGET(.bits = 0x10, .ignore = 0xf0),
	              all = TARGET(.ignore = UINT64_MAX);

	assert_int_equal(core_attach(c->n, &exact), 0);
	assert_int_equal(core_attach(c->n, &any), 0);
	/* entries with ignore bits come first */
	assert_true(arrive(c, (struct msg){.bits = 0xf0, .len = 1}));
	assert_int_equal(last(c)->md, any.md);
	assert_false(arrive(c, (struct msg){.bits = 0xf1, .len = 1}));
	assert_false(arrive(c, (struct msg){.bits = 1ull << 63, .len = 1}));
	assert_int_equal(core_attach(c->n, &all), 0);
	assert_true(arrive(c, (struct msg){.bits = 1ull << 63, .len = 1}));
	assert_int_equal(last(c)->md, all.md);
	assert_int_equal(lnet_me_unlink(c->n, any.me), 0);
	assert_int_equal(lnet_me_unlink(c->n, all.me), 0);
	assert_true(arrive(c, (struct msg){.bits = 0xf0, .len = 1}));
	assert_int_equal(last(c)->md, exact.md);
}

/* The first entry makes the portal one of two kinds. */
static void kinds_of_portals(void **state)
{
	struct core *c = *state;
	struct target u = TARGET(.bits = 1, .nid = PEER_NID, .pid = LNET_PID_LUSTRE),
	              w = TARGET(.bits = 1), w2 = TARGET(.bits = 1, .nid = PEER_NID),
	              w3 = TARGET(.bits = 1, .ignore = 1, .nid = PEER_NID, .pid = 9);

	assert_int_equal(core_attach(c->n, &u), 0);
	assert_int_equal(core_attach(c->n, &w), -EINVAL);
	assert_int_equal(core_attach(c->n, &w2), -EINVAL);
	assert_int_equal(core_attach(c->n, &w3), -EINVAL);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	u.portal = w.portal = w2.portal = w3.portal = 11;
	assert_int_equal(core_attach(c->n, &w), 0);
	assert_int_equal(core_attach(c->n, &w2), 0);
	assert_int_equal(core_attach(c->n, &w3), 0);
	assert_int_equal(core_attach(c->n, &u), -EINVAL);
	u.portal = LNET_MAX_PORTALS;
	assert_int_equal(core_attach(c->n, &u), -EINVAL);
	u.portal = 12;
	u.pos = (enum lnet_ins_pos)3;
	assert_int_equal(core_attach(c->n, &u), -EINVAL);
	u.pos = LNET_INS_AFTER;
	u.me_unlink = 2;
	assert_int_equal(core_attach(c->n, &u), -EINVAL);
}

static void who_may(void **state)
{
	struct core *c = *state;
	struct lnet_rail *other = fl_rail(&c->f, "10.0.0.3@tcp", LNET_PID_LUSTRE);
	struct lnet_nid nids[] = {fl_nid(PEER_NID), fl_nid("10.0.0.3@tcp")};
	struct target t = TARGET(.bits = 1, .nid = PEER_NID, .pid = 7);

	assert_int_equal(core_attach(c->n, &t), 0);
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1, .pid = 7}));
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1, .pid = 7, .from = other}));
	/* the same node by another of its NIDs */
	assert_int_equal(lnet_peer_add(c->n, nids, nids, 2, true, false, NULL), 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1, .pid = 7, .from = other}));
	assert_true(lnet_nid_eq(&last(c)->initiator, &nids[0]));
	assert_true(lnet_nid_eq(&last(c)->source, &nids[1]));
	assert_int_equal(last(c)->initiator_pid, 7);
	/* PUT is not GET */
	assert_false(arrive(c, (struct msg){.get = true, .bits = 1, .len = 1, .pid = 7}));
}

/* The entry names a secondary NID; the message comes from the primary. */
static void who_may_by_secondary(void **state)
{
	struct core *c = *state;
	struct lnet_nid nids[] = {fl_nid(PEER_NID), fl_nid("10.0.0.3@tcp")};
	struct target t = TARGET(.bits = 1, .nid = "10.0.0.3@tcp");

	assert_int_equal(core_attach(c->n, &t), 0);
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_int_equal(lnet_peer_add(c->n, nids, nids, 2, true, false, NULL), 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
}

static void thresholds(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.bits = 1), keep, once = TARGET(.bits = 2);
	lnet_handle_t old;

	t.threshold = 2;
	keep = t;
	once.threshold = 1;
	assert_int_equal(core_attach(c->n, &once), 0);
	assert_true(arrive(c, (struct msg){.bits = 2, .len = 1}));
	assert_true(last(c)->unlinked);
	assert_int_equal(lnet_md_unlink(c->n, once.md), -ENOENT);
	assert_int_equal(lnet_me_unlink(c->n, once.me), -ENOENT);
	/* used up, unlinked with its entry */
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_false(last(c)->unlinked);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_true(last(c)->unlinked);
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1}));
	/* retained: stays, matches nothing */
	keep.unlink = LNET_RETAIN;
	keep.me_unlink = LNET_RETAIN;
	assert_int_equal(core_attach(c->n, &keep), 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_false(last(c)->unlinked);
	/* the entry outlives its MD and takes another one */
	assert_int_equal(lnet_md_unlink(c->n, keep.md), 0);
	old = keep.md;
	fl_turns(c->n);
	assert_int_equal(last(c)->type, LNET_EV_UNLINK);
	{
		struct iovec iov = {c->buf, 10};
		struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
		        .options = LNET_MD_OP_PUT,
		        .threshold = 1,
		        .handler = see,
		        .user = &c->s};

		assert_int_equal(lnet_md_attach(c->n, keep.me, &d, &keep.md), 0);
	}
	assert_int_not_equal(old, keep.md);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_int_equal(last(c)->md, keep.md);
}

static void room_and_offsets(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.bits = 1), cut;

	t.len = 100;
	t.threshold = 10;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 60, .offset = 99}));
	assert_int_equal(last(c)->offset, 0); /* the sender's offset does not count */
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 30}));
	assert_int_equal(last(c)->offset, 60);
	assert_memory_equal(c->buf + 60, c->src, 30);
	/* too long: dropped, and nothing was spent */
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 11}));
	assert_int_equal(fl_stat(c->n, "drop_too_long"), 1);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 10}));
	assert_int_equal(last(c)->offset, 90);
	assert_int_equal(c->buf[100], 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 0}));
	assert_int_equal(lnet_md_unlink(c->n, t.md), 0);
	fl_turns(c->n);
	/* the search stops at the first entry that fits, also when its room is too small */
	cut = t;
	cut.options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE;
	assert_int_equal(core_attach(c->n, &t), 0);
	t.pos = LNET_INS_AFTER;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 101}));
	/* truncated */
	cut.pos = LNET_INS_BEFORE;
	assert_int_equal(core_attach(c->n, &cut), 0);
	memset(c->buf, 0, sizeof(c->buf));
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 101}));
	assert_int_equal(last(c)->mlength, 100);
	assert_int_equal(last(c)->rlength, 101);
	assert_memory_equal(c->buf, c->src, 100);
	assert_int_equal(c->buf[100], 0);
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 5}));
	assert_int_equal(last(c)->mlength, 0); /* nothing left, still taken */
}

/* The offset comes from the sender: any value at all. */
static void hostile_offsets(void **state)
{
	static const uint32_t bad[] = {101, 1000, 0x7fffffff, 0x80000000, UINT32_MAX};
	struct core *c = *state;
	struct target t = TARGET(.bits = 1);

	t.len = 100;
	t.options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE;
	assert_int_equal(core_attach(c->n, &t), 0);
	for (unsigned get = 0; get < 2; get++) {
		for (unsigned i = 0; i < 5; i++) {
			assert_false(arrive(c,
			        (struct msg){.get = get, .bits = 1, .len = 10, .offset = bad[i]}));
			assert_false(arrive(c,
			        (struct msg){.get = get, .bits = 1, .len = 0, .offset = bad[i]}));
		}
		assert_true(
		        arrive(c, (struct msg){.get = get, .bits = 1, .len = 10, .offset = 95}));
		assert_int_equal(last(c)->offset, 95);
		assert_int_equal(last(c)->mlength, 5);
		assert_true(
		        arrive(c, (struct msg){.get = get, .bits = 1, .len = 10, .offset = 100}));
		assert_int_equal(last(c)->mlength, 0);
		assert_true(arrive(c, (struct msg){.get = get, .bits = 1, .len = 10}));
		assert_int_equal(last(c)->offset, 0);
	}
	assert_int_equal(fl_stat(c->n, "drop_too_long"), 20);
	assert_int_equal(tl_not_byte(0, c->buf + 100, sizeof(c->buf) - 100), -1);
}

/* A GET may ask for 4 GiB: what goes out is at most what one REPLY carries. */
static void huge_get(void **state)
{
	struct core *c = *state;
	size_t size = 2 * LNET_MTU;
	void *mem = calloc(1, size);
	struct target t = TARGET(.bits = 1);

	t.buf = mem;
	t.len = size;
	t.options = LNET_MD_OP_GET;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_false(arrive(c, (struct msg){.get = true, .bits = 1, .len = LNET_MTU + 1}));
	assert_true(arrive(c, (struct msg){.get = true, .bits = 1, .len = LNET_MTU}));
	assert_int_equal(lnet_md_unlink(c->n, t.md), 0);
	fl_turns(c->n);
	t.options |= LNET_MD_TRUNCATE;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_true(arrive(c, (struct msg){.get = true, .bits = 1, .len = UINT32_MAX}));
	assert_int_equal(last(c)->mlength, LNET_MTU);
	assert_int_equal(lnet_md_unlink(c->n, t.md), 0);
	fl_turns(c->n);
	free(mem);
}

static void max_size(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.bits = 1, .max_size = 40);

	t.len = 100;
	t.options = LNET_MD_OP_PUT | LNET_MD_MAX_SIZE;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 41}));
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 40}));
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 20}));
	assert_false(last(c)->unlinked); /* 40 bytes are left: room for one of any size */
	assert_true(arrive(c, (struct msg){.bits = 1, .len = 1}));
	assert_true(last(c)->unlinked); /* 39: used up */
	assert_false(arrive(c, (struct msg){.bits = 1, .len = 1}));
}

static void acks(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.bits = 1), quiet = TARGET(.bits = 2);
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 1, 200);
	struct fl_rx rx;

	t.len = 100;
	t.options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE;
	quiet.options = LNET_MD_OP_PUT | LNET_MD_ACK_DISABLE | LNET_MD_EV_QUIET;
	assert_int_equal(core_attach(c->n, &t), 0);
	assert_int_equal(core_attach(c->n, &quiet), 0);
	h.msg.put.ack_wmd = (struct lnet_wmd){0x1234, 0x5678};
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.type, LNET_MSG_ACK);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.mlength, 100);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.match_bits, 1);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.dst_wmd.iface, 0x1234);
	assert_int_equal(fl_tx(&c->f, 0)->hdr.msg.ack.dst_wmd.object, 0x5678);
	assert_true(lnet_nid_eq(&fl_tx(&c->f, 0)->hdr.src_nid, &c->r->ni->nid));
	fl_all_done(c->n, &c->f);
	/* a PUT that broke off gets none, and its event says so */
	c->f.recv_later = true;
	h.payload_length = 0;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	fl_landed(c->n, &c->f, &rx, -ECONNRESET);
	c->f.recv_later = false;
	fl_turns(c->n);
	assert_int_equal(last(c)->status, -ECONNRESET);
	assert_int_equal(c->f.ntx, 0);
	assert_int_equal(c->s.n, 2);
	/* not wanted here; and no event */
	h.msg.put.match_bits = 2;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	/* not wanted there: both words say so, one alone does not */
	h.msg.put.match_bits = 1;
	h.msg.put.ack_wmd = (struct lnet_wmd){LNET_COOKIE_NONE, LNET_COOKIE_NONE};
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(c->f.ntx, 0);
	assert_int_equal(c->s.n, 3);
	h.msg.put.ack_wmd.iface = 1;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(c->f.ntx, 1);
	fl_all_done(c->n, &c->f);
}

static void refused_by_driver(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.bits = 1);
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 1, 20), g;
	struct fl_rx rx;

	assert_int_equal(core_attach(c->n, &t), 0);
	c->f.recv_rc = -ENOMEM;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_true(rx.discarded);
	fl_turns(c->n);
	assert_int_equal(last(c)->status, -ENOMEM);
	core_get(c, 10);
	g = fl_answer_hdr(fl_tx(&c->f, 0), 10);
	fl_all_done(c->n, &c->f);
	assert_int_equal(fl_parse(c->n, c->r, &g, c->src, &rx), 0);
	assert_true(rx.discarded);
	fl_turns(c->n);
	assert_int_equal(last(c)->status, -ENOMEM);
	assert_true(last(c)->final);
	assert_int_equal(fl_stat(c->n, "errors"), 1);
}

/* Spec: errors.md section 4, rows 1 to 7. */
static void impossible_messages(void **state)
{
	struct core *c = *state;
	struct target t = TARGET(.ignore = UINT64_MAX);
	struct lnet_hdr good = fl_put_hdr(c->r, 10, 1, 20), h;
	uint64_t refused = 0;
	struct fl_rx rx;

	t.options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE;
	assert_int_equal(core_attach(c->n, &t), 0);
	fl_ni(c->n, "10.1.0.1@tcp1", NULL);
#define REFUSED(change)                                                           \
	do {                                                                      \
		h = good;                                                         \
		change;                                                           \
		assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), -EPROTO); \
		assert_int_equal(fl_stat(c->n, "proto_errors"), ++refused);       \
	} while (0)
	REFUSED(h.type = LNET_MSG_ACK);
	REFUSED(h.type = LNET_MSG_GET);
	REFUSED(h.payload_length = LNET_MTU + 1);
	REFUSED((h.type = LNET_MSG_REPLY, h.payload_length = UINT32_MAX));
	REFUSED(h.type = LNET_MSG_HELLO);
	REFUSED(h.type = 77);
	REFUSED(h.dest_nid = fl_nid("10.0.0.99@tcp"));
	REFUSED(h.dest_nid = fl_nid("10.1.0.1@tcp1"));
	REFUSED(h.dest_nid = fl_nid("0@lo"));
#undef REFUSED
	h = good;
	h.dest_nid = fl_nid("10.2.0.1@tcp2"); /* elsewhere, and we do not route */
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_true(rx.discarded);
	assert_int_equal(fl_stat(c->n, "drop_not_mine"), 1);
	h = good;
	h.msg.put.ptl_index = 64;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	h.msg.put.ptl_index = UINT32_MAX;
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	assert_int_equal(fl_stat(c->n, "drop_bad_portal"), 2);
	assert_int_equal(c->s.n, 0);
	h = good;
	h.src_nid =
	        fl_nid("10.0.0.50@tcp"); /* by another's mouth: counted, and not taken for him */
	assert_int_equal(fl_parse(c->n, c->r, &h, c->src, &rx), 0);
	fl_turns(c->n);
	assert_int_equal(fl_stat(c->n, "foreign_src"), 1);
	assert_int_equal(c->s.n, 1);
}

/* Entries by the thousand: each message finds its own. */
static void many_entries(void **state)
{
	struct core *c = *state;
	unsigned count = tl_scaled(2000, 200);
	lnet_handle_t *md = calloc(count, sizeof(*md));

	for (unsigned i = 0; i < count; i++) {
		struct target t = TARGET(.bits = i * 0x10001ull);

		t.threshold = 1;
		assert_int_equal(core_attach(c->n, &t), 0);
		md[i] = t.md;
	}
	for (unsigned i = count; i-- > 0;) {
		c->s.n = 0;
		assert_true(arrive(c, (struct msg){.bits = i * 0x10001ull, .len = 1}));
		assert_int_equal(last(c)->md, md[i]);
	}
	free(md);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        CORE_TEST(order_of_entries),
	        CORE_TEST(insert_beside),
	        CORE_TEST(ignore_bits),
	        CORE_TEST(kinds_of_portals),
	        CORE_TEST(who_may),
	        CORE_TEST(who_may_by_secondary),
	        CORE_TEST(thresholds),
	        CORE_TEST(room_and_offsets),
	        CORE_TEST(hostile_offsets),
	        CORE_TEST(huge_get),
	        CORE_TEST(max_size),
	        CORE_TEST(acks),
	        CORE_TEST(refused_by_driver),
	        CORE_TEST(impossible_messages),
	        CORE_TEST(many_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
