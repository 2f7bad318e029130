// SPDX-License-Identifier: Apache-2.0
// Evaluates the bytecode of size expressions, on a stack of dimensions.

#include "lightnet/ln_size.h"
#include "ir/ln_size_eval.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/ln_name.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_util.h"

enum { STACK = 24 };

typedef struct machine {
    const ln_op_arg *op_arg;
    const ln_op_info *info;
    const ln_size_source *source;
    const ln_size_code *code;             // the next instruction
    ln_dim stack[STACK], axes[LN_MAXDIM]; // axes: the result
    int n, n_axes;                        // n: on the stack; n_axes may exceed LN_MAXDIM
    int index, part;                      // operands of the same names in ln_size_op
    int loop, rounds;                     // LN_SIZE_FOR: the current round, and their number
    int is_bad;                           // the expression has no valid result
} machine;

// Operands

static void push(machine *m, ln_dim dim)
{
    if (m->n < STACK)
        m->stack[m->n++] = dim;
    else
        m->is_bad = 1;
}

static ln_dim pop(machine *m)
{
    return m->n > 0 ? m->stack[--m->n] : ln_dim_unknown();
}

// Pops an int. -1: unknown, or out of range.
static int pop_int(machine *m, int *number)
{
    const ln_dim dim = pop(m);
    *number = (int)dim.constant;
    return ln_dim_is_constant(&dim) && dim.constant >= INT_MIN && dim.constant <= INT_MAX ? 0 : -1;
}

static const ln_arg_info *input_info(const machine *m, int arg)
{
    return &m->info->tensors_in[arg];
}

// The tensor of input `arg`, the first of a variadic one. NULL: absent.
static const ln_tensor_entry *input(const machine *m, int arg)
{
    const ln_arg_info *info = input_info(m, arg);
    LN_FOREACH (const ln_tensor_list_entry *, tle, m->op_arg->tensors_in)
        if (info->variadic ? ln_name_number(tle->arg_name, info->arg_name) >= 0
                           : (int)ln_streq(tle->arg_name, info->arg_name))
            return ln_entry_of(tle, m->op_arg->tensor_table);
    return NULL;
}

static const ln_param_entry *param(const machine *m, int arg)
{
    return ln_param_list_find(m->op_arg->params, m->info->params[arg].arg_name);
}

static ln_dim axis_of(const machine *m, const ln_tensor_entry *te, int i)
{
    const int ndim = te ? te->tensor->ndim : 0;
    const int axis = i < 0 ? i + ndim : i;
    if (axis < 0 || axis >= ndim)
        return ln_dim_unknown();
    return m->source->axis ? m->source->axis(m->source->data, te, axis)
                           : ln_dim_constant(te->tensor->dims[axis]);
}

static ln_dim value_of(const machine *m, const ln_tensor_entry *te, int i)
{
    const int len = te ? te->tensor->len : 0;
    const int at = len == 1 ? 0 : i < 0 ? i + len : i;
    return m->source->value && at >= 0 && at < len ? m->source->value(m->source->data, te, at)
                                                   : ln_dim_unknown();
}

// Element i, counted through all variadic inputs.
static ln_dim value_of_all(const machine *m, int arg, int i)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, m->op_arg->tensors_in) {
        if (ln_name_number(tle->arg_name, input_info(m, arg)->arg_name) < 0)
            continue;
        const ln_tensor_entry *te = ln_entry_of(tle, m->op_arg->tensor_table);
        if (te && i < te->tensor->len)
            return value_of(m, te, i);
        i -= te ? te->tensor->len : 0;
    }
    return ln_dim_unknown();
}

// The input that sets a parameter in each run; NULL: none, or lengths are computed as numbers (no
// symbols), from the parameter's current value.
static const ln_tensor_entry *setter_of(const machine *m, int arg)
{
    const char *name = m->info->params[arg].arg_name;
    const ln_arg_info *info = m->source->symbols ? m->info->tensors_in : NULL;
    for (; info; info = ln_arg_info_next(info))
        if (info->is_setter && ln_streq(info->sets, name))
            return ln_op_find_input(m->op_arg, info->arg_name);
    return NULL;
}

static ln_dim item_of(const machine *m, int arg, int i)
{
    const ln_param_entry *pe = param(m, arg);
    const ln_tensor_entry *setter = setter_of(m, arg);
    const int len = pe ? pe->array_len : 0, at = i < 0 ? i + len : i;
    if (at < 0 || at >= len || pe->type != LN_PARAM_ARRAY_NUMBER)
        return ln_dim_unknown();
    return setter ? value_of(m, setter, at) : ln_dim_constant(pe->value_array_int[at]);
}

static ln_dim param_of(const machine *m, int arg)
{
    const ln_param_entry *pe = param(m, arg);
    const ln_tensor_entry *setter = setter_of(m, arg);
    if (setter)
        return value_of(m, setter, 0);
    if (!pe)
        return ln_dim_unknown();
    return ln_dim_constant(pe->type == LN_PARAM_BOOL ? (int)pe->value_bool : pe->value_int);
}

static ln_dim length_of(const machine *m, const ln_tensor_entry *te)
{
    ln_dim product = ln_dim_constant(1);
    for (int i = 0; te && i < te->tensor->ndim; i++) {
        const ln_dim axis = axis_of(m, te, i);
        product = ln_dim_mul(m->source->symbols, &product, &axis);
    }
    return te ? product : ln_dim_unknown();
}

// The number of variadic inputs.
static ln_dim count_of(const machine *m, int arg)
{
    int n = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, m->op_arg->tensors_in)
        n += ln_name_number(tle->arg_name, input_info(m, arg)->arg_name) >= 0;
    return ln_dim_constant(n);
}

// The sum of the variadic inputs' lengths along an axis.
static ln_dim total_of(const machine *m, int arg, int axis)
{
    ln_dim sum = ln_dim_constant(0);
    LN_FOREACH (const ln_tensor_list_entry *, tle, m->op_arg->tensors_in) {
        if (ln_name_number(tle->arg_name, input_info(m, arg)->arg_name) < 0)
            continue;
        const ln_dim next = axis_of(m, ln_entry_of(tle, m->op_arg->tensor_table), axis);
        sum = ln_dim_add(m->source->symbols, &sum, &next);
    }
    return sum;
}

// find_item: the index of x in the array, or -1; count_below: the number of elements below x.
static int find_item(const ln_param_entry *pe, int x)
{
    for (int i = 0; pe && i < pe->array_len; i++)
        if (pe->value_array_int[i] == x)
            return i;
    return -1;
}

static int count_below(const ln_param_entry *pe, int x)
{
    int n = 0;
    for (int i = 0; pe && i < pe->array_len; i++)
        n += pe->value_array_int[i] < x;
    return n;
}

static ln_dim scale(const machine *m, int arg, const ln_dim *x, int i)
{
    const ln_param_entry *pe = param(m, arg);
    if (!ln_dim_is_constant(x) || !pe || i < 0 || i >= pe->array_len)
        return ln_dim_unknown();
    const double scaled = floor(pe->value_array_double[i] * (double)x->constant);
    return scaled >= 0 && scaled <= INT_MAX ? ln_dim_constant((int64_t)scaled) : ln_dim_unknown();
}

static int is_word(const machine *m, int arg, int n)
{
    const ln_param_entry *pe = param(m, arg);
    return pe && pe->type == LN_PARAM_STRING && ln_streq(pe->value_string, m->info->words[n]);
}

// Operands whose index is on the stack.
static ln_dim indexed(machine *m, const ln_size_code *c)
{
    int i;
    if (pop_int(m, &i))
        return ln_dim_unknown();
    switch (c->op) {
    case LN_SIZE_AXIS:
        return axis_of(m, input(m, c->arg), i);
    case LN_SIZE_VALUE:
        return input_info(m, c->arg)->variadic ? value_of_all(m, c->arg, i)
                                               : value_of(m, input(m, c->arg), i);
    case LN_SIZE_TOTAL:
        return total_of(m, c->arg, i);
    case LN_SIZE_ITEM:
        return item_of(m, c->arg, i);
    case LN_SIZE_IN:
        return ln_dim_constant(find_item(param(m, c->arg), i) >= 0);
    case LN_SIZE_AT:
        return ln_dim_constant(find_item(param(m, c->arg), i));
    case LN_SIZE_BELOW:
        return ln_dim_constant(count_below(param(m, c->arg), i));
    default: {
        const ln_dim x = pop(m);
        return scale(m, c->arg, &x, i);
    }
    }
}

static ln_dim operand(const machine *m, const ln_size_code *c)
{
    switch (c->op) {
    case LN_SIZE_NUMBER:
        return ln_dim_constant(c->n);
    case LN_SIZE_LOOP:
        return ln_dim_constant(m->loop);
    case LN_SIZE_INDEX:
        return ln_dim_constant(m->index);
    case LN_SIZE_PART:
        return ln_dim_constant(m->part);
    case LN_SIZE_UNKNOWN:
        return ln_dim_unknown();
    case LN_SIZE_NDIM: {
        const ln_tensor_entry *te = input(m, c->arg);
        return te ? ln_dim_constant(te->tensor->ndim) : ln_dim_unknown();
    }
    case LN_SIZE_LEN:
        return length_of(m, input(m, c->arg));
    case LN_SIZE_COUNT:
        return count_of(m, c->arg);
    case LN_SIZE_HAS:
        return ln_dim_constant(input(m, c->arg) != NULL);
    case LN_SIZE_PARAM:
        return param_of(m, c->arg);
    case LN_SIZE_ITEMS: {
        const ln_param_entry *pe = param(m, c->arg);
        return pe ? ln_dim_constant(pe->array_len) : ln_dim_unknown();
    }
    default:
        return ln_dim_constant(is_word(m, c->arg, c->n));
    }
}

// Operations

// Three-valued AND (decisive 0) or OR (decisive 1).
static ln_dim combined(const ln_dim *a, const ln_dim *b, int decisive)
{
    const int a_known = ln_dim_is_constant(a), b_known = ln_dim_is_constant(b);
    if ((a_known && (a->constant != 0) == decisive) || (b_known && (b->constant != 0) == decisive))
        return ln_dim_constant(decisive);
    return a_known && b_known ? ln_dim_constant(!decisive) : ln_dim_unknown();
}

static void binary(machine *m, const ln_size_code *c)
{
    static ln_dim (*const functions[])(ln_symbols *, const ln_dim *, const ln_dim *) = {
        [LN_SIZE_ADD] = ln_dim_add, [LN_SIZE_SUB] = ln_dim_sub,     [LN_SIZE_MUL] = ln_dim_mul,
        [LN_SIZE_DIV] = ln_dim_div, [LN_SIZE_MOD] = ln_dim_mod,     [LN_SIZE_MIN] = ln_dim_min,
        [LN_SIZE_MAX] = ln_dim_max, [LN_SIZE_EQ] = ln_dim_is_equal, [LN_SIZE_LT] = ln_dim_is_less};
    const ln_dim b = pop(m), a = pop(m);
    push(m, c->op == LN_SIZE_AND || c->op == LN_SIZE_OR
                ? combined(&a, &b, c->op == LN_SIZE_OR)
                : functions[c->op](m->source->symbols, &a, &b));
}

static void negative(machine *m, const ln_size_code *c)
{
    const ln_dim a = pop(m), zero = ln_dim_constant(0);
    (void)c;
    push(m, ln_dim_sub(m->source->symbols, &zero, &a));
}

static void opposite(machine *m, const ln_size_code *c)
{
    const ln_dim a = pop(m);
    (void)c;
    push(m, ln_dim_is_constant(&a) ? ln_dim_constant(!a.constant) : ln_dim_unknown());
}

static void root(machine *m, const ln_size_code *c)
{
    const ln_dim a = pop(m);
    (void)c;
    push(m, ln_dim_is_constant(&a) && a.constant >= 0
                ? ln_dim_constant((int64_t)sqrt((double)a.constant))
                : ln_dim_unknown());
}

static void choose(machine *m, const ln_size_code *c)
{
    const ln_dim no = pop(m), yes = pop(m), condition = pop(m);
    (void)c;
    push(m, ln_dim_is_constant(&condition) ? (condition.constant ? yes : no)
            : ln_dim_equals(&yes, &no)     ? yes
                                           : ln_dim_unknown());
}

// A start or end as in NumPy: counted from the end if it is negative, then clamped to low .. high.
static ln_dim position(ln_symbols *s, const ln_dim *at, const ln_dim *len, const ln_dim *low,
                       const ln_dim *high)
{
    const ln_dim zero = ln_dim_constant(0), is_negative = ln_dim_is_less(s, at, &zero);
    if (!ln_dim_is_constant(&is_negative))
        return ln_dim_unknown();
    const ln_dim own = is_negative.constant ? ln_dim_add(s, at, len) : *at;
    const ln_dim cut = ln_dim_max(s, &own, low);
    return ln_dim_min(s, &cut, high);
}

static ln_dim slice_length(machine *m)
{
    ln_symbols *s = m->source->symbols;
    const ln_dim step = pop(m), end = pop(m), start = pop(m), len = pop(m);
    const ln_dim zero = ln_dim_constant(0), one = ln_dim_constant(1);
    if (!ln_dim_is_constant(&step) || step.constant == 0 || !ln_dim_is_known(&len))
        return ln_dim_unknown();
    const int is_back = step.constant < 0; // positions are then -1 .. len - 1, the last one first
    const ln_dim low = ln_dim_constant(is_back ? -1 : 0);
    const ln_dim high = is_back ? ln_dim_sub(s, &len, &one) : len;
    const ln_dim lowest_start = ln_dim_min(s, &high, &zero);
    const ln_dim from = position(s, &start, &len, &lowest_start, &high);
    const ln_dim to = position(s, &end, &len, &low, &high);
    const ln_dim span = is_back ? ln_dim_sub(s, &from, &to) : ln_dim_sub(s, &to, &from);
    const ln_dim width = ln_dim_constant(is_back ? -step.constant : step.constant);
    const ln_dim most = ln_dim_constant(width.constant - 1), sum = ln_dim_add(s, &span, &most);
    const ln_dim n = ln_dim_div(s, &sum, &width); // span / width, rounded up
    return ln_dim_max(s, &n, &zero);
}

static void slice(machine *m, const ln_size_code *c)
{
    (void)c;
    push(m, slice_length(m));
}

// A data-dependent length. As a number (no symbols): its max, for which memory is planned. As a
// symbolic dimension: the value, or unknown.
static void data_dependent(machine *m, const ln_size_code *c)
{
    const ln_dim value = c->n ? ln_dim_unknown() : pop(m), max = pop(m);
    push(m, m->source->symbols && ln_dim_is_known(&max) ? value : max);
}

// The result

// Counts axes beyond LN_MAXDIM without storing them.
static void append(machine *m, const ln_dim *axis)
{
    if (m->n_axes < LN_MAXDIM)
        m->axes[m->n_axes] = *axis;
    m->n_axes++;
}

// Positions `from` to `to`, exclusive, of the axes of `te`, or of its elements if `is_values`; te
// NULL: of the elements of parameter `arg`.
typedef struct span {
    const ln_tensor_entry *te;
    int arg, from, to, is_values;
} span;

static span pop_span(machine *m, const ln_size_code *c)
{
    span s = {.te = c->n == 1 ? NULL : input(m, c->arg), .arg = c->arg, .is_values = c->n == 2};
    const ln_param_entry *pe = c->n == 1 ? param(m, c->arg) : NULL;
    const int len = s.te ? (s.is_values ? s.te->tensor->len : s.te->tensor->ndim)
                    : pe ? pe->array_len
                         : 0;
    m->is_bad |= pop_int(m, &s.to) || pop_int(m, &s.from) || !(s.te || pe);
    s.from = s.from < 0 ? s.from + len : s.from;
    s.to = s.to < 0 ? s.to + len : s.to > len ? len : s.to;
    s.from = s.from < 0 ? 0 : s.from;
    s.to = m->is_bad || s.to < s.from ? s.from : s.to;
    return s;
}

static ln_dim span_axis(const machine *m, const span *s, int i)
{
    if (s->is_values)
        return value_of(m, s->te, i);
    return s->te ? axis_of(m, s->te, i) : item_of(m, s->arg, i);
}

static void append_span(machine *m, const ln_size_code *c)
{
    const span s = pop_span(m, c);
    for (int i = s.from; i < s.to && !m->is_bad; i++) {
        const ln_dim axis = span_axis(m, &s, i);
        append(m, &axis);
    }
}

static void append_axis(machine *m, const ln_size_code *c)
{
    const ln_dim axis = pop(m);
    (void)c;
    append(m, &axis);
}

// Pushes the product or sum of a span.
static void fold(machine *m, const ln_size_code *c)
{
    const int is_sum = c->op == LN_SIZE_SUM;
    const span s = pop_span(m, c);
    ln_dim result = ln_dim_constant(!is_sum);
    for (int i = s.from; i < s.to; i++) {
        const ln_dim axis = span_axis(m, &s, i);
        result = (is_sum ? ln_dim_add : ln_dim_mul)(m->source->symbols, &result, &axis);
    }
    push(m, result);
}

// Broadcasts the result with a span, as NumPy does: aligned at the last axes, the shorter one is
// preceded by axes of length 1.
static void broadcast_span(machine *m, const span *s)
{
    const int len = s->to - s->from, more = len - m->n_axes;
    if (len > LN_MAXDIM || m->n_axes > LN_MAXDIM) {
        m->n_axes = more > 0 ? len : m->n_axes;
        return;
    }
    if (more > 0) {
        memmove(m->axes + more, m->axes, (size_t)m->n_axes * sizeof(m->axes[0]));
        for (int i = 0; i < more; i++)
            m->axes[i] = ln_dim_constant(1);
        m->n_axes = len;
    }
    for (int i = 0; i < len; i++) {
        const ln_dim axis = span_axis(m, s, s->from + i);
        ln_dim *const common = &m->axes[m->n_axes - len + i];
        *common = ln_dim_broadcast(m->source->symbols, common, &axis);
    }
}

// Broadcasts with the full shape of each variadic input.
static void broadcast_inputs(machine *m, const char *arg_name)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, m->op_arg->tensors_in) {
        span s = {.te = ln_entry_of(tle, m->op_arg->tensor_table)};
        s.to = s.te ? s.te->tensor->ndim : 0;
        if (ln_name_number(tle->arg_name, arg_name) >= 0)
            broadcast_span(m, &s);
    }
}

static void broadcast(machine *m, const ln_size_code *c)
{
    const span s = pop_span(m, c);
    if (!c->n && input_info(m, c->arg)->variadic)
        broadcast_inputs(m, input_info(m, c->arg)->arg_name);
    else
        broadcast_span(m, &s);
}

// The length of the axis -1 in the new shape: elements / product of the other axes. Axes that stay
// (-2) are left out of both: they cancel, even if they are unknown or 0.
static ln_dim rest_of(const machine *m, const ln_tensor_entry *te, const ln_dim *dims, int n)
{
    ln_symbols *s = m->source->symbols;
    ln_dim len = ln_dim_constant(1), others = len;
    for (int i = 0; te && i < te->tensor->ndim; i++) {
        const ln_dim axis = axis_of(m, te, i);
        if (i >= n || !ln_dim_is(&dims[i], -2))
            len = ln_dim_mul(s, &len, &axis);
    }
    for (int i = 0; i < n; i++)
        if (!ln_dim_is(&dims[i], -1) && !ln_dim_is(&dims[i], -2))
            others = ln_dim_mul(s, &others, &dims[i]);
    return ln_dim_is(&others, 0) ? others : ln_dim_div(s, &len, &others);
}

static void append_reshaped(machine *m, const ln_size_code *c)
{
    const ln_tensor_entry *te = input(m, c->arg);
    const ln_param_entry *pe = param(m, c->n);
    const int n = pe ? pe->array_len : 0;
    ln_dim dims[LN_MAXDIM];
    for (int i = 0; i < n && i < LN_MAXDIM; i++)
        dims[i] = item_of(m, c->n, i);
    for (int i = 0; i < n; i++) {
        ln_dim axis = i < LN_MAXDIM ? dims[i] : ln_dim_unknown();
        if (ln_dim_is(&axis, -2))
            axis = axis_of(m, te, i);
        else if (ln_dim_is(&axis, -1))
            axis = rest_of(m, te, dims, n < LN_MAXDIM ? n : LN_MAXDIM);
        append(m, &axis);
    }
}

static void begin_loop(machine *m, const ln_size_code *c)
{
    m->is_bad |= pop_int(m, &m->rounds);
    m->loop = 0;
    if (m->is_bad || m->rounds <= 0)
        m->code += c->n;
}

static void skip_unless(machine *m, const ln_size_code *c)
{
    const ln_dim condition = pop(m);
    m->is_bad |= !ln_dim_is_constant(&condition);
    if (!condition.constant)
        m->code += c->n;
}

static void end_round(machine *m, const ln_size_code *c)
{
    if (++m->loop < m->rounds)
        m->code -= c->n + 1;
}

static void step(machine *m, const ln_size_code *c)
{
    static void (*const others[])(machine *, const ln_size_code *) = {
        [LN_SIZE_NEG] = negative,        [LN_SIZE_NOT] = opposite,
        [LN_SIZE_SQRT] = root,           [LN_SIZE_SELECT] = choose,
        [LN_SIZE_SLICE] = slice,         [LN_SIZE_DATA] = data_dependent,
        [LN_SIZE_EMIT] = append_axis,    [LN_SIZE_SHAPE] = append_span,
        [LN_SIZE_PRODUCT] = fold,        [LN_SIZE_SUM] = fold,
        [LN_SIZE_BROADCAST] = broadcast, [LN_SIZE_RESHAPE] = append_reshaped,
        [LN_SIZE_IF] = skip_unless,      [LN_SIZE_FOR] = begin_loop,
        [LN_SIZE_NEXT] = end_round};
    if (c->op <= LN_SIZE_IS) // in the groups of ln_size_op
        push(m, operand(m, c));
    else if (c->op <= LN_SIZE_SCALE)
        push(m, indexed(m, c));
    else if (c->op <= LN_SIZE_OR)
        binary(m, c);
    else
        others[c->op](m, c);
}

static void run(machine *m)
{
    while (m->code->op != LN_SIZE_END && !m->is_bad)
        step(m, m->code++);
}

// Descriptions

// The code of an output; NULL: none. `code` has that of all outputs, in order, each ended by
// LN_SIZE_END, with arg 1 for an output without code.
static const ln_size_code *code_of(const ln_op_info *info, const ln_size_code *code,
                                   const char *arg_name)
{
    for (const ln_arg_info *out = info ? info->tensors_out : NULL; out && code;
         out = ln_arg_info_next(out)) {
        if (out->variadic ? ln_name_number(arg_name, out->arg_name) >= 0
                          : (int)ln_streq(arg_name, out->arg_name))
            return code->op == LN_SIZE_END && code->arg ? NULL : code;
        while (code->op != LN_SIZE_END)
            code++;
        code++;
    }
    return NULL;
}

int ln_size_has_values(const ln_op_arg *op_arg, const char *arg_name)
{
    return op_arg->info && code_of(op_arg->info, op_arg->info->values, arg_name) != NULL;
}

// Does not clear the stack: that would cost more than most expressions.
static void begin(machine *m, const ln_op_arg *op_arg, int part, const ln_size_source *source)
{
    m->op_arg = op_arg;
    m->info = op_arg->info;
    m->source = source;
    m->n = m->n_axes = m->index = m->loop = m->rounds = m->is_bad = 0;
    m->part = part;
}

int ln_size_axes(const ln_op_arg *op_arg, const char *arg_name, int part,
                 const ln_size_source *source, ln_dim axes[LN_MAXDIM])
{
    machine m;
    begin(&m, op_arg, part, source);
    m.code = code_of(op_arg->info, op_arg->info->sizes, arg_name);
    if (!m.code)
        return -1;
    run(&m);
    for (int i = 0; i < m.n_axes && i < LN_MAXDIM; i++)
        axes[i] = m.axes[i];
    return m.is_bad ? -1 : m.n_axes;
}

ln_dim ln_size_value(const ln_op_arg *op_arg, const char *arg_name, int part, int i,
                     const ln_size_source *source)
{
    machine m;
    begin(&m, op_arg, part, source);
    m.index = i;
    m.code = code_of(op_arg->info, op_arg->info->values, arg_name);
    if (m.code)
        run(&m);
    return m.code && !m.is_bad ? pop(&m) : ln_dim_unknown();
}
