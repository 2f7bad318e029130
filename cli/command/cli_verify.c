// SPDX-License-Identifier: Apache-2.0
// lightnet verify: compare a model's outputs with stored ones, or its optimized program with the
// reference program or with that for another target.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli_options.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_source.h"
#include "lightnet/ln_optypes.h"
#include "output/cli_color.h"
#include "output/cli_compare.h"
#include "output/cli_guard.h"
#include "output/cli_json.h"
#include "output/cli_print.h"

typedef struct verify_options {
    cli_options shared;
    int reference;
    cli_tolerances tolerance; // --rtol, --atol
    cli_json *doc;            // what --json prints; or NULL
} verify_options;

// JSON: an object for each comparison: agreement, or the first difference.

static void begin_comparison(cli_json *doc, const char *folder, int agrees)
{
    cli_json_open(doc, NULL, '{');
    if (folder)
        cli_json_text(doc, "folder", folder);
    cli_json_flag(doc, "agrees", agrees);
}

// `max_key`: the name of the largest difference.
static void add_agreement(cli_json *doc, const char *folder, int n, const char *max_key,
                          double worst, int n_ties)
{
    begin_comparison(doc, folder, 1);
    cli_json_count(doc, "tensors", (uint64_t)n);
    cli_json_number(doc, max_key, worst);
    cli_json_count(doc, "ties", (uint64_t)n_ties);
    cli_json_close(doc);
}

// Numbers that JSON lacks are strings, as in cli_json_outputs.h.
static void add_element(cli_json *doc, const char *key, double value)
{
    if (isfinite(value))
        cli_json_number(doc, key, value);
    else
        cli_json_text(doc, key, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

// `op`: the operator that computed the tensor, or NULL.
static void add_difference(cli_json *doc, const char *folder, const char *tensor,
                           const difference *diff, const ln_op *op)
{
    begin_comparison(doc, folder, 0);
    cli_json_text(doc, "tensor", tensor);
    cli_json_count(doc, "index", (uint64_t)diff->index);
    if (diff->dtype == TL_STRING) {
        cli_json_text(doc, "got", tl_string_bytes(diff->got_text));
        cli_json_text(doc, "expected", tl_string_bytes(diff->expected_text));
    } else {
        add_element(doc, "got", diff->got);
        add_element(doc, "expected", diff->expected);
    }
    if (op) {
        cli_json_text(doc, "operator", op->op_arg->name);
        cli_json_text(doc, "type", op->op_arg->optype);
        cli_json_text(doc, "rule", op->op_arg->rule);
    }
    cli_json_close(doc);
}

static void add_type_difference(cli_json *doc, const char *folder, const char *tensor,
                                const tl_tensor *got, const tl_tensor *expected)
{
    begin_comparison(doc, folder, 0);
    cli_json_text(doc, "tensor", tensor);
    cli_json_text(doc, "dtype", tl_dtype_name(got->dtype));
    cli_json_shape(doc, "shape", got->ndim, got->dims);
    cli_json_text(doc, "expected_dtype", tl_dtype_name(expected->dtype));
    cli_json_shape(doc, "expected_shape", expected->ndim, expected->dims);
    cli_json_close(doc);
}

static void add_length_difference(cli_json *doc, const char *folder, const char *name, int got,
                                  int expected)
{
    begin_comparison(doc, folder, 0);
    cli_json_text(doc, "tensor", name);
    cli_json_count(doc, "length", (uint64_t)got);
    cli_json_count(doc, "expected_length", (uint64_t)expected);
    cli_json_close(doc);
}

// Begins the line of a difference; `where` may be NULL.
static void print_differs(const char *where)
{
    cli_print("%s%s%sDIFFERS:%s ", where ? where : "", where ? ": " : "",
              cli_color(stdout, CLI_RED), cli_color_end(stdout));
}

// Stored data sets

// Whether DIR/WHAT_K.npy, .pb or .bin exists; its name is then in `file`.
static int has_stored(char *file, const char *dir, const char *what, int k)
{
    static const char *const endings[] = {"npy", "pb", "bin"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (!cli_data_file(file, dir, what, k, endings[i]) && !access(file, F_OK))
            return 1;
    return 0;
}

// Data of tensors that the model does not have may belong to another model.
static void warn_of_surplus(ln_context *ctx, const char *dir, const char *what, int n)
{
    char file[LN_MAXLINE];
    if (has_stored(file, dir, what, n))
        ln_warn(ctx, "%s is not used: the model has %d %s%s", file, n, what, n == 1 ? "" : "s");
}

// Finds the data of tensor `name`. Returns 0, or CLI_FAILED after a message.
static int find_stored(char *file, const char *dir, const char *what, int k, const char *name)
{
    if (has_stored(file, dir, what, k))
        return 0;
    return cli_fail("%s: no %s_%d.npy, .pb or .bin for %s '%s'", dir, what, k, what, name);
}

static int set_stored_inputs(ln_context *ctx, const verify_options *opt, const char *dir)
{
    char file[LN_MAXLINE];
    int k = 0;
    LN_FOREACH (const char *, name, ctx->inputs)
        if (find_stored(file, dir, "input", k++, name) ||
            cli_model_set_input(ctx, &opt->shared, name, file, 0))
            return CLI_FAILED;
    warn_of_surplus(ctx, dir, "input", k);
    return 0;
}

// Whether files store elements of type `of` as integers of this type, which have the same bits.
static int are_bits(tl_dtype dtype, tl_dtype of)
{
    return of == TL_BFLOAT16 ? dtype == TL_UINT16
                             : tl_dtype_is_stored(of) && (dtype == TL_UINT8 || dtype == TL_INT8);
}

// Returns new: the stored output, of the type and shape in its file; .bin files lack them, and have
// those of `like`. NULL after a message.
static tl_tensor *read_stored(const char *file, const tl_tensor *like)
{
    ln_error err = {0};
    tl_tensor *t = !strcmp(cli_guard_suffix(file), ".bin") ? ln_input_read(file, like, NULL, &err)
                                                           : ln_input_read_whole(file, &err);
    if (!t)
        cli_fail("%s", ln_error_text(&err));
    else if (are_bits(t->dtype, like->dtype))
        t->dtype = like->dtype;
    return t;
}

// `folder`: of stored outputs, or NULL.
static int fail_type(const verify_options *opt, const char *where, const char *folder,
                     const char *name, const tl_tensor *got, const tl_tensor *expected)
{
    char found[LN_MAX_SHAPE], wanted[LN_MAX_SHAPE];
    if (opt->doc) {
        add_type_difference(opt->doc, folder, name, got, expected);
        return CLI_FAILED;
    }
    print_differs(where);
    cli_print("output '%s' is %s %s, expected %s %s\n", name, tl_dtype_name(got->dtype),
              ln_sprint_shape(found, sizeof(found), got->ndim, got->dims),
              tl_dtype_name(expected->dtype),
              ln_sprint_shape(wanted, sizeof(wanted), expected->ndim, expected->dims));
    return CLI_FAILED;
}

// Returns 0 if the output agrees, CLI_FAILED after a message or if it differs (reported in the line
// for the set).
static int compare_output(const verify_options *opt, const char *dir, const char *name,
                          const tl_tensor *got, const tl_tensor *expected, double *worst)
{
    const tolerance tol = cli_stored_tolerance(&opt->tolerance, got->dtype);
    difference diff;
    if (got->dtype != expected->dtype || !tl_tensor_issameshape(got, expected))
        return fail_type(opt, dir, dir, name, got, expected);
    cli_compare(got, expected, &tol, &diff);
    *worst = fmax(*worst, diff.abs);
    if (diff.index < 0)
        return 0;
    if (opt->doc) {
        add_difference(opt->doc, dir, name, &diff, NULL);
        return CLI_FAILED;
    }
    print_differs(dir);
    char found[CLI_ELEMENT_SIZE], wanted[CLI_ELEMENT_SIZE];
    cli_print("output '%s'[%d] is %s, expected %s\n", name, diff.index,
              cli_difference_got(found, &diff), cli_difference_expected(wanted, &diff));
    return CLI_FAILED;
}

// Output tensor number `i`.
static int compare_tensor_with(ln_context *ctx, const verify_options *opt, const char *dir, int i,
                               const tl_tensor *expected, double *worst)
{
    const ln_list *node = ctx->outputs;
    while (i-- > 0)
        node = node->next;
    const tl_tensor *got = cli_model_tensor(ctx, &opt->shared, node->data);
    return got ? compare_output(opt, dir, node->data, got, expected, worst) : CLI_FAILED;
}

static int fail_length(const verify_options *opt, const char *dir, const ln_value_info *info, int n)
{
    const int got = info->len < 0 ? 0 : info->len, expected = n < 0 ? 0 : n;
    if (opt->doc) {
        add_length_difference(opt->doc, dir, info->name, got, expected);
        return CLI_FAILED;
    }
    print_differs(dir);
    cli_print("output '%s' has %d tensor%s, expected %d\n", info->name, got, got == 1 ? "" : "s",
              expected);
    return CLI_FAILED;
}

// Files do not distinguish an absent tensor from an empty sequence.
static int compare_sequence(ln_context *ctx, const verify_options *opt, const char *dir,
                            const ln_value_info *info, const char *file, double *worst)
{
    int n, status = 0;
    ln_error err = {0};
    tl_tensor **tensors = ln_input_read_sequence(file, &n, &err);
    if (!tensors)
        return cli_fail("%s", ln_error_text(&err));
    if (n != info->len && (n > 0 || info->len > 0))
        status = fail_length(opt, dir, info, n);
    for (int i = 0; i < n && !status; i++)
        status = compare_tensor_with(ctx, opt, dir, info->first + i, tensors[i], worst);
    ln_input_free_sequence(tensors, n);
    return status;
}

static int compare_value(ln_context *ctx, const verify_options *opt, const char *dir, int k,
                         const ln_value_info *info, double *worst)
{
    char file[LN_MAXLINE];
    if (find_stored(file, dir, "output", k, info->name))
        return CLI_FAILED;
    if (info->form != LN_FORM_TENSOR &&
        (info->form != LN_FORM_OPTIONAL || info->len < 0 || ln_input_is_sequence(file)))
        return compare_sequence(ctx, opt, dir, info, file, worst);
    const tl_tensor *got = cli_model_tensor(ctx, &opt->shared, info->name);
    tl_tensor *expected = got ? read_stored(file, got) : NULL;
    const int status =
        expected ? compare_output(opt, dir, info->name, got, expected, worst) : CLI_FAILED;
    tl_tensor_free_data_too(expected);
    return status;
}

static int compare_stored_outputs(ln_context *ctx, const verify_options *opt, const char *dir)
{
    ln_value_walk walk = ln_context_walk_values(ctx, 1);
    ln_value_info info;
    int k = 0;
    double worst = 0;
    for (; !ln_value_walk_next(&walk, &info); k++) {
        const int status = compare_value(ctx, opt, dir, k, &info, &worst);
        if (status)
            return status;
    }
    warn_of_surplus(ctx, dir, "output", k);
    if (opt->doc)
        add_agreement(opt->doc, dir, k, "max_difference", worst, 0);
    else
        cli_print("%s: agrees (%d output%s, largest difference %.3g)\n", dir, k, k == 1 ? "" : "s",
                  worst);
    return 0;
}

static int run(ln_context *ctx, const verify_options *opt)
{
    return ln_context_run(ctx) ? cli_model_fail(ctx, &opt->shared) : 0;
}

// A model with open sizes is read again for each data set, whose inputs determine them.

// The files DIR/input_0, DIR/input_1, ... as -i would name them. Free with free_files.
static int list_files(const char *dir, cli_strings *files)
{
    char file[LN_MAXLINE];
    while (has_stored(file, dir, "input", files->n)) {
        const char **longer = realloc(files->items, (size_t)(files->n + 1) * sizeof(*longer));
        char *copy = ln_strdup(file);
        if (longer)
            files->items = longer;
        if (!longer || !copy) {
            ln_free(copy);
            return cli_fail_memory();
        }
        files->items[files->n++] = copy;
    }
    return 0;
}

static void free_files(cli_strings *files)
{
    for (int i = 0; i < files->n; i++)
        ln_free((void *)files->items[i]);
    free(files->items);
}

static int read_and_verify(const verify_options *opt, const char *dir)
{
    verify_options with = *opt;
    with.shared.inputs = (cli_strings){0};
    ln_context *ctx = list_files(dir, &with.shared.inputs) ? NULL : cli_model_open(&with.shared, 0);
    const int status =
        ctx && !run(ctx, opt) && !compare_stored_outputs(ctx, opt, dir) ? 0 : CLI_FAILED;
    ln_context_free(ctx);
    free_files(&with.shared.inputs);
    return status;
}

// `ctx` NULL: reads the model again for this folder; an unreadable model is reported first.
static int verify_folder(ln_context *ctx, const verify_options *opt, const char *dir)
{
    const int is_readable = ctx || !access(opt->shared.args[0], R_OK);
    struct stat st;
    if (is_readable && stat(dir, &st))
        return cli_fail("%s: cannot read: %s", dir, strerror(errno));
    if (is_readable && !S_ISDIR(st.st_mode))
        return cli_fail("%s: cannot read: %s", dir, strerror(ENOTDIR));
    if (!ctx)
        return read_and_verify(opt, dir);
    return set_stored_inputs(ctx, opt, dir) || run(ctx, opt)
               ? CLI_FAILED
               : compare_stored_outputs(ctx, opt, dir);
}

// Sequences have any length, and optional values may be absent: each set decides.
static int has_compound_inputs(const ln_context *ctx)
{
    ln_value_walk walk = ln_context_walk_values(ctx, 0);
    ln_value_info info;
    while (!ln_value_walk_next(&walk, &info))
        if (info.form != LN_FORM_TENSOR)
            return 1;
    return 0;
}

static int verify_sets(const verify_options *opt)
{
    int status = 0;
    ln_context *ctx = cli_model_try(&opt->shared);
    if (ctx && has_compound_inputs(ctx)) {
        ln_context_free(ctx);
        ctx = NULL;
    }
    if (ctx && cli_model_load(ctx, &opt->shared)) {
        ln_context_free(ctx);
        return CLI_FAILED;
    }
    for (int i = 1; i < opt->shared.n_args; i++)
        status |= verify_folder(ctx, opt, opt->shared.args[i]);
    ln_context_free(ctx);
    return status;
}

// Outputs of two programs

// Returns 0 when all is ready for a run, or CLI_FAILED after a message.
static int prepare_uncompiled(ln_context *ctx, const verify_options *opt)
{
    if (ctx->target)
        return cli_fail("%s: %s needs the uncompiled model", ctx->source,
                        opt->reference ? "--reference" : "--against");
    return cli_model_load(ctx, &opt->shared) || cli_model_set_inputs(ctx, &opt->shared, 1)
               ? CLI_FAILED
               : 0;
}

// Returns new: a context that has run on `target`; NULL after a message.
static ln_context *open_for(const verify_options *opt, const char *target)
{
    verify_options with = *opt;
    with.shared.target = target;
    ln_context *ctx = cli_model_read(&with.shared);
    if (!ctx || (!prepare_uncompiled(ctx, &with) && !run(ctx, &with)))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

// Two programs of which only outputs are compared, since other tensors differ.
typedef struct outputs {
    ln_context *ctx, *other;
    const char *name, *other_name; // of the programs, in messages
    int is_exact;                  // bit by bit
} outputs;

// Returns 0 when this output agrees.
static int compare_output_of_both(const outputs *both, const verify_options *opt, const char *name,
                                  double *worst)
{
    const tl_tensor *got = cli_model_tensor(both->ctx, &opt->shared, name);
    const tl_tensor *expected = got ? cli_model_tensor(both->other, &opt->shared, name) : NULL;
    difference diff;
    if (!expected)
        return CLI_FAILED;
    if (got->dtype != expected->dtype || !tl_tensor_issameshape(got, expected))
        return fail_type(opt, both->other_name, NULL, name, got, expected);
    const tolerance tol = both->is_exact ? (tolerance){.rtol = -1}
                                         : cli_reference_tolerance(&opt->tolerance, expected, 0);
    cli_compare(got, expected, &tol, &diff);
    *worst = fmax(*worst, diff.rel);
    if (diff.index < 0)
        return 0;
    if (opt->doc) {
        add_difference(opt->doc, NULL, name, &diff, NULL);
        return CLI_FAILED;
    }
    print_differs(NULL);
    char found[CLI_ELEMENT_SIZE], wanted[CLI_ELEMENT_SIZE];
    cli_print("output '%s'[%d] is %s for %s, %s for %s\n", name, diff.index,
              cli_difference_got(found, &diff), both->name, cli_difference_expected(wanted, &diff),
              both->other_name);
    return CLI_FAILED;
}

static int compare_outputs(const outputs *both, const verify_options *opt, double *worst)
{
    LN_FOREACH (const char *, name, both->ctx->outputs)
        if (compare_output_of_both(both, opt, name, worst))
            return CLI_FAILED;
    return CLI_OK;
}

// The reference program

// Returns new: a program that keeps all its tensors for comparison, ready to run; with `reference`
// the reference program, which has run. NULL after a message.
static ln_context *open_kept(const verify_options *opt, int reference)
{
    ln_context *ctx = cli_model_read(&opt->shared);
    if (!ctx)
        return NULL;
    ln_context_keep_all(ctx);
    if (reference)
        ln_context_set_reference(ctx);
    if (!prepare_uncompiled(ctx, opt) && !(reference && run(ctx, opt)))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

// Two programs that are compared.
typedef struct programs {
    ln_context *ctx, *reference;
    const verify_options *opt;
    ln_hash *writers; // name of a tensor -> the last operator that writes its memory in place
    ln_hash *coarse;  // names of tensors that the reference program computes from results that it
                      // rounded to 16-bit floats
    int n;            // tensors that were compared
    int n_ties;       // of these, with indices of tied elements in another order
    double worst;     // max difference, relative to the max of its tensor
    int status;       // CLI_FAILED: one differs, as reported
} programs;

// Why programs may differ although both are right: the model rounds blocks of elements to 8 bits,
// where a difference in the last digit may become a step of rounding.
static const char *hint_of(const programs *p)
{
    LN_FOREACH (const ln_op *, op, p->reference->ops)
        if (ln_op_is_form_of(op, LN_OP_ROUND_BLOCKS))
            return "; the model rounds to 8 bits: --rtol 1e-2 accepts a step of rounding";
    return "";
}

static void report_difference(const programs *p, const ln_op *op, const char *tensor,
                              const difference *diff)
{
    const char *producer = ln_tensor_table_find(p->ctx->tensor_table, tensor)->creater;
    if (p->opt->doc) {
        add_difference(p->opt->doc, NULL, tensor, diff, op);
        return;
    }
    print_differs(NULL);
    char found[CLI_ELEMENT_SIZE], wanted[CLI_ELEMENT_SIZE];
    cli_print("tensor '%s'[%d] is %s, expected %s; %s by operator '%s' (%s)%s%s%s\n", tensor,
              diff->index, cli_difference_got(found, diff), cli_difference_expected(wanted, diff),
              strcmp(producer, op->op_arg->name) ? "written in place" : "produced",
              op->op_arg->name, op->op_arg->optype, op->op_arg->rule ? ", rule " : "",
              op->op_arg->rule ? op->op_arg->rule : "", hint_of(p));
}

// Maps each tensor that operators write in place to the last of these operators.
static int find_writers(programs *p)
{
    p->writers = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    LN_FOREACH (const ln_op *, op, p->writers ? p->ctx->ops : NULL) {
        const int writes = op->run && op->op_arg->info && op->op_arg->info->inplace_writer;
        LN_FOREACH (const ln_tensor_list_entry *, tle, writes ? op->op_arg->tensors_out : NULL) {
            const ln_hash *table = p->ctx->tensor_table;
            const ln_tensor_entry *te = ln_tensor_table_find(table, tle->name);
            const char *root = ln_tensor_table_root(table, te)->name;
            if (te->owner && ln_hash_insert(p->writers, root, (void *)op) < 0)
                return cli_fail_memory();
        }
    }
    return p->writers ? 0 : cli_fail_memory();
}

// Whether the reference program rounds outputs of the operator, or has rounded its inputs, to 16
// bits.
static int computes_coarsely(const programs *p, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (ln_hash_find_extended(p->coarse, tle->name, NULL, NULL))
            return 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                op->op_arg->tensors_in ? op->op_arg->tensors_out : NULL) {
        const tl_tensor *t = ln_tensor_table_find(p->reference->tensor_table, tle->name)->tensor;
        if (t->dtype == TL_FLOAT16 || t->dtype == TL_BFLOAT16)
            return 1;
    }
    return 0;
}

static int find_coarse(programs *p)
{
    p->coarse = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    LN_FOREACH (const ln_op *, op, p->coarse ? p->reference->ops : NULL)
        LN_FOREACH (const ln_tensor_list_entry *, tle,
                    computes_coarsely(p, op) ? op->op_arg->tensors_out : NULL)
            if (ln_hash_insert(p->coarse, tle->name, NULL) < 0)
                return cli_fail_memory();
    return p->coarse ? 0 : cli_fail_memory();
}

// The operator that writes the tensor's memory last; NULL: its producer.
static const ln_op *writer_of(const programs *p, const char *name)
{
    const ln_hash *table = p->ctx->tensor_table;
    const ln_tensor_entry *te = ln_tensor_table_find(table, name);
    return ln_hash_find(p->writers, ln_tensor_table_root(table, te)->name);
}

// Compares a tensor, whose rows may lie apart, with that of the reference program.
static int compare_elements(const programs *p, const ln_tensor_entry *te, const tl_tensor *expected,
                            difference *diff)
{
    const int is_coarse = ln_hash_find_extended(p->coarse, te->name, NULL, NULL);
    const tolerance tol = cli_reference_tolerance(&p->opt->tolerance, expected, is_coarse);
    void *const rows = te->rows ? ln_context_get_data(p->ctx, te->name, NULL) : NULL;
    tl_tensor got = *te->tensor;
    if (te->rows && !rows)
        return cli_model_fail(p->ctx, &p->opt->shared);
    if (rows)
        got.data = rows;
    cli_compare(&got, expected, &tol, diff);
    free(rows);
    return 0;
}

// Skips tensors that are not in the CPU's memory in both programs, and those other than outputs
// with different types or shapes.
static int compare_tensor(programs *p, const ln_op *op, const char *name)
{
    const ln_tensor_entry *entry = ln_tensor_table_find(p->ctx->tensor_table, name);
    const ln_tensor_entry *te = ln_tensor_table_find(p->reference->tensor_table, name);
    if (!te || entry->mtype != LN_MEM_CPU || te->mtype != LN_MEM_CPU)
        return 0;
    const tl_tensor *got = entry->tensor;
    if (got->dtype != te->tensor->dtype || !tl_tensor_issameshape(got, te->tensor)) {
        const int is_output = ln_context_is_output(p->ctx, name);
        return is_output ? fail_type(p->opt, p->ctx->source, NULL, name, got, te->tensor) : 0;
    }
    difference diff;
    if (compare_elements(p, entry, te->tensor, &diff))
        return CLI_FAILED;
    p->n++;
    if (diff.index >= 0 && cli_ties_replace(p->ctx, p->reference, &p->opt->tolerance, op, name)) {
        p->n_ties++;
        return 0;
    }
    p->worst = fmax(p->worst, diff.rel);
    if (diff.index >= 0)
        report_difference(p, op, name, &diff);
    return diff.index >= 0 ? CLI_FAILED : 0;
}

// Tensors of earlier operators, whose final content this one writes.
static int compare_written(programs *p, const ln_op *writer)
{
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        if (op == writer)
            return 0;
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
            if (writer_of(p, tle->name) == writer && compare_tensor(p, writer, tle->name))
                return CLI_FAILED;
    }
    return 0;
}

// Compares outputs of the operator, also written in place, unless a later one writes them.
static int compare_results(void *data, const ln_op *op)
{
    programs *p = data;
    int is_writer = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const ln_op *writer = writer_of(p, tle->name);
        is_writer |= writer == op;
        if ((!writer || writer == op) && (p->status = compare_tensor(p, op, tle->name)))
            return -1;
    }
    p->status = is_writer ? compare_written(p, op) : 0;
    return p->status ? -1 : 0;
}

// Compares tensors during a run of the optimized program, after the operator that computes them. If
// ties are in another order, the run continues with the indices of the reference program.
static int compare_tensors(programs *p)
{
    if (find_writers(p) || find_coarse(p))
        return CLI_FAILED;
    if (ln_context_run_each(p->ctx, compare_results, p))
        return p->status ? p->status : cli_model_fail(p->ctx, &p->opt->shared);
    return CLI_OK;
}

// The programs above have memory for each tensor. A run in planned memory, where tensors share it,
// must have the same outputs, bit by bit. A program whose indices were replaced runs again.
static int compare_planned(const programs *p)
{
    ln_context *again = p->n_ties ? open_kept(p->opt, 0) : NULL;
    ln_context *planned = open_for(p->opt, p->opt->shared.target);
    const outputs both = {.ctx = planned,
                          .other = p->n_ties ? again : p->ctx,
                          .name = "planned memory",
                          .other_name = "separate memory",
                          .is_exact = 1};
    double worst = 0;
    const int is_ready = planned && both.other && !(again && run(again, p->opt));
    const int status = is_ready ? compare_outputs(&both, p->opt, &worst) : CLI_FAILED;
    ln_context_free(again);
    ln_context_free(planned);
    return status;
}

static int compare_programs(programs *p)
{
    if (compare_tensors(p) || compare_planned(p))
        return CLI_FAILED;
    if (p->opt->doc) {
        add_agreement(p->opt->doc, NULL, p->n, "max_relative_difference", p->worst, p->n_ties);
        return CLI_OK;
    }
    cli_print(
        "agrees with the reference program (%d tensors, largest difference %.3g of the largest "
        "element",
        p->n, p->worst);
    if (p->n_ties)
        cli_print(", indices of equal elements in another order in %d", p->n_ties);
    cli_print(")\n");
    return CLI_OK;
}

static int verify_reference(const verify_options *opt)
{
    ln_context *ctx = open_kept(opt, 0);
    ln_context *reference = ctx ? open_kept(opt, 1) : NULL;
    programs p = {.ctx = ctx, .reference = reference, .opt = opt};
    const int status = reference ? compare_programs(&p) : CLI_FAILED;
    ln_hash_free(p.writers);
    ln_hash_free(p.coarse);
    ln_context_free(ctx);
    ln_context_free(reference);
    return status;
}

// Another target

static int compare_targets(ln_context *ctx, ln_context *other, const verify_options *opt)
{
    const outputs both = {.ctx = ctx,
                          .other = other,
                          .name = cli_target(&opt->shared),
                          .other_name = opt->shared.against};
    double worst = 0;
    if (!ctx->outputs)
        return cli_fail("%s: the model has no outputs, so there is nothing to compare",
                        ctx->source);
    if (compare_outputs(&both, opt, &worst))
        return CLI_FAILED;
    const int n = ln_list_length(ctx->outputs);
    if (opt->doc) {
        add_agreement(opt->doc, NULL, n, "max_relative_difference", worst, 0);
        return CLI_OK;
    }
    cli_print("%s agrees with %s (%d output%s, largest difference %.3g of the largest element)\n",
              cli_target(&opt->shared), opt->shared.against, n, n == 1 ? "" : "s", worst);
    return CLI_OK;
}

static int verify_targets(const verify_options *opt)
{
    ln_context *ctx = open_for(opt, opt->shared.target);
    ln_context *other = ctx ? open_for(opt, opt->shared.against) : NULL;
    const int status = other ? compare_targets(ctx, other, opt) : CLI_FAILED;
    ln_context_free(ctx);
    ln_context_free(other);
    return status;
}

static int verify(const verify_options *opt)
{
    return opt->reference        ? verify_reference(opt)
           : opt->shared.against ? verify_targets(opt)
                                 : verify_sets(opt);
}

// All comparisons in one document.
static int verify_as_json(const verify_options *opt)
{
    cli_json doc = {0};
    verify_options with = *opt;
    with.doc = &doc;
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "model", cli_source_name(opt->shared.args[0]));
    cli_json_text(&doc, "compared_with",
                  opt->reference        ? "reference"
                  : opt->shared.against ? opt->shared.against
                                        : "stored");
    cli_json_open(&doc, "comparisons", '[');
    const int status = verify(&with);
    cli_json_close(&doc);
    cli_json_flag(&doc, "agrees", !status);
    cli_json_close(&doc);
    return status;
}

static int run_verify(const cli_options *shared)
{
    const verify_options *opt = (const verify_options *)shared;
    const char *two_programs = opt->reference        ? "--reference"
                               : opt->shared.against ? "--against"
                                                     : NULL;
    if (opt->reference && opt->shared.against)
        return cli_usage("--reference and --against exclude each other");
    if (two_programs && opt->shared.n_args > 1)
        return cli_usage("%s accepts no folder; unexpected argument '%s'", two_programs,
                         opt->shared.args[1]);
    if (!two_programs && opt->shared.n_args < 2)
        return cli_usage("verify needs a folder with input_K.npy and output_K.npy, --reference or "
                         "--against");
    if (!two_programs && opt->shared.inputs.n)
        return cli_usage("-i needs --reference or --against; without them, each folder contains "
                         "the inputs");
    return opt->shared.json ? verify_as_json(opt) : verify(opt);
}

static verify_options given = {.shared = {CLI_DEFAULTS}, .tolerance = CLI_TOLERANCES};

#define OWN(name) offsetof(verify_options, name)

static const cli_option options[] = {
    CLI_SHARED("target", "allow-output"),
    CLI_SHARED("input", "input"),
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("preprocess", "max-constant"),
    {"reference", 0, CLI_FLAG, OWN(reference), NULL,
     "compare with the unoptimized program, tensor by tensor"},
    CLI_SHARED("against", "against"),
    {"rtol", 0, CLI_NOT_NEGATIVE, OWN(tolerance.rtol), "R",
     "relative tolerance (default 1e-3, with --reference or --against 1e-4; 16-bit floats 1e-2, "
     "integers 0)"},
    {"atol", 0, CLI_NOT_NEGATIVE, OWN(tolerance.atol), "A",
     "absolute tolerance (default 1e-5, with --reference or --against 1e-6)"},
    CLI_SHARED("json", "json"),
    CLI_SHARED("threads", "tune"),
    CLI_SHARED("debug", "no-warnings"),
};

const cli_command cli_verify_command = {
    {"verify", "MODEL [DIR...]", 1, -1,
     "compare outputs with stored ones, the reference program or another target"},
    CLI_ROWS(options),
    &given.shared,
    run_verify};
