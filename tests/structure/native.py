#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: native.py BUILD_ROOT. With CFLAGS=-march=native each instruction set still gets kernels of its own.

A small family of kernels represents all, since they choose their vectors in one place: its source is compiled for each set as in
BUILD_ROOT, with that flag in front, and its test is linked with them, where a kernel that is missing or there twice is an error, and run.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from tap import Tap, faults_of, run

FAMILY = "channels_blocked"
TEST = f"tensorlight/{FAMILY}_test"


def native(command, output):
    """A compiler's command line, for this CPU and to another file, without its list of dependencies."""
    words = [word for word in shlex.split(command) if os.path.basename(word) != "ccache"]
    words[1:1] = ["-march=native"] # as Meson does: the flags of a file have the last word
    for option in ["-MF", "-MQ"]:
        at = words.index(option)
        del words[at:at + 2]
    words.remove("-MD")
    words[words.index("-o") + 1] = output
    return words


def compile_kernels(root, folder):
    """Compiles the family's files of instruction sets; returns pairs of a set and an object file, and errors."""
    with open(os.path.join(root, "compile_commands.json"), encoding="utf-8") as file:
        commands = [entry["command"] for entry in json.load(file) if os.path.basename(entry["file"]) == f"{FAMILY}_simd.c"]
    objects, faults = [], []
    for command in commands:
        name = re.findall(r"-DTL_SIMD_SET=(\w+)", command + " -DTL_SIMD_SET=c")[0]
        objects.append((name, os.path.join(folder, f"{name}.o")))
        faults += faults_of(native(command, objects[-1][1]), cwd=root)
    return objects, faults


def foreign_symbols(objects):
    """Lines for symbols that an object defines without the name of its set."""
    for name, path in objects:
        symbols = subprocess.run(["nm", "--defined-only", "-g", path], check=True, capture_output=True, text=True).stdout.split()[2::3]
        if not symbols:
            yield f"{os.path.basename(path)} defines nothing"
        yield from (f"{os.path.basename(path)} defines {symbol}" for symbol in symbols if not symbol.endswith(f"_{name}"))


def link(root, objects, program):
    """The test's own command, with the objects before the library that has those kernels too."""
    commands = subprocess.run(["ninja", "-C", root, "-t", "commands", TEST], check=True, capture_output=True, text=True).stdout
    words = shlex.split(commands.splitlines()[-1])
    words[words.index("-o") + 1] = program
    at = next(i for i, word in enumerate(words) if word.endswith("_test.c.o")) + 1
    return words[:at] + [path for _, path in objects] + words[at:]


def main():
    root = sys.argv[1]
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-native-") as folder:
        objects, faults = compile_kernels(root, folder)
        tap.check("kernels_compile_with_all_that_this_cpu_has", faults)
        if not faults:
            program = os.path.join(folder, "test")
            tap.check("each_file_makes_the_kernels_of_its_instruction_set", foreign_symbols(objects))
            tap.check("they_link", faults_of(link(root, objects, program), cwd=root))
            status, output = run([program]) if os.path.exists(program) else (1, "not linked")
            tap.check("they_pass_their_test", output.splitlines() if status else [])
    tap.end()


if __name__ == "__main__":
    main()
