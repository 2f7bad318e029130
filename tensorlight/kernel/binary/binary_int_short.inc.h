// SPDX-License-Identifier: Apache-2.0
// Template: the binary operations of one integer type that compilers make vectors of. Numbers wrap
// by calculating with uint64_t and keeping the low bits.

OPERATION(add, 1, (C)((uint64_t)a + (uint64_t)b))
OPERATION(sub, 1, (C)((uint64_t)a - (uint64_t)b))
OPERATION(mul, 1, (C)((uint64_t)a *(uint64_t)b))
OPERATION(max, 1, a > b ? a : b)
OPERATION(min, 1, b > a ? a : b)
