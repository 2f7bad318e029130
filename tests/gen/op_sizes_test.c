// SPDX-License-Identifier: Apache-2.0
// What descriptions say about lengths, on random shapes: the examples of each operator with other
// lengths, at least N_SHAPES that the operator accepts.
//
// Where the kernel infers lengths itself, pre_run compares both. Here the expressions are also
// evaluated for symbols, one for each length of the example: with the lengths that were chosen in
// their place, the results must be those that pre_run has defined.

#include <stdlib.h>

#include "ir/ln_dynamic.h"
#include "ir/ln_size_eval.h"
#include "ln_example.h"

enum {
    N_SHAPES = 1000,
    MAX_TRIES = 40 * N_SHAPES,
    MAX_LENGTH = 11,
    MAX_LENGTHS = 32,
    MAX_INPUTS = 32
};

// The lengths of an example, what stands for them, and their values in a try.
typedef struct lengths {
    int n, was[MAX_LENGTHS], is[MAX_LENGTHS];
    ln_dim symbols[MAX_LENGTHS];
} lengths;

// The shape of an input in the example.
typedef struct shape {
    const ln_tensor_entry *te;
    int dims[LN_MAXDIM];
} shape;

typedef struct model {
    ln_context *ctx;
    ln_op *op;
    ln_symbols *symbols;
    lengths lengths;
    shape inputs[MAX_INPUTS];
    int n_inputs;
} model;

static unsigned long long state = 20261129;

static int random_below(int n)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned)n);
}

// The index of a length; -1: there are too many.
static int find_length(lengths *l, int length)
{
    int i = 0;
    while (i < l->n && l->was[i] != length)
        i++;
    if (i == MAX_LENGTHS)
        return -1;
    l->was[i] = length;
    l->n += i == l->n;
    return i;
}

static void set_dims(const ln_tensor_entry *te, const int *dims)
{
    memcpy(te->tensor->dims, dims, (size_t)te->tensor->ndim * sizeof(*dims));
    te->tensor->len = tl_compute_length(te->tensor->ndim, dims);
}

static void open_outputs(const model *m)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH (tle, m->op->op_arg->tensors_out) {
        ln_tensor_entry *te = ln_tensor_table_find(m->ctx->tensor_table, tle->name);
        te->isdynamic = 1;
        te->capacity = SIZE_MAX;
    }
}

static int note_inputs(model *m)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH (tle, m->op->op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_tensor_table_find(m->ctx->tensor_table, tle->name);
        if (m->n_inputs == MAX_INPUTS)
            return -1;
        shape *const input = &m->inputs[m->n_inputs++];
        input->te = te;
        memcpy(input->dims, te->tensor->dims, (size_t)te->tensor->ndim * sizeof(int));
        for (int i = 0; i < te->tensor->ndim; i++)
            if (find_length(&m->lengths, input->dims[i]) < 0)
                return -1;
    }
    return 0;
}

static int read_model(model *m, const ln_example *example)
{
    ln_op *op;
    *m = (model){.ctx = ln_context_create(), .symbols = ln_symbols_create()};
    if (!m->ctx || !m->symbols || ln_example_read(m->ctx, example, 0))
        return -1;
    LN_LIST_FOREACH (op, m->ctx->ops)
        if (strcmp(op->op_arg->optype, example->optype) == 0)
            m->op = op;
    if (!m->op || note_inputs(m) || !m->n_inputs)
        return -1;
    for (int i = 0; i < m->lengths.n; i++)
        m->lengths.symbols[i] = ln_symbols_add(m->symbols, 0, 4 * m->lengths.was[i] + MAX_LENGTH);
    open_outputs(m);
    return 0;
}

static void free_model(model *m)
{
    for (int i = 0; i < m->n_inputs; i++)
        set_dims(m->inputs[i].te, m->inputs[i].dims);
    ln_symbols_free(m->symbols);
    ln_context_free(m->ctx);
}

// Half of the lengths stay, so that most shapes still fit the parameters.
static void choose_lengths(model *m)
{
    lengths *const l = &m->lengths;
    for (int i = 0; i < l->n; i++)
        l->is[i] = random_below(2)   ? l->was[i]
                   : random_below(2) ? random_below(MAX_LENGTH)
                                     : l->was[i] * random_below(4);
    for (int k = 0; k < m->n_inputs; k++) {
        int dims[LN_MAXDIM];
        for (int i = 0; i < m->inputs[k].te->tensor->ndim; i++)
            dims[i] = l->is[find_length(l, m->inputs[k].dims[i])];
        set_dims(m->inputs[k].te, dims);
    }
}

// The expressions for symbols

static ln_dim symbol_of(void *data, const ln_tensor_entry *te, int i)
{
    model *const m = data;
    for (int k = 0; k < m->n_inputs; k++)
        if (m->inputs[k].te == te)
            return m->lengths.symbols[find_length(&m->lengths, m->inputs[k].dims[i])];
    return ln_dim_unknown();
}

static int64_t evaluate(const model *m, const ln_dim *dim);

static int64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t evaluate_symbol(const model *m, int symbol)
{
    ln_dim of_a, of_b;
    for (int i = 0; i < m->lengths.n; i++)
        if (m->lengths.symbols[i].terms[0].symbol == symbol)
            return m->lengths.is[i];
    const ln_dim_operation operation = ln_symbols_operation(m->symbols, symbol, &of_a, &of_b);
    const int64_t a = evaluate(m, &of_a), b = evaluate(m, &of_b);
    switch (operation) {
    case LN_DIM_SUM:
        return a + b;
    case LN_DIM_PRODUCT:
        return a * b;
    case LN_DIM_QUOTIENT:
        return quotient(a, b);
    case LN_DIM_MIN:
        return a < b ? a : b;
    case LN_DIM_MAX:
        return a > b ? a : b;
    default:
        return a == 1 ? b : a;
    }
}

static int64_t evaluate(const model *m, const ln_dim *dim)
{
    int64_t sum = dim->constant;
    for (int i = 0; i < dim->n; i++)
        sum += dim->terms[i].coefficient * evaluate_symbol(m, dim->terms[i].symbol);
    return sum;
}

// Returns the number of axes that differ.
static int compare_output(model *m, const ln_tensor_list_entry *tle, int index)
{
    const ln_size_source source = {m->symbols, symbol_of, NULL, m};
    const tl_tensor *const t = ln_tensor_table_find(m->ctx->tensor_table, tle->name)->tensor;
    ln_dim axes[LN_MAXDIM];
    const int ndim = ln_size_axes(m->op->op_arg, tle->arg_name, index, &source, axes);
    int n = ndim >= 0 && ndim != t->ndim;
    for (int i = 0; i < ndim && !n; i++) {
        const int64_t length = ln_dim_is_known(&axes[i]) ? evaluate(m, &axes[i]) : t->dims[i];
        if (length != t->dims[i])
            printf("# axis %d of '%s' has length %d, by symbols %lld\n", i, tle->arg_name,
                   t->dims[i], (long long)length);
        n += length != t->dims[i];
    }
    return n;
}

// 1: the operator accepts the shapes. 0: it does not. -1: lengths differ.
static int try_lengths(model *m)
{
    const ln_tensor_list_entry *tle;
    int index = 0, n = 0;
    choose_lengths(m);
    if (ln_dynamic_infer(m->op)) {
        const char *const message = ln_context_error(m->ctx);
        const int differs = strstr(message, "by the description") != NULL;
        if (differs)
            printf("# %s\n", message);
        ln_error_clear(m->ctx->error);
        return differs ? -1 : 0;
    }
    LN_LIST_FOREACH (tle, m->op->op_arg->tensors_out)
        n += compare_output(m, tle, index++);
    return n ? -1 : 1;
}

// Tries an example some times; returns how many shapes were accepted. -1: lengths differ.
static int try_example(const ln_example *example, int tries)
{
    model m;
    int n = 0;
    if (!read_model(&m, example)) {
        for (int i = 0; i < tries && n >= 0; i++) {
            const int accepted = try_lengths(&m);
            n = accepted < 0 ? -1 : n + accepted;
        }
    }
    if (n < 0)
        printf("# %s\n", example->place);
    free_model(&m);
    return n;
}

// The examples of one operator, which lie side by side. Returns how many shapes were accepted; -1:
// lengths differ.
static int try_operator(const ln_example *examples, size_t n)
{
    int accepted = 0, differs = 0, n_right = 0;
    for (size_t i = 0; i < n; i++)
        n_right += !examples[i].error;
    for (int tries = 0; n_right && tries < MAX_TRIES && accepted < N_SHAPES && !differs;) {
        for (size_t i = 0; i < n && !differs; i++) {
            const int some =
                !examples[i].error ? try_example(&examples[i], N_SHAPES / n_right + 1) : 0;
            differs = some < 0;
            accepted += some;
        }
        tries += N_SHAPES;
    }
    return differs ? -1 : accepted;
}

// Whether an example runs, with inputs.
static int has_inputs(const ln_example *examples, size_t n)
{
    int has = 0;
    for (size_t i = 0; i < n && !has; i++) {
        model m;
        has = !examples[i].error && !read_model(&m, &examples[i]) && m.n_inputs > 0;
        if (!examples[i].error)
            free_model(&m);
    }
    return has;
}

int op_sizes_main(const ln_example *examples, size_t n, int argc, char **argv)
{
    int number = 0, n_failed = 0;
    (void)argc;
    (void)argv;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(examples[end].optype, examples[i].optype) == 0;)
            end++;
        const int accepted = try_operator(&examples[i], end - i);
        const int failed = accepted < 0 || (accepted == 0 && has_inputs(&examples[i], end - i));
        printf("%s %d - %s: %d random shapes%s\n", failed ? "not ok" : "ok", ++number,
               examples[i].optype, accepted, accepted ? "" : ", as no example with inputs runs");
        n_failed += failed;
    }
    printf("1..%d\n", number);
    return n_failed || number == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
