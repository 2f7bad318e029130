// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_first_rows.c, in the way of those that are described: each model is
// compiled without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP(optype, ins, dst, params)                                               \
    "{\"name\": \"" dst "_op\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" ARG("dst", dst) "], \"params\": [" params "]}"
#define RELU(src, dst) OP("unary_cpu", ARG("src", src), dst, PARAM("func", "\"TL_UNARY_RELU\""))
#define SLICE(src, dst, axis, start, end)                                        \
    OP("stride_slice_cpu", ARG("src", src), dst,                                 \
       PARAM("axes", "[" axis "]") "," PARAM("starts", "[" start "]") "," PARAM( \
           "ends", "[" end "]") "," PARAM("steps", "[1]"))
#define ATTEND(q, k, v, dst)                                                             \
    OP("attention_cpu", ARG("q", q) "," ARG("k", k) "," ARG("v", v), dst,                \
       PARAM("q_axis", "1") "," PARAM("k_axis", "1") "," PARAM("v_axis", "1") "," PARAM( \
           "dst_axis", "1") "," PARAM("scale", "0.5") "," PARAM("zero_empty", "false"))

static const ln_rule_tensor caches[] = {{"q", "TL_FLOAT", 4, {2, 4, 3, 8}, -1, 1, 0},
                                        {"k", "TL_FLOAT", 4, {2, 2, 9, 8}, -1, 1, 0},
                                        {"v", "TL_FLOAT", 4, {2, 2, 7, 5}, -1, 1, 0},
                                        {NULL}};

// clang-format off
static const char attended[] = RELU("k", "c") "," SLICE("c", "a", "2", "0", "5") ","
                               SLICE("v", "b", "2", "0", "5") "," ATTEND("q", "a", "b", "y");
static const char read_again[] = SLICE("k", "a", "2", "0", "5") "," SLICE("v", "b", "2", "0", "5") ","
                                 ATTEND("q", "a", "b", "y") "," RELU("a", "z") "," RELU("b", "w");
static const char last[] = SLICE("k", "a", "2", "2", "7") "," SLICE("v", "b", "2", "1", "6") ","
                           ATTEND("q", "a", "b", "y");
// Of two heads, which are no rows.
static const char heads[] = SLICE("k", "a", "1", "0", "1") "," SLICE("a", "d", "2", "0", "7") ","
                            SLICE("v", "b", "1", "0", "1") "," ATTEND("q", "d", "b", "y");
// clang-format on

static const char *const y[] = {"y", NULL}, *const y_z_w[] = {"y", "z", "w", NULL};

static const ln_rule_case cases[] = {
    {"view_first_rows", "keys and values", caches, attended, y, NULL, NULL, 2, 0, 0},
    {"view_first_rows", "others read them", caches, read_again, y_z_w, NULL, NULL, 0, 0, 0},
    {"view_first_rows", "not the first ones", caches, last, y, NULL, NULL, 0, 0, 0},
    {"view_first_rows", "of heads", caches, heads, y, NULL, NULL, 1, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create_cpu", cases);
}
