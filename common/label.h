/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that the kernel has in arrays, which they may fill up without a NUL; anybody may choose the bytes. */
#ifndef LABEL_H
#define LABEL_H

#include "out.h"

enum { LABEL_SIZE = 32 }; /* the largest array */

/* Writes the name as text, filled up to the width, and a blank; "-" when it is empty. */
void label_column(struct out *out, const char *name, size_t size, int width);

/* Writes the name as a member of a JSON object, and a comma. */
void label_member(struct out *out, const char *key, const char *name, size_t size);

#endif
