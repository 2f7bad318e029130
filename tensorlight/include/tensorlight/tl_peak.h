// SPDX-License-Identifier: Apache-2.0
// Measured peak performance of this machine, as a reference for kernels.
//
//     const tl_exec exec = {.isa = tl_isa_best()};
//     printf("%.1f GFLOP/s, %.1f GB/s\n", tl_peak_flops(&exec) * 1e-9,
//            tl_peak_bandwidth(&exec) * 1e-9);
//
// Both return the best of several short runs, since the machine may be busy.

#ifndef TL_PEAK_H
#define TL_PEAK_H

#include "tensorlight/tl_exec.h"

TL_BEGIN_DECLS

/** Float operations per second of all threads of `exec` in registers, with its
 *  instruction set: a multiply-add counts as two. Takes about 30 milliseconds. */
TL_API double tl_peak_flops(const tl_exec *exec);

/** The same for pairs of bfloat16, whose products are summed in floats. */
TL_API double tl_peak_bfloat16_flops(const tl_exec *exec);

/** The same for bytes: products of unsigned and signed bytes
 *  with exact 32-bit sums, as in 8-bit convolutions. */
TL_API double tl_peak_byte_ops(const tl_exec *exec);

/** Bytes per second that the threads of `exec` read and
 *  write when they copy uncached memory. Takes about 0.1
 *  seconds and 128 MiB; 0 with a reason: no memory. */
TL_API double tl_peak_bandwidth(const tl_exec *exec);

TL_END_DECLS

#endif
