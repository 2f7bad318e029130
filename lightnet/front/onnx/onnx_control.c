// SPDX-License-Identifier: Apache-2.0
// ONNX operators that hold graphs: If, Loop, Scan.
//
// Where the condition or the number of iterations is known when compiling, the branch or the
// iterations stand in the program as if the model had written them out, and cost nothing more. The
// number of an iteration is a constant there, so what depends on it is known as well.

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_rows.h"
#include "tensorlight/tl_type.h"

// The operators that the iterations of one loop may become.
enum { MAX_UNROLLED = 20000 };

// The graph, an attribute that must be there; NULL after a failure.
static const LnOnnx__Graph *required_graph(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Graph *graph = ln_onnx_graph(n, name);
    if (!graph)
        ln_onnx_fail(n, "attribute '%s' is missing", name);
    return graph;
}

// Room for `len` names, until the translation ends.
static const char **new_names(ln_onnx_node *n, size_t len)
{
    return ln_onnx_alloc(n->model, (len + 1) * sizeof(char *));
}

static int is_true(const tl_tensor *value)
{
    double number;
    tl_convert(&number, TL_DOUBLE, value->data, value->dtype);
    return number != 0;
}

// A single element, which decides what runs.
static void check_single(ln_onnx_node *n, const char *what, const char *tensor)
{
    const int len = ln_onnx_tensor_of(n, tensor)->len;
    if (len != 1)
        ln_onnx_fail(n, "%s has %d elements, expected 1", what, len);
}

/* Stacks of tensors */

// The axes of `src` with `from` moved to `to`.
static const char *move_axis(ln_onnx_node *n, const char *src, int from, int to, int i)
{
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    int axes[LN_MAXDIM];
    for (int k = 0, next = 0; k < ndim; k++) {
        next += next == from;
        axes[k] = k == to ? from : next++;
    }
    return ln_onnx_transpose(n, src, axes, i);
}

// The tensors in a row along a new axis; when there are none, as many dimensions as `like` tells.
static const char *stack(ln_onnx_node *n, const char *const *parts, int len, const char *like,
                         int axis)
{
    const tl_tensor *part = ln_onnx_tensor_of(n, like);
    const char *stacked;
    if (part->ndim >= LN_MAXDIM) {
        ln_onnx_fail(n, "tensors with %d dimensions are stacked, expected at most %d", part->ndim,
                     LN_MAXDIM - 1);
        return NULL;
    }
    if (len) {
        ln_onnx_begin(n, "gather");
        for (int k = 0; k < len; k++)
            ln_onnx_arg_at(n, "src", k, parts[k]);
        stacked = ln_onnx_end(n, "dst", LN_ONNX_TEMP);
    } else {
        int dims[LN_MAXDIM] = {0};
        memcpy(dims + 1, part->dims, (size_t)part->ndim * sizeof(int));
        stacked = ln_onnx_constant(n, part->dtype, part->ndim + 1, dims, NULL);
    }
    return axis ? move_axis(n, stacked, 0, axis, LN_ONNX_TEMP) : stacked;
}

// The parts of `src` along an axis, `*len` of them; NULL after a failure.
static const char **unstack(ln_onnx_node *n, const char *src, int axis, int *len)
{
    const tl_tensor *whole = ln_onnx_tensor_of(n, src);
    *len = whole->dims[axis];
    const int is_line = whole->ndim == 1;
    const char **parts = new_names(n, (size_t)*len);
    if (!parts || !*len)
        return parts;
    const char *rows = axis      ? move_axis(n, src, axis, 0, LN_ONNX_TEMP)
                       : is_line ? ln_onnx_reshape(n, src, 2, (int[]){*len, 1}, LN_ONNX_TEMP)
                                 : src;
    ln_onnx_begin(n, "scatter");
    ln_onnx_arg(n, "src", rows);
    for (int k = 0; k < *len; k++) {
        char arg[LN_MAX_NAME_LEN];
        snprintf(arg, sizeof(arg), "dst%d", k);
        parts[k] = (k < *len - 1 ? ln_onnx_out : ln_onnx_end)(n, arg, LN_ONNX_TEMP);
    }
    for (int k = 0; is_line && k < *len; k++)
        parts[k] = ln_onnx_reshape(n, parts[k], 0, NULL, LN_ONNX_TEMP);
    return ln_onnx_failed(n) ? NULL : parts;
}

/* If */

static void inline_branch(ln_onnx_node *n, const char *attr)
{
    const LnOnnx__Graph *graph = required_graph(n, attr);
    const char **outs = graph ? new_names(n, graph->n_output) : NULL;
    if (!outs)
        return;
    if (n->proto->n_output > graph->n_output)
        ln_onnx_fail(n, "'%s' has %zu outputs, expected %zu", attr, graph->n_output,
                     n->proto->n_output);
    ln_onnx_inline(n, graph, 0, NULL, (int)graph->n_output, outs);
    for (size_t i = 0; i < n->proto->n_output && !ln_onnx_failed(n); i++)
        ln_onnx_alias(n, (int)i, outs[i]);
}

static void translate_if(ln_onnx_node *n)
{
    const char *cond = ln_onnx_in(n, 0);
    check_single(n, "the condition", cond);
    const tl_tensor *value = ln_onnx_value(n, cond);
    if (!value)
        value = ln_onnx_bound_value(n, cond);
    if (value)
        inline_branch(n, is_true(value) ? "then_branch" : "else_branch");
    else
        ln_onnx_fail(n, "the condition depends on what is given at run time");
}

/* Loops: what Loop and Scan have in common
 *
 * A body is called as (number, condition | states | rows), the first two of Loop alone, and gives
 * (condition | states | parts): the condition to go on, the states of the next iteration, and the
 * parts that are stacked. */

typedef struct loop {
    const LnOnnx__Graph *body;
    int is_scan;
    int n_states, n_rows, n_stacked;
    int64_t trips;         /* at most so many iterations */
    const char *cond;      /* NULL: true */
    const char **ins;      /* of the body */
    const char **outs;     /* of the body */
    const char ***rows;    /* the parts of each scanned input */
    const char ***stacked; /* the parts of each scanned output, `capacity` each */
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
        ln_onnx_fail(n, "its graph has %zu inputs and %zu outputs, expected %zu, and %zu at least",
                     l->body->n_input, l->body->n_output, n_ins, n_fixed);
    else if (n->proto->n_output > l->body->n_output - (l->is_scan ? 0 : 1))
        ln_onnx_fail(n, "%zu outputs, expected at most the %zu of its graph", n->proto->n_output,
                     l->body->n_output - (l->is_scan ? 0 : 1));
}

// Room for what goes in and out of the body; the numbers are set. -1 after a failure.
static int prepare_loop(ln_onnx_node *n, loop *l)
{
    if (ln_onnx_failed(n))
        return -1;
    check_body(n, l);
    if (ln_onnx_failed(n))
        return -1;
    l->n_stacked = (int)l->body->n_output - l->n_states - (l->is_scan ? 0 : 1);
    l->ins = new_names(n, l->body->n_input);
    l->outs = new_names(n, l->body->n_output);
    l->rows = ln_onnx_alloc(n->model, ((size_t)l->n_rows + 1) * sizeof(*l->rows));
    l->stacked = ln_onnx_alloc(n->model, ((size_t)l->n_stacked + 1) * sizeof(*l->stacked));
    return ln_onnx_failed(n) ? -1 : 0;
}

static void reserve(ln_onnx_node *n, loop *l)
{
    if (l->n_done < l->capacity)
        return;
    const int64_t capacity = l->capacity ? 2 * l->capacity : 16;
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        const char **longer = new_names(n, (size_t)capacity);
        if (longer && l->capacity)
            memcpy(longer, l->stacked[k], (size_t)l->capacity * sizeof(*longer));
        l->stacked[k] = longer;
    }
    l->capacity = capacity;
}

// A body may want a scalar or a line of one element: as its input says.
static const char *single(ln_onnx_node *n, const loop *l, int i, tl_dtype dtype, double value)
{
    static const int one[] = {1};
    char data[TL_DTYPE_MAX_SIZE];
    const LnOnnx__Type *type = l->body->input[i]->type;
    const LnOnnx__Shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    tl_convert(data, dtype, &value, TL_DOUBLE);
    return ln_onnx_constant(n, dtype, shape && shape->n_dim == 1, one, data);
}

// One iteration: afterwards the states are those of the next.
static void iterate(ln_onnx_node *n, loop *l)
{
    const int n_ins = (int)l->body->n_input, n_outs = (int)l->body->n_output;
    if (!l->is_scan) {
        l->ins[0] = single(n, l, 0, TL_INT64, (double)l->n_done);
        l->ins[1] = single(n, l, 1, TL_BOOL, 1);
    }
    for (int k = 0; k < l->n_rows; k++)
        states_in(l)[l->n_states + k] = l->rows[k][l->n_done];
    ln_onnx_inline(n, l->body, n_ins, l->ins, n_outs, l->outs);
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

// 1: true, 0: false, -1: not known when compiling.
static int truth(ln_onnx_node *n, const char *cond)
{
    const tl_tensor *value = cond ? ln_onnx_bound_value(n, cond) : NULL;
    if (cond)
        check_single(n, "the condition", cond);
    return !cond ? 1 : value && !ln_onnx_failed(n) ? is_true(value) : -1;
}

static int num_ops(const ln_onnx_node *n)
{
    return ln_hash_size(n->model->ctx->op_table);
}

// Emits the iterations. 0: they are too many, or their number shows at run time only.
static int unroll(ln_onnx_node *n, loop *l)
{
    const int before = num_ops(n);
    while (l->n_done < l->trips && !ln_onnx_failed(n)) {
        const int go_on = truth(n, l->cond);
        if (go_on <= 0)
            return go_on == 0;
        if (num_ops(n) - before > MAX_UNROLLED)
            return 0;
        iterate(n, l);
    }
    return !ln_onnx_failed(n);
}

// The shape of what is stacked, where no iteration shows it: one is emitted, which nothing reads.
static void learn_parts(ln_onnx_node *n, loop *l)
{
    if (l->n_done || !l->n_stacked)
        return;
    const loop before = *l;
    const size_t n_ins = l->body->n_input;
    const char **ins = new_names(n, n_ins);
    if (ins)
        memcpy(ins, l->ins, n_ins * sizeof(*ins));
    iterate(n, l);
    if (ln_onnx_failed(n))
        return;
    memcpy(l->ins, ins, n_ins * sizeof(*ins));
    l->cond = before.cond;
    l->n_done = 0;
}

static const char *stacked(ln_onnx_node *n, const loop *l, int k, int axis)
{
    return stack(n, l->stacked[k], (int)l->n_done, l->stacked[k][0], axis);
}

/* Loop */

// The most iterations that the first input allows; -1: not known when compiling.
static int64_t known_trips(ln_onnx_node *n)
{
    const char *tensor = ln_onnx_optional(n, 0);
    int64_t trips = INT64_MAX;
    if (!tensor)
        return trips;
    check_single(n, "the number of iterations", tensor);
    const tl_tensor *value = ln_onnx_bound_value(n, tensor);
    if (!value || ln_onnx_failed(n))
        return -1;
    tl_convert(&trips, TL_INT64, value->data, value->dtype);
    return trips < 0 ? 0 : trips;
}

static void finish_loop(ln_onnx_node *n, loop *l)
{
    learn_parts(n, l);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, states_in(l)[k]);
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++)
        if (ln_onnx_wants(n, l->n_states + k))
            ln_onnx_alias(n, l->n_states + k, stacked(n, l, k, 0));
}

static void translate_loop(ln_onnx_node *n)
{
    const int n_ins = (int)n->proto->n_input;
    loop l = {.body = required_graph(n, "body"),
              .n_states = n_ins > 2 ? n_ins - 2 : 0,
              .trips = known_trips(n),
              .cond = ln_onnx_optional(n, 1)};
    if (prepare_loop(n, &l))
        return;
    for (int k = 0; k < l.n_states; k++)
        states_in(&l)[k] = ln_onnx_in(n, 2 + k);
    if (l.trips >= 0 && unroll(n, &l))
        finish_loop(n, &l);
    else
        ln_onnx_fail(n, "the number of iterations depends on what is given at run time");
}

/* Scan */

// Number `i` of an attribute that lists numbers; 0 where it does not.
static int64_t int_at(ln_onnx_node *n, const char *attr, int i)
{
    int len;
    const int64_t *ints = ln_onnx_ints(n, attr, &len);
    return i < len ? ints[i] : 0;
}

static void reverse(const char **names, int64_t len)
{
    for (int64_t i = 0; i < len / 2; i++) {
        const char *name = names[i];
        names[i] = names[len - 1 - i];
        names[len - 1 - i] = name;
    }
}

// The parts of scanned input `k` in the order of the iterations.
static void enter_rows(ln_onnx_node *n, loop *l, int k, const char *src, int axis,
                       const char *directions)
{
    int len;
    l->rows[k] = unstack(n, src, axis, &len);
    if (ln_onnx_failed(n))
        return;
    if (k && len != l->trips)
        ln_onnx_fail(n, "scanned input %d has %d parts, expected %d as the first", k, len,
                     (int)l->trips);
    l->trips = len;
    if (int_at(n, directions, k))
        reverse(l->rows[k], len);
}

// The axis of `tensor`, which may be counted from behind since operator set 11.
static int scan_axis(ln_onnx_node *n, const char *attr, int k, const char *tensor)
{
    const int ndim = ln_onnx_tensor_of(n, tensor)->ndim;
    return ln_onnx_axis(n, int_at(n, attr, k), ndim);
}

static void finish_scan(ln_onnx_node *n, loop *l)
{
    learn_parts(n, l);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, states_in(l)[k]);
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
        const int ndim = ln_onnx_tensor_of(n, l->stacked[k][0])->ndim + 1;
        const int axis = ln_onnx_axis(n, int_at(n, "scan_output_axes", k), ndim);
        if (int_at(n, "scan_output_directions", k))
            reverse(l->stacked[k], l->n_done);
        if (ln_onnx_wants(n, l->n_states + k))
            ln_onnx_alias(n, l->n_states + k, stacked(n, l, k, axis));
    }
}

// What Scan of all operator sets says of its inputs, `first` standing before the states.
static int begin_scan(ln_onnx_node *n, loop *l, int first)
{
    const int64_t n_rows = ln_onnx_int(n, "num_scan_inputs", 0);
    const int n_ins = (int)n->proto->n_input - first;
    if (n_rows < 1 || n_rows > n_ins) {
        ln_onnx_fail(n, "attribute 'num_scan_inputs' is %lld, expected 1 to the %d inputs",
                     (long long)n_rows, n_ins);
        return -1;
    }
    *l = (loop){.body = required_graph(n, "body"),
                .is_scan = 1,
                .n_rows = (int)n_rows,
                .n_states = n_ins - (int)n_rows};
    return prepare_loop(n, l);
}

static void translate_scan(ln_onnx_node *n)
{
    loop l;
    if (begin_scan(n, &l, 0))
        return;
    for (int k = 0; k < l.n_states; k++)
        l.ins[k] = ln_onnx_in(n, k);
    for (int k = 0; k < l.n_rows && !ln_onnx_failed(n); k++) {
        const char *src = ln_onnx_in(n, l.n_states + k);
        enter_rows(n, &l, k, src, scan_axis(n, "scan_input_axes", k, src), "scan_input_directions");
    }
    if (ln_onnx_failed(n))
        return;
    if (unroll(n, &l))
        finish_scan(n, &l);
    else
        ln_onnx_fail(n, "more than %d operators", MAX_UNROLLED);
}

/* Scan of operator set 8: dimension 0 of everything is the batch, whose elements are scanned each
 * for itself, the inputs along the next one; some may be shorter than the others. */

typedef struct batch {
    int size;
    const int64_t *lens;     /* of the sequences; NULL: they are whole */
    const char ***states;    /* the batch's elements of each state */
    const char ***sequences; /* and of each scanned input */
    const char ***outs;      /* and of each output */
} batch;

static const char ***enter_batch(ln_onnx_node *n, int first, int n_tensors, int *size)
{
    const char ***parts = ln_onnx_alloc(n->model, ((size_t)n_tensors + 1) * sizeof(*parts));
    for (int k = 0; k < n_tensors && parts && !ln_onnx_failed(n); k++) {
        int len;
        const char *src = ln_onnx_in(n, first + k);
        if (ln_onnx_tensor_of(n, src)->ndim < 1)
            ln_onnx_fail(n, "input %d is a scalar, expected a batch", first + k);
        else
            parts[k] = unstack(n, src, 0, &len);
        if (!ln_onnx_failed(n) && *size >= 0 && len != *size)
            ln_onnx_fail(n, "input %d is a batch of %d, expected %d as the first", first + k, len,
                         *size);
        else if (!ln_onnx_failed(n))
            *size = len;
    }
    return parts;
}

static void enter_lens(ln_onnx_node *n, batch *b)
{
    int len;
    b->lens = ln_onnx_ints_in(n, 0, &len);
    if (b->lens && len != b->size)
        ln_onnx_fail(n, "input 0 has %d lengths of sequences, expected %d", len, b->size);
}

static const char ***new_outs(ln_onnx_node *n, int n_outs, int size)
{
    const char ***outs = ln_onnx_alloc(n->model, ((size_t)n_outs + 1) * sizeof(*outs));
    for (int k = 0; k < n_outs && outs; k++)
        outs[k] = new_names(n, (size_t)size);
    return outs;
}

// Behind the end of a shorter sequence there are zeros.
static void pad_parts(ln_onnx_node *n, loop *l, int64_t len)
{
    learn_parts(n, l);
    const int64_t n_done = l->n_done;
    for (l->n_done = n_done; l->n_done < len && !ln_onnx_failed(n); l->n_done++) {
        reserve(n, l);
        for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++) {
            const tl_tensor *part = ln_onnx_tensor_of(n, l->stacked[k][0]);
            void *zeros = ln_onnx_alloc(n->model, tl_tensor_size(part) + 1);
            l->stacked[k][l->n_done] =
                zeros ? ln_onnx_constant(n, part->dtype, part->ndim, part->dims, zeros) : NULL;
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
        ln_onnx_fail(n, "the length of sequence %d is %lld, expected 0 to %lld", i,
                     (long long)b->lens[i], (long long)whole);
    l->trips = b->lens ? b->lens[i] : whole;
    if (!ln_onnx_failed(n) && !unroll(n, l))
        ln_onnx_fail(n, "more than %d operators", MAX_UNROLLED);
    pad_parts(n, l, whole);
    for (int k = 0; k < l->n_states && !ln_onnx_failed(n); k++)
        b->outs[k][i] = l->ins[k];
    for (int k = 0; k < l->n_stacked && !ln_onnx_failed(n); k++)
        b->outs[l->n_states + k][i] = stacked(n, l, k, 0);
}

static void translate_scan_8(ln_onnx_node *n)
{
    loop l;
    batch b = {.size = -1};
    if (begin_scan(n, &l, 1))
        return;
    b.states = enter_batch(n, 1, l.n_states, &b.size);
    b.sequences = enter_batch(n, 1 + l.n_states, l.n_rows, &b.size);
    if (ln_onnx_failed(n))
        return;
    enter_lens(n, &b);
    b.outs = new_outs(n, l.n_states + l.n_stacked, b.size);
    if (!ln_onnx_failed(n) && !b.size)
        ln_onnx_fail(n, "the batch is empty");
    for (int i = 0; i < b.size && !ln_onnx_failed(n); i++)
        scan_element(n, &l, &b, i);
    for (int k = 0; k < l.n_states + l.n_stacked && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, stack(n, b.outs[k], b.size, b.outs[k][0], 0));
}

const ln_onnx_row ln_onnx_rows_control[] = {
    {"If", 1, translate_if},
    {"Loop", 1, translate_loop},
    {"Scan", 8, translate_scan_8},
    {"Scan", 9, translate_scan},
    {NULL},
};
