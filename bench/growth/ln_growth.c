// SPDX-License-Identifier: Apache-2.0
// The time to read, compile and drop a model of operators that do nothing; growth.py runs it.
//
//     ln_growth                  lists the kinds of models
//     ln_growth KIND OPERATORS   prints seconds of processor time: to read, to compile, to drop
//
// Each kind stretches another part of the compiler.

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ln_test_ops.h"

typedef struct growth {
    ln_test_model m;
    int n;
} growth;

static void add(growth *g, const char *optype, int in1, int in2, int out, const char *params)
{
    char name[32], ins[64], dst[32];
    snprintf(name, sizeof(name), "o%d", out);
    snprintf(ins, sizeof(ins), in2 < 0 ? "t%d" : "t%d t%d", in1, in2);
    snprintf(dst, sizeof(dst), "t%d", out);
    ln_test_op(&g->m, name, optype, ins, dst, params);
}

static void add_weight(growth *g, int out)
{
    char name[32], dst[32];
    snprintf(name, sizeof(name), "o%d", out);
    snprintf(dst, sizeof(dst), "t%d", out);
    ln_test_op(&g->m, name, "create_test", "", dst, "len 16 value 1");
}

// One operator that reads the tensors from `first` to before `out`, which it makes.
static void join_all(growth *g, int first, int out)
{
    char name[32], dst[32], *ins;
    size_t size;
    FILE *fp = open_memstream(&ins, &size);
    for (int i = first; i < out; i++)
        fprintf(fp, "t%d ", i);
    fclose(fp);
    snprintf(name, sizeof(name), "o%d", out);
    snprintf(dst, sizeof(dst), "t%d", out);
    ln_test_op(&g->m, name, "stack", ins, dst, "");
    free(ins);
}

static void make_chain(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, i % 2 ? "double" : "add1", i - 1, -1, i, "");
}

static void make_inplace(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "add1", i - 1, -1, i, "");
}

static void make_shortcuts(growth *g)
{
    for (int i = 1; i < g->n; i++)
        if (i % 4)
            add(g, i % 2 ? "double" : "work", i - 1, -1, i, i % 2 ? "" : "scratch 64");
        else
            add(g, "add", i - 1, i - 4, i, "");
}

// Everything reads the first tensor, and nothing the rest: as many outputs as operators.
static void make_hub(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "add", 0, i > 1 ? i - 1 - i % 2 : 0, i, "");
}

static void make_equal(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "double", i / 2, -1, i, "");
}

static void make_views(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, i % 8 ? "view" : "double", i - 1, -1, i, "");
}

// Views of views, as deep as the model is long.
static void make_deep_views(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "view", i - 1, -1, i, "");
}

// As above, in memory that something writes in place: every view is a view of that.
static void make_written_views(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, i % 8 ? "view" : "bump", i - 1, -1, i, "");
}

static void make_dead(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "double", i - 1, -1, i, "");
}

// Blocks of a residual network: five operators in a row, whose result is added to their input.
static void make_blocks(growth *g)
{
    for (int i = 1; i < g->n; i++)
        if (i % 6)
            add(g, i % 2 ? "double" : "work", i - 1, -1, i, i % 2 ? "" : "scratch 64");
        else
            add(g, "add", i - 1, i - 6, i, "");
}

// Half the operators are weights of the other half, folded at load.
static void make_weights(growth *g)
{
    for (int i = 1; i < g->n; i++)
        if (i % 4 == 1)
            add_weight(g, i);
        else if (i % 4)
            add(g, i % 2 ? "double" : "add1", i - 1, -1, i, "");
        else
            add(g, "add", i - 1, i - 4, i, "");
}

// One operator reads thousands: all but it read the first tensor.
static void make_sink(growth *g)
{
    for (int i = 1; i + 1 < g->n; i++)
        add(g, i % 2 ? "double" : "add1", i > 2 ? i - 2 : 0, -1, i, "");
    join_all(g, 1, g->n - 1);
}

// The same, of equal operators, which become one.
static void make_equal_sink(growth *g)
{
    for (int i = 1; i + 1 < g->n; i++)
        add(g, "double", 0, -1, i, "");
    join_all(g, 1, g->n - 1);
}

// Thousands of equal operators one after the other, in two chains.
static void make_twins(growth *g)
{
    for (int i = 1; i < g->n; i++)
        add(g, "double", i > 2 ? i - 2 : 0, -1, i, "");
}

static const struct {
    const char *name;
    const char *interface;
    void (*make)(growth *g);
} kinds[] = {
    {"chain", "\"inputs\": [\"t0\"],", make_chain},
    {"in place", "\"inputs\": [\"t0\"],", make_inplace},
    {"shortcuts", "\"inputs\": [\"t0\"],", make_shortcuts},
    {"hub", "\"inputs\": [\"t0\"],", make_hub},
    {"constants", "", make_chain},
    {"tree", "\"inputs\": [\"t0\"],", make_equal},
    {"views", "\"inputs\": [\"t0\"],", make_views},
    {"deep views", "\"inputs\": [\"t0\"],", make_deep_views},
    {"written views", "\"inputs\": [\"t0\"],", make_written_views},
    {"blocks", "\"inputs\": [\"t0\"],", make_blocks},
    {"weights", "\"inputs\": [\"t0\"],", make_weights},
    {"sink", "\"inputs\": [\"t0\"],", make_sink},
    {"equal sink", "\"inputs\": [\"t0\"],", make_equal_sink},
    {"twins", "\"inputs\": [\"t0\"],", make_twins},
    {"dead", "\"inputs\": [\"t0\"], \"outputs\": [\"t1\"],", make_dead},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(size_t kind, int n)
{
    growth g = {.n = n};
    ln_test_begin(&g.m, kinds[kind].interface);
    ln_test_op(&g.m, "o0", "create_test", "", "t0", "len 16 value 1");
    kinds[kind].make(&g);
    char *text = ln_test_text(&g.m);
    ln_context *ctx = ln_context_create();
    const double begin = seconds();
    int status = ln_context_init_text(ctx, "model", text, g.m.size);
    const double read = seconds();
    status = status ? status : ln_context_compile(ctx, "test");
    const double compiled = seconds();
    if (status)
        fprintf(stderr, "%s\n", ln_context_error(ctx));
    ln_context_free(ctx);
    const double dropped = seconds();
    free(text);
    printf("%.6f %.6f %.6f\n", read - begin, compiled - read, dropped - compiled);
    return status;
}

static ln_list *double_to_work(const ln_context *ctx, const ln_op *op, int *match)
{
    *match = !strcmp(op->op_arg->optype, "double") && ln_pass_rule_begins(ctx, "first_rule");
    if (!*match)
        return NULL;
    const ln_tensor_list_entry *in = op->op_arg->tensors_in->data;
    const ln_tensor_list_entry *out = op->op_arg->tensors_out->data;
    ln_list *new_ops = ln_list_append(
        NULL, ln_test_new_op(op->op_arg->name, "work", in->name, out->name, "scratch 64"));
    ln_pass_rule_fires(ctx, "first_rule", new_ops);
    return new_ops;
}

int main(int argc, char **argv)
{
    static ln_expander_func expanders[] = {double_to_work, NULL};
    for (size_t kind = 0; kind < N_KINDS && argc == 1; kind++)
        puts(kinds[kind].name);
    if (argc == 1)
        return EXIT_SUCCESS;
    ln_test_arch.ep_funcs = expanders;
    for (size_t kind = 0; kind < N_KINDS && argc == 3; kind++)
        if (!strcmp(kinds[kind].name, argv[1]))
            return measure(kind, atoi(argv[2])) ? EXIT_FAILURE : EXIT_SUCCESS;
    fputs("usage: ln_growth [KIND OPERATORS]\n", stderr);
    return EXIT_FAILURE;
}
