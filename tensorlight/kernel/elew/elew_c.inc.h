// SPDX-License-Identifier: Apache-2.0
// Template: the binary operations in plain C for one type. The arithmetic is in elew_c.c.

#define ELEW_LOOP(name, CALCULATE, CAN)                                           \
    static int NAME(elew, name)(const T *src1, const T *src2, T *dst, size_t len) \
    {                                                                             \
        for (size_t i = 0; i < len; i++) {                                        \
            const C a = LOAD(src1[i]);                                            \
            const C b = LOAD(src2[i]);                                            \
            if (!CAN(b))                                                          \
                return -1;                                                        \
            dst[i] = STORE(CALCULATE(a, b));                                      \
        }                                                                         \
        return 0;                                                                 \
    }
#define ALWAYS(b) 1
ELEW_LOOP(mul, MUL, ALWAYS)
ELEW_LOOP(div, DIV, CAN_DIVIDE_BY)
ELEW_LOOP(sum, SUM, ALWAYS)
ELEW_LOOP(sub, SUB, ALWAYS)
ELEW_LOOP(max, MAX, ALWAYS)
ELEW_LOOP(min, MIN, ALWAYS)
ELEW_LOOP(pow, POW, ALWAYS)
#undef ALWAYS
#undef ELEW_LOOP

int NAME(tl_elew, c)(tl_elew_op op, const void *src1, const void *src2, void *dst, size_t len)
{
    static int (*const loops[TL_ELEW_OP_SIZE])(const T *, const T *, T *, size_t) = {
        [TL_MUL] = NAME(elew, mul), [TL_DIV] = NAME(elew, div), [TL_SUM] = NAME(elew, sum),
        [TL_SUB] = NAME(elew, sub), [TL_MAX] = NAME(elew, max), [TL_MIN] = NAME(elew, min),
        [TL_POW] = NAME(elew, pow),
    };
    return loops[op](src1, src2, dst, len);
}
