// SPDX-License-Identifier: Apache-2.0
// Tests of products by a split matrix: floats as sums of three parts of bfloat16.

#include "kernel/matmul/gemm.h"
#include "kernel/tl_nn_test.h"

// Parts

static float any_float(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return tl_float_of_bits((uint32_t)(*seed >> 32));
}

// Subnormal parts lose bits below 2^-133.
static void check_parts(float x, const uint16_t *parts, size_t step)
{
    const float a = tl_bfloat_to_float(parts[0]), b = tl_bfloat_to_float(parts[step]);
    const float c = tl_bfloat_to_float(parts[2 * step]), sum = a + (b + c);
    if (isnan(x)) {
        ck_assert(isnan(sum) && isnan(a));
        return;
    }
    ck_assert_msg(fabsf(x) >= 0x1p-109f || isinf(x) ? sum == x : fabsf(sum - x) <= 0x1p-134f,
                  "%a has parts %a, %a, %a", (double)x, (double)a, (double)b, (double)c);
    ck_assert(isfinite(a) && isfinite(b));
    if (isfinite(x) && fabsf(x) >= 0x1p-100f)
        ck_assert(fabsf(b) <= 0x1.00001p-8f * fabsf(x) && fabsf(c) <= 0x1p-17f * fabsf(x));
}

START_TEST(parts_add_up_to_the_number)
{
    static const float special[] = {
        0,        -0.0f,       1,           0x1.01p0f,        0x1.00ffffp0f, FLT_MAX,
        -FLT_MAX, 0x1.fep127f, 0x1.ffp127f, -0x1.ffp127f,     INFINITY,      -INFINITY,
        NAN,      FLT_MIN,     0x1p-149f,   -0x1.ffffffp-110f};
    uint64_t seed = 7;
    for (size_t i = 0; i < 100000; i++) {
        const float x = i < NN_LEN(special) ? special[i] : any_float(&seed);
        uint16_t parts[3 * 5];
        tl_gemm_split(x, parts, 5);
        check_parts(x, parts, 5);
    }
}
END_TEST

START_TEST(rows_are_split_at_every_instruction_set)
{
    static const int lengths[] = {1, 31, 32, 33, 70, 1344}; // of 1344: 2016 words
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(lengths); i++) {
        const int k = lengths[i], rows = 3;
        const size_t row = tl_gemm_pairs_row((size_t)k, 1);
        uint64_t seed = 8;
        nn_room room = {.seed = 1};
        tl_tensor *const src = nn_blank(&room, TL_FLOAT, 2, (int[]){rows, k});
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){rows, (int)row});
        for (int j = 0; j < src->len; j++)
            ((float *)src->data)[j] = any_float(&seed);
        tl_gemm_to_pairs(&(tl_exec){.isa = isa}, src->data, (size_t)rows, (size_t)k, 1, dst->data);
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < (k + 31) / 32 * 32; j++) { // with padding
                const uint16_t *const parts = (const uint16_t *)((float *)dst->data + r * (int)row);
                check_parts(j < k ? ((float *)src->data)[r * k + j] : 0,
                            parts + j / 32 * 96 + j % 32, 32);
            }
        nn_close(&room);
    }
}
END_TEST

START_TEST(shapes_of_split_matrices_are_checked)
{
    int dims[3];
    nn_room room = {0};
    ck_assert_int_eq(tl_matmul_split_dims(33, 65, dims), 0);
    ck_assert(dims[0] == 3 && dims[1] == 96 && dims[2] == 64);
    ck_assert_int_eq(tl_matmul_split_dims(INT32_MAX, 1, dims), -1);
    ck_assert_str_eq(tl_last_error(), "a matrix in parts of bfloat16 has 2147483647 rows, expected "
                                      "at most 1431655744");
    ck_assert(tl_matmul_is_split(nn_blank(&room, TL_BFLOAT16, 3, (int[]){3, 96, 64}), 33));
    ck_assert(!tl_matmul_is_split(nn_blank(&room, TL_BFLOAT16, 3, (int[]){3, 96, 64}), 65));
    ck_assert(!tl_matmul_is_split(nn_blank(&room, TL_BFLOAT16, 3, (int[]){3, 17, 64}), 33));
    ck_assert(!tl_matmul_is_split(nn_blank(&room, TL_FLOAT, 3, (int[]){3, 96, 32}), 33));
    nn_close(&room);
}
END_TEST

// Products

typedef struct split_product {
    tl_tensor *src1, *src2; // [2, m, k], [k, n] or with trans2 [n, k]
    tl_tensor *packed, *bias, *add;
    tl_matmul_param param;
    tl_activation act;
} split_product;

// With the scratch memory that it asks for, which it does not leave.
static void run_split(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const split_product *const p = arg;
    tl_exec with = exec ? *exec : (tl_exec){.isa = tl_isa_best()};
    const size_t size = tl_matmul_packed_scratch(p->src1, p->packed, p->bias, dst, &p->param,
                                                 tl_pool_size(with.pool));
    char *const scratch = aligned_alloc(64, (size + 127) / 64 * 64);
    ck_assert_ptr_nonnull(scratch);
    scratch[size] = 77;
    with.scratch = scratch;
    with.scratch_size = size;
    ck_assert_int_eq(
        tl_exec_matmul_packed(&with, p->src1, p->packed, p->bias, p->add, dst, &p->param, p->act),
        0);
    ck_assert_int_eq(scratch[size], 77);
    free(scratch);
}

static tl_tensor *pack(nn_room *room, const tl_exec *exec, const split_product *p, tl_dtype dtype)
{
    const int trans = p->param.trans2, k = p->src2->dims[trans], n = p->src2->dims[!trans];
    int dims[3];
    ck_assert_int_eq(dtype == TL_FLOAT ? tl_matmul_packed_dims(k, n, dtype, dims)
                                       : tl_matmul_split_dims(k, n, dims),
                     0);
    tl_tensor *const packed = nn_blank(room, dtype, 3, dims);
    tl_exec_matmul_pack(exec, p->src2, packed, trans);
    return packed;
}

static unsigned draw(uint64_t *seed, unsigned n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33) % n;
}

static void scale(tl_tensor *t, unsigned exponents, uint64_t *seed)
{
    for (int i = 0; i < t->len; i++)
        ((float *)t->data)[i] =
            ldexpf(((float *)t->data)[i], (int)draw(seed, 2 * exponents + 1) - (int)exponents);
}

// A product of random numbers, with exponents that differ by up to 2 * `exponents`.
static split_product random_product(nn_room *room, const int *mnk, unsigned form,
                                    unsigned exponents)
{
    const int m = mnk[0], n = mnk[1], k = mnk[2], trans2 = (int)form % 2;
    const int biases[][2] = {{1, 1}, {1, n}, {m, 1}, {m, n}};
    uint64_t seed = room->seed + form;
    split_product p = {.param = {0, trans2, form / 2 % 2 ? 1 : -0.5, form / 4 % 2 ? 1 : 3}};
    p.src1 = nn_random(room, TL_FLOAT, 3, (int[]){2, m, k}, -1, 1);
    p.src2 = nn_random(room, TL_FLOAT, 2, (int[]){trans2 ? n : k, trans2 ? k : n}, -1, 1);
    scale(p.src1, exponents, &seed);
    scale(p.src2, exponents, &seed);
    if (form % 5)
        p.bias = nn_random(room, TL_FLOAT, 2, biases[form % 5 - 1], -1, 1);
    if (form % 3)
        p.add = nn_random(room, TL_FLOAT, 3, (int[]){2, m, n}, -1, 1);
    return p;
}

static double src2_at(const split_product *p, int k, int col)
{
    const tl_tensor *const t = p->src2;
    return nn_at(t, (size_t)(p->param.trans2 ? col * t->dims[1] + k : k * t->dims[1] + col));
}

// A sum before the activation, in double, with the sum of its magnitudes.
typedef struct sum {
    double value, magnitude, rest; // rest: of what is added to the product
} sum;

static sum sum_at(const split_product *p, const tl_tensor *dst, int i)
{
    const int m = dst->dims[1], n = dst->dims[2], k = p->src1->dims[2];
    const int row = i / n % m, col = i % n;
    sum s = {0};
    for (int j = 0; j < k; j++) {
        const double term = nn_at(p->src1, (size_t)(i / n * k + j)) * src2_at(p, j, col);
        s.value += term;
        s.magnitude += fabs(term);
    }
    s.value *= p->param.alpha;
    s.magnitude *= fabs(p->param.alpha);
    if (p->bias) {
        const int r = p->bias->dims[0] == 1 ? 0 : row, c = p->bias->dims[1] == 1 ? 0 : col;
        const double term = p->param.beta * nn_at(p->bias, (size_t)(r * p->bias->dims[1] + c));
        s.value += term;
        s.rest += fabs(term);
    }
    if (p->add) {
        s.value += nn_at(p->add, (size_t)i);
        s.rest += fabs(nn_at(p->add, (size_t)i));
    }
    return s;
}

// The max error of a product of k terms by units, relative to the sum of their magnitudes, in units
// of rounding: the dropped products; the roundings of a chunk, whose even and odd terms are summed
// apart; those of its sums, of the chunks of a part of the sum, and of the parts. The small
// products add a hundredth of that. Floats have k.
static double max_roundings(int k)
{
    const double chunk = k < TL_GEMM_CHUNK ? (k + 1) / 2 : TL_GEMM_CHUNK / 2;
    return 1.02 * (1 + chunk + 2 + tl_min((k + 31) / 32, 10) + (k + 319) / 320);
}

// Without units, the bits are those of the product of floats.
static void check_without_units(nn_room *room, const tl_exec *exec, const split_product *p,
                                const tl_tensor *got)
{
    split_product floats = *p;
    tl_tensor *const want = nn_blank(room, TL_FLOAT, 3, got->dims);
    floats.packed = pack(room, exec, p, TL_FLOAT);
    run_split(exec, want, &floats);
    ck_assert_int_eq(memcmp(got->data, want->data, tl_tensor_size(got)), 0);
}

static void check_random(tl_isa isa, const int *mnk, unsigned form, unsigned exponents)
{
    const int k = mnk[2];
    const tl_exec exec = {.isa = isa};
    nn_room room = {.seed = (uint64_t)(mnk[0] + 100 * mnk[1] + 10000 * k)};
    split_product p = random_product(&room, mnk, form, exponents);
    p.packed = pack(&room, &exec, &p, TL_BFLOAT16);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 3, (int[]){2, mnk[0], mnk[1]});
    run_split(&exec, got, &p);
    if (!tl_gemm_has_units(&exec)) {
        check_without_units(&room, &exec, &p, got);
    } else if (isa != TL_ISA_TILES) {
        tl_tensor *const tiles = nn_blank(&room, TL_FLOAT, 3, got->dims);
        run_split(&(tl_exec){.isa = TL_ISA_TILES}, tiles, &p);
        ck_assert_int_eq(memcmp(got->data, tiles->data, tl_tensor_size(got)), 0);
    }
    for (int i = 0; i < got->len; i++) {
        const sum s = sum_at(&p, got, i);
        const double roundings = tl_gemm_has_units(&exec) ? max_roundings(k) : k;
        nn_check_near(got, (size_t)i, s.value,
                      FLT_EPSILON / 2 * (roundings * s.magnitude + 4 * (s.magnitude + s.rest)));
    }
    nn_close(&room);
}

START_TEST(a_thousand_random_shapes_have_the_errors_of_floats)
{
    static const unsigned exponents[] = {0, 0, 20};
    NN_EACH_TILED(isa)
    {
        const tl_exec exec = {.isa = isa};
        uint64_t seed = 41;
        for (unsigned i = 0; i < 1000; i++) {
            const unsigned max = i % 50 == 0 ? 700 : i % 5 == 0 ? 150 : 40; // of k
            const int mnk[] = {1 + (int)draw(&seed, 40), 1 + (int)draw(&seed, 70),
                               1 + (int)draw(&seed, max)};
            const unsigned form = draw(&seed, 120);
            if (i % 10 == 0 || tl_gemm_has_units(&exec)) // the others only unpack
                check_random(isa, mnk, form, exponents[i % NN_LEN(exponents)]);
        }
    }
    NN_CHECK_AMX();
}
END_TEST

START_TEST(long_sums_and_borders_have_the_errors_of_floats)
{
    // Around tiles, panels, chunks and parts of the sum, which have 320 terms at most; several
    // groups.
    static const int shapes[][3] = {{1, 1, 1},     {16, 32, 32},  {17, 33, 33},   {33, 31, 31},
                                    {32, 64, 320}, {31, 65, 321}, {15, 32, 1061}, {9, 40, 4096},
                                    {197, 70, 33}, {400, 32, 330}};
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (unsigned form = 0; form < 2; form++)
            check_random(isa, shapes[i], form + 7 * (unsigned)i, form * 20);
}
END_TEST

START_TEST(an_empty_sum_gives_the_bias)
{
    NN_EACH_TILED(isa)
    check_random(isa, (int[]){18, 33, 0}, 9, 0);
}
END_TEST

START_TEST(activations_follow_the_sums)
{
    static const tl_activation acts[] = {
        {TL_ACT_RELU}, {TL_ACT_LRELU, 0.25f}, {TL_ACT_CLIP, -0.5f, 1.5f}, {TL_ACT_GELU}};
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(acts); i++)
        for (int k = 30; k < 700; k += 300) {
            const tl_exec exec = {.isa = isa}, plain = {.isa = TL_ISA_C};
            nn_room room = {.seed = 6};
            split_product p = random_product(&room, (int[]){18, 64, k}, (unsigned)i * 5, 0);
            p.packed = pack(&room, &exec, &p, TL_BFLOAT16);
            tl_tensor *const want = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 18, 64});
            tl_tensor *const got = nn_blank(&room, TL_FLOAT, 3, want->dims);
            run_split(&exec, want, &p);
            tl_exec_act(&plain, want, want, acts[i]);
            p.act = acts[i];
            run_split(&exec, got, &p);
            for (int j = 0; j < got->len; j++)
                nn_check_near(got, (size_t)j, nn_at(want, (size_t)j),
                              1e-6 * (1 + fabs(nn_at(want, (size_t)j))));
            nn_close(&room);
        }
}
END_TEST

START_TEST(threads_change_no_bit_of_split_products)
{
    static const int shapes[][3] = {{70, 130, 100}, {20, 300, 340}, {250, 40, 40}};
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(shapes); i++)
        for (int is_finite = 0; is_finite < 2; is_finite++) {
            tl_pool *const pool = tl_pool_create(3);
            nn_room room = {.seed = 4};
            split_product p = random_product(&room, shapes[i], 3, 0);
            if (!is_finite)
                ((float *)p.src1->data)[p.src1->len - 1] = INFINITY;
            p.packed = pack(&room, &(tl_exec){.isa = isa}, &p, TL_BFLOAT16);
            tl_tensor *const one =
                nn_blank(&room, TL_FLOAT, 3, (int[]){2, shapes[i][0], shapes[i][1]});
            tl_tensor *const three = nn_blank(&room, TL_FLOAT, 3, one->dims);
            run_split(&(tl_exec){.isa = isa}, one, &p);
            run_split(&(tl_exec){.isa = isa, .pool = pool}, three, &p);
            ck_assert_int_eq(memcmp(one->data, three->data, tl_tensor_size(one)), 0);
            tl_pool_free(pool);
            nn_close(&room);
        }
}
END_TEST

// Numbers that are not finite

static int is_tiny(float x)
{
    return x != 0 && fabsf(x) < 0x1p-133f;
}

// In order, in floats; *is_clear: no order overflows, unless factors are infinite or NaN, and none
// of these meets a number that counts as 0.
static float float_sum(const split_product *p, const tl_tensor *dst, int i, double *tolerance,
                       int *is_clear)
{
    const int n = dst->dims[2], k = p->src1->dims[2];
    double magnitude = 0, underflow = 0;
    float y = 0;
    *is_clear = 1;
    for (int j = 0; j < k; j++) {
        const float a = (float)nn_at(p->src1, (size_t)(i / n * k + j));
        const float b = (float)src2_at(p, j, i % n);
        y = fmaf(a, b, y);
        if (isfinite(a) && isfinite(b)) {
            magnitude += fabs((double)a * (double)b);
            underflow += 0x1p-125 * (fabs((double)a) + fabs((double)b)) + 0x1p-123;
        } else if (is_tiny(a) || is_tiny(b)) {
            *is_clear = 0;
        }
    }
    *is_clear &= magnitude < (double)FLT_MAX / 2;
    *tolerance = FLT_EPSILON * (k + 2) * magnitude + underflow;
    return y;
}

static void put_special(tl_tensor *t, uint64_t *seed)
{
    static const float values[] = {INFINITY, -INFINITY, NAN,    FLT_MAX, -FLT_MAX, 0x1.ffp127f,
                                   0,        -0.0f,     1e-40f, -1e-40f, FLT_MIN,  0x1p-149f};
    if (t->len > 0)
        ((float *)t->data)[draw(seed, (unsigned)t->len)] = values[draw(seed, NN_LEN(values))];
}

static void check_special(const split_product *p, const tl_tensor *got)
{
    for (int i = 0; i < got->len; i++) {
        double tolerance;
        int is_clear;
        const float want = float_sum(p, got, i, &tolerance, &is_clear);
        if (is_clear)
            nn_check_near(got, (size_t)i, (double)want, tolerance);
    }
}

START_TEST(special_numbers_give_the_results_of_floats)
{
    NN_EACH_TILED(isa)
    {
        uint64_t seed = 5;
        for (unsigned i = 0; i < 400; i++) {
            const int mnk[] = {1 + (int)draw(&seed, 40), 1 + (int)draw(&seed, 70),
                               1 + (int)draw(&seed, i % 10 ? 40 : 500)};
            const tl_exec exec = {.isa = isa};
            nn_room room = {.seed = i};
            split_product p = random_product(&room, mnk, i % 2 + 60, 0);
            p.param.alpha = 1;
            p.bias = p.add = NULL;
            for (unsigned j = draw(&seed, 6); j > 0; j--)
                put_special(draw(&seed, 2) ? p.src1 : p.src2, &seed);
            p.packed = pack(&room, &exec, &p, TL_BFLOAT16);
            tl_tensor *const got = nn_blank(&room, TL_FLOAT, 3, (int[]){2, mnk[0], mnk[1]});
            run_split(&exec, got, &p);
            check_special(&p, got);
            nn_close(&room);
        }
    }
}
END_TEST

START_TEST(only_an_overflow_of_the_sum_in_order_is_one)
{
    // FLT_MAX - FLT_MAX + FLT_MAX - ..: the sums of the even terms and of the odd ones overflow.
    NN_EACH_TILED(isa)
    {
        const tl_exec exec = {.isa = isa};
        nn_room room = {0};
        split_product p = {.param = {.alpha = 1}};
        p.src1 = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 20, 40});
        p.src2 = nn_blank(&room, TL_FLOAT, 2, (int[]){40, 33});
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, 20, 33});
        for (int i = 0; i < p.src1->len; i++)
            ((float *)p.src1->data)[i] = i % 2 ? -FLT_MAX : FLT_MAX;
        for (int i = 0; i < p.src2->len; i++)
            ((float *)p.src2->data)[i] = i == 33 ? -1 : 1; // row 1, column 0
        p.packed = pack(&room, &exec, &p, TL_BFLOAT16);
        run_split(&exec, dst, &p);
        for (int i = 0; i < dst->len; i++)
            ck_assert(((float *)dst->data)[i] == (i % 33 == 0 ? INFINITY : 0));
        nn_close(&room);
    }
}
END_TEST

START_TEST(units_need_their_scratch_memory)
{
    NN_EACH_TILED(isa)
    {
        const tl_exec exec = {.isa = isa};
        nn_room room = {.seed = 2};
        split_product p = random_product(&room, (int[]){3, 4, 5}, 1, 0);
        p.packed = pack(&room, &exec, &p, TL_BFLOAT16);
        tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){2, 3, 4});
        const int status = tl_exec_matmul_packed(&exec, p.src1, p.packed, NULL, NULL, dst, &p.param,
                                                 (tl_activation){0});
        ck_assert_int_eq(status, tl_gemm_has_units(&exec) ? -1 : 0);
        if (status)
            ck_assert_str_eq(tl_last_error(), "a product in TL_BFLOAT16 needs 1152 bytes of "
                                              "scratch memory, got 0");
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("matmul_packed", parts_add_up_to_the_number, rows_are_split_at_every_instruction_set,
             shapes_of_split_matrices_are_checked,
             a_thousand_random_shapes_have_the_errors_of_floats,
             long_sums_and_borders_have_the_errors_of_floats, an_empty_sum_gives_the_bias,
             activations_follow_the_sums, threads_change_no_bit_of_split_products,
             special_numbers_give_the_results_of_floats,
             only_an_overflow_of_the_sum_in_order_is_one, units_need_their_scratch_memory)
