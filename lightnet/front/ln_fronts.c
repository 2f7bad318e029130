// SPDX-License-Identifier: Apache-2.0
// Enters the front ends of this build into their table before main begins.

#include "front/ln_fronts.h"

#include <stddef.h>

static const ln_front *const fronts[] = {
    &ln_front_compiled,
#ifdef LN_HAVE_ONNX
    &ln_front_onnx,
#endif
#ifdef LN_HAVE_NNVM
    &ln_front_nnvm,
#endif
#ifdef LN_HAVE_IL
    &ln_front_il, // the last one: a text that may be anything
#endif
    NULL,
};

__attribute__((constructor)) static void register_fronts(void)
{
    for (size_t i = 0; fronts[i]; i++)
        if (ln_front_register(fronts[i]))
            return; // nobody to tell yet: the format will not be recognised
}
