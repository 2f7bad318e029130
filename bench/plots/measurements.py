# SPDX-License-Identifier: Apache-2.0
"""The files of measurements in a folder, which README.md describes."""
import json
import os

ROOFLINE = "-roofline.json"


def read_json(path):
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def read_machines(folder):
    """{name of the file without its ending: its content}, in the order of the names."""
    names = sorted(name for name in os.listdir(folder)
                   if name.endswith(".json") and not name.endswith(ROOFLINE))
    if not names:
        raise ValueError(f"{folder}: no file of measurements, *.json")
    return {name[:-len(".json")]: read_json(os.path.join(folder, name)) for name in names}


def read_roofline(folder, name):
    return read_json(os.path.join(folder, name + ROOFLINE))
