// SPDX-License-Identifier: Apache-2.0
// Values that are known when compiling, and constants.
//
// A value is computed by running the operators that make the tensor, in a separate context,
// back to constants and to values that are known already.

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_list_end.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_fixed.h"
#include "ir/ln_bind.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// Intermediate values up to this size are cached: later nodes often ask for them.
enum { CACHED_SIZE = 4096 };

void ln_onnx_keep_value(ln_onnx_model *m, const char *tensor, tl_tensor *value)
{
    const ln_tensor_entry *te = ln_tensor_table_find(m->base.ctx->tensor_table, tensor);
    if (!value || ln_hash_insert(m->values, te->name, value) < 0) {
        tl_tensor_free_data_too(value);
        ln_translation_fail_memory(&m->base);
        return;
    }
    m->values_size += tl_tensor_size(value);
    ln_limits_take(m->base.ctx, tl_tensor_size(value));
}

static int may_copy(ln_onnx_model *m, const char *tensor, size_t size)
{
    if (ln_limits_forbid(m->base.ctx, size))
        ln_translation_fail_as(
            &m->base, LN_LIMIT_REACHED,
            "the value of '%s', %zu bytes, exceeds the limit of %zu bytes of memory", tensor, size,
            ln_limits_memory(m->base.ctx));
    return !m->base.failed;
}

// Does not fold the tensor: shapes cannot depend on it, and it is computed at load.
static void mark_unfolded(ln_onnx_model *m, const char *tensor, const char *reason)
{
    const ln_tensor_entry *te = ln_tensor_table_find(m->base.ctx->tensor_table, tensor);
    char *text = ln_translation_print(&m->base, "%s", reason);
    if (text && ln_hash_insert(m->unfolded, te->name, text) < 0)
        ln_translation_fail_memory(&m->base);
    if (!m->base.failed)
        ln_onnx_set_variation(m, tensor, LN_ONNX_UNKNOWN);
    ln_debug(m->base.ctx, "'%s' is computed when the model is loaded: %s", tensor, reason);
}

// Whether the tensor exceeds LN_LIMIT_FOLD_MEMORY: its value is neither computed nor copied.
static int is_too_large(const ln_onnx_model *m, const char *tensor)
{
    const uint64_t max = ln_limits_max(m->base.ctx, LN_LIMIT_FOLD_MEMORY);
    return max && tl_tensor_size(ln_translation_tensor(&m->base, tensor)) > max;
}

static const char *print_too_large(ln_onnx_model *m, const char *tensor)
{
    const char *text = ln_translation_print(
        &m->base, "tensor '%s' has %zu bytes, above the limit of %" PRIu64 " bytes for a constant",
        tensor, tl_tensor_size(ln_translation_tensor(&m->base, tensor)),
        ln_limits_max(m->base.ctx, LN_LIMIT_FOLD_MEMORY));
    return text ? text : "";
}

// The value, for max sizes, of a tensor that `shape` computes from open sizes; NULL: none.
static const tl_tensor *max_shape(ln_onnx_model *m, const char *tensor)
{
    const ln_op *producer = ln_context_creater(m->base.ctx, tensor);
    if (ln_onnx_variation_of(m, tensor) != LN_ONNX_SIZED || !ln_op_is(producer, LN_OP_SHAPE))
        return NULL;
    const tl_tensor *src = ln_op_input(producer, "src")->tensor;
    const int start = ln_op_int(producer, "start");
    const int end = ln_op_int(producer, "end");
    tl_tensor *value = tl_tensor_zeros(1, (int[]){end - start}, TL_INT64);
    for (int i = start; value && i < end; i++)
        ((int64_t *)value->data)[i - start] = src->dims[i];
    ln_onnx_keep_value(m, tensor, value);
    return ln_hash_find(m->values, tensor);
}

// A cached value, a weight, or a shape; NULL: operators must run, or a failure.
static const tl_tensor *known_value(ln_onnx_model *m, const char *tensor)
{
    const tl_tensor *value = ln_hash_find(m->values, tensor);
    const ln_weight *weight = value ? NULL : ln_weights_find(m->base.ctx->weights, tensor);
    if (!weight)
        return value ? value : max_shape(m, tensor);
    const size_t size = tl_tensor_size(ln_translation_tensor(&m->base, tensor));
    tl_tensor *copy =
        may_copy(m, tensor, size) ? ln_weight_clone(weight, m->base.ctx->error) : NULL;
    if (!copy) {
        m->base.failed = 1;
        return NULL;
    }
    // Shapes will depend on it.
    if (ln_fixed_note(m->base.ctx->fixed, tensor, NULL,
                      ln_elements_hash(copy->data, copy->dtype, (size_t)copy->len))) {
        tl_tensor_free_data_too(copy);
        ln_fail_last(m->base.ctx);
        m->base.failed = 1;
        return NULL;
    }
    ln_onnx_keep_value(m, tensor, copy);
    return ln_hash_find(m->values, tensor);
}

// The subgraph that computes a tensor

typedef struct fold {
    ln_onnx_model *model;
    ln_context *ctx;  // separate
    int is_too_large; // a tensor exceeds LN_LIMIT_FOLD_MEMORY
} fold;

static int has_entered(const fold *f, const char *tensor)
{
    return ln_tensor_table_find(f->ctx->tensor_table, tensor) != NULL;
}

static int add_copy(fold *f, const ln_op *op)
{
    ln_list *end = NULL;
    ln_op *copy = ln_op_copy(op);
    return copy && !ln_context_add_op(f->ctx, &end, copy) ? 0 : -1;
}

// Adds a `source` operator with the known value.
static int add_known(fold *f, const char *tensor, const tl_tensor *value)
{
    ln_translation inner = {.ctx = f->ctx, .file = f->model->base.file};
    tl_tensor *record = tl_tensor_create(value->data, value->ndim, value->dims, value->dtype);
    if (!record || ln_weights_add(f->ctx->weights, tensor, record, 0)) {
        tl_tensor_free(record);
        return -1;
    }
    return ln_translation_source(&inner, tensor, record, 1) ? 0 : -1;
}

// Pushes inputs of `op` that the context lacks. Returns 1 if there are none, 0 if it pushed some,
// -1: no memory.
static int push_inputs(fold *f, const ln_op *op, ln_list **stack)
{
    int ready = 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        if (has_entered(f, tle->name))
            continue;
        if (ln_list_push(stack, tle->name, NULL))
            return -1;
        ready = 0;
    }
    return ready;
}

static int enter_top(fold *f, ln_list **stack)
{
    const char *tensor = (*stack)->data;
    int ready = 1;
    if (ln_limits_check(f->ctx))
        return -1;
    if (!has_entered(f, tensor)) {
        if (is_too_large(f->model, tensor)) {
            f->is_too_large = 1;
            return ln_fail(f->ctx, "%s", print_too_large(f->model, tensor));
        }
        const tl_tensor *value = known_value(f->model, tensor);
        const ln_op *producer = ln_context_creater(f->model->base.ctx, tensor);
        if (f->model->base.failed || (value && add_known(f, tensor, value)))
            return -1;
        if (!value)
            ready = push_inputs(f, producer, stack);
        if (ready < 0 || (!value && ready && add_copy(f, producer)))
            return -1;
    }
    if (ready)
        *stack = ln_list_remove_nth(*stack, 0);
    return 0;
}

// Adds the producers of the tensor, deepest first. Long chains cost memory, not the call stack.
static int enter_producers(fold *f, const char *tensor)
{
    ln_list *stack = ln_list_prepend(NULL, (void *)tensor);
    int status = stack ? 0 : -1;
    while (stack && !status)
        status = enter_top(f, &stack);
    ln_list_free(stack);
    return status;
}

// Running them

static void cache_values(fold *f, const char *wanted)
{
    LN_FOREACH (const ln_op *, op, f->ctx->ops) {
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
            const ln_tensor_entry *te = ln_entry_of(tle, f->ctx->tensor_table);
            const size_t size = tl_tensor_size(te->tensor);
            if (!ln_hash_find(f->model->values, tle->name) &&
                ln_entry_of(tle, f->model->base.ctx->tensor_table) &&
                (ln_streq(tle->name, wanted)
                     ? may_copy(f->model, tle->name, size)
                     : size <= CACHED_SIZE && !ln_limits_forbid(f->model->base.ctx, size)))
                ln_onnx_keep_value(f->model, tle->name, tl_tensor_clone(te->tensor));
        }
    }
}

static int check_macs(const ln_context *ctx)
{
    double macs = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        macs += op->op_arg->macs;
    return ln_limits_check_macs(ctx, macs);
}

static int run_fold(fold *f, const char *tensor)
{
    f->ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    f->ctx->weights = ln_weights_create();
    if (!f->ctx->weights || enter_producers(f, tensor) || ln_context_add_output(f->ctx, tensor))
        return -1;
    ln_context_set_reference(f->ctx);
    ln_context_keep_all(f->ctx);
    return -(ln_context_compile(f->ctx, "cpu") || check_macs(f->ctx) ||
             ln_context_load(f->ctx, NULL) || ln_context_run(f->ctx));
}

static void compute(ln_onnx_node *n, const char *tensor)
{
    ln_onnx_model *m = n->model;
    fold f = {.model = m, .ctx = ln_context_create()};
    if (!f.ctx) {
        ln_emit_fail_memory(&n->emit);
        return;
    }
    ln_limits_begin_fold(f.ctx, m->base.ctx);
    const int status = run_fold(&f, tensor);
    ln_limits_end_fold(f.ctx);
    if (!status)
        cache_values(&f, tensor);
    else if (f.is_too_large || ln_limits_fold_is_over(f.ctx))
        mark_unfolded(m, tensor, ln_context_error(f.ctx));
    else
        ln_emit_fail(&n->emit, "the value of '%s' cannot be computed: %s", tensor,
                     ln_context_error(f.ctx));
    ln_context_free(f.ctx);
}

// The value of a tensor whose variation is at most `limit`; else NULL.
static const tl_tensor *value_up_to(ln_onnx_node *n, const char *tensor, ln_onnx_variation limit)
{
    if (!tensor || n->model->base.failed || ln_onnx_variation_of(n->model, tensor) > limit)
        return NULL;
    if (is_too_large(n->model, tensor)) {
        mark_unfolded(n->model, tensor, print_too_large(n->model, tensor));
        return NULL;
    }
    const tl_tensor *value = known_value(n->model, tensor);
    if (!value && !n->model->base.failed) {
        ln_onnx_find_small(n, tensor);
        value = ln_hash_find(n->model->values, tensor);
    }
    if (!value && !n->model->base.failed) {
        compute(n, tensor);
        value = n->model->base.failed ? NULL : ln_hash_find(n->model->values, tensor);
    }
    return value;
}

const tl_tensor *ln_onnx_value(ln_onnx_node *n, const char *tensor)
{
    return value_up_to(n, tensor, LN_ONNX_CONSTANT);
}

const tl_tensor *ln_onnx_bound_value(ln_onnx_node *n, const char *tensor)
{
    return value_up_to(n, tensor, LN_ONNX_BOUND);
}

// Values of inputs

int ln_onnx_varies(ln_onnx_node *n, int i)
{
    const char *tensor = ln_onnx_optional(n, i);
    return tensor && ln_onnx_variation_of(n->model, tensor) > LN_ONNX_BOUND;
}

const char *ln_onnx_runtime_input(ln_onnx_node *n, int i)
{
    return ln_onnx_varies(n, i) ? ln_onnx_in(n, i) : NULL;
}

// The first of the operator's inputs whose value is not known before a run; NULL: all are.
static const char *unknown_input(const ln_onnx_model *m, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op ? op->op_arg->tensors_in : NULL)
        if (ln_onnx_variation_of(m, tle->name) > LN_ONNX_BOUND)
            return tle->name;
    return NULL;
}

static void fail_unknown(ln_onnx_node *n, int i, const char *tensor)
{
    const ln_context *ctx = n->model->base.ctx;
    // An input of the model without a known value; NULL: another cause, such as a random operator.
    const char *cause = tensor;
    while (cause && !ln_hash_find(ctx->input_names, cause))
        cause = unknown_input(n->model, ln_context_creater(ctx, cause));
    if (!cause) {
        ln_emit_fail(&n->emit,
                     "input %d, '%s', determines shapes and depends on values computed at run time",
                     i, n->proto->input[i]);
        return;
    }
    const tl_tensor *input = ln_translation_tensor(&n->model->base, cause);
    ln_bind_want_values(n->model->base.ctx);
    ln_emit_fail(&n->emit,
                 "input %d, '%s', determines shapes and depends on input '%s' (%s), which must be "
                 "bound before compilation; bind it with -i %s=FILE.npy or ln_context_bind_input",
                 i, n->proto->input[i], cause, tl_dtype_name(input->dtype), cause);
}

// Pushes the inputs of the operator. 1: it depends on an input of several elements, or on a random
// operator; -1: no memory.
static int push_inputs_of(const ln_onnx_node *n, const ln_op *op, ln_list **stack)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        if (!op->op_arg->tensors_in && ln_onnx_variation_of(n->model, tle->name) > LN_ONNX_BOUND &&
            (!ln_hash_find(n->model->base.ctx->input_names, tle->name) ||
             ln_onnx_tensor_of(n, tle->name)->len != 1))
            return 1;
    }
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (ln_list_push(stack, tle->name, NULL))
            return -1;
    return 0;
}

// Replaces the top of the stack by its producer's inputs. Returns as push_inputs_of.
static int step_to_inputs(const ln_onnx_node *n, ln_hash *seen, ln_list **stack)
{
    const ln_op *const op = ln_context_creater(n->model->base.ctx, (*stack)->data);
    *stack = ln_list_remove_nth(*stack, 0);
    if (!op)
        return 1;
    const int is_new = ln_hash_insert(seen, op, NULL);
    return is_new > 0 ? push_inputs_of(n, op, stack) : is_new;
}

int ln_onnx_depends_on_scalars_only(ln_onnx_node *n, const char *tensor)
{
    const ln_context *const ctx = n->model->base.ctx;
    ln_hash *seen = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    ln_list *stack = ln_list_prepend(NULL, (void *)tensor);
    int status = seen && stack ? 0 : -1, is_stopped = 0;
    while (stack && !status && !is_stopped) {
        is_stopped = ln_limits_check(ctx) < 0;
        status = is_stopped ? 0 : step_to_inputs(n, seen, &stack);
    }
    if (status < 0) {
        ln_context_clear_error(ctx); // of the rejected alternative: the caller tries another one
        ln_error_memory_at(ctx->error, n->model->base.file);
    }
    ln_list_free(stack);
    ln_hash_free(seen);
    return !status && !is_stopped;
}

static const tl_tensor *decisive(ln_onnx_node *n, int i, ln_onnx_variation limit)
{
    const char *tensor = ln_onnx_optional(n, i);
    const tl_tensor *value = value_up_to(n, tensor, limit);
    const char *why = tensor && !value ? ln_hash_find(n->model->unfolded, tensor) : NULL;
    if (why)
        ln_emit_fail(
            &n->emit,
            "input %d, '%s', determines shapes, but cannot be computed at compile time: %s", i,
            n->proto->input[i], why);
    else if (tensor && !value)
        fail_unknown(n, i, tensor);
    return value;
}

// The elements in another type; NULL after a failure.
static const void *converted(ln_onnx_node *n, const tl_tensor *value, tl_dtype dtype)
{
    const size_t size = (size_t)value->len * tl_size_of(dtype);
    const uint64_t max = ln_limits_max(n->model->base.ctx, LN_LIMIT_FOLD_MEMORY);
    if (max && size > max)
        ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                        "an input of %d elements determines shapes; they exceed the limit of "
                        "%" PRIu64 " bytes for a constant",
                        value->len, max);
    void *data = ln_translation_alloc(&n->model->base, size + 1);
    if (data)
        tl_convert_array(data, dtype, value->data, value->dtype, (size_t)value->len);
    return data;
}

static const int64_t *ints_up_to(ln_onnx_node *n, int i, int *len, ln_onnx_variation limit)
{
    const tl_tensor *value = decisive(n, i, limit);
    *len = value ? value->len : 0;
    if (!value)
        return NULL;
    if (value->dtype != TL_INT64 && value->dtype != TL_INT32)
        ln_emit_fail(&n->emit, "input %d is %s, expected TL_INT64 or TL_INT32", i,
                     tl_dtype_name(value->dtype));
    const void *data = n->model->base.failed ? NULL : converted(n, value, TL_INT64);
    *len = data ? value->len : 0;
    return data;
}

const tl_tensor *ln_onnx_decisive_in(ln_onnx_node *n, int i)
{
    return decisive(n, i, LN_ONNX_BOUND);
}

const int64_t *ln_onnx_ints_in(ln_onnx_node *n, int i, int *len)
{
    return ints_up_to(n, i, len, LN_ONNX_BOUND);
}

const int64_t *ln_onnx_largest_ints_in(ln_onnx_node *n, int i, int *len)
{
    return ints_up_to(n, i, len, LN_ONNX_SIZED);
}

int ln_onnx_dims_in(ln_onnx_node *n, int i, int max, ln_dim *dims)
{
    const char *const tensor = ln_onnx_in(n, i);
    const int64_t *values = NULL;
    int len = ln_onnx_tensor_of(n, tensor)->len, is_known = 1;
    for (int k = 0; k < len && k < max && is_known; k++) {
        dims[k] = ln_onnx_element_size(n, tensor, k);
        is_known = ln_dim_is_known(&dims[k]);
    }
    if (!is_known)
        values = ln_onnx_ints_in(n, i, &len);
    for (int k = 0; values && k < len && k < max; k++)
        dims[k] = ln_dim_constant(values[k]);
    return ln_onnx_failed(n) ? -1 : len;
}

int64_t ln_onnx_int_in(ln_onnx_node *n, int i, int64_t deflt)
{
    int len;
    const int64_t *values = ln_onnx_ints_in(n, i, &len);
    if (values && len != 1)
        ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", i, len);
    return values && len == 1 ? *values : deflt;
}

int64_t ln_onnx_required_int(ln_onnx_node *n, int i)
{
    ln_onnx_in(n, i);
    return ln_onnx_int_in(n, i, 1);
}

const double *ln_onnx_numbers_in(ln_onnx_node *n, int i, int *len)
{
    const tl_tensor *value = decisive(n, i, LN_ONNX_BOUND);
    const void *data = value ? converted(n, value, TL_DOUBLE) : NULL;
    *len = data ? value->len : 0;
    return data;
}

double ln_onnx_number_in(ln_onnx_node *n, int i, double deflt)
{
    int len;
    const double *values = ln_onnx_numbers_in(n, i, &len);
    if (values && len != 1)
        ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", i, len);
    return values && len == 1 ? *values : deflt;
}

double ln_onnx_required_number(ln_onnx_node *n, int i)
{
    ln_onnx_in(n, i);
    return ln_onnx_number_in(n, i, 0);
}
