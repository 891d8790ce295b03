/* SPDX-License-Identifier: BSD-2-Clause */
/* Becoming a daemon: the folder, the pid file, the parent that waits for the verdict. */
#include "utils/d.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int d_rundir(char *buf, size_t size)
{
	int rc = lnet_control_rundir(buf, size);

	if (rc < 0)
		return rc;
	/* everybody may look who runs; the sockets have modes of their own */
	if (mkdir(buf, geteuid() ? 0700 : 0755) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

/* The parent: the first byte is the exit status, the rest goes to standard error. */
static void await_verdict(int fd, pid_t child)
{
	unsigned char status;
	char text[512];
	ssize_t n;
	int st;

	do
		n = read(fd, &status, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) {
		if (waitpid(child, &st, 0) == child && WIFSIGNALED(st))
			fprintf(stderr, "ulnetd: ended by signal %d before it was ready\n",
			        WTERMSIG(st));
		else
			fprintf(stderr, "ulnetd: ended before it was ready\n");
		_exit(1);
	}
	while ((n = read(fd, text, sizeof(text))) > 0)
		if (write(STDERR_FILENO, text, (size_t)n) < 0)
			break;
	_exit(status);
}

int d_background(struct d_start *s)
{
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		int rc = -errno;
		close(p[0]);
		close(p[1]);
		return rc;
	}
	if (pid > 0) {
		close(p[1]);
		await_verdict(p[0], pid);
	}
	close(p[0]);
	s->pipe = p[1];
	setsid();
	if (chdir("/") < 0)
		return -errno;
	return 0;
}

void d_verdict(struct d_start *s, int status, const char *reason)
{
	unsigned char byte = (unsigned char)status;
	int null;

	if (s->pipe < 0) {
		if (reason)
			fprintf(stderr, "ulnetd: %s\n", reason);
		return;
	}
	if (write(s->pipe, &byte, 1) == 1 && reason)
		dprintf(s->pipe, "ulnetd: %s\n", reason);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	close(s->pipe);
	s->pipe = -1;
}

/* The file is locked while its process lives, so a pid that was used again misleads nobody. */
int d_pid_take(struct d_start *s, const char *rundir, const char *name, long *pid)
{
	struct stat a, b;
	char text[32];
	int n;

	n = snprintf(s->pid_path, sizeof(s->pid_path), "%s/%s.pid", rundir, name);
	if (n < 0 || (size_t)n >= sizeof(s->pid_path))
		return -ENAMETOOLONG;
	for (;;) {
		s->pid_fd = open(s->pid_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (s->pid_fd < 0)
			return -errno;
		if (flock(s->pid_fd, LOCK_EX | LOCK_NB) < 0) {
			ssize_t got = pread(s->pid_fd, text, sizeof(text) - 1, 0);
			text[got > 0 ? got : 0] = 0;
			*pid = atol(text);
			close(s->pid_fd);
			s->pid_fd = -1;
			return -EEXIST;
		}
		/* an ending ulnetd may have removed it between open and lock */
		if (!fstat(s->pid_fd, &a) && !stat(s->pid_path, &b) && a.st_dev == b.st_dev &&
		        a.st_ino == b.st_ino)
			break;
		close(s->pid_fd);
	}
	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(s->pid_fd, 0) < 0 || pwrite(s->pid_fd, text, (size_t)n, 0) != n) {
		int rc = errno ? -errno : -EIO;
		d_pid_drop(s);
		return rc;
	}
	return 0;
}

void d_pid_drop(struct d_start *s)
{
	if (s->pid_fd < 0)
		return;
	unlink(s->pid_path);
	close(s->pid_fd);
	s->pid_fd = -1;
}
