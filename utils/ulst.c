/* SPDX-License-Identifier: BSD-2-Clause */
/* ulst: the self-test traffic generator. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/ulst.h"

enum { EXIT_OK, EXIT_ERRORS, EXIT_USAGE };

/* A signal handler has nothing else to write to. */
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	if (interrupted)
		_exit(128 + SIGINT);
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
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
	a->run.stop = &interrupted;
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
	struct ulst_args a;
	int rc = ulst_parse(&a, argc, argv);

	if (rc < 0)
		return EXIT_USAGE;
	if (rc == 0) {
		catch_signals();
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
