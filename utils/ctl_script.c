/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands from a stream. */
#include "utils/ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 1100u

/* Words that are no commands of a node. 1: taken; 2: end. */
static int builtin(const char *const *w, int n, bool *ignore)
{
	if (n != 1)
		return 0;
	if (!strcmp(w[0], "ignore_errors") || !strcmp(w[0], "--ignore_errors")) {
		*ignore = true;
		return 1;
	}
	return !strcmp(w[0], "quit") || !strcmp(w[0], "exit") ? 2 : 0;
}

static int one_line(const struct ctl *c, char *line, unsigned number, bool *ignore, bool *end)
{
	const char *words[WORDS_MAX];
	struct lnc_arena mem;
	struct lnc_err err;
	int n, status = 0;

	lnc_arena_init(&mem, 1u << 20);
	n = lnc_line_split(&mem, line, words, WORDS_MAX, &err);
	if (n < 0) {
		fprintf(stderr, "ulnetctl: line %u: %s\n", number, err.msg);
		status = LNC_EXIT_USAGE;
	} else if (n) {
		int own = builtin(words, n, ignore);
		*end = own == 2;
		if (!own)
			status = ctl_command(c, n, words);
		if (status)
			fprintf(stderr, "ulnetctl: line %u failed\n", number);
	}
	lnc_arena_free(&mem);
	return status;
}

int ctl_script(const struct ctl *c, FILE *in)
{
	bool ignore = false, end = false;
	unsigned number = 0;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int first = 0;

	errno = 0;
	while (!end && (len = getline(&line, &cap, in)) >= 0) {
		int status;
		number++;
		if (strlen(line) != (size_t)len) {
			fprintf(stderr, "ulnetctl: line %u: a NUL byte\n", number);
			status = LNC_EXIT_USAGE;
		} else {
			status = one_line(c, line, number, &ignore, &end);
		}
		if (status && !first)
			first = status;
		if (status && !ignore)
			break;
	}
	if (ferror(in)) {
		fprintf(stderr, "ulnetctl: standard input: %s\n", strerror(errno));
		first = first ? first : LNC_EXIT_FAILED;
	}
	free(line);
	return first;
}
