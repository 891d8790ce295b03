# SPDX-License-Identifier: BSD-2-Clause
# A static library on the public headers alone: the responder of ulnetd, the generator of ulst.
selftest_srcs += $(wildcard selftest/*.c)
