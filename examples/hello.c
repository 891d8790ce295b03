/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two nodes in one process: one offers memory on a portal, the other writes to it and reads it
 * back.
 *
 *   cc -o hello hello.c $(pkg-config --cflags --libs ulnet) && ./hello
 */
#include <lnet/lnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTAL 40
#define BITS   0x1234

static void fail(const char *what, int rc)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-rc));
	exit(1);
}

static struct lnet *start(const char *address)
{
	const struct lnet_tun_val port = {"port", 7990};
	struct lnet_ni_conf c;
	struct lnet_opts o;
	struct lnet *n;
	char why[256];
	int rc;

	lnet_opts_init(&o, sizeof(o));
	rc = lnet_open(&o, &n);
	if (rc)
		fail("lnet_open", rc);
	lnet_ni_conf_init(&c, sizeof(c));
	rc = lnet_nid_parse(address, strlen(address), &c.nid, NULL);
	if (rc)
		fail(address, rc);
	c.net = lnet_nid_net(&c.nid);
	c.tun = &port;
	c.ntun = 1;
	rc = lnet_ni_add(n, &c, NULL, why, sizeof(why));
	if (rc)
		fail(why, rc);
	return n;
}

/* A handler runs on the thread that drives the loop. */
static void on_put(const struct lnet_event *ev)
{
	if (ev->type == LNET_EV_PUT || ev->type == LNET_EV_GET)
		printf("server: %s of %u bytes\n", ev->type == LNET_EV_PUT ? "PUT" : "GET",
		        ev->mlength);
}

static void offer(struct lnet *n, struct iovec *memory)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = BITS};
	struct lnet_md_desc d = {.mem = {.iov = memory, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = on_put};
	lnet_handle_t me, md;
	int rc = lnet_me_attach(n, PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me);

	if (!rc)
		rc = lnet_md_attach(n, me, &d, &md);
	if (rc)
		fail("offer", rc);
}

int main(void)
{
	struct lnet *server = start("127.0.0.2@tcp"), *client = start("127.0.0.3@tcp");
	char store[64] = "", text[64] = "hello, fabric", back[64] = "";
	struct iovec s = {store, sizeof(store)}, t = {text, sizeof(text)}, b = {back, sizeof(back)};
	struct lnet_op_args a;
	int rc;

	offer(server, &s);
	lnet_op_args_init(&a, sizeof(a));
	lnet_nid_parse("127.0.0.2@tcp", 13, &a.target, NULL);
	a.portal = PORTAL;
	a.match_bits = BITS;
	a.flags = LNET_OP_ACK;
	a.mem = (struct lnet_mem){.iov = &t, .niov = 1};
	rc = lnet_put_wait(client, &a, NULL);
	if (rc)
		fail("put", rc);
	a.flags = 0;
	a.mem.iov = &b;
	rc = lnet_get_wait(client, &a, NULL);
	if (rc)
		fail("get", rc);
	printf("client: read back \"%s\"\n", back);
	lnet_close(client, 0);
	lnet_close(server, 0);
	return strcmp(back, text) != 0;
}
