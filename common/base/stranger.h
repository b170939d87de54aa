/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes root's process that of a user whom nobody else is. The user root owns files, and may do what it likes with them
 * without any capability; what runs as user 65534, which web servers, containers and NFS use, any of these may stop,
 * kill and give other limits.
 */
#pragma once

#include <stdbool.h>

/*
 * Gives up the user root and all groups, also the saved ones: for a user and group of this process alone, or 65534 in a
 * user namespace that does not have them. Whoever is not root stays who he is. Capabilities go along unless
 * PR_SET_KEEPCAPS is set. The signal for the end of the parent, which trace-record wants, stays. Returns whether it
 * became another; a container's root may have no other user to become.
 */
bool stranger_become(void);
