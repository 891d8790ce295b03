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

struct lni_ni *lni_ni_by_nid(struct lnet *n, const struct lnet_nid *nid)
{
	const struct lni_ni_set *s = atomic_load_explicit(&n->net->nis, memory_order_acquire);

	for (unsigned i = 0; i < s->count; i++)
		if (lnet_nid_eq(&s->ni[i]->d.nid, nid))
			return s->ni[i];
	return NULL;
}

bool lni_net_is_local(struct lnet *n, lnet_net_t net)
{
	const struct lni_ni_set *s = atomic_load_explicit(&n->net->nis, memory_order_acquire);

	for (unsigned i = 0; i < s->count; i++)
		if (lnet_nid_net(&s->ni[i]->d.nid) == net)
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

static void free_set(void *arg)
{
	free(arg);
}

/* Publish the set without `gone` and with `added` (either may be NULL). */
static int republish(struct lnet *n, const struct lni_ni *gone, struct lni_ni *added)
{
	struct lni_net *net = n->net;
	struct lni_ni_set *old = atomic_load(&net->nis);
	unsigned count = old ? old->count : 0;
	struct lni_ni_set *s = calloc(1, sizeof(*s) + (count + 1) * sizeof(s->ni[0]));

	if (!s)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		if (old->ni[i] != gone)
			s->ni[s->count++] = old->ni[i];
	if (added)
		s->ni[s->count++] = added;
	pthread_mutex_lock(&net->lock);
	atomic_store_explicit(&net->nis, s, memory_order_release);
	pthread_mutex_unlock(&net->lock);
	if (old && lni_grace(n, free_set, old))
		lni_logf(n, LNET_LOG_ERR, "NOMEM", "an old list of %u NIs is lost", count);
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

static int tun_index(const struct lnet_lnd *l, const char *name)
{
	for (unsigned i = 0; i < l->ntunables; i++)
		if (!strcmp(l->tunables[i].name, name))
			return (int)i;
	return -1;
}

static int check_tun(const struct lnet_tunable *t, int64_t v, char *why, size_t len)
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
		int k = tun_index(l, c->tun[i].name), rc;

		if (k < 0) {
			say(why, len, "networks of type %s have no tunable '%s'", l->name,
			        c->tun[i].name);
			return -EINVAL;
		}
		rc = check_tun(&l->tunables[k], c->tun[i].value, why, len);
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

static int set_allow(
        struct lni_ni *ni, enum lnet_accept accept, const struct lnet_cidr *allow, unsigned nallow)
{
	struct lnet_cidr *copy = NULL;

	if (nallow) {
		copy = calloc(nallow, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		memcpy(copy, allow, nallow * sizeof(*copy));
	}
	free(ni->allow);
	ni->allow = copy;
	ni->d.allow = copy;
	ni->d.nallow = nallow;
	ni->d.accept = accept;
	return 0;
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
		ni->d.nid.size = 0xff; /* the driver chooses the address */
	}
	if (c->ifname)
		snprintf(ni->d.ifname, sizeof(ni->d.ifname), "%s", c->ifname);
	snprintf(ni->cpts, sizeof(ni->cpts), "%s", c->cpts ? c->cpts : "");
	rc = fill_tunables(ni, c, why, len);
	if (!rc)
		rc = agree_net(ni, c->net, why, len);
	if (!rc)
		rc = set_allow(ni, c->accept, c->allow, c->nallow);
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
	struct lni_ni *ni;
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
		atomic_store(&ni->life, LNI_NI_STOPPING);
		lni_loop_call(ni->d.loop, call_stop, ni);
		lni_wait_ni(n, ni);
		lni_ni_free(ni);
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

static bool ni_gone(void *arg)
{
	struct lni_ni *ni = arg;

	return atomic_load(&ni->life) == LNI_NI_STOPPED && atomic_load(&ni->nrails) == 0;
}

void lni_wait_ni(struct lnet *n, struct lni_ni *ni)
{
	lni_wait(n, ni_gone, ni, UINT64_MAX);
}

static int shut_rails(void *arg, struct lnet_loop *l)
{
	struct lni_ni *ni = arg;

	lni_pni_each_on(ni->n, l, lni_pni_shut, ni);
	return 0;
}

int lni_ni_del_locked(struct lnet *n, const struct lnet_nid *nid)
{
	struct lni_ni *ni = lni_ni_by_nid(n, nid);

	if (!ni)
		return -ENOENT;
	atomic_store(&ni->life, LNI_NI_STOPPING);
	if (republish(n, ni, NULL))
		return -ENOMEM;
	lni_each_loop(n, shut_rails, ni);
	lni_loop_call(ni->d.loop, call_stop, ni);
	lni_wait_ni(n, ni);
	if (n->net->lo == ni)
		n->net->lo = NULL;
	lni_ni_free(ni);
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

struct set_arg {
	struct lnet *n;
	const struct lnet_nid *nid;
	lnet_net_t net;
	const char *name;
	int64_t value;
	enum lnet_accept accept;
	const struct lnet_cidr *allow;
	unsigned nallow;
};

static int set_tunable(void *arg)
{
	struct set_arg *a = arg;
	struct lni_ni *ni = lni_ni_by_nid(a->n, a->nid);
	const struct lnet_lnd *l;
	int k, rc;

	if (!ni)
		return -ENOENT;
	l = ni->d.node->lnd;
	k = tun_index(l, a->name);
	if (k < 0)
		return -ENOENT;
	bool unset = a->value == LNET_UNSET;
	rc = check_tun(&l->tunables[k], unset ? l->tunables[k].def : a->value, NULL, 0);
	if (rc)
		return rc;
	if (!(l->tunables[k].flags & LNET_TUN_RUNTIME))
		return -EPERM;
	ni->d.tunables[k] = unset ? l->tunables[k].def : a->value;
	ni->tun_set[k] = !unset;
	l->ni_changed(&ni->d);
	return 0;
}

int lnet_ni_set_tunable(struct lnet *n, const struct lnet_nid *nid, const char *name, int64_t value)
{
	struct set_arg a = {.n = n, .nid = nid, .name = name, .value = value};
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_in_handler(n) ? -EDEADLK : lni_loop_call(n->loops[0], set_tunable, &a);
	lni_exit(n);
	return rc;
}

static int set_accept(void *arg)
{
	struct set_arg *a = arg;
	const struct lni_ni_set *s = atomic_load(&a->n->net->nis);
	int rc = -ENOENT;

	for (unsigned i = 0; i < s->count; i++) {
		struct lni_ni *ni = s->ni[i];

		if (lnet_nid_net(&ni->d.nid) != a->net)
			continue;
		rc = set_allow(ni, a->accept, a->allow, a->nallow);
		if (rc)
			return rc;
		ni->d.node->lnd->ni_changed(&ni->d);
	}
	return rc;
}

int lnet_net_set_accept(struct lnet *n, lnet_net_t net, enum lnet_accept accept,
        const struct lnet_cidr *allow, unsigned nallow)
{
	struct set_arg a = {.n = n, .net = net, .accept = accept, .allow = allow, .nallow = nallow};
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_in_handler(n) ? -EDEADLK : lni_loop_call(n->loops[0], set_accept, &a);
	lni_exit(n);
	return rc;
}

static int set_health(void *arg)
{
	struct set_arg *a = arg;
	struct lni_ni *ni = lni_ni_by_nid(a->n, a->nid);

	if (!ni)
		return -ENOENT;
	atomic_store(&ni->health, (int)a->value);
	atomic_store(&ni->health_reason, "set by hand");
	atomic_store(&ni->health_changed, lnet_now(a->n));
	/* 0 and 1000 force the status, as with lnetctl */
	if (a->value == 0 || a->value == LNI_HEALTH_MAX)
		lni_ni_event(&ni->d, a->value ? LNET_NI_UP : LNET_NI_DOWN, "set by hand");
	return 0;
}

int lnet_ni_set_health(struct lnet *n, const struct lnet_nid *nid, int health)
{
	struct set_arg a = {.n = n, .nid = nid, .value = health};
	int rc;

	if (health < 0 || health > LNI_HEALTH_MAX)
		return -EINVAL;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lni_in_handler(n) ? -EDEADLK : lni_loop_call(n->loops[0], set_health, &a);
	lni_exit(n);
	return rc;
}

void lnet_ni_conf_init(struct lnet_ni_conf *c, size_t size)
{
	memset(c, 0, size);
	c->size = size;
	c->nid = lnet_nid_any();
	c->peer_timeout = c->peer_credits = c->peer_buffer_credits = c->credits = LNET_UNSET;
}
