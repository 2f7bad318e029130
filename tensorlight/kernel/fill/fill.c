// SPDX-License-Identifier: Apache-2.0
// Fills tensors with a value, an arithmetic progression, or random numbers.

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

// A value

typedef struct fill {
    char *dst;
    const void *value;
    size_t size; // of an element
} fill;

// Writes one element, then doubles the written part by copying it.
static void fill_range(void *arg, size_t begin, size_t end)
{
    const fill *const f = arg;
    char *const first = f->dst + begin * f->size;
    const size_t total = (end - begin) * f->size;
    memcpy(first, f->value, f->size);
    for (size_t done = f->size; done < total;) {
        const size_t step = done < total - done ? done : total - done;
        memcpy(first + done, first, step);
        done += step;
    }
}

int tl_exec_fill(const tl_exec *exec, tl_tensor *dst, const void *value)
{
    fill f = {dst->data, value, tl_size_of(dst->dtype)};
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_MEMORY_BOUND, fill_range, &f);
    return 0;
}

int tl_exec_zeros(const tl_exec *exec, tl_tensor *dst)
{
    static const char zero[TL_DTYPE_MAX_SIZE];
    return tl_exec_fill(exec, dst, zero);
}

// Arithmetic progressions, computed in double and converted, a buffer at a time

enum { BUFFER_LEN = 256 };

typedef struct arange {
    tl_tensor *dst;
    double start, step;
} arange;

static void arange_range(void *arg, size_t begin, size_t end)
{
    const arange *const p = arg;
    double buffer[BUFFER_LEN];
    for (size_t i = begin; i < end; i += BUFFER_LEN) {
        const size_t n = end - i < BUFFER_LEN ? end - i : BUFFER_LEN;
        for (size_t k = 0; k < n; k++)
            buffer[k] = p->start + p->step * (double)(i + k);
        tl_convert_array(tl_pointer_add(p->dst->data, (ptrdiff_t)i, p->dst->dtype), p->dst->dtype,
                         buffer, TL_DOUBLE, n);
    }
}

int tl_exec_arange(const tl_exec *exec, tl_tensor *dst, double start, double step)
{
    arange p = {dst, start, step};
    tl_parallel(exec, (size_t)dst->len, TL_GRAIN_MEMORY_BOUND, arange_range, &p);
    return 0;
}

static int check_in_range(const char *name, double value, tl_dtype dtype)
{
    if (value >= tl_dtype_min_double(dtype) && value <= tl_dtype_max_double(dtype))
        return 0;
    return tl_fail("'%s' is %g, expected a number in the range of %s", name, value,
                   tl_dtype_name(dtype));
}

int tl_arange_length(double start, double stop, double step, tl_dtype dtype)
{
    if (!tl_dtype_is_valid(dtype))
        return tl_fail("dtype %d, expected 0 to %d", dtype, TL_DTYPE_SIZE - 1);
    if (check_in_range("start", start, dtype) < 0 || check_in_range("stop", stop, dtype) < 0 ||
        check_in_range("step", step, dtype) < 0)
        return -1;
    if (step <= 0 || stop <= start)
        return tl_fail("from %g to %g by %g, expected stop > start and step > 0", start, stop,
                       step);
    const double len = ceil((stop - start) / step);
    if (len > INT32_MAX)
        return tl_fail("from %g to %g by %g has %g elements, expected at most %d", start, stop,
                       step, len, INT32_MAX);
    return (int)len;
}

tl_tensor *tl_tensor_arange(double start, double stop, double step, tl_dtype dtype)
{
    const int len = tl_arange_length(start, stop, step, dtype);
    if (len < 0)
        return NULL;
    tl_tensor *const result = tl_tensor_zeros(1, &len, dtype);
    return tl_result_end(result, NULL, result ? tl_exec_arange(NULL, result, start, step) : -1);
}

int tl_tensor_rearange(tl_tensor *src, double start, double stop, double step)
{
    if (tl_check_stored(src, "src") < 0)
        return -1;
    const int len = tl_arange_length(start, stop, step, src->dtype);
    if (len < 0)
        return -1;
    char text[TL_SHAPE_TEXT_SIZE];
    if (src->ndim != 1 || src->len != len)
        return tl_fail("'src' has shape %s, expected [%d]",
                       tl_shape_text(text, src->ndim, src->dims), len);
    return tl_exec_arange(NULL, src, start, step);
}

// Random numbers

static const char *const names[TL_DISTRIBUTION_SIZE] = {
    [TL_UNIFORM] = "TL_UNIFORM", [TL_NORMAL] = "TL_NORMAL"};
TL_NAME_AND_FROM_STR(tl_distribution, names, TL_DISTRIBUTION_SIZE)

int tl_distribution_check(tl_distribution distribution, double a, double b)
{
    if (distribution < 0 || distribution >= TL_DISTRIBUTION_SIZE)
        return tl_fail("distribution %d, expected 0 to %d", distribution, TL_DISTRIBUTION_SIZE - 1);
    if (distribution == TL_UNIFORM && (!(a <= b) || !isfinite(a) || !isfinite(b)))
        return tl_fail("uniform distribution from %g to %g, expected finite min <= max", a, b);
    if (distribution == TL_NORMAL && (!(b >= 0) || !isfinite(a) || !isfinite(b)))
        return tl_fail("normal distribution with mean %g and deviation %g, expected finite "
                       "numbers, the deviation at least 0",
                       a, b);
    return 0;
}

int tl_exec_fill_uniform(const tl_exec *exec, tl_tensor *t, double lo, double hi, uint64_t *state)
{
    if (tl_check_stored(t, "t") < 0 || tl_distribution_check(TL_UNIFORM, lo, hi) < 0)
        return -1;
    if (!state)
        return tl_fail("'state' is NULL, expected a state");
    const size_t len = (size_t)t->len;
    tl_poll poll = tl_poll_of(exec ? exec->stop : NULL);
    double buffer[BUFFER_LEN];
    for (size_t i = 0; i < len && !tl_poll_after(&poll, 4 * BUFFER_LEN); i += BUFFER_LEN) {
        const size_t n = len - i < BUFFER_LEN ? len - i : BUFFER_LEN;
        for (size_t k = 0; k < n; k++) {
            const double x = tl_random_uniform(state);
            buffer[k] = lo * (1 - x) + hi * x; // hi - lo may overflow
        }
        tl_convert_array(tl_pointer_add(t->data, (ptrdiff_t)i, t->dtype), t->dtype, buffer,
                         TL_DOUBLE, n);
    }
    return 0;
}

int tl_tensor_fill_uniform(tl_tensor *t, double lo, double hi, uint64_t *state)
{
    return tl_exec_fill_uniform(NULL, t, lo, hi, state);
}
