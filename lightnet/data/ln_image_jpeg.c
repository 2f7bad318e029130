// SPDX-License-Identifier: Apache-2.0
// JPEG images, by libjpeg. Its errors come back through a jump; a file that is cut off or damaged
// is an error, not a grey area.

#include "data/ln_exif.h"
#include "data/ln_image_codec.h"

#ifdef LN_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct failure {
    struct jpeg_error_mgr manager; // first, so that the library's pointer to it is one to this
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} failure;

static void fail(j_common_ptr info)
{
    failure *f = (failure *)info->err;
    info->err->format_message(info, f->text);
    longjmp(f->back, 1);
}

// Level -1 is a warning: the data are damaged. Others are trace messages.
static void handle_message(j_common_ptr info, int level)
{
    if (level < 0)
        fail(info);
}

static void read_rows(struct jpeg_decompress_struct *info, ln_image *image)
{
    const size_t stride = (size_t)image->width * (size_t)image->channels;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = image->pixels + info->output_scanline * stride;
        jpeg_read_scanlines(info, &row, 1);
    }
}

// Cameras write segments of this kind; the longest that there can be.
enum { APP1 = JPEG_APP0 + 1, LONGEST = 0xffff };

// The first one that is told.
static int find_orientation(const struct jpeg_decompress_struct *info)
{
    int orientation = 0;
    for (jpeg_saved_marker_ptr m = info->marker_list; m && !orientation; m = m->next)
        orientation = m->marker == APP1 ? ln_exif_orientation(m->data, m->data_length) : 0;
    return orientation;
}

int ln_image_decode_jpeg(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    struct jpeg_decompress_struct info;
    failure f;
    info.err = jpeg_std_error(&f.manager);
    f.manager.error_exit = fail;
    f.manager.emit_message = handle_message;
    if (setjmp(f.back)) {
        jpeg_destroy_decompress(&info);
        return ln_error_set(err, "%s", f.text);
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, size);
    jpeg_save_markers(&info, APP1, LONGEST);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = info.jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    const int channels = info.out_color_space == JCS_RGB ? 3 : 1;
    if (ln_image_alloc(image, info.image_height, info.image_width, channels, err)) {
        jpeg_destroy_decompress(&info);
        return -1;
    }
    jpeg_start_decompress(&info);
    read_rows(&info, image);
    const int orientation = find_orientation(&info); // before what was saved is freed
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return ln_exif_orient(image, orientation, err);
}

#else

int ln_image_decode_jpeg(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    (void)data, (void)size, (void)image;
    return ln_error_set(err, "this LightNet is built without libjpeg and cannot read JPEG images");
}

#endif
