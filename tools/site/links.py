# SPDX-License-Identifier: Apache-2.0
"""Makes links of names in code: a name of the C or Python reference leads to its entry."""
import os
import re

KEPT = re.compile(r"(<(a|h[1-6]|dt|script|style|title)\b.*?</\2>)", re.S)  # neither may contain a link
NAME = r"((?:ln|tl|LN|TL)_\w+(?:\.hp*)?)"
SPAN = re.compile(rf'(<span class="[a-z0-9]+">){NAME}(</span>)')
LITERAL = re.compile(rf'<code class="docutils literal notranslate"><span class="pre">{NAME}(?:\(\))?</span></code>')
ENTRY = re.compile(r'<dt class="sig sig-object c" id="c\.([\w.]+)"')


PRE = re.compile(r'<span class="pre">((?:[^<&]|&\w+;){1,24})</span>')


def unbroken(html):
    """Short words of code, such as options, never break at a hyphen."""
    return PRE.sub(r'<span class="pre short">\1</span>', html)


def html_files(folder):
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(".html"):
                yield os.path.join(parent, name)


def entries(folder):
    """{name: (page, anchor)}, of the C reference; constants of an enum without their enum. Headers are pages."""
    found = {}
    for path in html_files(os.path.join(folder, "reference/c")):
        page = os.path.relpath(path, folder)
        found[os.path.basename(path)[:-len(".html")] + ".h"] = page, ""
        with open(path, encoding="utf-8") as file:
            for anchor in ENTRY.findall(file.read()):
                found.setdefault(anchor.split(".")[-1], (page, f"#c.{anchor}"))
    return found


def linked(html, folder_of_page, known):
    def link(name, text):
        if name not in known:
            return text
        page, anchor = known[name]
        return f'<a class="name" href="{os.path.relpath(page, folder_of_page)}{anchor}">{text}</a>'

    def replaced(part):
        part = SPAN.sub(lambda m: link(m[2], m[0]), part)
        return LITERAL.sub(lambda m: link(m[1], m[0]), part)

    at, out = 0, ""
    for kept in KEPT.finditer(html):
        out += replaced(html[at:kept.start()]) + kept[0]
        at = kept.end()
    return out + replaced(html[at:])


def link_names(folder):
    known = entries(folder)
    for path in html_files(folder):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = unbroken(linked(old, os.path.relpath(os.path.dirname(path), folder), known))
        if new != old:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    return len(known)
