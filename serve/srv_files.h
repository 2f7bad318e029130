// SPDX-License-Identifier: Apache-2.0
// Files of models in folders; contents of small files.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "srv_status.h"

/** A file of a model. */
typedef struct srv_file {
    char *name;     // of the model, owned
    char *path;     // owned
    long version;   // of NAME/VERSION/model.onnx; 1: without a folder of its own
    uint64_t stamp; // changes with the content of the file, or of the version's folder
    int rank;       // of its ending among files of a folder, the preferred one 0; -1: no choice
} srv_file;

typedef struct srv_files {
    srv_file *at; // [n], sorted by name, newest version first
    int n;
    char **ignored; // [n_ignored], owned, sorted: "PATH: reason", of what may be meant as a model
    int n_ignored;
} srv_files;

/** Appends the models in `path`: a file of a model; a folder with files of models, or with folders
 *  NAME/VERSION/model.EXT; or such a folder NAME. "NAME=PATH", unless there is such a file, gives
 *  the model of a file or a folder its name: a folder has VERSION/model.EXT, or one model. -1 with
 * a reason: it cannot be read, has none. */
int srv_files_find(srv_files *files, const char *path, srv_error *err);

/** Sorts them. Of files in one folder that differ in the ending alone, a compiled model comes
 *  before ONNX, JSON and IL; the others are ignored. -1 with a reason: two have the same name and
 *  version. */
int srv_files_sort(srv_files *files, srv_error *err);

/** Whether sorted files have this line in `ignored`. */
int srv_files_has_ignored(const srv_files *files, const char *line);

void srv_files_clear(srv_files *files);

/** Continues `stamp` with one of a file, which changes with its content; no such file: `stamp`. */
uint64_t srv_files_stamp(const char *path, uint64_t stamp);

/** The text of a file (free); NULL with a reason: it cannot be read, is empty, has more than `max`
 *  bytes or a byte 0. */
char *srv_files_read(const char *path, size_t max, srv_error *err);
