/* SPDX-License-Identifier: BSD-2-Clause */
/* The system's clocks: the one place that asks for them. A node's clock is an option of the node;
 * these are its default, and what concerns no node. Any thread. */
#ifndef LNI_RT_CLOCK_H
#define LNI_RT_CLOCK_H

#include <stdint.h>

/* Monotonic, ns. arg is not used: the shape is that of struct lnet_clock. */
uint64_t lni_clock_mono(void *arg);
/* Wall clock, ns since 1970. */
uint64_t lni_clock_wall(void);

#endif
