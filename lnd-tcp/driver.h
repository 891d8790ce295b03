/* SPDX-License-Identifier: BSD-2-Clause */
/* What others see of the tcp driver: a program that links it in passes &lnet_lnd_tcp to
 * lnet_open(). */
#ifndef TCP_DRIVER_H
#define TCP_DRIVER_H

#include <lnet/lnd.h>

extern const struct lnet_lnd lnet_lnd_tcp;

/* The entry of lnd-tcp.so (LNET_LND_SYMBOL). */
const struct lnet_lnd *lnet_lnd_driver(void);

#endif
