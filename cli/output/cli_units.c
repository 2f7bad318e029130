// SPDX-License-Identifier: Apache-2.0
// Numbers of bytes as text.

#include "output/cli_units.h"

#include <stdio.h>

const char *cli_byte_unit(double bytes, double *size)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB"};
    int i = 0;
    for (*size = 1; bytes >= 999.5 * *size && i < 4; i++)
        *size *= 1000;
    return names[i];
}

const char *cli_bytes_text(char text[CLI_BYTES_TEXT], double bytes)
{
    double size;
    const char *const unit = cli_byte_unit(bytes, &size);
    const double n = bytes / size;
    snprintf(text, CLI_BYTES_TEXT, n < 999.5 ? "%.3g %s" : "%.0f %s", n, unit);
    return text;
}
