# SPDX-License-Identifier: BSD-2-Clause
core_srcs += lnet/wire/perr.c lnet/wire/text.c lnet/wire/nid.c lnet/wire/nid_str.c lnet/wire/hdr.c
core_srcs += lnet/wire/ping.c lnet/wire/numset.c lnet/wire/range.c lnet/wire/range_out.c
core_srcs += lnet/wire/cptlist.c lnet/wire/process.c
core_srcs += lnet/wire/legacy.c lnet/wire/legacy_rules.c lnet/wire/legacy_routes.c
