// SPDX-License-Identifier: Apache-2.0
// The bodies of a context, for reading, compiling and writing it. See lightnet/ln_body.h.

#pragma once

#include "lightnet/ln_body.h"

/** The names of a list, indexed by their numbers. */
typedef struct ln_body_names {
    const ln_list *list; // whose names they are
    const char **at;
    int n;
} ln_body_names;

struct ln_body {
    char *name;
    int number;                    // its position in the order of bodies
    int used;                      // an operator runs it
    ln_body_names inputs, outputs; // of the context's lists, created on demand
    struct ln_body_place *places;  // the addresses of its tensors in a run; NULL: not prepared
    size_t n_places;
    // While it is rewritten (pass/ln_rewriting.h):
    ln_op *runner;              // an operator that runs it
    int n_runners;              // the number of operators that run it
    unsigned char *is_constant; // for each input: whether its runner passes a constant; NULL: none
    int n_constant;             // the length of that array
};

/** The number of inputs `src` of an operator that passes these to its body as the last inputs. */
int ln_body_num_src(const ln_op *runner);

/** Whether `te` is an input of a body that counts as constant, since its runner passes a
 * constant. */
int ln_body_is_given_constant(const ln_context *ctx, const ln_tensor_entry *te);

/** The source of the value of `te`: itself, or for a constant input of a body, the constant in the
 * outer program; *ctx is then that program. Returns borrowed. */
const ln_tensor_entry *ln_body_origin(const ln_context **ctx, const ln_tensor_entry *te);

/** The address of a body's inputs in a plan: any valid one, since views are placed relative to
 * it. */
#define LN_BODY_GIVEN_OFFSET ((size_t)64)

/** Whether `te` is an input of a body, in memory of the outer program. */
int ln_body_is_given(const ln_context *ctx, const ln_tensor_entry *te);

/** The number of bodies, in constant time. */
int ln_bodies_count(const ln_context *ctx);

/** Copies the settings of `ctx` to its bodies. */
void ln_bodies_share_settings(ln_context *ctx);

/** Removes the bodies that no operator uses, directly or through other bodies. */
void ln_bodies_prune(ln_context *ctx);

/** The context that all bodies of `ctx` belong to: itself, or for a body the outermost one. Returns
 * borrowed. */
ln_context *ln_body_outermost(ln_context *ctx);

/** The body of that name; NULL: none. Returns borrowed. */
ln_context *ln_body_named(const ln_context *root, const char *name);

/** Forgets the names of its inputs and outputs. */
void ln_body_forget_names(ln_context *body);

/** Frees the bodies; none is prepared. */
void ln_bodies_free(ln_context *ctx);

/** The number of the input that shares memory with the tensor; -1: none. */
int ln_body_given_number(const ln_context *body, const ln_tensor_entry *te);

/** Frees the memory of ln_body_prepare. */
void ln_bodies_unload(ln_context *ctx);

/** -1 with a reason: an operator of the compiled body keeps data from load to run, or computes in
 *  memory of a device. */
int ln_body_check_ops(const ln_context *body);
