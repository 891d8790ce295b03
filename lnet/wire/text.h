/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that may be longer than its buffer: the length counts on, as that of snprintf(). */
#ifndef LNI_WIRE_TEXT_H
#define LNI_WIRE_TEXT_H

#include <stddef.h>

struct lni_out {
	char *buf; /* may be NULL when size is 0 */
	size_t size;
	size_t len; /* of the whole text */
};

void lni_out_add(struct lni_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Where the next piece goes, for a printer with (buf, size) and a length in return. */
char *lni_out_at(const struct lni_out *o, size_t *room);

/* 0 to 15, or -1 if c is no hexadecimal digit. */
int lni_hex_value(char c);

#endif
