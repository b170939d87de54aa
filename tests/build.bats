#!/usr/bin/env bats
# What make makes of the sources.
# bats file_tags=plain

load helpers

@test "the folder of the sources may have any name, of which nothing runs" {
    folder="a b'c \$x; touch ran; '"
    copy_sources "$folder"
    for _ in 1 2; do
        make -C "$folder" MAKEFLAGS= CFLAGS=-O0 build/trace-join >log 2>&1 || { cat log; return 1; }
    done
    # the second time nothing has changed
    equal "$(grep -c ' CC ' log)" 0
    equal "$(find . -name ran)" ''
    "$folder/build/trace-join" -V
}

@test "without a compiler, make says how to get one" {
    status_is 2 make -C "$ROOT" MAKEFLAGS= CC=nosuchcc B="$PWD/build"
    says 'nosuchcc: not found; make deps installs a C compiler'
    equal "$(grep -c nosuchcc <<<"$stderr")" 1
}

@test "no two folders of common/ include each other, directly or through others" {
    copy_sources sources
    local folder other objects=()
    for folder in sources/common/*; do
        touch "$folder/in_${folder##*/}.h"
        for other in sources/common/*; do
            [ "$folder" = "$other" ] || echo "#include \"in_${other##*/}.h\"" >"$folder/to_${other##*/}.c"
            objects+=("build/${folder#*/}/to_${other##*/}.o")
        done
    done
    run ! make -k -j2 -C sources MAKEFLAGS= "${objects[@]}"
    (cd sources/build/common && printf '%s\n' */to_*.o) | sed 's/\/to_/ /; s/\.o$//' >included
    grep -x 'model line' included
    # it says where there is a circle
    tsort included
}

@test "nothing is included by a path that goes up" {
    copy_sources sources
    sed -i '0,/#include "number.h"/s//&\n#include "..\/model\/spdk.h"/' sources/common/base/number.c
    status_is 2 make -C sources MAKEFLAGS= build/trace-dump
    says 'include "../model/spdk.h" without ../'
}
