# SPDX-License-Identifier: BSD-3-Clause
# "make help" lists what there is. Tests are in tests/Makefile.inc, packages in docs/Makefile.inc.

VERSION := 0.2.0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DOCDIR  ?= $(PREFIX)/share/doc/spdk-trace-tools

# installed before the names that other packages use as well
PROGRAM_PREFIX ?=
PREFIXED ?= biosnoop offwaketime ipcsnoop

CC         ?= cc
# what sanitizers find does not depend on the optimizer, which takes half of the time, and they print no more than lines
CFLAGS     ?= $(if $(SAN),-O1 -g1,-O2 -g)
CLANG      ?= clang
PKG_CONFIG ?= pkg-config
# one that runs: Ubuntu's first is a script that wants the tools of the running kernel
ifndef BPFTOOL
BPFTOOL := $(firstword $(shell for b in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool; do \
	$$b version >/dev/null 2>&1 && echo $$b; done; true) bpftool)
endif
Q          := $(if $(V),,@)
say         = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)
hash       := \#
space      := $(subst ,, )
# a word for the shell, whatever it is: the path of this folder may have blanks and quotes
quoted      = '$(subst ','\'',$(1))'

.DELETE_ON_ERROR:
.PHONY: all tested programs check check-all check-filters kernels distributions fuzz fuzzers bench soak demo plants static lint format deps \
	install uninstall dist deb rpm release clean spdk-trace help
all:

ifneq ($(filter deps,$(MAKECMDGOALS)),)
# what is installed decides what can be built: another make does the rest
REST := $(filter-out deps,$(MAKECMDGOALS))
deps:
	@tests/deps
	$(if $(REST),@$(MAKE) --no-print-directory $(REST))
$(REST): deps
	@:
else

# a folder for each kind of build
B := build$(if $(FUZZ),/$(if $(findstring afl,$(CC)),afl,fuzz),$(if $(SAN),/san,$(if $(WERROR),/werror,$(if $(STATIC),/static))))

# the same bytes, whatever folders the sources and the libraries of another machine are in
SYSROOT := $(filter-out /,$(shell $(CC) -print-sysroot 2>/dev/null))
SAME_PATHS := -ffile-prefix-map=$(call quoted,$(CURDIR))=. $(if $(SYSROOT),-ffile-prefix-map=$(call quoted,$(SYSROOT))=)
SANITIZERS := $(if $(SAN)$(FUZZ),-fsanitize=address -fsanitize=undefined)
# ours, whatever the user's CFLAGS are; fuzzers read small blocks, so that lines cross them
FLAGS := -std=gnu11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -I$(B)/bpf -Wall -Wextra -Wvla \
	-Wstrict-prototypes -Wmissing-prototypes -fPIE -fstack-protector-strong -pthread $(SAME_PATHS) \
	$(if $(SANITIZERS),$(SANITIZERS) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link -DIO_BLOCK=1024) $(if $(WERROR),-Werror)
# a tool that starts without these libraries, which gcc loads otherwise, starts in two thirds of the time
STATIC_SANITIZERS := $(if $(SAN),$(shell echo 'int main(void) { return 0; }' | $(CC) -Werror $(SANITIZERS) -static-libasan \
	-static-libubsan -o /dev/null -x c - 2>/dev/null && echo -static-libasan -static-libubsan))
LINK := $(if $(STATIC),-static-pie,-pie) -pthread -Wl,-z,relro,-z,now $(SANITIZERS) $(STATIC_SANITIZERS)
# needs an optimizer; sanitizers check more, and do not know its functions
ifneq ($(if $(SANITIZERS),,$(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))),)
FLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

# libbpf's name of the processor that is built for
BPF_ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | sed -n 's/^x86_64-.*/x86/p; s/^aarch64-.*/arm64/p')

# what the compiler has of these; nearly always all of them, so that one try is enough
HARDENING := -fstack-clash-protection $(if $(filter x86,$(BPF_ARCH)),-fcf-protection) \
	$(if $(filter arm64,$(BPF_ARCH)),-mbranch-protection=standard)
accepted = $(shell $(CC) -Werror $(1) -x c -c -o /dev/null /dev/null 2>/dev/null && echo '$(strip $(1))')
FLAGS += $(or $(call accepted,$(HARDENING)),$(foreach f,$(HARDENING),$(call accepted,$f)))

# the libraries by the headers that a program includes, and what is missing of all that some programs need
LIBRARY_gelf := libelf
LIBRARY_libelf := libelf
LIBRARY_bpf/libbpf := libbpf
has_library = $(if $(STATIC),echo 'int main(void) { return 0; }' | $(CC) -static -o /dev/null -x c - $$($(PKG_CONFIG) \
	--static --libs $(1)),$(PKG_CONFIG) --exists $(1)) 2>/dev/null
MISSING := $(shell for l in libelf libbpf; do $(call has_library,$$l) || echo $$l; done; \
	for c in $(PKG_CONFIG) $(CLANG) $(BPFTOOL); do $$c --version >/dev/null 2>&1 || echo $$c; done)

# What a file may include: all of common/, but a folder of common/ only those below it, so that an include that goes up
# does not compile. What user space shares with BPF programs is included by its path.
BELOW_base    := base
BELOW_cli     := base cli
BELOW_line    := base cli line
BELOW_trace   := base trace
BELOW_read    := base cli line trace read
BELOW_model   := base line model
BELOW_explain := base cli line model explain
BELOW_sums    := base line model sums
BELOW_recording := base cli line trace read model recording
BELOW_match   := base cli line trace read model match
BELOW_usdt    := base cli usdt
BELOW_live    := base cli line trace live
FOLDERS := base cli line trace read model explain sums recording match usdt live
below    = $(if $(filter common/%,$(1)),$(BELOW_$(word 2,$(subst /, ,$(1)))),$(FOLDERS))
search   = $(addprefix -Icommon/,$(below)) $(if $(filter live,$(below)),-iquote .)

# A program is made of its sources and of what they include: X.h brings X.c, in the same folder, in common/ or by its path.
# By ../ a file could include what is above it.
included = $(call without_up,$(sort $(shell sed -n 's/^$(hash)include $(2)\(.*\)\.h[">]/\1/p' $(1))))
without_up = $(if $(filter ../%,$(1)),$(error include "$(firstword $(filter ../%,$(1))).h" without ../),$(1))
headers  = $(wildcard $(foreach n,$(call included,$(1),"),$n.h $(addsuffix $n.h,$(sort $(FOLDERS:%=common/%/) $(dir $(1))))))
reached  = $(sort $(1) $(foreach h,$(call headers,$(1)),$h $(wildcard $(h:.h=.c))))
closure  = $(if $(filter-out $(1),$(2)),$(call closure,$(2),$(call reached,$(2))),$(1))
libraries = $(if $(1),$(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs $(1) 2>/dev/null))
# $(1): program, $(2): its own sources; one that includes a skeleton has a BPF program
define program
files    := $(call closure,,$(2))
includes := $$(call included,$$(files),[<"])
needs_$(1)   := $$(sort $$(foreach n,$$(includes),$$(LIBRARY_$$n)))
lacks_$(1)   := $$(filter $$(needs_$(1)) $$(if $$(needs_$(1)),$(PKG_CONFIG)) $$(if $$(filter %.skel,$$(includes)),$(CLANG) $(BPFTOOL)),$(MISSING)) \
	$$(if $$(filter %.skel,$$(includes)),$(if $(BPF_ARCH),,x86-64 or arm64))
objects_$(1) := $$(patsubst %.c,$(B)/%.o,$$(filter %.c,$$(files)))
# the first time; later the dependencies of the objects say it
$$(filter $(B)/cmd/$(1)/%,$$(objects_$(1))): | $$(patsubst %,$(B)/bpf/%.h,$$(filter %.skel,$$(includes)))
$(B)/$(1): $$(objects_$(1))
$(B)/$(1): LDLIBS += $$(call libraries,$$(needs_$(1)))
PROGRAMS += $(1)
endef
ALL_TOOLS := $(notdir $(wildcard cmd/*))
$(foreach t,$(ALL_TOOLS),$(eval $(call program,$t,$(wildcard cmd/$t/*.[ch]))))
buildable = $(foreach p,$(1),$(if $(strip $(lacks_$p)),,$p))
TOOLS := $(call buildable,$(ALL_TOOLS))

all: $(TOOLS:%=$(B)/%) ## build the tools into build/ (SAN=1: with sanitizers into build/san/; V=1 shows the commands)
	@$(foreach t,$(filter-out $(TOOLS),$(ALL_TOOLS)),echo 'left out $t: needs $(strip $(lacks_$t)); see make deps';)

include tests/Makefile.inc docs/Makefile.inc

$(PROGRAMS:%=$(B)/%):
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c $(B)/flags
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(call search,$<) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# where this machine's headers are: clang has none of its own for the target bpf
BPF_INCLUDES = $(shell LC_ALL=C $(CC) $(CPPFLAGS) -E -v -x c /dev/null 2>&1 >/dev/null | \
	sed -n '/<\.\.\.>/,/^End/s/^ \(.*\)/-idirafter \1/p')
# Skeletons of libbpf 1.4 and later go through maps and programs even where their allocation failed.
$(B)/bpf/%.skel.h: bpf/%.bpf.c Makefile $(B)/flags
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Wno-unused-parameter -Werror \
		$(SAME_PATHS) $(BPF_INCLUDES) -MMD -MP -MT $@ -c -o $(B)/bpf/$*.o $<
	$(Q)$(BPFTOOL) gen object $(B)/bpf/$*.linked.o $(B)/bpf/$*.o
	$(Q)$(BPFTOOL) gen skeleton $(B)/bpf/$*.linked.o name $(subst -,_,$*)_bpf >$(B)/bpf/$*.skel
	$(Q)sed 's/^\tif (!s->\(map\|prog\)s) {$$/&\n\t\ts->\1_cnt = 0;/' $(B)/bpf/$*.skel >$@

# the names of the system calls by their numbers, of 64 bits and on x86 of 32; the compiler looks up numbers that are macros
$(B)/common/live/calls.o: | $(B)/bpf/syscalls.h
$(B)/bpf/syscalls.h: $(B)/flags
	$(call say,GEN)
	$(Q)mkdir -p $(@D)
	$(Q)for table in 64:sys/syscall.h $(if $(filter x86,$(BPF_ARCH)),32:asm/unistd_32.h); do \
		header="<$${table$(hash)*:}>"; \
		header=$$(printf '$(hash)%s\n' "if __has_include($$header)" "include $$header" endif); \
		echo "static const char *const syscalls_$${table%:*}[] = {"; \
		{ echo "$$header"; echo "$$header" | $(CC) $(CPPFLAGS) -E -dM - | sed -n \
			-e '/__NR_syscalls\>/d; /__NR_arch_specific_syscall\>/d' \
			-e 's/^$(hash)define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p'; } | \
			$(CC) $(CPPFLAGS) -E -P - | grep '^\['; \
		echo '};'; \
	done >$@

# what -V prints of a checkout that is no release; another commit builds this file again, and links
COMMIT := $(shell [ ! -e .git ] || [ "$$(git describe --tags --exact-match 2>/dev/null)" = v$(VERSION) ] || \
	git rev-parse --short=12 HEAD 2>/dev/null)
$(B)/common/cli/cli.o: private FLAGS += -DCOMMIT='"$(if $(COMMIT), (commit $(COMMIT)))"'
$(B)/common/cli/cli.o: $(B)/commit
$(B)/commit: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

# other flags or another compiler build everything again
$(B)/flags: FORCE
	$(Q)command -v $(firstword $(CC)) >/dev/null || \
		{ echo '$(firstword $(CC)): not found; make deps installs a C compiler' >&2; exit 1; }
	$(Q)mkdir -p $(@D)
	$(Q)all=$(call quoted,$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) $(CLANG)); echo "$$all" | cmp -s - $@ || echo "$$all" >$@
FORCE:

-include $(wildcard $(B)/*/*.d $(B)/*/*/*.d)

static: ## build build/static/spdk-trace, one file that has all tools and needs no libraries
	$(Q)$(MAKE) --no-print-directory STATIC=1 spdk-trace

# the tools in one program: their own functions, but for main(), are seen in their own folders only
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
symbol = main_$(subst -,_,$(1))
$(foreach t,$(TOOLS),$(eval $(B)/inside/$t.o: $(filter $(B)/cmd/$t/%,$(objects_$t))))
$(B)/inside/%.o:
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -no-pie -o $@ $^
	$(Q)$(OBJCOPY) --redefine-sym main=$(call symbol,$*) --keep-global-symbol=$(call symbol,$*) $@
$(B)/common/cli/inside.o: private FLAGS += -I$(B)/inside
$(B)/common/cli/inside.o: $(B)/inside/tools.h
$(B)/inside/tools.h: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)printf 'TOOL("%s", main_%s)\n' $(foreach t,$(TOOLS),$t $(subst -,_,$t)) >$@.new
	$(Q)cmp -s $@.new $@ && rm $@.new || mv $@.new $@
spdk-trace: $(B)/spdk-trace
$(B)/spdk-trace: $(TOOLS:%=$(B)/inside/%.o) $(filter-out $(B)/cmd/%,$(sort $(foreach t,$(TOOLS),$(objects_$t)))) \
		$(B)/common/cli/inside.o
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -s -o $@ $^ $(call libraries,$(sort $(foreach t,$(TOOLS),$(needs_$t))))
	@$(foreach t,$(filter-out $(TOOLS),$(ALL_TOOLS)),echo 'left out $t: needs $(strip $(lacks_$t)) to link statically';)

clean: ## remove build/
	rm -rf build

deps: ## install the packages that building and testing need; RELEASE=1: also those of a release, LINT=1: of lint, fuzz and kernels, too
help: ## print this
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile tests/Makefile.inc docs/Makefile.inc | expand -t 16 | sed 's/^/make /'

endif
