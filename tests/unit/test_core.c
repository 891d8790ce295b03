/* SPDX-License-Identifier: BSD-2-Clause */
/* The message layer over loopback: PUT, GET, ACK, matching, unlinking, ping. */
#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <lnet/lnet.h>

#define S 1000000000ull

struct log {
	struct lnet_event ev[64];
	unsigned n;
};

static void record(const struct lnet_event *ev)
{
	struct log *l = ev->user;

	assert_true(l->n < 64);
	l->ev[l->n++] = *ev;
}

static struct lnet_nid lo(void)
{
	struct lnet_nid nid;

	assert_int_equal(lnet_nid_parse("0@lo", 4, &nid, NULL), 0);
	return nid;
}

static int setup(void **state)
{
	struct lnet_opts o;
	struct lnet *n;

	lnet_opts_init(&o, sizeof(o));
	assert_int_equal(lnet_open(&o, &n), 0);
	*state = n;
	return 0;
}

static int teardown(void **state)
{
	struct lnet *n = *state;

	assert_int_equal(lnet_close(n, lnet_now(n) + 5 * S), 0);
	return 0;
}

static lnet_handle_t target(struct lnet *n, uint32_t portal, uint64_t bits, void *buf, size_t len,
        uint32_t options, int32_t threshold, struct log *l)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = bits};
	struct iovec iov = {buf, len};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = options,
	        .threshold = threshold,
	        .handler = record,
	        .user = l};
	lnet_handle_t me, md;

	assert_int_equal(lnet_me_attach(n, portal, &m, LNET_UNLINK, LNET_INS_AFTER, &me), 0);
	assert_int_equal(lnet_md_attach(n, me, &d, &md), 0);
	return md;
}

static struct lnet_op_args args(
        uint32_t portal, uint64_t bits, struct iovec *iov, void *buf, size_t len)
{
	struct lnet_op_args a;

	lnet_op_args_init(&a, sizeof(a));
	*iov = (struct iovec){buf, len};
	a.target = lo();
	a.portal = portal;
	a.match_bits = bits;
	a.mem = (struct lnet_mem){.iov = iov, .niov = 1};
	return a;
}

struct want {
	struct log *l;
	unsigned n;
};

static bool enough(void *arg)
{
	struct want *w = arg;

	return w->l->n >= w->n;
}

static void wait_events(struct lnet *n, struct log *l, unsigned count)
{
	struct want w = {l, count};

	assert_int_equal(lnet_wait(n, enough, &w, lnet_now(n) + 10 * S), 0);
}

static void put_ack(void **state)
{
	struct lnet *n = *state;
	char src[100], dst[100] = "";
	struct log l = {0};
	struct lnet_event ev;
	struct lnet_op_args a;
	struct iovec iov;

	memset(src, 'x', sizeof(src));
	target(n, 20, 7, dst, sizeof(dst), LNET_MD_OP_PUT, 1, &l);
	a = args(20, 7, &iov, src, sizeof(src));
	a.flags = LNET_OP_ACK;
	a.hdr_data = 0x1122334455667788ull;
	assert_int_equal(lnet_put_wait(n, &a, &ev), 0);
	assert_int_equal(ev.type, LNET_EV_ACK);
	assert_true(ev.final && ev.unlinked);
	assert_int_equal(ev.mlength, 100);
	wait_events(n, &l, 1);
	assert_int_equal(l.ev[0].type, LNET_EV_PUT);
	assert_true(l.ev[0].unlinked);
	assert_int_equal(l.ev[0].hdr_data, 0x1122334455667788ull);
	assert_int_equal(l.ev[0].mlength, 100);
	assert_memory_equal(src, dst, sizeof(src));
}

static void get_offset(void **state)
{
	struct lnet *n = *state;
	char dst[10], src[] = "0123456789abcdefghij";
	struct log l = {0};
	struct lnet_event ev;
	struct lnet_op_args a;
	struct iovec iov;
	lnet_handle_t md = target(n, 21, 1, src, 20,
	        LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE, LNET_MD_THRESH_INF, &l);

	a = args(21, 1, &iov, dst, sizeof(dst));
	a.offset = 10;
	assert_int_equal(lnet_get_wait(n, &a, &ev), 0);
	assert_memory_equal(dst, "abcdefghij", 10);
	a.offset = 15;
	assert_int_equal(lnet_get_wait(n, &a, &ev), 0);
	assert_int_equal(ev.mlength, 5);
	a.offset = 21; /* behind the end: dropped, and told by the deadline alone */
	a.deadline = lnet_now(n) + S / 20;
	assert_int_equal(lnet_get_wait(n, &a, &ev), -ETIMEDOUT);
	assert_int_equal(lnet_md_unlink(n, md), 0);
	wait_events(n, &l, 3);
	assert_int_equal(l.ev[2].type, LNET_EV_UNLINK);
	assert_int_equal(lnet_md_unlink(n, md), -ENOENT);
}

static void ping_self(void **state)
{
	struct lnet *n = *state;
	struct lnet_ping_result r = {.size = sizeof(r)};
	struct lnet_nid self = lo(), any = lnet_nid_any();

	assert_int_equal(lnet_ping(n, &self, LNET_PID_LUSTRE, &any, lnet_now(n) + 5 * S, &r), 0);
	assert_int_equal(r.features, 0x1e);
	assert_int_equal(r.nnids, 0);
	lnet_ping_free(&r);
}

int main(void)
{
	const struct CMUnitTest t[] = {
	        cmocka_unit_test_setup_teardown(put_ack, setup, teardown),
	        cmocka_unit_test_setup_teardown(get_offset, setup, teardown),
	        cmocka_unit_test_setup_teardown(ping_self, setup, teardown),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
