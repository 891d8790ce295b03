/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who set a value that is in force: "file" (ulnetd's configuration), "import", "command", or
 * "default". Kept by the control object; a change through the API alone is told as "program".
 */
#ifndef LNC_ORIGIN_H
#define LNC_ORIGIN_H

#include "lnet/control/conf.h"

struct lnet_control;

/* The steps were applied on behalf of `who`, which is constant text. */
void lnc_origin_note(struct lnet_control *c, const struct lnc_steps *s,
        const struct lnet_nid *added, const char *who);
/* One tunable of an NI, one global number; set: is it given at all? */
const char *lnc_origin_ni(
        struct lnet_control *c, const struct lnet_nid *nid, const char *name, bool set);
const char *lnc_origin_global(struct lnet_control *c, const char *name, bool set);

/* The list behind it, inside the control object. */
struct lnc_origin;
void lnc_origin_free(struct lnc_origin *o);

#endif
