#!/usr/bin/env bats
# The packages: what is in them, and that they do not depend on where and when they are made.
# bats file_tags=slow,plain

load helpers

SOURCE=$BATS_TEST_DIRNAME/..
VERSION=$(sed -n 's/^VERSION := //p' "$SOURCE/Makefile")

setup() {
    enter
    # packages are built with options of their own
    [ "$BIN" = "$(realpath "$SOURCE")/build" ] || not_for_this_build 'it makes builds of its own'
}

# Copies the sources, as they are, without git.
copy_to() {
    mkdir -p "$1"
    tar -c -C "$SOURCE" --exclude=./build --exclude=./.git . | tar -x -C "$1"
}

make_in() { # FOLDER ARGUMENT...
    make -C "$1" MAKEFLAGS= "${@:2}" >log 2>&1 || { tail -n 50 log; return 1; }
}

@test "the version is the same everywhere" {
    equal "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$SOURCE/docs/debian/changelog")" "$VERSION"
    equal "$(sed -n 's/^Version: *//p' "$SOURCE/docs/rpm/spdk-trace-tools.spec")" "$VERSION"
    # above it may be what is not released yet
    equal "$(sed -n 's/^## \([0-9.]*\) - .*/\1/p' "$SOURCE/docs/CHANGELOG.md" | head -n 1)" "$VERSION"
}

@test "a Debian package is the same bytes in any folder, has what it should, and lintian is content" {
    for command in dpkg-buildpackage dh lintian; do
        command -v $command >/dev/null || lacks "$command is not here"
    done
    command -v biosnoop >/dev/null || skip 'biosnoop was not built'
    export DEB_BUILD_OPTIONS='nocheck parallel=2'
    copy_to one
    make_in one deb
    copy_to another/folder
    (umask 027; TZ=Asia/Tokyo make_in another/folder deb)
    for package in one/build/deb/*.deb; do
        cmp "$package" "another/folder/build/deb/${package##*/}"
    done
    package=$(echo one/build/deb/spdk-trace-tools_"$VERSION"_*.deb)
    dpkg-deb -c "$package" | awk '{ print $NF }' | grep -v '/$' | sed 's/^\.//' | sort >list
    for tool in trace-dump usdt-record spdk-biosnoop spdk-offwaketime spdk-ipcsnoop; do
        grep -qx "/usr/bin/$tool" list
        grep -qx "/usr/share/man/man1/$tool.1.gz" list
        grep -qx "/usr/share/bash-completion/completions/$tool" list
        grep -qx "/usr/share/fish/vendor_completions.d/$tool.fish" list
    done
    grep -qx /usr/share/zsh/vendor-completions/_spdk-trace-tools list
    run -1 grep -E '/(biosnoop|offwaketime|ipcsnoop)(\.|$)' list
    for document in README.md copyright docs/tutorial.md docs/session.svg tests/data/slow-host.trace.gz; do
        grep -qx "/usr/share/doc/spdk-trace-tools/$document" list
    done
    # where somebody built it is nobody's matter
    dpkg-deb -x "$package" root
    run -1 grep -rlF "$BATS_TEST_TMPDIR" root
    lintian --allow-root --fail-on warning one/build/deb/*.changes
}

@test "an RPM package has what it should" {
    command -v rpmbuild >/dev/null || lacks 'rpmbuild is not here'
    command -v biosnoop >/dev/null || skip 'biosnoop was not built'
    copy_to one
    # not on Fedora, packages have other names
    make_in one rpm RPMBUILD='rpmbuild --nodeps --nocheck'
    package=$(echo one/build/rpm/RPMS/*/spdk-trace-tools-"$VERSION"-*.rpm)
    equal "$(rpm -qp --qf '%{NAME} %{VERSION} %{LICENSE}' "$package")" "spdk-trace-tools $VERSION BSD-3-Clause AND (BSD-3-Clause OR GPL-2.0-only)"
    rpm -qlp "$package" | sed 's/\.gz$//' | grep -v -e '/usr/share/doc/' -e '/usr/share/licenses/' -e /usr/lib/ | sort >list
    make_in "$SOURCE" install DESTDIR="$PWD/root" PREFIX=/usr PROGRAM_PREFIX=spdk-
    same_lines "cd root && find . -type f | grep -v ^./usr/share/doc/ | sed 's/^\.//' | sort" 'cat list'
    rpm -qlp "$package" | grep '/licenses/.*/LICENSE$'
    for document in README.md LICENSE docs/tutorial.md tests/data/slow-host.trace.gz; do
        rpm -qlp "$package" | grep -x "/usr/share/doc/spdk-trace-tools/$document"
    done
    grep -qx /usr/bin/spdk-biosnoop list
}
