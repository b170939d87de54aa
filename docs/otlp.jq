# Spans for OpenTelemetry: prints each request of more than min_us microseconds, with all spans below it, as a line of
# OTLP's JSON encoding, an ExportTraceServiceRequest. time is when the trace starts; without it, that is in 1970.
#
#     trace-dump -T nvmf_trace.pid1234 | trace-join -j -l lifetimes.txt > lines.jsonl
#     trace-spans -a -j lines.jsonl | jq -c -s --argjson min_us 5000 \
#         --arg time "$(head -n 1 lines.jsonl | jq -r .time)" -f otlp.jq > slow.otlp.jsonl

def value:
    if type == "string" then {stringValue: .}
    elif type == "boolean" then {boolValue: .}
    elif type == "array" then {arrayValue: {values: map(value)}}
    elif type == "object" then {kvlistValue: {values: to_entries | map(.value |= value)}}
    elif . == null then {}
    else . + 0 # jq from 1.7 on keeps 1.000 as it is written
        | if . == floor and fabs < 9e15 then {intValue: tostring} else {doubleValue: .} end end;
def attributes($name): # an object has one for each of its keys
    if type == "object" then to_entries[] | .key as $key | .value | attributes("\($name).\($key)")
    else {key: $name, value: value} end;

# text, because a number of jq has 53 bits only
def unix_nano($time): (. * 1000 | round) + ($time[20:29] | tonumber) | . as $ns
    | "\(($time[:19] + "Z" | fromdate) + ($ns / 1e9 | floor))\($ns % 1e9 + 1e9 | "\(.)"[1:])" | sub("^0+(?=.)"; "");
# digits of a hash of what identifies an object, which has the same ids wherever it is printed
def id($seed): "\(.source) \(.id) \(.value) \(.tsc)"
    | reduce explode[] as $c ($seed; (. * 31 + $c) % 281474976710597) + 1e15 | tostring;

($ARGS.named.time // "1970-01-01T00:00:00.000000000Z") as $time
| INDEX("\(.source) \(.id)") as $objects
| def above: select(.parent) | $objects["\(.source) \(.parent)"] // empty;
  def root: (above | root) // .;
  def span: {traceId: root | (id(1) + id(2)), spanId: id(3)} + ({parentSpanId: above | id(3)} // {}) + {
    name: ([.states[][0] | select(.)][0] + (if .io.type then " \(.io.type)" else "" end)),
    kind: (.states[0][0] // "" | if startswith("NVME") then 3 elif contains("_REQ_") then 2 else 1 end),
    startTimeUnixNano: .us | unix_nano($time),
    endTimeUnixNano: (.us + .life) | unix_nano($time),
    attributes: [del(.us, .life, .source, .parent, .children, .states) | to_entries[] | .key as $key | .value
        | attributes("spdk.\($key)")],
    events: [foreach .states[] as [$name, $us] ([.us, 0]; [add, $us]; select($name)
        | {name: $name, timeUnixNano: .[0] | unix_nano($time)})],
    status: (if (.io.status // "success") == "success" then {} else {code: 2} end)};
group_by(root | id(1))[] | select(any(.[]; .life >= ($ARGS.named.min_us // 0) and ([above] == [])))
| {resourceSpans: [{resource: {attributes: [{key: "service.name", value: (.[0].source // "SPDK" | value)}]},
    scopeSpans: [{scope: {name: "trace-spans"}, spans: map(span)}]}]}
