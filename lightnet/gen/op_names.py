# SPDX-License-Identifier: Apache-2.0
"""The operator being generated: which variables its code names, their types, lines of code.

Code names the variables of an argument `x`: `x`, `x_entry`, .. with the suffixes below. Each
function declares those that its code names. What a function after pre_run names, pre_run or
ln_op_begin keeps in the operator's private structure, `priv`.
"""
import contextlib
import functools
import re

import cgen
from op_fields import BOUNDS, LEN_BOUNDS, OP_FIELDS

# The suffixes of an argument's variables.
VALUE, ENTRY = "", "_entry"
NAME = "_name"  # not of parameters
COUNT = "_n"  # of variadic ones
NDIM, DIMS, DTYPE = "_ndim", "_dims", "_dtype"  # of outputs in pre_run
SINGLE_VARS = (VALUE, ENTRY, NAME)
PRIV_VARS = (*SINGLE_VARS, COUNT)  # those that `priv` may keep
ALL_VARS = (*PRIV_VARS, NDIM, DIMS, DTYPE)

# Fields with code: of an argument's declaration, of an output's, of functions after pre_run.
_DECLARING = ("dtype", "ndim", "dims", *LEN_BOUNDS, *BOUNDS)
_DEFINING = (*_DECLARING, "custom", "cleanup")
_LATER = ("static_run", "static_call", "run", "call", "post_run", "calc_offset", "targets")
_LAST = tuple(key for key, spec in OP_FIELDS.items() if spec.is_last)  # at the end of pre_run

# What follows the name of an argument in C without possible errors.
_PLAIN_MEMBERS = r"(?:_entry)?(?:->(?:dtype|ndim|len|dims|array_len|dims\[[0-9]\]))?"


# Words in code


def code_words(*nodes):
    """The identifiers in those of the values that are strings, and in the items of others."""
    found = set()
    for node in filter(None, nodes):
        found |= cgen.words(node.text) if node.kind == "string" else code_words(*node.items)
    return found


def _field_words(described, *keys):
    return code_words(*map(described.fields.get, keys))


def declaration_words(arg):
    """The words in the code of an argument's declaration."""
    return _field_words(arg, *(_DEFINING if arg.kind == "out" else _DECLARING))


def last_words(op):
    """The words in the code of `op` at the end of pre_run."""
    return _field_words(op, *_LAST)


# Arguments


def is_custom(arg, var):
    """Whether the custom code of an output sets its variable instead of the fields."""
    return arg.kind == "out" and arg.name + var in _field_words(arg, "custom")


def is_sized(arg):
    """Whether the lengths of an output are an expression."""
    return "sizes" in arg.fields or ("sameshape" in arg.fields and not is_custom(arg, DIMS)
                                     and not is_custom(arg, NDIM))


def is_listed(arg, key):
    """Whether a field of an input or parameter is in a table, and checked by ln_op_begin."""
    node = arg.fields.get(key)
    if key == "dtype":
        return arg.dtypes is not None
    if not node or node.kind != "number" or arg.variadic:
        return False
    return node.number > 0 if key == "ndim" else key != "len" or arg.kind == "param"


def is_stored(arg):
    """Whether ln_op_begin stores the argument's tensor or value in `priv`, if that has a member."""
    return arg.kind != "out" and not arg.variadic and "from_func" not in arg.fields


def is_string(arg):
    """Whether it is a string or an array of strings."""
    return arg.ptype in ("string", "array_string")


def is_converted_array(arg):
    """Whether it is an array of strings that from_func converts: `priv` owns the values."""
    return arg.ptype == "array_string" and "from_func" in arg.fields


# Functions of an operator


def has_pre_run(op):
    """Whether the operator has its own pre_run, not that of its base."""
    return not op.base or any(key in op.fields for key in _LAST)


def run_code(op, name):
    """The statements of 'run' or 'static_run', or the call instead of these; None: neither."""
    return op.fields.get(name) or op.fields.get(name.replace("run", "call"))


def has_post_run(op):
    """Whether the operator has its own post_run: code, or arrays to free."""
    return "post_run" in op.fields or any(arg.variadic or is_converted_array(arg)
                                          for arg in op.args)


# Types, each to be followed by a name


def _param_type(arg):
    realtype = "ln_bool" if arg.value_kind == "bool" else arg.text("realtype")
    if is_converted_array(arg):
        return f"const {realtype} *"
    if arg.ptype == "array_string":
        return "char *const *"
    if arg.ptype == "null":
        return "const void *"
    if arg.ptype == "string" and not realtype:
        return "const char *"
    return f"const {realtype} *" if arg.is_array() else f"{realtype} "


def kept_type(arg, var):
    """The C type of a variable that `priv` keeps."""
    stars, const = "**" if arg.variadic else "*", "const " if arg.kind == "in" else ""
    if var == VALUE:
        return _param_type(arg) if arg.kind == "param" else f"{const}tl_tensor {stars}"
    if var == ENTRY:
        return "ln_param_entry *" if arg.kind == "param" else f"ln_tensor_entry {stars}"
    return "const char *" if var == NAME else "int "


def local_type(arg, var, may_change=False):
    """The C type of that variable in a function: const unless the function's code changes it."""
    kept = kept_type(arg, var)
    return kept if "*" in kept or may_change else f"const {kept}"


class Generator:
    """An operator that is written to `out`."""

    def __init__(self, out, op, has_docs):
        self.out, self.op = out, op
        self.has_docs = has_docs  # the documentation becomes part of the information
        base = op.base_or_self()
        self.pre = last_words(base)  # the words in all code of pre_run
        for arg in base.args:
            self.pre |= declaration_words(arg) | _field_words(arg, "check", "checks", "custom")
        self.later = _field_words(base, *_LATER)  # those of the other functions

    # Variables

    def names_in_pre(self, arg, var):
        """Whether code in pre_run names the variable."""
        return arg.name + var in self.pre

    def is_kept(self, arg, var):
        """Whether `priv` must keep the variable for a later function."""
        return arg.name + var in self.later

    def needs(self, arg, var):
        """Whether any code names the variable, so that pre_run declares it."""
        return self.names_in_pre(arg, var) or self.is_kept(arg, var)

    def has_value_in_pre(self, arg):
        """Whether pre_run needs the variable `x` of argument x: code names it, or an output has
        the type or shape of that tensor."""
        return self.names_in_pre(arg, VALUE) or arg.kind != "param" and any(
            other.text("sametype") == arg.name
            or (other.text("sameshape") == arg.name and not is_sized(other))
            for other in self.op.args_of("out"))

    def has_stored_value(self, arg):
        """Whether pre_run needs the value that ln_op_begin stored."""
        return is_stored(arg) and self.has_value_in_pre(arg)

    def is_member(self, arg, var):
        """Whether `priv` has a member for the variable."""
        if arg.variadic:
            return var in (VALUE, ENTRY, COUNT)
        is_value = var == VALUE and (is_converted_array(arg) or self.has_stored_value(arg))
        return is_value or self.is_kept(arg, var)

    def members(self):
        """The members of `priv` for variables, as pairs of an argument and a suffix."""
        return [(arg, var) for arg in self.op.args for var in PRIV_VARS if self.is_member(arg, var)]

    def has_priv(self):
        """Whether the operator has a private structure."""
        return bool("extra_privs" in self.op.fields or "priv" in self.pre | self.later
                    or self.members())

    # Memory types

    def has_own_mtype(self, arg):
        """Whether a tensor has its own memory type, not that of the operator."""
        return arg.fields.get("mtype") is not self.op.fields.get("mtype")

    def mtype(self, arg):
        """The memory type of a tensor, as C: `op_arg->mtype` if it differs among the users of
        pre_run."""
        differs = "targets" in self.op.fields and not self.has_own_mtype(arg)
        return "op_arg->mtype" if differs else arg.text("mtype")

    # Lines

    @functools.cached_property
    def _plain(self):
        args = "|".join(arg.name for arg in self.op.args) or "(?!)"
        return re.compile(rf'LN_MAXDIM|TL_\w*|"[^"\\]*"|(?:{args}){_PLAIN_MEMBERS}', re.ASCII)

    def is_plain(self, node):
        """Whether a field is C without possible errors: a number, a name of an argument, a member
        of a tensor, a data type, which is checked already; or None."""
        return not node or node.kind != "string" or bool(self._plain.fullmatch(node.text))

    def write_line(self, indent, node, text):
        """A line that holds the expression of `node`; with a #line directive if the expression can
        have errors. `node` None: a line of the generator's own."""
        if self.is_plain(node):
            self.out.line(indent, text)
        else:
            self.out.line_of(indent, node, text)

    def write_lines(self, indent, pairs):
        """Lines, each given with the node that it has."""
        for node, text in pairs:
            self.write_line(indent, node, text)

    def declare(self, variables):
        """Declares variables, given as pairs of a type and a name with what follows that: on one
        line those of one type."""
        lines = {}
        for kept, name in variables:
            base, star, rest = kept.partition("*")
            lines.setdefault(base, []).append(star + rest + name)
        for base, names in lines.items():
            self.out.line(4, f"{base}{', '.join(names)};")

    def return_if(self, indent, condition):
        """Leaves a function, which has failed."""
        self.out.line(indent, f"if ({condition})")
        self.out.line(indent + 4, "return;")

    def fail_if(self, indent, condition):
        """Leaves a function with the thread's last error."""
        with self.block(indent, f"if ({condition})") as inner:
            self.out.line(inner, "ln_op_fail_last(op_arg);")
            self.out.line(inner, "return;")

    @contextlib.contextmanager
    def block(self, indent, head):
        """What the `with` statement writes becomes a block with that head; None: no block. Yields
        the indentation of its lines."""
        if head:
            self.out.line(indent, f"{head} {{")
        yield indent + 4 if head else indent
        if head:
            self.out.line(indent, "}")

    @contextlib.contextmanager
    def function(self, head):
        """What the `with` statement writes becomes the body of a static function."""
        self.out.print(f"static {head}\n{{\n")
        yield
        self.out.print("}\n\n")
