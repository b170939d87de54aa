/* SPDX-License-Identifier: BSD-3-Clause */
#include "heatmap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mem.h"
#include "table.h"

enum {
	COLUMNS = 100,            /* of pictures and JSON, without an interval */
	LABEL = OUT_DURATION + 2, /* to the left of a row, with a bar */
	LEFT = 64,
	WIDE = 800,
	GAP = 34, /* of pictures, in pixels */
};

/* From one request to most: the character of a cell, and its colour, which hides the character. */
static const struct {
	char character;
	const char *sgr;
} levels[] = {
	{'.', "38;5;24;48;5;24"},   {':', "38;5;61;48;5;61"},   {'-', "38;5;97;48;5;97"},
	{'=', "38;5;133;48;5;133"}, {'+', "38;5;169;48;5;169"}, {'*', "38;5;204;48;5;204"},
	{'#', "38;5;209;48;5;209"}, {'%', "38;5;215;48;5;215"}, {'@', "38;5;227;48;5;227"},
};

enum { LEVELS = sizeof(levels) / sizeof(*levels) };

void heatmap_add(struct heatmap *m, struct rows_name name, uint64_t end, uint64_t life)
{
	struct heatmap_row *row = table_put(&m->map, (uint64_t)name.group << 32 | name.type, m->all, m->n, m->cap);

	row->name = name;
	row->count++;
	heat_add(&m->heat, row - m->all, end, life);
}

void heatmap_end(struct heatmap *m, bool has_interval, const struct terminal *terminal)
{
	uint64_t columns = has_interval ? HEAT_STEPS : COLUMNS;

	if (terminal && terminal->width != TERMINAL_WIDE)
		columns = terminal->width - LABEL;
	heat_end(&m->heat, columns);
}

/* The name of a map, as a terminal may show it. */
static void write_name(struct out *out, const struct rows *rows, const struct rows_name *name)
{
	struct slice family = rows_shown_family(rows, name->type);

	rows_write_group(out, rows->groups.all[name->group], ": ");
	rows_write_text(out, rows_letter(rows, name->type));
	out_text(out, family.n ? " " : "");
	rows_write_text(out, family);
}

/* Its name, the number of its objects, and how long its columns are. */
static void write_title(struct out *out, const struct heatmap *m, const struct rows *rows,
			const struct heatmap_row *row)
{
	write_name(out, rows, &row->name);
	out_printf(out, ", count %" PRIu64 ", columns of ", row->count);
	out_duration_text(out, m->heat.step);
}

static unsigned level_of(const struct heat *h, uint64_t n)
{
	return heat_level(h, n) * (LEVELS - 1) + 0.5;
}

static void put_level(struct out *out, unsigned level, const struct terminal *terminal)
{
	terminal_paint(terminal, out, levels[level].sgr);
	out_char(out, levels[level].character);
	terminal_plain(terminal, out);
}

/* cells: of all columns of the row */
static void put_row(struct out *out, const struct heat *h, uint32_t row, bool has_label, const uint64_t *cells,
		    const struct terminal *terminal)
{
	struct out line = {.fd = OUT_MEMORY};
	uint64_t columns = h->last - h->first + 1;

	while (columns && !cells[columns - 1])
		columns--;
	if (has_label)
		out_duration(&line, heat_life(row));
	else
		out_printf(&line, "%*s", OUT_DURATION, "");
	out_text(&line, " |");
	for (uint64_t x = 0; x < columns; x++)
		if (cells[x])
			put_level(&line, level_of(h, cells[x]), terminal);
		else
			out_char(&line, ' ');
	/* a life of days is wider than its column */
	out_clipped(out, out_contents(&line), terminal->width);
	out_char(out, '\n');
	out_close(&line);
}

/* A time as in the lines of intervals, with fewer digits. */
static void put_time(struct out *out, const struct heat *h, uint64_t x)
{
	const uint64_t second = 1000000000;
	uint64_t ns = heat_time(h, x);

	out_printf(out, "%" PRIu64 ".%06" PRIu64 " s", ns / second, ns % second / 1000);
}

/* A line, and below it the times at which the first column starts and the last one ends. */
static void put_axis(struct out *out, const struct heat *h)
{
	uint64_t columns = h->last - h->first + 1;
	struct out from = {.fd = OUT_MEMORY}, to = {.fd = OUT_MEMORY};

	out_printf(out, "%*s+", LABEL - 1, "");
	for (uint64_t i = 0; i < columns; i++)
		out_char(out, '-');
	put_time(&from, h, h->first);
	put_time(&to, h, h->last + 1);
	out_printf(out, "\n%*s", LABEL, "");
	out_slice(out, out_contents(&from));
	for (uint64_t n = from.len + to.len; n + 1 < columns; n++)
		out_char(out, ' ');
	out_char(out, ' ');
	out_slice(out, out_contents(&to));
	out_char(out, '\n');
	out_close(&from);
	out_close(&to);
}

static void put_map(struct out *out, const struct heat *h, uint32_t map, const struct terminal *terminal)
{
	uint64_t columns = h->last - h->first + 1, *grid;
	uint32_t low, high;
	size_t n;
	const struct heat_cell *cells = heat_cells(h, map, &n);

	heat_rows(cells, n, &low, &high);
	grid = mem_array((high - low + 1) * columns, sizeof(*grid));
	for (size_t i = 0; i < n; i++)
		grid[(cells[i].row - low) * columns + (cells[i].x - h->first)] = cells[i].n;
	for (uint32_t row = high + 1; row-- > low;)
		put_row(out, h, row, row == low || row % 2 == 0, &grid[(row - low) * columns], terminal);
	put_axis(out, h);
	free(grid);
}

/* The lowest count of each level. */
static void put_legend(struct out *out, const struct heat *h, const struct terminal *terminal)
{
	unsigned before = LEVELS;

	out_printf(out, "%*s", LABEL, "count");
	for (uint64_t n = 1; n && n <= h->most; n *= 2) {
		unsigned level = level_of(h, n);

		if (level == before)
			continue;
		before = level;
		out_text(out, "  ");
		put_level(out, level, terminal);
		out_printf(out, " %" PRIu64, n);
	}
	out_char(out, '\n');
}

void heatmap_print(struct out *out, const struct heatmap *m, const struct rows *rows, const struct terminal *terminal)
{
	const void **all = rows_sorted(rows, m->all, m->n, sizeof(*m->all));
	struct out title = {.fd = OUT_MEMORY};

	for (size_t i = 0; i < m->n; i++) {
		const struct heatmap_row *row = all[i];

		title.len = 0;
		write_title(&title, m, rows, row);
		terminal_paint(terminal, out, TERMINAL_BOLD);
		out_clipped(out, out_contents(&title), terminal->width);
		terminal_plain(terminal, out);
		out_char(out, '\n');
		put_map(out, &m->heat, row - m->all, terminal);
		out_char(out, '\n');
	}
	if (m->n)
		put_legend(out, &m->heat, terminal);
	out_close(&title);
	free(all);
}

/* Shows how dark cells with some counts are. */
static void draw_legend(struct out *out, const struct heat *h, unsigned y)
{
	unsigned x = LEFT;

	for (uint64_t n = 1; n <= h->most && x < LEFT + WIDE; n *= 4, x += 60) {
		out_printf(out,
			   "<rect class=\"heat\" x=\"%u\" y=\"%u\" width=\"11\" height=\"11\" fill-opacity=\"%.2f\"/>"
			   "<text x=\"%u\" y=\"%u\">%" PRIu64 "</text>\n",
			   x, y, heat_opacity(h, n), x + 15, y + 10, n);
	}
}

static const char style[] = ".paper{fill:#fff}.axis{stroke:#d1d9e0}.heat{fill:#0969da}.n{text-anchor:end}"
			    "text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#1f2328}";

void heatmap_print_svg(struct out *out, const struct heatmap *m, const struct rows *rows)
{
	const void **all = rows_sorted(rows, m->all, m->n, sizeof(*m->all));
	struct out maps = {.fd = OUT_MEMORY}, title = {.fd = OUT_MEMORY};
	unsigned y = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct heatmap_row *row = all[i];

		title.len = 0;
		write_title(&title, m, rows, row);
		out_printf(&maps, "<text x=\"%d\" y=\"%u\">", LEFT, y + GAP - 8);
		out_xml(&maps, out_contents(&title));
		out_text(&maps, "</text>\n");
		y += GAP + heat_draw(&maps, &m->heat, row - m->all, LEFT, y + GAP, WIDE);
	}
	draw_legend(&maps, &m->heat, y + 12);
	y += GAP;
	out_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n"
		   "<style>%s</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		   LEFT + WIDE + 8, y, LEFT + WIDE + 8, y, style);
	out_slice(out, out_contents(&maps));
	out_text(out, "</svg>\n");
	out_close(&maps);
	out_close(&title);
	free(all);
}

void heatmap_print_json(struct out *out, const struct heatmap *m, const struct rows *rows)
{
	const void **all = rows_sorted(rows, m->all, m->n, sizeof(*m->all));

	for (size_t i = 0; i < m->n; i++) {
		const struct heatmap_row *row = all[i];
		size_t n;
		const struct heat_cell *cells = heat_cells(&m->heat, row - m->all, &n);

		for (size_t cell = 0; cell < n; cell++) {
			const struct heat_cell *c = &cells[cell];

			out_char(out, '{');
			rows_write_type(out, rows, row->name.group, row->name.type);
			out_text(out, ",\"begin\":");
			out_us(out, heat_time(&m->heat, c->x));
			out_text(out, ",\"end\":");
			out_us(out, heat_time(&m->heat, c->x + 1));
			out_text(out, ",\"life\":{\"from\":");
			out_us(out, heat_life(c->row));
			out_text(out, ",\"below\":");
			out_us(out, heat_life(c->row + 1));
			out_printf(out, "},\"count\":%" PRIu64 "}\n", c->n);
		}
	}
	free(all);
}

void heatmap_free(struct heatmap *m)
{
	map_free(&m->map);
	free(m->all);
	heat_free(&m->heat);
}
