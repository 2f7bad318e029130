#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documentation: pages of the tree, and a reference from the sources."""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys

import c_pages
import guides
import links
import man_pages
import op_pages
import py_pages
import theme

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HEADING = "\x01"  # before a heading, in the text of a page
MAX_TEXT = 60000  # characters of a page that a search shows


def version_of(root):
    with open(os.path.join(root, "meson.build"), encoding="utf-8") as file:
        return re.search(r"version: '([\d.]+)'", file.read())[1]


def write(path, text):
    """Leaves a file alone that has the text already, so that Sphinx need not read it again."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def remove_others(folder, kept):
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if os.path.relpath(path, folder) not in kept:
                os.remove(path)


def stage(root, folder):
    """Writes all sources of the site to a folder."""
    made, images = guides.pages(root)
    made.update(c_pages.pages(root, version_of(root)))
    for generator in (py_pages, op_pages, man_pages):
        made.update(generator.pages(root))
    for path, text in made.items():
        write(os.path.join(folder, path), text)
    for path in images:
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        shutil.copy(os.path.join(root, path), os.path.join(folder, path))
    remove_others(folder, {*made, *images})


def plain_text(page):
    """The begin of the text of a page, for results of a search."""
    article = re.search(r"<article\b.*?>(.*)</article>", page, re.S)
    text = re.sub(r"<h[1-6]\b[^>]*>", f" {HEADING} ", article[1] if article else "")
    text = re.sub(r"<(script|style)\b.*?</\1>|<a class=\"headerlink\".*?</a>|<[^>]*>", " ", text, flags=re.S)
    return " ".join(html.unescape(text).split())[:MAX_TEXT]


def write_texts(out):
    """texts.js: the description and the text of each page, which site.js shows in results of a search."""
    found = {}
    for path in links.html_files(out):
        with open(path, encoding="utf-8") as file:
            page = file.read()
        match = re.search(r'<meta content="([^"]*)" (?:lang="\w+" )?name="description"', page)
        if match:
            found[os.path.relpath(path, out)] = [html.unescape(match[1]), plain_text(page)]
    with open(os.path.join(out, "_static", "texts.js"), "w", encoding="utf-8") as file:
        file.write(f"const TEXTS = {json.dumps(found, indent=0, sort_keys=True)};\n")


def build(source, static, out, cache):
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q",
               "-c", HERE, "-d", cache, source, out]
    env = dict(os.environ, LIGHTNET_VERSION=version_of(ROOT), LIGHTNET_STATIC=static,
               SOURCE_DATE_EPOCH=os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return subprocess.run(command, env=env, check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", dest="out", metavar="DIR", default=os.path.join(ROOT, "build", "site"),
                        help="folder of the site (default build/site); DIR-work is a cache beside it")
    args = parser.parse_args()
    out = os.path.abspath(args.out)
    work = out + "-work"
    source, static = os.path.join(work, "source"), os.path.join(work, "static")
    try:
        stage(ROOT, source)
        theme.write_static(static)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"make.py: {error}")
    # Sphinx keeps pages that did not change; names in them are links already.
    plain = os.path.join(work, "html")
    if build(source, static, plain, os.path.join(work, "doctrees")):
        sys.exit("make.py: Sphinx reported the warnings above")
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(plain, out, ignore=shutil.ignore_patterns(".buildinfo", "objects.inv"))
    names = links.link_names(out)
    write_texts(out)
    pages = sum(1 for _ in links.html_files(out))
    print(f"{os.path.relpath(out)}/index.html: {pages} pages, {names} names of C")


if __name__ == "__main__":
    main()
