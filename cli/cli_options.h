// SPDX-License-Identifier: Apache-2.0
// Commands and their options. A command has a table of its options, with offsets in its struct.

#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "output/cli_msg.h"

struct cli_photo;

/** Several values of an option that may be repeated. */
typedef struct cli_strings {
    const char **items;
    int n;
} cli_strings;

/** Adds a text, which is borrowed. Returns 0, or CLI_FAILED after a message. */
int cli_strings_add(cli_strings *strings, const char *text);

/** Limits of a run; the times are those of tl_clock(). */
typedef struct cli_limits {
    uint64_t memory;   // --max-memory, in bytes; 0: no limit
    double seconds;    // --max-seconds, below 0: not given
    uint64_t constant; // --max-constant, in bytes; 0: the library's limit
    int operators;     // --max-operators; 0: the library's limit
    uint64_t started;  // when the command began
} cli_limits;

/** How images become inputs. */
typedef struct cli_image_options {
    const char *preprocess; // NULL: not given
    const char *resize;     // NULL: not given
    const char *filter;     // NULL: not given
    double mean[3];         // of each channel; NaN: not given
    double scale[3];        // the same
    double std[3];          // the same
    int bgr;
    int nhwc;                // --layout, -1: not given
    const char *preset;      // --preset, NULL: not given
    int height, width;       // of inputs whose sizes are open; 0: unknown
    int has_beside;          // sizes and masks beside an image are set (cli_beside.h)
    const char *first;       // the name of the first one set of these options; NULL: none
    struct cli_photo *photo; // of run: filled by cli_given_read; NULL: ignored
} cli_image_options;

/** Options that several commands share. The struct of a command's options begins with it. */
typedef struct cli_options {
    const char *outfile;    // -o
    const char *target;     // -t, NULL: not given
    const char *against;    // --against, another target
    const char *datafile;   // -f
    const char *labels;     // --labels
    const char *samples;    // --each or --data: many inputs
    cli_strings inputs;     // -i
    int only_values;        // the command sets no inputs: -i has values for shapes alone
    cli_strings npz_inputs; // texts among these that cli_npz_expand made
    cli_strings fetch;      // --fetch
    cli_strings shapes;     // --shape
    cli_strings disabled;   // --disable-rule
    cli_strings plugins;    // --plugin
    cli_strings includes;   // --include
    const char *may_write;  // --allow-output, or what the command allows; NULL: nothing
    int threads;            // --threads, -1: not given
    int seed;               // --seed, -1: not given
    const char *precision;  // --precision
    int tune;               // --tune
    int map;                // --map
    int run_only;           // -r
    cli_limits limits;
    cli_image_options images;
    int debug;               // -d
    int quiet;               // -w
    int force;               // --force
    int json;                // --json
    int help;                // -h, or CLI_LISTED: another option has printed a list
    int version;             // -v
    const char *color;       // --color, NULL: not given
    int no_color;            // --no-color
    const char *const *args; // the positional arguments
    int n_args;
    const struct cli_command *const *commands; // all, the short form first; NULL ends them
} cli_options;

#define CLI_NOT_GIVEN \
    {                 \
        NAN, NAN, NAN \
    }

/** Values of what is not given. */
#define CLI_DEFAULTS                                      \
    .threads = -1, .seed = -1, .limits = {.seconds = -1}, \
    .images = {.nhwc = -1, .mean = CLI_NOT_GIVEN, .scale = CLI_NOT_GIVEN, .std = CLI_NOT_GIVEN}

// Tables of options

/** What an option sets. */
typedef enum cli_kind {
    CLI_SHARED_ROWS, // those of the shared options from `name` to `arg`
    CLI_FLAG,        // an int
    CLI_TEXT,
    CLI_TEXTS,
    CLI_SHAPES,
    CLI_COUNT,
    CLI_COUNT_FROM_1,
    CLI_THREADS,
    CLI_NOT_NEGATIVE, // a double
    CLI_SIZE,         // bytes
    CLI_CHANNELS,     // 3 doubles
    CLI_DIVISORS,     // the same, without 0
    CLI_LAYOUT,
    CLI_PART_OF, // a cli_part
    CLI_PREPROCESS,
    CLI_RESIZE,
    CLI_FILTER,
    CLI_PRESET,
    CLI_TASK
} cli_kind;

/** cli_options.help after a list that an option printed by its value `help`. */
enum { CLI_LISTED = 2 };

typedef struct cli_option {
    const char *name; // without dashes
    char letter;      // 0: none
    cli_kind kind;
    size_t field;    // its offset in the command's options
    const char *arg; // the name of the value in the help; NULL: none
    const char *help;
    const char *words; // that the value may be, for shells; NULL: others
} cli_option;

#define CLI_ROWS(table) table, sizeof(table) / sizeof((table)[0])
#define CLI_FIELD(name) offsetof(cli_options, name)
#define CLI_SHARED(first, last)                        \
    {                                                  \
        first, 0, CLI_SHARED_ROWS, 0, last, NULL, NULL \
    }

/** -i of commands that set no inputs. */
#define CLI_INPUT_VALUES                                                              \
    {                                                                                 \
        "input", 'i', CLI_TEXTS, CLI_FIELD(inputs), "[NAME=]FILE",                    \
            "the shape of an input, and its value if it decides shapes: npy, npz, pb" \
    }

/** A command. It returns its exit status: 0 success, 1 the model, data or comparison failed, 2
 * wrong usage. Results go to standard output; errors, one line each, warnings and times to standard
 * error. */
typedef struct cli_command {
    struct {
        const char *name; // NULL: the short form
        const char *args;
        int min_args, max_args; // max_args -1: any number
        const char *help;
    } usage;
    const cli_option *options; // in the order of the help; all commands have --color and so on, too
    size_t n_options;
    cli_options *values; // the begin of its options, with the defaults
    int (*run)(const cli_options *opt);
    const struct cli_command *longer; // has the options that are missed here; or NULL
} cli_command;

extern const cli_command cli_short_command, cli_run_command, cli_compile_command,
    cli_convert_command, cli_quantize_command, cli_show_command, cli_verify_command,
    cli_bench_command, cli_report_command, cli_serve_command, cli_ops_command, cli_env_command,
    cli_version_command, cli_completion_command;

/** Option `i` of the command, from 0, in the order of the help; NULL after the last one. */
const cli_option *cli_command_option(const cli_command *command, int i);

/** Reads the arguments of the command (argv[0] is skipped) into its values, and moves those that
 * are not options to the beginning of argv; `call` is how it is called. Returns 0, or the exit
 * status after a message. Free with cli_options_free. */
int cli_options_read(const cli_command *command, const char *call, int argc, char **argv);

void cli_options_free(cli_options *opt);

/** Milliseconds until the deadline of --max-seconds, at least 1; 0: no limit. */
uint64_t cli_options_time_left(const cli_options *opt);

/** The seed of --seed, or 0. */
uint64_t cli_options_seed(const cli_options *opt);

/** Prints the options of the command to standard output. */
void cli_options_help(const cli_command *command);

/** Prints the examples of a command for its help. */
void cli_examples_print(const cli_command *command);

/** lightnet show --missing. */
int cli_missing(const cli_options *opt);

/** The diagram that the options of `show` want, such as "--svg"; NULL: none. */
const char *cli_show_diagram(const cli_options *opt);

/** Becomes the program lightnet-serve with the arguments after argv[0]. Returns the exit status
 * after a message if it cannot be started. */
int cli_serve(char **argv);

/** Prints the version and features. */
int cli_version(const cli_options *opt);
