/* SPDX-License-Identifier: BSD-2-Clause */
/* A word to sleep on. The caller re-checks: every return may be spurious. */
#ifndef LNI_RT_FUTEX_H
#define LNI_RT_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while *w == val, at most ns (UINT64_MAX = no limit). */
static inline void lni_futex_wait(_Atomic uint32_t *w, uint32_t val, uint64_t ns)
{
	struct timespec ts = {
	        .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

	syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, val, ns == UINT64_MAX ? NULL : &ts, NULL, 0);
}

static inline void lni_futex_wake(_Atomic uint32_t *w, int n)
{
	syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

#endif
