/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for ipcsnoop to watch. Each argument is an act, ACT or ACT=NUMBER; the acts run one after the other.
 * It prints what a test must know: the inodes of pipes and sockets, and ids.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counter.h"

static char data[1 << 20];

static ssize_t must(ssize_t result)
{
	if (result < 0)
		err(EXIT_FAILURE, "a call that should work");
	return result;
}

static void print_inode(int fd)
{
	struct stat st;

	must(fstat(fd, &st));
	printf("%ju\n", (uintmax_t)st.st_ino);
	must(fflush(stdout));
}

/* Makes a pipe and prints its inode. */
static void make_pipe(int ends[2], int flags)
{
	must(pipe2(ends, flags));
	print_inode(ends[0]);
}

static void close_pipe(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void call(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void *call_in_thread(void *n)
{
	call((long)n);
	return NULL;
}

/* Calls in three threads and in a child of one child. */
static void call_everywhere(long n)
{
	pthread_t threads[3];
	pid_t child;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, call_in_thread, (void *)n);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	child = must(fork());
	if (child == 0) {
		pid_t grandchild = must(fork());

		if (grandchild == 0)
			call(n);
		else
			waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

#ifdef __x86_64__
/* An i386 system call; pointers must be below 4G. */
static long call_32(long number, long a, void *b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

enum { GETPID_32 = 20, READ_32 = 3, WRITE_32 = 4, READV_32 = 145, SOCKETCALL_32 = 102 };

static void call_in_32_bits(long n)
{
	while (n--)
		if (call_32(GETPID_32, 0, NULL, 0) != getpid())
			errx(EXIT_FAILURE, "no system calls of 32 bits");
}

static void pipe_in_32_bits(long n)
{
	char *low = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *vectors = (uint32_t *)(low + 32768);
	int ends[2];

	make_pipe(ends, 0);
	must(call_32(WRITE_32, ends[1], low, n));
	must(call_32(READ_32, ends[0], low, 3));
	vectors[0] = vectors[2] = (uintptr_t)low;
	vectors[1] = 7;
	vectors[3] = n;
	must(call_32(READV_32, ends[0], vectors, 2));
	close_pipe(ends);
}

/* Sends n bytes, receives as many and gets the address of the socket, by calls that have their arguments in memory. */
static void socketcall_in_32_bits(long n)
{
	enum { GETSOCKNAME = 6, SEND = 9, RECV = 10 };
	char *low = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *arguments = (uint32_t *)(low + 32768), address = (uintptr_t)low;
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	memcpy(arguments, (uint32_t[]){ends[1], address, n, 0}, 16);
	must(call_32(SOCKETCALL_32, SEND, arguments, 0));
	arguments[0] = ends[0];
	must(call_32(SOCKETCALL_32, RECV, arguments, 0));
	arguments[2] = address + 4096;
	must(call_32(SOCKETCALL_32, GETSOCKNAME, arguments, 0));
	close_pipe(ends);
}

#else
static void call_in_32_bits(long n)
{
	(void)n;
	errx(EXIT_FAILURE, "a process makes calls of 32 bits on x86-64 only");
}

static void pipe_in_32_bits(long n)
{
	call_in_32_bits(n);
}

static void socketcall_in_32_bits(long n)
{
	call_in_32_bits(n);
}
#endif

/* Numbers of no system call, or of none so far. */
static void call_strange(long n)
{
	while (n--) {
		syscall(900);
		syscall(5000);
		syscall(100000);
	}
}

static void plain(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	for (long i = 1; i <= n; i++)
		must(write(ends[1], data, i));
	for (long i = 1; i <= n; i++)
		must(read(ends[0], data, i));
	close_pipe(ends);
}

static void vectors(long n)
{
	struct iovec v[3] = {{data, n}, {data, 2 * n}, {data, 3 * n}};
	int ends[2];

	make_pipe(ends, 0);
	must(writev(ends[1], v, 3));
	must(readv(ends[0], v, 2));
	must(pwritev2(ends[1], v, 1, -1, 0));
	must(preadv2(ends[0], v, 3, -1, 0));
	close_pipe(ends);
}

static void splices(long n)
{
	struct iovec v[2] = {{data, n}, {data, 5}};
	int a[2], b[2], file = must(open("spliced", O_RDWR | O_CREAT | O_TRUNC, 0600));

	make_pipe(a, 0);
	make_pipe(b, 0);
	must(write(a[1], data, n));
	must(tee(a[0], b[1], 2 * n, 0));
	must(splice(a[0], NULL, b[1], NULL, n - 1, 0));
	must(splice(b[0], NULL, file, NULL, n, 0));
	must(vmsplice(a[1], v, 2, 0));
	must(vmsplice(b[0], v, 1, 0));
	must(sendfile(b[1], file, &(off_t){0}, n));
	close_pipe(a);
	close_pipe(b);
	close(file);
}

/* Writes until there is no more room: the last write fails. */
static void fill(long n)
{
	int ends[2];

	make_pipe(ends, O_NONBLOCK);
	while (write(ends[1], data, n) > 0)
		;
	close_pipe(ends);
}

/* Resizes a pipe, and fills it across the end of its ring of buffers. */
static void resize(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	must(fcntl(ends[1], F_SETPIPE_SZ, 4 * n));
	must(write(ends[1], data, 3 * n));
	must(read(ends[0], data, 3 * n));
	must(write(ends[1], data, 2 * n));
	must(read(ends[0], data, 1));
	close_pipe(ends);
}

/* Reads to a bad address, and writes to a pipe without a reader. */
static void fail(long n)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	make_pipe(ends, 0);
	must(write(ends[1], data, n));
	read(ends[0], (void *)8, n);
	close(ends[0]);
	write(ends[1], data, n);
	close(ends[1]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

/* Reads from an empty pipe until a signal comes. */
static void interrupt(long ms)
{
	struct sigaction action = {.sa_handler = on_alarm};
	int ends[2];

	make_pipe(ends, 0);
	sigaction(SIGALRM, &action, NULL);
	ualarm(1000 * ms, 0);
	read(ends[0], data, 1);
	close_pipe(ends);
}

/* Writes n times, 5 ms apart, and prints the processor's counter before and after each. */
static void stamp(long n)
{
	int ends[2];

	make_pipe(ends, 0);
	while (n--) {
		uint64_t before = counter_now();

		must(write(ends[1], data, 1));
		printf("%ju %ju\n", (uintmax_t)before, (uintmax_t)counter_now());
		usleep(5000);
	}
	must(fflush(stdout));
	close_pipe(ends);
}

/* Reads from a pipe and from a device, under a name that looks like a forged line. */
static void disguise(long n)
{
	int ends[2], zero = must(open("/dev/zero", O_RDONLY));

	make_pipe(ends, 0);
	prctl(PR_SET_NAME, "\033[31m\n\"x\\\xff", 0, 0, 0);
	while (n--) {
		must(write(ends[1], data, 1));
		must(read(ends[0], data, 1));
		must(read(zero, data, 1));
	}
	close_pipe(ends);
	close(zero);
}

static void make_pair(int ends[2], int type)
{
	must(socketpair(AF_UNIX, type, 0, ends));
	print_inode(ends[0]);
	print_inode(ends[1]);
}

/* Sends n times over a pair of sockets to a child with another name. */
static void pair(long n)
{
	int ends[2];
	pid_t child;

	make_pair(ends, SOCK_SEQPACKET);
	child = must(fork());
	if (child == 0) {
		prctl(PR_SET_NAME, "receiver", 0, 0, 0);
		for (long i = 1; i <= n; i++)
			must(recv(ends[1], data, sizeof(data), 0));
		/* the parent must be the last one that is seen */
		must(send(ends[1], data, 1, 0));
		_exit(0);
	}
	for (long i = 1; i <= n; i++)
		must(send(ends[0], data, i, 0));
	must(recv(ends[0], data, 1, 0));
	waitpid(child, NULL, 0);
	close_pipe(ends);
}

/* Sends each kind of message over a pair of sockets, and receives it. */
static void messages(long n)
{
	struct iovec v[2] = {{data, n}, {data, 2 * n}};
	struct msghdr message = {.msg_iov = v, .msg_iovlen = 2};
	struct mmsghdr several[3] = {{message, 0}, {message, 0}, {message, 0}};
	int ends[2];

	make_pair(ends, SOCK_DGRAM);
	must(sendmsg(ends[0], &message, 0));
	must(recvmsg(ends[1], &message, 0));
	several[1].msg_hdr.msg_iovlen = 1;
	must(sendmmsg(ends[0], several, 3, 0));
	must(recvmmsg(ends[1], several, 3, 0, NULL));
	must(write(ends[1], data, n));
	must(read(ends[0], data, 2 * n));
	recv(ends[0], data, n, MSG_DONTWAIT);
	close_pipe(ends);
}

static const struct sockaddr_un named = {.sun_family = AF_UNIX, .sun_path = "socket"};

/* Receives n bytes over a named socket. */
static void serve(long n)
{
	int fd, listener = must(socket(AF_UNIX, SOCK_STREAM, 0));

	must(bind(listener, (const struct sockaddr *)&named, sizeof(named)));
	must(listen(listener, 1));
	printf("ready\n");
	must(fflush(stdout));
	fd = must(accept(listener, NULL, NULL));
	must(recv(fd, data, n, MSG_WAITALL));
	close(fd);
	close(listener);
}

/* Sends n bytes to serve(). */
static void dial(long n)
{
	int fd = must(socket(AF_UNIX, SOCK_STREAM, 0));

	must(connect(fd, (const struct sockaddr *)&named, sizeof(named)));
	must(write(fd, data, n));
	close(fd);
}

/* Connects to itself by TCP, sends bytes and receives them. Prints both ports. */
static void connect_to_itself(long n, struct sockaddr *address, socklen_t size, in_port_t *port)
{
	int ends[2], listener = must(socket(address->sa_family, SOCK_STREAM, 0));

	must(bind(listener, address, size));
	must(listen(listener, 1));
	must(getsockname(listener, address, &size));
	ends[0] = must(socket(address->sa_family, SOCK_STREAM, 0));
	must(connect(ends[0], address, size));
	ends[1] = must(accept(listener, NULL, NULL));
	printf("%d\n", ntohs(*port));
	must(getsockname(ends[0], address, &size));
	printf("%d\n", ntohs(*port));
	must(fflush(stdout));
	must(write(ends[0], data, n));
	must(recv(ends[1], data, n, MSG_WAITALL));
	must(send(ends[1], data, 2 * n, 0));
	must(recv(ends[0], data, 2 * n, MSG_WAITALL));
	close_pipe(ends);
	close(listener);
}

static void tcp(long n)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};

	connect_to_itself(n, (struct sockaddr *)&address, sizeof(address), &address.sin_port);
}

static void tcp6(long n)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};

	connect_to_itself(n, (struct sockaddr *)&address, sizeof(address), &address.sin6_port);
}

/* Over an IPv6 socket with IPv4-mapped addresses. */
static void tcp4in6(long n)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6};

	memcpy(&address.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	connect_to_itself(n, (struct sockaddr *)&address, sizeof(address), &address.sin6_port);
}

/* Datagrams are not a connection. */
static void udp(long n)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = must(socket(AF_INET, SOCK_DGRAM, 0));
	socklen_t size = sizeof(address);

	must(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	must(getsockname(fd, (struct sockaddr *)&address, &size));
	must(connect(fd, (struct sockaddr *)&address, sizeof(address)));
	must(send(fd, data, n, 0));
	must(recv(fd, data, n, 0));
	close(fd);
}

/* A POSIX message queue for ten messages. */
static void queue(long n)
{
	struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = 8192};
	char name[32];
	mqd_t mq;

	snprintf(name, sizeof(name), "/pipe-target.%d", getpid());
	mq = must(mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &attributes));
	must(mq_unlink(name));
	print_inode(mq);
	must(mq_send(mq, data, n, 0));
	must(mq_send(mq, data, 2 * n, 0));
	must(mq_receive(mq, data, 8192, NULL));
	must(mq_receive(mq, data, 8192, NULL));
	mq_receive(mq, data, 8192, NULL);
	mq_close(mq);
}

/* A System V message queue. */
static void sysv(long n)
{
	int id = must(msgget(IPC_PRIVATE, 0600));

	printf("%d\n", id);
	must(fflush(stdout));
	*(long *)data = 1;
	must(msgsnd(id, data, n, 0));
	must(msgrcv(id, data, 2 * n, 0, 0));
	msgrcv(id, data, 2 * n, 0, IPC_NOWAIT);
	must(msgctl(id, IPC_RMID, NULL));
}

static void event(long n)
{
	int fd = must(eventfd(0, EFD_NONBLOCK));
	uint64_t value = n;
	char line[80];
	FILE *info;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	info = fopen(line, "r");
	while (info && fgets(line, sizeof(line), info))
		if (strncmp(line, "eventfd-id:", 11) == 0)
			printf("%ld\n", strtol(line + 11, NULL, 10));
	must(fflush(stdout));
	must(write(fd, &value, sizeof(value)));
	must(read(fd, &value, sizeof(value)));
	read(fd, &value, sizeof(value));
	close(fd);
	if (info)
		fclose(info);
}

/* The kernel's interface, as in liburing, for one request at a time. */
struct ring {
	int fd;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *completions;
	uint32_t *tail, *submission, *completion_head, *completion_tail;
	uint32_t mask, completion_mask;
};

static void open_ring(struct ring *ring)
{
	struct io_uring_params p = {};
	size_t size;
	char *rings;

	ring->fd = must(syscall(SYS_io_uring_setup, 8, &p));
	size = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	if (p.sq_off.array + p.sq_entries * sizeof(uint32_t) > size)
		size = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
	rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
	ring->entries = mmap(NULL, p.sq_entries * sizeof(*ring->entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			     IORING_OFF_SQES);
	if (rings == MAP_FAILED || ring->entries == MAP_FAILED)
		err(EXIT_FAILURE, "io_uring");
	ring->tail = (void *)(rings + p.sq_off.tail);
	ring->submission = (void *)(rings + p.sq_off.array);
	ring->mask = p.sq_entries - 1;
	ring->completions = (void *)(rings + p.cq_off.cqes);
	ring->completion_head = (void *)(rings + p.cq_off.head);
	ring->completion_tail = (void *)(rings + p.cq_off.tail);
	ring->completion_mask = p.cq_entries - 1;
}

static void submit(struct ring *ring, int opcode, int fd, const void *address, uint32_t length, unsigned flags)
{
	uint32_t tail = *ring->tail, at = tail & ring->mask;

	ring->entries[at] = (struct io_uring_sqe){
		.opcode = opcode, .flags = flags, .fd = fd, .addr = (uintptr_t)address, .len = length};
	ring->submission[at] = at;
	__atomic_store_n(ring->tail, tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0));
}

/* Waits for the next completion, and returns its result. */
static int complete(struct ring *ring)
{
	uint32_t head = *ring->completion_head;
	int result;

	while (__atomic_load_n(ring->completion_tail, __ATOMIC_ACQUIRE) == head)
		must(syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
	result = ring->completions[head & ring->completion_mask].res;
	__atomic_store_n(ring->completion_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

/*
 * Through io_uring: a pipe by plain requests, by vectors, and as a registered file; sockets; requests that wait, that
 * fail, and to a file that is not a channel.
 */
static void uring(long n)
{
	struct ring ring;
	struct iovec vectors[2] = {{data, n}, {data, n}};
	struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 2};
	int ends[2], sockets[2], zero = must(open("/dev/zero", O_RDONLY | O_CLOEXEC));

	open_ring(&ring);
	make_pipe(ends, O_NONBLOCK);
	submit(&ring, IORING_OP_WRITE, ends[1], data, n, 0);
	must(complete(&ring));
	submit(&ring, IORING_OP_WRITEV, ends[1], vectors, 2, 0);
	must(complete(&ring));
	must(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, ends, 2));
	submit(&ring, IORING_OP_READ, 0, data, 2 * n, IOSQE_FIXED_FILE);
	must(complete(&ring));
	submit(&ring, IORING_OP_READ, ends[0], data, sizeof(data), 0);
	must(complete(&ring));
	submit(&ring, IORING_OP_READ, zero, data, n, 0);
	must(complete(&ring));
	submit(&ring, IORING_OP_READ, ends[1], data, n, 0);
	complete(&ring);
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	print_inode(sockets[0]);
	print_inode(sockets[1]);
	submit(&ring, IORING_OP_RECV, sockets[1], data, 4 * n, 0);
	usleep(20000);
	submit(&ring, IORING_OP_SENDMSG, sockets[0], &message, 1, 0);
	must(complete(&ring));
	must(complete(&ring));
	/* the kernel cancels the last request when the ring is closed */
	submit(&ring, IORING_OP_RECV, sockets[1], data, n, 0);
	close(zero);
}

/* Requests that ask for no completion. */
static void uring_silent(long n)
{
	struct ring ring;
	int ends[2];

	open_ring(&ring);
	make_pipe(ends, 0);
	while (n--)
		submit(&ring, IORING_OP_WRITE, ends[1], data, 1, IOSQE_CQE_SKIP_SUCCESS);
}

/* More requests than the completion ring has room for. */
static void uring_overflow(long n)
{
	struct ring ring;
	int ends[2], written;

	open_ring(&ring);
	make_pipe(ends, 0);
	for (long i = 0; i < n; i++)
		submit(&ring, IORING_OP_WRITE, ends[1], data, 1, 0);
	/* a kernel may have its own threads write, whose requests are cancelled at the end of the process */
	do {
		usleep(1000);
		must(ioctl(ends[0], FIONREAD, &written));
	} while (written < n);
}

/* Requests that are pending when tracing ends, the second one for a registered file. */
static void uring_wait(long n)
{
	struct ring ring;
	int ends[2];

	open_ring(&ring);
	make_pipe(ends, 0);
	submit(&ring, IORING_OP_READ, ends[0], data, n, 0);
	must(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, ends, 1));
	submit(&ring, IORING_OP_READ, 0, data, 2 * n, IOSQE_FIXED_FILE);
	pause();
}

/* Waits for a line from standard input. */
static void wait_for_line(long n)
{
	(void)n;
	printf("ready\n");
	must(fflush(stdout));
	must(read(STDIN_FILENO, data, 100));
}

/* Connects to itself by TCP, and sends what it does not read, until a line comes. Prints its two ports. */
static void fill_tcp(long n)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int in, out = must(socket(AF_INET, SOCK_STREAM, 0)), listener = must(socket(AF_INET, SOCK_STREAM, 0));
	socklen_t size = sizeof(address);

	must(bind(listener, (struct sockaddr *)&address, size));
	must(listen(listener, 1));
	must(getsockname(listener, (struct sockaddr *)&address, &size));
	must(connect(out, (struct sockaddr *)&address, size));
	in = must(accept(listener, NULL, NULL));
	printf("%d\n", ntohs(address.sin_port));
	must(getsockname(out, (struct sockaddr *)&address, &size));
	printf("%d\n", ntohs(address.sin_port));
	while (send(out, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	wait_for_line(n);
	close(in);
	close(out);
	close(listener);
}

static void kill_itself(long n)
{
	raise(n);
}

static void leave(long n)
{
	exit(n);
}

static const struct {
	const char *name;
	void (*act)(long n);
} acts[] = {
	{"call", call},
	{"everywhere", call_everywhere},
	{"call32", call_in_32_bits},
	{"pipe32", pipe_in_32_bits},
	{"socketcall32", socketcall_in_32_bits},
	{"strange", call_strange},
	{"plain", plain},
	{"vectors", vectors},
	{"splices", splices},
	{"fill", fill},
	{"resize", resize},
	{"fail", fail},
	{"interrupt", interrupt},
	{"stamp", stamp},
	{"disguise", disguise},
	{"pair", pair},
	{"messages", messages},
	{"serve", serve},
	{"dial", dial},
	{"tcp", tcp},
	{"tcp6", tcp6},
	{"tcp4in6", tcp4in6},
	{"udp", udp},
	{"filltcp", fill_tcp},
	{"queue", queue},
	{"sysv", sysv},
	{"event", event},
	{"uring", uring},
	{"uringsilent", uring_silent},
	{"uringoverflow", uring_overflow},
	{"uringwait", uring_wait},
	{"kill", kill_itself},
	{"exit", leave},
	{"wait", wait_for_line},
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t length = strcspn(argv[i], "="), j = 0;

		while (j < sizeof(acts) / sizeof(*acts) &&
		       (strlen(acts[j].name) != length || strncmp(acts[j].name, argv[i], length)))
			j++;
		if (j == sizeof(acts) / sizeof(*acts))
			errx(EXIT_FAILURE, "%s: no such act", argv[i]);
		acts[j].act(argv[i][length] ? atol(argv[i] + length + 1) : 0);
	}
	return 0;
}
