// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_volumes.c, in the way of those that are described: each model is compiled
// without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
// clang-format off
#define OP(optype, ins, group, size, stride, dilation, padding, more) \
    "{\"name\": \"conv\", \"optype\": \"" optype "\", \"tensors_in\": [" ARG("src", "x") "," ARG("weight", "w") ins \
    "], \"tensors_out\": [" ARG("dst", "y") "], \"params\": [" PARAM("group", group) "," PARAM("size", size) "," \
    PARAM("stride", stride) "," PARAM("dilation", dilation) "," PARAM("padding", padding) more "]}"
#define CONV(ins, group, size, stride, dilation, padding) OP("convnd", ins, group, size, stride, dilation, padding, "")
#define DECONV(ins, group, size, stride, dilation, padding, more) \
    OP("deconvnd", ins, group, size, stride, dilation, padding, "," PARAM("output_padding", more))
// clang-format on
#define BIAS "," ARG("bias", "b")

#define VOLUMES(name, n, c, d, h, w, oc, ic, kd, kh, kw, is_const)   \
    static const ln_rule_tensor name[] = {                           \
        {"x", "TL_FLOAT", 5, {n, c, d, h, w}, -1, 1, 0},             \
        {"w", "TL_FLOAT", 5, {oc, ic, kd, kh, kw}, -1, 1, is_const}, \
        {"b", "TL_FLOAT", 1, {oc}, -1, 1, 1},                        \
        {NULL}}

VOLUMES(cube, 2, 5, 6, 7, 9, 20, 5, 3, 3, 3, 1);
VOLUMES(broad, 2, 9, 6, 7, 9, 20, 9, 3, 3, 3, 1);
VOLUMES(many, 1, 33, 4, 8, 8, 17, 33, 3, 3, 3, 1);
VOLUMES(few, 1, 3, 5, 9, 9, 20, 3, 3, 3, 3, 1);
VOLUMES(flat, 2, 5, 4, 7, 9, 20, 5, 1, 3, 3, 1);
VOLUMES(deep, 2, 5, 6, 3, 4, 20, 5, 3, 1, 1, 1);
VOLUMES(point, 2, 17, 3, 4, 5, 20, 17, 1, 1, 1, 1);
VOLUMES(groups, 2, 6, 5, 7, 8, 12, 2, 3, 3, 2, 1);
VOLUMES(long_kernel, 1, 2, 40, 4, 4, 2, 2, 33, 2, 2, 1);
VOLUMES(given, 1, 5, 6, 7, 9, 20, 5, 3, 3, 3, 0);

// Transposed: weights [IC, OC / group, ..].
#define TRANSPOSED(name, n, c, d, h, w, ic, oc, group, kd, kh, kw)                              \
    static const ln_rule_tensor name[] = {{"x", "TL_FLOAT", 5, {n, c, d, h, w}, -1, 1, 0},      \
                                          {"w", "TL_FLOAT", 5, {ic, oc, kd, kh, kw}, -1, 1, 1}, \
                                          {"b", "TL_FLOAT", 1, {oc * (group)}, -1, 1, 1},       \
                                          {NULL}}

TRANSPOSED(halves, 2, 17, 3, 4, 5, 17, 9, 1, 2, 2, 2);
TRANSPOSED(fours, 1, 5, 3, 4, 5, 5, 20, 1, 4, 4, 4);
TRANSPOSED(threes, 2, 6, 4, 3, 5, 6, 8, 1, 3, 3, 2);
TRANSPOSED(pairs, 1, 6, 3, 4, 5, 6, 5, 2, 3, 2, 3);
TRANSPOSED(thin, 1, 6, 3, 4, 5, 6, 5, 1, 1, 2, 2);
TRANSPOSED(tall, 1, 3, 2, 4, 5, 3, 5, 1, 7, 1, 1);

static const ln_rule_tensor doubles[] = {{"x", "TL_DOUBLE", 5, {1, 2, 3, 4, 5}, -1, 1, 0},
                                         {"w", "TL_DOUBLE", 5, {3, 2, 1, 1, 1}, -1, 1, 1},
                                         {NULL}};
static const ln_rule_tensor lines[] = {
    {"x", "TL_FLOAT", 3, {1, 2, 9}, -1, 1, 0}, {"w", "TL_FLOAT", 3, {3, 2, 3}, -1, 1, 1}, {NULL}};

// clang-format off
static const char padded[] = CONV(BIAS, "1", "[3, 3, 3]", "[1, 1, 1]", "[1, 1, 1]", "[1, 1, 1, 1, 1, 1]");
static const char tight[] = CONV("", "1", "[3, 3, 3]", "[1, 1, 1]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]");
static const char strides[] = CONV(BIAS, "1", "[3, 3, 3]", "[2, 1, 3]", "[1, 2, 1]", "[2, 0, 1, 0, 3, 0]");
static const char dilated[] = CONV(BIAS, "1", "[3, 3, 3]", "[1, 2, 1]", "[2, 1, 2]", "[1, 0, 2, 2, 1, 1]");
static const char flat_kernel[] = CONV(BIAS, "1", "[1, 3, 3]", "[1, 1, 1]", "[1, 1, 1]", "[0, 1, 1, 0, 1, 1]");
static const char flat_steps[] = CONV("", "1", "[1, 3, 3]", "[3, 1, 1]", "[1, 1, 1]", "[0, 1, 1, 0, 1, 1]");
static const char deep_kernel[] = CONV(BIAS, "1", "[3, 1, 1]", "[2, 1, 1]", "[1, 1, 1]", "[1, 0, 0, 2, 0, 0]");
static const char deep_steps[] = CONV("", "1", "[3, 1, 1]", "[1, 2, 1]", "[1, 1, 1]", "[1, 0, 0, 1, 0, 1]");
static const char one_point[] = CONV(BIAS, "1", "[1, 1, 1]", "[1, 1, 1]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]");
static const char bare_point[] = CONV("", "1", "[1, 1, 1]", "[1, 1, 1]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]");
static const char in_groups[] = CONV(BIAS, "3", "[3, 3, 2]", "[1, 1, 1]", "[1, 1, 1]", "[1, 0, 1, 1, 2, 0]");
static const char cut[] = CONV(BIAS, "1", "[3, 3, 3]", "[1, 1, 1]", "[1, 1, 1]", "[-1, 1, 1, 1, 1, 1]");
static const char wide[] = CONV(BIAS, "1", "[3, 3, 3]", "[1, 1, 1]", "[1, 1, 1]", "[3, 1, 1, 1, 1, 1]");
static const char of_33[] = CONV("", "1", "[33, 2, 2]", "[1, 1, 1]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]");
static const char line[] = CONV("", "1", "[3]", "[1]", "[1]", "[1, 1]");
static const char doubled[] = DECONV(BIAS, "1", "[2, 2, 2]", "[2, 2, 2]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]", "[0, 0, 0]");
static const char doubled_more[] = DECONV("", "1", "[2, 2, 2]", "[2, 2, 2]", "[1, 1, 1]", "[1, 0, 1, 0, 1, 0]", "[1, 1, 0]");
static const char smooth[] = DECONV(BIAS, "1", "[4, 4, 4]", "[2, 2, 2]", "[1, 1, 1]", "[1, 1, 1, 1, 1, 1]", "[0, 0, 0]");
static const char cut_far[] = DECONV(BIAS, "1", "[4, 4, 4]", "[2, 2, 2]", "[1, 1, 1]", "[5, 1, 1, 1, 1, 1]", "[0, 0, 0]");
static const char one_step[] = DECONV(BIAS, "1", "[3, 3, 2]", "[1, 2, 1]", "[1, 1, 2]", "[1, 1, 0, 0, 1, 1]", "[0, 1, 0]");
static const char three_steps[] = DECONV("", "1", "[3, 3, 2]", "[3, 1, 1]", "[1, 1, 1]", "[0, 1, 0, 1, 1, 0]", "[2, 0, 0]");
static const char two_steps[] = DECONV(BIAS, "2", "[3, 2, 3]", "[2, 1, 2]", "[1, 1, 1]", "[1, 0, 1, 1, 0, 1]", "[1, 0, 1]");
static const char far_reach[] = DECONV(BIAS, "1", "[7, 1, 1]", "[2, 1, 1]", "[1, 1, 1]", "[3, 0, 0, 2, 0, 0]", "[0, 0, 0]");
static const char gaps[] = DECONV(BIAS, "1", "[1, 2, 2]", "[2, 1, 1]", "[1, 1, 1]", "[0, 0, 0, 0, 0, 0]", "[0, 0, 0]");
static const char spread[] = DECONV(BIAS, "1", "[3, 3, 2]", "[1, 1, 1]", "[2, 1, 1]", "[0, 0, 0, 0, 0, 0]", "[0, 0, 0]");
// clang-format on

static const char *const y[] = {"y", NULL};

#define FIRES(place, tensors, ops)                                          \
    {                                                                       \
        "volumes_as_images", place, tensors, ops, y, NULL, NULL, 1, 0, 2e-5 \
    }
#define STAYS(place, tensors, ops)                                       \
    {                                                                    \
        "volumes_as_images", place, tensors, ops, y, NULL, NULL, 0, 0, 0 \
    }

static const ln_rule_case cases[] = {
    FIRES("padding", cube, padded),
    FIRES("no padding, no bias", cube, tight),
    FIRES("steps", cube, strides),
    FIRES("dilation", cube, dilated),
    FIRES("padding of several kernels", broad, padded),
    FIRES("steps of several kernels", broad, strides),
    FIRES("dilation of several kernels", broad, dilated),
    FIRES("many channels", many, padded),
    FIRES("few channels", few, padded),
    FIRES("a flat kernel", flat, flat_kernel),
    FIRES("a flat kernel with steps", flat, flat_steps),
    FIRES("a deep kernel", deep, deep_kernel),
    FIRES("a deep kernel with steps", deep, deep_steps),
    FIRES("a point", point, one_point),
    FIRES("groups", groups, in_groups),
    FIRES("twice as large", halves, doubled),
    FIRES("with more at the end", halves, doubled_more),
    FIRES("a kernel of 4", fours, smooth),
    FIRES("cut far into the result", fours, cut_far),
    FIRES("one step", threes, one_step),
    FIRES("three steps", threes, three_steps),
    FIRES("two steps in groups", pairs, two_steps),
    FIRES("a kernel that reaches far", tall, far_reach),
    STAYS("slices without a kernel", thin, gaps),
    STAYS("taps that are spread", threes, spread),
    STAYS("weights that vary", given, padded),
    STAYS("a kernel of 33", long_kernel, of_33),
    STAYS("padding that cuts", cube, cut),
    STAYS("padding beyond the kernel", cube, wide),
    STAYS("doubles", doubles, bare_point),
    STAYS("lines", lines, line),
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create", cases);
}
