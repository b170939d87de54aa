/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unreadable FILE PAGES COMMAND [ARGUMENT]...
 *
 * Runs a command that cannot read some pages of a file, as if the disk had bad blocks: read(2) fails there with EIO,
 * and accesses to a mapping raise SIGBUS. PAGES is a list like 0,3-5 of pages of 4096 bytes. FUSE mounts the file over
 * itself in a mount namespace of the command, so no mount remains afterwards. Exits with the command's status, or with
 * 77 if nothing can be mounted.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 128 * 1024, LACKING = 77 };

static int fuse, file;
static const char *list;

static bool is_unreadable(uint64_t page)
{
	for (const char *at = list; *at;) {
		char *end;
		uint64_t first = strtoull(at, &end, 10), last = *end == '-' ? strtoull(end + 1, &end, 10) : first;

		if (page >= first && page <= last)
			return true;
		at = *end ? end + 1 : end;
	}
	return false;
}

static void reply(uint64_t unique, int error, const void *data, size_t n)
{
	struct fuse_out_header header = {.len = sizeof(header) + n, .error = -error, .unique = unique};
	struct iovec parts[] = {{&header, sizeof(header)}, {(void *)data, n}};

	/* ENOENT: the caller was interrupted */
	if (writev(fuse, parts, 2) < 0 && errno != ENOENT)
		err(EXIT_FAILURE, "/dev/fuse");
}

static void reply_attributes(uint64_t unique)
{
	struct fuse_attr_out out = {.attr_valid = 3600};
	struct stat st;

	if (fstat(file, &st) != 0)
		err(EXIT_FAILURE, "fstat");
	out.attr.ino = FUSE_ROOT_ID;
	out.attr.size = st.st_size;
	out.attr.mode = S_IFREG | 0444;
	out.attr.nlink = 1;
	reply(unique, 0, &out, sizeof(out));
}

static void reply_bytes(uint64_t unique, uint64_t at, uint32_t size)
{
	static uint8_t bytes[MOST];
	ssize_t got = pread(file, bytes, size < MOST ? size : MOST, at);

	if (got < 0)
		err(EXIT_FAILURE, "pread");
	for (uint64_t page = at / PAGE; page * PAGE < at + got; page++)
		if (is_unreadable(page)) {
			reply(unique, EIO, NULL, 0);
			return;
		}
	reply(unique, 0, bytes, got);
}

static void serve(const struct fuse_in_header *request, const void *body)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = MOST, .max_write = PAGE};
	const struct fuse_open_out opened = {};
	const struct fuse_read_in *read_in = body;

	switch (request->opcode) {
	case FUSE_INIT:
		reply(request->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		reply_attributes(request->unique);
		break;
	case FUSE_OPEN:
		reply(request->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		reply_bytes(request->unique, read_in->offset, read_in->size);
		break;
	case FUSE_RELEASE:
		reply(request->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(request->unique, ENOSYS, NULL, 0);
	}
}

/* Answers the kernel until the file system is unmounted, or the first process ends. */
static void serve_all(void)
{
	static union {
		struct fuse_in_header header;
		uint8_t bytes[MOST];
	} request;

	for (;;) {
		if (read(fuse, &request, sizeof(request)) >= 0)
			serve(&request.header, &request.header + 1);
		else if (errno != EINTR && errno != ENOENT)
			exit(EXIT_SUCCESS);
	}
}

static void lack(const char *what)
{
	warn("%s", what);
	exit(LACKING);
}

static void write_file(const char *path, const char *format, unsigned id)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, format, id) < 0 || fclose(f) != 0)
		lack(path);
}

/* Becomes root of a user namespace, because only root may mount. */
static void become_root(void)
{
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWUSER) != 0)
		lack("a user namespace");
	write_file("/proc/self/setgroups", "deny", 0);
	write_file("/proc/self/uid_map", "0 %u 1", uid);
	write_file("/proc/self/gid_map", "0 %u 1", gid);
}

int main(int argc, char **argv)
{
	char options[128];
	int status;
	pid_t server, command;

	if (argc < 4)
		errx(EXIT_FAILURE, "usage: unreadable FILE PAGES COMMAND [ARGUMENT]...");
	list = argv[2];
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (file < 0)
		err(EXIT_FAILURE, "%s", argv[1]);
	if (geteuid() != 0)
		become_root();
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		lack("a mount namespace");
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		lack("/dev/fuse");
	/* also others: a tool that root has started may become another user before it reads */
	snprintf(options, sizeof(options), "fd=%d,rootmode=100444,user_id=0,group_id=0,allow_other", fuse);
	if (mount("unreadable", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
		lack("a FUSE mount");
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_all();
	}
	command = fork();
	if (command == 0) {
		execvp(argv[3], argv + 3);
		err(127, "%s", argv[3]);
	}
	if (server < 0 || command < 0 || waitpid(command, &status, 0) < 0)
		err(EXIT_FAILURE, "%s", argv[3]);
	kill(server, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
