/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file system of FUSE with one file, which stops to answer. Usage, as root:
 *
 *	hanging-files DIRECTORY FILE [OPENS]
 *
 * It mounts a copy of FILE as DIRECTORY/file, prints "ready", and answers until SIGUSR1 comes: from then on it answers
 * nothing. SIGUSR2: it answers all but reads, as it does when the file was opened OPENS times. After SIGTERM it is
 * gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOT = 1, FILE_NODE = 2 };

static int fuse, opens = -1; /* -1: any number */
static char *content;
static size_t size;
static volatile sig_atomic_t mode; /* the signal that came */

static void on_signal(int number)
{
	mode = number;
}

static void reply(const struct fuse_in_header *in, int error, const void *data, size_t n)
{
	struct fuse_out_header out = {.len = sizeof(out) + n, .error = -error, .unique = in->unique};
	const struct iovec parts[] = {{&out, sizeof(out)}, {(void *)data, n}};

	/* the request may have been interrupted */
	if (writev(fuse, parts, 2) < 0 && errno != ENOENT)
		perror("reply");
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr a = {.ino = node, .mode = S_IFDIR | 0755, .nlink = 1, .blksize = 4096};

	if (node == FILE_NODE) {
		a.mode = S_IFREG | 0755;
		a.size = size;
	}
	return a;
}

static void read_content(const struct fuse_in_header *in, const struct fuse_read_in *arguments)
{
	size_t n = arguments->offset < size ? size - arguments->offset : 0;

	reply(in, 0, content + arguments->offset, n < arguments->size ? n : arguments->size);
}

static void answer(const struct fuse_in_header *in, const void *arguments)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536};
	struct fuse_entry_out entry = {.nodeid = FILE_NODE};
	struct fuse_attr_out attr = {};
	struct fuse_open_out opened = {};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		entry.attr = attributes(FILE_NODE);
		if (strcmp(arguments, "file") == 0)
			reply(in, 0, &entry, sizeof(entry));
		else
			reply(in, ENOENT, NULL, 0);
		break;
	case FUSE_GETATTR:
		attr.attr = attributes(in->nodeid);
		reply(in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		if (opens > 0 && --opens == 0)
			mode = SIGUSR2;
		/* fallthrough */
	case FUSE_OPENDIR:
		reply(in, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (mode != SIGUSR2)
			read_content(in, arguments);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		reply(in, 0, NULL, 0);
		break;
	default:
		reply(in, ENOSYS, NULL, 0);
	}
}

static void read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		perror(path);
		exit(1);
	}
	size = st.st_size;
	content = malloc(size);
	if (!content || read(fd, content, size) != (ssize_t)size)
		exit(1);
	close(fd);
}

int main(int argc, char **argv)
{
	static char request[1 << 18];
	char options[128];

	if (argc < 3)
		return 2;
	if (argc > 3)
		opens = atoi(argv[3]);
	read_file(argv[2]);
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (fuse < 0 || mount("hanging-files", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
		perror(argv[1]);
		return 1;
	}
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	puts("ready");
	fflush(stdout);
	for (;;) {
		ssize_t n = read(fuse, request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			return 0;
		if (n > 0 && mode != SIGUSR1)
			answer((void *)request, request + sizeof(struct fuse_in_header));
	}
}
