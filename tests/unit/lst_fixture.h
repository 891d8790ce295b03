/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the self-test share: nodes on loopback addresses, and both halves of the
 * protocol by hand. */
#ifndef TEST_LST_FIXTURE_H
#define TEST_LST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/prng.h"
#include "lib/tlib.h"
#include "selftest/proto.h"
#include "selftest/run.h"
#include "selftest/selftest.h"
#include <lnet/lnet.h>

extern const struct lnet_lnd lnet_lnd_tcp;

#define IP_A "127.0.0.81"
#define IP_B "127.0.0.82"
#define IP_C "127.0.0.83"

static inline void print_log(void *arg, enum lnet_log_level lv, const char *id, const char *text)
{
	(void)arg;
	(void)lv;
	print_message("# %s: %s\n", id, text);
}

static inline struct lnet_nid nid_of(const char *ip)
{
	struct lnet_nid nid;

	assert_int_equal(lnet_nid_parse(ip, strlen(ip), &nid, NULL), 0);
	return nid;
}

static inline struct lnet *node_new(const char *ip, int port, unsigned loops)
{
	static const struct lnet_lnd *const lnds[] = {&lnet_lnd_tcp, NULL};
	const struct lnet_tun_val tun[] = {{"port", port}, {"conns_per_peer", 1}};
	struct lnet_opts o;
	struct lnet_ni_conf c;
	struct lnet *n;
	char why[200] = "";

	lnet_opts_init(&o, sizeof(o));
	o.name = ip;
	o.lnds = lnds;
	o.log = print_log;
	o.log_level = LNET_LOG_ERR;
	o.loops = loops;
	assert_int_equal(lnet_open(&o, &n), 0);
	lnet_ni_conf_init(&c, sizeof(c));
	c.nid = nid_of(ip);
	c.net = lnet_nid_net(&c.nid);
	c.tun = tun;
	c.ntun = 2;
	if (lnet_ni_add(n, &c, NULL, why, sizeof(why)))
		fail_msg("%s: %s", ip, why);
	return n;
}

static inline void node_free(struct lnet *n)
{
	assert_int_equal(lnet_close(n, lnet_now(n) + 5 * TL_S), 0);
}

/* ---- the generator's half, by hand -------------------------------------------------------------
 */

struct mailbox {
	uint8_t data[LST_REPLY_SIZE];
	uint32_t len;
	_Atomic bool full, gone;
};

static inline void on_mail(const struct lnet_event *ev)
{
	struct mailbox *m = ev->user;

	if (ev->type == LNET_EV_PUT) {
		m->len = ev->mlength;
		atomic_store(&m->full, true);
	}
	if (ev->unlinked)
		atomic_store(&m->gone, true);
}

static inline bool mail_gone(void *arg)
{
	return atomic_load(&((struct mailbox *)arg)->gone);
}

/* One PUT to a node's portal; the status of it. */
static inline int put_within(struct lnet *n, struct lnet_nid to, uint64_t bits, uint64_t hdr,
        const void *p, size_t len, uint64_t ns)
{
	struct iovec iov = {(void *)(uintptr_t)p, len};
	struct lnet_op_args a;

	lnet_op_args_init(&a, sizeof(a));
	a.target = to;
	a.portal = LST_PORTAL;
	a.match_bits = bits;
	a.hdr_data = hdr;
	a.flags = LNET_OP_ACK;
	a.mem = (struct lnet_mem){.iov = &iov, .niov = 1};
	a.deadline = lnet_now(n) + ns;
	return lnet_put_wait(n, &a, NULL);
}

static inline int put_to(
        struct lnet *n, struct lnet_nid to, uint64_t bits, uint64_t hdr, const void *p, size_t len)
{
	return put_within(n, to, bits, hdr, p, len, tl_patience(10 * TL_S));
}

/* Bytes as a request; the answer under these bits. False: none within ns. */
static inline bool ask_raw(struct lnet *n, struct lnet_nid to, const uint8_t *req, size_t len,
        uint64_t bits, struct lst_reply *reply, uint64_t ns)
{
	struct mailbox m = {.len = 0};
	struct lnet_match match = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = bits};
	struct iovec iov = {m.data, sizeof(m.data)};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE,
	        .threshold = 1,
	        .handler = on_mail,
	        .user = &m};
	lnet_handle_t me, md;
	bool full;

	assert_int_equal(
	        lnet_me_attach(n, LST_PORTAL, &match, LNET_UNLINK, LNET_INS_AFTER, &me), 0);
	assert_int_equal(lnet_md_attach(n, me, &d, &md), 0);
	assert_int_equal(put_to(n, to, LST_CONTROL_BITS, 0, req, len), 0);
	lnet_wait(n, mail_gone, &m, lnet_now(n) + ns);
	full = atomic_load(&m.full);
	lnet_md_unlink(n, md);
	assert_int_equal(lnet_wait(n, mail_gone, &m, lnet_now(n) + 10 * TL_S), 0);
	if (full)
		assert_int_equal(lst_reply_decode(m.data, m.len, reply), 0);
	return full;
}

static inline void ask(
        struct lnet *n, struct lnet_nid to, const struct lst_request *q, struct lst_reply *reply)
{
	uint8_t buf[LST_REQUEST_SIZE];

	lst_request_encode(q, buf);
	assert_true(ask_raw(n, to, buf, sizeof(buf), q->reply_bits, reply, tl_patience(10 * TL_S)));
	assert_int_equal(reply->kind, q->kind);
}

static inline struct lst_request request_of(uint16_t kind, uint32_t size, uint16_t slots)
{
	return (struct lst_request){.kind = kind,
	        .reply_bits = 1ull << 63 | 0x1234,
	        .check = LST_CHECK_FULL,
	        .slots = slots,
	        .source = 5,
	        .size = size,
	        .seed = 0xabcdef0123456789ull};
}

#endif
