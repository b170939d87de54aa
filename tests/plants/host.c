/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host of NVMe/TCP that measures what it waited, for tests/plants: one queue of I/O, with commands at a rate. A
 * command counts from the time at which it was due, also while the queue is full or the connection takes no more: what
 * a target cannot see is measured, too. At SIGTERM it waits for what is in flight, and prints one JSON object.
 *
 * With --log it writes a line for each command, in the order of completion: the processor's counter then, the type, the
 * microseconds that it has taken since it was due and since it was sent, and for how many the host itself was late to
 * send it, with room in its queue. It makes this file when it is connected.
 */
#include <err.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "io.h"
#include "mem.h"
#include "ticks.h"

enum {
	BLOCK = 512,
	MAX_DATA = 1 << 20, /* of a command */
	MAX_DEPTH = 1024,
	CONNECT_DATA = 1024,
	DRAIN_NS = 2000 * NS_A_MS, /* for what is in flight at the end */
};

/* Types of PDUs, and opcodes of commands. */
enum { PDU_ICREQ = 0, PDU_COMMAND = 4, PDU_RESPONSE = 5, PDU_H2C_DATA = 6, PDU_C2H_DATA = 7, PDU_R2T = 9 };
enum { FLUSH = 0, WRITE = 1, READ = 2, WRITE_ZEROES = 8, DATASET_MANAGEMENT = 9, FABRICS = 0x7f };
enum { PROPERTY_SET = 0, CONNECT = 1, PROPERTY_GET = 4 };
enum { CONTROLLER_CONFIGURATION = 0x14, CONTROLLER_STATUS = 0x1c };
enum { C2H_SUCCESS = 8, IN_CAPSULE = 1, TRANSPORT = 0x5a };

enum type { TYPE_READ, TYPE_WRITE, TYPE_ZEROES, TYPE_UNMAP, TYPE_FLUSH, TYPES };
static const char *const type_names[TYPES] = {"read", "write", "zeroes", "unmap", "flush"};

struct header {
	uint8_t type, flags, length, offset;
	uint32_t total;
} __attribute__((packed));

struct command {
	uint8_t opcode, flags;
	uint16_t id;
	uint32_t namespace; /* of fabrics: its first byte is the type */
	uint8_t reserved[16];
	uint64_t address;
	uint32_t length;
	uint8_t key[3], descriptor;
	uint32_t words[6]; /* from the 10th on */
} __attribute__((packed));
_Static_assert(sizeof(struct command) == 64, "a submission queue entry");

struct response {
	uint32_t words[2];
	uint16_t head, queue, id, status;
} __attribute__((packed));

/* R2T, and both PDUs with data. */
struct transfer {
	struct header header;
	uint16_t id, tag;
	uint32_t offset, length, reserved;
} __attribute__((packed));

static struct {
	const char *subsystem, *name, *log;
	uint64_t port, rate, depth, reads, zeroes, unmaps, flushes, blocks, seed, queue;
	uint32_t size, large, in_capsule, buffer, chunk;
	uint64_t data_delay, read_delay;
} opt = {
	.subsystem = "nqn.2016-06.io.spdk:cnode1",
	.name = "nqn.2026-11.test:host",
	.port = 4420,
	.depth = 4,
	.blocks = 65536,
	.seed = 1,
	.queue = 128,
	.size = 4096,
	.large = 1 << 20,
	.in_capsule = 4096,
	.chunk = 65536,
};

static const struct cli_option options[] = {
	{'p', "port", "N", "connect to this port of 127.0.0.1", .count = &opt.port},
	{'s', "subsystem", "NQN", "of this subsystem", .text = &opt.subsystem},
	{'n', "name", "NQN", "as this host", .text = &opt.name},
	{'r', "rate", "N", "commands per second; without it, as many as the depth allows", .count = &opt.rate},
	{'d', "depth", "N", "at most so many in flight", .count = &opt.depth},
	{'b', "size", "SIZE", "bytes of a read or a write", .size = &opt.size},
	{'B', "large", "SIZE", "bytes of a write zeroes or an unmap", .size = &opt.large},
	{0, "reads", "PERCENT", "reads; what remains of all percentages are writes", .count = &opt.reads},
	{0, "zeroes", "PERCENT", "write zeroes", .count = &opt.zeroes},
	{0, "unmaps", "PERCENT", "deallocate", .count = &opt.unmaps},
	{0, "flushes", "PERCENT", "flush", .count = &opt.flushes},
	{0, "blocks", "N", "use so many blocks of 512 bytes of namespace 1", .count = &opt.blocks},
	{0, "in-capsule", "SIZE", "writes up to this size bring their data", .size = &opt.in_capsule},
	{0, "data-delay", "US", "send other data so late", .us = &opt.data_delay},
	{0, "read-delay", "US", "wait so long before each chunk of data is read", .us = &opt.read_delay},
	{0, "chunk", "SIZE", "bytes of a chunk", .size = &opt.chunk},
	{0, "buffer", "SIZE", "receive buffer of the socket", .size = &opt.buffer},
	{0, "queue", "N", "entries of the queue", .count = &opt.queue},
	{0, "seed", "N", "of what is random", .count = &opt.seed},
	{0, "log", "FILE", "write a line for each command", .text = &opt.log},
	{},
};

struct queue {
	int fd;
	uint16_t id, entries;
};

/* A command in flight; its index is its id. */
struct flight {
	bool used;
	enum type type;
	uint64_t due, sent, late;
};

/* A command that has ended. */
struct done {
	uint64_t tsc, waited, took, late; /* all but the first in ns */
	enum type type;
};

/* A request of the target for data, which is answered when it is due. */
struct late {
	uint64_t due;
	struct transfer transfer;
};

static struct {
	struct queue io;
	struct flight flights[MAX_DEPTH];
	unsigned in_flight, next_id;
	uint64_t room; /* ns: since then its queue has had some */
	struct late late[MAX_DEPTH];
	unsigned late_first, late_n;
	struct done *done;
	size_t n, cap;
	uint64_t errors;
	struct ticks ticks;
} host;

static char data[MAX_DATA];
static volatile sig_atomic_t ends;

static void on_signal(int signal)
{
	(void)signal;
	ends = 1;
}

static uint64_t now(void)
{
	return clock_ns();
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

static void send_all(const struct queue *q, const void *bytes, size_t n)
{
	if (io_write(q->fd, bytes, n) != 0)
		err(EXIT_FAILURE, "%s: cannot send", opt.name);
}

static void receive_all(const struct queue *q, void *to, size_t n)
{
	ssize_t got;

	for (char *p = to; n; p += got, n -= got) {
		got = io_read(q->fd, p, n);
		if (got < 0)
			err(EXIT_FAILURE, "%s: cannot receive", opt.name);
		if (!got)
			errx(EXIT_FAILURE, "%s: the target has closed the connection", opt.name);
	}
}

/* Data that a host without time reads piece by piece. */
static void receive_data(const struct queue *q, size_t n)
{
	while (opt.read_delay && n) {
		size_t part = n < opt.chunk ? n : opt.chunk;

		sleep_ns(opt.read_delay);
		receive_all(q, data, part);
		n -= part;
	}
	receive_all(q, data, n);
}

/* The data is in the capsule. */
static void send_command(const struct queue *q, struct command *c, const void *bytes, uint32_t n)
{
	static char capsule[sizeof(struct header) + sizeof(*c) + MAX_DATA];
	const uint8_t length = sizeof(struct header) + sizeof(*c);
	const struct header h = {PDU_COMMAND, 0, length, n ? length : 0, length + n};

	c->flags = 0x40; /* addresses are descriptors */
	memcpy(capsule, &h, sizeof(h));
	memcpy(capsule + sizeof(h), c, sizeof(*c));
	if (n)
		memcpy(capsule + length, bytes, n);
	send_all(q, capsule, length + n);
}

/* Sends a command of fabrics and returns its response; a failure ends the program. */
static struct response ask(const struct queue *q, struct command *c, const void *bytes, uint32_t n)
{
	struct {
		struct header header;
		struct response response;
	} __attribute__((packed)) reply;

	c->opcode = FABRICS;
	c->length = n;
	c->descriptor = n ? IN_CAPSULE : 0;
	send_command(q, c, bytes, n);
	receive_all(q, &reply, sizeof(reply));
	if (reply.header.type != PDU_RESPONSE || reply.response.status >> 1)
		errx(EXIT_FAILURE, "%s: queue %u: command %u of fabrics has status 0x%x", opt.name, q->id, c->namespace,
		     reply.response.status >> 1);
	return reply.response;
}

/* Opens the queue of this id of a controller, and returns the controller's id. */
static uint16_t connect_queue(struct queue *q, uint16_t controller)
{
	const struct sockaddr_in to = {AF_INET, htons(opt.port), {htonl(INADDR_LOOPBACK)}, {}};
	struct command c = {.namespace = CONNECT, .words = {(uint32_t)q->id << 16, q->entries - 1}};
	char who[CONNECT_DATA] = {}, greeting[128] = {[2] = 128, [4] = 128};
	const int one = 1, buffer = opt.buffer;

	q->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (q->fd < 0 || setsockopt(q->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0 ||
	    (buffer && q->id && setsockopt(q->fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof(buffer)) != 0) ||
	    connect(q->fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		err(EXIT_FAILURE, "%s: port %" PRIu64, opt.name, opt.port);
	send_all(q, greeting, sizeof(greeting));
	receive_all(q, greeting, sizeof(greeting));
	/* the host's id, which is the same for both queues and another one for each process */
	snprintf(who, 16, "host %d", getpid());
	memcpy(who + 16, &controller, sizeof(controller));
	snprintf(who + 256, 256, "%s", opt.subsystem);
	snprintf(who + 512, 256, "%s", opt.name);
	return ask(q, &c, who, sizeof(who)).words[0];
}

static void connect_host(void)
{
	struct command enable = {.namespace = PROPERTY_SET, .words = {0, CONTROLLER_CONFIGURATION, 0x460001}};
	struct command status = {.namespace = PROPERTY_GET, .words = {0, CONTROLLER_STATUS}};
	static struct queue admin = {.entries = 32};
	uint16_t controller = connect_queue(&admin, 0xffff);

	ask(&admin, &enable, NULL, 0);
	while (!(ask(&admin, &status, NULL, 0).words[0] & 1))
		sleep_ns(NS_A_MS);
	host.io = (struct queue){.id = 1, .entries = opt.queue};
	connect_queue(&host.io, controller);
}

static enum type draw_type(void)
{
	const uint64_t percent[] = {[TYPE_READ] = opt.reads,
				    [TYPE_ZEROES] = opt.zeroes,
				    [TYPE_UNMAP] = opt.unmaps,
				    [TYPE_FLUSH] = opt.flushes};
	uint64_t drawn = lrand48() % 100;

	for (unsigned i = 0; i < sizeof(percent) / sizeof(percent[0]); drawn -= percent[i++])
		if (drawn < percent[i])
			return i;
	return TYPE_WRITE;
}

static void send_io(uint64_t due)
{
	static const uint8_t opcodes[TYPES] = {READ, WRITE, WRITE_ZEROES, DATASET_MANAGEMENT, FLUSH};
	enum type type = draw_type();
	bool is_large = type == TYPE_ZEROES || type == TYPE_UNMAP;
	uint32_t size = is_large ? opt.large : opt.size, n = size / BLOCK;
	uint64_t start = lrand48() % (opt.blocks / n) * n, t = now();
	struct command c = {.opcode = opcodes[type], .namespace = 1, .descriptor = TRANSPORT};
	struct {
		uint32_t attributes, blocks;
		uint64_t start;
	} range = {0, n, start};

	while (host.flights[host.next_id].used)
		host.next_id = (host.next_id + 1) % MAX_DEPTH;
	c.id = host.next_id;
	host.flights[c.id] = (struct flight){true, type, due, t, t - (due > host.room ? due : host.room)};
	host.in_flight++;
	if (type == TYPE_UNMAP) {
		c.descriptor = IN_CAPSULE;
		c.length = sizeof(range);
		c.words[1] = 4; /* deallocate one range */
		send_command(&host.io, &c, &range, sizeof(range));
		return;
	}
	if (type != TYPE_FLUSH) {
		memcpy(c.words, &start, sizeof(start));
		c.words[2] = n - 1;
	}
	if (type == TYPE_READ || type == TYPE_WRITE)
		c.length = size;
	if (type == TYPE_WRITE && size <= opt.in_capsule) {
		c.descriptor = IN_CAPSULE;
		send_command(&host.io, &c, data, size);
	} else {
		send_command(&host.io, &c, NULL, 0);
	}
}

static void end_io(uint16_t id, bool failed)
{
	struct flight *f;
	uint64_t t = now();

	if (id >= MAX_DEPTH || !host.flights[id].used)
		errx(EXIT_FAILURE, "%s: a response to command %u, which is not in flight", opt.name, id);
	f = &host.flights[id];
	host.done = mem_room(host.done, host.n, &host.cap);
	host.done[host.n++] = (struct done){ticks_at(&host.ticks, t), t - f->due, t - f->sent, f->late, f->type};
	host.errors += failed;
	host.room = host.in_flight == opt.depth ? t : host.room;
	f->used = false;
	host.in_flight--;
}

static void send_data(const struct transfer *asked)
{
	struct transfer t = *asked;

	if (t.length > MAX_DATA)
		errx(EXIT_FAILURE, "%s: the target asks for %u bytes at once", opt.name, t.length);
	t.header = (struct header){PDU_H2C_DATA, 4, sizeof(t), sizeof(t), sizeof(t) + t.length};
	send_all(&host.io, &t, sizeof(t));
	send_all(&host.io, data, t.length);
}

static void receive_pdu(void)
{
	union {
		struct header header;
		struct transfer transfer;
		struct {
			struct header header;
			struct response response;
		} __attribute__((packed)) reply;
	} pdu;

	receive_all(&host.io, &pdu, sizeof(struct transfer));
	switch (pdu.header.type) {
	case PDU_R2T:
		host.late[(host.late_first + host.late_n++) % MAX_DEPTH] = (struct late){now() + opt.data_delay,
											 pdu.transfer};
		break;
	case PDU_C2H_DATA:
		if (pdu.header.total > MAX_DATA)
			errx(EXIT_FAILURE, "%s: a PDU of %u bytes", opt.name, pdu.header.total);
		receive_data(&host.io, pdu.header.total - sizeof(struct transfer));
		if (pdu.header.flags & C2H_SUCCESS)
			end_io(pdu.transfer.id, false);
		break;
	case PDU_RESPONSE:
		end_io(pdu.reply.response.id, pdu.reply.response.status >> 1);
		break;
	default:
		errx(EXIT_FAILURE, "%s: a PDU of type %u", opt.name, pdu.header.type);
	}
}

/* The time until the next command after this one: half of the mean to one and a half. */
static uint64_t draw_pause(void)
{
	return opt.rate ? 1e9 / opt.rate * (0.5 + drand48()) : 0;
}

static void wait_for_input(uint64_t until)
{
	struct pollfd p = {host.io.fd, POLLIN, 0};
	uint64_t t = now(), ns = until > t ? until - t : 0;
	const struct timespec timeout = {ns / 1000000000, ns % 1000000000};

	if (ppoll(&p, 1, &timeout, NULL) > 0)
		receive_pdu();
}

static void run(void)
{
	uint64_t due = now(), last = 0;

	while (!ends || host.in_flight) {
		uint64_t t = now(), next = t + 100 * NS_A_MS;

		if (ends && !last)
			last = t + DRAIN_NS;
		if (ends && t > last)
			return;
		if (host.late_n && host.late[host.late_first].due <= t) {
			send_data(&host.late[host.late_first].transfer);
			host.late_first = (host.late_first + 1) % MAX_DEPTH;
			host.late_n--;
			continue;
		}
		if (!ends && host.in_flight < opt.depth && due <= t) {
			send_io(opt.rate ? due : t);
			due += draw_pause();
			continue;
		}
		if (host.late_n && host.late[host.late_first].due < next)
			next = host.late[host.late_first].due;
		if (!ends && host.in_flight < opt.depth && due < next)
			next = due;
		wait_for_input(next);
	}
}

static void write_log(FILE *log)
{
	for (const struct done *d = host.done; d < host.done + host.n; d++)
		fprintf(log, "%" PRIu64 " %s %.3f %.3f %.3f\n", d->tsc, type_names[d->type], d->waited / 1e3,
			d->took / 1e3, d->late / 1e3);
	if (fclose(log) != 0)
		err(EXIT_FAILURE, "%s", opt.log);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* In us. */
static double percentile(const uint64_t *waits, uint64_t n, unsigned percent)
{
	uint64_t i = n * percent / 100;

	return waits[i < n ? i : n - 1] / 1e3;
}

static void print_type(enum type type, const char *comma)
{
	uint64_t *waits = mem_array(host.n, sizeof(*waits)), n = 0;
	double sum = 0;

	for (const struct done *d = host.done; d < host.done + host.n; d++)
		if (d->type == type) {
			waits[n++] = d->waited;
			sum += d->waited / 1e3;
		}
	qsort(waits, n, sizeof(*waits), compare);
	if (n)
		printf("%s\"%s\":{\"n\":%" PRIu64 ",\"total_us\":%.3f,\"mean_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f,"
		       "\"max_us\":%.3f}",
		       comma, type_names[type], n, sum, sum / n, percentile(waits, n, 50), percentile(waits, n, 99),
		       percentile(waits, n, 100));
	free(waits);
}

static void print_summary(void)
{
	printf("{\"host\":\"%s\",\"errors\":%" PRIu64 ",\"open\":%u", opt.name, host.errors, host.in_flight);
	for (unsigned i = 0; i < TYPES; i++)
		print_type(i, ",");
	puts("}");
}

int main(int argc, char **argv)
{
	const struct cli cli = {"Usage: %s [OPTION]...\nLoads a target until SIGTERM, and prints what it waited.\n\n",
				"", options, NULL, false};
	const struct sigaction action = {.sa_handler = on_signal};
	FILE *log = NULL;

	cli_parse(&cli, argc, argv);
	if (optind < argc || opt.reads + opt.zeroes + opt.unmaps + opt.flushes > 100 || opt.depth > MAX_DEPTH ||
	    opt.size % BLOCK || opt.large % BLOCK || opt.size < BLOCK || opt.size > MAX_DATA || opt.large < BLOCK ||
	    opt.blocks * BLOCK < opt.size || opt.blocks * BLOCK < opt.large)
		cli_usage("no operands, at most 100 percent, a depth of %u, blocks of 512 bytes and data of 1 MiB",
			  MAX_DEPTH);
	/* timers are exact, and a host without its driver ends */
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigaction(SIGTERM, &action, NULL);
	srand48(opt.seed);
	if (ticks_start(&host.ticks))
		errx(EXIT_FAILURE, "the kernel's clock is not the processor's counter: times cannot be compared");
	connect_host();
	if (opt.log && !(log = fopen(opt.log, "we")))
		err(EXIT_FAILURE, "%s", opt.log);
	run();
	if (log)
		write_log(log);
	print_summary();
	return 0;
}
