// SPDX-License-Identifier: Apache-2.0
// lightnet compile: write the compiled model, with a program for each set of shapes.

#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_shape.h"
#include "output/cli_msg.h"

// Sets of shapes

// A NAME that the current set has from --shape begins another set, which inherits the shapes of the
// one before and overrides them.
//
//     --shape ids=1x128 --shape mask=1x128 --shape ids=1x256 --shape mask=1x256
//     --shape batch=1 --shape sequence=128 --shape sequence=256

// The sets; each has values of --shape with different names.
typedef struct shape_sets {
    cli_strings *of;
    int n; // at least 1
} shape_sets;

static int has_same_name(const char *a, const char *b)
{
    cli_shape x, y;
    return !cli_shape_read(&x, a) && !cli_shape_read(&y, b) && !strcmp(x.name, y.name);
}

// Which value of the set has the name; -1: none.
static int find(const cli_strings *set, const char *value)
{
    for (int i = 0; i < set->n; i++)
        if (has_same_name(set->items[i], value))
            return i;
    return -1;
}

// A copy of the set before, with room for `room` values. NULL: no memory.
static cli_strings *begin_set(shape_sets *sets, int room)
{
    cli_strings *grown = realloc(sets->of, ((size_t)sets->n + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    sets->of = grown;
    cli_strings *set = &grown[sets->n];
    *set = (cli_strings){calloc((size_t)room + 1, sizeof(*set->items)), 0};
    if (!set->items)
        return NULL;
    for (; sets->n && set->n < set[-1].n; set->n++)
        set->items[set->n] = set[-1].items[set->n];
    sets->n++;
    return set;
}

static int divide(shape_sets *sets, const cli_strings *shapes, char *is_given)
{
    cli_strings *set = begin_set(sets, shapes->n);
    for (int k = 0; k < shapes->n && set; k++) {
        int i = find(set, shapes->items[k]);
        if (i >= 0 && is_given[i]) {
            memset(is_given, 0, (size_t)shapes->n);
            set = begin_set(sets, shapes->n);
        }
        if (!set)
            break;
        i = i < 0 ? set->n++ : i;
        set->items[i] = shapes->items[k];
        is_given[i] = 1;
    }
    return set ? 0 : cli_fail_memory();
}

static int check_same(const shape_sets *sets)
{
    for (int k = 1; k < sets->n; k++) {
        for (int i = 0; i < k; i++) {
            const cli_strings *a = &sets->of[i], *b = &sets->of[k];
            int n = 0; // values with which both begin
            while (n < a->n && n < b->n && !strcmp(a->items[n], b->items[n]))
                n++;
            if (n == a->n)
                return cli_usage(
                    "programs %d and %d have the same shapes; a repeated NAME in --shape starts "
                    "another program",
                    i + 1, k + 1);
        }
    }
    return 0;
}

// Each set has the names of the one before, so the last has all of them.
static int check_missing(const shape_sets *sets)
{
    cli_shape shape;
    const cli_strings *first = &sets->of[0], *last = &sets->of[sets->n - 1];
    if (first->n == last->n || cli_shape_read(&shape, last->items[first->n]))
        return 0;
    return cli_usage("program 1 has no shape for '%s'; place the --shape options that all programs "
                     "share first",
                     shape.name);
}

// A program without a sum would serve shapes that the sum of another one, which is chosen for them,
// rejects.
static int check_sums(const shape_sets *sets)
{
    for (int i = 1; i < sets->n; i++)
        for (int k = 0; k < sets->of[i].n; k++) {
            const char *const text = sets->of[i].items[k];
            const int before = find(&sets->of[0], text);
            cli_shape now, first;
            if (before < 0 || cli_shape_read(&now, text) ||
                cli_shape_read(&first, sets->of[0].items[before]))
                continue;
            if (strcmp(now.sum, first.sum) != 0)
                return cli_usage(
                    "--shape '%s' and '%s': a size is a sum in all programs or in none", text,
                    sets->of[0].items[before]);
        }
    return 0;
}

// NULL after a message.
static ln_context *compile(const cli_options *opt, int has_others)
{
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return NULL;
    ctx->many_shapes = has_others;
    if (!cli_model_check_given(ctx, opt) && !cli_model_rewrite(ctx, opt))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static int compile_all(const cli_options *opt, const shape_sets *sets, ln_context **programs)
{
    for (int i = 0; i < sets->n; i++) {
        cli_options one = *opt;
        one.shapes = sets->of[i];
        programs[i] = compile(&one, 1);
        if (!programs[i])
            return CLI_FAILED;
        programs[i]->msg_data = (void *)opt;
    }
    return ln_context_save_all(programs, sets->n, opt->datafile, opt->outfile)
               ? cli_model_fail(programs[0], opt)
               : CLI_OK;
}

static int compile_sets(const cli_options *opt, const shape_sets *sets)
{
    if (sets->n == 1) {
        ln_context *ctx = compile(opt, 0);
        const int status = ctx ? cli_model_write(ctx, opt) : CLI_FAILED;
        ln_context_free(ctx);
        return status;
    }
    if (!cli_writes_one_file(opt))
        return cli_usage("--shape defines %d programs, and a JSON file has one; write -o "
                         "FILE.safetensors",
                         sets->n);
    ln_context **programs = calloc((size_t)sets->n, sizeof(*programs));
    const int status = programs ? compile_all(opt, sets, programs) : cli_fail_memory();
    for (int i = 0; i < sets->n && programs; i++)
        ln_context_free(programs[i]);
    free(programs);
    return status;
}

static int run_compile(const cli_options *opt)
{
    shape_sets sets = {0};
    if (!opt->outfile)
        return cli_usage("compile needs -o FILE");
    int status = cli_model_check_outfile(opt);
    if (status)
        return status;
    char *is_given = calloc((size_t)opt->shapes.n + 1, 1);
    status = is_given ? divide(&sets, &opt->shapes, is_given) : cli_fail_memory();
    free(is_given);
    if (!status)
        status = check_same(&sets) || check_missing(&sets) || check_sums(&sets)
                     ? CLI_WRONG_USAGE
                     : compile_sets(opt, &sets);
    for (int i = 0; i < sets.n; i++)
        free(sets.of[i].items);
    free(sets.of);
    return status;
}

static cli_options given = {CLI_DEFAULTS, .may_write = "-", .only_values = 1};

static const cli_option options[] = {
    CLI_SHARED("outfile", "allow-output"),
    CLI_INPUT_VALUES,
    {"shape", 0, CLI_SHAPES, CLI_FIELD(shapes), "NAME=1x3x224x224",
     "the shape of input NAME, or the open size NAME; 1..512 is a range; a repeated NAME "
     "starts another program"},
    CLI_SHARED("max-memory", "max-constant"),
    CLI_SHARED("force", "threads"),
    CLI_SHARED("disable-rule", "tune"),
    CLI_SHARED("debug", "no-warnings"),
};

const cli_command cli_compile_command = {
    {"compile", "MODEL -o FILE", 1, 1, "write the compiled model"},
    CLI_ROWS(options),
    &given,
    run_compile};
