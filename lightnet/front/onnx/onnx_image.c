// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: image files within a model.
//
// The file determines the shape of the result, so it is decoded when the model is read: a constant,
// or an input whose value is set before compiling.

#include "data/ln_image_codec.h"
#include "front/onnx/ln_onnx.h"

// A format of pixels.
typedef struct pixels {
    int channels, is_bgr;
} pixels;

static pixels read_format(ln_onnx_node *n)
{
    static const ln_attr_word words[] = {{"RGB"}, {"BGR"}, {"Grayscale"}, {0}};
    const char *const format = ln_attr_choose(&n->emit, "pixel_format", "RGB", words);
    return (pixels){.channels = ln_streq(format, "Grayscale") ? 1 : 3,
                    .is_bgr = ln_streq(format, "BGR")};
}

// The decoded file, [H, W, C]. Returns new; NULL after a failure.
static tl_tensor *decode(ln_onnx_node *n, const tl_tensor *file, const pixels *p)
{
    ln_error err = {0};
    tl_tensor *const image =
        ln_image_from_bytes(file->data, (size_t)file->len, p->channels, p->is_bgr, &err);
    if (!image)
        ln_emit_fail_as(&n->emit, ln_error_status(&err), "input 0, 'encoded_stream': %s",
                        ln_error_text(&err));
    return image;
}

static void translate_image_decoder(ln_onnx_node *n)
{
    const pixels p = read_format(n);
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, 0));
    if (!ln_onnx_failed(n) && (t->ndim != 1 || t->dtype != TL_UINT8))
        ln_emit_fail(&n->emit, "input 0 has %d dimensions of %s, expected 1 of TL_UINT8", t->ndim,
                     tl_dtype_name(t->dtype));
    const tl_tensor *const file = ln_onnx_decisive_in(n, 0);
    tl_tensor *const image = file ? decode(n, file, &p) : NULL;
    if (image)
        ln_onnx_alias(n, 0,
                      ln_emit_constant(&n->emit, TL_UINT8, image->ndim, image->dims, image->data));
    tl_tensor_free_data_too(image);
}

const ln_onnx_row ln_onnx_rows_image[] = {
    {"ImageDecoder", 20, translate_image_decoder},
    {NULL},
};
