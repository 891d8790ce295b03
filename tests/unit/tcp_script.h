/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scripted kernel node: plain blocking sockets that replay captured bytes. The captures are of
 * 10.7.0.1 and 10.7.0.2; here these are 127.0.0.9 (the script) and 127.0.0.2 (the node under test).
 */
#ifndef TEST_TCP_SCRIPT_H
#define TEST_TCP_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/tlib.h"

#define SCRIPT_IP "127.0.0.9"
#define NODE_IP   "127.0.0.2"

struct bytes {
	uint8_t b[4096];
	size_t n;
};

static inline int hex_digit(int c)
{
	return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* In the bytes of a 4-byte NID: the address, least significant byte first. */
static inline void swap_address(struct bytes *v, const uint8_t from[4], const uint8_t to[4])
{
	for (size_t i = 0; i + 4 <= v->n; i++)
		if (!memcmp(v->b + i, from, 4))
			memcpy(v->b + i, to, 4);
}

/* A captured message. a: what 10.7.0.1 becomes; b: what 10.7.0.2 becomes. */
static inline struct bytes vector(const char *name, const char *a, const char *b)
{
	static const uint8_t cap1[4] = {1, 0, 7, 10}, cap2[4] = {2, 0, 7, 10};
	struct bytes v = {.n = 0};
	uint32_t na = htonl(inet_addr(a)), nb = htonl(inet_addr(b));
	char path[256];
	char *text, *p;

	snprintf(path, sizeof(path), "tests/golden/vectors/%s.hex", name);
	text = tl_read_file(path, NULL);
	assert_non_null(text);
	for (p = text; p[0] && p[1]; p++) {
		if (!isxdigit((unsigned char)p[0]))
			continue;
		assert_true(v.n < sizeof(v.b));
		v.b[v.n++] = (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
		p++;
	}
	free(text);
	swap_address(&v, cap1, (const uint8_t *)&na);
	swap_address(&v, cap2, (const uint8_t *)&nb);
	return v;
}

static inline void set_timeout(int fd)
{
	struct timeval tv = {.tv_sec = 5};

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)), 0);
}

static inline struct sockaddr_in in_addr(const char *ip, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	a.sin_addr.s_addr = inet_addr(ip);
	return a;
}

static inline int script_dial_from(const char *from_ip, const char *ip, int port)
{
	struct sockaddr_in to = in_addr(ip, port), from = in_addr(from_ip, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	set_timeout(fd);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static inline int script_dial(int port)
{
	return script_dial_from(SCRIPT_IP, NODE_IP, port);
}

static inline int script_listen(int port)
{
	struct sockaddr_in a = in_addr(SCRIPT_IP, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	assert_true(fd >= 0);
	set_timeout(fd);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static inline int script_accept(int lfd)
{
	int fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);

	assert_true(fd >= 0);
	set_timeout(fd);
	return fd;
}

static inline void script_send(int fd, const void *b, size_t n)
{
	assert_int_equal(send(fd, b, n, MSG_NOSIGNAL), n);
}

static inline void script_recv(int fd, void *b, size_t n)
{
	assert_int_equal(recv(fd, b, n, MSG_WAITALL), n);
}

/* The next bytes are exactly these. */
static inline void script_expect(int fd, const struct bytes *v)
{
	struct bytes got = {.n = v->n};

	script_recv(fd, got.b, v->n);
	assert_memory_equal(got.b, v->b, v->n);
}

static inline bool script_quiet(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 0;
}

static inline bool script_closed(int fd)
{
	uint8_t b[256];
	ssize_t n;

	while ((n = recv(fd, b, sizeof(b), 0)) > 0)
		;
	return n == 0 || errno == ECONNRESET;
}

#endif
