# SPDX-License-Identifier: Apache-2.0
"""Scripts and styles of the theme Furo for a site without a server.

Debian's Furo loads its script as a module and another style from the root of the server: neither
works in a page that is opened as a file. Its style also lost the rule that makes a page dark if the
system is. Furo of PyPI has all this in one file, and stays as it is.
"""
import os
import re

NORMALIZE = ["/usr/share/nodejs/normalize.css/normalize.css", "/usr/share/javascript/normalize.css/normalize.css"]


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def script(folder):
    """furo.js with the modules that it imports, each in its own scope."""
    text = read(folder, "furo.js")
    modules = re.findall(r"""^import \w+ from ["']\./([\w.-]+)["'];?\n""", text, re.M)
    own = re.sub(r"""^import \w+ from ["'][^"']+["'];?\n""", "", text, flags=re.M)
    parts = [read(folder, name) for name in modules]
    return "\n".join([*parts, f"(function () {{\n{own}\n}})();\n"]) if modules else own


def style(folder):
    text = read(folder, "furo.css")
    if "prefers-color-scheme" not in text:
        dark = re.search(r'body\[data-theme="dark"\] \{([^}]*--color-background-primary[^}]*)\}', text)
        if not dark:
            raise ValueError("furo.css has no colors of the dark scheme")
        text += f'\n@media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {{{dark[1]}}} }}\n'
    if "@import" not in text:
        return text
    normalize = next((path for path in NORMALIZE if os.path.exists(path)), None)
    if not normalize:
        raise ValueError(f"furo.css imports normalize.css, which is in none of {', '.join(NORMALIZE)}")
    return re.sub(r"@import url\([^)]*normalize\.css\);", lambda _: read(normalize), text)


def write_static(folder):
    """Writes files that replace those of the theme."""
    import furo
    theme = os.path.join(os.path.dirname(furo.__file__), "theme", "furo", "static")
    for kind, name, text in (("scripts", "furo.js", script(os.path.join(theme, "scripts"))),
                             ("styles", "furo.css", style(os.path.join(theme, "styles")))):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        with open(os.path.join(folder, kind, name), "w", encoding="utf-8") as file:
            file.write(text)
