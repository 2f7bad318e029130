# SPDX-License-Identifier: Apache-2.0
"""Generates the tables of an operator: its arguments, its information, the prototype."""
import op_means
import op_sizes
from cgen import base_name, quote
from op_check import KINDS
from op_fields import BOUNDS, LEN_BOUNDS, LIST_KEYS, string_at
from op_names import (DIMS, DTYPE, NDIM, VALUE, has_post_run, has_pre_run, is_custom, is_listed,
                      is_sized, is_stored, is_string, run_code)

# Types for people


def _param_type(arg):
    realtype, length = arg.text("realtype"), arg.text("len")
    return arg.ptype + (f" -> {realtype}" if realtype else "") + (f" [{length}]" if length else "")


def _shape(arg):
    ndim, dims, sameshape = (arg.fields.get(key) for key in ("ndim", "dims", "sameshape"))
    if is_custom(arg, NDIM):
        return ""
    if sameshape and not is_custom(arg, DIMS):
        return f"shape of {sameshape.text}"
    if dims and dims.kind == "array":
        return f"{len(dims.items)}-D"
    return f"{ndim.text}-D" if ndim and ndim.kind == "number" else ""


def _dtype(arg):
    if is_custom(arg, DTYPE):
        return ""
    return f"dtype of {arg.text('sametype')}" if "sametype" in arg.fields else arg.text("dtype")


def arg_type(arg):
    """The type of an argument for people: "4-D FLT", "array_number -> int [2]"."""
    if arg.kind == "param":
        return _param_type(arg)
    between = ", " if "sameshape" in arg.fields else " "
    return between.join(filter(None, (_shape(arg), _dtype(arg)))) or "any"


# The tables of arguments, whose fields include what ln_op_begin checks


def _given(**fields):
    """The initializers of the fields that are neither None nor false."""
    return [f".{name} = {1 if value is True else value}" for name, value in fields.items()
            if value not in (None, False)]


def _quoted(arg, key):
    return quote(arg.text(key)) if key in arg.fields else None


def _input_checks(g, arg):
    return _given(dtypes=arg.dtypes,
                  ndim=arg.text("ndim") if is_listed(arg, "ndim") else None,
                  isstatic=arg.is_true("static"),
                  anywhere=g.has_own_mtype(arg),
                  same_type=_quoted(arg, "sametype"),
                  same_shape=_quoted(arg, "sameshape"))


def _bounds(arg):
    """The bounds of the length and of the value by a number."""
    bounds = ", ".join(f"{what}({cmp.upper()}, {arg.text(key)})"
                       for what, keys in (("LN_LENGTH", LEN_BOUNDS), ("LN_VALUE", BOUNDS))
                       for cmp, key in zip(BOUNDS, keys) if is_listed(arg, key))
    return f"LN_BOUNDS({bounds})" if bounds else None


def _literal(value):
    if value.kind == "string":
        return quote(value.text)
    return str(int(value.boolean)) if value.kind == "bool" else value.text


def _default_values(arg):
    default = arg.fields.get("default")
    values = default.items if default and default.kind == "array" else filter(None, [default])
    literals = ", ".join(map(_literal, values))
    macro = "LN_STRINGS" if is_string(arg) else "LN_NUMBERS"
    return [f"{macro}({literals})"] if literals else []


def _param_checks(arg):
    realtype, view = arg.text("realtype"), None
    if not is_string(arg) and realtype not in (None, "int"):
        view = f"LN_OPCK_{'FLOAT' if realtype == 'float' else 'DOUBLE'}"
    return _given(view=view, bounds=_bounds(arg)) + _default_values(arg)


def _arg_info(g, arg):
    """The initializers of an argument's row."""
    optype, dynamic = g.op.optype, arg.fields.get("dynamic")
    items = [quote(arg.name)] + _given(
        has_default="default" in arg.fields,
        optional=arg.is_true("optional"),
        variadic=arg.variadic,
        inplace=f"{optype}_{arg.name}_inplace" if "inplace" in arg.fields else None,
        owner=_quoted(arg, "owner"),
        sets=_quoted(arg, "sets"),
        is_setter="sets" in arg.fields,
        dynamic=dynamic and (1 if dynamic.boolean else -1))
    if arg.kind == "in" and not arg.variadic:
        items += _input_checks(g, arg)
    elif arg.kind == "param":
        items += _param_checks(arg)
    if is_stored(arg) and g.is_member(arg, VALUE):
        items.append(f".at = LN_PRIV({optype}, {arg.name})")
    return ", ".join(items)


def _write_inplace(g):
    for arg in g.op.args_of("out"):
        if "inplace" in arg.fields:
            names = "".join(f'"{name.text}", ' for name in arg.fields["inplace"].items)
            g.out.print(f"static const char *const {g.op.optype}_{arg.name}_inplace[] = "
                        f"{{{names}NULL}};\n")


def _write_args(g):
    """Writes a table for each kind of arguments that is not empty; returns their names."""
    tables = [(table, g.op.args_of(kind)) for kind, table in LIST_KEYS.items()
              if g.op.args_of(kind)]
    for table, args in tables:
        g.out.print(f"static const ln_arg_info {g.op.optype}_{table}[] = {{\n")
        for arg in args:
            end = ", .islast = 1}};" if arg is args[-1] else "},"
            g.out.line(4, f"{{{_arg_info(g, arg)}{end}")
    return [table for table, _ in tables]


# Documentation


def _docs(arg):
    default = arg.fields.get("default")
    return ", ".join((quote(arg.text("doc") or ""), quote(arg_type(arg)),
                      quote(default.json()) if default else "NULL"))


def write_docs(g):
    """Writes TYPE_docs, the documentation of an operator and its arguments."""
    op, meaning = g.op, op_means.meaning(g)
    if op.args:
        g.out.print(f"static const ln_arg_docs {op.optype}_docs_args[] = {{\n")
    for arg in op.args:
        g.out.line(4, f"{{{_docs(arg)}}}" + ("};" if arg is op.args[-1] else ","))
    items = (quote(op.text("doc") or ""), quote(op.text("author")), quote(base_name(op.node.file)),
             f"{op.optype}_docs_args" if op.args else "NULL",
             "NULL" if meaning is None else quote(meaning))
    g.out.line(0, f"static const ln_op_docs {op.optype}_docs = {{{', '.join(items)}}};")


# Expressions


def _find_sizes(op, arg):
    """The expression for the lengths of an output, that of another output of the same shape, or
    the name of the input whose shape it has; None: the code computes them."""
    if not is_sized(arg) or "sizes" in arg.fields:
        return arg.fields.get("sizes")
    same = op.find_arg(arg.text("sameshape"))
    return (_find_sizes(op, same) if same.kind == "out"
            else string_at(arg.fields["sameshape"], same.name))


def _write_codes(g, name, nodes, words):
    """Writes the code of a kind of expression, of all outputs."""
    g.out.print(f"static const ln_size_code {g.op.optype}_{name}[] = {{\n")
    for arg, node in zip(g.op.args_of("out"), nodes):
        if name == "sizes":
            g.out.line(4, f"// {arg.name}")
        if node:
            op_sizes.write_sizes(g, node, name == "sizes", words)
        else:
            g.out.line(4, "{LN_SIZE_END, 1, 0},")
    g.out.print("};\n")


def _write_expressions(g):
    """Writes the code of expressions, and the words in it; returns the names of the tables."""
    outputs, words, tables = g.op.args_of("out"), [], []
    if any(map(is_sized, outputs)):
        tables.append("sizes")
        _write_codes(g, "sizes", [_find_sizes(g.op, arg) for arg in outputs], words)
    values = [arg.fields.get("values") for arg in outputs]
    if any(values):
        tables.append("values")
        _write_codes(g, "values", values, words)
    if words:
        tables.append("words")
        g.out.line(0, f"static const char *const {g.op.optype}_words[] = "
                      f"{{{', '.join(map(quote, words))}}};")
    return tables


def write_tables(g):
    """Writes the tables of the arguments and the information."""
    op = g.op
    _write_inplace(g)
    tables = _write_args(g)
    ptypes = ", ".join([arg.text("ptype") for arg in op.args_of("param")] + ["LN_PARAM_INVALID"])
    g.out.line(0, f"static const ln_param_type {op.optype}_param_ptypes[] = {{{ptypes}}};")
    tables += _write_expressions(g)
    if op_means.write_means(g):
        tables.append("means")
    if g.has_docs:
        write_docs(g)
    fields = _given(**{table: f"{op.optype}_{table}" for table in tables},
                    docs=f"&{op.optype}_docs" if g.has_docs else None,
                    pure=str(int(op.pure)),
                    inplace_writer=op.inplace_writer,
                    strings=op.is_true("strings"),
                    writes=op.writes,
                    traits=op.traits,
                    kind=KINDS.get(op.kind))
    n = len(op.args) + len(LIST_KEYS)
    g.out.line(0, f"LN_OP_INFO({op.optype}, {n}, {', '.join(fields)});")
    g.out.print("\n")


def write_prototype(g):
    """Writes ln_opimpl_OPTYPE, the prototype that names the tables and the functions."""
    op, base = g.op, g.op.base_or_self().optype
    items = [base, op.optype, quote(op.arch), op.text("mtype") or "LN_MEM_NONE",
             f"{op.optype if has_pre_run(op) else base}_pre_run"]
    items += _given(static_run=f"{op.optype}_static_run" if run_code(op, "static_run") else None,
                    run=f"{op.optype}_run" if run_code(op, "run") else None,
                    post_run=f"{base}_post_run" if has_post_run(op) else "ln_op_end",
                    calc_offset=f"{base}_calc_offset" if "calc_offset" in op.fields else None)
    g.out.line(0, f"LN_GENOP({', '.join(items)});")
