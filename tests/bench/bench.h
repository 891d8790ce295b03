/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measurements beside their floors. A bench runs two processes, the client on CPU 0 and the server
 * on CPU 1; the floor (raw sockets) and the product (two nodes) run in the same two processes, on
 * the same memory, in turns of about 0.3 s. The ratio is the median over the turns of product /
 * floor.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_PAIRS 101u
#define BENCH_SLOT      (1u << 20) /* one payload */
#define BENCH_NSLOT     16u

/* Sizes on the wire of the four messages (ksock header 24, LNet header 72, payload). */
#define BENCH_W_GET   96u
#define BENCH_W_REPLY 104u
#define BENCH_W_PUT   104u
#define BENCH_W_ACK   96u

/* One end of a bench: what each of the two processes has. */
struct bench_end {
	int ctl;      /* SEQPACKET socket to the other end */
	uint8_t *mem; /* BENCH_NSLOT slots: source at the client, sink at the server */
	const void *arg;
	volatile uint32_t *go; /* shared: 1 while a busy-polling server is to poll */
};
typedef int (*bench_fn)(struct bench_end *e);

/* Does the pattern in BENCH_ONLY fit the name? */
bool bench_wanted(const char *name);
unsigned bench_pairs(void);  /* 15, or BENCH_PAIRS */
uint64_t bench_window(void); /* ns of one turn: 0.3 s, or BENCH_MS */
uint64_t bench_now(void);    /* monotonic ns */

/* Run the two ends as processes; 0 when both returned 0 before the limit. */
int bench_run(bench_fn client, bench_fn server, const void *arg, unsigned limit_s);

/* Send, receive one word; -errno, -EPIPE when the other end is gone. */
int bench_say(struct bench_end *e, uint64_t word);
int bench_hear(struct bench_end *e, uint64_t *word);

/* Fill a slot with its own pattern; count the slots of mem[0..n-1] that differ from it. */
void bench_fill(uint8_t *mem, unsigned n);
uint64_t bench_verify(const uint8_t *mem, unsigned n);

struct bench_series {
	unsigned n;
	double value[BENCH_MAX_PAIRS], floor[BENCH_MAX_PAIRS];
	uint64_t errors;
};
double bench_median(const double *v, unsigned n);
/* The line with floor, ratio and spread. */
void bench_report(const char *name, const char *unit, const struct bench_series *s);

/* ---- raw sockets (raw.c) -------------------------------------------------------------------- */

enum bench_shape {
	BENCH_PINGPONG, /* 96 bytes there, 104 back */
	BENCH_STREAM,   /* 1 MiB writes, one way */
	BENCH_RATE,     /* 104 bytes there, each answered by 96, 64 in flight */
};
struct bench_raw {
	enum bench_shape shape;
	bool spin;        /* busy polling, else epoll (stream: blocking calls) */
	unsigned sockbuf; /* SO_SNDBUF and SO_RCVBUF; 0 = the kernel's own choice */
};
struct bench_raw_result {
	double value; /* us a round trip, MiB/s, messages/s */
	uint64_t errors;
};
/* Client: tell the server to do its half, then measure one turn. 0, -errno. */
int bench_raw_client(
        struct bench_end *e, const struct bench_raw *r, uint64_t ns, struct bench_raw_result *out);
/* Server: obey one word heard. 1 = it was a word of bench_raw_client and is done, 0 = not mine,
 * -errno. */
int bench_raw_server(struct bench_end *e, uint64_t word);
/* The better of some configurations, found by trying each three times. */
int bench_raw_best(struct bench_end *e, const struct bench_raw *try, unsigned n, bool higher,
        struct bench_raw *best);

#endif
