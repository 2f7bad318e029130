// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: of boxes that overlap, the best one stays.
//
// Candidates of a class, of one batch, are keys of 64 bits: a score above the complement of the
// box's index, so that the largest key is the best box. The steps, each for all classes:
//
//     find_candidates   a block per class: keys of the boxes that score enough, in any order
//     sort_*            a bitonic network brings the largest keys to the front; it has the size of
//                       all boxes, but blocks that see no candidate return at once
//     choose            a block per class: of TURN candidates at a time, drops those that overlap
//                       chosen boxes, then chooses among the rest, the best one first
//     add_counts, write_rows   where the rows of each class begin, and the rows
//
// Source of the network: Batcher: Sorting networks and their applications, 1968.

#include "arch/cuda/ln_cuda_common.cuh"

enum {
    THREADS = 256,
    TURN = 64,           // candidates, as many as bits of a word
    SORT_THREADS = 1024, // of a block that sorts in shared memory
    CHUNK = 4096         // keys of such a block: 32 KB
};

struct box {
    float left, top, right, bottom;
};

// The layout of the work memory, and the sizes. "Class" is one of a batch: batches * classes.
struct nms_job {
    const float *boxes, *scores;
    uint64_t *keys;  // [classes, room], room a power of 2
    box *chosen;     // [classes, most]
    float *areas;    // [classes, most]
    int *indices;    // [classes, most]
    int *candidates; // [classes]
    int *counts;     // [classes]: chosen boxes
    int *firsts;     // [classes]: rows of the classes before
    int64_t *dst;
    int *count;
    int classes, of_batch; // classes of all batches, and of one
    int len, room, max;    // boxes of a batch; keys of a class; boxes that a class may choose
    float overlap, score;  // thresholds
    int has_score, is_center_and_size;
};

// Boxes: the arithmetic of nms.c, without contraction

static __device__ __forceinline__ float smaller(float a, float b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ float larger(float a, float b)
{
    return a > b ? a : b;
}

static __device__ __forceinline__ box box_at(const float *numbers, int is_center_and_size)
{
    if (is_center_and_size) {
        const float w = __fmul_rn(numbers[2], 0.5f), h = __fmul_rn(numbers[3], 0.5f);
        return {__fsub_rn(numbers[0], w), __fsub_rn(numbers[1], h), __fadd_rn(numbers[0], w),
                __fadd_rn(numbers[1], h)};
    }
    return {smaller(numbers[1], numbers[3]), smaller(numbers[0], numbers[2]),
            larger(numbers[1], numbers[3]), larger(numbers[0], numbers[2])};
}

static __device__ __forceinline__ float area_of(const box &b)
{
    return __fmul_rn(__fsub_rn(b.right, b.left), __fsub_rn(b.bottom, b.top));
}

// Is intersection over union of a candidate and a chosen box more than `max`? Not for boxes
// without an area.
static __device__ __forceinline__ bool overlaps(const box &a, float a_area, const box &b,
                                                float b_area, float max)
{
    const float w = __fsub_rn(smaller(a.right, b.right), larger(a.left, b.left));
    const float h = __fsub_rn(smaller(a.bottom, b.bottom), larger(a.top, b.top));
    if (a_area <= 0 || b_area <= 0 || w <= 0 || h <= 0)
        return false;
    const float both = __fmul_rn(w, h);
    return __fdiv_rn(both, __fsub_rn(__fadd_rn(a_area, b_area), both)) > max;
}

// Candidates

// Larger scores have larger keys, NaN the least; 0 and -0 are the same. Of equal ones, the lower
// index has the larger key. No key is 0. Bits of floats are ordered as unsigned integers once
// negative ones are inverted, and others have their sign bit set.
static __device__ __forceinline__ uint64_t key_of(float score, int index)
{
    uint32_t bits = 0;
    if (score == score) {
        bits = __float_as_uint(score == 0 ? 0.0f : score);
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }
    return (uint64_t)bits << 32 | (UINT32_MAX - (uint32_t)index);
}

// The lowest power of 2 of at least `n`.
static __host__ __device__ __forceinline__ int power_of_2(int n)
{
    int power = 1;
    while (power < n)
        power *= 2;
    return power;
}

static __global__ void __launch_bounds__(THREADS) find_candidates(const nms_job job)
{
    __shared__ int n;
    const float *const scores = job.scores + (size_t)blockIdx.x * job.len;
    uint64_t *const keys = job.keys + (size_t)blockIdx.x * job.room;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < job.len; i += THREADS) {
        const float score = scores[i];
        if (!job.has_score || score > job.score)
            keys[atomicAdd(&n, 1)] = key_of(score, i);
    }
    __syncthreads();
    const int end = power_of_2(n);
    for (int i = n + threadIdx.x; i < end; i += THREADS)
        keys[i] = 0;
    if (threadIdx.x == 0)
        job.candidates[blockIdx.x] = n;
}

// The order of candidates

// Swaps the keys at `i` and `i` + distance unless the larger one is last (is_up), or first.
static __device__ __forceinline__ void order_pair(uint64_t *keys, int i, int distance, bool is_up)
{
    const uint64_t a = keys[i], b = keys[i + distance];
    if ((a < b) != is_up) {
        keys[i] = b;
        keys[i + distance] = a;
    }
}

// The lower index of the p-th pair of keys that are `distance`, a power of 2, apart: the bits of p
// with a 0 inserted at the bit of `distance`.
static __device__ __forceinline__ int pair_at(int p, int distance)
{
    return 2 * p - (p & (distance - 1));
}

// A bitonic network merges runs of size / 2 keys to runs of `size` keys, by steps of the distances
// size / 2 .. 1. Runs alternate: those of even number are descending, the others ascending. This
// kernel does the steps within chunks of `chunk` keys, `chunks` for each class, in shared memory:
// for the sizes `from` to `to`, doubled each time.
static __global__ void __launch_bounds__(SORT_THREADS)
    sort_chunks(const nms_job job, int chunk, int chunks, int from, int to)
{
    __shared__ uint64_t keys[CHUNK];
    const int index = blockIdx.x / chunks, first = blockIdx.x % chunks * chunk;
    const int end = power_of_2(job.candidates[index]);
    if (first >= end || (from > chunk && from > end))
        return;
    uint64_t *const all = job.keys + (size_t)index * job.room + first;
    const int n = end - first < chunk ? end - first : chunk; // a power of 2
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        keys[i] = all[i];
    __syncthreads();
    for (int size = from; size <= to && size <= end; size *= 2)
        for (int distance = (size < chunk ? size : chunk) / 2; distance > 0; distance /= 2) {
            for (int p = threadIdx.x; p < n / 2; p += blockDim.x) {
                const int i = pair_at(p, distance);
                order_pair(keys, i, distance, ((first + i) & size) != 0);
            }
            __syncthreads();
        }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        all[i] = keys[i];
}

// One step of the network, for pairs that are not in one chunk, by `blocks` blocks for each class.
static __global__ void __launch_bounds__(THREADS)
    sort_step(const nms_job job, int blocks, int size, int distance)
{
    const int index = blockIdx.x / blocks;
    const int p = blockIdx.x % blocks * THREADS + threadIdx.x, i = pair_at(p, distance);
    const int end = power_of_2(job.candidates[index]);
    if (size > end || i + distance >= end)
        return;
    order_pair(job.keys + (size_t)index * job.room, i, distance, (i & size) != 0);
}

static void sort(cudaStream_t stream, const nms_job &job)
{
    const int chunk = job.room < CHUNK ? job.room : CHUNK, chunks = job.room / chunk;
    const int threads = chunk / 2 < 32 ? 32 : chunk / 2 < SORT_THREADS ? chunk / 2 : SORT_THREADS;
    const int blocks = (job.room / 2 + THREADS - 1) / THREADS;
    sort_chunks<<<job.classes * chunks, threads, 0, stream>>>(job, chunk, chunks, 2, chunk);
    for (int64_t size = 2 * (int64_t)chunk; size <= job.room; size *= 2) {
        for (int distance = (int)(size / 2); distance >= chunk; distance /= 2)
            sort_step<<<job.classes * blocks, THREADS, 0, stream>>>(job, blocks, (int)size,
                                                                    distance);
        sort_chunks<<<job.classes * chunks, threads, 0, stream>>>(job, chunk, chunks, (int)size,
                                                                  (int)size);
    }
}

// Choosing

// The candidates of a turn, the best one first.
struct turn {
    box boxes[TURN];
    float areas[TURN];
    int indices[TURN];
    int is_out[TURN];                  // none, or overlaps a box of an earlier turn
    uint16_t dropped[TURN][TURN / 16]; // bits of later candidates that overlap each one
    uint64_t chosen;                   // a bit for each
};

// Reads the candidates of the keys, of which `n` exist; others are out.
static __device__ void read_turn(const nms_job &job, turn *t, const uint64_t *keys,
                                 const float *numbers, int n)
{
    const int i = threadIdx.x;
    if (i >= TURN)
        return;
    t->is_out[i] = i >= n;
    t->boxes[i] = {0, 0, 0, 0};
    t->areas[i] = 0;
    if (i >= n)
        return;
    t->indices[i] = (int)(UINT32_MAX - (uint32_t)keys[i]);
    t->boxes[i] = box_at(numbers + 4 * (size_t)t->indices[i], job.is_center_and_size);
    t->areas[i] = area_of(t->boxes[i]);
}

// Bits of the chosen candidates, at most `room`: the first of those left, then the first of those
// that it does not drop, ..
static __device__ uint64_t choose_in_order(const turn *t, int room)
{
    uint64_t left = 0, chosen = 0;
    for (int i = 0; i < TURN; i++)
        left |= (uint64_t)!t->is_out[i] << i;
    for (; left && room > 0; room--) {
        const int i = __ffsll((long long)left) - 1;
        uint64_t dropped = (uint64_t)1 << i;
        for (int k = 0; k < TURN / 16; k++)
            dropped |= (uint64_t)t->dropped[i][k] << (16 * k);
        chosen |= (uint64_t)1 << i;
        left &= ~dropped;
    }
    return chosen;
}

// Thread (quarter, i) compares candidate i of the turn with each 4th box chosen before, then with
// 16 later candidates. Thread 0 chooses; n is the number of chosen boxes of the class.
static __global__ void __launch_bounds__(THREADS) choose(const nms_job job)
{
    static_assert(THREADS == 4 * TURN && TURN == 64, "a quarter of the threads for 16 bits");
    __shared__ turn t;
    const int i = threadIdx.x % TURN, quarter = threadIdx.x / TURN;
    const int end = job.candidates[blockIdx.x];
    const uint64_t *const keys = job.keys + (size_t)blockIdx.x * job.room;
    const float *const numbers = job.boxes + 4 * (size_t)(blockIdx.x / job.of_batch) * job.len;
    box *const chosen = job.chosen + (size_t)blockIdx.x * job.max;
    float *const areas = job.areas + (size_t)blockIdx.x * job.max;
    int *const indices = job.indices + (size_t)blockIdx.x * job.max;
    int n = 0;
    for (int first = 0; first < end && n < job.max; first += TURN) {
        read_turn(job, &t, keys + first, numbers, end - first);
        __syncthreads();
        const box own = t.boxes[i];
        const float area = t.areas[i];
        for (int k = quarter; k < n && !*(volatile int *)&t.is_out[i]; k += 4)
            if (overlaps(own, area, chosen[k], areas[k], job.overlap))
                t.is_out[i] = 1;
        uint32_t bits = 0; // candidate i is the better one
        for (int k = 0; k < 16; k++) {
            const int other = quarter * 16 + k;
            if (other > i && overlaps(t.boxes[other], t.areas[other], own, area, job.overlap))
                bits |= 1u << k;
        }
        t.dropped[i][quarter] = (uint16_t)bits;
        __syncthreads();
        if (threadIdx.x == 0)
            t.chosen = choose_in_order(&t, job.max - n);
        __syncthreads();
        const uint64_t these = t.chosen;
        if (threadIdx.x < TURN && (these >> i & 1)) {
            const int at = n + __popcll(these & (((uint64_t)1 << i) - 1));
            chosen[at] = own;
            areas[at] = area;
            indices[at] = t.indices[i];
        }
        n += __popcll(these);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        job.counts[blockIdx.x] = n;
}

// The rows

// firsts = the exclusive prefix sums of counts, and *count = their total: a single block, one class
// for each thread.
static __global__ void __launch_bounds__(SORT_THREADS) add_counts(const nms_job job)
{
    __shared__ int warps[32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int before = 0;
    for (int first = 0; first < job.classes; first += SORT_THREADS) {
        const int i = first + threadIdx.x, own = i < job.classes ? job.counts[i] : 0;
        int sum = own;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, sum, distance);
            sum += lane >= distance ? other : 0;
        }
        if (lane == 31)
            warps[warp] = sum;
        __syncthreads();
        int all = 0;
        for (int w = 0; w < 32; w++) {
            sum += w < warp ? warps[w] : 0;
            all += warps[w];
        }
        if (i < job.classes)
            job.firsts[i] = before + sum - own;
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *job.count = before;
}

static __global__ void __launch_bounds__(THREADS) write_rows(const nms_job job)
{
    const int *const indices = job.indices + (size_t)blockIdx.x * job.max;
    int64_t *const to = job.dst + 3 * (size_t)job.firsts[blockIdx.x];
    for (int i = threadIdx.x; i < job.counts[blockIdx.x]; i += THREADS) {
        to[3 * (size_t)i] = blockIdx.x / job.of_batch;
        to[3 * (size_t)i + 1] = blockIdx.x % job.of_batch;
        to[3 * (size_t)i + 2] = indices[i];
    }
}

// The functions

// Allocates `size` bytes at `memory` + `used`, rounded up to 16; memory NULL: only counts.
static void *reserve(char **memory, size_t *used, size_t size)
{
    void *const p = *memory ? *memory + *used : NULL;
    *used += (size + 15) / 16 * 16;
    return p;
}

// Divides the work memory; returns its size.
static size_t divide_work(nms_job *job, void *work)
{
    const size_t classes = (size_t)job->classes, chosen = classes * (size_t)job->max;
    char *memory = work ? (char *)(((uintptr_t)work + 15) / 16 * 16) : NULL;
    size_t used = 0;
    job->keys = (uint64_t *)reserve(&memory, &used, classes * (size_t)job->room * sizeof(uint64_t));
    job->chosen = (box *)reserve(&memory, &used, chosen * sizeof(box));
    job->areas = (float *)reserve(&memory, &used, chosen * sizeof(float));
    job->indices = (int *)reserve(&memory, &used, chosen * sizeof(int));
    job->candidates = (int *)reserve(&memory, &used, classes * sizeof(int));
    job->counts = (int *)reserve(&memory, &used, classes * sizeof(int));
    job->firsts = (int *)reserve(&memory, &used, classes * sizeof(int));
    return used + 16; // for an address that is no multiple of 16
}

static nms_job job_of(const tl_tensor *boxes, const tl_tensor *scores, const tl_nms *how)
{
    nms_job job = {};
    job.boxes = (const float *)boxes->data;
    job.scores = (const float *)scores->data;
    job.of_batch = scores->dims[1];
    job.classes = scores->dims[0] * scores->dims[1];
    job.len = boxes->dims[1];
    job.room = power_of_2(job.len);
    job.max = how->max < 0 ? 0 : how->max < job.len ? how->max : job.len;
    job.overlap = how->overlap;
    job.score = how->score;
    job.has_score = how->has_score;
    job.is_center_and_size = how->is_center_and_size;
    return job;
}

int ln_cuda_nms(ln_cuda_stream stream, const tl_tensor *boxes, const tl_tensor *scores,
                const tl_nms *how, tl_tensor *dst, int *count, void *work)
{
    if (boxes->dtype != TL_FLOAT || scores->dtype != TL_FLOAT || dst->dtype != TL_INT64)
        return tl_fail("CUDA kernel nms: boxes of %s, scores of %s and results of %s, expected "
                       "TL_FLOAT, TL_FLOAT and TL_INT64",
                       tl_dtype_name(boxes->dtype), tl_dtype_name(scores->dtype),
                       tl_dtype_name(dst->dtype));
    nms_job job = job_of(boxes, scores, how);
    if (boxes->len == 0 || scores->len == 0 || job.max == 0) {
        const cudaError_t e = cudaMemsetAsync(count, 0, sizeof(*count), stream);
        return e == cudaSuccess ? 0 : tl_fail("CUDA nms: %s", cudaGetErrorString(e));
    }
    divide_work(&job, work);
    job.dst = (int64_t *)dst->data;
    job.count = count;
    find_candidates<<<job.classes, THREADS, 0, stream>>>(job);
    sort(stream, job);
    choose<<<job.classes, THREADS, 0, stream>>>(job);
    add_counts<<<1, SORT_THREADS, 0, stream>>>(job);
    write_rows<<<job.classes, THREADS, 0, stream>>>(job);
    return ln_cuda_launched("nms");
}

size_t ln_cuda_nms_work(const tl_tensor *boxes, const tl_tensor *scores, const tl_nms *how)
{
    nms_job job = job_of(boxes, scores, how);
    return divide_work(&job, NULL);
}
