/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file of the control socket. It is made under another name and renamed when it listens, so
 * that who sees it can connect. Two nodes that want the same path take turns by a lock on the
 * folder.
 */
#include "lnet/control/control_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int say(char *why, size_t len, int rc, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

static int say(char *why, size_t len, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!why || !len)
		return rc;
	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return rc;
}

static int address(struct sockaddr_un *a, const char *path)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	strcpy(a->sun_path, path);
	return 0;
}

/* 0: nobody listens there (or nothing is there); -EADDRINUSE; -EEXIST: it is no socket. */
static int is_free(const char *path)
{
	struct sockaddr_un a;
	struct stat st;
	int fd, rc;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (address(&a, path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ? -errno : 0;
	close(fd);
	if (rc == -ECONNREFUSED || rc == -ENOENT)
		return 0;
	return rc == 0 || rc == -EAGAIN ? -EADDRINUSE : rc;
}

/* The folder of path, locked; a negative errno if it cannot be opened. Closing it unlocks. */
static int lock_folder(const char *path)
{
	char dir[108];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	int fd;

	if (!slash)
		strcpy(dir, ".");
	else if (!len)
		strcpy(dir, "/");
	else
		memcpy(dir, path, len), dir[len] = 0;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			int rc = -errno;
			close(fd);
			return rc;
		}
	return fd;
}

static int group_id(const char *group, gid_t *gid)
{
	char buf[16384];
	struct group g, *found = NULL;
	int rc = getgrnam_r(group, &g, buf, sizeof(buf), &found);

	if (!found)
		return rc ? -rc : -ENOENT;
	*gid = g.gr_gid;
	return 0;
}

/* bind, listen, mode, group; the file is tmp. Returns the descriptor. */
static int make(const char *tmp, unsigned mode, const char *group, char *why, size_t whylen)
{
	struct sockaddr_un a;
	gid_t gid = (gid_t)-1;
	int fd, rc = group ? group_id(group, &gid) : 0;

	if (rc)
		return say(why, whylen, rc, "no group is called '%s'", group);
	if (address(&a, tmp))
		return say(why, whylen, -ENAMETOOLONG, "the path is too long");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return say(why, whylen, -errno, "socket: %s", strerror(errno));
	fchmod(fd, 0600); /* the file is born with this mode, whatever the umask */
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		rc = say(why, whylen, -errno, "bind: %s", strerror(errno));
		close(fd);
		return rc;
	}
	if (chown(tmp, (uid_t)-1, gid) < 0 || chmod(tmp, mode) < 0)
		rc = say(why, whylen, -errno, "mode %04o, group %s: %s", mode,
		        group ? group : "own", strerror(errno));
	else if (listen(fd, 64) < 0)
		rc = say(why, whylen, -errno, "listen: %s", strerror(errno));
	if (rc) {
		unlink(tmp);
		close(fd);
		return rc;
	}
	return fd;
}

int lnc_bound_mode(
        const struct lnc_bound *b, unsigned mode, const char *group, char *why, size_t whylen)
{
	gid_t gid = getegid();
	struct stat st;
	int rc = group ? group_id(group, &gid) : 0;

	if (rc)
		return say(why, whylen, rc, "no group is called '%s'", group);
	if (lstat(b->path, &st) < 0 || st.st_dev != b->dev || st.st_ino != b->ino)
		return say(why, whylen, -ENOENT, "%s is not ours any more", b->path);
	if (chown(b->path, (uid_t)-1, gid) < 0 || chmod(b->path, mode) < 0)
		return say(why, whylen, -errno, "%s: mode %04o, group %s: %s", b->path, mode,
		        group ? group : "own", strerror(errno));
	return 0;
}

int lnc_bind(struct lnc_bound *b, const char *path, unsigned mode, const char *group, char *why,
        size_t whylen)
{
	char tmp[108];
	struct stat st;
	int folder, rc, fd;

	if (strlen(path) >= sizeof(b->path) ||
	        snprintf(tmp, sizeof(tmp), "%s.%x", path, (unsigned)getpid() & 0xffffffu) >=
	                (int)sizeof(tmp))
		return say(why, whylen, -ENAMETOOLONG, "'%s' is longer than a socket's path may be",
		        path);
	folder = lock_folder(path);
	if (folder < 0)
		return say(why, whylen, folder, "%s: its folder cannot be opened: %s", path,
		        strerror(-folder));
	rc = is_free(path);
	if (rc) {
		say(why, whylen, rc,
		        rc == -EADDRINUSE ? "another node listens at %s"
		        : rc == -EEXIST   ? "%s is there and is no socket"
		                          : "%s cannot be looked at",
		        path);
		close(folder);
		return rc;
	}
	unlink(tmp);
	fd = make(tmp, mode, group, why, whylen);
	if (fd >= 0 && (stat(tmp, &st) < 0 || rename(tmp, path) < 0)) {
		rc = say(why, whylen, -errno, "%s: %s", path, strerror(errno));
		unlink(tmp);
		close(fd);
		fd = rc;
	}
	close(folder);
	if (fd < 0)
		return fd;
	b->fd = fd;
	strcpy(b->path, path);
	b->dev = st.st_dev;
	b->ino = st.st_ino;
	return 0;
}

void lnc_unbind(const struct lnc_bound *b)
{
	int folder = lock_folder(b->path);
	struct stat st;

	if (!lstat(b->path, &st) && st.st_dev == b->dev && st.st_ino == b->ino)
		unlink(b->path);
	if (folder >= 0)
		close(folder);
}
