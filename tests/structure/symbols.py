#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: symbols.py LIBLIGHTNET LIBTENSORLIGHT BUILD. The shared libraries export the declarations of the public headers.

Every declaration marked LN_API or TL_API is a symbol of its library, no other symbol is, and each has a docstring. Where
a list of documented names lies in ../shared/spec/api_names.txt, its functions are among them.
"""
import os
import re
import sys

from headers import include_options, public_headers
from tap import ROOT, Tap, run, text_of

DOCUMENTED = os.path.join(ROOT, "../shared/spec/api_names.txt")
LIBRARIES = {"lightnet": "LN_API", "tensorlight": "TL_API"}


def strip_attributes(text):
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)


def name_of(declaration):
    """The name that a declaration of a function or of a variable declares."""
    text = strip_attributes(declaration)
    found = re.search(r"(\w+)\s*\(", text) or re.search(r"(\w+)\s*(?:\[[^;]*\])*\s*$", text)
    return found[1]


def declared(library, build):
    """Names declared with the library's mark, as the compiler sees them, macros expanded."""
    mark = LIBRARIES[library]
    headers = [header for header in public_headers() if header.startswith(library + "/")]
    names = set()
    for header in headers:
        # The mark becomes a word that is easy to find; ln_api.h and tl_api.h must not define it as nothing.
        unit = f"printf '%s\\n' '#include <{library}/{mark[:2].lower()}_api.h>' '#undef {mark}' '#define {mark} {mark}_HERE' '#include <{header}>'"
        status, text = run(["sh", "-c", f"{unit} | gcc -E -P -std=c11 {' '.join(include_options(build))} -"])
        assert status == 0, text
        names |= {name_of(found) for found in re.findall(rf"\b{mark}_HERE\b([^;{{]*)", text)}
    return names


def exported(path):
    status, text = run(["nm", "-D", "--defined-only", "--format=posix", path])
    assert status == 0, text
    return {line.split()[0] for line in text.splitlines()}


def documented():
    with open(DOCUMENTED, encoding="utf-8") as file:
        return {line.split()[1] for line in file if line.startswith("function ")}


def without_docstring(library):
    mark = LIBRARIES[library]
    for header in public_headers():
        if not header.startswith(library + "/") or header.endswith(("_api.h", "_config.h", "_version.h")):
            continue
        path = f"{library}/include/{header}"
        lines = text_of(path).splitlines()
        for i, line in enumerate(lines):
            if re.match(rf"{mark}\b|LN_PRINTF\(.*{mark}\b", line) and not is_described(lines, i):
                yield f"{path}:{i + 1}: no docstring above: {line}"


def is_described(lines, i):
    """True when the paragraph of line i begins with a comment or follows one; a paragraph shares its comment."""
    while i > 0 and lines[i - 1].strip():
        i -= 1
    return lines[i].lstrip().startswith("/*") or lines[i - 2].rstrip().endswith("*/")


def main():
    build = os.path.abspath(sys.argv[3])
    tap = Tap()
    everything = set()
    for library, path in zip(LIBRARIES, sys.argv[1:3]):
        names, symbols = declared(library, build), exported(path)
        everything |= symbols
        tap.check(f"lib{library}_exports_what_its_headers_declare",
                  [f"{name} is declared and not exported" for name in sorted(names - symbols)])
        tap.check(f"lib{library}_exports_nothing_else",
                  [f"{name} is exported and not declared" for name in sorted(symbols - names)])
        tap.check(f"declarations_of_lib{library}_have_docstrings", without_docstring(library))
    name = "documented_functions_are_exported"
    if os.path.exists(DOCUMENTED):
        tap.check(name, [f"{name} is missing" for name in sorted(documented() - everything)])
    else:
        tap.skip(name, "no list of documented names beside the project")
    tap.end()


if __name__ == "__main__":
    main()
