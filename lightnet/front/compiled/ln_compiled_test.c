// SPDX-License-Identifier: Apache-2.0
// Tests of compiled models in one file with their weights: written, read, run, and rejected.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "data/ln_compiled_file.h"
#include "ln_data_check.h"
#include "front/ln_front.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_version.h"
#include "run/ln_store.h"
#include "tensorlight/tl_exec.h"

static char folder[32];

// y = relu(x + (w + v)), and z = x + b: w + v is computed at load, b is read as it is.

#define SOURCE(name, data)                                                                        \
    "{\"name\": \"make_" name "\", \"optype\": \"source\", \"tensors_in\": [], \"tensors_out\": " \
    "[{\"arg_name\": \"dst\", \"name\": \"" name "\"}], \"params\": [{\"arg_name\": \"dtype\", "  \
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [2]}, {\"arg_name\": "         \
    "\"data\", \"value\": [" data "]}]}, "
#define SUM(src1, src2, dst)                                                                       \
    "{\"name\": \"make_" dst "\", \"optype\": \"elew\", \"tensors_in\": [{\"arg_name\": \"src1\"," \
    " \"name\": \"" src1 "\"}, {\"arg_name\": \"src2\", \"name\": \"" src2 "\"}], "                \
    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"" dst "\"}], \"params\": "              \
    "[{\"arg_name\": \"elew_op\", \"value\": \"TL_SUM\"}]}"

static const char model[] =
    "{\"inputs\": [\"x\"], \"outputs\": [\"y\", \"z\"], \"ops\": [" SOURCE("x", "")
        SOURCE("w", "1, -2") SOURCE("v", "10, 20") SOURCE("b", "0.5, 0.25")
            SUM("w", "v", "u") ", " SUM("x", "u", "y") ", " SUM("x", "b", "z") "]}";

static ln_context *create(void)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    return ctx;
}

static void save(const char *file)
{
    ln_context *ctx = create();
    ck_assert_msg(!ln_context_init_text(ctx, "model", model, strlen(model)) &&
                      !ln_context_compile(ctx, "cpu") && !ln_context_save(ctx, NULL, file),
                  "%s", ln_context_error(ctx));
    ln_context_free(ctx);
}

// Two programs, which are the same.
static ln_context *create_compiled(void)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "model", model, strlen(model)) &&
        !ln_context_compile(ctx, "cpu"))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

static int save_two(const char *file)
{
    ln_context *programs[] = {create_compiled(), create_compiled()};
    const int status =
        programs[0] && programs[1] ? ln_context_save_all(programs, 2, NULL, file) : -1;
    ln_context_free(programs[0]);
    ln_context_free(programs[1]);
    return status;
}

static void check_output(ln_context *ctx, const char *name, float first, float second)
{
    float got[2];
    ck_assert_msg(ln_context_get_data(ctx, name, got) == got, "%s", ln_context_error(ctx));
    ck_assert_float_eq(got[0], first);
    ck_assert_float_eq(got[1], second);
}

static void run(ln_context *ctx)
{
    ck_assert_msg(!ln_context_set_data(ctx, "x", (const float[]){100, 200}) && !ln_context_run(ctx),
                  "%s", ln_context_error(ctx));
}

static ln_context *load(const char *file)
{
    ln_context *ctx = create();
    ck_assert_msg(!ln_context_init(ctx, file) && !ln_context_load(ctx, NULL), "%s",
                  ln_context_error(ctx));
    return ctx;
}

START_TEST(a_saved_model_runs_and_computes_nothing_at_load)
{
    ln_stats stats;
    enter_new_folder(folder);
    save("m.safetensors");
    ln_context *ctx = load("m.safetensors");
    ck_assert_str_eq(ctx->target, "cpu");
    ck_assert_int_eq(ln_context_stats(ctx, &stats), 0);
    ck_assert_int_eq(stats.ops_at_load, 0);
    run(ctx);
    check_output(ctx, "y", 111, 218);
    check_output(ctx, "z", 100.5f, 200.25f);
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

static void check_node(const ln_context *ctx, const char *tensor, const char *name, int number)
{
    const ln_op *const op = ln_entry_creater(ln_tensor_table_find(ctx->tensor_table, tensor));
    ck_assert_int_eq(ln_op_num_nodes(op->op_arg), 1);
    ck_assert_str_eq(ln_op_node(op->op_arg, 0)->name, name);
    ck_assert_str_eq(ln_op_node(op->op_arg, 0)->type, "elew");
    ck_assert_int_eq(ln_op_node(op->op_arg, 0)->number, number);
}

// Of u, which is computed when the model is saved, only the number is left.
static void check_nodes(const char *file)
{
    ln_context *ctx = create();
    ck_assert_msg(!ln_context_bind_shape(ctx, "x", 1, (const int[]){2}) &&
                      !ln_context_init(ctx, file),
                  "%s", ln_context_error(ctx));
    ck_assert_int_eq(ctx->n_model_nodes, 3);
    check_node(ctx, "y", "make_y", 2);
    check_node(ctx, "z", "make_z", 3);
    ln_context_free(ctx);
}

START_TEST(a_saved_model_has_the_nodes_of_the_original)
{
    enter_new_folder(folder);
    save("m.safetensors");
    check_nodes("m.safetensors");
    ck_assert_int_eq(save_two("two.safetensors"), 0);
    check_nodes("two.safetensors");
    leave_folder(folder);
}
END_TEST

START_TEST(the_context_that_was_saved_runs_on)
{
    enter_new_folder(folder);
    ln_context *ctx = create();
    ck_assert_int_eq(ln_context_init_text(ctx, "model", model, strlen(model)), 0);
    ck_assert_int_eq(ln_context_save(ctx, NULL, "m"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model is not compiled");
    ck_assert_int_eq(ln_context_compile(ctx, "cpu"), 0);
    ck_assert_int_eq(ln_context_save(ctx, NULL, "m"), 0);
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    ck_assert_int_eq(ln_context_save(ctx, NULL, "m"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context is loaded; unload it to save the model");
    run(ctx);
    check_output(ctx, "y", 111, 218);
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

START_TEST(sets_or_rejects_constants_by_name)
{
    enter_new_folder(folder);
    save("m.safetensors");
    ln_context *ctx = load("m.safetensors");
    ck_assert_int_eq(ln_context_set_data(ctx, "w", (const float[]){0, 0}), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model contains values computed from 'w' instead "
                                            "of it; to set it, compile the model again");
    ck_assert_int_eq(ln_context_set_shape(ctx, "w", 1, (const int[]){2}), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model contains values computed from 'w' instead "
                                            "of it; to set it, compile the model again");
    ck_assert_int_eq(ln_context_set_data(ctx, "b", (const float[]){3, 4}), 0);
    run(ctx);
    check_output(ctx, "y", 111, 218);
    check_output(ctx, "z", 103, 204);
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

START_TEST(saving_twice_gives_the_same_bytes)
{
    size_t size, again_size;
    enter_new_folder(folder);
    save("m");
    save("again");
    char *bytes = file_bytes("m", &size), *again = file_bytes("again", &again_size);
    ck_assert_uint_eq(size, again_size);
    ck_assert_mem_eq(bytes, again, size);
    free(bytes);
    free(again);
    leave_folder(folder);
}
END_TEST

// Refused

static int read_and_run(const char *file, ln_error *err)
{
    ln_context *ctx = create();
    const int status = ln_context_init(ctx, file) || ln_context_load(ctx, NULL) ||
                               ln_context_set_data(ctx, "x", (const float[]){1, 2}) ||
                               ln_context_run(ctx)
                           ? -1
                           : 0;
    if (status)
        ln_error_set(err, "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    return status;
}

static char *replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    char *made = malloc(strlen(text) + strlen(to) + 1);
    ck_assert_ptr_nonnull(made);
    sprintf(made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return made;
}

// The file "m" with another text in its metadata, or without it: `from` becomes `to` there.
static void write_changed(const char *key, const char *from, const char *to)
{
    static const char *const keys[] = {LN_COMPILED_KEY_VERSION,  LN_COMPILED_KEY_ISA,
                                       LN_COMPILED_KEY_BY,       LN_COMPILED_KEY_IR,
                                       LN_COMPILED_KEY_PROGRAMS, LN_COMPILED_KEY_IR ".2"};
    const char *metadata[13] = {NULL}, *names[8];
    const tl_tensor *tensors[8];
    char *changed = NULL;
    int n = 0;
    ln_safetensors *st = ln_safetensors_open("m", NULL);
    ck_assert_ptr_nonnull(st);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = ln_safetensors_metadata(st, keys[i]);
        if (!value)
            continue;
        if (!strcmp(keys[i], key) && to)
            value = changed = replace(value, from, to);
        else if (!strcmp(keys[i], key))
            continue;
        metadata[n++] = keys[i];
        metadata[n++] = value;
    }
    for (int i = 0; i < ln_safetensors_count(st); i++) {
        names[i] = ln_safetensors_name(st, i);
        tensors[i] = ln_safetensors_find(st, names[i]);
    }
    ck_assert_int_eq(
        ln_safetensors_write("changed", ln_safetensors_count(st), names, tensors, metadata, NULL),
        0);
    free(changed);
    ln_safetensors_close(st);
}

START_TEST(rejects_a_file_that_cannot_run)
{
    static const struct {
        const char *key, *from, *to, *reason;
    } rows[] = {
        {LN_COMPILED_KEY_VERSION, "5", "7",
         "changed: compiled by a newer LightNet (" LN_VERSION
         ") in version 7 of the format, expected 5 or 6; compile the model again with this one"},
        {LN_COMPILED_KEY_VERSION, "5", "1",
         "changed: compiled by an older LightNet (" LN_VERSION
         ") in version 1 of the format, expected 5 or 6; compile the model again with this one"},
        {LN_COMPILED_KEY_VERSION, "5", "one",
         "changed: metadata 'lightnet' is 'one', expected the version of the format"},
        {LN_COMPILED_KEY_VERSION, "5", NULL,
         "changed: safetensors without the metadata 'lightnet': weights, expected a model; give "
         "them beside their model"},
        {LN_COMPILED_KEY_ISA, "", "mmx-", "changed: compiled for a CPU with 'mmx-"},
        {LN_COMPILED_KEY_IR, "", NULL, "changed: the metadata has no 'ir'"},
        {LN_COMPILED_KEY_IR, "\"arch\": \"cpu\"", "\"arch\": \"abacus\"",
         "changed: compiled for 'abacus', an unknown target"},
        {LN_COMPILED_KEY_IR, "\"arch\": \"cpu\",", "", "changed: 'arch' is missing"},
        {LN_COMPILED_KEY_IR, "\"name\": \"u\"", "\"name\": \"other\"",
         "changed: operator 'make_y' (binary_cpu): tensors_in[1]: tensor 'u' is not defined"},
    };
    enter_new_folder(folder);
    save("m");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_error err = {0};
        write_changed(rows[i].key, rows[i].from, rows[i].to);
        ck_assert_int_eq(read_and_run("changed", &err), -1);
        ck_assert_msg(!strncmp(ln_error_text(&err), rows[i].reason, strlen(rows[i].reason)),
                      "'%s', expected '%s'", ln_error_text(&err), rows[i].reason);
    }
    leave_folder(folder);
}
END_TEST

// Mapped files

static ln_context *load_mapped(const char *file, ln_store *store)
{
    ln_infile in;
    ln_context *ctx = create();
    ctx->store = store;
    ck_assert_msg(!ln_infile_open_mapped(&in, file, ctx->error) &&
                      !ln_context_init_file(ctx, file, &in) && !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    ln_infile_close(&in);
    return ctx;
}

static int lies_in_file(const ln_context *ctx, const char *tname)
{
    const void *mapped = ln_weight_mapped(ln_weights_find(ctx->weights, tname));
    ck_assert_ptr_nonnull(mapped);
    return ln_tensor_table_find(ctx->tensor_table, tname)->tensor->data == mapped;
}

START_TEST(a_mapped_constant_is_read_where_it_lies)
{
    enter_new_folder(folder);
    save("m");
    ln_store *store = ln_store_create();
    ln_context *one = load_mapped("m", store), *two = load_mapped("m", store);
    ck_assert(lies_in_file(one, "u") && lies_in_file(two, "u"));
    run(one);
    run(two);
    check_output(one, "y", 111, 218);
    ln_context_free(one);
    run(two);
    check_output(two, "y", 111, 218);
    ln_context_free(two);
    ln_store_free(store);
    leave_folder(folder);
}
END_TEST

START_TEST(setting_a_mapped_constant_leaves_the_file_alone)
{
    size_t size, size_after;
    enter_new_folder(folder);
    save("m");
    char *before = file_bytes("m", &size);
    ln_store *store = ln_store_create();
    ln_context *ctx = load_mapped("m", store);
    ck_assert(lies_in_file(ctx, "u"));
    ck_assert_int_eq(ln_context_set_data(ctx, "u", (const float[]){7, 8}), 0);
    run(ctx);
    check_output(ctx, "y", 107, 208);
    char *after = file_bytes("m", &size_after);
    ck_assert_uint_eq(size, size_after);
    ck_assert_mem_eq(before, after, size);
    ln_context_free(ctx);
    ln_store_free(store);
    free(before);
    free(after);
    leave_folder(folder);
}
END_TEST

// The same file with a header that is longer by a space, so that no tensor is aligned.
static void write_unaligned(const char *file, const char *from)
{
    size_t size;
    uint64_t header;
    char *bytes = file_bytes(from, &size);
    memcpy(&header, bytes, sizeof(header));
    const size_t begin = sizeof(header) + (size_t)header;
    FILE *fp = fopen(file, "wb");
    ck_assert_ptr_nonnull(fp);
    header++;
    fwrite(&header, sizeof(header), 1, fp);
    fwrite(bytes + sizeof(header), 1, begin - sizeof(header), fp);
    fputc(' ', fp);
    fwrite(bytes + begin, 1, size - begin, fp);
    ck_assert_int_eq(fclose(fp), 0);
    free(bytes);
}

START_TEST(a_constant_that_is_not_aligned_is_copied)
{
    enter_new_folder(folder);
    save("m");
    write_unaligned("odd", "m");
    ln_store *store = ln_store_create();
    ln_context *ctx = load_mapped("odd", store);
    ck_assert(!lies_in_file(ctx, "u"));
    run(ctx);
    check_output(ctx, "y", 111, 218);
    ln_context_free(ctx);
    ln_store_free(store);
    leave_folder(folder);
}
END_TEST

// Several programs

START_TEST(programs_share_what_they_have_alike)
{
    enter_new_folder(folder);
    save("m");
    ck_assert_msg(!save_two("two"), "%s", ln_last_error());
    ln_safetensors *one = ln_safetensors_open("m", NULL), *two = ln_safetensors_open("two", NULL);
    ck_assert_str_eq(ln_safetensors_metadata(one, LN_COMPILED_KEY_VERSION), "5");
    ck_assert_str_eq(ln_safetensors_metadata(two, LN_COMPILED_KEY_VERSION), "6");
    ck_assert_ptr_null(ln_safetensors_metadata(one, LN_COMPILED_KEY_PROGRAMS));
    ck_assert_int_eq(ln_safetensors_count(two), ln_safetensors_count(one));
    ln_safetensors_close(one);
    ln_safetensors_close(two);
    leave_folder(folder);
}
END_TEST

START_TEST(a_context_takes_the_program_for_its_shapes)
{
    enter_new_folder(folder);
    ck_assert_int_eq(save_two("two"), 0);
    ln_context *ctx = create();
    ck_assert_int_eq(ln_context_init(ctx, "two"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "two: the model has several programs; give the shapes "
                                            "of one of them: x [2]; x [2]");
    ck_assert_int_eq(ln_context_bind_shape(ctx, "x", 1, (const int[]){3}), 0);
    ck_assert_int_eq(ln_context_init(ctx, "two"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "two: no program supports x [3]; it has programs for x [2]; x [2]");
    ck_assert_int_eq(ln_context_bind_shape(ctx, "x", 1, (const int[]){2}), 0);
    ck_assert_msg(!ln_context_init(ctx, "two") && !ln_context_load(ctx, NULL), "%s",
                  ln_context_error(ctx));
    run(ctx);
    check_output(ctx, "y", 111, 218);
    check_output(ctx, "z", 100.5f, 200.25f);
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_programs_that_cannot_be_saved)
{
    enter_new_folder(folder);
    ln_context *programs[] = {create_compiled(), create()};
    ck_assert_int_eq(ln_context_save_all(programs, 2, NULL, "two"), -1);
    ck_assert_str_eq(ln_context_error(programs[0]), "the model is not compiled");
    ck_assert_int_ne(access("two", F_OK), 0);
    ln_context_free(programs[0]);
    ln_context_free(programs[1]);
    leave_folder(folder);
}
END_TEST

static int read_two_and_run(const char *file, ln_error *err)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return -1;
    const int status = ln_context_bind_shape(ctx, "x", 1, (const int[]){2}) ||
                               ln_context_init(ctx, file) || ln_context_load(ctx, NULL) ||
                               ln_context_set_data(ctx, "x", (const float[]){1, 2}) ||
                               ln_context_run(ctx)
                           ? -1
                           : 0;
    if (status)
        ln_error_set(err, "%s", ln_context_error(ctx));
    ln_context_free(ctx);
    return status;
}

START_TEST(rejects_a_bad_list_of_programs)
{
    static const struct {
        const char *from, *to, *reason;
    } rows[] = {
        {"[", "{", "changed:1:2: programs: "},
        {"\"ir\":\"ir\"", "\"ir\":1", "changed: metadata 'programs': program 1: 'ir' is missing"},
        {"\"ir\":\"ir\"", "\"ir\":\"no\"", "changed: the metadata has no 'no'"},
        {"\"inputs\"", "\"in\"",
         "changed: metadata 'programs': program 1: 'inputs' or 'outputs' is missing"},
        {"\"TL_FLOAT\"", "\"float\"",
         "changed: metadata 'programs': program 1: an input or output lacks a name, a type or "
         "sizes"},
        {"\"TL_FLOAT\"", "\"TL_DOUBLE\"",
         "changed: metadata 'programs': program 2: its inputs and outputs differ from those of the "
         "first"},
        {"[[2,2,", "[[2,1,",
         "changed: metadata 'programs': program 1: a size is not [MIN, MAX, NAME]"},
        {"[[2,2,", "[[2,3000000000,",
         "changed: metadata 'programs': program 1: a size is not [MIN, MAX, NAME]"},
        {"null", "0", "changed: metadata 'programs': program 1: a size is not [MIN, MAX, NAME]"},
        {"\"tensors\"", "\"t\"", "changed: metadata 'programs': program 1: 'tensors' is missing"},
        {"\"u\":\"u\"", "\"u\":\"v\"",
         "changed: metadata 'programs': program 1: a tensor of 'tensors' is not in the file"},
        {"\"u\":\"u\"", "\"v\":\"u\"", "changed: no tensor 'u', expected TL_FLOAT [2]"},
    };
    enter_new_folder(folder);
    ck_assert_int_eq(save_two("m"), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_error err = {0};
        write_changed(LN_COMPILED_KEY_PROGRAMS, rows[i].from, rows[i].to);
        ck_assert_int_eq(read_two_and_run("changed", &err), -1);
        ck_assert_msg(!strncmp(ln_error_text(&err), rows[i].reason, strlen(rows[i].reason)),
                      "'%s', expected '%s'", ln_error_text(&err), rows[i].reason);
    }
    leave_folder(folder);
}
END_TEST

static void note_warning(void *data, ln_msg_level level, const char *text)
{
    if (level == LN_MSG_WARN)
        snprintf(data, LN_MAXLINE, "%s", text);
}

START_TEST(a_file_for_other_cpu_features_runs_with_a_warning)
{
    char warning[LN_MAXLINE] = "";
    const char *isa = tl_isa_name(tl_isa_best());
    enter_new_folder(folder);
    save("m");
    write_changed(LN_COMPILED_KEY_ISA, isa, tl_isa_is_usable(TL_ISA_NEON) ? "avx512" : "neon");
    ln_context *ctx = create();
    ctx->msg_func = note_warning;
    ctx->msg_data = warning;
    ck_assert_int_eq(ln_context_init(ctx, "changed"), 0);
    ck_assert_ptr_nonnull(strstr(warning, "runs with the kernels of this one"));
    ck_assert_int_eq(ln_context_load(ctx, NULL), 0);
    run(ctx);
    check_output(ctx, "y", 111, 218);
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

START_TEST(broken_files_are_rejected_or_run)
{
    size_t size;
    enter_new_folder(folder);
    save("m");
    char *bytes = file_bytes("m", &size);
    check_mutations(bytes, size, read_and_run);
    free(bytes);
    ck_assert_int_eq(save_two("m"), 0);
    bytes = file_bytes("m", &size);
    check_mutations(bytes, size, read_two_and_run);
    free(bytes);
    leave_folder(folder);
}
END_TEST

static int save_and_run(void)
{
    ln_context *ctx = ln_context_create();
    const int status = !ctx || ln_context_init_text(ctx, "model", model, strlen(model)) ||
                               ln_context_compile(ctx, "cpu") || ln_context_save(ctx, NULL, "m")
                           ? -1
                           : 0;
    ln_context_free(ctx);
    if (status)
        return -1;
    ctx = ln_context_create();
    const int again = !ctx || ln_context_init(ctx, "m") || ln_context_load(ctx, NULL) ? -1 : 0;
    ln_context_free(ctx);
    return again;
}

static int save_two_and_run(void)
{
    ln_error err = {0};
    return save_two("m") || read_two_and_run("m", &err) ? -1 : 0;
}

static void fail_each(int (*func)(void))
{
    int n, failed = 1;
    for (n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int status = func();
        failed = ln_alloc_fail_stop();
        // A hash table that cannot grow keeps its size; any other failure is an error.
        ck_assert_msg(failed || status == 0, "allocation %d", n);
    }
    ck_assert_int_gt(n, 200);
}

START_TEST(every_allocation_may_fail)
{
    enter_new_folder(folder);
    fail_each(save_and_run);
    fail_each(save_two_and_run);
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("compiled models", a_saved_model_runs_and_computes_nothing_at_load,
             a_saved_model_has_the_nodes_of_the_original, the_context_that_was_saved_runs_on,
             sets_or_rejects_constants_by_name, saving_twice_gives_the_same_bytes,
             rejects_a_file_that_cannot_run, a_mapped_constant_is_read_where_it_lies,
             setting_a_mapped_constant_leaves_the_file_alone,
             a_constant_that_is_not_aligned_is_copied, programs_share_what_they_have_alike,
             a_context_takes_the_program_for_its_shapes, rejects_programs_that_cannot_be_saved,
             rejects_a_bad_list_of_programs, a_file_for_other_cpu_features_runs_with_a_warning,
             broken_files_are_rejected_or_run, every_allocation_may_fail)
