#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: against_cpp.py LN_IL_PRE_PRINT SOURCE_ROOT. The preprocessor of IL returns the same tokens as the C
compiler's for the part of the language that it has, and reads what the compiler's writes.

Tables of corner cases of C macros, the networks of the examples, and random programs of macros. It compares tokens, not
blanks; programs that the compiler rejects must be rejected.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../structure"))
from tap import Tap

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\.?\d(?:[eEpP][+-]|[\w.])*|\w+|\.\.\.|##|&&|\|\||[=!<>]=|<<|>>|\S')

# C11, 6.10.3.5, and other known corners.
KNOWN = {
    "examples_3_of_the_standard": """
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };
""",
    "example_4_strings_and_pasting": r"""
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", \
 x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\0d", "abc", 4) // this goes away
 == 0) str(: @), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)
""",
    "example_5_empty_sides": """
#define t(x,y,z) x ## y ## z
int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };
""",
    "example_7_dots": """
#define debug(...) fprintf(stderr, __VA_ARGS__)
#define showlist(...) puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
debug("Flag"); debug("X = %d", x); showlist(The first, second, and third items.);
report(x>y, "x is %d but y is %d", x, y);
""",
    "names_in_their_own_replacement": """
#define foo foo a bar
#define bar bar b foo
#define f(x) x f
#define NIL(x) x
#define G NIL
#define AA BB
#define BB AA
foo bar f(1)(2) G(5) AA G (7) NIL(NIL)(NIL(NIL))(x) f(f)(f(2))
""",
    "names_without_arguments": "#define f(x) [x]\n#define g f\nf; f\n(1) g g(2) g\n(3) f f(4)\n f",
    "commas_without_arguments": """
#define d(a, ...) <a|__VA_ARGS__>
d(1) d(1,) d(1,2,(3,4))
""",
    "conditions": """
#define A 2
#if A == 2 && !defined(B) && defined A
yes
#elif 1
no
#else
no
#endif
#ifdef B
no
# ifdef A
no
# else
no
# endif
#elif A > 1 ? A * 2 == 4 : 0
yes
#endif
#if 0
unclosed " ' quotes
/* and # else
#else */
#unknown
#elif 0x10 > -1 && 7 - 8 <= 0 && (1 || 1 / 0) && !(defined(B) && B > 2) && 10 % 3 == 1 && 5 - 3 - 1 == 1
yes
#endif
#if 0 || !A || A != 2
no
#endif
#ifndef B
yes
#endif
""",
    "lines_joined": "#define A(x) \\\n x \\\n+ x\nA(1) a\\\nb \"c\\\nd\" /\\\n* no *\\\n/ e // f \\\n g\nh",
    "blanks_and_comments": "#define A/**/(x)\n#define B(x)/**/x/**/x\nA(1) B(2)a/**/b 1/**/2 -/**/- 1 .5.6 1.e+3 0x1e+2 'c' a.b ..",
    "arguments_over_lines": "#define f(a, b) a b\nf(1\n,\n\n(2,\n3))",
    "lines_without_effect": "#\n#define A\n#define A\nA\n# 7 \"x.c\" 2\n#line 9\n#line 10 \"y.c\"",
}

REFUSED = {
    "else_behind_else": "#if 1\n#else\n#else\n#endif",
    "no_endif": "#if 1",
    "no_if": "#endif",
    "error": "#error no",
    "unknown": "#foo",
    "too_few": "#define f(a, b) a\nf(1)",
    "too_many": "#define f(a) a\nf(1, 2)",
    "no_end": "#define f(a) a\nf(1",
    "paste_of_two": "#define p(a, b) a ## b\np(1, +)\np(+, x)",
    "hash_before_nothing": "#define f(a) # b\n",
    "twice_the_same_parameter": "#define f(a, a) a",
    "dots_in_the_middle": "#define f(..., a) a",
    "string_without_end": "\"abc\n",
    "comment_without_end": "a /* b",
    "division": "#if 1 / 0\n#endif",
    "incomplete": "#if 1 +\n#endif",
    "parenthesis": "#if (1\n#endif",
    "included_file_is_missing": "#include \"no such file\"",
    "defined_of_nothing": "#if defined\n#endif",
    "undef_of_nothing": "#undef",
    "define_of_defined": "#define defined 1",
    "name_that_is_no_macro": "#if A\n#endif",
    "directive_in_arguments": "#define f(a) a\nf(\n#if 1\n1\n#endif\n)",
    "redefinition": "#define A 1\n#define A 2",
}


def tokens(text):
    return TOKEN.findall(text)


def ours(program, path):
    done = subprocess.run([program, path], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def compilers(path, *options):
    command = ["gcc", "-E", *options, "-std=gnu99", "-undef", "-nostdinc", "-x", "c", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


class Case:
    def __init__(self, program, folder):
        self.program, self.path = program, os.path.join(folder, "case.net")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        return self.path

    def faults(self, path, text):
        status, printed = ours(self.program, path)
        wanted_status, wanted = compilers(path, "-P")
        if wanted_status or status:
            return [] if wanted_status and status else [f"exit status {status}, expected {wanted_status}: {printed}", text]
        got, wanted = tokens(printed), tokens(wanted)
        if got == wanted:
            return []
        at = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
        return [f"token {at}: {' '.join(got[at:at + 20])}", f"expected: {' '.join(wanted[at:at + 20])}", text]


NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"]


class Program:
    """Definitions of some names, and text that uses them; calls mostly have the arguments that they should."""

    def __init__(self, rng):
        self.rng = rng
        self.params = {name: rng.choice([None, None, [], ["x"], ["x", "y"], ["x", "y", "z"], ["x", "..."]]) for name in NAMES}
        lines = [self.definition(name) for name in NAMES if rng.randrange(8)]
        for _ in range(rng.randrange(1, 6)):
            lines += self.condition() if rng.randrange(5) == 0 else [self.tokens(NAMES)]
        self.text = "\n".join(lines) + "\n"

    def call(self, names, depth):
        name = self.rng.choice(names)
        params = self.params.get(name)
        if params is None:
            return name
        wrong = self.rng.randrange(40) == 0
        count = self.rng.randrange(4) if wrong or "..." in params else len(params)
        return f"{name}({', '.join(self.tokens(names, depth + 1) for _ in range(count))})"

    def tokens(self, names, depth=0):
        rng, out = self.rng, []
        for _ in range(rng.randrange(0 if depth else 1, 5)):
            kind = rng.randrange(9)
            if kind < 2:
                out.append(rng.choice(names))
            elif kind < 5:
                out.append(self.call(names, depth) if depth < 3 else rng.choice(names))
            elif kind == 5:
                out.append(str(rng.randrange(20)))
            elif kind == 6:
                out.append(rng.choice(["*", ";", "\"s\"", ".", "~", "(1, 2)"]))
            else:
                out.append(rng.choice(["\n", " /* c */ ", " "]) if depth == 0 else " ")
        return " ".join(out)

    def definition(self, name):
        rng, params = self.rng, self.params[name]
        inner = [param.replace("...", "__VA_ARGS__") for param in params or []]
        body = [self.tokens(NAMES + inner, 1)]
        for param in inner:
            # ## before __VA_ARGS__ is a matter of taste where a comma comes before it.
            left = rng.choice(NAMES + [other for other in inner if "_" not in other])
            body.append(rng.choice(["", f"#{param}", f"{left}##{param}", param, param]))
        listed = "" if params is None else f"({', '.join(params)})"
        return f"#define {name}{listed} {' '.join(body)}"

    def condition(self):
        rng = self.rng
        return [f"#if defined({rng.choice(NAMES)}) + {rng.randrange(3)} > {rng.randrange(3)}", self.tokens(NAMES), "#else",
                self.tokens(NAMES), "#endif"]


def main():
    program, root = map(os.path.abspath, sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-il-") as folder:
        case = Case(program, folder)
        for name, text in KNOWN.items():
            status, printed = ours(program, case.write(text))
            tap.check(name, [printed] if status else case.faults(case.path, text))
        for name, text in REFUSED.items():
            status, printed = ours(program, case.write(text))
            tap.check(f"rejects: {name}", [] if status == 1 and re.match(r"error: .*case.net:\d+: ", printed) else [printed])
        networks = os.path.join(root, "examples/networks")
        os.chdir(networks)
        for name in sorted(os.listdir(".")):
            if name.endswith(".net"):
                tap.check(name, case.faults(name, name))
                status, printed = ours(program, case.write(compilers(name)[1]))
                tap.check(f"cc -E of {name}", [] if (status, printed) == ours(program, name) else [printed[:1000]])
        seed, count = int(os.environ.get("LN_SEED", "1")), int(os.environ.get("LN_COUNT", "120"))
        faults, accepted = [], 0
        for i in range(seed, seed + count):
            text = Program(random.Random(i)).text
            faults += case.faults(case.write(text), f"seed {i}\n{text}")
            accepted += ours(program, case.path)[0] == 0
        tap.check("random_programs", faults[:20])
        tap.check("accepts_some_random_programs", [] if accepted > count // 4 else [f"{accepted} of {count} accepted"])
    tap.end()


if __name__ == "__main__":
    main()
