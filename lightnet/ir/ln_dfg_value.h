// SPDX-License-Identifier: Apache-2.0
// Values: the tensors of a graph; all references to a tensor by name point to its value.
//
//     list entry (reader)   --+                        +--> producer: the operator that creates
//     list entry (producer) --+--> value "y" --entry---+    the entry
//     entry of a view       --+      |
//                                    +--> uses: one writer, any readers --> nodes of the graph
//
// A value outlives its entry, which each pre_run of its producer replaces. Values are
// reference-counted: by list entries of operators in the context, entries of views, and uses.
// Without a value, as in lists outside of a context, the name is looked up in the tensor table.

#pragma once

#include <stddef.h>

#include "base/ln_slab.h"
#include "lightnet/ln_graph.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_tensor.h"

typedef struct ln_dfg_value ln_dfg_value;

/** One use of a value by an operator of a graph: it writes the value, or reads it. */
typedef struct ln_use {
    // First, since dangling lists point to it: the tensor's name, the operator's node.
    ln_graph_edge_node edge;
    ln_dfg_value *value;
    ln_list place;  // its list node in a dangling list
    ln_list **link; // the pointer to `place`; NULL: it does not dangle
    int writes;
    ln_graph_edge_node *out_end;  // reading: the writer's end of the edge; NULL: not linked
    struct ln_use *older, *newer; // reading: adjacent readers of the value
} ln_use;

struct ln_dfg_value {
    ln_tensor_entry *entry;       // NULL: none yet
    const ln_hash *entries;       // the tensor table that has the entry
    ln_op *producer;              // the operator that created the entry; NULL: none in the context
    int isinput, isoutput;        // it is an input, an output of the model
    int ismutated;                // an operator writes its memory in place
    int num_references;           // references; freed with the last one
    struct ln_value_sizes *sizes; // ir/ln_sizes.h; NULL: of no tensor with open sizes
    ln_dfg_value *instead;        // within a clean-up: its replacement for readers, or NULL
    ln_hash *values;              // the table that has it: name -> value
    ln_use *writer;               // or NULL
    ln_use *oldest, *newest;      // readers, or NULL
    size_t num_readers;
    size_t num_linked; // readers
    ln_slab *home;
    char name[];
};

/** Returns new (ln_hash_free): name -> value. */
ln_hash *ln_dfg_values_create(void);

/** The value of that name, or NULL. Returns borrowed. */
ln_dfg_value *ln_dfg_value_find(const ln_hash *values, const char *name);

/** Returns a new reference to the value of that name, which is created if missing
 * (ln_dfg_value_release). NULL: no memory. */
ln_dfg_value *ln_dfg_value_enter(ln_hash *values, const char *name);

/** Adds a reference to the value (ln_dfg_value_release). Returns it. */
ln_dfg_value *ln_dfg_value_refer(ln_dfg_value *value);

/** Drops a reference. Accepts NULL. */
void ln_dfg_value_release(ln_dfg_value *value);

/** Sets `entry` of the tensor table `entries` as the value's entry, produced by `producer` (NULL:
 * by no operator of the context, or unknown), until the entry is freed. */
void ln_dfg_value_tie(ln_dfg_value *value, ln_tensor_entry *entry, const ln_hash *entries,
                      ln_op *producer);

/** Unsets the entry of its value. */
void ln_dfg_value_untie(ln_tensor_entry *entry);

/** Adds a use at the end of the value's readers; removes it. */
void ln_dfg_value_add_reader(ln_use *use);
void ln_dfg_value_remove_reader(const ln_use *use);

/** Returns new (ln_list_free): the operators that an edge leads to from the value's writer, each
 * once, in the order in which they were linked. NULL: none; NULL with a reason: no memory. */
ln_list *ln_dfg_value_readers(const ln_dfg_value *value);

/** Whether the use is a reader of its value. */
int ln_dfg_value_has_reader(const ln_use *use);
