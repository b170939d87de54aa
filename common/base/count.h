/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The number of elements of an array; not for pointers. */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
