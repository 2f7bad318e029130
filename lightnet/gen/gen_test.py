#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: gen_test.py. Tests of the generators, on the descriptions in test/: what they write
against the committed files, and errors against the expected messages. Speaks TAP. With LN_UPDATE
set, it writes the committed files anew.
"""
import os
import re
import sys
import tempfile
import time
import unittest

import cgen
import op_c
import op_desc
import op_docs
import op_examples
import op_forms
import optgen
import rjson
import rule_code
import rule_tests
from cgen import CWriter
from rjson import DescriptionError

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "test")
sys.path.append(os.path.join(HERE, "..", "..", "tests", "structure"))
from tap import Tap  # noqa: E402


class Test(unittest.TestCase):
    """What the tests share. Each runs in the folder of the descriptions."""
    maxDiff = 4000

    def setUp(self):
        os.chdir(DATA)

    def in_new_folder(self):
        """Goes to a folder that is removed after the test."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, DATA)
        os.chdir(folder.name)

    def message_of(self, function, *args):
        """The message of the error that the call must raise."""
        with self.assertRaises(DescriptionError) as caught:
            function(*args)
        return str(caught.exception)

    def assert_golden(self, text, file):
        """Compares with a committed file, or writes it."""
        if "LN_UPDATE" in os.environ:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
        with open(file, encoding="utf-8") as stream:
            self.assertEqual(text, stream.read())

    def assert_rejects(self, table, extension, generate):
        """Expects the message of each case of a table; returns the number of cases.

            ==== NAME
            TEXT, some lines
            ----
            MESSAGE, some lines
        """
        with open(table, encoding="utf-8") as stream:
            cases = re.findall(r"^==== (\S+)\n(.*?)^----\n(.*?)\n*(?=^==== |\Z)", stream.read(),
                               re.M | re.S)
        self.in_new_folder()
        for name, text, message in cases:
            with self.subTest(name):
                with open(name + extension, "w", encoding="utf-8") as stream:
                    stream.write(text)
                self.assertEqual(self.message_of(generate, name + extension), message)
        return len(cases)


# Relaxed JSON

# Texts, and the same as strict JSON.
VALUES = (
    ("null", "null"),
    (" true ", "true"),
    ("false", "false"),
    ("-12.50e+1", "-12.50e+1"),
    ("0", "0"),
    ('""', '""'),
    (r'"a\"\\\/\n\u0009"', r'"a\"\\/\n\u0009"'),
    ("[]", "[]"),
    ("[1, [2,], ]", "[1, [2]]"),
    ("{}", "{}"),
    ('{"a": 1, "b": {"c": [true, null],},}', '{"a": 1, "b": {"c": [true, null]}}'),
    ("// one\n[ // two\n 1 // three\n , 2 ] // four", "[1, 2]"),
    ('"// no comment"', '"// no comment"'),
    ("'''\nif (a)\n    \"b\\n\";\n'''", r'"if (a)\n    \"b\\n\";\n"'),
    ("['''  \t\nx''', '''\n''']", '["x", ""]'),
)

# Texts, and the locations and reasons of their errors.
ERRORS = (
    (b"", "1:1: the end of the text, expected a value"),
    (b"  // only this", "1:15: the end of the text, expected a value"),
    (b"[1 2]", "1:4: '2', expected ',' or ']'"),
    (b"[1,\n 2", "2:3: the end of the text, expected ',' or ']'"),
    (b"[,]", "1:2: ',', expected a value"),
    (b'{"a" 1}', "1:6: '1', expected ':' after the key"),
    (b'{a: 1,\n "a": 3}', '2:2: key "a" occurs twice'),
    (b'{"a": "1" "b": 2}', "1:11: '\"', expected ',' or '}'"),
    (b'{"a": 1 "b": 2}', "1:9: '\"', expected ',' or '}'"),
    (b"{-: 1}", "1:2: '-', expected a key"),
    (b"{a b: 1}", "1:4: 'b', expected ':' after the key"),
    (b'["a" "b]', "1:9: the end of the text, expected '\"' to end the string"),
    (b'{"a":}', "1:6: '}', expected a value"),
    (b"1 1", "1:3: '1', expected the end of the text"),
    (b"truth", "1:1: 't', expected a value"),
    (b"tru", "1:1: 't', expected a value"),
    (b"01", "1:1: not a JSON number"),
    (b"-", "1:1: not a JSON number"),
    (b"1.", "1:1: not a JSON number"),
    (b"1e+", "1:1: not a JSON number"),
    (b"[1e999]", "1:2: number 1e999 is beyond the range of double"),
    (b'"a\nb"', "1:3: the end of the line, expected '\"' to end the string"),
    (b'"a', "1:3: the end of the text, expected '\"' to end the string"),
    (b'"a\tb"', "1:3: control character 0x09 in a string"),
    (br'"\x"', "1:2: unknown escape sequence in a string"),
    (br'"\u12g4"', r"1:2: \u without 4 hexadecimal digits"),
    (br'"\u0000"', r"1:2: \u0000 in a string"),
    (br'"\ud800x"', "1:2: half of a surrogate pair"),
    (br'"\udc00"', "1:2: half of a surrogate pair"),
    (br'"\ud800\u0041"', "1:2: half of a surrogate pair"),
    (b"'''a\n'''", "1:4: 'a', expected the end of the line after the opening '''"),
    (b"[\n'''\n text", "2:1: no closing ''' for this one"),
    (b"'''\n''", "1:1: no closing ''' for this one"),
    (b"'a'", "1:1: ''', expected a value"),
    (b"/ no", "1:1: '/', expected a value"),
    (b"//", "1:3: the end of the text, expected a value"),
    (b'"\xff"', "1:2: byte 0xFF is not UTF-8 here"),
    (b'"\xc0\x80"', "1:2: byte 0xC0 is not UTF-8 here"),
    (b'"\xed\xa0\x80"', "1:2: byte 0xED is not UTF-8 here"),
    (b"// \xe2\x82", "1:4: byte 0xE2 is not UTF-8 here"),
    (b'{"a": 1,\n "b": 2,\n  "a": 3}', '3:3: key "a" occurs twice'),
    (b"[" * (rjson.MAX_DEPTH + 1), "1:65: nested deeper than 64 levels"),
)


def parse(text):
    """A value as those of a file t.op."""
    return rjson.parse("t.op", text)


def read(content):
    """The value of a file t.op."""
    with open("t.op", "wb") as stream:
        stream.write(content)
    return rjson.read("t.op")


class RelaxedJson(Test):
    """rjson.py"""

    def test_values_come_back_as_strict_json(self):
        for text, printed in VALUES:
            with self.subTest(text):
                self.assertEqual(parse(text).json(), printed)

    def test_escapes_beyond_ascii_become_characters(self):
        self.assertEqual(parse(r'"\u00e9 \u20AC \uD83D\uDE00"').text, "\u00e9 \u20ac \U0001f600")

    def test_values_have_their_locations(self):
        root = parse("""\
{
  // the first
  "a": [10, "\u00e9", true],
  "run":
    '''
    go();
    ''',
}
""")
        a, run = root.get("a"), root.get("run")
        self.assertEqual((a.file, a.key_line, a.key_column, a.line, a.column), ("t.op", 3, 3, 3, 8))
        self.assertEqual((a.items[2].line, a.items[2].column), (3, 18))
        self.assertEqual((run.key_line, run.line, run.text_line), (4, 5, 6))
        self.assertEqual((run.is_block, run.text), (True, "    go();\n    "))
        self.assertIsNone(root.get("b"))
        self.assertIsNone(a.get("a"))

    def test_keys_may_be_words_and_strings_continue(self):
        root = parse('{run_1: "go " // here\n "on", "a": "" "b"}')
        self.assertEqual((root.get("run_1").text, root.get("a").text), ("go on", "b"))

    def test_numbers_are_given_in_both_forms(self):
        numbers = parse("[-0.5, 1e3, 16777217]").items
        self.assertEqual([value.number for value in numbers], [-0.5, 1000, 16777217])
        self.assertEqual(numbers[1].text, "1e3")

    def test_errors_name_their_position(self):
        self.in_new_folder()
        for content, message in ERRORS:
            with self.subTest(content):
                self.assertEqual(self.message_of(read, content), f"t.op:{message}")

    def test_a_nul_byte_is_an_error_everywhere(self):
        self.in_new_folder()
        for content in (b"[1,\0 2]", b'"a\0b"', b"'''\na\0'''", b"\0", b"1\0"):
            with self.subTest(content):
                self.message_of(read, content)

    def test_nesting_up_to_the_bound_is_valid(self):
        parse("[" * rjson.MAX_DEPTH + "]" * rjson.MAX_DEPTH)

    def test_many_members_are_checked_in_little_time(self):
        text = "{" + "".join(f'"{i}":0,' for i in range(50000)) + "}"
        begin = time.process_time()
        self.assertEqual(len(parse(text).items), 50000)
        self.assertLess(time.process_time() - begin, 30)

    def test_a_file_that_is_missing_is_an_error(self):
        self.assertIn("no-such-file.op", self.message_of(rjson.read, "no-such-file.op"))

    def test_a_reader_of_the_tree_fails_at_a_location(self):
        a = parse('{\n "a":  1}').get("a")
        self.assertEqual(str(a.fail(f"is {rjson.TYPE_NAMES[a.kind]}")), "t.op:2:8: is a number")
        self.assertEqual(str(a.fail_key("unknown key")), "t.op:2:2: unknown key")


# Generated C

A, B, C = "a" * 40, "b" * 40, "c" * 28


class GeneratedC(Test):
    """cgen.py"""

    def test_long_lines_are_broken_where_c_allows_it(self):
        out = CWriter("a.c")
        out.line(4, f"call({A}, {B}, {C});")
        self.assertEqual(out.text, f"    call({A}, {B},\n         {C});\n")

    def test_long_strings_are_broken_into_several(self):
        out = CWriter("a.c")
        out.line(4, f'.doc = "{A} {B} {C}",')
        self.assertEqual(out.text, f'    .doc = "{A} {B} "\n        "{C}",\n')

    def test_a_quote_as_a_character_begins_no_string(self):
        out = CWriter("-")
        quote = "'" + '\\"' + "'"
        out.line(4, f"if (is_good(src, {quote}) && {'x' * 40} && {'y' * 40})")
        self.assertNotIn('"\n', out.text)
        self.assertEqual(out.text.count("\n"), 2)

    def test_long_comments_stay_comments(self):
        out = CWriter("a.c")
        out.comment(f"one, two three {'a' * 90}, end")
        self.assertEqual(out.text, f"// one, two three\n// {'a' * 90}, end\n")

    def test_a_snippet_points_to_its_place_and_back(self):
        root = rjson.parse('my "x".op', """\
{"run":
'''

      one();

        two();
'''}""")
        out = CWriter("my.c")
        out.print("{\n")
        out.snippet(4, root.get("run"))
        out.print("}\n")
        self.assertEqual(out.text, r"""{
#line 4 "my \"x\".op"
    one();

      two();
#line 7 "my.c"
}
""")

    def test_a_line_that_follows_in_its_file_too_needs_no_directive(self):
        nodes = rjson.parse("my.op", '["one",\n"two",\n\n"three"]').items
        out = CWriter("my.c")
        for node in nodes:
            out.line_of(4, node, f"{node.text}();")
        out.print("\n")
        out.print("    // three more\n")
        out.line_of(4, nodes[2], "more();")
        out.print("}\n")
        self.assertEqual(out.text, """\
#line 1 "my.op"
    one();
    two();
#line 4 "my.op"
    three();

    // three more
#line 4 "my.op"
    more();
#line 11 "my.c"
}
""")

    def test_items_fill_lines(self):
        out = CWriter("a.c")
        out.filled(f"&{A}aaaaaaa, &{B}bbbbbb, &c, NULL")
        self.assertEqual(out.text, f"    &{A}aaaaaaa,\n    &{B}bbbbbb, &c, NULL,\n")

    def test_operands_bind_at_least_as_tightly_as_and(self):
        for code in ("a == b", "a && b <= c", "f(a || b, c ? d : e)", 'strcmp(a, "?|=") != 0'):
            self.assertTrue(cgen.is_operand(code), code)
        for code in ("a || b", "a ? b : c", "f(a), b", "a = b"):
            self.assertFalse(cgen.is_operand(code), code)

    def test_names_are_found_as_identifiers_only(self):
        for code in ("src", "f(src)", "src->dims[0]", "a - src", "a > src", "x ? .5 : src",
                     r"'\'' + src", "// x\nsrc", r'"\"" src', "a->b, src->c"):
            self.assertTrue(cgen.names(code, "src"), code)
        for code in ("src2", "my_src", "a->src", "a.src", "a -> src", "a. /**/ src", '"src"',
                     "// src", "/* src */ dst", "1e+src", "/* src", '"src', ""):
            self.assertFalse(cgen.names(code, "src"), code)

    def test_arguments_are_counted_as_a_macro_sees_them(self):
        for code, n in (("a", 1), ("a == f(b, c)", 1), ('a, "%d, %d", b', 3), ("a[b, c]", 2),
                        ("a, ',' /* , */", 2)):
            self.assertEqual(cgen.count_arguments(code), n, code)

    def test_keywords_are_no_identifiers(self):
        for text in ("conv2d_cpu", "_x"):
            self.assertTrue(cgen.is_identifier(text), text)
        for text in ("2d", "a-b", "", "int", "a\n"):
            self.assertFalse(cgen.is_identifier(text), text)

    def test_comments_without_code_are_read_in_little_time(self):
        start = time.process_time()
        cgen.words("f(src." + "/" * 300 + "\n);")
        self.assertFalse(rjson.is_old_operator_notation("/* x */ " * 300 + "?"))
        self.assertLess(time.process_time() - start, 2)

    def test_a_file_with_the_same_content_keeps_its_time(self):
        self.in_new_folder()
        cgen.save("a.c", "int x;\n")
        os.utime("a.c", (1, 1))
        cgen.save("a.c", "int x;\n")
        self.assertEqual(os.stat("a.c").st_mtime, 1)
        cgen.save("a.c", "int y;\n")
        self.assertGreater(os.stat("a.c").st_mtime, 1)

    def test_no_output_is_a_description_or_another_output(self):
        self.in_new_folder()
        cgen.save("a.op", "{}")
        message = self.message_of(cgen.check_outputs, ["b.c", "./a.op"], ["a.op"])
        self.assertEqual(message, "./a.op: is a description, not an output")
        message = self.message_of(cgen.check_outputs, ["b.c", "b.c"], ["a.op"])
        self.assertEqual(message, "b.c: is the file of two outputs")

    def test_a_file_that_cannot_be_written_is_an_error(self):
        self.assertTrue(self.message_of(cgen.save, "no/such/folder/a.c", "x\n").startswith(
            "no/such/folder/a.c: cannot write: "))


# Operators


def read_operators(file, *inherited):
    """The descriptions of a file, checked."""
    descs = op_desc.Descriptions()
    descs.read(file, own=True)
    for other in inherited:
        descs.read(other, own=False)
    descs.check()
    return descs


def operators(file, *inherited, output, has_docs=True):
    """Their C."""
    out = CWriter(output)
    op_c.operators(out, read_operators(file, *inherited), has_docs)
    return out.text


def all_of_operators(file):
    """Finds any error in a description: in the operators, in a form, in an example."""
    operators(file, output="bad.c")
    op_forms.forms(CWriter("bad.h"), read_operators(file))
    op_examples.tests(CWriter("bad.c"), read_operators(file))


FORMS = (
    'words_0_0[] = {{"mirror", "mirror", 0}, {"zero", "none", 5}, {0}};\n',
    """{LN_ITEM_IN, "src", .is_required = 1, .dtype = TL_FLOAT, .is_cast = 1},
    {LN_ITEM_IN, "bias"},
    {LN_ITEM_INT, "width", .is_required = 1},
    {LN_ITEM_NUMBER, "sigma", .name = "sigma", .is_required = 1},
""",
    """{LN_ITEM_BOOL, "wrap", .name = "wrapped", .is_not = 1, .since = 4, .has_default = 1,
     .number = 1},
""",
    '    {LN_ITEM_IS_TEXT, "edge", .text = "mirror", .number = 0},\n',
    '    {LN_ITEM_IS_NUMBER, "width", .text = "3", .number = 3},\n',
    '    {"blur", "com.acme:Soften", 1, items_1},\n',
    'ROW(0, "Blur", 3, "3", "1", "sigma:f old:i<3 wrapped:i>=4 border:s weights:F", "blur")\n',
    '#define LN_FORMS_COM_ACME(ROW) \\\n    ROW(1, "Soften", 1, "1", "1", "", "blur")\n',
)


class Operators(Test):
    """op_*.py"""

    def test_generated_c_is_as_expected(self):
        self.assert_golden(operators("good.op", output="good.c"), "good.expected.c")

    def test_generated_page_is_as_expected(self):
        out = CWriter("good.md")
        op_docs.page(out, read_operators("good.op"))
        self.assert_golden(out.text, "good.expected.md")

    def test_documentation_is_left_out_for_a_table(self):
        text = operators("good.op", output="good.c", has_docs=False)
        self.assertNotIn("one per line", text)
        self.assertNotIn("docs", text)
        table = CWriter("docs.h")
        op_docs.doc_table(table, read_operators("good.op"))
        for line in ("// Generated from good.op: the documentation",
                     '{"one per line", "1-D TL_FLOAT", NULL},\n',
                     '{"", "number -> int", "3"},\n', '    {"blur", &blur_docs},\n'):
            self.assertIn(line, table.text)

    def test_no_line_is_too_long_except_the_authors(self):
        lines = operators("good.op", output="good.c").splitlines()
        self.assertEqual([line for line in lines if len(line) > cgen.COLUMNS], [])

    def test_an_operator_inherits_from_another_file(self):
        text = operators("child.op", "good.op", output="child.c")
        self.assertIn('LN_GENOP(blur_cpu, blur_cpu, "cpu", LN_MEM_CPU,', text)
        self.assertIn("#include <math.h>", text)
        self.assertIn('#line 10 "child.op"\n    if (blur(src, bias, dst, width, weights))', text)
        self.assertNotIn("LN_GENOP(split_cpu", text)
        self.assertEqual(
            self.message_of(read_operators, "child.op"),
            "child.op:7:25: operator 'blur_cpu': inherits 'blur', which has no description")

    def test_a_list_holds_the_operators_of_one_architecture_and_types_those_of_all(self):
        descs, out = read_operators("good.op"), CWriter("-")
        op_c.list_of(out, descs, "none")
        op_c.list_of(out, descs, "far")
        op_c.types(out, descs)
        for text in ("""\
extern ln_op ln_opimpl_blur, ln_opimpl_count, ln_opimpl_cut, ln_opimpl_watch;

static ln_op *ops_none[] = {
    &ln_opimpl_blur, &ln_opimpl_count, &ln_opimpl_cut, &ln_opimpl_watch, NULL,
};
""", "ops_far[] = {\n    &ln_opimpl_count_far, NULL,\n", '\n\n#define LN_OP_BLUR "blur"\n',
                     '#define LN_OP_COUNT_FAR "count_far"\n'):
            self.assertIn(text, out.text)
        self.assertNotIn("template", out.text)  # "autogen": false

    def test_forms_in_another_format_become_tables(self):
        out = CWriter("forms.h")
        op_forms.forms(out, read_operators("good.op"))
        for text in FORMS:
            self.assertIn(text, out.text)

    def test_errors_in_operators_have_the_expected_messages(self):
        self.assertGreater(self.assert_rejects("bad_op.cases", ".op", all_of_operators), 50)


# Rewrites


def rewrites(file="small.opt"):
    """The functions of the rules, their declarations and their tests."""
    rules = optgen.read([file])
    source, header, tests = (CWriter(f"small{end}") for end in (".c", ".h", "_test.c"))
    rule_code.source(rules, "small.h", source)
    rule_code.header(rules, header)
    rule_tests.tests(rules, tests)
    return source, header, tests


class Rewrites(Test):
    """rule_*.py"""

    def test_rules_become_readable_c_with_declarations_and_tests(self):
        for out in rewrites():
            with self.subTest(out.file):
                self.assert_golden(out.text, f"golden/{out.file}")

    def test_errors_in_rules_have_the_expected_messages(self):
        self.assertGreater(self.assert_rejects("bad_opt.cases", ".opt", rewrites), 20)

    def test_the_same_description_gives_the_same_bytes(self):
        self.assertEqual(*([out.text for out in rewrites()] for _ in range(2)))


def main():
    """Runs all tests in their order."""
    tap = Tap()
    for case in (RelaxedJson, GeneratedC, Operators, Rewrites):
        for name in (name for name in vars(case) if name.startswith("test_")):
            result = case(name).run()
            tap.check(name[len("test_"):],
                      [fault for _, fault in result.failures + result.errors])
    tap.end()


if __name__ == "__main__":
    main()
