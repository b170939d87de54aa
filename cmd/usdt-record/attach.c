/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "links.h"
#include "mem.h"
#include "operand.h"
#include "proc.h"
#include "usdt-record.skel.h"

enum {
	/* how long detaching may take, and how much longer for each perf event */
	DETACH_MS = 3000,
	DETACH_PERF_MS = 250,
};

/* Loads a program that does nothing, for a uprobe. Returns its descriptor, or less than 0. */
static int load_nothing(struct bpf_prog_load_opts *options)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", program, 2, options);
}

/* Whether programs at uprobes may sleep. */
static bool may_sleep(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
	int fd = load_nothing(&options);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EINVAL;
}

/* Whether the kernel knows uprobe_multi links: then it refuses the path, which is a directory, with EBADF. */
static bool has_uprobe_multi(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = uprobe_multi);
	uint64_t offset = 0;
	int fd = load_nothing(&options), link;
	bool has;

	if (fd < 0)
		return false;
	link = links_create(
		&(struct link_create){.prog_fd = fd, .path = (uintptr_t) "/", .offsets = (uintptr_t)&offset, .cnt = 1});
	has = link < 0 && errno == EBADF;
	io_close(&link);
	close(fd);
	return has;
}

/* Before 6.10 a uprobe_multi link for a process fires in its main thread only. */
static bool multi_knows_processes(void)
{
	struct utsname name;
	unsigned major, minor;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

/* Finds out how to fetch the arguments that the spec names. */
static int describe(struct attach_site *s)
{
	const struct probespec *spec = s->spec;
	unsigned num_strings = 0;
	const char *error;

	if (!operand_is_native(s->file->usdt.machine)) {
		warnx("%s: probe %.*s: the file is for another processor; usdt-gen -l lists what is in it",
		      s->file->path, (int)spec->name.n, spec->name.p);
		return -1;
	}
	for (unsigned i = 0; i < spec->num_args; i++) {
		struct operand *o = &s->fetch.operands[s->fetch.num_operands];

		if (!spec->args[i].name.n)
			continue;
		error = operand_parse(o, s->file->usdt.machine, &s->place->args[i]);
		if (error) {
			warnx("%s: probe %.*s: argument %u, '%.*s', cannot be fetched: %s; _ in its place skips it",
			      s->file->path, (int)spec->name.n, spec->name.p, i, (int)spec->args[i].name.n,
			      spec->args[i].name.p, error);
			return -1;
		}
		o->is_string = spec->args[i].is_string;
		num_strings += o->is_string;
		s->fetch.num_operands++;
	}
	if (num_strings <= MAX_STRINGS)
		return 0;
	warnx("probe %.*s: %u strings are too many, %d can be recorded at a time; omit :str to record an address",
	      (int)spec->name.n, spec->name.p, num_strings, MAX_STRINGS);
	return -1;
}

static int find_sites_in(struct attach *a, const struct target_file *f, const struct probespecs *specs)
{
	for (size_t i = 0; i < f->usdt.n; i++)
		for (size_t k = 0; k < specs->n; k++) {
			const struct usdt_site *place = &f->usdt.sites[i];
			const struct probespec *spec = &specs->all[k];
			struct attach_site *s;

			if (!probespec_matches(spec, place))
				continue;
			a->sites = mem_room(a->sites, a->num_sites, &a->cap_sites);
			s = &a->sites[a->num_sites++];
			*s = (struct attach_site){.file = f, .place = place, .spec = spec};
			if (describe(s) != 0)
				return -1;
		}
	return 0;
}

int attach_find_sites(struct attach *a, const struct target *t, const struct probespecs *specs)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < t->n; i++)
		result = find_sites_in(a, &t->files[i], specs);
	return result;
}

int attach_open(struct attach *a, struct recorder *r, bool follow, struct recorder_program *program)
{
	struct usdt_record_bpf *bpf = a->bpf = usdt_record_bpf__open();

	if (!bpf)
		return recorder_not_opened();
	a->recorder = r;
	a->follow = follow;
	a->multi = !recorder_is_before(6, 6) && has_uprobe_multi();
	bpf->rodata->first_process = r->pid;
	bpf->rodata->only_followed = r->pid && (follow || (a->multi && !multi_knows_processes()));
	bpf->rodata->may_sleep = may_sleep();
	bpf_map__set_max_entries(bpf->maps.sites, a->num_sites);
	bpf_program__set_autoload(bpf->progs.find_first, bpf->rodata->only_followed);
	bpf_program__set_autoattach(bpf->progs.find_first, false);
	bpf_program__set_autoload(bpf->progs.on_fork, follow);
	bpf_program__set_autoload(bpf->progs.on_exit, follow);
	bpf_program__set_autoattach(bpf->progs.on_probe, false);
	if (a->multi)
		bpf_program__set_expected_attach_type(bpf->progs.on_probe, uprobe_multi);
	if (!bpf->rodata->may_sleep)
		bpf_program__set_flags(bpf->progs.on_probe, 0);
	*program = RECORDER_PROGRAM(bpf);
	if (follow) {
		recorder_load_copies(bpf->obj);
		program->followed = bpf->maps.followed;
		program->on_exit = bpf->progs.on_exit;
	}
	return 0;
}

int attach_probes(struct attach *a)
{
	bool only_followed = a->bpf->rodata->only_followed;

	for (uint32_t i = 0; i < a->num_sites; i++)
		if (bpf_map_update_elem(bpf_map__fd(a->bpf->maps.sites), &i, &a->sites[i].fetch, BPF_ANY) != 0) {
			warn("BPF map");
			return -1;
		}
	/* to forks first: children are known before their probes can fire */
	if (recorder_attach(a->recorder) != 0)
		return -1;
	if (only_followed && recorder_run_iterator(recorder_open_iterator(a->bpf->progs.find_first)) != 0) {
		warn("cannot find the process");
		return -1;
	}
	/* the kernel's own filter leaves out children */
	return links_make(a, only_followed ? 0 : a->recorder->pid);
}

/*
 * In the child: holds the links open until the parent has closed them, and after them the pipe. Closes everything else,
 * because the reader of another pipe waits for its end.
 */
static _Noreturn void keep_links(int pipe)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	char target[16];

	while (fds && (entry = readdir(fds))) {
		int fd = atoi(entry->d_name);
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target));

		if (n > 0 && fd != dirfd(fds) && fd != pipe && strncmp(target, "anon_inode:", 11) != 0)
			close(fd);
	}
	io_read(pipe, target, sizeof(target));
	_exit(0);
}

/* Forks the child. Returns its id, or -1. *end: the end of the pipe that the parent closes. */
static pid_t fork_keeper(int *end)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(fds[1]);
		keep_links(fds[0]);
	}
	close(fds[0]);
	if (child < 0)
		close(fds[1]);
	*end = fds[1];
	return child;
}

static void close_links(struct attach *a)
{
	while (a->num_links)
		close(a->links[--a->num_links]);
}

/* Whether the child ends in time. */
static bool has_ended(pid_t child, uint64_t timeout)
{
	int fd = syscall(SYS_pidfd_open, child, 0);
	struct pollfd process = {fd, POLLIN, 0};
	uint64_t end = clock_ms() + timeout, t;
	int n = 0;

	while (fd >= 0 && n <= 0 && (t = clock_ms()) < end)
		n = poll(&process, 1, end - t);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && n <= 0)
		return false;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}

/* Whether it has something to do, and waits for a CPU at most. */
static bool is_running(pid_t pid)
{
	const char *state;
	char line[64];

	proc_read(line, sizeof(line), "/proc/%d/stat", pid);
	state = proc_field(line, 3);
	return state && *state == 'R';
}

int attach_detach(struct attach *a)
{
	uint64_t timeout = DETACH_MS + (a->multi ? 0 : DETACH_PERF_MS * a->num_links);
	int end;
	pid_t child = a->num_links ? fork_keeper(&end) : -1;

	close_links(a);
	usdt_record_bpf__detach(a->bpf);
	if (child >= 0)
		close(end);
	if (child < 0 || has_ended(child, timeout))
		return 0;
	warnx("the probes are not detached yet: %s; process %d stays until they are",
	      is_running(child) ? "the machine is busy"
				: "the kernel waits, maybe for a recorded process whose memory does not arrive, for "
				  "instance from a dead network file system",
	      child);
	return -1;
}

bool attach_next_process(const struct attach *a, struct attach_walk *walk)
{
	int map = bpf_map__fd(a->bpf->maps.followed);
	uint32_t pid;

	if (!walk->started) {
		walk->started = true;
		walk->pid = a->recorder->pid;
		if (a->recorder->num_alive)
			return true;
	}
	/* if the process at key has ended, the kernel starts again with the first key */
	while (a->follow && walk->seen < bpf_map__max_entries(a->bpf->maps.followed) &&
	       bpf_map_get_next_key(map, walk->seen ? &walk->key : NULL, &walk->key) == 0) {
		walk->seen++;
		if (bpf_map_lookup_elem(map, &walk->key, &pid) != 0 || (pid_t)pid == a->recorder->pid)
			continue;
		walk->pid = pid;
		return true;
	}
	return false;
}

void attach_close(struct attach *a)
{
	close_links(a);
	usdt_record_bpf__destroy(a->bpf);
	free(a->links);
	free(a->sites);
	*a = (struct attach){};
}
