/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of a script: split, parsed, and what was accepted is encoded and decoded again. */
#include "lnet/control/cmd.h"
#include "lnet/control/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void again(const struct lnc_req *a)
{
	struct lnc_err err;
	struct lnc_req b;
	unsigned nargs = a->cmd->arg_kind == LNC_A_FILE ? 0 : a->nargs; /* files stay here */
	size_t len;
	char *text = lnc_req_encode(a, &len);

	if (!text)
		return;
	lnc_req_init(&b);
	if (!(a->cmd->flags & LNC_C_LOCAL)) {
		if (lnc_req_decode(&b, text, len, &err) || b.cmd != a->cmd || b.nargs != nargs)
			abort();
		for (unsigned i = 0; i < nargs; i++)
			if (strcmp(a->arg[i], b.arg[i]))
				abort();
	}
	lnc_req_free(&b);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *words[256];
	struct lnc_arena mem;
	struct lnc_err err = {.msg = ""};
	struct lnc_req r;
	char *line = malloc(size + 1);
	int n, known;

	if (!line)
		return 0;
	memcpy(line, data, size);
	line[size] = 0;
	lnc_arena_init(&mem, 0);
	n = lnc_line_split(&mem, line, words, 256, &err);
	if (n > 0) {
		lnc_req_init(&r);
		if (lnc_cmd_parse(&r, n, words, &known, &err)) {
			if (!err.msg[0])
				abort();
		} else if (r.cmd && !r.help) {
			again(&r);
		}
		lnc_req_free(&r);
	}
	lnc_arena_free(&mem);
	free(line);
	return 0;
}
