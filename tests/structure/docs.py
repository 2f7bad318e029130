#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs.py BUILD [DOCUMENT...]. The documents are correct: their commands print the output shown.

Each document is followed (reader.py) in a copy of the tree, with LightNet installed and first in PATH. Links to
files are followed in every document of the tree. The messages in docs/troubleshooting.md are those of the sources.
"""
import os
import re
import sys
import tempfile

from reader import GUIDE, Reader, blocks, copy_tree, is_typed
from tap import ROOT, Tap, installer, pkg_config_env, run, text_of, tracked

MESSAGES = "docs/troubleshooting.md"


def broken_links(documents):
    for document in documents:
        text = re.sub(r"```.*?```", "", text_of(document), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            path = os.path.join(ROOT, os.path.dirname(document), target)
            if not target.startswith(("http:", "https:")) and not os.path.exists(path):
                yield f"{document}: links to {target}, which is not there"


def sources_of_messages():
    """The text of the sources, with adjacent string literals joined, as the compiler does."""
    text = "\n".join(map(text_of, tracked("cli/*.c", "lightnet/*.c", "tensorlight/*.c", "python/lightnet/*.py", "lightnet/__init__.py", "Makefile")))
    return re.sub(r'"\s*\n\s*"', "", text)


def unknown_messages(page):
    """Parts of messages in the first column of the page's tables, between placeholders, that no source has."""
    sources = sources_of_messages()
    for row in re.findall(r"^\| (.*?) \|", text_of(page), re.M):
        for message in re.findall(r"`([^`]+)`", row):
            parts = re.split(r"\.\.\.|'[^']*'|\b(?:N|M|NAME|FILE|TYPE|SHAPE)\b", message)
            yield from (f"{page}: no source has '{part}' of '{message}'"
                        for part in (part.strip(" ():,\"") for part in parts) if part not in sources)


def fragments(document):
    """Programs that readers cannot compile as they stand: no command reads such a block."""
    return [f"{document}:{line}: C without a file; write it to one, and compile it" for line, info, _ in blocks(text_of(document))
            if info == "c"]


def is_followed(document):
    return document != GUIDE and any(is_typed(info, None) or " file=" in info
                                     for _, info, _ in blocks(text_of(document)))


def main():
    build = os.path.abspath(sys.argv[1])
    documents = sys.argv[2:] or [path for path in tracked("*.md")]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-docs-") as folder:
        prefix = os.path.join(folder, "installed")
        status, printed = run(installer(build, prefix), cwd=ROOT)
        assert status == 0, printed
        env = dict(pkg_config_env(prefix), BUILD=build, LC_ALL="C.UTF-8")
        env["PATH"] = os.path.join(prefix, "bin") + ":" + env["PATH"]
        # python3 is the one that runs this test, with the package of the build.
        os.symlink(sys.executable, os.path.join(prefix, "bin", "python3"))
        env["PYTHONPATH"] = os.path.join(build, "python")
        for i, document in enumerate(filter(is_followed, documents)):
            tree = os.path.join(folder, str(i), "lightnet")
            copy_tree(tree)
            tap.check(f"{document} shows what happens", Reader(tree, env, prefix).follow(document))
    tap.check("links_between_documents_lead_somewhere", broken_links(documents))
    tap.check("programs_of_the_first_page_are_compiled", fragments("README.md"))
    tap.check("messages_of_the_page_are_those_of_the_sources", unknown_messages(MESSAGES))
    tap.end()


if __name__ == "__main__":
    main()
