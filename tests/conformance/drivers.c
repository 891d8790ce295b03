/* SPDX-License-Identifier: BSD-2-Clause */
/* The drivers under test, and how their worlds break. */
#include "conformance/world.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lnet/net/lo.h"

extern const struct lnet_lnd lnet_lnd_tcp;

static unsigned no_tunables(struct world *w, unsigned i, struct fc_tun *t, unsigned max)
{
	(void)w;
	(void)i;
	(void)t;
	(void)max;
	return 0;
}

/* ---- lo ------------------------------------------------------------------------------------- */

static int lo_begin(struct world *w)
{
	w->fabric = lni_lo_fabric_new();
	return w->fabric ? 0 : -1;
}

static void lo_end(struct world *w)
{
	lni_lo_fabric_free(w->fabric);
}

static void *lo_drv(struct world *w)
{
	return w->fabric;
}

static struct lnet_nid lo_nid(struct world *w, unsigned i)
{
	(void)w;
	return lnet_nid_from4((uint64_t)LNET_NET(LNET_LND_LO, 0) << 32 | (i + 1));
}

static void lo_cut(struct world *w, unsigned i)
{
	lni_lo_fabric_cut(w->fabric, &w->nid[i]);
}

static void lo_silent(struct world *w, unsigned i, bool on)
{
	assert_int_equal(lni_lo_fabric_silence(w->fabric, &w->nid[i], on), 0);
}

static bool lo_vanish(struct world *w, unsigned i)
{
	lni_lo_fabric_vanish(w->fabric, &w->nid[i]);
	return true;
}

/* ---- tcp ------------------------------------------------------------------------------------ */

static void tcp_ip(unsigned i, char *buf, size_t size)
{
	snprintf(buf, size, "127.0.0.%u", i + 2);
}

static int tcp_begin(struct world *w)
{
	static const char *const ips[] = {"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"};

	w->port = tl_free_port(ips, W_NODES);
	return w->port > 0 ? 0 : -1;
}

static void tcp_silent(struct world *w, unsigned i, bool on)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
	char ip[32];
	int one = 1;

	if (!on) {
		if (w->silent_fd[i] >= 0)
			close(w->silent_fd[i]);
		w->silent_fd[i] = -1;
		return;
	}
	tcp_ip(i, ip, sizeof(ip));
	assert_int_equal(inet_pton(AF_INET, ip, &sa.sin_addr), 1);
	w->silent_fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(w->silent_fd[i] >= 0);
	setsockopt(w->silent_fd[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(w->silent_fd[i], (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(w->silent_fd[i], 8), 0);
}

static void tcp_end(struct world *w)
{
	for (unsigned i = 0; i < W_NODES; i++)
		tcp_silent(w, i, false);
}

static void *tcp_drv(struct world *w)
{
	(void)w;
	return NULL;
}

static struct lnet_nid tcp_nid(struct world *w, unsigned i)
{
	uint8_t a[4] = {127, 0, 0, (uint8_t)(i + 2)};

	(void)w;
	return lnet_nid_from_ip(LNET_NET(LNET_LND_TCP, 0), a, 4);
}

static unsigned tcp_tunables(struct world *w, unsigned i, struct fc_tun *t, unsigned max)
{
	assert_true(max >= 3);
	t[0] = (struct fc_tun){"port", w->port};
	t[1] = (struct fc_tun){"conns_per_peer", w->conns[i]};
	t[2] = (struct fc_tun){"min_reconnectms", 20};
	return 3;
}

/* The connected sockets of node i in this process: those bound to its address. */
static void each_socket(struct world *w, unsigned i, void (*fn)(struct world *w, int fd))
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int fds[1024];
	unsigned n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) && n < 1024)
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d))
			fds[n++] = atoi(e->d_name);
	closedir(d);
	for (unsigned k = 0; k < n; k++) {
		struct sockaddr_in me, peer;
		socklen_t a = sizeof(me), b = sizeof(peer);
		if (getsockname(fds[k], (struct sockaddr *)&me, &a) < 0 || me.sin_family != AF_INET)
			continue;
		if (getpeername(fds[k], (struct sockaddr *)&peer, &b) < 0)
			continue;
		if (ntohl(me.sin_addr.s_addr) == 0x7f000002u + i)
			fn(w, fds[k]);
	}
}

/* As a link that dies, or a peer: reset or end of file. */
static void cut_socket(struct world *w, int fd)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (prng_below(&w->rnd, 2))
		shutdown(fd, SHUT_RDWR);
	else
		connect(fd, &none, sizeof(none));
}

struct cut {
	struct world *w;
	unsigned i;
};

static int call_cut(void *arg)
{
	struct cut *c = arg;

	each_socket(c->w, c->i, cut_socket);
	return 0;
}

/* On the loop of the node, whose descriptors they are. */
static void tcp_cut(struct world *w, unsigned i)
{
	struct cut c = {w, i};

	fc_do(w->n[i]->loops[0], call_cut, &c);
}

/* A socket under repair is closed without a word. */
static void mute_socket(struct world *w, int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)) < 0)
		w->why = "cannot: TCP_REPAIR needs CAP_NET_ADMIN";
}

static bool tcp_vanish(struct world *w, unsigned i)
{
	w->why = NULL;
	each_socket(w, i, mute_socket);
	return !w->why;
}

const struct cf_driver cf_drivers[] = {
        {"lo", &lni_lnd_lo, CF_LOCAL, lo_begin, lo_end, lo_drv, lo_nid, no_tunables, lo_cut,
                lo_silent, lo_vanish},
        {"lo-rdma", &lni_lnd_lo_rdma, CF_LOCAL, lo_begin, lo_end, lo_drv, lo_nid, no_tunables,
                lo_cut, lo_silent, lo_vanish},
        {"tcp", &lnet_lnd_tcp, CF_STREAMS | CF_SOCKETS, tcp_begin, tcp_end, tcp_drv, tcp_nid,
                tcp_tunables, tcp_cut, tcp_silent, tcp_vanish},
};
const unsigned cf_ndrivers = sizeof(cf_drivers) / sizeof(*cf_drivers);
