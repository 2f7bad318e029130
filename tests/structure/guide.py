#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: guide.py. Whoever follows docs/adding-an-operator.md in a fresh copy of the tree gets what it shows.

The copy is configured as `make` does it, but without optimization, which builds many times faster, and without what the page
does not need.
"""
import os
import tempfile

from reader import GUIDE, Reader, copy_tree
from tap import ROOT, Tap, faults_of


# A file that the page adds.
ADDED = "lightnet/arch/none/hardmish.op"

OPTIONS = ["-Doptimization=0", "-Ddebug=false", *(f"-D{part}=disabled" for part in ("onnx", "il", "images", "dnnl"))]


def main():
    tap = Tap()
    if os.path.exists(os.path.join(ROOT, ADDED)):
        tap.skip(f"{GUIDE} shows what happens", f"the tree has {ADDED} already")
        tap.end()
    env = dict(os.environ, LC_ALL="C.UTF-8")
    env.pop("LD_LIBRARY_PATH", None)  # leads to the libraries of the build that runs this test
    with tempfile.TemporaryDirectory(prefix="lightnet-guide-") as folder:
        copy_tree(folder)
        tap.check("a_fresh_copy_of_the_tree_is_a_repository", faults_of(["git", "init", "--quiet"], cwd=folder))
        tap.check("a_fresh_copy_of_the_tree_is_configured",
                  faults_of(["meson", "setup", "build", *OPTIONS], cwd=folder, env=env))
        tap.check(f"{GUIDE} shows what happens", Reader(folder, env).follow(GUIDE))
    tap.end()


if __name__ == "__main__":
    main()
