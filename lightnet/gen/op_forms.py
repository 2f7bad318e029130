# SPDX-License-Identifier: Apache-2.0
"""Compiles the forms of operators in another format, ONNX, to tables (front/ln_form.h).

    forms     = form {";" form}
    form      = TYPE ["-" VERSION] "(" item {"," item} ")" ["->" OUTPUT {"," OUTPUT}] ["if" PARAM
                "==" VALUE {"," PARAM "==" VALUE}]
    item      = [DTYPE | "(" DTYPE ")"] INPUT | PARAM | STRING | attribute
    attribute = NAME [">=" VERSION] ["<" VERSION] [":" ["!"] PARAM] ["!" | "=" VALUE [words]]
    words     = "{" WORD [">=" VERSION] ":" VALUE {"," WORD [">=" VERSION] ":" VALUE} "}"

TYPE is a name, or a string with a domain: "com.microsoft:Inverse".
"""
import op_c
from cgen import quote


class _Form:
    """A form, read from the lexer. The lists hold lines of C."""

    def __init__(self, op, lexer, number):
        self.op, self.lexer, self.number = op, lexer, number
        self.items, self.words, self.schema = [], [], []
        self.since = self.inputs = 0
        self.type = self._text("an operator's type")
        if lexer.accept("-"):
            self.since = self._version()
        lexer.expect("(")
        self._several(self._item)
        lexer.expect(")")
        self.outputs = self._outputs()
        if lexer.accept_word("if"):
            self._several(self._condition)

    # Tokens

    def _several(self, read):
        """Reads parts with commas between them."""
        parts = [read()]
        while self.lexer.accept(","):
            parts.append(read())
        return parts

    def _text(self, expected):
        if self.lexer.kind not in ("name", "string"):
            raise self.lexer.unexpected(expected)
        return self.lexer.take()

    def _name(self):
        """The name that comes next, or ""."""
        return self.lexer.take() if self.lexer.kind == "name" else ""

    def _version(self):
        if self.lexer.kind != "number":
            raise self.lexer.unexpected("a version")
        version = int(self.lexer.number)
        self.lexer.next()
        return version

    def _range(self):
        """[">=" VERSION] ["<" VERSION]: the first version, and the text as in schemas."""
        since, text = 0, ""
        if self.lexer.accept(">"):
            self.lexer.expect("=")
            since = self._version()
            text = f">={since}"
        if self.lexer.accept("<"):
            text += f"<{self._version()}"
        return since, text

    # Items

    def _item(self):
        lexer = self.lexer
        if lexer.kind == "string":
            self.schema.append(self.lexer.take())
            return
        is_cast = lexer.accept("(")
        if lexer.kind != "name":
            raise lexer.unexpected("an input or an attribute")
        name = self.lexer.take()
        if is_cast:
            lexer.expect(")")
        if lexer.kind == "name":
            how = "cast" if is_cast else "wanted"
            self._input(self.lexer.take(), f", .dtype = {name}, .is_{how} = 1")
        elif lexer.kind in (",", ")"):
            self._input(name)
        else:
            self._attribute(name)

    def _input(self, name, dtype=""):
        arg = self.op.find_arg(name, "in")
        if not arg:
            self._param(name)
            return
        required = "" if arg.optional else ", .is_required = 1"
        self.items.append(f'{{LN_ITEM_IN, "{name}"{required}{dtype}}},')
        self.inputs += 1

    def _param(self, name):
        """A parameter that is an input of the form."""
        kind, _ = _kind_of(self.op.find_arg(name, "param"))
        if not kind:
            raise self.lexer.fail(f"'{name}' is neither an input nor a parameter")
        setter = next((arg for arg in self.op.args if arg.text("sets") == name), None)
        text = f', .text = "{setter.name}"' if setter else ""
        self.items.append(f'{{LN_ITEM_{kind}, "{name}", .is_required = 1{text}}},')
        self.inputs += 1

    def _attribute(self, name):
        lexer, is_not, param = self.lexer, False, name
        since, versions = self._range()
        if lexer.accept(":"):
            is_not, param = lexer.accept("!"), self._name()
        kind, letter = _kind_of(self.op.find_arg(param, "param"))
        if not kind:
            raise lexer.fail(f"attribute '{name}' is '{param}', expected an input or a parameter")
        row = f'{{LN_ITEM_{kind}, "{param}", .name = "{name}"'
        row += ", .is_not = 1" if is_not else ""
        row += f", .since = {since}" if since else ""
        row += self._default()
        if lexer.accept("{"):
            row += f", .words = {self._word_table()}"
            letter = "s"
        self.items.append(row + "},")
        self.schema.append(f"{name}:{letter}{versions}")

    def _default(self):
        """"!", "=" VALUE: as fields of the row."""
        lexer = self.lexer
        if lexer.accept("!"):
            return ", .is_required = 1"
        if not lexer.accept("="):
            return ""
        sign = "-" if lexer.accept("-") else ""
        if lexer.kind == "number":
            return f", .has_default = 1, .number = {sign}{self.lexer.take()}"
        return f", .has_default = 1, .text = {quote(self._text('a value'))}"

    def _word_table(self):
        """"{" WORD ":" VALUE, .. "}": the name of a table."""
        table = f"words_{self.number}_{len(self.words)}"
        rows = "".join(f"{row}, " for row in self._several(self._word))
        self.words.append(f"static const ln_attr_word {table}[] = {{{rows}{{0}}}};")
        self.lexer.expect("}")
        return table

    def _word(self):
        word = self._text("a word")
        since, _ = self._range()
        self.lexer.expect(":")
        value = self._text("a value of the parameter")
        return f'{{{quote(word)}, {quote(value)}, {since}}}'

    # After the items

    def _outputs(self):
        if not self.lexer.accept("-"):
            return ['{LN_ITEM_OUT, "dst"},']
        self.lexer.expect(">")
        return self._several(self._output)

    def _output(self):
        name = self._name()
        if not self.op.find_arg(name, "out"):
            raise self.lexer.fail(f"'{name}' is not an output")
        return f'{{LN_ITEM_OUT, "{name}"}},'

    def _condition(self):
        lexer, name = self.lexer, self._name()
        param = self.op.find_arg(name, "param")
        if not param:
            raise lexer.fail(f"'{name}' is not a parameter")
        lexer.expect("=")
        lexer.expect("=")
        if lexer.kind not in ("name", "string", "number"):
            raise lexer.unexpected("a value of the parameter")
        kind = {"bool": "BOOL", "number": "NUMBER"}.get(param.ptype, "TEXT")
        number = lexer.number if lexer.kind == "number" else lexer.is_word("true")
        self.items.append(f'{{LN_ITEM_IS_{kind}, "{name}", .text = {quote(self.lexer.take())}, '
                          f".number = {number:.17g}}},")

    # Output

    def write(self, out):
        """Writes the tables of the form."""
        for line in self.words:
            out.line(0, line)
        out.print(f"static const ln_form_item items_{self.number}[] = {{\n")
        for line in self.items + self.outputs:
            out.line(4, line)
        out.print("    {LN_ITEM_END},\n};\n")

    def list_name(self):
        """The list that contains its row: LN_FORMS, LN_FORMS_COM_MICROSOFT."""
        domain, colon, _ = self.type.partition(":")
        return "LN_FORMS" + f"_{domain.upper().replace('.', '_')}" * bool(colon)

    def row(self):
        """Its row in that list."""
        return (f'ROW({self.number}, {quote(self.type.split(":", 1)[-1])}, {self.since}, '
                f'"{self.inputs}", "{len(self.outputs)}", {quote(" ".join(self.schema))}, '
                f'"{self.op.optype}")')


# The attribute for a parameter, by its type and realtype: its kind, and its letter in schemas.
_KINDS = {("string", "tl_dtype"): ("DTYPE", "i"), ("string", None): ("TEXT", "s"),
          ("number", "int"): ("INT", "i"), ("number", None): ("NUMBER", "f"),
          ("bool", None): ("BOOL", "i"),
          ("array_number", "int"): ("INTS", "I"), ("array_number", None): ("NUMBERS", "F")}


def _kind_of(param):
    """The kind and the letter of a parameter; None: formats have no such attribute."""
    if not param:
        return None, ""
    default = _KINDS.get((param.ptype, None), (None, ""))
    kind, letter = _KINDS.get((param.ptype, param.text("realtype")), default)
    is_axis = kind == "INT" and param.name.split("_")[-1] == "axis"
    return "AXIS" if is_axis else kind, letter


def _read_forms(descs):
    """The forms of the generated operators."""
    forms = []
    for op in descs.generated():
        if "onnx" not in op.fields:
            continue
        lexer = op.lexer(op.fields["onnx"])
        while lexer.kind != "end":
            forms.append(_Form(op, lexer, len(forms)))
            if lexer.kind != "end":
                lexer.expect(";")
    return forms


def forms(out, descs):
    """Writes a header with `forms`, the operators in ONNX, and for each domain a list of rows,
    LN_FORMS(ROW)."""
    out.print(f"// Generated from {op_c.sources(descs)}: their operators in another format.\n\n"
              '#include "front/ln_form.h"\n\n')
    lists, all_forms = {}, _read_forms(descs)
    for form in all_forms:
        form.write(out)
        lists.setdefault(form.list_name(), []).append(form.row())
    out.print("\nstatic const ln_form forms[] = {\n")
    for form in all_forms:
        row = f'"{form.op.optype}", {quote(form.type)}, {form.since}, items_{form.number}'
        out.line(4, f"{{{row}}},")
    out.print("    {NULL, NULL, 0, NULL},\n};\n")
    for name, rows in lists.items():
        text = "".join(f" \\\n    {row}" for row in rows)
        out.print(f"\n#define {name}(ROW){text}\n")
