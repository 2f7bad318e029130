// SPDX-License-Identifier: Apache-2.0
// A hash table with separate chaining: a power of two of buckets, each a chain of pairs.
//
// The pairs are in one array, in the order of insertion, and are named by their numbers
// there, from 1; 0 ends a chain. So pairs inserted together are adjacent, as models look
// them up, and a pair costs no allocation.
//
// Hash values of names depend on a random number of the process, so that a model cannot contain
// names that share a chain. Nothing depends on the order of chains: nothing iterates over them.

#include "lightnet/ln_hash.h"

#include <limits.h>
#include <string.h>

#include "base/ln_hash_bytes.h"
#include "lightnet/ln_msg.h"

typedef struct pair {
    const void *key;
    void *value;
    uint32_t hash; // mixed, see mix()
    uint32_t next; // in the chain, or of the pairs that were removed
} pair;

struct ln_hash {
    uint32_t *buckets; // the first pair of each chain
    size_t n_buckets;
    pair *pairs;
    uint32_t n_pairs, capacity; // of the array: used so far, and room
    uint32_t removed;           // the first pair that can be used again
    int size;
    float load_factor;
    ln_hash_func hash_func;
    ln_cmp_func cmp_func;
    ln_free_func free_k_func;
    ln_free_func free_v_func;
};

enum { DEFAULT_CAPACITY = 16, MAX_CAPACITY = 1 << 30, FIRST_PAIRS = 8 };

static const float default_load_factor = 0.75f;

// A bucket is chosen by the low bits only, so the high ones are mixed into them.
static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    return h;
}

// Numbered names differ in their last digits: they get adjacent buckets, so that names looked up in
// order are in adjacent cache lines. With more digits, lookups would not need fewer lines.
static uint32_t hash_of_name(const char *name)
{
    enum { DIGITS = 3 };
    const size_t len = name ? strlen(name) : 0, n_before = len > DIGITS ? len - DIGITS : 0;
    uint32_t number = 0;
    for (size_t i = n_before; i < len; i++)
        number = 10 * number + (unsigned char)name[i];
    return mix(ln_hash_bytes(name, n_before)) + number;
}

static uint32_t hash_of(const ln_hash *hash, const void *key)
{
    return hash->hash_func == ln_str_hash ? hash_of_name(key) : mix(hash->hash_func(key));
}

static pair *pair_at(const ln_hash *hash, uint32_t number)
{
    return &hash->pairs[number - 1];
}

static uint32_t *bucket_of(const ln_hash *hash, uint32_t h)
{
    return &hash->buckets[h & (hash->n_buckets - 1)];
}

// The link to the pair with this key, or the last link of its chain.
static uint32_t *find_link(const ln_hash *hash, uint32_t h, const void *key)
{
    uint32_t *link = bucket_of(hash, h);
    while (*link) {
        pair *p = pair_at(hash, *link);
        if (p->hash == h && !hash->cmp_func(p->key, key))
            break;
        link = &p->next;
    }
    return link;
}

// The pair with this key, or NULL.
static pair *find_pair(const ln_hash *hash, const void *key)
{
    const uint32_t number = *find_link(hash, hash_of(hash, key), key);
    return number ? pair_at(hash, number) : NULL;
}

ln_hash *ln_hash_create_full(ln_hash_func hash_func, ln_cmp_func cmp_func, ln_free_func free_k_func,
                             ln_free_func free_v_func, int init_capacity, float load_factor)
{
    if (init_capacity < 0 || init_capacity > MAX_CAPACITY || !(load_factor > 0)) {
        ln_error_set(NULL,
                     "a hash table with capacity %d and load factor %g, expected 0 to %d "
                     "and more than 0",
                     init_capacity, (double)load_factor, MAX_CAPACITY);
        return NULL;
    }
    ln_hash *hash = ln_alloc(sizeof(*hash));
    if (!hash)
        return NULL;
    size_t n_buckets = 1;
    while (n_buckets < (size_t)init_capacity)
        n_buckets *= 2;
    *hash = (ln_hash){
        .n_buckets = n_buckets,
        .load_factor = load_factor,
        .hash_func = hash_func ? hash_func : ln_direct_hash,
        .cmp_func = cmp_func ? cmp_func : ln_direct_cmp,
        .free_k_func = free_k_func,
        .free_v_func = free_v_func,
    };
    hash->buckets = ln_alloc_array(hash->n_buckets, sizeof(*hash->buckets));
    if (!hash->buckets) {
        ln_free(hash);
        return NULL;
    }
    return hash;
}

ln_hash *ln_hash_create(ln_hash_func hash_func, ln_cmp_func cmp_func, ln_free_func free_k_func,
                        ln_free_func free_v_func)
{
    return ln_hash_create_full(hash_func, cmp_func, free_k_func, free_v_func, DEFAULT_CAPACITY,
                               default_load_factor);
}

static void free_content(const ln_hash *hash, const pair *p)
{
    if (hash->free_k_func)
        hash->free_k_func((void *)p->key);
    if (hash->free_v_func)
        hash->free_v_func(p->value);
}

void ln_hash_clear(ln_hash *hash)
{
    for (size_t i = 0; i < hash->n_buckets; i++) {
        for (uint32_t number = hash->buckets[i]; number; number = pair_at(hash, number)->next)
            free_content(hash, pair_at(hash, number));
        hash->buckets[i] = 0;
    }
    hash->n_pairs = hash->removed = 0;
    hash->size = 0;
}

void ln_hash_free(ln_hash *hash)
{
    if (!hash)
        return;
    ln_hash_clear(hash);
    ln_free(hash->buckets);
    ln_free(hash->pairs);
    ln_free(hash);
}

int ln_hash_init(ln_hash *hash, ln_hash_init_entry *init_array)
{
    for (; init_array->key || init_array->value; init_array++)
        if (ln_hash_insert(hash, init_array->key, init_array->value) < 0)
            return -1;
    return 0;
}

static void replace(const ln_hash *hash, pair *p, const void *key, void *value)
{
    const pair old = *p;
    p->key = key;
    p->value = value;
    if (hash->free_k_func && old.key != key)
        hash->free_k_func((void *)old.key);
    if (hash->free_v_func && old.value != value)
        hash->free_v_func(old.value);
}

// Twice the buckets. Without memory for them the table goes on with longer chains.
static void grow(ln_hash *hash)
{
    const size_t n_old = hash->n_buckets;
    uint32_t *old = hash->buckets;
    uint32_t *buckets = n_old < MAX_CAPACITY ? ln_alloc_array(2 * n_old, sizeof(*buckets)) : NULL;
    if (!buckets)
        return;
    hash->buckets = buckets;
    hash->n_buckets = 2 * n_old;
    for (size_t i = 0; i < n_old; i++) {
        for (uint32_t number = old[i], next; number; number = next) {
            pair *p = pair_at(hash, number);
            uint32_t *bucket = bucket_of(hash, p->hash);
            next = p->next;
            p->next = *bucket;
            *bucket = number;
        }
    }
    ln_free(old);
}

// The number of a pair that is not used; 0: no memory.
static uint32_t take_pair(ln_hash *hash)
{
    const uint32_t number = hash->removed;
    if (number) {
        hash->removed = pair_at(hash, number)->next;
        return number;
    }
    if (hash->n_pairs == hash->capacity) {
        const uint32_t more = hash->capacity ? 2 * hash->capacity : FIRST_PAIRS;
        pair *pairs = ln_realloc(hash->pairs, (size_t)more * sizeof(*pairs));
        if (!pairs)
            return 0;
        hash->pairs = pairs;
        hash->capacity = more;
    }
    return ++hash->n_pairs;
}

// Adds a pair with a key, of hash `h`, that the table does not have. Returns 1; -1: no memory.
static int add_new(ln_hash *hash, uint32_t h, const void *key, void *value)
{
    if (hash->size == INT_MAX)
        return ln_error_set(NULL, "a hash table cannot have more than %d pairs", INT_MAX);
    const uint32_t number = take_pair(hash);
    if (!number)
        return -1;
    uint32_t *bucket = bucket_of(hash, h);
    *pair_at(hash, number) = (pair){.key = key, .value = value, .hash = h, .next = *bucket};
    *bucket = number;
    hash->size++;
    if ((float)hash->size > hash->load_factor * (float)hash->n_buckets)
        grow(hash);
    return 1;
}

int ln_hash_insert(ln_hash *hash, const void *key, void *value)
{
    const uint32_t h = hash_of(hash, key);
    const uint32_t existing = *find_link(hash, h, key);
    if (!existing)
        return add_new(hash, h, key, value);
    replace(hash, pair_at(hash, existing), key, value);
    return 0;
}

int ln_hash_add(ln_hash *hash, const void *key, void *value)
{
    const uint32_t h = hash_of(hash, key);
    return *find_link(hash, h, key) ? 0 : add_new(hash, h, key, value);
}

void *ln_hash_find(const ln_hash *hash, const void *key)
{
    const pair *p = find_pair(hash, key);
    return p ? p->value : NULL;
}

int ln_hash_find_extended(const ln_hash *hash, const void *key, void **found_key,
                          void **found_value)
{
    const pair *p = find_pair(hash, key);
    if (!p)
        return 0;
    if (found_key)
        *found_key = (void *)p->key;
    if (found_value)
        *found_value = p->value;
    return 1;
}

int ln_hash_remove(ln_hash *hash, const void *key)
{
    uint32_t *link = find_link(hash, hash_of(hash, key), key);
    const uint32_t number = *link;
    if (!number)
        return 0;
    pair *p = pair_at(hash, number);
    const pair old = *p;
    *link = old.next;
    p->next = hash->removed;
    hash->removed = number;
    hash->size--;
    free_content(hash, &old);
    return 1;
}

int ln_hash_size(const ln_hash *hash)
{
    return hash->size;
}

ln_bool ln_hash_is_valid(const ln_hash *hash)
{
    int n = 0;
    if (!hash || !hash->buckets || (hash->n_buckets & (hash->n_buckets - 1)))
        return LN_FALSE;
    for (size_t i = 0; i < hash->n_buckets; i++) {
        for (uint32_t number = hash->buckets[i]; number; n++) {
            const pair *p = pair_at(hash, number);
            if (p->hash != hash_of(hash, p->key) || (p->hash & (hash->n_buckets - 1)) != i ||
                *find_link(hash, p->hash, p->key) != number)
                return LN_FALSE;
            number = p->next;
        }
    }
    return n == hash->size ? LN_TRUE : LN_FALSE;
}
