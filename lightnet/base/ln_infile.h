// SPDX-License-Identifier: Apache-2.0
// Input files, read through an open descriptor.
//
//     ln_infile file;
//     if (ln_infile_open(&file, "model.onnx", err))
//         return -1;
//     if (ln_infile_read(&file, offset, data, size, err))
//         ...
//     ln_infile_close(&file);
//
// Files are mapped into memory only if the user guarantees that they do not change: an unreadable
// page of a map, after truncation or a disk failure, ends the process. A failed read is an ordinary
// error. Small files, and anything but regular files, are read completely when they are opened;
// large ones stay open and are read in parts, on demand.

#pragma once

#include <stddef.h>

#include "base/ln_beneath.h"
#include "lightnet/ln_msg.h"

/** All zero: nothing is open. With data and size only: a file in memory. */
typedef struct ln_infile {
    const unsigned char *data; // the whole content; NULL: it is read in parts
    size_t size;
    void *copy;                     // owned memory: of data, or of the first bytes
    void *map;                      // of data, in place of `copy`: pages of the file; or NULL
    char *name;                     // for messages
    int handle;                     // 1 + the descriptor; 0: none
    struct ln_parked *parked;       // the path and identity of a file that was open; or NULL
    struct ln_shared_file *sharing; // shared by all copies of a file; or NULL
} ln_infile;

/** The max size of files that are read completely when they are opened. */
#define LN_INFILE_SMALL ((size_t)1 << 20)

/** Opens a file with at least one byte. A pipe is read to its end. Close it with ln_infile_close.
 *  -1 with a reason that names the file: it cannot be read, is a directory, is empty, or is a pipe
 *  of more than LN_MAX_TEXT bytes. */
int ln_infile_open(ln_infile *file, const char *name, ln_error *err);

/** As ln_infile_open, with the whole content in memory. */
int ln_infile_open_whole(ln_infile *file, const char *name, ln_error *err);

/** Opens a regular file with at least one byte, and maps its whole content, which processes share.
 * Writes to it are private to this process. The file must not change before it is closed:
 * truncation may end the process. -1 with a reason that names the file, as ln_infile_open, or that
 * it is not a regular file. */
int ln_infile_open_mapped(ln_infile *file, const char *name, ln_error *err);

/** Opens a file that a model names, with the reasons of ln_beneath_open. */
int ln_infile_open_beneath(ln_infile *file, const ln_beneath *folders, const char *path,
                           ln_error *err);

/** Reads the whole content into memory, unless it is loaded. -1 with a reason that names the
 * file. */
int ln_infile_load(ln_infile *file, ln_error *err);

/** The first bytes of the file, to recognize its format: all of a small one. */
const unsigned char *ln_infile_head(const ln_infile *file, size_t *size);

/** Copies `size` bytes at `offset` to `data`. -1 with a reason that does not name the file: it was
 * truncated or cannot be read. Several threads may read at the same time. */
int ln_infile_read(const ln_infile *file, size_t offset, void *data, size_t size, ln_error *err);

/** A window of a file, for readers that go through it from front to back. */
enum { LN_VIEW_SIZE = 8192 };

typedef struct ln_view {
    const ln_infile *file;
    size_t begin, size; // the range of the file in bytes
    unsigned char bytes[LN_VIEW_SIZE];
} ln_view;

/** The `size` bytes (at most LN_VIEW_SIZE) at `offset`, which are in the file; with file alone set,
 *  the view is ready. Returns borrowed, until the next call; NULL with a reason, as
 *  ln_infile_read. */
const unsigned char *ln_view_at(ln_view *view, size_t offset, size_t size, ln_error *err);

/** Closes the descriptor: each later read opens the file again, and fails if it was replaced. For
 * models with more files than a process may have open. -1 with a reason that names the file, which
 * stays open. */
int ln_infile_park(ln_infile *file, ln_error *err);

/** *copy: the same file, to be closed separately: content and descriptor live until the last copy
 * is closed. After the first call for `file`, threads may concurrently use, share and close their
 * copies. No copy may be loaded or parked after that. -1 with a reason: no memory. */
int ln_infile_share(ln_infile *file, ln_infile *copy, ln_error *err);

/** Accepts one that is not open. */
void ln_infile_close(ln_infile *file);
