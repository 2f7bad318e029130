# SPDX-License-Identifier: Apache-2.0
"""Generates the C of operators: their functions, with the variables that each names, and the file;
a list of them, and a header with their types."""
import op_pre
import op_tables
from cgen import CWriter, base_name
from op_names import (PRIV_VARS, Generator, code_words, has_post_run, has_pre_run,
                      is_converted_array, kept_type, last_words, local_type, run_code)

# Headers that the generator's own code needs, where it has one of the words.
_HEADERS = {"<limits.h>": ("INT_MIN", "INT_MAX"), "<string.h>": ("memcpy(", "strcmp("),
            '"lightnet/ln_rule.h"': ("ln_rule ",)}

# The functions


def _write_struct(g):
    """The private structure."""
    extra = g.op.fields.get("extra_privs")
    g.out.print(f"struct {g.op.optype}_priv {{\n")
    g.declare((kept_type(arg, var), arg.name + var) for arg, var in g.members())
    for member in extra.items if extra else ():
        kept, name = member.get("type"), member.get("name").text
        g.out.line_of(4, kept, f"{kept.text}{'' if kept.text.endswith('*') else ' '}{name};")
    g.out.print("};\n\n")


def _base_type(g):
    """The type whose pre_run, private structure and tables the operator uses."""
    return g.op.base_or_self().optype


def _declare_priv(g):
    g.out.line(4, f"struct {_base_type(g)}_priv *priv = op_arg->priv;")


def _named_vars(g, words):
    return [(arg, var) for arg in g.op.args for var in PRIV_VARS if arg.name + var in words]


def _write_arg_locals(g, words):
    """Declares the variables of arguments among the words."""
    g.declare((local_type(arg, var), f"{arg.name}{var} = priv->{arg.name}{var}")
              for arg, var in _named_vars(g, words))


def _declare_locals(g, words):
    """Declares all variables among the words; returns whether there are any."""
    has_priv = "priv" in words or bool(_named_vars(g, words))
    if has_priv:
        _declare_priv(g)
    _write_arg_locals(g, words)
    if "exec" in words:
        g.out.line(4, "const tl_exec exec = ln_op_exec(op_arg);")
    return has_priv or "exec" in words


def _write_body(g, code, *params):
    """Statements after the variables that they name, and the parameters that they do not."""
    words = code_words(code)
    has_locals = _declare_locals(g, words)
    if has_locals:
        g.out.print("\n")
    for param in params:
        if param not in words and not (param == "op_arg" and has_locals):
            g.out.line(4, f"(void){param};")
    g.out.snippet(4, code)


def _write_target_pre_run(g):
    """A pre_run for a target, which calls and extends that of its base."""
    with g.function(f"void {g.op.optype}_pre_run(ln_op_arg *op_arg)"):
        g.out.line(4, f"{_base_type(g)}_pre_run(op_arg);")
        g.return_if(4, "op_arg->failed")
        _declare_locals(g, last_words(g.op))
        op_pre.write_last(g)


def _write_run(g, name):
    """run or static_run: from statements, or from a call that must return 0."""
    code = run_code(g.op, name)
    if not code:
        return
    with g.function(f"void {g.op.optype}_{name}(ln_op_arg *op_arg)"):
        if name in g.op.fields:
            _write_body(g, code, "op_arg")
            return
        if _declare_locals(g, code_words(code)):
            g.out.print("\n")
        g.out.line_of(4, code, f"if ({code.text})")
        g.out.line(8, "ln_op_fail_tl(op_arg);")


def _write_post_run(g):
    """The opposite of pre_run, also of one that failed half way: all in `priv` that is not yet set
    is 0. Without its own code or arrays an operator needs none but ln_op_end."""
    if not has_post_run(g.op):
        return
    code = g.op.fields.get("post_run")
    with g.function(f"void {g.op.optype}_post_run(ln_op_arg *op_arg)"):
        if g.has_priv():
            _declare_priv(g)
            g.return_if(4, "!priv")
        if code:
            _write_arg_locals(g, code_words(code))
            g.out.snippet(4, code)
        for arg in g.op.args:
            if arg.variadic:
                g.out.line(4, f"ln_free(priv->{arg.name}_entry);")
            if arg.variadic or is_converted_array(arg):
                g.out.line(4, f"ln_free((void *)priv->{arg.name});")
        g.out.line(4, "ln_op_end(op_arg);")


def _write_calc_offset(g):
    code = g.op.fields.get("calc_offset")
    if code:
        head = f"size_t {g.op.optype}_calc_offset(ln_op_arg *op_arg, ln_tensor_entry *te)"
        with g.function(head):
            _write_body(g, code, "op_arg", "te")


# One operator, one file


def _write_shared(g):
    """The code that an operator shares with its targets."""
    if g.has_priv():
        _write_struct(g)
    op_pre.write_pre_run(g)
    _write_post_run(g)
    _write_calc_offset(g)
    op_tables.write_tables(g)


def _write_operator(g):
    op, functions = g.op, ("static_run", "run")
    doc = None if op.base else op.text("doc")
    names_struct = "priv_s" in g.pre | g.later
    # One of a target may be no more than a prototype with the functions of its base.
    if has_pre_run(op) or any(run_code(op, name) for name in functions):
        g.out.print("\n")
    if doc:
        summary = doc.split("\n")[0]
        g.out.comment(f"{op.optype}: {summary}")
    if names_struct:
        g.out.print(f"#define priv_s {_base_type(g)}_priv\n")
    if doc or names_struct:
        g.out.print("\n")
    if not op.base:
        _write_shared(g)
    elif has_pre_run(op):
        _write_target_pre_run(g)
    for name in functions:
        _write_run(g, name)
    op_tables.write_prototype(g)
    if names_struct:
        g.out.print("\n#undef priv_s\n")


def sources(descs):
    """The names of the files with own operators, for the first line of generated files:
    "conv.op, pool.op"."""
    files = dict.fromkeys(op.node.file for op in descs.ops if op.own)
    return ", ".join(map(base_name, files))


def _write_operators(out, descs, has_docs):
    for op in descs.generated():
        _write_operator(Generator(out, op, has_docs))


def _headers(text, descs):
    """The headers that a file with the operators of `text` needs: of the system, others."""
    asked = [header.text if header.text.startswith("<") else f'"{header.text}"'
             for op in descs.generated() for header in op.includes]
    limits, string, rule = ([header] if any(word in text for word in words) else []
                            for header, words in _HEADERS.items())
    system = dict.fromkeys(limits + [header for header in asked if header.startswith("<")])
    own = ['"lightnet/ln_genop.h"', '"tensorlight/tensorlight.h"', *rule,
           *(header for header in asked if not header.startswith("<"))]
    return [*system, *string], dict.fromkeys(own)


def _includes(headers):
    return "".join(f"#include {header}\n" for header in headers)


def operators(out, descs, has_docs):
    """Writes the definitions of all own operators (those with "autogen" false left out) as one C
    file, with their documentation if `has_docs`."""
    draft = CWriter(out.file)  # to find needed declarations
    _write_operators(draft, descs, has_docs)
    out.print(f"// Generated from {sources(descs)}; edit that, not this.\n\n")
    system, own = map(_includes, _headers(draft.text, descs))
    out.print(system + ("\n" if system else "") + own)
    _write_operators(out, descs, has_docs)


def list_of(out, descs, arch):
    """Writes a header with `ops_ARCH`, the NULL-terminated array of the generated operators of
    architecture `arch`, in order."""
    names = [f"ln_opimpl_{op.optype}" for op in descs.generated() if op.arch == arch]
    out.print(f"// Generated from {sources(descs)}: the operators of architecture '{arch}'.\n\n"
              '#include "lightnet/ln_op.h"\n\n')
    if names:
        out.line(0, f"extern ln_op {', '.join(names)};")
    out.print(f"\nstatic ln_op *ops_{arch}[] = {{\n")
    out.filled(", ".join([f"&{name}" for name in names] + ["NULL"]))
    out.print("};\n")


def types(out, descs):
    """Writes a header with the types of the generated operators as constants: LN_OP_CONV2D is
    "conv2d"."""
    out.print(f"// Generated from {sources(descs)}: the types of their operators.\n\n")
    for op in descs.generated():
        out.line(0, f'#define LN_OP_{op.optype.upper()} "{op.optype}"')
