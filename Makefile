# SPDX-License-Identifier: BSD-3-Clause
# spdk-trace-tools; "make help" tells what there is.

VERSION := 0.1.0
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
MANDIR  ?= $(PREFIX)/share/man

CC      ?= cc
CFLAGS  ?= -O2 -g
# ours, whatever the user's CFLAGS are
FLAGS   := -std=gnu11 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' -Icommon -Wall -Wextra -Wvla \
	   -Wstrict-prototypes -Wmissing-prototypes -fPIE -fstack-protector-strong -pthread
LINK    := -pie -pthread -Wl,-z,relro,-z,now

B := build
ifdef SAN
B := build/san
FLAGS += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LINK  += -fsanitize=address,undefined
endif
ifdef WERROR
B := build/werror
FLAGS += -Werror
endif

TOOLS := trace-dump qpair-lifetimes trace-join
COMMON := cli io json lines map number out probeline progress readahead utf8

# what a tool is made of besides cmd/TOOL.c and the common modules
trace-dump_parts := entry file info input json line merge settle us
trace-join_parts := lifetimes line

MAN1  := $(TOOLS:%=docs/%.1)
MAN7  := docs/spdk-trace-tools.7 docs/spdk-trace-lines.7
SHELL_SOURCES := .ci/run tests/bench tests/run tests/deps tests/demo
BATS  := $(wildcard tests/*.bats)
C_SOURCES = $(wildcard cmd/*.[ch] common/*.[ch] tests/*.[ch] bpf/*.[ch])

ifeq ($(V),)
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

.PHONY: all bench check demo deps help install uninstall lint format clean
.DELETE_ON_ERROR:
all: $(TOOLS:%=$(B)/%) $(B)/mktrace

# $(1): tool
define tool
$(B)/$(1): $(patsubst %,$(B)/cmd/$(1)%.o,$(patsubst %,-%,$($(1)_parts)))
$(B)/$(1): $(B)/cmd/$(1).o $(B)/common.a
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))
$(B)/mktrace: $(B)/tests/mktrace.o $(B)/common.a
$(B)/measure: $(B)/tests/measure.o

$(TOOLS:%=$(B)/%) $(B)/mktrace $(B)/measure:
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

# other flags or another compiler build everything again
$(B)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(FLAGS) $(CPPFLAGS) $(CFLAGS)' >$@
FORCE:

-include $(wildcard $(B)/*/*.d)

check: all
	$(Q)BIN='$(abspath $(B))' tests/run $(T)

bench: all $(B)/measure
	$(Q)BIN='$(abspath $(B))' tests/bench

demo: all
	$(Q)BIN='$(abspath $(B))' tests/demo

deps:
	$(Q)tests/deps

lint:
	$(Q)$(MAKE) --no-print-directory WERROR=1 all
	$(Q)clang-format --dry-run --Werror $(C_SOURCES)
	$(Q)shellcheck $(SHELL_SOURCES) $(BATS) tests/helpers.bash
	$(Q)mandoc -T lint -W warning $(MAN1) $(MAN7)

format:
	$(Q)clang-format -i $(C_SOURCES)

install: all
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man7'
	install -m 755 $(TOOLS:%=$(B)/%) '$(DESTDIR)$(BINDIR)'
	install -m 644 $(MAN1) '$(DESTDIR)$(MANDIR)/man1'
	install -m 644 $(MAN7) '$(DESTDIR)$(MANDIR)/man7'

uninstall:
	rm -f $(TOOLS:%='$(DESTDIR)$(BINDIR)'/%) $(MAN1:docs/%='$(DESTDIR)$(MANDIR)/man1'/%) \
		$(MAN7:docs/%='$(DESTDIR)$(MANDIR)/man7'/%)

clean:
	rm -rf build

help:
	@echo 'make            build the tools into build/'
	@echo 'make deps       install the packages that building and testing need (apt or dnf, as root or by sudo)'
	@echo 'make demo       build, and print an annotated trace from the bundled sample'
	@echo 'make check      build, and run the tests; T="tests/x.bats ..." runs some of them'
	@echo 'make bench      measure speed and memory against md5sum, cat and sort; takes minutes and 5 GB in TMPDIR'
	@echo 'make lint       compile with -Werror, check format, shell scripts and pages'
	@echo 'make format     let clang-format have its way'
	@echo 'make install    install tools and pages (PREFIX=/usr/local, DESTDIR=); make uninstall removes them'
	@echo 'make clean      remove build/'
	@echo
	@echo 'SAN=1 builds with address and undefined sanitizers (into build/san), V=1 shows the commands.'
