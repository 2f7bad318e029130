// SPDX-License-Identifier: Apache-2.0
// Models in the intermediate language, which the library does not read: it says who does.

#include "base/ln_il_look.h"
#include "front/ln_fronts.h"
#include "lightnet/ln_context.h"

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
