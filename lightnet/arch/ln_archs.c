// SPDX-License-Identifier: Apache-2.0
// Enters the architectures of this build into the tables before main begins.

#include "arch/ln_archs.h"

__attribute__((constructor)) static void register_archs(void)
{
    ln_arch *const archs[] = {&ln_archimpl_none, &ln_archimpl_cpu};
    for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
        if (ln_arch_register(archs[i]))
            return; // no message yet: a later use of the architecture reports that it is
                    // unknown
    }
}
