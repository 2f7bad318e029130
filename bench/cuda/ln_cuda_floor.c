// SPDX-License-Identifier: Apache-2.0
// The least time that cuDNN and cuBLASLt need for the layers of a network, by themselves: a floor
// to compare whole networks with. Reads a layer per line from standard input, where '#' begins a
// comment, and writes for each the microseconds, the kernel, and the line; then the sum:
//
//     conv DTYPE TF32 N C H W OC KH KW SH SW PT PL PB PR DH DW GROUP [*COUNT]
//     gemm DTYPE TF32 BATCH M N K [*COUNT]
//
// DTYPE is float32, float16 or bfloat16, TF32 is 0 or 1, COUNT how often the layer occurs. A
// convolution is measured alone (no bias, no activation) in both layouts, NCHW and NHWC, by all
// that the heuristics of cuDNN propose; a product of matrices with [K, N] and with [N, K], without
// epilogue, and with its own second matrix for each of the batch.

#include <stdio.h>
#include <string.h>

#include "arch/cuda/ln_cuda_plan.h"

enum { CONV_FIELDS = 17, GEMM_FIELDS = 5, MAX_FIELDS = CONV_FIELDS, LINE_SIZE = 512 };

// A line.
typedef struct layer {
    int is_conv;
    tl_dtype dtype;
    int fields[MAX_FIELDS]; // the numbers from TF32 on
    int count;
} layer;

// The fastest way to compute a layer.
typedef struct result {
    double seconds; // < 0: none
    char name[64];
} result;

// Lines

static tl_dtype dtype_from(const char *text)
{
    return !strcmp(text, "float32")    ? TL_FLOAT
           : !strcmp(text, "float16")  ? TL_FLOAT16
           : !strcmp(text, "bfloat16") ? TL_BFLOAT16
                                       : TL_DTYPE_INVALID;
}

// Reads `n` numbers from `text`; returns what follows, or NULL if they are fewer.
static const char *read_fields(const char *text, int n, int *fields)
{
    for (int i = 0; i < n; i++) {
        int used = 0;
        if (sscanf(text, "%d%n", &fields[i], &used) != 1 || fields[i] < 0)
            return NULL;
        text += used;
    }
    return text;
}

static int read_layer(const char *line, layer *l)
{
    char kind[16], dtype[16], more;
    int used = 0;
    *l = (layer){.count = 1};
    if (sscanf(line, "%15s %15s%n", kind, dtype, &used) != 2)
        return -1;
    l->is_conv = !strcmp(kind, "conv");
    l->dtype = dtype_from(dtype);
    if ((!l->is_conv && strcmp(kind, "gemm")) || l->dtype == TL_DTYPE_INVALID)
        return -1;
    const char *const rest =
        read_fields(line + used, l->is_conv ? CONV_FIELDS : GEMM_FIELDS, l->fields);
    if (!rest)
        return -1;
    const int n = sscanf(rest, " *%d %c", &l->count, &more);
    return n == 1 || (n < 1 && strspn(rest, " \t\n") == strlen(rest)) ? 0 : -1;
}

// Layers

static void keep_faster(result *best, const ln_cuda_plan *plan, const char *variant)
{
    const double seconds = ln_cuda_plan_seconds(plan);
    if (best->seconds >= 0 && best->seconds <= seconds)
        return;
    best->seconds = seconds;
    snprintf(best->name, sizeof(best->name), "%s %s", ln_cuda_plan_name(plan), variant);
}

static tl_tensor record(tl_dtype dtype, int ndim, int *dims)
{
    return (tl_tensor){
        .dtype = dtype, .len = tl_compute_length(ndim, dims), .ndim = ndim, .dims = dims};
}

static tl_conv2d_param param_of(const int *f)
{
    return (tl_conv2d_param){.group = f[16],
                             .size = {f[6], f[7]},
                             .stride = {f[8], f[9]},
                             .dilation = {f[14], f[15]},
                             .padding = {f[10], f[11], f[12], f[13]}};
}

// Writes dims [n, c, h, w], or [n, h, w, c].
static void set_dims(int *dims, int is_nhwc, int n, int c, int h, int w)
{
    const int plain[4] = {n, c, h, w}, nhwc[4] = {n, h, w, c};
    memcpy(dims, is_nhwc ? nhwc : plain, sizeof(plain));
}

static int try_conv(ln_cuda_libs *libs, const layer *l, int is_nhwc, result *best)
{
    const int *const f = l->fields;
    const tl_conv2d_param p = param_of(f);
    int x[4], w[4], y[4];
    if (p.group < 1 || f[2] % p.group || p.stride[0] < 1 || p.stride[1] < 1)
        return tl_fail("group or strides do not fit");
    const int height = tl_conv2d_length(f[3], f[6], f[8], f[14], f[10], f[12]),
              width = tl_conv2d_length(f[4], f[7], f[9], f[15], f[11], f[13]);
    if (height < 0 || width < 0)
        return -1;
    set_dims(x, is_nhwc, f[1], f[2], f[3], f[4]);
    set_dims(w, is_nhwc, f[5], f[2] / p.group, f[6], f[7]);
    set_dims(y, is_nhwc, f[1], f[5], height, width);
    const tl_tensor src = record(l->dtype, 4, x), weight = record(l->dtype, 4, w),
                    dst = record(l->dtype, 4, y);
    if (src.len < 0 || weight.len < 0 || dst.len < 0)
        return -1;
    const ln_cuda_conv conv = {.src = &src,
                               .weight = &weight,
                               .dst = &dst,
                               .param = p,
                               .is_nhwc = is_nhwc,
                               .allow_tf32 = f[0]};
    ln_cuda_plan *plan = NULL;
    if (ln_cuda_plan_bare_conv2d(libs, &plan, &conv))
        return -1;
    keep_faster(best, plan, is_nhwc ? "nhwc" : "nchw");
    ln_cuda_free_plan(plan);
    return 0;
}

static int try_gemm(ln_cuda_libs *libs, const layer *l, int trans2, result *best)
{
    const int batch = l->fields[1], m = l->fields[2], n = l->fields[3], k = l->fields[4];
    int a[3] = {batch, m, k}, b[3] = {batch, trans2 ? n : k, trans2 ? k : n}, d[3] = {batch, m, n};
    const tl_tensor src1 = record(l->dtype, 3, a), src2 = record(l->dtype, 3, b),
                    dst = record(l->dtype, 3, d);
    if (src1.len < 0 || src2.len < 0 || dst.len < 0)
        return -1;
    const ln_cuda_product product = {.src1 = &src1,
                                     .src2 = &src2,
                                     .dst = &dst,
                                     .trans2 = trans2,
                                     .alpha = 1,
                                     .allow_tf32 = l->fields[0]};
    ln_cuda_plan *plan = NULL;
    if (ln_cuda_plan_product(libs, &plan, &product))
        return -1;
    keep_faster(best, plan, trans2 ? "[n, k]" : "[k, n]");
    ln_cuda_free_plan(plan);
    return 0;
}

// One of the two variants is enough.
static result measure(ln_cuda_libs *libs, const layer *l)
{
    result best = {.seconds = -1};
    for (int variant = 0; variant < 2; variant++) {
        if (l->is_conv)
            try_conv(libs, l, variant, &best);
        else
            try_gemm(libs, l, variant, &best);
    }
    return best;
}

// All of them

// Returns whether the line has no layer.
static int is_blank(char *line)
{
    line[strcspn(line, "#\r\n")] = 0;
    return strspn(line, " \t") == strlen(line);
}

// Adds the time of a line to `sum`.
static int measure_line(ln_cuda_libs *libs, const char *line, double *sum)
{
    layer l;
    if (read_layer(line, &l)) {
        fprintf(stderr, "ln_cuda_floor: invalid line: %s\n", line);
        return -1;
    }
    const result best = measure(libs, &l);
    if (best.seconds < 0) {
        fprintf(stderr, "ln_cuda_floor: %s: %s\n", line, tl_last_error());
        return -1;
    }
    printf("%10.2f  %-22s %s\n", best.seconds * 1e6, best.name, line);
    fflush(stdout);
    *sum += best.seconds * l.count;
    return 0;
}

int main(void)
{
    char line[LINE_SIZE];
    double sum = 0;
    int failed = 0;
    ln_cuda_libs *const libs = ln_cuda_libs_create();
    if (!libs) {
        fprintf(stderr, "ln_cuda_floor: %s\n", tl_last_error());
        return 1;
    }
    while (fgets(line, sizeof(line), stdin))
        if (!is_blank(line) && measure_line(libs, line, &sum))
            failed = 1;
    printf("%10.2f  sum%s\n", sum * 1e6, failed ? " of the lines that have a time" : "");
    ln_cuda_libs_free(libs);
    return failed;
}
