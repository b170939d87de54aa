/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inputs KIND N
 *
 * Prints N items of a kind of input that was chosen to be expensive: many objects that stay, many names for one thing,
 * long lists, deep nesting. The table at the end has the kinds. For tests/growth.bats.
 */
#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CREATED = -1 }; /* the age of an object in its first line */

static int n, lcore;

/* Prints JSON, which has ' here where it has ". */
__attribute__((format(printf, 1, 2))) static void json(const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *c = text; (c = strchr(c, '\''));)
		*c = '"';
	fputs(text, stdout);
}

/* Formats a string, which is valid until the eighth call from then on. */
__attribute__((format(printf, 1, 2))) static const char *text(const char *format, ...)
{
	static char texts[8][128];
	static int next;
	char *made = texts[next++ % 8];
	va_list args;

	va_start(args, format);
	vsnprintf(made, sizeof(texts[0]), format, args);
	va_end(args);
	return made;
}

static void repeat(const char *what, int times)
{
	while (times-- > 0)
		fputs(what, stdout);
}

/* Prints a trace line up to its arguments; MORE are members after the object. */
static void head(int tsc, const char *tpoint, const char *id, int age, int address, const char *more)
{
	const char *us = age == CREATED ? "" : text("'us':%d.000,", age);

	json("{'tsc':%d,'us':%d.000,'lcore':%d,'tpoint':'%s','object':{'id':'%s',%s'value':'0x%x'}%s,'args':{", tsc,
	     tsc, lcore, tpoint, id, us, address, more);
}

static void line(int tsc, const char *tpoint, const char *id, int age, int address, const char *more, const char *args)
{
	head(tsc, tpoint, id, age, address, more);
	json("%s}}\n", args);
}

/* Prints a line in which an object appears. */
static void created(int tsc, const char *id, int address, const char *more, const char *args)
{
	line(tsc, "X", id, CREATED, address, more, args);
}

static void probe(const char *name, int tsc, int qpair, const char *more)
{
	printf("nvmf_%s_qpair: tsc=%x, qpair=%x, %s\n", name, tsc, qpair, more);
}

static void connect_qpair(int tsc, int qpair, const char *hostnqn)
{
	printf("nvmf_ctrlr_add_qpair: tsc=%x, qpair=%x, qid=1, subnqn='s', hostnqn='%s'\n", tsc, qpair, hostnqn);
}

static void owner_line(int tsc, int id, const char *poller, const char *description)
{
	printf("owner: tsc=%x, id=%x, poller='%s', description='%s'\n", tsc, id, poller, description);
}

/* Prints that a reactor was held until TSC. */
static void reactor(int tsc, const char *tpoint, int duration)
{
	json("{'tsc':%d,'us':%d.000,'lcore':1,'tpoint':'%s','args':{'comm':'reactor_0','pid':1,'begin':%d,'duration':%"
	     "d.000,'by':'x'}}\n",
	     tsc, tsc, tpoint, tsc > duration ? tsc - duration : 0, duration);
}

static void block(int tsc, int sector)
{
	json("{'tsc':%d,'us':%d.000,'lcore':1,'tpoint':'BLOCK_IO','args':{'type':'R','sector':%d,'bytes':4096,'latency'"
	     ":1.000}}\n",
	     tsc, tsc, sector);
}

/* What JSON-RPC answers. */

static void qpairs(int begin, const char *peer)
{
	json("{'method':'nvmf_subsystem_get_qpairs','begin':%d,'end':%d,'params':{'nqn':'s'},'result':[", begin, begin);
	for (int i = 0; i < n; i++)
		json("%s{'cntlid':%d,'qid':1%s}", i ? "," : "", i, peer);
	json("]}\n");
}

/* Owners, and connections that are all of one address. */
static void answers(void)
{
	for (int i = 0; i < n; i++)
		json("{'id':%d,'poller':'t','tsc':%d,'description':'10.0.0.1:1 s'}\n", i % 60000, i);
	qpairs(n, ",'hostnqn':'h','peer_address':{'trtype':'TCP','traddr':'10.0.0.1','trsvcid':'1'}");
}

/* The names of hosts are looked for in each of the answers that follow. */
static void controllers(void)
{
	qpairs(1, "");
	for (int i = 0; i < n; i++)
		json("{'method':'nvmf_subsystem_get_controllers','params':{'nqn':'s'},'result':[]}\n");
}

/* Probe lines. */

static void adds(void)
{
	for (int i = 0; i < n; i++)
		probe("poll_group_add", i + 1, i, "thread=1");
}

static void adds_here(void)
{
	for (int i = 0; i < n; i++)
		probe("poll_group_add", i + 1, 7, "thread=1");
}

static void names_here(void)
{
	for (int i = 0; i < n; i++)
		connect_qpair(i + 1, 7, text("%d", i));
}

static void owned(void)
{
	for (int i = 0; i < n; i++) {
		owner_line(i / 100, i % 500, text("t%d", i % 500), "a:1 s");
		probe("poll_group_add", i / 100, i % 900, text("thread=%d", i % 300));
		connect_qpair(1 + i / 100, i % 900, "h");
	}
}

static void reverse(void)
{
	for (int i = n; i; i--) {
		probe("poll_group_add", i, i % 9, "thread=1");
		probe("poll_group_remove", i, i % 7, "thread=1");
	}
}

static void owner_lines(void)
{
	for (int i = 0; i < n; i++)
		owner_line(i + 1, i % 16128 + 256, "t", "10.0.0.1:1 s 10.0.0.2:1 qid:7");
	for (int i = 0; i < n; i++) {
		probe("poll_group_add", n + i + 1, i, text("thread=%x", i));
		connect_qpair(n + i + 2, i, "h");
	}
}

static void descriptions(void)
{
	for (int i = 0; i < n; i++)
		owner_line(1, 256, "t", text("%d", i));
	puts("owner: tsc=x");
}

static void fields(void)
{
	fputs("nvmf_poll_group_add_qpair: tsc=1", stdout);
	for (int i = 0; i < n; i++)
		printf(", a%d=1", i);
	puts("");
}

/* Lifetime lines. */

static void alive(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=1, ptr=0x10, name=%d\n", i);
}

static void nested(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=%d, end=%d, ptr=0x10, name=%d\n", i + 1, 9 * n - i, i);
}

static void replaced(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=%d, owner=t%d, ptr=0x%x\n", 1000 - i % 1000, i, 16 + i % 2);
}

static void backwards(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=%d, ptr=0x10, name=%d\n", n - i, i);
}

static void kinds(void)
{
	for (int i = 0; i < n; i++)
		printf("q%d: begin=1, ptr=0x10, name=1\n", i);
}

static void by_owner(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=%d, owner=t%d, ptr=0x%x\n", i + 1, i % 7, i % 5);
}

static void hosts(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=1, ptr=0x%x, qid=1, subnqn='a:%d', hostnqn='a:b:c:%d'\n", i % 999, i, i);
}

static void connections(void)
{
	for (int i = 0; i < n; i++)
		printf("qpair: begin=%d, ptr=0x10, qid=1, hostnqn='a:b'\n", i + 1);
}

static void parts(void)
{
	fputs("qpair: begin=1, ptr=0x10, hostnqn='", stdout);
	repeat(": ", n);
	puts("'");
}

/* Trace lines. */

static void objects(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("r%d", i), i, "", "'qpair':'0x10'");
}

static void objects_here(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("r%d", i), 7, "", "'qpair':'0x10'");
}

static void late(void)
{
	for (int i = 0; i < n; i++)
		created(9 * n - i, "n/a", i, "", "'qpair':'0x10'");
}

static void states(void)
{
	for (int i = 0; i < n; i++)
		line(i, text("T%d", i), "r0", i ? i : CREATED, 7, "", "");
}

static void types(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("\\u%04x%d", 0x4e00 + i % 20000, i), i, "", "");
}

static void held(void)
{
	for (int i = 0; i < n; i++)
		line(i, "BDEV_IO_START", text("i%d", i), CREATED, i, "",
		     text("'type':1,'offset':8,'len':%d", i % 2 ? 8 : i));
	for (int i = 0; i < n; i++) {
		reactor(n + i, "OFF_CPU", 2 * i);
		reactor(n + i, "IRQ", i);
		block(n + i, 8);
	}
}

static void held_ended(void)
{
	for (int i = 0; i < n; i++) {
		line(4 * i, "BDEV_IO_START", text("i%d", i), CREATED, i, "", text("'type':1,'offset':%d,'len':8", i));
		reactor(4 * i + 1, "OFF_CPU", 3);
		block(4 * i + 2, i);
		line(4 * i + 3, "BDEV_IO_DONE", text("i%d", i), 3, i, "", "");
	}
}

/* A few objects during all times of a reactor, each of which another process had. */
static void holders(void)
{
	for (int i = 0; i < 16; i++)
		line(i, "TCP_REQ_NEW", text("r%d", i), CREATED, i, "", "");
	for (int i = 16; i < n; i++)
		json("{'tsc':%d,'us':%d.000,'lcore':1,'tpoint':'OFF_CPU','args':{'comm':'reactor_0','pid':1,'begin':%d,"
		     "'duration':1.000,'by':'p%d'}}\n",
		     i, i, i - 1, i % (n / 16));
	for (int i = 0; i < 16; i++)
		line(n + i, "TCP_REQ_COMPLETED", text("r%d", i), n, i, "", "");
}

/* Slices that all begin at the same time, in the reverse order of their ends. */
static void falling(void)
{
	for (int i = 0; i < n; i++)
		reactor(n - i, "OFF_CPU", n - i);
}

/* Entries whose arguments are none of the many of the first one. */
static void absent(void)
{
	json("{'tsc':1,'us':0.000,'lcore':0,'tpoint':'A','object':{'id':'r0','value':'0x7'},'args':{'a':0");
	for (int i = 0; i < n / 2; i++)
		json(",'a%d':0", i);
	json("}}\n");
	for (int i = 1; i < n / 8; i++)
		line(i, "B", "r0", i, 7, "", "'u':1,'v':2,'w':3,'x':4,'y':5,'z':6");
}

static void buffers(void)
{
	static const char *const begin[] = {"TCP_REQ_NEW", "TCP_REQ_NEED_BUFFER", "TCP_REQ_EXECUTING"};

	for (int i = 0; i < n; i++)
		for (int s = 0; s < 3; s++)
			line(3 * i + s, begin[s], text("r%d", i), s ? s : CREATED, i,
			     text(",'poller':'t%d','owner':'o'", i), "");
	for (int i = 0; i < n; i++)
		line(3 * n + i, "TCP_REQ_COMPLETED", text("r%d", i), 3 * n - 2 * i, i,
		     text(",'poller':'t%d','owner':'o'", i), "");
}

static void groups(void)
{
	for (int i = 0; i < n; i++) {
		created(2 * i, text("r%d", i), i, "", text("'g':%d", i));
		line(2 * i + 1, "Y", text("r%d", i), 1, i, "", text("'g':%d", i));
	}
}

static void owners(void)
{
	for (int i = 0; i < n; i++) {
		lcore = i % 9000;
		created(i, text("r%d", i), i, text(",'poller':'t%d','owner':'o%d','thread':'%d'", i, i, i), "");
	}
}

/* Connections of a few hosts' NQNs, some of the same owner. */
static void reconnects(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("r%d", i), i, text(",'poller':'t1','owner':'1.2.3.4:%d s'", i),
			text("'qpair':{'owner':'t%d','ptr':'0x%x','thread':%d,'qid':1,'subnqn':'s:%d','hostnqn':'a:b:%"
			     "d:x'}",
			     i % 9 ? i : 1, i, i, i % 99, i % 999));
}

static void related(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("r%d", i), i, text(",'related':'r%d'", i - 1), text("'p':'0x%x'", i ? i - 1 : 0));
}

/* All objects are below the first one. */
static void below(void)
{
	for (int i = 0; i < n; i++)
		created(i, text("r%d", i), i, text(",'related':'r%d'", i / 64), text("'p':'0x%x'", i / 64));
}

static void arguments(void)
{
	head(5, "X", "r1", CREATED, 7, "");
	repeat("\"qpair\":\"0x10\",", n);
	json("'a':1}}\n");
}

static void members(void)
{
	head(5, "X", "r1", CREATED, 7, "");
	json("}");
	for (int i = 0; i < n; i++)
		json(",'m%d':1", i);
	json("}\n");
}

static void escapes(void)
{
	head(5, "X", "r1", CREATED, 7, "");
	json("'a':'");
	repeat("\\u001b", n);
	json("'}}\n");
}

static void deep(void)
{
	head(5, "X", "r1", CREATED, 7, "");
	json("'a':");
	repeat("[", n);
	repeat("]", n);
	json("}}\n");
}

/* Encoded lines. */

static void rows(void)
{
	for (int i = 0; i < n; i++)
		json("{'object':'r%d','life':true}\t{'unit':'ns','count':1,'sum':7,'max':7,'counts':[[7,1]]}\n", i);
}

static void row(void)
{
	for (int i = 0; i < n; i++)
		json("{'object':'r','life':true}\t{'unit':'ns','count':1,'sum':7,'max':7,'counts':[[7,1]]}\n");
}

/* The JSON of spdk_trace. */

static void tpoints(void)
{
	json("{'tsc_rate':9,'tpoints':[");
	for (int i = 0; i < n; i++)
		json("%s{'name':'A','id':%d}", i ? "," : "", i % 65536);
	json("],'entries':[]}\n");
}

static void entries(void)
{
	json("{'tsc_rate':9,'tpoints':[{'name':'A','id':1}],'entries':[");
	for (int i = 0; i < n; i++)
		json("%s{'lcore':%d,'tpoint':%d,'tsc':%d,'owner':'o%d'}", i ? "," : "", i % 8000, i % 60000, i, i);
	json("]}\n");
}

static void string(void)
{
	json("{'tsc_rate':9,'tpoints':[{'name':'A','id':1,'args':[{'name':'s','type':2,'size':8}]}],"
	     "'entries':[{'lcore':0,'tpoint':1,'tsc':1,'args':['");
	repeat("7", n);
	json("']}]}\n");
}

static void strings(void)
{
	json("{'tsc_rate':9,'tpoints':[{'name':'A','id':1,'args':[{'name':'s','type':2,'size':255}]}],'entries':[");
	for (int i = 0; i * 256 < n; i++) {
		json("%s{'lcore':0,'tpoint':1,'tsc':1,'args':['", i ? "," : "");
		repeat("\\u0007", 255);
		json("']}");
	}
	json("]}\n");
}

static void owner(void)
{
	json("{'tsc_rate':9,'tpoints':[{'name':'A','id':1}],'entries':[{'lcore':0,'tpoint':1,'tsc':1,'owner':'");
	repeat("\\u0007", n);
	json("'}]}\n");
}

static void names(void)
{
	json("{'tsc_rate':9,'tpoints':[{'name':'");
	repeat("n", n);
	json("','id':1}],'entries':[{'lcore':0,'tpoint':1,'tsc':1,'poller':'");
	repeat("p", n);
	json("'}]}\n");
}

/* For mktrace: a trace file with many owners on many lcores. */
static void ring(void)
{
	json("{'tpoint':'TCP_QP_X','id':320,'owner_type':'t'}\n");
	for (int i = 1; 4 * i < n; i++)
		json("{'id':%d,'poller':'t%d','tsc':1,'description':'x'}\n", i, i);
	for (int i = 1; i < n; i++)
		json("{'tsc':%d,'lcore':%d,'tpoint':'TCP_QP_X','poller':'t%d'}\n", 9 + i, i % (n / 64 + 1),
		     i % (n / 4));
}

/* For mktrace: after many entries, early and late ones in turn: each is a run of its own, with a gap before it. */
static void interleaved(void)
{
	json("{'tpoint':'TCP_QP_X','id':320,'owner_type':'t'}\n");
	for (int i = 1; i < n; i++)
		json("{'tsc':%d,'lcore':0,'tpoint':'TCP_QP_X','poller':'t1'}\n",
		     i < n / 2 || i % 2 == 0 ? 10 * n + i : i);
}

/* For as: an ELF file whose notes describe as many sites of one probe, half of them with another type of argument. */
static void notes(void)
{
	printf("f: nop; nop\n"
	       ".section .note.stapsdt,\"\",\"note\"\n");
	for (int half = 0; half < 2; half++)
		printf(".rept %d\n"
		       ".balign 4\n"
		       ".4byte 2f-1f,4f-3f,3\n"
		       "1: .asciz \"stapsdt\"\n"
		       "2: .balign 4\n"
		       "3: .8byte f+%d,0,0\n"
		       ".asciz \"p\"\n"
		       ".asciz \"q\"\n"
		       ".asciz \"%d@%%rax\"\n"
		       "4: .balign 4\n"
		       ".endr\n",
		       n / 2, half, 4 << half);
}

/* A span line of a read, with a wait in which its lcore wrote for others. */
static void span(int i, int host, int bdev, int lcore_number, int blocks, int ns)
{
	json("{'tsc':%d,'us':%d.000,'life':%d.%03d,'lcore':%d,'id':'r%d','connection':'h%d/1','io':{'type':'read',"
	     "'blocks':%d,'lba':%d,'bdev':'b%d','qd':%d},'states':[['TCP_REQ_NEW',1.000]],",
	     i, i, ns / 1000, ns % 1000, lcore_number, i, host, blocks, i * 99, bdev, i % 999);
	json("'layers':{'network':%d.%03d},'waits':[{'us':%d.%03d,'at':0.000,'state':'A','layer':'network','lcore':%d,"
	     "'entries':9,'silent':%d.000,'of':{'h%d/1':[9,1.000],'h%d/1':[9,0.500]},'queued':1}]}\n",
	     ns / 1000, ns % 1000, ns / 1000, ns % 1000, lcore_number, i % 7, host + 1, host + 2);
}

/* No two have anything in common. */
static void spans(void)
{
	for (int i = 0; i < n; i++)
		span(i, i, i, i, i, i % 1000 + 1);
}

/* All are of one lcore and one class, and a quarter is slow. */
static void spans_here(void)
{
	for (int i = 0; i < n; i++)
		span(i, i % 4, i % 4, 0, 8, i % 4 ? 9000 : 900000);
}

/* clang-format off */
#define KIND(name) {#name, name}
/* clang-format on */
static const struct {
	const char *name;
	void (*print)(void);
} table[] = {
	KIND(adds),         KIND(adds_here),  KIND(names_here), KIND(owned),       KIND(reverse),  KIND(owner_lines),
	KIND(descriptions), KIND(fields),     KIND(alive),      KIND(nested),      KIND(replaced), KIND(backwards),
	KIND(kinds),        KIND(by_owner),   KIND(hosts),      KIND(connections), KIND(parts),    KIND(objects),
	KIND(objects_here), KIND(late),       KIND(states),     KIND(types),       KIND(held),     KIND(held_ended),
	KIND(buffers),      KIND(falling),    KIND(absent),     KIND(groups),      KIND(owners),   KIND(reconnects),
	KIND(related),      KIND(below),      KIND(arguments),  KIND(members),     KIND(escapes),  KIND(deep),
	KIND(rows),         KIND(row),        KIND(tpoints),    KIND(entries),     KIND(string),   KIND(strings),
	KIND(owner),        KIND(names),      KIND(ring),       KIND(interleaved), KIND(holders),  KIND(notes),
	KIND(spans),        KIND(spans_here), KIND(answers),    KIND(controllers)};
#undef KIND

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: inputs KIND N");
	n = atoi(argv[2]);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(argv[1], table[i].name) != 0)
			continue;
		table[i].print();
		if (fclose(stdout) != 0)
			err(EXIT_FAILURE, "<stdout>");
		return 0;
	}
	errx(2, "there is no kind '%s'", argv[1]);
}
