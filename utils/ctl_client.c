/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket from the side of ulnetctl. */
#include "utils/ctl.h"
#include <lnet/control.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S      120u   /* for any answer but that of ping */
#define PING_WAIT_S 90000u /* the longest transaction timeout, and some time */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Targets are asked 64 at a time, so a timeout may come several times over. */
static uint64_t patience_ms(const struct lnc_req *r)
{
	const struct lnc_val *timeout;

	if (!strcmp(r->cmd->path, "import"))
		return (uint64_t)PING_WAIT_S * 1000;
	if (strcmp(r->cmd->path, "ping"))
		return WAIT_S * 1000;
	timeout = lnc_req_val(r, "timeout");
	return ((timeout ? (uint64_t)timeout->num * 64 : PING_WAIT_S) + 30) * 1000;
}

static int wait_fd(int fd, short events, uint64_t deadline)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		uint64_t now = now_ms();
		if (now >= deadline)
			return -ETIMEDOUT;
		uint64_t left = deadline - now;
		int rc = poll(&p, 1, left > 60000 ? 60000 : (int)left);
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return -errno;
	}
}

static int open_socket(const char *node, struct lnc_err *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, rc = lnet_control_path(node, a.sun_path, sizeof(a.sun_path));

	if (rc == -ENOENT)
		return lnc_err_set(err, rc,
		        "where is the socket of '%s'? Set ULNET_RUNDIR, or give its path "
		        "with --node",
		        node);
	if (rc < 0)
		return lnc_err_set(err, rc, "the path of the socket of '%s' is too long", node);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lnc_err_set(err, -errno, "socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		rc = -errno;
		close(fd);
		return lnc_err_set(err, rc, "%s: %s%s", a.sun_path, strerror(-rc),
		        rc == -ENOENT || rc == -ECONNREFUSED ? " (is ulnetd running?)" : "");
	}
	return fd;
}

/* The node may answer before it has read everything (too large, busy); then sending fails, and what
 * it said is read all the same. */
static void send_all(int fd, const char *text, size_t len, uint64_t deadline)
{
	while (len) {
		if (wait_fd(fd, POLLOUT, deadline))
			break;
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	shutdown(fd, SHUT_WR);
}

static int receive(int fd, char **out, size_t *len, uint64_t deadline)
{
	size_t cap = 1u << 16, n = 0;
	char *buf = malloc(cap);
	int rc = buf ? 0 : -ENOMEM;

	while (!rc) {
		if (n == cap) {
			char *more = cap < LNC_DOC_BYTES_LARGE ? realloc(buf, cap * 2) : NULL;
			if (!more) {
				rc = -ENOMEM;
				break;
			}
			buf = more;
			cap *= 2;
		}
		rc = wait_fd(fd, POLLIN, deadline);
		if (rc)
			break;
		ssize_t got = recv(fd, buf + n, cap - n, 0);
		if (got < 0 && errno != EINTR)
			rc = -errno;
		if (!got)
			break;
		n += got > 0 ? (size_t)got : 0;
	}
	if (rc) {
		free(buf);
		return rc;
	}
	*out = buf;
	*len = n;
	return 0;
}

int ctl_ask(const char *node, const struct lnc_req *r, struct lnc_answer *a, struct lnc_err *err)
{
	uint64_t deadline = now_ms() + patience_ms(r);
	size_t len = 0;
	char *text, *answer = NULL;
	int fd = open_socket(node, err), rc;

	if (fd < 0)
		return fd;
	text = lnc_req_encode(r, &len);
	if (!text) {
		close(fd);
		return lnc_err_set(err, -ENOMEM, "no memory");
	}
	send_all(fd, text, len, deadline);
	free(text);
	rc = receive(fd, &answer, &len, deadline);
	close(fd);
	if (rc)
		return lnc_err_set(err, rc, "the node does not answer: %s", strerror(-rc));
	if (!len)
		rc = lnc_err_set(err, -ECONNRESET, "the node went away before it answered");
	else
		rc = lnc_answer_decode(a, answer, len, err);
	free(answer);
	return rc;
}
