# SPDX-License-Identifier: Apache-2.0
"""A reader of documents, who follows one from top to bottom in a copy of the tree:

    ```console           runs each line that begins with `$ ` and compares its output with the lines below it;
                         a line `...` matches any lines, `...` at the end of a line any rest, and times
                         are not compared
    ```console needs=PATH   the same, where LightNet was installed with that file
    ```console needs=PROGRAM   the same, where there is such a program
    ```console needs=python:MODULE   the same, where python3 has that module
    ```c file=PATH       writes the block to PATH, as a reader would (any language)
    ```c file=PATH after=LINE   puts the block into PATH after the first line that reads LINE
    ```c file=PATH instead-of=LINE   puts the block into PATH instead of that line

Other blocks are for reading only.
"""
import os
import re
import shutil
import sys

from tap import ROOT, run, text_of, tracked

# It builds a tree of its own, so it has a test of its own, guide.py.
GUIDE = "docs/adding-an-operator.md"

TIMES = re.compile(r"\b\d+\.\d+(?= ?(s|ms|us|ns)\b)")


def blocks(text):
    """(line number, info string, lines) of every fenced block."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        if lines[i].startswith("```"):
            info, begin = lines[i][3:].strip(), i + 1
            i = lines.index("```", begin)
            yield begin, info, lines[begin:i]
        i += 1


def commands(lines):
    """(offset, command, shown output) of every command of a console block."""
    found = []
    for i, line in enumerate(lines):
        if line.startswith("$ "):
            found.append((i, line[2:], []))
        else:
            found[-1][2].append(line)
    return found


def pattern_of(line):
    """A shown line as a regular expression."""
    line = TIMES.sub("0.0", line).rstrip()
    if line == "...":
        return r"(?:.*\n)*?"
    return re.escape(line[:-3]) + r".*\n" if line.endswith("...") else re.escape(line) + r"\n"


def agrees(shown, printed):
    """True when the lines printed are those shown; empty lines at the end do not count."""
    text = "".join(TIMES.sub("0.0", line).rstrip() + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(map(pattern_of, "\n".join(shown).rstrip().splitlines())), text) is not None


def is_typed(info, installed, env=None):
    """Whether the block is commands that run with the installation in that folder, and in that environment (None: any)."""
    kind, _, needed = info.partition(" needs=")
    if kind == "console" and needed.startswith("python:") and env:
        # In the tree, `import lightnet` would find its folder of that name.
        return run(["python3", "-c", "import " + needed.partition(":")[2]], cwd="/", env=env)[0] == 0
    if kind != "console" or not needed or not installed:
        return kind == "console"
    return os.path.exists(os.path.join(installed, needed)) if "/" in needed else shutil.which(needed) is not None


class Reader:
    """A reader who types the commands of a document."""

    def __init__(self, folder, env, installed=None):
        self.folder, self.env, self.installed = folder, env, installed
        self.written = []  # paths of the files that the document has made or changed

    def follow(self, document):
        for line, info, lines in blocks(text_of(document)):
            if is_typed(info, self.installed, self.env):
                for offset, command, shown in commands(lines):
                    yield from self.type(f"{document}:{line + 1 + offset}", command, shown)
            elif " file=" in info:
                path, where, place = re.fullmatch(r".* file=(\S+)(?: (after|instead-of)=(.*))?", info).groups()
                yield from self.insert(path, place, lines, where == "after") if where else self.write(path, lines)

    def type(self, where, command, shown):
        # Line by line, as on a terminal, so that both streams come in the order of writing.
        status, printed = run(["stdbuf", "-oL", "sh", "-c", command], cwd=self.folder, env=self.env)
        if not agrees(shown, printed):
            yield f"{where}: {command}\nexit status {status}, printed:\n{printed[-3000:]}"

    def insert(self, path, place, lines, stays):
        """Puts the lines into a file after the line `place`, or in its place when it does not stay."""
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            old = file.read().splitlines()
        places = [i for i, line in enumerate(old) if line.strip() == place]
        if not places:
            return [f"{path} has no line {place}"]
        return self.write(path, old[:places[0] + stays] + lines + old[places[0] + 1:])

    def write(self, path, lines):
        self.written.append(path)
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return []


def copy_tree(folder):
    for path in tracked():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, path), os.path.join(folder, path))
