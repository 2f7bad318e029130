// SPDX-License-Identifier: Apache-2.0
// The table of options.

#include "srv_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_exec.h"

static int wrong_usage(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("lightnet serve: error: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs("; see lightnet serve --help\n", stderr);
    va_end(args);
    return -1;
}

// An option of the command line, and where its value is in srv_options.
typedef struct option_row {
    const char *name;
    const char *value; // as the help calls it; NULL: the option has none
    const char *help;
    // Reads `text` into `to`. 0; 1: it was all that was asked for; -1 after wrong_usage.
    int (*read)(const struct option_row *row, const char *text, void *to);
    size_t at;       // of `to`
    double min, max; // of numbers
    double unit;     // nanoseconds, of durations
    int letter;      // that abbreviates it; 0: none
} option_row;

// Values

static int read_text(const option_row *row, const char *text, void *to)
{
    (void)row;
    *(const char **)to = text;
    return 0;
}

static int read_flag(const option_row *row, const char *text, void *to)
{
    (void)row;
    (void)text;
    *(int *)to = 1;
    return 0;
}

static int read_number(const option_row *row, const char *text, void *to)
{
    char *end;
    errno = 0;
    const double number = strtod(text, &end);
    if (end == text || *end || errno || !(number >= row->min && number <= row->max))
        return wrong_usage("--%s is '%s'; expected a number from %g to %g", row->name, text,
                           row->min, row->max);
    *(double *)to = number;
    return 0;
}

static int read_integer(const option_row *row, const char *text, void *to)
{
    double number = 0;
    if (read_number(row, text, &number))
        return -1;
    *(int *)to = (int)number;
    return (int)number == number
               ? 0
               : wrong_usage("--%s is '%s'; expected an integer", row->name, text);
}

static int read_duration(const option_row *row, const char *text, void *to)
{
    double number = 0;
    if (read_number(row, text, &number))
        return -1;
    *(uint64_t *)to = (uint64_t)(number * row->unit);
    return 0;
}

// Bytes: "64M", "1G", "4096".
static int read_size(const option_row *row, const char *text, void *to)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long value =
        isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : (end = (char *)text, 0);
    const char *const unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text || errno || (*end && (!unit || end[1])) || value > (SIZE_MAX >> 1) >> shift ||
        (double)(value << shift) < row->min)
        return wrong_usage("--%s is '%s'; expected at least %.0f bytes, such as 64M", row->name,
                           text, row->min);
    *(size_t *)to = (size_t)value << shift;
    return 0;
}

static int read_log(const option_row *row, const char *text, void *to)
{
    static const char *const names[] = {"text", "json", "none"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *(srv_log_format *)to = (srv_log_format)i;
            return 0;
        }
    return wrong_usage("--%s is '%s'; expected text, json or none", row->name, text);
}

// Options of models

static int set_opening(ln_options *opening, const char *name, const char *key, const char *value)
{
    return ln_options_set(opening, key, value) ? wrong_usage("--%s: %s", name, ln_model_error(NULL))
                                               : 0;
}

static int read_threads(const option_row *row, const char *text, void *to)
{
    int threads = 0;
    return read_integer(row, text, &threads)
               ? -1
               : set_opening(*(ln_options **)to, row->name, "threads", text);
}

static int read_opening(const option_row *row, const char *text, void *to)
{
    const char *const value = strchr(text, '=');
    char *const key = value ? strndup(text, (size_t)(value - text)) : NULL;
    if (!key)
        return wrong_usage("--%s is '%s'; expected KEY=VALUE", row->name, text);
    const int status = set_opening(*(ln_options **)to, row->name, key, value + 1);
    free(key);
    return status;
}

// What is printed

static int print_help(const option_row *row, const char *text, void *to);

static int print_version(const option_row *row, const char *text, void *to)
{
    (void)row;
    (void)text;
    (void)to;
    printf("lightnet %s\n", ln_version());
    return 1;
}

// The table

enum { MAX_SECONDS = 86400 };

#define AT(field) offsetof(srv_options, field)

static const option_row rows[] = {
    {"host", "ADDRESS",
     "listen to this address, or all of a name (default 127.0.0.1: this machine alone)", read_text,
     AT(http.host)},
    {"port", "N", "the port (default 8080; 0: any that is free)", read_integer, AT(http.port),
     .max = 65535},
    {"grpc-port", "N", "serve gRPC, too, at this port (default: no gRPC; 0: any that is free)",
     read_integer, AT(grpc_port), .max = 65535},
    {"instances", "N", "runs at the same time, for each model (default: a run for each core)",
     read_integer, AT(model.instances), .min = 1, .max = 1024},
    {"threads", "N", "threads of each run (default 1)", read_threads, AT(opening), .min = 1,
     .max = 1024},
    {"max-batch", "N",
     "run up to N rows of waiting requests together (1: never; default: up to 8, as long as more "
     "rows raise the throughput)",
     read_integer, AT(model.max_batch), .min = 1, .max = 65536},
    {"batch-wait", "MS", "wait up to MS milliseconds for a batch to be full (default 0)",
     read_duration, AT(model.wait_ns), .max = 1e6, .unit = 1e6},
    {"max-queue", "N", "requests that wait for a model; more are rejected (default 256)",
     read_integer, AT(model.max_queue), .min = 1, .max = 1000000},
    {"timeout", "S", "seconds after which a request fails (default 0: never)", read_duration,
     AT(model.timeout_ns), .max = 1e6, .unit = 1e9},
    {"max-request", "SIZE", "bytes of a request, such as 64M (default 64M)", read_size,
     AT(max_request), .min = 1},
    {"max-memory", "SIZE", "bytes of all requests and answers together (default 1G)", read_size,
     AT(http.max_memory), .min = 4096},
    {"max-connections", "N",
     "connections at the same time (default 1024), for HTTP at each address", read_integer,
     AT(http.max_connections), .min = 1, .max = 100000},
    {"idle-timeout", "S", "close connections that are idle for S seconds (default 60)",
     read_integer, AT(http.idle_s), .max = MAX_SECONDS},
    {"max-versions", "N", "load the newest N versions of each model (default 1)", read_integer,
     AT(max_versions), .min = 1, .max = 1000},
    {"poll", "S", "look for changed files every S seconds (default 5; 0: at SIGHUP)", read_number,
     AT(poll_s), .max = MAX_SECONDS},
    {"allow-control", NULL, "clients may load and unload models", read_flag, AT(allows_control)},
    {"drain-delay", "S",
     "at the end, be unready for S seconds, then refuse connections (default 0)", read_number,
     AT(drain_delay_s), .max = MAX_SECONDS},
    {"drain", "S", "at the end, wait up to S seconds for requests (default 30)", read_number,
     AT(drain_s), .max = MAX_SECONDS},
    {"token-file", "FILE", "requests need the token in FILE (Authorization: Bearer TOKEN)",
     read_text, AT(access.token)},
    {"tls-cert", "FILE", "certificate, PEM: serve HTTPS, and gRPC over TLS", read_text,
     AT(access.certificate)},
    {"tls-key", "FILE", "its key, PEM", read_text, AT(access.key)},
    {"tls-client-ca", "FILE", "clients need a certificate of this authority, PEM", read_text,
     AT(access.client_ca)},
    {"log", "FORMAT", "text (default), json or none, on standard error", read_log, AT(log_format)},
    {"log-requests", NULL, "log each request", read_flag, AT(logs_requests)},
    {"option", "KEY=VALUE", "an option of models, as target=cuda or precision=bf16", read_opening,
     AT(opening)},
    {"help", NULL, "print this help", print_help, .letter = 'h'},
    {"version", NULL, "print the version", print_version, .letter = 'v'},
};

enum { N_ROWS = sizeof(rows) / sizeof(*rows), FIRST = 256 }; // FIRST: above all letters

static const option_row *find_letter(int letter)
{
    const option_row *row = rows;
    while (row->letter != letter)
        row++;
    return row;
}

static int print_help(const option_row *row, const char *text, void *to)
{
    (void)row;
    (void)text;
    (void)to;
    fputs(
        "usage: lightnet serve [NAME=]MODEL|DIR... [OPTION...]\n"
        "serve models by the Open Inference Protocol (version 2) over HTTP and gRPC.\n"
        "\n"
        "DIR has files of models, or NAME/VERSION/model.onnx. A file's name is that of its model.\n"
        "NAME=PATH gives the model of a file or folder another name.\n"
        "\n",
        stdout);
    for (const option_row *r = rows; r < rows + N_ROWS; r++) {
        const int width = 19 - (int)strlen(r->name);
        printf(r->letter ? "  -%c, " : "      ", r->letter);
        printf("--%s %-*s %s\n", r->name, width, r->value ? r->value : "", r->help);
    }
    fputs(
        "\n"
        "Files of models, tokens and certificates that change are read again (--poll, SIGHUP).\n"
        "SIGTERM and SIGINT end the server: it is not ready any more, answers what it has, and "
        "exits.\n"
        "Examples:\n"
        "  lightnet serve models                             all models of a folder, at port 8080\n"
        "  lightnet serve digits=net.onnx --host :: --token-file token\n"
        "                                                    one model, for all who have the "
        "token\n"
        "  lightnet serve models --grpc-port 8081 --instances 1 --threads 4\n"
        "                                                    HTTP and gRPC; one run at a time\n"
        "\n"
        "Exit status: 0 after a signal, 1 it cannot start, 2 wrong usage.\n",
        stdout);
    return 1;
}

// All

static int read_all(srv_options *o, int argc, char **argv)
{
    struct option longs[N_ROWS + 1] = {{0}};
    int c, status = 0;
    for (int i = 0; i < N_ROWS; i++)
        longs[i] = (struct option){rows[i].name, rows[i].value ? required_argument : no_argument,
                                   NULL, FIRST + i};
    opterr = 0;
    while (!status && (c = getopt_long(argc, argv, ":hv", longs, NULL)) != -1) {
        if (c == ':')
            return wrong_usage("option '%s' needs a value", argv[optind - 1]);
        if (c == '?')
            return wrong_usage("unknown option '%s'", argv[optind - 1]);
        const option_row *const row = c >= FIRST ? &rows[c - FIRST] : find_letter(c);
        status = row->read(row, optarg, (char *)o + row->at);
    }
    return status;
}

static int check(const srv_options *o)
{
    if (!o->n_paths)
        return wrong_usage("no model; expected MODEL|DIR...");
    if (!o->access.certificate != !o->access.key)
        return wrong_usage("--tls-cert and --tls-key need each other");
    if (o->access.client_ca && !o->access.certificate)
        return wrong_usage("--tls-client-ca needs --tls-cert");
    return 0;
}

int srv_options_read(srv_options *o, int argc, char **argv)
{
    *o = (srv_options){
        .max_versions = 1,
        .model = {.instances = tl_cpu_count(), .max_queue = 256},
        .http = {.host = "127.0.0.1",
                 .port = 8080,
                 .max_connections = 1024,
                 .idle_s = 60,
                 .max_memory = (size_t)1 << 30},
        .grpc_port = -1,
        .opening = ln_options_create(),
        .max_request = (size_t)64 << 20,
        .poll_s = 5,
        .drain_s = 30,
    };
    if (!o->opening || ln_options_set(o->opening, "threads", "1"))
        return wrong_usage("no memory");
    const int status = read_all(o, argc, argv);
    o->paths = (const char *const *)argv + optind;
    o->n_paths = argc - optind;
    o->model.options = o->opening;
    return status ? status : check(o);
}

void srv_options_clear(srv_options *o)
{
    ln_options_free(o->opening);
}
