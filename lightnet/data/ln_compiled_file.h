// SPDX-License-Identifier: Apache-2.0
// A compiled model in one file: safetensors of the constants that runs read, with these texts in
// the metadata.
//
// A file of several programs, for several sets of shapes, has an array of them as JSON:
//
//     [{"ir": "ir", "inputs": [PORT, ...], "outputs": [PORT, ...], "tensors": {"w": "w", ...}},
//      {"ir": "ir.2", ..., "tensors": {"w": "w", "v": "v.2"}}, ...]
//     PORT: {"name": "ids", "dtype": "TL_INT64", "sizes": [[1, 1, "batch"], [1, 512, "sequence"]]}
//
// "ir" is the key of its IR in the metadata; "tensors" maps names of tensors in the program to
// names in the file, since programs share equal data. A size is its min, its max, and its name or
// null.

#pragma once

/** The oldest and the newest supported version of the format. Files of one program are written in
 * the oldest, others in the newest. Older versions have other operators and layouts of
 * weights. */
#define LN_COMPILED_VERSION     6
#define LN_COMPILED_ONE_PROGRAM 5

#define LN_COMPILED_KEY_VERSION  "lightnet" // the version of the format, in decimal digits
#define LN_COMPILED_KEY_IR       "ir"       // the compiled model as JSON, with its target
#define LN_COMPILED_KEY_ISA      "isa"      // tl_isa_name of the instruction set it is compiled for
#define LN_COMPILED_KEY_BY       "by"       // the version of LightNet that wrote it
#define LN_COMPILED_KEY_PROGRAMS "programs" // from version 6 on: the list of programs
