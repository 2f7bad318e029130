// SPDX-License-Identifier: Apache-2.0
// The table of memory types: what allocates, frees, sets and copies each of them.

#include "lightnet/ln_mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"

/* A cache line, and the widest vector register. */
#define CPU_ALIGN 64

/* Leaves room for rounding up to CPU_ALIGN, and differences of pointers fit in ptrdiff_t. */
#define CPU_MAX ((size_t)PTRDIFF_MAX - CPU_ALIGN)

static void *cpu_alloc(size_t n)
{
    void *p = NULL;
    if (n <= CPU_MAX && !ln_alloc_fail_now())
        p = aligned_alloc(CPU_ALIGN, (n / CPU_ALIGN + 1) * CPU_ALIGN);
    if (!p)
        ln_error_set(NULL, "cannot allocate %zu bytes of CPU memory", n);
    return p;
}

static const ln_mem_info mem_infos[] = {
    [LN_MEM_NONE] = {.name = "LN_MEM_NONE"},
    [LN_MEM_CPU] = {"LN_MEM_CPU", cpu_alloc, free, memset, CPU_MAX, CPU_ALIGN},
};

/* [destination][source] */
static const ln_copy_func copy_funcs[][LN_MEM_TYPE_SIZE] = {
    [LN_MEM_NONE] = {NULL},
    [LN_MEM_CPU] = {[LN_MEM_CPU] = memcpy},
};

static_assert(sizeof mem_infos / sizeof *mem_infos == LN_MEM_TYPE_SIZE, "a row per memory type");
static_assert(sizeof copy_funcs / sizeof *copy_funcs == LN_MEM_TYPE_SIZE, "a row per memory type");

int ln_mem_type_is_valid(ln_mem_type mtype)
{
    return (unsigned)mtype < LN_MEM_TYPE_SIZE;
}

const char *ln_mem_type_name(ln_mem_type mtype)
{
    return ln_mem_type_is_valid(mtype) ? mem_infos[mtype].name : NULL;
}

int ln_mem_type_from_str(const char *str)
{
    for (int i = 0; i < LN_MEM_TYPE_SIZE; i++)
        if (ln_streq(mem_infos[i].name, str))
            return i;
    return -1;
}

ln_mem_info ln_mem_type_info(ln_mem_type mtype)
{
    return mem_infos[ln_mem_type_is_valid(mtype) ? mtype : LN_MEM_NONE];
}

ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype)
{
    if (!ln_mem_type_is_valid(dst_mtype) || !ln_mem_type_is_valid(src_mtype))
        return NULL;
    return copy_funcs[dst_mtype][src_mtype];
}
