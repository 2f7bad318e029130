// SPDX-License-Identifier: Apache-2.0
// The largest or smallest elements along an axis in plain C.
//
// The k best indices so far form a heap whose root is the worst of them; an element that is better
// takes its place. At the end the worst is taken away k times, which leaves the best in order:
// heapsort. The heap lies in the result, so that no other memory is needed.
// Source: Knuth, The Art of Computer Programming, 5.2.3.

#include "kernel/topk/topk.h"

#define TL_TEMPLATE "kernel/topk/topk_c.inc.h"
#include "tensor/tl_each_type.inc.h"
