/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of ulst. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/ulst.h"

static const char help[] =
        "usage: ulst run --to NIDS [OPTIONS] put|get [size=4K] [check=none|simple|full]\n\n"
        "Moves data to (put) or from (get) the responders of the named nodes (`selftest: true` in\n"
        "ulnetd's configuration), checks it, and measures.\n\n"
        "  -t, --to NIDS         targets: NIDs with ranges, comma separated (10.0.0.[1-4]@tcp)\n"
        "  -N, --node NAME       use the networks of this daemon of the host, as its client\n"
        "  -c, --config FILE     or a configuration in YAML for a node of its own\n"
        "  -p, --port N          without either: the port of the targets' network (988)\n"
        "  -C, --concurrency N   operations under way to each target (1..1024, default 8)\n"
        "  -T, --time S          seconds (1..86400, default 10 unless --count is given)\n"
        "  -n, --count N         operations to each target\n"
        "      --timeout S       seconds that one operation may take (1..3600, default 30)\n"
        "  -j, --json            print JSON\n"
        "  -h, --help            this text\n"
        "  -V, --version         version\n\n"
        "  size=N[K|M]           bytes of one operation: 1..1M\n"
        "  check=none|simple|full  what is written and looked at: nothing, both ends of each 4 "
        "KiB,\n"
        "                        every byte (default)\n\n"
        "Exit status: 0 no error; 1 errors; 2 usage.\n";

enum { OPT_TIMEOUT = 256 };

static const struct option longopts[] = {{"to", required_argument, NULL, 't'},
        {"node", required_argument, NULL, 'N'}, {"config", required_argument, NULL, 'c'},
        {"port", required_argument, NULL, 'p'}, {"concurrency", required_argument, NULL, 'C'},
        {"time", required_argument, NULL, 'T'}, {"count", required_argument, NULL, 'n'},
        {"timeout", required_argument, NULL, OPT_TIMEOUT}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};

/* Digits alone, then a unit if one is allowed. */
static int number(
        const char *what, const char *text, bool units, uint64_t min, uint64_t max, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t v, unit = 1;
	const char *rest = text + digits;

	errno = 0;
	v = strtoull(text, NULL, 10);
	if (units && (!strcmp(rest, "K") || !strcmp(rest, "k")))
		unit = 1024, rest++;
	else if (units && (!strcmp(rest, "M") || !strcmp(rest, "m")))
		unit = 1024 * 1024, rest++;
	if (!digits || digits > 18 || *rest || errno || v > UINT64_MAX / unit || v * unit < min ||
	        v * unit > max) {
		fprintf(stderr, "ulst: %s: '%s' is not a number in %llu..%llu\n", what, text,
		        (unsigned long long)min, (unsigned long long)max);
		return -1;
	}
	*out = v * unit;
	return 0;
}

static int option(struct ulst_args *a, int c)
{
	uint64_t v = 0;
	int rc = 0;

	switch (c) {
	case 't':
		a->to = optarg;
		break;
	case 'N':
		a->node = optarg;
		break;
	case 'c':
		a->config = optarg;
		break;
	case 'p':
		rc = number("--port", optarg, false, 1, 65535, &v);
		a->port = (int64_t)v;
		break;
	case 'C':
		rc = number("--concurrency", optarg, false, 1, 1024, &v);
		a->run.concurrency = (unsigned)v;
		break;
	case 'T':
		rc = number("--time", optarg, false, 1, 86400, &v);
		a->run.time_ns = v * 1000000000ull;
		break;
	case 'n':
		rc = number("--count", optarg, false, 1, 1ull << 34, &v);
		a->run.count = v;
		break;
	case OPT_TIMEOUT:
		rc = number("--timeout", optarg, false, 1, 3600, &v);
		a->run.op_timeout_ns = v * 1000000000ull;
		break;
	case 'j':
		a->json = true;
		break;
	default:
		rc = -1; /* getopt named it */
		break;
	}
	return rc;
}

static int check_word(struct ulst_args *a, const char *v)
{
	static const char *const names[] = {"none", "simple", "full"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(v, names[i])) {
			a->run.check = (enum lst_check)i;
			return 0;
		}
	}
	fprintf(stderr, "ulst: check: '%s' is not none, simple or full\n", v);
	return -1;
}

static int word(struct ulst_args *a, const char *w, bool *op)
{
	uint64_t v;

	if (!strcmp(w, "put") || !strcmp(w, "get")) {
		if (*op) {
			fprintf(stderr, "ulst: '%s': one of put and get, once\n", w);
			return -1;
		}
		*op = true;
		a->run.get = *w == 'g';
		return 0;
	}
	if (!strncmp(w, "size=", 5)) {
		if (number("size", w + 5, true, 1, 1u << 20, &v))
			return -1;
		a->run.bytes = (uint32_t)v;
		return 0;
	}
	if (!strncmp(w, "check=", 6))
		return check_word(a, w + 6);
	fprintf(stderr, "ulst: '%s' is not put, get, size= or check=\n", w);
	return -1;
}

static int complete(struct ulst_args *a, bool op)
{
	if (!a->to || !op) {
		fprintf(stderr, "ulst: %s\n",
		        a->to ? "put or get is missing" : "--to NIDS is missing");
		return -1;
	}
	if (a->node && a->config) {
		fprintf(stderr, "ulst: --node and --config exclude each other\n");
		return -1;
	}
	if (a->port && (a->node || a->config)) {
		fprintf(stderr, "ulst: --port is for a node without --node or --config\n");
		return -1;
	}
	if (!a->run.time_ns && !a->run.count)
		a->run.time_ns = 10000000000ull;
	return 0;
}

int ulst_parse(struct ulst_args *a, int argc, char **argv)
{
	bool op = false;
	int c;

	memset(a, 0, sizeof(*a));
	lst_run_conf_init(&a->run, sizeof(a->run));
	a->run.check = LST_CHECK_FULL;
	if (argc > 1 && !strcmp(argv[1], "run")) {
		argv[1] = argv[0];
		argc--;
		argv++;
	} else if (argc < 2 || argv[1][0] != '-') {
		fprintf(stderr, "ulst: '%s' is not a command; see ulst --help\n",
		        argc < 2 ? "" : argv[1]);
		return -1;
	}
	while ((c = getopt_long(argc, argv, "t:N:c:p:C:T:n:jhV", longopts, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (c == 'V') {
			printf("ulst %s\n", lnet_version());
			return 1;
		}
		if (option(a, c))
			return -1;
	}
	for (; optind < argc; optind++)
		if (word(a, argv[optind], &op))
			return -1;
	return complete(a, op);
}
