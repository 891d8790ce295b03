/* SPDX-License-Identifier: BSD-2-Clause */
/* Text built in a buffer of the caller's: always terminated, cut when it does not fit. */
#ifndef LNI_BASE_STR_H
#define LNI_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct lni_strbuf {
	char *buf;
	size_t cap; /* the terminator included */
	size_t len;
	bool cut; /* something did not fit */
};

/* cap >= 1. */
static inline void lni_str_init(struct lni_strbuf *s, char *buf, size_t cap)
{
	*s = (struct lni_strbuf){.buf = buf, .cap = cap};
	buf[0] = '\0';
}

static inline void lni_str_addn(struct lni_strbuf *s, const char *text, size_t n)
{
	size_t room = s->cap - 1 - s->len;

	if (n > room) {
		n = room;
		s->cut = true;
	}
	memcpy(s->buf + s->len, text, n);
	s->len += n;
	s->buf[s->len] = '\0';
}

static inline void lni_str_add(struct lni_strbuf *s, const char *text)
{
	lni_str_addn(s, text, strlen(text));
}

static inline void lni_str_addc(struct lni_strbuf *s, char c)
{
	lni_str_addn(s, &c, 1);
}

__attribute__((format(printf, 2, 0))) static inline void lni_str_vaddf(
        struct lni_strbuf *s, const char *fmt, va_list ap)
{
	size_t room = s->cap - s->len;
	int n = vsnprintf(s->buf + s->len, room, fmt, ap);

	if (n < 0) {
		s->buf[s->len] = '\0';
		s->cut = true;
	} else if ((size_t)n >= room) {
		s->len = s->cap - 1;
		s->cut = true;
	} else {
		s->len += (size_t)n;
	}
}

__attribute__((format(printf, 2, 3))) static inline void lni_str_addf(
        struct lni_strbuf *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	lni_str_vaddf(s, fmt, ap);
	va_end(ap);
}

#endif
