// SPDX-License-Identifier: Apache-2.0
// The models of ONNX's own test data, with sizes left open: each gives the bits that it gives with
// fixed ones, or is rejected.

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "ln_onnx.pb-c.h"

static const char data_folder[] = "/usr/share/libonnx-testdata/data";

enum { MAX_INPUTS = 16, FAR = 256, ALL_AXES = -1 };

// A model, and what its inputs are given.
typedef struct model {
    LnOnnx__Model *proto;
    unsigned char *bytes; // of the model without sizes
    size_t size;
    tl_tensor *inputs[MAX_INPUTS];
    int n_inputs;
} model;

// How the models fared.
static struct {
    int same, rejected;
} count;

// Models

static void forget_sizes(LnOnnx__ValueInfo *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const LnOnnx__TensorType *type = values[i]->type ? values[i]->type->tensor_type : NULL;
        for (size_t k = 0; type && type->shape && k < type->shape->n_dim; k++)
            type->shape->dim[k]->has_dim_value = 0;
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

// Which sizes are open; input -1: none.
typedef struct opening {
    int input, axis;
} opening;

static int bind(ln_context *ctx, const model *m, int i, const opening *o)
{
    const tl_tensor *t = m->inputs[i];
    int min[TL_MAXDIM], max[TL_MAXDIM];
    for (int k = 0; k < t->ndim; k++) {
        const int is_open = i == o->input && (o->axis == ALL_AXES || o->axis == k) && t->dims[k];
        min[k] = is_open ? 1 : t->dims[k];
        max[k] = !is_open ? t->dims[k] : o->axis == ALL_AXES ? 2 * t->dims[k] + 1 : FAR;
    }
    return o->input < 0 ? ln_context_bind_shape(ctx, input_name(m, i), t->ndim, t->dims)
                        : ln_context_bind_range(ctx, input_name(m, i), t->ndim, min, max);
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

static int run(ln_context *ctx, const model *m, const opening *o)
{
    for (int i = 0; i < m->n_inputs; i++)
        if (bind(ctx, m, i, o))
            return -1;
    if (ln_context_init_text(ctx, "m.onnx", (const char *)m->bytes, m->size) ||
        ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL))
        return -1;
    for (int i = 0; i < m->n_inputs; i++)
        if (set(ctx, m, i))
            return -1;
    return ln_context_run(ctx);
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

static void try_open(const model *m, ln_context *fixed, const opening *o, const char *folder)
{
    char what[600];
    const char *name;
    ln_context *open = ln_context_create();
    snprintf(what, sizeof(what), "%s with input %d, axis %d open", folder, o->input, o->axis);
    if (run(open, m, o)) {
        ck_assert_msg(*ln_context_error(open), "%s: no reason", what);
        count.rejected++;
    } else {
        LN_LIST_FOREACH(name, open->outputs)
        {
            compare_output(open, fixed, name, what);
        }
        count.same++;
    }
    ln_context_free(open);
}

static void try_all(const model *m, ln_context *fixed, const char *folder)
{
    for (int i = 0; i < m->n_inputs; i++)
        for (int axis = ALL_AXES; axis < m->inputs[i]->ndim; axis++)
            if (axis == ALL_AXES ? m->inputs[i]->len > 0 : m->inputs[i]->dims[axis] > 0)
                try_open(m, fixed, &(opening){i, axis}, folder);
}

static void try_model(const char *folder)
{
    model m = {0};
    ln_context *fixed = ln_context_create();
    read_model(&m, folder);
    if (!read_inputs(&m, folder) && !run(fixed, &m, &(opening){-1, 0}))
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
    ck_assert_int_gt(count.same, 1000);
    ck_assert_int_gt(count.rejected, 100);
}
END_TEST

LN_TEST_MAIN("ONNX's test data with open sizes", models_with_open_sizes_give_the_bits_of_fixed_ones)
