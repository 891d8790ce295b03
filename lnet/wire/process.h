/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Process ids: "12345-10.0.0.1@tcp", "U7-10.0.0.1@tcp" (user flag set),
 * "LNET_PID_ANY-10.0.0.1@tcp", and a NID alone, which means PID 12345 (spec: wire-lnet.md
 * section 2.5).
 */
#ifndef LNI_WIRE_PROCESS_H
#define LNI_WIRE_PROCESS_H

#include <lnet/hdr.h>

#define LNI_PROCSTR_MAX (LNET_NIDSTR_MAX + 16) /* bytes that hold any text, NUL included */

/* 0, or -EINVAL with *err filled in. */
int lni_process_parse(
        const char *s, size_t len, uint32_t *pid, struct lnet_nid *nid, struct lnet_parse_err *err);
/* Canonical text, with the PID always. Returns buf, of at least LNI_PROCSTR_MAX bytes. */
char *lni_process_str(uint32_t pid, const struct lnet_nid *nid, char *buf, size_t size);

#endif
