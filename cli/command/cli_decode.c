// SPDX-License-Identifier: Apache-2.0
// lightnet bench --decode: tokens per second of a model with a cache.
//
// A round is a prompt and some steps of one token each. Its states are linked, so that the other
// inputs are tokens, masks and positions. Their names distinguish these: a mask is as long as the
// cache and the new tokens together, all others as the new tokens.

#include "command/cli_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli_measure.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "output/cli_print.h"

typedef struct decoder {
    const cli_decode *opt;
    ln_model *model;
    ln_session *session;
    int prompt, n_new;
    int past;          // the number of tokens in the cache
    double first;      // ms of the first prompt, which compiles a program
    cli_times prompts; // ms of each prompt after the first round
    cli_times steps;   // ms of the steps of a round, together
    int is_warm;       // the first round, which compiles programs, is over
    double *each_step; // [n_new]: the shortest ms of each; 0: none yet
} decoder;

// Inputs

typedef enum input_kind { TOKENS, POSITIONS, MASK } input_kind;

static input_kind kind_of(const char *name)
{
    return strstr(name, "mask") ? MASK : strstr(name, "pos") ? POSITIONS : TOKENS;
}

// Element `i` of an input.
static double element(const decoder *d, input_kind kind, const tl_tensor *t, int i)
{
    if (kind == MASK)
        return 1;
    if (kind == POSITIONS)
        return d->past + i;
    // Few tokens, which small vocabularies have, too: the time of a run does not depend on them.
    return tl_dtype_has_fractions(t->dtype) ? (i % 7 - 3) / 8.0 : (d->past + i) % 16 + 1;
}

static void fill(const decoder *d, input_kind kind, const tl_tensor *t)
{
    for (int i = 0; i < t->len; i++) {
        const double value = element(d, kind, t, i);
        tl_convert((char *)t->data + (size_t)i * tl_size_of(t->dtype), t->dtype, &value, TL_DOUBLE);
    }
}

// The shape of input `i` for `n` new tokens of one sequence.
static int shape_of(const decoder *d, int i, int n, int *dims)
{
    const tl_tensor *const info = ln_model_input_info(d->model, i);
    const int len = kind_of(ln_model_input_name(d->model, i)) == MASK ? d->past + n : n;
    const int first = info->ndim > 1 ? 1 : 0; // of several axes, the first one is the batch
    for (int k = 0; k < info->ndim; k++)
        dims[k] = info->dims[k] >= 0 ? info->dims[k] : k < first ? 1 : len;
    return info->ndim;
}

static int set_input(const decoder *d, int i, int n)
{
    const char *const name = ln_model_input_name(d->model, i);
    const tl_tensor *const info = ln_model_input_info(d->model, i);
    int dims[TL_MAXDIM];
    if (info->ndim < 0 || info->dtype == TL_STRING || !tl_dtype_is_valid(info->dtype))
        return cli_fail("%s: input '%s' is no tensor of numbers of known rank, as --decode expects",
                        cli_source_name(d->opt->opt->args[0]), name);
    const int ndim = shape_of(d, i, n, dims);
    tl_tensor *const t = tl_tensor_zeros(ndim, dims, info->dtype);
    if (!t)
        return cli_fail("input '%s': %s", name, tl_last_error());
    fill(d, kind_of(name), t);
    const ln_status status =
        ln_session_set_input(d->session, name, t->dtype, t->ndim, t->dims, t->data);
    tl_tensor_free_data_too(t);
    return status ? cli_session_fail(d->session, d->opt->opt) : 0;
}

// Whether input `i` is a state.
static int is_state(const decoder *d, int i)
{
    for (int k = 0; k < ln_model_num_outputs(d->model); k++) {
        const char *const input =
            ln_session_linked_input(d->session, ln_model_output_name(d->model, k));
        if (input && !strcmp(input, ln_model_input_name(d->model, i)))
            return 1;
    }
    return 0;
}

// Runs

// Adds `n` tokens to the sequence. *ms: the time of the run.
static int run(decoder *d, int n, double *ms)
{
    for (int i = 0; i < ln_model_num_inputs(d->model); i++)
        if (!is_state(d, i) && set_input(d, i, n))
            return CLI_FAILED;
    const uint64_t start = tl_clock();
    if (cli_session_run(d->session, d->opt->opt))
        return cli_session_fail(d->session, d->opt->opt);
    *ms = (double)(tl_clock() - start) * 1e-6;
    d->past += n;
    return 0;
}

static int run_round(decoder *d, double *prompt, double *steps)
{
    double ms;
    d->past = 0;
    ln_session_reset_states(d->session);
    if (run(d, d->prompt, prompt))
        return CLI_FAILED;
    *steps = 0;
    for (int i = 0; i < d->n_new; i++, *steps += ms) {
        if (run(d, 1, &ms))
            return CLI_FAILED;
        if (d->is_warm && (d->each_step[i] <= 0 || ms < d->each_step[i]))
            d->each_step[i] = ms;
    }
    return 0;
}

// The first round compiles programs. At least one is measured.
static int measure(decoder *d)
{
    double prompt, steps;
    d->is_warm = 0;
    if (run_round(d, &d->first, &steps))
        return CLI_FAILED;
    d->is_warm = 1;
    const uint64_t begin = tl_clock();
    do {
        if (run_round(d, &prompt, &steps) || cli_times_add(&d->prompts, prompt) ||
            cli_times_add(&d->steps, steps))
            return CLI_FAILED;
    } while ((double)(tl_clock() - begin) * 1e-9 < d->opt->seconds);
    cli_times_sort(&d->prompts);
    cli_times_sort(&d->steps);
    return 0;
}

// Links

static int link_one(const decoder *d, const char *text)
{
    const char *const sign = strchr(text, '=');
    char *const output = ln_strdup(text);
    if (!output)
        return cli_fail_memory();
    output[sign - text] = '\0';
    const ln_status status = ln_session_link(d->session, output, sign + 1);
    ln_free(output);
    return status ? cli_session_fail(d->session, d->opt->opt) : 0;
}

static int link_all(const decoder *d)
{
    const cli_strings *const links = d->opt->links;
    for (int i = 0; i < links->n; i++)
        if (link_one(d, links->items[i]))
            return CLI_FAILED;
    const int n = links->n ? links->n : ln_session_link_states(d->session);
    if (n < 0)
        return cli_fail_memory();
    return n ? 0
             : cli_fail("%s: no output is named after an input, as present.0.key after "
                        "past_key_values.0.key; use --link OUTPUT=INPUT",
                        cli_source_name(d->opt->opt->args[0]));
}

// The report

static void report(const decoder *d)
{
    const double prompt = 1e3 * d->prompt / cli_times_quantile(&d->prompts, 0.5);
    const double steps = 1e3 * d->n_new / cli_times_quantile(&d->steps, 0.5);
    const double peak_mb = cli_peak_memory_kb() / 1024;
    if (d->opt->opt->json) {
        cli_json json = {.is_line = 1};
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "model", cli_source_name(d->opt->opt->args[0]));
        cli_json_count(&json, "prompt", (uint64_t)d->prompt);
        cli_json_count(&json, "new", (uint64_t)d->n_new);
        cli_json_count(&json, "rounds", (uint64_t)d->prompts.n);
        cli_json_fixed(&json, "prompt_tokens_per_s", prompt, 3);
        cli_json_fixed(&json, "step_tokens_per_s", steps, 3);
        cli_json_fixed(&json, "first_prompt_ms", d->first, 6);
        cli_json_count(&json, "programs", (uint64_t)ln_model_num_programs(d->model));
        cli_json_number(&json, "peak_rss_mb", peak_mb);
        cli_json_close(&json);
        return;
    }
    cli_print("rounds       %d\n", d->prompts.n);
    cli_print("prompt       %d tokens, %.2f tokens/s\n", d->prompt, prompt);
    cli_print("steps        %d tokens, %.2f tokens/s\n", d->n_new, steps);
    cli_print("first prompt %.3f ms, with compilation\n", d->first);
    cli_print("programs     %d\n", ln_model_num_programs(d->model));
    cli_print("peak memory  %.1f MB\n", peak_mb);
}

static int prepare(decoder *d)
{
    const cli_options *const opt = d->opt->opt;
    d->model = cli_session_open(opt);
    d->session = d->model ? cli_session_create(d->model, opt) : NULL;
    return d->session ? link_all(d) : CLI_FAILED;
}

// Reads "PROMPT,NEW", and checks the form of the links. Returns 0, or CLI_WRONG_USAGE after a
// message.
static int read_options(decoder *d)
{
    const cli_strings *const links = d->opt->links;
    char rest;
    for (int i = 0; i < links->n; i++)
        if (!strchr(links->items[i], '='))
            return cli_usage("--link is '%s', expected OUTPUT=INPUT", links->items[i]);
    if (sscanf(d->opt->lengths, "%9d,%9d%c", &d->prompt, &d->n_new, &rest) == 2 && d->prompt > 0 &&
        d->n_new > 0)
        return 0;
    return cli_usage("--decode is '%s', expected PROMPT,NEW, two numbers of tokens from 1",
                     d->opt->lengths);
}

// Returns 0, or the exit status after a message; free in any case.
static int begin(decoder *d)
{
    if (read_options(d))
        return CLI_WRONG_USAGE;
    d->each_step = calloc((size_t)d->n_new, sizeof(*d->each_step));
    return d->each_step ? 0 : cli_fail_memory();
}

static int measure_quietly(decoder *d)
{
    const int saved = cli_silence_output();
    if (saved < 0)
        return CLI_FAILED;
    const int failed = prepare(d) || measure(d);
    cli_restore_output(saved);
    return failed ? CLI_FAILED : 0;
}

static void end(decoder *d)
{
    free(d->each_step);
    cli_times_free(&d->prompts);
    cli_times_free(&d->steps);
    ln_session_free(d->session);
    ln_model_free(d->model);
}

int cli_decode_measure(const cli_decode *decode)
{
    decoder d = {.opt = decode};
    int status = begin(&d);
    status = status ? status : measure_quietly(&d);
    if (!status)
        report(&d);
    end(&d);
    return status;
}

// For reports

// "NAME=1x4x128x64" for input `i` of a step after the prompt. Returns new (free); NULL: no memory.
static char *step_shape(const decoder *d, int i)
{
    const tl_tensor *const info = ln_model_input_info(d->model, i);
    const char *const name = ln_model_input_name(d->model, i);
    const size_t room = strlen(name) + 2 + 12 * TL_MAXDIM;
    char *const text = malloc(room), *at = text;
    int dims[TL_MAXDIM];
    const int ndim = shape_of(d, i, 1, dims);
    for (int k = 0; k < ndim && is_state(d, i); k++)
        dims[k] = info->dims[k] >= 0 ? info->dims[k] : k ? d->prompt : 1;
    if (text)
        at += snprintf(text, room, "%s=", name);
    for (int k = 0; text && k < ndim; k++)
        at += snprintf(at, room - (size_t)(at - text), "%s%d", k ? "x" : "", dims[k]);
    return text;
}

static int take_shapes(decoder *d, cli_decoded *decoded)
{
    const int n = ln_model_num_inputs(d->model);
    decoded->shapes = calloc((size_t)n + 1, sizeof(*decoded->shapes));
    if (!decoded->shapes)
        return cli_fail_memory();
    d->past = d->prompt;
    for (; decoded->n_shapes < n; decoded->n_shapes++) {
        decoded->shapes[decoded->n_shapes] = step_shape(d, decoded->n_shapes);
        if (!decoded->shapes[decoded->n_shapes])
            return cli_fail_memory();
    }
    return 0;
}

int cli_decode_take(const cli_decode *decode, cli_decoded *decoded)
{
    decoder d = {.opt = decode};
    *decoded = (cli_decoded){.n_shapes = 0};
    int status = begin(&d);
    status = status ? status : measure_quietly(&d) || take_shapes(&d, decoded);
    if (!status) {
        decoded->prompt = d.prompt;
        decoded->n_new = d.n_new;
        decoded->prompt_ms = cli_times_quantile(&d.prompts, 0.5);
        decoded->steps = d.each_step;
        d.each_step = NULL;
    }
    end(&d);
    return status;
}

void cli_decoded_free(cli_decoded *decoded)
{
    for (int i = 0; i < decoded->n_shapes; i++)
        free(decoded->shapes[i]);
    free(decoded->shapes);
    free(decoded->steps);
}
