/* SPDX-License-Identifier: BSD-2-Clause */
/* ulnetctl: show and change a node. */
#include "utils/ctl.h"
#include <lnet/lnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options before everything else, as far as they are written in full; lnc_cmd_parse() knows the
 * rest. */
static int front(struct ctl *c, int argc, char **argv)
{
	int i = 1;

	for (; i < argc; i++) {
		const char *w = argv[i];
		if (!strcmp(w, "--json") || !strcmp(w, "-j")) {
			c->json = true;
		} else if (!strncmp(w, "--node=", 7) && w[7]) {
			c->node = w + 7;
		} else if ((!strcmp(w, "--node") || !strcmp(w, "-N")) && i + 1 < argc &&
		           *argv[i + 1]) {
			c->node = argv[++i];
		} else {
			break;
		}
	}
	return i;
}

static int print_made(char *text)
{
	bool ok = text && ctl_print(text);

	free(text);
	return ok ? LNC_EXIT_OK : LNC_EXIT_FAILED;
}

/* Words that print something made from the table. -1: it is none of them. */
static int texts(int argc, char **argv)
{
	char line[64];

	if (!strcmp(argv[0], "--man") && argc == 1)
		return print_made(lnc_man_page(lnet_version()));
	if (!strcmp(argv[0], "--list-commands") && argc == 1)
		return print_made(lnc_help_index());
	if (!strcmp(argv[0], "--version") && argc == 1) {
		snprintf(line, sizeof(line), "ulnetctl %s\n", lnet_version());
		return ctl_print(line) ? LNC_EXIT_OK : LNC_EXIT_FAILED;
	}
	if (strcmp(argv[0], "--completion"))
		return -1;
	if (argc == 2 && !strcmp(argv[1], "bash"))
		return print_made(lnc_completion());
	fprintf(stderr, "ulnetctl: --completion: '%s' is not known; it is made for bash\n",
	        argc > 1 ? argv[1] : "");
	return LNC_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct ctl c = {.node = getenv("ULNET_NODE")};
	int i = front(&c, argc, argv), rc;

	if (c.node && !*c.node)
		c.node = NULL;
	if (i == argc && isatty(STDIN_FILENO)) {
		char *text = lnc_help_all();
		fputs(text ? text : "", stderr);
		free(text);
		return LNC_EXIT_USAGE;
	}
	if (i == argc || (i + 1 == argc && !strcmp(argv[i], "-")))
		return ctl_script(&c, stdin);
	rc = texts(argc - i, argv + i);
	return rc >= 0 ? rc : ctl_command(&c, argc - i, (const char *const *)(argv + i));
}
