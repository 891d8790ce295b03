/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loopback driver: what is addressed to one of the node's own NIDs goes through it.
 *
 * A rail of its NI stands for one local NID. A message sent on the rail is handed to parse() on the
 * same rail and the same loop, in a later work of the loop; the header keeps its source and
 * destination. Payload goes from the sender's memory to the receiver's in one copy.
 *
 * FAKE RDMA (lni_lnd_lo_rdma) has the shapes of a driver for RDMA hardware, so that the core meets
 * them without any: recv() always ends later, in steps, and is refused with -ENOMEM when rdma_depth
 * receives of the rail are under way; redirect() cannot recall the step under way and returns 0;
 * each range of memory needs its handle with the right access (written: LNET_MD_OP_PUT; payload of
 * a REPLY: LNET_MD_OP_GET; payload of a PUT: any); a GET whose answer is larger than rdma_min is
 * optimised: it ends by get_done(), then tx_done(); its rx has want_reply set and ends with the
 * REPLY's tx that names it, or by discard(). fence() is always asynchronous.
 *
 * SEVERAL NODES IN ONE PROCESS (tests): the nodes share a fabric. Before open(), the caller points
 * lnet_lnd_node.drv at it; NULL, the normal case, means that every NID is this node's own. With a
 * fabric a rail to the NI's own NID is as above, and any other NID is that of another NI of the
 * fabric, to which the driver connects; payload is then copied into the connection, which holds a
 * few messages.
 */
#ifndef LNI_NET_LO_H
#define LNI_NET_LO_H

#include <lnet/lnd.h>

extern const struct lnet_lnd lni_lnd_lo;
extern const struct lnet_lnd lni_lnd_lo_rdma;

struct lni_lo_fabric;

/* Any thread. NULL: no memory. Freed when every node that used it is closed. */
struct lni_lo_fabric *lni_lo_fabric_new(void);
void lni_lo_fabric_free(struct lni_lo_fabric *f);

/* Connections to nid are answered as with no peer there (neither accepted nor refused) until it is
 * called with on = false. At most LNI_LO_SILENT_MAX NIDs: -ENOSPC. */
#define LNI_LO_SILENT_MAX 8u
int lni_lo_fabric_silence(struct lni_lo_fabric *f, const struct lnet_nid *nid, bool on);
/* Every connection of nid breaks; both ends notice. */
void lni_lo_fabric_cut(struct lni_lo_fabric *f, const struct lnet_nid *nid);
/* The node with this nid dies without a word: its connections break at its own end alone, and its
 * NID is free for another node. Its own NI is still to be stopped. */
void lni_lo_fabric_vanish(struct lni_lo_fabric *f, const struct lnet_nid *nid);

#endif
