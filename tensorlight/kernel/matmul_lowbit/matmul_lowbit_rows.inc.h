// SPDX-License-Identifier: Apache-2.0
// Template: rows of floats as integers of three bytes, see matmul_lowbit.h. Plain C for
// auto-vectorization; each set's source includes it. All operations but the rounding are exact.

#include <string.h>

// The bits of the largest magnitude: larger numbers have larger bits, infinity and NaN the
// largest.
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

// Limbs of `n` elements. Adding 1.5 * 2^23 to a number rounds it to an integer, ties to even.
static void write_limbs(const float *src, size_t n, float factor, size_t block, int8_t *limbs,
                        tl_lowbit_head *head)
{
    int32_t highs = 0, lows = 0;
    for (size_t i = 0; i < n; i++) {
        const float moved = src[i] * factor + 0x1.8p23f;
        int32_t x;
        memcpy(&x, &moved, sizeof(x));
        x -= 0x4b400000;
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

// A power of two.
static float power_of_two(int exponent)
{
    const uint32_t bits = (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof(power));
    return power;
}

// `n` elements of a block, of which the others are 0.
static void prepare_block(const float *src, size_t n, size_t block, char *dst)
{
    enum { BITS = 22, MIN = -104, EXPONENT = 23, BIAS = 126 };
    const uint32_t max = largest_bits(src, n);
    int exponent = (int)(max >> EXPONENT) - BIAS; // the power of two above the largest
    exponent = exponent > MIN ? exponent : MIN;
    tl_lowbit_head head = {.unit = power_of_two(exponent - BITS), .is_finite = max < 0x7f800000};
    int8_t *const limbs = (int8_t *)dst + sizeof(head);
    if (n < block || !head.is_finite)
        memset(limbs, 0, TL_LOWBIT_LIMBS * block);
    if (head.is_finite)
        write_limbs(src, n, power_of_two(BITS - exponent), block, limbs, &head);
    memcpy(dst, &head, sizeof(head));
}

static void prepare_row(const tl_lowbit_job *job, const float *src, char *dst)
{
    const size_t block = (size_t)job->param.block;
    for (size_t k = 0; k < job->k; k += block, dst += tl_lowbit_block_size(job))
        prepare_block(src + k, tl_min_size(block, job->k - k), block, dst);
}
