// SPDX-License-Identifier: Apache-2.0
// The order of a recorded segment's operators.

#include "arch/cuda/ln_cuda_record.h"

#include <stdbool.h>
#include <string.h>

#include "arch/cuda/ln_cuda.h"
#include "lightnet/ln_context.h"

enum {
    MAX_ORDERED = 4096, // operators; those after them wait for the one before
    MAX_ENDS = 8,       // last nodes of an operator; work on one stream has one
    WORD = 64,
};

// Memory that an operator reads or writes.
typedef struct access {
    uintptr_t begin, end;
    int writes;
} access;

typedef struct recorded {
    struct recorded *older;
    size_t number;
    int n_ends;
    cudaGraphNode_t ends[MAX_ENDS]; // what operators that wait for this one depend on
    int n_accesses;
    access *accesses;
    uint64_t *before; // a bit for each operator that this one waits for, also by others
} recorded;

struct ln_cuda_recording {
    recorded *newest;       // of the operators that added nodes to the graph
    recorded *now;          // the current operator, of which this is not known yet
    cudaGraphNode_t *waits; // the nodes that it waits for
    size_t n_waits;
};

// Operators

static int count(const ln_list *tensors)
{
    int n = 0;
    for (; tensors; tensors = tensors->next)
        n++;
    return n;
}

static void add_access(recorded *op, const void *data, size_t size, int writes)
{
    const uintptr_t begin = (uintptr_t)data;
    op->accesses[op->n_accesses++] = (access){begin, begin + size, writes};
}

static void add_tensors(recorded *op, const ln_op_arg *op_arg, const ln_list *tensors, int writes)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        const ln_tensor_entry *te = ln_entry_of(tle, op_arg->tensor_table);
        if (!te->isconst && te->tensor->data)
            add_access(op, te->tensor->data, tl_tensor_size(te->tensor), writes);
    }
}

// Returns new (tl_free).
static recorded *create(const ln_op_arg *op_arg, size_t number, int has_idle_scratch)
{
    const size_t words = number <= MAX_ORDERED ? number / WORD + 1 : 0;
    const int room = count(op_arg->tensors_in) + count(op_arg->tensors_out) + 1;
    recorded *const op =
        tl_alloc(sizeof(*op) + words * sizeof(*op->before) + (size_t)room * sizeof(*op->accesses));
    if (!op)
        return NULL;
    *op = (recorded){.number = number};
    op->before = (uint64_t *)(op + 1);
    op->accesses = (access *)(op->before + words);
    memset(op->before, 0, words * sizeof(*op->before));
    add_tensors(op, op_arg, op_arg->tensors_in, 0);
    add_tensors(op, op_arg, op_arg->tensors_out, 1);
    if (op_arg->scratch_size && !has_idle_scratch)
        add_access(op, ln_op_exec(op_arg).scratch, op_arg->scratch_size, 1);
    return op;
}

// Whether one of them writes memory that the other reads or writes.
static bool conflicts(const recorded *a, const recorded *b)
{
    for (int i = 0; i < a->n_accesses; i++)
        for (int j = 0; j < b->n_accesses; j++) {
            const access *const x = &a->accesses[i], *const y = &b->accesses[j];
            if ((x->writes || y->writes) && x->begin < y->end && y->begin < x->end)
                return true;
        }
    return false;
}

static bool is_before(const recorded *op, const recorded *earlier)
{
    return op->before[earlier->number / WORD] >> earlier->number % WORD & 1;
}

// Makes `op` wait for `earlier`, and so also for what that waits for.
static void wait_for(ln_cuda_recording *recording, recorded *op, const recorded *earlier)
{
    memcpy(recording->waits + recording->n_waits, earlier->ends,
           (size_t)earlier->n_ends * sizeof(*earlier->ends));
    recording->n_waits += (size_t)earlier->n_ends;
    if (op->number > MAX_ORDERED)
        return;
    for (size_t i = 0; i <= earlier->number / WORD; i++)
        op->before[i] |= earlier->before[i];
    op->before[earlier->number / WORD] |= (uint64_t)1 << earlier->number % WORD;
}

// Finds the operators to wait for, latest first, except for those that they wait for. Operator
// MAX_ORDERED waits for all before it, and each later one for the one before it.
static void find_waits(ln_cuda_recording *recording, recorded *op)
{
    recording->n_waits = 0;
    if (op->number > MAX_ORDERED) {
        wait_for(recording, op, recording->newest);
        return;
    }
    for (const recorded *r = recording->newest; r; r = r->older)
        if (!is_before(op, r) && (op->number == MAX_ORDERED || conflicts(op, r)))
            wait_for(recording, op, r);
}

// Recordings

ln_cuda_recording *ln_cuda_recording_create(void)
{
    ln_cuda_recording *const recording = tl_alloc(sizeof(*recording));
    if (!recording)
        return NULL;
    *recording = (ln_cuda_recording){NULL};
    recording->waits = tl_alloc((size_t)MAX_ORDERED * MAX_ENDS * sizeof(*recording->waits));
    if (recording->waits)
        return recording;
    tl_free(recording);
    return NULL;
}

void ln_cuda_recording_free(ln_cuda_recording *recording)
{
    if (!recording)
        return;
    for (recorded *r = recording->newest, *older; r; r = older) {
        older = r->older;
        tl_free(r);
    }
    tl_free(recording->now);
    tl_free(recording->waits);
    tl_free(recording);
}

int ln_cuda_record_begin(ln_cuda_recording *recording, cudaStream_t stream, const ln_op_arg *op_arg,
                         int has_idle_scratch)
{
    const size_t number = recording->newest ? recording->newest->number + 1 : 0;
    tl_free(recording->now);
    recording->now = create(op_arg, number, has_idle_scratch);
    if (!recording->now)
        return -1;
    find_waits(recording, recording->now);
    return ln_cuda_expect(cudaStreamUpdateCaptureDependencies(stream, recording->waits, NULL,
                                                              recording->n_waits,
                                                              cudaStreamSetCaptureDependencies),
                          "order operators of a graph");
}

int ln_cuda_record_end(ln_cuda_recording *recording, cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *ends = NULL;
    size_t n = 0;
    recorded *const op = recording->now;
    recording->now = NULL;
    if (ln_cuda_expect(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &ends, NULL, &n),
                       "find the nodes of an operator")) {
        tl_free(op);
        return -1;
    }
    // Nothing was added.
    if (n == recording->n_waits && (!n || !memcmp(ends, recording->waits, n * sizeof(*ends)))) {
        tl_free(op);
        return 0;
    }
    if (n > MAX_ENDS) {
        tl_free(op);
        return tl_fail("an operator ends with %zu nodes of a graph, expected at most %d", n,
                       MAX_ENDS);
    }
    op->n_ends = (int)n;
    memcpy(op->ends, ends, n * sizeof(*ends));
    op->older = recording->newest;
    recording->newest = op;
    return 0;
}
