# SPDX-License-Identifier: BSD-2-Clause
#
# One non-recursive Makefile. Each folder names its sources in a module.mk;
# tests are found by wildcard. `make help` lists the targets.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

ULNET_VERSION := 0.1.0
SOVERSION := 0

# ---- tools -----------------------------------------------------------------
ifneq ($(filter undefined default,$(origin CC)),)
CC := gcc
endif
ifneq ($(filter undefined default,$(origin AR)),)
AR := ar
endif
FUZZ_CC ?= clang
PKG_CONFIG ?= pkg-config
INSTALL ?= install
PYTHON ?= python3

# ---- options ---------------------------------------------------------------
SANITIZE ?=
COVERAGE ?= 0
WERROR ?= 0
V ?= 0
BUILD_VERBS ?= auto
BUILD_OFI ?= auto

# $(call one-of,VARIABLE,VALUES): stop unless the variable has one of the values
one-of = $(if $(filter-out 1,$(words $($(1)))),$(error $(1)="$($(1))": use one of: $(2)))$(if \
	$(filter $(2),$($(1))),,$(error $(1)="$($(1))": use one of: $(2)))
$(call one-of,COVERAGE,0 1)
$(call one-of,WERROR,0 1)
$(call one-of,V,0 1)
$(call one-of,BUILD_VERBS,auto yes no)
$(call one-of,BUILD_OFI,auto yes no)

# variant name of each accepted SANITIZE value
san-none := release
san-address,undefined := asan
san-undefined,address := asan
san-address := address
san-undefined := ubsan
san-thread := tsan
san-key := $(or $(SANITIZE),none)
ifeq ($(san-$(san-key)),)
$(error SANITIZE="$(SANITIZE)": use one of: address,undefined address undefined thread)
endif
VARIANT := $(san-$(san-key))
ifeq ($(COVERAGE),1)
VARIANT := $(if $(SANITIZE),$(VARIANT)-cov,cov)
endif

B := build/$(VARIANT)
O := $(B)/obj

# ---- flags -----------------------------------------------------------------
warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wformat=2 -Wundef
OPTIMIZE ?= -O2 -g
san-flags := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) \
	$(if $(findstring undefined,$(SANITIZE)),-fno-sanitize-recover=undefined)
cov-flags := $(if $(filter 1,$(COVERAGE)),--coverage -fprofile-update=atomic)

# The symbol map hides what is not public, so the code is compiled with default
# visibility; the two options after -fPIC keep calls inside the library direct.
base-cflags := -std=c11 -D_GNU_SOURCE $(OPTIMIZE) $(warnings) -fPIC \
	-fno-semantic-interposition -fno-strict-aliasing -pthread \
	-DULNET_VERSION='"$(ULNET_VERSION)"'
all-cflags = $(base-cflags) $(san-flags) $(cov-flags) $(CPPFLAGS) $(CFLAGS)
werror := $(if $(filter 1,$(WERROR)),-Werror)
all-ldflags = $(san-flags) $(cov-flags) -pthread -Wl,--as-needed $(LDFLAGS)
so-ldflags := -shared -Wl,-z,defs -Wl,-Bsymbolic-functions

core-inc := -I. -Ilnet/include
driver-inc := -Ilnet/include
test-inc := -I. -Ilnet/include -Itests

# ---- sources ---------------------------------------------------------------
core_srcs :=
tcp_srcs :=
selftest_srcs :=
ulnetd_srcs :=
ulnetctl_srcs :=
ulst_srcs :=
testlib_srcs :=
# the words that the conformance program is run with, once each
conformance_drivers :=

include $(sort $(wildcard */module.mk lnet/*/module.mk tests/*/module.mk))

unit_srcs := $(wildcard tests/unit/test_*.c)
golden_srcs := $(wildcard tests/golden/test_*.c)
conformance_srcs := $(wildcard tests/conformance/*.c)
nodes_srcs := $(wildcard tests/nodes/test_*.c)
fuzz_srcs := $(wildcard tests/fuzz/fuzz_*.c)
bench_srcs := $(wildcard tests/bench/bench_*.c)
benchlib_srcs := $(filter-out $(bench_srcs),$(wildcard tests/bench/*.c))
nodes_scripts := $(filter-out %.c %.h %.md,$(wildcard tests/nodes/test_*))

objs = $(patsubst %.c,$(O)/%.o,$(sort $(1)))
progs = $(patsubst %.c,$(B)/%,$(1))

all_srcs := $(sort $(core_srcs) $(tcp_srcs) $(selftest_srcs) $(ulnetd_srcs) \
	$(ulnetctl_srcs) $(ulst_srcs) $(testlib_srcs) $(unit_srcs) $(golden_srcs) \
	$(conformance_srcs) $(nodes_srcs) $(bench_srcs) $(benchlib_srcs))

# ---- libraries -------------------------------------------------------------
uses = $(if $(strip $(2)),$(shell grep -lE '^[[:space:]]*\#[[:space:]]*include[[:space:]]*<$(1)' $(2) /dev/null))
hwloc-libs := $(if $(call uses,hwloc\.h>,$(core_srcs)),-lhwloc)
crypto-libs := $(if $(call uses,openssl/,$(core_srcs)),-lcrypto)
core-libs := -lev -lyaml -lz $(hwloc-libs) $(crypto-libs) -ldl -lm
probe-names := ev yaml z $(if $(hwloc-libs),hwloc) $(if $(crypto-libs),crypto)

# BUILD_VERBS / BUILD_OFI: $(call optional,VARIABLE,FOLDER,PKG-CONFIG NAMES) is "yes" or "no (why)"
have-pc = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo yes)
optional = $(if $(filter no,$($(1))),no ($(1)=no),$(if $(wildcard $(2)/module.mk),$(if \
	$(call have-pc,$(3)),yes,no ($(3) not found)),no ($(2) is not in this tree)))
verbs-state := $(call optional,BUILD_VERBS,lnd-verbs,libibverbs librdmacm)
ofi-state := $(call optional,BUILD_OFI,lnd-ofi,libfabric)
ifeq ($(BUILD_VERBS)$(filter yes,$(verbs-state)),yes)
$(error BUILD_VERBS=yes cannot be met: $(verbs-state))
endif
ifeq ($(BUILD_OFI)$(filter yes,$(ofi-state)),yes)
$(error BUILD_OFI=yes cannot be met: $(ofi-state))
endif

# ---- quiet rules -----------------------------------------------------------
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' '$(1)' '$(2)';)

# ---- products --------------------------------------------------------------
lib-so := $(B)/lib/libulnet.so.$(SOVERSION)
lib-dev := $(B)/lib/libulnet.so
lib-a := $(B)/lib/libulnet.a
tcp-so := $(if $(tcp_srcs),$(B)/lib/ulnet/lnd-tcp.so)
tcp-a := $(if $(tcp_srcs),$(B)/lib/lnd-tcp.a)
ulst-a := $(if $(selftest_srcs),$(B)/lib/libulst.a)
testlib-a := $(if $(testlib_srcs),$(B)/lib/libtest.a)
bins := $(foreach p,ulnetd ulnetctl ulst,$(if $($(p)_srcs),$(B)/bin/$(p)))
core-products := $(if $(core_srcs),$(lib-so) $(lib-dev) $(lib-a))
drivers := $(tcp-so)

unit-progs := $(call progs,$(unit_srcs))
golden-progs := $(call progs,$(golden_srcs))
nodes-progs := $(call progs,$(nodes_srcs))
bench-progs := $(call progs,$(bench_srcs))
conformance-prog := $(if $(conformance_srcs),$(B)/tests/conformance/conformance)
single-progs := $(unit-progs) $(golden-progs) $(nodes-progs)

.PHONY: all config help clean distclean deps
all: $(core-products) $(drivers) $(tcp-a) $(ulst-a) $(bins)

# ---- compile ---------------------------------------------------------------
# Everything is rebuilt when the compiler or a flag changes.
flags-text = $(CC) $(all-cflags) $(all-ldflags)
$(B)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(flags-text))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(flags-text))' > $@
.PHONY: FORCE
FORCE:

# Headers and libraries that must be there, asked once for each build folder.
probe := $(B)/.probed
$(probe): scripts/probe
	@mkdir -p $(@D)
	@CC='$(CC)' scripts/probe $(probe-names)
	@touch $@

inc = $(core-inc)
$(call objs,$(tcp_srcs)): inc = $(driver-inc)
$(O)/tests/%.o: inc = $(test-inc)

$(O)/%.o: %.c $(B)/.flags | $(probe)
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(all-cflags) $(werror) $(inc) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

-include $(patsubst %.c,$(O)/%.d,$(all_srcs))

# ---- link ------------------------------------------------------------------
%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $(filter %.o,$^)

$(lib-a): $(call objs,$(core_srcs))
$(tcp-a): $(call objs,$(tcp_srcs))
$(ulst-a): $(call objs,$(selftest_srcs))
$(testlib-a): $(call objs,$(testlib_srcs))

$(lib-so): $(call objs,$(core_srcs)) lnet/lnet.map
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(so-ldflags) -Wl,-soname,libulnet.so.$(SOVERSION) \
		-Wl,--version-script=lnet/lnet.map $(all-ldflags) -o $@ $(filter %.o,$^) $(core-libs)
$(lib-dev): $(lib-so)
	$(Q)ln -sf $(<F) $@

$(tcp-so): $(call objs,$(tcp_srcs)) lnet/lnd.map | $(lib-dev)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(so-ldflags) -Wl,--version-script=lnet/lnd.map $(all-ldflags) \
		-o $@ $(filter %.o,$^) -L$(B)/lib -lulnet

# programs: $(call program,NAME)
define program
$(B)/bin/$(1): $$(call objs,$$($(1)_srcs)) $$(ulst-a) | $$(lib-dev) $$(drivers)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(all-ldflags) -Wl,-rpath,'$$(RUNPATH)' -o $$@ \
		$$(filter %.o,$$^) $$(filter %.a,$$^) -L$(B)/lib -lulnet -lyaml -lm
endef
RUNPATH := $$ORIGIN/../lib
$(foreach p,ulnetd ulnetctl ulst,$(if $($(p)_srcs),$(eval $(call program,$(p)))))

# Tests are linked statically, so that they reach internal functions.
test-deps := $(testlib-a) $(ulst-a) $(tcp-a) $(if $(core_srcs),$(lib-a))
define link-test
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(all-ldflags) -rdynamic -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(core-libs)
endef

$(single-progs): $(B)/tests/%: $(O)/tests/%.o $(test-deps)
	$(link-test)
$(conformance-prog): $(call objs,$(conformance_srcs)) $(test-deps)
	$(link-test)
$(bench-progs): $(B)/tests/%: $(O)/tests/%.o $(call objs,$(benchlib_srcs)) $(test-deps)
	$(link-test)

.PHONY: test-programs bench-programs
test-programs: all $(single-progs) $(conformance-prog)
bench-programs: all $(bench-progs)

# ---- summary ---------------------------------------------------------------
config:
	@echo 'ulnet $(ULNET_VERSION)'
	@echo '  variant      $(VARIANT) (in $(B))'
	@echo '  compiler     $(CC)'
	@echo '  flags        $(strip $(all-cflags) $(werror))'
	@echo '  libraries    $(core-libs)'
	@echo '  lnd-tcp      $(if $(tcp_srcs),yes,no (no sources))'
	@echo '  lnd-verbs    $(verbs-state)'
	@echo '  lnd-ofi      $(ofi-state)'

clean:
	rm -rf $(B)
distclean:
	rm -rf build

deps:
	@scripts/deps

# ---- suites ----------------------------------------------------------------
.PHONY: map
map:
	scripts/mkmap > lnet/lnet.map.new && mv lnet/lnet.map.new lnet/lnet.map
