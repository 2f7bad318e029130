// SPDX-License-Identifier: Apache-2.0
// Quantizers: options, samples, running, saving.

#include "lightnet/ln_quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_number.h"
#include "lightnet/ln_util.h"
#include "quantize/ln_quantize_choose.h"
#include "quantize/ln_quantize_program.h"
#include "session/ln_model.h"

static const double default_error = 0.01, default_percentile = 99.99, default_seconds = 0.3;

struct ln_quantizer {
    ln_error error;
    ln_quantize_samples samples;
    ln_quantize_method method;
    ln_quantize_budget budget; // by the options; below 0: not set
    ln_quantize_layers layers;
    ln_quantize_choice choice;
    ln_quantized_layer *rows;
    ln_quantized_model result;
    int has_result;
};

// Errors

const char *ln_quantizer_error(const ln_quantizer *quantizer)
{
    return quantizer ? ln_error_text(&quantizer->error) : ln_last_error();
}

static ln_status fail_null(ln_quantizer *quantizer, const char *what)
{
    ln_error *const err = quantizer ? &quantizer->error : NULL;
    ln_error_clear(err);
    return ln_error_set_as(err, LN_BAD_ARGUMENT, "%s is NULL", what), LN_BAD_ARGUMENT;
}

static ln_status bad_argument(ln_quantizer *quantizer, const char *text)
{
    return ln_error_set_as(&quantizer->error, LN_BAD_ARGUMENT, "%s", text), LN_BAD_ARGUMENT;
}

// Life

static ln_quantizer *create(ln_model *model)
{
    ln_quantizer *const q = ln_alloc(sizeof(*q));
    if (!q)
        return NULL;
    q->samples.model = ln_model_keep(model);
    q->method.percentile = default_percentile;
    q->budget = (ln_quantize_budget){
        .max_error = -1, .top1 = -1, .may_bf16 = 1, .seconds = default_seconds};
    return q;
}

ln_status ln_quantizer_create(ln_model *model, ln_quantizer **quantizer)
{
    if (quantizer)
        *quantizer = NULL;
    if (!model || !quantizer)
        return fail_null(NULL, model ? "the pointer to the quantizer" : "the model");
    if (model->front && model->front->is_compiled) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT,
                        "%s: the model is compiled; quantize the model that it was compiled from",
                        model->name);
        return LN_BAD_ARGUMENT;
    }
    *quantizer = create(model);
    return *quantizer ? LN_OK : LN_OUT_OF_MEMORY;
}

static void forget_result(ln_quantizer *q)
{
    ln_quantize_layers_free(&q->layers);
    ln_quantize_choice_free(&q->choice);
    ln_free(q->rows);
    q->rows = NULL;
    q->has_result = 0;
}

void ln_quantizer_free(ln_quantizer *quantizer)
{
    if (!quantizer)
        return;
    ln_quantize_samples *const samples = &quantizer->samples;
    forget_result(quantizer);
    for (int i = 0; i < samples->n * samples->model->n_required; i++)
        ln_free(samples->data[i]);
    ln_free(samples->data);
    ln_free(samples->values);
    ln_model_free(samples->model);
    ln_free(quantizer);
}

// Options

typedef struct option option;

// A key: how its value is parsed into the field at `offset`. parse returns whether it is valid.
struct option {
    const char *key;
    int (*parse)(const option *o, void *field, const char *value);
    size_t offset;
    double min, max;
    const char *expected; // for messages
};

static int parse_number(const option *o, void *field, const char *value)
{
    char *end;
    const double number = ln_number_read(value, &end); // strtod follows the locale
    *(double *)field = number;
    return end != value && !*end && number >= o->min && number <= o->max;
}

static int parse_yes(const option *o, void *field, const char *value)
{
    (void)o;
    *(int *)field = ln_streq(value, "yes");
    return ln_streq(value, "yes") || ln_streq(value, "no");
}

static const char *const kinds[] = {
    [LN_QUANTIZE_MINMAX] = "minmax",
    [LN_QUANTIZE_PERCENTILE] = "percentile",
    [LN_QUANTIZE_ENTROPY] = "entropy",
};

static int parse_kind(const option *o, void *field, const char *value)
{
    (void)o;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (ln_streq(value, kinds[i])) {
            *(ln_quantize_kind *)field = (ln_quantize_kind)i;
            return 1;
        }
    return 0;
}

#define FIELD(name) offsetof(ln_quantizer, name)

static const option options[] = {
    {"calibration", parse_kind, FIELD(method.kind), 0, 0, "minmax, percentile or entropy"},
    {"percentile", parse_number, FIELD(method.percentile), 50, 100, "a number from 50 to 100"},
    {"max_error", parse_number, FIELD(budget.max_error), 0, 1e30, "a number, 0 or more"},
    {"top1", parse_number, FIELD(budget.top1), 0, 1, "a number from 0 to 1"},
    {"any_speed", parse_yes, FIELD(budget.any_speed), 0, 0, "yes or no"},
    {"bf16", parse_yes, FIELD(budget.may_bf16), 0, 0, "yes or no"},
    {"seconds", parse_number, FIELD(budget.seconds), 0, 3600, "seconds, at most 3600"},
};

enum { N_OPTIONS = sizeof(options) / sizeof(options[0]), MAX_FIELD = sizeof(double) };

static ln_status set(ln_quantizer *q, const option *o, const char *value)
{
    char before[MAX_FIELD];
    char *const field = (char *)q + o->offset;
    memcpy(before, field, sizeof(before));
    if (o->parse(o, field, value))
        return LN_OK;
    memcpy(field, before, sizeof(before));
    ln_error_set_as(&q->error, LN_BAD_ARGUMENT, "option '%s' is '%s', expected %s", o->key, value,
                    o->expected);
    return LN_BAD_ARGUMENT;
}

ln_status ln_quantizer_set(ln_quantizer *quantizer, const char *key, const char *value)
{
    if (!quantizer || !key || !value)
        return fail_null(quantizer, !quantizer ? "the quantizer" : key ? "the value" : "the key");
    char keys[LN_MAXLINE] = "";
    ln_error_clear(&quantizer->error);
    for (int i = 0; i < N_OPTIONS; i++)
        if (ln_streq(options[i].key, key))
            return set(quantizer, &options[i], value);
    for (int i = 0; i < N_OPTIONS; i++) {
        strcat(keys, i ? ", " : "");
        strcat(keys, options[i].key);
    }
    ln_error_set_as(&quantizer->error, LN_BAD_ARGUMENT, "unknown option '%s'; options: %s", key,
                    keys);
    return LN_BAD_ARGUMENT;
}

// Samples

static int find_number(const ln_model *model, int required)
{
    for (size_t i = 0; i < model->interface->n_inputs; i++)
        if (model->interface->inputs[i] == model->required[required])
            return (int)i;
    return -1;
}

// Returns new (ln_free): the shapes of a sample, a value for each input of the interface; NULL with
// a reason.
static ln_value *values_of(ln_quantizer *q, const tl_tensor *const *inputs)
{
    const ln_model *const model = q->samples.model;
    ln_value *const values = ln_alloc_array(model->interface->n_inputs + 1, sizeof(*values));
    int status = values ? 0 : ln_error_set_last(&q->error);
    for (int i = 0; i < model->n_required && !status; i++) {
        const ln_port *const port = model->required[i];
        const tl_tensor *const t = inputs[i];
        status = !t || !t->data ? ln_error_set_as(&q->error, LN_BAD_ARGUMENT,
                                                  "the data for input '%s' is NULL", port->name)
                                : ln_value_set_shape(&values[find_number(model, i)], port, t->dtype,
                                                     t->ndim, t->dims, &q->error);
    }
    if (!status)
        return values;
    ln_free(values);
    return NULL;
}

// Returns new (ln_free): an array with room for `room` items of `size` bytes, and the `n` items of
// `old`.
static void *grown(const void *old, int n, int room, size_t size)
{
    char *const items = ln_alloc_array((size_t)room + 1, size + !size);
    if (items && n)
        memcpy(items, old, (size_t)n * size);
    return items;
}

static int make_room(ln_quantize_samples *samples)
{
    if (samples->n < samples->room)
        return 0;
    const int n = samples->n, room = samples->room ? 2 * samples->room : 16;
    const ln_model *const model = samples->model;
    void **const data =
        grown(samples->data, n, room, (size_t)model->n_required * sizeof(*samples->data));
    ln_value *const values =
        grown(samples->values, n, room, model->interface->n_inputs * sizeof(*samples->values));
    if (!data || !values) {
        ln_free(data);
        ln_free(values);
        return -1;
    }
    ln_free(samples->data);
    ln_free(samples->values);
    samples->data = data;
    samples->values = values;
    samples->room = room;
    return 0;
}

// Returns new (ln_free): the elements; strings are a block.
static void *clone_data(const tl_tensor *t)
{
    return t->dtype == TL_STRING ? (void *)tl_strings_clone(t->data, (size_t)t->len)
                                 : ln_clone(t->data, tl_tensor_size(t));
}

static int copy_sample(ln_quantize_samples *samples, int n, const tl_tensor *const *inputs)
{
    void **const at = samples->data + (size_t)samples->n * (size_t)n;
    int i = 0;
    while (i < n && (at[i] = clone_data(inputs[i])))
        i++;
    if (i == n)
        return 0;
    while (i-- > 0)
        ln_free(at[i]);
    return -1;
}

static void swap(void *a, void *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char byte = ((char *)a)[i];
        ((char *)a)[i] = ((char *)b)[i];
        ((char *)b)[i] = byte;
    }
}

// Counts the last sample, with its shapes, and moves it to the first ones if it is like them.
static void count_sample(ln_quantize_samples *samples, const ln_value *shapes)
{
    const size_t n_inputs = samples->model->interface->n_inputs;
    const size_t n = (size_t)samples->model->n_required, last = (size_t)samples->n++;
    const size_t to = (size_t)samples->n_alike;
    ln_value *const values = samples->values + last * n_inputs;
    memcpy(values, shapes, n_inputs * sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[find_number(samples->model, (int)i)].data = samples->data[last * n + i];
    if (!ln_quantize_are_alike(samples, 0, (int)last))
        return;
    swap(values, samples->values + to * n_inputs, n_inputs * sizeof(*values));
    swap(samples->data + last * n, samples->data + to * n, n * sizeof(*samples->data));
    samples->n_alike++;
}

ln_status ln_quantizer_add_sample(ln_quantizer *quantizer, int n, const tl_tensor *const *inputs)
{
    if (!quantizer || !inputs)
        return fail_null(quantizer, quantizer ? "the sample" : "the quantizer");
    ln_error_clear(&quantizer->error);
    const int wanted = quantizer->samples.model->n_required;
    if (n != wanted) {
        ln_error_set_as(&quantizer->error, LN_BAD_ARGUMENT,
                        "a sample has %d inputs, the model has %d", n, wanted);
        return LN_BAD_ARGUMENT;
    }
    ln_value *const shapes = values_of(quantizer, inputs);
    if (!shapes)
        return ln_error_status(&quantizer->error);
    const int status =
        make_room(&quantizer->samples) || copy_sample(&quantizer->samples, n, inputs);
    if (!status)
        count_sample(&quantizer->samples, shapes);
    ln_free(shapes);
    return status ? ln_error_set_last(&quantizer->error), LN_OUT_OF_MEMORY : LN_OK;
}

// Running

ln_status ln_quantizer_set_progress(ln_quantizer *quantizer, ln_quantizer_progress_func func,
                                    void *data)
{
    if (!quantizer)
        return fail_null(NULL, "the quantizer");
    quantizer->samples.progress = (ln_quantize_progress){func, data};
    return LN_OK;
}

static void note_row(const ln_quantizer *q, int i)
{
    const ln_quantize_choice *const c = &q->choice;
    q->rows[i] = (ln_quantized_layer){
        .name = q->layers.items[i].name,
        .type = q->layers.items[i].optype,
        .is_quantized = c->is_on[i],
        .error = c->errors[i],
        .ns_before = c->ns_before[i],
        .ns_after = c->ns_after[i],
    };
}

static int note_result(ln_quantizer *q)
{
    const ln_quantize_choice *const c = &q->choice;
    q->rows = ln_alloc_array((size_t)q->layers.n + 1, sizeof(*q->rows));
    if (!q->rows)
        return ln_error_set_last(&q->error);
    for (int i = 0; i < q->layers.n; i++)
        note_row(q, i);
    q->result = (ln_quantized_model){
        .n_layers = q->layers.n,
        .n_quantized = c->n_on,
        .n_within = c->n_within,
        .has_joints = c->mix.has_joints,
        .is_bf16 = c->mix.is_bf16,
        .error = c->error.relative,
        .top1 = c->error.top1,
        .ns_before = c->total[0],
        .ns_after = c->total[1],
    };
    q->has_result = 1;
    return 0;
}

ln_status ln_quantizer_run(ln_quantizer *quantizer)
{
    if (!quantizer)
        return fail_null(NULL, "the quantizer");
    const unsigned long failures = ln_call_begin();
    ln_quantize_budget budget = quantizer->budget;
    if (budget.max_error < 0 && budget.top1 < 0)
        budget.max_error = default_error; // the default without other bounds
    ln_error *const err = &quantizer->error;
    ln_error_clear(err);
    forget_result(quantizer);
    if (!quantizer->samples.n)
        return bad_argument(quantizer, "no samples, expected at least 1");
    if (!ln_quantize_calibrate(&quantizer->layers, &quantizer->samples, &quantizer->method, err) &&
        !ln_quantize_choose(&quantizer->choice, &quantizer->layers, &quantizer->samples, &budget,
                            err) &&
        !note_result(quantizer))
        return LN_OK;
    forget_result(quantizer);
    return ln_call_status(err, failures, LN_BAD_MODEL);
}

const ln_quantized_model *ln_quantizer_result(const ln_quantizer *quantizer)
{
    return quantizer && quantizer->has_result ? &quantizer->result : NULL;
}

const ln_quantized_layer *ln_quantizer_layer(const ln_quantizer *quantizer, int i)
{
    return quantizer && quantizer->has_result && i >= 0 && i < quantizer->result.n_layers
               ? &quantizer->rows[i]
               : NULL;
}

const char *ln_quantizer_layer_precision(const ln_quantizer *quantizer, int i)
{
    const ln_quantized_layer *const layer = ln_quantizer_layer(quantizer, i);
    if (!layer)
        return NULL;
    return layer->is_quantized ? "int8" : quantizer->choice.is_bf16[i] ? "bf16" : "float32";
}

// Saving

static int save_compiled(ln_quantizer *q, const char *file)
{
    ln_quantize_program p = {0};
    int status =
        ln_quantize_program_compile(&p, &q->samples, &q->layers, &q->choice.mix, &q->error);
    if (!status && ln_context_save(p.ctx, q->samples.model->options->weights, file))
        status = ln_quantize_program_fail(&p, &q->error);
    ln_quantize_program_free(&p);
    return status;
}

static int is_onnx(const char *file)
{
    const char *const suffix = strrchr(file, '.');
    return suffix && ln_streq(suffix, ".onnx");
}

ln_status ln_quantizer_save(ln_quantizer *quantizer, const char *file)
{
    if (!quantizer || !file)
        return fail_null(quantizer, quantizer ? "the name of the file" : "the quantizer");
    const unsigned long failures = ln_call_begin();
    ln_quantizer *const q = quantizer;
    ln_error_clear(&q->error);
    if (!q->has_result)
        return bad_argument(q, "no mix is selected; run the quantizer first");
    const int status = is_onnx(file) ? ln_quantize_program_write(&q->samples, &q->layers,
                                                                 &q->choice.mix, file, &q->error)
                                     : save_compiled(q, file);
    return status ? ln_call_status(&q->error, failures, LN_IO_ERROR) : LN_OK;
}
