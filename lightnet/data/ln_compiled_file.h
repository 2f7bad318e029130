// SPDX-License-Identifier: Apache-2.0
// A compiled model in one file: safetensors of what runs read, with these texts in the metadata.
//
// A file of several programs, for several sets of shapes, has an array of them as JSON:
//
//     [{"ir": "ir", "inputs": [PORT, ...], "outputs": [PORT, ...], "tensors": {"w": "w", ...}},
//      {"ir": "ir.2", ..., "tensors": {"w": "w", "v": "v.2"}}, ...]
//     PORT: {"name": "ids", "dtype": "TL_INT64", "sizes": [[1, 1, "batch"], [1, 512, "sequence"]]}
//
// "ir" is the key of its IR in the metadata; "tensors" says by what name the file has the data that
// a program calls otherwise, since programs share what is alike. A size is the least, the most, and
// its name or null.

#ifndef LN_COMPILED_FILE_H
#define LN_COMPILED_FILE_H

/** The oldest and the newest version of the format that is read, and what files are written as:
 * those of one program as the oldest. Programs of older ones name operators that are gone. */
#define LN_COMPILED_VERSION     4
#define LN_COMPILED_ONE_PROGRAM 3

#define LN_COMPILED_KEY_VERSION  "lightnet" /* of the format, in decimal digits */
#define LN_COMPILED_KEY_IR       "ir"       /* the compiled model as JSON, with its target */
#define LN_COMPILED_KEY_ISA      "isa"      /* tl_isa_name of the level that it was compiled on */
#define LN_COMPILED_KEY_BY       "by"       /* the version of LightNet that wrote it */
#define LN_COMPILED_KEY_PROGRAMS "programs" /* from version 4 on: which there are */

#endif
