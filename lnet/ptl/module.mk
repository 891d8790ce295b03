core_srcs += lnet/ptl/ids.c
core_srcs += lnet/ptl/match.c
core_srcs += lnet/ptl/md.c
core_srcs += lnet/ptl/me.c
core_srcs += lnet/ptl/park.c
