/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "utf8.h"

#define MACRO "SPDK_DTRACE_PROBE"

/* The file that defines the macros. */
#define DEFINITIONS "/spdk_internal/usdt.h"

enum { MAX_SIZE = 16 << 20 }; /* of a source file; its message says so */

static bool has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	return n >= m && strcmp(path + n - m, suffix) == 0;
}

/* The file's bytes with a NUL after them, or NULL with errno. */
static char *read_file(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text = fd < 0 ? NULL : mem_array(size + 1, 1);
	size_t n = 0;
	ssize_t got = text ? 0 : -1;

	while (text && n < size && (got = io_read(fd, text + n, size - n)) > 0)
		n += got;
	if (text)
		text[n] = 0;
	/* strstr() would end at a NUL */
	for (char *nul = text; text && (nul = memchr(nul, 0, text + n - nul));)
		*nul = ' ';
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Parses the text after the word MACRO. False when it is no probe. */
static bool parse_probe(const char *p, struct usdt_site *site, bool *ticks)
{
	const char *name;
	unsigned n = 0;

	while (isdigit((unsigned char)*p) && n <= USDT_MAX_ARGS)
		n = 10 * n + (*p++ - '0');
	*ticks = strncmp(p, "_TICKS", strlen("_TICKS")) == 0;
	if (*ticks)
		p += strlen("_TICKS");
	if (*p++ != '(' || n + 1 > USDT_MAX_ARGS)
		return false;
	p += strspn(p, " \t\n\r\\");
	for (name = p; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	*site = (struct usdt_site){.provider = slice_of("spdk"),
				   .name = {name, p - name},
				   .num_args = n + 1,
				   .args = {{.size = sizeof(uint64_t)}}};
	return p > name;
}

/* Whether the macro is used at p: not defined there, and not the end of another word. */
static bool is_use(const char *text, const char *p)
{
	if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
		return false;
	while (p > text && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	return p - text < 6 || strncmp(p - 6, "define", 6) != 0;
}

/* Finds the probes in the file's text; the sites' names point into it. */
static void find_probes(struct usdt *u, bool *new_era)
{
	uint64_t line = 1;
	const char *counted = u->text, *p = u->text;

	for (; (p = strstr(p, MACRO)); p += strlen(MACRO)) {
		struct usdt_site site;
		bool ticks;

		if (!is_use(u->text, p) || !parse_probe(p + strlen(MACRO), &site, &ticks))
			continue;
		for (; counted < p; counted++)
			line += *counted == '\n';
		site.address = line;
		if (!ticks)
			site.args[0].operand = slice_of("$0");
		*new_era |= ticks;
		u->sites = mem_room(u->sites, u->n, &u->cap);
		u->sites[u->n++] = site;
	}
}

static void complain(const char *path, const char *what)
{
	char *shown = utf8_visible_copy(path);

	warnx("%s: %s", shown, what);
	free(shown);
}

static int read_source(struct target *t, const FTSENT *entry, bool *new_era)
{
	struct target_file *f;
	char *text;

	if (entry->fts_statp->st_size > MAX_SIZE) {
		complain(entry->fts_path, "more than 16 MiB, not searched");
		return -1;
	}
	text = read_file(entry->fts_path, entry->fts_statp->st_size);
	if (!text) {
		complain(entry->fts_path, strerror(errno));
		return -1;
	}
	if (!strstr(text, MACRO)) {
		free(text);
		return 0;
	}
	f = target_add(t, entry->fts_path, -1);
	f->usdt.text = text;
	find_probes(&f->usdt, new_era);
	return 0;
}

int source_read(struct target *t, const char *directory)
{
	char *paths[] = {(char *)directory, NULL};
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool new_era = false;
	FTSENT *entry;
	int result = 0;

	t->is_source = true;
	t->name = mem_copy(slice_of(directory));
	if (!tree) {
		complain(directory, strerror(errno));
		return -1;
	}
	while ((entry = fts_read(tree))) {
		if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR || entry->fts_info == FTS_NS) {
			complain(entry->fts_path, strerror(entry->fts_errno));
			result = -1;
		} else if (entry->fts_info == FTS_F && !has_suffix(entry->fts_path, DEFINITIONS) &&
			   (has_suffix(entry->fts_path, ".c") || has_suffix(entry->fts_path, ".h"))) {
			result |= read_source(t, entry, &new_era);
		}
	}
	fts_close(tree);
	/* until there were macros with _TICKS, the plain ones passed the ticks, too */
	for (size_t i = 0; !new_era && i < t->n; i++)
		for (size_t k = 0; k < t->files[i].usdt.n; k++)
			t->files[i].usdt.sites[k].args[0].operand = (struct slice){};
	return result;
}
