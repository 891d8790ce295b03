/* SPDX-License-Identifier: BSD-2-Clause */
/* The control object: life, and the public calls. */
#include "lnet/control/control_priv.h"
#include "lnet/control/origin.h"
#include "lnet/rt/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lnet_control_opts_init(struct lnet_control_opts *o, size_t size)
{
	struct lnet_control_opts def = {.size = sizeof(def),
	        .hooks = {.size = sizeof(def.hooks)},
	        .clients = LNET_CONTROL_CLIENTS,
	        .request_timeout = 10ull * 1000000000u};

	memset(o, 0, size);
	memcpy(o, &def, size < sizeof(def) ? size : sizeof(def));
	o->size = size;
}

int lnet_control_open(struct lnet *n, const struct lnet_control_opts *o, struct lnet_control **out)
{
	struct lnet_control *c;

	if (!n || !out)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->n = n;
	lnet_control_opts_init(&c->o, sizeof(c->o));
	if (o)
		memcpy(&c->o, o, o->size < sizeof(c->o) ? o->size : sizeof(c->o));
	if (!c->o.clients || c->o.clients > 1024 || c->o.request_timeout < 1000000u) {
		free(c);
		return -EINVAL;
	}
	c->extras = (struct lnc_extras){
	        .selftest = LNET_UNSET, .mode = LNET_UNSET, .level = LNET_UNSET};
	c->def_level = n->opts.log_level;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->origin_lock, NULL);
	*out = c;
	return 0;
}

/* `control:` of the configuration goes before what the program said. */
static int listen_now(struct lnet_control *c, char *why, size_t whylen)
{
	const struct lnc_extras *e = &c->extras;

	return lnc_server_start(c, e->socket ? e->socket : c->def_path,
	        e->mode == LNET_UNSET ? c->def_mode : (unsigned)e->mode,
	        e->group ? e->group : c->def_group, why, whylen);
}

int lnet_control_listen(struct lnet_control *c, const char *path, unsigned mode, const char *group,
        char *why, size_t whylen)
{
	int rc;

	if (why && whylen)
		*why = 0;
	if (!c || !path || !*path || mode > 0777)
		return -EINVAL;
	lnc_lock(c);
	if (c->server) {
		lnc_unlock(c);
		return -EALREADY;
	}
	c->def_path = strdup(path);
	c->def_group = group ? strdup(group) : NULL;
	c->def_mode = mode;
	rc = c->def_path && (!group || c->def_group) ? listen_now(c, why, whylen) : -ENOMEM;
	if (rc) {
		free(c->def_path);
		free(c->def_group);
		c->def_path = c->def_group = NULL;
		if (why && whylen && !*why)
			snprintf(why, whylen, "%s: %s", path, strerror(-rc));
	}
	lnc_unlock(c);
	return rc;
}

void lnet_control_close(struct lnet_control *c)
{
	if (!c)
		return;
	lnc_server_stop(c);
	lnc_origin_free(c->origins);
	free(c->extras.socket);
	free(c->extras.group);
	free(c->extras.to);
	free(c->def_path);
	free(c->def_group);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->origin_lock);
	free(c);
}

/* ---- configuration ------------------------------------------------------------------------- */

static void report(const struct lnc_errs *e, lnet_config_err_fn fn, void *arg)
{
	char text[LNC_PATH_MAX + LNC_MSG_MAX + 8];

	for (unsigned i = 0; fn && i < e->n; i++) {
		struct lnet_config_err one = {.err = e->v[i].notice ? 0 : e->v[i].code,
		        .line = e->v[i].line,
		        .col = e->v[i].column,
		        .text = text};
		snprintf(text, sizeof(text), "%s%s%s", e->v[i].path, e->v[i].path[0] ? ": " : "",
		        e->v[i].msg);
		fn(arg, &one);
	}
}

int lnet_control_config(struct lnet_control *c, const char *text, size_t len, unsigned flags,
        lnet_config_err_fn fn, void *arg)
{
	struct lnc_errs errs;
	int rc;

	if (!c || !text ||
	        (flags & ~(LNET_CONFIG_CHECK | LNET_CONFIG_REPLACE | LNET_CONFIG_DELETE)) ||
	        (flags & LNET_CONFIG_REPLACE && flags & LNET_CONFIG_DELETE))
		return -EINVAL;
	lnc_errs_init(&errs, NULL);
	rc = lnc_configure(c, text, len, flags, flags & LNET_CONFIG_REPLACE ? "file" : "import",
	        &errs, NULL, NULL);
	report(&errs, fn, arg);
	lnc_errs_free(&errs);
	return rc;
}

int lnet_config_apply(struct lnet *n, const char *text, size_t len, unsigned flags,
        lnet_config_err_fn fn, void *arg)
{
	struct lnet_control *c;
	int rc = lnet_control_open(n, NULL, &c);

	if (rc)
		return rc;
	rc = lnet_control_config(c, text, len, flags, fn, arg);
	lnet_control_close(c);
	return rc;
}

/* ---- where sockets are --------------------------------------------------------------------- */

int lnet_control_rundir(char *buf, size_t size)
{
	const char *dir = getenv("ULNET_RUNDIR"), *xdg = getenv("XDG_RUNTIME_DIR");
	int n;

	if (dir && *dir)
		n = snprintf(buf, size, "%s", dir);
	else if (geteuid() == 0)
		n = snprintf(buf, size, "/run/ulnet");
	else if (xdg && *xdg)
		n = snprintf(buf, size, "%s/ulnet", xdg);
	else
		return -ENOENT;
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : n;
}

int lnet_control_path(const char *name, char *buf, size_t size)
{
	char dir[4096];
	int n;

	if (strchr(name, '/')) {
		n = snprintf(buf, size, "%s", name);
	} else {
		n = lnet_control_rundir(dir, sizeof(dir));
		if (n < 0)
			return n;
		n = snprintf(buf, size, "%s/%s.sock", dir, name);
	}
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : n;
}

/* ---- for the layer's own files ------------------------------------------------------------- */

void lnc_lock(struct lnet_control *c)
{
	pthread_mutex_lock(&c->lock);
}

void lnc_unlock(struct lnet_control *c)
{
	pthread_mutex_unlock(&c->lock);
}
