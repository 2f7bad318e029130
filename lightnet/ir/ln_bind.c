// SPDX-License-Identifier: Apache-2.0
// Shapes and values of a model's inputs that were set before it is read.

#include "ir/ln_bind.h"

#include "base/ln_array.h"
#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_elementwise.h"

typedef struct binding {
    char *name; // NULL: of the next input in order
    tl_tensor *tensor;
    int *min;               // the min shape of a range, whose max is the tensor's shape; or NULL
    char *sizes[LN_MAXDIM]; // the names of these sizes, or NULL
    int is_list;            // a sequence or an optional value, without `tensor`
    char *sum;              // of other sizes, without `tensor`; or NULL
    tl_tensor **items;
    int n_items; // -1: an absent optional value
    int is_used; // the reader has asked for it; only in the last binding of a name
} binding;

// All bindings.
struct ln_bindings {
    ln_list *all, *last; // in order
    ln_hash *named;      // name -> the last binding of it
    binding **unnamed;   // in order
    size_t n_unnamed;
    int wants_values;
    int offers;                    // bits of ln_bind_offer
    ln_missing_func *missing_func; // or NULL
    void *missing_data;
};

static void clear_binding(binding *b)
{
    for (int i = 0; b->items && i < b->n_items; i++)
        tl_tensor_free_data_too(b->items[i]);
    ln_free(b->items);
    for (int i = 0; i < LN_MAXDIM; i++)
        ln_free(b->sizes[i]);
    tl_tensor_free_data_too(b->tensor);
    ln_free(b->sum);
    ln_free(b->min);
    ln_free(b->name);
}

static void free_binding(void *data)
{
    clear_binding(data);
    ln_free(data);
}

// NULL: no memory.
static struct ln_bindings *bindings_of(ln_context *ctx)
{
    if (ctx->bound)
        return ctx->bound;
    struct ln_bindings *made = ln_alloc(sizeof(*made));
    if (made)
        made->named = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (made && made->named)
        return ctx->bound = made;
    ln_free(made);
    return NULL;
}

static int enter_unnamed(struct ln_bindings *all, binding *b)
{
    if (ln_array_grow(&all->unnamed, all->n_unnamed, sizeof(*all->unnamed)))
        return -1;
    all->unnamed[all->n_unnamed++] = b;
    return 0;
}

// Takes the contents of the binding, except its name. `name` NULL: of the next input.
static int bind(ln_context *ctx, const char *name, const binding *contents)
{
    struct ln_bindings *all = bindings_of(ctx);
    binding *b = ln_clone(contents, sizeof(*contents));
    if (!b) {
        binding own = *contents;
        clear_binding(&own);
        return ln_fail_last(ctx);
    }
    b->name = ln_strdup(name);
    ln_list *node = !all || (name && !b->name) ? NULL : ln_list_prepend(NULL, b);
    if (!node || (name ? ln_hash_insert(all->named, b->name, b) < 0 : enter_unnamed(all, b))) {
        ln_list_free(node);
        free_binding(b);
        return ln_fail_last(ctx);
    }
    ln_list_extend(&all->all, &all->last, node);
    return 0;
}

int ln_context_bind_shape(ln_context *ctx, const char *name, int ndim, const int *dims)
{
    ln_context_clear_error(ctx);
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, TL_FLOAT);
    return tensor ? bind(ctx, name, &(binding){.tensor = tensor}) : ln_fail_tl(ctx);
}

int ln_context_bind_range(ln_context *ctx, const char *name, int ndim, const int *min,
                          const int *max)
{
    ln_context_clear_error(ctx);
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, max, TL_FLOAT);
    if (!tensor)
        return ln_fail_tl(ctx);
    for (int i = 0; i < ndim; i++)
        if (min[i] < 0 || min[i] > max[i]) {
            tl_tensor_free(tensor);
            return ln_fail(ctx, "axis %d of '%s' has range %d to %d, expected 0 <= min <= max", i,
                           name, min[i], max[i]);
        }
    int *copy = ln_clone(min, (size_t)ndim * sizeof(*min));
    if (!copy) {
        tl_tensor_free(tensor);
        return ln_fail_last(ctx);
    }
    return bind(ctx, name, &(binding){.tensor = tensor, .min = copy});
}

int ln_context_bind_sum(ln_context *ctx, const char *name, const char *sum)
{
    ln_context_clear_error(ctx);
    char *const copy = ln_strdup(sum);
    return copy ? bind(ctx, name, &(binding){.sum = copy}) : ln_fail_last(ctx);
}

int ln_context_bind_input(ln_context *ctx, const char *name, const tl_tensor *value)
{
    ln_context_clear_error(ctx);
    tl_tensor *copy = value ? tl_tensor_clone(value) : NULL;
    return value && !copy ? ln_fail_tl(ctx) : bind(ctx, name, &(binding){.tensor = copy});
}

static tl_tensor *copy_item(const tl_tensor *t)
{
    return t->data ? tl_tensor_clone(t) : tl_tensor_create(NULL, t->ndim, t->dims, t->dtype);
}

int ln_context_bind_sequence(ln_context *ctx, const char *name, int n,
                             const tl_tensor *const *tensors)
{
    binding list = {.is_list = 1, .n_items = n < 0 ? -1 : 0};
    ln_context_clear_error(ctx);
    if (n > 0 && !(list.items = ln_alloc_array((size_t)n, sizeof(*list.items))))
        return ln_fail_last(ctx);
    while (list.n_items < n && (list.items[list.n_items] = copy_item(tensors[list.n_items])))
        list.n_items++;
    if (list.n_items == n || n < 0)
        return bind(ctx, name, &list);
    clear_binding(&list);
    return ln_fail_tl(ctx);
}

// Ignores a failed allocation: the message names the missing input anyway.
void ln_bind_want_values(ln_context *ctx)
{
    struct ln_bindings *all = bindings_of(ctx);
    if (all)
        all->wants_values = 1;
}

int ln_bind_wants_values(const ln_context *ctx)
{
    return ctx->bound && ctx->bound->wants_values;
}

void ln_bind_drop_wish(ln_context *ctx)
{
    if (ctx->bound)
        ctx->bound->wants_values = 0;
}

int ln_bind_set_offers(ln_context *ctx, int offers)
{
    struct ln_bindings *all = bindings_of(ctx);
    if (!all)
        return ln_fail_last(ctx);
    all->offers = offers;
    return 0;
}

int ln_bind_has_offer(const ln_context *ctx, ln_bind_offer offer)
{
    return ctx->bound && (ctx->bound->offers & (int)offer) != 0;
}

static const binding *find_named(const ln_context *ctx, const char *name)
{
    binding *b = ctx->bound ? ln_hash_find(ctx->bound->named, name) : NULL;
    if (b)
        b->is_used = 1;
    return b;
}

// Not after ln_context_bind_input with NULL.
static int is_bound(const binding *b)
{
    return b->tensor || b->is_list;
}

static const binding *find(const ln_context *ctx, const char *name, int index)
{
    const struct ln_bindings *all = ctx->bound;
    const binding *named = find_named(ctx, name);
    if (named && is_bound(named))
        return named;
    return all && index >= 0 && (size_t)index < all->n_unnamed ? all->unnamed[index] : NULL;
}

int ln_bind_has(const ln_context *ctx, const char *name)
{
    const binding *b = find_named(ctx, name);
    return b && is_bound(b);
}

int ln_bind_find_list(const ln_context *ctx, const char *name, int index,
                      const tl_tensor *const **items, int *n)
{
    const binding *b = find(ctx, name, index);
    if (!b || !b->is_list)
        return 0;
    *items = (const tl_tensor *const *)b->items;
    *n = b->n_items;
    return 1;
}

const tl_tensor *ln_bind_find(const ln_context *ctx, const char *name, int index)
{
    const binding *b = find(ctx, name, index);
    return b ? b->tensor : NULL;
}

const int *ln_bind_min(const ln_context *ctx, const char *name, int index)
{
    const binding *b = find(ctx, name, index);
    return b ? b->min : NULL;
}

int ln_bind_name_sizes(ln_context *ctx, const char *name, const char *const *sizes)
{
    binding *const b = ln_hash_find(ctx->bound->named, name);
    for (int i = 0; i < b->tensor->ndim; i++) {
        ln_free(b->sizes[i]);
        if (!(b->sizes[i] = ln_strdup(sizes[i])))
            return ln_fail_memory(ctx);
    }
    return 0;
}

const char *const *ln_bind_sizes(const ln_context *ctx, const char *name)
{
    const binding *b = find_named(ctx, name);
    return b && b->tensor && b->sizes[0] ? (const char *const *)b->sizes : NULL;
}

const char *ln_bind_sum(const ln_context *ctx, const char *name)
{
    const binding *const b = find_named(ctx, name);
    return b ? b->sum : NULL;
}

// Whether the model has read the name, which the last binding records.
static int is_used(const ln_context *ctx, const binding *b)
{
    return ((const binding *)ln_hash_find(ctx->bound->named, b->name))->is_used;
}

static int is_unused_shape(const ln_context *ctx, const binding *b)
{
    return b->name && (b->sum || (b->tensor && !b->tensor->data)) && !is_used(ctx, b);
}

const char *ln_bind_unused(const ln_context *ctx)
{
    LN_FOREACH (const binding *, b, ctx->bound ? ctx->bound->all : NULL)
        if (is_unused_shape(ctx, b))
            return b->name;
    return NULL;
}

void ln_bind_warn(const ln_context *ctx)
{
    LN_FOREACH (const binding *, b, ctx->bound ? ctx->bound->all : NULL)
        if (is_unused_shape(ctx, b))
            ln_warn(ctx,
                    "%s: the shape for '%s' has no effect: no input and no size of that name is "
                    "open",
                    ctx->source, b->name);
}

// Allowed shapes

const char *ln_bind_sprint(char *text, size_t size, int ndim, const int *min, const int *max)
{
    size_t len = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < ndim && len < size; i++) {
        len +=
            (size_t)snprintf(text + len, size - len, "%s%d", i ? ", " : "", min ? min[i] : max[i]);
        if (min && min[i] < max[i] && len < size)
            len += (size_t)snprintf(text + len, size - len, "..%d", max[i]);
    }
    if (len < size)
        snprintf(text + len, size - len, "]");
    return text;
}

// The shapes that an input may have.
typedef struct allowed {
    const char *name;
    int ndim;
    const int *min, *max;
} allowed;

static allowed allowed_of(const ln_tensor_entry *te)
{
    const ln_op *producer = ln_entry_creater(te);
    const int *min = producer ? ln_placeholder_min(producer) : NULL;
    return (allowed){te->name, te->tensor->ndim, min ? min : te->tensor->dims,
                     min ? ln_placeholder_max(producer) : te->tensor->dims};
}

static int min_of(const binding *b, int axis)
{
    return b->min ? b->min[axis] : b->tensor->dims[axis];
}

static int check_input(const ln_context *ctx, const binding *b, const allowed *in)
{
    char given[LN_MAX_SHAPE], expected[LN_MAX_SHAPE];
    int fits = b->tensor->ndim == in->ndim;
    for (int i = 0; i < in->ndim && fits; i++)
        fits = min_of(b, i) >= in->min[i] && b->tensor->dims[i] <= in->max[i];
    if (fits)
        return 0;
    return ln_fail_as(
        ctx, LN_BAD_ARGUMENT, "%s: input '%s' is given with shape %s, expected %s", ctx->source,
        in->name, ln_bind_sprint(given, sizeof(given), b->tensor->ndim, b->min, b->tensor->dims),
        ln_bind_sprint(expected, sizeof(expected), in->ndim, in->min, in->max));
}

static int check_size(const ln_context *ctx, const binding *b, const allowed *in, int axis)
{
    const int min = in->min[axis], max = in->max[axis];
    char given[LN_MAX_SHAPE], expected[LN_MAX_SHAPE];
    if (b->tensor->ndim == 1 && min_of(b, 0) >= min && b->tensor->dims[0] <= max)
        return 0;
    return ln_fail_as(
        ctx, LN_BAD_ARGUMENT, "%s: size '%s' is given as %s, expected %s", ctx->source, b->name,
        ln_bind_sprint(given, sizeof(given), b->tensor->ndim, b->min, b->tensor->dims),
        ln_bind_sprint(expected, sizeof(expected), 1, &min, &max));
}

// Checks all axes of the input that have the binding's name. Returns their number, or -1.
static int check_named(const ln_context *ctx, const binding *b, const char *input)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, input);
    if (!te)
        return 0;
    const allowed in = allowed_of(te);
    const ln_open_sizes *sizes = ln_fixed_sizes_of(ctx->fixed, input, in.ndim);
    int n = 0;
    for (int i = 0; sizes && i < in.ndim; i++) {
        if (!ln_streq(sizes->names[i], b->name))
            continue;
        if (check_size(ctx, b, &in, i))
            return -1;
        n++;
    }
    return n;
}

static int check_sizes(const ln_context *ctx, const binding *b)
{
    int n = 0;
    LN_FOREACH (const char *, input, ctx->inputs) {
        const int more = check_named(ctx, b, input);
        if (more < 0)
            return -1;
        n += more;
    }
    return n ? 0
             : ln_fail_as(ctx, LN_NOT_FOUND,
                          "%s: a shape is given for '%s', but the model has no input and no open "
                          "size of that name",
                          ctx->source, b->name);
}

static int check(const ln_context *ctx, const binding *b)
{
    if (b->sum)
        return ln_fail_as(ctx, LN_NOT_FOUND,
                          "%s: size '%s' is given as '%s', but the model has no open size of that "
                          "name",
                          ctx->source, b->name, b->sum);
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, b->name);
    const ln_op *producer = te ? ln_entry_creater(te) : NULL;
    if (!producer || !ln_produces_inputs(producer->op_arg->optype))
        return check_sizes(ctx, b);
    const allowed in = allowed_of(te);
    return check_input(ctx, b, &in);
}

// Converts a value to the tensor's type first, as setting it does.
static int check_value(const ln_context *ctx, const char *name, const tl_tensor *value)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
    if (!ln_fixed_find(ctx->fixed, name))
        return 0;
    tl_tensor *const same = te ? tl_tensor_cast(value, NULL, te->tensor->dtype) : NULL;
    const tl_tensor *const t = same ? same : value;
    const int status =
        ln_fixed_check_hash(ctx, name, ln_elements_hash(t->data, t->dtype, (size_t)t->len));
    tl_tensor_free_data_too(same);
    return status;
}

// A sequence is one binding and several inputs, so values beside sequences are not checked here.
static int check_values(const ln_context *ctx)
{
    int index = 0;
    LN_FOREACH (const char *, name, ln_fixed_has_values(ctx->fixed, 0) ? NULL : ctx->inputs) {
        const tl_tensor *value = ln_bind_find(ctx, name, index);
        index += !ln_bind_has(ctx, name);
        if (value && value->data && check_value(ctx, name, value))
            return ln_fail_at(ctx, "%s", ctx->source);
    }
    return 0;
}

int ln_bind_check(const ln_context *ctx)
{
    LN_FOREACH (const binding *, b, ctx->bound ? ctx->bound->all : NULL)
        if (is_unused_shape(ctx, b) && check(ctx, b))
            return -1;
    return check_values(ctx);
}

int ln_context_bind_file(ln_context *ctx, const char *datafile)
{
    ln_context_clear_error(ctx);
    char *copy = ln_strdup(datafile);
    if (!copy)
        return ln_fail_memory(ctx);
    ln_free(ctx->datafile);
    ctx->datafile = copy;
    return 0;
}

int ln_context_allow_folder(ln_context *ctx, const char *folder)
{
    ln_context_clear_error(ctx);
    if (ln_beneath_check_folder(folder, ctx->error))
        return -1;
    return ln_list_add(&ctx->folders, ln_strdup(folder), ln_free) ? ln_fail_memory(ctx) : 0;
}

int ln_bind_add_param(ln_context *ctx, const char *name, const tl_tensor *like)
{
    if (!ctx->params)
        ctx->params = ln_weights_create();
    tl_tensor *record =
        ctx->params ? tl_tensor_create(NULL, like->ndim, like->dims, like->dtype) : NULL;
    if (record && !ln_weights_add(ctx->params, name, record, 0))
        return 0;
    tl_tensor_free(record);
    return ln_fail_memory(ctx);
}

const tl_tensor *ln_bind_param(const ln_context *ctx, const char *name)
{
    const ln_weight *param = ln_weights_find(ctx->params, name);
    return param ? param->tensor : NULL;
}

int ln_context_set_missing(ln_context *ctx, ln_missing_func *func, void *data)
{
    struct ln_bindings *all = bindings_of(ctx);
    if (!all)
        return ln_fail_last(ctx);
    all->missing_func = func;
    all->missing_data = data;
    return 0;
}

void ln_bind_report_missing(const ln_context *ctx, const ln_missing_op *op)
{
    if (ctx->bound && ctx->bound->missing_func)
        ctx->bound->missing_func(ctx->bound->missing_data, op);
}

void ln_bind_free(ln_context *ctx)
{
    if (ctx->bound) {
        ln_hash_free(ctx->bound->named);
        ln_free(ctx->bound->unnamed);
        ln_list_free_deep(ctx->bound->all, free_binding);
        ln_free(ctx->bound);
    }
    ctx->bound = NULL;
    ln_free(ctx->datafile);
    ctx->datafile = NULL;
    ln_weights_free(ctx->params);
    ctx->params = NULL;
    ln_list_free_deep(ctx->folders, ln_free);
    ctx->folders = NULL;
    ln_free(ctx->output_folder);
    ctx->output_folder = NULL;
}
