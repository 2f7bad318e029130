// SPDX-License-Identifier: Apache-2.0
// Whether two names are those of one file.

#ifndef SAME_FILE_H
#define SAME_FILE_H

/** Whether both exist and are the same regular file, through links, too. */
int is_same_file(const char *a, const char *b);

#endif
