// SPDX-License-Identifier: Apache-2.0
// Detects file formats: by magic numbers, by the first name in a zip archive, by the
// fields of a Protocol Buffers message, by the first two lines of text.

#include "lightnet/ln_content.h"

#include <ctype.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_protobuf.h"

// Magic numbers

typedef struct magic {
    size_t offset;
    const char *bytes;
    size_t len;
    ln_content kind;
    const char *name;
} magic;

#define MAGIC(offset, bytes, kind, name)                          \
    {                                                             \
        offset, bytes, sizeof(bytes) - 1, LN_CONTENT_##kind, name \
    }

// Bytes before a hexadecimal digit are octal: an octal escape ends after three digits.
static const magic magics[] = {
    MAGIC(0, "\xff\xd8\xff", INPUT, "a JPEG image"),
    MAGIC(0, "\x89PNG\r\n\x1a\n", INPUT, "a PNG image"),
    MAGIC(0, "\x93NUMPY", INPUT, "an npy array"),
    MAGIC(0, "GIF8", OTHER, "a GIF image"),
    MAGIC(8, "WEBPVP8", INPUT, "a WebP image"),
    MAGIC(8, "WAVEfmt ", OTHER, "a WAV file"),
    MAGIC(4, "ftypheic", OTHER, "an HEIC image"),
    MAGIC(4, "ftypmif1", OTHER, "an HEIC image"),
    MAGIC(4, "ftypavif", OTHER, "an AVIF image"),
    MAGIC(0, "II*\0", OTHER, "a TIFF image"),
    MAGIC(0, "MM\0*", OTHER, "a TIFF image"),
    MAGIC(0, "\0\0\0\x0cjP  \r\n\x87\n", OTHER, "a JPEG 2000 image"),
    MAGIC(0, "\xff\x4f\xff\x51\0", OTHER, "a JPEG 2000 codestream"),
    MAGIC(0, "%PDF-", OTHER, "a PDF document"),
    MAGIC(0, "\177ELF", OTHER, "an ELF program or library"),
    MAGIC(0, "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", WEIGHTS, "a parameter file of NNVM or TVM"),
    MAGIC(0, "\x12\x01\0\0\0\0\0\0", WEIGHTS, "a parameter file of MXNet"),
    MAGIC(4, "TFL3", MODEL, "a TensorFlow Lite model"),
    MAGIC(0, "GGUF", MODEL, "a GGUF model"),
    MAGIC(0, "\x89HDF\r\n\x1a\n", MODEL, "an HDF5 file, as Keras writes"),
    MAGIC(0, "\x80\x02\x8a\nl\xfc\234F\xf9 j\xa8P\x19.", MODEL, "a PyTorch file"),
    MAGIC(4, "ORTM", MODEL, "a model in ONNX Runtime's own format"),
    MAGIC(0, "7767517\n", MODEL, "an ncnn model"),
    MAGIC(0, "<?xml", MODEL, "an XML file, as OpenVINO writes"),
    MAGIC(0, "version https://git-lfs.github.com/", DOWNLOAD, "a Git LFS pointer"),
    MAGIC(0, "\x1f\x8b", ARCHIVE, "a gzip archive"),
    MAGIC(0, "BZh", ARCHIVE, "a bzip2 archive"),
    MAGIC(0, "\3757zXZ\0", ARCHIVE, "an xz archive"),
    MAGIC(0, "\x28\xb5\x2f\xfd", ARCHIVE, "a zstd archive"),
    MAGIC(257, "ustar", ARCHIVE, "a tar archive"),
};

static ln_content content_of_magic(const unsigned char *data, size_t size, const char **name)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        const magic *const m = &magics[i];
        if (size >= m->offset + m->len && !memcmp(data + m->offset, m->bytes, m->len)) {
            *name = m->name;
            return m->kind;
        }
    }
    return LN_CONTENT_UNKNOWN;
}

// Pickles

enum { PICKLE_BEGIN = 0x80, PICKLE_MIN = 2, PICKLE_MAX = 5, PICKLE_FRAME = 0x95 };

// Opcode PROTO, then an empty or marked collection, a class, or a frame.
static ln_content content_of_pickle(const unsigned char *data, size_t size, const char **name)
{
    static const char opcodes[] = {'}', ']', '(', 'c', ')'};
    if (size < 4 || data[0] != PICKLE_BEGIN || data[1] < PICKLE_MIN || data[1] > PICKLE_MAX ||
        (data[2] != PICKLE_FRAME && !memchr(opcodes, data[2], sizeof(opcodes))))
        return LN_CONTENT_UNKNOWN;
    *name = "a pickle of Python, as PyTorch and scikit-learn write";
    return LN_CONTENT_MODEL;
}

// Images whose magic number is short

// P1 to P6 and white space. The formats of bits, P1 and P4, are not read.
static ln_content content_of_pnm(const unsigned char *data, size_t size, const char **name)
{
    if (size < 3 || data[0] != 'P' || data[1] < '1' || data[1] > '6' || !isspace(data[2]))
        return LN_CONTENT_UNKNOWN;
    static const char *const names[] = {"a PBM image", "a PGM image", "a PPM image"};
    const int i = (data[1] - '1') % 3;
    *name = names[i];
    return i ? LN_CONTENT_INPUT : LN_CONTENT_OTHER;
}

// "BM", the size of the file, and four bytes that are 0.
static ln_content content_of_bmp(const unsigned char *data, size_t size, const char **name)
{
    if (size < 26 || memcmp(data, "BM", 2) || memcmp(data + 6, "\0\0\0\0", 4))
        return LN_CONTENT_UNKNOWN;
    *name = "a BMP image";
    return LN_CONTENT_INPUT;
}

// Zip archives

enum { ZIP_NAME_LENGTH = 26, ZIP_NAME = 30 };

// The first file of an archive identifies the program that wrote it.
static ln_content content_of_zip(const unsigned char *data, size_t size, const char **name)
{
    if (size < ZIP_NAME || memcmp(data, "PK\3\4", 4))
        return LN_CONTENT_UNKNOWN;
    const char *first = (const char *)data + ZIP_NAME;
    const size_t wanted = data[ZIP_NAME_LENGTH] + 256u * data[ZIP_NAME_LENGTH + 1];
    const size_t len = wanted < size - ZIP_NAME ? wanted : size - ZIP_NAME;
    if (ln_ends_with(first, len, ".npy")) {
        *name = "an npz archive";
        return LN_CONTENT_ARCHIVE;
    }
    if (ln_ends_with(first, len, "data.pkl")) {
        *name = "a PyTorch file";
        return LN_CONTENT_MODEL;
    }
    if (ln_ends_with(first, len, "metadata.json") || ln_ends_with(first, len, "config.json")) {
        *name = "a Keras file";
        return LN_CONTENT_MODEL;
    }
    *name = "a zip archive";
    return LN_CONTENT_ARCHIVE;
}

// Protocol Buffers

static ln_content content_of_protobuf(const unsigned char *data, size_t size, const char **name)
{
    *name = ln_protobuf_foreign(data, size);
    return *name ? LN_CONTENT_MODEL : LN_CONTENT_UNKNOWN;
}

// Text

// A line of a number alone, and a line of a C identifier and a number.
static ln_content content_of_wts(const unsigned char *data, size_t size, const char **name)
{
    size_t i = 0;
    while (i < size && isdigit(data[i]))
        i++;
    const size_t digits = i;
    while (i < size && (data[i] == '\r' || data[i] == '\n'))
        i++;
    const size_t line = i;
    while (i < size && (isalnum(data[i]) || data[i] == '_'))
        i++;
    if (!digits || line == digits || i == line || isdigit(data[line]) || i + 1 >= size ||
        data[i] != ' ' || !isdigit(data[i + 1]))
        return LN_CONTENT_UNKNOWN;
    *name = "a wts file";
    return LN_CONTENT_WEIGHTS;
}

// <html> or its declaration, in letters of any case.
static ln_content content_of_html(const unsigned char *data, size_t size, const char **name)
{
    static const char *const begins[] = {"<!doctype html", "<html"};
    size_t from = 0;
    while (from < size && isspace(data[from]))
        from++;
    for (size_t k = 0; k < sizeof(begins) / sizeof(begins[0]); k++) {
        size_t len = 0;
        while (begins[k][len] && from + len < size && tolower(data[from + len]) == begins[k][len])
            len++;
        if (begins[k][len])
            continue;
        *name = "an HTML page";
        return LN_CONTENT_DOWNLOAD;
    }
    return LN_CONTENT_UNKNOWN;
}

ln_content ln_content_of(const void *data, size_t size, const char **name)
{
    static ln_content (*const finders[])(const unsigned char *, size_t, const char **) = {
        content_of_magic, content_of_pickle,   content_of_pnm, content_of_bmp,
        content_of_zip,   content_of_protobuf, content_of_wts, content_of_html,
    };
    ln_content kind = LN_CONTENT_UNKNOWN;
    *name = NULL;
    for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]) && !kind; i++)
        kind = finders[i](data, size, name);
    return kind;
}
