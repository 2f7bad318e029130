// SPDX-License-Identifier: Apache-2.0
// The commands, and the options of all of them: one table has their names, meanings and commands.

#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "output/cli_msg.h"

struct cli_photo;

/** Commands, as bits, so that an option can belong to several. */
typedef enum cli_command {
    CLI_SHORT = 1 << 0, // lightnet MODEL
    CLI_RUN = 1 << 1,
    CLI_COMPILE = 1 << 2,
    CLI_SHOW = 1 << 3,
    CLI_VERIFY = 1 << 4,
    CLI_BENCH = 1 << 5,
    CLI_OPS = 1 << 6,
    CLI_ENV = 1 << 7,
    CLI_CONVERT = 1 << 8,
    CLI_QUANTIZE = 1 << 9,
    CLI_ALL = (1 << 10) - 1, // those above, which work
    CLI_HELP = 1 << 10,
    CLI_VERSION = 1 << 11,
    CLI_COMPLETION = 1 << 12,
    CLI_ANY = (1 << 13) - 1
} cli_command;

/** Several values of an option that may be repeated. */
typedef struct cli_strings {
    const char **items;
    int n;
} cli_strings;

/** Adds a text, which is borrowed. Returns 0, or CLI_FAILED after a message. */
int cli_strings_add(cli_strings *strings, const char *text);

typedef struct cli_options {
    const char *outfile;     // -o
    const char *outdir;      // -O
    const char *target;      // -t, NULL: not given
    const char *datafile;    // -f
    const char *against;     // --against
    const char *labels;      // --labels
    const char *trace;       // --trace
    const char *format;      // --to
    int external_data;       // --external-data
    const char *run_shapes;  // --shapes
    const char *data;        // --data
    const char *calibration; // --calibration, NULL: not given
    const char *preprocess;  // --preprocess, NULL: not given
    const char *resize;      // --resize, NULL: not given
    const char *filter;      // --filter, NULL: not given
    const char *draw;        // --draw, NULL: not given
    const char *each;        // --each
    cli_strings inputs;      // -i
    int only_values;         // the command sets no inputs: -i has values for shapes alone
    cli_strings npz_inputs;  // texts among these that cli_npz_expand made
    cli_strings fetch;       // --fetch
    cli_strings shapes;      // --shape
    cli_strings disabled;    // --disable-rule
    cli_strings plugins;     // --plugin
    cli_strings includes;    // --include
    const char *may_write;   // --allow-output, or what the command allows; NULL: nothing
    int threads;             // --threads, -1: not given
    int seed;                // --seed, -1: not given
    int top;                 // --top
    int batch;               // --batch, 0: not given
    double seconds;          // --seconds
    uint64_t max_memory;     // --max-memory, in bytes; 0: no limit
    double max_seconds;      // --max-seconds, below 0: not given
    uint64_t max_constant;   // --max-constant, in bytes; 0: the library's limit
    int max_operators;       // --max-operators; 0: the library's limit
    uint64_t started;        // when the command began, on tl_clock()
    double mean[3];          // --mean, of each channel; NaN: not given
    double scale[3];         // --scale, the same
    double std[3];           // --std, the same
    double threshold;        // --threshold, below 0: not given
    double overlap;          // --overlap, below 0: not given
    double rtol;             // --rtol, below 0: not given
    double atol;             // --atol, below 0: not given
    double percentile;       // --percentile, below 0: not given
    double max_error;        // --max-error, below 0: not given
    double top1;             // --top1, below 0: not given
    double each_seconds;     // --seconds of quantize, below 0: not given
    int any_speed;           // --any-speed
    int compile_only;        // -c
    int run_only;            // -r
    const char *precision;   // --precision
    int tune;                // --tune
    int map;                 // --map
    int debug;               // -d
    int quiet;               // -w
    int force;               // --force
    int print_all;           // --print-all
    int bgr;                 // --bgr
    int nhwc;                // --layout
    int rules;               // --rules
    int dot;                 // --dot
    int svg;                 // --svg
    int svg_memory;          // --svg-memory
    int missing;             // --missing
    int reference;           // --reference
    int per_op;              // --per-op
    int json;                // --json
    int help;                // -h
    int version;             // -v
    const char *for_images;  // the first one set of the options for images; NULL: none
    struct cli_photo *photo; // of run: filled by cli_given_read; NULL: ignored
    const char *const *args; // the positional arguments
    int n_args;

    // what --json prints while verify runs; or NULL
    struct cli_json *doc;

    const char *color; // --color, NULL: not given
    int no_color;      // --no-color
} cli_options;

/** Reads the arguments of `command` (argv[0] is skipped) into `opt`, and moves those that are not
 * options to the beginning of argv; `name` is the name of the command. Returns 0, or the exit
 * status after a message. Free with cli_options_free. */
int cli_options_read(cli_options *opt, cli_command command, const char *name, int argc,
                     char **argv);

void cli_options_free(cli_options *opt);

/** Milliseconds until the deadline of --max-seconds, at least 1; 0: no limit. */
uint64_t cli_options_time_left(const cli_options *opt);

/** The seed of --seed, or 0. */
uint64_t cli_options_seed(const cli_options *opt);

/** Prints the options of `command` to standard output. */
void cli_options_help(cli_command command);

/** An option, as completion and help show it. */
typedef struct cli_option_info {
    const char *name;  // without dashes
    char letter;       // 0: none
    unsigned commands; // that have it
    const char *arg;   // the name of its value; NULL: none
    const char *help;
} cli_option_info;

/** Option `i`, from 0, in the order of the help. Returns 0 after the last one. A name has several,
 * for different commands. */
int cli_options_info(int i, cli_option_info *info);

// Commands

typedef struct cli_command_info {
    const char *name; // NULL: the short form
    cli_command bit;
    const char *args;
    int min_args, max_args; // max_args -1: any number
    const char *help;
} cli_command_info;

enum { CLI_N_COMMANDS = 13 };

/** The short form first. */
extern const cli_command_info cli_commands[CLI_N_COMMANDS];

/** Prints the examples of a command for its help. */
void cli_examples_print(cli_command command);

// A command returns its exit status: 0 success, 1 the model, data or comparison failed, 2 wrong
// usage. Results go to standard output; errors, one line each, warnings and times to standard
// error.

int cli_short(const cli_options *opt);
int cli_run(const cli_options *opt);
int cli_compile(const cli_options *opt);
int cli_convert(const cli_options *opt);
int cli_quantize(const cli_options *opt);
int cli_show(const cli_options *opt);

/** lightnet show --missing. */
int cli_missing(const cli_options *opt);
int cli_verify(const cli_options *opt);
int cli_bench(const cli_options *opt);
int cli_ops(const cli_options *opt);
int cli_env(const cli_options *opt);
int cli_version(const cli_options *opt);
int cli_completion(const cli_options *opt);

#endif
