// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured on it: what kernels are compared with.
//
//     const tl_exec exec = {.isa = tl_isa_best()};
//     printf("%.1f GFLOP/s, %.1f GB/s\n", tl_peak_flops(&exec) * 1e-9,
//            tl_peak_bandwidth(&exec) * 1e-9);
//
// Both take the best of several short runs, since a machine has other work, too.

#ifndef TL_PEAK_H
#define TL_PEAK_H

#include "tensorlight/tl_exec.h"

TL_BEGIN_DECLS

/** Operations on floats a second that the threads of `exec` can do together, in registers, with the
 *  vectors of its instruction set: a multiply-add counts two. Takes about 30 milliseconds. */
TL_API double tl_peak_flops(const tl_exec *exec);

/** The same for pairs of bfloat16, whose products are summed in floats. */
TL_API double tl_peak_bfloat16_flops(const tl_exec *exec);

/** The same for bytes: products of unsigned with signed ones, summed exactly in 32 bits, as 8-bit
 *  convolutions have them. */
TL_API double tl_peak_byte_ops(const tl_exec *exec);

/** Bytes a second that the threads of `exec` read and write together when they copy memory that is
 *  in no cache. Takes about 0.1 seconds, and 128 MiB for that long; 0 with a reason where these are
 *  not to be had. */
TL_API double tl_peak_bandwidth(const tl_exec *exec);

TL_END_DECLS

#endif
