/* SPDX-License-Identifier: BSD-2-Clause */
/* The interfaces of this host, and who owns an address. */
#include "lnet/control/conf.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static unsigned prefix_of(const uint8_t *mask, unsigned len)
{
	unsigned n = 0;

	while (n < len * 8 && (mask[n / 8] & (0x80u >> (n % 8))))
		n++;
	return n;
}

/* False: a row of a family that has no IP address (the interface itself is seen by such rows). */
static bool fill(struct lnc_iface *i, const struct ifaddrs *a)
{
	const void *addr = NULL, *mask = NULL;

	memset(i, 0, sizeof(*i));
	strncpy(i->name, a->ifa_name, sizeof(i->name) - 1);
	i->up = a->ifa_flags & IFF_UP;
	i->loopback = a->ifa_flags & IFF_LOOPBACK;
	if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET) {
		i->len = 4;
		addr = &((const struct sockaddr_in *)(const void *)a->ifa_addr)->sin_addr;
		if (a->ifa_netmask)
			mask = &((const struct sockaddr_in *)(const void *)a->ifa_netmask)
			                ->sin_addr;
	} else if (a->ifa_addr && a->ifa_addr->sa_family == AF_INET6) {
		i->len = 16;
		addr = &((const struct sockaddr_in6 *)(const void *)a->ifa_addr)->sin6_addr;
		if (a->ifa_netmask)
			mask = &((const struct sockaddr_in6 *)(const void *)a->ifa_netmask)
			                ->sin6_addr;
	}
	if (!addr)
		return false;
	memcpy(i->addr, addr, i->len);
	i->prefix = (uint8_t)(mask ? prefix_of(mask, i->len) : i->len * 8u);
	return true;
}

static bool seen(const struct lnc_iface *v, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(v[i].name, name) == 0)
			return true;
	}
	return false;
}

int lnc_ifaces_read(struct lnc_iface **out, unsigned *n)
{
	struct lnc_iface *v;
	struct ifaddrs *list;
	unsigned max = 0, k = 0;

	if (getifaddrs(&list))
		return -errno;
	for (const struct ifaddrs *a = list; a; a = a->ifa_next)
		max++;
	v = calloc(max + 1, sizeof(*v));
	if (!v) {
		freeifaddrs(list);
		return -ENOMEM;
	}
	for (const struct ifaddrs *a = list; a; a = a->ifa_next)
		k += fill(&v[k], a);
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		if (!seen(v, k, a->ifa_name))
			fill(&v[k++], a);
	}
	freeifaddrs(list);
	*out = v;
	*n = k;
	return 0;
}

static bool owns(const struct lnc_iface *i, const uint8_t *addr, unsigned len)
{
	unsigned full = i->prefix / 8, rest = i->prefix % 8;

	if (i->len != len)
		return false;
	if (memcmp(i->addr, addr, len) == 0)
		return true;
	if (!i->loopback || memcmp(i->addr, addr, full) != 0)
		return false;
	return !rest || ((addr[full] ^ i->addr[full]) >> (8 - rest)) == 0;
}

int lnc_iface_owns(const struct lnc_iface *ifs, unsigned n, const char *ifname,
        const struct lnet_nid *nid, char owner[16], struct lnc_err *err)
{
	const struct lnc_iface *other = NULL;
	char name[LNET_NIDSTR_MAX];
	bool known = !ifname;

	if (!lnet_net_is_ip(lnet_nid_net(nid))) {
		memset(owner, 0, 16);
		if (ifname)
			strncpy(owner, ifname, 15);
		return 0;
	}
	for (unsigned i = 0; i < n; i++) {
		bool right = !ifname || strcmp(ifs[i].name, ifname) == 0;
		bool has = owns(&ifs[i], nid->addr, nid->size + 4u);

		known |= right;
		if (has && right) {
			memcpy(owner, ifs[i].name, 16);
			return 0;
		}
		if (has)
			other = &ifs[i];
	}
	lnet_nid_str(nid, name, sizeof(name));
	if (!known)
		return lnc_err_set(err, -ENODEV, "interface '%s' does not exist", ifname);
	if (!ifname)
		return lnc_err_set(err, -EADDRNOTAVAIL, "%s is no address of this host", name);
	if (other)
		return lnc_err_set(err, -EADDRNOTAVAIL,
		        "%s is no address of interface '%s' but of '%s'", name, ifname,
		        other->name);
	return lnc_err_set(err, -EADDRNOTAVAIL, "%s is no address of interface '%s'", name, ifname);
}
