/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ping target: what this node tells of itself (spec: wire-lnet.md section 8), and the buffers
 * for what others push (section 9). Discovery of our own accord is not done here: a push is
 * acknowledged and believed as far as lni_peer_learn() believes it.
 */
#include "lnet/node/ping.h"

#include <errno.h>
#include <stdlib.h>

#include "lnet/wire/ping.h"

#define PUSH_BUFFERS 8u
#define PUSH_SIZE    8192u /* LNET_PEER_NIDS_MAX NIDs of either form */

struct push {
	struct lnet *n;
	struct lni_pinger *p;
	_Atomic bool posted;
	uint8_t data[PUSH_SIZE];
};

struct lni_pinger {
	uint32_t seq;
	lnet_handle_t md; /* of the target */
	_Atomic bool stopping;
	_Atomic unsigned alive; /* buffers attached */
	struct push push[PUSH_BUFFERS];
	struct lnet_work work;
	_Atomic bool queued;
};

struct target {
	struct lni_pinger *p;
	uint8_t data[];
};

static void on_target(const struct lnet_event *ev)
{
	struct target *t = ev->user;

	if (!ev->unlinked)
		return;
	atomic_fetch_sub(&t->p->alive, 1);
	free(t);
}

static uint32_t features(struct lnet *n)
{
	uint32_t f = LNI_PING_NI_STATUS | LNI_PING_RTE_DISABLED;

	if (n->client)
		return f;
	f |= LNI_PING_MULTI_RAIL;
	if (lni_global(&n->globals, LNI_G_DISCOVERY))
		f |= LNI_PING_DISCOVERY;
	return f;
}

static struct target *build(struct lnet *n, size_t *size)
{
	const struct lni_ni_set *s = atomic_load(&n->net->nis);
	struct lni_ping_info info = {.features = features(n), .pid = n->pid, .seq = n->ping->seq};
	struct lni_ping_entry *e = calloc(s->count + 1, sizeof(*e));
	struct target *t = NULL;

	if (!e)
		return NULL;
	info.entries = e;
	for (unsigned i = 0; i < s->count; i++) {
		const struct lni_ni *ni = s->ni[i];
		bool up = atomic_load(&ni->up) && atomic_load(&ni->health) > 0;

		if (ni == n->net->lo)
			continue;
		e[info.count].nid = ni->d.nid;
		e[info.count++].status = up ? LNI_NI_STATUS_UP : LNI_NI_STATUS_DOWN;
	}
	*size = lni_ping_size(&info);
	t = malloc(sizeof(*t) + *size);
	if (t && lni_ping_encode(&info, t->data, *size) < 0) {
		free(t);
		t = NULL;
	}
	free(e);
	return t;
}

static int attach(
        struct lnet *n, const struct lnet_md_desc *d, enum lnet_ins_pos pos, lnet_handle_t *md)
{
	struct lnet_match m = {
	        .nid = lnet_nid_any(), .pid = LNET_PID_ANY, .bits = LNI_PING_MATCHBITS};
	lnet_handle_t me;
	int rc = lnet_me_attach(n, LNI_PING_PORTAL, &m, LNET_UNLINK, pos, &me);

	if (rc)
		return rc;
	rc = lnet_md_attach(n, me, d, md);
	if (rc)
		lnet_me_unlink(n, me);
	return rc;
}

static int rebuild(void *arg)
{
	struct lnet *n = arg;
	struct lni_pinger *p = n->ping;
	lnet_handle_t old = p->md;
	struct lnet_md_desc d = {.options = LNET_MD_OP_GET | LNET_MD_TRUNCATE |
	                                    LNET_MD_MANAGE_REMOTE | LNET_MD_EV_QUIET,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = on_target};
	struct iovec iov;
	struct target *t;
	size_t size;
	int rc;

	if (atomic_load(&p->stopping))
		return 0;
	p->seq++;
	t = build(n, &size);
	if (!t)
		return -ENOMEM;
	t->p = p;
	iov = (struct iovec){t->data, size};
	d.mem = (struct lnet_mem){.iov = &iov, .niov = 1};
	d.user = t;
	atomic_fetch_add(&p->alive, 1);
	/* the new one first: no ping falls into a gap */
	rc = attach(n, &d, LNET_INS_BEFORE, &p->md);
	if (rc) {
		atomic_fetch_sub(&p->alive, 1);
		p->md = old;
		free(t);
		return rc;
	}
	if (old)
		lni_md_retire(n, old);
	return 0;
}

static int changed(void *arg)
{
	struct lnet *n = arg;
	int rc = rebuild(n);

	if (rc && rc != -ESHUTDOWN)
		lni_logf(n, LNET_LOG_ERR, "NOMEM", "pings tell the state before the last change");
	return 0;
}

static void rebuild_posted(struct lnet_work *w)
{
	struct lnet *n = w->arg;

	atomic_store(&n->ping->queued, false);
	changed(n);
}

void lni_ping_changed(struct lnet *n)
{
	struct lni_pinger *p = n->ping;
	struct lnet_loop *cur = lni_cur_loop(n);

	if (!p)
		return; /* opening */
	if (!cur || cur == n->loops[0]) {
		lni_loop_call(n->loops[0], changed, n);
	} else if (!atomic_exchange(&p->queued, true)) {
		lnet_work_init(&p->work, rebuild_posted, n);
		lnet_loop_post(n->loops[0], &p->work);
	}
}

static void learn(struct push *b, const struct lnet_event *ev)
{
	struct lni_ping_entry e[LNET_PEER_NIDS_MAX];
	struct lnet_nid nids[LNET_PEER_NIDS_MAX], bad;
	struct lni_ping_info info = {.entries = e};
	struct lni_ping_result res;
	char s[LNET_NIDSTR_MAX], t[LNET_NIDSTR_MAX];
	int rc = lni_ping_decode(b->data, ev->mlength, &info, LNET_PEER_NIDS_MAX, &res);

	lnet_nid_str(&ev->source, s, sizeof(s));
	if (rc) {
		lni_logf(b->n, LNET_LOG_WARN, "PUSH", "push from %s: %s", s, res.why);
		return;
	}
	if (!(info.features & LNI_PING_MULTI_RAIL) || (ev->initiator_pid & LNET_PID_USERFLAG) ||
	        info.count == 0)
		return;
	for (uint32_t i = 0; i < info.count; i++)
		nids[i] = e[i].nid;
	rc = lni_peer_learn(b->n, &ev->source, nids, info.count, info.features, true, &bad);
	if (rc == -EEXIST || rc == -EINVAL)
		lni_logf(b->n, LNET_LOG_WARN, "CLAIM",
		        "%s claims %s, which is another node's: ignored", s,
		        lnet_nid_str(&bad, t, sizeof(t)));
}

static void post_push(struct push *b);

static void on_push(const struct lnet_event *ev)
{
	struct push *b = ev->user;

	if (ev->type == LNET_EV_PUT && ev->status == 0)
		learn(b, ev);
	if (!ev->unlinked)
		return;
	atomic_fetch_sub(&b->p->alive, 1);
	b->posted = false;
	/* those for which there was no memory the last time, too */
	for (unsigned i = 0; i < PUSH_BUFFERS && !atomic_load(&b->p->stopping); i++)
		if (!b->p->push[i].posted)
			post_push(&b->p->push[i]);
}

static void post_push(struct push *b)
{
	struct iovec iov = {b->data, sizeof(b->data)};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE,
	        .threshold = 1,
	        .handler = on_push,
	        .user = b};
	lnet_handle_t md;

	if (atomic_exchange(&b->posted, true))
		return;
	atomic_fetch_add(&b->p->alive, 1);
	if (attach(b->n, &d, LNET_INS_AFTER, &md)) {
		atomic_fetch_sub(&b->p->alive, 1);
		atomic_store(&b->posted, false);
	}
}

int lni_ping_open(struct lnet *n)
{
	struct lni_pinger *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	n->ping = p;
	lnet_portal_lazy(n, LNI_PING_PORTAL, true);
	for (unsigned i = 0; i < PUSH_BUFFERS; i++) {
		p->push[i].n = n;
		p->push[i].p = p;
		post_push(&p->push[i]);
	}
	rc = lni_loop_call(n->loops[0], rebuild, n);
	if (!rc && atomic_load(&p->alive) != PUSH_BUFFERS + 1)
		rc = -ENOMEM;
	return rc;
}

void lni_ping_stop(struct lnet *n)
{
	if (n->ping)
		atomic_store(&n->ping->stopping, true);
}

void lni_ping_close(struct lnet *n)
{
	free(n->ping);
	n->ping = NULL;
}
