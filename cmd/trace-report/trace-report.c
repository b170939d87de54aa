/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace-report: the first look at a recording, on one page. It opens all that was recorded, gives up what root may do,
 * and reads the trace once: pass.h.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "busy.h"
#include "cli.h"
#include "facts.h"
#include "hops.h"
#include "html.h"
#include "io.h"
#include "kind.h"
#include "mem.h"
#include "page.h"
#include "page_slowest.h"
#include "pass.h"
#include "sandbox.h"
#include "sources.h"
#include "terminal.h"

static struct {
	const char *html; /* a file; NULL: none is written */
	bool json, fail;
	pid_t pids[CLI_IDS];
} opt;

static struct facts facts = {.unread.fd = OUT_MEMORY, .until = UINT64_MAX, .num_slowest = FACTS_SLOWEST};

enum { EXIT_FOUND = 3, SLOWEST_MAX = 1000 };

static void add_key(const char *argument)
{
	const char *error = keys_add(&facts.keys, argument);

	if (error)
		cli_usage("'%s': %s", argument, error);
}

static void add_story(const char *argument)
{
	add_key(argument);
	facts.wants_stories = true;
}

static const struct cli_option options[] = {
	{0, "fail", NULL, "exit status 3 if there is a cause", .flag = &opt.fail},
	{0, "html", "FILE", "also write the page to FILE as HTML, with pictures", .text = &opt.html},
	{'j', "json", NULL, "one JSON object for each finding, as trace-causes prints them, instead of the page",
	 .flag = &opt.json},
	{'k', "key", "KEY=GLOB", "only requests with this value, such as host=db-1; may be given more than once",
	 .call = add_key},
	{'n', "slowest", "N", "list the N slowest requests; default 3", .count = &facts.num_slowest},
	{'p', "pid", "PID", "the trace of this process, as it is now; may be given more than once", .ids = opt.pids},
	{'q', "quiet", NULL, "neither what was recorded nor commands", .flag = &facts.is_short},
	{0, "since", "US", "only requests that lived after this time, in microseconds as they are printed",
	 .time = &facts.since},
	{0, "story", "KEY=GLOB", "instead of the page, stories of the slowest requests with this value",
	 .call = add_story},
	{0, "until", "US", "only requests that lived before this time", .time = &facts.until},
	{},
};

static const struct cli cli = {
	"Usage: %s [OPTION]... DIR | TRACE [USDT.TXT]\n"
	"  or:  %s [OPTION]... [NAME=]DIR...\n"
	"  or:  %s [OPTION]... -p PID [USDT.TXT]\n"
	"Print a first look at a recording on one page: why requests are slow, hosts, reactors, the slowest\n"
	"requests, and what was recorded. DIR is a folder of trace-record, TRACE a trace file or trace\n"
	"lines, - standard input, and USDT.TXT what usdt-record recorded with it.\n",
	"Examples:\n"
	"  %s trace-record.1234.20261123-163000\n"
	"  %s nvmf_trace.pid1234 usdt.txt\n"
	"  trace-dump nvmf_trace.pid1234 | %s -\n"
	"  %s --story us=5601.223 trace-record.1234.20261123-163000\n"
	"  %s -k host=db-1 -p \"$(pidof nvmf_tgt)\"\n",
	.options = options,
	.former = (const struct cli_former[]){TERMINAL_FORMER, {}},
};

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
static bool write_html(int fd, struct facts *f, struct slice page)
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

static void write_full(struct out *out, const struct busy_full *full)
{
	out_printf(out, "{\"cause\":\"lcore\",\"lcore\":%" PRIu64 ",\"who\":", full->lcore);
	out_json(out, full->who);
	out_printf(out, ",\"kind\":\"busy\",\"busy\":%.3f}\n", full->part);
}

/* The cause of the page first. Returns whether there is one. */
static bool write_lines(struct out *out, struct facts *f, const struct network_connection *deaf)
{
	struct out hang = {.fd = OUT_MEMORY};
	bool all, is_full, hangs = page_hang(&hang, f, &all);
	struct busy_full full;

	if (hangs) {
		out_text(out, "{\"cause\":\"hang\",\"kind\":\"open\",\"text\":");
		out_json(out, out_contents(&hang));
		out_text(out, "}\n");
	}
	out_close(&hang);
	if (deaf && !causes_any(&f->causes))
		network_write(out, f, deaf);
	is_full = busy_is_full(f, &full);
	if (is_full && !deaf && !causes_any(&f->causes))
		write_full(out, &full);
	causes_write(out, &f->causes);
	if (deaf && causes_any(&f->causes))
		network_write(out, f, deaf);
	if (is_full && (deaf || causes_any(&f->causes)))
		write_full(out, &full);
	return hangs || deaf || is_full || f->causes.findings.n;
}

static void parse_options(int argc, char **argv)
{
	cli_parse(&cli, argc, argv);
	if (opt.html && (opt.json || facts.wants_stories))
		cli_usage("%s and --html exclude each other", opt.json ? "-j" : "--story");
	if (opt.html && strcmp(opt.html, "-") == 0)
		cli_usage("--html '-': give the name of a file: the page is printed as well");
	if (opt.pids[1] && optind < argc)
		cli_usage("'%s': of several processes, only the traces are read", argv[optind]);
	facts.pid = opt.pids[0];
	if (facts.since > facts.until)
		cli_usage("--since is after --until: no time is between them");
	if (facts.num_slowest > SLOWEST_MAX)
		cli_usage("-n: at most %d are listed", SLOWEST_MAX);
	facts.slowest = mem_array(facts.num_slowest, sizeof(*facts.slowest));
	facts.slowest_own = mem_array(facts.num_slowest, sizeof(*facts.slowest_own));
	facts.terminal = terminal_open();
	/* a page is for people, wherever it goes */
	facts.terminal.plain = false;
}

/* The page, its lines, or stories. Returns whether there is a cause. */
static bool write_answer(struct out *out, struct facts *f)
{
	if (facts.wants_stories) {
		page_stories(out, f, opt.json);
		return false;
	}
	network_read(&f->network, f);
	if (opt.json && f->info.n)
		return write_lines(out, f, network_deaf(&f->network));
	return (f->info.n || f->parts.n) && page_write(out, f);
}

/* Several processes: returns the exit status. */
static int report_hops(struct hops *h, struct out *out)
{
	struct out page = {.fd = OUT_MEMORY};
	const char *failed = sandbox_remain();
	bool good, found;

	if (failed)
		warnx("%s is read although this process cannot be confined: %s failed", io_name(h->folders[0]), failed);
	good = hops_write(h, &page, &found);
	out_slice(out, out_contents(&page));
	out_close(&page);
	hops_free(h);
	return cli_close(out, !good ? EXIT_FAILURE : opt.fail && found ? EXIT_FOUND : EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	struct out out, page = {.fd = OUT_MEMORY};
	const char *failed;
	bool good = true, found = false;
	struct facts *f = &facts;
	int html = -1, status;
	struct hops hops;

	parse_options(argc, argv);
	out_open(&out, STDOUT_FILENO);
	if (hops_find(&hops, argc - optind, argv + optind, opt.pids, &out)) {
		if (opt.html || opt.json || facts.keys.n || facts.since || facts.until != UINT64_MAX)
			cli_usage("of several processes, only the page is printed; give one of them");
		return report_hops(&hops, &out);
	}
	if (opt.html)
		html = open_html();
	sources_find(f, argc, argv);
	/* what others have written is read without privileges */
	failed = sandbox_remain();
	if (failed)
		warnx("%s is read although this process cannot be confined: %s failed", io_name(f->name), failed);
	sources_read(f);
	good = f->trace && pass_run(f, opt.html, &out);
	good &= !f->unread.len && (!opt.html || html >= 0);
	found = write_answer(&page, f);
	if (html >= 0 && page.len)
		good &= write_html(html, f, out_contents(&page));
	out_slice(&out, out_contents(&page));
	out_close(&page);
	status = !good ? EXIT_FAILURE : opt.fail && found ? EXIT_FOUND : EXIT_SUCCESS;
	facts_free(f);
	return cli_close(&out, status);
}
