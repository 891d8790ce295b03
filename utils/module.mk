# SPDX-License-Identifier: BSD-2-Clause
ulnetctl_srcs += utils/ulnetctl.c utils/ctl_command.c utils/ctl_script.c utils/ctl_client.c \
	utils/ctl_resolve.c
ulnetd_srcs += utils/ulnetd.c utils/d_opts.c utils/d_log.c utils/d_start.c utils/d_notify.c
ulst_srcs += utils/ulst.c utils/ulst_args.c utils/ulst_node.c utils/ulst_print.c utils/ctl_client.c
