// SPDX-License-Identifier: Apache-2.0
// The binary operations: the kernels of one instruction set.

#include "kernel/binary/binary.h"
#include "kernel/binary/binary_simd.h"

#include "kernel/binary/binary_simd.inc.h"
