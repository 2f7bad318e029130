// SPDX-License-Identifier: Apache-2.0
// Template: the binary operations of one floating type that compilers make vectors of.

OPERATION(add, 1, a + b)
OPERATION(sub, 1, a - b)
OPERATION(mul, 1, (a * b))

// Where a is NaN it is taken, and b, where no comparison with it is true.
OPERATION(max, 1, a > b || a != a ? a : b)
OPERATION(min, 1, b > a || a != a ? a : b)
