// SPDX-License-Identifier: Apache-2.0
// Registers the front ends of this build before main begins. The one for IL only rejects it, with a
// message that names il2json.

#include "front/ln_front.h"

#include <stddef.h>

#include "base/ln_il_look.h"

static int reject(ln_context *ctx, const char *name, ln_infile *file)
{
    (void)file;
    return ln_fail(ctx,
                   "%s: the model is LightNet IL text, which the library does not read; convert it "
                   "with il2json",
                   name);
}

const ln_front ln_front_il = {
    .format = "IL",
    .is = ln_il_look,
    .read = reject,
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
    &ln_front_il, // last, since it accepts many texts
#endif
    NULL,
};

__attribute__((constructor)) static void register_fronts(void)
{
    for (size_t i = 0; fronts[i]; i++)
        if (ln_front_register(fronts[i]))
            return; // no way to report it; the format will be unknown
}
