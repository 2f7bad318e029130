// SPDX-License-Identifier: Apache-2.0
// The kernel of squareplus.

#include "squareplus.h"

#include <assert.h>
#include <math.h>

typedef struct work {
    const float *src;
    float *dst;
    double b;
} work;

// Where x is negative, the sum of x and the root loses digits; b divided by their difference, which
// is the same number, does not. In doubles, the square of a float does not overflow.
static double squareplus(double x, double b)
{
    const double root = sqrt(x * x + b);
    return x < 0 ? b / (root - x) / 2 : (x + root) / 2;
}

static void run_range(void *arg, size_t begin, size_t end)
{
    const work *w = arg;
    for (size_t i = begin; i < end; i++)
        w->dst[i] = (float)squareplus(w->src[i], w->b);
}

// A root costs some nanoseconds, so a thread should have thousands of them.
enum { GRAIN = 4096 };

int squareplus_run(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, double b)
{
    assert(src->dtype == TL_FLOAT && dst->dtype == TL_FLOAT && src->len == dst->len && b >= 0);
    work w = {.src = src->data, .dst = dst->data, .b = b};
    tl_parallel(exec, (size_t)src->len, GRAIN, run_range, &w);
    return 0;
}
