# SPDX-License-Identifier: BSD-2-Clause
#
# One non-recursive Makefile. Each folder names its sources in a module.mk;
# tests are found by wildcard. `make help` lists the targets.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# As many jobs as there are processors, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

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

comma := ,
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
		-o $@ $(filter %.o,$^) -L$(B)/lib -lulnet -lz

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

# ---- fuzz ------------------------------------------------------------------
# Own objects: the library's sources compiled by clang with libFuzzer's counters.
FB := build/fuzz
fuzz-san := address,undefined
fuzz-cflags = $(filter-out -fno-semantic-interposition,$(base-cflags)) -O1 \
	-fno-omit-frame-pointer -fno-sanitize-recover=undefined $(CPPFLAGS)
fuzz-lib-srcs := $(sort $(core_srcs) $(tcp_srcs) $(selftest_srcs))
fuzz-objs := $(patsubst %.c,$(FB)/obj/%.o,$(fuzz-lib-srcs))
fuzz-progs := $(patsubst tests/fuzz/%.c,$(FB)/%,$(fuzz_srcs))
fuzzlib-objs := $(patsubst %.c,$(FB)/obj/%.o,$(filter-out $(fuzz_srcs),$(wildcard tests/fuzz/*.c)))

finc = $(core-inc)
$(patsubst %.c,$(FB)/obj/%.o,$(tcp_srcs)): finc = $(driver-inc)
$(FB)/obj/tests/%.o: finc = $(test-inc)

$(FB)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FUZZ_CC) $(fuzz-cflags))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(FUZZ_CC) $(fuzz-cflags))' > $@

$(FB)/obj/%.o: %.c $(FB)/.flags | $(probe)
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)$(FUZZ_CC) $(fuzz-cflags) $(werror) -fsanitize=fuzzer-no-link,$(fuzz-san) \
		$(finc) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(FB)/libfuzz.a: $(fuzz-objs)
$(fuzz-progs): $(FB)/%: $(FB)/obj/tests/fuzz/%.o $(fuzzlib-objs) $(FB)/libfuzz.a
	$(call say,LD,$@)$(FUZZ_CC) -fsanitize=fuzzer,$(fuzz-san) -pthread -Wl,--as-needed -o $@ \
		$(filter %.o,$^) $(filter %.a,$^) $(core-libs)
-include $(patsubst %.o,%.d,$(fuzz-objs) $(fuzzlib-objs)) \
	$(patsubst %.c,$(FB)/obj/%.d,$(fuzz_srcs))

.PHONY: fuzz-programs
fuzz-programs: $(fuzz-progs)

# ---- suites ----------------------------------------------------------------
ULNET_SCALE ?= $(if $(SANITIZE),0.3,1)
FUZZ_TIME ?= 60
ONLY ?= *
suites := unit golden conformance nodes fuzz
check-goals := check check-fast check-long $(suites:%=check-%)
.PHONY: $(check-goals) bench demo check-deps

# The packages come before the first compilation.
check-deps:
	@scripts/deps check
ifneq ($(filter $(check-goals) bench demo,$(MAKECMDGOALS)),)
$(probe): | check-deps
endif

# $(call run-suites,SUITES,SCALE,FUZZ SECONDS)
run-suites = @$(PYTHON) scripts/runtests --build $(B) --fuzz-build $(FB) --jobs $$(nproc) \
	--scale $(2) --fuzz-time $(3) --only '$(ONLY)' \
	$(if $(strip $(conformance_drivers)),--drivers $(conformance_drivers)) --suites $(1)

check: check-deps test-programs fuzz-programs
	$(call run-suites,$(suites),$(ULNET_SCALE),$(FUZZ_TIME))
check-fast: check-deps test-programs fuzz-programs
	$(call run-suites,$(suites),0.2,15)
check-long: check-deps test-programs fuzz-programs
	$(call run-suites,$(suites),10,600)
check-unit check-golden check-conformance check-nodes: check-%: check-deps test-programs
	$(call run-suites,$*,$(ULNET_SCALE),0)
check-fuzz: check-deps fuzz-programs
	$(call run-suites,fuzz,$(ULNET_SCALE),$(FUZZ_TIME))

bench: check-deps bench-programs
	@scripts/runbench $(B) '$(ONLY)'

demo: check-deps all
	@ULNET_BUILD=$(B) scripts/demo

# ---- quality ---------------------------------------------------------------
.PHONY: lint lint-deps lint-build format map
lint-deps:
	@scripts/deps lint
# LINT=CHECKS names some of the checks. The compiler takes part: a build of its own
# where each warning is an error.
LINT ?=
lint: lint-deps
	@$(MAKE) --no-print-directory -k VARIANT=lint OPTIMIZE=-O1 WERROR=1 SANITIZE= COVERAGE=0 \
		lint-build; built=$$?; \
	CC='$(CC)' scripts/lint/run build/lint $(LINT) && exit $$built
lint-build: all $(call objs,$(all_srcs))

format:
	@scripts/lint/sources | xargs -r clang-format -i

map:
	@mkdir -p $(B)
	scripts/mkmap > $(B)/lnet.map && mv $(B)/lnet.map lnet/lnet.map

# ---- install ---------------------------------------------------------------
prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
sbindir ?= $(exec_prefix)/sbin
# /usr has multiarch folders; any other prefix has a plain lib
multiarch := $(if $(filter /usr,$(prefix)),$(shell $(CC) -print-multiarch 2>/dev/null))
libdir ?= $(exec_prefix)/lib$(if $(multiarch),/$(multiarch))
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/ulnet
sysconfdir ?= $(if $(filter /usr,$(prefix)),/etc,$(prefix)/etc)
unitdir ?= $(prefix)/lib/systemd/system
completiondir ?= $(datadir)/bash-completion/completions
driverdir := $(libdir)/ulnet
pcdir := $(libdir)/pkgconfig

public-headers := $(wildcard lnet/include/lnet/*.h)
man-pages := $(wildcard docs/man/*.[1-8])
completions := $(wildcard utils/*.bash-completion)
units := $(wildcard utils/*.service)
sample-conf := $(wildcard utils/ulnet.conf)
sections := $(sort $(patsubst .%,%,$(suffix $(man-pages))))

# Installed programs find the library by the loader's own folders, or by a run path elsewhere.
inst-rpath := $(if $(filter /usr /usr/local,$(prefix)),,-Wl$(comma)-rpath$(comma)$(libdir))
.PHONY: install uninstall install-programs
# Paths in units and configuration are written for prefix=/usr.
relocate = sed -e 's|/usr/sbin/|$(sbindir)/|g' -e 's|/usr/bin/|$(bindir)/|g' -e 's|/etc/ulnet|$(sysconfdir)/ulnet|g'

install: all $(B)/ulnet.pc install-programs
	$(Q)$(INSTALL) -d $(DESTDIR)$(libdir) $(DESTDIR)$(driverdir) $(DESTDIR)$(pcdir) \
		$(DESTDIR)$(includedir)/lnet
	$(Q)$(INSTALL) -m 644 $(lib-so) $(DESTDIR)$(libdir)/
	$(Q)ln -sf $(notdir $(lib-so)) $(DESTDIR)$(libdir)/libulnet.so
	$(Q)$(foreach d,$(drivers),$(INSTALL) -m 644 $(d) $(DESTDIR)$(driverdir)/ &&) :
	$(Q)$(INSTALL) -m 644 $(public-headers) $(DESTDIR)$(includedir)/lnet/
	$(Q)$(INSTALL) -m 644 $(B)/ulnet.pc $(DESTDIR)$(pcdir)/
	$(Q)$(foreach s,$(sections),$(INSTALL) -d $(DESTDIR)$(mandir)/man$(s) && \
		$(INSTALL) -m 644 $(filter %.$(s),$(man-pages)) $(DESTDIR)$(mandir)/man$(s)/ &&) :
	$(Q)$(if $(completions),$(INSTALL) -d $(DESTDIR)$(completiondir))
	$(Q)$(foreach c,$(completions),$(INSTALL) -m 644 $(c) \
		$(DESTDIR)$(completiondir)/$(notdir $(c:.bash-completion=)) &&) :
	$(Q)$(if $(units),$(INSTALL) -d $(DESTDIR)$(unitdir))
	$(Q)$(foreach u,$(units),$(relocate) $(u) > $(DESTDIR)$(unitdir)/$(notdir $(u)) && \
		chmod 644 $(DESTDIR)$(unitdir)/$(notdir $(u)) &&) :
	$(Q)$(if $(sample-conf),$(INSTALL) -d $(DESTDIR)$(docdir)/examples $(DESTDIR)$(sysconfdir))
	$(Q)$(foreach c,$(sample-conf),$(INSTALL) -m 644 $(c) $(DESTDIR)$(docdir)/examples/ && \
		{ test -e $(DESTDIR)$(sysconfdir)/$(notdir $(c)) || \
		$(INSTALL) -m 644 $(c) $(DESTDIR)$(sysconfdir)/; } &&) :
	$(Q)$(if $(DESTDIR),:,test "$$(id -u)" != 0 || ldconfig)

# The programs are linked again: the build tree's run path must not be installed.
install-programs: all
	$(Q)$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(sbindir) $(B)/install
	$(Q)$(foreach p,$(notdir $(bins)),$(CC) $(all-ldflags) $(inst-rpath) -o $(B)/install/$(p) \
		$(call objs,$($(p)_srcs)) $(ulst-a) -L$(B)/lib -lulnet -lyaml -lm && \
		$(INSTALL) -m 755 $(B)/install/$(p) $(DESTDIR)$(if $(filter ulnetd,$(p)),$(sbindir),$(bindir))/ &&) :

$(B)/ulnet.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(prefix)' 'libdir=$(libdir)' 'includedir=$(includedir)' \
		'driverdir=$(driverdir)' '' 'Name: ulnet' \
		'Description: LNet in user space: the transport beneath a parallel file system' \
		'Version: $(ULNET_VERSION)' 'Libs: -L$${libdir} -lulnet' 'Cflags: -I$${includedir}' > $@

# The configuration in sysconfdir is the administrator's and stays, unless it is the sample.
uninstall:
	rm -f $(DESTDIR)$(libdir)/$(notdir $(lib-so)) $(DESTDIR)$(libdir)/libulnet.so \
		$(DESTDIR)$(pcdir)/ulnet.pc $(DESTDIR)$(sbindir)/ulnetd \
		$(DESTDIR)$(bindir)/ulnetctl $(DESTDIR)$(bindir)/ulst
	rm -f $(foreach d,tcp verbs ofi,$(DESTDIR)$(driverdir)/lnd-$(d).so)
	rm -f $(public-headers:lnet/include/%=$(DESTDIR)$(includedir)/%)
	rm -f $(foreach m,$(man-pages),$(DESTDIR)$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m)))
	rm -f $(foreach c,$(completions),$(DESTDIR)$(completiondir)/$(notdir $(c:.bash-completion=)))
	rm -f $(foreach u,$(units),$(DESTDIR)$(unitdir)/$(notdir $(u)))
	for f in $(notdir $(sample-conf)); do \
		if cmp -s utils/$$f $(DESTDIR)$(sysconfdir)/$$f; then rm -f $(DESTDIR)$(sysconfdir)/$$f; fi; done
	rm -rf $(DESTDIR)$(docdir)
	-rmdir $(DESTDIR)$(driverdir) $(DESTDIR)$(includedir)/lnet 2>/dev/null
	$(if $(DESTDIR),:,test "$$(id -u)" != 0 || ldconfig)

help:
	@sed -n '/^## /s/^## //p' Makefile
## all                 build libulnet, the drivers and the programs (the default)
## config              say what is built, and how
## check               every test suite; check-unit, -golden, -conformance, -nodes, -fuzz: one
## check-fast          what fits in three minutes; check-long: ten times as long
## bench [ONLY=GLOB]   measurements beside their floors
## demo                four nodes on this machine, traffic, one table
## lint                format, cppcheck, layers, globals, symbols, sizes, headers, scripts
## format, map         write the format; write lnet/lnet.map from the public headers
## install, uninstall  with prefix, DESTDIR and the usual folder variables
## deps                install the Debian packages needed
## Options: SANITIZE=address,undefined|address|undefined|thread COVERAGE=1 WERROR=1 V=1
##          BUILD_VERBS=auto|yes|no BUILD_OFI=auto|yes|no ONLY=GLOB ULNET_SCALE=X FUZZ_TIME=S
