# SPDX-License-Identifier: Apache-2.0
"""The manual pages in man/ as pages of the site."""
import os
import re

from prose import code, heading, indent, page

ESCAPES = {"-": "-", "&": "", "e": "\\", "(aq": "'", "(dq": '"', " ": " ", "|": "", "`": "`", "'": "'"}
CONTINUES = ("C", "\0")
FONTS = {"B": "B", "I": "I", "R": "R", "P": "R"}


def spans(text, font="R"):
    """Text with escapes of troff as [(font, text)]."""
    found, i = [(font, "")], 0
    while i < len(text):
        if text[i] != "\\":
            found[-1] = (found[-1][0], found[-1][1] + text[i])
            i += 1
            continue
        if text[i + 1] == "f":
            found.append((FONTS[text[i + 2]], ""))
            i += 3
            continue
        key = text[i + 1:i + 4] if text[i + 1] == "(" else text[i + 1]
        if key == '"':
            break
        if key == "c":  # the next line continues the word
            found.append(CONTINUES)
            i += 2
            continue
        if key not in ESCAPES:
            raise ValueError(f"unknown escape \\{key} in {text!r}")
        found[-1] = (found[-1][0], found[-1][1] + ESCAPES[key])
        i += 1 + len(key)
    return [span for span in found if span[1]]


def arguments(text):
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', text)]


def line_spans(line):
    """The spans of a line of text, or of a request that sets fonts; None for other requests."""
    if not line.startswith((".", "'")):
        return spans(line)
    request, _, rest = line[1:].partition(" ")
    if request in ("B", "I"):
        return spans(" ".join(arguments(rest)), request)
    if request in ("BR", "RB", "BI", "IB", "RI", "IR"):
        found = []
        for i, argument in enumerate(arguments(rest)):
            found += spans(argument, request[i % 2])
        return found
    return None


def escape(text):
    return re.sub(r"([\\*_|`<>])", r"\\\1", text)


def marked(found):
    """reST of spans: bold is code, italics are emphasis."""
    merged = []
    for font, text in found:
        if merged and merged[-1][0] == font:
            merged[-1] = (font, merged[-1][1] + text)
        else:
            merged.append((font, text))
    out = ""
    for font, text in merged:
        core = text.strip()
        lead, trail = text[:len(text) - len(text.lstrip())], text[len(text.rstrip()):]
        if font == "R" or not core:
            out += escape(text)
            continue
        word = f"``{core}``" if font == "B" else f"*{escape(core)}*"
        out += f"{lead}\\ {word}\\ {trail}"
    return re.sub(r"\\ (\s)|(\s)\\ ", lambda match: match[1] or match[2] or "", out.strip()).strip()


def paragraph(lines):
    """Lines become one paragraph; each ends at a blank."""
    found = []
    for line in lines:
        found += line if line and line[-1] == CONTINUES else [*line, ("R", " ")]
    found = [span for span in found if span != CONTINUES]
    text = marked(found)
    return re.sub(r"^(?:\\ )+|(?:\\ )+$", "", text)


class Writer:
    """Translates the body of a manual page; `text` is the result."""

    def __init__(self):
        self.text, self.lines, self.depth, self.has_tag = "", [], 0, False

    def flush(self):
        if self.lines:
            self.text += indent(paragraph(self.lines), "   " * self.depth) + "\n\n"
            self.lines = []

    def close_tag(self):
        self.flush()
        if self.has_tag:
            self.depth -= 1
            self.has_tag = False

    def run(self, lines):
        stack = []
        lines = iter(lines)
        for line in lines:
            found = line_spans(line)
            if found is not None:
                self.lines.append(found)
                continue
            request, _, rest = line[1:].partition(" ")
            if request in ('\\"', "TH", "PD", "", "nh", "hy"):
                continue
            if request == "SH":
                self.close_tag()
                title = "".join(text for _, text in spans(" ".join(arguments(rest))))
                self.text += heading(title.capitalize(), "-")
            elif request == "SS":
                self.close_tag()
                self.text += heading("".join(text for _, text in spans(" ".join(arguments(rest)))), "~")
            elif request == "TP":
                self.close_tag()
                tag = next(lines)
                while tag.startswith(".PD"):
                    tag = next(lines)
                term = paragraph([line_spans(tag)])
                self.text += indent(term, "   " * self.depth) + "\n"
                self.depth += 1
                self.has_tag = True
            elif request == "PP":
                self.close_tag()
            elif request == "br":
                self.flush()
            elif request == "RS":
                self.flush()
                stack.append((self.depth, self.has_tag))
                if not self.has_tag:
                    self.depth += 1
                self.has_tag = False
            elif request == "RE":
                self.flush()
                self.depth, self.has_tag = stack.pop()
            else:
                raise ValueError(f"unknown request {line!r}")
        self.flush()


def synopsis(lines):
    """The calls as code."""
    calls, call = [], ""
    for line in [*lines, ".br"]:
        found = line_spans(line)
        if found is None:
            calls.append(call.strip())
            call = ""
        else:
            call += "".join(text for _, text in found) + " "
    return code("\n".join(filter(None, calls)), "text")


def sections_of(text):
    """{title: lines}"""
    parts = re.split(r"^\.SH (.*)$", text, flags=re.M)
    return {title.strip('"'): body.strip("\n").split("\n") for title, body in zip(parts[1::2], parts[2::2])}


def translated(title, lines):
    writer = Writer()
    writer.run([f".SH {title}", *lines])
    return writer.text


def man_page(text):
    sections = sections_of(text)
    name, _, purpose = "".join(t for _, t in spans(" ".join(sections.pop("NAME")))).partition(" - ")
    body = f"{purpose[0].upper()}{purpose[1:]}.\n\n" + synopsis(sections.pop("SYNOPSIS"))
    for title, lines in sections.items():
        if title == "EXAMPLES":
            body += heading("Examples", "-") + examples(lines)
        else:
            body += translated(title, lines)
    return page(name, f"{name}: {purpose}", body), name, purpose


def examples(lines):
    """Calls in bold, each with its purpose indented below."""
    writer = Writer()
    body = ""
    for line in lines:
        if line.startswith(".B "):
            writer.flush()
            body += writer.text
            writer.text = ""
            body += code("".join(text for _, text in line_spans(line)), "sh")
        elif not line.startswith((".PP", ".RS", ".RE")):
            writer.run([line])
    return body + writer.text


def pages(root):
    """{path: text} of all pages."""
    made, rows, toc = {}, "", ""
    folder = os.path.join(root, "man")
    for file_name in sorted(os.listdir(folder), key=lambda name: (name != "lightnet.1", name)):
        with open(os.path.join(folder, file_name), encoding="utf-8") as file:
            text = file.read()
        try:
            made_page, name, purpose = man_page(text)
        except ValueError as error:
            raise ValueError(f"man/{file_name}: {error}") from None
        made[f"reference/command/{name}.rst"] = made_page
        rows += f"   * - :doc:`{name}`\n     - {purpose}\n"
        toc += f"   {name}\n"
        if name == "lightnet":
            made["reference/environment.rst"] = page(
                "Environment variables", "Variables that LightNet reads, and their defaults.",
                "``lightnet env`` prints these variables, with their values.\n\n"
                + re.sub(r"^Environment\n-+\n\n", "", translated("ENVIRONMENT", sections_of(text)["ENVIRONMENT"])))
    made["reference/command/index.rst"] = page(
        "Command line", "Reference of the command lightnet and of its tools.",
        ":doc:`/docs/cli` introduces the commands. These are the manual pages:\n\n"
        f".. list-table::\n   :header-rows: 1\n\n   * - program\n     - purpose\n{rows}\n"
        f".. toctree::\n   :hidden:\n\n{toc}")
    return made
