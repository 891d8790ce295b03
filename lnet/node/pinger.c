/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinging: a GET of another node's ping info.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnet/node/ping.h"
#include "lnet/wire/ping.h"

#define ASK_FIRST 3960u /* what `lnetctl ping` of the kernel asks for */

typedef void (*ping_fn)(void *user, int status, const struct lnet_ping_result *r);

struct ping {
	struct lnet *n;
	struct lnet_op_args args;
	struct iovec iov;
	ping_fn fn;
	void *user;
	uint64_t started;
	uint8_t *buf;
	size_t size;
};

static void end(struct ping *p, int status, const struct lnet_ping_result *r)
{
	p->fn(p->user, status, r);
	free(p->buf);
	free(p);
}

static void on_event(const struct lnet_event *ev);

static int ask(struct ping *p, size_t size)
{
	uint8_t *buf = realloc(p->buf, size);

	if (!buf)
		return -ENOMEM;
	p->buf = buf;
	p->size = size;
	p->iov = (struct iovec){buf, size};
	p->args.mem = (struct lnet_mem){.iov = &p->iov, .niov = 1};
	p->args.handler = on_event;
	p->args.user = p;
	p->started = lnet_now(p->n);
	return lnet_get(p->n, &p->args, NULL);
}

static int to_result(const struct lni_ping_info *info, struct lnet_ping_result *r)
{
	*r = (struct lnet_ping_result){.size = sizeof(*r),
	        .pid = info->pid,
	        .features = info->features,
	        .seq = info->seq,
	        .multi_rail = info->features & LNI_PING_MULTI_RAIL,
	        .nnids = info->count};
	r->nids = calloc(info->count + 1, sizeof(r->nids[0]));
	r->up = calloc(info->count + 1, sizeof(r->up[0]));
	if (!r->nids || !r->up) {
		lnet_ping_free(r);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < info->count; i++) {
		r->nids[i] = info->entries[i].nid;
		r->up[i] = info->entries[i].status == LNI_NI_STATUS_UP;
	}
	if (info->count)
		r->primary = r->nids[0];
	return 0;
}

void lnet_ping_free(struct lnet_ping_result *r)
{
	free(r->nids);
	free(r->up);
	r->nids = NULL;
	r->up = NULL;
	r->nnids = 0;
}

static void learn(struct ping *p, const struct lnet_event *ev, const struct lnet_ping_result *r)
{
	char s[LNET_NIDSTR_MAX], t[LNET_NIDSTR_MAX];
	struct lnet_nid bad;

	if (!r->multi_rail || !r->nnids || (p->args.target_pid & LNET_PID_USERFLAG))
		return;
	if (lni_peer_learn(p->n, &ev->target, r->nids, r->nnids, r->features, false, &bad) ==
	        -EEXIST)
		lni_logf(p->n, LNET_LOG_WARN, "CLAIM",
		        "%s claims %s, which is another node's: ignored",
		        lnet_nid_str(&ev->target, s, sizeof(s)), lnet_nid_str(&bad, t, sizeof(t)));
}

static void on_event(const struct lnet_event *ev)
{
	struct ping *p = ev->user;
	struct lni_ping_info info = {0};
	struct lni_ping_result res = {0};
	struct lnet_ping_result r;
	uint32_t limit = ev->mlength / 16 + 1;
	int rc = ev->status;

	if (!ev->final)
		return;
	if (rc) {
		end(p, rc, NULL);
		return;
	}
	info.entries = calloc(limit, sizeof(info.entries[0]));
	rc = info.entries ? lni_ping_decode(p->buf, ev->mlength, &info, limit, &res) : -ENOMEM;
	if (rc == -EMSGSIZE && res.want > p->size && res.want <= LNI_PING_MAX_SIZE) {
		free(info.entries);
		rc = ask(p, res.want);
		if (rc)
			end(p, rc, NULL);
		return;
	}
	if (!rc)
		rc = to_result(&info, &r);
	free(info.entries);
	if (rc) {
		end(p, rc == -EMSGSIZE || rc == -ENOSPC ? -EPROTO : rc, NULL);
		return;
	}
	r.rtt = lnet_now(p->n) - p->started;
	learn(p, ev, &r);
	end(p, 0, &r);
	lnet_ping_free(&r);
}

int lnet_ping_start(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, uint64_t deadline, ping_fn fn, void *user)
{
	struct ping *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->n = n;
	p->fn = fn;
	p->user = user;
	lnet_op_args_init(&p->args, sizeof(p->args));
	p->args.target = *nid;
	p->args.target_pid = pid;
	p->args.source = *source;
	p->args.portal = LNI_PING_PORTAL;
	p->args.match_bits = LNI_PING_MATCHBITS;
	p->args.deadline = deadline;
	rc = ask(p, ASK_FIRST);
	if (rc) {
		free(p->buf);
		free(p);
	}
	return rc;
}

struct sync {
	_Atomic bool done;
	int status;
	struct lnet_ping_result *r;
};

static void on_ping(void *user, int status, const struct lnet_ping_result *r)
{
	struct sync *s = user;
	size_t size = s->r->size;

	s->status = status;
	if (!status) {
		struct lnet_nid *nids = calloc(r->nnids + 1, sizeof(*nids));
		bool *up = calloc(r->nnids + 1, sizeof(*up));

		if (nids && up) {
			memcpy(nids, r->nids, r->nnids * sizeof(*nids));
			memcpy(up, r->up, r->nnids * sizeof(*up));
			*s->r = *r;
			s->r->size = size;
			s->r->nids = nids;
			s->r->up = up;
		} else {
			free(nids);
			free(up);
			s->status = -ENOMEM;
		}
	}
	atomic_store_explicit(&s->done, true, memory_order_release);
}

static bool is_done(void *arg)
{
	struct sync *s = arg;

	return atomic_load_explicit(&s->done, memory_order_acquire);
}

int lnet_ping(struct lnet *n, const struct lnet_nid *nid, uint32_t pid,
        const struct lnet_nid *source, uint64_t deadline, struct lnet_ping_result *r)
{
	struct sync s = {.r = r};
	int rc;

	if (r->size < sizeof(*r))
		return -EINVAL;
	if (lni_in_handler(n))
		return -EDEADLK;
	if (!lni_enter(n))
		return -ESHUTDOWN;
	rc = lnet_ping_start(n, nid, pid, source, deadline, on_ping, &s);
	if (!rc) {
		/* the GET has a deadline of its own: this ends */
		lni_wait(n, is_done, &s, UINT64_MAX);
		rc = s.status;
	}
	lni_exit(n);
	return rc;
}
