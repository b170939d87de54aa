/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes calls of JSON-RPC for tests/plants: rpc SOCKET reads lines "METHOD [PARAMETERS]", the parameters as a JSON
 * object, makes one call after the other, and prints the results, one a line. It ends with 1 at the first that fails.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io.h"
#include "json.h"
#include "mem.h"

enum { REPLY_MAX = 8 << 20 };

static int connect_to(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(to.sun_path))
		errx(EXIT_FAILURE, "%s: longer than the path of a socket can be", path);
	strcpy(to.sun_path, path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		err(EXIT_FAILURE, "%s", path);
	return fd;
}

/* A reply has no mark at its end: it is complete when it is valid JSON. */
static struct slice read_reply(int fd, char *reply)
{
	struct json j;
	size_t n = 0;

	do {
		ssize_t got = n < REPLY_MAX ? read(fd, reply + n, REPLY_MAX - n) : 0;

		if (got <= 0)
			errx(EXIT_FAILURE, "the target has closed the connection");
		n += got;
		json_init(&j, reply, n);
	} while (!json_skip(&j) && j.cut_off);
	if (j.error)
		errx(EXIT_FAILURE, "not a JSON object: %.*s", (int)n, reply);
	return (struct slice){reply, n};
}

static void call(int fd, const char *method, const char *parameters, char *buffer)
{
	char *text = mem_printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"%s%s}", method,
				*parameters ? ",\"params\":" : "", parameters);
	struct slice reply, result;

	if (io_write(fd, text, strlen(text)) != 0)
		err(EXIT_FAILURE, "cannot send");
	free(text);
	reply = read_reply(fd, buffer);
	result = json_member(reply, slice_of("result"));
	if (!result.n)
		errx(EXIT_FAILURE, "%s %s: %.*s", method, parameters, (int)reply.n, reply.p);
	printf("%.*s\n", (int)result.n, result.p);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char *line = NULL, *buffer = mem_array(REPLY_MAX, 1);
	size_t size = 0;
	ssize_t n;
	int fd;

	if (argc != 2)
		errx(2, "usage: rpc SOCKET");
	fd = connect_to(argv[1]);
	while ((n = getline(&line, &size, stdin)) > 0) {
		char *parameters = line;

		line[strcspn(line, "\n")] = '\0';
		strsep(&parameters, " ");
		call(fd, line, parameters ? parameters : "", buffer);
	}
	free(line);
	free(buffer);
	close(fd);
	return 0;
}
