/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts for people, made from the table of commands: --help, list-commands, usage. */
#include "lnet/control/cmd_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lnc_arg_meta(const struct lnc_opt *o)
{
	static const char *const words[] = {[LNC_A_FLAG] = "",
	        [LNC_A_LEVEL] = "[LEVEL]",
	        [LNC_A_INT] = "N",
	        [LNC_A_TEXT] = "TEXT",
	        [LNC_A_NET] = "NET",
	        [LNC_A_NID] = "NID",
	        [LNC_A_NIDS] = "NIDS",
	        [LNC_A_NIDMATCH] = "LIST",
	        [LNC_A_IFS] = "IF,...",
	        [LNC_A_CPTS] = "[N,...]",
	        [LNC_A_FILE] = "FILE"};

	return o->meta ? o->meta : words[o->kind];
}

/* A text in memory that can only grow; f is NULL when there is no memory. */
struct buf {
	FILE *f;
	char *text;
	size_t len;
};

static bool buf_open(struct buf *b)
{
	b->text = NULL;
	b->f = open_memstream(&b->text, &b->len);
	return b->f != NULL;
}

static char *buf_close(struct buf *b)
{
	bool bad = ferror(b->f);

	if (fclose(b->f) || bad) {
		free(b->text);
		return NULL;
	}
	return b->text;
}

static void usage(FILE *f, const struct lnc_cmd *c)
{
	fprintf(f, "ulnetctl %s", c->path);
	for (unsigned i = 0; i < c->nopts; i++) {
		const struct lnc_opt *o = &c->opts[i];
		const char *meta = lnc_arg_meta(o);
		if (o->flags & LNC_O_REFUSED)
			continue;
		bool need = o->flags & LNC_O_REQUIRED;
		fprintf(f, " %s--%s%s%s%s", need ? "" : "[", o->name, *meta ? " " : "", meta,
		        need ? "" : "]");
	}
	if (c->arg)
		fprintf(f, " %s%s", c->arg, c->arg_max > 2 ? "..." : "");
}

char *lnc_usage(const struct lnc_cmd *c)
{
	struct buf b;

	if (!buf_open(&b))
		return NULL;
	usage(b.f, c);
	return buf_close(&b);
}

static void range(FILE *f, const struct lnc_opt *o)
{
	if (o->kind == LNC_A_INT)
		fprintf(f, " (%lld..%lld)", (long long)o->min, (long long)o->max);
}

static void option(FILE *f, const struct lnc_opt *o)
{
	char left[64];
	const char *meta = lnc_arg_meta(o);
	char letter[8] = "    ";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, *meta ? " " : "", meta);
	fprintf(f, "  %-34s %s%s", left, o->flags & LNC_O_REFUSED ? "refused: " : "", o->help);
	range(f, o);
	fputc('\n', f);
}

/* `set` has its words in another table. */
static void set_names(FILE *f)
{
	unsigned n;
	const struct lnet_tunable *t = lnet_globals(&n);

	fputs("\nNames\n", f);
	for (unsigned i = 0; i < n; i++)
		if (!(t[i].flags & LNET_TUN_READONLY))
			fprintf(f, "  %-28s %s (%lld..%lld%s%s, default %lld)\n", t[i].name,
			        t[i].help, (long long)t[i].min, (long long)t[i].max,
			        *t[i].unit ? " " : "", t[i].unit, (long long)t[i].def);
	fputs("  log                          what is logged (err, warn, info, debug, trace)\n"
	      "  log_to                       where (stderr, syslog, or a path)\n"
	      "  selftest                     the self-test responder (true, false)\n",
	        f);
}

static void common(FILE *f)
{
	unsigned n;
	const struct lnc_opt *o = lnc_common_opts(&n);

	fputs("\nWith every command\n", f);
	for (unsigned i = 0; i < n; i++)
		option(f, &o[i]);
}

char *lnc_help_cmd(const struct lnc_cmd *c)
{
	struct buf b;

	if (!buf_open(&b))
		return NULL;
	fputs("usage: ", b.f);
	usage(b.f, c);
	fprintf(b.f, "\n\n%s: %s.\n", c->path, c->help);
	if (c->more)
		fprintf(b.f, "%s\n", c->more);
	if (c->nopts)
		fputs("\nOptions\n", b.f);
	for (unsigned i = 0; i < c->nopts; i++)
		option(b.f, &c->opts[i]);
	if (!strcmp(c->path, "set"))
		set_names(b.f);
	common(b.f);
	return buf_close(&b);
}

static void index_line(FILE *f, const struct lnc_cmd *c)
{
	fprintf(f, "  %-20s %s\n", c->path, c->help);
}

char *lnc_help_index(void)
{
	const struct lnc_cmd *c;
	struct buf b;

	if (!buf_open(&b))
		return NULL;
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++)
		if (!(c->flags & LNC_C_HIDDEN))
			fprintf(b.f, "%s\n", c->path);
	return buf_close(&b);
}

char *lnc_help_group(const char *prefix)
{
	size_t len = strlen(prefix);
	const struct lnc_cmd *c;
	unsigned n = 0;
	struct buf b;

	if (!buf_open(&b))
		return NULL;
	fprintf(b.f, "usage: ulnetctl %s COMMAND [OPTIONS]\n\nCommands\n", prefix);
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		if (strncmp(c->path, prefix, len) || c->path[len] != ' ')
			continue;
		index_line(b.f, c);
		n++;
	}
	fprintf(b.f, "\n'ulnetctl %s COMMAND --help' has the options.\n", prefix);
	char *text = buf_close(&b);
	if (!n) {
		free(text);
		return NULL;
	}
	return text;
}

char *lnc_help_all(void)
{
	const struct lnc_cmd *c;
	struct buf b;

	if (!buf_open(&b))
		return NULL;
	fputs("usage: ulnetctl [--node NAME|SOCKET] [--json] COMMAND [OPTIONS] [ARGUMENTS]\n"
	      "       ulnetctl [--node NAME|SOCKET] [--json] -     commands from standard input\n"
	      "       ulnetctl --man | --completion bash | --version\n\nCommands\n",
	        b.f);
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++)
		if (!(c->flags & LNC_C_HIDDEN))
			index_line(b.f, c);
	common(b.f);
	fputs("\n'ulnetctl COMMAND --help' has the options of a command.\n"
	      "Exit status: 0 done; 1 refused or failed; 2 usage; 3 no daemon, or no permission.\n",
	        b.f);
	return buf_close(&b);
}
