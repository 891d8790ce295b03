/* SPDX-License-Identifier: BSD-2-Clause */
/* What an unquoted scalar reads as, and which texts need quotes. */
#include "lnet/control/scalar.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool word_in(const char *s, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (strlen(*words) == len && strncasecmp(s, *words, len) == 0)
			return true;
	}
	return false;
}

bool lnc_plain_json(const char *s, size_t len)
{
	size_t i = 0, start;

	if (i < len && s[i] == '-')
		i++;
	start = i;
	while (i < len && is_digit(s[i]))
		i++;
	if (i == start || (s[start] == '0' && i - start > 1))
		return false;
	if (i < len && s[i] == '.') {
		start = ++i;
		while (i < len && is_digit(s[i]))
			i++;
		if (i == start)
			return false;
	}
	if (i < len && (s[i] == 'e' || s[i] == 'E')) {
		i++;
		if (i < len && (s[i] == '+' || s[i] == '-'))
			i++;
		start = i;
		while (i < len && is_digit(s[i]))
			i++;
		if (i == start)
			return false;
	}
	return i == len;
}

/*
 * Numbers as readers of YAML 1.1 and 1.2 know them, taken broadly: anything that starts like a
 * number and has only the characters of decimal, octal, hexadecimal, sexagesimal or floating
 * numbers. An IPv4 address has three dots and is none.
 */
static bool like_number(const char *s, size_t len)
{
	size_t i = 0, dots = 0;

	if (i < len && (s[i] == '-' || s[i] == '+'))
		i++;
	if (i == len)
		return false;
	if (len - i >= 2 && s[i] == '.' && !is_digit(s[i + 1]))
		return len - i == 4 &&
		       (strncasecmp(s + i, ".inf", 4) == 0 || strncasecmp(s + i, ".nan", 4) == 0);
	if (!is_digit(s[i]) && s[i] != '.')
		return false;
	if (len - i > 2 && s[i] == '0' && strchr("xXoObB", s[i + 1]))
		return strspn(s + i + 2, "0123456789abcdefABCDEF_") >= len - i - 2;
	for (; i < len; i++) {
		if (s[i] == '.')
			dots++;
		else if (!is_digit(s[i]) && !strchr("_:eE+-", s[i]))
			return false;
	}
	return dots <= 1;
}

enum lnc_type lnc_plain_type(const char *s, size_t len)
{
	static const char *const nulls[] = {"~", "null", NULL};
	static const char *const bools[] = {"true", "false", NULL};

	if (!len || word_in(s, len, nulls))
		return LNC_NULL;
	if (word_in(s, len, bools))
		return LNC_BOOL;
	if (lnc_plain_json(s, len))
		return LNC_NUMBER;
	return LNC_STRING;
}

bool lnc_plain_safe(const char *s, size_t len)
{
	static const char *const words[] = {"y", "n", "yes", "no", "on", "off", NULL};

	if (!len)
		return false;
	if (lnc_plain_type(s, len) != LNC_STRING)
		return true;
	if (word_in(s, len, words) || like_number(s, len))
		return false;
	if (strchr(" -?,[]{}#&*!|>'\"%@`=<", s[0]) && !(s[0] == '-' && len > 1 && s[1] != ' '))
		return false;
	if (len >= 3 && (memcmp(s, "---", 3) == 0 || memcmp(s, "...", 3) == 0))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c >= 0x7f)
			return false;
		if (c == ':' && (i + 1 == len || s[i + 1] == ' '))
			return false;
		if (c == ' ' && (i + 1 == len || s[i + 1] == '#'))
			return false;
	}
	return true;
}

unsigned lnc_utf8(const char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char c = len ? (unsigned char)s[0] : 0x80;
	unsigned n = c < 0x80                ? 1
	             : c >= 0xc2 && c < 0xe0 ? 2
	             : c >= 0xe0 && c < 0xf0 ? 3
	             : c >= 0xf0 && c < 0xf5 ? 4
	                                     : 0;
	uint32_t v;

	if (!n || n > len)
		return 0;
	v = n == 1 ? c : c & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*cp = v;
	return n;
}
