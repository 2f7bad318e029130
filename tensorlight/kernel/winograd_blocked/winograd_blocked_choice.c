// SPDX-License-Identifier: Apache-2.0
// The algorithm of a convolution in blocks: by a model of the costs, or by measuring.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_quantized.h"
#include "tensorlight/tl_util.h"

// Min savings of the largest tiles, which have the largest rounding errors.
enum { CAREFUL_PERCENT = 5 };

// Min savings of rounded numbers over tiles, whose estimated cost is too high if all weights
// stay in the L3 cache.
enum { ROUNDED_PERCENT = 10 };

int tl_blocked_winograd_fits(const tl_conv2d_param *param)
{
    static const int one[2] = {1, 1}, three[2] = {3, 3};
    return param->group == 1 && memcmp(param->size, three, sizeof(three)) == 0 &&
           memcmp(param->stride, one, sizeof(one)) == 0 &&
           memcmp(param->dilation, one, sizeof(one)) == 0;
}

// The tile of the algorithm with the lowest cost.
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

// By a model

// Costs are counted in multiply-accumulates of TL_BLOCK floats.
enum {
    WEIGHT_COST = 6,   // of TL_BLOCK weights, which come from memory once for each image or more:
                       // half of the 7 to 15 that pass meanwhile, the other half being hidden
    ROUNDING_COST = 6, // of TL_BLOCK elements of a source, as to pass through a cache
};

// Of the transforms of a patch, or of a tile, of a block: near the number of instructions.
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

// The costs of floats, by tiles of `m` or, if that is 0, directly.
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
    const double pairs = direct / 2 + pixels * tl_blocks(src[1]) * ROUNDING_COST;
    const double share = m ? 1 - ROUNDED_PERCENT / 100.0 : 1;
    return pairs < model_floats(src, dst, param->size, m) * share;
}

// Of 8-bit integers

// Costs are counted in multiply-accumulates of TL_BLOCK integers of 16 bits.
enum {
    INT_TILE = 4,
    INT_WEIGHT_COST = 3,      // of TL_BLOCK weights of 8 bits, as above
    INT_TRANSFORM_COST = 500, // of a patch, or of a tile, of a block: twice the cycles
};

int tl_quantized_conv2d_best(const int src[4], const int dst[4], const tl_conv2d_param *param,
                             tl_isa isa)
{
    const int has_byte_products = tl_isa_contains(isa, TL_ISA_AVXVNNI) ||
                                  tl_isa_contains(isa, TL_ISA_AVX512VNNI) ||
                                  tl_isa_contains(isa, TL_ISA_DOTPROD);
    if (!tl_blocked_winograd_fits(param) || has_byte_products)
        return 0;
    const double by_tiles =
        model_winograd(src, dst, INT_TILE, 2 * INT_WEIGHT_COST, INT_TRANSFORM_COST);
    return by_tiles < model_direct(src, dst, param->size, INT_WEIGHT_COST) ? INT_TILE : 0;
}

// By measuring

enum {
    OTHERS_PIECE = 64 * 1024,      // bytes that a thread reads at once
    MAX_OTHERS = 64 * 1024 * 1024, // more than caches hold
    MIN_RUNS = 3,
    MAX_RUNS = 30,
};

// Memory is touched by cache lines; values only must not be exceptional.
enum { CACHE_LINE = 64 };
static const float any = 0.5f;

static const uint64_t run_nanoseconds = 100000000; // of an algorithm, unless MIN_RUNS need longer

// A measured convolution, and the memory that the other operators read between two runs.
typedef struct trial {
    tl_exec exec;
    const tl_conv2d_param *param;
    int channels[2], m;
    tl_tensor *src, *dst, *weight;
    char *others;
    size_t others_size;
} trial;

static void read_others(void *arg, size_t begin, size_t end)
{
    const trial *const t = arg;
    const volatile char *const others = t->others;
    for (size_t i = begin * OTHERS_PIECE; i < end * OTHERS_PIECE; i += CACHE_LINE)
        (void)others[i];
}

static void run(const trial *t)
{
    if (t->m)
        tl_exec_blocked_winograd(&t->exec, t->src, t->weight, NULL, t->dst, t->param,
                                 t->channels[0], t->m);
    else
        tl_exec_blocked_conv2d(&t->exec, t->src, t->weight, NULL, t->dst, t->param, t->channels);
}

// The shortest time of a run as a network does it: the source was just written, the weights were
// read before everything else was.
static double shortest(trial *t)
{
    uint64_t min = UINT64_MAX, sum = 0;
    for (int i = 0; i < MIN_RUNS || (i < MAX_RUNS && sum < run_nanoseconds); i++) {
        tl_parallel(&t->exec, t->others_size / OTHERS_PIECE, 1, read_others, t);
        tl_exec_fill(&t->exec, t->src, &any);
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

// Weights whose memory is there: pages that were never written are all the same one.
static tl_tensor *weights(const trial *t)
{
    const size_t row = packed(t);
    if (row > INT_MAX) {
        tl_fail("a row of packed weights has %zu elements, more than there may be", row);
        return NULL;
    }
    tl_tensor *const weight = tl_tensor_zeros(2, (int[]){t->dst->dims[1], (int)row}, TL_FLOAT);
    if (weight)
        tl_exec_fill(&t->exec, weight, &any);
    return weight;
}

// The seconds of the algorithm with tiles of m; -1 with a reason.
static double measure(trial *t, int m)
{
    double seconds = -1;
    t->m = m;
    t->weight = weights(t);
    t->exec.scratch_size = scratch(t);
    t->exec.scratch = tl_alloc(t->exec.scratch_size);
    if (t->weight && t->exec.scratch)
        seconds = shortest(t);
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
               .others_size = tl_min_size(others, MAX_OTHERS) / OTHERS_PIECE * OTHERS_PIECE};
    t.others = tl_alloc(t.others_size);
    int status = t.src && t.dst && t.others ? 0 : -1;
    if (!status)
        memset(t.others, 1, t.others_size); // as weights()
    for (int way = 0; way < TL_BLOCKED_CONV2D_WAYS && !status; way++) {
        seconds[way] = measure(&t, 2 * way);
        status = seconds[way] < 0 ? -1 : 0;
    }
    tl_free(t.others);
    tl_tensor_free_data_too(t.src);
    tl_tensor_free_data_too(t.dst);
    return status ? -1 : cheapest(seconds);
}
