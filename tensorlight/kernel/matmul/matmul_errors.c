// SPDX-License-Identifier: Apache-2.0
// usage: matmul_errors. Prints the errors of packed products of floats, by vectors and by matrix
// units (gemm.h), as a list of JSON: the largest and the root mean square, relative to the sum of
// the magnitudes of the terms, in units of 2^-24. Not a test.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor/tl_half.h"
#include "tensorlight/tensorlight.h"

enum { ROWS = 64, COLUMNS = 64, MAX_TERMS = 4096 };

// A product of the rows of `x` and those of `y`, and its results.
typedef struct product {
    int k;
    float x[ROWS * MAX_TERMS], y[COLUMNS * MAX_TERMS];
    float got[ROWS * COLUMNS];
} product;

// Numbers

static uint64_t state = 1;

// In 0 .. 1.
static double draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static float uniform(void)
{
    return (float)(2 * draw() - 1);
}

static float positive(void)
{
    return (float)draw();
}

static float spread(int exponent)
{
    const int e = (int)(draw() * (2 * exponent + 1));
    return ldexpf(uniform(), e - exponent);
}

static float spread_20(void)
{
    return spread(20);
}

static float spread_60(void)
{
    return spread(60);
}

static void fill(float *data, int n, float (*number)(void))
{
    for (int i = 0; i < n; i++)
        data[i] = number();
}

// Each term is about minus the one `distance` before.
static void cancel(product *p, int distance)
{
    for (int i = 0; i < ROWS * p->k; i++)
        if (i % p->k / distance % 2)
            p->x[i] = (float)(p->x[i - distance] * (1 + 1e-3 * draw()));
    for (int i = 0; i < COLUMNS * p->k; i++)
        if (i % p->k / distance % 2)
            p->y[i] = (float)(-p->y[i - distance] * (1 + 1e-3 * draw()));
}

static const struct {
    const char *name;
    float (*number)(void);
    int cancels; // parts of a sum that cancel each other; 0: none
} kinds[] = {{"uniform", uniform, 0},
             {"positive", positive, 0},
             {"halves cancel", uniform, 2},
             {"neighbors cancel", uniform, MAX_TERMS},
             {"exponents -20 to 20", spread_20, 0},
             {"exponents -60 to 60", spread_60, 0}};

// Products

static int check(int status)
{
    if (status == 0)
        return 0;
    fprintf(stderr, "matmul_errors: %s\n", tl_last_error());
    exit(1);
}

static tl_tensor *tensor(void *data, int ndim, const int *dims, tl_dtype dtype)
{
    tl_tensor *const t = tl_tensor_create(data, ndim, dims, dtype);
    check(t ? 0 : -1);
    return t;
}

// got = x * y + (adds ? got : 0), with y packed in this shape.
static void multiply(product *p, tl_isa isa, tl_dtype dtype, const int *dims, int adds)
{
    const tl_matmul_param param = {.alpha = 1, .beta = 1};
    static float sums[ROWS * COLUMNS];
    tl_tensor *const x = tensor(p->x, 2, (int[]){ROWS, p->k}, TL_FLOAT);
    tl_tensor *const y = tensor(p->y, 2, (int[]){COLUMNS, p->k}, TL_FLOAT);
    tl_tensor *const packed = tl_tensor_zeros(3, dims, dtype);
    tl_tensor *const got = tensor(p->got, 2, (int[]){ROWS, COLUMNS}, TL_FLOAT);
    tl_tensor *const dst = tensor(sums, 2, (int[]){ROWS, COLUMNS}, TL_FLOAT);
    tl_exec exec = {.isa = isa};
    check(packed ? tl_exec_matmul_pack(&exec, y, packed, 1) : -1);
    exec.scratch_size = tl_matmul_packed_scratch(x, packed, NULL, dst, &param, 1);
    exec.scratch = aligned_alloc(64, exec.scratch_size / 64 * 64 + 64);
    check(tl_exec_matmul_packed(&exec, x, packed, adds ? got : NULL, NULL, dst, &param,
                                (tl_activation){0}));
    memcpy(p->got, sums, sizeof(sums));
    free(exec.scratch);
    tl_tensor_free(x);
    tl_tensor_free(y);
    tl_tensor_free_data_too(packed);
    tl_tensor_free(got);
    tl_tensor_free(dst);
}

static void floats(product *p)
{
    int dims[3];
    check(tl_matmul_packed_dims(p->k, COLUMNS, TL_FLOAT, dims));
    multiply(p, TL_ISA_AVX512, TL_FLOAT, dims, 0);
}

static void three_parts(product *p)
{
    int dims[3];
    check(tl_matmul_split_dims(p->k, COLUMNS, dims));
    multiply(p, TL_ISA_TILES, TL_BFLOAT16, dims, 0);
}

static void remove_first_part(float *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] -= tl_bfloat_to_float(tl_bfloat_from_float(data[i]));
}

// Three products of two parts.
static void two_parts(product *p)
{
    static product q;
    int dims[3];
    check(tl_matmul_packed_dims(p->k, COLUMNS, TL_BFLOAT16, dims));
    q = *p;
    remove_first_part(q.x, ROWS * p->k);
    multiply(&q, TL_ISA_TILES, TL_BFLOAT16, dims, 0);
    memcpy(q.x, p->x, sizeof(q.x));
    remove_first_part(q.y, COLUMNS * p->k);
    multiply(&q, TL_ISA_TILES, TL_BFLOAT16, dims, 1);
    memcpy(q.y, p->y, sizeof(q.y));
    multiply(&q, TL_ISA_TILES, TL_BFLOAT16, dims, 1);
    memcpy(p->got, q.got, sizeof(q.got));
}

static const struct {
    const char *name;
    void (*multiply)(product *);
} ways[] = {{"floats", floats}, {"three_parts", three_parts}, {"two_parts", two_parts}};

static void print_errors(const char *way, const product *p)
{
    double max = 0, squares = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const float *const x = p->x + i / COLUMNS * p->k, *const y = p->y + i % COLUMNS * p->k;
        long double sum = 0, magnitude = 0;
        for (int j = 0; j < p->k; j++) {
            sum += (long double)x[j] * y[j];
            magnitude += fabsl((long double)x[j] * y[j]);
        }
        const double error = (double)(fabsl(p->got[i] - sum) / magnitude) * 0x1p24;
        max = fmax(max, error);
        squares += error * error;
    }
    printf(", \"%s\": {\"max\": %.2f, \"rms\": %.3f}", way, max, sqrt(squares / (ROWS * COLUMNS)));
}

int main(void)
{
    static const int lengths[] = {64, 512, 4096};
    static product p;
    if (!tl_isa_is_usable(TL_ISA_AVX512)) {
        fputs("matmul_errors: needs AVX-512\n", stderr);
        return 1;
    }
    printf("[");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
            p.k = lengths[j];
            fill(p.x, ROWS * p.k, kinds[i].number);
            fill(p.y, COLUMNS * p.k, kinds[i].number);
            if (kinds[i].cancels)
                cancel(&p, kinds[i].cancels < p.k ? p.k / kinds[i].cancels : 1);
            printf("%s\n {\"factors\": \"%s\", \"k\": %d", i || j ? "," : "", kinds[i].name, p.k);
            for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
                ways[w].multiply(&p);
                print_errors(ways[w].name, &p);
            }
            printf("}");
            fflush(stdout);
        }
    puts("\n]");
    return 0;
}
