/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ping. All targets are asked at the same time. The state of one command is shared with the
 * callbacks by a count of references, because a command may end (caller gone, node closing) before
 * its pings do.
 */
#include "lnet/control/cmd_priv.h"
#include "lnet/control/nids.h"
#include <lnet/hdr.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define IN_FLIGHT   64u /* pings at a time */
#define TARGETS_MAX 4096u

struct batch;
struct slot {
	struct batch *b;
	bool done;
	int status;
	struct lnet_ping_result r; /* with arrays of its own */
};

struct batch {
	pthread_mutex_t lock;
	atomic_uint refs;
	int efd;
	unsigned n, done;
	struct slot slot[];
};

static void batch_put(struct batch *b)
{
	if (atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	for (unsigned i = 0; i < b->n; i++) {
		free(b->slot[i].r.nids);
		free(b->slot[i].r.up);
	}
	pthread_mutex_destroy(&b->lock);
	close(b->efd);
	free(b);
}

static struct batch *batch_new(unsigned n)
{
	struct batch *b = calloc(1, sizeof(*b) + n * sizeof(b->slot[0]));

	if (!b)
		return NULL;
	b->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->efd < 0) {
		free(b);
		return NULL;
	}
	pthread_mutex_init(&b->lock, NULL);
	atomic_init(&b->refs, 1);
	b->n = n;
	for (unsigned i = 0; i < n; i++)
		b->slot[i].b = b;
	return b;
}

/* A handler: it must not wait. */
static void answered(void *user, int status, const struct lnet_ping_result *r)
{
	struct slot *s = user;
	struct batch *b = s->b;
	uint64_t one = 1;

	if (!status && r) {
		struct lnet_nid *nids = calloc(r->nnids + 1, sizeof(*nids));
		bool *up = calloc(r->nnids + 1, sizeof(*up));
		if (nids && up) {
			for (unsigned i = 0; i < r->nnids; i++) {
				nids[i] = r->nids[i];
				up[i] = r->up[i];
			}
			s->r = *r;
			s->r.nids = nids;
			s->r.up = up;
		} else {
			free(nids);
			free(up);
			status = -ENOMEM;
		}
	}
	pthread_mutex_lock(&b->lock);
	s->status = status;
	s->done = true;
	b->done++;
	pthread_mutex_unlock(&b->lock);
	if (write(b->efd, &one, sizeof(one)) < 0) {
		/* the counter is full, so it is readable */
	}
	batch_put(b);
}

static void start(struct lnc_ctx *x, struct batch *b, unsigned i, const struct lnc_ping_target *t,
        const struct lnet_nid *source, uint64_t timeout)
{
	struct lnet_nid any = lnet_nid_any();
	int rc;

	atomic_fetch_add(&b->refs, 1);
	rc = lnet_ping_start(x->n, &t->nid, t->pid, source ? source : &any,
	        timeout ? lnet_now(x->n) + timeout : 0, answered, &b->slot[i]);
	if (rc)
		answered(&b->slot[i], rc, NULL);
}

/* 0: something was answered; -ECANCELED: nobody waits for the answer any more. */
static int wait_some(struct lnc_ctx *x, struct batch *b)
{
	struct pollfd p[3] = {{.fd = b->efd, .events = POLLIN},
	        {.fd = x->stop_fd, .events = POLLIN}, {.fd = x->client_fd}};
	uint64_t count;

	if (poll(p, 3, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[0].revents && read(b->efd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return -errno;
	if (p[1].revents || (p[2].revents & (POLLHUP | POLLERR)))
		return -ECANCELED;
	return 0;
}

static void nid_text(
        const struct lnc_ping_target *t, const struct lnet_nid *nid, char *buf, size_t n)
{
	char text[LNET_NIDSTR_MAX];

	if (t->pid_given)
		snprintf(buf, n, "%u-%s", t->pid, lnet_nid_str(nid, text, sizeof(text)));
	else
		lnet_nid_str(nid, buf, n);
}

static void show_one(
        struct lnc_ctx *x, const struct lnc_ping_target *t, const struct slot *s, unsigned level)
{
	char text[LNET_NIDSTR_MAX + 16];
	const struct lnet_ping_result *r = &s->r;

	if (s->status) {
		struct lnc_node *e = lnc_seq_add_map(lnc_out_seq(x, "manage", LNC_STYLE_PING));
		lnc_map_add_null(e, "ping");
		lnc_map_add_i64(e, "errno", s->status);
		lnc_map_add_fmt(e, "descr", "failed to ping %s: %s", t->text, strerror(-s->status));
		x->exit = LNC_EXIT_FAILED;
		return;
	}
	struct lnc_node *p = lnc_seq_add_map(lnc_out_seq(x, "ping", LNC_STYLE_PING));
	nid_text(t, lnet_nid_is_any(&r->primary) || lnet_nid_is_lo(&t->nid) ? &t->nid : &r->primary,
	        text, sizeof(text));
	lnc_map_add_str(p, "primary nid", text);
	lnc_map_add_bool(p, "Multi-Rail", r->multi_rail);
	struct lnc_node *list = lnc_map_add_seq(p, "peer_ni");
	for (unsigned i = 0; i < r->nnids; i++) {
		struct lnc_node *ni = lnc_seq_add_map(list);
		nid_text(t, &r->nids[i], text, sizeof(text));
		lnc_map_add_str(ni, "nid", text);
		if (level >= 1)
			lnc_map_add_str(ni, "status", r->up[i] ? "up" : "down");
	}
	if (level >= 1) {
		lnc_map_add_u64(p, "rtt_nsec", r->rtt);
		lnc_map_add_fmt(p, "features", "0x%x", r->features);
	}
}

int lnc_ping_run(struct lnc_ctx *x, const struct lnc_ping_target *t, unsigned n,
        const struct lnet_nid *source, uint64_t timeout, unsigned level)
{
	struct batch *b = batch_new(n);
	unsigned next = 0, done = 0;
	int rc = 0;

	if (!b)
		return -ENOMEM;
	while (!rc && done < n) {
		for (; next < n && next - done < IN_FLIGHT; next++)
			start(x, b, next, &t[next], source, timeout);
		rc = wait_some(x, b);
		pthread_mutex_lock(&b->lock);
		done = b->done;
		pthread_mutex_unlock(&b->lock);
	}
	if (rc)
		lnc_fail(x, "manage", "ping", rc, "%s", strerror(-rc));
	else
		for (unsigned i = 0; i < n; i++)
			show_one(x, &t[i], &b->slot[i], level);
	batch_put(b);
	return rc;
}

/* One list of the command line; the pid before it holds for this list. */
static int add_targets(struct lnc_arena *mem, const char *text, struct lnc_ping_target *t,
        unsigned *n, struct lnc_err *err)
{
	const char *part[LNET_PEER_NIDS_MAX];
	struct lnet_nid *v = lnc_arena_alloc(mem, TARGETS_MAX * sizeof(*v));
	int parts = v ? lnc_list_split(mem, text, part, LNC_LEN(part), err) : -ENOMEM;

	for (int i = 0; i < parts; i++) {
		uint32_t pid = LNET_PID_LUSTRE;
		const char *rest = lnc_pid_prefix(part[i], &pid);
		int count = lnc_nids_expand(rest, v, TARGETS_MAX - *n, err);
		if (count < 0)
			return count;
		for (int k = 0; k < count; k++) {
			struct lnc_ping_target *one = &t[(*n)++];
			char nid[LNET_NIDSTR_MAX + 16];
			*one = (struct lnc_ping_target){
			        .nid = v[k], .pid = pid, .pid_given = rest != part[i]};
			nid_text(one, &v[k], nid, sizeof(nid));
			one->text = lnc_arena_strdup(mem, nid);
			if (!one->text)
				return -ENOMEM;
		}
	}
	return parts < 0 ? parts : 0;
}

static int ping(struct lnc_ctx *x, const struct lnc_req *r)
{
	const char *src = lnc_req_text(r, "source");
	const struct lnc_val *timeout = lnc_req_val(r, "timeout");
	struct lnc_arena mem;
	struct lnet_nid source;
	struct lnc_err err = {.msg = "no memory"};
	unsigned n = 0;
	int rc = 0;

	if (src && lnet_nid_parse(src, strlen(src), &source, NULL))
		return lnc_misuse(x, "manage", "ping", -EINVAL, "--source: '%s' is not a NID", src);
	lnc_arena_init(&mem, 0);
	struct lnc_ping_target *t = lnc_arena_alloc(&mem, TARGETS_MAX * sizeof(*t));
	if (!t)
		rc = -ENOMEM;
	for (unsigned i = 0; !rc && i < r->nargs; i++)
		rc = add_targets(&mem, r->arg[i], t, &n, &err);
	if (rc)
		lnc_misuse(x, "manage", "ping", rc, "%s", err.msg);
	else
		rc = lnc_ping_run(x, t, n, src ? &source : NULL,
		        timeout ? (uint64_t)timeout->num * 1000000000u : 0, lnc_req_level(r));
	lnc_arena_free(&mem);
	return rc;
}

static const struct lnc_opt ping_opts[] = {
        {.name = "source", .letter = 's', .kind = LNC_A_NID, .help = "the local NI to use"},
        {.name = "timeout",
                .letter = 't',
                .kind = LNC_A_INT,
                .min = 1,
                .max = 3600,
                .help = "seconds for each answer; without it the transaction timeout"},
        LNC_OPT_VERBOSE,
};

const struct lnc_cmd lnc_cmds_ping[] = {
        {.path = "ping",
                .help = "ask nodes for their interfaces",
                .more = "Targets are asked at the same time and shown in the order given. A "
                        "process id may "
                        "precede a NID, as in 12345-10.0.0.1@tcp. The exit status is 1 when one of "
                        "them "
                        "failed. Level 1 adds the time, the feature bits and the status of each "
                        "NID.",
                .flags = LNC_C_READ,
                .opts = ping_opts,
                .nopts = LNC_LEN(ping_opts),
                .arg = "NID",
                .arg_kind = LNC_A_NIDS,
                .arg_min = 1,
                .arg_max = 1024,
                .run = ping},
        {0},
};
