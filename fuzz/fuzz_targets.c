// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: each reads its input as one kind of file. It must neither crash nor leak on any
// input.

#include "fuzz.h"
#include "fuzz_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lightnet/ln_data.h"
#include "lightnet/ln_image.h"
#include "lightnet/lightnet.h"
#ifdef FUZZ_IL
#include "il/ln_il.h"
#endif

// The name of a file in memory with these bytes, the same file at every call. Ends the program
// where there is none.
static const char *file_of(const uint8_t *data, size_t size)
{
    static char name[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size) {
        perror("fuzz: a file in memory");
        exit(EXIT_FAILURE);
    }
    return name;
}

// Programs that ask for more than this are not run.
enum { LARGEST = 1 << 26, LONGEST = 100 };
static const double max_macs = 1e8;

// Loops without end are right, too.
static int is_long_loop(const ln_op *op)
{
    const ln_param_entry *max = ln_param_list_find(op->op_arg->params, "most");
    const ln_tensor_entry *row =
        ln_tensor_list_find_entry(op->op_arg->tensors_in, op->op_arg->tensor_table, "row0");
    if (strncmp(op->op_arg->optype, "loop", 4) != 0)
        return 0;
    return row ? row->tensor->dims[0] > LONGEST : max->value_int < 0 || max->value_int > LONGEST;
}

// Operators that print are skipped, above all those that print to files that the input names.
static int prints(const ln_op *op)
{
    return strstr(op->op_arg->optype, "print") != NULL;
}

static int may_run(const ln_context *ctx)
{
    const ln_op *op;
    const ln_context *body;
    LN_LIST_FOREACH (op, ctx->ops)
        if (is_long_loop(op) || prints(op))
            return 0;
    LN_LIST_FOREACH (body, ctx->bodies)
        if (!may_run(body))
            return 0;
    return 1;
}

// Loads and runs a compiled program, unless it asks for much memory or time: that is right, and
// not looked for.
static void run(ln_context *ctx)
{
    ln_stats stats;
    if (ln_context_stats(ctx, &stats) || stats.memory > LARGEST || stats.macs > max_macs ||
        !may_run(ctx))
        return;
    if (!ln_context_load(ctx, NULL))
        ln_context_run(ctx);
}

// The reader of safetensors files.
static void read_safetensors(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_safetensors *st = ln_safetensors_open(file_of(data, size), &err);
    for (int i = 0; st && i < ln_safetensors_count(st); i++)
        ln_safetensors_find(st, ln_safetensors_name(st, i));
    ln_safetensors_close(st);
}

// The reader of npy files.
static void read_npy(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    tl_tensor_free_data_too(ln_npy_read(file_of(data, size), &err));
}

// The reader of npz files.
static void read_npz(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_npz *npz = ln_npz_open(file_of(data, size), &err);
    for (int i = 0; npz && i < ln_npz_count(npz); i++)
        tl_tensor_free_data_too(ln_npz_read(npz, ln_npz_name(npz, i), NULL, &err));
    ln_npz_close(npz);
}

static const char graph[] = "{\"nodes\": [{\"op\": \"null\", \"name\": \"a\", \"inputs\": []},"
                            "{\"op\": \"negative\", \"name\": \"b\", \"inputs\": [[0, 0, 0]]}],"
                            "\"arg_nodes\": [0], \"heads\": [[1, 0, 0]]}";

// A context that reads operators that write, too; these do not run (may_run).
static ln_context *create_allowing(void)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_allow_output(ctx, "/"))
        return ctx;
    ln_context_free(ctx);
    return NULL;
}

// The reader of files of parameters, which a graph with one parameter looks into.
static void read_params(const uint8_t *data, size_t size)
{
    const char *file = file_of(data, size);
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_bind_file(ctx, file) &&
        !ln_context_init_text(ctx, "fuzz", graph, strlen(graph)) && !ctx->target &&
        !ln_context_compile(ctx, "cpu"))
        ln_context_load(ctx, file);
    ln_context_free(ctx);
}

// The reader of wts files.
static void read_wts(const uint8_t *data, size_t size)
{
    ln_hash *table = ln_tensor_table_create();
    if (table)
        ln_tensor_table_load_trt_weight_file(table, file_of(data, size));
    ln_tensor_table_free(table);
}

// The decoders of images.
static void read_image(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_image image = {0};
    if (!ln_image_decode(file_of(data, size), &image, &err))
        ln_image_free(&image);
}

// The IR reader, the operators' checks, the writer of NNVM graphs, and the passes.
static void read_ir(const uint8_t *data, size_t size)
{
    ln_context *ctx = create_allowing();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target) {
        (void)ln_context_write(ctx, NULL, "nnvm", "/dev/null"); // success is not required
        ln_context_compile(ctx, "cpu");
    }
    ln_context_free(ctx);
}

// The ONNX front end, the operators' checks, the writer, the passes, and a run.
static void read_onnx(const uint8_t *data, size_t size)
{
    ln_context *ctx = ln_context_create();
    if (ctx && !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target) {
        (void)ln_context_write(ctx, NULL, "onnx", "/dev/null"); // success is not required
        if (!ln_context_compile(ctx, "cpu"))
            run(ctx);
    }
    ln_context_free(ctx);
}

// The reader of ONNX's sequences and optional values.
static void read_sequence(const uint8_t *data, size_t size)
{
    int n;
    ln_error err = {0};
    tl_tensor **tensors = ln_input_read_sequence(file_of(data, size), &n, &err);
    ln_input_free_sequence(tensors, n);
}

// The NNVM front end, the operators' checks and the passes; converting to NNVM, with shapes and
// without. Inputs without a shape get one for compiling.
static void read_nnvm(const uint8_t *data, size_t size)
{
    static const int dims[] = {2, 6, 4, 4};
    ln_stats stats;
    ln_context *ctx = ln_context_create();
    if (ctx) { // success is not required
        (void)ln_context_convert_text(ctx, "fuzz", (const char *)data, size, "nnvm", "/dev/null");
        ln_context_cleanup(ctx);
    }
    if (ctx && !ln_context_bind_shape(ctx, "data", 4, dims) &&
        !ln_context_init_text(ctx, "fuzz", (const char *)data, size) && !ctx->target &&
        !ln_context_compile(ctx, "cpu"))
        ln_context_stats(ctx, &stats);
    ln_context_free(ctx);
}

// Compiled models, with their weights in one file or as JSON, and a run.
static void read_compiled(const uint8_t *data, size_t size)
{
    ln_context *ctx = create_allowing();
    // Of several programs, the seed's second.
    if (ctx && !ln_context_bind_shape(ctx, "batch", 1, (const int[]){4}) &&
        !ln_context_init(ctx, file_of(data, size)) && ctx->target)
        run(ctx);
    ln_context_free(ctx);
}

#ifdef FUZZ_IL
static int write_ir(FILE *stream, const void *arg, ln_error *err)
{
    ln_context *const *ctx = arg;
    (void)err; // the reason is in the context
    return ln_context_write_ir(*ctx, NULL, stream);
}

static void check_il(const ln_il_model *m)
{
    ln_error err = {0};
    size_t len;
    char *json = ln_il_json(m, &len, &err);
    ln_context *ctx = json ? create_allowing() : NULL;
    if (ctx && !ln_context_init_ir(ctx, "fuzz.net", json, len, ln_il_place_of, m) && !ctx->target)
        ln_il_write(write_ir, &ctx, "/dev/null", ctx->error);
    ln_context_free(ctx);
    ln_free(json);
}

// The intermediate language, from the preprocessor to the operators' checks, and back.
static void read_il(const uint8_t *data, size_t size)
{
    const ln_il_host host = {.model = NULL};
    ln_il_model m = {0};
    ln_error err = {0};
    if (!ln_il_read(&m, "fuzz.net", data, size, &host, &err))
        check_il(&m);
    ln_il_model_free(&m);
}
#endif

static const struct {
    const char *name;
    fuzz_target *target;
} targets[] = {
    {"safetensors", read_safetensors},
    {"npy", read_npy},
    {"npz", read_npz},
    {"params", read_params},
    {"wts", read_wts},
    {"image", read_image},
    {"ir", read_ir},
    {"onnx", read_onnx},
    {"onnx_sequence", read_sequence},
    {"nnvm", read_nnvm},
    {"compiled", read_compiled},
    {"session", fuzz_session},
#ifdef FUZZ_IL
    {"il", read_il},
#endif
};

fuzz_target *fuzz_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(targets) / sizeof(targets[0]); i++)
        if (!strcmp(targets[i].name, name))
            return targets[i].target;
    fprintf(stderr, "fuzz: no target '%s', expected", name ? name : "");
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        fprintf(stderr, " %s", targets[i].name);
    fprintf(stderr, "\n");
    return NULL;
}
