#!/usr/bin/env bats
# ELF files that somebody made to harm whoever reads them: what usdt-gen, usdt-record and offwaketime do with them.

load helpers

setup() {
    enter
    command -v usdt-gen >/dev/null || lacks 'usdt-gen was not built: libelf is missing'
    command -v readelf >/dev/null || skip 'readelf is not here'
    printf '%s\n' 'f: nop' '.type f, @function' '.size f, 1' '.section .note.stapsdt,"","note"' '.4byte 2f-1f,4f-3f,3' '1: .asciz "stapsdt"' \
        '2: .balign 4' '3: .8byte f,0,0' '.asciz "p"' '.asciz "q"' '.asciz "8@%rax"' '4: .balign 4' |
        "${CC:-cc}" -x assembler -shared -nostdlib -Wl,--build-id=none -o good -
}

# Runs a command in 256 MiB, which sanitizers cannot do.
limited() {
    has_sanitizers || ulimit -v 262144
    timeout 60 "$@"
}

# Writes a number into a file, little-endian.
put() { # FILE OFFSET BYTES VALUE
    local bytes='' i
    for ((i = 0; i < $3; i++)); do
        bytes+=$(printf '\\x%02x' $(($4 >> 8 * i & 255)))
    done
    printf '%b' "$bytes" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# The offset of the header of a section.
header() { # FILE SECTION
    local start number
    start=$(readelf -hW "$1" | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
    number=$(readelf -SW "$1" | sed -n "s/^ *\[ *\([0-9]*\)\] $2 .*/\1/p")
    echo $((start + 64 * number))
}

# Makes of the file one whose section takes so many bytes, all of them a hole.
hollow() { # FILE SECTION BYTES
    local at
    at=$(header "$1" "$2")
    put "$1" $((at + 24)) 8 1048576
    put "$1" $((at + 32)) 8 "$3"
    truncate -s $((1048576 + $3)) "$1"
}

@test "notes that take much memory are refused" {
    status_is 0 usdt-gen -l -x good
    equal "$output" 'p:q(u64) sites=1 semaphore=no good'
    for size in 9 1600; do
        cp good big
        hollow big .note.stapsdt $((size << 20))
        fails_only 'usdt-gen: big: more than 8 MiB of notes on probes' limited usdt-gen -l -x big
    done
}

@test "more sections or segments than a program has are refused" {
    local start
    start=$(readelf -hW good | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
    cp good sections
    # 2^24 of them: where the header has no room, the number is in the first one
    put sections 60 2 0
    put sections $((start + 32)) 8 $((1 << 24))
    truncate -s $((start + (64 << 24))) sections
    cp good segments
    put segments 56 2 65535
    for file in sections segments; do
        fails_only "usdt-gen: $file: an ELF file with too many sections or segments" limited usdt-gen -l -x $file
    done
}

@test "names that do not end are refused" {
    local at
    at=$(header good .shstrtab)
    cp good endless
    # one byte less
    put endless $((at + 32)) 1 $(($(od -An -tu1 -j $((at + 32)) -N 1 good) - 1))
    fails_only 'usdt-gen: endless: an ELF file whose table of names does not end with a NUL' usdt-gen -l -x endless
}

@test "symbols that take much memory have no names, and other files have theirs" {
    command -v elf >/dev/null || skip 'offwaketime was not built'
    [[ $(elf good) == *' f' ]]
    cp good big
    hollow big .symtab $((65 << 20))
    fails 'big: its tables take more than 64 MiB, which is not loaded' limited elf big good
    [[ $output == *' f' ]]
}

@test "many symbols of one name take the memory of one" {
    command -v elf >/dev/null || skip 'offwaketime was not built'
    awk 'BEGIN { for (; i < 20000; i++) printf "nop\n.type g%d, @function\ng%d: .size g%d, 1\n", i, i, i }' |
        "${CC:-cc}" -x assembler -shared -nostdlib -o many -
    local at n
    at=$(od -An -tu8 -j $(($(header many .strtab) + 24)) -N 8 many)
    n=$(od -An -tu8 -j $(($(header many .strtab) + 32)) -N 8 many)
    status_is 0 limited elf many
    equal "$(grep -c ' g[0-9]*$' <<<"$output")" 20000
    # one name from the first byte of the table to the last: where a symbol's begins does not matter
    head -c $((n - 2)) /dev/zero | tr '\0' n >name
    dd if=name of=many bs=1M oflag=seek_bytes seek=$((at + 1)) conv=notrunc status=none
    status_is 0 limited elf many
    # longer ones are none
    [ "$(wc -l <<<"$output")" -lt 1000 ]
}

@test "names of functions are without versions" {
    command -v elf >/dev/null || skip 'offwaketime was not built'
    echo 'V_0 {}; V_1 {};' >versions
    printf '%s\n' 'f: nop; .type f, @function; .size f, 1; .symver f, read@@V_1' \
        'g: nop; .type g, @function; .size g, 1; .symver g, read@V_0' |
        "${CC:-cc}" -x assembler -shared -nostdlib -Wl,--version-script=versions -o versioned -
    [[ $(readelf -sW versioned) == *read@@V_1* ]]
    status_is 0 elf versioned
    equal "$(cut -d ' ' -f 3 <<<"$output")" $'f\nread\ng\nread'
}

@test "what a process names instead of its file is not opened when it is no file" {
    command -v strace >/dev/null || skip 'strace is not here'
    [ -x "$BIN/usdt-target-static" ] || skip 'usdt-target was not built'
    cp "$BIN/usdt-target-static" gone
    mkfifo go
    ./gone wait <go >out &
    exec {go}>go
    wait_for_text ready out
    rm gone
    ln -s /dev/ptmx 'gone (deleted)'
    strace -f -o calls -e trace=openat,openat2 usdt-gen -l -p $! >/dev/null || true
    grep 'gone (deleted)' calls
    run -1 grep -E 'gone \(deleted\)' <(grep -v O_PATH calls)
    exec {go}>&-
    wait
}
