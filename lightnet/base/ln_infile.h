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
// Files are not mapped into memory, unless the user vouches for the file: a page of a map that
// cannot be read, because the file became shorter or its disk failed, ends the process. A read that
// fails is an error like any other.
// Small files, and what is no regular file, are read whole when they are opened; large ones stay
// open, and who needs a part of them reads it.

#ifndef LN_INFILE_H
#define LN_INFILE_H

#include <stddef.h>

#include "base/ln_beneath.h"
#include "lightnet/ln_msg.h"

/* All zero: nothing is open. With data and size alone: a file that is in memory already. */
typedef struct ln_infile {
    const unsigned char *data; /* the whole content; NULL: it is read in parts */
    size_t size;
    void *copy;                 /* owned memory: of data, or of the first bytes */
    void *map;                  /* of data, in place of `copy`: pages of the file; or NULL */
    char *name;                 /* for messages */
    int handle;                 /* 1 + the descriptor; 0: none */
    struct ln_parked *parked;   /* where a file is that was open, and which one; or NULL */
    struct ln_sharing *sharing; /* that all copies of a shared file have; or NULL */
} ln_infile;

/** The largest file that is read whole when it is opened. */
#define LN_INFILE_SMALL ((size_t)1 << 20)

/** Opens a file with at least one byte. A pipe is read to its end. Close it with ln_infile_close.
 *  -1 with a reason that names the file: it cannot be read, is a directory, is empty, or is a pipe
 *  of more than LN_MAX_TEXT bytes. */
int ln_infile_open(ln_infile *file, const char *name, ln_error *err);

/** As ln_infile_open, with the whole content in memory. */
int ln_infile_open_whole(ln_infile *file, const char *name, ln_error *err);

/** Opens a regular file with at least one byte, and maps its whole content, which processes that
 *  map it share. What is written there is seen by this process alone. The file must not change
 *  before it is closed: one that becomes shorter may end the process. -1 with a reason that names
 *  the file, as ln_infile_open, or that it is no regular file. */
int ln_infile_open_mapped(ln_infile *file, const char *name, ln_error *err);

/** Opens what a model names, see ln_beneath_open, whose reasons it has. */
int ln_infile_open_beneath(ln_infile *file, const ln_beneath *folders, const char *path,
                           ln_error *err);

/** Reads the whole content into memory, where it is not there yet. -1 with a reason that names the
 *  file. */
int ln_infile_load(ln_infile *file, ln_error *err);

/** The first bytes of the file, by which it is recognised: all of a small one. */
const unsigned char *ln_infile_head(const ln_infile *file, size_t *size);

/** Copies `size` bytes at `offset` to `data`. -1 with a reason that does not name the file: it has
 *  become shorter or cannot be read. Several threads may read at the same time. */
int ln_infile_read(const ln_infile *file, size_t offset, void *data, size_t size, ln_error *err);

/* A window of a file, for readers that go through it from front to back. */
enum { LN_VIEW_SIZE = 8192 };

typedef struct ln_view {
    const ln_infile *file;
    size_t begin, size; /* what of the file is in bytes */
    unsigned char bytes[LN_VIEW_SIZE];
} ln_view;

/** The `size` bytes (at most LN_VIEW_SIZE) at `offset`, which are in the file; with file alone set,
 *  the view is ready. Returns borrowed, until the next call; NULL with a reason, as
 *  ln_infile_read. */
const unsigned char *ln_view_at(ln_view *view, size_t offset, size_t size, ln_error *err);

/** Gives the descriptor back: each read opens the file again then, and fails if another one is in
 *  its place. For models of more files than a process may have open. -1 with a reason that names
 *  the file, which stays open. */
int ln_infile_park(ln_infile *file, ln_error *err);

/** *copy: the same file, to be closed for itself: content and descriptor stay until the last of
 * them is closed. Any threads may use, share and close their copies at the same time, once `file`
 * was shared for the first time. None of them may be loaded or parked after that. -1 with a reason:
 * no memory. */
int ln_infile_share(ln_infile *file, ln_infile *copy, ln_error *err);

/** Takes what is not open, too. */
void ln_infile_close(ln_infile *file);

#endif
