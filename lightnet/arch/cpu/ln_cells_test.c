// SPDX-License-Identifier: Apache-2.0
// Tests of the rule of ln_cells.c, in the way of those that are described: each model is compiled
// without the rule and with it.

#include "ln_rule_check.h"

#define ARG(role, name)    "{\"arg_name\": \"" role "\", \"name\": \"" name "\"}"
#define PARAM(name, value) "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define CELL(ins, outs, params)                                                  \
    "{\"name\": \"cell\", \"optype\": \"recurrent_cpu\", \"tensors_in\": [" ARG( \
        "src", "x") "," ARG("recurrence", "r") ins "], \"tensors_out\": [" outs  \
                                                   "], \"params\": [" params "]}"
#define ACTS(cell, reverse, acts, zeros)  \
    PARAM("cell", "\"TL_CELL_" cell "\"") \
    "," PARAM("reverse",                  \
              reverse) "," PARAM("acts", acts) "," PARAM("alpha", zeros) "," PARAM("beta", zeros)

static const ln_rule_tensor lstm[] = {{"x", "TL_FLOAT", 4, {1, 3, 2, 4 * 19}, -1, 1, 0},
                                      {"r", "TL_FLOAT", 4, {1, 4, 19, 19}, -0.3, 0.3, 1},
                                      {"b", "TL_FLOAT", 2, {1, 8 * 19}, -1, 1, 1},
                                      {NULL}};
static const ln_rule_tensor gru[] = {{"x", "TL_FLOAT", 4, {2, 3, 2, 3 * 16}, -1, 1, 0},
                                     {"r", "TL_FLOAT", 4, {2, 3, 16, 16}, -0.3, 0.3, 1},
                                     {NULL}};
static const ln_rule_tensor given[] = {{"x", "TL_FLOAT", 4, {1, 3, 2, 4 * 19}, -1, 1, 0},
                                       {"r", "TL_FLOAT", 4, {1, 4, 19, 19}, -0.3, 0.3, 0},
                                       {"b", "TL_FLOAT", 2, {1, 8 * 19}, -1, 1, 1},
                                       {NULL}};
static const ln_rule_tensor doubles[] = {{"x", "TL_DOUBLE", 4, {1, 3, 2, 4 * 19}, -1, 1, 0},
                                         {"r", "TL_DOUBLE", 4, {1, 4, 19, 19}, -0.3, 0.3, 1},
                                         {"b", "TL_DOUBLE", 2, {1, 8 * 19}, -1, 1, 1},
                                         {NULL}};

// clang-format off
#define USUAL "[\"TL_UNARY_SIGMOID\", \"TL_UNARY_TANH\", \"TL_UNARY_TANH\"]"
static const char all_outputs[] =
    CELL("," ARG("bias", "b"), ARG("dst", "y") "," ARG("last_h", "h") "," ARG("last_c", "c"),
         ACTS("LSTM", "[true]", USUAL, "[0, 0, 0]"));
static const char last_alone[] =
    CELL("," ARG("bias", "b"), ARG("last_h", "h"), ACTS("LSTM", "[false]", USUAL, "[0, 0, 0]") "," PARAM("clip", "0.5"));
static const char both_directions[] =
    CELL("", ARG("dst", "y"), ACTS("GRU", "[false, true]",
         "[\"TL_UNARY_SIGMOID\", \"TL_UNARY_TANH\", \"TL_UNARY_SIGMOID\", \"TL_UNARY_TANH\"]", "[0, 0, 0, 0]"));
static const char relu[] =
    CELL("," ARG("bias", "b"), ARG("last_h", "h"),
         ACTS("LSTM", "[false]", "[\"TL_UNARY_SIGMOID\", \"TL_UNARY_RELU\", \"TL_UNARY_TANH\"]", "[0, 0, 0]"));
// clang-format on

static const char *const y_h_c[] = {"y", "h", "c", NULL}, *const h[] = {"h", NULL},
                         *const y[] = {"y", NULL};

static const ln_rule_case cases[] = {
    {"recurrent_in_blocks", "all outputs", lstm, all_outputs, y_h_c, NULL, NULL, 1, 0, 1e-5},
    {"recurrent_in_blocks", "one output", lstm, last_alone, h, NULL, NULL, 1, 0, 1e-5},
    {"recurrent_in_blocks", "directions", gru, both_directions, y, NULL, NULL, 1, 0, 1e-5},
    {"recurrent_in_blocks", "relu", lstm, relu, h, NULL, NULL, 0, 0, 0},
    {"recurrent_in_blocks", "weights that vary", given, last_alone, h, NULL, NULL, 0, 0, 0},
    {"recurrent_in_blocks", "doubles", doubles, last_alone, h, NULL, NULL, 0, 0, 0},
    {NULL},
};

int main(int argc, char **argv)
{
    return ln_rule_check(argc, argv, "cpu", "create_cpu", cases);
}
