// SPDX-License-Identifier: Apache-2.0
// Tensor entries (the model's record of a tensor), their table, and the tensor lists of operators.
//
//     ln_hash *table = ln_tensor_table_create();
//     tl_tensor *tensor = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_FLOAT);
//     ln_tensor_table_insert(table, ln_tensor_entry_create("x", tensor));
//     ln_list *ins = ln_tensor_list_append(NULL, "src", "x");
//     ln_tensor_entry *te = ln_tensor_list_find_entry(ins, table, "src");
//
// An entry may be replaced during passes: keep a tensor's name, not its entry, and look it
// up. The table owns its entries and their tl_tensor records, never the data, which is the
// context's. Functions return 0, or -1 with the thread's last error; a pointer is NULL then.

#ifndef LN_TENSOR_H
#define LN_TENSOR_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

struct ln_dfg_value; // shared by all names of a tensor in a context

typedef struct ln_tensor_entry {
    char *name;        // tensor name
    tl_tensor *tensor; // the tl_tensor; its data is NULL before the context is loaded
    char *owner;       // the tensor whose memory it shares, which may have an owner itself; or NULL
    char *creater;     // the operator that produces it
    size_t offset;     // its offset in the memory of its type; 0: not planned
    int isstatic;      // its memory is never reused
    ln_mem_type mtype; // memory type

    // Beyond the documented fields, first those that
    // each compilation reads: they share cache lines.
    int isconst;                // its value is fixed when the context is loaded
    int isdynamic;              // its shape is known only when it is computed: see ln_op_set_dims
    struct ln_dfg_value *value; // in its context; NULL: in no context
    struct ln_dfg_value *owner_value; // that of `owner`, where it is in that context, too; or NULL
    size_t block;         // of the last lifetime analysis: index + 1 of its block; 0: none
    int has_views;        // other entries have named it as their owner
    int isload;           // only operators at load read it: runs
                          // reuse its memory; set by the planner
    int isfetched;        // of such a tensor from a file: not 0 if load has read its data to
                          // memory, where a run may overwrite it; values of run/ln_update.h
    size_t capacity;      // of a dynamic one: bytes of the max shape, for which it is planned
    int bound[LN_MAXDIM]; // of a dynamic one: the max shape for the current inputs of its producer
    size_t part_offset;   // of an input that is a part of its reader's output (a no-copy join):
                          // its offset there
    int rows;             // of a cache: its memory has so many rows in each head, of which the
                          // current ones are the first; 0: just these
    int rows_axis;        // the axis of these rows; heads are the axes before it
} ln_tensor_entry;

/** Returns new (ln_tensor_entry_free, or ln_tensor_entry_free_tensor_too): takes `tensor`, copies
 *  `name`; everything else is 0. */
LN_API ln_tensor_entry *ln_tensor_entry_create(const char *name, tl_tensor *tensor);

/** Frees the entry, not its tensor. Ignores NULL. */
LN_API void ln_tensor_entry_free(ln_tensor_entry *entry);

/** Frees the entry and its tl_tensor, not the data. Ignores NULL. */
LN_API void ln_tensor_entry_free_tensor_too(ln_tensor_entry *entry);

/** Makes the entry a view of tensor `owner` (NULL: of none). -1: no such tensor in
 *  the table, or the entry would own itself through it; the entry is then
 *  unchanged. ln_tensor_table_root detects a ring through views of an entry of the
 *  same name that this one replaced. O(1) for an entry that owns no others. */
LN_API int ln_tensor_entry_set_owner(ln_tensor_entry *entry, ln_hash *tensor_table,
                                     const char *owner);

/** Copies the name of the operator that produces the tensor; NULL: none. */
LN_API int ln_tensor_entry_set_creater(ln_tensor_entry *entry, const char *creater);

/** 1 when the entry has a name, a well-formed shape and valid types, and is not its own owner. */
LN_API int ln_tensor_entry_is_valid(const ln_tensor_entry *entry);

/** The planned bytes of the tensor: for a dynamic one those of its max shape. */
LN_API size_t ln_tensor_entry_capacity(const ln_tensor_entry *entry);

/** The tensor table: name -> entry. */

LN_API ln_hash *ln_tensor_table_create(void);

/** Takes the entry. As ln_hash_insert: 1 for a new name, 0 when it replaces an entry, which is
 * freed with its tl_tensor; -1: no memory, or no name. */
LN_API int ln_tensor_table_insert(ln_hash *table, ln_tensor_entry *entry);

/** Frees the entry and its tl_tensor, not the data. 1, or 0: none of that name. */
LN_API int ln_tensor_table_remove(ln_hash *table, const char *name);

/** The entry, or NULL. Returns borrowed (until it is replaced or removed). */
LN_API ln_tensor_entry *ln_tensor_table_find(const ln_hash *table, const char *name);

/** Frees the table, its entries and their tl_tensors. Ignores NULL. */
LN_API void ln_tensor_table_free(ln_hash *table);

/** The entry at the end of the chain of owners, which has the memory of `entry`; itself without
 *  an owner. NULL: an owner is missing in the table, or the chain is a ring. Returns borrowed. */
LN_API ln_tensor_entry *ln_tensor_table_root(const ln_hash *table, const ln_tensor_entry *entry);

/** The table's entry of the tensor that `entry` names as its owner, or NULL. Follows the pointer
 * that entries of a context have, and looks the name up only without one. Returns borrowed. */
LN_API ln_tensor_entry *ln_entry_owner(const ln_tensor_entry *entry, const ln_hash *table);

/** Copies ln_tensor_table_data_size bytes from `data` (in CPU memory) to the tensor's memory. -1:
 * no such tensor, or it has no memory. */
LN_API int ln_tensor_table_set_data(ln_hash *table, const char *name, const void *data);

/** Copies the tensor's memory to `data` (in CPU memory) and returns it; NULL: to new memory
 *  (ln_free). */
LN_API void *ln_tensor_table_get_data(const ln_hash *table, const char *name, void *data);

/** Bytes of the tensor's data; 0 with a reason: no such tensor (an empty one has 0
 * bytes too). */
LN_API size_t ln_tensor_table_data_size(const ln_hash *table, const char *name);

/** Copies the weights in `file`, a TensorRT weight text file, to the tensors of the same names. An
 *  array without a tensor is ignored: ln_last_error() is empty or names one such array then. -1:
 *  the file cannot be read or is malformed, or a type or size differs; no tensor is changed. */
LN_API int ln_tensor_table_load_trt_weight_file(ln_hash *table, const char *file);

// Tensor lists: the inputs or the outputs of an operator

typedef struct ln_tensor_list_entry {
    char *name;     // of the tensor in the table
    char *arg_name; // its role in the operator
    size_t offset;  // as the tensor's, in a printed program

    // Beyond the documented fields.
    struct ln_dfg_value *value; // the tensor, where the operator is in a context; or NULL
} ln_tensor_list_entry;

/** Returns new (ln_tensor_list_entry_free). Copies both names. */
LN_API ln_tensor_list_entry *ln_tensor_list_entry_create(const char *arg_name, const char *name);

/** Ignores NULL. */
LN_API void ln_tensor_list_entry_free(ln_tensor_list_entry *entry);

/** Changes the tensor name of the entry (copies the name), and
 * drops its pointer. On failure the entry is unchanged. */
LN_API int ln_tensor_list_entry_set_name(ln_tensor_list_entry *entry, const char *name);

/** Returns the list with a new entry at its end; NULL: no
 * memory, `list` is then unchanged and still the caller's. */
LN_API ln_list *ln_tensor_list_append(ln_list *list, const char *arg_name, const char *name);

/** Frees the list and its entries. Ignores NULL. */
LN_API void ln_tensor_list_free(ln_list *list);

/** Returns new (ln_tensor_list_free): the list with copies of its entries. NULL for NULL; NULL with
 * a reason: no memory. */
LN_API ln_list *ln_tensor_list_copy(const ln_list *list);

/** The tensor's name in the first entry with this arg_name, or NULL. Returns borrowed. */
LN_API char *ln_tensor_list_find_name(const ln_list *list, const char *arg_name);

/** The first entry with this arg_name, or NULL. Returns borrowed. */
LN_API ln_tensor_list_entry *ln_tensor_list_find_by_arg_name(const ln_list *list,
                                                             const char *arg_name);

/** The first entry of this tensor, or NULL. Returns borrowed. */
LN_API ln_tensor_list_entry *ln_tensor_list_find_by_name(const ln_list *list, const char *name);

/** The table's entry of the tensor that the list names by `arg_name`, or NULL. Returns borrowed. */
LN_API ln_tensor_entry *ln_tensor_list_find_entry(const ln_list *list, const ln_hash *tensor_table,
                                                  const char *arg_name);

/** The table's entry of the tensor that `tle` names, or NULL. Follows the pointer that the lists of
 * operators in a context have, and looks the name up only without one. Returns borrowed. */
LN_API ln_tensor_entry *ln_entry_of(const ln_tensor_list_entry *tle, const ln_hash *table);

/** Entries of the list. */
LN_API int ln_tensor_list_length(const ln_list *list);

/** Writes to `buf` (LN_MAX_NAME_LEN bytes) an arg_name that no entry has:
 * `prefix` and a number, one more than the max after that prefix in the list, or
 * 0. Returns the number; -1: the name would be too long, or no number is left. */
LN_API int ln_tensor_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix);

LN_END_DECLS

#endif
