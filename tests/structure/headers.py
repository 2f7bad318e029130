#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: headers.py BUILD. Every public header compiles alone, twice, as C11 and as C++17, without a warning.

One that ends in .hpp is for C++ alone, and short.
"""
import os
import re
import sys

from tap import ROOT, Tap, faults_of, text_of, tracked

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Werror"]
CPP_HEADERS = "lightnet/include/*.hpp"
LANGUAGES = [
    ("C11", ["gcc", "-std=c11", "-x", "c", "-Wstrict-prototypes"]),
    ("C++17", ["g++", "-std=c++17", "-x", "c++", "-Wold-style-cast"]),
]


def include_options(build):
    """Where the public headers are, those that Meson makes included."""
    folders = [os.path.join(ROOT, "lightnet/include"), os.path.join(ROOT, "tensorlight/include"),
               os.path.join(build, "lightnet/include")]
    return [f"-I{folder}" for folder in folders]


def public_headers():
    headers = [path.split("/include/")[1].removesuffix(".in")
               for path in tracked("lightnet/include/*.h", "lightnet/include/*.h.in", "tensorlight/include/*.h")]
    return sorted(headers)


def cpp_headers():
    return [path.split("/include/")[1] for path in tracked(CPP_HEADERS)]


def long_headers():
    for path in tracked(CPP_HEADERS):
        lines = text_of(path).splitlines()
        if len(lines) > 185:
            yield f"{path} has {len(lines)} lines, expected at most 185"
        for i, line in enumerate(lines, 1):
            if len(line) > 110:
                yield f"{path}:{i}: {len(line)} characters, expected at most 110"


def option_keys(text, begin, pattern):
    """The first column of the table after `begin`, without its head."""
    return [key for key in re.findall(pattern, text.split(begin)[1].split("\n\n## ")[0], re.M) if key != "key"]


def differing_options():
    """Header, page and code list the options of a model in the same order."""
    known = re.findall(r'^    \{"(\w+)", parse', text_of("lightnet/session/ln_options.c"), re.M)
    header = option_keys(text_of("lightnet/include/lightnet/ln_session.h").split("LN_API ln_status ln_options_set")[0],
                         "Sets an option", r"^ \*  \| (\w+) ")
    page = option_keys(text_of("docs/c-api.md"), "\n## Options\n", r"^\| `(\w+)` ")
    for name, keys in (("ln_session.h", header), ("docs/c-api.md", page)):
        if not known or keys != known:
            yield f"{name} lists {keys}, expected {known}"


def main():
    build = os.path.abspath(sys.argv[1])
    tap = Tap()
    for language, compiler in LANGUAGES:
        for header in public_headers() + (cpp_headers() if language == "C++17" else []):
            # The second time must change nothing, and the last line keeps a header of macros from being an empty unit.
            unit = f"'#include <{header}>' '#include <{header}>' 'extern int used;'"
            options = " ".join(compiler + WARNINGS + include_options(build))
            tap.check(f"{header} compiles alone as {language}",
                      faults_of(["sh", "-c", f"printf '%s\\n' {unit} | {options} -fsyntax-only -"]))
    tap.check("headers for C++ are short", long_headers())
    tap.check("options of models are listed alike", differing_options())
    tap.end()


if __name__ == "__main__":
    main()
