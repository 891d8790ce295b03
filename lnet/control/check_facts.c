/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that `check` looks at. */
#include "lnet/control/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_PORT 988
#define OWN_FILES    128u /* descriptors of a node itself: loops, listeners, control socket */
#define OWN_MAPS     1024u

/* ---- limits -------------------------------------------------------------------------------- */

static uint64_t limit(int what)
{
	struct rlimit r;

	if (getrlimit(what, &r) < 0)
		return 0;
	return r.rlim_cur == RLIM_INFINITY ? UINT64_MAX : r.rlim_cur;
}

static bool has_type(const struct lnc_check *k, unsigned type)
{
	for (unsigned n = 0; k->conf && n < k->conf->nnet; n++)
		if (LNET_NET_TYPE(k->conf->net[n].net) == type)
			return true;
	return false;
}

static bool has_ipv6(const struct lnc_check *k)
{
	for (unsigned n = 0; k->conf && n < k->conf->nnet; n++)
		for (unsigned i = 0; i < k->conf->net[n].nni; i++)
			if (k->conf->net[n].ni[i].nid.size)
				return true;
	return false;
}

static void neighbours(struct lnc_check *k, const char *name, const char *family)
{
	uint64_t v, need = k->peers + 64ull;

	if (lnc_check_read(k, &v, "/proc/sys/net/%s/neigh/default/gc_thresh3", family))
		lnc_check_atleast(k, name, v, need,
		        "sysctl -w net.%s.neigh.default.gc_thresh3=%" PRIu64, family, need);
}

static void ephemeral(struct lnc_check *k, uint64_t conns)
{
	char path[512];
	unsigned lo, hi;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/sys/net/ipv4/ip_local_port_range", k->root);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fscanf(f, "%u %u", &lo, &hi) == 2 && hi >= lo)
		lnc_check_atleast(k, "ephemeral ports", (uint64_t)hi - lo + 1, conns,
		        "sysctl -w net.ipv4.ip_local_port_range='1024 65535'");
	fclose(f);
}

void lnc_check_limits(struct lnc_check *k)
{
	uint64_t conns = lnc_check_conns(k), files = conns + OWN_FILES, maps = OWN_MAPS + k->peers,
	         v;
	bool rdma = has_type(k, LNET_LND_O2IB) || has_type(k, LNET_LND_OFI);

	lnc_check_atleast(k, "nofile", limit(RLIMIT_NOFILE), files,
	        "ulimit -n %" PRIu64 ", or LimitNOFILE=%" PRIu64 " in the unit of ulnetd", files,
	        files);
	lnc_check_atleast(k, "memlock", limit(RLIMIT_MEMLOCK), rdma ? UINT64_MAX : 0,
	        "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit of ulnetd");
	if (lnc_check_read(k, &v, "/proc/sys/vm/max_map_count"))
		lnc_check_atleast(
		        k, "max_map_count", v, maps, "sysctl -w vm.max_map_count=%" PRIu64, maps);
	neighbours(k, "neighbour table", "ipv4");
	if (has_ipv6(k))
		neighbours(k, "neighbour table ipv6", "ipv6");
	ephemeral(k, conns);
}

/* ---- several interfaces in one subnet ------------------------------------------------------ */

static bool same_subnet(const struct lnc_iface *a, const struct lnc_iface *b)
{
	if (a->len != 4 || b->len != 4 || a->prefix != b->prefix || !strcmp(a->name, b->name))
		return false;
	for (unsigned bit = 0; bit < a->prefix; bit++)
		if ((a->addr[bit / 8] ^ b->addr[bit / 8]) & (0x80u >> bit % 8))
			return false;
	return true;
}

/* Is it one of the interfaces that the configuration uses? Without one: every one that is up. */
static bool in_use(const struct lnc_check *k, const struct lnc_iface *f)
{
	if (!k->conf || !k->conf->nnet)
		return f->up && !f->loopback;
	for (unsigned n = 0; n < k->conf->nnet; n++)
		for (unsigned i = 0; i < k->conf->net[n].nni; i++) {
			const struct lnc_iface *own = lnc_check_iface(k, &k->conf->net[n].ni[i]);
			if (own && !strcmp(own->name, f->name))
				return !f->loopback;
		}
	return false;
}

static void one_setting(struct lnc_check *k, const char *ifname, const char *key, const char *need,
        const char *want, bool (*ok)(uint64_t v))
{
	uint64_t all = 0, own = 0, v;
	char name[64], have[32];

	/* the kernel takes the greater of the two */
	if (!lnc_check_read(k, &own, "/proc/sys/net/ipv4/conf/%s/%s", ifname, key))
		return;
	lnc_check_read(k, &all, "/proc/sys/net/ipv4/conf/all/%s", key);
	v = own > all ? own : all;
	snprintf(name, sizeof(name), "%s %s", key, ifname);
	snprintf(have, sizeof(have), "%" PRIu64, v);
	lnc_check_add(k, name, have, need, ok(v), "sysctl -w net.ipv4.conf.%s.%s=%s%s", ifname, key,
	        want, all > own ? "; net.ipv4.conf.all overrides it" : "");
}

static bool not_strict(uint64_t v)
{
	return v != 1;
}
static bool at_least_1(uint64_t v)
{
	return v >= 1;
}
static bool is_2(uint64_t v)
{
	return v == 2;
}

static void subnets(struct lnc_check *k)
{
	for (unsigned a = 0; a < k->nifs; a++) {
		const struct lnc_iface *f = &k->ifs[a];
		bool shared = false;
		if (!in_use(k, f))
			continue;
		for (unsigned b = 0; b < k->nifs && !shared; b++)
			shared = same_subnet(f, &k->ifs[b]) && in_use(k, &k->ifs[b]);
		for (unsigned b = 0; b < a && shared; b++) /* an interface once */
			shared = strcmp(f->name, k->ifs[b].name) || k->ifs[b].len != 4;
		if (!shared)
			continue;
		one_setting(k, f->name, "rp_filter", "0 or 2", "2", not_strict);
		one_setting(k, f->name, "arp_ignore", "1 or more", "1", at_least_1);
		one_setting(k, f->name, "arp_announce", "2", "2", is_2);
	}
}

/* ---- rails of one net ---------------------------------------------------------------------- */

static void rails(struct lnc_check *k, const struct lnc_net *n)
{
	char name[LNET_NIDSTR_MAX + 32], net[LNET_NIDSTR_MAX], have[32], need[48];
	uint64_t most = 0, mtu;

	lnet_net_str(n->net, net, sizeof(net));
	for (unsigned i = 0; i < n->nni; i++) {
		const struct lnc_iface *f = lnc_check_iface(k, &n->ni[i]);
		if (f && lnc_check_read(k, &mtu, "/sys/class/net/%s/mtu", f->name) && mtu > most)
			most = mtu;
	}
	for (unsigned i = 0; i < n->nni; i++) {
		const struct lnc_iface *f = lnc_check_iface(k, &n->ni[i]);
		if (!f || !lnc_check_read(k, &mtu, "/sys/class/net/%s/mtu", f->name))
			continue;
		snprintf(name, sizeof(name), "mtu %s %s", net, f->name);
		snprintf(have, sizeof(have), "%" PRIu64, mtu);
		snprintf(need, sizeof(need), "%" PRIu64, most);
		lnc_check_add(k, name, have, need, mtu == most,
		        "ip link set %s mtu %" PRIu64 ", on the switch and at the peers too",
		        f->name, most);
	}
}

/* ---- listening ----------------------------------------------------------------------------- */

static bool may_bind(const struct lnc_check *k, uint64_t port)
{
	uint64_t start = 1024, caps = 0;
	char line[256];
	FILE *f;

	lnc_check_read(k, &start, "/proc/sys/net/ipv4/ip_unprivileged_port_start");
	if (port >= start)
		return true;
	f = fopen("/proc/self/status", "re");
	if (!f)
		return geteuid() == 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	fclose(f);
	return caps >> 10 & 1; /* CAP_NET_BIND_SERVICE */
}

/* Can this process listen there now? */
static int try_listen(const void *addr, unsigned len, uint16_t port)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr *sa = len == 16 ? (struct sockaddr *)&a6 : (struct sockaddr *)&a4;
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, rc = 0;

	if (fd < 0)
		return -errno;
	if (len == 16)
		memcpy(&a6.sin6_addr, addr, 16);
	else if (len)
		memcpy(&a4.sin_addr, addr, 4);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, sa, len == 16 ? sizeof(a6) : sizeof(a4)) < 0 || listen(fd, 1) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static void port_item(
        struct lnc_check *k, const char *where, const void *addr, unsigned len, uint16_t port)
{
	char name[128], have[64];
	int rc;

	snprintf(name, sizeof(name), "privileged port %u", port);
	if (!may_bind(k, port)) {
		lnc_check_add(k, name, "not allowed", "allowed", false,
		        "CAP_NET_BIND_SERVICE, or sysctl -w "
		        "net.ipv4.ip_unprivileged_port_start=%u, or "
		        "another port for the network",
		        port);
		return;
	}
	lnc_check_add(k, name, "allowed", "allowed", true, "%s", "");
	rc = try_listen(addr, len, port);
	snprintf(name, sizeof(name), "port %u %s", port, where);
	snprintf(have, sizeof(have), "%s", rc ? strerror(-rc) : "free");
	lnc_check_add(k, name, have, "free", rc == 0,
	        rc == -EADDRINUSE
	                ? "stop what listens there (it may be a running ulnetd); see ss -ltnp"
	                : "see ip address");
}

static void listening(struct lnc_check *k, const struct lnc_ni *ni)
{
	const struct lnc_iface *f = lnc_check_iface(k, ni);
	uint16_t port = (uint16_t)lnc_check_tun(ni, "port", DEFAULT_PORT);
	char text[INET6_ADDRSTRLEN];
	const void *addr = ni->nid.addr;
	unsigned len = ni->nid.size ? 16 : 4;

	if (lnet_nid_is_any(&ni->nid)) {
		if (!f || !f->len) {
			lnc_check_add(k, "address", "none", "one", false,
			        "interface %s has no address, or is not there",
			        ni->ifname ? ni->ifname : "");
			return;
		}
		addr = f->addr;
		len = f->len;
	}
	if (!inet_ntop(len == 16 ? AF_INET6 : AF_INET, addr, text, sizeof(text)))
		return;
	port_item(k, text, addr, len, port);
}

void lnc_check_nets(struct lnc_check *k)
{
	subnets(k);
	if (!k->conf || !k->conf->nnet)
		port_item(k, "*", NULL, 0, DEFAULT_PORT);
	for (unsigned n = 0; k->conf && n < k->conf->nnet; n++) {
		const struct lnc_net *net = &k->conf->net[n];
		if (!lnet_net_is_ip(net->net))
			continue;
		if (net->nni > 1)
			rails(k, net);
		for (unsigned i = 0; i < net->nni; i++)
			if (LNET_NET_TYPE(net->net) == LNET_LND_TCP)
				listening(k, &net->ni[i]);
	}
}
