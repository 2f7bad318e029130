// SPDX-License-Identifier: Apache-2.0
// The models of ONNX's own test data with open sizes. Each axis of an input that can have another
// size, with the axes that must have the same, is left open: the program gives the bits of the one
// for fixed sizes, or the model is rejected.

#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "ln_onnx.pb-c.h"

static const char data_folder[] = "/usr/share/libonnx-testdata/data";

enum { MAX_INPUTS = 16 };

// A model, and what its inputs are given.
typedef struct model {
    LnOnnx__Model *proto;
    unsigned char *bytes; // of the model without sizes
    size_t size;
    tl_tensor *inputs[MAX_INPUTS];
    int n_inputs;
} model;

// How the models fared: models with an axis that can have another size, those where each such axis
// is served by one program, and the axes.
static struct {
    int models, served_models, axes, same, rejected;
} count;

// Models

static void forget_sizes(LnOnnx__ValueInfo *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const LnOnnx__TensorType *type = values[i]->type ? values[i]->type->tensor_type : NULL;
        for (size_t k = 0; type && type->shape && k < type->shape->n_dim; k++) {
            type->shape->dim[k]->has_dim_value = 0;
            free(type->shape->dim[k]->dim_param);
            type->shape->dim[k]->dim_param = NULL;
        }
    }
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    unsigned char *bytes = (unsigned char *)ln_read_stream(file, path, size);
    fclose(file);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

static void read_model(model *m, const char *folder)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof(path), "%s/model.onnx", folder);
    unsigned char *bytes = read_file(path, &size);
    m->proto = ln_onnx__model__unpack(NULL, size, bytes);
    ln_free(bytes);
    ck_assert_msg(m->proto && m->proto->graph, "%s is no model", path);
    forget_sizes(m->proto->graph->input, m->proto->graph->n_input);
    forget_sizes(m->proto->graph->output, m->proto->graph->n_output);
    m->bytes = ln_alloc(ln_onnx__model__get_packed_size(m->proto));
    m->size = ln_onnx__model__pack(m->proto, m->bytes);
}

// -1: not all inputs are tensors that the data has.
static int read_inputs(model *m, const char *folder)
{
    char path[512];
    const size_t n = m->proto->graph->n_input;
    for (; m->n_inputs < (int)n && n <= MAX_INPUTS; m->n_inputs++) {
        snprintf(path, sizeof(path), "%s/test_data_set_0/input_%d.pb", folder, m->n_inputs);
        if (!(m->inputs[m->n_inputs] = ln_input_read_whole(path, NULL)))
            break;
    }
    return m->n_inputs == (int)n ? 0 : -1;
}

static void free_model(model *m)
{
    for (int i = 0; i < m->n_inputs; i++)
        tl_tensor_free_data_too(m->inputs[i]);
    ln_free(m->bytes);
    ln_onnx__model__free_unpacked(m->proto, NULL);
}

static const char *input_name(const model *m, int i)
{
    return m->proto->graph->input[i]->name;
}

// Programs

// Axes of inputs that have one size, which is open or another one: bits of input << 3 | axis.
typedef struct axes {
    uint64_t input_axes[2];
} axes;

static bool has_axis(const axes *a, int input, int axis)
{
    const int bit = input << 3 | axis;
    return a->input_axes[bit >> 6] >> (bit & 63) & 1;
}

static void add_axis(axes *a, int input, int axis)
{
    const int bit = input << 3 | axis;
    a->input_axes[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

// Binds the inputs: to their shapes, with sizes from `min` to `max` of the axes.
static int bind(ln_context *ctx, const model *m, const axes *open, int min, int max)
{
    for (int i = 0; i < m->n_inputs; i++) {
        const tl_tensor *t = m->inputs[i];
        int low[TL_MAXDIM], high[TL_MAXDIM];
        for (int k = 0; k < t->ndim; k++) {
            low[k] = has_axis(open, i, k) ? min : t->dims[k];
            high[k] = has_axis(open, i, k) ? max : t->dims[k];
        }
        if (min == max ? ln_context_bind_shape(ctx, input_name(m, i), t->ndim, high)
                       : ln_context_bind_range(ctx, input_name(m, i), t->ndim, low, high))
            return -1;
    }
    return 0;
}

// An input that nothing reads may be gone.
static int set(ln_context *ctx, const model *m, int i)
{
    const tl_tensor *t = m->inputs[i];
    const ln_list *node = ln_list_nth(ctx->inputs, i);
    const ln_tensor_entry *te = node ? ln_tensor_table_find(ctx->tensor_table, node->data) : NULL;
    if (!te)
        return -1;
    return (te->isdynamic && ln_context_set_shape(ctx, te->name, t->ndim, t->dims)) ||
                   (t->len && ln_context_set_data(ctx, te->name, t->data))
               ? -1
               : 0;
}

static int compile(ln_context *ctx, const model *m, const axes *open, int min, int max)
{
    return bind(ctx, m, open, min, max) ||
                   ln_context_init_text(ctx, "m.onnx", (const char *)m->bytes, m->size) ||
                   ln_context_compile(ctx, "cpu")
               ? -1
               : 0;
}

static int run(ln_context *ctx, const model *m)
{
    if (ln_context_load(ctx, NULL))
        return -1;
    for (int i = 0; i < m->n_inputs; i++)
        if (set(ctx, m, i))
            return -1;
    return ln_context_run(ctx);
}

// Whether the model accepts this size of the axes, in a program for it alone.
static bool accepts(const model *m, const axes *changed, int size)
{
    ln_context *ctx = ln_context_create();
    const bool is_accepted = !compile(ctx, m, changed, size, size);
    ln_context_free(ctx);
    return is_accepted;
}

enum { MAX_TIED = 10 };

// The axes that must have the size of one of them: the smallest set with which the model accepts
// another size, among the axes of the same length. False: none, the size cannot vary.
static bool find_tied(const model *m, int input, int axis, axes *tied)
{
    const int size = m->inputs[input]->dims[axis];
    int others[MAX_TIED], n = 0;
    for (int i = 0; i < m->n_inputs; i++)
        for (int k = 0; k < m->inputs[i]->ndim && n < MAX_TIED; k++)
            if (m->inputs[i]->dims[k] == size && (i != input || k != axis))
                others[n++] = i << 3 | k;
    for (int n_tied = 0; n_tied <= n; n_tied++)
        for (int subset = 0; subset < 1 << n; subset++) {
            if (__builtin_popcount((unsigned)subset) != n_tied)
                continue;
            *tied = (axes){{0}};
            add_axis(tied, input, axis);
            for (int k = 0; k < n; k++)
                if (subset >> k & 1)
                    add_axis(tied, others[k] >> 3, others[k] & 7);
            if (accepts(m, tied, size + 1))
                return true;
        }
    return false;
}

// Comparing

static bool are_same(const void *x, const void *y, const tl_tensor *t)
{
    const tl_string *const *const a = x, *const *const b = y;
    if (t->dtype != TL_STRING)
        return !memcmp(x, y, tl_tensor_size(t));
    for (int i = 0; i < t->len; i++)
        if (tl_string_cmp(a[i], b[i]))
            return false;
    return true;
}

static void compare_output(ln_context *open, ln_context *fixed, const char *name, const char *what)
{
    const tl_tensor *a = ln_tensor_table_find(open->tensor_table, name)->tensor;
    const tl_tensor *b = ln_tensor_table_find(fixed->tensor_table, name)->tensor;
    ck_assert_msg(tl_tensor_issameshape(a, b) && a->dtype == b->dtype, "%s: '%s' has another shape",
                  what, name);
    void *x = ln_context_get_data(open, name, NULL), *y = ln_context_get_data(fixed, name, NULL);
    ck_assert_msg(!a->len || (x && y && are_same(x, y, a)), "%s: the bits of '%s' differ", what,
                  name);
    ln_free(x);
    ln_free(y);
}

// The name of the open size, as models have it: the axes are known to be equal.
static void name_axes(const model *m, const axes *open, char *name)
{
    for (int i = 0; i < m->n_inputs; i++) {
        const LnOnnx__TensorType *type = m->proto->graph->input[i]->type->tensor_type;
        for (size_t k = 0; type && type->shape && k < type->shape->n_dim; k++)
            type->shape->dim[k]->dim_param = has_axis(open, i, (int)k) ? name : NULL;
    }
}

// Returns whether one program serves the sizes of the axes, to which that of the data belongs.
static bool try_open(model *m, ln_context *fixed, const axes *open, int size, const char *what)
{
    const char *name;
    ln_context *ctx = ln_context_create();
    name_axes(m, open, "size");
    ln_free(m->bytes);
    m->bytes = ln_alloc(ln_onnx__model__get_packed_size(m->proto));
    m->size = ln_onnx__model__pack(m->proto, m->bytes);
    const bool is_served = !compile(ctx, m, open, 1, 2 * size + 1) && !run(ctx, m);
    if (!is_served) {
        ck_assert_msg(*ln_context_error(ctx), "%s: no reason", what);
        printf("# %s: %s\n", what, ln_context_error(ctx));
    }
    LN_LIST_FOREACH (name, is_served ? ctx->outputs : NULL)
        compare_output(ctx, fixed, name, what);
    ln_context_free(ctx);
    name_axes(m, &(axes){{0}}, NULL);
    return is_served;
}

static void try_all(model *m, ln_context *fixed, const char *folder)
{
    char what[600];
    axes open;
    int n = 0, n_served = 0;
    for (int i = 0; i < m->n_inputs; i++)
        for (int axis = 0; axis < m->inputs[i]->ndim; axis++) {
            const int size = m->inputs[i]->dims[axis];
            if (!size || !find_tied(m, i, axis, &open))
                continue;
            snprintf(what, sizeof(what), "%s, input %d, axis %d", strrchr(folder, '/') + 1, i,
                     axis);
            n++;
            n_served += try_open(m, fixed, &open, size, what);
        }
    count.axes += n;
    count.same += n_served;
    count.rejected += n - n_served;
    count.models += n > 0;
    count.served_models += n > 0 && n_served == n;
}

static void try_model(const char *folder)
{
    model m = {0};
    ln_context *fixed = ln_context_create();
    read_model(&m, folder);
    if (!read_inputs(&m, folder) && !compile(fixed, &m, &(axes){{0}}, 0, 0) && !run(fixed, &m))
        try_all(&m, fixed, folder);
    ln_context_free(fixed);
    free_model(&m);
}

START_TEST(models_with_open_sizes_give_the_bits_of_fixed_ones)
{
    glob_t found;
    char pattern[sizeof(data_folder) + 32];
    snprintf(pattern, sizeof(pattern), "%s/node/test_*", data_folder);
    if (glob(pattern, 0, NULL, &found)) {
        ln_check_skip("ONNX's own test data is not installed");
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        try_model(found.gl_pathv[i]);
    globfree(&found);
    printf("# %d of %d models serve each open axis with one program, %d of %d axes\n",
           count.served_models, count.models, count.same, count.axes);
    ck_assert_int_gt(count.models, 700);
    ck_assert_int_ge(count.served_models * 100, count.models * 95);
}
END_TEST

LN_TEST_MAIN("ONNX's test data with open sizes", models_with_open_sizes_give_the_bits_of_fixed_ones)
