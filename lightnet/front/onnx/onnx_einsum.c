// SPDX-License-Identifier: Apache-2.0
// ONNX Einsum, as transpositions, matrix multiplications and reductions.
//
// A term is a tensor whose axes have different labels. Each operand becomes one: the diagonal
// replaces axes with the same label, and axes of length 1 that broadcast are dropped.
// Then the second term is multiplied into the first, until one is left:
//
//     labels of both that are needed later    batch    first  [batch.., m.., k..]
//     labels of both that are not             k        second [batch.., k.., n..]
//     labels of the first, of the second      m, n     result [batch.., m.., n..]
//
// Axes of only one term that the result lacks are summed first.

#include <string.h>

#include "front/onnx/ln_onnx.h"

// Labels: 0 .. 25 A .. Z, 26 .. 51 a .. z, then the axes of "...", which are aligned at the last
// one, ELLIPSIS_END - 1.
enum { ELLIPSIS = 52, ELLIPSIS_END = ELLIPSIS + TL_MAXDIM, LABELS = ELLIPSIS_END };

typedef uint64_t label_set;

typedef struct labels {
    int n;
    int at[TL_MAXDIM];
} labels;

typedef struct term {
    const char *tensor;
    labels labels;
} term;

static label_set set_of(const labels *l)
{
    label_set set = 0;
    for (int i = 0; i < l->n; i++)
        set |= (label_set)1 << l->at[i];
    return set;
}

static int has(label_set set, int label)
{
    return (set >> label & 1) != 0;
}

static void add_label(ln_onnx_node *n, labels *l, int label)
{
    if (l->n < TL_MAXDIM)
        l->at[l->n++] = label;
    else
        ln_emit_fail(&n->emit, "more than %d axes in attribute 'equation'", TL_MAXDIM);
}

// The equation

static int letter(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;
}

// The labels up to a comma, "->" or the end; "..." is `n_dots` axes. Returns where it
// ends.
static const char *read_labels(ln_onnx_node *n, const char *text, int n_dots, labels *l)
{
    l->n = 0;
    for (; *text && *text != ',' && strncmp(text, "->", 2) != 0; text++) {
        if (strncmp(text, "...", 3) == 0) {
            for (int i = ELLIPSIS_END - n_dots; i < ELLIPSIS_END; i++)
                add_label(n, l, i);
            text += 2;
        } else if (letter(*text) >= 0) {
            add_label(n, l, letter(*text));
        } else if (*text != ' ') {
            ln_emit_fail(&n->emit,
                         "attribute 'equation' has '%c', expected letters, '...', ',' and '->'",
                         *text);
            return "";
        }
    }
    return text;
}

// The number of axes of "..." in a term of `ndim` axes; 0 without it.
static int dots_of(ln_onnx_node *n, const char *text, int ndim)
{
    int letters = 0, has_dots = 0;
    for (; *text && *text != ',' && strncmp(text, "->", 2) != 0; text++) {
        letters += letter(*text) >= 0;
        has_dots |= *text == '.';
    }
    if (letters > ndim || (!has_dots && letters != ndim))
        ln_emit_fail(&n->emit, "attribute 'equation' has %d labels for an input of %d dimensions",
                     letters, ndim);
    return has_dots && letters < ndim ? ndim - letters : 0;
}

// Operands become terms

static void transpose_term(ln_onnx_node *n, term *t, const labels *order)
{
    int axes[TL_MAXDIM], is_moved = 0;
    for (int i = 0; i < order->n; i++) {
        axes[i] = 0;
        for (int k = 0; k < t->labels.n; k++)
            if (t->labels.at[k] == order->at[i])
                axes[i] = k;
        is_moved |= axes[i] != i;
    }
    if (is_moved)
        t->tensor = ln_emit_transpose(&n->emit, t->tensor, axes, LN_EMIT_TEMP);
    t->labels = *order;
}

// The diagonal of axes `i` < `j`, which goes to the end: [.., d, d] is [.., d * d] with a step of
// d + 1.
static void take_diagonal(ln_onnx_node *n, term *t, int i, int j)
{
    int order[TL_MAXDIM], dims[TL_MAXDIM] = {0}, ndim = 0;
    const int label = t->labels.at[i];
    labels rest = {0};
    for (int k = 0; k < t->labels.n; k++)
        if (k != i && k != j) {
            order[ndim++] = k;
            rest.at[rest.n++] = t->labels.at[k];
        }
    order[ndim] = i;
    order[ndim + 1] = j;
    const char *moved = ln_emit_transpose(&n->emit, t->tensor, order, LN_EMIT_TEMP);
    const tl_tensor *const m = ln_onnx_tensor_of(n, moved);
    memcpy(dims, m->dims, (size_t)m->ndim * sizeof(int));
    if (dims[ndim] != dims[ndim + 1])
        ln_emit_fail(&n->emit, "axes with the same label have lengths %d and %d", dims[ndim],
                     dims[ndim + 1]);
    const int64_t len = (int64_t)dims[ndim] * dims[ndim];
    const int d = dims[ndim], step = d + 1;
    dims[ndim] = (int)len;
    moved = ln_emit_reshape(&n->emit, moved, ndim + 1, dims, LN_EMIT_TEMP);
    t->tensor = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", moved),
                        LN_INTS("axes", 1, &ndim), LN_INTS("starts", 1, (int[]){0}),
                        LN_INTS("ends", 1, (int[]){(int)len}), LN_INTS("steps", 1, &step));
    rest.at[rest.n++] = label;
    t->labels = rest;
}

static void take_diagonals(ln_onnx_node *n, term *t)
{
    for (int i = 0; i < t->labels.n; i++)
        for (int j = i + 1; j < t->labels.n; j++)
            if (t->labels.at[i] == t->labels.at[j]) {
                take_diagonal(n, t, i, j);
                i = -1; // axes have moved
                break;
            }
}

// Drops axes of length 1 that broadcast.
static void drop_ones(ln_onnx_node *n, term *t, const int *lens)
{
    const tl_tensor *const src = ln_onnx_tensor_of(n, t->tensor);
    int dims[TL_MAXDIM];
    labels rest = {0};
    for (int i = 0; i < t->labels.n && i < src->ndim; i++) {
        const int len = lens[t->labels.at[i]];
        if (src->dims[i] != len && src->dims[i] != 1)
            ln_emit_fail(&n->emit, "axes with the same label have lengths %d and %d", src->dims[i],
                         len);
        if (src->dims[i] != len)
            continue;
        dims[rest.n] = len;
        rest.at[rest.n++] = t->labels.at[i];
    }
    if (rest.n < t->labels.n)
        t->tensor = ln_emit_reshape(&n->emit, t->tensor, rest.n, dims, LN_EMIT_TEMP);
    t->labels = rest;
}

// Products

static void sum_up(ln_onnx_node *n, term *t, label_set needed)
{
    int axes[TL_MAXDIM], n_axes = 0;
    labels rest = {0};
    for (int i = 0; i < t->labels.n; i++)
        if (has(needed, t->labels.at[i]))
            rest.at[rest.n++] = t->labels.at[i];
        else
            axes[n_axes++] = i;
    if (n_axes == 0)
        return;
    t->tensor = ln_emit_reduce(&n->emit, "TL_REDUCE_SUM", t->tensor, n_axes, axes, 0, LN_EMIT_TEMP);
    t->labels = rest;
}

static void append(ln_onnx_node *n, labels *to, const labels *from, label_set of)
{
    for (int i = 0; i < from->n; i++)
        if (has(of, from->at[i]))
            add_label(n, to, from->at[i]);
}

static int is_same(const labels *a, const labels *b)
{
    return a->n == b->n && memcmp(a->at, b->at, (size_t)a->n * sizeof(int)) == 0;
}

// The product of the lengths of these labels.
static int len_of(const int *lens, const labels *l)
{
    int len = 1;
    for (int i = 0; i < l->n; i++)
        len *= lens[l->at[i]];
    return len;
}

// The term as [batch, rows, cols], or, to avoid a transposition, as [batch, cols, rows]: returns 1.
static int make_matrices(ln_onnx_node *n, term *t, const labels *batch, const labels *rows,
                         const labels *cols, const int *lens)
{
    labels order = *batch, swapped = *batch;
    append(n, &order, rows, ~(label_set)0);
    append(n, &order, cols, ~(label_set)0);
    append(n, &swapped, cols, ~(label_set)0);
    append(n, &swapped, rows, ~(label_set)0);
    const int is_swapped = is_same(&t->labels, &swapped) && !is_same(&t->labels, &order);
    if (!is_swapped)
        transpose_term(n, t, &order);
    const int r = len_of(lens, rows), c = len_of(lens, cols);
    const int dims[] = {len_of(lens, batch), is_swapped ? c : r, is_swapped ? r : c};
    t->tensor = ln_emit_reshape(&n->emit, t->tensor, 3, dims, LN_EMIT_TEMP);
    return is_swapped;
}

// first = first x second, of which the `needed` labels stay.
static void multiply(ln_onnx_node *n, term *first, term *second, label_set needed, const int *lens)
{
    const label_set set1 = set_of(&first->labels), set2 = set_of(&second->labels);
    labels batch = {0}, sums = {0}, rows = {0}, cols = {0};
    sum_up(n, first, needed | set2);
    sum_up(n, second, needed | set1);
    append(n, &batch, &first->labels, set2 & needed);
    append(n, &sums, &first->labels, set2 & ~needed);
    append(n, &rows, &first->labels, ~set2);
    append(n, &cols, &second->labels, ~set1);
    const int trans1 = make_matrices(n, first, &batch, &rows, &sums, lens);
    const int trans2 = make_matrices(n, second, &batch, &sums, &cols, lens);
    const char *const product = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", first->tensor),
        LN_ARG("src2", second->tensor), LN_BOOL("trans1", trans1), LN_BOOL("trans2", trans2));
    first->labels = batch;
    append(n, &first->labels, &rows, ~(label_set)0);
    append(n, &first->labels, &cols, ~(label_set)0);
    int dims[TL_MAXDIM];
    for (int i = 0; i < first->labels.n; i++)
        dims[i] = lens[first->labels.at[i]];
    first->tensor = ln_emit_reshape(&n->emit, product, first->labels.n, dims, LN_EMIT_TEMP);
}

// The node

enum { MAX_TERMS = 64 };

typedef struct sum {
    int n;
    term terms[MAX_TERMS];
    int lens[LABELS];   // of each label
    int counts[LABELS]; // in how many places
    int n_dots;         // the max number of axes of "..."
    labels out;
} sum;

// Reads the operands' labels; returns the rest: "" or "-> ..".
static const char *read_terms(ln_onnx_node *n, const char *text, sum *s)
{
    for (s->n = 0;; text++) {
        if (s->n == ln_onnx_num_inputs(n) || s->n == MAX_TERMS) {
            ln_emit_fail(&n->emit, "attribute 'equation' has more terms than %d inputs",
                         ln_onnx_num_inputs(n));
            return "";
        }
        term *const t = &s->terms[s->n];
        t->tensor = ln_onnx_in(n, s->n++);
        const tl_tensor *const src = ln_onnx_tensor_of(n, t->tensor);
        const int dots = dots_of(n, text, src->ndim);
        s->n_dots = dots > s->n_dots ? dots : s->n_dots;
        text = read_labels(n, text, dots, &t->labels);
        if (t->labels.n != src->ndim) // "..." twice
            ln_emit_fail(&n->emit,
                         "attribute 'equation' has %d labels for an input of %d dimensions",
                         t->labels.n, src->ndim);
        for (int i = 0; i < t->labels.n && i < src->ndim; i++) {
            int *const len = &s->lens[t->labels.at[i]];
            *len = s->counts[t->labels.at[i]]++ == 0 || *len == 1 ? src->dims[i] : *len;
        }
        if (*text != ',')
            return text;
    }
}

// Without "->": the axes of "...", then the letters that occur once, in order.
static void read_result(ln_onnx_node *n, const char *text, sum *s)
{
    if (*text) {
        if (*read_labels(n, text + 2, s->n_dots, &s->out))
            ln_emit_fail(&n->emit, "attribute 'equation' has more than one result");
    } else {
        for (int i = ELLIPSIS_END - s->n_dots; i < ELLIPSIS_END; i++)
            add_label(n, &s->out, i);
        for (int i = 0; i < ELLIPSIS; i++)
            if (s->counts[i] == 1)
                add_label(n, &s->out, i);
    }
    for (int i = 0; i < s->out.n; i++)
        if (s->counts[s->out.at[i]] == 0)
            ln_emit_fail(&n->emit, "attribute 'equation' has a label in its result only");
    if (__builtin_popcountll(set_of(&s->out)) != s->out.n)
        ln_emit_fail(&n->emit, "attribute 'equation' has a label twice in its result");
}

static void translate_einsum(ln_onnx_node *n)
{
    sum s = {0};
    const char *const equation = ln_attr_text(&n->emit, "equation", "");
    read_result(n, read_terms(n, equation ? equation : "", &s), &s);
    if (s.n != ln_onnx_num_inputs(n))
        ln_emit_fail(&n->emit, "attribute 'equation' is for %d inputs, the node has %d", s.n,
                     ln_onnx_num_inputs(n));
    for (int i = 0; i < s.n && !ln_onnx_failed(n); i++) {
        take_diagonals(n, &s.terms[i]);
        drop_ones(n, &s.terms[i], s.lens);
    }
    const label_set out = set_of(&s.out);
    for (int i = 1; i < s.n && !ln_onnx_failed(n); i++) {
        label_set needed = out;
        for (int k = i + 1; k < s.n; k++)
            needed |= set_of(&s.terms[k].labels);
        multiply(n, &s.terms[0], &s.terms[i], needed, s.lens);
    }
    sum_up(n, &s.terms[0], out);
    transpose_term(n, &s.terms[0], &s.out);
    ln_onnx_alias(n, 0, s.terms[0].tensor);
}

const ln_onnx_row ln_onnx_rows_einsum[] = {
    {"Einsum", 12, translate_einsum},
    {NULL},
};
