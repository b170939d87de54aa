/* SPDX-License-Identifier: BSD-3-Clause */
#include "usdt.h"

#include <stdlib.h>

#include "elffile.h"
#include "number.h"

enum {
	NOTE_TYPE = 3,
	/* many more than any program has; a site takes ten times the memory of its note */
	NOTES_MAX = 8 << 20, /* bytes */
	SITES_MAX = 1 << 16,
};

/* A file in reading. */
struct file {
	struct elffile elf;
	uint64_t base; /* address of the section .stapsdt.base; 0: none */
};

static bool fault(const char **error, const char *what)
{
	*error = what;
	return false;
}

/* Takes the bytes before the next NUL off rest. */
static bool take_string(struct slice *rest, struct slice *s)
{
	const char *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;

	if (!end)
		return false;
	*s = (struct slice){rest->p, end - rest->p};
	rest->n -= s->n + 1;
	rest->p = end + 1;
	return true;
}

/* The length of what an argument begins with, SIZE@, or 0. */
static size_t size_length(struct slice s)
{
	size_t i = s.n && *s.p == '-', digits = i;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	if (i == digits)
		return 0;
	if (i < s.n && s.p[i] == 'f')
		i++;
	return i < s.n && s.p[i] == '@' ? i + 1 : 0;
}

/* An operand may contain blanks (aarch64: "8@[sp, 16]"), so it ends only where the next SIZE@ begins. */
static size_t operand_length(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ' ' && size_length((struct slice){s.p + i + 1, s.n - i - 1}))
			return i;
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s.n;
}

static bool parse_args(struct usdt_site *site, struct slice s, const char **error)
{
	while (s.n && *s.p == ' ')
		s = (struct slice){s.p + 1, s.n - 1};
	while (s.n) {
		struct usdt_arg *arg = &site->args[site->num_args];
		size_t head = size_length(s), n;
		struct slice digits = {s.p, head - 1};
		uint64_t size;

		if (site->num_args == USDT_MAX_ARGS)
			return fault(error, "a probe has more than 12 arguments");
		if (!head)
			return fault(error, "an argument of a probe does not begin with SIZE@");
		arg->is_signed = *digits.p == '-';
		digits = (struct slice){digits.p + arg->is_signed, digits.n - arg->is_signed};
		arg->is_float = digits.p[digits.n - 1] == 'f';
		digits.n -= arg->is_float;
		if (!number_decimal(digits, &size) || size > UINT8_MAX)
			return fault(error, "an argument of a probe has an impossible size");
		arg->size = size;
		s = (struct slice){s.p + head, s.n - head};
		n = operand_length(s);
		arg->operand = (struct slice){s.p, n};
		if (!n)
			return fault(error, "an argument of a probe has no operand");
		n += n < s.n;
		s = (struct slice){s.p + n, s.n - n};
		site->num_args++;
	}
	return true;
}

static bool parse_note(const struct file *f, struct slice desc, struct usdt_site *site,
		       const char **error)
{
	size_t width = gelf_fsize(f->elf.elf, ELF_T_ADDR, 1, EV_CURRENT);
	uint64_t addresses[3], semaphore;
	struct slice args;

	if (desc.n < 3 * width)
		return fault(error, "a note of a probe is cut off");
	for (unsigned i = 0; i < 3; i++) {
		uint32_t narrow;

		if (width == sizeof(narrow)) {
			memcpy(&narrow, desc.p + i * width, width);
			addresses[i] = narrow;
		} else {
			memcpy(&addresses[i], desc.p + i * width, width);
		}
	}
	desc = (struct slice){desc.p + 3 * width, desc.n - 3 * width};
	if (!take_string(&desc, &site->provider) || !take_string(&desc, &site->name) ||
	    !take_string(&desc, &args))
		return fault(error, "a note of a probe is cut off");

	/* a prelinked file was moved after its notes had been written */
	site->address = addresses[0];
	semaphore = addresses[2];
	if (f->base && addresses[1]) {
		site->address += f->base - addresses[1];
		semaphore += semaphore ? f->base - addresses[1] : 0;
	}
	if (!elffile_offset(&f->elf, site->address, &site->offset))
		return fault(error, "the address of a probe is not in the file");
	if (semaphore && !elffile_offset(&f->elf, semaphore, &site->semaphore))
		return fault(error, "the semaphore of a probe is not in the file");
	return parse_args(site, args, error);
}

/* Copies the notes, since libelf's own data ends with its handle. */
static bool parse_notes(const struct file *f, Elf_Data *notes, struct usdt *u, const char **error)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;
	/* a note takes 35 bytes at least: header, owner, three addresses of 32 bits, three NULs */
	size_t most = notes->d_size / 35 + 1;

	if (!notes->d_size)
		return true;
	if (most > SITES_MAX)
		most = SITES_MAX;
	u->text = malloc(notes->d_size);
	u->sites = calloc(most, sizeof(*u->sites));
	if (!u->text || !u->sites)
		return fault(error, "out of memory");
	memcpy(u->text, notes->d_buf, notes->d_size);
	for (; at < notes->d_size; at = next) {
		next = gelf_getnote(notes, at, &note, &name, &desc);
		if (!next)
			return fault(error, "a note of a probe is cut off");
		if (note.n_type != NOTE_TYPE || note.n_namesz != sizeof("stapsdt") ||
		    memcmp(u->text + name, "stapsdt", sizeof("stapsdt")) != 0)
			continue;
		if (u->n == SITES_MAX)
			return fault(error, "more than 65536 probes");
		if (!parse_note(f, (struct slice){u->text + desc, note.n_descsz}, &u->sites[u->n++],
				error))
			return false;
	}
	return true;
}

static bool read_notes(struct file *f, struct usdt *u, const char **error)
{
	struct elffile_section notes;
	GElf_Shdr header;

	u->machine = f->elf.machine;
	if (elffile_find(&f->elf, SHT_PROGBITS, ".stapsdt.base", &header))
		f->base = header.sh_addr;
	if (elffile_find(&f->elf, SHT_NOTE, ".note.stapsdt", &header) && header.sh_size > NOTES_MAX)
		return fault(error, "more than 8 MiB of notes on probes");
	if (!elffile_load(&f->elf, SHT_NOTE, ".note.stapsdt", &notes))
		return f->elf.error ? fault(error, f->elf.error) : true;
	return parse_notes(f, notes.data, u, error);
}

int usdt_read(struct usdt *u, int fd, struct elffile_budget *budget, const char **error)
{
	struct file f = {};
	bool good;

	*u = (struct usdt){};
	good = elffile_open(&f.elf, fd, budget) == 0 ? read_notes(&f, u, error)
						     : fault(error, f.elf.error);
	elffile_close(&f.elf);
	if (!good)
		usdt_free(u);
	return good ? 0 : -1;
}

void usdt_free(struct usdt *u)
{
	free(u->sites);
	free(u->text);
	*u = (struct usdt){};
}
