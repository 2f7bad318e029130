// SPDX-License-Identifier: Apache-2.0
// Tests of models and weights whose files become shorter while they are used: an error where the
// data is still needed, nothing where it is not, never a signal.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "ln_data_check.h"
#include "data/ln_params.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"
#ifdef LN_TEST_ONNX
#include "ln_onnx.pb-c.h"
#endif

// y = x + (w + v), over more elements than a file that is read whole when it is opened has room
// for: w + v is computed at load.

enum { LEN = 400000, SHRUNK = 1000 };

static float w[LEN], v[LEN], x[LEN], y[LEN];
static char folder[32];

#define CREATE(name)                                                                              \
    "{\"name\": \"make_" name "\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": " \
    "[{\"arg_name\": \"dst\", \"name\": \"" name "\"}], \"params\": [{\"arg_name\": \"dtype\", "  \
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [400000]}, {\"arg_name\": "    \
    "\"ran\", \"value\": [0, 0]}, {\"arg_name\": \"data\", \"value\": [0]}, {\"arg_name\": "      \
    "\"from_file\", \"value\": "
#define SUM(src1, src2, dst)                                                                       \
    "{\"name\": \"make_" dst "\", \"optype\": \"elew\", \"tensors_in\": [{\"arg_name\": \"src1\"," \
    " \"name\": \"" src1 "\"}, {\"arg_name\": \"src2\", \"name\": \"" src2 "\"}], "                \
    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"" dst "\"}], \"params\": "              \
    "[{\"arg_name\": \"elew_op\", \"value\": \"TL_SUM\"}]}"

static const char model[] =
    "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [" CREATE("x") "false}]}, " CREATE(
        "w") "true}]}, " CREATE("v") "true}]}, " SUM("w", "v", "u") ", " SUM("x", "u", "y") "]}";

static void write_model(void)
{
    make_file("m.json", model, strlen(model));
}

static const char *const names[] = {"w", "v"};

typedef int (*write_func)(const char *file, int n, const char *const *names,
                          const tl_tensor *const *tensors, ln_error *err);

static void write_weights(const char *file, write_func write)
{
    ln_error err = {0};
    tl_tensor *const tensors[] = {tl_tensor_create(w, 1, (int[]){LEN}, TL_FLOAT),
                                  tl_tensor_create(v, 1, (int[]){LEN}, TL_FLOAT)};
    ck_assert_msg(!write(file, 2, names, (const tl_tensor *const *)tensors, &err), "%s",
                  ln_error_text(&err));
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
}

static int write_safetensors(const char *file, int n, const char *const *all,
                             const tl_tensor *const *tensors, ln_error *err)
{
    return ln_safetensors_write(file, n, all, tensors, NULL, err);
}

static void make_safetensors(void)
{
    write_model();
    write_weights("m.safetensors", write_safetensors);
}

static void make_params(void)
{
    write_model();
    write_weights("m.params", ln_params_write);
}

static void make_wts(void)
{
    write_model();
    write_weights("m.wts", ln_wts_write);
}

static void make_compiled(void)
{
    make_safetensors();
    ln_context *ctx = ln_context_create();
    ck_assert_msg(!ln_context_init(ctx, "m.json") && !ln_context_compile(ctx, "cpu") &&
                      !ln_context_save(ctx, "m.safetensors", "compiled"),
                  "%s", ln_context_error(ctx));
    ln_context_free(ctx);
}

#ifdef LN_TEST_ONNX
static LnOnnx__Tensor initializer(int i, const char *outside)
{
    static int64_t dims[] = {LEN};
    static char offsets[2][16];
    static LnOnnx__Entry entries[2][2];
    static LnOnnx__Entry *lists[2][2];
    LnOnnx__Tensor t = LN_ONNX__TENSOR__INIT;
    t.name = (char *)names[i];
    t.has_data_type = 1;
    t.data_type = 1;
    t.n_dims = 1;
    t.dims = dims;
    if (!outside) {
        t.has_raw_data = 1;
        t.raw_data = (ProtobufCBinaryData){sizeof(w), (uint8_t *)(i ? v : w)};
        return t;
    }
    snprintf(offsets[i], sizeof(offsets[i]), "%zu", (size_t)i * sizeof(w));
    entries[i][0] = entries[i][1] = (LnOnnx__Entry)LN_ONNX__ENTRY__INIT;
    entries[i][0].key = "location";
    entries[i][0].value = (char *)outside;
    entries[i][1].key = "offset";
    entries[i][1].value = offsets[i];
    lists[i][0] = &entries[i][0];
    lists[i][1] = &entries[i][1];
    t.n_external_data = 2;
    t.external_data = lists[i];
    t.has_data_location = 1;
    t.data_location = 1;
    return t;
}

static LnOnnx__Node add(char **in, char **out)
{
    LnOnnx__Node n = LN_ONNX__NODE__INIT;
    n.op_type = "Add";
    n.n_input = 2;
    n.input = in;
    n.n_output = 1;
    n.output = out;
    return n;
}

static void write_onnx(const char *first, const char *second)
{
    LnOnnx__Tensor t[] = {initializer(0, first), initializer(1, second)}, *ts[] = {&t[0], &t[1]};
    char *wv[] = {"w", "v"}, *u[] = {"u"}, *xu[] = {"x", "u"}, *out[] = {"y"};
    LnOnnx__Node n[] = {add(wv, u), add(xu, out)}, *ns[] = {&n[0], &n[1]};
    LnOnnx__Dimension dim = LN_ONNX__DIMENSION__INIT, *ds[] = {&dim};
    LnOnnx__Shape shape = LN_ONNX__SHAPE__INIT;
    LnOnnx__TensorType of = LN_ONNX__TENSOR_TYPE__INIT;
    LnOnnx__Type type = LN_ONNX__TYPE__INIT;
    LnOnnx__ValueInfo in = LN_ONNX__VALUE_INFO__INIT, end = in, *ins[] = {&in}, *ends[] = {&end};
    LnOnnx__Graph graph = LN_ONNX__GRAPH__INIT;
    LnOnnx__Model whole = LN_ONNX__MODEL__INIT;
    LnOnnx__OperatorSet opset = LN_ONNX__OPERATOR_SET__INIT, *sets[] = {&opset};
    dim.has_dim_value = opset.has_version = of.has_elem_type = whole.has_ir_version = 1;
    dim.dim_value = LEN;
    shape.n_dim = 1;
    shape.dim = ds;
    of.elem_type = 1;
    of.shape = &shape;
    type.tensor_type = &of;
    in.name = "x";
    in.type = &type;
    end.name = "y";
    graph.n_node = graph.n_initializer = 2;
    graph.node = ns;
    graph.initializer = ts;
    graph.n_input = graph.n_output = 1;
    graph.input = ins;
    graph.output = ends;
    whole.ir_version = 8;
    whole.graph = &graph;
    opset.version = 17;
    whole.n_opset_import = 1;
    whole.opset_import = sets;
    const size_t size = ln_onnx__model__get_packed_size(&whole);
    uint8_t *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ln_onnx__model__pack(&whole, bytes);
    make_file("m.onnx", bytes, size);
    free(bytes);
}

static void make_onnx(void)
{
    write_onnx(NULL, NULL);
}

static void make_external(void)
{
    make_file("w.bin", w, sizeof(w));
    make_file("v.bin", v, sizeof(v));
    write_onnx("w.bin", NULL);
}
#endif

// A model, its weights beside it, and the file that is cut off.
typedef struct form {
    void (*make)(void);
    const char *file, *datafile, *cut;
    const char *tensor; // that is then missed at load; NULL: all of it was read before
    const char *again;  // the same where it is computed once more; NULL: it need not be
} form;

static const form forms[] = {
    {make_safetensors, "m.json", "m.safetensors", "m.safetensors", NULL, "w"},
    {make_params, "m.json", "m.params", "m.params", NULL, "w"},
    {make_wts, "m.json", "m.wts", "m.wts", NULL, NULL},
    {make_compiled, "compiled", NULL, "compiled", "u", NULL},
#ifdef LN_TEST_ONNX
    {make_onnx, "m.onnx", NULL, "m.onnx", "w", "w"},
    {make_external, "m.onnx", NULL, "w.bin", "w", "w"},
#endif
};

enum { N_FORMS = sizeof(forms) / sizeof(forms[0]) };

static void enter(const form *f)
{
    for (int i = 0; i < LEN; i++) {
        w[i] = (float)i;
        v[i] = (float)(i % 7);
        x[i] = 1;
    }
    enter_new_folder(folder);
    f->make();
}

static ln_context *compile(const form *f)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(!ln_context_init(ctx, f->file) &&
                      (ctx->target || !ln_context_compile(ctx, "cpu")),
                  "%s: %s", f->cut, ln_context_error(ctx));
    return ctx;
}

static void load(const form *f, ln_context *ctx)
{
    ck_assert_msg(!ln_context_load(ctx, f->datafile) && !ln_context_set_data(ctx, "x", x), "%s: %s",
                  f->cut, ln_context_error(ctx));
}

static void check_run(const form *f, ln_context *ctx, float more)
{
    ck_assert_msg(!ln_context_run(ctx) && ln_context_get_data(ctx, "y", y), "%s: %s", f->cut,
                  ln_context_error(ctx));
    for (int i = 0; i < LEN; i++)
        ck_assert_float_eq(y[i], 1 + (float)i + (float)(i % 7) + more);
}

static void check_reason(const ln_context *ctx, const form *f, const char *tensor, size_t size)
{
    char expected[256];
    snprintf(expected, sizeof(expected),
             "%s: tensor '%s': the file ended at byte %d, expected %zu; it changed while it was in "
             "use",
             f->cut, tensor, SHRUNK, size);
    ck_assert_str_eq(ln_context_error(ctx), expected);
}

static size_t cut_off(const char *file)
{
    struct stat about;
    ck_assert_int_eq(stat(file, &about), 0);
    ck_assert_int_eq(truncate(file, SHRUNK), 0);
    return (size_t)about.st_size;
}

// The same file, with its content back.
static void restore(const form *f, const char *bytes, size_t size)
{
    const int fd = open(f->cut, O_WRONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static char *whole_file(const char *file, size_t *size)
{
    struct stat about;
    ck_assert_int_eq(stat(file, &about), 0);
    *size = (size_t)about.st_size;
    char *bytes = malloc(*size);
    FILE *stream = fopen(file, "rb");
    ck_assert(bytes && stream);
    ck_assert_uint_eq(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

START_TEST(a_file_that_is_cut_off_before_loading_is_an_error)
{
    for (int i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        size_t size;
        enter(f);
        ln_context *ctx = compile(f);
        char *bytes = whole_file(f->cut, &size);
        cut_off(f->cut);
        ck_assert_int_eq(ln_context_load(ctx, f->datafile), -1);
        if (f->tensor)
            check_reason(ctx, f, f->tensor, size);
        else
            ck_assert_str_ne(ln_context_error(ctx), "");
        restore(f, bytes, size);
        free(bytes);
        load(f, ctx);
        check_run(f, ctx, 0);
        ln_context_free(ctx);
        leave_folder(folder);
    }
}
END_TEST

START_TEST(a_file_that_is_cut_off_after_loading_is_not_missed)
{
    for (int i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        enter(f);
        ln_context *ctx = compile(f);
        load(f, ctx);
        cut_off(f->cut);
        check_run(f, ctx, 0);
        ln_context_free(ctx);
        leave_folder(folder);
    }
}
END_TEST

START_TEST(an_update_reads_the_file_again)
{
    for (int i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        if (!strcmp(f->file, "compiled"))
            continue; // it has no constants that were computed with
        enter(f);
        ln_context *ctx = compile(f);
        load(f, ctx);
        const size_t size = cut_off(f->cut);
        for (int k = 0; k < LEN; k++)
            v[k] += 2;
        ck_assert_int_eq(ln_context_set_data(ctx, "v", v), 0);
        if (f->again) {
            ck_assert_int_eq(ln_context_run(ctx), -1);
            check_reason(ctx, f, f->again, size);
            ck_assert_ptr_null(ln_context_get_data(ctx, f->again, y));
            check_reason(ctx, f, f->again, size);
        } else {
            check_run(f, ctx, 2);
        }
        ln_context_free(ctx);
        leave_folder(folder);
    }
}
END_TEST

START_TEST(repeated_updates_read_the_file_once)
{
    for (int i = 0; i < N_FORMS; i++) {
        const form *f = &forms[i];
        if (!strcmp(f->file, "compiled"))
            continue;
        enter(f);
        ln_context *ctx = compile(f);
        load(f, ctx);
        for (int turn = 1; turn <= 3; turn++) {
            for (int k = 0; k < LEN; k++)
                v[k] += 2;
            ck_assert_int_eq(ln_context_set_data(ctx, "v", v), 0);
            check_run(f, ctx, 2 * (float)turn);
            if (turn == 2)
                cut_off(f->cut);
        }
        ln_context_free(ctx);
        leave_folder(folder);
    }
}
END_TEST

START_TEST(saving_what_is_cut_off_leaves_no_file)
{
    const form *f = &forms[N_FORMS - 1];
    enter(f);
    ln_context *ctx = compile(f);
    cut_off(f->cut);
    if (f->tensor) {
        ck_assert_int_eq(ln_data_save(ctx, "saved"), -1);
        ck_assert_int_eq(access("saved", F_OK), -1);
        ck_assert_int_eq(ln_context_save(ctx, f->datafile, "saved"), -1);
        ck_assert_int_eq(access("saved", F_OK), -1);
    }
    ln_context_free(ctx);
    leave_folder(folder);
}
END_TEST

START_TEST(tensors_of_a_file_are_read_when_they_are_asked_for)
{
    enter(&forms[0]);
    ln_error err = {0};
    ln_safetensors *st = ln_safetensors_open("m.safetensors", &err);
    ck_assert_ptr_nonnull(st);
    const tl_tensor *there = ln_safetensors_find(st, "w");
    ck_assert_ptr_nonnull(there);
    ck_assert_mem_eq(there->data, w, sizeof(w));
    ck_assert_ptr_null(ln_safetensors_find(st, "none"));
    cut_off("m.safetensors");
    ck_assert_ptr_eq(ln_safetensors_find(st, "w"), there);
    ck_assert_ptr_null(ln_safetensors_find(st, "v"));
    ck_assert_ptr_nonnull(
        strstr(ln_last_error(), "m.safetensors: tensor 'v': the file ended at byte 1000"));
    ln_safetensors_close(st);
    leave_folder(folder);
}
END_TEST

// Checked when it is opened, a byte may be something else when it is read.
START_TEST(a_bool_that_has_changed_is_an_error)
{
    enum { FLAGS = 2 << 20 };
    static unsigned char flags[FLAGS];
    const char *const name = "flags";
    tl_tensor *const tensor = tl_tensor_create(flags, 1, (int[]){FLAGS}, TL_BOOL);
    ln_error err = {0};
    enter_new_folder(folder);
    ck_assert(tensor && !write_safetensors("m.safetensors", 1, &name,
                                           (const tl_tensor *const *)&tensor, &err));
    ln_safetensors *st = ln_safetensors_open("m.safetensors", &err);
    ck_assert_ptr_nonnull(st);
    const int fd = open("m.safetensors", O_WRONLY);
    ck_assert(lseek(fd, -2, SEEK_END) > 0 && write(fd, "\7", 1) == 1 && !close(fd));
    ck_assert_ptr_null(ln_safetensors_find(st, name));
    ck_assert_str_eq(ln_last_error(), "m.safetensors: tensor 'flags': element 2097150 is the byte "
                                      "7, expected a bool: 0 or 1");
    ln_safetensors_close(st);
    tl_tensor_free(tensor);
    leave_folder(folder);
}
END_TEST

static int try_all(const form *f)
{
    ln_context *ctx = ln_context_create();
    const int status = !ctx || ln_context_init(ctx, f->file) ||
                               (!ctx->target && ln_context_compile(ctx, "cpu")) ||
                               ln_context_load(ctx, f->datafile) ||
                               ln_context_set_data(ctx, "x", x) || ln_context_run(ctx)
                           ? -1
                           : 0;
    ln_context_free(ctx);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    for (int i = 0; i < N_FORMS; i++) {
        if (!strcmp(forms[i].cut, "m.wts")) // long, and one that is parsed into memory
            continue;
        enter(&forms[i]);
        int failed = 1;
        for (int n = 0; failed; n += 1 + n / 16) {
            ln_alloc_fail_after(n);
            const int status = try_all(&forms[i]);
            failed = ln_alloc_fail_stop();
            // A hash table that cannot grow keeps its size; any other failure is an error.
            ck_assert_msg(failed || !status, "%s", forms[i].cut);
        }
        leave_folder(folder);
    }
}
END_TEST

LN_TEST_MAIN("shrinking", a_file_that_is_cut_off_before_loading_is_an_error,
             a_file_that_is_cut_off_after_loading_is_not_missed, an_update_reads_the_file_again,
             repeated_updates_read_the_file_once, saving_what_is_cut_off_leaves_no_file,
             tensors_of_a_file_are_read_when_they_are_asked_for,
             a_bool_that_has_changed_is_an_error, every_allocation_may_fail)
