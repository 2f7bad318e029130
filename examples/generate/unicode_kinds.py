#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: unicode_kinds.py >unicode_kinds.h. Writes the code points of letters and numbers, from this Python's Unicode database."""
import sys
import unicodedata


def ranges_of(kind):
    """[first, last] of the code points whose general category begins with `kind`."""
    ranges = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] == kind:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return ranges


def table(name, kind):
    cells = [f"{{0x{first:x}, 0x{last:x}}}," for first, last in ranges_of(kind)]
    lines = [""]
    for cell in cells:
        if len(lines[-1]) + 1 + len(cell) > 95:
            lines.append("")
        lines[-1] += " " * (lines[-1] != "") + cell
    return f"static const uint32_t {name}[][2] = {{\n" + "".join(f"    {line}\n" for line in lines) + "};\n"


def main():
    print(f"""// SPDX-License-Identifier: Apache-2.0
// Ranges of code points, sorted: letters and numbers of Unicode {unicodedata.unidata_version}. unicode_kinds.py writes this file.
#ifndef UNICODE_KINDS_H
#define UNICODE_KINDS_H

#include <stdint.h>

// clang-format off
/** Code points of the general categories Lu, Ll, Lt, Lm, Lo: {{first, last}}. */
{table("unicode_letters", "L")}
/** The same of Nd, Nl, No. */
{table("unicode_numbers", "N")}// clang-format on

#endif""")


if __name__ == "__main__":
    main()
