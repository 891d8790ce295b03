core_srcs += $(wildcard lnet/rt/*.c)
