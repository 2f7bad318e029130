#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tools print by cli_print.h, which escapes names, and by nothing else. usage: printing.py"""
import re

from tap import Tap, text_of, tracked

PRINTING = re.compile(r"\b(v?f?d?printf|f?puts|f?putc|putchar|(?:f?put[cs]|putchar|fwrite)_unlocked|fwrite|perror|"
                      r"tl_tensor_f?print|tl_f?printf)\s*\(")
# Files that print in other ways, and how they escape.
OTHERS = {
    "cli/output/cli_print.c": "escapes by ln_escape_char",
    "cli/output/cli_json.c": "escapes as JSON, and what ln_escape_char escapes",
    "cli/output/cli_json_outputs.c": "numbers",
    "cli/report/cli_report_page.c": "JSON of cli_json.c, in which it escapes '<'",
    "cli/draw/cli_svg.c": "escapes as XML, and what ln_escape_char escapes",
    "cli/tool_options.c": "errors of the library, which are escaped, and help",
}
# Calls that are harmless.
HARMLESS = {
    ("cli/output/cli_output.c", "tl_tensor_print"): "elements; the text of a tensor escapes strings",
}


def calls_in(path):
    """(line, function) of each call that prints, outside of comments and strings."""
    for number, line in enumerate(text_of(path).splitlines(), 1):
        code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]
        if code.lstrip().startswith(("*", "/*")) or "__attribute__" in code:
            continue
        for call in PRINTING.finditer(code):
            yield number, call[1]


def main():
    tap = Tap()
    sources = [path for path in tracked("cli/*.c") if not path.endswith("_test.c") and "/il/" not in path]
    found = {path: list(calls_in(path)) for path in sources}
    tap.check("names_are_printed_by_cli_print_alone",
              [f"{path}:{number}: {function}; use cli_print.h, which escapes names" for path, calls in found.items()
               for number, function in calls if path not in OTHERS and (path, function) not in HARMLESS])
    tap.check("the_exceptions_are_there",
              [f"{path} prints nothing" for path in OTHERS if not found.get(path)]
              + [f"{path} has no {function}" for path, function in HARMLESS if function not in dict(map(reversed, found[path]))])
    tap.end()


if __name__ == "__main__":
    main()
