// SPDX-License-Identifier: Apache-2.0
// A counter-based generator of random bits: any block of a sequence can be computed by itself, so
// threads compute separate blocks, and all machines and sets of features the same bits.
//
// Sources: Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011; Wichura:
// Algorithm AS 241, PPND16, 1988.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_tensor.h"

typedef struct tl_random_job tl_random_job;

/** The numbers first .. first+n-1, of which each takes 64 bits: two numbers a block; n is at most
 * TL_RANDOM_CHUNK. */
typedef void tl_random_func(const tl_random_job *job, size_t first, size_t n, double *dst);

/** The numbers of one tensor. */
struct tl_random_job {
    tl_tensor *dst;
    tl_distribution distribution;
    double a, b; // of tl_exec_random
    uint64_t key;
    int n_bits; // of a uniform number in [0, 1): at most 53
    tl_random_func *make;
};

/** The most numbers that a kernel makes at a time. */
enum { TL_RANDOM_CHUNK = 256 };

/** The blocks first .. first+n-1 of the sequence of `key`, Philox4x32 of ten rounds: [2 n] words of
 * 64 bits. Counter and key are words of 32 bits in the paper; the least significant comes first. */
typedef void tl_random_bits_func(uint64_t key, uint64_t first, size_t n, uint64_t *bits);

/** Quantiles of the standard normal distribution at p [n], 0 < p < 1; n is at most TL_RANDOM_CHUNK,
 * and dst may be p. */
typedef void tl_quantile_func(const double *p, double *dst, size_t n);

#define TL_ROWS_F64(ROW, arg, kernel, set, isa) ROW(arg, kernel##_f64_##set, TL_DOUBLE, isa)
#define TL_RANDOM_KERNELS(ROW, arg, kernel)  \
    TL_KERNELS(ROW, arg, kernel, F64, PLAIN) \
    TL_KERNELS(ROW, arg, kernel, F64, WIDE)
TL_RANDOM_KERNELS(TL_KERNEL_DECLARE, tl_random_func, tl_random_numbers)
TL_RANDOM_KERNELS(TL_KERNEL_DECLARE, tl_random_bits_func, tl_random_bits_of)
TL_RANDOM_KERNELS(TL_KERNEL_DECLARE, tl_quantile_func, tl_normal_quantiles)
