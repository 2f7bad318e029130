// SPDX-License-Identifier: Apache-2.0
// A compiled model in one file: safetensors of what runs read, with these texts in the metadata.

#ifndef LN_COMPILED_FILE_H
#define LN_COMPILED_FILE_H

/** The version of the format: what is written, and the newest that is read. */
#define LN_COMPILED_VERSION 1

#define LN_COMPILED_KEY_VERSION "lightnet" /* of the format, in decimal digits */
#define LN_COMPILED_KEY_IR      "ir"       /* the compiled model as JSON, with its target */
#define LN_COMPILED_KEY_ISA     "isa"      /* tl_isa_name of the level that it was compiled on */
#define LN_COMPILED_KEY_BY      "by"       /* the version of LightNet that wrote it */

#endif
