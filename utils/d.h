/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of ulnetd share. */
#ifndef ULNETD_H
#define ULNETD_H

#include <lnet/control.h>
#include <limits.h>
#include <pthread.h>

/* ---- options ------------------------------------------------------------------------------- */

struct d_opts {
	const char *config, *name;
	bool foreground, check;
	unsigned loops, spin_us, drain_s;
	bool spin_set;
};
/* 0 go on; 1 done (--help, --version); -1 usage, after a message. */
int d_options(struct d_opts *o, int argc, char **argv);

/* ---- logging ------------------------------------------------------------------------------- */

struct d_log {
	pthread_mutex_t lock;
	enum { D_LOG_STDERR, D_LOG_SYSLOG, D_LOG_FILE } to;
	int fd; /* of the file */
	char path[PATH_MAX];
	_Atomic int level; /* of d_say() */
	bool daemon;       /* there is no standard error */
	bool journal;      /* standard error is read by journald, which adds the time */
	char name[64];
};
void d_log_init(struct d_log *l, const char *name);
void d_log_free(struct d_log *l);
/* "stderr", "syslog", an absolute path; NULL: standard error, or syslog in a daemon. */
int d_log_open(struct d_log *l, const char *to, char *why, size_t whylen);
/* The file again, after it was rotated. */
int d_log_reopen(struct d_log *l);
/* lnet_log_fn; arg is the struct d_log */
void d_log_line(void *arg, enum lnet_log_level lv, const char *id, const char *text);
void d_say(struct d_log *l, enum lnet_log_level lv, const char *id, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));

/* ---- becoming a daemon --------------------------------------------------------------------- */

struct d_start {
	int pipe; /* to the waiting parent; -1 in the foreground */
	int pid_fd;
	char pid_path[PATH_MAX];
};
/* The folder of sockets and pid files, made when it is missing. */
int d_rundir(char *buf, size_t size);
/* Go to the background; returns in the child alone. The parent ends with the child's verdict. */
int d_background(struct d_start *s);
/* Take the pid file; -EEXIST another ulnetd of that name runs (*pid). */
int d_pid_take(struct d_start *s, const char *rundir, const char *name, long *pid);
void d_pid_drop(struct d_start *s);
/* Tell the parent: 0 with NULL, or the exit status with a reason. Closes the pipe. */
void d_verdict(struct d_start *s, int status, const char *reason);

/* ---- systemd ------------------------------------------------------------------------------- */

/* One message to $NOTIFY_SOCKET, if there is one. */
void d_notify(const char *text);

#endif
