// SPDX-License-Identifier: Apache-2.0
// Matrix units of x86-64 CPUs, AMX: whether there are some, and whether this process may use them.

#pragma once

enum { TL_AMX_INT8 = 1, TL_AMX_BF16 = 2 };

/** The types of factors that this CPU's units multiply. */
unsigned tl_amx_detect(void);

/** Asks the system to let this process use the units: 1, or 0 if it refuses. */
int tl_amx_permit(void);
