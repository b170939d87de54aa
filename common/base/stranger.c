/* SPDX-License-Identifier: BSD-3-Clause */
#include "stranger.h"

#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * Users from 1879048192 to 2147483647 are for none of what systemd's list (UIDS-GIDS.md) and login.defs hand out. A
 * process has a number below 2^22.
 */
static const uid_t FIRST = 0x7f800000, NOBODY = 65534;

bool stranger_become(void)
{
	uid_t own = FIRST + (uid_t)getpid();
	pid_t parent = getppid();
	int at_end = 0, failed;

	if (geteuid() != 0)
		return false;
	prctl(PR_GET_PDEATHSIG, &at_end);
	failed = setgroups(0, NULL);
	if (setresgid(own, own, own) != 0)
		failed |= setresgid(NOBODY, NOBODY, NOBODY);
	if (setresuid(own, own, own) != 0)
		failed |= setresuid(NOBODY, NOBODY, NOBODY);
	/* a container's root may lack the capabilities for it */
	(void)failed;
	/* a change of user has reset it */
	prctl(PR_SET_PDEATHSIG, at_end);
	if (at_end && getppid() != parent)
		raise(at_end);
	return geteuid() != 0;
}
