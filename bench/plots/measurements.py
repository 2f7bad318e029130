# SPDX-License-Identifier: Apache-2.0
"""The files of measurements in a folder, which README.md describes."""
import json
import os


def read_json(path):
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


# Files that are no machines: long parts of a machine, NAME-PART.json, and what is the same on all.
PARTS = ("-roofline", "-kernels", "-corners", "-serving")
COMMON = ("float-errors", "tests")


def is_machine(name):
    return not name.endswith(PARTS) and name not in COMMON


class Measurements:
    """`folder` with files of machines, of their parts, and common ones; each is read once."""

    def __init__(self, folder):
        self.folder, self.contents = folder, {}

    def __getitem__(self, name):
        if name not in self.contents:
            self.contents[name] = read_json(os.path.join(self.folder, name + ".json"))
        return self.contents[name]

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name + ".json"))

    @property
    def machines(self):
        """{name of the file without its ending: its content}, in the order of the names."""
        names = sorted(name[:-len(".json")] for name in os.listdir(self.folder) if name.endswith(".json"))
        names = [name for name in names if is_machine(name)]
        if not names:
            raise ValueError(f"{self.folder}: no file of measurements, *.json")
        return {name: self[name] for name in names}
