// SPDX-License-Identifier: Apache-2.0
// Template: rows of floats as integers of one or three bytes, see matmul_lowbit.h. Plain C for
// auto-vectorization; each set's source includes it. All operations but the rounding are exact.

#include <string.h>

// The bits of the max magnitude. Larger magnitudes have larger bits, infinity and NaN the largest.
static uint32_t largest_bits(const float *src, size_t n)
{
    uint32_t max = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, src + i, sizeof(bits));
        bits &= 0x7fffffff;
        max = bits > max ? bits : max;
    }
    return max;
}

// Limbs of src[i] * factor, i < n. Adding 1.5 * 2^23 rounds to an integer, ties to even.
static void write_limbs(const float *src, size_t n, float factor, size_t block, int8_t *limbs,
                        tl_lowbit_head *head)
{
    int32_t highs = 0, lows = 0;
    for (size_t i = 0; i < n; i++) {
        const float moved = src[i] * factor + 0x1.8p23f;
        int32_t x;
        memcpy(&x, &moved, sizeof(x));
        x -= 0x4b400000; // the bits of 1.5 * 2^23
        const int32_t low = (int8_t)x, rest = (x - low) / 256;
        const int32_t middle = (int8_t)rest, high = (rest - middle) / 256;
        limbs[i] = (int8_t)high;
        limbs[block + i] = (int8_t)middle;
        limbs[2 * block + i] = (int8_t)low;
        highs += high;
        lows += 256 * middle + low;
    }
    head->high = highs;
    head->low = lows;
}

// The same with one limb, in the lowest byte of the bits.
static void write_bytes(const float *src, size_t n, float factor, int8_t *bytes,
                        tl_lowbit_head *head)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const float moved = src[i] * factor + 0x1.8p23f;
        int32_t x;
        memcpy(&x, &moved, sizeof(x));
        bytes[i] = (int8_t)x; // NaN becomes 0
        sum += (int8_t)x;
    }
    head->low = sum;
}

// A power of two.
static float power_of_two(int exponent)
{
    const uint32_t bits = (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof(power));
    return power;
}

// Factor and unit of a block with one limb: NaN if its largest element is infinite or NaN.
static void scale_bytes(uint32_t bits, float *factor, float *unit)
{
    const float max = 127, least = 0x1p-104f;
    float magnitude;
    bits = bits < 0x7f800000 ? bits : 0x7fc00000;
    memcpy(&magnitude, &bits, sizeof(magnitude));
    magnitude = magnitude < least ? least : magnitude;
    *factor = max / magnitude;
    *unit = magnitude / max;
}

// The same for three limbs: powers of two.
static void scale_limbs(uint32_t bits, float *factor, float *unit)
{
    enum { BITS = 22, MIN = -104, EXPONENT = 23, BIAS = 126 };
    int exponent = (int)(bits >> EXPONENT) - BIAS; // the power of two above the largest
    exponent = exponent > MIN ? exponent : MIN;
    *factor = power_of_two(BITS - exponent);
    *unit = power_of_two(exponent - BITS);
}

// `n` elements of a block, of which the others are 0.
static void prepare_block(const tl_lowbit_job *job, const float *src, size_t n, char *dst)
{
    const size_t block = (size_t)job->param.block;
    const int32_t zero = job->param.has_zeros ? 1 : job->param.zero;
    const uint32_t max = largest_bits(src, n);
    float factor;
    tl_lowbit_head head = {.is_finite = job->limbs == 1 || max < 0x7f800000};
    int8_t *const limbs = (int8_t *)dst + sizeof(head);
    if (n < block || !head.is_finite)
        memset(limbs, 0, job->limbs * block);
    if (job->limbs == 1) {
        scale_bytes(max, &factor, &head.unit);
        write_bytes(src, n, factor, limbs, &head);
    } else if (head.is_finite) {
        scale_limbs(max, &factor, &head.unit);
        write_limbs(src, n, factor, block, limbs, &head);
    }
    head.high *= -zero;
    head.low *= -zero;
    memcpy(dst, &head, sizeof(head));
}

static inline void prepare_row(const tl_lowbit_job *job, const float *src, char *dst)
{
    const size_t block = (size_t)job->param.block;
    for (size_t k = 0; k < job->k; k += block, dst += tl_lowbit_block_size(job))
        prepare_block(job, src + k, tl_min_size(block, job->k - k), dst);
}
