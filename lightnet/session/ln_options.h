// SPDX-License-Identifier: Apache-2.0
// The options of a model, parsed by ln_options_set.

#pragma once

#include <stdint.h>

#include "lightnet/ln_list.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_util.h"

/** Threads: neither option nor environment variable is set. */
enum { LN_THREADS_NOT_SET = -1 };

/** The min and max sizes that the caller allows. */
typedef struct ln_shape_option {
    char *name; // name of an input, or of an open size: then ndim is 1
    int ndim;
    int min[LN_MAXDIM], max[LN_MAXDIM];
} ln_shape_option;

/** A value that was bound. */
typedef struct ln_bound_value {
    char *name;
    int is_sequence;     // or an optional value
    int n;               // of tensors; -1: an absent one
    tl_tensor **tensors; // with or without data
} ln_bound_value;

struct ln_options {
    ln_list *settings; // of each call, in order, for copying the options
    char *target;      // NULL: the default
    char *weights;     // or NULL
    char *precision;   // or NULL
    ln_list *shapes;   // ln_shape_option
    ln_list *bound;    // ln_bound_value
    ln_list *folders;  // char *
    char *may_write;   // option "allow_output"; or NULL
    ln_list *disabled; // char *: rules
    ln_list *outputs;  // char *: tensors
    int threads;       // 0: all; LN_THREADS_NOT_SET
    int is_reference, is_unoptimized, is_tuned, is_mapped;
    int programs; // cached unused programs
    uint64_t seed;
    int has_seed;
    uint64_t memory_limit;
    uint64_t operators_limit;
    uint64_t constant_limit;
    uint64_t open_timeout; // ms
    ln_pool *pool;         // or NULL
    ln_message_func message_func;
    void *message_data;
};

/** Returns new (ln_options_free): a copy; of NULL: the defaults. NULL with the thread's last error.
 */
ln_options *ln_options_copy(const ln_options *options);
