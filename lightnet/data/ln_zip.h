// SPDX-License-Identifier: Apache-2.0
// Members of a zip archive, as npz files need them: stored or deflated, without encryption, each
// below 4 GiB.
//
//     ln_zip zip;
//     if (!ln_zip_read(&zip, &in, "data.npz", err))
//         bytes = ln_zip_extract(&zip.members[0], &in, "data.npz: array 'x'", err);
//     ln_zip_clear(&zip);

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/ln_infile.h"
#include "lightnet/ln_msg.h"

/** Its packed bytes are in the file, before the directory, and overlap with no other member. */
typedef struct ln_zip_member {
    char *name;    // UTF-8 without control characters, different from other names, not empty
    size_t header; // offset of the member in the file
    size_t begin;  // offset of the packed bytes
    size_t packed; // their number
    size_t size;   // bytes of the content, no more than `packed` bytes can expand to
    uint32_t crc;  // CRC-32 of the content
    int is_deflated;
} ln_zip_member;

/** All zero: empty. */
typedef struct ln_zip {
    ln_zip_member *members; // in the order of the directory
    int n;
} ln_zip;

/** Whether the file begins like an archive, one without members included. */
int ln_zip_is(const ln_infile *in);

/** Reads and checks the directory and the header of each member. -1 with a reason that names
 * `file`. Call ln_zip_clear also after a failure. */
int ln_zip_read(ln_zip *zip, const ln_infile *in, const char *file, ln_error *err);

/** The content of a member, whose CRC is checked. Returns new (ln_free): `size` bytes; NULL with a
 * reason that begins with "WHERE: ". */
void *ln_zip_extract(const ln_zip_member *member, const ln_infile *in, const char *where,
                     ln_error *err);

/** The first `size` bytes of the content; `size` is at most that of the content. -1 with a reason
 * that begins with "WHERE: ". Checks neither the rest nor the CRC. */
int ln_zip_read_head(const ln_zip_member *member, const ln_infile *in, void *head, size_t size,
                     const char *where, ln_error *err);

void ln_zip_clear(ln_zip *zip);

/** 0 if member `i` can have this name: UTF-8 without control characters. -1 with a reason. */
int ln_zip_check_name(const char *file, int i, const char *name, size_t len, ln_error *err);

/** CRC-32 of `size` bytes after those with the value `crc`, 0 at the beginning. */
uint32_t ln_zip_crc(uint32_t crc, const void *data, size_t size);

/** Records of the format, for readers and the writer. Source: PKWARE, APPNOTE.TXT 6.3, section
 * 4.3. Numbers are little-endian. */
enum {
    LN_ZIP_LOCAL = 0x04034b50,   // signature of a member's header in front of its bytes
    LN_ZIP_CENTRAL = 0x02014b50, // of its entry in the directory
    LN_ZIP_END = 0x06054b50,     // of the record after the directory
    LN_ZIP_LOCAL_SIZE = 30,
    LN_ZIP_CENTRAL_SIZE = 46,
    LN_ZIP_END_SIZE = 22,
    LN_ZIP_MAX_MEMBERS = 0xffff - 1,
    LN_ZIP_IS_UTF8 = 1 << 11, // flag: the name is not in code page 437
};

/** Sizes and offsets are less than this, which marks a zip64 record. */
#define LN_ZIP_LIMIT ((size_t)0xffffffff)
