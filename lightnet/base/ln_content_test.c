// SPDX-License-Identifier: Apache-2.0
// Tests of recognising files by their content.

#include "lightnet/ln_content.h"

#include <string.h>

#include "base/ln_protobuf.h"
#include "lightnet/ln_util.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

typedef struct row {
    ln_content kind;
    const char *name;
    const char *bytes;
    size_t size;
} row;

#define ROW(kind, name, bytes)                            \
    {                                                     \
        LN_CONTENT_##kind, name, bytes, sizeof(bytes) - 1 \
    }

static const row rows[] = {
    ROW(INPUT, "a JPEG image", "\xff\xd8\xff\xe0"),
    ROW(INPUT, "a PNG image", "\x89PNG\r\n\x1a\n"),
    ROW(INPUT, "an npy array", "\x93NUMPY\1\0"),
    ROW(INPUT, "a PGM image", "P2\n1 1"),
    ROW(INPUT, "a PGM image", "P5 1 1"),
    ROW(INPUT, "a PPM image", "P3\t1 1"),
    ROW(INPUT, "a PPM image", "P6\n1 1"),
    ROW(OTHER, "a PBM image", "P1\n1 1"),
    ROW(OTHER, "a PBM image", "P4\n1 1"),
    ROW(OTHER, "a GIF image", "GIF89a"),
    ROW(INPUT, "a BMP image", "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0"),
    ROW(INPUT, "a WebP image", "RIFF\x24\0\0\0WEBPVP8 "),
    ROW(INPUT, "a WebP image", "RIFF\x24\0\0\0WEBPVP8X"),
    ROW(OTHER, "a JPEG 2000 image", "\0\0\0\x0cjP  \r\n\x87\n\0\0"),
    ROW(OTHER, "a JPEG 2000 codestream", "\xff\x4f\xff\x51\0\x2f"),
    ROW(OTHER, "a WAV file", "RIFF\x24\0\0\0WAVEfmt "),
    ROW(OTHER, "a TIFF image", "II*\0\x08\0\0\0"),
    ROW(OTHER, "a TIFF image", "MM\0*\0\0\0\x08"),
    ROW(OTHER, "an HEIC image",
        "\0\0\0\x18"
        "ftypheic"),
    ROW(OTHER, "an AVIF image",
        "\0\0\0\x18"
        "ftypavif"),
    ROW(OTHER, "a PDF document", "%PDF-1.7"),
    ROW(OTHER, "an ELF program or library",
        "\x7f"
        "ELF\2\1\1"),
    ROW(WEIGHTS, "a parameter file of NNVM or TVM", "\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7"),
    ROW(WEIGHTS, "a parameter file of MXNet", "\x12\x01\0\0\0\0\0\0"),
    ROW(WEIGHTS, "a wts file", "2\nconv1_weight 0 3 3f800000"),
    ROW(MODEL, "a TensorFlow Lite model", "\x1c\0\0\0TFL3"),
    ROW(MODEL, "a GGUF model", "GGUF\3\0\0\0"),
    ROW(MODEL, "an HDF5 file, as Keras writes", "\x89HDF\r\n\x1a\n"),
    ROW(MODEL, "a model in ONNX Runtime's own format", "\x24\0\0\0ORTM\0\0"),
    ROW(MODEL, "a pickle of Python, as PyTorch and scikit-learn write", "\x80\2}q\0."),
    ROW(MODEL, "a pickle of Python, as PyTorch and scikit-learn write", "\x80\4\x95\x16\0\0"),
    ROW(UNKNOWN, NULL, "\x80\6\x95\x16"),
    ROW(UNKNOWN, NULL, "\x80\2\x08\x01"),
    ROW(DOWNLOAD, "a Git LFS pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 3\n"),
    ROW(DOWNLOAD, "an HTML page", "<!DOCTYPE html>\n<html>"),
    ROW(DOWNLOAD, "an HTML page", "\n <HTML lang=\"en\">"),
    ROW(UNKNOWN, NULL, "<htm"),
    ROW(MODEL, "an ncnn model", "7767517\n4 4\n"),
    ROW(MODEL, "an XML file, as OpenVINO writes", "<?xml version=\"1.0\"?><net>"),
    ROW(MODEL, "a PyTorch file",
        "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0model/data.pkl"),
    ROW(MODEL, "a Keras file",
        "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0d\0\0\0metadata.json"),
    ROW(MODEL, "a TensorFlow SavedModel", "\x08\x01\x12\x04\x0a\x02\x22\0"),
    ROW(MODEL, "a TensorFlow graph",
        "\x0a\x08\x0a\x01x\x12\x03"
        "Add\x22\x02\x08\x15"),
    ROW(ARCHIVE, "an npz archive",
        "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0x.npy"),
    ROW(ARCHIVE, "a zip archive",
        "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0x.txt"),
    ROW(ARCHIVE, "a zip archive", // a name that is longer than the file
        "PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0x.txt"),
    ROW(ARCHIVE, "a gzip archive", "\x1f\x8b\x08"),
    ROW(ARCHIVE, "a bzip2 archive", "BZh9"),
    ROW(ARCHIVE, "an xz archive",
        "\xfd"
        "7zXZ\0"),
    ROW(ARCHIVE, "a zstd archive", "\x28\xb5\x2f\xfd"),
    // Formats that LightNet reads, and unknown ones.
    ROW(UNKNOWN, NULL, "{\"ops\": []}"),
    ROW(UNKNOWN, NULL, "relu(src=x | dst=y);"),
    ROW(UNKNOWN, NULL, "hello world\n"),
    ROW(UNKNOWN, NULL, "BM is no image\n, though it begins like one"),
    ROW(UNKNOWN, NULL, "2\n"),
    ROW(UNKNOWN, NULL, "2\n3\n"),
    ROW(UNKNOWN, NULL, "P7\n"),
    ROW(UNKNOWN, NULL, "P2"),
    ROW(UNKNOWN, NULL, "\x08\x07\x12\x01x\x3a\x02\x12\0\x42\x02\x10\x0d"), // ONNX
    ROW(UNKNOWN, NULL, "\x08\x07\x12\x01x"),                               // its beginning
    ROW(UNKNOWN, NULL, "\x08\x01\x12\x7f\x0a"),                            // cut off
    ROW(UNKNOWN, NULL, ""),
};

START_TEST(files_are_recognised_by_content)
{
    for (size_t i = 0; i < LEN(rows); i++) {
        const char *name = "none";
        const ln_content kind = ln_content_of(rows[i].bytes, rows[i].size, &name);
        ck_assert_msg(kind == rows[i].kind && ln_streq(name, rows[i].name),
                      "row %zu: got %d, %s, expected %d, %s", i, kind, name ? name : "NULL",
                      rows[i].kind, rows[i].name ? rows[i].name : "NULL");
    }
}
END_TEST

// Each beginning in memory of its own size, so that sanitizers see what is read after it.
START_TEST(nothing_is_read_behind_the_end)
{
    for (size_t i = 0; i < LEN(rows); i++) {
        for (size_t size = 0; size < rows[i].size; size++) {
            const char *name;
            void *bytes = ln_clone(rows[i].bytes, size);
            ck_assert_ptr_nonnull(bytes);
            ck_assert_int_ge((int)ln_content_of(bytes, size, &name), 0);
            ck_assert_int_ge(ln_protobuf_is_onnx_model(bytes, size), 0);
            ck_assert_int_ge(ln_protobuf_is_onnx_tensor(bytes, size), 0);
            ln_free(bytes);
        }
    }
}
END_TEST

START_TEST(detects_onnx_by_the_fields_of_a_message)
{
#define BYTES(text) (const unsigned char *)text, sizeof(text) - 1
    ck_assert(ln_protobuf_is_onnx_model(BYTES("\x08\x07\x12\x01x\x3a\x02\x12\0\x42\x02\x10\x0d")));
    ck_assert(ln_protobuf_is_onnx_model(BYTES("\x3a\x02\x12\0\x08\x07"))); // in any order
    ck_assert(ln_protobuf_is_onnx_model(BYTES("\x08\x07\x12\x01x")));      // no graph
    ck_assert(ln_protobuf_is_onnx_model(BYTES("\x08\x07\x3a\x7f\x12")));   // cut off
    ck_assert(!ln_protobuf_is_onnx_model(BYTES("\x08\x07\x80\x7f\x12")));  // an unknown number
    ck_assert(!ln_protobuf_is_onnx_model(BYTES("\x3a\x7f\x12")));          // not one whole field
    ck_assert(!ln_protobuf_is_onnx_model(BYTES("\x0a\x01x\x3a\x02\x12\0")));
    ck_assert(ln_protobuf_is_message(BYTES("\x0a\x01x\x3a\x02\x12\0")));
    ck_assert(!ln_protobuf_is_message(BYTES("hello world")));
    ck_assert(!ln_protobuf_is_message(BYTES("")));
    ck_assert(ln_protobuf_is_message(BYTES("\xf8\xff\xff\xff\x0f\0")));  // the largest number
    ck_assert(!ln_protobuf_is_message(BYTES("\x80\x80\x80\x80\x10\0"))); // one more
}
END_TEST

LN_TEST_MAIN("content", files_are_recognised_by_content, nothing_is_read_behind_the_end,
             detects_onnx_by_the_fields_of_a_message)
