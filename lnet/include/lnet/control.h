/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ulnet: the control plane of a node: its control socket, and configuration in YAML.
 *
 * A program that embeds a node opens a control object beside it, so that ulnetctl can show and
 * change the node. Commands are served by threads of the control object, one a connection, never by
 * a loop of the node. All functions wait; none may be called by a handler.
 */
#ifndef LNET_CONTROL_H
#define LNET_CONTROL_H

#include <lnet/lnet.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lnet_control;

#define LNET_CONTROL_MODE    0600u       /* permission bits of a socket unless told otherwise */
#define LNET_CONTROL_CLIENTS 32u         /* connections at a time; more are told "busy" */
#define LNET_CONTROL_REQ_MAX (16u << 20) /* bytes of one request (a configuration to import) */

/*
 * What belongs to the program around the node and not to the node. Each member may be NULL: then
 * the key is kept and exported but has no effect. A hook returns 0, or a negative errno with one
 * sentence in why; it is called with the configuration locked, so never twice at a time, and it
 * must not call back into the control object.
 */
struct lnet_control_hooks {
	size_t size;
	void *arg;
	/* `selftest: true|false` */
	int (*selftest)(void *arg, bool on, char *why, size_t whylen);
	/* `log: {level, to}`; to is NULL when it was not given */
	int (*log)(void *arg, enum lnet_log_level lv, const char *to, char *why, size_t whylen);
};

struct lnet_control_opts {
	size_t size;
	struct lnet_control_hooks hooks;
	unsigned clients;         /* 1..1024; default LNET_CONTROL_CLIENTS */
	uint64_t request_timeout; /* ns a client has to send its request, and to take each part of
	                           * the answer; default 10 s */
	unsigned uids_any; /* 0: only root and the user of this process are served, whatever the
	                    * mode of the socket; 1: whoever may open the socket (mode and group) */
};
void lnet_control_opts_init(struct lnet_control_opts *o, size_t size);

/* Make the control object of a node; nothing listens yet. o may be NULL. -EINVAL, -ENOMEM. The node
 * must stay open until lnet_control_close(). */
int lnet_control_open(struct lnet *n, const struct lnet_control_opts *o, struct lnet_control **out);

/*
 * Listen at path (at most 107 bytes), or where `control:` of the configuration says. The socket
 * appears there complete, with its mode and group, and accepts connections from that moment. A
 * socket file that nobody listens on is replaced. group may be NULL. -EADDRINUSE somebody listens
 * there; -ENAMETOOLONG; -ENOENT no such group; -EALREADY it listens already; errors of socket,
 * bind, chown, rename. why (may be NULL) gets one sentence.
 */
int lnet_control_listen(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen);

/* Stop listening, remove the socket file if it is still ours, end requests under way, join the
 * threads, free. c may be NULL. */
void lnet_control_close(struct lnet_control *c);

/* One fault found in a configuration. line and col count from 1; 0 = not about a place in the text.
 */
struct lnet_config_err {
	int err; /* negative errno */
	unsigned line, col;
	const char *text; /* names key, value and limit; valid during the call */
};
typedef void (*lnet_config_err_fn)(void *arg, const struct lnet_config_err *e);

enum {
	LNET_CONFIG_CHECK = 1u,   /* parse and validate, find the difference, change nothing */
	LNET_CONFIG_REPLACE = 2u, /* what the text does not name is removed or set back to its
	                           * default; without it the text only adds and changes */
	LNET_CONFIG_DELETE = 4u,  /* remove what the text names */
};

/*
 * Apply a configuration text (YAML or JSON, len bytes) as one transaction: it is parsed whole and
 * validated whole, then applied; when a step fails the steps before it are undone. Returns 0, or
 * the first error, with every error found reported to fn (may be NULL) and the node as it was
 * before. -EINVAL the text is wrong; else the error of the step that failed.
 */
int lnet_control_config(struct lnet_control *c, const char *text, size_t len, unsigned flags,
        lnet_config_err_fn fn, void *arg);

/* The same for a node without a control object: `selftest`, `control` and `log` are checked but
 * have no effect. */
int lnet_config_apply(struct lnet *n, const char *text, size_t len, unsigned flags,
        lnet_config_err_fn fn, void *arg);

/* Where the control socket of a node called name is: $ULNET_RUNDIR, else /run/ulnet for root, else
 * $XDG_RUNTIME_DIR/ulnet, then "/NAME.sock". A name with a slash is a path and is copied. Returns
 * the length, -ENAMETOOLONG, or -ENOENT: none of the three is there. */
int lnet_control_path(const char *name, char *buf, size_t size);
/* The folder alone. */
int lnet_control_rundir(char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
