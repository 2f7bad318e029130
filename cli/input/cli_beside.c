// SPDX-License-Identifier: Apache-2.0
// Inputs beside the image of a detector.

#include "input/cli_beside.h"

#include <stdlib.h>
#include <string.h>

#include "input/cli_preprocess.h"
#include "lightnet/ln_util.h"
#include "output/cli_msg.h"
#include "tensorlight/tl_type.h"

// What the elements are.
typedef enum content { ONES, MASK, HEIGHT_WIDTH, WIDTH_HEIGHT } content;

// Sources: lyuwenyu/RT-DETR, the ONNX model zoo's yolov3, PaddleDetection, Hugging Face's DETR.
static const struct known {
    const char *name;
    content content;
} names[] = {
    {"orig_target_sizes", WIDTH_HEIGHT},
    {"image_shape", HEIGHT_WIDTH},
    {"im_shape", HEIGHT_WIDTH},
    {"scale_factor", ONES},
    {"pixel_mask", MASK}, // ones, whose last axes have the size of the image if they are open
};

static const struct known *find_name(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(names[i].name, name))
            return &names[i];
    return NULL;
}

// Height and width of the first input that is an image; 0: they are open, without a preset, and no
// image was read.
static void find_size(const cli_options *opt, const ln_model *model, int size[2])
{
    const cli_photo *const photo = opt->images.photo;
    int dims[LN_MAXDIM];
    size[0] = photo && photo->file ? photo->height : 0;
    size[1] = photo && photo->file ? photo->width : 0;
    for (int i = 0; i < ln_model_num_inputs(model) && !size[0]; i++) {
        const tl_tensor *const t = ln_model_input_info(model, i);
        const int height = cli_preprocess_is_nhwc(opt, t) ? 1 : 2;
        if (t->ndim == 4 && cli_preprocess_shape(opt, t, dims)) {
            size[0] = dims[height];
            size[1] = dims[height + 1];
        }
    }
}

static int has_image(const ln_model *model)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++)
        if (ln_model_input_info(model, i)->ndim == 4)
            return 1;
    return 0;
}

int cli_beside_is_known(const cli_options *opt, const ln_model *model, int i)
{
    return opt->images.has_beside && find_name(ln_model_input_name(model, i)) && has_image(model) &&
           ln_model_input_info(model, i)->ndim != 4;
}

// Whether the size of the image is needed for an input.
static int needs_size(const tl_tensor *info, content what)
{
    const int last = info->ndim - 1;
    return what == MASK ? last > 0 && (info->dims[last] < 0 || info->dims[last - 1] < 0)
                        : what != ONES;
}

// The length of an open axis.
static int open_length(const tl_tensor *info, content what, const int size[2], int axis)
{
    const int k = axis - (info->ndim - 2);
    return what == MASK && k >= 0 ? size[k] : 1;
}

// Returns new (tl_tensor_free_data_too); NULL: no memory, or unknown dimensions.
static tl_tensor *make(const tl_tensor *info, content what, const int size[2])
{
    int dims[LN_MAXDIM];
    if (info->ndim < 0 || info->ndim > LN_MAXDIM)
        return NULL;
    for (int k = 0; k < info->ndim; k++)
        dims[k] = info->dims[k] < 0 ? open_length(info, what, size, k) : info->dims[k];
    tl_tensor *const t = tl_tensor_zeros(info->ndim, dims, info->dtype);
    for (int k = 0; t && k < t->len; k++) {
        const double v = what == ONES || what == MASK ? 1 : size[(k & 1) != (what == WIDTH_HEIGHT)];
        tl_convert((char *)t->data + (size_t)k * tl_size_of(t->dtype), t->dtype, &v, TL_DOUBLE);
    }
    return t;
}

tl_tensor *cli_beside_make(const cli_options *opt, const ln_model *model, int i)
{
    const char *const name = ln_model_input_name(model, i);
    const tl_tensor *const info = ln_model_input_info(model, i);
    const struct known *const known = find_name(name);
    int size[2];
    find_size(opt, model, size);
    if (needs_size(info, known->content) && !size[0]) {
        cli_fail("%s: input '%s': the size of the image's input is open; set it with --shape",
                 opt->args[0], name);
        return NULL;
    }
    tl_tensor *const t = make(info, known->content, size);
    if (!t)
        cli_fail_memory();
    return t;
}
