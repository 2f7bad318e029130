// SPDX-License-Identifier: Apache-2.0
// What the rules of blocked_pick.opt ask and compute.

#ifndef LN_BLOCKED_PICK_RULES_H
#define LN_BLOCKED_PICK_RULES_H

#include "arch/cpu/ln_blocked_pick.h"
#include "lightnet/ln_rule.h"

/** Of a shuffle by transposing: as many as a list of them may have. */
enum { SHUFFLED = 4096 };

/** Whether `split` are the channels of `x` as groups of channels, two axes in place of one. */
static inline int splits_channels(const ln_tensor_entry *split, const ln_tensor_entry *x)
{
    const int *const dims = split->tensor->dims, *const whole = x->tensor->dims;
    return split->tensor->ndim == 5 && x->tensor->ndim == 4 && dims[0] == whole[0] &&
           dims[3] == whole[2] && dims[4] == whole[3];
}

/** Channels that were [groups, rest] become [rest, groups]. */
static const int *shuffle_of(const ln_tensor_entry *split, int *map)
{
    const int groups = split->tensor->dims[1], rest = split->tensor->dims[2];
    for (int i = 0; i < groups * rest; i++)
        map[i] = i % groups * rest + i / groups;
    return map;
}

#endif
