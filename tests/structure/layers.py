#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every #include obeys the table "Parts and dependencies" of docs/dev/architecture.md.

Also: file names are unique, and every file begins as in docs/dev/style.md.
"""
import collections
import os
import re
import sys

from tap import ROOT, Tap, text_of, tracked

# Libraries by their names in the table, with their headers.
LIBRARIES = {
    "the JSON library": {"jansson.h"},
    "the image libraries": {"png.h", "jpeglib.h", "jerror.h"},
    "the compression library": {"zlib.h"},
    "the HTTP libraries": {"microhttpd.h", "nghttp2/nghttp2.h"},
    "the TLS library": {"gnutls/gnutls.h", "gnutls/abstract.h"},
    "Triton's headers": {"triton/core/tritonbackend.h"},
    "Check": {"check.h"},
}

# Public headers that have no .c of their own.
PUBLIC_WITHOUT_SOURCE = {
    "ln_api.h": "lightnet/base",  # marks of declarations
    "ln_value_info.h": "lightnet/base",  # types of contexts and of sessions
    "ln_config.h": "lightnet/base",  # made by Meson
    "ln_optypes.h": "lightnet/ir",  # made from the descriptions: names alone
    "ln_version.h": "lightnet/base",  # made by Meson
    "ln_opck.h": "lightnet/ir",  # macros over ln_op.h
    "ln_queue.h": "lightnet/base",  # in ln_list.c
    "ln_stack.h": "lightnet/base",  # in ln_list.c
}
GENERATED = {"ln_op_docs.h", "ln_report_page.h"}
UMBRELLAS = {"lightnet.h", "tensorlight.h"}  # all public headers of their library: for users

# Golden files of generators and other test data are no part's sources.
TEST_DATA = "/test/"
FOUND = "/found/"  # what searches found is named by its hash

VENDOR = "/vendor/"  # libraries of others, with their own names and licences: cli/report/vendor

SOURCES = [path for path in tracked("tensorlight/*.[ch]", "lightnet/*.[ch]", "cli/*.[ch]", "serve/*.[ch]") if TEST_DATA not in path]


def read_table():
    """The table as {part: its allowed dependencies}, from bottom to top."""
    text = text_of("docs/dev/architecture.md")
    text = text[text.index("## Parts and dependencies"):]
    rows = re.findall(r"^\| *(`[^|]*) *\|[^|]*\| *([^|]*?) *\|$", text, re.M)
    table = {}
    for names, uses in rows:
        for name in re.findall(r"`([^`]*)`", names):
            table[name.rstrip("/").replace("/<name>", "").replace("/<format>", "")] = uses
    return table


def part_named(word, table):
    return next((part for part in table if word in (part, part.split("/")[-1])), None)


def reach(part, table, seen=None):
    """Everything a part may use, itself included: its row, and the rows of the parts named there."""
    seen = {part} if seen is None else seen
    for word in table[part].split(", "):
        below = part_named(word, table)
        if below and below not in seen:
            seen.add(below)
            reach(below, table, seen)
        elif not below:
            seen.add(word)
    return seen


def part_of(path, table):
    return max((part for part in table if path.startswith(part + "/")), key=len, default=None)


def public_homes(table):
    """{public header: the part that it belongs to}, by the .c of the same name."""
    homes = dict(PUBLIC_WITHOUT_SOURCE)
    stems = {os.path.basename(path)[:-2]: path for path in SOURCES if path.endswith(".c")}
    for path in SOURCES:
        name = os.path.basename(path)
        if path.startswith("tensorlight/include/"):
            homes[name] = "tensorlight"
        elif path.startswith("lightnet/include/") and name[:-2] in stems:
            homes[name] = part_of(stems[name[:-2]], table)
    return homes


def includes():
    """Every #include as (file, line number, < or ", included file)."""
    for path in SOURCES:
        for i, line in enumerate(text_of(path).splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield path, i, found[1], found[2]


def home_of(path, table, homes):
    """The part that a file belongs to."""
    if "/include/" in path:
        return homes.get(os.path.basename(path))
    return part_of(path, table)


def upward(table, homes):
    for path, line, _, name in includes():
        if os.path.basename(path) in UMBRELLAS:
            continue
        part = home_of(path, table, homes)
        if part is None:
            yield f"{path}: belongs to no part: no .c of this name, and no word in {os.path.basename(__file__)}"
            continue
        if name.startswith(("lightnet/", "tensorlight/")):
            target = "tensorlight" if name == "tensorlight/tensorlight.h" else homes.get(name.split("/")[1])
            may = part in ("cli", "serve", "serve/triton") or target in reach(part, table)
        else:
            target = inner_target(name, table)
            may = target is None or target in reach(part, table)
        if not may:
            yield f"{path}:{line}: {part} includes \"{name}\" of {target}"


def inner_target(name, table):
    """The part of a header that is not public; None if it is generated, beside the file or in tests/support."""
    for root in ("tensorlight/", "lightnet/", "cli/", "serve/"):
        if os.path.exists(os.path.join(ROOT, root, name)):
            return part_of(root + name, table)
    return None


def libraries(table, homes):
    owner = {header: library for library, headers in LIBRARIES.items() for header in headers}
    for path, line, _, name in includes():
        part = home_of(path, table, homes)
        library = owner.get(name)
        if library and part and library not in table[part] and not path.endswith(("_test.c", "_test.h")):
            yield f"{path}:{line}: {part} includes <{name}>, its row does not name {library}"


def dotted():
    return (f"{path}:{line}: \"{name}\" is not written from the library's root"
            for path, line, _, name in includes() if ".." in name.split("/"))


def cli_sees_public_only():
    """GENERATED are made for the command: from the descriptions of operators, and from the page of reports."""
    for path, line, mark, name in includes():
        folders = ["cli", "tests/support"] if path.endswith("_test.c") else ["cli"]
        own = name in GENERATED or any(os.path.exists(os.path.join(ROOT, folder, name)) for folder in folders)
        if path.startswith("cli/") and not path.startswith("cli/il/") and mark == '"' and not own and not name.startswith(("lightnet/", "tensorlight/")):
            yield f"{path}:{line}: \"{name}\" is not public"


def own_header_first():
    """A module's .c includes its own header before any other."""
    first = {}
    for path, line, _, name in includes():
        first.setdefault(path, (line, os.path.basename(name)))
    headers = {os.path.basename(path): os.path.dirname(path) for path in SOURCES if path.endswith(".h")}
    for path, (line, name) in first.items():
        own = os.path.basename(path)[:-2] + ".h"
        if path.endswith(".c") and own in headers and name != own and not path.startswith("cli/lightnet."):
            yield f"{path}:{line}: includes {name} before its own {own}"


def repeated_names():
    # Python fixes the names of packages and projects, and onnxruntime that of its module backend.backend.
    repeatable = {"meson.build", "README.md", "Makefile", "__init__.py", "pyproject.toml", "backend.py"}
    places = collections.defaultdict(list)
    for path in tracked():
        if os.path.basename(path) not in repeatable and not any(part in path for part in (TEST_DATA, FOUND, VENDOR)):
            places[os.path.basename(path)].append(path)
    # Each target may have a description of the same name: the C made of it names the file.
    return (f"{name}: {', '.join(paths)}" for name, paths in places.items()
            if len(paths) > 1 and not name.endswith((".op", ".opt")))


def bad_beginnings():
    for path in tracked("*.c", "*.h"):
        if TEST_DATA in path:
            continue
        lines = text_of(path).splitlines() + ["", "", ""]
        if lines[0] != "// SPDX-License-Identifier: Apache-2.0":
            yield f"{path}:1: is no SPDX line"
        elif not re.match(r"// \S.*", lines[1]):
            yield f"{path}:2: does not say what the file is"
        elif not re.search(r"[.:](\s|$)", re.split(r"\n(?!//)", "\n".join(lines[1:9]))[0]):
            yield f"{path}:2: is no sentence"


def without_licence():
    for path in tracked("*.py", "*.sh", "*meson.build", "Makefile", "tools/*", ".ci/*", "tests/check_*"):
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text_of(path).splitlines()[:3]):
            yield f"{path}: has no SPDX line in its first three"


def main():
    tap = Tap()
    table = read_table()
    homes = public_homes(table)
    tap.check("the_table_of_parts_can_be_read", [] if len(table) >= 8 else [f"only {sorted(table)}"])
    tap.check("includes_point_down", upward(table, homes))
    tap.check("a_part_uses_the_libraries_of_its_row", libraries(table, homes))
    tap.check("no_include_climbs_with_two_dots", dotted())
    tap.check("the_command_line_sees_public_headers_only", cli_sees_public_only())
    tap.check("a_module_includes_its_own_header_first", own_header_first())
    tap.check("file_names_are_unique", repeated_names())
    tap.check("c_files_begin_with_licence_and_sentence", bad_beginnings())
    tap.check("scripts_and_build_files_name_the_licence", without_licence())
    tap.end()


if __name__ == "__main__":
    sys.exit(main())
