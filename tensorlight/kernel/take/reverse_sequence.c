// SPDX-License-Identifier: Apache-2.0
// Reverses each of the sequences, of different lengths, in a tensor (ONNX ReverseSequence).

#include <assert.h>

#include "kernel/take/tl_index.h"
#include "kernel/tl_axis.h"
#include "tensorlight/tl_shape.h"

// A tensor seen as [outer, a, middle, b, inner], time and batch being a and b or b and a.
typedef struct sequence {
    const char *src;
    char *dst;
    const tl_tensor *lens;
    size_t times, time_step, batches, batch_step; // dims; blocks from one index to the next
    size_t block;                                 // bytes of inner
} sequence;

// Units are blocks.
static void reverse_range(void *arg, size_t begin, size_t end)
{
    const sequence *const s = arg;
    for (size_t i = begin; i < end; i++) {
        const size_t time = i / s->time_step % s->times;
        const size_t len = (size_t)tl_index_at(s->lens, i / s->batch_step % s->batches);
        const size_t from =
            time < len ? i - time * s->time_step + (len - 1 - time) * s->time_step : i;
        tl_copy_block(s->dst + i * s->block, s->src + from * s->block, s->block);
    }
}

int tl_exec_reverse_sequence(const tl_exec *exec, const tl_tensor *src, const tl_tensor *lens,
                             tl_tensor *dst, int time_axis, int batch_axis)
{
    assert(src->dtype == dst->dtype && src->len == dst->len && time_axis != batch_axis &&
           lens->len == src->dims[batch_axis]);
    for (int i = 0; i < lens->len; i++) {
        const int64_t len = tl_index_at(lens, (size_t)i);
        if (len < 0 || len > src->dims[time_axis])
            return tl_fail("length %lld at position %d, expected 0 to %d", (long long)len, i,
                           src->dims[time_axis]);
    }
    if (src->len == 0)
        return 0;
    const tl_axis time = tl_axis_of(src, time_axis), batch = tl_axis_of(src, batch_axis);
    const size_t inner = time.inner < batch.inner ? time.inner : batch.inner;
    sequence s = {.src = src->data,
                  .dst = dst->data,
                  .lens = lens,
                  .times = time.len,
                  .time_step = time.inner / inner,
                  .batches = batch.len,
                  .batch_step = batch.inner / inner,
                  .block = inner * tl_size_of(src->dtype)};
    tl_parallel(exec, (size_t)src->len / inner, tl_axis_grain(s.block / 8), reverse_range, &s);
    return 0;
}
