// SPDX-License-Identifier: Apache-2.0
// Preprocessing of images: presets, and the options that override parts of them.

#include "input/cli_preprocess.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "output/cli_msg.h"
#include "tensorlight/tl_type.h"

// A preset. Means and standard deviations are per channel, for pixels from 0 to 255.
typedef struct preset {
    const char *name;
    int bgr;
    ln_image_fit fit;
    ln_image_filter filter;
    double share;  // as in ln_image_format
    double border; // of a letterbox, or a pad
    double mean[3];
    double std[3];
} preset;

#define EACH(x)       \
    {                 \
        (x), (x), (x) \
    }
#define UNIT(r, g, b)                   \
    {                                   \
        255 * (r), 255 * (g), 255 * (b) \
    }

// Sources: torchvision's weights (resize to 256, crop 224); OpenAI's CLIP, clip.py; Keras,
// imagenet_utils.preprocess_input, modes "caffe" and "tf"; Ultralytics, LetterBox; YOLOX, preproc;
// DETR; UltraFace, RetinaFace and SCRFD, their detect functions; MediaPipe.
static const preset presets[] = {
    {"imagenet", 0, LN_IMAGE_CROP, LN_IMAGE_ANTIALIAS, 224 / 256.0, 0, UNIT(0.485, 0.456, 0.406),
     UNIT(0.229, 0.224, 0.225)},
    {"detr", 0, LN_IMAGE_STRETCH, LN_IMAGE_ANTIALIAS, 1, 0, UNIT(0.485, 0.456, 0.406),
     UNIT(0.229, 0.224, 0.225)},
    {"clip", 0, LN_IMAGE_CROP, LN_IMAGE_BICUBIC, 1, 0, UNIT(0.48145466, 0.4578275, 0.40821073),
     UNIT(0.26862954, 0.26130258, 0.27577711)},
    {"yolo", 0, LN_IMAGE_LETTERBOX, LN_IMAGE_LINEAR, 1, 114, EACH(0), EACH(255)},
    {"yolox", 1, LN_IMAGE_PAD, LN_IMAGE_LINEAR, 1, 114, EACH(0), EACH(1)},
    {"caffe", 1, LN_IMAGE_STRETCH, LN_IMAGE_LINEAR, 1, 0, {103.939, 116.779, 123.68}, EACH(1)},
    {"inception", 0, LN_IMAGE_STRETCH, LN_IMAGE_LINEAR, 1, 0, EACH(127.5), EACH(127.5)},
    {"ultraface", 0, LN_IMAGE_STRETCH, LN_IMAGE_LINEAR, 1, 0, EACH(127), EACH(128)},
    {"retinaface", 1, LN_IMAGE_LETTERBOX, LN_IMAGE_LINEAR, 1, 0, {104, 117, 123}, EACH(1)},
    {"scrfd", 0, LN_IMAGE_PAD, LN_IMAGE_LINEAR, 1, 0, EACH(127.5), EACH(128)},
    {"blazeface", 0, LN_IMAGE_LETTERBOX, LN_IMAGE_LINEAR, 1, 0, EACH(127.5), EACH(127.5)},
    {"0-1", 0, LN_IMAGE_STRETCH, LN_IMAGE_LINEAR, 1, 0, EACH(0), EACH(255)},
    {"0-255", 0, LN_IMAGE_STRETCH, LN_IMAGE_LINEAR, 1, 0, EACH(0), EACH(1)},
};

enum { N_PRESETS = sizeof(presets) / sizeof(presets[0]) };

static const char *const fits[] = {
    [LN_IMAGE_STRETCH] = "stretch",
    [LN_IMAGE_CROP] = "crop",
    [LN_IMAGE_LETTERBOX] = "letterbox",
    [LN_IMAGE_PAD] = "pad",
};

static const char *const filters[] = {
    [LN_IMAGE_LINEAR] = "linear",
    [LN_IMAGE_ANTIALIAS] = "antialias",
    [LN_IMAGE_BICUBIC] = "bicubic",
};

enum { N_FITS = sizeof(fits) / sizeof(fits[0]), N_FILTERS = sizeof(filters) / sizeof(filters[0]) };

static int has_border(ln_image_fit fit)
{
    return fit == LN_IMAGE_LETTERBOX || fit == LN_IMAGE_PAD;
}

static const preset *find_preset(const char *name)
{
    for (int i = 0; i < N_PRESETS; i++)
        if (!strcmp(presets[i].name, name))
            return &presets[i];
    return NULL;
}

// The index of the name of `len` bytes; -1: unknown.
static int index_of(const char *const *names, int n, const char *name, size_t len)
{
    for (int i = 0; i < n; i++)
        if (strlen(names[i]) == len && !strncmp(names[i], name, len))
            return i;
    return -1;
}

int cli_preprocess_check_name(const char *text)
{
    char known[128];
    size_t len = 0;
    for (int i = 0; i < N_PRESETS && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
                                !i                   ? ""
                                : i == N_PRESETS - 1 ? " or "
                                                     : ", ",
                                presets[i].name);
    return find_preset(text) ? 0 : cli_usage("--preprocess is '%s', expected %s", text, known);
}

// Reads "stretch", "crop[=SHARE]", "letterbox[=GREY]" or "pad[=GREY]" into the format. Returns 0;
// -1: another text or value.
static int read_resize(const char *text, ln_image_format *format)
{
    const size_t len = strcspn(text, "=");
    const int fit = index_of(fits, N_FITS, text, len);
    const int has_value = text[len] == '=';
    char *end = NULL;
    const double value = has_value ? strtod(text + len + 1, &end) : 0;
    if (fit < 0 || (has_value && (fit == LN_IMAGE_STRETCH || !text[len + 1] || *end)))
        return -1;
    format->fit = (ln_image_fit)fit;
    format->share = fit == LN_IMAGE_CROP && has_value ? value : 1;
    format->border = has_border(format->fit) ? value : 0;
    return format->share >= 0.01 && format->share <= 1 && value >= 0 && value <= 255 ? 0 : -1;
}

int cli_preprocess_check_resize(const char *text)
{
    ln_image_format format;
    return read_resize(text, &format)
               ? cli_usage("--resize is '%s', expected stretch, crop, crop=SHARE (0.01 to 1), "
                           "letterbox, pad, letterbox=GREY or pad=GREY (0 to 255)",
                           text)
               : 0;
}

int cli_preprocess_check_filter(const char *text)
{
    return index_of(filters, N_FILTERS, text, strlen(text)) < 0
               ? cli_usage("--filter is '%s', expected linear, antialias or bicubic", text)
               : 0;
}

// Copies one value per channel; reverses RGB to BGR if `is_reversed`.
static void copy_channels(double *to, const double *from, int is_reversed)
{
    for (int i = 0; i < 3; i++)
        to[i] = from[is_reversed ? 2 - i : i];
}

// Absent options are NaN.
static int is_given(const double *values)
{
    return !isnan(values[0]);
}

static int is_channels(int n)
{
    return n == 1 || n == 3;
}

int cli_preprocess_is_nhwc(const cli_options *opt, const tl_tensor *t)
{
    if (opt->images.nhwc >= 0)
        return opt->images.nhwc;
    return (t->ndim == 3 || t->ndim == 4) && is_channels(t->dims[t->ndim - 1]) &&
           !is_channels(t->dims[t->ndim - 3]);
}

// The length of an open axis; -1: unknown.
static int open_length(const cli_options *opt, const tl_tensor *info, int axis)
{
    const int is_image = info->ndim == 3 || info->ndim == 4;
    const int height = info->ndim - (cli_preprocess_is_nhwc(opt, info) ? 3 : 2);
    if (is_image && (axis == height || axis == height + 1)) {
        const int length = axis == height ? opt->images.height : opt->images.width;
        return length ? length : -1;
    }
    return axis == 0 ? 1 : is_image ? 3 : -1;
}

int cli_preprocess_shape(const cli_options *opt, const tl_tensor *info, int dims[LN_MAXDIM])
{
    for (int axis = 0; axis < info->ndim; axis++) {
        dims[axis] = info->dims[axis] >= 0 ? info->dims[axis] : open_length(opt, info, axis);
        if (dims[axis] < 0)
            return 0;
    }
    return info->ndim > 0 ? info->ndim : 0;
}

ln_image_format cli_preprocess_format(const cli_options *opt, const tl_tensor *like)
{
    const preset *p = find_preset(opt->images.preprocess ? opt->images.preprocess : "0-255");
    const int is_reversed = opt->images.bgr && !p->bgr;
    ln_image_format format = {.nhwc = cli_preprocess_is_nhwc(opt, like),
                              .bgr = opt->images.bgr || p->bgr,
                              .fit = p->fit,
                              .filter = p->filter,
                              .share = p->share,
                              .border = p->border};
    double std[3] = {1, 1, 1};
    copy_channels(format.mean, is_given(opt->images.mean) ? opt->images.mean : p->mean,
                  is_reversed && !is_given(opt->images.mean));
    // --scale and --std replace the preset's deviations together.
    if (is_given(opt->images.std))
        copy_channels(std, opt->images.std, 0);
    else if (!is_given(opt->images.scale))
        copy_channels(std, p->std, is_reversed);
    for (int i = 0; i < 3; i++)
        format.scale[i] = (is_given(opt->images.scale) ? opt->images.scale[i] : 1) / std[i];
    if (opt->images.resize) {
        read_resize(opt->images.resize, &format);
        format.filter = p->filter == LN_IMAGE_LINEAR ? LN_IMAGE_ANTIALIAS : p->filter;
    }
    if (opt->images.filter)
        format.filter = (ln_image_filter)index_of(filters, N_FILTERS, opt->images.filter,
                                                  strlen(opt->images.filter));
    return format;
}

// The photo of a run

static double max_of(const tl_tensor *t)
{
    double max = -INFINITY;
    for (int i = 0; i < t->len; i++) {
        double v;
        tl_convert(&v, TL_DOUBLE, (const char *)t->data + (size_t)i * tl_size_of(t->dtype),
                   t->dtype);
        max = fmax(max, v);
    }
    return max;
}

// Whether an option normalizes the pixels, or accepts them as they are.
static int has_normalization(const cli_options *opt)
{
    return opt->images.preprocess || is_given(opt->images.mean) || is_given(opt->images.scale) ||
           is_given(opt->images.std);
}

// The channels of an image [C, H, W] or [N, C, H, W], or NHWC.
static int channels_of(const ln_image_format *format, const tl_tensor *t)
{
    return t->dims[format->nhwc ? t->ndim - 1 : t->ndim - 3];
}

int cli_preprocess_check(const cli_options *opt, const char *file, const ln_image_format *format,
                         const tl_tensor *t, ln_error *err)
{
    const struct {
        const char *name;
        const double *values;
    } options[] = {
        {"mean", opt->images.mean}, {"scale", opt->images.scale}, {"std", opt->images.std}};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const double *const v = options[i].values;
        if (is_given(v) && (v[0] != v[1] || v[0] != v[2]) && channels_of(format, t) == 1)
            return ln_error_set(err,
                                "%s: --%s has three values, but the input has one channel; "
                                "expected one value",
                                file, options[i].name);
    }
    return 0;
}

void cli_preprocess_note(const cli_options *opt, const char *file, const ln_image_format *format,
                         const tl_tensor *t)
{
    cli_photo *const photo = opt->images.photo;
    const int *dims = t->dims + t->ndim - 3; // [C, H, W], after an optional N
    if (photo->file)
        return;
    photo->file = file;
    photo->format = *format;
    photo->height = dims[format->nhwc ? 0 : 1];
    photo->width = dims[format->nhwc ? 1 : 2];
    photo->is_unscaled = tl_dtype_is_float(t->dtype) && channels_of(format, t) == 3 &&
                         !has_normalization(opt) && !opt->quiet && max_of(t) > 1;
}

int cli_preprocess_warn(const cli_photo *photo)
{
    if (photo->is_unscaled)
        cli_warn("%s: pixels are not scaled, 0 to 255, and most models expect normalized values; "
                 "see --preprocess (0-255 accepts these)",
                 photo->file);
    return photo->is_unscaled;
}
