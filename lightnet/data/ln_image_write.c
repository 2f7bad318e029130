// SPDX-License-Identifier: Apache-2.0
// Images as outputs: the format of a file by the suffix of its name.

#include <string.h>

#include "base/ln_name.h"
#include "data/ln_image_codec.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_outfile.h"

static const struct format {
    const char *suffix;
    const char *name, *library; // of the encoder, which may be NULL
    ln_image_encoder encode;
    int channels; // 0: any
} formats[] = {
    {".png", "PNG", "libpng", LN_OF_PNG(ln_image_encode_png), 0},
    {".jpg", "JPEG", "libjpeg", LN_OF_JPEG(ln_image_encode_jpeg), 0},
    {".jpeg", "JPEG", "libjpeg", LN_OF_JPEG(ln_image_encode_jpeg), 0},
    {".pgm", NULL, NULL, ln_image_encode_pnm, 1},
    {".ppm", NULL, NULL, ln_image_encode_pnm, 3},
};

static const struct format *find_format(const char *file)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (ln_has_suffix(file, formats[i].suffix))
            return &formats[i];
    return NULL;
}

// The argument of ln_outfile_write.
typedef struct writing {
    const char *file;
    const struct format *format;
    const ln_image *image;
} writing;

static int encode(FILE *stream, const void *arg, ln_error *err)
{
    const writing *w = arg;
    if (!w->format->encode)
        return ln_error_set(err, "%s: this LightNet is built without %s and cannot write %s images",
                            w->file, w->format->library, w->format->name);
    return w->format->encode(stream, w->image, err) ? ln_error_prefix(err, "%s", w->file) : 0;
}

int ln_image_write(const char *file, const ln_image *image, ln_error *err)
{
    const writing w = {file, find_format(file), image};
    if (!w.format)
        return ln_error_set(err, "%s: unknown suffix, expected .png, .jpg, .jpeg, .pgm or .ppm",
                            file);
    if (w.format->channels && w.format->channels != image->channels)
        return ln_error_set(err, "%s: the image has %d channels, expected %d", file,
                            image->channels, w.format->channels);
    return ln_outfile_write(file, encode, &w, err);
}
