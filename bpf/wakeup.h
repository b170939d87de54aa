/* SPDX-License-Identifier: BSD-3-Clause */
/* When a BPF program wakes the reader of its ring: a busy probe need not pay for it at each event. */
#pragma once

enum wakeup { WAKE_NEVER, WAKE_NOW, WAKE_AT_WATERMARK };
