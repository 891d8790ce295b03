/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node of one ulst: a client beside a daemon, a node of its own, or a client made up from the
 * targets.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lnet/control/file.h"
#include "lnet/control/nids.h"
#include "utils/ctl.h"
#include "utils/ulst.h"
#include <lnet/control.h>

static void print_log(void *arg, enum lnet_log_level lv, const char *id, const char *text)
{
	(void)arg;
	(void)lv;
	fprintf(stderr, "ulst: %s: %s\n", id, text);
}

static int open_node(unsigned flags, struct lnet **n)
{
	struct lnet_opts o;
	int rc;

	lnet_opts_init(&o, sizeof(o));
	o.name = "ulst";
	o.flags = flags;
	o.log = print_log;
	o.log_level = LNET_LOG_WARN;
	rc = lnet_open(&o, n);
	if (rc)
		fprintf(stderr, "ulst: cannot make a node: %s\n", strerror(-rc));
	return rc;
}

int ulst_targets(const struct ulst_args *a, struct lnet_nid **nids, unsigned *count)
{
	struct lnet_nid *v = calloc(LST_TARGETS_MAX, sizeof(*v));
	struct lnc_err err = {0};
	int k;

	if (!v)
		return -1;
	k = lnc_nids_expand(a->to, v, LST_TARGETS_MAX, &err);
	if (k <= 0) {
		fprintf(stderr, "ulst: --to '%s': %s\n", a->to, k ? err.msg : "no NID");
		free(v);
		return -1;
	}
	*nids = v;
	*count = (unsigned)k;
	return 0;
}

static void config_error(void *arg, const struct lnet_config_err *e)
{
	const char *file = arg;

	if (e->line)
		fprintf(stderr, "ulst: %s:%u:%u: %s\n", file, e->line, e->col, e->text);
	else
		fprintf(stderr, "ulst: %s: %s\n", file, e->text);
}

static int apply(struct lnet *n, const char *what, const char *text, size_t len)
{
	return lnet_config_apply(n, text, len, 0, config_error, (void *)(uintptr_t)what) ? -1 : 0;
}

static int from_file(struct lnet *n, const char *path)
{
	struct lnc_err err = {0};
	char *text;
	size_t len;
	int rc;

	if (lnc_read_file(path, LNET_CONTROL_REQ_MAX, &text, &len, &err)) {
		fprintf(stderr, "ulst: %s\n", err.msg);
		return -1;
	}
	rc = apply(n, path, text, len);
	free(text);
	return rc;
}

/* The daemon's own networks, by the command that anyone may give it. */
static int from_daemon(struct lnet *n, const char *name)
{
	const char *const argv[] = {"export", "--backup"};
	struct lnc_answer a;
	struct lnc_err err = {0};
	struct lnc_req r;
	char *text = NULL;
	size_t len = 0;
	int words, rc = -1;

	lnc_req_init(&r);
	if (lnc_cmd_parse(&r, 2, argv, &words, &err) || ctl_ask(name, &r, &a, &err)) {
		fprintf(stderr, "ulst: %s\n", err.msg);
		lnc_req_free(&r);
		return -1;
	}
	if (!a.exit && a.result)
		text = lnc_answer_text(a.result, false, &len);
	if (text)
		rc = apply(n, name, text, len);
	else
		fprintf(stderr, "ulst: '%s' did not tell its networks\n", name);
	free(text);
	lnc_answer_free(&a);
	lnc_req_free(&r);
	return rc;
}

/* The address that the kernel would send from. */
static int local_for(const struct lnet_nid *target, struct lnet_nid *own)
{
	struct sockaddr_storage ss = {0};
	struct sockaddr_in *s4 = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *s6 = (struct sockaddr_in6 *)&ss;
	socklen_t len = target->size ? sizeof(*s6) : sizeof(*s4);
	int fd, rc;

	if (target->size) {
		s6->sin6_family = AF_INET6;
		s6->sin6_port = htons(9);
		memcpy(&s6->sin6_addr, target->addr, 16);
	} else {
		s4->sin_family = AF_INET;
		s4->sin_port = htons(9);
		memcpy(&s4->sin_addr, target->addr, 4);
	}
	fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (struct sockaddr *)&ss, len) < 0 ||
	                     getsockname(fd, (struct sockaddr *)&ss, &len) < 0
	             ? -errno
	             : 0;
	close(fd);
	if (!rc)
		*own = lnet_nid_from_ip(lnet_nid_net(target),
		        target->size ? (void *)&s6->sin6_addr : (void *)&s4->sin_addr,
		        target->size ? 16 : 4);
	return rc;
}

static int automatic(struct lnet *n, const struct ulst_args *a)
{
	const struct lnet_tun_val port = {"port", a->port};

	for (unsigned i = 0; i < a->run.ntargets; i++) {
		const struct lnet_nid *t = &a->run.target[i];
		struct lnet_ni_conf c;
		char why[256] = "", nid[LNET_NIDSTR_MAX];
		int rc;

		lnet_ni_conf_init(&c, sizeof(c));
		c.net = lnet_nid_net(t);
		lnet_nid_str(t, nid, sizeof(nid));
		if (!lnet_net_is_ip(c.net)) {
			fprintf(stderr,
			        "ulst: %s: no address of this host follows from it; use --config\n",
			        nid);
			return -1;
		}
		rc = local_for(t, &c.nid);
		if (rc) {
			fprintf(stderr, "ulst: no way to %s: %s\n", nid, strerror(-rc));
			return -1;
		}
		c.tun = &port;
		c.ntun = a->port != 0;
		rc = lnet_ni_add(n, &c, NULL, why, sizeof(why));
		if (rc && rc != -EEXIST) {
			fprintf(stderr, "ulst: %s\n", why[0] ? why : strerror(-rc));
			return -1;
		}
	}
	return 0;
}

int ulst_node_open(const struct ulst_args *a, struct lnet **out)
{
	struct lnet *n;
	int rc;

	if (open_node(a->config ? 0 : LNET_NODE_CLIENT, &n))
		return -1;
	if (a->config)
		rc = from_file(n, a->config);
	else if (a->node)
		rc = from_daemon(n, a->node);
	else
		rc = automatic(n, a);
	if (rc) {
		lnet_close(n, lnet_now(n) + 1000000000ull);
		return rc;
	}
	*out = n;
	return 0;
}
