/* SPDX-License-Identifier: BSD-3-Clause */
#include "notes.h"

const char *note_name(enum note note)
{
	static const char *const names[NOTE_LIFT] = {
		[NOTE_ID] = "id",         [NOTE_VALUE] = "value", [NOTE_TSC] = "tsc",   [NOTE_RELATED] = "related",
		[NOTE_POLLER] = "poller", [NOTE_OWNER] = "owner", [NOTE_SIZE] = "size", [NOTE_LCORE] = "lcore",
		[NOTE_OPEN] = "open",     [NOTE_CUT] = "cut",     [NOTE_TORN] = "torn", [NOTE_IO] = "io",
		[NOTE_ARGS] = "args",
	};

	return note < NOTE_LIFT ? names[note] : lift_keys[note - NOTE_LIFT];
}
