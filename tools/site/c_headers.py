# SPDX-License-Identifier: Apache-2.0
"""Reads a public header in the style of docs/dev/style.md.

A header begins with a comment. Then follow sections, which a comment between blank lines begins, and
entries: declarations below a docstring. Declarations without one, in the same paragraph, share it.
"""
import re
from typing import List, NamedTuple, Optional

GUARD = re.compile(r"#(?:ifndef|define) \w+_(?:H|HPP)$")
MARK = re.compile(r"\b(?:LN|TL)_(?:API|PRINTF\([^)]*\))\s*|__attribute__\s*\(\(.*?\)\)\s*", re.S)
OPAQUE = re.compile(r"typedef struct \w+ \w+; +// ([^\n]+)")  # a comment beside it is its docstring
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


class Declaration(NamedTuple):
    kind: str              # function, macro, struct, enum, type, variable
    name: str
    signature: str         # without marks and bodies
    text: str              # as in the header
    values: List[tuple]    # of an enum: (name, value or None, comment); name None: a macro makes them


class Entry(NamedTuple):
    doc: Optional[str]
    declarations: List[Declaration]


class Section(NamedTuple):
    title: Optional[str]
    doc: str
    entries: List[Entry]


class Header(NamedTuple):
    doc: str
    sections: List[Section]


def comment_text(lines):
    return "\n".join(re.sub(r"^// ?", "", line) for line in lines)


def docstring_text(comment):
    """The text of /** .. */, without the stars; the first line begins where the others do."""
    first, *others = comment[3:-2].split("\n")
    return "\n".join([first.strip(), *(re.sub(r"^ *\* {0,2}", "", line).rstrip() for line in others)])


def is_function(head):
    """True for what is before the body of a function, false for that of a struct, union or enum."""
    return ")" in head and not re.match(r"\s*(typedef|struct|enum|union)\b[^()]*$", head)


def end_of(text, start):
    """The index after the declaration that begins at `start`: its ';', or the '}' of its body."""
    depth, i = 0, start
    is_body = False
    while i < len(text):
        comment = COMMENT.match(text, i)
        if comment:
            i = comment.end()
            continue
        char = text[i]
        if char in "\"'":
            i = re.compile(r"(?:\\.|[^\\])*?" + char).match(text, i + 1).end()
            continue
        if char == "{":
            if depth == 0:
                is_body = is_function(text[start:i])
            depth += 1
        depth -= char == "}"
        i += 1
        if depth == 0 and (char == ";" or (char == "}" and is_body)):
            return i
    raise ValueError(f"no end of the declaration: {text[start:start + 60]!r}")


def plain(text):
    return " ".join(MARK.sub("", COMMENT.sub(" ", text)).split())


def values_of(body):
    """The constants of an enum's body, with their comments: beside them, or on lines above."""
    values, above = [], []
    body = re.sub(r"/\*\*(.*?)\*/", lambda match: "\n".join(  # docstrings as comments above
        "// " + re.sub(r"^ *\* *", "", line).strip() for line in match[1].split("\n")), body, flags=re.S)
    for line in body.split("\n"):
        if line.startswith("#"):
            continue
        code, _, comment = line.partition("//")
        code, comment = code.strip(), comment.strip()
        if not code:
            if comment and values and not above and line.startswith(" " * 12):
                values[-1] = (*values[-1][:2], f"{values[-1][2]} {comment}".strip())
            elif comment:
                above.append(comment)
            continue
        names = [part.strip() for part in re.split(r",(?![^(]*\))", code) if part.strip()]
        for name in names:
            if "(" in name.split("=")[0]:
                values.append((None, name, comment))
            else:
                name, _, value = (part.strip() for part in name.partition("="))
                values.append((name, value or None, " ".join([*above, comment]).strip()))
            above = []
    return values


def rows_of(call, macros):
    """The constants that LIST(VALUE, ) in an enum makes, for macros LIST(ROW, arg) of rows
    ROW(arg, NAME, ..), and VALUE(arg, NAME, ..) PREFIX_##NAME."""
    names = re.match(r"(\w+)\((\w+),", call)
    value = names and re.match(r"#define \w+\(([^)]*)\)\s*(\w+_)##(\w+),$", macros.get(names[2], ""))
    listed = names and re.match(r"#define \w+\((\w+),", macros.get(names[1], ""))
    if not value or not listed:
        raise ValueError(f"cannot expand '{call}'")
    index = [name.strip() for name in value[1].split(",")].index(value[3])
    body = macros[names[1]].split(")", 1)[1]
    rows = re.findall(rf"\b{listed[1]}\(((?:[^,()]*,){{{index + 1}}})", body)
    return [value[2] + row.split(",")[index].strip() for row in rows]


def declaration_of(text):
    """None for a forward declaration."""
    short = plain(text)
    macro = re.match(r"#define (\w+)(\([^)]*\))?", text)
    if macro:
        return Declaration("macro", macro[1], macro[1] + (macro[2] or ""), text, [])
    if re.fullmatch(r"(?:struct|enum|union) \w+;", short):
        return None
    kind = re.match(r"(?:typedef )?(struct|enum|union)(?: (\w+))? ?\{", short)
    if kind:
        alias = re.search(r"\}\s*(\w+)\s*;$", short)
        name = (alias and alias[1]) or kind[2] or ""
        values = values_of(text[text.index("{") + 1:text.rindex("}")]) if kind[1] == "enum" else []
        return Declaration("enum" if kind[1] == "enum" else "struct", name, name, text, values)
    if short.startswith("typedef"):
        name = (re.search(r"\(\*\s*(?:const )?(\w+)\)", short)
                or re.search(r"(\w+)\s*(?:\(.*\)|\[[^]]*\])?;$", short))
        return Declaration("type", name[1], short[len("typedef "):-1], text, [])
    signature = re.sub(r"\s*(\{.*)?;?$", "", re.split(r"\{", short)[0]).rstrip("; ")
    name = re.search(r"(\w+)\s*\(", signature)
    if name:
        return Declaration("function", name[1], signature, text, [])
    name = re.search(r"(\w+)\s*(?:\[[^]]*\])?$", signature)
    return Declaration("variable", name[1], signature.replace("extern ", ""), text, [])


def tokens(text):
    """("doc" | "comment" | "code" | "blank", text), of what follows the comment at the begin."""
    i = 0
    while i < len(text):
        line = text[i:text.index("\n", i)] if "\n" in text[i:] else text[i:]
        if not line.strip():
            yield "blank", ""
            i += len(line) + 1
        elif line.startswith("/**"):
            end = text.index("*/", i) + 2
            yield "doc", docstring_text(text[i:end])
            i = end + 1
        elif line.startswith("/*"):
            i = text.index("*/", i) + 3
        elif line.startswith("//"):
            lines = re.compile(r"(?://[^\n]*\n)+").match(text, i)[0]
            yield "comment", comment_text(lines.rstrip("\n").split("\n"))
            i += len(lines)
        elif line.startswith("#"):
            directive = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, i)[0]
            if directive.startswith("#define") and not GUARD.match(directive):
                yield "code", directive
            i += len(directive) + 1
        elif re.match(r"\w+_(BEGIN|END)_DECLS$", line):
            i += len(line) + 1
        else:
            end = end_of(text, i)
            comment = OPAQUE.match(text, i)
            if comment:
                yield "doc", comment[1][0].upper() + comment[1][1:] + "."
            yield "code", text[i:end]
            i = text.index("\n", end) + 1


def section_of(comment):
    """The title and the text of a section's comment; no title: text alone."""
    words = " ".join(comment.split("\n\n")[0].split())
    match = re.match(r"([^.:`]+)([.:])(?: |$)", words)
    if "\n" not in comment.strip() and len(words) <= 90:
        title, _, rest = words.partition(": ")
        return title.rstrip(".:"), rest
    if match and len(match[1].split()) <= (3 if match[2] == ":" else 10):
        return match[1], comment.replace("\n", " ", match[0].count(" "))[len(match[0]):] if (
            "\n\n" not in comment[:len(match[0])]) else words[len(match[0]):]
    return None, comment


def read(text):
    """Parses the text of a header."""
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines[1:], 1) if not line.startswith("//"))
    sections = [Section(None, "", [])]
    doc, declarations, seen = None, [], set()
    found = [*tokens("\n".join(lines[begin:]) + "\n"), ("blank", "")]

    def close():
        nonlocal doc, declarations
        if declarations:
            sections[-1].entries.append(Entry(doc, declarations))
            doc, declarations = None, []

    for i, (kind, token) in enumerate(found):
        if kind == "doc":
            close()
            doc = token
        elif kind == "blank":
            close()
        elif kind == "comment" and found[i + 1][0] == "code":
            close()
            doc = token  # a comment directly above a declaration
        elif kind == "comment" and not token.startswith("clang-format"):
            close()
            title, rest = section_of(token)
            sections.append(Section(title, rest, []))
        elif kind == "code":
            declaration = declaration_of(token)
            # Both branches of #if may declare a name; enums without a name are all different.
            key = declaration and (declaration.kind, declaration.name or declaration.text)
            if declaration and key not in seen:
                seen.add(key)
                declarations.append(declaration)
    close()
    return Header(comment_text(lines[1:begin]), [s for s in sections if s.entries or s.doc])
