/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "lnet/wire/text.h"

char *lni_out_at(const struct lni_out *o, size_t *room)
{
	*room = o->len < o->size ? o->size - o->len : 0;
	return *room ? o->buf + o->len : NULL;
}

void lni_out_add(struct lni_out *o, const char *fmt, ...)
{
	size_t room;
	char *at = lni_out_at(o, &room);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n;
}

int lni_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}
