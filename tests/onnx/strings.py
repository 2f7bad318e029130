#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: strings.py LIGHTNET. Tensors of strings, as inputs, constants and outputs, and the operators for them."""
import os
import re
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import NUMPY, Part, check_kinds, check_rejected, elements, error_of, faults_of_parts, one_node
from onnx_writer import DTYPES, graph, model, node, tensor, value
from tap import Tap

WORDS = np.array([["red", "", "Grün"], ["\u4e2d\u6587", "a b\tc", "\U0001f600\U0001f600"]])
NONE = np.zeros((2, 0), "U1")
I64 = np.int64
ML = "ai.onnx.ml"


def i64(*numbers):
    return np.array(numbers, I64)


def case(sentence, op_type, arrays, expected, opset=18, const=(), **attributes):
    return one_node(sentence, op_type, arrays, expected, opset, const, **attributes)


def moves():
    for const in ((), (0,)):
        kind = "a constant" if const else "an input"
        yield case(kind, "Identity", [WORDS], WORDS, const=const)
        yield case(kind, "Transpose", [WORDS], WORDS.T, const=const)
        yield case(kind, "Reshape", [WORDS, i64(3, -1)], WORDS.reshape(3, 2), const=(*const, 1))
        yield case(kind, "Flatten", [WORDS], WORDS, const=const)
        yield case(kind, "Gather", [WORDS, i64(2, 0, -1)], WORDS[:, [2, 0, -1]], const=const, axis=1)
        yield case(kind, "GatherElements", [WORDS, i64(2, 0).reshape(2, 1)], np.take_along_axis(WORDS, i64(2, 0).reshape(2, 1), 1),
                   const=const, axis=1)
        yield case(kind, "GatherND", [WORDS, i64(1, 2, 0, 0).reshape(2, 2)], np.array([WORDS[1, 2], WORDS[0, 0]]), const=const)
        yield case(kind, "Concat", [WORDS, WORDS[:, :1]], np.concatenate([WORDS, WORDS[:, :1]], 1), const=const, axis=1)
        yield case(kind, "Slice", [WORDS, i64(1), i64(3), i64(1)], WORDS[:, 1:3], const=(*const, 1, 2, 3))
        yield case(kind, "Split", [WORDS], [WORDS[:, :2], WORDS[:, 2:]], 18, const, axis=1, num_outputs=2)
        yield case(kind, "Expand", [WORDS[:, :1], i64(2, 2)], WORDS[:, [0, 0]], const=(*const, 1))
        yield case(kind, "Tile", [WORDS, i64(1, 2)], np.tile(WORDS, (1, 2)), const=(*const, 1))
        yield case(kind, "Unsqueeze", [WORDS, i64(0)], WORDS[None], const=(*const, 1))
        yield case(kind, "Squeeze", [WORDS[None], i64(0)], WORDS, const=(*const, 1))
        yield case(kind, "Shape", [WORDS], i64(2, 3), const=const)
        yield case(kind, "Size", [WORDS], np.array(6, I64), const=const)
        yield case(kind, "Pad", [WORDS, i64(0, 1, 0, 0), np.array("x")], np.pad(WORDS, ((0, 0), (1, 0)), constant_values="x"),
                   const=(*const, 1))
        yield case(f"{kind}, without a value", "Pad", [WORDS, i64(0, 1, 0, 0)], np.pad(WORDS, ((0, 0), (1, 0)), constant_values=""),
                   const=(*const, 1))
        yield case(kind, "Compress", [WORDS, np.array([True, False, True])], WORDS[:, [0, 2]], const=const, axis=1)
        yield case(kind, "ReverseSequence", [WORDS, i64(2, 3)], np.array([["", "red", "Grün"], WORDS[1, ::-1]]), const=const,
                   batch_axis=0, time_axis=1)
        yield case(kind, "Where", [np.array([[True], [False]]), WORDS, np.array("no")], np.where([[True], [False]], WORDS, "no"),
                   const=tuple(1 for _ in const))
        yield case(kind, "ScatterElements", [WORDS, i64(1).reshape(1, 1), np.array([["new"]])],
                   np.array([["red", "new", "Grün"], WORDS[1]]), const=const, axis=1)
        yield case(kind, "ScatterND", [WORDS, i64(1, 0).reshape(1, 2), np.array(["new"])],
                   np.array([WORDS[0], ["new", *WORDS[1, 1:]]]), const=const)
        yield case(kind, "OneHot", [i64(1, 0), np.array(3, I64), np.array(["off", "on"])],
                   np.array([["off", "on", "off"], ["on", "off", "off"]]), const=(1, *(2 for _ in const)))
    yield case("nothing", "Identity", [NONE], NONE)
    yield case("nothing", "Concat", [NONE, NONE], np.zeros((4, 0), "U1"), axis=0)
    yield case("a scalar", "Identity", [np.array("Grün")], np.array("Grün"))


F32, F64 = np.float32, np.float64
INF, NAN = float("inf"), float("nan")


def text(number):
    """A number as the standard prints it: as NumPy does, but for infinities and NaN."""
    if number.dtype.kind == "f" and not np.isfinite(number):
        return "NaN" if np.isnan(number) else "INF" if number > 0 else "-INF"
    return str(number)


def texts(array):
    return np.array([text(number) for number in array.ravel()]).reshape(array.shape)


def conversions():
    rng = np.random.default_rng(7)
    for name, kind in NUMPY.items():
        dtype = np.dtype(kind)
        if dtype.kind == "f":
            some = [0, -0.0, 1, -1.5, 0.1, 1.5e-4, 9.9e-5, 65504, 1e3 if name == "float16" else 1e15, INF, -INF, NAN]
            x = np.concatenate([np.array(some, dtype), rng.normal(size=50).astype(dtype)])
            x = np.concatenate([x, np.array([1e16, 123456789, 1e38, 1e-38], F64).astype(dtype)]) if name != "float16" else x
        elif dtype.kind == "b":
            x = np.array([True, False])
        else:
            x = np.array([np.iinfo(dtype).min, 0, 1, 100, np.iinfo(dtype).max], dtype)
        yield case(f"{name} to a string", "Cast", [x], texts(x), to=8)
        yield case(f"a string to {name}", "Cast", [texts(x)], x, to=DTYPES[name][0])
        yield case(f"{name} to a string", "CastLike", [x, np.array("")], texts(x), 19)
        yield case(f"a string to {name}", "CastLike", [texts(x), np.zeros(1, dtype)], x, 19)
    yield case("forms of numbers", "Cast", [np.array([" 1.5\t", "+2", "-3e2", "1E-5", ".5", "5.", "inf", "+INF", "-Infinity", "nan", "NaN"])],
               np.array([1.5, 2, -300, 1e-5, .5, 5, INF, INF, -INF, NAN, NAN], F32), to=1)
    yield case("fractions are cut", "Cast", [np.array(["100.5", "-1.9", "1e3", "0007", "-0"])], np.array([100, -1, 1000, 7, 0], I64), to=7)
    yield case("bools", "Cast", [np.array(["true", "False", "1", "0", "2.5", "0.0"])], np.array([True, False, True, False, True, False]), to=9)
    yield case("too large is infinite", "Cast", [np.array(["1e39", "-1e400"])], np.array([INF, -INF], F32), to=1)
    yield case("to itself", "Cast", [WORDS], WORDS, to=8)
    yield case("a name", "Cast", [np.array([1, 2], I64)], np.array(["1", "2"]), 1, to="STRING")
    yield case("nothing", "Cast", [np.zeros((0, 2), F32)], np.zeros((0, 2), "U1"), to=8)
    yield case("a constant", "Cast", [np.array([1.5, -2], F32)], np.array(["1.5", "-2.0"]), const=(0,), to=8)
    for kind, given, want in ((17, ["0.5", "-2", "1000", "nan"], ["0.5", "-2.0", "448.0", "NaN"]), (23, ["0.5", "-7"], ["0.5", "-6.0"]),
                              (22, ["-8", "7", "1.9"], ["-8", "7", "1"]), (25, ["3", "0"], ["3", "0"])):
        yield Part(f"Cast 25: strings to {kind} and back", 25, [node("Cast", ["x"], ["a"], to=kind), node("Cast", ["a"], ["y"], to=8)],
                   {"x": np.array(given)}, {"y": np.array(want)})


def comparisons():
    a, b = np.array([["a", "b"], ["", "\u00e4"]]), np.array(["a", "\u00e4"])
    yield case("broadcast", "Equal", [a, b], a == b, 19)
    yield case("a constant", "Equal", [a, np.array("b")], a == "b", 19, (1,))
    yield case("nothing", "Equal", [NONE, np.array("b")], np.zeros((2, 0), bool), 19)


def joins():
    a, b = np.array([["a", "b"], ["", "\u00e4"]]), np.array(["x", ""])
    yield case("broadcast", "StringConcat", [a, b], np.char.add(a, b), 20)
    yield case("broadcast, the first", "StringConcat", [b, a], np.char.add(b, a), 20)
    yield case("scalars", "StringConcat", [np.array("a"), np.array("b")], np.array("ab"), 20)
    yield case("constants", "StringConcat", [a, b], np.char.add(a, b), 20, (0, 1))
    yield case("nothing", "StringConcat", [NONE, np.array("b")], NONE, 20)


def split(x, delimiter=None, most=-1):
    """The two outputs of StringSplit."""
    parts = [word.split(delimiter or None, most) for word in x.ravel().tolist()]
    width = max(map(len, parts), default=0)
    padded = np.array([row + [""] * (width - len(row)) for row in parts], dtype=str).reshape(*x.shape, width)
    return [padded, np.array(list(map(len, parts)), I64).reshape(x.shape)]


def splits():
    x = np.array([["a.b..c", ".", ""], ["..", "none", "\u00e4.\u00f6"]])
    spaces = np.array(["  a b\t\tc ", "", " ", "\u3000a\u00a0b\x1cc", "abc"])
    for most in (-1, 0, 1, 2, 300):
        yield case(f"at most {most}", "StringSplit", [x], split(x, ".", most), 20, delimiter=".", maxsplit=most)
        yield case(f"at most {most}, a longer delimiter", "StringSplit", [x], split(x, "..", most), 20, delimiter="..", maxsplit=most)
        yield case(f"at most {most}, white space", "StringSplit", [spaces], split(spaces, None, most), 20, maxsplit=most)
    yield case("no limit", "StringSplit", [x], split(x, "."), 20, delimiter=".")
    yield case("an empty delimiter", "StringSplit", [spaces], split(spaces), 20, delimiter="")
    yield case("a scalar", "StringSplit", [np.array("a b")], split(np.array("a b")), 20)
    yield case("a constant", "StringSplit", [x], split(x, "."), 20, (0,), delimiter=".")
    yield case("the parts alone", "StringSplit", [x], split(x, ".")[:1], 20, delimiter=".")
    yield case("the counts alone", "StringSplit", [x], [None, split(x, ".")[1]], 20, delimiter=".")
    yield case("nothing", "StringSplit", [np.zeros(0, "U1")], [np.zeros((0, 0), "U1"), np.zeros(0, I64)], 20)


DAYS = np.array(["Monday", "TUESDAY", "\u00c4rger", "\u039f\u03b4\u03bf\u03c2", "\u041c\u0438\u0440", "", "Monday"])


def normalizations():
    for shape in ((7,), (1, 7)):
        x = DAYS.reshape(shape)
        for action, change in (("NONE", str), ("LOWER", str.lower), ("UPPER", str.upper)):
            changed = np.array([change(word) for word in DAYS.tolist()])
            yield case(f"{action}, {shape}", "StringNormalizer", [x], changed.reshape(shape), case_change_action=action)
            rest = [change(word) for word in DAYS.tolist() if word.lower() not in ("monday", "\u00e4rger")]
            yield case(f"{action}, stop words of any case", "StringNormalizer", [x], np.array(rest).reshape((*shape[:-1], -1)),
                       case_change_action=action, stopwords=["mONDAY", "\u00e4RGER"])
            rest = [change(word) for word in DAYS.tolist() if word != "Monday"]
            yield case(f"{action}, stop words", "StringNormalizer", [x], np.array(rest).reshape((*shape[:-1], -1)),
                       case_change_action=action, stopwords=["Monday", "tuesday"], is_case_sensitive=1)
        yield case("all are stop words", "StringNormalizer", [x[..., :2]], np.array([""]).reshape((*shape[:-1], 1)),
                   stopwords=["monday", "tuesday"])
    yield case("nothing", "StringNormalizer", [np.zeros(0, "U1")], np.array([""]))


LINES = np.array(["", "a", "ab", "aab", "abab", "A1", "user@host.org", "2024-02-29", "x\ny", "\u00e4\u00f6", "\u0416\u0436",
                  "\u4e2d\u6587", "a b", "(a)", "[x]", "a{2}", "\\", "word-word", "aaaaaaaaaaaaaaaa!", "\u212a", "+1-2"])

# Patterns that mean the same in Python.
PATTERNS = ["", "a", "a*", "a+b", "a?b?", "(ab)*", "(?:ab)+", "(a|b)+", "a|ab|", "[ab]+", "[^a]*", "[a-z0-9]+", r"\w+@[\w.]+\.(org|com)",
            r"\d{4}-\d{2}-\d{2}", r"(?:\d+-?){3}", "a{2}b", "a{2,}.*", "a{0,2}b", "(a{1,2}b){2}", "x.y", "(?s)x.y", "(?i)AB+", "(?i:a)b", "a{2",
            r"a\{2\}", r"\(a\)", r"\[x\]", r"[\]x\[]+", "[]x[]+", r"\\", r"a\sb", r"\S+", r"\W*", r"[\d-]+", r"[^\W\d]+", "a*?b", "a+?", "a??b",
            "(a*)*", "(a*)+", "(a|a)*!", "(a+)+!", "(a+)+$", "^a$", "^ab$", r"\ba\b.*", r"a\b.b", r"\Ba", r"word\b-\bword",
            "(?P<name>a)b", "\u00e4.", "[\u00e0-\u00ff]+", "(?i)\u0436+", r"\x61b", r"\x41\x31", "((((a))))", "a||b", "()", "(|a)b?", "[+-]?[0-9].*"]

# Those of RE2 alone: a pattern, and what matches.
RE2_PATTERNS = [(r"\pL+", lambda s: s != "" and s.isalpha()), (r"\p{L}\p{N}", lambda s: s == "A1"), (r"\p{Greek}+", lambda s: False),
                (r"\p{Cyrillic}+", lambda s: s == "\u0416\u0436"), (r"\p{Han}+", lambda s: s == "\u4e2d\u6587"),
                (r"\PL*", lambda s: not any(c.isalpha() for c in s)), (r"[[:alpha:]]+", lambda s: s.isascii() and s.isalpha()),
                (r"[[:^alpha:]]*", lambda s: not any(c.isascii() and c.isalpha() for c in s)), (r"\Q(a)\E", lambda s: s == "(a)"),
                (r"\x{4e2d}.", lambda s: s == "\u4e2d\u6587"), (r"\Aab\z", lambda s: s == "ab"), (r"(?m)x$\n^y", lambda s: s == "x\ny"),
                (r"\141b", lambda s: s == "ab"), (r"(?i)k", lambda s: s == "\u212a"), (r"(?:a{1,1000}){1,3}!", lambda s: s.endswith("a!"))]


def matches():
    for pattern in PATTERNS:
        ascii_only = re.ASCII if re.search(r"\\[wWdDsSbB]", pattern) else 0
        yield case(repr(pattern), "RegexFullMatch", [LINES], np.array([re.fullmatch(pattern, line, ascii_only) is not None for line in LINES.tolist()]),
                   20, pattern=pattern)
    for pattern, expected in RE2_PATTERNS:
        yield case(repr(pattern), "RegexFullMatch", [LINES], np.array([bool(expected(line)) for line in LINES.tolist()]), 20, pattern=pattern)
    # Python would take time that is exponential in the length.
    for pattern in ("(a+)+", "(a|a)*", "(a*)*", "(a|aa)+"):
        yield case(f"{pattern}, long texts", "RegexFullMatch", [np.array(["a" * 3000, "a" * 3000 + "b"])], np.array([True, False]), 20,
                   pattern=pattern)
    yield case("a matrix", "RegexFullMatch", [LINES[:4].reshape(2, 2)], np.array([[False, True], [True, True]]), 20, pattern="a+b?")
    yield case("nothing", "RegexFullMatch", [NONE], np.zeros((2, 0), bool), 20, pattern="a")


# Sentence, pattern, message.
BAD_PATTERNS = [("(", "expected )"), (")", "unexpected )"), ("*", "nothing to repeat"), ("a**", "a repetition of a repetition"), ("[", "expected ]"),
                ("[b-a]", "a range whose end precedes its start"), ("\\", "trailing backslash"), (r"\q", "unknown escape"),
                (r"\p{Klingon}", "unknown class"), ("[[:no:]]", "unknown class"), ("(?x)a", "unknown group"), ("a{1001}", "max <= 1000"),
                ("a{3,2}", "min <= max"), ("(?P<n", "expected a name"), ("((a{1000}){1000}){1000}", "too large"), ("(" * 300, "nest too deeply"),
                (r"\x{110000}", "a code point up to 10ffff")]


def grams_of(row, n, skips):
    """The n-grams of tokens with up to that many tokens between two."""
    for step in range(1, (1 if n == 1 else skips + 1) + 1):
        for i in range(len(row) - step * (n - 1)):
            yield tuple(row[i + step * k] for k in range(n))


def tfidf(x, pool, counts, indexes, least, most, skips, mode, weights=None):
    ends = [*counts[1:], len(pool)]
    grams = [tuple(pool[i:i + n + 1]) for n, (start, end) in enumerate(zip(counts, ends)) for i in range(start, end, n + 1)]
    weights = weights or [1.0] * len(grams)
    out = np.zeros((*x.shape[:-1], max(indexes) + 1), F32)
    for row, result in zip(x.reshape(-1, x.shape[-1]).tolist(), out.reshape(-1, out.shape[-1])):
        for n in range(least, most + 1):
            for gram in grams_of(row, n, skips):
                if gram in grams:
                    k = grams.index(gram)
                    if mode == "IDF":
                        result[indexes[k]] = weights[k]
                    else:
                        result[indexes[k]] += weights[k] if mode == "TFIDF" else 1
    return out


def vectors():
    tokens = np.array([[2, 3, 5, 4, 5, 6, 7, 8, 6, 7, 5, 6], [1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]], np.int32)
    pool, counts, indexes = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], [0, 4], [6, 0, 1, 5, 2, 4, 3]
    weights = [0.5, 2.0, 1.5, 3.0, 0.25, 1.0, 4.0]
    for name, x, words in (("int32", tokens, pool), ("int64", tokens.astype(I64), pool), ("a row", tokens[0], pool),
                           ("strings", tokens.astype(str), [str(token) for token in pool])):
        pools = {"pool_strings": words} if x.dtype.kind == "U" else {"pool_int64s": words}
        for mode in ("TF", "IDF", "TFIDF"):
            for least, most, skips in ((1, 1, 0), (1, 2, 0), (2, 2, 0), (2, 2, 5), (1, 2, 5), (1, 2, 100), (2, 3, 1)):
                yield case(f"{name}, {mode}, {least} to {most}, {skips}", "TfIdfVectorizer", [x],
                           tfidf(x, words, counts, indexes, least, most, skips, mode, weights), mode=mode, min_gram_length=least,
                           max_gram_length=most, max_skip_count=skips, ngram_counts=counts, ngram_indexes=indexes, weights=weights, **pools)
        yield case(f"{name}, without weights", "TfIdfVectorizer", [x], tfidf(x, words, counts, indexes, 1, 2, 0, "TFIDF"), mode="TFIDF",
                   min_gram_length=1, max_gram_length=2, max_skip_count=0, ngram_counts=counts, ngram_indexes=indexes, **pools)
    yield case("lengths beyond those of the pool", "TfIdfVectorizer", [tokens], tfidf(tokens, pool, counts, indexes, 1, 2, 0, "TF"), mode="TF",
               min_gram_length=1, max_gram_length=2**31 - 1, max_skip_count=0, ngram_counts=counts, ngram_indexes=indexes, pool_int64s=pool)
    yield case("no 1-grams", "TfIdfVectorizer", [tokens], tfidf(tokens, pool[4:], [0, 0], [0, 1, 2], 2, 2, 0, "TF"), mode="TF", min_gram_length=2,
               max_gram_length=2, max_skip_count=0, ngram_counts=[0, 0], ngram_indexes=[0, 1, 2], pool_int64s=pool[4:])
    yield case("no tokens", "TfIdfVectorizer", [np.zeros((2, 0), I64)], np.zeros((2, 7), F32), mode="TF", min_gram_length=1, max_gram_length=2,
               max_skip_count=0, ngram_counts=counts, ngram_indexes=indexes, pool_int64s=pool)


def unique_words():
    x = np.array(["b", "a", "b", "", "\u00e4", "a"])
    for is_sorted in (0, 1):
        words, first, inverse, counts = np.unique(x, True, True, True)
        order = np.arange(len(words)) if is_sorted else np.argsort(first)
        rank = np.argsort(order)
        yield case(f"sorted={is_sorted}", "Unique", [x], [words[order], first[order], rank[inverse], counts[order]], sorted=is_sorted)


def label(x, keys, values, default, opset=2, **attributes):
    """A case of LabelEncoder, whose values are looked up in Python."""
    table = {}
    for key, value in zip(keys, values):
        table.setdefault("nan" if key != key else key, value)
    wanted = [table.get("nan" if key != key else key, default) for key in x.ravel().tolist()]
    out = np.array(wanted, dtype=attributes.pop("dtype")).reshape(x.shape)
    return case(f"{x.dtype} to {out.dtype}", "LabelEncoder", [x], out, {"": 18, ML: opset}, domain=ML, **attributes)


def labels():
    words, numbers, floats = ["a", "", "\u00e4", "a"], [5, -3, 7, 5], [0.5, -1.0, NAN, 0.5]
    lists = {"strings": (words, str, "none", "default_string"), "int64s": (numbers, I64, 99, "default_int64"),
             "floats": (floats, F32, 0.25, "default_float")}
    for key, (keys, key_type, _, _) in lists.items():
        others = {"strings": ["b"], "int64s": [6], "floats": [3.0]}[key]
        x = np.array([*keys, *others, keys[1]], dtype=key_type).reshape(2, 3)
        for value, (values, value_type, default, name) in lists.items():
            values = [1.0, 2.0, 3.0, 4.0] if value == "floats" else values
            yield label(x, keys, values, default, dtype=value_type, **{f"keys_{key}": keys, f"values_{value}": values, name: default})
            # Without a default.
            usual = {"strings": "_Unused", "int64s": -1, "floats": -0.0}[value]
            yield label(x, keys, values, usual, dtype=value_type, **{f"keys_{key}": keys, f"values_{value}": values})
    for kind, dtype in (("double", F64), ("int16", np.int16), ("int32", np.int32), ("string", str)):
        keys = words if kind == "string" else [1, 2, 4, 1]
        x = np.array([keys[1], keys[2], "z" if kind == "string" else 9], dtype=dtype)
        for other, out_type in (("double", F64), ("int16", np.int16), ("string", str)):
            values, default = (["x", "y", "", "z"], "none") if other == "string" else ([10, 20, 30, 40], 7)
            yield label(x, keys, values, default, 4, dtype=out_type, keys_tensor=tensor("k", kind, [4], keys),
                        values_tensor=tensor("v", other, [4], values), default_tensor=tensor("d", other, [1], [default]))
    yield label(np.zeros((0, 2), I64), numbers, words, "_Unused", dtype=str, keys_int64s=numbers, values_strings=words)
    yield label(np.array(["b", "a", "c"]), ["a", "b"], [0, 1], -1, 1, dtype=I64, classes_strings=["a", "b"])
    yield label(np.array([1, 0, 5]), [0, 1], ["a", "b"], "none", 1, dtype=str, classes_strings=["a", "b"], default_string="none")


def control():
    """A loop that joins, and a branch."""
    joined = graph([node("StringConcat", ["s", "s"], ["t"])], [value("i", "int64", []), value("c", "bool", []), value("s", "string")],
                   [value("c", "bool", []), value("t", "string"), value("t", "string")])
    x = np.array(["ab", ""])
    yield Part("a loop", 20, [node("Loop", ["m", "", "x"], ["y", "z"], body=joined)], {"x": x, "m": np.array(3, I64)},
               {"y": np.array(["ab" * 8, ""]), "z": np.array([["ab" * 2, ""], ["ab" * 4, ""], ["ab" * 8, ""]])})
    then, other = [graph([node("StringConcat", order, ["r"])], [], [value("r", "string")]) for order in (["x", "w"], ["w", "x"])]
    for yes in (True, False):
        yield Part(f"a branch, {yes}", 20, [node("If", ["c"], ["y"], then_branch=then, else_branch=other)], {"x": x, "c": np.array(yes)},
                   {"y": np.char.add(x, "!") if yes else np.char.add("!", x)}, {"w": elements(np.array("!"))})


# The message for an operator that has no strings.
NO_STRINGS = "has type TL_STRING"

# A node, its inputs, its attributes, and the message.
WRONG = [
    ("Add", [WORDS, WORDS], {}, NO_STRINGS),
    ("Relu", [WORDS], {}, NO_STRINGS),
    ("ArgMax", [WORDS], {}, NO_STRINGS),
    ("ReduceMax", [WORDS], {}, NO_STRINGS),
    ("CumSum", [WORDS, i64(0)], {}, NO_STRINGS),
    ("BitCast", [WORDS], {"to": 7}, NO_STRINGS),
    ("BitCast", [i64(1)], {"to": 8}, "TL_STRING"),
    ("TopK", [WORDS, i64(1)], {}, NO_STRINGS),
    ("ScatterND", [WORDS, i64(0, 0).reshape(1, 2), np.array(["new"])], {"reduction": "max"}, "TL_STRING"),
    ("Not", [WORDS], {}, "TL_STRING"),
    ("Less", [WORDS, WORDS], {}, NO_STRINGS),
    ("StringConcat", [i64(1), WORDS], {}, "expected TL_STRING"),
    ("StringSplit", [np.array("." * 256)], {"delimiter": "."}, "string 0 has 257 parts, expected at most 256"),
    ("StringNormalizer", [WORDS], {}, "expected [C] or [1, C]"),
    ("Cast", [np.array(["1", "abc"])], {"to": 1}, 'string 1 is "abc", expected a number for TL_FLOAT'),
    ("Cast", [np.array(["0x10"])], {"to": 1}, "expected a number"),
    ("Cast", [np.array([""])], {"to": 7}, "expected a number"),
    ("Cast", [np.array(["256"])], {"to": 2}, "expected a number in the range of TL_UINT8"),
    ("Cast", [np.array(["-1"])], {"to": 13}, "in the range of TL_UINT64"),
    ("Cast", [np.array(["9223372036854775808"])], {"to": 7}, "in the range of TL_INT64"),
    ("Cast", [np.array(["1e99"])], {"to": 6}, "in the range of TL_INT32"),
    ("TfIdfVectorizer", [i64(1)], dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1],
                                       pool_int64s=[1]), "'index' has shape [2], expected 1 element"),
    ("TfIdfVectorizer", [i64(1)], dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[-1],
                                       pool_int64s=[1]), "attribute 'ngram_indexes' has -1"),
    ("TfIdfVectorizer", [i64(1)], dict(mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0]),
     "expected one of the attributes 'pool_strings' and 'pool_int64s'"),
    *[("RegexFullMatch", [WORDS], {"pattern": pattern}, message) for pattern, message in BAD_PATTERNS],
]


def constant(sentence, **attribute):
    """A model whose output is a constant of an attribute."""
    return model(graph([node("Constant", [], ["y"], **attribute)], [], [value("y", "string")]), opset=18)


def hostile(tap, lightnet):
    """Constants that are not text."""
    for sentence, data, words in (
            ("that is not UTF-8", tensor("c", "string", [2], ["a", b"b\xff"]), "string 1 is not UTF-8: byte 1 is 255"),
            ("with a surrogate", tensor("c", "string", [1], [b"\xed\xa0\x80"]), "string 0 is not UTF-8"),
            ("with too few strings", tensor("c", "string", [3], ["a", "b"]), "2 elements of data, expected 3"),
            ("of raw data", type(tensor("c", "string", [1], ["a"]))(b"\x08\x01\x10\x08\x4a\x08" + b"\x41" * 8), "expected string_data")):
        message = error_of(lightnet, constant("", value=data), {})
        tap.check(f"a constant {sentence} is rejected", [] if message and words in message else
                  [f"expected {words!r} in: {message!r}"])


def main():
    lightnet = sys.argv[1]
    tap = Tap()
    check_kinds(tap, lightnet, [moves, conversions, comparisons, joins, splits, normalizations, matches, vectors, unique_words, labels], {},
                is_written=True)
    for part in control():
        tap.check(part.sentence, faults_of_parts(lightnet, [part])[0])
    for op_type, arrays, attributes, message in WRONG:
        check_rejected(tap, lightnet, case("", op_type, arrays, WORDS, 26, **attributes),
                       f"{op_type} of strings is rejected: {message}", message)
    hostile(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
