/* SPDX-License-Identifier: BSD-2-Clause */
/* The readiness protocol of systemd: a datagram to the socket named by the environment. */
#include "utils/d.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void d_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (len < 2 || len >= sizeof(a.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(a.sun_path, path, len);
	if (path[0] == '@') /* the abstract name space */
		a.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&a,
	            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0) {
		/* nobody waits for it any more */
	}
	close(fd);
}
