/* SPDX-License-Identifier: BSD-2-Clause */
/* ulst: the self-test traffic generator. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/ulst.h"

enum { EXIT_OK, EXIT_ERRORS, EXIT_USAGE };

/* Signals are taken by a thread of their own: the first one ends the run, the second one the
 * program. */
struct signals {
	pthread_t thread;
	sigset_t set;
	_Atomic bool came;
};

static void *take_signals(void *arg)
{
	struct signals *s = arg;
	int sig;

	for (;;) {
		if (sigwait(&s->set, &sig))
			return NULL;
		if (atomic_exchange(&s->came, true))
			_exit(128 + sig);
	}
}

/* Before any other thread is made, so that all of them keep the signals blocked. */
static int catch_signals(struct signals *s)
{
	int rc;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_DFL); /* a shell starts background jobs with SIGINT ignored */
	sigemptyset(&s->set);
	sigaddset(&s->set, SIGINT);
	sigaddset(&s->set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &s->set, NULL);
	rc = pthread_create(&s->thread, NULL, take_signals, s);
	if (rc)
		fprintf(stderr, "ulst: no thread: %s\n", strerror(rc));
	return rc;
}

/* The thread must not outlive what it looks at. */
static void release_signals(struct signals *s)
{
	pthread_cancel(s->thread);
	pthread_join(s->thread, NULL);
}

static int run(struct ulst_args *a)
{
	struct lst_run_result *res = calloc(1, sizeof(*res));
	struct lnet_nid *nids = NULL;
	struct lnet *n = NULL;
	int rc = -1, status = EXIT_ERRORS;

	if (!res || ulst_targets(a, &nids, &a->run.ntargets)) {
		free(res);
		return EXIT_USAGE;
	}
	a->run.target = nids;
	if (ulst_node_open(a, &n))
		goto out;
	if (!a->json && isatty(STDERR_FILENO))
		a->run.progress = ulst_progress;
	rc = lst_run(n, &a->run, res);
	if (a->run.progress)
		ulst_progress_clear();
	if (rc) {
		fprintf(stderr, "ulst: %s\n", strerror(-rc));
	} else {
		ulst_print(a, res);
		status = res->errors || !res->ops ? EXIT_ERRORS : EXIT_OK;
	}
	lnet_close(n, lnet_now(n) + 2000000000ull);
	lst_run_result_fini(res);
out:
	free(nids);
	free(res);
	return status;
}

int main(int argc, char **argv)
{
	struct signals signals = {.came = false};
	struct ulst_args a;
	int rc = ulst_parse(&a, argc, argv);

	if (rc < 0)
		return EXIT_USAGE;
	if (rc == 0) {
		a.run.stop = &signals.came;
		if (catch_signals(&signals))
			return EXIT_ERRORS;
		rc = run(&a);
		release_signals(&signals);
	} else {
		rc = EXIT_OK;
	}
	if (fflush(stdout) == EOF) {
		fprintf(stderr, "ulst: standard output: %s\n", strerror(errno));
		return EXIT_ERRORS;
	}
	return rc;
}
