/* SPDX-License-Identifier: BSD-2-Clause */
/* Filling in struct lnet_parse_err, and the number reader that every text grammar shares. */
#ifndef LNI_WIRE_PERR_H
#define LNI_WIRE_PERR_H

#include <stdarg.h>
#include <lnet/nid.h>

/* Both return -EINVAL, so that a parser can end with them. err may be NULL. */
int lni_perr(struct lnet_parse_err *err, size_t pos, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
/* "WHAT, found 'c'" or "WHAT, found the end" for the byte at pos of s. Control bytes are escaped.
 */
int lni_perr_found(
        struct lnet_parse_err *err, const char *s, size_t len, size_t pos, const char *what);

/*
 * An unsigned decimal number at s[*pos]: no sign, no blank, no leading zero, at most max. *pos
 * moves behind it. what names the number in the error ("net number").
 */
int lni_parse_dec(const char *s, size_t len, size_t *pos, uint32_t max, const char *what,
        uint32_t *out, struct lnet_parse_err *err);

static inline bool is_dec(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

#endif
