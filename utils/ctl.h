/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of ulnetctl share. */
#ifndef ULNETCTL_H
#define ULNETCTL_H

#include "lnet/control/cmd.h"
#include "lnet/control/request.h"

#include <stdio.h>

struct ctl {
	const char *node; /* name or socket; NULL = "ulnet" */
	bool json;
};

/* A command line without the program's name. Prints, and returns the exit status. */
int ctl_command(const struct ctl *c, int argc, const char *const *argv);
/* Commands from a stream, one a line. Returns the exit status. */
int ctl_script(const struct ctl *c, FILE *in);

/*
 * Send a request to the node and wait for its answer. 0, or a negative errno with err. -ENOENT,
 * -ECONNREFUSED, -EACCES ...: there is no daemon, or no permission.
 */
int ctl_ask(const char *node, const struct lnc_req *r, struct lnc_answer *a, struct lnc_err *err);

/* Host names in the request become NIDs. 0, or the exit status after a message. */
int ctl_resolve(const struct ctl *c, struct lnc_req *r);

/* Write to standard output; false (and a message) when it cannot be written. */
bool ctl_print(const char *text);

#endif
