/* SPDX-License-Identifier: BSD-3-Clause */
#include "usdt-record-operand.h"

#include <asm/ptrace.h>
#include <gelf.h>
#include <stddef.h>

#include "number.h"

#ifndef __x86_64__
#error "usdt-record knows the operands of x86-64 only"
#endif

/* The names of a register by size: 8, 4, 2, 1 bytes; and where the kernel keeps it. */
static const struct {
	const char *names[4];
	uint8_t offset;
} registers[] = {
	{{"rax", "eax", "ax", "al"}, offsetof(struct pt_regs, rax)},
	{{"rbx", "ebx", "bx", "bl"}, offsetof(struct pt_regs, rbx)},
	{{"rcx", "ecx", "cx", "cl"}, offsetof(struct pt_regs, rcx)},
	{{"rdx", "edx", "dx", "dl"}, offsetof(struct pt_regs, rdx)},
	{{"rsi", "esi", "si", "sil"}, offsetof(struct pt_regs, rsi)},
	{{"rdi", "edi", "di", "dil"}, offsetof(struct pt_regs, rdi)},
	{{"rbp", "ebp", "bp", "bpl"}, offsetof(struct pt_regs, rbp)},
	{{"rsp", "esp", "sp", "spl"}, offsetof(struct pt_regs, rsp)},
	{{"r8", "r8d", "r8w", "r8b"}, offsetof(struct pt_regs, r8)},
	{{"r9", "r9d", "r9w", "r9b"}, offsetof(struct pt_regs, r9)},
	{{"r10", "r10d", "r10w", "r10b"}, offsetof(struct pt_regs, r10)},
	{{"r11", "r11d", "r11w", "r11b"}, offsetof(struct pt_regs, r11)},
	{{"r12", "r12d", "r12w", "r12b"}, offsetof(struct pt_regs, r12)},
	{{"r13", "r13d", "r13w", "r13b"}, offsetof(struct pt_regs, r13)},
	{{"r14", "r14d", "r14w", "r14b"}, offsetof(struct pt_regs, r14)},
	{{"r15", "r15d", "r15w", "r15b"}, offsetof(struct pt_regs, r15)},
	{{"rip", "rip", "rip", "rip"}, offsetof(struct pt_regs, rip)},
	/* the second byte of the register that they are part of */
	{{"ah", "ah", "ah", "ah"}, offsetof(struct pt_regs, rax) + 1},
	{{"bh", "bh", "bh", "bh"}, offsetof(struct pt_regs, rbx) + 1},
	{{"ch", "ch", "ch", "ch"}, offsetof(struct pt_regs, rcx) + 1},
	{{"dh", "dh", "dh", "dh"}, offsetof(struct pt_regs, rdx) + 1},
};

static const uint8_t instruction_pointer = offsetof(struct pt_regs, rip);

static int fault(const char **error, const char *what)
{
	*error = what;
	return -1;
}

static bool take(struct slice *s, char c)
{
	if (!s->n || *s->p != c)
		return false;
	*s = (struct slice){s->p + 1, s->n - 1};
	return true;
}

static bool take_register(struct slice *s, uint8_t *offset)
{
	struct slice name = {s->p, 0};

	if (!take(s, '%'))
		return false;
	name.p = s->p;
	while (name.n < s->n && name.p[name.n] != ',' && name.p[name.n] != ')')
		name.n++;
	*s = (struct slice){s->p + name.n, s->n - name.n};
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		for (unsigned size = 0; size < 4; size++)
			if (slice_is(name, registers[i].names[size])) {
				*offset = registers[i].offset;
				return true;
			}
	return false;
}

/*
 * Looks a symbol up. A local one may exist several times, and which is meant cannot be told; they are of
 * no use unless they are at one address.
 */
static int find_symbol(Elf *elf, struct slice name, uint64_t *address, const char **error)
{
	Elf_Scn *section = NULL;
	bool found = false;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *text = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (!text || symbol.st_shndx == SHN_UNDEF || !slice_is(name, text))
				continue;
			if (found && symbol.st_value != *address)
				return fault(error, "its symbol stands for several things");
			*address = symbol.st_value;
			found = true;
		}
	}
	return found ? 0
		     : fault(error, "its symbol is not in the file, which may have been stripped");
}

static int symbol_address(int fd, struct slice name, uint64_t *address, bool *movable,
			  const char **error)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	GElf_Ehdr header;
	int result;

	if (!elf || !gelf_getehdr(elf, &header))
		result = fault(error, elf_errmsg(-1));
	else
		result = find_symbol(elf, name, address, error);
	*movable = result == 0 && header.e_type != ET_EXEC;
	elf_end(elf);
	return result;
}

/* A sum of signed numbers and at most one symbol; it wraps around as addresses do. */
struct sum {
	uint64_t number;
	struct slice symbol;
};

static bool take_term(struct slice *s, struct sum *sum)
{
	bool negative = take(s, '-'), hex;
	struct slice term = {s->p, 0};
	uint64_t number;

	if (!negative)
		take(s, '+');
	term.p = s->p;
	while (term.n < s->n && !strchr("+-()", term.p[term.n]))
		term.n++;
	if (!term.n)
		return false;
	*s = (struct slice){s->p + term.n, s->n - term.n};
	hex = term.n > 2 && term.p[0] == '0' && (term.p[1] | 0x20) == 'x';
	if (hex ? number_hex(term, &number) : number_decimal(term, &number)) {
		sum->number += negative ? -number : number;
		return true;
	}
	if (negative || sum->symbol.n || (*term.p >= '0' && *term.p <= '9') ||
	    memchr(term.p, '@', term.n) || memchr(term.p, ':', term.n))
		return false;
	sum->symbol = term;
	return true;
}

static bool take_sum(struct slice *s, struct sum *sum)
{
	*sum = (struct sum){};
	while (s->n && *s->p != '(')
		if (!take_term(s, sum))
			return false;
	return true;
}

/* (BASE), (BASE,INDEX,SCALE), (,INDEX,SCALE); both registers may be missing, and SCALE. */
static bool take_registers(struct slice *s, struct operand *o)
{
	uint64_t scale = 1;

	if (!take(s, '('))
		return false;
	if (s->n && *s->p != ',' && !take_register(s, &o->base))
		return false;
	if (take(s, ',')) {
		if (!take_register(s, &o->index) || o->index == instruction_pointer)
			return false;
		if (take(s, ',')) {
			struct slice digit = {s->p, s->n ? 1 : 0};

			if (!number_decimal(digit, &scale))
				return false;
			take(s, *s->p);
		}
	}
	if (!take(s, ')') || s->n || !scale || scale > 8 || (scale & (scale - 1)))
		return false;
	o->scale = __builtin_ctz(scale);
	return true;
}

/* Resolves the sum's symbol. What moves with the file can only be told from where the probe is. */
static int resolve(struct operand *o, const struct usdt_site *site, const struct sum *sum, int fd,
		   const char **error)
{
	bool relative = o->kind == MEMORY && o->base == instruction_pointer, movable;
	uint64_t address;

	o->value = sum->number;
	if (!sum->symbol.n)
		return relative
			       ? fault(error, "its distance from the next instruction is not known")
			       : 0;
	if (symbol_address(fd, sum->symbol, &address, &movable, error) != 0)
		return -1;
	o->value += address;
	if (relative)
		o->value -= site->address;
	else if (movable)
		return fault(error, "its symbol has no fixed address");
	return 0;
}

static int parse_operand(struct operand *o, const struct usdt_site *site, struct slice s, int fd,
			 const char **error)
{
	struct sum sum;

	if (s.n && *s.p == '%') {
		o->kind = REGISTER;
		if (!take_register(&s, &o->base) || s.n || o->base == instruction_pointer)
			return fault(error, "it is none of the general registers");
		return 0;
	}
	o->kind = take(&s, '$') ? CONSTANT : MEMORY;
	if (!s.n || !take_sum(&s, &sum))
		return fault(error, "it has a form that is not known");
	if (s.n && (o->kind == CONSTANT || !take_registers(&s, o)))
		return fault(error, "it has a form that is not known");
	return resolve(o, site, &sum, fd, error);
}

int operand_parse(struct operand *o, const struct usdt_site *site, const struct usdt_arg *arg,
		  int fd, const char **error)
{
	*o = (struct operand){.size = arg->size,
			      .is_signed = arg->is_signed,
			      .base = NO_REGISTER,
			      .index = NO_REGISTER};
	return parse_operand(o, site, arg->operand, fd, error);
}
