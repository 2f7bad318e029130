// SPDX-License-Identifier: Apache-2.0
// The constants that the programs of one model share: each is computed and stored once.
//
// A constant is identified by its computation: the operator, its parameters, and the computation of
// its inputs, down to the weights of the model's file. So programs for other shapes with the same
// packed weights find them here. If several threads compute one at the same time, later ones share
// one of the results.
//
//     ln_store *store = ln_store_create();
//     ctx->store = store;             // borrowed; before ln_context_load
//     ...
//     ln_context_unload(ctx);         // returns its references
//     ln_store_free(store);

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_context.h"

typedef struct ln_store ln_store;

/** The computation of a constant: a hash of 128 bits. */
typedef struct ln_store_key {
    uint64_t a, b;
} ln_store_key;

/** Memory of one or more constants, each with a reference. */
typedef struct ln_storage ln_storage;

typedef struct ln_stored {
    const void *data; // aligned like CPU memory
    size_t size;
    // For ln_store.c:
    ln_store_key key;
    int is_published;
    int holders;
    ln_storage *storage;
} ln_stored;

/** Returns new (ln_store_free), empty. NULL with the thread's last error: no memory. */
ln_store *ln_store_create(void);

/** Ignores NULL. All references must have been returned. */
void ln_store_free(ln_store *store);

/** The initial key. */
ln_store_key ln_store_key_begin(void);

/** `key` extended by `size` bytes. */
ln_store_key ln_store_key_more(ln_store_key key, const void *data, size_t size);

/** The constant of that key and size, with a new reference (ln_store_give_back); NULL: none. */
ln_stored *ln_store_take(ln_store *store, ln_store_key key, size_t size);

/** Returns new (ln_storage_release): memory of `size` bytes, all zero. NULL with a reason. */
ln_storage *ln_storage_create(size_t size);

/** Drops a reference: the memory is freed when it has no constants left. Ignores NULL. */
void ln_storage_release(ln_storage *storage);

/** Returns new (ln_store_give_back): a constant at `offset` of the storage, whose data the caller
 * writes before ln_store_publish. NULL: no memory. */
ln_stored *ln_stored_create(ln_storage *storage, size_t offset, size_t size);

/** Returns new (ln_store_give_back): a constant at `data`, external memory that outlives it. NULL:
 * no memory. */
ln_stored *ln_store_borrow(const void *data, size_t size);

/** The address of the constant, for its producer to write. */
void *ln_stored_place(const ln_stored *stored);

/** Publishes the constant, unless that key has one. -1 with a reason: no memory. */
int ln_store_publish(ln_store *store, ln_stored *stored, ln_store_key key);

/** Drops the caller's reference; frees the constant with the last one. Then returns the pages of a
 * large one to the system, even if others keep its storage. Ignores NULL. */
void ln_store_give_back(ln_store *store, ln_stored *stored);

/** Bytes of all published constants. */
size_t ln_store_size(const ln_store *store);

// Keys: the computations of the constants of a context (ln_constant_keys.c)

typedef struct ln_constant_keys ln_constant_keys;

/** Returns new (ln_constant_keys_free): the keys of the constants that loading computes or reads.
 * NULL with a reason in the context: no memory. */
ln_constant_keys *ln_constant_keys_find(const ln_context *ctx);

void ln_constant_keys_free(ln_constant_keys *keys);

/** Whether tensor `tname` has a key, which is then in *key: not if a value is missing, or an
 * operator's sizes are known only at run time. */
int ln_constant_key(const ln_constant_keys *keys, const char *tname, ln_store_key *key);
