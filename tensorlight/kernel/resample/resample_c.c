// SPDX-License-Identifier: Apache-2.0
// Resampling in plain C: the definition. To the nearest, all axes at once; by weights, one axis
// after the other, which then is the middle one of [outer, in, inner].

#include <math.h>

#include "kernel/resample/resample.h"

/** The row of src that `row` of dst takes its elements from, or -1 for the fill. */
static ptrdiff_t nearest_src_row(const tl_nearest_job *job, size_t row)
{
    ptrdiff_t src_row = 0, step = 1;
    for (int i = job->ndim - 2; i >= 0; i--) {
        const int at = (int)(row % (size_t)job->out[i]);
        const int index = job->indices[i] ? job->indices[i][at] : at;
        if (index < 0)
            return -1;
        row /= (size_t)job->out[i];
        src_row += index * step;
        step *= job->in[i];
    }
    return src_row;
}

// Each of these types stands for TL_FLOAT or another.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/resample/resample_nearest_c.inc.h"
#define TL_TAG      u64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE
#undef TL_TUNED_ALL

// Integers of more than 8 bits are computed in double.
#define TL_TUNED_f64 1
#define TL_TEMPLATE  "kernel/resample/resample_filter_c.inc.h"
#define TL_TAG       f64
#include "tensor/tl_one_type.inc.h"
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
