# SPDX-License-Identifier: Apache-2.0
"""What the generators have in common as programs: options, messages, exit statuses."""
import argparse
import sys
import unicodedata

from scan import DescriptionError


def escaped(text):
    """The text for a terminal, in one line: controls, marks of direction, line separators, and
    bytes that are not UTF-8 as escape sequences."""
    return "".join(_escape(char) for char in text)


def _escape(char):
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
    return char


class UsageError(Exception):
    """Options that do not fit together."""


class Options(argparse.ArgumentParser):
    """Options whose errors are one line, like those of all programs of LightNet."""

    def __init__(self, **kwargs):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)

    def error(self, message):
        """Prints the message and exits 2."""
        self.exit(2, f"{self.prog}: error: {escaped(message)}; see {self.prog} --help\n")


def run(options, generate):
    """Parses the options, calls `generate` with them, and returns the exit status."""
    args = options.parse_args()
    try:
        generate(args)
    except UsageError as err:
        options.error(str(err))
    except RecursionError:
        print(f"{options.prog}: error: a description is nested too deeply", file=sys.stderr)
        return 1
    except DescriptionError as err:
        print(f"{options.prog}: error: {escaped(str(err))}", file=sys.stderr)
        return 1
    return 0
