// SPDX-License-Identifier: Apache-2.0
// Steps of Gaussian elimination with partial pivoting, which determinants and inverses share.
// Source: Golub, Van Loan: Matrix computations, 3.4.

#pragma once

#include <math.h>
#include <stddef.h>

/** The row at or below `i` of `a` [n, n] whose element in column `i` is largest. */
static inline size_t tl_pivot_of(const double *a, size_t n, size_t i)
{
    size_t best = i;
    for (size_t r = i + 1; r < n; r++)
        if (fabs(a[r * n + i]) > fabs(a[best * n + i]))
            best = r;
    return best;
}

/** Swaps two rows of `n` elements. */
static inline void tl_swap_rows(double *a, size_t n, size_t r1, size_t r2)
{
    for (size_t c = 0; c < n; c++) {
        const double x = a[r1 * n + c];
        a[r1 * n + c] = a[r2 * n + c];
        a[r2 * n + c] = x;
    }
}

/** Row `r` -= factor * row `i`, from column `first` on. */
static inline void tl_subtract_row(double *a, size_t n, size_t r, size_t i, size_t first,
                                   double factor)
{
    for (size_t c = first; c < n; c++)
        a[r * n + c] -= factor * a[i * n + c];
}
