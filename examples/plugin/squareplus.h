// SPDX-License-Identifier: Apache-2.0
// The kernel of squareplus.

#ifndef SQUAREPLUS_H
#define SQUAREPLUS_H

#include <tensorlight/tensorlight.h>

/** (x + sqrt(x^2 + b)) / 2 of each element, b >= 0: src -> dst of the same shape, both TL_FLOAT;
 *  dst may be src. Returns 0. Source: Barron, Squareplus: A Softplus-Like Algebraic Rectifier,
 *  2021, equation 1. */
int squareplus_run(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, double b);

#endif
