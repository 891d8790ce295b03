/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link and address events. A message from rtnetlink that concerns the NI's interface only says
 * "look again"; what holds is asked from the system, so a lost message costs nothing.
 */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

static bool concerns(const struct tcp_ni *ni, const struct nlmsghdr *m)
{
	int index;

	switch (m->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		if (m->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifinfomsg)))
			return false;
		index = ((const struct ifinfomsg *)NLMSG_DATA(m))->ifi_index;
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
		if (m->nlmsg_len < NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
			return false;
		index = (int)((const struct ifaddrmsg *)NLMSG_DATA(m))->ifa_index;
		break;
	default:
		return false;
	}
	/* An interface that comes back may have a new index. */
	return index == ni->ifindex || tcp_ni_down(ni);
}

static void netlink_event(struct lnet_watch *w, int events)
{
	struct tcp_ni *ni = w->arg;
	union {
		struct nlmsghdr h;
		char bytes[16384];
	} buf;
	bool look = false;
	ssize_t n;

	(void)events;
	while ((n = recv(ni->nlfd, buf.bytes, sizeof(buf), MSG_DONTWAIT)) != 0) {
		unsigned left = (unsigned)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			look = look || errno == ENOBUFS;
			if (errno == ENOBUFS)
				continue;
			break;
		}
		for (struct nlmsghdr *m = &buf.h; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left))
			look = look || concerns(ni, m);
	}
	if (look)
		tcp_ni_check(ni);
}

int tcp_netlink_open(struct tcp_ni *ni)
{
	struct sockaddr_nl a = {
	        .nl_family = AF_NETLINK,
	        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), rc;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	ni->nlfd = fd;
	lnet_watch_init(&ni->nlwatch, ni->loop, fd, netlink_event, ni);
	lnet_watch_set(&ni->nlwatch, LNET_WATCH_READ);
	return 0;
}

void tcp_netlink_close(struct tcp_ni *ni)
{
	if (ni->nlfd < 0)
		return;
	lnet_watch_set(&ni->nlwatch, 0);
	close(ni->nlfd);
	ni->nlfd = -1;
}
