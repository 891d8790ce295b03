/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside the fake core. */
#ifndef TEST_FC_INT_H
#define TEST_FC_INT_H

#include "lib/fakecore.h"

static inline const struct lnet_lnd *fc_lnd(const struct fc_node *n)
{
	return n->d.lnd;
}

/* Around each entry that runs on a loop. */
static inline void fc_enter(struct fc_node *n, struct lnet_loop *l)
{
	n->in_entry[lni_loop_index(l)]++;
}

static inline void fc_leave(struct fc_node *n, struct lnet_loop *l)
{
	n->in_entry[lni_loop_index(l)]--;
}

/* At the head of each upcall. */
void fc_upcall(struct fc_node *n, struct lnet_loop *l, const char *what);
struct fc_rail *fc_rail_new(struct fc_node *n, const struct lnet_nid *nid, uint32_t pid, int *rc);
void fc_send_pending(struct fc_rail *r);
void fc_tx_over(struct fc_tx *tx); /* may free it */
struct fc_tx *fc_tx_find(struct fc_node *n, uint64_t id, uint32_t type);
void fc_mem_watch(struct fc_node *n, struct fc_mem *m); /* takes it over */
void fc_mem_unwatch(struct fc_node *n, bool all);
uint64_t fc_mem_sum(const struct fc_mem *m);
void fc_rx_end(struct fc_rx *rx, int status); /* the payload is in place, or lost */

#endif
