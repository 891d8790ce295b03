/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Named fault points, for tests. They hang on a value (a node's), so that two nodes in one process
 * fail independently. Where nothing is set a point costs one load.
 */
#ifndef LNI_BASE_FAULT_H
#define LNI_BASE_FAULT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { LNI_FAULTS_MAX = 16 };

struct lni_fault {
	char point[32];
	uint64_t skip;  /* passes that are still let through */
	uint64_t times; /* passes that fail after them; UINT64_MAX = all */
	uint64_t hits;  /* passes that failed */
};

struct lni_faults {
	_Atomic uint32_t n;
	pthread_mutex_t lock; /* leaf; guards all below */
	struct lni_fault v[LNI_FAULTS_MAX];
};

void lni_faults_init(struct lni_faults *f);
void lni_faults_fini(struct lni_faults *f);
/* The nth pass of `point` from now on fails (1 = the next), and times - 1 passes after it. Setting
 * a point again replaces what was set. -EINVAL nth or times is 0, or the name is empty or too long;
 * -ENOSPC too many points. */
int lni_fault_set(struct lni_faults *f, const char *point, uint64_t nth, uint64_t times);
void lni_fault_clear(struct lni_faults *f, const char *point); /* NULL = all */
/* How often did this point fail since it was set? */
uint64_t lni_fault_count(struct lni_faults *f, const char *point);

bool lni_fault_pass(struct lni_faults *f, const char *point);

/* true: fail here. */
static inline bool lni_fault_hit(struct lni_faults *f, const char *point)
{
	return __builtin_expect(atomic_load_explicit(&f->n, memory_order_relaxed) != 0, 0) &&
	       lni_fault_pass(f, point);
}

#endif
