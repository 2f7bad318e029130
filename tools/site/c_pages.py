# SPDX-License-Identifier: Apache-2.0
"""The reference of C and C++: a page for each public header."""
import os
import re
import subprocess
import sys

import c_headers
from prose import code, first_sentence, heading, indent, inline, page, to_rst

LIBRARIES = {
    "lightnet": ("C: LightNet", "Models, sessions, operators, graphs, data files."),
    "tensorlight": ("C: TensorLight", "Tensors and kernels: the library below LightNet."),
}
# The header that most programs need comes first.
FIRST = ["ln_session.h", "tl_tensor.h"]
UMBRELLAS = ["lightnet.h", "tensorlight.h"]
DIRECTIVES = {"function": "c:function", "macro": "c:macro", "struct": "c:struct", "enum": "c:enum",
              "type": "c:type", "variable": "c:var"}


def headers_of(root, library):
    folder = os.path.join(root, library, "include", library)
    names = sorted(name for name in os.listdir(folder) if re.search(r"\.(h|hpp|h\.in)$", name))
    return folder, sorted(names, key=lambda name: (name not in FIRST, name in UMBRELLAS))


def operator_types(root):
    """ln_optypes.h, which the build makes from the descriptions of operators."""
    folder = os.path.join(root, "lightnet/arch")
    files = sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder)
                   for name in names if name.endswith(".op"))
    done = subprocess.run([sys.executable, os.path.join(root, "lightnet/gen/opgen.py"), "--types", *files],
                          check=True, capture_output=True, text=True)
    names = re.findall(r'#define (\w+) "(\w+)"', done.stdout)
    if not names:
        raise ValueError("lightnet/gen/opgen.py --types has printed no constants")
    rows = "".join(f"   * - .. c:macro:: {name}\n     - ``\"{value}\"``\n" for name, value in sorted(names))
    doc = ("The types of all operators in the tree, as constants. The build makes this header from the "
           "descriptions of operators; :doc:`/reference/operators/index` describes them.")
    body = (f"{doc}\n\n{include_line('lightnet', 'ln_optypes.h')}"
            f".. list-table::\n   :header-rows: 1\n\n   * - constant\n     - type\n{rows}\n")
    return page("ln_optypes.h", "Constants of the types of all operators.", body)


def include_line(library, name):
    return code(f"#include <{library}/{name}>", "c")


def struct_members(declaration):
    """The definition, as in the header, without the name of the typedef."""
    text = re.sub(r"^typedef ", "", declaration.text)
    return code(re.sub(r"\}\s*\w+\s*;$", "};", text), "c")


def enum_values(values, macros):
    out = ""
    for name, value, comment in values:
        if name is None:
            out += "".join(f".. c:enumerator:: {row}\n\n" for row in c_headers.rows_of(value, macros))
            continue
        text = inline(comment) + "\n\n" if comment else ""
        out += f".. c:enumerator:: {name}{' = ' + value if value else ''}\n\n{indent(text)}"
    return out


def nested_enums(declaration, macros):
    """Constants that a member's type declares."""
    bodies = re.findall(r"\benum\s*\{([^}]*)\}", declaration.text)
    return "".join(enum_values(c_headers.values_of(body), macros) for body in bodies)


def macro_body(declaration):
    """The definition of a constant, or of a list; functions have docstrings instead."""
    is_list = len(re.findall(r"\bROW\(", declaration.text)) > 2
    return code(declaration.text, "c") if "(" not in declaration.signature or is_list else ""


def body_of(declaration, macros):
    if declaration.kind == "struct" and "{" in declaration.text:
        return struct_members(declaration) + nested_enums(declaration, macros)
    if declaration.kind == "enum":
        return enum_values(declaration.values, macros)
    return macro_body(declaration) if declaration.kind == "macro" else ""


def opaque(declaration):
    """`typedef struct x x` names a struct whose members programs do not see."""
    if re.fullmatch(r"(struct|enum|union) (\w+) \2", declaration.signature):
        return declaration._replace(signature=declaration.name)
    return declaration


def groups_of(declarations, bodies):
    """Indices of declarations that share a directive: adjacent ones of a kind, without bodies."""
    groups = []
    for i, declaration in enumerate(declarations):
        goes_on = groups and not bodies[i] and not bodies[i - 1] and declarations[i - 1].kind == declaration.kind
        if goes_on:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def entry_text(entry, defined, macros):
    """The docstring is below the first declaration that is more than a macro, if there is one."""
    shown = [d for d in map(opaque, entry.declarations) if d.name not in defined or d.kind != "type"]
    bodies = [body_of(declaration, macros) for declaration in shown]
    described = next((i for i, d in enumerate(shown) if d.kind != "macro"), 0)
    out = ""
    for group in groups_of(shown, bodies):
        text = (to_rst(entry.doc) if entry.doc and described in group else "") + bodies[group[0]]
        if not shown[group[0]].name:  # an enum without a name: constants of the page
            out += text
            continue
        mark = f".. {DIRECTIVES[shown[group[0]].kind]}:: "
        signatures = ("\n" + " " * len(mark)).join(shown[i].signature for i in group)
        out += f"{mark}{signatures}\n\n{indent(text)}" + ("\n" if text else "")
    return out


def header_page(library, name, text, macros):
    header = c_headers.read(text)
    summary = first_sentence(header.doc)
    defined = {d.name for section in header.sections for entry in section.entries
               for d in entry.declarations if d.kind in ("struct", "enum")}
    body = include_line(library, name) + to_rst(header.doc)
    for section in header.sections:
        if section.title:
            body += heading(section.title, "-")
        body += to_rst(section.doc) if section.doc else ""
        body += "".join(entry_text(entry, defined, macros) for entry in section.entries)
    return page(name, summary, body), summary


def cpp_name(text):
    """The name of the first struct or function."""
    text = re.sub(r"template <.*?>\s+(?=\w)", "", text, flags=re.S)
    found = re.match(r"[^{(;]*?\b(?:struct|class) (\w+)", text) or re.search(r"(\w+)\(", text)
    if not found:
        raise ValueError(f"no name in {text[:60]!r}")
    return found[1]


def cpp_page(library, name, text, _):
    """A header of C++, with its paragraphs as they are: each docstring has the code below it."""
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines[1:], 1) if not line.startswith("//"))
    doc = c_headers.comment_text(lines[1:begin])
    body = include_line(library, name) + to_rst(doc, "cpp")
    for part in re.split(r"\n\n(?=\S)", "\n".join(lines[begin:])):
        part = re.sub(r"^(?:#.*|namespace \w+ \{|\}.*namespace.*)\n?", "", part + "\n", flags=re.M).strip("\n")
        match = re.match(r"(?:(/\*\*.*?\*/)\n)?(.+)", part, re.S)
        if match and match[2].strip("} \n"):
            body += heading(cpp_name(match[2]), "-")
            body += to_rst(c_headers.docstring_text(match[1]), "cpp") if match[1] else ""
            body += code(match[2], "cpp")
    return page(name, first_sentence(doc), body), first_sentence(doc)


def macros_of(root):
    """{name: definition} of all public headers."""
    found = {}
    for library in LIBRARIES:
        folder, names = headers_of(root, library)
        for name in filter(lambda name: name.endswith(".h"), names):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found.update((d.name, d.text) for section in c_headers.read(file.read()).sections
                             for entry in section.entries for d in entry.declarations if d.kind == "macro")
    return found


def versions(text, version):
    """A header that Meson configures, with the version of the tree."""
    major, minor, patch = version.split(".")
    values = {"version": version, "major": major, "minor": minor, "patch": patch}
    text = re.sub(r"@(\w+)@", lambda match: values[match[1]], text)
    return re.sub(r"/\* (.*?) \*/\n#undef \w+\n#mesondefine (\w+)", r"/** \1 */\n#define \2", text)


def pages(root, version):
    """{path: text} of all pages."""
    made, macros = {}, macros_of(root)
    for library, (title, summary) in LIBRARIES.items():
        folder, names = headers_of(root, library)
        rows, entries = "", []
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            name = name.replace(".in", "")
            if name in UMBRELLAS:
                rows += f"   * - ``{name}``\n     - {inline(first_sentence(c_headers.read(text).doc))}\n"
                continue
            write = cpp_page if name.endswith(".hpp") else header_page
            stem = name.replace(".hpp", "-cpp").replace(".h", "")
            made[f"reference/c/{stem}.rst"], about = write(library, name, versions(text, version), macros)
            entries.append(stem)
            rows += f"   * - :doc:`{name} <{stem}>`\n     - {inline(about)}\n"
        if library == "lightnet":
            made["reference/c/ln_optypes.rst"] = operator_types(root)
            entries.append("ln_optypes")
            rows += "   * - :doc:`ln_optypes.h <ln_optypes>`\n     - The types of all operators, as constants.\n"
        toc = "".join(f"   {name} <{stem}>\n" for stem in entries
                      for name in [stem.replace("-cpp", ".hpp") if "-cpp" in stem else stem + ".h"])
        made[f"reference/c/{library}.rst"] = page(
            title, f"Reference of the C API of {title.split()[-1]}: all public headers.",
            f"{summary} :doc:`/docs/c-api` has programs for common tasks.\n\n"
            f".. list-table::\n   :header-rows: 1\n\n   * - header\n     - content\n{rows}\n"
            f".. toctree::\n   :hidden:\n\n{toc}")
    return made
