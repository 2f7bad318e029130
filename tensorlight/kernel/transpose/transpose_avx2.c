// SPDX-License-Identifier: Apache-2.0
// Transposition of elements of 4 bytes: the kernel of one instruction set.

#include "kernel/simd/tl_simd.h"
#include "kernel/transpose/transpose.h"

#include "kernel/transpose/transpose_simd.inc.h"
