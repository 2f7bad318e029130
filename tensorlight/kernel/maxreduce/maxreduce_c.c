// SPDX-License-Identifier: Apache-2.0
// The maximum along an axis in plain C.
//
// Neighbouring lines are reduced together, so that memory is read in order whatever the axis; up to
// LINES at a time, so that their maxima stay in the cache.

#include "kernel/maxreduce/maxreduce.h"

enum { LINES = 256 };

#define TL_TEMPLATE "kernel/maxreduce/maxreduce_c.inc.h"
#include "tensor/tl_each_type.inc.h"
