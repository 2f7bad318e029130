// SPDX-License-Identifier: Apache-2.0
// The options that commands share, and how options are read.

#include "cli_options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/cli_part.h"
#include "input/cli_preprocess.h"
#include "input/cli_presets.h"
#include "input/cli_shape.h"
#include "lightnet/ln_util.h"
#include "output/cli_found.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_util.h"

#define FIELD CLI_FIELD

// In the order of the help.
static const cli_option shared[] = {
    {"outfile", 'o', CLI_TEXT, FIELD(outfile), "FILE",
     "write the model to FILE (- standard output)"},
    {"target", 't', CLI_TEXT, FIELD(target), "NAME", "compile for NAME (default cpu)",
     "cpu cuda dnnl"},
    {"datafile", 'f', CLI_TEXT, FIELD(datafile), "FILE", "weights: safetensors, wts or params"},
    {"include", 0, CLI_TEXTS, FIELD(includes), "DIR",
     "allow MODEL to use files in DIR, after those in its own folder"},
    {"allow-output", 0, CLI_TEXT, FIELD(may_write), "DIR",
     "allow operators of MODEL to write files in DIR, and to standard output (- that alone)"},
    {"run", 'r', CLI_FLAG, FIELD(run_only), NULL, "run only: reject a MODEL that is not compiled"},
    {"input", 'i', CLI_TEXTS, FIELD(inputs), "[NAME=]FILE",
     "an input, by name or in the model's order: npy, npz (all its "
     "arrays, by their names), pb, png, jpg, webp, bmp, pgm, ppm, bin"},
    {"labels", 0, CLI_TEXT, FIELD(labels), "FILE",
     "names of classes for --top, --draw and --task, one per line"},
    {"shape", 0, CLI_SHAPES, FIELD(shapes), "NAME=1x3x224x224",
     "the shape of input NAME, or the open size NAME; 1..512 is a range"},
    {"fetch", 0, CLI_TEXTS, FIELD(fetch), "NAME", "treat tensor NAME as an additional output"},
    {"preprocess", 0, CLI_PREPROCESS, FIELD(images.preprocess), "NAME",
     "images: as imagenet, detr, clip, yolo, yolox, caffe, inception, ultraface, retinaface, "
     "scrfd, blazeface, 0-1 or 0-255; other options override it",
     "imagenet detr clip yolo yolox caffe inception ultraface retinaface scrfd blazeface 0-1 "
     "0-255"},
    {"resize", 0, CLI_RESIZE, FIELD(images.resize), "HOW",
     "images: stretch, crop[=SHARE], letterbox[=GREY] or pad[=GREY] (at the upper left), with "
     "--filter antialias",
     "stretch crop letterbox pad"},
    {"filter", 0, CLI_FILTER, FIELD(images.filter), "NAME",
     "images: resize by linear (default), antialias or bicubic", "linear antialias bicubic"},
    {"mean", 0, CLI_CHANNELS, FIELD(images.mean), "M[,M,M]",
     "images: subtract M, one value or one per channel"},
    {"scale", 0, CLI_CHANNELS, FIELD(images.scale), "S[,S,S]",
     "images: then multiply by S, such as 1/255"},
    {"std", 0, CLI_DIVISORS, FIELD(images.std), "S[,S,S]", "images: then divide by S"},
    {"bgr", 0, CLI_FLAG, FIELD(images.bgr), NULL, "images: channel 0 is blue"},
    {"layout", 0, CLI_LAYOUT, FIELD(images.nhwc), "nchw|nhwc",
     "images: order of the input's axes (default nchw, or nhwc if only that fits)", "nchw nhwc"},
    {"max-memory", 0, CLI_SIZE, FIELD(limits.memory), "SIZE",
     "reject a model that needs more than SIZE bytes of memory, such as 256M or 1G"},
    {"max-seconds", 0, CLI_NOT_NEGATIVE, FIELD(limits.seconds), "S",
     "stop S seconds after the start"},
    {"max-operators", 0, CLI_COUNT_FROM_1, FIELD(limits.operators), "N",
     "reject a model with more than N operators (default 250000)"},
    {"max-constant", 0, CLI_SIZE, FIELD(limits.constant), "SIZE",
     "memory to fold a constant while reading the model; others wait for load (default 64M)"},
    {"against", 0, CLI_TEXT, FIELD(against), "NAME",
     "compare with the program for target NAME, output by output"},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "print JSON"},
    {"force", 0, CLI_FLAG, FIELD(force), NULL,
     "replace files that exist: of other formats, beside FILE, or of --each in DIR"},
    {"threads", 0, CLI_THREADS, FIELD(threads), "N",
     "threads, 0 for all cores (default LIGHTNET_NUM_THREADS, or 0)", "0 1 2 4 8"},
    {"seed", 0, CLI_COUNT, FIELD(seed), "N",
     "seed of random data (default 0), and of random operators in run (default: a new one)"},
    {"disable-rule", 0, CLI_TEXTS, FIELD(disabled), "NAME",
     "disable a rule (lightnet ops --rules)"},
    {"plugin", 0, CLI_TEXTS, FIELD(plugins), "FILE",
     "load a plug-in with operators, rules and targets"},
    {"precision", 0, CLI_TEXT, FIELD(precision), "NAME",
     "float32 (default), or bf16: products and convolutions may round to bfloat16; for cuda also "
     "tf32 and fp16",
     "float32 bf16 tf32 fp16"},
    {"tune", 0, CLI_FLAG, FIELD(tune), NULL,
     "measure the fastest algorithms instead of estimating them"},
    {"map", 0, CLI_FLAG, FIELD(map), NULL,
     "map a one-file compiled model, which must not change; bench: with --shapes or --decode"},
    {"debug", 'd', CLI_FLAG, FIELD(debug), NULL, "print the applied rules"},
    {"no-warnings", 'w', CLI_FLAG, FIELD(quiet), NULL, "print no warnings"},
};

// Of all commands, after their own.
static const cli_option common[] = {
    {"color", 0, CLI_TEXT, FIELD(color), "auto|always|never",
     "color messages and headings (default auto: on a terminal, without NO_COLOR)",
     "auto always never"},
    {"no-color", 0, CLI_FLAG, FIELD(no_color), NULL, "as --color never"},
    {"help", 'h', CLI_FLAG, FIELD(help), NULL, "print this help"},
    {"version", 'v', CLI_FLAG, FIELD(version), NULL,
     "print the version and the supported features"},
};

enum {
    N_SHARED = sizeof(shared) / sizeof(shared[0]),
    N_COMMON = sizeof(common) / sizeof(common[0]),
    MAX_OPTIONS = 100 // of a command
};

static int index_of_shared(const char *name)
{
    int i = 0;
    while (i < N_SHARED && strcmp(shared[i].name, name) != 0)
        i++;
    assert(i < N_SHARED);
    return i;
}

const cli_option *cli_command_option(const cli_command *command, int i)
{
    for (size_t k = 0; k < command->n_options; k++) {
        const cli_option *o = &command->options[k];
        const int is_range = o->kind == CLI_SHARED_ROWS;
        const int first = is_range ? index_of_shared(o->name) : 0;
        const int n = is_range ? index_of_shared(o->arg) - first + 1 : 1;
        if (i < n)
            return is_range ? &shared[first + i] : o;
        i -= n;
    }
    return i < N_COMMON ? &common[i] : NULL;
}

static int check_text(const cli_option *r, const char *text)
{
    return *text ? 0 : cli_usage("--%s is empty, expected %s", r->name, r->arg);
}

static int set_text(const char **value, const cli_option *r, const char *text)
{
    *value = text;
    return check_text(r, text);
}

int cli_strings_add(cli_strings *strings, const char *text)
{
    const char **items = realloc(strings->items, (size_t)(strings->n + 1) * sizeof(*items));
    if (!items)
        return cli_fail_memory();
    items[strings->n++] = text;
    strings->items = items;
    return 0;
}

static int set_texts(cli_strings *strings, const cli_option *r, const char *text)
{
    return check_text(r, text) ? CLI_WRONG_USAGE : cli_strings_add(strings, text);
}

static int set_shape(cli_strings *strings, const cli_option *r, const char *text)
{
    cli_shape shape;
    if (!cli_shape_read(&shape, text))
        return set_texts(strings, r, text);
    return cli_shape_is_reversed(&shape)
               ? cli_usage("--%s is '%s', expected the smaller size of a range first", r->name,
                           text)
               : cli_usage("--%s is '%s', expected %s", r->name, text, r->arg);
}

static int set_count(int *count, const cli_option *r, const char *text, int min, int max)
{
    char *end;
    errno = 0;
    const long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < min || n > max)
        return cli_usage("--%s is '%s', expected an integer from %d to %d", r->name, text, min,
                         max);
    *count = (int)n;
    return 0;
}

static int set_not_negative(double *value, const cli_option *r, const char *text)
{
    char *end;
    const double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0 && v < 1e300))
        return cli_usage("--%s is '%s', expected a number from 0", r->name, text);
    *value = v;
    return 0;
}

// A number of bytes, or of KiB, MiB, GiB, TiB with a letter after it.
static int set_size(uint64_t *size, const cli_option *r, const char *text)
{
    static const char letters[] = "KMGT";
    char *end;
    errno = 0;
    const unsigned long long n = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    uint64_t unit = n && !*end;
    if (n && *end && !end[1]) {
        const char *at = strchr(letters, toupper((unsigned char)*end));
        unit = at ? (uint64_t)1 << 10 * (at - letters + 1) : 0;
    }
    if (errno || !unit || n > UINT64_MAX / unit)
        return cli_usage("--%s is '%s', expected bytes, such as 1000000, 256M or 1G", r->name,
                         text);
    *size = n * unit;
    return 0;
}

// A finite number, or a fraction of two, such as "1/255". Returns what follows it; NULL: it is
// none.
static const char *read_number(const char *text, double *value)
{
    char *end, *last;
    *value = strtod(text, &end);
    if (end == text)
        return NULL;
    if (*end == '/') {
        const double divisor = strtod(end + 1, &last);
        if (last == end + 1 || !isfinite(divisor))
            return NULL;
        *value /= divisor;
        end = last;
    }
    return isfinite(*value) ? end : NULL;
}

// "127" for all channels, or "123.7,116.8,103.9", one for each.
static int set_channels(double values[3], const cli_option *r, const char *text)
{
    const char *at = text;
    int n = 0;
    do
        at = read_number(at + (n > 0), &values[n]);
    while (at && ++n < 3 && *at == ',');
    if (!at || *at || (n != 1 && n != 3))
        return cli_usage("--%s is '%s', expected one number or three, separated by commas", r->name,
                         text);
    for (int i = n; i < 3; i++)
        values[i] = values[0];
    return 0;
}

static int set_layout(int *nhwc, const cli_option *r, const char *text)
{
    *nhwc = !strcmp(text, "nhwc");
    if (!*nhwc && strcmp(text, "nchw"))
        return cli_usage("--%s is '%s', expected nchw or nhwc", r->name, text);
    return 0;
}

static int set_part(cli_part *part, const cli_option *r, const char *text)
{
    return cli_part_read(part, text)
               ? cli_usage("--%s is '%s', expected the number of a part and how many there are, "
                           "such as 1/4",
                           r->name, text)
               : 0;
}

static int set_divisors(double values[3], const cli_option *r, const char *text)
{
    const int status = set_channels(values, r, text);
    if (!status && (values[0] == 0 || values[1] == 0 || values[2] == 0))
        return cli_usage("--%s is '%s', expected no 0", r->name, text);
    return status;
}

// A word that `check` knows, or "help", which prints their list.
static int set_listed(cli_options *opt, const char *text, int (*check)(const char *),
                      void (*print)(void))
{
    const int status = check(text);
    if (!status && !strcmp(text, "help")) {
        print();
        opt->help = CLI_LISTED;
    }
    return status;
}

static int set_option(cli_options *opt, const cli_option *r, const char *text)
{
    void *field = (char *)opt + r->field;
    const size_t images = FIELD(images);
    if (!opt->images.first && r->field >= images && r->field < images + sizeof(opt->images))
        opt->images.first = r->name;
    switch (r->kind) {
    case CLI_FLAG:
        *(int *)field = 1;
        return 0;
    case CLI_TEXT:
        return set_text(field, r, text);
    case CLI_TEXTS:
        return set_texts(field, r, text);
    case CLI_SHAPES:
        return set_shape(field, r, text);
    case CLI_COUNT:
        return set_count(field, r, text, 0, INT_MAX);
    case CLI_COUNT_FROM_1:
        return set_count(field, r, text, 1, INT_MAX);
    case CLI_THREADS:
        return set_count(field, r, text, 0, TL_MAX_THREADS);
    case CLI_NOT_NEGATIVE:
        return set_not_negative(field, r, text);
    case CLI_SIZE:
        return set_size(field, r, text);
    case CLI_CHANNELS:
        return set_channels(field, r, text);
    case CLI_DIVISORS:
        return set_divisors(field, r, text);
    case CLI_LAYOUT:
        return set_layout(field, r, text);
    case CLI_PART_OF:
        return set_part(field, r, text);
    case CLI_PREPROCESS:
        *(const char **)field = text;
        return cli_preprocess_check_name(text);
    case CLI_RESIZE:
        *(const char **)field = text;
        return cli_preprocess_check_resize(text);
    case CLI_FILTER:
        *(const char **)field = text;
        return cli_preprocess_check_filter(text);
    case CLI_PRESET:
        *(const char **)field = text;
        return set_listed(opt, text, cli_preset_check, cli_preset_print);
    case CLI_TASK:
        *(const char **)field = text;
        return set_listed(opt, text, cli_found_check_task, cli_found_print_tasks);
    case CLI_SHARED_ROWS:
        break;
    }
    return 0;
}

// Fills getopt's two forms of the command's options. The long options' `val` is 256 and the index.
static void fill_getopt(const cli_command *command, struct option *longs, char *letters)
{
    const cli_option *o;
    *letters++ = '-'; // arguments in their order
    *letters++ = ':';
    for (int i = 0; i < MAX_OPTIONS && (o = cli_command_option(command, i)); i++) {
        const int has_arg = o->kind == CLI_FLAG ? no_argument : required_argument;
        *longs++ = (struct option){.name = o->name, .has_arg = has_arg, .val = 256 + i};
        if (o->letter)
            *letters++ = o->letter;
        if (o->letter && has_arg)
            *letters++ = ':';
    }
    *letters = '\0';
    *longs = (struct option){0};
}

static const cli_option *option_of(const cli_command *command, int c)
{
    const cli_option *o = c >= 256 ? cli_command_option(command, c - 256) : NULL;
    for (int i = 0; c < 256 && (o = cli_command_option(command, i)) && o->letter != c; i++)
        ;
    return o;
}

// Errors of getopt

// Names that other programs have for an option.
static const struct other_name {
    const char *other, *name;
} other_names[] = {
    {"device", "target"},    {"provider", "target"}, {"backend", "target"},      {"image", "input"},
    {"weights", "datafile"}, {"output", "outfile"},  {"num-threads", "threads"},
};

static const char *own_name(const char *name)
{
    for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
        if (!strcmp(other_names[i].other, name))
            return other_names[i].name;
    return name;
}

// The option of the command with the longest common spelling, NULL: none is like `given`, which
// begins with two dashes.
static const char *closest_option(const cli_command *command, const char *given)
{
    char name[LN_MAX_NAME_LEN];
    const char *closest = NULL;
    const cli_option *o;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (int i = 0; (o = cli_command_option(command, i)); i++)
        closest = ln_closer_name(own_name(name), closest, o->name);
    return closest;
}

// Whether the command has the option, "-i", "--input" or "--input=x".
static int has_option(const cli_command *command, const char *option)
{
    const size_t len = strcspn(option, "=");
    const cli_option *o;
    for (int i = 0; (o = cli_command_option(command, i)); i++)
        if (option[1] == '-' ? strlen(o->name) == len - 2 && !memcmp(o->name, option + 2, len - 2)
                             : o->letter && o->letter == option[1])
            return 1;
    return 0;
}

// c is ':' for a missing value, '?' for anything else.
static int fail_option(int c, const cli_command *command, const char *given, const char *call)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const cli_option *o = optopt ? option_of(command, optopt) : NULL;
    // A long option is a whole argument; a letter may share one with others.
    const char *option = optopt && optopt < 256 ? letter : given;
    if (c == ':')
        return cli_usage("option '%s' needs a value; see %s --help", option, call);
    if (o && optopt >= 256)
        return cli_usage("option '%s' takes no value; see %s --help", option, call);
    if (command->longer && has_option(command->longer, option))
        return cli_usage("unknown option '%s'; did you mean 'lightnet run MODEL %s'?", option,
                         option);
    const char *closest = strncmp(option, "--", 2) ? NULL : closest_option(command, option);
    return closest ? cli_usage("unknown option '%s'; did you mean '--%s'?", option, closest)
                   : cli_usage("unknown option '%s'; see %s --help", option, call);
}

// Old spellings

// Options of another form, for commands with --no-warnings: they set `quiet`, or nothing (-1).
static const struct old_warning {
    const char *text;
    int quiet;
} old_warnings[] = {
    {"-Wwarn", 0},
    {"-Wno-warn", 1},
    {"-Winter", -1},
    {"-Wno-inter", -1},
};

// Reads the next argument if it is one of them; returns whether it is.
static int read_old_warning(const cli_command *command, int argc, char **argv)
{
    int *const quiet = &command->values->quiet;
    const char *const arg = optind < argc ? argv[optind] : "";
    for (size_t i = 0; i < sizeof(old_warnings) / sizeof(old_warnings[0]); i++) {
        if (!strcmp(arg, old_warnings[i].text) && has_option(command, "--no-warnings")) {
            *quiet = old_warnings[i].quiet < 0 ? *quiet : old_warnings[i].quiet;
            optind++;
            return 1;
        }
    }
    return 0;
}

// Whether the next argument is "-", standard input. For musl's getopt that is the end of options.
static int is_dash(int argc, char **argv)
{
    return optind < argc && !strcmp(argv[optind], "-");
}

// "-o !" writes nothing.
static void read_outfile(const cli_command *command)
{
    cli_options *opt = command->values;
    if (opt->outfile && !strcmp(opt->outfile, "!"))
        opt->outfile = command->usage.name ? "/dev/null" : NULL;
}

int cli_options_read(const cli_command *command, const char *call, int argc, char **argv)
{
    struct option longs[MAX_OPTIONS + 1];
    char letters[2 * MAX_OPTIONS + 3];
    cli_options *opt = command->values;
    int c, status = 0, n = 1; // arguments up to argv[n] are none that will be read
    opt->limits.started = tl_clock();
    fill_getopt(command, longs, letters);
    optind = 1;
    opterr = 0;
    while (!status) {
        if (read_old_warning(command, argc, argv))
            continue;
        if (is_dash(argc, argv)) {
            argv[n++] = argv[optind++];
            continue;
        }
        // Long options may have one dash, as "-outfile FILE"; a letter abbreviates none of them.
        const int is_letter = optind < argc && strlen(argv[optind]) == 2;
        c = (is_letter ? getopt_long : getopt_long_only)(argc, argv, letters, longs, NULL);
        if (c == -1)
            break;
        if (c == 1)
            argv[n++] = optarg;
        else if (c == ':' || c == '?')
            status = fail_option(c, command, argv[optind - 1], call);
        else
            status = set_option(opt, option_of(command, c), optarg);
    }
    while (!status && optind < argc)
        argv[n++] = argv[optind++];
    read_outfile(command);
    opt->args = (const char *const *)argv + 1;
    opt->n_args = n - 1;
    return status;
}

void cli_options_free(cli_options *opt)
{
    free(opt->inputs.items);
    free(opt->fetch.items);
    free(opt->shapes.items);
    free(opt->disabled.items);
    free(opt->plugins.items);
    free(opt->includes.items);
}

uint64_t cli_options_time_left(const cli_options *opt)
{
    const double ms = opt->limits.seconds * 1e3 - (double)(tl_clock() - opt->limits.started) * 1e-6;
    if (opt->limits.seconds < 0)
        return 0;
    return ms < 1 ? 1 : ms < 1e15 ? (uint64_t)ms : (uint64_t)1e15;
}

uint64_t cli_options_seed(const cli_options *opt)
{
    return opt->seed < 0 ? 0 : (uint64_t)opt->seed;
}

void cli_options_help(const cli_command *command)
{
    const cli_option *o;
    for (int i = 0; (o = cli_command_option(command, i)); i++) {
        char left[64];
        const char letter[] = {'-', o->letter, ',', ' ', '\0'};
        snprintf(left, sizeof(left), "%s--%s%s%s", o->letter ? letter : "    ", o->name,
                 o->arg ? " " : "", o->arg ? o->arg : "");
        cli_print("  %-28s %s\n", left, o->help);
    }
}
