/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files in and out. */
#include "lnet/control/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct lnc_err *err, int code, const char *doing, const char *name)
{
	return lnc_err_set(err, code, "cannot %s '%s': %s", doing, name, strerror(-code));
}

static bool is_std(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static ssize_t read_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	do {
		n = read(fd, buf, len);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int lnc_read_fd(int fd, const char *name, size_t max, char **buf, size_t *len, struct lnc_err *err)
{
	size_t cap = 65536, at = 0;
	char *p = malloc(cap);
	ssize_t n = 1;
	int rc = 0;

	if (!p)
		return fail(err, -ENOMEM, "read", name);
	while (n > 0 && !rc) {
		if (cap - at < 2) { /* one byte is kept for the NUL */
			char *q = cap <= SIZE_MAX / 2 ? realloc(p, cap * 2) : NULL;

			if (!q) {
				rc = fail(err, -ENOMEM, "read", name);
				break;
			}
			p = q;
			cap *= 2;
		}
		n = read_some(fd, p + at, cap - at - 1);
		if (n > 0)
			at += (size_t)n;
		if (at > max)
			rc = lnc_err_set(err, -EFBIG, "'%s' has more than %zu bytes", name, max);
		else if (n < 0)
			rc = fail(err, (int)n, "read", name);
	}
	if (rc) {
		free(p);
		return rc;
	}
	p[at] = '\0';
	*buf = p;
	*len = at;
	return 0;
}

int lnc_read_file(const char *path, size_t max, char **buf, size_t *len, struct lnc_err *err)
{
	struct stat st;
	int fd, rc;

	if (is_std(path))
		return lnc_read_fd(STDIN_FILENO, "standard input", max, buf, len, err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return fail(err, -errno, "open", path);
	if (fstat(fd, &st))
		rc = fail(err, -errno, "read", path);
	else if (S_ISDIR(st.st_mode))
		rc = fail(err, -EISDIR, "read", path);
	else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		rc = lnc_err_set(err, -EFBIG, "'%s' has more than %zu bytes", path, max);
	else
		rc = lnc_read_fd(fd, path, max, buf, len, err);
	close(fd);
	return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A device, a FIFO, standard output: nothing to keep, everything to report. */
static int write_direct(int fd, const char *name, const void *buf, size_t len, struct lnc_err *err)
{
	int rc = write_all(fd, buf, len);

	return rc ? fail(err, rc, "write", name) : 0;
}

static int write_special(const char *path, const void *buf, size_t len, struct lnc_err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), rc;

	if (fd < 0)
		return fail(err, -errno, "open", path);
	rc = write_direct(fd, path, buf, len, err);
	if (close(fd) && !rc)
		rc = fail(err, -errno, "write", path);
	return rc;
}

/* A new file beside path; its name goes to tmp. */
static int open_beside(const char *path, char *tmp, size_t size)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;

	for (int tries = 0; tries < 100; tries++) {
		uint64_t r;
		int fd, n;

		if (getrandom(&r, sizeof(r), 0) != sizeof(r))
			return -EIO;
		n = snprintf(tmp, size, "%.*s.%.200s.%016llx", dir, path, path + dir,
		        (unsigned long long)r);
		if (n < 0 || (size_t)n >= size)
			return -ENAMETOOLONG;
		fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int sync_dir(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + (slash == path) : 1;
	int fd, rc = 0;

	if (n >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, slash ? path : ".", n);
	dir[n] = '\0';
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		rc = -errno;
	close(fd);
	return rc;
}

/* Everything up to the point where only the rename is missing. */
static int fill(int fd, const struct stat *old, const void *buf, size_t len)
{
	int rc = write_all(fd, buf, len);

	if (rc)
		return rc;
	if (old && fchown(fd, old->st_uid, old->st_gid) && errno != EPERM)
		return -errno;
	if (old && fchmod(fd, old->st_mode & 07777))
		return -errno;
	return fsync(fd) ? -errno : 0;
}

static int replace(
        const char *path, const struct stat *old, const void *buf, size_t len, struct lnc_err *err)
{
	char tmp[PATH_MAX];
	int fd = open_beside(path, tmp, sizeof(tmp));
	int rc;

	if (fd < 0)
		return fail(err, fd, "write", path);
	rc = fill(fd, old, buf, len);
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (rc) {
		unlink(tmp);
		return fail(err, rc, "write", path);
	}
	rc = sync_dir(path);
	return rc ? fail(err, rc, "sync the folder of", path) : 0;
}

int lnc_write_file_atomic(const char *path, const void *buf, size_t len, struct lnc_err *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (is_std(path))
		return write_direct(STDOUT_FILENO, "standard output", buf, len, err);
	if (stat(path, &st)) {
		if (errno != ENOENT)
			return fail(err, -errno, "write", path);
		if (!lstat(path, &st)) /* a link to nowhere: not ours to decide */
			return fail(err, -ENOENT, "follow the link", path);
		return replace(path, NULL, buf, len, err);
	}
	if (S_ISDIR(st.st_mode))
		return fail(err, -EISDIR, "write", path);
	if (!S_ISREG(st.st_mode))
		return write_special(path, buf, len, err);
	if (access(path, W_OK))
		return fail(err, -errno, "write", path);
	if (!realpath(path, real))
		return fail(err, -errno, "write", path);
	return replace(real, &st, buf, len, err);
}
