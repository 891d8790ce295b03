/* SPDX-License-Identifier: BSD-2-Clause */
#include "lnet/rt/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t lni_clock_mono(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t lni_clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
