#!/usr/bin/env bats
# The packages: what is in them, and that they do not depend on where and when they are made.
# bats file_tags=slow,plain,long

load helpers
load builds

VERSION=$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")

# The same as a commit that can be released.
commit_to() { # FOLDER [TOOL...]
    copy_sources "$1"
    local tool
    for tool in "$1"/cmd/*; do
        [ $# = 1 ] || [[ " ${*:2} " = *" ${tool##*/} "* ]] || rm -r "$tool"
    done
    sed -i "0,/^## Unreleased$/s//## $VERSION - $(packaged)/" "$1/docs/CHANGELOG.md"
    # what is built is looked at, not how fast it is
    sed -i 's/CFLAGS=-O2/CFLAGS=-O0/' "$1/tests/release"
    git init -q "$1"
    commit_in "$1"
}

commit_in() { # FOLDER
    git -C "$1" add -A
    git -C "$1" -c user.name=x -c user.email=x@localhost commit -q -m x
}

# The date of the Debian package's newest version.
packaged() {
    date -u -d "$(sed -n 's/^ -- .*>  //p' "$ROOT/docs/debian/changelog" | head -n 1)" +%F
}

release_in() { # FOLDER ARGUMENT...
    make -C "$1" MAKEFLAGS= release "${@:2}" >log 2>&1 || { tail -n 50 log; return 1; }
}

@test "the version is the same everywhere" {
    equal "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$ROOT/docs/debian/changelog")" "$VERSION"
    equal "$(sed -n 's/^Version: *//p' "$ROOT/docs/rpm/spdk-trace-tools.spec")" "$VERSION"
    # above it may be what is not released yet
    equal "$(sed -n 's/^## \([0-9.]*\) - .*/\1/p' "$ROOT/docs/CHANGELOG.md" | head -n 1)" "$VERSION"
}

@test "a release is refused where its commit does not say what it is, and it is said what to do" {
    command -v git >/dev/null || skip 'git is not here'
    copy_sources sources
    status_is 1 sources/tests/release "$VERSION"
    says 'make release: this is no git checkout, and a release is made of a commit: clone the repository'
    rm -r sources
    commit_to sources
    cd sources
    sed -i "s/^## $VERSION - .*/## Unreleased/" docs/CHANGELOG.md
    status_is 1 tests/release "$VERSION"
    says 'make release: these files are not as in the commit: commit, stash or remove them
 M docs/CHANGELOG.md'
    says 'make release: docs/CHANGELOG.md:7: "Unreleased": choose the version of this release, and write "## VERSION - DATE" here'
    git checkout -q .
    git tag "v$VERSION"
    sed -i "s/^## $VERSION - .*/## 99.1 - 2001-02-03/" docs/CHANGELOG.md
    sed -i '1s/(.*)/(99.2)/' docs/debian/changelog
    sed -i 's/^Version:.*/Version: 99.3/' docs/rpm/spdk-trace-tools.spec
    commit_in .
    status_is 1 tests/release "$VERSION"
    says "the tag v$VERSION is another commit: git checkout v$VERSION, or choose a new version"
    says "docs/CHANGELOG.md:7: the version is 99.1, but $VERSION in the Makefile: change one of them"
    says "docs/debian/changelog:1: the version is 99.2, but $VERSION in the Makefile"
    says "docs/rpm/spdk-trace-tools.spec:5: the version is 99.3, but $VERSION in the Makefile"
    says "docs/CHANGELOG.md:7: the date is 2001-02-03, but $(packaged) in docs/debian/changelog: change one of them"
    status_is 1 tests/release "$VERSION" tarball
    says 'make release: tarball: not a part; they are source, deb, deb-arm64, rpm, static and static-arm64'
    [ ! -e build ]
}

# What an installed folder of these sources has below /usr: tools, pages and completions.
expected() { # SOURCES ZSHDIR
    local tool
    for tool in "$1"/cmd/*; do
        tool=${tool##*/}
        [ "$tool" != biosnoop ] || tool=spdk-$tool
        printf '/usr/%s\n' "bin/$tool" "share/man/man1/$tool.1" "share/bash-completion/completions/$tool" \
            "share/fish/vendor_completions.d/$tool.fish"
    done
    printf '/usr/share/%s\n' man/man7/spdk-trace-{lines,tools}.7 "zsh/$2/_spdk-trace-tools"
}

# Without a package for arm64, whose libraries come by the network; of the tools with those that "make release" compares, and
# one with a BPF program and another name: those left out are installed like these, as tests/install.bats verifies.
@test "a release is the same bytes in any folder, and its packages have what they should" {
    for command in git dpkg-buildpackage dh lintian rpmbuild cpio aarch64-linux-gnu-gcc qemu-aarch64; do
        command -v $command >/dev/null || lacks "$command is not here"
    done
    command -v biosnoop >/dev/null || skip 'biosnoop was not built'
    export DEB_BUILD_OPTIONS='nocheck noopt' HOME=$PWD
    echo '%optflags -O0 -g' >.rpmmacros
    local parts='source deb rpm static-arm64'
    commit_to one trace-dump qpair-lifetimes trace-join trace-spans trace-latency biosnoop
    git clone -q one another/folder
    release_in one PARTS="$parts static"
    (umask 027; CFLAGS=-O1 MANDIR=/elsewhere TZ=Asia/Tokyo release_in another/folder PARTS="$parts")
    grep -F "make release: done, without a tag: git tag -a v$VERSION -m 'spdk-trace-tools $VERSION'" log
    (cd one/build/release && sha256sum -c SHA256SUMS)
    equal "$(cat another/folder/build/release/SHA256SUMS)" "$(grep -v static-x86_64 one/build/release/SHA256SUMS)"

    deb=$(echo one/build/release/spdk-trace-tools_"$VERSION"_*.deb)
    dpkg-deb -c "$deb" | awk '{ print $NF }' | grep -v '/$' | sed 's/^\.//' >list
    diff <(expected one vendor-completions | sort) <(grep -v /usr/share/doc/ list | sed 's/\(\/man[17]\/.*\)\.gz$/\1/' | sort)
    for document in README.md copyright docs/tutorial.md docs/session.svg tests/data/slow-host.trace.gz; do
        grep -qx "/usr/share/doc/spdk-trace-tools/$document" list
    done
    # where somebody built it is nobody's matter
    dpkg-deb -x "$deb" root
    run -1 grep -rlF "$BATS_TEST_TMPDIR" root
    lintian --allow-root --fail-on warning "$deb"

    rpm=$(echo one/build/release/spdk-trace-tools-"$VERSION"-*.rpm)
    equal "$(rpm -qp --qf '%{NAME} %{VERSION} %{LICENSE}' "$rpm")" "spdk-trace-tools $VERSION BSD-3-Clause AND (BSD-3-Clause OR GPL-2.0-only)"
    rpm -qlp "$rpm" | sed 's/\.gz$//' | grep -v -e '/usr/share/doc/' -e '/usr/share/licenses/' -e /usr/lib/ | sort |
        diff <(expected one site-functions | sort) -
    rpm -qlp "$rpm" | grep '/licenses/.*/LICENSE$'
    for document in README.md LICENSE docs/tutorial.md tests/data/slow-host.trace.gz; do
        rpm -qlp "$rpm" | grep -x "/usr/share/doc/spdk-trace-tools/$document"
    done

    for machine in x86_64 aarch64; do
        mkdir $machine
        tar -xzf one/build/release/spdk-trace-tools-"$VERSION"-static-$machine.tar.gz -C $machine --strip-components=1
        file=$machine/share/doc/spdk-trace-tools
        grep 'GNU C Library [0-9]*\.[0-9]*,' $file/STATIC
        [ -s $file/LGPL-2.1 ]
        [ -s $machine/share/man/man1/trace-dump.1 ]
        run -1 grep -rlF "$BATS_TEST_TMPDIR" $machine
    done
}
