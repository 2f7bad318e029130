#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cookbook.py BUILD SANITIZERS. The programs of docs/c-api.md and of examples, built with the sanitizers that BUILD has, print the output shown there.

docs.py follows these documents with the installed LightNet, which has none.
"""
import os
import sys
import tempfile

from reader import Reader, copy_tree
from tap import ROOT, Tap, text_of, tracked

DOCUMENTS = ["docs/c-api.md"] + [page for page in tracked("examples/*/README.md") if "```console" in text_of(page)]
COMPILERS = {"gcc": "clang", "cc": "clang", "g++": "clang++", "c++": "clang++"}
LIBRARIES = ["lightnet", "tensorlight"]
HEADERS = [os.path.join(ROOT, library, "include") for library in LIBRARIES]


def write_compilers(folder, sanitizers):
    """Programs by the names that the document types."""
    for name, compiler in COMPILERS.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {compiler} -fsanitize={sanitizers} -fno-sanitize-recover=all "$@"\n')
        os.chmod(path, 0o755)
    os.symlink(sys.executable, os.path.join(folder, "python3"))  # which has NumPy


def main():
    build, sanitizers = os.path.abspath(sys.argv[1]), sys.argv[2]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-cookbook-") as folder:
        libraries = ":".join(os.path.join(build, library) for library in LIBRARIES)
        programs = os.path.join(folder, "programs")
        os.mkdir(programs)
        write_compilers(programs, sanitizers)
        env = dict(os.environ, LC_ALL="C.UTF-8", PATH=programs + ":" + os.environ["PATH"],
                   PKG_CONFIG_PATH=os.path.join(build, "meson-uninstalled"),
                   CPATH=":".join(HEADERS + [os.path.join(build, "lightnet/include")]),
                   LIBRARY_PATH=libraries, LD_LIBRARY_PATH=libraries)
        env.pop("PYTHONPATH", None)  # Python has no sanitizers
        for i, document in enumerate(DOCUMENTS):
            tree = os.path.join(folder, str(i), "lightnet")
            copy_tree(tree)
            tap.check(f"{document} shows what happens under sanitizers", Reader(tree, env).follow(document))
    tap.end()


if __name__ == "__main__":
    main()
