// SPDX-License-Identifier: Apache-2.0
// The instruction sets that a selection of kernels may use, and the cores that a process may.

#pragma once

#include "tensorlight/tl_exec.h"

/** The usable instruction sets that `max` contains (TL_ISA_SIZE: all usable ones), bit i for tl_isa
 *  i; always with TL_ISA_C. */
unsigned tl_isa_usable_within(tl_isa max);

/** A loop over the usable instruction sets, from TL_ISA_C. */
#define TL_ISA_EACH_USABLE(isa)                                                  \
    for (tl_isa isa = TL_ISA_C; isa < TL_ISA_SIZE; isa = (tl_isa)((int)isa + 1)) \
        if (tl_isa_is_usable(isa))

/** The cores that the quotas of this process' control groups allow, rounded up; 0 without a quota.
 * `root` is the folder of "proc/self/cgroup" and "sys/fs/cgroup": "" for the real ones. */
int tl_cpu_quota(const char *root);
