#!/usr/bin/env bats
# How usdt-record fetches an operand, on x86-64 and arm64; build/operands prints it without running anything.
# bats file_tags=sanitizers

load helpers

setup() {
    command -v operands >/dev/null || lacks 'operands was not built: libelf is missing'
    enter
}

# Makes the file notes, with a probe for each line of operands.
assemble() { # MACHINE, as a byte of printf, its number in elf.h
    local operands
    echo '.data
        .balign 4096
        site: .8byte 0
        .section .note.stapsdt, "", "note"' >notes.s
    while read -r operands; do
        echo "  .4byte 8, 2f - 1f, 3
            .asciz \"stapsdt\"
            1: .8byte site, 0, 0
            .asciz \"p\", \"n\", \"$operands\"
            2: .balign 4" >>notes.s
    done
    "${CC:-cc}" -shared -nostdlib -o notes notes.s 2>err || skip "no assembler: $(cat err)"
    printf '%b\0' "$1" | dd of=notes bs=1 seek=18 conv=notrunc status=none
}

# Checks operands: lines with SIZE@OPERAND, a bar and what is to be printed of it.
parses() { # MACHINE
    cat >table
    cut -d '|' -f 1 table | assemble "$1"
    sed 's/^[^@]*@//; s/|/: /' table >want
    operands notes | diff want -
}

@test "x86-64" {
    parses '\0076' <<'E'
4@$0|u32 0
-4@$-5|s32 -5
8@$-9223372036854775808|u64 -9223372036854775808
8@$0x1F|u64 31
8@$symbol|its form is unknown
8@%rax|u64 in r10
-4@%r15d|s32 in r0
2@%sp|u16 in r19
1@%dil|u8 in r14
-1@%ah|s8 in r10.1
1@%bh|u8 in r5.1
8@%rip|it is not a general register
8@%xmm0|it is not a general register
8@%|it is not a general register
8@x0|its form is unknown
8@(%rsp)|u64 at r19
-2@-12(%rbp)|s16 at r4 + -12
8@table+8-1(%rax)|its form is unknown
8@8-1(%rax)|u64 at r10 + 7
8@(%rdi,%rsi,8)|u64 at r14 + r13 << 3
8@16(,%rcx,4)|u64 at r11 << 2 + 16
8@(%rdi,%rsi)|u64 at r14 + r13 << 0
8@(%rdi,%rsi,3)|its form is unknown
8@(%rdi,%rip)|its form is unknown
8@(%rdi|its form is unknown
8@(%rdi)x|its form is unknown
8@4096|u64 at 4096
8@symbol+4(%rip)|its form is unknown
8@8(%rip)|its distance from the next instruction is not known
8@%fs:symbol@tpoff|it is not a general register
E
}

@test "arm64" {
    parses '\0267' <<'E'
4@0|u32 0
-4@-5|s32 -5
8@5|u64 5
-4@#-7|s32 -7
8@-9223372036854775808|u64 -9223372036854775808
8@18446744073709551615|u64 -1
8@18446744073709551616|its form is unknown
8@0x1F|u64 31
8@x0|u64 in r0
-8@x19|s64 in r19
-4@w0|s32 in r0
2@x30|u16 in r30
8@x29|u64 in r29
8@fp|u64 in r29
8@lr|u64 in r30
8@sp|u64 in r31
8@xzr|u64 in none
4@wzr|u32 in none
8@x31|it is not a general register
8@x|it is not a general register
8@d0|it is not a general register
8@v0.d[0]|it is not a general register
8@pc|it is not a general register
8@[sp]|u64 at r31
8@[sp, 16]|u64 at r31 + 16
-1@[x17, -1]|s8 at r17 + -1
8@[sp,#16]|u64 at r31 + 16
8@[x29, #-24]|u64 at r29 + -24
-8@[x4, x1, lsl 3]|s64 at r4 + r1 << 3
-8@[x4, x1, lsl #3]|s64 at r4 + r1 << 3
1@[x4, x1]|u8 at r4 + r1 << 0
8@[x4, xzr]|u64 at r4
8@[x4, x1, lsl 4]|its form is unknown
8@[x4, x1, lsl]|its form is unknown
8@[x4, w1, sxtw 3]|its form is unknown
8@[x4, w1, uxtw]|its form is unknown
8@[x4], 8|its form is unknown
8@[x4, 8]!|its form is unknown
8@[x4, 8|its form is unknown
8@[x4,|its form is unknown
8@[|its form is unknown
8@[16]|its form is unknown
8@[x4, symbol]|its form is unknown
8@[x4, #:lo12:8]|its form is unknown
-4@[x6, #:lo12:symbol]|its form is unknown
8@symbol|it is not a general register
8@$0|its form is unknown
8@%rax|its form is unknown
E
}

@test "several operands with blanks in them" {
    assemble '\0267' <<<'8@[sp, 16] -4@[x4, x1, lsl 2] 8@5'
    equal "$(operands notes)" '[sp, 16]: u64 at r31 + 16
[x4, x1, lsl 2]: s32 at r4 + r1 << 2
5: u64 5'
}

@test "usdt-gen reads the probes of another processor" {
    assemble '\0267' <<<'8@0 8f@x4 8@[sp, 16]'
    status_is 0 usdt-gen -l -x notes
    equal "$output" 'p:n(u64,f64,u64) sites=1 semaphore=no notes'
    status_is 0 usdt-gen -x notes -e 'n(tsc,_,name:str)'
    says "usdt-gen: notes: probe n has no time: its argument 0, 'tsc', is always 0"
    status_is 1 usdt-gen -x notes -e 'n(tsc,load)'
    says "usdt-gen: notes: probe n has a floating-point number (x4) as argument 1, 'load'"
}

@test "a processor that is not known, and one that is not this one" {
    # s390
    parses '\0026' <<<'8@%r2|its processor is unknown'
    command -v usdt-record >/dev/null || skip 'usdt-record was not built'
    status_is 1 usdt-record -x notes -e 'n(x)'
    [[ $stderr != *CAP_BPF* ]] || skip 'no BPF here'
    equal "$stderr" 'usdt-record: notes: probe n: the file is for another processor; usdt-gen -l lists what is in it'
}

@test "what a compiler for arm64 makes of tests/usdt-target.c" {
    local tests=$BATS_TEST_DIRNAME sdt
    command -v aarch64-linux-gnu-gcc >/dev/null || skip 'aarch64-linux-gnu-gcc is not here'
    sdt=$(echo '#include <sys/sdt.h>' | cc -E -x c - | sed -n 's/.*"\(.*\)\/sys\/sdt.h".*/\1/p' | head -n 1)
    [ -n "$sdt" ] || skip 'sys/sdt.h is not here'
    for option in -O0 -O1 -O2 -Os; do
        aarch64-linux-gnu-gcc -D_GNU_SOURCE $option -static -idirafter "$sdt" -o target \
            "$tests"/usdt-target{,-memory,-library}.c -pthread
        operands target >got
        equal "$(grep -e processor -e known -e 'general registers' -e 'its form' got)" ''
        grep -q '^\[sp, [0-9]*\]: [us][0-9]* at r31 + [0-9]*$' got
        grep -q '^x[0-9]*: u64 in r[0-9]*$' got
        grep -qx '\-9223372036854775808: s64 -9223372036854775808' got
        grep -q '^\[x[0-9]*, x[0-9]*, lsl 3\]: u64 at r[0-9]* + r[0-9]* << 3$' got
        status_is 0 usdt-gen -l -x target
        [[ $output == *'spdk:sizes(s8,u8,s16,u16,s32,u32,s64,u64,s32,s32,s64,u64) sites=1 semaphore=no target'* ]]
        [[ $output == *'spdk:guarded(s32,u64) sites=2 semaphore=yes target'* ]]
    done
}
