// SPDX-License-Identifier: Apache-2.0
// The kernel of all convolutions of row-major tensors.

#pragma once

#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_vision.h"

/** tl_exec_convnd or, if `is_transposed`, tl_exec_deconvnd, and an activation. */
int tl_convnd_run(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                  const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows, int group,
                  int is_transposed, tl_activation act);
