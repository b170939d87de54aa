#!/usr/bin/env bats
# Any bytes: the readers of tests/fuzz.c on everything that ever made one of them fail.
# bats file_tags=sanitizers

load helpers

@test "no input that made a reader fail does so again" {
    local ran=0 program reader
    while read -r program reader; do
        # left out with its program where a library is missing
        [ -x "$BIN/$program" ] || continue
        [ ! -d "$BATS_TEST_DIRNAME/corpus/$reader" ] || status_is 0 timeout 60 "$BIN/fuzz-$reader" "$BATS_TEST_DIRNAME/corpus/$reader"/*
        ran=$((ran + 1))
    done < <(readers)
    [ $ran -gt 2 ]
}

# Prints PROGRAM READER for each row of the table.
readers() {
    sed -n 's/.*READER("\([^"]*\)", "\([^"]*\)".*/\1 \2/p' "$BATS_TEST_DIRNAME/fuzz.c"
}

@test "each input in the corpus is a reader's" {
    readers | awk '{ print $2 }' | sort >known
    (cd "$BATS_TEST_DIRNAME/corpus" && printf '%s\n' *) | sort | comm -23 - known | cmp - /dev/null
}
