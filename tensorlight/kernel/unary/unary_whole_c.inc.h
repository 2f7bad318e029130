// SPDX-License-Identifier: Apache-2.0
// Template: the functions of one number in plain C for one integer type, or for bool.

FORMULA(neg, (C)(0 - (uint64_t)x))
FORMULA(abs, x > (C)0 ? x : (C)(0 - (uint64_t)x))
FORMULA(sign, (C)((x > (C)0) - !(x > (C)0 || x == 0)))
FORMULA(not, INVERTED(x))

TL_UNARY_FUNCS(KERNEL_OF, )
