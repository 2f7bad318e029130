// SPDX-License-Identifier: Apache-2.0
// Fuzz target: the decoders of images.

#include "fuzz_file.h"

#include "lightnet/ln_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ln_error err = {0};
    ln_image image = {0};
    if (!ln_image_decode(fuzz_file(data, size), &image, &err))
        ln_image_free(&image);
    return 0;
}
