// SPDX-License-Identifier: Apache-2.0
// lightnet run, and the short form: compile, run, and deliver the outputs.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_options.h"
#include "command/cli_each.h"
#include "command/cli_measure.h"
#include "draw/cli_draw.h"
#include "input/cli_class_names.h"
#include "input/cli_given.h"
#include "input/cli_il.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_part.h"
#include "input/cli_preprocess.h"
#include "input/cli_presets.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "output/cli_found.h"
#include "output/cli_json_outputs.h"
#include "output/cli_known.h"
#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "output/cli_output.h"
#include "tensorlight/tl_util.h"

// With a session: inputs may have any shapes that the model allows

// The state of a run.
typedef struct run {
    const cli_run_options *opt;
    const char *source; // for messages
    ln_model *model;
    ln_session *session;
    int has_other; // an array differs from the fixed shape of its input
} run;

// Standard output during a run: with --json, the output of `print` operators is dropped.

enum { NOT_SILENT = -1, FAILED_TO_BEGIN = -2 };

// The argument for end_run; FAILED_TO_BEGIN after a message.
static int begin_run(const cli_options *opt)
{
    const int saved = opt->json ? cli_silence_output() : NOT_SILENT;
    return opt->json && saved < 0 ? FAILED_TO_BEGIN : saved;
}

static void end_run(int saved)
{
    if (saved >= 0)
        cli_restore_output(saved);
}

// Whether a session will do

// The first option that changes compilation or needs a context; NULL: none.
static const char *find_excluding(const cli_run_options *opt)
{
    return opt->shared.run_only     ? "-r"
           : opt->shared.target     ? "-t"
           : opt->shared.tune       ? "--tune"
           : opt->shared.precision  ? "--precision"
           : opt->shared.disabled.n ? "--disable-rule"
                                    : NULL;
}

// Models whose file the library reads directly.
static int is_for_session(const cli_run_options *opt)
{
    return !opt->shared.run_only && !cli_source_is_stream(opt->shared.args[0]) &&
           !cli_il_is_file(opt->shared.args[0]);
}

// Whether the model has inputs, of known types, and -i names only these. With a context, -i may
// name other tensors that a model creates, sequences and optional values.
static int has_inputs(const ln_model *model, const cli_run_options *opt)
{
    char name[LN_MAX_NAME_LEN];
    if (!cli_session_has_types(model))
        return 0;
    for (int i = 0; i < opt->shared.inputs.n; i++)
        if (cli_given_split(opt->shared.inputs.items[i], name) &&
            ln_model_input_index(model, name) < 0)
            return 0;
    return ln_model_num_inputs(model) > 0 && opt->shared.inputs.n <= ln_model_num_inputs(model);
}

// The same with --map, which a context cannot do. NULL after a message.
static ln_model *open_mapped(const cli_run_options *opt)
{
    const char *other = opt->shared.fetch.n ? "--fetch" : find_excluding(opt);
    if (other)
        cli_fail("--map and %s exclude each other", other);
    else if (!is_for_session(opt))
        cli_fail("%s: --map needs a compiled model in one file",
                 cli_source_name(opt->shared.args[0]));
    if (other || !is_for_session(opt))
        return NULL;
    ln_model *model = cli_session_open(&opt->shared);
    if (model && cli_known_read(opt->known, model)) {
        ln_model_free(model);
        return NULL;
    }
    if (!model || has_inputs(model, opt))
        return model;
    cli_fail("%s: --map needs a model with inputs, and -i only for them; run it without --map",
             opt->shared.args[0]);
    ln_model_free(model);
    return NULL;
}

// Opens the model if a session supports the options. NULL without a message: use a context, or let
// it report why it cannot. Not with a time limit, which might leave a context no time to report.
static ln_model *open_model(const cli_run_options *opt)
{
    const int may_try = is_for_session(opt) && opt->shared.limits.seconds < 0;
    ln_model *model = may_try ? cli_session_try(&opt->shared) : NULL;
    if (model && cli_known_read(opt->known, model)) {
        ln_model_free(model);
        return NULL; // a context reports that there is no memory
    }
    // Contexts check the options of a compiled model.
    const int is_compiled =
        model && (ln_model_metadata(model, "target") || ln_model_metadata(model, "program.1"));
    if (!model || (has_inputs(model, opt) && !(find_excluding(opt) && is_compiled)))
        return model;
    ln_model_free(model);
    return NULL;
}

// Inputs

static int fail_input(const run *r, const char *name, const char *reason)
{
    return cli_fail("%s: input '%s': %s", r->source, name, reason);
}

// Returns new (tl_tensor_free_data_too), NULL after a message.
static tl_tensor *read_open(const run *r, int i, const char *file)
{
    ln_error err = {0};
    tl_tensor *const tensor = cli_session_read_open(r->model, &r->opt->shared, i,
                                                    ln_model_input_info(r->model, i), file, &err);
    if (!tensor)
        fail_input(r, ln_model_input_name(r->model, i), ln_error_text(&err));
    return tensor;
}

static int has_other_shape(const cli_run_options *opt, const char *file, const tl_tensor *info)
{
    ln_error err = {0};
    tl_tensor *whole =
        cli_source_is_stream(file) ? NULL : cli_given_read_whole(&opt->shared, file, &err);
    const int is_other = whole && !tl_tensor_issameshape(whole, info);
    tl_tensor_free_data_too(whole);
    return is_other;
}

static tl_tensor *read_closed(run *r, int i, const char *file)
{
    ln_error err = {0};
    const tl_tensor *info = ln_model_input_info(r->model, i);
    tl_tensor *tensor = cli_given_read(&r->opt->shared, file, info, &err);
    if (!tensor && !r->opt->shared.map)
        r->has_other = has_other_shape(r->opt, file, info);
    if (!tensor && !r->has_other)
        fail_input(r, ln_model_input_name(r->model, i), ln_error_text(&err));
    return tensor;
}

static tl_tensor *read_input(void *data, int i, const char *file)
{
    run *const r = data;
    const int is_open = *file && cli_session_is_open(ln_model_input_info(r->model, i));
    return is_open ? read_open(r, i, file) : read_closed(r, i, file);
}

// Running

static void add_time(void *data, const char *name, const char *type, uint64_t ns)
{
    uint64_t *sum = data;
    (void)name;
    (void)type;
    *sum += ns;
}

// The time is that of the operators: the first run with new shapes also creates a program.
static int run_session_once(const run *r)
{
    uint64_t ns = 0;
    const int saved = begin_run(&r->opt->shared);
    if (saved == FAILED_TO_BEGIN)
        return CLI_FAILED;
    ln_session_set_timeout(r->session, cli_options_time_left(&r->opt->shared));
    const ln_status status = ln_session_run_timed(r->session, add_time, &ns);
    end_run(saved);
    return status ? cli_session_fail(r->session, &r->opt->shared) : cli_output_print_time(ns);
}

static const tl_tensor *get_output(void *data, int k, const char **name)
{
    const run *const r = data;
    *name = ln_model_output_name(r->model, k);
    const tl_tensor *const t = ln_session_output(r->session, *name);
    if (!t)
        cli_session_fail(r->session, &r->opt->shared);
    return t;
}

static int set_and_run(run *r)
{
    const cli_session_inputs inputs = {.opt = &r->opt->shared,
                                       .model = r->model,
                                       .session = r->session,
                                       .read = read_input,
                                       .data = r,
                                       .each = -1};
    if (cli_session_set_inputs(&inputs))
        return CLI_FAILED;
    cli_preprocess_warn(r->opt->shared.images.photo);
    const int status = cli_output_check(r->opt, ln_model_num_outputs(r->model));
    return status ? status : run_session_once(r);
}

// Runs the model (takes it) with the inputs of -i and delivers its outputs. *has_other_shape:
// no run, and no message, since an array differs from the fixed shape of its input: a context may
// read the model for that shape.
static int run_session(ln_model *model, const cli_run_options *opt, const cli_labels *names,
                       int *has_other_shape)
{
    run r = {opt, cli_source_name(opt->shared.args[0]), model,
             cli_session_create(model, &opt->shared), 0};
    int status = r.session ? set_and_run(&r) : CLI_FAILED;
    if (!status)
        status = cli_output_deliver_all(opt, ln_model_num_outputs(model), get_output, &r, names);
    ln_session_free(r.session);
    ln_model_free(model);
    *has_other_shape = r.has_other;
    return status;
}

// With a context

// A model with the key "inputs" has exactly these, also none. Compiling writes the key, too.
static int names_inputs(const ln_context *ctx)
{
    return ctx->declared & LN_DECLARES_INPUTS;
}

static int run_once(ln_context *ctx, const cli_options *opt)
{
    const int saved = begin_run(opt);
    if (saved == FAILED_TO_BEGIN)
        return CLI_FAILED;
    const uint64_t start = tl_clock();
    const int status = ln_context_run(ctx);
    const uint64_t ns = tl_clock() - start;
    end_run(saved);
    return status ? cli_model_fail(ctx, opt) : cli_output_print_time(ns);
}

// The outputs of a context, of which `at` is the next one.
typedef struct reader {
    ln_context *ctx;
    const cli_options *opt;
    const ln_list *at;
} reader;

static const tl_tensor *read_output(void *data, int k, const char **name)
{
    reader *const r = data;
    (void)k;
    *name = r->at->data;
    r->at = r->at->next;
    return cli_model_tensor(r->ctx, r->opt, *name);
}

// With a context, for features that sessions lack.
static int run_context(const cli_run_options *opt, const cli_labels *names)
{
    ln_context *ctx = cli_model_read(&opt->shared);
    const int is_constant_intended = ctx && (names_inputs(ctx) || opt->shared.inputs.n);
    int status =
        ctx && !cli_model_load(ctx, &opt->shared) && !cli_model_set_inputs(ctx, &opt->shared, 0)
            ? 0
            : CLI_FAILED;
    if (!status)
        cli_model_refresh_random(ctx, &opt->shared);
    if (!status && !is_constant_intended)
        cli_model_warn_constant(ctx);
    if (!status)
        cli_preprocess_warn(opt->shared.images.photo);
    if (!status)
        status = cli_output_check(opt, ln_list_length(ctx->outputs));
    if (!status)
        status = run_once(ctx, &opt->shared);
    if (!status) {
        reader r = {ctx, &opt->shared, ctx->outputs};
        status = cli_output_deliver_all(opt, ln_list_length(ctx->outputs), read_output, &r, names);
    }
    ln_context_free(ctx);
    return status;
}

static int run_and_deliver(const cli_run_options *opt, const cli_labels *names)
{
    ln_model *model = opt->shared.map ? open_mapped(opt) : open_model(opt);
    if (!model && opt->shared.map)
        return CLI_FAILED;
    int has_other_shape = 1;
    const int status = model ? run_session(model, opt, names, &has_other_shape) : 0;
    return has_other_shape ? run_context(opt, names) : status;
}

// For --draw classes without --top.
enum { DRAWN_CLASSES = 3 };

// Options that are not given, by the preset, by --draw, and by default. Returns the preset; NULL:
// none.
static const cli_preset *complete(cli_run_options *opt)
{
    const cli_preset *const preset = cli_preset_apply(&opt->shared.images);
    if (preset) {
        if (!opt->top && !opt->task && !cli_draw_task(opt->draw))
            opt->top = preset->top;
        if (!opt->task)
            opt->task = preset->task;
    }
    if (!opt->task)
        opt->task = cli_draw_task(opt->draw);
    opt->shared.images.has_beside = opt->task != NULL;
    if (opt->draw && !opt->top && !strcmp(opt->draw, "classes"))
        opt->top = DRAWN_CLASSES;
    return preset;
}

static int check(const cli_run_options *opt)
{
    if (opt->print_all && opt->outdir && !opt->top)
        return cli_usage("--print-all needs --top K beside -O, which writes outputs in full");
    if (opt->shared.labels && !opt->top && !opt->draw && !opt->task)
        return cli_usage("--labels needs --top K, --draw or --task");
    const char *const lonely = opt->batch ? "--batch" : opt->part.n ? "--part" : "--resume";
    if ((opt->batch || opt->part.n || opt->resume) && !opt->shared.samples)
        return cli_usage("%s needs --each DIR, PATTERN or LIST", lonely);
    if (opt->resume && !opt->outdir)
        return cli_usage("--resume needs -O DIR, where the outputs are");
    if (opt->resume && opt->shared.force)
        return cli_usage("--resume and --force exclude each other");
    return cli_draw_check(opt);
}

// --labels, else those of the preset, which those of the model replace.
static int read_labels(const cli_run_options *opt, const cli_preset *preset, cli_labels *labels)
{
    const char *const list = preset ? cli_class_names(preset->labels) : NULL;
    if (opt->shared.labels || !list)
        return cli_labels_read(opt->shared.labels, labels);
    char *const text = strdup(list);
    *labels = (cli_labels){0};
    const int status = text ? cli_labels_split(labels, text) : cli_fail_memory();
    labels->must_fit = 1;
    return status;
}

static int run_run(const cli_options *shared)
{
    cli_run_options with = *(const cli_run_options *)shared;
    const cli_run_options *const opt = &with;
    cli_drawing drawing = {0};
    cli_photo photo = {.drawing = &drawing};
    cli_labels names;
    cli_known known = {.labels = &names, .is_given = with.shared.labels != NULL};
    int made = 0;
    const cli_preset *const preset = complete(&with);
    int status = check(opt);
    if (!status && opt->shared.samples)
        status = cli_part_find(&with.part);
    if (status)
        return status;
    with.shared.images.photo = opt->shared.samples ? NULL : &photo; // each file has its own
    with.known = &known;
    with.threshold = opt->threshold < 0 ? 0.5 : opt->threshold;
    with.overlap = opt->overlap < 0 ? 0.5 : opt->overlap;
    status = read_labels(opt, preset, &names);
    if (!status && opt->outdir)
        status = cli_output_prepare(opt, &made);
    if (!status)
        status = opt->shared.samples ? cli_each_run(opt, &names) : run_and_deliver(opt, &names);
    if (status && made && !cli_part_is_shared(&opt->part))
        rmdir(opt->outdir); // stays when an output is in it, or others write to it
    cli_labels_free(&names);
    cli_found_free_drawing(&drawing);
    return status;
}

static cli_run_options given_to_run = {.shared = {CLI_DEFAULTS}, .threshold = -1, .overlap = -1};

#define OWN(name) offsetof(cli_run_options, name)

static const cli_option run_options[] = {
    CLI_SHARED("target", "input"),
    {"each", 0, CLI_TEXT, CLI_FIELD(samples), "DIR|PATTERN|LIST",
     "run once for each file of a folder, of a quoted pattern, or of a text file with a path in "
     "each line (- standard input, line by line)"},
    {"batch", 0, CLI_COUNT_FROM_1, OWN(batch), "N", "--each: run N files at a time"},
    {"part", 0, CLI_PART_OF, OWN(part), "I/N",
     "--each: run part I of N of the files (default: by the rank under mpirun or srun)"},
    {"resume", 0, CLI_FLAG, OWN(resume), NULL,
     "--each: skip files whose outputs in -O DIR are complete"},
    {"outdir", 'O', CLI_TEXT, OWN(outdir), "DIR|FILE.npz",
     "write output_0.npy, ... to DIR, or all outputs to FILE.npz (bfloat16 as uint16); --each: "
     "FILE_OUTPUT.npy"},
    {"top", 0, CLI_COUNT_FROM_1, OWN(top), "K", "print the K best classes of each output row"},
    CLI_SHARED("labels", "labels"),
    {"preset", 0, CLI_PRESET, CLI_FIELD(images.preset), "NAME",
     "as for this family of models: --preprocess, open sizes of images, --task and labels, such as "
     "yolov8 (help lists them)",
     CLI_PRESET_WORDS},
    {"task", 0, CLI_TASK, OWN(task), "NAME",
     "print what the outputs show in the image: detect, segment, pose, obb, semantic, any or a "
     "family (help lists them)",
     "any detect segment pose obb semantic help"},
    {"draw", 0, CLI_TEXT, OWN(draw), "WHAT",
     "draw boxes, mask, classes or a task on the image of -i, and write -o FILE; --each: on all, "
     "in -O DIR",
     "boxes mask classes detect segment pose obb semantic"},
    {"outfile", 'o', CLI_TEXT, CLI_FIELD(outfile), "FILE",
     "--draw: the image to write, .png, .jpg or .ppm"},
    {"threshold", 0, CLI_NOT_NEGATIVE, OWN(threshold), "T",
     "--draw, --task: the min score of boxes and masks (default 0.5)"},
    {"overlap", 0, CLI_NOT_NEGATIVE, OWN(overlap), "V",
     "--draw boxes, --task: the max intersection over union of two boxes (default 0.5)"},
    {"print-all", 0, CLI_FLAG, OWN(print_all), NULL,
     "print large outputs in full, and --top of all rows"},
    CLI_SHARED("shape", "max-constant"),
    CLI_SHARED("json", "no-warnings"),
};

const cli_command cli_run_command = {
    {"run", "MODEL", 1, 1, "compile and run, with inputs and outputs"},
    CLI_ROWS(run_options),
    &given_to_run.shared,
    run_run};

// The short form

typedef struct short_options {
    cli_options shared;
    int compile_only;
} short_options;

// The short form has no option for inputs.
static int check_inputs(const ln_context *ctx, const cli_options *opt)
{
    char call[LN_MAXLINE];
    LN_FOREACH (const char *, name, ctx->missing) {
        if (!ln_list_find_custom(ctx->inputs, name, ln_str_cmp))
            continue;
        snprintf(call, sizeof(call), "lightnet run %.256s ", opt->args[0]);
        return cli_model_fail_missing(ctx, name, call);
    }
    return 0;
}

// The short form runs with the model's own data, and prints the output of its `print` operators.
static int compile_and_run(ln_context *ctx, const cli_options *opt)
{
    const int is_constant_intended = names_inputs(ctx);
    if (cli_model_compile(ctx, opt))
        return CLI_FAILED;
    if (opt->outfile && cli_model_write(ctx, opt))
        return CLI_FAILED;
    if (((const short_options *)opt)->compile_only)
        return 0;
    // A model that was written with its weights has them.
    if (ln_context_load(ctx, cli_writes_one_file(opt) ? NULL : opt->datafile))
        return cli_model_fail(ctx, opt);
    cli_model_refresh_random(ctx, opt);
    if (!is_constant_intended)
        cli_model_warn_constant(ctx);
    return check_inputs(ctx, opt) ? CLI_FAILED : run_once(ctx, opt);
}

static int run_short(const cli_options *opt)
{
    if (((const short_options *)opt)->compile_only && opt->run_only)
        return cli_usage("-c and -r exclude each other");
    int status = opt->outfile ? cli_model_check_outfile(opt) : CLI_OK;
    if (status)
        return status;
    ln_context *ctx = cli_model_read(opt);
    status = ctx ? compile_and_run(ctx, opt) : CLI_FAILED;
    ln_context_free(ctx);
    return status;
}

static short_options given_to_short = {.shared = {CLI_DEFAULTS, .may_write = "-"}};

static const cli_option short_form_options[] = {
    CLI_SHARED("outfile", "allow-output"),
    {"compile", 'c', CLI_FLAG, offsetof(short_options, compile_only), NULL, "compile only"},
    CLI_SHARED("run", "run"),
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("max-memory", "max-constant"),
    CLI_SHARED("force", "tune"),
    CLI_SHARED("debug", "no-warnings"),
};

const cli_command cli_short_command = {
    {NULL, "MODEL", 1, 1, "compile for the default target and run"},
    CLI_ROWS(short_form_options),
    &given_to_short.shared,
    run_short,
    &cli_run_command};
