# For run: the table by kind, and the totals. A time is right if it is within a quarter of what the hosts have lost since
# they sent their commands.
BEGIN { verdicts = split("named points silent misleads right invented harmless disturbed", verdict, " ") }

{
    if (!($2 in draws))
        kinds[++n] = $2
    draws[$2]++
    count[$2, $3]++
    total[$3]++
    without[$4]++
    if ($3 ~ /^(named|points|silent|misleads)$/) {
        judged++
        timed[$2] += is_right = $7 >= 0.75 * $6 && $7 <= 1.25 * $6
        all_timed += is_right
    }
}

function row(name, of) {
    printf "| %s |", name
    for (i = 1; i <= verdicts; i++)
        printf " %s |", of[i] ? of[i] : ""
}

END {
    printf "| kind |"
    for (i = 1; i <= verdicts; i++)
        printf " %s |", verdict[i]
    print " time right |"
    print "|---|---|---|---|---|---|---|---|---|---|"
    for (k = 1; k <= n; k++) {
        for (i = 1; i <= verdicts; i++)
            of[i] = count[kinds[k], verdict[i]]
        row(kinds[k], of)
        printf " %s |\n", timed[kinds[k]] ? timed[kinds[k]] : ""
    }
    for (i = 1; i <= verdicts; i++)
        of[i] = total[verdict[i]]
    row("all", of)
    printf " %s |\n\n", all_timed ? all_timed : ""
    printf "%d of %d plants that hurt are named, %d mislead; ", total["named"], judged, total["misleads"]
    printf "the time of %d is right\n", all_timed
    printf "halves without a plant: %d right, %d invented, ", without["right"], without["invented"]
    printf "%d disturbed\n", without["disturbed"]
}
