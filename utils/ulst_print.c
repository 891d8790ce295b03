/* SPDX-License-Identifier: BSD-2-Clause */
/* What ulst prints. */
#include <stdio.h>
#include <string.h>

#include "utils/ulst.h"

#define MIB  1048576.0
#define U(x) ((unsigned long long)(x))

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

static uint64_t remote_bytes(const struct ulst_args *a, const struct lst_run_result *r)
{
	uint64_t ops = 0;

	for (unsigned i = 0; i < r->nnodes; i++)
		ops += r->node[i].remote_ops;
	return ops * a->run.bytes;
}

static void json_nodes(const struct lst_run_result *r)
{
	char nid[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < r->nnodes; i++) {
		const struct lst_node_result *n = &r->node[i];

		printf("%s{\"nid\":", i ? "," : "");
		json_text(lnet_nid_str(&n->nid, nid, sizeof(nid)));
		printf(",\"ops\":%llu,\"remote_ops\":%llu,\"told\":%s,\"sessions\":%u,\"failures\":"
		       "%"
		       "llu}",
		        U(n->ops), U(n->remote_ops), n->told ? "true" : "false", n->sessions,
		        U(n->errors));
	}
}

/* Session, source, operation and offset: expected, and found. */
static void json_bad(const struct lst_run_result *r)
{
	char nid[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < r->nbad; i++) {
		const struct lst_bad *b = &r->bad[i];

		printf("%s{\"nid\":", i ? "," : "");
		json_text(lnet_nid_str(&b->nid, nid, sizeof(nid)));
		printf(",\"seen_by\":\"%s\",\"expected\":{\"session\":%u,\"source\":%u,\"op\":%llu,"
		       "\"offset\":%llu},\"found\":",
		        b->remote ? "target" : "ulst", b->session, b->source, U(b->op), U(b->at));
		if (b->known)
			printf("{\"session\":%u,\"source\":%u,\"op\":%llu,\"offset\":%llu}",
			        b->found_session, b->found_source, U(b->found_op), U(b->found_at));
		else
			printf("null");
		printf(",\"word\":\"0x%016llx\"}", U(b->word));
	}
}

static void print_json(const struct ulst_args *a, const struct lst_run_result *r)
{
	printf("{\"op\":\"%s\",\"to\":", a->run.get ? "get" : "put");
	json_text(a->to);
	printf(",\"targets\":%u,\"size\":%u,\"check\":\"%s\",\"concurrency\":%u,", a->run.ntargets,
	        a->run.bytes, check_name(a->run.check), a->run.concurrency);
	printf("\"seconds\":%.6f,\"started\":%llu,\"ops\":%llu,\"failed\":%llu,\"bytes\":%llu,"
	       "\"remote_bytes\":%llu,\"mib_per_s\":%.3f,\"ops_per_s\":%.1f,",
	        seconds(r), U(r->started), U(r->ops), U(r->failed), U(r->bytes),
	        U(remote_bytes(a, r)), (double)r->bytes / MIB / seconds(r),
	        (double)r->ops / seconds(r));
	printf("\"latency_us\":{\"min\":%.2f,\"p50\":%.2f,\"p99\":%.2f,\"p99.9\":%.2f,\"max\":%.2f}"
	       ",",
	        us(r, 0), us(r, 500), us(r, 990), us(r, 999), us(r, 1000));
	printf("\"stopped\":%s,\"errors\":%llu,\"causes\":{", r->stopped ? "true" : "false",
	        U(r->errors));
	for (unsigned i = 0; i < r->ncauses; i++) {
		if (i)
			putchar(',');
		json_text(r->cause[i].name);
		printf(":%llu", U(r->cause[i].count));
	}
	printf("},\"first_error\":");
	json_text(r->first);
	printf(",\"wrong_data\":[");
	json_bad(r);
	printf("],\"nodes\":[");
	json_nodes(r);
	printf("]}\n");
}

static void print_errors(const struct lst_run_result *r)
{
	char text[400], nid[LNET_NIDSTR_MAX];

	for (unsigned i = 0; i < r->ncauses; i++)
		printf("     %llu x %s\n", U(r->cause[i].count), r->cause[i].name);
	for (unsigned i = 0; i < r->nnodes && r->nnodes > 1; i++)
		if (r->node[i].errors)
			printf("     %llu at %s\n", U(r->node[i].errors),
			        lnet_nid_str(&r->node[i].nid, nid, sizeof(nid)));
	if (r->first[0])
		printf("     first: %s\n", r->first);
	for (unsigned i = 0; i < r->nbad; i++)
		printf("     %s\n", lst_bad_str(&r->bad[i], text, sizeof(text)));
}

static void print_table(const struct ulst_args *a, const struct lst_run_result *r)
{
	/* "data moves this way", as seen from here */
	printf("%-4s %8s %6s %7s %12s %10s %10s %9s %9s %9s %9s %8s\n", "op", "size", "check",
	        "targets", "operations", "MiB/s", "ops/s", "p50 us", "p99 us", "p99.9 us", "max us",
	        "errors");
	printf("%-4s %8u %6s %7u %12llu %10.1f %10.0f %9.1f %9.1f %9.1f %9.1f %8llu\n",
	        a->run.get ? "get" : "put", a->run.bytes, check_name(a->run.check), a->run.ntargets,
	        U(r->ops), (double)r->bytes / MIB / seconds(r), (double)r->ops / seconds(r),
	        us(r, 500), us(r, 990), us(r, 999), us(r, 1000), U(r->errors));
	print_errors(r);
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
