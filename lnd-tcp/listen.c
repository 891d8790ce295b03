/* SPDX-License-Identifier: BSD-2-Clause */
/* The acceptor of an NI: listens on the NI's own address, applies the policy, survives a want of
 * descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tcp.h"

#define ACCEPTS_A_TURN 16
#define PAUSE_MIN      (100 * TCP_MS)
#define PAUSE_MAX      TCP_S
#define SAY_EVERY      (60 * TCP_S)

enum lnet_accept tcp_accept_mode(const struct lnet_lnd_ni *lni)
{
	if (lni->accept != LNET_ACCEPT_DEFAULT)
		return lni->accept;
	return tcp_tun(lni, TCP_T_PORT) <= TCP_PRIV_MAX ? LNET_ACCEPT_SECURE : LNET_ACCEPT_ALL;
}

bool tcp_listen_wanted(const struct tcp_ni *ni)
{
	return !ni->lni->node->client && tcp_accept_mode(ni->lni) != LNET_ACCEPT_NONE;
}

static int spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Out of descriptors: refuse one connection with the spare one; without it, pause. True: go on. */
static bool refuse_one(struct tcp_ni *ni, int err)
{
	uint64_t now = lnet_loop_now(ni->loop);
	int fd;

	tcp_stat(ni->lni, TCP_S_REFUSED_NOFILE);
	if (!ni->lsaid || now - ni->lsaid >= SAY_EVERY) {
		ni->lsaid = now;
		tcp_log(ni->node, LNET_LOG_ERR, "tcp-nofile",
		        "connections are refused: %s; raise the limit of open files",
		        strerrordesc_np(-err));
	}
	if (ni->spare_fd >= 0) {
		close(ni->spare_fd);
		fd = accept4(ni->lfd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			close(fd);
		ni->spare_fd = spare();
		if (ni->spare_fd >= 0 && fd >= 0)
			return true;
	}
	ni->lpause = ni->lpause ? ni->lpause * 2 : PAUSE_MIN;
	if (ni->lpause > PAUSE_MAX)
		ni->lpause = PAUSE_MAX;
	lnet_watch_set(&ni->lwatch, 0);
	tcp_listen_later(ni, ni->lpause);
	return false;
}

static bool allowed(const struct tcp_ni *ni, const union tcp_addr *from)
{
	if (tcp_accept_mode(ni->lni) == LNET_ACCEPT_SECURE && tcp_addr_port(from) > TCP_PRIV_MAX)
		return false;
	return tcp_addr_allowed(ni->lni, from);
}

static void refuse(struct tcp_ni *ni, int fd, const union tcp_addr *from)
{
	struct lnet_nid nid = tcp_addr_to_nid(from, lnet_nid_net(&ni->lni->nid));
	char text[LNET_NIDSTR_MAX];

	tcp_stat(ni->lni, TCP_S_REFUSED_POLICY);
	tcp_log(ni->node, LNET_LOG_WARN, "tcp-policy",
	        "connection from %s port %u refused: not allowed by the accept policy",
	        lnet_nid_str(&nid, text, sizeof(text)), tcp_addr_port(from));
	close(fd);
}

static void listen_event(struct lnet_watch *w, int events)
{
	struct tcp_ni *ni = w->arg;

	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		union tcp_addr from = {0};
		socklen_t len = sizeof(from);
		int fd = accept4(ni->lfd, &from.sa, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		                      errno == ENOMEM)) {
			if (!refuse_one(ni, -errno))
				return;
			continue;
		}
		if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (fd < 0)
			continue; /* that one died in the queue */
		ni->lpause = 0;
		if (allowed(ni, &from))
			tcp_passive_start(ni, fd, &from);
		else
			refuse(ni, fd, &from);
	}
}

static void listen_again(struct lnet_timer *t)
{
	struct tcp_ni *ni = t->arg;

	if (tcp_ni_stopping(ni))
		return;
	if (ni->spare_fd < 0 && ni->lfd >= 0)
		ni->spare_fd = spare();
	if (ni->lfd >= 0)
		lnet_watch_set(&ni->lwatch, LNET_WATCH_READ);
	else
		tcp_ni_check(ni);
}

void tcp_listen_later(struct tcp_ni *ni, uint64_t pause)
{
	lnet_timer_arm(ni->loop, &ni->ltimer, lnet_loop_now(ni->loop) + pause);
}

void tcp_listen_init(struct tcp_ni *ni)
{
	ni->lfd = -1;
	ni->spare_fd = -1;
	tcp_list_init(&ni->pending);
	lnet_timer_init(&ni->ltimer, listen_again, ni);
}

int tcp_listen(struct tcp_ni *ni)
{
	int fd = tcp_sock_new(ni, ni->addr.sa.sa_family, false), rc;

	if (fd < 0)
		return fd;
	/* Buffer sizes must be known before the first SYN. */
	tcp_sock_tune(ni, fd, ni->addr.sa.sa_family);
	if (bind(fd, &ni->addr.sa, tcp_addr_len(&ni->addr)) < 0 || listen(fd, TCP_BACKLOG) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	ni->lfd = fd;
	ni->spare_fd = spare();
	lnet_watch_init(&ni->lwatch, ni->loop, fd, listen_event, ni);
	lnet_watch_set(&ni->lwatch, LNET_WATCH_READ);
	return 0;
}

void tcp_unlisten(struct tcp_ni *ni)
{
	if (ni->lfd < 0)
		return;
	lnet_watch_set(&ni->lwatch, 0);
	lnet_timer_stop(ni->loop, &ni->ltimer);
	close(ni->lfd);
	ni->lfd = -1;
	if (ni->spare_fd >= 0)
		close(ni->spare_fd);
	ni->spare_fd = -1;
}
