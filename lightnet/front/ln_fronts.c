// SPDX-License-Identifier: Apache-2.0
// Enters the front ends of this build into their table before main begins. That of IL is here: the
// library does not read it, and says who does.

#include "front/ln_front.h"

#include <stddef.h>

#include "base/ln_il_look.h"

static int is_il(const unsigned char *data, size_t size)
{
    return ln_il_look(data, size);
}

static int refuse(ln_context *ctx, const char *name, ln_infile *file)
{
    (void)file;
    return ln_fail(ctx,
                   "%s: the model is LightNet IL text, which the library does not read; convert it "
                   "with il2json",
                   name);
}

const ln_front ln_front_il = {
    .format = "IL",
    .is = is_il,
    .read = refuse,
};

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
