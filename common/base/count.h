/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNT_H
#define COUNT_H

/* The number of elements of an array; not for pointers. */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#endif
