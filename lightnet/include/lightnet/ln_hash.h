// SPDX-License-Identifier: Apache-2.0
// A hash table of key-value pairs, each key once.
//
//     ln_hash *table = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
//     if (ln_hash_insert(table, ln_strdup("conv1"), op) < 0) ...
//     op = ln_hash_find(table, "conv1");
//     ln_hash_free(table);
//
// A table keeps its keys and values, or takes them if it has a free
// function for them. It has no iteration: the order of its pairs must never
// affect a result. Lookup, insertion and removal are O(1) on average.

#ifndef LN_HASH_H
#define LN_HASH_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef struct ln_hash ln_hash;

typedef struct ln_hash_init_entry {
    void *key;
    void *value;
} ln_hash_init_entry;

/** Returns new empty table (ln_hash_free). Keys are equal if cmp_func returns 0; hash_func
 * and cmp_func NULL: keys are the pointers themselves. free_k_func and free_v_func free
 * removed keys and values; NULL: none. init_capacity (0 to 2^30, rounded up to a power of
 * two) is the first number of buckets; the number doubles when pairs / buckets exceeds
 * load_factor (> 0). NULL with a reason: an argument out of range, no memory. */
LN_API ln_hash *ln_hash_create_full(ln_hash_func hash_func, ln_cmp_func cmp_func,
                                    ln_free_func free_k_func, ln_free_func free_v_func,
                                    int init_capacity, float load_factor);
/** ln_hash_create_full with 16 buckets and a load factor of 0.75. */
LN_API ln_hash *ln_hash_create(ln_hash_func hash_func, ln_cmp_func cmp_func,
                               ln_free_func free_k_func, ln_free_func free_v_func);
/** Frees the table, and its keys and values with their free functions. Ignores NULL. */
LN_API void ln_hash_free(ln_hash *hash);
/** Inserts pairs up to a {NULL, NULL} entry, each as ln_hash_insert does. Returns 0; -1 with a
 * reason: no memory, the table then has the pairs before the failing one. */
LN_API int ln_hash_init(ln_hash *hash, ln_hash_init_entry *init_array);
/** Inserts a pair. It replaces a pair with an equal key, whose key and value
 * are freed (unless they are the same pointers), so a key may be part of its
 * value. Returns 1 for a new key, 0 when it replaces; -1 with a reason: no
 * memory, the table is unchanged, the caller still owns key and value. */
LN_API int ln_hash_insert(ln_hash *hash, const void *key, void *value);
/** As ln_hash_insert, but keeps a pair with an equal key:
 * returns 0 then, and the caller still owns key and value. */
LN_API int ln_hash_add(ln_hash *hash, const void *key, void *value);
/** The value of a key, or NULL. Returns borrowed, until the pair is replaced or removed. */
LN_API void *ln_hash_find(const ln_hash *hash, const void *key);
/** Returns 1 and sets *found_key and *found_value (each may be NULL)
 * to the pair with this key, or returns 0 and does not change them. */
LN_API int ln_hash_find_extended(const ln_hash *hash, const void *key, void **found_key,
                                 void **found_value);
/** Removes all pairs, freeing keys and values; the table is empty then. */
LN_API void ln_hash_clear(ln_hash *hash);
/** Removes the pair with this key and frees its key and value. Returns 1, or 0: none. */
LN_API int ln_hash_remove(ln_hash *hash, const void *key);
/** The number of pairs. */
LN_API int ln_hash_size(const ln_hash *hash);
/** Whether every pair is in its bucket, no key occurs twice, and the count is right. */
LN_API ln_bool ln_hash_is_valid(const ln_hash *hash);

LN_END_DECLS

#endif
