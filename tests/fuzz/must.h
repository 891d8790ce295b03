/* SPDX-License-Identifier: BSD-2-Clause */
/* A property that a fuzzer found broken ends the run, whatever NDEBUG says. */
#ifndef TEST_FUZZ_MUST_H
#define TEST_FUZZ_MUST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(c)                                                                               \
	do {                                                                                  \
		if (!(c)) {                                                                   \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #c); \
			abort();                                                              \
		}                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
