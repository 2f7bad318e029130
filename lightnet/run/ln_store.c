// SPDX-License-Identifier: Apache-2.0
// The constants that the programs of one model share.

#include "run/ln_store.h"

#include <pthread.h>
#include <string.h>

#include "base/ln_fnv.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_util.h"

struct ln_store {
    ln_hash *table; // ln_store_key -> ln_stored
    size_t size;    // of those in the table
};

struct ln_storage {
    void *memory;
    int holders;
};

// One lock for all stores, held for a few instructions only; it is unlocked in a child of fork().

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void survive_forks(void)
{
    pthread_atfork(lock, unlock, unlock);
}

static uint32_t hash_key(const void *key)
{
    return (uint32_t)((const ln_store_key *)key)->a;
}

static int compare_keys(const void *x, const void *y)
{
    const ln_store_key *a = x, *b = y;
    return a->a != b->a || a->b != b->b;
}

ln_store *ln_store_create(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, survive_forks);
    ln_store *store = ln_alloc(sizeof(*store));
    if (!store)
        return NULL;
    *store = (ln_store){.table = ln_hash_create(hash_key, compare_keys, NULL, NULL)};
    if (store->table)
        return store;
    ln_free(store);
    return NULL;
}

void ln_store_free(ln_store *store)
{
    if (!store)
        return;
    ln_hash_free(store->table);
    ln_free(store);
}

ln_store_key ln_store_key_begin(void)
{
    return (ln_store_key){ln_fnv64("", 0), ln_fnv64("constant", 8)};
}

static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor)
{
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

// Two odd factors, so that words that collide in one half of the key differ in the other.
static ln_store_key more_word(ln_store_key key, uint64_t word)
{
    return (ln_store_key){mix(key.a, word, 0x9e3779b97f4a7c15),
                          mix(key.b, word, 0xc2b2ae3d27d4eb4f)};
}

ln_store_key ln_store_key_more(ln_store_key key, const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    key = more_word(key, size);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < sizeof(word) ? size - i : sizeof(word));
        key = more_word(key, word);
    }
    return key;
}

ln_stored *ln_store_take(ln_store *store, ln_store_key key, size_t size)
{
    lock();
    ln_stored *found = ln_hash_find(store->table, &key);
    if (found && found->size != size)
        found = NULL;
    if (found)
        found->holders++;
    unlock();
    return found;
}

ln_storage *ln_storage_create(size_t size)
{
    ln_storage *storage = ln_alloc(sizeof(*storage));
    if (!storage)
        return NULL;
    *storage = (ln_storage){.memory = ln_mem_type_info(LN_MEM_CPU).alloc_func(size), .holders = 1};
    if (storage->memory)
        return storage;
    ln_free(storage);
    return NULL;
}

void ln_storage_release(ln_storage *storage)
{
    if (!storage)
        return;
    lock();
    const int is_last = --storage->holders == 0;
    unlock();
    if (!is_last)
        return;
    ln_mem_type_info(LN_MEM_CPU).free_func(storage->memory);
    ln_free(storage);
}

ln_stored *ln_stored_create(ln_storage *storage, size_t offset, size_t size)
{
    ln_stored *stored = ln_alloc(sizeof(*stored));
    if (!stored)
        return NULL;
    *stored = (ln_stored){
        .data = (char *)storage->memory + offset, .size = size, .holders = 1, .storage = storage};
    lock();
    storage->holders++;
    unlock();
    return stored;
}

ln_stored *ln_store_borrow(const void *data, size_t size)
{
    ln_stored *stored = ln_alloc(sizeof(*stored));
    if (stored)
        *stored = (ln_stored){.data = data, .size = size, .holders = 1};
    return stored;
}

void *ln_stored_place(const ln_stored *stored)
{
    return (void *)stored->data;
}

int ln_store_publish(ln_store *store, ln_stored *stored, ln_store_key key)
{
    int status = 0;
    lock();
    stored->key = key;
    if (!ln_hash_find(store->table, &key))
        status = ln_hash_insert(store->table, &stored->key, stored);
    if (status > 0) {
        stored->is_published = 1;
        store->size += stored->size;
    }
    unlock();
    return status < 0 ? -1 : 0;
}

// Discarding less memory is not worth a system call.
enum { MIN_DISCARDED = 64 << 10 };

void ln_store_give_back(ln_store *store, ln_stored *stored)
{
    if (!stored)
        return;
    lock();
    const int is_last = --stored->holders == 0;
    const int is_alone = !stored->storage || stored->storage->holders == 1;
    if (is_last && stored->is_published) {
        ln_hash_remove(store->table, &stored->key);
        store->size -= stored->size;
    }
    unlock();
    if (!is_last)
        return;
    if (!is_alone && stored->size >= MIN_DISCARDED) // others keep the storage
        ln_mem_discard(ln_stored_place(stored), stored->size);
    ln_storage_release(stored->storage);
    ln_free(stored);
}

size_t ln_store_size(const ln_store *store)
{
    lock();
    const size_t size = store->size;
    unlock();
    return size;
}
