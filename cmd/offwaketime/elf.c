/* SPDX-License-Identifier: BSD-3-Clause */
#include "elf.h"

#include <limits.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "elffile.h"
#include "mem.h"
#include "out.h"
#include "sandbox.h"
#include "search.h"

enum {
	NAME_LONGEST = 4096, /* a longer name is ignored */
	NAME_COMPARED = 32,  /* characters that decide between two names of a function */
};

/* A file being read, and the first fault in it or in its debug file. */
struct elf_reader {
	struct elf_file *to;
	const char *error;
};

static void fault(struct elf_reader *r, const char *error)
{
	if (!r->error)
		r->error = error;
}

static void add_ranges(struct elf_reader *r, const struct elffile *elf)
{
	struct elf_file *f = r->to;

	f->ranges = mem_array(elf->num_segments, sizeof(*f->ranges));
	f->num_ranges = elf->num_segments;
	for (size_t i = 0; i < elf->num_segments; i++) {
		const struct elffile_segment *s = &elf->segments[i];

		f->ranges[i] = (struct elf_range){s->offset, s->size, s->address};
	}
}

/* A symbol without a size may end anywhere: the code after it would get a wrong name. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && symbol->st_size &&
	       symbol->st_size <= UINT64_MAX - symbol->st_value && *name && strnlen(name, NAME_LONGEST) < NAME_LONGEST;
}

/* Symbols that a library exports may have the version after them: read@@GLIBC_2.2.5. */
static char *without_version(char *name)
{
	char *at = strchr(name + 1, '@');

	if (at)
		*at = 0;
	return name;
}

/* Adds the functions of the section of this type. Returns whether there is one. For at most two sections of a file. */
static bool add_symbols(struct elf_reader *r, struct elffile *elf, uint32_t type)
{
	struct elf_file *f = r->to;
	char **names = &f->names[f->names[0] != NULL];
	struct elffile_symbols symbols;
	const char *name;
	GElf_Sym s;

	if (!elffile_load_symbols(elf, type, &symbols)) {
		fault(r, elf->error);
		return false;
	}
	f->functions = mem_resize(f->functions, f->n + symbols.n, sizeof(*f->functions));
	*names = mem_copy(elffile_bytes(&symbols.names));
	f->names_size[names - f->names] = symbols.names.data->d_size;
	for (size_t i = 0; i < symbols.n && (name = elffile_symbol(&symbols, i, &s)); i++)
		if (is_function(&s, name))
			f->functions[f->n++] = (struct function){s.st_value, s.st_value + s.st_size,
								 without_version(*names + s.st_name)};
	f->functions = mem_resize(f->functions, f->n, sizeof(*f->functions));
	return true;
}

static void read_build_id(struct elffile *elf, struct elf_debug *debug)
{
	struct elffile_section notes;
	struct slice bytes;
	size_t at = 0;

	if (!elffile_load(elf, SHT_NOTE, ".note.gnu.build-id", &notes))
		return;
	while (elffile_note(&notes, "GNU", NT_GNU_BUILD_ID, &at, &bytes) > 0) {
		if (2 * bytes.n < ELF_BUILD_ID_MIN || 2 * bytes.n > ELF_BUILD_ID_MAX)
			continue;
		for (size_t i = 0; i < bytes.n; i++)
			snprintf(debug->build_id + 2 * i, 3, "%02x", (unsigned char)bytes.p[i]);
		break;
	}
}

/* The section .gnu_debuglink: a file name, and at the next multiple of 4 that file's checksum. */
static void read_debug_link(struct elffile *elf, struct elf_debug *debug)
{
	struct elffile_section link;
	const char *text;
	size_t n, size;

	if (!elffile_load(elf, SHT_PROGBITS, ".gnu_debuglink", &link) || !link.data->d_buf)
		return;
	text = link.data->d_buf;
	size = link.data->d_size;
	n = strnlen(text, size);
	if (!n || n > NAME_MAX || size < (n + 4) / 4 * 4 + sizeof(debug->checksum))
		return;
	memcpy(debug->link, text, n);
	memcpy(&debug->checksum, text + (n + 4) / 4 * 4, sizeof(debug->checksum));
}

/* Whether the CRC-32 of the file, which has size bytes, is this one. Reads all of it. */
static bool has_checksum(struct elffile *elf, uint64_t size, uint32_t checksum)
{
	unsigned char bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	uint64_t at = 0;

	if (!elffile_spend(elf, size))
		return false;
	while (at < size) {
		ssize_t n = pread(elf->fd, bytes, sizeof(bytes), at);

		if (n <= 0)
			return false;
		crc = crc32(crc, bytes, n);
		at += n;
	}
	return crc == checksum;
}

/* Unpacks the section .gnu_debugdata into a file. Returns its descriptor, or -1. */
static int unpack(struct elffile *elf, struct slice packed)
{
	enum { MEMORY = 32 << 20 }; /* the most for the dictionary, which has 8 MiB by default */
	lzma_stream stream = LZMA_STREAM_INIT;
	unsigned char block[65536];
	lzma_ret result = LZMA_OK;
	off_t at = 0;
	int fd = sandbox_scratch();

	if (fd < 0 || lzma_stream_decoder(&stream, MEMORY, 0) != LZMA_OK)
		result = LZMA_MEM_ERROR;
	stream.next_in = (const unsigned char *)packed.p;
	stream.avail_in = packed.n;
	while (result == LZMA_OK) {
		size_t n;

		stream.next_out = block;
		stream.avail_out = sizeof(block);
		result = lzma_code(&stream, LZMA_FINISH);
		n = sizeof(block) - stream.avail_out;
		if (!elffile_spend(elf, n) || pwrite(fd, block, n, at) != (ssize_t)n)
			result = LZMA_MEM_ERROR;
		at += n;
	}
	lzma_end(&stream);
	return result == LZMA_STREAM_END ? fd : -1;
}

/* Adds functions that are not exported: Fedora's packages have them in a section, as a packed ELF file. */
static void add_packed(struct elf_reader *r, struct elffile *elf)
{
	struct elffile_section section;
	struct elffile inner;
	int fd;

	if (!elffile_load(elf, SHT_PROGBITS, ".gnu_debugdata", &section))
		return;
	fd = unpack(elf, elffile_bytes(&section));
	if (fd < 0) {
		fault(r, elf->error ? elf->error : "its section .gnu_debugdata cannot be unpacked");
		return;
	}
	if (elffile_open(&inner, fd) == 0)
		add_symbols(r, &inner, SHT_SYMTAB);
	fault(r, inner.error);
	elffile_close(&inner);
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : strncmp(x->name, y->name, NAME_COMPARED);
}

static void sort(struct elf_file *f)
{
	if (f->n)
		qsort(f->functions, f->n, sizeof(*f->functions), compare);
}

const char *elf_read(struct elf_file *f, struct elf_debug *debug, int fd)
{
	struct elf_reader r = {f, NULL};
	struct elffile elf;

	*f = (struct elf_file){};
	*debug = (struct elf_debug){};
	if (elffile_open(&elf, fd) == 0) {
		add_ranges(&r, &elf);
		if (!add_symbols(&r, &elf, SHT_SYMTAB)) {
			read_build_id(&elf, debug);
			read_debug_link(&elf, debug);
			add_symbols(&r, &elf, SHT_DYNSYM);
			add_packed(&r, &elf);
		}
	}
	/* code may be mapped from any file: one that is not ELF is no error */
	if (elf.is_elf)
		fault(&r, elf.error);
	elffile_close(&elf);
	sort(f);
	return r.error;
}

const char *elf_read_debug(struct elf_file *f, bool *found, const struct elf_debug *debug, bool by_id, int fd)
{
	struct elf_reader r = {f, NULL};
	struct elf_debug own = {};
	struct elffile elf;
	struct stat st;
	bool same;

	*f = (struct elf_file){};
	*found = false;
	if (elffile_open(&elf, fd) == 0 && fstat(fd, &st) == 0) {
		read_build_id(&elf, &own);
		if (*debug->build_id && *own.build_id)
			same = strcmp(debug->build_id, own.build_id) == 0;
		else
			same = by_id || has_checksum(&elf, st.st_size, debug->checksum);
		*found = same && add_symbols(&r, &elf, SHT_SYMTAB);
	}
	if (elf.is_elf)
		fault(&r, elf.error);
	elffile_close(&elf);
	sort(f);
	return r.error;
}

struct head {
	uint64_t n, names_size, num_ranges;
};

struct written_function {
	uint64_t start, end, name; /* the name's offset in the names */
};

void elf_write(const struct elf_file *f, struct out *out)
{
	const struct head head = {f->n, f->names_size[0] + f->names_size[1], f->num_ranges};

	out_bytes(out, &head, sizeof(head));
	out_bytes(out, f->ranges, f->num_ranges * sizeof(*f->ranges));
	for (size_t i = 0; i < f->n; i++) {
		const struct function *function = &f->functions[i];
		bool first = function->name >= f->names[0] && function->name < f->names[0] + f->names_size[0];
		uint64_t name = first ? 0 : f->names_size[0];
		struct written_function w = {function->start, function->end,
					     name + (function->name - f->names[!first])};

		out_bytes(out, &w, sizeof(w));
	}
	out_bytes(out, f->names[0], f->names_size[0]);
	out_bytes(out, f->names[1], f->names_size[1]);
}

static bool receive(struct elf_file *f, struct slice bytes)
{
	struct slice ranges, functions;
	struct head head;

	if (!sandbox_cut(&bytes, &head, sizeof(head)) || head.num_ranges > ELFFILE_SEGMENTS ||
	    head.num_ranges * sizeof(*f->ranges) > bytes.n)
		return false;
	ranges = slice_cut(&bytes, head.num_ranges * sizeof(*f->ranges));
	if (head.n > bytes.n / sizeof(struct written_function))
		return false;
	functions = slice_cut(&bytes, head.n * sizeof(struct written_function));
	if (bytes.n != head.names_size || (bytes.n && bytes.p[bytes.n - 1]))
		return false;
	f->num_ranges = head.num_ranges;
	f->ranges = mem_array(head.num_ranges, sizeof(*f->ranges));
	sandbox_cut(&ranges, f->ranges, ranges.n);
	f->names[0] = mem_copy(bytes);
	f->names_size[0] = bytes.n;
	f->functions = mem_array(head.n, sizeof(*f->functions));
	for (; f->n < head.n; f->n++) {
		struct written_function w;

		sandbox_cut(&functions, &w, sizeof(w));
		if (w.name >= bytes.n)
			return false;
		f->functions[f->n] = (struct function){w.start, w.end, f->names[0] + w.name};
	}
	return true;
}

bool elf_receive(struct elf_file *f, struct slice bytes)
{
	*f = (struct elf_file){};
	if (receive(f, bytes))
		return true;
	elf_free(f);
	return false;
}

/*
 * The function at this address: the last one that starts before it and ends after it, because they
 * can be nested. Of several names for one start, the last one is used: it has no underscores.
 */
static const struct function *find_address(const struct elf_file *f, uint64_t address)
{
	enum { NESTED = 16 };
	size_t next = search_first(i, f->n, f->functions[i].start > address);

	for (size_t i = next; i > 0 && next - i < NESTED; i--)
		if (address < f->functions[i - 1].end)
			return &f->functions[i - 1];
	return NULL;
}

const struct function *elf_find(const struct elf_file *f, uint64_t offset)
{
	for (size_t i = 0; i < f->num_ranges; i++) {
		const struct elf_range *r = &f->ranges[i];

		if (offset >= r->offset && offset - r->offset < r->size)
			return find_address(f, offset - r->offset + r->address);
	}
	return NULL;
}

void elf_free(struct elf_file *f)
{
	free(f->functions);
	free(f->names[0]);
	free(f->names[1]);
	free(f->ranges);
	*f = (struct elf_file){};
}
