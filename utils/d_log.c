/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the lines of the log go. The level and the limit on repeated lines are the library's. */
#include "utils/d.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static int priority(enum lnet_log_level lv)
{
	static const int p[] = {[LNET_LOG_ERR] = LOG_ERR,
	        [LNET_LOG_WARN] = LOG_WARNING,
	        [LNET_LOG_NOTICE] = LOG_NOTICE,
	        [LNET_LOG_INFO] = LOG_INFO,
	        [LNET_LOG_DEBUG] = LOG_DEBUG,
	        [LNET_LOG_TRACE] = LOG_DEBUG};

	return lv <= LNET_LOG_TRACE ? p[lv] : LOG_DEBUG;
}

static const char *word(enum lnet_log_level lv)
{
	static const char *const w[] = {[LNET_LOG_ERR] = "err",
	        [LNET_LOG_WARN] = "warn",
	        [LNET_LOG_NOTICE] = "notice",
	        [LNET_LOG_INFO] = "info",
	        [LNET_LOG_DEBUG] = "debug",
	        [LNET_LOG_TRACE] = "trace"};

	return lv <= LNET_LOG_TRACE ? w[lv] : "debug";
}

void d_log_init(struct d_log *l, const char *name)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->fd = -1;
	l->level = LNET_LOG_NOTICE;
	l->journal = getenv("JOURNAL_STREAM") != NULL;
	snprintf(l->name, sizeof(l->name), "%s", name);
}

void d_log_free(struct d_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (l->to == D_LOG_SYSLOG)
		closelog();
	pthread_mutex_destroy(&l->lock);
}

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);

	return fd < 0 ? -errno : fd;
}

int d_log_open(struct d_log *l, const char *to, char *why, size_t whylen)
{
	int fd = -1, kind = D_LOG_STDERR;

	if (!to)
		to = l->daemon ? "syslog" : "stderr";
	if (!strcmp(to, "stderr") && l->daemon) {
		snprintf(why, whylen,
		        "log to stderr: a daemon has none; use syslog or a file, or "
		        "--foreground");
		return -EINVAL;
	}
	if (!strcmp(to, "syslog")) {
		kind = D_LOG_SYSLOG;
	} else if (strcmp(to, "stderr")) {
		kind = D_LOG_FILE;
		if (strlen(to) >= sizeof(l->path))
			return -ENAMETOOLONG;
		fd = open_file(to);
		if (fd < 0) {
			snprintf(why, whylen, "log to %s: %s", to, strerror(-fd));
			return fd;
		}
	}
	pthread_mutex_lock(&l->lock);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = fd;
	if (kind == D_LOG_SYSLOG && l->to != D_LOG_SYSLOG)
		openlog("ulnetd", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	l->to = kind;
	if (kind == D_LOG_FILE)
		strcpy(l->path, to);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

int d_log_reopen(struct d_log *l)
{
	int fd, rc = 0;

	pthread_mutex_lock(&l->lock);
	if (l->to == D_LOG_FILE) {
		fd = open_file(l->path);
		if (fd >= 0) {
			close(l->fd);
			l->fd = fd;
		} else {
			rc = fd;
		}
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static int stamp(char *buf, size_t size)
{
	struct timespec t;
	struct tm tm;
	char day[32];

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	return snprintf(buf, size, "%s.%03ldZ ", day, t.tv_nsec / 1000000);
}

void d_log_line(void *arg, enum lnet_log_level lv, const char *id, const char *text)
{
	struct d_log *l = arg;
	char line[1200], at[64] = "";
	int len;

	pthread_mutex_lock(&l->lock);
	if (l->to == D_LOG_SYSLOG) {
		syslog(priority(lv), "%s %s: %s", l->name, id, text);
		pthread_mutex_unlock(&l->lock);
		return;
	}
	if (l->to == D_LOG_STDERR && l->journal)
		len = snprintf(
		        line, sizeof(line), "<%d>%s %s: %s\n", priority(lv), l->name, id, text);
	else {
		stamp(at, sizeof(at));
		len = snprintf(
		        line, sizeof(line), "%s%s %s %s: %s\n", at, word(lv), l->name, id, text);
	}
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	/* one write a line, so that lines of several processes stay whole; a full disk stops no
	 * node */
	if (write(l->to == D_LOG_FILE ? l->fd : STDERR_FILENO, line, (size_t)len) < 0) {
	}
	pthread_mutex_unlock(&l->lock);
}

void d_say(struct d_log *l, enum lnet_log_level lv, const char *id, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	if ((int)lv > l->level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d_log_line(l, lv, id, text);
}
