/* SPDX-License-Identifier: BSD-3-Clause */
#include "offwaketime-elf.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes of a section: anybody can make a file that says it had more, and be slow to read. */
enum { MAX_SECTION = 1 << 30 };

static Elf_Data *data_of(Elf_Scn *section, const GElf_Shdr *header)
{
	return header->sh_size <= MAX_SECTION ? elf_getdata(section, NULL) : NULL;
}

static void add_segments(struct elf_file *f, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) != 0)
		return;
	f->segments = calloc(n + 1, sizeof(*f->segments));
	for (size_t i = 0; f->segments && i < n; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD)
			f->segments[f->num_segments++] = (struct segment){p.p_offset, p.p_filesz,
									  p.p_vaddr};
	}
}

/* A symbol without a size may end anywhere: what is behind it would get a wrong name. */
static void add_function(struct elf_file *f, const GElf_Sym *symbol, const char *name)
{
	struct function *all;
	int type = GELF_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    !symbol->st_size || !name || !*name || symbol->st_size > UINT64_MAX - symbol->st_value)
		return;
	/* room for powers of two */
	if ((f->n & (f->n - 1)) == 0) {
		all = reallocarray(f->functions, f->n ? 2 * f->n : 1, sizeof(*all));
		if (!all)
			return;
		f->functions = all;
	}
	all = &f->functions[f->n];
	all->start = symbol->st_value;
	all->end = symbol->st_value + symbol->st_size;
	all->name = strdup(name);
	f->n += all->name != NULL;
}

/* Adds the symbols of sections of this type. Returns whether there is one. */
static bool add_sections(struct elf_file *f, Elf *elf, uint32_t type)
{
	Elf_Scn *section = NULL;
	bool found = false;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != type ||
		    !(data = data_of(section, &header)))
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++)
			add_function(f, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
		found = true;
	}
	return found;
}

/* Takes a build id out of notes: its path is usr/lib/debug/.build-id/XX/YYYY.debug. */
static bool path_of_notes(Elf_Data *notes, char *path, size_t room)
{
	size_t at = 0, name, id;
	GElf_Nhdr note;

	while ((at = gelf_getnote(notes, at, &note, &name, &id)) > 0) {
		const unsigned char *bytes = (unsigned char *)notes->d_buf + id;
		int n;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp((char *)notes->d_buf + name, "GNU", sizeof("GNU")) != 0 ||
		    note.n_descsz < 2 || note.n_descsz > 64)
			continue;
		n = snprintf(path, room, "usr/lib/debug/.build-id/%02x/", bytes[0]);
		for (unsigned i = 1; i < note.n_descsz; i++)
			n += snprintf(path + n, room - n, "%02x", bytes[i]);
		snprintf(path + n, room - n, ".debug");
		return true;
	}
	return false;
}

static bool path_of_build_id(Elf *elf, char *path, size_t room)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *notes;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    (notes = data_of(section, &header)) && path_of_notes(notes, path, room))
			return true;
	}
	return false;
}

/* The section .gnu_debuglink: a file name, and at the next multiple of 4 the checksum of that file. */
static bool debug_link(Elf *elf, char name[NAME_MAX + 1], uint32_t *checksum)
{
	Elf_Scn *section = NULL;
	size_t strings, n;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *title;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS ||
		    !(title = elf_strptr(elf, strings, header.sh_name)) ||
		    strcmp(title, ".gnu_debuglink") != 0 || !(data = data_of(section, &header)) ||
		    !data->d_buf)
			continue;
		n = strnlen(data->d_buf, data->d_size);
		if (!n || n > NAME_MAX || memchr(data->d_buf, '/', n) ||
		    data->d_size < (n + 4) / 4 * 4 + sizeof(*checksum))
			return false;
		memcpy(name, data->d_buf, n);
		name[n] = 0;
		memcpy(checksum, (char *)data->d_buf + (n + 4) / 4 * 4, sizeof(*checksum));
		return true;
	}
	return false;
}

/* Whether this is the CRC-32 of the file, as zlib computes it. */
static bool has_checksum(int fd, uint32_t checksum)
{
	static uint32_t table[256];
	unsigned char bytes[65536];
	uint32_t crc = ~0U;
	ssize_t n;

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
	return n == 0 && ~crc == checksum;
}

/* Adds the functions of a debug file; checksum: NULL when its name is enough. Returns whether it has symbols. */
static bool add_file(struct elf_file *f, int root, const char *path, const uint32_t *checksum)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	bool found = false;
	Elf *elf;

	if (fd < 0)
		return false;
	if (!checksum || has_checksum(fd, *checksum)) {
		elf = elf_begin(fd, ELF_C_READ, NULL);
		found = elf && add_sections(f, elf, SHT_SYMTAB);
		elf_end(elf);
	}
	close(fd);
	return found;
}

static bool add_linked_file(struct elf_file *f, int root, const char *path, const char *name,
			    uint32_t checksum)
{
	static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s", "usr/lib/debug%.*s/%s"};
	const char *slash = strrchr(path, '/');
	char debug[PATH_MAX + NAME_MAX + 32];

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		int n = snprintf(debug, sizeof(debug), places[i], (int)(slash - path), path, name);

		if (n < (int)sizeof(debug) && add_file(f, root, debug, &checksum))
			return true;
	}
	return false;
}

static bool add_debug_file(struct elf_file *f, Elf *elf, const char *path, int root)
{
	char id[256], name[NAME_MAX + 1];
	uint32_t checksum;
	bool has_id = path_of_build_id(elf, id, sizeof(id));
	bool has_link = debug_link(elf, name, &checksum);

	return (has_id && add_file(f, root, id, NULL)) ||
	       (has_link && add_linked_file(f, root, path, name, checksum));
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : strcmp(x->name, y->name);
}

void elf_read(struct elf_file *f, int fd, const char *path, int root)
{
	int own_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	Elf *elf;

	*f = (struct elf_file){};
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf) {
		add_segments(f, elf);
		if (!add_sections(f, elf, SHT_SYMTAB) && !add_debug_file(f, elf, path, root) &&
		    !add_debug_file(f, elf, path, own_root))
			add_sections(f, elf, SHT_DYNSYM);
	}
	elf_end(elf);
	if (own_root >= 0)
		close(own_root);
	if (f->n)
		qsort(f->functions, f->n, sizeof(*f->functions), compare);
}

/*
 * The function with this address: the last that begins before it, of those that may be nested in each other. Of
 * several names for one it is the last: that without underscores.
 */
static const struct function *find_address(const struct elf_file *f, uint64_t address)
{
	enum { NESTED = 16 };
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < NESTED; i--)
		if (address < f->functions[i - 1].end)
			return &f->functions[i - 1];
	return NULL;
}

const struct function *elf_find(const struct elf_file *f, uint64_t offset)
{
	for (size_t i = 0; i < f->num_segments; i++) {
		const struct segment *s = &f->segments[i];

		if (offset >= s->offset && offset - s->offset < s->size)
			return find_address(f, offset - s->offset + s->address);
	}
	return NULL;
}

void elf_free(struct elf_file *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->functions[i].name);
	free(f->functions);
	free(f->segments);
	*f = (struct elf_file){};
}
