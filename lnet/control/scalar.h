/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of scalars: what an unquoted one reads as, and whether a text may stand without quotes.
 * Used by the document's files alone.
 */
#ifndef LNC_SCALAR_H
#define LNC_SCALAR_H

#include "lnet/control/doc.h"

/* What s means without quotes. */
enum lnc_type lnc_plain_type(const char *s, size_t len);
/* A number that JSON can take as it stands. */
bool lnc_plain_json(const char *s, size_t len);
/* May s be written without quotes, as a key or a value, so that any YAML reader gives s back? A
 * text for which lnc_plain_type() is not LNC_STRING is then that type. */
bool lnc_plain_safe(const char *s, size_t len);
/* Bytes of the UTF-8 sequence at s (1..4), 0 = invalid; *cp the code point. */
unsigned lnc_utf8(const char *s, size_t len, uint32_t *cp);

#endif
