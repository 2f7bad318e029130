// SPDX-License-Identifier: Apache-2.0
// Chains of multiply-adds in NEON.

#include "kernel/peak/peak_simd.inc.h"
