/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORTAL     40u
#define S          1000000000ull
#define WORD_TURN  0x7075ull /* poll until e->go is 0 */
#define WORD_END   0x656eull
#define WORD_OK    0x6f6bull
#define WORD_CLEAR 0x636cull /* forget what came, clear the memory */
#define WORD_COUNT 0x636full /* say how many messages came, and how many slots hold wrong data */

extern const struct lnet_lnd lnet_lnd_tcp;

/* Both ends are children of one process: its pid keeps two benches apart. Below the ephemeral
 * ports. */
static int64_t port(void)
{
	return 10000 + getppid() % 20000;
}

void pair_nid(struct lnet_nid *nid, unsigned host)
{
	uint8_t a[4] = {127, (uint8_t)(host >> 16), (uint8_t)(host >> 8), (uint8_t)host};

	*nid = lnet_nid_from_ip(LNET_NET(LNET_LND_TCP, 0), a, 4);
}

static void print_log(void *arg, enum lnet_log_level lv, const char *id, const char *text)
{
	(void)arg;
	(void)lv;
	fprintf(stderr, "# %s: %s\n", id, text);
}

int pair_add(struct lnet *n, unsigned host, unsigned conns)
{
	const struct lnet_tun_val tun[] = {{"port", port()}, {"conns_per_peer", conns}};
	struct lnet_ni_conf nc;
	char why[256] = "";
	int rc;

	lnet_ni_conf_init(&nc, sizeof(nc));
	pair_nid(&nc.nid, host);
	nc.net = lnet_nid_net(&nc.nid);
	nc.tun = tun;
	nc.ntun = 2;
	rc = lnet_ni_add(n, &nc, NULL, why, sizeof(why));
	if (rc)
		fprintf(stderr, "# lnet_ni_add: %s\n", why);
	return rc;
}

struct lnet *pair_node(unsigned host, const struct pair_conf *c, unsigned conns)
{
	static const struct lnet_lnd *const lnds[] = {&lnet_lnd_tcp, NULL};
	struct lnet_opts o;
	struct lnet *n;
	int rc;

	lnet_opts_init(&o, sizeof(o));
	o.flags = c->poll ? LNET_NODE_POLL : 0;
	o.spin_us = c->poll ? 1000000 : c->spin_us;
	o.lnds = lnds;
	o.log = print_log;
	o.log_level = LNET_LOG_WARN;
	rc = lnet_open(&o, &n);
	if (rc) {
		fprintf(stderr, "# lnet_open: %s\n", strerror(-rc));
		return NULL;
	}
	if (pair_add(n, host, conns)) {
		lnet_close(n, lnet_now(n) + S);
		return NULL;
	}
	return n;
}

struct target {
	struct lnet *n;
	struct bench_end *e;
	const struct pair_conf *c;
	uint64_t count; /* whole messages; touched by the loop, read when all is quiet */
};

static void on_target(const struct lnet_event *ev)
{
	struct target *t = ev->user;

	if (ev->status == 0 && ev->mlength == t->c->bytes)
		__atomic_fetch_add(&t->count, 1, __ATOMIC_RELAXED);
}

static int offer(struct target *t)
{
	struct lnet_match m = {.nid = lnet_nid_any(), .pid = LNET_PID_ANY};
	struct iovec iov = {t->e->mem, (size_t)BENCH_SLOT * BENCH_NSLOT};
	struct lnet_md_desc d = {.mem = {.iov = &iov, .niov = 1},
	        .options = LNET_MD_OP_PUT | LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE,
	        .threshold = LNET_MD_THRESH_INF,
	        .handler = on_target,
	        .user = t};
	lnet_handle_t me, md;
	int rc = lnet_me_attach(t->n, PORTAL, &m, LNET_UNLINK, LNET_INS_AFTER, &me);

	return rc ? rc : lnet_md_attach(t->n, me, &d, &md);
}

/* What the client reads, or nothing where it writes. */
static void clear(struct target *t)
{
	t->count = 0;
	if (t->c->put)
		memset(t->e->mem, 0, (size_t)BENCH_SLOT * BENCH_NSLOT);
	else
		bench_fill(t->e->mem, 1);
}

static uint64_t wrong(const struct target *t)
{
	uint8_t *want;
	uint64_t bad;

	if (t->c->bytes == BENCH_SLOT)
		return bench_verify(t->e->mem, BENCH_NSLOT);
	want = malloc(BENCH_SLOT);
	if (!want)
		return 1;
	bench_fill(want, 1);
	bad = memcmp(t->e->mem, want, t->c->bytes) != 0;
	free(want);
	return bad;
}

static int obey(struct target *t, uint64_t word)
{
	switch (word) {
	case WORD_TURN:
		if (bench_say(t->e, WORD_OK) < 0)
			return -1;
		while (*t->e->go)
			lnet_progress(t->n, 0);
		return 0;
	case WORD_CLEAR:
		clear(t);
		return bench_say(t->e, WORD_OK);
	case WORD_COUNT:
		if (bench_say(t->e, __atomic_load_n(&t->count, __ATOMIC_RELAXED)) < 0)
			return -1;
		return bench_say(t->e, wrong(t));
	default:
		return bench_raw_server(t->e, word) < 0 ? -1 : 0;
	}
}

int pair_server(struct bench_end *e)
{
	const struct pair_conf *c = e->arg;
	struct target t = {.n = pair_node(3, c, 1), .e = e, .c = c};
	uint64_t word;
	int rc;

	if (!t.n || offer(&t))
		return 1;
	for (rc = bench_say(e, WORD_OK); rc >= 0; rc = obey(&t, word))
		if (bench_hear(e, &word) < 0 || word == WORD_END)
			break;
	lnet_close(t.n, lnet_now(t.n) + S);
	return rc < 0;
}

static void on_put(const struct lnet_event *ev);

static void issue(struct pair_client *p)
{
	if (p->c->bytes == BENCH_SLOT) {
		unsigned slot = p->issued % BENCH_NSLOT;

		p->iov.iov_base = p->e->mem + (size_t)slot * BENCH_SLOT;
		p->args.offset = (uint64_t)slot * BENCH_SLOT;
	}
	p->issued++;
	if (lnet_put(p->n, &p->args, NULL)) {
		p->errors++;
		p->done++;
	}
}

static void on_put(const struct lnet_event *ev)
{
	struct pair_client *p = ev->user;

	if (!ev->final)
		return;
	p->done++;
	p->errors += ev->status != 0;
	if (!p->stop)
		issue(p);
}

int pair_client_open(struct pair_client *p, struct bench_end *e)
{
	uint64_t word;

	memset(p, 0, sizeof(*p));
	p->e = e;
	p->c = e->arg;
	if (bench_hear(e, &word) < 0 || word != WORD_OK)
		return -1;
	p->n = pair_node(2, p->c, 1);
	if (!p->n)
		return -1;
	lnet_op_args_init(&p->args, sizeof(p->args));
	pair_nid(&p->args.target, 3);
	p->args.portal = PORTAL;
	p->iov = (struct iovec){e->mem, p->c->bytes};
	p->args.mem = (struct lnet_mem){.iov = &p->iov, .niov = 1};
	memcpy(p->want, e->mem, sizeof(p->want));
	if (p->c->put) {
		p->args.flags = LNET_OP_ACK | (p->c->bytes >= 4096 ? LNET_OP_BULK : 0);
		p->args.handler = on_put;
		p->args.user = p;
	}
	return 0;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static bool all_done(void *arg)
{
	struct pair_client *p = arg;

	return p->done == p->issued;
}

static double waiting_calls(struct pair_client *p, uint64_t ns)
{
	uint64_t t0 = bench_now(), t, n = 0;

	do {
		for (int i = 0; i < 16; i++, n++)
			p->errors += lnet_get_wait(p->n, &p->args, NULL) != 0;
		t = bench_now();
		p->done += 16;
	} while (t - t0 < ns && !p->errors);
	return (double)(t - t0) / 1e3 / (double)n;
}

static double in_flight(struct pair_client *p, uint64_t ns)
{
	uint64_t t0 = bench_now();

	p->stop = false;
	for (unsigned i = 0; i < p->c->inflight; i++)
		issue(p);
	lnet_wait(p->n, never, NULL, lnet_now(p->n) + ns);
	p->stop = true;
	if (lnet_wait(p->n, all_done, p, lnet_now(p->n) + 20 * S))
		return -1;
	return (double)p->issued / ((double)(bench_now() - t0) / 1e9);
}

static int ask(struct bench_end *e, uint64_t word, uint64_t *answer)
{
	return bench_say(e, word) < 0 || bench_hear(e, answer) < 0 ? -1 : 0;
}

/* What the server counted and holds must be what was sent; what came here must be what it holds. */
static int settle(struct pair_client *p)
{
	uint64_t count, bad;

	if (ask(p->e, WORD_COUNT, &count) || bench_hear(p->e, &bad) < 0)
		return -1;
	p->errors += (count != p->done) + (unsigned)bad;
	if (!p->c->put) {
		uint8_t *got = p->iov.iov_base;

		p->errors += memcmp(got, p->want, p->c->bytes) != 0;
		memset(got, 0, p->c->bytes);
	}
	return 0;
}

double pair_client_turn(struct pair_client *p, uint64_t ns)
{
	uint64_t word;
	double v;

	if (ask(p->e, WORD_CLEAR, &word))
		return -1;
	p->issued = p->done = 0;
	if (p->c->poll) {
		*p->e->go = 1;
		if (ask(p->e, WORD_TURN, &word))
			return -1;
	}
	v = p->c->inflight > 1 ? in_flight(p, ns) : waiting_calls(p, ns);
	*p->e->go = 0;
	return settle(p) || p->errors ? -1 : v;
}

void pair_client_close(struct pair_client *p)
{
	bench_say(p->e, WORD_END);
	if (p->n)
		lnet_close(p->n, lnet_now(p->n) + S);
}
