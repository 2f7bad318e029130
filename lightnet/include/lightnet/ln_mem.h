// SPDX-License-Identifier: Apache-2.0
// Memory types of devices, and virtual pools that plan their use.
//
//     ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
//     size_t weight = ln_mem_pool_alloc(pool, 1000); // 64: offset 0 is never handed out
//     size_t bias = ln_mem_pool_alloc(pool, 40);     // 1088
//     ln_mem_pool_dealloc(pool, weight);
//     size_t need = ln_mem_pool_peak(pool);          // 1128
//     ln_mem_pool_free(pool);
//
// A pool owns no memory. It records which bytes of a region 0 .. size-1 are allocated.
// Its unit is `align_size`: every offset is a multiple of it, and every allocation has
// complete units (except the last one of the region, which may be shorter).

#ifndef LN_MEM_H
#define LN_MEM_H

#include <stddef.h>
#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_config.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef enum ln_mem_type {
    LN_MEM_NONE = 0, // of abstract tensors, which programs do not contain
    LN_MEM_CPU = 1,
#ifdef LN_CUDA       // by ln_config.h: in every build
    LN_MEM_CUDA = 2, // of an NVIDIA GPU; the plug-in of the target cuda has its functions
#endif
    LN_MEM_TYPE_SIZE
} ln_mem_type;

/** The functions and limits of a memory type. */
typedef struct ln_mem_info {
    const char *name;            // the enum name
    void *(*alloc_func)(size_t); // returns new memory aligned to align_size, zeroed, a distinct
                                 // object also for 0 bytes; NULL with a reason
    void (*free_func)(void *);   // accepts NULL
    void *(*memset_func)(void *, int, size_t); // as memset
    size_t max_size;                           // the max bytes of an allocation
    size_t align_size;                         // bytes
} ln_mem_info;

/** The functions and limits that a plug-in provides for a memory type. */
typedef struct ln_mem_provider {
    ln_mem_type mtype;
    void *(*alloc_func)(size_t); // these three as in ln_mem_info
    void (*free_func)(void *);
    void *(*memset_func)(void *, int, size_t);
    ln_copy_func copy_in;     // from LN_MEM_CPU; the copy functions return after the copy
    ln_copy_func copy_out;    // to LN_MEM_CPU
    ln_copy_func copy_within; // from and to this type
} ln_mem_provider;

/** Provides the functions of a memory type other than LN_MEM_CPU, until the process ends: for
 * plug-ins (ln_plugin.h). -1 with a reason: it has functions already, or is invalid. */
LN_API int ln_mem_type_provide(const ln_mem_provider *provider);

/** 1 for LN_MEM_NONE .. LN_MEM_TYPE_SIZE - 1. */
LN_API int ln_mem_type_is_valid(ln_mem_type mtype);

/** The enum name, such as "LN_MEM_CPU"; NULL for an invalid type. */
LN_API const char *ln_mem_type_name(ln_mem_type mtype);

/** The type of that name, or -1. */
LN_API int ln_mem_type_from_str(const char *str);

/** The type's functions and limits. LN_MEM_NONE and invalid types: functions NULL, sizes 0. A type
 * of a plug-in that is not loaded: functions NULL. */
LN_API ln_mem_info ln_mem_type_info(ln_mem_type mtype);

/** Returns the pages within CPU memory to the
 *  system; their content is undefined afterwards. */
LN_API void ln_mem_discard(void *p, size_t n);

/** Copies bytes that do not overlap, as memcpy, from memory of the
 *  second type to the first; NULL for LN_MEM_NONE, invalid types, and
 *  those of a plug-in that is not loaded. */
LN_API ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype);

typedef struct ln_mem_pool ln_mem_pool;

/** Returns new (ln_mem_pool_free): `size` bytes, all free but the
 *  first unit. NULL with a reason: align_size 0, no memory. */
LN_API ln_mem_pool *ln_mem_pool_create(size_t size, size_t align_size);

/** Ignores NULL. */
LN_API void ln_mem_pool_free(ln_mem_pool *mem_pool);

/** Allocates `size` bytes (0 counts as 1); returns their offset: the start of the smallest gap
 *  that fits, the lowest among equals. 0 with a reason: no gap fits, no memory. O(gaps). */
LN_API size_t ln_mem_pool_alloc(ln_mem_pool *mem_pool, size_t size);

/** Frees memory of ln_mem_pool_alloc. -1 with a reason: not allocated; the pool is unchanged. */
LN_API int ln_mem_pool_dealloc(ln_mem_pool *mem_pool, size_t addr);

/** 1 when ln_mem_pool_alloc returned `addr` and it is not deallocated, else 0. */
LN_API int ln_mem_pool_exist(ln_mem_pool *mem_pool, size_t addr);

/** The max end (offset + size) of any allocation so far; 0 before the first. */
LN_API size_t ln_mem_pool_peak(const ln_mem_pool *mem_pool);

/** Writes one line per block in order of address: "[64, 1088) used" or "[1088, 4096) free". -1 with
 *  a reason when the stream cannot be written. */
LN_API int ln_mem_pool_dump(ln_mem_pool *mem_pool, FILE *fp);

/** 1 when blocks are in order, apart, inside the region, and no two gaps are adjacent. */
LN_API int ln_mem_pool_is_valid(const ln_mem_pool *mem_pool);

/** Returns new (ln_mem_pool_table_free): a pool of max_size bytes for every memory type but
 *  LN_MEM_NONE; key: the type as a pointer, see ln_mem_pool_table_find. NULL with a reason. */
LN_API ln_hash *ln_mem_pool_table_create(void);

/** Frees the table and its pools. Ignores NULL. */
LN_API void ln_mem_pool_table_free(ln_hash *mpt);

/** The pool of a memory type, or NULL. Returns borrowed (until the table is freed). */
LN_API ln_mem_pool *ln_mem_pool_table_find(const ln_hash *mpt, ln_mem_type mtype);

LN_END_DECLS

#endif
