// SPDX-License-Identifier: Apache-2.0
// The JSON intermediate representation: reading operators from it and writing them to it.
//
//     {
//         "version": 1,
//         "inputs": ["image"],
//         "outputs": ["scores"],
//         "ops": [
//             {
//                 "name": "fc1",
//                 "optype": "fc",
//                 "tensors_in": [{"arg_name": "src", "name": "image"}, ...],
//                 "tensors_out": [{"arg_name": "dst", "name": "scores"}],
//                 "params": [{"arg_name": "axis", "value": 1}, ...]
//             },
//             ...
//         ]
//     }
//
// Version, inputs and outputs may be absent. "sizes" has the names of open sizes of the original
// model: [{"tensor": "ids", "names": [null, "sequence"]}, ...], "" for one without a name, null for
// a fixed one. Before "ops" there may be "bodies" (ln_body.h), an object of programs by name:
// "inputs", "outputs" and "ops" (all required), and of a compiled model "mem_sizes". A compiled
// model also has "arch" (its target) and "mem_sizes" (bytes by memory type) at the top, "offset" in
// every tensor, and "scratch" ("size", "offset") in operators that need it; it may have
// "model_nodes", the nodes of the original, [[3, "conv1", "Conv"], ...], with "node_count", and
// "nodes", their numbers, in operators. A number is a double; where numbers are expected, the
// strings "nan", "inf" and "-inf" are the ones that JSON lacks.

#pragma once

#include <stddef.h>
#include <stdio.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"

/** The format's version: the only one that is written and read. */
#define LN_IR_VERSION 1

/** The locations of a text in the text that it was translated from. */
typedef struct ln_ir_places {
    ln_place_func find;
    const void *data;
} ln_ir_places;

/** The location from `places` (NULL: none); NULL: unknown. */
const char *ln_ir_place(const ln_ir_places *places, const char *body, const char *key, size_t i);

/** Reads `len` bytes of `text`, called `name` in messages, or by `places` (may be NULL). *ops:
 * returns new (ln_op_list_free_lists_too) operators in order, made from the prototypes in LN_ARCH,
 * in the init state. Sets the context's inputs, outputs, declared, and for a compiled model target
 * and mem_sizes, the offsets of the tensor list entries and the operators' scratch memory. Names
 * are unique, tensors defined once and before their use, parameters of their prototype's
 * type; pre_run checks for missing arguments and all other conditions. Unknown
 * keys cause a warning. -1 with the reason in the context: *ops and the context are as before. */
int ln_ir_read(ln_context *ctx, const char *name, const char *text, size_t len,
               const ln_ir_places *places, ln_list **ops);

/** Writes ctx->ops, inputs and outputs, and when ctx->target is set the compiled IR; reading it
 *  reproduces the model, every number exactly. -1 with the reason in the context: a stream error,
 * or a name that is not UTF-8. */
int ln_ir_write(const ln_context *ctx, FILE *fp);

/** ln_ir_write to a file, which is replaced only when all is written; "-": to standard output. */
int ln_ir_write_file(const ln_context *ctx, const char *outfile);
