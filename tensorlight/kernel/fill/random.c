// SPDX-License-Identifier: Apache-2.0
// Tensors of random numbers: choice of the kernel, threads, conversion to the type.

#include "kernel/fill/random.h"

#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

#define NUMBERS(ROW, arg) TL_RANDOM_KERNELS(ROW, arg, tl_random_numbers)
TL_KERNEL_TABLE(pick, tl_random_func, NUMBERS)

static void make_range(void *arg, size_t begin, size_t end)
{
    const tl_random_job *const job = arg;
    const tl_dtype dtype = job->dst->dtype;
    double numbers[TL_RANDOM_CHUNK];
    for (size_t i = begin; i < end; i += TL_RANDOM_CHUNK) {
        const size_t n = tl_min_size(end - i, TL_RANDOM_CHUNK);
        job->make(job, i, n, numbers);
        tl_convert_array(tl_pointer_add(job->dst->data, (ptrdiff_t)i, dtype), dtype, numbers,
                         TL_DOUBLE, n);
    }
}

// The bits of a fraction with which all uniform numbers in [0, 1) are of this type, so that
// rounding never returns 1.
static int bits_of_type(tl_dtype dtype)
{
    return dtype == TL_FLOAT ? 24 : dtype == TL_FLOAT16 ? 11 : dtype == TL_BFLOAT16 ? 8 : 53;
}

int tl_exec_random(const tl_exec *exec, tl_tensor *dst, tl_distribution distribution, double a,
                   double b, uint64_t *state)
{
    if (tl_check_stored(dst, "dst") < 0 || tl_distribution_check(distribution, a, b) < 0)
        return -1;
    if (!state)
        return tl_fail("'state' is NULL, expected a state");
    tl_random_job job = {.dst = dst, .distribution = distribution, .a = a, .b = b};
    job.key = tl_random_bits(state);
    job.n_bits = bits_of_type(dst->dtype);
    job.make = pick(exec, TL_DOUBLE);
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_COMPUTE_BOUND, make_range, &job);
    return 0;
}
