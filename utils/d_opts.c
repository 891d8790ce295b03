/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of ulnetd. */
#include "utils/d.h"

#include "lnet/control/value.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
        "usage: ulnetd --config FILE [--name NAME] [--foreground] [OPTIONS]\n\n"
        "  -c, --config FILE     configuration in YAML\n"
        "  -n, --name NAME       name of the node, of its socket and pid file (ulnet)\n"
        "  -f, --foreground      stay; without it go to the background when ready\n"
        "  -t, --check           check the configuration against this host, change nothing\n"
        "      --loops N         event loops, a thread each (1..64, default 1)\n"
        "      --spin-us N       spin before sleeping, in microseconds (0..1000000, default 20)\n"
        "      --drain N         seconds that work under way has to end at SIGTERM (0..3600, "
        "default 10)\n"
        "  -h, --help            this text\n"
        "  -V, --version         version\n\n"
        "SIGHUP reads the configuration again and applies the difference; SIGTERM and SIGINT end "
        "it, a\n"
        "second one at once. Exit status: 0 ended as asked; 1 it could not start, or was made to "
        "end at\n"
        "once; 2 usage.\n";

enum { OPT_LOOPS = 256, OPT_SPIN, OPT_DRAIN };

static const struct option longopts[] = {{"config", required_argument, NULL, 'c'},
        {"name", required_argument, NULL, 'n'}, {"foreground", no_argument, NULL, 'f'},
        {"check", no_argument, NULL, 't'}, {"loops", required_argument, NULL, OPT_LOOPS},
        {"spin-us", required_argument, NULL, OPT_SPIN},
        {"drain", required_argument, NULL, OPT_DRAIN}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};

static int number(const char *name, int64_t min, int64_t max, const char *text, unsigned *out)
{
	struct lnc_err err;
	int64_t v;

	if (lnc_int_check(name, "", min, max, text, &v, &err)) {
		fprintf(stderr, "ulnetd: --%s: %s\n", name, err.msg);
		return -1;
	}
	*out = (unsigned)v;
	return 0;
}

/* It becomes part of file names. */
static int good_name(const char *name)
{
	size_t len = strlen(name);

	if (len && len <= 63 && name[0] != '.' &&
	        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
	                len)
		return 0;
	fprintf(stderr, "ulnetd: --name '%s': 1 to 63 letters, digits, '.', '_' or '-'\n", name);
	return -1;
}

static int one(struct d_opts *o, int c)
{
	switch (c) {
	case 'c':
		o->config = optarg;
		return 0;
	case 'n':
		o->name = optarg;
		return good_name(optarg);
	case 'f':
		o->foreground = true;
		return 0;
	case 't':
		o->check = true;
		return 0;
	case OPT_LOOPS:
		return number("loops", 1, 64, optarg, &o->loops);
	case OPT_SPIN:
		o->spin_set = true;
		return number("spin-us", 0, 1000000, optarg, &o->spin_us);
	case OPT_DRAIN:
		return number("drain", 0, 3600, optarg, &o->drain_s);
	case 'h':
		fputs(help, stdout);
		return 1;
	case 'V':
		printf("ulnetd %s\n", lnet_version());
		return 1;
	default:
		fputs("ulnetd: see ulnetd --help\n", stderr);
		return -1;
	}
}

int d_options(struct d_opts *o, int argc, char **argv)
{
	int c;

	*o = (struct d_opts){.name = "ulnet", .loops = 1, .drain_s = 10};
	while ((c = getopt_long(argc, argv, "c:n:fthV", longopts, NULL)) != -1) {
		int rc = one(o, c);
		if (rc)
			return rc;
	}
	if (optind < argc) {
		fprintf(stderr, "ulnetd: unexpected argument '%s'\n", argv[optind]);
		return -1;
	}
	if (!o->config) {
		fputs("ulnetd: --config FILE is missing\n", stderr);
		return -1;
	}
	return 0;
}
