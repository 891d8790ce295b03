/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ulnetd: a node with a configuration file and a control socket.
 *
 * The main thread waits for signals; the node has its own threads, the control socket too, and the
 * end is waited for by one more, so that a second signal is heard.
 */
#include "lnet/control/file.h"
#include "selftest/selftest.h"
#include "utils/d.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define CONFIG_MAX (16u << 20)

struct daemon {
	struct d_opts o;
	struct d_log log;
	struct d_start start;
	char config[PATH_MAX], rundir[PATH_MAX];
	struct lnet *n;
	struct lnet_control *c;
	struct lst_responder *responder;
	int sig_fd;
	/* errors of a configuration: to standard error before the node is ready, to the log later
	 */
	bool ready;
	char reason[1024];  /* the first of them */
	char verdict[1200]; /* why it did not start, told when everything is put away */
};

/* ---- hooks --------------------------------------------------------------------------------- */

static int hook_selftest(void *arg, bool on, char *why, size_t whylen)
{
	struct daemon *d = arg;
	int rc = 0;

	if (on && !d->responder) {
		rc = lst_responder_start(d->n, NULL, &d->responder);
		if (rc) {
			d->responder = NULL;
			snprintf(why, whylen, "the self-test responder: %s", strerror(-rc));
		}
	} else if (!on && d->responder) {
		lst_responder_stop(d->responder);
		d->responder = NULL;
	}
	return rc;
}

static int hook_log(void *arg, enum lnet_log_level lv, const char *to, char *why, size_t whylen)
{
	struct daemon *d = arg;

	int rc = d_log_open(&d->log, to, why, whylen);

	if (!rc)
		d->log.level = lv; /* of our own lines; the library keeps its own */
	return rc;
}

/* ---- configuration ------------------------------------------------------------------------- */

static void config_error(void *arg, const struct lnet_config_err *e)
{
	struct daemon *d = arg;
	char line[1024];

	if (e->line)
		snprintf(line, sizeof(line), "%.512s:%u:%u: %s", d->config, e->line, e->col,
		        e->text);
	else
		snprintf(line, sizeof(line), "%.512s: %s", d->config, e->text);
	if (d->ready)
		d_log_line(&d->log, e->err ? LNET_LOG_ERR : LNET_LOG_NOTICE, "CONFIG", line);
	else if (!d->reason[0] && e->err)
		snprintf(d->reason, sizeof(d->reason), "%s", line);
	else if (!d->o.check || e->err)
		fprintf(stderr, "ulnetd: %s\n", line);
}

static int apply_file(struct daemon *d, unsigned flags)
{
	struct lnc_err err;
	char *text;
	size_t len;
	int rc = lnc_read_file(d->config, CONFIG_MAX, &text, &len, &err);

	if (rc) {
		struct lnet_config_err e = {.err = rc, .text = err.msg};
		config_error(d, &e);
		return rc;
	}
	rc = lnet_control_config(d->c, text, len, flags, config_error, d);
	free(text);
	return rc;
}

static void reload(struct daemon *d)
{
	char text[96];
	struct timespec t;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%llu",
	        (unsigned long long)t.tv_sec * 1000000u + (unsigned long long)t.tv_nsec / 1000u);
	d_notify(text);
	rc = d_log_reopen(&d->log);
	if (rc)
		d_say(&d->log, LNET_LOG_ERR, "LOG", "%s: %s", d->log.path, strerror(-rc));
	rc = apply_file(d, LNET_CONFIG_REPLACE);
	if (rc)
		d_say(&d->log, LNET_LOG_ERR, "RELOAD", "%s was not applied, nothing is changed",
		        d->config);
	else
		d_say(&d->log, LNET_LOG_NOTICE, "RELOAD", "%s is applied", d->config);
	d_notify("READY=1");
}

/* ---- start --------------------------------------------------------------------------------- */

static int fail(struct daemon *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct daemon *d, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(d->verdict, sizeof(d->verdict), "%s", text);
	if (d->start.pipe >= 0 && d->log.to != D_LOG_STDERR)
		d_log_line(&d->log, LNET_LOG_ERR, "START", text);
	return 1;
}

static int open_signals(struct daemon *d)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	d->sig_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->sig_fd < 0 ? -errno : 0;
}

static int open_node(struct daemon *d)
{
	struct lnet_control_opts co;
	struct lnet_opts o;
	int rc;

	lnet_opts_init(&o, sizeof(o));
	o.name = d->o.name;
	o.loops = d->o.loops;
	if (d->o.spin_set)
		o.spin_us = d->o.spin_us;
	o.log = d_log_line;
	o.log_arg = &d->log;
	o.rundir = d->rundir;
	rc = lnet_open(&o, &d->n);
	if (rc)
		return fail(d, "the node: %s", strerror(-rc));
	lnet_control_opts_init(&co, sizeof(co));
	co.hooks.arg = d;
	co.hooks.selftest = hook_selftest;
	co.hooks.log = hook_log;
	rc = lnet_control_open(d->n, &co, &d->c);
	return rc ? fail(d, "the control object: %s", strerror(-rc)) : 0;
}

static int configure(struct daemon *d)
{
	char path[PATH_MAX], why[400];
	int rc = apply_file(d, LNET_CONFIG_REPLACE | (d->o.check ? LNET_CONFIG_CHECK : 0));

	if (rc)
		return fail(d, "%s", d->reason[0] ? d->reason : strerror(-rc));
	if (d->o.check)
		return 0;
	rc = snprintf(path, sizeof(path), "%s/%s.sock", d->rundir, d->o.name);
	if (rc < 0 || (size_t)rc >= sizeof(path))
		return fail(d, "the path of the control socket is too long");
	rc = lnet_control_listen(d->c, path, LNET_CONTROL_MODE, NULL, why, sizeof(why));
	return rc ? fail(d, "the control socket: %s", *why ? why : strerror(-rc)) : 0;
}

static int prepare(struct daemon *d)
{
	long pid = 0;
	int rc;

	/* names are given relative to where it was started */
	if (!realpath(d->o.config, d->config))
		return fail(d, "%s: %s", d->o.config, strerror(errno));
	rc = lnet_control_rundir(d->rundir, sizeof(d->rundir));
	if (rc == -ENOENT)
		return fail(d, "where do sockets go? Set ULNET_RUNDIR or XDG_RUNTIME_DIR");
	if (!d->o.check && rc >= 0)
		rc = d_rundir(d->rundir, sizeof(d->rundir));
	if (rc < 0)
		return fail(d, "%s: %s", d->rundir, strerror(-rc));
	if (d->o.check)
		return 0;
	if (d->rundir[0] != '/') {
		char full[PATH_MAX];
		if (!realpath(d->rundir, full))
			return fail(d, "%s: %s", d->rundir, strerror(errno));
		memcpy(d->rundir, full, sizeof(full));
	}
	if (!d->o.foreground) {
		d->log.daemon = true;
		rc = d_background(&d->start);
		if (rc)
			return fail(d, "%s", strerror(-rc));
		rc = d_log_open(&d->log, NULL, (char[400]){0}, 400);
	}
	rc = d_pid_take(&d->start, d->rundir, d->o.name, &pid);
	if (rc == -EEXIST)
		return fail(d, "a node called '%s' runs already, process %ld", d->o.name, pid);
	return rc ? fail(d, "%s: %s", d->start.pid_path, strerror(-rc)) : 0;
}

/* ---- end ----------------------------------------------------------------------------------- */

struct ending {
	struct daemon *d;
	int efd;
};

/* Drain, with the control socket gone first: nobody starts anything new. */
static void end(struct daemon *d)
{
	int rc = 0;

	lnet_control_close(d->c);
	if (d->responder)
		lst_responder_stop(d->responder);
	if (d->n)
		rc = lnet_close(d->n, lnet_now(d->n) + d->o.drain_s * 1000000000ull);
	if (rc)
		d_say(&d->log, LNET_LOG_WARN, "STOP", "work was under way and was aborted");
}

static void *end_thread(void *arg)
{
	struct ending *e = arg;
	uint64_t one = 1;

	end(e->d);
	if (write(e->efd, &one, sizeof(one)) < 0)
		abort(); /* an eventfd of our own takes a one */
	return NULL;
}

/* 0 when it has ended, 1 when a second signal came. */
static int end_or_signal(struct daemon *d)
{
	struct ending e = {.d = d, .efd = eventfd(0, EFD_CLOEXEC)};
	struct signalfd_siginfo si;
	pthread_t thread;

	if (e.efd < 0 || pthread_create(&thread, NULL, end_thread, &e)) {
		if (e.efd >= 0)
			close(e.efd);
		end(d);
		return 0;
	}
	for (;;) {
		struct pollfd p[2] = {
		        {.fd = e.efd, .events = POLLIN}, {.fd = d->sig_fd, .events = POLLIN}};
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			break;
		while (read(d->sig_fd, &si, sizeof(si)) == sizeof(si))
			if (si.ssi_signo != SIGHUP)
				return 1;
	}
	pthread_join(thread, NULL);
	close(e.efd);
	return 0;
}

static int run(struct daemon *d)
{
	struct signalfd_siginfo si;

	for (;;) {
		struct pollfd p = {.fd = d->sig_fd, .events = POLLIN};
		if (poll(&p, 1, -1) < 0 || read(d->sig_fd, &si, sizeof(si)) != sizeof(si))
			continue;
		if (si.ssi_signo != SIGHUP)
			break;
		reload(d);
	}
	d_notify("STOPPING=1");
	d_say(&d->log, LNET_LOG_NOTICE, "STOP", "signal %u", si.ssi_signo);
	if (end_or_signal(d)) {
		d_say(&d->log, LNET_LOG_WARN, "STOP", "a second signal: at once");
		d_pid_drop(&d->start);
		_exit(1); /* the other threads may be anywhere */
	}
	d_pid_drop(&d->start);
	d_say(&d->log, LNET_LOG_NOTICE, "STOP", "ended");
	return 0;
}

int main(int argc, char **argv)
{
	struct daemon d = {.start = {.pipe = -1, .pid_fd = -1}, .sig_fd = -1};
	int rc = d_options(&d.o, argc, argv);

	if (rc)
		return rc > 0 ? 0 : 2;
	d_log_init(&d.log, d.o.name);
	rc = prepare(&d);
	if (!rc && open_signals(&d))
		rc = fail(&d, "signals: %s", strerror(errno));
	if (!rc)
		rc = open_node(&d);
	if (!rc)
		rc = configure(&d);
	if (!rc && d.o.check) {
		printf("%s: right\n", d.config);
		end(&d);
	} else if (!rc) {
		d.ready = true;
		d_notify("READY=1");
		d_say(&d.log, LNET_LOG_NOTICE, "START", "version %s, process %ld, %s",
		        lnet_version(), (long)getpid(), d.config);
		d_verdict(&d.start, 0, NULL);
		rc = run(&d);
	} else {
		end(&d);
		d_pid_drop(&d.start);
		d_verdict(&d.start, 1, d.verdict);
	}
	d_log_free(&d.log);
	if (d.sig_fd >= 0)
		close(d.sig_fd);
	return rc;
}
