/* SPDX-License-Identifier: BSD-2-Clause */
/* An NI: which address and interface it is, start, stop, and the state of its link. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

#define LISTEN_RETRY (500 * TCP_MS)

void tcp_ni_get(struct tcp_ni *ni)
{
	__atomic_fetch_add(&ni->refs, 1, __ATOMIC_RELAXED);
}

void tcp_ni_put(struct tcp_ni *ni)
{
	if (!__atomic_sub_fetch(&ni->refs, 1, __ATOMIC_ACQ_REL))
		free(ni);
}

void tcp_ni_idle(struct tcp_ni *ni)
{
	/* Until ni_stop() one count is the NI's own. */
	if (!__atomic_sub_fetch(&ni->busy, 1, __ATOMIC_ACQ_REL))
		lnet_loop_post(ni->loop, &ni->stopped);
}

/* ---- which interface ------------------------------------------------------------------------- */

static bool nid_unset(const struct lnet_nid *nid)
{
	static const uint8_t zero[16];

	return lnet_nid_is_any(nid) || !memcmp(nid->addr, zero, sizeof(zero));
}

/* Interface, address or both were named; the other one is found. */
static int resolve(struct lnet_lnd_ni *lni, struct tcp_ifinfo *info)
{
	struct lnet_lnd_node *n = lni->node;
	bool any = nid_unset(&lni->nid);
	char text[LNET_NIDSTR_MAX];
	union tcp_addr a;
	int rc;

	if (any && !lni->ifname[0])
		return -EINVAL;
	if (any) {
		rc = tcp_if_by_name(lni->ifname, lni->nid.size == 12 ? AF_INET6 : AF_INET, info);
		if (rc == -EADDRNOTAVAIL && lni->nid.size != 12)
			rc = tcp_if_by_name(lni->ifname, AF_INET6, info);
		if (rc < 0)
			n->up->log(n, LNET_LOG_ERR, "tcp-interface", "interface %s: %s",
			        lni->ifname,
			        rc == -ENODEV ? "no such interface"
			                      : "has no address of the family");
		return rc;
	}
	tcp_addr_from_nid(&a, &lni->nid, 0);
	lnet_nid_str(&lni->nid, text, sizeof(text));
	if (!lni->ifname[0]) {
		rc = tcp_if_by_addr(&a, info);
		if (rc < 0)
			n->up->log(n, LNET_LOG_ERR, "tcp-interface",
			        "%s: no interface of this host has the address", text);
		return rc;
	}
	rc = tcp_if_check(lni->ifname, &a, info);
	if (rc == -EADDRNOTAVAIL) {
		n->up->log(n, LNET_LOG_ERR, "tcp-interface", "%s is not an address of interface %s",
		        text, lni->ifname);
		rc = -EINVAL;
	}
	return rc;
}

static void refresh(struct lnet_lnd_ni *lni)
{
	__atomic_store_n(&lni->speed_mbps, tcp_if_speed(lni->ifname), __ATOMIC_RELAXED);
	__atomic_store_n(&lni->mtu, tcp_if_mtu(lni->ifname), __ATOMIC_RELAXED);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void check_later(struct lnet_work *w)
{
	tcp_ni_check(w->arg);
}

static void all_stopped(struct lnet_work *w)
{
	struct tcp_ni *ni = w->arg;
	struct lnet_lnd_ni *lni = ni->lni;

	lni->drv = NULL;
	tcp_ni_put(ni);
	lni->node->up->ni_stopped(lni);
}

static struct tcp_ni *ni_new(struct lnet_lnd_ni *lni, const struct tcp_ifinfo *info)
{
	struct lnet_lnd_node *n = lni->node;
	struct tcp_ni *ni = calloc(1, sizeof(*ni) + n->nloops * sizeof(ni->lanes[0]));

	if (!ni)
		return NULL;
	ni->lni = lni;
	ni->node = n->drv;
	ni->loop = lni->loop;
	ni->refs = 1;
	ni->busy = 1;
	ni->nlfd = -1;
	ni->ifindex = info->index;
	ni->loopback = info->loopback;
	ni->addr = info->addr;
	tcp_addr_set_port(&ni->addr, (unsigned)tcp_tun(lni, TCP_T_PORT));
	ni->nlanes = n->nloops;
	for (unsigned i = 0; i < n->nloops; i++)
		tcp_lane_init(&ni->lanes[i], ni, n->loops[i]);
	tcp_listen_init(ni);
	lnet_work_init(&ni->check, check_later, ni);
	lnet_work_init(&ni->stopped, all_stopped, ni);
	return ni;
}

int tcp_ni_start(struct lnet_lnd_ni *lni)
{
	struct tcp_ifinfo info;
	struct tcp_ni *ni;
	lnet_net_t net;
	int rc = resolve(lni, &info);

	if (rc < 0)
		return rc;
	ni = ni_new(lni, &info);
	if (!ni)
		return -ENOMEM;
	if (tcp_listen_wanted(ni)) {
		rc = tcp_listen(ni);
		/* The host owns it and cannot use it yet: an IPv6 address still being checked. */
		if (rc == -EADDRNOTAVAIL)
			ni->addr_gone = true;
		else if (rc < 0)
			goto out_free;
	}
	rc = tcp_netlink_open(ni);
	if (rc < 0)
		goto out_unlisten;
	net = lnet_nid_is_any(&lni->nid) ? LNET_NET(LNET_LND_TCP, 0) : lnet_nid_net(&lni->nid);
	lni->nid = tcp_addr_to_nid(&ni->addr, net);
	memcpy(lni->ifname, info.name, sizeof(lni->ifname));
	refresh(lni);
	lni->drv = ni;
	if (ni->addr_gone) {
		/* Nobody is told before the check, which finds out why. */
		__atomic_store_n(&ni->down, 1, __ATOMIC_RELAXED);
	}
	lnet_loop_defer(ni->loop, &ni->check);
	return 0;
out_unlisten:
	tcp_unlisten(ni);
out_free:
	tcp_ni_put(ni);
	return rc;
}

void tcp_ni_stop(struct lnet_lnd_ni *lni)
{
	struct tcp_ni *ni = lni->drv;

	if (!ni || tcp_ni_stopping(ni))
		return;
	__atomic_fetch_add(&ni->busy, ni->nlanes, __ATOMIC_ACQ_REL);
	__atomic_store_n(&ni->stopping, 1, __ATOMIC_RELEASE);
	lnet_loop_undefer(ni->loop, &ni->check);
	tcp_unlisten(ni);
	lnet_timer_stop(ni->loop, &ni->ltimer);
	tcp_netlink_close(ni);
	tcp_passive_kill_all(ni);
	for (unsigned i = 0; i < ni->nlanes; i++)
		tcp_lane_post(&ni->lanes[i], TCP_CTL_STOP);
	tcp_ni_idle(ni);
}

void tcp_ni_changed(struct lnet_lnd_ni *lni)
{
	struct tcp_ni *ni = lni->drv;
	int rc;

	if (!ni || tcp_ni_stopping(ni))
		return;
	for (unsigned i = 0; i < ni->nlanes; i++)
		tcp_lane_post(&ni->lanes[i], TCP_CTL_CHANGED);
	if (ni->lfd >= 0 && !tcp_listen_wanted(ni)) {
		tcp_unlisten(ni);
	} else if (ni->lfd < 0 && tcp_listen_wanted(ni) && !ni->addr_gone) {
		rc = tcp_listen(ni);
		if (rc < 0)
			tcp_log(ni->node, LNET_LOG_ERR, "tcp-listen", "%s: cannot listen: %s",
			        lni->ifname, strerrordesc_np(-rc));
	}
}

/* ---- link ------------------------------------------------------------------------------------ */

/* What is wrong with the interface or the address; NULL = nothing. */
static const char *trouble(const struct tcp_ni *ni, struct tcp_ifinfo *info, bool *gone)
{
	const char *why = tcp_if_state(ni->lni->ifname);
	int rc;

	*gone = why && !strcmp(why, "interface gone");
	if (*gone)
		return why;
	rc = tcp_if_check(ni->lni->ifname, &ni->addr, info);
	*gone = rc == -EADDRNOTAVAIL || rc == -ENODEV;
	if (*gone)
		return rc == -ENODEV ? "interface gone" : "address gone";
	return why;
}

static void go_down(struct tcp_ni *ni, const char *why, bool gone)
{
	bool news = !tcp_ni_down(ni) || !ni->why || strcmp(ni->why, why) != 0;

	ni->why = why;
	__atomic_store_n(&ni->down, 1, __ATOMIC_RELAXED);
	if (gone)
		tcp_unlisten(ni);
	ni->addr_gone = ni->addr_gone || gone;
	if (!news)
		return;
	ni->node->n->up->ni_event(ni->lni, LNET_NI_DOWN, why);
	for (unsigned i = 0; i < ni->nlanes; i++)
		tcp_lane_post(&ni->lanes[i], gone ? TCP_CTL_RESET : TCP_CTL_PURGE);
}

void tcp_ni_check(struct tcp_ni *ni)
{
	struct tcp_ifinfo info = {.index = ni->ifindex};
	const char *why;
	bool gone;
	int rc = 0;

	if (tcp_ni_stopping(ni))
		return;
	why = trouble(ni, &info, &gone);
	if (why) {
		go_down(ni, why, gone);
		return;
	}
	ni->ifindex = info.index;
	if (ni->lfd < 0 && tcp_listen_wanted(ni)) {
		rc = tcp_listen(ni);
		if (rc < 0) {
			go_down(ni,
			        rc == -EADDRNOTAVAIL ? "address not usable yet" : "cannot listen",
			        false);
			tcp_listen_later(ni, LISTEN_RETRY);
			return;
		}
	}
	ni->addr_gone = false;
	refresh(ni->lni);
	if (!tcp_ni_down(ni))
		return;
	__atomic_store_n(&ni->down, 0, __ATOMIC_RELAXED);
	ni->why = NULL;
	ni->node->n->up->ni_event(ni->lni, LNET_NI_UP, "");
}
