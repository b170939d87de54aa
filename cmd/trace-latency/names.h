/* SPDX-License-Identifier: BSD-3-Clause */
/* How groups, types of objects and rows are written for people. */
#pragma once

#include "json.h"
#include "out.h"
#include "rows.h"

/* The family for people: empty unless several types in the rows have the letter. */
struct slice names_family(const struct rows *rows, uint32_t type);

/* The next key and value of a group, as they are printed. False after the last one. */
bool names_member(struct json *j, struct slice *key, struct slice *value);

/* Writes a group as key=value, … and then the text `after`. Writes nothing if the group is empty. */
void names_group(struct out *out, struct slice group, const char *after);

/* A row's name in messages. */
void names_row(struct out *out, const struct rows *rows, const struct latency *row);
