// SPDX-License-Identifier: Apache-2.0
// The architectures of this build.

#ifndef LN_ARCHS_H
#define LN_ARCHS_H

#include "lightnet/ln_arch.h"

extern ln_arch ln_archimpl_none;
extern ln_arch ln_archimpl_cpu;

#endif
