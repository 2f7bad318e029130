// SPDX-License-Identifier: Apache-2.0
// The programs of a compiled model, and the selection of one for given shapes.

#pragma once

#include "data/ln_bundle.h"
#include "data/ln_safetensors.h"
#include "front/ln_interface.h"
#include "lightnet/ln_context.h"

typedef struct ln_compiled_program {
    char *ir;                // the key of its IR
    ln_interface *interface; // NULL: not in the file, it has one program
    ln_bundle own;           // its tensors by its own names
    const ln_bundle *tensors;
} ln_compiled_program;

typedef struct ln_programs {
    ln_compiled_program *of;
    size_t n;
} ln_programs;

/** Reads which programs the file has. `programs` is all zero before; clear it also after a failure.
 * -1 with a reason that names `file`. */
int ln_programs_read(ln_programs *programs, const ln_safetensors *st, const char *file,
                     ln_error *err);

void ln_programs_clear(ln_programs *programs);

/** Fills the empty interface from all programs: a size that differs among them is open, from the
 * min to the max. The shapes of each program are in the metadata, "program.1" and so on. -1: no
 * memory. */
int ln_programs_describe(const ln_programs *programs, ln_interface *interface);

/** Whether a program supports some shape of the interface after sizes were narrowed. -1 with a
 * reason that lists the programs. */
int ln_programs_check(const ln_programs *programs, const ln_interface *allowed,
                      const ln_context *ctx, const char *file);

/** The program for the shapes bound in the context: of those that support them the one with the
 * fewest open sizes. NULL with a reason that lists the programs. */
const ln_compiled_program *ln_programs_choose(const ln_programs *programs, const ln_context *ctx,
                                              const char *file);
