/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors of the configuration: where, which key, what is wrong, which limit.
 *
 * An error list keeps every error of one input, so that all of them can be shown at once. A notice
 * is something the user should know about an input that was accepted.
 */
#ifndef LNC_ERR_H
#define LNC_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LNC_PATH_MAX 192u /* bytes of a key path; a longer one ends in "..." */
#define LNC_MSG_MAX  400u
#define LNC_ERRS_MAX 100u /* kept in a list; the rest is counted */

struct lnc_err {
	int code; /* negative errno */
	bool notice;
	uint32_t line, column;   /* from 1; 0 = not known (a command line, say) */
	char path[LNC_PATH_MAX]; /* "net[0].local NI(s)[1].lnd tunables.port"; "" = none */
	char msg[LNC_MSG_MAX];
};

struct lnc_errs {
	const char *file; /* shown before the line; the caller's memory; may be NULL */
	struct lnc_err *v;
	unsigned n, cap;
	unsigned errors, notices; /* all, also those that were not kept */
	bool nomem;               /* an entry could not be kept */
};

void lnc_errs_init(struct lnc_errs *e, const char *file);
void lnc_errs_free(struct lnc_errs *e);

struct lnc_node;
/*
 * Add an error (or, with code 0, a notice) at a node: position and path are the node's; node may be
 * NULL. Text that a user gave is printed with its control characters replaced. e may be NULL.
 * Returns code, so that `return lnc_errs_add(...)` is one line.
 */
int lnc_errs_add(struct lnc_errs *e, const struct lnc_node *at, int code, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* The same at a position without a node. */
int lnc_errs_at(struct lnc_errs *e, uint32_t line, uint32_t column, int code, const char *fmt, ...)
        __attribute__((format(printf, 5, 6)));
/* The same at the key of a mapping's entry rather than its value (unknown keys). */
int lnc_errs_key(struct lnc_errs *e, const struct lnc_node *at, int code, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* Fill in one error without a position. err may be NULL. Returns code. */
int lnc_err_set(struct lnc_err *err, int code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* The worst code: 0 when there are only notices, -ENOMEM before others, else the first error's. */
int lnc_errs_code(const struct lnc_errs *e);

/* "FILE:LINE:COLUMN: PATH: MESSAGE", without the parts that are not known. Returns buf. */
char *lnc_err_str(const struct lnc_errs *e, const struct lnc_err *err, char *buf, size_t size);
/* All kept entries, a line each, and "N more errors" if there are; malloc()ed, NULL = no memory. */
char *lnc_errs_text(const struct lnc_errs *e);

#ifdef __cplusplus
}
#endif
#endif
