// SPDX-License-Identifier: Apache-2.0
// Memory types, the kinds of memory that devices have, and virtual pools that plan their use.
//
//     ln_mem_pool *pool = ln_mem_pool_create(4096, 64);
//     size_t weight = ln_mem_pool_alloc(pool, 1000); // 64: offset 0 is never handed out
//     size_t bias = ln_mem_pool_alloc(pool, 40);     // 1088
//     ln_mem_pool_dealloc(pool, weight);
//     size_t need = ln_mem_pool_peak(pool);          // 1128
//     ln_mem_pool_free(pool);
//
// A pool holds no memory, it only says which bytes of a region 0 .. size-1 are taken. Its unit is
// `align_size`: every offset is a multiple of it, and every allocation takes whole units (the last
// one of the region may be cut by the region's end).

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
    LN_MEM_NONE = 0, /* nowhere: of abstract tensors, which no program can hold */
    LN_MEM_CPU = 1,
#ifdef LN_CUDA /* by ln_config.h; the value is kept for it */
    LN_MEM_CUDA = 2,
#endif
    LN_MEM_TYPE_SIZE
} ln_mem_type;

typedef struct ln_mem_info {
    const char *name;            /* the enum name */
    void *(*alloc_func)(size_t); /* returns new memory aligned to align_size, zeroed, a distinct
                                    object also for 0 bytes; NULL with a reason */
    void (*free_func)(void *);   /* takes NULL */
    void *(*memset_func)(void *, int, size_t); /* as memset */
    size_t max_size;                           /* bytes that an allocation can have at most */
    size_t align_size;                         /* bytes */
} ln_mem_info;

/** 1 for LN_MEM_NONE .. LN_MEM_TYPE_SIZE - 1. */
LN_API int ln_mem_type_is_valid(ln_mem_type mtype);

/** The enum name, "LN_MEM_CPU" and the like; NULL for an invalid type. */
LN_API const char *ln_mem_type_name(ln_mem_type mtype);

/** The type of that name, or -1. */
LN_API int ln_mem_type_from_str(const char *str);

/** The type's functions and limits. LN_MEM_NONE and invalid types: functions NULL, sizes 0. */
LN_API ln_mem_info ln_mem_type_info(ln_mem_type mtype);

/** Lets the system have the pages within CPU memory of which the content is not needed any more; it
 *  may be anything afterwards. */
LN_API void ln_mem_discard(void *p, size_t n);

/** Copies bytes that do not overlap, as memcpy, from memory of the second type to the first; NULL
 *  where there is no way: LN_MEM_NONE and invalid types. */
LN_API ln_copy_func ln_mem_type_copy_func(ln_mem_type dst_mtype, ln_mem_type src_mtype);

typedef struct ln_mem_pool ln_mem_pool;

/** Returns new (ln_mem_pool_free): all of `size` bytes free but the first unit. NULL with a reason:
 *  align_size 0, no memory. */
LN_API ln_mem_pool *ln_mem_pool_create(size_t size, size_t align_size);

/** Takes NULL. */
LN_API void ln_mem_pool_free(ln_mem_pool *mem_pool);

/** The offset of `size` bytes (0 counts as 1), now taken: the start of the smallest hole that fits,
 *  the lowest among equals. 0 with a reason: no hole is large enough, no memory. O(holes). */
LN_API size_t ln_mem_pool_alloc(ln_mem_pool *mem_pool, size_t size);

/** Frees what ln_mem_pool_alloc returned. -1 with a reason: not allocated; the pool is as before.
 */
LN_API int ln_mem_pool_dealloc(ln_mem_pool *mem_pool, size_t addr);

/** 1 when ln_mem_pool_alloc returned `addr` and it is not deallocated, else 0. */
LN_API int ln_mem_pool_exist(ln_mem_pool *mem_pool, size_t addr);

/** The highest end (offset + size) that any allocation has had so far; 0 before the first. */
LN_API size_t ln_mem_pool_peak(const ln_mem_pool *mem_pool);

/** Writes one line per block in order of address: "[64, 1088) used" or "[1088, 4096) free". -1 with
 *  a reason when the stream cannot be written. */
LN_API int ln_mem_pool_dump(ln_mem_pool *mem_pool, FILE *fp);

/** 1 when blocks are in order, apart, inside the region, and no two holes touch. */
LN_API int ln_mem_pool_is_valid(const ln_mem_pool *mem_pool);

/** Returns new (ln_mem_pool_table_free): a pool of max_size bytes for every memory type but
 *  LN_MEM_NONE; key: the type as a pointer, see ln_mem_pool_table_find. NULL with a reason. */
LN_API ln_hash *ln_mem_pool_table_create(void);

/** Frees the table and its pools. Takes NULL. */
LN_API void ln_mem_pool_table_free(ln_hash *mpt);

/** The pool of a memory type, or NULL. Returns borrowed (until the table is freed). */
LN_API ln_mem_pool *ln_mem_pool_table_find(const ln_hash *mpt, ln_mem_type mtype);

LN_END_DECLS

#endif
