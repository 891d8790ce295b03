core_srcs += lnet/route/select.c
