/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends sessions that fell silent. Its thread sleeps for good while there are none; the age of a
 * session is told by the node's clock, only the pace by the system's.
 */
#include "selftest/session.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int pause_ms(struct lst_responder *r)
{
	uint64_t ms = r->conf.idle_ns / 4000000u;
	unsigned n;

	pthread_mutex_lock(&r->lock);
	n = r->nsessions;
	pthread_mutex_unlock(&r->lock);
	if (n == 0)
		return -1;
	return ms < 10 ? 10 : ms > 15000 ? 15000 : (int)ms;
}

static void *sweep_on(void *arg)
{
	struct lst_responder *r = arg;
	struct pollfd p = {.fd = r->wake, .events = POLLIN};
	uint64_t n;

	while (!atomic_load(&r->stopping)) {
		int rc = poll(&p, 1, pause_ms(r));

		if (rc > 0 && read(r->wake, &n, sizeof(n)) < 0 && errno != EAGAIN)
			break;
		if (rc == 0)
			lst_sweep(r, NULL, 0);
	}
	return NULL;
}

int lst_sweeper_start(struct lst_responder *r)
{
	int rc;

	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake < 0)
		return -errno;
	rc = pthread_create(&r->sweeper, NULL, sweep_on, r);
	if (rc)
		close(r->wake);
	return -rc;
}

void lst_sweeper_wake(struct lst_responder *r)
{
	eventfd_write(r->wake, 1);
}

void lst_sweeper_stop(struct lst_responder *r)
{
	lst_sweeper_wake(r);
	pthread_join(r->sweeper, NULL);
	close(r->wake);
}
