// SPDX-License-Identifier: Apache-2.0
// Reading elements of the JSON intermediate representation: shared by the readers of parameters,
// operators and the top level. Every function fails with a message with the location (file,
// operator) and the reason; names are borrowed from the tree, which outlives the reader.

#pragma once

#include "front/json/ln_ir_json.h"
#include "data/ln_json.h"
#include "ir/ln_origin.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_param.h"

/** A node of the model that a compiled program was made of (ir/ln_origin.h). */
typedef struct ln_ir_node {
    int number;
    ln_origin *origin;
} ln_ir_node;

/** By increasing numbers. */
typedef struct ln_ir_nodes {
    ln_ir_node *items;
    size_t n;
    int total; // of the model, also those that no operator computes
} ln_ir_nodes;

typedef struct ln_ir_reader {
    ln_context *ctx;
    const char *file;           // its name in messages
    const ln_ir_places *places; // NULL: the text was not translated
    const char *body;           // the current body, NULL: the top level
    const char *at;             // the current key with a location; NULL: none
    size_t index;               // of the operator being read
    const char *opname;         // its name, NULL: unknown
    const char *optype;         // its type, NULL: unknown
    int in_op;                  // an operator is being read
    const char *target;         // of the compiled model; NULL: not compiled
    const ln_ir_nodes *nodes;   // of the compiled model
    ln_hash *opnames;           // operator names so far
    ln_hash *scopes;            // name -> the last scope, an element of the tree, that uses it
    ln_hash *tensors;           // tensor name -> the type of the operator that defines it
    ln_hash *unknown;           // keys with a warning
} ln_ir_reader;

/** The types of a key's value. */
typedef enum ln_ir_kind { LN_IR_STRING, LN_IR_NUMBER, LN_IR_ARRAY, LN_IR_OBJECT } ln_ir_kind;

/** An object of the tree with its label in messages: "", or "tensors_in[1]: ". */
typedef struct ln_ir_element {
    const json_t *json;
    char label[64];
} ln_ir_element;

/** Records "PLACE: reason" in the context. Returns -1. */
int ln_ir_fail(const ln_ir_reader *r, const char *fmt, ...) LN_PRINTF(2, 3);

/** As ln_ir_fail, with the thread's last error as the reason. */
int ln_ir_fail_last(const ln_ir_reader *r);

int ln_ir_is_kind(const json_t *json, ln_ir_kind wanted);

/** Sets `*e` to element `i`, an object, of the array of key `key`. */
int ln_ir_get_element(const ln_ir_reader *r, ln_ir_element *e, const json_t *array, const char *key,
                      size_t i);

/** The value of a required key of that kind; NULL after a failure. */
const json_t *ln_ir_get(const ln_ir_reader *r, const ln_ir_element *e, const char *key,
                        ln_ir_kind wanted);

/** A string that is a valid name: 1 to LN_MAX_NAME_LEN - 1 bytes; NULL after a failure. */
const char *ln_ir_get_name(const ln_ir_reader *r, const ln_ir_element *e, const char *key);

/** A number of bytes: an integer that a double represents exactly. */
int ln_ir_get_size(const ln_ir_reader *r, const ln_ir_element *e, const char *key, size_t *size);

/** Warns of keys that are not in the NULL-terminated list, or that have an effect only in a
 *  memory plan, without one; of each once per model. */
int ln_ir_warn_of_unknown(const ln_ir_reader *r, const ln_ir_element *e, const char *const *known);

/** Reserves a name in a scope, an element of the tree. 1: it is in use there; -1 after a failure.
 */
int ln_ir_take_name(const ln_ir_reader *r, const json_t *scope, const char *name);

/** Reserves the name of an argument of `op`, which must be unique in it. */
int ln_ir_take_arg_name(const ln_ir_reader *r, const ln_ir_element *e, const json_t *op,
                        const char *arg_name);

/** Prepends `data` (NULL: fails) to the list. Lists are reversed at the end, so that adding an
 * element takes constant time. */
int ln_ir_push(const ln_ir_reader *r, ln_list **list, void *data);

/** *list: returns new (ln_param_list_free): the parameters of `op`, of its prototype's types. After
 *  a failure, it has the parameters read so far. */
int ln_ir_read_params(const ln_ir_reader *r, const json_t *op, const json_t *array,
                      const ln_op_arg *proto, ln_list **list);

/** *nodes: returns new (ln_ir_free_nodes, in any case): those of the optional keys "model_nodes"
 * and "node_count" of a compiled model. */
int ln_ir_read_nodes(ln_ir_reader *r, const ln_ir_element *top, ln_ir_nodes *nodes);

void ln_ir_free_nodes(const ln_ir_nodes *nodes);

/** Gives the operator of a compiled model those of its optional key "nodes". */
int ln_ir_give_nodes(const ln_ir_reader *r, const ln_ir_element *e, ln_op *op);

/** *ops: returns new (ln_op_list_free_lists_too): the operators of the key "ops". After a failure,
 *  it has the operators read so far. */
int ln_ir_read_ops(ln_ir_reader *r, const ln_ir_element *top, ln_list **ops);
