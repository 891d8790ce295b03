# SPDX-License-Identifier: BSD-2-Clause
tcp_srcs += lnd-tcp/proto.c lnd-tcp/proto_msg.c
tcp_srcs += $(addprefix lnd-tcp/,accept.c addr.c cancel.c conn.c connect.c debug.c driver.c \
	fence.c lane.c listen.c netlink.c ni.c peer.c pump.c rx.c sock.c tunables.c tx.c zc.c)
