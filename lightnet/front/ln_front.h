// SPDX-License-Identifier: Apache-2.0
// Front ends: readers of the model formats other than JSON IR.
//
// The registered front ends are tried in turn on the bytes of a model; without a match it is JSON
// IR. They are registered before main and constant afterwards, like architectures.

#pragma once

#include "base/ln_infile.h"
#include "front/ln_interface.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"

typedef struct ln_front {
    const char *format; // its name for messages

    /** Whether the bytes are a model of this format. */
    int (*is)(const unsigned char *data, size_t size);

    // The first bytes identify it, and large files are read in parts; otherwise `is` and `read` get
    // the whole file in memory.
    int reads_parts;

    // Reading requires the shapes of inputs, which the files lack.
    int asks_shapes;

    // Its models are compiled, for sizes chosen at compilation.
    int is_compiled;

    /** Fills the empty context with abstract operators, inputs and outputs. `file` may be taken
     * (then it is left all zero). -1 with the reason in the context, which the caller cleans up. */
    int (*read)(ln_context *ctx, const char *name, ln_infile *file);

    // For formats of which several contexts are made: `read` in two steps. All NULL: the file is
    // read again for each context.

    /** Parses the file (takes it), for `build`. Threads may then share the result. NULL with the
     * reason in the context, which stays empty. */
    void *(*parse)(const ln_context *ctx, const char *name, ln_infile *file);

    /** Fills the empty context, as `read` does. */
    int (*build)(ln_context *ctx, const char *name, const void *parsed);

    /** Fills the empty interface from the file. 1: not possible, the interface is that of the
     * context. -1 with the reason in the context. */
    int (*describe)(const ln_context *ctx, const char *name, const void *parsed,
                    ln_interface *interface);

    /** Whether the model runs with any of the shapes that its interface allows after sizes were
     * narrowed. -1 with the reason in the context. NULL: with all of them. */
    int (*check)(const ln_context *ctx, const char *name, const void *parsed,
                 const ln_interface *interface);

    /** Frees it. Ignores NULL. */
    void (*drop)(void *parsed);

    /** Writes the context in this format to `file` ("-": standard output), which is replaced only
     * when all is written. -1 with the reason in the context. NULL: the format is only read. */
    int (*write)(ln_context *ctx, const char *file);

    /** The same with external data in FILE.data: the format "NAME-external". NULL: the format has
     * no external data. */
    int (*write_external)(ln_context *ctx, const char *file);

    /** Writes the model in `in` in this format, which it has, to `file`, without the context, which
     * stays empty: if possible without the shapes of its inputs. 1: not possible. -1 with the
     * reason in the context. NULL: a model is only written from a context. */
    int (*rewrite)(ln_context *ctx, const char *name, const ln_infile *in, const char *file);

    /** Operator `i` of the format; 0: no more. NULL: they are not listed. */
    int (*operator_at)(size_t i, ln_format_operator *op);
} ln_front;

/** Enters a front end (keeps it). -1: no memory. */
int ln_front_register(const ln_front *front);

/** All front ends (ln_front *) in the order of registration. Returns borrowed. */
const ln_list *ln_front_list(void);

/** The front end for the bytes, or NULL: unknown format. */
const ln_front *ln_front_for(const unsigned char *data, size_t size);

/** The same for an open file, which is then in memory unless the front end reads parts; *front is
 * NULL if none accepts it. -1 with a reason: the file cannot be read, or none accepts it and it is
 * large and not text. */
int ln_front_of(ln_infile *file, const ln_front **front, ln_error *err);

/** Fails for bytes that are not a model: another kind of file, or, without their front end `front`,
 * bytes that do not begin like JSON. */
int ln_front_check(const ln_context *ctx, const char *name, const ln_front *front,
                   const unsigned char *data, size_t size);

// Reading a model into a context (ln_read.c).

/** As ln_context_init, from an open file, called `name` in messages, which may be taken: it is left
 * all zero then. */
int ln_context_init_file(ln_context *ctx, const char *name, ln_infile *file);

/** Reads JSON IR, called `name` in messages, into a context that has only a source. -1
 * with a reason: the caller cleans it up. */
int ln_context_read_ir(ln_context *ctx, const char *name, const char *text, size_t len);

/** As ln_context_init, from a model that `front` has parsed, called `name` in messages. */
int ln_context_init_parsed(ln_context *ctx, const char *name, const ln_front *front,
                           const void *parsed);

// Front ends that can be built in.

extern const ln_front ln_front_compiled;
extern const ln_front ln_front_nnvm;
extern const ln_front ln_front_onnx;
extern const ln_front ln_front_il;
