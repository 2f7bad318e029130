// SPDX-License-Identifier: Apache-2.0
// The table of memory types: functions that allocate, free, set and copy each of them.

#include "lightnet/ln_mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_util.h"

// A cache line, and the widest vector register.
#define CPU_ALIGN 64

// With padding for alignment, differences of pointers still fit in ptrdiff_t.
#define CPU_MAX ((size_t)PTRDIFF_MAX - 2 * CPU_ALIGN)

// Memory of at least this size is mapped, and unmapped when it is freed: malloc would raise its
// mmap threshold and keep it resident.
#define SYSTEM_SIZE ((size_t)1 << 20)

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#undef SYSTEM_SIZE
#define SYSTEM_SIZE SIZE_MAX // malloc guards the ends of its blocks
#endif
#endif

// Precedes the aligned memory.
typedef struct origin {
    void *whole;
    size_t system_size; // 0: allocated by calloc
} origin;

_Static_assert(sizeof(origin) <= CPU_ALIGN, "an origin precedes the aligned memory");

static void *system_alloc(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

// Fresh pages are zero already, so calloc need not clear them.
static void *cpu_alloc(size_t n)
{
    origin o = {NULL, n >= SYSTEM_SIZE ? n + 2 * CPU_ALIGN : 0};
    if (n <= CPU_MAX && !ln_alloc_fail_now())
        o.whole = o.system_size ? system_alloc(o.system_size) : calloc(1, n + 2 * CPU_ALIGN);
    if (!o.whole) {
        ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "cannot allocate %zu bytes of CPU memory", n);
        return NULL;
    }
    tl_use_large_pages(o.whole, n);
    char *p =
        (char *)o.whole + CPU_ALIGN + (CPU_ALIGN - (uintptr_t)o.whole % CPU_ALIGN) % CPU_ALIGN;
    memcpy(p - sizeof(o), &o, sizeof(o));
    return p;
}

static void cpu_free(void *p)
{
    origin o = {0};
    if (p)
        memcpy(&o, (char *)p - sizeof(o), sizeof(o));
    if (o.system_size)
        munmap(o.whole, o.system_size);
    else
        free(o.whole);
}

void ln_mem_discard(void *p, size_t n)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)p + n) / page * page;
    if (begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED); // failing costs memory only
}

// A plug-in provides the functions of other types, before any context exists.
static ln_mem_info mem_infos[] = {
    [LN_MEM_NONE] = {.name = "LN_MEM_NONE"},
    [LN_MEM_CPU] = {"LN_MEM_CPU", cpu_alloc, cpu_free, memset, CPU_MAX, CPU_ALIGN},
    [LN_MEM_CUDA] = {"LN_MEM_CUDA", .max_size = CPU_MAX, .align_size = 256},
};

// [destination][source]
static ln_copy_func copy_funcs[][LN_MEM_TYPE_SIZE] = {
    [LN_MEM_NONE] = {NULL},
    [LN_MEM_CPU] = {[LN_MEM_CPU] = memcpy},
    [LN_MEM_CUDA] = {NULL},
};

static_assert(sizeof mem_infos / sizeof *mem_infos == LN_MEM_TYPE_SIZE, "a row per memory type");
static_assert(sizeof copy_funcs / sizeof *copy_funcs == LN_MEM_TYPE_SIZE, "a row per memory type");

int ln_mem_type_provide(const ln_mem_provider *provider)
{
    const ln_mem_type mtype = provider->mtype;
    if (!ln_mem_type_is_valid(mtype) || mtype == LN_MEM_NONE)
        return ln_error_set(NULL, "memory type %d is unknown", (int)mtype);
    if (mem_infos[mtype].alloc_func)
        return ln_error_set(NULL, "memory type %s has functions already", mem_infos[mtype].name);
    mem_infos[mtype].alloc_func = provider->alloc_func;
    mem_infos[mtype].free_func = provider->free_func;
    mem_infos[mtype].memset_func = provider->memset_func;
    copy_funcs[mtype][LN_MEM_CPU] = provider->copy_in;
    copy_funcs[LN_MEM_CPU][mtype] = provider->copy_out;
    copy_funcs[mtype][mtype] = provider->copy_within;
    return 0;
}

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
