#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ln-opgen: reads operator descriptions and writes the C that defines the operators, a list of
them, tests or a page."""
import functools
import os
import re
import sys

import cgen
import op_c
import op_desc
import op_docs
import op_examples
import op_forms
import program
from scan import DescriptionError

# What can be written instead of definitions: option, writer, help.
OUTPUTS = (
    ("--types", op_c.types, "a header with the constant LN_OP_TYPE of each type of operators"),
    ("--forms", op_forms.forms, "a header with the operators in ONNX, forms"),
    ("--tests", op_examples.tests, "a program that runs the examples of the descriptions"),
    ("--docs", op_docs.page, "a page in Markdown about the operators"),
    ("--doc-table", op_docs.doc_table, "a header with the array of their documentation, op_docs"),
)


def options():
    """The options of the program."""
    parser = program.Options(prog="ln-opgen",
                             description="Writes the C that defines the described operators.")
    add = parser.add_argument
    add("files", metavar="FILE.op", nargs="+", help="descriptions of the operators")
    add("-o", "--output", metavar="FILE", default="-",
        help="where to write (default: standard output)")
    add("--each", metavar="DIR", help="write a file for each description, DIR/NAME_ARCH.c")
    add("-I", "--include", metavar="DIR", action="append", default=[],
        help="where inherited operators are described: all DIR/*.op")
    add("--with", metavar="FILE.op", action="append", default=[], dest="withs",
        help="a file that describes inherited operators")
    add("--depfile", metavar="FILE", help="also write a make rule of its dependencies")
    add("--no-docs", dest="write", action="store_const", help="leave out the documentation that"
        " lightnet ops prints", const=functools.partial(op_c.operators, has_docs=False))
    group = parser.add_argument_group("instead of definitions").add_mutually_exclusive_group()
    group.add_argument("--list", dest="write", metavar="ARCH",
                       type=lambda arch: functools.partial(op_c.list_of, arch=arch),
                       help="a header with the array of ARCH's operators, ops_ARCH")
    for option, writer, text in OUTPUTS:
        group.add_argument(option, dest="write", action="store_const", const=writer, help=text)
    parser.set_defaults(write=functools.partial(op_c.operators, has_docs=True))
    return parser


def inherited_files(args):
    """The files that only serve inheritance."""
    yield from args.withs
    for folder in args.include:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            raise DescriptionError(f"{folder}: cannot read the directory") from None
        yield from (f"{folder}/{name}" for name in names if name.endswith(".op"))


def read(args):
    """All descriptions, checked."""
    descs = op_desc.Descriptions()

    def is_known(file):
        return any(cgen.is_same_file(root.file, file) for root in descs.files)

    for file in args.files:
        if is_known(file):
            raise DescriptionError(f"{file}: given twice")
        descs.read(file, own=True)
    for file in inherited_files(args):
        if not is_known(file):
            descs.read(file, own=False)
    descs.check()
    return descs


def each_output(folder, descs, file):
    """The file in the folder for the operators of a description."""
    op = next((op for op in descs.ops if op.root.file == file), None)
    if not op or not file.endswith(".op"):
        raise DescriptionError(f"{file}: describes no operator, or is not named NAME.op")
    name = cgen.base_name(file)[:-len(".op")]
    return f"{folder}/{name}_{op.arch}.c"


def make_outputs(args, descs):
    """Yields the texts of the outputs: one, or one for each description."""
    outputs = {args.output: args.files}
    if args.each:
        outputs = {each_output(args.each, descs, file): [file] for file in args.files}
        if len(outputs) < len(args.files):
            raise DescriptionError(f"{args.each}: two descriptions have the same output")
    for output, files in outputs.items():
        for op in descs.ops:
            op.own = op.root.file in files
        out = cgen.CWriter(output)
        args.write(out, descs)
        yield out


def dependencies(output, descs):
    """The rule of make with the sources of the output."""
    files = (re.sub(r"([ #])", r"\\\1", name.replace("$", "$$"))
             for name in (output, *(root.file for root in descs.files)))
    return "{}: {}\n".format(next(files), " ".join(files))


def generate(args):
    """Reads, generates, saves. After an error the outputs are unchanged."""
    if args.each and args.output != "-":
        raise program.UsageError("-o and --each exclude each other")
    descs = read(args)
    outputs = [(out.file, out.text) for out in make_outputs(args, descs)]
    if args.depfile:
        outputs.insert(0, (args.depfile, dependencies(outputs[0][0], descs)))
    cgen.check_outputs([file for file, _ in outputs], [root.file for root in descs.files])
    for file, text in outputs:
        cgen.save(file, text)


def main():
    """Runs the program; returns its exit status."""
    return program.run(options(), generate)


if __name__ == "__main__":
    sys.exit(main())
