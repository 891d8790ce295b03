/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/base/fault.h"

#include <errno.h>
#include <string.h>

void lni_faults_init(struct lni_faults *f)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
}

void lni_faults_fini(struct lni_faults *f)
{
	pthread_mutex_destroy(&f->lock);
}

static struct lni_fault *find(struct lni_faults *f, const char *point)
{
	uint32_t n = atomic_load_explicit(&f->n, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(f->v[i].point, point))
			return &f->v[i];
	}
	return NULL;
}

int lni_fault_set(struct lni_faults *f, const char *point, uint64_t nth, uint64_t times)
{
	struct lni_fault *e;
	int rc = 0;

	if (!nth || !times || !point[0] || strlen(point) >= sizeof(e->point))
		return -EINVAL;
	pthread_mutex_lock(&f->lock);
	e = find(f, point);
	if (!e) {
		uint32_t n = atomic_load_explicit(&f->n, memory_order_relaxed);

		if (n < LNI_FAULTS_MAX) {
			e = &f->v[n];
			atomic_store_explicit(&f->n, n + 1, memory_order_relaxed);
		}
	}
	if (e) {
		memset(e, 0, sizeof(*e));
		memcpy(e->point, point, strlen(point));
		e->skip = nth - 1;
		e->times = times;
	} else {
		rc = -ENOSPC;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

void lni_fault_clear(struct lni_faults *f, const char *point)
{
	struct lni_fault *e;

	pthread_mutex_lock(&f->lock);
	if (!point) {
		atomic_store_explicit(&f->n, 0, memory_order_relaxed);
	} else {
		e = find(f, point);
		if (e) {
			uint32_t n = atomic_load_explicit(&f->n, memory_order_relaxed) - 1;

			*e = f->v[n];
			atomic_store_explicit(&f->n, n, memory_order_relaxed);
		}
	}
	pthread_mutex_unlock(&f->lock);
}

uint64_t lni_fault_count(struct lni_faults *f, const char *point)
{
	struct lni_fault *e;
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	e = find(f, point);
	n = e ? e->hits : 0;
	pthread_mutex_unlock(&f->lock);
	return n;
}

bool lni_fault_pass(struct lni_faults *f, const char *point)
{
	struct lni_fault *e;
	bool hit = false;

	pthread_mutex_lock(&f->lock);
	e = find(f, point);
	if (e && e->skip) {
		e->skip--;
	} else if (e && e->times) {
		if (e->times != UINT64_MAX)
			e->times--;
		e->hits++;
		hit = true;
	}
	pthread_mutex_unlock(&f->lock);
	return hit;
}
