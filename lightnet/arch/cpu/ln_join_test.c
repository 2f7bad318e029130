// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_join.c, in the way of those that are described: each model is compiled
// without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP(optype, ins, dst, params)                                               \
    "{\"name\": \"" dst "_op\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" ARG("dst", dst) "], \"params\": [" params "]}"
#define RELU(src, dst) OP("unary_cpu", ARG("src", src), dst, PARAM("func", "\"TL_UNARY_RELU\""))
#define JOIN(src0, src1, dst, axis) \
    OP("join_cpu", ARG("src0", src0) "," ARG("src1", src1), dst, PARAM("axis", axis))
#define VIEW(src, dst, dims) OP("reshape_cpu", ARG("src", src), dst, PARAM("dims", dims))

static const ln_rule_tensor two[] = {{"a", "TL_FLOAT", 4, {1, 3, 4, 4}, -1, 1, 0},
                                     {"b", "TL_FLOAT", 4, {1, 2, 4, 4}, -1, 1, 0},
                                     {NULL}};
static const ln_rule_tensor images[] = {{"a", "TL_FLOAT", 4, {2, 3, 4, 4}, -1, 1, 0},
                                        {"b", "TL_FLOAT", 4, {2, 2, 4, 4}, -1, 1, 0},
                                        {NULL}};
static const ln_rule_tensor odd[] = {{"a", "TL_FLOAT", 4, {1, 3, 5, 5}, -1, 1, 0},
                                     {"b", "TL_FLOAT", 4, {1, 2, 5, 5}, -1, 1, 0},
                                     {NULL}};
static const ln_rule_tensor constant[] = {{"a", "TL_FLOAT", 4, {1, 3, 4, 4}, -1, 1, 0},
                                          {"b", "TL_FLOAT", 4, {1, 2, 4, 4}, -1, 1, 1},
                                          {NULL}};

// clang-format off
static const char joined[] = RELU("a", "p") "," RELU("b", "q") "," JOIN("p", "q", "y", "1");
// Joined tensors with other readers, and a join of a join.
static const char nested[] =
    RELU("a", "p") "," RELU("b", "q") "," JOIN("p", "q", "j", "1") "," RELU("q", "r") ","
    RELU("j", "s") "," JOIN("s", "r", "y", "1") "," RELU("p", "z");
static const char same[] = RELU("a", "p") "," JOIN("p", "p", "y", "1");
static const char of_view[] =
    RELU("a", "p") "," VIEW("p", "v", "[1, 3, 2, 8]") "," RELU("b", "q") ","
    VIEW("q", "w", "[1, 2, 2, 8]") "," JOIN("v", "w", "y", "1");
// clang-format on

static const char *const y[] = {"y", NULL}, *const y_z[] = {"y", "z", NULL};

static const ln_rule_case cases[] = {
    {"join_without_copy", "channels", two, joined, y, NULL, NULL, 1, 0, 0},
    {"join_without_copy", "nested", two, nested, y_z, NULL, NULL, 1, 0, 0},
    {"join_without_copy", "of images", images, joined, y, NULL, NULL, 0, 0, 0},
    {"join_without_copy", "no whole lines", odd, joined, y, NULL, NULL, 0, 0, 0},
    {"join_without_copy", "inputs", two, JOIN("a", "b", "y", "1"), y, NULL, NULL, 0, 0, 0},
    {"join_without_copy", "a constant", constant, joined, y, NULL, NULL, 0, 0, 0},
    {"join_without_copy", "the same", two, same, y, NULL, NULL, 0, 0, 0},
    {"join_without_copy", "views", two, of_view, y, NULL, NULL, 0, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create_cpu", cases);
}
