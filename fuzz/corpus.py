#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Collects what a search begins with: the small seeds of meson.build, of which the build makes some, those that earlier searches found,
and for targets that read ONNX models small models of ONNX's own test data, where Debian's package of them is installed.

usage: corpus.py BUILD DIR [TARGET..]

Copies the files to DIR/TARGET and the target's dictionary to DIR/TARGET.dict, for the targets that are named or for all, and prints
the targets.
"""
import glob
import json
import os
import shutil
import subprocess
import sys

FUZZ = os.path.dirname(os.path.abspath(__file__))
DICTIONARIES = {"onnx": "onnx", "onnx_sequence": "onnx", "session": "onnx", "ir": "ir", "compiled": "ir", "nnvm": "nnvm", "il": "il"}
TEST_DATA = "/usr/share/libonnx-testdata/data/*/*/model.onnx"
READ_ONNX = ["onnx", "session"]
LARGEST = 2048  # bytes of a model of the test data
# Of a seed: libFuzzer grows inputs to the length of the largest one, and a compiled model of 198 KB makes them three times as slow.
LARGEST_SEED = 16384


def seeds_of_tests(build):
    """The seeds by target: the arguments of the tests fuzz_TARGET, of which those in the build folder are relative to it."""
    tests = json.loads(subprocess.check_output(["meson", "introspect", "--tests", build]))
    return {test["cmd"][1]: test["cmd"][2:] for test in tests
            if test["name"].startswith("fuzz_") and test["name"] == "fuzz_" + test["cmd"][1]}


def paths_of(build, files):
    """Where the files are; builds those in the build folder."""
    made = [file for file in files if not os.path.isabs(file)]
    if made:
        subprocess.run(["ninja", "-C", build, *made], check=True, stdout=subprocess.DEVNULL)
    return [os.path.join(build, file) for file in files]


def found(target):
    return glob.glob(os.path.join(FUZZ, "seeds", target, "found", "*"))


def copy_test_data(folder):
    for file in glob.glob(TEST_DATA):
        if os.path.getsize(file) <= LARGEST:
            shutil.copyfile(file, os.path.join(folder, "_".join(file.split(os.sep)[-3:-1]) + ".onnx"))


def collect(build, target, files, out):
    folder = os.path.join(out, target)
    os.makedirs(folder, exist_ok=True)
    for file in paths_of(build, files):
        if os.path.getsize(file) <= LARGEST_SEED:
            shutil.copyfile(file, os.path.join(folder, os.path.basename(file)))
    for file in found(target):
        shutil.copyfile(file, os.path.join(folder, "found_" + os.path.basename(file)))
    if target in READ_ONNX:
        copy_test_data(folder)
    if target in DICTIONARIES:
        shutil.copyfile(os.path.join(FUZZ, "dictionaries", DICTIONARIES[target] + ".dict"), folder + ".dict")


def main(build, out, *names):
    seeds = seeds_of_tests(build)
    for name in names:
        if name not in seeds:
            sys.exit(f"unknown target '{name}'; expected one of {', '.join(seeds)}")
    for target in names or seeds:
        collect(build, target, seeds[target], out)
    print(*(names or seeds))


if __name__ == "__main__":
    main(*sys.argv[1:])
