// SPDX-License-Identifier: Apache-2.0
// Files that a model names, opened only below its folder, or that of its outputs.
//
//     const ln_beneath folders = {.folder = "models/", .allowed = ctx->folders};
//     const int fd = ln_beneath_open(&folders, "weights.bin", &in, err);
//
// Models are untrusted: a model may only name regular files in its folder. The user can allow
// further folders: links may lead into them, and files that the model's folder lacks are searched
// there.

#pragma once

#include "lightnet/ln_list.h"
#include "lightnet/ln_msg.h"

typedef struct ln_beneath {
    const char *folder;     // of the model; "": the current one
    const ln_list *allowed; // further folders (char *), in the order of the search
} ln_beneath;

/** The length of the folder part of `file`, with its slash; 0: the current folder. */
size_t ln_beneath_folder_len(const char *file);

/** Whether `path` is a name that a model may use: relative, not empty, without `..`. */
int ln_beneath_is_inner(const char *path);

/** 0 if `folder` is a folder that can be opened; -1 with a reason that begins with its name. */
int ln_beneath_check_folder(const char *folder, ln_error *err);

/** Opens the regular file `path`, relative to the model's folder or an allowed one, for reading.
 * Checks the open file: its location, after all links, and its type; does not open a rejected file
 * for reading, so a FIFO does not block. Returns a new descriptor (close), and in *in the folder
 * that has the name; -1 with a reason that begins with the path: not an inner name, no such file,
 * not a regular file, a link out of all folders, no /proc. */
int ln_beneath_open(const ln_beneath *folders, const char *path, const char **in, ln_error *err);

/** Opens the file `path`, relative to `folder` or an absolute path in it, for writing, and empties
 * it; creates it if it is missing. `folder` is an absolute path without links (realpath). Follows
 * no links, and opens regular files with one name only. Returns a new descriptor (close); -1 with a
 * reason that does not name the path, with the status LN_IO_ERROR or LN_NOT_FOUND if the system
 * rejects it. */
int ln_beneath_create(const char *folder, const char *path, ln_error *err);
