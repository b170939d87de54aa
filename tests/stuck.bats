#!/usr/bin/env bats
# A recorded process that reads memory which never comes. While it does, no recorder on the machine can detach a probe:
# tests of another file would fail meanwhile.
# bats file_tags=alone,plain

load helpers

setup_file() {
    needs_usdt_target
}

teardown() {
    kill_left started
}

# Whether a thread of the target waits for its memory, outside of any system call, or its event was recorded without it.
has_fired() {
    grep -qs '^-1 ' "/proc/$started/task/"*/syscall || grep -q '^absent' lines
}

@test "a string that never comes does not keep the recorder" {
    local way late
    for way in '' 6.1 late; do
        late=
        # the child that is left behind runs before the recorder goes on
        [ "$way" != late ] || has_sanitizers || late="FAULT_CALL=fork FAULT_NTH=1 FAULT=late LD_PRELOAD=$FAULTS"
        # not to take those of the first way for these
        rm -f log out status lines recorder
        start usdt-target wait sites stuck
        # shellcheck disable=SC2086 # none, or one
        sh "env $late AS_LINUX=${way#late} "'usdt-record -p '"$started"' -e "absent(text:str)" -e "inlined(where)" 2>log & echo $! >recorder
            wait $!; echo $? >status' | tee lines >/dev/null &
        local pipeline=$!
        wait_for_text recording log
        echo >&"$go"
        wait_for_text firing out || { grep -q userfaultfd out && skip 'no userfaultfd here'; }
        wait_for has_fired
        kill "$(cat recorder)"
        # its reader sees the end as well
        timeout 90 tail --pid=$pipeline -f /dev/null
        # what came before is there
        equal "$(grep -c inlined lines)" 3
        # detaching perf events need not wait
        [ "$(cat status)" = 1 ] || { [ "$way" = 6.1 ] && equal "$(cat status)" 0 && kill -9 "$started" && continue; }
        grep -q 'the probes are not detached yet: the kernel waits, maybe for a recorded process whose memory' log
        local rest
        rest=$(sed -n 's/.*process \([0-9]*\) stays.*/\1/p' log)
        kill -9 "$started"
        wait "$started" || true
        # its parent is gone: whoever inherits it may leave it as a zombie for a while
        wait_for sh "! grep '^State:.[^ZX]' /proc/$rest/status"
    done
}
