// SPDX-License-Identifier: Apache-2.0
// Matrix units of x86-64 CPUs, AMX: see tl_amx.h.

#include "tensor/tl_amx.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned tl_amx_detect(void)
{
    enum { BF16 = 22, TILE = 24, INT8 = 25 }; // bits of EDX in leaf 7
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> TILE & 1))
        return 0;
    return (d >> INT8 & 1 ? TL_AMX_INT8 : 0) | (d >> BF16 & 1 ? TL_AMX_BF16 : 0);
}

// Linux keeps the state of tiles, 8 KB a thread, for processes that asked for it: since 5.16, and
// only if all alternate signal stacks have room for it.
int tl_amx_permit(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

#else

unsigned tl_amx_detect(void)
{
    return 0;
}

int tl_amx_permit(void)
{
    return 0;
}

#endif
