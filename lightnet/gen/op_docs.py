# SPDX-License-Identifier: Apache-2.0
"""Generates the documentation of operators: a page with a section for each and a table for its
arguments, and a header with the array of theirs."""
import op_c
import op_tables
from cgen import base_name
from op_fields import KIND_NAMES
from op_names import Generator


def _cell(text):
    """Text in a cell of a table, where a bar and a newline would end it."""
    return text.replace("\n", " ").replace("|", "\\|")


def _notes(arg):
    """The properties of an argument besides its type."""
    if arg.optional:
        yield "optional"
    if arg.variadic:
        number = "none or more" if arg.is_true("optional") else "one or more"
        yield f"{number}: `{arg.name}0`, `{arg.name}1`, ..."
    if arg.is_true("static"):
        yield "static"
    if "sets" in arg.fields:
        yield f"sets `{arg.text('sets')}` at run time"
    if arg.is_true("dynamic"):
        yield "this large at most"
    if "owner" in arg.fields:
        yield f"shares the memory of `{arg.text('owner')}`"
    if "default" in arg.fields:
        yield f"default `{_cell(arg.fields['default'].json())}`"


def _row(arg):
    notes = "".join(f"; {note}" for note in _notes(arg))
    return (f"| {KIND_NAMES[arg.kind]} | `{arg.name}` | {_cell(op_tables.arg_type(arg))}{notes} "
            f"| {_cell(arg.text('doc') or '')} |\n")


def _parent(op):
    """The type of the first operator that this one is described after."""
    parents = op.fields.get("inherits")
    if op.base:
        return op.base.optype
    if parents and parents.items:
        return parents.items[0].text
    return parents and parents.text


def _section(op):
    doc, parent = op.text("doc"), _parent(op)
    text = f"\n## {op.optype}\n\n" + (f"{doc}\n\n" if doc else "")
    text += f"Architecture `{op.arch}`" + ("" if op.pure else ", has side effects")
    text += f". Described in `{base_name(op.node.file)}`"
    text += f", after `{parent}`.\n" if parent else ".\n"
    if op.args:
        text += "\n| | name | type | meaning |\n|---|---|---|---|\n"
    return text + "".join(map(_row, op.args))


def page(out, descs):
    """Writes a section with the arguments of each own operator, in order."""
    out.print("# Operators\n\n"
              f"Generated from the operator descriptions: {op_c.sources(descs)}.\n")
    for op in descs.ops:
        if op.own:
            out.print(_section(op))


def doc_table(out, descs):
    """Writes a header with `op_docs`, the documentation of the generated operators by `optype`, in
    order."""
    generated = descs.generated()
    out.print(f"// Generated from {op_c.sources(descs)}: the documentation of their operators.\n\n"
              '#include "lightnet/ln_op.h"\n\n')
    for op in generated:
        if not op.base:
            op_tables.write_docs(Generator(out, op, has_docs=True))
    out.print("\nstatic const struct {\n    const char *optype;\n"
              "    const ln_op_docs *docs;\n} op_docs[] = {\n")
    for op in generated:
        out.line(4, f'{{"{op.optype}", &{op.base_or_self().optype}_docs}},')
    out.print("};\n")
