/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists in one argument: NIDs with ranges, interfaces.
 */
#ifndef LNC_NIDS_H
#define LNC_NIDS_H

#include "lnet/control/arena.h"
#include "lnet/control/err.h"
#include <lnet/nid.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is text right for LNC_A_NID, LNC_A_NIDS, LNC_A_NIDMATCH? Host names ("node17@tcp") are let
 * through where single NIDs may stand; whoever uses them has to resolve them first. -EINVAL,
 * -E2BIG.
 */
int lnc_nids_check(unsigned kind, const char *text, struct lnc_err *err);

/* The parts between commas outside brackets, copied to mem. Their number, -EINVAL (an empty part),
 * -E2BIG more than max, -ENOMEM. */
int lnc_list_split(struct lnc_arena *mem, const char *text, const char **part, unsigned max,
        struct lnc_err *err);

/* Every NID of a list, in order. Their number, or -errno. */
int lnc_nids_expand(const char *text, struct lnet_nid *out, unsigned max, struct lnc_err *err);

/* "12345-10.0.0.1@tcp": the pid, if there is one (else *pid untouched), and the rest. */
const char *lnc_pid_prefix(const char *text, uint32_t *pid);

/* "HOST@NET" and no NID: where '@' is; else NULL. */
const char *lnc_host_at(const char *text);

/* Match a list of ranges; canonical text to out. nid may be NULL. -EINVAL, -E2BIG it does not fit.
 */
#define LNC_NIDMATCH_STR_MAX 8192u
int lnc_nidmatch(const char *text, const struct lnet_nid *nid, bool *hit, char *out, size_t size,
        struct lnc_err *err);

int lnc_ifs_check(const char *text, struct lnc_err *err);

#ifdef __cplusplus
}
#endif
#endif
