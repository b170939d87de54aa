# SPDX-License-Identifier: BSD-3-Clause
# spdk-trace-tools; "make help" tells what there is.

VERSION := 0.1.0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

# goes before the names that other packages use as well, where installed
PROGRAM_PREFIX ?=
PREFIXED ?= biosnoop offwaketime ipcsnoop

CC      ?= cc
OBJCOPY ?= objcopy
CFLAGS  ?= -O2 -g
B := build
ifdef FUZZ
B := $(if $(findstring afl,$(CC)),build/afl,build/fuzz)
else ifdef SAN
B := build/san
else ifdef WERROR
B := build/werror
else ifdef STATIC
B := build/static
endif

# what is built does not depend on the folder that it is built in
SAME_PATHS := -ffile-prefix-map='$(CURDIR)'=.

# ours, whatever the user's CFLAGS are
FLAGS   := -std=gnu11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -iquote . -Icommon -I$(B)/bpf -Wall -Wextra -Wvla \
	   -Wstrict-prototypes -Wmissing-prototypes -fPIE -fstack-protector-strong -pthread $(SAME_PATHS)
LINK    := -pie -pthread -Wl,-z,relro,-z,now

ifdef FUZZ
# what libFuzzer needs; afl-clang-fast takes it as well, afl-gcc does not; lines are to cross blocks
FLAGS += -fsanitize=fuzzer-no-link -DIO_BLOCK=1024
SAN := 1
endif
ifdef SAN
FLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LINK  += -fsanitize=address,undefined
endif
ifdef WERROR
FLAGS += -Werror
endif
ifdef STATIC
LINK  := -static-pie -pthread -Wl,-z,relro,-z,now
endif
# needs an optimizer; sanitizers see more, and do not know its functions
ifneq ($(if $(SAN),,$(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))),)
FLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

# those that need libc alone, those that read ELF files, those with a BPF program
LIBC_TOOLS := trace-dump qpair-lifetimes trace-join trace-latency trace-chrome
ELF_TOOLS  := usdt-gen
BPF_TOOLS  := usdt-record biosnoop offwaketime ipcsnoop
ALL_TOOLS  := $(LIBC_TOOLS) $(ELF_TOOLS) $(BPF_TOOLS)
# modules of common/ that need libelf and libbpf; all others need libc alone
ELF_COMMON := elffile mapping probecheck probespec regular target usdt
BPF_COMMON := command privilege recorder
COMMON     := $(filter-out $(ELF_COMMON) $(BPF_COMMON),$(patsubst common/%.c,%,$(wildcard common/*.c)))

# packages come before anything else: what is here decides what is built
ifneq ($(filter deps,$(MAKECMDGOALS)),)
# make itself has a variable LINT
deps = $(shell LINT='$(if $(filter default,$(origin LINT)),,$(LINT))' tests/deps >&2 || echo failed)
# make -n installs nothing
$(if $(findstring n,$(firstword -$(MAKEFLAGS))),$(info tests/deps),$(if $(deps),$(error deps)))
endif

CLANG   ?= clang
BPFTOOL ?= $(firstword $(shell command -v bpftool || ls /usr/sbin/bpftool 2>/dev/null) bpftool)

# what is not here, of what only some tools need; these are then left out
hash := \#
library = $(shell mkdir -p $(B) && printf '$(hash)include <%s>\nint main(void) { return 0; }\n' $(1) | \
	  $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -x c - -o $(B)/library $(2) 2>/dev/null || echo $(1))
command = $(shell command -v $(1) >/dev/null || echo $(1))
# what libbpf calls the processor that is built for
BPF_ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | sed -n 's/^x86_64-.*/x86/p; s/^aarch64-.*/arm64/p')
machine = $(if $(BPF_ARCH),,x86-64 or arm64)
ELF_LACKS := $(call library,gelf.h,-lelf)
BPF_LACKS := $(ELF_LACKS) $(call library,bpf/libbpf.h,-lbpf) $(call library,zlib.h,-lz) $(call command,$(CLANG)) $(call command,$(BPFTOOL)) $(machine)
TARGETS_LACK := $(call library,sys/sdt.h)$(machine)
ELF_TOOLS := $(if $(strip $(ELF_LACKS)),,$(ELF_TOOLS))
LEFT_OUT := $(if $(strip $(BPF_LACKS)),$(BPF_TOOLS))
BPF_TOOLS := $(filter-out $(LEFT_OUT),$(BPF_TOOLS))
TOOLS := $(LIBC_TOOLS) $(ELF_TOOLS) $(BPF_TOOLS)
COMMON += $(if $(ELF_TOOLS),$(ELF_COMMON)) $(if $(BPF_TOOLS),$(BPF_COMMON))
TARGETS := $(if $(TARGETS_LACK),,usdt-target usdt-target-static) $(if $(BPF_TOOLS),blocked-target)

MAN1  := $(TOOLS:%=docs/%.1)
MAN7  := docs/spdk-trace-tools.7 docs/spdk-trace-lines.7 docs/spdk-trace-session.7
SHELL_SOURCES := .ci/run tests/bench tests/bench-record tests/fuzz tests/kernels tests/soak tests/run tests/deps tests/demo \
		 tests/dist tests/distributions tests/arm64-root tests/debian.bash docs/completion/spdk-trace-tools.bash
BATS  := $(wildcard tests/*.bats)
C_SOURCES = $(wildcard cmd/*/*.[ch] common/*.[ch] tests/*.[ch] bpf/*.[ch])

ifeq ($(V),)
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

.PHONY: all fuzz fuzzers bench soak check check-filters kernels distributions demo deps help install uninstall \
	lint format clean static dist deb rpm
.DELETE_ON_ERROR:
all: $(TOOLS:%=$(B)/%) $(B)/mktrace $(TARGETS:%=$(B)/%)
	@$(if $(ELF_TOOLS),,echo 'left out usdt-gen, which needs $(strip $(ELF_LACKS)); see make deps')
	@$(if $(LEFT_OUT),echo 'left out $(LEFT_OUT): needs $(strip $(BPF_LACKS)); see make deps')

# $(1): tool
objects = $(patsubst %.c,$(B)/%.o,$(wildcard cmd/$(1)/*.c))
define tool
$(B)/$(1): $(call objects,$(1)) $(B)/common.a
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))
# the first time; afterwards the objects that include it know
$(foreach t,$(BPF_TOOLS),$(eval $(call objects,$(t)): | $(B)/bpf/$(t).skel.h))
$(B)/cmd/ipcsnoop/calls.o: | $(B)/bpf/syscalls.h
$(ELF_TOOLS:%=$(B)/%): LDLIBS += -lelf
$(BPF_TOOLS:%=$(B)/%): LDLIBS += -lbpf -lelf
# the checksum of debug files
$(B)/offwaketime: LDLIBS += -lz
$(B)/mktrace: $(B)/tests/mktrace.o $(B)/common.a
$(B)/measure: $(B)/tests/measure.o
$(B)/json: $(B)/tests/json.o $(B)/common.a
operands_objects := $(B)/tests/operands.o $(patsubst %,$(B)/cmd/usdt-record/%.o,arm64 operand symtab x86) $(B)/common.a
$(B)/operands: $(operands_objects)
$(B)/operands: LDLIBS += -lelf
elf_objects := $(B)/tests/elf.o $(B)/cmd/offwaketime/elf.o $(B)/common.a
$(B)/elf: $(elf_objects)
$(B)/elf: LDLIBS += -lelf -lz

# programs to record, with and without a shared library; what the compiler makes of the probes depends on flags
TARGET_FLAGS := -std=gnu11 -D_GNU_SOURCE -Itests -g -O2 -Wall -Wextra
TARGET_PARTS := tests/usdt-target.c tests/usdt-target-memory.c
$(B)/usdt-target: $(TARGET_PARTS) $(B)/libusdt-target.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(TARGET_FLAGS) -fPIE -pie -Wl,-rpath,'$$ORIGIN' -o $@ $(filter-out %.h,$^) -pthread
$(B)/libusdt-target.so: tests/usdt-target-library.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_FLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $(filter-out %.h,$^)
$(B)/usdt-target-static: $(TARGET_PARTS) tests/usdt-target-library.c
	$(call say,LINK,$@)
	$(Q)$(CC) $(TARGET_FLAGS) -O1 -fno-pie -static -o $@ $(filter-out %.h,$^) -pthread
$(filter %/usdt-target %/usdt-target-static,$(TARGETS:%=$(B)/%)) $(B)/libusdt-target.so: tests/usdt-target.h
# its stacks are found by frame pointers
$(B)/blocked-target: tests/blocked-target.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_FLAGS) -O0 -fno-omit-frame-pointer -static -Wl,--build-id -o $@ $< -pthread

# a program for ipcsnoop to watch
$(B)/pipe-target: tests/pipe-target.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O2 -Wall -Wextra -o $@ $< -pthread

# preloaded by tests/faults.bats
$(B)/faults.so: tests/faults.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -g -O2 -fno-builtin -Wall -Wextra -fPIC -shared -o $@ $< -ldl

# fuzz-READER: one tool in tests/fuzz.c, which takes the place of these functions; see there
FUZZ_trace-dump := trace-file spdk-json
FUZZ_trace-join := trace-lines trace-lines-json lifetime-lines
FUZZ_trace-latency := trace-lines-latency trace-lines-encode histogram-lines
FUZZ_trace-chrome := trace-lines-chrome
FUZZ_qpair-lifetimes := probe-lines owner-lines
FUZZ_usdt-gen := probe-specs elf-notes
FUZZ_operands := elf-operands
# the reader of symbols is offwaketime's, and needs no BPF
FUZZ_elf := elf-functions
FUZZ_TOOLS := $(LIBC_TOOLS) $(ELF_TOOLS) $(if $(ELF_TOOLS),operands) $(if $(filter offwaketime,$(TOOLS)),elf)
READERS := $(foreach t,$(FUZZ_TOOLS),$(FUZZ_$(t)))
FUZZ_NAMES := exit err errx warn warnx vwarnx write malloc calloc realloc reallocarray strdup strndup free

# $(1): tool, $(2): its readers
define fuzz
$(B)/tool-$(1).o: $(or $($(1)_objects),$(call objects,$(1)) $(B)/common.a)
$(2:%=$(B)/fuzz-%): $(B)/tool-$(1).o $(B)/tests/fuzz.o
endef
$(foreach t,$(FUZZ_TOOLS),$(eval $(call fuzz,$t,$(FUZZ_$t))))
$(FUZZ_usdt-gen:%=$(B)/fuzz-%) $(FUZZ_operands:%=$(B)/fuzz-%) $(FUZZ_elf:%=$(B)/fuzz-%): LDLIBS += -lelf
$(FUZZ_elf:%=$(B)/fuzz-%): LDLIBS += -lz
$(B)/tests/fuzz.o: FLAGS += $(if $(FUZZ),,-DREPLAY) -fno-sanitize=all
$(READERS:%=$(B)/fuzz-%): LINK += $(if $(FUZZ),-fsanitize=fuzzer)

$(FUZZ_TOOLS:%=$(B)/tool-%.o): Makefile
	$(call say,LD,$@)
	$(Q)$(LD) -r -o $@ $(filter %.o %.a,$^)
	$(Q)$(OBJCOPY) --redefine-sym main=tool_main $(foreach f,$(FUZZ_NAMES),--redefine-sym $f=fuzz_$f) \
		--rename-section .data=tool_data --rename-section .bss=tool_bss $@

$(TOOLS:%=$(B)/%) $(READERS:%=$(B)/fuzz-%) $(B)/mktrace $(B)/measure $(B)/json $(B)/operands $(B)/elf:
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LINK) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/common.a: $(COMMON:%=$(B)/common/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

$(B)/%.o: %.c $(B)/flags
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# where the headers of this machine's kind are; clang has none of its own for the target bpf
BPF_INCLUDES = $(shell LC_ALL=C $(CC) $(CPPFLAGS) -E -v -x c /dev/null 2>&1 >/dev/null | \
	sed -n '/<\.\.\.>/,/^End/s/^ \(.*\)/-idirafter \1/p')
# libbpf from 1.4 on goes through the maps and programs also where there was no memory for them
$(B)/bpf/%.skel.h: bpf/%.bpf.c $(wildcard bpf/*.h) common/wakeup.h $(B)/flags
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -D__TARGET_ARCH_$(BPF_ARCH) -Wall -Wextra -Wno-unused-parameter -Werror \
		$(SAME_PATHS) $(BPF_INCLUDES) -c -o $(B)/bpf/$*.o $<
	$(Q)$(BPFTOOL) gen object $(B)/bpf/$*.linked.o $(B)/bpf/$*.o
	$(Q)$(BPFTOOL) gen skeleton $(B)/bpf/$*.linked.o name $(subst -,_,$*)_bpf >$(B)/bpf/$*.skel
	$(Q)sed 's/^\tif (!s->\(map\|prog\)s) {$$/&\n\t\ts->\1_cnt = 0;/' $(B)/bpf/$*.skel >$@

# the names of the system calls by their numbers: __NR_NAME, or for arm64 perhaps a macro of another name, which the
# compiler looks up; those of 32 bits are not in the headers for arm64
$(B)/bpf/syscalls.h: $(B)/flags
	$(call say,GEN,$@)
	$(Q)for table in 64:asm/unistd.h $(if $(filter x86,$(BPF_ARCH)),32:asm/unistd_32.h); do \
		header="$(hash)include <$${table#*:}>"; \
		echo "static const char *const syscalls_$${table%:*}[] = {"; \
		{ echo "$$header"; echo "$$header" | $(CC) $(CPPFLAGS) -E -dM - | sed -n \
			-e '/__NR_syscalls\>/d; /__NR_arch_specific_syscall\>/d' \
			-e 's/^$(hash)define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p'; } | \
			$(CC) $(CPPFLAGS) -E -P - | grep '^\['; \
		echo '};'; \
	done >$@

# other flags or another compiler build everything again
$(B)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)' >$@
FORCE:

-include $(wildcard $(B)/*/*.d $(B)/cmd/*/*.d)

check: all $(B)/measure $(B)/json $(if $(ELF_TOOLS),$(B)/operands) $(if $(filter offwaketime,$(TOOLS)),$(B)/elf) $(B)/faults.so $(if $(filter ipcsnoop,$(TOOLS)),$(B)/pipe-target) $(READERS:%=$(B)/fuzz-%)
	$(Q)BIN='$(abspath $(B))' tests/run $(T)

# the live tools under kernels of Debian's suites, in virtual machines
kernels: all $(B)/pipe-target $(B)/faults.so
	$(Q)BIN='$(abspath $(B))' T='$(T)' tests/kernels $(KERNELS)

# README's commands in bare Debian systems
distributions:
	$(Q)SUITES='$(SUITES)' COMPILERS='$(COMPILERS)' T='$(T)' tests/distributions

# what packaging runs: needs no privileges, no quiet machine and no particular kernel
check-filters: T = $(wildcard $(patsubst %,tests/%.bats,$(LIBC_TOOLS) usdt-gen cli hostile json layouts pages pipelines))
check-filters: check

# libFuzzer comes with clang; the tools themselves make the inputs to begin with
fuzz: all $(READERS:%=$(B)/fuzz-%)
	$(Q)$(MAKE) --no-print-directory FUZZ=1 CC='$(if $(filter default,$(origin CC)),clang,$(CC))' fuzzers
	$(Q)BIN='$(abspath $(B))' FUZZ=build/fuzz TIME='$(TIME)' RUNS='$(RUNS)' tests/fuzz $(R)

fuzzers: $(READERS:%=$(B)/fuzz-%)

bench: all $(B)/measure
	$(Q)BIN='$(abspath $(B))' tests/bench
	$(Q)BIN='$(abspath $(B))' tests/bench-record

soak: all $(B)/measure
	$(Q)BIN='$(abspath $(B))' tests/soak

# binaries that run on any Linux of this machine's kind, of the tools that need libc alone
static:
	$(Q)$(MAKE) --no-print-directory STATIC=1 $(LIBC_TOOLS:%=build/static/%)

demo: all
	$(Q)BIN='$(abspath $(B))' tests/demo

deps:
	@:

lint:
	$(Q)$(MAKE) --no-print-directory WERROR=1 all
	$(Q)clang-format --dry-run --Werror $(C_SOURCES)
	$(Q)clang-tidy --quiet $(filter %.c,$(filter-out bpf/% tests/usdt-target%,$(C_SOURCES))) \
		-- $(FLAGS) -Ibuild/werror/bpf 2>/dev/null
	$(Q)shellcheck $(SHELL_SOURCES) $(BATS) tests/helpers.bash
	$(Q)mandoc -T lint -W warning docs/*.[17]

format:
	$(Q)clang-format -i $(C_SOURCES)

# what a tool is called where it is installed, and text that calls it so: pages, completion
installed = $(if $(filter $(PREFIXED),$(1)),$(PROGRAM_PREFIX))$(1)
space := $(subst ,, )
either = \($(subst $(space),\|,$(strip $(1)))\)
upper = $(shell echo '$(1)' | tr a-z A-Z)
RENAME := sed $(if $(PROGRAM_PREFIX),-e 's/\<$(call either,$(PREFIXED))\>/$(PROGRAM_PREFIX)&/g' \
	-e 's/^\.Dt $(call either,$(call upper,$(PREFIXED))) /.Dt $(call upper,$(PROGRAM_PREFIX))\1 /',-e '')

# $(1): source, $(2): where it goes
define install_text
$(RENAME) $(1) >'$(DESTDIR)$(2)' && chmod 644 '$(DESTDIR)$(2)'

endef
define install_tool
install -m 755 $(B)/$(1) '$(DESTDIR)$(BINDIR)/$(call installed,$(1))'
$(call install_text,docs/$(1).1,$(MANDIR)/man1/$(call installed,$(1)).1)
$(call install_text,docs/completion/spdk-trace-tools.bash,$(BASHDIR)/$(call installed,$(1)))
$(call install_text,docs/completion/spdk-trace-tools.fish,$(FISHDIR)/$(call installed,$(1)).fish)
endef

install: all
	install -d $(foreach d,$(BINDIR) $(MANDIR)/man1 $(MANDIR)/man7 $(BASHDIR) $(ZSHDIR) $(FISHDIR),'$(DESTDIR)$d')
	$(foreach t,$(TOOLS),$(call install_tool,$t))
	$(foreach m,$(MAN7),$(call install_text,$m,$(MANDIR)/man7/$(notdir $m)))
	$(call install_text,docs/completion/_spdk-trace-tools,$(ZSHDIR)/_spdk-trace-tools)

uninstall:
	rm -f $(foreach t,$(foreach t,$(ALL_TOOLS),$(call installed,$t)),'$(DESTDIR)$(BINDIR)/$t' \
			'$(DESTDIR)$(MANDIR)/man1/$t.1' '$(DESTDIR)$(BASHDIR)/$t' '$(DESTDIR)$(FISHDIR)/$t.fish') \
		$(MAN7:docs/%='$(DESTDIR)$(MANDIR)/man7/%') '$(DESTDIR)$(ZSHDIR)/_spdk-trace-tools'

# what a package is made of
dist:
	tests/dist spdk-trace-tools-$(VERSION)

# a Debian package of them, in build/deb/
deb: dist
	rm -rf build/deb
	mkdir -p build/deb
	tar -xzf build/spdk-trace-tools-$(VERSION).tar.gz -C build/deb
	mv build/deb/spdk-trace-tools-$(VERSION)/docs/debian build/deb/spdk-trace-tools-$(VERSION)
	cd build/deb/spdk-trace-tools-$(VERSION) && dpkg-buildpackage -us -uc -b

# RPM packages of them, in build/rpm/RPMS/; elsewhere than on Fedora packages have other names: RPMBUILD='rpmbuild --nodeps'
RPMBUILD ?= rpmbuild
rpm: dist
	rm -rf build/rpm
	$(RPMBUILD) --define '_topdir $(CURDIR)/build/rpm' -tb build/spdk-trace-tools-$(VERSION).tar.gz

clean:
	rm -rf build

help:
	@echo 'make            build the tools into build/'
	@echo 'make deps       install the packages that building and testing need (apt or dnf, as root or by sudo)'
	@echo 'make demo       build, and print an annotated trace from the bundled sample'
	@echo 'make check      build, and run the tests; T="tests/x.bats ..." runs some of them'
	@echo 'make kernels    run the tests of the live tools under kernels of Debian, in qemu; KERNELS="bookworm trixie sid bookworm-arm64"'
	@echo 'make distributions'
	@echo '                run make deps demo and make deps check in bare Debian 12, 13 and sid (needs root, debootstrap);'
	@echo '                SUITES="bookworm trixie" and COMPILERS="gcc clang" choose; takes many minutes'
	@echo 'make bench      measure speed and memory against md5sum, cat and sort; takes minutes and 5 GB in TMPDIR'
	@echo 'make fuzz       feed the readers with mutated inputs, TIME=60 seconds each (libFuzzer); R="READER ..." chooses some'
	@echo 'make soak       send 100 million entries through a pipeline; takes minutes and 6 GB in TMPDIR'
	@echo 'make lint       compile with -Werror, check format, common mistakes, shell scripts and pages'
	@echo 'make format     let clang-format have its way'
	@echo 'make install    install tools, pages and completions (PREFIX=/usr/local, DESTDIR=); make uninstall removes them;'
	@echo '                PROGRAM_PREFIX=spdk- goes before $(PREFIXED), which are names of other packages, too'
	@echo 'make deb        build a Debian package of the committed sources in build/deb/ (needs dpkg-dev, debhelper)'
	@echo 'make rpm        build an RPM package of them in build/rpm/ (needs rpm-build)'
	@echo 'make dist       pack the committed sources into build/spdk-trace-tools-$(VERSION).tar.gz; without git, the folder'
	@echo 'make static     build the filters into build/static/, as binaries that need no libraries'
	@echo 'make clean      remove build/'
	@echo
	@echo 'SAN=1 builds with address and undefined sanitizers (into build/san), V=1 shows the commands.'
