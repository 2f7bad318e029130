// SPDX-License-Identifier: Apache-2.0
// Test of matrix units: plain C computes the bits of AMX, which is emulated where there is none.

#include "kernel/simd/tl_tile_test.h"

#include <fenv.h>

#include "kernel/tl_nn_test.h"
#include "ln_tile_emulator.h"
#include "tensor/tl_amx.h"

// Whether AMX instructions run here, by the processor or by the emulator.
static int has_amx(void)
{
    static int has = -1;
    if (has < 0)
        has = tl_amx_detect() ? tl_amx_permit() : ln_tile_emulator_start() == 0;
    return has;
}

static int between(uint64_t *seed, int low, int high)
{
    return low + (int)(tl_random_uniform(seed) * (high - low + 1));
}

static void fill_bytes(uint8_t *p, size_t n, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)between(seed, 0, 255);
}

// bfloat16 of all kinds: ordinary ones, near each other in size, tiny, huge, infinite and NaN.
static void fill_pairs(uint8_t *p, size_t n, uint64_t *seed)
{
    const int kind = between(seed, 0, 3);
    for (size_t i = 0; i + 2 <= n; i += 2) {
        const int sign = between(seed, 0, 1), mantissa = between(seed, 0, 127);
        const int exponent = kind == 0   ? between(seed, 120, 134)
                             : kind == 1 ? between(seed, 60, 70) // products near the smallest
                             : kind == 2 ? between(seed, 0, 255)
                                         : between(seed, 0, 3) * 63;
        const uint16_t bits = (uint16_t)(sign << 15 | exponent << 7 | mantissa);
        memcpy(p + i, &bits, sizeof(bits));
    }
}

// NaN equals NaN, whatever its bits.
static int is_equal(const uint8_t *a, const uint8_t *b, int are_pairs)
{
    float x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return memcmp(a, b, sizeof(x)) == 0 || (are_pairs && isnan(x) && isnan(y));
}

static void check_random(uint64_t n, factors kind)
{
    uint64_t seed = n;
    const int are_pairs = kind == PAIRS;
    tile_product p = {.rows = between(&seed, 1, TL_TILE_ROWS),
                      .k = 4 * between(&seed, 1, 16),
                      .steps = between(&seed, 1, 3),
                      .factors = kind,
                      .is_zeroed = between(&seed, 0, 1)};
    uint8_t c[sizeof(p.sums)], amx[sizeof(p.sums)];
    (are_pairs ? fill_pairs : fill_bytes)(&p.left[0][0], sizeof(p.left), &seed);
    (are_pairs ? fill_pairs : fill_bytes)(&p.right[0][0], sizeof(p.right), &seed);
    (are_pairs ? fill_pairs : fill_bytes)(&p.sums[0][0], sizeof(p.sums), &seed);
    tile_product other = p;
    tile_product_c(&p);
    tile_product_amx(&other);
    memcpy(c, p.sums, sizeof(c));
    memcpy(amx, other.sums, sizeof(amx));
    for (size_t i = 0; i < sizeof(c); i += 4)
        if (!is_equal(c + i, amx + i, are_pairs))
            ck_abort_msg("seed %d, sum %d: %02x%02x%02x%02x in C, %02x%02x%02x%02x in AMX", (int)n,
                         (int)i / 4, c[i + 3], c[i + 2], c[i + 1], c[i], amx[i + 3], amx[i + 2],
                         amx[i + 1], amx[i]);
}

START_TEST(products_of_bytes_are_those_of_amx)
{
    for (uint64_t n = 1; has_amx() && n <= 1000; n++)
        check_random(n, n % 2 ? SIGNED : UNSIGNED);
}
END_TEST

START_TEST(products_of_pairs_are_those_of_amx)
{
    for (uint64_t n = 1; has_amx() && n <= 1000; n++)
        check_random(n, PAIRS);
}
END_TEST

START_TEST(products_of_bytes_are_exact)
{
    for (uint64_t n = 1; n <= 300; n++) {
        uint64_t seed = n;
        tile_product p = {
            .rows = between(&seed, 1, TL_TILE_ROWS), .k = 4 * between(&seed, 1, 16), .steps = 1};
        fill_bytes(&p.left[0][0], sizeof(p.left), &seed);
        fill_bytes(&p.right[0][0], sizeof(p.right), &seed);
        tile_product_c(&p); // the sums begin with 0
        for (int r = 0; r < p.rows; r++)
            for (int c = 0; c < 2 * TL_TILE_ROWS; c++) {
                int64_t sum = 0;
                int32_t found;
                for (int k = 0; k < p.k; k++) {
                    const int x = p.factors == SIGNED ? (int8_t)p.left[r][k] : p.left[r][k];
                    const uint8_t y = p.right[c / 16 * 16 + k / 4][c % 16 * 4 + k % 4];
                    sum += x * (p.factors == SIGNED ? y : (int8_t)y);
                }
                memcpy(&found, p.sums[r] + 4 * c, sizeof(found));
                ck_assert_int_eq(found, sum);
            }
    }
}
END_TEST

LN_TEST_MAIN("tile", products_of_bytes_are_those_of_amx, products_of_pairs_are_those_of_amx,
             products_of_bytes_are_exact)
