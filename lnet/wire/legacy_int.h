/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parsers of the legacy strings alone. */
#ifndef LNI_WIRE_LEGACY_INT_H
#define LNI_WIRE_LEGACY_INT_H

#include "lnet/wire/legacy.h"

/* 0 or -ENOMEM */
int lni_notice_add(struct lni_notices *list, size_t pos, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void lni_notices_free(struct lni_notices *list);

void lni_skip_blanks(const char *s, size_t len, size_t *pos);

/*
 * The next statement at or behind *pos: s[*start..*end), without blanks around it; *pos moves
 * behind it. 1, 0 at the end of the text, or -ENOMEM.
 */
int lni_statement_next(const char *s, size_t len, size_t *pos, size_t *start, size_t *end,
        struct lni_notices *notices);

/*
 * net {',' net} at s[*pos] is added to nets. *pos ends at the first byte that is none of it. 0,
 * -EINVAL or -ENOMEM.
 */
int lni_legacy_netlist_at(const char *s, size_t len, size_t *pos, struct lni_legacy_nets *nets,
        struct lni_notices *notices, struct lnet_parse_err *err);

#endif
