/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each allocation of the core fails in turn: nothing crashes, hangs or leaks, and what was refused
 * left nothing behind. The allocator is replaced by one that counts, and that refuses the nth
 * request made by this program itself (libraries are let through: libev ends the process when it
 * gets no memory).
 */
#include "core_fixture.h"

#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPLACED 0
#else
#define REPLACED 1
#endif

/* The one place where a test needs to be asked from inside malloc(). */
static struct {
	_Atomic long live;
	_Atomic long until; /* 1: the next request fails; 0: none does */
	_Atomic bool hit;
} heap;

#if REPLACED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);
extern char __executable_start, etext;

static bool refuse(const void *caller)
{
	long left;

	if ((const char *)caller < &__executable_start || (const char *)caller >= &etext)
		return false;
	left = atomic_load(&heap.until);
	if (left == 0)
		return false;
	atomic_store(&heap.until, left - 1);
	if (left != 1)
		return false;
	atomic_store(&heap.hit, true);
	errno = ENOMEM;
	return true;
}

static void *count(void *p)
{
	atomic_fetch_add(&heap.live, p != NULL);
	return p;
}

void *malloc(size_t size)
{
	return refuse(__builtin_return_address(0)) ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return refuse(__builtin_return_address(0)) ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
	void *q;

	if (refuse(__builtin_return_address(0)))
		return NULL;
	q = __libc_realloc(p, size);
	if (!p)
		count(q);
	else if (!q && size == 0)
		atomic_fetch_sub(&heap.live, 1);
	return q;
}

void *aligned_alloc(size_t align, size_t size)
{
	return refuse(__builtin_return_address(0)) ? NULL : count(__libc_memalign(align, size));
}

void free(void *p)
{
	atomic_fetch_sub(&heap.live, p != NULL);
	__libc_free(p);
}
#endif

static bool possible(void)
{
	if (REPLACED)
		return true;
	print_message("cannot: the sanitizer has the allocator\n");
	skip();
	return false;
}

/* Runs fn with the nth request refused, from the first on until there is no nth. */
static void each_request(
        void (*fn)(struct core *c), struct core *(*make)(void), void (*end)(struct core *c))
{
	unsigned n = 0;

	do {
		struct core *c;
		long before;

		c = make ? make() : NULL;
		before = atomic_load(&heap.live);
		atomic_store(&heap.hit, false);
		atomic_store(&heap.until, ++n);
		fn(c);
		atomic_store(&heap.until, 0);
		if (end)
			end(c);
		else
			assert_int_equal(atomic_load(&heap.live), before);
		assert_true(n < 5000);
	} while (atomic_load(&heap.hit));
	print_message("%u requests\n", n - 1);
	assert_true(n > 5);
}

/* ---- opening --------------------------------------------------------------------------------- */

static struct lnet_opts opts(unsigned loops, uint32_t flags)
{
	struct lnet_opts o;

	lnet_opts_init(&o, sizeof(o));
	o.loops = loops;
	o.flags = flags;
	o.lnd_path = "/nonexistent";
	return o;
}

static void open_close(unsigned loops, uint32_t flags)
{
	struct lnet_opts o = opts(loops, flags);
	struct lnet *n = (struct lnet *)&o;
	int rc = lnet_open(&o, &n);

	if (rc) {
		assert_int_equal(rc, -ENOMEM);
		assert_true(atomic_load(&heap.hit));
		assert_ptr_equal(n, &o);
	} else {
		atomic_store(&heap.until, 0);
		assert_int_equal(lnet_close(n, lnet_now(n) + TL_S), 0);
	}
}

static void open_poll(struct core *c)
{
	(void)c;
	open_close(1, LNET_NODE_POLL);
}

static void open_threads(struct core *c)
{
	(void)c;
	open_close(3, 0);
}

static void opening(void **state)
{
	unsigned fds = tl_count_fds();

	(void)state;
	if (!possible())
		return;
	open_close(3, 0); /* what libraries keep for ever is there now */
	each_request(open_poll, NULL, NULL);
	each_request(open_threads, NULL, NULL);
	assert_int_equal(tl_count_fds(), fds);
}

/* ---- living ---------------------------------------------------------------------------------- */

static long baseline;

static struct core *make(void)
{
	baseline = atomic_load(&heap.live);
	return core_with(NULL, NULL);
}

static void end(struct core *c)
{
	c->f.recv_later = false;
	c->clk.step = TL_MS;
	lnet_close(c->n, lnet_now(c->n) + TL_S);
	assert_null(c->f.broken);
	assert_int_equal(c->f.ntx, 0);
	pthread_mutex_destroy(&c->f.lock);
	free(c);
	assert_int_equal(atomic_load(&heap.live), baseline);
}

static void interfaces(struct core *c)
{
	struct lnet_cidr allow = {{10}, 4, 8};
	struct lnet_ni_conf k;
	struct lnet_nid nid = fl_nid("10.1.0.1@tcp1");
	char why[100];
	int rc;

	lnet_ni_conf_init(&k, sizeof(k));
	k.nid = nid;
	k.net = lnet_nid_net(&nid);
	k.allow = &allow;
	k.nallow = 1;
	rc = lnet_ni_add(c->n, &k, NULL, why, sizeof(why));
	assert_true(rc == 0 || rc == -ENOMEM);
	assert_int_equal(!!lni_ni_by_nid(c->n, &nid), rc == 0);
	rc = lnet_net_set_accept(c->n, k.net, LNET_ACCEPT_ALL, &allow, 1);
	assert_true(rc == 0 || rc == -ENOMEM || rc == -ENOENT);
	c->clk.step = TL_MS;
	if (lni_ni_by_nid(c->n, &nid))
		assert_int_equal(lnet_ni_del(c->n, &nid), 0); /* removing never fails for memory */
	assert_null(lni_ni_by_nid(c->n, &nid));
	c->clk.step = 0;
}

static void removing_interfaces(void **state)
{
	(void)state;
	if (possible())
		each_request(interfaces, make, end);
}

static int members(void *arg, const struct lnet_peer_info *i)
{
	*(unsigned *)arg = i->nni;
	return 0;
}

/* All of it or nothing of it, whichever request fails. */
static void peers(struct core *c)
{
	struct lnet_nid n[] = {fl_nid(PEER_NID), fl_nid("10.0.0.20@tcp"), fl_nid("10.0.0.21@tcp")};
	struct lnet_nid m[] = {fl_nid("10.0.0.30@tcp"), fl_nid("10.0.0.20@tcp")}, bad;
	unsigned have = 0;
	int rc;

	rc = lni_peer_learn(c->n, &n[0], n, 3, 0x1e, true, &bad);
	assert_true(rc == 0 || rc == -ENOMEM);
	if (lnet_peer_each(c->n, &n[0], members, &have) == 0)
		assert_int_equal(have, rc ? 1 : 3);
	rc = lnet_peer_add(c->n, &m[0], m, 2, true, false, NULL);
	assert_true(rc == 0 || rc == -ENOMEM);
	have = 0;
	if (rc == 0 && lnet_peer_each(c->n, &m[0], members, &have) == 0)
		assert_int_equal(have, 2);
	lnet_peer_set_state(c->n, &n[0], LNET_PEER_MULTI_RAIL);
	rc = lnet_peer_del(c->n, &m[0], &m[1], 1, true, NULL);
	assert_true(rc == 0 || rc == -ENOMEM || rc == -ENOENT);
	c->clk.step = TL_MS;
	rc = lnet_peer_del(c->n, &n[0], NULL, 0, true, NULL);
	assert_true(rc == 0 || rc == -ENOMEM);
	c->clk.step = 0;
}

static void changing_peers(void **state)
{
	(void)state;
	if (possible())
		each_request(peers, make, end);
}

static unsigned accepted;

static void start(struct core *c, bool put, uint32_t flags, lnet_handle_t md)
{
	struct iovec v[3] = {{c->src, 10}, {c->src + 10, 20}, {c->src + 40, 1}};
	struct iovec iov;
	struct lnet_op_args a = core_args(c, &iov, 10);
	int rc;

	a.flags = flags;
	a.md = md;
	a.mem = (struct lnet_mem){.iov = v, .niov = 3};
	rc = put ? lnet_put(c->n, &a, NULL) : lnet_get(c->n, &a, NULL);
	assert_true(rc == 0 || rc == -ENOMEM || rc == -ENOENT);
	accepted += rc == 0;
}

static void on_watch(
        void *user, const struct lnet_nid *nid, uint32_t pid, enum lnet_peer_event ev, int err)
{
	(void)user;
	(void)nid;
	(void)pid;
	(void)ev;
	(void)err;
}

static void from_outside(struct core *c, struct fl_rx *rx)
{
	struct lnet_hdr h = fl_put_hdr(c->r, 10, 0, 30);

	h.msg.put.ack_wmd = (struct lnet_wmd){1, 1};
	fl_parse(c->n, c->r, &h, c->src, &rx[0]);
	lnet_portal_lazy(c->n, 11, true);
	h.msg.put.ptl_index = 11;
	fl_parse(c->n, c->r, &h, c->src, &rx[1]);
	h = fl_get_hdr(c->r, 0, 1ull << 63, 100);
	fl_parse(c->n, c->r, &h, c->src, &rx[2]);
	h = fl_put_hdr(c->r, 0, 1ull << 63, 40);
	fl_parse(c->n, c->r, &h, c->src, &rx[3]);
	for (unsigned i = 0; i < 4; i++)
		assert_true(rx[i].over); /* taken or dropped: nothing is left standing */
}

static void messages(struct core *c)
{
	static struct fl_rx rx[4];
	struct iovec v[2] = {{c->buf, 100}, {c->buf + 200, 100}};
	struct lnet_md_desc d = {.mem = {.iov = v, .niov = 2},
	        .options = LNET_MD_OP_PUT,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = see,
	        .user = &c->s};
	struct target t = {.portal = 10, .len = 500, .threshold = LNET_MD_THRESH_INF};
	struct lnet_nid any = lnet_nid_any();
	lnet_handle_t md = 0, watch;

	accepted = 0;
	t.buf = c->buf;
	t.user = &c->s;
	core_attach(c->n, &t);
	lnet_md_bind(c->n, &d, &md);
	lnet_peer_watch(c->n, &any, on_watch, c, &watch);
	fl_event(c->n, c->r, LNET_RAIL_UP, 0);
	start(c, true, LNET_OP_ACK, 0);
	start(c, false, 0, 0);
	start(c, true, 0, md);
	from_outside(c, rx);
	fl_all_done(c->n, &c->f);
	/* and the connection dies, so that the peer is called again */
	fl_event(c->n, c->r, LNET_RAIL_DOWN, -ECONNRESET);
	core_pass(c, TL_MS);
	fl_event(c->n, c->r, LNET_RAIL_RESTARTED, -ESTALE);
	fl_turns(c->n);
	fl_all_done(c->n, &c->f);
	core_pass(c, TL_S);
	assert_int_equal(c->s.finals, accepted);
	if (md)
		lnet_md_unlink(c->n, md);
	fl_turns(c->n);
}

static void messages_of_all_kinds(void **state)
{
	(void)state;
	if (possible())
		each_request(messages, make, end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(opening),
	        cmocka_unit_test(removing_interfaces),
	        cmocka_unit_test(changing_peers),
	        cmocka_unit_test(messages_of_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
