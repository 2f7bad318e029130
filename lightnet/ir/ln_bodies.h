// SPDX-License-Identifier: Apache-2.0
// The bodies of a context, for those who read, compile and write it. See lightnet/ln_body.h.

#ifndef LN_BODIES_H
#define LN_BODIES_H

#include "lightnet/ln_body.h"

/* The names in a list, to be found by their numbers. */
typedef struct ln_body_names {
    const ln_list *list; /* whose names they are */
    const char **at;
    int n;
} ln_body_names;

struct ln_body {
    char *name;
    int number;                    /* its place in the order of bodies */
    int used;                      /* an operator names it */
    ln_body_names inputs, outputs; /* of the context's lists, once asked for */
    struct ln_body_place *places;  /* where its tensors lie in a run; NULL: it is not prepared */
    size_t n_places;
    /* While it is rewritten (pass/ln_rewriting.h): */
    ln_op *runner;              /* an operator that runs it */
    int n_runners;              /* how often it is run by one */
    unsigned char *is_constant; /* of each input: its runner gives it a constant; NULL: none */
    int n_constant;             /* inputs that this is known of */
};

/** How many inputs `src` an operator has that runs a body and gives it these as its last inputs. */
int ln_body_num_src(const ln_op *runner);

/** Whether `te` is an input of a body that counts as constant, since its runner gives it one. */
int ln_body_is_given_constant(const ln_context *ctx, const ln_tensor_entry *te);

/** Where the value of `te` comes from: itself, or if it is given to a body as a constant, what that
 * is in the program around it, which *ctx becomes. Returns borrowed. */
const ln_tensor_entry *ln_body_origin(const ln_context **ctx, const ln_tensor_entry *te);

/* In a plan, where the tensors lie that a body is given: any place that is one, for its views are
 * placed relative to it. */
#define LN_BODY_GIVEN_OFFSET ((size_t)64)

/** Whether `te` is an input of a body: its memory is that of others. */
int ln_body_is_given(const ln_context *ctx, const ln_tensor_entry *te);

/** How many there are, in constant time. */
int ln_bodies_count(const ln_context *ctx);

/** Lets the bodies have the settings of `ctx`. */
void ln_bodies_share_settings(ln_context *ctx);

/** Removes the bodies that no operator names, and that none of those runs that one does. */
void ln_bodies_prune(ln_context *ctx);

/** The context that all bodies of `ctx` belong to: itself, or of a body the outermost one. Returns
 * borrowed. */
ln_context *ln_body_outermost(ln_context *ctx);

/** The body of that name; NULL: there is none. Returns borrowed. */
ln_context *ln_body_named(const ln_context *root, const char *name);

/** Forgets the names of its inputs and outputs. */
void ln_body_forget_names(ln_context *body);

/** Frees the bodies; none is prepared. */
void ln_bodies_free(ln_context *ctx);

/** The number of the input whose memory the tensor lies in; -1: none. */
int ln_body_given_number(const ln_context *body, const ln_tensor_entry *te);

/** Frees what ln_body_prepare allocated. */
void ln_bodies_unload(ln_context *ctx);

/** -1 with a reason: an operator of the compiled body keeps data from load to run. */
int ln_body_check_ops(const ln_context *body);

#endif
