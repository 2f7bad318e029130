// SPDX-License-Identifier: Apache-2.0
// The table of options, and how each is read.

#include "srv_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_exec.h"

static const char help[] =
    "usage: lightnet serve [NAME=]MODEL|DIR... [OPTION...]\n"
    "serve models by the Open Inference Protocol (version 2) over HTTP and gRPC.\n"
    "\n"
    "DIR has files of models, or NAME/VERSION/model.onnx. A file's name is that of its model.\n"
    "NAME=PATH gives the model of a file or folder another name.\n"
    "\n"
    "      --host ADDRESS         listen to this address, or all of a name (default 127.0.0.1: this"
    " machine alone)\n"
    "      --port N               the port (default 8080; 0: any that is free)\n"
    "      --grpc-port N          serve gRPC, too, at this port (default: no gRPC; 0: any that is "
    "free)\n"
    "      --instances N          runs at the same time, for each model (default: a run for each "
    "core)\n"
    "      --threads N            threads of each run (default 1)\n"
    "      --max-batch N          run up to N rows of waiting requests together (1: never; "
    "default: up "
    "to 8, as long as more rows raise the throughput)\n"
    "      --batch-wait MS        wait up to MS milliseconds for a batch to be full (default 0)\n"
    "      --max-queue N          requests that wait for a model; more are rejected (default 256)\n"
    "      --timeout S            seconds after which a request fails (default 0: never)\n"
    "      --max-request SIZE     bytes of a request, such as 64M (default 64M)\n"
    "      --max-memory SIZE      bytes of all requests and answers together (default 1G)\n"
    "      --max-connections N    connections at the same time (default 1024), for HTTP at each "
    "address\n"
    "      --idle-timeout S       close connections that are idle for S seconds (default 60)\n"
    "      --max-versions N       load the newest N versions of each model (default 1)\n"
    "      --poll S               look for changed files every S seconds (default 5; 0: at "
    "SIGHUP)\n"
    "      --allow-control        clients may load and unload models\n"
    "      --drain-delay S        at the end, be unready for S seconds, then refuse connections "
    "(default 0)\n"
    "      --drain S              at the end, wait up to S seconds for requests (default 30)\n"
    "      --token-file FILE      requests need the token in FILE (Authorization: Bearer TOKEN)\n"
    "      --tls-cert FILE        certificate, PEM: serve HTTPS, and gRPC over TLS\n"
    "      --tls-key FILE         its key, PEM\n"
    "      --tls-client-ca FILE   clients need a certificate of this authority, PEM\n"
    "      --log FORMAT           text (default), json or none, on standard error\n"
    "      --log-requests         log each request\n"
    "      --option KEY=VALUE     an option of models, as target=cuda or precision=bf16\n"
    "  -h, --help                 print this help\n"
    "  -v, --version              print the version\n"
    "\n"
    "Files of models, tokens and certificates that change are read again (--poll, SIGHUP).\n"
    "SIGTERM and SIGINT end the server: it is not ready any more, answers what it has, and exits.\n"
    "Examples:\n"
    "  lightnet serve models                             all models of a folder, at port 8080\n"
    "  lightnet serve digits=net.onnx --host :: --token-file token\n"
    "                                                    one model, for all who have the token\n"
    "  lightnet serve models --grpc-port 8081 --instances 1 --threads 4\n"
    "                                                    HTTP and gRPC; one run at a time\n"
    "\n"
    "Exit status: 0 after a signal, 1 it cannot start, 2 wrong usage.\n";

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

static int read_number(const char *name, const char *text, double min, double max, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    if (end == text || *end || errno || !(*number >= min && *number <= max))
        return wrong_usage("--%s is '%s'; expected a number from %g to %g", name, text, min, max);
    return 0;
}

static int read_integer(const char *name, const char *text, int min, int max, int *integer)
{
    double number;
    if (read_number(name, text, min, max, &number))
        return -1;
    *integer = (int)number;
    return *integer == number ? 0 : wrong_usage("--%s is '%s'; expected an integer", name, text);
}

// Bytes: "64M", "1G", "4096".
static int read_size(const char *name, const char *text, size_t *size)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long value =
        isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : (end = (char *)text, 0);
    const char *const unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (end == text || errno || (*end && (!unit || end[1])) || value > (SIZE_MAX >> 1) >> shift)
        return wrong_usage("--%s is '%s'; expected bytes, such as 64M", name, text);
    *size = (size_t)value << shift;
    return 0;
}

static int read_log(srv_options *o, const char *text)
{
    static const char *const names[] = {"text", "json", "none"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            o->log_format = (srv_log_format)i;
            return 0;
        }
    return wrong_usage("--log is '%s'; expected text, json or none", text);
}

static int read_opening(srv_options *o, const char *text)
{
    const char *const value = strchr(text, '=');
    char *const key = value ? strndup(text, (size_t)(value - text)) : NULL;
    if (!key)
        return wrong_usage("--option is '%s'; expected KEY=VALUE", text);
    const ln_status status = ln_options_set(o->opening, key, value + 1);
    free(key);
    return status ? wrong_usage("--option: %s", ln_model_error(NULL)) : 0;
}

enum {
    HOST = 256,
    PORT,
    GRPC_PORT,
    INSTANCES,
    THREADS,
    MAX_BATCH,
    BATCH_WAIT,
    MAX_QUEUE,
    TIMEOUT,
    MAX_REQUEST,
    MAX_MEMORY,
    MAX_CONNECTIONS,
    IDLE,
    MAX_VERSIONS,
    POLL,
    CONTROL,
    DRAIN_DELAY,
    DRAIN,
    TOKEN,
    CERT,
    KEY,
    CLIENT_CA,
    LOG,
    LOG_REQUESTS,
    OPTION
};

static const struct option longs[] = {
    {"host", required_argument, NULL, HOST},
    {"port", required_argument, NULL, PORT},
    {"grpc-port", required_argument, NULL, GRPC_PORT},
    {"instances", required_argument, NULL, INSTANCES},
    {"threads", required_argument, NULL, THREADS},
    {"max-batch", required_argument, NULL, MAX_BATCH},
    {"batch-wait", required_argument, NULL, BATCH_WAIT},
    {"max-queue", required_argument, NULL, MAX_QUEUE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"max-request", required_argument, NULL, MAX_REQUEST},
    {"max-memory", required_argument, NULL, MAX_MEMORY},
    {"max-connections", required_argument, NULL, MAX_CONNECTIONS},
    {"idle-timeout", required_argument, NULL, IDLE},
    {"max-versions", required_argument, NULL, MAX_VERSIONS},
    {"poll", required_argument, NULL, POLL},
    {"allow-control", no_argument, NULL, CONTROL},
    {"drain-delay", required_argument, NULL, DRAIN_DELAY},
    {"drain", required_argument, NULL, DRAIN},
    {"token-file", required_argument, NULL, TOKEN},
    {"tls-cert", required_argument, NULL, CERT},
    {"tls-key", required_argument, NULL, KEY},
    {"tls-client-ca", required_argument, NULL, CLIENT_CA},
    {"log", required_argument, NULL, LOG},
    {"log-requests", no_argument, NULL, LOG_REQUESTS},
    {"option", required_argument, NULL, OPTION},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {0},
};

static int read_ns(const char *name, double unit, uint64_t *ns)
{
    double number;
    if (read_number(name, optarg, 0, 1e6, &number))
        return -1;
    *ns = (uint64_t)(number * unit);
    return 0;
}

static int read_threads(srv_options *o)
{
    int threads;
    if (read_integer("threads", optarg, 1, 1024, &threads))
        return -1;
    return ln_options_set(o->opening, "threads", optarg)
               ? wrong_usage("--threads: %s", ln_model_error(NULL))
               : 0;
}

static int set_text(const char **to)
{
    *to = optarg;
    return 0;
}

static int set_flag(int *to)
{
    *to = 1;
    return 0;
}

static int read_option(srv_options *o, int c)
{
    switch (c) {
    case HOST:
        return set_text(&o->http.host);
    case PORT:
        return read_integer("port", optarg, 0, 65535, &o->http.port);
    case GRPC_PORT:
        return read_integer("grpc-port", optarg, 0, 65535, &o->grpc_port);
    case INSTANCES:
        return read_integer("instances", optarg, 1, 1024, &o->model.instances);
    case THREADS:
        return read_threads(o);
    case MAX_BATCH:
        return read_integer("max-batch", optarg, 1, 65536, &o->model.max_batch);
    case BATCH_WAIT:
        return read_ns("batch-wait", 1e6, &o->model.wait_ns);
    case MAX_QUEUE:
        return read_integer("max-queue", optarg, 1, 1000000, &o->model.max_queue);
    case TIMEOUT:
        return read_ns("timeout", 1e9, &o->model.timeout_ns);
    case MAX_REQUEST:
        return read_size("max-request", optarg, &o->max_request);
    case MAX_MEMORY:
        return read_size("max-memory", optarg, &o->http.max_memory);
    case MAX_CONNECTIONS:
        return read_integer("max-connections", optarg, 1, 100000, &o->http.max_connections);
    case IDLE:
        return read_integer("idle-timeout", optarg, 0, 86400, &o->http.idle_s);
    case MAX_VERSIONS:
        return read_integer("max-versions", optarg, 1, 1000, &o->max_versions);
    case POLL:
        return read_number("poll", optarg, 0, 86400, &o->poll_s);
    case CONTROL:
        return set_flag(&o->allows_control);
    case DRAIN_DELAY:
        return read_number("drain-delay", optarg, 0, 86400, &o->drain_delay_s);
    case DRAIN:
        return read_number("drain", optarg, 0, 86400, &o->drain_s);
    case TOKEN:
        return set_text(&o->access.token);
    case CERT:
        return set_text(&o->access.certificate);
    case KEY:
        return set_text(&o->access.key);
    case CLIENT_CA:
        return set_text(&o->access.client_ca);
    case LOG:
        return read_log(o, optarg);
    case LOG_REQUESTS:
        return set_flag(&o->logs_requests);
    case OPTION:
        return read_opening(o, optarg);
    case 'h':
        fputs(help, stdout);
        return 1;
    case 'v':
        printf("lightnet %s\n", ln_version());
        return 1;
    default:
        return wrong_usage("unknown option");
    }
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
    int c, status = 0;
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
    opterr = 0;
    while (!status && (c = getopt_long(argc, argv, ":hv", longs, NULL)) != -1)
        status = c == ':'   ? wrong_usage("option '%s' needs a value", argv[optind - 1])
                 : c == '?' ? wrong_usage("unknown option '%s'", argv[optind - 1])
                            : read_option(o, c);
    o->paths = (const char *const *)argv + optind;
    o->n_paths = argc - optind;
    o->model.options = o->opening;
    return status ? status : check(o);
}

void srv_options_clear(srv_options *o)
{
    ln_options_free(o->opening);
}
