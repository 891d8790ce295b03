/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The floors: plain sockets that move the bytes which the product moves. A turn begins with words
 * on the control socket (shape, connection), and ends with a message that carries a flag, so that a
 * server polls no longer than its client measures.
 */
#include "bench/bench.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define RAW_WORD     0x5241570000000000ull /* marks a word for bench_raw_server */
#define RAW_INFLIGHT 64u
#define RAW_BUF      65536u

struct raw {
	int fd, ep;
	bool spin;
	struct bench_end *e;
	uint8_t buf[RAW_BUF];
	size_t have; /* bytes of an unfinished message in buf */
};

static void sock_setup(int fd, const struct bench_raw *r)
{
	int one = 1, size = (int)r->sockbuf;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (size > 0) {
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	}
}

/* Blocking stream sockets stay blocking; the others wait in epoll or spin. */
static int raw_init(struct raw *w, struct bench_end *e, const struct bench_raw *r, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};

	w->fd = fd;
	w->ep = -1;
	w->e = e;
	w->spin = r->spin;
	w->have = 0;
	if (r->shape == BENCH_STREAM && !r->spin)
		return 0;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (r->spin)
		return 0;
	w->ep = epoll_create1(EPOLL_CLOEXEC);
	if (w->ep < 0 || epoll_ctl(w->ep, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	return 0;
}

static void raw_fini(struct raw *w)
{
	close(w->fd);
	if (w->ep >= 0)
		close(w->ep);
}

/* Some bytes into p; waits as the mode says. */
static ssize_t raw_recv(struct raw *w, void *p, size_t n)
{
	struct epoll_event ev;

	for (;;) {
		if (w->ep >= 0 && epoll_wait(w->ep, &ev, 1, -1) < 0 && errno != EINTR)
			return -errno;
		ssize_t got = recv(w->fd, p, n, 0);

		if (got > 0)
			return got;
		if (got == 0)
			return -EPIPE;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int raw_send(struct raw *w, const void *p, size_t n)
{
	while (n > 0) {
		ssize_t put = send(w->fd, p, n, MSG_NOSIGNAL);

		if (put < 0) {
			if (errno == EAGAIN || errno == EINTR)
				continue;
			return -errno;
		}
		p = (const uint8_t *)p + put;
		n -= (size_t)put;
	}
	return 0;
}

/* ---- ping-pong ------------------------------------------------------------------------------- */

static int recv_whole(struct raw *w, size_t size)
{
	for (w->have = 0; w->have < size;) {
		ssize_t n = raw_recv(w, w->buf + w->have, RAW_BUF - w->have);

		if (n < 0)
			return (int)n;
		w->have += (size_t)n;
	}
	return w->have == size ? 0 : -EPROTO;
}

static int pingpong_server(struct raw *w)
{
	uint8_t out[BENCH_W_REPLY] = {0};
	int rc;

	do {
		rc = recv_whole(w, BENCH_W_GET);
		if (rc == 0)
			rc = raw_send(w, out, sizeof(out));
	} while (rc == 0 && w->buf[0] == 0);
	return rc;
}

static int pingpong_client(struct raw *w, uint64_t ns, double *value)
{
	uint8_t out[BENCH_W_GET] = {0};
	uint64_t t0 = 0, now, ops = 0;
	int rc;

	for (unsigned warm = 0;; ops++) {
		rc = raw_send(w, out, sizeof(out));
		if (rc == 0)
			rc = recv_whole(w, BENCH_W_REPLY);
		if (rc < 0)
			return rc;
		now = bench_now();
		if (warm < 20) {
			warm++;
			t0 = now;
			ops = (uint64_t)-1;
		} else if (now - t0 >= ns) {
			break;
		}
	}
	*value = (double)(now - t0) / 1e3 / (double)(ops + 1);
	out[0] = 1;
	rc = raw_send(w, out, sizeof(out));
	return rc < 0 ? rc : recv_whole(w, BENCH_W_REPLY);
}

/* ---- stream ---------------------------------------------------------------------------------- */

static int stream_server(struct raw *w, uint64_t *bytes)
{
	uint8_t *mem = w->e->mem;

	*bytes = 0;
	for (unsigned slot = 0;; slot = (slot + 1) % BENCH_NSLOT) {
		uint8_t *p = mem + (size_t)slot * BENCH_SLOT;
		size_t off = 0;

		while (off < BENCH_SLOT) {
			ssize_t n = raw_recv(w, p + off, BENCH_SLOT - off);

			if (n < 0)
				return (int)n;
			off += (size_t)n;
		}
		*bytes += BENCH_SLOT;
		if (p[BENCH_SLOT - 1] == 0xff)
			return 0;
	}
}

static int stream_client(struct raw *w, uint64_t ns, double *value, uint64_t *errors)
{
	uint64_t t0 = bench_now(), sent = 0, got;
	bool last = false;
	int rc;

	for (unsigned slot = 0; !last; slot = (slot + 1) % BENCH_NSLOT) {
		uint8_t *p = w->e->mem + (size_t)slot * BENCH_SLOT;

		last = bench_now() - t0 >= ns && sent >= BENCH_NSLOT * (uint64_t)BENCH_SLOT;
		p[BENCH_SLOT - 1] = last ? 0xff : 0;
		rc = raw_send(w, p, BENCH_SLOT);
		if (rc < 0)
			return rc;
		sent += BENCH_SLOT;
	}
	rc = bench_hear(w->e, &got);
	if (rc < 0)
		return rc;
	*value = (double)got / 1048576.0 / ((double)(bench_now() - t0) / 1e9);
	*errors += got != sent;
	rc = bench_hear(w->e, &got); /* slots whose bytes were wrong */
	*errors += got;
	return rc;
}

/* ---- message rate ------------------------------------------------------------------------------
 */

/* Take what is there; the number of whole messages of this size, and the flag of the last one. */
static int recv_batch(struct raw *w, size_t size, bool *flag)
{
	ssize_t n = raw_recv(w, w->buf + w->have, RAW_BUF - w->have);
	size_t whole;

	if (n < 0)
		return (int)n;
	w->have += (size_t)n;
	whole = w->have / size;
	if (whole > 0)
		*flag = w->buf[(whole - 1) * size] != 0;
	w->have -= whole * size;
	memmove(w->buf, w->buf + whole * size, w->have);
	return (int)whole;
}

static int rate_server(struct raw *w)
{
	uint8_t out[BENCH_W_ACK] = {0};
	bool flag = false;
	int rc = 0;

	while (!flag && rc >= 0) {
		int n = recv_batch(w, BENCH_W_PUT, &flag);

		rc = n < 0 ? n : 0;
		for (; n > 0 && rc >= 0; n--)
			rc = raw_send(w, out, sizeof(out));
	}
	return rc;
}

static int rate_client(struct raw *w, uint64_t ns, double *value)
{
	uint8_t out[BENCH_W_PUT] = {0};
	uint64_t t0 = bench_now(), t1 = 0, ops = 0, flight = 0;
	bool flag;
	int rc = 0;

	for (; rc == 0 && flight < RAW_INFLIGHT; flight++)
		rc = raw_send(w, out, sizeof(out));
	while (rc == 0 && flight > 0) {
		int n = recv_batch(w, BENCH_W_ACK, &flag);

		if (n < 0)
			return n;
		ops += (uint64_t)n;
		flight -= (uint64_t)n;
		t1 = bench_now();
		for (; t1 - t0 < ns && rc == 0 && flight < RAW_INFLIGHT; flight++)
			rc = raw_send(w, out, sizeof(out));
	}
	*value = (double)ops / ((double)(t1 - t0) / 1e9);
	if (rc < 0)
		return rc;
	out[0] = 1;
	rc = raw_send(w, out, sizeof(out));
	return rc < 0 ? rc : recv_whole(w, BENCH_W_ACK);
}

/* ---- both ends ---------------------------------------------------------------------------------
 */

static uint64_t pack(const struct bench_raw *r)
{
	return RAW_WORD | (uint64_t)r->shape << 33 | (uint64_t)r->spin << 32 | r->sockbuf;
}

static int listen_any(const struct bench_raw *r, uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	sock_setup(fd, r);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 1) < 0 ||
	        getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	*port = ntohs(a.sin_port);
	return fd;
}

static int serve(struct bench_end *e, const struct bench_raw *r, int fd)
{
	struct raw *w = malloc(sizeof(*w));
	uint64_t bytes;
	int rc = w == NULL ? -ENOMEM : raw_init(w, e, r, fd);

	if (rc == 0 && r->shape == BENCH_PINGPONG)
		rc = pingpong_server(w);
	else if (rc == 0 && r->shape == BENCH_RATE)
		rc = rate_server(w);
	else if (rc == 0) {
		memset(e->mem, 0, (size_t)BENCH_NSLOT * BENCH_SLOT);
		rc = stream_server(w, &bytes);
		if (rc == 0)
			rc = bench_say(e, bytes);
		if (rc == 0)
			rc = bench_say(e, bench_verify(e->mem, BENCH_NSLOT));
	}
	if (w != NULL)
		raw_fini(w);
	free(w);
	return rc;
}

int bench_raw_server(struct bench_end *e, uint64_t word)
{
	struct bench_raw r = {(enum bench_shape)(word >> 33 & 7), word >> 32 & 1, (uint32_t)word};
	uint16_t port = 0;
	int lfd, fd, rc;

	if ((word & 0xffffff0000000000ull) != RAW_WORD)
		return 0;
	lfd = listen_any(&r, &port);
	if (lfd < 0)
		return lfd;
	rc = bench_say(e, port);
	fd = rc < 0 ? rc : accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		rc = rc < 0 ? rc : -errno;
	close(lfd);
	if (rc < 0)
		return rc;
	sock_setup(fd, &r);
	rc = serve(e, &r, fd);
	return rc < 0 ? rc : 1;
}

static int connect_to(const struct bench_raw *r, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	        .sin_port = htons(port),
	        .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	sock_setup(fd, r);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int bench_raw_client(
        struct bench_end *e, const struct bench_raw *r, uint64_t ns, struct bench_raw_result *out)
{
	struct raw *w = malloc(sizeof(*w));
	uint64_t port;
	int fd, rc;

	memset(out, 0, sizeof(*out));
	if (w == NULL)
		return -ENOMEM;
	rc = bench_say(e, pack(r));
	if (rc == 0)
		rc = bench_hear(e, &port);
	fd = rc < 0 ? rc : connect_to(r, (uint16_t)port);
	if (fd < 0) {
		free(w);
		return fd;
	}
	rc = raw_init(w, e, r, fd);
	if (rc == 0 && r->shape == BENCH_PINGPONG)
		rc = pingpong_client(w, ns, &out->value);
	else if (rc == 0 && r->shape == BENCH_RATE)
		rc = rate_client(w, ns, &out->value);
	else if (rc == 0)
		rc = stream_client(w, ns, &out->value, &out->errors);
	raw_fini(w);
	free(w);
	return rc;
}

int bench_raw_best(struct bench_end *e, const struct bench_raw *try, unsigned n, bool higher,
        struct bench_raw *best)
{
	double top = 0;

	for (unsigned i = 0; i < n; i++) {
		double v[3], med;
		struct bench_raw_result r;

		for (unsigned k = 0; k < 3; k++) {
			int rc = bench_raw_client(e, &try[i], bench_window() / 2, &r);

			if (rc < 0)
				return rc;
			v[k] = r.value;
		}
		med = bench_median(v, 3);
		fprintf(stderr, "# floor: %s sockbuf %u: %.1f\n",
		        try[i].spin ? "polling" : "blocking", try[i].sockbuf, med);
		if (i == 0 || (higher ? med > top : med < top)) {
			top = med;
			*best = try[i];
		}
	}
	return 0;
}
