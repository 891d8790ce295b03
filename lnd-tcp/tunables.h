/* SPDX-License-Identifier: BSD-2-Clause */
/* The driver's numbers: what can be set, and what is counted. Indices of ni->tunables and
 * ni->stats. */
#ifndef TCP_TUNABLES_H
#define TCP_TUNABLES_H

#include <lnet/lnd.h>

enum tcp_tunable {
	TCP_T_PORT,
	TCP_T_CONNS_PER_PEER,
	TCP_T_TOS,
	TCP_T_TIMEOUT,
	TCP_T_MIN_RECONNECTMS,
	TCP_T_MAX_RECONNECTMS,
	TCP_T_MIN_BULK,
	TCP_T_TX_BUFFER_SIZE,
	TCP_T_RX_BUFFER_SIZE,
	TCP_T_NAGLE,
	TCP_T_KEEPALIVE,
	TCP_T_KEEPALIVE_IDLE,
	TCP_T_KEEPALIVE_COUNT,
	TCP_T_KEEPALIVE_INTVL,
	TCP_T_ENABLE_CSUM,
	TCP_T_ACCEPT_TIMEOUT,
	TCP_T_TYPED_CONNS,
	TCP_T_COUNT
};

enum tcp_stat {
	TCP_S_ACCEPTS,
	TCP_S_CONNECTS,
	TCP_S_RECONNECTS,
	TCP_S_CONNECT_FAILED,
	TCP_S_BACKOFF,
	TCP_S_CLOSES,
	TCP_S_RESTARTS,
	TCP_S_REFUSED_POLICY,
	TCP_S_REFUSED_LIMIT,
	TCP_S_REFUSED_NOFILE,
	TCP_S_REFUSED_NID,
	TCP_S_REFUSED_PEER,
	TCP_S_BAD_MAGIC,
	TCP_S_BAD_VERSION,
	TCP_S_BAD_TARGET,
	TCP_S_BAD_HELLO,
	TCP_S_HANDSHAKE_EOF,
	TCP_S_HANDSHAKE_TIMEOUT,
	TCP_S_DUPLICATE_CONN,
	TCP_S_RACE_LOST,
	TCP_S_RACE_REFUSED,
	TCP_S_PEER_REFUSED,
	TCP_S_BAD_TYPE,
	TCP_S_BAD_COOKIE,
	TCP_S_BAD_HEADER,
	TCP_S_BAD_CHECKSUM,
	TCP_S_EOF_IN_MESSAGE,
	TCP_S_RX_STALL,
	TCP_S_TX_STALL,
	TCP_S_TX_EXPIRED,
	TCP_S_TX_REQUEUED,
	TCP_S_TX_COPIED,
	TCP_S_ZC_REQUESTS,
	TCP_S_ZC_ACKS,
	TCP_S_NOOPS_SENT,
	TCP_S_NOOPS_RECEIVED,
	TCP_S_KEEPALIVES,
	TCP_S_SEND_CALLS,
	TCP_S_RECV_CALLS,
	TCP_S_COUNT
};

extern const struct lnet_tunable tcp_tunables[TCP_T_COUNT];
extern const struct lnet_stat_desc tcp_stats[TCP_S_COUNT];

static inline int64_t tcp_tun(const struct lnet_lnd_ni *ni, enum tcp_tunable t)
{
	return __atomic_load_n(&ni->tunables[t], __ATOMIC_RELAXED);
}

/* A tunable in seconds or milliseconds, as ns. */
static inline uint64_t tcp_tun_s(const struct lnet_lnd_ni *ni, enum tcp_tunable t)
{
	return (uint64_t)tcp_tun(ni, t) * 1000000000u;
}

static inline uint64_t tcp_tun_ms(const struct lnet_lnd_ni *ni, enum tcp_tunable t)
{
	return (uint64_t)tcp_tun(ni, t) * 1000000u;
}

static inline void tcp_stat(struct lnet_lnd_ni *ni, enum tcp_stat s)
{
	lnet_stat_add(&ni->stats[s], 1);
}

#endif
