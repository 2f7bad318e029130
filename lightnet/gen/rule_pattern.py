# SPDX-License-Identifier: Apache-2.0
"""Reads the operators of patterns and replacements, tests and examples, with their positions.

They are in an extension of the syntax of IL. In the functions, `node` is the string that is read,
and messages begin with `subject` after the place.
"""
import re

from lexer import Lexer
from rjson import Value
from rule_types import Data, Example, Hint, RuleArg, RuleOp, RuleParam, RuleTest, Size
from scan import BLANKS

MAX_SIZE = 1000000
MAX_COUNT = 1000  # of equal elements in an example

_WORDS = {"true": "bool", "false": "bool", "null": "null"}  # the types of literals that are words
_CODES = ("string", "number", "bool", "ints", "numbers")
_OUTCOMES = ("unchanged", "within", "as")

_DECIMAL = re.compile("[-+.0-9eE]+")
_PART = re.compile(BLANKS.pattern + "[=(]")  # what follows a name that begins a part of a test
_C_TOKEN = re.compile(r""" "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'? | . """, re.X | re.S)


def operators(node, subject):
    """Reads all operators of a pattern or a replacement,

    [keep] [NAME:] OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);
    """
    return _Reader(node, subject).all()


def tests(node, subject):
    """Reads all tests of a rule,

    OPERATOR(ARG=TENSOR, .. | .. | PARAM=VALUE, ..), ..,
    TENSOR=[const] DTYPE [DIM, ..] [in LOW .. HIGH], .., SIZE=MIN .. MAX, ..
    [unchanged] [within TOLERANCE] [as PRECISION];
    """
    return _TestReader(node, subject).all()


def examples(node, subject):
    """Reads all examples of an operator,

    ["DOC":] (ARG=[DTYPE] [DIMS] {DATA}, .. | .. | PARAM=VALUE, ..) [within N | fails "MESSAGE"];
    """
    return _ExampleReader(node, subject).all()


class _Reader(Lexer):
    """Reads operators, and what their arguments are made of."""
    may_be_empty = False  # arrays
    has_sizes = False  # words in arrays of numbers are sizes

    def all(self):
        """All items until the end."""
        items = []
        while self.kind != "end":
            items.append(self.item())
        return items

    # Tokens

    def skip(self, tokens, expected):
        """Skips these characters, the first of which is the current token."""
        for token in tokens:
            if not self.accept(token):
                raise self.unexpected(expected)

    def word(self, expected):
        """Skips an identifier; returns it."""
        if self.kind != "name":
            raise self.unexpected(expected)
        return self.take()

    def at_number(self):
        """Whether a number is next."""
        return self.kind in ("number", "-")

    def decimal(self):
        """Skips a number; returns its text. Not "0x1p3", not "inf"."""
        sign = "-" if self.accept("-") else ""
        if self.kind != "number" or not _DECIMAL.fullmatch(self.text):
            raise self.unexpected("a decimal number")
        return sign + self.take()

    # Values

    def _literal(self):
        """The type and the text of one literal."""
        if self.kind == "string":
            return "string", self.take()
        if self.at_number():
            return "number", self.decimal()
        text = self.word("a value")
        return _WORDS.get(text, "string"), text

    def _array(self):
        """The type and the texts of the elements up to ']'."""
        kinds, items = set(), []

        def read_element():
            place = self.place
            kind, item = self._literal()
            kinds.add(kind)
            is_mixed = len(kinds) > 1 and not (self.has_sizes and kinds == {"string", "number"})
            if is_mixed or kind == "null":
                raise self.fail("the elements of an array must be all numbers, all "
                                "strings or all bools", place)
            items.append(item)

        if self.kind == "]" and not self.may_be_empty:
            raise self.unexpected("a value")
        self.list("]", read_element)
        return ("numbers" if "number" in kinds or not kinds else f"{kinds.pop()}s"), items

    def _code(self):
        """C after the current parenthesis, up to its closing one, as a Value."""
        scan, depth = self.scan, 1
        scan.blanks()
        place, start, end = scan.place(), scan.at, len(scan.text)
        for found in _C_TOKEN.finditer(scan.text, start):
            depth += (found[0] == "(") - (found[0] == ")")
            if depth == 0:
                end = found.start()
                break
        scan.at = end
        self.next()
        self.skip(")", "')' at the end of a C expression")
        return Value(place, "string", scan.text[start:end])

    def _value(self, param):
        """Reads the value of a parameter."""
        if self.accept("["):
            param.type, param.items = self._array()
            return
        is_name = self.kind == "name"
        param.type, text = self._literal()
        if is_name and text in _CODES and self.kind == "(":
            param.type, param.place = f"code_{text}", self._code()
        elif is_name and self.accept("."):
            param.type, param.op = "param", text
            param.param = self.word("the name of a parameter after '.'")
        else:
            param.items = [text]

    # Arguments

    def _input_source(self, arg):
        """Reads the tensor of an input, or returns the Value that it is a constant of."""
        if self.at_number():
            return Value(self.place, "string", self.decimal())
        arg.tensor = self.word("the name of a tensor")
        return self._code() if arg.tensor == "number" and self.kind == "(" else None

    def _arg(self, op, args):
        """Reads `ARG=TENSOR`, `ARG?=TENSOR` or `OPERATOR.*`. An input that is a constant becomes a
        parameter."""
        arg, constant = RuleArg(self.place), None
        name = self.word("an argument")
        if self.accept("."):
            arg.op = name
            self.skip("*", "'*' after an operator and '.'")
        else:
            arg.arg_name, arg.optional = name, self.accept("?")
            self.skip("=", "'=' after an argument")
            if args is op.ins:
                constant = self._input_source(arg)
            else:
                arg.tensor = self.word("the name of a tensor")
        if constant:
            op.params.append(RuleParam(constant, name, "code_input"))
        else:
            arg.exchange = int(self.kind == "<")
            args.append(arg)

    def _args(self, op, args, flag):
        """Reads `*`, an argument, or several with `<->` between them."""
        if self.accept("*"):
            setattr(op, flag, True)
            return
        self._arg(op, args)
        while self.kind == "<":
            self.skip("<->", "'<->' between arguments")
            self._arg(op, args)

    def _input(self, op):
        self._args(op, op.ins, "any_in")

    def _output(self, op):
        self._args(op, op.outs, "any_out")

    def _param(self, op):
        """Reads `PARAM=VALUE` or `OPERATOR.*`."""
        param = RuleParam(self.place)
        name = self.word("a parameter")
        if self.accept("."):
            param.op = name
            self.skip("*", "'*' after an operator and '.'")
        else:
            param.arg_name = name
            self.skip("=", "'=' after a parameter")
            self._value(param)
        if (param.arg_name, param.type) == ("only_if", "code_bool"):
            op.only_if = param.place
        else:
            op.params.append(param)

    def arguments(self, op, expected):
        """Reads the three groups between the parentheses; trailing groups may be absent."""
        self.skip("(", expected)
        self.groups(lambda: self._input(op), lambda: self._output(op), lambda: self._param(op))
        self.skip(")", "',', '|' or ')' in an operator")

    # Operators

    def _optype(self, op, optype):
        """Adds an optype; or reads the rest of `OPERATOR.optype`."""
        op.optypes.append(optype)
        if self.accept("."):
            op.like = optype
            if not self.accept_word("optype"):
                raise self.unexpected("'optype' after an operator and '.'")

    def _head(self, op):
        """Reads `[keep] [NAME:] OPTYPE`, or `{OPTYPE|..}` for OPTYPE."""
        op.keep = self.accept_word("keep")
        if self.kind != "{":
            name = self.word("an operator")
            if not self.accept(":"):
                self._optype(op, name)
                return
            op.name = name
        if not self.accept("{"):
            self._optype(op, self.word("an optype"))
            return
        self._optype(op, self.word("an optype"))
        while self.accept("|"):
            self._optype(op, self.word("an optype"))
        self.skip("}", "'|' or '}' in a set of optypes")

    def item(self):
        """Reads an operator of a pattern or a replacement."""
        op = RuleOp(self.place)
        self._head(op)
        self.arguments(op, "'(' after the optype")
        self.skip(";", "';' after an operator")
        return op


class _TestReader(_Reader):
    """Reads tests of rules."""
    has_sizes = True

    def _dim(self):
        """A dimension: numbers and names, with '*' between them."""
        start = self.begin
        while True:
            if self.kind not in ("name", "number"):
                raise self.unexpected("a dimension")
            end = self.scan.at
            self.next()
            if not self.accept("*"):
                return self.scan.text[start:end]

    def _range(self):
        """ "LOW .. HIGH", or one number for both."""
        low = high = float(self.decimal())
        if self.kind == ".":
            self.skip("..", "'..' between two bounds")
            high = float(self.decimal())
        return low, high

    def _hint(self, place, name):
        """Reads "[const] DTYPE [DIM, ..] [in LOW .. HIGH]"."""
        hint = Hint(place, name, is_const=self.accept_word("const"), dtype=self.word("a dtype"))
        self.skip("[", "'[' before the dimensions")
        self.list("]", lambda: hint.dims.append(self._dim()))
        if self.accept_word("in"):
            hint.low, hint.high = self._range()
        return hint

    def _size(self, place, name):
        """Reads "SIZE", or "MIN .. MAX"."""
        at = self.place
        low, high = self._range()
        if not (1 <= low <= high <= MAX_SIZE and low.is_integer() and high.is_integer()):
            raise self.fail(f"size '{name}' must be an integer from 1 to {MAX_SIZE}, or a "
                            "range such as 1 .. 4", at)
        return Size(place, name, int(low), int(high))

    def _part(self, test):
        """Reads `OPERATOR(..)`, `TENSOR=..` or `SIZE=..`."""
        place = self.place
        name = self.word("an operator, a tensor or a size")
        if not self.accept("="):
            op = RuleOp(place, name)
            self.arguments(op, "'(' or '=' after a name")
            test.ops.append(op)
        elif self.at_number():
            test.sizes.append(self._size(place, name))
        else:
            test.tensors.append(self._hint(place, name))

    def _at_outcome(self):
        """Whether the parts have ended: at ';', or a keyword that does not name one."""
        is_word = self.kind == "name" and self.text in _OUTCOMES
        return self.kind == ";" or (is_word and not _PART.match(self.scan.text, self.scan.at))

    def _outcome(self, test):
        """Reads what follows the parts, up to ';'."""
        test.fires = not self.accept_word("unchanged")
        if self.accept_word("within"):
            place, text = self.place, self.decimal()
            test.tolerance = float(text)
            if test.tolerance < 0:
                raise self.fail(f"tolerance {text}, expected 0 or more", place)
        if self.accept_word("as"):
            test.precision = self.word("a precision")
        self.skip(";", "',', 'unchanged', 'within', 'as' or ';' in a test")

    def item(self):
        """Reads a test."""
        test = RuleTest(self.place)
        if not self._at_outcome():
            self._part(test)
            while self.accept(","):
                self._part(test)
        self._outcome(test)
        return test


class _ExampleReader(_Reader):
    """Reads examples of operators: inputs and outputs have data."""
    may_be_empty = True

    def _element(self):
        """A number, "nan", "inf" or "-inf"."""
        sign = "-" if self.accept("-") else ""
        if self.is_word("inf") or (self.is_word("nan") and not sign):
            return sign + self.take()
        if self.kind != "number":
            raise self.unexpected("a number, 'nan', 'inf' or '-inf'")
        return sign + self.decimal()

    def _repeated(self):
        """The elements of "ELEMENT" or "ELEMENT x COUNT"."""
        element = self._element()
        if not self.accept_word("x"):
            return [element]
        place, text = self.place, self.decimal()
        count = float(text)
        if not (1 <= count <= MAX_COUNT and count.is_integer()):
            raise self.fail(f"{text} elements, expected 1 to {MAX_COUNT}", place)
        return [element] * int(count)

    def _data(self, dtype):
        """Reads "[DTYPE] [[DIM, ..]] {ELEMENT, ..}"."""
        data = Data(self.take() if self.kind == "name" else dtype)
        data.has_dims = self.accept("[")
        if data.has_dims:
            self.list("]", lambda: data.dims.append(self.decimal()))
        self.skip("{", "'{' before the elements of a tensor")
        self.list("}", lambda: data.items.extend(self._repeated()))
        return data

    def _tensor(self, dtype):
        """Reads `ARG=DATA`, of this type unless it has another."""
        arg = RuleArg(self.place, self.word("an argument"))
        self.skip("=", "'=' after an argument")
        arg.data = self._data(dtype)
        return arg

    def _input(self, op):
        op.ins.append(self._tensor("TL_FLOAT"))

    def _output(self, op):
        op.outs.append(self._tensor(None))

    def item(self):
        """Reads an example."""
        example = Example(self.place)
        if self.kind == "string":
            example.doc = self.take()
            self.skip(":", "':' after a doc")
        self.arguments(example, "'(' before the arguments of an example")
        if self.accept_word("within"):
            example.tolerance = self.decimal()
        elif self.accept_word("fails"):
            if self.kind != "string":
                raise self.unexpected("a message in quotes")
            example.error = self.take()
        self.skip(";", "'within', 'fails' or ';' after an example")
        return example
