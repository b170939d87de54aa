/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WAKEUP_H
#define WAKEUP_H

/* When the consumer of the ring wants to be woken, so that a busy probe does not pay for it each time. */
enum wakeup { WAKE_NEVER, WAKE_NOW, WAKE_WHEN_FILLING };

#endif
