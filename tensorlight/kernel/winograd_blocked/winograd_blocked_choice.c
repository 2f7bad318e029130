// SPDX-License-Identifier: Apache-2.0
// Chooses the algorithm of a blocked convolution, by a cost model or by measurement.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_quantized.h"
#include "tensorlight/tl_util.h"

// Min savings of the largest tiles, which have the largest rounding errors.
enum { CAREFUL_PERCENT = 5 };

// Min savings of bfloat16 over Winograd, whose estimated cost is too high if all weights stay in
// the L3 cache.
enum { BFLOAT16_PERCENT = 10 };

int tl_blocked_winograd_fits(const tl_conv2d_param *param)
{
    static const int one[2] = {1, 1}, three[2] = {3, 3};
    return param->group == 1 && memcmp(param->size, three, sizeof(three)) == 0 &&
           memcmp(param->stride, one, sizeof(one)) == 0 &&
           memcmp(param->dilation, one, sizeof(one)) == 0;
}

// The m with the lowest cost.
static int cheapest(const double costs[TL_BLOCKED_CONV2D_WAYS])
{
    int best = 0;
    for (int m = 2; m <= 6; m += 2) {
        const double share = m == 6 ? 1 - CAREFUL_PERCENT / 100.0 : 1;
        if (costs[m / 2] < costs[best / 2] * share)
            best = m;
    }
    return best;
}

// Cost model

// Costs are counted in multiply-accumulates of TL_BLOCK floats.
enum {
    WEIGHT_COST = 6,   // to load TL_BLOCK weights from memory, at least once per image: it lasts 7
                       // to 15 multiply-accumulates, of which half is hidden
    ROUNDING_COST = 6, // to round TL_BLOCK elements of a source: about a pass through a cache
};

// To transform the patch or the tile of a block: about the number of instructions.
static const int transform_costs[] = {[2] = 100, [4] = 280, [6] = 600};

static double model_direct(const int src[4], const int dst[4], const int size[2], int weight_cost)
{
    const double pixels = (double)dst[0] * dst[2] * dst[3];
    return (double)size[0] * size[1] * src[1] * tl_blocks(dst[1]) * (pixels + weight_cost);
}

static double tiles_along(int length, int m)
{
    return ceil((double)length / m);
}

static double model_winograd(const int src[4], const int dst[4], int m, int weight_cost,
                             int transform_cost)
{
    const double tiles = dst[0] * tiles_along(dst[2], m) * tiles_along(dst[3], m);
    const double points = (m + 2) * (m + 2);
    return points * src[1] * tl_blocks(dst[1]) * (tiles + weight_cost) +
           tiles * transform_cost * (tl_blocks(src[1]) + tl_blocks(dst[1]));
}

// The cost of a convolution of floats with tiles of `m`; 0: direct.
static double model_floats(const int src[4], const int dst[4], const int size[2], int m)
{
    return m ? model_winograd(src, dst, m, WEIGHT_COST, transform_costs[m])
             : model_direct(src, dst, size, WEIGHT_COST);
}

int tl_blocked_conv2d_best(const int src[4], const int dst[4], const tl_conv2d_param *param)
{
    if (!tl_blocked_winograd_fits(param))
        return 0;
    double costs[TL_BLOCKED_CONV2D_WAYS];
    for (int m = 0; m <= 6; m += 2)
        costs[m / 2] = model_floats(src, dst, param->size, m);
    return cheapest(costs);
}

int tl_blocked_conv2d_pairs_pay(const int src[4], const int dst[4], const tl_conv2d_param *param,
                                int m)
{
    const double direct = model_floats(src, dst, param->size, 0);
    const double pixels = (double)src[0] * src[2] * src[3];
    const double bfloat16 = direct / 2 + pixels * tl_blocks(src[1]) * ROUNDING_COST;
    const double share = m ? 1 - BFLOAT16_PERCENT / 100.0 : 1;
    return bfloat16 < model_floats(src, dst, param->size, m) * share;
}

// Cost model of 8-bit integers

// Costs are counted in multiply-accumulates of TL_BLOCK integers of 16 bits.
enum {
    INT_TILE = 4,
    INT_WEIGHT_COST = 3,      // to load TL_BLOCK weights of 8 bits; transformed ones have 16 bits
    INT_TRANSFORM_COST = 500, // of the patch or the tile of a block: 2 multiply-accumulates a cycle
};

int tl_quantized_conv2d_best(const int src[4], const int dst[4], const tl_conv2d_param *param,
                             tl_isa isa)
{
    const int has_byte_products = tl_isa_contains(isa, TL_ISA_AVXVNNI) ||
                                  tl_isa_contains(isa, TL_ISA_AVX512VNNI) ||
                                  tl_isa_contains(isa, TL_ISA_DOTPROD) || isa == TL_ISA_TILES;
    if (!tl_blocked_winograd_fits(param) || has_byte_products)
        return 0;
    const double by_tiles =
        model_winograd(src, dst, INT_TILE, 2 * INT_WEIGHT_COST, INT_TRANSFORM_COST);
    return by_tiles < model_direct(src, dst, param->size, INT_WEIGHT_COST) ? INT_TILE : 0;
}

// Measurement

enum {
    EVICTION_CHUNK = 64 * 1024,      // bytes that a thread reads at once
    MAX_EVICTION = 64 * 1024 * 1024, // more than the size of caches
    MIN_RUNS = 3,
    MAX_RUNS = 30,
};

enum { CACHE_LINE = 64 };
static const float fill_value = 0.5f; // neither subnormal nor NaN, which slow some CPUs down

static const uint64_t run_nanoseconds = 100000000; // per algorithm, unless MIN_RUNS take longer

// A measured convolution, and a buffer that is read before each run to evict the weights.
typedef struct trial {
    tl_exec exec;
    const tl_conv2d_param *param;
    int channels[2], m;
    tl_tensor *src, *dst, *weight;
    char *eviction_buffer;
    size_t eviction_size;
} trial;

static void evict_weights(void *arg, size_t begin, size_t end)
{
    const trial *const t = arg;
    const volatile char *const buffer = t->eviction_buffer;
    for (size_t i = begin * EVICTION_CHUNK; i < end * EVICTION_CHUNK; i += CACHE_LINE)
        (void)buffer[i];
}

static void run(const trial *t)
{
    if (t->m)
        tl_exec_blocked_winograd(&t->exec, t->src, t->weight, NULL, t->dst, t->param,
                                 t->channels[0], t->m);
    else
        tl_exec_blocked_conv2d(&t->exec, t->src, t->weight, NULL, t->dst, t->param, t->channels);
}

// The min seconds of a run with the cache contents of a network: the source was just written, the
// weights were evicted by the rest of the network.
static double min_seconds(trial *t)
{
    uint64_t min = UINT64_MAX, sum = 0;
    for (int i = 0; i < MIN_RUNS || (i < MAX_RUNS && sum < run_nanoseconds); i++) {
        tl_parallel(&t->exec, t->eviction_size / EVICTION_CHUNK, 1, evict_weights, t);
        tl_exec_fill(&t->exec, t->src, &fill_value);
        const uint64_t start = tl_clock();
        run(t);
        const uint64_t time = tl_clock() - start;
        min = time < min ? time : min;
        sum += time;
    }
    return (double)min * 1e-9;
}

static size_t packed(const trial *t)
{
    return t->m ? tl_blocked_winograd_packed(t->channels[0], t->m)
                : tl_blocked_conv2d_packed(t->channels, 1, t->param->size, TL_BLOCK);
}

static size_t scratch(const trial *t)
{
    const int threads = tl_pool_size(t->exec.pool);
    return t->m ? tl_blocked_winograd_scratch(t->src, t->dst, t->channels[0], t->m, threads)
                : tl_blocked_conv2d_scratch(t->src, t->dst, t->param, t->channels, threads);
}

// Writes the weights: untouched pages all map to one zero page, and would be timed as cached.
static tl_tensor *weights(const trial *t)
{
    const size_t row = packed(t);
    if (row > INT_MAX) {
        tl_fail("a row of packed weights has %zu elements, expected at most %d", row, INT_MAX);
        return NULL;
    }
    tl_tensor *const weight = tl_tensor_zeros(2, (int[]){t->dst->dims[1], (int)row}, TL_FLOAT);
    if (weight)
        tl_exec_fill(&t->exec, weight, &fill_value);
    return weight;
}

// The min seconds with tiles of m, 0: direct; -1 with a reason.
static double measure(trial *t, int m)
{
    double seconds = -1;
    t->m = m;
    t->weight = weights(t);
    t->exec.scratch_size = scratch(t);
    t->exec.scratch = tl_alloc(t->exec.scratch_size);
    if (t->weight && t->exec.scratch)
        seconds = min_seconds(t);
    tl_free(t->exec.scratch);
    tl_tensor_free_data_too(t->weight);
    return seconds;
}

static tl_tensor *in_blocks(const int dims[4])
{
    const int blocked[] = {dims[0], tl_blocks(dims[1]), dims[2], dims[3], TL_BLOCK};
    return tl_tensor_zeros(5, blocked, TL_FLOAT);
}

int tl_blocked_conv2d_measure(const tl_exec *exec, const int src[4], const int dst[4],
                              const tl_conv2d_param *param, size_t others,
                              double seconds[TL_BLOCKED_CONV2D_WAYS])
{
    trial t = {.exec = exec ? *exec : (tl_exec){.isa = tl_isa_best()},
               .param = param,
               .channels = {src[1], dst[1]},
               .src = in_blocks(src),
               .dst = in_blocks(dst),
               .eviction_size =
                   tl_min_size(others, MAX_EVICTION) / EVICTION_CHUNK * EVICTION_CHUNK};
    t.eviction_buffer = tl_alloc(t.eviction_size);
    int status = t.src && t.dst && t.eviction_buffer ? 0 : -1;
    if (!status)
        memset(t.eviction_buffer, 1, t.eviction_size); // maps its pages, as weights() does
    for (int way = 0; way < TL_BLOCKED_CONV2D_WAYS && !status; way++) {
        seconds[way] = measure(&t, 2 * way);
        status = seconds[way] < 0 ? -1 : 0;
    }
    tl_free(t.eviction_buffer);
    tl_tensor_free_data_too(t.src);
    tl_tensor_free_data_too(t.dst);
    return status ? -1 : cheapest(seconds);
}
