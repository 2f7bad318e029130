#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the page of `lightnet report` from its parts, as C strings. usage: report_page.py OUTPUT PAGE.html FILE...

The style sheets and scripts replace the lines "<!-- style -->" and "<!-- script -->" of the page, in the order of the
files. The line "<!-- data -->" is where the command writes the data: the page is split there.
"""
import pathlib
import sys

HEADER = """// SPDX-License-Identifier: Apache-2.0
// Made from cli/report/page and cli/report/vendor by report_page.py. Do not edit.
"""
LINE = 88  # characters of a string literal


def text_of(path):
    """The file, without the line of a minified library that names its source map."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def licence_of(path):
    """The licence beside a library, as a comment."""
    licence = pathlib.Path(path).with_name("LICENSE")
    return f"/*!\n{licence.read_text(encoding='utf-8').strip()}\n*/\n" if licence.exists() else ""


def joined(paths):
    texts = [licence_of(path) + text_of(path) for path in paths]
    assert not any("</script" in text or "</style" in text for text in texts), "ends the element it is in"
    return "\n".join(texts)


def escaped(byte):
    char = chr(byte)
    if char in '"\\?':  # two question marks would begin a trigraph
        return "\\" + char
    return char if 0x20 <= byte < 0x7f else f"\\{byte:03o}"


def literal(name, text):
    """A string of C, in short lines."""
    lines, line = [], ""
    for byte in text.encode("utf-8"):
        line += "\\n" if byte == 10 else escaped(byte)
        if byte == 10 or len(line) >= LINE:
            lines.append(line)
            line = ""
    lines.append(line)
    return f"static const char {name}[] =\n" + "\n".join(f'    "{line}"' for line in lines) + ";\n"


def main():
    output, page, *parts = sys.argv[1:]
    styles = [part for part in parts if part.endswith(".css")]
    scripts = [part for part in parts if part.endswith(".js")]
    text = text_of(page)
    for mark, paths in (("<!-- style -->", styles), ("<!-- script -->", scripts)):
        before, after = text.split(mark)
        text = before + joined(paths) + after
    before, after = text.split("<!-- data -->")
    pathlib.Path(output).write_text("\n".join([HEADER, literal("ln_report_before", before), literal("ln_report_after", after)]),
                                    encoding="utf-8")


if __name__ == "__main__":
    main()
