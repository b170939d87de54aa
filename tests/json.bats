#!/usr/bin/env bats
# What is JSON (RFC 8259) to the tools, and what is not.
# bats file_tags=sanitizers

load helpers

# Checks that each line of standard input, in which printf's escapes stand for bytes, is what is said of it.
each_is() { # good|bad
    local n=100 text
    while IFS= read -r text; do
        # shellcheck disable=SC2059 # it is a format for its escapes
        printf -- "${text//%/%%}" >$n.json
        n=$((n + 1))
    done
    "$BIN/json" ./*.json >verdicts
    equal "$(wc -l <verdicts)" $((n - 100))
    run ! grep -av "^$1 " verdicts
}

@test "what the grammar allows is accepted" {
    each_is good <<'J'
{}
[]
null
true
false
""
0
-0
-1
10
1.5
-0.0
1e5
1E+5
1.25e-10
123123e100000
18446744073709551616
 \t\r\n[1 ,\t2\n,\r3 ]\n
[[],{},[[[]]],{"":{}}]
{"a":1,"a":2}
{"":0}
{"a":{"b":[{"c":null}]}}
"\\"\\\\\\/\\b\\f\\n\\r\\t"
"\\u0000\\u001f\\u007f\\u00e9\\uABCD\\uabcd"
"\\ud83d\\ude00"
"\\ud800"
"\177"
"\302\200\342\200\250\360\237\230\200"
"a\377\300\200b"
"//"
[1,"2",true,false,null,{"x":[]}]
J
}

@test "what it does not allow is not" {
    each_is bad <<'J'

 
[
]
{
}
[1
[1,
[1,]
[,1]
[1,,2]
[1 2]
[1]]
[1}
{"a":1]
{"a"}
{"a":}
{"a":1,}
{,"a":1}
{a:1}
{'a':1}
{1:1}
{"a" "b"}
{"a"::1}
{"a":1 "b":2}
{"a":1}#
{} {}
[]x
"
"a
'a'
"\\"
"\\x41"
"\\a"
"\\u12"
"\\u12g4"
"\\U0041"
"\001"
"a\tb"
"a\nb"
"\\\000"
[\000]
\357\273\277{}
tru
TRUE
nul
nulll
True
Infinity
NaN
-NaN
-
+1
01
-01
00
1.
.5
-.5
1.e5
1e
1e+
1e-
1ee5
1.5.5
0x10
1_000
1a
- 1
[1/**/]
[1]//
\302\2401
\0141
[1\013]
J
}

@test "512 levels are read, more and ever more are refused" {
    printf '[%.0s' $(seq 1 512) >deep
    printf ']%.0s' $(seq 1 512) >>deep
    { printf '['; cat deep; printf ']'; } >deeper
    equal "$("$BIN/json" deep deeper)" 'good deep
bad deeper: nested too deep'
    head -c 5000000 /dev/zero | tr '\0' '[' >arrays
    printf '{"":%.0s' $(seq 50000) >objects
    [[ $("$BIN/json" arrays) == 'bad arrays: nested too deep' ]]
    [[ $("$BIN/json" objects) == 'bad objects: nested too deep' ]]
}

# What the member "a" of this text is, as written and without quotes.
member_is() { # TEXT VALUE [UNQUOTED]
    printf '%s' "$1" >text
    equal "$("$BIN/json" -m a text; echo .)" "good text
$2
${3-$2}
."
}

@test "a member is found by its name, however that is escaped" {
    member_is '{"b":{"a":0},"a":1,"a":2}' 1
    member_is ' { "a" : [ {} , "]" ] } ' '[ {} , "]" ]'
    member_is '{"\u0061":"x\"y"}' '"x\"y"' 'x\"y'
    member_is '{"a":""}' '""' ''
    member_is '{"ab":1,"A":2,"":3}' ''
    member_is '["a",1]' ''
    member_is '"a"' ''
    member_is '{}' ''
}

@test "the public JSON test suite, in the folder that JSON_TEST_SUITE names" {
    [ -d "${JSON_TEST_SUITE:-}" ] || skip 'JSON_TEST_SUITE names no folder'
    "$BIN/json" "$JSON_TEST_SUITE"/y_*.json >y
    "$BIN/json" "$JSON_TEST_SUITE"/n_*.json >n
    "$BIN/json" "$JSON_TEST_SUITE"/i_*.json >i
    [ "$(wc -l <y)" -gt 90 ] && [ "$(wc -l <n)" -gt 180 ] && [ "$(wc -l <i)" -gt 30 ]
    equal "$(grep -a -v '^good ' y)" ''
    equal "$(grep -a -v '^bad ' n)" ''
}
