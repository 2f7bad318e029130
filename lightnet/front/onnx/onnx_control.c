// SPDX-License-Identifier: Apache-2.0
// ONNX operators that repeat a graph: Loop, Scan. If is in onnx_branch.c.
//
// If the number of iterations is known at compile time, the loop is unrolled. The number of
// an iteration is then a constant, so values that depend on it are also known.
//
// Otherwise the graph becomes the body of the operator `loop`, if shapes do not change from one
// iteration to the next. The last resort is to unroll by input values bound before compiling.

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "front/onnx/ln_onnx_body.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_steps.h"
#include "ir/ln_bind.h"
#include "ir/ln_limits.h"
#include "tensorlight/tl_type.h"

// Loops: common parts of Loop and Scan
//
// Inputs of a body are (iteration number, condition | states | slices of scan inputs), the first
// two only for Loop. Its outputs are (condition | states | elements of scan outputs): the condition
// to continue, the states of the next iteration, and the elements that are stacked. States of a
// Loop may be sequences or optional values, everything else is tensors.

typedef struct loop {
    const LnOnnx__Graph *body;
    int is_scan;
    int n_states, n_scan_ins, n_scan_outs;
    int64_t trips;          // max iterations; -1: unknown at compile time
    int use_bound;          // whether to use input values bound before compiling
    const char *cond;       // NULL: true
    int keeps_cond;         // the body returns its input condition
    const char **ins;       // of the body
    const char **outs;      // of the body
    const char ***slices;   // of each scan input, one for each iteration
    const char **sample;    // of each scan input of length 0, a tensor like a slice; or NULL
    const char ***elements; // of each scan output, room for `capacity`
    int64_t n_done, capacity;
} loop;

static const char **states_in(const loop *l)
{
    return l->ins + (l->is_scan ? 0 : 2);
}

static const char **states_out(const loop *l)
{
    return l->outs + (l->is_scan ? 0 : 1);
}

static void check_body(ln_onnx_node *n, const loop *l)
{
    const size_t n_ins = (size_t)l->n_states + (size_t)l->n_scan_ins + (l->is_scan ? 0 : 2);
    const size_t n_fixed = (size_t)l->n_states + (l->is_scan ? 0 : 1);
    if (l->body->n_input != n_ins || l->body->n_output < n_fixed)
        ln_emit_fail(&n->emit,
                     "its graph has %zu inputs and %zu outputs, expected %zu, and at least %zu",
                     l->body->n_input, l->body->n_output, n_ins, n_fixed);
    else if (n->proto->n_output > l->body->n_output - (l->is_scan ? 0 : 1))
        ln_emit_fail(&n->emit, "%zu outputs, expected at most the %zu of its graph",
                     n->proto->n_output, l->body->n_output - (l->is_scan ? 0 : 1));
}

static int is_named(const char *name, const char *other)
{
    return name && *name && ln_streq(name, other);
}

// Whether the condition passes from the body's input to its output, at most through Identity. Nodes
// are sorted.
static int keeps_condition(const LnOnnx__Graph *body)
{
    const char *name = body->output[0]->name;
    for (size_t i = body->n_node; i-- > 0;) {
        const LnOnnx__Node *node = body->node[i];
        const int produces_it = node->n_output == 1 && is_named(node->output[0], name);
        if (produces_it && (!ln_streq(node->op_type, "Identity") || node->n_input != 1))
            return 0;
        name = produces_it ? node->input[0] : name;
    }
    return is_named(name, body->input[1]->name);
}

// Allocates the arrays of the loop, whose counts are set. -1 after a failure.
static int prepare_loop(ln_onnx_node *n, loop *l)
{
    if (ln_onnx_failed(n))
        return -1;
    check_body(n, l);
    if (ln_onnx_failed(n))
        return -1;
    l->keeps_cond = !l->is_scan && keeps_condition(l->body);
    l->n_scan_outs = (int)l->body->n_output - l->n_states - (l->is_scan ? 0 : 1);
    l->ins = ln_onnx_new_names(n, l->body->n_input);
    l->outs = ln_onnx_new_names(n, l->body->n_output);
    l->slices =
        ln_translation_alloc(&n->model->base, ((size_t)l->n_scan_ins + 1) * sizeof(*l->slices));
    l->sample = ln_onnx_new_names(n, (size_t)l->n_scan_ins);
    l->elements =
        ln_translation_alloc(&n->model->base, ((size_t)l->n_scan_outs + 1) * sizeof(*l->elements));
    return ln_onnx_failed(n) ? -1 : 0;
}

static void reserve(ln_onnx_node *n, loop *l)
{
    if (l->n_done < l->capacity)
        return;
    const int64_t capacity = l->capacity ? 2 * l->capacity : 16;
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
        const char **longer = ln_onnx_new_names(n, (size_t)capacity);
        if (longer && l->capacity)
            memcpy(longer, l->elements[k], (size_t)l->capacity * sizeof(*longer));
        l->elements[k] = longer;
    }
    l->capacity = capacity;
}

// A constant of one element: a scalar or of shape [1], like input `i` of the body.
static const char *constant_input(ln_onnx_node *n, const loop *l, int i, tl_dtype dtype,
                                  double value)
{
    static const int one[] = {1};
    char data[TL_DTYPE_MAX_SIZE];
    const LnOnnx__Type *type = l->body->input[i]->type;
    const LnOnnx__Shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    tl_convert(data, dtype, &value, TL_DOUBLE);
    return ln_emit_constant(&n->emit, dtype, shape && shape->n_dim == 1, one, data);
}

static void check_outs(ln_onnx_node *n, const loop *l)
{
    const char **states = states_out(l);
    if (!l->is_scan && !ln_onnx_failed(n))
        ln_onnx_want_tensor(n, "the condition", l->outs[0]);
    for (int k = l->is_scan ? 0 : l->n_states; k < l->n_states + l->n_scan_outs; k++)
        if (!ln_onnx_failed(n))
            ln_onnx_want_tensor(n, "an output of its graph", states[k]);
}

// Emits one iteration, and sets the states for the next one.
static void iterate(ln_onnx_node *n, loop *l)
{
    const int n_ins = (int)l->body->n_input, n_outs = (int)l->body->n_output;
    if (!l->is_scan) {
        l->ins[0] = constant_input(n, l, 0, TL_INT64, (double)l->n_done);
        l->ins[1] = constant_input(n, l, 1, TL_BOOL, 1);
    }
    for (int k = 0; k < l->n_scan_ins; k++)
        states_in(l)[l->n_states + k] = l->sample[k] ? l->sample[k] : l->slices[k][l->n_done];
    ln_onnx_inline(n, l->body, n_ins, l->ins, n_outs, l->outs);
    check_outs(n, l);
    reserve(n, l);
    if (ln_onnx_failed(n))
        return;
    for (int k = 0; k < l->n_states; k++)
        states_in(l)[k] = states_out(l)[k];
    for (int k = 0; k < l->n_scan_outs; k++)
        l->elements[k][l->n_done] = states_out(l)[l->n_states + k];
    if (!l->is_scan)
        l->cond = l->outs[0];
    l->n_done++;
}

static const tl_tensor *known_value(ln_onnx_node *n, const char *tensor, int use_bound)
{
    return use_bound ? ln_onnx_bound_value(n, tensor) : ln_onnx_value(n, tensor);
}

// 1: true, 0: false, -1: unknown at compile time.
static int known_condition(ln_onnx_node *n, const loop *l)
{
    const tl_tensor *value = l->cond ? known_value(n, l->cond, l->use_bound) : NULL;
    if (l->cond)
        ln_onnx_check_single(n, "the condition", l->cond);
    return !l->cond ? 1 : value && !ln_onnx_failed(n) ? ln_onnx_is_true(value) : -1;
}

// Whether unrolling needs too many operators; `n_ops` exist so far. With a steady condition,
// further iterations need as many each.
static int is_too_long(const loop *l, const char *cond_before, int n_ops)
{
    const int is_steady = l->is_scan || l->keeps_cond || ln_streq(cond_before, l->cond);
    if (n_ops > LN_ONNX_MAX_UNROLLED)
        return 1;
    return is_steady && l->n_done &&
           l->trips / l->n_done > LN_ONNX_MAX_UNROLLED / (n_ops ? n_ops : 1);
}

// Records that the loop is too long to unroll, so that it is not tried twice.
static int mark_too_long(ln_onnx_node *n)
{
    if (ln_hash_insert(n->model->long_loops, n->proto, NULL) < 0)
        ln_emit_fail_memory(&n->emit);
    return 0;
}

// Emits the iterations. 0: too many, or their number is known only at run time.
static int unroll(ln_onnx_node *n, loop *l)
{
    const ln_hash *const ops = n->model->base.ctx->op_table;
    const int before = ln_hash_size(ops);
    const char *cond_before = "";
    if (l->trips < 0 || ln_hash_find_extended(n->model->long_loops, n->proto, NULL, NULL))
        return 0;
    while (l->n_done < l->trips && !ln_onnx_failed(n)) {
        const int next = known_condition(n, l);
        if (next <= 0)
            return next == 0;
        if (is_too_long(l, cond_before, ln_hash_size(ops) - before))
            return mark_too_long(n);
        cond_before = l->cond ? l->cond : "";
        iterate(n, l);
    }
    return !ln_onnx_failed(n);
}

// The type and shape that the graph declares for an element of scan output `k`, with 0 for unknown
// sizes. Returns new (tl_tensor_free); NULL: not declared, or no memory.
static tl_tensor *declared_element(const loop *l, int k)
{
    int dims[LN_MAXDIM];
    const size_t i = (size_t)(l->is_scan ? 0 : 1) + (size_t)l->n_states + (size_t)k;
    const LnOnnx__Type *const type = l->body->output[i]->type;
    const LnOnnx__TensorType *const tensor = type ? type->tensor_type : NULL;
    const LnOnnx__Shape *const shape = tensor ? tensor->shape : NULL;
    const tl_dtype dtype = tensor ? ln_onnx_dtype(tensor->elem_type) : TL_DTYPE_INVALID;
    if (!shape || dtype == TL_DTYPE_INVALID || shape->n_dim >= LN_MAXDIM)
        return NULL;
    for (size_t d = 0; d < shape->n_dim; d++) {
        const int64_t dim = shape->dim[d]->has_dim_value ? shape->dim[d]->dim_value : 0;
        if (dim < 0 || dim > INT_MAX)
            return NULL;
        dims[d] = (int)dim;
    }
    return tl_tensor_create(NULL, (int)shape->n_dim, dims, dtype);
}

// A tensor of this type and shape, whose values are never used.
static const char *placeholder(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    if (dtype == TL_STRING)
        return ln_emit_expand(&n->emit, ln_emit_text(&n->emit, ""), ndim, dims, LN_EMIT_TEMP);
    return ln_emit_filled(&n->emit, dtype, ndim, dims, 0);
}

// Sets the elements of scan outputs by their declarations, as the body fails because of `why`.
static void fill_declared_elements(ln_onnx_node *n, loop *l, const char *why)
{
    l->capacity = 0; // names reserved before the failure are invalid
    reserve(n, l);
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
        tl_tensor *const like = declared_element(l, k);
        if (like)
            l->elements[k][0] = placeholder(n, like->dtype, like->ndim, like->dims);
        else
            ln_emit_fail(&n->emit, "%s", why);
        tl_tensor_free(like);
    }
}

// Infers the shapes of scan outputs of a loop without iterations from an unused iteration, or if
// that fails, from the declared outputs of the body.
static void infer_elements(ln_onnx_node *n, loop *l)
{
    if (l->n_done || !l->n_scan_outs || ln_onnx_failed(n))
        return;
    ln_onnx_body body;
    const loop before = *l;
    const size_t n_ins = l->body->n_input;
    const char **ins = ln_onnx_new_names(n, n_ins);
    if (ins)
        memcpy(ins, l->ins, n_ins * sizeof(*ins));
    ln_onnx_body_begin(n, &body, 0);
    iterate(n, l);
    if (ln_onnx_can_fail_at_run(n, 0, NULL))
        fill_declared_elements(n, l, ln_onnx_body_drop(n, &body));
    if (ln_onnx_failed(n))
        return;
    memcpy(l->ins, ins, n_ins * sizeof(*ins));
    l->cond = before.cond;
    l->n_done = 0;
}

static const char *stack_elements(ln_onnx_node *n, const loop *l, int k, int axis)
{
    return ln_onnx_stack(n, l->elements[k], (int)l->n_done, l->elements[k][0], axis);
}

// Element `i` of an attribute; 0 beyond its end.
static int64_t int_at(ln_onnx_node *n, const char *attr, int i)
{
    int len;
    const int64_t *ints = ln_attr_ints(&n->emit, attr, &len);
    return i < len ? ints[i] : 0;
}

// Element `k` of an attribute as an axis of `ndim`, from the end if negative; fails out of range.
static int scan_axis(ln_onnx_node *n, const char *attr, int k, int ndim)
{
    return ln_attr_to_axis(&n->emit, int_at(n, attr, k), ndim);
}

static void reverse(const char **names, int64_t len)
{
    for (int64_t i = 0; i < len / 2; i++) {
        const char *name = names[i];
        names[i] = names[len - 1 - i];
        names[len - 1 - i] = name;
    }
}

// Outputs of an unrolled loop. Scan outputs stack along axis 0 without attributes, as for Loop.
static void finish_unrolled(ln_onnx_node *n, loop *l)
{
    infer_elements(n, l);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, states_in(l)[k]);
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
        const int ndim = ln_onnx_tensor_of(n, l->elements[k][0])->ndim + 1;
        const int axis = scan_axis(n, "scan_output_axes", k, ndim);
        if (!ln_onnx_wants(n, l->n_states + k))
            continue;
        if (int_at(n, "scan_output_directions", k))
            reverse(l->elements[k], l->n_done);
        ln_onnx_alias(n, l->n_states + k, stack_elements(n, l, k, axis));
    }
}

// Loops at run time

// A loop as an operator with a body.
typedef struct loop_op {
    ln_onnx_body body;
    const char **outs; // outputs of the body, without unused scan outputs
    int n_tensors;     // all tensors of the states
    int states_differ; // lengths of sequences change in an iteration
    int conditional;   // output 0 of the body is the condition
    int n_scan_outs;   // outputs of the body that are stacked
    const char *trips; // tensor; NULL: known or unbounded
    const char *cond;  // tensor; NULL: true
    int64_t max;       // -1: unbounded
} loop_op;

// An input of the body for each tensor of a state.
static const char *state_input(ln_onnx_node *n, ln_onnx_body *body, const char *state)
{
    int len;
    const char **tensors = ln_onnx_flatten(n, 1, &state, &len);
    const char *const *next = tensors;
    for (int i = 0; i < len && !ln_onnx_failed(n); i++) {
        const tl_tensor *like = ln_onnx_tensor_of(n, tensors[i]);
        tensors[i] = ln_onnx_body_input(n, body, like->dtype, like->ndim, like->dims);
    }
    return ln_onnx_failed(n) ? NULL : ln_onnx_rebuild(n, state, &next);
}

static const char *slice_input(ln_onnx_node *n, ln_onnx_body *body, const char *slices)
{
    const tl_tensor *like = ln_onnx_tensor_of(n, slices);
    return ln_onnx_body_input(n, body, like->dtype, like->ndim - 1, like->dims + 1);
}

// Adds the inputs of the body, and reshapes scalars to [1] where ONNX requires it.
static void add_body_inputs(ln_onnx_node *n, loop *l, ln_onnx_body *body)
{
    static const int one[] = {1};
    const char *number = ln_onnx_body_input(n, body, TL_INT64, 0, NULL);
    const LnOnnx__Type *type = l->is_scan ? NULL : l->body->input[0]->type;
    const LnOnnx__Shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    const char **states = states_in(l);
    for (int k = 0; k < l->n_states + l->n_scan_ins && !ln_onnx_failed(n); k++)
        states[k] = (k < l->n_states ? state_input : slice_input)(n, body, states[k]);
    if (l->is_scan || ln_onnx_failed(n))
        return;
    l->ins[0] = shape && shape->n_dim == 1 ? ln_emit_reshape(&n->emit, number, 1, one, LN_EMIT_TEMP)
                                           : number;
    l->ins[1] = constant_input(n, l, 1, TL_BOOL, 1);
}

// The condition to continue, a scalar; NULL: always true.
static const char *next_condition(ln_onnx_node *n, const loop *l)
{
    const char *cond = l->is_scan ? NULL : l->outs[0];
    const tl_tensor *value = cond ? ln_onnx_value(n, cond) : NULL;
    if (cond)
        ln_onnx_check_single(n, "the condition", cond);
    if (!cond || ln_onnx_failed(n) || (value && ln_onnx_is_true(value)))
        return NULL;
    return ln_onnx_as_scalar(n, cond);
}

static int wants_scan_out(const ln_onnx_node *n, const loop *l, int k)
{
    return ln_onnx_wants(n, l->n_states + k);
}

static int states_differ(const ln_onnx_node *n, const loop *l)
{
    for (int k = 0; k < l->n_states; k++)
        if (!ln_onnx_is_alike(n->model, states_in(l)[k], states_out(l)[k]))
            return 1;
    return 0;
}

// Translates the body once. The loop's states are then those inside the body.
static void translate_body(ln_onnx_node *n, loop *l, loop_op *r)
{
    ln_onnx_body_begin(n, &r->body, 1 + r->n_tensors + l->n_scan_ins);
    add_body_inputs(n, l, &r->body);
    ln_onnx_inline(n, l->body, (int)l->body->n_input, l->ins, (int)l->body->n_output, l->outs);
    check_outs(n, l);
    const char *cond = ln_onnx_failed(n) ? NULL : next_condition(n, l);
    int n_outs = 0, n_tensors;
    const char **states = ln_onnx_flatten(n, l->n_states, states_out(l), &n_tensors);
    r->outs = ln_onnx_new_names(n, (size_t)n_tensors + (size_t)l->n_scan_outs + 1);
    r->states_differ = !ln_onnx_failed(n) && states_differ(n, l);
    if (ln_onnx_failed(n) || r->states_differ)
        return;
    if (cond)
        r->outs[n_outs++] = cond;
    for (int k = 0; k < n_tensors; k++)
        r->outs[n_outs++] = states[k];
    for (int k = 0; k < l->n_scan_outs; k++) {
        const char *const element = states_out(l)[l->n_states + k];
        // Also checks the axis of omitted scan outputs.
        scan_axis(n, "scan_output_axes", k, ln_onnx_tensor_of(n, element)->ndim + 1);
        if (wants_scan_out(n, l, k))
            r->outs[n_outs++] = element;
    }
    r->conditional = cond != NULL;
    r->n_scan_outs = n_outs - r->conditional - n_tensors;
    ln_onnx_body_end(n, &r->body, n_outs, r->outs);
}

// Emits a body that fails when it runs, because of `why`. Its scan outputs must have declared
// shapes.
static void emit_failing_body(ln_onnx_node *n, loop *l, loop_op *r, const char *const *states,
                              const char *why)
{
    static const tl_tensor flag = {.dtype = TL_BOOL, .len = 1};
    int n_outs = 0;
    r->conditional = r->cond != NULL;
    r->n_scan_outs = 0;
    r->outs = ln_onnx_new_names(n, (size_t)r->n_tensors + (size_t)l->n_scan_outs + 1);
    ln_onnx_body_begin(n, &r->body, 1 + r->n_tensors + l->n_scan_ins);
    add_body_inputs(n, l, &r->body);
    if (ln_onnx_failed(n))
        return;
    if (r->conditional)
        r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, &flag);
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, ln_onnx_tensor_of(n, states[k]));
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
        tl_tensor *const like = wants_scan_out(n, l, k) ? declared_element(l, k) : NULL;
        if (like)
            r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, like);
        else if (wants_scan_out(n, l, k))
            ln_emit_fail(&n->emit, "its body: %s", why);
        r->n_scan_outs += like != NULL;
        tl_tensor_free(like);
    }
    if (ln_onnx_failed(n))
        return;
    ln_emit_warn(&n->emit, "its body does not fit; a run with an iteration fails: %s", why);
    ln_onnx_body_end(n, &r->body, n_outs, r->outs);
}

static const char open_size[] = "the number of iterations decides the size of an output";

// The reason why the loop cannot run as an operator; NULL: it can.
static const char *why_not_rolled(ln_onnx_node *n, const loop_op *r)
{
    if (r->states_differ)
        return "a sequence or an optional value changes its length from one iteration to the next";
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        if (!ln_onnx_same_shapes(n, r->body.inputs[1 + k], r->body.outputs[r->conditional + k]))
            return "a state changes its type or shape from one iteration to the next";
    for (int k = 0; k < r->body.n_outputs && !ln_onnx_failed(n); k++)
        if (ln_onnx_is_dynamic(n, r->body.outputs[k]))
            return "a state or an output has a size that each iteration decides";
    return NULL;
}

// Sets a parameter to the first `len` flags of an attribute, only those for which `wanted` is true.
static void set_flags(ln_onnx_node *n, const char *param, const char *attr, int len,
                      int (*wanted)(const ln_onnx_node *, const loop *, int), const loop *l)
{
    int n_flags = 0;
    int *flags = ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(*flags));
    for (int k = 0; k < len && flags; k++)
        if (!wanted || wanted(n, l, k))
            flags[n_flags++] = ln_attr_to_bool(&n->emit, attr, int_at(n, attr, k));
    if (flags)
        ln_emit_set(&n->emit, LN_INTS(param, n_flags, flags));
}

// Makes outputs of the stacked `made`, moving axis 0 to that of scan_output_axes.
static void alias_scan_outs(ln_onnx_node *n, const loop *l, const char *const *made)
{
    int i = 0;
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
        if (!wants_scan_out(n, l, k))
            continue;
        const char *part = made[i++];
        const int axis = scan_axis(n, "scan_output_axes", k, ln_onnx_tensor_of(n, part)->ndim);
        ln_onnx_set_unknown(n, part);
        ln_onnx_alias(n, l->n_states + k,
                      axis ? ln_onnx_move_axis(n, part, 0, axis, LN_EMIT_TEMP) : part);
    }
}

// Rebuilds the final states, which have the structure of the body's, from their tensors.
static void alias_states(ln_onnx_node *n, const loop *l, const char *const *tensors)
{
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, ln_onnx_rebuild(n, states_in(l)[k], &tensors));
}

// `states`: the tensors of the states, then the scan inputs.
static void emit_loop(ln_onnx_node *n, const loop *l, loop_op *r, const char *const *states)
{
    const ln_onnx_body *b = &r->body;
    const int is_plain = !ln_onnx_has_compound(n->model, l->n_states, states_in(l));
    const char *name = ln_onnx_body_make(n, &r->body, b->n_captures, b->captures);
    const char **last = ln_onnx_new_names(n, (size_t)r->n_tensors),
               **parts = ln_onnx_new_names(n, (size_t)r->n_scan_outs);
    ln_emit_begin(&n->emit,
                  r->n_scan_outs && (r->conditional || r->cond) ? LN_OP_LOOP_DYNAMIC : LN_OP_LOOP);
    ln_emit_arg(&n->emit, "trips", r->trips);
    ln_emit_arg(&n->emit, "cond", r->cond);
    for (int k = 0; k < r->n_tensors + l->n_scan_ins; k++)
        ln_emit_arg_at(&n->emit, k < r->n_tensors ? "state" : "row",
                       k < r->n_tensors ? k : k - r->n_tensors, states[k]);
    for (int k = 0; k < b->n_captures; k++)
        ln_emit_arg_at(&n->emit, "src", k, b->captures[k]);
    ln_emit_set(&n->emit, LN_TEXT("body", name));
    ln_emit_set(&n->emit, LN_BOOL("conditional", r->conditional));
    ln_emit_set(&n->emit, LN_INT("most", r->max));
    if (l->is_scan) {
        set_flags(n, "backward_rows", "scan_input_directions", l->n_scan_ins, NULL, l);
        set_flags(n, "backward_parts", "scan_output_directions", l->n_scan_outs, wants_scan_out, l);
    }
    if (ln_onnx_failed(n))
        return;
    ln_onnx_emit_outs(n, "last", r->n_tensors, is_plain ? 0 : -1, !r->n_scan_outs, last);
    ln_onnx_emit_outs(n, "part", r->n_scan_outs, -1, 1, parts);
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        ln_onnx_set_unknown(n, last[k]);
    if (!is_plain)
        alias_states(n, l, last);
    alias_scan_outs(n, l, parts);
}

// Loop

// The max number of iterations that the first input allows; -1: unknown.
static int64_t known_trips(ln_onnx_node *n, int use_bound)
{
    const char *tensor = ln_onnx_optional(n, 0);
    int64_t trips = INT64_MAX;
    if (!tensor)
        return trips;
    ln_onnx_check_single(n, "the number of iterations", tensor);
    const tl_tensor *value = known_value(n, tensor, use_bound);
    if (!value || ln_onnx_failed(n))
        return -1;
    tl_convert(&trips, TL_INT64, value->data, value->dtype);
    return trips < 0 ? 0 : trips;
}

static int enter_loop(ln_onnx_node *n, loop *l, int use_bound)
{
    const int n_ins = (int)n->proto->n_input;
    *l = (loop){.body = ln_onnx_required_graph(n, "body"),
                .n_states = n_ins > 2 ? n_ins - 2 : 0,
                .trips = known_trips(n, use_bound),
                .cond = ln_onnx_optional(n, 1),
                .use_bound = use_bound};
    if (prepare_loop(n, l))
        return -1;
    for (int k = 0; k < l->n_states; k++)
        states_in(l)[k] = ln_onnx_any_in(n, 2 + k);
    return ln_onnx_failed(n) ? -1 : 0;
}

// Emits the operator `loop`; otherwise reports why it cannot.
static const char *roll_loop(ln_onnx_node *n)
{
    loop l;
    loop_op r = {0};
    if (enter_loop(n, &l, 0))
        return NULL;
    const char **states = ln_onnx_flatten(n, l.n_states, states_in(&l), &r.n_tensors);
    if (!states)
        return NULL;
    const int next = known_condition(n, &l);
    const int is_counted = l.trips >= 0 && l.trips <= INT_MAX;
    r.max = is_counted ? l.trips : -1;
    r.trips = is_counted ? NULL : ln_onnx_optional(n, 0);
    r.cond = next > 0 ? NULL : l.cond;
    int n_wanted = 0;
    for (int k = 0; k < l.n_scan_outs; k++)
        n_wanted += wants_scan_out(n, &l, k);
    if (n_wanted && !is_counted)
        return open_size;
    const char *const deciders[] = {r.trips, r.cond};
    if (ln_onnx_failed(n))
        return NULL;
    translate_body(n, &l, &r);
    if ((r.trips || r.cond) && ln_onnx_can_fail_at_run(n, 2, deciders)) {
        const char *const why = ln_onnx_body_drop(n, &r.body);
        if (!enter_loop(n, &l, 0))
            emit_failing_body(n, &l, &r, states, why);
    }
    const char *reason = ln_onnx_failed(n) ? NULL : why_not_rolled(n, &r);
    if (!reason && !ln_onnx_failed(n) && r.n_tensors + r.n_scan_outs)
        emit_loop(n, &l, &r, states);
    else if (!reason && !ln_onnx_failed(n))
        alias_states(n, &l, states);
    return reason;
}

// Whether input `i` is absent, or its value is known at compile time or bound before compiling.
static int is_bound_or_absent(const ln_onnx_node *n, int i)
{
    const char *tensor =
        ln_onnx_has_input(n, i) ? ln_onnx_scope_get(n->scope, n->proto->input[i]) : NULL;
    return !tensor || ln_onnx_variation_of(n->model, tensor) != LN_ONNX_UNKNOWN;
}

static void translate_loop(ln_onnx_node *n)
{
    loop l;
    if (enter_loop(n, &l, 0))
        return;
    if (unroll(n, &l)) {
        finish_unrolled(n, &l);
        return;
    }
    const char *reason = ln_onnx_failed(n) ? NULL : roll_loop(n);
    if (ln_onnx_failed(n) && is_bound_or_absent(n, 0) && is_bound_or_absent(n, 1)) {
        reason = "its body cannot be an operator";
        ln_onnx_try_again(n);
    }
    if (!reason || enter_loop(n, &l, 1))
        return;
    if (unroll(n, &l)) {
        finish_unrolled(n, &l);
        return;
    }
    ln_bind_want_values(n->model->base.ctx);
    ln_emit_fail(&n->emit,
                 "%s, and the number of iterations is known only at run time, or too large to "
                 "unroll; set the inputs that it depends on before compiling",
                 reason);
}

// Scan

// Unrolling makes each slice an operand, so their number must be known.
static void want_fixed(ln_onnx_node *n, const char *what, int k, const char *src, int axis)
{
    const ln_dim size = ln_onnx_axis_size(n, src, axis);
    if (ln_onnx_is_dynamic(n, src) && !ln_dim_is_constant(&size))
        ln_emit_fail(&n->emit, "%s %d is known only at run time, expected a fixed one", what, k);
}

// A tensor with the shape of a slice of a scan input of length 0.
static const char *sample_like(ln_onnx_node *n, const char *src, int axis)
{
    const tl_tensor *const whole = ln_onnx_tensor_of(n, src);
    int dims[LN_MAXDIM], ndim = 0;
    for (int i = 0; i < whole->ndim; i++)
        if (i != axis)
            dims[ndim++] = whole->dims[i];
    return placeholder(n, whole->dtype, ndim, dims);
}

// Splits scan input `k` into slices, in the order of the iterations.
static void unstack_input(ln_onnx_node *n, loop *l, int k, const char *src, int axis,
                          const char *directions)
{
    int len;
    want_fixed(n, "the length of scan input", k, src, axis);
    l->slices[k] = ln_onnx_unstack(n, src, axis, &len);
    if (ln_onnx_failed(n))
        return;
    if (k && len != l->trips)
        ln_emit_fail(&n->emit, "scan input %d has length %d, expected %d as the first", k, len,
                     (int)l->trips);
    l->trips = len;
    if (!len)
        l->sample[k] = sample_like(n, src, axis);
    if (ln_attr_to_bool(&n->emit, directions, int_at(n, directions, k)))
        reverse(l->slices[k], len);
}

// Reads the inputs of Scan in all operator sets; the states begin after `first` inputs.
static int begin_scan(ln_onnx_node *n, loop *l, int first)
{
    const int n_ins = (int)n->proto->n_input - first;
    const int n_scan_ins = ln_attr_int_in(&n->emit, "num_scan_inputs", 0, 1, n_ins);
    if (ln_onnx_failed(n))
        return -1;
    *l = (loop){.body = ln_onnx_required_graph(n, "body"),
                .is_scan = 1,
                .n_scan_ins = n_scan_ins,
                .n_states = n_ins - (int)n_scan_ins};
    return prepare_loop(n, l);
}

static int enter_scan(ln_onnx_node *n, loop *l)
{
    if (begin_scan(n, l, 0))
        return -1;
    for (int k = 0; k < l->n_states; k++)
        l->ins[k] = ln_onnx_in(n, k);
    return ln_onnx_failed(n) ? -1 : 0;
}

// Emits the operator `loop`, with the scan axes of the inputs moved to axis 0.
static void roll_scan(ln_onnx_node *n)
{
    loop l;
    loop_op r = {.max = -1};
    if (enter_scan(n, &l))
        return;
    for (int k = 0; k < l.n_scan_ins && !ln_onnx_failed(n); k++) {
        const char *src = ln_onnx_in(n, l.n_states + k);
        const int axis = scan_axis(n, "scan_input_axes", k, ln_onnx_tensor_of(n, src)->ndim);
        l.ins[l.n_states + k] = axis ? ln_onnx_move_axis(n, src, axis, 0, LN_EMIT_TEMP) : src;
    }
    const char **states = ln_onnx_new_names(n, l.body->n_input);
    if (!states)
        return;
    memcpy(states, l.ins, l.body->n_input * sizeof(*states));
    r.n_tensors = l.n_states;
    translate_body(n, &l, &r);
    const char *reason = ln_onnx_failed(n) ? NULL : why_not_rolled(n, &r);
    if (reason)
        ln_emit_fail(&n->emit, "%s, and there are too many iterations to unroll", reason);
    else if (!ln_onnx_failed(n))
        emit_loop(n, &l, &r, states);
}

static void translate_scan(ln_onnx_node *n)
{
    loop l;
    if (enter_scan(n, &l))
        return;
    const char *const first = ln_onnx_in(n, l.n_states);
    const int axis = scan_axis(n, "scan_input_axes", 0, ln_onnx_tensor_of(n, first)->ndim);
    if (!ln_onnx_failed(n) && ln_onnx_tensor_of(n, first)->dims[axis] > LN_ONNX_MAX_UNROLLED) {
        roll_scan(n);
        return;
    }
    for (int k = 0; k < l.n_scan_ins && !ln_onnx_failed(n); k++) {
        const char *src = ln_onnx_in(n, l.n_states + k);
        const int at = scan_axis(n, "scan_input_axes", k, ln_onnx_tensor_of(n, src)->ndim);
        unstack_input(n, &l, k, src, at, "scan_input_directions");
    }
    if (ln_onnx_failed(n))
        return;
    if (unroll(n, &l))
        finish_unrolled(n, &l);
    else if (!ln_onnx_failed(n))
        roll_scan(n);
}

// Scan of operator set 8: axis 0 is the batch, axis 1 of scan inputs the sequence. Each element of
// the batch is scanned separately, and may have a shorter sequence.

typedef struct batch {
    int size;
    const int64_t *lens;     // of the sequences; NULL: all have full length
    const char ***states;    // of each state, an element for each of the batch
    const char ***sequences; // the same of each scan input
    const char ***outs;      // the same of each output
} batch;

// An element with the shape of those of an empty batch.
static const char **sample_of_batch(ln_onnx_node *n, const char *src)
{
    const char **const sample = ln_onnx_new_names(n, 1);
    if (sample)
        sample[0] = sample_like(n, src, 0);
    return sample;
}

static const char ***unstack_batch(ln_onnx_node *n, int first, int n_tensors, int *size)
{
    const char ***parts =
        ln_translation_alloc(&n->model->base, ((size_t)n_tensors + 1) * sizeof(*parts));
    for (int k = 0; k < n_tensors && parts && !ln_onnx_failed(n); k++) {
        int len;
        const char *src = ln_onnx_in(n, first + k);
        if (ln_onnx_tensor_of(n, src)->ndim < 1)
            ln_emit_fail(&n->emit, "input %d is a scalar, expected a batch", first + k);
        else
            want_fixed(n, "the batch of input", first + k, src, 0);
        if (!ln_onnx_failed(n))
            parts[k] = ln_onnx_unstack(n, src, 0, &len);
        if (!ln_onnx_failed(n) && !len)
            parts[k] = sample_of_batch(n, src);
        if (!ln_onnx_failed(n) && *size >= 0 && len != *size)
            ln_emit_fail(&n->emit, "input %d has batch size %d, expected %d as the first",
                         first + k, len, *size);
        else if (!ln_onnx_failed(n))
            *size = len;
    }
    return parts;
}

// Pads the scan outputs of a shorter sequence with zeros to `len` elements.
static void pad_elements(ln_onnx_node *n, loop *l, int64_t len)
{
    infer_elements(n, l);
    const int64_t n_done = l->n_done;
    for (l->n_done = n_done; l->n_done < len && !ln_onnx_failed(n); l->n_done++) {
        reserve(n, l);
        for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++) {
            const tl_tensor *part = ln_onnx_tensor_of(n, l->elements[k][0]);
            l->elements[k][l->n_done] =
                ln_emit_filled(&n->emit, part->dtype, part->ndim, part->dims, 0);
        }
    }
}

// Scans element `i` of the batch.
static void scan_element(ln_onnx_node *n, loop *l, const batch *b, int i)
{
    for (int k = 0; k < l->n_states; k++)
        l->ins[k] = b->states[k][i];
    for (int k = 0; k < l->n_scan_ins && !ln_onnx_failed(n); k++)
        unstack_input(n, l, k, b->sequences[k][i], 0, "directions");
    const int64_t whole = l->trips;
    l->n_done = 0;
    if (b->lens && (b->lens[i] < 0 || b->lens[i] > whole))
        ln_emit_fail(&n->emit, "the length of sequence %d is %lld, expected 0 to %lld", i,
                     (long long)b->lens[i], (long long)whole);
    l->trips = b->lens ? b->lens[i] : whole;
    if (!ln_onnx_failed(n) && !unroll(n, l))
        ln_emit_fail(&n->emit, "its unrolled loop exceeds %d operators", (int)LN_ONNX_MAX_UNROLLED);
    pad_elements(n, l, whole);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        b->outs[k][i] = l->ins[k];
    for (int k = 0; k < l->n_scan_outs && !ln_onnx_failed(n); k++)
        b->outs[l->n_states + k][i] = stack_elements(n, l, k, 0);
}

static void translate_scan_8(ln_onnx_node *n)
{
    loop l;
    int len;
    batch b = {.size = -1};
    if (begin_scan(n, &l, 1))
        return;
    const int n_outs = l.n_states + l.n_scan_outs;
    b.states = unstack_batch(n, 1, l.n_states, &b.size);
    b.sequences = unstack_batch(n, 1 + l.n_states, l.n_scan_ins, &b.size);
    if (ln_onnx_failed(n))
        return;
    b.lens = ln_onnx_ints_in(n, 0, &len);
    if (b.lens && len != b.size)
        ln_emit_fail(&n->emit, "input 0, 'sequence_lens', has %d elements, expected %d", len,
                     b.size);
    const int n_scanned = b.size ? b.size : 1; // if empty, the sample, with full length
    b.lens = b.size ? b.lens : NULL;
    b.outs = ln_translation_alloc(&n->model->base, ((size_t)n_outs + 1) * sizeof(*b.outs));
    for (int k = 0; k < n_outs && b.outs; k++)
        b.outs[k] = ln_onnx_new_names(n, (size_t)n_scanned);
    for (int i = 0; i < n_scanned && !ln_onnx_failed(n); i++)
        scan_element(n, &l, &b, i);
    for (int k = 0; k < n_outs && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, ln_onnx_stack(n, b.outs[k], b.size, b.outs[k][0], 0));
}

const ln_onnx_row ln_onnx_rows_control[] = {
    {"Loop", 1, translate_loop},
    {"Scan", 8, translate_scan_8},
    {"Scan", 9, translate_scan},
    {NULL},
};
