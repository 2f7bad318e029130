// SPDX-License-Identifier: Apache-2.0
// A context: all data of one model, from its source to its runs.
//
//     ln_context *ctx = ln_context_create();
//     if (ln_context_init(ctx, "model.json") || ln_context_compile(ctx, "cpu") ||
//         ln_context_load(ctx, "model.safetensors"))
//         fprintf(stderr, "%s\n", ln_context_error(ctx));
//     ln_context_set_data(ctx, "image", pixels);
//     ln_context_run(ctx);
//     ln_context_get_data(ctx, "probabilities", probs);
//     ln_context_unload(ctx);
//     ln_context_cleanup(ctx);
//     ln_context_free(ctx);
//
// Threads may use different contexts concurrently, not the same. After fork(), the child may use
// and free the contexts of its parent that no other thread used at that moment. Functions return
// 0, or -1 with the reason in the context; functions that return a pointer return NULL then.

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
#include "tensorlight/tl_string.h"
#include "lightnet/ln_value_info.h"

LN_BEGIN_DECLS

/** Bits of ctx->declared. */
enum { LN_DECLARES_INPUTS = 1, LN_DECLARES_OUTPUTS = 2 };

/** What compiling applies. */
enum {
    LN_OPTIMIZE_ALL = 1,    // all rules (default)
    LN_OPTIMIZE_TARGET = 2, // rules of the target alone: they choose layouts and kernels
};

/** What became of a rule whose pattern matched operators. */
typedef enum ln_rule_outcome {
    LN_RULE_APPLIED,
    LN_RULE_CONDITION, // one of its conditions is false; `text`: as in its description
    LN_RULE_READERS, // it removes tensor `text`, which other operators read, or which is an output
    LN_RULE_SIZES,   // it is not valid for open sizes, and the operators have some
    LN_RULE_ORDER,   // it would move accesses to memory past an operator that writes it in place
    LN_RULE_OUTRANKED, // it would apply, but the rule `text` was tried before
} ln_rule_outcome;

/** Of a rule and the operators that its pattern matched, for ln_context_watch_rules. All is
 * borrowed until the function returns. */
typedef struct ln_rule_event {
    const char *rule;
    ln_rule_outcome outcome;
    const ln_op *op;  // the last of the operators
    const char *text; // see ln_rule_outcome; or NULL
} ln_rule_event;

typedef void (*ln_rule_func)(void *data, const ln_rule_event *event);

typedef struct ln_context {
    ln_hash *tensor_table;              // the tensor table
    ln_hash *op_table;                  // the operator table
    ln_dfg *dfg;                        // the data flow graph
    ln_list *ops;                       // the operator list
    void *mem_starts[LN_MEM_TYPE_SIZE]; // the memory start addresses
    size_t mem_sizes[LN_MEM_TYPE_SIZE]; // the memory sizes

    // Beyond the documented fields.
    ln_error *error;       // the last error
    ln_msg_func msg_func;  // receives warnings and debug lines; or NULL
    void *msg_data;        // its first argument
    char *source;          // the model's name for messages
    char *target;          // the target it is compiled for, or NULL
    ln_list *inputs;       // names (char *) of the model's inputs, in order
    ln_list *outputs;      // names (char *) of the model's outputs, in order
    int declared;          // LN_DECLARES_*: whether the model names these
    tl_pool *pool;         // threads; NULL: one
    int threads;           // by ln_context_set_threads; -1: not set
    int planned_threads;   // threads that the plan has scratch memory for; 0: no plan fits
    tl_isa isa;            // the max instruction set of kernels
    uint64_t seed;         // of random tensors
    uint64_t random;       // state of the generator, from the seed at load; unused in bodies
    int optimize;          // 0: lowering only, the reference program; or LN_OPTIMIZE_..
    ln_list *rules;        // ln_rule_count: rules that fired, in order of first firing
    ln_list *disabled;     // names (char *) of disabled rules
    ln_hash *tuned;        // measured shape -> fastest algorithm; NULL: nothing is measured
    ln_hash *unique;       // the next number for each prefix of new names
    ln_list *last;         // the last node of ops
    ln_list *last_input;   // the last node of inputs
    ln_list *last_output;  // the last node of outputs
    ln_hash *input_names;  // the names in inputs -> their numbers, from 1
    ln_hash *output_names; // the names in outputs -> their numbers, from 1
    ln_list *missing;      // names (char *) of tensors that still need external data
    int keep;              // every tensor has separate memory, so it can be read after a run
    int stale;             // a constant or a parameter was set after load: bits of run/ln_update.h
    struct ln_weights *weights;     // data of the model's own file; or NULL
    struct ln_weights *given;       // data that another file or the caller has set
                                    // instead since the context was loaded; or NULL
    ln_hash *kept;                  // results of load that updates need repeatedly
    struct ln_bindings *bound;      // the arguments of ln_context_bind_*
    char *datafile;                 // the weight file that was named before the model is read
    struct ln_weights *params;      // its tensors, without data, if the format needs them
    struct ln_fixed *fixed;         // values that the program depends on
    struct ln_rewriting *rewriting; // the state of active passes, or NULL
    struct ln_context *outer;       // of a body (ln_body.h): the context whose operators run it
    ln_list *bodies;                // ln_context of the bodies, in order
    ln_list *last_body;             // the last node of bodies
    ln_hash *body_names;            // their names -> ln_context
    struct ln_body *body;           // of a body: its own data
    ln_list *folders;               // names (char *) of the folders of ln_context_allow_folder
    struct ln_store *store;         // constants shared with other contexts
                                    // (run/ln_store.h), set before load; or NULL
    int many_shapes;                // programs for other shapes share its constants:
                                    // constants that they pack are packed here, too
    struct ln_sharing *sharing;     // its shared constants, and its own memory (run/ln_sharing.h)
    struct ln_limits *limits;       // resource limits; of a body: those of the outer context
    tl_dtype precision;             // precision of products: TL_FLOAT, TL_FLOAT16, TL_BFLOAT16
    int allows_tf32;                // their float32 factors may round to 10 bits of mantissa
    int n_model_nodes;              // nodes of the model that operators were made of (ln_op_node)
    int notes;                      // bits of the target: what its rules keep about the whole model
    int has_writers;                // it has, or had, an operator that writes in place
    uint64_t run_number;   // of the current run, from 1: shows operators on other devices than
                           // the CPU that a new run has begun
    int is_stepwise;       // each operator of the run is done when its `run` returns, since
                           // its time is measured, or its results are read
    tl_strings strings[2]; // strings created at load, and by the last run [is_running]
    ln_op **steps;         // the operators of a run, in order, up to NULL; NULL: not loaded
    struct ln_named_axis *named_axes; // of inputs, which a run compares (ir/ln_sizes.h); or NULL
    int is_running;                   // 1: a run has begun since the context was loaded, or updated
    int has_new_shapes;               // the next run checks the named sizes of inputs
    ln_list *texts;                   // strings that the caller has set (run/ln_texts.c)
    char *output_folder;              // the folder of ln_context_allow_output; or NULL
    struct ln_symbols *symbols; // of sizes that are known only at run time (ir/ln_sizes.h); or NULL
    uint64_t device_ns;         // if not 0: the time of its last operator on its device, which
                                // ln_context_run_timed reads and resets
    ln_rule_func rule_func;     // of ln_context_watch_rules; or NULL
    void *rule_data;            // its first argument
} ln_context;

/** The number of times that a rule fired. */
typedef struct ln_rule_count {
    const char *name;
    int count;
} ln_rule_count;

// Errors

/** Records the reason (the first since the last clearing wins) and returns -1. `ctx` NULL: the
 * calling thread's record. */
LN_API int ln_fail(const ln_context *ctx, const char *fmt, ...) LN_PRINTF(2, 3);

/** As ln_fail, with a status (ln_api.h). Returns -1. */
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

/** The last error, or ""; valid until the next call on the context. NULL: the thread's. */
LN_API const char *ln_context_error(const ln_context *ctx);

/** Clears the recorded error. */
LN_API void ln_context_clear_error(const ln_context *ctx);

// Life

/** Returns new (ln_context_free): an empty context. NULL with the thread's last error. */
LN_API ln_context *ln_context_create(void);

/** Frees the context and all that it owns. Ignores NULL, and accepts half-built ones. */
LN_API void ln_context_free(ln_context *ctx);

/** Reads the model from the file `source`: JSON IR, a compiled
 * model with its weights (ln_context_save), or another format
 * of this build (ONNX), recognized by content. On failure the
 * context is unchanged: empty, or with its current model. */
LN_API int ln_context_init(ln_context *ctx, const char *source);

/** As ln_context_init, from `len` bytes; `name` replaces the file name in messages. */
LN_API int ln_context_init_text(ln_context *ctx, const char *name, const char *text, size_t len);

/** Writes the names of the model formats that this build reads, "JSON IR,
 * ONNX", to `buf` of `size` bytes, truncated if necessary. Returns buf. */
LN_API char *ln_sprint_formats(char *buf, size_t size);

/** An operator of a model format: its type, its domain ("": the format has none), and the types of
 * LightNet's operators that it is translated to, with blanks between; none: it is computed when the
 * model is read. Constants. */
typedef struct ln_format_operator {
    const char *type, *domain, *ops;
} ln_format_operator;

/** Operator `i` of those that this build reads in formats that list them (ONNX). 0: no more. */
LN_API int ln_format_operator_at(size_t i, ln_format_operator *op);

/** The type of a file by its content: "an ONNX model", "an NNVM graph", "an
 * IL model", "a compiled model", "weights", or a name of ln_content_of (a
 * constant). NULL: JSON IR, an unknown format, or an unreadable file. */
LN_API const char *ln_file_kind(const char *file);

/** Returns the location of a part of JSON IR in the text that a program translated to it,
 * as "FILE:LINE"; NULL: unknown. `body`: the body with the part (ln_body.h), NULL: the top
 * level. `key`: "ops" for the `i`-th operator, or another key; NULL: the whole body. */
typedef const char *(*ln_place_func)(const void *data, const char *body, const char *key, size_t i);

/** As ln_context_init_text, from JSON IR that the program has translated from another text:
 * messages begin with the location that `place` returns, or with `name` if it is unknown. */
LN_API int ln_context_init_ir(ln_context *ctx, const char *name, const char *json, size_t len,
                              ln_place_func place, const void *data);

// Before ln_context_init, for a model with open input sizes:

/** Sets the shape of input `name`: open dimensions of the model get these
 * sizes, others must agree. `name` may also be a single open dimension: `ndim`
 * is 1 then. The last call for a name applies, to all models that the context
 * reads; models without such an input or dimension are rejected. */
LN_API int ln_context_bind_shape(ln_context *ctx, const char *name, int ndim, const int *dims);

/** As ln_context_bind_shape, for sizes that change between runs: an open
 * dimension is in `min` .. `max`, and ln_context_set_shape sets it
 * before a run. If both are equal, the size is fixed. -1: invalid range.
 * Formats without open dimensions reject a range when a model is read. */
LN_API int ln_context_bind_range(ln_context *ctx, const char *name, int ndim, const int *min,
                                 const int *max);

/** Declares the open size `name` as the sum of up to four other sizes, bound by
 * ln_context_bind_shape or ln_context_bind_range, and numbers below 10^9: "past + new" for the
 * length of a decoder's mask. One program then serves all their lengths, since it need not handle
 * others; each run checks the sum. */
LN_API int ln_context_bind_sum(ln_context *ctx, const char *name, const char *sum);

/** Sets input `name` (copied) before the model is read: its shape is bound
 * as by ln_context_bind_shape, and the model may compute shapes from its
 * elements. `name` NULL: the k-th such call binds the k-th input that is
 * not bound by name; `value` NULL skips that input. The run still needs
 * the input's data; if shapes depend on it, other data is rejected. */
LN_API int ln_context_bind_input(ln_context *ctx, const char *name, const tl_tensor *value);

/** As ln_context_bind_input, of an input that is a sequence of `n` tensors (copied, with their data
 * or without), or an optional value: the tensors of its element, or n -1 if it is absent. The
 * tensors are separate inputs, NAME[0], NAME[1] .., which ln_context_bind_input can bind
 * instead; an optional tensor is NAME. Its length alone can be bound as a shape [n]. */
LN_API int ln_context_bind_sequence(ln_context *ctx, const char *name, int n,
                                    const tl_tensor *const *tensors);
/** An operator that a model needs and LightNet lacks. Strings are borrowed from the file. */
typedef struct ln_missing_op {
    const char *domain; // of ONNX; "": the one of the format itself
    const char *optype;
    int version;        // of the operator set of the domain; 0: unknown
    int count;          // nodes of this operator
    const char *first;  // the name or the position of the first one; "": it has none
    const char *reason; // one line
} ln_missing_op;
typedef void ln_missing_func(void *data, const ln_missing_op *op);

/** When reading a model fails, calls `func` with each unsupported operator. If all operators are
 * supported, calls it with the first node that is rejected because of an attribute, a type or a
 * shape. `func` NULL: no such calls. -1: no memory. */
LN_API int ln_context_set_missing(ln_context *ctx, ln_missing_func *func, void *data);

/** Sets the weight file of a later ln_context_load. Formats such as NNVM, whose graphs neither
 * distinguish parameters from inputs nor specify shapes, use it when the model is read. */
LN_API int ln_context_bind_file(ln_context *ctx, const char *datafile);

/** Allows the model to use files in and below `folder`. By default, files that
 * a model names, such as ONNX external data, must be in the folder of the
 * model, also through links. Other files are searched in the allowed folders,
 * in the order of the calls. -1: `folder` cannot be opened as a folder. */
LN_API int ln_context_allow_folder(ln_context *ctx, const char *folder);

/** Allows operators of the model to write: `print` to standard output, and `fprint` regular files
 * in and below `folder`, not through links. "-": to standard output alone. Without this, a model
 * with such an operator is rejected when it is read. Operators that the program itself adds are not
 * checked, but then also write beneath `folder`. Before the model is read. -1: `folder` cannot be
 * opened as a folder, the context holds a model. */
LN_API int ln_context_allow_output(ln_context *ctx, const char *folder);

/** Rewrites the model for `target` ("cpu") and plans its memory. Unknown target:
 * the message lists the known ones. If a rewrite or the plan fails, the context
 * is empty, as after ln_context_cleanup: a half-rewritten model is useless. */
LN_API int ln_context_compile(ln_context *ctx, const char *target);

/** Writes the operators in their current order as JSON to `outfile` ("-": standard
 * output); a compiled model with its memory plan. On failure no file remains. */
LN_API int ln_context_print(const ln_context *ctx, const char *outfile);

/** Writes the model as it was read, not compiled, to `file` ("-": standard output):
 * in `format` "ir", as ln_context_print does, or another supported format; the
 * message for an unknown one lists them. "onnx" has the weights in the file, and
 * "onnx-external", as "onnx" does beyond 2 GB, in FILE.data beside it. `datafile`:
 * weights as for ln_context_load, or NULL, for formats with weights; "ir" omits even
 * those of the model's own file, which ln_data_save writes. On failure no file
 * remains. */
LN_API int ln_context_write(ln_context *ctx, const char *datafile, const char *format,
                            const char *file);

/** As ln_context_write in format "ir", to a stream. */
LN_API int ln_context_write_ir(ln_context *ctx, const char *datafile, FILE *stream);

/** Reads the model in the file `source` and writes it in `format` to `file`, as
 * ln_context_init and ln_context_write do. A graph that keeps its format, such as
 * NNVM, is converted without reading it if possible, so the shapes of its inputs may
 * be unknown; the context is empty then. Weights are those of ln_context_bind_file. */
LN_API int ln_context_convert(ln_context *ctx, const char *source, const char *format,
                              const char *file);

/** As ln_context_convert, from `len` bytes; `name` replaces the file name in messages. */
LN_API int ln_context_convert_text(ln_context *ctx, const char *name, const char *text, size_t len,
                                   const char *format, const char *file);

/** Writes the compiled model as one safetensors file for ln_context_init: with its
 * weights in packed form, so that reading it neither compiles nor packs. `datafile`
 * as for ln_context_load; inputs need no data. The context is not loaded.
 * Afterwards it holds the same model as the file: constants that runs do not read
 * are removed, and ln_context_set_data names them. On failure no file remains, and
 * the context is unchanged, holds the model of the file, or is empty. */
LN_API int ln_context_save(ln_context *ctx, const char *datafile, const char *file);

/** As ln_context_save, with `n` compiled contexts in one file: programs of one
 * model for different shapes; a reader selects the one for its shapes. Constants
 * that several of them share are stored once; for that, set many_shapes of each
 * context before it is compiled. Errors are in the first context. */
LN_API int ln_context_save_all(ln_context *const *programs, int n, const char *datafile,
                               const char *file);

/** Allocates the planned memory, reads `datafile` (wts or safetensors, or NULL), and computes all
 * constants once. A constant that a rule has folded into an operator must keep its value. */
LN_API int ln_context_load(ln_context *ctx, const char *datafile);

/** Copies ln_context_data_size() bytes from `data` to the tensor. The context is loaded.
 * A constant that is set counts as an input: the next run recomputes exactly the values
 * that load computed from it. Such a result cannot be set, nor a constant that a rule has
 * folded into an operator, to another value. `data` is not NULL. */
LN_API int ln_context_set_data(ln_context *ctx, const char *tname, const void *data);

/** Sets the shape of input `tname` with open sizes (ln_context_bind_range); initially
 * it is the maximum shape. ln_context_set_data then copies the bytes of this shape.
 * -1: no such input, another number of dimensions, a dimension out of range. */
LN_API int ln_context_set_shape(ln_context *ctx, const char *tname, int ndim, const int *dims);

/** Copies the tensor's bytes to `data`; NULL: to new memory that the caller
 * frees. NULL on failure. Only tensors whose memory outlives the run can be
 * read: inputs, outputs, constants, and tensors that nothing overwrote. */
LN_API void *ln_context_get_data(ln_context *ctx, const char *tname, void *data);

/** Bytes of the tensor's data; 0 with a reason: no such tensor. For a
 * tensor of dynamic size (its entry in the tensor table has isdynamic
 * set): the bytes of the last run's result, and before the first run those
 * of the maximum; dims and len of the entry's tl_tensor are its shape. */
LN_API size_t ln_context_data_size(ln_context *ctx, const char *tname);

/** Sets a parameter; the value's type is the parameter's: double for a number, int
 * for a bool, const char * for a string, and int len, pointer for an array. Checks
 * the operators again. Shapes may change only before compiling. On failure the old
 * value is restored; without memory for that, the context is empty. */
LN_API int ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...);

/** Runs the operators in the order of ctx->ops. The context is loaded. -1: an input
 * without data in the model, such as those of ONNX models, or a weight, was never set. */
LN_API int ln_context_run(const ln_context *ctx);

/** As ln_context_run, adding to ns[i] the nanoseconds that the i-th operator of ctx->ops took. */
LN_API int ln_context_run_timed(const ln_context *ctx, uint64_t *ns);

/** As ln_context_run, calling seen(data, op) after each operator of ctx->ops, in
 * order; `seen` is also called for operators that ran at load, which do not run
 * again. It may read the outputs of the operator, and change them for later
 * operators. -1: also if `seen` returns a value other than 0, which ends the run. */
LN_API int ln_context_run_each(const ln_context *ctx, int (*seen)(void *data, const ln_op *op),
                               void *data);

/** Statistics of a model and of a run. */
typedef struct ln_stats {
    int ops;             // operators, those of bodies too
    int ops_at_load;     // of these, the ones that run at load only
    int views;           // of these, the ones that compute nothing
    size_t params;       // ln_context_num_params of all constants of the model
    size_t param_size;   // their bytes
    double macs;         // multiply-accumulates of a run, as far as operators report them
    size_t memory;       // planned bytes of main memory
    size_t memory_bound; // the max sum of live sizes, a lower bound of any plan
} ln_stats;

/** Computes the statistics; memory is 0 before compiling. */
LN_API int ln_context_stats(const ln_context *ctx, ln_stats *stats);

/** The number of parameters that a constant of the model holds: its elements, or those that
 * operators unpack from its bytes (LN_TRAIT_UNPACKS). */
LN_API size_t ln_context_num_params(const ln_context *ctx, const ln_tensor_entry *te);

/** Frees the memory of ln_context_load. */
LN_API void ln_context_unload(ln_context *ctx);

/** Undoes ln_context_init: the context is empty again. */
LN_API void ln_context_cleanup(ln_context *ctx);

/** Receives an input or output: its name, its type and shape (without
 * data; an open size is -1), and the shape as text: "[1, sequence of
 * 1..512]", or "[8, 4] at most" if it depends on data. */
typedef void (*ln_port_func)(void *data, const char *name, const tl_tensor *info,
                             const char *shape);

/** Calls inputs(data, ..) for each input of the model that was read, then outputs(data, ..) for
 * each output, in order; NULL: not for these. -1: no memory. */
LN_API int ln_context_describe(const ln_context *ctx, ln_port_func inputs, ln_port_func outputs,
                               void *data);

// Settings, before compiling or loading

/** Threads for runs; 0: all cores available. Default: LIGHTNET_NUM_THREADS, else
 * 1. A model that was compiled for another number gets a new memory plan at load.
 * Threads beyond the number of cores, and those that the system refuses, are not
 * started: the others do their work. A loaded context must be unloaded first. */
LN_API int ln_context_set_threads(ln_context *ctx, int n);

/** Seed of random tensors, and of random operators without their own seed, whose sequences
 *  restart when the context is loaded (default 0). */
LN_API void ln_context_set_seed(ln_context *ctx, uint64_t seed);

/** Starts a new sequence for random operators without a seed: other numbers than those of
 *  any other context or process. For a loaded context. Asks the system for entropy only if there
 *  are such operators. The numbers are not suitable for cryptography. */
LN_API void ln_context_refresh_random(ln_context *ctx);

/** Disables the rewrite `rule`. -1: unknown name, or the model is compiled already. */
LN_API int ln_context_disable_rule(ln_context *ctx, const char *rule);

/** While the model is compiled, calls `func` with each rule whose pattern, with its parameters,
 * matches operators, and with what became of it; for rules that were not applied, on each try of
 * one. Of rules that are functions in C, only with those that were applied. Does not change the
 * program. `func` NULL: no such calls. */
LN_API void ln_context_watch_rules(ln_context *ctx, ln_rule_func func, void *data);

/** Compiles to the reference program: operators lowered one to one, nothing fused, plain C kernels,
 *  separate memory for each tensor. */
LN_API void ln_context_set_reference(ln_context *ctx);

/** Plans separate memory for each tensor: runs leave all of them readable. Before compiling. */
LN_API void ln_context_keep_all(ln_context *ctx);

/** Enables tuning: if an operator has several algorithms, compiling measures
 * the fastest on this machine, with the context's threads and instruction
 * set, instead of estimating it: each shape once, in some tenths of a second.
 * The compiled model stores the result. -1: the model is compiled already. */
LN_API int ln_context_set_tuning(ln_context *ctx);

/** Sets the precision of matrix products and convolutions for compiling: "float32", that of the
 * model (the default; matrix units then multiply floats as sums of three bfloat16, with errors like
 * those of floats), or "bf16": they round their sources to bfloat16, and sum in floats, if the
 * CPU multiplies that faster. The error of a product is then within 2^-8 of the product of
 * magnitudes. Results of convolutions, and added tensors, may also be rounded to bfloat16, within
 * 2^-9, if only convolutions read them. For the target cuda: "tf32", which rounds operands of
 * products to 10 bits of mantissa, and "fp16" and "bf16", in which the whole network computes.
 * ln_context_compile warns if the target lacks the precision (ln_arch.h), and uses float32. -1:
 * unknown name, or the model is compiled already. */
LN_API int ln_context_set_precision(ln_context *ctx, const char *name);

/** Adds tensor `tname` to the outputs (it then survives the run). An error once compiled. */
LN_API int ln_context_add_output(ln_context *ctx, const char *tname);

// Limits of reading, compiling, loading and running. A call that reaches one fails with a
// message that names the limit, and leaves the context as documented for its failures.

typedef enum ln_limit {
    /** Bytes of memory of the context: operators, constants, and the memory of runs.
     * Sizes that only the model determines are rejected before the allocation. Set
     * it before the model is read: earlier allocations do not count. Of large files
     * only the parts that are read count. Memory that the thread gets from Jansson
     * in a call counts, too, also in callbacks. Default 0: no limit. */
    LN_LIMIT_MEMORY,
    /** Milliseconds from the call of ln_context_set_limit on, after which the context stops
     * its work; for a limit of each run, set it before each run. Default 0: no limit. */
    LN_LIMIT_TIME,
    /** Operators, including those of bodies and of inlined model functions. Default 250000. */
    LN_LIMIT_OPS,
    /** Bytes of memory to fold a constant while a model is read;
     * larger ones are computed by ln_context_load. Default 64 MiB. */
    LN_LIMIT_FOLD_MEMORY,
    /** Milliseconds of CPU time for that. Default 100. */
    LN_LIMIT_FOLD_TIME
} ln_limit;

/** Sets a limit, before or between calls; 0: no limit. -1: invalid limit. */
LN_API int ln_context_set_limit(ln_context *ctx, ln_limit limit, uint64_t value);

/** The limit; 0: none. */
LN_API uint64_t ln_context_limit(const ln_context *ctx, ln_limit limit);

/** Stops the work of the context, and prevents new work of long duration, until
 * ln_context_resume: the current call fails with "cancelled". Any thread may
 * call it, at any time before ln_context_free. It is polled between operators,
 * iterations of a loop, steps of compiling, and pieces of large weights, and
 * within long kernels. A stopped run leaves its results, and tensors that
 * operators write in place, undefined; the next run is correct. */
LN_API void ln_context_cancel(ln_context *ctx);

/** 0 if the context may go on; -1 with the reason: cancelled, or its time limit has passed. */
LN_API int ln_context_check_limits(const ln_context *ctx);

/** Calls work(ctx, data) as one call on the context, for programs that build its input: allocations
 * of `work` by ln_alloc and similar functions count toward the memory limit, and a failure to
 * allocate names the limit. Returns the result of `work`: 0, or -1 with a reason in the context. */
LN_API int ln_context_do(ln_context *ctx, int (*work)(ln_context *ctx, void *data), void *data);

/** Reverts ln_context_cancel. Call it between calls, in the thread that makes them. */
LN_API void ln_context_resume(ln_context *ctx);

// For passes: change operators and all dependent data. The context takes new
// operators even if the call fails; after a failure it can only be cleaned up. The
// operators of a loaded context cannot change: such calls fail and change nothing.

/** Calls each pre_run of ctx->ops; adds operators and tensors to the tables and the graph. */
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

/** Substitutes `new_ops` (takes them) for `old_ops`, whose last operator
 * is the last in list order: the new ones are inserted at its position. */
LN_API int ln_context_subgraph(ln_context *ctx, ln_list *old_ops, ln_list *new_ops);

/** 0 if the operators in the list, their tensors, the tables and the graph
 * agree, and no operator writes a tensor in place that a no-copy join
 * has made part of another; otherwise -1 with the first inconsistency. */
LN_API int ln_context_check(const ln_context *ctx);

/** Undoes and repeats every pre_run, so that all private data is
 * fresh; keeps planned offsets. A loaded context stays loaded, with
 * its data. On failure (no memory) such a context is empty. */
LN_API int ln_context_rebind(ln_context *ctx);

/** Allocates zeroed memory of ctx->mem_sizes and sets every tensor's address. After planning. */
LN_API int ln_context_alloc_mem(ln_context *ctx);

/** Frees it. */
LN_API void ln_context_dealloc_mem(ln_context *ctx);

/** Writes a name that no operator and no tensor has, `prefix` and
 * a number, to `buf` (LN_MAX_NAME_LEN bytes), in constant time. */
LN_API int ln_context_unique_name(const ln_context *ctx, char *buf, const char *prefix);

/** The producer of tensor `tname`, or NULL. Returns borrowed (until the list changes). */
LN_API ln_op *ln_context_creater(const ln_context *ctx, const char *tname);

/** Whether an operator writes the memory of tensor `tname` in place: then its value depends on the
 * order of the operators. */
LN_API int ln_context_is_mutated(const ln_context *ctx, const char *tname);

/** Begins before the first input, or output, of the model's file. Valid until the context
 * changes. */
LN_API ln_value_walk ln_context_walk_values(const ln_context *ctx, int is_output);

/** The next input, or output: its tensors in the context. Of formats without sequences, and of
 * compiled models, each is one tensor. -1: none. info->name is borrowed (until the context
 * changes). */
LN_API int ln_value_walk_next(ln_value_walk *walk, ln_value_info *info);

/** The number of operator arguments that read tensor `tname`, plus one for a model output. */
LN_API int ln_context_num_uses(const ln_context *ctx, const char *tname);

/** Whether `tname` is an output of the model (declared, or without readers if none is declared).
 */
LN_API int ln_context_is_output(const ln_context *ctx, const char *tname);

/** The same for an entry of the tensor table, without a search, if an
 * operator of the context produces or reads it. 0 and NULL for others. */
LN_API ln_op *ln_entry_creater(const ln_tensor_entry *te);
LN_API int ln_entry_is_mutated(const ln_tensor_entry *te);
LN_API int ln_entry_num_uses(const ln_tensor_entry *te);
LN_API int ln_entry_is_output(const ln_tensor_entry *te);

LN_END_DECLS

#endif
