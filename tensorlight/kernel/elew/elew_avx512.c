// SPDX-License-Identifier: Apache-2.0
// Binary operations: the kernels of one instruction set.

#include "kernel/binary/binary_simd.h"
#include "kernel/elew/elew.h"

#include "kernel/elew/elew_simd.inc.h"
