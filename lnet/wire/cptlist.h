/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPT lists "[0-3]", "[0-6/2]", "[0,1]", and lists of interfaces with CPTs "eth0[0,1],eth1[2]".
 * An empty or backward list is an error.
 */
#ifndef LNI_WIRE_CPTLIST_H
#define LNI_WIRE_CPTLIST_H

#include <lnet/nid.h>

#define LNI_CPT_MAX     256u
#define LNI_IFNAME_SIZE 16u /* with the NUL, as everywhere in Linux */

struct lni_cpts {
	uint64_t bits[LNI_CPT_MAX / 64];
};

static inline bool lni_cpts_has(const struct lni_cpts *c, unsigned cpt)
{
	return cpt < LNI_CPT_MAX && (c->bits[cpt / 64] >> cpt % 64 & 1);
}

bool lni_cpts_empty(const struct lni_cpts *c);

/* All of s is "[...]". 0, -EINVAL with *err filled in, or -ENOMEM. */
int lni_cpts_parse(const char *s, size_t len, struct lni_cpts *out, struct lnet_parse_err *err);
/* One item without brackets, "2" or "0-3" or "0-6/2", is added to *out. */
int lni_cpts_parse_item(
        const char *s, size_t len, struct lni_cpts *out, struct lnet_parse_err *err);
/* The list at s[*pos], which is the bracket; *pos moves behind it. */
int lni_cpts_parse_at(
        const char *s, size_t len, size_t *pos, struct lni_cpts *out, struct lnet_parse_err *err);
/* "[0-3,6]", as snprintf(); "" for the empty set. */
size_t lni_cpts_print(const struct lni_cpts *c, char *buf, size_t size);

struct lni_ifspec {
	char name[LNI_IFNAME_SIZE];
	size_t pos;           /* of the name in the text */
	struct lni_cpts cpts; /* empty: none were given */
};

/* name [cpts] at s[*pos]; *pos moves behind it. */
int lni_ifspec_parse_at(
        const char *s, size_t len, size_t *pos, struct lni_ifspec *out, struct lnet_parse_err *err);
/*
 * "eth0[0,1],eth1[2]". out has room for limit. 0; -EINVAL, and -E2BIG above limit, with *err filled
 * in. A name that comes twice is an error.
 */
int lni_iflist_parse(const char *s, size_t len, struct lni_ifspec *out, size_t limit, size_t *count,
        struct lnet_parse_err *err);

#endif
