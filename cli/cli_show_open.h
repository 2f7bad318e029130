// SPDX-License-Identifier: Apache-2.0
// What lightnet show prints of a model whose sizes are open.

#ifndef CLI_SHOW_OPEN_H
#define CLI_SHOW_OPEN_H

#include "cli_options.h"

/** Prints the interface of the model opt->args[0], with the names of open sizes. Returns whether it
 * has: 0 without a message if the front door cannot open the model, or no size is open. */
int cli_show_open(const cli_options *opt);

#endif
