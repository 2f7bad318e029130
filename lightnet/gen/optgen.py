#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ln-optgen: turns optimizer descriptions into C."""
import sys

import program
import rjson
import rule_code
import rule_tests
from cgen import CWriter, check_outputs, save
from rule_desc import Rules


def options():
    """The options of the program."""
    parser = program.Options(
        prog="ln-optgen", description="Writes C for the rewrite rules of one architecture. "
        "Without an output the descriptions are only checked.")
    add = parser.add_argument
    add("files", metavar="FILE.opt", nargs="+", help="descriptions of the rules")
    add("-o", "--output", metavar="FILE.c",
        help="the rules' functions and the arrays that ln_arch has of them; needs --header")
    add("--header", metavar="FILE.h", help="the declarations of these arrays")
    add("--tests", metavar="FILE.c", help="the program that tests each rule")
    return parser


def read(files):
    """The rules of all files, checked."""
    rules = Rules()
    for file in files:
        rules.read(rjson.read(file))
    rules.check()
    return rules


def generate(args):
    """Makes the texts of all outputs before it writes the first one: after an error in a
    description all files are unchanged."""
    if args.output and not args.header:
        raise program.UsageError("-o needs --header, which the output includes")
    outputs = [file for file in (args.output, args.header, args.tests) if file]
    check_outputs(outputs, args.files)
    rules = read(args.files)
    makers = ((args.output, lambda out: rule_code.source(rules, args.header, out)),
              (args.header, lambda out: rule_code.header(rules, out)),
              (args.tests, lambda out: rule_tests.tests(rules, out)))
    made = []
    for file, make in makers:
        if file:
            made.append(CWriter(file))
            make(made[-1])
    for out in made:
        save(out.file, out.text)


def main():
    """Runs the program; returns its exit status."""
    return program.run(options(), generate)


if __name__ == "__main__":
    sys.exit(main())
