// SPDX-License-Identifier: Apache-2.0
// A small architecture of hand-written operators on 1-D float tensors; see ln_test_ops.h.

#include "ln_test_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ln_dynamic.h"
#include "plan/ln_lifetime.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"

_Thread_local double ln_test_seen;
_Thread_local int ln_test_runs;
_Thread_local int ln_test_alive;

static void (*after_run)(const ln_op_arg *op_arg); // or NULL

// Data of run: as in generated operators, pre_run finds it.
typedef struct test_priv {
    const tl_tensor *src, *src2;
    tl_tensor *dst;
} test_priv;

static const char *const in_place_src[] = {"src", NULL};
static const char *const in_place_both[] = {"src1", "src2", NULL};

static ln_tensor_entry *input(const ln_op_arg *op_arg, int n)
{
    const ln_tensor_list_entry *tle = ln_list_nth_data(op_arg->tensors_in, n);
    return tle ? ln_entry_of(tle, op_arg->tensor_table) : NULL;
}

static int number(const ln_op_arg *op_arg, const char *name)
{
    const ln_param_entry *param = ln_param_list_find(op_arg->params, name);
    return param ? param->value_int : 0;
}

static float *data_of(const tl_tensor *tensor)
{
    return tensor->data;
}

// Checking. Each leaves `priv` set, which post_run undoes.

static test_priv *begin_check(ln_op_arg *op_arg)
{
    test_priv *priv = ln_alloc(sizeof(*priv));
    ln_test_alive++;
    op_arg->priv = priv;
    if (!priv) {
        ln_op_fail_last(op_arg);
        return NULL;
    }
    if (ln_op_check_args(op_arg))
        return NULL;
    priv->src = input(op_arg, 0) ? input(op_arg, 0)->tensor : NULL;
    priv->src2 = input(op_arg, 1) ? input(op_arg, 1)->tensor : NULL;
    return priv;
}

static ln_tensor_entry *define(ln_op_arg *op_arg, int len, ln_mem_type mtype)
{
    ln_tensor_entry *te = ln_op_define_output(op_arg, "dst", 1, &len, TL_FLOAT, mtype);
    if (te)
        ((test_priv *)op_arg->priv)->dst = te->tensor;
    return te;
}

static void check_create(ln_op_arg *op_arg)
{
    ln_tensor_entry *te =
        begin_check(op_arg) ? define(op_arg, number(op_arg, "len"), LN_MEM_CPU) : NULL;
    if (te)
        te->isstatic = 1;
}

static void check_same(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (!priv)
        return;
    if (priv->src2 && priv->src2->len != priv->src->len)
        ln_op_fail(op_arg, "'src2' has %d elements, expected %d", priv->src2->len, priv->src->len);
    else
        define(op_arg, priv->src->len, LN_MEM_CPU);
}

static void check_abstract(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (priv)
        define(op_arg, priv->src->len, LN_MEM_NONE);
}

static void check_work(ln_op_arg *op_arg)
{
    check_same(op_arg);
    op_arg->scratch_size = (size_t)number(op_arg, "scratch");
    op_arg->macs = 10;
}

static void own_by_input(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    if (te && ln_tensor_entry_set_owner(te, op_arg->tensor_table, input(op_arg, 0)->name))
        ln_op_fail_last(op_arg);
}

static void check_view(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (priv)
        own_by_input(op_arg, define(op_arg, priv->src->len, LN_MEM_CPU));
}

static void check_part(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (!priv)
        return;
    if (number(op_arg, "from") + number(op_arg, "len") > priv->src->len)
        ln_op_fail(op_arg, "the part ends after the %d elements of 'src'", priv->src->len);
    else
        own_by_input(op_arg, define(op_arg, number(op_arg, "len"), LN_MEM_CPU));
}

static void check_half(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (priv)
        own_by_input(op_arg, define(op_arg, priv->src->len / 2, LN_MEM_CPU));
}

static void check_chain(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (priv)
        define(op_arg, priv->src->len + priv->src2->len, LN_MEM_CPU);
}

static void check_count(ln_op_arg *op_arg)
{
    if (begin_check(op_arg))
        define(op_arg, 1, LN_MEM_CPU);
}

static void check_number(ln_op_arg *op_arg)
{
    test_priv *priv = begin_check(op_arg);
    const int len = 1;
    const ln_tensor_entry *te =
        priv ? ln_op_define_output(op_arg, "dst", 1, &len, TL_INT32, LN_MEM_CPU) : NULL;
    if (te)
        priv->dst = te->tensor;
}

static void check_above(ln_op_arg *op_arg)
{
    test_priv *priv = begin_check(op_arg);
    const int len = priv ? priv->src->len * priv->src2->len : 0;
    const ln_tensor_entry *te =
        priv ? ln_op_define_output(op_arg, "dst", 1, &len, TL_BOOL, LN_MEM_CPU) : NULL;
    if (te)
        priv->dst = te->tensor;
}

static void check_first(ln_op_arg *op_arg)
{
    const test_priv *priv = begin_check(op_arg);
    if (priv)
        define(op_arg, number(op_arg, "len"), LN_MEM_CPU);
}

static void check_join(ln_op_arg *op_arg)
{
    int len = 0;
    if (!begin_check(op_arg))
        return;
    for (int i = 0; input(op_arg, i); i++) {
        const ln_tensor_entry *te = input(op_arg, i);
        len += te->tensor->len;
        if (te->isstatic || te->owner) {
            ln_op_fail(op_arg, "'src%d' has memory of its own", i);
            return;
        }
    }
    const ln_tensor_entry *dst = define(op_arg, len, LN_MEM_CPU);
    for (int i = 0; dst && input(op_arg, i); i++)
        if (ln_tensor_entry_set_owner(input(op_arg, i), op_arg->tensor_table, dst->name))
            ln_op_fail_last(op_arg);
}

static void check_stack(ln_op_arg *op_arg)
{
    int len = 0;
    if (!begin_check(op_arg))
        return;
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH (tle, op_arg->tensors_in)
        len += ln_entry_of(tle, op_arg->tensor_table)->tensor->len;
    define(op_arg, len, LN_MEM_CPU);
}

static void check_watch(ln_op_arg *op_arg)
{
    begin_check(op_arg);
}

static void undo(ln_op_arg *op_arg)
{
    ln_test_alive--;
    ln_op_undefine_outputs(op_arg);
    ln_free(op_arg->priv);
    op_arg->priv = NULL;
}

// Computing

static void end_run(const ln_op_arg *op_arg)
{
    ln_test_runs++;
    if (after_run)
        after_run(op_arg);
}

static void fill(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    const ln_param_entry *value = ln_param_list_find(op_arg->params, "value");
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = value->value_float + (float)i;
}

static void run_add1(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = data_of(priv->src)[i] + 1;
    end_run(op_arg);
}

static void run_add(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = data_of(priv->src)[i] + data_of(priv->src2)[i];
    end_run(op_arg);
}

// From the end, so that a wrong overlap of memory shows.
static void run_double(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = NAN;
    for (int i = priv->dst->len; i-- > 0;)
        data_of(priv->dst)[i] = 2 * data_of(priv->src)[i];
    end_run(op_arg);
}

static void run_work(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    const tl_exec exec = ln_op_exec(op_arg);
    memset(exec.scratch, 0x55, exec.scratch_size);
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = data_of(priv->src)[i] + 1;
    for (size_t i = 0; i < exec.scratch_size; i++)
        if (((unsigned char *)exec.scratch)[i] != 0x55)
            ln_op_fail(op_arg, "something else wrote the scratch memory");
    end_run(op_arg);
}

static void run_bump(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] += 1;
    end_run(op_arg);
}

static void run_positive(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    int len = 0;
    if (priv->dst->len != priv->src->len) {
        ln_op_fail(op_arg, "'dst' has %d elements before the run, expected %d", priv->dst->len,
                   priv->src->len);
        return;
    }
    for (int i = 0; i < priv->src->len; i++)
        if (data_of(priv->src)[i] > 0)
            data_of(priv->dst)[len++] = data_of(priv->src)[i];
    len += number(op_arg, "extra");
    const ln_tensor_list_entry *out = op_arg->tensors_out->data;
    ln_op_set_dims(op_arg, ln_entry_of(out, op_arg->tensor_table), 1, &len);
    end_run(op_arg);
}

static void run_chain(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] =
            i < priv->src->len ? data_of(priv->src)[i] : data_of(priv->src2)[i - priv->src->len];
    end_run(op_arg);
}

static void run_count(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    data_of(priv->dst)[0] = (float)priv->src->len;
    end_run(op_arg);
}

static void run_stack(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    const ln_tensor_list_entry *tle;
    float *to = data_of(priv->dst);
    LN_LIST_FOREACH (tle, op_arg->tensors_in) {
        const tl_tensor *src = ln_entry_of(tle, op_arg->tensor_table)->tensor;
        memmove(to, src->data, tl_tensor_size(src));
        to += src->len;
    }
    end_run(op_arg);
}

static void run_number(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    *(int32_t *)priv->dst->data = priv->src->len;
    end_run(op_arg);
}

static void run_above(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    unsigned char *to = priv->dst->data;
    for (int i = 0; i < priv->src->len; i++)
        for (int j = 0; j < priv->src2->len; j++)
            *to++ = data_of(priv->src)[i] > data_of(priv->src2)[j];
    end_run(op_arg);
}

static void run_first(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    for (int i = 0; i < priv->dst->len; i++)
        data_of(priv->dst)[i] = data_of(priv->src)[i];
    end_run(op_arg);
}

static void run_watch(ln_op_arg *op_arg)
{
    const test_priv *priv = op_arg->priv;
    ln_test_seen += (double)data_of(priv->src)[0];
    end_run(op_arg);
}

// Offsets

static size_t offset_of_view(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    (void)te;
    return input(op_arg, 0)->offset + sizeof(float) * (size_t)number(op_arg, "from");
}

static size_t offset_of_half(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    (void)te;
    const test_priv *priv = op_arg->priv;
    return input(op_arg, 0)->offset + sizeof(float) * (size_t)(priv->src->len - priv->dst->len);
}

static size_t offset_of_joined(ln_op_arg *op_arg, ln_tensor_entry *te)
{
    const ln_tensor_list_entry *out = op_arg->tensors_out->data;
    size_t offset = ln_entry_of(out, op_arg->tensor_table)->offset;
    for (int i = 0; input(op_arg, i) != te; i++)
        offset += tl_tensor_size(input(op_arg, i)->tensor);
    return offset;
}

// The prototypes

static const ln_arg_info one_src[] = {{.arg_name = "src", .islast = 1}};
static const ln_arg_info two_srcs[] = {{.arg_name = "src1"}, {.arg_name = "src2", .islast = 1}};
static const ln_arg_info some_srcs[] = {{.arg_name = "src", .variadic = 1, .islast = 1}};
static const ln_arg_info one_dst[] = {{.arg_name = "dst", .islast = 1}};
static const ln_arg_info dst_over_src[] = {
    {.arg_name = "dst", .inplace = in_place_src, .islast = 1}};
static const ln_arg_info dst_over_both[] = {
    {.arg_name = "dst", .inplace = in_place_both, .islast = 1}};
static const ln_arg_info dst_in_src[] = {{.arg_name = "dst", .owner = "src", .islast = 1}};
static const ln_arg_info src_and_len[] = {
    {.arg_name = "src1"},
    {.arg_name = "src2", .sets = "len", .is_setter = 1, .optional = 1, .islast = 1}};
static const ln_arg_info len_params[] = {{.arg_name = "len", .islast = 1}};
static const ln_arg_info dynamic_dst[] = {{.arg_name = "dst", .dynamic = 1, .islast = 1}};
static const ln_arg_info fixed_dst[] = {{.arg_name = "dst", .dynamic = -1, .islast = 1}};
static const ln_arg_info create_params[] = {{.arg_name = "len"},
                                            {.arg_name = "value", .islast = 1}};
static const ln_arg_info work_params[] = {{.arg_name = "scratch", .islast = 1}};
static const ln_arg_info positive_params[] = {{.arg_name = "extra", .optional = 1, .islast = 1}};
static const ln_arg_info part_params[] = {{.arg_name = "from"}, {.arg_name = "len", .islast = 1}};

static const char *no_names[] = {NULL};
static const char *dst_name[] = {"dst", NULL};
static const char *src_name[] = {"src", NULL};
static const char *src_names[] = {"src1", "src2", NULL};
static const char *create_names[] = {"len", "value", NULL};
static const char *work_names[] = {"scratch", NULL};
static const char *len_names[] = {"len", NULL};
static const char *positive_names[] = {"extra", NULL};
static const char *part_names[] = {"from", "len", NULL};
static const ln_param_type numbers[] = {LN_PARAM_NUMBER, LN_PARAM_NUMBER, LN_PARAM_INVALID};

// PROTO(optype, inputs, their names, outputs, their names, parameters, their names, what else the
// info says, functions)
#define PROTO(id, ins, in_names, outs, out_names, params_, param_names, extra, ...) \
    static const ln_op_info id##_info = {                                           \
        .tensors_in = ins, .tensors_out = outs, .params = params_, extra};          \
    static ln_op_arg id##_arg = {.optype = #id,                                     \
                                 .arch = "test",                                    \
                                 .in_arg_names = in_names,                          \
                                 .out_arg_names = out_names,                        \
                                 .param_arg_names = param_names,                    \
                                 .param_ptypes = numbers,                           \
                                 .info = &id##_info};                               \
    static ln_op id##_op = {.op_arg = &id##_arg, .post_run = undo, __VA_ARGS__};

PROTO(create_test, NULL, no_names, one_dst, dst_name, create_params, create_names, .pure = 1,
      .pre_run = check_create, .static_run = fill)
PROTO(add1, one_src, src_name, dst_over_src, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_same, .run = run_add1)
PROTO(add, two_srcs, src_names, dst_over_both, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_same, .run = run_add)
PROTO(double, one_src, src_name, one_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_same, .run = run_double)
PROTO(work, one_src, src_name, one_dst, dst_name, work_params, work_names, .pure = 1,
      .pre_run = check_work, .run = run_work)
PROTO(view, one_src, src_name, dst_in_src, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_view, .calc_offset = offset_of_view)
PROTO(part, one_src, src_name, dst_in_src, dst_name, part_params, part_names, .pure = 1,
      .pre_run = check_part, .calc_offset = offset_of_view)
PROTO(bump, one_src, src_name, dst_in_src, dst_name, NULL, no_names, .inplace_writer = 1,
      .pre_run = check_view, .run = run_bump, .calc_offset = offset_of_view)
PROTO(join, some_srcs, src_name, one_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_join, .calc_offset = offset_of_joined)
PROTO(positive, one_src, src_name, dynamic_dst, dst_name, positive_params, positive_names,
      .pure = 1, .pre_run = check_same, .run = run_positive)
PROTO(half, one_src, src_name, dst_in_src, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_half, .calc_offset = offset_of_half)
PROTO(chain, two_srcs, src_names, one_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_chain, .run = run_chain)
PROTO(count, one_src, src_name, fixed_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_count, .run = run_count)
PROTO(stack, some_srcs, src_name, dst_over_src, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_stack, .run = run_stack)
PROTO(number, one_src, src_name, fixed_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_number, .run = run_number)
PROTO(above, two_srcs, src_names, dst_over_both, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_above, .run = run_above)
PROTO(first, src_and_len, src_names, one_dst, dst_name, len_params, len_names, .pure = 1,
      .pre_run = check_first, .run = run_first)
PROTO(watch, one_src, src_name, NULL, no_names, NULL, no_names, .pure = 0, .pre_run = check_watch,
      .run = run_watch)
PROTO(twice, one_src, src_name, one_dst, dst_name, NULL, no_names, .pure = 1,
      .pre_run = check_abstract)

static ln_op *all_ops[] = {&create_test_op, &add1_op,   &add_op,      &double_op, &work_op,
                           &view_op,        &part_op,   &bump_op,     &join_op,   &stack_op,
                           &watch_op,       &twice_op,  &positive_op, &half_op,   &chain_op,
                           &count_op,       &number_op, &above_op,    &first_op,  NULL};

static const char *rule_names[] = {"first_rule", "second_rule", NULL};

ln_arch ln_test_arch = {.reg_ops = all_ops, .arch_name = "test", .rule_names = rule_names};

void ln_test_register(void)
{
    if (LN_ARCH.arch_table && ln_hash_find(LN_ARCH.arch_table, "test"))
        return;
    if (ln_arch_register(&ln_test_arch)) {
        fprintf(stderr, "%s\n", ln_last_error());
        exit(EXIT_FAILURE);
    }
}

// Building models

void ln_test_begin(ln_test_model *m, const char *interface)
{
    ln_test_register();
    *m = (ln_test_model){.n = 0};
    m->fp = open_memstream(&m->text, &m->size);
    fprintf(m->fp, "{%s \"ops\": [", interface);
}

// Takes the next word of a text into `buf`; 0 at its end.
static int next_word(const char **text, char *buf, size_t size)
{
    *text += strspn(*text, " ");
    const size_t len = strcspn(*text, " ");
    snprintf(buf, size, "%.*s", (int)len, *text);
    *text += len;
    return len > 0;
}

// The role of the nth of some arguments of an operator.
static void print_arg_name(char *buf, size_t size, const char *optype, int n, int alone)
{
    if (!strcmp(optype, "join") || !strcmp(optype, "stack"))
        snprintf(buf, size, "src%d", n);
    else if (alone)
        snprintf(buf, size, "src");
    else
        snprintf(buf, size, "src%d", n + 1);
}

static void print_tensors(FILE *fp, const char *optype, const char *names, int inputs)
{
    char name[LN_MAX_NAME_LEN], arg_name[32] = "dst";
    const int alone = !strchr(names, ' ');
    for (int n = 0; next_word(&names, name, sizeof(name)); n++) {
        if (inputs)
            print_arg_name(arg_name, sizeof(arg_name), optype, n, alone);
        fprintf(fp, "%s{\"arg_name\": \"%s\", \"name\": \"%s\"}", n ? ", " : "", arg_name, name);
    }
}

void ln_test_op(ln_test_model *m, const char *name, const char *optype, const char *ins,
                const char *outs, const char *params)
{
    char word[LN_MAX_NAME_LEN], value[LN_MAX_NAME_LEN];
    fprintf(m->fp, "%s\n{\"name\": \"%s\", \"optype\": \"%s\", \"tensors_in\": [",
            m->n++ ? "," : "", name, optype);
    print_tensors(m->fp, optype, ins, 1);
    fputs("], \"tensors_out\": [", m->fp);
    print_tensors(m->fp, optype, outs, 0);
    fputs("], \"params\": [", m->fp);
    for (int n = 0; next_word(&params, word, sizeof(word)); n++) {
        next_word(&params, value, sizeof(value));
        fprintf(m->fp, "%s{\"arg_name\": \"%s\", \"value\": %s}", n ? ", " : "", word, value);
    }
    fputs("]}", m->fp);
}

char *ln_test_text(ln_test_model *m)
{
    fputs("]}\n", m->fp);
    fclose(m->fp);
    return m->text;
}

ln_context *ln_test_end(ln_test_model *m)
{
    char *text = ln_test_text(m);
    ln_context *ctx = ln_context_create();
    if (ctx)
        ln_context_init_text(ctx, "model", text, m->size);
    free(text);
    return ctx;
}

// Running them

int ln_test_load(ln_context *ctx)
{
    const ln_op *op;
    if (ln_context_alloc_mem(ctx))
        return -1;
    LN_LIST_FOREACH (op, ctx->ops)
        if (ln_op_call((ln_op *)op, op->static_run) ||
            (op->op_arg->at_load && ln_dynamic_run((ln_op *)op)))
            return -1;
    return 0;
}

// Overwrites memory of tensors that are no longer alive while a model runs.
static ln_context *poisoned;
static ln_lifetime poison_life;
static int poison_time;

static void poison(const ln_block *block)
{
    if (block->mtype == LN_MEM_CPU && !block->scratch)
        memset((char *)poisoned->mem_starts[LN_MEM_CPU] + block->offset, 0xff, block->size);
}

static void poison_the_dead(const ln_op_arg *op_arg)
{
    const ln_lifetime *life = &poison_life;
    int time = 1;
    for (const ln_list *node = poisoned->ops; node != op_arg->node; node = node->next)
        time++;
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (block->part_of == block - life->blocks && block->last >= poison_time &&
            block->last <= time && block->last != life->end)
            poison(block);
    poison_time = time + 1;
}

int ln_test_run_poisoned(ln_context *ctx)
{
    if (ln_lifetime_find(ctx, &poison_life))
        return -1;
    poisoned = ctx;
    poison_time = 1;
    after_run = poison_the_dead;
    const int status = ln_lifetime_check(ctx, &poison_life) || ln_context_run(ctx) ? -1 : 0;
    after_run = NULL;
    ln_lifetime_free(&poison_life);
    return status;
}

double ln_test_get(ln_context *ctx, const char *tname)
{
    float *data = ln_context_get_data(ctx, tname, NULL);
    const double first = data ? (double)data[0] : NAN;
    free(data);
    return first;
}

double ln_test_result(ln_context *ctx, const char *tname)
{
    return ln_test_load(ctx) || ln_context_run(ctx) ? NAN : ln_test_get(ctx, tname);
}

// Rewriting them

static int add_tensors(ln_list **list, const char *optype, const char *names, int inputs)
{
    char name[LN_MAX_NAME_LEN], arg_name[32] = "dst";
    const int alone = !strchr(names, ' ');
    for (int n = 0; next_word(&names, name, sizeof(name)); n++) {
        if (inputs)
            print_arg_name(arg_name, sizeof(arg_name), optype, n, alone);
        ln_list *longer = ln_tensor_list_append(*list, arg_name, name);
        if (!longer)
            return -1;
        *list = longer;
    }
    return 0;
}

static int add_params(ln_list **list, const char *params)
{
    char word[LN_MAX_NAME_LEN], value[LN_MAX_NAME_LEN];
    while (next_word(&params, word, sizeof(word))) {
        next_word(&params, value, sizeof(value));
        ln_list *longer = ln_param_list_append_number(*list, word, atof(value));
        if (!longer)
            return -1;
        *list = longer;
    }
    return 0;
}

ln_op *ln_test_new_op(const char *name, const char *optype, const char *ins, const char *outs,
                      const char *params)
{
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, optype);
    ln_op *op = ln_op_create_from_proto(proto, name, NULL, NULL, NULL, NULL);
    if (op && (add_tensors(&op->op_arg->tensors_in, optype, ins, 1) ||
               add_tensors(&op->op_arg->tensors_out, optype, outs, 0) ||
               add_params(&op->op_arg->params, params))) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

const char *ln_test_types(const ln_context *ctx)
{
    static char types[1024];
    const ln_op *op;
    size_t len = 0;
    types[0] = '\0';
    LN_LIST_FOREACH (op, ctx->ops)
        if (len < sizeof(types))
            len += (size_t)snprintf(types + len, sizeof(types) - len, "%s%s", len ? " " : "",
                                    op->op_arg->optype);
    return types;
}

unsigned ln_test_random(unsigned *seed, unsigned limit)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed % limit;
}
