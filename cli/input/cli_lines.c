// SPDX-License-Identifier: Apache-2.0
// Lines of standard input as they arrive.
//
//     buffer   0 ..        begin ..     len
//              returned    not yet
//
// A poll before each read tells whether it would wait; a pipe to itself wakes it to stop.

#include "input/cli_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensorlight/tl_util.h"

enum { SIZE = 65536 /* of a line with its end, and of a read */ };

struct cli_lines {
    int fd;
    int stop[2]; // a pipe: readable once it is stopped
    size_t begin, len;
    int has_ended; // no more bytes follow
    char error[128];
    char buffer[SIZE + 1]; // and a NUL after the last line
};

cli_lines *cli_lines_open(int fd)
{
    cli_lines *l = calloc(1, sizeof(*l));
    if (!l || pipe(l->stop)) {
        free(l);
        return NULL;
    }
    for (int i = 0; i < 2; i++)
        (void)fcntl(l->stop[i], F_SETFD, FD_CLOEXEC);
    l->fd = fd;
    return l;
}

void cli_lines_close(cli_lines *l)
{
    if (!l)
        return;
    close(l->stop[0]);
    close(l->stop[1]);
    free(l);
}

void cli_lines_stop(cli_lines *l)
{
    // The first byte wakes; a full pipe has one.
    const ssize_t n = write(l->stop[1], "", 1);
    (void)n;
}

const char *cli_lines_error(const cli_lines *l)
{
    return *l->error ? l->error : NULL;
}

static void fail(cli_lines *l, const char *what, const char *why)
{
    snprintf(l->error, sizeof(l->error), "%s%s", what, why);
    l->has_ended = 1;
    l->begin = l->len = 0;
}

// The whole line at `begin`, or what follows the last one at the end. NULL: more bytes are needed.
static char *take_line(cli_lines *l)
{
    char *const line = l->buffer + l->begin;
    char *end = memchr(line, '\n', l->len - l->begin);
    if (!end && (!l->has_ended || l->begin == l->len))
        return NULL;
    if (!end)
        end = l->buffer + l->len;
    l->begin = (size_t)(end - l->buffer) + (end < l->buffer + l->len);
    if (memchr(line, '\0', (size_t)(end - line))) {
        fail(l, "the input is not text, expected a path in each line", "");
        return NULL;
    }
    *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    return line;
}

// Until a time on tl_clock(), for poll; 0: no time is left.
static int milliseconds_to(uint64_t deadline)
{
    const uint64_t now = tl_clock(), ms = deadline > now ? (deadline - now) / 1000000 + 1 : 0;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

// Whether a read does not wait: 1; 0: not within these milliseconds, -1 without a limit; -1: it was
// stopped.
static int poll_input(const cli_lines *l, int ms)
{
    struct pollfd fds[] = {{.fd = l->stop[0], .events = POLLIN}, {.fd = l->fd, .events = POLLIN}};
    int n;
    while ((n = poll(fds, 2, ms)) < 0 && errno == EINTR)
        ;
    return fds[0].revents || n < 0 ? -1 : n > 0;
}

// Reads what is there, once.
static void read_more(cli_lines *l)
{
    memmove(l->buffer, l->buffer + l->begin, l->len - l->begin);
    l->len -= l->begin;
    l->begin = 0;
    if (l->len == SIZE) {
        fail(l, "a line has 65536 bytes or more, expected a path in each line", "");
        return;
    }
    const ssize_t n = read(l->fd, l->buffer + l->len, SIZE - l->len);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        fail(l, "cannot read: ", strerror(errno));
    l->has_ended |= !n;
    l->len += n > 0 ? (size_t)n : 0;
}

cli_lines_found cli_lines_next(cli_lines *l, int may_wait, uint64_t ms, char **line)
{
    const uint64_t deadline = tl_clock() + ms * 1000000;
    for (;;) {
        while ((*line = take_line(l)))
            if (**line)
                return CLI_LINE;
        const int wait = !may_wait ? 0 : ms ? milliseconds_to(deadline) : -1;
        const int is_there = l->has_ended ? -1 : poll_input(l, wait);
        if (is_there < 0 || (!is_there && may_wait))
            return CLI_LINES_END;
        if (!is_there)
            return CLI_NO_LINE_YET;
        read_more(l);
    }
}
