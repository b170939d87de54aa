/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "input.h"
#include "io.h"
#include "layout.h"
#include "mem.h"
#include "rings.h"
#include "trace.h"
#include "worker.h"

enum {
	SLOT = sizeof(struct trace_slot),
	PIECE = 1 << 20, /* bytes that are moved at once */
	PAGE = 4096,
	STEPS = 16, /* in which the kept time, or the size, moves on */
	MARKS = 4 * STEPS,
};

/* Above it, some file systems have no positions: 8 TiB. */
static const uint64_t MAX_POSITION = UINT64_C(1) << 43;

/* The first error sticks: nothing is recorded after it. */
struct record {
	struct trace *t;
	struct input *in;
	struct layout layout;
	const struct record_options *options;
	const char *path; /* for messages */
	int fd, error;
	struct record_lcore {
		uint64_t at;     /* position of its history */
		uint64_t slots;  /* in the file */
		uint64_t first;  /* those before this one were dropped */
		uint64_t newest; /* ticks */
		bool is_young;   /* its ring had no old entries to overwrite: an empty slot at the end says so */
		/* a place for unsure slots: those before number held_to, the first at index held_at after a mark */
		uint64_t held, held_at, held_to;
	} * lcores;
	uint64_t capacity; /* slots of each lcore */
	uint64_t most;     /* slots of all lcores */
	uint64_t room;     /* how many of these may still be written */
	bool is_full;

	/* where entries may be dropped: the oldest ones first */
	struct record_mark {
		uint64_t time;   /* ns */
		uint64_t *slots; /* by lcore: its slots at that time */
	} marks[MARKS];
	unsigned num_marks;
	uint64_t unmarked; /* slots since the latest mark */
};

/* Returns how many bytes were written: fewer with r->error. */
static size_t write_at(struct record *r, const void *bytes, size_t n, uint64_t at)
{
	size_t written = 0;

	while (written < n && !r->error) {
		ssize_t done = pwrite(r->fd, (const char *)bytes + written, n - written, at + written);

		if (done >= 0)
			written += done;
		else if (errno != EINTR)
			r->error = errno;
	}
	return written;
}

static uint64_t slot_position(const struct record *r, unsigned i, uint64_t index)
{
	return r->lcores[i].at + r->layout.history_size + index * SLOT;
}

/* Writes the slots with these numbers at this index. */
static void write_slots(struct record *r, unsigned i, uint64_t index, uint64_t from, uint64_t to)
{
	const struct trace_lcore *lcore = &r->t->lcores[i];

	for (uint64_t n; from < to && !r->error; from += n, index += n) {
		uint64_t slot = from % lcore->slots, at = slot_position(r, i, index);
		static const struct trace_slot empty;
		size_t written;

		n = lcore->slots - slot < to - from ? lcore->slots - slot : to - from;
		written = write_at(r, &lcore->ring[slot], n * SLOT, at);
		/* part of a slot is no slot */
		if (written % SLOT && pwrite(r->fd, &empty, written % SLOT, at + written / SLOT * SLOT) < 0)
			r->error = errno;
	}
}

static void write_mark(struct record *r, unsigned i, uint64_t index, uint64_t lost, uint64_t tsc)
{
	struct trace_slot mark = {.tsc = tsc, .tpoint = r->t->num_tpoints};

	memcpy(mark.more_args, TRACE_LOST_TEXT, TRACE_LOST_SIZE);
	memcpy(mark.more_args + TRACE_LOST_SIZE, &lost, sizeof(lost));
	write_at(r, &mark, sizeof(mark), slot_position(r, i, index));
	/* the next mark must not look as if it belonged to this one */
	if (tsc > r->lcores[i].newest)
		r->lcores[i].newest = tsc;
}

/* Makes the slots before this one a hole. Those before the first one are one already: a page is freed as a whole. */
static void drop_of(struct record *r, unsigned i, uint64_t to)
{
	struct record_lcore *l = &r->lcores[i];
	uint64_t start = slot_position(r, i, 0), from = slot_position(r, i, l->first) / PAGE * PAGE;

	if (from < start)
		from = start;
	if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, slot_position(r, i, to) - from) != 0)
		r->error = errno;
	r->room += to - l->first;
	l->first = to;
}

/* Drops the slots of all lcores from before the oldest mark. */
static void drop(struct record *r)
{
	struct record_mark oldest = r->marks[0];

	for (unsigned i = 0; i < r->t->num_lcores && !r->error; i++) {
		const struct record_lcore *l = &r->lcores[i];
		/* what is held is still to be written */
		uint64_t to = l->held && l->held_at < oldest.slots[i] ? l->held_at : oldest.slots[i];

		if (to > l->first)
			drop_of(r, i, to);
	}
	memmove(r->marks, r->marks + 1, --r->num_marks * sizeof(*r->marks));
	r->marks[r->num_marks].slots = oldest.slots;
}

static void mark(struct record *r, uint64_t now)
{
	struct record_mark *m;

	if (r->num_marks == MARKS)
		drop(r);
	m = &r->marks[r->num_marks++];
	m->time = now;
	if (!m->slots)
		m->slots = mem_array(r->t->num_lcores, sizeof(*m->slots));
	for (unsigned i = 0; i < r->t->num_lcores; i++)
		m->slots[i] = r->lcores[i].slots;
	r->unmarked = 0;
}

/* Drops what is too old; called after each round. */
static void keep(struct record *r)
{
	uint64_t now = clock_ns(), step = r->options->keep_ns / STEPS;

	if (!r->num_marks || now - r->marks[r->num_marks - 1].time >= step || r->unmarked >= r->most / STEPS)
		mark(r, now);
	/* all slots from before a mark are older than it */
	while (r->num_marks > 1 && now - r->marks[0].time >= r->options->keep_ns && !r->error)
		drop(r);
}

/* Takes a place for n slots. Returns false if the file is full. */
static bool take(struct record *r, unsigned i, uint64_t n, uint64_t *index)
{
	struct record_lcore *l = &r->lcores[i];

	while (n > r->room && r->num_marks && !r->error)
		drop(r);
	r->unmarked += n;
	if (n > r->room || l->slots + n >= r->capacity)
		r->is_full = true;
	if (r->is_full)
		return false;
	*index = l->slots;
	l->slots += n;
	r->room -= n;
	return true;
}

static void hold(void *context, unsigned i, uint64_t from, uint64_t to)
{
	struct record *r = context;
	struct record_lcore *l = &r->lcores[i];

	if (take(r, i, 1 + to - from, &l->held_at)) {
		l->held = to - from;
		l->held_to = to;
	}
}

/* Fills the place of unsure slots. Those that were lost become marks. */
static void fill(struct record *r, unsigned i, uint64_t lost, uint64_t from, uint64_t to)
{
	const struct trace_lcore *lcore = &r->t->lcores[i];
	struct record_lcore *l = &r->lcores[i];
	uint64_t first = l->held_at + 1 + l->held - (to - from), tsc = l->newest + 1;

	/* the ticks of the next slot in the file, if it is known: those of a ring ascend */
	if (from < l->held_to + (l->held_at + 1 + l->held < l->slots))
		tsc = lcore->ring[from % lcore->slots].tsc;
	for (uint64_t index = l->held_at; index < first; index++)
		write_mark(r, i, index, index == l->held_at ? lost : 0, tsc);
	write_slots(r, i, first, from, to);
	if (from < to && lcore->ring[(to - 1) % lcore->slots].tsc > l->newest)
		l->newest = lcore->ring[(to - 1) % lcore->slots].tsc;
	l->held = 0;
}

static void add(void *context, unsigned i, uint64_t lost, uint64_t from, uint64_t to)
{
	struct record *r = context;
	const struct trace_lcore *lcore = &r->t->lcores[i];
	struct record_lcore *l = &r->lcores[i];
	uint64_t index;

	if (l->held && to == l->held_to) {
		fill(r, i, lost, from, to);
		return;
	}
	if ((from == to && !lost) || r->error || !take(r, i, (lost != 0) + to - from, &index))
		return;
	if (lost)
		write_mark(r, i, index++, lost, from < to ? lcore->ring[from % lcore->slots].tsc : l->newest + 1);
	write_slots(r, i, index, from, to);
	if (from < to)
		l->newest = lcore->ring[(to - 1) % lcore->slots].tsc;
}

/*
 * Records what the rings hold at the start. trace-dump prints entries from the time on at which all full rings are
 * complete, so a ring that was not full must not look full in the file, and one without an entry must not look as if
 * it had started later.
 */
static void add_rings(struct record *r, const struct rings *rings)
{
	for (unsigned i = 0; i < r->t->num_lcores; i++) {
		const struct trace_lcore *lcore = &r->t->lcores[i];
		struct record_lcore *l = &r->lcores[i];
		uint64_t next = rings->lcores[i].next, index;

		if (!trace_ring_is_whole(lcore))
			continue;
		l->is_young = next < lcore->slots;
		if (next)
			add(r, i, 0, l->is_young ? 0 : next, l->is_young ? next : next + lcore->slots);
		else
			take(r, i, 1, &index);
	}
}

/* Reads these bytes of the trace as they are now; as they were if it has become shorter. */
static void read_now(const struct record *r, const uint8_t *at, void *to, size_t n)
{
	if (!input_reread(r->in, at, to, n))
		memcpy(to, at, n);
}

/* How many slots it has in the completed file. */
static uint64_t slots_of(const struct record_lcore *l)
{
	return l->slots - l->first + l->is_young;
}

/* The definitions, with positions of this file. */
static void write_header(struct record *r, uint64_t owners, uint64_t end)
{
	const struct layout *layout = &r->layout;
	const struct trace_owner_table *table = &r->t->owner_table;
	uint8_t *header = mem_array(layout->histories, 1);

	memcpy(header, r->in->data, layout->histories);
	if (layout->thread_names)
		read_now(r, r->in->data + layout->thread_names, header + layout->thread_names, 16 * layout->num_lcores);
	if (r->t->num_owners && !layout->owner_offset)
		read_now(r, r->in->data + table->at, header + table->at, (size_t)table->n * table->size);
	memset(header + layout->offsets, 0, 8 * layout->num_lcores);
	for (unsigned i = 0; i < r->t->num_lcores; i++)
		memcpy(header + layout->offsets + 8 * r->t->lcores[i].id, &r->lcores[i].at, 8);
	memcpy(header + layout->file_size, &end, 8);
	if (layout->owner_offset)
		memcpy(header + layout->owner_offset, &owners, 8);
	write_at(r, header, layout->histories, 0);
	free(header);
}

/* Writes all but the slots. capacity: slots of each lcore; 0: those that it has. */
static void write_frame(struct record *r, uint64_t capacity)
{
	const struct layout *layout = &r->layout;
	const struct trace_owner_table *table = &r->t->owner_table;
	size_t owners = layout->owner_offset ? (size_t)table->n * table->size : 0;
	size_t size = owners > layout->history_size ? owners : layout->history_size;
	uint8_t *bytes = mem_array(size, 1);
	uint64_t end = layout->histories;

	for (unsigned i = 0; i < r->t->num_lcores; i++) {
		uint64_t slots = capacity ? capacity : slots_of(&r->lcores[i]);

		read_now(r, (const uint8_t *)r->t->lcores[i].ring - layout->history_size, bytes, layout->history_size);
		/* it may never have been set where no entry was written */
		memcpy(bytes, &r->t->lcores[i].id, sizeof(uint32_t));
		memcpy(bytes + layout->slots, &slots, sizeof(slots));
		write_at(r, bytes, layout->history_size, r->lcores[i].at);
		end = slot_position(r, i, slots);
	}
	write_header(r, end, end + owners);
	if (owners) {
		read_now(r, r->in->data + table->at, bytes, owners);
		write_at(r, bytes, owners, end);
	}
	if (!r->error && ftruncate(r->fd, end + owners) != 0)
		r->error = errno;
	free(bytes);
}

/* Moves n bytes down. Returns how many were moved: fewer with r->error. */
static uint64_t move(struct record *r, uint64_t from, uint64_t to, uint64_t n)
{
	char *bytes = mem_array(PIECE, 1);
	uint64_t done = 0;

	while (done < n && !r->error) {
		size_t piece = n - done < PIECE ? n - done : PIECE;

		if (io_pread(r->fd, bytes, piece, from + done) != 0)
			r->error = errno;
		write_at(r, bytes, piece, to + done);
		if (r->error)
			break;
		/* frees what the next piece takes */
		if (to + n <= from)
			fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from + done, piece);
		done += piece;
	}
	free(bytes);
	return done;
}

/* Moves the lcores together. Returns false if the disk has no room for that: then they stay where they are. */
static bool compact(struct record *r)
{
	static const struct trace_slot empty;
	uint64_t next = r->layout.histories;
	int error = 0;

	if (r->t->num_lcores > 1 && fallocate(r->fd, 0, slot_position(r, 0, slots_of(&r->lcores[0])), 2 * PIECE) != 0 &&
	    (errno == ENOSPC || errno == EDQUOT))
		return false;
	for (unsigned i = 0; i < r->t->num_lcores; i++) {
		struct record_lcore *l = &r->lcores[i];
		uint64_t from = slot_position(r, i, l->first);

		l->at = next;
		l->slots -= l->first;
		/* nor may an lcore that has dropped all entries look as if it had started later */
		l->is_young = l->first ? !l->slots : l->is_young;
		l->first = 0;
		if (slot_position(r, i, 0) != from)
			l->slots = move(r, from, slot_position(r, i, 0), l->slots * SLOT) / SLOT;
		if (l->is_young)
			write_at(r, &empty, SLOT, slot_position(r, i, l->slots));
		next = slot_position(r, i, slots_of(l));
		/* the next one may still fit */
		error = error ? error : r->error;
		r->error = 0;
	}
	r->error = error;
	return true;
}

/* In the process that keeps the privileges: waits for a byte, and removes the file if none comes. */
static _Noreturn void keep_file(const char *path, int file, const int ends[2])
{
	struct stat own, named;
	sigset_t all;
	char byte;

	/* Ctrl-C is for the tool */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	close(ends[1]);
	/* the reader of the tool's output waits for its end */
	worker_close_others(&file, 1, ends[0]);
	if (read(ends[0], &byte, 1) != 1 && fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_size == 0 &&
	    named.st_dev == own.st_dev && named.st_ino == own.st_ino)
		unlink(path);
	_exit(EXIT_SUCCESS);
}

void record_create(struct record_file *f, const char *path)
{
	int ends[2];

	f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (f->fd < 0 || pipe2(ends, O_CLOEXEC) != 0)
		err(EXIT_FAILURE, "%s", path);
	f->pid = fork();
	if (f->pid == 0)
		keep_file(path, f->fd, ends);
	close(ends[0]);
	f->keeper = ends[1];
	/* then it stays if nothing is recorded */
	if (f->pid < 0)
		io_close(&f->keeper);
}

static void end_keeper(struct record_file *f, bool keep)
{
	if (f->keeper < 0)
		return;
	if (keep && write(f->keeper, "", 1) != 1)
		warn("the file will be removed");
	io_close(&f->keeper);
	if (f->pid > 0)
		waitpid(f->pid, NULL, 0);
}

void record_close(struct record_file *f)
{
	end_keeper(f, false);
	io_close(&f->fd);
}

/* Whether entries between two marks fit besides the kept ones; prints a message if they do not. */
static bool rings_fit(const struct record *r, uint64_t frame)
{
	uint64_t slots = 0;

	for (unsigned i = 0; i < r->t->num_lcores; i++)
		if (trace_ring_is_whole(&r->t->lcores[i]) && layout_number(r->t->lcores[i].next_entry, 8))
			slots += r->t->lcores[i].slots;
	if (frame / 2 + slots * SLOT <= r->options->max_size / 2)
		return true;
	warnx("--max-size: with --keep it has to be at least twice the rings' size: %" PRIu64 " bytes",
	      frame + 2 * slots * SLOT);
	return false;
}

/* Returns false, after a message, if it cannot be recorded. */
static bool open_file(struct record *r)
{
	const struct trace *t = r->t;
	const struct trace_owner_table *table = &t->owner_table;
	uint64_t owners = (uint64_t)table->n * table->size, frame, at;

	frame = r->layout.histories + (uint64_t)r->layout.history_size * t->num_lcores;
	if (r->layout.owner_offset)
		frame += owners;
	if (frame + (uint64_t)SLOT * t->num_lcores >= r->options->max_size) {
		warnx("--max-size: the definitions of this trace alone take %" PRIu64 " bytes", frame);
		return false;
	}
	if (r->options->keep_ns && !rings_fit(r, frame))
		return false;
	r->most = r->room = (r->options->max_size - frame) / SLOT - t->num_lcores;
	r->capacity = MAX_POSITION / t->num_lcores / SLOT;
	/* places of dropped slots are not used again */
	if (r->capacity > r->room + 2 && !r->options->keep_ns)
		r->capacity = r->room + 2;
	r->fd = r->options->file->fd;
	at = r->layout.histories;
	for (unsigned i = 0; i < t->num_lcores; i++) {
		r->lcores[i].at = at;
		at = slot_position(r, i, r->capacity);
	}
	write_frame(r, r->capacity);
	end_keeper(r->options->file, true);
	return true;
}

static void record_entries(struct record *r, struct rings *rings)
{
	add_rings(r, rings);
	while (!rings->ended && !r->is_full && !r->error) {
		rings_read(rings, false);
		if (r->options->keep_ns)
			keep(r);
		if (!rings->ended && !rings_are_filling(rings))
			rings_wait(rings, -1);
	}
}

/* Completes the file. Signals cannot interrupt that. */
static void finish(struct record *r)
{
	int error = r->error;
	bool has_holes;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	has_holes = error || !compact(r);
	error = error ? error : r->error;
	r->error = 0;
	write_frame(r, has_holes ? r->capacity : 0);
	r->error = error ? error : r->error;
	if (close(r->fd) != 0 && !r->error)
		r->error = errno;
	r->options->file->fd = -1;
}

static void print_result(const struct record *r, const struct rings *rings, struct out *out)
{
	uint64_t slots = 0;

	for (unsigned i = 0; i < r->t->num_lcores; i++)
		slots += r->lcores[i].slots - r->lcores[i].first;
	out_printf(out, "{\"layout\":\"%s\",\"lcores\":%u,\"slots\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"full\":%s}\n",
		   r->t->layout, r->t->num_lcores, slots, rings->lost, r->is_full ? "true" : "false");
}

/* Returns whether everything was recorded. */
static bool report(const struct record *r, const struct rings *rings, const char *name)
{
	if (r->error == EOPNOTSUPP && r->options->keep_ns)
		warnx("%s: --keep needs a file system that can make holes in files, such as ext4, XFS or tmpfs",
		      r->path);
	else if (r->error)
		warnx("%s: %s: not everything was recorded", r->path, strerror(r->error));
	if (r->is_full)
		cli_notice(r->options->quiet, "%s: has reached --max-size: what came later is not in it", r->path);
	return rings_report(rings, name, "record") && !r->error;
}

bool record_trace(struct trace *t, struct input *in, const char *name, const struct record_options *options,
		  struct out *out)
{
	struct record r = {.t = t, .in = in, .options = options, .path = io_name(options->path)};
	struct rings rings;
	bool good = false;

	layout_of(&r.layout, t, in);
	if (t->faults || t->cut_off || !t->num_lcores ||
	    (!r.layout.owner_offset &&
	     t->owner_table.at + (uint64_t)t->owner_table.n * t->owner_table.size > r.layout.histories)) {
		warnx("%s: is damaged, so it cannot be recorded; try: cp", name);
		return false;
	}
	r.lcores = mem_array(t->num_lcores, sizeof(*r.lcores));
	/* first: a signal must not leave a file that is not complete */
	rings_open(&rings, t, in, &(struct rings_sink){.context = &r, .hold = hold, .add = add}, options->pid);
	if (open_file(&r)) {
		cli_notice(options->quiet, "recording %s%s", name,
			   options->pid ? " until its process ends or Ctrl-C" : " until Ctrl-C");
		record_entries(&r, &rings);
		finish(&r);
		print_result(&r, &rings, out);
		good = report(&r, &rings, name);
	}
	rings_close(&rings);
	for (unsigned i = 0; i < MARKS; i++)
		free(r.marks[i].slots);
	free(r.lcores);
	return good;
}
