core_srcs += $(wildcard lnet/base/*.c)
