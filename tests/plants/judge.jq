# For run: the verdict about one draw, as a line with tabs. A host that a plant adds loses nothing.

# of a host, by its NQN or its connection
def name: sub(".*:"; "") | sub("/.*"; "");
def matches($pattern): $pattern != "-" and test("^(" + $pattern + ")$");
def is_plant: (.cause | matches($causes)) and (.who | test($culprits));
def is_cause: is_plant and (.victim == "" or (.victim | name | matches($victims)));
def is_part: is_plant or (.cause | matches($partly));

# sums of us: of all that hosts waited, and of what the same commands waited more than without the plant, of it since
# they were sent
def pairs: $after[] as $a | $before[] | select(.host == $a.host and .type == $a.type) | [., $a];
def all: [pairs | .[1].us] | add // 0;
def more(of): [pairs | (.[1] | of) - .[1].n * (.[0] | of) / .[0].n] | add // 0;
def lost: more(.us);
def measured: .victim == "" or ((.victim | name) as $victim | any($before[]; .host == $victim));
def given: [[$planted[0].said // empty], $planted[0].also] | flatten | map(select(is_cause and measured)) | .[0].us // 0;
# a device that is slow in both halves is called so rightly
def is_device: $device >= 500 and .cause == "bdev" and .who == "Db";
# so is a host that was late by its own measure for at least as long as the page says
def is_late($waited): .who as $who | .cause == "host" and .us <= ([$waited[] | select(.host == $who) | .late] | add // 0);
def names($answer; $waited): ($answer.said != null and ($answer.said | is_device or is_late($waited) | not)) or
    any($answer.hosts[]; startswith("bdev, Db ") and $device >= 500 | not);
def ms: if . < 100000 then . / 100 | round / 10 else . / 1000 | round end;

# others had more than a hundredth of the time, or enough to be called the cause; of several processes, a reactor is that
# if it was off its CPU
def is_away: . == "off_cpu" or . == "reactor" and ($kind | startswith("far_"));
def disturbed($ms; $answer):
    $ms >= 10 or $ms >= 1 and (($answer.said.cause | is_away) or any($answer.hosts[]; test("^off_cpu")));
def makes_wait: $kind | test("^(preempt|quota|two|(far_)?stopped|blocked|fsync|log_pipe|hang)");

$planted[0] as $p |
(if $kind == "nothing" then
    if disturbed($cpu; $p) then "disturbed" elif names($p; $after) then "invented" else "right" end
elif $cpu0 >= 10 or disturbed($cpu; $p) and (makes_wait | not) then "disturbed"
elif (lost < 0.1 * all or lost < 2000) and ($kind | startswith("hang_") | not) then "harmless"
elif $p.said then
    if $p.said | is_cause then "named" elif $p.said | is_part then "points" else "misleads" end
elif [$p.also[] | select(is_cause or is_part)] | length > 0 then "points"
else "silent" end) as $verdict |
(if disturbed($cpu0; $healthy[0]) then "disturbed"
elif names($healthy[0]; $before) then "invented"
else "right" end) as $without |
def words: ([.line | select(. != "")] + .hosts) | join("; ");
# what hangs has not been waited for yet, and the page of several processes has no sum
def time: if $kind | test("^(hang|far)_") then "-" else ms end;
[$seed, $kind, $verdict, $without, (lost | time), (more(.sent) | time), (given | time),
    ($p | words) + (if $without == "invented" then " [without: " + ($healthy[0] | words) + "]" else "" end)] |
@tsv
