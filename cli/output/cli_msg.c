// SPDX-License-Identifier: Apache-2.0
// Messages of the command line on standard error.

#include "output/cli_msg.h"

#include "lightnet/ln_hash.h"
#include "output/cli_color.h"
#include "output/cli_print.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Prints the prefix, the label in its style, and the text as one line.
static void print_line(const char *prefix, cli_style style, const char *label, const char *fmt,
                       va_list ap)
{
    cli_whole whole;
    FILE *const line = cli_whole_begin(&whole, stderr);
    cli_fprint(line, "%s%s%s:%s ", prefix, cli_color(stderr, style), label, cli_color_end(stderr));
    cli_vfprint(line, fmt, ap);
    cli_fprint(line, "\n");
    cli_whole_end(&whole);
}

static void print_message(const char *what, const char *fmt, va_list ap)
{
    fflush(stdout);
    print_line("lightnet: ", CLI_RED, what, fmt, ap);
}

int cli_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_message("error", fmt, ap);
    va_end(ap);
    return CLI_FAILED;
}

int cli_fail_memory(void)
{
    return cli_fail("out of memory");
}

int cli_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_message("error", fmt, ap);
    va_end(ap);
    return CLI_WRONG_USAGE;
}

// The first texts of cli_msg_print, which any thread may call. Bounded, since each file may have a
// message.
enum { MAX_TEXTS = 1000 };
static ln_hash *printed;
static int n_printed;
static pthread_mutex_t printed_lock = PTHREAD_MUTEX_INITIALIZER;

// Without memory, a message may be repeated.
static int is_new(const char *text)
{
    if (!printed)
        printed = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    char *key = printed && n_printed < MAX_TEXTS ? ln_strdup(text) : NULL;
    const int added = key ? ln_hash_add(printed, key, NULL) : -1;
    if (added <= 0)
        ln_free(key);
    n_printed += added > 0;
    return added != 0;
}

void cli_msg_print(const char *what, const char *text)
{
    const cli_style style = !strcmp(what, "warning") ? CLI_YELLOW : CLI_PLAIN;
    pthread_mutex_lock(&printed_lock);
    if (is_new(text))
        cli_fprint(stderr, "%s%s:%s %s\n", cli_color(stderr, style), what,
                   style ? cli_color_end(stderr) : "", text);
    pthread_mutex_unlock(&printed_lock);
}

void cli_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line("", CLI_YELLOW, "warning", fmt, ap);
    va_end(ap);
}

int cli_flush(void)
{
    errno = 0;
    if (!fflush(stdout) && !ferror(stdout))
        return CLI_OK;
    return errno ? cli_fail("standard output: cannot write: %s", strerror(errno))
                 : cli_fail("standard output: cannot write");
}
