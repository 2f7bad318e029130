// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of CUDA kernels.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

// The max number of failed cases that a test prints, and of each type; with LN_TEST_VERBOSE, all.
enum { MAX_LINES = 8, MAX_LINES_OF_TYPE = 3 };

enum { GUARD_BEFORE = 1024, GUARD_AFTER = 4096, MAX_SECONDS_OF_CASE = 60 };

static cudaStream_t stream;
static tl_exec exec;

// Of the current test function.
static int cases, failed_cases, lines, lines_of[TL_DTYPE_SIZE];
static int cases_of[TL_DTYPE_SIZE], failed_cases_of[TL_DTYPE_SIZE];
static uint64_t began;
static char alarm_text[600];

double cu_tolerance(tl_dtype dtype, double of_float)
{
    return dtype == TL_FLOAT16 ? CU_FLOAT16 : dtype == TL_BFLOAT16 ? CU_BFLOAT16 : of_float;
}

// Reports

void cu_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("# ");
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
}

// Shapes and offsets of all tensors: "[2, 3] +1 -> [2, 3]".
static void print_arrays(const cu_case *c)
{
    char text[TL_SHAPE_TEXT_SIZE];
    for (int i = 0; i < c->n_arrays; i++) {
        const cu_array *const a = &c->arrays[i];
        printf(" %s%s", a->is_output ? "-> " : "",
               tl_shape_text(text, a->device->ndim, a->device->dims));
        if (a->device->dtype != c->dtype)
            printf(" %s", tl_dtype_name(a->device->dtype));
        if (a->shift)
            printf(" +%d", a->shift);
    }
}

static void print_case(const cu_case *c)
{
    printf("%s %s", c->func, tl_dtype_name(c->dtype));
    if (c->what[0])
        printf(" (%s)", c->what);
    print_arrays(c);
    if (c->is_captured)
        printf(" captured");
}

// "# FAIL function type (parameters) shapes: ..", in one line.
static void print_line(const char *kind, const cu_case *c, const char *fmt, va_list args)
{
    printf("# %s", kind);
    print_case(c);
    printf(": ");
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
}

void cu_note_case(const cu_case *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    print_line("", c, fmt, args);
    va_end(args);
}

void cu_fail(cu_case *c, const char *fmt, ...)
{
    va_list args;
    failed_cases += !c->has_failed;
    failed_cases_of[c->dtype] += !c->has_failed;
    c->has_failed = 1;
    if ((lines >= MAX_LINES || lines_of[c->dtype] >= MAX_LINES_OF_TYPE) &&
        !getenv("LN_TEST_VERBOSE"))
        return;
    lines++;
    lines_of[c->dtype]++;
    va_start(args, fmt);
    print_line("FAIL ", c, fmt, args);
    va_end(args);
}

// After such an error no call of CUDA works in this process.
static void stop_at_error(const cu_case *c, const char *call, cudaError_t error)
{
    printf("# FAIL ");
    print_case(c);
    printf(": %s: %s: %s\n", call, cudaGetErrorName(error), cudaGetErrorString(error));
    printf("Bail out! CUDA error %s in %s; name other tests as arguments to run them\n",
           cudaGetErrorName(error), c->func);
    fflush(stdout);
    _exit(EXIT_FAILURE);
}

#define CHECK_CUDA(c, call)                      \
    do {                                         \
        const cudaError_t cuda_error = call;     \
        if (cuda_error != cudaSuccess)           \
            stop_at_error(c, #call, cuda_error); \
    } while (0)

// A kernel that does not end would use up the time on the GPU.
static void stop_at_alarm(int number)
{
    (void)number;
    if (write(STDOUT_FILENO, alarm_text, strlen(alarm_text)) < 0)
        _exit(2);
    _exit(EXIT_FAILURE);
}

void cu_test_begin(void)
{
    cases = failed_cases = lines = 0;
    memset(lines_of, 0, sizeof(lines_of));
    memset(cases_of, 0, sizeof(cases_of));
    memset(failed_cases_of, 0, sizeof(failed_cases_of));
    signal(SIGALRM, stop_at_alarm); // Check's own handler, set since main, kills the process group
    began = tl_clock();
}

void cu_test_end(const char *name)
{
    alarm(0);
    for (int i = 0; i < TL_DTYPE_SIZE; i++)
        if (failed_cases_of[i])
            cu_note("%s of %s: %d of %d cases failed", name, tl_dtype_name((tl_dtype)i),
                    failed_cases_of[i], cases_of[i]);
    cu_note("%s: %d cases, %.2f s", name, cases, (double)(tl_clock() - began) * 1e-9);
    if (failed_cases || !cases)
        ck_abort_msg("%d of %d cases failed", failed_cases, cases);
}

// Cases

void cu_open(cu_case *c, const char *func, tl_dtype dtype, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    memset(c, 0, sizeof(*c));
    c->func = func;
    c->dtype = dtype;
    vsnprintf(c->what, sizeof(c->what), fmt, args);
    va_end(args);
    c->is_captured = cases % 5 == 0;
    cases_of[dtype]++;
    snprintf(alarm_text, sizeof(alarm_text),
             "# FAIL %s %s (%s), case %d: not done after %d s\nBail out! %s does not end\n", func,
             tl_dtype_name(dtype), c->what, cases, MAX_SECONDS_OF_CASE, func);
    alarm(MAX_SECONDS_OF_CASE);
    c->seed = (uint64_t)cases++ + 1;
}

tl_tensor *cu_keep(cu_case *c, tl_tensor *host)
{
    ck_assert_msg(host != NULL, "%s (%s): %s", c->func, c->what, tl_last_error());
    ck_assert_int_lt(c->n_hosts, CU_HOSTS);
    return c->hosts[c->n_hosts++] = host;
}

// In a third of the cases, tensors are aligned; in a third, all start at element 1; others vary.
static int shift_of(cu_case *c)
{
    const int way = (cases + cases / 3) % 3; // differs also where each third case is of one type
    return c->is_aligned || way == 0 ? 0 : way == 1 ? 1 : cu_pick(&c->seed, 4);
}

static void fill_guard(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = i % 2 ? 0x7f : 0xa5;
}

static cu_array *add_array(cu_case *c, const tl_tensor *host, int shift, int is_output)
{
    ck_assert_int_lt(c->n_arrays, CU_ARRAYS);
    cu_array *const a = &c->arrays[c->n_arrays++];
    const size_t size = tl_tensor_size(host);
    a->shift = shift;
    a->before = GUARD_BEFORE + (size_t)a->shift * tl_size_of(host->dtype);
    a->total = a->before + size + GUARD_AFTER;
    a->image = malloc(a->total);
    a->found = malloc(a->total);
    ck_assert(a->image && a->found);
    fill_guard(a->image, a->total);
    if (size)
        memcpy(a->image + a->before, host->data, size);
    CHECK_CUDA(c, cudaMalloc((void **)&a->base, a->total));
    CHECK_CUDA(c, cudaMemcpy(a->base, a->image, a->total, cudaMemcpyHostToDevice));
    a->host = tl_tensor_clone(host);
    a->device = tl_tensor_create(a->base + a->before, host->ndim, host->dims, host->dtype);
    ck_assert(a->host && a->device);
    a->device->backend_data = a;
    a->is_output = is_output;
    return a;
}

tl_tensor *cu_given(cu_case *c, const tl_tensor *host)
{
    return add_array(c, host, shift_of(c), 0)->device;
}

tl_tensor *cu_updated(cu_case *c, const tl_tensor *host)
{
    return add_array(c, host, shift_of(c), 1)->device;
}

tl_tensor *cu_random(cu_case *c, tl_dtype dtype, int ndim, const int *dims, double lo, double hi)
{
    return cu_given(c, cu_host_random(c, dtype, ndim, dims, lo, hi));
}

tl_tensor *cu_output(cu_case *c, tl_dtype dtype, int ndim, const int *dims)
{
    tl_tensor *const host = cu_host_blank(c, dtype, ndim, dims);
    if (host->len)
        memset(host->data, 0xff, tl_tensor_size(host));
    return cu_updated(c, host);
}

tl_tensor *cu_work(cu_case *c, size_t size)
{
    const int dims[] = {(int)size};
    tl_tensor *const host = cu_host_blank(c, TL_UINT8, 1, dims);
    if (size)
        memset(host->data, 0xff, size);
    return add_array(c, host, 0, 1)->device;
}

static cu_array *array_of(const tl_tensor *device)
{
    return device->backend_data;
}

tl_tensor *cu_host(const tl_tensor *device)
{
    return array_of(device)->host;
}

const void *cu_found(const tl_tensor *device)
{
    return array_of(device)->found + array_of(device)->before;
}

tl_tensor *cu_host_blank(cu_case *c, tl_dtype dtype, int ndim, const int *dims)
{
    return cu_keep(c, tl_tensor_zeros(ndim, dims, dtype));
}

tl_tensor *cu_host_random(cu_case *c, tl_dtype dtype, int ndim, const int *dims, double lo,
                          double hi)
{
    tl_tensor *const host = cu_host_blank(c, dtype, ndim, dims);
    ck_assert_int_eq(tl_tensor_fill_uniform(host, lo, hi, &c->seed), 0);
    return host;
}

tl_tensor *cu_host_double(cu_case *c, const tl_tensor *host)
{
    tl_tensor *const t = cu_host_blank(c, TL_DOUBLE, host->ndim, host->dims);
    tl_convert_array(t->data, TL_DOUBLE, host->data, host->dtype, (size_t)host->len);
    return t;
}

tl_tensor *cu_double(cu_case *c, const tl_tensor *device)
{
    return cu_host_double(c, cu_host(device));
}

tl_tensor *cu_host_permuted(cu_case *c, const tl_tensor *host, const int *axes)
{
    return cu_keep(c, tl_tensor_transpose(host, NULL, axes));
}

tl_tensor *cu_host_reshaped(cu_case *c, const tl_tensor *host, int ndim, const int *dims)
{
    tl_tensor *const t = cu_keep(c, tl_tensor_clone(host));
    ck_assert_int_eq(tl_tensor_reshape_src(t, ndim, dims), 0);
    return t;
}

// Runs

ln_cuda_stream cu_start(cu_case *c)
{
    tl_clear_error();
    CHECK_CUDA(c, cudaDeviceSynchronize());
    if (c->is_captured)
        CHECK_CUDA(c, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    return stream;
}

static void fetch(cu_case *c)
{
    CHECK_CUDA(c, cudaStreamSynchronize(stream));
    for (int i = 0; i < c->n_arrays; i++) {
        cu_array *const a = &c->arrays[i];
        CHECK_CUDA(c, cudaMemcpy(a->found, a->base, a->total, cudaMemcpyDeviceToHost));
    }
}

static void restore(cu_case *c)
{
    for (int i = 0; i < c->n_arrays; i++) {
        const cu_array *const a = &c->arrays[i];
        CHECK_CUDA(c, cudaMemcpy(a->base, a->image, a->total, cudaMemcpyHostToDevice));
    }
    CHECK_CUDA(c, cudaDeviceSynchronize());
}

// Compares two launches of a graph: outputs that are not work memory must be equal, bit by bit.
static void compare_runs(cu_case *c, unsigned char *const *first)
{
    for (int i = 0; i < c->n_arrays; i++) {
        const cu_array *const a = &c->arrays[i];
        const size_t end = a->total - GUARD_AFTER;
        size_t at = a->before;
        while (at < end && first[i][at] == a->found[at])
            at++;
        if (at < end && a->device->dtype != TL_UINT8)
            cu_fail(c,
                    "the graph's second launch writes other bits than the first to element %zu "
                    "of tensor %d",
                    (at - a->before) / tl_size_of(a->device->dtype), i);
    }
}

static void launch_twice(cu_case *c, cudaGraph_t graph)
{
    cudaGraphExec_t instance;
    unsigned char *first[CU_ARRAYS] = {0};
    CHECK_CUDA(c, cudaGraphInstantiate(&instance, graph, 0));
    CHECK_CUDA(c, cudaGraphLaunch(instance, stream));
    fetch(c);
    for (int i = 0; i < c->n_arrays; i++) {
        first[i] = malloc(c->arrays[i].total);
        memcpy(first[i], c->arrays[i].found, c->arrays[i].total);
    }
    restore(c);
    CHECK_CUDA(c, cudaGraphLaunch(instance, stream));
    fetch(c);
    compare_runs(c, first);
    for (int i = 0; i < c->n_arrays; i++)
        free(first[i]);
    CHECK_CUDA(c, cudaGraphExecDestroy(instance));
}

static void finish_capture(cu_case *c, int status)
{
    cudaGraph_t graph = NULL;
    const cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error != cudaSuccess) {
        cudaGetLastError();
        cu_fail(c, "cannot be captured: %s; returned %d: %s", cudaGetErrorName(error), status,
                tl_last_error());
    } else if (status == 0)
        launch_twice(c, graph);
    if (graph)
        cudaGraphDestroy(graph);
}

void cu_finish(cu_case *c, int status)
{
    const cudaError_t left = cudaGetLastError();
    if (status != 0)
        cu_fail(c, "returned %d: %s", status, tl_last_error());
    if (left != cudaSuccess)
        cu_fail(c, "leaves the error %s: %s", cudaGetErrorName(left), cudaGetErrorString(left));
    if (c->is_captured)
        finish_capture(c, status);
    else
        fetch(c);
}

// Comparisons

static double value_of(const void *data, tl_dtype dtype, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, tl_pointer_add(data, i, dtype), dtype);
    return value;
}

static const char *position_of(const tl_tensor *t, int i)
{
    int coords[TL_MAXDIM] = {0};
    tl_tensor_coords(t, i, coords);
    return cu_list(t->ndim, coords);
}

// The error of `found`, relative to the tolerance: at most 1 is correct. From about `max`, that of
// the type, infinity is correct, too.
static double error_of(double found, double expected, double tolerance, double max)
{
    if (isnan(expected) || isnan(found))
        return isnan(expected) && isnan(found) ? 0 : INFINITY;
    if (found == expected)
        return 0;
    if (fabs(expected) >= max * (1 - tolerance) && fabs(found) >= max * (1 - 2 * tolerance) &&
        (found > 0) == (expected > 0))
        return 0;
    if (isinf(found) || isinf(expected) || tolerance == 0)
        return INFINITY;
    return fabs(found - expected) / (tolerance * fmax(1, fabs(expected)));
}

void cu_check_near(cu_case *c, const tl_tensor *device, const tl_tensor *expected, double tolerance)
{
    const void *const data = cu_found(device);
    const double max = tl_dtype_max_double(device->dtype);
    int wrong = 0, worst = 0, first = -1, last = -1;
    double worst_error = 0;
    ck_assert_int_eq(device->len, expected->len);
    if (c->has_failed)
        return;
    for (int i = 0; i < device->len; i++) {
        const double error = error_of(value_of(data, device->dtype, i),
                                      value_of(expected->data, expected->dtype, i), tolerance, max);
        if (error <= 1)
            continue;
        first = wrong++ ? first : i;
        last = i;
        if (error > worst_error)
            worst_error = error, worst = i;
    }
    if (wrong)
        cu_fail(
            c,
            "element %d at [%s] is %.9g, expected %.9g, tolerance %.2g; %d of %d wrong, from %d "
            "to %d; element %d is %.9g, expected %.9g",
            worst, position_of(device, worst), value_of(data, device->dtype, worst),
            value_of(expected->data, expected->dtype, worst), tolerance, wrong, device->len, first,
            last, first, value_of(data, device->dtype, first),
            value_of(expected->data, expected->dtype, first));
}

static int is_same(const void *a, const void *b, tl_dtype dtype)
{
    return memcmp(a, b, tl_size_of(dtype)) == 0 ||
           (tl_dtype_is_float(dtype) && isnan(value_of(a, dtype, 0)) &&
            isnan(value_of(b, dtype, 0)));
}

// "1.5 (0x3fc0)".
static void element_text(char *text, size_t size, const void *p, tl_dtype dtype)
{
    uint64_t bits = 0;
    memcpy(&bits, p, tl_size_of(dtype));
    snprintf(text, size, "%.17g (0x%llx)", value_of(p, dtype, 0), (unsigned long long)bits);
}

void cu_check_same(cu_case *c, const tl_tensor *device, const tl_tensor *expected)
{
    const tl_dtype dtype = device->dtype;
    const void *const data = cu_found(device);
    int wrong = 0, first = -1, last = -1;
    char found_text[64], expected_text[64];
    ck_assert_int_eq(device->len, expected->len);
    ck_assert_int_eq(dtype, expected->dtype);
    if (c->has_failed)
        return;
    for (int i = 0; i < device->len; i++)
        if (!is_same(tl_pointer_add(data, i, dtype), tl_pointer_add(expected->data, i, dtype),
                     dtype)) {
            first = wrong++ ? first : i;
            last = i;
        }
    if (!wrong)
        return;
    element_text(found_text, sizeof(found_text), tl_pointer_add(data, first, dtype), dtype);
    element_text(expected_text, sizeof(expected_text), tl_pointer_add(expected->data, first, dtype),
                 dtype);
    cu_fail(c, "element %d at [%s] is %s, expected %s; %d of %d wrong, from %d to %d", first,
            position_of(device, first), found_text, expected_text, wrong, device->len, first, last);
}

// Whether bytes begin .. end-1 are as before the run.
static void check_bytes(cu_case *c, int i, size_t begin, size_t end, const char *what)
{
    const cu_array *const a = &c->arrays[i];
    for (size_t at = begin; at < end; at++)
        if (a->found[at] != a->image[at]) {
            cu_fail(c, "writes to %s of tensor %d, at byte %lld of its %zu bytes", what, i,
                    (long long)at - (long long)a->before, tl_tensor_size(a->device));
            return;
        }
}

void cu_close(cu_case *c)
{
    for (int i = 0; i < c->n_arrays; i++) {
        cu_array *const a = &c->arrays[i];
        const size_t end = a->total - GUARD_AFTER;
        if (!c->has_failed) {
            check_bytes(c, i, 0, a->before, "memory before the data");
            check_bytes(c, i, end, a->total, "memory after the data");
            if (!a->is_output)
                check_bytes(c, i, a->before, end, "the data (an input)");
        }
        CHECK_CUDA(c, cudaFree(a->base));
    }
    for (int i = 0; i < c->n_arrays; i++) {
        cu_array *const a = &c->arrays[i];
        free(a->image);
        free(a->found);
        tl_tensor_free_data_too(a->host);
        tl_tensor_free(a->device);
    }
    for (int i = 0; i < c->n_hosts; i++)
        tl_tensor_free_data_too(c->hosts[i]);
}

// For the CPU's results

const tl_exec *cu_exec(size_t scratch)
{
    if (!exec.pool) {
        exec.pool = tl_pool_create(8);
        exec.isa = tl_isa_best();
    }
    if (scratch > exec.scratch_size) {
        free(exec.scratch);
        exec.scratch_size = (scratch + 63) / 64 * 64;
        exec.scratch = aligned_alloc(64, exec.scratch_size);
    }
    return &exec;
}

void cu_set(tl_tensor *host, int i, double value)
{
    const tl_tensor src = {.dtype = TL_DOUBLE, .len = 1, .data = &value};
    tl_tensor dst = {.dtype = host->dtype, .len = 1};
    dst.data = tl_pointer_add(host->data, i, host->dtype);
    tl_exec_cast(NULL, &src, &dst);
}

const char *cu_list(int n, const int *values)
{
    static char texts[8][120];
    static int next;
    char *const text = texts[next++ % 8];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n && used < sizeof(texts[0]) - 16; i++)
        used += (size_t)snprintf(text + used, sizeof(texts[0]) - used, "%s%d", i ? ", " : "",
                                 values[i]);
    return text;
}

int cu_pick(uint64_t *seed, int n)
{
    return (int)(tl_random_uniform(seed) * n);
}

void cu_add_and_act(tl_tensor *t, const tl_tensor *addend, tl_activation act)
{
    double *const values = t->data;
    for (int i = 0; addend && i < t->len; i++)
        values[i] += ((const double *)addend->data)[i];
    ck_assert_int_eq(tl_exec_act(cu_exec(0), t, t, act), 0);
}

tl_activation cu_act(tl_act act)
{
    const float alpha = act == TL_ACT_LRELU         ? 0.1f
                        : act == TL_ACT_CLIP        ? -0.5f
                        : act == TL_ACT_HARDSIGMOID ? 0.2f
                        : act == TL_ACT_HARDSWISH   ? 1 / 6.0f
                                                    : 0;
    const float beta = act == TL_ACT_CLIP                                     ? 0.75f
                       : act == TL_ACT_HARDSIGMOID || act == TL_ACT_HARDSWISH ? 0.5f
                                                                              : 0;
    return (tl_activation){act, alpha, beta};
}

// Main

static int is_named(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

// Why there is no GPU; NULL: there is one.
static const char *missing_gpu(void)
{
    int n = 0;
    cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaSuccess && n == 0)
        return "no device";
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

int cu_main(const char *name, int argc, char **argv, const TTest *const *tests)
{
    const TTest *wanted[64] = {0};
    int n = 0;
    for (; argc == 2 && strcmp(argv[1], "--list") == 0 && *tests; tests++)
        printf("%s\n", (*tests)->name);
    for (; *tests; tests++)
        if (is_named((*tests)->name, argc, argv))
            wanted[n++] = *tests;
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return EXIT_SUCCESS;
    const char *const reason = missing_gpu();
    if (reason) {
        printf("1..0 # SKIP no NVIDIA GPU: %s\n", reason);
        return EXIT_SUCCESS;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("CK_FORK", "no", 1); // CUDA does not work in a child of fork
    return ln_check_run(name, wanted);
}
