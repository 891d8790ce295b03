/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: who is served, what a bad client can do (nothing), where the file is. */
#include <lnet/control.h>

#include "lnet/control/request.h"
#include "tests/lib/tlib.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

struct world {
	struct lnet *n;
	struct lnet_control *c;
	char *dir, path[256], why[400];
};

static struct world *open_world(const struct lnet_control_opts *o)
{
	struct world *w = calloc(1, sizeof(*w));
	struct lnet_opts no;

	lnet_opts_init(&no, sizeof(no));
	assert_int_equal(lnet_open(&no, &w->n), 0);
	assert_int_equal(lnet_control_open(w->n, o, &w->c), 0);
	w->dir = tl_tmpdir();
	assert_non_null(w->dir);
	snprintf(w->path, sizeof(w->path), "%s/n.sock", w->dir);
	return w;
}

static void close_world(struct world *w)
{
	lnet_control_close(w->c);
	lnet_close(w->n, lnet_now(w->n) + TL_S);
	tl_rmtree(w->dir);
	free(w->dir);
	free(w);
}

static void listen_at(struct world *w)
{
	int rc = lnet_control_listen(w->c, w->path, 0600, NULL, w->why, sizeof(w->why));

	if (rc)
		fail_msg("%d: %s", rc, w->why);
}

static int dial(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval t = {.tv_sec = 30};

	strcpy(a.sun_path, path);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		return -errno;
	}
	return fd;
}

/* The answer until the end of the stream. */
static void answer(int fd, char *buf, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while ((got = recv(fd, buf + n, size - 1 - n, 0)) > 0)
		n += (size_t)got;
	buf[n] = 0;
	close(fd);
}

/* Exit status of one request given as text; -1: no answer. */
static int ask(const char *path, const char *text, size_t len, char *out, size_t size)
{
	struct lnc_answer a;
	struct lnc_err err;
	int fd = dial(path), code;

	assert_true(fd >= 0);
	/* when it is busy it says so and does not read */
	if (len && send(fd, text, len, MSG_NOSIGNAL) < 0)
		assert_int_equal(errno, EPIPE);
	shutdown(fd, SHUT_WR);
	answer(fd, out, size);
	if (lnc_answer_decode(&a, out, strlen(out), &err))
		return -1;
	code = a.exit;
	lnc_answer_free(&a);
	return code;
}

#define SHOW "ulnet: 1\ncommand: net show\n"

static bool works(struct world *w, const char *path)
{
	char out[8192];

	(void)w;
	return ask(path, SHOW, strlen(SHOW), out, sizeof(out)) == 0 && strstr(out, "0@lo");
}

static void test_serves(void **state)
{
	struct world *w = open_world(NULL);
	struct stat st;
	unsigned fds;

	(void)state;
	fds = tl_count_fds();
	listen_at(w);
	assert_int_equal(stat(w->path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	for (int i = 0; i < 50; i++)
		assert_true(works(w, w->path));
	assert_int_equal(
	        lnet_control_listen(w->c, w->path, 0600, NULL, w->why, sizeof(w->why)), -EALREADY);
	lnet_control_close(w->c);
	assert_int_equal(stat(w->path, &st), -1);
	assert_int_equal(lnet_control_open(w->n, NULL, &w->c), 0);
	assert_true(TL_UNTIL(NULL, tl_count_fds() <= fds, TL_S));
	close_world(w);
}

static void test_requests(void **state)
{
	static const struct {
		const char *text;
		int exit;
	} t[] = {{"", 2}, {"garbage", 2}, {"ulnet: 1\n", 2}, {"ulnet: 9\ncommand: net show\n", 2},
	        {"ulnet: 1\ncommand: nix\n", 2}, {"[1, 2", 2},
	        {"ulnet: 1\ncommand: global show\n", 0},
	        {"{\"ulnet\": 1, \"command\": \"stats show\"}", 0},
	        {"ulnet: 1\ncommand: peer show\noptions: {nid: 1.2.3.4@tcp}\n", 1},
	        {"ulnet: 1\ncommand: set\nargs: [retry_count, 300]\n", 2},
	        {"ulnet: 1\ncommand: set\nargs: [retry_count, 250]\n", 1},
	        {"ulnet: 1\ncommand: net del\noptions: {net: tcp}\n", 1},
	        {"ulnet: 1\ncommand: import\n", 2},
	        {"ulnet: 1\ncommand: import\ninput: 'x: y'\n", 1}};
	struct world *w = open_world(NULL);
	char out[16384];

	(void)state;
	listen_at(w);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int code = ask(w->path, t[i].text, strlen(t[i].text), out, sizeof(out));
		if (code != t[i].exit)
			fail_msg("'%s': exit %d, not %d\n%s", t[i].text, code, t[i].exit, out);
		if (code)
			assert_non_null(strstr(out, "errno: -"));
	}
	assert_int_equal(ask(w->path, "a\0b", 3, out, sizeof(out)), 2);
	assert_true(works(w, w->path));
	close_world(w);
}

/* One byte at a time, or nothing at all: ended at the deadline, and others are served meanwhile. */
static void test_slow_client(void **state)
{
	struct lnet_control_opts o;
	char out[4096];
	uint64_t start;

	(void)state;
	lnet_control_opts_init(&o, sizeof(o));
	o.request_timeout = 300 * TL_MS;
	struct world *w = open_world(&o);
	listen_at(w);
	int silent = dial(w->path), slow = dial(w->path);
	start = tl_now();
	for (int i = 0; i < 1000; i++) {
		if (send(slow, "#", 1, MSG_NOSIGNAL) < 0)
			break;
		if (i % 10 == 0)
			assert_true(works(w, w->path));
		tl_sleep(10 * TL_MS);
	}
	assert_true(tl_now() - start < tl_patience(8 * TL_S));
	answer(silent, out, sizeof(out));
	assert_non_null(strstr(out, "not complete"));
	close(slow);
	assert_true(works(w, w->path));
	close_world(w);
}

/* Clients that go away at each moment. */
static void test_dying_client(void **state)
{
	struct world *w = open_world(NULL);
	size_t len = strlen(SHOW);

	(void)state;
	listen_at(w);
	for (size_t cut = 0; cut <= len; cut++) {
		int fd = dial(w->path);
		assert_true(fd >= 0);
		if (cut)
			assert_int_equal(send(fd, SHOW, cut, MSG_NOSIGNAL), cut);
		if (cut % 2)
			shutdown(fd, SHUT_WR);
		close(fd);
	}
	assert_true(works(w, w->path));
	close_world(w);
}

/* A client that never reads its answer. */
static void test_unread_answer(void **state)
{
	struct lnet_control_opts o;

	(void)state;
	lnet_control_opts_init(&o, sizeof(o));
	o.request_timeout = 200 * TL_MS;
	o.clients = 1;
	struct world *w = open_world(&o);
	struct lnet_nid nid, bad;
	char text[32];
	for (int i = 0; i < 2000; i++) { /* an answer larger than a socket buffer */
		snprintf(text, sizeof(text), "10.9.%d.%d@tcp", i / 250, i % 250 + 1);
		assert_int_equal(lnet_nid_parse(text, strlen(text), &nid, NULL), 0);
		assert_int_equal(lnet_peer_add(w->n, &nid, NULL, 0, true, false, &bad), 0);
	}
	listen_at(w);
	static const char req[] = "ulnet: 1\ncommand: peer show\noptions: {verbose: 2}\n";
	int fd = dial(w->path);
	assert_int_equal(send(fd, req, sizeof(req) - 1, MSG_NOSIGNAL), sizeof(req) - 1);
	shutdown(fd, SHUT_WR);
	/* the next one is served when the thread of this one has given up */
	assert_true(TL_UNTIL(NULL, works(w, w->path), 20 * TL_S));
	char *big = malloc(64u << 20);
	answer(fd, big, 64u << 20);
	assert_null(strstr(big, "exit: 0"));
	free(big);
	close_world(w);
}

static void test_too_large(void **state)
{
	struct world *w = open_world(NULL);
	size_t chunk = 1u << 20;
	char *junk = malloc(chunk), out[4096];
	int fd;

	(void)state;
	memset(junk, '#', chunk);
	listen_at(w);
	fd = dial(w->path);
	for (size_t sent = 0; sent < LNET_CONTROL_REQ_MAX + 4 * chunk; sent += chunk)
		if (send(fd, junk, chunk, MSG_NOSIGNAL) < 0)
			break;
	answer(fd, out, sizeof(out));
	/* it may be lost behind what was not read; then the connection is reset */
	if (*out)
		assert_non_null(strstr(out, "larger than"));
	assert_true(works(w, w->path));
	free(junk);
	close_world(w);
}

static void test_busy(void **state)
{
	struct lnet_control_opts o;
	char out[4096];
	int fd[8];

	(void)state;
	lnet_control_opts_init(&o, sizeof(o));
	o.clients = 4;
	struct world *w = open_world(&o);
	listen_at(w);
	for (int i = 0; i < 4; i++)
		fd[i] = dial(w->path);
	int extra = dial(w->path);
	answer(extra, out, sizeof(out));
	assert_non_null(strstr(out, "busy"));
	assert_non_null(strstr(out, "errno: -16"));
	for (int i = 0; i < 4; i++)
		close(fd[i]);
	assert_true(TL_UNTIL(NULL, works(w, w->path), 5 * TL_S));
	close_world(w);
}

/* Requests under way end with the socket. */
static void test_close_under_way(void **state)
{
	struct world *w = open_world(NULL);
	int fd[6];

	(void)state;
	listen_at(w);
	for (int i = 0; i < 6; i++) {
		fd[i] = dial(w->path);
		if (i % 2)
			assert_int_equal(send(fd[i], "ulnet:", 6, MSG_NOSIGNAL), 6);
	}
	uint64_t start = tl_now();
	lnet_control_close(w->c);
	assert_true(tl_now() - start < tl_patience(3 * TL_S));
	for (int i = 0; i < 6; i++)
		close(fd[i]);
	assert_int_equal(lnet_control_open(w->n, NULL, &w->c), 0);
	close_world(w);
}

/* ---- the file ------------------------------------------------------------------------------ */

static void test_stale_file(void **state)
{
	struct world *w = open_world(NULL);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	strcpy(a.sun_path, w->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd); /* the file stays, nobody listens */
	assert_int_equal(dial(w->path), -ECONNREFUSED);
	listen_at(w);
	assert_true(works(w, w->path));
	close_world(w);
}

static void test_in_use(void **state)
{
	struct world *a = open_world(NULL), *b = open_world(NULL);

	(void)state;
	listen_at(a);
	assert_int_equal(lnet_control_listen(b->c, a->path, 0600, NULL, b->why, sizeof(b->why)),
	        -EADDRINUSE);
	assert_non_null(strstr(b->why, "listens"));
	assert_true(works(a, a->path));
	/* one that goes away leaves the file of the other alone */
	close_world(b);
	assert_true(works(a, a->path));
	close_world(a);
}

static void test_refused_paths(void **state)
{
	struct world *w = open_world(NULL);
	char long_path[200], text[256];

	(void)state;
	tl_write_file(w->path, "precious");
	assert_int_equal(
	        lnet_control_listen(w->c, w->path, 0600, NULL, w->why, sizeof(w->why)), -EEXIST);
	char *there = tl_read_file(w->path, NULL);
	assert_string_equal(there, "precious");
	free(there);
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[0] = '/';
	long_path[sizeof(long_path) - 1] = 0;
	assert_int_equal(lnet_control_listen(w->c, long_path, 0600, NULL, w->why, sizeof(w->why)),
	        -ENAMETOOLONG);
	snprintf(text, sizeof(text), "%s/no/such/x.sock", w->dir);
	assert_int_equal(
	        lnet_control_listen(w->c, text, 0600, NULL, w->why, sizeof(w->why)), -ENOENT);
	snprintf(text, sizeof(text), "%s/g.sock", w->dir);
	assert_int_equal(
	        lnet_control_listen(w->c, text, 0600, "no-such-group-here", w->why, sizeof(w->why)),
	        -ENOENT);
	assert_non_null(strstr(w->why, "no-such-group-here"));
	assert_int_equal(access(text, F_OK), -1);
	assert_int_equal(lnet_control_listen(w->c, text, 01777, NULL, NULL, 0), -EINVAL);
	assert_int_equal(lnet_control_listen(w->c, "", 0600, NULL, NULL, 0), -EINVAL);
	close_world(w);
}

/* `control:` moves the socket while it is used, and back. */
static void test_moves(void **state)
{
	struct world *w = open_world(NULL);
	char text[400], other[300];
	struct stat st;

	(void)state;
	listen_at(w);
	snprintf(other, sizeof(other), "%s/other.sock", w->dir);
	snprintf(text, sizeof(text), "control: {socket: %s, mode: 0640}\n", other);
	assert_int_equal(lnet_control_config(w->c, text, strlen(text), 0, NULL, NULL), 0);
	assert_true(works(w, other));
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(access(w->path, F_OK), -1);
	snprintf(text, sizeof(text), "control: {mode: 0600}\n");
	assert_int_equal(lnet_control_config(w->c, text, strlen(text), 0, NULL, NULL), 0);
	assert_int_equal(stat(other, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(lnet_control_config(w->c, "", 0, LNET_CONFIG_REPLACE, NULL, NULL), 0);
	assert_true(works(w, w->path));
	assert_int_equal(access(other, F_OK), -1);
	/* to where it cannot go: it stays */
	snprintf(text, sizeof(text), "control: {socket: /no/such/folder/x.sock}\n");
	assert_int_not_equal(lnet_control_config(w->c, text, strlen(text), 0, NULL, NULL), 0);
	assert_true(works(w, w->path));
	close_world(w);
}

static void test_names(void **state)
{
	char buf[108], tiny[8];

	(void)state;
	setenv("ULNET_RUNDIR", "/tmp/r", 1);
	assert_true(lnet_control_path("a", buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "/tmp/r/a.sock");
	assert_true(lnet_control_path("./x", buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "./x");
	assert_int_equal(lnet_control_path("abcdefgh", tiny, sizeof(tiny)), -ENAMETOOLONG);
}

static void test_bad_opts(void **state)
{
	struct world *w = open_world(NULL);
	struct lnet_control_opts o;
	struct lnet_control *c;

	(void)state;
	lnet_control_opts_init(&o, sizeof(o));
	o.clients = 0;
	assert_int_equal(lnet_control_open(w->n, &o, &c), -EINVAL);
	o.clients = 1025;
	assert_int_equal(lnet_control_open(w->n, &o, &c), -EINVAL);
	assert_int_equal(lnet_control_open(NULL, NULL, &c), -EINVAL);
	lnet_control_close(NULL);
	close_world(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_serves),
	        cmocka_unit_test(test_requests), cmocka_unit_test(test_slow_client),
	        cmocka_unit_test(test_dying_client), cmocka_unit_test(test_unread_answer),
	        cmocka_unit_test(test_too_large), cmocka_unit_test(test_busy),
	        cmocka_unit_test(test_close_under_way), cmocka_unit_test(test_stale_file),
	        cmocka_unit_test(test_in_use), cmocka_unit_test(test_refused_paths),
	        cmocka_unit_test(test_moves), cmocka_unit_test(test_names),
	        cmocka_unit_test(test_bad_opts)};

	return cmocka_run_group_tests_name("control_sock", tests, NULL, NULL);
}
