# SPDX-License-Identifier: Apache-2.0
"""Rules as C: comments, texts, names and values; patterns."""
import re

from cgen import COLUMNS, is_identifier, names, quote

MAX_NDIM = 8  # LN_MAXDIM

LITERALS = ("string", "number", "bool", "null", "strings", "numbers", "bools")

# The C of items of literals, and the types of their arrays.
_ITEMS = {"string": quote, "number": str, "bool": lambda text: f"LN_{text.upper()}"}
_ARRAYS = {"strings": "const char *const", "numbers": "const double", "bools": "const ln_bool"}


def kind_of(rule):
    """What kind of function the rule becomes: 'expander', 'combiner' or 'subgraph'."""
    if rule.adjacent:
        return "combiner"
    return "expander" if len(rule.match) == 1 else "subgraph"


def is_plain(param):
    """Whether the text of a rule can contain the parameter's value, for ln_rule_read_value."""
    if not param.arg_name:
        return True
    if param.type in ("number", "numbers"):
        return len(param.items) <= MAX_NDIM and all(
            re.fullmatch("-?[0-9]{1,9}", item) for item in param.items)
    if param.type == "string":
        text = param.items[0]
        return is_identifier(text) and text not in ("true", "false", "null")
    return param.type in ("bool", "null", "param")


def param_text(param):
    """Such a parameter in a text: `PARAM=VALUE`, or `OPERATOR.*`."""
    if not param.arg_name:
        return f"{param.op}.*"
    if param.type == "param":
        return f"{param.arg_name}={param.op}.{param.param}"
    items = ", ".join(param.items)
    return f"{param.arg_name}=" + (f"[{items}]" if param.type == "numbers" else items)


def c_value(param):
    """The C arguments for a parameter's literal value, each after ", "."""
    item = _ITEMS.get(param.type.rstrip("s"))
    if not item:
        return ""
    items = ", ".join(map(item, param.items))
    if param.type not in _ARRAYS:
        return f", {items}"
    return f", {len(param.items)}, ({_ARRAYS[param.type]}[]){{{items}}}"


class Writer:
    """Writes a rule to `out`."""

    def __init__(self, rules, rule, out):
        self.rules, self.rule, self.out = rules, rule, out

    def comment(self, text):
        """Appends a comment of as many lines as it needs."""
        *words, last = text.split()
        lines = ["/*"]
        for word in (*words, f"{last} */"):
            if len(lines[-1]) + 1 + len(word) > COLUMNS:
                lines.append("  ")
            lines[-1] += f" {word}"
        self.out.print("\n".join(lines) + "\n")

    def strings(self, begin, texts, end, mark=""):
        """Appends texts as one C string, each on its own line, the first after `begin`, and then
        `end`. `mark` is C that ends each of them."""
        text = f"\n{' ' * len(begin)}".join(f'{quote(text)[:-1]}{mark}"' for text in texts)
        for line in f"{begin}{text}{end}".split("\n"):
            self.out.line(0, line)

    def locals(self, code):
        """Declares the operators and tensors of `m` that C code of the description names, and
        `ctx`. Returns whether there are any."""
        members = {
            "ln_context": {"ctx": "ctx"},
            "ln_op": {op.name: f"ops[{self.rule.order.index(op)}]" for op in self.rule.match},
            "ln_tensor_entry": {tensor.name: f"tensors[{tensor.index}]"
                                for tensor in self.rule.tensors if not tensor.fresh},
        }
        declared = False
        for c_type, of_type in members.items():
            variables = [f"*const {name} = m->{member}"
                         for name, member in of_type.items() if names(code, name)]
            if variables:
                self.out.line(4, f"const {c_type} {', '.join(variables)};")
                declared = True
        return declared

    # Conditions

    def _param_tests(self):
        """The parameters of the pattern whose values a text cannot express, with operators."""
        return [(op, param) for op in self.rule.match for param in op.params
                if not is_plain(param)]

    def has_conditions(self):
        """Whether a match depends on more than the rule's table."""
        return bool(self._param_tests() or self.rule.when)

    def conditions(self):
        """Appends `refuses_RULE`, which checks them."""
        when = self.rule.when
        self.out.line(0, f"static int refuses_{self.rule.name}(const ln_rule_match *m)")
        self.out.print("{\n")
        if not self.locals(";".join(node.text for node in when)) and when:
            self.out.line(4, "(void)m;")
        for op, param in self._param_tests():
            self.out.line(4, f"if (!ln_op_has_{param.type}(m->ops[{self.rule.order.index(op)}], "
                             f'"{param.arg_name}"{c_value(param)}))')
            self.out.line(8, "return LN_RULE_DIFFERS;")
        for number, node in enumerate(when, 1):
            self.out.line_of(4, node, f"if (!({node.text}))")
            self.out.line(8, f"return {number};")
        self.out.line(4, "return 0;")
        self.out.print("}\n\n")

    # The pattern

    def pattern(self, begin, end):
        """Appends the fields of the rule's table for its pattern, between `begin` and `end`."""
        rule = self.rule
        removed = ", ".join(f"{tensor.name} {tensor.reads}"
                            for tensor in rule.tensors if tensor.removed)
        fields = (
            (removed, f'.removed = "{removed}"'),
            (rule.nexchange, f".swaps = {rule.nexchange}"),
            (rule.dynamic, ".sizes = LN_RULE_OPEN"),
            (rule.batch and not rule.dynamic, ".sizes = LN_RULE_OPEN_BATCH"),
            (rule.wide, ".wide = true"),
            (self.has_conditions(), f".refuses = refuses_{rule.name}"),
        )
        self.out.line(0, ", ".join([begin, *(text for has, text in fields if has)]) + ",")
        if rule.when and not self.rules.of_operator:
            texts = (" ".join(node.text.split()) for node in rule.when)
            self.strings("    .when = ", texts, ",", mark="\\0")
        self.strings("    .match = ", [self._op_text(i) for i in range(len(rule.order))], end)

    def _op_text(self, index):
        op = self.rule.order[index]
        through = self._found_through(index)
        params = ", ".join(param_text(param) for param in op.params if is_plain(param))
        return (f"{through}=" if through else "") + (
            f"{_head(op)}({_group(op.ins, op.any_in)} |{_group(op.outs, op.any_out)}"
            f"{' |' if params else ''}{params});")

    def _found_through(self, index):
        """The tensor through which an operator is found: its output that an operator found earlier
        reads."""
        if self.rule.adjacent:
            return None
        outputs = {arg.tensor for arg in self.rule.order[index].outs}
        return next((arg.tensor for op in self.rule.order[:index] for arg in op.ins
                     if arg.tensor in outputs), None)


def _head(op):
    """`OPTYPE [keep] [NAME]`, or `{OPTYPE|..} [keep] NAME`."""
    optypes = "|".join(op.optypes)
    text = f"{{{optypes}}}" if len(op.optypes) > 1 else optypes
    if op.keep:
        return f"{text} keep {op.name}"
    return text if text == op.name else f"{text} {op.name}"


def _group(args, has_more):
    """The arguments of an operator, and `*` if it may have others."""
    text, between = "", ""
    for arg in args:
        text += f"{between}{arg.arg_name}{'?' if arg.optional else ''}={arg.tensor}"
        between = " <-> " if arg.exchange else ", "
    return f"{text}{between}*" if has_more else text
