# SPDX-License-Identifier: Apache-2.0
"""The syntax of operators, which IL and optimizer descriptions share: its tokens and lists.
`cli/il/ln_lexer.c` reads IL: tokens are the same there.

    NAME: OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);

A reader looks at the current token and advances to the next one. Errors are raised.
"""
import math
import re

from scan import Place, Scan

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DIGIT = re.compile(r"(?=\.?[0-9])")
# A run of digits, letters, points and exponent signs; ".." ends it.
_NUMBER = re.compile(r"0[xX](?:[A-Za-z0-9]|\.(?!\.))*|(?:(?<=[eE])[+-]|[A-Za-z0-9]|\.(?!\.))+")


def _number(text):
    try:
        return float.fromhex(text) if text[:2].lower() == "0x" else float(text)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


class Lexer:
    """The tokens of `node`, a string; messages begin with `subject`. The current one: `kind` is
    'name', 'string', 'number', 'end', or the character that it is; `text` is that of a name, string
    or number."""

    def __init__(self, node, subject):
        column = 1 if node.is_block else node.column + 1
        self.scan = Scan(node.text, Place(node.file, node.text_line, column), subject)
        self.next()

    def next(self):
        """Advances to the next token."""
        scan = self.scan
        scan.blanks()
        self.place, self.begin = scan.place(), scan.at
        self.text, self.number = "", 0.0
        if scan.peek() == '"':
            self.kind = "string"
            while scan.peek() == '"':  # adjacent strings are concatenated, as in C
                self.text += scan.string(is_c=True)
                scan.blanks()
        elif _DIGIT.match(scan.text, scan.at):
            self._read_number()
        else:
            name = scan.match(_NAME)
            self.kind, self.text = ("name", name) if name else (scan.peek() or "end", "")
            scan.at += not name and self.kind != "end"

    def _read_number(self):
        self.kind, self.text = "number", self.scan.match(_NUMBER)
        self.number = _number(self.text)
        if self.number is None:
            raise self.fail(f"'{self.text:.40}' is not a number")
        if not math.isfinite(self.number):
            raise self.fail(f"'{self.text:.40}' is too large")

    def fail(self, reason, place=None):
        """The error with that reason for the current token, or another place, to be raised."""
        return (place or self.place).fail(self.scan.subject + reason)

    def unexpected(self, expected):
        """The error for an unexpected current token."""
        if self.kind == "end":
            found = "the end"
        elif self.kind == "string":
            found = f'"{self.text:.60}"'
        elif self.text:
            found = f"'{self.text:.60}'"
        else:
            printable = " " <= self.kind <= "~"
            found = f"'{self.kind}'" if printable else f"byte 0x{self.kind.encode()[0]:02x}"
        return self.fail(f"{found} is unexpected, expected {expected}")

    def take(self):
        """Skips the current token; returns its text."""
        text = self.text
        self.next()
        return text

    def is_word(self, word):
        """Whether the current token is that name."""
        return self.kind == "name" and self.text == word

    def accept(self, kind):
        """Whether the current token has that kind; advances then."""
        found = self.kind == kind
        if found:
            self.next()
        return found

    def accept_word(self, word):
        """Whether the current token is that name; advances then."""
        return self.is_word(word) and self.accept("name")

    def expect(self, kind):
        """Skips a character that must be the current token."""
        if not self.accept(kind):
            raise self.unexpected(f"'{kind}'")

    def _elements(self, closes, expected, read):
        """Calls `read` for elements up to one of the characters in `closes`; commas between them,
        and perhaps after the last one."""
        while self.kind not in closes:
            read()
            if not self.accept(",") and self.kind not in closes:
                raise self.unexpected(expected)

    def list(self, close, read):
        """Reads elements up to the character `close`, and skips it."""
        self._elements((close,), f"',' or '{close}'", read)
        self.expect(close)

    def groups(self, *reads):
        """Reads the groups of an operator: a list for each function at most, '|' between two; the
        last ones may be absent. Ends at ')', or an extra '|'."""
        for i, read in enumerate(reads):
            if i and not self.accept("|"):
                break
            self._elements(("|", ")"), "',', '|' or ')'", read)
