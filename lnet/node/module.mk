core_srcs += lnet/node/dump.c
core_srcs += lnet/node/ping.c
core_srcs += lnet/node/pinger.c
