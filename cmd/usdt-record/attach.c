/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "iterator.h"
#include "operand.h"
#include "session.h"
#include "symtab.h"
#include "usdt-record.skel.h"
#include "utf8.h"

/* From the kernel's linux/bpf.h of 6.6, which may be newer than the header that is installed. */
static const enum bpf_attach_type uprobe_multi = 48;

struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, unused;
};

static bool verbose;

enum {
	/* how long detaching may take, and by a perf event each */
	DETACH_MS = 3000,
	DETACH_PERF_MS = 250,
};

static int link_create(struct link_create *attr)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));
}

/* Loads a program that does nothing, for a uprobe. Returns its descriptor, or less than 0. */
static int load_nothing(const struct bpf_prog_load_opts *options)
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

/* Whether the kernel knows uprobe_multi links: then it looks at the path, and finds a directory. */
static bool has_uprobe_multi(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = uprobe_multi);
	uint64_t offset = 0;
	struct link_create attr = {.attach_type = uprobe_multi,
				   .path = (uintptr_t) "/",
				   .offsets = (uintptr_t)&offset,
				   .cnt = 1};
	int fd = load_nothing(&options), link;
	bool has;

	if (fd < 0)
		return false;
	attr.prog_fd = fd;
	link = link_create(&attr);
	has = link < 0 && errno == EBADF;
	if (link >= 0)
		close(link);
	close(fd);
	return has;
}

/* Kernels before 6.10 take the process of a uprobe_multi link for its main thread. */
static bool multi_knows_processes(void)
{
	struct utsname name;
	unsigned major, minor;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 10));
}

/* Finds out how to fetch what the spec names. */
static int describe(struct recorder_site *s, struct symtab *symbols)
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
		if (operand_parse(o, s->file->usdt.machine, s->place, &s->place->args[i], symbols,
				  &error) != 0) {
			warnx("%s: probe %.*s: argument %u, '%.*s', cannot be fetched: %s; _ in its place skips it",
			      s->file->path, (int)spec->name.n, spec->name.p, i,
			      (int)spec->args[i].name.n, spec->args[i].name.p, error);
			return -1;
		}
		o->is_string = spec->args[i].is_string;
		num_strings += o->is_string;
		s->fetch.num_operands++;
	}
	if (num_strings <= MAX_STRINGS)
		return 0;
	warnx("probe %.*s: %u strings are too many, %d can be recorded at a time; without :str an argument is an address",
	      (int)spec->name.n, spec->name.p, num_strings, MAX_STRINGS);
	return -1;
}

static void show(const struct recorder_site *s)
{
	char args[1024] = "", shown[UTF8_VISIBLE(sizeof(args)) + 1];
	size_t n = 0;

	for (unsigned i = 0; i < s->place->num_args && n < sizeof(args); i++)
		n += snprintf(args + n, sizeof(args) - n, " %s@%.*s",
			      target_type(&s->place->args[i]), (int)s->place->args[i].operand.n,
			      s->place->args[i].operand.p);
	*utf8_visible(shown, slice_of(args)) = 0;
	warnx("%s: probe %.*s at 0x%" PRIx64 ":%s", s->file->path, (int)s->spec->name.n,
	      s->spec->name.p, s->place->address, shown);
}

static int add_site(struct recorder *r, const struct target_file *f, const struct usdt_site *place,
		    const struct probespec *spec, struct symtab *symbols)
{
	struct recorder_site *sites = reallocarray(r->sites, r->num_sites + 1, sizeof(*sites)), *s;

	if (!sites) {
		warn(NULL);
		return -1;
	}
	r->sites = sites;
	s = &sites[r->num_sites++];
	*s = (struct recorder_site){.file = f, .place = place, .spec = spec};
	if (verbose)
		show(s);
	return describe(s, symbols);
}

static int find_sites_in(struct recorder *r, const struct target_file *f,
			 const struct probespecs *specs, struct symtab *symbols)
{
	for (size_t i = 0; i < f->usdt.n; i++)
		for (size_t k = 0; k < specs->n; k++)
			if (target_matches(&specs->all[k], &f->usdt.sites[i]) &&
			    add_site(r, f, &f->usdt.sites[i], &specs->all[k], symbols) != 0)
				return -1;
	return 0;
}

/* Finds the sites, file by file. */
static int find_sites(struct recorder *r, const struct target *t, const struct probespecs *specs)
{
	struct elffile_budget budget = {};
	int result = 0;

	for (size_t i = 0; result == 0 && i < t->n; i++) {
		struct symtab symbols;

		symtab_open(&symbols, t->files[i].fd, &budget);
		result = find_sites_in(r, &t->files[i], specs, &symbols);
		symtab_close(&symbols);
	}
	return result;
}

static int load(struct recorder *r, const struct attach_options *options, bool multi)
{
	struct usdt_record_bpf *bpf = r->bpf;
	uint32_t size = session_ring_size(options->buffer);

	if (session_pid_ns(&bpf->rodata->pid_ns) != 0)
		return -1;
	bpf->rodata->watermark = size / 4;
	bpf->rodata->only_followed = options->pid &&
				     (options->follow || (multi && !multi_knows_processes()));
	bpf_map__set_max_entries(bpf->maps.events, size);
	bpf_map__set_max_entries(bpf->maps.sites, r->num_sites);
	bpf->rodata->first_process = options->pid;
	bpf_program__set_autoload(bpf->progs.find_first, bpf->rodata->only_followed);
	bpf_program__set_autoload(bpf->progs.on_fork, options->follow);
	bpf_program__set_autoload(bpf->progs.on_exit, options->follow);
	if (multi)
		bpf_program__set_expected_attach_type(bpf->progs.on_probe, uprobe_multi);
	bpf->rodata->may_sleep = may_sleep();
	if (!bpf->rodata->may_sleep)
		bpf_program__set_flags(bpf->progs.on_probe, 0);
	if (usdt_record_bpf__load(bpf) != 0)
		session_cannot_load(size, "-m", "Linux 5.15");
	else if (session_has_variables(bpf->bss, bpf->rodata))
		return 0;
	return -1;
}

/* Tells the program of the sites. */
static int fill_sites(struct recorder *r)
{
	for (uint32_t i = 0; i < r->num_sites; i++)
		if (bpf_map_update_elem(bpf_map__fd(r->bpf->maps.sites), &i, &r->sites[i].fetch,
					BPF_ANY) != 0) {
			warn("BPF map");
			return -1;
		}
	return 0;
}

/* One link for all sites in a file: attaching and detaching many takes no longer than one. */
static int attach_file(struct recorder *r, const struct recorder_site *sites, size_t n, pid_t pid)
{
	uint64_t *offsets = calloc(n, sizeof(*offsets));
	uint64_t *semaphores = calloc(n, sizeof(*semaphores));
	uint64_t *cookies = calloc(n, sizeof(*cookies));
	char path[32];
	struct link_create attr = {.prog_fd = bpf_program__fd(r->bpf->progs.on_probe),
				   .attach_type = uprobe_multi,
				   .path = (uintptr_t)path,
				   .offsets = (uintptr_t)offsets,
				   .ref_ctr_offsets = (uintptr_t)semaphores,
				   .cookies = (uintptr_t)cookies,
				   .cnt = n,
				   .pid = pid};
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", sites->file->fd);
	if (offsets && semaphores && cookies) {
		for (size_t i = 0; i < n; i++) {
			offsets[i] = sites[i].place->offset;
			semaphores[i] = sites[i].place->semaphore;
			cookies[i] = &sites[i] - r->sites;
		}
		fd = link_create(&attr);
	}
	if (fd < 0 && errno == ESRCH)
		warnx("process %d has ended", pid);
	else if (fd < 0)
		warn("%s: cannot attach to its probes", sites->file->path);
	else
		r->links[r->num_links++] = fd;
	free(offsets);
	free(semaphores);
	free(cookies);
	return fd < 0 ? -1 : 0;
}

static int attach_site(struct recorder *r, const struct recorder_site *s, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = s->place->semaphore,
		    .bpf_cookie = s - r->sites);
	struct bpf_link *link;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", s->file->fd);
	link = bpf_program__attach_uprobe_opts(r->bpf->progs.on_probe, pid ? pid : -1, path,
					       s->place->offset, &options);
	if (!link) {
		bool denied = errno == EACCES || errno == EPERM;

		warn("%s: cannot attach to probe %.*s%s", s->file->path, (int)s->spec->name.n,
		     s->spec->name.p,
		     denied ? ", for which kernels before 6.6 want CAP_SYS_ADMIN, too" : "");
		return -1;
	}
	r->perf_links[r->num_perf_links++] = link;
	return 0;
}

static int attach_probes(struct recorder *r, bool multi, pid_t pid)
{
	size_t n;

	r->links = calloc(r->num_sites + 1, sizeof(*r->links));
	r->perf_links = calloc(r->num_sites + 1, sizeof(*r->perf_links));
	if (!r->links || !r->perf_links) {
		warn(NULL);
		return -1;
	}
	for (size_t i = 0; i < r->num_sites; i += n) {
		for (n = 1; multi && i + n < r->num_sites; n++)
			if (r->sites[i + n].file != r->sites[i].file)
				break;
		if ((multi ? attach_file(r, &r->sites[i], n, pid)
			   : attach_site(r, &r->sites[i], pid)) != 0)
			return -1;
	}
	return 0;
}

/* From here on the processes that the recorded one begins are known, before their probes can fire. */
static int attach_followers(struct recorder *r, bool follow)
{
	if (follow) {
		r->bpf->links.on_fork = bpf_program__attach(r->bpf->progs.on_fork);
		r->bpf->links.on_exit = bpf_program__attach(r->bpf->progs.on_exit);
		if (!r->bpf->links.on_fork || !r->bpf->links.on_exit) {
			warn("cannot follow forks");
			return -1;
		}
	}
	if (!r->bpf->rodata->only_followed ||
	    iterator_run(iterator_open(r->bpf->progs.find_first)) == 0)
		return 0;
	warn("cannot find the process");
	return -1;
}

int recorder_open(struct recorder *r, const struct target *t, const struct probespecs *specs,
		  const struct attach_options *options, recorder_event *on_event, void *context)
{
	bool multi = !options->one_by_one && has_uprobe_multi();

	*r = (struct recorder){.pid = options->pid, .follow = options->follow};
	verbose = options->verbose;
	session_libbpf(verbose);
	if (find_sites(r, t, specs) != 0)
		return -1;
	r->bpf = usdt_record_bpf__open();
	if (!r->bpf) {
		warn("BPF program");
		return -1;
	}
	if (load(r, options, multi) != 0 || fill_sites(r) != 0)
		return -1;
	r->ring = ring_buffer__new(bpf_map__fd(r->bpf->maps.events), on_event, context, NULL);
	if (!r->ring) {
		warn("ring buffer");
		return -1;
	}
	r->wakeup = &r->bpf->bss->wakeup;
	if (attach_followers(r, options->follow) != 0)
		return -1;
	/* the kernel's own filter knows no children */
	return attach_probes(r, multi, r->bpf->rodata->only_followed ? 0 : options->pid);
}

/*
 * A child of ours has the links, too. It keeps no pipe open whose reader waits for the end of what is recorded; links
 * and what else belongs to BPF are no files.
 */
static _Noreturn void close_rest(void)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;
	char target[16];

	while (fds && (entry = readdir(fds))) {
		int fd = atoi(entry->d_name);
		ssize_t n = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target));

		if (n > 0 && fd != dirfd(fds) && strncmp(target, "anon_inode:", 11) != 0)
			close(fd);
	}
	_exit(0);
}

static void close_links(struct recorder *r)
{
	while (r->num_links)
		close(r->links[--r->num_links]);
	while (r->num_perf_links)
		bpf_link__destroy(r->perf_links[--r->num_perf_links]);
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

/*
 * The last one to close a link waits, deaf to all signals, until no program runs for it any more. One that reads a page
 * which never comes, from a dead network file system for instance, never ends. So a child is the last one.
 */
int recorder_detach(struct recorder *r)
{
	uint64_t timeout = DETACH_MS + DETACH_PERF_MS * r->num_perf_links;
	pid_t child = r->num_links + r->num_perf_links ? fork() : -1;

	if (child == 0)
		close_rest();
	close_links(r);
	if (child < 0 || has_ended(child, timeout))
		return 0;
	warnx("the probes are not detached yet: a recorded process reads memory that does not come, from a dead network file system for instance; process %d stays to wait for it",
	      child);
	return -1;
}

uint64_t recorder_lost(const struct recorder *r)
{
	return __atomic_load_n(&r->bpf->bss->lost, __ATOMIC_SEQ_CST);
}

unsigned recorder_followed(const struct recorder *r)
{
	return __atomic_load_n(&r->bpf->bss->num_followed, __ATOMIC_SEQ_CST);
}

unsigned recorder_not_followed(const struct recorder *r)
{
	return __atomic_load_n(&r->bpf->bss->num_not_followed, __ATOMIC_SEQ_CST);
}

bool recorder_next_process(const struct recorder *r, struct recorder_walk *walk)
{
	int map = bpf_map__fd(r->bpf->maps.followed);
	uint32_t pid;

	if (!walk->pid) {
		walk->pid = r->pid;
		return r->pid;
	}
	/* a process that ends meanwhile makes the walk begin again */
	while (r->follow && walk->seen < bpf_map__max_entries(r->bpf->maps.followed) &&
	       bpf_map_get_next_key(map, walk->seen ? &walk->key : NULL, &walk->key) == 0) {
		walk->seen++;
		if (bpf_map_lookup_elem(map, &walk->key, &pid) != 0 || (pid_t)pid == r->pid)
			continue;
		walk->pid = pid;
		return true;
	}
	return false;
}

void recorder_close(struct recorder *r)
{
	close_links(r);
	ring_buffer__free(r->ring);
	usdt_record_bpf__destroy(r->bpf);
	free(r->links);
	free(r->perf_links);
	free(r->sites);
	*r = (struct recorder){};
}
