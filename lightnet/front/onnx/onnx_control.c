// SPDX-License-Identifier: Apache-2.0
// ONNX operators that repeat a graph: Loop, Scan. If is in onnx_branch.c.
//
// If the number of iterations is known at compile time, the loop is unrolled. The number of an
// iteration is then a constant, so values that depend on it are also known.
//
// Otherwise the graph becomes the body of the operator `loop`, if its sizes allow it. Finally,
// values of inputs that were given before compiling are used.

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
// Inputs of a body are (number, condition | states | rows), the first two only for Loop. Its
// outputs are (condition | states | parts): the condition to continue, the states of the next
// iteration, and the parts that are stacked. States of a Loop may be sequences or optional values,
// everything else is tensors.

typedef struct loop {
    const LnOnnx__Graph *body;
    int is_scan;
    int n_states, n_rows, n_stacked;
    int64_t trips;         // max iterations; -1: unknown at compile time
    int given;             // whether to use values that were given before compiling
    const char *cond;      // NULL: true
    int keeps_cond;        // the body returns its input condition
    const char **ins;      // of the body
    const char **outs;     // of the body
    const char ***rows;    // the parts of each scanned input
    const char **sample;   // of each scanned input without parts, a tensor like these; or NULL
    const char ***stacked; // the parts of each scanned output, `capacity` each
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
    const size_t n_ins = (size_t)l->n_states + (size_t)l->n_rows + (l->is_scan ? 0 : 2);
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
    l->n_stacked = (int)l->body->n_output - l->n_states - (l->is_scan ? 0 : 1);
    l->ins = ln_onnx_new_names(n, l->body->n_input);
    l->outs = ln_onnx_new_names(n, l->body->n_output);
    l->rows = ln_translation_alloc(&n->model->base, ((size_t)l->n_rows + 1) * sizeof(*l->rows));
    l->sample = ln_onnx_new_names(n, (size_t)l->n_rows);
    l->stacked =
        ln_translation_alloc(&n->model->base, ((size_t)l->n_stacked + 1) * sizeof(*l->stacked));
    return ln_onnx_failed(n) ? -1 : 0;
}

static void reserve(ln_onnx_node *n, loop *l)
{
    if (l->n_done < l->capacity)
        return;
    const int64_t capacity = l->capacity ? 2 * l->capacity : 16;
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        const char **longer = ln_onnx_new_names(n, (size_t)capacity);
        if (longer && l->capacity)
            memcpy(longer, l->stacked[k], (size_t)l->capacity * sizeof(*longer));
        l->stacked[k] = longer;
    }
    l->capacity = capacity;
}

// A constant of one element: a scalar or of shape [1], like input `i` of the body.
static const char *single(ln_onnx_node *n, const loop *l, int i, tl_dtype dtype, double value)
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
    for (int k = l->is_scan ? 0 : l->n_states; k < l->n_states + l->n_stacked; k++)
        if (!ln_onnx_failed(n))
            ln_onnx_want_tensor(n, "an output of its graph", states[k]);
}

// Emits one iteration, and sets the states for the next one.
static void iterate(ln_onnx_node *n, loop *l)
{
    const int n_ins = (int)l->body->n_input, n_outs = (int)l->body->n_output;
    if (!l->is_scan) {
        l->ins[0] = single(n, l, 0, TL_INT64, (double)l->n_done);
        l->ins[1] = single(n, l, 1, TL_BOOL, 1);
    }
    for (int k = 0; k < l->n_rows; k++)
        states_in(l)[l->n_states + k] = l->sample[k] ? l->sample[k] : l->rows[k][l->n_done];
    ln_onnx_inline(n, l->body, n_ins, l->ins, n_outs, l->outs);
    check_outs(n, l);
    reserve(n, l);
    if (ln_onnx_failed(n))
        return;
    for (int k = 0; k < l->n_states; k++)
        states_in(l)[k] = states_out(l)[k];
    for (int k = 0; k < l->n_stacked; k++)
        l->stacked[k][l->n_done] = states_out(l)[l->n_states + k];
    if (!l->is_scan)
        l->cond = l->outs[0];
    l->n_done++;
}

static const tl_tensor *known(ln_onnx_node *n, const char *tensor, int given)
{
    return given ? ln_onnx_bound_value(n, tensor) : ln_onnx_value(n, tensor);
}

// 1: true, 0: false, -1: unknown at compile time.
static int truth(ln_onnx_node *n, const loop *l)
{
    const tl_tensor *value = l->cond ? known(n, l->cond, l->given) : NULL;
    if (l->cond)
        ln_onnx_check_single(n, "the condition", l->cond);
    return !l->cond ? 1 : value && !ln_onnx_failed(n) ? ln_onnx_is_true(value) : -1;
}

static int num_ops(const ln_onnx_node *n)
{
    return ln_hash_size(n->model->base.ctx->op_table);
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
static int give_up(ln_onnx_node *n)
{
    if (ln_hash_insert(n->model->rolled, n->proto, NULL) < 0)
        ln_emit_fail_memory(&n->emit);
    return 0;
}

// Emits the iterations. 0: too many, or their number is known only at run time.
static int unroll(ln_onnx_node *n, loop *l)
{
    const int before = num_ops(n);
    const char *cond_before = "";
    if (l->trips < 0 || ln_hash_find_extended(n->model->rolled, n->proto, NULL, NULL))
        return 0;
    while (l->n_done < l->trips && !ln_onnx_failed(n)) {
        const int next = truth(n, l);
        if (next <= 0)
            return next == 0;
        if (is_too_long(l, cond_before, num_ops(n) - before))
            return give_up(n);
        cond_before = l->cond ? l->cond : "";
        iterate(n, l);
    }
    return !ln_onnx_failed(n);
}

// The type and shape that the graph declares for output `k` of its stacked ones; sizes that are
// left open are 0. Returns new (tl_tensor_free); NULL: they are not declared, or no memory.
static tl_tensor *declared_part(const loop *l, int k)
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

// A tensor without meaning, of this type and shape.
static const char *filler(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    if (dtype == TL_STRING)
        return ln_emit_expand(&n->emit, ln_emit_text(&n->emit, ""), ndim, dims, LN_EMIT_TEMP);
    return ln_emit_filled(&n->emit, dtype, ndim, dims, 0);
}

// Stacked parts as the graph declares them, of a body that does not fit because of `why`.
static void declare_parts(ln_onnx_node *n, loop *l, const char *why)
{
    l->capacity = 0; // what was reserved during the failure is not there
    reserve(n, l);
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        tl_tensor *const like = declared_part(l, k);
        if (like)
            l->stacked[k][0] = filler(n, like->dtype, like->ndim, like->dims);
        else
            ln_emit_fail(&n->emit, "%s", why);
        tl_tensor_free(like);
    }
}

// Infers the shapes of stacked parts of a loop without iterations, by an unused iteration, or where
// the body does not fit, from its declared outputs.
static void learn_parts(ln_onnx_node *n, loop *l)
{
    if (l->n_done || !l->n_stacked || ln_onnx_failed(n))
        return;
    ln_onnx_body body;
    const loop before = *l;
    const size_t n_ins = l->body->n_input;
    const char **ins = ln_onnx_new_names(n, n_ins);
    if (ins)
        memcpy(ins, l->ins, n_ins * sizeof(*ins));
    ln_onnx_body_begin(n, &body, 0);
    iterate(n, l);
    if (ln_onnx_can_wait(n, 0, NULL))
        declare_parts(n, l, ln_onnx_body_drop(n, &body));
    if (ln_onnx_failed(n))
        return;
    memcpy(l->ins, ins, n_ins * sizeof(*ins));
    l->cond = before.cond;
    l->n_done = 0;
}

static const char *stacked(ln_onnx_node *n, const loop *l, int k, int axis)
{
    return ln_onnx_stack(n, l->stacked[k], (int)l->n_done, l->stacked[k][0], axis);
}

// Loops at run time

// Element `i` of an attribute; 0 beyond its end.
static int64_t int_at(ln_onnx_node *n, const char *attr, int i)
{
    int len;
    const int64_t *ints = ln_attr_ints(&n->emit, attr, &len);
    return i < len ? ints[i] : 0;
}

// A loop as an operator with a body.
typedef struct rolled {
    ln_onnx_body body;
    const char **outs; // used outputs of the body
    int n_tensors;     // of the states
    int is_uneven;     // the states after an iteration have other tensors
    int conditional;   // the first of them is the condition
    int n_parts;       // how many of them are stacked
    const char *trips; // tensor; NULL: known or unbounded
    const char *cond;  // tensor; NULL: true
    int64_t max;       // -1: unbounded
} rolled;

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

static const char *row_input(ln_onnx_node *n, ln_onnx_body *body, const char *rows)
{
    const tl_tensor *like = ln_onnx_tensor_of(n, rows);
    return ln_onnx_body_input(n, body, like->dtype, like->ndim - 1, like->dims + 1);
}

// Adds the inputs of the body, and reshapes scalars to [1] where ONNX requires it.
static void give_inputs(ln_onnx_node *n, loop *l, ln_onnx_body *body)
{
    static const int one[] = {1};
    const char *number = ln_onnx_body_input(n, body, TL_INT64, 0, NULL);
    const LnOnnx__Type *type = l->is_scan ? NULL : l->body->input[0]->type;
    const LnOnnx__Shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    const char **states = states_in(l);
    for (int k = 0; k < l->n_states + l->n_rows && !ln_onnx_failed(n); k++)
        states[k] = (k < l->n_states ? state_input : row_input)(n, body, states[k]);
    if (l->is_scan || ln_onnx_failed(n))
        return;
    l->ins[0] = shape && shape->n_dim == 1 ? ln_emit_reshape(&n->emit, number, 1, one, LN_EMIT_TEMP)
                                           : number;
    l->ins[1] = single(n, l, 1, TL_BOOL, 1);
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
    return ln_onnx_tensor_of(n, cond)->ndim ? ln_emit_reshape(&n->emit, cond, 0, NULL, LN_EMIT_TEMP)
                                            : cond;
}

static int wants_part(const ln_onnx_node *n, const loop *l, int k)
{
    return ln_onnx_wants(n, l->n_states + k);
}

static int is_uneven(const ln_onnx_node *n, const loop *l)
{
    for (int k = 0; k < l->n_states; k++)
        if (!ln_onnx_is_alike(n->model, states_in(l)[k], states_out(l)[k]))
            return 1;
    return 0;
}

// Translates the body once. The loop's states are then those inside the body.
static void try_rolled(ln_onnx_node *n, loop *l, rolled *r)
{
    ln_onnx_body_begin(n, &r->body, 1 + r->n_tensors + l->n_rows);
    give_inputs(n, l, &r->body);
    ln_onnx_inline(n, l->body, (int)l->body->n_input, l->ins, (int)l->body->n_output, l->outs);
    check_outs(n, l);
    const char *cond = ln_onnx_failed(n) ? NULL : next_condition(n, l);
    int n_outs = 0, n_tensors;
    const char **states = ln_onnx_flatten(n, l->n_states, states_out(l), &n_tensors);
    r->outs = ln_onnx_new_names(n, (size_t)n_tensors + (size_t)l->n_stacked + 1);
    r->is_uneven = !ln_onnx_failed(n) && is_uneven(n, l);
    if (ln_onnx_failed(n) || r->is_uneven)
        return;
    if (cond)
        r->outs[n_outs++] = cond;
    for (int k = 0; k < n_tensors; k++)
        r->outs[n_outs++] = states[k];
    for (int k = 0; k < l->n_stacked; k++)
        if (wants_part(n, l, k))
            r->outs[n_outs++] = states_out(l)[l->n_states + k];
    r->conditional = cond != NULL;
    r->n_parts = n_outs - r->conditional - n_tensors;
    ln_onnx_body_end(n, &r->body, n_outs, r->outs);
}

// Makes the body one that fails when it runs, because of `why`. What is not declared cannot be.
static void stand_in(ln_onnx_node *n, loop *l, rolled *r, const char *const *states,
                     const char *why)
{
    static const tl_tensor flag = {.dtype = TL_BOOL, .len = 1};
    int n_outs = 0;
    r->conditional = r->cond != NULL;
    r->n_parts = 0;
    r->outs = ln_onnx_new_names(n, (size_t)r->n_tensors + (size_t)l->n_stacked + 1);
    ln_onnx_body_begin(n, &r->body, 1 + r->n_tensors + l->n_rows);
    give_inputs(n, l, &r->body);
    if (ln_onnx_failed(n))
        return;
    if (r->conditional)
        r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, &flag);
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, ln_onnx_tensor_of(n, states[k]));
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        tl_tensor *const like = wants_part(n, l, k) ? declared_part(l, k) : NULL;
        if (like)
            r->outs[n_outs++] = ln_onnx_fail_at_run(n, why, like);
        else if (wants_part(n, l, k))
            ln_emit_fail(&n->emit, "its body: %s", why);
        r->n_parts += like != NULL;
        tl_tensor_free(like);
    }
    if (ln_onnx_failed(n))
        return;
    ln_emit_warn(&n->emit, "its body does not fit; a run with an iteration fails: %s", why);
    ln_onnx_body_end(n, &r->body, n_outs, r->outs);
}

static const char open_size[] = "the number of iterations decides the size of an output";

// The reason why the loop cannot run as an operator; NULL: it can.
static const char *obstacle(ln_onnx_node *n, const rolled *r)
{
    if (r->is_uneven)
        return "a sequence or an optional value changes its length from one iteration to the next";
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        if (!ln_onnx_same_shapes(n, r->body.inputs[1 + k], r->body.outputs[r->conditional + k]))
            return "a state changes its type or shape from one iteration to the next";
    for (int k = 0; k < r->body.n_outputs && !ln_onnx_failed(n); k++)
        if (ln_onnx_is_dynamic(n, r->body.outputs[k]))
            return "a state or an output has a size that each iteration decides";
    return NULL;
}

// 1 for each of the first `len` that an attribute marks as backward, if it is `wanted`.
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

// The operator stacks parts along axis 0.
static void emit_parts(ln_onnx_node *n, const loop *l, const char *const *made)
{
    int i = 0;
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        if (!wants_part(n, l, k))
            continue;
        const char *part = made[i++];
        const int axis = l->is_scan ? ln_attr_to_axis(&n->emit, int_at(n, "scan_output_axes", k),
                                                      ln_onnx_tensor_of(n, part)->ndim)
                                    : 0;
        ln_onnx_body_hide(n, part);
        ln_onnx_alias(n, l->n_states + k,
                      axis ? ln_onnx_move_axis(n, part, 0, axis, LN_EMIT_TEMP) : part);
    }
}

// The states after the loop are like those of the body.
static void alias_states(ln_onnx_node *n, const loop *l, const char *const *tensors)
{
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, ln_onnx_rebuild(n, states_in(l)[k], &tensors));
}

// `states`: the tensors of the states, then the rows.
static void emit_loop(ln_onnx_node *n, const loop *l, rolled *r, const char *const *states)
{
    const ln_onnx_body *b = &r->body;
    const int is_plain = !ln_onnx_has_compound(n->model, l->n_states, states_in(l));
    const char *name = ln_onnx_body_make(n, &r->body, b->n_captures, b->captures);
    const char **last = ln_onnx_new_names(n, (size_t)r->n_tensors),
               **parts = ln_onnx_new_names(n, (size_t)r->n_parts);
    ln_emit_begin(&n->emit,
                  r->n_parts && (r->conditional || r->cond) ? LN_OP_LOOP_DYNAMIC : LN_OP_LOOP);
    ln_emit_arg(&n->emit, "trips", r->trips);
    ln_emit_arg(&n->emit, "cond", r->cond);
    for (int k = 0; k < r->n_tensors + l->n_rows; k++)
        ln_emit_arg_at(&n->emit, k < r->n_tensors ? "state" : "row",
                       k < r->n_tensors ? k : k - r->n_tensors, states[k]);
    for (int k = 0; k < b->n_captures; k++)
        ln_emit_arg_at(&n->emit, "src", k, b->captures[k]);
    ln_emit_set(&n->emit, LN_TEXT("body", name));
    ln_emit_set(&n->emit, LN_BOOL("conditional", r->conditional));
    ln_emit_set(&n->emit, LN_INT("most", r->max));
    if (l->is_scan) {
        set_flags(n, "backward_rows", "scan_input_directions", l->n_rows, NULL, l);
        set_flags(n, "backward_parts", "scan_output_directions", l->n_stacked, wants_part, l);
    }
    if (ln_onnx_failed(n))
        return;
    ln_onnx_emit_outs(n, "last", r->n_tensors, is_plain ? 0 : -1, !r->n_parts, last);
    ln_onnx_emit_outs(n, "part", r->n_parts, -1, 1, parts);
    for (int k = 0; k < r->n_tensors && !ln_onnx_failed(n); k++)
        ln_onnx_body_hide(n, last[k]);
    if (!is_plain)
        alias_states(n, l, last);
    emit_parts(n, l, parts);
}

// Loop

static void finish_loop(ln_onnx_node *n, loop *l)
{
    learn_parts(n, l);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, states_in(l)[k]);
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++)
        if (wants_part(n, l, k))
            ln_onnx_alias(n, l->n_states + k, stacked(n, l, k, 0));
}

// The max number of iterations that the first input allows; -1: unknown.
static int64_t known_trips(ln_onnx_node *n, int given)
{
    const char *tensor = ln_onnx_optional(n, 0);
    int64_t trips = INT64_MAX;
    if (!tensor)
        return trips;
    ln_onnx_check_single(n, "the number of iterations", tensor);
    const tl_tensor *value = known(n, tensor, given);
    if (!value || ln_onnx_failed(n))
        return -1;
    tl_convert(&trips, TL_INT64, value->data, value->dtype);
    return trips < 0 ? 0 : trips;
}

static int enter_loop(ln_onnx_node *n, loop *l, int given)
{
    const int n_ins = (int)n->proto->n_input;
    *l = (loop){.body = ln_onnx_required_graph(n, "body"),
                .n_states = n_ins > 2 ? n_ins - 2 : 0,
                .trips = known_trips(n, given),
                .cond = ln_onnx_optional(n, 1),
                .given = given};
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
    rolled r = {0};
    if (enter_loop(n, &l, 0))
        return NULL;
    const char **states = ln_onnx_flatten(n, l.n_states, states_in(&l), &r.n_tensors);
    if (!states)
        return NULL;
    const int next = truth(n, &l);
    const int is_counted = l.trips >= 0 && l.trips <= INT_MAX;
    r.max = is_counted ? l.trips : -1;
    r.trips = is_counted ? NULL : ln_onnx_optional(n, 0);
    r.cond = next > 0 ? NULL : l.cond;
    int n_wanted = 0;
    for (int k = 0; k < l.n_stacked; k++)
        n_wanted += wants_part(n, &l, k);
    if (n_wanted && !is_counted)
        return open_size;
    const char *const deciders[] = {r.trips, r.cond};
    if (ln_onnx_failed(n))
        return NULL;
    try_rolled(n, &l, &r);
    if ((r.trips || r.cond) && ln_onnx_can_wait(n, 2, deciders)) {
        const char *const why = ln_onnx_body_drop(n, &r.body);
        if (!enter_loop(n, &l, 0))
            stand_in(n, &l, &r, states, why);
    }
    const char *reason = ln_onnx_failed(n) ? NULL : obstacle(n, &r);
    if (!reason && !ln_onnx_failed(n) && r.n_tensors + r.n_parts)
        emit_loop(n, &l, &r, states);
    else if (!reason && !ln_onnx_failed(n))
        alias_states(n, &l, states);
    return reason;
}

// Whether the value of the input is known, also if it was bound before compiling.
static int is_given(const ln_onnx_node *n, int i)
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
        finish_loop(n, &l);
        return;
    }
    const char *reason = ln_onnx_failed(n) ? NULL : roll_loop(n);
    if (ln_onnx_failed(n) && is_given(n, 0) && is_given(n, 1)) {
        reason = "its body cannot be an operator";
        ln_onnx_try_again(n);
    }
    if (!reason || enter_loop(n, &l, 1))
        return;
    if (unroll(n, &l)) {
        finish_loop(n, &l);
        return;
    }
    ln_bind_want_values(n->model->base.ctx);
    ln_emit_fail(&n->emit,
                 "%s, and it is known only at run time, or too large to unroll; give "
                 "the inputs that it depends on before the model is compiled",
                 reason);
}

// Scan

static void reverse(const char **names, int64_t len)
{
    for (int64_t i = 0; i < len / 2; i++) {
        const char *name = names[i];
        names[i] = names[len - 1 - i];
        names[len - 1 - i] = name;
    }
}

// Each part is a separate operand, so the number of parts must not be open.
static void want_fixed(ln_onnx_node *n, const char *what, int k, const char *src, int axis)
{
    const ln_dim size = ln_onnx_axis_size(n, src, axis);
    if (ln_onnx_is_dynamic(n, src) && !ln_dim_is_constant(&size))
        ln_emit_fail(&n->emit, "%s %d is known only at run time, expected a fixed one", what, k);
}

// A part of a scanned input that has none.
static const char *part_like(ln_onnx_node *n, const char *src, int axis)
{
    const tl_tensor *const whole = ln_onnx_tensor_of(n, src);
    int dims[LN_MAXDIM], ndim = 0;
    for (int i = 0; i < whole->ndim; i++)
        if (i != axis)
            dims[ndim++] = whole->dims[i];
    return filler(n, whole->dtype, ndim, dims);
}

// The parts of scanned input `k` in the order of the iterations.
static void enter_rows(ln_onnx_node *n, loop *l, int k, const char *src, int axis,
                       const char *directions)
{
    int len;
    want_fixed(n, "the length of scanned input", k, src, axis);
    l->rows[k] = ln_onnx_unstack(n, src, axis, &len);
    if (ln_onnx_failed(n))
        return;
    if (k && len != l->trips)
        ln_emit_fail(&n->emit, "scanned input %d has %d parts, expected %d as the first", k, len,
                     (int)l->trips);
    l->trips = len;
    if (!len)
        l->sample[k] = part_like(n, src, axis);
    if (ln_attr_to_bool(&n->emit, directions, int_at(n, directions, k)))
        reverse(l->rows[k], len);
}

// The axis of `tensor`, which may be counted from the end since operator set 11.
static int scan_axis(ln_onnx_node *n, const char *attr, int k, const char *tensor)
{
    const int ndim = ln_onnx_tensor_of(n, tensor)->ndim;
    return ln_attr_to_axis(&n->emit, int_at(n, attr, k), ndim);
}

static void finish_scan(ln_onnx_node *n, loop *l)
{
    learn_parts(n, l);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, states_in(l)[k]);
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        const int ndim = ln_onnx_tensor_of(n, l->stacked[k][0])->ndim + 1;
        const int axis = ln_attr_to_axis(&n->emit, int_at(n, "scan_output_axes", k), ndim);
        if (int_at(n, "scan_output_directions", k))
            reverse(l->stacked[k], l->n_done);
        if (ln_onnx_wants(n, l->n_states + k))
            ln_onnx_alias(n, l->n_states + k, stacked(n, l, k, axis));
    }
}

// Reads the inputs of Scan in all operator sets; the states begin after `first` inputs.
static int begin_scan(ln_onnx_node *n, loop *l, int first)
{
    const int n_ins = (int)n->proto->n_input - first;
    const int n_rows = ln_attr_int_in(&n->emit, "num_scan_inputs", 0, 1, n_ins);
    if (ln_onnx_failed(n))
        return -1;
    *l = (loop){.body = ln_onnx_required_graph(n, "body"),
                .is_scan = 1,
                .n_rows = n_rows,
                .n_states = n_ins - (int)n_rows};
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

// Emits the operator `loop`, of scanned inputs whose parts are along axis 0.
static void roll_scan(ln_onnx_node *n)
{
    loop l;
    rolled r = {.max = -1};
    if (enter_scan(n, &l))
        return;
    for (int k = 0; k < l.n_rows && !ln_onnx_failed(n); k++) {
        const char *src = ln_onnx_in(n, l.n_states + k);
        const int axis = scan_axis(n, "scan_input_axes", k, src);
        l.ins[l.n_states + k] = axis ? ln_onnx_move_axis(n, src, axis, 0, LN_EMIT_TEMP) : src;
    }
    const char **states = ln_onnx_new_names(n, l.body->n_input);
    if (!states)
        return;
    memcpy(states, l.ins, l.body->n_input * sizeof(*states));
    r.n_tensors = l.n_states;
    try_rolled(n, &l, &r);
    const char *reason = ln_onnx_failed(n) ? NULL : obstacle(n, &r);
    if (reason)
        ln_emit_fail(&n->emit, "%s, and there are too many to be written out", reason);
    else if (!ln_onnx_failed(n))
        emit_loop(n, &l, &r, states);
}

static void translate_scan(ln_onnx_node *n)
{
    loop l;
    if (enter_scan(n, &l))
        return;
    const char *const first = ln_onnx_in(n, l.n_states);
    const int axis = scan_axis(n, "scan_input_axes", 0, first);
    if (!ln_onnx_failed(n) && ln_onnx_tensor_of(n, first)->dims[axis] > LN_ONNX_MAX_UNROLLED) {
        roll_scan(n);
        return;
    }
    for (int k = 0; k < l.n_rows && !ln_onnx_failed(n); k++) {
        const char *src = ln_onnx_in(n, l.n_states + k);
        enter_rows(n, &l, k, src, scan_axis(n, "scan_input_axes", k, src), "scan_input_directions");
    }
    if (ln_onnx_failed(n))
        return;
    if (unroll(n, &l))
        finish_scan(n, &l);
    else if (!ln_onnx_failed(n))
        roll_scan(n);
}

// Scan of operator set 8: dimension 0 of everything is the batch, whose elements are scanned each
// for itself, the inputs along the next one; some may be shorter than the others.

typedef struct batch {
    int size;
    const int64_t *lens;     // of the sequences; NULL: they are whole
    const char ***states;    // the batch's elements of each state
    const char ***sequences; // and of each scanned input
    const char ***outs;      // and of each output
} batch;

// The element that shows the shapes of a batch without elements.
static const char **sample_of_batch(ln_onnx_node *n, const char *src)
{
    const char **const sample = ln_onnx_new_names(n, 1);
    if (sample)
        sample[0] = part_like(n, src, 0);
    return sample;
}

static const char ***enter_batch(ln_onnx_node *n, int first, int n_tensors, int *size)
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
            ln_emit_fail(&n->emit, "input %d is a batch of %d, expected %d as the first", first + k,
                         len, *size);
        else if (!ln_onnx_failed(n))
            *size = len;
    }
    return parts;
}

// The rest of a shorter sequence is zero.
static void pad_parts(ln_onnx_node *n, loop *l, int64_t len)
{
    learn_parts(n, l);
    const int64_t n_done = l->n_done;
    for (l->n_done = n_done; l->n_done < len && !ln_onnx_failed(n); l->n_done++) {
        reserve(n, l);
        for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
            const tl_tensor *part = ln_onnx_tensor_of(n, l->stacked[k][0]);
            l->stacked[k][l->n_done] =
                ln_emit_filled(&n->emit, part->dtype, part->ndim, part->dims, 0);
        }
    }
}

// Scans element `i` of the batch.
static void scan_element(ln_onnx_node *n, loop *l, const batch *b, int i)
{
    for (int k = 0; k < l->n_states; k++)
        l->ins[k] = b->states[k][i];
    for (int k = 0; k < l->n_rows && !ln_onnx_failed(n); k++)
        enter_rows(n, l, k, b->sequences[k][i], 0, "directions");
    const int64_t whole = l->trips;
    l->n_done = 0;
    if (b->lens && (b->lens[i] < 0 || b->lens[i] > whole))
        ln_emit_fail(&n->emit, "the length of sequence %d is %lld, expected 0 to %lld", i,
                     (long long)b->lens[i], (long long)whole);
    l->trips = b->lens ? b->lens[i] : whole;
    if (!ln_onnx_failed(n) && !unroll(n, l))
        ln_emit_fail(&n->emit, "more than %d operators", (int)LN_ONNX_MAX_UNROLLED);
    pad_parts(n, l, whole);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        b->outs[k][i] = l->ins[k];
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++)
        b->outs[l->n_states + k][i] = stacked(n, l, k, 0);
}

static void translate_scan_8(ln_onnx_node *n)
{
    loop l;
    int len;
    batch b = {.size = -1};
    if (begin_scan(n, &l, 1))
        return;
    const int n_outs = l.n_states + l.n_stacked;
    b.states = enter_batch(n, 1, l.n_states, &b.size);
    b.sequences = enter_batch(n, 1 + l.n_states, l.n_rows, &b.size);
    if (ln_onnx_failed(n))
        return;
    b.lens = ln_onnx_ints_in(n, 0, &len);
    if (b.lens && len != b.size)
        ln_emit_fail(&n->emit, "input 0 has %d lengths of sequences, expected %d", len, b.size);
    const int n_scanned = b.size ? b.size : 1; // without elements, the sample, of whole sequences
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
