/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands. One table says which words, options and arguments there are; the parser of
 * ulnetctl, the check of a request in the daemon, --help, the manual page and the shell completion
 * all come from it, so that they cannot disagree.
 *
 * A command line becomes a struct lnc_req (lnc_cmd_parse), the request becomes a document and back
 * (request.h), and lnc_cmd_run() carries it out on a node.
 *
 * Exit statuses: 0 done; 1 refused or failed; 2 usage; 3 no daemon, or no permission to speak to
 * it.
 */
#ifndef LNC_CMD_H
#define LNC_CMD_H

#include "lnet/control/doc.h"
#include "lnet/control/err.h"
#include <lnet/lnet.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LNC_EXIT_OK, LNC_EXIT_FAILED, LNC_EXIT_USAGE, LNC_EXIT_NO_DAEMON };

/* What a value must be. */
enum lnc_arg {
	LNC_A_FLAG,     /* no value */
	LNC_A_LEVEL,    /* an optional number; alone it is 1 */
	LNC_A_INT,      /* min..max */
	LNC_A_TEXT,     /* 1..max bytes */
	LNC_A_NET,      /* one network */
	LNC_A_NID,      /* one NID; ulnetctl resolves a host name before it sends the request */
	LNC_A_NIDS,     /* NIDs and ranges, separated by commas */
	LNC_A_NIDMATCH, /* what a rule matches: ranges and '*', separated by blanks */
	LNC_A_IFS,      /* interfaces, each with an optional CPT list, separated by commas */
	LNC_A_CPTS,     /* a CPT list */
	LNC_A_FILE,     /* a path on the caller's side */
};

enum {
	LNC_O_REQUIRED = 1u,
	LNC_O_REFUSED = 2u, /* LNet has it, we do not: `help` says why */
};

struct lnc_opt {
	const char *name; /* without "--" */
	char letter;      /* 0 = none */
	uint8_t kind;     /* enum lnc_arg */
	uint8_t flags;    /* LNC_O_* */
	int64_t min, max; /* LNC_A_INT, LNC_A_LEVEL, LNC_A_TEXT */
	const char *meta; /* word for the value in texts; NULL = by kind */
	const char *help;
};

enum {
	LNC_C_READ = 1u,    /* changes nothing */
	LNC_C_LOCAL = 2u,   /* runs in ulnetctl, no daemon needed */
	LNC_C_INPUT = 4u,   /* a file, or standard input, is sent along: the last argument */
	LNC_C_OUTPUT = 8u,  /* the last argument is a file for the answer */
	LNC_C_HIDDEN = 16u, /* accepted, but not in the index of commands */
	LNC_C_MAYBE = 32u,  /* the daemon adds to it when there is one */
	LNC_C_NAMED = 64u,  /* with LNC_C_INPUT: a file when one is named, never standard input */
};

struct lnc_req;
struct lnc_ctx;

struct lnc_cmd {
	const char *path; /* "net add" */
	const char *help; /* one line */
	const char *more; /* a paragraph for the manual; may be NULL */
	uint32_t flags;
	const struct lnc_opt *opts;
	unsigned nopts;
	/* positional arguments: all of one kind */
	const char *arg; /* word for it; NULL = there is none */
	uint8_t arg_kind;
	unsigned arg_min, arg_max;
	/* What one value cannot show: options that exclude or need one another. Pure. */
	int (*check)(const struct lnc_req *r, struct lnc_err *err);
	/* 0, or a negative errno after lnc_fail(). */
	int (*run)(struct lnc_ctx *x, const struct lnc_req *r);
};

const struct lnc_cmd *lnc_cmd_at(unsigned i); /* in the order of the index; NULL behind the last */
const struct lnc_cmd *lnc_cmd_find(const char *path);

/* ---- requests ------------------------------------------------------------------------------ */

struct lnc_val {
	bool given;
	const char *text; /* as given */
	int64_t num;      /* LNC_A_INT, LNC_A_LEVEL */
};

#define LNC_ARGS_MAX 1024u

struct lnc_req {
	struct lnc_arena mem;
	const struct lnc_cmd *cmd;
	struct lnc_val *val; /* cmd->nopts */
	const char **arg;
	unsigned nargs;
	const char *input; /* LNC_C_INPUT: the text; NULL = none yet */
	size_t input_len;
	/* common to all commands */
	bool json, help;
	const char *node; /* --node, or NULL */
};

void lnc_req_init(struct lnc_req *r);
void lnc_req_free(struct lnc_req *r);
/* An option's value; NULL when the option was not given. */
const struct lnc_val *lnc_req_val(const struct lnc_req *r, const char *name);
const char *lnc_req_text(const struct lnc_req *r, const char *name); /* NULL: not given */
bool lnc_req_flag(const struct lnc_req *r, const char *name);
/* -v: 0 when it was not given */
unsigned lnc_req_level(const struct lnc_req *r);
/* The n-th value is replaced (a resolved host name). -ENOMEM. */
int lnc_req_replace(struct lnc_req *r, const char **slot, const char *text);

/*
 * A command line without the program's name. 0: r holds a whole, checked request, or r->help is set
 * (r->cmd may then be NULL: help of the group or of everything; *words of argv were a known
 * beginning). -EINVAL: err says what is wrong and names the word.
 */
int lnc_cmd_parse(
        struct lnc_req *r, int argc, const char *const *argv, int *words, struct lnc_err *err);
/* One value by its kind; what both ends call. o names it in the message. */
int lnc_arg_check(const struct lnc_opt *o, struct lnc_val *v, struct lnc_err *err);
/* The whole request again: required options, number of arguments, cmd->check. */
int lnc_req_check(struct lnc_req *r, struct lnc_err *err);

/* One line of a script: words by the rules of a shell without expansion ('..', "..", \, #). At most
 * max words, allocated in mem. Returns their number, -EINVAL with err. */
#define LNC_LINE_MAX 65536u
int lnc_line_split(struct lnc_arena *mem, const char *line, const char **words, unsigned max,
        struct lnc_err *err);

/* ---- texts made from the table; malloc()ed, NULL = no memory ------------------------------- */

char *lnc_help_all(void);
char *lnc_help_group(const char *prefix); /* NULL: nothing begins so */
char *lnc_help_cmd(const struct lnc_cmd *c);
char *lnc_help_index(void); /* one command a line: list-commands */
char *lnc_man_page(const char *version);
char *lnc_completion(void);
/* "net add --net NET [--if IFS] ..." */
char *lnc_usage(const struct lnc_cmd *c);
const char *lnc_arg_meta(const struct lnc_opt *o);

/* ---- running ------------------------------------------------------------------------------- */

struct lnet_control;

struct lnc_ctx {
	struct lnet *n;          /* NULL in a command that runs in ulnetctl */
	struct lnet_control *c;  /* NULL likewise */
	struct lnc_doc *doc;     /* the answer (request.h) */
	struct lnc_node *result; /* mapping: what is printed on standard output */
	struct lnc_node *errors; /* mapping: error blocks, on standard error */
	const char *text;        /* printed as it is, instead of a result; in doc's arena */
	int exit;
	/* The caller is gone, or the node closes: a command that waits ends early. fd < 0: none. */
	int client_fd, stop_fd;
};

/* Make room for an answer. -ENOMEM. */
int lnc_ctx_init(struct lnc_ctx *x, struct lnet *n, struct lnet_control *c);
void lnc_ctx_free(struct lnc_ctx *x);
/* Run it; x->exit is the exit status. */
void lnc_cmd_run(struct lnc_ctx *x, const struct lnc_req *r);

/*
 * Add an error block: "OP:\n-     OBJECT:\n      errno: CODE\n      descr: "..."" and make the exit
 * status 1, or 2 with lnc_misuse(). Returns code, which is a negative errno.
 */
int lnc_fail(struct lnc_ctx *x, const char *op, const char *object, int code, const char *fmt, ...)
        __attribute__((format(printf, 5, 6)));
int lnc_misuse(struct lnc_ctx *x, const char *op, const char *object, int code, const char *fmt,
        ...) __attribute__((format(printf, 5, 6)));
/* A block of its own for each entry of an error list; notices too, with errno 0. */
int lnc_fail_errs(struct lnc_ctx *x, const char *op, const char *object, const struct lnc_errs *e);
/* The list under a top-level key of the result, made at its first use. */
struct lnc_node *lnc_out_seq(struct lnc_ctx *x, const char *key, enum lnc_style style);
struct lnc_node *lnc_out_map(struct lnc_ctx *x, const char *key, enum lnc_style style);

#ifdef __cplusplus
}
#endif
#endif
