// SPDX-License-Identifier: Apache-2.0
// unary_sweep [FUNC...]: the largest error of each function in unary_accuracy_test.h, or of some
// (TL_UNARY_GELU), over all floats, on every instruction set that the CPU has.
//
// Prints a line per instruction set: the largest error (relative to the bound where that grows) and
// its x, for positive and for negative numbers. Exits with 1 where a bound is broken. About a
// minute for a function.

#include <stdio.h>
#include <stdlib.h>

#include "kernel/unary/unary_accuracy_test.h"
#include "tensorlight/tensorlight.h"

enum { PIECE = 1 << 14 };

// The largest error so far.
typedef struct worst {
    double ulp, excess; // excess over the growing bound
    float x;
} worst;

static void note_errors(int k, const float *x, const float *y, const double *expected, worst *w)
{
    for (size_t i = 0; i < PIECE; i++) {
        if (y[i] == (float)expected[i]) // at most half a unit, as most are
            continue;
        const double ulp = error_of(y[i], expected[i], close_functions[k].min);
        if (ulp <= w->excess)
            continue;
        const double excess = ulp - (bound_of(k, (double)x[i]) - close_functions[k].ulp);
        if (excess > w->excess)
            *w = (worst){ulp, excess, x[i]};
    }
}

// The floats whose bits are first .. first + PIECE - 1, through all kernels of close_functions[k].
static void sweep_piece(int k, uint32_t first, const close_kernel *kernels, int n, worst *worsts)
{
    static float x[PIECE], y[PIECE];
    static double expected[PIECE];
    for (uint32_t i = 0; i < PIECE; i++) {
        const uint32_t bits = first + i;
        memcpy(&x[i], &bits, sizeof(bits));
        expected[i] = exact_of(k, (double)x[i]);
    }
    for (int i = 0; i < n; i++) {
        kernels[i].func(x, y, PIECE, &some_param);
        note_errors(k, x, y, expected, &worsts[2 * i + (first >> 31)]);
    }
}

static int sweep(int k)
{
    close_kernel kernels[TL_ISA_SIZE];
    worst worsts[2 * TL_ISA_SIZE];
    for (int i = 0; i < 2 * TL_ISA_SIZE; i++)
        worsts[i] = (worst){0.5, 0.5, 0};
    const int n = close_kernels(k, kernels);
    for (uint64_t first = 0; first < 0x100000000; first += PIECE)
        sweep_piece(k, (uint32_t)first, kernels, n, worsts);
    int is_kept = 1;
    for (int i = 0; i < n; i++) {
        const worst *const w = &worsts[2 * i];
        printf("%-20s %-18s", tl_unary_func_name(close_functions[k].func), kernels[i].set);
        for (int sign = 0; sign < 2; sign++)
            printf("  %8.4f (%.4f) at %-14a", w[sign].excess, w[sign].ulp, (double)w[sign].x);
        is_kept &= fmax(w[0].excess, w[1].excess) <= close_functions[k].ulp;
        printf("  of %g\n", close_functions[k].ulp);
    }
    fflush(stdout);
    return is_kept;
}

static int is_wanted(int k, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], tl_unary_func_name(close_functions[k].func)) == 0)
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    int is_kept = 1, swept = 0;
    for (int k = 0; k < CLOSE_N; k++)
        if (is_wanted(k, argc, argv)) {
            is_kept &= sweep(k);
            swept++;
        }
    if (swept < argc - 1)
        fputs("unary_sweep: error: a FUNC is not in unary_accuracy_test.h\n", stderr);
    return is_kept && swept >= argc - 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
