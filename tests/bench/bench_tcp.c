/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp beside raw sockets: latency, bandwidth, rate. */
#include <stdio.h>
#include <string.h>

#include "bench/pair.h"

#define MIB 1048576.0

static const struct pair_conf benches[] = {
        {.name = "tcp.get.lat.8B", .bytes = 8, .inflight = 1},
        {.name = "tcp.get.lat.8B.spin", .spin_us = 20, .bytes = 8, .inflight = 1},
        {.name = "tcp.get.lat.8B.poll", .poll = true, .bytes = 8, .inflight = 1},
        {.name = "tcp.put.bw.1M", .spin_us = 20, .put = true, .bytes = BENCH_SLOT, .inflight = 16},
        {.name = "tcp.put.bw.1M.poll",
                .poll = true,
                .put = true,
                .bytes = BENCH_SLOT,
                .inflight = 16},
        {.name = "tcp.put.rate.8B.poll", .poll = true, .put = true, .bytes = 8, .inflight = 64},
        {.name = "tcp.put.rate.8B", .spin_us = 20, .put = true, .bytes = 8, .inflight = 64},
};

/* The floor of a bench; bandwidth takes the best of what raw sockets can do here. */
static int choose_floor(struct bench_end *e, const struct pair_conf *c, struct bench_raw *best)
{
	struct bench_raw try[8];
	unsigned n = 0;

	if (c->inflight == 1) {
		*best = (struct bench_raw){BENCH_PINGPONG, c->poll, 0};
		return 0;
	}
	if (c->bytes < BENCH_SLOT) {
		*best = (struct bench_raw){BENCH_RATE, false, 0};
		return 0;
	}
	for (int spin = 0; spin < 2; spin++)
		for (unsigned k = 0; k < 4; k++)
			try[n++] = (struct bench_raw){BENCH_STREAM, spin, k ? (1u << 19) << k : 0};
	return bench_raw_best(e, try, n, true, best);
}

static int client(struct bench_end *e)
{
	const struct pair_conf *c = e->arg;
	bool bw = c->bytes == BENCH_SLOT;
	struct bench_series s = {0};
	struct pair_client p;
	struct bench_raw floor;
	int rc = 1;

	bench_fill(e->mem, BENCH_NSLOT);
	if (pair_client_open(&p, e) || choose_floor(e, c, &floor))
		goto out;
	if (pair_client_turn(&p, bench_window() / 3) < 0)
		goto out;
	while (s.n < bench_pairs() && s.n < BENCH_MAX_PAIRS) {
		struct bench_raw_result r = {0};
		bool floor_first = s.n % 2 == 0;
		double v;

		if (floor_first && bench_raw_client(e, &floor, bench_window(), &r))
			goto out;
		v = pair_client_turn(&p, bench_window());
		if (v < 0 || (!floor_first && bench_raw_client(e, &floor, bench_window(), &r)))
			goto out;
		s.value[s.n] = bw ? v * BENCH_SLOT / MIB : v;
		s.floor[s.n++] = r.value;
		s.errors += r.errors + p.errors;
	}
	bench_report(c->name, c->inflight == 1 ? "us" : bw ? "MiB/s" : "msg/s", &s);
	rc = s.errors != 0;
out:
	pair_client_close(&p);
	return rc;
}

int main(void)
{
	int bad = 0;

	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		if (bench_wanted(benches[i].name) &&
		        bench_run(client, pair_server, &benches[i], 120)) {
			printf("bench %s failed\n", benches[i].name);
			bad = 1;
		}
	return bad;
}
