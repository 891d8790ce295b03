/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answering pings and pushes on portal 0, and pinging.
 */
#ifndef LNI_NODE_PING_H
#define LNI_NODE_PING_H

#include "lnet/ptl/ptl.h"

int lni_ping_open(struct lnet *n);
void lni_ping_stop(struct lnet *n);
void lni_ping_close(struct lnet *n);
/* Something that a ping tells of us changed. Any thread; on return the next ping says so, unless
 * the caller is on another loop than the first. */
void lni_ping_changed(struct lnet *n);

#endif
