/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-report: the first look at a recording, on one page. It starts the other tools, passes lines between them and
 * formats what they print; what it says of a trace, they have found.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "confine.h"
#include "count.h"
#include "facts.h"
#include "html.h"
#include "io.h"
#include "kind.h"
#include "limits.h"
#include "lines.h"
#include "mem.h"
#include "page.h"
#include "sources.h"
#include "terminal.h"
#include "tools.h"

static struct {
	pid_t pid;
	const char *html; /* a file; NULL: none is written */
	bool wide;
} opt;

static const struct cli_option options[] = {
	{0, "color", "WHEN", "always, never, or auto: only on a terminal (default)", .call = terminal_color},
	{0, "html", "FILE", "also write the page to FILE as HTML, with pictures", .text = &opt.html},
	{'p', "pid", "PID", "the trace of this process, as it is now", .pid = &opt.pid},
	{0, "wide", NULL, "lines and names in full", .flag = &opt.wide},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... DIR | TRACE [USDT.TXT]\n"
	"  or:  %s [OPTION]... -p PID [USDT.TXT]\n"
	"Print a first look at a recording on one page: why requests are slow, hosts, reactors, the slowest\n"
	"requests, and what was recorded. DIR is a folder of trace-record, TRACE a trace file, and USDT.TXT what\n"
	"usdt-record recorded with it.\n",
	"Examples:\n"
	"  %s trace-record.1234.20261123-163000\n"
	"  %s nvmf_trace.pid1234 usdt.txt\n"
	"  %s -p \"$(pidof nvmf_tgt)\"\n",
	.options = options,
	.anywhere = true,
};

/* trace-dump with its operand; what: an option */
static void start_dump(const struct facts *f, struct tools *t, const char *what, struct tools_io io)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", f->pid);
	tools_start(t, (const char *const[]){"trace-dump", what, f->pid ? "-p" : "--", f->pid ? pid : f->trace, NULL},
		    io);
}

/* Returns false, after the message of trace-dump, if there is no trace. What is wrong with one it says again later. */
static bool read_info(struct facts *f)
{
	struct tools t = {};
	struct slice text;
	int file = tools_file();

	start_dump(f, &t, "-qij", (struct tools_io){-1, file, true});
	tools_wait(&t);
	text = tools_contents(file);
	if (facts_line(&text, &f->info))
		return true;
	tools_complain(&t);
	return false;
}

/* Starts a tool that reads `in`, unless that is -1, and returns the pipe that has its output. */
static int start_filter(struct tools *t, const char *const *argv, int in)
{
	int from, to;

	tools_pipe(&from, &to);
	tools_start(t, argv, (struct tools_io){in, to, true});
	close(to);
	return from;
}

/* Starts qpair-lifetimes, and returns the pipe of its output; -1 if there is nothing that it can read. */
static int start_lifetimes(const struct facts *f, struct tools *t)
{
	const char *argv[8] = {"qpair-lifetimes", "-q"};
	int n = 2, from = -1, to;

	if (!f->usdt && !f->answers)
		return -1;
	if (f->answers) {
		argv[n++] = "--rpc";
		argv[n++] = f->answers;
	}
	if (f->usdt) {
		argv[n++] = "--";
		argv[n++] = f->usdt;
	} else {
		/* without probe lines, the owners come from the trace */
		tools_pipe(&from, &to);
		start_dump(f, t, "-qO", (struct tools_io){-1, to, true});
		close(to);
		argv[n++] = "-O";
		argv[n++] = "-";
	}
	return start_filter(t, argv, from);
}

/* Starts trace-join, which also reads what qpair-lifetimes prints, and returns the pipe that has its output. */
static int start_join(const struct facts *f, struct tools *t, int entries)
{
	char path[32];
	int names = start_lifetimes(f, t), lines;
	const char *const join[] = {"trace-join", "-qj", names >= 0 ? "-l" : NULL, path, NULL};

	snprintf(path, sizeof(path), "/dev/fd/%d", names);
	/* it is not closed in this tool */
	fcntl(names, F_SETFD, 0);
	lines = start_filter(t, join, entries);
	if (names >= 0)
		close(names);
	return lines;
}

/* Starts the tools whose output is joined and merged lines, and returns the pipe that has them. */
static int start_lines(const struct facts *f, struct tools *t)
{
	/* a path may have an equals sign itself */
	char *offcpu = f->offcpu ? mem_printf("offcpu=%s", f->offcpu) : NULL;
	char *bio = f->bio ? mem_printf("bio=%s", f->bio) : NULL;
	const char *const merge[] = {"trace-merge", "-q", "trace=-", offcpu ? offcpu : bio, offcpu ? bio : NULL, NULL};
	int from, to, lines;

	tools_pipe(&from, &to);
	/* it shows progress on a terminal, for all of them */
	start_dump(f, t, "-q", (struct tools_io){-1, to, false});
	close(to);
	lines = start_join(f, t, from);
	lines = offcpu || bio ? start_filter(t, merge, lines) : lines;
	free(offcpu);
	free(bio);
	return lines;
}

/* Starts a tool that reads the pipe *to, and returns the file that its output goes to. */
static int add_reader(struct tools *t, const char *const *argv, int *to)
{
	int from, file = tools_file();

	tools_pipe(&from, to);
	tools_start(t, argv, (struct tools_io){from, file, true});
	return file;
}

/* Reads span lines. Returns false after a message if they end early. */
static bool read_spans(struct facts *f, int spans)
{
	struct slice line;
	struct lines lines;
	int got;

	dup2(spans, STDIN_FILENO);
	close(spans);
	lines_open(&lines, "-");
	while ((got = lines_next(&lines, &line)) > 0)
		facts_span(f, line);
	got = lines_close(&lines, got < 0 ? errno : 0);
	/* if there are more, their writer must not wait */
	close(STDIN_FILENO);
	return got == 0;
}

static const char *const with_host[] = {"trace-latency", "-qj", "-g", "host", NULL};
static const char *const with_layers[] = {"trace-latency", "-qj", "-g", "host", "--layers", NULL};
static const char *const with_reactors[] = {"trace-latency", "-qj", "--reactors", NULL};
/* for pictures; its interval is appended */
static const char *const with_time[] = {"trace-latency", "-qj", "-g", "host", "--layers", "-i"};
static const char *const with_spans[] = {"trace-spans", "-qj", NULL};

/* Starts the tool for the pictures, and returns the file of its output; -1 without pictures. */
static int add_pictures(struct facts *f, struct tools *t, struct tee *tee)
{
	const char *argv[COUNT(with_time) + 2] = {};
	char seconds[32];

	if (!opt.html)
		return -1;
	series_start(&f->series, (facts_number(f->info, "us") + 1) / SERIES_STEPS);
	snprintf(seconds, sizeof(seconds), "%.9f", f->series.step / 1e6);
	memcpy(argv, with_time, sizeof(with_time));
	argv[COUNT(with_time)] = seconds;
	return add_reader(t, argv, &tee->to[tee->n++]);
}

/* All tools run at once; returns whether they had no errors. */
static bool analyse(struct facts *f)
{
	struct tools sources = {}, measures = {};
	struct tee tee = {.from = start_lines(f, &sources)};
	int layers = add_reader(&measures, with_layers, &tee.to[tee.n++]);
	int lives = add_reader(&measures, with_host, &tee.to[tee.n++]);
	int reactors = add_reader(&measures, with_reactors, &tee.to[tee.n++]);
	int over_time = add_pictures(f, &measures, &tee);
	int from, spans;
	bool good, measured;

	tools_pipe(&from, &tee.to[tee.n++]);
	spans = start_filter(&sources, with_spans, from);
	tee_start(&tee);
	good = read_spans(f, spans);
	limits_mark(&f->causes.requests, f->rpc);
	causes_find(&f->causes, f->min_us ? facts_ns(strtod(f->min_us, NULL)) : 0);
	good &= tee_wait(&tee);
	if (!tools_wait(&sources)) {
		tools_complain(&sources);
		good = false;
	}
	f->names_unread |= tools_failed(&sources, "qpair-lifetimes");
	measured = tools_wait(&measures);
	f->layers = tools_contents(layers);
	f->lives = tools_contents(lives);
	f->reactors = tools_contents(reactors);
	if (over_time >= 0) {
		f->over_time = tools_contents(over_time);
		heat_end(&f->series.heat, HEAT_STEPS);
	}
	/* without whole requests there is nothing to measure: the page says that */
	if (measured || f->requests == f->incomplete)
		return good;
	tools_complain(&measures);
	return false;
}

/*
 * Returns its descriptor, or -1 after a message. What is in it stays until there is a page. A file that has something
 * else is a mistake, as in --html TRACE.
 */
static int open_html(void)
{
	struct stat st;
	bool is_new = stat(opt.html, &st) != 0 || !S_ISREG(st.st_mode) || !st.st_size;
	int fd = open(opt.html, is_new ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0666);
	char start[64];
	ssize_t n;

	if (fd < 0) {
		warn("%s", io_name(opt.html));
		return -1;
	}
	n = is_new ? 0 : pread(fd, start, sizeof(start), 0);
	if (!is_new && (n < 0 || kind_of((struct slice){start, n}, KIND_HTML) != KIND_HTML))
		cli_usage("--html '%s': this file is there and is not a page; give another name, or remove it",
			  opt.html);
	return fd;
}

/* Returns whether it could be written. */
static bool write_html(int fd, const struct facts *f, struct slice page)
{
	struct stat st;
	struct out out;

	if (fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || ftruncate(fd, 0) == 0)) {
		out_open(&out, fd);
		html_write(&out, f, page);
		if (out_close(&out) == 0 && close(fd) == 0)
			return true;
	}
	warn("%s", io_name(opt.html));
	return false;
}

int main(int argc, char **argv)
{
	struct out out, page = {.fd = OUT_MEMORY};
	static struct facts f = {.unread.fd = OUT_MEMORY};
	struct terminal terminal;
	int html = -1;
	bool good;

	cli_parse(&cli, argc, argv);
	terminal = terminal_open(opt.wide);
	if (opt.html)
		html = open_html();
	confine_enter(opt.pid, argv + optind);
	f.pid = opt.pid;
	sources_find(&f, argc, argv);
	signal(SIGPIPE, SIG_IGN);
	good = (f.trace || f.pid) && read_info(&f);
	sources_check_clocks(&f);
	if (facts_entries(&f))
		good &= analyse(&f);
	good &= !f.unread.len && (!opt.html || html >= 0);
	if (f.info.n || f.parts.n)
		page_write(&page, &f, &terminal);
	if (html >= 0 && page.len)
		good &= write_html(html, &f, out_contents(&page));
	out_open(&out, STDOUT_FILENO);
	out_slice(&out, out_contents(&page));
	out_close(&page);
	facts_free(&f);
	return cli_close(&out, good ? EXIT_SUCCESS : EXIT_FAILURE);
}
