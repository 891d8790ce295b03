/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes over the control socket: one document each way.
 *
 * Request                                  Answer
 *   ulnet: 1          (version)              ulnet: 1
 *   command: net add                         exit: 0            (exit status, as in cmd.h)
 *   options:                                 result: {...}      what is printed
 *     net: tcp                               style: {net: 1}    shape of each key of the result
 *   args: [...]                              text: "..."        instead of a result: plain text
 *   input: "..."      (a file sent along)    errors: {add: [{net: ..., errno: -17, descr: "..."}]}
 *
 * The sender closes its half behind the document.
 */
#ifndef LNC_REQUEST_H
#define LNC_REQUEST_H

#include "lnet/control/cmd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LNC_PROTOCOL 1

/* malloc()ed text, NULL = no memory */
char *lnc_req_encode(const struct lnc_req *r, size_t *len);
/* 0; -EINVAL the document is no request, or the request is wrong: err says. r is initialised by the
 * caller and freed by the caller in any case. */
int lnc_req_decode(struct lnc_req *r, const char *text, size_t len, struct lnc_err *err);

char *lnc_answer_encode(struct lnc_ctx *x, size_t *len);

struct lnc_answer {
	struct lnc_doc *doc;
	int exit;
	struct lnc_node *result, *errors; /* or NULL */
	const char *text;                 /* or NULL */
};
/* -EPROTO: no answer of a daemon. Free with lnc_answer_free(). */
int lnc_answer_decode(struct lnc_answer *a, const char *text, size_t len, struct lnc_err *err);
void lnc_answer_free(struct lnc_answer *a);

/* The text to print for a mapping of an answer; malloc()ed. */
char *lnc_answer_text(const struct lnc_node *map, bool json, size_t *len);

#ifdef __cplusplus
}
#endif
#endif
