# SPDX-License-Identifier: Apache-2.0
"""Scans text: blanks, comments, strings, messages with line and column."""
import bisect
import re

BLANKS = re.compile(r"(?:[ \t\r\n]|//[^\n]*)*")
_PLAIN = {False: re.compile(r'[^"\\\x00-\x1f]+'), True: re.compile(r'[^"\\\n\r]+')}
_ESCAPES = dict(zip('"\\/bfnrt', '"\\/\b\f\n\r\t'))
_ESCAPES_OF_C = {**_ESCAPES, "'": "'", "?": "?", "$": "$"}


class DescriptionError(Exception):
    """An error in a description: "FILE:LINE:COLUMN: reason"."""


class Place:
    """A location in a file. Lines and columns count from 1, columns in characters."""

    def __init__(self, file, line, column):
        self.file, self.line, self.column = file, line, column

    def fail(self, reason):
        """The error with that reason, to be raised."""
        return DescriptionError(f"{self.file}:{self.line}:{self.column}: {reason}")


class Scan:
    """A text that begins at `place`, and the index `at` of its next character. The reasons of
    errors begin with `subject`."""

    def __init__(self, text, place, subject=""):
        self.text, self.origin, self.subject, self.at = text, place, subject, 0
        self.lines = [found.end() for found in re.finditer("\n", text)]  # where they begin

    def place(self, at=None):
        """The location of an index."""
        at = self.at if at is None else at
        line = bisect.bisect_right(self.lines, at)
        column = at - self.lines[line - 1] + 1 if line else at + self.origin.column
        return Place(self.origin.file, self.origin.line + line, column)

    def fail(self, reason, at=None):
        """The error with that reason for an index, to be raised."""
        return self.place(at).fail(self.subject + reason)

    def expected(self, what):
        """The error that something else was expected here."""
        char = self.peek()
        if not char:
            found = "the end of the text"
        elif char in "\r\n":
            found = "the end of the line"
        else:
            found = f"'{char}'" if "!" <= char <= "~" else f"byte 0x{char.encode()[0]:02X}"
        return self.fail(f"{found}, expected {what}")

    def peek(self, ahead=0):
        """The character that is `ahead` of the next; "" after the end."""
        return self.text[self.at + ahead:self.at + ahead + 1]

    def accept(self, word):
        """Skips a word if it comes next."""
        found = self.text.startswith(word, self.at)
        self.at += len(word) if found else 0
        return found

    def match(self, pattern):
        """Skips what the compiled expression matches here, and returns its text or None."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found and found.group()

    def blanks(self):
        """Skips white space and comments."""
        self.match(BLANKS)

    def string(self, is_c=False):
        """Skips the string between quotes here and returns its content. `is_c`: it may have C's
        escape sequences, `\\$`, and control characters in addition to JSON's."""
        self.at += 1
        parts = []
        while not self.accept('"'):
            char = self.peek()
            if char in ("", "\n", "\r"):
                raise self.expected("'\"' to end the string")
            if char < " " and not is_c:
                raise self.fail(f"control character 0x{ord(char):02X} in a string")
            parts.append(self._escape(is_c) if char == "\\" else self.match(_PLAIN[is_c]))
        return "".join(parts)

    def _escape(self, is_c):
        letter = self.peek(1)
        if letter == "u" or (letter == "x" and is_c):
            return self._code(letter)
        char = (_ESCAPES_OF_C if is_c else _ESCAPES).get(letter)
        if char is None:
            raise self.fail("unknown escape sequence in a string")
        self.at += 2
        return char

    def _hex(self, at, letter, digits):
        found = re.compile(rf"\\{letter}([0-9a-fA-F]{{{digits}}})").match(self.text, at)
        return found and int(found.group(1), 16)

    def _code(self, letter):
        """\\u and four digits, of characters beyond 16 bits two such (RFC 8259, 7); \\x and two."""
        digits = 4 if letter == "u" else 2
        code = self._hex(self.at, letter, digits)
        if code is None:
            raise self.fail(f"\\{letter} without {digits} hexadecimal digits")
        if code == 0:
            raise self.fail(f"\\{letter}{'0' * digits} in a string")
        low = self._hex(self.at + 2 + digits, "u", 4) or 0
        if 0xD800 <= code < 0xDC00 <= low < 0xE000:
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.at += 6
        elif 0xD800 <= code < 0xE000:
            raise self.fail("half of a surrogate pair")
        self.at += 2 + digits
        return chr(code)

    def block(self):
        """Skips the string between ''' here; returns its content and the line where that begins."""
        start = self.at
        self.match(re.compile("'''[ \t\r]*"))
        if self.peek() != "\n":
            raise self.expected("the end of the line after the opening '''")
        self.at += 1
        line, begin = self.place().line, self.at
        end = self.text.find("'''", begin)
        if end < 0:
            raise self.fail("no closing ''' for this one", start)
        self.at = end + 3
        return self.text[begin:end], line
