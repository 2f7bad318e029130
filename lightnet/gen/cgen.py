# SPDX-License-Identifier: Apache-2.0
"""Writes generated C: lines of at most 100 columns, and the C snippets of descriptions with #line
directives, so that compilers report errors in the description. Finds the names in C.

    out = CWriter("conv.c")
    out.print("static void conv2d_run(ln_op_arg *op_arg)\\n{\\n")
    out.snippet(4, op.get("run"))
    out.print("}\\n")
    save(out.file, out.text)
"""
import functools
import os
import re
import stat
import tempfile

from scan import DescriptionError

COLUMNS = 100  # of the longest line


def escape(text):
    """The text as the inside of a C string literal."""
    named = {'"': '\\"', "\\": "\\\\", "\n": "\\n"}
    return re.sub(r'["\\\x01-\x1f]', lambda m: named.get(m[0], f"\\{ord(m[0]):03o}"), text)


def quote(text):
    """The text as a C string literal."""
    return f'"{escape(text)}"'


class CWriter:
    """Text under construction. `file` is where it will be saved; "-": standard output."""

    def __init__(self, file):
        self.file = file
        self.parts = []
        self.lines = 0  # newlines so far
        # While the last line is of a snippet: its file, and the distance of its lines from `lines`.
        self.source = None

    @property
    def text(self):
        """The text so far."""
        return "".join(self.parts)

    def _append(self, text):
        self.parts.append(text)
        self.lines += text.count("\n")

    def _go_to_source(self, line, file):
        """Assigns the next line to a line of a description, unless it is already."""
        if self.source == (file, line - self.lines):
            return
        self._append(f'#line {line} "{escape(file)}"\n')
        self.source = file, line - self.lines

    def _restore_line(self):
        """Before generated text: ends the lines of a description's snippet."""
        if self.source:
            self.source = None
            self._append(f'#line {self.lines + 2} "{escape(self.file)}"\n')

    def print(self, text):
        """Appends text unchanged."""
        # The lines of empty lines and comments do not matter: compilers never report them.
        if text.strip("\n") and not text.startswith("    // "):
            self._restore_line()
        self._append(text)

    def line(self, indent, text):
        """Appends one line of C, given without its newline and indented by `indent` blanks, broken
        if it is longer than COLUMNS: after a comma or an operator, and inside string literals."""
        self._restore_line()
        self._append(_wrapped(" " * indent + text))

    def line_of(self, indent, node, text):
        """`line` with the C expression of `node`, a string: compilers report errors of that line at
        the location of the expression, with a directive only if needed."""
        self._go_to_source(node.text_line, node.file)
        self._append(_wrapped(" " * indent + text))

    def filled(self, items):
        """Appends items, given with ", " between them, on lines indented by 4 blanks that each have
        as many as fit."""
        self._restore_line()
        line = "   "
        for item in items.split(", ") if items else ():
            if len(line) + len(item) + 2 > COLUMNS and line.strip():
                self._append(line + "\n")
                line = "   "
            line += f" {item},"
        self._append((line if items else "") + "\n")

    def comment(self, text):
        """Appends a comment, broken at blanks into lines."""
        self._restore_line()
        columns = COLUMNS - len("// ")
        while text:
            cut = len(text) if len(text) <= columns else text.rfind(" ", 1, columns + 1)
            cut = cut if cut > 0 else columns
            self._append(f"// {text[:cut]}\n")
            text = text[cut + text.startswith(" ", cut):]

    def snippet(self, indent, node):
        """Appends the statements of `node`, a string, indented by `indent` blanks: compilers report
        errors at their location in the description."""
        lines = node.text.split("\n")
        common = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()),
                     default=0)
        skipped, begun = 0, False
        for number, line in enumerate(lines):
            if not line.strip():
                skipped += begun
                continue
            if not begun or not node.is_block:  # an ordinary string keeps its lines on one
                self._go_to_source(node.text_line + number * node.is_block, node.file)
            self._append("\n" * skipped * node.is_block)
            # A directive of the preprocessor stays at the margin.
            margin = "" if line[common] == "#" else " " * indent
            self._append(f"{margin}{line[common:].rstrip(chr(13))}\n")
            skipped, begun = 0, True


_GAPS = (", ", "&& ", "|| ", "== ", "+ ")  # outside of strings, a line may end after these


_CHARACTER = re.compile(r"'(?:\\.|[^'\\])*'?", re.S)


def _find_break(text, start, columns, in_string):
    """The last gap within `columns`, but none before `start`, as the index where the next line
    begins and whether that is in a string literal; outside of these where there is a choice.
    `in_string`: the text begins in one."""
    outside = inside = 0
    i = 0
    while i < len(text) and i <= columns:
        if i > start and not in_string and text.endswith(_GAPS, 0, i):
            outside = i
        if i > start and in_string and text[i - 1] == " " and i < columns:
            inside = i
        if in_string and text[i] == "\\" and i + 1 < len(text):
            i += 1
        elif not in_string and text[i] == "'":
            i = _CHARACTER.match(text, i).end() - 1
        elif text[i] == '"':
            in_string = not in_string
        i += 1
    return (outside, False) if outside else (inside, True)


def _continuation(text):
    """Where the next lines are indented to: after the first opening bracket, if that is not too far
    to the right."""
    indent = len(text) - len(text.lstrip(" ")) + 4
    bracket = re.search(r'[({"]', text)
    if not bracket or bracket[0] == '"' or bracket.end() > COLUMNS // 2:
        return indent
    return bracket.end()


def _wrapped(text):
    """A line with its newline, broken if it is too long."""
    indent = _continuation(text)
    lines, begin, in_string = [], "", False
    while len(begin) + len(text) > COLUMNS and "\n" not in text:  # an author's lines stay
        at, inside = _find_break(text, 0 if begin else indent, COLUMNS - len(begin), in_string)
        if not at:
            break
        lines.append(begin + (text[:at] + '"' if inside else text[:at - 1]))
        begin, text, in_string = " " * indent + ('"' if inside else ""), text[at:], inside
    return "\n".join([*lines, begin + text]) + "\n"


# Files


def base_name(path):
    """The part of a path after the last '/'."""
    return path.rsplit("/", 1)[-1]


def is_same_file(one, other):
    """Whether both paths are the same file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def check_outputs(outputs, descriptions):
    """No output is a description or another output. Raises DescriptionError."""
    for i, output in enumerate(outputs):
        if any(is_same_file(output, file) for file in descriptions):
            raise DescriptionError(f"{output}: is a description, not an output")
        if output in outputs[:i]:
            raise DescriptionError(f"{output}: is the file of two outputs")


def save(file, text):
    """Writes a file whole or not at all; "-": prints. Raises DescriptionError."""
    content = text.encode("utf-8", "surrogateescape")
    try:
        if file == "-":
            with open(1, "wb", closefd=False) as stream:
                stream.write(content)
        elif os.path.exists(file) and not stat.S_ISREG(os.stat(file).st_mode):
            with open(file, "wb") as stream:
                stream.write(content)
        elif not _has(file, content):  # an unchanged file keeps its modification time
            _replace(os.path.realpath(file), content)
    except OSError as err:
        raise DescriptionError(f"{file}: cannot write: {os.strerror(err.errno)}") from None


def _has(file, content):
    if not os.path.exists(file):
        return False
    with open(file, "rb") as stream:
        return stream.read() == content


def _replace(file, content):
    """Replaces a file by a new one beside it, which has its permissions."""
    mode = os.stat(file).st_mode & 0o777 if os.path.exists(file) else None
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(file), prefix=".lightnet-")
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask if mode is None else mode)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


# Reading C: a snippet as a sequence of tokens, without comments

_GAP = r"(?:\s|//[^\n]*(?:\n|\Z)|/\*(?:(?!\*/).)*(?:\*/|\Z))"
_TOKEN = re.compile(rf"""(?P<gap>{_GAP}+)|
    (?P<literal>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|   # strings, characters,
        \.?[0-9](?:(?<=[eEpP])[+-]|[\w.])*)|                # numbers
    (?P<member>(?:->|\.){_GAP}*[A-Za-z_0-9]+)|
    (?P<word>\w+)|(?P<other>->|.)""", re.X | re.S | re.A)

_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while".split())


@functools.lru_cache(maxsize=None)
def words(code):
    """The identifiers in a snippet that are no members of something (`a.word`, `a->word`)."""
    return frozenset(found["word"] for found in _TOKEN.finditer(code) if found["word"])


def names(code, word):
    """Whether the snippet names `word` as such an identifier."""
    return word in words(code)


def is_identifier(text):
    """Whether the text is one identifier and no keyword of C."""
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text)) and text not in _KEYWORDS


def _at_depth(code, opening, closing):
    """The operators of the code, each after the number of open brackets, and its index."""
    depth = 0
    for found in _TOKEN.finditer(code):
        if found.lastgroup == "other":
            text = found["other"]
            depth += (text in opening) - (text in closing)
            yield depth, text, found.start("other")


def _is_loose(code, at):
    """Whether an operator binds less than `&&`: "?", ",", "|" and an assignment."""
    compares = code[at] == "=" and (code[at + 1:at + 2] == "=" or code[at - 1:at] in tuple("=!<>"))
    return code[at] in "?,|=" and not compares


def is_operand(code):
    """Whether the expression needs no parentheses as an operand of `&&`."""
    return not any(depth == 0 and _is_loose(code, at)
                   for depth, _, at in _at_depth(code, "([{", ")]}"))


def count_arguments(code):
    """The number of arguments that a macro would see in `code`: 1 + the commas outside of
    parentheses."""
    return 1 + sum(depth == 0 and text == "," for depth, text, _ in _at_depth(code, "(", ")"))
