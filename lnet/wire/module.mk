# SPDX-License-Identifier: BSD-2-Clause
core_srcs += lnet/wire/perr.c lnet/wire/nid.c lnet/wire/nid_str.c lnet/wire/hdr.c lnet/wire/ping.c
