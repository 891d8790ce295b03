/* SPDX-License-Identifier: BSD-2-Clause */
/* What ulst prints. */
#include <stdio.h>
#include <string.h>

#include "utils/ulst.h"

#define MIB 1048576.0

static const char *check_name(enum lst_check c)
{
	return c == LST_CHECK_NONE ? "none" : c == LST_CHECK_SIMPLE ? "simple" : "full";
}

static double seconds(const struct lst_run_result *r)
{
	return r->ns ? (double)r->ns / 1e9 : 1e-9;
}

static double us(const struct lst_run_result *r, unsigned permille)
{
	return (double)lst_hist_permille(&r->lat, permille) / 1e3;
}

static void json_text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", (unsigned)(unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_json(const struct ulst_args *a, const struct lst_run_result *r)
{
	printf("{\"op\":\"%s\",\"to\":", a->run.get ? "get" : "put");
	json_text(a->to);
	printf(",\"targets\":%u,\"size\":%u,\"check\":\"%s\",\"concurrency\":%u,", a->run.ntargets,
	        a->run.bytes, check_name(a->run.check), a->run.concurrency);
	printf("\"seconds\":%.6f,\"ops\":%llu,\"bytes\":%llu,\"mib_per_s\":%.3f,\"ops_per_s\":%."
	       "1f,",
	        seconds(r), (unsigned long long)r->ops, (unsigned long long)r->bytes,
	        (double)r->bytes / MIB / seconds(r), (double)r->ops / seconds(r));
	printf("\"latency_us\":{\"min\":%.2f,\"p50\":%.2f,\"p99\":%.2f,\"p99.9\":%.2f,\"max\":%.2f}"
	       ",",
	        us(r, 0), us(r, 500), us(r, 990), us(r, 999), us(r, 1000));
	printf("\"stopped\":%s,\"errors\":%llu,\"causes\":{", r->stopped ? "true" : "false",
	        (unsigned long long)r->errors);
	for (unsigned i = 0; i < r->ncauses; i++) {
		if (i)
			putchar(',');
		json_text(r->cause[i].name);
		printf(":%llu", (unsigned long long)r->cause[i].count);
	}
	printf("},\"first_error\":");
	json_text(r->first);
	printf("}\n");
}

static void print_table(const struct ulst_args *a, const struct lst_run_result *r)
{
	/* "data moves this way", as seen from here */
	printf("%-4s %8s %6s %7s %12s %10s %10s %9s %9s %9s %9s %8s\n", "op", "size", "check",
	        "targets", "operations", "MiB/s", "ops/s", "p50 us", "p99 us", "p99.9 us", "max us",
	        "errors");
	printf("%-4s %8u %6s %7u %12llu %10.1f %10.0f %9.1f %9.1f %9.1f %9.1f %8llu\n",
	        a->run.get ? "get" : "put", a->run.bytes, check_name(a->run.check), a->run.ntargets,
	        (unsigned long long)r->ops, (double)r->bytes / MIB / seconds(r),
	        (double)r->ops / seconds(r), us(r, 500), us(r, 990), us(r, 999), us(r, 1000),
	        (unsigned long long)r->errors);
	for (unsigned i = 0; i < r->ncauses; i++)
		printf("     %llu x %s\n", (unsigned long long)r->cause[i].count, r->cause[i].name);
	if (r->first[0])
		printf("     first: %s\n", r->first);
	if (r->stopped)
		printf("     stopped by a signal\n");
}

void ulst_print(const struct ulst_args *a, const struct lst_run_result *r)
{
	if (a->json)
		print_json(a, r);
	else
		print_table(a, r);
}

void ulst_progress(void *arg, const struct lst_progress *p)
{
	double s = p->ns ? (double)p->ns / 1e9 : 1e-9;

	(void)arg;
	fprintf(stderr, "\r%7.1f s %12llu operations %10.1f MiB/s %8llu errors", s,
	        (unsigned long long)p->ops, (double)p->bytes / MIB / s,
	        (unsigned long long)p->errors);
}

void ulst_progress_clear(void)
{
	fprintf(stderr, "\r%70s\r", "");
}
