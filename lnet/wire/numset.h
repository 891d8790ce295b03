/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of numbers as every grammar writes them: 7, [1,4-6], [1-10/4], and * where it is allowed.
 *
 *   set  := number | '[' item {',' item} ']' | '*'
 *   item := number | number '-' number | number '-' number '/' step
 *
 * A step need not land on the end: [1-10/4] is 1, 5, 9. Numbers are decimal without leading zeros
 * unless the caller asks for hexadecimal (the last group of an IPv6 address).
 */
#ifndef LNI_WIRE_NUMSET_H
#define LNI_WIRE_NUMSET_H

#include <lnet/nid.h>

#define LNI_NUMSET_MAX_ITEMS 256u

/* lo, lo + step, ..., hi; hi is always met; step is 1 when lo == hi */
struct lni_span {
	uint32_t lo, hi, step;
};

struct lni_numset {
	uint32_t n; /* spans; 0: nothing parsed yet */
	bool star;  /* written as '*' */
	struct lni_span first;
	struct lni_span *rest; /* the other n - 1 */
};

struct lni_num_rule {
	uint32_t max;     /* of a number; the least is 0 */
	const char *what; /* how errors name a number */
	bool hex;
	bool star; /* '*' is allowed: 0 to max */
};

/* One item at s[*pos]. 0 or -EINVAL with *err filled in. */
int lni_span_parse_at(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        struct lni_span *out, struct lnet_parse_err *err);

/*
 * One set at s[*pos]; *pos moves behind it. 0, -EINVAL with *err filled in, or -ENOMEM. On success
 * the caller ends the set with lni_numset_fini().
 */
int lni_numset_parse_at(const char *s, size_t len, size_t *pos, const struct lni_num_rule *rule,
        struct lni_numset *out, struct lnet_parse_err *err);
void lni_numset_init_one(struct lni_numset *set, uint32_t value);
void lni_numset_fini(struct lni_numset *set);

const struct lni_span *lni_numset_span(const struct lni_numset *set, uint32_t i);
bool lni_numset_has(const struct lni_numset *set, uint32_t value);

/* Walk the members in the order written, each once. false from f ends the walk, and is returned. */
bool lni_numset_each(const struct lni_numset *set, bool (*f)(void *arg, uint32_t value), void *arg);

/* As snprintf(): returns the length of the whole text, which parses to an equal set. */
size_t lni_numset_print(const struct lni_numset *set, bool hex, char *buf, size_t size);

#endif
