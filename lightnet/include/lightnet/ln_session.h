// SPDX-License-Identifier: Apache-2.0
// The front door: a model that is read once, and sessions that run it, one for each thread.
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
// A model is shared: any threads may use it at the same time. A session belongs to one thread at a
// time; only ln_session_cancel may come from others. Several sessions of one model run at the same
// time. A run takes inputs of any shape that the model allows: the first run with new shapes makes
// a program for them, which the model keeps for all its sessions; sizes that keep changing soon
// have one program for all of them. After fork() the child may use and free the models and sessions
// of its parent that no other thread used at that moment.
//
// Functions return LN_OK, which is 0, or what went wrong (ln_api.h), with a message in
// ln_session_error or ln_model_error. NULL handles and NULL arguments are refused, not followed,
// unless the function takes them. Names are UTF-8, as in the model's file.

#ifndef LN_SESSION_H
#define LN_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_api.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

typedef struct ln_model ln_model;     /* what a file says, and the programs that were made of it */
typedef struct ln_session ln_session; /* one runner: inputs, memory for one run, outputs */
typedef struct ln_options ln_options; /* how a model is read and run */
typedef struct ln_pool ln_pool;       /* threads that models share */

/* ---- Options ---- */

/** Returns new (ln_options_free): the defaults. NULL: no memory. */
LN_API ln_options *ln_options_create(void);

/** Takes NULL. */
LN_API void ln_options_free(ln_options *options);

/** Sets an option; the message for an unknown key lists those that there are:
 *
 *  | key             | value                                                                    |
 *  |-----------------|--------------------------------------------------------------------------|
 *  | target          | what to compile for: cpu (default), or a target of a plug-in             |
 *  | threads         | of each run, 1 to 1024; 0: all that the process may use. Without it:     |
 *  |                 | LIGHTNET_NUM_THREADS, else 0. 1: runs use the calling thread alone       |
 *  | shape           | NAME=1x3x224x224, of an input, or NAME=8, of an open size; a size may be |
 *  |                 | a range, 1..512. Runs keep to it, and to what the model takes. May be    |
 *  |                 | set for several names, and several times: all hold                       |
 *  | weights         | the file of the weights, for formats that have them apart                |
 *  | folder          | also look there for files that the model names; may be set several times |
 *  | seed            | of random tensors and operators (default 0): each session draws the same |
 *  | reference       | yes: run the operators one by one on plain C kernels                     |
 *  | precision       | bf16: products, convolutions may round to bfloat16 (ln_context.h)        |
 *  | tuning          | yes: measure which kernels are the fastest, when a program is made       |
 *  | map             | yes: map a compiled model in one file, so that processes that run it     |
 *  |                 | share its weights. The caller vouches that nobody changes or shortens    |
 *  |                 | the file while the model lives: that may end the process by SIGBUS       |
 *  | disabled_rule   | the name of a rewrite to leave out; may be set several times             |
 *  | output          | the name of a tensor of the model that is one more output, behind those  |
 *  |                 | of the file; may be set several times. Compiled models take none; where  |
 *  |                 | sizes are open, a name that there is not ends the first run              |
 *  | memory_limit    | bytes that the model, its constants, which count once, and one program    |
 *  |                 | with the memory of its runs may take (default 0: no limit); what a       |
 *  |                 | caller gives or binds does not count, nor do further sessions            |
 *  | operators_limit | operators that a program may have (default 250000; 0: no limit)          |
 *  | constant_limit  | bytes in which a constant is computed while the model is read (default   |
 *  |                 | 64 MiB; 0: no limit); one that takes more is left to the loading         |
 *  | open_timeout    | milliseconds after which opening ends with LN_LIMIT_REACHED (default 0:  |
 *  |                 | never); runs have ln_session_set_timeout                                 |
 *  | programs        | programs that the model keeps while no session uses them (default 16)    |
 */
LN_API ln_status ln_options_set(ln_options *options, const char *key, const char *value);

/** Lets runs use the threads of `pool` (keeps it, also after ln_pool_free), in place of "threads".
 *  NULL: takes that back. */
LN_API ln_status ln_options_set_pool(ln_options *options, ln_pool *pool);

/** Receives a message, one line without its newline: `level` 0 for debugging, 1 information, 2 a
 *  warning. It comes in the thread that opens the model or runs the session. */
typedef void (*ln_message_func)(void *data, int level, const char *text);

/** Lets models pass messages to func(data, ..); NULL (default): nobody receives any. */
LN_API ln_status ln_options_set_messages(ln_options *options, ln_message_func func, void *data);

/** Returns new (ln_pool_free): `n` threads, the calling one included; 0: all that the process may
 *  use. Runs that use it at the same time share it. Without a pool of its own a model uses one that
 *  it shares with all others of the process with as many threads. NULL: n is not from 0 to 1024,
 *  no memory. */
LN_API ln_pool *ln_pool_create(int n);

/** Takes NULL. Models and options that were given the pool keep it. */
LN_API void ln_pool_free(ln_pool *pool);

/* ---- Models ---- */

/** Reads the model in `file`, in any format of ln_build_info; `options` (borrows) may be NULL. The
 *  file stays open, and must not change, while the model lives. *model: new (ln_model_free); NULL
 *  after a failure, whose reason is in ln_model_error(NULL). A model whose inputs are of fixed
 *  shapes is compiled at once; others are when they are first run with a set of shapes. */
LN_API ln_status ln_model_open(const char *file, const ln_options *options, ln_model **model);

/** The same from `size` bytes, which are copied: they may be freed afterwards. `name` stands for
 *  the file in messages, and its folder is the one that the files it names lie in. */
LN_API ln_status ln_model_open_memory(const char *name, const void *bytes, size_t size,
                                      const ln_options *options, ln_model **model);

/** Takes NULL. Sessions of the model may live longer. */
LN_API void ln_model_free(ln_model *model);

/** Why the calling thread's last call failed that was not about a session; `model` may be NULL.
 *  Returns borrowed (until the thread's next call). */
LN_API const char *ln_model_error(const ln_model *model);

/** Inputs that a run must be given. Inputs with a default value do not count, but may be given by
 *  their names. */
LN_API int ln_model_num_inputs(const ln_model *model);
LN_API int ln_model_num_outputs(const ln_model *model);

/** The name of input, or output, `i`. Returns borrowed, as long as the model lives; NULL: `i` is
 *  out of range. */
LN_API const char *ln_model_input_name(const ln_model *model, int i);
LN_API const char *ln_model_output_name(const ln_model *model, int i);

/** The number of the input, or output, of that name; -1: there is none. */
LN_API int ln_model_input_index(const ln_model *model, const char *name);
LN_API int ln_model_output_index(const ln_model *model, const char *name);

/** The type and the shape of input, or output, `i`, as the file says them: dims has -1 where a size
 *  is open; ndim is -1, and dims NULL, where not even the number of dimensions is known; dtype is
 *  TL_DTYPE_INVALID where the file gives an output no type, or one that LightNet lacks. data is
 *  NULL. Returns borrowed and NULL as above. */
LN_API const tl_tensor *ln_model_input_info(const ln_model *model, int i);
LN_API const tl_tensor *ln_model_output_info(const ln_model *model, int i);

/** The name of an open size, as "batch"; NULL: the size has none. Sizes of one name are equal in
 *  each run. Returns borrowed, as above. */
LN_API const char *ln_model_input_dim_name(const ln_model *model, int i, int axis);
LN_API const char *ln_model_output_dim_name(const ln_model *model, int i, int axis);

/** What the size of an input, or an output, may be: *least and *most, of a fixed size both that, of
 *  one without bounds 0 and INT_MAX. An output has the bounds of the inputs with sizes of its name.
 *  Of a compiled model with several programs: the least and the most of any; which shapes each
 *  takes is in the metadata. LN_BAD_ARGUMENT: `i` or `axis` is out of range, a NULL. */
LN_API ln_status ln_model_input_bounds(const ln_model *model, int i, int axis, int *least,
                                       int *most);
LN_API ln_status ln_model_output_bounds(const ln_model *model, int i, int axis, int *least,
                                        int *most);

/** The value that the file's metadata has for `key`; NULL: none. "format" is always there,
 *  "target" where the file is a compiled model with one program: what it was compiled for.
 *  "program.1", "program.2" .. are the shapes that the programs of a compiled model with several
 *  take, as "ids [1, sequence of 1..512], mask [1, 512]". Returns borrowed, as long as the model
 *  lives. */
LN_API const char *ln_model_metadata(const ln_model *model, const char *key);

/** The `i`-th key of the metadata; NULL: there are no more. Returns borrowed, as above. */
LN_API const char *ln_model_metadata_key(const ln_model *model, int i);

/* ---- Sessions ---- */

/** *session: new (ln_session_free), which keeps the model; NULL after a failure, whose reason is in
 *  ln_session_error(NULL). It has memory for runs from the first one on. */
LN_API ln_status ln_session_create(ln_model *model, ln_session **session);

/** Takes NULL. */
LN_API void ln_session_free(ln_session *session);

/** Gives input `name` a value (copies it), which holds until it is given another one; a call that
 *  fails leaves it as it is. The type and the shape must be such as the model allows; whether all
 *  inputs agree on the sizes that they share is seen by the run. `dims` may be NULL if ndim is 0,
 *  `data` if a size is 0. */
LN_API ln_status ln_session_set_input(ln_session *session, const char *name, tl_dtype dtype,
                                      int ndim, const int *dims, const void *data);

/** As ln_session_set_input, but borrows the data until the input is set or bound again: each run
 *  reads it where it lies. `size` is that of `data` in bytes, at least what the shape takes; `data`
 *  is aligned to the size of an element. `data` NULL: the input has no value any more. */
LN_API ln_status ln_session_bind_input(ln_session *session, const char *name, tl_dtype dtype,
                                       int ndim, const int *dims, const void *data, size_t size);

/** Lets each run leave output `name` in `data` (borrows until it is bound again), which has `size`
 *  bytes, at least what the output takes, and is aligned to the size of an element: a run with a
 *  larger output fails. Most outputs are computed where they lie, so that `data` may be anything
 *  after a run that failed. It may overlap inputs and other outputs: then it is written after all
 *  is computed. NULL: takes that back, and what the last run left there is no output any more. */
LN_API ln_status ln_session_bind_output(ln_session *session, const char *name, void *data,
                                        size_t size);

/** Computes the outputs from the inputs. After a failure there are no outputs, and the session is
 *  as before: the next run may succeed. LN_BAD_ARGUMENT: an input has no value, inputs disagree on
 *  a size, or the model cannot take these shapes. */
LN_API ln_status ln_session_run(ln_session *session);

/** Receives what an operator of the program has taken: its name, its type and nanoseconds. */
typedef void (*ln_time_func)(void *data, const char *name, const char *type, uint64_t ns);

/** As ln_session_run; then calls func(data, ..) for each operator, in the order in which they ran.
 */
LN_API ln_status ln_session_run_timed(ln_session *session, ln_time_func func, void *data);

/** An output of the last run. Returns borrowed (until the next call with `session` other than
 *  ln_session_output, ln_session_copy_output and ln_session_error); NULL: there is no output of
 *  that name, or no run has succeeded since a failure. */
LN_API const tl_tensor *ln_session_output(ln_session *session, const char *name);

/** Copies an output of the last run to `data`, which has `size` bytes, at least what it takes. */
LN_API ln_status ln_session_copy_output(ln_session *session, const char *name, void *data,
                                        size_t size);

/** Lets each run, with the making of its program, end with LN_LIMIT_REACHED after so many
 *  milliseconds; 0 (default): no limit. */
LN_API ln_status ln_session_set_timeout(ln_session *session, uint64_t ms);

/** Ends the run under way, and each that begins afterwards, with LN_CANCELLED, until
 *  ln_session_resume. Any thread may call it, at any time before ln_session_free; it does not wait.
 *  Runs look at it between operators and within long ones. */
LN_API void ln_session_cancel(ln_session *session);

/** Takes back all calls of ln_session_cancel so far: in the thread that uses the session, between
 *  runs. A run after it is right, whatever was ended before. */
LN_API void ln_session_resume(ln_session *session);

/** Why the last call with `session` failed; NULL: why that of the calling thread without a session
 *  did. Returns borrowed (until the next such call). */
LN_API const char *ln_session_error(const ln_session *session);

/* ---- Statuses and versions ---- */

/** "LN_BAD_ARGUMENT" and the like; NULL for another number. */
LN_API const char *ln_status_name(ln_status status);

/** The same in words, "bad argument"; for another number "unknown status". */
LN_API const char *ln_status_text(ln_status status);

/** The version of the library in use, "1.2.3", and what it was built with, one line for each:
 *  "formats: JSON IR, ONNX", "targets: cpu", "images: png, jpeg", "isa: avx512". */
LN_API const char *ln_version(void);
LN_API const char *ln_build_info(void);

LN_END_DECLS

#endif
