// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_volumes.h, in the way of those that are described: each model is compiled
// without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define CONV(ins, group, size, stride, dilation, padding)                                     \
    "{\"name\": \"conv\", \"optype\": \"convnd\", \"tensors_in\": [" ARG("src", "x") "," ARG( \
        "weight", "w") ins                                                                    \
        "], \"tensors_out\": [" ARG("dst", "y") "], \"params\": [" PARAM(                     \
            "group",                                                                          \
            group) "," PARAM("size",                                                          \
                             size) "," PARAM("stride",                                        \
                                             stride) "," PARAM("dilation",                    \
                                                               dilation) "," PARAM("padding", \
                                                                                   padding) "]}"
#define BIAS "," ARG("bias", "b")

#define VOLUMES(name, n, c, d, h, w, oc, ic, kd, kh, kw, is_const)   \
    static const ln_rule_tensor name[] = {                           \
        {"x", "TL_FLOAT", 5, {n, c, d, h, w}, -1, 1, 0},             \
        {"w", "TL_FLOAT", 5, {oc, ic, kd, kh, kw}, -1, 1, is_const}, \
        {"b", "TL_FLOAT", 1, {oc}, -1, 1, 1},                        \
        {NULL}}

VOLUMES(cube, 2, 5, 6, 7, 9, 20, 5, 3, 3, 3, 1);
VOLUMES(many, 1, 33, 4, 8, 8, 17, 33, 3, 3, 3, 1);
VOLUMES(few, 1, 3, 5, 9, 9, 20, 3, 3, 3, 3, 1);
VOLUMES(flat, 2, 5, 4, 7, 9, 20, 5, 1, 3, 3, 1);
VOLUMES(deep, 2, 5, 6, 3, 4, 20, 5, 3, 1, 1, 1);
VOLUMES(point, 2, 17, 3, 4, 5, 20, 17, 1, 1, 1, 1);
VOLUMES(groups, 2, 6, 5, 7, 8, 12, 2, 3, 3, 2, 1);
VOLUMES(given, 1, 5, 6, 7, 9, 20, 5, 3, 3, 3, 0);

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
static const char line[] = CONV("", "1", "[3]", "[1]", "[1]", "[1, 1]");
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
    FIRES("many channels", many, padded),
    FIRES("few channels", few, padded),
    FIRES("a flat kernel", flat, flat_kernel),
    FIRES("a flat kernel with steps", flat, flat_steps),
    FIRES("a deep kernel", deep, deep_kernel),
    FIRES("a deep kernel with steps", deep, deep_steps),
    FIRES("a point", point, one_point),
    FIRES("groups", groups, in_groups),
    STAYS("weights that vary", given, padded),
    STAYS("padding that cuts", cube, cut),
    STAYS("doubles", doubles, bare_point),
    STAYS("lines", lines, line),
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create", cases);
}
