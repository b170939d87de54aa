# The answers to the questions of docs/sql.md, from span lines as an array. $number: of the question; $engine: duck counts
# the time of drives in another way. Prints rows of CSV.

def sum: add // 0;
def mean: sum / length;
def until_us: .us + .life;
def is($letter): .id[:1] == $letter;
# between two values, as both engines do it
def percentile($p): sort | ((length - 1) * $p / 100) as $at | ($at | floor) as $i |
    .[$i] + ($at - $i) * ((.[$i + 1] // .[$i]) - .[$i]);

map(.source //= "SPDK" | .host = ((.args.qpair | objects | .hostnqn) // null)) as $spans |
($spans | map(select(.parent)) | group_by([.source, .parent]) |
    map({key: "\(.[0].source) \(.[0].parent)", value: .}) | from_entries) as $by_parent |
def children: $by_parent["\(.source) \(.id)"] // [] | .[];
def below: children | ., below;
($spans | map(select(.parent | not))) as $roots |
($roots | map(select(.admin | not))) as $requests |
($requests | map(select(.open | not))) as $ended |

if $number == 1 then
    ["source", "id", "type", "us", "drive_us"],
    ($ended | map(select(.io.type)) | sort_by(-.life)[:10][] | [.source, .id, .io.type, .life,
        if $engine == "duck" then .layers.drive else [below | select(is("p")) | .life] | sum end])
elif $number == 2 then
    ["id", "us", "off_cpu_us"],
    ($ended | map(select(.off_cpu)) | sort_by([-.off_cpu, .life])[:5][] | [.id, .life, .off_cpu])
elif $number == 3 then
    ["host", "waits", "total_us", "longest_us"],
    ([$requests[] | {host, us: (.states[] | select(.[0] | endswith("NEED_BUFFER")) | .[1])}] | group_by(.host) |
        map([.[0].host, length, (map(.us) | sum), (map(.us) | max)]) | sort_by(-.[2])[])
elif $number == 4 then
    ["host", "type", "requests", "p99_us"],
    ($ended | map(select(.host and .io.type)) | group_by([.host, .io.type]) |
        map([.[0].host, .[0].io.type, length, (map(.life) | percentile(99))]) | sort_by(-.[3])[])
elif $number == 5 then
    ["id", "type", "blocks", "us", "parts", "slowest_us"],
    ($spans | map(select(is("i")) | [.id, .io.type, .io.blocks, .life, [children | select(is("i")) | .life]]) |
        map(select(.[4] | length > 1)) | sort_by(-.[3])[:5][] | .[:4] + [(.[4] | length, max)])
else
    ["id", "type", "lba", "us", "store_id", "store_us"],
    ([$requests[] | select(.io.lba and (.open | not)) | . as $near | $requests[] |
        select(.source != $near.source and .io.type == $near.io.type and .io.lba == $near.io.lba and
            .us >= $near.us and .us <= ($near | until_us)) |
        [$near.id, .io.type, .io.lba, $near.life, .id, .life]] | sort_by(-.[3])[:10][])
end | map(if . == null then "" else tostring end) | join(",")
