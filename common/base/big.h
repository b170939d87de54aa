/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers of up to 128 bits as text. */
#pragma once

#include "json.h"
#include "out.h"

void big_write(struct out *out, unsigned __int128 value);

/* Reads an integer up to max, without a sign. Returns false, with an error in j, if the value is anything else. */
bool big_read(struct json *j, unsigned __int128 max, unsigned __int128 *value);
