# SPDX-License-Identifier: BSD-2-Clause
tcp_srcs += lnd-tcp/proto.c lnd-tcp/proto_msg.c
