/* SPDX-License-Identifier: BSD-2-Clause */
/* Files in and out; host names. */
#include "unit/conf_table.h"
#include "lnet/control/file.h"
#include "lnet/control/resolve.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- files --------------------------------------------------------------------------------------
 */

static int make_dir(void **state)
{
	char *dir = strdup("/tmp/ulnet-files-XXXXXX");

	*state = mkdtemp(dir);
	return *state ? 0 : -1;
}

static int drop_dir(void **state)
{
	char path[512];
	struct dirent *e;
	DIR *d = opendir(*state);

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", (char *)*state, e->d_name);
		if (e->d_name[0] != '.' || strlen(e->d_name) > 2)
			unlink(path);
	}
	closedir(d);
	rmdir(*state);
	free(*state);
	return 0;
}

static unsigned entries(const char *dir)
{
	unsigned n = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	while ((e = readdir(d)))
		n++;
	closedir(d);
	return n - 2;
}

static void put(const char *path, const char *text)
{
	struct lnc_err err;

	assert_int_equal(lnc_write_file_atomic(path, text, strlen(text), &err), 0);
}

static void has(const char *path, const char *text)
{
	struct lnc_err err;
	size_t len;
	char *buf;

	assert_int_equal(lnc_read_file(path, 1 << 20, &buf, &len, &err), 0);
	assert_int_equal(len, strlen(text));
	assert_string_equal(buf, text);
	free(buf);
}

static void write_and_read(void **state)
{
	char path[256], link[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/conf", (char *)*state);
	snprintf(link, sizeof(link), "%s/link", (char *)*state);
	put(path, "one\n");
	has(path, "one\n");
	put(path, "");
	has(path, "");
	assert_int_equal(chmod(path, 0640), 0);
	put(path, "two");
	has(path, "two");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(symlink("conf", link), 0);
	put(link, "three"); /* through the link */
	has(path, "three");
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(entries(*state), 2); /* nothing temporary is left */
}

static void read_limits(void **state)
{
	struct lnc_err err;
	char path[256], *buf = NULL;
	size_t len;

	snprintf(path, sizeof(path), "%s/conf", (char *)*state);
	put(path, "12345");
	assert_int_equal(lnc_read_file(path, 5, &buf, &len, &err), 0);
	free(buf);
	buf = NULL;
	assert_int_equal(lnc_read_file(path, 4, &buf, &len, &err), -EFBIG);
	assert_non_null(strstr(err.msg, "more than 4 bytes"));
	assert_int_equal(lnc_read_file(*state, 4, &buf, &len, &err), -EISDIR);
	assert_int_equal(lnc_read_file("/nowhere/at/all", 4, &buf, &len, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nowhere/at/all"));
	assert_int_equal(lnc_read_file("/dev/zero", 100000, &buf, &len, &err), -EFBIG);
	assert_int_equal(lnc_read_file("/dev/null", 4, &buf, &len, &err), 0);
	assert_int_equal(len, 0);
	free(buf);
}

struct feeder {
	const char *path;
	size_t len;
};

static void *feed(void *arg)
{
	struct feeder *f = arg;
	int fd = open(f->path, O_WRONLY);

	for (size_t at = 0; at < f->len; at++) {
		if (write(fd, "x", 1) != 1)
			break;
	}
	close(fd);
	return NULL;
}

static void fifo(void **state)
{
	struct feeder f = {NULL, 100000};
	struct lnc_err err;
	char path[256], *buf;
	pthread_t t;
	size_t len;

	snprintf(path, sizeof(path), "%s/fifo", (char *)*state);
	f.path = path;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&t, NULL, feed, &f), 0);
	assert_int_equal(lnc_read_file(path, 1 << 20, &buf, &len, &err), 0);
	assert_int_equal(len, 100000);
	free(buf);
	pthread_join(t, NULL);
}

static void never_half(void **state)
{
	struct lnc_err err;
	char path[256], dir[300];

	assert_int_equal(lnc_write_file_atomic("/dev/full", "x", 1, &err), -ENOSPC);
	assert_non_null(strstr(err.msg, "/dev/full"));
	assert_int_equal(lnc_write_file_atomic("/dev/null", "x", 1, &err), 0);
	assert_int_equal(lnc_write_file_atomic(*state, "x", 1, &err), -EISDIR);
	assert_int_equal(lnc_write_file_atomic("/nowhere/x", "x", 1, &err), -ENOENT);
	snprintf(path, sizeof(path), "%s/dangling", (char *)*state);
	assert_int_equal(symlink("/nowhere/x", path), 0);
	assert_int_equal(lnc_write_file_atomic(path, "x", 1, &err), -ENOENT);
	assert_int_equal(unlink(path), 0);
	/* no temporary file can be made: the old one stays */
	snprintf(path, sizeof(path), "%s/conf", (char *)*state);
	put(path, "old");
	snprintf(dir, sizeof(dir), "%s/%0250d", (char *)*state, 0);
	assert_int_equal(
	        lnc_write_file_atomic(dir, "new", 3, &err), 0); /* the longest names work */
	assert_int_equal(unlink(dir), 0);
	if (geteuid() != 0) {
		assert_int_equal(chmod(*state, 0500), 0);
		assert_int_equal(lnc_write_file_atomic(path, "new", 3, &err), -EACCES);
		assert_int_equal(chmod(*state, 0700), 0);
	}
	has(path, "old");
	assert_int_equal(entries(*state), 1);
}

/* A file system without room: the old file is kept whole. */
static void disk_full(void **state)
{
	char path[256], *big = calloc(1, 1 << 20);
	struct rlimit small = {4096, 4096};
	struct lnc_err err;
	int status;

	snprintf(path, sizeof(path), "%s/conf", (char *)*state);
	put(path, "old");
	/* RLIMIT_FSIZE stands for the full disk: write() fails with EFBIG in the middle */
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &small))
			_exit(2);
		_exit(lnc_write_file_atomic(path, big, 1 << 20, &err) == -EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	has(path, "old");
	assert_int_equal(entries(*state), 1);
	free(big);
}

/* ---- host names ---------------------------------------------------------------------------------
 */

struct addr {
	struct addrinfo ai;
	union {
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} sa;
};

static void no_release(struct addrinfo *res)
{
	while (res) {
		struct addrinfo *next = res->ai_next;

		free(res);
		res = next;
	}
}

static struct addrinfo *one(const char *text, struct addrinfo *next)
{
	struct addr *a = calloc(1, sizeof(*a));

	a->ai.ai_addr = (struct sockaddr *)&a->sa;
	a->ai.ai_next = next;
	if (inet_pton(AF_INET, text, &a->sa.v4.sin_addr) == 1) {
		a->ai.ai_family = AF_INET;
		a->ai.ai_addrlen = sizeof(a->sa.v4);
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &a->sa.v6.sin6_addr), 1);
		a->ai.ai_family = AF_INET6;
		a->ai.ai_addrlen = sizeof(a->sa.v6);
	}
	return &a->ai;
}

/* The hosts of the tests. */
static int lookup(
        const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
	(void)service;
	(void)hints;
	*res = NULL;
	if (strcmp(host, "two") == 0)
		*res = one("192.0.2.7", one("10.0.0.7", NULL));
	else if (strcmp(host, "loop") == 0)
		*res = one("127.0.1.1", NULL);
	else if (strcmp(host, "looped") == 0)
		*res = one("127.0.1.1", one("::1", one("10.0.0.9", NULL)));
	else if (strcmp(host, "six") == 0)
		*res = one("fe80::1", one("2001:db8::6", NULL));
	else if (strcmp(host, "both") == 0)
		*res = one("2001:db8::6", one("10.0.0.6", NULL));
	else if (strcmp(host, "sys") == 0)
		return errno = EMFILE, EAI_SYSTEM;
	else if (strcmp(host, "later") == 0)
		return EAI_AGAIN;
	else if (strcmp(host, "slow") == 0)
		return sleep(2), *res = one("10.0.0.8", NULL), 0;
	else
		return EAI_NONAME;
	return 0;
}

static void resolver(struct lnc_resolver *r)
{
	lnc_resolver_init(r);
	r->lookup = lookup;
	r->release = no_release;
}

static void gives(struct lnc_resolver *r, const char *text, const char *want)
{
	struct lnc_err err = {0};
	struct lnet_nid nid;
	char s[LNET_NIDSTR_MAX];

	if (lnc_nid_parse(text, strlen(text), r, &nid, &err)) {
		print_error("%s: %s\n", text, err.msg);
		fail();
	}
	assert_string_equal(lnet_nid_str(&nid, s, sizeof(s)), want);
}

static void refuses(struct lnc_resolver *r, const char *text, int code, const char *want)
{
	struct lnc_err err = {0};
	struct lnet_nid nid;

	assert_int_equal(lnc_nid_parse(text, strlen(text), r, &nid, &err), code);
	if (!strstr(err.msg, want)) {
		print_error("'%s' is missing in '%s'\n", want, err.msg);
		fail();
	}
}

static void host_names(void **state)
{
	struct lnet_cidr ours;
	struct lnc_resolver r;

	(void)state;
	resolver(&r);
	gives(&r, "two@tcp", "192.0.2.7@tcp");
	assert_int_equal(lnc_cidr_parse("10.0.0.0/24", &ours, NULL), 0);
	r.prefer = &ours;
	r.nprefer = 1;
	gives(&r, "two@tcp", "10.0.0.7@tcp"); /* the one on our net */
	gives(&r, "two", "10.0.0.7@tcp");
	gives(&r, "10.0.0.5@tcp2", "10.0.0.5@tcp2"); /* an address is no name */
	gives(&r, "127.0.0.2@tcp", "127.0.0.2@tcp"); /* loopback as an address is meant */
	gives(&r, "looped@tcp", "10.0.0.9@tcp");
	gives(&r, "six@tcp3", "2001:db8::6@tcp3");
	gives(&r, "both@tcp", "10.0.0.6@tcp");
	assert_int_equal(lnc_cidr_parse("2001:db8::/32", &ours, NULL), 0);
	gives(&r, "both@tcp", "2001:db8::6@tcp");
	refuses(&r, "six@gip", -EADDRNOTAVAIL, "has no address that net gip can use");
	refuses(&r, "loop@tcp", -EADDRNOTAVAIL, "/etc/hosts");
	refuses(&r, "nobody@tcp", -ENOENT, "unknown host 'nobody'");
	refuses(&r, "later@tcp", -EAGAIN, "later");
	refuses(&r, "sys@tcp", -EMFILE, "sys");
	refuses(&r, "two@kfi", -EINVAL, "no IP addresses");
	refuses(&r, "two@nonet", -EINVAL, "Invalid NID");
	refuses(&r, "a b@tcp", -EINVAL, "Invalid NID");
	refuses(&r, "-x@tcp", -EINVAL, "Invalid NID");
	refuses(&r, "10.0.0.0x0a@tcp", -EINVAL, "Invalid NID");
	refuses(&r, "@tcp", -EINVAL, "Invalid NID");
	refuses(NULL, "two@tcp", -EINVAL, "Invalid NID");
}

static void resolver_is_bounded(void **state)
{
	struct lnc_resolver r;

	(void)state;
	resolver(&r);
	r.timeout_ms = 100;
	refuses(&r, "slow@tcp", -ETIMEDOUT, "no answer within 100 ms");
	for (unsigned i = 1; i < LNC_RESOLVE_STUCK_MAX; i++)
		refuses(&r, "slow@tcp", -ETIMEDOUT,
		        "100 ms"); /* the time is for all names together */
	refuses(&r, "slow@tcp", -EBUSY, "4 look-ups hang");
	sleep(3); /* what was left behind ends and frees what it holds */
}

static void names_in_a_configuration(void **state)
{
	static const char text[] = "peer: [{primary nid: two@tcp, peer ni: [{nid: six@tcp1}]}]\n"
	                           "route: [{net: o2ib, gateway: looped@tcp}]\n";
	struct lnc_schema s = t_schema;
	struct lnc_resolver r;
	struct lnc_conf *c;
	struct lnc_errs e;
	char nid[LNET_NIDSTR_MAX];

	(void)state;
	resolver(&r);
	s.resolve = lnc_resolve;
	s.arg = &r;
	lnc_errs_init(&e, NULL);
	assert_int_equal(lnc_conf_read(text, sizeof(text) - 1, &s, 0, &c, &e), 0);
	assert_string_equal(lnet_nid_str(&c->peer[0].primary, nid, sizeof(nid)), "192.0.2.7@tcp");
	assert_string_equal(
	        lnet_nid_str(&c->peer[0].nids[0], nid, sizeof(nid)), "2001:db8::6@tcp1");
	assert_string_equal(lnet_nid_str(&c->route[0].gateway, nid, sizeof(nid)), "10.0.0.9@tcp");
	lnc_conf_free(c);
	assert_int_equal(
	        lnc_conf_read("peer: [{primary nid: nobody@tcp}]", 33, &s, 0, &c, &e), -ENOENT);
	assert_int_equal(e.v[0].column, 22);
	lnc_errs_free(&e);
	t_refused("peer: [{primary nid: two@tcp}]", 30, "host names are not resolved here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(write_and_read, make_dir, drop_dir),
	        cmocka_unit_test_setup_teardown(read_limits, make_dir, drop_dir),
	        cmocka_unit_test_setup_teardown(fifo, make_dir, drop_dir),
	        cmocka_unit_test_setup_teardown(never_half, make_dir, drop_dir),
	        cmocka_unit_test_setup_teardown(disk_full, make_dir, drop_dir),
	        cmocka_unit_test(host_names),
	        cmocka_unit_test(resolver_is_bounded),
	        cmocka_unit_test(names_in_a_configuration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
