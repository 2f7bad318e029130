// SPDX-License-Identifier: Apache-2.0
// The options of all commands: one table of their names, meanings and commands.

#include "cli_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/cli_preprocess.h"
#include "input/cli_shape.h"
#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_util.h"

const cli_command_info cli_commands[CLI_N_COMMANDS] = {
    {NULL, CLI_SHORT, "MODEL", 1, 1, "compile for the default target and run"},
    {"run", CLI_RUN, "MODEL", 1, 1, "compile and run, with inputs and outputs"},
    {"compile", CLI_COMPILE, "MODEL -o FILE", 1, 1, "write the compiled model"},
    {"convert", CLI_CONVERT, "MODEL -o FILE", 1, 1, "write the uncompiled model in another format"},
    {"quantize", CLI_QUANTIZE, "MODEL --data DIR|FILE -o FILE", 1, 1,
     "write the compiled model with 8-bit layers"},
    {"show", CLI_SHOW, "MODEL", 1, 1, "print the operators, sizes and memory plan of the model"},
    {"verify", CLI_VERIFY, "MODEL [DIR...]", 1, -1,
     "compare outputs with stored ones or the reference program"},
    {"bench", CLI_BENCH, "MODEL", 1, 1, "measure run times"},
    {"ops", CLI_OPS, "[OPTYPE]", 0, 1, "list operators and rules, or document an operator"},
    {"env", CLI_ENV, "", 0, 0, "list the environment variables"},
    {"help", CLI_HELP, "[COMMAND]", 0, 1, "list the options of a command"},
    {"version", CLI_VERSION, "", 0, 0, "print the version and the supported features"},
    {"completion", CLI_COMPLETION, "SHELL", 1, 1,
     "print the completion script for bash, zsh or fish"},
};

typedef enum kind {
    FLAG,
    TEXT,
    TEXTS,
    SHAPES,
    COUNT,
    COUNT_FROM_1,
    THREADS,
    NOT_NEGATIVE,
    SIZE,
    CHANNELS,
    LAYOUT,
    PREPROCESS,
    RESIZE,
    FILTER
} kind;

typedef struct row {
    const char *name;
    char letter; // 0: none
    kind kind;
    size_t field; // offset in cli_options
    unsigned commands;
    const char *arg; // the name of the value in the help
    const char *help;
} row;

enum {
    MODEL_COMMANDS = CLI_SHORT | CLI_RUN | CLI_COMPILE | CLI_SHOW | CLI_VERIFY | CLI_BENCH,
    RUN_COMMANDS = CLI_SHORT | CLI_RUN | CLI_VERIFY | CLI_BENCH,
    INPUT_COMMANDS = CLI_RUN | CLI_VERIFY | CLI_BENCH,
    IMAGE_COMMANDS = INPUT_COMMANDS | CLI_QUANTIZE,
    COMPILE_COMMANDS = MODEL_COMMANDS | CLI_QUANTIZE,
    READ_COMMANDS = COMPILE_COMMANDS | CLI_CONVERT,
    // The short form prints as the document of the IR shows it; bench drops what the model prints,
    // and the others run no such operator.
    PRINTING_COMMANDS = CLI_SHORT | CLI_BENCH | CLI_COMPILE | CLI_SHOW | CLI_CONVERT,
    VALUE_COMMANDS = CLI_CONVERT | CLI_COMPILE | CLI_SHOW,
};

#define FIELD(name) offsetof(cli_options, name)

static const row rows[] = {
    {"outfile", 'o', TEXT, FIELD(outfile), CLI_SHORT | CLI_COMPILE | CLI_CONVERT | CLI_QUANTIZE,
     "FILE", "write the model to FILE (- standard output)"},
    {"to", 0, TEXT, FIELD(format), CLI_CONVERT, "FORMAT",
     "write ir, il, nnvm or onnx (default: by the suffix of FILE)"},
    {"external-data", 0, FLAG, FIELD(external_data), CLI_CONVERT, NULL,
     "write the data of an ONNX model to FILE.data"},
    {"target", 't', TEXT, FIELD(target), COMPILE_COMMANDS, "NAME",
     "compile for NAME (default cpu)"},
    {"datafile", 'f', TEXT, FIELD(datafile), READ_COMMANDS, "FILE",
     "weights: safetensors, wts or params"},
    {"include", 0, TEXTS, FIELD(includes), READ_COMMANDS, "DIR",
     "allow MODEL to use files in DIR, after those in its own folder"},
    {"allow-output", 0, TEXT, FIELD(may_write), READ_COMMANDS, "DIR",
     "allow operators of MODEL to write files in DIR, and to standard output (- that alone)"},
    {"compile", 'c', FLAG, FIELD(compile_only), CLI_SHORT, NULL, "compile only"},
    {"run", 'r', FLAG, FIELD(run_only), CLI_SHORT | CLI_RUN, NULL,
     "run only: reject a MODEL that is not compiled"},
    {"input", 'i', TEXTS, FIELD(inputs), INPUT_COMMANDS, "[NAME=]FILE",
     "an input, by name or in the model's order: npy, npz (all its "
     "arrays, by their names), pb, png, jpg, webp, bmp, pgm, ppm, bin"},
    {"input", 'i', TEXTS, FIELD(inputs), VALUE_COMMANDS, "[NAME=]FILE",
     "the shape of an input, and its value if it decides shapes: npy, npz, pb"},
    {"each", 0, TEXT, FIELD(each), CLI_RUN, "DIR|PATTERN|LIST",
     "run once for each file of a folder, of a quoted pattern, or of a text file with a path in "
     "each line (- standard input)"},
    {"batch", 0, COUNT_FROM_1, FIELD(batch), CLI_RUN, "N", "--each: run N files at a time"},
    {"outdir", 'O', TEXT, FIELD(outdir), CLI_RUN, "DIR|FILE.npz",
     "write output_0.npy, ... to DIR, or all outputs to FILE.npz (bfloat16 as uint16); --each: "
     "FILE_OUTPUT.npy"},
    {"top", 0, COUNT_FROM_1, FIELD(top), CLI_RUN, "K",
     "print the K best classes of each output row"},
    {"labels", 0, TEXT, FIELD(labels), CLI_RUN, "FILE",
     "names of classes for --top and --draw, one per line"},
    {"draw", 0, TEXT, FIELD(draw), CLI_RUN, "WHAT",
     "draw boxes, mask or classes on the image of -i, and write -o FILE; --each: on all, in -O "
     "DIR"},
    {"outfile", 'o', TEXT, FIELD(outfile), CLI_RUN, "FILE",
     "--draw: the image to write, .png, .jpg or .ppm"},
    {"threshold", 0, NOT_NEGATIVE, FIELD(threshold), CLI_RUN, "T",
     "--draw: the min score of boxes and masks (default 0.5)"},
    {"overlap", 0, NOT_NEGATIVE, FIELD(overlap), CLI_RUN, "V",
     "--draw boxes: the max intersection over union of two boxes (default 0.5)"},
    {"print-all", 0, FLAG, FIELD(print_all), CLI_RUN, NULL,
     "print large outputs in full, and --top of all rows"},
    {"shape", 0, SHAPES, FIELD(shapes), CLI_COMPILE, "NAME=1x3x224x224",
     "the shape of input NAME, or the open size NAME; 1..512 is a range; a repeated NAME "
     "starts another program"},
    {"shape", 0, SHAPES, FIELD(shapes), READ_COMMANDS & ~(unsigned)CLI_COMPILE, "NAME=1x3x224x224",
     "the shape of input NAME, or the open size NAME; 1..512 is a range"},
    {"fetch", 0, TEXTS, FIELD(fetch), CLI_RUN, "NAME", "treat tensor NAME as an additional output"},
    {"preprocess", 0, PREPROCESS, FIELD(preprocess), IMAGE_COMMANDS, "NAME",
     "images: as imagenet, clip, yolo, caffe, inception, 0-1 or 0-255; other options override it"},
    {"resize", 0, RESIZE, FIELD(resize), IMAGE_COMMANDS, "HOW",
     "images: stretch, crop[=SHARE] or letterbox[=GREY], with --filter antialias"},
    {"filter", 0, FILTER, FIELD(filter), IMAGE_COMMANDS, "NAME",
     "images: resize by linear (default), antialias or bicubic"},
    {"mean", 0, CHANNELS, FIELD(mean), IMAGE_COMMANDS, "M[,M,M]",
     "images: subtract M, one value or one per channel"},
    {"scale", 0, CHANNELS, FIELD(scale), IMAGE_COMMANDS, "S[,S,S]",
     "images: then multiply by S, such as 1/255"},
    {"std", 0, CHANNELS, FIELD(std), IMAGE_COMMANDS, "S[,S,S]", "images: then divide by S"},
    {"bgr", 0, FLAG, FIELD(bgr), IMAGE_COMMANDS, NULL, "images: channel 0 is blue"},
    {"layout", 0, LAYOUT, FIELD(nhwc), IMAGE_COMMANDS, "nchw|nhwc",
     "images: order of the input's axes (default nchw)"},
    {"max-memory", 0, SIZE, FIELD(max_memory), READ_COMMANDS, "SIZE",
     "reject a model that needs more than SIZE bytes of memory, such as 256M or 1G"},
    {"max-seconds", 0, NOT_NEGATIVE, FIELD(max_seconds), MODEL_COMMANDS | CLI_CONVERT, "S",
     "stop S seconds after the start"},
    {"max-operators", 0, COUNT_FROM_1, FIELD(max_operators), READ_COMMANDS, "N",
     "reject a model with more than N operators (default 250000)"},
    {"max-constant", 0, SIZE, FIELD(max_constant), READ_COMMANDS, "SIZE",
     "memory to fold a constant while reading the model; others wait for load (default 64M)"},
    {"reference", 0, FLAG, FIELD(reference), CLI_VERIFY, NULL,
     "compare with the unoptimized program, tensor by tensor"},
    {"against", 0, TEXT, FIELD(against), CLI_VERIFY, "NAME",
     "compare with the program for target NAME, output by output"},
    {"rtol", 0, NOT_NEGATIVE, FIELD(rtol), CLI_VERIFY, "R",
     "relative tolerance (default 1e-3, with --reference or --against 1e-4; 16-bit floats 1e-2, "
     "integers 0)"},
    {"atol", 0, NOT_NEGATIVE, FIELD(atol), CLI_VERIFY, "A",
     "absolute tolerance (default 1e-5, with --reference or --against 1e-6)"},
    {"shapes", 0, TEXT, FIELD(run_shapes), CLI_BENCH, "FILE",
     "run once for each line of FILE with shapes of inputs, such as NAME=1x16 OTHER=1x16"},
    {"seconds", 0, NOT_NEGATIVE, FIELD(seconds), CLI_BENCH, "S",
     "measure for S seconds (default 2)"},
    {"data", 0, TEXT, FIELD(data), CLI_QUANTIZE, "DIR|FILE",
     "samples: DIR has a file per sample, or such a folder per input; FILE is an npy array"},
    {"max-error", 0, NOT_NEGATIVE, FIELD(max_error), CLI_QUANTIZE, "E",
     "the budget: max relative error of the outputs (default 0.01, none with --top1)"},
    {"top1", 0, NOT_NEGATIVE, FIELD(top1), CLI_QUANTIZE, "S",
     "the budget: min share of the first output's rows with the same argmax"},
    {"calibration", 0, TEXT, FIELD(calibration), CLI_QUANTIZE, "METHOD",
     "compute ranges by minmax, percentile or entropy (default minmax)"},
    {"percentile", 0, NOT_NEGATIVE, FIELD(percentile), CLI_QUANTIZE, "P",
     "--calibration percentile: values within the range, at each end (default 99.99)"},
    {"any-speed", 0, FLAG, FIELD(any_speed), CLI_QUANTIZE, NULL,
     "quantize layers even if that saves no time on this machine"},
    {"seconds", 0, NOT_NEGATIVE, FIELD(each_seconds), CLI_QUANTIZE, "S",
     "measure each program for S seconds (default 0.3)"},
    {"per-op", 0, FLAG, FIELD(per_op), CLI_BENCH, NULL, "time each operator"},
    {"trace", 0, TEXT, FIELD(trace), CLI_BENCH, "FILE", "write a Chrome trace of one run to FILE"},
    {"json", 0, FLAG, FIELD(json), CLI_RUN | CLI_BENCH | CLI_SHOW | CLI_VERIFY | CLI_OPS | CLI_ENV,
     NULL, "print JSON"},
    {"missing", 0, FLAG, FIELD(missing), CLI_SHOW, NULL,
     "list the operators that the model needs and LightNet lacks"},
    {"dot", 0, FLAG, FIELD(dot), CLI_SHOW, NULL, "print the graph for Graphviz"},
    {"svg", 0, FLAG, FIELD(svg), CLI_SHOW, NULL, "print a diagram of the graph as SVG"},
    {"svg-memory", 0, FLAG, FIELD(svg_memory), CLI_SHOW, NULL,
     "print a diagram of the memory plan as SVG"},
    {"rules", 0, FLAG, FIELD(rules), CLI_OPS, NULL, "list the rules for --disable-rule"},
    {"force", 0, FLAG, FIELD(force),
     CLI_SHORT | CLI_RUN | CLI_COMPILE | CLI_CONVERT | CLI_BENCH | CLI_QUANTIZE, NULL,
     "replace files that exist: of other formats, beside FILE, or of --each in DIR"},
    {"threads", 0, THREADS, FIELD(threads), COMPILE_COMMANDS, "N",
     "threads, 0 for all cores (default LIGHTNET_NUM_THREADS, or 0)"},
    {"seed", 0, COUNT, FIELD(seed), RUN_COMMANDS, "N",
     "seed of random data (default 0), and of random operators in run (default: a new one)"},
    {"disable-rule", 0, TEXTS, FIELD(disabled), COMPILE_COMMANDS, "NAME",
     "disable a rule (lightnet ops --rules)"},
    {"plugin", 0, TEXTS, FIELD(plugins), CLI_ALL, "FILE",
     "load a plug-in with operators, rules and targets"},
    {"precision", 0, TEXT, FIELD(precision), MODEL_COMMANDS, "NAME",
     "float32 (default), or bf16: products and convolutions may round to bfloat16; for cuda also "
     "tf32 and fp16"},
    {"tune", 0, FLAG, FIELD(tune), COMPILE_COMMANDS, NULL,
     "measure the fastest algorithms instead of estimating them"},
    {"map", 0, FLAG, FIELD(map), CLI_RUN | CLI_BENCH, NULL,
     "map a one-file compiled model, which must not change; bench: with --shapes"},
    {"debug", 'd', FLAG, FIELD(debug), COMPILE_COMMANDS, NULL, "print the applied rules"},
    {"no-warnings", 'w', FLAG, FIELD(quiet), READ_COMMANDS, NULL, "print no warnings"},
    {"color", 0, TEXT, FIELD(color), CLI_ANY, "auto|always|never",
     "color messages and headings (default auto: on a terminal, without NO_COLOR)"},
    {"no-color", 0, FLAG, FIELD(no_color), CLI_ANY, NULL, "as --color never"},
    {"help", 'h', FLAG, FIELD(help), CLI_ANY, NULL, "print this help"},
    {"version", 'v', FLAG, FIELD(version), CLI_ANY, NULL,
     "print the version and the supported features"},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static int check_text(const row *r, const char *text)
{
    return *text ? 0 : cli_usage("--%s is empty, expected %s", r->name, r->arg);
}

static int set_text(const char **value, const row *r, const char *text)
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

static int set_texts(cli_strings *strings, const row *r, const char *text)
{
    return check_text(r, text) ? CLI_WRONG_USAGE : cli_strings_add(strings, text);
}

static int set_shape(cli_strings *strings, const row *r, const char *text)
{
    cli_shape shape;
    if (!cli_shape_read(&shape, text))
        return set_texts(strings, r, text);
    return cli_shape_is_reversed(&shape)
               ? cli_usage("--%s is '%s', expected the smaller size of a range first", r->name,
                           text)
               : cli_usage("--%s is '%s', expected %s", r->name, text, r->arg);
}

static int set_count(int *count, const row *r, const char *text, int min, int max)
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

static int set_not_negative(double *value, const row *r, const char *text)
{
    char *end;
    const double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0 && v < 1e300))
        return cli_usage("--%s is '%s', expected a number from 0", r->name, text);
    *value = v;
    return 0;
}

// A number of bytes, or of KiB, MiB, GiB, TiB with a letter after it.
static int set_size(uint64_t *size, const row *r, const char *text)
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
static int set_channels(double values[3], const row *r, const char *text)
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

static int set_layout(int *nhwc, const row *r, const char *text)
{
    *nhwc = !strcmp(text, "nhwc");
    if (!*nhwc && strcmp(text, "nchw"))
        return cli_usage("--%s is '%s', expected nchw or nhwc", r->name, text);
    return 0;
}

static int is_for_images(const row *r)
{
    static const size_t fields[] = {FIELD(mean),       FIELD(scale),  FIELD(std),    FIELD(bgr),
                                    FIELD(preprocess), FIELD(resize), FIELD(filter), FIELD(nhwc)};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (r->field == fields[i])
            return 1;
    return 0;
}

static int set_std(double values[3], const row *r, const char *text)
{
    const int status = set_channels(values, r, text);
    if (!status && (values[0] == 0 || values[1] == 0 || values[2] == 0))
        return cli_usage("--%s is '%s', expected no 0", r->name, text);
    return status;
}

static int set_option(cli_options *opt, const row *r, const char *text)
{
    void *field = (char *)opt + r->field;
    if (!opt->for_images && is_for_images(r))
        opt->for_images = r->name;
    switch (r->kind) {
    case FLAG:
        *(int *)field = 1;
        return 0;
    case TEXT:
        return set_text(field, r, text);
    case TEXTS:
        return set_texts(field, r, text);
    case SHAPES:
        return set_shape(field, r, text);
    case COUNT:
        return set_count(field, r, text, 0, INT_MAX);
    case COUNT_FROM_1:
        return set_count(field, r, text, 1, INT_MAX);
    case THREADS:
        return set_count(field, r, text, 0, TL_MAX_THREADS);
    case NOT_NEGATIVE:
        return set_not_negative(field, r, text);
    case SIZE:
        return set_size(field, r, text);
    case CHANNELS:
        return r->field == FIELD(std) ? set_std(field, r, text) : set_channels(field, r, text);
    case LAYOUT:
        return set_layout(field, r, text);
    case PREPROCESS:
        *(const char **)field = text;
        return cli_preprocess_check_name(text);
    case RESIZE:
        *(const char **)field = text;
        return cli_preprocess_check_resize(text);
    case FILTER:
        *(const char **)field = text;
        return cli_preprocess_check_filter(text);
    }
    return 0;
}

static void set_defaults(cli_options *opt)
{
    memset(opt, 0, sizeof(*opt));
    for (int i = 0; i < 3; i++)
        opt->mean[i] = opt->scale[i] = opt->std[i] = NAN; // not given
    opt->threads = -1;                                    // as in the environment
    opt->started = tl_clock();
    opt->seconds = 2;
    opt->max_seconds = -1;
    opt->seed = -1;
    opt->rtol = -1; // by type
    opt->atol = -1; // depends on the comparison
    opt->threshold = opt->overlap = -1;
    opt->percentile = opt->max_error = opt->top1 = opt->each_seconds = -1;
}

// Fills getopt's two forms of the command's options. The long options' `val` is 256 and the row.
static void fill_getopt(unsigned command, struct option *longs, char *letters)
{
    *letters++ = '-'; // arguments in their order
    *letters++ = ':';
    for (int i = 0; i < N_ROWS; i++) {
        if (!(rows[i].commands & command))
            continue;
        const int has_arg = rows[i].kind == FLAG ? no_argument : required_argument;
        *longs++ = (struct option){.name = rows[i].name, .has_arg = has_arg, .val = 256 + i};
        if (rows[i].letter)
            *letters++ = rows[i].letter;
        if (rows[i].letter && has_arg)
            *letters++ = ':';
    }
    *letters = '\0';
    *longs = (struct option){0};
}

static const row *row_of(int c)
{
    for (int i = 0; i < N_ROWS; i++)
        if (c == 256 + i || (rows[i].letter && c == rows[i].letter))
            return &rows[i];
    return NULL;
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
static const char *closest_option(unsigned command, const char *given)
{
    char name[LN_MAX_NAME_LEN];
    const char *closest = NULL;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].commands & command)
            closest = ln_closer_name(own_name(name), closest, rows[i].name);
    return closest;
}

// Whether `lightnet run` has the option, "-i", "--input" or "--input=x".
static int is_of_run(const char *option)
{
    const int is_long = option[1] == '-';
    const size_t len = strcspn(option, "=");
    for (int i = 0; i < N_ROWS; i++) {
        const row *r = &rows[i];
        const int is_it = is_long
                              ? strlen(r->name) == len - 2 && !memcmp(r->name, option + 2, len - 2)
                              : r->letter && r->letter == option[1];
        if (is_it && r->commands & CLI_RUN)
            return 1;
    }
    return 0;
}

// c is ':' for a missing value, '?' for anything else.
static int fail_option(int c, unsigned command, const char *given, const char *name)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const row *r = optopt ? row_of(optopt) : NULL;
    // A long option is a whole argument; a letter may share one with others.
    const char *option = optopt && optopt < 256 ? letter : given;
    if (c == ':')
        return cli_usage("option '%s' needs a value; see %s --help", option, name);
    if (r && optopt >= 256)
        return cli_usage("option '%s' takes no value; see %s --help", option, name);
    if (command == CLI_SHORT && is_of_run(option))
        return cli_usage("unknown option '%s'; did you mean 'lightnet run MODEL %s'?", option,
                         option);
    const char *closest = strncmp(option, "--", 2) ? NULL : closest_option(command, option);
    return closest ? cli_usage("unknown option '%s'; did you mean '--%s'?", option, closest)
                   : cli_usage("unknown option '%s'; see %s --help", option, name);
}

// Old spellings

// Options of another form, for MODEL_COMMANDS and convert: they set `quiet`, or nothing (-1).
static const struct old_warning {
    const char *text;
    int quiet;
} old_warnings[] = {
    {"-Wwarn", 0},
    {"-Wno-warn", 1},
    {"-Winter", -1},
    {"-Wno-inter", -1},
};

static int read_old_warning(cli_options *opt, unsigned command, const char *arg)
{
    if (!(command & (MODEL_COMMANDS | CLI_CONVERT)))
        return 0;
    for (size_t i = 0; i < sizeof(old_warnings) / sizeof(old_warnings[0]); i++) {
        if (!strcmp(arg, old_warnings[i].text)) {
            opt->quiet = old_warnings[i].quiet < 0 ? opt->quiet : old_warnings[i].quiet;
            return 1;
        }
    }
    return 0;
}

// The row of a long option with one dash, as "-outfile" or "-outfile=FILE", or NULL.
static const row *row_of_one_dash(unsigned command, const char *arg)
{
    const size_t len = strcspn(arg + 1, "=");
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].commands & command && strlen(rows[i].name) == len &&
            !strncmp(rows[i].name, arg + 1, len))
            return &rows[i];
    return NULL;
}

static int read_one_dash(cli_options *opt, const row *r, const char *name, int argc, char **argv)
{
    const char *arg = argv[optind++], *value = strchr(arg, '=');
    if (r->kind == FLAG && value)
        return cli_usage("option '%s' takes no value; see %s --help", arg, name);
    if (r->kind != FLAG && !value && optind == argc)
        return cli_usage("option '%s' needs a value; see %s --help", arg, name);
    if (r->kind == FLAG)
        return set_option(opt, r, NULL);
    return set_option(opt, r, value ? value + 1 : argv[optind++]);
}

// Reads the next argument if it has an old spelling; returns whether it has.
static int read_old(cli_options *opt, unsigned command, const char *name, int argc, char **argv,
                    int *status)
{
    const char *arg = optind < argc ? argv[optind] : "";
    if (arg[0] != '-' || !arg[1] || arg[1] == '-')
        return 0;
    if (read_old_warning(opt, command, arg)) {
        optind++;
        return 1;
    }
    const row *r = row_of_one_dash(command, arg);
    if (r)
        *status = read_one_dash(opt, r, name, argc, argv);
    return r != NULL;
}

// Whether the next argument is "-", standard input. For musl's getopt that is the end of options.
static int is_dash(int argc, char **argv)
{
    return optind < argc && !strcmp(argv[optind], "-");
}

// "-o !" writes nothing.
static void read_outfile(cli_options *opt, unsigned command)
{
    if (opt->outfile && !strcmp(opt->outfile, "!"))
        opt->outfile = command == CLI_SHORT ? NULL : "/dev/null";
}

int cli_options_read(cli_options *opt, cli_command command, const char *name, int argc, char **argv)
{
    struct option longs[N_ROWS + 1];
    char letters[2 * N_ROWS + 3];
    int c, status = 0, n = 1; // arguments up to argv[n] are none that will be read
    set_defaults(opt);
    opt->only_values = (command & VALUE_COMMANDS) != 0;
    fill_getopt(command, longs, letters);
    optind = 1;
    opterr = 0;
    while (!status) {
        if (read_old(opt, command, name, argc, argv, &status))
            continue;
        if (is_dash(argc, argv)) {
            argv[n++] = argv[optind++];
            continue;
        }
        c = getopt_long(argc, argv, letters, longs, NULL);
        if (c == -1)
            break;
        if (c == 1)
            argv[n++] = optarg;
        else if (c == ':' || c == '?')
            status = fail_option(c, command, argv[optind - 1], name);
        else
            status = set_option(opt, row_of(c), optarg);
    }
    while (!status && optind < argc)
        argv[n++] = argv[optind++];
    read_outfile(opt, command);
    if (!opt->may_write && command & PRINTING_COMMANDS)
        opt->may_write = "-";
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
    const double ms = opt->max_seconds * 1e3 - (double)(tl_clock() - opt->started) * 1e-6;
    if (opt->max_seconds < 0)
        return 0;
    return ms < 1 ? 1 : ms < 1e15 ? (uint64_t)ms : (uint64_t)1e15;
}

uint64_t cli_options_seed(const cli_options *opt)
{
    return opt->seed < 0 ? 0 : (uint64_t)opt->seed;
}

int cli_options_info(int i, cli_option_info *info)
{
    if (i < 0 || i >= N_ROWS)
        return 0;
    const row *r = &rows[i];
    *info = (cli_option_info){r->name, r->letter, r->commands, r->arg, r->help};
    return 1;
}

void cli_options_help(cli_command command)
{
    for (int i = 0; i < N_ROWS; i++) {
        const row *r = &rows[i];
        char left[64];
        if (!(r->commands & command))
            continue;
        const char letter[] = {'-', r->letter, ',', ' ', '\0'};
        snprintf(left, sizeof(left), "%s--%s%s%s", r->letter ? letter : "    ", r->name,
                 r->arg ? " " : "", r->arg ? r->arg : "");
        cli_print("  %-28s %s\n", left, r->help);
    }
}
