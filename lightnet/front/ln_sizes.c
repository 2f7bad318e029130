// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: relations of sizes that are known only at run time.
//
// Each operator is noted once, after those that it reads from, so that nothing is followed back
// through the model. An operator that no row knows makes new symbols: its sizes are unlike all
// others.

#include "front/ln_sizes.h"

#include <limits.h>
#include <string.h>

#include "base/ln_name.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_shape.h"

// An open length.
struct symbol {
    int64_t min, max;
};

// The symbolic sizes of a tensor, or of its elements.
typedef struct record {
    ln_size axes[LN_MAXDIM];     // of one whose sizes are open
    ln_size elements[LN_MAXDIM]; // of integers that are computed from sizes
    int has_axes, n_elements;
} record;

struct ln_sizes {
    const ln_context *ctx;
    ln_hash *records; // tensor name -> record
    struct symbol *symbols;
    int n_symbols, capacity;
};

// An operator that is noted.
typedef struct noted {
    ln_sizes *sizes;
    const ln_op *op;
    const tl_tensor *dst;
    ln_sizes_value value;
    void *data;
} noted;

// Sums

static ln_size known_size(int64_t number)
{
    return (ln_size){.is_known = 1, .plus = number};
}

int ln_size_is_number(const ln_size *size)
{
    return size->is_known && size->n == 0;
}

int ln_size_equals(const ln_size *a, const ln_size *b)
{
    if (!a->is_known || !b->is_known || a->n != b->n || a->plus != b->plus)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (a->terms[i].symbol != b->terms[i].symbol || a->terms[i].times != b->terms[i].times)
            return 0;
    return 1;
}

// Far more than a length, and so little that sums of a few do not overflow.
static int is_small(int64_t number)
{
    return number > -((int64_t)1 << 40) && number < (int64_t)1 << 40;
}

static void add_term(ln_size *sum, int which, int64_t times)
{
    int i = 0;
    while (i < sum->n && sum->terms[i].symbol < which)
        i++;
    if (i < sum->n && sum->terms[i].symbol == which) {
        sum->terms[i].times += times;
        if (sum->terms[i].times == 0)
            memmove(&sum->terms[i], &sum->terms[i + 1],
                    (size_t)(--sum->n - i) * sizeof(sum->terms[0]));
        return;
    }
    if (sum->n == LN_SIZE_TERMS) {
        sum->is_known = 0;
        return;
    }
    memmove(&sum->terms[i + 1], &sum->terms[i], (size_t)(sum->n++ - i) * sizeof(sum->terms[0]));
    sum->terms[i] = (struct ln_size_term){which, times};
}

ln_size ln_size_sum(const ln_size *a, const ln_size *b, int64_t times)
{
    ln_size sum = *a;
    if (!a->is_known || !b->is_known || !is_small(a->plus) || !is_small(b->plus) || times > 4096 ||
        times < -4096)
        return (ln_size){0};
    sum.plus += times * b->plus;
    for (int i = 0; i < b->n && times && sum.is_known; i++) {
        if (!is_small(b->terms[i].times))
            return (ln_size){0};
        add_term(&sum, b->terms[i].symbol, times * b->terms[i].times);
    }
    return sum.is_known ? sum : (ln_size){0};
}

static int64_t cut(int64_t number)
{
    return number < INT_MIN ? INT_MIN : number > INT_MAX ? INT_MAX : number;
}

static int64_t extreme(const ln_sizes *sizes, const ln_size *size, int max)
{
    int64_t sum = cut(size->plus);
    for (int i = 0; i < size->n; i++) {
        const struct symbol *s = &sizes->symbols[size->terms[i].symbol];
        const int64_t times = cut(size->terms[i].times);
        sum = cut(sum + cut(times * ((times > 0) == max ? s->max : s->min)));
    }
    return sum;
}

int64_t ln_sizes_min(const ln_sizes *sizes, const ln_size *size)
{
    return extreme(sizes, size, 0);
}

int64_t ln_sizes_max(const ln_sizes *sizes, const ln_size *size)
{
    return extreme(sizes, size, 1);
}

// Records

ln_sizes *ln_sizes_create(const ln_context *ctx)
{
    ln_sizes *sizes = ln_alloc(sizeof(*sizes));
    if (!sizes)
        return NULL;
    *sizes = (ln_sizes){.ctx = ctx,
                        .records = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, ln_free)};
    if (sizes->records)
        return sizes;
    ln_free(sizes);
    return NULL;
}

void ln_sizes_free(ln_sizes *sizes)
{
    if (!sizes)
        return;
    ln_hash_free(sizes->records);
    ln_free(sizes->symbols);
    ln_free(sizes);
}

static const tl_tensor *tensor_of(const ln_sizes *sizes, const char *tensor)
{
    return ln_tensor_table_find(sizes->ctx->tensor_table, tensor)->tensor;
}

ln_size ln_sizes_axis(const ln_sizes *sizes, const char *tensor, int i)
{
    const record *r = ln_hash_find(sizes->records, tensor);
    if (r && r->has_axes)
        return r->axes[i];
    const ln_tensor_entry *te = ln_tensor_table_find(sizes->ctx->tensor_table, tensor);
    return ln_dynamic_is_open(te, i) ? (ln_size){0} : known_size(te->tensor->dims[i]);
}

int ln_sizes_has_elements(const ln_sizes *sizes, const char *tensor)
{
    const record *r = ln_hash_find(sizes->records, tensor);
    return r && r->n_elements;
}

ln_size ln_sizes_element(const ln_sizes *sizes, const char *tensor, int i, ln_sizes_value value,
                         void *data)
{
    const record *r = ln_hash_find(sizes->records, tensor);
    if (r && r->n_elements)
        return i < r->n_elements ? r->elements[i] : (ln_size){0};
    const tl_tensor *t = value(data, tensor);
    if (!t || i >= t->len)
        return (ln_size){0};
    if (t->dtype == TL_INT64)
        return known_size(((const int64_t *)t->data)[i]);
    return t->dtype == TL_INT32 ? known_size(((const int32_t *)t->data)[i]) : (ln_size){0};
}

// -1: no memory.
static int new_symbol(ln_sizes *sizes, int64_t min, int64_t max, ln_size *size)
{
    if (sizes->n_symbols == sizes->capacity) {
        const int more = sizes->capacity ? 2 * sizes->capacity : 16;
        struct symbol *grown = ln_realloc(sizes->symbols, (size_t)more * sizeof(*grown));
        if (!grown)
            return -1;
        sizes->symbols = grown;
        sizes->capacity = more;
    }
    sizes->symbols[sizes->n_symbols] = (struct symbol){min, max};
    *size = (ln_size){.is_known = 1, .n = 1, .terms = {{sizes->n_symbols++, 1}}};
    return 0;
}

// Queries of rows on the operator

static const char *input(const noted *n, const char *arg_name)
{
    return ln_tensor_list_find_name(n->op->op_arg->tensors_in, arg_name);
}

static const char *first_input(const noted *n)
{
    const ln_list *ins = n->op->op_arg->tensors_in;
    return ins ? ((const ln_tensor_list_entry *)ins->data)->name : NULL;
}

static int ndim_of(const noted *n, const char *tensor)
{
    return tensor_of(n->sizes, tensor)->ndim;
}

static const ln_param_entry *param(const noted *n, const char *arg_name)
{
    return ln_param_list_find(n->op->op_arg->params, arg_name);
}

static int int_param(const noted *n, const char *arg_name)
{
    const ln_param_entry *pe = param(n, arg_name);
    return pe ? pe->value_int : 0;
}

static ln_size element_of(const noted *n, const char *tensor, int i)
{
    return ln_sizes_element(n->sizes, tensor, i, n->value, n->data);
}

// Axes: one function per kind of operator; an axis left unknown becomes a new symbol.

typedef void (*axes_func)(const noted *n, ln_size *axes);

static void axes_of_placeholder(const noted *n, ln_size *axes)
{
    const ln_param_entry *min = param(n, "least"), *dims = param(n, "dims");
    for (int i = 0; i < n->dst->ndim; i++)
        if (min && min->array_len == dims->array_len &&
            min->value_array_int[i] == dims->value_array_int[i])
            axes[i] = known_size(dims->value_array_int[i]);
}

static void axes_of_same(const noted *n, ln_size *axes)
{
    for (int i = 0; i < n->dst->ndim; i++)
        axes[i] = ln_sizes_axis(n->sizes, first_input(n), i);
}

// The first axis of images, and of results computed from them, is the batch.
static void axes_of_batch(const noted *n, ln_size *axes)
{
    axes[0] = ln_sizes_axis(n->sizes, first_input(n), 0);
}

// Of lengths of which each is the common one or 1.
static void broadcast(ln_size *common, const ln_size *next)
{
    const ln_size one = known_size(1);
    if (ln_size_equals(next, &one) || ln_size_equals(common, next) || ln_size_is_number(common))
        *common = ln_size_equals(common, &one) ? *next : *common;
    else if (ln_size_is_number(next) || ln_size_equals(common, &one))
        *common = *next;
    else
        *common = (ln_size){0};
}

static void axes_of_broadcast(const noted *n, ln_size *axes)
{
    const ln_tensor_list_entry *tle;
    for (int i = 0; i < n->dst->ndim; i++) {
        axes[i] = known_size(1);
        LN_LIST_FOREACH(tle, n->op->op_arg->tensors_in)
        {
            const int own = i - (n->dst->ndim - ndim_of(n, tle->name));
            const ln_size next = own < 0 ? known_size(1) : ln_sizes_axis(n->sizes, tle->name, own);
            if (!axes[i].is_known)
                break;
            broadcast(&axes[i], &next);
        }
    }
}

static void axes_of_matmul(const noted *n, ln_size *axes)
{
    const char *const src1 = input(n, "src1"), *const src2 = input(n, "src2");
    const int ndim1 = ndim_of(n, src1), ndim2 = ndim_of(n, src2), ndim = n->dst->ndim;
    if (ndim1 < 2 || ndim2 < 2)
        return;
    for (int i = 0; i < ndim - 2; i++) {
        const int own1 = i - (ndim - ndim1), own2 = i - (ndim - ndim2);
        const ln_size next = own2 < 0 ? known_size(1) : ln_sizes_axis(n->sizes, src2, own2);
        axes[i] = own1 < 0 ? known_size(1) : ln_sizes_axis(n->sizes, src1, own1);
        broadcast(&axes[i], &next);
    }
    const ln_param_entry *trans1 = param(n, "trans1"), *trans2 = param(n, "trans2");
    axes[ndim - 2] = ln_sizes_axis(n->sizes, src1, ndim1 - (trans1 && trans1->value_bool ? 1 : 2));
    axes[ndim - 1] = ln_sizes_axis(n->sizes, src2, ndim2 - (trans2 && trans2->value_bool ? 2 : 1));
}

static void axes_of_transpose(const noted *n, ln_size *axes)
{
    const ln_param_entry *perm = param(n, "axes");
    for (int i = 0; perm && i < n->dst->ndim && i < perm->array_len; i++)
        axes[i] = ln_sizes_axis(n->sizes, first_input(n), perm->value_array_int[i]);
}

static void axes_of_view(const noted *n, ln_size *axes)
{
    const ln_param_entry *dims = param(n, "dims");
    for (int i = 0; dims && i < n->dst->ndim && i < dims->array_len; i++)
        if (dims->value_array_int[i] >= 0)
            axes[i] = known_size(dims->value_array_int[i]);
        else if (dims->value_array_int[i] == -2)
            axes[i] = ln_sizes_axis(n->sizes, first_input(n), i);
}

static void axes_of_join(const noted *n, ln_size *axes)
{
    const ln_tensor_list_entry *tle;
    const int axis = int_param(n, "axis");
    axes_of_same(n, axes);
    axes[axis] = known_size(0);
    LN_LIST_FOREACH(tle, n->op->op_arg->tensors_in)
    {
        const ln_size next = ln_sizes_axis(n->sizes, tle->name, axis);
        axes[axis] = ln_size_sum(&axes[axis], &next, 1);
    }
}

static void axes_of_take(const noted *n, ln_size *axes)
{
    const char *const src = input(n, "src"), *const index = input(n, "index");
    const int axis = int_param(n, "axis"), n_index = ndim_of(n, index);
    for (int i = 0; i < n->dst->ndim; i++) {
        const int in_index = i - axis;
        if (in_index >= 0 && in_index < n_index)
            axes[i] = ln_sizes_axis(n->sizes, index, in_index);
        else
            axes[i] = ln_sizes_axis(n->sizes, src, in_index < 0 ? i : i - n_index + 1);
    }
}

static int is_among(const ln_param_entry *list, int axis)
{
    for (int i = 0; list && i < list->array_len; i++)
        if (list->value_array_int[i] == axis)
            return 1;
    return 0;
}

static void axes_of_expand(const noted *n, ln_size *axes)
{
    const char *const src = input(n, "src"), *const dims_now = input(n, "dims_now");
    const ln_param_entry *dims = param(n, "dims");
    for (int i = 0; dims && i < n->dst->ndim; i++) {
        const int own = i - (n->dst->ndim - ndim_of(n, src));
        const int wanted = i - (n->dst->ndim - dims->array_len);
        const ln_size next = wanted < 0 ? known_size(1)
                             : dims_now ? element_of(n, dims_now, wanted)
                                        : known_size(dims->value_array_int[wanted]);
        axes[i] = own < 0 ? known_size(1) : ln_sizes_axis(n->sizes, src, own);
        broadcast(&axes[i], &next);
    }
}

static void axes_of_squeeze(const noted *n, ln_size *axes)
{
    const ln_param_entry *gone = param(n, "axes");
    for (int i = 0, own = 0; i < ndim_of(n, first_input(n)) && own < n->dst->ndim; i++)
        if (!is_among(gone, i))
            axes[own++] = ln_sizes_axis(n->sizes, first_input(n), i);
}

static void axes_of_unsqueeze(const noted *n, ln_size *axes)
{
    const ln_param_entry *added = param(n, "axes");
    for (int i = 0, own = 0; i < n->dst->ndim; i++)
        axes[i] =
            is_among(added, i) ? known_size(1) : ln_sizes_axis(n->sizes, first_input(n), own++);
}

static void axes_of_reduce(const noted *n, ln_size *axes)
{
    const char *const src = first_input(n);
    const ln_param_entry *reduced = param(n, "axes"), *keepdims = param(n, "keepdims");
    for (int i = 0, own = 0; i < ndim_of(n, src) && own < n->dst->ndim; i++)
        if (!is_among(reduced, i) && !is_among(reduced, i - ndim_of(n, src)))
            axes[own++] = ln_sizes_axis(n->sizes, src, i);
        else if (!keepdims || keepdims->value_bool)
            axes[own++] = known_size(1);
}

static void axes_of_slice(const noted *n, ln_size *axes)
{
    const ln_param_entry *cut_axes = param(n, "axes");
    for (int i = 0; i < n->dst->ndim; i++)
        if (!is_among(cut_axes, i))
            axes[i] = ln_sizes_axis(n->sizes, first_input(n), i);
}

static void axes_of_reshape_to(const noted *n, ln_size *axes)
{
    for (int i = 0; i < n->dst->ndim; i++) {
        const ln_size wanted = element_of(n, input(n, "shape"), i);
        if (wanted.is_known && ln_sizes_min(n->sizes, &wanted) > 0)
            axes[i] = wanted;
    }
}

// In steps of 1, from start to a limit that is never below it.
static void axes_of_range(const noted *n, ln_size *axes)
{
    const ln_size start = element_of(n, input(n, "start"), 0);
    const ln_size limit = element_of(n, input(n, "limit"), 0);
    const ln_size delta = element_of(n, input(n, "delta"), 0);
    const ln_size len = ln_size_sum(&limit, &start, -1);
    if (ln_size_is_number(&delta) && delta.plus == 1 && len.is_known &&
        ln_sizes_min(n->sizes, &len) >= 0)
        axes[0] = len;
}

// Elements

typedef ln_size (*element_func)(const noted *n, int i);

static ln_size element_of_shape(const noted *n, int i)
{
    return ln_sizes_axis(n->sizes, first_input(n), int_param(n, "start") + i);
}

static ln_size element_of_same(const noted *n, int i)
{
    return element_of(n, first_input(n), i);
}

static ln_size element_of_take(const noted *n, int i)
{
    const char *const src = input(n, "src");
    const ln_size at = element_of(n, input(n, "index"), i);
    const tl_tensor *t = tensor_of(n->sizes, src);
    if (!ln_size_is_number(&at) || t->ndim != 1 || at.plus < -t->len || at.plus >= t->len)
        return (ln_size){0};
    return element_of(n, src, (int)(at.plus < 0 ? at.plus + t->len : at.plus));
}

static ln_size element_of_join(const noted *n, int i)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, n->op->op_arg->tensors_in)
    {
        const int len = tensor_of(n->sizes, tle->name)->len;
        if (i < len)
            return element_of(n, tle->name, i);
        i -= len;
    }
    return (ln_size){0};
}

static ln_size element_of_slice(const noted *n, int i)
{
    const ln_param_entry *starts = param(n, "starts"), *ends = param(n, "ends");
    const ln_param_entry *steps = param(n, "steps");
    const tl_tensor *t = tensor_of(n->sizes, first_input(n));
    int first;
    if (n->op->op_arg->tensors_in->next || t->ndim != 1 || !steps || steps->array_len != 1)
        return (ln_size){0};
    tl_slice_length(t->len, starts->value_array_int[0], ends->value_array_int[0],
                    steps->value_array_int[0], &first);
    return element_of(n, first_input(n), first + i * steps->value_array_int[0]);
}

static ln_size element_of_binary(const noted *n, int i)
{
    const ln_param_entry *op = param(n, "op");
    const char *const name1 = input(n, "src1"), *const name2 = input(n, "src2");
    const int len1 = tensor_of(n->sizes, name1)->len, len2 = tensor_of(n->sizes, name2)->len;
    const ln_size a = element_of(n, name1, len1 == 1 ? 0 : i);
    const ln_size b = element_of(n, name2, len2 == 1 ? 0 : i);
    const tl_binary_op kind = op ? tl_binary_op_from_str(op->value_string) : (tl_binary_op)-1;
    const ln_size none = known_size(0);
    if (kind == TL_BINARY_ADD || kind == TL_BINARY_SUB)
        return ln_size_sum(&a, &b, kind == TL_BINARY_ADD ? 1 : -1);
    if (kind == TL_BINARY_MUL && ln_size_is_number(&b))
        return ln_size_sum(&none, &a, b.plus);
    return kind == TL_BINARY_MUL && ln_size_is_number(&a) ? ln_size_sum(&none, &b, a.plus)
                                                          : (ln_size){0};
}

// 1 where the elements are equal, 0 where they differ in each run.
static ln_size element_of_compare(const noted *n, int i)
{
    const ln_param_entry *op = param(n, "op");
    const char *const name1 = input(n, "src1"), *const name2 = input(n, "src2");
    const ln_size a = element_of(n, name1, tensor_of(n->sizes, name1)->len == 1 ? 0 : i);
    const ln_size b = element_of(n, name2, tensor_of(n->sizes, name2)->len == 1 ? 0 : i);
    const ln_size difference = ln_size_sum(&a, &b, -1);
    if (!op || !ln_streq(op->value_string, "TL_COMPARE_EQUAL") || !difference.is_known)
        return (ln_size){0};
    if (ln_size_is_number(&difference))
        return known_size(difference.plus == 0);
    return ln_sizes_min(n->sizes, &difference) > 0 || ln_sizes_max(n->sizes, &difference) < 0
               ? known_size(0)
               : (ln_size){0};
}

static ln_size element_of_where(const noted *n, int i)
{
    const char *const cond = input(n, "cond");
    const ln_size which = element_of(n, cond, tensor_of(n->sizes, cond)->len == 1 ? 0 : i);
    const char *const src = input(n, which.plus ? "src1" : "src2");
    return ln_size_is_number(&which)
               ? element_of(n, src, tensor_of(n->sizes, src)->len == 1 ? 0 : i)
               : (ln_size){0};
}

// Noting

static const struct row {
    const char *optype;
    axes_func axes;
    element_func element;
} rows[] = {
    {"placeholder", axes_of_placeholder, NULL},
    {"view", axes_of_view, element_of_same},
    {"reshape", axes_of_view, element_of_same},
    {"reshape_to", axes_of_reshape_to, NULL},
    {"range_to", axes_of_range, NULL},
    {"squeeze", axes_of_squeeze, element_of_same},
    {"unsqueeze", axes_of_unsqueeze, element_of_same},
    {"flatten", NULL, element_of_same},
    {"transpose", axes_of_transpose, NULL},
    {"join", axes_of_join, element_of_join},
    {"take", axes_of_take, element_of_take},
    {"stride_slice", axes_of_slice, element_of_slice},
    {"shape", NULL, element_of_shape},
    {"matmul", axes_of_matmul, NULL},
    {"binary", axes_of_broadcast, element_of_binary},
    {"compare", axes_of_broadcast, element_of_compare},
    {"where", axes_of_broadcast, element_of_where},
    {"expand", axes_of_expand, NULL},
    {"cast", axes_of_same, element_of_same},
    {"unary", axes_of_same, NULL},
    {"classify", axes_of_same, NULL},
    {"softmax", axes_of_same, NULL},
    {"logsoftmax", axes_of_same, NULL},
    {"layernorm", axes_of_same, NULL},
    {"rmsnorm", axes_of_same, NULL},
    {"cumulate", axes_of_same, NULL},
    {"batchnorm", axes_of_same, NULL},
    {"affine", axes_of_same, NULL},
    {"groupnorm", axes_of_same, NULL},
    {"lrn", axes_of_same, NULL},
    {"reduce", axes_of_reduce, NULL},
    {"conv2d", axes_of_batch, NULL},
    {"deconv2d", axes_of_batch, NULL},
    {"convnd", axes_of_batch, NULL},
    {"deconvnd", axes_of_batch, NULL},
    {"maxpool2d", axes_of_batch, NULL},
    {"avgpool2d", axes_of_batch, NULL},
    {"poolnd", axes_of_batch, NULL},
    {"resample", axes_of_view, NULL},
};

static const struct row *row_of(const ln_op *op)
{
    return LN_ROW_NAMED(rows, op->op_arg->optype);
}

static int note_axes(const noted *n, const struct row *row, const ln_tensor_entry *te, record *r)
{
    const ln_param_entry *min = ln_is_placeholder(n->op) ? param(n, "least") : NULL;
    if (row && row->axes)
        row->axes(n, r->axes);
    for (int i = 0; i < n->dst->ndim; i++) {
        const int64_t from = min && i < min->array_len ? min->value_array_int[i] : 0;
        if (!ln_dynamic_is_open(te, i))
            r->axes[i] = known_size(n->dst->dims[i]);
        else if (!r->axes[i].is_known && new_symbol(n->sizes, from, n->dst->dims[i], &r->axes[i]))
            return -1;
    }
    r->has_axes = 1;
    return 0;
}

// Of booleans only those that `where` reads: 0 and 1.
static int has_elements(const struct row *row, const tl_tensor *t)
{
    const int is_integer = t->dtype == TL_INT64 || t->dtype == TL_INT32;
    return row && row->element && t->ndim <= 1 && t->len <= LN_MAXDIM &&
           (is_integer || row->element == element_of_compare);
}

// Keeps a copy of the name: what was tried, such as a body, is removed, and names then occur again.
static int insert(ln_sizes *sizes, const char *name, record *r)
{
    char *key = ln_strdup(name);
    if (key && ln_hash_insert(sizes->records, key, r) >= 0)
        return 0;
    ln_free(key);
    return -1;
}

static int note_output(noted *n, const struct row *row, const ln_tensor_entry *te)
{
    n->dst = te->tensor;
    const int is_vector = !te->isdynamic && has_elements(row, te->tensor);
    if (!te->isdynamic && !is_vector) {
        ln_hash_remove(n->sizes->records, te->name);
        return 0;
    }
    record *r = ln_alloc(sizeof(*r));
    if (!r)
        return -1;
    memset(r, 0, sizeof(*r));
    if ((te->isdynamic && note_axes(n, row, te, r)) || insert(n->sizes, te->name, r)) {
        ln_free(r);
        return -1;
    }
    r->n_elements = is_vector ? n->dst->len : 0;
    for (int i = 0; i < r->n_elements; i++)
        r->elements[i] = row->element(n, i);
    return 0;
}

int ln_sizes_note(ln_sizes *sizes, const ln_op *op, ln_sizes_value value, void *data)
{
    const ln_tensor_list_entry *tle;
    noted n = {.sizes = sizes, .op = op, .value = value, .data = data};
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        if (note_output(&n, row_of(op), ln_tensor_table_find(sizes->ctx->tensor_table, tle->name)))
            return -1;
    }
    return 0;
}

// The max number of operators between a tensor and known ones; a longer chain is run instead.
enum { MAX_STEPS = 32 };

static int find_elements(noted *n, const char *tensor, int steps)
{
    const ln_tensor_list_entry *tle;
    const ln_op *producer = ln_context_creater(n->sizes->ctx, tensor);
    const struct row *row = producer ? row_of(producer) : NULL;
    if (!steps || !has_elements(row, tensor_of(n->sizes, tensor)) ||
        ln_hash_find(n->sizes->records, tensor))
        return 0;
    LN_LIST_FOREACH(tle, producer->op_arg->tensors_in)
    {
        if (find_elements(n, tle->name, steps - 1))
            return -1;
    }
    return ln_sizes_note(n->sizes, producer, n->value, n->data);
}

int ln_sizes_find_elements(ln_sizes *sizes, const char *tensor, ln_sizes_value value, void *data)
{
    noted n = {.sizes = sizes, .value = value, .data = data};
    return find_elements(&n, tensor, MAX_STEPS);
}
