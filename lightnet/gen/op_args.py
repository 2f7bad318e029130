# SPDX-License-Identifier: Apache-2.0
"""Generates the declaration of an argument in pre_run: the checks and the value of an input or a
parameter; the shape and type of an output, and its entry in the table of tensors."""
from op_fields import BOUNDS, LEN_BOUNDS
from op_names import (COUNT, DIMS, DTYPE, ENTRY, NAME, NDIM, VALUE, is_converted_array, is_listed,
                      is_sized, local_type)

# Fields of a tensor, and what checks them where they are in no table.
_TENSOR_CHECKS = {"dtype": "dtype_eq", "ndim": "ndim", "len": "len"}


def tensor_of(arg):
    """The tensor of an output as C that names its entry."""
    entry = f"{arg.name}_entry"
    return f"{entry} ? {entry}->tensor : NULL" if arg.optional else f"{entry}->tensor"


def _has_any(arg, *keys):
    return any(key in arg.fields for key in keys)


def _declare_name(g, arg, tensors):
    g.out.line(4, f"const char *{arg.name}_name = "
                  f'ln_tensor_list_find_name(op_arg->{tensors}, "{arg.name}");')


def _find_variadic(g, arg, function):
    """Stores the tensors or entries of a variadic argument, and their number, in `priv`; declares
    those that code in pre_run names. Returns the head of a loop over them."""
    x = arg.name
    g.out.line(4, f'priv->{x}_n = {function}(op_arg, "{x}", &priv->{x}_entry, &priv->{x});')
    g.return_if(4, f"priv->{x}_n < 0")
    for var in (VALUE, ENTRY, COUNT):
        if g.names_in_pre(arg, var):
            g.out.line(4, f"{local_type(arg, var)}{x}{var} = priv->{x}{var};")
    return f"for (int i = 0; i < priv->{x}_n; i++)"


# Inputs


def _tensor_checks(g, arg, entry):
    """The checks of an input that are in no table, as pairs of a field or None and a line."""
    mtype = arg.text("mtype")
    if g.has_own_mtype(arg) and mtype != "LN_MEM_NONE":
        yield None, f"ln_opck_tensor_mtype_eq({entry}, {mtype});"
    for key, check in _TENSOR_CHECKS.items():
        if key in arg.fields and not is_listed(arg, key):
            code = arg.fields[key]
            yield code, f"ln_opck_tensor_{check}({entry}, {code.text});"


def _variadic_checks(g, arg, entry):
    """The checks of each of a variadic input's tensors, in the same form."""
    if not g.has_own_mtype(arg):
        yield None, f"ln_opck_tensor_on_target({entry});"
    if arg.dtypes:
        yield None, f"LN_OPCK_RETURN(ln_opck_dtypes(op_arg, {entry}, {arg.dtypes}));"
    yield from _tensor_checks(g, arg, entry)
    for key in ("sametype", "sameshape"):
        if key in arg.fields:
            yield None, f"ln_opck_tensor_is{key}({entry}, {arg.text(key)}_entry);"
    if arg.is_true("static"):
        yield None, f"ln_opck_tensor_isstatic({entry});"


def _is_owner(g, arg):
    """Whether an output is in the memory of that input."""
    return any(other.text("owner") == arg.name for other in g.op.args)


def _is_referenced_by_variadic(g, arg):
    """Whether the type or shape of a variadic input must be that of `arg`."""
    return any(other.variadic and arg.name in (other.text("sametype"), other.text("sameshape"))
               for other in g.op.args_of("in"))


def _write_input(g, arg):
    x = arg.name
    if arg.variadic:
        head = _find_variadic(g, arg, "ln_op_find_variadic")
        with g.block(4, head) as indent:
            g.write_lines(indent, _variadic_checks(g, arg, f"priv->{x}_entry[i]"))
        return
    checks = list(_tensor_checks(g, arg, f"{x}_entry"))
    if g.needs(arg, NAME) or _is_owner(g, arg):
        _declare_name(g, arg, "tensors_in")
    if (g.needs(arg, ENTRY) or checks or _is_referenced_by_variadic(g, arg)
            or (arg.optional and _has_any(arg, "check", "checks", "custom"))):
        g.out.line(4, f'ln_tensor_entry *{x}_entry = ln_op_find_input(op_arg, "{x}");')
    with g.block(4, f"if ({x}_entry)" if checks and arg.optional else None) as indent:
        g.write_lines(indent, checks)


# Parameters


def _computed(arg, keys):
    """Those bounds that are C, not a number, as pairs of the comparison and the field."""
    return [(cmp, arg.fields[key]) for cmp, key in zip(BOUNDS, keys)
            if key in arg.fields and arg.fields[key].kind != "number"]


def _bound_checks(arg):
    """The checks of a parameter that are in no table, as pairs of a field and a line."""
    array = "array_" if arg.is_array() else ""
    for cmp, bound in _computed(arg, LEN_BOUNDS):
        yield bound, f"ln_opck_param_array_len_{cmp}({arg.name}_entry, {bound.text});"
    for cmp, bound in _computed(arg, BOUNDS):
        check = f"ln_opck_param_{array}{arg.text('realtype')}_{cmp}"
        yield bound, f"{check}({arg.name}_entry, {bound.text});"


def _write_converted_string(g, arg, indent, declared, index):
    """Converts one string by from_func, and fails for one that it does not support: -1."""
    p, func, array = arg.name, arg.fields["from_func"], "array_" if index else ""
    value = f"{p}_entry->value_{array}string{index}"
    names = f"name_of_{g.op.optype}_{p}" if "name_func" in arg.fields else "NULL"
    g.out.line_of(indent, func, f"{declared} = {func.text}({value});")
    g.out.line(indent, f"LN_OPCK_RETURN((int){p}{index} == -1 && "
                       f'ln_op_fail_name(op_arg, "{p}", {value}, {names}));')


def _write_converted_array(g, arg):
    """Converts an array of strings to an array that `priv` owns."""
    p, node = arg.name, arg.fields["realtype"]
    length = f"{p}_entry->array_len"
    g.out.line_of(4, node, f"{node.text} *{p} = "
                           f"ln_alloc_array((size_t){length}, sizeof({node.text}));")
    g.fail_if(4, f"!{p}")
    g.out.line(4, f"priv->{p} = {p};")
    with g.block(4, f"for (int i = 0; i < {length}; i++)") as indent:
        _write_converted_string(g, arg, indent, f"{p}[i]", "[i]")


def _write_param(g, arg):
    """A value that equals the one of ln_op_begin is declared already."""
    p, checks = arg.name, list(_bound_checks(arg))
    if "from_func" in arg.fields or checks or g.needs(arg, ENTRY):
        g.out.line(4, f'ln_param_entry *{p}_entry = ln_param_list_find(op_arg->params, "{p}");')
    g.write_lines(4, checks)
    if is_converted_array(arg):
        _write_converted_array(g, arg)
    elif "from_func" in arg.fields:
        declared = local_type(arg, VALUE, "custom" in arg.fields) + p
        _write_converted_string(g, arg, 4, declared, "")


def write_name_func(g, arg):
    """Writes the function that returns the `i`th valid name of a parameter; none without
    "name_func"."""
    func = arg.fields.get("name_func")
    if func:
        # Its name is none that a kernel's own function is likely to have, as blend_mode_name.
        with g.function(f"const char *name_of_{g.op.optype}_{arg.name}(int i)"):
            g.out.line_of(4, func, f"return {func.text}(({arg.text('realtype')})i);")


# Outputs


class _Shape:
    """An output's shape and type: C expressions, or the variables that hold them. Declares those
    variables that code in pre_run names, and writes the custom code."""

    def __init__(self, g, arg, indent):
        self.g, self.arg, self.indent = g, arg, indent
        self.custom = arg.fields.get("custom")
        self.node = None  # where one of the expressions can be wrong, or None
        self.ndim, self.dims = None, "NULL"
        self.dtype = self._write_dtype()
        if not is_sized(arg):
            self.ndim = self._write_ndim()
            self.dims = self._write_dims()
        elif g.names_in_pre(arg, DIMS):
            # Custom code stores the kernel's own lengths: those that the expression cannot compute,
            # and others to compare.
            self.dims = f"{arg.name}_dims"
            self._line(None, f"int {self.dims}[LN_MAXDIM] = LN_NO_DIMS;")
        if self.custom:
            g.out.snippet(indent, self.custom)

    def _line(self, node, text):
        self.g.write_line(self.indent, node, text)

    def _value(self, var, ctype, node, text, is_needed=False):
        """An expression; or the variable that has its value, if that is needed."""
        if is_needed or self.g.names_in_pre(self.arg, var):
            const = "" if self.custom else "const "
            self._line(node, f"{const}{ctype}{self.arg.name}{var} = {text};")
            return self.arg.name + var
        self.node = self.node if self.g.is_plain(node) else node
        return text

    def _write_dtype(self):
        node, sametype = self.arg.fields.get("dtype"), self.arg.text("sametype")
        return self._value(DTYPE, "tl_dtype ", node, node.text if node else f"{sametype}->dtype")

    def _write_ndim(self):
        node, dims = self.arg.fields.get("ndim"), self.arg.fields.get("dims")
        if "sameshape" in self.arg.fields:
            node, text = None, f"{self.arg.text('sameshape')}->ndim"
        elif dims and dims.kind == "array":
            node, text = None, str(len(dims.items))
        else:
            text = node.text
        return self._value(NDIM, "int ", node, text, self.custom and not self.g.is_plain(node))

    def _write_dims(self):
        node, sameshape = self.arg.fields.get("dims"), self.arg.text("sameshape")
        is_named, x_dims = self.g.names_in_pre(self.arg, DIMS), f"{self.arg.name}_dims"
        if node and node.kind == "array":
            is_needed = node.items or is_named
            return self._write_dims_array(node, x_dims, is_named) if is_needed else "NULL"
        if not node and not sameshape:  # custom code sets it
            self._line(None, f"int *{x_dims} = NULL;")
            return x_dims
        source = f"{sameshape}->dims" if sameshape else node.text
        if is_named and self.custom:
            return self._write_dims_copy(node, x_dims, source)
        return self._value(DIMS, "int *", node, source)

    def _write_dims_array(self, dims, x_dims, is_named):
        """Declares x_dims as an array of items: with room for more where custom code may change
        it."""
        node = next((item for item in dims.items if not self.g.is_plain(item)), None)
        items = ", ".join(item.text for item in dims.items) or "0"
        declared = f"int {x_dims}[LN_MAXDIM]" if is_named and self.custom else (
            f"const int {x_dims}[]")
        self._line(node, f"{declared} = {{{items}}};")
        return x_dims

    def _write_dims_copy(self, node, x_dims, source):
        """Declares x_dims as a copy of `source`, which custom code may change."""
        if node and "->ndim" not in self.ndim:  # other tensors have no more dimensions than fit
            self._line(None, f"ln_opck_satisfy({self.ndim} >= 0 && {self.ndim} <= LN_MAXDIM);")
        self._line(None, f"int {x_dims}[LN_MAXDIM];")
        self._line(node, f"memcpy({x_dims}, {source}, sizeof(int) * (size_t){self.ndim});")
        return x_dims


def _needs_entry(g, arg):
    """Whether something names the entry or tensor of an output once it is defined."""
    return (arg.variadic or _has_any(arg, "len", "owner", "cleanup") or arg.is_true("static")
            or g.needs(arg, ENTRY) or g.has_value_in_pre(arg) or g.is_kept(arg, VALUE))


def _definition(g, arg, shape):
    """The call that defines an output."""
    x, mtype, is_list = arg.name, g.mtype(arg), is_sized(arg)
    if is_list:
        values = f"{shape.dtype}, {mtype}, {shape.dims}"
    else:
        values = f"{shape.ndim}, {shape.dims}, {shape.dtype}, {mtype}"
    if not arg.variadic:
        return f'ln_op_define_{"sized" if is_list else "output"}(op_arg, "{x}", {values})'
    suffix, index = ("_sized", ", i") if is_list else ("", "")
    return f'ln_op_define_variadic{suffix}(op_arg, &{x}_at, "{x}"{index}, {values})'


def _write_entry_settings(g, arg, entry, indent):
    """Writes the code that sets fields of a defined output's entry."""
    length, owner = arg.fields.get("len"), arg.text("owner")
    if length:
        g.write_line(indent, length, f"ln_opck_tensor_len({entry}, {length.text});")
    if arg.is_true("static"):
        g.out.line(indent, f"{entry}->isstatic = 1;")
    if owner:
        g.fail_if(indent,
                  f"ln_tensor_entry_set_owner({entry}, op_arg->tensor_table, {owner}_name)")


def _write_definition(g, arg, indent):
    """Writes the definition of one output, which is present."""
    shape = _Shape(g, arg, indent)
    call = _definition(g, arg, shape)
    entry = f"priv->{arg.name}_entry[i]" if arg.variadic else f"{arg.name}_entry"
    if not _needs_entry(g, arg):
        g.write_line(indent, shape.node, f"if (!{call})")
        g.out.line(indent + 4, "return;")
        return
    declared = "" if arg.variadic or arg.optional else "ln_tensor_entry *"
    g.write_line(indent, shape.node, f"{declared}{entry} = {call};")
    if "cleanup" in arg.fields:
        g.out.snippet(indent, arg.fields["cleanup"])
    g.return_if(indent, f"!{entry}")
    if arg.variadic:
        g.out.line(indent, f"priv->{arg.name}[i] = {entry}->tensor;")
    _write_entry_settings(g, arg, entry, indent)


def _write_output(g, arg):
    x, head = arg.name, None
    if arg.variadic:
        head = _find_variadic(g, arg, "ln_op_alloc_variadic")
        g.out.line(4, f"const ln_list *{x}_at = op_arg->tensors_out;")
    elif g.needs(arg, NAME):
        _declare_name(g, arg, "tensors_out")
    if arg.optional:
        head = f'if (ln_tensor_list_find_by_arg_name(op_arg->tensors_out, "{x}"))'
        if _needs_entry(g, arg):
            g.out.line(4, f"ln_tensor_entry *{x}_entry = NULL;")
    with g.block(4, head) as indent:
        _write_definition(g, arg, indent)
    if g.has_value_in_pre(arg) and not arg.variadic:
        g.out.line(4, f"tl_tensor *{x} = {tensor_of(arg)};")


_WRITERS = {"in": _write_input, "out": _write_output, "param": _write_param}


def write(g, arg):
    """Writes the declaration of an argument, and the definition of an output."""
    _WRITERS[arg.kind](g, arg)
