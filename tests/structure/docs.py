#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs.py BUILD [DOCUMENT...]. The documents tell the truth: their commands print what they show.

Each document is followed, as reader.py says, in a copy of the tree, with LightNet installed and first in PATH. Links to
files are followed in every document of the tree.
"""
import os
import re
import sys
import tempfile

from reader import GUIDE, Reader, blocks, copy_tree, is_typed
from tap import ROOT, Tap, pkg_config_env, run, text_of, tracked


def broken_links(documents):
    for document in documents:
        text = re.sub(r"```.*?```", "", text_of(document), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            path = os.path.join(ROOT, os.path.dirname(document), target)
            if not target.startswith(("http:", "https:")) and not os.path.exists(path):
                yield f"{document}: links to {target}, which is not there"


def is_followed(document):
    return document != GUIDE and any(is_typed(info, None) or " file=" in info
                                     for _, info, _ in blocks(text_of(document)))


def main():
    build = os.path.abspath(sys.argv[1])
    documents = sys.argv[2:] or [path for path in tracked("*.md")]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-docs-") as folder:
        prefix = os.path.join(folder, "installed")
        status, printed = run(["tools/install", build, prefix], cwd=ROOT)
        assert status == 0, printed
        env = dict(pkg_config_env(prefix), BUILD=build, LC_ALL="C.UTF-8")
        env["PATH"] = os.path.join(prefix, "bin") + ":" + env["PATH"]
        for i, document in enumerate(filter(is_followed, documents)):
            tree = os.path.join(folder, str(i), "lightnet")
            copy_tree(tree)
            tap.check(f"{document} shows what happens", Reader(tree, env, prefix).follow(document))
    tap.check("links_between_documents_lead_somewhere", broken_links(documents))
    tap.end()


if __name__ == "__main__":
    main()
