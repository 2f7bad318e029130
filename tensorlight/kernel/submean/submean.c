// SPDX-License-Identifier: Apache-2.0
// Converts an image from HWC to CHW and subtracts a mean per channel.

#include <assert.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

enum { CHANNELS = 3, CHUNK = 256 };

typedef struct submean_job {
    const tl_tensor *src;
    tl_tensor *dst;
    const double *mean;
} submean_job;

// Computes the pixels begin .. end-1, by way of double.
static void run(void *arg, size_t begin, size_t end)
{
    const submean_job *const job = arg;
    const tl_tensor *const src = job->src;
    const size_t plane = (size_t)src->len / CHANNELS;
    double pixels[CHUNK * CHANNELS], values[CHUNK];
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_min_size(CHUNK, end - k);
        tl_convert_array(pixels, TL_DOUBLE,
                         tl_pointer_add(src->data, (ptrdiff_t)(k * CHANNELS), src->dtype),
                         src->dtype, n * CHANNELS);
        for (size_t c = 0; c < CHANNELS; c++) {
            for (size_t i = 0; i < n; i++)
                values[i] = pixels[i * CHANNELS + c] - job->mean[c];
            tl_convert_array(
                tl_pointer_add(job->dst->data, (ptrdiff_t)(c * plane + k), job->dst->dtype),
                job->dst->dtype, values, TL_DOUBLE, n);
        }
    }
}

int tl_exec_submean(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const double *mean)
{
    assert(src->ndim == 3 && src->dims[2] == CHANNELS && dst->len == src->len);
    submean_job job = {src, dst, mean};
    tl_parallel(exec, (size_t)src->len / CHANNELS, TL_GRAIN_MEMORY_BOUND / CHANNELS, run, &job);
    return 0;
}

static int check(const tl_tensor *src, const tl_tensor *dst, const double *mean)
{
    if (tl_check_data(src, "src") < 0 || tl_check_shape(src, "src", "[H, W, 3]") < 0 ||
        (dst && tl_check_data(dst, "dst") < 0))
        return -1;
    if (src->dtype == TL_BOOL || (dst && dst->dtype == TL_BOOL))
        return tl_fail("'%s' has dtype TL_BOOL, expected a number",
                       src->dtype == TL_BOOL ? "src" : "dst");
    if (!mean)
        return tl_fail("'mean' is NULL, expected 3 numbers");
    return tl_check_apart(dst, src);
}

tl_tensor *tl_tensor_submean(const tl_tensor *src, tl_tensor *dst, const double *mean)
{
    if (check(src, dst, mean) < 0)
        return NULL;
    const int dims[] = {CHANNELS, src->dims[0], src->dims[1]};
    tl_tensor *const result = tl_result_begin(dst, 3, dims, dst ? dst->dtype : TL_FLOAT);
    return tl_result_end(result, dst, result ? tl_exec_submean(NULL, src, result, mean) : -1);
}
