core_srcs += lnet/node.c
