// SPDX-License-Identifier: Apache-2.0
// Tests of the CPU's operators in small models: side effects, and operators on the memory of
// others.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu_model.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_context.h"
#include "ln_check.h"

// Side effects

static void assert_file(const char *file, const char *expected)
{
    char text[256] = "";
    FILE *stream = fopen(file, "r");
    ck_assert_ptr_nonnull(stream);
    text[fread(text, 1, sizeof(text) - 1, stream)] = '\0';
    fclose(stream);
    ck_assert_str_eq(text, expected);
}

#define MATRIX_TEXT "[[1.000 2.000]\n [3.000 4.000]]\n"

START_TEST(fprint_replaces_the_file_at_every_run)
{
    char file[] = "/tmp/cpu_memory_test_XXXXXX", model[2048];
    close(mkstemp(file));
    snprintf(model, sizeof(model),
             MODEL("", "",
                   MATRIX "," OP("p", "fprint", TENSOR("src", "x"), "",
                                 PARAM("msg", "'x is'") "," PARAM("file", "'%s'"))),
             file);
    ln_context *ctx = load_allowing(model, "/tmp");
    run(ctx);
    run(ctx);
    assert_file(file, "x is\n" MATRIX_TEXT);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

static void keep_message(void *data, ln_msg_level level, const char *text)
{
    if (level == LN_MSG_WARN)
        snprintf(data, LN_MAXLINE, "%s", text);
}

START_TEST(fprint_warns_of_a_file_that_cannot_be_opened_and_goes_on)
{
    char warning[LN_MAXLINE] = "";
    ln_context *ctx =
        load_allowing(MODEL("", "",
                            MATRIX "," OP("p", "fprint", TENSOR("src", "x"), "",
                                          PARAM("msg", "'x'") "," PARAM("file", "'/dev/null/a'"))),
                      "/");
    ctx->msg_func = keep_message;
    ctx->msg_data = warning;
    run(ctx);
    ck_assert_msg(strstr(warning, "'p'") && strstr(warning, "'/dev/null/a'") &&
                      strstr(warning, "'x'"),
                  "'%s'", warning);
    ln_context_free(ctx);
}
END_TEST

START_TEST(print_writes_to_standard_output_in_the_order_of_the_list)
{
    char file[] = "/tmp/cpu_memory_test_XXXXXX";
    ln_context *ctx = load_allowing(
        MODEL("", "",
              MATRIX "," OP("p", "print", TENSOR("src", "x"), "", PARAM("msg", "'first'")) "," OP(
                  "q", "print", TENSOR("src", "x"), "", PARAM("msg", "'second'"))),
        "-");
    fflush(stdout);
    const int fd = mkstemp(file), saved = dup(1);
    dup2(fd, 1);
    run(ctx);
    fflush(stdout);
    dup2(saved, 1);
    close(fd);
    close(saved);
    assert_file(file, "first\n" MATRIX_TEXT "second\n" MATRIX_TEXT);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

#define PRINT(name, optype) OP(name, optype, TENSOR("src", "x"), "", PARAM("msg", "'x'"))
#define FPRINT(name, optype, file) \
    OP(name, optype, TENSOR("src", "x"), "", PARAM("msg", "'x'") "," PARAM("file", "'" file "'"))

START_TEST(a_model_writes_only_what_is_allowed)
{
    static const char files[] = "writes files, which a model may only in a folder that is allowed",
                      text[] =
                          "writes to standard output, which a model may only if that is allowed";
    static const struct {
        const char *op, *allowed, *reason; // NULL: it is read
    } rows[] = {
        {PRINT("p", "print"), NULL, text},         {PRINT("p", "print_cpu"), NULL, text},
        {PRINT("p", "print"), "-", NULL},          {PRINT("p", "print"), "/tmp", NULL},
        {FPRINT("p", "fprint", "a"), NULL, files}, {FPRINT("p", "fprint_cpu", "a"), NULL, files},
        {FPRINT("p", "fprint", "a"), "-", files},  {FPRINT("p", "fprint", "a"), "/tmp", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char model[2048], expected[256];
        snprintf(model, sizeof(model), MODEL("", "", MATRIX ",%s"), rows[i].op);
        snprintf(expected, sizeof(expected), "model: operator 'p' (%s",
                 strstr(rows[i].op, "fprint") ? "fprint" : "print");
        ln_context *ctx;
        const int status = read_allowing(&ctx, model, rows[i].allowed);
        ck_assert_msg(!status == !rows[i].reason, "row %zu: %s", i, ln_context_error(ctx));
        if (rows[i].reason)
            ck_assert_msg(strstr(ln_context_error(ctx), rows[i].reason) &&
                              !strncmp(ln_context_error(ctx), expected, strlen(expected)),
                          "row %zu: %s", i, ln_context_error(ctx));
        ln_context_free(ctx);
    }
}
END_TEST

START_TEST(files_outside_of_the_allowed_folder_end_the_run)
{
    static const char *const files[] = {"../x", "/etc/none", "/tmp/../x", ""};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char model[2048];
        snprintf(model, sizeof(model), MODEL("", "", MATRIX "," FPRINT("p", "fprint", "%s")),
                 files[i]);
        ln_context *ctx = load_allowing(model, "/tmp");
        ck_assert_int_eq(ln_context_run(ctx), -1);
        ck_assert_msg(strstr(ln_context_error(ctx), "outside of the folder '/tmp'") != NULL, "%s",
                      ln_context_error(ctx));
        ln_context_free(ctx);
    }
}
END_TEST

// Its own operators are as much its code as a call of fopen.
START_TEST(a_program_may_add_operators_that_write)
{
    char file[] = "/tmp/cpu_memory_test_XXXXXX";
    close(mkstemp(file));
    ln_context *ctx = load(MODEL("", "'x'", MATRIX));
    ln_context_unload(ctx);
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, "fprint_cpu");
    ck_assert_ptr_nonnull(proto);
    ln_list *in = ln_tensor_list_append(NULL, "src", "x");
    ln_list *params = ln_param_list_append_string(ln_param_list_append_string(NULL, "msg", "added"),
                                                  "file", file);
    ln_op *op = ln_op_create_from_proto(proto, "p", in, NULL, params, ctx->tensor_table);
    ln_list *end = NULL;
    ck_assert_msg(!ln_context_add_op(ctx, &end, op), "%s", ln_context_error(ctx));
    ck_assert_msg(!ln_context_load(ctx, NULL), "%s", ln_context_error(ctx));
    run(ctx);
    assert_file(file, "added\n" MATRIX_TEXT);
    ln_context_free(ctx);
    unlink(file);
}
END_TEST

START_TEST(outputs_are_allowed_before_the_model_is_read)
{
    ln_context *ctx = load(MODEL("", "", MATRIX));
    ck_assert_int_eq(ln_context_allow_output(ctx, "/tmp"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the context holds a model: allow its outputs before it is read");
    ln_context_free(ctx);
}
END_TEST

// Shared memory

#define TWO_RELUS                                            \
    CREATE("create_cpu", "a", "TL_FLOAT", "[3]", "[1,-2,3]") \
    "," CREATE("create_cpu", "b", "TL_FLOAT", "[3]",         \
               "[-4,5,-6]") "," RELU_CPU("r", "a", "x") "," RELU_CPU("s", "b", "y") ","

START_TEST(nocopy_gather_lets_producers_write_into_its_output)
{
    ln_context *ctx = load(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x") "," TENSOR("src2", "y"),
                           TENSOR("dst", "g"), "")));
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const ln_tensor_entry *y = ln_tensor_table_find(ctx->tensor_table, "y");
    const ln_tensor_entry *g = ln_tensor_table_find(ctx->tensor_table, "g");
    ck_assert_uint_eq(x->offset, g->offset);
    ck_assert_uint_eq(y->offset, g->offset + 3 * sizeof(float));
    run(ctx);
    ASSERT_FLOATS(ctx, "g", 1, 0, 3, 0, 5, 0);
    ln_context_free(ctx);
}
END_TEST

START_TEST(nocopy_gather_rejects_inputs_that_cannot_be_parts)
{
    assert_rejected(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x") "," TENSOR("src2", "x"),
                           TENSOR("dst", "g"), "")),
        "tensor 'x' is an input twice");
    assert_rejected(
        MODEL("'a','b'", "'g'",
              TWO_RELUS OP("f", "forward_cpu", TENSOR("src", "x"), TENSOR("dst", "v"), "") "," OP(
                  "g", "gather_nocopy_cpu", TENSOR("src1", "v"), TENSOR("dst", "g"), "")),
        "tensor 'v' shares the memory of 'x'");
    assert_rejected(
        MODEL("'a','b'", "'g','h'",
              TWO_RELUS OP("g", "gather_nocopy_cpu", TENSOR("src1", "x"), TENSOR("dst", "g"),
                           "") "," OP("h", "gather_nocopy_cpu",
                                      TENSOR("src1", "y") "," TENSOR("src2", "x"),
                                      TENSOR("dst", "h"), "")),
        "tensor 'x' shares the memory of 'g'");
}
END_TEST

START_TEST(nocopy_scatter_gives_views_of_rows)
{
    ln_context *ctx = load(
        MODEL("'a'", "'sum'",
              CREATE("create_cpu", "a", "TL_FLOAT", "[2,3]", "[1,-2,3,-4,5,-6]") "," RELU_CPU(
                  "r", "a",
                  "x") "," OP("rows", "scatter_nocopy_cpu", TENSOR("src", "x"),
                              TENSOR("dst1", "first") "," TENSOR("dst2", "second"),
                              "") "," OP("sum", "binary_cpu",
                                         TENSOR("src1", "first") "," TENSOR("src2", "second"),
                                         TENSOR("dst", "sum"), PARAM("op", "'TL_BINARY_ADD'"))));
    const ln_tensor_entry *x = ln_tensor_table_find(ctx->tensor_table, "x");
    const ln_tensor_entry *second = ln_tensor_table_find(ctx->tensor_table, "second");
    ck_assert_uint_eq(second->offset, x->offset + 3 * sizeof(float));
    run(ctx);
    ASSERT_FLOATS(ctx, "sum", 1, 5, 3);
    ln_context_free(ctx);
}
END_TEST

START_TEST(keys_and_values_of_one_memory_are_not_sorted)
{
    assert_rejected(MODEL("'k'", "'a','b'",
                          CREATE("create", "k", "TL_INT32", "[2]", "[1]") "," OP(
                              "v", "forward", TENSOR("src", "k"), TENSOR("dst", "v"),
                              "") "," OP("s", "sort1d_by_key",
                                         TENSOR("src_key", "k") "," TENSOR("src_val", "v"),
                                         TENSOR("dst_key", "a") "," TENSOR("dst_val", "b"),
                                         PARAM("dir", "'TL_SORT_DIR_ASCENDING'"))),
                    "'src_val' and 'src_key' share the memory of one tensor");
}
END_TEST

// Constants from a file, of which loading needs the memory for others: y = relu(relu(x w + b) v +
// b), with weights that are packed and a bias that is read as it is.

#define FROM_FILE(name, dims)                                                                    \
    OP("create_" name, "create", "", TENSOR("dst", name),                                        \
       PARAM("dtype", "'TL_FLOAT'") "," PARAM("dims", dims) "," PARAM("ran", "[0,0]") "," PARAM( \
           "data", "[0]") "," PARAM("from_file", "true"))
#define LAYER(n, src, weight, dst)                                                              \
    OP("m" n, "matmul", TENSOR("src1", src) "," TENSOR("src2", weight) "," TENSOR("bias", "b"), \
       TENSOR("dst", "p" n), "")                                                                \
    "," OP("r" n, "relu", TENSOR("src", "p" n), TENSOR("dst", dst), "")
#define LAYERS(inputs)                                                                           \
    MODEL(inputs, "'y'",                                                                         \
          FROM_FILE("x", "[3,40]") "," FROM_FILE("w", "[40,40]") "," FROM_FILE(                  \
              "v", "[40,40]") "," FROM_FILE("b", "[40]") "," LAYER("1", "x", "w",                \
                                                                   "h") "," LAYER("2", "h", "v", \
                                                                                  "y"))

static void set_numbers(ln_context *ctx, const char *name, int len, int step)
{
    float numbers[40 * 40];
    for (int i = 0; i < len; i++)
        numbers[i] = (float)((i * step) % 7 - 3);
    ck_assert_msg(!ln_context_set_data(ctx, name, numbers), "%s", ln_context_error(ctx));
}

static ln_context *load_layers(const char *model)
{
    ln_context *ctx = load(model);
    set_numbers(ctx, "w", 40 * 40, 3);
    set_numbers(ctx, "v", 40 * 40, 5);
    set_numbers(ctx, "b", 40, 2);
    return ctx;
}

START_TEST(data_from_a_file_serves_every_update)
{
    ln_context *constant = load_layers(LAYERS("")), *declared = load_layers(LAYERS("'x'"));
    for (int step = 1; step < 7; step++) {
        float is[3 * 40], should[3 * 40];
        set_numbers(constant, "x", 3 * 40, step);
        set_numbers(declared, "x", 3 * 40, step);
        if (step == 4) { // a weight, in between
            set_numbers(constant, "v", 40 * 40, 4);
            set_numbers(declared, "v", 40 * 40, 4);
        }
        run(constant);
        run(declared);
        ck_assert_ptr_nonnull(ln_context_get_data(constant, "y", is));
        ck_assert_ptr_nonnull(ln_context_get_data(declared, "y", should));
        ck_assert_mem_eq(is, should, sizeof(is));
    }
    ln_context_free(constant);
    ln_context_free(declared);
}
END_TEST

// Writes weights, and x if `has_x`, which is 1 everywhere.
static void write_weights(const char *file, int has_x)
{
    static const char *const names[] = {"w", "v", "b", "x"};
    float numbers[3][40 * 40], ones[3 * 40];
    for (int i = 0; i < 40 * 40; i++)
        for (int k = 0; k < 3; k++)
            numbers[k][i] = (float)((i * (int[]){3, 5, 2}[k]) % 7 - 3);
    for (int i = 0; i < 3 * 40; i++)
        ones[i] = 1;
    tl_tensor *t[] = {tl_tensor_create(numbers[0], 2, (int[]){40, 40}, TL_FLOAT),
                      tl_tensor_create(numbers[1], 2, (int[]){40, 40}, TL_FLOAT),
                      tl_tensor_create(numbers[2], 1, (int[]){40}, TL_FLOAT),
                      tl_tensor_create(ones, 2, (int[]){3, 40}, TL_FLOAT)};
    ck_assert_int_eq(
        ln_safetensors_write(file, has_x ? 4 : 3, names, (const tl_tensor *const *)t, NULL, NULL),
        0);
    for (int i = 0; i < 4; i++)
        tl_tensor_free(t[i]);
}

START_TEST(a_file_gives_what_was_missing_and_need_not_have_the_input)
{
    float is[3 * 40], should[3 * 40], ones[3 * 40];
    char file[] = "/tmp/ln_memory_XXXXXX";
    close(mkstemp(file));
    for (int i = 0; i < 3 * 40; i++)
        ones[i] = 1;
    ln_context *set = load_layers(LAYERS("'x'")), *loaded = load(LAYERS("'x'"));
    ck_assert_msg(!ln_context_set_data(set, "x", ones), "%s", ln_context_error(set));
    run(set);
    ck_assert_ptr_nonnull(ln_context_get_data(set, "y", should));
    ck_assert_int_eq(ln_context_run(loaded), -1);
    for (int has_x = 0; has_x < 2; has_x++) {
        write_weights(file, has_x);
        ck_assert_msg(!ln_data_load(loaded, file), "%s", ln_context_error(loaded));
        if (!has_x) {
            ck_assert_int_eq(ln_context_run(loaded), -1);
            ck_assert_str_eq(ln_context_error(loaded),
                             "input 'x' has no data; set it before the first run");
        }
    }
    run(loaded);
    ck_assert_ptr_nonnull(ln_context_get_data(loaded, "y", is));
    ck_assert_mem_eq(is, should, sizeof(is));
    write_weights(file, 0); // x keeps its data
    ck_assert_msg(!ln_data_load(loaded, file), "%s", ln_context_error(loaded));
    run(loaded);
    ck_assert_ptr_nonnull(ln_context_get_data(loaded, "y", is));
    ck_assert_mem_eq(is, should, sizeof(is));
    unlink(file);
    ln_context_free(set);
    ln_context_free(loaded);
}
END_TEST

LN_TEST_MAIN("cpu memory", a_model_writes_only_what_is_allowed,
             files_outside_of_the_allowed_folder_end_the_run,
             a_program_may_add_operators_that_write, outputs_are_allowed_before_the_model_is_read,
             fprint_replaces_the_file_at_every_run,
             fprint_warns_of_a_file_that_cannot_be_opened_and_goes_on,
             print_writes_to_standard_output_in_the_order_of_the_list,
             nocopy_gather_lets_producers_write_into_its_output,
             nocopy_gather_rejects_inputs_that_cannot_be_parts, nocopy_scatter_gives_views_of_rows,
             keys_and_values_of_one_memory_are_not_sorted, data_from_a_file_serves_every_update,
             a_file_gives_what_was_missing_and_need_not_have_the_input)
