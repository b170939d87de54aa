#!/usr/bin/env bats
# Lists of generated functions, also those that somebody made to harm whoever reads them: what offwaketime makes of them.
# bats file_tags=sanitizers

load helpers

setup() {
    enter
    command -v perfmap >/dev/null || lacks 'offwaketime was not built'
}

# Runs it in 256 MiB, which sanitizers cannot do.
limited() {
    has_sanitizers || ulimit -v 262144
    timeout 20 perfmap "$@"
}

@test "functions in any order, with and without 0x, of several at one start the last" {
    printf '%s\n' '7f20 10 c' '0x7f10 0x10 a name' '7f20 8 d' '7F00 4 b' >list
    status_is 0 limited list
    equal "$output" $'7f00 7f04 b\n7f10 7f20 a name\n7f20 7f28 d'
}

@test "of functions that overlap the last one counts" {
    printf '%s\n' '1000 1000 old' '1800 10 new' '1700 200 newest' >list
    status_is 0 limited list
    equal "$output" $'1000 2000 old\n1700 1900 newest\n1800 1810 new, at its start newest'
}

@test "lines that are no functions are skipped" {
    printf '%s\n' '' ' ' x '1 2' '1  name' '1 0 empty' 'ffffffffffffffff 10 beyond' '-1 10 sign' '1 -1 sign' '1g 10 digit' \
        '10000000000000000 1 digits' '1 10 ' "1 10 $(printf '%5000s' '' | tr ' ' n)" '20 10 sound' >list
    printf '30 10 nul\0nul\n40 10 \33[31m\377\n50 10 cut off' >>list
    status_is 0 limited list
    equal "$output" $'20 30 sound\n30 40 nul\n40 50 \\x1b[31m\\xff'
}

@test "any bytes, no newline, and an empty file" {
    : >empty
    head -c 3000000 /dev/zero >zeros
    head -c 3000000 /dev/urandom >random
    { head -c 3000000 /dev/zero | tr '\0' a; printf '\n10 10 after\n'; } >long
    status_is 0 limited empty zeros random long
    [[ $output == *'10 20 after' ]]
}

@test "more than is loaded of a file and of all files is refused" {
    printf '10 10 a\n' >large
    truncate -s 65M large
    status_is 1 limited large
    says 'perfmap: large: its tables take more than 64 MiB, which is not loaded'
    equal "$output" '10 20 a'
    # short lines take more memory than they have bytes
    head -c 20000000 < <(yes '1 1 a') >short
    status_is 1 limited short
    says 'perfmap: short: its tables take more than 64 MiB, which is not loaded'
    equal "$output" '1 2 a'
}
