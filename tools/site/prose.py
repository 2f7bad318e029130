# SPDX-License-Identifier: Apache-2.0
"""Plain text of docstrings and comments, as reStructuredText."""
import re
import textwrap

SPECIAL = re.compile(r"([\\*_|`<>]|(?<=\w):(?=\w))")  # FILE:LINE is no address
ITEM = re.compile(r"[-*] ")
# Names that have an entry in the reference: links.py makes links of such literals.
C_NAME = re.compile(r"\b(?:ln|tl|LN|TL)_\w*[A-Za-z0-9]\b(?!_)(?:\.hp*\b)?")
LITERAL = re.compile(r"`([^`\n]+(?:\n[^`\n]+)?)`")


def escape(text):
    return SPECIAL.sub(r"\\\1", text)


def literal(text):
    """Code in a line; reST has no escapes there."""
    text = " ".join(text.split())
    return f"\\ ``{text}``\\ " if "``" not in text and not text.endswith("\\") else escape(text)


def inline(text):
    """A paragraph: names of C and what is in backticks become code."""
    parts = LITERAL.split(text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = literal(part)
        else:
            names = C_NAME.split(part)
            found = C_NAME.findall(part)
            parts[i] = "".join(escape(other) + (literal(found[j]) if j < len(found) else "")
                               for j, other in enumerate(names))
    return re.sub(r"^\\ |\\ $", "", "".join(parts).replace("\\ \\ ", "\\ "))


def heading(text, line):
    text = escape(text)
    return f"{text}\n{line * max(len(text), 3)}\n\n"


def indent(text, by="   "):
    return textwrap.indent(text, by)


def code(text, language):
    return f".. code-block:: {language}\n\n{indent(textwrap.dedent(text).strip(chr(10)))}\n\n"


def depth(line):
    return len(line) - len(line.lstrip())


def kind_of(line):
    if ITEM.match(line):
        return "item"
    if line.startswith("|"):
        return "table"
    return "code" if depth(line) >= 4 else "text"


def blocks(text):
    """Consecutive lines of a kind: text, item, table or code."""
    found, after_blank = [], True
    for line in text.expandtabs().split("\n"):
        if not line.strip():
            if found and found[-1][0] == "code":
                found[-1][1].append("")
            after_blank = True
            continue
        kind = kind_of(line)
        if kind == "text" and depth(line) and found and found[-1][0] == "item" and not after_blank:
            found[-1][1].append(line)  # goes on
        elif kind == "code" and found and found[-1][0] == "item" and not after_blank:
            found[-1][1].append(line)
        elif found and found[-1][0] == kind and kind != "item" and (kind != "text" or not after_blank):
            found[-1][1].append(line)
        else:
            found.append((kind, [line]))
        after_blank = False
    return found


def table(lines):
    """A table in Markdown; a row whose first cell is empty continues the one above."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    merged = []
    for row in (row for row in rows if not re.fullmatch(r"-*", "".join(row))):
        if row[0] or not merged:
            merged.append(row)
        else:
            merged[-1] = [" ".join(filter(None, pair)) for pair in zip(merged[-1], row)]
    cells = "".join("   * - " + "\n     - ".join(inline(cell) for cell in row) + "\n" for row in merged)
    return f".. list-table::\n   :header-rows: 1\n\n{cells}\n"


def to_rst(text, language="c", split=None):
    """`split` is a pattern of lines that begin a new item within a paragraph."""
    out = []
    for kind, lines in blocks(textwrap.dedent(text).strip("\n")):
        if kind == "code":
            out.append(code("\n".join(lines), language))
        elif kind == "table":
            out.append(table(lines))
        elif kind == "item":
            out.append("- " + inline(" ".join(line.strip() for line in [lines[0][2:], *lines[1:]])) + "\n")
        else:
            out.append(paragraphs(lines, split))
    # Items stay together, all else is separated by a blank line.
    joined = "".join(part if part.endswith("\n\n") else part + ("" if part.startswith("- ") else "\n")
                     for part in out)
    return re.sub(r"(\n- [^\n]*\n)(?=[^-\n])", r"\1\n", "\n" + joined)[1:].rstrip("\n") + "\n\n"


def paragraphs(lines, split):
    """A paragraph, or, from the first line that `split` matches, a list."""
    items, texts = [], []
    for previous, line in zip(["."] + lines, lines):
        # A sentence of the line before that goes on begins no item.
        if split and split.match(line) and previous.rstrip()[-1] in ".:;])":
            items.append([line])
        elif items:
            items[-1].append(line.strip())
        else:
            texts.append(line.strip())
    text = inline(" ".join(texts)) + "\n" if texts else ""
    if not items:
        return text
    listed = "".join(f"- {inline(' '.join(item))}\n" for item in items)
    return text + ("\n" if text else "") + listed


def first_sentence(text):
    """For descriptions of pages: at most 160 characters."""
    text = " ".join(textwrap.dedent(text).split("\n\n")[0].split())
    found = re.match(r"(.*?[.:])(?= [A-Z]|$)", text)
    sentence = (found[1] if found else text).rstrip(":")
    return sentence if len(sentence) <= 160 else sentence[:157].rsplit(" ", 1)[0] + " .."


def page(title, description, body):
    """A page with a title and a description for search engines."""
    meta = " ".join(description.replace("`", "").split())
    return f".. meta::\n   :description: {meta}\n\n{heading(title, '=')}{body}"
