// SPDX-License-Identifier: Apache-2.0
// Each allocation of a scenario fails once: of LightNet, of the libraries it calls, of the
// C library. The scenario then ends with a message that speaks of memory, or succeeds without that
// memory; nothing leaks, no file is left behind.
//
// usage: every_allocation_test SOURCE_FOLDER [all | SCENARIO [N]]
// all: of large models, too, each allocation fails, which takes minutes; else every 61st.
// N: the only allocation that fails, for a debugger.
//
// The functions of malloc are replaced here, in the program, which the dynamic linker prefers to
// those of the C library.

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lightnet/lightnet.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_input.h"

// The allocator

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t len, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *ptr);

static _Thread_local int counting; // allocations of this thread count
static long made;                  // so many of them
static long failing;               // this one fails, counted from 1; 0: none
static long alive;                 // allocations that are not freed yet, of all threads

static int fails(void)
{
    if (!counting || ++made != failing)
        return 0;
    errno = ENOMEM;
    return 1;
}

static void *count(void *ptr)
{
    if (ptr)
        __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    return ptr;
}

// Libraries see them only if they are visible.
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return fails() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t len, size_t size)
{
    return fails() ? NULL : count(__libc_calloc(len, size));
}

void *realloc(void *ptr, size_t size)
{
    if (fails())
        return NULL;
    void *resized = __libc_realloc(ptr, size);
    return ptr ? resized : count(resized);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : count(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ptr, size_t alignment, size_t size)
{
    *ptr = memalign(alignment, size);
    return *ptr ? 0 : ENOMEM;
}

void free(void *ptr)
{
    if (ptr)
        __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
    __libc_free(ptr);
}

#pragma GCC visibility pop

// Scenarios: 0, or -1 with a reason

static char reason[4096];
static char sources[512]; // the folder of the sources
static char *folder;      // for what scenarios write

static int speaks_of_memory(const char *text)
{
    return strcasestr(text, "memory") || strcasestr(text, "allocate");
}

static int keep_reason(const char *text)
{
    snprintf(reason, sizeof(reason), "%s", text);
    return -1;
}

// A path below the sources; of the last few only, as they share memory.
static const char *source(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", sources, name);
    return path;
}

static const char *output(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *const path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static int set_inputs(ln_context *ctx)
{
    static const char zeros[1 << 16];
    const char *name;
    LN_LIST_FOREACH (name, ctx->inputs)
        if (ln_context_data_size(ctx, name) > sizeof(zeros) ||
            ln_context_set_data(ctx, name, zeros))
            return -1;
    return 0;
}

static int get_outputs(ln_context *ctx)
{
    const char *name;
    LN_LIST_FOREACH (name, ctx->outputs) {
        void *data = ln_context_get_data(ctx, name, NULL);
        if (!data)
            return -1;
        free(data);
    }
    return 0;
}

typedef struct job {
    const char *model, *weights; // below the sources, or NULL
    const char *shape;           // the input that is bound to [1, 1, 28, 28], or NULL
    int threads;
    int (*work)(ln_context *ctx, const char *weights);
} job;

static int read_model(ln_context *ctx, const job *j, const char *model, const char *weights)
{
    return (j->threads && ln_context_set_threads(ctx, j->threads)) ||
                   (weights && ln_context_bind_file(ctx, weights)) ||
                   (j->shape &&
                    ln_context_bind_shape(ctx, j->shape, 4, (const int[]){1, 1, 28, 28})) ||
                   ln_context_init(ctx, model)
               ? -1
               : 0;
}

static int do_job(const job *j)
{
    char model[1024], weights[1024];
    snprintf(model, sizeof(model), "%s", j->model[0] == '/' ? j->model : source(j->model));
    if (j->weights)
        snprintf(weights, sizeof(weights), "%s", source(j->weights));
    const char *const file = j->weights ? weights : NULL;
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return keep_reason(ln_last_error());
    int status = read_model(ctx, j, model, file) || j->work(ctx, file) ? -1 : 0;
    if (status)
        keep_reason(ln_context_error(ctx));
    ln_context_free(ctx);
    return status;
}

static int run(ln_context *ctx, const char *weights)
{
    return (!ctx->target && ln_context_compile(ctx, "cpu")) || ln_context_load(ctx, weights) ||
                   set_inputs(ctx) || ln_context_run(ctx) || get_outputs(ctx) || ln_context_run(ctx)
               ? -1
               : 0;
}

static int save(ln_context *ctx, const char *weights)
{
    return ln_context_compile(ctx, "cpu") || ln_context_save(ctx, weights, output("m.safetensors"))
               ? -1
               : 0;
}

static int print(ln_context *ctx, const char *weights)
{
    (void)weights;
    return ln_context_print(ctx, output("m.json")) ||
                   (ln_data_num_own(ctx) && ln_data_save(ctx, output("w.safetensors"))) ||
                   ln_context_compile(ctx, "cpu") || ln_context_print(ctx, output("c.json"))
               ? -1
               : 0;
}

static int write_nnvm(ln_context *ctx, const char *weights)
{
    return ln_context_write(ctx, weights, "nnvm", output("n.json"));
}

static int write_onnx(ln_context *ctx, const char *weights)
{
    return ln_context_write(ctx, weights, "onnx-external", output("n.onnx"));
}

static int convert_nnvm(void)
{
    ln_context *ctx = ln_context_create();
    if (!ctx)
        return keep_reason(ln_last_error());
    int status = ln_context_bind_file(ctx, source("examples/digits/digits.safetensors")) ||
                         ln_context_convert(ctx, source("examples/digits/digits-symbol.json"),
                                            "nnvm", output("n.json"))
                     ? -1
                     : 0;
    if (status)
        keep_reason(ln_context_error(ctx));
    ln_context_free(ctx);
    return status;
}

// The reason of a session's call, which has to have the right status.
static int keep_status(ln_status status, const char *text)
{
    return keep_reason(status == LN_OUT_OF_MEMORY ? text : ln_status_name(status));
}

// Open sizes are `size`.
static ln_status set_input_of(ln_session *session, const ln_model *model, int i, int size)
{
    static const char zeros[1 << 16];
    const tl_tensor *info = ln_model_input_info(model, i);
    int dims[TL_MAXDIM];
    for (int k = 0; k < info->ndim; k++)
        dims[k] = info->dims[k] < 0 ? size : info->dims[k];
    return ln_session_set_input(session, ln_model_input_name(model, i), info->dtype, info->ndim,
                                dims, zeros);
}

static ln_status run_with(ln_session *session, const ln_model *model, int size)
{
    ln_status status = LN_OK;
    for (int i = 0; !status && i < ln_model_num_inputs(model); i++)
        status = set_input_of(session, model, i, size);
    return status ? status : ln_session_run(session);
}

static int use_session(const ln_model *model, ln_session *session)
{
    ln_status status = LN_OK;
    for (int size = 1; !status && size < 3; size++)
        status = run_with(session, model, size);
    if (!status && !ln_session_output(session, ln_model_output_name(model, 0)))
        return keep_reason("there is no output");
    return status ? keep_status(status, ln_session_error(session)) : 0;
}

static int use_model(ln_model *model)
{
    ln_session *session;
    ln_status status = ln_session_create(model, &session);
    if (status)
        return keep_status(status, ln_session_error(NULL));
    int result = use_session(model, session);
    // A call that failed for lack of memory succeeds when there is enough.
    if (result == -1 && speaks_of_memory(reason) && use_session(model, session))
        result = keep_reason("the session is of no use after a failure");
    ln_session_free(session);
    return result;
}

static int open_and_run(const char *file, const char *key, const char *value)
{
    ln_model *model = NULL;
    ln_options *options = ln_options_create();
    if (!options)
        return keep_reason(ln_model_error(NULL));
    ln_status status = ln_options_set(options, key, value);
    if (!status)
        status = ln_model_open(file, options, &model);
    ln_options_free(options);
    if (status)
        return keep_status(status, ln_model_error(NULL));
    const int result = use_model(model);
    ln_model_free(model);
    return result;
}

// Whether one program serves each of the open sizes.
static void check_size(void *data, const ln_open_size *size)
{
    int *const n = data;
    n[size->is_shared == 1]++;
}

static int check_sizes(void)
{
    ln_model *model;
    int n[2] = {0};
    ln_status status = ln_model_open(source("fuzz/seeds/onnx/open.onnx"), NULL, &model);
    if (!status)
        status = ln_model_check_sizes(model, check_size, n);
    int result = status ? keep_status(status, ln_model_error(NULL)) : 0;
    if (!status && (n[0] || n[1] != 1))
        result = keep_reason("the size was not compiled for all lengths");
    ln_model_free(model);
    return result;
}

// A file that brings a tensor, and what writes one.
static int keep_tensor(tl_tensor *t, const ln_error *err)
{
    if (!t)
        return keep_reason(ln_error_text(err));
    tl_tensor_free_data_too(t);
    return 0;
}

static int read_image(const char *name, int channels)
{
    int dims[] = {1, channels, 14, 14};
    const tl_tensor like = {.dtype = TL_FLOAT, .ndim = 4, .dims = dims, .len = channels * 14 * 14};
    const ln_image_format format = {.scale = {1, 1, 1}};
    ln_error err = {0};
    return keep_tensor(ln_input_read(source(name), &like, &format, &err), &err);
}

static int read_arrays(void)
{
    ln_error err = {0};
    tl_tensor *t = ln_npy_read(source("fuzz/seeds/npy/fortran.npy"), &err);
    if (!t)
        return keep_reason(ln_error_text(&err));
    const tl_tensor *const tensors[] = {t, t};
    const char *const names[] = {"a", "b"};
    const char *const text[] = {"key", "value", NULL};
    int status =
        ln_npy_write(output("a.npy"), t, &err) || ln_bin_write(output("a.bin"), t, &err) ||
                ln_safetensors_write(output("a.safetensors"), 2, names, tensors, text, &err)
            ? keep_reason(ln_error_text(&err))
            : 0;
    tl_tensor_free_data_too(t);
    ln_safetensors *st = status ? NULL : ln_safetensors_open(output("a.safetensors"), &err);
    if (!status && !st)
        status = keep_reason(ln_error_text(&err));
    ln_safetensors_close(st);
    return status;
}

static int read_png(void)
{
    return read_image("examples/digits/seven.png", 1);
}

static int read_jpeg(void)
{
    return read_image("fuzz/seeds/image/small.jpg", 3);
}

static int read_pnm(void)
{
    return read_image("fuzz/seeds/image/grey.pgm", 1);
}

static int read_sequence(void)
{
    int n;
    ln_error err;
    ln_error_clear(&err);
    tl_tensor **tensors =
        ln_input_read_sequence(source("fuzz/seeds/onnx_sequence/two.pb"), &n, &err);
    ln_input_free_sequence(tensors, n);
    return tensors ? 0 : keep_reason(ln_error_text(&err));
}

#define DIGITS "examples/digits/digits"
#define JOB(name, ...)                            \
    static int name(void)                         \
    {                                             \
        return do_job(&(const job){__VA_ARGS__}); \
    }

JOB(run_ir, "tests/cases/bodies.json", .work = run)
JOB(run_network, DIGITS ".json", DIGITS ".safetensors", .work = run)
JOB(run_onnx, "fuzz/seeds/onnx/conv.onnx", .work = run)
JOB(run_onnx_bodies, "fuzz/seeds/onnx/bodies.onnx", .work = run)
JOB(run_onnx_sequences, "fuzz/seeds/onnx/sequences.onnx", .work = run)
JOB(run_onnx_in_threads, DIGITS ".onnx", .threads = 2, .work = run)
JOB(run_nnvm, DIGITS "-symbol.json", DIGITS ".safetensors", "image", .work = run)
JOB(save_onnx, "fuzz/seeds/onnx/conv.onnx", .work = save)
JOB(save_network, DIGITS ".onnx", .work = save)
JOB(print_onnx, "fuzz/seeds/onnx/conv.onnx", .work = print)
JOB(print_network, DIGITS ".onnx", .work = print)
JOB(convert_ir, "tests/cases/sum.json", .work = write_nnvm)
JOB(convert_network, DIGITS ".json", DIGITS ".safetensors", .work = write_nnvm)
JOB(write_onnx_network, DIGITS ".json", DIGITS ".safetensors", .work = write_onnx)
JOB(write_onnx_bodies, "fuzz/seeds/onnx/bodies.onnx", .work = write_onnx)

static int run_compiled(void)
{
    return do_job(&(const job){output("compiled.safetensors"), .work = run});
}

static int run_session(void)
{
    return open_and_run(source("fuzz/seeds/onnx/open.onnx"), "shape", "x=1..8x4");
}

static int run_session_of_strings(void)
{
    return open_and_run(source("fuzz/seeds/onnx/strings.onnx"), "shape", "n=1..4");
}

static int run_session_of_ir(void)
{
    return open_and_run(source("tests/cases/bodies.json"), "folder", sources);
}

static int run_session_of_network(void)
{
    return open_and_run(source(DIGITS ".onnx"), "threads", "2");
}

// The mix does not depend on time, and so the allocations are the same each time.
static ln_status quantize_with(ln_quantizer *quantizer)
{
    float data[2 * 6 * 6];
    for (int i = 0; i < 2 * 6 * 6; i++)
        data[i] = (float)(i % 7) - 2;
    tl_tensor *const x = tl_tensor_create(data, 4, (const int[]){1, 2, 6, 6}, TL_FLOAT);
    ln_status status = x ? ln_quantizer_set(quantizer, "any_speed", "yes") : LN_OUT_OF_MEMORY;
    if (!status)
        status = ln_quantizer_set(quantizer, "calibration", "percentile");
    if (!status)
        status = ln_quantizer_set(quantizer, "max_error", "1");
    if (!status)
        status = ln_quantizer_set(quantizer, "seconds", "0");
    if (!status)
        status = ln_quantizer_add_sample(quantizer, 1, (const tl_tensor *const *)&x);
    if (!status)
        status = ln_quantizer_run(quantizer);
    tl_tensor_free(x);
    return status ? status : ln_quantizer_save(quantizer, output("q.safetensors"));
}

static int quantize(void)
{
    ln_model *model;
    ln_quantizer *quantizer = NULL;
    ln_status status = ln_model_open(source("fuzz/seeds/onnx/conv.onnx"), NULL, &model);
    if (status)
        return keep_status(status, ln_model_error(NULL));
    status = ln_quantizer_create(model, &quantizer);
    int result = status ? keep_status(status, ln_quantizer_error(NULL)) : 0;
    if (!status)
        status = quantize_with(quantizer);
    if (quantizer && status) // where the C library cannot open a file, that is an I/O error
        result = keep_reason(*ln_quantizer_error(quantizer) ? ln_quantizer_error(quantizer)
                                                            : tl_last_error());
    ln_quantizer_free(quantizer);
    ln_model_free(model);
    return result;
}

typedef struct scenario {
    const char *name;
    int (*work)(void);
    int is_large;
} scenario;

// Of the allocations of large models, one of so many fails.
enum { STEP = 61 };

static const scenario scenarios[] = {
    {"run_ir", run_ir, 0},
    {"run_network", run_network, 1},
    {"run_onnx", run_onnx, 0},
    {"run_onnx_bodies", run_onnx_bodies, 1},
    {"run_onnx_sequences", run_onnx_sequences, 1},
    {"run_onnx_in_threads", run_onnx_in_threads, 1},
    {"run_nnvm", run_nnvm, 1},
    {"run_compiled", run_compiled, 0},
    {"save_onnx", save_onnx, 0},
    {"save_network", save_network, 1},
    {"print_onnx", print_onnx, 0},
    {"print_network", print_network, 1},
    {"convert_ir", convert_ir, 0},
    {"convert_network", convert_network, 1},
    {"convert_nnvm", convert_nnvm, 0},
    {"write_onnx_network", write_onnx_network, 1},
    {"write_onnx_bodies", write_onnx_bodies, 0},
    {"run_session", run_session, 0},
    {"run_session_of_strings", run_session_of_strings, 0},
    {"run_session_of_ir", run_session_of_ir, 0},
    {"run_session_of_network", run_session_of_network, 1},
    {"check_sizes", check_sizes, 0},
    {"quantize", quantize, 1},
    {"read_arrays", read_arrays, 0},
    {"read_sequence", read_sequence, 0},
    {"read_png", read_png, 0},
    {"read_jpeg", read_jpeg, 0},
    {"read_pnm", read_pnm, 0},
};

enum { N_SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

// Failing

static int call(const scenario *s, long n)
{
    reason[0] = '\0';
    made = 0;
    failing = n;
    counting = 1;
    const int status = s->work();
    counting = 0;
    return status;
}

// The error at the end of a scenario whose n-th allocation failed, or NULL.
static const char *fault_of(int status, long before)
{
    static char text[128];
    if (status && !speaks_of_memory(reason))
        return "the message does not speak of memory";
    if (alive == before)
        return NULL;
    snprintf(text, sizeof(text), "%ld allocations are not freed", alive - before);
    return text;
}

// Lets the allocations `from`, from + step, .. fail, each in a run of its own; `to` 0: up to the
// last one. Returns the number of faults.
static long try_scenario(const scenario *s, long from, long to, long step)
{
    long faults = 0, failed = 0, n = from;
    for (; !to || n <= to; n += step) {
        const long before = alive;
        const int status = call(s, n);
        if (made < n)
            break;
        failed += status != 0;
        const char *fault = fault_of(status, before);
        if (fault && ++faults <= 5)
            printf("# %s %ld: %s: %s\n", s->name, n, fault, reason);
    }
    printf("# %s: %ld allocations, %ld failures, %ld faults\n", s->name, made, failed, faults);
    return faults + (failed == 0);
}

// The files that scenarios left half-written: those with names that no scenario uses.
static int left_behind(void)
{
    int n = 0;
    DIR *const dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        n += strstr(entry->d_name, "tmp") != NULL;
    closedir(dir);
    return n;
}

static int prepare(void)
{
    const job j = {DIGITS ".onnx", .work = save};
    return do_job(&j) || rename(output("m.safetensors"), output("compiled.safetensors")) ? -1 : 0;
}

int main(int argc, char **argv)
{
    char template[] = "/tmp/lightnet-memory-XXXXXX";
    int failed = 0, n = 0;
    snprintf(sources, sizeof(sources), "%s", argv[1]);
    folder = mkdtemp(template);
    ln_error_set(NULL, "none"); // the errors of a thread are allocated once
    tl_fail("none");
    if (prepare()) {
        printf("Bail out! %s\n", reason);
        return 1;
    }
    const int all = argc > 2 && !strcmp(argv[2], "all");
    const long only = argc > 3 ? atol(argv[3]) : 0;
    for (const scenario *s = scenarios; s < scenarios + N_SCENARIOS; s++) {
        if (argc > 2 && !all && strcmp(argv[2], s->name) != 0)
            continue;
        // Tables that are made once are there after the first call.
        const int works = !call(s, 0) && !call(s, 0);
        if (!works)
            printf("# %s\n", reason);
        const int ok =
            works && !try_scenario(s, only ? only : 1, only, s->is_large && argc < 3 ? STEP : 1) &&
            !left_behind();
        printf("%s %d - %s\n", ok ? "ok" : "not ok", ++n, s->name);
        fflush(stdout);
        failed += !ok;
    }
    printf("1..%d\n", n);
    return failed > 0;
}
