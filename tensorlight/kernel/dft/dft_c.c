// SPDX-License-Identifier: Apache-2.0
// The Fourier transform of lines in plain C.

#include "kernel/dft/dft.h"

#include <string.h>

#define TL_TEMPLATE "kernel/dft/dft_c.inc.h"
#include "tensor/tl_each_float.inc.h"
