# SPDX-License-Identifier: BSD-2-Clause
# Configuration: documents, values, the configuration as a value.
core_srcs += lnet/control/arena.c lnet/control/err.c lnet/control/scalar.c \
	lnet/control/doc.c lnet/control/doc_parse.c lnet/control/doc_emit.c \
	lnet/control/value.c lnet/control/value_list.c \
	lnet/control/conf.c lnet/control/conf_util.c lnet/control/conf_read.c \
	lnet/control/conf_net.c lnet/control/conf_peer.c lnet/control/conf_nids.c \
	lnet/control/conf_check.c lnet/control/conf_export.c \
	lnet/control/conf_merge.c lnet/control/conf_del.c lnet/control/conf_diff.c \
	lnet/control/conf_diff_lists.c lnet/control/ip2nets.c lnet/control/ifaces.c \
	lnet/control/resolve.c lnet/control/file.c
# Commands, the control socket, configuration of a running node.
core_srcs += lnet/control/cmd_table.c lnet/control/cmd_parse.c lnet/control/cmd_line.c \
	lnet/control/cmd_help.c lnet/control/cmd_man.c lnet/control/cmd_ctx.c \
	lnet/control/cmd_net.c lnet/control/cmd_net_show.c lnet/control/cmd_peer.c \
	lnet/control/cmd_peer_show.c lnet/control/cmd_ping.c lnet/control/cmd_misc.c \
	lnet/control/cmd_debug.c lnet/control/cmd_import.c lnet/control/cmd_export.c \
	lnet/control/check.c lnet/control/check_facts.c lnet/control/show.c \
	lnet/control/nids.c lnet/control/request.c lnet/control/server.c lnet/control/bind.c \
	lnet/control/control.c lnet/control/collect.c lnet/control/plan.c \
	lnet/control/configure.c lnet/control/origin.c
