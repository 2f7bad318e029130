// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_chain.c, in the way of those that are described: each model is compiled
// without the rule and with it, and gives the same to the bit.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define OP(optype, ins, dst, params)                                               \
    "{\"name\": \"op_" dst "\", \"optype\": \"" optype "\", \"tensors_in\": [" ins \
    "], \"tensors_out\": [" ARG("dst", dst) "], \"params\": [" params "]}"
#define UNARY(func, src, dst, alpha, beta) \
    OP("unary_cpu", ARG("src", src), dst,  \
       PARAM("func", "\"TL_UNARY_" func "\"") "," PARAM("alpha", alpha) "," PARAM("beta", beta))
#define RELU(src, dst)    UNARY("RELU", src, dst, "0", "0")
#define LRELU(src, dst)   UNARY("LRELU", src, dst, "0.1", "0")
#define SIGMOID(src, dst) UNARY("SIGMOID", src, dst, "0", "0")
#define BINARY(op, a, b, dst) \
    OP("binary_cpu", ARG("src1", a) "," ARG("src2", b), dst, PARAM("op", "\"TL_BINARY_" op "\""))

static const ln_rule_tensor two[] = {{"a", "TL_FLOAT", 4, {2, 3, 5, 7}, -1, 1, 0},
                                     {"b", "TL_FLOAT", 4, {2, 3, 5, 7}, -1, 1, 0},
                                     {NULL}};
static const ln_rule_tensor doubles[] = {
    {"a", "TL_DOUBLE", 2, {3, 5}, -1, 1, 0}, {"b", "TL_DOUBLE", 2, {3, 5}, -1, 1, 0}, {NULL}};
static const ln_rule_tensor parts[] = {{"a", "TL_FLOAT", 4, {2, 3, 30, 40}, -1, 1, 0},
                                       {"b", "TL_FLOAT", 4, {2, 3, 1, 1}, -1, 1, 0},
                                       {"c", "TL_FLOAT", 1, {40}, -1, 1, 1},
                                       {"d", "TL_FLOAT", 1, {1}, 2, 3, 1},
                                       {NULL}};
static const ln_rule_tensor blocks[] = {{"a", "TL_FLOAT", 5, {2, 3, 9, 9, 16}, -1, 1, 0},
                                        {"b", "TL_FLOAT", 5, {2, 3, 1, 1, 16}, -1, 1, 0},
                                        {NULL}};
static const ln_rule_tensor constant[] = {
    {"a", "TL_FLOAT", 1, {9}, -1, 1, 1}, {"b", "TL_FLOAT", 1, {9}, -1, 1, 0}, {NULL}};
static const ln_rule_tensor nine[] = {{"a", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"b", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"c", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"d", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"e", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"f", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"g", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"h", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"i", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {"j", "TL_FLOAT", 1, {9}, -1, 1, 0},
                                      {NULL}};

// clang-format off
static const char pair[] = BINARY("SUB", "a", "b", "p") "," UNARY("TANH", "p", "y", "1", "0");
static const char long_one[] =
    RELU("a", "p") "," LRELU("p", "q") "," BINARY("ADD", "q", "b", "r") "," SIGMOID("r", "s") ","
    UNARY("AFFINE", "s", "y", "0.7", "0.1");
// Hard swish as exporters write it: its source is read twice.
static const char diamond[] =
    BINARY("MUL", "a", "b", "x") "," UNARY("AFFINE", "x", "p", "1", "3") ","
    UNARY("CLIP", "p", "q", "0", "6") "," BINARY("MUL", "x", "q", "r") ","
    UNARY("AFFINE", "r", "y", "0.16666667", "0");
static const char squared[] = BINARY("SUB", "a", "b", "p") "," BINARY("MUL", "p", "p", "y");
static const char repeated[] =
    BINARY("MUL", "a", "b", "p") "," BINARY("ADD", "c", "p", "q") "," BINARY("DIV", "q", "d", "y");
static const char in_blocks[] = SIGMOID("b", "f") "," BINARY("MUL", "f", "a", "p") "," RELU("p", "y");
static const char smaller[] = SIGMOID("b", "f") "," BINARY("MUL", "a", "f", "y");
static const char picked[] = BINARY("PICK_MAX", "a", "b", "p") "," RELU("p", "y");
static const char two_readers[] = RELU("a", "p") "," SIGMOID("p", "y") "," UNARY("EXP", "p", "z", "1", "0");
static const char constants[] = RELU("a", "p") "," SIGMOID("p", "q") "," BINARY("ADD", "q", "b", "y");
static const char many_sources[] =
    BINARY("ADD", "a", "b", "s1") "," BINARY("SUB", "s1", "c", "s2") "," BINARY("ADD", "s2", "d", "s3") ","
    BINARY("SUB", "s3", "e", "s4") "," BINARY("ADD", "s4", "f", "s5") "," BINARY("SUB", "s5", "g", "s6") ","
    BINARY("ADD", "s6", "h", "s7") "," BINARY("SUB", "s7", "i", "s8") "," BINARY("MUL", "s8", "j", "y");
static const char many_steps[] =
    RELU("a", "s1") "," LRELU("s1", "s2") "," SIGMOID("s2", "s3") "," RELU("s3", "s4") "," LRELU("s4", "s5") ","
    SIGMOID("s5", "s6") "," RELU("s6", "s7") "," LRELU("s7", "s8") "," SIGMOID("s8", "s9") ","
    RELU("s9", "s10") "," LRELU("s10", "s11") "," SIGMOID("s11", "s12") "," RELU("s12", "s13") ","
    LRELU("s13", "s14") "," SIGMOID("s14", "s15") "," RELU("s15", "s16") "," LRELU("s16", "s17") ","
    SIGMOID("s17", "s18") "," BINARY("ADD", "s18", "b", "y");
// A softmax is no step.
static const char interrupted[] =
    RELU("a", "p") "," OP("softmax_cpu", ARG("src", "p"), "q", PARAM("axis", "3")) "," RELU("q", "y");
// clang-format on

static const char *const y[] = {"y", NULL}, *const y_z[] = {"y", "z", NULL};
static const char *const p[] = {"p", NULL}, *const p_q_r[] = {"p", "q", "r", NULL};

static const ln_rule_case cases[] = {
    {"chain_elements", "pair", two, pair, y, p, NULL, 1, 0, 0},
    {"chain_elements", "long", two, long_one, y, NULL, p_q_r, 1, 0, 0},
    {"chain_elements", "diamond", two, diamond, y, NULL, p_q_r, 1, 0, 0},
    {"chain_elements", "squared", two, squared, y, p, NULL, 1, 0, 0},
    {"chain_elements", "repeated", parts, repeated, y, NULL, p, 1, 0, 0},
    {"chain_elements", "in blocks", blocks, in_blocks, y, p, NULL, 1, 0, 0},
    {"chain_elements", "picked", two, picked, y, p, NULL, 1, 0, 0},
    {"chain_elements", "many sources", nine, many_sources, y, NULL, NULL, 1, 0, 0},
    {"chain_elements", "many steps", two, many_steps, y, NULL, NULL, 1, 0, 0},
    {"chain_elements", "of a smaller one", blocks, smaller, y, NULL, NULL, 0, 0, 0},
    {"chain_elements", "two readers", two, two_readers, y_z, NULL, NULL, 0, 0, 0},
    {"chain_elements", "of constants", constant, constants, y, NULL, NULL, 0, 0, 0},
    {"chain_elements", "doubles", doubles, pair, y, NULL, NULL, 0, 0, 0},
    {"chain_elements", "interrupted", two, interrupted, y, NULL, NULL, 0, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create_cpu", cases);
}
