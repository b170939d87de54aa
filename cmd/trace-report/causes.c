/* SPDX-License-Identifier: BSD-3-Clause */
#include "causes.h"

#include "answer.h"
#include "answer_tables.h"
#include "measure.h"

/* Those with most time; a page has fewer. */
enum { HOSTS = 64 };

static const struct findings findings_with = {.least_ns = FLOOR_ROUND_TRIP_NS, .budget_ns = FLOOR_DEVICE_NS};

void causes_span(struct causes *c, const struct spanline *span, uint32_t host, bool wanted)
{
	if (requests_see(&c->requests, span))
		requests_add(&c->requests, span, (struct requests_role){.wanted = wanted, .group = host});
}

/* Names get longer until the end. */
static void name_groups(struct requests *r, const struct slice *hosts)
{
	for (struct request *q = r->all; q < r->all + r->n; q++)
		q->group = intern_add_below(&r->names, q->group == MAP_NONE ? (struct slice){} : hosts[q->group],
					    REQUESTS_NAMES);
}

/* Sets the findings to those of the host that loses most to a cause that is beyond doubt, if there is one. */
static void find_host(struct causes *c)
{
	for (size_t i = 0; i < c->hosts.num_groups; i++) {
		struct findings host = findings_with;

		findings_find(&host, &c->hosts, &c->hosts.groups[i]);
		if (host.n && tally_name(&c->hosts, host.group->name).n && findings_doubt(host.all) == DOUBT_NONE &&
		    (!c->findings.n || host.all->ns > c->findings.all->ns)) {
			struct findings other = c->findings;

			c->findings = host;
			host = other;
		}
		findings_free(&host);
	}
}

void causes_find(struct causes *c, const struct slice *hosts, uint64_t min_ns, uint64_t end,
		 const struct behind *behind)
{
	struct measure_options options = {.compare = {.min_ns = min_ns, .budget_ns = FLOOR_DEVICE_NS},
					  .max_groups = HOSTS};

	name_groups(&c->requests, hosts);
	c->all.names = c->hosts.names = &c->requests.names;
	measure_trace(&c->all, &c->requests, &options);
	options.group = true;
	measure_trace(&c->hosts, &c->requests, &options);
	c->findings = findings_with;
	findings_find(&c->findings, &c->all, c->all.groups);
	/* it may have few of all requests */
	if (!c->findings.n)
		find_host(c);
	inflight_find(&c->inflight, &c->requests, end);
	inflight_unseen(&c->inflight, behind);
}

bool causes_of_host(const struct causes *c, struct slice host, struct findings *findings)
{
	uint32_t name = intern_get(&c->requests.names, host), group = map_get(&c->hosts.map, name);

	*findings = findings_with;
	if (name == MAP_NONE || group == MAP_NONE)
		return false;
	findings_find(findings, &c->hosts, &c->hosts.groups[group]);
	return findings->n;
}

void causes_write_one(struct out *out, struct causes *c, uint64_t ns, const struct terminal *terminal)
{
	struct tally one = {.names = &c->requests.names};
	size_t i = 0;

	while (i < c->requests.n && c->requests.all[i].us != ns)
		i++;
	if (i == c->requests.n)
		return;
	if (!c->ledger.requests)
		ledger_start(&c->ledger, &c->requests);
	ledger_request(&c->ledger, &c->requests.all[i]);
	for (unsigned k = 0; k < c->ledger.n; k++)
		tally_add(&one, TALLY_LEDGER, &c->requests.all[i], &c->ledger.entries[k]);
	answer_tables_owed(out, &one, TALLY_LEDGER, terminal);
	tally_free(&one);
}

void causes_write(struct out *out, const struct causes *c)
{
	answer_json(out, &c->findings, &(struct answer_options){});
	for (size_t i = 0; i < c->hosts.num_groups; i++) {
		struct findings findings = findings_with;

		if (!tally_name(&c->hosts, c->hosts.groups[i].name).n)
			continue;
		findings_find(&findings, &c->hosts, &c->hosts.groups[i]);
		answer_json(out, &findings, &(struct answer_options){.group = "host"});
		findings_free(&findings);
	}
}

void causes_free(struct causes *c)
{
	findings_free(&c->findings);
	tally_free(&c->all);
	tally_free(&c->hosts);
	if (c->ledger.requests)
		ledger_free(&c->ledger);
	requests_free(&c->requests);
}
