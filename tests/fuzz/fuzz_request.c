/* SPDX-License-Identifier: BSD-2-Clause */
/* Documents as they come over the control socket, in both directions. */
#include "lnet/control/request.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lnc_err err = {.msg = ""};
	struct lnc_answer a;
	struct lnc_req r;

	lnc_req_init(&r);
	if (lnc_req_decode(&r, (const char *)data, size, &err) && !err.msg[0])
		abort(); /* a refusal has a reason */
	lnc_req_free(&r);
	if (!lnc_answer_decode(&a, (const char *)data, size, &err)) {
		if (a.result)
			free(lnc_answer_text(a.result, false, NULL));
		if (a.result)
			free(lnc_answer_text(a.result, true, NULL));
		lnc_answer_free(&a);
	}
	return 0;
}
