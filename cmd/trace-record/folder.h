/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a recording: only its owner can look into it, and no file in it is written twice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "out.h"

struct folder {
	char *path;       /* printable */
	const char *name; /* as it was given; the caller's. NULL: it is in another folder */
	int fd;
};

/* Creates it. Exits after a message if there is one already, or it cannot be created. path: stays the caller's. */
void folder_create(struct folder *f, const char *path);

/*
 * Whether one that was created still has its name: in a folder of theirs, other users may move and replace it.
 * Returns false after a message that says where it is.
 */
bool folder_has_name(const struct folder *f);

/* Creates a folder in another one. Returns false after a message. */
bool folder_add(struct folder *f, const struct folder *parent, const char *name);

void folder_close(struct folder *f);

/*
 * Creates a file in it, with room for `reserve` bytes where the file system can do that. Returns a descriptor, or -1
 * after a message.
 */
int folder_file(const struct folder *f, const char *name, uint64_t reserve);

/* Replaces what is in a file by this text, and frees the text. Returns false after a message. */
bool folder_write(const struct folder *f, const char *name, int fd, struct out *text);

/* Reads the end of a file in it, at most n bytes. Returns how many; 0 if that is not possible. */
size_t folder_end(const struct folder *f, const char *name, char *to, size_t n);

/* The size of a file in it; 0 if the file does not exist. */
uint64_t folder_size(const struct folder *f, const char *name);

/* The space that its files take. */
uint64_t folder_space(const struct folder *f);

/* Removes its files, and then itself from the folder that it was added to. */
void folder_remove(struct folder *f, const struct folder *parent, const char *name);
