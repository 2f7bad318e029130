// SPDX-License-Identifier: Apache-2.0
// What the operators of a context share on the GPU: a stream, the libraries, and CUDA graphs.
//
// Operators between two copies from or to the CPU form a *segment*. Its first run launches the
// kernels on a stream, its second run captures them as a CUDA graph (ln_cuda_record.h). In later
// runs, the first operator of the segment launches the graph, and the others do nothing. In the
// description of an operator, `node` is a member of its private structure:
//
//     "static_call": "ln_cuda_enter(&priv->node, op_arg)",
//     "call": "LN_CUDA_RUN(&priv->node, ln_cuda_softmax(priv->node.stream, src, dst, axis, 0))",
//     "post_run": "ln_cuda_leave(&priv->node);"
//
// Functions that return int return -1 with the reason in tl_last_error().

#pragma once

#include <cuda_runtime_api.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "arch/cuda/ln_cuda_libs.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_op.h"

typedef struct ln_cuda ln_cuda;

/** The state of an operator on the GPU, within its private structure; all 0 until ln_cuda_enter. */
typedef struct ln_cuda_node {
    ln_cuda *cuda;
    cudaStream_t stream;
    const ln_op_arg *op_arg;
    cudaGraphExec_t graph; // of the segment that begins here; NULL: not recorded yet
    int runs;              // of that segment, until it is recorded
    int has_idle_scratch;  // the operator does not use its scratch memory
    void *pinned;          // host memory for copies; NULL: none
} ln_cuda_node;

/** The functions of LN_MEM_CUDA. */
extern const ln_mem_provider ln_cuda_memory;

/** 0: a GPU is usable; -1 with the reason. */
int ln_cuda_check(void);

/** Prepares the operator when its context is loaded, or loaded again: checks that the GPU can run
 *  it, and joins the stream of the context's operators, which the first one creates. */
int ln_cuda_enter(ln_cuda_node *node, const ln_op_arg *op_arg);

/** Undoes ln_cuda_enter, after pending work. Accepts a node that was never entered, too. */
void ln_cuda_leave(ln_cuda_node *node);

/** The libraries that the context's operators share, created for the first. NULL with a reason. */
ln_cuda_libs *ln_cuda_libs_of(const ln_cuda_node *node);

/** 1: the operator must launch its kernels on the stream now, and call ln_cuda_end; 0: the graph
 * contains them; -1: failed. */
int ln_cuda_begin(ln_cuda_node *node);

/** Ends a call of ln_cuda_begin, with the status of the launches. */
int ln_cuda_end(ln_cuda_node *node, int status);

/** One call of an operator: evaluates `work`, the status of its launches, if no graph has them. */
#define LN_CUDA_RUN(node, work) \
    (ln_cuda_begin(node) > 0 ? ln_cuda_end(node, work) : ln_cuda_status(node))

/** 0, or -1 after a failure of ln_cuda_begin. */
int ln_cuda_status(const ln_cuda_node *node);

/** Ends the segment, copies `src` of LN_MEM_CPU to the GPU, and converts and permutes it there as
 * ln_cuda_convert. The scratch memory of `exec` is GPU memory of src's size. */
int ln_cuda_copy_in(const tl_exec *exec, ln_cuda_node *node, const tl_tensor *src, const int *axes,
                    tl_tensor *dst);

/** The reverse, to `dst` of LN_MEM_CPU, with scratch memory of dst's size; waits for the copy and
 * all work before it. */
int ln_cuda_copy_out(const tl_exec *exec, ln_cuda_node *node, const tl_tensor *src, const int *axes,
                     tl_tensor *dst);

/** Ends the segment, and waits for all work of the context. */
int ln_cuda_wait(ln_cuda_node *node);

/** -1 with a message that names `what` unless `status` is cudaSuccess. */
int ln_cuda_expect(cudaError_t status, const char *what);
