/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that a test runs. */
#include "lib/tlib.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const char *const argv[], const char *const env[], int out, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
	}
	for (; env && *env; env++)
		putenv((char *)(uintptr_t)*env);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

struct tl_proc *tl_spawn(
        struct tl_procs *ps, const char *const argv[], const char *const env[], unsigned flags)
{
	struct tl_proc *p = calloc(1, sizeof(*p));
	int fd[2] = {-1, -1};
	pid_t me = getpid();

	if (!p)
		return NULL;
	if ((flags & TL_CAPTURE) && pipe2(fd, O_CLOEXEC) < 0) {
		free(p);
		return NULL;
	}
	fflush(NULL);
	p->pid = fork();
	if (p->pid == 0)
		child(argv, env, fd[1], me);
	if (fd[1] >= 0)
		close(fd[1]);
	p->out = fd[0];
	if (p->pid < 0) {
		if (fd[0] >= 0)
			close(fd[0]);
		free(p);
		return NULL;
	}
	if (p->out >= 0)
		fcntl(p->out, F_SETFL, O_NONBLOCK);
	p->next = ps->first;
	ps->first = p;
	return p;
}

static void drain(struct tl_proc *p)
{
	while (p->out >= 0) {
		if (p->room - p->len < 4096) {
			char *more = realloc(p->text, p->room + 16384);
			if (!more)
				return;
			p->text = more;
			p->room += 16384;
		}
		ssize_t n = read(p->out, p->text + p->len, p->room - p->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		p->len += (size_t)n;
		p->text[p->len] = '\0';
		if (n == 0) {
			close(p->out);
			p->out = -1;
		}
	}
}

bool tl_proc_poll(struct tl_proc *p)
{
	drain(p);
	if (p->ended || waitpid(p->pid, &p->status, WNOHANG) != p->pid)
		return p->ended;
	p->ended = true;
	drain(p);
	return true;
}

bool tl_proc_wait(struct tl_proc *p, uint64_t ns)
{
	return TL_UNTIL(NULL, tl_proc_poll(p), ns);
}

static bool says(struct tl_proc *p, const char *what)
{
	bool over = tl_proc_poll(p);

	return (p->text && strstr(p->text, what)) || over;
}

bool tl_proc_says(struct tl_proc *p, const char *what, uint64_t ns)
{
	(void)TL_UNTIL(NULL, says(p, what), ns);
	return p->text && strstr(p->text, what);
}

int tl_proc_signal(struct tl_proc *p, int sig)
{
	if (tl_proc_poll(p))
		return -ESRCH;
	return kill(p->pid, sig) < 0 ? -errno : 0;
}

int tl_proc_code(const struct tl_proc *p)
{
	if (!p->ended)
		return -1;
	return WIFEXITED(p->status) ? WEXITSTATUS(p->status) : 128 + WTERMSIG(p->status);
}

unsigned tl_procs_end(struct tl_procs *ps)
{
	struct tl_proc *p;
	unsigned killed = 0;

	for (p = ps->first; p; p = p->next)
		tl_proc_signal(p, SIGTERM);
	while ((p = ps->first)) {
		if (!tl_proc_wait(p, 5 * TL_S)) {
			killed++;
			tl_proc_signal(p, SIGKILL);
			tl_proc_wait(p, 10 * TL_S);
		}
		ps->first = p->next;
		if (p->out >= 0)
			close(p->out);
		free(p->text);
		free(p);
	}
	return killed;
}

int tl_run(const char *const argv[], uint64_t ns, char **out)
{
	struct tl_procs ps = {NULL};
	struct tl_proc *p = tl_spawn(&ps, argv, NULL, TL_CAPTURE);
	int code = -1;

	if (out)
		*out = NULL;
	if (!p)
		return -1;
	if (tl_proc_wait(p, ns))
		code = tl_proc_code(p);
	if (out) {
		*out = p->text ? p->text : strdup("");
		p->text = NULL;
	}
	tl_procs_end(&ps);
	return code;
}
