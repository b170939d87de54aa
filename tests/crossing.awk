# SPDX-License-Identifier: BSD-3-Clause
# Prints the trace lines of n commands that a process sends to itself, `depth` of them in flight at a time; with side=i
# those of the initiator only, with side=t those of the target. alike=1: all are of one block; period=N: their addresses
# repeat; without=K: the target's trace lacks the Kth. The clock of the target is `ahead` us ahead.
function line(us, lcore, tpoint, rest, is_target) {
    if (side != "" && is_target != (side == "t"))
        return
    us += is_target ? ahead : 0
    printf "{\"tsc\":%.0f,\"us\":%.3f,\"lcore\":%d,\"tpoint\":\"%s\",%s}\n", 1000 * us, us, lcore, tpoint, rest
}

function object(id, address, age) {
    return sprintf("\"object\":{\"id\":\"%s\",%s\"value\":\"0x%x\"}", id, age == "" ? "" : sprintf("\"us\":%.3f,", age), address)
}

BEGIN {
    depth = depth ? depth : 4
    owner = "\"poller\":\"t260\",\"owner\":\"10.0.0.2:4000 nqn.a 10.0.0.2:4420 qid:1\","
    for (k = 0; k < n + depth; k++) {
        at = 20 * k + k * k % 7
        done = k - depth + 1
        lba = alike ? 0 : 8 * (period ? k % period : k * 7919 % 131071)
        pdu = 1048576 + k % depth * 1088
        if (k < n) {
            line(at, 2, "NVME_TCP_SUBMIT", "\"poller\":\"q01\"," object("p" k, pdu) sprintf(",\"args\":{\"cid\":%d,\"opc\":%d,\"dw10\":\"0x%x\",\"dw11\":\"0x0\",\"dw12\":\"0x7\"}", k % depth, 1 + k % 2, lba))
            if (k + 1 != without) {
                line(at + 4, 0, "TCP_REQ_NEW", owner object("r" k, 8192 + k % depth), 1)
                line(at + 5, 0, "BDEV_IO_START", "\"poller\":\"b01\",\"owner\":\"bdev_Disk\",\"size\":8," object("i" k, 4096 + k % depth) sprintf(",\"related\":\"r%d\",\"args\":{\"type\":%d,\"ctx\":\"0x%x\",\"offset\":%d}", k, 2 - k % 2, 8192 + k % depth, lba), 1)
            }
        }
        if (done < 0 || done >= n)
            continue
        if (done + 1 != without) {
            line(at + 8, 0, "BDEV_IO_DONE", object("i" done, 4096 + done % depth, 1), 1)
            line(at + 9, 0, "TCP_REQ_TRANSFER_C2H", owner object("r" done, 8192 + done % depth, 1), 1)
        }
        line(at + 11, 2, "NVME_TCP_COMPLETE", "\"poller\":\"q01\"," object("p" done, 1048576 + done % depth * 1088, 1) sprintf(",\"args\":{\"cid\":%d,\"cpl\":\"0x0\"}", done % depth))
        if (done + 1 != without)
            line(at + 12, 0, "TCP_REQ_COMPLETED", owner object("r" done, 8192 + done % depth, 1), 1)
    }
}
