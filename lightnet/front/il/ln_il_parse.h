// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL as the tree that the JSON IR is, see ir/ln_ir_tree.h.

#ifndef LN_IL_PARSE_H
#define LN_IL_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "lightnet/ln_hash.h"
#include "lightnet/ln_msg.h"

/* A model. All zero: none. */
typedef struct ln_il_model {
    json_t *tree;
    ln_hash *places; /* operators, bodies, and values of keys at the top -> "FILE:LINE" */
} ln_il_model;

/** Reads `len` bytes; `name` stands for the text itself in messages. -1 with a reason, which names
 * file and line. */
int ln_il_parse(ln_il_model *m, const char *name, const char *text, size_t len, ln_error *err);

/** Takes what was not filled, too. */
void ln_il_model_free(ln_il_model *m);

#endif
