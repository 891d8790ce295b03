/* SPDX-License-Identifier: BSD-2-Clause */
/* The manual page and the shell completion, made from the table of commands. */
#include "lnet/control/cmd_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text for roff: '-' and '\' escaped, no line begins with '.' or '\''. */
static void roff(FILE *f, const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", f);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", f);
		else if (*s == '-')
			fputs("\\-", f);
		else
			fputc(*s, f);
	}
}

static void man_option(FILE *f, const struct lnc_opt *o)
{
	const char *meta = lnc_arg_meta(o);

	fputs(".TP\n", f);
	if (o->letter)
		fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", f);
	roff(f, o->name);
	fputs("\\fR", f);
	if (*meta) {
		fputs(" \\fI", f);
		roff(f, meta);
		fputs("\\fR", f);
	}
	fputc('\n', f);
	if (o->flags & LNC_O_REFUSED)
		fputs("Refused: ", f);
	roff(f, o->help);
	if (o->kind == LNC_A_INT)
		fprintf(f, " (%lld..%lld)", (long long)o->min, (long long)o->max);
	fputs(".\n", f);
}

static void man_globals(FILE *f)
{
	unsigned n;
	const struct lnet_tunable *t = lnet_globals(&n);

	for (unsigned i = 0; i < n; i++) {
		if (t[i].flags & LNET_TUN_READONLY)
			continue;
		fputs(".TP\n\\fB", f);
		roff(f, t[i].name);
		fputs("\\fR\n", f);
		roff(f, t[i].help);
		fprintf(f, " (%lld..%lld%s%s, default %lld).\n", (long long)t[i].min,
		        (long long)t[i].max, *t[i].unit ? " " : "", t[i].unit, (long long)t[i].def);
	}
}

static void man_cmd(FILE *f, const struct lnc_cmd *c)
{
	char *u = lnc_usage(c);

	fputs(".SS ", f);
	roff(f, c->path);
	fputs("\n.B ", f);
	roff(f, u ? u : c->path);
	free(u);
	fputs("\n.PP\n", f);
	roff(f, c->help);
	fputs(".\n", f);
	if (c->more) {
		roff(f, c->more);
		fputc('\n', f);
	}
	for (unsigned i = 0; i < c->nopts; i++)
		man_option(f, &c->opts[i]);
	if (!strcmp(c->path, "set"))
		man_globals(f);
}

static const char man_head[] =
        ".SH NAME\nulnetctl \\- show and change a node of ulnet\n"
        ".SH SYNOPSIS\n.B ulnetctl\n[\\fB\\-\\-node\\fR \\fINAME\\fR|\\fISOCKET\\fR] "
        "[\\fB\\-\\-json\\fR] \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n"
        ".SH DESCRIPTION\n"
        "Speaks to a running node through its control socket. Words, options, keys and levels of "
        "detail "
        "are those of\n.BR lnetctl (8)\nof kernel LNet. Answers go to standard output in YAML, or "
        "in JSON "
        "with \\fB\\-\\-json\\fR; errors go to standard error as blocks with errno and "
        "descr.\n.PP\n"
        "The node is the one called ulnet unless \\fB\\-\\-node\\fR or the environment variable "
        "\\fBULNET_NODE\\fR names another one. Its socket is \\fINAME\\fR.sock in "
        "\\fB$ULNET_RUNDIR\\fR, "
        "else in /run/ulnet for root, else in \\fB$XDG_RUNTIME_DIR\\fR/ulnet; a name with a slash "
        "is the "
        "path of a socket.\n.PP\n"
        "Options may be shortened while they are unambiguous; commands may not. Numbers are "
        "decimal. "
        "NIDs may be ranges where NIDS is written, as in 10.0.0.[1\\-4,9]@tcp; host names are "
        "resolved.\n"
        ".SS Scripts\n"
        "With \\fB\\-\\fR as its only argument, or without arguments when standard input is no "
        "terminal, "
        "ulnetctl reads commands from standard input, one a line, with quotes as in a shell and "
        "comments "
        "after #. It stops at the first command that fails and exits with its status. After the "
        "line "
        "\\fBignore_errors\\fR it goes on, and exits with the status of the first failure. "
        "\\fBquit\\fR and \\fBexit\\fR end it.\n"
        ".SH COMMANDS\n";

static const char man_tail[] =
        ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nRefused or failed; standard error has the error "
        "block.\n.TP\n2\nUsage: an unknown word or option, or a value that is wrong.\n.TP\n3\n"
        "No daemon answers, or there is no permission to speak to it.\n"
        ".SH ENVIRONMENT\n.TP\n\\fBULNET_NODE\\fR\nName or socket of the node.\n.TP\n"
        "\\fBULNET_RUNDIR\\fR\nFolder of the control sockets.\n"
        ".SH SEE ALSO\n.BR ulnetd (8),\n.BR ulnet.conf (5)\n";

char *lnc_man_page(const char *version)
{
	const struct lnc_cmd *c;
	const struct lnc_opt *o;
	char *text = NULL;
	size_t len;
	unsigned n;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f,
	        ".\\\" Made by ulnetctl --man from the table of commands.\n"
	        ".TH ULNETCTL 8 \"\" \"ulnet %s\" \"ulnet\"\n",
	        version);
	fputs(man_head, f);
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++)
		if (!(c->flags & LNC_C_HIDDEN))
			man_cmd(f, c);
	fputs(".SH OPTIONS\nThese go with every command.\n", f);
	o = lnc_common_opts(&n);
	for (unsigned i = 0; i < n; i++)
		man_option(f, &o[i]);
	fputs(man_tail, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- completion ---------------------------------------------------------------------------- */

/* The words that may follow prefix (of n words, "" for none), once each. */
static void next_words(FILE *f, const char *prefix)
{
	char last[64] = "";
	size_t plen = strlen(prefix);
	const struct lnc_cmd *c;

	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		const char *p = c->path;
		if (c->flags & LNC_C_HIDDEN)
			continue;
		if (plen) {
			if (strncmp(p, prefix, plen) || p[plen] != ' ')
				continue;
			p += plen + 1;
		}
		size_t len = strcspn(p, " ");
		if (len >= sizeof(last) || (!strncmp(last, p, len) && !last[len]))
			continue;
		memcpy(last, p, len);
		last[len] = 0;
		fprintf(f, " %s", last);
	}
}

/* First words that need a second one: calls fn for each, once. */
static void each_group(FILE *f, void (*fn)(FILE *f, const char *group, bool first))
{
	const struct lnc_cmd *c;
	char group[64];
	bool first = true;

	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		size_t len = strcspn(c->path, " ");
		bool seen = false;
		if (!c->path[len] || len >= sizeof(group))
			continue;
		for (unsigned k = 0; k < i && !seen; k++) {
			const char *p = lnc_cmd_at(k)->path;
			seen = !strncmp(p, c->path, len + 1);
		}
		if (seen)
			continue;
		memcpy(group, c->path, len);
		group[len] = 0;
		fn(f, group, first);
		first = false;
	}
}

static void group_word(FILE *f, const char *group, bool first)
{
	fprintf(f, "%s%s", first ? "" : " | ", group);
}

static void groups(FILE *f)
{
	each_group(f, group_word);
}

static void group_case(FILE *f, const char *group, bool first)
{
	(void)first;
	fprintf(f, "\t'%s')\n\t\twords='", group);
	next_words(f, group);
	fputs(" --help' ;;\n", f);
}

static void completion_cases(FILE *f)
{
	const struct lnc_cmd *c;

	each_group(f, group_case);
	for (unsigned i = 0; (c = lnc_cmd_at(i)); i++) {
		if (c->flags & LNC_C_HIDDEN)
			continue;
		fprintf(f, "\t'%s')\n\t\twords='", c->path);
		for (unsigned k = 0; k < c->nopts; k++)
			if (!(c->opts[k].flags & LNC_O_REFUSED))
				fprintf(f, " --%s", c->opts[k].name);
		fputs(" --json --help'", f);
		if (!strcmp(c->path, "set")) {
			unsigned n;
			const struct lnet_tunable *t = lnet_globals(&n);
			fputs("\n\t\twords+='", f);
			for (unsigned k = 0; k < n; k++)
				if (!(t[k].flags & LNET_TUN_READONLY))
					fprintf(f, " %s", t[k].name);
			fputs(" log log_to selftest'", f);
		}
		if (c->flags & (LNC_C_INPUT | LNC_C_OUTPUT))
			fputs("\n\t\tfiles=1", f);
		fputs(" ;;\n", f);
	}
}

char *lnc_completion(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("# SPDX-License-Identifier: BSD-2-Clause\n"
	      "# bash completion for ulnetctl; made by ulnetctl --completion bash\n"
	      "_ulnetctl()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= words= files= i w skip=\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tw=${COMP_WORDS[i]}\n"
	      "\t\tif [[ $skip ]]; then skip=; continue; fi\n"
	      "\t\tcase $w in\n"
	      "\t\t--node | -N) skip=1 ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*)\n"
	      "\t\t\tcase $cmd in\n"
	      "\t\t\t'') cmd=$w ;;\n"
	      "\t\t\t",
	        f);
	groups(f);
	fputs(") cmd+=\" $w\" ;;\n"
	      "\t\t\tesac ;;\n"
	      "\t\tesac\n"
	      "\tdone\n"
	      "\tcase $cmd in\n"
	      "\t'')\n\t\twords='",
	        f);
	next_words(f, "");
	fputs(" --node --json --help --version' ;;\n", f);
	completion_cases(f);
	fputs("\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\tif [[ $files && $cur != -* ]]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n"
	      "}\n"
	      "complete -F _ulnetctl ulnetctl\n",
	        f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
