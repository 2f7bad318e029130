#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: guide.py. Following docs/adding-an-operator.md in a fresh copy of the tree gives the output shown.

The copy is configured as `make` does it before the packages of the tests are installed, but without optimization, which builds many
times faster, and without parts that the page does not need.
"""
import os
import shutil
import tempfile

from reader import GUIDE, Reader, copy_tree
from tap import ROOT, Tap, faults_of, run


# A file that the page adds.
ADDED = "lightnet/arch/none/hardmish.opt"

# A public header that the build makes.
GENERATED = "lightnet/include/lightnet/ln_optypes.h"

# Tests that list operators: the page ends with `make quick-test`, which runs them whether the page names them or not.
LISTS = ["op_examples", "op_examples_onnx", "abi"]

OPTIONS = ["-Doptimization=0", "-Ddebug=false", *(f"-D{part}=disabled" for part in ("il", "images", "dnnl", "cuda"))]


def without_check(env, folder):
    """The environment of a machine where pkg-config finds all packages but `check`: it searches the folder, which gets links."""
    paths = env.get("PKG_CONFIG_LIBDIR") or run(["pkg-config", "--variable=pc_path", "pkg-config"])[1].strip()
    for path in filter(os.path.isdir, paths.split(":")):
        for name in os.listdir(path):
            if name != "check.pc" and not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(path, name), os.path.join(folder, name))
    return dict(env, PKG_CONFIG_LIBDIR=folder)


def check_format(tap, folder, paths):
    name = "the files that the page changes are formatted"
    sources = sorted({path for path in paths if path.endswith((".c", ".h"))})
    if shutil.which("clang-format"):
        tap.check(name, faults_of(["clang-format", "--dry-run", "--Werror", *sources], cwd=folder))
    else:
        tap.skip(name, "there is no clang-format")


def without_bars(env, folder):
    """The environment without tqdm, by which Meson draws bars into what it prints."""
    with open(os.path.join(folder, "tqdm.py"), "w", encoding="utf-8") as file:
        file.write("raise ImportError\n")
    return dict(env, PYTHONPATH=folder)


def main():
    tap = Tap()
    if os.path.exists(os.path.join(ROOT, ADDED)):
        tap.skip(f"{GUIDE} shows what happens", f"the tree has {ADDED} already")
        tap.end()
    env = dict(os.environ, LC_ALL="C.UTF-8")
    env.pop("LD_LIBRARY_PATH", None)  # leads to the libraries of the build that runs this test
    with tempfile.TemporaryDirectory(prefix="lightnet-guide-") as folder, tempfile.TemporaryDirectory() as packages:
        env = without_bars(env, packages)
        copy_tree(folder)
        tap.check("a_fresh_copy_of_the_tree_is_a_repository", faults_of(["git", "init", "--quiet"], cwd=folder))
        tap.check("a_fresh_copy_of_the_tree_is_configured",
                  faults_of(["meson", "setup", "build", *OPTIONS], cwd=folder, env=without_check(env, packages)))
        # The page has the build folder of `make`, whose public headers are all there.
        tap.check("the_headers_of_the_copy_are_made", faults_of(["ninja", "-C", "build", GENERATED], cwd=folder, env=env))
        reader = Reader(folder, env)
        tap.check(f"{GUIDE} shows what happens", reader.follow(GUIDE))
        tap.check("tests_that_list_operators_pass_after_the_page", faults_of(["meson", "test", "-C", "build", *LISTS], cwd=folder, env=env))
        check_format(tap, folder, reader.written)
    tap.end()


if __name__ == "__main__":
    main()
