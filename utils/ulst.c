/* SPDX-License-Identifier: BSD-2-Clause */
/* ulst: the self-test traffic generator. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/ulst.h"

enum { EXIT_OK, EXIT_ERRORS, EXIT_USAGE };

/* What the run looks at between operations: the signals are blocked, and asked for here. */
struct watch {
	volatile sig_atomic_t stop;
	bool show;
	sigset_t signals;
};

static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	/* before any thread starts: they inherit it */
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void look(void *arg, const struct lst_progress *p)
{
	const struct timespec now = {0};
	struct watch *w = arg;

	while (sigtimedwait(&w->signals, NULL, &now) > 0) {
		if (w->stop)
			_exit(128 + SIGINT); /* asked twice */
		w->stop = 1;
	}
	if (w->show)
		ulst_progress(NULL, p);
}

static int run(struct ulst_args *a)
{
	struct lst_run_result *res = calloc(1, sizeof(*res));
	struct lnet_nid *nids = NULL;
	struct lnet *n = NULL;
	struct watch w = {0};
	int rc = -1, status = EXIT_ERRORS;

	block_signals(&w.signals);
	if (!res || ulst_targets(a, &nids, &a->run.ntargets)) {
		free(res);
		return EXIT_USAGE;
	}
	a->run.target = nids;
	if (ulst_node_open(a, &n))
		goto out;
	w.show = !a->json && isatty(STDERR_FILENO);
	a->run.stop = &w.stop;
	a->run.progress = look;
	a->run.arg = &w;
	rc = lst_run(n, &a->run, res);
	if (w.show)
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
	struct ulst_args a;
	int rc = ulst_parse(&a, argc, argv);

	if (rc < 0)
		return EXIT_USAGE;
	if (rc == 0) {
		rc = run(&a);
	} else {
		rc = EXIT_OK;
	}
	if (fflush(stdout) == EOF) {
		fprintf(stderr, "ulst: standard output: %s\n", strerror(errno));
		return EXIT_ERRORS;
	}
	return rc;
}
