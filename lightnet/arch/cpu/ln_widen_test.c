// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_widen.c, in the way of those that are described: each model is compiled
// without the rule and with it. What may differ is the rounding to 16 bits between operators.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP2(optype, ins, name, outs, params)                                        \
    "{\"name\": \"" name "_op\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" outs "], \"params\": [" params "]}"
#define OP(optype, ins, dst, params) OP2(optype, ins, dst, ARG("dst", dst), params)
#define ONE(optype, src, dst)        OP(optype, ARG("src", src), dst, "")
#define CAST(src, dst, dtype)        OP("cast", ARG("src", src), dst, PARAM("dtype", "\"" dtype "\""))
#define UNARY(func, src, dst) \
    OP("unary", ARG("src", src), dst, PARAM("func", "\"TL_UNARY_" func "\""))
#define TWO(optype, op, a, b, dst) \
    OP(optype, ARG("src1", a) "," ARG("src2", b), dst, PARAM("op", "\"TL_" op "\""))
#define ADD(a, b, dst)       TWO("binary", "BINARY_ADD", a, b, dst)
#define MUL(a, b, dst)       TWO("binary", "BINARY_MUL", a, b, dst)
#define LESS(a, b, dst)      TWO("compare", "COMPARE_LESS", a, b, dst)
#define JOIN(a, b, dst)      OP("join", ARG("src0", a) "," ARG("src1", b), dst, PARAM("axis", "1"))
#define VIEW(src, dst, dims) OP("reshape", ARG("src", src), dst, PARAM("dims", dims))
#define TURN(src, dst)       OP("transpose", ARG("src", src), dst, PARAM("axes", "[1, 0]"))
#define CONV(src, weight, bias, dst)                                                            \
    OP("conv2d", ARG("src", src) "," ARG("weight", weight) "," ARG("bias", bias), dst,          \
       PARAM("group", "1") "," PARAM("size", "[3, 3]") "," PARAM("stride", "[1, 1]") "," PARAM( \
           "dilation", "[1, 1]") "," PARAM("padding", "[1, 1, 1, 1]") "," PARAM("autopad",      \
                                                                                "\"NOTSET\""))

#define TWO_OF(dtype)                                                         \
    {                                                                         \
        {"a", dtype, 2, {4, 6}, -2, 2, 0}, {"b", dtype, 2, {4, 6}, -2, 2, 0}, \
        {                                                                     \
            NULL                                                              \
        }                                                                     \
    }
#define IMAGE(dtype)                                                                      \
    {                                                                                     \
        {"a", dtype, 4, {1, 3, 8, 9}, -2, 2, 0}, {"w", dtype, 4, {5, 3, 3, 3}, -1, 1, 1}, \
            {"v", dtype, 4, {5, 5, 3, 3}, -1, 1, 1}, {"h", dtype, 1, {5}, -1, 1, 1},      \
        {                                                                                 \
            NULL                                                                          \
        }                                                                                 \
    }

static const ln_rule_tensor halves[] = TWO_OF("TL_FLOAT16"), bfloats[] = TWO_OF("TL_BFLOAT16"),
                            floats[] = TWO_OF("TL_FLOAT"), doubles[] = TWO_OF("TL_DOUBLE"),
                            image[] = IMAGE("TL_FLOAT16"), bimage[] = IMAGE("TL_BFLOAT16");
static const ln_rule_tensor one_constant[] = {
    {"a", "TL_FLOAT16", 2, {4, 6}, -2, 2, 0}, {"b", "TL_FLOAT16", 2, {4, 6}, -2, 2, 1}, {NULL}};
static const ln_rule_tensor large[] = {{"a", "TL_FLOAT16", 2, {4, 6}, 300, 400, 0},
                                       {"b", "TL_FLOAT16", 2, {4, 6}, 300, 400, 0},
                                       {NULL}};
static const ln_rule_tensor near_whole[] = {{"a", "TL_FLOAT16", 2, {4, 6}, 2, 2, 0},
                                            {"b", "TL_FLOAT16", 2, {4, 6}, 0.9995, 0.9995, 0},
                                            {NULL}};
static const ln_rule_tensor keys[] = {{"a", "TL_FLOAT16", 1, {9}, -2, 2, 0}, {NULL}};
static const ln_rule_tensor mixed[] = {
    {"a", "TL_FLOAT16", 2, {4, 6}, -2, 2, 0}, {"b", "TL_FLOAT", 2, {4, 6}, -2, 2, 0}, {NULL}};

// clang-format off
static const char network[] =
    CONV("a", "w", "h", "c") "," ONE("relu", "c", "r") "," CONV("r", "v", "h", "d") ","
    ADD("d", "r", "y");
// The casts between meet; a tensor in between is an output, too.
static const char chain[] =
    MUL("a", "b", "p") "," UNARY("TANH", "p", "q") "," MUL("q", "b", "r") "," VIEW("r", "s", "[6, 4]")
    "," TURN("s", "t") "," JOIN("t", "a", "u") "," ONE("sigmoid", "u", "y");
// The operator between the casts of a float model computes in 16 bits.
static const char island[] =
    CAST("a", "p", "TL_FLOAT16") "," CAST("b", "q", "TL_FLOAT16") "," MUL("p", "q", "r") ","
    CAST("r", "y", "TL_FLOAT");
// As above, to another wide type.
static const char island_of_doubles[] =
    CAST("a", "p", "TL_BFLOAT16") "," MUL("p", "p", "r") "," CAST("r", "y", "TL_DOUBLE");
// Operands of comparisons, integer casts and sorts are rounded as in the model: the same bits.
static const char compared[] = MUL("a", "b", "p") "," MUL("b", "a", "q") "," LESS("p", "q", "y");
static const char made_integer[] = MUL("a", "b", "p") "," CAST("p", "y", "TL_INT32");
// The sum rounds to a whole number, below which floor would give another one.
static const char stepped[] =
    ADD("a", "b", "p") "," UNARY("FLOOR", "p", "y") "," UNARY("ROUND", "p", "z");
static const char infinite[] =
    MUL("a", "b", "p") "," OP("classify", ARG("src", "p"), "y", PARAM("positive_inf", "true"));
static const char largest[] =
    MUL("a", "b", "p") ","
    OP2("topk", ARG("src", "p"), "k", ARG("values", "y") "," ARG("indices", "z"), PARAM("k", "3") ","
        PARAM("axis", "1"));
static const char computed_infinity[] = MUL("a", "b", "p") "," ONE("relu", "p", "y");
// Nothing computes.
static const char moved[] =
    VIEW("a", "s", "[6, 4]") "," TURN("s", "t") "," JOIN("t", "b", "y");
static const char rounded[] = CAST("a", "p", "TL_FLOAT16") "," CAST("p", "y", "TL_FLOAT");
static const char rounded_and_moved[] =
    CAST("a", "p", "TL_FLOAT16") "," TURN("p", "t") "," CAST("t", "y", "TL_FLOAT");
static const char widened[] = CAST("a", "p", "TL_FLOAT") "," MUL("p", "b", "y");
// Memory that is written in place keeps its type.
static const char in_place[] =
    OP2("sort1d", ARG("src_key", "a"), "y", ARG("dst_key", "y"), PARAM("dir", "\"TL_SORT_DIR_ASCENDING\""));
// clang-format on

static const char *const y[] = {"y", NULL}, *const y_z[] = {"y", "z", NULL},
                         *const y_q_r[] = {"y", "q", "r", NULL}, *const y_p[] = {"y", "p", NULL};

#define RULE "widen_halves"

static const ln_rule_case cases[] = {
    {RULE, "convolutions", image, network, y, NULL, NULL, 1, 0, 4e-3},
    {RULE, "convolutions in bfloat16", bimage, network, y, NULL, NULL, 1, 0, 3e-2},
    {RULE, "a chain", halves, chain, y, NULL, NULL, 1, 0, 2e-3},
    {RULE, "a chain with outputs inside", halves, chain, y_q_r, NULL, NULL, 1, 0, 2e-3},
    {RULE, "a chain in bfloat16", bfloats, chain, y, NULL, NULL, 1, 0, 2e-2},
    {RULE, "a chain of a constant", one_constant, chain, y, NULL, NULL, 1, 0, 2e-3},
    {RULE, "an island", floats, island, y, NULL, NULL, 1, 0, 2e-3},
    {RULE, "an island in doubles", doubles, island_of_doubles, y, NULL, NULL, 1, 0, 2e-2},
    {RULE, "compared", halves, compared, y_p, NULL, NULL, 1, 0, 0},
    {RULE, "made an integer", halves, made_integer, y, NULL, NULL, 1, 0, 0},
    {RULE, "with steps", near_whole, stepped, y_z, NULL, NULL, 1, 0, 0},
    {RULE, "beyond the range", large, infinite, y_p, NULL, NULL, 1, 0, 0},
    {RULE, "the largest", halves, largest, y_z, NULL, NULL, 1, 0, 0},
    {RULE, "infinite as an output", large, computed_infinity, y, NULL, NULL, 1, 0, 0},
    {RULE, "moved only", halves, moved, y, NULL, NULL, 0, 0, 0},
    {RULE, "rounded by the model", floats, rounded, y, NULL, NULL, 0, 0, 0},
    {RULE, "rounded by the model and moved", floats, rounded_and_moved, y, NULL, NULL, 0, 0, 0},
    {RULE, "widened by the model", mixed, widened, y, NULL, NULL, 0, 0, 0},
    {RULE, "written in place", keys, in_place, y, NULL, NULL, 0, 0, 0},
    {RULE, "floats", floats, chain, y, NULL, NULL, 0, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create", cases);
}
