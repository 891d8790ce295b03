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
