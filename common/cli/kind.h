/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guesses the kind of an input from its first bytes, so that a tool can say what it was given instead.
 */
#pragma once

#include <stdbool.h>

#include "slice.h"

enum input_kind {
	KIND_UNKNOWN, /* also text of no kind below */
	KIND_EMPTY,
	KIND_DIRECTORY, /* only for kind_refuse() */
	KIND_XZ,
	KIND_GZIP,
	KIND_ZSTD,
	KIND_BZIP2,
	KIND_LZ4,
	KIND_ELF,
	KIND_UTF16,
	KIND_HTML,
	KIND_TRACE_FILE, /* SPDK's binary one */
	KIND_BINARY,     /* another one */
	KIND_SPDK_JSON,  /* what spdk_trace -j prints */
	KIND_SPDK_TEXT,  /* what spdk_trace prints */
	KIND_TRACE_LINES,
	KIND_JOINED, /* text of trace-join and trace.py */
	KIND_PROBE_LINES,
	KIND_LIFETIMES,
	KIND_OWNERS,       /* what trace-dump -O prints */
	KIND_DESCRIPTIONS, /* what trace-dump -d and -i print */
	KIND_ANSWERS,      /* rpc.jsonl of trace-record */
	KIND_ENCODED,      /* what trace-latency -e prints */
	KIND_SPANS,        /* what trace-spans -j prints */
	KIND_PERFETTO,     /* what trace-perfetto prints */
	/* text, by its headings */
	KIND_SPANS_TEXT, /* of trace-spans */
	KIND_LIVE_TEXT,  /* of biosnoop, ipcsnoop or offcpusnoop */
};

/*
 * The kind of an input that starts with these bytes. If it has lines of several kinds, the wanted
 * one if that is among them, else the first one.
 */
enum input_kind kind_of(struct slice start, enum input_kind wanted);

/*
 * Prints to stderr the kinds that the input of this name is and should be, and the command that would work. name: the
 * path, or <stdin>. reader: the command that reads the wanted kind from a pipe; or, of one that reads no pipe, what
 * replaces the pipe: ">FILE; COMMAND FILE".
 */
void kind_refuse(const char *name, enum input_kind is, enum input_kind wanted, const char *reader);
