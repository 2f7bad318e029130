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

// Values beside the wanted one are kept up to this size: the next question may be for them.
enum { KEPT_SIZE = 4096 };

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

// The value of the tensor counts as one that is given at run time, from now on.
static void leave_to_run_time(ln_onnx_model *m, const char *tensor, const char *reason)
{
    const ln_tensor_entry *te = ln_tensor_table_find(m->base.ctx->tensor_table, tensor);
    char *text = ln_translation_print(&m->base, "%s", reason);
    if (text && ln_hash_insert(m->unfolded, te->name, text) < 0)
        ln_translation_fail_memory(&m->base);
    if (!m->base.failed)
        ln_onnx_set_variation(m, tensor, LN_ONNX_UNKNOWN);
    ln_debug(m->base.ctx, "'%s' is computed when the model is loaded: %s", tensor, reason);
}

// Of such a tensor no value is computed or copied.
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

// The source of a tensor of LN_ONNX_SIZED: the max lengths of a tensor's axes; NULL: it is not the
// output of a `shape`.
static const tl_tensor *largest_shape(ln_onnx_model *m, const char *tensor)
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

// The value if nothing must be computed for it; else, or after a failure, NULL.
static const tl_tensor *known_value(ln_onnx_model *m, const char *tensor)
{
    const tl_tensor *value = ln_hash_find(m->values, tensor);
    const ln_weight *weight = value ? NULL : ln_weights_find(m->base.ctx->weights, tensor);
    if (!weight)
        return value ? value : largest_shape(m, tensor);
    const size_t size = tl_tensor_size(ln_translation_tensor(&m->base, tensor));
    tl_tensor *copy =
        may_copy(m, tensor, size) ? ln_weight_clone(weight, m->base.ctx->error) : NULL;
    if (!copy) {
        m->base.failed = 1;
        return NULL;
    }
    // Shapes will be decided on it.
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

// The operators that make a tensor

typedef struct part {
    ln_onnx_model *model;
    ln_context *ctx;  // separate
    int is_too_large; // it has met a limit on folding
} part;

static int has_entered(const part *p, const char *tensor)
{
    return ln_tensor_table_find(p->ctx->tensor_table, tensor) != NULL;
}

static int add_copy(part *p, const ln_op *op)
{
    ln_list *end = NULL;
    ln_op *copy = ln_op_copy(op);
    return copy && !ln_context_add_op(p->ctx, &end, copy) ? 0 : -1;
}

// A value that is known becomes a `source` with these bytes.
static int add_known(part *p, const char *tensor, const tl_tensor *value)
{
    ln_translation inner = {.ctx = p->ctx, .file = p->model->base.file};
    tl_tensor *record = tl_tensor_create(value->data, value->ndim, value->dims, value->dtype);
    if (!record || ln_weights_add(p->ctx->weights, tensor, record, 0)) {
        tl_tensor_free(record);
        return -1;
    }
    return ln_translation_source(&inner, tensor, record, 1) ? 0 : -1;
}

// Enters the producers of the tensor, deepest first; the stack holds pending producers,
// so that long chains cost memory, not stack.
static int push_inputs(part *p, const ln_op *op, ln_list **stack)
{
    int ready = 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        if (has_entered(p, tle->name))
            continue;
        if (ln_list_push(stack, tle->name, NULL))
            return -1;
        ready = 0;
    }
    return ready;
}

static int enter_top(part *p, ln_list **stack)
{
    const char *tensor = (*stack)->data;
    int ready = 1;
    if (ln_limits_check(p->ctx))
        return -1;
    if (!has_entered(p, tensor)) {
        if (is_too_large(p->model, tensor)) {
            p->is_too_large = 1;
            return ln_fail(p->ctx, "%s", print_too_large(p->model, tensor));
        }
        const tl_tensor *value = known_value(p->model, tensor);
        const ln_op *producer = ln_context_creater(p->model->base.ctx, tensor);
        if (p->model->base.failed || (value && add_known(p, tensor, value)))
            return -1;
        if (!value)
            ready = push_inputs(p, producer, stack);
        if (ready < 0 || (!value && ready && add_copy(p, producer)))
            return -1;
    }
    if (ready)
        *stack = ln_list_remove_nth(*stack, 0);
    return 0;
}

static int enter_producers(part *p, const char *tensor)
{
    ln_list *stack = ln_list_prepend(NULL, (void *)tensor);
    int status = stack ? 0 : -1;
    while (stack && !status)
        status = enter_top(p, &stack);
    ln_list_free(stack);
    return status;
}

// Running them

static void keep_all(part *p, const char *wanted)
{
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
            const ln_tensor_entry *te = ln_entry_of(tle, p->ctx->tensor_table);
            const size_t size = tl_tensor_size(te->tensor);
            if (!ln_hash_find(p->model->values, tle->name) &&
                ln_entry_of(tle, p->model->base.ctx->tensor_table) &&
                (ln_streq(tle->name, wanted)
                     ? may_copy(p->model, tle->name, size)
                     : size <= KEPT_SIZE && !ln_limits_forbid(p->model->base.ctx, size)))
                ln_onnx_keep_value(p->model, tle->name, tl_tensor_clone(te->tensor));
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

static int run_part(part *p, const char *tensor)
{
    p->ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    p->ctx->weights = ln_weights_create();
    if (!p->ctx->weights || enter_producers(p, tensor) || ln_context_add_output(p->ctx, tensor))
        return -1;
    ln_context_set_reference(p->ctx);
    ln_context_keep_all(p->ctx);
    return -(ln_context_compile(p->ctx, "cpu") || check_macs(p->ctx) ||
             ln_context_load(p->ctx, NULL) || ln_context_run(p->ctx));
}

static void compute(ln_onnx_node *n, const char *tensor)
{
    ln_onnx_model *m = n->model;
    part p = {.model = m, .ctx = ln_context_create()};
    if (!p.ctx) {
        ln_emit_fail_memory(&n->emit);
        return;
    }
    ln_limits_begin_fold(p.ctx, m->base.ctx);
    const int status = run_part(&p, tensor);
    ln_limits_end_fold(p.ctx);
    if (!status)
        keep_all(&p, tensor);
    else if (p.is_too_large || ln_limits_fold_is_over(p.ctx))
        leave_to_run_time(m, tensor, ln_context_error(p.ctx));
    else
        ln_emit_fail(&n->emit, "the value of '%s' cannot be computed: %s", tensor,
                     ln_context_error(p.ctx));
    ln_context_free(p.ctx);
}

// The value of a tensor that varies no worse than that.
static const tl_tensor *value_up_to(ln_onnx_node *n, const char *tensor, ln_onnx_variation worst)
{
    if (!tensor || n->model->base.failed || ln_onnx_variation_of(n->model, tensor) > worst)
        return NULL;
    if (is_too_large(n->model, tensor)) {
        leave_to_run_time(n->model, tensor, print_too_large(n->model, tensor));
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

const char *ln_onnx_setter(ln_onnx_node *n, int i)
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
    // An input of the model, whose value is not known; NULL: it is something else, such as chance.
    const char *cause = tensor;
    while (cause && !ln_hash_find(ctx->input_names, cause))
        cause = unknown_input(n->model, ln_context_creater(ctx, cause));
    if (!cause) {
        ln_emit_fail(&n->emit,
                     "input %d, '%s', decides shapes and depends on values computed at run time", i,
                     n->proto->input[i]);
        return;
    }
    const tl_tensor *input = ln_translation_tensor(&n->model->base, cause);
    ln_bind_want_values(n->model->base.ctx);
    ln_emit_fail(&n->emit,
                 "input %d, '%s', decides shapes and depends on input '%s', which is not given as "
                 "%s before the model is compiled; give its value (-i %s=FILE.npy, "
                 "ln_context_bind_input)",
                 i, n->proto->input[i], cause, tl_dtype_name(input->dtype), cause);
}

// Puts the inputs of the operator on the stack. 1: the operator is an input of several elements or
// has other results in each run; -1: no memory.
static int push_deciders(const ln_onnx_node *n, const ln_op *op, ln_list **stack)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const int is_input = !op->op_arg->tensors_in;
        if (is_input && ln_onnx_variation_of(n->model, tle->name) > LN_ONNX_BOUND &&
            (!ln_hash_find(n->model->base.ctx->input_names, tle->name) ||
             ln_onnx_tensor_of(n, tle->name)->len != 1))
            return 1;
    }
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (ln_list_push(stack, tle->name, NULL))
            return -1;
    return 0;
}

// Replaces the top of the stack by what it depends on. Returns as push_deciders.
static int step_to_deciders(const ln_onnx_node *n, ln_hash *seen, ln_list **stack)
{
    const ln_op *const op = ln_context_creater(n->model->base.ctx, (*stack)->data);
    *stack = ln_list_remove_nth(*stack, 0);
    if (!op)
        return 1;
    const int is_new = ln_hash_insert(seen, op, NULL);
    return is_new > 0 ? push_deciders(n, op, stack) : is_new;
}

int ln_onnx_is_decided(ln_onnx_node *n, const char *tensor)
{
    const ln_context *const ctx = n->model->base.ctx;
    ln_hash *seen = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    ln_list *stack = ln_list_prepend(NULL, (void *)tensor);
    int status = seen && stack ? 0 : -1, is_late = 0;
    while (stack && !status && !is_late) {
        is_late = ln_limits_check(ctx) < 0;
        status = is_late ? 0 : step_to_deciders(n, seen, &stack);
    }
    if (status < 0) {
        ln_context_clear_error(ctx); // of the branch, which may fit after all
        ln_error_memory_at(ctx->error, n->model->base.file);
    }
    ln_list_free(stack);
    ln_hash_free(seen);
    return !status && !is_late;
}

static const tl_tensor *decisive(ln_onnx_node *n, int i, ln_onnx_variation worst)
{
    const char *tensor = ln_onnx_optional(n, i);
    const tl_tensor *value = value_up_to(n, tensor, worst);
    const char *why = tensor && !value ? ln_hash_find(n->model->unfolded, tensor) : NULL;
    if (why)
        ln_emit_fail(&n->emit, "input %d, '%s', decides shapes, but is not computed before: %s", i,
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
                        "an input of %d elements decides shapes; they exceed the limit of %" PRIu64
                        " bytes for a constant",
                        value->len, max);
    void *data = ln_translation_alloc(&n->model->base, size + 1);
    if (data)
        tl_convert_array(data, dtype, value->data, value->dtype, (size_t)value->len);
    return data;
}

static const int64_t *ints_up_to(ln_onnx_node *n, int i, int *len, ln_onnx_variation worst)
{
    const tl_tensor *value = decisive(n, i, worst);
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
        dims[k] = ln_dim_number(values[k]);
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
