// SPDX-License-Identifier: Apache-2.0
// What the operators of a context share on the GPU: memory, streams, graphs of segments, copies.

#include "arch/cuda/ln_cuda.h"
#include "arch/cuda/ln_cuda_plan.h"
#include "arch/cuda/ln_cuda_record.h"

#include <pthread.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"

// The state of the current segment.
typedef enum segment_mode {
    NO_SEGMENT,
    ADDING,    // operators launch their kernels on the stream
    RECORDING, // the same, while the stream is captured
    LAUNCHED,  // operators do nothing: the segment's graph was launched
} segment_mode;

struct ln_cuda {
    const ln_context *ctx;
    int n_nodes; // those between ln_cuda_enter and ln_cuda_leave
    cudaStream_t stream;
    cudaEvent_t start, stop; // for times of operators
    ln_cuda_libs *libs;      // NULL: no operator needed them so far
    segment_mode mode;
    ln_cuda_node *first;          // of the current segment
    ln_cuda_recording *recording; // NULL: none
    uint64_t run_number;          // of the current segment
    int failed;                   // the last ln_cuda_begin failed
    ln_cuda *next;                // in the list of all
};

static ln_cuda *all; // one for each context that has operators here
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

int ln_cuda_check(void)
{
    int n = 0;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (status != cudaSuccess)
        return tl_fail("no NVIDIA GPU can be used: %s", cudaGetErrorString(status));
    return n > 0 ? 0 : tl_fail("there is no NVIDIA GPU");
}

// Memory

// Before device memory is read: a run waits only for its last copy to the CPU, so the GPU may still
// run later operators, whose results only ln_context_get_data reads.
static void wait_for_contexts(void)
{
    pthread_mutex_lock(&all_mutex);
    for (const ln_cuda *cuda = all; cuda; cuda = cuda->next)
        if (cuda->mode != RECORDING)
            cudaStreamSynchronize(cuda->stream);
    pthread_mutex_unlock(&all_mutex);
}

// A separate stream for copies and memset: waiting for the whole GPU would break captures of other
// threads.
static cudaStream_t memory_stream;
static cudaError_t memory_status;

static void create_memory_stream(void)
{
    memory_status = cudaStreamCreateWithFlags(&memory_stream, cudaStreamNonBlocking);
}

static cudaError_t find_memory_stream(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    return pthread_once(&once, create_memory_stream) ? cudaErrorUnknown : memory_status;
}

// Waits for the memory stream, unless adding work to it failed with `status`. Returns the status.
static cudaError_t finish_memory(cudaError_t status)
{
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(memory_stream);
    if (status != cudaSuccess)
        cudaGetLastError();
    return status;
}

static void *fail_memory(void *p, size_t n, const char *reason)
{
    cudaFree(p);
    cudaGetLastError();
    ln_error_set_as(NULL, LN_OUT_OF_MEMORY, "cannot allocate %zu bytes of GPU memory: %s", n,
                    reason);
    return NULL;
}

static void *alloc_memory(size_t n)
{
    void *p = NULL;
    if (ln_cuda_check())
        return ln_error_set(NULL, "%s", tl_last_error()), NULL;
    cudaError_t status = find_memory_stream();
    if (status == cudaSuccess)
        status = cudaMalloc(&p, n ? n : 1);
    if (status == cudaSuccess)
        status = finish_memory(cudaMemsetAsync(p, 0, n ? n : 1, memory_stream));
    return status == cudaSuccess ? p : fail_memory(p, n, cudaGetErrorString(status));
}

static void free_memory(void *p)
{
    cudaFree(p);
    cudaGetLastError();
}

static void *set_memory(void *p, int value, size_t n)
{
    finish_memory(cudaMemsetAsync(p, value, n, memory_stream));
    return p;
}

static void *copy_from_host(void *dst, const void *src, size_t n)
{
    finish_memory(cudaMemcpyAsync(dst, src, n, cudaMemcpyHostToDevice, memory_stream));
    return dst;
}

// After a failure, the elements are 0, not the old ones.
static void *copy_to_host(void *dst, const void *src, size_t n)
{
    wait_for_contexts();
    if (finish_memory(cudaMemcpyAsync(dst, src, n, cudaMemcpyDeviceToHost, memory_stream)) !=
        cudaSuccess)
        memset(dst, 0, n);
    return dst;
}

static void *copy_on_device(void *dst, const void *src, size_t n)
{
    finish_memory(cudaMemcpyAsync(dst, src, n, cudaMemcpyDeviceToDevice, memory_stream));
    return dst;
}

const ln_mem_provider ln_cuda_memory = {
    .mtype = LN_MEM_CUDA,
    .alloc_func = alloc_memory,
    .free_func = free_memory,
    .memset_func = set_memory,
    .copy_in = copy_from_host,
    .copy_out = copy_to_host,
    .copy_within = copy_on_device,
};

// The state of a context

static void destroy(ln_cuda *cuda)
{
    if (!cuda)
        return;
    ln_cuda_libs_free(cuda->libs);
    if (cuda->start)
        cudaEventDestroy(cuda->start);
    if (cuda->stop)
        cudaEventDestroy(cuda->stop);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    tl_free(cuda);
}

static ln_cuda *create(const ln_context *ctx)
{
    ln_cuda *cuda = tl_alloc(sizeof(*cuda));
    if (!cuda)
        return NULL;
    memset(cuda, 0, sizeof(*cuda));
    cuda->ctx = ctx;
    if (ln_cuda_check() ||
        ln_cuda_expect(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking),
                       "create a stream") ||
        ln_cuda_expect(cudaEventCreate(&cuda->start), "create an event") ||
        ln_cuda_expect(cudaEventCreate(&cuda->stop), "create an event")) {
        destroy(cuda);
        return NULL;
    }
    return cuda;
}

// The state of the context, which is created if it has none.
static ln_cuda *acquire(const ln_context *ctx)
{
    pthread_mutex_lock(&all_mutex);
    ln_cuda *cuda = all;
    while (cuda && cuda->ctx != ctx)
        cuda = cuda->next;
    if (!cuda && (cuda = create(ctx))) {
        cuda->next = all;
        all = cuda;
    }
    if (cuda)
        cuda->n_nodes++;
    pthread_mutex_unlock(&all_mutex);
    return cuda;
}

static void release(ln_cuda *cuda)
{
    pthread_mutex_lock(&all_mutex);
    const int is_last = --cuda->n_nodes == 0;
    if (is_last) {
        ln_cuda **at = &all;
        while (*at != cuda)
            at = &(*at)->next;
        *at = cuda->next;
    }
    pthread_mutex_unlock(&all_mutex);
    if (is_last)
        destroy(cuda);
}

// Inputs of any memory type (LN_MEM_NONE) must be in the CPU's memory. This is checked at load:
// while rules are applied, their producers may still be abstract.
static int check_inputs(const ln_op_arg *op_arg)
{
    const ln_arg_info *info = op_arg->info->tensors_in;
    if (op_arg->ctx->outer)
        return tl_fail("the GPU does not support operators of subgraphs");
    if (op_arg->isdynamic & LN_DYNAMIC_IN)
        return tl_fail("the GPU does not support inputs of open sizes, expected fixed shapes");
    for (; info; info = ln_arg_info_next(info)) {
        const ln_tensor_entry *te = ln_op_find_input(op_arg, info->arg_name);
        const ln_mem_type expected = info->anywhere ? LN_MEM_CPU : LN_MEM_CUDA;
        if (te && te->mtype != expected)
            return tl_fail("'%s' is in %s, expected %s", te->name, ln_mem_type_name(te->mtype),
                           ln_mem_type_name(expected));
    }
    return 0;
}

static void forget_graph(ln_cuda_node *node)
{
    if (node->graph)
        cudaGraphExecDestroy(node->graph);
    node->graph = NULL;
    node->runs = 0;
}

int ln_cuda_enter(ln_cuda_node *node, const ln_op_arg *op_arg)
{
    if (check_inputs(op_arg))
        return -1;
    if (node->cuda) { // loaded again: the graph refers to freed memory
        forget_graph(node);
        return 0;
    }
    node->cuda = acquire(op_arg->ctx);
    if (!node->cuda)
        return -1;
    node->stream = node->cuda->stream;
    node->op_arg = op_arg;
    return 0;
}

ln_cuda_libs *ln_cuda_libs_of(const ln_cuda_node *node)
{
    if (!node->cuda->libs)
        node->cuda->libs = ln_cuda_libs_create();
    return node->cuda->libs;
}

// Segments

static void forget_recording(ln_cuda *cuda)
{
    ln_cuda_recording_free(cuda->recording);
    cuda->recording = NULL;
}

// Ends the segment. Discards its recording, if any.
static void abandon(ln_cuda *cuda)
{
    cudaGraph_t graph = NULL;
    if (cuda->mode == RECORDING && cudaStreamEndCapture(cuda->stream, &graph) == cudaSuccess)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    forget_recording(cuda);
    cuda->mode = NO_SEGMENT;
    cuda->first = NULL;
}

// Makes a graph of the recorded segment, and launches it.
static int finish_recording(ln_cuda *cuda)
{
    cudaGraph_t graph = NULL;
    forget_recording(cuda);
    if (ln_cuda_expect(cudaStreamEndCapture(cuda->stream, &graph), "record a graph"))
        return -1;
    const int status =
        ln_cuda_expect(cudaGraphInstantiate(&cuda->first->graph, graph, 0), "instantiate a graph");
    cudaGraphDestroy(graph);
    return status ? -1
                  : ln_cuda_expect(cudaGraphLaunch(cuda->first->graph, cuda->stream),
                                   "launch a graph");
}

// Ends the segment, before a copy from or to the CPU. Discards one of an earlier run, which failed.
static int close_segment(ln_cuda *cuda)
{
    int status = 0;
    const int is_whole = cuda->first && cuda->run_number == cuda->ctx->run_number;
    if (is_whole)
        cuda->first->runs++;
    if (is_whole && cuda->mode == RECORDING) {
        status = finish_recording(cuda);
        cuda->mode = NO_SEGMENT;
        cuda->first = NULL;
    } else {
        abandon(cuda);
    }
    return status;
}

static int begin_recording(ln_cuda *cuda)
{
    cuda->mode = RECORDING;
    cuda->recording = ln_cuda_recording_create();
    // Relaxed: a run that fails leaves the stream recording until another begins, in any thread.
    return cuda->recording
               ? ln_cuda_expect(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeRelaxed),
                                "record the stream")
               : -1;
}

// Begins a segment with `node`, in the mode that its number of runs determines (ln_cuda.h).
static int open_segment(ln_cuda *cuda, ln_cuda_node *node)
{
    cuda->first = node;
    cuda->run_number = cuda->ctx->run_number;
    if (node->graph) {
        cuda->mode = LAUNCHED;
        return ln_cuda_expect(cudaGraphLaunch(node->graph, cuda->stream), "launch a graph");
    }
    if (!node->runs && cuda->libs)
        ln_cuda_trim(cuda->libs); // all plans are made
    // Kernels are loaded in the first run, since loading cannot be captured.
    if (node->runs)
        return begin_recording(cuda);
    cuda->mode = ADDING;
    return 0;
}

// Prepares the segment for the operator. Not in segments: operators that compute constants at load,
// and those of a stepwise run, which are measured.
static int begin(ln_cuda_node *node)
{
    ln_cuda *const cuda = node->cuda;
    const ln_context *const ctx = cuda->ctx;
    if (cuda->mode != NO_SEGMENT && cuda->run_number != ctx->run_number)
        abandon(cuda);
    if (node->op_arg->at_load)
        return 0;
    if (ctx->is_stepwise) {
        abandon(cuda);
        return ln_cuda_expect(cudaEventRecord(cuda->start, cuda->stream), "record an event");
    }
    if ((cuda->mode == NO_SEGMENT && open_segment(cuda, node)) ||
        (cuda->mode == RECORDING && ln_cuda_record_begin(cuda->recording, cuda->stream,
                                                         node->op_arg, node->has_idle_scratch))) {
        abandon(cuda);
        return -1;
    }
    return 0;
}

int ln_cuda_begin(ln_cuda_node *node)
{
    node->cuda->failed = begin(node) != 0;
    if (node->cuda->failed)
        return -1;
    return node->op_arg->at_load || node->cuda->ctx->is_stepwise || node->cuda->mode != LAUNCHED;
}

int ln_cuda_status(const ln_cuda_node *node)
{
    return node->cuda->failed ? -1 : 0;
}

// Waits for the operator, and reads its time.
static int finish_step(ln_cuda *cuda)
{
    float ms = 0;
    if (ln_cuda_expect(cudaEventRecord(cuda->stop, cuda->stream), "record an event") ||
        ln_cuda_expect(cudaEventSynchronize(cuda->stop), "finish an operator") ||
        ln_cuda_expect(cudaEventElapsedTime(&ms, cuda->start, cuda->stop), "read a time"))
        return -1;
    ((ln_context *)cuda->ctx)->device_ns = (uint64_t)((double)ms * 1e6) + 1;
    return 0;
}

int ln_cuda_end(ln_cuda_node *node, int status)
{
    ln_cuda *const cuda = node->cuda;
    if (!status && cuda->mode == RECORDING && !node->op_arg->at_load)
        status = ln_cuda_record_end(cuda->recording, cuda->stream);
    if (status) {
        abandon(cuda);
        return -1;
    }
    if (node->op_arg->at_load) // constants are then read by the memory stream
        return ln_cuda_expect(cudaStreamSynchronize(cuda->stream), "compute a constant");
    return cuda->ctx->is_stepwise ? finish_step(cuda) : 0;
}

int ln_cuda_wait(ln_cuda_node *node)
{
    return -(close_segment(node->cuda) ||
             ln_cuda_expect(cudaStreamSynchronize(node->stream), "finish the work"));
}

void ln_cuda_leave(ln_cuda_node *node)
{
    if (!node->cuda)
        return;
    abandon(node->cuda);
    cudaStreamSynchronize(node->stream);
    forget_graph(node);
    if (node->pinned)
        cudaFreeHost(node->pinned);
    release(node->cuda);
    *node = (ln_cuda_node){0};
}

// Copies

// Whether a copy neither converts nor permutes.
static int is_plain(const tl_tensor *src, const int *axes, const tl_tensor *dst)
{
    int is_permuted = 0;
    for (int i = 0; axes && i < src->ndim; i++)
        is_permuted |= axes[i] != i;
    return src->dtype == dst->dtype && !is_permuted;
}

static int make_pinned(ln_cuda_node *node, size_t size)
{
    if (node->pinned || !size)
        return 0;
    return ln_cuda_expect(cudaHostAlloc(&node->pinned, size, cudaHostAllocDefault),
                          "allocate pinned memory");
}

// A copy within the CPU's memory, which threads divide by UNIT bytes.
typedef struct copy {
    char *to;
    const char *from;
    size_t size;
} copy;

enum { UNIT = 64 << 10, PIECE = 32 * UNIT }; // PIECE: of copies to the GPU

static void copy_units(void *arg, size_t begin, size_t end)
{
    const copy *const c = arg;
    const size_t at = begin * UNIT, to = end * UNIT < c->size ? end * UNIT : c->size;
    memcpy(c->to + at, c->from + at, to - at);
}

static void copy_by_threads(const tl_exec *exec, char *to, const char *from, size_t size)
{
    copy c = {to, from, size};
    tl_parallel(exec, (size + UNIT - 1) / UNIT, 1, copy_units, &c);
}

// Copies in pieces, so that the GPU fetches one while the next is copied to pinned memory.
static int send(const tl_exec *exec, ln_cuda_node *node, const char *from, size_t size, char *to)
{
    char *const pinned = node->pinned;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        copy_by_threads(exec, pinned + at, from + at, n);
        if (ln_cuda_expect(
                cudaMemcpyAsync(to + at, pinned + at, n, cudaMemcpyHostToDevice, node->stream),
                "copy to the GPU"))
            return -1;
    }
    return 0;
}

int ln_cuda_copy_in(const tl_exec *exec, ln_cuda_node *node, const tl_tensor *src, const int *axes,
                    tl_tensor *dst)
{
    const size_t size = tl_tensor_size(src);
    if (close_segment(node->cuda) || make_pinned(node, size))
        return -1;
    if (is_plain(src, axes, dst)) {
        if (send(exec, node, src->data, size, dst->data))
            return -1;
    } else {
        tl_tensor there = *src;
        there.data = exec->scratch;
        if (send(exec, node, src->data, size, there.data) ||
            ln_cuda_convert(node->stream, &there, axes, dst))
            return -1;
    }
    // Wait before pinned memory of a constant is freed, and for times of operators.
    const int must_wait = node->op_arg->at_load || node->cuda->ctx->is_stepwise;
    if (must_wait && ln_cuda_expect(cudaStreamSynchronize(node->stream), "copy to the GPU"))
        return -1;
    if (node->op_arg->at_load) {
        cudaFreeHost(node->pinned);
        node->pinned = NULL;
    }
    return 0;
}

int ln_cuda_copy_out(const tl_exec *exec, ln_cuda_node *node, const tl_tensor *src, const int *axes,
                     tl_tensor *dst)
{
    const size_t size = tl_tensor_size(dst);
    const void *from = src->data;
    if (close_segment(node->cuda) || make_pinned(node, size))
        return -1;
    if (!is_plain(src, axes, dst)) {
        tl_tensor there = *dst;
        there.data = exec->scratch;
        if (ln_cuda_convert(node->stream, src, axes, &there))
            return -1;
        from = there.data;
    }
    if (size && ln_cuda_expect(
                    cudaMemcpyAsync(node->pinned, from, size, cudaMemcpyDeviceToHost, node->stream),
                    "copy from the GPU"))
        return -1;
    if (ln_cuda_expect(cudaStreamSynchronize(node->stream), "finish the work"))
        return -1;
    copy_by_threads(exec, dst->data, node->pinned, size);
    return 0;
}
