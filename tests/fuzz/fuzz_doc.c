/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a document. What is accepted must write to YAML that reads back to an equal tree. */
#include "lnet/control/doc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct lnc_doc *d)
{
	struct lnc_doc *back = NULL;
	size_t len, jlen;
	char *text = lnc_doc_yaml(d, &len),
	     *json = lnc_doc_json(d, d->root && d->root->count % 2, &jlen);

	if (!text || !json || lnc_doc_parse(text, len, &back, NULL))
		abort();
	/* a text that is nothing is no document */
	if (d->root && back->root && !lnc_node_equal(d->root, back->root))
		abort();
	if (!d->root != !back->root)
		abort();
	lnc_doc_free(back);
	free(text);
	free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lnc_errs e;
	struct lnc_doc *d = NULL;
	int rc;

	lnc_errs_init(&e, "fuzz");
	rc = lnc_doc_parse((const char *)data, size, &d, &e);
	if ((rc != 0) != (e.errors != 0) || (rc != 0) != (d == NULL))
		abort();
	if (!rc) {
		check(d);
		lnc_doc_free(d);
	} else {
		free(lnc_errs_text(&e));
	}
	lnc_errs_free(&e);
	return 0;
}
