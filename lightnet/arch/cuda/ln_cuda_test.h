// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of CUDA kernels: tensors on the GPU between guards, runs with and without a
// CUDA graph, comparison with results of the CPU, and reports of all failed cases.
//
//     CU_TEST(softmax_of_rows)
//     {
//         cu_case c;
//         cu_open(&c, "ln_cuda_softmax", TL_FLOAT, "axis %d", 1);
//         tl_tensor *const src = cu_random(&c, TL_FLOAT, 2, (int[]){3, 5}, -1, 1);
//         tl_tensor *const dst = cu_output(&c, TL_FLOAT, 2, src->dims);
//         cu_finish(&c, ln_cuda_softmax(cu_start(&c), src, dst, 1, 0));
//         tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, 2, src->dims);
//         tl_exec_softmax(cu_exec(0), cu_double(&c, src), expected, 1);
//         cu_check_near(&c, dst, expected, cu_tolerance(TL_FLOAT, CU_NEAR));
//         cu_close(&c);
//     }
//
// A tensor on the GPU ("device") has data that only the GPU can read; cu_host is its copy.
//
//     | guard, 0x7fa5 .. | 0 to 3 elements | data | guard |
//
// Guards are NaN for all floats, so that a result that depends on them is noticed. Outputs hold
// bytes of 0xff at first. Some cases run by a CUDA graph that is launched twice.
//
// Tolerances are relative to max(1, |expected|). Types of 16 bits compute in float, and round the
// result to 11 or 8 bits: 2^-11 and 2^-8 relative, and a library may round twice more.

#pragma once

#include <cuda_runtime_api.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "ln_check.h"

#define CU_LEN(array) ((int)(sizeof(array) / sizeof(*(array))))

static const double CU_EXACT = 0;
static const double CU_NEAR = 1e-5;     // of TL_FLOAT: a few functions of float
static const double CU_SUM = 2e-5;      // of TL_FLOAT: long sums
static const double CU_FLOAT16 = 4e-3;  // of TL_FLOAT16
static const double CU_BFLOAT16 = 3e-2; // of TL_BFLOAT16

/** The tolerance of a type; `of_float` is that of TL_FLOAT. */
double cu_tolerance(tl_dtype dtype, double of_float);

enum { CU_ARRAYS = 16, CU_HOSTS = 64 };

/** The memory of a tensor on the GPU. */
typedef struct cu_array {
    tl_tensor *host;      // initial content
    tl_tensor *device;    // refers to this array by backend_data
    unsigned char *base;  // on the GPU, with guards
    unsigned char *image; // initial content of all bytes from base on
    unsigned char *found; // content after the run
    size_t before, total; // bytes before the data, and of all
    int shift;            // elements
    int is_output;
} cu_array;

typedef struct cu_case {
    const char *func;
    char what[400];
    tl_dtype dtype;
    uint64_t seed;
    int is_aligned; // all tensors start at 256 bytes; set after cu_open
    int is_captured;
    int has_failed;
    int n_arrays, n_hosts;
    cu_array arrays[CU_ARRAYS];
    tl_tensor *hosts[CU_HOSTS];
} cu_case;

/** Begins a case; `fmt` describes the parameters that shapes do not show. */
void cu_open(cu_case *c, const char *func, tl_dtype dtype, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** Device tensors, valid until cu_close: random; a copy of `host`; an output; a copy of `host` that
 * is an output, too; aligned work memory of `size` bytes. */
tl_tensor *cu_random(cu_case *c, tl_dtype dtype, int ndim, const int *dims, double lo, double hi);
tl_tensor *cu_given(cu_case *c, const tl_tensor *host);
tl_tensor *cu_output(cu_case *c, tl_dtype dtype, int ndim, const int *dims);
tl_tensor *cu_updated(cu_case *c, const tl_tensor *host);
tl_tensor *cu_work(cu_case *c, size_t size);

/** Host tensors, valid until cu_close: the initial content of a device tensor; the same as
 * TL_DOUBLE; zeros; random; `host` with its axes permuted, or of another shape. */
tl_tensor *cu_host(const tl_tensor *device);
tl_tensor *cu_double(cu_case *c, const tl_tensor *device);
tl_tensor *cu_host_double(cu_case *c, const tl_tensor *host);
tl_tensor *cu_host_blank(cu_case *c, tl_dtype dtype, int ndim, const int *dims);
tl_tensor *cu_host_random(cu_case *c, tl_dtype dtype, int ndim, const int *dims, double lo,
                          double hi);
tl_tensor *cu_host_permuted(cu_case *c, const tl_tensor *host, const int *axes);
tl_tensor *cu_host_reshaped(cu_case *c, const tl_tensor *host, int ndim, const int *dims);

/** Keeps `host` until cu_close, which frees it. Returns it. */
tl_tensor *cu_keep(cu_case *c, tl_tensor *host);

/** The stream for the function under test, which may be recording a graph; then the result of the
 * function. */
ln_cuda_stream cu_start(cu_case *c);
void cu_finish(cu_case *c, int status);

/** The content of an output after cu_finish. */
const void *cu_found(const tl_tensor *device);

/** Compares an output with `expected`, of any type; or byte by byte, where only all NaN are equal.
 */
void cu_check_near(cu_case *c, const tl_tensor *device, const tl_tensor *expected,
                   double tolerance);
void cu_check_same(cu_case *c, const tl_tensor *device, const tl_tensor *expected);

/** Reports a failure of this case, with its function, parameters, shapes and offsets. */
void cu_fail(cu_case *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Checks guards and inputs, and frees all tensors. */
void cu_close(cu_case *c);

/** Prints a line that is not a failure. */
void cu_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The same about a case, with its function, parameters and shapes. */
void cu_note_case(const cu_case *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Threads and scratch memory of at least so many bytes for the CPU. */
const tl_exec *cu_exec(size_t scratch);

/** Sets element `i` of a host tensor to `value`, converted as by tl_exec_cast. */
void cu_set(tl_tensor *host, int i, double value);

/** "1, 2, 3"; valid for the next eight calls. */
const char *cu_list(int n, const int *values);

/** A random number, 0 .. n - 1. */
int cu_pick(uint64_t *seed, int n);

/** act(t + addend) of TL_DOUBLE in place; addend may be NULL. */
void cu_add_and_act(tl_tensor *t, const tl_tensor *addend, tl_activation act);

/** The parameters of each activation. */
tl_activation cu_act(tl_act act);

static const tl_dtype cu_floats[] = {TL_FLOAT, TL_FLOAT16, TL_BFLOAT16};

/** Runs the block that follows for each type F, as `dtype`. */
#define CU_EACH_FLOAT(dtype)                             \
    for (int cu_i = 0; cu_i < CU_LEN(cu_floats); cu_i++) \
        for (tl_dtype dtype = cu_floats[cu_i]; dtype != TL_DTYPE_INVALID; dtype = TL_DTYPE_INVALID)

/** A test function, followed by its block: reports all its failed cases, then fails. */
#define CU_TEST(name)               \
    static void name##_cases(void); \
    START_TEST(name)                \
    {                               \
        cu_test_begin();            \
        name##_cases();             \
        cu_test_end(#name);         \
    }                               \
    END_TEST                        \
    static void name##_cases(void)
void cu_test_begin(void);
void cu_test_end(const char *name);

/** Runs the NULL-terminated `tests`, or those that arguments name, or lists them (--list). Without
 * a GPU: skips. Returns the exit status. */
int cu_main(const char *name, int argc, char **argv, const TTest *const *tests);

#define CU_TEST_MAIN(name, ...)                           \
    int main(int argc, char **argv)                       \
    {                                                     \
        const TTest *const tests[] = {__VA_ARGS__, NULL}; \
        return cu_main(name, argc, argv, tests);          \
    }
