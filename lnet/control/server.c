/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control socket: one thread accepts, one thread a connection serves. A connection carries one
 * request. Its time is bounded while it reads and while it writes, its size is bounded, and the
 * number of connections is bounded, so that nobody can do more than fail himself.
 *
 * Who is served: the mode of the socket's file decides; while it is open to its owner alone, the
 * kernel's word on the peer (SO_PEERCRED) is asked too: root or our own user.
 */
#include "lnet/rt/clock.h"
#include "lnet/control/control_priv.h"
#include "lnet/control/request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK_SIZE (1u << 20)

enum slot_state { FREE, RUNNING, ENDED };

struct slot {
	struct lnc_server *s;
	pthread_t thread;
	_Atomic int state; /* enum slot_state */
	int fd;
};

struct lnc_server {
	struct lnet_control *c;
	int fd; /* listens; stays the same number when the socket moves */
	struct lnc_bound b;
	unsigned mode;
	pthread_mutex_t lock; /* b, mode */
	int stop_fd;          /* readable: end */
	int wake_fd;          /* the listening socket was replaced */
	pthread_t acceptor;
	unsigned nslots;
	struct slot slot[];
};

static uint64_t now_ms(void)
{
	return lni_clock_mono(NULL) / 1000000;
}

/* ---- one connection ------------------------------------------------------------------------ */

/* 0: fd is ready; -ETIMEDOUT; -ESHUTDOWN. deadline in ms of now_ms(). */
static int wait_fd(const struct lnc_server *s, int fd, short events, uint64_t deadline)
{
	for (;;) {
		struct pollfd p[2] = {
		        {.fd = fd, .events = events}, {.fd = s->stop_fd, .events = POLLIN}};
		uint64_t now = now_ms();
		if (now >= deadline)
			return -ETIMEDOUT;
		uint64_t left = deadline - now;
		int rc = poll(p, 2, left > 60000 ? 60000 : (int)left);
		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc > 0 && p[1].revents)
			return -ESHUTDOWN;
		if (rc > 0 && p[0].revents)
			return 0;
	}
}

/* The whole request, until the sender closes its half. -E2BIG. */
static int read_request(struct slot *k, char **out, size_t *len)
{
	const struct lnet_control_opts *o = &k->s->c->o;
	uint64_t deadline = now_ms() + o->request_timeout / 1000000u;
	size_t cap = 0, n = 0;
	char *buf = NULL;
	int rc = 0;

	for (;;) {
		if (n == cap) {
			if (cap > LNET_CONTROL_REQ_MAX) {
				rc = -E2BIG;
				break;
			}
			cap = cap ? cap * 4 : 4096;
			if (cap > LNET_CONTROL_REQ_MAX)
				cap = LNET_CONTROL_REQ_MAX + 1;
			char *more = realloc(buf, cap);
			if (!more) {
				rc = -ENOMEM;
				break;
			}
			buf = more;
		}
		rc = wait_fd(k->s, k->fd, POLLIN, deadline);
		if (rc)
			break;
		ssize_t got = recv(k->fd, buf + n, cap - n, MSG_DONTWAIT);
		if (got == 0)
			break;
		if (got < 0 && errno != EAGAIN && errno != EINTR) {
			rc = -errno;
			break;
		}
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

/* Each part has to move on within the time of a request. */
static void write_all(struct slot *k, const char *text, size_t len)
{
	uint64_t step = k->s->c->o.request_timeout / 1000000u;

	while (len) {
		if (wait_fd(k->s, k->fd, POLLOUT, now_ms() + step))
			return;
		ssize_t n = send(k->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void send_answer(struct slot *k, struct lnc_ctx *x)
{
	size_t len = 0;
	char *text = lnc_answer_encode(x, &len);

	if (text) {
		write_all(k, text, len);
	} else {
		static const char none[] = "ulnet: 1\nexit: 1\nerrors:\n  show:\n  - answer:\n"
		                           "    errno: -12\n    descr: \"the answer is too large; "
		                           "ask for less at a time\"\n";
		write_all(k, none, sizeof(none) - 1);
	}
	free(text);
}

/* Read, check, run. The answer is in x. */
static void handle(struct slot *k, struct lnc_ctx *x)
{
	char *text = NULL;
	size_t len = 0;
	struct lnc_req r;
	struct lnc_err err;
	int rc = read_request(k, &text, &len);

	if (rc) {
		lnc_misuse(x, "request", "request", rc,
		        rc == -E2BIG ? "the request is larger than %u bytes"
		                     : "the request is not complete",
		        LNET_CONTROL_REQ_MAX);
		return;
	}
	lnc_req_init(&r);
	rc = lnc_req_decode(&r, text, len, &err);
	free(text);
	if (rc)
		lnc_misuse(x, "request", "request", rc, "%s", err.msg);
	else
		lnc_cmd_run(x, &r);
	lnc_req_free(&r);
}

static bool may(struct slot *k)
{
	struct ucred u;
	socklen_t len = sizeof(u);
	bool open_to_others;

	pthread_mutex_lock(&k->s->lock);
	open_to_others = k->s->mode & 066;
	pthread_mutex_unlock(&k->s->lock);
	if (open_to_others)
		return true;
	return !getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &u, &len) &&
	       (u.uid == 0 || u.uid == geteuid());
}

static void *serve(void *arg)
{
	struct slot *k = arg;
	struct lnc_ctx x;

	if (!lnc_ctx_init(&x, k->s->c->n, k->s->c)) {
		x.client_fd = k->fd;
		x.stop_fd = k->s->stop_fd;
		if (may(k)) {
			handle(k, &x);
		} else {
			lnc_fail(&x, "request", "request", -EPERM,
			        "only root and the user of the node "
			        "are served");
			x.exit = LNC_EXIT_NO_DAEMON;
		}
		send_answer(k, &x);
		lnc_ctx_free(&x);
	}
	shutdown(k->fd, SHUT_RDWR);
	atomic_store(&k->state, ENDED);
	return NULL;
}

/* ---- accepting ----------------------------------------------------------------------------- */

static void reap(struct slot *k)
{
	if (atomic_load(&k->state) != ENDED)
		return;
	pthread_join(k->thread, NULL);
	close(k->fd);
	k->fd = -1;
	atomic_store(&k->state, FREE);
}

static struct slot *free_slot(struct lnc_server *s)
{
	struct slot *hit = NULL;

	for (unsigned i = 0; i < s->nslots; i++) {
		reap(&s->slot[i]);
		if (!hit && atomic_load(&s->slot[i].state) == FREE)
			hit = &s->slot[i];
	}
	return hit;
}

static void refuse(int fd, unsigned nslots)
{
	char text[160];
	int n = snprintf(text, sizeof(text),
	        "ulnet: 1\nexit: 1\nerrors:\n  request:\n  - request:\n    errno: %d\n"
	        "    descr: \"busy: %u requests are under way\"\n",
	        -EBUSY, nslots);

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* whoever is gone does not need it */
	}
	close(fd);
}

static bool start_slot(struct slot *k, int fd)
{
	pthread_attr_t attr;
	int rc;

	k->fd = fd;
	atomic_store(&k->state, RUNNING);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	rc = pthread_create(&k->thread, &attr, serve, k);
	pthread_attr_destroy(&attr);
	if (rc)
		atomic_store(&k->state, FREE);
	return rc == 0;
}

static void accept_one(struct lnc_server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct slot *k;

	if (fd < 0) {
		/* out of descriptors or memory: the connection waits, and so do we */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			poll(&(struct pollfd){.fd = s->stop_fd, .events = POLLIN}, 1, 100);
		return;
	}
	k = free_slot(s);
	if (!k || !start_slot(k, fd))
		refuse(fd, s->nslots);
}

static void *accept_loop(void *arg)
{
	struct lnc_server *s = arg;
	bool busy = false;
	uint64_t count;

	for (;;) {
		struct pollfd p[3] = {{.fd = s->fd, .events = POLLIN},
		        {.fd = s->stop_fd, .events = POLLIN}, {.fd = s->wake_fd, .events = POLLIN}};
		/* ended threads are joined within a second */
		if (poll(p, 3, busy ? 1000 : -1) < 0 && errno != EINTR)
			return NULL;
		if (p[1].revents)
			return NULL;
		if (p[2].revents && read(s->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
			return NULL;
		if (p[0].revents)
			accept_one(s);
		busy = false;
		for (unsigned i = 0; i < s->nslots; i++) {
			reap(&s->slot[i]);
			busy |= atomic_load(&s->slot[i].state) != FREE;
		}
	}
}

/* ---- life ---------------------------------------------------------------------------------- */

static struct lnc_server *server_new(struct lnet_control *c)
{
	struct lnc_server *s = calloc(1, sizeof(*s) + c->o.clients * sizeof(s->slot[0]));

	if (!s)
		return NULL;
	s->c = c;
	s->nslots = c->o.clients;
	for (unsigned i = 0; i < s->nslots; i++) {
		s->slot[i].s = s;
		s->slot[i].fd = -1;
	}
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	if (s->stop_fd >= 0 && s->wake_fd >= 0)
		return s;
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}

static void server_free(struct lnc_server *s)
{
	close(s->stop_fd);
	close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Signals are for the program's own threads. */
static int start_acceptor(struct lnc_server *s)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->acceptor, NULL, accept_loop, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

int lnc_server_start(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen)
{
	struct lnc_server *s = server_new(c);
	int rc;

	if (!s)
		return -ENOMEM;
	s->mode = mode;
	rc = lnc_bind(&s->b, path, mode, group, why, whylen);
	if (rc) {
		server_free(s);
		return rc;
	}
	s->fd = s->b.fd;
	rc = start_acceptor(s);
	if (rc) {
		lnc_unbind(&s->b);
		close(s->fd);
		server_free(s);
		return rc;
	}
	c->server = s;
	return 0;
}

void lnc_server_stop(struct lnet_control *c)
{
	struct lnc_server *s = c->server;
	uint64_t one = 1;

	if (!s)
		return;
	lnc_unbind(&s->b);
	if (write(s->stop_fd, &one, sizeof(one)) < 0) {
		/* it is readable already */
	}
	pthread_join(s->acceptor, NULL);
	for (unsigned i = 0; i < s->nslots; i++) {
		if (atomic_load(&s->slot[i].state) == FREE)
			continue;
		pthread_join(s->slot[i].thread, NULL);
		close(s->slot[i].fd);
	}
	close(s->fd);
	c->server = NULL;
	server_free(s);
}

const char *lnc_server_path(const struct lnet_control *c)
{
	return c->server ? c->server->b.path : NULL;
}

/* The new socket takes the descriptor of the old one, so that the thread that accepts goes on with
 * it. */
int lnc_server_move(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen)
{
	struct lnc_server *s = c->server;
	struct lnc_bound b, old = s->b;
	uint64_t one = 1;
	int rc;

	if (!strcmp(path, s->b.path)) {
		rc = lnc_bound_mode(&s->b, mode, group, why, whylen);
		pthread_mutex_lock(&s->lock);
		s->mode = rc ? s->mode : mode;
		pthread_mutex_unlock(&s->lock);
		return rc;
	}
	rc = lnc_bind(&b, path, mode, group, why, whylen);
	if (rc)
		return rc;
	rc = dup3(b.fd, s->fd, O_CLOEXEC) < 0 ? -errno : 0;
	close(b.fd);
	if (rc) {
		lnc_unbind(&b);
		return rc;
	}
	pthread_mutex_lock(&s->lock);
	s->b = b;
	s->mode = mode;
	pthread_mutex_unlock(&s->lock);
	lnc_unbind(&old);
	if (write(s->wake_fd, &one, sizeof(one)) < 0) {
		/* it is readable already */
	}
	return 0;
}
