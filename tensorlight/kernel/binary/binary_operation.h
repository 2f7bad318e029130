// SPDX-License-Identifier: Apache-2.0
// What the kernels of binary operations in plain C are made with.
//
// OPERATION(name, can, value) makes a kernel of an operation's value for the elements a and b, both
// of type C, where `can` is its condition.

#ifndef BINARY_OPERATION_H
#define BINARY_OPERATION_H

#define LOOP(can, value, a_of_i, b_of_i) \
    for (size_t i = 0; i < len; i++) {   \
        const C a = a_of_i, b = b_of_i;  \
        if (!(can))                      \
            return -1;                   \
        d[i] = STORE(value);             \
    }

// One loop for each pattern of steps, so that the compiler can make vector code of it.
#define OPERATION(name, can, value)                                                          \
    int NAME(tl_binary_##name, TL_SET)(const void *const *srcs, const int *steps, void *dst, \
                                       size_t len)                                           \
    {                                                                                        \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                                    \
        T *const d = dst;                                                                    \
        if (steps[0] && steps[1]) {                                                          \
            LOOP(can, value, LOAD(s1[i]), LOAD(s2[i]))                                       \
        } else if (len && steps[0]) {                                                        \
            const C b_first = LOAD(s2[0]);                                                   \
            LOOP(can, value, LOAD(s1[i]), b_first)                                           \
        } else if (len) {                                                                    \
            const C a_first = LOAD(s1[0]);                                                   \
            LOOP(can, value, a_first, LOAD(s2[i]))                                           \
        }                                                                                    \
        return 0;                                                                            \
    }

#endif
