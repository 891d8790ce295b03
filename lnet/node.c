/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node's birth and end: the file at the top of the core that knows every layer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lnet/base/rand.h"
#include "lnet/msg/msg.h"
#include "lnet/node/ping.h"
#include "lnet/rt/clock.h"

#define MAX_LOOPS     64u
#define MAX_SPIN_US   1000000u
#define DEF_SPIN_US   20u
#define DEF_MEM_MAX   (64ull << 20)
#define DEF_MAX_PEERS 65536u
#define LOOK_NS       2000000ull
#define ABORT_NS      5000000000ull /* for what was aborted to come back */

void lnet_opts_init(struct lnet_opts *o, size_t size)
{
	memset(o, 0, size);
	o->size = size;
	o->name = "ulnet";
	o->loops = 1;
	o->spin_us = DEF_SPIN_US;
	o->log_level = LNET_LOG_NOTICE;
	o->mem_max = DEF_MEM_MAX;
	o->max_peers = DEF_MAX_PEERS;
}

const char *lnet_version(void)
{
	return ULNET_VERSION;
}

uint64_t lnet_now(const struct lnet *n)
{
	return n->clock.now(n->clock.arg);
}

uint32_t lnet_pid(const struct lnet *n)
{
	return n->pid;
}

const char *lnet_node_name(const struct lnet *n)
{
	return n->name;
}

void lnet_log_set(struct lnet *n, enum lnet_log_level lv)
{
	lni_log_set_level(&n->log, lv);
}

int lnet_global_set(struct lnet *n, const char *name, int64_t value, char *why, size_t whylen)
{
	int64_t before;
	int rc;

	if (!lni_enter(n))
		return -ESHUTDOWN;
	before = lni_global(&n->globals, LNI_G_DISCOVERY);
	rc = lni_global_set(&n->globals, name, value, why, whylen);
	if (lni_global(&n->globals, LNI_G_DISCOVERY) != before)
		n->up.ni_changed(n); /* it is among what a ping says */
	lni_exit(n);
	return rc;
}

int lnet_global_get(struct lnet *n, const char *name, int64_t *value)
{
	int id = lni_global_find(name);

	if (id < 0)
		return id;
	*value = lni_global(&n->globals, (enum lni_global_id)id);
	return 0;
}

bool lnet_global_is_set(struct lnet *n, const char *name)
{
	int id = lni_global_find(name);

	return id >= 0 && atomic_load(&n->globals.set[id]);
}

static int check(const struct lnet_opts *o)
{
	if (o->size < sizeof(*o) || o->loops < 1 || o->loops > MAX_LOOPS ||
	        o->spin_us > MAX_SPIN_US)
		return -EINVAL;
	if (!o->name || !*o->name || strlen(o->name) >= sizeof(((struct lnet *)0)->name) ||
	        strchr(o->name, '/') || o->max_peers == 0)
		return -EINVAL;
	if (o->flags & ~(LNET_NODE_POLL | LNET_NODE_CLIENT))
		return -EINVAL;
	return 0;
}

/* The wall clock may step back between two lives; the file remembers the last incarnation. */
static uint64_t incarnation(const struct lnet *n)
{
	char path[4096], text[32] = "";
	uint64_t now = lni_clock_wall(), last = 0;
	int fd;

	if (n->client || !n->opts.rundir)
		return now;
	if (snprintf(path, sizeof(path), "%s/%s.inc", n->opts.rundir, n->name) >= (int)sizeof(path))
		return now;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return now;
	if (read(fd, text, sizeof(text) - 1) > 0)
		last = strtoull(text, NULL, 10);
	if (last != UINT64_MAX && now <= last)
		now = last + 1;
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)now);
	if (pwrite(fd, text, strlen(text), 0) < 0 || ftruncate(fd, (off_t)strlen(text)) < 0)
		last = 0; /* not remembered: inequality with the next life rests on the clock */
	close(fd);
	return now;
}

static int init_identity(struct lnet *n)
{
	struct {
		uint32_t key[4];
		uint64_t iface, seq, inc;
		uint32_t pid;
	} r;
	int rc = lni_random(&r, sizeof(r));

	if (rc)
		return rc;
	lni_perm_init(&n->perm, r.key);
	atomic_init(&n->next_id, r.seq);
	n->iface_cookie = r.iface == LNET_COOKIE_NONE ? 1 : r.iface;
	n->pid = n->client ? LNET_PID_USERFLAG | (r.pid & ~LNET_PID_RESERVED) : LNET_PID_LUSTRE;
	n->incarnation = n->client ? r.inc : incarnation(n);
	return 0;
}

static int open_loops(struct lnet *n)
{
	n->loops = calloc(n->opts.loops, sizeof(n->loops[0]));
	n->counters = calloc(n->opts.loops, sizeof(n->counters[0]));
	n->depth = calloc(n->opts.loops, sizeof(n->depth[0]));
	if (!n->loops || !n->counters || !n->depth)
		return -ENOMEM;
	for (unsigned i = 0; i < n->opts.loops; i++) {
		struct lni_loop_conf c = {.clock = n->opts.clock,
		        .spin_us = n->opts.spin_us,
		        .poll = n->opts.flags & LNET_NODE_POLL,
		        .index = i,
		        .name = n->name};
		int rc = lni_loop_new(&c, &n->loops[i]);

		if (rc)
			return rc;
		n->nloops++;
	}
	return 0;
}

static void fill_upcalls(struct lnet *n)
{
	n->up = (struct lni_up){.msg_in = lni_msg_in,
	        .rx_done = lni_msg_rx_done,
	        .tx_done = lni_msg_tx_done,
	        .get_done = lni_msg_get_done,
	        .rail_lost = lni_rail_lost,
	        .ni_changed = lni_ping_changed};
}

/* What the caller's structure points to may go when lnet_open() returns. */
static int copy_opts(struct lnet *n, const struct lnet_opts *o)
{
	unsigned k = 0;

	n->opts.name = n->name;
	n->opts.lnd_path = NULL;
	n->opts.lnds = NULL;
	if (o->lnd_path) {
		n->opts.lnd_path = n->lnd_path = strdup(o->lnd_path);
		if (!n->lnd_path)
			return -ENOMEM;
	}
	while (o->lnds && o->lnds[k])
		k++;
	if (k) {
		n->lnds = calloc(k + 1, sizeof(n->lnds[0]));
		if (!n->lnds)
			return -ENOMEM;
		memcpy(n->lnds, o->lnds, k * sizeof(n->lnds[0]));
		n->opts.lnds = n->lnds;
	}
	return 0;
}

/* Every layer is gone, or was never there. */
static void free_node(struct lnet *n)
{
	for (unsigned i = 0; i < n->nloops; i++) {
		lni_loop_stop(n->loops[i]);
		lni_loop_turn(n->loops[i], 0); /* peer events that were still queued */
	}
	lni_net_close(n);
	lni_ping_close(n);
	lni_msgs_close(n);
	lni_ptl_close(n);
	for (unsigned i = 0; i < n->nloops; i++)
		lni_loop_free(n->loops[i]);
	free(n->loops);
	free(n->counters);
	free(n->depth);
	free(n->lnds);
	free(n->lnd_path);
	lni_globals_fini(&n->globals);
	lni_log_fini(&n->log);
	free(n);
}

static int open_layers(struct lnet *n)
{
	int rc = init_identity(n);

	if (!rc)
		rc = open_loops(n);
	if (!rc)
		rc = lni_ptl_open(n);
	if (!rc)
		rc = lni_msgs_open(n);
	for (unsigned i = 0; !rc && i < n->nloops; i++)
		rc = lni_loop_start(n->loops[i]);
	if (!rc)
		rc = lni_net_open(n);
	if (!rc)
		rc = lni_ping_open(n);
	return rc;
}

/* Every handler that was due has run, and nothing is under way. */
static bool quiet(void *arg)
{
	struct lnet *n = arg;

	return lni_msgs_idle(n) && atomic_load(&n->ptl->mds) == 0 && atomic_load(&n->ptl->mes) == 0;
}

/*
 * Until done(n). In short waits: what it looks at may change outside of the first loop, by another
 * thread that leaves, of which nobody is told.
 */
static int await(struct lnet *n, bool (*done)(void *arg), uint64_t deadline)
{
	for (;;) {
		uint64_t now = lnet_now(n), until = now + LOOK_NS;
		int rc;

		if (deadline <= until)
			return lni_wait(n, done, n, deadline);
		rc = lni_wait(n, done, n, until);
		if (rc != -ETIMEDOUT)
			return rc;
	}
}

static void shut(struct lnet *n)
{
	atomic_store(&n->aborting, true);
	lni_ping_stop(n);
	lni_msgs_stop(n);
	lni_ptl_stop(n);
	await(n, quiet, lnet_now(n) + ABORT_NS);
	lni_net_stop(n);
	await(n, quiet, UINT64_MAX);
}

int lnet_open(const struct lnet_opts *o, struct lnet **out)
{
	struct lnet *n;
	int rc = check(o);

	if (rc) {
		if (o->log)
			o->log(o->log_arg, LNET_LOG_ERR, "OPTS", "an option is out of range");
		return rc;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->opts = *o;
	snprintf(n->name, sizeof(n->name), "%s", o->name);
	n->client = o->flags & LNET_NODE_CLIENT;
	n->clock = o->clock;
	if (!n->clock.now)
		n->clock.now = lni_clock_mono;
	lni_log_init(&n->log, o->log, o->log_arg, o->log_level);
	lni_globals_init(&n->globals);
	fill_upcalls(n);
	rc = copy_opts(n, o);
	if (!rc)
		rc = open_layers(n);
	n->opts.rundir = NULL; /* was read */
	if (rc) {
		atomic_store(&n->closing, true);
		if (n->net)
			shut(n);
		if (n->nloops == n->opts.loops)
			await(n, lni_grace_idle, UINT64_MAX);
		free_node(n);
		return rc;
	}
	*out = n;
	return 0;
}

static bool no_users(void *arg)
{
	struct lnet *n = arg;

	return atomic_load(&n->users) == 0;
}

static int look(void *arg, struct lnet_loop *l)
{
	(void)arg;
	(void)l;
	return 0;
}

int lnet_close(struct lnet *n, uint64_t deadline)
{
	uint64_t now = lnet_now(n);
	int rc = 0;

	if (lni_in_handler(n))
		return -EDEADLK;
	if (deadline == 0)
		deadline = now + (uint64_t)lni_global(&n->globals, LNI_G_TRANSACTION_TIMEOUT) *
		                         1000000000ull;
	atomic_store(&n->closing, true);
	lni_each_loop(n, look, NULL); /* who waits sees it */
	lni_park_stop(n);
	if (await(n, lni_msgs_idle, deadline))
		rc = -ETIMEDOUT;
	shut(n);
	/* calls that were inside end now, since what they waited for has ended */
	await(n, no_users, UINT64_MAX);
	await(n, lni_grace_idle, UINT64_MAX);
	free_node(n);
	return rc;
}
