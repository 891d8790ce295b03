/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Health is evidence, 0..1000, with its reason; it orders choices and never removes the last path.
 * Who is blamed for which status: spec behaviour.md section 5.
 */
#include "lnet/net/net.h"

static const char *const hs_names[LNET_HS_COUNT] = {
        [LNET_HS_OK] = "ok",
        [LNET_HS_LOCAL_INTERRUPT] = "local_interrupt",
        [LNET_HS_LOCAL_DROPPED] = "local_dropped",
        [LNET_HS_LOCAL_ABORTED] = "local_aborted",
        [LNET_HS_LOCAL_NO_ROUTE] = "local_no_route",
        [LNET_HS_LOCAL_ERROR] = "local_error",
        [LNET_HS_LOCAL_TIMEOUT] = "local_timeout",
        [LNET_HS_REMOTE_ERROR] = "remote_error",
        [LNET_HS_REMOTE_DROPPED] = "remote_dropped",
        [LNET_HS_REMOTE_TIMEOUT] = "remote_timeout",
        [LNET_HS_NETWORK_TIMEOUT] = "network_timeout",
};

const char *lni_hs_name(enum lnet_hstatus hs)
{
	return (unsigned)hs < LNET_HS_COUNT ? hs_names[hs] : "?";
}

static void ni_adjust(struct lni_ni *ni, int delta, const char *reason, uint64_t now)
{
	int old = atomic_load_explicit(&ni->health, memory_order_relaxed), v;

	if (delta > 0 && old == LNI_HEALTH_MAX)
		return;
	do {
		v = old + delta;
		v = v < 0 ? 0 : v > LNI_HEALTH_MAX ? LNI_HEALTH_MAX : v;
	} while (!atomic_compare_exchange_weak(&ni->health, &old, v));
	if (v != old) {
		atomic_store(&ni->health_reason, reason);
		atomic_store(&ni->health_changed, now);
	}
}

/* The score of a peer's only NID orders nothing, and stays. */
static bool has_choice(const struct lni_pni *p)
{
	return atomic_load_explicit(&p->peer, memory_order_acquire)->nnids > 1;
}

void lni_health_silent(struct lni_rail *r)
{
	int sens = (int)lni_global(&r->pni->n->globals, LNI_G_HEALTH_SENSITIVITY);

	if (has_choice(r->pni) && r->ni != r->pni->n->net->lo)
		lni_pni_set_health(
		        r->pni, r->pni->health.value - sens, "no answer", lnet_loop_now(r->d.loop));
}

void lni_health_note(struct lni_rail *r, enum lnet_hstatus hs)
{
	struct lnet *n = r->pni->n;
	int sens = (int)lni_global(&n->globals, LNI_G_HEALTH_SENSITIVITY);
	uint64_t now = lnet_loop_now(r->d.loop);

	if (hs == LNET_HS_OK) {
		ni_adjust(r->ni, sens, "recovered", now);
		return;
	}
	lni_ctr(n, r->d.loop)->by_hstatus[hs]++;
	lni_share_of(r)->hs[hs]++;
	r->pni->health.by[hs]++;
	if (hs <= LNET_HS_LOCAL_TIMEOUT)
		ni_adjust(r->ni, -sens, hs_names[hs], now);
	else if (hs != LNET_HS_NETWORK_TIMEOUT && has_choice(r->pni))
		lni_pni_set_health(r->pni, r->pni->health.value - sens, hs_names[hs], now);
}

/* Any message received is proof of life. */
void lni_health_alive(struct lni_pni *p)
{
	p->last_alive = lnet_loop_now(p->loop);
	if (p->health.value < LNI_HEALTH_MAX)
		lni_pni_set_health(p,
		        p->health.value + (int)lni_global(&p->n->globals, LNI_G_HEALTH_SENSITIVITY),
		        "recovered", p->last_alive);
}
