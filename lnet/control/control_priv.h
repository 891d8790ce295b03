/* SPDX-License-Identifier: BSD-2-Clause */
/* The control object. */
#ifndef LNC_CONTROL_PRIV_H
#define LNC_CONTROL_PRIV_H

#include "lnet/control/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct lnc_origin;
struct lnc_server;

struct lnet_control {
	struct lnet *n;
	struct lnet_control_opts o;
	pthread_mutex_t lock; /* configuration: one change at a time */
	struct lnc_extras extras;
	pthread_mutex_t origin_lock; /* leaf */
	struct lnc_origin *origins;
	struct lnc_server *server; /* NULL: does not listen */
	/* where it was told to listen, before any `control:` key */
	char *def_path, *def_group;
	unsigned def_mode;
	enum lnet_log_level def_level;
};

/* The socket and its threads (server.c). */
int lnc_server_start(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen);
void lnc_server_stop(struct lnet_control *c);
int lnc_server_move(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen);
const char *lnc_server_path(const struct lnet_control *c);

/* A listening socket that appears at path complete (bind.c). */
struct lnc_bound {
	int fd;
	char path[108];
	dev_t dev;
	ino_t ino;
};
int lnc_bind(struct lnc_bound *b, const char *path, unsigned mode, const char *group, char *why,
        size_t whylen);
/* Another mode and group for the file. */
int lnc_bound_mode(
        const struct lnc_bound *b, unsigned mode, const char *group, char *why, size_t whylen);
/* Remove the file if it is still the one that was bound. Does not close fd. */
void lnc_unbind(const struct lnc_bound *b);

#endif
