/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of ulst share. */
#ifndef ULST_H
#define ULST_H

#include <lnet/lnet.h>
#include <stdbool.h>

#include "selftest/run.h"

struct ulst_args {
	const char *to;     /* list of NIDs with ranges */
	const char *node;   /* daemon whose networks we use as a client */
	const char *config; /* or a configuration of our own */
	int64_t port;       /* of the net, without either; 0 = the driver's default */
	bool json;
	struct lst_run_conf run;
};

/* 0 go on; 1 done (--help, --version); -1 usage, after a message. */
int ulst_parse(struct ulst_args *a, int argc, char **argv);
/* The node and the targets. 0, or -1 after a message. */
int ulst_node_open(const struct ulst_args *a, struct lnet **n);
int ulst_targets(const struct ulst_args *a, struct lnet_nid **nids, unsigned *count);

void ulst_print(const struct ulst_args *a, const struct lst_run_result *r);
void ulst_progress(void *arg, const struct lst_progress *p);
void ulst_progress_clear(void);

#endif
