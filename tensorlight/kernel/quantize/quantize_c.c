// SPDX-License-Identifier: Apache-2.0
// Quantization and back in plain C: the definition.

#include <math.h>

#include "kernel/quantize/quantize.h"
#include "tensor/tl_element.h"

// Quantized networks compute in these types.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/quantize/quantize_c.inc.h"
#define LOWEST      INT8_MIN
#define HIGHEST     INT8_MAX
#define TL_TAG      i8
#include "tensor/tl_one_type.inc.h"
#undef LOWEST
#undef HIGHEST
#define LOWEST  0
#define HIGHEST UINT8_MAX
#define TL_TAG  u8
#include "tensor/tl_one_type.inc.h"
#undef LOWEST
#undef HIGHEST
#define LOWEST  INT16_MIN
#define HIGHEST INT16_MAX
#define TL_TAG  i16
#include "tensor/tl_one_type.inc.h"
#undef LOWEST
#undef HIGHEST
#define LOWEST  0
#define HIGHEST UINT16_MAX
#define TL_TAG  u16
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE

// WIDE holds every difference.
#define TL_TEMPLATE "kernel/quantize/dequantize_c.inc.h"
#define WIDE        int32_t
#define TL_TAG      i8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u8
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i16
#include "tensor/tl_one_type.inc.h"
#define TL_TAG u16
#include "tensor/tl_one_type.inc.h"
#undef WIDE
#define WIDE   int64_t
#define TL_TAG i32
#include "tensor/tl_one_type.inc.h"

void tl_quantize_range_f32_c(const float *src, size_t n, int lanes, float range[2])
{
    float min = range[0], max = range[1];
    for (size_t i = 0; i < n; i++) {
        if (i % TL_BLOCK >= (size_t)lanes)
            continue;
        min = src[i] < min ? src[i] : min;
        max = src[i] > max ? src[i] : max;
    }
    range[0] = min;
    range[1] = max;
}
