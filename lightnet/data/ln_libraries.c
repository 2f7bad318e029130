// SPDX-License-Identifier: Apache-2.0
// The versions of the libraries that read files.

#include <jansson.h>
#include <stdio.h>
#ifdef LN_HAVE_ONNX
#include "ln_onnx.pb-c.h"
#endif
#ifdef LN_HAVE_PNG
#include <png.h>
#endif
#ifdef LN_HAVE_JPEG
#include <jpeglib.h>
#endif
#ifdef LN_HAVE_WEBP
#include <webp/decode.h>
#endif
#ifdef LN_HAVE_ZLIB
#include <zlib.h>
#endif

#include "lightnet/ln_data.h"

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

// Of the library in use where it reports its version, else of its headers.
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_NAME    ", libjpeg-turbo "
#define JPEG_VERSION VALUE_OF(LIBJPEG_TURBO_VERSION)
#elif defined(LN_HAVE_JPEG)
#define JPEG_NAME    ", libjpeg "
#define JPEG_VERSION VALUE_OF(JPEG_LIB_VERSION)
#endif

char *ln_sprint_libraries(char *buf, size_t size)
{
#ifdef LN_HAVE_WEBP
    char webp[16];
    const int version = WebPGetDecoderVersion();
    snprintf(webp, sizeof(webp), "%d.%d.%d", version >> 16 & 255, version >> 8 & 255,
             version & 255);
#endif
    const char *const texts[] = {
        "Jansson ",      jansson_version_str(),
#ifdef LN_HAVE_ONNX
        ", protobuf-c ", protobuf_c_version(),
#endif
#ifdef LN_HAVE_PNG
        ", libpng ",     png_get_libpng_ver(NULL),
#endif
#ifdef LN_HAVE_JPEG
        JPEG_NAME,       JPEG_VERSION,
#endif
#ifdef LN_HAVE_WEBP
        ", libwebp ",    webp,
#endif
#ifdef LN_HAVE_ZLIB
        ", zlib ",       zlibVersion(),
#endif
    };
    size_t len = 0;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s", texts[i]);
    return buf;
}
