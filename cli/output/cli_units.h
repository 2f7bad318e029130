// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes as text: three digits and a decimal unit.

#pragma once

enum { CLI_BYTES_TEXT = 24 };

/** The unit in which `bytes` have at most three digits before the point, rounded ones: its name,
 * and *size, its bytes. The last one is TB. */
const char *cli_byte_unit(double bytes, double *size);

/** Writes "97.7 MB" to `text`. Returns text. */
const char *cli_bytes_text(char text[CLI_BYTES_TEXT], double bytes);
