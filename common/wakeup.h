/* SPDX-License-Identifier: BSD-3-Clause */
/* When the reader of a BPF ring wants to be woken: a busy probe does not pay for each event. */
#ifndef WAKEUP_H
#define WAKEUP_H

enum wakeup { WAKE_NEVER, WAKE_NOW, WAKE_AT_WATERMARK };

#endif
