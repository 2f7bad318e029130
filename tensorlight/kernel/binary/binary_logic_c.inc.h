// SPDX-License-Identifier: Apache-2.0
// Template: the operations on bits in plain C, for one integer type or for bool.

OPERATION(and, 1, (C)(a &b))
OPERATION(or, 1, (C)(a | b))
OPERATION(xor, 1, (C)(a ^ b))
