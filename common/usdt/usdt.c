/* SPDX-License-Identifier: BSD-3-Clause */
#include "usdt.h"

#include <stdio.h>
#include <stdlib.h>

#include "elffile.h"
#include "mem.h"
#include "number.h"
#include "out.h"
#include "sandbox.h"

enum {
	NOTE_TYPE = 3,
	/* many more than any program has; a site takes ten times the memory of its note */
	NOTES_MAX = 8 << 20, /* bytes */
	SITES_MAX = 1 << 16,
};

static bool fault(const char **error, const char *what)
{
	*error = what;
	return false;
}

/* Cuts the bytes up to the next NUL off rest. */
static bool cut_string(struct slice *rest, struct slice *s)
{
	const char *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;

	if (!end)
		return false;
	*s = slice_between(rest->p, end);
	*rest = slice_from(*rest, s->n + 1);
	return true;
}

/* The length of the SIZE@ that an argument starts with, or 0. */
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

/* An operand may contain blanks (aarch64: "8@[sp, 16]"): it ends where the next SIZE@ starts. */
static size_t operand_length(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ' ' && size_length(slice_from(s, i + 1)))
			return i;
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s.n;
}

static bool parse_args(struct usdt_site *site, struct slice s, const char **error)
{
	while (s.n && *s.p == ' ')
		s = slice_from(s, 1);
	while (s.n) {
		struct usdt_arg *arg = &site->args[site->num_args];
		size_t head = size_length(s), n;
		struct slice digits = {s.p, head - 1};
		uint64_t size;

		if (site->num_args == USDT_MAX_ARGS)
			return fault(error, "a probe has more than 12 arguments");
		if (!head)
			return fault(error, "an argument of a probe does not start with SIZE@");
		arg->is_signed = *digits.p == '-';
		digits = slice_from(digits, arg->is_signed);
		arg->is_float = digits.p[digits.n - 1] == 'f';
		digits.n -= arg->is_float;
		if (!number_decimal(digits, &size) || size > UINT8_MAX)
			return fault(error, "an argument of a probe has an impossible size");
		arg->size = size;
		s = slice_from(s, head);
		n = operand_length(s);
		arg->operand = (struct slice){s.p, n};
		if (!n)
			return fault(error, "an argument of a probe has no operand");
		s = slice_from(s, n + (n < s.n));
		site->num_args++;
	}
	return true;
}

static bool parse_note(const struct elffile *elf, uint64_t base, struct slice desc, struct usdt_site *site,
		       const char **error)
{
	size_t width = gelf_fsize(elf->elf, ELF_T_ADDR, 1, EV_CURRENT);
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
	desc = slice_from(desc, 3 * width);
	if (!cut_string(&desc, &site->provider) || !cut_string(&desc, &site->name) || !cut_string(&desc, &args))
		return fault(error, "a note of a probe is cut off");

	/* a prelinked file was moved after its notes had been written */
	site->address = addresses[0];
	semaphore = addresses[2];
	if (base && addresses[1]) {
		site->address += base - addresses[1];
		semaphore += semaphore ? base - addresses[1] : 0;
	}
	if (!elffile_offset(elf, site->address, &site->offset))
		return fault(error, "the address of a probe is not in the file");
	if (semaphore && !elffile_offset(elf, semaphore, &site->semaphore))
		return fault(error, "the semaphore of a probe is not in the file");
	return parse_args(site, args, error);
}

/* Copies the notes, because libelf frees its data with its handle. */
static bool parse_notes(const struct elffile *elf, uint64_t base, const struct elffile_section *notes, struct usdt *u,
			const char **error)
{
	const char *data = notes->data->d_buf;
	struct slice desc;
	size_t at = 0;
	int got;

	u->text = mem_copy(elffile_bytes(notes));
	u->text_size = notes->data->d_size;
	while ((got = elffile_note(notes, "stapsdt", NOTE_TYPE, &at, &desc)) > 0) {
		if (u->n == SITES_MAX)
			return fault(error, "more than 65536 probes");
		u->sites = mem_room(u->sites, u->n, &u->cap);
		u->sites[u->n] = (struct usdt_site){};
		desc.p = u->text + (desc.p - data);
		if (!parse_note(elf, base, desc, &u->sites[u->n++], error))
			return false;
	}
	return got == 0 || fault(error, "a note of a probe is cut off");
}

static bool read_notes(struct elffile *elf, struct usdt *u, const char **error)
{
	struct elffile_section notes;
	uint64_t base = 0; /* address of the section .stapsdt.base */
	GElf_Shdr header;

	u->machine = elf->machine;
	if (elffile_find(elf, SHT_PROGBITS, ".stapsdt.base", &header))
		base = header.sh_addr;
	if (elffile_find(elf, SHT_NOTE, ".note.stapsdt", &header) && header.sh_size > NOTES_MAX)
		return fault(error, "more than 8 MiB of notes on probes");
	if (!elffile_load(elf, SHT_NOTE, ".note.stapsdt", &notes))
		return elf->error ? fault(error, elf->error) : true;
	return parse_notes(elf, base, &notes, u, error);
}

int usdt_read(struct usdt *u, int fd, const char **error)
{
	struct elffile elf;
	bool good;

	*u = (struct usdt){};
	good = elffile_open(&elf, fd) == 0 ? read_notes(&elf, u, error) : fault(error, elf.error);
	if (good && elffile_interpreter(&elf, &u->interpreter) != 0)
		good = fault(error, "its dynamic linker cannot be read");
	elffile_close(&elf);
	if (!good) {
		usdt_free(u);
		u->is_other = elf.is_other;
	}
	return good ? 0 : -1;
}

/* How what usdt_write() writes starts; then come the sites as they are, the text and the interpreter. */
struct head {
	uint32_t machine, num_sites, text_size, interpreter_size; /* the latter 0: none */
	const char *text;                                         /* where the slices point into */
};

void usdt_write(const struct usdt *u, struct out *out)
{
	size_t interpreter = u->interpreter ? strlen(u->interpreter) + 1 : 0;
	const struct head head = {u->machine, u->n, u->text_size, interpreter, u->text};

	out_bytes(out, &head, sizeof(head));
	out_bytes(out, u->sites, u->n * sizeof(*u->sites));
	out_bytes(out, u->text, u->text_size);
	out_bytes(out, u->interpreter, interpreter);
}

/* Makes a slice of the writer's text one of this text. */
static bool move(const struct usdt *u, const char *text, struct slice *s)
{
	size_t start = s->n ? (uintptr_t)s->p - (uintptr_t)text : 0;

	if (start > u->text_size || s->n > u->text_size - start)
		return false;
	s->p = u->text + start;
	return true;
}

static bool check_site(const struct usdt *u, const char *text, struct usdt_site *s)
{
	bool good = s->num_args <= USDT_MAX_ARGS && move(u, text, &s->provider) && move(u, text, &s->name);

	for (unsigned i = 0; good && i < s->num_args; i++) {
		s->args[i].is_signed = s->args[i].is_signed != 0;
		s->args[i].is_float = s->args[i].is_float != 0;
		good = move(u, text, &s->args[i].operand);
	}
	return good;
}

static bool receive(struct usdt *u, struct slice bytes)
{
	struct slice sites;
	struct head head;

	if (!sandbox_cut(&bytes, &head, sizeof(head)) || head.num_sites > SITES_MAX ||
	    bytes.n != (uint64_t)head.num_sites * sizeof(*u->sites) + head.text_size + head.interpreter_size)
		return false;
	sites = slice_cut(&bytes, head.num_sites * sizeof(*u->sites));
	u->machine = head.machine;
	u->text = mem_copy(slice_cut(&bytes, head.text_size));
	u->text_size = head.text_size;
	if (bytes.n)
		u->interpreter = mem_copy(bytes);
	u->sites = mem_array(head.num_sites, sizeof(*u->sites));
	for (; u->n < head.num_sites; u->n++) {
		sandbox_cut(&sites, &u->sites[u->n], sizeof(*u->sites));
		if (!check_site(u, head.text, &u->sites[u->n]))
			return false;
	}
	return true;
}

bool usdt_receive(struct usdt *u, struct slice bytes)
{
	*u = (struct usdt){};
	if (receive(u, bytes))
		return true;
	usdt_free(u);
	return false;
}

void usdt_free(struct usdt *u)
{
	free(u->sites);
	free(u->text);
	free(u->interpreter);
	*u = (struct usdt){};
}

struct usdt_type usdt_type(const struct usdt_arg *arg)
{
	struct usdt_type type = {"?"};

	if (arg->size)
		snprintf(type.text, sizeof(type.text), "%c%d",
			 arg->is_float    ? 'f'
			 : arg->is_signed ? 's'
					  : 'u',
			 8 * arg->size);
	return type;
}
