/* SPDX-License-Identifier: BSD-3-Clause */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>

#include "count.h"
#include "minmax.h"
#include "palette.h"
#include "ratio.h"
#include "spdk.h"

/* Of pictures, in pixels. */
enum {
	LEFT = 64, /* of what is over time, for the scale */
	WIDE = 640,
	STRIP = 56,  /* height of a host's */
	HOLDERS = 6, /* that have colours, after those of layers */
};

static const char style[] =
	":root{color-scheme:light dark;--ink:#1f2328;--paper:#fff;--faint:#d1d9e0;--heat:#0969da}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--faint:#3d444d;--heat:#58a6ff}}\n"
	"body{margin:1.5em;background:var(--paper);color:var(--ink);font:14px/1.4 system-ui,sans-serif;"
	"display:flex;flex-wrap:wrap;gap:1em 3em}\n"
	"pre{margin:0;font:13px/1.35 ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
	"h2{font-size:1em;margin:1.5em 0 .3em}h2:first-child{margin-top:0}svg{display:block;overflow:visible}\n"
	"svg text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:var(--ink)}\n"
	".n{text-anchor:end}\n"
	".axis{stroke:var(--faint)}.heat{fill:var(--heat)}\n"
	".c10{fill:#0969da}.c11{fill:#bf8700}.c12{fill:#8250df}.c13{fill:#1a7f37}.c14{fill:#cf222e}.c15{fill:#57606a}"
	"\n";

_Static_assert(LAYERS == 9, "the classes c0 to c8 are layers, c9 is none");

/* A string as written in JSON. */
static void put_name(struct out *out, struct slice raw)
{
	struct out visible = {.fd = OUT_MEMORY};

	facts_put(&visible, raw);
	out_xml(out, out_contents(&visible));
	out_close(&visible);
}

/* Text without its colours, which are those of a terminal. */
static void put_page(struct out *out, struct slice page)
{
	const char *escape;

	while ((escape = memchr(page.p, '\x1b', page.n))) {
		out_xml(out, slice_cut(&page, escape - page.p));
		slice_cut(&page, max_u64(out_escape_length(page), 1));
	}
	out_xml(out, page);
}

static void put_heading(struct out *out, const char *text)
{
	out_printf(out, "<h2>%s</h2>\n", text);
}

static void start_picture(struct out *out, int height)
{
	out_printf(out, "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", LEFT + WIDE + 8,
		   height, LEFT + WIDE + 8, height);
}

/* A rectangle, whose tooltip follows up to end_rect(). */
static void start_rect(struct out *out, double x, double y, double width, double height, unsigned colour)
{
	out_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"c%u\"><title>", x, y, width,
		   height, colour);
}

static void end_rect(struct out *out)
{
	out_text(out, "</title></rect>\n");
}

/* The line below a picture, from its first to its last time. */
static void put_axis(struct out *out, int y, double from, double to)
{
	out_printf(out, "<path class=\"axis\" d=\"M%d %d.5H%d\"/><text x=\"%d\" y=\"%d\">", LEFT, y, LEFT + WIDE, LEFT,
		   y + 14);
	facts_put_time(out, from);
	out_printf(out, "</text><text class=\"n\" x=\"%d\" y=\"%d\">", LEFT + WIDE, y + 14);
	facts_put_time(out, to);
	out_text(out, "</text>\n");
}

/* The colours of the layers that are in at least one of the rows. */
static void put_legend(struct out *out, const struct facts *f)
{
	double x = LEFT;

	start_picture(out, 20);
	for (unsigned i = 0; i < LAYERS; i++) {
		bool used = false;

		for (size_t row = 0; row < f->shares.n; row++)
			used |= f->shares.all[row].layers[i] != 0;
		if (!used)
			continue;
		out_printf(out,
			   "<rect x=\"%.0f\" y=\"4\" width=\"11\" height=\"11\" class=\"c%u\"/><text x=\"%.0f\" "
			   "y=\"14\">%s</text>\n",
			   x, i, x + 15, spdk_layers[i]);
		x += 34 + 7 * strlen(spdk_layers[i]);
	}
	out_text(out, "</svg>\n");
}

struct range {
	double from, to;
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* The times of all steps. */
static struct range range_of(const struct series *s)
{
	struct range r = {__DBL_MAX__, 0};

	for (size_t i = 0; i < s->num_steps; i++) {
		double begin = s->steps[i].interval.from / 1e3;

		r.from = begin < r.from ? begin : r.from;
		r.to = larger(r.to, s->steps[i].interval.to / 1e3);
	}
	return r;
}

/* The row of a host in a step; NULL: it has none. */
static const struct share *row_in(const struct series_step *step, const struct share *host)
{
	for (size_t i = 0; i < step->shares.n; i++)
		if (memcmp(&step->shares.all[i].name, &host->name, sizeof(host->name)) == 0)
			return &step->shares.all[i];
	return NULL;
}

/* Microseconds. */
static double mean_of(const struct share *row)
{
	return row ? ratio_mean(row->life, row->count) / 1e3 : 0;
}

/* A stacked bar of a step: the mean life of the requests that ended in it, by layer. */
static void put_step(struct out *out, double begin, const struct share *row, double x, double width, double bottom,
		     double scale)
{
	double mean = mean_of(row);

	for (unsigned i = 0; i < LAYERS; i++) {
		double share = ratio_part(row->layers[i], row->life);

		if (share * mean * scale < 0.2)
			continue;
		bottom -= share * mean * scale;
		start_rect(out, x, bottom, width, share * mean * scale, i);
		facts_put_time(out, begin);
		out_printf(out, ": count %" PRIu64 ", mean ", row->count);
		facts_put_time(out, mean);
		out_printf(out, ", %.0f%% %s", 100 * share, spdk_layers[i]);
		end_rect(out);
	}
}

static void put_strip(struct out *out, const struct facts *f, const struct share *host, struct range range)
{
	const struct series *s = &f->series;
	struct out name = {.fd = OUT_MEMORY};
	double scale = WIDE / (range.to - range.from), most = 0;

	for (size_t i = 0; i < s->num_steps; i++)
		most = larger(most, mean_of(row_in(&s->steps[i], host)));
	if (!most)
		return;
	facts_put_host(&name, f, host);
	start_picture(out, STRIP + 34);
	out_printf(out, "<text x=\"%d\" y=\"11\">", LEFT);
	out_xml(out, out_contents(&name));
	out_printf(out, "</text><text class=\"n\" x=\"%d\" y=\"25\">", LEFT - 4);
	facts_put_time(out, most);
	out_text(out, "</text>\n");
	for (size_t i = 0; i < s->num_steps; i++) {
		const struct interval *interval = &s->steps[i].interval;
		const struct share *row = row_in(&s->steps[i], host);

		if (row)
			put_step(out, interval->from / 1e3, row, LEFT + (interval->from / 1e3 - range.from) * scale,
				 larger((interval->to - interval->from) / 1e3 * scale - 1, 1), STRIP + 16,
				 STRIP / most);
	}
	put_axis(out, STRIP + 16, range.from, range.to);
	out_text(out, "</svg>\n");
	out_close(&name);
}

static void put_layers(struct out *out, const struct facts *f)
{
	struct range range = range_of(&f->series);
	const struct share *hosts[FACTS_ROWS];
	size_t others, n = facts_hosts(f, hosts, &others);

	if (!n || range.from >= range.to)
		return;
	put_heading(out, "Mean latency of requests over time, by layer");
	put_legend(out, f);
	for (size_t i = 0; i < n; i++)
		put_strip(out, f, hosts[i], range);
}

static void put_heat(struct out *out, struct heat *heat)
{
	struct out picture = {.fd = OUT_MEMORY};
	unsigned height;

	if (!heat->n)
		return;
	put_heading(out, "Latency of requests, by completion time");
	height = heat_draw(&picture, heat, LEFT, 0, WIDE);
	start_picture(out, height);
	out_slice(out, out_contents(&picture));
	out_text(out, "</svg>\n");
	out_close(&picture);
}

/* The colour of a holder: each of the first ones has its own. */
static unsigned colour_of(struct slice *holders, size_t *n, struct slice holder)
{
	size_t i = 0;

	while (i < *n && !slice_equal(holders[i], holder))
		i++;
	if (i == *n && *n < HOLDERS)
		holders[(*n)++] = holder;
	return i < HOLDERS ? LAYERS + 1 + i : LAYER_UNKNOWN;
}

static void put_buffers(struct out *out, const struct series *s)
{
	uint32_t first = UINT32_MAX, last = 0;
	struct slice holders[HOLDERS];
	double most = 0, width, x = LEFT;
	size_t n = 0;

	for (size_t i = 0; i < s->num_buffers; i++) {
		const struct series_buffers *b = &s->buffers[i];

		first = b->x < first ? b->x : first;
		last = b->x > last ? b->x : last;
		most = larger(most, b->all);
		colour_of(holders, &n, b->holder);
	}
	if (!n)
		return;
	width = (double)WIDE / (last - first + 1);
	put_heading(out, "Data buffers in use, and the host with most of them");
	start_picture(out, STRIP + 58);
	for (size_t i = 0; i < n; i++) {
		out_printf(out,
			   "<rect x=\"%.0f\" y=\"4\" width=\"11\" height=\"11\" class=\"c%zu\"/><text x=\"%.0f\" "
			   "y=\"14\">",
			   x, LAYERS + 1 + i, x + 15);
		put_name(out, holders[i]);
		out_text(out, "</text>\n");
		x += 34 + 7.0 * holders[i].n;
	}
	out_printf(out, "<text class=\"n\" x=\"%d\" y=\"34\">%.0f</text>\n", LEFT - 4, most);
	for (size_t i = 0; i < s->num_buffers; i++) {
		const struct series_buffers *b = &s->buffers[i];
		double top = b->most * STRIP / most, rest = (b->all - b->most) * STRIP / most;

		start_rect(out, LEFT + (b->x - first) * width, STRIP + 24 - top, larger(width - 1, 1), top,
			   colour_of(holders, &n, b->holder));
		put_name(out, b->holder);
		out_printf(out, ": %.0f of %.0f", b->most, b->all);
		end_rect(out);
		start_rect(out, LEFT + (b->x - first) * width, STRIP + 24 - top - rest, larger(width - 1, 1), rest,
			   LAYER_UNKNOWN);
		out_printf(out, "others: %.0f of %.0f", b->all - b->most, b->all);
		end_rect(out);
	}
	put_axis(out, STRIP + 24, first * s->step, (last + 1) * s->step);
	out_text(out, "</svg>\n");
}

void html_write(struct out *out, struct facts *f, struct slice page)
{
	struct out title = {.fd = OUT_MEMORY};

	out_visible(&title, slice_of(f->name));
	out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		      "'unsafe-inline'\">\n<title>");
	out_xml(out, out_contents(&title));
	out_printf(out, "</title>\n<style>\n%s", style);
	for (unsigned i = 0; i <= LAYERS; i++)
		out_printf(out, ".c%u{fill:%s}", i, palette_layers[i].svg);
	out_text(out, "\n</style>\n<pre>\n");
	put_page(out, page);
	out_text(out, "</pre>\n<main>\n");
	put_layers(out, f);
	put_heat(out, &f->series.heat);
	put_buffers(out, &f->series);
	out_text(out, "</main>\n</html>\n");
	out_close(&title);
}
