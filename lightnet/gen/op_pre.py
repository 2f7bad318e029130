# SPDX-License-Identifier: Apache-2.0
"""Generates a pre_run that declares each variable before its first use."""
from dataclasses import dataclass

import cgen
import op_args
from op_desc import Argument
from op_names import (ALL_VARS, SINGLE_VARS, VALUE, code_words, declaration_words,
                      is_converted_array, is_stored, local_type)
from rjson import Value

# The fields with C that is assigned to the member of their name.
_ABOUT_RUN = ("can_fail", "macs", "algorithm", "layout")


@dataclass(eq=False)
class _Step:
    """A part of pre_run: an argument's declaration with the checks of its fields (`code` None),
    another check, or custom code."""
    arg: Argument
    code: Value
    words: set  # that it names

    def names(self, arg):
        """Whether it names a variable of the argument."""
        return any(arg.name + var in self.words for var in ALL_VARS)

    @property
    def section(self):
        """The comment above such steps, or None."""
        if self.arg.kind == "out":
            return "outputs"
        return self.code and "checks"


def _steps(op):
    """The parts of pre_run in the order of the description."""
    for arg in op.args:
        words = declaration_words(arg)
        if arg.kind == "out" or arg.variadic:
            words |= {arg.text(key) for key in ("sametype", "sameshape", "owner")}
        yield _Step(arg, None, words)
        checks = arg.fields.get("checks")
        codes = (arg.fields.get("check"), *(checks.items if checks else ()),
                 arg.fields.get("custom"))
        for code in filter(None, codes if arg.kind != "out" else ()):
            yield _Step(arg, code, code_words(code))


def _find_obstacle(pending, step):
    """The pending step that `step` must wait for, or None: an earlier one of its argument, or the
    declaration of another whose variable it names."""
    at = pending.index(step)
    for i, other in enumerate(pending):
        is_own, declares = other.arg is step.arg, not other.code
        if (is_own and i < at) or (not is_own and declares and step.names(other.arg)):
            return other
    return None


# The function


def _write_extra(g, step):
    """One more check of an argument, or its custom code. Of an optional argument only if it is
    present; of a variadic one for each when it names the index `i`."""
    arg, code, head = step.arg, step.code, None
    is_custom = code is arg.fields.get("custom")
    if arg.variadic and "i" in step.words and not is_custom:
        head = f"for (int i = 0; i < priv->{arg.name}_n; i++)"
    elif arg.optional:
        head = f"if ({arg.name}_entry)"
    with g.block(4, head) as indent:
        if is_custom:
            g.out.snippet(indent, code)
        else:
            suffix = "_msg" if cgen.count_arguments(code.text) > 1 else ""
            g.out.line_of(indent, code, f"ln_opck_satisfy{suffix}({code.text});")


def _write_ready(g, pending, with_outputs):
    """Writes the pending steps that need not wait, in the order of the description; again and
    again while there are some. Without outputs: the steps of inputs and parameters only."""
    section = count = None
    while len(pending) != count:
        count = len(pending)
        for step in tuple(pending):
            if (step.arg.kind == "out" and not with_outputs) or _find_obstacle(pending, step):
                continue
            if step.section not in (None, section):
                section = step.section
                g.out.print(f"    // {section}\n")
            if step.code:
                _write_extra(g, step)
            else:
                op_args.write(g, step.arg)
            pending.remove(step)


def _write_steps(g):
    """Writes all steps. Fails if arguments need each other: reports the first one and its missing
    variable."""
    pending = list(_steps(g.op))
    _write_ready(g, pending, with_outputs=False)
    _write_ready(g, pending, with_outputs=True)
    if pending:
        arg, other = pending[0].arg, _find_obstacle(pending, pending[0]).arg
        raise g.op.fail(arg.node, f"argument '{arg.name}' needs '{other.name}', which cannot come "
                                  "first: they need each other")


def _is_kept_here(g, arg, var):
    """Whether pre_run stores the variable in `priv`, since ln_op_begin has not, or code changes
    it."""
    if not g.is_kept(arg, var) or arg.variadic:
        return False
    if var == VALUE and is_stored(arg):
        return "custom" in arg.fields and g.has_value_in_pre(arg)
    return var != VALUE or not is_converted_array(arg)


def _kept_here(g):
    return [(arg, var) for arg in g.op.args for var in SINGLE_VARS if _is_kept_here(g, arg, var)]


def _kept_value(g, arg, var):
    """Where pre_run finds a variable that `priv` is to keep."""
    if var == VALUE and arg.kind == "out" and not g.has_value_in_pre(arg):
        return op_args.tensor_of(arg)
    return arg.name + var


def _write_beginning(g):
    """Writes the checks by tables, which come first, and declares the values of ln_op_begin."""
    struct = f"struct {g.op.optype}_priv"
    stored = [arg for arg in g.op.args if g.has_stored_value(arg)]
    size = f"sizeof({struct})" if g.has_priv() else "0"
    g.return_if(4, f"ln_op_begin(op_arg, {size})")
    if stored or "priv" in g.pre or _kept_here(g) or any(
            arg.variadic or is_converted_array(arg) for arg in g.op.args):
        g.out.line(4, f"{struct} *priv = op_arg->priv;")
    g.declare((local_type(arg, VALUE, "custom" in arg.fields), f"{arg.name} = priv->{arg.name}")
              for arg in stored)
    if "exec" in g.pre:
        g.out.line(4, "const tl_exec exec = ln_op_exec(op_arg);")


def _write_section(g, comment, pairs):
    """Writes lines below a comment, if there are any."""
    if pairs:
        g.out.print(f"    // {comment}\n")
    g.write_lines(4, pairs)


def write_last(g):
    """Writes the end of pre_run: scratch memory, custom code, data for reports."""
    fields = g.op.fields
    if "scratch" in fields:
        code = fields["scratch"]
        _write_section(g, "scratch memory", [(code, f"op_arg->scratch_size = {code.text};")])
    if "custom" in fields:
        g.out.snippet(4, fields["custom"])
    _write_section(g, "about a run", [(fields[key], f"op_arg->{key} = {fields[key].text};")
                                      for key in _ABOUT_RUN if key in fields])


def write_pre_run(g):
    """Writes the function that declares and checks the arguments and infers the outputs. Fails
    for a cycle of arguments whose declarations depend on each other."""
    for arg in g.op.args:
        op_args.write_name_func(g, arg)
    with g.function(f"void {g.op.optype}_pre_run(ln_op_arg *op_arg)"):
        _write_beginning(g)
        _write_steps(g)
        _write_section(g, "for the other functions",
                       [(None, f"priv->{arg.name}{var} = {_kept_value(g, arg, var)};")
                        for arg, var in _kept_here(g)])
        write_last(g)
