/* SPDX-License-Identifier: BSD-3-Clause */
/* What lcores did besides requests, as the target says: the time of SPDK's threads that serve no connection. */
#pragma once

#include "slice.h"
#include "unread.h"

/* Adds them to u, by the difference between the first and the last answer in rpc, which must outlive u. */
void busy_read(struct unread *u, struct slice rpc);
