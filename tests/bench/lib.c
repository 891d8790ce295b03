/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/bench.h"
#include <errno.h>
#include <fnmatch.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

bool bench_wanted(const char *name)
{
	const char *glob = getenv("BENCH_ONLY");

	return glob == NULL || *glob == '\0' || fnmatch(glob, name, 0) == 0;
}

static unsigned env_number(const char *name, unsigned def, unsigned max)
{
	const char *s = getenv(name);
	char *end;
	unsigned long v;

	if (s == NULL || *s == '\0')
		return def;
	v = strtoul(s, &end, 10);
	return *end == '\0' && v >= 1 && v <= max ? (unsigned)v : def;
}

unsigned bench_pairs(void)
{
	return env_number("BENCH_PAIRS", 15, BENCH_MAX_PAIRS);
}

uint64_t bench_window(void)
{
	return env_number("BENCH_MS", 300, 60000) * 1000000ull;
}

uint64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int bench_say(struct bench_end *e, uint64_t word)
{
	return send(e->ctl, &word, sizeof(word), MSG_NOSIGNAL) == sizeof(word) ? 0 : -errno;
}

int bench_hear(struct bench_end *e, uint64_t *word)
{
	ssize_t n;

	do
		n = recv(e->ctl, word, sizeof(*word), 0);
	while (n < 0 && errno == EINTR);
	if (n == sizeof(*word))
		return 0;
	return n < 0 ? -errno : -EPIPE;
}

static uint64_t word_of(unsigned slot, size_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t)(slot + 1) << 56;
}

void bench_fill(uint8_t *mem, unsigned n)
{
	for (unsigned s = 0; s < n; s++)
		for (size_t i = 0; i < BENCH_SLOT / 8; i++) {
			uint64_t w = word_of(s, i);

			memcpy(mem + (size_t)s * BENCH_SLOT + i * 8, &w, 8);
		}
}

uint64_t bench_verify(const uint8_t *mem, unsigned n)
{
	uint64_t bad = 0;

	for (unsigned s = 0; s < n; s++) {
		const uint8_t *p = mem + (size_t)s * BENCH_SLOT;
		size_t i;

		/* the last word of a slot is the floor's flag */
		for (i = 0; i < BENCH_SLOT / 8 - 1; i++) {
			uint64_t w = word_of(s, i);

			if (memcmp(p + i * 8, &w, 8) != 0)
				break;
		}
		bad += i < BENCH_SLOT / 8 - 1;
	}
	return bad;
}

/* ---- two processes ----------------------------------------------------------------------------
 */

static int child(bench_fn fn, struct bench_end *e, int cpu, pid_t parent)
{
	cpu_set_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0) {
		fprintf(stderr, "bench: CPU %d: %s\n", cpu, strerror(errno));
		return 1;
	}
	e->mem = mmap(NULL, (size_t)BENCH_NSLOT * BENCH_SLOT, PROT_READ | PROT_WRITE,
	        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (e->mem == MAP_FAILED) {
		perror("bench: mmap");
		return 1;
	}
	return fn(e) == 0 ? 0 : 1;
}

static pid_t start(bench_fn fn, struct bench_end *e, int other, int cpu)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		close(other);
		/* the bench lines that the client prints must not be lost with _exit() */
		int rc = child(fn, e, cpu, parent);

		fflush(stdout);
		fflush(stderr);
		_exit(rc);
	}
	return pid;
}

/* Wait for both, or end them at the limit. */
static int reap(pid_t pid[2], unsigned limit_s)
{
	uint64_t end = bench_now() + limit_s * 1000000000ull;
	int rc = 0, left = 2, status;

	while (left > 0) {
		for (int i = 0; i < 2; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			pid[i] = -1;
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
				fprintf(stderr, "bench: %s failed (%s %d)\n",
				        i == 0 ? "client" : "server",
				        WIFEXITED(status) ? "exit status" : "signal",
				        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
				rc = 1;
			}
		}
		if (left > 0 && (rc != 0 || bench_now() > end)) {
			if (rc == 0)
				fprintf(stderr, "bench: not over after %u s\n", limit_s);
			for (int i = 0; i < 2; i++)
				if (pid[i] > 0)
					kill(pid[i], SIGKILL);
			rc = 1;
		}
		if (left > 0)
			usleep(20000);
	}
	return rc;
}

int bench_run(bench_fn client, bench_fn server, const void *arg, unsigned limit_s)
{
	struct bench_end end[2] = {{.arg = arg}, {.arg = arg}};
	int sv[2];
	pid_t pid[2];
	void *go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (go == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0) {
		perror("bench");
		return 1;
	}
	fflush(stdout);
	end[0].ctl = sv[0];
	end[1].ctl = sv[1];
	end[0].go = end[1].go = go;
	pid[0] = start(client, &end[0], sv[1], 0);
	pid[1] = start(server, &end[1], sv[0], 1);
	close(sv[0]);
	close(sv[1]);
	if (pid[0] < 0 || pid[1] < 0)
		perror("bench: fork");
	int rc = reap(pid, limit_s);

	munmap(go, 4096);
	return rc;
}

/* ---- figures ------------------------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *v, unsigned n, double q)
{
	double s[BENCH_MAX_PAIRS], at = q * (n - 1);
	unsigned lo = (unsigned)at, hi = lo + 1 < n ? lo + 1 : lo;

	memcpy(s, v, n * sizeof(*v));
	qsort(s, n, sizeof(*s), by_size);
	return s[lo] + (s[hi] - s[lo]) * (at - lo);
}

double bench_median(const double *v, unsigned n)
{
	return quantile(v, n, 0.5);
}

void bench_report(const char *name, const char *unit, const struct bench_series *s)
{
	double ratio[BENCH_MAX_PAIRS], med;

	for (unsigned i = 0; i < s->n; i++)
		ratio[i] = s->value[i] / s->floor[i];
	med = bench_median(ratio, s->n);
	printf("bench %s value=%.3f unit=%s floor=%.3f ratio=%.3f spread=%.3f errors=%llu\n", name,
	        bench_median(s->value, s->n), unit, bench_median(s->floor, s->n), med,
	        (quantile(ratio, s->n, 0.75) - quantile(ratio, s->n, 0.25)) / med,
	        (unsigned long long)s->errors);
	fflush(stdout);
}
