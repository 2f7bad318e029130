// SPDX-License-Identifier: Apache-2.0
// Reading a model of any format into a context.

#include <string.h>
#include <sys/stat.h>

#include "base/ln_infile.h"
#include "front/json/ln_ir_json.h"
#include "front/ln_front.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_output.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"

// Whether the operator produces a tensor of zeros that is neither random nor read from a file: the
// input of models without an "inputs" key.
static int is_placeholder(const ln_op *op)
{
    const ln_list *params = op->op_arg->params;
    const ln_param_entry *from_file = ln_param_list_find(params, "from_file");
    const ln_param_entry *ran = ln_param_list_find(params, "ran");
    const ln_param_entry *data = ln_param_list_find(params, "data");
    if (!from_file || !ran || !data || from_file->type != LN_PARAM_BOOL || from_file->value_bool)
        return 0;
    if (ran->type != LN_PARAM_ARRAY_NUMBER || data->type != LN_PARAM_ARRAY_NUMBER)
        return 0;
    return !ln_produces_random(op) && data->array_len == 1 && data->value_array_double[0] == 0;
}

static const char *first_name(const ln_list *tensors)
{
    return tensors ? ((const ln_tensor_list_entry *)tensors->data)->name : NULL;
}

// Without an "inputs" key: the zero-filled `create`s that are the first input of some operator.
static int infer_inputs(ln_context *ctx)
{
    int status = 0;
    ln_hash *firsts = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!firsts)
        return ln_fail_memory(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *name = first_name(op->op_arg->tensors_in);
        if (name && ln_hash_insert(firsts, name, NULL) < 0)
            status = ln_fail_memory(ctx);
    }
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *name = first_name(op->op_arg->tensors_out);
        if (!status && name && !op->op_arg->tensors_in && is_placeholder(op) &&
            ln_hash_find_extended(firsts, name, NULL, NULL))
            status = ln_context_prepend_name(ctx, &ctx->inputs, name);
    }
    ctx->inputs = ln_list_reverse(ctx->inputs);
    ln_hash_free(firsts);
    return status;
}

// Without an "outputs" key: every tensor that no operator reads.
static int infer_outputs(ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
            if (!ln_dfg_num_readers(ctx->dfg, tle->name) &&
                ln_context_prepend_name(ctx, &ctx->outputs, tle->name))
                return -1;
    ctx->outputs = ln_list_reverse(ctx->outputs);
    return ln_context_index_names(ctx);
}

// Initializes the operators of the context and its bodies, and infers undeclared inputs and
// outputs. -1 with the reason in the context, without the model's name.
static int enter_read(ln_context *ctx)
{
    if (ln_output_check(ctx) || (!(ctx->declared & LN_DECLARES_INPUTS) && infer_inputs(ctx)))
        return -1;
    LN_FOREACH (ln_context *, body, ctx->bodies)
        if (ln_context_index_names(body) || ln_context_init_ops(body))
            return ln_fail_at(body, "body '%s'", ln_body_name(body));
    if (ln_context_init_ops(ctx))
        return -1;
    return ctx->declared & LN_DECLARES_OUTPUTS ? 0 : infer_outputs(ctx);
}

// The source position of the operator that the context rejected; NULL: none, or unknown.
static const char *rejected_position(const ln_context *ctx, const ln_ir_places *places)
{
    size_t i = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        if (op->op_arg->failed)
            return ln_ir_place(places, ctx->outer ? ln_body_name(ctx) : NULL, "ops", i);
        i++;
    }
    return NULL;
}

static const char *place_in_all(const ln_context *ctx, const ln_ir_places *places)
{
    const char *place = rejected_position(ctx, places);
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        place = place ? place : rejected_position(body, places);
    return place;
}

static int read_ir(ln_context *ctx, const char *name, const char *text, size_t len,
                   const ln_ir_places *places)
{
    if (ln_ir_read(ctx, name, text, len, places, &ctx->ops))
        return -1;
    if (!enter_read(ctx))
        return 0;
    const char *place = places ? place_in_all(ctx, places) : NULL;
    return ln_fail_at(ctx, "%s", place ? place : name);
}

int ln_context_read_ir(ln_context *ctx, const char *name, const char *text, size_t len)
{
    return read_ir(ctx, name, text, len, NULL);
}

static int set_source(ln_context *ctx, const char *name)
{
    ctx->source = ln_strdup(name);
    return ctx->source ? 0 : ln_fail_memory(ctx);
}

static int read_model(ln_context *ctx, const char *name, ln_infile *file)
{
    const ln_front *front;
    size_t size;
    if (ln_front_of(file, &front, ctx->error) || set_source(ctx, name))
        return -1;
    const unsigned char *head = ln_infile_head(file, &size);
    if (ln_front_check(ctx, name, front, head, size))
        return -1;
    return front ? front->read(ctx, name, file)
                 : ln_context_read_ir(ctx, name, (const char *)file->data, file->size);
}

static int check_size(const ln_context *ctx, const char *name, size_t size)
{
    if (!ln_limits_forbid(ctx, size))
        return 0;
    if (size > ln_limits_memory(ctx))
        return ln_fail_as(ctx, LN_LIMIT_REACHED,
                          "%s: the model has %zu bytes, above the limit of %zu bytes of memory",
                          name, size, ln_limits_memory(ctx));
    return ln_fail_as(
        ctx, LN_LIMIT_REACHED,
        "%s: the model's %zu bytes and the %zu in use exceed the limit of %zu bytes of "
        "memory",
        name, size, ln_limits_held(ctx), ln_limits_memory(ctx));
}

// After a failure, empties the context. Also rejects operators of any format that write without the
// host's permission.
static int settle(ln_context *ctx, int failed)
{
    if (!failed && ln_output_check(ctx))
        failed = ln_fail_at(ctx, "%s", ctx->source);
    if (failed)
        ln_context_cleanup(ctx);
    return failed ? -1 : 0;
}

static int init_model(ln_context *ctx, const char *name, ln_infile *file)
{
    return settle(ctx, read_model(ctx, name, file) || ln_bind_check(ctx));
}

// Reports errors in the environment before those of the model.
static int check_before_reading(const ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (ctx->ops || ctx->source || ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context holds a model already; clean it up first");
    return ln_context_check_environment(ctx);
}

// Copies the bytes for a front end, which may keep them.
static int init_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    if (check_size(ctx, name, len))
        return -1;
    ln_infile file = {.data = (const unsigned char *)text, .size = len};
    if (!ln_front_for(file.data, len))
        return init_model(ctx, name, &file);
    file.copy = ln_clone(text, len);
    file.name = ln_strdup(name);
    file.data = file.copy;
    const int status = file.copy && file.name ? init_model(ctx, name, &file) : ln_fail_last(ctx);
    ln_infile_close(&file);
    return status;
}

int ln_context_init_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_text(ctx, name, text, len));
}

int ln_context_init_file(ln_context *ctx, const char *name, ln_infile *file)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_model(ctx, name, file));
}

int ln_context_init_parsed(ln_context *ctx, const char *name, const ln_front *front,
                           const void *parsed)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    const int failed = set_source(ctx, name) || front->build(ctx, name, parsed);
    return ln_limits_leave(ctx, before, settle(ctx, failed));
}

int ln_context_init_ir(ln_context *ctx, const char *name, const char *json, size_t len,
                       ln_place_func place, const void *data)
{
    const ln_ir_places places = {.find = place, .data = data};
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    const int failed = set_source(ctx, name) || check_size(ctx, name, len) ||
                       read_ir(ctx, name, json, len, place ? &places : NULL) || ln_bind_check(ctx);
    return ln_limits_leave(ctx, before, settle(ctx, failed));
}

static int init_file(ln_context *ctx, const char *source)
{
    ln_infile file = {0};
    struct stat about;
    const int is_file = !stat(source, &about) && S_ISREG(about.st_mode);
    // ln_infile_open loads small files.
    if (is_file && check_size(ctx, source, (size_t)about.st_size))
        return -1;
    if (ln_infile_open(&file, source, ctx->error))
        return -1;
    const int status = init_model(ctx, source, &file);
    ln_infile_close(&file);
    return status;
}

int ln_context_init(ln_context *ctx, const char *source)
{
    if (check_before_reading(ctx))
        return -1;
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, init_file(ctx, source));
}
