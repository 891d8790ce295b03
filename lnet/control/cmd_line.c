/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of one line of a script. */
#include "lnet/control/cmd.h"

#include <errno.h>
#include <string.h>

struct word {
	char *buf;
	size_t len;
	bool open; /* a word has begun, perhaps an empty one in quotes */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* What stands in quotes, from the opening one. Returns the bytes used, 0 = the quote is not closed.
 */
static size_t quoted(const char *s, struct word *w)
{
	char q = *s;
	size_t i = 1;

	for (; s[i] && s[i] != q; i++) {
		if (q == '"' && s[i] == '\\' && (s[i + 1] == '"' || s[i + 1] == '\\'))
			i++;
		w->buf[w->len++] = s[i];
	}
	return s[i] ? i + 1 : 0;
}

static int end_word(struct lnc_arena *mem, struct word *w, const char **words, unsigned max,
        unsigned *n, struct lnc_err *err)
{
	if (!w->open)
		return 0;
	if (*n == max)
		return lnc_err_set(err, -EINVAL, "more than %u words in one line", max);
	words[*n] = lnc_arena_strndup(mem, w->buf, w->len);
	if (!words[*n])
		return lnc_err_set(err, -ENOMEM, "no memory");
	++*n;
	w->len = 0;
	w->open = false;
	return 0;
}

int lnc_line_split(struct lnc_arena *mem, const char *line, const char **words, unsigned max,
        struct lnc_err *err)
{
	size_t len = strlen(line);
	struct word w = {0};
	unsigned n = 0;
	int rc = 0;

	if (len > LNC_LINE_MAX)
		return lnc_err_set(err, -EINVAL, "the line has %zu bytes, at most %u are allowed",
		        len, LNC_LINE_MAX);
	w.buf = lnc_arena_alloc(mem, len + 1);
	if (!w.buf)
		return lnc_err_set(err, -ENOMEM, "no memory");
	for (size_t i = 0; !rc && i < len;) {
		char c = line[i];
		if (blank(c)) {
			rc = end_word(mem, &w, words, max, &n, err);
			i++;
		} else if (c == '#' && !w.open) {
			break;
		} else if (c == '\'' || c == '"') {
			size_t used = quoted(line + i, &w);
			if (!used)
				return lnc_err_set(err, -EINVAL,
				        "the quote at column %zu is not closed", i + 1);
			w.open = true;
			i += used;
		} else {
			if (c == '\\' && !line[++i])
				return lnc_err_set(err, -EINVAL, "nothing follows the backslash");
			w.buf[w.len++] = line[i++];
			w.open = true;
		}
	}
	if (!rc)
		rc = end_word(mem, &w, words, max, &n, err);
	return rc ? rc : (int)n;
}
