# SPDX-License-Identifier: BSD-3-Clause
# Trace lines as another clock would have them: it is `ahead` us ahead, and quicker by `before` ppm before the middle of the
# lines, by `after` ppm after it. With true=FILE, it writes for each line of that, "TICKS REST", these lines with the us that
# this clock has then instead of the ticks, from its first line on.
function clocked(us, rest) {
    rest = us > middle ? us - middle : 0
    return ahead + (us - rest) * (1 + before / 1e6) + rest * (1 + after / 1e6)
}

{
    match($0, /"tsc":[0-9]+/)
    tsc[NR] = substr($0, RSTART + 6, RLENGTH - 6) + 0
    match($0, /"us":[0-9.]+/)
    us[NR] = substr($0, RSTART + 5, RLENGTH - 5) + 0
    line[NR] = $0
}

END {
    middle = us[int((NR + 1) / 2)]
    for (i = 1; i <= NR && true == ""; i++) {
        sub(/"us":[0-9.]+/, sprintf("\"us\":%.3f", clocked(us[i])), line[i])
        print line[i]
    }
    while (true != "" && (getline <true) > 0) {
        $1 = sprintf("%.3f", clocked(us[1] + ($1 - tsc[1]) * (us[NR] - us[1]) / (tsc[NR] - tsc[1])) - clocked(us[1]))
        print
    }
}
