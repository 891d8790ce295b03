/* SPDX-License-Identifier: BSD-2-Clause */
/* test-timeout: 600 */
/*
 * conformance [--driver] NAME [--only GLOB] [--list]: the driver contract (<lnet/lnd.h>) on each
 * driver. A case that a driver has not the capability for is named and not run.
 */
#include "conformance/world.h"

#include <fnmatch.h>

struct table {
	const struct cf_case *c;
	const unsigned *count;
};
static const struct table tables[] = {
        {cf_basic, &cf_basic_count},
        {cf_receive, &cf_receive_count},
        {cf_send, &cf_send_count},
        {cf_connect, &cf_connect_count},
        {cf_stop, &cf_stop_count},
        {cf_rdma, &cf_rdma_count},
        {cf_local, &cf_local_count},
        {cf_tcp, &cf_tcp_count},
        {cf_soak, &cf_soak_count},
};

static const char *lacks(const struct cf_driver *d, const struct cf_case *c)
{
	if ((d->lnd->caps & c->caps) != c->caps)
		return "a capability of the driver";
	uint32_t missing = c->needs & ~d->has;
	if (missing & CF_STREAMS)
		return "payload that comes in pieces";
	if (missing & CF_SOCKETS)
		return "a peer made of sockets";
	if (missing & CF_LOCAL)
		return "a rail to its own NID";
	return NULL;
}

static void add_cases(
        const struct cf_driver *d, const char *only, struct CMUnitTest *t, size_t *n, bool list)
{
	for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++) {
		for (unsigned i = 0; i < *tables[k].count; i++) {
			const struct cf_case *c = &tables[k].c[i];
			char *name;
			if (only && fnmatch(only, c->name, 0))
				continue;
			if (lacks(d, c)) {
				printf("# %s/%s is not for this driver: needs %s\n", d->name,
				        c->name, lacks(d, c));
				continue;
			}
			if (asprintf(&name, "%s/%s", d->name, c->name) < 0)
				exit(1);
			if (list)
				puts(name);
			t[(*n)++] = (struct CMUnitTest){
			        name, c->fn, w_setup, w_teardown, (void *)(uintptr_t)d};
		}
	}
}

static int usage(const char *me)
{
	fprintf(stderr, "usage: %s [--driver] NAME [--only GLOB] [--list]\n  drivers:", me);
	for (unsigned i = 0; i < cf_ndrivers; i++)
		fprintf(stderr, " %s", cf_drivers[i].name);
	fprintf(stderr, " (default: all)\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *driver = NULL, *only = NULL;
	bool list = false, found = false;
	struct CMUnitTest tests[512];
	size_t n = 0;
	int rc = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--driver") && i + 1 < argc)
			driver = argv[++i];
		else if (!strcmp(argv[i], "--list"))
			list = true;
		else if (argv[i][0] != '-' && !driver)
			driver = argv[i];
		else
			return usage(argv[0]);
	}
	for (unsigned i = 0; i < cf_ndrivers; i++) {
		if (driver && strcmp(driver, cf_drivers[i].name))
			continue;
		found = true;
		add_cases(&cf_drivers[i], only, tests, &n, list);
	}
	if (!found || (!n && !list))
		return usage(argv[0]);
	if (!list)
		rc = _cmocka_run_group_tests("conformance", tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)tests[i].name);
	return rc ? 1 : 0;
}
