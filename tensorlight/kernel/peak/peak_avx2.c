// SPDX-License-Identifier: Apache-2.0
// Chains of multiply-adds in AVX2 and FMA.

#include "kernel/peak/peak_simd.inc.h"
