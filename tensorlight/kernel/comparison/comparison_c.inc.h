// SPDX-License-Identifier: Apache-2.0
// Template: the comparisons in plain C for one type. One loop for each pattern of steps, so that
// the compiler can make vector code of it.

#define LOOP(a, op, b)               \
    for (size_t i = 0; i < len; i++) \
        d[i] = (a)op(b);

#define COMPARISON(name, op)                                                                  \
    int NAME(tl_compare_##name, TL_SET)(const void *const *srcs, const int *steps, void *dst, \
                                        size_t len)                                           \
    {                                                                                         \
        const T *const s1 = srcs[0], *const s2 = srcs[1];                                     \
        uint8_t *const d = dst;                                                               \
        if (steps[0] && steps[1]) {                                                           \
            LOOP(LOAD(s1[i]), op, LOAD(s2[i]))                                                \
        } else if (len && steps[0]) {                                                         \
            const C b = LOAD(s2[0]);                                                          \
            LOOP(LOAD(s1[i]), op, b)                                                          \
        } else if (len) {                                                                     \
            const C a = LOAD(s1[0]);                                                          \
            LOOP(a, op, LOAD(s2[i]))                                                          \
        }                                                                                     \
        return 0;                                                                             \
    }

COMPARISON(equal, ==)
COMPARISON(not_equal, !=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)

#undef LOOP
#undef COMPARISON
