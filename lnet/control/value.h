/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single values: what YAML, command-line options and the control socket all check in the same way,
 * so that the verdict and its text are the same by every door. Pure functions.
 */
#ifndef LNC_VALUE_H
#define LNC_VALUE_H

#include "lnet/control/arena.h"
#include "lnet/control/err.h"
#include <lnet/lnd.h>
#include <lnet/nid.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A whole decimal number within min..max: an optional '-', digits, no leading zero, no '+', no 0x,
 * no fraction, no blanks. name and unit appear in the message. 0, or -EINVAL (not a number),
 * -ERANGE; *out is then untouched.
 */
int lnc_int_check(const char *name, const char *unit, int64_t min, int64_t max, const char *text,
        int64_t *out, struct lnc_err *err);
/* yes true on y 1 | no false off n 0, in any case. -EINVAL. */
int lnc_bool_check(const char *name, const char *text, bool *out, struct lnc_err *err);
/* As the table says: a number within its range, or with LNET_TUN_BOOL a boolean. -EPERM: read-only.
 */
int lnc_value_check(
        const struct lnet_tunable *t, const char *text, int64_t *out, struct lnc_err *err);

/* The row of that name; NULL: none. */
const struct lnet_tunable *lnc_tunable_find(
        const struct lnet_tunable *t, unsigned n, const char *name);
/* -ENOENT: no such name, with the nearest one named. */
int lnc_tunable_lookup(const struct lnet_tunable *t, unsigned n, const char *name,
        const struct lnet_tunable **out, struct lnc_err *err);

/* The four tunables of every NI: peer_timeout, peer_credits, peer_buffer_credits, credits. */
enum { LNC_PEER_TIMEOUT, LNC_PEER_CREDITS, LNC_PEER_BUFFER_CREDITS, LNC_CREDITS, LNC_NI_TUNABLES };
const struct lnet_tunable *lnc_ni_tunables(void); /* LNC_NI_TUNABLES rows */
/* buffers: tiny, small, large */
enum { LNC_BUF_TINY, LNC_BUF_SMALL, LNC_BUF_LARGE, LNC_BUFFERS };
const struct lnet_tunable *lnc_buffer_tunables(void);  /* LNC_BUFFERS rows */
const struct lnet_tunable *lnc_hop_tunable(void);      /* 1..255; -1 in YAML = unset */
const struct lnet_tunable *lnc_priority_tunable(void); /* routes and UDSP */
const struct lnet_tunable *lnc_health_tunable(void);   /* 0..1000 */

/*
 * CPT list: "[0,1]", "[0-3]", "[0-6/2]", "0,1". Canonical text ("[0,1,4-6]") goes to out, the list
 * itself to cpts (sorted, without repetition) when it is not NULL. -EINVAL: empty, reversed, stride
 * 0, above LNC_CPT_MAX; -E2BIG: the text or the canonical text is too long; -ENOMEM.
 */
#define LNC_CPT_MAX     255u
#define LNC_CPT_STR_MAX 1024u
struct lnc_cpts {
	uint64_t bit[(LNC_CPT_MAX + 1) / 64];
};
int lnc_cpts_parse(const char *text, size_t len, struct lnc_cpts *cpts, char *out, size_t size,
        struct lnc_err *err);

/* "10.0.0.0/8", "fd00::/8", or one address. No bits may be set behind the prefix. -EINVAL. */
int lnc_cidr_parse(const char *text, struct lnet_cidr *out, struct lnc_err *err);
#define LNC_CIDR_STR_MAX 56u
char *lnc_cidr_str(const struct lnet_cidr *c, char *buf, size_t size);
bool lnc_cidr_has(const struct lnet_cidr *c, const void *addr, size_t len);

int lnc_accept_parse(const char *text, enum lnet_accept *out, struct lnc_err *err);
const char *lnc_accept_str(enum lnet_accept a); /* "" for the default */
int lnc_log_level_parse(const char *text, enum lnet_log_level *out, struct lnc_err *err);
const char *lnc_log_level_str(enum lnet_log_level lv);

/*
 * An interface as a user names it: "eth0" or "eth0[0,1]". The name (1..15 bytes, no '/', no blank,
 * not "." or "..") goes to name, the canonical CPT list or "" to cpts. -EINVAL.
 */
int lnc_ifname_parse(const char *text, char name[16], char *cpts, size_t size, struct lnc_err *err);

/* The word of the list that a user most likely meant; NULL: none is near. */
const char *lnc_nearest(const char *word, const char *const *list, unsigned n);

#ifdef __cplusplus
}
#endif
#endif
