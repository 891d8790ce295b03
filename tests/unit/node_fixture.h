/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes over tcp on loopback addresses, for test_node.c. */
#ifndef TEST_NODE_FIXTURE_H
#define TEST_NODE_FIXTURE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lnet/lnet.h>

#include "lib/tlib.h"

extern const struct lnet_lnd lnet_lnd_tcp;

static const struct lnet_lnd *const drivers[] = {&lnet_lnd_tcp, NULL};

static struct lnet_nid nid_of(unsigned host)
{
	char text[40];
	struct lnet_nid nid;

	snprintf(text, sizeof(text), "127.0.%u.%u@tcp", 2 + host / 200, 1 + host % 200);
	assert_int_equal(lnet_nid_parse(text, strlen(text), &nid, NULL), 0);
	return nid;
}

static int port(void)
{
	const char *const ips[] = {"127.0.2.1", "127.0.2.2"};
	int p = tl_free_port(ips, 2);

	assert_true(p > 0);
	return p;
}

static struct lnet *open_node(unsigned host, int p, unsigned loops, uint32_t flags)
{
	struct lnet_tun_val tun = {"port", p};
	struct lnet_ni_conf c;
	struct lnet_opts o;
	struct lnet *n;
	char why[200];

	lnet_opts_init(&o, sizeof(o));
	o.loops = loops;
	o.flags = flags;
	o.lnds = drivers;
	assert_int_equal(lnet_open(&o, &n), 0);
	lnet_ni_conf_init(&c, sizeof(c));
	c.nid = nid_of(host);
	c.net = lnet_nid_net(&c.nid);
	c.tun = &tun;
	c.ntun = 1;
	if (lnet_ni_add(n, &c, NULL, why, sizeof(why)))
		fail_msg("%s", why);
	return n;
}

static inline void close_node(struct lnet *n)
{
	assert_int_equal(lnet_close(n, lnet_now(n) + tl_patience(10 * TL_S)), 0);
}

struct counts {
	_Atomic unsigned events, finals, ok, unlinks;
	_Atomic int bad; /* the last status that was not 0 */
};

static void count(const struct lnet_event *ev)
{
	struct counts *c = ev->user;

	atomic_fetch_add(&c->events, 1);
	atomic_fetch_add(&c->unlinks, ev->unlinked);
	if (!ev->final)
		return;
	if (ev->status)
		atomic_store(&c->bad, ev->status);
	else
		atomic_fetch_add(&c->ok, 1);
	atomic_fetch_add(&c->finals, 1);
}

static void open_portal(struct lnet *n, uint32_t portal, void *buf, size_t len, struct counts *c)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .ignore = UINT64_MAX};
	struct iovec iov = {buf, len};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options =
	                LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = c ? count : NULL,
	        .user = c};
	lnet_handle_t me, md;

	assert_int_equal(lnet_me_attach(n, portal, &m, LNET_UNLINK, LNET_INS_AFTER, &me), 0);
	assert_int_equal(lnet_md_attach(n, me, &d, &md), 0);
}

static struct lnet_op_args args(unsigned host, struct iovec *iov, struct counts *c)
{
	struct lnet_op_args a;

	lnet_op_args_init(&a, sizeof(a));
	a.target = nid_of(host);
	a.portal = 20;
	a.mem = (struct lnet_mem){.iov = iov, .niov = 1};
	a.handler = count;
	a.user = c;
	return a;
}

#endif
