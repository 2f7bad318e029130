// SPDX-License-Identifier: Apache-2.0
// A context: everything that belongs to one model, from its source to its runs.
//
//     ln_context *ctx = ln_context_create();
//     if (ln_context_init(ctx, "model.json") || ln_context_compile(ctx, "cpu") ||
//     ln_context_load(ctx, "model.safetensors"))
//         fprintf(stderr, "%s\n", ln_context_error(ctx));
//     ln_context_set_data(ctx, "image", pixels);
//     ln_context_run(ctx);
//     ln_context_get_data(ctx, "probabilities", probs);
//     ln_context_unload(ctx);
//     ln_context_cleanup(ctx);
//     ln_context_free(ctx);
//
// Two threads may use two contexts at the same time, not one. After fork(), the child may use and
// free the contexts of its parent that no other thread used at that moment. Functions that return
// int give 0, or -1 with the reason in the context; functions that return a pointer give NULL then.

#ifndef LN_CONTEXT_H
#define LN_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_dfg.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_op.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_exec.h"

LN_BEGIN_DECLS

/* Bits of ctx->declared. */
enum { LN_DECLARES_INPUTS = 1, LN_DECLARES_OUTPUTS = 2 };

typedef struct ln_context {
    ln_hash *tensor_table;              /* the tensor table */
    ln_hash *op_table;                  /* the operator table */
    ln_dfg *dfg;                        /* the data flow graph */
    ln_list *ops;                       /* the operator list */
    void *mem_starts[LN_MEM_TYPE_SIZE]; /* the memory start addresses */
    size_t mem_sizes[LN_MEM_TYPE_SIZE]; /* the memory sizes */

    /* Beyond the documented fields. */
    ln_error *error;       /* the reason of the last failure */
    ln_msg_func msg_func;  /* receives warnings and debug lines; NULL: nobody does */
    void *msg_data;        /* its first argument */
    char *source;          /* the model's name for messages */
    char *target;          /* what it is compiled for, or NULL */
    ln_list *inputs;       /* names (char *) of the model's inputs, in order */
    ln_list *outputs;      /* names (char *) of the model's outputs, in order */
    int declared;          /* LN_DECLARES_*: what the model itself names */
    tl_pool *pool;         /* threads; NULL: one */
    int threads;           /* what ln_context_set_threads asked for; -1: not set */
    int planned_threads;   /* those that the memory plan has scratch memory for; 0: no plan fits */
    tl_isa isa;            /* kernels of this instruction set at most */
    uint64_t seed;         /* of random tensors */
    uint64_t random;       /* state of the generator, from the seed at load */
    int optimize;          /* 0: lowering only, the reference program */
    ln_list *rules;        /* ln_rule_count: what fired, in order of first firing */
    ln_list *disabled;     /* names (char *) of rules to leave out */
    ln_hash *tuned;        /* what was measured -> what is fastest; NULL: nothing is measured */
    ln_hash *unique;       /* the next number for each prefix of new names */
    ln_list *last;         /* the last node of ops */
    ln_list *last_input;   /* the last node of inputs */
    ln_list *last_output;  /* the last node of outputs */
    ln_hash *input_names;  /* the names in inputs -> their numbers, from 1 */
    ln_hash *output_names; /* the names in outputs -> their numbers, from 1 */
    ln_list *missing;      /* names (char *) of tensors that still wait for data from outside */
    int keep;              /* every tensor keeps its memory, so that any can be read after a run */
    int stale; /* a constant or a parameter was set after load: bits of run/ln_update.h */
    struct ln_weights *weights; /* data that the model's own file brings; NULL: none */
    struct ln_weights *given;  /* data that another file or the caller has brought since the context
                                  was loaded, in place of it; NULL: none */
    ln_hash *kept;             /* results of loading that what callers set needs again and again */
    struct ln_bindings *bound; /* what ln_context_bind_* said of inputs */
    char *datafile;            /* the file of weights that was named before the model is read */
    struct ln_weights *params; /* its tensors, without data, where the format asks for them */
    struct ln_fixed *fixed;    /* values that the program was made for */
    struct ln_rewriting *rewriting; /* what passes keep while they are at work, or NULL */
    struct ln_context *outer;       /* of a body (ln_body.h): the context whose operators run it */
    ln_list *bodies;                /* ln_context of the bodies, in order */
    ln_list *last_body;             /* the last node of bodies */
    ln_hash *body_names;            /* their names -> ln_context */
    struct ln_body *body;           /* of a body: what it is beside a context */
    ln_list *folders;       /* names (char *) of those that ln_context_allow_folder allows */
    struct ln_store *store; /* constants that other contexts use, too (run/ln_store.h), set before
                               loading; or NULL */
    int many_shapes; /* other programs, for other shapes, share its constants: what they would pack
                        is packed here, too */
    struct ln_sharing *sharing; /* what it has of them, and its own memory (run/ln_sharing.h) */
    struct ln_limits *limits;   /* what it may take; of a body: those of the outer context */
    tl_dtype precision;         /* what products may compute with: TL_FLOAT, TL_BFLOAT16 */
    int has_writers; /* an operator that writes in place is, or has been, one of its operators */
} ln_context;

/** How often a rule fired while compiling. */
typedef struct ln_rule_count {
    const char *name;
    int count;
} ln_rule_count;

/* Errors */

/** Records the reason (the first since the last clearing wins) and returns -1. `ctx` NULL: the
 * calling thread's record. */
LN_API int ln_fail(const ln_context *ctx, const char *fmt, ...) LN_PRINTF(2, 3);

/** As ln_fail, for a reason of a known status (ln_api.h). Returns -1. */
LN_API int ln_fail_as(const ln_context *ctx, ln_status status, const char *fmt, ...)
    LN_PRINTF(3, 4);

/** As ln_fail, with the calling thread's last error as the reason. Returns -1. */
LN_API int ln_fail_last(const ln_context *ctx);

/** As ln_fail, with TensorLight's last error as the reason. Returns -1. */
LN_API int ln_fail_tl(const ln_context *ctx);

/** Puts "where: " before the recorded reason. Returns -1. */
LN_API int ln_fail_at(const ln_context *ctx, const char *fmt, ...) LN_PRINTF(2, 3);

/** Sends a warning to the context's message function. */
LN_API void ln_warn(const ln_context *ctx, const char *fmt, ...) LN_PRINTF(2, 3);

/** Sends a debug line to the context's message function. */
LN_API void ln_debug(const ln_context *ctx, const char *fmt, ...) LN_PRINTF(2, 3);

/** The reason of the last failure, "" when there is none; valid until the next call on the context.
 * NULL: the thread's. */
LN_API const char *ln_context_error(const ln_context *ctx);

/** Forgets the recorded reason. */
LN_API void ln_context_clear_error(const ln_context *ctx);

/* Life */

/** Returns new (ln_context_free): an empty context. NULL with the thread's last error when there is
 * no memory. */
LN_API ln_context *ln_context_create(void);

/** Frees the context with its tensors, operators, graph, list and memory. Takes NULL and half-built
 * ones. */
LN_API void ln_context_free(ln_context *ctx);

/** Reads the model from the file `source`: JSON IR, a compiled model with its weights
 * (ln_context_save), or another format that the library was built with (ONNX), recognised by
 * content. On failure the context is as before: empty, or
 * with the model that it holds already. */
LN_API int ln_context_init(ln_context *ctx, const char *source);

/** As ln_context_init, from `len` bytes; `name` stands for the file in messages. */
LN_API int ln_context_init_text(ln_context *ctx, const char *name, const char *text, size_t len);

/** Writes the names of the model formats that this build reads, "JSON IR, ONNX", into `buf` of
 * `size` bytes, cut where it is too small. Returns buf. */
LN_API char *ln_sprint_formats(char *buf, size_t size);

/** What a file holds, as its content tells: "an ONNX model", "an NNVM graph", "an IL model", "a
 * compiled model", "weights", or a name of ln_content_of (a constant). NULL: JSON IR, anything that
 * is not recognised, or that cannot be read. */
LN_API const char *ln_file_kind(const char *file);

/** Says where a part of JSON IR comes from that a program has made from another text, as
 * "FILE:LINE"; NULL: unknown. `body`: the body that has the part (ln_body.h), NULL: the top. `key`:
 * "ops" for the `i`-th operator, or another key there; NULL: the whole body. */
typedef const char *(*ln_place_func)(const void *data, const char *body, const char *key, size_t i);

/** As ln_context_init_text, from JSON IR that the program has made from another text: messages
 * begin with the place there, as `place` (NULL: it is unknown) says, and else with `name`. */
LN_API int ln_context_init_ir(ln_context *ctx, const char *name, const char *json, size_t len,
                              ln_place_func place, const void *data);

/* Before ln_context_init, of a model whose inputs leave sizes open: */

/** Says that input `name` has this shape: dimensions that the model leaves open take it, others
 * must agree. `name` may also be that of a single open dimension: `ndim` is 1 then. Once for each
 * name, the last one counts. It holds for all models that the context reads; one without such an
 * input or dimension is refused. */
LN_API int ln_context_bind_shape(ln_context *ctx, const char *name, int ndim, const int *dims);

/** As ln_context_bind_shape, for sizes that change from run to run: a dimension that the model
 * leaves open is from `least` to `most`, and ln_context_set_shape says before a run what it is.
 * Where both are the same, that is the shape. -1: no range. Models of formats without open
 * dimensions refuse a range when they are read. */
LN_API int ln_context_bind_range(ln_context *ctx, const char *name, int ndim, const int *least,
                                 const int *most);

/** Gives input `name` a value (copied) before the model is read: its shape counts as by
 * ln_context_bind_shape, and where the model computes shapes from the input, its elements do.
 * `name` NULL: of the k-th such call the k-th input that is not bound by its name; `value` NULL
 * then says nothing of it. The run still needs the input's data; where shapes were decided on it,
 * no other data is accepted. */
LN_API int ln_context_bind_input(ln_context *ctx, const char *name, const tl_tensor *value);

/** Says which file of weights will be loaded (ln_context_load): formats whose graphs do not tell
 * parameters from inputs, and no shapes, as NNVM, look there when the model is read. */
LN_API int ln_context_bind_file(ln_context *ctx, const char *datafile);

/** Lets the model use files in `folder` and below, too: beside files that a model names, such as an
 * ONNX model's external data, must be in the folder of the model, also behind links. A file that is
 * not there is looked for in the allowed folders, in the order of the calls. -1: `folder` cannot be
 * opened as a folder. */
LN_API int ln_context_allow_folder(ln_context *ctx, const char *folder);

/** Rewrites the model for `target` ("cpu"), plans its memory. Unknown target: the message lists the
 * known ones. When a rewrite or the plan fails the context is empty, as after ln_context_cleanup: a
 * half-rewritten model is of no use. */
LN_API int ln_context_compile(ln_context *ctx, const char *target);

/** Writes the operators in their present order as JSON to `outfile` ("-": standard output); a
 * compiled model with its memory plan. On failure no file is left behind. */
LN_API int ln_context_print(const ln_context *ctx, const char *outfile);

/** Writes the model as it was read, not compiled, to `file` ("-": standard output): in `format`
 * "ir", as ln_context_print does, or another that the library writes, whose names the message for
 * an unknown one lists. `datafile`: weights as for ln_context_load, or NULL, for formats that have
 * them in files of their own; others leave out even those of the model's own file, which
 * ln_data_save writes. On failure no file is left behind. */
LN_API int ln_context_write(ln_context *ctx, const char *datafile, const char *format,
                            const char *file);

/** As ln_context_write in format "ir", to a stream. */
LN_API int ln_context_write_ir(ln_context *ctx, const char *datafile, FILE *stream);

/** Reads the model in the file `source` and writes it in `format` to `file`, as ln_context_init and
 * ln_context_write do. A graph that stays in its format, as NNVM's, is not read for that where it
 * can do without, so that the shapes of its inputs need not be known; the context is empty then.
 * Weights are those of ln_context_bind_file. */
LN_API int ln_context_convert(ln_context *ctx, const char *source, const char *format,
                              const char *file);

/** As ln_context_convert, from `len` bytes; `name` stands for the file in messages. */
LN_API int ln_context_convert_text(ln_context *ctx, const char *name, const char *text, size_t len,
                                   const char *format, const char *file);

/** Writes the compiled model as one safetensors file, which ln_context_init recognises: with its
 * weights, in the form in which runs read them, so that reading it neither compiles nor packs.
 * `datafile` as for ln_context_load; inputs need no data. The context is not loaded. Afterwards it
 * holds the model as the file does: constants that runs do not read have left it, and
 * ln_context_set_data names them. On failure no file is left behind,
 * and the context is as before, or holds the model as the file would, or is empty. */
LN_API int ln_context_save(ln_context *ctx, const char *datafile, const char *file);

/** As ln_context_save, with `n` compiled contexts in one file: programs of one model, for other
 * shapes each, of which a reader takes the one for the shapes that it is given. Constants that
 * several of them have alike are stored once; for that, set many_shapes of each context before it
 * is compiled. The reason of a failure is in the first context. */
LN_API int ln_context_save_all(ln_context *const *programs, int n, const char *datafile,
                               const char *file);

/** Allocates the planned memory, reads `datafile` (wts or safetensors, or NULL), and runs once what
 * is constant. A constant that a rule has made part of an operator must have its value still. */
LN_API int ln_context_load(ln_context *ctx, const char *datafile);

/** Copies ln_context_data_size() bytes from `data` to the tensor. The context is loaded. A constant
 * that is set counts as an input: what was computed from it at load, and nothing else, is computed
 * anew by the next run. Such a result itself cannot be set, nor another value of a constant that a
 * rule has made part of an operator. `data` is not NULL. */
LN_API int ln_context_set_data(ln_context *ctx, const char *tname, const void *data);

/** Says which shape input `tname`, whose sizes are open (ln_context_bind_range), has from now on;
 * before, it has the largest one. ln_context_set_data then copies as many bytes as that has. -1: no
 * such input, another number of dimensions, a dimension out of its range. */
LN_API int ln_context_set_shape(ln_context *ctx, const char *tname, int ndim, const int *dims);

/** Copies the tensor's bytes to `data`; NULL: to new memory that the caller frees. NULL on failure.
 * Only tensors whose memory outlives the run can be read: inputs, outputs, constants, and what
 * nothing overwrote. */
LN_API void *ln_context_get_data(ln_context *ctx, const char *tname, void *data);

/** Bytes of the tensor's data; 0 with a reason when there is no such tensor. Of a tensor whose size
 * is known only when it is computed (its entry in the tensor table has isdynamic set), after a run
 * the bytes of that run's result, before it those of the largest one possible; dims and len of the
 * entry's tl_tensor say the shape. */
LN_API size_t ln_context_data_size(ln_context *ctx, const char *tname);

/** Sets a parameter; the value's type is the parameter's: double for a number, int for a bool,
 * const char * for a string, and int len, pointer for an array. The operators are checked anew.
 * Shapes may change only before compiling. On failure the old value is back; should there be no
 * memory even for that, the context is empty. */
LN_API int ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...);

/** Runs the operators in the order of ctx->ops. The context is loaded. -1: an input for which the
 * model has no data itself, as those of ONNX models, or a weight, was never set. */
LN_API int ln_context_run(const ln_context *ctx);

/** As ln_context_run, adding to ns[i] the nanoseconds that the i-th operator of ctx->ops took. */
LN_API int ln_context_run_timed(const ln_context *ctx, uint64_t *ns);

/** As ln_context_run, calling seen(data, op) after each operator of ctx->ops, in order; those that
 * ran at load are seen in their turn, and do not run again. `seen` may read the outputs that the
 * operator has made, and change them for the operators that run behind it. -1: also when `seen`
 * returns another value than 0, which ends the run. */
LN_API int ln_context_run_each(const ln_context *ctx, int (*seen)(void *data, const ln_op *op),
                               void *data);

/** What a model is made of and what a run costs. */
typedef struct ln_stats {
    int ops;             /* operators, those of bodies too */
    int ops_at_load;     /* of these, the ones that compute at load only */
    int views;           /* of these, the ones that compute nothing */
    size_t params;       /* elements of all constants that the model brings */
    size_t param_size;   /* their bytes */
    double macs;         /* multiply-accumulates of a run, as far as operators tell */
    size_t memory;       /* planned bytes of main memory */
    size_t memory_bound; /* the largest sum of sizes alive at once: no plan needs less */
} ln_stats;

/** Counts; the memory figures are 0 before compiling. */
LN_API int ln_context_stats(const ln_context *ctx, ln_stats *stats);

/** Frees what ln_context_load allocated. */
LN_API void ln_context_unload(ln_context *ctx);

/** Undoes ln_context_init: the context is empty again. */
LN_API void ln_context_cleanup(ln_context *ctx);

/** Receives an input or output: its name, its type and shape (without data; a size is -1 where it
 * is open), and the shape as text: "[1, sequence of 1..512]", or
 * "[8, 4] at most" where it depends on data. */
typedef void (*ln_port_func)(void *data, const char *name, const tl_tensor *info,
                             const char *shape);

/** Calls inputs(data, ..) for each input of the model that was read, then outputs(data, ..) for
 * each output, in order; NULL: not for these. -1: no memory. */
LN_API int ln_context_describe(const ln_context *ctx, ln_port_func inputs, ln_port_func outputs,
                               void *data);

/* Settings, before compiling or loading */

/** Threads for runs; 0: all cores available. Default: LIGHTNET_NUM_THREADS, else 1. A model
 * that was compiled for another number gets a new memory plan when it is loaded. Threads beyond the
 * cores, and those that the system refuses, are not begun: their work is done by the others. A
 * loaded context must be unloaded first. */
LN_API int ln_context_set_threads(ln_context *ctx, int n);

/** Seed of random tensors (default 0). */
LN_API void ln_context_set_seed(ln_context *ctx, uint64_t seed);

/** Leaves out the rewrite `rule` when compiling. An unknown name is an error, and a model that is
 * compiled already. */
LN_API int ln_context_disable_rule(ln_context *ctx, const char *rule);

/** Compiles to the reference program: operators lowered one to one, nothing fused, plain C kernels.
 */
LN_API void ln_context_set_reference(ln_context *ctx);

/** Lets every tensor keep its memory to itself, so that any can be read after a run. Before
 * compiling. */
LN_API void ln_context_keep_all(ln_context *ctx);

/** Lets compiling measure, where an operator can be computed in several ways, which is the fastest
 * on this machine with the context's threads and instruction set, instead of estimating it: of each
 * shape once, in some tenths of a second. The compiled model says what was found. -1: the model is
 * compiled already. */
LN_API int ln_context_set_tuning(ln_context *ctx);

/** Which numbers products of matrices and convolutions may compute with when the model is compiled:
 * "float32", those of the model (the default), or "bf16": they round their sources to bfloat16, and
 * sum in floats, where the CPU multiplies that faster. The result of one is then within 2^-8 of the
 * products of magnitudes. What convolutions make, and add, may be rounded to bfloat16, too, where
 * only they read it: that is within 2^-9 of it. -1: another name, or the model is compiled already.
 */
LN_API int ln_context_set_precision(ln_context *ctx, const char *name);

/** Adds tensor `tname` to the outputs (it then survives the run). An error once compiled. */
LN_API int ln_context_add_output(ln_context *ctx, const char *tname);

/* Limits: what reading, compiling, loading and running may take. A call that meets one fails with a
 * message that names the limit, and leaves the context as its documentation says of failures. */

typedef enum ln_limit {
    /** Bytes of memory that the context may hold: operators, constants, and the memory of runs.
     * What the model alone decides the size of is refused before it is allocated. Set it before the
     * model is read: what was allocated without a limit does not count. Of large files only what is
     * read counts. Memory that the thread gets from Jansson within a call counts, too, also in
     * functions that the library calls back. Default 0: no limit. */
    LN_LIMIT_MEMORY,
    /** Milliseconds from the call of ln_context_set_limit on, after which whatever the context does
     * ends; for a limit of each run, set it before each. Default 0: no limit. */
    LN_LIMIT_TIME,
    /** Operators, those of bodies too, and what functions of a model unfold to. Default 250000. */
    LN_LIMIT_OPS,
    /** Bytes of memory in which the value of a constant is computed while a model is read; one that
     * takes more is left to ln_context_load. Default 64 MiB. */
    LN_LIMIT_FOLD_MEMORY,
    /** Milliseconds of processor time for that. Default 100. */
    LN_LIMIT_FOLD_TIME
} ln_limit;

/** Sets a limit, before or between calls; 0: no limit. -1: there is no such limit. */
LN_API int ln_context_set_limit(ln_context *ctx, ln_limit limit, uint64_t value);

/** The limit; 0: none. */
LN_API uint64_t ln_context_limit(const ln_context *ctx, ln_limit limit);

/** Ends what the context does, and keeps it from beginning anything that takes long, until
 * ln_context_resume: the call under way fails with "cancelled". Any thread may call it, at any time
 * before ln_context_free. It is looked at between operators, between the iterations of a loop,
 * between the steps of compiling, between pieces of large weights, and within long kernels. A run
 * that ended leaves what it computes undefined, and what its operators write in place; the next one
 * is right. */
LN_API void ln_context_cancel(ln_context *ctx);

/** Whether work for the context may go on: 0, or -1 with the reason in the context: the time limit
 * has passed, or it was cancelled. */
LN_API int ln_context_check_limits(const ln_context *ctx);

/** Calls work(ctx, data) as one call on the context, for programs that build its input: what `work`
 * allocates by ln_alloc and its kin counts for the limit on memory, and a failure for lack of it
 * names the limit. `work` returns 0, or -1 with a reason in the context; so does this. */
LN_API int ln_context_do(ln_context *ctx, int (*work)(ln_context *ctx, void *data), void *data);

/** Takes ln_context_cancel back: between calls, in the thread that makes them. */
LN_API void ln_context_resume(ln_context *ctx);

/* For passes: the operators and everything that must follow them. New operators are taken even when
 * the call fails; after a failure the context can only be cleaned up. The operators of a loaded
 * context cannot be changed: that fails, and leaves it as it is. */

/** Runs the pre_run of every operator of ctx->ops, and enters operators, tensors and graph into the
 * context. */
LN_API int ln_context_init_ops(ln_context *ctx);

/** The opposite of ln_context_init_ops; the list is empty then, and a loaded context unloaded. */
LN_API void ln_context_cleanup_ops(ln_context *ctx);

/** Replaces the `len` operators from `*position` in ctx->ops by `new_ops` (takes them); `*position`
 * is then the first new node, or the node after the removed ones. */
LN_API int ln_context_replace_ops(ln_context *ctx, ln_list **position, size_t len,
                                  ln_list *new_ops);

/** Removes the operator at `*position`; `*position` is then the next node. */
LN_API int ln_context_remove_op(ln_context *ctx, ln_list **position);

/** Adds `new_op` (takes it) before `*position` (NULL: at the end); `*position` is then its node. */
LN_API int ln_context_add_op(ln_context *ctx, ln_list **position, ln_op *new_op);

/** Substitutes `new_ops` (takes them) for `old_ops`, whose last operator is the last of them in
 * list order: there the new stand. */
LN_API int ln_context_subgraph(ln_context *ctx, ln_list *old_ops, ln_list *new_ops);

/** 0 when the operators in the list, their tensors, the tables and the graph agree, and nothing
 * writes a tensor in place that a no-copy gather has made a part of another before; otherwise -1
 * with the first disagreement. */
LN_API int ln_context_check(const ln_context *ctx);

/** Undoes and repeats every pre_run, so that all private data is fresh; keeps planned offsets. A
 * loaded context stays loaded, with its data. On failure, which is for want of memory, such a
 * context is empty. */
LN_API int ln_context_rebind(ln_context *ctx);

/** Allocates zeroed memory of ctx->mem_sizes and gives every tensor its address. After planning. */
LN_API int ln_context_alloc_mem(ln_context *ctx);

/** Frees it. */
LN_API void ln_context_dealloc_mem(ln_context *ctx);

/** Prints a name into `buf` (LN_MAX_NAME_LEN bytes) that no operator and no tensor has: `prefix`
 * and a number, in constant time. */
LN_API int ln_context_unique_name(const ln_context *ctx, char *buf, const char *prefix);

/** The operator that makes tensor `tname`; NULL when there is none. Returns borrowed (until the
 * list changes). */
LN_API ln_op *ln_context_creater(const ln_context *ctx, const char *tname);

/** Whether an operator writes the memory of tensor `tname` in place: then its value depends on the
 * order of the operators. */
LN_API int ln_context_is_mutated(const ln_context *ctx, const char *tname);

/** How many operator arguments read tensor `tname`, plus one if it is an output of the model. */
LN_API int ln_context_num_uses(const ln_context *ctx, const char *tname);

/** Whether `tname` is an output of the model (declared, or read by nobody when none is declared).
 */
LN_API int ln_context_is_output(const ln_context *ctx, const char *tname);

/** The same for an entry of the tensor table, without a search: for one that an operator of the
 * context makes, or reads. 0 and NULL for others. */
LN_API ln_op *ln_entry_creater(const ln_tensor_entry *te);
LN_API int ln_entry_is_mutated(const ln_tensor_entry *te);
LN_API int ln_entry_num_uses(const ln_tensor_entry *te);
LN_API int ln_entry_is_output(const ln_tensor_entry *te);

/** The data of a constant tensor that the model's own file brings, known before loading: it is read
 * to memory, where it stays. Returns borrowed (until the context is cleaned up); NULL: none, or the
 * file cannot be read, with the reason in the context. */
LN_API const tl_tensor *ln_context_weight(const ln_context *ctx, const char *tname);

LN_END_DECLS

#endif
