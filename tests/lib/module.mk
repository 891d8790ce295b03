testlib_srcs += $(wildcard tests/lib/*.c)
