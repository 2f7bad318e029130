// SPDX-License-Identifier: Apache-2.0
// Diagrams of a model in SVG, on standard output.

#pragma once

#include "lightnet/lightnet.h"

/** Prints the graph of a compiled model (cli_graph.h). Returns 0, or CLI_FAILED after a message. */
int cli_svg_graph(const ln_context *ctx);

/** Prints the memory plan of a compiled model: each piece of memory a box, time across, address up.
 * Returns 0, or CLI_FAILED after a message. */
int cli_svg_memory(const ln_context *ctx);

/** Begins a diagram of that size with a CSS style. */
void cli_svg_begin(double width, double height, const char *style);

void cli_svg_end(void);

/** Prints text between tags or quotes: at most `max` characters of any bytes. */
void cli_svg_text(const char *text, int max);

/** Prints dtype, shape and size of the tensor, and its name. */
void cli_svg_tensor(const ln_tensor_entry *te);
