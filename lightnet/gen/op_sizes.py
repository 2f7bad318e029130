# SPDX-License-Identifier: Apache-2.0
"""Compiles the expressions of "sizes" and "values" to code (lightnet/ln_size.h).

    sizes   = item {"," item}                                           values = expr
    item    = expr ["for" "k" "in" (expr | NAME) ["if" expr]] | shape | "[" "]"
            | "broadcast" "(" shape {"," shape} ")" | "reshape" "(" NAME "," NAME ")"
    shape   = NAME | NAME "[" [expr] ":" [expr] "]" | NAME "{" "}"      an input or array parameter
    expr    = primary, operators of _LEVELS, "?" ":" and "in" NAME
    primary = NUMBER | CONSTANT_OF_C | "k" | "i" | "part" | "unknown" | NAME | NAME "[" expr "]"
            | NAME "{" expr "}" | NAME "." ("ndim" | "len" | "count") | NAME ("==" | "!=") WORD
            | ("product" | "sum") "(" shape ")" | FUNCTION "(" (NAME | expr) {"," expr} ")"
            | ("-" | "!") primary | "(" expr ")"                        FUNCTION: of _FUNCTIONS
"""
import re


MAX_CODES = 160
MAX_NUMBER = 32767  # as the end of a span: up to the last axis

_MEMBERS = {"in": {"ndim": "NDIM", "len": "LEN", "count": "COUNT"}, "param": {"len": "ITEMS"}}

_FUNCTIONS = {  # the code, the min and max number of lengths, whether an argument precedes these
    "min": ("MIN", 2, 2, False), "max": ("MAX", 2, 2, False), "slice": ("SLICE", 4, 4, False),
    "at": ("AT", 1, 1, True), "below": ("BELOW", 1, 1, True), "total": ("TOTAL", 1, 1, True),
    "sqrt": ("SQRT", 1, 1, False), "has": ("HAS", 0, 0, True), "scale": ("SCALE", 2, 2, True),
    "data": ("DATA", 1, 2, False),
}
_FOLDS = {"product": "PRODUCT", "sum": "SUM"}  # of a shape
_OPERANDS = {"k": "LOOP", "i": "INDEX", "part": "PART", "unknown": "UNKNOWN"}
_NAMES = {**_FUNCTIONS, **_FOLDS, **_OPERANDS}

# Binary operators, the loosest first: their codes, and whether the operands are exchanged. Those of
# two characters precede those that they begin with.
_LEVELS = (
    {"||": (("OR",), False)},
    {"&&": (("AND",), False)},
    {"<=": (("LT", "NOT"), True), ">=": (("LT", "NOT"), False), "==": (("EQ",), False),
     "!=": (("EQ", "NOT"), False), "<": (("LT",), False), ">": (("LT",), True)},
    {"+": (("ADD",), False), "-": (("SUB",), False)},
    {"*": (("MUL",), False), "/": (("DIV",), False), "%": (("MOD",), False)},
)
_COMPARISONS = 2  # of these levels


def _code(op, arg=0, n=0):
    """The code of one operation: "ADD" of LN_SIZE_ADD, an index, a number or a constant of C."""
    return [(op, arg, n)]


def _whole(index, what):
    """A shape from the first to the last axis; `what`: 0 of an input, 1 of the items of a
    parameter, 2 of the values of an input."""
    return _code("NUMBER") + _code("NUMBER", 0, MAX_NUMBER) + _code("SHAPE", index, what)


def _is_shape(code):
    """Whether an operand is a shape, which only a list of axes may contain."""
    return code[-1][0] == "SHAPE"


def _negated(code):
    op, arg, n = code[-1]
    if op == "NUMBER" and isinstance(n, int):
        return code[:-1] + _code(op, arg, -n)
    return code + _code("NEG")


class _Compiler:
    """Reads expressions; the methods for their parts return code."""

    def __init__(self, op, node, words):
        self.op, self.words = op, words
        self.lexer = op.lexer(node)

    def _no_shape(self, code):
        if _is_shape(code):
            raise self.lexer.fail("found a shape, expected a length")
        return code

    def _length(self):
        """An expression that is no shape."""
        return self._no_shape(self._expr())

    # Arguments

    def _index(self, arg):
        return self.op.args_of(arg.kind).index(arg)

    def _find_argument(self):
        return self.op.find_arg(self.lexer.text) if self.lexer.kind == "name" else None

    def _argument(self, arg):
        lexer, index, is_param = self.lexer, self._index(arg), arg.kind == "param"
        if arg.kind == "out":
            raise lexer.fail(f"'{arg.name}' is an output, expected an input or a parameter")
        lexer.next()
        if arg.ptype == "string":
            return self._word(index)
        if lexer.accept("["):
            return self._indexed(index, is_param)
        if lexer.accept("{"):
            return self._value(index)
        if lexer.accept("."):
            return self._member(arg.kind, index)
        is_number = is_param and not arg.is_array()
        return _code("PARAM", index) if is_number else _whole(index, int(is_param))

    def _word(self, index):
        """PARAM == WORD, PARAM != WORD"""
        lexer = self.lexer
        is_not = lexer.accept("!")
        for _ in "=" if is_not else "==":
            lexer.expect("=")
        if lexer.kind not in ("name", "string"):
            raise lexer.unexpected("a value of the parameter")
        if lexer.text not in self.words:
            self.words.append(lexer.text)
        code = _code("IS", index, self.words.index(lexer.text))
        lexer.next()
        return code + _code("NOT") if is_not else code

    def _indexed(self, index, is_param):
        """NAME[expr], NAME[from:to]"""
        code = self._bound(":", 0)
        if self.lexer.accept(":"):
            code += self._bound("]", MAX_NUMBER) + _code("SHAPE", index, int(is_param))
        else:
            code += _code("ITEM" if is_param else "AXIS", index)
        self.lexer.expect("]")
        return code

    def _bound(self, end, default):
        """A length up to a character, which may be left out."""
        return _code("NUMBER", 0, default) if self.lexer.kind == end else self._length()

    def _value(self, index):
        """NAME{expr}, NAME{}: all elements"""
        if self.lexer.accept("}"):
            return _whole(index, 2)
        code = self._length()
        self.lexer.expect("}")
        return code + _code("VALUE", index)

    def _member(self, kind, index):
        """NAME.ndim, NAME.len, NAME.count"""
        op = _MEMBERS[kind].get(self.lexer.text)
        if not op or self.lexer.kind != "name":
            raise self.lexer.unexpected("ndim, len or count of an input, or len of an array")
        self.lexer.next()
        return _code(op, index)

    # Functions

    def _call(self, op, least, most, has_arg):
        """FUNCTION([NAME,] expr, ..): `least` to `most` expressions; n: how many are left out."""
        lexer, index = self.lexer, 0
        lexer.expect("(")
        if has_arg:
            arg = self._find_argument()
            if not arg:
                raise lexer.unexpected("an argument")
            lexer.next()
            index = self._index(arg)
        operands = []
        while len(operands) < least or not lexer.accept(")"):
            if len(operands) == most:
                raise lexer.unexpected("')'")
            if operands or has_arg:
                lexer.expect(",")
            operands.append(self._length())
        return sum(operands, []) + _code(op, index, most - len(operands))

    def _shape_as(self, op):
        """Another operation on a shape."""
        code = self._expr()
        if not _is_shape(code):
            raise self.lexer.fail("found a length, expected a shape")
        return code[:-1] + _code(op, *code[-1][1:])

    def _shapes_as(self, op, accepts_list=False):
        """The same for the shapes between parentheses."""
        self.lexer.expect("(")
        code = self._shape_as(op)
        while accepts_list and self.lexer.accept(","):
            code += self._shape_as(op)
        self.lexer.expect(")")
        return code

    # Expressions

    def _name(self):
        name, arg = self.lexer.text, self._find_argument()
        if arg:
            return self._argument(arg)
        if name not in _NAMES and not re.fullmatch("[A-Z0-9_]+", name):
            raise self.lexer.unexpected("an argument, a function, k or i")
        self.lexer.next()
        if name in _FUNCTIONS:
            return self._call(*_FUNCTIONS[name])
        if name in _FOLDS:
            return self._shapes_as(_FOLDS[name])
        return _code(_OPERANDS[name]) if name in _OPERANDS else _code("NUMBER", 0, name)

    def _number(self):
        number = self.lexer.number
        self.lexer.next()
        if number != int(number) or number > MAX_NUMBER:
            raise self.lexer.fail(f"found {number:g}, expected an integer up to {MAX_NUMBER}")
        return _code("NUMBER", 0, int(number))

    def _primary(self):
        lexer = self.lexer
        if lexer.kind == "number":
            return self._number()
        if lexer.kind == "name":
            return self._name()
        if lexer.accept("("):
            code = self._length()
            lexer.expect(")")
            return code
        if lexer.accept("-"):
            return _negated(self._no_shape(self._primary()))
        if lexer.accept("!"):
            return self._no_shape(self._primary()) + _code("NOT")
        raise lexer.unexpected("an expression")

    def _accept_operation(self, level):
        """Skips the operator of this level that comes next, and returns what it is."""
        lexer = self.lexer
        for text, operation in _LEVELS[level].items():
            if lexer.kind == text[0] and lexer.scan.text.startswith(text[1:], lexer.scan.at):
                for _ in text:
                    lexer.next()
                return operation
        return None

    def _level(self, level):
        """Operators of this level, and of those that bind tighter."""
        if level == len(_LEVELS):
            return self._primary()
        code = self._level(level + 1)
        operation = None if _is_shape(code) else self._accept_operation(level)
        while operation:
            ops, is_swapped = operation
            second = self._no_shape(self._level(level + 1))
            code = second + code if is_swapped else code + second
            code += [(op, 0, 0) for op in ops]
            operation = self._accept_operation(level)
        if level == _COMPARISONS and not _is_shape(code) and self.lexer.accept_word("in"):
            code += self._in()
        return code

    def _in(self):
        arg = self._find_argument()
        if not arg or not arg.is_array():
            raise self.lexer.unexpected("a parameter that is an array")
        self.lexer.next()
        return _code("IN", self._index(arg))

    def _expr(self):
        code = self._level(0)
        if not _is_shape(code) and self.lexer.accept("?"):
            code += self._length()
            self.lexer.expect(":")
            code += self._length() + _code("SELECT")
        return code

    # Lists of axes

    def _loop(self, body):
        """for k in COUNT [if CONDITION]: COUNT FOR [CONDITION IF] BODY EMIT NEXT."""
        lexer = self.lexer
        if not lexer.accept_word("k") or not lexer.accept_word("in"):
            raise lexer.unexpected("k in ..")
        code, condition = self._expr(), []
        if _is_shape(code):  # as many as it has axes
            _, arg, what = code[-1]
            if what > 1 or code != _whole(arg, what):
                raise lexer.fail("'k in' has a span or values, expected only a name")
            code = _code("ITEMS" if what else "NDIM", arg)
        if lexer.accept_word("if"):
            condition = self._length() + _code("IF", 0, len(body) + 1)
        n = len(condition) + len(body) + 1
        code += _code("FOR", 0, n + 1) + condition + body
        return code + _code("EMIT") + _code("NEXT", 0, n)

    def _reshape(self):
        lexer, args = self.lexer, []
        for before in "(,":
            lexer.expect(before)
            args.append(self._find_argument())
            lexer.next()
        src, dims = args
        if not src or src.kind != "in" or not dims or not dims.is_array():
            raise lexer.fail("reshape of an input and a parameter that is an array is expected")
        lexer.expect(")")
        return _code("RESHAPE", self._index(src), self._index(dims))

    def _item(self):
        lexer = self.lexer
        if lexer.accept("["):  # a scalar has no axes
            lexer.expect("]")
            return []
        if lexer.accept_word("reshape"):
            return self._reshape()
        if lexer.accept_word("broadcast"):
            return self._shapes_as("BROADCAST", accepts_list=True)
        code = self._expr()
        if _is_shape(code):
            return code
        return self._loop(code) if lexer.accept_word("for") else code + _code("EMIT")

    def compile(self, is_list):
        """The code of one length, or of a list of axes."""
        lexer, code = self.lexer, []
        while lexer.kind != "end":
            code += self._item() if is_list else self._length()
            if lexer.kind != "end" and not is_list:
                raise lexer.unexpected("the end of the expression")
            if lexer.kind != "end":
                lexer.expect(",")
        if len(code) > MAX_CODES:
            raise lexer.fail("the expression is too long")
        return code


def write_sizes(g, node, is_list, words):
    """Writes the code of an expression (`is_list`: of a list of axes), up to its end, as a line of
    a table. Adds the words to `words` that the operator's parameters are compared with."""
    code = _Compiler(g.op, node, words).compile(is_list) + _code("END")
    g.out.line(4, ", ".join(f"{{LN_SIZE_{op}, {arg}, {n}}}" for op, arg, n in code) + ",")
