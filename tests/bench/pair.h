/* SPDX-License-Identifier: BSD-2-Clause */
/* The product's half of a measurement: a node at each end. */
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include "bench/bench.h"
#include <lnet/lnet.h>

struct pair_conf {
	const char *name;
	bool poll;        /* poll mode at both ends; the client spins */
	unsigned spin_us; /* event mode */
	bool put;         /* PUT with ACK, else GET */
	uint32_t bytes;
	unsigned inflight; /* 1: by waiting calls */
};

/* The server's node: offers the memory of e, obeys until the client ends. */
int pair_server(struct bench_end *e);

struct pair_client {
	struct bench_end *e;
	const struct pair_conf *c;
	struct lnet *n;
	struct lnet_op_args args;
	struct iovec iov;
	uint8_t want[8]; /* what a GET brings */
	unsigned issued, done, errors;
	bool stop;
};
int pair_client_open(struct pair_client *p, struct bench_end *e);
/* One turn: us a round trip for inflight 1, operations a second else. Both ends' counts and memory
 * are compared afterwards. <0: failed. */
double pair_client_turn(struct pair_client *p, uint64_t ns);
void pair_client_close(struct pair_client *p);

/* A node on 127.0.0.0 + host, on a port that the process's parent chose; another NI for it. */
struct lnet *pair_node(unsigned host, const struct pair_conf *c, unsigned conns);
int pair_add(struct lnet *n, unsigned host, unsigned conns);
void pair_nid(struct lnet_nid *nid, unsigned host);

#endif
