#!/usr/bin/env bats
# Any bytes: the readers of tests/fuzz.c on everything that ever made one of them fail.

load helpers

@test "no input that made a reader fail does so again" {
    local ran=0
    for folder in "$BATS_TEST_DIRNAME"/corpus/*; do
        reader=${folder##*/}
        # those that need libelf are left out where it is
        [ -x "$BIN/fuzz-$reader" ] || { [[ $reader = probe-specs || $reader = elf-* ]] && continue; }
        status_is 0 timeout 60 "$BIN/fuzz-$reader" "$folder"/*
        ran=$((ran + 1))
    done
    [ $ran -gt 2 ]
}
