/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Local interfaces: adding, removing, status. One configuration call runs at a time
 * (lni_net_lock); the set of NIs is published as an immutable array.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/net/net.h"

#define LOOK_NS 20000000ull

struct lni_ni *lni_ni_by_nid(struct lnet *n, const struct lnet_nid *nid)
{
	const struct lni_ni_set *s = atomic_load_explicit(&n->net->nis, memory_order_acquire);

	for (unsigned i = 0; i < s->count; i++)
		if (lnet_nid_eq(&s->ni[i]->d.nid, nid))
			return s->ni[i];
	return NULL;
}

/* An IPv4 interface does not reach an IPv6 NID of the same net. */
bool lni_ni_reaches(const struct lni_ni *ni, const struct lnet_nid *nid)
{
	return lnet_nid_net(&ni->d.nid) == lnet_nid_net(nid) && ni->d.nid.size == nid->size;
}

bool lni_nid_is_near(struct lnet *n, const struct lnet_nid *nid)
{
	const struct lni_ni_set *s = atomic_load_explicit(&n->net->nis, memory_order_acquire);

	for (unsigned i = 0; i < s->count; i++)
		if (lni_ni_reaches(s->ni[i], nid))
			return true;
	return false;
}

__attribute__((format(printf, 3, 4))) static void say(char *why, size_t len, const char *fmt, ...)
{
	va_list ap;

	if (!why || !len)
		return;
	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
}

static int pass_by(void *arg, struct lnet_loop *l)
{
	(void)arg;
	(void)l;
	return 0;
}

static void free_set(void *arg)
{
	free(arg);
}

/* No memory for a new set: a reader may meet an NI twice or miss one, but none that is gone. */
static void take_out(struct lni_ni_set *s, const struct lni_ni *gone)
{
	unsigned k = 0;

	while (k < s->count && s->ni[k] != gone)
		k++;
	if (k == s->count)
		return;
	for (; k + 1 < s->count; k++)
		__atomic_store_n(&s->ni[k], s->ni[k + 1], __ATOMIC_RELAXED);
	__atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELEASE);
}

/* Publish the set without `gone` (this cannot fail) or with `added`; the other is NULL. */
static int republish(struct lnet *n, const struct lni_ni *gone, struct lni_ni *added)
{
	struct lni_net *net = n->net;
	struct lni_ni_set *old = atomic_load(&net->nis);
	unsigned count = old ? old->count : 0;
	struct lni_ni_set *s = calloc(1, sizeof(*s) + (count + 1) * sizeof(s->ni[0]));

	if (!s && added)
		return -ENOMEM;
	for (unsigned i = 0; s && i < count; i++)
		if (old->ni[i] != gone)
			s->ni[s->count++] = old->ni[i];
	if (added)
		s->ni[s->count++] = added;
	pthread_mutex_lock(&net->lock);
	if (s)
		atomic_store_explicit(&net->nis, s, memory_order_release);
	else
		take_out(old, gone);
	pthread_mutex_unlock(&net->lock);
	if (s && old && lni_grace(n, free_set, old)) {
		/* after this every loop has passed between two turns */
		lni_each_loop(n, pass_by, NULL);
		free(old);
	}
	return 0;
}

void lni_ni_free(struct lni_ni *ni)
{
	struct lni_net *net = ni->n->net;

	pthread_mutex_destroy(&ni->why_lock);
	free(ni->share);
	free(ni->d.tunables);
	free(ni->d.stats);
	free(ni->tun_set);
	free(ni->allow);
	free(ni);
	atomic_fetch_sub(&net->nis_live, 1);
}

int lni_tun_index(const struct lnet_lnd *l, const char *name)
{
	for (unsigned i = 0; i < l->ntunables; i++)
		if (!strcmp(l->tunables[i].name, name))
			return (int)i;
	return -1;
}

int lni_tun_check(const struct lnet_tunable *t, int64_t v, char *why, size_t len)
{
	if (t->flags & LNET_TUN_READONLY) {
		say(why, len, "%s cannot be set", t->name);
		return -EPERM;
	}
	if (v < t->min || v > t->max) {
		say(why, len, "%s: %lld is not in %lld..%lld", t->name, (long long)v,
		        (long long)t->min, (long long)t->max);
		return -EINVAL;
	}
	return 0;
}

static int fill_tunables(struct lni_ni *ni, const struct lnet_ni_conf *c, char *why, size_t len)
{
	const struct lnet_lnd *l = ni->d.node->lnd;

	for (unsigned i = 0; i < l->ntunables; i++)
		ni->d.tunables[i] = l->tunables[i].def;
	for (unsigned i = 0; i < c->ntun; i++) {
		int k = lni_tun_index(l, c->tun[i].name), rc;

		if (k < 0) {
			say(why, len, "networks of type %s have no tunable '%s'", l->name,
			        c->tun[i].name);
			return -EINVAL;
		}
		rc = lni_tun_check(&l->tunables[k], c->tun[i].value, why, len);
		if (rc)
			return rc;
		ni->d.tunables[k] = c->tun[i].value;
		ni->tun_set[k] = true;
	}
	return 0;
}

/* Net-wide tunables: a later NI that says nothing inherits, one that disagrees is refused. */
static int agree_net(struct lni_ni *ni, lnet_net_t net, char *why, size_t len)
{
	const struct lnet_lnd *l = ni->d.node->lnd;
	const struct lni_ni_set *s = atomic_load(&ni->n->net->nis);

	for (unsigned k = 0; s && k < s->count; k++) {
		const struct lni_ni *o = s->ni[k];

		if (lnet_nid_net(&o->d.nid) != net)
			continue;
		for (unsigned i = 0; i < l->ntunables; i++) {
			if (!(l->tunables[i].flags & LNET_TUN_NET) ||
			        ni->d.tunables[i] == o->d.tunables[i])
				continue;
			if (ni->tun_set[i]) {
				say(why, len,
				        "%s is %lld on this net, not %lld: it is one value for all "
				        "its interfaces",
				        l->tunables[i].name, (long long)o->d.tunables[i],
				        (long long)ni->d.tunables[i]);
				return -EINVAL;
			}
			ni->d.tunables[i] = o->d.tunables[i];
		}
		break;
	}
	return 0;
}

static int check_common(const struct lnet_ni_conf *c, char *why, size_t len)
{
	const struct {
		const char *name;
		int32_t v, min;
	} t[] = {{"peer_timeout", c->peer_timeout, -1}, {"peer_credits", c->peer_credits, 1},
	        {"peer_buffer_credits", c->peer_buffer_credits, 0}, {"credits", c->credits, 1}};

	for (int i = 0; i < 4; i++) {
		if (t[i].v != LNET_UNSET && t[i].v < t[i].min) {
			say(why, len, "%s: %d is less than %d", t[i].name, t[i].v, t[i].min);
			return -EINVAL;
		}
	}
	return 0;
}

static void fill_common(struct lni_ni *ni, const struct lnet_ni_conf *c)
{
	const struct lnet_lnd *l = ni->d.node->lnd;
	int32_t v[4] = {c->peer_timeout, c->peer_credits, c->peer_buffer_credits, c->credits};

	for (int i = 0; i < 4; i++)
		ni->conf[i] = v[i];
	ni->eff[0] = v[0] == LNET_UNSET || v[0] == -1 ? 180 : v[0];
	ni->eff[1] = v[1] == LNET_UNSET ? l->def_peer_credits : v[1];
	ni->eff[2] = v[2] == LNET_UNSET ? 0 : v[2];
	ni->eff[3] = v[3] == LNET_UNSET ? l->def_credits : v[3];
	if (ni->eff[1] > ni->eff[3])
		ni->eff[1] = ni->eff[3];
	ni->d.peer_credits = ni->eff[1];
	ni->d.credits = ni->eff[3];
}

/* An NI's credits are split over the loops, at least 8 peers' worth each (behaviour.md section 2).
 */
static void fill_shares(struct lni_ni *ni)
{
	unsigned nl = ni->n->nloops;
	int32_t per = ni->eff[3];

	if (nl > 1) {
		per = ni->eff[3] / (int32_t)nl;
		if (per < 8 * ni->eff[1])
			per = 8 * ni->eff[1];
		if (per > ni->eff[3])
			per = ni->eff[3];
	}
	for (unsigned i = 0; i < nl; i++) {
		ni->share[i].ni = ni;
		lni_list_init(&ni->share[i].waiters);
		lni_credits_init(&ni->share[i].cr, per);
	}
}

static struct lni_ni *alloc_ni(struct lnet *n, struct lni_driver *drv)
{
	struct lni_ni *ni = calloc(1, sizeof(*ni));

	if (!ni)
		return NULL;
	ni->n = n;
	pthread_mutex_init(&ni->why_lock, NULL);
	atomic_fetch_add(&n->net->nis_live, 1);
	ni->d.core = ni;
	ni->d.node = &drv->node;
	ni->d.loop = n->loops[0];
	ni->share = calloc(n->nloops, sizeof(ni->share[0]));
	ni->d.tunables = calloc(drv->lnd->ntunables + 1, sizeof(int64_t));
	ni->tun_set = calloc(drv->lnd->ntunables + 1, sizeof(bool));
	ni->d.stats = calloc(drv->lnd->nstats + 1, sizeof(uint64_t));
	if (!ni->share || !ni->d.tunables || !ni->tun_set || !ni->d.stats) {
		lni_ni_free(ni);
		return NULL;
	}
	atomic_init(&ni->health, LNI_HEALTH_MAX);
	atomic_init(&ni->health_reason, "");
	atomic_init(&ni->up, true);
	return ni;
}

static int copy_allow(struct lni_ni *ni, const struct lnet_ni_conf *c)
{
	int rc = lni_allow_copy(c->allow, c->nallow, &ni->allow);

	ni->d.allow = ni->allow;
	ni->d.nallow = rc ? 0 : c->nallow;
	ni->d.accept = c->accept;
	return rc;
}

static int call_start(void *arg)
{
	struct lni_ni *ni = arg;

	atomic_store(&ni->life, LNI_NI_ACTIVE); /* the driver may accept at once */
	return ni->d.node->lnd->ni_start(&ni->d);
}

static int call_stop(void *arg)
{
	struct lni_ni *ni = arg;

	ni->d.node->lnd->ni_stop(&ni->d);
	return 0;
}

static int shut_rails(void *arg, struct lnet_loop *l)
{
	struct lni_ni *ni = arg;

	lni_pni_each_on(ni->n, l, lni_pni_shut, ni);
	return 0;
}

static bool ni_gone(void *arg)
{
	struct lni_ni *ni = arg;

	return atomic_load(&ni->life) == LNI_NI_STOPPED && atomic_load(&ni->nrails) == 0;
}

static void wait_ni(struct lnet *n, struct lni_ni *ni)
{
	/* looked at again now and then: a table that grew may have hidden a peer from shut_rails()
	 */
	while (lni_wait(n, ni_gone, ni, lnet_now(n) + LOOK_NS) == -ETIMEDOUT)
		lni_each_loop(n, shut_rails, ni);
}

/* It is in no set any more (or never was). Every loop passes; what is outstanding on it ends. */
static void end_ni(struct lnet *n, struct lni_ni *ni)
{
	atomic_store(&ni->life, LNI_NI_STOPPING);
	lni_each_loop(n, shut_rails, ni);
	lni_loop_call(ni->d.loop, call_stop, ni);
	wait_ni(n, ni);
	if (n->net->lo == ni)
		n->net->lo = NULL;
	lni_ni_free(ni);
}

static int make_ni(
        struct lnet *n, const struct lnet_ni_conf *c, struct lni_ni **out, char *why, size_t len)
{
	struct lni_driver *drv;
	struct lni_ni *ni;
	int rc = check_common(c, why, len);

	if (rc)
		return rc;
	rc = lni_driver_get(n, (uint8_t)LNET_NET_TYPE(c->net), &drv, why, len);
	if (rc)
		return rc;
	ni = alloc_ni(n, drv);
	if (!ni)
		return -ENOMEM;
	ni->d.nid = c->nid;
	if (lnet_nid_is_any(&ni->d.nid)) {
		ni->d.nid.type = (uint8_t)LNET_NET_TYPE(c->net);
		ni->d.nid.num = (uint16_t)LNET_NET_NUM(c->net);
		/* the driver chooses the address */
		ni->d.nid.size = 0;
		memset(ni->d.nid.addr, 0, sizeof(ni->d.nid.addr));
	}
	if (c->ifname)
		snprintf(ni->d.ifname, sizeof(ni->d.ifname), "%s", c->ifname);
	snprintf(ni->cpts, sizeof(ni->cpts), "%s", c->cpts ? c->cpts : "");
	rc = fill_tunables(ni, c, why, len);
	if (!rc)
		rc = agree_net(ni, c->net, why, len);
	if (!rc)
		rc = copy_allow(ni, c);
	if (rc) {
		lni_ni_free(ni);
		return rc;
	}
	fill_common(ni, c);
	fill_shares(ni);
	*out = ni;
	return 0;
}

static int add_locked(
        struct lnet *n, const struct lnet_ni_conf *c, struct lnet_nid *nid, char *why, size_t len)
{
	const struct lni_ni_set *s = atomic_load(&n->net->nis);
	struct lni_ni *ni = NULL;
	char text[LNET_NIDSTR_MAX];
	int rc;

	if (s && s->count >= LNI_MAX_NIS) {
		say(why, len, "the limit of %u interfaces is reached", LNI_MAX_NIS);
		return -ENOSPC;
	}
	if (s && !lnet_nid_is_any(&c->nid) && lni_ni_by_nid(n, &c->nid)) {
		say(why, len, "%s is configured already",
		        lnet_nid_str(&c->nid, text, sizeof(text)));
		return -EEXIST;
	}
	rc = make_ni(n, c, &ni, why, len);
	if (rc)
		return rc;
	rc = lni_loop_call(ni->d.loop, call_start, ni);
	if (rc) {
		say(why, len, "%s does not start: %s",
		        lnet_nid_is_any(&c->nid) ? ni->d.ifname
		                                 : lnet_nid_str(&c->nid, text, sizeof(text)),
		        strerror(-rc));
		lni_ni_free(ni);
		return rc;
	}
	if (s && lni_ni_by_nid(n, &ni->d.nid)) {
		say(why, len, "%s is configured already",
		        lnet_nid_str(&ni->d.nid, text, sizeof(text)));
		rc = -EEXIST;
	} else {
		ni->serial = n->net->next_serial++;
		rc = republish(n, NULL, ni);
	}
	if (rc) {
		end_ni(n, ni);
		return rc;
	}
	if (ni->d.node->lnd->type == LNET_LND_LO)
		n->net->lo = ni;
	if (nid)
		*nid = ni->d.nid;
	return 0;
}

int lnet_ni_add(
        struct lnet *n, const struct lnet_ni_conf *c, struct lnet_nid *nid, char *why, size_t len)
{
	int rc;

	if (why && len)
		*why = 0;
	if (lni_in_handler(n))
		return -EDEADLK;
	if (c->size < sizeof(*c) || (lnet_nid_is_any(&c->nid) && !c->ifname) ||
	        (!lnet_nid_is_any(&c->nid) && lnet_nid_net(&c->nid) != c->net)) {
		say(why, len, "a NID of that net, or an interface name, is needed");
		return -EINVAL;
	}
	if (n->net->lo && LNET_NET_TYPE(c->net) == LNET_LND_LO) {
		say(why, len, "0@lo exists in every node");
		return -EINVAL;
	}
	if (c->ifname && strlen(c->ifname) >= sizeof(((struct lnet_lnd_ni *)0)->ifname)) {
		say(why, len, "interface name '%.40s' is longer than 15", c->ifname);
		return -EINVAL;
	}
	if (!lni_enter(n))
		return -ESHUTDOWN;
	lni_net_lock(n);
	rc = add_locked(n, c, nid, why, len);
	lni_net_unlock(n);
	if (!rc)
		n->up.ni_changed(n);
	lni_exit(n);
	return rc;
}

int lni_ni_del_locked(struct lnet *n, const struct lnet_nid *nid)
{
	struct lni_ni *ni = lni_ni_by_nid(n, nid);

	if (!ni)
		return -ENOENT;
	atomic_store(&ni->life, LNI_NI_STOPPING); /* no new rail */
	republish(n, ni, NULL);
	end_ni(n, ni);
	return 0;
}

int lnet_ni_del(struct lnet *n, const struct lnet_nid *nid)
{
	int rc;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (lnet_nid_is_lo(nid))
		return -EINVAL;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	lni_net_lock(n);
	rc = lni_ni_del_locked(n, nid);
	lni_net_unlock(n);
	if (!rc)
		n->up.ni_changed(n);
	lni_exit(n);
	return rc;
}

void lni_ni_event(struct lnet_lnd_ni *d, enum lnet_ni_state st, const char *why)
{
	struct lni_ni *ni = lni_ni_of(d);
	char text[LNET_NIDSTR_MAX];
	bool up = st == LNET_NI_UP;

	pthread_mutex_lock(&ni->why_lock);
	snprintf(ni->why, sizeof(ni->why), "%s", why ? why : "");
	ni->status_since = lnet_now(ni->n);
	pthread_mutex_unlock(&ni->why_lock);
	if (atomic_exchange(&ni->up, up) == up)
		return;
	atomic_store(&ni->fatal, !up);
	lni_logf(ni->n, up ? LNET_LOG_NOTICE : LNET_LOG_WARN, up ? "NI-UP" : "NI-DOWN",
	        "%s is %s: %s", lnet_nid_str(&d->nid, text, sizeof(text)), up ? "up" : "down",
	        why ? why : "");
	if (atomic_load(&ni->life) == LNI_NI_ACTIVE)
		ni->n->up.ni_changed(ni->n);
}

void lnet_ni_conf_init(struct lnet_ni_conf *c, size_t size)
{
	memset(c, 0, size);
	c->size = size;
	c->nid = lnet_nid_any();
	c->peer_timeout = c->peer_credits = c->peer_buffer_credits = c->credits = LNET_UNSET;
}
