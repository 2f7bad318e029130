// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL as the tree that the text of the JSON IR stands for.

#ifndef LN_IL_PARSE_H
#define LN_IL_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "il/ln_il_host.h"
#include "il/ln_il_text.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_msg.h"

/* A model. All zero: none. */
typedef struct ln_il_model {
    json_t *tree;
    ln_hash *places; /* operators, bodies, and values of keys at the top -> "FILE:LINE" */
} ln_il_model;

/** Reads preprocessed text; `name` stands for the model in messages. -1 with a reason, which names
 * file and line. */
int ln_il_parse(ln_il_model *m, const char *name, const ln_il_text *text, const ln_il_host *host,
                ln_error *err);

/** Takes what was not filled, too. */
void ln_il_model_free(ln_il_model *m);

#endif
