/* SPDX-License-Identifier: BSD-2-Clause */
/* Heap of one node for each idle peer that is connected by three connections. */
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>

#include "bench/pair.h"

#define PEERS    1000u
#define PER_NODE 200u
#define S        1000000000ull
#define LIMIT    16384u /* descriptors that this takes, with room */

struct calls {
	unsigned up, bad;
	struct lnet *n;
};

static void on_ping(void *user, int status, const struct lnet_ping_result *r)
{
	struct calls *c = user;

	(void)r;
	c->up++;
	c->bad += status != 0;
}

static bool all_up(void *arg)
{
	struct calls *c = arg;

	return c->up == PEERS;
}

static int count_conns(void *arg, const struct lnet_peer_info *i)
{
	for (unsigned k = 0; k < i->nni; k++)
		*(unsigned *)arg += i->ni[k].nconns;
	return 0;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static bool all_connected(struct calls *c)
{
	struct lnet_nid any = lnet_nid_any();
	unsigned conns = 0;

	lnet_peer_each(c->n, &any, count_conns, &conns);
	return conns >= 3 * PEERS;
}

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* The peers: addresses of a few nodes, in another process. */
static unsigned host_of(unsigned peer)
{
	return (1 + peer / PER_NODE) << 8 | (1 + peer % PER_NODE);
}

static void raise_limit(void)
{
	const struct rlimit lim = {LIMIT, LIMIT};

	setrlimit(RLIMIT_NOFILE, &lim);
}

static int server(struct bench_end *e)
{
	struct lnet *n[PEERS / PER_NODE] = {0};
	uint64_t word;
	int rc = 0;

	raise_limit();
	for (unsigned i = 0; i < PEERS && !rc; i++) {
		struct lnet **node = &n[i / PER_NODE];

		if (i % PER_NODE == 0)
			rc = (*node = pair_node(host_of(i), e->arg, 1)) ? 0 : -1;
		else
			rc = pair_add(*node, host_of(i), 1);
	}
	if (!rc && bench_say(e, 1) >= 0)
		bench_hear(e, &word);
	for (unsigned i = 0; i < PEERS / PER_NODE; i++)
		if (n[i])
			lnet_close(n[i], lnet_now(n[i]) + S);
	return rc != 0;
}

static int ping_all(struct calls *c)
{
	struct lnet_nid any = lnet_nid_any();

	for (unsigned i = 0; i < PEERS; i++) {
		struct lnet_nid nid;

		pair_nid(&nid, host_of(i));
		if (lnet_ping_start(
		            c->n, &nid, LNET_PID_LUSTRE, &any, lnet_now(c->n) + 60 * S, on_ping, c))
			return -1;
	}
	if (lnet_wait(c->n, all_up, c, lnet_now(c->n) + 60 * S) || c->bad)
		return -1;
	/* the bulk connections follow in the background */
	for (int i = 0; i < 600 && !all_connected(c); i++)
		lnet_wait(c->n, never, NULL, lnet_now(c->n) + S / 10);
	return all_connected(c) ? 0 : -1;
}

static int client(struct bench_end *e)
{
	struct calls c = {0};
	uint64_t word;
	size_t before, after;
	int rc = 1;

	raise_limit();
	mallopt(M_ARENA_MAX, 1); /* mallinfo2() sees the main arena alone */
	if (bench_hear(e, &word) < 0)
		return 1;
	c.n = pair_node(2, e->arg, 1);
	if (!c.n)
		return 1;
	before = heap();
	rc = ping_all(&c);
	after = heap();
	if (!rc)
		printf("bench peer.mem value=%zu unit=B errors=0\n", (after - before) / PEERS);
	bench_say(e, 0);
	lnet_close(c.n, lnet_now(c.n) + S);
	return rc != 0;
}

int main(void)
{
	static const struct pair_conf conf = {.name = "peer.mem"};

	if (!bench_wanted(conf.name))
		return 0;
	return bench_run(client, server, &conf, 120) != 0;
}
