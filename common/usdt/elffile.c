/* SPDX-License-Identifier: BSD-3-Clause */
#include "elffile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"

static bool fault(struct elffile *f, const char *what)
{
	if (!f->error)
		f->error = what;
	return false;
}

/* Counts n bytes that are loaded. False with f->error if they are too many. */
static bool spend(struct elffile *f, uint64_t n)
{
	if (n > ELFFILE_MAX - f->loaded)
		return fault(f, "its tables take more than 64 MiB, which is not loaded");
	f->loaded += n;
	return true;
}

/* Reads the file's first n bytes, or all if it is shorter. Returns their number, or -1 with errno. */
static ssize_t read_head(int fd, void *to, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)to + done, n - done, done);

		if (got < 0 && errno != EINTR)
			return -1;
		if (got == 0)
			break;
		done += got > 0 ? got : 0;
	}
	return done;
}

/*
 * libelf allocates as many sections and segments as the header says. Numbers above 65279 are stored
 * elsewhere, and are rejected: no program needs them.
 */
static bool check_header(struct elffile *f)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} header = {};
	uint64_t sections, sections_at, segments;
	ssize_t n = read_head(f->fd, &header, sizeof(header));

	if (n < 0)
		return fault(f, strerror(errno));
	f->is_other = n < EI_NIDENT || memcmp(header.ident, ELFMAG, SELFMAG) != 0;
	if (f->is_other)
		return fault(f, "not an ELF file");
	if (header.ident[EI_DATA] != ELFDATA2LSB)
		return fault(f, "an ELF file of another byte order");
	f->machine = header.wide.e_machine;
	if (header.ident[EI_CLASS] == ELFCLASS32) {
		sections = header.narrow.e_shnum;
		sections_at = header.narrow.e_shoff;
		segments = header.narrow.e_phnum;
	} else {
		sections = header.wide.e_shnum;
		sections_at = header.wide.e_shoff;
		segments = header.wide.e_phnum;
	}
	if ((!sections && sections_at) || sections >= SHN_LORESERVE || segments == PN_XNUM)
		return fault(f, "an ELF file with too many sections or segments");
	return spend(f, sections * sizeof(Elf64_Shdr) + segments * sizeof(Elf64_Phdr));
}

static bool read_segments(struct elffile *f)
{
	GElf_Phdr segment;
	size_t n;

	if (elf_getphdrnum(f->elf, &n) != 0)
		return fault(f, elf_errmsg(-1));
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (f->num_segments == ELFFILE_SEGMENTS)
			return fault(f, "an ELF file with too many loaded segments");
		f->segments[f->num_segments++] = (struct elffile_segment){segment.p_vaddr, segment.p_offset,
									  segment.p_filesz};
	}
	return true;
}

static bool load(struct elffile *f, Elf_Scn *section, struct elffile_section *s)
{
	s->data = NULL;
	if (!spend(f, s->header.sh_size))
		return false;
	s->data = elf_getdata(section, NULL);
	return s->data ? true : fault(f, elf_errmsg(-1));
}

/* Loads the section with this number, as a table of strings. False with f->error. */
static bool load_strings(struct elffile *f, uint32_t number, struct elffile_section *s)
{
	Elf_Scn *section = elf_getscn(f->elf, number);

	if (!section || !gelf_getshdr(section, &s->header) || s->header.sh_type != SHT_STRTAB)
		return fault(f, "an ELF file without the table of names that it refers to");
	if (!load(f, section, s))
		return false;
	if (s->data->d_size && ((const char *)s->data->d_buf)[s->data->d_size - 1])
		return fault(f, "an ELF file whose table of names does not end with a NUL");
	return true;
}

/* The string at this offset in a table of strings; NULL if the offset is beyond its end. */
static const char *string_at(const struct elffile_section *strings, uint64_t offset)
{
	const Elf_Data *data = strings->data;

	return data && offset < data->d_size ? (const char *)data->d_buf + offset : NULL;
}

int elffile_open(struct elffile *f, int fd)
{
	size_t names;

	*f = (struct elffile){.fd = fd};
	elf_version(EV_CURRENT);
	if (!check_header(f))
		return -1;
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
		fault(f, f->elf ? "not an ELF file" : elf_errmsg(-1));
	else if (elf_getshdrstrndx(f->elf, &names) != 0)
		fault(f, elf_errmsg(-1));
	else if (read_segments(f) && names)
		load_strings(f, names, &f->names);
	return f->error ? -1 : 0;
}

void elffile_close(struct elffile *f)
{
	elf_end(f->elf);
	f->elf = NULL;
}

static Elf_Scn *find(struct elffile *f, uint32_t type, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(f->elf, section))) {
		const char *own;

		if (!gelf_getshdr(section, header)) {
			fault(f, elf_errmsg(-1));
			return NULL;
		}
		if (header->sh_type != type)
			continue;
		own = name ? string_at(&f->names, header->sh_name) : NULL;
		if (!name || (own && strcmp(own, name) == 0))
			return section;
	}
	return NULL;
}

bool elffile_find(struct elffile *f, uint32_t type, const char *name, GElf_Shdr *header)
{
	return find(f, type, name, header);
}

bool elffile_load(struct elffile *f, uint32_t type, const char *name, struct elffile_section *s)
{
	Elf_Scn *section = find(f, type, name, &s->header);

	return section && load(f, section, s);
}

bool elffile_load_symbols(struct elffile *f, uint32_t type, struct elffile_symbols *s)
{
	if (!elffile_load(f, type, NULL, &s->symbols) || !load_strings(f, s->symbols.header.sh_link, &s->names))
		return false;
	s->n = s->symbols.data->d_size / gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	return true;
}

const char *elffile_symbol(const struct elffile_symbols *s, size_t i, GElf_Sym *symbol)
{
	const char *name;

	if (!gelf_getsym(s->symbols.data, i, symbol))
		return NULL;
	name = string_at(&s->names, symbol->st_name);
	return name ? name : "";
}

int elffile_note(const struct elffile_section *notes, const char *owner, uint32_t type, size_t *at, struct slice *desc)
{
	const char *data = notes->data->d_buf;
	size_t size = strlen(owner) + 1, name_at, desc_at;
	GElf_Nhdr note;

	while (*at < notes->data->d_size) {
		*at = gelf_getnote(notes->data, *at, &note, &name_at, &desc_at);
		if (!*at)
			return -1;
		*desc = (struct slice){data + desc_at, note.n_descsz};
		if (note.n_type == type && note.n_namesz == size && memcmp(data + name_at, owner, size) == 0)
			return 1;
	}
	return 0;
}

int elffile_interpreter(const struct elffile *f, char **path)
{
	enum { LONGEST = 4096 };
	GElf_Phdr segment;
	size_t n;

	*path = NULL;
	errno = EIO;
	if (elf_getphdrnum(f->elf, &n) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(f->elf, i, &segment) || segment.p_type != PT_INTERP || segment.p_filesz > LONGEST)
			continue;
		*path = mem_array(segment.p_filesz + 1, 1);
		return pread(f->fd, *path, segment.p_filesz, segment.p_offset) < 0 ? -1 : 0;
	}
	return 0;
}

bool elffile_offset(const struct elffile *f, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < f->num_segments; i++) {
		const struct elffile_segment *s = &f->segments[i];

		if (address >= s->address && address - s->address < s->size) {
			*offset = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}
