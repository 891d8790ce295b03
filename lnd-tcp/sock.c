/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets: options, and the outgoing call from the NI's own address, by a privileged port if need
 * be. */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

static void set_int(int fd, int level, int opt, int64_t v)
{
	int i = (int)v;

	/* A refusal costs quality, never the connection. */
	(void)!setsockopt(fd, level, opt, &i, sizeof(i));
}

void tcp_sock_tune(struct tcp_ni *ni, int fd, int family)
{
	const struct lnet_lnd_ni *l = ni->lni;
	int64_t tos = tcp_tun(l, TCP_T_TOS), idle = tcp_tun(l, TCP_T_KEEPALIVE_IDLE);

	set_int(fd, IPPROTO_TCP, TCP_NODELAY, !tcp_tun(l, TCP_T_NAGLE));
	set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, tcp_tun(l, TCP_T_TIMEOUT) * 1000);
	if (tcp_tun(l, TCP_T_TX_BUFFER_SIZE))
		set_int(fd, SOL_SOCKET, SO_SNDBUF, tcp_tun(l, TCP_T_TX_BUFFER_SIZE));
	if (tcp_tun(l, TCP_T_RX_BUFFER_SIZE))
		set_int(fd, SOL_SOCKET, SO_RCVBUF, tcp_tun(l, TCP_T_RX_BUFFER_SIZE));
	if (tos >= 0 && family == AF_INET)
		set_int(fd, IPPROTO_IP, IP_TOS, tos);
	else if (tos >= 0)
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, idle > 0);
	if (idle > 0) {
		set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
		set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, tcp_tun(l, TCP_T_KEEPALIVE_COUNT));
		set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, tcp_tun(l, TCP_T_KEEPALIVE_INTVL));
	}
}

int tcp_sock_new(struct tcp_ni *ni, int family, bool device)
{
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (family == AF_INET6)
		set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	/* Without permission the source address alone decides. */
	if (device && !ni->loopback)
		(void)!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, ni->lni->ifname,
		        (socklen_t)strnlen(ni->lni->ifname, sizeof(ni->lni->ifname)));
	return fd;
}

int tcp_sock_error(int fd)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return -err;
}

/* fd, or a negative errno. */
static int dial_from(struct tcp_ni *ni, const union tcp_addr *to, unsigned port, bool device)
{
	union tcp_addr from = ni->addr;
	int fd = tcp_sock_new(ni, to->sa.sa_family, device), rc;

	if (fd < 0)
		return fd;
	tcp_sock_tune(ni, fd, to->sa.sa_family);
	if (!port)
		set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	tcp_addr_set_port(&from, port);
	if (bind(fd, &from.sa, tcp_addr_len(&from)) < 0) {
		/* Not "try another port": our address is gone. */
		rc = errno == EADDRNOTAVAIL ? -ENETDOWN : -errno;
		goto out_close;
	}
	if (connect(fd, &to->sa, tcp_addr_len(to)) == 0 || errno == EINPROGRESS)
		return fd;
	rc = -errno;
out_close:
	close(fd);
	return rc;
}

int tcp_sock_dial(struct tcp_ni *ni, const union tcp_addr *to, bool want_priv, bool *privileged)
{
	const unsigned n = TCP_PRIV_MAX - TCP_PRIV_MIN + 1;
	struct tcp_ifinfo own;
	int fd = -EADDRINUSE;
	/* What goes to an address of this host does not pass the device. */
	bool device = !ni->loopback && tcp_if_by_addr(to, &own) == -EADDRNOTAVAIL;

	*privileged = want_priv;
	for (unsigned i = 0; want_priv && i < n; i++) {
		/* Rotating keeps clear of pairs that were just closed. */
		unsigned turn = __atomic_fetch_add(&ni->node->next_port, 1, __ATOMIC_RELAXED);
		unsigned port = TCP_PRIV_MAX - turn % n;

		if (port == tcp_addr_port(&ni->addr))
			continue;
		fd = dial_from(ni, to, port, device);
		/* In use: somebody listens there, or this pair of addresses exists. */
		if (fd != -EADDRINUSE && fd != -EADDRNOTAVAIL)
			break;
	}
	if (want_priv && fd != -EACCES && fd != -EPERM)
		return fd;
	*privileged = false;
	return dial_from(ni, to, 0, device);
}
