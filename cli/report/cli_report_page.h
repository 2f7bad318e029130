// SPDX-License-Identifier: Apache-2.0
// Writes the page of `lightnet report`: one HTML file with its style, its script and the data.

#pragma once

#include <stddef.h>

/** Writes the page with `len` bytes of JSON to `file` (- standard output). Returns 0, or CLI_FAILED
 * after a message. */
int cli_report_write(const char *file, const char *json, size_t len);
