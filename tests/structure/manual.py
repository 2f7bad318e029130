#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: manual.py PROGRAM... . The manual pages name the commands, options and examples of the programs' own help."""
import os
import re
import shutil
import sys

from tap import ROOT, Tap, faults_of, run, text_of

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z])(?![\w-])")


def help_of(program):
    """The help of a program, and of its commands, where the first one lists any; a command may be a program with a page of its own."""
    status, text = run([program, "--help"])
    assert status == 0, text
    name = os.path.basename(program)
    commands = re.findall(rf"^  {name} (\w+)", without_examples(text), re.M)
    own = [command for command in commands if not os.path.exists(os.path.join(ROOT, page_of(f"{name}-{command}")))]
    return commands, [text, *(run([program, command, "--help"])[1] for command in own)]


def without_examples(text):
    return text.split("\nexamples:\n")[0]


def examples_in_help(texts):
    """The calls: lines with two spaces, each above its purpose."""
    return [line[2:] for text in texts for line in text.partition("\nexamples:\n")[2].splitlines()
            if re.match(r"  \S", line)]


def examples_on_page(text):
    """Bold lines of the section EXAMPLES."""
    section = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH )", text, re.M | re.S)
    return re.findall(r"^\.B (.*)$", section[1].replace("\\-", "-"), re.M) if section else []


def options_in_help(texts):
    return {option for text in texts for line in text.splitlines() if line.startswith("  ")
            for option in OPTION.findall(re.split(r" {2,}", line.strip())[0])}


def page_of(program):
    return f"man/{os.path.basename(program)}.1"


def options_on_page(text):
    """The options that the page defines in its tagged paragraphs."""
    tags = re.findall(r"^\.TP\n(?:\.PD.*\n)?(.*)$", text.replace("\\-", "-"), re.M)
    return {option for tag in tags for option in OPTION.findall(re.sub(r"\\f[BIRP]|^\.[BIR]+ ", " ", tag))}


def main():
    tap = Tap()
    for program in map(os.path.abspath, sys.argv[1:]):
        name, page = os.path.basename(program), page_of(program)
        if not os.path.exists(os.path.join(ROOT, page)):
            tap.check(f"{name} has a manual page", [f"{page} is missing"])
            continue
        text = text_of(page)
        commands, helps = help_of(program)
        printed, written = options_in_help(map(without_examples, helps)), options_on_page(text)
        tap.check(f"{page} names every option of {name}", [f"{option} is missing" for option in sorted(printed - written)])
        tap.check(f"{page} names no other option", [f"{name} has no {option}" for option in sorted(written - printed)])
        tap.check(f"{page} names every command of {name}",
                  [f"{command} is missing" for command in commands if not re.search(rf"^\.SS.*\b{command}\b", text, re.M)])
        shown, explained = examples_in_help(helps), examples_on_page(text)
        if shown:
            tap.check(f"{page} has the examples of {name}", [f"'{call}' is missing" for call in shown if call not in explained]
                      + [f"{name} has no '{call}'" for call in explained if call not in shown])
        if shutil.which("groff"):
            status, output = run(["groff", "-man", "-Tutf8", "-ww", "-z", os.path.join(ROOT, page)])
            tap.check(f"{page} is well-formed", output.splitlines() or ([] if status == 0 else [f"exit status {status}"]))
        else:
            tap.skip(f"{page} is well-formed", "there is no groff")
    tap.end()


if __name__ == "__main__":
    main()
