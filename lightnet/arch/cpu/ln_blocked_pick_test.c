// SPDX-License-Identifier: Apache-2.0
// Tests of the rules of ln_blocked_pick.c, in the way of those that are described: each model is
// compiled without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP(name, optype, ins, outs, params)                                      \
    "{\"name\": \"" name "\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" outs "], \"params\": [" params "]}"
#define FROM(src, dst, channels)                                          \
    OP("from_" dst, "from_blocked_cpu", ARG("src", src), ARG("dst", dst), \
       PARAM("channels", channels))
#define JOIN(axis)                                                                 \
    OP("join", "join_cpu", ARG("src0", "a") "," ARG("src1", "b"), ARG("dst", "y"), \
       PARAM("axis", axis))
#define SPLIT(axis, lens)                                                            \
    OP("split", "split_cpu", ARG("src", "a"), ARG("dst0", "y") "," ARG("dst1", "z"), \
       PARAM("axis", axis) "," PARAM("lens", lens))
#define PICK(ins, dst, channels, map)                         \
    OP("pick_" dst, "pick_blocked_cpu", ins, ARG("dst", dst), \
       PARAM("channels", channels) "," PARAM("map", map))

static const ln_rule_tensor two[] = {{"ab", "TL_FLOAT", 5, {2, 2, 3, 5, 16}, -1, 1, 0},
                                     {"bb", "TL_FLOAT", 5, {2, 1, 3, 5, 16}, -1, 1, 0},
                                     {NULL}};
static const ln_rule_tensor planes[] = {{"ab", "TL_FLOAT", 5, {2, 2, 3, 5, 16}, -1, 1, 0},
                                        {"b", "TL_FLOAT", 4, {2, 3, 3, 5}, -1, 1, 0},
                                        {NULL}};
static const ln_rule_tensor plain[] = {{"a", "TL_FLOAT", 4, {2, 5, 3, 5}, -1, 1, 0},
                                       {"b", "TL_FLOAT", 4, {2, 3, 3, 5}, -1, 1, 0},
                                       {NULL}};
static const ln_rule_tensor one[] = {{"ab", "TL_FLOAT", 5, {2, 2, 4, 5, 16}, -1, 1, 0}, {NULL}};
static const ln_rule_tensor many[] = {{"s0", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s1", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s2", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s3", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s4", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s5", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s6", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s7", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {"s8", "TL_FLOAT", 5, {1, 1, 1, 2, 16}, -1, 1, 0},
                                      {NULL}};

// clang-format off
static const char split_blocks[] = FROM("ab", "a", "25") "," SPLIT("1", "[9, 16]");
static const char split_rows[] = FROM("ab", "a", "25") "," SPLIT("2", "[1, 3]");
// Both halves of a shuffle, and what is made of them.
static const char picks[] =
    PICK(ARG("src0", "ab") "," ARG("src1", "bb"), "p", "[20, 4]", "[0, 20, 1, 21, 19, 23, 5, 5]") ","
    PICK(ARG("src0", "p") "," ARG("src1", "bb") "," ARG("src2", "p"), "yb", "[8, 4, 8]",
         "[7, 6, 5, 4, 3, 2, 1, 0, 8, 11, 12, 19, 17, 9, 10, 13, 14]") ","
    FROM("yb", "y", "17");
static const char picks_of_nine[] =
    PICK(ARG("src0", "s0") "," ARG("src1", "s1") "," ARG("src2", "s2") "," ARG("src3", "s3") ","
         ARG("src4", "s4"), "p", "[2, 2, 2, 2, 2]", "[0, 2, 4, 6, 8]") ","
    PICK(ARG("src0", "p") "," ARG("src1", "s5") "," ARG("src2", "s6") "," ARG("src3", "s7") ","
         ARG("src4", "s8"), "yb", "[5, 2, 2, 2, 2]", "[0, 1, 2, 3, 4, 5, 7, 9, 11]") ","
    FROM("yb", "y", "9");
// clang-format on

static const char *const y[] = {"y", NULL}, *const y_z[] = {"y", "z", NULL};
static const char *const a_b[] = {"a", "b", NULL}, *const a[] = {"a", NULL};

static const ln_rule_case cases[] = {
    {"join_in_blocks", "picked", two, FROM("ab", "a", "24") "," FROM("bb", "b", "7") "," JOIN("1"),
     y, NULL, a_b, 1, 0, 0},
    {"join_in_blocks", "whole", two, FROM("ab", "a", "32") "," FROM("bb", "b", "7") "," JOIN("1"),
     y, NULL, a_b, 1, 0, 0},
    {"join_in_blocks", "with planes", planes, FROM("ab", "a", "20") "," JOIN("1"), y, NULL, a, 1, 0,
     0},
    {"join_in_blocks", "planes alone", plain, JOIN("1"), y, NULL, NULL, 0, 0, 0},
    {"join_in_blocks", "images", two, FROM("ab", "a", "32") "," FROM("ab", "b", "32") "," JOIN("0"),
     y, NULL, NULL, 0, 0, 0},
    {"split_in_blocks", "channels", one, split_blocks, y_z, NULL, a, 1, 0, 0},
    {"split_in_blocks", "rows", one, split_rows, y_z, NULL, NULL, 0, 0, 0},
    {"pick_of_picks", "two", two, picks, y, NULL, NULL, 1, 0, 0},
    {"pick_of_picks", "too many", many, picks_of_nine, y, NULL, NULL, 0, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create_cpu", cases);
}
