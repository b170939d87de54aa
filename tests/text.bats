#!/usr/bin/env bats
# Parts of tables for people.
# bats file_tags=sanitizers

load helpers

# Checks that text prints the second word of each line of standard input, between brackets, for the first.
are() {
    local input want got n=0
    while IFS=';' read -r input want; do
        n=$((n + 1))
        got=$("$BIN/text" <<<"$input")
        [ "$got" = "[$want]" ] || { echo "$input: $got, not [$want]"; return 1; }
    done
    [ $n -gt 5 ]
}

@test "a duration has three digits and the unit that fits" {
    are <<'EOT'
0;   0 ns
7;   7 ns
999; 999 ns
1000;1.00 us
1004;1.00 us
1005;1.01 us
9994;9.99 us
9995;10.0 us
99949;99.9 us
99950; 100 us
999499; 999 us
999500;1.00 ms
48337540;48.3 ms
999499999; 999 ms
999500000; 1.00 s
1217241990; 1.22 s
99950000000;  100 s
12345678000000000;12345678 s
18446744073709551615;18446744074 s
EOT
}

@test "a name that is too long is shortened in the middle" {
    export LC_ALL=C.UTF-8
    are <<'EOT'
8 db-1;db-1    
4 db-1;db-1
3 db-1;d…1
5 nqn.2026-11.io:db-1;n…b-1
9 nqn.2026-11.io:db-1;nq…o:db-1
5 äöüßéñ;ä…ßéñ
6 äöüßéñ;äöüßéñ
EOT
    [ "$(printf '9 a\033b\n' | "$BIN/text")" = '[a\x1bb   ]' ]
}

@test "a line that is too long ends in an ellipsis, and keeps its colours" {
    export LC_ALL=C.UTF-8
    local red=$'\e[31m' blue=$'\e[34m' plain=$'\e[0m'
    are <<EOT
-6 abcdef;abcdef
-5 abcdef;abcd…
-2 abcdef;a…
-4 äöüß;äöüß
-3 äöüß;äö…
-6 ${red}abcdef$plain;${red}abcdef$plain
-5 ab${red}cdef$plain;ab${red}cd…$plain
-3 ab${red}cd${plain}ef${blue}gh$plain;ab…$red$plain$blue$plain
-2 ab${red};ab$red
EOT
}
