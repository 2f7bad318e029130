// SPDX-License-Identifier: Apache-2.0
// The constants that the programs of one model share: each is computed once and held once.
//
// A constant is known by how it is computed: the operator, its parameters, and how its inputs are
// computed, down to the weights of the model's file. So programs for other shapes, which read the
// same packed weights, find them here. What several threads compute at the same time is shared by
// those that come later.
//
//     ln_store *store = ln_store_create();
//     ctx->store = store;             // borrowed; before ln_context_load
//     ...
//     ln_context_unload(ctx);         // gives back what it took
//     ln_store_free(store);

#ifndef LN_STORE_H
#define LN_STORE_H

#include <stddef.h>
#include <stdint.h>

typedef struct ln_store ln_store;

/* How a constant is computed: a hash of 128 bits. */
typedef struct ln_store_key {
    uint64_t a, b;
} ln_store_key;

/* Memory of one or more constants; each of them holds it. */
typedef struct ln_storage ln_storage;

typedef struct ln_stored {
    const void *data; /* aligned as CPU memory is */
    size_t size;
    /* For ln_store.c: */
    ln_store_key key;
    int is_published;
    int holders;
    ln_storage *storage;
} ln_stored;

/** Returns new (ln_store_free), empty. NULL with the thread's last error: no memory. */
ln_store *ln_store_create(void);

/** Takes NULL. Everything has been given back. */
void ln_store_free(ln_store *store);

/** The key of nothing, to begin with. */
ln_store_key ln_store_key_begin(void);

/** The key of what `key` stands for, followed by `size` bytes. */
ln_store_key ln_store_key_more(ln_store_key key, const void *data, size_t size);

/** The constant of that key and size, which the caller holds then (ln_store_give_back); NULL: it is
 * not there. */
ln_stored *ln_store_take(ln_store *store, ln_store_key key, size_t size);

/** Returns new (ln_storage_release): memory of `size` bytes, all zero. NULL with a reason. */
ln_storage *ln_storage_create(size_t size);

/** Lets go of it: its memory is freed when no constant lies in it any more. Takes NULL. */
void ln_storage_release(ln_storage *storage);

/** Returns new (ln_store_give_back): a constant that lies in the storage from `offset` on, whose
 * data the caller writes before ln_store_publish. NULL: no memory. */
ln_stored *ln_store_make(ln_storage *storage, size_t offset, size_t size);

/** Returns new (ln_store_give_back): a constant that lies at `data`, which stays as long, in memory
 * of others. NULL: no memory. */
ln_stored *ln_store_borrow(const void *data, size_t size);

/** Where the maker writes it. */
void *ln_stored_place(const ln_stored *made);

/** Lets others find what has been made, unless there is one of that key already. -1 with a reason:
 * no memory. */
int ln_store_publish(ln_store *store, ln_stored *made, ln_store_key key);

/** The caller holds it no longer; without holders it is freed. The pages of a large one go back to
 * the system then, also while others keep its storage. Takes NULL. */
void ln_store_give_back(ln_store *store, ln_stored *stored);

/** Bytes of all constants that can be found. */
size_t ln_store_size(const ln_store *store);

#endif
