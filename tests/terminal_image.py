#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: terminal_image.py LIGHTNET. Images of terminals (tools/terminal_svg.py), and that of README. Speaks TAP."""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "structure")]

from tap import ROOT, Tap, text_of

PROGRAM = os.path.join(ROOT, "tools/terminal_svg.py")
IMAGE = os.path.join(ROOT, "docs/images/terminal.svg")
DESC = "{http://www.w3.org/2000/svg}desc"


def drawn(*commands, folder):
    """(status, message, the text of the image)."""
    path = os.path.join(folder, "terminal.svg")
    done = subprocess.run([sys.executable, PROGRAM, "-o", path, *commands], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr, "" if done.returncode else ElementTree.parse(path).findtext(DESC)


def escape_sequences_are_left_out(folder):
    _, _, text = drawn(r"printf '\033[1mbold\033[0m\033]0;title\007 <&> a\tb\r\n\377\n'", folder=folder)
    expected = ["bold <&> a      b", "\ufffd"]
    return [] if text.split("\n")[1:] == expected else [f"{text.splitlines()[1:]}, expected {expected}"]


def other_control_characters_are_rejected(folder):
    status, message, _ = drawn(r"printf 'a\001b'", folder=folder)
    return [] if status == 1 and "control character '\\x01'" in message else [f"status {status}: {message}"]


def without_numbers(text):
    return re.sub(r"[0-9]+(\.[0-9]+)?", "0", re.sub(" +", " ", text))


def the_commands_of_the_image_print_what_it_shows(folder):
    for name in ("toys.onnx", "table.jpg"):
        os.symlink(os.path.join(ROOT, "examples/toys", name), os.path.join(folder, name))
    shown = ElementTree.parse(IMAGE).findtext(DESC)
    commands = re.findall(r"^\$ (.*)$", shown, re.M)
    status, message, text = drawn(*commands, folder=folder)
    if status:
        return [message]
    return [f"'{new}', in the image '{old}'" for old, new in zip(without_numbers(shown).splitlines(), without_numbers(text).splitlines())
            if old != new] or ([] if len(shown.splitlines()) == len(text.splitlines()) else ["another number of lines"])


def the_first_command_is_that_of_the_readme(folder):
    shown = ElementTree.parse(IMAGE).findtext(DESC).splitlines()[0]
    options = re.search(r"--preset.*--overlap \S+", text_of("README.md")).group()
    return [] if options in shown else [f"'{shown}' lacks '{options}'"]


def main():
    os.environ["PATH"] = os.path.dirname(os.path.abspath(sys.argv[1])) + os.pathsep + os.environ["PATH"]
    tap = Tap()
    for test in (escape_sequences_are_left_out, other_control_characters_are_rejected, the_commands_of_the_image_print_what_it_shows,
                 the_first_command_is_that_of_the_readme):
        with tempfile.TemporaryDirectory() as folder:
            tap.check(test.__name__, test(folder))
    tap.end()


if __name__ == "__main__":
    main()
