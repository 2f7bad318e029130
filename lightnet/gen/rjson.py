# SPDX-License-Identifier: Apache-2.0
"""Relaxed JSON: the notation of operator and optimizer descriptions.

Descriptions are JSON with five additions: comments from `//` to the end of the line; a comma after
the last item of an array or object; keys that are words without quotes; strings that continue in
the strings after them; strings over several lines between two ''', the first of which ends its
line, while the text between the lines is literal. Each value has its location, and errors
are reported as FILE:LINE:COLUMN.
"""
import math
import os
import re

from scan import DescriptionError, Place, Scan

MAX_DEPTH = 64  # of nested arrays and objects
MAX_TEXT = 1 << 30  # bytes

TYPE_NAMES = {"null": "null", "bool": "a bool", "number": "a number", "string": "a string",
              "array": "an array", "object": "an object"}

_NUMBER = re.compile(r"-?(?:0(?![0-9])|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
                     r"(?![0-9]|\.|[eE])")
_KEY = re.compile(r"[A-Za-z0-9_]+")
_WORDS = {"true": ("bool", True), "false": ("bool", False), "null": ("null", False)}


class Value(Place):
    """A value with its location, where it begins, and its key if it is a member of an object."""

    def __init__(self, place, kind, text=None, items=()):
        super().__init__(place.file, place.line, place.column)
        self.kind = kind
        self.text = text  # the content of a string; a number as written
        self.items = items  # of an array or object, in the order of the text
        self.number, self.boolean = 0.0, False
        self.text_line = self.line  # where the content of a string begins
        self.is_block = False  # a string between '''
        self.key = None
        self.key_line = self.key_column = 0

    def get(self, key):
        """The member of that key, or None; also if this is no object."""
        members = self.items if self.kind == "object" else ()
        return next((member for member in members if member.key == key), None)

    def fail_key(self, reason):
        """The error with that reason for the location of the key."""
        return Place(self.file, self.key_line, self.key_column).fail(reason)

    def json(self):
        """The value as strict JSON on one line."""
        if self.kind == "array":
            return "[" + ", ".join(item.json() for item in self.items) + "]"
        if self.kind == "object":
            return "{" + ", ".join(f"{quote(item.key)}: {item.json()}" for item in self.items) + "}"
        if self.kind == "string":
            return quote(self.text)
        return {"null": "null", "bool": str(self.boolean).lower()}.get(self.kind, self.text)


def quote(text):
    """A string of JSON."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n"}
    return '"' + re.sub(r'["\\\x00-\x1f]',
                        lambda m: escapes.get(m[0], f"\\u{ord(m[0]):04x}"), text) + '"'


class _Parser(Scan):
    depth = 0

    def value(self):
        """Parses the value here, which its first character identifies."""
        place, char = self.place(), self.peek()
        if self.text.startswith("'''", self.at):
            return self._block(place)
        if char and char in "{[":
            return self._items(place, "object" if char == "{" else "array")
        if char == '"':
            return Value(place, "string", self._quoted())
        if char and char in "-0123456789":
            return self._number(place)
        for word, (kind, boolean) in _WORDS.items():
            if self.accept(word):
                value = Value(place, kind)
                value.boolean = boolean
                return value
        raise self.expected("a value")

    def _block(self, place):
        value = Value(place, "string")
        value.text, value.text_line = self.block()
        value.is_block = True
        return value

    def _quoted(self):
        """The content of a string and those that follow it, up to a key."""
        text, end = self.string(), self.at
        self.blanks()
        while self.peek() == '"':
            more, after = self.string(), self.at
            self.blanks()
            if self.peek() == ":":
                break
            text, end = text + more, after
        self.at = end
        return text

    def _number(self, place):
        text = self.match(_NUMBER)
        if text is None:
            raise self.fail("not a JSON number")
        value = Value(place, "number", text)
        value.number = float(text)
        if not math.isfinite(value.number):
            raise place.fail(f"number {text:.64} is beyond the range of double")
        return value

    def _key(self):
        if self.peek() == '"':
            return self.string()
        key = self.match(_KEY)
        if key is None:
            raise self.expected("a key")
        return key

    def _member(self):
        place, key = self.place(), self._key()
        self.blanks()
        if not self.accept(":"):
            raise self.expected("':' after the key")
        self.blanks()
        value = self.value()
        value.key, value.key_line, value.key_column = key, place.line, place.column
        return value

    def _items(self, place, kind):
        """Parses the items between brackets."""
        read, close = {"object": (self._member, "}"), "array": (self.value, "]")}[kind]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels")
        self.at += 1
        items = []
        self.blanks()
        while not self.accept(close):
            items.append(read())
            self.blanks()
            if self.accept(","):
                self.blanks()
            elif self.peek() != close:
                raise self.expected(f"',' or '{close}'")
        self.depth -= 1
        _check_keys(items if kind == "object" else ())
        return Value(place, kind, items=items)


def _check_keys(members):
    """Of the keys that occur twice, the first in the order of the alphabet is reported."""
    seen, twice = set(), []
    for member in members:
        twice += [member] if member.key in seen else []
        seen.add(member.key)
    if twice:
        first = min(twice, key=lambda member: member.key)
        raise first.fail_key(f'key "{first.key}" occurs twice')


def parse(name, text):
    """The value that the text is; `name` is the file's in messages. Raises DescriptionError."""
    parser = _Parser(text, Place(name, 1, 1))
    parser.blanks()
    root = parser.value()
    parser.blanks()
    if parser.peek():
        raise parser.expected("the end of the text")
    return root


def _decode(file, content):
    if len(content) > MAX_TEXT:
        raise DescriptionError(f"{file}: {len(content)} bytes, expected at most {MAX_TEXT}")
    if b"\0" in content:
        offset = content.index(b"\0")
        raise DescriptionError(f"{file}: NUL byte at offset {offset}, expected text")
    try:
        return content.decode()
    except UnicodeDecodeError as err:
        before = Scan(content[:err.start].decode(), Place(file, 1, 1))
        byte = content[err.start]
        raise before.fail(f"byte 0x{byte:02X} is not UTF-8 here", len(before.text)) from None


def read(file):
    """The value that the content of a file is. Raises DescriptionError."""
    try:
        with open(file, "rb") as stream:
            content = stream.read()
    except OSError as err:
        raise DescriptionError(f"{file}: cannot read: {os.strerror(err.errno)}") from None
    return parse(file, _decode(file, content))


# The notations of the first LightNet, recognized to name the new ones

_GAP = r"(?:[ \t\r\n]|(?:#|//)[^\n]*(?:\n|\Z)|/\*(?:(?!\*/).)*(?:\*/|\Z))*"
_WORD = rf"[A-Za-z0-9_]+{_GAP}"
_OLD_OPERATOR = re.compile(rf"{_GAP}(?:{_WORD}(?::{_GAP}{_WORD})?{{|{{{_GAP}{_WORD}:)", re.S)
_BACKQUOTED = re.compile(rf":{_GAP}`", re.S)


def is_old_operator_notation(text):
    """Whether the text is an operator description in the old notation: `relu_cpu : relu {` or
    `relu {`, keys without quotes, values in backquotes. For texts that are not relaxed JSON."""
    return bool(_OLD_OPERATOR.match(text) or _BACKQUOTED.search(text))


def is_old_optimizer_notation(root):
    """Whether the file is an old optimizer description, which names its author."""
    return root.get("author") is not None
