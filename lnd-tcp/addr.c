/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of NIDs and sockets, and what the system says of interfaces. */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tcp.h"

void tcp_addr_from_nid(union tcp_addr *a, const struct lnet_nid *nid, unsigned port)
{
	memset(a, 0, sizeof(*a));
	if (lnet_nid_is4(nid)) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)port);
		memcpy(&a->in.sin_addr, nid->addr, 4);
	} else {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		memcpy(&a->in6.sin6_addr, nid->addr, 16);
	}
}

struct lnet_nid tcp_addr_to_nid(const union tcp_addr *a, lnet_net_t net)
{
	if (a->sa.sa_family == AF_INET)
		return lnet_nid_from_ip(net, &a->in.sin_addr, 4);
	return lnet_nid_from_ip(net, &a->in6.sin6_addr, 16);
}

socklen_t tcp_addr_len(const union tcp_addr *a)
{
	return a->sa.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

unsigned tcp_addr_port(const union tcp_addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET ? a->in.sin_port : a->in6.sin6_port);
}

void tcp_addr_set_port(union tcp_addr *a, unsigned port)
{
	if (a->sa.sa_family == AF_INET)
		a->in.sin_port = htons((uint16_t)port);
	else
		a->in6.sin6_port = htons((uint16_t)port);
}

bool tcp_addr_same_host(const union tcp_addr *a, const union tcp_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 16);
}

static bool prefix_match(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return !rest || !((a[bytes] ^ b[bytes]) & (0xff00u >> rest) & 0xffu);
}

bool tcp_addr_allowed(const struct lnet_lnd_ni *lni, const union tcp_addr *a)
{
	bool v4 = a->sa.sa_family == AF_INET;
	const void *raw = v4 ? (const void *)&a->in.sin_addr : (const void *)&a->in6.sin6_addr;

	for (unsigned i = 0; i < lni->nallow; i++) {
		const struct lnet_cidr *c = &lni->allow[i];

		if (c->len == (v4 ? 4 : 16) && c->prefix <= c->len * 8u &&
		        prefix_match(raw, c->addr, c->prefix))
			return true;
	}
	return !lni->nallow;
}

/* All of a loopback interface's network is its own; elsewhere the address itself. */
static bool owns(const struct ifaddrs *i, const union tcp_addr *a)
{
	union tcp_addr own, mask;

	if (!i->ifa_addr || i->ifa_addr->sa_family != a->sa.sa_family)
		return false;
	memcpy(&own, i->ifa_addr, tcp_addr_len(a));
	if (tcp_addr_same_host(&own, a))
		return true;
	if (!(i->ifa_flags & IFF_LOOPBACK) || a->sa.sa_family != AF_INET || !i->ifa_netmask)
		return false;
	memcpy(&mask, i->ifa_netmask, sizeof(mask.in));
	return mask.in.sin_addr.s_addr &&
	       !((own.in.sin_addr.s_addr ^ a->in.sin_addr.s_addr) & mask.in.sin_addr.s_addr);
}

static void fill(struct tcp_ifinfo *out, const struct ifaddrs *i, const union tcp_addr *a)
{
	memset(out, 0, sizeof(*out));
	memccpy(out->name, i->ifa_name, ':', sizeof(out->name) - 1);
	out->name[strcspn(out->name, ":")] = 0;
	out->index = (int)if_nametoindex(out->name);
	out->loopback = i->ifa_flags & IFF_LOOPBACK;
	out->addr = *a;
}

int tcp_if_by_addr(const union tcp_addr *a, struct tcp_ifinfo *out)
{
	struct ifaddrs *all;
	int rc = -EADDRNOTAVAIL;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		if (!owns(i, a))
			continue;
		fill(out, i, a);
		rc = 0;
		break;
	}
	freeifaddrs(all);
	return rc;
}

/* The label of a second address ("eth0:1") names the same interface. */
static bool same_if(const char *label, const char *name)
{
	size_t n = strcspn(label, ":");

	return n == strlen(name) && !memcmp(label, name, n);
}

int tcp_if_by_name(const char *name, int family, struct tcp_ifinfo *out)
{
	struct ifaddrs *all;
	int rc = -EADDRNOTAVAIL;

	if (!if_nametoindex(name))
		return -ENODEV;
	if (getifaddrs(&all) < 0)
		return -errno;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		union tcp_addr a = {0};

		if (!same_if(i->ifa_name, name) || !i->ifa_addr || i->ifa_addr->sa_family != family)
			continue;
		memcpy(&a, i->ifa_addr, family == AF_INET ? sizeof(a.in) : sizeof(a.in6));
		if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&a.in6.sin6_addr))
			continue;
		tcp_addr_set_port(&a, 0);
		fill(out, i, &a);
		rc = 0;
		break;
	}
	freeifaddrs(all);
	return rc;
}

int tcp_if_check(const char *name, const union tcp_addr *a, struct tcp_ifinfo *out)
{
	struct ifaddrs *all;
	int rc = -EADDRNOTAVAIL;

	if (!if_nametoindex(name))
		return -ENODEV;
	if (getifaddrs(&all) < 0)
		return -errno;
	for (struct ifaddrs *i = all; i; i = i->ifa_next) {
		if (!same_if(i->ifa_name, name) || !owns(i, a))
			continue;
		fill(out, i, a);
		rc = 0;
		break;
	}
	freeifaddrs(all);
	return rc;
}

static int if_ioctl(const char *name, unsigned long req, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	memset(ifr->ifr_name, 0, sizeof(ifr->ifr_name));
	memccpy(ifr->ifr_name, name, 0, sizeof(ifr->ifr_name) - 1);
	rc = ioctl(fd, req, ifr) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

uint32_t tcp_if_speed(const char *name)
{
	struct ethtool_cmd cmd = {.cmd = ETHTOOL_GSET};
	struct ifreq ifr = {.ifr_data = (char *)&cmd};
	uint32_t speed;

	if (if_ioctl(name, SIOCETHTOOL, &ifr) < 0)
		return 0;
	speed = ethtool_cmd_speed(&cmd);
	return speed == (uint32_t)SPEED_UNKNOWN ? 0 : speed;
}

uint32_t tcp_if_mtu(const char *name)
{
	struct ifreq ifr = {0};

	return if_ioctl(name, SIOCGIFMTU, &ifr) < 0 || ifr.ifr_mtu < 0 ? 0 : (uint32_t)ifr.ifr_mtu;
}

const char *tcp_if_state(const char *name)
{
	struct ifreq ifr = {0};
	int rc = if_ioctl(name, SIOCGIFFLAGS, &ifr);

	if (rc == -ENODEV)
		return "interface gone";
	if (rc < 0)
		return NULL; /* no descriptor to ask with: no news */
	if (!(ifr.ifr_flags & IFF_UP))
		return "link down";
	if (!(ifr.ifr_flags & IFF_RUNNING))
		return "no carrier";
	return NULL;
}
