// SPDX-License-Identifier: Apache-2.0
// The index of the extreme along an axis in plain C.
//
// Neighbouring lines are searched together, so that memory is read in order whatever the axis; up
// to LINES at a time, so that what they have found stays in the cache.

#include "kernel/argreduce/argreduce.h"

#include <string.h>

enum { LINES = 256 };

#define TL_TEMPLATE "kernel/argreduce/argreduce_c.inc.h"
#include "tensor/tl_each_type.inc.h"
