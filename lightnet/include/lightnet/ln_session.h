// SPDX-License-Identifier: Apache-2.0
// The API for applications: a model that is read once, and sessions that run it, one per thread.
//
//     ln_model *model;
//     ln_session *session;
//     ln_status status = ln_model_open("resnet50.onnx", NULL, &model);
//     if (status != LN_OK)
//         return fprintf(stderr, "%s\n", ln_model_error(model)), 1;
//     status = ln_session_create(model, &session);
//     if (status == LN_OK)
//         status = ln_session_set_input(session, "image", TL_FLOAT, 4,
//                                       (const int[]){1, 3, 224, 224}, pixels);
//     if (status == LN_OK)
//         status = ln_session_run(session);
//     const tl_tensor *probs = ln_session_output(session, "probabilities");
//     if (!probs)
//         fprintf(stderr, "%s\n", ln_session_error(session));
//     ln_session_free(session);
//     ln_model_free(model);
//
// Threads may share a model. A session belongs to one thread at a time; only
// ln_session_cancel may come from others. Sessions of one model run concurrently. A
// run accepts inputs of any shape that the model allows: the first run with new shapes
// compiles a program for them, which the model caches for all its sessions. Sizes that
// keep changing soon share one program. After fork(), the child may use and free the
// models and sessions of its parent that no other thread used at that moment.
//
// Functions return LN_OK, which is 0, or an error status (ln_api.h), with a
// message in ln_session_error or ln_model_error. They reject NULL handles and NULL
// arguments unless documented otherwise. Names are UTF-8, as in the model file.

#ifndef LN_SESSION_H
#define LN_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_value_info.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

typedef struct ln_model ln_model;     // the content of a file, and its compiled programs
typedef struct ln_session ln_session; // inputs, memory of one run, outputs
typedef struct ln_options ln_options; // how a model is read and run
typedef struct ln_pool ln_pool;       // threads that models share
struct ln_memory_block;               // of a memory plan: ln_memory_plan.h
struct ln_memory_total;

// Options

/** Returns new (ln_options_free): the defaults. NULL: no memory. */
LN_API ln_options *ln_options_create(void);

/** Ignores NULL. */
LN_API void ln_options_free(ln_options *options);

/** Sets an option; the message for an unknown key lists the known ones:
 *
 *  | key             | value                                                                    |
 *  |-----------------|--------------------------------------------------------------------------|
 *  | target          | the target to compile for: cpu (default), or one of a plug-in            |
 *  | threads         | of each run, 1 to 1024; 0: all that the process may use. Default:        |
 *  |                 | LIGHTNET_NUM_THREADS, else 0. 1: runs use the calling thread alone       |
 *  | shape           | NAME=1x3x224x224, of an input, NAME=8, of an open size, or NAME=2, the   |
 *  |                 | length of a sequence; a size may be a range, 1..512. Runs stay within    |
 *  |                 | it, and within the model. May be set for several names, and several      |
 *  |                 | times: all apply                                                         |
 *  | weights         | the weight file, for formats with separate weights                       |
 *  | folder          | also searched for files that the model names; may be set several times   |
 *  | allow_output    | a folder: operators of the model may write regular files in it, and      |
 *  |                 | print to standard output; -: print alone. Default: opening rejects       |
 *  |                 | models with the operators print and fprint                               |
 *  | seed            | of random tensors (default 0), and of random operators without a seed of |
 *  |                 | their own, which then draw the same in each session. Default: each       |
 *  |                 | session draws other numbers                                              |
 *  | reference       | yes: run the operators one by one on plain C kernels                     |
 *  | unoptimized     | yes: apply only the rules of the target, which choose its fast kernels   |
 *  | precision       | bf16: products, convolutions may round to bfloat16; tf32 and fp16 are    |
 *  |                 | for the target cuda (ln_context.h), and warn with others                 |
 *  | tuning          | yes: measure and select the fastest kernels when a program is compiled   |
 *  | map             | yes: map a compiled model in one file, so that processes share its       |
 *  |                 | weights. The caller guarantees that the file does not change or shrink   |
 *  |                 | while the model lives: otherwise SIGBUS may end the process              |
 *  | disabled_rule   | the name of a rewrite to disable; may be set several times               |
 *  | output          | the name of a tensor of the model that becomes an output, after those    |
 *  |                 | of the file; may be set several times. Compiled models reject it; with   |
 *  |                 | open sizes, an unknown name fails the first run                          |
 *  | memory_limit    | max bytes of the model, its constants, counted once, and one program      |
 *  |                 | with the memory of its runs (default 0: no limit); excludes memory that  |
 *  |                 | the caller sets or binds, and further sessions                           |
 *  | operators_limit | max operators of a program (default 250000; 0: no limit)                 |
 *  | constant_limit  | max bytes to fold a constant while the model is read (default            |
 *  |                 | 64 MiB; 0: no limit); load computes larger ones                          |
 *  | open_timeout    | milliseconds after which opening ends with LN_LIMIT_REACHED (default 0:  |
 *  |                 | never); runs have ln_session_set_timeout                                 |
 *  | programs        | unused programs that the model caches (default 16)                       |
 */
LN_API ln_status ln_options_set(ln_options *options, const char *key, const char *value);

/** Sets input `name` for opening a model whose inputs and outputs depend on it: an ONNX model
 * with sequences or optional values. Other models ignore it. The value is copied; without data, it
 * is a type and a shape. With data, the model may compute shapes from its elements, and runs then
 * reject other elements. Each run still needs the input. */
LN_API ln_status ln_options_bind_input(ln_options *options, const char *name,
                                       const tl_tensor *value);

/** The same for a sequence of `n` tensors, or an optional value: the tensors of its element, or n
 *  -1 if it is absent. Without a call, optional values are absent. */
LN_API ln_status ln_options_bind_sequence(ln_options *options, const char *name, int n,
                                          const tl_tensor *const *tensors);

/** Runs use `pool` (keeps a reference) instead of option "threads"; NULL: resets this. */
LN_API ln_status ln_options_set_pool(ln_options *options, ln_pool *pool);

/** Receives a message, one line without its newline: `level` 0 is debug, 1 information,
 *  2 a warning. Called in the thread that opens the model or runs the session. */
typedef void (*ln_message_func)(void *data, int level, const char *text);

/** Models pass messages to func(data, ..); NULL (default): messages are discarded. */
LN_API ln_status ln_options_set_messages(ln_options *options, ln_message_func func, void *data);

/** Returns new (ln_pool_free): `n` threads, including the calling
 *  one; 0: all that the process may use. Concurrent runs share it. A
 *  model without its own pool uses the process-wide pool for
 *  its number of threads. NULL: n is not in 0 .. 1024, no memory. */
LN_API ln_pool *ln_pool_create(int n);

/** Ignores NULL. Models and options that use the pool keep it. */
LN_API void ln_pool_free(ln_pool *pool);

// Models

/** Reads the model in `file`, in any format of ln_build_info; `options` (borrows) may be
 *  NULL. The file stays open, and must not change, while the model lives. *model: new
 *  (ln_model_free); NULL after a failure, whose reason is in ln_model_error(NULL). A model
 *  with fixed input shapes is compiled at once, others in the first run with new shapes. What no
 *  shape decides is checked at once: LN_UNSUPPORTED names all operators that LightNet lacks. */
LN_API ln_status ln_model_open(const char *file, const ln_options *options, ln_model **model);

/** The same from `size` bytes, which are copied. `name` replaces the file name
 *  in messages, and its folder contains the files that the model names. */
LN_API ln_status ln_model_open_memory(const char *name, const void *bytes, size_t size,
                                      const ln_options *options, ln_model **model);

/** Ignores NULL. Sessions of the model may live longer. */
LN_API void ln_model_free(ln_model *model);

/** The error of the calling thread's last call without a session; `model`
 *  may be NULL. Returns borrowed (until the thread's next call). */
LN_API const char *ln_model_error(const ln_model *model);

/** The number of required inputs: without those with a default value, which may be set by name. */
LN_API int ln_model_num_inputs(const ln_model *model);
LN_API int ln_model_num_outputs(const ln_model *model);

/** The name of input, or output, `i`. Returns borrowed, as long as the model lives; NULL: `i` is
 *  out of range. */
LN_API const char *ln_model_input_name(const ln_model *model, int i);
LN_API const char *ln_model_output_name(const ln_model *model, int i);

/** The index of the input, or output, of that name; -1: none. */
LN_API int ln_model_input_index(const ln_model *model, const char *name);
LN_API int ln_model_output_index(const ln_model *model, const char *name);

/** The type and shape of input, or output, `i` in the file. dims has -1 for open
 *  sizes; ndim is -1, and dims NULL, if the number of dimensions is unknown;
 *  len is the number of elements, -1 if a size or their number is not known;
 *  dtype is TL_DTYPE_INVALID if the file specifies no type of an output, or an
 *  unsupported one. data is NULL. Returns borrowed and NULL as above. */
LN_API const tl_tensor *ln_model_input_info(const ln_model *model, int i);
LN_API const tl_tensor *ln_model_output_info(const ln_model *model, int i);

/** The name of an open size, such as "batch"; NULL: none. In each run, sizes of one name are equal.
 *  Returns borrowed, as above. */
LN_API const char *ln_model_input_dim_name(const ln_model *model, int i, int axis);
LN_API const char *ln_model_output_dim_name(const ln_model *model, int i, int axis);

/** The bounds of a size of an input, or output: *min and *max are equal for a fixed size, 0 and
 *  INT_MAX for one without bounds. An output has the bounds of the inputs with sizes of its
 *  name. A compiled model with several programs has the min and max over all; its metadata has
 *  the shapes of each. LN_BAD_ARGUMENT: `i` or `axis` is out of range, a NULL. */
LN_API ln_status ln_model_input_bounds(const ln_model *model, int i, int axis, int *min, int *max);
LN_API ln_status ln_model_output_bounds(const ln_model *model, int i, int axis, int *min, int *max);

/** Input, or output, `k` of the model's file, counted without inputs that have a default value: its
 *  tensors among the inputs, or outputs. It is one tensor, except sequences and optional values of
 *  ONNX models, whose lengths were set by option "shape", NAME=2, or ln_options_bind_sequence.
 *  LN_NOT_FOUND: none. info->name is borrowed, as long as the model lives. */
LN_API ln_status ln_model_input_value(const ln_model *model, int k, ln_value_info *info);
LN_API ln_status ln_model_output_value(const ln_model *model, int k, ln_value_info *info);

/** The metadata value of `key`; NULL: none. "format" always exists,
 *  and "target" for a compiled model with one program. Those of an
 *  ONNX file are its metadata_props, and "onnx." followed by
 *  producer_name, domain, model_version, doc_string, graph.name or
 *  graph.doc_string, as far as the file has them. "program.1",
 *  "program.2" .. are the shapes that the programs of a compiled
 *  model with several accept, such as "ids [1, sequence of 1..512],
 *  mask [1, 512]". Returns borrowed, as long as the model lives. */
LN_API const char *ln_model_metadata(const ln_model *model, const char *key);

/** The `i`-th key of the metadata; NULL: out of range. Returns borrowed, as above. */
LN_API const char *ln_model_metadata_key(const ln_model *model, int i);

/** The number of programs that were compiled so far, for the shapes of runs: a decoder needs one
 * for its prompt, and one for all further tokens. 0 for NULL. */
LN_API int ln_model_num_programs(const ln_model *model);

/** Whether one program serves all lengths of an open size of the inputs, by the choices of sessions
 * for runs with other lengths. Strings are borrowed, during the call. */
typedef struct ln_open_size {
    const char *name; // in the file, or "x[1]": axis 1 of input x; NULL: all sizes together
    const char *sum;  // of other sizes that it has to be, as "past + new": the program that serves
                      // these serves it, and nothing below is set; NULL: it is independent
    int is_shared;    // 1: one program serves all lengths; 0: each has its own program; -1:
                      // unknown, since the model rejects the lengths that were tried
    const char *op;   // the operator that prevents it, "": one without a name; NULL: none
    const char *optype; // its type, in the file or in a program; NULL: none
    const char *reason; // one line; NULL: is_shared is 1
} ln_open_size;
typedef void (*ln_open_size_func)(void *data, const ln_open_size *size);

/** Calls func(data, ..) for each open size of the inputs alone (the others are 1, or as in option
 *  "shape"), if at most 16 are independent, then for all together, if several are. Compiles
 * programs without their weights, in some ten milliseconds each. No calls: no size is open, the
 * model is compiled, or not of a format with open sizes, or the number of dimensions of an input is
 * unknown. LN_LIMIT_REACHED: after option "open_timeout", maybe after some calls. */
LN_API ln_status ln_model_check_sizes(const ln_model *model, ln_open_size_func func, void *data);

// Sessions

/** *session: new (ln_session_free), which keeps the model; NULL after a failure,
 *  whose reason is in ln_session_error(NULL). The first run allocates its memory. */
LN_API ln_status ln_session_create(ln_model *model, ln_session **session);

/** Ignores NULL. */
LN_API void ln_session_free(ln_session *session);

/** Sets input `name` to a value (copies it) until it is set again;
 *  a failed call changes nothing. The model must allow the type and
 *  the shape; the run checks whether inputs agree on shared sizes.
 *  `dims` may be NULL if ndim is 0, `data` if a size is 0. Data of TL_STRING are
 *  pointers, const tl_string * (tl_string.h), to UTF-8, which is copied, too. */
LN_API ln_status ln_session_set_input(ln_session *session, const char *name, tl_dtype dtype,
                                      int ndim, const int *dims, const void *data);

/** ln_session_set_input for strings: of TL_STRING, UTF-8 (an input of that type rejects other
 *  text). strings[i] has sizes[i] bytes, which may contain 0; `sizes` NULL: each ends with a 0. */
LN_API ln_status ln_session_set_strings(ln_session *session, const char *name, int ndim,
                                        const int *dims, const char *const *strings,
                                        const size_t *sizes);

/** As ln_session_set_input, but borrows the data until the input is set or bound again:
 *  each run reads it in place. `data` has `size` bytes, at least those of the shape,
 *  and is aligned to the element size. `data` NULL: removes the value of the input.
 *  It must not change during a run, which checks indices and sizes before it uses them.
 *  Strings that `data` points to are borrowed, too, also by outputs of the runs. */
LN_API ln_status ln_session_bind_input(ln_session *session, const char *name, tl_dtype dtype,
                                       int ndim, const int *dims, const void *data, size_t size);

/** Each run writes output `name` to `data` (borrows until it is bound again), which
 *  has `size` bytes and is aligned to the element size; a run with a larger output
 *  fails. Most outputs are computed in place, so `data` is undefined after a failed
 *  run. It may overlap inputs and other outputs: then it is written last. An output that is an
 *  input with other rows (ONNX TensorScatter, the cache of GroupQueryAttention as
 *  onnxruntime-genai binds it) may have the data of that input: only the rows are written. NULL:
 *  unbinds it; the result of the last run is then no longer available. Strings
 *  that it points to live as long as those of ln_session_output. */
LN_API ln_status ln_session_bind_output(ln_session *session, const char *name, void *data,
                                        size_t size);

/** As ln_session_bind_output, for an output of unknown size: a run writes it to `data` if it fits
 *  and is computed in place; ln_session_output shows where it is. */
LN_API ln_status ln_session_offer_output(ln_session *session, const char *name, void *data,
                                         size_t size);

/** The max bytes of output `name` in the program of the last run, which memory for it should have;
 *  0: unknown, or none was run. */
LN_API size_t ln_session_output_capacity(const ln_session *session, const char *name);

/** Links an output to an input of its type: each run reads the result of the run before, as the
 *  keys and values of a decoder ("present.0.key", "past_key_values.0.key") or the state of a
 *  recurrent model. The session keeps this state, and computes the next one in its place. The first
 *  run reads the value of the input if it was set, else zeros: sizes of the names of other inputs
 *  are theirs, and those of other names are 0. Setting the input replaces the state, removing its
 *  value (ln_session_bind_input) resets it. A failed run leaves all states as they were.
 *  ln_session_output has the state after each run; ln_session_bind_output rejects it. NULL
 *  `output`: removes the link and the value of the input. LN_BAD_ARGUMENT: shapes or types of the
 *  two differ, or are strings. */
LN_API ln_status ln_session_link(ln_session *session, const char *output, const char *input);

/** Links each output that an exporter has named after an input, unless one of the two is linked:
 *  present and past_key_values or past, NAME_out or NAME_new and NAME_in or NAME, NAMEn or NAMEN
 *  and NAME. Returns the number of all links; -1: no memory. */
LN_API int ln_session_link_states(ln_session *session);

/** The input that output `name` is linked to; NULL: none. Returns borrowed, as long as the model
 *  lives. */
LN_API const char *ln_session_linked_input(const ln_session *session, const char *name);

/** Resets all states: the next run is the first one again. Ignores NULL. */
LN_API void ln_session_reset_states(ln_session *session);

/** Copies links and states of `from` (borrows), of the same model: the sessions continue from one
 *  point, as several answers to one prompt. A failed call resets all states of `session`. */
LN_API ln_status ln_session_copy_states(ln_session *session, const ln_session *from);

/** Computes the outputs from the inputs. After a failure there are no outputs, and
 *  the session is unchanged: the next run may succeed. LN_BAD_ARGUMENT: an input
 *  has no value, inputs disagree on a size, the model rejects these shapes. */
LN_API ln_status ln_session_run(ln_session *session);

/** Receives the time of an operator of the program: its name, its type and nanoseconds. */
typedef void (*ln_time_func)(void *data, const char *name, const char *type, uint64_t ns);

/** As ln_session_run; then calls func(data, ..) for each operator that a run computes, in execution
 *  order. */
LN_API ln_status ln_session_run_timed(ln_session *session, ln_time_func func, void *data);

/** Receives a node of the model that an operator of the program computes: the operator's name, the
 *  node's name and type. */
typedef void (*ln_node_func)(void *data, const char *op, const char *node, const char *type);

/** Calls func(data, ..) for the nodes of each operator of the last run, as far as they are known: a
 *  compiled model has none. LN_BAD_ARGUMENT: there was no run. */
LN_API ln_status ln_session_nodes(ln_session *session, ln_node_func func, void *data);

/** The memory plan of the program of the last run; before the first run, of the program for the
 *  inputs that are set and the shapes in the model. Calls func(data, ..) (NULL: not) for each
 *  block, fills totals [LN_MEM_TYPE_SIZE] (NULL: not), both as ln_context_memory_plan. Names are
 *  valid during the call. LN_BAD_ARGUMENT: an input without a value has open sizes, `func` ended
 *  the list. */
LN_API ln_status ln_session_memory_plan(ln_session *session,
                                        int (*func)(void *data,
                                                    const struct ln_memory_block *block),
                                        void *data, struct ln_memory_total *totals);

/** An output of the last run. Returns borrowed (until the next call with `session`
 *  other than ln_session_output, ln_session_copy_output and ln_session_error);
 *  NULL: no such output, or no successful run since a failure. Elements of
 *  TL_STRING are const tl_string *, see tl_tensor_string. Strings live until the
 *  next run, or until a bound input with them does not. */
LN_API const tl_tensor *ln_session_output(ln_session *session, const char *name);

/** Copies an output of the last run to `data` of `size` bytes, at least those of the output. */
LN_API ln_status ln_session_copy_output(ln_session *session, const char *name, void *data,
                                        size_t size);

/** Each run, including compiling its program, ends with
 *  LN_LIMIT_REACHED after `ms` milliseconds; 0 (default): no limit. */
LN_API ln_status ln_session_set_timeout(ln_session *session, uint64_t ms);

/** Ends the current run, and each later one, with LN_CANCELLED, until
 *  ln_session_resume. Any thread may call it, at any time before ln_session_free;
 *  it does not wait. Runs poll it between operators and within long ones. */
LN_API void ln_session_cancel(ln_session *session);

/** Reverts all calls of ln_session_cancel so far. Call it in the thread that uses
 *  the session, between runs. Later runs are correct. */
LN_API void ln_session_resume(ln_session *session);

/** The error of the last call with `session`; NULL: of the calling thread's
 *  last call without one. Returns borrowed (until the next such call). */
LN_API const char *ln_session_error(const ln_session *session);

// Statuses and versions

/** The name, such as "LN_BAD_ARGUMENT"; NULL for an invalid status. */
LN_API const char *ln_status_name(ln_status status);

/** The same in words, such as "bad argument"; "unknown status" for an invalid one. */
LN_API const char *ln_status_text(ln_status status);

/** The version of the library in use, "1.2.3", and its build options, one per line:
 *  "formats: JSON IR, ONNX", "targets: cpu", "images: png, jpeg", "isa: avx512". */
LN_API const char *ln_version(void);
LN_API const char *ln_build_info(void);

LN_END_DECLS

#endif
