// SPDX-License-Identifier: Apache-2.0
// Opens models and creates sessions with the options of the command line.

#include "input/cli_session.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/cli_beside.h"
#include "input/cli_given.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_shape.h"
#include "input/cli_source.h"
#include "output/cli_msg.h"

int cli_session_fail(const ln_session *session, const cli_options *opt)
{
    return cli_model_fail_for(cli_source_name(opt->args[0]), opt, ln_session_error(session));
}

// Options

#define FIELD(name) offsetof(cli_options, name)

static const struct {
    const char *key;
    size_t field;
} texts[] =
    {
        {"target", FIELD(target)},
        {"weights", FIELD(datafile)},
        {"allow_output", FIELD(may_write)},
},
  lists[] = {
      {"shape", FIELD(shapes)},
      {"folder", FIELD(includes)},
      {"disabled_rule", FIELD(disabled)},
      {"output", FIELD(fetch)},
};

enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]), N_LISTS = sizeof(lists) / sizeof(lists[0]) };

static int set_option(ln_options *options, const char *key, const char *value)
{
    return value && ln_options_set(options, key, value) ? cli_fail("%s", ln_model_error(NULL)) : 0;
}

static int set_number(ln_options *options, const char *key, uint64_t value, int is_given)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return is_given ? set_option(options, key, text) : 0;
}

// A sum of sizes, which sessions find by themselves.
static int is_sum(const char *key, const char *value)
{
    cli_shape shape;
    return !strcmp(key, "shape") && !cli_shape_read(&shape, value) && *shape.sum;
}

static int set_options(ln_options *options, const cli_options *opt, int skips_sums)
{
    const char *fields = (const char *)opt;
    int status = 0;
    for (size_t i = 0; i < N_TEXTS && !status; i++)
        status = set_option(options, texts[i].key, *(const char *const *)(fields + texts[i].field));
    for (size_t i = 0; i < N_LISTS && !status; i++) {
        const cli_strings *values = (const cli_strings *)(fields + lists[i].field);
        for (int k = 0; k < values->n && !status; k++)
            if (!skips_sums || !is_sum(lists[i].key, values->items[k]))
                status = set_option(options, lists[i].key, values->items[k]);
    }
    return status || set_number(options, "threads", (uint64_t)opt->threads, opt->threads >= 0) ||
                   set_number(options, "seed", (uint64_t)opt->seed, opt->seed >= 0) ||
                   set_number(options, "memory_limit", opt->limits.memory,
                              opt->limits.memory > 0) ||
                   set_number(options, "operators_limit", (uint64_t)opt->limits.operators,
                              opt->limits.operators > 0) ||
                   set_number(options, "constant_limit", opt->limits.constant,
                              opt->limits.constant > 0) ||
                   set_number(options, "open_timeout", cli_options_time_left(opt),
                              opt->limits.seconds >= 0) ||
                   set_option(options, "tuning", opt->tune ? "yes" : NULL) ||
                   set_option(options, "precision", opt->precision) ||
                   set_option(options, "map", opt->map ? "yes" : NULL)
               ? CLI_FAILED
               : 0;
}

static void print_message(void *data, int level, const char *text)
{
    cli_model_print_message(data, (ln_msg_level)level, text);
}

// skips_sums: ignores sums of sizes. Returns new; NULL after a message.
static ln_options *create_options(const cli_options *opt, int skips_sums)
{
    ln_options *options = ln_options_create();
    if (!options)
        return cli_fail_memory(), NULL;
    ln_options_set_messages(options, print_message, (void *)opt);
    if (!set_options(options, opt, skips_sums))
        return options;
    ln_options_free(options);
    return NULL;
}

// Models

static ln_status open_stream(const char *source, const ln_options *options, ln_model **model)
{
    size_t len;
    char *text = cli_source_read(source, &len);
    *model = NULL;
    if (!text)
        return LN_IO_ERROR;
    const ln_status status =
        ln_model_open_memory(cli_source_name(source), text, len, options, model);
    ln_free(text);
    return status;
}

static ln_status open_source(const char *source, const ln_options *options, ln_model **model)
{
    return cli_source_is_stream(source) ? open_stream(source, options, model)
                                        : ln_model_open(source, options, model);
}

static ln_model *try_without_sums(const cli_options *opt)
{
    ln_options *options = create_options(opt, 1);
    ln_model *model = NULL;
    if (options)
        open_source(opt->args[0], options, &model);
    ln_options_free(options);
    return model;
}

ln_model *cli_session_try(const cli_options *opt)
{
    for (int i = 0; i < opt->shapes.n; i++)
        if (is_sum("shape", opt->shapes.items[i]))
            return NULL;
    return try_without_sums(opt);
}

ln_model *cli_session_open(const cli_options *opt)
{
    const char *source = opt->args[0];
    ln_options *options = create_options(opt, 0);
    ln_model *model = NULL;
    if (options && open_source(source, options, &model))
        cli_model_fail_reading(cli_source_name(source), opt, ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

int cli_session_has_types(const ln_model *model)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        if (!tl_dtype_is_valid(ln_model_input_info(model, i)->dtype))
            return 0;
    return 1;
}

int cli_session_is_open(const tl_tensor *info)
{
    int n = info->ndim < 0;
    for (int i = 0; i < info->ndim; i++)
        n += info->dims[i] < 0;
    return n > 0;
}

// Text that is truncated at LN_MAXLINE bytes.
typedef struct line {
    char *text;
    size_t len;
} line;

__attribute__((format(printf, 2, 3))) static void append(line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (l->len < LN_MAXLINE)
        l->len += (size_t)vsnprintf(l->text + l->len, LN_MAXLINE - l->len, fmt, args);
    va_end(args);
}

// The queries for inputs, or for outputs.
typedef struct port_kind {
    const char *(*dim_name)(const ln_model *model, int i, int axis);
    ln_status (*bounds)(const ln_model *model, int i, int axis, int *min, int *max);
} port_kind;

static const port_kind of_inputs = {ln_model_input_dim_name, ln_model_input_bounds},
                       of_outputs = {ln_model_output_dim_name, ln_model_output_bounds};

static const char *print_shape(const ln_model *model, int i, const tl_tensor *info,
                               const port_kind *kind, char *text)
{
    line l = {.text = text};
    append(&l, info->ndim < 0 ? "of any shape" : "[");
    for (int axis = 0; axis < info->ndim; axis++) {
        const char *name = kind->dim_name(model, i, axis);
        append(&l, axis ? ", " : "");
        if (info->dims[axis] >= 0) {
            append(&l, "%d", info->dims[axis]);
            continue;
        }
        int min, max;
        append(&l, "%s", name ? name : "?");
        if (!kind->bounds(model, i, axis, &min, &max) && max < INT_MAX)
            append(&l, " of %d..%d", min, max);
    }
    append(&l, info->ndim < 0 ? "" : "]");
    return text;
}

const char *cli_session_input_shape(const ln_model *model, int i, char *text)
{
    return print_shape(model, i, ln_model_input_info(model, i), &of_inputs, text);
}

const char *cli_session_output_shape(const ln_model *model, int i, char *text)
{
    return print_shape(model, i, ln_model_output_info(model, i), &of_outputs, text);
}

void cli_session_add_sum(cli_sums *sums, const ln_open_size *size)
{
    if (!size->name || !size->sum || sums->n == CLI_MAX_SUMS)
        return;
    snprintf(sums->items[sums->n].name, LN_MAX_NAME_LEN, "%s", size->name);
    snprintf(sums->items[sums->n++].sum, LN_MAXLINE, "%s", size->sum);
}

static void add_sum(void *data, const ln_open_size *size)
{
    cli_session_add_sum(data, size);
}

// A valid length of the axis, for an example: its own, the min of its range, or 1.
static int independent_size(const ln_model *model, int i, int axis)
{
    const int dim = ln_model_input_info(model, i)->dims[axis];
    int min, max;
    if (dim >= 0)
        return dim;
    return !ln_model_input_bounds(model, i, axis, &min, &max) && min > 1 ? min : 1;
}

// Whether the axis has this name, as ln_open_size has them, of `len` bytes.
static int is_named(const ln_model *model, int i, int axis, const char *name, size_t len)
{
    char place[LN_MAX_NAME_LEN + 16];
    const char *own = ln_model_input_dim_name(model, i, axis);
    if (!own) {
        snprintf(place, sizeof(place), "%s[%d]", ln_model_input_name(model, i), axis);
        own = place;
    }
    return strlen(own) == len && !memcmp(own, name, len);
}

// A term of a sum: a number, or the name of a size.
static int term_size(const ln_model *model, const char *term, size_t len)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        for (int axis = 0; axis < ln_model_input_info(model, i)->ndim; axis++)
            if (is_named(model, i, axis, term, len))
                return independent_size(model, i, axis);
    return (int)strtol(term, NULL, 10);
}

static int sum_size(const ln_model *model, const char *sum)
{
    static const char plus[] = " + ";
    int64_t size = 0;
    for (const char *end; sum; sum = end ? end + strlen(plus) : NULL) {
        end = strstr(sum, plus);
        size += term_size(model, sum, end ? (size_t)(end - sum) : strlen(sum));
    }
    return size < INT_MAX ? (int)size : INT_MAX;
}

// The same, where a size may have to be a sum of others. `sums` NULL: none.
static int example_size(const ln_model *model, const cli_sums *sums, int i, int axis)
{
    const int is_open = ln_model_input_info(model, i)->dims[axis] < 0;
    for (int k = 0; is_open && sums && k < sums->n; k++)
        if (is_named(model, i, axis, sums->items[k].name, strlen(sums->items[k].name)))
            return sum_size(model, sums->items[k].sum);
    return independent_size(model, i, axis);
}

static void append_shape(line *l, const ln_model *model, const cli_sums *sums, int i)
{
    const tl_tensor *info = ln_model_input_info(model, i);
    append(l, "--shape '%s=%s", ln_model_input_name(model, i), info->ndim < 0 ? "1" : "");
    for (int axis = 0; axis < info->ndim; axis++)
        append(l, "%s%d", axis ? "x" : "", example_size(model, sums, i, axis));
    append(l, "'");
}

const char *cli_session_shape_option(const ln_model *model, int i, char *text)
{
    line l = {.text = text};
    append_shape(&l, model, NULL, i);
    return text;
}

tl_tensor *cli_session_read_open(const ln_model *model, const cli_options *opt, int i,
                                 const tl_tensor *info, const char *file, ln_error *err)
{
    char option[LN_MAXLINE];
    ln_error reason = {0};
    tl_tensor *const t = cli_given_read_open(opt, file, info, &reason);
    if (!t && ln_error_status(&reason) == LN_BAD_ARGUMENT) // for want of a shape
        ln_error_set_as(err, LN_BAD_ARGUMENT, "%s; give the open sizes of input '%s', as by %s",
                        ln_error_text(&reason), ln_model_input_name(model, i),
                        cli_session_shape_option(model, i, option));
    else if (!t)
        ln_error_set_as(err, ln_error_status(&reason), "%s", ln_error_text(&reason));
    return t;
}

// Whether a symbolic dimension (ONNX dim_param) occurs before `axis` of input `n`.
static int occurs_before(const ln_model *model, const char *symbol, int n, int axis)
{
    for (int i = 0; i <= n; i++) {
        const tl_tensor *info = ln_model_input_info(model, i);
        for (int k = 0; k < (i < n ? info->ndim : axis); k++) {
            const char *name = ln_model_input_dim_name(model, i, k);
            if (info->dims[k] < 0 && name && !strcmp(name, symbol))
                return 1;
        }
    }
    return 0;
}

// Whether the input has an unknown dimension without a name, or an unknown rank.
static int has_unnamed_dim(const ln_model *model, int i)
{
    const tl_tensor *info = ln_model_input_info(model, i);
    int n = info->ndim < 0;
    for (int axis = 0; axis < info->ndim; axis++)
        n += info->dims[axis] < 0 && !ln_model_input_dim_name(model, i, axis);
    return n > 0;
}

// Appends a --shape option for each symbolic dimension that occurs first in this input.
static void append_symbols(line *l, const ln_model *model, const cli_sums *sums, int i)
{
    const tl_tensor *info = ln_model_input_info(model, i);
    for (int axis = 0; axis < info->ndim; axis++) {
        const char *name = ln_model_input_dim_name(model, i, axis);
        if (info->dims[axis] < 0 && !occurs_before(model, name, i, axis))
            append(l, "%s--shape '%s=%d'", l->len ? " " : "", name,
                   example_size(model, sums, i, axis));
    }
}

const char *cli_session_shape_options(const ln_model *model, const cli_sums *sums, char *text)
{
    line l = {.text = text};
    int n = 0;
    *text = '\0';
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        n += cli_session_is_open(ln_model_input_info(model, i));
    for (int i = 0; i < ln_model_num_inputs(model); i++) {
        if (!cli_session_is_open(ln_model_input_info(model, i)))
            continue;
        if (n > 1 && !has_unnamed_dim(model, i)) { // names set the sizes of all inputs
            append_symbols(&l, model, sums, i);
            continue;
        }
        append(&l, l.len ? " " : "");
        append_shape(&l, model, sums, i);
    }
    return text;
}

int cli_session_fail_open(const cli_options *opt)
{
    char text[LN_MAXLINE];
    cli_sums sums = {0};
    ln_model *model = opt->shapes.n || opt->inputs.n ? NULL : cli_session_try_open(opt);
    if (!model || ln_model_metadata(model, "program.1")) { // programs of a compiled model
        ln_model_free(model);
        return 0;
    }
    ln_model_check_sizes(model, add_sum, &sums);
    cli_fail("%s: sizes of its inputs are open; give them, as by %s", cli_source_name(opt->args[0]),
             cli_session_shape_options(model, &sums, text));
    ln_model_free(model);
    return CLI_FAILED;
}

const char *cli_session_list_inputs(const ln_model *model, char *text)
{
    line l = {.text = text};
    snprintf(text, LN_MAXLINE, "none");
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        append(&l, "%s%s", i ? ", " : "", ln_model_input_name(model, i));
    return text;
}

ln_model *cli_session_try_open(const cli_options *opt)
{
    // A stream was read already.
    ln_model *model = cli_source_is_stream(opt->args[0]) ? NULL : try_without_sums(opt);
    for (int i = 0; model && cli_session_has_types(model) && i < ln_model_num_inputs(model); i++)
        if (cli_session_is_open(ln_model_input_info(model, i)))
            return model;
    ln_model_free(model);
    return NULL;
}

static int is_input(const ln_model *model, const char *name)
{
    ln_value_info info;
    for (int k = 0; !ln_model_input_value(model, k, &info); k++)
        if (!strcmp(info.name, name))
            return 1;
    return ln_model_input_index(model, name) >= 0;
}

// Whether an axis of an input has a name, of `len` bytes.
static int has_size(const ln_model *model, const char *name, size_t len)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        for (int k = 0; k < ln_model_input_info(model, i)->ndim; k++) {
            const char *const size = ln_model_input_dim_name(model, i, k);
            if (size && strlen(size) == len && !memcmp(size, name, len))
                return 1;
        }
    return 0;
}

// Rejects a sum, NAME=a+b+1, of which a size has no such name.
static int check_sum(const ln_model *model, const cli_options *opt, const char *given)
{
    const char *const source = cli_source_name(opt->args[0]);
    cli_shape shape;
    if (cli_shape_read(&shape, given) || !*shape.sum)
        return 0;
    if (!has_size(model, shape.name, strlen(shape.name)))
        return cli_fail("%s: --shape %s: no input has a size '%s'", source, given, shape.name);
    for (const char *term = shape.sum; *term; term += *term == '+') {
        const size_t len = strcspn(term, "+");
        if (strspn(term, "0123456789") < len && !has_size(model, term, len))
            return cli_fail("%s: --shape %s: no input has a size '%.*s'", source, given, (int)len,
                            term);
        term += len;
    }
    return 0;
}

int cli_session_check_sums(const ln_model *model, const cli_options *opt)
{
    for (int i = 0; i < opt->shapes.n; i++)
        if (check_sum(model, opt, opt->shapes.items[i]))
            return CLI_FAILED;
    return 0;
}

int cli_session_check_given(const ln_model *model, const cli_options *opt)
{
    char name[LN_MAX_NAME_LEN], list[LN_MAXLINE];
    const char *const source = cli_source_name(opt->args[0]);
    int n_free = ln_model_num_inputs(model), n_files = 0; // both without a name in -i
    for (int i = 0; i < opt->inputs.n; i++) {
        const char *const arg = opt->inputs.items[i];
        if (!cli_given_split(arg, name))
            n_files++;
        else if (!is_input(model, name))
            return cli_given_fail_unknown(source, arg, name, cli_session_list_inputs(model, list));
        else if (cli_given_is_named(opt, i, name))
            return cli_given_fail_duplicate(source, arg, name);
        else
            n_free--;
    }
    return n_files > n_free ? cli_fail("%s: -i has %d files without NAME=, expected at most %d",
                                       source, n_files, n_free)
                            : 0;
}

// Sessions

ln_session *cli_session_create(ln_model *model, const cli_options *opt)
{
    ln_session *session;
    if (ln_session_create(model, &session))
        cli_session_fail(NULL, opt);
    return session;
}

ln_status cli_session_run(ln_session *session, const cli_options *opt)
{
    ln_session_set_timeout(session, cli_options_time_left(opt));
    return ln_session_run(session);
}

// Inputs

static const char *source_of(const cli_session_inputs *in)
{
    return cli_source_name(in->opt->args[0]);
}

// Takes the value.
static int set_value(const cli_session_inputs *in, int i, tl_tensor *t)
{
    const ln_status status = ln_session_set_input(in->session, ln_model_input_name(in->model, i),
                                                  t->dtype, t->ndim, t->dims, t->data);
    tl_tensor_free_data_too(t);
    return status ? cli_session_fail(in->session, in->opt) : 0;
}

static int set_input(const cli_session_inputs *in, int i, const char *file)
{
    char text[LN_MAXLINE];
    const char *const name = ln_model_input_name(in->model, i);
    tl_tensor *const t = in->read(in->data, i, file);
    if (!t)
        return CLI_FAILED;
    if (cli_given_has_nan(text, file, name, t))
        cli_model_print_message((void *)in->opt, LN_MSG_WARN, text);
    return set_value(in, i, t);
}

// Sets the inputs that -i names, and is_set[i] for each.
static int set_named(const cli_session_inputs *in, char *is_set)
{
    char name[LN_MAX_NAME_LEN], list[LN_MAXLINE];
    int status = 0;
    for (int k = 0; k < in->opt->inputs.n && !status; k++) {
        const char *const arg = in->opt->inputs.items[k], *const file = cli_given_split(arg, name);
        const int i = file ? ln_model_input_index(in->model, name) : -1;
        if (!file)
            continue;
        status = i < 0       ? cli_given_fail_unknown(source_of(in), arg, name,
                                                      cli_session_list_inputs(in->model, list))
                 : is_set[i] ? cli_given_fail_duplicate(source_of(in), arg, name)
                             : set_input(in, i, file);
        if (!status)
            is_set[i] = 1;
    }
    return status;
}

static int fail_surplus(const cli_session_inputs *in, const char *surplus)
{
    if (in->each < 0)
        return cli_given_fail_surplus(source_of(in), surplus, ln_model_num_inputs(in->model));
    return cli_fail("%s: unexpected '-i %s'; --each supplies input '%s'", source_of(in), surplus,
                    ln_model_input_name(in->model, in->each));
}

static int set_unnamed(const cli_session_inputs *in, const char *is_set)
{
    char shape[LN_MAXLINE];
    int k = 0, status = 0;
    for (int i = 0; i < ln_model_num_inputs(in->model) && !status; i++) {
        if (is_set[i] || i == in->each || cli_beside_is_known(in->opt, in->model, i))
            continue;
        const char *const file = cli_given_next(in->opt, &k);
        status = file ? set_input(in, i, file)
                      : cli_model_fail_not_given(source_of(in), ln_model_input_name(in->model, i),
                                                 ln_model_input_info(in->model, i)->dtype,
                                                 cli_session_input_shape(in->model, i, shape), "");
    }
    const char *const surplus = status ? NULL : cli_given_next(in->opt, &k);
    return surplus ? fail_surplus(in, surplus) : status;
}

// After the image, whose size they may have.
static int set_beside(const cli_session_inputs *in, const char *is_set)
{
    int status = 0;
    for (int i = 0; i < ln_model_num_inputs(in->model) && !status; i++) {
        if (is_set[i] || !cli_beside_is_known(in->opt, in->model, i))
            continue;
        tl_tensor *const t = cli_beside_make(in->opt, in->model, i);
        status = t ? set_value(in, i, t) : CLI_FAILED;
    }
    return status;
}

int cli_session_set_inputs(const cli_session_inputs *in)
{
    char *const is_set = calloc((size_t)ln_model_num_inputs(in->model) + 1, 1);
    int status = is_set ? set_named(in, is_set) : cli_fail_memory();
    if (!status)
        status = set_unnamed(in, is_set);
    if (!status)
        status = set_beside(in, is_set);
    free(is_set);
    return status;
}
