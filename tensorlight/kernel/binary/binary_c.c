// SPDX-License-Identifier: Apache-2.0
// The binary operations in plain C, for every type.
//
// OPERATION(name, can, value) makes a kernel of an operation's value for the elements a and b, both
// of type C, where `can` is its condition.

#include "kernel/binary/binary.h"

#include <inttypes.h>
#include <math.h>
#include <tgmath.h>

#define LOOP(can, value, a_of_i, b_of_i) \
    for (size_t i = 0; i < len; i++) {   \
        const C a = a_of_i, b = b_of_i;  \
        if (!(can))                      \
            return -1;                   \
        d[i] = STORE(value);             \
    }

// One loop for each pattern of steps, so that the compiler can make vector code of it.
#define OPERATION(name, can, value)                                                     \
    int NAME(tl_binary_##name, c)(const void *const *srcs, const int *steps, void *dst, \
                                  size_t len)                                           \
    {                                                                                   \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                               \
        T *const d = dst;                                                               \
        if (steps[0] && steps[1]) {                                                     \
            LOOP(can, value, LOAD(s1[i]), LOAD(s2[i]))                                  \
        } else if (len && steps[0]) {                                                   \
            const C b_first = LOAD(s2[0]);                                              \
            LOOP(can, value, LOAD(s1[i]), b_first)                                      \
        } else if (len) {                                                               \
            const C a_first = LOAD(s1[0]);                                              \
            LOOP(can, value, a_first, LOAD(s2[i]))                                      \
        }                                                                               \
        return 0;                                                                       \
    }

#define TL_TEMPLATE "kernel/binary/binary_float_c.inc.h"
#include "tensor/tl_each_float.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_int_c.inc.h"
#include "tensor/tl_each_int.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/binary/binary_logic_c.inc.h"
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
