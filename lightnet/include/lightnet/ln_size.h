// SPDX-License-Identifier: Apache-2.0
// The code of size expressions: the lengths of an operator's results, of its description,
// and about elements that are computed from lengths. Generated; evaluated by LightNet.
//
// An instruction pops its operands from a stack of dimensions and pushes its result. Lengths that
// are complete are appended to the result, a list of axes. `arg` is the index of an input or a
// parameter in its table of ln_op_info.

#ifndef LN_SIZE_H
#define LN_SIZE_H

#include <stdint.h>

#include "lightnet/ln_api.h"

LN_BEGIN_DECLS

typedef enum ln_size_op {
    LN_SIZE_END,

    // Operands.
    LN_SIZE_NUMBER, // n
    LN_SIZE_LOOP,   // the index of the loop, k
    LN_SIZE_INDEX,  // the index of the element, i
    LN_SIZE_PART,   // the position of the output among variadic ones
    LN_SIZE_UNKNOWN,
    LN_SIZE_NDIM,  // dimensions of input `arg`
    LN_SIZE_LEN,   // elements of input `arg`
    LN_SIZE_COUNT, // the number of variadic inputs `arg`
    LN_SIZE_HAS,   // whether optional input `arg` is there
    LN_SIZE_PARAM, // parameter `arg`, a number or bool
    LN_SIZE_ITEMS, // the number of elements of parameter `arg`, an array
    LN_SIZE_IS,    // whether it is words[n]

    // Operands with an index, which they pop.
    LN_SIZE_AXIS,  // the length of axis i of input `arg`; -1: the last
    LN_SIZE_VALUE, // its element i; of a single element for all i; of variadic inputs
                   // the element among those of all
    LN_SIZE_TOTAL, // the sum of the lengths of axes i of variadic inputs
    LN_SIZE_ITEM,  // element i of parameter `arg`; -1: the last
    LN_SIZE_IN,    // whether an element of parameter `arg` is i
    LN_SIZE_AT,    // the index of that element
    LN_SIZE_BELOW, // how many elements are less than i
    LN_SIZE_SCALE, // pops x, too: x times element i of `arg`, rounded down

    // Operations on the last two operands.
    LN_SIZE_ADD,
    LN_SIZE_SUB,
    LN_SIZE_MUL,
    LN_SIZE_DIV, // rounded down
    LN_SIZE_MOD,
    LN_SIZE_MIN,
    LN_SIZE_MAX,
    LN_SIZE_EQ,
    LN_SIZE_LT,
    LN_SIZE_AND,
    LN_SIZE_OR,

    // Others.
    LN_SIZE_NEG,
    LN_SIZE_NOT,
    LN_SIZE_SQRT,   // of a number, rounded down
    LN_SIZE_SELECT, // condition, result if it holds, result if not
    LN_SIZE_SLICE,  // length, start, end, step: of a slice as in NumPy
    LN_SIZE_DATA, // max, value (n = 1: without): the value, or else a length up to `max` that data
                  // decide

    // The result. From and to are positions in a shape: the axes of input `arg`, or with n = 1 the
    // elements of parameter `arg`, with n = 2 those of input `arg`; negative ones count from its
    // end.
    LN_SIZE_EMIT,      // pops an axis and appends it
    LN_SIZE_SHAPE,     // pops from, to: appends these axes
    LN_SIZE_PRODUCT,   // pops from, to: pushes their product
    LN_SIZE_SUM,       // pops from, to: pushes their sum
    LN_SIZE_BROADCAST, // pops from, to: broadcasts the result, so far, with these axes
    LN_SIZE_RESHAPE,   // appends the axes of input `arg` in the new shape of parameter n: -1
                       // is what is left, -2 the axis of the input
    LN_SIZE_IF,        // pops a condition: without it, skips n instructions
    LN_SIZE_FOR,       // pops a number of rounds, in which k is 0, 1, ..: n instructions follow
    LN_SIZE_NEXT,      // ends a round: n instructions back
} ln_size_op;

typedef struct ln_size_code {
    uint8_t op; // ln_size_op
    uint8_t arg;
    int16_t n;
} ln_size_code;

/** The lengths of a shape of which a kernel says nothing. */
#define LN_NO_DIMS                     \
    {                                  \
        -1, -1, -1, -1, -1, -1, -1, -1 \
    }

LN_END_DECLS

#endif
